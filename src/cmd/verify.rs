//! `gate4k verify`: a receipt against an entry.

use std::io::Write;

use super::{tell, with_causes};
use crate::cli::VerifyArgs;
use crate::judge::Judge;
use crate::judge::error::CheckError;
use crate::judge::settings::Settings;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::verdict::Verdict;
use crate::receipt::sign;
use crate::receipt::verify::{self, ReceiptError};

/// Compares and prints. What holds gives the outcome of its verdict; what does not is [`Exit::Rejected`].
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

fn compare(args: &VerifyArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let path = &args.receipt;
    let text = std::fs::read_to_string(path)
        .map_err(|source| ReceiptError::Read { path: path.clone(), source })?;
    let receipt = verify::read(path, &text)?;
    let judge = Judge::open(Settings {
        engines_json: args.engines_json.clone(),
        name: args.name.clone(),
        allowlist: args.allowlist.clone(),
        ..Settings::default()
    })?;
    let digest = judge.digest(&args.entry)?;
    let mut found = verify::compare(&receipt, &digest, judge.list_sha256());
    match &args.public_key {
        None => found.notes.push("the signature, if there is one, was not looked at".to_owned()),
        Some(key) => match sign::verify(path, &text, key) {
            Ok(()) => found.notes.push("signed by the key that was given".to_owned()),
            Err(error) => found.broken.insert(0, error.to_string()),
        },
    }
    let holds = found.broken.is_empty();
    let verdict = found.verdict.unwrap_or(Verdict::Undecided);
    let entry = shown(&args.entry);
    if holds {
        writeln!(
            out,
            "holds          {entry}: {} on {} by gate4k {}, Linux {}",
            verdict.word(),
            crate::model::text::escape(receipt.written.as_bytes(), 40),
            crate::model::text::escape(receipt.gate4k.version.as_bytes(), 40),
            crate::model::text::escape(receipt.host.kernel.as_bytes(), 80),
        )?;
    } else {
        writeln!(out, "does not hold  {entry}")?;
    }
    for line in &found.broken {
        writeln!(out, "  {}", crate::model::text::escape(line.as_bytes(), 600))?;
    }
    for line in &found.notes {
        writeln!(out, "  note: {}", crate::model::text::escape(line.as_bytes(), 600))?;
    }
    Ok(if holds { verdict.into() } else { Exit::Rejected })
}
