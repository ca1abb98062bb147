//! The question of a game at which something went wrong, asked again on clocks that the event can produce.
//!
//! First the position alone, in a fresh process; where it is answered, after all that a process of the entry was asked in the
//! games before, since memory of these may be the reason.

use std::time::Duration;

use shakmaty::{ByColor, Color, Position};

use super::{Contender, ENTRY, TWIN, given, seats};
use crate::engine::moves::Moves;
use crate::game::go::{Clocks, Go};
use crate::judge::probe::conversation::{Over, PositionForm, Ready, Search, Session};
use crate::judge::probe::{LEAST_CLOCK, MINUTE_CLOCK, Progress};
use crate::judge::support::runs;
use crate::model::evidence::{
    AskedAgain, GameEnd, GameFault, Limits, PlayedGame, PlayedGames, Purpose, Run,
};
use crate::runner::Given;
use crate::sandbox::plan::{Audit, SandboxError, Staging, StartPlan};

/// The clock of all but the last question: they went well on as little.
const BEFORE: Go = Go::Clock(Clocks::even(300, 10));

/// Asks again what broke each game, until one fault is proved on the event's clocks.
///
/// # Errors
/// When the sandbox could not be built.
pub(crate) fn ask_again(
    entry: &Contender,
    played: &mut PlayedGames,
    limits: Limits,
    progress: Progress<'_>,
) -> Result<(), SandboxError> {
    for at in 0..played.games.len() {
        let Some(case) = Case::of(played, at) else { continue };
        progress("a fault in a game, again on a clock of the event");
        let again = case.ask(entry, limits)?;
        let proved = again.held.is_none();
        if let Some(game) = played.games.get_mut(at) {
            game.again = Some(again);
        }
        if proved {
            break;
        }
    }
    Ok(())
}

/// A question that broke a game, and the games of that engine up to it: each list after which it was asked.
struct Case {
    before: Vec<Vec<Moves>>,
    last: Moves,
    /// The times on the clocks of the game.
    clocks: Option<ByColor<Duration>>,
}

impl Case {
    fn of(played: &PlayedGames, at: usize) -> Option<Case> {
        let given = given(played.wanted.div_ceil(2));
        let game = played.games.get(at)?;
        let GameEnd::Fault(fault) = &game.end else { return None };
        if matches!(fault, GameFault::NoStart(_)) {
            return None;
        }
        let last = whole(game)?;
        let seat = seat_of(&given, game, last.position().turn())?;
        let mut before = Vec::new();
        for earlier in played.games.get(..=at)? {
            let colour = [Color::White, Color::Black]
                .into_iter()
                .find(|colour| seat_of(&given, earlier, *colour) == Some(seat));
            if let Some(colour) = colour {
                before.push(asked(earlier, colour));
            }
        }
        Some(Case { before, last, clocks: game.clocks })
    }

    /// A clock of the event, as uneven as the game's were.
    fn as_in_the_game(&self, go: Go) -> Go {
        match (go, self.clocks) {
            (Go::Clock(clocks), Some(seen)) => Go::Clock(clocks.in_proportion(seen)),
            _ => go,
        }
    }

    fn ask(&self, entry: &Contender, limits: Limits) -> Result<AskedAgain, SandboxError> {
        let mut again = AskedAgain { held: None, tries: Vec::new(), commands: Vec::new() };
        for (before, words) in
            [(&[Vec::new()][..], "alone"), (&self.before, "after the games before")]
        {
            let mut held = None;
            for clock in [LEAST_CLOCK, MINUTE_CLOCK] {
                let go = self.as_in_the_game(clock);
                let run = talk(entry, limits, before, &self.last, go)?;
                let (answer, good) = match run.asks.iter().rfind(|ask| runs::is_search(ask)) {
                    Some(ask) => (runs::answer_words(ask, &run), ask.answer.is_good()),
                    None => ("it did not come up".to_owned(), false),
                };
                again.tries.push(format!("{words}, `{go}`: {answer}"));
                again.commands = runs::commands(&run);
                if good {
                    held = Some(go.to_string());
                    break;
                }
            }
            again.held = held;
            if again.held.is_none() {
                break;
            }
        }
        Ok(again)
    }
}

/// Everything before on a small clock, then the last question. Where the process dies on the way, it was asked what the
/// game's own was not; then the last game alone goes before, on the event's clock.
fn talk(
    entry: &Contender,
    limits: Limits,
    before: &[Vec<Moves>],
    last: &Moves,
    go: Go,
) -> Result<Run, SandboxError> {
    let run = once(entry, limits, before, BEFORE, last, go)?;
    let came_to_it = run.asks.iter().filter(|ask| runs::is_search(ask)).count()
        > before.iter().map(Vec::len).sum::<usize>();
    match before.split_last() {
        Some((game, _)) if !came_to_it && runs::is_up(&run) => {
            once(entry, limits, std::slice::from_ref(game), LEAST_CLOCK, last, go)
        }
        _ => Ok(run),
    }
}

fn once(
    entry: &Contender,
    limits: Limits,
    before: &[Vec<Moves>],
    clock: Go,
    last: &Moves,
    go: Go,
) -> Result<Run, SandboxError> {
    let plan = StartPlan {
        bytes: entry.bytes.clone(),
        staging: Staging::Neutral,
        shell: entry.shell,
        audit: Audit::ProgramsOnly,
    };
    let started = Session::start(&*entry.launcher, &plan, Purpose::Again, limits)?.shake_hands();
    let over = started.and_then(|ready| converse(entry, limits, ready, before, clock, last, go));
    Ok(match over {
        Ok(ready) => ready.quit(),
        Err(over) => over,
    }
    .finish())
}

fn converse(
    entry: &Contender,
    limits: Limits,
    mut ready: Session<Ready>,
    before: &[Vec<Moves>],
    clock: Go,
    last: &Moves,
    go: Go,
) -> Result<Session<Ready>, Session<Over>> {
    for (name, value) in &entry.options {
        ready = ready.set_option(name, Some(value))?;
    }
    for game in before {
        ready = ready.new_game()?;
        for moves in game {
            let search = Search { name: "before", shown: PositionForm::Moves(moves), go: clock };
            (ready, _) = ready.go(search)?;
        }
    }
    let left: Duration = go.left(last.position().turn()).unwrap_or_default();
    let patience = left.min(limits.answer) + limits.answer;
    let search = Search { name: "again", shown: PositionForm::Moves(last), go };
    ready.go_within(search, patience).map(|(ready, _)| ready)
}

/// The engine in a seat of a game, where it is the entry.
fn seat_of(given: &[Given], game: &PlayedGame, colour: Color) -> Option<usize> {
    let seat = *seats(&given.get(game.number.checked_sub(1)?)?.pairing).get(colour);
    (seat == ENTRY || seat == TWIN).then_some(seat)
}

/// The whole game as a list.
fn whole(game: &PlayedGame) -> Option<Moves> {
    first(game, game.moves.len())
}

/// The first plies of a game.
fn first(game: &PlayedGame, plies: usize) -> Option<Moves> {
    let words: Vec<&str> = game.moves.iter().take(plies).map(|ply| &*ply.uci).collect();
    Moves::read(&words.join(" ")).ok()
}

/// The lists after which an engine with this colour moved in a game.
fn asked(game: &PlayedGame, colour: Color) -> Vec<Moves> {
    let own = game
        .moves
        .iter()
        .enumerate()
        .filter(|(at, ply)| ply.took.is_some() && (at % 2 == 0) == colour.is_white());
    own.filter_map(|(at, _)| first(game, at)).collect()
}
