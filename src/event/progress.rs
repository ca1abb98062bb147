//! The progress of an event: the schedule that its games follow, and the games that form pairs.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::num::NonZeroU32;

use super::field::{EngineIx, EventGame, Field};
use super::schedule::{BookPolicy, Seat, StageSchedule};
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;

/// An event that follows the [`StageSchedule`] of double round robins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventProgress {
    /// The draw: the engines by seat.
    pub(crate) seats: Vec<EngineIx>,
    /// Double round robins of which every game is finished, counted from the first.
    pub complete: u32,
    /// Finished games beyond these.
    pub further: usize,
    /// Places before the latest finished game where none is finished.
    pub(crate) missing: Vec<RoundGame>,
}

impl EventProgress {
    /// Recognises the schedule: the seats follow from the pairings of round 1, and then every game must
    /// be where the schedule has it. None for events in another order, or with more games passed over than
    /// played.
    pub(crate) fn of(field: &Field) -> Option<EventProgress> {
        let games = field.games();
        let engines = field.indices().count();
        let schedule = StageSchedule::new(engines, NonZeroU32::MIN, BookPolicy::None).ok()?;
        let seats = seats(field, schedule)?;

        // The numbers of finished games in the order of play; a schedule need not be laid out to know them.
        let mut finished = Vec::with_capacity(games.len());
        for game in games {
            let at = game.at?;
            let planned = schedule.at(at)?;
            if seats[planned.white.0] != game.white || seats[planned.black.0] != game.black {
                return None;
            }
            if game.result != GameResult::Unfinished {
                finished.push(schedule.number(at));
            }
        }
        finished.sort_unstable();
        if finished.windows(2).any(|two| two[0] == two[1]) {
            return None;
        }

        let per_double = schedule.games_per_double();
        let passed = finished.last().map_or(0, |last| last + 1) - finished.len() as u64;
        if passed > finished.len().max(per_double) as u64 {
            return None;
        }
        let unbroken = (0u64..).zip(&finished).take_while(|(due, number)| due == *number).count();
        let complete = unbroken / per_double;
        let mut missing = Vec::new();
        let mut due = 0;
        for number in &finished {
            missing.extend((due..*number).map(|number| schedule.place(number)));
            due = number + 1;
        }
        Some(EventProgress {
            seats,
            complete: u32::try_from(complete).unwrap_or(u32::MAX),
            further: finished.len() - complete * per_double,
            missing,
        })
    }
}

/// Returns the engines by seat, from round 1 of the Berger tables; an odd field's seat 0 has the bye then.
fn seats(field: &Field, schedule: StageSchedule) -> Option<Vec<EngineIx>> {
    let mut seats: Vec<Option<EngineIx>> = vec![None; schedule.seats()];
    let round_one = |game: &EventGame| game.at.filter(|at| at.round == 1);
    let first: HashMap<RoundGame, &EventGame> =
        field.games().iter().filter_map(|game| Some((round_one(game)?, game))).collect();
    for planned in schedule.double(0).take_while(|game| game.at.round == 1) {
        let game = first.get(&planned.at)?;
        seats[planned.white.0] = Some(game.white);
        seats[planned.black.0] = Some(game.black);
    }
    let idle = || field.indices().find(|engine| !seats.contains(&Some(*engine)));
    if schedule.seats() % 2 == 1 {
        seats[Seat(0).0] = idle();
    }
    let seats: Vec<EngineIx> = seats.into_iter().collect::<Option<_>>()?;
    let distinct: BTreeSet<EngineIx> = seats.iter().copied().collect();
    (distinct.len() == seats.len()).then_some(seats)
}

/// Two games between the same engines with colours swapped, as indices into the field's games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The earlier one.
    pub first: u32,
    /// Its reverse.
    pub second: u32,
}

