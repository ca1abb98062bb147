//! The recorded games of one stage, in the order in which they were played.

use std::collections::{BTreeMap, BTreeSet};

use super::super::format::Played;
use super::super::schedule::Seat;
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;

/// An engine of the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(pub(super) usize);

/// A game as far as formats look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) white: Id,
    pub(super) black: Id,
    pub(super) result: GameResult,
    /// Its Round tag.
    pub(super) at: Option<RoundGame>,
    /// The part of its stage, as the event file lists them.
    pub(super) part: usize,
    /// Its number among all games that were read.
    pub(super) number: usize,
}

impl Shown {
    pub(super) fn pair(&self) -> (Id, Id) {
        (self.white.min(self.black), self.white.max(self.black))
    }
}

/// The games of a stage, and how engines are called.
pub(super) struct StageGames<'a> {
    pub(super) games: Vec<Shown>,
    names: &'a [String],
}

impl<'a> StageGames<'a> {
    /// Puts games into the order of play: as the files have them, or by their Round tags where the files are
    /// in another order. Games that were played again stand once.
    pub(super) fn new(mut games: Vec<Shown>, names: &'a [String]) -> (StageGames<'a>, Vec<String>) {
        let mut notes = Vec::new();
        games.sort_by_key(|game| game.part);
        let key = |game: &Shown| (game.part, game.at, game.white, game.black);
        let kept: BTreeMap<_, usize> = games.iter().map(|game| (key(game), game.number)).collect();
        let again = games.len() - kept.len();
        // Where most tags repeat, they number nothing.
        if again > 0 && again * 5 <= games.len() {
            games.retain(|game| kept[&key(game)] == game.number);
            notes.push(format!("{again} games stand twice; the later ones count"));
        }
        let round = |game: &Shown| (game.part, game.at.map(|at| at.round));
        let is_told = games.iter().all(|game| game.at.is_some());
        if is_told && !games.is_sorted_by_key(round) {
            games.sort_by_key(|game| (game.part, game.at));
            notes.push("the files are not in the order of rounds; Round tags give it".to_owned());
        }
        (StageGames { games, names }, notes)
    }

    pub(super) fn roster(&self) -> Vec<Id> {
        let all: BTreeSet<Id> =
            self.games.iter().flat_map(|game| [game.white, game.black]).collect();
        all.into_iter().collect()
    }

    pub(super) fn name(&self, id: Id) -> &str {
        self.names.get(id.0).map_or("?", String::as_str)
    }

    /// `A–B`, White first.
    pub(super) fn meeting(&self, white: Id, black: Id) -> String {
        format!("{} – {}", self.name(white), self.name(black))
    }

    pub(super) fn told(&self, game: &Shown) -> String {
        self.meeting(game.white, game.black)
    }

    /// The engines by first appearance, Black of the first game first.
    pub(super) fn appearance(&self) -> Vec<Id> {
        let mut order = Vec::new();
        for id in self.games.iter().flat_map(|game| [game.black, game.white]) {
            if !order.contains(&id) {
                order.push(id);
            }
        }
        order
    }

    /// True if each game has a place of its own.
    pub(super) fn has_places(&self) -> bool {
        let places: BTreeSet<_> = self.games.iter().filter_map(|game| game.at).collect();
        places.len() == self.games.len()
    }

    /// The rounds, in order. Two rounds with the same pairs are one of double games where `doubled`.
    pub(super) fn rounds(&self, doubled: bool) -> Vec<Vec<Shown>> {
        let mut rounds: Vec<Vec<Shown>> = Vec::new();
        for game in &self.games {
            let round = game.at.map(|at| at.round);
            match rounds.last_mut() {
                Some(last)
                    if last.last().is_some_and(|last| {
                        (last.part, last.at.map(|at| at.round)) == (game.part, round)
                    }) =>
                {
                    last.push(*game);
                }
                _ => rounds.push(vec![*game]),
            }
        }
        if doubled {
            let pairs =
                |round: &[Shown]| -> BTreeSet<(Id, Id)> { round.iter().map(Shown::pair).collect() };
            let mut merged: Vec<Vec<Shown>> = Vec::new();
            for round in rounds {
                match merged.last_mut() {
                    Some(last)
                        if pairs(last) == pairs(&round) && last.len() == pairs(last).len() =>
                    {
                        last.extend(round);
                    }
                    _ => merged.push(round),
                }
            }
            return merged;
        }
        rounds
    }
}

/// Seats by engine.
pub(super) struct Seated<'a> {
    pub(super) seats: &'a [Id],
}

impl Seated<'_> {
    pub(super) fn seat(&self, id: Id) -> Option<Seat> {
        self.seats.iter().position(|seat| *seat == id).map(Seat)
    }

    pub(super) fn id(&self, seat: Seat) -> Id {
        // A format gives the seats that it was given.
        self.seats.get(seat.0).copied().unwrap_or(Id(usize::MAX))
    }

    pub(super) fn played(&self, game: &Shown, at: RoundGame) -> Option<Played> {
        let (white, black) = (self.seat(game.white)?, self.seat(game.black)?);
        Some(Played { at, white, black, result: game.result })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(number: usize, round: u32, game: u32, white: usize, black: usize) -> Shown {
        Shown {
            white: Id(white),
            black: Id(black),
            result: GameResult::Draw,
            at: Some(RoundGame { round, game }),
            part: 0,
            number,
        }
    }

    #[test]
    fn a_game_that_was_played_again_stands_once_and_rounds_are_in_order() {
        let mut games: Vec<Shown> = (0..6)
            .map(|at| game(at, at as u32 / 2 + 1, at as u32 % 2 + 1, at % 4, (at + 1) % 4))
            .collect();
        games.push(game(6, 1, 1, 0, 1));
        games.swap(0, 5);
        let (stage, notes) = StageGames::new(games, &[]);
        assert_eq!((stage.games.len(), notes.len()), (6, 2));
        assert_eq!(stage.games[0].number, 6);
        assert_eq!(stage.rounds(false).len(), 3);
    }

    #[test]
    fn a_round_and_its_reverse_are_one_double_round() {
        let games = vec![
            game(0, 1, 1, 0, 1),
            game(1, 1, 2, 2, 3),
            game(2, 2, 1, 1, 0),
            game(3, 2, 2, 3, 2),
        ];
        let (stage, _) = StageGames::new(games, &[]);
        assert_eq!(stage.rounds(true).len(), 1);
        assert_eq!(stage.rounds(false).len(), 2);
    }
}
