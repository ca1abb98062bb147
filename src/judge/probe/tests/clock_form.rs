//! Entries that do not know one of the two forms of `go`, or know it somewhere alone.

use super::*;

#[test]
fn bare_go_takes_over_where_the_rules_go_does_not_work() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| match scene.go {
        "go" => PuppetAct::Move,
        _ => PuppetAct::Hang,
    });
    let (runs, shown) = probe(&puppets, &short_answers());
    assert_eq!((shown.go_clock, shown.go_bare), (Some(false), Some(true)));
    assert_eq!(runs[0].purpose, Purpose::OtherGo);
    let positions = of(&runs, Purpose::Positions);
    let asked = searches(&positions);
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|ask| ask.answer.is_good()));
}

#[test]
fn neither_go_works_and_no_position_is_asked() {
    let puppets = Puppets::new(|_| PuppetAct::Hang);
    let (runs, shown) = probe(&puppets, &short_answers());
    assert_eq!(shown.go_bare, Some(false));
    assert!(of(&runs, Purpose::Positions).is_empty());
}

/// Knows bare `go`, and a clock where `knows` says so.
fn with_a_clock(knows: fn(&PuppetView<'_>) -> bool) -> (Vec<Run>, Capabilities) {
    let puppets = Puppets::new(move |scene: PuppetView<'_>| match scene.go {
        "go" => PuppetAct::Move,
        _ if knows(&scene) => PuppetAct::Move,
        _ => PuppetAct::Hang,
    });
    probe(&puppets, &short_answers())
}

/// Asserts that an entry that knows a clock there is asked by a clock alone.
fn assert_judged_by_the_clock(knows: fn(&PuppetView<'_>) -> bool) {
    let (runs, shown) = with_a_clock(knows);
    assert_eq!((shown.go_clock, shown.go_bare), (Some(true), Some(true)));
    assert_eq!(runs[0].purpose, Purpose::Main);
    assert!(of(&runs, Purpose::OtherGo).is_empty());
    let positions = of(&runs, Purpose::Positions);
    let asked = searches(&positions);
    assert!(asked.iter().all(|ask| ask.search().unwrap().go != "go"));
}

#[test]
fn one_that_answers_a_clock_after_a_move_is_judged_by_it() {
    assert_judged_by_the_clock(|scene| scene.moves.plies().0 > 0);
}

#[test]
fn one_that_answers_a_clock_in_one_opening_is_judged_by_it() {
    assert_judged_by_the_clock(|scene| scene.moves.command().contains("e2e4 e7e5 g1f3 b8c6 f1b5"));
}

#[test]
fn one_that_answers_the_events_clock_is_judged_by_it() {
    // As an entry would that takes each smaller clock for a check.
    assert_judged_by_the_clock(|scene| scene.moves.plies().0 == 6 && scene.go.contains("1783519"));
}

#[test]
fn one_that_knows_bare_go_alone_is_told_to_quit_after_the_other_form() {
    let (runs, _) = with_a_clock(|_| false);
    let quits = |run: &&&Run| run.asks.iter().any(|ask| ask.question == Question::Quit);
    assert_eq!(of(&runs, Purpose::OtherGo).iter().filter(quits).count(), 1);
    assert!(
        of(&runs, Purpose::Positions)
            .iter()
            .all(|run| { run.asks.iter().filter_map(Ask::search).all(|go| go.go == "go") })
    );
}
