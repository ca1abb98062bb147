//! `gate4k verify`: receipts against entries.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::early_end::{self, EarlyEnd};
use super::{choice, tell};
use crate::cli::{OutputFormat, VerifyArgs};
use crate::files::read;
use crate::judge::settings::Settings;
use crate::judge::{EntryDigest, Judge};
use crate::model::exit::Exit;
use crate::model::text::{escape, shown};
use crate::model::verdict::Verdict;
use crate::receipt::document::Receipt;
use crate::receipt::sign;
use crate::receipt::verify::{self, Comparison, ReceiptError, RulesInForce};
use crate::view::json::pretty;

/// The name and version of the document of `gate4k verify`.
const SCHEMA: &str = "gate4k/verify/1";

/// Compares and prints; where each entry has a receipt that holds, the outcome is the worst verdict.
pub(crate) fn run(args: &VerifyArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let compared = compare(args, out).or_else(early_end::told);
    compared.map_err(|error| EarlyEnd::of(error).into())
}

/// A receipt that was read, and whether the key that was given signed it.
struct ReadReceipt {
    path: PathBuf,
    receipt: Receipt,
    signed: Option<Result<(), String>>,
}

fn compare(args: &VerifyArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let receipts = args
        .receipts
        .iter()
        .map(|path| read(path, args))
        .collect::<anyhow::Result<Vec<ReadReceipt>>>()?;
    let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
    // By what `check` goes by here.
    let config = choice::nearest(&here)?;
    let judge = Judge::open(Settings {
        engines_json: args.engines_json.clone(),
        name: args.name.clone(),
        allowlist: args.allowlist.clone().or_else(|| config.allowlist.clone()),
        ..Settings::default()
    })?;
    let in_force = RulesInForce {
        list_sha256: judge.list_sha256().to_owned(),
        size_limit: args.size_limit.unwrap_or(config.size_limit),
        memory_limit: config.memory_limit,
        strict: config.strict,
        elf_only: config.elf_only,
    };
    let entries = choice::named(std::slice::from_ref(&args.entry), &config);
    let mut outcomes = Vec::new();
    let mut told = Vec::new();
    let mut digests = Vec::new();
    for entry in &entries {
        let digest = match judge.digest(entry) {
            Ok(digest) => digest,
            Err(error) if entries.len() > 1 => {
                tell(&error.to_string());
                outcomes.push(error.exit());
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let one = verified(entry, &digest, &receipts, &in_force);
        outcomes.push(one.as_ref().map_or(Exit::Usage, Verified::exit));
        told.extend(one);
        digests.push(digest);
    }
    let absent =
        if entries.len() > 1 { absent(&receipts, &digests, &args.entry) } else { Vec::new() };
    let counts = (entries.len(), receipts.len());
    match args.format {
        OutputFormat::Json => json(&told, &absent, out)?,
        format => human(&told, &absent, counts, format, out)?,
    }
    Ok(Exit::worst(outcomes))
}

fn read(path: &Path, args: &VerifyArgs) -> anyhow::Result<ReadReceipt> {
    let text = read::text(path, read::RECEIPT).map_err(|source| {
        EarlyEnd::of_file(ReceiptError::Read { path: path.to_owned(), source })
    })?;
    let receipt = verify::read(path, &text)?;
    let signed = args
        .public_key
        .as_ref()
        .map(|key| sign::verify(path, &text, key).map_err(|error| error.to_string()));
    Ok(ReadReceipt { path: path.to_owned(), receipt, signed })
}

/// An entry beside the receipt that says most of it: one that holds, else one that knows its file.
struct Verified<'a> {
    entry: &'a Path,
    receipt: &'a ReadReceipt,
    found: Comparison,
}

impl Verified<'_> {
    fn holds(&self) -> bool {
        self.found.broken.is_empty()
    }

    fn verdict(&self) -> Verdict {
        self.found.verdict.unwrap_or(Verdict::Undecided)
    }

    fn exit(&self) -> Exit {
        if self.holds() { self.verdict().into() } else { Exit::Rejected }
    }
}

