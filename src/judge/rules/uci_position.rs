//! Rule 7.9: `position startpos` and `position startpos moves …` are understood. There is no answer to
//! `position`; what follows `go` shows which position the engine has.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::runs::SearchInRun;
use crate::judge::support::{excuse, one_answer, runs};
use crate::model::evidence::{Answer, Ask, Evidence, Purpose, Run};
use crate::model::rule::RuleId;
use crate::model::units::Ply;
use crate::model::verdict::{Finding, Status};
use crate::model::words::counted;

const RULE: RuleId = RuleId::UciPosition;

/// White's twenty moves in the start position: what an engine plays that has not read the list.
const FIRST_MOVES: [&str; 20] = [
    "a2a3", "a2a4", "b2b3", "b2b4", "c2c3", "c2c4", "d2d3", "d2d4", "e2e3", "e2e4", "f2f3", "f2f4",
    "g2g3", "g2g4", "h2h3", "h2h4", "b1a3", "b1c3", "g1f3", "g1h3",
];

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    before_games: true,
    ..JudgedRule::by_answers(RULE, CausedByLoad::IfStrained, |case| judge(case.evidence))
};

/// True if an engine does not have the positions that it is shown.
pub(super) fn fails(evidence: &Evidence) -> bool {
    judge(evidence).status == Status::Fail
}

/// Judges the answers from the start position and after lists of moves.
fn judge(evidence: &Evidence) -> Finding {
    // An entry that knows bare `go` alone showed there what it has of the start position.
    let other_go = evidence.of(Purpose::OtherGo).next();
    let bare_go = other_go.into_iter().flat_map(|_| evidence.of(Purpose::BareGo));
    let searches: Vec<SearchInRun> = runs::gate_runs(evidence)
        .filter(|run| !matches!(run.purpose, Purpose::LongGame(_) | Purpose::Clock))
        .chain(bare_go)
        .flat_map(runs::searches)
        .collect();
    if searches.is_empty() {
        return one_answer::not_asked(RULE, evidence, "position startpos");
    }
    if answered(&searches) == 0 {
        return Finding::skipped(RULE, RuleId::UciGo);
    }
    // A resignation says nothing of the position that it has.
    let (resigned, shown): (Vec<SearchInRun>, Vec<SearchInRun>) =
        searches.into_iter().partition(|s| s.ask.answer == Answer::Resigned);
    let (bare, listed) = shown.into_iter().partition(|s| s.go.plies == Ply(0));
    let searches = Searches { bare, listed, resigned };
    let finding = match searches.fault() {
        Some((run, finding)) => excuse::excused(finding, excuse::refusal(run, &evidence.host)),
        None => searches.not_shown(evidence).unwrap_or_else(|| searches.understood()),
    };
    finding
        .with("startpos_asked", searches.bare.len())
        .with("startpos_legal", legal(&searches.bare))
        .with("lists_asked", searches.listed.len())
        .with("lists_legal", legal(&searches.listed))
}

/// The searches that count, by their answers and by the form of `position`.
struct Searches<'a> {
    /// Without a list of moves.
    bare: Vec<SearchInRun<'a>>,
    /// After a list of moves.
    listed: Vec<SearchInRun<'a>>,
    /// Searches of either form in which the engine resigned.
    resigned: Vec<SearchInRun<'a>>,
}

/// A failure, with the run that shows it.
type Fault<'a> = (&'a Run, Finding);

