//! Rule 7.8: the organisers let something pass, by entry and rule, with a reason and a date.
//!
//! A waiver changes no evidence. A finding that it covers becomes a remark that tells the reason and keeps
//! its text, so that every report shows the waiver; one that covers nothing is a remark, too. A waiver for rule
//! `commands` covers the programs that it names, which the sandbox grants to that entry alone; the finding on any
//! other program stands.

use serde_json::Value;

use super::waiver::Waiver;
use crate::model::entry_report::ConfigFinding;
use crate::model::rule::RuleId;
use crate::model::text::{escape, shown};
use crate::model::verdict::{Finding, Status, WAIVED};

/// The evidence of rule `commands` under which the granted programs stand that ran.
pub(crate) const GRANTED: &str = "granted";

/// Applies the waivers of an entry to its findings; each waiver whose rule is among them is told.
pub(super) fn apply(findings: &mut [Finding], waivers: &[&Waiver], sha256: Option<&str>) {
    for waiver in waivers {
        let Some(found) = findings.iter_mut().find(|found| found.rule == waiver.rule) else {
            continue;
        };
        let open = matches!(found.status, Status::Fail | Status::Undecided);
        if !waiver.fits(sha256) && open {
            let next = "decide anew, and give it this file's sha256";
            complain(found, waiver, "is for another file than this one", next);
        } else if waiver.rule == RuleId::Commands {
            grant(found, waiver);
        } else if open {
            mark(found, waiver, found.status, &[]);
            let_pass(found, waiver);
        } else {
            complain(found, waiver, "matches nothing", "remove it");
        }
    }
}

/// Turns a finding into a remark: there is nothing to do, as long as the waiver stands where it does.
fn let_pass(found: &mut Finding, waiver: &Waiver) {
    found.status = Status::Advice;
    found.summary = format!("waived by the organisers ({}): {}", waiver.ground(), found.summary);
    found.details.push(format!("holds while {} stands", waiver.place));
    found.help.clear();
}

/// Tells of the granted programs that ran; a failure is over another one and stands.
fn grant(found: &mut Finding, waiver: &Waiver) {
    let names = found.evidence.get(GRANTED).and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let ran: Vec<String> = names.filter(|name| waiver.programs.contains(name)).collect();
    if ran.is_empty() {
        let next = "name the programs that the entry needs, or remove it";
        complain(found, waiver, "matches nothing: the entry started none of its programs", next);
        return;
    }
    mark(found, waiver, Status::Fail, &ran);
    if matches!(found.status, Status::Fail | Status::Undecided) {
        found.details.push(format!("waived: {} ({})", ran.join(", "), waiver.ground()));
        return;
    }
    let_pass(found, waiver);
}

/// Puts the waiver into the finding's evidence, with the status that it would have without.
fn mark(found: &mut Finding, waiver: &Waiver, status: Status, programs: &[String]) {
    let mut evidence = serde_json::json!({
        "status": status,
        "reason": waiver.reason,
        "date": waiver.date,
        "place": waiver.place,
    });
    if !programs.is_empty() {
        evidence["programs"] = programs.into();
    }
    found.evidence.insert(WAIVED.into(), evidence);
}

fn complain(found: &mut Finding, waiver: &Waiver, why: &str, next: &str) {
    let remark = format!("the waiver of {} ({}) {why}", waiver.date, waiver.place);
    found.evidence.insert("stale_waiver".into(), waiver.place.clone().into());
    if found.status == Status::Pass {
        found.status = Status::Advice;
        found.help = next.to_owned();
    }
    found.summary = format!("{}; {remark}", found.summary);
    found.details.push(format!("{remark}: {next}"));
}

/// The waivers for entries that there are none of: a finding each, which is of no entry.
pub fn without_entry(waivers: &[Waiver]) -> Vec<ConfigFinding> {
    let missing = |waiver: &&Waiver| waiver.entry.symlink_metadata().is_err();
    waivers.iter().filter(missing).map(config_finding).collect()
}

