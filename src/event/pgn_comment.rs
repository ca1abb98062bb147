//! What runners write behind a move in a PGN: the event's `key=value` form, and the short
//! `{+0.35/12 1.2s}` that cutechess, fastchess and others share.

use std::time::Duration;

use shakmaty::Color;

use super::record::{Eval, PlyRecord};

/// Adds to a ply what its comment says; what is not understood is left out, since comments are free.
pub(crate) fn annotate(ply: &mut PlyRecord, mover: Color, comment: &str) {
    if let Some(short) = short(comment, mover) {
        (ply.eval, ply.depth, ply.used) = short;
        return;
    }
    for item in comment.split(',').map(str::trim) {
        match item.split_once('=') {
            None => ply.book |= item == "book",
            // `wv` is White's view already.
            Some(("wv", value)) => ply.eval = eval(value, Color::White),
            Some(("d", value)) => ply.depth = value.parse().ok(),
            Some(("mt", value)) => ply.used = millis(value),
            Some(("tl", value)) => ply.left = millis(value),
            Some(_) => {}
        }
    }
}

/// A time in milliseconds. A clock that ran below zero is shown as zero.
fn millis(text: &str) -> Option<Duration> {
    let millis: i64 = text.parse().ok()?;
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

/// `0.35`, `-1.20`, `M4`, `-M4`, from the point of view of `side`.
fn eval(text: &str, side: Color) -> Option<Eval> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (negative, value) = match text.strip_prefix('-') {
        Some(value) => (true, value),
        None => (false, text),
    };
    if let Some(moves) = value.strip_prefix('M') {
        let winner = if negative { !side } else { side };
        return Some(Eval::Mate(winner, moves.parse().ok()?));
    }
    let (whole, places) = value.split_once('.').unwrap_or((value, ""));
    let hundredths = match places.as_bytes() {
        [] => 0,
        [tens] => i32::from(digit(*tens)?) * 10,
        [tens, ones, ..] => i32::from(digit(*tens)?) * 10 + i32::from(digit(*ones)?),
    };
    let size = whole.parse::<u16>().ok()?;
    let size = i32::from(size) * 100 + hundredths;
    let sign = if negative == (side == Color::White) { -1 } else { 1 };
    Some(Eval::Centipawns(sign * size))
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

/// Evaluation, depth and time of a short comment, with the evaluation turned to White's view.
type Short = (Option<Eval>, Option<u32>, Option<Duration>);

fn short(comment: &str, mover: Color) -> Option<Short> {
    let mut words = comment.split([' ', ',']).filter(|word| !word.is_empty());
    let (score, depth) = words.next()?.split_once('/')?;
    let score = eval(score, mover)?;
    let used = words
        .next()
        .and_then(|word| word.strip_suffix('s'))
        .and_then(|seconds| seconds.parse().ok())
        .and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok());
    Some((Some(score), depth.parse().ok(), used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{Chess, Position};

    fn after(comment: &str, mover: Color) -> PlyRecord {
        let mut ply = PlyRecord::bare(Chess::default().legal_moves()[0]);
        annotate(&mut ply, mover, comment);
        ply
    }

    #[test]
    fn the_events_form_is_whites_view_and_milliseconds() {
        let ply = after(
            "d=37, sd=37, mt=57480, tl=1745520, s=0, n=0, pv=O-O Be6, tb=null, wv=-0.05, R50=48, \
             Rd=-1000, Rr=-1000, mb=+0+0+0+0+0,",
            Color::Black,
        );
        assert_eq!(ply.eval, Some(Eval::Centipawns(-5)));
        assert_eq!(ply.depth, Some(37));
        assert_eq!(ply.used, Some(Duration::from_millis(57_480)));
        assert_eq!(ply.left, Some(Duration::from_millis(1_745_520)));
        assert!(!ply.book);
        assert!(after("book, mb=+0+0+0+0+0,", Color::White).book);
        assert_eq!(after("wv=-M12,", Color::White).eval, Some(Eval::Mate(Color::Black, 12)));
        assert_eq!(after("tl=-20,", Color::White).left, Some(Duration::ZERO));
    }

    #[test]
    fn the_short_form_is_the_movers_view() {
        let ply = after("+0.35/12 1.2s", Color::Black);
        assert_eq!(ply.eval, Some(Eval::Centipawns(-35)));
        assert_eq!(ply.depth, Some(12));
        assert_eq!(ply.used, Some(Duration::from_millis(1200)));
        assert_eq!(
            after("-M3/9 0.01s, Black mates", Color::White).eval,
            Some(Eval::Mate(Color::Black, 3))
        );
        assert_eq!(after("-1.5/9", Color::Black).eval, Some(Eval::Centipawns(150)));
    }

    #[test]
    fn free_text_says_nothing() {
        for text in ["", "a fine move", "0.5", "x/y", "d=deep", "wv=?", "/", "+/1"] {
            let ply = after(text, Color::White);
            assert_eq!(ply, PlyRecord::bare(ply.played), "{text}");
        }
    }
}
