//! Swiss rounds against what was played: each round is paired by the recorded ones before it.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use shakmaty::Color;

use super::super::format::StageHistory;
use super::super::format::dutch::Dutch;
use super::super::format::swiss::{Swiss, SwissRound};
use super::super::schedule::Seat;
use super::report::{ComparisonKind, StageReplay};
use super::stage_games::{Id, StageGame, StageGames, StageSeats, Tag};
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;
use crate::model::words::counted;

/// The most games whose results are tried.
const MOST_OPEN: usize = 6;

/// A Swiss of one of the two systems.
#[derive(Clone, Copy)]
pub(super) enum System {
    Monrad(Swiss),
    Dutch(Dutch),
}

impl System {
    fn round(self, seats: usize, past: &StageHistory, round: u32) -> SwissRound {
        match self {
            System::Monrad(swiss) => swiss.round(seats, past, round),
            System::Dutch(dutch) => dutch.round(seats, past, round),
        }
    }

    fn games(self) -> usize {
        match self {
            System::Monrad(swiss) => swiss.games.get() as usize,
            System::Dutch(_) => 1,
        }
    }

    fn last_round(self) -> u32 {
        match self {
            System::Monrad(swiss) => swiss.rounds.get(),
            System::Dutch(dutch) => dutch.rounds.get(),
        }
    }

    /// White and Black of two that met, for a pair that the system did not give.
    fn colored(
        self,
        seats: usize,
        past: &StageHistory,
        round: u32,
        a: Seat,
        b: Seat,
    ) -> (Seat, Seat) {
        match self {
            System::Monrad(swiss) => swiss.colors(seats, past, round, a, b),
            System::Dutch(dutch) => dutch.colored(seats, past, round, a, b),
        }
    }

    /// The system with as many games of each pair as most pairs played: where the file has others, that is one difference.
    fn as_played(self, stage: &StageGames<'_>, out: &mut StageReplay) -> System {
        let System::Monrad(swiss) = self else { return self };
        let meetings = stage.games_of_pairs();
        let single = meetings.values().filter(|games| **games == 1).count();
        let games = if 2 * single > meetings.len() { 1 } else { 2 };
        let played = Swiss { games: NonZeroU32::MIN.saturating_add(games - 1), ..swiss };
        if swiss.games.get() <= 2 && played != swiss {
            let of = |swiss: Swiss| {
                format!("{} of each pair", counted(swiss.games.get() as usize, "game"))
            };
            out.disagree(ComparisonKind::Lengths, "the stage", of(swiss), of(played));
            return System::Monrad(played);
        }
        self
    }

    /// The games whose results are not known, with the number of their round from 0: those without one, and the second of a pair
    /// that is missing.
    fn open(self, rounds: &[Vec<StageGame>]) -> Vec<(usize, StageGame)> {
        let mut open = Vec::new();
        for (round, games) in rounds.iter().enumerate() {
            for own in encounters(games) {
                let without = own.iter().filter(|game| game.result == GameResult::Unfinished);
                open.extend(without.map(|game| (round, *game)));
                let turned = own.last().map(|game| StageGame {
                    white: game.black,
                    black: game.white,
                    ..*game
                });
                let missing = self.games().saturating_sub(own.len());
                open.extend(turned.into_iter().cycle().take(missing).map(|game| (round, game)));
            }
        }
        open.iter_mut().for_each(|(_, game)| game.result = GameResult::Draw);
        open
    }

    /// The encounters of a round, White of the first game before Black. Where that game is missing, the tag of the second one, an
    /// even number, tells it.
    fn meetings(self, games: &[StageGame]) -> Vec<(Id, Id)> {
        let meeting = |own: Vec<StageGame>| {
            let game = *own.first()?;
            let is_even = game.at.is_some_and(|at| at.game.is_multiple_of(2));
            let is_second =
                self.games() == 2 && own.len() == 1 && game.tag == Tag::Place && is_even;
            Some(if is_second { (game.black, game.white) } else { (game.white, game.black) })
        };
        encounters(games).into_iter().filter_map(meeting).collect()
    }

    /// The seats that the first round tells.
    fn seats(self, first: &[StageGame], roster: &[Id]) -> Vec<Id> {
        let mut meetings = self.meetings(first);
        // The best pair plays last.
        meetings.reverse();
        let order: Vec<Id> = match self {
            // Neighbours meet; the better one has Black.
            System::Monrad(_) => {
                meetings.iter().flat_map(|(white, black)| [*black, *white]).collect()
            }
            // The top half meets the bottom half; odd boards have the top seed White.
            System::Dutch(_) => {
                let is_odd = |at: &usize| at.is_multiple_of(2);
                let top = meetings.iter().enumerate();
                let top = top.map(|(at, (w, b))| if is_odd(&at) { *w } else { *b });
                let low = meetings.iter().enumerate();
                let low = low.map(|(at, (w, b))| if is_odd(&at) { *b } else { *w });
                top.chain(low).collect()
            }
        };
        let late: Vec<Id> = roster.iter().copied().filter(|id| !order.contains(id)).collect();
        // Seats are places in the sections; the order here is that of seeds.
        let seeds: Vec<Id> = order.into_iter().chain(late).collect();
        match self {
            System::Dutch(_) => seeds,
            System::Monrad(swiss) => {
                let mut seats = seeds.clone();
                for (seed, seat) in seeds.iter().zip(swiss.seeds(seeds.len())) {
                    if let Some(place) = seats.get_mut(seat.0) {
                        *place = *seed;
                    }
                }
                seats
            }
        }
    }
}

