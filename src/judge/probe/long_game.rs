//! Rule `long-game`: a whole long game on one line, in a fresh process.

use super::list::{Item, ask_all, hung};
use super::{Bench, Outcome};
use crate::game::go::Go;
use crate::judge::support::positions;
use crate::model::evidence::{Answer, LONG_GAME, Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// Asks for a move after 450 plies; and after 1,000 for `advice`, unless the shorter game has hung it.
pub(super) fn run(bench: &Bench<'_>, go: Go, advice: bool) -> Result<Outcome, SandboxError> {
    let mut outcome = Outcome::from(ask(bench, LONG_GAME.0, go)?);
    if advice && !outcome.runs.iter().any(hung) {
        let longer = ask(bench, 1000, go)?;
        let legal = |run: &Run| run.asks.iter().any(|ask| matches!(ask.answer, Answer::Legal(_)));
        outcome.shown.thousand_plies = Some(longer.iter().any(legal));
        outcome.runs.extend(longer);
    }
    Ok(outcome)
}

fn ask(bench: &Bench<'_>, plies: u32, go: Go) -> Result<Vec<Run>, SandboxError> {
    (bench.progress)(&format!("a game of {plies} plies"));
    let Some(moves) = positions::long_game(plies) else {
        return Ok(Vec::new());
    };
    let item = Item::new(&format!("long-game-{plies}"), &moves, go);
    ask_all(bench, Purpose::LongGame(moves.plies()), &[item])
}
