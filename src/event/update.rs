//! An update of an engine between stages (rules 4.2 and 4.4): of which engines one is taken. The run asks it, and `verify` asks
//! it again.

use super::config::EventConfig;
use super::draw;
use super::ledger::Ledger;
use super::stage::Updates;

/// The entries that may come with other files now: those that play in the next stage, where it allows that, has not begun, and
/// the stage before it is over.
pub(super) fn may_update(config: &EventConfig, ledger: &Ledger) -> Vec<String> {
    let number = ledger.stages.len();
    let is_between = ledger.stages.last().is_some_and(|stage| stage.outcome.is_some());
    let next = config.stages.get(number).filter(|_| is_between);
    match next.filter(|stage| stage.updates == Updates::Allowed) {
        Some(_) => draw::drawn(config, ledger, number).seats,
        None => Vec::new(),
    }
}
