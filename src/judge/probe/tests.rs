//! The whole plan, against puppets.

mod chance;
mod clock_form;
mod event_clock;
mod in_order;

use std::sync::Mutex;

use super::*;
use crate::judge::probe::fake_engine::{PlainLauncher, PuppetAct, PuppetView, Puppets, limits};
use crate::model::evidence::{Answer, Ask, EndHow, LEAST_LEFT, Question, Resource};
use crate::model::lock::lock;
use crate::model::units::{Bytes, Ply};
use crate::sandbox::plan::Staging;

fn plan(quick: bool) -> ProbePlan {
    ProbePlan {
        bytes: Arc::from(&b""[..]),
        own_name: "engine".into(),
        script_with_sh: false,
        shells_available: Vec::new(),
        host_sh: None,
        options: Vec::new(),
        quick,
        jobs: 4,
        limits: limits(),
        waits: ProbeWaits {
            clock: Duration::from_millis(200),
            long_search: Duration::from_millis(600),
            bare_go: Duration::from_millis(200),
            advice: Duration::from_millis(500),
            positions: Duration::from_secs(60),
            idle: Duration::from_millis(20),
            again: Duration::from_secs(120),
            slow_start: Duration::from_secs(15),
        },
    }
}

fn short_answers() -> ProbePlan {
    let mut plan = plan(true);
    plan.limits.answer = Duration::from_millis(1500);
    plan.limits.quit = Duration::from_millis(1500);
    plan.limits.grace = Duration::from_millis(1500);
    plan
}

fn probe(launcher: &dyn Launcher, plan: &ProbePlan) -> (Vec<Run>, Capabilities) {
    let Gathered { runs, capabilities, .. } = gather(launcher, plan, &|_| {}).unwrap();
    (runs, capabilities)
}

fn of(runs: &[Run], purpose: Purpose) -> Vec<&Run> {
    runs.iter().filter(|run| run.purpose == purpose).collect()
}

fn searches<'a>(runs: &[&'a Run]) -> Vec<&'a Ask> {
    runs.iter()
        .flat_map(|run| &run.asks)
        .filter(|ask| matches!(ask.question, Question::Go(_)))
        .collect()
}

fn name(ask: &Ask) -> &str {
    match &ask.question {
        Question::Go(go) => &go.position,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_good_engine_shows_all_it_can() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| match scene.go {
        "go" => PuppetAct::Hang,
        _ => PuppetAct::Move,
    });
    let (runs, shown) = probe(&puppets, &plan(false));
    let main = &runs[0];
    assert_eq!(main.purpose, Purpose::Main);
    assert!(main.asks.iter().all(|ask| ask.answer.is_good()));
    // startpos, after e2e4, eleven plies more.
    assert_eq!(searches(&[main]).len(), 13);
    assert!(main.idle_before_go.is_some());
    let idle = of(&runs, Purpose::Idle);
    assert!(idle.len() == 1 && idle[0].idle_after_moves.len() == 2);
    assert!(main.ending.emptied_after.is_some());

    let positions = of(&runs, Purpose::Positions);
    // One process is asked as often as in the longest game.
    assert_eq!(positions.len(), 1);
    let asked = searches(&positions);
    // It begins and ends with the start position after another one.
    let moves = crate::model::evidence::LONG_GAME.0 as usize / 2;
    assert_eq!(asked.len(), crate::judge::support::positions::all().len().max(moves) + 4);
    assert!(asked.iter().all(|ask| ask.answer.is_good()), "{asked:?}");
    for plies in [340, 1000] {
        let game = of(&runs, Purpose::LongGame(Ply(plies)));
        assert!(searches(&game)[0].answer.is_good());
    }
    let clock = searches(&of(&runs, Purpose::Clock)).len();
    assert_eq!(clock, 9);
    for (field, value) in [
        (shown.go_clock, true),
        (shown.go_bare, false),
        (shown.stop, false),
        (shown.quit_while_thinking, false),
        (shown.depth, true),
        (shown.nodes, true),
        (shown.movetime, true),
        (shown.id, true),
        (shown.info, true),
        (shown.pv, true),
        (shown.end_of_input, true),
        (shown.blank_path, true),
        (shown.clean_when_killed, true),
        (shown.thousand_plies, true),
        // The puppet does not know FEN and plays its last list's move.
        (shown.fen, false),
    ] {
        assert_eq!(field, Some(value), "{shown:?}");
    }
    assert_eq!(shown.setoption, None);
    assert_eq!(shown.dash, None);
}

