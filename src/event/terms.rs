//! The terms on which the games of a stage are played: the clock, the rules that end a game by evaluations or tables, and
//! the bounds of an interruption. An event has them, and a stage may have its own.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use crate::game::adjudicate::{AdjudicationRules, DrawRule, WinRule};
use crate::game::clock::{BadTimeControl, TimeControl};
use crate::model::source_place::{TextMistake, read_from_tables};
use crate::model::units::Ply;

/// The clock and the adjudication of the games of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageTerms {
    /// The clock; further parts of a match may have another.
    pub control: TimeControl,
    /// Draws and wins by evaluation.
    pub(crate) rules: AdjudicationRules,
    /// The games about which tables are asked.
    pub(crate) tables: AskTables,
    /// The ruling on a game that was interrupted.
    pub(crate) interruption: InterruptionRule,
}

/// The games about which tables are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AskTables {
    /// Only games that were interrupted (rule 6.1.4 of 4k events).
    #[default]
    Interrupted,
    /// All, after each move (rule 10.3 of the leagues).
    All,
}

/// The rule for a game that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterruptionRule {
    /// It is over beyond bounds, and goes on from the position that it had reached (rule 6.1 of 4k events).
    GoesOn(InterruptionBounds),
    /// It begins anew from its opening ("Time Control" of nTCEC).
    Restart,
}

/// The evaluations at which a game that was interrupted is over (rules 6.1.2 and 6.1.3 of 4k events).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InterruptionBounds {
    /// Both engines beyond this: a win.
    pub(crate) win: Bound,
    /// Both within this, after 35 moves: a draw.
    pub(crate) draw: Bound,
}

impl InterruptionBounds {
    /// The bounds of 4k events and of the leagues: more than 10, less than 0.15.
    pub(crate) const TCEC_4K: InterruptionBounds = InterruptionBounds {
        win: Bound { pawns: 1000, itself: Itself::Without },
        draw: Bound { pawns: 15, itself: Itself::Without },
    };
}

/// An evaluation as the bound of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// The evaluation, in hundredths of a pawn.
    pawns: i32,
    /// The side to which the bound itself belongs.
    itself: Itself,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Itself {
    Within,
    Without,
}

impl Bound {
    /// True if an evaluation, in hundredths of a pawn, is beyond it.
    pub(crate) fn is_passed(self, eval: i32) -> bool {
        eval > self.pawns || self.itself == Itself::Within && eval == self.pawns
    }

    /// The word for what is beyond it: with the bound itself, or without.
    pub(crate) fn beyond(self, without: &'static str, within: &'static str) -> &'static str {
        match self.itself {
            Itself::Within => within,
            Itself::Without => without,
        }
    }

    /// True if an evaluation, in hundredths of a pawn, is no further from level.
    pub(crate) fn holds(self, eval: i32) -> bool {
        let size = eval.saturating_abs();
        size < self.pawns || self.itself == Itself::Within && size == self.pawns
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pawns = f64::from(self.pawns) / 100.0;
        // Whole pawns are written without a fraction.
        write!(f, "{pawns}")
    }
}

/// The text is no bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no bound; write \">10\" or \">=10\" for a win, \"<0.15\" or \"<=0.15\" for a draw"
)]
struct NoBound(String);

/// A bound behind its sign: `>` for a win, `<` for a draw.
fn bound(text: &str, sign: char) -> Result<Bound, NoBound> {
    let wrong = || NoBound(text.to_owned());
    let rest = text.trim().strip_prefix(sign).ok_or_else(wrong)?;
    let (rest, itself) = match rest.strip_prefix('=') {
        Some(rest) => (rest, Itself::Within),
        None => (rest, Itself::Without),
    };
    let pawns = f64::from_str(rest.trim()).map_err(|_| wrong())?;
    Ok(Bound { pawns: hundredths(pawns).ok_or_else(wrong)?, itself })
}

/// Pawns in hundredths; none for what no engine says.
fn hundredths(pawns: f64) -> Option<i32> {
    let is_sane = (0.0..=1000.0).contains(&pawns);
    #[expect(clippy::cast_possible_truncation, reason = "at most 100,000")]
    is_sane.then(|| (pawns * 100.0).round() as i32)
}

