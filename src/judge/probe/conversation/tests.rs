//! Conversations with engines that behave, and with engines that do not.

use std::time::Duration;

use super::*;
use crate::engine::moves::Moves;
use crate::game::go::{Clocks, Go};
use crate::judge::probe::fake_engine::{PlainLauncher, PuppetAct, Puppets, limits, plan_of};
use crate::model::evidence::{Answer, EndHow, ExitHow, Limits, Purpose, Question, Run};
use crate::sandbox::plan::Launcher;

const CLOCK: Go = Go::Clock(Clocks::even(100, 0));

fn start(launcher: &dyn Launcher, script: &str, limits: Limits) -> Session<Started> {
    Session::start(launcher, &plan_of(script), Purpose::Main, limits).unwrap()
}

fn last(run: &Run) -> &Answer {
    &run.asks.last().unwrap().answer
}

/// A shell engine: greets, is ready, and does `on_go` at `go`.
fn script(on_go: &str) -> String {
    format!(
        "while read -r w rest; do case $w in uci) echo uciok;; isready) echo readyok;; \
         go) {on_go};; quit) exit 3;; esac; done"
    )
}

fn go_from_start(ready: Session<Ready>) -> Session<Over> {
    let moves = Moves::start();
    let search = Search::after("startpos", &moves, CLOCK);
    match ready.go(search) {
        Ok((ready, _)) => ready.quit(),
        Err(over) => over,
    }
}

fn run_script(on_go: &str, limits: Limits) -> Run {
    let launcher = PlainLauncher::new();
    match start(&launcher, &script(on_go), limits).shake_hands() {
        Ok(ready) => go_from_start(ready).finish(),
        Err(over) => panic!("{:?}", over.finish().transcript.lines()),
    }
}

fn short_answer() -> Limits {
    Limits { answer: Duration::from_secs(1), ..limits() }
}

/// One that dies where its next search comes in the moment in which threads of the last may still end.
#[test]
fn on_a_clock_of_the_event_an_opponent_moves_between_two_searches() {
    let last: std::sync::Mutex<Option<std::time::Instant>> = std::sync::Mutex::default();
    let puppets = Puppets::new(move |_| {
        let mut last = last.lock().unwrap();
        let soon = last.is_some_and(|last| last.elapsed() < Duration::from_millis(40));
        *last = Some(std::time::Instant::now());
        if soon { PuppetAct::Die } else { PuppetAct::Move }
    });
    let mut ready = start(&puppets, "", limits()).shake_hands().unwrap();
    let moves = Moves::start();
    for _ in 0..4 {
        let go = crate::judge::probe::LEAST_CLOCK;
        let search = Search::after("startpos", &moves, go);
        ready = match ready.go(search) {
            Ok((ready, Some(_))) => ready,
            other => panic!("{other:?}"),
        };
    }
}

#[test]
fn a_whole_conversation() {
    let puppets = Puppets::new(|_| PuppetAct::Move).greeting(
        "id name P\nid author A\noption name Own Book type check default true\n\
         option name Hash type spin default 16",
    );
    let ready = start(&puppets, "", limits()).shake_hands().unwrap();
    assert_eq!(ready.options().len(), 2);
    assert_eq!(ready.book().option.as_deref(), Some("Own Book"));
    assert_eq!(ready.options()[1].default.as_deref(), Some("16"));
    let ready = ready.new_game().unwrap();
    let mut over = go_from_start(ready);
    over.wait_for_leftovers();
    let run = over.finish();
    let answers: Vec<_> = run.asks.iter().map(|ask| &ask.answer).collect();
    assert!(answers.iter().all(|answer| answer.is_good()), "{answers:?}");
    assert_eq!(answers.len(), 5);
    assert_eq!(run.id_name.as_deref(), Some("P"));
    assert!(run.uciok.unwrap() <= run.readyok.unwrap());
    assert_eq!(run.ending.how, EndHow::Quit);
    assert_eq!(run.ending.exit, Some(ExitHow::Status(0)));
    assert!(run.ending.emptied_after.is_some() && run.left_processes.is_empty());
    let last_info = run.asks[3].last_info.as_deref().unwrap();
    assert!(last_info.starts_with("info depth 1 score cp 1"));
}