#[test]
fn what_runs_on_other_clocks_and_through_many_and_long_games_leave_is_waited_for() {
    let puppets = Puppets::new(|_| PuppetAct::Move).lingers(Duration::from_millis(700));
    let (runs, _) = probe(&puppets, &plan(false));
    let longest = Purpose::LongGame(crate::model::evidence::LONG_GAME);
    for purpose in [Purpose::Clock, Purpose::Positions, Purpose::Idle, longest] {
        let ended = of(&runs, purpose);
        assert!(!ended.is_empty() && ended.iter().all(|run| run.ending.emptied_after.is_some()));
    }
}

#[test]
fn quick_asks_only_what_can_reject() {
    let puppets = Puppets::new(|_| PuppetAct::Move);
    let (runs, shown) = probe(&puppets, &plan(true));
    assert!(runs.iter().all(|run| matches!(
        run.purpose,
        Purpose::Main
            | Purpose::Positions
            | Purpose::LongGame(Ply(340))
            | Purpose::Idle
            | Purpose::Clock
    )));
    let clock = searches(&of(&runs, Purpose::Clock));
    let mut names: Vec<_> = clock.iter().map(|ask| name(ask)).collect();
    names.sort_unstable();
    let all = [
        "clock-event",
        "clock-event-black",
        "clock-event-late",
        "clock-event-middle",
        "clock-event-poor",
        "clock-event-rich",
    ];
    assert_eq!(names, all);
    assert_eq!(shown.go_clock, Some(true));
    assert_eq!(shown.go_bare, None);
}

#[test]
fn load_is_behind_no_way_of_writing_a_move() {
    for (said, may_be_load) in [("bestmove E2E4", false), ("bestmove a1a1", true)] {
        let (runs, _) = probe(&Puppets::new(|_| PuppetAct::Say(said.into())), &plan(true));
        let main = &runs[0];
        assert!(main.asks.iter().any(|ask| matches!(ask.answer, Answer::Illegal { .. })));
        assert_eq!(main.strained, may_be_load, "{said}");
    }
}

#[test]
fn what_ends_whole_at_its_quit_is_seen_to_by_a_quick_check_as_well() {
    let (runs, _) = probe(&Puppets::new(|_| PuppetAct::Move), &plan(true));
    let quit = runs.iter().filter(|run| run.ending.how == EndHow::Quit);
    let seen: Vec<_> = quit.map(|run| (run.purpose, run.ending.emptied_after.is_some())).collect();
    assert!(seen.contains(&(Purpose::Clock, true)), "{seen:?}");
    assert!(seen.iter().all(|(_, emptied)| *emptied), "{seen:?}");
}

#[test]
fn a_late_entry_is_asked_all_that_can_reject_and_the_rest_is_counted() {
    let mut late = plan(false);
    late.waits.again = Duration::from_millis(1);
    late.waits.slow_start = Duration::ZERO;
    let puppets = Puppets::new(|_| PuppetAct::Move);
    let Gathered { runs, capabilities: shown, early } = gather(&puppets, &late, &|_| {}).unwrap();
    // The measured one; the long game and the positions; book, pondering and the event's clock; and the one for the games.
    assert_eq!(puppets.started.lock().unwrap().len(), 4);
    assert!(early.is_some());
    assert!(runs.iter().all(|run| matches!(
        run.purpose,
        Purpose::Main
            | Purpose::Positions
            | Purpose::LongGame(Ply(340))
            | Purpose::Idle
            | Purpose::Clock
    )));
    let positions = of(&runs, Purpose::Positions);
    assert_eq!(positions.len(), 1, "each is a start");
    assert_eq!(searches(&positions).len(), crate::judge::support::positions::all().len() + 4);
    let clock = of(&runs, Purpose::Clock);
    // A fault there may come of what was asked before: a game of two moves at least.
    let before = &clock[0].before;
    let asked = before.iter().filter(|line| line.starts_with("go ")).count();
    assert!(before[0] == "uci" && asked >= 2, "{before:?}");
    let clock = searches(&clock);
    assert!(clock.len() == 1 && name(clock[0]).starts_with("clock-event"), "{clock:?}");
    assert_eq!(shown.left_out, Some(LeftOut { looks: 7, of: 7 }));
    let (_, shown) = probe(&Puppets::new(|_| PuppetAct::Move), &plan(false));
    assert_eq!(shown.left_out, None);
}

