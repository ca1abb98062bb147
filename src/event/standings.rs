//! Standings: places, points, tie-break figures and every single result.

use std::borrow::Cow;

use shakmaty::Color;

use super::field::{EngineIx, Field, Removal};
pub use super::place::{Place, PlacedBy};
use super::progress::EventProgress;
use super::rmobility::RMobility;
use super::tiebreak::{Context, Criterion, Figure, TiebreakChain, TiedRest, break_tie};
use crate::model::game::listed::ListedPlayer;
use crate::model::game::points::{HalfPoints, QuarterPoints};
use crate::model::game::result::GameResult;
use serde::Serialize;

/// The standings of an event.
#[derive(Clone, Debug)]
pub struct Standings {
    /// The event's name; the names of all where games of several were put together.
    pub event: String,
    /// The tie-breaks that were applied.
    pub chain: &'static TiebreakChain,
    /// The engines, the best first; tied ones by name, disqualified ones last.
    pub rows: Vec<StandingsRow>,
    /// Finished games.
    pub games: usize,
    /// Games without a result; they count for nothing.
    pub unfinished: usize,
    /// The games among them that the organisers annulled, and the engines that were withdrawn, in words.
    pub annulled: Vec<String>,
    /// The engines that would go on without a game here, and were withdrawn.
    pub(crate) gone: Vec<String>,
    /// The part of the schedule that is played, where the games follow one.
    pub progress: Option<EventProgress>,
    /// The kind of stage that its games are of, in words, where no double round robins tell how far it has come.
    pub(crate) format: Option<&'static str>,
    /// True if a tie between its two engines is played on, and no tie-break asked (rule 3.2).
    pub(crate) is_played_on: bool,
    /// The treatment of such a tie in words, where its match says another than that rule.
    pub(crate) after_tie: Option<String>,
    /// True if matches rank its engines (a bracket, a playoff): no tie-break was asked, and while it is played its order says little.
    pub(crate) is_of_matches: bool,
    /// The shared places whose engines the organisers have to tell apart, whatever the chain says of ties that it leaves.
    pub(crate) to_be_decided: Vec<u32>,
    /// The later stage that its other ties go to, as far as something follows from them.
    pub(crate) settled_by: Option<String>,
}

/// The treatment of a tie between two engines that are alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TieOfTwo {
    /// Pairs of games are played until one engine wins one (rule 3.2): a MiniFinal.
    PlayedOn,
    /// The tie-breaks are asked, as in any other stage: a pool in which only two play.
    Broken,
}

/// One engine's line.
#[derive(Clone, Debug)]
pub struct StandingsRow {
    /// The engine.
    pub engine: ListedPlayer,
    /// Its place.
    pub place: Place,
    /// Points.
    pub points: HalfPoints,
    /// Games with White.
    pub(crate) white: ColourTally,
    /// Games with Black.
    pub(crate) black: ColourTally,
    /// Games that count as won without being played: byes and walkovers.
    pub(crate) unplayed_wins: u32,
    /// Crashes; they are counted as losses (rule 6.2).
    pub crashes: u32,
    /// Sonneborn-Berger, whether or not the chain asks for it.
    pub(crate) sonneborn_berger: QuarterPoints,
    /// r-mobility, whether or not the chain asks for it.
    pub(crate) r_mobility: RMobility,
    /// The chain's figures, in its order. Direct encounter is the mini-table with all that have the same points and
    /// the same figures before it; none where nobody else has.
    pub figures: Vec<Option<Figure>>,
    /// The finished games against each engine, in the order of [`Standings::rows`].
    pub(crate) results: Vec<Vec<Cell>>,
}

impl StandingsRow {
    /// Finished games.
    pub(crate) fn games(&self) -> u32 {
        self.white.games() + self.black.games()
    }
}

/// Results with one colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ColourTally {
    /// Won games.
    pub(crate) wins: u32,
    /// Drawn games.
    pub(crate) draws: u32,
    /// Lost games.
    pub(crate) losses: u32,
}

impl ColourTally {
    /// Games.
    pub(crate) fn games(self) -> u32 {
        self.wins + self.draws + self.losses
    }
}

