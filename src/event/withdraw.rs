//! A withdrawal: what becomes of an engine's games where it leaves an event before its end, by the format of the stage.
//!
//! The rules know disqualification alone (season 17, rule 15.c). A withdrawal in a round robin is treated as one; where
//! pairings followed from results the games that were played count, and nobody waits for those that were not.

use super::config::EventConfig;
use super::draw::{self, Drawn};
use super::field::WithdrawnGames;
use super::format::knockout::{Encounter, Knockout, winner};
use super::format::{Format, Next, StageHistory};
use super::journal::record::{Walkover, Withdrawn};
use super::ledger::{Ledger, StageState};
use super::schedule::Seat;
use super::stage::{Stage, StageFormat};

/// Returns the withdrawal of an engine as it follows from an event so far, without a reason and a time.
///
/// # Errors
/// Says why it cannot be withdrawn now.
pub fn withdrawal(
    config: &EventConfig,
    ledger: &Ledger,
    engine: &str,
) -> Result<Withdrawn, String> {
    if config.entry(engine).is_none() {
        let there: Vec<&str> = config.names().collect();
        return Err(format!("no engine is called {engine:?}; there are {}", there.join(", ")));
    }
    if ledger.is_over() {
        return Err(format!("the event is over, and {engine} has nothing to withdraw from"));
    }
    if let Some(before) = ledger.withdrawal(engine) {
        return Err(format!("{engine} is withdrawn already: {}", before.reason));
    }
    let plays = |name: &&str| *name != engine && ledger.withdrawal(name).is_none();
    if config.names().filter(plays).count() < 2 {
        return Err(format!("without {engine} fewer than two engines would be left in the event"));
    }
    let begun = ledger.stages.len();
    let Some(last) = ledger.stages.last() else {
        return Err(format!(
            "no stage has begun: take {engine} out of the event's file, and begin with another journal"
        ));
    };
    let mut withdrawn = Withdrawn {
        engine: engine.to_owned(),
        stage: begun,
        round: 1,
        played: WithdrawnGames::Counts,
        broken_off: Vec::new(),
        walkovers: Vec::new(),
        reason: String::new(),
        at: String::new(),
    };
    let seat = last.started.seats.iter().position(|seat| seat == engine);
    match (seat.filter(|_| last.outcome.is_none()), config.stages.get(begun - 1)) {
        (Some(seat), Some(stage)) => {
            withdrawn.stage = begun - 1;
            Leaving { stage, state: last, ledger, seat: Seat(seat) }.leave(&mut withdrawn)?;
        }
        _ if begun >= config.stages.len() => {
            return Err(format!("{engine} plays in no stage that is not over"));
        }
        _ => {}
    }
    Ok(withdrawn)
}

/// The reason why an engine has nothing left to leave: it has lost in a bracket, and nothing goes on from there. None
/// where it may still play.
pub(crate) fn knocked_out(config: &EventConfig, ledger: &Ledger, engine: &str) -> Option<String> {
    let number = ledger.stages.len().checked_sub(1)?;
    let (stage, state) = (config.stages.get(number)?, ledger.stages.get(number)?);
    let StageFormat::Of(Format::Knockout(of)) = &stage.format else { return None };
    let takes = |stage: &Stage| stage.engines.iter().any(|name| name == engine);
    let goes_on = stage.taken.iter().flat_map(|taken| &taken.places).any(|place| *place > 1);
    let is_over = state.outcome.is_some() || stage.is_played(state);
    if is_over || goes_on || config.stages[number + 1..].iter().any(takes) {
        return None;
    }
    let seats = &state.started.seats;
    let seat = Seat(seats.iter().position(|seat| seat == engine)?);
    let past = stage.past_of(state);
    (!is_in(of, seats.len(), &past, seat))
        .then(|| format!("{engine} is out of {}: it has lost its last match", stage.name))
}

