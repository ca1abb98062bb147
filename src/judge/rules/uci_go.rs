//! Rule 7.9: `go` or `go wtime A btime B winc C binc D`: one of the two must work.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::runs::SearchInRun;
use crate::judge::support::{excuse, host_lacks, one_answer, runs, wording};
use crate::model::evidence::{Answer, Ask, Evidence, Purpose, Run};
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;
use crate::model::words::counted;

const RULE: RuleId = RuleId::UciGo;

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    before_games: true,
    ..JudgedRule::by_answers(RULE, CausedByLoad::IfStrained, |case| judge(case.evidence))
};

/// Judges whether searches end with a `bestmove`; whether the move is legal is `legal-moves`'s matter.
fn judge(evidence: &Evidence) -> Finding {
    let searches: Vec<SearchInRun> = runs::gate_runs(evidence)
        .filter(|run| !matches!(run.purpose, Purpose::LongGame(_) | Purpose::Clock | Purpose::Idle))
        .chain(evidence.of(Purpose::OtherGo))
        .flat_map(runs::searches)
        .filter(|s| runs::is_rule_form(s.go))
        .collect();
    let bare = bare_works(evidence);
    if searches.is_empty() {
        return one_answer::not_asked(RULE, evidence, "go wtime A btime B winc C binc D");
    }
    let good = searches.iter().filter(|s| has_moved(s.ask)).count();
    // Where some searches ended with a move, the command is understood, and the position is at fault.
    let silent = searches.iter().find(|s| good == 0 && !has_moved(s.ask));
    let figures = |finding: Finding| {
        finding.with("asked", searches.len()).with("answered", good).with("go_bare", bare)
    };
    let Some(&SearchInRun { run, index, ask, go }) = silent else {
        return figures(passed(&searches, good, bare));
    };
    if bare == Some(true) {
        return figures(
            Finding::advice(
                RULE,
                format!(
                    "`go` alone works; the form with a clock does not: {}",
                    runs::answer_words(ask, run)
                ),
            )
            .help(
                "rule 7.9 accepts it, but an engine that does not read its clock will lose on time",
            ),
        );
    }
    let resigns = ask.answer == Answer::Resigned;
    let summary = format!(
        "no {} to `{}`{}: {}",
        if resigns { "move" } else { "bestmove" },
        go.go,
        if bare == Some(false) { " nor to `go` alone" } else { "" },
        runs::answer_words(ask, run)
    );
    let finding = Finding::fail(RULE, summary)
        .detail(format!("position: {}", go.fen))
        .details(runs::account(run, index))
        .with("ask", ask)
        .with("commands", runs::commands_upto(run, index))
        .help(if on_stderr(run) {
            "write `bestmove` to standard output (file descriptor 1): it went to standard error"
        } else if resigns {
            "answer with a move as long as the game is not lost: it resigned wherever it was asked, so that nothing shows \
             that it plays"
        } else {
            one_answer::next_step(
            ask,
            "after `go wtime A btime B winc C binc D` (in this order, milliseconds) search, and print \
             `bestmove` with the move, flushed, well before the clock has run out",
        )});
    // Files that are missing are recorded of the main run alone.
    let terminal = || runs::gate_runs(evidence).find_map(host_lacks::no_terminal);
    figures(excuse::excused(finding, excuse::refusal(run, &evidence.host).or_else(terminal)))
}

/// True if it wrote a move to its standard error.
fn on_stderr(run: &Run) -> bool {
    run.stderr_tail.iter().any(|line| line.trim_start().starts_with("bestmove "))
}

fn passed(searches: &[SearchInRun], good: usize, bare: Option<bool>) -> Finding {
    let answered = searches.iter().filter(|s| has_moved(s.ask));
    let slowest = answered.map(|s| s.ask.took).max().unwrap_or_default();
    let alone = match bare {
        Some(true) => "; `go` alone works, too",
        Some(false) => "; `go` alone gives no move, which rule 7.9 leaves open",
        None => "",
    };
    let resigned = searches.iter().filter(|s| s.ask.answer == Answer::Resigned).count();
    let missing = searches.len() - good - resigned;
    let base = format!(
        "{} of `go wtime A btime B winc C binc D` answered, the slowest in {}{alone}",
        counted(good, "search"),
        wording::secs(slowest)
    );
    if missing > 0 {
        return Finding::advice(RULE, format!("{base}; {missing} not (see legal-moves)"))
            .help("mend what legal-moves tells");
    }
    Finding::pass(RULE, base)
}

/// True if a move came; `bestmove` with nothing after it is none, nor is a resignation.
fn has_moved(ask: &Ask) -> bool {
    match &ask.answer {
        Answer::Legal(_) => true,
        Answer::Illegal { line, .. } => line.split_whitespace().count() > 1,
        _ => false,
    }
}

