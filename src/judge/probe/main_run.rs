//! The run that is measured, alone on the machine: start, handshake, first moves, a few plies of a game
//! against itself, `quit`, and what is left then.

use super::{Bench, Outcome, SMALL_CLOCK, idle};
use crate::engine::moves::Moves;
use crate::judge::probe::conversation::{IdleWhen, Over, Ready, Search, Session, Shown};
use crate::model::evidence::{EndHow, Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// Plies of a game that the engine plays against itself: real entries that pass every handshake have
/// died at ply 6.
const GAME: u32 = 12;

/// The facts that the rest of the probes must know.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// `readyok` came within the limit.
    pub(super) started: bool,
    /// The rule's `go` brought a `bestmove`, legal or not.
    pub(super) plays: bool,
    /// It printed a pv.
    pub(super) pv: bool,
    /// It came to its `quit`.
    pub(super) asked_to_quit: bool,
    /// Its first process has ended.
    pub(super) gone: bool,
    /// It showed a book, pondering, or a busy wait.
    pub(super) look_idle: bool,
}

/// The run after `quit`, before what is left is known.
pub(super) struct MainRun {
    pub(super) facts: Facts,
    over: Session<Over>,
}

impl MainRun {
    /// Waits for what is left and hands over the evidence.
    pub(super) fn finish(mut self) -> Run {
        if self.facts.started && self.over.ended_by() != EndHow::Killed {
            self.over.wait_for_leftovers();
        }
        self.over.finish()
    }
}

/// Runs until the first process has ended.
pub(super) fn run(bench: &Bench<'_>) -> Result<MainRun, SandboxError> {
    let mut facts = Facts::default();
    let over = match bench.start(Purpose::Main)?.shake_hands() {
        Ok(ready) => {
            facts.started = true;
            match talk(bench, ready, &mut facts) {
                Ok(ready) => ready.quit(),
                Err(over) => over,
            }
        }
        Err(over) => over,
    };
    facts.pv = over.shows_pv();
    facts.asked_to_quit = over.ended_by() == EndHow::Quit;
    facts.gone = over.exit().is_some();
    facts.look_idle = idle::is_needed(&over);
    Ok(MainRun { facts, over })
}

/// The start and the end again, where the main run did not come to its `quit`: what depends only on
/// these is still seen.
pub(super) fn only_quit(bench: &Bench<'_>) -> Result<Outcome, SandboxError> {
    let over = match bench.start(Purpose::Main)?.shake_hands() {
        Ok(ready) => {
            let mut over = ready.quit();
            over.wait_for_leftovers();
            over
        }
        Err(over) => over,
    };
    Ok(vec![over.finish()].into())
}

fn talk(
    bench: &Bench<'_>,
    mut session: Session<Ready>,
    facts: &mut Facts,
) -> Result<Session<Ready>, Session<Over>> {
    let length = bench.plan.waits.idle;
    session.measure_idle(IdleWhen::BeforeGo, length);
    // Once more, apart from `ucinewgame`, so that one that answers only once is told from one that
    // does not know a new game.
    session = session.isready()?.new_game()?;
    let mut ask = |session: Session<Ready>, name: &str, moves: &Moves| {
        let search = Search { name, shown: Shown::Moves(moves), go: SMALL_CLOCK };
        let (session, played) = session.go(search)?;
        facts.plays = true;
        Ok::<_, Session<Over>>((session, played))
    };

    (session, _) = ask(session, "startpos", &Moves::start())?;
    session.measure_idle(IdleWhen::AfterMove, length);
    session = session.isready()?;
    let Ok(mut game) = Moves::read("e2e4") else {
        return Ok(session);
    };
    for ply in 0..GAME {
        let name = match ply {
            0 => "after-e2e4".to_owned(),
            _ => format!("game-ply-{}", game.plies().0),
        };
        let played;
        (session, played) = ask(session, &name, &game)?;
        // An illegal move ends the game, as it does in the event.
        let Some(played) = played else { break };
        game.play(played);
        if game.is_over() {
            break;
        }
    }
    Ok(session)
}
