//! An event's engines and games, reduced to what standings need: a few dozen bytes a game, however long it was.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::format::PairAt;
use super::rmobility::{self, HeldGoal, RMobility};
use crate::model::game::listed::{ListedGame, ListedPlayer, RoundGame};
use crate::model::game::points::HalfPoints;
use crate::model::game::result::GameResult;

/// An engine of a [`Field`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EngineIx(u32);

impl EngineIx {
    /// The engine of a number, from 0.
    fn of(number: usize) -> EngineIx {
        // Each has a name in memory: there are never as many as would not fit.
        EngineIx(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Its number, from 0, for lists with an element for each engine.
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A game, finished or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventGame {
    /// The engine with White.
    pub(crate) white: EngineIx,
    /// The engine with Black.
    pub(crate) black: EngineIx,
    /// The result.
    pub result: GameResult,
    /// Its length in moves: (plies + 1) / 2, the book included.
    pub(crate) moves: u32,
    /// Its r-mobility goal.
    pub(crate) held: Option<HeldGoal>,
    /// The side that crashed.
    pub(crate) crashed: Option<Color>,
    /// Its place in the schedule.
    pub(crate) at: Option<RoundGame>,
}

impl EventGame {
    /// The engine's colour; none if it did not play here.
    pub(crate) fn color(&self, engine: EngineIx) -> Option<Color> {
        if self.white == engine {
            Some(Color::White)
        } else if self.black == engine {
            Some(Color::Black)
        } else {
            None
        }
    }

    /// The engine of a colour.
    pub(crate) fn engine(&self, color: Color) -> EngineIx {
        color.fold_wb(self.white, self.black)
    }
}

/// A finished game as one of its engines sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenGame<'a> {
    /// Its number in the event's order, from 0.
    pub(crate) number: usize,
    /// The game.
    pub(crate) game: &'a EventGame,
    /// The engine's colour.
    pub(crate) color: Color,
    /// The engine's points.
    pub(crate) points: HalfPoints,
    /// The other engine.
    pub(crate) opponent: EngineIx,
}

impl SeenGame<'_> {
    /// The engine's r-mobility points.
    pub(crate) fn r_mobility(&self) -> RMobility {
        RMobility::of_side(self.game.held, self.color)
    }
}

/// Engines by name, games in the event's order.
#[derive(Clone, Debug, Default)]
pub struct Field {
    events: BTreeSet<String>,
    engines: Vec<ListedPlayer>,
    games: Vec<EventGame>,
    /// Games by engine, as indices into `games`; annulled ones are not here.
    by_engine: Vec<Vec<u32>>,
    /// By engine, of those that play no more.
    removals: Vec<Option<Removal>>,
    byes: Vec<ByeOf>,
    /// The game pair of each game, none for a game of no pair; only where the stage of the games has told it.
    pairs: Option<Vec<Option<PairAt>>>,
}

/// The removal of an engine from the event: it plays no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The engine crashed too often, and its games count for nobody.
    Disqualified,
    /// Its author withdrew it.
    Withdrawn(WithdrawnGames),
}

/// The fate of the games that an engine played before it was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WithdrawnGames {
    /// Counted for nobody: in a round robin some have met it and some would not.
    Annulled,
    /// Counted: later pairings followed from them.
    Counts,
}

impl Removal {
    /// True if the games count for nobody.
    fn is_annulled(self) -> bool {
        !matches!(self, Removal::Withdrawn(WithdrawnGames::Counts))
    }
}

/// An engine's round without a game, which counts as so many won ones.
#[derive(Clone, Copy, Debug)]
struct ByeOf {
    engine: EngineIx,
    round: u32,
    wins: u32,
}

impl Field {
    /// The names of the events the games came from.
    pub(crate) fn events(&self) -> impl Iterator<Item = &str> {
        self.events.iter().map(String::as_str)
    }

    /// Every engine.
    pub(crate) fn indices(&self) -> impl Iterator<Item = EngineIx> + use<> {
        (0..self.engines.len()).map(EngineIx::of)
    }

    /// An engine as the games name it, with its latest rating.
    pub(crate) fn engine(&self, engine: EngineIx) -> &ListedPlayer {
        &self.engines[engine.at()]
    }

