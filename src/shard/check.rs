//! The records of a check's journal: the entries of one shard, each with its report.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Shard;
use crate::event::journal::JournalKind;
use crate::model::entry_report::{ConfigFinding, EngineOfFile, EntryReport};
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::verdict::Verdict;
use crate::receipt::document::{HostRecord, ProgramRecord, SettingsRecord, Tool};

/// The version of the journal's form.
pub(crate) const VERSION: u32 = 1;

/// A record of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CheckRecord {
    /// The first one: the check that this is a part of.
    Check(Box<CheckHeader>),
    /// A host begins or goes on here.
    Host(Box<JudgingHost>),
    /// An entry has been judged.
    Entry(Box<JudgedEntry>),
}

/// The check and the part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct CheckHeader {
    /// See [`VERSION`].
    pub version: u32,
    /// The part of the check.
    pub shard: Shard,
    /// The check.
    pub(crate) check: Check,
}

/// A check, told so fully that two equal ones judge the same files by the same rules.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Check {
    /// The program that judges.
    pub(crate) gate4k: ProgramRecord,
    /// Its settings.
    pub(crate) settings: SettingsRecord,
    /// The SHA-256 of the allow-list's text.
    pub(crate) allowlist_sha256: String,
    /// The waivers, a line each.
    pub(crate) waivers: Vec<String>,
    /// All entries, in their order.
    pub(crate) entries: Vec<Listed>,
    /// The findings that are of no entry.
    pub(crate) config_findings: Vec<ConfigFinding>,
}

/// An entry of a check before it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Listed {
    /// The path as it was given.
    #[serde(with = "crate::model::path_text")]
    pub(crate) path: PathBuf,
    /// The SHA-256 of its file; none where no single file was found.
    pub(crate) sha256: Option<String>,
    /// The SHA-256 of its engines.json, where it has one.
    pub(crate) engines_json_sha256: Option<String>,
    /// The engine of that file that is judged.
    pub(crate) engine: Option<EngineOfFile>,
}

impl Listed {
    /// True if a report is on this entry as it was when the check began.
    pub(crate) fn is_of(&self, report: &EntryReport) -> bool {
        let circumstances = &report.circumstances;
        self.path == report.path
            && self.sha256 == report.sha256
            && self.engines_json_sha256 == circumstances.engines_json_sha256
            && self.engine == circumstances.engine
    }
}

/// A host that judges.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct JudgingHost {
    /// Its name.
    pub(crate) name: String,
    /// All else that a receipt has of it.
    pub(crate) host: HostRecord,
}

/// An entry that has been judged; a later record of the same entry takes the place of one that did not decide.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct JudgedEntry {
    /// Its number among all entries, from 0.
    pub(crate) entry: usize,
    /// The result.
    pub(crate) outcome: EntryOutcome,
    /// The host's programs that it started.
    pub(crate) tools: Vec<Tool>,
}

/// The result on one entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EntryOutcome {
    /// A report.
    Judged(Box<EntryReport>),
    /// There is no result, for this reason.
    NotJudged {
        /// The message.
        what: String,
        /// The exit code that it makes.
        exit: Exit,
    },
}

impl EntryOutcome {
    /// The exit code of a check of this entry alone.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            EntryOutcome::Judged(report) => report.verdict.into(),
            EntryOutcome::NotJudged { exit, .. } => *exit,
        }
    }

    /// True if another try would tell nothing else.
    pub(crate) fn is_decided(&self) -> bool {
        matches!(self, EntryOutcome::Judged(report) if report.verdict != Verdict::Undecided)
    }
}

impl Check {
    /// The first thing in which another check differs from this one; none where it is the same check.
    pub(crate) fn difference(&self, other: &Check) -> Option<String> {
        let numbers = (self.entries.len(), other.entries.len());
        if let Some((number, (one, other))) = self
            .entries
            .iter()
            .zip(&other.entries)
            .enumerate()
            .find(|(_, (one, other))| one != other)
        {
            let (path, other_path) = (shown(&one.path), shown(&other.path));
            return Some(if path == other_path {
                format!("the files of {path} are others")
            } else {
                format!("entry {} is {path} and {other_path}", number + 1)
            });
        }
        if numbers.0 != numbers.1 {
            return Some(format!("there are {} entries and {}", numbers.0, numbers.1));
        }
        let [one, other] = [self, other].map(|check| {
            serde_json::to_value(Check { entries: Vec::new(), ..check.clone() }).unwrap_or_default()
        });
        differing("", &one, &other)
    }
}

/// The first member that differs, by its name behind those that it is `of`.
fn differing(of: &str, one: &Value, other: &Value) -> Option<String> {
    if let (Value::Object(members), Value::Object(others)) = (one, other) {
        let names = members.keys().chain(others.keys());
        return names.into_iter().find_map(|name| {
            let [one, other] = [members, others].map(|all| all.get(name).unwrap_or(&Value::Null));
            differing(&format!("{of}{} ", name.replace('_', "-")), one, other)
        });
    }
    (one != other).then(|| format!("{of}is {one} and {other}"))
}

impl JournalKind for CheckRecord {
    const REPAIR: &'static str = super::REPAIR;
    const ORIGIN: &'static str = super::ORIGIN;
    const VERSION: u32 = VERSION;
    const NO_HEADER: &'static str = "it does not begin with the check that it is a part of";

    fn version(&self) -> Option<u32> {
        match self {
            CheckRecord::Check(header) => Some(header.version),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_with_what_it_is_of() {
        let one = serde_json::json!({"gate4k": {"sha256": "a"}, "settings": {"size_limit": 1}});
        let mut other = one.clone();
        assert_eq!(differing("", &one, &other), None);
        other["settings"]["size_limit"] = 2.into();
        assert_eq!(differing("", &one, &other).unwrap(), "settings size-limit is 1 and 2");
        other["gate4k"] = Value::Null;
        let words = r#"gate4k is {"sha256":"a"} and null"#;
        assert_eq!(differing("", &one, &other).unwrap(), words);
    }
}