impl<'de> Deserialize<'de> for InterruptionRule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<InterruptionRule, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "{ win = \">10\", draw = \"<0.15\" } or \"restart\"")]
        enum Raw {
            Bounds(RawBounds),
            Word(Word),
        }
        #[derive(Deserialize)]
        #[serde(remote = "Self", deny_unknown_fields)]
        struct RawBounds {
            win: String,
            draw: String,
        }
        read_from_tables!(RawBounds);
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Word {
            Restart,
        }
        Ok(match Raw::deserialize(from)? {
            Raw::Bounds(raw) => InterruptionRule::GoesOn(InterruptionBounds {
                win: bound(&raw.win, '>').map_err(de::Error::custom)?,
                draw: bound(&raw.draw, '<').map_err(de::Error::custom)?,
            }),
            Raw::Word(Word::Restart) => InterruptionRule::Restart,
        })
    }
}

/// A draw rule as it is written.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "\"new\", \"old\", \"none\" or { within = 0.08 }")]
pub(in crate::event) enum RawDrawRule {
    Named(NamedDrawRule),
    Custom(CustomDrawRule),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::event) enum NamedDrawRule {
    New,
    Old,
    None,
}

/// The old rule with numbers of its own.
#[derive(Clone, Copy, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct CustomDrawRule {
    within: f64,
    plies: Option<NonZeroU32>,
    after_moves: Option<u32>,
}

/// A win rule as it is written.
#[derive(Clone, Copy, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct RawWinRule {
    level: f64,
    moves: NonZeroU32,
}

/// The terms of an event or a stage as they are written.
#[derive(Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::event) struct RawTerms {
    pub(in crate::event) time_control: Option<Spanned<RawClock>>,
    pub(in crate::event) draw_rule: Option<Spanned<RawDrawRule>>,
    pub(in crate::event) win_rule: Option<Spanned<RawWinRule>>,
    pub(in crate::event) tables: Option<AskTables>,
    pub(in crate::event) interruption: Option<InterruptionRule>,
    pub(in crate::event) crash_limit: Option<NonZeroU32>,
}

read_from_tables!(CustomDrawRule, RawWinRule, RawTerms);

impl StageTerms {
    /// The terms of 4k events at a clock: nothing is adjudicated (rule 2).
    pub(crate) fn at(control: TimeControl) -> StageTerms {
        StageTerms {
            control,
            rules: AdjudicationRules::default(),
            tables: AskTables::Interrupted,
            interruption: InterruptionRule::GoesOn(InterruptionBounds::TCEC_4K),
        }
    }

    /// True if evaluations end games.
    pub(crate) fn end_by_evaluation(&self) -> bool {
        self.rules != AdjudicationRules::default()
    }

    /// These, but for what others say.
    ///
    /// # Errors
    /// When a number among them is none, or the clock is one that entries cannot be told.
    pub(in crate::event) fn with(self, own: &RawTerms) -> Result<StageTerms, TextMistake> {
        let mut terms = self;
        if let Some(control) = &own.time_control {
            terms.control = plain(control)?;
        }
        if let Some(rule) = &own.draw_rule {
            terms.rules.draw = draw_rule(*rule.get_ref()).map_err(|what| (rule.span(), what))?;
        }
        if let Some(rule) = &own.win_rule {
            let RawWinRule { level, moves } = *rule.get_ref();
            let level = hundredths(level).ok_or_else(|| (rule.span(), pawns(level)))?;
            terms.rules.win = Some(WinRule { level, moves: moves.get() });
        }
        terms.tables = own.tables.unwrap_or(terms.tables);
        terms.interruption = own.interruption.unwrap_or(terms.interruption);
        Ok(terms)
    }
}

/// A time control as an event file has it: a mistake in it is told with what events take.
#[derive(Clone, Copy)]
pub(in crate::event) struct RawClock(TimeControl);

impl<'de> Deserialize<'de> for RawClock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RawClock, D::Error> {
        let read = String::deserialize(from)?.parse().map(RawClock);
        read.map_err(|bad: BadTimeControl| de::Error::custom(bad.in_event()))
    }
}

/// A clock that entries can be told.
pub(in crate::event) fn plain(control: &Spanned<RawClock>) -> Result<TimeControl, TextMistake> {
    let RawClock(clock) = *control.get_ref();
    if clock.is_plain_clock() {
        return Ok(clock);
    }
    let what = "entries are told only what rule 7.9 lists; write a clock such as 30:00+3";
    Err((control.span(), what.into()))
}

