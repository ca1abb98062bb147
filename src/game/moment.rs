//! A moment of a game, as lines that bring an engine there.

use super::go::Go;

/// The lines that an engine is told from its start on until it has to move: its options, the position by the FEN of its
/// beginning (none for the classical one) and all moves since, and the question.
pub(crate) fn lines<'a>(
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
    fen: Option<&str>,
    moves: &[impl AsRef<str>],
    go: Go,
) -> Vec<String> {
    let mut lines = vec!["uci".to_owned()];
    for (name, value) in options {
        lines.push(format!("setoption name {name} value {value}"));
    }
    lines.extend(["isready", "ucinewgame", "isready"].map(str::to_owned));
    let mut position = match fen {
        Some(fen) => format!("position fen {fen}"),
        None => "position startpos".to_owned(),
    };
    for (number, one) in moves.iter().enumerate() {
        position += if number == 0 { " moves " } else { " " };
        position += one.as_ref();
    }
    lines.push(position);
    lines.push(go.to_string());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::go::Clocks;

    #[test]
    fn an_engine_is_brought_there() {
        let go = Go::Clock(Clocks::even(900, 10));
        let told = lines([("Hash", "16")], None, &["e2e4", "e7e5"], go);
        assert_eq!(told[..2], ["uci", "setoption name Hash value 16"]);
        assert_eq!(told[5], "position startpos moves e2e4 e7e5");
        assert_eq!(told[6], "go wtime 900 btime 900 winc 10 binc 10");
        let told = lines([], Some("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), &[""; 0], Go::Bare);
        assert_eq!(told[4], "position fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1");
    }
}