impl<'a> Searches<'a> {
    /// The first fault with the position, if there is one.
    fn fault(&self) -> Option<Fault<'a>> {
        self.list_not_read()
            .or_else(|| self.wrong_after_lists())
            .or_else(|| self.bare_not_known())
            .or_else(|| self.wrong_start())
    }

    /// The fault of an engine that answers from the start position whatever was played.
    fn list_not_read(&self) -> Option<Fault<'a>> {
        let search @ SearchInRun { ask, go, .. } = ignores_the_list(&self.listed)?;
        let summary = format!(
            "it does not read the list of moves: after {} it answers {}, a move of the start position",
            go.plies,
            moved(ask).unwrap_or("nothing")
        );
        let help = "after `position startpos moves e2e4 …` play every move of the list from the start position";
        Some(accuse(search, summary, help))
    }

    /// The fault of an engine that has no right position after lists, or after those of one side.
    fn wrong_after_lists(&self) -> Option<Fault<'a>> {
        let search @ SearchInRun { run, ask, go, .. } = never_right(&self.listed)?;
        if legal(&self.bare) + legal(&self.listed) == 0 {
            return None;
        }
        let side = if go.plies.0 % 2 == 0 { "White" } else { "Black" };
        let which = if legal(&self.listed) == 0 {
            "after any list of moves".to_owned()
        } else {
            format!("where {side} is to move")
        };
        let summary = format!(
            "it never has the right position {which}: after {}: {}",
            go.plies,
            runs::answer_words(ask, run)
        );
        let help = one_answer::next_step(
            ask,
            "read `position startpos moves` and every move on the same line, first to last, changing sides \
             after each",
        );
        Some(accuse(search, summary, help))
    }

    /// The fault of an engine that gives no answer where there is no list, and answers where there is one.
    fn bare_not_known(&self) -> Option<Fault<'a>> {
        if legal(&self.bare) > 0 || legal(&self.listed) == 0 {
            return None;
        }
        let search @ SearchInRun { run, ask, .. } =
            self.bare.iter().find(|s| moved(s.ask).is_none())?;
        let summary = format!(
            "it does not know `position startpos` without moves: {}",
            runs::answer_words(ask, run)
        );
        let help =
            "let `moves` and what follows it be missing: the first move of the game is asked so";
        Some(accuse(search, summary, help))
    }

    /// The fault of an engine that plays an illegal move where there is no list.
    fn wrong_start(&self) -> Option<Fault<'a>> {
        let search @ SearchInRun { run, ask, .. } = self.bare.iter().find(
            |s| matches!(&s.ask.answer, Answer::Illegal { why, .. } if !why.is_misspelt() && !why.is_no_move()),
        )?;
        if legal(&self.bare) > 0 && legal(&self.listed) == 0 {
            return None;
        }
        let summary = format!(
            "after `position startpos` it does not play from the start position: {}",
            runs::answer_words(ask, run)
        );
        let help = "`position startpos` without moves means the start position, whatever was played before";
        Some(accuse(search, summary, help))
    }

    /// The finding where no move shows what the engine has read of one form; none where both were shown.
    fn not_shown(&self, evidence: &Evidence) -> Option<Finding> {
        let missing = match (self.bare.is_empty(), self.listed.is_empty()) {
            (true, _) => "position startpos",
            (false, true) => "position startpos moves",
            (false, false) => return None,
        };
        if !self.resigned.iter().any(|s| (s.go.plies == Ply(0)) == self.bare.is_empty()) {
            return Some(one_answer::not_asked(RULE, evidence, missing));
        }
        let summary = format!(
            "it resigns wherever it was asked after `{missing}`, so that no move shows what it has read"
        );
        Some(Finding::undecided(RULE, summary).help(
            "answer with a move as long as the game is not lost: a resignation loses the game (rule 2.1)",
        ))
    }

    /// The finding on an engine that understands both forms.
    fn understood(&self) -> Finding {
        let summary = format!(
            "`position startpos` and {} of moves understood, the longest of {}",
            counted(answered(&self.listed), "list"),
            self.listed.iter().map(|s| s.go.plies).max().unwrap_or_default()
        );
        Finding::pass(RULE, summary)
    }
}

/// The fault that a search shows.
fn accuse<'a>(
    &SearchInRun { run, index, .. }: &SearchInRun<'a>,
    summary: String,
    help: &'static str,
) -> Fault<'a> {
    let finding = Finding::fail(RULE, summary)
        .details(runs::account(run, index))
        .with("commands", runs::commands_upto(run, index))
        .help(help);
    (run, finding)
}

/// The number of searches that were answered with a move, legal or not.
fn answered(searches: &[SearchInRun]) -> usize {
    searches.iter().filter(|s| moved(s.ask).is_some()).count()
}

/// The number of searches that were answered with a legal move.
fn legal(searches: &[SearchInRun]) -> usize {
    searches.iter().filter(|s| s.ask.moved()).count()
}

/// The move that was answered, legal or not.
fn moved(ask: &Ask) -> Option<&str> {
    match &ask.answer {
        Answer::Legal(uci) => Some(uci),
        Answer::Illegal { line, .. } => Some(line.split_whitespace().nth(1).unwrap_or(line)),
        _ => None,
    }
}

/// An illegal answer, where every answer after a list is one of White's first moves: a legal one among
/// them (g1f3 after 1.e4 e5) is then luck.
fn ignores_the_list<'a, 'b>(listed: &'b [SearchInRun<'a>]) -> Option<&'b SearchInRun<'a>> {
    let mut moves = listed.iter().filter_map(|s| moved(s.ask)).peekable();
    moves.peek()?;
    if !moves.all(|uci| FIRST_MOVES.contains(&uci)) {
        return None;
    }
    listed.iter().find(|s| matches!(s.ask.answer, Answer::Illegal { .. }))
}

