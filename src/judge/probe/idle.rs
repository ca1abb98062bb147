//! Rules `own-book` and `ponder`: whether what is on by default can be switched off, and whether the engine rests after its
//! move then.

use super::{Bench, Outcome};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::probe::conversation::{Over, Ready, Search, Session, Shown, Watch};
use crate::judge::support::positions;
use crate::model::evidence::{DeclaredOption, Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// Below this part of a processor an engine rests, whoever else was there.
const RESTS: f64 = 0.1;

/// True if a look beside other probes found it at work, or could not tell: what winds down takes longer there.
pub(super) fn is_in_doubt(run: &Run) -> bool {
    let works = run.idle_after_move.is_some_and(|seen| seen.share() > RESTS);
    run.purpose == Purpose::Idle && (works || run.idle_after_move.is_none() && run.strained)
}

fn is_ponder(option: &DeclaredOption) -> bool {
    option.name.eq_ignore_ascii_case("ponder")
}

/// Looks for a book, switches off what can be switched off, and looks again.
pub(super) fn run(bench: &Bench<'_>, go: Go) -> Result<Outcome, SandboxError> {
    (bench.progress)("book and pondering");
    let over = match bench.start(Purpose::Idle)?.shake_hands() {
        Ok(ready) => match talk(bench, ready, go) {
            Ok(ready) => ready.quit(),
            Err(over) => over,
        },
        Err(over) => over,
    };
    Ok(vec![over.finish()].into())
}

fn talk(
    bench: &Bench<'_>,
    session: Session<Ready>,
    go: Go,
) -> Result<Session<Ready>, Session<Over>> {
    let middle = positions::middlegame();
    // A book answers at the start of the game; what is on is seen before it is switched off.
    let session = ask(session, "idle-default-start", &Moves::start(), go)?;
    let mut session = ask(session, "idle-default", &middle, go)?;
    let book = session.book().option.clone();
    if let Some(book) = book {
        session = session.set_option(&book, Some("false"))?;
        session = ask(session, "idle-book-off", &Moves::start(), go)?;
    }
    let ponder = session.options().iter().find(|option| is_ponder(option));
    if let Some(ponder) = ponder.map(|option| option.name.clone()) {
        session = session.set_option(&ponder, Some("false"))?;
        session = ask(session, "idle-ponder-off", &middle, go)?;
    }
    let watch = if bench.plan.quick { Watch::Short } else { Watch::Whole };
    session.rest_after_move(bench.plan.waits.idle, watch);
    Ok(session)
}

fn ask(
    session: Session<Ready>,
    name: &str,
    moves: &Moves,
    go: Go,
) -> Result<Session<Ready>, Session<Over>> {
    let shown = Shown::Moves(moves);
    let (session, _) = session.new_game()?.go(Search { name, shown, go })?;
    Ok(session)
}
