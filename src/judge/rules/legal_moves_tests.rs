use super::*;
use crate::judge::support::testing;
use crate::judge::support::testing::{illegal, ms};
use crate::model::evidence::{ExitHow, FatalSignal, MoveFault, Question, Resource};
use crate::model::units::Bytes;
use crate::model::verdict::Status;

fn castle(answer: Answer) -> Run {
    testing::run(Purpose::Positions).asked(
        Question::Go(testing::go("castling-short-white", "position startpos moves …", 6)),
        answer,
    )
}

#[test]
fn an_illegal_move_is_told_with_all_that_is_needed_to_set_it_up() {
    let run = castle(illegal("bestmove e1g1", "illegal: the king passes f1, which is attacked"));
    let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
    assert_eq!(finding.status, Status::Fail);
    assert!(
        finding.summary.starts_with("1 of 5 answers is no legal move; in castling-short-white")
    );
    assert!(finding.summary.contains("`bestmove e1g1`: illegal: the king passes f1"));
    assert!(finding.details.iter().any(|line| line.contains("FEN rnbq")));
    assert!(finding.details.iter().any(|line| line.contains("position startpos moves")));
    assert_eq!(finding.evidence["illegal"][0]["plies"], 6);
}

#[test]
fn an_end_by_chance_is_open_and_on_the_events_clock_a_failure() {
    let broke_off = |left: u64| {
        let go = GoQuestion { left: Some(ms(left)), ..testing::go("knight", "position", 6) };
        let end = Answer::Ended(Some(ExitHow::Status(5)));
        let run = testing::run(Purpose::ByChance).asked(Question::Go(go), end);
        judge(&testing::evidence_of([testing::run(Purpose::Main), run]))
    };
    let small = broke_off(600);
    assert_eq!(small.status, Status::Undecided);
    assert!(small.summary.starts_with("by chance, to `go"), "{}", small.summary);
    assert!(small.summary.contains("knight") && small.summary.contains("exit status 5"));
    assert!(small.help.contains("rule 6.2"));
    assert_eq!(broke_off(3000).status, Status::Fail);
}

#[test]
fn the_next_step_for_no_move_at_all_is_to_have_one() {
    fn help(why: &str) -> String {
        let run = castle(illegal("bestmove", why));
        judge(&testing::evidence_of([testing::run(Purpose::Main), run])).help
    }
    for fault in [MoveFault::Word, MoveFault::Null, MoveFault::Missing] {
        assert!(help(&fault.to_string()).contains("have a move ready"));
    }
    assert!(help("illegal: in check").contains("write moves as"));
}

#[test]
fn a_death_names_ply_signal_and_stderr() {
    let mut run = castle(Answer::Ended(Some(ExitHow::Signal(11)))).stderr("ouch");
    run.crashes.push(FatalSignal { at: ms(2_660), by: Some(0), signal: 11 });
    let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("it dies at ply 6"));
    assert!(finding.summary.contains("SIGSEGV"));
    assert!(finding.details.iter().any(|line| line == "stderr: ouch"));
}

#[test]
fn silence_in_one_position_is_named_and_everywhere_is_left_to_uci_go() {
    let run = castle(Answer::Timeout);
    let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("it hangs at ply 6"));
    let mut mute = testing::run(Purpose::Main);
    mute.asks[3].answer = Answer::Timeout;
    let finding = judge(&testing::evidence_of([mute]));
    assert_eq!(finding.status, Status::Skipped);
    assert_eq!(finding.evidence["because_of"], "uci-go");
}

#[test]
fn a_refusal_opens_only_its_own_run() {
    let refused = castle(Answer::Ended(Some(ExitHow::Signal(11))))
        .refused(Resource::Memory(Bytes(256 << 30)));
    let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), refused.clone()]));
    assert_eq!(finding.status, Status::Undecided);
    let honest = castle(illegal("bestmove e1g1", "illegal"));
    let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), refused, honest]));
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("e1g1"));
    assert!(finding.details.iter().any(|line| line.contains("it dies at ply 6")));
}

