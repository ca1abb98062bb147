//! Tests of the state that records make.

use super::super::format::playoff::Playoff;
use super::super::format::{Due, Next};
use super::super::journal::record::Bye;
use super::super::journal_games::tests::{finished, started};
use super::super::stage::tests::stage;
use super::super::standings::{Standings, StandingsRow};
use super::super::tiebreak::TiebreakChain;
use super::*;
use crate::model::game::ending::Termination;
use crate::model::game::listed::RoundGame;

/// Games that end in another order than that of the schedule, one of them by a crash.
fn games() -> Vec<GameFinished> {
    let game = |white: &str, black: &str, round, result, moves| {
        finished(white, black, RoundGame { round, game: 1 }, result, moves)
    };
    let mut games = vec![
        game("b", "c", 2, "1/2-1/2", "e2e4 e7e5 g1f3"),
        game("a", "b", 1, "1-0", "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7"),
        game("c", "a", 3, "0-1", "f2f3 e7e5 g2g4 d8h4"),
        game("b", "a", 4, "1-0", "d2d4"),
    ];
    games[3].reason = Termination::Crash { exit: None };
    games
}

fn begun() -> Ledger {
    let mut ledger = Ledger::default();
    let name = "S".to_owned();
    let (seats, ratings) = (Vec::new(), BTreeMap::new());
    ledger
        .apply(JournalRecord::StageStarted(StageStarted {
            name,
            seats,
            ratings,
            ..StageStarted::default()
        }))
        .unwrap();
    ledger
}

fn play(ledger: &mut Ledger, game: &GameFinished) -> Result<(), String> {
    ledger.apply(JournalRecord::GameStarted(started(game)))?;
    ledger.apply(JournalRecord::GameFinished(game.clone()))
}

#[test]
fn what_is_kept_gives_the_table_of_all_games_counted_anew() {
    let mut ledger = begun();
    let chain = TiebreakChain::named("4k").unwrap();
    for (number, game) in games().iter().enumerate() {
        play(&mut ledger, game).unwrap();
        let state = &ledger.stages[0];
        let mut builder = FieldBuilder::default();
        for game in &games()[..=number] {
            builder.add(&journal_games::listed("", &state.started, game).unwrap(), 0);
        }
        let [kept, anew] = [state.field(None), builder.finish()].map(|field| {
            let standings = Standings::of(&field, chain);
            format!("{:?} {:?}", standings.rows, standings.progress)
        });
        assert_eq!(kept, anew);
        assert_eq!((state.finished(), state.past().games.len()), (number + 1, number + 1));
    }
    assert_eq!(ledger.crashes(), [("a", 1)].into());
    assert_eq!(ledger.stages[0].field(NonZeroU32::new(1)).indices().count(), 3);
}

#[test]
fn an_engine_that_has_not_played_yet_stands_in_the_table() {
    let seats = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let started = StageStarted { name: "S".into(), seats, ..StageStarted::default() };
    let mut ledger = Ledger::default();
    ledger.apply(JournalRecord::StageStarted(started)).unwrap();
    let chain = TiebreakChain::named("4k").unwrap();
    let table = |ledger: &Ledger| {
        let standings = Standings::of(&ledger.stages[0].field(None), chain);
        let row =
            |row: &StandingsRow| format!("{} {}/{}", row.engine.name, row.points, row.games());
        let mut rows: Vec<String> = standings.rows.iter().map(row).collect();
        rows.sort();
        rows
    };
    assert_eq!(table(&ledger), ["a 0/0", "b 0/0", "c 0/0", "d 0/0"]);
    play(&mut ledger, &games()[1]).unwrap();
    assert_eq!(table(&ledger), ["a 1/1", "b 0/1", "c 0/0", "d 0/0"]);
}

fn struck(game: &GameFinished, then: AfterAnnulment) -> JournalRecord {
    JournalRecord::Annulled(Annulled {
        id: game.id.clone(),
        stage: game.stage,
        round: game.round,
        game: game.game,
        then,
        reason: "a test".into(),
        at: String::new(),
    })
}

