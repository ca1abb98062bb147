//! A stage: who stands where, each result with its game, and the schedule.

use std::time::Duration;

use maud::{Markup, html};

use super::result_link::spoken;
use super::shell::moment;
use super::terms::terms;
use super::{Site, SiteKind, game, path, word};
use crate::event::broadcast::{
    self, BroadcastBracket, GameKey, GameState, Slot, StageTable, progress, timetable,
};
use crate::event::format::Format as OtherFormat;
use crate::event::ledger::StageState;
use crate::event::stage::{Stage, StageFormat};
use crate::event::standings::Cell;
use crate::model::words::{all, counted};
use crate::view::standings::{self, GameLink};
use crate::view::wide_table::wide_table;

/// The most games of a stage that are shown before it begins: a page is small before the first game.
const FIRST: usize = 120;

/// The phase of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StagePhase {
    NotBegun,
    UnderWay,
    Over,
}

impl StagePhase {
    pub(super) fn of(site: &Site<'_>, number: usize) -> StagePhase {
        match site.broadcast.ledger.stages.get(number) {
            None => StagePhase::NotBegun,
            Some(stage) if stage.outcome.is_some() => StagePhase::Over,
            Some(_) => StagePhase::UnderWay,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            StagePhase::NotBegun => "not begun",
            StagePhase::UnderWay => "under way",
            StagePhase::Over => "over",
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            StagePhase::NotBegun => "waits",
            StagePhase::UnderWay => "plays",
            StagePhase::Over => "over",
        }
    }
}

pub(super) fn section(site: &Site<'_>, number: usize, stage: &Stage) -> Markup {
    let phase = StagePhase::of(site, number);
    let id = format!("stage-{}", number + 1);
    html! {
        section id=(id) aria-labelledby={ (id) "-name" } data-part=(id) {
            h2 id={ (id) "-name" } {
                (word(&stage.name)) " " span class={ "state " (phase.class()) } { (phase.word()) }
            }
            @match site.broadcast.table(site.config, number) {
                Some(table) => (begun(site, number, stage, &table)),
                None => (to_come(site, number, stage)),
            }
        }
    }
}

fn begun(site: &Site<'_>, number: usize, stage: &Stage, table: &StageTable) -> Markup {
    let (played, planned) = progress(site.config, site.broadcast, number);
    let state = site.broadcast.ledger.stages.get(number);
    let outcome = state.and_then(|state| state.outcome.as_ref());
    let behind = site.config.behind(number);
    let slots = timetable(site.config, site.broadcast, number, site.now);
    let bracket = broadcast::bracket(site.config, site.broadcast, number);
    let rounds = broadcast::rounds(site.config, site.broadcast, number, &slots);
    let is_left_out = state.is_some_and(|state| state.started.seats.is_empty());
    html! {
        p.soft { (terms(site, number, stage)) }
        p {
            @if is_left_out { "No game was needed" }
            @else if planned == 0 { "No game is paired yet" }
            @else { (played) " of " (counted(planned, "game")) " played" }
            @if let Some(outcome) = outcome { "; " strong { (word(&outcome.in_words(behind))) } }
            "."
            @if outcome.is_none() && played == planned && let Some(tied) = tied(stage, table, state) {
                " " strong { (word(&all(&tied))) " are tied, and the organisers decide." }
            }
            @if let Some(state) = state.filter(|state| !state.started.through.is_empty()) {
                " " (word(&all(&state.started.through))) " did not have to play."
            }
        }
        @if let Some(bracket) = &bracket {
            (places(stage, table, state))
            (super::bracket::section(site, bracket, &slots))
        } @else if !table.standings.rows.is_empty() {
            (standing(site, number, table))
        }
        @if let Some(rounds) = &rounds { (super::pairings::section(site, rounds, &slots)) }
        @if !slots.is_empty() { (schedule(site, &groups(stage, bracket.as_ref(), &slots))) }
    }
}

/// The entrants whose tie is left to the organisers.
fn tied(stage: &Stage, table: &StageTable, state: Option<&StageState>) -> Option<Vec<String>> {
    // An engine that is disqualified plays no more.
    let state = state.filter(|state| stage.is_played(state))?;
    let ranking = stage.ranking(&table.standings, state);
    stage.open_tie(&table.standings, &ranking)
}

/// The places after a bracket: those who left it at the same time share one.
fn places(stage: &Stage, table: &StageTable, state: Option<&StageState>) -> Markup {
    let Some(state) = state.filter(|state| state.outcome.is_some()) else { return html! {} };
    let ranking = stage.ranking(&table.standings, state);
    let mut next = 1;
    let placed = ranking.iter().map(|group| {
        let first = next;
        next += group.len();
        (first, next - 1, all(group))
    });
    html! {
        h3 { "Places" }
        ul.places {
            @for (first, last, names) in placed {
                li {
                    @if first == last { (first) } @else { (first) " to " (last) }
                    ": " (word(&names))
                }
            }
        }
    }
}

