//! The keys of an event file, as serde takes them.

#![expect(
    dead_code,
    reason = "keys that are read when an event is played; here they are only known"
)]

use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::super::config::{GateKind, RawPolicy};
use super::super::stage::SeatDraw;
use super::super::terms::{
    AskTables, InterruptionRule, RawClock, RawDrawRule, RawTerms, RawWinRule,
};
use super::formats::{RawFormat, RawTies};
use super::{Seating, Variant};
use crate::judge::waiver::RawWaiver;

/// The keys of an event file. Keys that only playing needs are taken as they are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Raw {
    pub(super) event: Spanned<String>,
    pub(super) site: Option<String>,
    pub(super) journal: Option<PathBuf>,
    pub(super) gate: Option<GateKind>,
    pub(super) admit_undecided: Option<bool>,
    pub(super) elf_only: Option<bool>,
    pub(super) size_limit: Option<toml::Value>,
    pub(super) memory_limit: Option<toml::Value>,
    pub(super) allowlist: Option<PathBuf>,
    pub(super) lazy_memory: Option<bool>,
    pub(super) devices: Option<Vec<String>>,
    pub(super) time_control: Option<RawClock>,
    pub(super) margin: Option<String>,
    pub(super) compensation: Option<String>,
    pub(super) hash: Option<u64>,
    pub(super) threads: Option<u32>,
    pub(super) concurrency: Option<NonZeroU32>,
    pub(super) material_draws: Option<bool>,
    pub(super) draw_rule: Option<RawDrawRule>,
    pub(super) win_rule: Option<RawWinRule>,
    pub(super) tables: Option<AskTables>,
    pub(super) interruption: Option<InterruptionRule>,
    pub(super) syzygy: Option<Vec<PathBuf>>,
    pub(super) crash_limit: Option<NonZeroU32>,
    pub(super) variant: Option<Variant>,
    pub(super) history: Option<Vec<PathBuf>>,
    pub(super) rating_mean: Option<f64>,
    #[serde(default)]
    pub(super) entry: Vec<RawEngine>,
    #[serde(default)]
    pub(super) engine: Vec<RawEngine>,
    pub(super) engines: Option<PathBuf>,
    pub(super) stage: Spanned<Vec<RawPlanStage>>,
    #[serde(default)]
    pub(super) waiver: Vec<RawWaiver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawEngine {
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) cmd: Option<String>,
    pub(super) args: Option<Vec<String>>,
    pub(super) dir: Option<PathBuf>,
    pub(super) init: Option<Vec<String>>,
    pub(super) options: Option<toml::Table>,
    pub(super) engines_json: Option<PathBuf>,
    pub(super) engine: Option<String>,
    pub(super) seed: Option<u32>,
    pub(super) rating: Option<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawPlanStage {
    pub(super) name: Spanned<String>,
    pub(super) games: Option<Spanned<OneOrMore>>,
    pub(super) format: Spanned<RawFormat>,
    pub(super) from: Option<Spanned<OneOrMore>>,
    #[serde(default)]
    pub(super) invited: bool,
    pub(super) seating: Option<Seating>,
    pub(super) draw: Option<Spanned<SeatDraw>>,
    pub(super) ties: Option<Spanned<RawTies>>,
    pub(super) tie_breaks: Option<Spanned<RawTies>>,
    pub(super) promote: Option<NonZeroU32>,
    pub(super) book: Option<OneOrMore>,
    pub(super) book_policy: Option<RawPolicy>,
    pub(super) updates: Option<bool>,
    pub(super) engines: Option<Vec<String>>,
    pub(super) size: Option<u32>,
    pub(super) variant: Option<Variant>,
    pub(super) start_seed: Option<u64>,
    #[serde(default)]
    pub(super) terms: RawTerms,
}

/// A list of texts; one of them may stand alone.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub(crate) fn list(&self) -> &[String] {
        match self {
            OneOrMore::One(text) => std::slice::from_ref(text),
            OneOrMore::More(list) => list,
        }
    }
}