/// The reason why an engine that plays in no stage which is open has nothing left to leave: no stage to come seats it. None
/// where it may still play. `verify` does not ask this: gate4k 0.2 took such a withdrawal, too.
pub(crate) fn plays_no_more(config: &EventConfig, ledger: &Ledger, engine: &str) -> Option<String> {
    let (begun, last) = (ledger.stages.len(), ledger.stages.last()?);
    let started = &last.started;
    let mut here = started.seats.iter().chain(&started.through);
    if last.outcome.is_none() && here.any(|name| name == engine) {
        return None;
    }
    let comes_to = |number| {
        let Drawn { seats, through, .. } = draw::drawn(config, ledger, number);
        seats.iter().chain(&through).any(|name| name == engine)
    };
    (!(begun..config.stages.len()).any(comes_to)).then(|| {
        format!("{engine} has nothing to withdraw from: no stage to come has a seat for it")
    })
}

/// True if a seat of a bracket has a match to play, now or behind others.
fn is_in(of: &Knockout, seats: usize, past: &StageHistory, seat: Seat) -> bool {
    let plays = |one: &Encounter| one.white == seat || one.black == seat;
    // As if it won each match that is not decided.
    let won = |one: &Encounter| {
        let first = if one.black == seat { one.black } else { one.white };
        winner(past, one).or(Some(first))
    };
    let all = of.bracket(seats, won).encounters;
    all.iter().any(|one| plays(one) && winner(past, one).is_none())
}

/// An engine that leaves a stage.
struct Leaving<'a> {
    stage: &'a Stage,
    state: &'a StageState,
    ledger: &'a Ledger,
    seat: Seat,
}

