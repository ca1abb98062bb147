//! The progress of an event: the schedule that its games follow, and the games that form pairs.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::num::NonZeroU32;

use super::field::{EngineIx, EventGame, Field};
use super::format::PairAt;
use super::schedule::{BookPolicy, Seat, StageSchedule};
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;

/// An event that follows the [`StageSchedule`] of double round robins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventProgress {
    /// The draw: the engines by seat.
    pub(crate) seats: Vec<EngineIx>,
    /// Double round robins of which every game is finished or not to be played any more, counted from the first.
    pub complete: u32,
    /// Finished games beyond these.
    pub further: usize,
    /// Places before the latest finished game where none is finished, though one is due.
    pub(crate) missing: Vec<RoundGame>,
}

impl EventProgress {
    /// Recognises the schedule: the seats follow from the pairings of round 1, and then every game must
    /// be where the schedule has it. None for events in another order, or with more games passed over than
    /// played.
    pub(crate) fn of(field: &Field) -> Option<EventProgress> {
        let schedule = schedule(field)?;
        EventProgress::seated(field, schedule, seats(field, schedule)?, &BTreeSet::new())
    }

    /// The same for a stage of these seats, in which no game is due any more at the places that were struck out.
    pub(crate) fn of_stage(
        field: &Field,
        names: &[String],
        struck: &BTreeSet<RoundGame>,
    ) -> Option<EventProgress> {
        let schedule = schedule(field)?;
        let seated = |seats| EventProgress::seated(field, schedule, seats, struck);
        // A game of round 1 that was struck out may tell no seats.
        let own = || {
            let own: Option<Vec<EngineIx>> = names.iter().map(|name| field.find(name)).collect();
            own.filter(|own| own.len() == schedule.seats() && !struck.is_empty())
        };
        seats(field, schedule).and_then(seated).or_else(|| own().and_then(seated))
    }

    /// The progress of an event with these seats. No game is due at a place that was struck out, nor one of an engine that plays no more.
    fn seated(
        field: &Field,
        schedule: StageSchedule,
        seats: Vec<EngineIx>,
        struck: &BTreeSet<RoundGame>,
    ) -> Option<EventProgress> {
        let games = field.games();
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

        let is_scheduled = |at: &&RoundGame| schedule.at(**at).is_some();
        let struck: BTreeSet<u64> =
            struck.iter().filter(is_scheduled).map(|at| schedule.number(*at)).collect();
        let plays = |engine: EngineIx| field.removal(engine).is_none();
        // Of one engine alone nothing would be due ever.
        let is_going_on = seats.iter().filter(|engine| plays(**engine)).count() > 1;
        let is_due = |number: &u64| {
            let left = || {
                let planned = schedule.at(schedule.place(*number));
                let both = planned.map(|game| [game.white, game.black]);
                is_going_on && both.is_some_and(|both| both.iter().any(|one| !plays(seats[one.0])))
            };
            finished.binary_search(number).is_err() && !struck.contains(number) && !left()
        };

        let per_double = schedule.games_per_double();
        let most = finished.len().max(per_double);
        let before_last = 0..finished.last().map_or(0, |last| last + 1);
        let missing: Vec<RoundGame> = before_last
            .filter(is_due)
            .take(most + 1)
            .map(|number| schedule.place(number))
            .collect();
        if missing.len() > most {
            return None;
        }
        let doubles = |number: u64| number / per_double as u64;
        let last = finished.last().max(struck.last());
        let end = last.map_or(0, |last| (doubles(*last) + 1) * per_double as u64);
        let complete = doubles((0..end).find(is_due).unwrap_or(end));
        let further = finished.iter().filter(|number| doubles(**number) >= complete).count();
        Some(EventProgress {
            seats,
            complete: u32::try_from(complete).unwrap_or(u32::MAX),
            further,
            missing,
        })
    }
}

/// The schedule of a field's engines, as many double round robins as were played.
fn schedule(field: &Field) -> Option<StageSchedule> {
    StageSchedule::new(field.indices().count(), NonZeroU32::MIN, BookPolicy::None).ok()
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
/// The stage that the games are of has told the pair of each. Of games that come from a bare PGN it is recognised:
/// where the event follows its schedule, a pair is the two games of a double round robin (n(n−1)/2 games
/// apart in a pool, adjacent in a match). Else each game is paired with the next one between the same
/// engines that has the colours swapped and is not yet taken. A game whose reverse has not been played is in no
/// pair.
pub fn pairs(field: &Field) -> Vec<Pair> {
    let told = field.told_pairs();
    let recognised = || {
        let engines = EventProgress::of(field)?.seats.len();
        Some(2 * super::schedule::rounds_per_cycle(engines))
    };
    let double = if told.is_none() { recognised() } else { None };
    // Games whose reverse is still to come; each leaves when it does.
    let mut open: HashMap<(EngineIx, EngineIx, PairAt), VecDeque<u32>> = HashMap::new();
    let mut pairs = Vec::new();
    for (number, game) in (0u32..).zip(field.games()) {
        if game.result == GameResult::Unfinished
            || field.is_annulled(game.white)
            || field.is_annulled(game.black)
        {
            continue;
        }
        let slot = match (told, double, game.at) {
            (Some(told), ..) => told.get(number as usize).copied().flatten(),
            (None, Some(rounds), Some(at)) => Some(PairAt::of_double((at.round - 1) / rounds)),
            _ => Some(PairAt::of_double(0)),
        };
        let Some(slot) = slot else { continue };
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
    fn the_games_of_an_engine_that_is_out_are_not_waited_for() {
        // The games of "engine 7" end with the first round.
        let all = pool(4, 2, 24).finish();
        let seven = |game: &EventGame| {
            [game.white, game.black].iter().any(|one| all.engine(*one).name == "engine 7")
        };
        let mut builder = pool(4, 2, 24);
        for game in all.games().iter().filter(|game| seven(game)) {
            let at = game.at.unwrap();
            if at.round > 1 {
                builder.remove(at);
            }
        }
        let mut field = builder.finish();
        let told = |field: &Field| {
            let progress = EventProgress::of(field).unwrap();
            (progress.complete, progress.further, progress.missing.len())
        };
        // Its last game would be the last one of all, so that one fewer than its games is passed over.
        let played = field.games().len();
        assert_eq!((played, told(&field)), (13, (0, 13, 10)));
        field.withdraw("engine 7", crate::event::field::WithdrawnGames::Annulled);
        assert_eq!(told(&field), (2, 0, 0));
    }

    #[test]
    fn a_game_that_was_struck_out_is_not_waited_for() {
        let names: Vec<String> = (0..4).map(|seat| format!("engine {}", 9 - seat)).collect();
        for (round, game) in [(1, 1), (3, 2), (12, 2)] {
            let at = RoundGame { round, game };
            for is_known in [true, false] {
                let mut builder = pool(4, 2, 24);
                // A game that was under way has no record beside the place.
                if is_known {
                    builder.annul(at)
                } else {
                    builder.remove(at)
                }
                let field = builder.finish();
                let progress =
                    EventProgress::of_stage(&field, &names, &BTreeSet::from([at])).unwrap();
                let told = (progress.complete, progress.further, progress.missing);
                assert_eq!(told, (2, 0, vec![]), "{at} {is_known}");
            }
        }
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
