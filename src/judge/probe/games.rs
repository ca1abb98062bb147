//! Rule `match`: a few fast games, through the same runner and referee as `gate4k match`.
//!
//! At most as many games at a time as there are pairs, and one process of the entry for all that a worker
//! plays where it lives so long: what a process remembers from one game to the next is what single positions
//! cannot show. A fallen flag does not end a game here (the margin is as long as an answer may take anyway),
//! since real entries think 2 to 3 seconds at least; the wall bound does.

pub(crate) mod again;
pub(crate) mod early_start;

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use shakmaty::{ByColor, CastlingMode, Color, Position};

use super::Progress;
use crate::engine::legality;
use crate::engine::moves::Moves;
use crate::engine::process::EngineStart;
use crate::engine::stop::{Stop, StopLevel};
use crate::game::adjudicate::AdjudicationRules;
use crate::game::clock::{Patience, TimeControl};
use crate::game::play::GameSettings;
use crate::model::evidence::{
    EntryColours, GameEnd, GameFault, GamesEvidence, LEAST_LEFT, LateMove, Limits, MoveFault,
    PlayedGame, PlayedGames, PlayedPly, Rival, Shell, WhyIllegal,
};
use crate::model::game::ending::{NO_WORD, Termination};
use crate::model::game::opening::Opening;
use crate::model::game::record::GameRecord;
use crate::model::units::Ply;
use crate::runner::events::{Event, Finished};
use crate::runner::schedule::ScheduledGame;
use crate::runner::spec::UciSubset;
use crate::runner::{self, Affinity, Engine, EngineBounds, LostEngine, Match, Restart, WantedGame};
use crate::sandbox::plan::{Audit, Launcher, Staging, StartPlan};

/// The reference engine: a fixture that is a static program without a library, so that it runs wherever gate4k
/// itself does, and starts in a millisecond. It lives in the same sandbox.
const REFERENCE: &[u8] = include_bytes!("../../../fixtures/entries/accept/elf/engine");

/// The entry's clock: 0.3 s and 10 ms a move, so that four games take a few seconds.
pub(crate) const FAST: TimeControl = TimeControl::Clock {
    base: Duration::from_millis(300),
    increment: Duration::from_millis(10),
    moves: None,
};

/// The least clock of the event, for an entry that needs it: few of its games come to their end in time.
pub(crate) const LEAST: TimeControl =
    TimeControl::Clock { base: LEAST_LEFT, increment: LEAST_LEFT, moves: None };

/// The reference engine's clock, a third of it and less increment: it need not play well.
const REFERENCE_CONTROL: TimeControl = TimeControl::Clock {
    base: Duration::from_millis(100),
    increment: Duration::from_millis(2),
    moves: None,
};

/// Games that go nowhere end here; few are as long.
const LONGEST: Ply = Ply(300);

/// The openings of games, so that an engine without chance in it plays different ones.
pub(super) const OPENINGS: [&str; 8] = [
    "e2e4 e7e5 g1f3 b8c6",
    "d2d4 d7d5 c2c4 e7e6",
    "e2e4 c7c5 g1f3 d7d6",
    "d2d4 g8f6 c2c4 g7g6",
    "e2e4 e7e6 d2d4 d7d5",
    "c2c4 e7e5 b1c3 g8f6",
    "e2e4 c7c6 d2d4 d7d5",
    "g1f3 d7d5 g2g3 c7c5",
];

/// The games to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GamesPlan {
    /// Pairs of games: the first of every two against itself, the second against the reference engine.
    pub(crate) pairs: NonZeroU32,
    /// False where all are against the reference engine.
    pub(crate) itself: bool,
    /// The time that all of them may take, beside their starts.
    pub(crate) limit: Duration,
    /// The time that starts may take beside: an entry that starts slowly plays as much as one that is there at once.
    pub(crate) starts: Duration,
    /// The entry's clock.
    pub(crate) control: TimeControl,
    /// The number of games that may be played beside each other; never more than pairs, so that each process of the
    /// entry plays several games.
    pub(crate) beside: NonZeroUsize,
}

