//! What a finding means for the one who reads it, in the way in which it made the verdict.

use crate::model::rule::Kind;
use crate::model::verdict::{Finding, Status};

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