/// True after a search on a clock that no event produces: White's is below the least.
fn after_a_small_clock(before: &[String]) -> bool {
    let left = |line: &String| line.split(' ').nth(2)?.parse().ok();
    let asked = before.iter().filter(|line| line.starts_with("go wtime "));
    asked.filter_map(left).any(|left: u64| left < 3000)
}

/// The runs that can reject and in which something failed.
fn that_reject(runs: &[Run]) -> Vec<(Purpose, &Ask)> {
    let bad = |ask: &&Ask| !ask.answer.is_good() && !ask.was_cut();
    // The rules know of the clock's own small ones.
    let reject = runs.iter().filter(|run| {
        let small = run
            .asks
            .iter()
            .any(|ask| matches!(&ask.question, Question::Go(go) if go.left < Some(LEAST_LEFT)));
        run.purpose.can_reject() && !(run.purpose == Purpose::Clock && small)
    });
    reject.filter_map(|run| Some((run.purpose, run.asks.iter().find(bad)?))).collect()
}

/// No event produces the clock that broke it, whatever it was asked after.
#[test]
fn an_entry_that_a_small_clock_broke_is_asked_again_without_it() {
    let mut late = plan(false);
    late.waits.again = Duration::from_millis(1);
    late.waits.slow_start = Duration::ZERO;
    for plan in [plan(false), plan(true), late] {
        let at_newgame = Puppets::new(|_| PuppetAct::Move).dies_at_newgame(after_a_small_clock);
        let on_the_events = Puppets::new(|scene: PuppetView<'_>| {
            let dies = scene.go.contains("1800000") && after_a_small_clock(scene.before);
            if dies { PuppetAct::Die } else { PuppetAct::Move }
        });
        for puppets in [at_newgame, on_the_events] {
            let (runs, _) = probe(&puppets, &plan);
            let reject = that_reject(&runs);
            assert!(reject.is_empty(), "{reject:?}");
            assert!(
                of(&runs, Purpose::Clock).iter().any(|run| {
                    run.asks.iter().any(|ask| matches!(ask.question, Question::Go(_)))
                })
            );
        }
    }
}

/// An engine may leave files on the event's clock alone, and have a process behind that sleeps, as one that is about to remove them.
#[test]
fn what_is_left_on_the_events_clock_is_waited_for_whatever_the_start_took() {
    for slow_start in [Duration::ZERO, Duration::from_secs(15)] {
        let mut plan = plan(false);
        plan.waits.slow_start = slow_start;
        let puppets = Puppets::new(|_| PuppetAct::Move).lingers(Duration::from_millis(700));
        let (runs, _) = probe(&puppets, &plan);
        let clock = of(&runs, Purpose::Clock);
        assert!(!clock.is_empty() && clock.iter().all(|run| run.ending.emptied_after.is_some()));
    }
}

#[test]
fn a_long_start_takes_nothing_from_the_time_for_questions() {
    let start = Duration::from_secs(2);
    let puppets = Puppets::new(|_| PuppetAct::Move).starts(move |_| {
        std::thread::sleep(start);
        true
    });
    let plan = plan(true);
    let bench = Bench {
        launcher: &puppets,
        plan: &plan,
        progress: &|_| {},
        shell: Shell::AsIs,
        limits: plan.limits,
        again_until: Instant::now(),
    };
    let items = [1, 2, 3].map(|at| {
        let moves = &crate::judge::support::positions::all()[at].1;
        list::Item::new(Purpose::Positions, "slowly", moves, SMALL_CLOCK)
    });
    let time = start - Duration::from_millis(1);
    let runs = list::ask_within(&bench, &items, time).unwrap();
    assert_eq!(searches(&of(&runs, Purpose::Positions)).len(), 3);
}

