//! Reads the games of a PGN, plain or xz, one after the other: memory does not grow with the file.
//!
//! Standings decide who plays for a title, so nothing is guessed here: a game without a result, with an
//! illegal move or with fewer moves than it claims is an error that names the file, the game and the line.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Move, Outcome, Position};

use super::termination;
use crate::files::read;
use crate::game::pgn_tags::PgnTags;
use crate::game::pgn_text::{LineCount, Lines, unpacked, unread};
use crate::model::game::ending::GameEnding;
use crate::model::game::listed::{ListedGame, ListedPlayer};
use crate::model::game::opening::Opening;
use crate::model::game::record::GameRecord;
use crate::model::game::result::GameResult;
use crate::model::text::shown;
use crate::model::words::counted;

/// The longest name of an engine or event that is kept, in characters.
const NAME_CHARS: usize = 200;

/// The longest tag line, in bytes; engine options may stand in tags.
const TAG_BYTES: usize = 1 << 14;

/// The longest comment that is looked at as one, in bytes; principal variations stand in comments.
const COMMENT_BYTES: usize = 1 << 16;

/// A PGN that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PgnError {
    /// The file cannot be opened.
    #[error(
        "cannot open {}: {source}; name a PGN, or an event's journal (event.journal)",
        shown(path)
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file cannot be read on, or unpacked, or is no PGN here.
    #[error("{}:{line}: game {game}: cannot be read: {source}", shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The game in the file, from 1.
        game: u64,
        /// The error of the system, the unpacker or the parser.
        source: io::Error,
    },
    /// A game is not what standings can be made of.
    #[error("{}:{line}: game {game}: {fault}", shown(path))]
    Game {
        /// The file.
        path: PathBuf,
        /// The line, from 1: of the move, or of the end of the game.
        line: u64,
        /// The game in the file, from 1.
        game: u64,
        /// The fault.
        fault: Fault,
    },
    /// The file has no tag and no game before the first fault.
    #[error(
        "{} is neither a PGN nor a journal; name a PGN, or the event's journal (event.journal)",
        shown(path)
    )]
    NoPgn {
        /// The file.
        path: PathBuf,
    },
}

/// The fault of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A tag that every game needs is not there.
    #[error("it has no {0} tag")]
    MissingTag(&'static str),
    /// A tag does not say what it should.
    #[error("its tag [{tag} \"{value}\"] is {wrong}")]
    BadTag {
        /// The tag.
        tag: &'static str,
        /// Its value, cut.
        value: String,
        /// Its fault.
        wrong: String,
    },
    /// A move is not possible.
    #[error("{number} {san} is {wrong}")]
    BadMove {
        /// The move's number, such as `12.` or `12...`.
        number: String,
        /// The move as written.
        san: String,
        /// `illegal san`, `ambiguous san` or `no move in SAN`.
        wrong: String,
    },
    /// Moves go on behind the result.
    #[error("a move stands behind its result; is a tag section missing?")]
    MoveAfterResult,
    /// A result or a variation behind the result, of which nothing is counted.
    #[error(
        "more text stands behind its result, and is passed over; is it of a game whose tags are missing?"
    )]
    TextAfterResult,
    /// The tag and the end of the moves differ.
    #[error("its tag says {tag}, but its moves end with {moves}")]
    TwoResults {
        /// The tag's result.
        tag: GameResult,
        /// The result behind the moves.
        moves: GameResult,
    },
    /// The moves end without a result.
    #[error("its moves end without a result; is the file cut off?")]
    NoResult,
    /// A result that the last position denies: told, since organisers may have ruled so.
    #[error("its result is {said}, and its last position {shown}; it counts as it says")]
    OtherOnBoard {
        /// The result of the tag and behind the moves.
        said: GameResult,
        /// The result that the position shows.
        shown: GameResult,
    },
    /// A tag that is wrong, or moves that were lost: told, and no reason to refuse the game, whose moves end as they should.
    #[error("its PlyCount tag says {claimed}, and it has {}; it counts as it is", counted(*found, "ply"))]
    PlyCount {
        /// The tag's number.
        claimed: usize,
        /// The number of plies that are there.
        found: usize,
    },
}

