//! The pairings of a Swiss by round, with the points that both had before it, and the byes.

use super::timetable::Slot;
use super::{Broadcast, GameKey};
use crate::event::config::EventConfig;
use crate::event::format::{Format, StageHistory, points_with_byes};
use crate::event::ledger::StageState;
use crate::event::schedule::Seat;
use crate::event::stage::StageFormat;
use crate::model::game::points::HalfPoints;

/// A round that is paired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// Its number, from 1.
    pub(crate) number: u32,
    /// Its pairings, those with the most points first.
    pub(crate) pairings: Vec<Pairing>,
    /// The engine that does not play in it, and the points that it has for that.
    pub(crate) bye: Option<(String, HalfPoints)>,
}

/// Two engines that meet in a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Both; the first has White in the first game.
    pub(crate) engines: [String; 2],
    /// Their points before the round.
    pub(crate) before: [HalfPoints; 2],
    /// Their points against each other in it, as far as it is played.
    pub(crate) points: [HalfPoints; 2],
    /// Their games.
    pub(crate) games: Vec<GameKey>,
}

/// The rounds of a Swiss, and how many it will have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// The rounds that are paired.
    pub(crate) paired: Vec<Round>,
    /// The number of all rounds.
    pub(crate) planned: u32,
}

/// The rounds of a stage that has begun, by its timetable; none where it is no Swiss.
pub(crate) fn rounds(
    config: &EventConfig,
    broadcast: &Broadcast,
    stage: usize,
    slots: &[Slot],
) -> Option<Rounds> {
    let of = config.stages.get(stage)?;
    let StageFormat::Of(format) = &of.format else { return None };
    let planned = match format {
        Format::Swiss(swiss) => swiss.rounds,
        Format::Dutch(dutch) => dutch.rounds,
        _ => return None,
    };
    let state = broadcast.ledger.stages.get(stage)?;
    let (past, each) = (of.past_of(state), format.games_each());
    let paired = slots
        .chunk_by(|a, b| a.key.at.round == b.key.at.round)
        .map(|slots| round(state, &past, each, slots))
        .collect();
    Some(Rounds { paired, planned: planned.get() })
}

fn round(state: &StageState, past: &StageHistory, each: usize, slots: &[Slot]) -> Round {
    let number = slots.first().map_or(0, |slot| slot.key.at.round);
    let seats = &state.started.seats;
    let for_bye = HalfPoints(u32::try_from(2 * each).unwrap_or(u32::MAX));
    let earlier = past.before(number);
    let before = |seat: Seat| points_with_byes(&earlier, seat, for_bye);
    // The games of a pairing follow each other.
    let pairing_of = |slot: &Slot| slot.key.at.game.saturating_sub(1) as usize / each.max(1);
    let pairings = slots.chunk_by(|a, b| pairing_of(a) == pairing_of(b));
    let mut pairings: Vec<Pairing> = pairings
        .filter_map(|games| {
            let first = games.first()?;
            let engines = match pairing_of(first) * each + 1 == first.key.at.game as usize {
                true => [first.white.clone(), first.black.clone()],
                // The first game is not due: one of the two is out.
                false => [first.black.clone(), first.white.clone()],
            };
            let both = engines
                .each_ref()
                .map(|name| Seat(seats.iter().position(|seat| seat == name).unwrap_or(usize::MAX)));
            let games: Vec<GameKey> = games.iter().map(|slot| slot.key).collect();
            let played = |seat: Seat| {
                let played = games.iter().filter_map(|key| past.games.get(&key.at));
                played.map(|game| game.points(seat)).sum()
            };
            let (before, points) = (both.map(before), both.map(played));
            Some(Pairing { engines, before, points, games })
        })
        .collect();
    pairings.sort_by_key(|one| {
        let [a, b] = one.before;
        std::cmp::Reverse((a.max(b), a + b))
    });
    let bye = past.byes.iter().find(|(_, of)| *of == number);
    let bye = bye.and_then(|(seat, _)| Some((seats.get(seat.0)?.clone(), for_bye)));
    Round { number, pairings, bye }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::broadcast::GameState;
    use crate::event::journal::record::{Bye, JournalRecord, StageStarted};
    use crate::event::journal_games::tests::{finished, started};
    use crate::model::game::listed::RoundGame;

    #[test]
    fn a_round_tells_points_games_and_the_bye() {
        let mut broadcast = Broadcast::default();
        let seats = ["a", "b", "c"].map(str::to_owned).to_vec();
        let stage = StageStarted { name: "S".into(), seats, ..StageStarted::default() };
        broadcast.apply(JournalRecord::StageStarted(stage)).unwrap();
        let bye = |engine: &str, round| {
            JournalRecord::Bye(Bye { stage: 0, round, engine: engine.into(), wins: 2 })
        };
        broadcast.apply(bye("c", 1)).unwrap();
        let slot = |white: &str, black: &str, round, game| Slot {
            key: GameKey { stage: 0, at: RoundGame { round, game } },
            white: white.into(),
            black: black.into(),
            state: GameState::Begun,
        };
        let mut play = |white: &str, black: &str, round, game, result: &str| {
            let played = finished(white, black, RoundGame { round, game }, result, "e2e4 e7e5");
            broadcast.apply(JournalRecord::GameStarted(started(&played))).unwrap();
            broadcast.apply(JournalRecord::GameFinished(played)).unwrap();
            slot(white, black, round, game)
        };
        let first = [play("a", "b", 1, 1, "1/2-1/2"), play("b", "a", 1, 2, "0-1")];
        let second = [play("c", "a", 2, 1, "1-0"), slot("a", "c", 2, 2)];
        broadcast.apply(bye("b", 2)).unwrap();
        let state = &broadcast.ledger.stages[0];
        let [first, second] = [first, second].map(|slots| round(state, state.past(), 2, &slots));
        assert_eq!(first.bye, Some(("c".to_owned(), HalfPoints(4))));
        assert_eq!(first.pairings[0].points, [HalfPoints(3), HalfPoints(1)]);
        assert_eq!(first.pairings[0].before, [HalfPoints::ZERO; 2]);
        let pairing = &second.pairings[0];
        assert_eq!(pairing.engines, ["c", "a"]);
        assert_eq!(pairing.before, [HalfPoints(4), HalfPoints(3)]);
        assert_eq!(pairing.points, [HalfPoints::ONE, HalfPoints::ZERO]);
        assert_eq!(pairing.games.len(), 2);
    }
}
