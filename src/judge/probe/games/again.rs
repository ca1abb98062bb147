//! The question of a game at which something went wrong, asked again on clocks that the event can produce.
//!
//! First the position alone, in a fresh process; where it is answered, after the game up to it, then after all games of that
//! process, since memory of these may be the reason. The moves before are asked on a clock of the event, too: a history that
//! no event can produce proves nothing.
//!
//! One that broke off and is answered each time is asked on the clocks that the game had then, too, alone and after the same: where it is answered
//! there, nothing of that was the reason.

use std::time::{Duration, Instant};

use shakmaty::{ByColor, Color, Position};

use super::{Contender, ENTRY, TWIN, given, seats};
use crate::engine::moves::Moves;
use crate::game::clock::TimeControl;
use crate::game::go::{Clocks, Go};
use crate::judge::probe::again::patience;
use crate::judge::probe::conversation::{self, Ready, Search, Session, Step};
use crate::judge::probe::{LEAST_CLOCK, MINUTE_CLOCK, Progress};
use crate::judge::support::{came_again, runs};
use crate::model::evidence::{
    Ask, AskedAgain, GameEnd, GameFault, LEAST_LEFT, LeftByProcess, Limits, PartOfTime, PlayedGame,
    PlayedGames, Purpose, Question, Rival, Run,
};
use crate::model::game::result::GameResult;
use crate::runner::WantedGame;
use crate::sandbox::plan::{Audit, SandboxError, Staging, StartPlan};