#[test]
fn dies_at_ply_six_and_the_rest_is_still_asked() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| match scene.moves.plies().0 {
        6 => PuppetAct::Die,
        _ => PuppetAct::Move,
    });
    let (runs, _) = probe(&puppets, &plan(true));
    let last = searches(&[&runs[0]]).pop().unwrap();
    assert_eq!(name(last), "game-ply-6");
    assert!(matches!(last.answer, Answer::Ended(Some(_))));
    assert_eq!(runs[0].ending.how, EndHow::ByItself);
    // The end is seen in a second run.
    let again = of(&runs, Purpose::Main);
    assert_eq!(again.len(), 2);
    assert_eq!(again[1].ending.how, EndHow::Quit);
    // Each position of six plies ends a process; the others are asked in fresh ones, two for each share.
    let positions = of(&runs, Purpose::Positions);
    let asked = searches(&positions);
    let all = crate::judge::support::positions::all();
    assert!(asked.len() + all.len() / 10 > all.len(), "{} of {}", asked.len(), all.len());
    let was_asked = |wanted: &str| asked.iter().any(|ask| name(ask) == wanted);
    let sixes = all.iter().filter(|(name, moves)| moves.plies().0 == 6 && was_asked(name)).count();
    assert_eq!(asked.iter().filter(|ask| !ask.answer.is_good()).count(), sixes);
}

#[test]
fn what_fails_on_a_small_clock_is_all_asked_again_on_the_events() {
    let weak = Puppets::new(|scene: PuppetView<'_>| match scene.go {
        go if go.contains("wtime 600 ") => PuppetAct::Say("bestmove None".into()),
        _ => PuppetAct::Move,
    });
    let (runs, _) = probe(&weak, &plan(true));
    assert_eq!(runs[0].purpose, Purpose::Main);
    let counted: Vec<&Run> = runs.iter().filter(|run| run.purpose.can_reject()).collect();
    let asked = searches(&counted);
    assert!(asked.len() > crate::judge::support::positions::all().len());
    assert!(asked.iter().all(|ask| ask.answer.is_good()));
    assert_eq!(of(&runs, Purpose::SmallClock).len(), 1);
    assert_eq!(searches(&of(&runs, Purpose::Again)).len(), 1);
}

#[test]
fn one_that_sleeps_on_smaller_clocks_is_asked_on_the_clock_of_a_minute() {
    let sleeps = Puppets::new(|scene: PuppetView<'_>| match scene.go {
        go if ["wtime 600 ", "wtime 3000 "].iter().any(|small| go.contains(small)) => {
            PuppetAct::Hang
        }
        _ => PuppetAct::Move,
    });
    let (runs, _) = probe(&sleeps, &short_answers());
    let counted: Vec<&Run> = runs.iter().filter(|run| run.purpose.can_reject()).collect();
    let asked = searches(&counted);
    assert!(asked.len() > crate::judge::support::positions::all().len());
    assert!(asked.iter().all(|ask| ask.answer.is_good()));
    // On the two bigger clocks, and once more on the same.
    assert_eq!(searches(&of(&runs, Purpose::Again)).len(), 3);
}

#[test]
fn what_fails_on_the_events_clocks_stays_a_failure() {
    let bad = Puppets::new(|scene: PuppetView<'_>| match scene.moves.plies().0 {
        6 => PuppetAct::Say("bestmove a1a1".into()),
        _ => PuppetAct::Move,
    });
    let (runs, _) = probe(&bad, &plan(true));
    assert!(of(&runs, Purpose::SmallClock).is_empty());
    let again = of(&runs, Purpose::Again);
    let again = searches(&again);
    assert!(again.len() >= 2 && again.iter().all(|ask| !ask.answer.is_good()));
    let goes: Vec<&str> = again
        .iter()
        .map(|ask| match &ask.question {
            Question::Go(go) => go.go.as_str(),
            other => panic!("{other:?}"),
        })
        .take(2)
        .collect();
    assert!(goes[0].contains("wtime 3000 ") && goes[1].contains("wtime 60000 "), "{goes:?}");
}

