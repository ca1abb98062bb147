//! Reads recorded games as they are: nothing that a real file has wrong keeps the rest from being compared.
//!
//! Standings refuse a doubtful game (`pgn_source`); a replay takes its pairing and result, and says what is odd.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pgn_reader::{RawComment, RawTag, SanPlus, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Move, Outcome, Position};

use super::super::termination;
use super::stage_games::Tag;
use crate::game::pgn_tags::PgnTags;
use crate::game::pgn_text::{reader, unread};
use crate::model::game::ending::GameEnding;
use crate::model::game::listed::{ListedGame, ListedPlayer};
use crate::model::game::opening::Opening;
use crate::model::game::record::GameRecord;
use crate::model::game::result::GameResult;
use crate::model::game::variant::Variant;
use crate::model::text::shown;
use crate::model::words::counted;

/// The longest value that is kept of a tag, in characters.
const TAG_CHARS: usize = 200;

/// A recorded game.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    /// The game, with as many moves as could be read.
    pub(super) game: ListedGame,
    /// The kind of its start position.
    pub(super) variant: Variant,
    /// The content of its Round tag.
    pub(super) tag: Tag,
    /// The digits of its date and time, where its tags tell them: they sort as the games were played.
    pub(super) began: Option<String>,
}

impl Recorded {
    /// Its place and its engines: `3.1 A – B`.
    fn told(&self) -> String {
        let ListedGame { white, black, round, .. } = &self.game;
        let at = round.map(|at| format!("{at} ")).unwrap_or_default();
        format!("{at}{} – {}", white.name, black.name)
    }
}

/// The games of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadFile {
    /// In the file's order.
    pub(super) games: Vec<Recorded>,
    /// The oddities.
    pub(super) notes: Vec<String>,
}

/// Reads a file, plain or xz.
///
/// # Errors
/// When it cannot be opened.
pub(super) fn read(path: &Path) -> Result<ReadFile, (PathBuf, std::io::Error)> {
    let failed = |error| (path.to_owned(), error);
    let mut reader = reader(path, 1 << 14, 1 << 16).map_err(failed)?;
    let mut file = ReadFile::default();
    let mut games = Games::default();
    for number in 1u64.. {
        match reader.read_game(&mut games) {
            Ok(None) => break,
            Ok(Some(Ok((game, odd)))) => {
                if let Some(odd) = odd {
                    let told = game.told();
                    file.notes.push(format!("{}: game {number} ({told}) {odd}", shown(path)));
                }
                file.games.push(game);
            }
            Ok(Some(Err(odd))) => {
                file.notes.push(format!("{}: game {number} is left out: it {odd}", shown(path)));
            }
            Err(error) => {
                // The tags of a game that breaks off tell its pairing and its result.
                let broken = games.open.take().and_then(|tags| finish(Moves::without(tags)).ok());
                let from = match broken {
                    Some((game, _)) => {
                        file.games.push(game);
                        format!(
                            "game {number} breaks off, its tags count, and nothing is read behind them"
                        )
                    }
                    None => format!("nothing is read from game {number} on"),
                };
                file.notes.push(format!("{}: {from}: {error}", shown(path)));
                break;
            }
        }
    }
    Ok(file)
}

/// The visitor of a file's games.
#[derive(Default)]
struct Games {
    /// The tags of the game whose moves are being read.
    open: Option<PgnTags>,
}

struct Moves {
    tags: PgnTags,
    start: Chess,
    position: Chess,
    moves: Vec<Move>,
    said: Option<GameResult>,
    /// The reason why no more moves are looked at.
    odd: Option<String>,
}

impl Moves {
    /// A game of which nothing but the tags is known.
    fn without(tags: PgnTags) -> Moves {
        let start = Chess::default();
        Moves { tags, position: start.clone(), start, moves: Vec::new(), said: None, odd: None }
    }
}

impl Visitor for Games {
    type Tags = PgnTags;
    type Movetext = Moves;
    /// The game and what is odd about it, or why it cannot be used.
    type Output = Result<(Recorded, Option<String>), String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, PgnTags> {
        ControlFlow::Continue(PgnTags::default())
    }

    fn tag(
        &mut self,
        tags: &mut PgnTags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        tags.take(name, value, TAG_CHARS);
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: PgnTags) -> ControlFlow<Self::Output, Moves> {
        self.open = Some(tags.clone());
        let is_960 = is_960(&tags);
        let parsed = tags.get("FEN").map(|text| {
            let fen: Fen = text.parse().ok()?;
            let mode =
                if is_960 { CastlingMode::Chess960 } else { CastlingMode::detect(fen.as_setup()) };
            fen.into_position(mode).ok()
        });
        let odd = matches!(parsed, Some(None))
            .then(|| "has a FEN that is no position, and its moves are not looked at".to_owned());
        let start: Chess = parsed.flatten().unwrap_or_default();
        ControlFlow::Continue(Moves { position: start.clone(), start, odd, ..Moves::without(tags) })
    }

