//! Formats and tie-breaks as an event file writes them.

use std::num::NonZeroU32;

use serde::Deserialize;
use toml::Spanned;

use super::super::format::Format;
use super::super::format::bracket_draw::BracketDraw;
use super::super::format::dutch::Dutch;
use super::super::format::knockout::{Knockout, WhiteFirst};
use super::super::format::match_::{MatchFormat, MatchPart};
use super::super::format::playoff::Playoff;
use super::super::format::round_robin::{PairOrder, RoundRobin};
use super::super::format::swiss::Swiss;
use super::super::terms::RawClock;
use super::super::tiebreak::{CHAINS, Criterion, TiebreakChain, TiedRest};
use crate::model::source_place::{TextMistake, did_you_mean, read_from_tables};

#[derive(Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::event) enum RawFormat {
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

#[derive(Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct RawRoundRobin {
    pub(in crate::event) doubles: Option<NonZeroU32>,
    /// Half as long: everybody meets everybody once in each.
    pub(in crate::event) cycles: Option<NonZeroU32>,
    #[serde(default)]
    pub(in crate::event) order: PairOrder,
}

#[derive(Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct RawMatch {
    pub(in crate::event) pairs: NonZeroU32,
    #[serde(default)]
    pub(in crate::event) early: bool,
    #[serde(default)]
    pub(in crate::event) then: Vec<RawThen>,
}

#[derive(Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct RawThen {
    pub(in crate::event) pairs: NonZeroU32,
    pub(in crate::event) until: Option<StopCondition>,
    pub(in crate::event) time_control: Option<Spanned<RawClock>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::event) enum StopCondition {
    Decisive,
}

#[derive(Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct RawSwiss {
    pub(in crate::event) rounds: NonZeroU32,
    pub(in crate::event) pairing: SwissPairing,
    pub(in crate::event) games: Option<Spanned<NonZeroU32>>,
    pub(in crate::event) sections: Option<Spanned<NonZeroU32>>,
    /// The one order and the one rule of colours that the events have.
    pub(in crate::event) order: Option<GameOrder>,
    pub(in crate::event) black_first: Option<BlackFirst>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::event) enum SwissPairing {
    Monrad,
    Dutch,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::event) enum GameOrder {
    WorstFirst,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::event) enum BlackFirst {
    Better,
}

#[derive(Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct RawKnockout {
    pub(in crate::event) bracket: Option<Bracket>,
    pub(in crate::event) shuffle: Option<Spanned<u64>>,
    pub(in crate::event) pairs: Spanned<Vec<NonZeroU32>>,
    pub(in crate::event) bronze: Option<NonZeroU32>,
    #[serde(default)]
    pub(in crate::event) early: bool,
    #[serde(default)]
    pub(in crate::event) white_first: WhiteFirst,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::event) enum Bracket {
    EqualDistance,
    #[serde(rename = "edps8-rrc")]
    Edps8Rrc,
    AsDrawn,
}

#[derive(Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct RawPlayoff {
    pub(in crate::event) doubles: Option<NonZeroU32>,
    pub(in crate::event) spots: NonZeroU32,
}

read_from_tables!(RawRoundRobin, RawMatch, RawThen, RawSwiss, RawKnockout, RawPlayoff);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a chain's name or a list of criteria")]
pub(in crate::event) enum RawTies {
    Named(String),
    List(Vec<String>),
    /// A playoff after the stage, which is refused here: it is a stage of its own.
    Table(toml::Table),
}

