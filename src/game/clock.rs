//! Time controls and the arithmetic of a game's clocks. Nothing here reads a real clock but
//! [`Monotonic`]: a game's times are offsets, so tests never sleep.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize, Serializer};
use shakmaty::{ByColor, Color};

use crate::model::game::record::Stamp;

/// The kernel's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monotonic {
    epoch: Instant,
}

impl Monotonic {
    /// Stamps count from now on.
    pub(crate) fn start() -> Monotonic {
        Monotonic { epoch: Instant::now() }
    }

    /// The stamp of an instant.
    pub(crate) fn stamp(&self, at: Instant) -> Stamp {
        Stamp(at.saturating_duration_since(self.epoch))
    }
}

/// The time that an engine may think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// A clock: a base time, an increment after each move, and a number of moves after which the base
    /// time is given again.
    Clock {
        /// The time at the beginning.
        base: Duration,
        /// Added after each move.
        increment: Duration,
        /// Moves to a new base time.
        moves: Option<NonZeroU32>,
    },
    /// This time for each move.
    MoveTime(Duration),
    /// This number of nodes for each move, without a clock.
    Nodes(NonZeroU64),
    /// This depth for each move, without a clock.
    Depth(NonZeroU32),
}

impl TimeControl {
    /// The event's: 30 minutes and 3 seconds a move (rule 1.1).
    #[cfg(test)]
    pub(crate) const EVENT: TimeControl = TimeControl::Clock {
        base: Duration::from_secs(30 * 60),
        increment: Duration::from_secs(3),
        moves: None,
    };

    /// The time on a clock at the beginning; none without a clock.
    pub(crate) fn base(&self) -> Option<Duration> {
        match self {
            TimeControl::Clock { base, .. } => Some(*base),
            _ => None,
        }
    }

    /// True if an engine that knows only rule 7.9 can play it: a clock without periods.
    pub(crate) fn is_plain_clock(&self) -> bool {
        matches!(self, TimeControl::Clock { moves: None, .. })
    }
}

/// A time control that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the time control {text:?} is not understood: {why}; write 30:00+3, 10+0.1, 40/60+1, movetime=0.5, \
     nodes=1000 or depth=8"
)]
pub struct BadTimeControl {
    text: String,
    why: &'static str,
}

impl BadTimeControl {
    /// The message for an event, whose games have a plain clock.
    pub(crate) fn in_event(&self) -> String {
        let BadTimeControl { text, why } = self;
        format!(
            "the time control {text:?} is not understood: {why}; write a clock such as 30:00+3 or 10+0.1"
        )
    }
}

impl FromStr for TimeControl {
    type Err = BadTimeControl;

    fn from_str(text: &str) -> Result<TimeControl, BadTimeControl> {
        let bad = |why| BadTimeControl { text: text.to_owned(), why };
        if let Some((key, value)) = text.split_once('=') {
            return match key {
                "st" | "movetime" => match duration(value) {
                    Some(time) if !time.is_zero() => Ok(TimeControl::MoveTime(time)),
                    Some(_) if is_more_than_nothing(value) => Err(bad(TOO_FINE)),
                    _ => Err(bad("the time for a move is no positive number of seconds")),
                },
                "nodes" => value
                    .parse()
                    .map(TimeControl::Nodes)
                    .map_err(|_| bad("the number of nodes is no positive whole number")),
                "depth" => value
                    .parse()
                    .map(TimeControl::Depth)
                    .map_err(|_| bad("the depth is no positive whole number")),
                _ => Err(bad("no such limit")),
            };
        }
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => {
                let moves = moves
                    .parse()
                    .map_err(|_| bad("the moves before / are no positive whole number"))?;
                (Some(moves), rest)
            }
            None => (None, text),
        };
        let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
        let time = |text: &str, why| match duration(text) {
            Some(time) if time.is_zero() && is_more_than_nothing(text) => Err(bad(TOO_FINE)),
            time => time.ok_or_else(|| bad(why)),
        };
        let base = time(base, "the base is no time")?;
        let increment = time(increment, "the increment is no time")?;
        if base.is_zero() {
            return Err(bad("a clock that starts at zero is lost at once"));
        }
        Ok(TimeControl::Clock { base, increment, moves })
    }
}

/// The reason against a time that would be rounded to none.
const TOO_FINE: &str = "clocks count whole milliseconds, and this is less than one (0.001)";