    /// The engine of a name.
    pub(crate) fn find(&self, name: &str) -> Option<EngineIx> {
        self.indices().find(|engine| self.engine(*engine).name == name)
    }

    /// Every game in the event's order, also those that are unfinished or annulled.
    pub(crate) fn games(&self) -> &[EventGame] {
        &self.games
    }

    /// Takes the pair that the game of each place belongs to from the stage of the games.
    pub(crate) fn pair_by(&mut self, pair: impl Fn(RoundGame) -> Option<PairAt>) {
        self.pairs = Some(self.games.iter().map(|game| pair(game.at?)).collect());
    }

    /// The pair of each game, where its stage has told it.
    pub(crate) fn told_pairs(&self) -> Option<&[Option<PairAt>]> {
        self.pairs.as_deref()
    }

    /// The finished games of an engine that count, in the event's order.
    pub(crate) fn of(&self, engine: EngineIx) -> impl Iterator<Item = SeenGame<'_>> {
        self.by_engine[engine.at()].iter().filter_map(move |number| {
            let number = *number as usize;
            let game = &self.games[number];
            let color = game.color(engine)?;
            Some(SeenGame {
                number,
                game,
                color,
                points: game.result.points(color)?,
                opponent: game.engine(!color),
            })
        })
    }

    /// The points of an engine.
    pub(crate) fn points(&self, engine: EngineIx) -> HalfPoints {
        let byes = self.byes(engine).map(|(_, wins)| HalfPoints(wins.saturating_mul(2)));
        self.of(engine).map(|seen| seen.points).chain(byes).sum()
    }

    /// The rounds in which an engine had a bye, each with the games that count as won.
    pub(crate) fn byes(&self, engine: EngineIx) -> impl Iterator<Item = (u32, u32)> {
        let own = self.byes.iter().filter(move |bye| bye.engine == engine);
        own.map(|bye| (bye.round, bye.wins))
    }

    /// The number of times that an engine crashed, over all games, annulled ones too.
    pub(crate) fn crashes(&self, engine: EngineIx) -> u32 {
        self.games
            .iter()
            .filter(|game| game.crashed.map(|side| game.engine(side)) == Some(engine))
            .count() as u32
    }

    /// The reason for which an engine left; none of one that plays.
    pub(crate) fn removal(&self, engine: EngineIx) -> Option<Removal> {
        self.removals[engine.at()]
    }

    /// True if the games of an engine count for nobody.
    pub(crate) fn is_annulled(&self, engine: EngineIx) -> bool {
        self.removal(engine).is_some_and(Removal::is_annulled)
    }

    /// Takes out an engine that its author withdrew.
    pub fn withdraw(&mut self, name: &str, played: WithdrawnGames) {
        if let Some(engine) = self.find(name) {
            self.removals[engine.at()] = Some(Removal::Withdrawn(played));
            self.annul();
        }
    }

    /// Season 17's crash rule, off in 4k events (rule 6.2): who crashed `limit` times or more is
    /// disqualified, and all its games are annulled, for its opponents too.
    pub(crate) fn disqualify_after(&mut self, limit: u32) {
        for engine in self.indices() {
            if self.crashes(engine) >= limit {
                self.removals[engine.at()].get_or_insert(Removal::Disqualified);
            }
        }
        self.annul();
    }

    /// Lets the games of engines that left so count for nobody.
    fn annul(&mut self) {
        let Field { games, by_engine, removals, .. } = self;
        let counts = |engine: EngineIx| !removals[engine.at()].is_some_and(Removal::is_annulled);
        for own in by_engine {
            own.retain(|number| {
                let game = &games[*number as usize];
                counts(game.white) && counts(game.black)
            });
        }
    }
}

/// Collects records, in any order, into a [`Field`]. Nothing of a game is kept but its [`EventGame`].
#[derive(Clone, Debug, Default)]
pub struct FieldBuilder {
    events: BTreeSet<String>,
    names: HashMap<String, EngineIx>,
    engines: Vec<ListedPlayer>,
    games: Vec<Sourced>,
    byes: Vec<ByeOf>,
}

