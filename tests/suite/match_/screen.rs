//! The screen of a person who watches a match on a terminal, and the output that a pipe gets.

use std::process::{Command, Stdio};

use super::table::Table;

use crate::trials::Test;

fn a_terminal_shows_a_table_and_a_pipe_gets_plain_lines() {
    let table = Table::set("screen");
    let engines = [table.engine("A", "seed=1"), table.engine("B", "seed=2")];
    let plain = table.play(&engines, &["--rounds", "2", "--sprt", "0,5"]);
    assert!(!plain.err.contains('\u{1b}') && !plain.out.contains('\u{1b}'), "{}", plain.err);
    assert_eq!(plain.out.matches("Finished game ").count(), 4, "{}", plain.out);

    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let command = table.command(&engines, &["--rounds", "2", "--sprt", "0,5"]);
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| quoted(word.to_str().unwrap()))
        .collect();
    // util-linux's script gives a terminal; it is told to run one command and write no typescript.
    let shown = Command::new("script")
        .args(["-q", "-e", "-c", &words.join(" "), "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(shown.status.success(), "{shown:?}");
    let text = String::from_utf8_lossy(&shown.stdout);
    table.nothing_is_left();
    assert_eq!(text.matches("Finished game ").count(), 4, "{text}");
    // Drawn, taken back, drawn again: a line for the whole, the heads, an engine each, and the test.
    assert!(text.contains("\u{1b}[5A\u{1b}[J"), "{text:?}");
    for part in ["1 of 4 games, ", "LOS", "LL  LD  WL  DD  WD  WW", "SPRT [0, 5]: LLR "] {
        assert!(text.contains(part), "{part}: {text:?}");
    }
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_terminal_shows_a_table_and_a_pipe_gets_plain_lines [Script],
    ]
}
