//! Reports for programs: one versioned document a command.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::entry_report::{ConfigFinding, EntryReport, ReportInput};
use crate::model::size_figures::EntrySize;
use crate::model::text::{harmless, in_millis, shown};
use crate::model::verdict::Finding;

/// The name and version of the document of `gate4k check`. It changes when a reader of the old one
/// could be misled; fields may be added without.
pub const CHECK_SCHEMA: &str = "gate4k/check/1";
/// As [`CHECK_SCHEMA`], for `gate4k size`.
const SIZE_SCHEMA: &str = "gate4k/size/1";

/// The document of `gate4k check`.
pub fn check(input: ReportInput<'_>) -> serde_json::Result<String> {
    pretty(&json!({
        "schema": CHECK_SCHEMA,
        "entries": input.entries.iter().map(entry).collect::<Value>(),
        "findings": input.config_findings.iter().map(config_finding).collect::<Value>(),
    }))
}

fn entry(report: &EntryReport) -> Value {
    let mut entry = json!({
        "path": path(&report.path),
        "sha256": report.sha256,
        "size": report.size.map(|size| json!({
            "file": size.file,
            "payload": size.payload,
            "total": size.total,
            "limit": size.limit,
        })),
        "verdict": report.verdict,
        "findings": report.findings.iter().map(finding).collect::<Value>(),
        "startup": {
            "uciok_ms": report.startup.uciok.map(in_millis),
            "readyok_ms": report.startup.readyok.map(in_millis),
        },
        "execs": report.execs,
        "leftovers": report.leftovers,
        "sandbox": {"layers": report.layers},
        "capabilities": report.capabilities.clone().unwrap_or_default(),
        "games": report.games,
    });
    let circumstances = &report.circumstances;
    if circumstances.beside > 0 {
        entry["judged_beside"] = circumstances.beside.into();
    }
    if !circumstances.terms.is_empty() {
        entry["terms"] = json!(circumstances.terms);
    }
    if let Some(judged) = &circumstances.judged {
        entry["judged"] = json!(judged);
    }
    if let Some(sum) = &circumstances.engines_json_sha256 {
        entry["engines_json_sha256"] = json!(sum);
    }
    entry
}

fn finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.name(),
        "section": finding.rule.rule().section,
        "status": finding.status,
        "summary": finding.summary,
        "evidence": finding.evidence,
        "help": finding.help,
    })
}

/// A finding that is of no entry.
fn config_finding(found: &ConfigFinding) -> Value {
    let mut value = json!({
        "file": path(&found.file),
        "line": found.at.line,
        "column": found.at.column,
    });
    if let (Some(fields), Value::Object(more)) = (value.as_object_mut(), finding(&found.finding)) {
        fields.extend(more);
    }
    value
}

/// The document of `gate4k size`.
pub(crate) fn size(entries: &[EntrySize]) -> serde_json::Result<String> {
    let entries: Value = entries.iter().map(measured).collect();
    pretty(&json!({"schema": SIZE_SCHEMA, "entries": entries}))
}

fn measured(entry: &EntrySize) -> Value {
    let mut value = json!({
        "path": path(&entry.path),
        "sha256": entry.sha256,
        "format": entry.format,
        "verdict": entry.verdict,
    });
    // The reason why what engines.json adds is unknown.
    if let Some(problem) = &entry.problem {
        value["problem"] = json!(problem.summary);
    }
    value["size"] = json!(entry.size);
    value["size"]["left"] = entry.size.left().into();
    value
}

/// A program needs the path as it was given; only what is no text must be written another way.
fn path(path: &Path) -> String {
    path.to_str().map_or_else(|| shown(path), str::to_owned)
}