/// The games of each pair of a round, in the order of their first ones.
fn encounters(games: &[StageGame]) -> Vec<Vec<StageGame>> {
    let mut all: Vec<Vec<StageGame>> = Vec::new();
    for game in games {
        match all.iter_mut().find(|own| own[0].pair() == game.pair()) {
            Some(own) => own.push(*game),
            None => all.push(vec![*game]),
        }
    }
    all
}

/// A round without a game, which counts as so many won ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayedBye {
    pub(super) engine: Id,
    pub(super) round: u32,
    pub(super) wins: u32,
}

/// Compares a Swiss; its byes come back.
///
/// A game that is missing or has no result counts in later rounds as it agrees best with these.
pub(super) fn swiss(
    system: System,
    stage: &StageGames<'_>,
    given: Option<Vec<Id>>,
    out: &mut StageReplay,
) -> Vec<PlayedBye> {
    let roster = stage.roster();
    let system = system.as_played(stage, out);
    let rounds = stage.rounds(system.games());
    let Some(first) = rounds.first() else { return Vec::new() };
    if given.is_none() {
        out.notes.push("the first round gives the seeds, and agrees by that".to_owned());
    }
    let seats = given.unwrap_or_else(|| system.seats(first, &roster));
    let mut open = system.open(&rounds);
    for at in (0..open.len()).take(MOST_OPEN) {
        let differences = |open: &[(usize, StageGame)]| {
            let mut tried = StageReplay::default();
            compare(system, stage, &rounds, &seats, open, &mut tried);
            tried.differences.len()
        };
        let of = [GameResult::Draw, GameResult::Win(Color::White), GameResult::Win(Color::Black)];
        let tried = of.map(|result| {
            open[at].1.result = result;
            (differences(&open), result)
        });
        let best = tried.iter().min_by_key(|(differences, _)| *differences);
        open[at].1.result = best.map_or(GameResult::Draw, |(_, result)| *result);
    }
    compare(system, stage, &rounds, &seats, &open, out)
}

/// Compares all rounds; of these games, each with the number of its round from 0, the results are not known.
fn compare(
    system: System,
    stage: &StageGames<'_>,
    rounds: &[Vec<StageGame>],
    seats: &[Id],
    open: &[(usize, StageGame)],
    out: &mut StageReplay,
) -> Vec<PlayedBye> {
    let seated = StageSeats { seats };
    let mut past = StageHistory::default();
    leave(rounds, seats, stage, &mut past, out);
    let mut byes = Vec::new();
    // Of rounds behind the last one the format says nothing; that they were played is told below.
    for (number, games) in (1..=system.last_round()).zip(rounds) {
        let paired = system.round(seats.len(), &past, number);
        one_round(system, stage, &seated, (&past, number), (&paired, games), out);
        let players: BTreeSet<Id> =
            games.iter().flat_map(|game| [game.white, game.black]).collect();
        let paired_now = |at: usize| past.is_paired(Seat(at), number);
        let active: Vec<Id> =
            (0..).zip(seats).filter(|(at, _)| paired_now(*at)).map(|(_, id)| *id).collect();
        let absent: Vec<Id> = active.iter().copied().filter(|id| !players.contains(id)).collect();
        if let Some(bye) = paired.bye.map(|seat| seated.id(seat)) {
            out.compare(ComparisonKind::Pairs, absent.contains(&bye), || {
                let told: Vec<&str> = absent.iter().map(|id| stage.name(*id)).collect();
                (
                    format!("round {number}"),
                    format!("bye: {}", stage.name(bye)),
                    format!("bye: {}", told.join(", ")),
                )
            });
        }
        // An engine that did not play in a field of odd size had the bye.
        if let ([bye], true) = (&absent[..], !active.len().is_multiple_of(2)) {
            past.byes.extend(seated.seat(*bye).map(|seat| (seat, number)));
            let wins = u32::try_from(system.games()).unwrap_or(u32::MAX);
            byes.push(PlayedBye { engine: *bye, round: number, wins });
        }
        let over = games.iter().filter(|game| game.result != GameResult::Unfinished);
        let open = open.iter().filter(|(round, _)| round + 1 == number as usize);
        for (game, place) in over.chain(open.map(|(_, game)| game)).zip(1..) {
            let at = RoundGame { round: number, game: place };
            past.games.extend(seated.played(game, at).map(|one| (at, one)));
        }
    }
    let last = u32::try_from(rounds.len()).unwrap_or(u32::MAX);
    if last < system.last_round() {
        out.notes.push(format!("of {}, {last} were played", counted(system.last_round(), "round")));
    } else if last > system.last_round() {
        let expected = counted(system.last_round(), "round");
        out.disagree(ComparisonKind::Games, "the end", expected, counted(last, "round"));
    }
    byes
}

