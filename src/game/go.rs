//! The forms of `go`.

use std::fmt;
use std::time::Duration;

use shakmaty::{ByColor, Color};

use crate::game::clock::{GameClock, TimeControl};
use crate::model::units::whole_millis;

/// The most times of the other's clock that a clock is shown, where a position is asked again.
const MOST_UNEVEN: f64 = 9.0;

/// A `go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    /// `go wtime A btime B winc C binc D`: the form of rule 7.9.
    Clock(Clocks),
    /// `go` alone.
    Bare,
    /// `go depth N`
    Depth(u32),
    /// `go nodes N`
    Nodes(u64),
    /// `go movetime N`
    MoveTime(Duration),
}

/// Both clocks, in whole milliseconds in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// White's clock.
    pub(crate) white: Duration,
    /// Black's clock.
    pub(crate) black: Duration,
    /// White's increment a move.
    pub(crate) white_increment: Duration,
    /// Black's increment a move.
    pub(crate) black_increment: Duration,
    /// Moves to the next base time, where there is one.
    pub(crate) moves_to_go: Option<u32>,
}

impl Clocks {
    /// As much as these leave to whoever has less, and as much more to the other, in proportion, as `seen` gives it: an
    /// engine can tell by its opponent's clock whether it is in a game.
    #[must_use]
    pub(crate) fn in_proportion(self, seen: ByColor<Duration>) -> Clocks {
        let least = seen.white.min(seen.black).as_secs_f64();
        let of = |left: Duration, seen: Duration| {
            let more = if least > 0.0 { seen.as_secs_f64() / least } else { 1.0 };
            left.mul_f64(more.min(MOST_UNEVEN))
        };
        Clocks { white: of(self.white, seen.white), black: of(self.black, seen.black), ..self }
    }

    /// Equal time and increment for both sides, in milliseconds.
    pub(crate) const fn even(left: u64, increment: u64) -> Clocks {
        Clocks {
            white: Duration::from_millis(left),
            black: Duration::from_millis(left),
            white_increment: Duration::from_millis(increment),
            black_increment: Duration::from_millis(increment),
            moves_to_go: None,
        }
    }
}

impl Go {
    /// The `go` for this side of a game.
    pub(crate) fn of(clock: &GameClock, side: Color) -> Go {
        // A clock that shows less than a millisecond must not read as "no clock".
        let least = |time: Duration| time.max(Duration::from_millis(1));
        match clock.control(side) {
            TimeControl::Clock { .. } => {
                // An opponent without a clock is told as if it had the mover's.
                let of = |color: Color| match clock.control(color) {
                    TimeControl::Clock { .. } => color,
                    _ => side,
                };
                let (white, black) = (of(Color::White), of(Color::Black));
                Go::Clock(Clocks {
                    white: least(clock.left(white)),
                    black: least(clock.left(black)),
                    white_increment: clock.increment(white),
                    black_increment: clock.increment(black),
                    moves_to_go: clock.moves_to_go(side),
                })
            }
            TimeControl::MoveTime(time) => Go::MoveTime(least(time)),
            TimeControl::Nodes(nodes) => Go::Nodes(nodes.get()),
            TimeControl::Depth(depth) => Go::Depth(depth.get()),
        }
    }

    /// The clock of a side, after which it loses on time; none for forms without a clock.
    #[must_use]
    pub(crate) fn left(self, side: Color) -> Option<Duration> {
        match self {
            Go::Clock(clocks) => Some(side.fold_wb(clocks.white, clocks.black)),
            _ => None,
        }
    }

    /// Appends the line without its end, without the formatting machinery: a game has hundreds.
    pub(crate) fn push(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"go");
        match *self {
            // Exactly the rule's order: real entries read the numbers by their place in the line.
            Go::Clock(clocks) => {
                word(text, " wtime ", whole_millis(clocks.white));
                word(text, " btime ", whole_millis(clocks.black));
                word(text, " winc ", whole_millis(clocks.white_increment));
                word(text, " binc ", whole_millis(clocks.black_increment));
                if let Some(moves) = clocks.moves_to_go {
                    word(text, " movestogo ", moves.into());
                }
            }
            Go::Bare => {}
            Go::Depth(depth) => word(text, " depth ", depth.into()),
            Go::Nodes(nodes) => word(text, " nodes ", nodes),
            Go::MoveTime(time) => word(text, " movetime ", whole_millis(time)),
        }
    }
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.push(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

fn word(text: &mut Vec<u8>, name: &str, number: u64) {
    text.extend_from_slice(name.as_bytes());
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uneven_clocks_stay_uneven_and_leave_nobody_less() {
        let seen = |white, black| ByColor { white, black }.map(Duration::from_millis);
        let of = |seen| Go::Clock(Clocks::even(3000, 3000).in_proportion(seen)).to_string();
        assert_eq!(of(seen(300, 120)), "go wtime 7500 btime 3000 winc 3000 binc 3000");
        assert_eq!(of(seen(100, 400)), "go wtime 3000 btime 12000 winc 3000 binc 3000");
        assert_eq!(of(seen(250, 250)), "go wtime 3000 btime 3000 winc 3000 binc 3000");
        assert_eq!(of(seen(0, 250)), "go wtime 3000 btime 3000 winc 3000 binc 3000");
        assert_eq!(of(seen(1, 250)), "go wtime 3000 btime 27000 winc 3000 binc 3000");
    }

    #[test]
    fn go_is_exactly_the_rules_form() {
        let go = Go::Clock(Clocks {
            white: Duration::from_millis(1_800_000),
            black: Duration::from_millis(1_799_000),
            white_increment: Duration::from_secs(3),
            black_increment: Duration::from_millis(3001),
            moves_to_go: None,
        });
        assert_eq!(go.to_string(), "go wtime 1800000 btime 1799000 winc 3000 binc 3001");
        assert_eq!(Go::Bare.to_string(), "go");
        assert_eq!(go.left(Color::Black), Some(Duration::from_secs(1799)));
        assert_eq!(Go::Depth(3).left(Color::White), None);
    }
}
