//! `live.json`: the game that is shown, each move with all that is known of it.

use std::time::Duration;

use serde_json::{Map, Value, json};
use shakmaty::fen::Fen;
use shakmaty::{Board, Color, Role};

use crate::event::broadcast::{BroadcastGame, ShownMove};
use crate::model::game::score::Score;
use crate::model::units::whole_millis;

/// The document; the headers are those of the game's PGN.
pub(super) fn document(game: &BroadcastGame, pgn: &str) -> Value {
    let moves = game.moves();
    let [white, black] = &game.started.options;
    json!({
        "Headers": headers(pgn),
        "WhiteEngineOptions": options(white),
        "BlackEngineOptions": options(black),
        "Moves": (0..moves.len()).map(|number| one(game, &moves, number)).collect::<Value>(),
    })
}

/// The tags of a PGN that was written here: one a line, quotes and backslashes escaped.
fn headers(pgn: &str) -> Map<String, Value> {
    let tags = pgn.lines().take_while(|line| line.starts_with('['));
    tags.filter_map(|line| {
        let (name, value) = line.strip_prefix('[')?.strip_suffix("\"]")?.split_once(" \"")?;
        let mut plain = String::new();
        let mut rest = value.chars();
        while let Some(c) = rest.next() {
            plain.extend(if c == '\\' { rest.next() } else { Some(c) });
        }
        Some((name.to_owned(), plain.into()))
    })
    .collect()
}

/// `Protocol=uci; Threads=1;` as a list.
fn options(line: &str) -> Value {
    let options = line.split(';').filter_map(|option| option.trim().split_once('='));
    options.map(|(name, value)| json!({ "Name": name, "Value": value })).collect()
}

fn one(game: &BroadcastGame, moves: &[ShownMove<'_>], number: usize) -> Value {
    let Some(one) = moves.get(number) else { return Value::Null };
    let (from, to) = squares(&one.uci);
    let mut value = json!({
        "m": one.san,
        "from": from,
        "to": to,
        "fen": one.fen,
        "book": one.ply.is_none(),
        "material": material(&one.fen),
    });
    let (Some(ply), Some(object)) = (one.ply, value.as_object_mut()) else { return value };
    let depth = ply.depth.unwrap_or(1);
    let fens = game.line_fens(moves, number);
    let line = one.line.iter().map(|step| (step.san.as_str(), step.uci.as_str()));
    let figures = json!({
        "d": depth,
        "sd": ply.seldepth.unwrap_or(depth),
        "mt": millis(ply.used),
        "tl": millis(ply.clocks[one.side.fold_wb(0, 1)]),
        "s": ply.speed.unwrap_or(0),
        "n": ply.nodes.unwrap_or(0),
        "tb": ply.table_hits,
        "h": format!("{:.1}", f64::from(ply.hashfull.unwrap_or(0)) / 10.0),
        "ph": "0.0",
        "wv": Score::from_value(ply.eval.unwrap_or(0)).to_string(),
        "pv": {
            "San": one.line.iter().map(|step| step.san.as_str()).collect::<Vec<_>>().join(" "),
            "Moves": line.zip(&fens).map(step).collect::<Value>(),
        },
        "adjudication": {
            "FiftyMoves": 100u32.saturating_sub(one.quiet) / 2,
            "Draw": ply.rules_in.draw.number(),
            "ResignOrWin": ply.rules_in.win.number(),
        },
    });
    if let Value::Object(figures) = figures {
        object.extend(figures);
    }
    value
}

fn step(((san, uci), fen): ((&str, &str), &String)) -> Value {
    let (from, to) = squares(uci);
    json!({ "m": san, "fen": fen, "from": from, "to": to })
}

fn squares(uci: &str) -> (&str, &str) {
    (uci.get(..2).unwrap_or_default(), uci.get(2..4).unwrap_or_default())
}

/// Whole milliseconds, as the comments of the event's PGN have them.
fn millis(micros: u64) -> u64 {
    whole_millis(Duration::from_micros(micros))
}

/// White's pieces less Black's.
fn material(fen: &str) -> Value {
    let board = fen.parse::<Fen>().map_or_else(|_| Board::empty(), |fen| fen.into_setup().board);
    let more = |role| {
        let count = |side: Color| (board.by_role(role) & board.by_color(side)).count() as i64;
        count(Color::White) - count(Color::Black)
    };
    json!({
        "p": more(Role::Pawn),
        "n": more(Role::Knight),
        "b": more(Role::Bishop),
        "r": more(Role::Rook),
        "q": more(Role::Queen),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_options_are_taken_apart_as_they_were_put_together() {
        let pgn = "[White \"A \\\"quoted\\\" \\\\ name\"]\n[Result \"*\"]\n\n1. e4 {[x \"y\"]} *\n";
        let headers = headers(pgn);
        assert_eq!(headers["White"], "A \"quoted\" \\ name");
        assert_eq!(headers.len(), 2);
        let listed = options("Protocol=uci; Threads=1; Book=a=b;");
        assert_eq!(listed[1], json!({ "Name": "Threads", "Value": "1" }));
        assert_eq!(listed[2]["Value"], "a=b");
    }

    #[test]
    fn times_are_those_of_the_comments_in_the_pgn() {
        assert_eq!([999, 1_000, 64_653_999].map(millis), [0, 1, 64_653]);
    }

    #[test]
    fn pieces_are_counted_for_white() {
        let more = material("4k3/8/8/8/8/8/4P3/R2QK3 w - - 0 1");
        assert_eq!(more, json!({ "p": 1, "n": 0, "b": 0, "r": 1, "q": 1 }));
    }
}
