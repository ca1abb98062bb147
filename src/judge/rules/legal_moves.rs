//! Rule 2.1: an illegal move loses. Every `bestmove` in every position tried is legal and well formed, and
//! the engine lives through all of them.

use super::{CausedByLoad, JudgedRule, uci_position};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use crate::judge::support::earlier_move::EarlierMove;
use crate::judge::support::runs::SearchInRun;
use crate::judge::support::{came_again, excuse, one_answer, positions, runs, wording};
use serde_json::{Value, json};
use shakmaty::Position;
use shakmaty::uci::UciMove;

use crate::engine::moves::Moves;
use crate::game::legal;
use crate::model::evidence::{
    Answer, Ask, Evidence, GoQuestion, LEAST_LEFT, Purpose, Question, Run,
};
use crate::model::next_step::ENTRY;
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
    let accusation = searches
        .accusation(evidence)
        .or_else(|| broke_off(evidence))
        .or_else(|| not_asked_again(evidence));
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
        let first_illegal =
            guilty(&self.illegal).map(|s| (s, broken(evidence, &self.all, &self.illegal, s)));
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
        let known: BTreeSet<&str> = positions::all().into_iter().map(|(name, _)| name).collect();
        let all = known.len();
        let of_lists = self.all.iter().filter(|search| search.run.purpose == Purpose::Positions);
        let asked: BTreeSet<&str> = of_lists.map(|search| &*search.go.position).collect();
        let places = asked.intersection(&known).count();
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
        let bad = run.asks.iter().position(is_bad)?;
        Some((run, run.asks.get(bad)?, search_upto(run, bad)?))
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

fn is_bad(ask: &Ask) -> bool {
    !ask.answer.is_good() && !ask.was_cut()
}

/// The last search of a run up to a question, that one among them.
fn search_upto(run: &Run, index: usize) -> Option<SearchInRun<'_>> {
    runs::searches(run).take_while(|search| search.index <= index).last()
}

/// The finding on an engine that failed on a clock below the event's after many questions, and is too slow to be asked all of them on a
/// bigger one: alone and after the last of them it answered, so that nothing tells whether the event would see it.
fn not_asked_again(evidence: &Evidence) -> Option<Finding> {
    let (run, ask, search) = evidence.of(Purpose::Unrepeated).find_map(|run| {
        let is_end = |ask: &Ask| matches!(ask.question, Question::Quit | Question::EndOfInput);
        // Of several the last has the most before it.
        let bad = run.asks.iter().rposition(|ask| is_bad(ask) && !is_end(ask))?;
        Some((run, run.asks.get(bad)?, search_upto(run, bad)?))
    })?;
    let when = if ask.is_search() { "to" } else { "after" };
    let asked = runs::searches(run).take_while(|before| before.index < search.index).count();
    let summary = format!(
        "{when} `{}` in {}: {}; on the event's clocks it was not asked again after {} as there, since the time was over",
        search.go.go,
        search.go.position,
        runs::answer_words(ask, run),
        counted(asked, "search"),
    );
    let finding = Finding::undecided(RULE, summary)
        .details(place(&search))
        .details(runs::options_set(run, search.index))
        .details(runs::crashes(run))
        .with("not_asked_again", json_of(&search))
        .with("commands", runs::commands_upto(run, search.index));
    let finding = finding.help(match earlier_move(evidence, &search) {
        Some(told) => told.help().to_owned(),
        None => format!(
            "see what it keeps from one question to the next: `gate4k check --report json=report.json {ENTRY}`, and then \
             `gate4k replay-question report.json legal-moves` sends it the same questions once more"
        ),
    });
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
    let told = earlier_move(evidence, weak);
    let went_well = runs::gate_runs(evidence).flat_map(runs::searches);
    let bound = went_well
        .filter(|s| s.ask.answer.is_good() && s.go.left > weak.go.left)
        .filter_map(|s| Some((s.go.left?, &s.go.go)))
        .min_by_key(|(left, _)| *left);
    // Where the increment is another one, too, it may be that which the entry does not stand.
    let increment = |go: &str| go.split_once(" winc ").map(|(_, rest)| rest.to_owned());
    let other = bound.map(|(_, go)| go).filter(|go| increment(go) != increment(&weak.go.go));
    let fault = match (told, bound, weak.go.left) {
        // The clock has no part in it.
        (Some(told), ..) => format!("it {}", told.fault()),
        // What lies between the two was not tried.
        (None, Some((plays, _)), Some(fails)) => format!(
            "it fails on a clock of {} and plays on one of {}{}",
            wording::secs(fails),
            wording::secs(plays),
            other.map_or_else(String::new, |go| format!(" (`{go}`)"))
        ),
        // Smaller clocks in the same process went before it.
        (None, None, Some(left)) if left >= LEAST_LEFT => {
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
    .help(if let Some(told) = told {
        told.help()
    } else if other.is_some() && matches!(weak.ask.answer, Answer::Ended(_)) {
        "see by hand what of that `go` ends it, the clock or the increment: an engine that ends loses the game, though below the \
         event's clock that is no reason to reject"
    } else {
        "have a move ready before the clock is looked at, such as the first legal one: an engine that is short of \
         time loses the game otherwise, though that is no reason to reject"
    })
}

/// The reason for which an answer is a move of before, if it is one.
fn earlier_move(evidence: &Evidence, search: &SearchInRun<'_>) -> Option<EarlierMove> {
    let says_again = says_again(search);
    if says_again && runs::tells_moves_twice(evidence) {
        return Some(EarlierMove::Surplus);
    }
    let is_old = was_legal_before(search) || says_again && uci_position::fails(evidence);
    is_old.then_some(EarlierMove::OldBoard)
}

/// True if its answer is one to an earlier search of the process, word for word.
fn says_again(search: &SearchInRun<'_>) -> bool {
    let mut before = search.run.asks.iter().take(search.index).filter(|ask| ask.is_search());
    let said = said(search);
    said.is_some()
        && before
            .any(|ask| matches!(&ask.answer, Answer::Legal(word) if said == Some(word.as_str())))
}

/// The word behind `bestmove`, where it is no legal move.
fn said<'a>(search: &SearchInRun<'a>) -> Option<&'a str> {
    let Answer::Illegal { line, .. } = &search.ask.answer else { return None };
    line.split_ascii_whitespace().nth(1)
}

/// True if it moves a man that its side does not have here, and the move was legal in the position that its process was shown before.
fn was_legal_before(search: &SearchInRun<'_>) -> bool {
    let Some(said) = said(search) else { return false };
    let Ok(one @ UciMove::Normal { from, .. }) = said.parse::<UciMove>() else { return false };
    let commands = runs::commands_upto(search.run, search.index);
    let lists = commands.iter().rev().filter_map(|line| line.strip_prefix("position startpos"));
    let lists = lists.map(|list| list.trim_start().strip_prefix("moves").unwrap_or_default());
    let mut places = lists.take(2).filter_map(|list| Moves::read(list).ok());
    let (Some(here), Some(before)) = (places.next(), places.next()) else { return false };
    let here = here.position();
    here.board().color_at(from) != Some(here.turn())
        && legal::find(before.position(), one).is_some()
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
fn broken(
    evidence: &Evidence,
    all: &[SearchInRun],
    illegal: &[SearchInRun],
    first: SearchInRun,
) -> Finding {
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
    } else if let Some(told) = earlier_move(evidence, &first) {
        told.help()
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
#[path = "legal_moves_tests.rs"]
mod tests;