/// Notes the engines that left before the end, each as one difference: they play in none of the last rounds, and nobody has two
/// byes. An engine that lacks one round alone may have had a bye in it.
fn leave(
    rounds: &[Vec<StageGame>],
    seats: &[Id],
    stage: &StageGames<'_>,
    past: &mut StageHistory,
    out: &mut StageReplay,
) {
    let last = |id: Id| rounds.iter().rposition(|round| round.iter().any(|game| game.plays(id)));
    let left = (0..).zip(seats).filter_map(|(seat, id)| Some((last(*id)? + 1, Seat(seat), *id)));
    let mut left: Vec<(usize, Seat, Id)> =
        left.filter(|(last, ..)| last + 1 < rounds.len()).collect();
    left.sort();
    for (last, seat, id) in left {
        let first = u32::try_from(last).unwrap_or(u32::MAX - 1) + 1;
        past.out.push((seat, first));
        let at = format!("from round {first} on");
        let expected = format!("games of {}", stage.name(id));
        out.disagree(ComparisonKind::Games, at, expected, "there are no such games");
    }
}

/// Compares the pairs, colours and order of one round.
fn one_round(
    system: System,
    stage: &StageGames<'_>,
    seated: &StageSeats<'_>,
    (past, number): (&StageHistory, u32),
    (paired, games): (&SwissRound, &[StageGame]),
    out: &mut StageReplay,
) {
    let meetings = system.meetings(games);
    let at = || format!("round {number}");
    let plan: Vec<(Id, Id)> =
        paired.pairs.iter().map(|(white, black)| (seated.id(*white), seated.id(*black))).collect();
    let same = |a: &(Id, Id), b: &(Id, Id)| a == b || (a.1, a.0) == *b;
    // Of a round that is not over the pairs that have not played are one difference.
    let plays = |id: Id| meetings.iter().any(|(a, b)| *a == id || *b == id);
    let is_idle = |pair: &&(Id, Id)| !plays(pair.0) && !plays(pair.1);
    let idle = plan.iter().filter(is_idle).count();
    if idle > 1 {
        let expected = counted(idle, "more pair");
        out.disagree(ComparisonKind::Games, at(), expected, "there are no games of these");
    }
    for pair in plan.iter().filter(|pair| idle < 2 || !is_idle(pair)) {
        let is_played = meetings.iter().any(|played| same(pair, played));
        out.compare(ComparisonKind::Pairs, is_played, || {
            let with = |id: Id| {
                let mut own = meetings.iter().filter(|(a, b)| *a == id || *b == id);
                own.next().map_or_else(
                    || format!("{} did not play", stage.name(id)),
                    |(a, b)| stage.meeting(*a, *b),
                )
            };
            (at(), stage.meeting(pair.0, pair.1), format!("{}; {}", with(pair.0), with(pair.1)))
        });
    }
    // Two games with the same colours are one difference, told below.
    let is_twice =
        |pair: &(Id, Id)| games.iter().filter(|game| (game.white, game.black) == *pair).count() > 1;
    // Colours are a question of their own: given the pair, who has White?
    for played in meetings.iter().filter(|pair| !is_twice(pair)) {
        let (Some(a), Some(b)) = (seated.seat(played.0), seated.seat(played.1)) else { continue };
        let (white, black) = system.colored(seated.seats.len(), past, number, a, b);
        let (white, black) = (seated.id(white), seated.id(black));
        out.compare(ComparisonKind::Colours, white == played.0, || {
            (at(), stage.meeting(white, black), stage.meeting(played.0, played.1))
        });
    }
    let each = system.games();
    for own in encounters(games).into_iter().filter(|_| each > 1) {
        let turns = own.windows(2).all(|two| two[0].white == two[1].black);
        out.compare(ComparisonKind::Games, turns && own.len() == each, || {
            let expected = match each {
                2 => "a game with each colour".to_owned(),
                _ => format!("{each} games with the colours in turn"),
            };
            (at(), expected, format!("{} of {}", own.len(), stage.list(&own[..1])))
        });
    }
    // The worst pair plays first; pairs that differ say nothing about the order.
    let order: Vec<(Id, Id)> =
        plan.iter().rev().filter(|pair| meetings.iter().any(|m| same(pair, m))).copied().collect();
    let played: Vec<(Id, Id)> =
        meetings.iter().filter(|pair| plan.iter().any(|p| same(pair, p))).copied().collect();
    let agrees = order.len() == played.len() && order.iter().zip(&played).all(|(a, b)| same(a, b));
    out.compare(ComparisonKind::Rounds, agrees, || {
        (at(), stage.meetings(&order), stage.meetings(&played))
    });
}
