//! Rule 2.1: an illegal move loses. Every `bestmove` in every position tried is legal and well formed, and
//! the engine lives through all of them.

use super::{CausedByLoad, JudgedRule};
use std::fmt::Write as _;
use std::time::Duration;

use crate::judge::support::runs::SearchInRun;
use crate::judge::support::{came_again, excuse, one_answer, positions, runs, wording};
use serde_json::{Value, json};

use crate::model::evidence::{Answer, Ask, Evidence, GoQuestion, LEAST_LEFT, Purpose, Run};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, LEFT_OUT};
use crate::model::words::counted;

const RULE: RuleId = RuleId::LegalMoves;

/// The time over all positions from which on an engine counts as slow.
const SLOW: Duration = Duration::from_secs(30);

/// The number of offences that are written out.
const SHOWN: usize = 5;

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    before_games: true,
    ..JudgedRule::by_answers(RULE, CausedByLoad::IfStrained, |case| judge(case.evidence))
};

/// Judges every search of the runs that count, and names deaths in the middle of a game.
fn judge(evidence: &Evidence) -> Finding {
    let all: Vec<SearchInRun> = runs::gate_runs(evidence).flat_map(runs::searches).collect();
    if all.is_empty() {
        return one_answer::not_asked(RULE, evidence, "go");
    }
    let searches = Searches::of(all);
    if searches.legal + searches.illegal.len() == 0 {
        return Finding::skipped(RULE, RuleId::UciGo);
    }
    let accusation = searches.accusation(evidence).or_else(|| broke_off(evidence));
    accusation.unwrap_or_else(|| searches.without_fault(evidence))
}

/// The searches that count, by their answers.
struct Searches<'a> {
    all: Vec<SearchInRun<'a>>,
    /// The number of legal answers.
    legal: usize,
    illegal: Vec<SearchInRun<'a>>,
    /// Searches without an answer, those of the long game left out: the rule that asked for it tells of them.
    dead: Vec<SearchInRun<'a>>,
    /// A resignation (rule 2.1) is no illegal move, and shows no legal one.
    resigned: Vec<SearchInRun<'a>>,
}

