//! The recorded games of one stage, in the order in which they were played.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;

use super::super::format::PlayedPairing;
use super::super::schedule::Seat;
use crate::model::game::listed::RoundGame;
use crate::model::game::record::GameRecord;
use crate::model::game::result::GameResult;
use crate::model::words::counted;

/// Plies from which on two games with the same moves are one that stands twice.
const TELLING: usize = 20;

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

/// The use of the Round tags of a stage for its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagUse {
    /// The places of a schedule.
    Places,
    /// Numbers of games that follow from one another: where they begin again, a tie is played on, or the next match comes.
    Numbers,
}

/// A sum of the moves of a game; none of one that is too short to be told by them.
pub(super) fn moves_sum(record: &GameRecord) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    record.moves().for_each(|played| played.hash(&mut hasher));
    (record.length() >= TELLING).then(|| hasher.finish())
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
    /// A sum of its moves, where there are enough of them.
    pub(super) moves: Option<u64>,
    /// The digits of the date and time at which it began, where both are known.
    pub(super) began: Option<u64>,
    /// The engine that crashed in it.
    pub(super) crashed: Option<Id>,
}

impl StageGame {
    pub(super) fn pair(&self) -> (Id, Id) {
        (self.white.min(self.black), self.white.max(self.black))
    }

    pub(super) fn plays(&self, id: Id) -> bool {
        self.white == id || self.black == id
    }
}

/// The games of a part in runs whose tags number the games of each. Where tags are numbers, a run begins where they begin
/// again: with the next one, too, or with none that is new.
fn goes(part: &[StageGame], tags: TagUse) -> Vec<&[StageGame]> {
    let mut begins = vec![0];
    if let ([first, second, ..], TagUse::Numbers) = (part, tags) {
        let mut known = BTreeSet::new();
        for (at, game) in part.iter().enumerate() {
            if at > 0 && game.at.is_some() && game.at == first.at {
                let is_known = || part[at..].iter().all(|game| known.contains(&game.at));
                if part.get(at + 1).is_some_and(|next| next.at == second.at) || is_known() {
                    begins.push(at);
                }
            }
            known.insert(game.at);
        }
    }
    begins.push(part.len());
    begins.windows(2).map(|run| &part[run[0]..run[1]]).collect()
}

/// The games of a run in the order of play, each once, and whether their tags tell that order.
fn in_order(go: &[StageGame], tags: TagUse) -> (Vec<StageGame>, bool) {
    let is_few = |some: usize| some * 5 <= go.len();
    // A game without a result that is followed by the same one was played again.
    let is_again = |game: &StageGame, next: Option<&StageGame>| {
        game.result == GameResult::Unfinished
            && next.is_some_and(|next| (next.white, next.black) == (game.white, game.black))
    };
    let followed = go.iter().zip(go.iter().skip(1).map(Some).chain([None]));
    let mut own: Vec<StageGame> =
        followed.filter(|(game, next)| !is_again(game, *next)).map(|(game, _)| *game).collect();
    let places = |own: &[StageGame]| own.iter().filter_map(|game| game.at).collect::<BTreeSet<_>>();
    // Without a tag nothing tells a second meeting from the first one.
    let key = |game: &StageGame| game.at.map(|at| (at, game.tag, game.white, game.black));
    let kept: BTreeMap<_, usize> =
        own.iter().filter_map(|game| Some((key(game)?, game.number))).collect();
    let untold = own.iter().filter(|game| game.at.is_none()).count();
    // Where most tags repeat, they number nothing: many matches were tagged `1` from their first game on, or all by the
    // number of the match.
    let numbered = if tags == TagUse::Numbers { places(&own).len() } else { kept.len() + untold };
    if is_few(own.len() - numbered) {
        own.retain(|game| key(game).is_none_or(|key| kept[&key] == game.number));
    }
    let places = places(&own);
    let round = |game: &StageGame| game.at.map(|at| at.round);
    let is_told =
        is_few(own.len() - places.len()) || tags == TagUse::Places && tells_rounds(&own, 1);
    let is_sorted = is_told && !own.is_sorted_by_key(round);
    if is_sorted {
        own.sort_by_key(|game| game.at);
    }
    if tags == TagUse::Places {
        // Games that are played at the same time stand in the order in which they ended.
        for round in own.chunk_by_mut(|a, b| a.at.is_some() && round(a) == round(b)) {
            let mut begun = round.to_vec();
            begun.sort_by_key(|game| (game.began, game.at));
            if begun.iter().all(|game| game.began.is_some())
                && begun.is_sorted_by_key(|game| game.at)
            {
                round.copy_from_slice(&begun);
            }
        }
    }
    (own, is_sorted)
}