/// The entry as it starts.
#[derive(Clone)]
pub(crate) struct Contender {
    /// The launcher of it and of the reference engine.
    pub(crate) launcher: Arc<dyn Launcher + Send + Sync>,
    pub(crate) bytes: Arc<[u8]>,
    /// The shell by which it starts.
    pub(crate) shell: Shell,
    /// The options of its configuration.
    pub(crate) options: Vec<(String, String)>,
}

/// The engines' places in the match.
const ENTRY: usize = 0;
const TWIN: usize = 1;
const RIVAL: usize = 2;

/// Plays the games.
pub(crate) fn play(
    entry: &Contender,
    plan: GamesPlan,
    limits: &Limits,
    progress: Progress<'_>,
) -> GamesEvidence {
    let given = given(plan.pairs.get() as usize, plan.itself);
    let wanted = given.len();
    let stop = match Stop::new() {
        Ok(stop) => stop,
        Err(why) => return GamesEvidence::Impossible(why.to_string()),
    };
    let game = match_of(entry, plan, limits, given);
    let began = Instant::now();
    let mut games = Vec::new();
    let mut left = Vec::new();
    let mut impossible = None;
    let mut surplus_moves = false;
    let (done, over) = mpsc::channel::<()>();
    let run = std::thread::scope(|scope| {
        let (stop, limit) = (&stop, plan.limit + plan.starts);
        scope.spawn(move || {
            if over.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                stop.raise(StopLevel::Now);
            }
        });
        let run = runner::run(&game, stop, |event| match event {
            Event::GameStarted { pairing, .. } => {
                progress(&format!("game {} of {wanted}", pairing.game + 1));
            }
            Event::GameFinished(finished) => {
                if let Termination::Aborted(why) = &finished.record.ending.reason
                    && stop.level() == StopLevel::GoOn
                {
                    impossible.get_or_insert_with(|| why.clone());
                }
                games.push(seen(&finished, plan.control));
            }
            Event::Unasked { engine, .. } if engine != RIVAL => surplus_moves = true,
            Event::EngineLeft { engine, left: one } if engine != RIVAL => left.push(one),
            _ => {}
        });
        drop(done);
        run
    });
    if let Err(why) = run {
        return GamesEvidence::Impossible(why.to_string());
    }
    let told = games.iter().any(|game: &PlayedGame| matches!(game.end, GameEnd::Fault(_)));
    if let (Some(why), false) = (impossible, told) {
        return GamesEvidence::Impossible(why);
    }
    games.sort_by_key(|game| game.number);
    GamesEvidence::Played(PlayedGames {
        control: plan.control.to_string(),
        limit: plan.limit,
        took: began.elapsed(),
        wanted,
        games,
        left,
        surplus_moves,
        disproved: Vec::new(),
    })
}

/// The match of these games. A fallen flag does not end one, and a process plays on as long as it lives.
fn match_of(entry: &Contender, plan: GamesPlan, limits: &Limits, given: Vec<WantedGame>) -> Match {
    Match {
        engines: engines(entry, plan.control).map(Arc::new).into(),
        games: runner::MatchGames::Given(given),
        settings: GameSettings {
            patience: Patience {
                margin: limits.answer,
                after_flag: Duration::ZERO,
                ..Patience::default()
            },
            rules: AdjudicationRules { length: Some(LONGEST), ..AdjudicationRules::default() },
            ..GameSettings::default()
        },
        bounds: EngineBounds {
            // Beside others a start takes longer than alone, and is not what is judged.
            startup: limits.startup * 2,
            ready: limits.startup,
            quit: limits.quit,
            grace: Some(limits.grace_after_games()),
            ..EngineBounds::default()
        },
        concurrency: plan
            .beside
            .min(NonZeroUsize::try_from(plan.pairs).unwrap_or(NonZeroUsize::MIN)),
        affinity: Affinity::Off,
        first_core: 0,
        restart: Restart::Needed,
        tell_moves: false,
        standstill: None,
        wait: Duration::ZERO,
        dialogue: None,
    }
}

