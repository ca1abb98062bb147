//! Figures of games and the state of an event in words, as the page and the terminal show them.

use std::time::Duration;

use shakmaty::Color;

use crate::event::broadcast::{BroadcastGame, ShownMove};
use crate::event::journal::record::{JournalPly, won_by};
use crate::event::ledger::Ledger;
use crate::model::game::ending::GameEnding;
use crate::model::game::result::color_name;
use crate::model::game::score::Score;
use crate::model::text::escape;

/// Text of strangers as one harmless line of a sensible length.
pub(in crate::view) fn word(text: &str) -> String {
    escape(text.as_bytes(), 400)
}

/// A clock: `1:02:03`, `2:03`, and tenths below twenty seconds.
pub(in crate::view) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, seconds) {
        (0, 0..20) => format!("0:{rest:02}.{}", time.subsec_millis() / 100),
        (0, _) => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// A large number: `1.2 M`.
pub(in crate::view) fn large(number: u64) -> String {
    let units = [(1e9, " G"), (1e6, " M"), (1e3, " k")];
    let value = number as f64;
    let unit = units.into_iter().find(|(size, _)| value >= *size);
    unit.map_or_else(|| number.to_string(), |(size, unit)| format!("{:.1}{unit}", value / size))
}

/// The nodes of a search: `1 node`, `1.2 M nodes`.
pub(in crate::view) fn nodes(number: u64) -> String {
    format!("{} {}", large(number), if number == 1 { "node" } else { "nodes" })
}

/// An evaluation, White's view: `+0.31`, `-M12`.
pub(in crate::view) fn evaluation(value: i32) -> String {
    let score = Score::from_value(value);
    let plus = if value > 0 { "+" } else { "" };
    format!("{plus}{score}")
}

/// The depth of a search, with its deepest line where that is told: `12/20`.
pub(in crate::view) fn depth(ply: &JournalPly) -> Option<String> {
    let depth = ply.depth?;
    Some(ply.seldepth.map_or_else(|| depth.to_string(), |deepest| format!("{depth}/{deepest}")))
}

/// The time that a search took: `1.25 s`.
pub(in crate::view) fn took(ply: &JournalPly) -> String {
    format!("{:.2} s", Duration::from_micros(ply.used).as_secs_f64())
}

/// `12. Nf3`, `12… Nf6`.
pub(in crate::view) fn numbered(one: &ShownMove<'_>) -> String {
    numbered_move(one.number, one.side, &one.san)
}

/// A move with its number: `12. Nf3`, `12… Nf6`.
pub(crate) fn numbered_move(number: u32, side: Color, san: &str) -> String {
    format!("{number}{} {san}", side.fold_wb(".", "…"))
}

/// The last search of a side.
pub(in crate::view) fn search<'a>(
    moves: &'a [ShownMove<'_>],
    color: Color,
) -> Option<(&'a ShownMove<'a>, &'a JournalPly)> {
    let mut own = moves.iter().rev().filter(|one| one.side == color);
    own.find_map(|one| Some((one, one.ply?)))
}

/// The state of a game, in a sentence.
pub(in crate::view) fn said(game: &BroadcastGame, last: Option<&ShownMove<'_>>) -> String {
    match (&game.finished, &game.annulled, last) {
        (Some(finished), _, _) => told(&finished.ending()),
        (None, Some(annulled), _) => word(&annulled.in_words()),
        (None, None, Some(last)) => under_way(Some(&numbered(last)), !last.side),
        (None, None, None) => under_way(None, game.turn_after(0)),
    }
}

/// The state of a game under way, in a sentence: its last move with its number, and the side to move.
pub(crate) fn under_way(last: Option<&str>, turn: Color) -> String {
    format!("{}, {} to move", last.unwrap_or("The game begins"), color_name(turn))
}

/// A game's end.
pub(crate) fn told(ending: &GameEnding) -> String {
    format!("{}: {}", ending.result.word(), word(&ending.details()))
}

/// The state of the event, in a sentence.
pub(in crate::view) fn state(ledger: &Ledger) -> String {
    let stage = ledger.stages.last().filter(|stage| stage.outcome.is_none());
    match (&ledger.paused, stage) {
        _ if ledger.is_over() => format!("Over: {}.", word(&won_by(&ledger.winners))),
        (Some(why), _) => format!("Paused: {}.", word(why)),
        (None, Some(stage)) => format!("Under way: {}.", word(&stage.started.name)),
        (None, None) if ledger.stages.is_empty() => "Not begun.".to_owned(),
        (None, None) => "Between two stages.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_numbers_are_brief() {
        let told =
            [0, 19_950, 20_000, 125_000, 3_723_000].map(|ms| clock(Duration::from_millis(ms)));
        assert_eq!(told, ["0:00.0", "0:19.9", "0:20", "2:05", "1:02:03"]);
        assert_eq!(
            [7, 1_250, 2_000_000, 3_100_000_000].map(large),
            ["7", "1.2 k", "2.0 M", "3.1 G"]
        );
        assert_eq!([1, 2].map(nodes), ["1 node", "2 nodes"]);
    }
}