/// Asks again what broke each game, until one fault is proved on the event's clocks, or until `until`: a fault that did not
/// come by then is not proved.
pub(crate) fn ask_again(
    entry: &Contender,
    played: &mut PlayedGames,
    limits: Limits,
    until: Instant,
    progress: Progress<'_>,
) -> Result<(), SandboxError> {
    for at in 0..played.games.len() {
        let Some(case) = Case::of(played, at) else { continue };
        progress("a fault in a game, again on a clock of the event");
        let again = case.ask(entry, limits, until, &mut played.left)?;
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

/// The clock of a fast game of the check ([`FAST`](super::FAST)).
const FAST_CLOCK: Clocks = Clocks::even(300, 10);
/// The clock of the other games ([`LEAST`](super::LEAST)).
const SLOW_CLOCK: Clocks = Clocks::even(3000, 3000);

/// A question that broke a game, and the games of that engine up to it: each list after which it was asked.
struct Case {
    before: Vec<Vec<Moves>>,
    last: Moves,
    /// The lines that it was sent for all this in the games themselves.
    sent: Vec<String>,
    /// The times on the clocks of the game.
    clocks: Option<ByColor<Duration>>,
    /// True if the game itself had a clock of the event then: where the time is over, it counts as it was seen.
    seen_on_the_events: bool,
    /// The clock with which the game began.
    first_clock: Clocks,
    /// True if the engine ended, or did not answer.
    broke_off: bool,
    /// True if it did not come up, which no clock is the reason for.
    did_not_start: bool,
}

/// The end of a conversation that leads to the last question.
enum Outcome {
    /// The question was answered.
    Held,
    /// The question, or one before it, was not answered.
    Broke,
    /// The time was over before it was asked, after so many of so many questions.
    Cut(usize, usize),
}

impl Case {
    fn of(played: &PlayedGames, at: usize) -> Option<Case> {
        let itself = played.games.iter().any(|game| game.rival == Rival::Itself);
        let given = given(played.wanted.div_ceil(2), itself);
        let game = played.games.get(at)?;
        let GameEnd::Fault(fault) = &game.end else { return None };
        let last = first(game, game.moves.len())?;
        // One that does not start is not asked for a move.
        let side = match fault {
            GameFault::NoStart(_) => match game.result {
                GameResult::Win(winner) => winner.other(),
                _ => return None,
            },
            _ => last.position().turn(),
        };
        let left = game.clocks_at_end().map(|clocks| *clocks.get(side));
        let seen_on_the_events = played.control == super::LEAST.to_string()
            && left.is_some_and(|left| left >= LEAST_LEFT);
        let is_fast = played.control == super::FAST.to_string();
        let first_clock = if is_fast { FAST_CLOCK } else { SLOW_CLOCK };
        let seat = seat_of(&given, game, side)?;
        let mut before = Vec::new();
        let mut sent = Vec::new();
        for earlier in played.games.get(..=at)? {
            let colour = [Color::White, Color::Black]
                .into_iter()
                .find(|colour| seat_of(&given, earlier, *colour) == Some(seat));
            if let Some(colour) = colour {
                before.push(asked(earlier, colour));
                let own = if is_fast { super::FAST } else { super::LEAST };
                let of_other = match earlier.rival {
                    Rival::Itself => own,
                    Rival::Reference => super::REFERENCE_CONTROL,
                };
                sent.extend(sent_in(earlier, colour, own, of_other));
            }
        }
        let broke_off = matches!(fault, GameFault::Gone | GameFault::Silent { .. });
        let did_not_start = matches!(fault, GameFault::NoStart(_));
        let clocks = game.clocks_at_end();
        Some(Case {
            before,
            last,
            sent,
            clocks,
            seen_on_the_events,
            first_clock,
            broke_off,
            did_not_start,
        })
    }

    /// A clock of the event, as uneven as the game's were.
    fn as_in_the_game(&self, go: Go) -> Go {
        match (go, self.clocks) {
            (Go::Clock(clocks), Some(seen)) => Go::Clock(clocks.in_proportion(seen)),
            _ => go,
        }
    }

    /// The histories after which it is asked, the shortest first, each in words.
    fn histories(&self) -> impl Iterator<Item = (&'static str, &[Vec<Moves>])> {
        let this = self.before.len().saturating_sub(1);
        let this = self.before.get(this..).filter(|games| games.iter().any(|one| !one.is_empty()));
        let all = Some(&self.before[..]).filter(|games| games.len() > 1);
        [("after the game up to it", this), ("after the games before", all)]
            .into_iter()
            .filter_map(|(words, games)| Some((words, games?)))
    }

    /// Asks, and keeps the records of the processes that were asked.
    fn ask(
        &self,
        entry: &Contender,
        limits: Limits,
        until: Instant,
        records: &mut Vec<LeftByProcess>,
    ) -> Result<AskedAgain, SandboxError> {
        let mut again = AskedAgain::default();
        let alone = ("alone", &[Vec::new()][..]);
        for (words, before) in std::iter::once(alone).chain(self.histories()) {
            let mut held = None;
            let mut time = PartOfTime::None;
            for clock in [LEAST_CLOCK, MINUTE_CLOCK] {
                let go = self.as_in_the_game(clock);
                let question = Last { moves: &self.last, go, before: LEAST_CLOCK };
                let (run, outcome) = talk(entry, limits, before, question, until)?;
                records.push(left_by(&run));
                again.commands = runs::commands(&run);
                let (told, good) = match outcome {
                    Outcome::Held => (answer(&run), true),
                    Outcome::Broke => (answer(&run), false),
                    Outcome::Cut(asked, of) => {
                        let told =
                            format!("asked {asked} of {of} before the time was over, all well");
                        (told, !self.seen_on_the_events)
                    }
                };
                again.tries.push(format!("{words}, `{go}`: {told}"));
                if !came_again::broke_at_any_speed(&run) {
                    time = PartOfTime::Some;
                }
                if good {
                    held = Some(go.to_string());
                    break;
                }
            }
            (again.held, again.time) = (held, time);
            if again.held.is_none() {
                break;
            }
        }
        again.by_chance = self.did_not_start && again.held.is_some();
        if again.held.is_some() && !self.did_not_start {
            // The last try went well: it failed in the game alone.
            let is_start = |line: &String| line != "ucinewgame" && !line.starts_with("position ");
            again.commands = again.commands.into_iter().take_while(is_start).collect();
            again.commands.extend_from_slice(&self.sent);
        }
        if self.broke_off && again.held.is_some() {
            self.ask_on_its_clocks(entry, limits, until, &mut again, records)?;
        }
        Ok(again)
    }

    /// Asks on the clocks that the game had then, alone and after what the process was asked before.
    fn ask_on_its_clocks(
        &self,
        entry: &Contender,
        limits: Limits,
        until: Instant,
        again: &mut AskedAgain,
        records: &mut Vec<LeftByProcess>,
    ) -> Result<(), SandboxError> {
        let Some(clocks) = self.clocks else { return Ok(()) };
        let go = Go::Clock(Clocks { white: clocks.white, black: clocks.black, ..self.first_clock });
        for (words, before) in [("alone", &[Vec::new()][..])].into_iter().chain(self.histories()) {
            // Clocks run down, and what a process remembers of small ones may be the reason.
            let question = Last { moves: &self.last, go, before: go };
            let (run, outcome) = talk(entry, limits, before, question, until)?;
            records.push(left_by(&run));
            again.tries.push(format!("{words}, `{go}`, as in the game: {}", answer(&run)));
            again.by_chance = matches!(outcome, Outcome::Held);
            if !again.by_chance {
                break;
            }
        }
        Ok(())
    }
}

/// The record of a process that was not waited for: it may have been about to tidy up.
fn left_by(run: &Run) -> LeftByProcess {
    LeftByProcess {
        execs: run.execs.clone(),
        opens: run.opens.clone(),
        not_installed: run.not_installed.clone(),
        denials: run.denials.clone(),
        refusals: run.refusals.clone(),
        ..LeftByProcess::default()
    }
}

/// The last question, and the clock of those before it.
#[derive(Clone, Copy)]
struct Last<'a> {
    moves: &'a Moves,
    go: Go,
    before: Go,
}

/// The words for the last answer of a run.
fn answer(run: &Run) -> String {
    let bad = run.asks.iter().find(|ask| !ask.answer.is_good());
    match bad.or_else(|| run.asks.iter().rfind(|ask| ask.is_search())) {
        Some(ask) => runs::answer_words(ask, run),
        None => "it did not come up".to_owned(),
    }
}

/// Everything before, then the last question.
fn talk(
    entry: &Contender,
    limits: Limits,
    before: &[Vec<Moves>],
    last: Last<'_>,
    until: Instant,
) -> Result<(Run, Outcome), SandboxError> {
    let plan = StartPlan {
        bytes: entry.bytes.clone(),
        staging: Staging::Neutral,
        shell: entry.shell,
        audit: Audit::ProgramsOnly,
    };
    let started = Session::start(&*entry.launcher, &plan, Purpose::Again, limits)?;
    let ready = started.configured(&entry.options).shake_hands();
    let ready = ready.and_then(|ready| converse(limits, ready, before, last, until));
    let run = conversation::quit(ready).finish();
    let searches = || run.asks.iter().filter(|ask| ask.is_search());
    let (asked, of) = (searches().count(), before.iter().map(Vec::len).sum::<usize>() + 1);
    let outcome = if !runs::is_up(&run) || run.asks.iter().any(is_bad) {
        Outcome::Broke
    } else if asked < of {
        Outcome::Cut(asked, of)
    } else {
        Outcome::Held
    };
    Ok((run, outcome))
}

/// A `quit` that is not followed is another rule's matter.
fn is_bad(ask: &Ask) -> bool {
    ask.question != Question::Quit && !ask.answer.is_good()
}

fn converse(
    limits: Limits,
    mut ready: Session<Ready>,
    before: &[Vec<Moves>],
    last: Last<'_>,
    until: Instant,
) -> Step<Ready> {
    for game in before {
        ready = ready.new_game()?;
        for moves in game {
            if Instant::now() >= until {
                return Ok(ready);
            }
            (ready, _) = ready.go(Search::after("before", moves, last.before))?;
        }
    }
    let patience = patience(&limits, last.go, last.moves);
    let search = Search::after("again", last.moves, last.go);
    ready.go_within(search, patience).map(|(ready, _)| ready)
}

/// The engine in a seat of a game, where it is the entry.
fn seat_of(given: &[WantedGame], game: &PlayedGame, colour: Color) -> Option<usize> {
    let seat = *seats(&given.get(game.number.checked_sub(1)?)?.pairing).get(colour);
    (seat == ENTRY || seat == TWIN).then_some(seat)
}

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

/// The lines that an engine with this colour was sent in a game, from its beginning to the question that broke it, if one did.
fn sent_in(
    game: &PlayedGame,
    colour: Color,
    own: TimeControl,
    of_other: TimeControl,
) -> Vec<String> {
    let increment = |control| match control {
        TimeControl::Clock { increment, .. } => increment,
        _ => Duration::ZERO,
    };
    let (own, of_other) = (increment(own), increment(of_other));
    let mut lines = vec!["ucinewgame".to_owned(), "isready".to_owned()];
    let opening = game.moves.iter().take_while(|ply| ply.took.is_none()).count();
    for (told, at) in game.told.iter().zip(opening..) {
        let is_asked = (at % 2 == 0) == colour.is_white();
        // After the last move of a whole game nobody is asked.
        let is_sent = at < game.moves.len() || game.is_fault();
        let Some(moves) = first(game, at).filter(|_| is_asked && is_sent) else { continue };
        // As games tell it: less than a millisecond is one.
        let least = |time: Duration| time.max(Duration::from_millis(1));
        let go = Go::Clock(Clocks {
            white: least(told.white),
            black: least(told.black),
            white_increment: colour.fold_wb(own, of_other),
            black_increment: colour.fold_wb(of_other, own),
            moves_to_go: None,
        });
        lines.extend([moves.command(), go.to_string()]);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{GamesEvidence, PlayedPly};

    fn ply(uci: &str, took: Option<u64>) -> PlayedPly {
        PlayedPly { uci: uci.into(), took: took.map(Duration::from_millis), score: None }
    }

    fn case(end: GameEnd, result: GameResult) -> (Option<Case>, usize) {
        let opening = ["e2e4", "e7e5"].map(|uci| ply(uci, None));
        let mut first = testing::game(1, Rival::Itself);
        first.moves = [&opening[..], &[ply("g1f3", Some(3)), ply("b8c6", Some(3))]].concat();
        let mut second = testing::game(2, Rival::Itself);
        (second.moves, second.end, second.result) = (opening.to_vec(), end, result);
        let GamesEvidence::Played(played) = testing::games(vec![first, second]) else {
            panic!("they were played")
        };
        let case = Case::of(&played, 1);
        let histories = case.as_ref().map_or(0, |case| case.histories().count());
        (case, histories)
    }

    #[test]
    fn one_that_did_not_start_for_a_game_is_started_again() {
        let end = GameEnd::Fault(GameFault::NoStart("no uciok".into()));
        let (case, histories) = case(end, GameResult::Win(Color::White));
        // It was to play Black, as the entry itself, which had White before.
        let before = case.unwrap().before;
        assert_eq!(before.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(histories, 1, "the second game has nothing to ask");
    }

    #[test]
    fn the_lines_of_a_game_lead_to_the_question_that_broke_it() {
        let opening = ["e2e4", "e7e5"].map(|uci| ply(uci, None));
        let mut game = testing::game(1, Rival::Reference);
        game.moves = [&opening[..], &[ply("g1f3", Some(3)), ply("b8c6", Some(3))]].concat();
        let clocks = |white, black| {
            let [white, black] = [white, black].map(Duration::from_millis);
            ByColor { white, black }
        };
        game.told = vec![clocks(300, 100), clocks(250, 100), clocks(250, 0)];
        let lines = |game: &PlayedGame| {
            sent_in(game, Color::White, super::super::FAST, super::super::REFERENCE_CONTROL)
        };
        let first = [
            "ucinewgame",
            "isready",
            "position startpos moves e2e4 e7e5",
            "go wtime 300 btime 100 winc 10 binc 2",
        ];
        assert_eq!(lines(&game), first);
        game.end = GameEnd::Fault(GameFault::Gone);
        let last =
            ["position startpos moves e2e4 e7e5 g1f3 b8c6", "go wtime 250 btime 1 winc 10 binc 2"];
        assert_eq!(lines(&game), [&first[..], &last].concat());
    }

    #[test]
    fn a_game_that_ended_as_games_do_is_no_case() {
        let whole = GameEnd::Whole("White mates".into());
        assert!(case(whole, GameResult::Win(Color::White)).0.is_none());
    }
}
