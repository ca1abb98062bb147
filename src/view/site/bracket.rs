//! The bracket of a knockout: its matches by level, each with both engines, their results with a link to each game,
//! and who goes on.

use maud::{Markup, html};

use super::result_link::result_link;
use super::shell::moment;
use super::{Site, shell, word};
use crate::event::broadcast::{
    BracketLevel, BracketMatch, BroadcastBracket, GameState, Prize, Side, Slot,
};
use crate::model::words::all;

/// The most results that stand in one line.
const FEW: usize = 8;

/// The bracket with the games of its matches.
pub(super) fn section(site: &Site<'_>, bracket: &BroadcastBracket, slots: &[Slot]) -> Markup {
    html! {
        h3 { "Bracket" }
        div.wide tabindex="0" role="region" aria-label="Bracket" {
            ol.bracket {
                @for level in &bracket.levels {
                    li {
                        h4 { (level.title) }
                        (matches(site, bracket, level, slots))
                    }
                }
            }
        }
    }
}

fn matches(
    site: &Site<'_>,
    bracket: &BroadcastBracket,
    level: &BracketLevel,
    slots: &[Slot],
) -> Markup {
    html! {
        ol {
            @for one in &level.matches { (encounter(site, bracket, one, slots)) }
            @if !level.free.is_empty() {
                li.free.soft {
                    (all(&level.free.iter().map(|name| word(name)).collect::<Vec<_>>()))
                    @if level.free.len() == 1 { " has" } @else { " have" }
                    " no opponent and go"
                    @if level.free.len() == 1 { "es" }
                    " on"
                }
            }
        }
    }
}

fn encounter(
    site: &Site<'_>,
    bracket: &BroadcastBracket,
    one: &BracketMatch,
    slots: &[Slot],
) -> Markup {
    let own: Vec<&Slot> = slots.iter().filter(|slot| slot.key.at.round == one.number).collect();
    html! {
        li {
            table {
                caption { (one.title) }
                tbody {
                    @for (at, side) in one.sides.iter().enumerate() {
                        tr class=[(one.winner == Some(at)).then_some("winner")] {
                            @match side {
                                Side::Engine(name) => {
                                    th scope="row" { (word(name)) }
                                    td class={ "games" @if own.len() <= FEW { " few" } } { @for slot in &own { (result_link(site, slot, name)) } }
                                    td.r { (one.points[at]) }
                                }
                                Side::Winner(number) => {
                                    td.soft colspan="3" { "winner of " (title(bracket, *number)) }
                                }
                                Side::Loser(number) => {
                                    td.soft colspan="3" { "loser of " (title(bracket, *number)) }
                                }
                            }
                        }
                    }
                }
            }
            p.state-of { (state(site, one, &own)) }
        }
    }
}

fn title(bracket: &BroadcastBracket, number: u32) -> String {
    let mut all = bracket.levels.iter().flat_map(|level| &level.matches);
    let found = all.find(|one| one.number == number);
    // Within a sentence.
    found.map_or_else(String::new, |one| one.title.to_lowercase())
}

fn state(site: &Site<'_>, one: &BracketMatch, own: &[&Slot]) -> Markup {
    if let Some(winner) = one.winner() {
        let what = match one.prize {
            Prize::NextLevel => "goes on",
            Prize::ThirdPlace => "is third",
            Prize::Victory => "wins",
        };
        return html! { (shell::name(winner)) " " (what) };
    }
    let begun = own.iter().any(|slot| slot.state == GameState::Begun);
    let next = own.iter().find_map(|slot| match slot.state {
        GameState::Due(at) => Some(at),
        GameState::DueAfter(_) => Some(None),
        GameState::Begun => None,
    });
    let is_open = own.iter().any(|slot| site.is_open(slot));
    match (begun, next) {
        _ if is_open => html! { strong { "under way" } },
        (true, Some(Some(at))) => html! { "goes on about " (moment(at)) },
        (true, _) => html! { "to go on" },
        (false, Some(Some(at))) => html! { "begins about " (moment(at)) },
        (false, _) => html! { "to come" },
    }
}
