//! The messages of UCI as values: printing what we send, parsing what engines say.
//!
//! Pure, and lenient where real entries are sloppy (trailing blanks, `cp  00112`, `cp +00031`, `depth`
//! after `score`, a CR at the end). An engine's output is bytes of a stranger: any bytes at all parse
//! to something, at worst to [`Reply::Other`]. Only a `bestmove` is read strictly, because rule 7.9
//! asks for UCI, and a move that is written otherwise loses the game under most match runners (cutechess reads some of them).

use std::fmt;

use shakmaty::uci::UciMove;

use super::info::InfoLine;
use crate::model::evidence::MoveFault;
use crate::model::game::record::SearchInfo;

/// A message to an engine. Printing gives the line without its end; the wire adds a single LF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UciCommand<'a> {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    NewGame,
    /// `position startpos`, with `moves …` if there are any.
    StartPos(&'a [UciMove]),
    /// `position fen …`
    Fen(&'a str),
    /// `setoption name … value …`
    SetOption {
        /// The option's name as the engine announced it.
        name: &'a str,
        /// Its value; none for a button.
        value: Option<&'a str>,
    },
}

impl fmt::Display for UciCommand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UciCommand::Uci => f.write_str("uci"),
            UciCommand::IsReady => f.write_str("isready"),
            UciCommand::NewGame => f.write_str("ucinewgame"),
            UciCommand::StartPos(moves) => {
                f.write_str("position startpos")?;
                for (index, one) in moves.iter().enumerate() {
                    f.write_str(if index == 0 { " moves " } else { " " })?;
                    one.fmt(f)?;
                }
                Ok(())
            }
            UciCommand::Fen(fen) => write!(f, "position fen {fen}"),
            UciCommand::SetOption { name, value } => {
                write!(f, "setoption name {name}")?;
                match value {
                    Some(value) => write!(f, " value {value}"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// A line of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `id name …`
    Name(String),
    /// `id author …`
    Author(String),
    /// `uciok`
    UciOk,
    /// `readyok`
    ReadyOk,
    /// `option …`
    Option(OptionLine),
    /// `info …`
    Info(Info),
    /// `bestmove …`, well written or not.
    BestMove(Result<UciMove, MoveFault>),
    /// Anything else, the empty line too.
    Other,
}

/// An announced option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionLine {
    /// Its name; may have several words.
    pub(crate) name: String,
    /// `check`, `spin`, `combo`, `button`, `string`, as written.
    pub(crate) kind: String,
    /// Its default as written.
    pub(crate) default: Option<String>,
}

/// An `info` line, as far as evidence asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Its numbers.
    pub(crate) search: SearchInfo,
    /// True if there is a `pv` with at least one move.
    pub(crate) pv: bool,
    /// The text after `string`.
    pub string: Option<String>,
}

impl From<InfoLine<'_>> for Info {
    fn from(line: InfoLine<'_>) -> Info {
        let first = line.pv.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        Info {
            search: line.search,
            pv: read_move(&String::from_utf8_lossy(first)).is_ok(),
            string: line.string.map(|text| String::from_utf8_lossy(text).into_owned()),
        }
    }
}

/// Reads one line; any bytes will do.
pub fn parse(line: &[u8]) -> Reply {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split_ascii_whitespace();
    let Some(first) = words.next() else {
        return Reply::Other;
    };
    match first {
        "uciok" => Reply::UciOk,
        "readyok" => Reply::ReadyOk,
        "id" => match words.next() {
            Some("name") => Reply::Name(join(words)),
            Some("author") => Reply::Author(join(words)),
            _ => Reply::Other,
        },
        "option" => Reply::Option(parse_option(words)),
        "info" => InfoLine::read(line).map_or(Reply::Other, |info| Reply::Info(info.into())),
        "bestmove" => Reply::BestMove(read_move(words.next().unwrap_or_default())),
        // `\0bestmove e2e4`, as a write of too many bytes leaves behind: meant, but no runner reads it.
        odd if odd.contains('\0') && odd.trim_matches('\0').starts_with("bestmove") => {
            Reply::BestMove(Err(MoveFault::Bytes))
        }
        _ => Reply::Other,
    }
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

fn parse_option<'a>(words: impl Iterator<Item = &'a str>) -> OptionLine {
    let (mut name, mut kind, mut default) = (String::new(), String::new(), None::<String>);
    let mut current = "";
    for word in words {
        match word {
            "name" | "type" | "default" | "min" | "max" | "var" => {
                current = word;
                if word == "default" {
                    default.get_or_insert_default();
                }
            }
            _ => {
                let target = match current {
                    "name" => &mut name,
                    "type" => &mut kind,
                    "default" => default.get_or_insert_default(),
                    _ => continue,
                };
                if !target.is_empty() {
                    target.push(' ');
                }
                target.push_str(word);
            }
        }
    }
    OptionLine { name, kind, default }
}