/// The games of one PGN, in its order. After an error there are no more.
pub struct PgnSource {
    reader: Reader<Lines<Box<dyn Read + Send>>>,
    lines: LineCount,
    path: PathBuf,
    game: u64,
    visitor: GameVisitor,
    ended: bool,
    warnings: Vec<PgnError>,
}

impl std::fmt::Debug for PgnSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgnSource")
            .field("path", &self.path)
            .field("game", &self.game)
            .finish_non_exhaustive()
    }
}

impl PgnSource {
    /// Opens a file; one that is packed with xz is unpacked on the way.
    ///
    /// # Errors
    /// [`PgnError::Open`].
    pub fn open(path: &Path) -> Result<PgnSource, PgnError> {
        let file = read::stream(path).and_then(|file| PgnSource::new(Box::new(file), path));
        file.map_err(|source| PgnError::Open { path: path.into(), source })
    }

    /// Reads from anything; `path` is its name in messages.
    ///
    /// # Errors
    /// The error that kept the first bytes from being read.
    pub(crate) fn new(input: Box<dyn Read + Send>, path: &Path) -> io::Result<PgnSource> {
        let (lines, count) = Lines::new(unpacked(input)?);
        Ok(PgnSource {
            reader: Reader::build(lines)
                .set_supported_tag_line_length(TAG_BYTES)
                .set_supported_comment_length(COMMENT_BYTES)
                .finish(),
            lines: count,
            path: path.into(),
            game: 0,
            visitor: GameVisitor::default(),
            ended: false,
            warnings: Vec::new(),
        })
    }

    /// The oddities of the games so far that keep none of them from being counted.
    pub fn warnings(&mut self) -> Vec<PgnError> {
        std::mem::take(&mut self.warnings)
    }
}

impl Iterator for PgnSource {
    type Item = Result<ListedGame, PgnError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let read = self.reader.read_game(&mut self.visitor);
        let (path, game) = (self.path.clone(), self.game + 1);
        let line = self.lines.line(self.reader.buffer());
        let error = match read {
            Ok(Some(Ok((record, odd)))) => {
                self.game = game;
                let odd = odd.map(|fault| PgnError::Game { path, line, game, fault });
                self.warnings.extend(odd);
                return Some(Ok(record));
            }
            Ok(None) => {
                self.ended = true;
                return None;
            }
            Ok(Some(Err(_))) if game == 1 && !self.visitor.has_tags => PgnError::NoPgn { path },
            Ok(Some(Err(fault))) => PgnError::Game { path, line, game, fault },
            Err(source) => PgnError::Read { path, line, game, source },
        };
        self.ended = true;
        Some(Err(error))
    }
}

/// A game on its way.
struct Moves {
    tags: PgnTags,
    start: Chess,
    position: Chess,
    moves: Vec<Move>,
    /// The number of them that are the event's book, counted from the first.
    book: usize,
    comment: Vec<u8>,
    result: Option<GameResult>,
    /// Text behind the result that is no move and no comment.
    behind: Option<Fault>,
}

#[derive(Debug, Default)]
struct GameVisitor {
    /// True once a tag was read.
    has_tags: bool,
}

impl GameVisitor {
    fn start(fen: Option<&str>) -> Result<Chess, Fault> {
        let Some(text) = fen else {
            return Ok(Chess::default());
        };
        let bad = |wrong: String| Fault::BadTag { tag: "FEN", value: text.to_owned(), wrong };
        let fen: Fen = text.parse().map_err(|_| bad("no FEN".to_owned()))?;
        let mode = CastlingMode::detect(fen.as_setup());
        fen.into_position(mode).map_err(|error| bad(error.to_string()))
    }
}

impl Visitor for GameVisitor {
    type Tags = PgnTags;
    type Movetext = Moves;
    type Output = Result<(ListedGame, Option<Fault>), Fault>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, PgnTags> {
        ControlFlow::Continue(PgnTags::default())
    }

    fn tag(
        &mut self,
        tags: &mut PgnTags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        self.has_tags = true;
        tags.take(name, value, NAME_CHARS);
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: PgnTags) -> ControlFlow<Self::Output, Moves> {
        match GameVisitor::start(tags.get("FEN")) {
            Ok(start) => ControlFlow::Continue(Moves {
                tags,
                position: start.clone(),
                start,
                moves: Vec::new(),
                book: 0,
                comment: Vec::new(),
                result: None,
                behind: None,
            }),
            Err(fault) => ControlFlow::Break(Err(fault)),
        }
    }