fn config_finding(waiver: &Waiver) -> ConfigFinding {
    let summary = format!(
        "the waiver of {} ({}) matches nothing: there is no {}",
        escape(waiver.date.as_bytes(), 40),
        waiver.place,
        shown(&waiver.entry)
    );
    ConfigFinding {
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
    use crate::model::source_place::SourcePlace;
    use crate::model::verdict::Verdict;

    fn waiver(rule: RuleId) -> Waiver {
        Waiver {
            entry: "entries/tiny".into(),
            rule,
            programs: if rule == RuleId::Commands { vec!["sed".into()] } else { Vec::new() },
            reason: "asked for by many\nand so on".into(),
            date: "2026-11-21".into(),
            sha256: None,
            place: "gate4k.toml:3:9".into(),
            file: "gate4k.toml".into(),
            at: SourcePlace { line: 3, column: 9 },
        }
    }

    fn judged(mut findings: Vec<Finding>, waivers: &[Waiver]) -> (Verdict, Vec<Finding>) {
        let waivers: Vec<&Waiver> = waivers.iter().collect();
        apply(&mut findings, &waivers, Some(&"ab".repeat(32)));
        (Verdict::of(&findings), findings)
    }

    fn broken() -> Vec<Finding> {
        vec![
            Finding::pass(RuleId::Size, "4000 bytes"),
            Finding::fail(RuleId::UciQuit, "it goes on").help("end"),
        ]
    }

    #[test]
    fn a_waived_finding_is_told_and_no_longer_rejects() {
        assert_eq!(judged(broken(), &[]).0, Verdict::Rejected);
        let (verdict, findings) = judged(broken(), &[waiver(RuleId::UciQuit)]);
        assert_eq!((verdict, findings[1].status), (Verdict::Accepted, Status::Advice));
        assert_eq!(
            findings[1].summary,
            "waived by the organisers (asked for by many\\nand so on, 2026-11-21): it goes on"
        );
        assert_eq!(findings[1].evidence["waived"]["status"], "fail");
    }

    #[test]
    fn a_waiver_holds_for_its_rule_and_its_file_only() {
        let other = waiver(RuleId::Startup);
        assert_eq!(judged(broken(), &[other]).0, Verdict::Rejected);
        let file = Waiver { sha256: Some("00".repeat(32)), ..waiver(RuleId::UciQuit) };
        let (verdict, findings) = judged(broken(), &[file]);
        assert_eq!(verdict, Verdict::Rejected);
        assert!(findings[1].summary.ends_with("is for another file than this one"));
        let same = Waiver { sha256: Some("ab".repeat(32)), ..waiver(RuleId::UciQuit) };
        assert_eq!(judged(broken(), &[same]).0, Verdict::Accepted);
    }

    #[test]
    fn a_waiver_for_commands_covers_the_programs_that_it_names_and_no_other() {
        let ran = |finding: Finding| vec![finding.with(GRANTED, ["sed"])];
        let sound = ran(Finding::pass(RuleId::Commands, "sed (waived)"));
        let (verdict, findings) = judged(sound, &[waiver(RuleId::Commands)]);
        assert_eq!((verdict, findings[0].status), (Verdict::Accepted, Status::Advice));
        assert_eq!(findings[0].evidence["waived"]["programs"][0], "sed");
        assert!(findings[0].summary.ends_with("2026-11-21): sed (waived)"));
        let curl = ran(Finding::fail(RuleId::Commands, "entry started curl"));
        let (verdict, findings) = judged(curl, &[waiver(RuleId::Commands)]);
        assert_eq!((verdict, findings[0].status), (Verdict::Rejected, Status::Fail));
        assert!(findings[0].details[0].starts_with("waived: sed ("));
        let unused = vec![Finding::pass(RuleId::Commands, "it starts no other program")];
        let (_, findings) = judged(unused, &[waiver(RuleId::Commands)]);
        assert!(findings[0].summary.contains("matches nothing"), "{}", findings[0].summary);
    }

    #[test]
    fn one_that_matches_nothing_is_a_remark() {
        let (verdict, findings) =
            judged(broken(), &[waiver(RuleId::Size), waiver(RuleId::UciQuit)]);
        assert_eq!((verdict, findings[0].status), (Verdict::Accepted, Status::Advice));
        assert!(findings[0].summary.contains("(gate4k.toml:3:9) matches nothing"));
        let config_findings = without_entry(&[waiver(RuleId::Size)]);
        let ConfigFinding { file, at, finding } = &config_findings[0];
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
