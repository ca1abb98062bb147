//! A match as its games tell it: who has White first, the games that its Round tags leave out, and how long it was.

use shakmaty::Color;

use super::super::format::match_::{MatchFormat, MatchState};
use super::report::{ComparisonKind, StageReplay};
use super::stage_games::{Id, StageGame, StageGames};
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;
use crate::model::words::counted;

/// The most games of a match whose results are not known and are tried.
const MOST_UNKNOWN: usize = 5;

/// A game at its place in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Played(StageGame),
    /// The Round tags of the others leave this one out.
    Missing(RoundGame),
}

impl Slot {
    /// Its result, as the format of a match reads it: it alternates colours, whatever was played. None where it is not known.
    fn result(self, number: usize, first: Id) -> Option<GameResult> {
        let Slot::Played(game) = self else { return None };
        match game.result {
            GameResult::Win(color) => {
                let winner = color.fold_wb(game.white, game.black);
                let own = Color::from_white(number.is_multiple_of(2));
                Some(GameResult::Win(if winner == first { own } else { !own }))
            }
            GameResult::Draw => Some(GameResult::Draw),
            GameResult::Unfinished => None,
        }
    }
}

/// A match as it was played.
#[derive(Clone, Debug)]
pub(super) struct PlayedMatch {
    slots: Vec<Slot>,
    white: Id,
    black: Id,
}

impl PlayedMatch {
    /// The games between two engines, of which `white` has White first.
    ///
    /// A game without a result has a place of its own, and so has one that is missing, only where the format asks for it:
    /// mostly another one was played for it.
    pub(super) fn of(
        games: &[StageGame],
        white: Id,
        black: Id,
        format: &MatchFormat,
    ) -> PlayedMatch {
        let over = games.iter().filter(|game| game.result != GameResult::Unfinished);
        let plain: Vec<Slot> = over.map(|game| Slot::Played(*game)).collect();
        let plain = PlayedMatch { slots: plain, white, black };
        let is_whole = plain.is_as_long(format) && plain.odd_colours() == 0;
        let slots = with_missing(games);
        if is_whole || slots.len() == plain.slots.len() {
            plain
        } else {
            PlayedMatch { slots, white, black }
        }
    }

    /// The engine that has White first, as most of the games have it.
    pub(super) fn first_white(games: &[StageGame]) -> Option<Id> {
        let first = games.first()?;
        let odd = |(white, black): (Id, Id)| {
            PlayedMatch { slots: with_missing(games), white, black }.odd_colours()
        };
        let (own, other) = ((first.white, first.black), (first.black, first.white));
        let is_other = odd(other) < odd(own);
        Some(if is_other { first.black } else { first.white })
    }

