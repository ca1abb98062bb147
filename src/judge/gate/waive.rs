//! Rule 7.8: what the organisers let pass, by entry and rule, with a reason and a date.
//!
//! A waiver changes no evidence. A finding that it covers becomes a remark that tells the reason and keeps
//! its text, so that every report shows what was let pass; one that covers nothing is a remark, too.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::model::entry_report::{EntryReport, Stray};
use crate::model::rule::RuleId;
use crate::model::source_place::Place;
use crate::model::text::{escape, shown};
use crate::model::verdict::{Finding, Status, Verdict};

/// One decision of the organisers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiver {
    /// The entry's file or directory.
    pub entry: PathBuf,
    /// What it need not keep.
    #[serde(serialize_with = "rule_name")]
    pub rule: RuleId,
    /// Why.
    pub reason: String,
    /// Since when: `2026-11-21`.
    #[serde(serialize_with = "as_date")]
    pub date: String,
    /// For this file only; any file of the entry if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Where it is written: `gate4k.toml:12:9`.
    #[serde(skip)]
    pub place: String,
    /// The file of [`Waiver::place`].
    #[serde(skip)]
    pub file: PathBuf,
    /// The line and column of [`Waiver::place`].
    #[serde(skip)]
    pub at: Place,
}

fn rule_name<S: Serializer>(rule: &RuleId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.name())
}

fn as_date<S: Serializer>(date: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match date.parse::<toml::value::Datetime>() {
        Ok(date) => date.serialize(serializer),
        Err(_) => serializer.serialize_str(date),
    }
}

impl Waiver {
    /// Whether it speaks of this entry, named by its directory or by its file.
    #[must_use]
    pub fn is_about(&self, report: &EntryReport) -> bool {
        let same = |path: &Path| match (self.entry.canonicalize(), path.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => self.entry == path,
        };
        same(&report.path) || same(&report.file)
    }

    fn ground(&self) -> String {
        format!("{}, {}", escape(self.reason.as_bytes(), 300), escape(self.date.as_bytes(), 40))
    }
}

/// Applies what was decided about this entry, and judges it anew.
pub fn apply(report: &mut EntryReport, waivers: &[Waiver]) {
    let ours: Vec<&Waiver> = waivers.iter().filter(|waiver| waiver.is_about(report)).collect();
    if ours.is_empty() {
        return;
    }
    for waiver in ours {
        let fits = waiver.sha256.is_none() || waiver.sha256 == report.sha256;
        if let Some(found) = report.findings.iter_mut().find(|found| found.rule == waiver.rule) {
            match found.status {
                Status::Fail | Status::Undecided if fits => pass(found, waiver),
                status => complain(found, waiver, status),
            }
        }
    }
    report.verdict = Verdict::of(&report.findings);
}

fn pass(found: &mut Finding, waiver: &Waiver) {
    let evidence = serde_json::json!({
        "status": found.status,
        "reason": waiver.reason,
        "date": waiver.date,
        "place": waiver.place,
    });
    found.evidence.insert("waived".into(), evidence);
    found.status = Status::Advice;
    found.summary = format!("waived by the organisers ({}): {}", waiver.ground(), found.summary);
    found.help = format!("nothing, while {} stands", waiver.place);
}

fn complain(found: &mut Finding, waiver: &Waiver, status: Status) {
    let (why, next) = match status {
        Status::Fail | Status::Undecided => {
            ("is for another file than this one", "decide anew, and give it this file's sha256")
        }
        _ => ("matches nothing", "remove it"),
    };
    let remark = format!("the waiver of {} ({}) {why}", waiver.date, waiver.place);
    found.evidence.insert("stale_waiver".into(), waiver.place.clone().into());
    if status == Status::Pass {
        found.status = Status::Advice;
        found.help = next.to_owned();
    }
    found.summary = format!("{}; {remark}", found.summary);
    found.details.push(format!("{remark}: {next}"));
}

