//! Rule `long-game`: a whole long game on one line, in a fresh process.

use std::time::Duration;

use super::list::{Item, ask_all};
use super::{Bench, ProbeOutcome, again};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::support::positions;
use crate::model::evidence::{Answer, Ask, LONG_GAME, Purpose, Run};
use crate::model::units::Ply;
use crate::sandbox::plan::SandboxError;

/// The longest list that is tried.
const LONGEST: Ply = Ply(1000);

/// The answer to a longer list may take at most so many times as long as the answer to a shorter one.
const SLOWER: u32 = 4;

/// Asks for a move after as many plies as the longest game of the events; for `advice` after 1,000, and where that
/// fails, where it begins to; of an entry that has taken long by then it is not asked.
pub(super) fn run(bench: &Bench<'_>, go: Go, advice: bool) -> Result<ProbeOutcome, SandboxError> {
    let long = positions::long_game();
    let (mut outcome, go) = again::climbing(bench, go, |bench, go| {
        let mut outcome = ask(bench, &long, go, None).map(ProbeOutcome::from)?;
        after_a_resignation(bench, go, &mut outcome)?;
        Ok(outcome)
    })?;
    let took = outcome.runs.iter().filter_map(legal).max();
    let Some(took) = took.filter(|_| advice) else { return Ok(outcome) };
    if bench.is_late() {
        outcome.left_out = true;
        return Ok(outcome);
    }
    // One that hangs there is only given advice, and one that is slow is no slower there.
    let patience = Some(took * SLOWER + bench.plan.waits.advice);
    let longest = ask(bench, &positions::longer_game(LONGEST), go, patience)?;
    let understood = longest.iter().any(|run| legal(run).is_some());
    outcome.shown.thousand_plies = Some(understood);
    outcome.runs.extend(longest);
    if !understood {
        let (mut good, mut bad) = (LONG_GAME.0, LONGEST.0);
        while bad - good > 1 && !bench.left().is_zero() {
            let plies = Ply(u32::midpoint(good, bad));
            let asked = ask(bench, &positions::longer_game(plies), go, patience)?;
            if asked.iter().any(|run| legal(run).is_some()) {
                good = plies.0;
            } else {
                bad = plies.0;
            }
            outcome.runs.extend(asked);
        }
    }
    Ok(outcome)
}

/// An engine that resigns at the end of the long game is asked what the other side would play a ply before, which is not lost:
/// a resignation does not show that the list was read.
pub(super) fn after_a_resignation(
    bench: &Bench<'_>,
    go: Go,
    outcome: &mut ProbeOutcome,
) -> Result<(), SandboxError> {
    let resigned = |ask: &Ask| {
        ask.answer == Answer::Resigned && ask.search().is_some_and(|go| go.plies == LONG_GAME)
    };
    if outcome.runs.iter().flat_map(|run| &run.asks).any(resigned) {
        let before = positions::before_the_long_games_end();
        outcome.runs.extend(ask(bench, &before, go, None)?);
    }
    Ok(())
}

/// The time that a legal move took, where one came.
fn legal(run: &Run) -> Option<Duration> {
    let mut legal = run.asks.iter().filter(|ask| ask.moved());
    legal.next().map(|ask| ask.took)
}

fn ask(
    bench: &Bench<'_>,
    moves: &Moves,
    go: Go,
    patience: Option<Duration>,
) -> Result<Vec<Run>, SandboxError> {
    let plies = moves.plies();
    (bench.progress)(&format!("a game of {plies} on one line"));
    ask_all(bench, &[Item { patience, ..item(moves, go) }])
}

/// The question that can reject, for an entry that is asked more than it of one start.
pub(super) fn demanded(go: Go) -> Item {
    item(&positions::long_game(), go)
}

fn item(moves: &Moves, go: Go) -> Item {
    let plies = moves.plies();
    Item::new(Purpose::LongGame(plies), &format!("long-game-{}", plies.0), moves, go)
}