/// The receipt with its signature verified; none where there is no receipt at all.
fn verified<'a>(
    entry: &'a Path,
    digest: &EntryDigest,
    receipts: &'a [ReadReceipt],
    in_force: &RulesInForce,
) -> Option<Verified<'a>> {
    let compared = receipts.iter().map(|receipt| {
        let mut found = verify::compare(&receipt.receipt, digest, in_force);
        match &receipt.signed {
            None => {
                found.notes.push("the signature, if there is one, was not looked at".to_owned())
            }
            Some(Ok(())) => found.notes.push("signed by the key that was given".to_owned()),
            Some(Err(error)) => found.broken.insert(0, error.clone()),
        }
        Verified { entry, receipt, found }
    });
    compared.max_by_key(|one| {
        (one.holds(), one.found.verdict.is_some(), one.receipt.receipt.written.clone())
    })
}

fn safe(text: &str, most: usize) -> String {
    escape(text.as_bytes(), most)
}

/// Tells people.
fn human(
    told: &[Verified<'_>],
    absent: &[String],
    (entries, receipts): (usize, usize),
    format: OutputFormat,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let lead = |word: &str| match format {
        OutputFormat::Plain => format!("{word}: "),
        _ => format!("{word:<15}"),
    };
    for one in told {
        let (entry, receipt) = (shown(one.entry), &one.receipt.receipt);
        if one.holds() {
            writeln!(
                out,
                "{}{entry}: {} on {} by gate4k {}, Linux {}",
                lead("holds"),
                one.verdict().word(),
                safe(&receipt.written, 40),
                safe(&receipt.gate4k.version, 40),
                safe(&receipt.host.kernel, 80),
            )?;
        } else {
            writeln!(out, "{}{entry}", lead("does not hold"))?;
        }
        if receipts > 1 && one.found.verdict.is_none() {
            writeln!(out, "  none of the {receipts} receipts is for this file")?;
            continue;
        }
        if receipts > 1 {
            writeln!(out, "  receipt: {}", shown(&one.receipt.path))?;
        }
        for line in &one.found.broken {
            writeln!(out, "  {}", safe(line, 600))?;
        }
        for line in &one.found.notes {
            writeln!(out, "  note: {}", safe(line, 600))?;
        }
    }
    for line in absent {
        writeln!(out, "note: {line}")?;
    }
    if entries > 1 {
        let holding = told.iter().filter(|one| one.holds()).count();
        writeln!(out, "{holding} of {entries} entries have a receipt that holds")?;
    }
    Ok(())
}

/// Tells programs.
fn json(told: &[Verified<'_>], absent: &[String], out: &mut impl Write) -> anyhow::Result<()> {
    let one = |one: &Verified<'_>| {
        json!({
            "path": shown(one.entry),
            "holds": one.holds(),
            "verdict": one.found.verdict,
            "receipt": shown(&one.receipt.path),
            "written": one.receipt.receipt.written,
            "broken": one.found.broken,
            "notes": one.found.notes,
        })
    };
    let entries: Vec<Value> = told.iter().map(one).collect();
    let document = json!({ "schema": SCHEMA, "entries": entries, "notes": absent });
    Ok(out.write_all(pretty(&document)?.as_bytes())?)
}

/// Files that receipts are for and that are not among the entries.
fn absent(receipts: &[ReadReceipt], digests: &[EntryDigest], folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for read in receipts {
        for entry in &read.receipt.entries {
            let known = digests.iter().any(|digest| digest.sha256 == entry.sha256);
            if entry.sha256.is_some() && !known {
                lines.push(format!(
                    "{} has the file of {}, which is not in {}",
                    shown(&read.path),
                    safe(&entry.path, 200),
                    shown(folder)
                ));
            }
        }
    }
    lines
}