/// A game and the number of the file it came from.
#[derive(Clone, Copy, Debug)]
struct Sourced {
    source: u32,
    game: EventGame,
}

impl FieldBuilder {
    /// Takes in a game; `source` is the number of the file it came from.
    pub fn add(&mut self, listed: &ListedGame, source: usize) {
        if !self.events.contains(&listed.event) && !listed.event.is_empty() {
            self.events.insert(listed.event.clone());
        }
        let record = &listed.record;
        let game = EventGame {
            white: self.engine(&listed.white),
            black: self.engine(&listed.black),
            result: record.ending.result,
            moves: u32::try_from(record.length().div_ceil(2)).unwrap_or(u32::MAX),
            held: rmobility::of_game(record),
            crashed: record.ending.crashed(),
            at: listed.round,
        };
        let source = u32::try_from(source).unwrap_or(u32::MAX);
        self.games.push(Sourced { source, game });
    }

    /// Takes in a bye, which counts as so many won games. An engine that has nothing but byes has a row, too.
    pub(crate) fn add_bye(&mut self, engine: &ListedPlayer, round: u32, wins: u32) {
        let engine = self.engine(engine);
        self.byes.push(ByeOf { engine, round, wins });
    }

    /// Gives an engine a row, whether or not it has games.
    pub(crate) fn enter(&mut self, engine: &ListedPlayer) {
        self.engine(engine);
    }

    /// Forgets the byes of all rounds after one.
    pub(crate) fn remove_byes_after(&mut self, round: u32) {
        self.byes.retain(|bye| bye.round <= round);
    }

    /// Forgets the byes of an engine from a round on.
    pub(crate) fn remove_byes_of(&mut self, name: &str, from: u32) {
        let Some(engine) = self.names.get(name) else { return };
        self.byes.retain(|bye| bye.engine != *engine || bye.round < from);
    }

    /// Lets the game of a place count for nothing.
    pub(crate) fn annul(&mut self, at: RoundGame) {
        for Sourced { game, .. } in self.games.iter_mut().filter(|one| one.game.at == Some(at)) {
            (game.result, game.crashed, game.held) = (GameResult::Unfinished, None, None);
        }
    }

    /// Forgets the game of a place.
    pub(crate) fn remove(&mut self, at: RoundGame) {
        self.games.retain(|one| one.game.at != Some(at));
    }

    /// Takes in all that another has collected.
    pub(crate) fn append(&mut self, other: FieldBuilder) {
        if self.engines.is_empty() {
            *self = other;
            return;
        }
        self.events.extend(other.events);
        let place: Vec<EngineIx> = other.engines.iter().map(|engine| self.engine(engine)).collect();
        self.games.extend(other.games.into_iter().map(|sourced| sourced.seated(&place)));
        self.byes.extend(other.byes.into_iter().map(|bye| bye.seated(&place)));
    }

    fn engine(&mut self, engine: &ListedPlayer) -> EngineIx {
        if let Some(index) = self.names.get(&engine.name) {
            let known = &mut self.engines[index.at()];
            known.rating = engine.rating.or(known.rating);
            return *index;
        }
        let index = EngineIx::of(self.engines.len());
        self.names.insert(engine.name.clone(), index);
        self.engines.push(engine.clone());
        index
    }

    /// The number of its games.
    pub(crate) fn len(&self) -> usize {
        self.games.len()
    }

    /// Every game in the order in which it came, with the engine of each colour, White's first.
    pub(crate) fn games(&self) -> impl Iterator<Item = ([&ListedPlayer; 2], &EventGame)> {
        let engine = |index: EngineIx| &self.engines[index.at()];
        self.games.iter().map(move |sourced| {
            let game = &sourced.game;
            ([engine(game.white), engine(game.black)], game)
        })
    }

