//! The stages of an event file that is played.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use toml::Spanned;

use super::super::format::Format;
use super::super::journal::record::Previous;
use super::super::plan::formats::{RawFormat, chain, ties_of};
use super::super::schedule::BookPolicy;
use super::super::stage::{PlacesTaken, SeatDraw, Stage, StageFormat, Updates};
use super::super::terms::{StageTerms, plain};
use super::super::tiebreak::TiebreakChain;
use super::counted::format;
use super::names::{self, slug};
use super::raw_stage::{RawBooks, RawStage};
use super::sources::{self, Events, Sources, sources};
use super::{EventEntry, RawPolicy};
use crate::game::clock::TimeControl;
use crate::model::game::variant::Variant;
use crate::model::source_place::{TextMistake, did_you_mean};
use crate::model::words::{counted, here_are};

/// The most games of a stage: far beyond any event, and few enough to be laid out.
const MOST_GAMES: u64 = 1_000_000;

/// The terms of each stage that does not say otherwise.
pub(super) struct StageDefaults {
    pub(super) terms: StageTerms,
    pub(super) crash_limit: Option<NonZeroU32>,
    pub(super) variant: Option<Spanned<Variant>>,
}

/// The stages before one, as far as it needs them.
struct Before<'a> {
    stages: &'a [Stage],
    entries: &'a [EventEntry],
    events: &'a Events,
    /// The entries that stages before have named.
    named: BTreeSet<String>,
}

impl Before<'_> {
    /// Notes that an entry begins in a stage, by the text at `span`; it may begin in one only.
    fn begins(&mut self, name: &str, span: Range<usize>) -> Result<(), TextMistake> {
        if !self.named.insert(name.to_owned()) {
            return Err((span, format!("{name} begins in a stage already")));
        }
        Ok(())
    }
}

pub(super) fn read(
    raw: Spanned<Vec<RawStage>>,
    here: &Path,
    entries: &[EventEntry],
    defaults: &StageDefaults,
    own_journal: Option<&Path>,
) -> Result<(Vec<Stage>, Vec<Previous>), TextMistake> {
    let span = raw.span();
    let raw = raw.into_inner();
    let events = sources::events(&raw, here, own_journal)?;
    let taken = taken(&raw, &events, entries)?;
    let mut stages: Vec<Stage> = Vec::new();
    let mut named = BTreeSet::new();
    for (one, taken) in raw.into_iter().zip(taken) {
        let mut before = Before { stages: &stages, entries, events: &events, named };
        let stage = stage(one, here, taken, defaults, &mut before)?;
        named = before.named;
        stages.push(stage);
    }
    give(&mut stages);
    let Some(first) = stages.first() else {
        return Err((span, "an event needs a [[stage]]".into()));
    };
    // The places that engines of a lost journal had are not known any more: one of them may play nowhere.
    let idle = entries.iter().find(|entry| events.lost.is_none() && !named.contains(&entry.name));
    if let Some(entry) = idle.filter(|_| !first.engines.is_empty() || !first.previous.is_empty()) {
        return Err((
            span,
            format!("{} plays in no stage; name it in the `engines` of one", entry.name),
        ));
    }
    Ok((stages, events.played.into_values().map(|played| played.kept).collect()))
}

/// Tells each stage which of its places later ones take.
fn give(stages: &mut [Stage]) {
    for number in 1..stages.len() {
        let stage = &stages[number];
        let by_ranking = match stage.draw {
            SeatDraw::Ranking | SeatDraw::ReversedRanking => true,
            SeatDraw::Seeds | SeatDraw::Alphabetical | SeatDraw::Shuffle(_) => false,
        };
        let takes = match &stage.from[..] {
            [] if stage.begins_alone() || stage.breaks_ties_of.is_some() => continue,
            [] => vec![(number - 1, (1..=stages[number - 1].promote).collect())],
            from => from.to_vec(),
        };
        for (before, places) in takes {
            stages[before].taken.push(PlacesTaken { places, by_ranking });
        }
    }
}

/// The places of a stage that later stages take.
#[derive(Clone, Default)]
struct Taken {
    /// The last place.
    last: usize,
    /// The text that takes it.
    at: Range<usize>,
    /// True if a playoff breaks its ties.
    is_played_off: bool,
}