#[test]
fn a_death_on_the_events_clock_counts_and_one_on_a_short_clock_does_not() {
    let clock = |left, answer| {
        let mut go = testing::go("clock", "position startpos moves …", 22);
        go.left = Some(ms(left));
        let run = testing::run(Purpose::Clock).asked(Question::Go(go), answer);
        judge(&testing::evidence_of([testing::run(Purpose::Main), run]))
    };
    let dies = || Answer::Ended(Some(ExitHow::Status(1)));
    let finding = clock(1_800_000, dies());
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("it dies at ply 22, in clock"), "{}", finding.summary);
    assert_eq!(clock(1_800_000, Answer::Timeout).status, Status::Pass);
    let finding = clock(1_000, dies());
    assert_eq!(finding.status, Status::Advice);
    let words = "it fails on a clock of 1.00 s and plays on one of 1800.0 s";
    assert!(finding.summary.contains(words), "{}", finding.summary);
}

#[test]
fn a_move_that_is_said_twice_is_no_matter_of_the_clock() {
    let go = |name| Question::Go(testing::go(name, "position startpos moves …", 2));
    let told = |purpose, again: &str| {
        let small = testing::run(purpose)
            .asked(go("game-ply-1"), Answer::Legal("h7h6".into()))
            .asked(go("game-ply-2"), illegal(again, "illegal: no piece stands on h7"));
        let small = Run { surplus_moves: true, ..small };
        judge(&testing::evidence_of([testing::run(Purpose::Main), small]))
    };
    let twice = told(Purpose::SmallClock, "bestmove h7h6 ponder a2a3");
    assert!(twice.help.contains("print `bestmove` once"), "{}", twice.help);
    assert!(twice.summary.contains("; it gives a move twice: to `go "), "{}", twice.summary);
    assert!(!twice.summary.contains("clocks"), "{}", twice.summary);
    let other = told(Purpose::SmallClock, "bestmove h6h5");
    assert!(other.help.contains("before the clock is looked at"), "{}", other.help);
    // The same where it rejects.
    let rejected = told(Purpose::Positions, "bestmove h7h6");
    assert_eq!(rejected.status, Status::Fail);
    assert!(rejected.help.contains("print `bestmove` once"), "{}", rejected.help);
}

#[test]
fn a_blank_of_typography_is_named() {
    let mut silent = castle(Answer::Timeout);
    for ask in silent.asks.iter_mut().filter(|ask| ask.answer == Answer::Timeout) {
        ask.other = Some("bestmove\u{a0}e2e4".into());
    }
    for run in [silent, castle(illegal("bestmove e2e4\u{a0}", "no move on the line"))] {
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
        assert!(finding.summary.contains("a no-break space (U+00A0)"), "{}", finding.summary);
    }
}

#[test]
fn a_clock_that_is_too_small_is_told_with_the_one_on_which_it_plays() {
    let clock = |left, answer| {
        let mut go = testing::go("game-ply-5", "position startpos moves …", 5);
        go.left = Some(ms(left));
        testing::run(Purpose::SmallClock).asked(Question::Go(go), answer)
    };
    let dies = Answer::Ended(Some(ExitHow::Status(1)));
    let mut plays = testing::go("clock", "position startpos moves …", 22);
    plays.left = Some(ms(60_000));
    let plays =
        testing::run(Purpose::Clock).asked(Question::Go(plays), Answer::Legal("a2a3".into()));
    let runs = [testing::run(Purpose::Main), plays, clock(3_000, dies)];
    let mut another = runs.clone();
    let Some(Question::Go(go)) =
        another[2].asks.iter_mut().map(|ask| &mut ask.question).rev().nth(1)
    else {
        panic!("no search before `quit`");
    };
    go.go = "go wtime 600 btime 600 winc 60 binc 60".into();
    let finding = judge(&testing::evidence_of(another));
    let words = "plays on one of 60.0 s (`go wtime 1800000 btime 1800000 winc 3000 binc 3000`): to";
    assert!(finding.summary.contains(words), "{}", finding.summary);
    assert!(finding.help.contains("the clock or the increment"), "{}", finding.help);
    let finding = judge(&testing::evidence_of(runs));
    let words = "; it fails on a clock of 3.00 s and plays on one of 60.0 s: to `go ";
    assert!(finding.summary.contains(words), "{}", finding.summary);
    assert_eq!(finding.evidence["weak_below_ms"], 60_000.0);
}

#[test]
fn a_death_that_only_the_run_which_waits_has_seen_counts() {
    // A run that fails there on a small clock alone has another purpose by now (`probe::again`).
    let idle = testing::run(Purpose::Idle).asked(
        Question::Go(testing::go("idle-game-ply-24", "position startpos moves …", 24)),
        Answer::Ended(Some(ExitHow::Signal(11))),
    );
    let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), idle]));
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("it dies at ply 24"), "{}", finding.summary);
}