/// One game in a crosstable, as the row's engine sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The game's number in the event, from 1.
    pub(crate) game: u32,
    /// The row's colour.
    pub(crate) color: Color,
    /// The result.
    pub(crate) result: GameResult,
}

impl Cell {
    /// The row's points.
    #[must_use]
    pub(crate) fn points(self) -> HalfPoints {
        self.result.points(self.color).unwrap_or_default()
    }

    /// `1`, `=` or `0`.
    #[must_use]
    pub(crate) fn symbol(self) -> char {
        match self.points() {
            HalfPoints::ONE => '1',
            HalfPoints::HALF => '=',
            _ => '0',
        }
    }
}

impl Standings {
    /// Counts games of an unknown event: two engines are taken for the players of a match.
    pub fn of(field: &Field, chain: &'static TiebreakChain) -> Standings {
        let tie = if chain.spares_matches { TieOfTwo::PlayedOn } else { TieOfTwo::Broken };
        Standings::with(field, chain, tie)
    }

    /// Counts an event.
    pub(crate) fn with(field: &Field, chain: &'static TiebreakChain, tie: TieOfTwo) -> Standings {
        // Rule 3.1 excepts the MiniFinal; its tie is played on (rule 3.2).
        let is_played_on = tie == TieOfTwo::PlayedOn && field.indices().count() == 2;
        let context = Context::new(field);
        let (mut ranked, out): (Vec<EngineIx>, Vec<EngineIx>) =
            field.indices().partition(|engine| field.removal(*engine).is_none());
        ranked.sort_by_key(|engine| std::cmp::Reverse(context.points[engine.at()]));

        let mut places: Vec<(EngineIx, Place)> = Vec::new();
        for tied in ranked.chunk_by(|a, b| context.points[a.at()] == context.points[b.at()]) {
            let groups = if is_played_on {
                vec![super::tiebreak::TiedGroup { engines: tied.to_vec(), by: None }]
            } else {
                break_tie(&context, tied, chain)
            };
            for group in groups {
                let place = Place::Ranked {
                    rank: places.len() as u32 + 1,
                    tied: group.engines.len() > 1,
                    by: group.by.map(PlacedBy::Criterion),
                };
                places.extend(group.engines.into_iter().map(|engine| (engine, place)));
            }
        }
        places.extend(out.into_iter().map(|engine| {
            let place = match field.removal(engine) {
                Some(Removal::Withdrawn(_)) => Place::Withdrawn { rank: None, tied: false },
                _ => Place::Disqualified,
            };
            (engine, place)
        }));

        let order = Order::of(places.iter().map(|(engine, _)| *engine).collect());
        let rows = places
            .iter()
            .map(|(engine, place)| row(&context, chain, *engine, *place, &order))
            .collect();
        let finished = |game: &&super::field::EventGame| game.result != GameResult::Unfinished;
        let games = field.games().iter().filter(finished).count();
        Standings {
            event: field.events().collect::<Vec<_>>().join(" + "),
            chain,
            rows,
            games,
            unfinished: field.games().len() - games,
            annulled: Vec::new(),
            gone: Vec::new(),
            progress: EventProgress::of(field),
            format: None,
            is_played_on,
            after_tie: None,
            is_of_matches: false,
            to_be_decided: Vec::new(),
            settled_by: None,
        }
    }

    /// The engines of each place that several share, in order of places.
    pub(crate) fn ties(&self) -> impl Iterator<Item = &[StandingsRow]> {
        self.rows
            .chunk_by(|a, b| a.place.rank().is_some() && a.place.rank() == b.place.rank())
            .filter(|rows| rows.len() > 1)
    }

    /// Returns the treatment of engines that are tied on a place, in words.
    pub(crate) fn tie_goes_to(&self, place: Place) -> Cow<'static, str> {
        if let (true, Some(after_tie)) = (self.is_played_on, &self.after_tie) {
            return after_tie.clone().into();
        }
        if self.is_played_on {
            return "pairs of games are played until one engine wins such a pair (rule 3.2)".into();
        }
        let is_to_be_decided = place.rank().is_some_and(|rank| self.to_be_decided.contains(&rank));
        match (&self.settled_by, self.chain.rest) {
            _ if is_to_be_decided => "the organisers decide".into(),
            (Some(later), _) => {
                format!("{later} tells them apart where something follows from it").into()
            }
            (None, TiedRest::Organisers) => "the organisers decide".into(),
            (None, TiedRest::Shared) => "they share the place".into(),
        }
    }
}

