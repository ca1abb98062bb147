//! Reads the stages of an event file, strictly: a mistake is shown at its key and line.

use std::num::NonZeroU32;
use std::path::Path;

use super::super::stage::{SeatDraw, StageFormat};
use super::super::tiebreak::CHAINS;
use super::formats::{format, ties_of};
use super::raw::{Raw, RawEngine, RawPlanStage};
use super::{EventPlan, PlaceSource, PlannedStage, Seating, Variant};
use crate::files::settings::{SettingsError, SettingsKind};
use crate::model::source_place::{TextMistake, did_you_mean, parsed};

impl EventPlan {
    /// Reads the stages of an event.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong at some place.
    pub(crate) fn load(path: &Path) -> Result<EventPlan, SettingsError> {
        let text = SettingsKind::RECORDED_EVENT.text(path)?;
        EventPlan::parse(&text).map_err(|mistake| SettingsError::wrong(path, &text, mistake))
    }

    pub(super) fn parse(text: &str) -> Result<EventPlan, TextMistake> {
        let raw: Raw = parsed(text)?;
        let mut engines: Vec<RawEngine> = raw.entry.into_iter().chain(raw.engine).collect();
        engines.sort_by_key(|engine| engine.seed.unwrap_or(u32::MAX));
        let span = raw.stage.span();
        let mut stages: Vec<PlannedStage> = Vec::new();
        let mut promoted = None;
        for stage in raw.stage.into_inner() {
            let promote = stage.promote;
            let planned = planned(stage, &stages, promoted, (raw.crash_limit, raw.variant))?;
            promoted = promote;
            stages.push(planned);
        }
        if stages.is_empty() {
            return Err((span, "an event needs a [[stage]]".into()));
        }
        Ok(EventPlan {
            event: raw.event.into_inner(),
            engines: engines.into_iter().map(|engine| engine.name).collect(),
            stages,
        })
    }
}

