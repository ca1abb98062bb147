//! Rule `clock`: what the engine does with little time, with hardly any, and with the event's.
//!
//! Alone on the machine, because its times are the evidence. The event's clock comes last: most engines
//! think for a minute there, so the wait is cut ([`Ask::was_cut`](crate::model::evidence::Ask::was_cut)).

use super::list::{Item, ask_all};
use super::{Bench, EVENT_CLOCK};
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
        Item {
            patience: Some(bench.plan.waits.clock),
            ..Item::new("clock-event", &moves, EVENT_CLOCK)
        },
    ];
    ask_all(bench, Purpose::Clock, &items)
}