    /// The field. Its order is that of the schedule where the games name distinct places in it, so that it
    /// does not depend on the order in which they came; else the order within each file, or as it came.
    #[must_use]
    pub fn finish(self) -> Field {
        let mut order: Vec<usize> = (0..self.engines.len()).collect();
        order.sort_by(|a, b| self.engines[*a].name.cmp(&self.engines[*b].name));
        let mut place = vec![EngineIx(0); order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = EngineIx::of(new);
        }

        let mut games = self.games;
        let places: Option<Vec<RoundGame>> = games.iter().map(|sourced| sourced.game.at).collect();
        if let Some(mut places) = places {
            places.sort_unstable();
            if places.windows(2).all(|two| two[0] != two[1]) {
                games.sort_by_key(|sourced| sourced.game.at);
            } else {
                // Tags that repeat within a file number nothing: its own order is the order of play.
                let repeats = repeating(&games);
                games.sort_by_key(|one| {
                    (one.source, one.game.at.filter(|_| !repeats.contains(&one.source)))
                });
            }
        }
        let games: Vec<EventGame> =
            games.into_iter().map(|sourced| sourced.seated(&place).game).collect();

        let engines: Vec<ListedPlayer> =
            order.iter().map(|old| self.engines[*old].clone()).collect();
        let mut counts = vec![0; engines.len()];
        for game in &games {
            counts[game.white.at()] += 1;
            counts[game.black.at()] += 1;
        }
        let mut by_engine: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
        // Numbers are as small as those of engines: more games than fit would not fit into memory.
        for (number, game) in (0u32..).zip(&games) {
            by_engine[game.white.at()].push(number);
            by_engine[game.black.at()].push(number);
        }
        Field {
            events: self.events,
            removals: vec![None; engines.len()],
            byes: self.byes.into_iter().map(|bye| bye.seated(&place)).collect(),
            engines,
            games,
            by_engine,
            pairs: None,
        }
    }
}

/// The files in which two finished games have the same place.
fn repeating(games: &[Sourced]) -> BTreeSet<u32> {
    let mut met = HashSet::new();
    let finished = games.iter().filter(|one| one.game.result != GameResult::Unfinished);
    finished.filter(|one| !met.insert((one.source, one.game.at))).map(|one| one.source).collect()
}

impl ByeOf {
    /// The same with its engine elsewhere.
    fn seated(self, place: &[EngineIx]) -> ByeOf {
        ByeOf { engine: place[self.engine.at()], ..self }
    }
}

