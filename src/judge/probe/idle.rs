//! Rules `own-book` and `ponder`: whether what is on by default can be switched off, and whether the engine rests after its
//! move then.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use super::{Bench, ProbeOutcome, clock};
use crate::engine::moves::Moves;
use crate::game::go::{Clocks, Go};
use crate::judge::probe::conversation::{PositionForm, Ready, RestWatch, Search, Session, Step};
use crate::judge::support::positions;
use crate::model::evidence::{DeclaredOption, Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// The least plies of the game before the engine is watched.
const SHORTEST: u32 = 4;
/// The most plies by which that game is longer. Rule `match` plays whole games: faults that come later in one are findings
/// of that rule, and should not be another rule's by chance.
const LONGER: u32 = 7;
/// The time for that game; a slow engine plays as much as fits.
const GAME_TIME: Duration = Duration::from_secs(3);
/// The time for that game in a quick check, which promises less.
const QUICK_GAME_TIME: Duration = Duration::from_millis(750);

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

/// Looks for a book, switches off what can be switched off, and looks again; then asks on the event's clock, where nothing else does.
pub(super) fn run(bench: &Bench<'_>, go: Go, event: bool) -> Result<ProbeOutcome, SandboxError> {
    (bench.progress)("book and pondering");
    let ready = bench.start(Purpose::Idle)?.shake_hands();
    let over = match ready.and_then(|ready| talk(bench, ready, go)) {
        Ok(ready) if event => clock::event_only(bench, ready),
        Ok(ready) => {
            let mut over = ready.quit();
            // As of each start that counts.
            if !bench.plan.quick {
                over.wait_for_leftovers();
            }
            over
        }
        Err(over) => over,
    };
    Ok(over.finish_all().into())
}

fn talk(bench: &Bench<'_>, session: Session<Ready>, go: Go) -> Step<Ready> {
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
    let (time, watch) = match bench.plan.quick {
        true => (QUICK_GAME_TIME, RestWatch::Short),
        false => (GAME_TIME, RestWatch::Whole),
    };
    session = play_on(session, middle, go, time)?;
    session.rest_after_move(bench.plan.waits.idle, watch);
    Ok(session)
}

/// Plays both sides of a game, so that it is watched as it waits in games, not after a single question. Where it ends is
/// left to chance: no entry can tell the move after which it is watched.
fn play_on(mut session: Session<Ready>, mut game: Moves, go: Go, time: Duration) -> Step<Ready> {
    let began = Instant::now();
    let chance = RandomState::new().hash_one(0);
    let plies = game.plies().0 + SHORTEST + (chance / 2 % u64::from(LONGER)) as u32;
    while game.plies().0 < plies && began.elapsed() < time {
        let name = format!("idle-game-ply-{}", game.plies().0);
        let clock = as_in_a_game(go, game.plies().0, chance.is_multiple_of(2));
        let search = Search { name: &name, shown: PositionForm::Moves(&game), go: clock };
        let played;
        (session, played) = session.go(search)?;
        let Some(played) = played else { break };
        game.play(played);
        if game.is_over() {
            break;
        }
    }
    Ok(session)
}

/// The clock with a little more for both sides, as increments leave it in a game: for one more than for the other at each ply.
fn as_in_a_game(go: Go, ply: u32, white_ahead: bool) -> Go {
    let (behind, ahead) = (f64::from(ply % 5), f64::from(7 + ply % 3));
    let (white, black) = if white_ahead { (ahead, behind) } else { (behind, ahead) };
    match go {
        Go::Clock(clocks) => Go::Clock(Clocks {
            white: clocks.white.mul_f64(1.0 + white / 100.0),
            black: clocks.black.mul_f64(1.0 + black / 100.0),
            ..clocks
        }),
        other => other,
    }
}

fn ask(session: Session<Ready>, name: &str, moves: &Moves, go: Go) -> Step<Ready> {
    let shown = PositionForm::Moves(moves);
    let (session, _) = session.new_game()?.go(Search { name, shown, go })?;
    Ok(session)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::probe::{LEAST_CLOCK, SMALL_CLOCK};

    #[test]
    fn no_ply_of_the_watched_game_has_even_clocks_or_less_than_was_asked_for() {
        for ply in 0..200 {
            for (go, ahead) in [(SMALL_CLOCK, true), (LEAST_CLOCK, false)] {
                let Go::Clock(clocks) = as_in_a_game(go, ply, ahead) else { panic!() };
                assert!((clocks.white > clocks.black) == ahead && clocks.white != clocks.black);
                let Go::Clock(least) = go else { panic!() };
                assert!(clocks.white >= least.white && clocks.black >= least.black);
            }
        }
    }
}
