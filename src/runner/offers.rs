//! The engines of a match that do not offer Chess960, found before any of them plays.

use std::sync::Arc;

use super::engine::{Engine, EngineBounds};
use super::seat::EngineSeat;
use crate::engine::stop::{Stop, StopLevel};
use crate::game::clock::Monotonic;
use crate::model::words::all;

/// Says which engines start and do not offer the option `UCI_Chess960`; none where all do. An engine that does not start
/// is not among them: that is told, and counts, in its games.
pub(crate) fn without_chess960(
    engines: &[Arc<Engine>],
    bounds: EngineBounds,
    stop: &Stop,
) -> Option<String> {
    let mut without = Vec::new();
    for engine in engines {
        if stop.level() != StopLevel::GoOn {
            break;
        }
        let mut seat = EngineSeat::new(
            Arc::clone(engine),
            Monotonic::start(),
            bounds,
            stop.clone(),
            None,
            None,
        );
        if seat.offers_chess960() == Some(false) {
            without.push(engine.name.clone());
        }
        seat.quit();
    }
    let offer = if without.len() == 1 { "offers" } else { "offer" };
    (!without.is_empty()).then(|| format!("{} {offer} no option UCI_Chess960", all(&without)))
}
