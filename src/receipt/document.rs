//! The document: sums of everything that the verdict rests on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::judge::settings::Files;
use crate::judge::{Judge, file_sha256, program_sha256};
use crate::model::entry_report::{EngineOfFile, EntryReport};
use crate::model::evidence::Limits;
use crate::model::layer_status::Layer;
use crate::model::text::{hex, shown};
use crate::model::units::{Bytes, whole_millis};
use crate::model::verdict::{Status, Verdict, WAIVED};
use crate::sandbox::capability::{self, Capability};
use crate::sandbox::timing;

/// The name and version of the document. It changes when a reader of the old one could be misled.
pub(crate) const RECEIPT_SCHEMA: &str = "gate4k/receipt/1";

/// A receipt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// [`RECEIPT_SCHEMA`].
    pub(crate) schema: String,
    /// The program that judged.
    pub(crate) gate4k: ProgramRecord,
    /// When it was written, in RFC 3339.
    pub(crate) written: String,
    /// The host on which it judged.
    pub(crate) host: HostRecord,
    /// The settings.
    pub(crate) settings: SettingsRecord,
    /// The SHA-256 of the allow-list's text.
    pub(crate) allowlist_sha256: String,
    /// The host's programs that the entries started.
    pub(crate) tools: Vec<Tool>,
    /// The entries.
    pub(crate) entries: Vec<EntryRecord>,
}

/// The program that judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramRecord {
    /// Its version.
    pub(crate) version: String,
    /// The SHA-256 of its file.
    pub(crate) sha256: String,
}

/// The host that it judged on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HostRecord {
    /// Kernel release.
    pub(crate) kernel: String,
    /// Processors that could be used.
    pub(crate) processors: usize,
    /// Physical memory.
    pub(crate) memory: Bytes,
    /// The layers of the sandbox there.
    pub(crate) layers: Vec<Layer>,
    /// The facts that times depended on there, by name: swap, shared cores, clocks, other load.
    #[serde(default)]
    pub(crate) timing: BTreeMap<String, String>,
}

/// The choices of the caller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SettingsRecord {
    /// Tolerated commands were refused.
    pub(crate) strict: bool,
    /// Probes that can only advise were left out.
    pub(crate) quick: bool,
    /// The most bytes of an entry.
    #[serde(default = "limit_4k")]
    pub(crate) size_limit: Bytes,
    /// The most memory of an entry, where the event has such a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory_limit: Option<Bytes>,
    /// ELF executables alone were taken.
    #[serde(default)]
    pub(crate) elf_only: bool,
    /// Limits in milliseconds: start-up, answer, quit, grace.
    pub(crate) limits_ms: [u64; 4],
    /// The games of rule `match`: `as usual`, `off` or a number of pairs.
    pub(crate) games: String,
    /// The time for these together, in milliseconds.
    pub(crate) games_limit_ms: u64,
    /// Layers that were asked for.
    pub(crate) required: Vec<String>,
    /// Large mappings reserved no memory.
    pub(crate) lazy_memory: bool,
    /// Devices that were opened.
    pub(crate) devices: Vec<String>,
}

/// A program of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tool {
    /// The name by which the allow-list knows it.
    pub(crate) name: String,
    /// Where it lies.
    pub(crate) path: String,
    /// The SHA-256 of its file; none where it cannot be read.
    pub(crate) sha256: Option<String>,
}

/// One entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EntryRecord {
    /// The path as it was given.
    pub(crate) path: String,
    /// The SHA-256 of its file; none where no single file was found.
    pub(crate) sha256: Option<String>,
    /// The SHA-256 of its engines.json, where it has one.
    pub(crate) engines_json_sha256: Option<String>,
    /// The engine of that file that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) engine: Option<EngineOfFile>,
    /// Its bytes by rule 7.1.
    pub(crate) bytes: Option<Bytes>,
    /// The decision.
    pub(crate) verdict: Verdict,
    /// The findings, rule by rule.
    pub(crate) findings: Vec<FindingRecord>,
    /// The SHA-256 of the conversation of the main run, line by line; none where there was none.
    pub(crate) transcript_sha256: Option<String>,
    /// The number of other entries judged at the same time.
    pub(crate) judged_beside: usize,
    /// The moment at which it was judged, where that was earlier than this receipt.
    pub(crate) judged: Option<String>,
    /// The allowed programs and libraries that the host replaced meanwhile; it was judged by the new ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaced: Option<String>,
    /// The host on which it was judged, if that is another than the receipt names (see `merge`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<HostRecord>,
}

/// The finding of one rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FindingRecord {
    /// The rule.
    pub(crate) rule: String,
    /// The status.
    pub(crate) status: Status,
    /// In a line.
    pub(crate) summary: String,
    /// The reason and date where the organisers let it pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waived: Option<serde_json::Value>,
}

/// The limit of a receipt that does not name one.
fn limit_4k() -> Bytes {
    Bytes::LIMIT_4K
}

