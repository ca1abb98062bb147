//! Rule 0.1: an internal opening book that is on by default can be switched off.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::runs;
use crate::model::evidence::Evidence;
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

const RULE: RuleId = RuleId::OwnBook;

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RULE, CausedByLoad::Never, |case| judge(case.evidence));

/// Judges what the engine said of a book, at its defaults and after its option was set to false.
fn judge(evidence: &Evidence) -> Finding {
    if runs::engine(evidence).is_none() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let books = || evidence.runs.iter().map(|run| &run.book);
    let by_default = books().find_map(|book| book.by_default.as_deref());
    let when_off = books().find_map(|book| book.when_off.as_deref());
    let option = books().find_map(|book| book.option.as_deref());
    // Those of type check are tried.
    let mut declared = evidence.runs.iter().flat_map(|run| &run.options);
    let other = declared.find(|option| {
        let name = option.name.to_ascii_lowercase();
        option.kind != "check" && name.contains("book") && !name.contains("notebook")
    });
    let finding = match (by_default, when_off, option) {
        (_, Some(line), Some(option)) => Finding::fail(
            RULE,
            format!("its book goes on although {option} is false: {line}"),
        )
        .help(format!("let `setoption name {option} value false` switch the book off, also after `ucinewgame`")),
        (Some(line), _, None) if let Some(other) = other => Finding::undecided(
            RULE,
            format!(
                "it plays from a book by default, and whether its option {}, a {}, can switch that off is not known: {line}",
                other.name, other.kind
            ),
        )
        .help(
            "announce `option name OwnBook type check default false`, and obey it; or let the organisers see which value \
             switches the book off",
        ),
        (Some(line), _, None) => Finding::fail(
            RULE,
            format!("it plays from a book by default, and no option switches it off: {line}"),
        )
        .help(
            "announce `option name OwnBook type check default false`, and obey it; or take the book out: \
             the event gives the openings",
        ),
        (Some(_), None, Some(option)) => Finding::pass(
            RULE,
            format!("a book is on by default, and {option} switches it off"),
        ),
        (None, _, Some(option)) => {
            Finding::pass(RULE, format!("no book is used by default; {option} is there"))
        }
        (None, _, None) => Finding::pass(RULE, "no sign of a book"),
    };
    finding.with("by_default", by_default).with("when_off", when_off).with("option", option)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{BookSeen, DeclaredOption};
    use crate::model::verdict::Status;

    fn of(by_default: Option<&str>, when_off: Option<&str>, option: Option<&str>) -> Finding {
        let mut evidence = testing::evidence();
        evidence.runs[0].book = BookSeen {
            by_default: by_default.map(Into::into),
            when_off: when_off.map(Into::into),
            option: option.map(Into::into),
        };
        judge(&evidence)
    }

    #[test]
    fn only_a_book_that_cannot_be_closed_fails() {
        let line = "info string book move e2e4";
        assert_eq!(of(None, None, None).status, Status::Pass);
        assert_eq!(of(None, None, Some("OwnBook")).status, Status::Pass);
        assert_eq!(of(Some(line), None, Some("OwnBook")).status, Status::Pass);
        let open = of(Some(line), Some(line), Some("OwnBook"));
        assert_eq!(open.status, Status::Fail);
        assert!(open.summary.contains("although OwnBook is false"));
        let none = of(Some(line), None, None);
        assert_eq!(none.status, Status::Fail);
        assert!(none.summary.contains("info string book move e2e4"));
    }

    #[test]
    fn a_book_with_an_option_of_another_kind_is_left_open() {
        let mut evidence = testing::evidence();
        evidence.runs[0].book.by_default = Some("info string book move e2e4".into());
        let depth = DeclaredOption {
            name: "BookDepth".into(),
            kind: "spin".into(),
            default: Some("8".into()),
        };
        evidence.runs[0].options.push(depth);
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.summary.contains("BookDepth, a spin"), "{}", finding.summary);
    }
}
