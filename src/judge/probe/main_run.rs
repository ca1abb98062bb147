//! The run that is measured, alone on the machine: start, handshake, first moves, a few plies of a game
//! against itself, `quit`, and what is left then.

use std::time::{Duration, Instant};

use super::again::{self, FailedSearch};
use super::{Bench, ProbeOutcome};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::probe::conversation::{
    ASLEEP, Over, Ready, Search, Session, StartSilence, Step, quit,
};
use crate::model::evidence::{Answer, EndHow, Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// Plies of a game that the engine plays against itself: real entries that pass every handshake have
/// died at ply 6.
const GAME: u32 = 12;
/// The time for it; a slow engine is asked for half as many plies at least.
const GAME_TIME: Duration = Duration::from_secs(20);

/// The facts that the rest of the probes must know.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// `readyok` came within the limit.
    pub(super) started: bool,
    /// The time until then.
    pub(super) start: Duration,
    /// The engine answered `uci` or the first `isready` only when its input was closed.
    pub(super) only_at_end: bool,
    /// The rule's `go` brought a `bestmove`, legal or not.
    pub(super) plays: bool,
    /// The longest time of a search.
    pub(super) slowest: Duration,
    /// The engine printed a pv.
    pub(super) pv: bool,
    /// The run came to its `quit`.
    pub(super) asked_to_quit: bool,
    /// Its first process has ended.
    pub(super) gone: bool,
}

/// The run after `quit`, before what is left is known.
pub(super) struct MainRun {
    pub(super) facts: Facts,
    over: Session<Over>,
}

impl MainRun {
    /// The first failure, where a search may be behind it.
    pub(super) fn failed(&self) -> Option<FailedSearch> {
        again::failed(self.over.asks())
    }

    /// Waits for what is left and hands over the evidence.
    pub(super) fn finish(mut self) -> Run {
        if self.facts.started && self.over.ended_by() != EndHow::Killed {
            self.over.wait_for_leftovers();
        }
        self.over.finish()
    }
}

/// Runs until the first process has ended.
pub(super) fn run(bench: &Bench<'_>, clock: Go) -> Result<MainRun, SandboxError> {
    let mut facts = Facts::default();
    let began = Instant::now();
    let ready = started(bench)?;
    if ready.is_ok() {
        facts.started = true;
        facts.start = began.elapsed();
    }
    let over = quit(ready.and_then(|ready| talk(bench, ready, clock, &mut facts)));
    let searches = over.asks().iter().filter(|ask| ask.is_search());
    facts.slowest = searches.map(|ask| ask.took).max().unwrap_or_default();
    facts.pv = over.shows_pv();
    facts.asked_to_quit = over.ended_by() == EndHow::Quit;
    facts.only_at_end = is_only_at_end(&over);
    facts.gone = over.exit().is_some();
    Ok(MainRun { facts, over })
}

/// An engine that is asleep at its start has its input closed. One that answers then is looked at once more, for half as long: the
/// answer of one that does not flush comes when its input is closed, that of any other at a time of its own.
fn started(bench: &Bench<'_>) -> Result<Step<Ready>, SandboxError> {
    for asleep in [ASLEEP, ASLEEP / 2] {
        let known = bench.start(Purpose::Main)?.uci_watched(asleep);
        match known.and_then(|known| known.isready_watched(asleep)) {
            Ok(ready) => return Ok(Ok(ready)),
            Err(StartSilence::Over(over)) if asleep == ASLEEP && is_only_at_end(&over) => {}
            Err(StartSilence::Over(over)) => return Ok(Err(over)),
            Err(StartSilence::Deaf) => break,
        }
    }
    // Looking at it has spoilt it: once more, and waited for as long as the rule says.
    Ok(bench.start(Purpose::Main)?.shake_hands())
}

fn is_only_at_end(over: &Session<Over>) -> bool {
    over.last().is_some_and(|ask| ask.answer == Answer::OnlyAtEnd)
}

/// The start and the end again, where the main run did not come to its `quit`: what depends only on
/// these is still seen.
pub(super) fn only_quit(bench: &Bench<'_>) -> Result<ProbeOutcome, SandboxError> {
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
    clock: Go,
    facts: &mut Facts,
) -> Step<Ready> {
    let length = bench.plan.waits.idle;
    session.rest_before_go(length);
    // Once more, apart from `ucinewgame`, so that one that answers only once is told from one that
    // does not know a new game.
    session = session.isready()?.new_game()?;
    let mut ask = |session: Session<Ready>, name: &str, moves: &Moves| {
        let search = Search::after(name, moves, clock);
        let (session, played) = session.go(search)?;
        facts.plays = true;
        Ok::<_, Session<Over>>((session, played))
    };

    (session, _) = ask(session, "startpos", &Moves::start())?;
    session = session.isready()?;
    let Ok(mut game) = Moves::read("e2e4") else {
        return Ok(session);
    };
    let began = Instant::now();
    for ply in 0..GAME {
        if began.elapsed() > GAME_TIME && ply >= GAME / 2 {
            break;
        }
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