/// True if bare `go` gave a move; none where it was not tried.
///
/// The probe's own word goes first: a move that came only after `stop` is none, since rule 7.9 knows no `stop`.
fn bare_works(evidence: &Evidence) -> Option<bool> {
    if evidence.capabilities.go_bare.is_some() {
        return evidence.capabilities.go_bare;
    }
    let mut tried = evidence
        .of(Purpose::BareGo)
        .flat_map(runs::searches)
        .filter(|s| s.go.go.trim() == "go")
        .map(|s| has_moved(s.ask))
        .peekable();
    tried.peek()?;
    Some(tried.any(|good| good))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::illegal;
    use crate::model::evidence::{Question, Resource};
    use crate::model::units::Bytes;
    use crate::model::verdict::Status;

    fn mute() -> Run {
        let mut run = testing::run(Purpose::Main);
        run.asks[3].answer = Answer::Timeout;
        run.asks[4].answer = Answer::Timeout;
        run
    }

    #[test]
    fn either_form_will_do() {
        let finding = judge(&testing::evidence());
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.summary.contains("4 searches"));
        let mut evidence = testing::evidence_of([mute()]);
        evidence.capabilities.go_bare = Some(true);
        assert_eq!(judge(&evidence).status, Status::Advice);
        evidence.capabilities.go_bare = Some(false);
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("nor to `go` alone"));
        let elsewhere = judge(&testing::evidence_of([mute().stderr("bestmove e2e4")]));
        assert!(elsewhere.help.contains("it went to standard error"), "{}", elsewhere.help);
        let commands = finding.evidence["commands"].as_array().unwrap();
        assert!(commands.last().unwrap().as_str().unwrap().starts_with("go "), "{commands:?}");
    }

    #[test]
    fn an_entry_that_knows_bare_go_alone_is_told_of_the_other_form() {
        let run = Run { purpose: Purpose::OtherGo, ..mute() };
        let mut evidence = testing::evidence_of([run, testing::run(Purpose::Positions)]);
        evidence.runs[1].asks.truncate(2);
        evidence.capabilities.go_bare = Some(true);
        // The start and the end, again.
        let mut started = testing::run(Purpose::Main);
        started.asks.truncate(2);
        evidence.runs.push(started);
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("the form with a clock does not"), "{}", finding.summary);
    }

    #[test]
    fn a_fault_before_the_first_go_is_the_matter_of_its_own_rule() {
        let mut run = testing::run(Purpose::Main);
        run.asks.truncate(3);
        run.asks[2] = testing::ask(Question::NewGame, 510, 20_000, Answer::Timeout);
        let mut evidence = testing::evidence_of([run]);
        evidence.capabilities.go_bare = Some(true);
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Skipped);
        assert_eq!(finding.evidence["because_of"], "uci-newgame");
    }

    #[test]
    fn one_silent_position_is_the_matter_of_legal_moves() {
        let mut run = testing::run(Purpose::Positions).asked(
            Question::Go(testing::go("one-move", "position startpos moves …", 30)),
            Answer::Timeout,
        );
        for ask in run.asks.iter_mut().filter(|ask| ask.answer == Answer::Timeout) {
            ask.took = testing::ms(20_600);
        }
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("1 not (see legal-moves)"));
        assert!(
            !finding.summary.contains("20.6 s"),
            "no answer took that long: {}",
            finding.summary
        );
    }

    #[test]
    fn a_bestmove_without_a_move_is_no_answer() {
        let mut run = testing::run(Purpose::Main);
        for at in [3, 4] {
            run.asks[at].answer = illegal("bestmove", "no move on the line");
        }
        assert_eq!(judge(&testing::evidence_of([run])).status, Status::Fail);
    }

    #[test]
    fn to_resign_everywhere_is_no_answer_and_to_resign_somewhere_is_one() {
        let mut run = testing::run(Purpose::Main);
        run.asks[4].answer = Answer::Resigned;
        assert_eq!(judge(&testing::evidence_of([run.clone()])).status, Status::Pass);
        run.asks[3].answer = Answer::Resigned;
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("no move to `go "), "{}", finding.summary);
        assert!(finding.help.contains("it resigned wherever"), "{}", finding.help);
    }

    #[test]
    fn an_illegal_move_is_not_its_matter() {
        let run = testing::run(Purpose::Positions).asked(
            Question::Go(testing::go("a", "position startpos moves …", 6)),
            illegal("bestmove E2E4", "not written as in UCI: upper case"),
        );
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
        assert_eq!(finding.status, Status::Pass);
    }

    #[test]
    fn a_pseudo_terminal_that_is_wanted_at_the_first_go_opens_it() {
        let status = |path: &str| {
            let mut run = mute().opened(path, false);
            run.opens[0].missing = true;
            judge(&testing::evidence_of([run])).status
        };
        assert_eq!(status("/dev/ptmx"), Status::Undecided);
        assert_eq!(status("/usr/lib/libm.so.6"), Status::Fail);
    }

    #[test]
    fn a_refused_hash_opens_it() {
        let run = mute().refused(Resource::Memory(Bytes(256 << 30)));
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.summary.contains("256 GiB"));
    }
}