fn taken(
    raw: &[RawStage],
    events: &Events,
    entries: &[EventEntry],
) -> Result<Vec<Taken>, TextMistake> {
    let mut taken = vec![Taken::default(); raw.len()];
    for (number, one) in raw.iter().enumerate() {
        let known =
            |stage: &str| raw[..number].iter().position(|before| before.name.get_ref() == stage);
        let found = sources(one, number, known, events, entries)?;
        if let Some(stage) = found.tied {
            taken[stage].is_played_off = true;
        }
        for (stage, places) in found.places {
            let last = places.into_iter().max().unwrap_or(0);
            if last > taken[stage].last {
                taken[stage].last = last;
                taken[stage].at = one.from.as_ref().map_or(0..0, Spanned::span);
            }
        }
    }
    Ok(taken)
}

/// Reads a stage, of which later ones take the places that are given.
fn stage(
    one: RawStage,
    here: &Path,
    taken: Taken,
    defaults: &StageDefaults,
    before: &mut Before<'_>,
) -> Result<Stage, TextMistake> {
    let number = before.stages.len();
    names::checked(&one.name, names::no_name)?;
    if before.stages.iter().any(|stage| slug(&stage.name) == slug(one.name.get_ref())) {
        return Err((one.name.span(), "another stage is called the same".into()));
    }
    let variant = variant(&one, defaults, before.entries)?;
    let known = |name: &str| before.stages.iter().position(|stage| stage.name == name);
    let sources = sources(&one, number, known, before.events, before.entries)?;
    for name in &sources.previous {
        before.begins(name, one.from.as_ref().map_or(one.name.span(), Spanned::span))?;
    }
    let engines = engines(one.engines.as_ref(), before)?;
    let begins = sources.previous.len() + engines.len();
    let is_from_stages = number > 0 && (begins == 0 || !sources.places.is_empty());
    let draw = drawn(&one, is_from_stages, !sources.previous.is_empty())?;
    let clocks_after = clocks_after(one.format.get_ref())?;
    let format = format(one.format.clone())?;
    let seats =
        seats(&format, &sources, begins, before).map_err(|what| (one.format.span(), what))?;
    let crash_limit = crash_limit(&one, &format, defaults)?;
    let own_terms = one.terms.as_ref().map(|own| defaults.terms.with(own.get_ref()));
    let terms = own_terms.unwrap_or(Ok(defaults.terms))?;
    let policy = book_policy(&one, &format, variant)?;
    let allowed = match &format {
        StageFormat::Of(Format::Playoff(playoff)) if sources.tied.is_some() => {
            let spots = playoff.spots.get() as usize;
            spots..=spots
        }
        _ => usize::from(!taken.is_played_off)..=seats,
    };
    let promote = promote(&one, taken, seats, allowed)?;
    let chain = tie_breaks(&one, &format)?;
    let books = one.book.as_ref().map(|book| RawBooks::files(book, &format, seats));
    let books = books.unwrap_or(Ok(Vec::new()))?;
    let stage = Stage {
        updates: updates(&one, number)?,
        format,
        books: books.into_iter().map(|book| here.join(book)).collect(),
        policy,
        variant,
        start_seed: one.start_seed.map(Spanned::into_inner),
        draw,
        from: sources.places,
        breaks_ties_of: sources.tied,
        previous: sources.previous,
        passed_over: sources.passed_over,
        engines,
        seats,
        chain,
        promote,
        taken: Vec::new(),
        terms,
        clocks_after,
        crash_limit,
        name: one.name.into_inner(),
    };
    if stage.openings() > 0 && stage.books.is_empty() && stage.start_seed.is_none() {
        let what = format!(
            "a book of {} is needed, and none is named; add book = \"FILE\"",
            counted(stage.openings(), "opening")
        );
        return Err((one.book_policy.map_or(one.format.span(), |policy| policy.span()), what));
    }
    Ok(stage)
}

/// Returns the number of engines that play in a stage in which so many begin; the error says why its format cannot be
/// played by them.
fn seats(
    format: &StageFormat,
    sources: &Sources,
    begins: usize,
    before: &Before<'_>,
) -> Result<usize, String> {
    let goes_on = sources.places.is_empty() && begins == 0;
    let seats = match before.stages.last() {
        _ if let Some(of) = sources.tied => contenders(format, begins == 0, &before.stages[of])?,
        Some(last) if goes_on => last.promote,
        None if goes_on => before.entries.len(),
        _ => sources.places.iter().map(|(_, places)| places.len()).sum::<usize>() + begins,
    };
    refused(format, seats)?;
    Ok(seats)
}