/// True of the text of a time that has a digit besides zeros.
fn is_more_than_nothing(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Seconds with up to a millisecond's fraction, or `MIN:SEC`, or `H:MIN:SEC`.
fn duration(text: &str) -> Option<Duration> {
    /// The longest that is accepted: far beyond every game, and far from every overflow.
    const MOST: f64 = 1e6;
    let mut whole = 0u64;
    let mut parts = text.split(':').rev();
    let seconds = parts.next()?;
    let plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    if !plain(seconds) {
        return None;
    }
    let seconds: f64 = seconds.parse().ok()?;
    let mut unit = 60u64;
    for part in parts {
        if unit > 3600 {
            return None;
        }
        whole = whole.checked_add(part.parse::<u64>().ok()?.checked_mul(unit)?)?;
        unit *= 60;
    }
    if seconds > MOST || whole as f64 > MOST {
        return None;
    }
    // Engines are told whole milliseconds, so the clocks count no finer a base than that.
    let millis = (seconds * 1000.0).round() as u64;
    Some(Duration::from_secs(whole) + Duration::from_millis(millis))
}

/// Seconds as short as they can be written: `1800`, `0.1`.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs())?;
        let millis = self.0.subsec_millis();
        if millis > 0 {
            let digits = format!("{millis:03}");
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        Ok(())
    }
}

/// The form of the PGN tag `TimeControl`; what is printed reads back as the same.
impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TimeControl::Clock { base, increment, moves } => {
                if let Some(moves) = moves {
                    write!(f, "{moves}/")?;
                }
                write!(f, "{}", Seconds(base))?;
                if increment.is_zero() { Ok(()) } else { write!(f, "+{}", Seconds(increment)) }
            }
            TimeControl::MoveTime(time) => write!(f, "movetime={}", Seconds(time)),
            TimeControl::Nodes(nodes) => write!(f, "nodes={nodes}"),
            TimeControl::Depth(depth) => write!(f, "depth={depth}"),
        }
    }
}

impl Serialize for TimeControl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeControl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TimeControl, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The wait for an answer, and the part of it that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The time that a move may come late without losing (0 for the event), where a side has none of its own.
    pub(crate) margin: Duration,
    /// After the clock has run out, how long the move is still waited for; an engine that answers then
    /// has lost, but lives for the next game.
    pub(crate) after_flag: Duration,
    /// The bound on every wait that no clock bounds.
    pub(crate) without_clock: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            margin: Duration::ZERO,
            after_flag: Duration::from_secs(2),
            without_clock: Duration::from_secs(60),
        }
    }
}

/// One side of the clock.
#[derive(Clone, Copy, Debug)]
struct Side {
    control: TimeControl,
    left: Duration,
    moves_to_go: Option<u32>,
    /// The time that its move may come late.
    margin: Duration,
}

/// The flag has fallen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The time by which it came later than the clock, without its margin, allowed.
    pub(crate) over: Duration,
}

/// Both clocks of a game.
#[derive(Clone, Debug)]
pub struct GameClock {
    sides: ByColor<Side>,
    patience: Patience,
}

impl GameClock {
    /// Clocks that show the base time. (The event adds no increment before the first move: in its files
    /// the first move's time and what is left make base plus increment.)
    pub fn new(controls: ByColor<TimeControl>, patience: Patience) -> GameClock {
        let margin = patience.margin;
        let sides = controls.map(|control| match control {
            TimeControl::Clock { base, moves, .. } => {
                Side { control, left: base, moves_to_go: moves.map(NonZeroU32::get), margin }
            }
            _ => Side { control, left: Duration::ZERO, moves_to_go: None, margin },
        });
        GameClock { sides, patience }
    }

    /// The clock with the margin of each side that has one of its own.
    #[must_use]
    pub(crate) fn with_margins(mut self, margins: ByColor<Option<Duration>>) -> GameClock {
        for side in Color::ALL {
            let one = self.sides.get_mut(side);
            one.margin = margins.get(side).unwrap_or(one.margin);
        }
        self
    }

    /// Clocks of a game that goes on: what each shows, after so many moves of each side on it.
    pub(crate) fn resumed(
        controls: ByColor<TimeControl>,
        patience: Patience,
        left: ByColor<Duration>,
        made: ByColor<u32>,
    ) -> GameClock {
        let mut clock = GameClock::new(controls, patience);
        for side in Color::ALL {
            let one = clock.sides.get_mut(side);
            if let TimeControl::Clock { moves, .. } = one.control {
                one.left = *left.get(side);
                one.moves_to_go = moves.map(|moves| moves.get() - made.get(side) % moves.get());
            }
        }
        clock
    }