#[test]
fn an_end_that_goes_wrong_after_a_small_clock_alone_rejects_nobody() {
    // (In a game the clock shows somewhat more than the least.)
    let is_small = |line: &str| {
        let left = line.strip_prefix("go wtime ").and_then(|rest| rest.split(' ').next());
        left.is_some_and(|left| left.parse::<u64>().unwrap() < 3000)
    };
    let after_small = move |lines: &[String]| lines.iter().any(|line| is_small(line));
    let weak = Puppets::new(|_| PuppetAct::Move).deaf_to_quit(after_small);
    let (runs, _) = probe(&weak, &short_answers());
    let counted: Vec<&Run> = runs.iter().filter(|run| run.purpose.can_reject()).collect();
    let hangs = |ask: &Ask| ask.question == Question::Quit && ask.answer == Answer::Timeout;
    let hung = counted.iter().find(|run| run.asks.iter().any(hangs));
    assert!(hung.is_none(), "{hung:?}");
    assert!(searches(&counted).len() > crate::judge::support::positions::all().len());
    assert!(!of(&runs, Purpose::SmallClock).is_empty());
    let deaf = Puppets::new(|_| PuppetAct::Move).deaf_to_quit(|_| true);
    let (runs, _) = probe(&deaf, &short_answers());
    assert!(of(&runs, Purpose::SmallClock).is_empty());
}

#[test]
fn a_line_that_is_too_long_for_it_is_found_by_halving() {
    let short = Puppets::new(|scene: PuppetView<'_>| match scene.moves.plies().0 {
        0..=405 => PuppetAct::Move,
        _ => PuppetAct::Say("bestmove a1a1".into()),
    });
    let (runs, shown) = probe(&short, &plan(false));
    assert_eq!(shown.thousand_plies, Some(false));
    let legal = |plies| {
        let asked = of(&runs, Purpose::LongGame(Ply(plies)));
        searches(&asked)[0].answer.is_good()
    };
    assert!(legal(340) && legal(405) && !legal(406));
    // Where the time is over, no bound is sought.
    let mut hurried = plan(false);
    hurried.waits.again = Duration::ZERO;
    let (runs, _) = probe(&short, &hurried);
    let long = |run: &&Run| matches!(run.purpose, Purpose::LongGame(_));
    assert_eq!(runs.iter().filter(long).count(), 2, "340 plies and 1,000");
}

#[test]
fn a_hang_ends_its_list() {
    let puppets = Puppets::new(|scene: PuppetView<'_>| match scene.moves.plies().0 {
        0 | 340 => PuppetAct::Move,
        _ => PuppetAct::Hang,
    });
    let mut plan = short_answers();
    plan.jobs = 2;
    let (runs, _) = probe(&puppets, &plan);
    let positions = of(&runs, Purpose::Positions);
    assert_eq!(positions.len(), 2);
    assert!(searches(&positions).iter().all(|ask| ask.answer == Answer::Timeout && !ask.was_cut()));
}

#[test]
fn illegal_moves_are_seen_everywhere() {
    let puppets = Puppets::new(|_| PuppetAct::Say("bestmove e1e8".into()));
    let (runs, shown) = probe(&puppets, &plan(true));
    assert_eq!(shown.go_clock, Some(true));
    let positions = of(&runs, Purpose::Positions);
    assert!(searches(&positions).iter().all(|ask| matches!(ask.answer, Answer::Illegal { .. })));
    assert_eq!(runs[0].ending.how, EndHow::Quit);
}

#[test]
fn book_and_ponder_are_switched_off() {
    let puppets = Puppets::new(|_| PuppetAct::Say("info string Book\nbestmove e2e4".into()))
        .greeting(
            "option name OwnBook type check default true\n\
             option name Ponder type check default true",
        )
        .busy(1.0);
    let (runs, _) = probe(&puppets, &plan(true));
    let idle = of(&runs, Purpose::Idle);
    let [idle] = idle[..] else { panic!() };
    assert!(idle.book.when_off.is_some());
    assert!(runs[0].book.by_default.is_some(), "the main run leaves all as it is by default");
    assert!(idle.idle_after_moves[0].share() > 0.5);
    // A quick check asks the same process on the event's clock.
    assert_eq!(of(&runs, Purpose::Clock)[0].ending.how, EndHow::Quit);
}

