//! The form of `go` with a clock, of an entry that did not answer it at the start position: whether it answers it
//! anywhere, and how it ends where it does not.
//!
//! Games of the event begin after some moves of a book, and have a clock. An entry that answers the form there is judged by
//! it as any other is, and not by bare `go`: else one could be silent where it thinks itself judged, and play otherwise.

use std::time::Duration;

use super::games::OPENINGS;
use super::list::{Item, ask_all};
use super::{
    Bench, EVENT_CLOCK, ProbeOutcome, SMALL_CLOCK, Task, extras, positions, searched_well,
};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::probe::conversation::{Search, Waited};
use crate::model::evidence::{EndHow, Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// The time for a move after an opening, beyond the small clock: one question of many, beside each other.
const PATIENCE: Duration = Duration::from_secs(4);

/// An opening of as many plies as books have.
const LONGER: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6";

/// Bare `go`, and the form with a clock after moves. With `openings` also after some of a book, each the first question of a
/// fresh process, as in the event.
pub(super) fn looks(openings: bool) -> Vec<Task> {
    let mut looks: Vec<Task> = vec![
        Box::new(|bench| extras::bare_go(bench, bench.plan.limits.answer)),
        Box::new(positions::after_moves),
    ];
    if openings {
        // An entry may tell a game of the event by its clock.
        looks.push(Box::new(|bench| after(bench, LONGER, EVENT_CLOCK, bench.limits.answer)));
        for opening in OPENINGS.into_iter().chain([LONGER]) {
            looks.push(Box::new(move |bench| after(bench, opening, SMALL_CLOCK, PATIENCE)));
        }
    }
    looks
}

/// Asks once after an opening. Silence says nothing here: it is waited for a little only.
fn after(
    bench: &Bench<'_>,
    opening: &str,
    go: Go,
    patience: Duration,
) -> Result<ProbeOutcome, SandboxError> {
    // invariant: a test reads them all
    let moves = Moves::read(opening).unwrap_or_default();
    let patience = Some(patience.min(bench.limits.answer));
    let item = Item { patience, ..Item::new(Purpose::Positions, "book-exit", &moves, go) };
    let mut runs = ask_all(bench, &[item])?;
    for run in &mut runs {
        if !run.asks.iter().any(searched_well) {
            run.purpose = Purpose::Capabilities;
        }
    }
    Ok(runs.into())
}

/// True if a search on a clock was answered after moves.
pub(super) fn is_answered<'a>(runs: impl IntoIterator<Item = &'a Run>) -> bool {
    let mut asks =
        runs.into_iter().filter(|run| run.purpose == Purpose::Positions).flat_map(|run| &run.asks);
    asks.any(|ask| searched_well(ask) && ask.search().is_some_and(|go| go.left.is_some()))
}

/// The form with a clock once more, of an entry that knows bare `go` alone, and then `quit`: what it leaves behind is what each of its
/// games would.
pub(super) fn and_quit(bench: &Bench<'_>) -> Result<ProbeOutcome, SandboxError> {
    let moves = Moves::start();
    let search = Search::after("startpos", &moves, SMALL_CLOCK);
    let started = bench.start(Purpose::OtherGo)?.shake_hands();
    let mut over = match started.and_then(|ready| ready.think(search)) {
        Ok(thinking) => match thinking.wait(bench.plan.waits.bare_go) {
            Waited::Moved(ready, _) => ready.quit(),
            Waited::Still(thinking) => thinking.quit_now(),
            Waited::Over(over) => over,
        },
        Err(over) => over,
    };
    if over.ended_by() != EndHow::Killed {
        over.wait_for_leftovers();
    }
    Ok(vec![over.finish()].into())
}
