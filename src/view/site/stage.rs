//! A stage: who stands where, each result with its game, and the schedule.

use maud::{Markup, PreEscaped, html};

use super::shell::moment;
use super::{Kind, Site, game, path, word};
use crate::event::broadcast::{GameKey, Slot, State, Table, progress, timetable};
use crate::event::stage::Stage;
use crate::event::standings::Cell;
use crate::model::words::counted;
use crate::view::standings;

/// How far a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    NotBegun,
    UnderWay,
    Over,
}

impl Reached {
    pub(super) fn of(site: &Site<'_>, number: usize) -> Reached {
        match site.broadcast.ledger.stages.get(number) {
            None => Reached::NotBegun,
            Some(stage) if stage.outcome.is_some() => Reached::Over,
            Some(_) => Reached::UnderWay,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Reached::NotBegun => "not begun",
            Reached::UnderWay => "under way",
            Reached::Over => "over",
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            Reached::NotBegun => "waits",
            Reached::UnderWay => "plays",
            Reached::Over => "over",
        }
    }
}

/// The section of a stage.
pub(super) fn section(site: &Site<'_>, number: usize, stage: &Stage) -> Markup {
    let reached = Reached::of(site, number);
    let id = format!("stage-{}", number + 1);
    html! {
        section id=(id) aria-labelledby={ (id) "-name" } data-part=(id) {
            h2 id={ (id) "-name" } {
                (word(&stage.name)) " " span class={ "state " (reached.class()) } { (reached.word()) }
            }
            @match site.broadcast.table(site.config, number) {
                Some(table) => (begun(site, number, stage, &table)),
                None => (to_come(site, number)),
            }
        }
    }
}

fn begun(site: &Site<'_>, number: usize, stage: &Stage, table: &Table) -> Markup {
    let (played, planned) = progress(site.config, site.broadcast, number);
    let outcome = site.broadcast.ledger.stages.get(number).and_then(|state| state.outcome.as_ref());
    let is_last = number + 1 == site.config.stages.len();
    let slots = timetable(site.config, site.broadcast, number, site.now);
    html! {
        p {
            (played) " of " (counted(planned, "game")) " played"
            @match outcome {
                Some(outcome) => { "; " strong { (word(&outcome.in_words(is_last))) } },
                None if is_last => { "; the first wins" },
                None => { "; the first " (stage.promote) " go on" },
            }
            ". Ties are broken by " (criteria(stage)) "."
        }
        @if !table.standings.rows.is_empty() { (PreEscaped(standing(site, number, table))) }
        (schedule(site, &slots))
    }
}

fn criteria(stage: &Stage) -> String {
    let titles = stage.chain.criteria.iter().map(|criterion| criterion.title());
    titles.collect::<Vec<_>>().join(", ")
}

/// The standings, with a link from each result to its game.
fn standing(site: &Site<'_>, stage: usize, table: &Table) -> String {
    let link = |cell: &Cell| {
        let place = (cell.game as usize).checked_sub(1)?;
        let at = (*table.places.get(place)?)?;
        (site.kind != Kind::Alone).then(|| format!("{}.html", path(GameKey { stage, at })))
    };
    let mut text = String::new();
    standings::section(&mut text, &table.standings, "h3", &link);
    text
}

fn to_come(site: &Site<'_>, number: usize) -> Markup {
    let stages = crate::event::outlook::outlook(site.config);
    html! {
        @if let Some(outlook) = stages.get(number) {
            p {
                (counted(outlook.engines, "engine")) ", " (counted(outlook.rounds, "round")) ", "
                (counted(outlook.games, "game"))
                @if outlook.is_played_on { ", and pairs until one is decisive if tied" }
                "."
            }
        }
    }
}

/// The games by round: those played and under way with their addresses, those to come with their expected times.
fn schedule(site: &Site<'_>, slots: &[Slot]) -> Markup {
    let rounds: Vec<&[Slot]> = slots.chunk_by(|a, b| a.key.at.round == b.key.at.round).collect();
    let is_open = |round: &[Slot]| round.iter().any(|slot| is_open(site, slot));
    html! {
        h3 { "Schedule" }
        @for round in &rounds {
            @let number = round.first().map_or(0, |slot| slot.key.at.round);
            details.round open[is_open(round) || rounds.len() <= 2] {
                summary { "Round " (number) ": " (state(site, round)) }
                div.wide tabindex="0" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Game" } th scope="col" { "White" } th scope="col" { "Black" }
                                th scope="col" { "Result, or when it is expected" } th.r scope="col" { "Moves" }
                            }
                        }
                        tbody { @for slot in *round { (row(site, slot)) } }
                    }
                }
            }
        }
    }
}

fn is_open(site: &Site<'_>, slot: &Slot) -> bool {
    site.broadcast.games.get(&slot.key).is_some_and(|game| game.is_open())
}

fn state(site: &Site<'_>, round: &[Slot]) -> String {
    let due = round.iter().filter(|slot| slot.state != State::Begun).count();
    let open = round.iter().filter(|slot| is_open(site, slot)).count();
    match (due, open) {
        (0, 0) => format!("{} played", counted(round.len(), "game")),
        (due, _) if due == round.len() => format!("{} to come", counted(due, "game")),
        _ => "under way".to_owned(),
    }
}

fn row(site: &Site<'_>, slot: &Slot) -> Markup {
    let game = site.broadcast.games.get(&slot.key).filter(|_| slot.state == State::Begun);
    let moves = game.map(|game| game.length().div_ceil(2));
    html! {
        tr class=[game.filter(|game| game.is_open()).map(|_| "plays")] {
            th scope="row" {
                @if game.is_some() && site.kind != Kind::Alone {
                    a href={ (path(slot.key)) ".html" } { (slot.key.at) }
                } @else { (slot.key.at) }
            }
            td { (word(&slot.white)) }
            td { (word(&slot.black)) }
            td {
                @match (game, slot.state) {
                    (Some(game), _) => (game::brief(site, game)),
                    (None, State::Due(Some(at))) => { "about " (moment(at)) },
                    (None, _) => { "to come" },
                }
            }
            td.r { @if let Some(moves) = moves { (moves) } }
        }
    }
}