impl Sourced {
    /// The same with its engines elsewhere.
    fn seated(self, place: &[EngineIx]) -> Sourced {
        let Sourced { source, game } = self;
        let (white, black) = (place[game.white.at()], place[game.black.at()]);
        Sourced { source, game: EventGame { white, black, ..game } }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::game::ending::Termination;
    use crate::model::game::listed::tests::listed;

    /// A field of games written `White-Black result` (`a-b 1`, `b-a =`, `a-c 0`, `a-c *`), in that order.
    /// A `!` behind the result: the loser crashed.
    pub(crate) fn field(games: &str) -> Field {
        let mut builder = FieldBuilder::default();
        for (number, line) in games.split(',').map(str::trim).enumerate() {
            let (players, result) = line.split_once(' ').unwrap();
            let (white, black) = players.split_once('-').unwrap();
            let result = result.trim();
            let outcome = match result.trim_end_matches('!') {
                "1" => GameResult::Win(Color::White),
                "0" => GameResult::Win(Color::Black),
                "=" => GameResult::Draw,
                _ => GameResult::Unfinished,
            };
            let mut game = listed(white, black, outcome, "e4 e5");
            game.round = Some(RoundGame { round: number as u32 + 1, game: 1 });
            if result.ends_with('!') {
                game.record.ending.reason = Termination::Crash { exit: None };
            }
            builder.add(&game, 0);
        }
        builder.finish()
    }

    /// The engine of a name.
    pub(crate) fn find(field: &Field, name: &str) -> EngineIx {
        field.find(name).unwrap()
    }

    #[test]
    fn engines_are_known_by_name_and_points_are_counted() {
        let field = field("b-a 1, a-b =, c-a 0, b-c *");
        let points = |name| field.points(find(&field, name)).to_string();
        assert_eq!(
            (points("a"), points("b"), points("c")),
            ("1.5".into(), "1.5".into(), "0".into())
        );
        assert_eq!(field.of(find(&field, "c")).count(), 1);
        assert_eq!(field.engine(EngineIx::of(0)).name, "a");
    }

    #[test]
    fn an_engine_whose_only_round_was_a_bye_has_a_row() {
        let player = |name: &str| ListedPlayer { name: name.to_owned(), rating: Some(2500) };
        let mut builder = FieldBuilder::default();
        builder.add(&listed("b", "c", GameResult::Draw, ""), 0);
        builder.add_bye(&player("a"), 1, 2);
        builder.add_bye(&player("c"), 2, 1);
        let mut both = FieldBuilder::default();
        both.add(&listed("x", "y", GameResult::Draw, ""), 0);
        both.append(builder.clone());
        for field in [builder.clone().finish(), both.finish()] {
            let a = find(&field, "a");
            assert_eq!((field.points(a), field.engine(a).rating), (HalfPoints(4), Some(2500)));
            assert_eq!(field.points(find(&field, "c")), HalfPoints(3));
            assert_eq!(field.byes(a).collect::<Vec<_>>(), [(1, 2)]);
        }
        builder.remove_byes_after(1);
        assert_eq!(builder.finish().byes.len(), 1);
    }

    #[test]
    fn the_schedule_orders_games_if_it_can() {
        let mut builder = FieldBuilder::default();
        for round in ["3.1", "1.2", "1.1"] {
            let mut game = listed("a", "b", GameResult::Draw, "");
            game.round = round.parse().ok();
            builder.add(&game, 0);
        }
        let field = builder.finish();
        let order: Vec<String> =
            field.games().iter().map(|game| game.at.unwrap().to_string()).collect();
        assert_eq!(order, ["1.1", "1.2", "3.1"]);
    }

    #[test]
    fn files_that_are_put_together_are_as_one() {
        let games = |more: &[(&str, &str, &str)], source| {
            let mut builder = FieldBuilder::default();
            for (white, black, round) in more {
                let mut game = listed(white, black, GameResult::Draw, "e4");
                game.round = round.parse().ok();
                game.white.rating = Some(2000 + source);
                builder.add(&game, source as usize);
            }
            builder
        };
        let (one, two) = ([("b", "a", "2.1"), ("a", "b", "1.1")], [("b", "c", "1.1")]);
        let mut both = games(&one, 0);
        both.append(games(&two, 1));
        assert_eq!(both.len(), 3);
        let told: Vec<_> = both.games().map(|(both, _)| both.map(|e| e.name.as_str())).collect();
        assert_eq!(told, [["b", "a"], ["a", "b"], ["b", "c"]]);
        // Place 1.1 is there twice: each file for itself.
        let field = both.finish();
        let order: Vec<_> = field
            .games()
            .iter()
            .map(|game| field.engine(game.white).name.clone() + &game.at.unwrap().to_string())
            .collect();
        assert_eq!(order, ["a1.1", "b2.1", "b1.1"]);
        assert_eq!(field.engine(find(&field, "c")).rating, None);
        assert_eq!(field.engine(find(&field, "a")).rating, Some(2000));
        // The latest one is that of the second file.
        assert_eq!(field.engine(find(&field, "b")).rating, Some(2001));
    }

    /// Standings of a hundred thousand games are a few megabytes.
    #[test]
    fn a_game_is_a_few_dozen_bytes() {
        assert!(size_of::<Sourced>() <= 40, "{}", size_of::<Sourced>());
        assert!(size_of::<EventGame>() <= 36, "{}", size_of::<EventGame>());
    }

    #[test]
    fn games_of_a_disqualified_engine_are_annulled_for_all() {
        let mut field = field("a-b 1!, b-a 0!, b-c 1, a-c =, c-b 1!, c-a 1");
        let b = find(&field, "b");
        assert_eq!(field.crashes(b), 3);
        field.disqualify_after(3);
        assert_eq!(field.removal(b), Some(Removal::Disqualified));
        assert_eq!(field.points(find(&field, "a")), HalfPoints(1));
        assert_eq!(field.points(find(&field, "c")), HalfPoints(3));
        assert_eq!(field.points(b), HalfPoints::ZERO);
        assert_eq!(field.crashes(b), 3);
    }
}