    fn san(&mut self, game: &mut Moves, san: SanPlus) -> ControlFlow<Self::Output> {
        if game.odd.is_some() {
            return ControlFlow::Continue(());
        }
        match san.san.to_move(&game.position) {
            Ok(played) => {
                game.position.play_unchecked(played);
                game.moves.push(played);
            }
            Err(error) => {
                let number = game.position.fullmoves();
                game.odd = Some(format!("has a move that is no move: {number} {san} ({error})"));
            }
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, game: &mut Moves, comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        if let (None, Some(word)) = (&game.odd, unread(comment.as_bytes())) {
            let number = game.position.fullmoves();
            game.odd = Some(format!("has a move that is no move: {number} {word} (not in SAN)"));
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, game: &mut Moves, outcome: Outcome) -> ControlFlow<Self::Output> {
        game.said = Some(outcome.into());
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Moves) -> Self::Output {
        self.open = None;
        finish(game)
    }
}

fn is_960(tags: &PgnTags) -> bool {
    let variant = tags.text("Variant").to_lowercase();
    variant.contains("fischer") || variant.contains("960") || is_shuffled(tags.get("FEN"))
}

/// True if a game begins with all its pieces on the first ranks, in another order than the classical one.
fn is_shuffled(fen: Option<&str>) -> bool {
    let Some(board) = fen.and_then(|fen| fen.split(' ').next()) else { return false };
    let [black, "pppppppp", "8", "8", "8", "8", "PPPPPPPP", white] =
        board.split('/').collect::<Vec<_>>()[..]
    else {
        return false;
    };
    let is_full =
        |rank: &str| rank.len() == 8 && rank.bytes().all(|piece| piece.is_ascii_alphabetic());
    is_full(black) && is_full(white) && (black, white) != ("rnbqkbnr", "RNBQKBNR")
}

/// A result as the tag has it, short forms too.
fn result_of(tag: &str) -> Option<GameResult> {
    let word: String = tag.split_whitespace().collect();
    match word.as_str() {
        "1/2" | "0.5-0.5" => Some(GameResult::Draw),
        word => GameResult::from_word(word),
    }
}

fn finish(game: Moves) -> <Games as Visitor>::Output {
    let Moves { tags, start, position, moves, said, odd } = game;
    let is_name = |name: &str| !name.is_empty() && name != "?";
    let (white, black) = (tags.text("White"), tags.text("Black"));
    if !is_name(white) || !is_name(black) {
        return Err("does not name both engines".to_owned());
    }
    if white == black {
        return Err(format!("has {white} on both sides"));
    }
    if [white, black].iter().any(|name| name.eq_ignore_ascii_case("bye")) {
        return Err("is a bye".to_owned());
    }
    let tagged = result_of(tags.text("Result")).filter(|result| *result != GameResult::Unfinished);
    let result = tagged.or(said).unwrap_or(GameResult::Unfinished);
    let mut all: Vec<String> = odd.into_iter().collect();
    if let (Some(tag), Some(moves)) = (tagged, said)
        && tag != moves
    {
        all.push(format!("says {tag} in its tag and {moves} behind its moves; the tag counts"));
    }
    if said.is_none() && !moves.is_empty() && all.is_empty() {
        all.push("has no result behind its moves, as if it were cut off".to_owned());
    }
    if all.is_empty()
        && let Some(claimed) = tags.read::<usize>("PlyCount")
        && claimed != moves.len()
    {
        all.push(format!("says {} and has {}", counted(claimed, "ply"), moves.len()));
    }
    let variant = if is_960(&tags) { start_of(tags.get("FEN")) } else { Variant::Standard };
    let end = termination::result(tags.text("TerminationDetails"), &position);
    if let Some(end) =
        end.filter(|end| all.is_empty() && result != GameResult::Unfinished && *end != result)
    {
        all.push(format!("says {result}, and its end {end}; the tag counts"));
    }
    let odd = (!all.is_empty()).then(|| all.join(", and "));
    let (details, word) = (tags.get("TerminationDetails"), tags.get("Termination"));
    let ending = GameEnding { result, reason: termination::of(details, word, &position, result) };
    let tag = if tags.text("Round").contains('.') { Tag::Place } else { Tag::Round };
    let began = began(&tags);
    let game = ListedGame {
        event: tags.text("Event").to_owned(),
        white: ListedPlayer { name: white.to_owned(), rating: tags.read("WhiteElo") },
        black: ListedPlayer { name: black.to_owned(), rating: tags.read("BlackElo") },
        round: tags.read("Round"),
        record: GameRecord::of_moves(Opening::new(start, Vec::new()), moves, ending),
    };
    Ok((Recorded { game, variant, tag, began }, odd))
}

/// The digits of the date and time at which a game began: cutechess's own tag, or the standard's two.
fn began(tags: &PgnTags) -> Option<String> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let started: String =
        tags.text("GameStartTime").chars().take("2018-10-05T13:31:40.473".len()).collect();
    let both = [digits(&started), digits(tags.text("Date")) + &digits(tags.text("Time"))];
    // A date that is not known in full sorts nothing.
    both.into_iter().find(|date| date.len() >= "20181005".len())
}

/// The digits of a date with its time in milliseconds, on a calendar whose months are equally long: moments sort as they do.
pub(super) fn moment(digits: &str) -> Option<u64> {
    let part = |from: usize, to: usize| digits.get(from..to)?.parse::<u64>().ok();
    let days = (part(0, 4)? * 12 + part(4, 6)?) * 31 + part(6, 8)?;
    let seconds = (part(8, 10)? * 60 + part(10, 12)?) * 60 + part(12, 14)?;
    Some((days * 86400 + seconds) * 1000 + part(14, 17).unwrap_or(0))
}

/// Tells a Chess960 position that both sides share from one of two different halves.
fn start_of(fen: Option<&str>) -> Variant {
    let Some(board) = fen.and_then(|fen| fen.split(' ').next()) else { return Variant::Chess960 };
    let mut ranks = board.split('/');
    let (black, white) = (ranks.next().unwrap_or(""), ranks.next_back().unwrap_or(""));
    if black.eq_ignore_ascii_case(white) { Variant::Chess960 } else { Variant::DoubleChess960 }
}