fn engines(entry: &Contender, control: TimeControl) -> [Engine; 3] {
    let plan = |bytes: Arc<[u8]>, shell| StartPlan {
        bytes,
        staging: Staging::Neutral,
        shell,
        audit: Audit::ProgramsOnly,
    };
    let launcher = || Arc::clone(&entry.launcher);
    let own = |name: &str| {
        let start = EngineStart::Entry(launcher(), plan(Arc::clone(&entry.bytes), entry.shell));
        Engine::new(name.into(), start, entry.options.clone(), control, UciSubset::Rule79)
    };
    let start = EngineStart::Entry(launcher(), plan(REFERENCE.into(), Shell::AsIs));
    let reference =
        Engine::new("reference".into(), start, Vec::new(), REFERENCE_CONTROL, UciSubset::Rule79);
    [own("entry"), own("entry again"), reference]
}

/// The games in their order: those against itself first, each from an opening of its own; those against the
/// reference engine in pairs, colours reversed on one opening.
fn given(pairs: usize, itself: bool) -> Vec<WantedGame> {
    let itself = if itself { 2 * pairs.div_ceil(2) } else { 0 };
    (0..2 * pairs)
        .map(|game| {
            let swapped = game % 2 == 1;
            let (other, couple) = if game < itself { (TWIN, 0) } else { (RIVAL, 1) };
            let number = if game < itself { game } else { itself + (game - itself) / 2 };
            let (white, black) = if swapped { (other, ENTRY) } else { (ENTRY, other) };
            WantedGame {
                pairing: ScheduledGame {
                    game,
                    round: game / 2 + 1,
                    in_round: game % 2 + 1,
                    white,
                    black,
                    couple,
                    encounter: number,
                    paired: couple == 1,
                },
                opening: opening(number),
                resume: None,
            }
        })
        .collect()
}

fn opening(number: usize) -> Opening {
    let mut position = shakmaty::Chess::default();
    let mut moves = Vec::new();
    let words = OPENINGS.get(number % OPENINGS.len()).copied().unwrap_or_default();
    for word in words.split_whitespace() {
        // invariant: a test reads them all
        let Ok(one) = legality::judge(&position, word) else { break };
        position.play_unchecked(one);
        moves.push(one);
    }
    Opening::of_moves(moves)
}

/// The evidence of a game.
fn seen(finished: &Finished, control: TimeControl) -> PlayedGame {
    let Finished { pairing, record, remains, .. } = finished;
    let itself = pairing.white != RIVAL && pairing.black != RIVAL;
    let own = |side: Color| itself || *seats(pairing).get(side) != RIVAL;
    let mut moves = Moves::start();
    for one in record.moves() {
        moves.play(one);
    }
    let end = end(record, &moves, own);
    let loser = record.ending.loser().filter(|side| own(*side));
    let LostEngine { exit, stderr, refusals, .. } =
        loser.and_then(|side| remains.get(side).clone()).unwrap_or_default();
    let exit = match &record.ending.reason {
        Termination::Crash { exit: how } => how.or(exit),
        _ => exit,
    };
    let first = record.opening.moves().len();
    let control_of = |side| if own(side) { control } else { REFERENCE_CONTROL };
    let told = clocks_told(record, first, control_of);
    let own_plies = || {
        let plies = record.plies.iter().enumerate();
        plies.map(move |(at, ply)| (first + at, ply)).filter(|(at, _)| own(record.mover(*at)))
    };
    PlayedGame {
        number: pairing.game + 1,
        rival: if itself { Rival::Itself } else { Rival::Reference },
        colours: match (itself, pairing.white == RIVAL) {
            (true, _) => EntryColours::Both,
            (false, true) => EntryColours::Black,
            (false, false) => EntryColours::White,
        },
        answered: own_plies().count(),
        slowest: own_plies().map(|(_, ply)| ply.used()).max(),
        command: moves.command(),
        fen: moves.fen(),
        moves: plies(record),
        result: record.ending.result,
        end,
        told,
        again: None,
        late: late(record, first, control, own),
        exit,
        stderr,
        refusals,
    }
}

