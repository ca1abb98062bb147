//! A list of positions, asked one after the other; when the engine fails, what is left of the list goes
//! on in a fresh process, so that one bad position does not hide what it does in the others. One that hangs has failed
//! by that alone, and is not waited for again.

use std::time::{Duration, Instant};

use super::Bench;
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::probe::conversation::Search;
use crate::model::evidence::{Answer, Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// Fresh processes for one list after its first.
const RESTARTS: usize = 2;

/// One question of a list.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The reason for which it is asked.
    pub(super) purpose: Purpose,
    /// The name for reports.
    pub(super) name: String,
    /// The moves that lead to the position.
    pub(super) moves: Moves,
    /// The search that is asked for.
    pub(super) go: Go,
    /// The time to wait, if not for what the clock and the limit allow.
    pub(super) patience: Option<Duration>,
}

impl Item {
    pub(super) fn new(purpose: Purpose, name: &str, moves: &Moves, go: Go) -> Item {
        Item { purpose, name: name.to_owned(), moves: moves.clone(), go, patience: None }
    }
}

/// Asks all items, each as a new game.
pub(super) fn ask_all(bench: &Bench<'_>, items: &[Item]) -> Result<Vec<Run>, SandboxError> {
    ask_within(bench, items, Duration::MAX)
}

/// The same; of an engine that is so slow that the time is over before the list is, no more is asked.
pub(super) fn ask_within(
    bench: &Bench<'_>,
    items: &[Item],
    time: Duration,
) -> Result<Vec<Run>, SandboxError> {
    let mut runs = Vec::new();
    let mut rest = items;
    let mut asking = Duration::ZERO;
    for _ in 0..=RESTARTS {
        let Some(first) = rest.first() else { break };
        let (mut session, mut over) = match bench.start(first.purpose)?.shake_hands() {
            Ok(ready) => (Some(ready), None),
            Err(failed) => (None, Some(failed)),
        };
        let could_start = session.is_some();
        // A start takes what it takes: the time is for questions.
        let began = Instant::now();
        while let (Some(ready), Some((item, others))) = (session.take(), rest.split_first()) {
            // Asked or not, an item that the engine failed at is not asked again.
            rest = others;
            let search = Search::after(&item.name, &item.moves, item.go);
            // An entry that tidies up after the measured run alone is found where the clock, or the number or length of games, is
            // another.
            let to_its_end = item.purpose.can_reject() && !bench.plan.quick;
            let asked = ready.new_game_for(item.purpose).and_then(|ready| match item.patience {
                Some(patience) => ready.go_within(search, patience),
                None => ready.go(search),
            });
            match asked {
                Ok((ready, _)) if rest.is_empty() || asking + began.elapsed() > time => {
                    rest = &[];
                    let mut quit = ready.quit();
                    if to_its_end {
                        quit.wait_for_leftovers();
                    }
                    over = Some(quit);
                }
                Ok((ready, _)) => session = Some(ready),
                Err(failed) => over = Some(failed),
            }
        }
        asking += began.elapsed();
        let ended = over.map(|over| over.finish_all()).unwrap_or_default();
        let hung = ended.iter().any(hung);
        runs.extend(ended);
        if !could_start || hung {
            break;
        }
    }
    Ok(runs)
}

/// True if an answer did not come for as long as it is waited for one.
pub(super) fn hung(run: &Run) -> bool {
    run.asks.iter().any(|ask| ask.answer == Answer::Timeout && !ask.was_cut())
}