/// The standings, with a link from each result to its game.
fn standing(site: &Site<'_>, stage: usize, table: &StageTable) -> Markup {
    let link = |cell: &Cell| {
        let place = (cell.game as usize).checked_sub(1)?;
        let at = (*table.places.get(place)?)?;
        let key = GameKey { stage, at };
        let game = site.broadcast.games.get(&key).filter(|_| site.kind != SiteKind::Alone)?;
        Some(GameLink { href: format!("{}.html", path(key)), label: spoken(game) })
    };
    standings::section(&table.standings, &html! { h3 { "Crosstable" } }, &link)
}

fn to_come(site: &Site<'_>, number: usize, stage: &Stage) -> Markup {
    let stages = crate::event::outlook::outlook(site.config);
    let slots = timetable(site.config, site.broadcast, number, site.now);
    let first = &slots[..slots.len().min(FIRST)];
    let rest = slots.len() - first.len();
    html! {
        p.soft { (terms(site, number, stage)) }
        @if let Some(outlook) = stages.get(number) {
            p {
                @if outlook.is_conditional { "At least " }
                (counted(outlook.engines, "engine")) ", " (counted(outlook.games, "game")) "."
            }
        }
        @if !slots.is_empty() { (schedule(site, &groups(stage, None, first))) }
        @if rest > 0 { p.soft { "And " (counted(rest, "game")) " more." } }
    }
}

/// Games of a schedule that belong together.
struct Group<'a> {
    title: String,
    slots: &'a [Slot],
}

/// The games by round; by match in a bracket; all together in a match, whose every game is a round.
fn groups<'a>(
    stage: &Stage,
    bracket: Option<&BroadcastBracket>,
    slots: &'a [Slot],
) -> Vec<Group<'a>> {
    if stage.format.is_match() {
        return vec![Group { title: "Games".into(), slots }];
    }
    let is_knockout = matches!(stage.format, StageFormat::Of(OtherFormat::Knockout(_)));
    let round = |slot: &Slot| slot.key.at.round;
    let rounds = slots.chunk_by(|a, b| round(a) == round(b));
    let title = |number: u32| {
        let mut matches = bracket?.levels.iter().flat_map(|level| &level.matches);
        Some(matches.find(|one| one.number == number)?.title.clone())
    };
    rounds
        .map(|slots| {
            let number = slots.first().map_or(0, round);
            // The rounds of a bracket are its matches.
            let word = if is_knockout { "Match" } else { "Round" };
            let title = title(number).unwrap_or_else(|| format!("{word} {number}"));
            Group { title, slots }
        })
        .collect()
}

/// The games in their order: those played and under way with their addresses, those to come with their expected
/// times.
fn schedule(site: &Site<'_>, groups: &[Group<'_>]) -> Markup {
    let is_open = |group: &Group<'_>| group.slots.iter().any(|slot| site.is_open(slot));
    let head = html! {
        th scope="col" { "Game" } th scope="col" { "White" } th scope="col" { "Black" }
        th scope="col" { "Result or expected time" } th.r scope="col" { "Moves" }
    };
    html! {
        h3 { "Schedule" }
        @for group in groups {
            details.round open[is_open(group) || groups.len() <= 2] {
                summary { (group.title) ": " (state(site, group.slots)) }
                (wide_table(&head, &html! { @for slot in group.slots { (row(site, slot)) } }))
            }
        }
    }
}

fn state(site: &Site<'_>, round: &[Slot]) -> String {
    let due = round.iter().filter(|slot| slot.state != GameState::Begun).count();
    let open = round.iter().filter(|slot| site.is_open(slot)).count();
    match (due, open) {
        (0, 0) => format!("{} played", counted(round.len(), "game")),
        (due, _) if due == round.len() => format!("{} to come", counted(due, "game")),
        _ => "under way".to_owned(),
    }
}

fn row(site: &Site<'_>, slot: &Slot) -> Markup {
    let game = slot.game(site.broadcast);
    let moves = game.map(|game| game.length().div_ceil(2));
    html! {
        tr class=[game.filter(|game| game.is_open()).map(|_| "plays")] {
            th scope="row" {
                @if game.is_some() && site.kind != SiteKind::Alone {
                    a href={ (path(slot.key)) ".html" } { (slot.key.at) }
                } @else { (slot.key.at) }
            }
            td { (word(&slot.white)) }
            td { (word(&slot.black)) }
            td {
                @match (game, slot.state) {
                    (Some(game), _) => (game::brief(site, game)),
                    (None, state) => (expected(state)),
                }
            }
            td.r { @if let Some(moves) = moves { (moves) } }
        }
    }
}

/// The time at which a game to come is expected.
pub(super) fn expected(state: GameState) -> Markup {
    match state {
        GameState::Due(Some(at)) => html! { "about " (moment(at)) },
        GameState::DueAfter(after) if after.is_zero() => html! { "at the beginning" },
        GameState::DueAfter(after) => {
            let minutes = Duration::from_secs(after.as_secs() / 60 * 60);
            let exact =
                if minutes.is_zero() { Duration::from_secs(after.as_secs()) } else { minutes };
            html! { "about " (humantime::format_duration(exact)) " after the beginning" }
        }
        GameState::Due(None) | GameState::Begun => html! { "to come" },
    }
}
