//! The check of a journal, and the seal with which the organiser vouches for its records.
//!
//! The sums in a journal hold it together, but whoever has the file can make them all anew. A seal is the last sum with a signature:
//! a file beside the journal, which holds as long as the journal begins with the records that were sealed.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::typed;
use super::views::{require_begun, unread};
use crate::cli::{EventVerifyArgs, SealArgs};
use crate::cmd::early_end::EarlyEnd;
use crate::cmd::without_numbers;
use crate::event::config::EventConfig;
use crate::event::journal::{self, Mark};
use crate::event::verify::{self, Verified};
use crate::files::read;
use crate::files::write::cannot_write;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::words::counted;
use crate::receipt::sign::{self, Signer};
use crate::view::text::clean;

/// The first line of every seal.
const TITLE: &str = "gate4k seal of a journal";

fn beside(journal: &Path) -> PathBuf {
    let mut name = OsString::from(journal);
    name.push(".seal");
    name.into()
}

/// Returns the text of a seal. The event's name is for people and not looked at again.
fn text(config: &EventConfig, mark: &Mark) -> String {
    let Mark { records, sum } = mark;
    format!("{TITLE}\nrecords: {records}\nsha256: {sum}\nevent: {}\n", config.event)
}

/// The records and the sum that a seal is for.
fn read(text: &str) -> Option<(u64, &str)> {
    let mut lines = text.lines();
    let title = lines.next()?;
    let records = lines.next()?.strip_prefix("records: ")?.parse().ok()?;
    let sum = lines.next()?.strip_prefix("sha256: ")?;
    (title == TITLE).then_some((records, sum))
}

/// Verifies a journal and its seal, and prints each fault.
pub(super) fn verify(
    config: &EventConfig,
    args: &EventVerifyArgs,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let mut found = verify::verify(config).map_err(unread(&config.path))?;
    let notes = look_at_seal(config, args.public_key.as_deref(), &mut found);
    if found.wrong.is_empty() {
        // Of a journal without a record nothing is right or wrong, unless it was sealed.
        require_begun(config)?;
    }
    for line in &found.wrong {
        writeln!(out, "wrong: {}", clean(&without_numbers(line)))?;
    }
    let is_right = found.wrong.is_empty();
    writeln!(
        out,
        "{}: {}, {}, {}: {}",
        shown(&config.journal),
        counted(found.records, "record"),
        counted(found.games, "finished game"),
        counted(found.moves, "move"),
        if is_right { "all is right" } else { "NOT all is right" },
    )?;
    for note in notes {
        writeln!(out, "{note}")?;
    }
    Ok(if is_right { Exit::Success } else { Exit::Rejected })
}

/// Compares the journal with its seal, if there is one; there must be one where a key is given.
fn look_at_seal(config: &EventConfig, key: Option<&str>, found: &mut Verified) -> Vec<String> {
    let mut notes = Vec::new();
    let path = beside(&config.journal);
    let mut wrong = |what: String| found.wrong.push(what);
    match journal::mark(&config.journal, found.records) {
        Ok(Mark { records, sum }) => notes.push(format!("sum of {records} records: {sum}")),
        Err(error) => wrong(error.to_string()),
    }
    let seal = match read::text(&path, read::SETTINGS) {
        Ok(seal) => seal,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if key.is_some() {
                wrong(format!("there is no seal {}; `gate4k event seal` makes one", shown(&path)));
            }
            return notes;
        }
        Err(error) => {
            wrong(format!("cannot read the seal {}: {error}", shown(&path)));
            return notes;
        }
    };
    let Some((records, sum)) = read(&seal) else {
        wrong(format!("{} is no seal; `gate4k event seal` makes one", shown(&path)));
        return notes;
    };
    match journal::mark(&config.journal, records) {
        Ok(mark) if mark.records == records && mark.sum.to_string() == sum => {}
        Ok(mark) if mark.records < records => {
            wrong(format!("{records} records were sealed, and the journal has {}", mark.records));
        }
        Ok(_) => wrong(format!("its first {records} records are not those that were sealed")),
        Err(error) => wrong(error.to_string()),
    }
    match key.map(|key| sign::verify(&path, &seal, key)) {
        None => notes.push(format!(
            "sealed after {records} records; the signature was not looked at (--public-key)"
        )),
        Some(Ok(())) => {
            notes.push(format!("sealed after {records} records by the key that was given"));
        }
        Some(Err(error)) => wrong(error.to_string()),
    }
    notes
}

/// Signs how far the journal goes, if all of it is right.
pub(super) fn seal(
    config: &EventConfig,
    args: &SealArgs,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    require_begun(config)?;
    let signer = Signer::load(&args.sign_key).map_err(EarlyEnd::usage)?;
    let found = verify::verify(config).map_err(unread(&config.path))?;
    if !found.wrong.is_empty() {
        let words = format!(
            "not all of the journal is right, so it is not sealed; {} tells the faults",
            typed("verify", &config.path)
        );
        return Err(EarlyEnd::new(Exit::Rejected, words).into());
    }
    let mark = journal::mark(&config.journal, found.records).map_err(unread(&config.path))?;
    let text = text(config, &mark);
    let path = beside(&config.journal);
    let signature = sign::beside(&path);
    let signed = signer.sign(&text)?;
    for (path, text) in [(&path, &text), (&signature, &signed)] {
        std::fs::write(path, text).map_err(|error| anyhow!(cannot_write(path, &error)))?;
    }
    writeln!(
        out,
        "wrote {} and {}: {}, sum {}",
        shown(&path),
        shown(&signature),
        counted(mark.records, "record"),
        mark.sum
    )?;
    Ok(Exit::Success)
}
