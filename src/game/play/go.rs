//! The words of `go`.

use std::time::Duration;

use shakmaty::Color;

use crate::game::clock::{GameClock, TimeControl};

/// The `go` for this side. Between two clocks it is the rule's form and order, and nothing else.
pub(super) fn write_go(text: &mut Vec<u8>, clock: &GameClock, side: Color) {
    // Whole milliseconds; a clock that shows less than one must not read as "no clock".
    let shown = |side: Color| millis(clock.left(side)).max(1);
    text.extend_from_slice(b"go");
    match clock.control(side) {
        TimeControl::Clock { .. } => {
            // An opponent without a clock is told as if it had the mover's.
            let of = |color: Color| match clock.control(color) {
                TimeControl::Clock { .. } => color,
                _ => side,
            };
            let (white, black) = (of(Color::White), of(Color::Black));
            word(text, " wtime ", shown(white));
            word(text, " btime ", shown(black));
            word(text, " winc ", millis(clock.increment(white)));
            word(text, " binc ", millis(clock.increment(black)));
            if let Some(moves) = clock.moves_to_go(side) {
                word(text, " movestogo ", moves.into());
            }
        }
        TimeControl::MoveTime(time) => word(text, " movetime ", millis(time).max(1)),
        TimeControl::Nodes(nodes) => word(text, " nodes ", nodes.get()),
        TimeControl::Depth(depth) => word(text, " depth ", depth.get().into()),
    }
    text.push(b'\n');
}

fn word(text: &mut Vec<u8>, name: &str, number: u64) {
    text.extend_from_slice(name.as_bytes());
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// What no clock of a game reaches is the most that can be written.
pub(in crate::game) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
