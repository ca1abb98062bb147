//! The weight of a finding for its reader, in the way in which it made the verdict.

use super::text::clean;
use crate::model::entry_report::EntryReport;
use crate::model::verdict::{Finding, LEFT_OUT, Status, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingWeight {
    /// A gate is broken.
    Breaks,
    /// A gate could not be decided.
    Open,
    /// The author should know.
    Remark,
    NotTried,
    Kept,
}

impl FindingWeight {
    /// As [`Verdict::of`](crate::model::verdict::Verdict::of) takes it; a rule that only advises never weighs more
    /// than a remark.
    pub(crate) fn of(finding: &Finding) -> FindingWeight {
        let gate = finding.rule.is_gate();
        match finding.status {
            Status::Pass => FindingWeight::Kept,
            Status::Skipped => FindingWeight::NotTried,
            Status::Fail if gate => FindingWeight::Breaks,
            Status::Undecided if gate => FindingWeight::Open,
            Status::Fail | Status::Undecided | Status::Advice => FindingWeight::Remark,
        }
    }
}

/// The rules that made the verdict, unless it is that the entry is accepted.
pub(super) fn because(report: &EntryReport) -> String {
    let weight = match report.verdict {
        Verdict::Accepted => return String::new(),
        Verdict::Undecided => FindingWeight::Open,
        Verdict::Rejected => FindingWeight::Breaks,
    };
    let found = report.findings.iter().filter(|found| FindingWeight::of(found) == weight);
    found.map(|found| found.rule.name()).collect::<Vec<_>>().join(", ")
}

/// A finding in lines: its summary, its details, and the next step behind a word.
pub(super) fn lines(found: &Finding, summary: String, step: &str) -> Vec<String> {
    let mut lines = vec![summary];
    lines.extend(found.details.iter().map(|line| clean(line)));
    if !found.help.is_empty() {
        lines.push(format!("{step}{}", clean(&found.help)));
    }
    lines
}

/// True if a finding is told whole: somebody could do something about it, or must know of it.
pub(crate) fn is_told(found: &Finding) -> bool {
    match FindingWeight::of(found) {
        FindingWeight::Breaks | FindingWeight::Open => true,
        // The reader of a verdict must see by whose leave it was reached.
        FindingWeight::Remark if found.is_waived() => true,
        FindingWeight::Remark => !found.help.is_empty(),
        // Of a slow engine less was asked than of others.
        FindingWeight::Kept => found.evidence.contains_key(LEFT_OUT),
        FindingWeight::NotTried => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rule::RuleId;

    #[test]
    fn advice_never_weighs_more_than_a_remark() {
        assert_eq!(FindingWeight::of(&Finding::fail(RuleId::Size, "")), FindingWeight::Breaks);
        assert_eq!(FindingWeight::of(&Finding::fail(RuleId::Clock, "")), FindingWeight::Remark);
        assert_eq!(
            FindingWeight::of(&Finding::undecided(RuleId::Clock, "")),
            FindingWeight::Remark
        );
    }
}
