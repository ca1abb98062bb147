//! The comment behind a recorded move: clock, evaluation and line, as the event and TCEC write them.

use std::collections::BTreeMap;

use pgn_reader::SanPlus;
use shakmaty::{Chess, Position};

use crate::model::game::score::Score;

/// The words of a comment: `d=12, sd=20, mt=1250, tl=58000, …`.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedComment {
    pub(super) is_book: bool,
    words: BTreeMap<String, String>,
    /// The line that was expected, in UCI's words.
    pub(super) pv: String,
}

impl RecordedComment {
    pub(super) fn read(text: &str, before: &Chess) -> RecordedComment {
        let mut comment = RecordedComment::default();
        for word in text.split(',').map(str::trim) {
            match word.split_once('=') {
                Some(("pv", line)) => comment.pv = line_of(before, line),
                Some((key, value)) => {
                    // The runner's own figures come first; the words of an engine may stand behind them.
                    let value = || value.trim().to_owned();
                    comment.words.entry(key.trim().to_owned()).or_insert_with(value);
                }
                None => comment.is_book |= word == "book" && comment.words.is_empty(),
            }
        }
        comment
    }

    /// True if the engine told nothing of its search: runners write figures all the same, `d=1` and `wv=0.00` among them.
    pub(super) fn is_silent(&self) -> bool {
        let is_nought = |key| self.number::<u64>(key) == Some(0);
        let is_told =
            self.number::<u64>("d") > Some(1) || self.eval().is_some_and(|eval| eval != 0);
        is_nought("n") && is_nought("s") && self.pv.is_empty() && !is_told
    }

    /// A figure of which 0 is written where nothing was told.
    pub(super) fn counted(&self, key: &str) -> Option<u64> {
        self.number(key).filter(|number| *number > 0)
    }

    pub(super) fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.words.get(key)?.parse().ok()
    }

    /// A time in milliseconds, as microseconds.
    pub(super) fn micros(&self, key: &str) -> Option<u64> {
        Some(self.number::<u64>(key)?.saturating_mul(1000))
    }

    /// An evaluation, White's view.
    pub(super) fn eval(&self) -> Option<i32> {
        let text = self.words.get("wv")?;
        let score = match text.trim_start_matches(['-', '+']).strip_prefix('M') {
            Some(plies) => {
                let plies: i32 = plies.parse().ok()?;
                Score::mate_in_plies(if text.starts_with('-') { -plies } else { plies })
            }
            None => {
                let pawns: f64 = text.parse().ok().filter(|pawns: &f64| pawns.is_finite())?;
                Score::centipawns((pawns * 100.0).round() as i64)
            }
        };
        Some(score.value())
    }
}

/// A line of SAN as UCI's words, up to the first that is no legal move.
fn line_of(before: &Chess, text: &str) -> String {
    let mut position = before.clone();
    let words = text.trim_end_matches(';').split_ascii_whitespace().map_while(|word| {
        let one = word.parse::<SanPlus>().ok()?.san.to_move(&position).ok()?;
        let uci = one.to_uci(position.castles().mode()).to_string();
        position.play_unchecked(one);
        Some(uci)
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_has_clocks_evaluation_and_line() {
        let text = "d=12, sd=20, mt=1250, tl=58000, s=9, n=10, pv=e4 e5 Nf3 Ke7 no, wv=-0.31, h=12.3, R50=50";
        let comment = RecordedComment::read(text, &Chess::default());
        assert_eq!((comment.micros("mt"), comment.eval()), (Some(1_250_000), Some(-31)));
        assert_eq!(comment.pv, "e2e4 e7e5 g1f3 e8e7");
        let mate = |text: &str| RecordedComment::read(text, &Chess::default()).eval();
        assert_eq!(mate("wv=-M4"), Some(Score::mate_in_plies(-4).value()));
        assert_eq!(mate("wv=inf"), None);
        assert!(RecordedComment::read("book", &Chess::default()).is_book);
        let forged = "d=2, wv=0.10, mb=+0, Black makes an illegal move: z,wv=-99.99,book,tl=1";
        let read = RecordedComment::read(forged, &Chess::default());
        assert_eq!(
            (read.eval(), read.is_book),
            (Some(10), false),
            "the runner's figures come first"
        );
    }

    #[test]
    fn figures_that_no_engine_told_are_none() {
        let read = |text: &str| RecordedComment::read(text, &Chess::default());
        // As TCEC's files have an engine that tells nothing, and as gate4k's own have one that tells no speed.
        assert!(
            read("d=1, sd=1, mt=80105, tl=1722895, s=0, n=0, pv=, tb=0, h=0.0, wv=0.00")
                .is_silent()
        );
        let own = read("d=9, sd=9, mt=250, tl=1802750, s=0, n=0, pv=e4, tb=null, h=0.0, wv=-0.31");
        assert!(!own.is_silent());
        assert_eq!((own.counted("s"), own.counted("n"), own.counted("d")), (None, None, Some(9)));
    }
}
