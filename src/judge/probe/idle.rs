//! Rules `own-book` and `ponder`: whether what is on by default is off once it is switched off, and whether the engine rests after
//! its moves in games then.
//!
//! Its process is started as a match starts it, with all that it is told before the first game: what is on by default shows in the
//! main run.

use std::time::{Duration, Instant};

use shakmaty::Color;

use super::watched_game::{self, RandomChoices};
use super::{Bench, ProbeOutcome, clock};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::probe::conversation::{Identified, Ready, RestWatch, Search, Session, Step};
use crate::model::evidence::{Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// The time for a game; a slow engine plays as much as fits, and not another one.
const GAME_TIME: Duration = Duration::from_secs(2);
/// The time for that game in a quick check, which promises less.
const QUICK_GAME_TIME: Duration = Duration::from_millis(750);

/// Below this part of a processor an engine rests, whoever else was there.
const RESTS: f64 = 0.1;

/// True if a look beside other probes found it at work, or could not tell: what winds down takes longer there.
pub(super) fn is_in_doubt(run: &Run) -> bool {
    let works = run.idle_after_moves.iter().any(|seen| seen.share() > RESTS);
    run.purpose == Purpose::Idle && (works || run.idle_after_moves.is_empty() && run.strained)
}

/// Switches off what can be switched off, watches it in games, and looks for a book; then asks on the event's clock, where nothing else
/// asks this side.
pub(super) fn run(
    bench: &Bench<'_>,
    go: Go,
    event: Option<Color>,
) -> Result<ProbeOutcome, SandboxError> {
    (bench.progress)("book and pondering");
    let known = bench.start(Purpose::Idle)?.uci();
    let ready = known.and_then(Session::<Identified>::ready_for_a_match);
    // Of one that has taken long, or is checked in a hurry, one moment has to tell.
    let games = if event.is_some() || bench.plan.quick { 1 } else { 2 };
    let talked = ready.and_then(|ready| talk(bench, ready, go, games));
    let over = match (talked, event) {
        (Ok(ready), Some(side)) => clock::event_only(bench, ready, side),
        (Ok(ready), None) => {
            let mut over = ready.quit();
            // As of each start that counts.
            if !bench.plan.quick {
                over.wait_for_leftovers();
            }
            over
        }
        (Err(over), _) => over,
    };
    Ok(over.finish_all().into())
}

/// Games with either colour, each with a moment in which it is watched, one of them for longer. No entry can tell which moment that is.
fn talk(bench: &Bench<'_>, mut session: Session<Ready>, go: Go, games: u32) -> Step<Ready> {
    let quick = bench.plan.quick;
    let time = if quick { QUICK_GAME_TIME } else { GAME_TIME };
    let mut random = RandomChoices::seeded();
    let mut side = random.colour();
    let watched_longer = random.below(games);
    for game in 0..games {
        let began = Instant::now();
        session = watched_game::play(session, side, go, time, &mut random)?;
        let slow = began.elapsed() > time;
        let whole = !quick && (game == watched_longer || slow && game < watched_longer);
        let watch = if whole { RestWatch::Whole } else { RestWatch::Short };
        session.rest_after_move(bench.plan.waits.idle, watch);
        if slow {
            break;
        }
        side = !side;
    }
    if session.book().option.is_some() {
        // A book answers at the start of the game.
        (session, _) =
            session.new_game()?.go(Search::after("idle-book-off", &Moves::start(), go))?;
    }
    Ok(session)
}
