//! The words of `go`.

use std::io::Write as _;

use shakmaty::Color;

use crate::game::clock::{GameClock, TimeControl};

/// The `go` for this side. Between two clocks it is the rule's form and order, and nothing else.
pub(super) fn write_go(text: &mut Vec<u8>, clock: &GameClock, side: Color) {
    // Whole milliseconds; a clock that shows less than one must not read as "no clock".
    let shown = |side: Color| clock.left(side).as_millis().max(1);
    let written = match clock.control(side) {
        TimeControl::Clock { .. } => {
            // An opponent without a clock is told as if it had the mover's.
            let of = |color: Color| match clock.control(color) {
                TimeControl::Clock { .. } => color,
                _ => side,
            };
            let (white, black) = (of(Color::White), of(Color::Black));
            let written = write!(
                text,
                "go wtime {} btime {} winc {} binc {}",
                shown(white),
                shown(black),
                clock.increment(white).as_millis(),
                clock.increment(black).as_millis()
            );
            match clock.moves_to_go(side) {
                Some(moves) => written.and_then(|()| write!(text, " movestogo {moves}")),
                None => written,
            }
        }
        TimeControl::MoveTime(time) => write!(text, "go movetime {}", time.as_millis().max(1)),
        TimeControl::Nodes(nodes) => write!(text, "go nodes {nodes}"),
        TimeControl::Depth(depth) => write!(text, "go depth {depth}"),
    };
    // invariant: writing to memory does not fail.
    debug_assert!(written.is_ok());
    text.push(b'\n');
}