/// The engines, the best first, and where each of them stands.
struct Order {
    engines: Vec<EngineIx>,
    /// By engine.
    columns: Vec<usize>,
}

impl Order {
    fn of(engines: Vec<EngineIx>) -> Order {
        let mut columns = vec![0; engines.len()];
        for (column, engine) in engines.iter().enumerate() {
            columns[engine.at()] = column;
        }
        Order { engines, columns }
    }

    /// The games of an engine that count, by opponent; lists just as long as they have to be.
    fn cells(&self, field: &Field, engine: EngineIx) -> Vec<Vec<Cell>> {
        let column = |other: EngineIx| self.columns[other.at()];
        let mut counts = vec![0; self.columns.len()];
        for seen in field.of(engine) {
            counts[column(seen.opponent)] += 1;
        }
        let mut cells: Vec<Vec<Cell>> = counts.into_iter().map(Vec::with_capacity).collect();
        for seen in field.of(engine) {
            let game = u32::try_from(seen.number + 1).unwrap_or(u32::MAX);
            let cell = Cell { game, color: seen.color, result: seen.game.result };
            cells[column(seen.opponent)].push(cell);
        }
        cells
    }
}

fn row(
    context: &Context<'_>,
    chain: &TiebreakChain,
    engine: EngineIx,
    place: Place,
    order: &Order,
) -> StandingsRow {
    let field = context.field;
    let tied: Vec<EngineIx> = order
        .engines
        .iter()
        .copied()
        .filter(|other| {
            field.removal(*other).is_none()
                && context.points[other.at()] == context.points[engine.at()]
        })
        .collect();
    let mut tallies = [ColourTally::default(), ColourTally::default()];
    for seen in field.of(engine) {
        let tally = &mut tallies[seen.color.fold_wb(0, 1)];
        match seen.points {
            HalfPoints::ONE => tally.wins += 1,
            HalfPoints::HALF => tally.draws += 1,
            _ => tally.losses += 1,
        }
    }
    let opponents = field.of(engine);
    StandingsRow {
        engine: field.engine(engine).clone(),
        place,
        points: context.points[engine.at()],
        white: tallies[0],
        black: tallies[1],
        unplayed_wins: field.byes(engine).map(|(_, wins)| wins).fold(0, u32::saturating_add),
        crashes: field.crashes(engine),
        sonneborn_berger: opponents
            .map(|seen| QuarterPoints::product(seen.points, context.points[seen.opponent.at()]))
            .sum(),
        r_mobility: field.of(engine).map(|seen| seen.r_mobility()).sum(),
        figures: figures(context, chain, engine, tied),
        results: order.cells(field, engine),
    }
}

