//! The event file that `gate4k event new` writes: an event of the rules, with every setting explained.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{frd, leagues, slug};
use crate::batch::discover;
use crate::model::text::shown;

/// An error that keeps an event file from being written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoEntries {
    /// The directory cannot be read.
    #[error("cannot read the entries in {}: {source}", shown(path))]
    Read {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// It holds fewer than the event needs.
    #[error(
        "there are not {least} entries in {}; put each in a file or directory of its own there, named as it \
         shall be called",
        shown(path)
    )]
    TooFew {
        /// The directory.
        path: PathBuf,
        /// How many there must be.
        least: usize,
    },
}

const HEAD: &str = r#"# An event of gate4k. `gate4k event run FILE` gates every entry, freezes it, plays, and goes on after
# whatever ended it. Paths are seen from this file. What is written here is frozen by the first run.

event = "@EVENT@"
site = "https://tcec-chess.com"

# How thoroughly entries are checked before they play: "full", or "quick" without what can only advise.
gate = "full"
# Whether an entry plays that could not be decided on this host.
admit-undecided = false

@CLOCK@
# How late a move may come without losing.
margin = "0s"
# Rule 6.1.5: what is added to both clocks when a game goes on after an interruption. The rule names no
# number.
compensation = "10s"

# Told to every engine that announces the option.
threads = 1
hash = 64
# Games at a time.
concurrency = 1

@DRAWS@
# Positions in which neither side can mate are drawn, as the real events play; false for the rule's letter.
material-draws = true
# Rule 6.1.4: directories of Syzygy tables, asked only about games that were interrupted.
syzygy = []
# Rule 5: the rating list counts these games (PGN, plain or xz, and journals of other events) and the event's
# own. They are read once, when the event begins. An entry without a game has the `rating` of its [[entry]].
history = []
# The mean of all ratings of that list. Without it, the entries' `rating`s give the scale; without both, the
# list shows differences and the games have no Elo tags.
# rating-mean = 2500
# Season 17's rule (crashes after which an engine is disqualified) would be crash-limit = 3.

"#;

const TRUSTED: &str = r#"# A program that is trusted plays without gate and sandbox, and is frozen by its SHA-256 alike:
# [[engine]]
# name = "Engine"
# cmd = "engines/engine"
# args = []
# options = { Contempt = 0 }

"#;

const STAGES: &str = r#"
# Rule 0.2: four double round robins in Berger order, the first without openings, each other with one
# opening for all its games.
[[stage]]
name = "Pool"
format = { double-round-robins = 4 }
book-policy = "first-bookless"
book = "pool.pgn"
draw = "seeds"
tie-breaks = "4k"
promote = 2

# Rules 0.4 and 3.2: 25 openings, each followed by its reverse; the pool's winner is Black in the first game
# of each pair; after a tie pairs until one engine wins one.
[[stage]]
name = "MiniFinal"
format = { pairs = 25 }
book-policy = "each"
book = "minifinal.pgn"
draw = "reversed-ranking"
tie-breaks = "4k"
promote = 1
# Rules 3.1 and 4.2: the MiniFinal is an event of its own. With updates = true the run pauses before it, and an engine
# that was updated then plays it, once it has passed the gate again.
updates = false
"#;

/// An event of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Like {
    /// The 4k event.
    FourK,
    /// The Swiss.
    Swiss,
    /// The Cup.
    Cup,
    /// The Cup by its older rules.
    CupOlder,
    /// A season of nTCEC.
    Ntcec,
    /// An FRD: Chess960 and double Chess960.
    Frd,
    /// A season of the leagues.
    Leagues,
    /// Season 17.
    Season17,
}

/// In which one event's file differs from another's.
struct Shape {
    event: &'static str,
    clock: &'static str,
    draws: &'static str,
    stages: &'static str,
}