#[test]
fn what_does_not_start_is_tried_by_the_other_shell_and_its_own_name() {
    let mut plan = plan(true);
    plan.script_with_sh = true;
    plan.shells_available = vec![Shell::Dash, Shell::Bash];
    plan.host_sh = Some(Shell::Dash);

    let only_bash = Puppets::new(|_| PuppetAct::Move).starts(|plan| plan.shell == Shell::Bash);
    let (runs, shown) = probe(&only_bash, &plan);
    assert_eq!(runs[0].purpose, Purpose::Main);
    assert_eq!(runs[0].shell, Shell::Bash);
    assert!(runs[0].readyok.is_some());
    assert_eq!((shown.dash, shown.bash), (Some(false), Some(true)));
    let failed = of(&runs, Purpose::OtherShell);
    assert_eq!(failed[0].shell, Shell::AsIs);
    assert!(failed[0].readyok.is_none());
    assert!(of(&runs, Purpose::Positions).iter().all(|run| run.shell == Shell::Bash));

    let by_name = Puppets::new(|_| PuppetAct::Move).starts(|plan| plan.staging != Staging::Neutral);
    let (runs, shown) = probe(&by_name, &plan);
    let purposes: Vec<_> = runs.iter().map(|run| run.purpose).collect();
    assert_eq!(purposes, [Purpose::Main, Purpose::OwnName, Purpose::OtherShell]);
    assert!(runs[0].readyok.is_none() && runs[1].readyok.is_some());
    assert_eq!((shown.dash, shown.bash), (Some(false), Some(false)));
    let started = by_name.started.lock().unwrap();
    assert!(started.contains(&(Staging::OwnName("engine".into()), Shell::AsIs)));
}

#[test]
fn a_start_that_was_refused_memory_accuses_neither_name_nor_shell() {
    let mut plan = plan(true);
    plan.script_with_sh = true;
    plan.shells_available = vec![Shell::Dash, Shell::Bash];
    let spared_under_its_name = Puppets::new(|_| PuppetAct::Move)
        .starts(|plan| plan.staging != Staging::Neutral)
        .refused(Resource::Used(Bytes(8 << 30)));
    let (runs, shown) = probe(&spared_under_its_name, &plan);
    let purposes: Vec<_> = runs.iter().map(|run| run.purpose).collect();
    assert_eq!(purposes, [Purpose::Main]);
    assert_eq!((shown.dash, shown.bash), (None, None));
}

#[test]
fn the_other_shell_is_tried_for_advice() {
    let mut plan = plan(false);
    plan.script_with_sh = true;
    plan.shells_available = vec![Shell::Dash, Shell::Bash];
    plan.host_sh = Some(Shell::Dash);
    let puppets = Puppets::new(|_| PuppetAct::Move);
    let (runs, shown) = probe(&puppets, &plan);
    assert_eq!((shown.dash, shown.bash), (Some(true), Some(true)));
    assert_eq!(of(&runs, Purpose::OtherShell).len(), 1);
}

#[test]
fn one_that_ignores_quit_is_left_behind() {
    let puppets = Puppets::new(|_| PuppetAct::Move).deaf_to_quit(|_| true);
    let (runs, _) = probe(&puppets, &short_answers());
    let main = &runs[0];
    assert_eq!(main.asks.last().unwrap().answer, Answer::Timeout);
    assert_eq!(main.ending.how, EndHow::Quit);
    assert_eq!(main.left_processes.len(), 1);
}

#[test]
fn real_processes_that_flood_or_stop_end_every_probe() {
    let engine = |on_go: &str| {
        format!(
            "while read -r w rest; do case $w in uci) echo uciok;; isready) echo readyok;; \
             go) {on_go};; quit) exit;; esac; done"
        )
    };
    for (on_go, wanted) in [
        ("yes | tr -d '\\n'", None),
        ("kill -STOP $$", Some(Answer::Timeout)),
        ("exec >&-; sleep 1000", Some(Answer::Ended(None))),
    ] {
        let mut plan = short_answers();
        plan.bytes = Arc::from(engine(on_go).as_bytes());
        let (runs, shown) = probe(&PlainLauncher::new(), &plan);
        let first = &searches(&[&runs[0]])[0].answer;
        match wanted {
            Some(wanted) => assert_eq!(first, &wanted),
            None => assert!(matches!(first, Answer::Flood(_)), "{first:?}"),
        }
        assert_eq!(shown.go_clock, Some(false));
        assert_eq!(of(&runs, Purpose::Main).len(), 2);
    }
}

#[test]
fn progress_is_told_and_nothing_runs_twice_at_the_start() {
    let lines = Mutex::new(Vec::new());
    let puppets = Puppets::new(|_| PuppetAct::Move);
    gather(&puppets, &plan(true), &|line| {
        lock(&lines).push(line.to_owned());
    })
    .unwrap();
    let lines = lock(&lines);
    assert!(lines[0].starts_with("start, handshake (readyok within "), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("positions 1 of")));
}