    /// A side's time control.
    pub(crate) fn control(&self, side: Color) -> TimeControl {
        self.sides.get(side).control
    }

    /// The time on a side's clock; zero without a clock.
    pub fn left(&self, side: Color) -> Duration {
        self.sides.get(side).left
    }

    /// A side's increment for each move; zero without a clock.
    pub(crate) fn increment(&self, side: Color) -> Duration {
        match self.sides.get(side).control {
            TimeControl::Clock { increment, .. } => increment,
            _ => Duration::ZERO,
        }
    }

    /// Moves to the next base time, where there is one.
    pub(crate) fn moves_to_go(&self, side: Color) -> Option<u32> {
        self.sides.get(side).moves_to_go
    }

    /// The time that a move may take, margin included; none where only the bound on every wait holds.
    fn allowed(&self, side: Color) -> Option<Duration> {
        let one = self.sides.get(side);
        match one.control {
            TimeControl::Clock { .. } => Some(one.left + one.margin),
            TimeControl::MoveTime(time) => Some(time + one.margin),
            TimeControl::Nodes(_) | TimeControl::Depth(_) => None,
        }
    }

    /// The time to wait for this side's move at all.
    pub(crate) fn wait(&self, side: Color) -> Duration {
        match self.allowed(side) {
            Some(allowed) => allowed + self.patience.after_flag,
            None => self.patience.without_clock,
        }
    }

