//! A fix of an engine between stages (rule 6.3): when one is taken. The command asks it, and `verify` asks it again.

use super::config::EventConfig;
use super::draw::{self, Drawn};
use super::ledger::{Ledger, StageState};

/// The reason why no fix of an entry is taken now; none where one is.
pub(super) fn refusal(config: &EventConfig, ledger: &Ledger, entry: &str) -> Option<String> {
    let crashes = match ledger.crashes().get(entry) {
        None | Some(0) => Some("never crashed"),
        Some(1) => Some("crashed once"),
        Some(_) => None,
    };
    if let Some(crashes) = crashes {
        return Some(format!(
            "{entry} has {crashes}; a fix is taken only of an engine that crashed more than once"
        ));
    }
    let plays = |stage: &&StageState| {
        stage.outcome.is_none() && stage.started.seats.iter().any(|seat| seat == entry)
    };
    if let Some(stage) = ledger.stages.iter().find(plays) {
        return Some(format!(
            "{entry} plays in {}, which is not over: a fix is taken between stages",
            stage.started.name
        ));
    }
    let is_promoted = is_promoted(config, ledger, entry);
    (!is_promoted).then(|| format!("{entry} has not been promoted to a stage that is to come"))
}

/// The engines that play in the next stage and may be fixed before it, but for those that have not crashed since a fix.
pub(super) fn fixable_before(config: &EventConfig, ledger: &Ledger, next: usize) -> Vec<String> {
    let crashes = ledger.crashes();
    let is_fixed = |name: &String| {
        let last = ledger.fixes.iter().rfind(|fix| fix.entry == *name);
        last.is_some_and(|last| Some(&last.crashes) == crashes.get(name.as_str()))
    };
    let mut engines = draw::drawn(config, ledger, next).seats;
    engines.retain(|name| !is_fixed(name) && refusal(config, ledger, name).is_none());
    engines
}

/// True if a stage that is to come takes an engine from the stages before it.
fn is_promoted(config: &EventConfig, ledger: &Ledger, entry: &str) -> bool {
    let begun = ledger.stages.len();
    // Stages beside each other promote to the same one: which of them ended last tells nothing.
    let mut to_come = config.stages.iter().enumerate().skip(begun);
    to_come.any(|(number, stage)| {
        let Drawn { seats, through, .. } = draw::drawn(config, ledger, number);
        let named = || stage.previous.iter().chain(&stage.engines);
        let begins = named().any(|name| name == entry) || number == 0 && named().next().is_none();
        !begins && seats.iter().chain(&through).any(|name| name == entry)
    })
}