impl Like {
    fn shape(self) -> Shape {
        match self {
            Like::FourK => Shape {
                event: "TCEC 4k",
                clock: "# Rule 1.1: 30 minutes and 3 seconds a move.\ntime-control = \"30:00+3\"",
                draws: "# Rule 2: a 4k event adjudicates nothing. Draws by evaluation would be draw-rule = \"new\" or \"old\".",
                stages: STAGES,
            },
            Like::Swiss => Shape {
                event: "TCEC Swiss",
                clock: "# Swiss rule 5.a: 30 minutes and 3 seconds a move.\ntime-control = \"30:00+3\"",
                draws: NEW_DRAWS,
                stages: SWISS,
            },
            Like::Cup => Shape {
                event: "TCEC Cup",
                clock: "# Cup rule 5.a: 30 minutes and 3 seconds a move, further pairs too.\ntime-control = \"30:00+3\"",
                draws: NEW_DRAWS,
                stages: CUP,
            },
            Like::CupOlder => Shape {
                event: "TCEC Cup",
                clock: "# Cup rule 5.a: 30 minutes and 5 seconds a move, further pairs too.\ntime-control = \"30:00+5\"",
                draws: OLD_DRAWS,
                stages: CUP_OLDER,
            },
            Like::Ntcec => Shape {
                event: "nTCEC",
                clock: "# 150 minutes and 60 seconds a move in all stages.\ntime-control = \"150:00+60\"",
                draws: NTCEC_DRAWS,
                stages: NTCEC,
            },
            Like::Frd => Shape {
                event: "TCEC FRD",
                clock: "# FRD rule 5.a: 30 minutes and 3 seconds a move in all stages, further pairs too.\ntime-control = \"30:00+3\"",
                draws: NEW_DRAWS,
                stages: "",
            },
            Like::Leagues => Shape {
                event: "TCEC Leagues",
                clock: leagues::CLOCK,
                draws: leagues::DRAWS,
                stages: "",
            },
            Like::Season17 => Shape {
                event: "TCEC Season 17",
                clock: leagues::CLOCK_17,
                draws: leagues::DRAWS_17,
                stages: "",
            },
        }
    }
}

const NEW_DRAWS: &str = r#"# Rule 6.b: with 6 pieces or fewer besides pawns, eight evaluations in a row within 0.25. The tables of rule 6.c
# end games under way with tables = "all", once syzygy names them.
draw-rule = "new"
# Rules 7.b.ii and iii: an interruption ends a game at 10 or more, and within 0.15.
interruption = { win = ">=10", draw = "<=0.15" }"#;

const OLD_DRAWS: &str = r#"# Rule 6.b: from move 35 on, ten evaluations in a row within 0.15. The tables of rule 6.c end games under way
# with tables = "all", once syzygy names them.
draw-rule = "old"
# Rules 7.b.ii and iii: an interruption ends a game at 10 or more, and within 0.15.
interruption = { win = ">=10", draw = "<=0.15" }"#;

const NTCEC_DRAWS: &str = r#"# From move 41 on ten evaluations in a row within 0.05 are a draw; three in a row of each engine at 6.5 or more are a win.
draw-rule = { within = 0.05, after-moves = 41 }
win-rule = { level = 6.5, moves = 3 }"#;

const SWISS: &str = r#"
# Rules 1.b and 2: twelve rounds by Monrad's system. Each pair plays the same opening with both colours (2.b), the better
# engine Black first, the worst pair at the beginning of a round.
[[stage]]
name = "Swiss"
# Rule 2.a: sections of 5 to 7 engines each before the first round. How many they are is the organisers' choice.
format = { swiss = { rounds = 12, pairing = "monrad", sections = 6, order = "worst-first", black-first = "better" } }
# Rule 4.a: an opening for each pair, in the book's order.
book = "swiss.pgn"
# Rules 1.c and 1.d: the seeds are the organisers', the last winner first.
draw = "seeds"
# Rule 3: Sonneborn-Berger, r-mobility, wins, direct encounter. What is still tied for the first place the organisers decide.
tie-breaks = "swiss"
"#;

