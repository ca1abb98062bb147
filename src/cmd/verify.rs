//! `gate4k verify`: receipts against entries.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{choice, tell, with_causes};
use crate::cli::VerifyArgs;
use crate::files::read;
use crate::judge::error::CheckError;
use crate::judge::settings::Settings;
use crate::judge::{EntryDigest, Judge};
use crate::model::exit::Exit;
use crate::model::text::{escape, shown};
use crate::model::units::Bytes;
use crate::model::verdict::Verdict;
use crate::receipt::document::Receipt;
use crate::receipt::sign;
use crate::receipt::verify::{self, Comparison, ReceiptError};

/// Compares and prints; where each entry has a receipt that holds, the outcome is the worst verdict.
pub(crate) fn run(args: &VerifyArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    match compare(args, out) {
        Ok(exit) => Ok(exit),
        Err(error) => {
            let exit = error.downcast_ref().map_or(Exit::Usage, CheckError::exit);
            tell(&with_causes(&error));
            Ok(exit)
        }
    }
}

/// A receipt that was read, and whether the key that was given signed it.
struct Read {
    path: PathBuf,
    receipt: Receipt,
    signed: Option<Result<(), String>>,
}

fn compare(args: &VerifyArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let receipts =
        args.receipts.iter().map(|path| read(path, args)).collect::<anyhow::Result<Vec<Read>>>()?;
    let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
    // By what `check` goes by here.
    let config = choice::nearest(&here)?;
    let judge = Judge::open(Settings {
        engines_json: args.engines_json.clone(),
        name: args.name.clone(),
        allowlist: args.allowlist.clone().or_else(|| config.allowlist.clone()),
        ..Settings::default()
    })?;
    let limit = args.size_limit.unwrap_or(config.size_limit);
    let entries = choice::named(std::slice::from_ref(&args.entry), &config);
    let mut outcomes = Vec::new();
    let mut holding = 0;
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
        let (holds, exit) = one(entry, &digest, &receipts, (judge.list_sha256(), limit), out)?;
        holding += usize::from(holds);
        outcomes.push(exit);
        digests.push(digest);
    }
    if entries.len() > 1 {
        absent(&receipts, &digests, &args.entry, out)?;
        writeln!(out, "{holding} of {} entries have a receipt that holds", entries.len())?;
    }
    Ok(Exit::worst(outcomes))
}

fn read(path: &Path, args: &VerifyArgs) -> anyhow::Result<Read> {
    let text = read::text(path, read::RECEIPT)
        .map_err(|source| ReceiptError::Read { path: path.to_owned(), source })?;
    let receipt = verify::read(path, &text)?;
    let signed = args
        .public_key
        .as_ref()
        .map(|key| sign::verify(path, &text, key).map_err(|error| error.to_string()));
    Ok(Read { path: path.to_owned(), receipt, signed })
}

/// Tells of one entry by the receipt that says most of it: one that holds, else one that knows its file.
fn one(
    entry: &Path,
    digest: &EntryDigest,
    receipts: &[Read],
    (list, size_limit): (&str, Bytes),
    out: &mut impl Write,
) -> std::io::Result<(bool, Exit)> {
    let compared = receipts.iter().map(|read| {
        let mut found = verify::compare(&read.receipt, digest, list, size_limit);
        match &read.signed {
            None => {
                found.notes.push("the signature, if there is one, was not looked at".to_owned())
            }
            Some(Ok(())) => found.notes.push("signed by the key that was given".to_owned()),
            Some(Err(error)) => found.broken.insert(0, error.clone()),
        }
        (read, found)
    });
    let rank = |found: &Comparison| (found.broken.is_empty(), found.verdict.is_some());
    let best = compared.max_by_key(|(read, found)| (rank(found), read.receipt.written.clone()));
    let Some((read, found)) = best else { return Ok((false, Exit::Usage)) };
    let holds = found.broken.is_empty();
    let verdict = found.verdict.unwrap_or(Verdict::Undecided);
    let entry = shown(entry);
    let safe = |text: &str, most: usize| escape(text.as_bytes(), most);
    if holds {
        writeln!(
            out,
            "holds          {entry}: {} on {} by gate4k {}, Linux {}",
            verdict.word(),
            safe(&read.receipt.written, 40),
            safe(&read.receipt.gate4k.version, 40),
            safe(&read.receipt.host.kernel, 80),
        )?;
    } else {
        writeln!(out, "does not hold  {entry}")?;
    }
    if receipts.len() > 1 && found.verdict.is_none() {
        writeln!(out, "  none of the {} receipts is for this file", receipts.len())?;
        return Ok((false, Exit::Rejected));
    }
    if receipts.len() > 1 {
        writeln!(out, "  receipt: {}", shown(&read.path))?;
    }
    for line in &found.broken {
        writeln!(out, "  {}", safe(line, 600))?;
    }
    for line in &found.notes {
        writeln!(out, "  note: {}", safe(line, 600))?;
    }
    Ok((holds, if holds { verdict.into() } else { Exit::Rejected }))
}

/// Files that receipts are for and that are not among the entries.
fn absent(
    receipts: &[Read],
    digests: &[EntryDigest],
    folder: &Path,
    out: &mut impl Write,
) -> std::io::Result<()> {
    for read in receipts {
        for entry in &read.receipt.entries {
            let known = digests.iter().any(|digest| digest.sha256 == entry.sha256);
            if entry.sha256.is_some() && !known {
                writeln!(
                    out,
                    "note: {} has the file of {}, which is not in {}",
                    shown(&read.path),
                    escape(entry.path.as_bytes(), 200),
                    shown(folder)
                )?;
            }
        }
    }
    Ok(())
}