/// A format as it was written.
pub(in crate::event) fn format(raw: Spanned<RawFormat>) -> Result<Format, TextMistake> {
    let span = raw.span();
    Ok(match raw.into_inner() {
        RawFormat::RoundRobin(RawRoundRobin { doubles, cycles, order }) => {
            Format::RoundRobin(match (doubles, cycles) {
                (Some(doubles), None) => RoundRobin::of_doubles(doubles, order),
                (None, Some(cycles)) => RoundRobin { cycles, order },
                _ => {
                    let what = "a round robin has either `doubles` (both colours against everybody) or `cycles` \
                                (one game against everybody in each)";
                    return Err((span, what.into()));
                }
            })
        }
        RawFormat::DoubleRoundRobins(doubles) => {
            Format::RoundRobin(RoundRobin::of_doubles(doubles, PairOrder::Berger))
        }
        RawFormat::Pairs(pairs) => Format::Match(MatchFormat::until_decisive(pairs, false)),
        RawFormat::Match(RawMatch { pairs, early, then }) => {
            let endless = then.iter().position(|part| part.until.is_some());
            if endless.is_some_and(|at| at + 1 < then.len()) {
                let what = "a part that is played until it is decisive is the last one of `then`";
                return Err((span, what.into()));
            }
            let part =
                |part: &RawThen| MatchPart { pairs: part.pairs, again: part.until.is_some() };
            Format::Match(MatchFormat { pairs, early, then: then.iter().map(part).collect() })
        }
        RawFormat::Swiss(swiss) => match swiss.pairing {
            SwissPairing::Dutch => {
                let is_one = |games: &Spanned<NonZeroU32>| *games.get_ref() == NonZeroU32::MIN;
                if let Some(games) = swiss.games.filter(|games| !is_one(games)) {
                    return Err((games.span(), "Dutch pairing is of single games".into()));
                }
                if let Some(sections) = swiss.sections {
                    return Err((sections.span(), "only Monrad pairing has sections".into()));
                }
                Format::Dutch(Dutch { rounds: swiss.rounds })
            }
            SwissPairing::Monrad => {
                let number = |key: Option<Spanned<NonZeroU32>>| key.map(Spanned::into_inner);
                Format::Swiss(Swiss {
                    rounds: swiss.rounds,
                    games: number(swiss.games).unwrap_or(NonZeroU32::MIN.saturating_add(1)),
                    sections: number(swiss.sections).unwrap_or(NonZeroU32::MIN),
                })
            }
        },
        RawFormat::Knockout(knockout) => {
            if knockout.pairs.get_ref().is_empty() {
                let what = "name the pairs of each round, such as pairs = [2, 3, 4, 6, 12]";
                return Err((knockout.pairs.span(), what.into()));
            }
            let shuffle = knockout.shuffle.as_ref().map(|shuffle| *shuffle.get_ref());
            let draw = match knockout.bracket {
                Some(Bracket::Edps8Rrc) => {
                    BracketDraw::PreSeeded { shuffle: shuffle.unwrap_or_default() }
                }
                _ if let Some(shuffle) = knockout.shuffle => {
                    return Err((
                        shuffle.span(),
                        "only the bracket \"edps8-rrc\" is shuffled".into(),
                    ));
                }
                Some(Bracket::EqualDistance) => BracketDraw::EqualDistance,
                Some(Bracket::AsDrawn) | None => BracketDraw::AsDrawn,
            };
            Format::Knockout(Knockout {
                draw,
                pairs: knockout.pairs.into_inner(),
                bronze: knockout.bronze,
                early: knockout.early,
                white_first: knockout.white_first,
            })
        }
        RawFormat::Playoff(RawPlayoff { doubles, spots }) => {
            Format::Playoff(Playoff { doubles: doubles.unwrap_or(NonZeroU32::MIN), spots })
        }
    })
}

/// The chain of a name.
pub(in crate::event) fn chain(
    name: &str,
    span: std::ops::Range<usize>,
) -> Result<&'static TiebreakChain, TextMistake> {
    TiebreakChain::named(name).ok_or_else(|| {
        let names: Vec<&str> = CHAINS.iter().map(|chain| chain.name).collect();
        let near = did_you_mean(name, names.iter().copied());
        (span, format!("no such tie-breaks ({}){near}", names.join(", ")))
    })
}

/// A chain as it was written: its name, or its criteria.
pub(in crate::event) fn ties_of(
    ties: &Spanned<RawTies>,
) -> Result<&'static TiebreakChain, TextMistake> {
    let list = match ties.get_ref() {
        RawTies::Named(name) => return chain(name, ties.span()),
        RawTies::Table(table) => {
            let keys: Vec<&str> = table.keys().map(String::as_str).collect();
            let what = format!(
                "`ties` is a chain's name or a list of criteria, not {{ {} }}; a playoff is a [[stage]] of its own, \
                 with format = {{ playoff = {{ spots = 1 }} }}",
                keys.join(", ")
            );
            return Err((ties.span(), what));
        }
        RawTies::List(list) => list,
    };
    let mut criteria = Vec::new();
    let mut rest = TiedRest::Organisers;
    for (at, word) in list.iter().enumerate() {
        let is_last = at + 1 == list.len();
        let named = Criterion::ALL.iter().find(|criterion| criterion.id() == word);
        match (named, word.as_str()) {
            (Some(criterion), _) => criteria.push(*criterion),
            (None, "shared") if is_last => rest = TiedRest::Shared,
            (None, "organisers") if is_last => {}
            (None, word) => {
                let ids: Vec<&str> =
                    Criterion::ALL.iter().map(|criterion| criterion.id()).collect();
                let near = did_you_mean(word, ids.iter().copied());
                let what = format!(
                    "no such tie-break {word:?} ({}; the last may be organisers or shared){near}",
                    ids.join(", ")
                );
                return Err((ties.span(), what));
            }
        }
    }
    // An event file is read once, and chains live as long as the program.
    let criteria: &'static [Criterion] = criteria.leak();
    Ok(Box::leak(Box::new(TiebreakChain { name: "own", criteria, rest, spares_matches: false })))
}
