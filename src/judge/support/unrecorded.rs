//! A record that is not whole acquits nobody: whatever ran out of room may be what an entry wanted unseen.

use crate::model::evidence::{Evidence, GamesEvidence, RecordPart, Resource};
use crate::model::verdict::{Finding, Status};

/// The parts of the record for which there was no room, in runs or in games.
pub(crate) fn missing(evidence: &Evidence) -> Vec<RecordPart> {
    let of_runs = evidence.runs.iter().flat_map(|run| &run.refusals);
    let of_games = match &evidence.games {
        GamesEvidence::Played(played) => (played.games.iter().flat_map(|game| &game.refusals))
            .chain(played.left.iter().flat_map(|left| &left.refusals))
            .collect(),
        _ => Vec::new(),
    };
    let parts = of_runs.chain(of_games).filter_map(|refusal| match refusal.what {
        Resource::Unrecorded(part) => Some(part),
        _ => None,
    });
    parts.collect()
}

/// Opens a finding that rests on a part of the record for which there was no room. A broken rule stays broken, and one
/// that the organisers waived stays waived.
pub(crate) fn open(finding: &mut Finding, part: RecordPart) {
    let is_settled = matches!(finding.status, Status::Fail | Status::Undecided);
    if !is_settled && !finding.is_waived() {
        finding.status = Status::Undecided;
        finding.summary = format!("not certain, since {part}; {}", finding.summary);
        finding.help =
            "let the engine do without it: no sound engine comes near these bounds".into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::rules::{Case, judge_runs};
    use crate::judge::support::testing::{self, TestList};
    use crate::model::evidence::Purpose;
    use crate::model::rule::RuleId;
    use crate::model::verdict::Verdict;

    #[test]
    fn a_run_whose_tracer_was_given_up_accuses_nobody() {
        let lost = Resource::Unrecorded(RecordPart::Tracer);
        let evidence = testing::evidence_of([testing::run(Purpose::Main).not_up().refused(lost)]);
        let findings =
            judge_runs(&Case { evidence: &evidence, needed: &[], allowed: &TestList, bytes: b"" });
        assert_eq!(Verdict::of(&findings), Verdict::Undecided, "{findings:#?}");
        let startup = findings.iter().find(|found| found.rule == RuleId::Startup).unwrap();
        assert!(startup.summary.contains("given up"), "{}", startup.summary);
    }

    #[test]
    fn a_record_that_overflows_is_never_accepted() {
        let all = [
            RecordPart::Programs,
            RecordPart::Files,
            RecordPart::Denials,
            RecordPart::LeftFiles,
            RecordPart::Paths,
            RecordPart::Tracer,
        ];
        for record in all {
            let run = testing::run(Purpose::Main).refused(Resource::Unrecorded(record));
            let evidence = testing::evidence_of([run]);
            let case = Case { evidence: &evidence, needed: &[], allowed: &TestList, bytes: b"" };
            let findings = judge_runs(&case);
            assert_eq!(Verdict::of(&findings), Verdict::Undecided, "{record:?}");
            let named = findings.iter().any(|f| f.summary.contains(&record.to_string()));
            assert!(named, "{record:?}: {findings:#?}");
        }
    }
}