impl ProgramRecord {
    /// This program.
    pub(crate) fn here() -> ProgramRecord {
        ProgramRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sha256: program_sha256().to_owned(),
        }
    }
}

impl HostRecord {
    /// This host.
    pub(crate) fn here() -> HostRecord {
        HostRecord {
            kernel: capability::kernel_release(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory: capability::memory(),
            layers: Capability::probe().layers(),
            timing: timing::facts()
                .into_iter()
                .map(|fact| (fact.name.to_owned(), fact.what))
                .collect(),
        }
    }

    /// True if another host is as good as the same; the facts that times depend on are never the same twice.
    fn is_like(&self, other: &HostRecord) -> bool {
        self.kernel == other.kernel
            && self.processors == other.processors
            && self.memory == other.memory
            && self.layers == other.layers
    }
}

impl SettingsRecord {
    /// The settings of a judge.
    pub(crate) fn of(judge: &Judge) -> SettingsRecord {
        let settings = judge.settings();
        SettingsRecord {
            strict: settings.strict,
            quick: settings.quick,
            size_limit: settings.size_limit,
            memory_limit: settings.memory_limit,
            elf_only: settings.files == Files::ElfOnly,
            limits_ms: limits_ms(&settings.limits),
            games: settings.games.to_string(),
            games_limit_ms: whole_millis(settings.games_limit),
            required: settings.required.iter().map(|layer| layer.word().to_owned()).collect(),
            lazy_memory: settings.lazy_memory,
            devices: settings.devices.iter().map(|class| class.word().to_owned()).collect(),
        }
    }
}

impl Receipt {
    /// The receipt of what was judged just now.
    pub(crate) fn of(reports: &[EntryReport], judge: &Judge) -> Receipt {
        Receipt {
            schema: RECEIPT_SCHEMA.to_owned(),
            gate4k: ProgramRecord::here(),
            written: now(),
            host: HostRecord::here(),
            settings: SettingsRecord::of(judge),
            allowlist_sha256: judge.list_sha256().to_owned(),
            tools: tools(reports),
            entries: reports.iter().map(entry).collect(),
        }
    }

    /// The receipt of what was judged in parts, each report with where and by which tools.
    pub(crate) fn of_parts<'a>(
        gate4k: ProgramRecord,
        settings: SettingsRecord,
        allowlist_sha256: String,
        parts: impl IntoIterator<Item = (&'a EntryReport, &'a HostRecord, &'a [Tool])>,
    ) -> Receipt {
        let mut host: Option<HostRecord> = None;
        let mut all_tools: Vec<Tool> = Vec::new();
        let mut entries = Vec::new();
        for (report, its_host, tools) in parts {
            let host = host.get_or_insert_with(|| its_host.clone());
            let elsewhere = (!host.is_like(its_host)).then(|| its_host.clone());
            entries.push(EntryRecord { host: elsewhere, ..entry(report) });
            all_tools.extend(tools.iter().cloned());
        }
        // As `tools` has them.
        let key = |tool: &Tool| (tool.name.clone(), PathBuf::from(&tool.path), tool.sha256.clone());
        all_tools.sort_by_cached_key(key);
        all_tools.dedup();
        Receipt {
            schema: RECEIPT_SCHEMA.to_owned(),
            gate4k,
            written: now(),
            host: host.unwrap_or_else(HostRecord::here),
            settings,
            allowlist_sha256,
            tools: all_tools,
            entries,
        }
    }

    /// The document.
    ///
    /// # Errors
    /// None that can be met: all that a receipt holds has a JSON form.
    pub(crate) fn text(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(crate::model::text::harmless(&text))
    }
}

fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The programs that ran and that this host has, each once.
pub(crate) fn tools<'a>(reports: impl IntoIterator<Item = &'a EntryReport>) -> Vec<Tool> {
    let mut found: BTreeMap<(String, PathBuf), Option<String>> = BTreeMap::new();
    for exec in reports.into_iter().flat_map(|report| &report.execs) {
        let Some(real) = exec.real.as_deref().map(Path::new) else { continue };
        // The entry itself and what it made are no files of the host.
        let is_of_the_host = real.starts_with("/usr") || real.starts_with("/opt");
        if exec.product.is_none() && is_of_the_host {
            found
                .entry((exec.name.clone(), real.to_owned()))
                .or_insert_with(|| file_sha256(real).ok());
        }
    }
    found
        .into_iter()
        .map(|((name, path), sha256)| Tool { name, path: shown(&path), sha256 })
        .collect()
}