/// Reads the crash limit of a stage. The default is the event's, where the stage's format has a disqualification.
fn crash_limit(
    one: &RawStage,
    format: &StageFormat,
    defaults: &StageDefaults,
) -> Result<Option<NonZeroU32>, TextMistake> {
    let without = format.without_disqualification();
    let Some(terms) = one.terms.as_ref().filter(|terms| terms.get_ref().crash_limit.is_some())
    else {
        return Ok(defaults.crash_limit.filter(|_| without.is_none()));
    };
    match without {
        Some(why) => Err((terms.span(), format!("no crash-limit here: {why}"))),
        None => Ok(terms.get_ref().crash_limit),
    }
}

/// Reads which games of a stage begin from openings. The default is all of them, where the stage names their source.
fn book_policy(
    one: &RawStage,
    format: &StageFormat,
    variant: Variant,
) -> Result<BookPolicy, TextMistake> {
    let Some(policy) = &one.book_policy else {
        if one.book.is_some() || one.start_seed.is_some() {
            return Ok(BookPolicy::EachDouble);
        }
        let what = match variant {
            Variant::Standard => {
                "name the openings, book = \"FILE\", or write book-policy = \"none\""
            }
            _ => {
                "name the start positions, book = \"FILE\", or have them drawn by lot: start-seed = 7"
            }
        };
        return Err((one.format.span(), what.into()));
    };
    match (policy.get_ref(), format) {
        (RawPolicy::FirstBookless, StageFormat::Of(_)) => {
            let what = "only double-round-robins have a first one without openings; write \"each\" or \"none\"";
            Err((policy.span(), what.into()))
        }
        (RawPolicy::FirstBookless | RawPolicy::None, _) if variant.is_chess960() => {
            let what = "each game of Chess960 begins from a start position: book-policy = \"each\"";
            Err((policy.span(), what.into()))
        }
        (RawPolicy::FirstBookless, _) => Ok(BookPolicy::FirstBookless),
        (RawPolicy::Each, _) => Ok(BookPolicy::EachDouble),
        (RawPolicy::None, _) => Ok(BookPolicy::None),
    }
}

/// Reads how many go on from a stage with so many seats. The default is the fewest that are allowed and enough for the
/// places that later stages take.
fn promote(
    one: &RawStage,
    taken: Taken,
    seats: usize,
    allowed: RangeInclusive<usize>,
) -> Result<usize, TextMistake> {
    let (least, most, last) = (*allowed.start(), *allowed.end(), taken.last);
    if last > most {
        let what = format!(
            "{} has no place {last}: {} play in it",
            one.name.get_ref(),
            counted(seats, "engine")
        );
        return Err((taken.at, what));
    }
    let promote = one.promote.as_ref().map_or(last.max(least), |promote| *promote.get_ref());
    if promote >= last && allowed.contains(&promote) {
        return Ok(promote);
    }
    let what = if promote < last {
        format!("a later stage takes place {last} of this one; {promote} go on")
    } else if least == most {
        format!("{least} go on from a playoff for {}", counted(least, "spot"))
    } else {
        format!("from {least} to {most} of this stage's engines can go on, or win it")
    };
    Err((one.promote.as_ref().map_or(one.format.span(), Spanned::span), what))
}

/// Reads the tie-breaks of a stage. A format that ranks the engines itself may leave them out.
fn tie_breaks(one: &RawStage, format: &StageFormat) -> Result<&'static TiebreakChain, TextMistake> {
    match &one.tie_breaks {
        Some(ties) => ties_of(ties),
        None if format.ranks() => chain("4k", one.format.span()),
        None => {
            let what = "what breaks ties? write tie-breaks = \"4k\", \"swiss\" or another chain, or a list of criteria";
            Err((one.format.span(), what.into()))
        }
    }
}

/// Reads whether engines may be updated before a stage.
fn updates(one: &RawStage, number: usize) -> Result<Updates, TextMistake> {
    match one.updates.as_ref().filter(|updates| *updates.get_ref()) {
        Some(updates) if number == 0 => {
            let what = "entries come to the first stage through the gate anyway; updates = true is for later ones";
            Err((updates.span(), what.into()))
        }
        Some(_) => Ok(Updates::Allowed),
        None => Ok(Updates::Forbidden),
    }
}

