//! Reports as SARIF 2.1.0, in the part of it that GitHub's code scanning reads.
//!
//! A result is something to do: a broken rule is an error, one that could not be decided a warning, a remark
//! a note. A rule that passed or was not tried is no result, since GitHub would show an alert for it.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::place::BasePaths;
use super::text::clean;
use super::weight::{FindingWeight, lines};
use crate::model::entry_report::{EntryReport, ReportInput};
use crate::model::rule::{RULES, Rule, RuleKind};
use crate::model::source_place::SourcePlace;
use crate::model::text::hex;
use crate::model::verdict::Finding;

/// The address of the format's schema.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// GitHub shows this many results of a run; the heaviest come first.
const MOST_RESULTS: usize = 5000;

/// The document.
pub fn check(input: ReportInput<'_>, places: &BasePaths) -> serde_json::Result<String> {
    let ReportInput { entries, config_findings } = input;
    let of_entries = entries
        .iter()
        .flat_map(|report| report.findings.iter().map(move |found| (&*report.file, None, found)));
    let of_none = config_findings.iter().map(|config_finding| {
        (&*config_finding.file, Some(config_finding.at), &config_finding.finding)
    });
    let mut found: Vec<(FindingWeight, &Path, Option<SourcePlace>, &Finding)> = of_entries
        .chain(of_none)
        .map(|(file, at, found)| (FindingWeight::of(found), file, at, found))
        .filter(|(weight, ..)| level(*weight).is_some())
        .collect();
    found.sort_by_key(|(weight, ..)| *weight);
    found.truncate(MOST_RESULTS);
    let results: Value = found
        .into_iter()
        .map(|(weight, file, at, found)| outcome(file, at, found, weight, places))
        .collect();
    let artifacts: Value = entries.iter().map(|report| artifact(report, places)).collect();
    document(&artifacts, &json!({"executionSuccessful": true}), &results)
}

/// The document of a run that judged nothing.
pub(crate) fn failure(why: &str) -> serde_json::Result<String> {
    let notification = json!({"level": "error", "message": {"text": message(why)}});
    let invocation = json!({
        "executionSuccessful": false,
        "toolConfigurationNotifications": [notification],
    });
    document(&json!([]), &invocation, &json!([]))
}

fn document(artifacts: &Value, invocation: &Value, results: &Value) -> serde_json::Result<String> {
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "gate4k",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "shortDescription": {"text": env!("CARGO_PKG_DESCRIPTION")},
                "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
            }},
            "automationDetails": {"id": "gate4k/check/"},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {
                "%SRCROOT%": {"description": {"text": "The top of the repository."}},
            },
            "artifacts": artifacts,
            "invocations": [invocation],
            "results": results,
        }],
    });
    super::json::pretty(&document)
}

/// The level of a result; none where a finding is no result.
fn level(weight: FindingWeight) -> Option<&'static str> {
    match weight {
        FindingWeight::Breaks => Some("error"),
        FindingWeight::Open => Some("warning"),
        FindingWeight::Remark => Some("note"),
        FindingWeight::NotTried | FindingWeight::Kept => None,
    }
}

fn rule(rule: &Rule) -> Value {
    let default = match rule.kind {
        RuleKind::Gate => "error",
        RuleKind::Advice => "note",
    };
    json!({
        "id": rule.name,
        "name": camel(rule.name),
        "shortDescription": {"text": message(rule.title)},
        "fullDescription": {"text": message(&format!(
            "{} (TCEC 4k rules, {})", rule.title, rule.section
        ))},
        "help": {"text": message(rule.explain.trim()), "markdown": rule.explain.trim()},
        "defaultConfiguration": {"level": default},
        "properties": {
            "tags": ["tcec-4k", format!("section-{}", rule.section.replace(", ", "-"))],
            "precision": "very-high",
            "problem.severity": if default == "error" { "error" } else { "recommendation" },
        },
    })
}

/// SARIF wants names in words without signs: `LeftoverFiles`.
fn camel(name: &str) -> String {
    name.split('-')
        .flat_map(|word| {
            let mut chars = word.chars();
            chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars)
        })
        .collect()
}

fn location(file: &Path, places: &BasePaths) -> Value {
    let uri = places.uri(file);
    if uri.starts_with("file:") {
        json!({"uri": uri})
    } else {
        json!({"uri": uri, "uriBaseId": "%SRCROOT%"})
    }
}

fn artifact(report: &EntryReport, places: &BasePaths) -> Value {
    let mut artifact = json!({
        "location": location(&report.file, places),
        "roles": ["analysisTarget"],
        "properties": {"verdict": report.verdict.word()},
    });
    if report.circumstances.beside > 0 {
        artifact["properties"]["judgedBeside"] = report.circumstances.beside.into();
    }
    if let Some(size) = &report.size {
        artifact["length"] = size.file.0.into();
    }
    if let Some(sha256) = &report.sha256 {
        artifact["hashes"] = json!({"sha-256": sha256});
    }
    artifact
}

