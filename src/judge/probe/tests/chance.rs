//! An engine that breaks off now and then, whatever it is asked.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Dies the first time that it is asked after so many plies.
fn dies_once_after(plies: u32) -> Puppets {
    let died = AtomicBool::new(false);
    Puppets::new(move |scene: PuppetView<'_>| {
        let is_first = scene.moves.plies().0 == plies && !died.swap(true, Ordering::Relaxed);
        if is_first { PuppetAct::Die } else { PuppetAct::Move }
    })
}

#[test]
fn an_end_that_does_not_come_again_on_the_same_clock_came_by_chance() {
    // The measured run asks the start position first, and 245 plies are a position alone.
    for plies in [0, 245] {
        let (runs, _) = probe(&dies_once_after(plies), &plan(true));
        let by_chance = of(&runs, Purpose::ByChance);
        let died = |ask: &&Ask| matches!(ask.answer, Answer::Ended(_));
        assert_eq!(searches(&by_chance).into_iter().filter(died).count(), 1, "{plies}");
        assert!(of(&runs, Purpose::SmallClock).is_empty(), "{plies}");
        let asked = of(&runs, Purpose::Positions).iter().map(|run| run.asks.len()).sum::<usize>();
        assert!(asked > 100 && !of(&runs, Purpose::Main).is_empty(), "{plies}");
    }
}

#[test]
fn an_end_on_small_clocks_alone_did_not_come_by_chance() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| {
        let late = scene.before.len() > 60 && scene.go.contains("wtime 600 ");
        if late { PuppetAct::Die } else { PuppetAct::Move }
    });
    let (runs, _) = probe(&puppets, &plan(true));
    assert!(of(&runs, Purpose::ByChance).is_empty());
    assert!(!of(&runs, Purpose::SmallClock).is_empty());
    assert!(of(&runs, Purpose::Unrepeated).is_empty(), "all was asked on the event's clock");
}