fn seats(pairing: &ScheduledGame) -> ByColor<usize> {
    ByColor { white: pairing.white, black: pairing.black }
}

/// Every ply from the start position: the opening's, then those that were thought about.
fn plies(record: &GameRecord) -> Vec<PlayedPly> {
    let opening = record.opening.moves().iter().map(|one| PlayedPly {
        uci: one.to_uci(CastlingMode::Standard).to_string(),
        took: None,
        score: None,
    });
    let thought = record.plies.iter().enumerate().map(|(at, ply)| PlayedPly {
        uci: ply.played.to_uci(CastlingMode::Standard).to_string(),
        took: Some(ply.used()),
        score: ply.info.score.map(|score| score.for_white(record.mover(opening.len() + at))),
    });
    opening.clone().chain(thought).collect()
}

fn end(record: &GameRecord, moves: &Moves, own: impl Fn(Color) -> bool) -> GameEnd {
    let ending = &record.ending;
    if let Termination::Aborted(why) = &ending.reason {
        return GameEnd::Cut(why.clone());
    }
    let waited = record.unanswered.map(|asked| (asked.left, asked.heard.since(asked.sent)));
    let (left, waited) = waited.unwrap_or_default();
    let fault = match &ending.reason {
        Termination::IllegalMove(said) => illegal(moves, said),
        Termination::Crash { .. } => GameFault::Gone,
        Termination::Stall { .. } if record.unanswered.is_some() => {
            GameFault::Silent { left, waited }
        }
        // An answer on the very edge of what is waited for: slow, and no more.
        Termination::Time { .. } if ending.loser().is_some_and(&own) => {
            return GameEnd::Cut("a move took longer than is waited for".into());
        }
        Termination::Stall { waited } => GameFault::NoStart(format!(
            "`isready` after `ucinewgame` was not answered within {} s",
            waited.as_secs()
        )),
        Termination::NoStart(why) => GameFault::NoStart(why.clone()),
        _ => return GameEnd::Whole(ending.details()),
    };
    if ending.loser().is_some_and(own) {
        GameEnd::Fault(fault)
    } else {
        GameEnd::Rival(ending.details())
    }
}

/// A `bestmove` that is no move: one that is illegal, or none where there are some.
fn illegal(moves: &Moves, said: &str) -> GameFault {
    let position = moves.position();
    let word = if said == NO_WORD { "" } else { said };
    let why = match legality::judge(position, word) {
        // The word came with bytes that are no longer in its record.
        Ok(_) => WhyIllegal::Word(MoveFault::Bytes),
        Err(why) => why,
    };
    // These are no words of its own.
    let said = word.to_owned();
    if why.is_no_move() {
        return GameFault::NoMove { said, legal: position.legal_moves().len() };
    }
    GameFault::Illegal { said, why }
}

/// Both clocks, as each question told them, that of a move which did not come among them; none for games without.
fn clocks_told(
    record: &GameRecord,
    first: usize,
    control: impl Fn(Color) -> TimeControl,
) -> Vec<ByColor<Duration>> {
    let base = |side| control(side).base();
    let (Some(white), Some(black)) = (base(Color::White), base(Color::Black)) else {
        return Vec::new();
    };
    let mut clocks = ByColor { white, black };
    let mut told = vec![clocks];
    for (at, ply) in record.plies.iter().enumerate() {
        *clocks.get_mut(record.mover(first + at)) = ply.left;
        told.push(clocks);
    }
    told
}

