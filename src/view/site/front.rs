//! The page of an event.

use std::time::SystemTime;

use maud::{Markup, html};

use super::shell::{due_by, name, names, shell, stamp};
use super::stage::{self, StagePhase};
use super::{LEFT, Site, SiteKind, game, path, word};
use crate::event::broadcast::{BroadcastGame, GameKey, GameState, Slot, timetable};
use crate::event::ratings::EventRatings;
use crate::model::words::all;
use crate::view::event_ratings;
use crate::view::figures::state;
use crate::view::wide_table::wide_table;

pub(super) fn page(site: &Site<'_>) -> String {
    let config = site.config;
    let title = word(&config.event);
    let body = html! {
        header {
            h1 { (title) }
            p data-part="state" {
                strong { (state(&site.broadcast.ledger)) @if site.is_left() { " " (LEFT) } }
                " " (terms(site)) (due_by(site))
            }
            nav aria-label="Stages" data-part="stages" {
                @for (number, stage) in config.stages.iter().enumerate() {
                    @let phase = StagePhase::of(site, number);
                    a class={ "stage " (phase.class()) } href={ "#stage-" (number + 1) } {
                        (word(&stage.name)) " " span { (phase.word()) }
                    }
                }
                a.stage href="#ratings" { "Ratings" }
                a.stage href="#incidents" { "Incidents" }
            }
        }
        main {
            div #now data-part="now" { (now(site)) }
            @for (number, stage) in config.stages.iter().enumerate() {
                (stage::section(site, number, stage))
            }
            section #ratings aria-label="Ratings" data-part="ratings" {
                @let ratings = EventRatings::of(config, &site.broadcast.ledger);
                (event_ratings::html(&ratings))
            }
            (entries(site))
            (incidents(site))
            (take(site))
        }
    };
    shell(site, &title, "", &body)
}

fn terms(site: &Site<'_>) -> String {
    let config = site.config;
    let mut words = format!("{} engines at {}", config.entries.len(), config.clocks());
    if !config.site.is_empty() {
        words += &format!(", {}", word(&config.site));
    }
    words + "."
}

/// The game that is played now, or the last; the others under way; the last results.
fn now(site: &Site<'_>) -> Markup {
    if site.kind == SiteKind::Alone {
        return html! {};
    }
    let open: Vec<&BroadcastGame> = site.broadcast.under_way().collect();
    let finished = site.broadcast.finished();
    let shown = open.first().or(finished.last()).copied();
    let next = next(site);
    html! {
        @if let Some(shown) = shown {
            h2 {
                a href={ (path(shown.key())) ".html" } {
                    (names(&shown.started.white, &shown.started.black))
                }
            }
            (game::view(site, shown, "", usize::MAX))
        }
        @if open.len() > 1 {
            h3 { "Also under way" }
            ul { @for game in &open[1..] { (item(site, game)) } }
        }
        @if !next.is_empty() {
            // Before the first game nothing stands above it.
            @if shown.is_some() { h3 { "Next games" } } @else { h2 { "Next games" } }
            ul {
                @for slot in &next {
                    li { (named(site, slot.key, &slot.white, &slot.black)) ", " (stage::expected(slot.state)) }
                }
            }
        }
        @if !finished.is_empty() {
            h3 { "Last games" }
            ul { @for game in finished.iter().rev().take(5) { (item(site, game)) } }
        }
    }
}

/// The games that are due next, in the order in which they are expected.
fn next(site: &Site<'_>) -> Vec<Slot> {
    const MOST: usize = 5;
    let mut due: Vec<Slot> = Vec::new();
    for number in 0..site.config.stages.len() {
        if StagePhase::of(site, number) == StagePhase::Over {
            continue;
        }
        let slots = timetable(site.config, site.broadcast, number, site.now);
        let mut own: Vec<Slot> =
            slots.into_iter().filter(|slot| slot.state != GameState::Begun).collect();
        own.sort_by_key(|slot| match slot.state {
            GameState::Due(at) => at,
            GameState::DueAfter(after) => Some(SystemTime::UNIX_EPOCH + after),
            GameState::Begun => None,
        });
        due.extend(own);
        if due.len() >= MOST {
            break;
        }
    }
    due.truncate(MOST);
    due
}

