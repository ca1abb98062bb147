//! What is asked on the clock of the event.

use super::*;

#[test]
fn a_wait_on_the_events_clock_is_cut_and_no_fault() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| {
        if scene.go.contains("wtime 1800000") { PuppetAct::Hang } else { PuppetAct::Move }
    });
    let (runs, shown) = probe(&puppets, &plan(false));
    let clock = of(&runs, Purpose::Clock);
    let asked = searches(&clock);
    let names: Vec<_> = asked.iter().map(|ask| name(ask)).collect();
    let all = [
        "clock-floor",
        "clock-little-left",
        "clock-event",
        "clock-event-black",
        "clock-event-late",
        "clock-event-rich",
        "clock-event-poor",
        "clock-event-middle",
        "clock-event-long",
    ];
    assert_eq!(names, all);
    assert!(asked[2].was_cut() && asked[3].was_cut() && !asked[4].was_cut());
    assert!(!asked[0].was_cut());
    // A bare go is answered, so the rest is asked while it thinks on the event's clock.
    assert_eq!(shown.go_bare, Some(true));
    assert_eq!(shown.stop, Some(false));
    assert_eq!(shown.quit_while_thinking, Some(false));
    assert_eq!(of(&runs, Purpose::QuitWhileThinking).len(), 1);
}

#[test]
fn one_that_only_blacks_turn_on_the_events_clock_breaks_is_found() {
    let puppets = || {
        Puppets::new(|scene: PuppetView<'_>| {
            let black = scene.moves.plies().0 % 2 == 1;
            match scene.go.contains("wtime 1800000") {
                true if black => PuppetAct::Die,
                true => PuppetAct::Hang,
                false => PuppetAct::Move,
            }
        })
    };
    for quick in [true, false] {
        let (runs, _) = probe(&puppets(), &plan(quick));
        let clock = searches(&of(&runs, Purpose::Clock));
        let asked = |wanted| clock.iter().find(|ask| name(ask) == wanted).unwrap();
        assert!(asked("clock-event").was_cut());
        assert!(matches!(asked("clock-event-black").answer, Answer::Ended(_)));
    }
}

#[test]
fn one_that_fails_with_the_events_increment_after_many_moves_alone_is_found() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| {
        let late = scene.moves.plies().0 > 80 && scene.go.contains("winc 3000");
        if late { PuppetAct::Die } else { PuppetAct::Move }
    });
    for quick in [true, false] {
        let (runs, _) = probe(&puppets, &plan(quick));
        let clock = searches(&of(&runs, Purpose::Clock));
        let late = clock.iter().find(|ask| name(ask) == "clock-event-late").unwrap();
        assert!(matches!(late.answer, Answer::Ended(_)), "{late:?}");
    }
}

#[test]
fn one_that_has_more_time_than_at_the_beginning_is_asked() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| {
        if scene.go.contains("btime 1802519") { PuppetAct::Die } else { PuppetAct::Move }
    });
    let (runs, _) = probe(&puppets, &plan(true));
    let clock = searches(&of(&runs, Purpose::Clock));
    let black = clock.iter().find(|ask| name(ask) == "clock-event-black").unwrap();
    assert!(matches!(black.answer, Answer::Ended(_)), "{black:?}");
}

#[test]
fn one_that_breaks_on_another_clock_of_the_event_is_found() {
    for clock in ["wtime 1861407", "wtime 21356", "btime 81190"] {
        let puppets =
            Puppets::new(
                move |scene: PuppetView<'_>| {
                    if scene.go.contains(clock) { PuppetAct::Die } else { PuppetAct::Move }
                },
            );
        let (runs, _) = probe(&puppets, &plan(true));
        let died = |ask: &&Ask| matches!(ask.answer, Answer::Ended(_));
        assert_eq!(searches(&of(&runs, Purpose::Clock)).into_iter().filter(died).count(), 1);
    }
}

#[test]
fn one_that_breaks_in_a_long_search_alone_is_found() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| {
        if scene.go.contains("wtime 1800000") {
            std::thread::sleep(Duration::from_millis(400));
        }
        PuppetAct::Move
    });
    let (runs, _) = probe(&puppets, &plan(false));
    let clock = searches(&of(&runs, Purpose::Clock));
    let asked = |wanted| clock.iter().find(|ask| name(ask) == wanted).unwrap();
    assert!(asked("clock-event").was_cut() && asked("clock-event-long").moved());
}

#[test]
fn one_that_hangs_with_hardly_any_time_is_still_asked_on_the_events_clock() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| {
        if scene.go.contains("wtime 100 ") { PuppetAct::Hang } else { PuppetAct::Move }
    });
    let (runs, _) = probe(&puppets, &plan(false));
    let clock = searches(&of(&runs, Purpose::Clock));
    let asked = clock.iter().find(|ask| name(ask) == "clock-event");
    assert!(asked.is_some_and(|ask| ask.answer.is_good()), "{clock:?}");
}