/// The word behind `bestmove`, empty if there is none; none for another line. A runner reads no further, so what
/// stands behind it cannot spoil the move.
pub(crate) fn best_word(line: &[u8]) -> Option<&[u8]> {
    let rest = line.trim_ascii_start().strip_prefix(b"bestmove")?;
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    ends.then(|| rest.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or(b""))
}

/// Reads one move as UCI writes it: two squares in lower case and `q`, `r`, `b` or `n` for a promotion.
///
/// # Errors
/// The fault where it is not written so.
pub fn read_move(word: &str) -> Result<UciMove, MoveFault> {
    let read = squares(word.as_bytes());
    if read.is_ok() {
        return read;
    }
    if word.is_empty() {
        return Err(MoveFault::Missing);
    }
    if word.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER) {
        return Err(MoveFault::Bytes);
    }
    let lower = word.to_ascii_lowercase();
    if lower == "resign" {
        return Err(MoveFault::Resignation);
    }
    let plain = lower.trim_matches(['(', ')', '<', '>', '[', ']', '"', '\'']);
    if plain == "0000" {
        return Err(MoveFault::Null);
    }
    if matches!(plain, "none" | "null" | "nil" | "resign" | "draw" | "nan") {
        return Err(MoveFault::Word);
    }
    if let Err(fault @ (MoveFault::PromotionLetter | MoveFault::Square)) = read {
        return Err(fault);
    }
    if word != lower && squares(lower.as_bytes()).is_ok() {
        return Err(MoveFault::UpperCase);
    }
    let bare: String = lower
        .chars()
        .filter(|c| !matches!(c, '-' | '=' | 'x' | ':' | '/' | '.' | ',' | '+' | '#'))
        .collect();
    if bare != lower && squares(bare.as_bytes()).is_ok() {
        return Err(MoveFault::Separator);
    }
    if algebraic(word) {
        return Err(MoveFault::Algebraic);
    }
    Err(MoveFault::Shape)
}

fn squares(word: &[u8]) -> Result<UciMove, MoveFault> {
    let looks = |file: u8, rank: u8| file.is_ascii_lowercase() && rank.is_ascii_digit();
    let (&[a, b, c, d], rest) = word.split_first_chunk().ok_or(MoveFault::Shape)?;
    if !(looks(a, b) && looks(c, d)) || rest.len() > 1 {
        return Err(MoveFault::Shape);
    }
    let on_board = |file: u8, rank: u8| file <= b'h' && (b'1'..=b'8').contains(&rank);
    if !(on_board(a, b) && on_board(c, d)) {
        return Err(MoveFault::Square);
    }
    match rest.first() {
        None | Some(b'q' | b'r' | b'b' | b'n') => {
            UciMove::from_ascii(word).map_err(|_| MoveFault::Shape)
        }
        Some(letter) if letter.is_ascii_lowercase() => Err(MoveFault::PromotionLetter),
        Some(_) => Err(MoveFault::Shape),
    }
}

fn algebraic(word: &str) -> bool {
    word.parse::<shakmaty::san::SanPlus>().is_ok() || word.starts_with("0-0")
}

