//! The comparison of a receipt with an entry.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::document::{
    EntryRecord, FindingRecord, RECEIPT_SCHEMA, Receipt, SettingsRecord, Tool, limits_ms,
};
use crate::judge::settings::GamesWanted;
use crate::judge::{EntryDigest, file_sha256, program_sha256};
use crate::model::entry_report::EngineOfFile;
use crate::model::evidence::Limits;
use crate::model::rule::{RULES, Rule};
use crate::model::text::{escape, shown};
use crate::model::units::Bytes;
use crate::model::verdict::{Status, Verdict};

/// An error in reading a receipt.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiptError {
    /// The file cannot be read.
    #[error(
        "cannot read the receipt {}: {source}; name the file that `gate4k check --receipt FILE` wrote",
        shown(path)
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is of another form.
    #[error("{}:{}:{}: not a receipt of `gate4k check --receipt`: {}", shown(path), mistake.line(), mistake.column(), without_place(mistake))]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The mistake. The words above tell it, so it is no source.
        mistake: serde_json::Error,
    },
    /// The document is of another kind.
    #[error("{}: this gate4k reads {RECEIPT_SCHEMA}, not {found:?}", shown(path))]
    Schema {
        /// The file.
        path: PathBuf,
        /// The kind that it names.
        found: String,
    },
}

/// The words of a mistake in JSON without its place, which stands before them.
fn without_place(error: &serde_json::Error) -> String {
    let words = error.to_string();
    words.split(" at line ").next().unwrap_or_default().to_owned()
}

/// The result of a comparison.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The verdict; none where the receipt says nothing of this entry.
    pub(crate) verdict: Option<Verdict>,
    /// The reasons why it does not hold; empty where it does.
    pub(crate) broken: Vec<String>,
    /// Differences that do not matter to the verdict that was reached there.
    pub(crate) notes: Vec<String>,
}

/// Reads a receipt.
///
/// # Errors
/// When there is none, or it is none.
pub(crate) fn read(path: &Path, text: &str) -> Result<Receipt, ReceiptError> {
    let receipt: Receipt = serde_json::from_str(text)
        .map_err(|mistake| ReceiptError::Wrong { path: path.to_owned(), mistake })?;
    if receipt.schema != RECEIPT_SCHEMA {
        return Err(ReceiptError::Schema { path: path.to_owned(), found: receipt.schema });
    }
    Ok(receipt)
}

/// The rules that are in force where a receipt is looked at: what was judged by laxer ones does not hold.
#[derive(Clone, Debug)]
pub(crate) struct RulesInForce {
    /// The SHA-256 of the allow-list's text.
    pub(crate) list_sha256: String,
    /// The most bytes of an entry.
    pub(crate) size_limit: Bytes,
    /// The most memory of an entry, where the event has such a rule.
    pub(crate) memory_limit: Option<Bytes>,
    /// Tolerated commands are refused.
    pub(crate) strict: bool,
    /// ELF executables alone are taken.
    pub(crate) elf_only: bool,
}

impl RulesInForce {
    /// The rules by which an entry was judged that are laxer than these, a sentence each.
    fn broken_by(&self, settings: &SettingsRecord, entry: &EntryRecord) -> Vec<String> {
        let mut broken = Vec::new();
        let fits = entry.bytes.is_some_and(|bytes| bytes <= self.size_limit);
        if settings.size_limit > self.size_limit && !fits {
            let size = match entry.bytes {
                Some(bytes) => format!("its {} bytes are more than", bytes.0),
                None => "it does not tell of its bytes that they are within".to_owned(),
            };
            broken.push(format!(
                "it was judged with --size-limit {}: {size} the {} that are in force here (--size-limit)",
                settings.size_limit.0, self.size_limit.0
            ));
        }
        if let Some(limit) = self.memory_limit
            && settings.memory_limit.is_none_or(|judged| judged > limit)
        {
            let limit = limit.0;
            broken.push(format!(
                "it was not judged with the memory-limit of {limit} bytes that is in force here"
            ));
        }
        let options = [
            ("strict", self.strict, settings.strict),
            ("elf-only", self.elf_only, settings.elf_only),
        ];
        for (option, _, _) in options.into_iter().filter(|(_, here, judged)| *here && !judged) {
            broken.push(format!("it was judged without `{option}`, which is in force here"));
        }
        broken
    }
}

