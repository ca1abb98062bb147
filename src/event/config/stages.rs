//! The stages of an event file that is played.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::super::format;
use super::super::plan::formats::{RawFormat, RawTies, chain, format as planned, ties_of};
use super::super::plan::sources::{NoPlaces, Places, Source};
use super::super::schedule::BookPolicy;
use super::super::stage::{Draw, Format, Stage, Updates};
use super::{Entry, RawPolicy, slug};
use crate::model::source_place::{Mistake, nearest};
use crate::model::words::counted;

/// The most games of a stage: far beyond any event, and few enough to be laid out.
const MOST_GAMES: u64 = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawStage {
    name: Spanned<String>,
    format: Spanned<RawFormat>,
    book: Option<PathBuf>,
    book_policy: Option<Spanned<RawPolicy>>,
    #[serde(alias = "seating")]
    draw: Option<Spanned<Draw>>,
    #[serde(alias = "ties")]
    tie_breaks: Option<Spanned<RawTies>>,
    promote: Option<Spanned<usize>>,
    updates: Option<Spanned<bool>>,
    from: Option<Spanned<OneOrMore>>,
    engines: Option<Spanned<Vec<String>>>,
    variant: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// A format as a stage has it.
pub(super) fn format(raw: Spanned<RawFormat>) -> Result<Format, Mistake> {
    Ok(match raw.get_ref() {
        RawFormat::DoubleRoundRobins(doubles) => Format::DoubleRoundRobins(*doubles),
        RawFormat::Pairs(pairs) => Format::Pairs(*pairs),
        _ => Format::Of(planned(raw)?),
    })
}

/// The stages before one, as far as it needs them.
struct Before<'a> {
    stages: &'a [Stage],
    entries: &'a [Entry],
    /// The entries that stages before have named.
    named: BTreeSet<String>,
}

pub(super) fn read(
    raw: Spanned<Vec<RawStage>>,
    here: &Path,
    entries: &[Entry],
    is_crash_limited: bool,
) -> Result<Vec<Stage>, Mistake> {
    let span = raw.span();
    let raw = raw.into_inner();
    let taken = taken(&raw)?;
    let mut stages: Vec<Stage> = Vec::new();
    let mut named = BTreeSet::new();
    for (one, taken) in raw.into_iter().zip(taken) {
        let mut before = Before { stages: &stages, entries, named };
        let stage = stage(one, here, taken, is_crash_limited, &mut before)?;
        named = before.named;
        stages.push(stage);
    }
    let Some(first) = stages.first() else {
        return Err((span, "an event needs a [[stage]]".into()));
    };
    let idle = entries.iter().find(|entry| !named.contains(&entry.name));
    if let Some(entry) = idle.filter(|_| !first.engines.is_empty()) {
        return Err((
            span,
            format!("{} plays in no stage; name it in the `engines` of one", entry.name),
        ));
    }
    Ok(stages)
}

/// Which of a stage's engines later stages take.
#[derive(Clone, Copy, Default)]
struct Taken {
    /// The last place.
    last: usize,
    /// Whether a playoff breaks its ties.
    is_played_off: bool,
}

fn taken(raw: &[RawStage]) -> Result<Vec<Taken>, Mistake> {
    let mut taken = vec![Taken::default(); raw.len()];
    for (number, one) in raw.iter().enumerate() {
        let known =
            |stage: &str| raw[..number].iter().position(|before| before.name.get_ref() == stage);
        match sources(one, number, known)? {
            Sources::Tied(stage) => taken[stage].is_played_off = true,
            Sources::Places(all) => {
                for (stage, places) in all {
                    let last = places.into_iter().max().unwrap_or(0);
                    taken[stage].last = taken[stage].last.max(last);
                }
            }
        }
    }
    Ok(taken)
}

/// The engines of stages before that `from` names.
enum Sources {
    /// These places of these stages.
    Places(Vec<(usize, Vec<usize>)>),
    /// Those that are level for the last spots in this one.
    Tied(usize),
}