    /// The number of games that were played.
    pub(super) fn played(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot, Slot::Played(_))).count()
    }

    /// True if the results of all games are known.
    pub(super) fn is_known(&self) -> bool {
        self.slots.iter().all(|slot| slot.result(0, self.white).is_some())
    }

    /// The state of the match; unknown results are those with which it was as long as it was, where there are such.
    pub(super) fn state(&self, format: &MatchFormat) -> MatchState {
        let results: Vec<Option<GameResult>> =
            (0..).zip(&self.slots).map(|(number, slot)| slot.result(number, self.white)).collect();
        let unknown = results.iter().filter(|result| result.is_none()).count();
        let filled = |case: usize| {
            let mut left = case;
            let fill = |result: &Option<GameResult>| {
                result.unwrap_or_else(|| {
                    let of = [
                        GameResult::Draw,
                        GameResult::Win(Color::White),
                        GameResult::Win(Color::Black),
                    ];
                    let own = of[left % 3];
                    left /= 3;
                    own
                })
            };
            format.after(&results.iter().map(fill).collect::<Vec<_>>())
        };
        let cases = if unknown > MOST_UNKNOWN { 1 } else { 3_usize.pow(unknown as u32) };
        let fits = |state: &MatchState| self.is_length(*state);
        (0..cases).map(filled).find(fits).unwrap_or_else(|| filled(0))
    }

    fn is_length(&self, state: MatchState) -> bool {
        match state {
            MatchState::Won(_, length) | MatchState::Level(length) => length == self.slots.len(),
            MatchState::Due(_) => false,
        }
    }

    /// True if the match was as long as its format says.
    pub(super) fn is_as_long(&self, format: &MatchFormat) -> bool {
        self.is_length(self.state(format))
    }

    /// The colours that each game is due with, true for those of the first one, and whether it has them. An order that turns
    /// round in the middle is one game with others, and so is a single game.
    fn colours_due(&self) -> Vec<(bool, bool)> {
        let has = |slot: &Slot, is_first: bool| match slot {
            Slot::Played(game) => (game.white == self.white) == is_first,
            Slot::Missing(_) => true,
        };
        let mut is_first = true;
        let mut all = Vec::new();
        for (at, slot) in self.slots.iter().enumerate() {
            let agrees = has(slot, is_first);
            all.push((is_first, agrees));
            let goes_on = || self.slots.get(at + 1).is_some_and(|next| has(next, !is_first));
            is_first = if agrees || goes_on() { !is_first } else { is_first };
        }
        all
    }

    fn odd_colours(&self) -> usize {
        self.colours_due().iter().filter(|(_, agrees)| !agrees).count()
    }

    /// Compares the colours, and tells the games that are missing.
    pub(super) fn colours(
        &self,
        stage: &StageGames<'_>,
        out: &mut StageReplay,
        at: impl Fn(usize) -> String,
    ) {
        for (number, (slot, (is_first, agrees))) in
            (1..).zip(self.slots.iter().zip(self.colours_due()))
        {
            let (white, black) =
                if is_first { (self.white, self.black) } else { (self.black, self.white) };
            match slot {
                Slot::Missing(place) => {
                    let expected = stage.meeting(white, black);
                    let none = "there is no such game";
                    out.disagree(ComparisonKind::Games, place.to_string(), expected, none);
                }
                Slot::Played(game) => out.compare(ComparisonKind::Colours, agrees, || {
                    (at(number), stage.meeting(white, black), stage.told(game))
                }),
            }
        }
    }

    /// Compares how long the match was.
    pub(super) fn length(
        &self,
        format: &MatchFormat,
        told: impl Fn() -> String,
        out: &mut StageReplay,
    ) {
        let state = self.state(format);
        let expected = match state {
            MatchState::Won(_, length) | MatchState::Level(length) => counted(length, "game"),
            MatchState::Due(sure) => {
                format!("at least {}", counted(self.slots.len() + sure, "game"))
            }
        };
        out.compare(ComparisonKind::Lengths, self.is_length(state), || {
            (told(), expected, counted(self.played(), "game"))
        });
    }
}

/// Games and, where their Round tags number them without a break but for a few, those that are missing.
fn with_missing(games: &[StageGame]) -> Vec<Slot> {
    let played = || games.iter().map(|game| Slot::Played(*game)).collect::<Vec<Slot>>();
    let tags: Option<Vec<RoundGame>> = games.iter().map(|game| game.at).collect();
    let Some((tags, first)) = tags.and_then(|tags| Some((tags.clone(), *tags.first()?))) else {
        return played();
    };
    // Either each game is a round, or all of them are one.
    let are_rounds =
        tags.iter().all(|tag| tag.game == first.game) && (tags.len() > 1 || first.game == 1);
    let number = |tag: &RoundGame| if are_rounds { tag.round } else { tag.game };
    let is_one = are_rounds || tags.iter().all(|tag| tag.round == first.round);
    let is_rising = tags.windows(2).all(|two| number(&two[0]) < number(&two[1]));
    // A file may number its games from anywhere; that the first one is missing is told by the second.
    let begin = if number(&first) == 2 { 1 } else { number(&first) };
    let end = tags.last().map_or(0, number);
    if !is_one || !is_rising || (end + 1 - begin) as usize > 2 * games.len() {
        return played();
    }
    let slot = |wanted: u32| {
        let found = games.iter().zip(&tags).find(|(_, tag)| number(tag) == wanted);
        let place = if are_rounds {
            RoundGame { round: wanted, ..first }
        } else {
            RoundGame { game: wanted, ..first }
        };
        found.map_or(Slot::Missing(place), |(game, _)| Slot::Played(*game))
    };
    (begin..=end).map(slot).collect()
}