    fn san(&mut self, game: &mut Moves, san: SanPlus) -> ControlFlow<Self::Output> {
        if game.result.is_some() {
            return ControlFlow::Break(Err(Fault::MoveAfterResult));
        }
        match san.san.to_move(&game.position) {
            Ok(played) => {
                game.position.play_unchecked(played);
                game.moves.push(played);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(Err(Fault::BadMove {
                number: next_number(&game.position),
                san: san.to_string(),
                wrong: error.to_string(),
            })),
        }
    }

    fn partial_comment(
        &mut self,
        game: &mut Moves,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        if game.comment.len() < COMMENT_BYTES {
            game.comment.extend_from_slice(comment.as_bytes());
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, game: &mut Moves, comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        let mut whole = std::mem::take(&mut game.comment);
        whole.extend_from_slice(comment.as_bytes());
        if let Some(san) = unread(&whole) {
            return ControlFlow::Break(Err(Fault::BadMove {
                number: next_number(&game.position),
                san,
                wrong: "no move in SAN".to_owned(),
            }));
        }
        // The event marks each move of its book; of all else in comments nothing is counted.
        let is_book = whole.split(|byte| *byte == b',').any(|word| word.trim_ascii() == b"book");
        if is_book && game.book + 1 == game.moves.len() {
            game.book += 1;
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, game: &mut Moves, outcome: Outcome) -> ControlFlow<Self::Output> {
        if game.result.replace(outcome.into()).is_some() {
            game.behind = Some(Fault::TextAfterResult);
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, game: &mut Moves) -> ControlFlow<Self::Output, Skip> {
        if game.result.is_some() {
            game.behind = Some(Fault::TextAfterResult);
        }
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, game: Moves) -> Self::Output {
        finish(game)
    }
}

/// The number of the next move as PGN has it: `12.` or `12...`.
fn next_number(position: &Chess) -> String {
    format!("{}{}", position.fullmoves(), position.turn().fold_wb(".", "..."))
}

/// Checks that a game agrees with its tags.
fn finish(game: Moves) -> Result<(ListedGame, Option<Fault>), Fault> {
    let tags = game.tags;
    let name = |tag| {
        let name = tags.get(tag).filter(|name| !name.is_empty() && *name != "?");
        name.map(str::to_owned).ok_or(Fault::MissingTag(tag))
    };
    let (white, black) = (name("White")?, name("Black")?);
    if white == black {
        return Err(Fault::BadTag {
            tag: "Black",
            value: black,
            wrong: "White's name too".to_owned(),
        });
    }
    let said = tags.get("Result").ok_or(Fault::MissingTag("Result"))?;
    let said = GameResult::from_word(said).ok_or_else(|| Fault::BadTag {
        tag: "Result",
        value: said.to_owned(),
        wrong: "no result; 1-0, 0-1, 1/2-1/2 and * are".to_owned(),
    })?;
    let result = game.result.ok_or(Fault::NoResult)?;
    if result != said {
        return Err(Fault::TwoResults { tag: said, moves: result });
    }
    let found = game.moves.len();
    let claimed = tags.read("PlyCount").filter(|claimed| *claimed != found);
    let odd = claimed.map(|claimed| Fault::PlyCount { claimed, found });
    let shown = termination::on_the_board(&game.position).filter(|shown| *shown != result);
    // One without a result does not count at all.
    let shown = shown.filter(|_| said != GameResult::Unfinished);
    let odd =
        odd.or(game.behind).or_else(|| shown.map(|shown| Fault::OtherOnBoard { said, shown }));
    let (details, word) = (tags.get("TerminationDetails"), tags.get("Termination"));
    let termination = termination::of(details, word, &game.position, result);
    let mut book = game.moves;
    let played = book.split_off(game.book);
    let ending = GameEnding { result, reason: termination };
    let listed = ListedGame {
        event: tags.get("Event").filter(|name| *name != "?").unwrap_or_default().to_owned(),
        white: ListedPlayer { name: white, rating: tags.read("WhiteElo") },
        black: ListedPlayer { name: black, rating: tags.read("BlackElo") },
        round: tags.read("Round"),
        record: GameRecord::of_moves(Opening::new(game.start, book), played, ending),
    };
    Ok((listed, odd))
}