fn sources(
    one: &RawStage,
    number: usize,
    known: impl Fn(&str) -> Option<usize>,
) -> Result<Sources, Mistake> {
    let Some(from) = &one.from else { return Ok(Sources::Places(Vec::new())) };
    let list = match from.get_ref() {
        OneOrMore::One(text) => std::slice::from_ref(text),
        OneOrMore::More(list) => list,
    };
    let wrong = |what: String| (from.span(), what);
    let mut met = BTreeSet::new();
    let mut found = Vec::new();
    for text in list {
        let source: Source = text.parse().map_err(|error: NoPlaces| wrong(error.to_string()))?;
        let Some(stage) = known(&source.stage).filter(|stage| *stage < number) else {
            return Err(wrong(format!("no stage {:?} stands before this one", source.stage)));
        };
        let places = match source.places {
            Places::These(places) => places,
            Places::Tied if list.len() == 1 => return Ok(Sources::Tied(stage)),
            Places::Tied => {
                return Err(wrong("a playoff takes those who are tied in one stage".into()));
            }
            Places::Best | Places::Odd | Places::Even => {
                return Err(wrong(format!(
                    "an event that is played names its places, such as \"{}:1..3\"",
                    source.stage
                )));
            }
        };
        if let Some(place) = places.iter().find(|place| !met.insert((stage, **place))) {
            return Err(wrong(format!("place {place} of {} is there twice", source.stage)));
        }
        found.push((stage, places));
    }
    Ok(Sources::Places(found))
}

fn stage(
    one: RawStage,
    here: &Path,
    taken: Taken,
    is_crash_limited: bool,
    before: &mut Before<'_>,
) -> Result<Stage, Mistake> {
    let number = before.stages.len();
    if before.stages.iter().any(|stage| slug(&stage.name) == slug(one.name.get_ref())) {
        return Err((one.name.span(), "another stage is called the same".into()));
    }
    if slug(one.name.get_ref()).is_empty() {
        return Err((one.name.span(), "the name needs a letter or digit".into()));
    }
    if let Some(variant) = one.variant.as_ref().filter(|variant| *variant.get_ref() != "standard") {
        let what = "`event run` plays the classical start position only; `event replay-games` knows Chess960";
        return Err((variant.span(), what.into()));
    }
    let known = |name: &str| before.stages.iter().position(|stage| stage.name == name);
    let (from, breaks_ties_of) = match sources(&one, number, known)? {
        Sources::Places(from) => (from, None),
        Sources::Tied(stage) => (Vec::new(), Some(stage)),
    };
    let engines = engines(one.engines.as_ref(), before)?;
    let goes_on = from.is_empty() && engines.is_empty();
    let draw = drawn(&one, number, goes_on || !from.is_empty())?;
    let span = one.format.span();
    let format = format(one.format)?;
    let seats = match before.stages.last() {
        _ if let Some(of) = breaks_ties_of => {
            let is_alone = engines.is_empty();
            contenders(&format, is_alone, &before.stages[of])
                .map_err(|what| (span.clone(), what))?
        }
        Some(last) if goes_on => last.promote,
        None if goes_on => before.entries.len(),
        _ => from.iter().map(|(_, places)| places.len()).sum::<usize>() + engines.len(),
    };
    refused(&format, seats, is_crash_limited).map_err(|what| (span.clone(), what))?;
    let policy = match (one.book_policy.as_ref().map(|policy| *policy.get_ref()), &format) {
        (Some(RawPolicy::FirstBookless), Format::Of(_)) => {
            let span = one.book_policy.map_or(span, |policy| policy.span());
            let what = "only double-round-robins have a first one without openings; write \"each\" or \"none\"";
            return Err((span, what.into()));
        }
        (Some(RawPolicy::FirstBookless), _) => BookPolicy::FirstBookless,
        (Some(RawPolicy::Each), _) => BookPolicy::EachDouble,
        (Some(RawPolicy::None), _) => BookPolicy::None,
        (None, _) if one.book.is_some() => BookPolicy::EachDouble,
        (None, _) => {
            let what = "name the openings, book = \"FILE\", or write book-policy = \"none\"";
            return Err((span, what.into()));
        }
    };
    let last = taken.last;
    let (least, most) = match &format {
        Format::Of(format::Format::Playoff(playoff)) if breaks_ties_of.is_some() => {
            let spots = playoff.spots.get() as usize;
            (spots, spots)
        }
        _ => (usize::from(!taken.is_played_off), seats),
    };
    let promote = match &one.promote {
        Some(promote) => *promote.get_ref(),
        None => last.max(least),
    };
    if promote < least || promote > most || promote < last {
        let what = if promote < last && last <= most {
            format!("a later stage takes place {last} of this one; {promote} go on")
        } else if least == most {
            format!("{least} go on from a playoff for {}", counted(least, "spot"))
        } else {
            format!("from {least} to {most} of this stage's engines can go on, or win it")
        };
        return Err((one.promote.map_or(span, |promote| promote.span()), what));
    }
    let chain = match &one.tie_breaks {
        Some(ties) => match ties.get_ref() {
            RawTies::Named(name) => chain(name, ties.span())?,
            _ => ties_of(ties)?,
        },
        None if matches!(&format, Format::Of(format) if format.ranks()) => {
            chain("4k", span.clone())?
        }
        None => {
            let what = "what breaks ties? write tie-breaks = \"4k\", \"swiss\" or another chain, or a list of criteria";
            return Err((span, what.into()));
        }
    };
    let updates = one.updates.as_ref().is_some_and(|updates| *updates.get_ref());
    if let (0, true, Some(updates)) = (number, updates, &one.updates) {
        let what = "entries come to the first stage through the gate anyway; updates = true is for later ones";
        return Err((updates.span(), what.into()));
    }
    let stage = Stage {
        updates: if updates { Updates::Allowed } else { Updates::Forbidden },
        format,
        book: one.book.map(|book| here.join(book)),
        policy,
        draw,
        from,
        breaks_ties_of,
        engines,
        seats,
        chain,
        promote,
        name: one.name.into_inner(),
    };
    if stage.openings() > 0 && stage.book.is_none() {
        let what = format!(
            "a book of {} is needed, and none is named; add book = \"FILE\"",
            counted(stage.openings(), "opening")
        );
        return Err((one.book_policy.map_or(span, |policy| policy.span()), what));
    }
    Ok(stage)
}