impl<'a> Searches<'a> {
    /// Sorts the searches.
    fn of(all: Vec<SearchInRun<'a>>) -> Searches<'a> {
        let is_illegal = |s: &SearchInRun| matches!(s.ask.answer, Answer::Illegal { .. });
        let is_of_long_game = |s: &SearchInRun| matches!(s.run.purpose, Purpose::LongGame(_));
        Searches {
            legal: all.iter().filter(|s| s.ask.moved()).count(),
            illegal: pick(&all, |s| is_illegal(s) && !is_no_fault(s)),
            dead: pick(&all, |s| !answered(s.ask) && !is_no_fault(s) && !is_of_long_game(s)),
            resigned: pick(&all, |s| s.ask.answer == Answer::Resigned),
            all,
        }
    }

    /// Adds what programs read of the searches.
    fn figures(&self, mut finding: Finding) -> Finding {
        let shown = |searches: &[SearchInRun]| -> Vec<Value> {
            searches.iter().take(50).map(json_of).collect()
        };
        if !self.resigned.is_empty() {
            finding = finding.with("resigned", shown(&self.resigned));
        }
        finding
            .with("searches", self.all.len())
            .with("legal", self.legal)
            .with("illegal", shown(&self.illegal))
            .with("died", shown(&self.dead))
    }

    /// The finding on an engine that answered with an illegal move, or not at all.
    fn accusation(&self, evidence: &Evidence) -> Option<Finding> {
        // Each accusation is excused by its own run only: one honest failure elsewhere stands.
        let first_illegal = guilty(&self.illegal).map(|s| (s, broken(&self.all, &self.illegal, s)));
        let first_dead = guilty(&self.dead).map(|s| (s, died(&self.dead, s)));
        let mut accusations: Vec<(SearchInRun, Finding)> =
            first_illegal.into_iter().chain(first_dead).collect();
        accusations.sort_by_key(|(s, _)| !s.run.refusals.is_empty());
        let mut accusations = accusations.into_iter();
        let (search, mut finding) = accusations.next()?;
        for (_, other) in accusations {
            finding.details.push(other.summary);
            finding.details.extend(other.details);
        }
        // The same question on the clocks of the event.
        finding.details.extend(runs::again(evidence, search.go).map(|again| {
            let words = runs::answer_words(again.ask, again.run);
            format!("again in a fresh process, `{}`: {words}", again.go.go)
        }));
        let mut faults = self.illegal.iter().chain(&self.dead);
        let came_again = faults.any(|s| came_again::came_again(evidence, s));
        let finding = came_again::noted(finding, came_again);
        let finding = finding.with("commands", runs::commands_upto(search.run, search.index));
        Some(self.figures(excuse::excused(finding, excuse::refusal(search.run, &evidence.host))))
    }

    /// The finding on an engine that has no such fault: an advice where it is weak on small clocks, or resigned.
    fn without_fault(&self, evidence: &Evidence) -> Finding {
        // A search on the event's clock is not waited for to its end.
        let cut = self.all.iter().filter(|search| search.ask.was_cut()).count();
        let mut summary = format!(
            "{} of {} searches answered with a legal move",
            self.legal,
            self.all.len() - cut
        );
        let places =
            self.all.iter().filter(|search| search.run.purpose == Purpose::Positions).count();
        let all = positions::all().len();
        let slow = (1..all).contains(&places) && left_out(evidence);
        if slow {
            let _ = write!(summary, "; it is slow, so {places} of {all} positions were asked");
        }
        if let Some(first) = self.resigned.first() {
            let _ = write!(
                summary,
                "; it resigned in {}, as in {} (after {})",
                self.resigned.len(),
                first.go.position,
                first.go.plies
            );
        }
        let finding = self.figures(match (weak(evidence), self.resigned.first()) {
            (Some(weak), _) => weak_below(evidence, &weak, summary),
            (None, Some(first)) => Finding::advice(RULE, summary).details(place(first)).help(
                "see that it resigns only where it is lost: `bestmove resign` loses the game at once (rule 2.1), and shows \
                 no legal move here",
            ),
            (None, None) => Finding::pass(RULE, summary),
        });
        if slow { finding.with(LEFT_OUT, all - places) } else { finding }
    }
}

/// True if some positions were left out because the engine takes long over each.
fn left_out(evidence: &Evidence) -> bool {
    let mut runs = evidence.of(Purpose::Positions);
    runs.any(|run| run.asks.iter().map(|ask| ask.took).sum::<Duration>() > SLOW)
}

/// True if the clock's run asked on a clock that the event does not produce, or did not wait for the answer.
fn is_no_fault(search: &SearchInRun) -> bool {
    let is_short = search.go.left.is_some_and(|left| left < LEAST_LEFT);
    search.run.purpose == Purpose::Clock && (is_short || search.ask.was_cut())
}

/// The finding on an engine that broke off, and did not when all was asked again on the same clock: nothing of what it was asked tells when it
/// comes. On a clock of the event it loses a game (rule 6.2); on a smaller one nobody can tell whether it would on a bigger.
fn broke_off(evidence: &Evidence) -> Option<Finding> {
    let cases = evidence.of(Purpose::ByChance).filter_map(|run| {
        let is_bad = |ask: &&Ask| !ask.answer.is_good() && !ask.was_cut();
        let bad = run.asks.iter().position(|ask| is_bad(&ask))?;
        let search = runs::searches(run).take_while(|search| search.index <= bad).last()?;
        Some((run, run.asks.get(bad)?, search))
    });
    let (run, ask, search) = cases.max_by_key(|(_, _, search)| search.go.left)?;
    let when = if ask.is_search() { "to" } else { "after" };
    let summary = format!(
        "by chance, {when} `{}` in {}: {}; all went well when the same was asked again on the same clock",
        search.go.go,
        search.go.position,
        runs::answer_words(ask, run)
    );
    let on_the_events = search.go.left.is_some_and(|left| left >= LEAST_LEFT);
    let finding = if on_the_events {
        Finding::fail(RULE, summary)
    } else {
        Finding::undecided(RULE, summary)
    };
    let finding = finding
        .details(place(&search))
        .details(runs::options_set(run, search.index))
        .details(runs::crashes(run))
        .with("broke_off", json_of(&search))
        .with("commands", runs::commands_upto(run, search.index))
        .help(came_again::BY_CHANCE);
    Some(excuse::excused(finding, excuse::refusal(run, &evidence.host)))
}

/// The failure on the biggest of the clocks that were found too small for the entry.
fn weak(evidence: &Evidence) -> Option<SearchInRun<'_>> {
    let small = |run: &&Run| matches!(run.purpose, Purpose::SmallClock | Purpose::Clock);
    let slow = |s: &SearchInRun| s.run.purpose == Purpose::Clock && s.ask.answer == Answer::Timeout;
    let failed = evidence.runs.iter().filter(small).flat_map(runs::searches);
    let failed = failed.filter(|s| !s.ask.answer.is_good() && !s.ask.was_cut() && !slow(s));
    failed.max_by_key(|s| (s.run.purpose == Purpose::SmallClock, s.go.left))
}