/// True if Round tags tell rounds: nobody plays more than so many games of one, but for a few games that were made up for.
fn tells_rounds(games: &[StageGame], each: usize) -> bool {
    let mut played: BTreeMap<(usize, Option<u32>, Id), usize> = BTreeMap::new();
    let mut beyond = 0;
    for game in games {
        let mut is_beyond = false;
        for id in [game.white, game.black] {
            let number = played.entry((game.part, game.at.map(|at| at.round), id)).or_default();
            *number += 1;
            is_beyond |= *number > each;
        }
        beyond += usize::from(is_beyond);
    }
    beyond * 5 <= games.len()
}

/// The games of a stage, and how engines are called.
pub(super) struct StageGames<'a> {
    pub(super) games: Vec<StageGame>,
    /// The engines that crashed too often.
    pub(super) disqualified: Vec<Id>,
    names: &'a [String],
}

impl<'a> StageGames<'a> {
    /// Puts games into the order of play: as the files have them, or by their Round tags where these number the
    /// games of a part and the files are in another order. Games that were played again stand once.
    pub(super) fn new(
        mut games: Vec<StageGame>,
        names: &'a [String],
        tags: TagUse,
    ) -> (StageGames<'a>, Vec<String>) {
        let mut notes = Vec::new();
        games.sort_by_key(|game| game.part);
        let read = games.len();
        let mut known = HashSet::new();
        games.retain(|game| {
            let key = (game.at, game.white, game.black, game.result);
            game.moves.is_none_or(|moves| known.insert((key, moves)))
        });
        let copies = read - games.len();
        let (mut again, mut is_sorted) = (0, false);
        let mut all = Vec::new();
        for part in games.chunk_by(|a, b| a.part == b.part) {
            for go in goes(part, tags) {
                let (own, sorted) = in_order(go, tags);
                again += go.len() - own.len();
                is_sorted |= sorted;
                all.extend(own);
            }
        }
        let stand = |games: usize| if games == 1 { "stands" } else { "stand" };
        if copies > 0 {
            let games = counted(copies, "game");
            notes.push(format!("{games} {} twice, with the same moves", stand(copies)));
        }
        if again > 0 {
            let games = counted(again, "game");
            notes.push(format!("{games} {} twice; the later ones count", stand(again)));
        }
        if is_sorted {
            notes.push("the files are not in the order of rounds; Round tags give it".to_owned());
        }
        (StageGames { games: all, disqualified: Vec::new(), names }, notes)
    }

    /// The same by season 17's rule: so many crashes disqualify.
    pub(super) fn with_crash_limit(mut self, limit: Option<NonZeroU32>) -> StageGames<'a> {
        let crashes = |id: &Id| self.games.iter().filter(|game| game.crashed == Some(*id)).count();
        let most = limit.map_or(usize::MAX, |limit| limit.get() as usize);
        self.disqualified = self.roster().into_iter().filter(|id| crashes(id) >= most).collect();
        self
    }

    /// The games that have a result.
    pub(super) fn with_results(&self) -> Vec<StageGame> {
        let all = self.games.iter().copied();
        all.filter(|game| game.result != GameResult::Unfinished).collect()
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
        let each = if doubled { 2 } else { 1 };
        let key = |game: &StageGame| (game.part, game.at.map(|at| at.round));
        let is_told = tells_rounds(&self.games, each);
        let mut rounds: Vec<Vec<StageGame>> = Vec::new();
        for game in &self.games {
            let own = match is_told {
                true => rounds.iter_mut().find(|round| round.first().map(key) == Some(key(game))),
                // A round ends where an engine has played it.
                false => rounds.last_mut().filter(|round| {
                    let of = |id| round.iter().filter(move |one| one.plays(id));
                    [game.white, game.black].into_iter().all(|id| {
                        of(id).count() < each && of(id).all(|one| one.pair() == game.pair())
                    })
                }),
            };
            match own {
                Some(round) => round.push(*game),
                None => rounds.push(vec![*game]),
            }
        }
        if is_told {
            rounds.sort_by_key(|round| round.first().map(key));
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
            moves: None,
            began: None,
            crashed: None,
        }
    }

    #[test]
    fn a_game_that_was_played_again_stands_once_and_rounds_are_in_order() {
        let mut games: Vec<StageGame> = (0..6)
            .map(|at| game(at, at as u32 / 2 + 1, at as u32 % 2 + 1, 2 * at % 4, (2 * at + 1) % 4))
            .collect();
        games.push(game(6, 1, 1, 0, 1));
        games.swap(0, 5);
        let (stage, notes) = StageGames::new(games, &[], TagUse::Places);
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
        let (stage, _) = StageGames::new(games, &[], TagUse::Places);
        assert_eq!(stage.rounds(true).len(), 1);
        assert_eq!(stage.rounds(false).len(), 2);
    }
}
