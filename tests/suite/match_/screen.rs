//! The screen of a person who watches a match on a terminal, and the output that a pipe gets.

use super::table::Table;

use crate::terminal::on_terminal;
use crate::trials::Test;

fn a_terminal_shows_a_board_and_a_table_and_a_pipe_gets_plain_lines() {
    let table = Table::set("screen");
    let engines = [table.engine("A", "seed=1"), table.engine("B", "seed=2")];
    let plain = table.play(&engines, &["--rounds", "2", "--sprt", "0,5"]);
    assert!(!plain.err.contains('\u{1b}') && !plain.out.contains('\u{1b}'), "{}", plain.err);
    assert_eq!(plain.out.matches("Finished game ").count(), 4, "{}", plain.out);

    let shown = |more: &[&str]| {
        let words = [&["--rounds", "2", "--sprt", "0,5"], more].concat();
        let command = table.command(&engines, &words);
        let words: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        let text = on_terminal(100, &words, &[]);
        table.nothing_is_left();
        assert_eq!(text.matches("Finished game ").count(), 4, "{text}");
        for part in ["1 of 4 games, ", "LOS", "LL  LD  WL  DD  WD  WW", "SPRT [0, 5]: LLR "] {
            assert!(text.contains(part), "{part}: {text:?}");
        }
        text
    };
    let text = shown(&[]);
    // Drawn, taken back, drawn again: the board and a blank line, a line for the whole, the heads, an engine each, and the test.
    assert!(text.contains("\u{1b}[17A\u{1b}[J"), "{text:?}");
    for part in [
        "Game 1, 10+0.1",
        "8 ♜ ♞ ♝ ♛ ♚ ♝ ♞ ♜   ● B",
        "0:10.0\n",
        "1 ♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖   ",
        "  a b c d e f g h    The game begins, White to move",
        " ◂",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A game that has ended stays with its last moves until another begins.
    for line in text.lines().filter(|line| line.contains("Finished game ")) {
        let (_, end) = line.split_once("): ").unwrap();
        let end = end.replacen(" {", ": ", 1).replace('}', "");
        let last = text.split("  a b c d e f g h    ").find(|part| part.starts_with(&end));
        assert!(last.is_some(), "{end}: {text}");
    }
    // Nobody could follow many at a time.
    let text = shown(&["--concurrency", "3"]);
    assert!(text.contains("\u{1b}[5A\u{1b}[J") && !text.contains('♜'), "{text:?}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_terminal_shows_a_board_and_a_table_and_a_pipe_gets_plain_lines,
    ]
}
