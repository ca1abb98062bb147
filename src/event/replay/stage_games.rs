//! The recorded games of one stage, in the order in which they were played.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;

use super::super::format::PlayedPairing;
use super::super::schedule::Seat;
use crate::model::game::listed::RoundGame;
use crate::model::game::record::GameRecord;
use crate::model::game::result::GameResult;
use crate::model::words::{self, counted};

/// Plies from which on two games with the same moves are one that stands twice.
const TELLING: usize = 20;

/// Games that begin within so many milliseconds begin at once: their clocks do not tell which one was the first.
const AT_ONCE: u64 = 1000;

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
    /// The moment at which it began, in milliseconds, where its date and time are known.
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

    /// Its Round tag, in words.
    pub(super) fn place(&self) -> String {
        self.at.map_or_else(|| "?".to_owned(), |at| at.to_string())
    }

    /// The key of a game among the others of its run: without a tag nothing tells a second meeting from the first one.
    fn key(&self) -> Option<(RoundGame, Tag, Id, Id)> {
        self.at.map(|at| (at, self.tag, self.white, self.black))
    }
}

/// The games of a part in runs whose tags number the games of each. Where tags are numbers, a run begins where they begin
/// again: with the next one, too, or with none that is new. A game that was struck out is played again in its own run.
fn goes(part: &[StageGame], tags: TagUse) -> Vec<&[StageGame]> {
    let mut begins = vec![0];
    if let ([first, second, ..], TagUse::Numbers) = (part, tags) {
        let mut known = BTreeSet::new();
        let key = |game: &StageGame| (game.at, game.white, game.black);
        let mut last = *first;
        for (at, game) in part.iter().enumerate() {
            let is_again = last.result == GameResult::Unfinished && key(&last) == key(game);
            if game.at == first.at {
                last = *game;
            }
            if at > 0 && game.at.is_some() && game.at == first.at && !is_again {
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

/// The games of a run in the order of play, each once, and the remarks on them.
fn in_order(go: &[StageGame], tags: TagUse) -> OrderedGames {
    let is_few = |some: usize| some * 5 <= go.len();
    // A game without a result that is followed by the same one was played again.
    let is_again = |game: &StageGame, next: Option<&StageGame>| {
        let same = |next: &StageGame| {
            (next.at, next.white, next.black) == (game.at, game.white, game.black)
        };
        game.result == GameResult::Unfinished && next.is_some_and(same)
    };
    let followed = go.iter().zip(go.iter().skip(1).map(Some).chain([None]));
    let (again, mut own): (Vec<_>, Vec<_>) =
        followed.partition(|(game, next)| is_again(game, *next));
    let mut games: Vec<StageGame> = own.drain(..).map(|(game, _)| *game).collect();
    let mut again: Vec<StageGame> = again.into_iter().map(|(game, _)| *game).collect();
    let places = |own: &[StageGame]| own.iter().filter_map(|game| game.at).collect::<BTreeSet<_>>();
    let kept: BTreeMap<_, usize> =
        games.iter().filter_map(|game| Some((game.key()?, game.number))).collect();
    let untold = games.iter().filter(|game| game.at.is_none()).count();
    // Where most tags repeat, they number nothing: many matches were tagged `1` from their first game on, or all by the
    // number of the match.
    let numbered = if tags == TagUse::Numbers { places(&games).len() } else { kept.len() + untold };
    if is_few(games.len() - numbered) {
        let is_kept = |game: &StageGame| game.key().is_none_or(|key| kept[&key] == game.number);
        again.extend(games.iter().filter(|game| !is_kept(game)));
        games.retain(is_kept);
    }
    take_turns(go, &mut games, &again);
    let is_told = is_few(games.len() - places(&games).len())
        || tags == TagUse::Places && tells_rounds(&games, 1);
    let untagged = if is_told { fill_places(&mut games, tags) } else { Vec::new() };
    let round = |game: &StageGame| game.at.map(|at| at.round);
    let is_sorted = is_told && !games.is_sorted_by_key(round);
    if is_told {
        let is_down = tags == TagUse::Places && goes_down(&games);
        games.sort_by_key(round);
        games.chunk_by_mut(|a, b| round(a) == round(b)).for_each(|games| as_begun(games, is_down));
    } else if games.iter().all(|game| game.began.is_some()) {
        games.sort_by_key(|game| game.began);
    }
    OrderedGames { games, again, untagged, is_sorted }
}

/// Gives each game that was played again the turn of its first copy, its place in the file and the time at which it began: the
/// format made it due then, however much later it was played again.
fn take_turns(go: &[StageGame], games: &mut [StageGame], again: &[StageGame]) {
    let is_again: HashSet<usize> = again.iter().map(|game| game.number).collect();
    let (mut turns, mut firsts) = (BTreeMap::new(), BTreeMap::new());
    for (turn, game) in go.iter().enumerate() {
        turns.insert(game.number, turn);
        if let (Some(key), true) = (game.key(), is_again.contains(&game.number)) {
            firsts.entry(key).or_insert((turn, game.began));
        }
    }
    for game in &mut *games {
        if let Some((turn, began)) = game.key().and_then(|key| firsts.get(&key)) {
            turns.insert(game.number, *turn);
            game.began = *began;
        }
    }
    games.sort_by_key(|game| turns.get(&game.number).copied());
}

/// Games in the order of play.
struct OrderedGames {
    games: Vec<StageGame>,
    /// The games that were played again, and are left out.
    again: Vec<StageGame>,
    /// The games that had no Round tag where the others have one, each with the place that is free.
    untagged: Vec<StageGame>,
    /// True if Round tags tell another order than the file.
    is_sorted: bool,
}

/// True if the tags of nearly all rounds go down, as those of boards that are played from the last one on. Of a round whose games all
/// began at once nothing tells it but many of them: two at a time may begin and end in any order.
fn goes_down(games: &[StageGame]) -> bool {
    const MANY: usize = 4;
    let mut begun = games.to_vec();
    if games.iter().all(|game| game.began.is_some()) {
        begun.sort_by_key(|game| game.began);
    }
    let of = |game: &StageGame| game.at.map(|at| at.round);
    begun.sort_by_key(of);
    let mut down = 0;
    let mut all = 0;
    for round in begun.chunk_by(|a, b| of(a) == of(b)) {
        let (Some(first), Some(last)) = (round.first(), round.last()) else { continue };
        let lasted =
            last.began.zip(first.began).map_or(AT_ONCE, |(last, first)| last.saturating_sub(first));
        if round.len() > 1 && (lasted >= AT_ONCE || round.len() >= MANY) {
            all += 1;
            down += usize::from(first.at > last.at);
        }
    }
    5 * (all - down) <= all && down > 0
}

/// Puts the games of a round into the order of their tags, up or down, unless the times at which they began tell another one: an
/// interrupted game that was begun again has a later time, and its file has the order of play.
fn as_begun(games: &mut [StageGame], is_down: bool) {
    let mut tagged = games.to_vec();
    tagged.sort_by_key(|game| game.at);
    if is_down {
        tagged.reverse();
    }
    let as_told = |games: &[StageGame]| {
        let mut latest = 0;
        games.iter().filter_map(|game| game.began).all(|began| {
            latest = latest.max(began);
            latest < began + AT_ONCE
        })
    };
    let is_known = games.iter().all(|game| game.began.is_some());
    if is_known && !as_told(&tagged) {
        tagged.reverse();
    }
    if !is_known || as_told(&tagged) {
        games.copy_from_slice(&tagged);
    }
}

/// Gives games without a Round tag the free place next to theirs at which their engines can have played; those games come back.
fn fill_places(games: &mut [StageGame], tags: TagUse) -> Vec<StageGame> {
    let all: Vec<(usize, StageGame, RoundGame)> =
        (0..).zip(&*games).filter_map(|(at, game)| Some((at, *game, game.at?))).collect();
    let played = |round: u32, id: Id| {
        all.iter().filter(move |(_, game, at)| at.round == round && game.plays(id))
    };
    let most = |(_, game, at): &(usize, StageGame, RoundGame)| played(at.round, game.white).count();
    let most = all.iter().map(most).max().unwrap_or(0);
    let mut filled: Vec<StageGame> = Vec::new();
    for (own, game) in (0_usize..).zip(games).filter(|(_, game)| game.at.is_none()) {
        let can = |round: u32| {
            let with = |id| played(round, id).all(|(_, other, _)| other.pair() == game.pair());
            let has = played(round, game.white).count();
            let is_open = if tags == TagUse::Numbers { has > 0 } else { has < most };
            is_open && with(game.white) && with(game.black)
        };
        let near =
            all.iter().filter(|(_, _, at)| can(at.round)).min_by_key(|(at, ..)| own.abs_diff(*at));
        let Some((_, _, near)) = near else { continue };
        let is_free = |place: &RoundGame| {
            all.iter().all(|(_, _, at)| at != place)
                && filled.iter().all(|one| one.at != Some(*place))
        };
        let places = (1..).map(|number| RoundGame { round: near.round, game: number });
        game.at = places.take(all.len() + 1).find(is_free);
        game.tag = Tag::Place;
        filled.push(*game);
    }
    filled
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
        let (mut known, mut copies) = (HashSet::new(), Vec::new());
        games.retain(|game| {
            let key = (game.at, game.began, game.white, game.black, game.result);
            let is_new = game.moves.is_none_or(|moves| known.insert((key, moves)));
            copies.extend((!is_new).then_some(*game));
            is_new
        });
        let (mut again, mut untagged, mut is_sorted) = (Vec::new(), Vec::new(), false);
        let mut all = Vec::new();
        for part in games.chunk_by(|a, b| a.part == b.part) {
            for go in goes(part, tags) {
                let own = in_order(go, tags);
                all.extend(own.games);
                again.extend(own.again);
                untagged.extend(own.untagged);
                is_sorted |= own.is_sorted;
            }
        }
        let stage = StageGames { games: all, disqualified: Vec::new(), names };
        for (games, what, behind) in [
            (copies, ["stands", "stand"], " twice, with the same moves"),
            (again, ["stands", "stand"], " twice; the later ones count"),
            (
                untagged,
                ["has", "have"],
                " no Round tag; the free place beside it is taken for its own",
            ),
        ] {
            if !games.is_empty() {
                let verb = what[usize::from(games.len() > 1)];
                let number = counted(games.len(), "game");
                notes.push(format!("{number} {verb}{behind}: {}", stage.list(&games)));
            }
        }
        if is_sorted {
            notes.push("the files are not in the order of rounds; Round tags give it".to_owned());
        }
        (stage, notes)
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

    /// The engine of a name.
    pub(super) fn engine(&self, name: &str) -> Option<Id> {
        self.roster().into_iter().find(|id| self.name(*id) == name)
    }

    /// `A–B`, White first.
    pub(super) fn meeting(&self, white: Id, black: Id) -> String {
        format!("{} – {}", self.name(white), self.name(black))
    }

    /// Several of these.
    pub(super) fn meetings<'b>(&self, pairs: impl IntoIterator<Item = &'b (Id, Id)>) -> String {
        let told: Vec<String> = pairs.into_iter().map(|(a, b)| self.meeting(*a, *b)).collect();
        told.join(", ")
    }

    /// The number of games of each two that met.
    pub(super) fn games_of_pairs(&self) -> BTreeMap<(Id, Id), u32> {
        let mut games = BTreeMap::new();
        for game in &self.games {
            *games.entry(game.pair()).or_default() += 1;
        }
        games
    }

    pub(super) fn told(&self, game: &StageGame) -> String {
        self.meeting(game.white, game.black)
    }

    /// The first of some games, each with its place: `3.1 A – B, 4.2 C – D and 7 more`.
    pub(super) fn list(&self, games: &[StageGame]) -> String {
        let one = |game: &StageGame| {
            game.at.map_or_else(|| self.told(game), |at| format!("{at} {}", self.told(game)))
        };
        words::some(&games.iter().map(one).collect::<Vec<_>>(), 3)
    }

    /// True if games have places of their own, but for a few that were tagged by mistake or made up for others.
    pub(super) fn has_places(&self) -> bool {
        let places: BTreeSet<_> = self.games.iter().filter_map(|game| game.at).collect();
        (self.games.len() - places.len()) * 5 <= self.games.len()
    }

    /// The rounds, in order, each of so many games of a pair. Two rounds with the same pairs are one of double games.
    pub(super) fn rounds(&self, each: usize) -> Vec<Vec<StageGame>> {
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
        if each == 2 {
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

    /// The two of a meeting, as [`StageGame::pair`] has them.
    pub(super) fn pair(&self, white: Seat, black: Seat) -> (Id, Id) {
        let (white, black) = (self.id(white), self.id(black));
        (white.min(black), white.max(black))
    }

    /// The engines of places, those that share one together.
    pub(super) fn groups(&self, groups: Vec<Vec<Seat>>) -> Vec<Vec<Id>> {
        let ids = |group: Vec<Seat>| group.into_iter().map(|seat| self.id(seat)).collect();
        groups.into_iter().map(ids).collect()
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
        assert_eq!(stage.rounds(1).len(), 3);
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
        assert_eq!(stage.rounds(2).len(), 1);
        assert_eq!(stage.rounds(1).len(), 2);
    }
}