fn outcome(
    file: &Path,
    at: Option<SourcePlace>,
    found: &Finding,
    weight: FindingWeight,
    places: &BasePaths,
) -> Value {
    let lines = lines(found, clean(&found.summary), "To mend it: ");
    // Neither the figures of the finding nor the bytes of the file: it stays the same alert as long as the
    // same entry breaks the same rule.
    let mut same = format!("{} {}", found.rule.name(), places.uri(file));
    if let Some(at) = at {
        same.push_str(&format!(" {}", at.line));
    }
    let same = hex(&Sha256::digest(same)[..16]);
    json!({
        "ruleId": found.rule.name(),
        "ruleIndex": found.rule as usize,
        "level": level(weight).unwrap_or("none"),
        "message": {"text": message(&lines.join("\n"))},
        "locations": [{"physicalLocation": {
            "artifactLocation": location(file, places),
            "region": match at {
                Some(SourcePlace { line, column }) => json!({"startLine": line, "startColumn": column}),
                // An entry is bytes, not lines; but an alert without a line is not shown.
                None => json!({"startLine": 1}),
            },
        }}],
        "partialFingerprints": {"primaryLocationLineHash": format!("{same}:1")},
        "properties": {
            "status": found.status.word(),
            "section": found.rule.rule().section,
            "evidence": found.evidence,
        },
    })
}

/// Text of a message: braces would be places to fill in, and `[text](target)` a link.
fn message(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}").replace("](", "] (")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::{config_finding, report};
    use crate::model::rule::RuleId;

    fn places() -> BasePaths {
        BasePaths { base: "/repo".into(), root: "/repo".into() }
    }

    fn document(report: EntryReport) -> Value {
        serde_json::from_str(&check(ReportInput::of(&[report]), &places()).unwrap()).unwrap()
    }

    #[test]
    fn only_what_there_is_to_do_is_a_result() {
        let document = document(report());
        let results = document["runs"][0]["results"].as_array().unwrap();
        let told: Vec<_> = results
            .iter()
            .map(|r| (r["ruleId"].as_str().unwrap(), r["level"].as_str().unwrap()))
            .collect();
        assert_eq!(told, [("size", "error"), ("commands", "warning"), ("long-game", "note")]);
    }

    #[test]
    fn an_index_points_at_its_rule_and_every_rule_has_help() {
        let document = document(report());
        let run = &document["runs"][0];
        let rules = &run["tool"]["driver"]["rules"];
        for result in run["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
        for rule in rules.as_array().unwrap() {
            assert!(rule["help"]["markdown"].as_str().unwrap().len() > 100);
        }
        let names: Vec<&str> =
            rules.as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"LeftoverFiles"), "{names:?}");
    }

    #[test]
    fn an_alert_stays_the_same_when_its_figures_change() {
        let print = |summary: &str, path: &str| {
            let findings = vec![Finding::fail(RuleId::Size, summary)];
            let document = document(EntryReport { findings, file: path.into(), ..report() });
            document["runs"][0]["results"][0]["partialFingerprints"].clone()
        };
        assert_eq!(print("1 over", "a"), print("2 over", "./a"));
        assert_ne!(print("1 over", "a"), print("1 over", "b"));
    }

    #[test]
    fn what_is_of_no_entry_is_a_note_on_its_line() {
        let config_findings = [config_finding()];
        let told = ReportInput { entries: &[report()], config_findings: &config_findings };
        let document: Value = serde_json::from_str(&check(told, &places()).unwrap()).unwrap();
        let result = &document["runs"][0]["results"][3];
        assert_eq!((&result["ruleId"], &result["level"]), (&"size".into(), &"note".into()));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "gate4k.toml");
        assert_eq!(place["region"].to_string(), r#"{"startLine":3,"startColumn":9}"#);
    }

    #[test]
    fn a_hostile_name_makes_no_link() {
        let name = "{0} [click](https://x.y) \u{202e}";
        let findings = vec![Finding::fail(RuleId::Size, name)];
        let hostile = EntryReport { file: name.into(), findings, ..report() };
        let text = check(ReportInput::of(std::slice::from_ref(&hostile)), &places()).unwrap();
        assert!(!text.contains('\u{202e}'));
        let result = &document(hostile)["runs"][0]["results"][0];
        assert_eq!(result["message"]["text"], "{{0}} [click] (https://x.y) \\u{{202e}}");
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(place, "%7B0%7D%20%5Bclick%5D%28https%3A/x.y%29%20%E2%80%AE");
    }
}
