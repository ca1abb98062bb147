//! A game's result in one symbol, with a link to the game.

use maud::{Markup, html};
use shakmaty::Color;

use super::{Site, SiteKind, path, word};
use crate::event::broadcast::{BroadcastGame, Slot};
use crate::model::game::points::HalfPoints;
use crate::model::game::result::color_name;

/// The result of a game for one of its engines, as a link to it: `1`, `=` or `0`, a dot while it is played. Nothing for
/// a game to come.
pub(super) fn result_link(site: &Site<'_>, slot: &Slot, engine: &str) -> Markup {
    let Some(game) = slot.game(site.broadcast) else { return html! {} };
    let side = Color::from_white(game.started.white == engine);
    let result = game.finished.as_ref().map(|finished| finished.result().points(side));
    let (class, symbol, state) = match result {
        Some(Some(HalfPoints::ONE)) => ("w", "1", "won"),
        Some(Some(HalfPoints::HALF)) => ("d", "=", "drawn"),
        Some(Some(_)) => ("l", "0", "lost"),
        None if game.is_open() => ("d", "•", "under way"),
        Some(None) | None => ("d", "×", "struck out"),
    };
    let title = format!("game {} with {}, {state}", slot.key.at.game, color_name(side));
    html! {
        @if site.kind == SiteKind::Alone { span class=(class) title=(title) { (symbol) } }
        @else {
            a class=(class) href={ (path(slot.key)) ".html" } title=(title) aria-label=(spoken(game)) {
                (symbol)
            }
        }
    }
}

/// A game in words that stand alone: `1.2, A against B, 1-0`.
pub(super) fn spoken(game: &BroadcastGame) -> String {
    let started = &game.started;
    let result = match &game.finished {
        Some(finished) => finished.result.as_str(),
        None if game.is_open() => "under way",
        None => "struck out",
    };
    let [white, black] = [&started.white, &started.black].map(|name| word(name));
    format!("{}, {white} against {black}, {}", started.place(), word(result))
}