impl Leaving<'_> {
    fn leave(&self, withdrawn: &mut Withdrawn) -> Result<(), String> {
        let Leaving { stage, state, ledger, seat } = *self;
        let (engine, name) = (&withdrawn.engine, &stage.name);
        let out = state.disqualified(stage.crash_limit);
        if out.contains(engine) {
            return Err(format!("{engine} is disqualified and plays no more in {name}"));
        }
        let mut past = state.past_without(&out);
        let seats = state.started.seats.len();
        let next = stage.next(seats, &past);
        let (played, is_bracket) = match &stage.format {
            StageFormat::DoubleRoundRobins(_) | StageFormat::Of(Format::RoundRobin(_)) => {
                (WithdrawnGames::Annulled, false)
            }
            StageFormat::Of(Format::Swiss(_) | Format::Dutch(_)) => (WithdrawnGames::Counts, false),
            StageFormat::Pairs(_) | StageFormat::Of(Format::Match(_) | Format::Knockout(_)) => {
                (WithdrawnGames::Counts, true)
            }
            StageFormat::Of(Format::Playoff(_)) => {
                return Err(format!(
                    "{name} is a playoff, in which nobody is withdrawn: who is left in it follows from all games of each \
                     go. It ends soon; `gate4k event forfeit` scores a game of an engine that does not start"
                ));
            }
        };
        withdrawn.played = played;
        let open = ledger.open.values().map(|game| &game.started);
        let own = open.filter(|game| game.plays(engine));
        withdrawn.broken_off = own.map(|game| game.id.clone()).collect();
        let begun = self.begun(&past);
        withdrawn.round = begun + 1;
        past.out.push((seat, begun + 1));
        if is_bracket {
            // Both sides of the final would be gone.
            let champion = match &stage.format {
                StageFormat::Of(Format::Knockout(of)) => of.champion(seats, &past),
                _ => None,
            };
            let nobody = champion.is_some_and(|seat| past.left(seat).is_some());
            if nobody || matches!(next, Next::Over(_)) {
                return Err(format!(
                    "{name} is decided, and without {engine} nobody would have won it; `gate4k event run` ends it"
                ));
            }
            return Ok(());
        }
        if (0..seats).filter(|seat| past.left(Seat(*seat)).is_none()).count() < 2 {
            return Err(format!("without {engine} fewer than two engines would be left in {name}"));
        }
        if let (WithdrawnGames::Counts, Next::Play(due)) = (played, next) {
            let seats = &state.started.seats;
            let seated = |seat: Seat| seats.get(seat.0).cloned().unwrap_or_default();
            let own = due.into_iter().filter(|due| due.white == seat || due.black == seat);
            let left = own.filter(|due| due.at.round == begun);
            withdrawn.walkovers = left
                .map(|due| Walkover {
                    round: due.at.round,
                    game: due.at.game,
                    white: seated(due.white),
                    black: seated(due.black),
                })
                .collect();
        }
        Ok(())
    }

    /// The last round that has begun, 0 before the first. A bye of the engine itself begins none: without it nobody may
    /// have one.
    fn begun(&self, past: &StageHistory) -> u32 {
        let byes = past.byes.iter().filter(|(seat, _)| *seat != self.seat);
        let open = self.ledger.open.values().map(|game| game.started.round);
        let rounds = past.games.keys().map(|at| at.round).chain(byes.map(|(_, round)| *round));
        rounds.chain(open).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;
    use crate::event::format::bracket_draw::BracketDraw;
    use crate::event::format::dutch::Dutch;
    use crate::event::format::knockout::WhiteFirst;
    use crate::event::format::match_::MatchFormat;
    use crate::event::format::playoff::Playoff;
    use crate::event::format::round_robin::{PairOrder, RoundRobin};
    use crate::event::format::swiss::Swiss;
    use crate::event::format::{Due, PlayedPairing};
    use crate::event::journal::record::{Bye, JournalRecord, StageStarted};
    use crate::event::journal_games::tests::{finished, started};
    use crate::event::stage::tests::stage;
    use crate::model::game::listed::RoundGame;
    use crate::model::game::points::HalfPoints;
    use crate::model::game::result::GameResult;
    use shakmaty::Color;

    fn number(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    /// A stage as it is played by lot, at most three games at a time.
    struct Table {
        stage: Stage,
        ledger: Ledger,
        lots: u64,
        /// Both engines of each game that has begun.
        begun: BTreeMap<RoundGame, [String; 2]>,
    }

    impl Table {
        fn of(format: StageFormat, engines: usize, lots: u64) -> Table {
            let seats = (1..=engines).map(|number| format!("e{number}")).collect();
            let (name, mut ledger) = ("S".to_owned(), Ledger::default());
            let begins = StageStarted { name, seats, ..StageStarted::default() };
            ledger.apply(JournalRecord::StageStarted(begins)).unwrap();
            Table { stage: stage(format), ledger, lots, begun: BTreeMap::new() }
        }

        fn below(&mut self, end: usize) -> usize {
            self.lots = self.lots.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(self.lots >> 33).unwrap() % end
        }

        fn state(&self) -> &StageState {
            &self.ledger.stages[0]
        }

        fn next(&self) -> Next {
            self.stage.next(self.state().started.seats.len(), self.state().past())
        }

        fn names(&self, due: &Due) -> [String; 2] {
            [due.white, due.black].map(|seat| self.state().started.seats[seat.0].clone())
        }

        /// Gives a bye, begins a game or ends one; false where all is over.
        fn step(&mut self) -> bool {
            let due = match self.next() {
                Next::Over(_) => return false,
                Next::Bye(seat, round) => {
                    let StageFormat::Of(format) = &self.stage.format else { panic!("no bye") };
                    let wins = u32::try_from(format.games_each()).unwrap();
                    let engine = self.state().started.seats[seat.0].clone();
                    assert!(!self.state().has_withdrawn(&engine));
                    let bye = Bye { stage: 0, round, engine, wins };
                    self.ledger.apply(JournalRecord::Bye(bye)).unwrap();
                    return true;
                }
                Next::Play(due) => due,
            };
            for game in &due {
                let names = self.names(game);
                assert!(names.iter().all(|name| !self.state().has_withdrawn(name)), "{names:?}");
            }
            // Games under way are due as they were begun.
            let open: Vec<RoundGame> =
                self.ledger.open.values().map(|game| game.started.place()).collect();
            for at in &open {
                let still = due.iter().find(|due| due.at == *at).map(|due| self.names(due));
                assert_eq!(still.as_ref(), self.begun.get(at));
            }
            let idle: Vec<&Due> = due.iter().filter(|due| !open.contains(&due.at)).collect();
            if !idle.is_empty() && open.len() < 3 {
                let game = idle[self.below(idle.len())];
                let [white, black] = self.names(game);
                let game = finished(&white, &black, game.at, "*", "e2e4");
                self.begun.insert(game.place(), [white, black]);
                self.ledger.apply(JournalRecord::GameStarted(started(&game))).unwrap();
                return true;
            }
            let at = open[self.below(open.len())];
            let [white, black] = self.begun[&at].clone();
            let result = ["1-0", "0-1", "1/2-1/2"][self.below(3)];
            let game = finished(&white, &black, at, result, "e2e4");
            self.ledger.apply(JournalRecord::GameFinished(game)).unwrap();
            true
        }

        fn withdraw(&mut self, engine: &str) -> Result<Withdrawn, String> {
            let mut withdrawn = Withdrawn {
                engine: engine.to_owned(),
                stage: 0,
                round: 1,
                played: WithdrawnGames::Counts,
                broken_off: Vec::new(),
                walkovers: Vec::new(),
                reason: "a test".into(),
                at: String::new(),
            };
            let seat = self.state().started.seats.iter().position(|seat| seat == engine);
            let leaving = Leaving {
                stage: &self.stage,
                state: self.state(),
                ledger: &self.ledger,
                seat: Seat(seat.unwrap()),
            };
            leaving.leave(&mut withdrawn)?;
            self.ledger.apply(JournalRecord::Withdrawn(withdrawn.clone())).unwrap();
            Ok(withdrawn)
        }

        fn finish(&mut self) {
            while self.step() {}
        }

        /// The engines in their order, and those of them that go on.
        fn places(&self, promote: usize) -> [Vec<String>; 2] {
            let stage = Stage { promote, ..self.stage.clone() };
            let standings = stage.standings(&self.state().field(None));
            let ranking = stage.ranking(&standings, self.state());
            [ranking.concat(), stage.promoted(&standings, &ranking)]
        }

        fn points(&self, name: &str) -> HalfPoints {
            let field = self.state().field(None);
            field.find(name).map(|one| field.points(one)).unwrap_or_default()
        }
    }

    fn formats() -> Vec<(StageFormat, usize)> {
        let knockout = |bronze| {
            StageFormat::Of(Format::Knockout(Knockout {
                draw: BracketDraw::EqualDistance,
                pairs: vec![number(1), number(2)],
                bronze,
                early: true,
                white_first: WhiteFirst::Lower,
            }))
        };
        let swiss = |games| {
            StageFormat::Of(Format::Swiss(Swiss {
                rounds: number(5),
                games: number(games),
                sections: number(2),
            }))
        };
        let round_robin = RoundRobin::of_doubles(number(2), PairOrder::Rotation);
        vec![
            (StageFormat::DoubleRoundRobins(number(2)), 5),
            (StageFormat::Of(Format::RoundRobin(round_robin)), 6),
            (swiss(2), 8),
            (swiss(1), 9),
            (StageFormat::Of(Format::Dutch(Dutch { rounds: number(4) })), 9),
            (knockout(None), 6),
            (knockout(Some(number(1))), 8),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Three engines leave at any moments: the others are paired on to the end, nothing that was played or paired
        /// changes, and nobody who left goes on.
        #[test]
        fn the_others_play_on_to_the_end(lots: u64, at in 0..7usize) {
            let (format, engines) = formats().swap_remove(at);
            let mut table = Table::of(format, engines, lots);
            let mut gone = 0;
            let mut until = table.below(30);
            while gone < 3 {
                if until > 0 && table.step() {
                    until -= 1;
                    continue;
                }
                let engine = format!("e{}", table.below(engines) + 1);
                let before = table.state().past().games.clone();
                if !table.state().has_withdrawn(&engine) {
                    // A bracket that is decided refuses it.
                    let _ = table.withdraw(&engine);
                }
                let now = &table.state().past().games;
                prop_assert!(before.iter().all(|(at, game)| now.get(at) == Some(game)));
                gone += 1;
                until = table.below(12);
            }
            table.finish();
            prop_assert!(table.ledger.open.is_empty());
            let state = table.state();
            let seats = &state.started.seats;
            let stays = |name: &&String| !state.has_withdrawn(name);
            let [order, promoted] = table.places(engines);
            prop_assert!(promoted.iter().all(|name| stays(&name)));
            prop_assert_eq!(promoted.len(), seats.iter().filter(stays).count());
            prop_assert_eq!(&order[0], &promoted[0]);
            let (past, all) = (state.past(), seats.iter().filter(stays).count());
            for name in seats.iter().filter(stays) {
                let seat = Seat(seats.iter().position(|one| one == name).unwrap());
                let of = |round: Option<u32>| {
                    let games = past.games.values().filter(|game| game.color(seat).is_some());
                    games.filter(|game| round.is_none_or(|round| game.at.round == round)).count()
                };
                match &table.stage.format {
                    StageFormat::Of(Format::Swiss(swiss)) => {
                        prop_assert_eq!(table.points(name), swiss.points(past, seat));
                        for round in 1..=swiss.rounds.get() {
                            let byes = usize::from(past.byes.contains(&(seat, round)));
                            let each = swiss.games.get() as usize;
                            prop_assert_eq!(of(Some(round)) + each * byes, each);
                        }
                    }
                    StageFormat::Of(Format::Dutch(dutch)) => {
                        for round in 1..=dutch.rounds.get() {
                            let byes = usize::from(past.byes.contains(&(seat, round)));
                            prop_assert_eq!(of(Some(round)) + byes, 1);
                        }
                    }
                    StageFormat::DoubleRoundRobins(_) | StageFormat::Of(Format::RoundRobin(_)) => {
                        let field = state.field(None);
                        let own = field.find(name).unwrap();
                        prop_assert_eq!(field.of(own).count(), 4 * (all - 1));
                    }
                    _ => {}
                }
            }
        }
    }

    fn play(table: &mut Table, steps: usize) {
        (0..steps).for_each(|_| assert!(table.step()));
    }

    #[test]
    fn games_of_a_round_robin_count_for_nobody() {
        let mut table = Table::of(StageFormat::DoubleRoundRobins(number(1)), 4, 1);
        play(&mut table, 9);
        let withdrawn = table.withdraw("e2").unwrap();
        assert_eq!(withdrawn.played, WithdrawnGames::Annulled);
        assert!(withdrawn.in_words().contains("e2 is withdrawn: a test; its games"));
        assert_eq!(table.points("e2"), HalfPoints::ZERO);
        let error = table.ledger.apply(JournalRecord::Withdrawn(withdrawn)).unwrap_err();
        assert!(error.contains("withdrawn twice"), "{error}");
        table.withdraw("e1").unwrap();
        let error = table.withdraw("e3").unwrap_err();
        assert!(error.contains("fewer than two engines would be left in S"), "{error}");
        table.finish();
        assert_eq!(table.places(3)[1].len(), 2);
    }

    #[test]
    fn the_open_round_of_a_swiss_gives_its_opponent_what_is_not_played() {
        let swiss = Swiss { rounds: number(3), games: number(2), sections: number(1) };
        let mut table = Table::of(StageFormat::Of(Format::Swiss(swiss)), 4, 1);
        let Next::Play(due) = table.next() else { panic!("round 1 is due") };
        let [white, black] = table.names(&due[0]);
        let game = finished(&white, &black, due[0].at, "1-0", "e2e4");
        table.ledger.apply(JournalRecord::GameStarted(started(&game))).unwrap();
        table.ledger.apply(JournalRecord::GameFinished(game)).unwrap();
        let second = finished(&black, &white, due[1].at, "*", "e2e4");
        table.ledger.apply(JournalRecord::GameStarted(started(&second))).unwrap();
        let withdrawn = table.withdraw(&white).unwrap();
        assert_eq!((withdrawn.round, withdrawn.played), (2, WithdrawnGames::Counts));
        assert_eq!(withdrawn.broken_off, [second.id]);
        let bye = withdrawn.walkover().unwrap();
        assert_eq!((bye.engine, bye.round, bye.wins), (black.clone(), 1, 1));
        // The game that was played counts for both.
        assert_eq!(
            (table.points(&white), table.points(&black)),
            (HalfPoints::ONE, HalfPoints::ONE)
        );
    }

    #[test]
    fn a_match_goes_to_the_opponent_unless_its_results_have_decided_it() {
        let two = MatchFormat::until_decisive(number(1), false);
        for format in [StageFormat::Pairs(number(1)), StageFormat::Of(Format::Match(two))] {
            let mut table = Table::of(format, 2, 1);
            let end = |table: &mut Table, round, white: &str, black: &str| {
                let game = finished(white, black, RoundGame { round, game: 1 }, "1-0", "e2e4");
                table.ledger.apply(JournalRecord::GameStarted(started(&game))).unwrap();
                table.ledger.apply(JournalRecord::GameFinished(game)).unwrap();
            };
            end(&mut table, 1, "e1", "e2");
            let mut early = Table {
                ledger: table.ledger.clone(),
                ..Table::of(table.stage.format.clone(), 2, 1)
            };
            early.withdraw("e1").unwrap();
            assert!(matches!(early.next(), Next::Over(_)));
            assert_eq!(early.places(1)[1], ["e2"]);
            let game = finished("e2", "e1", RoundGame { round: 2, game: 1 }, "1/2-1/2", "e2e4");
            table.ledger.apply(JournalRecord::GameStarted(started(&game))).unwrap();
            table.ledger.apply(JournalRecord::GameFinished(game)).unwrap();
            let error = table.withdraw("e1").unwrap_err();
            assert!(error.contains("S is decided"), "{error}");
        }
    }

    #[test]
    fn nobody_is_withdrawn_from_a_playoff() {
        let playoff = Playoff { doubles: number(1), spots: number(1) };
        let mut table = Table::of(StageFormat::Of(Format::Playoff(playoff)), 3, 1);
        play(&mut table, 3);
        let error = table.withdraw("e2").unwrap_err();
        assert!(error.contains("S is a playoff") && error.contains("event forfeit"), "{error}");
    }

    /// Four seeds, one pair a match: 0 meets 3, 1 meets 2; those that lose play for the third place.
    #[test]
    fn who_has_lost_in_a_bracket_is_in_it_as_long_as_a_match_is_left() {
        let game = |round: u32, game: u32, white: usize, black: usize, first_wins: bool| {
            let winner = if first_wins { Color::White } else { Color::Black };
            let (at, result) = (RoundGame { round, game }, GameResult::Win(winner));
            PlayedPairing { at, white: Seat(white), black: Seat(black), result }
        };
        for bronze in [None, Some(number(1))] {
            let of = Knockout {
                draw: BracketDraw::EqualDistance,
                pairs: vec![number(1)],
                bronze,
                early: false,
                white_first: WhiteFirst::Lower,
            };
            let mut past = StageHistory::default();
            let told =
                |past: &StageHistory| [0, 1, 2, 3].map(|seat| is_in(&of, 4, past, Seat(seat)));
            assert_eq!(told(&past), [true; 4]);
            // The first match of the bracket, both games of which one engine wins.
            let Next::Play(due) = of.next(4, &past) else { panic!("nothing is played") };
            let first: Vec<_> = due.into_iter().filter(|due| due.at.round == 1).collect();
            let loser = first[0].white;
            for due in first {
                let Due { at, white, black, .. } = due;
                past.add(game(at.round, at.game, white.0, black.0, black == loser));
            }
            let others = (0..4).filter(|seat| Seat(*seat) != loser);
            assert!(others.map(Seat).all(|seat| is_in(&of, 4, &past, seat)));
            assert_eq!(is_in(&of, 4, &past, loser), bronze.is_some());
        }
    }
}