/// Compares a receipt with an entry as it is now, and with the rules in force.
pub(crate) fn compare(
    receipt: &Receipt,
    digest: &EntryDigest,
    in_force: &RulesInForce,
) -> Comparison {
    let mut broken = Vec::new();
    let of_file = |entry: &&EntryRecord| entry.sha256.is_some() && entry.sha256 == digest.sha256;
    // Of one file with several configurations, the one with this configuration and this engine of it.
    let same: Vec<&EntryRecord> = receipt.entries.iter().filter(of_file).collect();
    let of_config = |entry: &&&EntryRecord| entry.engines_json_sha256 == digest.engines_json_sha256;
    let entry = same
        .iter()
        .filter(of_config)
        .find(|entry| entry.engine == digest.engine)
        .or(same.iter().find(of_config))
        .or(same.first());
    let Some(entry) = entry else {
        let judged: Vec<String> = receipt
            .entries
            .iter()
            .map(|entry| {
                format!("{} ({})", entry.path, entry.sha256.as_deref().unwrap_or("no file"))
            })
            .collect();
        broken.push(format!(
            "the file is none that was judged: its SHA-256 is {}, and the receipt is for {}",
            digest.sha256.as_deref().unwrap_or("that of no single file"),
            if judged.is_empty() { "nothing".to_owned() } else { judged.join(", ") }
        ));
        return Comparison { verdict: None, broken, notes: Vec::new() };
    };
    if entry.engines_json_sha256 != digest.engines_json_sha256 {
        broken.push(
            match (&entry.engines_json_sha256, &digest.engines_json_sha256) {
                (Some(_), None) => "its engines.json is gone",
                (None, _) => "it had no engines.json when it was judged",
                _ => "its engines.json has changed",
            }
            .to_owned(),
        );
    } else if entry.engine != digest.engine {
        broken.push(match &entry.engine {
            None => "it does not say which engine of engines.json was judged".to_owned(),
            Some(judged) => format!("it is for {} of engines.json", called(judged)),
        });
    }
    let is_alike = |other: &&&EntryRecord| {
        other.engines_json_sha256 == entry.engines_json_sha256 && other.engine == entry.engine
    };
    if let Some(other) = same.iter().filter(is_alike).find(|one| one.verdict != entry.verdict) {
        broken.push(format!(
            "it contradicts itself: the same file was {} as {} and {} as {}",
            entry.verdict.word(),
            entry.path,
            other.verdict.word(),
            other.path
        ));
    }
    let single = entry.findings.iter().find(|found| found.rule == "single-file");
    if single.is_some_and(|found| found.status == Status::Pass)
        && digest.single.status != Status::Pass
    {
        broken.push(digest.single.summary.clone());
    }
    let is_own = receipt.gate4k.version == env!("CARGO_PKG_VERSION");
    let tells_of = |rule: &Rule| entry.findings.iter().any(|found| found.rule == rule.name);
    let is_known = |found: &FindingRecord| RULES.iter().any(|rule| rule.name == found.rule);
    let has_all = RULES.iter().all(tells_of) && entry.findings.iter().all(is_known);
    if entry.verdict == Verdict::Accepted
        && (by_findings(entry) != Verdict::Accepted || is_own && !has_all)
    {
        broken.push(
            "its verdict does not follow from its findings: somebody has changed it".to_owned(),
        );
    }
    if receipt.allowlist_sha256 != in_force.list_sha256 {
        broken.push("it was judged by another allow-list than the one in force here".to_owned());
    }
    broken.extend(in_force.broken_by(&receipt.settings, entry));
    Comparison { verdict: Some(entry.verdict), broken, notes: notes(receipt, entry) }
}

/// The verdict that the findings make, of rules that this program knows.
fn by_findings(entry: &EntryRecord) -> Verdict {
    Verdict::by(entry.findings.iter().filter_map(|found| {
        let rule = RULES.iter().find(|rule| rule.name == found.rule)?;
        Some((rule.id, found.status))
    }))
}

