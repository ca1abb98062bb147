//! A stage as an event file has it, read by [`super::stages`].

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::super::format::Format;
use super::super::format::knockout::Knockout;
use super::super::plan::formats::{RawFormat, RawTies};
use super::super::plan::raw::OneOrMore;
use super::super::stage::{SeatDraw, StageFormat};
use super::super::terms::RawTerms;
use super::RawPolicy;
use crate::model::game::variant::Variant;
use crate::model::source_place::{TextMistake, read_from_tables};
use crate::model::words::{counted, here_are};

#[derive(Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawStage {
    pub(super) name: Spanned<String>,
    /// The endings of the Event tags of its recorded games, which only a replay reads.
    #[serde(rename = "games")]
    pub(super) _games: Option<OneOrMore>,
    pub(super) format: Spanned<RawFormat>,
    pub(super) book: Option<Spanned<RawBooks>>,
    pub(super) book_policy: Option<Spanned<RawPolicy>>,
    #[serde(alias = "seating")]
    pub(super) draw: Option<Spanned<SeatDraw>>,
    #[serde(alias = "ties")]
    pub(super) tie_breaks: Option<Spanned<RawTies>>,
    pub(super) promote: Option<Spanned<usize>>,
    pub(super) updates: Option<Spanned<bool>>,
    pub(super) from: Option<Spanned<OneOrMore>>,
    pub(super) engines: Option<Spanned<Vec<String>>>,
    pub(super) size: Option<Spanned<usize>>,
    pub(super) variant: Option<Spanned<Variant>>,
    pub(super) start_seed: Option<Spanned<u64>>,
    pub(super) terms: Option<Spanned<RawTerms>>,
}

read_from_tables!(RawStage);

impl RawStage {
    /// True if its engines are seated by their places in what was played before.
    pub(super) fn is_seated_by_ranking(&self) -> bool {
        let is_by_lot = |draw: &Spanned<SeatDraw>| {
            matches!(
                draw.get_ref(),
                SeatDraw::Seeds | SeatDraw::Alphabetical | SeatDraw::Shuffle(_)
            )
        };
        !self.draw.as_ref().is_some_and(is_by_lot)
    }
}

/// A file of openings, or several: of a bracket's rounds, or of the parts of a match.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a file of openings, or a list of files")]
pub(super) enum RawBooks {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl RawBooks {
    /// The files, as many as the format has books.
    pub(super) fn files(
        raw: &Spanned<RawBooks>,
        format: &StageFormat,
        seats: usize,
    ) -> Result<Vec<PathBuf>, TextMistake> {
        let several = match raw.get_ref() {
            RawBooks::One(path) => return Ok(vec![path.clone()]),
            RawBooks::Several(several) => several,
        };
        let wanted = match format {
            StageFormat::Of(Format::Knockout(knockout)) => {
                let rounds = Knockout::rounds(seats) as usize;
                Some(rounds..=rounds + usize::from(knockout.bronze.is_some()))
            }
            StageFormat::Of(Format::Match(of)) => Some(1 + of.then.len()..=1 + of.then.len()),
            _ => None,
        };
        match wanted {
            Some(wanted) if wanted.contains(&several.len()) => Ok(several.clone()),
            Some(wanted) => {
                let what = format!(
                    "{}, and {}: one for each round of a bracket (the match for the third place may have its own, \
                     before the final's), or for each part of a match",
                    counted(*wanted.end(), "book"),
                    here_are(several.len())
                );
                Err((raw.span(), what))
            }
            None => {
                let what = "only a bracket and a match have books by round or part; name one file";
                Err((raw.span(), what.into()))
            }
        }
    }
}