/// The entry's moves that took longer than its clock showed.
fn late(
    record: &GameRecord,
    first: usize,
    control: TimeControl,
    own: impl Fn(Color) -> bool,
) -> Vec<LateMove> {
    let TimeControl::Clock { base, .. } = control else {
        return Vec::new();
    };
    let mut clocks = ByColor { white: base, black: base };
    let mut late = Vec::new();
    for (at, ply) in record.plies.iter().enumerate() {
        let side = record.mover(first + at);
        let left = std::mem::replace(clocks.get_mut(side), ply.left);
        if own(side) && ply.used() > left {
            let ply_number = Ply(u32::try_from(first + at).unwrap_or(u32::MAX));
            late.push(LateMove { ply: ply_number, left, took: ply.used() });
        }
    }
    late
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::game::ending::GameEnding;
    use crate::model::game::record::Stamp;
    use crate::model::game::score::Score;

    #[test]
    fn every_opening_is_legal_and_they_differ() {
        let lines: std::collections::HashSet<String> = (0..OPENINGS.len())
            .map(|number| {
                let moves = opening(number);
                assert_eq!(moves.moves().len(), 4, "{number}");
                let words = moves.moves().iter();
                words.map(|one| one.to_uci(CastlingMode::Standard).to_string()).collect()
            })
            .collect();
        assert_eq!(lines.len(), OPENINGS.len());
    }

    #[test]
    fn half_the_pairs_are_against_itself_and_colours_are_fair() {
        let games = given(3, true);
        let rivals: Vec<usize> =
            games.iter().map(|g| g.pairing.white.max(g.pairing.black)).collect();
        assert_eq!(rivals, [TWIN, TWIN, TWIN, TWIN, RIVAL, RIVAL]);
        let white = games.iter().filter(|game| game.pairing.white == ENTRY).count();
        assert_eq!(white, 3);
        let line = |game: usize| games[game].opening.moves().to_vec();
        assert_ne!(line(0), line(1));
        assert_eq!(line(4), line(5));
        assert_eq!(given(1, true).len(), 2);
        let rivals = given(2, false).into_iter().map(|g| g.pairing.white.max(g.pairing.black));
        assert_eq!(rivals.collect::<Vec<_>>(), [RIVAL; 4]);
    }

    #[test]
    fn what_is_no_move_is_told_from_what_is_illegal() {
        let start = Moves::start();
        for said in ["(none)", "0000", "NULL", NO_WORD] {
            let word = if said == NO_WORD { "" } else { said };
            let none = GameFault::NoMove { said: word.into(), legal: 20 };
            assert_eq!(illegal(&start, said), none);
        }
        let GameFault::Illegal { why, .. } = illegal(&start, "a1a1") else {
            panic!("a move");
        };
        assert!(matches!(why, WhyIllegal::OnBoard(_)), "{why}");
    }

    #[test]
    fn a_move_of_the_opening_has_neither_time_nor_score() {
        let opening = opening(0);
        let mut position = shakmaty::Chess::default();
        for one in opening.moves() {
            position.play_unchecked(*one);
        }
        let played = legality::judge(&position, "f1b5").unwrap();
        let ending = GameEnding::aborted("enough");
        let mut record = GameRecord::of_moves(opening, vec![played], ending);
        record.plies[0].heard = Stamp(Duration::from_millis(250));
        record.plies[0].info.score = Some(Score::centipawns(-7));
        let line = plies(&record);
        let words: Vec<&str> = line.iter().map(|ply| &*ply.uci).collect();
        assert_eq!(words, ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]);
        assert!(line[..4].iter().all(|ply| ply.took.is_none() && ply.score.is_none()));
        assert_eq!(line[4].took, Some(Duration::from_millis(250)));
        assert_eq!(line[4].score, Some(Score::centipawns(-7)));
    }
}
