//! Leftovers of games count as those of probes do: an entry that tidies up only where it thinks itself judged has broken the rule.

use crate::judge::support::wording;
use crate::model::evidence::{Evidence, Games, LeftFile, LeftProcess};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};
use crate::model::words::counted;

/// Turns the findings on leftovers into failures where games left some.
pub(crate) fn judge(findings: &mut [Finding], evidence: &Evidence) {
    let Games::Played(played) = &evidence.games else { return };
    let files: Vec<&LeftFile> = (played.left.iter().flat_map(|left| &left.files))
        .filter(|file| file.exempt.is_none())
        .collect();
    let processes: Vec<&LeftProcess> =
        played.left.iter().flat_map(|left| &left.processes).collect();
    let grace = wording::secs(evidence.limits.grace);
    for finding in findings.iter_mut() {
        let what: Vec<String> = match finding.rule {
            RuleId::LeftoverFiles => {
                files.iter().map(|file| format!("{} ({})", file.path, file.size)).collect()
            }
            RuleId::LeftoverProcesses => {
                processes.iter().map(|process| process.command.clone()).collect()
            }
            _ => continue,
        };
        // A rule that is broken already, or that the organisers waived, stays so.
        if what.is_empty()
            || finding.status == Status::Fail
            || finding.evidence.contains_key("waived")
        {
            continue;
        }
        let count = if finding.rule == RuleId::LeftoverFiles {
            let verb = if what.len() == 1 { "remains" } else { "remain" };
            format!("{} {verb} after its games", counted(what.len(), "file"))
        } else {
            let words = counted(what.len(), "process");
            format!("{words} still ran {grace} after the quit that ended its games")
        };
        finding.status = Status::Fail;
        finding.summary = format!("{count}: {}", wording::list(&what, 3));
        finding.help = "leave no more after a game than after any other start: files are removed, and each process \
                        ends by itself, within seconds of quit"
            .into();
        finding.details.extend(what.iter().take(10).map(|one| format!("after its games: {one}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::rules::{Case, judge_runs};
    use crate::judge::support::testing::{self, TestList};
    use crate::model::evidence::{Left, Purpose};
    use crate::model::units::Bytes;
    use crate::model::verdict::Verdict;

    #[test]
    fn what_only_a_game_left_is_a_failure_with_its_name() {
        let file = |exempt: Option<&str>| LeftFile {
            path: "/tmp/book".into(),
            size: Bytes(9),
            kind: "file".into(),
            made_by: None,
            exempt: exempt.map(str::to_owned),
        };
        let daemon = LeftProcess { pid: 7, state: 'S', command: "daemon".into() };
        let with = |left: Left| {
            let mut evidence = testing::evidence_of([testing::run(Purpose::Main)]);
            evidence.games = testing::games(Vec::new());
            if let Games::Played(played) = &mut evidence.games {
                played.left = vec![left];
            }
            let case = Case { evidence: &evidence, needed: &[], allowed: &TestList };
            let mut findings = judge_runs(&case);
            judge(&mut findings, &evidence);
            findings
        };
        let summary = |findings: &[Finding], rule| {
            let found = findings.iter().find(|found| found.rule == rule).unwrap();
            (found.status, found.summary.clone())
        };
        let findings = with(Left { files: vec![file(None)], processes: vec![daemon] });
        assert_eq!(Verdict::of(&findings), Verdict::Rejected);
        let (status, words) = summary(&findings, RuleId::LeftoverFiles);
        assert!(status == Status::Fail && words.contains("/tmp/book"), "{words}");
        let (status, words) = summary(&findings, RuleId::LeftoverProcesses);
        assert!(status == Status::Fail && words.contains("daemon"), "{words}");
        // A system program's cache is nobody's fault.
        let findings = with(Left { files: vec![file(Some("~/.cache/*"))], processes: Vec::new() });
        assert_eq!(summary(&findings, RuleId::LeftoverFiles).0, Status::Pass);
    }
}
