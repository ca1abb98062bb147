//! A stage of an event as data: its engines, format, openings, promotions and tie-breaks. The pool and the MiniFinal of
//! the 4k event (rules 0.2 to 0.4, 3.2) are two of these.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::Deserialize;

use super::field::Field;
use super::format::match_::MatchFormat;
use super::format::round_robin::PairOrder;
use super::format::{Due, Format, Next, PairId, StageHistory, open};
use super::schedule::{BookPolicy, StagePairing, StageSchedule};
use super::standings::{Place, Standings, StandingsRow, TieOfTwo};
use super::terms::StageTerms;
use super::tiebreak::TiebreakChain;
use crate::game::clock::TimeControl;
use crate::model::game::listed::RoundGame;
use crate::model::game::variant::Variant;
use crate::model::words::counted;

/// The format of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StageFormat {
    /// A number of double round robins in Berger order.
    DoubleRoundRobins(NonZeroU32),
    /// A match of so many pairs; after a tie pairs until one engine wins one (rule 3.2).
    Pairs(NonZeroU32),
    /// A format of the other events.
    Of(Format),
}

impl StageFormat {
    /// Games before any tie is played on.
    pub(crate) fn games(&self, seats: usize) -> u64 {
        match self {
            StageFormat::DoubleRoundRobins(doubles) | StageFormat::Pairs(doubles) => {
                u64::from(doubles.get()) * seats as u64 * (seats as u64).saturating_sub(1)
            }
            StageFormat::Of(Format::RoundRobin(format)) => {
                u64::from(format.cycles.get()) * (seats * seats.saturating_sub(1) / 2) as u64
            }
            StageFormat::Of(format) => format.openings(seats) as u64 * format.games_each() as u64,
        }
    }

    /// True if only two engines play each other.
    pub(crate) fn is_match(&self) -> bool {
        matches!(self, StageFormat::Pairs(_) | StageFormat::Of(Format::Match(_)))
    }

    /// Counts games of a stage of this format.
    pub(crate) fn standings(&self, field: &Field, chain: &'static TiebreakChain) -> Standings {
        let is_played_on = self.is_match() && chain.spares_matches;
        let tie = if is_played_on { TieOfTwo::PlayedOn } else { TieOfTwo::Broken };
        let mut standings = Standings::with(field, chain, tie);
        standings.format = self.without_doubles();
        if let StageFormat::Of(Format::Match(of)) = self {
            standings.after_tie = Some(after_tie(of));
        }
        if standings.format.is_some() || self.is_rotation() {
            // Their first games may stand in Berger order all the same.
            standings.progress = None;
        }
        standings
    }

    /// True for a round robin whose pairs come in the older order.
    fn is_rotation(&self) -> bool {
        matches!(self, StageFormat::Of(Format::RoundRobin(of)) if of.order == PairOrder::Rotation)
    }

    /// Its name in a sentence, where double round robins and pairs do not tell how far it has come.
    fn without_doubles(&self) -> Option<&'static str> {
        let StageFormat::Of(format) = self else { return None };
        match format {
            Format::RoundRobin(of) => {
                (!of.cycles.get().is_multiple_of(2)).then_some("a round robin")
            }
            Format::Swiss(_) | Format::Dutch(_) => Some("a Swiss"),
            Format::Knockout(_) => Some("a knockout"),
            Format::Match(_) | Format::Playoff(_) => None,
        }
    }

    /// Returns the reason why crashes are no more than losses in a format; none in round robins, where the games of all
    /// others stand without those of an engine that is disqualified.
    pub(crate) fn without_disqualification(&self) -> Option<&'static str> {
        Some(match self {
            StageFormat::DoubleRoundRobins(_) | StageFormat::Of(Format::RoundRobin(_)) => {
                return None;
            }
            StageFormat::Pairs(_) | StageFormat::Of(Format::Match(_)) => {
                "in a match of two crashes are losses (season 17, rule 15.f)"
            }
            StageFormat::Of(Format::Swiss(_) | Format::Dutch(_)) => {
                "later rounds of a Swiss were paired by the games that a disqualification annuls; crashes are losses in it \
                 (Swiss, rule 7.a)"
            }
            StageFormat::Of(Format::Knockout(_)) => {
                "those who lost to an engine are out of the bracket, and annulling its games does not bring them back; \
                 crashes are losses in it (cup, rule 7.a)"
            }
            StageFormat::Of(Format::Playoff(_)) => {
                "who is left in a playoff follows from the games that a disqualification annuls; crashes are losses in it"
            }
        })
    }

    /// True if a tie is played on until it is none.
    pub(crate) fn is_played_on(&self) -> bool {
        match self {
            StageFormat::DoubleRoundRobins(_) => false,
            StageFormat::Pairs(_) => true,
            StageFormat::Of(Format::Match(of)) => of.then.iter().any(|then| then.again),
            StageFormat::Of(format) => format.ranks(),
        }
    }

    /// True if its matches rank the engines, and not the points of all its games.
    pub(crate) fn ranks(&self) -> bool {
        matches!(self, StageFormat::Of(format) if format.ranks())
    }
}