/// The waivers for entries that there are none of: a finding each, which is of no entry.
#[must_use]
pub fn without_entry(waivers: &[Waiver]) -> Vec<Stray> {
    let missing = |waiver: &&Waiver| waiver.entry.symlink_metadata().is_err();
    waivers.iter().filter(missing).map(stray).collect()
}

fn stray(waiver: &Waiver) -> Stray {
    let summary = format!(
        "the waiver of {} ({}) matches nothing: there is no {}",
        escape(waiver.date.as_bytes(), 40),
        waiver.place,
        shown(&waiver.entry)
    );
    Stray {
        file: waiver.file.clone(),
        at: waiver.at,
        finding: Finding::advice(waiver.rule, summary)
            .detail(format!("its reason was: {}", waiver.ground()))
            .with("stale_waiver", &waiver.place)
            .help("remove it, or name the entry that is meant"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::report;

    fn waiver(rule: RuleId) -> Waiver {
        Waiver {
            entry: "entries/tiny".into(),
            rule,
            reason: "asked for by many\nand so on".into(),
            date: "2026-11-21".into(),
            sha256: None,
            place: "gate4k.toml:3:9".into(),
            file: "gate4k.toml".into(),
            at: Place { line: 3, column: 9 },
        }
    }

    fn judged(findings: Vec<Finding>, waivers: &[Waiver]) -> EntryReport {
        let mut report = EntryReport { findings, ..report() };
        apply(&mut report, waivers);
        report
    }

    fn broken() -> Vec<Finding> {
        vec![
            Finding::pass(RuleId::Size, "4000 bytes"),
            Finding::fail(RuleId::Commands, "sed was started").help("leave it out"),
        ]
    }

    #[test]
    fn what_is_waived_is_told_and_no_longer_rejects() {
        assert_eq!(judged(broken(), &[]).verdict, Verdict::Rejected);
        let report = judged(broken(), &[waiver(RuleId::Commands)]);
        assert_eq!(report.verdict, Verdict::Accepted);
        let found = &report.findings[1];
        assert_eq!(found.status, Status::Advice);
        assert_eq!(
            found.summary,
            "waived by the organisers (asked for by many\\nand so on, 2026-11-21): sed was started"
        );
        assert_eq!(found.evidence["waived"]["status"], "fail");
    }

    #[test]
    fn a_waiver_holds_for_its_entry_its_rule_and_its_file_only() {
        let other = Waiver { entry: "entries/other".into(), ..waiver(RuleId::Commands) };
        assert_eq!(judged(broken(), &[other]).verdict, Verdict::Rejected);
        let file = Waiver { sha256: Some("00".repeat(32)), ..waiver(RuleId::Commands) };
        let report = judged(broken(), &[file]);
        assert_eq!(report.verdict, Verdict::Rejected);
        assert!(report.findings[1].summary.ends_with("is for another file than this one"));
        let same = Waiver { sha256: Some("ab".repeat(32)), ..waiver(RuleId::Commands) };
        assert_eq!(judged(broken(), &[same]).verdict, Verdict::Accepted);
    }

    #[test]
    fn one_that_matches_nothing_is_a_remark() {
        let report = judged(broken(), &[waiver(RuleId::Size), waiver(RuleId::Commands)]);
        assert_eq!(report.verdict, Verdict::Accepted);
        assert_eq!(report.findings[0].status, Status::Advice);
        assert!(report.findings[0].summary.contains("(gate4k.toml:3:9) matches nothing"));
        let strays = without_entry(&[waiver(RuleId::Size)]);
        let Stray { file, at, finding } = &strays[0];
        assert_eq!((file.to_str(), at.line), (Some("gate4k.toml"), 3));
        assert_eq!((finding.rule, finding.status), (RuleId::Size, Status::Advice));
        assert_eq!(
            finding.summary,
            "the waiver of 2026-11-21 (gate4k.toml:3:9) matches nothing: there is no entries/tiny"
        );
        let here = Waiver { entry: ".".into(), ..waiver(RuleId::Size) };
        assert!(without_entry(&[here]).is_empty());
    }
}