/// An engine of engines.json in words.
fn called(engine: &EngineOfFile) -> String {
    match &engine.name {
        Some(name) => format!("the engine {:?}", escape(name.as_bytes(), 80)),
        None => "an engine without a name".to_owned(),
    }
}

fn notes(receipt: &Receipt, entry: &EntryRecord) -> Vec<String> {
    let mut notes = Vec::new();
    let here = env!("CARGO_PKG_VERSION");
    if receipt.gate4k.version != here {
        notes.push(format!("judged by gate4k {}; this is {here}", receipt.gate4k.version));
    } else if receipt.gate4k.sha256 != program_sha256() {
        notes.push(format!("judged by another build of gate4k {here}"));
    }
    let usual = limits_ms(&Limits::default());
    if receipt.settings.limits_ms != usual {
        notes.push(format!(
            "judged with the limits {:?} ms for start, answer, quit and grace; the usual ones are {usual:?}",
            receipt.settings.limits_ms
        ));
    }
    if receipt.settings.games != GamesWanted::default().to_string() {
        notes.push(format!("judged with games: {}", receipt.settings.games));
    }
    if receipt.settings.quick {
        notes.push("judged with --quick".to_owned());
    }
    let settings = &receipt.settings;
    let mut others = Vec::new();
    if settings.strict {
        others.push("--strict".to_owned());
    }
    if settings.size_limit != Bytes::LIMIT_4K {
        others.push(format!("--size-limit {}", settings.size_limit.0));
    }
    if let Some(limit) = settings.memory_limit {
        others.push(format!("--memory-limit {}", limit.0));
    }
    if settings.elf_only {
        others.push("--elf-only".to_owned());
    }
    if settings.lazy_memory {
        others.push("--lazy-memory".to_owned());
    }
    let devices =
        settings.devices.iter().map(|class| format!("--devices {}", escape(class.as_bytes(), 20)));
    notes.extend(others.into_iter().chain(devices).map(|option| format!("judged with {option}")));
    for found in entry.findings.iter().filter(|found| found.waived.is_some()) {
        notes.push(format!("{}: {}", found.rule, found.summary));
    }
    notes.extend(other_tools(&receipt.tools));
    notes
}