#[test]
fn games_are_struck_out_whether_they_have_ended_or_are_under_way() {
    let mut ledger = begun();
    let [first, second, ..] = &games()[..] else { panic!("games") };
    play(&mut ledger, first).unwrap();
    ledger.apply(JournalRecord::GameStarted(started(second))).unwrap();
    for game in [first, second] {
        ledger.apply(struck(game, AfterAnnulment::Nothing)).unwrap();
        // Its place is taken, and counts for nobody.
        let played = ledger.stages[0].past().games.get(&game.place());
        assert_eq!(played.map(|one| one.result), Some(GameResult::Unfinished));
        assert!(ledger.apply(JournalRecord::GameStarted(started(game))).is_err());
    }
    assert!(ledger.open.is_empty());
    let field = ledger.stages[0].field(None);
    assert!(field.indices().all(|engine| field.of(engine).count() == 0));
    ledger.apply(struck(first, AfterAnnulment::PlayedAgain)).unwrap();
    play(&mut ledger, first).unwrap();
    assert_eq!(ledger.stages[0].field(None).games().len(), 1);
    assert_eq!(ledger.annulled_in(0).len(), 3);
}

/// They were decided with its result, whether its engines were among the tied ones or not.
#[test]
fn decisions_on_ties_go_with_a_game_that_is_struck_out() {
    let mut ledger = begun();
    let game = &games()[0];
    play(&mut ledger, game).unwrap();
    ledger.apply(JournalRecord::Paused { why: "S is still level".into() }).unwrap();
    let decision = TieDecision {
        stage: 0,
        order: vec!["x".into(), "y".into()],
        reason: "a coin".into(),
        at: String::new(),
    };
    ledger.apply(JournalRecord::Decision(decision)).unwrap();
    assert_eq!((ledger.stages[0].decisions.len(), &ledger.paused), (1, &None));
    ledger.apply(struck(game, AfterAnnulment::PlayedAgain)).unwrap();
    assert!(ledger.stages[0].decisions.is_empty());
}

/// Leagues, section 6: a and b are level before c, and the organisers decide between them. Then c wins the games that it
/// plays again: who of the other two has the second spot is decided by another go.
#[test]
fn a_decision_on_places_ends_no_go_of_a_playoff_that_comes_after_it() {
    let playoff = Playoff { doubles: NonZeroU32::MIN, spots: NonZeroU32::MIN.saturating_add(1) };
    let playoff = stage(StageFormat::Of(Format::Playoff(playoff)));
    let names = ["a", "b", "c"];
    let begins = StageStarted {
        name: "S".into(),
        seats: names.map(str::to_owned).to_vec(),
        ..StageStarted::default()
    };
    let mut ledger = Ledger { plan: [playoff.clone()].into(), ..Ledger::default() };
    ledger.apply(JournalRecord::StageStarted(begins)).unwrap();
    let game = |due: &Due, c_wins: bool| {
        let [white, black] = [due.white, due.black].map(|seat| names[seat.0]);
        let result = match (white == "c", black == "c") {
            (false, false) => "1/2-1/2",
            (is_white, _) => {
                if is_white == c_wins {
                    "1-0"
                } else {
                    "0-1"
                }
            }
        };
        finished(white, black, due.at, result, "e2e4 e7e5")
    };
    let first = playoff.due(3, ledger.stages[0].past());
    for due in &first {
        play(&mut ledger, &game(due, false)).unwrap();
    }
    assert!(playoff.is_played(&ledger.stages[0]));
    let decision = TieDecision {
        stage: 0,
        order: vec!["b".into(), "a".into()],
        reason: "a coin".into(),
        at: String::new(),
    };
    ledger.apply(JournalRecord::Decision(decision)).unwrap();
    for due in first.iter().filter(|due| [due.white, due.black].contains(&Seat(2))) {
        ledger.apply(struck(&game(due, false), AfterAnnulment::PlayedAgain)).unwrap();
        play(&mut ledger, &game(due, true)).unwrap();
    }
    let Next::Play(due) = playoff.next(3, ledger.stages[0].past()) else {
        panic!("a and b are level for the second spot");
    };
    assert!(due.iter().all(|due| due.white < Seat(2) && due.black < Seat(2)));
}