/// A document for programs as text, in which nothing moves a terminal.
pub(crate) fn pretty(document: &impl Serialize) -> serde_json::Result<String> {
    Ok(harmless(&serde_json::to_string_pretty(document)?) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::EntryReport;
    use crate::model::entry_report::StartTimes;
    use crate::model::entry_report::tests::{config_finding, report};

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn the_document_is_the_one_promised() {
        let text = check(ReportInput::of(&[report()])).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(keys(&document), ["schema", "entries", "findings"]);
        assert_eq!(document["schema"], "gate4k/check/1");
        let entry = &document["entries"][0];
        assert_eq!(
            keys(entry),
            [
                "path",
                "sha256",
                "size",
                "verdict",
                "findings",
                "startup",
                "execs",
                "leftovers",
                "sandbox",
                "capabilities",
                "games"
            ]
        );
        assert_eq!(entry["verdict"], "rejected");
        assert_eq!(
            entry["size"].to_string(),
            r#"{"file":4097,"payload":20,"total":4117,"limit":4096}"#
        );
        assert_eq!(
            entry["findings"][1].to_string(),
            r#"{"rule":"size","section":"7.1, 7.3","status":"fail","summary":"4117 bytes, 21 over","evidence":{"over":21},"help":"save 21 bytes"}"#
        );
        assert_eq!(entry["startup"].to_string(), r#"{"uciok_ms":412.0,"readyok_ms":413.5}"#);
        assert_eq!(entry["execs"][0]["class"], "entry");
        assert_eq!(
            entry["leftovers"].to_string(),
            r#"[{"what":"file","path":"/tmp/x","size":3,"kind":"file","made_by":"sh","exempt":null},{"what":"process","pid":9,"state":"S","command":"sleep 60"}]"#
        );
        assert_eq!(
            entry["sandbox"]["layers"][3].to_string(),
            r#"{"name":"user","state":"absent","reason":"refused by the host"}"#
        );
        assert_eq!(entry["capabilities"]["go_clock"], true);
        assert_eq!(entry["capabilities"]["nodes"], Value::Null);
        assert_eq!(entry["games"][0]["end"].to_string(), r#"{"whole":"White mates"}"#);
        assert_eq!(
            entry["games"][0]["moves"][6].to_string(),
            r#"{"move":"h5f7","took_ms":38.0,"score":{"mate":1}}"#
        );
    }

    #[test]
    fn an_entry_that_is_no_file_has_the_same_fields() {
        let bare = EntryReport {
            sha256: None,
            size: None,
            capabilities: None,
            startup: StartTimes::default(),
            ..report()
        };
        let whole: Value =
            serde_json::from_str(&check(ReportInput::of(&[report()])).unwrap()).unwrap();
        let bare: Value = serde_json::from_str(&check(ReportInput::of(&[bare])).unwrap()).unwrap();
        let (whole, bare) = (&whole["entries"][0], &bare["entries"][0]);
        assert_eq!(keys(whole), keys(bare));
        assert_eq!(keys(&whole["capabilities"]), keys(&bare["capabilities"]));
        assert_eq!(bare["startup"]["uciok_ms"], Value::Null);
    }

    #[test]
    fn a_path_comes_back_exactly_and_steers_no_terminal() {
        let name = "a\n\u{1b}[2J\u{9b}2J\u{202e}\u{7f}é\"";
        let named = EntryReport { path: name.into(), ..report() };
        let text = check(ReportInput::of(&[named])).unwrap();
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        assert!(!text.contains('\u{202e}'));
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["entries"][0]["path"], name);
    }

    #[test]
    fn nothing_judged_is_still_a_document() {
        let config_findings = [config_finding()];
        let text = check(ReportInput { entries: &[], config_findings: &config_findings }).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["entries"], Value::Array(Vec::new()));
        assert_eq!(
            document["findings"].to_string(),
            r#"[{"file":"gate4k.toml","line":3,"column":9,"rule":"size","section":"7.1, 7.3","status":"advice","summary":"the waiver matches nothing","evidence":{},"help":"remove it"}]"#
        );
    }
}
