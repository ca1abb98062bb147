//! An entry by its bytes alone: its digest, its size, the bytes that it could save.

use std::path::{Path, PathBuf};

use super::error::CheckError;
use super::settings::Settings;
use super::{Judge, mistaken_file, sha256};
use crate::model::entry_report::EngineOfFile;
use crate::model::next_step;
use crate::model::rule::RuleId;
use crate::model::size_figures::{EntrySize, SizeFigures};
use crate::model::verdict::{Finding, Status, Verdict};
use crate::pack::hint::{self, Hint};
use crate::submission::Submission;
use crate::submission::entry::{self, LoadError, LoadOptions};
use crate::submission::format::{self, FileFormat, ThisHost};
use crate::submission::json::Json;
use crate::submission::payload::{self, Counting, PayloadReport};
use crate::submission::size::{self, FileParts};

/// The bytes of an entry, as far as a receipt names them.
#[derive(Clone, Debug)]
pub(crate) struct EntryDigest {
    /// The SHA-256 of its file; none where there is no single one.
    pub(crate) sha256: Option<String>,
    /// The SHA-256 of its engines.json, where it has one.
    pub(crate) engines_json_sha256: Option<String>,
    /// The engine of that engines.json that is meant.
    pub(crate) engine: Option<EngineOfFile>,
    /// The finding of rule `single-file`.
    pub(crate) single: Finding,
}

/// An entry that was read, with the findings of the rules that its bytes decide.
pub(super) struct ReadEntry {
    pub(super) submission: Submission,
    pub(super) format: FileFormat,
    pub(super) size: SizeFigures,
    pub(super) payload: PayloadReport,
    pub(super) findings: Vec<Finding>,
}

impl Judge {
    /// The bytes that an entry could save, the most first.
    pub(crate) fn hints(&self, path: &Path) -> Result<Vec<Hint>, CheckError> {
        let (read, _) = self.read(path)?;
        let whole = read.filter(|read| read.submission.is_whole());
        Ok(whole.map_or_else(Vec::new, |read| {
            let stub = read.size.stub.and_then(|stub| usize::try_from(stub.0).ok());
            hint::all(&read.submission.bytes, stub.unwrap_or_default())
        }))
    }

    /// Reads an entry.
    pub(super) fn entry(&self, path: &Path) -> Result<ReadEntry, CheckError> {
        let (read, single) = self.read(path)?;
        read.ok_or_else(|| CheckError::Nothing { path: path.to_owned(), what: single.summary })
    }

    /// The file that an entry's directory holds.
    pub(crate) fn file_of(&self, path: &Path) -> Result<PathBuf, CheckError> {
        self.entry(path).map(|read| read.submission.path)
    }

    /// The sums of an entry's files, without judging it.
    pub(crate) fn digest(&self, path: &Path) -> Result<EntryDigest, CheckError> {
        let (read, single) = self.read(path)?;
        let submission = read.map(|read| read.submission);
        Ok(EntryDigest {
            sha256: submission.as_ref().and_then(|submission| submission.sha256.clone()),
            engines_json_sha256: submission.as_ref().and_then(engines_json_sha256),
            engine: submission.as_ref().and_then(engine_of_file),
            single,
        })
    }

    /// Counts one entry's bytes without running it.
    pub(crate) fn measure(&self, path: &Path) -> Result<EntrySize, CheckError> {
        let read = self.entry(path)?;
        let (format, step) = format_of(&read);
        let counted = read.payload.fields.iter().filter(|f| f.counting != Counting::NotCounted);
        // Of the findings by bytes, that on the size decides what `size` says, and each that leaves no size to tell of.
        let is_about_size = |finding: &Finding| match finding.rule {
            RuleId::Size | RuleId::Payload => true,
            RuleId::Format => finding.status == Status::Fail,
            _ => false,
        };
        let about_size: Vec<Finding> = read.findings.into_iter().filter(is_about_size).collect();
        let broken =
            |finding: &&Finding| finding.rule == RuleId::Payload && finding.status == Status::Fail;
        Ok(EntrySize {
            path: path.to_owned(),
            sha256: read.submission.sha256.unwrap_or_default(),
            format,
            step,
            verdict: Verdict::of(&about_size),
            problem: about_size.iter().find(broken).cloned(),
            size: read.size,
            counted: counted
                .map(|field| {
                    format!("{}: {} ({})", field.field, field.size.canonical, field.reason)
                })
                .collect(),
        })
    }

    /// The entry at `path`, where there is one, and the finding of rule `single-file`.
    pub(super) fn read(&self, path: &Path) -> Result<(Option<ReadEntry>, Finding), CheckError> {
        let options = LoadOptions {
            engines_json: self.settings.engines_json.clone(),
            name: self.settings.name.clone(),
        };
        let loaded = entry::load(path, &options).map_err(load_error)?;
        let Some(submission) = loaded.submission else {
            return Ok((None, loaded.finding));
        };
        let Settings { files, size_limit, .. } = self.settings;
        let (format, on_format) =
            format::judge(&submission.bytes, submission.mode, files, &ThisHost, &self.list);
        let (payload, on_payload) =
            payload::judge(submission.engines_json.as_ref(), &submission.file_name, &self.list);
        let parts = FileParts::from(&format);
        let (size, on_size) = size::judge(submission.size, parts, &payload, size_limit);
        let findings = vec![on_format, on_payload, on_size];
        Ok((Some(ReadEntry { submission, format, size, payload, findings }), loaded.finding))
    }
}

fn load_error(error: LoadError) -> CheckError {
    match error {
        LoadError::Nothing { path, what } => CheckError::Nothing { path, what: what.to_owned() },
        LoadError::Unreadable { path, source } if source.kind() == std::io::ErrorKind::NotFound => {
            CheckError::Nothing { path, what: "no such file".into() }
        }
        LoadError::Unreadable { path, source } => CheckError::Read { path, source },
        other => CheckError::Configuration(Box::new(other)),
    }
}

/// The format of a file in the words that `check` has for it; of one that nobody can start also the next step.
fn format_of(read: &ReadEntry) -> (String, Option<String>) {
    if let Some((is, step)) = mistaken_file::told(&read.submission) {
        return (is.to_owned(), Some(step));
    }
    let on_format = read.findings.iter().find(|finding| finding.rule == RuleId::Format);
    match on_format.filter(|finding| finding.status == Status::Fail) {
        Some(finding) => {
            let step = next_step::naming(&finding.help, Some(&read.submission.path));
            (finding.summary.clone(), Some(step))
        }
        None => (read.format.describe(), None),
    }
}

/// The sum of an entry's configuration.
pub(super) fn engines_json_sha256(submission: &Submission) -> Option<String> {
    submission.engines_json.as_ref().map(|config| sha256(config.text.as_bytes()))
}

/// The engine of an entry's configuration that is judged.
pub(super) fn engine_of_file(submission: &Submission) -> Option<EngineOfFile> {
    let engine = submission.engines_json.as_ref()?.selected.as_ref().ok()?;
    let name = engine.get("name").and_then(Json::scalar).map(str::to_owned);
    Some(EngineOfFile { name, sha256: sha256(engine.canonical().as_bytes()) })
}