/// True if a text says that a move is of an opening book: the word, by itself or as part of a name like `own_book`, with a move or a word
/// of one (`book move`, `from book`, `Book: e4`) or alone, and no word beside it that denies it (`no book`, `out of book`, `OwnBook set to
/// false`). That a text names a book (`Book of Chess 1.0`, `book-keeping`) is no sign of one.
pub fn plays_from_book(text: &str) -> bool {
    const BOOK: [&str; 5] = ["book", "books", "ownbook", "bookmove", "openingbook"];
    /// Words of a move that is made from it.
    const OF_A_MOVE: [&str; 13] = [
        "bookmove", "entry", "from", "hit", "hits", "in", "line", "move", "moves", "played",
        "playing", "plays", "reply",
    ];
    /// Words that may stand beside that of the book where a text says nothing but that.
    const KINDS: [&str; 3] = ["my", "opening", "own"];
    const DENIALS: [&str; 33] = [
        "0",
        "aren",
        "cannot",
        "closed",
        "disabled",
        "doesn",
        "don",
        "empty",
        "end",
        "ended",
        "ends",
        "exhausted",
        "fail",
        "failed",
        "false",
        "ignored",
        "isn",
        "leaving",
        "left",
        "missing",
        "never",
        "no",
        "non",
        "none",
        "not",
        "off",
        "out",
        "skipped",
        "unavailable",
        "unused",
        "without",
        "wasn",
        "won",
    ];
    /// The most words that are looked at before that of the book, and behind it as far as the move.
    const BESIDE: usize = 3;
    let is_between_words = |c: char| !c.is_ascii_alphanumeric();
    let has_algebraic_move = text.split(is_between_words).any(algebraic);
    let text = text.to_ascii_lowercase();
    let words: Vec<&str> = text.split(is_between_words).filter(|word| !word.is_empty()).collect();
    let is_move = |word: &str| squares(word.as_bytes()).is_ok();
    let is_of_move = |word: &&str| is_move(word) || OF_A_MOVE.contains(word);
    let is_of_book = |word: &&str| BOOK.contains(word) || KINDS.contains(word);
    let tells_of_move =
        has_algebraic_move || words.iter().any(is_of_move) || words.iter().all(is_of_book);
    let denies = |word: &&str| DENIALS.contains(word);
    let is_denied = |at: usize| {
        let before = &words[at.saturating_sub(BESIDE)..at];
        let behind = words[at + 1..].iter().take(BESIDE).take_while(|word| !is_move(word));
        before.iter().chain(behind).any(denies)
    };
    let mut books = (0..words.len()).filter(|at| BOOK.contains(&words[*at])).peekable();
    books.peek().is_some() && tells_of_move && !books.any(is_denied)
}