/// The advice where it fails on a clock that is too small to be the event's, and on no bigger one.
fn weak_below(evidence: &Evidence, weak: &SearchInRun<'_>, summary: String) -> Finding {
    let again = says_again(weak);
    let went_well = runs::gate_runs(evidence).flat_map(runs::searches);
    let bound = went_well
        .filter(|s| s.ask.answer.is_good() && s.go.left > weak.go.left)
        .filter_map(|s| Some((s.go.left?, &s.go.go)))
        .min_by_key(|(left, _)| *left);
    // Where the increment is another one, too, it may be that which the entry does not stand.
    let increment = |go: &str| go.split_once(" winc ").map(|(_, rest)| rest.to_owned());
    let other = bound.map(|(_, go)| go).filter(|go| increment(go) != increment(&weak.go.go));
    let fault = match (bound, weak.go.left) {
        // The clock has no part in it.
        _ if again => "it gives a move twice".to_owned(),
        // What lies between the two was not tried.
        (Some((plays, _)), Some(fails)) => format!(
            "it fails on a clock of {} and plays on one of {}{}",
            wording::secs(fails),
            wording::secs(plays),
            other.map_or_else(String::new, |go| format!(" (`{go}`)"))
        ),
        // Smaller clocks in the same process went before it.
        (None, Some(left)) if left >= LEAST_LEFT => {
            "it is weak on clocks below the event's, and after them".to_owned()
        }
        _ => "it is weak on small clocks".to_owned(),
    };
    Finding::advice(
        RULE,
        format!(
            "{summary}; {fault}: to `{}` in {} {}",
            weak.go.go,
            weak.go.position,
            runs::answer_words(weak.ask, weak.run)
        ),
    )
    .details(place(weak))
    .details(runs::options_set(weak.run, weak.index))
    .details(runs::crashes(weak.run))
    .with("weak_below_ms", bound.map(|(left, _)| left.as_secs_f64() * 1e3))
    .with("weak_at", json_of(weak))
    .with("commands", runs::commands_upto(weak.run, weak.index))
    .help(if again {
        TWICE
    } else if other.is_some() && matches!(weak.ask.answer, Answer::Ended(_)) {
        "see by hand what of that `go` ends it, the clock or the increment: an engine that ends loses the game, though below the \
         event's clock that is no reason to reject"
    } else {
        "have a move ready before the clock is looked at, such as the first legal one: an engine that is short of \
         time loses the game otherwise, though that is no reason to reject"
    })
}

/// The next step where an answer is an earlier one once more.
const TWICE: &str = "print `bestmove` once for each `go`: it told an earlier move once more, and a runner takes that for the \
                     answer to the next `go`, as here, which loses the game";

/// True if its answer is one to an earlier search of the process, word for word: one that comes late is read as that to a later `go`.
fn says_again(search: &SearchInRun<'_>) -> bool {
    let mut before = search.run.asks.iter().take(search.index).filter(|ask| ask.is_search());
    let Answer::Illegal { line, .. } = &search.ask.answer else { return false };
    let said = line.split_ascii_whitespace().nth(1);
    before.any(|ask| matches!(&ask.answer, Answer::Legal(word) if said == Some(word.as_str())))
}

/// The accusation to lead with: one from a run to which the kernel refused nothing, if there is one.
fn guilty<'a>(all: &[SearchInRun<'a>]) -> Option<SearchInRun<'a>> {
    all.iter().find(|s| s.run.refusals.is_empty()).or(all.first()).copied()
}

/// True if a move came, legal or not, or a resignation.
fn answered(ask: &Ask) -> bool {
    matches!(ask.answer, Answer::Legal(_) | Answer::Illegal { .. } | Answer::Resigned)
}