/// The games after a tie of a match, in words.
fn after_tie(of: &MatchFormat) -> String {
    let mut told = Vec::new();
    for then in &of.then {
        let pairs = counted(then.pairs.get(), "pair");
        if then.again {
            told.push(format!("{pairs} at a time until it is decided"));
            return format!("they play {}", told.join(", then "));
        }
        told.push(format!("{pairs} more"));
    }
    match &told[..] {
        [] => "the organisers decide".into(),
        parts => format!("they play {}, then the organisers decide", parts.join(", then ")),
    }
}

/// The rule for the seats of a stage's engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SeatDraw {
    /// By the entries' seeds; for a first stage.
    Seeds,
    /// By their names.
    Alphabetical,
    /// As the stages before ranked them.
    Ranking,
    /// The other way round: in a match, its winner is Black in the first game of each pair.
    ReversedRanking,
    /// By lot (leagues, rules 2.6, 3.5, 4.6 and 5.6): the same number draws the same seats.
    Shuffle(u64),
}

/// The rule on updates of engines before a stage (rules 4.2 and 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Updates {
    /// The engines stay as they were frozen.
    Forbidden,
    /// The engines that play in it may be others, which pass the gate again.
    Allowed,
}

/// A stage.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// The format.
    pub(crate) format: StageFormat,
    /// Its openings: one file, or in a bracket one for each round and in a match one for each part.
    pub(crate) books: Vec<PathBuf>,
    /// The order in which these are handed out.
    pub(crate) policy: BookPolicy,
    /// From which kind of positions its games begin.
    pub(crate) variant: Variant,
    /// In Chess960 without a book: the lot by which start positions are drawn.
    pub(crate) start_seed: Option<u64>,
    /// The rule for the seats of its engines.
    pub(crate) draw: SeatDraw,
    /// The places of earlier stages, by their numbers, that play in it; nothing where all do who went on from the one
    /// before.
    pub(crate) from: Vec<(usize, Vec<usize>)>,
    /// The stage before whose ties on points it breaks: it is played by those that are level for its last spots, and
    /// not at all where none are.
    pub(crate) breaks_ties_of: Option<usize>,
    /// The entries that begin in it by their places in events before, the best first.
    pub(crate) previous: Vec<String>,
    /// The engines that were disqualified in those events or withdrawn from them, and places that are nobody's by that, in
    /// words.
    pub(crate) passed_over: Vec<String>,
    /// The entries that begin in it; all of them in a first stage that names none.
    pub(crate) engines: Vec<String>,
    /// The number of engines that play in it.
    pub(crate) seats: usize,
    /// The tie-breaks.
    pub(crate) chain: &'static TiebreakChain,
    /// The number of engines that go on, or win; none where only a playoff takes engines from it.
    pub(crate) promote: usize,
    /// The places that later stages take from it.
    pub(crate) taken: Vec<PlacesTaken>,
    /// The rule on updates of engines before it.
    pub(crate) updates: Updates,
    /// The terms of its games.
    pub(crate) terms: StageTerms,
    /// The clocks of the further parts of a match that have their own, in their order.
    pub(crate) clocks_after: Vec<Option<TimeControl>>,
    /// Season 17's rule: crashes after which an engine is disqualified and its games are annulled. None where crashes
    /// are losses, as in 4k events (rule 6.2).
    pub(crate) crash_limit: Option<NonZeroU32>,
}

