//! Conversations over pipes whose other end the test holds.

use super::*;
use crate::engine::hand_over::tests::on_one_core;
use std::fs::File;
use std::io::Write as _;

/// Keeps no record, as games do.
struct NoRecord;

impl Observer for NoRecord {}

/// Keeps what it is told of, as probes do.
#[derive(Default)]
struct Kept(Vec<String>);

impl Observer for Kept {
    const QUIET: Duration = Duration::from_millis(300);
    const FLOODS_END: bool = true;

    fn received(&mut self, _at: Instant, line: &[u8]) {
        self.0.push(String::from_utf8_lossy(line).into_owned());
    }
}

/// The engine's side of the pipes, held by the test.
struct Far {
    stdin: OwnedFd,
    stdout: File,
    stderr: File,
    ended: File,
}

fn wire<O: Observer>(stop: &Stop, observer: O) -> (Wire<O>, Far) {
    // Other tests start processes meanwhile, which are not to hold the ends.
    let pipe = || nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).unwrap();
    let ((their_in, stdin), (stdout, their_out)) = (pipe(), pipe());
    let ((stderr, their_err), (ended, their_end)) = (pipe(), pipe());
    let pipes = Pipes { stdin, stdout, stderr, ended };
    let far = Far {
        stdin: their_in,
        stdout: their_out.into(),
        stderr: their_err.into(),
        ended: their_end.into(),
    };
    (Wire::new(pipes, stop.clone(), observer).unwrap(), far)
}

fn game() -> (Wire<NoRecord>, Far) {
    wire(&Stop::new().unwrap(), NoRecord)
}

fn probe() -> (Wire<Kept>, Far) {
    wire(&Stop::new().unwrap(), Kept::default())
}

