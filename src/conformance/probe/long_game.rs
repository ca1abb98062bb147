//! Rule `long-game`: a whole long game on one line, in a fresh process.

use super::list::{Item, ask_all};
use super::{Bench, Outcome};
use crate::conformance::positions;
use crate::evidence::{Answer, Purpose};
use crate::sandbox::plan::SandboxError;
use crate::uci::message::Go;

/// Asks for a move after so many plies (450, or 1,000 for advice).
pub(super) fn run(bench: &Bench<'_>, plies: u32, go: Go) -> Result<Outcome, SandboxError> {
    (bench.progress)(&format!("a game of {plies} plies"));
    let Some(moves) = positions::long_game(plies) else {
        return Ok(Outcome::default());
    };
    let item = Item::new(&format!("long-game-{plies}"), &moves, go);
    let runs = ask_all(bench, Purpose::LongGame(moves.plies()), &[item])?;
    let mut outcome = Outcome::from(runs);
    if plies >= 1000 {
        let legal = |run: &crate::evidence::Run| {
            run.asks.iter().any(|ask| matches!(ask.answer, Answer::Legal(_)))
        };
        outcome.shown.thousand_plies = Some(outcome.runs.iter().any(legal));
    }
    Ok(outcome)
}