/// The game pairs of an event, each of two finished games that count.
///
/// Where the event follows its schedule, a pair is the two games of a double round robin (n(n−1)/2 games
/// apart in a pool, adjacent in a match). Else each game is paired with the next one between the same
/// engines that has the colours swapped and is not yet taken. A game whose reverse has not been played is in no
/// pair.
pub fn pairs(field: &Field) -> Vec<Pair> {
    let double = EventProgress::of(field).map(|progress| {
        let engines = progress.seats.len();
        2 * super::schedule::rounds_per_cycle(engines)
    });
    // Games whose reverse is still to come; each leaves when it does.
    let mut open: HashMap<(EngineIx, EngineIx, u32), VecDeque<u32>> = HashMap::new();
    let mut pairs = Vec::new();
    for (number, game) in (0u32..).zip(field.games()) {
        if game.result == GameResult::Unfinished
            || field.is_annulled(game.white)
            || field.is_annulled(game.black)
        {
            continue;
        }
        let slot = match (double, game.at) {
            (Some(rounds), Some(at)) => (at.round - 1) / rounds,
            _ => 0,
        };
        let reverse = (game.black, game.white, slot);
        match open.get_mut(&reverse).and_then(VecDeque::pop_front) {
            Some(first) => {
                pairs.push(Pair { first, second: number });
                if open.get(&reverse).is_some_and(VecDeque::is_empty) {
                    open.remove(&reverse);
                }
            }
            None => {
                open.entry((game.white, game.black, slot)).or_default().push_back(number);
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::FieldBuilder;
    use crate::event::field::tests::field;
    use crate::model::game::listed::tests::listed;

    /// A pool of `n` engines in which the first `count` games are drawn.
    fn pool(n: usize, doubles: u32, count: usize) -> FieldBuilder {
        let schedule =
            StageSchedule::new(n, NonZeroU32::new(doubles).unwrap(), BookPolicy::None).unwrap();
        let mut builder = FieldBuilder::default();
        for pairing in schedule.pairings().take(count) {
            let name = |seat: Seat| format!("engine {}", 9 - seat.0);
            let mut game = listed(&name(pairing.white), &name(pairing.black), GameResult::Draw, "");
            game.round = Some(pairing.at);
            builder.add(&game, 0);
        }
        builder
    }

    #[test]
    fn a_pool_is_recognised_and_its_progress_told() {
        for n in 2..9 {
            let games = n * (n - 1);
            let field = pool(n, 3, games * 2 + 1).finish();
            let progress = EventProgress::of(&field).unwrap();
            assert_eq!((progress.complete, progress.further), (2, 1));
            assert_eq!(progress.missing, []);
            assert_eq!(field.engine(progress.seats[0]).name, "engine 9");
            assert_eq!(pairs(&field).len(), games);
        }
    }

    #[test]
    fn an_open_double_round_robin_has_only_the_pairs_that_are_complete() {
        // 4 engines: 6 games a cycle; the first cycle and 2 games of the second.
        let field = pool(4, 1, 8).finish();
        assert_eq!(pairs(&field), [Pair { first: 0, second: 6 }, Pair { first: 1, second: 7 }]);
        assert_eq!(pairs(&pool(4, 1, 6).finish()), []);
    }

    #[test]
    fn a_game_without_result_does_not_shift_the_pairs_behind_it() {
        let three = NonZeroU32::new(3).unwrap();
        let schedule = StageSchedule::new(2, three, BookPolicy::EachDouble).unwrap();
        let mut builder = FieldBuilder::default();
        for (number, pairing) in schedule.pairings().enumerate() {
            let result = if number == 1 { GameResult::Unfinished } else { GameResult::Draw };
            let names = ["a", "b"];
            let mut game = listed(names[pairing.white.0], names[pairing.black.0], result, "");
            game.round = Some(pairing.at);
            builder.add(&game, 0);
        }
        let field = builder.finish();
        let progress = EventProgress::of(&field).unwrap();
        assert_eq!((progress.complete, progress.further), (0, 5));
        assert_eq!(progress.missing, [RoundGame { round: 2, game: 1 }]);
        let pairs: Vec<_> = pairs(&field).iter().map(|p| (p.first, p.second)).collect();
        assert_eq!(pairs, [(2, 3), (4, 5)]);
    }

    #[test]
    fn games_in_another_order_are_paired_in_sequence() {
        let field = field("a-b 1, a-c 1, b-a 0, a-b 1, c-b =, c-a 0, b-c 1");
        assert_eq!(EventProgress::of(&field), None);
        let pairs: Vec<_> = pairs(&field).iter().map(|p| (p.first, p.second)).collect();
        assert_eq!(pairs, [(0, 2), (1, 5), (4, 6)]);
    }

    /// As in the semifinals of a real cup, whose tags begin anew with each part of a match.
    #[test]
    fn repeated_round_tags_mispair_no_reverses() {
        let mut builder = FieldBuilder::default();
        for (white, black, round) in
            [("a", "b", "1.1"), ("b", "a", "2.1"), ("b", "a", "1.1"), ("a", "b", "2.1")]
        {
            let mut game = listed(white, black, GameResult::Draw, "");
            game.round = round.parse().ok();
            builder.add(&game, 0);
        }
        let pairs: Vec<_> = pairs(&builder.finish()).iter().map(|p| (p.first, p.second)).collect();
        assert_eq!(pairs, [(0, 1), (2, 3)]);
    }

    #[test]
    fn rounds_that_no_schedule_has_are_no_trouble() {
        // The first game of a double round robin that nobody ever reaches, and none that there is.
        for round in ["3999999997.1", "4000000000.1", "13.3"] {
            let mut builder = pool(4, 1, 12);
            let mut game = listed("engine 9", "engine 6", GameResult::Draw, "");
            game.round = round.parse().ok();
            builder.add(&game, 0);
            assert_eq!(EventProgress::of(&builder.finish()), None);
        }
    }
}