fn draw_rule(raw: RawDrawRule) -> Result<Option<DrawRule>, String> {
    Ok(match raw {
        RawDrawRule::Named(NamedDrawRule::New) => Some(DrawRule::NEW),
        RawDrawRule::Named(NamedDrawRule::Old) => Some(DrawRule::OLD),
        RawDrawRule::Named(NamedDrawRule::None) => None,
        RawDrawRule::Custom(CustomDrawRule { within, plies, after_moves }) => Some(DrawRule::Old {
            level: hundredths(within).ok_or_else(|| pawns(within))?,
            plies: Ply(plies.map_or(10, NonZeroU32::get)),
            after_moves: after_moves.unwrap_or(35),
        }),
    })
}

fn pawns(number: f64) -> String {
    format!("{number} is no evaluation; write pawns, from 0 to 1000")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<StageTerms, String> {
        let raw: RawTerms = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        StageTerms::at(TimeControl::EVENT).with(&raw).map_err(|(_, what)| what)
    }

    fn bounds(terms: StageTerms) -> InterruptionBounds {
        match terms.interruption {
            InterruptionRule::GoesOn(bounds) => bounds,
            InterruptionRule::Restart => panic!("no bounds"),
        }
    }

    #[test]
    fn a_stage_has_terms_of_its_own() {
        let terms = read(
            "time-control = \"90:00+5\"\ndraw-rule = { within = 0.08 }\nwin-rule = { level = 10, moves = 5 }\n\
             tables = \"all\"\ninterruption = { win = \">10\", draw = \"<0.10\" }",
        )
        .unwrap();
        assert_eq!(terms.control.to_string(), "5400+5");
        let drawn = DrawRule::Old { level: 8, plies: Ply(10), after_moves: 35 };
        assert_eq!(terms.rules.draw, Some(drawn));
        assert_eq!(terms.rules.win, Some(WinRule { level: 1000, moves: 5 }));
        assert_eq!(terms.tables, AskTables::All);
        let draw = bounds(terms).draw;
        assert_eq!((draw.holds(9), draw.holds(-10)), (true, false));
        let anew = read("interruption = \"restart\"").unwrap();
        assert_eq!(anew.interruption, InterruptionRule::Restart);
        // Where nothing is said, nothing changes.
        assert_eq!(read("").unwrap(), StageTerms::at(TimeControl::EVENT));
        let new = StageTerms {
            rules: AdjudicationRules { draw: Some(DrawRule::NEW), ..AdjudicationRules::default() },
            ..terms
        };
        let none = toml::from_str("draw-rule = \"none\"").unwrap();
        assert_eq!(new.with(&none).unwrap().rules.draw, None);
    }

    #[test]
    fn bounds_hold_what_they_say() {
        let with = bounds(read("interruption = { win = \">=10\", draw = \"<=0.15\" }").unwrap());
        let without = InterruptionBounds::TCEC_4K;
        assert!(with.win.is_passed(1000) && !without.win.is_passed(1000));
        assert!(!with.win.is_passed(999) && without.win.is_passed(1001));
        assert!(with.draw.holds(-15) && !without.draw.holds(15) && without.draw.holds(-14));
        assert_eq!(with.draw.to_string(), "0.15");
        assert_eq!(with.win.to_string(), "10");
    }

    #[test]
    fn mistakes_in_terms_are_told() {
        for (text, expected) in [
            ("time-control = \"nodes=5\"", "entries are told only what rule 7.9 lists"),
            (
                "time-control = \"x\"",
                "the base is no time; write a clock such as 30:00+3 or 10+0.1",
            ),
            ("time-control = \"deep=5\"", "no such limit; write a clock such as 30:00+3"),
            ("draw-rule = { within = -1 }", "-1 is no evaluation"),
            ("draw-rule = \"newer\"", "\"new\", \"old\", \"none\" or { within = 0.08 }"),
            ("win-rule = { level = 1e9, moves = 5 }", "is no evaluation"),
            ("win-rule = { level = 10, moves = 0 }", "nonzero"),
            ("interruption = { win = \"10\", draw = \"<1\" }", "\"10\" is no bound"),
            ("win-rule = [1, 2]", "invalid type: sequence, expected a table of settings"),
            ("draw-rule = [0.1, 2, 3]", "\"new\", \"old\", \"none\" or { within = 0.08 }"),
            ("interruption = [\">10\", \"<1\"]", "or \"restart\""),
            ("interruption = \"again\"", "or \"restart\""),
            ("interruption = { win = \">10\", draw = \"<x\" }", "\"<x\" is no bound"),
            ("clock = 5", "unknown field `clock`"),
        ] {
            let told = read(text).unwrap_err();
            assert!(told.contains(expected), "{expected:?} is not in {told}");
        }
    }
}
