//! The formats of an event's stages, and what standings depend on of them, by the settings of a journal alone.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Deserialize;
use toml::Spanned;

use super::super::plan::formats::{RawFormat, RawTies, format as planned, ties_of};
use super::super::stage::StageFormat;
use super::super::tiebreak::{CHAINS, TiebreakChain};
use crate::model::source_place::TextMistake;

/// A format as a stage has it.
pub(super) fn format(raw: Spanned<RawFormat>) -> Result<StageFormat, TextMistake> {
    Ok(match raw.get_ref() {
        RawFormat::DoubleRoundRobins(doubles) => StageFormat::DoubleRoundRobins(*doubles),
        RawFormat::Pairs(pairs) => StageFormat::Pairs(*pairs),
        _ => StageFormat::Of(planned(raw)?),
    })
}

/// Returns what standings depend on of each stage of an event, by the stage's name, as its settings have it; empty where
/// these are of another kind.
pub(crate) fn counted_stages(settings: &str) -> BTreeMap<String, CountedStage> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Stages {
        crash_limit: Option<NonZeroU32>,
        stage: Vec<One>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct One {
        name: String,
        format: Spanned<RawFormat>,
        #[serde(alias = "ties")]
        tie_breaks: Option<Spanned<RawTies>>,
        #[serde(default)]
        terms: Terms,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Terms {
        crash_limit: Option<NonZeroU32>,
    }
    let Ok(Stages { crash_limit, stage }) = toml::from_str::<Stages>(settings) else {
        return BTreeMap::new();
    };
    let counted = |one: One| {
        let format = format(one.format).ok()?;
        let crash_limit = one.terms.crash_limit.or(crash_limit);
        let crash_limit = crash_limit.filter(|_| format.without_disqualification().is_none());
        let chain = one.tie_breaks.map_or(Some(&CHAINS[0]), |ties| ties_of(&ties).ok())?;
        Some((one.name, CountedStage { format, chain, crash_limit }))
    };
    stage.into_iter().filter_map(counted).collect()
}

/// The settings that the standings of a stage depend on besides its games.
#[derive(Clone, Debug)]
pub(crate) struct CountedStage {
    /// Its format.
    pub(crate) format: StageFormat,
    /// Its tie-breaks.
    pub(crate) chain: &'static TiebreakChain,
    /// The crashes after which an engine is disqualified in it.
    pub(crate) crash_limit: Option<NonZeroU32>,
}