/// Places of a stage that a later one takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacesTaken {
    /// The places, from 1.
    pub(crate) places: Vec<usize>,
    /// True if their engines are seated there by these places.
    pub(crate) by_ranking: bool,
}

/// An order that may leave engines tied: each group is one place.
pub(crate) type Ranking = Vec<Vec<String>>;

impl Stage {
    /// The openings that its book must hold.
    pub(crate) fn openings(&self) -> usize {
        match (&self.format, self.policy) {
            (_, BookPolicy::None) => 0,
            (StageFormat::Of(format), _) => format.openings(self.seats),
            (StageFormat::DoubleRoundRobins(doubles) | StageFormat::Pairs(doubles), policy) => {
                let bookless = u32::from(policy == BookPolicy::FirstBookless);
                (doubles.get() - bookless) as usize
            }
        }
    }

    /// True if engines begin in it.
    pub(crate) fn begins_alone(&self) -> bool {
        !self.previous.is_empty() || !self.engines.is_empty()
    }

    /// The clock of a game.
    pub(crate) fn control(&self, at: RoundGame) -> TimeControl {
        let own = match &self.format {
            StageFormat::Of(Format::Match(of)) => {
                let after = of.part(at.round).checked_sub(1);
                after.and_then(|after| self.clocks_after.get(after).copied().flatten())
            }
            _ => None,
        };
        own.unwrap_or(self.terms.control)
    }

    /// The number of a game's opening in a book of so many; those beyond its end come again, in a bracket those of the
    /// match.
    pub(crate) fn opening(&self, seats: usize, due: &Due, there: usize) -> Option<usize> {
        let index = due.opening?;
        let again = || match &self.format {
            StageFormat::Of(Format::Knockout(knockout)) => knockout.again(seats, due.at),
            _ => None,
        };
        let index = if index.0 < there { index } else { again().unwrap_or(index) };
        index.0.checked_rem(there)
    }

    /// Returns the next step after the past of so many seats. After a tied match of pairs it is the next pair.
    pub(crate) fn next(&self, seats: usize, past: &StageHistory) -> Next {
        let next = match &self.format {
            StageFormat::DoubleRoundRobins(doubles) => {
                let schedule = StageSchedule::new(seats, *doubles, self.policy).ok();
                let games = schedule.into_iter().flat_map(StageSchedule::pairings).map(game_of);
                let due = open(games, past);
                return if due.is_empty() { Next::Over(Vec::new()) } else { Next::Play(due) };
            }
            StageFormat::Pairs(pairs) if seats == 2 => {
                MatchFormat::until_decisive(*pairs, false).next(past)
            }
            StageFormat::Pairs(_) => Next::Over(Vec::new()),
            StageFormat::Of(format) => format.next(seats, past),
        };
        let Next::Play(due) = next else { return next };
        let with_opening = |due: Due| {
            let opening = due.opening.and_then(|index| self.policy.opening(index.0));
            Due { opening, ..due }
        };
        Next::Play(due.into_iter().map(with_opening).collect())
    }

    /// The games that are to be played now, in order; none when the stage is over.
    pub(crate) fn due(&self, seats: usize, past: &StageHistory) -> Vec<Due> {
        match self.next(seats, past) {
            Next::Play(due) => due,
            Next::Bye(..) | Next::Over(_) => Vec::new(),
        }
    }

    /// The games that are next, also those of a round that waits for a bye to be given; none when the stage is over.
    pub(crate) fn to_come(&self, seats: usize, past: &StageHistory) -> Vec<Due> {
        match self.next(seats, past) {
            Next::Play(due) => due,
            Next::Bye(seat, round) => {
                let mut past = past.clone();
                // A round has one bye at most.
                past.byes.insert((seat, round));
                self.due(seats, &past)
            }
            Next::Over(_) => Vec::new(),
        }
    }

