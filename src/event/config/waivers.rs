//! The waivers of an event's file.

use std::path::Path;

use toml::Spanned;

use super::EventEntry;
use crate::judge::waiver::{RawWaiver, Waiver};
use crate::model::source_place::TextMistake;
use crate::model::text::shown;

/// The waivers, each about an entry of the event.
pub(super) fn waivers(
    raw: Vec<Spanned<RawWaiver>>,
    entries: &[EventEntry],
    path: &Path,
    text: &str,
) -> Result<Vec<Waiver>, TextMistake> {
    let verified = |raw: Spanned<RawWaiver>| {
        let span = raw.span();
        let waiver = raw.into_inner().verified(text, path)?;
        let file = waiver.entry.parent().unwrap_or(Path::new(""));
        let is_about =
            |entry: &EventEntry| waiver.is_about(&entry.path, &entry.path) || entry.path == file;
        if !entries.iter().any(is_about) {
            let what = format!("no [[entry]] of the event lies at {}", shown(&waiver.entry));
            return Err((span, what));
        }
        Ok(waiver)
    };
    raw.into_iter().map(verified).collect()
}
