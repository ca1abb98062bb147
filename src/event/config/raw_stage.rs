//! A stage as an event file has it, read by [`super::stages`].

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::super::plan::formats::{RawFormat, RawTies};
use super::super::plan::raw::OneOrMore;
use super::super::stage::SeatDraw;
use super::super::terms::RawTerms;
use super::RawPolicy;
use crate::model::game::variant::Variant;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawStage {
    pub(super) name: Spanned<String>,
    pub(super) format: Spanned<RawFormat>,
    pub(super) book: Option<PathBuf>,
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

impl RawStage {
    /// True if its engines are seated by their places in what was played before.
    #[must_use]
    pub(super) fn is_seated_by_ranking(&self) -> bool {
        self.draw.as_ref().is_none_or(|draw| *draw.get_ref() != SeatDraw::Alphabetical)
    }
}
