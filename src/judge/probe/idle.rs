//! Rules `own-book` and `ponder`: whether what is on by default can be switched off.

use super::{Bench, Outcome};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::probe::conversation::{IdleWhen, Over, Ready, Search, Session, Shown};
use crate::judge::support::positions;
use crate::model::evidence::{BookSeen, DeclaredOption, Purpose};
use crate::sandbox::plan::SandboxError;

/// Processor seconds a second after a move from which a waiting engine is looked at again.
const BUSY: f64 = 0.1;

/// True if the main run showed anything to look at: an option, a word of a book, a busy wait.
pub(super) fn is_needed(main: &Session<Over>) -> bool {
    let ponder = main.options().iter().any(is_ponder);
    let busy = main.idle_after_move().is_some_and(|share| share > BUSY);
    ponder || busy || *main.book() != BookSeen::default()
}

fn is_ponder(option: &DeclaredOption) -> bool {
    option.name.eq_ignore_ascii_case("ponder")
}

/// Switches off what can be switched off, and looks again.
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
    let length = bench.plan.waits.idle;
    let middle = positions::middlegame();
    // A book answers at the start of the game; what is on is seen before it is switched off.
    let session = ask(session, "idle-default-start", &Moves::start(), go)?;
    let mut session = ask(session, "idle-default", &middle, go)?;
    session.measure_idle(IdleWhen::AfterMove, length);
    let book = session.book().option.clone();
    if let Some(book) = book {
        session = session.set_option(&book, Some("false"))?;
        session = ask(session, "idle-book-off", &Moves::start(), go)?;
    }
    let ponder = session.options().iter().find(|option| is_ponder(option));
    if let Some(ponder) = ponder.map(|option| option.name.clone()) {
        session = session.set_option(&ponder, Some("false"))?;
        session = ask(session, "idle-ponder-off", &middle, go)?;
        session.measure_idle(IdleWhen::PonderOff, length);
    }
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
