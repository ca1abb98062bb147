//! The recorded games of one stage, in the order in which they were played.

use std::collections::{BTreeMap, BTreeSet};

use super::super::format::PlayedPairing;
use super::super::schedule::Seat;
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;
use crate::model::words::counted;

/// An engine of the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(pub(super) usize);

/// The content of a Round tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tag {
    /// A round alone, `12`, or nothing.
    Round,
    /// A place in it, `12.3`.
    Place,
}

/// A game as far as formats look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StageGame {
    pub(super) white: Id,
    pub(super) black: Id,
    pub(super) result: GameResult,
    /// Its Round tag.
    pub(super) at: Option<RoundGame>,
    /// The content of that tag.
    pub(super) tag: Tag,
    /// The part of its stage, as the event file lists them.
    pub(super) part: usize,
    /// Its number among all games that were read.
    pub(super) number: usize,
}

impl StageGame {
    pub(super) fn pair(&self) -> (Id, Id) {
        (self.white.min(self.black), self.white.max(self.black))
    }
}

/// The games of a stage, and how engines are called.
pub(super) struct StageGames<'a> {
    pub(super) games: Vec<StageGame>,
    names: &'a [String],
}

impl<'a> StageGames<'a> {
    /// Puts games into the order of play: as the files have them, or by their Round tags where these number the
    /// games of a part and the files are in another order. Games that were played again stand once.
    pub(super) fn new(
        mut games: Vec<StageGame>,
        names: &'a [String],
    ) -> (StageGames<'a>, Vec<String>) {
        let mut notes = Vec::new();
        games.sort_by_key(|game| game.part);
        let key = |game: &StageGame| (game.at, game.tag, game.white, game.black);
        let (mut again, mut is_sorted) = (0, false);
        let mut all = Vec::new();
        for part in games.chunk_by(|a, b| a.part == b.part) {
            let mut own = part.to_vec();
            // Where most tags repeat, they number nothing: many matches were tagged `1` from their first game on.
            let is_few = |repeated: usize| repeated * 5 <= part.len();
            let kept: BTreeMap<_, usize> =
                own.iter().map(|game| (key(game), game.number)).collect();
            if is_few(own.len() - kept.len()) {
                again += own.len() - kept.len();
                own.retain(|game| kept[&key(game)] == game.number);
            }
            let places: BTreeSet<_> = own.iter().filter_map(|game| game.at).collect();
            let round = |game: &StageGame| game.at.map(|at| at.round);
            if is_few(own.len() - places.len()) && !own.is_sorted_by_key(round) {
                own.sort_by_key(|game| game.at);
                is_sorted = true;
            }
            all.extend(own);
        }
        let games = all;
        if again > 0 {
            let stand = if again == 1 { "stands" } else { "stand" };
            let games = counted(again, "game");
            notes.push(format!("{games} {stand} twice; the later ones count"));
        }
        if is_sorted {
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

    pub(super) fn told(&self, game: &StageGame) -> String {
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

    /// True if games have places of their own, but for a few that were tagged by mistake or made up for others.
    pub(super) fn has_places(&self) -> bool {
        let places: BTreeSet<_> = self.games.iter().filter_map(|game| game.at).collect();
        (self.games.len() - places.len()) * 5 <= self.games.len()
    }

    /// The rounds, in order. Two rounds with the same pairs are one of double games where `doubled`.
    pub(super) fn rounds(&self, doubled: bool) -> Vec<Vec<StageGame>> {
        let mut rounds: Vec<Vec<StageGame>> = Vec::new();
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
            let pairs = |round: &[StageGame]| -> BTreeSet<(Id, Id)> {
                round.iter().map(StageGame::pair).collect()
            };
            let mut merged: Vec<Vec<StageGame>> = Vec::new();
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

/// The engines of a stage, each by its seat.
pub(super) struct StageSeats<'a> {
    pub(super) seats: &'a [Id],
}

impl StageSeats<'_> {
    pub(super) fn seat(&self, id: Id) -> Option<Seat> {
        self.seats.iter().position(|seat| *seat == id).map(Seat)
    }

    pub(super) fn id(&self, seat: Seat) -> Id {
        // A format gives the seats that it was given.
        self.seats.get(seat.0).copied().unwrap_or(Id(usize::MAX))
    }

    pub(super) fn played(&self, game: &StageGame, at: RoundGame) -> Option<PlayedPairing> {
        let (white, black) = (self.seat(game.white)?, self.seat(game.black)?);
        Some(PlayedPairing { at, white, black, result: game.result })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(number: usize, round: u32, game: u32, white: usize, black: usize) -> StageGame {
        StageGame {
            white: Id(white),
            black: Id(black),
            result: GameResult::Draw,
            at: Some(RoundGame { round, game }),
            tag: Tag::Place,
            part: 0,
            number,
        }
    }

    #[test]
    fn a_game_that_was_played_again_stands_once_and_rounds_are_in_order() {
        let mut games: Vec<StageGame> = (0..6)
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