#[test]
fn a_resignation_is_no_illegal_move_and_shows_no_legal_one() {
    let finding =
        judge(&testing::evidence_of([testing::run(Purpose::Main), castle(Answer::Resigned)]));
    assert_eq!(finding.status, Status::Advice);
    let words =
        "4 of 5 searches answered with a legal move; it resigned in 1, as in castling-short-white";
    assert!(finding.summary.contains(words), "{}", finding.summary);
    assert_eq!(finding.evidence["resigned"][0]["plies"], 6);
    let mut only = testing::run(Purpose::Main);
    for ask in &mut only.asks {
        if ask.is_search() {
            ask.answer = Answer::Resigned;
        }
    }
    assert_eq!(judge(&testing::evidence_of([only])).status, Status::Skipped);
}

#[test]
fn what_no_rule_asks_for_is_not_held_against_it() {
    let fen = testing::run(Purpose::Capabilities).asked(
        Question::Go(testing::go("fen", "position fen …", 0)),
        illegal("bestmove a1a1", "illegal"),
    );
    let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), fen]));
    assert_eq!(finding.status, Status::Pass);
}

/// One that prints one `bestmove` for each `go` is told nothing else.
#[test]
fn a_move_of_the_position_before_is_one_on_an_old_board() {
    let go = |name, moves: &str, plies| {
        Question::Go(testing::go(name, &format!("position startpos{moves}"), plies))
    };
    let run = |purpose, said: &str, why: &str| {
        testing::run(purpose)
            .asked(go("black", " moves e2e4", 1), Answer::Legal("b7b5".into()))
            .asked(go("startpos-again", "", 0), illegal(said, why))
    };
    let judged = |purpose, said: &str, why: &str| {
        judge(&testing::evidence_of([testing::run(Purpose::Main), run(purpose, said, why)]))
    };
    let not_its = "illegal: the pawn on b7 is not White's";
    for said in ["bestmove b7b5", "bestmove a7a6"] {
        let rejected = judged(Purpose::Positions, said, not_its);
        assert!(rejected.help.contains("it plays on an old board here"), "{}", rejected.help);
        let weak = judged(Purpose::SmallClock, said, not_its);
        assert!(weak.summary.contains("; it plays on an old board: to `go "), "{}", weak.summary);
        assert!(weak.help.contains("`position startpos`"), "{}", weak.help);
    }
    // A move of its own man that is not legal says nothing of the board.
    let rejected = judged(Purpose::Positions, "bestmove e2e5", "illegal: no");
    assert!(rejected.help.contains("set up the position"), "{}", rejected.help);
    let surplus = Run { surplus_moves: true, ..run(Purpose::Positions, "bestmove b7b5", not_its) };
    let twice = judge(&testing::evidence_of([testing::run(Purpose::Main), surplus]));
    assert!(twice.help.contains("print `bestmove` once"), "{}", twice.help);
}

#[test]
fn one_that_reads_no_list_is_told_of_its_board_and_not_of_its_answers() {
    let mut run = testing::run(Purpose::Main);
    run.asks[3].answer = testing::legal("b1a3");
    run.asks[4].answer = illegal("bestmove b1a3", "illegal: the knight on b1 is not Black's");
    let finding = judge(&testing::evidence_of([run]));
    assert!(finding.help.contains("it plays on an old board here"), "{}", finding.help);
}

#[test]
fn a_failure_that_was_not_asked_again_after_the_same_is_open() {
    let mut go = testing::go("startpos-again", "position startpos", 0);
    (go.go, go.left) = ("go wtime 600 btime 600 winc 60 binc 60".into(), Some(ms(600)));
    let wrong = illegal("bestmove b7b5", "illegal: the pawn on b7 is not White's");
    let run = testing::run(Purpose::Unrepeated).asked(Question::Go(go), wrong);
    let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
    assert_eq!(finding.status, Status::Undecided);
    let words = "not asked again after 2 searches as there";
    assert!(finding.summary.contains(words), "{}", finding.summary);
    assert_eq!(finding.evidence["not_asked_again"]["position"], "startpos-again");
    let commands = finding.evidence["commands"].to_string();
    assert!(commands.contains("go wtime 600"), "{commands}");
}