/// A search after a list that went wrong, where none went right for that side: the position is wrong, not
/// one move. A move written wrongly says nothing of the position.
fn never_right<'a, 'b>(listed: &'b [SearchInRun<'a>]) -> Option<&'b SearchInRun<'a>> {
    [0, 1].into_iter().find_map(|side| {
        let mut of_side = listed.iter().filter(|s| s.go.plies.0 % 2 == side);
        let right = of_side.clone().any(|s| match &s.ask.answer {
            Answer::Legal(_) => true,
            Answer::Illegal { why, .. } => why.is_misspelt(),
            _ => false,
        });
        // A side of which only one position was tried proves nothing, unless there was no other list.
        let tried = of_side.clone().count();
        of_side.next().filter(|_| !right && (tried > 1 || tried == listed.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::{illegal, legal};
    use crate::model::evidence::{ExitHow, Question};

    fn with(second: Answer) -> Finding {
        let mut run = testing::run(Purpose::Main);
        run.asks[4].answer = second;
        judge(&testing::evidence_of([run]))
    }

    #[test]
    fn an_ignored_list_shows_by_the_moves_of_the_start() {
        let finding = with(illegal("bestmove e2e4", "illegal: no piece there"));
        assert_eq!(finding.status, Status::Fail);
        assert!(
            finding.summary.contains("after 1 ply it answers e2e4, a move of the start position")
        );
        let commands = finding.evidence["commands"].to_string();
        assert!(commands.contains("position startpos moves e2e4"), "{commands}");
    }

    #[test]
    fn a_resignation_says_nothing_of_the_position() {
        let go = |plies| Question::Go(testing::go("p", "position startpos moves …", plies));
        let lost = testing::run(Purpose::Positions)
            .asked(go(3), Answer::Resigned)
            .asked(go(5), Answer::Resigned);
        assert_eq!(judge(&testing::evidence_of([lost])).status, Status::Pass);
        let finding = with(Answer::Resigned);
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.summary.contains("resigns wherever"), "{}", finding.summary);
    }

    #[test]
    fn luck_does_not_hide_it() {
        let run = testing::run(Purpose::Main).asked(
            Question::Go(testing::go("two", "position startpos moves e2e4 e7e5", 2)),
            legal("g1f3"),
        );
        let mut run = run;
        run.asks[4].answer = illegal("bestmove g1f3", "illegal");
        assert_eq!(judge(&testing::evidence_of([run])).status, Status::Fail);
    }

    #[test]
    fn one_illegal_move_among_good_ones_is_not_its_matter() {
        let run = testing::run(Purpose::Main).asked(
            Question::Go(testing::go("castle", "position startpos moves …", 9)),
            illegal("bestmove e8g8", "illegal: the king passes an attacked square"),
        );
        assert_eq!(judge(&testing::evidence_of([run])).status, Status::Pass);
    }

    #[test]
    fn dying_of_every_list_is() {
        let finding = with(Answer::Ended(Some(ExitHow::Signal(11))));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("after any list of moves"));
    }

    #[test]
    fn a_start_that_does_not_set_the_board_back_is_told() {
        let mut run = testing::run(Purpose::Main);
        run.asks[3].answer = illegal("bestmove e7e5", "illegal");
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("after `position startpos`"));
    }

    #[test]
    fn a_side_that_is_always_wrong_shows() {
        let go = |plies| Question::Go(testing::go("p", "position startpos moves …", plies));
        let run = testing::run(Purpose::Positions)
            .asked(go(3), illegal("bestmove d1h5", "illegal"))
            .asked(go(4), legal("d1h5"));
        let mut run = run;
        run.asks[4].answer = illegal("bestmove f1c4", "illegal");
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("where Black is to move"));
    }

    #[test]
    fn without_moves_it_must_work_too() {
        let mut main = testing::run(Purpose::Main);
        main.asks[3].answer = Answer::Ended(Some(ExitHow::Signal(11)));
        let mut run = testing::run(Purpose::Positions);
        run.asks.remove(3);
        let finding = judge(&testing::evidence_of([main, run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("without moves"));
    }

    #[test]
    fn bare_go_shows_the_start_position_where_the_other_go_is_not_known() {
        let mut main = testing::run(Purpose::OtherGo);
        main.asks[3].answer = Answer::Timeout;
        let mut bare = testing::run(Purpose::BareGo);
        bare.asks.truncate(4);
        let mut lists = testing::run(Purpose::Positions);
        lists.asks.remove(3);
        let quit = testing::run(Purpose::Main).asks[..2].to_vec();
        let started = Run { asks: quit, ..testing::run(Purpose::Main) };
        let runs = [main, bare, lists, started];
        let finding = judge(&testing::evidence_of(runs.clone()));
        assert_eq!(finding.status, Status::Pass, "{finding:?}");
        assert_eq!(finding.evidence["startpos_legal"], 1);
        // Elsewhere bare `go` can only advise.
        let [_, bare, lists, started] = runs;
        let finding = judge(&testing::evidence_of([bare, lists, started]));
        assert_eq!(finding.status, Status::Undecided, "{finding:?}");
    }

    #[test]
    fn without_any_move_it_is_skipped_on_go() {
        let mut run = testing::run(Purpose::Main);
        run.asks[3].answer = Answer::Timeout;
        run.asks[4].answer = Answer::Timeout;
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Skipped);
        assert_eq!(finding.evidence["because_of"], "uci-go");
    }
}
