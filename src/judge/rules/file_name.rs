//! Rule 7.3: the file name should not contain information. An entry that works only under its own name is
//! found out by starting it under another one.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::{runs, wording};
use crate::model::evidence::{Evidence, Purpose};
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

const RULE: RuleId = RuleId::FileName;

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RULE, CausedByLoad::Possibly, |case| judge(case.evidence));

/// Judges whether the start under a neutral name did as well as the one under its own name.
fn judge(evidence: &Evidence) -> Finding {
    if runs::engine(evidence).is_some() {
        return Finding::pass(RULE, "it runs under a neutral name");
    }
    let Some(own) = evidence.of(Purpose::OwnName).find(|run| runs::is_up(run)) else {
        return Finding::skipped(RULE, RuleId::Startup);
    };
    let mut finding = Finding::fail(
        RULE,
        format!(
            "it runs under its own file name only (readyok after {}); under a neutral one it does not start",
            own.readyok.map(wording::secs).unwrap_or_default()
        ),
    )
    .with("own_name_works", true)
    .with("neutral_name_works", false)
    .help("take nothing from the file's name: put what $0 or argv[0] carried into the file, where it counts");
    if let Some(neutral) = runs::measured(evidence) {
        finding = finding.details(runs::stderr(neutral));
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::ExitHow;
    use crate::model::verdict::Status;

    #[test]
    fn only_a_start_under_its_own_name_accuses() {
        let good = testing::evidence();
        assert_eq!(judge(&good).status, Status::Pass);
        let failed = testing::run(Purpose::Main).died(ExitHow::Status(1));
        let neither = testing::evidence_of([failed.clone()]);
        assert_eq!(judge(&neither).status, Status::Skipped);
        let own = testing::evidence_of([failed, testing::run(Purpose::OwnName)]);
        let finding = judge(&own);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("own file name only"));
    }
}