/// The programs that are others on this host.
fn other_tools(tools: &[Tool]) -> Vec<String> {
    /// Bytes that are read of them all: whoever wrote the receipt chose the paths, and how often each stands there.
    const MOST: u64 = 2 << 30;
    let mut left = MOST;
    let mut notes = Vec::new();
    let mut sums: HashMap<&str, Option<String>> = HashMap::new();
    for Tool { name, path, sha256 } in tools {
        if !sums.contains_key(path.as_str()) {
            let length = std::fs::metadata(path).map_or(0, |file| file.len());
            let Some(rest) = left.checked_sub(length) else {
                let most = Bytes(MOST);
                notes.push(format!(
                    "{name} ({path}) was not compared: the receipt names programs of more than {most}"
                ));
                continue;
            };
            left = rest;
            sums.insert(path, file_sha256(Path::new(path)).ok());
        }
        match sums.get(path.as_str()).and_then(Option::as_ref) {
            None => notes.push(format!("this host has no {name} at {path}")),
            now if now != sha256.as_ref() => {
                notes.push(format!("{name} ({path}) is another one on this host"));
            }
            Some(_) => {}
        }
    }
    notes.dedup();
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rule::RuleId;
    use crate::model::verdict::Finding;
    use crate::receipt::document::tests::receipt;

    fn digest() -> EntryDigest {
        EntryDigest {
            sha256: Some("ab".repeat(32)),
            engines_json_sha256: None,
            engine: None,
            single: Finding::pass(RuleId::SingleFile, "one file"),
        }
    }

    /// The usual rules with this allow-list.
    fn here_by(list: &str) -> RulesInForce {
        RulesInForce {
            list_sha256: list.to_owned(),
            size_limit: Bytes::LIMIT_4K,
            memory_limit: None,
            strict: false,
            elf_only: false,
        }
    }

    fn here(receipt: &Receipt) -> RulesInForce {
        here_by(&receipt.allowlist_sha256)
    }

    /// An engine that does not start now and then, handed in twice: whichever stands first, its receipt says both.
    #[test]
    fn one_that_says_two_things_of_a_file_says_nothing() {
        let mut receipt = receipt();
        let other = EntryRecord { verdict: Verdict::Undecided, ..receipt.entries[0].clone() };
        receipt.entries.push(EntryRecord { path: "b".into(), ..other });
        for _ in 0..2 {
            let found = compare(&receipt, &digest(), &here(&receipt));
            assert!(found.broken[0].contains("contradicts itself"), "{found:?}");
            receipt.entries.swap(0, 1);
        }
        receipt.entries[1].engines_json_sha256 = Some("ef".repeat(32));
        assert!(compare(&receipt, &digest(), &here(&receipt)).broken.is_empty(), "two entries");
    }

    #[test]
    fn what_was_judged_by_laxer_rules_does_not_hold() {
        let receipt = receipt();
        let usual = here(&receipt);
        for (stricter, words) in [
            (RulesInForce { strict: true, ..usual.clone() }, "without `strict`"),
            (RulesInForce { elf_only: true, ..usual.clone() }, "without `elf-only`"),
            (RulesInForce { memory_limit: Some(Bytes(9)), ..usual.clone() }, "memory-limit of 9"),
        ] {
            let broken = compare(&receipt, &digest(), &stricter).broken;
            assert!(matches!(&*broken, [one] if one.contains(words)), "{broken:?}");
        }
        let mut same = receipt.clone();
        same.settings.strict = true;
        same.settings.elf_only = true;
        same.settings.memory_limit = Some(Bytes(8));
        let stricter =
            RulesInForce { strict: true, elf_only: true, memory_limit: Some(Bytes(9)), ..usual };
        assert!(compare(&same, &digest(), &stricter).broken.is_empty());
    }

    #[test]
    fn it_holds_for_the_same_bytes_under_the_same_list() {
        let receipt = receipt();
        let same = compare(&receipt, &digest(), &here(&receipt));
        assert_eq!((same.verdict, same.broken.len()), (Some(Verdict::Rejected), 0), "{same:?}");
    }

    #[test]
    fn a_verdict_that_its_findings_do_not_make_is_refused() {
        let mut receipt = receipt();
        receipt.entries[0].verdict = Verdict::Accepted;
        let list = receipt.allowlist_sha256.clone();
        let found = compare(&receipt, &digest(), &here_by(&list));
        assert!(found.broken[0].contains("does not follow from its findings"), "{found:?}");
        // Nor does one that says nothing of a rule.
        let finding = |rule: &Rule| FindingRecord {
            rule: rule.name.into(),
            status: Status::Pass,
            ..receipt.entries[0].findings[0].clone()
        };
        receipt.entries[0].findings = RULES.iter().map(finding).collect();
        assert!(compare(&receipt, &digest(), &here_by(&list)).broken.is_empty());
        receipt.entries[0].findings.pop();
        assert_eq!(compare(&receipt, &digest(), &here_by(&list)).broken.len(), 1);
    }

    #[test]
    fn a_tool_that_is_no_file_keeps_nobody() {
        let mut receipt = receipt();
        let list = receipt.allowlist_sha256.clone();
        let path = "/dev/zero".to_owned();
        receipt.tools = vec![Tool { name: "xz".into(), path, sha256: None }];
        let found = compare(&receipt, &digest(), &here_by(&list));
        assert!(found.notes.iter().any(|note| note.contains("has no xz")), "{found:?}");
    }

    #[test]
    fn programs_without_end_are_not_read() {
        let huge = tempfile::NamedTempFile::new().unwrap();
        huge.as_file().set_len(1 << 40).unwrap();
        let small = tempfile::NamedTempFile::new().unwrap();
        let tool = |file: &tempfile::NamedTempFile| Tool {
            name: "xz".into(),
            path: file.path().to_str().unwrap().into(),
            sha256: Some(crate::model::text::sha256("")),
        };
        let notes = other_tools(&[tool(&huge), tool(&small)]);
        assert!(matches!(&*notes, [one] if one.contains("was not compared")), "{notes:?}");
        // One that is there a thousand times is read once: together they would be too many.
        small.as_file().set_len(1 << 22).unwrap();
        let notes = other_tools(&vec![tool(&small); 1000]);
        assert!(matches!(&*notes, [one] if one.contains("is another one")), "{notes:?}");
    }

    #[test]
    fn each_change_breaks_it_and_is_named() {
        let receipt = receipt();
        let list = receipt.allowlist_sha256.as_str();
        let mut other = digest();
        other.sha256 = Some("cd".repeat(32));
        let mut config = digest();
        config.engines_json_sha256 = Some("ef".repeat(32));
        let mut beside = digest();
        beside.single = Finding::fail(RuleId::SingleFile, "1 other thing lies beside it");
        for (digest, list, part) in [
            (other, list, "none that was judged"),
            (config, list, "had no engines.json"),
            (beside, list, "1 other thing"),
            (digest(), "00", "another allow-list"),
        ] {
            let found = compare(&receipt, &digest, &here_by(list));
            assert_eq!(found.broken.len(), 1, "{found:?}");
            assert!(found.broken[0].contains(part), "{found:?}");
        }
    }

    #[test]
    fn a_receipt_of_one_engine_is_none_of_another_of_the_same_file() {
        let engine = |name: &str| {
            Some(EngineOfFile { name: Some(name.into()), sha256: crate::model::text::sha256(name) })
        };
        let mut receipt = receipt();
        let list = receipt.allowlist_sha256.clone();
        let config = Some("ef".repeat(32));
        let with = |name: &str| EntryDigest {
            engines_json_sha256: config.clone(),
            engine: engine(name),
            ..digest()
        };
        receipt.entries[0].engines_json_sha256.clone_from(&config);
        let silent = compare(&receipt, &with("Good"), &here_by(&list));
        assert!(silent.broken[0].contains("does not say which engine"), "{silent:?}");
        receipt.entries[0].engine = engine("Good");
        assert!(compare(&receipt, &with("Good"), &here_by(&list)).broken.is_empty());
        let fat = compare(&receipt, &with("Fat"), &here_by(&list));
        assert_eq!(fat.broken, ["it is for the engine \"Good\" of engines.json"]);
        // Of both, each is found.
        receipt.entries.push(receipt.entries[0].clone());
        receipt.entries[1].engine = engine("Fat");
        assert!(compare(&receipt, &with("Fat"), &here_by(&list)).broken.is_empty());
    }

    #[test]
    fn other_limits_and_another_build_are_noted() {
        let mut receipt = receipt();
        let list = receipt.allowlist_sha256.clone();
        let usual = compare(&receipt, &digest(), &here_by(&list)).notes;
        receipt.settings.limits_ms[0] = 1;
        receipt.settings.games = "off".into();
        receipt.gate4k.sha256 = "00".repeat(32);
        let notes = compare(&receipt, &digest(), &here_by(&list)).notes;
        assert_eq!(notes.len(), usual.len() + 3, "{notes:?}");
    }

    #[test]
    fn a_receipt_by_another_limit_on_size_holds_only_for_what_is_within_this_one() {
        let mut receipt = receipt();
        let list = receipt.allowlist_sha256.clone();
        let larger = Bytes(65_536);
        receipt.settings.size_limit = larger;
        receipt.entries[0].bytes = Some(Bytes(4096));
        let within = compare(&receipt, &digest(), &here_by(&list));
        assert!(within.broken.is_empty(), "{:?}", within.broken);
        assert!(within.notes.contains(&"judged with --size-limit 65536".to_owned()));
        receipt.entries[0].bytes = Some(Bytes(4097));
        assert!(
            compare(&receipt, &digest(), &RulesInForce { size_limit: larger, ..here_by(&list) })
                .broken
                .is_empty()
        );
        let over = compare(&receipt, &digest(), &here_by(&list)).broken;
        assert!(matches!(&*over, [one] if one.contains("4097 bytes")), "{over:?}");
    }

    #[test]
    fn what_is_no_receipt_is_told_with_its_place() {
        let path = Path::new("r.json");
        let error = read(path, "{\n\"schema\": 1}").unwrap_err().to_string();
        assert!(error.starts_with("r.json:2:"), "{error}");
        let mut other = receipt();
        other.schema = "gate4k/receipt/2".into();
        let error = read(path, &other.text().unwrap()).unwrap_err().to_string();
        assert!(error.contains("gate4k/receipt/1"), "{error}");
    }
}