/// Another engine may have had it without that result.
#[test]
fn a_bye_of_the_next_round_goes_with_an_annulled_game() {
    for then in [AfterAnnulment::Nothing, AfterAnnulment::PlayedAgain] {
        let mut ledger = begun();
        let game = &games()[0];
        let bye = |round| Bye { stage: 0, round, engine: "a".into(), wins: 2 };
        ledger.apply(JournalRecord::Bye(bye(game.round))).unwrap();
        play(&mut ledger, game).unwrap();
        ledger.apply(JournalRecord::Bye(bye(game.round + 1))).unwrap();
        ledger.apply(struck(game, then)).unwrap();
        let state = &ledger.stages[0];
        let rounds: Vec<u32> = state.past().byes.iter().map(|(_, round)| *round).collect();
        assert_eq!(rounds, [game.round], "{then:?}");
        let field = state.field(None);
        let a = field.find("a").unwrap();
        assert_eq!(field.byes(a).collect::<Vec<_>>(), [(game.round, 2)], "{then:?}");
        ledger.apply(JournalRecord::Bye(bye(game.round + 1))).unwrap();
    }
}

#[test]
fn nothing_is_struck_out_that_was_not_played_or_has_had_its_consequences() {
    let mut ledger = begun();
    let game = &games()[0];
    let error = ledger.apply(struck(game, AfterAnnulment::PlayedAgain)).unwrap_err();
    assert!(error.contains("was never played"), "{error}");
    play(&mut ledger, game).unwrap();
    let (order, promoted) = (vec!["b".to_owned()], vec!["b".to_owned()]);
    ledger
        .apply(JournalRecord::StageFinished(StageFinished {
            stage: 0,
            order,
            promoted,
            shared: Vec::new(),
        }))
        .unwrap();
    let mut updated = ledger.clone();
    updated.stages[0].started.seats = vec!["a".into(), "b".into()];
    updated.changed.insert("b".into());
    let error = updated.apply(struck(game, AfterAnnulment::PlayedAgain)).unwrap_err();
    assert!(error.contains("since then b was updated, fixed or withdrawn"), "{error}");
    let (stage, name) = (1, "Final".to_owned());
    let next = StageStarted { stage, name, ..StageStarted::default() };
    ledger.apply(JournalRecord::StageStarted(next)).unwrap();
    let error = ledger.apply(struck(game, AfterAnnulment::PlayedAgain)).unwrap_err();
    assert!(error.contains("S is over, and Final has begun"), "{error}");
}

/// A deciding game may be the last one of its stage and of the event.
#[test]
fn a_stage_is_open_again_while_nothing_has_followed_from_it() {
    let mut ledger = begun();
    let game = &games()[0];
    play(&mut ledger, game).unwrap();
    let over = || StageFinished::of(0, &[vec!["b".into()]], vec!["b".into()]);
    ledger.apply(JournalRecord::StageFinished(over())).unwrap();
    let (winner, shared) = ("b".to_owned(), Vec::new());
    ledger.apply(JournalRecord::EventFinished { winner, shared }).unwrap();
    assert!(ledger.is_over());
    ledger.apply(struck(game, AfterAnnulment::PlayedAgain)).unwrap();
    assert!(!ledger.is_over() && ledger.stages[0].outcome.is_none());
    play(&mut ledger, game).unwrap();
    ledger.apply(JournalRecord::StageFinished(over())).unwrap();
}

#[test]
fn a_place_has_one_game_and_its_moves_are_legal() {
    let mut ledger = begun();
    let games = games();
    play(&mut ledger, &games[0]).unwrap();
    let again = play(&mut ledger, &games[0]).unwrap_err();
    assert!(again.contains("begins again after its end"), "{again}");
    let mut illegal = games[1].clone();
    illegal.moves = "e2e4 e2e4".into();
    assert!(play(&mut ledger, &illegal).unwrap_err().contains("are not legal"));
}