/// The result of sending when nobody reads any more. A process that another test has just forked may hold the pipe until its exec.
fn sent_to_nobody<O: Observer>(wire: &mut Wire<O>) -> Result<(), Silence> {
    let until = soon();
    loop {
        match wire.send(b"x", Duration::ZERO).1 {
            Ok(()) | Err(Silence::Timeout) if Instant::now() < until => std::thread::yield_now(),
            other => return other,
        }
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn line<O: Observer>(wire: &mut Wire<O>, until: Instant) -> Result<String, Silence> {
    wire.line(until).map(|(_, line)| String::from_utf8_lossy(line).into_owned())
}

fn word(word: &str) -> Result<String, Silence> {
    Ok(word.to_owned())
}

#[test]
fn lines_come_in_order_and_the_last_may_lack_its_end() {
    let (mut wire, mut far) = game();
    far.stdout.write_all(b"one\n\ntwo\r\nthr").unwrap();
    assert_eq!(line(&mut wire, soon()), word("one"));
    assert_eq!(line(&mut wire, soon()), word(""));
    assert_eq!(line(&mut wire, soon()), word("two\r"));
    let short = Instant::now() + Duration::from_millis(20);
    assert_eq!(line(&mut wire, short), Err(Silence::Timeout));
    far.stdout.write_all(b"ee").unwrap();
    drop(far.stdout);
    assert_eq!(line(&mut wire, soon()), word("three"));
    assert_eq!(line(&mut wire, soon()), Err(Silence::Gone));
}

#[test]
fn no_line_by_the_deadline_is_a_timeout_and_nothing_is_lost() {
    let (mut wire, mut far) = game();
    let now = Instant::now();
    assert_eq!(line(&mut wire, now), Err(Silence::Timeout));
    far.stdout.write_all(b"late\nlater\n").unwrap();
    assert_eq!(line(&mut wire, now), Err(Silence::Timeout));
    assert_eq!(line(&mut wire, now), Err(Silence::Timeout));
    assert_eq!(line(&mut wire, soon()), word("late"));
    assert_eq!(line(&mut wire, soon()), word("later"));
}

#[test]
fn what_was_said_unasked_is_no_answer_to_the_next_question() {
    let (mut wire, mut far) = probe();
    far.stdout.write_all(b"bestmove e2e4\nread").unwrap();
    wire.drain();
    far.stdout.write_all(b"yok\n").unwrap();
    wire.send(b"go\n", Duration::from_secs(60)).1.unwrap();
    assert_eq!(line(&mut wire, soon()), word("readyok"));
    assert_eq!(wire.observer().0, ["bestmove e2e4", "readyok"]);
}

#[test]
fn only_what_was_given_is_sent() {
    let (mut wire, far) = probe();
    let long = Duration::from_secs(60);
    assert_eq!(wire.send(b"uci\n", long).1, Ok(()));
    let mut buffer = [0; 16];
    let length = nix::unistd::read(&far.stdin, &mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"uci\n");
    drop(far.stdin);
    assert_eq!(sent_to_nobody(&mut wire), Err(Silence::Gone));
    assert_eq!(wire.send(b"isready\n", long).1, Err(Silence::Gone));
}

#[test]
fn one_that_reads_nothing_is_waited_for_no_longer_than_told() {
    let (mut wire, far) = game();
    let text = vec![b'x'; 1 << 20];
    let (_, sent) = wire.send(&text, Duration::from_millis(20));
    assert_eq!(sent, Err(Silence::Timeout));
    drop(far.stdin);
    assert_eq!(sent_to_nobody(&mut wire), Err(Silence::Gone));
    let (mut wire, _far) = probe();
    assert_eq!(wire.send(&text, Duration::ZERO).1, Err(Silence::Timeout));
}

/// The engine writes more than a pipe holds before it reads, and its question is more than a pipe holds.
#[test]
fn one_that_writes_before_it_reads_locks_nobody_up() {
    let (mut wire, mut far) = game();
    let engine = std::thread::spawn(move || {
        for _ in 0..10_000 {
            far.stdout.write_all(b"info string a line of some length\n").unwrap();
        }
        let (mut left, mut chunk) = (1 << 20, [0; 4096]);
        while left > 0 {
            left -= nix::unistd::read(&far.stdin, &mut chunk).unwrap();
        }
        far.stdout.write_all(b"readyok\n").unwrap();
        far
    });
    wire.send(&vec![b'x'; 1 << 20], Duration::from_secs(60)).1.unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while line(&mut wire, until).unwrap() != "readyok" {}
    drop(engine.join());
}

#[test]
fn a_line_that_is_too_long_is_passed_over_in_a_game() {
    let (mut wire, mut far) = game();
    let writer = std::thread::spawn(move || {
        far.stdout.write_all(&vec![b'x'; 3 * LONGEST_LINE]).unwrap();
        far.stdout.write_all(b"\nbestmove e2e4\n").unwrap();
        far
    });
    assert_eq!(line(&mut wire, soon()), word("bestmove e2e4"));
    drop(writer.join());
}

/// A line of play without end is no flood: whoever plays matches with the engine takes it as well.
#[test]
fn a_line_of_a_hundred_thousand_bytes_is_one_line() {
    let (mut wire, mut far) = probe();
    let writer = std::thread::spawn(move || {
        far.stdout.write_all(&vec![b'x'; 100_000]).unwrap();
        far.stdout.write_all(b"\nbestmove e2e4\n").unwrap();
        far
    });
    assert_eq!(line(&mut wire, soon()).map(|line| line.len()).ok(), Some(100_000));
    assert_eq!(line(&mut wire, soon()), word("bestmove e2e4"));
    drop(writer.join());
}

#[test]
fn an_endless_line_is_a_flood_and_stays_one() {
    let (mut wire, mut far) = probe();
    let writer = std::thread::spawn(move || {
        // Ends with an error when the wire is dropped, however much there is to come.
        while far.stdout.write_all(&[b'y'; 4096]).is_ok() {}
    });
    let Err(Silence::Flood(bytes)) = line(&mut wire, soon()) else { panic!() };
    assert!(bytes.0 > LONGEST_LINE as u64 && bytes.0 < 4 * LONGEST_LINE as u64);
    assert!(matches!(line(&mut wire, soon()), Err(Silence::Flood(_))));
    drop(wire);
    writer.join().unwrap();
}

fn ends<O: Observer>((mut wire, mut far): (Wire<O>, Far)) {
    far.stdout.write_all(b"last words\n").unwrap();
    far.stderr.write_all(b"oh\n").unwrap();
    far.ended.write_all(b"x").unwrap();
    assert_eq!(line(&mut wire, soon()), word("last words"));
    assert_eq!(line(&mut wire, soon()), Err(Silence::Gone));
    assert!(wire.has_ended());
    wire.idle(soon());
    assert_eq!(wire.stderr_tail(), b"oh\n");
}

#[test]
fn the_end_of_the_process_counts_though_its_pipes_stay_open() {
    ends(game());
    ends(probe());
}

#[test]
fn standard_error_is_drained_and_its_tail_kept() {
    let (mut wire, mut far) = game();
    let writer = std::thread::spawn(move || {
        far.stderr.write_all(&[b'e'; 300_000]).unwrap();
        far.stderr.write_all(b"the end\n").unwrap();
        far.stdout.write_all(b"uciok\n").unwrap();
        far
    });
    assert_eq!(line(&mut wire, soon()), word("uciok"));
    let _far = writer.join().unwrap();
    wire.drain();
    wire.drain();
    let tail = wire.stderr_tail();
    assert_eq!(tail.len(), STDERR_TAIL);
    assert!(tail.ends_with(b"the end\n"));
}

#[test]
fn stopping_wakes_who_waits() {
    let stop = Stop::new().unwrap();
    let (mut wire, _far) = wire(&stop, NoRecord);
    stop.raise(StopLevel::Now);
    let long = Instant::now() + Duration::from_secs(60);
    assert_eq!(line(&mut wire, long), Err(Silence::Stopped));
}

/// On one processor with an engine that answers at once, then one question late, then not at all.
#[test]
fn one_that_is_yielded_to_is_heard_and_waited_for_as_any_other() {
    let seen = std::thread::spawn(|| {
        on_one_core();
        let stop = Stop::new().unwrap();
        let (mut wire, mut far) = wire(&stop, NoRecord);
        let engine = std::thread::spawn(move || {
            let mut text = [0; 64];
            while let Ok(length @ 1..) = nix::unistd::read(&far.stdin, &mut text) {
                match &text[..length] {
                    b"late\n" => std::thread::sleep(Duration::from_millis(5)),
                    b"never\n" => continue,
                    _ => {}
                }
                far.stdout.write_all(&text[..length]).unwrap();
            }
        });
        let mut ask = |text: &str| {
            let patience = Duration::from_millis(if text == "never\n" { 20 } else { 60_000 });
            let (asked, sent) = wire.send(text.as_bytes(), patience);
            sent.unwrap();
            let answer = wire.line(asked + patience);
            answer.map(|(_, line)| String::from_utf8_lossy(line).into_owned())
        };
        let at_once = (0..200).filter(|_| ask("now\n").as_deref() == Ok("now")).count();
        let late = ask("late\n");
        let again = ask("now\n");
        let never = ask("never\n");
        stop.raise(StopLevel::Now);
        let stopped = ask("never\n");
        drop(wire);
        engine.join().unwrap();
        (at_once, late, again, never, stopped)
    })
    .join()
    .unwrap();
    let silent = (Err(Silence::Timeout), Err(Silence::Stopped));
    assert_eq!(seen, (200, word("late"), word("now"), silent.0, silent.1));
}

#[test]
fn a_line_without_its_end_can_be_looked_at_and_is_none() {
    let (mut wire, mut far) = probe();
    far.stdout.write_all(b"info\nbestmove e2e4").unwrap();
    assert_eq!(line(&mut wire, soon()), word("info"));
    let silent = line(&mut wire, Instant::now() + Duration::from_millis(20));
    assert_eq!(silent, Err(Silence::Timeout));
    assert_eq!(wire.unfinished(), b"bestmove e2e4");
    far.stdout.write_all(b"\n").unwrap();
    assert_eq!(line(&mut wire, soon()), word("bestmove e2e4"));
    assert_eq!(wire.unfinished(), b"");
}