fn pick<'a>(all: &[SearchInRun<'a>], keep: impl Fn(&SearchInRun) -> bool) -> Vec<SearchInRun<'a>> {
    all.iter().filter(|s| keep(s)).copied().collect()
}

/// The finding on moves that are not legal.
fn broken(all: &[SearchInRun], illegal: &[SearchInRun], first: SearchInRun) -> Finding {
    let mut finding = Finding::fail(
        RULE,
        format!(
            "{} of {} answers {} no legal move; in {} (after {}): {}",
            illegal.len(),
            all.len(),
            if illegal.len() == 1 { "is" } else { "are" },
            first.go.position,
            first.go.plies,
            runs::answer_words(first.ask, first.run)
        ),
    );
    for search in illegal.iter().take(SHOWN) {
        finding = finding
            .details(place(search))
            .details(runs::options_set(search.run, search.index).map(|set| format!("  {set}")))
            .detail(format!("  {}", runs::answer_words(search.ask, search.run)));
    }
    if illegal.len() > SHOWN {
        finding = finding.detail(format!("and {} more", illegal.len() - SHOWN));
    }
    let no_move = matches!(&first.ask.answer, Answer::Illegal { why, .. } if why.is_no_move());
    let in_long_game = matches!(first.run.purpose, Purpose::LongGame(_));
    finding.help(if let Some(help) = runs::writing_help(&first.ask.answer) {
        help
    } else if says_again(&first) {
        TWICE
    } else if no_move {
        "have a move ready before anything else is looked at, such as the first legal one, and answer with it as long as \
         there is one: the runner alone declares games over"
    } else if in_long_game {
        "do what long-game tells: a long list of moves was not understood whole"
    } else {
        "set up the position by its moves, send the same go, and see why this one is taken for legal; write moves as \
         `e2e4`, `e1g1` for castling and `e7e8q` for promotion, all in lower case"
    })
}

/// The finding on an engine that ended or hung instead of answering.
fn died(dead: &[SearchInRun], first: SearchInRun) -> Finding {
    let (verb, help) = match first.ask.answer {
        Answer::Ended(_) => (
            "dies",
            "set up the position by its moves, send the same go under a debugger, and mend the crash: it \
             loses the game",
        ),
        Answer::Flood(_) => {
            ("floods its output", "write few lines a second, and end with the bestmove")
        }
        _ => (
            "hangs",
            runs::line_end_help(first.ask).unwrap_or(
                "set up the position by its moves, send the same go, and see what never ends: it loses the game; if it \
                 merely waits for input, it lost a line: `position` and `go` can come by one read",
            ),
        ),
    };
    Finding::fail(
        RULE,
        format!(
            "it {verb} {}, in {}: {}",
            at_ply(first.go),
            first.go.position,
            runs::answer_words(first.ask, first.run)
        ),
    )
    .detail(format!("no answer in {}, though it answered others", counted(dead.len(), "search")))
    .details(place(&first))
    .details(runs::account(first.run, first.index))
    .help(help)
}

/// `at the first move`, `at ply 6`.
fn at_ply(go: &GoQuestion) -> String {
    if go.plies.0 == 0 { "at its first move".to_owned() } else { format!("at ply {}", go.plies.0) }
}

/// The position for people, so that it can be set up by hand.
fn place(search: &SearchInRun) -> Vec<String> {
    vec![
        format!("{}, after {}:", search.go.position, search.go.plies),
        format!("  {}", wording::shorten(&search.go.command, 400)),
        format!("  {}", search.go.go),
        format!("  FEN {}", search.go.fen),
    ]
}

fn json_of(search: &SearchInRun) -> Value {
    json!({
        "run": search.run.purpose,
        "position": search.go.position,
        "plies": search.go.plies,
        "fen": search.go.fen,
        "command": search.go.command,
        "go": search.go.go,
        "answer": search.ask.answer,
    })
}

#[cfg(test)]
mod tests {
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
        let run =
            castle(illegal("bestmove e1g1", "illegal: the king passes f1, which is attacked"));
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
        let words =
            "plays on one of 60.0 s (`go wtime 1800000 btime 1800000 winc 3000 binc 3000`): to";
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
        let words = "4 of 5 searches answered with a legal move; it resigned in 1, as in castling-short-white";
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
}
