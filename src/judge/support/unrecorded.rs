//! A record that is not whole acquits nobody: whatever ran out of room may be what an entry wanted unseen.

use crate::model::evidence::{Evidence, GamesEvidence, RecordPart, Resource};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};

/// The rules that rest on a part of the record.
fn rules(record: RecordPart) -> &'static [RuleId] {
    match record {
        RecordPart::Programs | RecordPart::Denials => &[RuleId::Commands],
        RecordPart::Files => &[RuleId::Libraries, RuleId::ChessLibrary],
        RecordPart::Paths => &[RuleId::Commands, RuleId::Libraries, RuleId::ChessLibrary],
        RecordPart::LeftFiles => &[RuleId::LeftoverFiles],
        RecordPart::Tracer => &[
            RuleId::Commands,
            RuleId::Libraries,
            RuleId::ChessLibrary,
            RuleId::LeftoverFiles,
            RuleId::LeftoverProcesses,
        ],
    }
}

/// Opens every finding that rests on a part of the record for which there was no room. A broken rule stays broken.
pub(crate) fn open(findings: &mut [Finding], evidence: &Evidence) {
    let of_runs = evidence.runs.iter().flat_map(|run| &run.refusals);
    let of_games = match &evidence.games {
        GamesEvidence::Played(played) => (played.games.iter().flat_map(|game| &game.refusals))
            .chain(played.left.iter().flat_map(|left| &left.refusals))
            .collect(),
        _ => Vec::new(),
    };
    let mut records: Vec<RecordPart> = Vec::new();
    for refusal in of_runs.chain(of_games) {
        if let Resource::Unrecorded(record) = refusal.what
            && !records.contains(&record)
        {
            records.push(record);
        }
    }
    for record in records {
        for finding in findings.iter_mut().filter(|f| rules(record).contains(&f.rule)) {
            // A finding that the organisers waived stays waived.
            let is_open_to_doubt = !matches!(finding.status, Status::Fail | Status::Undecided)
                && !finding.evidence.contains_key("waived");
            if is_open_to_doubt {
                finding.status = Status::Undecided;
                finding.summary = format!("not certain, since {record}; {}", finding.summary);
                finding.help =
                    "let the engine do without it: no sound engine comes near these bounds".into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::rules::{Case, judge_runs};
    use crate::judge::support::testing::{self, Build, TestList};
    use crate::model::evidence::Purpose;
    use crate::model::verdict::Verdict;

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
            let case = Case { evidence: &evidence, needed: &[], allowed: &TestList };
            let findings = judge_runs(&case);
            assert_eq!(Verdict::of(&findings), Verdict::Undecided, "{record:?}");
            let named = findings.iter().any(|f| f.summary.contains(&record.to_string()));
            assert!(named, "{record:?}: {findings:#?}");
        }
    }
}