/// One entry's part of a receipt.
fn entry(report: &EntryReport) -> EntryRecord {
    EntryRecord {
        path: shown(&report.path),
        sha256: report.sha256.clone(),
        engines_json_sha256: report.circumstances.engines_json_sha256.clone(),
        engine: report.circumstances.engine.clone(),
        bytes: report.size.as_ref().map(|size| size.total),
        verdict: report.verdict,
        findings: report
            .findings
            .iter()
            .map(|found| FindingRecord {
                rule: found.rule.name().to_owned(),
                status: found.status,
                summary: found.summary.clone(),
                waived: found.evidence.get(WAIVED).cloned(),
            })
            .collect(),
        transcript_sha256: (!report.transcript.is_empty()).then(|| transcript(&report.transcript)),
        judged_beside: report.circumstances.beside,
        judged: report.circumstances.judged.clone(),
        replaced: report
            .findings
            .iter()
            .find_map(|found| found.evidence.get("replaced")?.as_str().map(str::to_owned)),
        host: None,
    }
}

fn transcript(lines: &[String]) -> String {
    let mut sum = Sha256::new();
    for line in lines {
        sum.update(line);
        sum.update("\n");
    }
    hex(sum.finalize())
}

/// Limits as a receipt has them: start, answer, quit, grace.
pub(super) fn limits_ms(limits: &Limits) -> [u64; 4] {
    let Limits { startup, answer, quit, grace } = *limits;
    [startup, answer, quit, grace].map(whole_millis)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::judge::settings::Settings;
    use crate::model::entry_report::tests::report;

    pub(crate) fn receipt() -> Receipt {
        Receipt::of(&[report()], &Judge::open(Settings::default()).unwrap())
    }

    #[test]
    fn it_names_what_the_verdict_rests_on_and_comes_back_as_written() {
        let receipt = receipt();
        let text = receipt.text().unwrap();
        let back: Receipt = serde_json::from_str(&text).unwrap();
        assert_eq!(back.text().unwrap(), text);
        assert_eq!(back.schema, "gate4k/receipt/1");
        assert_eq!(back.gate4k.sha256.len(), 64);
        assert_eq!(back.allowlist_sha256.len(), 64);
        assert_eq!(back.settings.limits_ms, [60_000, 20_000, 5_000, 10_000]);
        assert_eq!((&*back.settings.games, back.settings.games_limit_ms), ("as usual", 30_000));
        assert!(!back.host.layers.is_empty() && !back.host.kernel.is_empty());
        let entry = &back.entries[0];
        assert_eq!(entry.verdict, Verdict::Rejected);
        assert_eq!(entry.sha256.as_deref(), Some("ab".repeat(32).as_str()));
        assert_eq!(entry.findings.len(), report().findings.len());
        assert_eq!(entry.transcript_sha256.as_ref().unwrap().len(), 64);
    }

    #[test]
    fn a_receipt_of_parts_names_only_hosts_that_differ_and_each_tool_once() {
        let whole = receipt();
        let here = whole.host.clone();
        let timing = BTreeMap::from([("load".to_owned(), "another".to_owned())]);
        let busier = HostRecord { timing, ..here.clone() };
        let elsewhere = HostRecord { kernel: "6.12-other".into(), ..here.clone() };
        let tool = |name: &str, sum: &str| Tool {
            name: name.into(),
            path: format!("/usr/bin/{name}"),
            sha256: Some(sum.into()),
        };
        let report = report();
        let of_parts = |hosts: &[&HostRecord], tools: &[&[Tool]]| {
            let parts = hosts.iter().zip(tools).map(|(host, tools)| (&report, *host, *tools));
            let (gate4k, settings) = (whole.gate4k.clone(), whole.settings.clone());
            Receipt::of_parts(gate4k, settings, whole.allowlist_sha256.clone(), parts)
        };
        let one = of_parts(&[&here], &[&whole.tools]);
        let one = Receipt { written: whole.written.clone(), ..one };
        assert_eq!(one.text().unwrap(), whole.text().unwrap());
        let (sh, xz, other_sh) = (tool("sh", "00"), tool("xz", "00"), tool("sh", "11"));
        let hosts = [&here, &busier, &elsewhere];
        let first = [xz, sh.clone()];
        let all = of_parts(&hosts, &[&first, &[sh], &[other_sh]]);
        let names: Vec<_> = all.tools.iter().map(|t| (&*t.name, t.sha256.as_deref())).collect();
        assert_eq!(names, [("sh", Some("00")), ("sh", Some("11")), ("xz", Some("00"))]);
        let kernels = all.entries.iter().map(|one| one.host.as_ref().map(|host| &*host.kernel));
        assert_eq!(kernels.collect::<Vec<_>>(), [None, None, Some("6.12-other")]);
    }

    #[test]
    fn tools_are_the_host_s_and_each_is_there_once() {
        let mut twice = report();
        let mut sh = twice.execs[0].clone();
        sh.real = std::fs::canonicalize("/bin/sh").ok().map(|path| shown(&path));
        let mut own = sh.clone();
        own.real = Some("/tmp/x".into());
        twice.execs = vec![sh.clone(), sh.clone(), own];
        let tools = tools(&[twice.clone(), twice]);
        assert_eq!(tools.len(), 1, "{tools:?}");
        assert_eq!(tools[0].sha256.as_ref().unwrap().len(), 64);
    }
}
