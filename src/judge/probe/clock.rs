//! Rule `clock`: what the engine does with little time, with hardly any, and with the event's.
//!
//! Alone on the machine, because its times are the evidence. The event's clock comes last: most engines
//! think for a minute there, so the wait is cut ([`Ask::was_cut`](crate::model::evidence::Ask::was_cut)).

use super::list::{Item, ask_all};
use super::{Bench, EVENT_CLOCK, ProbeOutcome};
use crate::game::go::{Clocks, Go};
use crate::judge::support::positions;
use crate::model::evidence::{Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// Hardly anything left and no increment: what comes back is the engine's floor.
const FLOOR: Go = Go::Clock(Clocks::even(100, 0));
/// Little left, with the event's increment.
const LITTLE: Go = Go::Clock(Clocks::even(1000, 3000));

/// Asks three times; the answers' times are the evidence.
pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Run>, SandboxError> {
    let moves = positions::middlegame();
    let items = [
        Item::new("clock-floor", &moves, FLOOR),
        Item::new("clock-little-left", &moves, LITTLE),
        on_the_events(bench),
    ];
    ask_all(bench, Purpose::Clock, &items)
}

/// Asks only on the event's clock, the one that can reject: of an entry that is slow. No time is evidence then, so that others may
/// run meanwhile.
pub(super) fn event_only(bench: &Bench<'_>) -> Result<ProbeOutcome, SandboxError> {
    ask_all(bench, Purpose::Clock, &[on_the_events(bench)]).map(ProbeOutcome::from)
}

fn on_the_events(bench: &Bench<'_>) -> Item {
    Item {
        patience: Some(bench.plan.waits.clock),
        ..Item::new("clock-event", &positions::middlegame(), EVENT_CLOCK)
    }
}
