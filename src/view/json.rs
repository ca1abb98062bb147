//! Reports for programs: one versioned document a command.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::size::Figures;
use crate::model::entry_report::{ConfigFinding, Leftover, ReportInput, StartTimes};
use crate::model::evidence::{Capabilities, Exec, PlayedGame};
use crate::model::layer_status::Layer;
use crate::model::size_figures::{EntrySize, SizeFigures};
use crate::model::text::{harmless, millis_opt, shown};
use crate::model::verdict::{Finding, Status, Verdict};

/// The name and version of the document of `gate4k check`. It changes when a reader of the old one
/// could be misled; fields may be added without.
pub const CHECK_SCHEMA: &str = "gate4k/check/1";
/// As [`CHECK_SCHEMA`], for `gate4k size`.
const SIZE_SCHEMA: &str = "gate4k/size/1";

#[derive(Serialize)]
struct ReportDocument<'a, T> {
    schema: &'static str,
    entries: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<PlacedFinding<'a>>>,
}

/// A finding that is of no entry.
#[derive(Serialize)]
struct PlacedFinding<'a> {
    file: String,
    line: usize,
    column: usize,
    #[serde(flatten)]
    found: FindingItem<'a>,
}

#[derive(Serialize)]
struct Entry<'a> {
    path: String,
    sha256: Option<&'a str>,
    size: Option<Figures>,
    verdict: Verdict,
    findings: Vec<FindingItem<'a>>,
    startup: Startup,
    execs: &'a [Exec],
    leftovers: &'a [Leftover],
    sandbox: Sandbox<'a>,
    capabilities: Capabilities,
    games: &'a [PlayedGame],
    #[serde(skip_serializing_if = "Option::is_none")]
    judged_beside: Option<usize>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    terms: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engines_json_sha256: Option<&'a str>,
}

#[derive(Serialize)]
struct FindingItem<'a> {
    rule: &'static str,
    section: &'static str,
    status: Status,
    summary: &'a str,
    evidence: &'a Map<String, Value>,
    help: &'a str,
}

#[derive(Serialize)]
struct Startup {
    #[serde(serialize_with = "millis_opt")]
    uciok_ms: Option<Duration>,
    #[serde(serialize_with = "millis_opt")]
    readyok_ms: Option<Duration>,
}

#[derive(Serialize)]
struct Sandbox<'a> {
    layers: &'a [Layer],
}

#[derive(Serialize)]
struct Measured<'a> {
    path: String,
    sha256: &'a str,
    format: &'a str,
    verdict: Verdict,
    /// The reason why what engines.json adds is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    size: MeasuredFigures,
}

#[derive(Serialize)]
struct MeasuredFigures {
    #[serde(flatten)]
    figures: SizeFigures,
    left: i64,
}

impl<'a> From<&'a Finding> for FindingItem<'a> {
    fn from(finding: &'a Finding) -> FindingItem<'a> {
        FindingItem {
            rule: finding.rule.name(),
            section: finding.rule.rule().section,
            status: finding.status,
            summary: &finding.summary,
            evidence: &finding.evidence,
            help: &finding.help,
        }
    }
}

impl From<StartTimes> for Startup {
    fn from(times: StartTimes) -> Startup {
        Startup { uciok_ms: times.uciok, readyok_ms: times.readyok }
    }
}

/// The document of `gate4k check`.
///
/// # Errors
/// None that can be met: all that a report holds has a JSON form.
pub fn check<'a>(input: ReportInput<'a>) -> serde_json::Result<String> {
    let placed = |config_finding: &'a ConfigFinding| PlacedFinding {
        file: path(&config_finding.file),
        line: config_finding.at.line,
        column: config_finding.at.column,
        found: FindingItem::from(&config_finding.finding),
    };
    document(
        CHECK_SCHEMA,
        input
            .entries
            .iter()
            .map(|report| Entry {
                path: path(&report.path),
                sha256: report.sha256.as_deref(),
                size: report.size.as_ref().map(Figures::from),
                verdict: report.verdict,
                findings: report.findings.iter().map(FindingItem::from).collect(),
                startup: report.startup.into(),
                execs: &report.execs,
                leftovers: &report.leftovers,
                sandbox: Sandbox { layers: &report.layers },
                capabilities: report.capabilities.clone().unwrap_or_default(),
                games: &report.games,
                judged_beside: Some(report.circumstances.beside).filter(|others| *others > 0),
                terms: &report.circumstances.terms,
                judged: report.circumstances.judged.as_deref(),
                engines_json_sha256: report.circumstances.engines_json_sha256.as_deref(),
            })
            .collect(),
        Some(input.config_findings.iter().map(placed).collect()),
    )
}

/// The document of `gate4k size`.
///
/// # Errors
/// As [`check`].
pub(crate) fn size(entries: &[EntrySize]) -> serde_json::Result<String> {
    document(
        SIZE_SCHEMA,
        entries
            .iter()
            .map(|entry| Measured {
                path: path(&entry.path),
                sha256: &entry.sha256,
                format: &entry.format,
                verdict: entry.verdict,
                problem: entry.problem.as_ref().map(|finding| &*finding.summary),
                size: MeasuredFigures { figures: entry.size, left: entry.size.left() },
            })
            .collect(),
        None,
    )
}

/// A program needs the path as it was given; only what is no text must be written another way.
fn path(path: &Path) -> String {
    path.to_str().map_or_else(|| shown(path), str::to_owned)
}

fn document<T: Serialize>(
    schema: &'static str,
    entries: Vec<T>,
    findings: Option<Vec<PlacedFinding<'_>>>,
) -> serde_json::Result<String> {
    pretty(&ReportDocument { schema, entries, findings })
}

/// A document for programs as text, in which nothing moves a terminal.
///
/// # Errors
/// When it cannot be written as JSON.
pub(crate) fn pretty(document: &impl Serialize) -> serde_json::Result<String> {
    Ok(harmless(&serde_json::to_string_pretty(document)?) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::EntryReport;
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