const CUP: &str = r#"
# Rules 2.b to 2.e: 32 engines, five rounds, and a match for the third place.
[[stage]]
name = "Cup"
# Rule 2.c: the first eight stand at equal distances, the other 24 by lot: shuffle is the lot, the same number draws the
# same bracket. Rules 3.a to 3.e: 2, 3, 4, 6 and 12 pairs, 8 for the third place; a match ends as soon as it is decided,
# and after a tie goes on by pairs until one is decisive; the lower seed has White first.
format = { knockout = { bracket = "edps8-rrc", shuffle = 1, pairs = [2, 3, 4, 6, 12], bronze = 8, early = true, white-first = "lower" } }
# Rule 4.c: an opening for each pair. One file in place of the six books of rule 4.a: its openings in the order of matches,
# and behind them one for each match, in the same order, for the first pair that it is played on for, and so on.
book = "cup.pgn"
# Rules 1.d and 1.e: seeds by the last Swiss, the last winner first.
draw = "seeds"
"#;

const CUP_OLDER: &str = r#"
# Rules 2.b to 2.e: 32 engines, five rounds, and a match for the third place.
[[stage]]
name = "Cup"
# Rule 2.c: seeds at equal distances, 1 meets 17. Rules 3.a to 3.c: two pairs, an end as soon as a match is decided, after
# a tie pairs until one is decisive; the lower seed has White first.
format = { knockout = { bracket = "equal-distance", pairs = [2], bronze = 2, early = true, white-first = "lower" } }
# Rule 4.c: an opening for each pair. One file in place of the five books of rule 4.a: its openings in the order of matches.
book = "cup.pgn"
# Rules 1.d and 1.e: seeds by the last season, the last winner first.
draw = "seeds"
"#;

const NTCEC: &str = r#"
# Stage 1: seven rounds of a Swiss of 32 engines; seeds by rating, 1 meets 17; board 16 first.
[[stage]]
name = "Stage 1"
format = { swiss = { rounds = 7, pairing = "dutch", order = "worst-first" } }
book = "stage1.pgn"
draw = "seeds"
# The opponents' cumulative score, games with Black, wins, wins with Black, direct encounter.
tie-breaks = "ntcec-stage1"

# Stages 2a and 2b: places 1, 4, 5, 8 and so on, and the others; each pair plays an opening with both colours.
[[stage]]
name = "Stage 2a"
from = "Stage 1:1,4,5,8,9,12,13,16"
format = { round-robin = { doubles = 1, order = "rotation" } }
book = "stage2a.pgn"
# From here on: Sonneborn-Berger, games with Black, wins, wins with Black, direct encounter.
tie-breaks = "ntcec"
# Engines may be updated between stages.
updates = true

[[stage]]
name = "Stage 2b"
from = "Stage 1:2,3,6,7,10,11,14,15"
format = { round-robin = { doubles = 1, order = "rotation" } }
book = "stage2b.pgn"
tie-breaks = "ntcec"
updates = true

# Stage 3: the first four of both. The rules seed it by score; here 2a's stand before 2b's.
[[stage]]
name = "Stage 3"
from = ["Stage 2a:1..4", "Stage 2b:1..4"]
format = { round-robin = { doubles = 1, order = "rotation" } }
book = "stage3.pgn"
tie-breaks = "ntcec"
updates = true

# Stage 4: six games each against each.
[[stage]]
name = "Stage 4"
from = "Stage 3:1..4"
format = { round-robin = { doubles = 3, order = "rotation" } }
book = "stage4.pgn"
tie-breaks = "ntcec"
updates = true

# The Superfinal: 24 pairs to their end; after a tie four more games at a time.
[[stage]]
name = "Superfinal"
from = "Stage 4:1..2"
format = { match = { pairs = 24, then = [{ pairs = 2, until = "decisive" }] } }
book = "superfinal.pgn"
updates = true
"#;