/// The fewest that play among those who are tied in a stage: one more than there are spots.
fn contenders(format: &Format, is_alone: bool, of: &Stage) -> Result<usize, String> {
    let Format::Of(format::Format::Playoff(playoff)) = format else {
        return Err("only a playoff is played by those who are tied".into());
    };
    let is_by_points = match &of.format {
        Format::DoubleRoundRobins(_) => true,
        Format::Pairs(_) => false,
        Format::Of(format) => !format.ranks(),
    };
    if !is_by_points {
        return Err(format!("{} has no ties on points that a playoff could break", of.name));
    }
    if !is_alone {
        return Err("nobody begins in a playoff of those who are tied".into());
    }
    let contenders = playoff.spots.get() as usize + 1;
    if contenders > of.seats {
        return Err(format!(
            "a playoff for {}, and only {} play in {}",
            counted(contenders - 1, "spot"),
            of.seats,
            of.name
        ));
    }
    Ok(contenders)
}

/// Who begins in a stage: entries of the event, each in one stage.
fn engines(
    raw: Option<&Spanned<Vec<String>>>,
    before: &mut Before<'_>,
) -> Result<Vec<String>, Mistake> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    for name in raw.get_ref() {
        if !before.entries.iter().any(|entry| entry.name == *name) {
            let near = nearest(name, before.entries.iter().map(|entry| entry.name.as_str()));
            let near = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
            return Err((
                raw.span(),
                format!("no [[entry]] or [[engine]] is called {name:?}{near}"),
            ));
        }
        if !before.named.insert(name.clone()) {
            return Err((raw.span(), format!("{name} begins in a stage already")));
        }
    }
    Ok(raw.get_ref().clone())
}

/// Who sits where: by seeds where a stage begins with engines of its own, else as stages before ranked them.
fn drawn(one: &RawStage, number: usize, is_from_before: bool) -> Result<Draw, Mistake> {
    let is_from_before = is_from_before && number > 0;
    let Some(draw) = &one.draw else {
        return Ok(if is_from_before { Draw::Ranking } else { Draw::Seeds });
    };
    let is_by_ranking = matches!(draw.get_ref(), Draw::Ranking | Draw::ReversedRanking);
    if is_by_ranking != is_from_before && *draw.get_ref() != Draw::Alphabetical {
        let what = "the first stage is drawn by \"seeds\" or \"alphabetical\", later ones by \"ranking\" or \
                    \"reversed-ranking\" of the one before";
        return Err((draw.span(), what.into()));
    }
    Ok(*draw.get_ref())
}

/// Why a format is not played by so many.
fn refused(format: &Format, seats: usize, is_crash_limited: bool) -> Result<(), String> {
    match format {
        Format::Pairs(_) if seats != 2 => {
            return Err(format!("a match of pairs is between two engines, and here are {seats}"));
        }
        Format::Of(of) => {
            if let Some(what) = of.refusal(seats) {
                return Err(what);
            }
            if is_crash_limited && !matches!(of, format::Format::RoundRobin(_)) {
                return Err("crash-limit is for round robins: a disqualification would undo rounds that follow from \
                            its games".into());
            }
        }
        Format::DoubleRoundRobins(_) | Format::Pairs(_) if seats < 2 => {
            return Err("one engine cannot play a stage".into());
        }
        Format::DoubleRoundRobins(_) | Format::Pairs(_) => {}
    }
    let games = format.games(seats);
    if games > MOST_GAMES {
        return Err(format!("{games} games are more than anybody plays; {MOST_GAMES} at most"));
    }
    Ok(())
}