fn planned(
    raw: RawPlanStage,
    before: &[PlannedStage],
    promoted: Option<NonZeroU32>,
    (crash_limit, variant): (Option<NonZeroU32>, Option<Variant>),
) -> Result<PlannedStage, TextMistake> {
    let name = raw.name.get_ref().clone();
    if name.trim().is_empty() || before.iter().any(|stage| stage.name == name) {
        return Err((raw.name.span(), "each stage has a name of its own".into()));
    }
    let (mut from, mut tied) = (Vec::new(), None);
    if let Some(list) = &raw.from {
        for text in list.get_ref().list() {
            let source: PlaceSource = text
                .parse()
                .map_err(|error: super::sources::NoPlaces| (list.span(), error.to_string()))?;
            let is_known = before.iter().any(|stage| stage.name == source.stage);
            if source.stage.ends_with(".journal") {
                let what = "`from` names stages of this file; recorded games tell nothing of an event before: \
                            leave it out, and write invited = true where others come from a stage";
                return Err((list.span(), what.into()));
            }
            if !is_known {
                let names = before.iter().map(|stage| stage.name.as_str());
                let near = did_you_mean(&source.stage, names);
                let what = format!("no stage {:?} stands before this one{near}", source.stage);
                return Err((list.span(), what));
            }
            match source.places {
                super::PlaceRange::Tied => tied = Some(source.stage),
                _ => from.push(source),
            }
        }
    }
    // As files of 4k events write it.
    let draw = raw.draw.as_ref().map(|draw| *draw.get_ref());
    let is_drawn = matches!(draw, Some(SeatDraw::Ranking | SeatDraw::ReversedRanking));
    if let (true, true, Some(last)) = (is_drawn, from.is_empty(), before.last()) {
        let best = promoted.map(|best| (1..=best.get().min(1000) as usize).collect());
        let places = best.map_or(super::PlaceRange::Best, super::PlaceRange::These);
        from.push(PlaceSource { stage: last.name.clone(), places });
    }
    if let (Some(_), Some(draw)) = (raw.seating, &raw.draw) {
        return Err((draw.span(), "`draw` and `seating` say the same; keep one of them".into()));
    }
    if let (Some(_), Some(chain)) = (&raw.ties, &raw.tie_breaks) {
        return Err((
            chain.span(),
            "`tie-breaks` and `ties` say the same; keep one of them".into(),
        ));
    }
    let seating = raw.seating.unwrap_or(match draw {
        Some(SeatDraw::Ranking) => Seating::Ranking,
        Some(SeatDraw::ReversedRanking) => Seating::ReversedRanking,
        Some(SeatDraw::Alphabetical) => Seating::Alphabetical,
        // A lot is one of gate4k's own, which no recorded event was drawn by.
        Some(SeatDraw::Seeds | SeatDraw::Shuffle(_)) | None => Seating::AsPlayed,
    });
    let tags =
        raw.games.map_or_else(|| vec![name.clone()], |games| games.get_ref().list().to_vec());
    let split = |tags: &String| tags.split('|').map(|tag| tag.trim().to_owned()).collect();
    let format = format(raw.format)?;
    let may_disqualify = StageFormat::Of(format.clone()).without_disqualification().is_none();
    Ok(PlannedStage {
        tags: tags.iter().map(split).collect(),
        format,
        seating,
        from,
        tied,
        // Engines that the file names for a stage play beside those that come to it.
        invited: raw.invited || raw.engines.is_some_and(|engines| !engines.is_empty()),
        chain: match raw.ties.or(raw.tie_breaks) {
            Some(ties) => ties_of(&ties)?,
            None => &CHAINS[0],
        },
        crash_limit: raw.terms.crash_limit.or(crash_limit).filter(|_| may_disqualify),
        variant: raw.variant.or(variant).unwrap_or_default(),
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::tiebreak::{Criterion, TiedRest};
    use super::*;

    fn wrong(text: &str) -> String {
        let (span, what) = EventPlan::parse(text).unwrap_err();
        let line = text[..span.start].matches('\n').count() + 1;
        format!("{line}: {what}")
    }

    const LEAGUE: &str = "event = \"E\"\n[[stage]]\nname = \"A\"\nformat = { round-robin = { doubles = 2 } }\n\
        [[stage]]\nname = \"B\"\nfrom = [\"A:1..2\"]\nformat = { match = { pairs = 2 } }\nties = \"frd\"\n";

    #[test]
    fn a_graph_of_stages_is_read() {
        let plan = EventPlan::parse(LEAGUE).unwrap();
        assert_eq!(plan.stages[1].from[0].stage, "A");
        assert_eq!(plan.stages[1].chain.name, "frd");
        assert_eq!(plan.stages[0].tags, [["A"]]);
        let text = LEAGUE.replace("\"frd\"", "[\"wins\", \"crashes\", \"shared\"]");
        for text in [text.replace("ties =", "tie-breaks ="), text] {
            let plan = EventPlan::parse(&text).unwrap();
            assert_eq!(plan.stages[1].chain.criteria, [Criterion::Wins, Criterion::Crashes]);
            assert_eq!(plan.stages[1].chain.rest, TiedRest::Shared);
        }
    }

    #[test]
    fn as_many_go_on_as_a_4k_event_promotes() {
        let text = "event = \"E\"\n[[stage]]\nname = \"Pool\"\nformat = { double-round-robins = 2 }\npromote = 2\n\
            [[stage]]\nname = \"MiniFinal\"\nformat = { pairs = 25 }\ndraw = \"reversed-ranking\"\n";
        let last = EventPlan::parse(text).unwrap().stages.remove(1);
        assert_eq!(last.from[0].to_string(), "Pool:1,2");
        assert_eq!(last.seating, Seating::ReversedRanking);
    }

    #[test]
    fn mistakes_are_told_with_what_was_meant() {
        for (from, to, expected) in [
            ("event =", "evnt =", "1: unknown field `evnt`"),
            ("event =", "evnt =", "did you mean `event`?"),
            ("doubles", "duobles", "did you mean `doubles`?"),
            ("round-robin", "round-robbin", "did you mean `round-robin`?"),
            ("A:1..2", "A:x", "7: \"A:x\" names no places"),
            ("A:1..2", "C:1", "7: no stage \"C\" stands before this one"),
            ("\"B\"", "\"A\"", "6: each stage has a name of its own"),
            ("\"frd\"", "\"fdr\"", "9: no such tie-breaks"),
            ("\"frd\"", "[\"winz\"]", "did you mean \"wins\"?"),
            ("\"frd\"", "{ playoff = { spots = 1 } }", "9: `ties` is a chain's name or a list"),
            ("A:1..2", "last.journal:1..2", "7: `from` names stages of this file"),
            ("ties", "terms = { clock = \"5+1\" }\nties", "9: unknown field `clock`"),
            ("ties", "terms = { crash-limit = 0 }\nties", "9: invalid value"),
            ("ties", "terms = { crash-limt = 3 }\nties", "did you mean `crash-limit`?"),
            ("ties", "tie-breaks = \"4k\"\nties", "9: `tie-breaks` and `ties` say the same"),
            ("ties", "seating = \"seeds\"\ndraw = \"seeds\"\nties", "10: `draw` and `seating`"),
            ("ties", "variant = \"960\"\nties", "9: unknown value `960`"),
            ("pairs = 2", "pairs = 2, then = [{ pairs = 1, clock = \"5+1\" }]", "8: unknown field"),
            (
                "{ match = { pairs = 2 } }",
                "{ knockout = { pairs = [2], shuffle = 3 } }",
                "is shuffled",
            ),
            (
                "{ match = { pairs = 2 } }",
                "{ swiss = { rounds = 5, pairing = \"dutch\", sections = 2 } }",
                "8: only Monrad pairing has sections",
            ),
            ("event =", "gate = \"no\"\nevent =", "1: unknown value `no`"),
            (
                "{ match = { pairs = 2 } }",
                "\"match\"",
                "8: match has settings of its own: write `{ match = { … } }`",
            ),
            (
                "{ pairs = 2 }",
                "3",
                "8: invalid type: integer `3`, expected a table of settings, `{ … }`",
            ),
            (
                "pairs = 2",
                "pairs = 2, then = {}",
                "8: invalid type: a table, expected a list, `[…]`",
            ),
        ] {
            let told = wrong(&LEAGUE.replacen(from, to, 1));
            assert!(told.contains(expected), "{expected:?} is not in {told}");
        }
    }
}