    /// A move came after so long: takes the time off, adds what the move earns.
    ///
    /// # Errors
    /// When the flag had fallen. The clock then stays as it was.
    pub fn spend(&mut self, side: Color, used: Duration) -> Result<(), Flag> {
        if let Some(allowed) = self.allowed(side)
            && used > allowed
        {
            let margin = self.sides.get(side).margin;
            return Err(Flag { over: used.saturating_sub(allowed.saturating_sub(margin)) });
        }
        let one = self.sides.get_mut(side);
        if let TimeControl::Clock { base, increment, moves } = one.control {
            one.left = one.left.saturating_sub(used) + increment;
            if let Some(to_go) = &mut one.moves_to_go {
                *to_go -= 1;
                if *to_go == 0 {
                    one.left += base;
                    *to_go = moves.map_or(1, NonZeroU32::get);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secs(value: f64) -> Duration {
        Duration::from_secs_f64(value)
    }

    fn clock(text: &str, margin: u64) -> GameClock {
        let control: TimeControl = text.parse().unwrap();
        GameClock::new(
            ByColor { white: control, black: control },
            Patience { margin: Duration::from_millis(margin), ..Patience::default() },
        )
    }

    #[test]
    fn each_side_may_have_a_margin_of_its_own() {
        let margins = ByColor { white: Some(secs(0.5)), black: None };
        let mut clock = clock("1", 100).with_margins(margins);
        assert_eq!(clock.spend(Color::Black, secs(1.2)), Err(Flag { over: secs(0.2) }));
        assert_eq!(clock.spend(Color::White, secs(1.2)), Ok(()));
        assert_eq!(clock.wait(Color::White), secs(0.5 + 2.0));
        assert_eq!(clock.spend(Color::White, secs(0.6)), Err(Flag { over: secs(0.6) }));
    }

    #[test]
    fn a_resumed_clock_goes_on_where_it_stood() {
        let control: TimeControl = "40/60+1".parse().unwrap();
        let both = ByColor { white: control, black: control };
        let left = ByColor { white: secs(12.5), black: secs(7.0) };
        let made = ByColor { white: 41, black: 40 };
        let clock = GameClock::resumed(both, Patience::default(), left, made);
        assert_eq!(clock.left(Color::White), secs(12.5));
        assert_eq!(clock.left(Color::Black), secs(7.0));
        assert_eq!(clock.moves_to_go(Color::White), Some(39));
        assert_eq!(clock.moves_to_go(Color::Black), Some(40));
    }

    #[test]
    fn time_controls_read_and_print() {
        for (text, printed) in [
            ("30:00+3", "1800+3"),
            ("1800+3", "1800+3"),
            ("10+0.1", "10+0.1"),
            ("40/60+1", "40/60+1"),
            ("40/1:30:00", "40/5400"),
            ("0.5", "0.5"),
            ("st=0.25", "movetime=0.25"),
            ("movetime=2", "movetime=2"),
            ("nodes=1000", "nodes=1000"),
            ("depth=8", "depth=8"),
        ] {
            let control: TimeControl = text.parse().unwrap();
            assert_eq!(control.to_string(), printed, "{text}");
            assert_eq!(printed.parse(), Ok(control));
        }
        assert_eq!("30:00+3".parse(), Ok(TimeControl::EVENT));
        for text in [
            "",
            "+3",
            "0+1",
            "0/60",
            "x/60",
            "10+",
            "10+x",
            "-5",
            "1e3",
            "inf",
            "nan",
            "nodes=0",
            "depth=-1",
            "st=0",
            "speed=3",
            "1:2:3:4+1",
            "99999999999",
            "+",
            "10+-1",
        ] {
            let error = text.parse::<TimeControl>().unwrap_err().to_string();
            assert!(error.contains("30:00+3"), "{error}");
        }
    }

    #[test]
    fn the_increment_comes_after_the_move_as_in_the_events_files() {
        // The first move of season 26's game 1.1: mt=64653, tl=1738347.
        let mut clock = clock("30:00+3", 0);
        assert_eq!(clock.left(Color::White), secs(1800.0));
        clock.spend(Color::White, Duration::from_millis(64_653)).unwrap();
        assert_eq!(clock.left(Color::White).as_millis(), 1_738_347);
        assert_eq!(clock.left(Color::Black), secs(1800.0));
    }

    #[test]
    fn the_flag_falls_after_the_last_instant_and_its_margin() {
        let mut exact = clock("1+0", 0);
        assert_eq!(exact.spend(Color::Black, secs(1.0)), Ok(()));
        assert_eq!(exact.left(Color::Black), Duration::ZERO);
        let late = Duration::from_nanos(1);
        assert_eq!(exact.spend(Color::Black, late), Err(Flag { over: late }));
        let mut soft = clock("1+0.5", 100);
        assert_eq!(soft.spend(Color::White, secs(1.1)), Ok(()));
        assert_eq!(soft.left(Color::White), secs(0.5));
        let over = Duration::from_millis(101);
        assert_eq!(soft.spend(Color::White, secs(0.5) + over), Err(Flag { over }));
        assert_eq!(soft.wait(Color::White), secs(0.6) + Duration::from_secs(2));
    }

    #[test]
    fn periods_give_the_base_again() {
        let mut clock = clock("2/10+1", 0);
        assert_eq!(clock.moves_to_go(Color::White), Some(2));
        clock.spend(Color::White, secs(4.0)).unwrap();
        assert_eq!(clock.left(Color::White), secs(7.0));
        clock.spend(Color::White, secs(3.0)).unwrap();
        assert_eq!(clock.left(Color::White), secs(15.0));
        assert_eq!(clock.moves_to_go(Color::White), Some(2));
    }

    #[test]
    fn what_has_no_clock_is_bounded_all_the_same() {
        let clock = clock("nodes=100", 0);
        assert_eq!(clock.wait(Color::White), Duration::from_secs(60));
    }

    #[test]
    fn a_time_that_would_be_rounded_to_none_is_told_as_too_fine() {
        for text in ["0.0001+0", "0.0001", "40/0.0004+1", "10+0.0001", "movetime=0.0002"] {
            let told = text.parse::<TimeControl>().unwrap_err().to_string();
            assert!(told.contains("less than one (0.001); write"), "{text}: {told}");
        }
        for (text, why) in [("0+1", "starts at zero"), ("movetime=0", "no positive number")] {
            let told = text.parse::<TimeControl>().unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
        assert!("0.001+0".parse::<TimeControl>().is_ok());
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "\\PC*") {
            let _ = text.parse::<TimeControl>();
        }

        #[test]
        fn time_is_never_made(used in proptest::collection::vec(0u64..3000, 1..50)) {
            let mut clock = clock("10+0.5", 0);
            let mut spent = 0;
            for (moves, one) in used.iter().enumerate() {
                if clock.spend(Color::White, Duration::from_millis(*one)).is_err() {
                    break;
                }
                spent += one;
                let given = 10_000 + 500 * (moves as u128 + 1);
                prop_assert_eq!(clock.left(Color::White).as_millis() + u128::from(spent), given);
            }
        }
    }
}
