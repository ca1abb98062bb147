//! The weight of a finding for its reader, in the way in which it made the verdict.

use crate::model::rule::RuleKind;
use crate::model::verdict::{Finding, LEFT_OUT, Status, WAIVED};

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingWeight {
    /// A gate is broken.
    Breaks,
    /// A gate could not be decided.
    Open,
    /// The author should know.
    Remark,
    /// Not tried.
    NotTried,
    /// Kept.
    Kept,
}

impl FindingWeight {
    /// As [`Verdict::of`](crate::model::verdict::Verdict::of) takes it; a rule that only advises never weighs more
    /// than a remark.
    pub(crate) fn of(finding: &Finding) -> FindingWeight {
        let gate = finding.rule.rule().kind == RuleKind::Gate;
        match finding.status {
            Status::Pass => FindingWeight::Kept,
            Status::Skipped => FindingWeight::NotTried,
            Status::Fail if gate => FindingWeight::Breaks,
            Status::Undecided if gate => FindingWeight::Open,
            Status::Fail | Status::Undecided | Status::Advice => FindingWeight::Remark,
        }
    }
}

/// True if a finding is told whole: somebody could do something about it, or must know of it.
pub(crate) fn is_told(found: &Finding) -> bool {
    match FindingWeight::of(found) {
        FindingWeight::Breaks | FindingWeight::Open => true,
        // Whoever reads a verdict must see by whose leave it was reached.
        FindingWeight::Remark if found.evidence.contains_key(WAIVED) => true,
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