    /// The game that is due at a place, as it follows from the past; none where none is.
    pub(crate) fn due_at(
        &self,
        seats: usize,
        past: &StageHistory,
        place: RoundGame,
    ) -> Option<Due> {
        match &self.format {
            // Their places are known without a look at all games of a large field.
            StageFormat::DoubleRoundRobins(doubles) => {
                let schedule = StageSchedule::new(seats, *doubles, self.policy).ok()?;
                let game = schedule.at(place).filter(|game| game.double < doubles.get());
                open(game.map(game_of), past).pop()
            }
            StageFormat::Pairs(_) | StageFormat::Of(_) => {
                self.due(seats, past).into_iter().find(|due| due.at == place)
            }
        }
    }

    /// Its games, counted.
    pub fn standings(&self, field: &Field) -> Standings {
        self.format.standings(field, self.chain)
    }
}

/// A ranking without the engines that play no more.
pub(crate) fn playing(standings: &Standings, ranking: &Ranking) -> Ranking {
    let is_ranked = |row: &&StandingsRow| matches!(row.place, Place::Ranked { .. });
    let rows = standings.rows.iter().filter(|row| !is_ranked(row));
    let out: BTreeSet<&String> = rows.map(|row| &row.engine.name).chain(&standings.gone).collect();
    let kept = |group: &Vec<String>| -> Vec<String> {
        group.iter().filter(|name| !out.contains(name)).cloned().collect()
    };
    ranking.iter().map(kept).filter(|group| !group.is_empty()).collect()
}

/// A game of a 4k schedule.
fn game_of(pairing: StagePairing) -> Due {
    let StagePairing { at, white, black, double, opening } = pairing;
    Due { at, white, black, pair: PairId(double), opening }
}

#[cfg(test)]
pub(in crate::event) mod tests {
    use super::super::format::PlayedPairing;
    use super::super::format::bracket_draw::BracketDraw;
    use super::super::format::knockout::{Knockout, WhiteFirst};
    use super::super::format::match_::MatchPart;
    use super::super::journal::record::{GameFinished, StageStarted};
    use super::super::journal_games::tests::finished;
    use super::super::ledger::StageState;
    use super::*;
    use crate::model::game::ending::Termination;

    pub(in crate::event) fn stage(format: StageFormat) -> Stage {
        Stage {
            name: "S".into(),
            format,
            books: Vec::new(),
            policy: BookPolicy::None,
            variant: Variant::Standard,
            start_seed: None,
            draw: SeatDraw::Seeds,
            from: Vec::new(),
            breaks_ties_of: None,
            previous: Vec::new(),
            passed_over: Vec::new(),
            engines: Vec::new(),
            seats: 2,
            chain: TiebreakChain::named("4k").unwrap(),
            promote: 2,
            taken: Vec::new(),
            updates: Updates::Forbidden,
            terms: StageTerms::at(TimeControl::EVENT),
            clocks_after: Vec::new(),
            crash_limit: None,
        }
    }

    pub(in crate::event) fn after(games: &[GameFinished]) -> StageState {
        let ratings = Default::default();
        let started =
            StageStarted { stage: 0, name: "S".into(), ratings, ..StageStarted::default() };
        let mut state = StageState::new(started);
        for game in games {
            state.add("E", game).unwrap();
        }
        state
    }

    fn pairs(number: u32) -> StageFormat {
        StageFormat::Pairs(NonZeroU32::new(number).unwrap())
    }

    /// The places due after a match with these results, White's view.
    fn due(format: StageFormat, words: &[&str]) -> Vec<String> {
        let stage = stage(format);
        let seats = ["second".to_owned(), "winner".to_owned()];
        let schedule = StageSchedule::new(2, NonZeroU32::MIN, BookPolicy::None).unwrap();
        let games: Vec<GameFinished> = (0..)
            .flat_map(|double| schedule.double(double))
            .zip(words)
            .map(|(pairing, word)| {
                finished(&seats[pairing.white.0], &seats[pairing.black.0], pairing.at, word, "e2e4")
            })
            .collect();
        let due = stage.due(2, after(&games).past());
        due.iter().map(|pairing| pairing.at.to_string()).collect()
    }

