//! The values that every format takes and gives: the games that were played, and those that are due.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use shakmaty::Color;

use super::super::schedule::{OpeningIndex, Seat};
use crate::model::game::listed::RoundGame;
use crate::model::game::points::HalfPoints;
use crate::model::game::result::GameResult;

/// An encounter of two engines within a stage: one game, or one opening with both colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairId(pub u32);

/// A game that is to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Due {
    /// Its place, as the PGN's Round tag has it.
    pub at: RoundGame,
    /// The seat with White.
    pub white: Seat,
    /// The seat with Black.
    pub black: Seat,
    /// The encounter that it belongs to.
    pub(crate) pair: PairId,
    /// Its opening; none for a game without one.
    pub(crate) opening: Option<OpeningIndex>,
}

impl Due {
    /// A game of the encounter of a number, whose opening has the same one.
    pub(super) fn of_pair(at: RoundGame, (white, black): (Seat, Seat), pair: usize) -> Due {
        let opening = Some(OpeningIndex(pair));
        Due { at, white, black, pair: PairId(u32::try_from(pair).unwrap_or(u32::MAX)), opening }
    }
}

/// A game that was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlayedPairing {
    /// Its place.
    pub at: RoundGame,
    /// The seat with White.
    pub white: Seat,
    /// The seat with Black.
    pub black: Seat,
    /// The result.
    pub result: GameResult,
}

impl PlayedPairing {
    /// The colour of a seat; none where it did not play.
    pub fn color(&self, seat: Seat) -> Option<Color> {
        match seat {
            seat if seat == self.white => Some(Color::White),
            seat if seat == self.black => Some(Color::Black),
            _ => None,
        }
    }

    /// The points of a seat in this game.
    pub fn points(&self, seat: Seat) -> HalfPoints {
        self.color(seat).and_then(|color| self.result.points(color)).unwrap_or_default()
    }
}

/// All that happened in a stage. The order of the games does not matter: each knows its place.
#[derive(Clone, Debug, Default)]
pub struct StageHistory {
    /// The games that have a result.
    pub games: BTreeMap<RoundGame, PlayedPairing>,
    /// The places of those that nobody played, since an engine had left.
    pub walkovers: BTreeSet<RoundGame>,
    /// The seats that had a bye, with its round.
    pub byes: BTreeSet<(Seat, u32)>,
    /// The seats that play no more, disqualified or withdrawn, in the order in which they left, each with the first round
    /// that is paired without it.
    pub out: Vec<(Seat, u32)>,
    /// The spots of a playoff that are taken before its first game.
    pub(crate) taken: usize,
    /// The orders that organisers gave to seats whose games went on without an end, the best first.
    pub(crate) decided: Vec<Vec<Seat>>,
}

impl StageHistory {
    /// The same without the games and byes of a round and of all later ones.
    pub fn before(&self, round: u32) -> StageHistory {
        let earlier = self.games.values().filter(|game| game.at.round < round);
        StageHistory {
            games: earlier.map(|game| (game.at, *game)).collect(),
            walkovers: self.walkovers.iter().copied().filter(|at| at.round < round).collect(),
            byes: self.byes.iter().copied().filter(|(_, of)| *of < round).collect(),
            out: self.out.clone(),
            taken: self.taken,
            decided: self.decided.clone(),
        }
    }

    /// The games that were played.
    pub(crate) fn played(&self) -> impl Iterator<Item = &PlayedPairing> + Clone {
        self.games.values().filter(|game| !self.walkovers.contains(&game.at))
    }

    /// The order that organisers gave to exactly these seats; none where they gave none.
    pub(crate) fn decision(&self, seats: &[Seat]) -> Option<&[Seat]> {
        let is_of = |order: &&Vec<Seat>| {
            order.len() == seats.len() && seats.iter().all(|seat| order.contains(seat))
        };
        self.decided.iter().rev().find(is_of).map(Vec::as_slice)
    }

    /// The number of a seat among those that play no more, in the order in which they left; none of one that plays.
    pub fn left(&self, seat: Seat) -> Option<usize> {
        self.out.iter().position(|(out, _)| *out == seat)
    }

    /// True if a round is paired with a seat.
    pub(crate) fn is_paired(&self, seat: Seat, round: u32) -> bool {
        self.out.iter().all(|(out, first)| *out != seat || round < *first)
    }

    /// Takes in a game.
    pub fn add(&mut self, game: PlayedPairing) {
        self.games.insert(game.at, game);
    }
}

/// Everything due and open: all but what was played and what nobody can play.
pub(in crate::event) fn open(due: impl IntoIterator<Item = Due>, past: &StageHistory) -> Vec<Due> {
    due.into_iter()
        .filter(|game| {
            !past.games.contains_key(&game.at)
                && past.left(game.white).or(past.left(game.black)).is_none()
        })
        .collect()
}

/// The points of a seat, where each bye of its own counts so many.
pub(crate) fn points_with_byes(past: &StageHistory, seat: Seat, each: HalfPoints) -> HalfPoints {
    let byes = past.byes.iter().filter(|(bye, _)| *bye == seat).count();
    std::iter::repeat_n(each, byes).fold(points(past, seat), |sum, bye| sum + bye)
}

/// The next step of a stage whose rounds are paired one by one: a bye, the games that are due, or the end, with the seats by
/// `points`. `round` gives the bye and the games of a round.
pub(super) fn next_of_rounds(
    rounds: NonZeroU32,
    seats: usize,
    past: &StageHistory,
    round: impl Fn(u32) -> (Option<Seat>, Vec<Due>),
    points: impl Fn(Seat) -> HalfPoints,
) -> Next {
    let under_way = past.games.keys().map(|at| at.round).max().unwrap_or(1);
    let due = |number: u32| match round(number) {
        (Some(seat), _) if !past.byes.contains(&(seat, number)) => Some(Next::Bye(seat, number)),
        (_, games) => {
            let games = open(games, past);
            (!games.is_empty()).then_some(Next::Play(games))
        }
    };
    let next = (under_way..=rounds.get()).find_map(due);
    next.unwrap_or_else(|| Next::Over(groups((0..seats).map(Seat).collect(), points)))
}

/// Seats in groups of the same figure, the largest first.
pub(super) fn groups<F: Ord>(seats: Vec<Seat>, figure: impl Fn(Seat) -> F) -> Vec<Vec<Seat>> {
    let mut groups: BTreeMap<std::cmp::Reverse<F>, Vec<Seat>> = BTreeMap::new();
    for seat in seats {
        groups.entry(std::cmp::Reverse(figure(seat))).or_default().push(seat);
    }
    let sorted = |mut group: Vec<Seat>| {
        group.sort();
        group
    };
    groups.into_values().map(sorted).collect()
}

/// The next step of a stage by its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// These games are due, in this order.
    Play(Vec<Due>),
    /// A seat has a bye in a round; once it stands in the past, the round's games are due.
    Bye(Seat, u32),
    /// All is played. Seats in one group are level by points; tie-breaks are the stage's.
    Over(Vec<Vec<Seat>>),
}

/// The points of a seat in the games of the past.
pub(super) fn points(past: &StageHistory, seat: Seat) -> HalfPoints {
    past.games.values().map(|game| game.points(seat)).sum()
}
