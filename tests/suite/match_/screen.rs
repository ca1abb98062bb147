//! The screen of a person who watches a match on a terminal, and the output that a pipe gets.

use super::table::Table;

use crate::terminal::{interrupted_on_terminal, on_terminal};
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

fn forty_columns_hold_the_tables_and_the_clocks() {
    let table = Table::set("narrow");
    let engines = [table.engine("Alphabetical", "seed=1"), table.engine("B", "seed=2")];
    let command = table.command(&engines, &["--rounds", "1"]);
    let words: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
    let text = on_terminal(40, &words, &[]);
    table.nothing_is_left();
    for part in [
        "● B\n",
        // The clock runs.
        "1 ♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖     0:",
        " ◂\n",
        "The game begins, White to move\n8 ♜",
        "engine        score  Elo  LOS\n",
        "\nengine       points games won drawn lost\nAlphabetical ",
    ] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
}

fn a_message_stands_above_the_board_and_leaves_nothing_of_it() {
    let table = Table::set("message");
    // The game lasts so long after the signal that its board is drawn again.
    let engines = [table.engine("A", "seed=1 late@6:500"), table.engine("B", "seed=2")];
    let command = table.command(&engines, &["--rounds", "1", "--max-plies", "12"]);
    let words: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
    let text = interrupted_on_terminal(100, &words, &[], Some("White to move"));
    table.nothing_is_left();
    let (before, after) = text.split_once("finishing the games under way").expect("a note");
    let (_, between) = before.rsplit_once("\u{1b}[J").expect("the board is taken away before it");
    assert!(!between.contains('\n'), "{text:?}");
    assert!(after.split("\u{1b}[J").next().unwrap().contains("  a b c d e f g h"), "{text:?}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow forty_columns_hold_the_tables_and_the_clocks,
        slow a_message_stands_above_the_board_and_leaves_nothing_of_it,
        slow a_terminal_shows_a_board_and_a_table_and_a_pipe_gets_plain_lines,
    ]
}
