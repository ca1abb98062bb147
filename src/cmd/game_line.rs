//! The line on a game of a match that has ended: for people, and as fastchess has it.

use std::io::{self, Write};

use crate::model::game::ending::{GameEnding, Termination};
use crate::model::text::escape;

/// Writes the line of a game that has ended.
pub(super) fn people(
    game: usize,
    names: [&str; 2],
    summary: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let [white, black] = names.map(safe);
    // One of a journal may come from anybody.
    let summary = escape(summary.as_bytes(), usize::MAX);
    writeln!(out, "Finished game {} ({white} vs {black}): {summary}", game + 1)
}

/// A game that has ended, in ASCII: the client takes its number from the third word, its result from the seventh, and its reason
/// from what stands between the first colon and the next.
pub(super) fn fastchess(game: usize, [white, black]: [&str; 2], ending: &GameEnding) -> String {
    let loser = if ending.loser() == Some(shakmaty::Color::White) { "White" } else { "Black" };
    let winner = if loser == "White" { "Black" } else { "White" };
    let reason = match &ending.reason {
        // To a client an engine that does not start is one that is gone.
        Termination::NoStart(_) => format!("{loser} disconnects"),
        Termination::IllegalMove(_) => format!("{loser} makes an illegal move"),
        Termination::WinByEval => format!("{winner} wins by adjudication"),
        Termination::DrawByEval | Termination::Length => "Draw by adjudication".into(),
        _ => ending.details(),
    };
    let text = format!(
        "Finished game {} ({white} vs {black}): {} {{{reason}}}",
        game + 1,
        ending.result.word()
    );
    text.chars().map(|c| if c.is_ascii() && !c.is_ascii_control() { c } else { '?' }).collect()
}

/// An engine's name, harmless in a terminal.
pub(super) fn safe(name: &str) -> String {
    escape(name.as_bytes(), 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;

    #[test]
    fn a_line_has_the_words_that_the_client_looks_for() {
        let lost =
            |reason| fastchess(6, ["A-dev", "A-bäse"], &GameEnding::win(Color::Black, reason));
        let crash = lost(Termination::Crash { exit: None });
        assert_eq!(crash, "Finished game 7 (A-dev vs A-b?se): 0-1 {White disconnects}");
        assert_eq!(crash.split_whitespace().nth(6), Some("0-1"));
        let reason = |reason| lost(reason).split(':').nth(1).unwrap().to_owned();
        assert!(reason(Termination::NoStart("x: on time".into())).contains("disconnect"));
        assert!(reason(Termination::Time { over: None }).contains("on time"));
        assert!(
            reason(Termination::Stall { waited: std::time::Duration::ZERO }).contains("stalls")
        );
        let illegal = reason(Termination::IllegalMove("disconnect on time".into()));
        assert!(illegal.contains("illegal") && !illegal.contains("on time"), "{illegal}");
    }
}