#[test]
fn a_pause_is_known_until_the_next_stage_ends() {
    let mut ledger = begun();
    let over = |stage| StageFinished::of(stage, &[vec!["b".into()]], vec!["b".into()]);
    let why = "engines may be updated before Final";
    ledger.apply(JournalRecord::StageFinished(over(0))).unwrap();
    assert!(ledger.pauses.is_empty());
    ledger.apply(JournalRecord::Paused { why: why.into() }).unwrap();
    assert!(ledger.pauses.contains(why));
    let next = StageStarted { stage: 1, name: "Final".into(), ..StageStarted::default() };
    ledger.apply(JournalRecord::StageStarted(next)).unwrap();
    ledger.apply(JournalRecord::StageFinished(over(1))).unwrap();
    assert!(ledger.pauses.is_empty());
}

#[test]
fn a_withdrawn_engine_keeps_no_bye_of_a_round_that_it_is_not_in() {
    let mut ledger = Ledger::default();
    let seats = ["a", "b", "c"].map(str::to_owned).to_vec();
    let begins = StageStarted { name: "S".into(), seats, ..StageStarted::default() };
    ledger.apply(JournalRecord::StageStarted(begins)).unwrap();
    for (engine, round) in [("a", 1), ("a", 2), ("b", 2)] {
        let bye = Bye { stage: 0, round, engine: engine.into(), wins: 2 };
        ledger.apply(JournalRecord::Bye(bye)).unwrap();
    }
    let withdrawn = Withdrawn {
        engine: "a".into(),
        stage: 0,
        round: 2,
        played: field::WithdrawnGames::Counts,
        broken_off: Vec::new(),
        walkovers: Vec::new(),
        reason: "a test".into(),
        at: String::new(),
    };
    ledger.apply(JournalRecord::Withdrawn(withdrawn)).unwrap();
    let state = &ledger.stages[0];
    assert_eq!(state.past().byes, [(Seat(0), 1), (Seat(1), 2)].into());
    let field = state.field(None);
    let byes = |name| field.byes(field.find(name).unwrap()).collect::<Vec<_>>();
    assert_eq!((byes("a"), byes("b")), (vec![(1, 2)], vec![(2, 2)]));
}

/// a was clear of the tie, and is withdrawn while b and c play it off.
#[test]
fn who_is_withdrawn_during_a_playoff_does_not_go_on_from_it() {
    let one = std::num::NonZeroU32::MIN;
    let format = Playoff { doubles: one, spots: one.saturating_add(1) };
    let playoff = stage(StageFormat::Of(Format::Playoff(format)));
    let mut ledger = Ledger { plan: [playoff.clone()].into(), ..Ledger::default() };
    let seats = ["b", "c"].map(str::to_owned).to_vec();
    let through = vec!["a".to_owned()];
    let begins = StageStarted { name: "S".into(), seats, through, ..StageStarted::default() };
    ledger.apply(JournalRecord::StageStarted(begins)).unwrap();
    let withdrawn = Withdrawn {
        engine: "a".into(),
        stage: 1,
        round: 1,
        played: field::WithdrawnGames::Counts,
        broken_off: Vec::new(),
        walkovers: Vec::new(),
        reason: "a test".into(),
        at: String::new(),
    };
    ledger.apply(JournalRecord::Withdrawn(withdrawn)).unwrap();
    for (white, black, round, result) in [("b", "c", 1, "1-0"), ("c", "b", 2, "0-1")] {
        let at = RoundGame { round, game: 1 };
        play(&mut ledger, &finished(white, black, at, result, "e2e4")).unwrap();
    }
    let state = &ledger.stages[0];
    let standings = playoff.standings_of(state);
    let ranking = playoff.ranking(&standings, state);
    assert_eq!(ranking.concat(), ["a", "b", "c"]);
    assert_eq!(playoff.promoted(&standings, &ranking), ["b", "c"]);
}
