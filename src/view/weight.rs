//! The weight of a finding for its reader, in the way in which it made the verdict.

use crate::model::rule::Kind;
use crate::model::verdict::{Finding, LEFT_OUT, Status, WAIVED};

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
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

impl Weight {
    /// As [`Verdict::of`](crate::model::verdict::Verdict::of) takes it; a rule that only advises never weighs more
    /// than a remark.
    pub(crate) fn of(finding: &Finding) -> Weight {
        let gate = finding.rule.rule().kind == Kind::Gate;
        match finding.status {
            Status::Pass => Weight::Kept,
            Status::Skipped => Weight::NotTried,
            Status::Fail if gate => Weight::Breaks,
            Status::Undecided if gate => Weight::Open,
            Status::Fail | Status::Undecided | Status::Advice => Weight::Remark,
        }
    }
}

/// True if a finding is told whole: somebody could do something about it, or must know of it.
pub(crate) fn is_told(found: &Finding) -> bool {
    match Weight::of(found) {
        Weight::Breaks | Weight::Open => true,
        // Whoever reads a verdict must see by whose leave it was reached.
        Weight::Remark if found.evidence.contains_key(WAIVED) => true,
        Weight::Remark => !found.help.is_empty(),
        // Of a slow engine less was asked than of others.
        Weight::Kept => found.evidence.contains_key(LEFT_OUT),
        Weight::NotTried => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rule::RuleId;

    #[test]
    fn advice_never_weighs_more_than_a_remark() {
        assert_eq!(Weight::of(&Finding::fail(RuleId::Size, "")), Weight::Breaks);
        assert_eq!(Weight::of(&Finding::fail(RuleId::Clock, "")), Weight::Remark);
        assert_eq!(Weight::of(&Finding::undecided(RuleId::Clock, "")), Weight::Remark);
    }
}