/// As an event sets them: those that it announces, by its own name, and no switch of the book.
#[test]
fn options_of_the_configuration_are_set_before_the_start_is_over() {
    let greeting = "option name Own Book type check default true\noption name Hash type spin default 16\n\
                    option name Clear type button";
    let puppets = Puppets::new(|_| PuppetAct::Move).greeting(greeting);
    let options = [("hash", "64"), ("Own Book", "true"), ("Clear", ""), ("Other", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let started = start(&puppets, "", limits()).configured(&options);
    let run = started.shake_hands().unwrap().quit().finish();
    assert_eq!(
        crate::judge::support::runs::commands(&run),
        [
            "uci",
            "setoption name Hash value 64",
            "isready",
            "setoption name Clear",
            "isready",
            "quit"
        ]
    );
    assert!(run.readyok.is_some());
    // A start that an option ends is none.
    let on_set = "while read -r w rest; do case $w in uci) echo option name Hash type spin; echo uciok;; \
                  isready) echo readyok;; setoption) exit 3;; esac; done";
    let launcher = PlainLauncher::new();
    let started = start(&launcher, on_set, limits()).configured(&options);
    let Err(over) = started.shake_hands() else { panic!("it has gone") };
    let run = over.finish();
    assert!(run.uciok.is_some() && run.readyok.is_none());
    assert_eq!(run.asks[1].set.as_deref(), Some("setoption name Hash value 64"));
}

#[test]
fn for_a_match_all_is_set_at_once_and_what_is_on_by_default_is_off() {
    let puppets = Puppets::new(|_| PuppetAct::Say("info string book move\nbestmove e2e4".into()))
        .greeting(
            "option name Hash type spin\noption name OwnBook type check default true\n\
             option name Ponder type check default true",
        );
    let options = [("hash", "64"), ("Own Book", "true")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let started = start(&puppets, "", limits()).configured(&options);
    let ready = started.uci().unwrap().ready_for_a_match().unwrap();
    let run = go_from_start(ready.new_game().unwrap()).finish();
    assert_eq!(
        crate::judge::support::runs::commands(&run)[..6],
        [
            "uci",
            "setoption name Hash value 64",
            "setoption name OwnBook value false",
            "setoption name Ponder value false",
            "isready",
            "ucinewgame"
        ]
    );
    assert!(run.book.by_default.is_none() && run.book.when_off.is_some());
    let lines = run.transcript.lines();
    assert!(lines.iter().any(|line| line.ends_with("> ucinewgame")), "a line each: {lines:?}");
    assert!(run.readyok.is_some());
}

#[test]
fn one_whose_first_process_has_ended_is_watched_as_long_as_another_plays_on() {
    let launcher = PlainLauncher::new();
    let in_the_background = format!("exec 3<&0; ({}) <&3 & exit 0", script("echo bestmove e2e4"));
    let mut ready = start(&launcher, &in_the_background, limits()).shake_hands().unwrap();
    let window = Duration::from_millis(80);
    ready.rest_before_go(window);
    ready.rest_after_move(window, RestWatch::Short);
    // So long after the last that its output would count as closed.
    let ready = ready.isready().unwrap();
    let run = go_from_start(ready).finish();
    assert!(run.idle_before_go.is_some() && run.idle_after_moves.len() == 1);
    // Of one that has ended whole nothing is known.
    let mut ready = start(&launcher, &script("exit"), limits()).shake_hands().unwrap();
    ready.inner.confined.kill();
    ready.rest_after_move(window, RestWatch::Short);
    assert!(ready.quit().finish().idle_after_moves.is_empty());
}

#[test]
fn book_lines_before_and_after_the_option() {
    let puppets = Puppets::new(|_| PuppetAct::Say("info string book move\nbestmove e2e4".into()))
        .greeting("option name Book type check default true\noption name OwnBook type check");
    let ready = start(&puppets, "", limits()).shake_hands().unwrap();
    assert_eq!(ready.book().option.as_deref(), Some("OwnBook"));
    let moves = Moves::start();
    let search = Search::after("x", &moves, CLOCK);
    let (ready, played) = ready.go(search).unwrap();
    assert!(played.is_some());
    assert!(ready.book().by_default.is_some() && ready.book().when_off.is_none());
    let ready = ready.set_option("OwnBook", Some("false")).unwrap();
    let (ready, _) = ready.go(search).unwrap();
    assert_eq!(ready.quit().finish().book.when_off.as_deref(), Some("info string book move"));
}

#[test]
fn illegal_moves_are_no_end() {
    for (say, why) in [
        ("bestmove e7e5", "illegal: the pawn on e7 is not White's"),
        ("bestmove E2E4", "not written as in UCI: upper case"),
        ("bestmove 0000", "the null move 0000"),
    ] {
        let puppets = Puppets::new(move |_| PuppetAct::Say(say.into()));
        let ready = start(&puppets, "", limits()).shake_hands().unwrap();
        let run = go_from_start(ready).finish();
        let Answer::Illegal { line, why: said } = &run.asks[2].answer else {
            panic!("{:?}", run.asks)
        };
        assert_eq!((line.as_str(), &*said.to_string()), (say, why));
        assert_eq!(last(&run), &Answer::Done);
    }
}

#[test]
fn a_lost_list_is_told() {
    let puppets = Puppets::new(|_| PuppetAct::Say("bestmove g1f3".into()));
    let ready = start(&puppets, "", limits()).shake_hands().unwrap();
    let moves = Moves::read("g1f3 a7a6").unwrap();
    let search = Search::after("x", &moves, CLOCK);
    let (ready, played) = ready.go(search).unwrap();
    assert!(played.is_none());
    let Answer::Illegal { why, .. } = &ready.inner.run.asks.last().unwrap().answer else {
        panic!()
    };
    assert!(why.to_string().contains("in the start position"), "{why}");
}

#[test]
fn floods_end_the_conversation() {
    let run = run_script("yes | tr -d '\\n'", limits());
    assert!(matches!(last(&run), Answer::Flood(_)), "{:?}", run.asks);
    let run = run_script("yes ''", limits());
    assert!(matches!(last(&run), Answer::Flood(_)), "{:?}", run.asks);
    assert!(run.transcript.lines().len() < 500);
}

#[test]
fn garbage_before_the_move_is_survived() {
    let run = run_script(
        "printf '\\000\\377\\n\\377info \\000 score cp\\nbestmove e2e4 \\r\\n'",
        limits(),
    );
    assert_eq!(run.asks[2].answer, Answer::Legal("e2e4".into()));
    assert_eq!(run.ending.exit, Some(ExitHow::Status(3)));
    let run = run_script("printf 'bestmove e2\\3774\\n'", limits());
    assert!(matches!(&run.asks[2].answer, Answer::Illegal { line, .. } if line.contains("\\xff")));
}

#[test]
fn closed_output_and_death() {
    let run = run_script("exec >&- 2>&-; sleep 100", limits());
    assert_eq!(last(&run), &Answer::Ended(None));
    assert_eq!(run.ending.how, EndHow::Killed);
    let run = run_script("echo sorry >&2; exit 7", limits());
    assert_eq!(last(&run), &Answer::Ended(Some(ExitHow::Status(7))));
    assert_eq!(run.stderr_tail, ["sorry"]);
    let run = run_script("kill -SEGV $$", limits());
    assert_eq!(last(&run), &Answer::Ended(Some(ExitHow::Signal(11))));
    assert_eq!(run.ending.how, EndHow::ByItself);
}

#[test]
fn death_is_seen_while_a_background_sleep_holds_the_output() {
    let run = run_script("sleep 1000 & exit 1", limits());
    assert_eq!(last(&run), &Answer::Ended(Some(ExitHow::Status(1))));
}

#[test]
fn silence_and_standstill_are_timeouts() {
    let run = run_script("sleep 1000", short_answer());
    assert_eq!(last(&run), &Answer::Timeout);
    let run = run_script("kill -STOP $$", short_answer());
    assert_eq!(last(&run), &Answer::Timeout);
    let lines = run.transcript.lines().join("\n");
    assert!(lines.contains("(T)"), "{lines}");
}

#[test]
fn an_engine_that_does_not_read_takes_no_more() {
    let launcher = PlainLauncher::new();
    let ready =
        start(&launcher, "read a; echo uciok; read a; echo readyok; sleep 1000", short_answer());
    let ready = ready.shake_hands().unwrap();
    // More than a pipe holds, and nobody reads: the write has a deadline.
    let long = "x".repeat(1 << 20);
    let over = ready.set_option(&long, None).unwrap_err();
    assert_eq!(last(&over.finish()), &Answer::NotTaken);
}

/// The engine waits in a read of its input, and so does whoever talks to it.
#[test]
fn an_answer_without_the_end_of_its_line_is_told() {
    let run = run_script("printf 'info\\nbestmove e2e4'", short_answer());
    let ask = run.asks.iter().find(|ask| ask.answer == Answer::Timeout).unwrap();
    assert_eq!(ask.unfinished.as_deref(), Some("bestmove e2e4"));
    let words = crate::judge::support::runs::answer_words(ask, &run);
    assert!(words.ends_with("; it said `bestmove e2e4` without a line's end"), "{words}");
    // One that ends there has said it.
    let run = run_script("printf 'bestmove e2e4'; exit 0", short_answer());
    assert!(run.asks.iter().all(|ask| ask.unfinished.is_none()));
    assert!(run.asks.iter().any(|ask| ask.answer == Answer::Legal("e2e4".into())));
}

#[test]
fn quit_ignored_and_sleepers_left() {
    let short = Duration::from_millis(300);
    let sleepy = Limits { grace: short, ..limits() };
    let limits = Limits { quit: short, grace: short, ..limits() };
    let launcher = PlainLauncher::new();
    let deaf = "trap '' TERM; read a; echo uciok; read a; echo readyok; while :; do sleep 1; done";
    let mut over = start(&launcher, deaf, limits).shake_hands().unwrap().quit();
    over.wait_for_leftovers();
    let run = over.finish();
    assert_eq!(last(&run), &Answer::Timeout);
    assert!(run.ending.exit.is_none() && run.ending.emptied_after.is_none());
    assert!(!run.left_processes.is_empty());

    let sleeper = "sleep 1000 & read a; echo uciok; read a; echo readyok; read a";
    let mut over = start(&launcher, sleeper, sleepy).shake_hands().unwrap().quit();
    over.wait_for_leftovers();
    let run = over.finish();
    assert_eq!(last(&run), &Answer::Done);
    assert_eq!(run.left_processes.len(), 1);
}

#[test]
fn a_short_sleeper_is_waited_for() {
    let launcher = PlainLauncher::new();
    let sleeper = "(sleep 0.3; head -c 200000 /dev/zero >&2) & read a; echo uciok; read a; \
         echo readyok; read a";
    let mut over = start(&launcher, sleeper, limits()).shake_hands().unwrap().quit();
    over.wait_for_leftovers();
    let run = over.finish();
    assert!(run.ending.emptied_after.is_some(), "{:?}", run.ending);
    assert!(run.left_processes.is_empty());
}

#[test]
fn no_start_no_more() {
    let launcher = PlainLauncher::new();
    let over = start(&launcher, "echo broken >&2; exit 2", limits()).shake_hands().unwrap_err();
    let run = over.finish();
    assert_eq!(last(&run), &Answer::Ended(Some(ExitHow::Status(2))));
    assert!(run.uciok.is_none() && run.readyok.is_none());
    assert_eq!(run.stderr_tail, ["broken"]);
}

#[test]
fn stop_and_quit_while_thinking() {
    let puppets = Puppets::new(|_| PuppetAct::Hang);
    let moves = Moves::start();
    let search = Search::after("x", &moves, Go::Bare);
    let limits = Limits { quit: Duration::from_millis(100), ..limits() };
    let ready = start(&puppets, "", limits).shake_hands().unwrap();
    let thinking = ready.think(search).unwrap();
    let Waited::Still(mut thinking) = thinking.wait(Duration::from_millis(50)) else { panic!() };
    thinking.stop();
    let Waited::Still(thinking) = thinking.wait(Duration::from_millis(80)) else { panic!() };
    let run = thinking.quit_now().finish();
    let answers: Vec<_> = run.asks.iter().map(|ask| ask.answer.clone()).collect();
    assert_eq!(answers[2..], [Answer::Timeout, Answer::Timeout]);
    assert_eq!(run.ending.how, EndHow::Quit);
}

#[test]
fn the_end_of_input() {
    let puppets = Puppets::new(|_| PuppetAct::Move);
    let ready = start(&puppets, "", limits()).shake_hands().unwrap();
    let run = ready.end_of_input().finish();
    assert_eq!(run.ending.how, EndHow::EndOfInput);
    assert_eq!(run.asks.last().unwrap().question, Question::EndOfInput);
    assert_eq!(last(&run), &Answer::Done);
}

#[test]
fn one_that_slept_over_a_limit_would_have_done_so_on_any_host() {
    let strained = |share: f64| {
        let puppets = Puppets::new(|_| PuppetAct::Hang).busy(share);
        let ready = start(&puppets, "", short_answer()).shake_hands().unwrap();
        let run = go_from_start(ready).finish();
        assert_eq!(last(&run), &Answer::Timeout);
        run.strained
    };
    assert!(!strained(0.0), "it slept");
    assert!(strained(1.0), "it computed");
    // Between the edges of a wait a tenth of a processor is little, towards its end even that is something.
    assert!(strained(0.05), "it computed a little to the last");
}

#[test]
fn an_end_or_a_bad_move_may_be_the_fault_of_a_busy_host() {
    assert!(run_script("exit 7", limits()).strained);
    assert!(run_script("kill -SEGV $$", limits()).strained);
    assert!(run_script("echo bestmove a1a1", limits()).strained);
    assert!(!run_script("exit 127", limits()).strained, "no host brings a program in time");
    assert!(!run_script("echo bestmove e2e4", limits()).strained);
}

#[test]
fn a_waiting_engine_is_looked_at_until_it_rests_or_has_worked() {
    let window = Duration::from_millis(20);
    let look = |share: f64, watch: RestWatch| {
        let puppets = Puppets::new(|_| PuppetAct::Move).busy(share);
        let mut ready = start(&puppets, "", limits()).shake_hands().unwrap();
        ready.rest_before_go(window);
        ready.rest_after_move(window, watch);
        let run = ready.quit().finish();
        (run.idle_before_go.unwrap(), run.idle_after_moves[0])
    };
    let (before, after) = look(0.0, RestWatch::Whole);
    assert!(before < 0.2 && after.used.is_zero() && after.settling.is_zero(), "{before} {after:?}");
    // These lengths are the rule's own, not the machine's.
    assert!(after.watched >= window * 24);
    let (_, after) = look(0.0, RestWatch::Short);
    assert!(after.used.is_zero() && after.watched >= window * 16, "{after:?}");
    for watch in [RestWatch::Whole, RestWatch::Short] {
        let (before, after) = look(0.9, watch);
        assert!(before > 0.5 && after.share() > 0.5, "{before} {after:?}");
        assert!(after.settling >= window * 14 && after.watched >= window * 24, "{after:?}");
    }
}