/// The figures of an engine by a chain's criteria; `tied` are all with its points.
fn figures(
    context: &Context<'_>,
    chain: &TiebreakChain,
    engine: EngineIx,
    mut tied: Vec<EngineIx>,
) -> Vec<Option<Figure>> {
    let criteria = chain.criteria.iter();
    criteria
        .map(|criterion| {
            let own = criterion.figure(context, engine, &tied);
            let told = *criterion != Criterion::DirectEncounter || tied.len() > 1;
            let before = tied.clone();
            tied.retain(|other| {
                *other == engine || criterion.figure(context, *other, &before) == own
            });
            told.then_some(own)
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::event::field::FieldBuilder;
    use crate::event::field::tests::field;
    use crate::event::tiebreak::CHAINS;
    use crate::model::game::listed::tests::listed;
    use crate::model::game::listed::{ListedGame, RoundGame};
    use proptest::prelude::*;

    /// Standings of games written as for [`field`].
    pub(crate) fn standings(games: &str, chain: &str) -> Standings {
        Standings::of(&field(games), TiebreakChain::named(chain).unwrap())
    }

    fn told(standings: &Standings) -> String {
        let rows: Vec<String> = standings
            .rows
            .iter()
            .map(|row| match row.place {
                Place::Ranked { rank, tied, .. } => {
                    let shared = if tied { "=" } else { "" };
                    format!("{rank}{shared} {} {}", row.engine.name, row.points)
                }
                Place::Disqualified | Place::Withdrawn { .. } => format!("- {}", row.engine.name),
            })
            .collect();
        rows.join(", ")
    }

    #[test]
    fn tied_engines_share_a_rank_and_the_next_leaves_room() {
        let standings = standings("a-b =, b-a =, c-a 0, c-b 0, d-c 0", "swiss");
        assert_eq!(told(&standings), "1= a 2, 1= b 2, 3 c 1, 4 d 0");
        assert_eq!(standings.ties().count(), 1);
        assert_eq!(standings.tie_goes_to(standings.rows[0].place), "they share the place");
    }

    #[test]
    fn a_tied_match_of_two_is_left_to_further_games() {
        // a won in fewer moves and so on, but rule 3.2 knows no tie-break for a MiniFinal.
        let standings = standings("a-b 1, b-a =, a-b 0, b-a =", "4k");
        assert_eq!(told(&standings), "1= a 2, 1= b 2");
        assert!(standings.tie_goes_to(standings.rows[0].place).contains("rule 3.2"));
    }

    #[test]
    fn a_pool_in_which_only_two_play_is_no_minifinal() {
        let told = |games: &str| {
            let chain = TiebreakChain::named("4k").unwrap();
            let standings = Standings::with(&field(games), chain, TieOfTwo::Broken);
            let by = match standings.rows[1].place {
                Place::Ranked { by, .. } => by,
                Place::Disqualified | Place::Withdrawn { .. } => None,
            };
            (told(&standings), by, standings.tie_goes_to(standings.rows[0].place))
        };
        // Black made the last move of both draws, and a had Black twice.
        let (page, by, _) = told("a-b 1, b-a =, a-b 0, b-a =");
        assert_eq!(
            (page.as_str(), by),
            ("1 a 2, 2 b 2", Some(PlacedBy::Criterion(Criterion::RMobility)))
        );
        let (page, by, _) = told("a-b 1, b-a 0, b-a 1, a-b =, a-b 0, b-a =");
        let double_wins = Some(PlacedBy::Criterion(Criterion::DoubleWins));
        assert_eq!((page.as_str(), by), ("1 a 3, 2 b 3", double_wins));
        // Nothing tells these apart (rule 3.1.7).
        let (page, by, then) = told("a-b =, b-a =");
        assert_eq!((page.as_str(), by), ("1= a 1, 1= b 1", None));
        assert_eq!(then, "the organisers decide");
    }

    #[test]
    fn every_result_is_in_the_crosstable_twice() {
        let standings = standings("a-b 1, b-a =, a-c 0, c-b *", "4k");
        assert_eq!((standings.games, standings.unfinished), (3, 1));
        assert_eq!(told(&standings), "1 a 1.5, 2 c 1, 3 b 0.5");
        let text = |row: usize, column: usize| -> String {
            let cells = &standings.rows[row].results[column];
            cells.iter().map(|cell| cell.symbol()).collect()
        };
        assert_eq!((text(0, 2), text(2, 0)), ("1=".into(), "0=".into()));
        assert_eq!((text(0, 1), text(1, 0)), ("0".into(), "1".into()));
        assert_eq!(text(0, 0), "");
        assert_eq!(standings.rows[0].white.games(), 2);
        assert_eq!(standings.rows[0].results[2][1].game, 2);
    }

    #[test]
    fn disqualified_engines_have_no_rank() {
        let mut field = field("a-b 1!, b-a =, a-c 0, c-b 1!, b-c 0!");
        field.disqualify_after(3);
        let standings = Standings::of(&field, TiebreakChain::named("s17").unwrap());
        assert_eq!(told(&standings), "1 c 1, 2 a 0, - b");
        assert_eq!(standings.rows[2].crashes, 3);
    }

    #[test]
    fn no_games_make_no_rows() {
        let standings = Standings::of(&Field::default(), TiebreakChain::named("4k").unwrap());
        assert!(standings.rows.is_empty() && standings.progress.is_none());
    }

    const NAMES: [&str; 6] = ["alpha", "beta", "gamma", "delta", "eps", "zeta"];
    const LINES: [&str; 4] = ["e4 e5", "f3 e5 g4 Qh4", "Nf3 Nf6 Ng1 Ng8 Nf3", "d4 d5 c4 dxc4 e3"];

    fn games() -> impl Strategy<Value = Vec<ListedGame>> {
        let game = (0..6usize, 1..6usize, 0..4u8, 0..LINES.len());
        proptest::collection::vec(game, 1..40).prop_map(|games| {
            let made = games.into_iter().enumerate();
            made.map(|(number, (white, step, result, line))| {
                let result = match result {
                    0 => GameResult::Win(Color::White),
                    1 => GameResult::Win(Color::Black),
                    2 => GameResult::Draw,
                    _ => GameResult::Unfinished,
                };
                let black = NAMES[(white + step) % 6];
                let mut game = listed(NAMES[white], black, result, LINES[line]);
                game.round =
                    Some(RoundGame { round: number as u32 / 3 + 1, game: number as u32 % 3 + 1 });
                game
            })
            .collect()
        })
    }

    fn count(games: &[ListedGame], chain: &'static TiebreakChain) -> Standings {
        let mut builder = FieldBuilder::default();
        for game in games {
            builder.add(game, 0);
        }
        Standings::of(&builder.finish(), chain)
    }

    fn chain() -> impl Strategy<Value = &'static TiebreakChain> {
        let alone = |criterion| TiebreakChain {
            name: "one",
            criteria: std::slice::from_ref(criterion),
            rest: TiedRest::Shared,
            spares_matches: false,
        };
        let alone = Criterion::ALL.iter().map(alone).map(|chain| &*Box::leak(Box::new(chain)));
        // A chain that is used stops at the first criterion that tells, so each is drawn alone, too.
        proptest::sample::select(CHAINS.iter().chain(alone).collect::<Vec<_>>())
    }

    /// Everything but names.
    fn shape(standings: &Standings) -> Vec<String> {
        let rows = standings.rows.iter();
        let mut told: Vec<String> = rows
            .map(|row| {
                let mut cells = row.results.clone();
                cells.sort_by_key(|cells| cells.first().map(|cell| cell.game));
                format!(
                    "{:?} {} {:?} {:?} {:?} {cells:?}",
                    row.place, row.points, row.figures, row.white, row.black
                )
            })
            .collect();
        // Within a tie, rows are listed by name.
        told.sort();
        told
    }

    proptest! {
        #[test]
        fn points_are_conserved(games in games(), chain in chain()) {
            let standings = count(&games, chain);
            let points: HalfPoints = standings.rows.iter().map(|row| row.points).sum();
            prop_assert_eq!(points, HalfPoints(2 * standings.games as u32));
            let played: u32 = standings.rows.iter().map(StandingsRow::games).sum();
            prop_assert_eq!(played as usize, 2 * standings.games);
            let mobility: RMobility = standings.rows.iter().map(|row| row.r_mobility).sum();
            prop_assert_eq!(mobility.as_f64(), standings.games as f64);
        }

        #[test]
        fn the_order_of_the_input_does_not_matter(
            (games, mixed) in games().prop_flat_map(|games| {
                (Just(games.clone()), Just(games).prop_shuffle())
            }),
            chain in chain(),
        ) {
            let (sorted, mixed) = (count(&games, chain), count(&mixed, chain));
            prop_assert_eq!(format!("{:?}", sorted.rows), format!("{:?}", mixed.rows));
        }

        #[test]
        fn names_do_not_matter(
            games in games(),
            names in Just(NAMES.to_vec()).prop_shuffle(),
            chain in chain(),
        ) {
            let new = |name: &str| {
                let at = NAMES.iter().position(|known| *known == name).unwrap();
                names[at].to_owned()
            };
            let renamed: Vec<ListedGame> = games
                .iter()
                .cloned()
                .map(|mut game| {
                    game.white.name = new(&game.white.name);
                    game.black.name = new(&game.black.name);
                    game
                })
                .collect();
            prop_assert_eq!(shape(&count(&games, chain)), shape(&count(&renamed, chain)));
        }

        #[test]
        fn better_places_never_have_fewer_points(games in games(), chain in chain()) {
            let standings = count(&games, chain);
            for rows in standings.rows.windows(2) {
                prop_assert!(rows[0].points >= rows[1].points);
            }
        }
    }
}
