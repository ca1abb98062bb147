//! The keys of an event file, as serde takes them.

use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::super::config::{GateKind, RawDrawRule, RawPolicy};
use super::super::format::knockout::WhiteFirst;
use super::super::format::round_robin::Order;
use super::{Seating, Variant};
use crate::game::clock::TimeControl;
use crate::judge::waiver::RawWaiver;

/// The keys of an event file. Those that only playing needs are taken as they are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(
    dead_code,
    reason = "keys that are read when an event is played; here they are only known"
)]
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
    pub(super) time_control: Option<TimeControl>,
    pub(super) margin: Option<String>,
    pub(super) compensation: Option<String>,
    pub(super) hash: Option<u64>,
    pub(super) threads: Option<u32>,
    pub(super) concurrency: Option<NonZeroU32>,
    pub(super) material_draws: Option<bool>,
    pub(super) draw_rule: Option<RawDrawRule>,
    pub(super) syzygy: Option<Vec<PathBuf>>,
    pub(super) crash_limit: Option<NonZeroU32>,
    pub(super) history: Option<Vec<PathBuf>>,
    pub(super) rating_mean: Option<f64>,
    #[serde(default)]
    pub(super) entry: Vec<RawEngine>,
    #[serde(default)]
    pub(super) engine: Vec<RawEngine>,
    pub(super) stage: Spanned<Vec<RawStage>>,
    #[serde(default)]
    pub(super) waiver: Vec<RawWaiver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(
    dead_code,
    reason = "keys that are read when an event is played; here they are only known"
)]
pub(super) struct RawEngine {
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) cmd: Option<String>,
    pub(super) engines_json: Option<PathBuf>,
    pub(super) engine: Option<String>,
    pub(super) seed: Option<u32>,
    pub(super) rating: Option<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(
    dead_code,
    reason = "keys that are read when an event is played; here they are only known"
)]
pub(super) struct RawStage {
    pub(super) name: Spanned<String>,
    pub(super) games: Option<Spanned<OneOrMore>>,
    pub(super) format: Spanned<RawFormat>,
    pub(super) from: Option<Spanned<OneOrMore>>,
    #[serde(default)]
    pub(super) invited: bool,
    pub(super) seating: Option<Seating>,
    pub(super) draw: Option<Spanned<RawDraw>>,
    pub(super) ties: Option<Spanned<RawTies>>,
    pub(super) tie_breaks: Option<Spanned<String>>,
    pub(super) promote: Option<NonZeroU32>,
    pub(super) book: Option<PathBuf>,
    pub(super) book_policy: Option<RawPolicy>,
    pub(super) variant: Option<Variant>,
    #[serde(default)]
    pub(super) terms: RawTerms,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub(super) fn list(&self) -> Vec<String> {
        match self {
            OneOrMore::One(one) => vec![one.clone()],
            OneOrMore::More(list) => list.clone(),
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawDraw {
    Seeds,
    Ranking,
    ReversedRanking,
}

/// The agreements on games that recorded games show. All others are refused as unknown keys.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawTerms {
    pub(super) crash_limit: Option<NonZeroU32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawFormat {
    RoundRobin(RawRoundRobin),
    Match(RawMatch),
    Swiss(RawSwiss),
    Knockout(RawKnockout),
    Playoff(RawPlayoff),
    /// As files of 4k events write a round robin.
    DoubleRoundRobins(NonZeroU32),
    /// As files of 4k events write a match.
    Pairs(NonZeroU32),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawRoundRobin {
    pub(super) doubles: NonZeroU32,
    #[serde(default)]
    pub(super) order: Order,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawMatch {
    pub(super) pairs: NonZeroU32,
    #[serde(default)]
    pub(super) early: bool,
    #[serde(default)]
    pub(super) then: Vec<RawThen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawThen {
    pub(super) pairs: NonZeroU32,
    pub(super) until: Option<Until>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Until {
    Decisive,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(dead_code, reason = "the one order and the one rule of colours that the events have")]
pub(super) struct RawSwiss {
    pub(super) rounds: NonZeroU32,
    pub(super) pairing: Pairing,
    pub(super) games: Option<Spanned<NonZeroU32>>,
    pub(super) sections: Option<Spanned<NonZeroU32>>,
    pub(super) order: Option<GameOrder>,
    pub(super) black_first: Option<BlackFirst>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pairing {
    Monrad,
    Dutch,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GameOrder {
    WorstFirst,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum BlackFirst {
    Better,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawKnockout {
    pub(super) bracket: Option<Bracket>,
    pub(super) shuffle: Option<Spanned<u64>>,
    pub(super) pairs: Spanned<Vec<NonZeroU32>>,
    pub(super) bronze: Option<NonZeroU32>,
    #[serde(default)]
    pub(super) early: bool,
    #[serde(default)]
    pub(super) white_first: WhiteFirst,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Bracket {
    EqualDistance,
    #[serde(rename = "edps8-rrc")]
    Edps8Rrc,
    AsDrawn,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawPlayoff {
    #[serde(default = "one")]
    pub(super) doubles: NonZeroU32,
    pub(super) spots: NonZeroU32,
}

pub(super) fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a chain's name or a list of criteria")]
pub(super) enum RawTies {
    Named(String),
    List(Vec<String>),
    /// A playoff after the stage, which is refused here: it is a stage of its own.
    Table(toml::Table),
}