/// True if `false` for this option switches off an own book or pondering (rule 0.1).
pub(crate) fn switches_book_or_pondering(kind: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // `UseBook` is one word; a notebook is none.
    let of_book = name.contains("book") && !name.contains("notebook");
    kind.eq_ignore_ascii_case("check") && (of_book || name.contains("ponder"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::game::score::Score;
    use proptest::prelude::*;

    fn best(line: &str) -> Result<String, MoveFault> {
        match parse(line.as_bytes()) {
            Reply::BestMove(Ok(best)) => Ok(best.to_string()),
            Reply::BestMove(Err(fault)) => Err(fault),
            other => panic!("{line:?} is {other:?}"),
        }
    }

    #[test]
    fn positions_are_move_lists() {
        assert_eq!(UciCommand::StartPos(&[]).to_string(), "position startpos");
        let moves = ["e2e4", "a7a8n"].map(|word| read_move(word).unwrap());
        assert_eq!(UciCommand::StartPos(&moves).to_string(), "position startpos moves e2e4 a7a8n");
        let set = UciCommand::SetOption { name: "Own Book", value: Some("false") };
        assert_eq!(set.to_string(), "setoption name Own Book value false");
    }

    #[test]
    fn sloppy_lines_of_real_entries() {
        assert_eq!(best("bestmove e2e4  "), Ok("e2e4".into()));
        assert_eq!(best("bestmove e7e8q ponder x\r"), Ok("e7e8q".into()));
        assert_eq!(best("  bestmove\ta2a1n"), Ok("a2a1n".into()));
        let Reply::Info(info) = parse(b"info score cp  00112 depth 7 pv e2e4 e7e5 \r") else {
            panic!()
        };
        assert_eq!(info.search.score, Some(Score::centipawns(112)));
        assert_eq!((info.search.depth, info.pv), (Some(7), true));
        for (line, value) in [
            ("info score cp +00031", Some(Score::centipawns(31))),
            ("info score cp -5 depth", Some(Score::centipawns(-5))),
            ("info score mate -3", Some(Score::mate(-3))),
            ("info score cp", None),
            ("info score cp +-3", None),
            ("info score cp 99999999999999999999", None),
            ("info", None),
        ] {
            let Reply::Info(info) = parse(line.as_bytes()) else { panic!() };
            assert_eq!(info.search.score, value, "{line}");
        }
        assert_eq!(parse(b"uciok \r"), Reply::UciOk);
        assert_eq!(parse(b""), Reply::Other);
        assert_eq!(parse(b"Readyok"), Reply::Other);
        assert_eq!(parse(b"id name  Foo   1.0"), Reply::Name("Foo 1.0".into()));
    }

    #[test]
    fn options_with_blanks_and_gaps() {
        let Reply::Option(option) = parse(b"option name Own Book type check default true") else {
            panic!()
        };
        assert_eq!(option.name, "Own Book");
        assert_eq!(option.kind, "check");
        assert_eq!(option.default.as_deref(), Some("true"));
        let Reply::Option(option) = parse(b"option name File type string default") else {
            panic!()
        };
        assert_eq!(option.default.as_deref(), Some(""));
        assert_eq!(parse(b"option"), Reply::Option(OptionLine::default()));
    }

    #[test]
    fn each_bad_bestmove_says_what_is_wrong() {
        for (line, fault) in [
            ("bestmove", MoveFault::Missing),
            ("bestmove ", MoveFault::Missing),
            ("bestmove 0000", MoveFault::Null),
            ("bestmove (none)", MoveFault::Word),
            ("bestmove NULL", MoveFault::Word),
            ("bestmove E2E4", MoveFault::UpperCase),
            ("bestmove e7e8Q", MoveFault::UpperCase),
            ("bestmove Nf3", MoveFault::Algebraic),
            ("bestmove e4", MoveFault::Algebraic),
            ("bestmove exd5", MoveFault::Algebraic),
            ("bestmove O-O", MoveFault::Algebraic),
            ("bestmove 0-0-0", MoveFault::Algebraic),
            ("bestmove e2-e4", MoveFault::Separator),
            ("bestmove e7e8=q", MoveFault::Separator),
            ("bestmove e7e8k", MoveFault::PromotionLetter),
            ("bestmove e7e8p", MoveFault::PromotionLetter),
            ("bestmove e2e9", MoveFault::Square),
            ("bestmove i2e4", MoveFault::Square),
            ("bestmove e2e4e5", MoveFault::Shape),
            ("bestmove ??", MoveFault::Shape),
            ("bestmove e2e4\0", MoveFault::Bytes),
            ("\0bestmove e2e4", MoveFault::Bytes),
        ] {
            assert_eq!(best(line), Err(fault), "{line:?}");
        }
        assert_eq!(parse(b"bestmove e2\xff4"), Reply::BestMove(Err(MoveFault::Bytes)));
        assert_eq!(parse(b"bestmovee2e4"), Reply::Other);
    }

    #[test]
    fn a_best_move_is_a_line_of_its_own() {
        for (line, word) in [
            ("bestmove e2e4 ponder e7e5", Some("e2e4")),
            (" bestmove\te2e4\r", Some("e2e4")),
            ("bestmove", Some("")),
            ("bestmove  \r", Some("")),
            ("bestmovee2e4", None),
            ("info string bestmove e2e4", None),
        ] {
            assert_eq!(best_word(line.as_bytes()), word.map(str::as_bytes), "{line:?}");
        }
    }

    #[test]
    fn only_a_switch_is_a_switch_of_book_or_pondering() {
        for (line, is) in [
            ("option name OwnBook type check default true", true),
            ("option name Own Book type check default true", true),
            ("option name Use_Book type check default false", true),
            ("option name UseBook type check default true", true),
            ("option name PONDER type check", true),
            ("option name Book File type string default a.bin", false),
            ("option name Hash type spin default 16", false),
            ("option name Notebook type check default true", false),
        ] {
            let Reply::Option(option) = parse(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(switches_book_or_pondering(&option.kind, &option.name), is, "{line}");
        }
    }

    #[test]
    fn a_book_is_played_from_where_no_word_denies_it() {
        for text in [
            "Book move e2e4",
            "from own_book: 12 moves",
            "book",
            "book move e2e4 not in the tables",
            "not searched, a hit of the opening book",
            "Book: Nf3",
            "My opening book",
            "bookmove",
        ] {
            assert!(plays_from_book(text), "{text}");
        }
        for text in [
            "notebook",
            "booking",
            "OwnBook set to false",
            "book off",
            "no book",
            "Book: off",
            "book disabled",
            "book file book.bin not found",
            "out of book",
            "without opening book",
            "book=0 depth=5",
            "using no opening book, searching",
            "Book moves: 0",
            "the book isn't there",
            "time book-keeping 3 ms",
            "a book-free engine",
            "a book-less engine",
            "book: unsupported",
            "Book of Chess 1.0",
            "hash 16 MB, book: nil, tb: nil",
            "book n/a",
            "book won't be used in moves",
            "this engine does not support any kind of opening book",
            "book=12 kB",
        ] {
            assert!(!plays_from_book(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_parse(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
        }

        #[test]
        fn any_words_parse(line in "(info|bestmove|option|id|uciok)( (score|cp|mate|pv|name|type|default|string|depth|[-+]?[0-9]{0,22}|[a-i][0-9][a-h][1-8][a-zA-Z]?|\\PC{0,6})){0,8}") {
            let _ = parse(line.as_bytes());
        }

        #[test]
        fn moves_survive_the_way_there_and_back(from in 0u32..64, to in 0u32..64) {
            let one = UciMove::Normal {
                from: shakmaty::Square::new(from),
                to: shakmaty::Square::new(to),
                promotion: None,
            };
            prop_assert_eq!(best(&format!("bestmove {one}")), Ok(one.to_string()));
        }
    }
}