fn item(site: &Site<'_>, game: &BroadcastGame) -> Markup {
    html! {
        li {
            (link(site, game)) " " (game::brief(site, game))
        }
    }
}

fn link(site: &Site<'_>, game: &BroadcastGame) -> Markup {
    let started = &game.started;
    let words = named(site, game.key(), &started.white, &started.black);
    html! {
        @if site.kind == SiteKind::Alone { (words) }
        @else { a href={ (path(game.key())) ".html" } { (words) } }
    }
}

/// `Pool 1.2, A – B`.
fn named(site: &Site<'_>, key: GameKey, white: &str, black: &str) -> Markup {
    html! { (word(site.config.stage_name(key.stage))) " " (key.at) ", " (names(white, black)) }
}

fn entries(site: &Site<'_>) -> Markup {
    let head = html! {
        th scope="col" { "Name" } th scope="col" { "Verdict" } th.r scope="col" { "Bytes" }
        th scope="col" { "SHA-256 of its file" }
    };
    let rows = html! {
        @for entry in &site.config.entries {
            @let receipt = site.broadcast.ledger.receipts.get(&entry.name);
            tr {
                th scope="row" { (word(&entry.name)) }
                td { @match receipt { Some(receipt) => (word(&receipt.verdict)), None => "not yet checked" } }
                td.r { @match receipt.and_then(|receipt| receipt.bytes) { Some(bytes) => (bytes), None => "–" } }
                td.sum { @if let Some(receipt) = receipt { (word(&receipt.frozen.file)) } }
            }
        }
    };
    // Of a recorded event nothing is known of its entries.
    let ledger = &site.broadcast.ledger;
    let is_known = ledger.stages.is_empty() || !ledger.receipts.is_empty();
    html! {
        div data-part="entries" {
            @if is_known {
                section #entries aria-labelledby="entries-name" {
                    h2 #entries-name { "Entries" }
                    (wide_table(&head, &rows))
                }
            }
        }
    }
}

/// Crashes, rulings and decisions, each with its reason.
fn incidents(site: &Site<'_>) -> Markup {
    let ledger = &site.broadcast.ledger;
    let games = site.broadcast.games.values();
    let games: Vec<&BroadcastGame> = games.filter(|game| game::has_incidents(game)).collect();
    let decided: Vec<_> = ledger.stages.iter().flat_map(|stage| &stage.decisions).collect();
    let none = games.is_empty()
        && decided.is_empty()
        && ledger.fixes.is_empty()
        && ledger.updates.is_empty()
        && ledger.withdrawn.is_empty();
    html! {
        section #incidents aria-labelledby="incidents-name" data-part="incidents" {
            h2 #incidents-name { "Crashes, rulings, decisions" }
            @if none { p { "None." } } @else { ul {
                @for game in games {
                    li { (link(site, game)) ul { (game::list(site, game, "")) } }
                }
                @for decision in decided {
                    li {
                        "Tie decided by the organisers: " (word(&all(&decision.order))) ". "
                        (word(&decision.reason)) ", " (stamp(&decision.at))
                    }
                }
                @for withdrawn in &ledger.withdrawn {
                    li { (word(&withdrawn.in_words())) ", " (stamp(&withdrawn.at)) }
                }
                @for fix in &ledger.fixes {
                    li { (name(&fix.entry)) " was mended (rule 6.3 of the 4k rules): " (word(&fix.reason)) ", " (stamp(&fix.at)) }
                }
                @for update in &ledger.updates {
                    li { (name(&update.entry)) " was updated, " (stamp(&update.at)) }
                }
            } }
        }
    }
}

fn take(site: &Site<'_>) -> Markup {
    html! {
        @if site.kind != SiteKind::Alone {
            section aria-labelledby="take-name" data-part="take" {
                h2 #take-name { "To take home" }
                ul.take {
                    @if matches!(site.kind, SiteKind::Served | SiteKind::Mirrored) {
                        li { a href="live.pgn" { "The games under way, PGN" } }
                    }
                    li { a href="games.pgn" { "All finished games, PGN" } }
                    li { a href="event.json" { "Standings, schedule and entries, JSON" } }
                    li { a href="settings.toml" { "The event's settings" } }
                }
            }
        }
    }
}
