//! The event file that `gate4k event new` writes: the 4k event of the rules, with every setting explained.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::slug;
use crate::batch::discover;
use crate::model::text::shown;

/// Why no event can be written.
#[derive(Debug, thiserror::Error)]
pub enum NoEntries {
    /// The directory cannot be read.
    #[error("cannot read the entries in {}: {source}", shown(path))]
    Read {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It holds less than two.
    #[error(
        "there are not two entries in {}; put each in a file or directory of its own there, named as it \
         shall be called",
        shown(path)
    )]
    TooFew {
        /// The directory.
        path: PathBuf,
    },
}

const HEAD: &str = r#"# An event of gate4k. `gate4k event run FILE` gates every entry, freezes it, plays, and goes on after
# whatever ended it. Paths are seen from this file. What is written here is frozen by the first run.

event = "TCEC 4k"
site = "https://tcec-chess.com"

# How thoroughly entries are checked before they play: "full", or "quick" without what can only advise.
gate = "full"
# Whether an entry plays that could not be decided on this host.
admit-undecided = false

# Rule 1.1: 30 minutes and 3 seconds a move.
time-control = "30:00+3"
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

# Rule 2: a 4k event adjudicates nothing. Draws by evaluation would be draw-rule = "new" or "old".
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

/// Writes the file for the entries of a directory (hidden files and texts such as README.md are none), as it will be seen from `beside` (the directory of the
/// file to come).
///
/// # Errors
/// When there are no two entries.
pub fn template(entries: &Path, beside: &Path) -> Result<String, NoEntries> {
    let failed = |source| NoEntries::Read { path: entries.to_owned(), source };
    std::fs::read_dir(entries).map_err(failed)?;
    // With a slash behind it, a link stands for its directory.
    let found = discover::members(&entries.join(""))
        .ok_or_else(|| failed(std::io::Error::other("a name in it is no UTF-8")))?;
    if found.len() < 2 {
        return Err(NoEntries::TooFew { path: entries.to_owned() });
    }
    let mut text = HEAD.to_owned();
    text += "# Seeds give the places in the draw; without them it is the order here.\n";
    let mut slugs = BTreeSet::new();
    for (number, path) in (1..).zip(&found) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = distinct(&file, number, &mut slugs);
        let seen = path.strip_prefix(beside).unwrap_or(path).to_string_lossy();
        // invariant: writing to memory does not fail.
        let _ = writeln!(text, "[[entry]]\nname = {}\npath = {}", quoted(&name), quoted(&seen));
    }
    text += STAGES;
    Ok(text)
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