/// The clocks that the further parts of a match have of their own.
fn clocks_after(format: &RawFormat) -> Result<Vec<Option<TimeControl>>, TextMistake> {
    match format {
        RawFormat::Match(of) => {
            of.then.iter().map(|then| then.time_control.as_ref().map(plain).transpose()).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// The kind of chess of a stage.
fn variant(
    one: &RawStage,
    defaults: &StageDefaults,
    entries: &[EventEntry],
) -> Result<Variant, TextMistake> {
    let own = one.variant.as_ref().or(defaults.variant.as_ref());
    let variant = own.map_or(Variant::Standard, |variant| *variant.get_ref());
    if let (Some(own), true) = (own, variant.is_chess960())
        && let Some(entry) = entries.iter().find(|entry| entry.trusted.is_none())
    {
        let what = format!(
            "{} is an [[entry]]: it passes a gate for classical chess and may be sent only what rule 7.9 lists, which has no \
             start positions and no UCI_Chess960; Chess960 is for an [[engine]] that you trust",
            entry.name
        );
        return Err((own.span(), what));
    }
    if let Some(seed) = &one.start_seed {
        if !variant.is_chess960() {
            let what = "start-seed draws start positions of Chess960: variant = \"chess960\"";
            return Err((seed.span(), what.into()));
        }
        if one.book.is_some() {
            let what = "`book` and `start-seed` both say where games begin; keep one of them";
            return Err((seed.span(), what.into()));
        }
    }
    Ok(variant)
}

/// The fewest that play among those who are tied in a stage: one more than there are spots.
fn contenders(format: &StageFormat, is_alone: bool, of: &Stage) -> Result<usize, String> {
    let StageFormat::Of(Format::Playoff(playoff)) = format else {
        return Err("only a playoff is played by those who are tied".into());
    };
    let is_by_points = match &of.format {
        StageFormat::DoubleRoundRobins(_) => true,
        StageFormat::Pairs(_) => false,
        StageFormat::Of(format) => !format.ranks(),
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

/// Reads the engines that begin in a stage: entries of the event, each in one stage.
fn engines(
    raw: Option<&Spanned<Vec<String>>>,
    before: &mut Before<'_>,
) -> Result<Vec<String>, TextMistake> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    for name in raw.get_ref() {
        if !before.entries.iter().any(|entry| entry.name == *name) {
            let near = did_you_mean(name, before.entries.iter().map(|entry| entry.name.as_str()));
            return Err((
                raw.span(),
                format!("no [[entry]] or [[engine]] is called {name:?}{near}"),
            ));
        }
        before.begins(name, raw.span())?;
    }
    Ok(raw.get_ref().clone())
}

/// Reads the seating of a stage. The default is by seeds where the stage begins with engines of its own, else by the
/// ranking of the stages or of the events before.
fn drawn(
    one: &RawStage,
    is_from_stages: bool,
    is_from_events: bool,
) -> Result<SeatDraw, TextMistake> {
    let is_ranked = is_from_stages || is_from_events;
    let Some(draw) = &one.draw else {
        return Ok(if is_ranked { SeatDraw::Ranking } else { SeatDraw::Seeds });
    };
    let is_by_ranking = matches!(draw.get_ref(), SeatDraw::Ranking | SeatDraw::ReversedRanking);
    let is_for_all = matches!(draw.get_ref(), SeatDraw::Alphabetical | SeatDraw::Shuffle(_));
    let fits = if is_by_ranking { is_ranked } else { is_for_all || !is_from_stages };
    if !fits {
        let what = "the first stage is drawn by \"seeds\", later ones and those of engines that come `from` another event by \
                    \"ranking\" or \"reversed-ranking\" of the stage or the event before, and all of them \"alphabetical\" or by lot, such as { shuffle = 7 }";
        return Err((draw.span(), what.into()));
    }
    Ok(*draw.get_ref())
}

/// Checks that a format can be played by so many engines; the error says why not.
fn refused(format: &StageFormat, seats: usize) -> Result<(), String> {
    match format {
        StageFormat::Pairs(_) if seats != 2 => {
            let here = here_are(seats);
            return Err(format!("a match of pairs is between two engines, and {here}"));
        }
        StageFormat::Of(of) => {
            if let Some(what) = of.refusal(seats) {
                return Err(what);
            }
        }
        StageFormat::DoubleRoundRobins(_) | StageFormat::Pairs(_) if seats < 2 => {
            return Err("one engine cannot play a stage".into());
        }
        StageFormat::DoubleRoundRobins(_) | StageFormat::Pairs(_) => {}
    }
    let games = format.games(seats);
    if games > MOST_GAMES {
        return Err(format!("{games} games are more than anybody plays; {MOST_GAMES} at most"));
    }
    Ok(())
}
