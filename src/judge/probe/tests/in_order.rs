//! An engine so slow that it is not asked all positions on the event's clock, whose faults come of what it was asked before.

use super::*;

/// An engine that is slow but on the smallest clock. Whether it plays a wrong move is told by the lists before, the last one last.
fn slow(is_wrong: impl Fn(&[&str]) -> bool + Send + Sync + 'static) -> Puppets {
    Puppets::new(move |scene: PuppetView<'_>| {
        if !scene.go.contains("wtime 600 ") {
            std::thread::sleep(Duration::from_millis(60));
        }
        let lines = scene.before.iter();
        let lists: Vec<&str> =
            lines.filter_map(|line| line.strip_prefix("position startpos")).collect();
        if is_wrong(&lists) { PuppetAct::Say("bestmove b7b5".into()) } else { PuppetAct::Move }
    })
}

/// A plan by whose time for positions a slow one is asked a fifth of them.
fn hurried() -> ProbePlan {
    let mut plan = plan(true);
    plan.jobs = 1;
    plan.waits.positions = Duration::from_secs(4);
    plan
}

fn plies(list: &str) -> usize {
    list.split_whitespace().skip(1).count()
}

/// True if Black was to move before, and the start position is shown without a list.
fn keeps_its_old_board(lists: &[&str]) -> bool {
    matches!(lists, [.., before, ""] if plies(before) % 2 == 1)
}

/// The positions at which something failed in the runs that reject, each with the clock.
fn rejected(runs: &[Run]) -> Vec<(&str, Option<Duration>)> {
    let asks = that_reject(runs).into_iter().filter_map(|(_, ask)| ask.search());
    asks.map(|go| (&*go.position, go.left)).collect()
}

const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

#[test]
fn a_slow_one_that_keeps_its_old_board_is_rejected() {
    let (runs, _) = probe(&slow(keeps_its_old_board), &hurried());
    let rejected = rejected(&runs);
    assert!(rejected.contains(&("startpos-again", MINUTE)), "{rejected:?}");
    // The rest was asked, too.
    assert!(searches(&of(&runs, Purpose::Positions)).len() > 10);
}

#[test]
fn a_fault_of_a_slow_one_that_the_question_before_causes_is_asked_again_after_it() {
    // Alone, and after any other position, it is answered.
    let known = crate::judge::support::positions::all();
    let mut order: Vec<_> = known.iter().enumerate().collect();
    order.sort_by_key(|(at, _)| at % 5);
    let command = |at: usize| {
        let command = order[at].1.1.command();
        command.strip_prefix("position startpos").unwrap().to_owned()
    };
    let (before, last) = (command(order.len() - 2), command(order.len() - 1));
    let name = order[order.len() - 1].1.0;
    let puppets = slow(
        move |lists| matches!(lists, [.., one, other] if (*one, *other) == (&*before, &*last)),
    );
    let (runs, _) = probe(&puppets, &hurried());
    let rejected = rejected(&runs);
    assert!(rejected.contains(&(name, MINUTE)), "{rejected:?}");
}

#[test]
fn a_fault_of_a_slow_one_after_more_than_it_is_asked_again_stays_open() {
    let puppets = slow(|lists| lists.len() > 100 && keeps_its_old_board(lists));
    let (runs, _) = probe(&puppets, &hurried());
    assert!(rejected(&runs).is_empty());
    let open = of(&runs, Purpose::Unrepeated);
    let bad: Vec<&Ask> = searches(&open).into_iter().filter(|ask| !ask.answer.is_good()).collect();
    assert!(bad.len() == 1 && name(bad[0]) == "startpos-again", "{bad:?}");
}

#[test]
fn a_slow_one_that_fails_on_the_smallest_clock_alone_is_not_left_open() {
    // Late in the list, at a position that is a question of its own.
    let known = crate::judge::support::positions::all();
    let (at, _) = known.iter().enumerate().max_by_key(|(at, _)| (at % 5, *at)).unwrap();
    let late = known[at].1.command();
    let puppets = Puppets::new(move |scene: PuppetView<'_>| {
        let is_late = scene.before.iter().rfind(|line| line.starts_with("position")) == Some(&late);
        if !scene.go.contains("wtime 600 ") {
            std::thread::sleep(Duration::from_millis(60));
        } else if is_late {
            return PuppetAct::Say("bestmove b7b5".into());
        }
        PuppetAct::Move
    });
    let (runs, _) = probe(&puppets, &hurried());
    assert!(rejected(&runs).is_empty());
    assert!(of(&runs, Purpose::Unrepeated).is_empty());
    let small = of(&runs, Purpose::SmallClock);
    assert!(searches(&small).into_iter().any(|ask| !ask.answer.is_good()));
}