    #[test]
    fn a_match_is_played_to_its_end_and_a_tie_beyond_it() {
        assert_eq!(due(pairs(2), &["1-0"]), ["2.1", "3.1", "4.1"]);
        // Decided early: all games are played all the same.
        assert_eq!(due(pairs(1), &["1-0", "0-1"]), [""; 0]);
        assert_eq!(due(pairs(1), &["1-0", "1-0"]), ["3.1", "4.1"]);
        assert_eq!(due(pairs(1), &["1-0", "1-0", "1/2-1/2"]), ["4.1"]);
        assert_eq!(due(pairs(1), &["1-0", "1-0", "1/2-1/2", "1/2-1/2"]), ["5.1", "6.1"]);
        assert_eq!(due(pairs(1), &["1-0", "1-0", "1/2-1/2", "0-1"]), [""; 0]);
    }

    /// Four engines, matches of one pair: openings 0 to 2, and behind them 3 to 5 for the first pairs beyond.
    #[test]
    fn beyond_the_books_end_a_match_of_a_bracket_has_its_own_openings_again() {
        let knockout = Knockout {
            draw: BracketDraw::EqualDistance,
            pairs: vec![NonZeroU32::MIN],
            bronze: None,
            early: true,
            white_first: WhiteFirst::Lower,
        };
        let stage = stage(StageFormat::Of(Format::Knockout(knockout)));
        let mut past = StageHistory::default();
        for game in stage.due(4, &past) {
            let Due { at, white, black, .. } = game;
            let result = crate::model::game::result::GameResult::Draw;
            past.add(PlayedPairing { at, white, black, result });
        }
        let due = match &stage.format {
            StageFormat::Of(format) => format.next(4, &past),
            _ => Next::Over(Vec::new()),
        };
        let Next::Play(due) = due else { panic!("both matches are level") };
        let of = |there| due.iter().map(|due| stage.opening(4, due, there)).collect::<Vec<_>>();
        assert_eq!(of(6), [Some(3), Some(3), Some(4), Some(4)]);
        assert_eq!(of(4), [Some(3), Some(3), Some(1), Some(1)]);
        assert_eq!(of(0), [None; 4]);
    }

    #[test]
    fn a_level_match_names_the_games_that_its_file_has_after_a_tie() {
        let one = |pairs: u32, again| MatchPart { pairs: NonZeroU32::new(pairs).unwrap(), again };
        let told = |then| {
            let of = MatchFormat { pairs: NonZeroU32::MIN, early: false, then };
            let chain = TiebreakChain::named("4k").unwrap();
            let field = super::super::field::tests::field("a-b 1, b-a 1");
            let standings = StageFormat::Of(Format::Match(of)).standings(&field, chain);
            standings.tie_goes_to(standings.rows[0].place).into_owned()
        };
        assert_eq!(told(Vec::new()), "the organisers decide");
        assert_eq!(
            told(vec![one(2, false), one(1, true)]),
            "they play 2 pairs more, then 1 pair at a time until it is decided"
        );
        assert_eq!(told(vec![one(2, false)]), "they play 2 pairs more, then the organisers decide");
    }

    #[test]
    fn the_winner_of_the_pool_has_black_first() {
        let stage = stage(pairs(1));
        let first = stage.due(2, &StageHistory::default())[0];
        assert_eq!((first.white.0, first.black.0), (0, 1));
    }

    #[test]
    fn who_is_disqualified_goes_nowhere() {
        let stage = stage(pairs(1));
        let mut games = vec![finished("c", "a", RoundGame { round: 9, game: 1 }, "1-0", "e2e4")];
        for round in 1..4 {
            let mut game = finished("a", "b", RoundGame { round, game: 1 }, "1-0", "e2e4");
            game.reason = Termination::Crash { exit: None };
            games.push(game);
        }
        let state = after(&games);
        let standings = stage.standings(&state.field(NonZeroU32::new(3)));
        let ranking = stage.ranking(&standings, &state);
        assert_eq!(ranking.concat(), ["c", "a", "b"]);
        assert_eq!(stage.promoted(&standings, &ranking), ["c", "a"]);
        let all = Stage { promote: 3, ..stage };
        assert_eq!(all.promoted(&standings, &ranking), ["c", "a"]);
    }
}
