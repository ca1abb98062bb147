//! An engine that breaks off now and then, whatever it is asked.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Dies, or hangs, at one search of its life, counted over all processes.
fn once(at: usize, act: fn() -> PuppetAct) -> Puppets {
    let searches = AtomicUsize::new(0);
    Puppets::new(move |_| {
        let now = searches.fetch_add(1, Ordering::Relaxed);
        if now == at { act() } else { PuppetAct::Move }
    })
}

#[test]
fn an_end_that_does_not_come_again_on_the_same_clock_came_by_chance() {
    let mut one_process = plan(true);
    one_process.jobs = 1;
    // The first is of the measured run, the others of the positions.
    for at in [0, 20, 60] {
        let (runs, _) = probe(&once(at, || PuppetAct::Die), &one_process);
        let by_chance = of(&runs, Purpose::ByChance);
        let died = |ask: &&Ask| matches!(ask.answer, Answer::Ended(_));
        assert_eq!(searches(&by_chance).into_iter().filter(died).count(), 1, "{at}");
        assert!(of(&runs, Purpose::SmallClock).is_empty(), "{at}");
        let asked = of(&runs, Purpose::Positions).iter().map(|run| run.asks.len()).sum::<usize>();
        assert!(asked > 100 && !of(&runs, Purpose::Main).is_empty(), "{at}");
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
}