/// Writes the file for the entries of a directory (hidden files and texts such as README.md are none), as it will be seen from `beside` (the directory of the
/// file to come). The stages play the openings of `books`, in their order, the last one also those behind it; without any,
/// of files that are still to be made.
///
/// # Errors
/// When there are no two entries.
pub(crate) fn template(
    like: Like,
    entries: &Path,
    beside: &Path,
    books: &[PathBuf],
) -> Result<String, NoEntries> {
    let failed = |source| NoEntries::Read { path: entries.to_owned(), source };
    std::fs::read_dir(entries).map_err(failed)?;
    // With a slash behind it, a link stands for its directory.
    let found = discover::members(&entries.join(""))
        .ok_or_else(|| failed(std::io::Error::other("a name in it is no UTF-8")))?;
    let least = match like {
        Like::Frd => frd::LEAST,
        Like::Leagues => leagues::LEAST,
        Like::Season17 => leagues::LEAST_17,
        _ => 2,
    };
    if found.len() < least {
        return Err(NoEntries::TooFew { path: entries.to_owned(), least });
    }
    let Shape { event, clock, draws, stages } = like.shape();
    let mut text =
        HEAD.replace("@EVENT@", event).replace("@CLOCK@", clock).replace("@DRAWS@", draws);
    // Chess960 is not for entries: what it is played by is trusted.
    let (kind, path_key) = if like == Like::Frd { ("engine", "cmd") } else { ("entry", "path") };
    if like != Like::FourK {
        text += TRUSTED;
    }
    text += "# Seeds give the places in the draw; without them it is the order here.\n";
    let (mut slugs, mut names) = (BTreeSet::new(), Vec::new());
    for (number, path) in (1..).zip(&found) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = distinct(&file, number, &mut slugs);
        let seen = seen_from(beside, path);
        // invariant: writing to memory does not fail.
        let _ = writeln!(text, "[[{kind}]]\nname = {}\n{path_key} = {seen}", quoted(&name));
        names.push(name);
    }
    text += stages;
    match like {
        Like::Frd => text += &frd::stages(&names),
        Like::Leagues => text += &leagues::stages(&names),
        Like::Season17 => text += &leagues::stages_17(&names),
        _ => {}
    }
    let mut books = books.iter().peekable();
    let lines = text.lines().map(|line| {
        let book =
            books.peek().filter(|_| line.starts_with(BOOK)).map(|book| seen_from(beside, book));
        if book.is_some() && books.len() > 1 {
            books.next();
        }
        book.map_or_else(|| format!("{line}\n"), |book| format!("book = {book}\n"))
    });
    Ok(lines.collect())
}

/// The beginning of the line that names a stage's book.
const BOOK: &str = "book = \"";

/// The books that the text of an event file names, each once.
#[must_use]
pub(crate) fn books_of(text: &str) -> Vec<&str> {
    let mut books = Vec::new();
    for line in text.lines() {
        let book = line.strip_prefix(BOOK).and_then(|rest| rest.strip_suffix('"'));
        if let Some(book) = book.filter(|book| !books.contains(book)) {
            books.push(book);
        }
    }
    books
}

/// A path as a file in `beside` names it, as text of TOML.
fn seen_from(beside: &Path, path: &Path) -> String {
    let seen = match path.strip_prefix(beside.strip_prefix(".").unwrap_or(beside)) {
        Ok(below) => below.to_owned(),
        // Of a file in another folder only the whole path is the same.
        Err(_) => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    };
    quoted(&seen.to_string_lossy())
}

/// A file's name as that of its entry; another where `event run` would not take it beside those before.
fn distinct(file: &str, number: usize, slugs: &mut BTreeSet<String>) -> String {
    let base = if slug(file).is_empty() { format!("entry {number}") } else { file.to_owned() };
    let mut name = base.clone();
    let mut more = 2;
    while !slugs.insert(slug(&name)) {
        name = format!("{base} ({more})");
        more += 1;
    }
    name
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
