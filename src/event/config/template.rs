//! The event file that `gate4k event new` writes: an event of the rules, with every setting explained.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::names::{distinct, listed, quoted, unreadable};
use super::no_entries::{CUP_ENGINES, NoEntries};
use super::{frd, leagues};
use crate::batch::discover;
use crate::runner::spec::{self, EngineSource, RequestedEngine};

const HEAD: &str = include_str!("templates/head.toml");

const GATE: &str = r#"# Rule 7: how thoroughly entries are checked before they play, "full", or "quick" without what can only advise.
gate = "full"
# Rule 0 (what no rule covers is the organisers'): whether an entry plays that could not be decided on this host.
admit-undecided = false

"#;

const CRASHES: &str = "# Season 17's rule (crashes after which an engine is disqualified) would be crash-limit = 3.\n";

const TRUSTED: &str = r#"# Engines that you trust: they play without gate and sandbox, and are frozen by the SHA-256 of their files and of those that
# their arguments and options name, such as a network. More keys of one: args = ["--uci"], dir = "engines",
# options = { Contempt = 0 }, init = ["xboard off"], rating = 3500. An [[entry]] of the 4k event may play beside them.
"#;

const STAGES: &str = include_str!("templates/4k.toml");

/// The events that `gate4k event new` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum EventTemplate {
    /// The 4k event.
    #[value(name = "4k")]
    FourK,
    /// The Swiss.
    Swiss,
    /// The Cup.
    Cup,
    /// The Cup by its older rules.
    CupOlder,
    /// A season of nTCEC.
    Ntcec,
    /// An FRD in Chess960, of trusted engines.
    Frd,
    /// A season of the leagues.
    Leagues,
    /// Season 17.
    #[value(name = "season-17")]
    Season17,
}

/// In which one event's file differs from another's.
struct TemplateParts {
    event: &'static str,
    clock: &'static str,
    draws: &'static str,
    stages: &'static str,
}

impl EventTemplate {
    fn shape(self) -> TemplateParts {
        match self {
            EventTemplate::FourK => TemplateParts {
                event: "TCEC 4k",
                clock: "# Rule 1.1: 30 minutes and 3 seconds a move.\ntime-control = \"30:00+3\"",
                draws: "# Rule 2: a 4k event adjudicates nothing. Draws by evaluation would be draw-rule = \"new\" or \"old\".",
                stages: STAGES,
            },
            EventTemplate::Swiss => TemplateParts {
                event: "TCEC Swiss",
                clock: "# Swiss rule 5.a: 30 minutes and 3 seconds a move.\ntime-control = \"30:00+3\"",
                draws: NEW_DRAWS,
                stages: SWISS,
            },
            EventTemplate::Cup => TemplateParts {
                event: "TCEC Cup",
                clock: "# Cup rule 5.a: 30 minutes and 3 seconds a move, further pairs too.\ntime-control = \"30:00+3\"",
                draws: NEW_DRAWS,
                stages: CUP,
            },
            EventTemplate::CupOlder => TemplateParts {
                event: "TCEC Cup",
                clock: "# Cup rule 5.a: 30 minutes and 5 seconds a move, further pairs too.\ntime-control = \"30:00+5\"",
                draws: OLD_DRAWS,
                stages: CUP_OLDER,
            },
            EventTemplate::Ntcec => TemplateParts {
                event: "nTCEC",
                clock: "# \"Time Control\": 150 minutes and 60 seconds a move in all stages.\ntime-control = \"150:00+60\"",
                draws: NTCEC_DRAWS,
                stages: NTCEC,
            },
            EventTemplate::Frd => TemplateParts {
                event: "TCEC FRD",
                clock: "# FRD rule 5.a: 30 minutes and 3 seconds a move in all stages, further pairs too.\ntime-control = \"30:00+3\"",
                draws: NEW_DRAWS,
                stages: "",
            },
            EventTemplate::Leagues => TemplateParts {
                event: "TCEC Leagues",
                clock: leagues::CLOCK,
                draws: leagues::DRAWS,
                stages: "",
            },
            EventTemplate::Season17 => TemplateParts {
                event: "TCEC Season 17",
                clock: leagues::CLOCK_17,
                draws: leagues::DRAWS_17,
                stages: "",
            },
        }
    }
}

/// The rules behind the lines of the head, in the words that begin their comments.
struct HeadRules {
    late: &'static str,
    goes_on: &'static str,
    options: &'static str,
    at_a_time: &'static str,
    drawn: &'static str,
    tables: &'static str,
    ratings: &'static str,
}

impl HeadRules {
    /// Those of the Swiss, the Cup and the FRD, which number them alike; what they do not say the leagues' rules do.
    const OF_MOST: HeadRules = HeadRules {
        late: "Rule 5.b",
        goes_on: "Rule 7.b.v",
        options: "The rules name no values.",
        at_a_time: "Leagues, rule 1.5",
        drawn: "Rule 6.a",
        tables: "Rule 7.b.iv",
        ratings: "Leagues, rule 13",
    };

    fn of(like: EventTemplate) -> HeadRules {
        let most = HeadRules::OF_MOST;
        match like {
            EventTemplate::Swiss | EventTemplate::Cup | EventTemplate::Frd => most,
            EventTemplate::FourK => HeadRules {
                late: "Rule 1.2",
                goes_on: "Rule 6.1.5",
                at_a_time: "Rule 0.1 (leagues, rule 1.5)",
                drawn: "Rule 2.2",
                tables: "Rule 6.1.4",
                ratings: "Rule 5",
                ..most
            },
            EventTemplate::CupOlder => {
                HeadRules { goes_on: "Rule 7.c.v", tables: "Rule 7.c.iv", ..most }
            }
            EventTemplate::Leagues => HeadRules {
                late: "Rule 10.5",
                goes_on: "Rule 14.1.5",
                at_a_time: "Rule 1.5",
                drawn: "Rule 10.1",
                tables: "Rule 14.1.4",
                ratings: "Rule 13",
                ..most
            },
            EventTemplate::Season17 => HeadRules {
                late: "Rule 15.a",
                goes_on: "Rule 15.b.v",
                at_a_time: "Rule 1.c",
                drawn: "Rule 11.a",
                tables: "Rule 15.b.iv",
                ratings: "Rule 14",
                ..most
            },
            EventTemplate::Ntcec => HeadRules {
                late: "\"Time Control\"",
                goes_on: "Not in nTCEC, whose games begin anew; elsewhere",
                options: "\"Number of Cores / Threads\" and \"Main Hash Size\" allow\n# up to 16 and 8192.",
                at_a_time: "\"General Information\"",
                drawn: "\"GUI Adjudication\"",
                tables: "\"GUI Adjudication\" asks no tables about games under way",
                ratings: "\"Engine Ratings\"",
            },
        }
    }

    /// The head with these in their places.
    fn fill(&self, head: &str) -> String {
        let HeadRules { late, goes_on, options, at_a_time, drawn, tables, ratings } = self;
        head.replace("@LATE@", late)
            .replace("@GOES_ON@", goes_on)
            .replace("@OPTIONS@", options)
            .replace("@AT_A_TIME@", at_a_time)
            .replace("@DRAWN@", drawn)
            .replace("@TABLES@", tables)
            .replace("@RATINGS@", ratings)
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
# Rules 7.c.ii and iii: an interruption ends a game at 10 or more, and within 0.15.
interruption = { win = ">=10", draw = "<=0.15" }"#;

const NTCEC_DRAWS: &str = r#"# "GUI Adjudication": from move 41 on ten evaluations in a row within 0.05 are a draw; three in a row of each engine at
# 6.5 or more are a win.
draw-rule = { within = 0.05, after-moves = 41 }
win-rule = { level = 6.5, moves = 3 }
# "Time Control": a game in which the computer locks up is restarted from the position after the opening.
interruption = "restart""#;

const SWISS: &str = include_str!("templates/swiss.toml");

const CUP: &str = include_str!("templates/cup.toml");

const CUP_OLDER: &str = include_str!("templates/cup-older.toml");

const NTCEC: &str = include_str!("templates/ntcec.toml");

/// Those who are to play.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Contestants<'a> {
    /// A file or directory each in a directory; hidden files and texts such as README.md are none.
    Directory(&'a Path),
    /// Those of a file of engines: cutechess's engines.json, or TOML.
    File(&'a Path),
}

impl Contestants<'_> {
    /// The engines in the order of their file, or of their names.
    fn engines(self) -> Result<Vec<RequestedEngine>, NoEntries> {
        let entries = match self {
            Contestants::File(path) => return Ok(spec::from_file(path)?),
            Contestants::Directory(entries) => entries,
        };
        let failed = |source| NoEntries::Read { path: entries.to_owned(), source };
        std::fs::read_dir(entries).map_err(failed)?;
        // With a slash behind it, a link stands for its directory.
        let found = discover::members(&entries.join(""))
            .ok_or_else(|| failed(std::io::Error::other(unreadable(entries))))?;
        let called = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            RequestedEngine { name, ..spec::entry(path) }
        };
        Ok(found.into_iter().map(called).collect())
    }

    fn path(self) -> PathBuf {
        let (Contestants::Directory(path) | Contestants::File(path)) = self;
        path.to_owned()
    }
}

/// Writes the file for these engines, as it will be seen from `beside` (the directory of the file to come). The engines of
/// the 4k event are entries, those of all others programs that are trusted. The stages play the openings of `books`, in
/// their order, the last one also those behind it; without any, of files that are still to be made.
///
/// # Errors
/// When there are not as many as the event needs.
pub(crate) fn template(
    like: EventTemplate,
    contestants: Contestants<'_>,
    beside: &Path,
    books: &[PathBuf],
) -> Result<String, NoEntries> {
    let found = contestants.engines()?;
    let (least, who) = match like {
        EventTemplate::FourK => (2, "the event"),
        EventTemplate::Swiss => (13, "a Swiss of 12 rounds"),
        EventTemplate::Cup => (CUP_ENGINES, "the bracket of the Cup"),
        EventTemplate::CupOlder => (9, "an older Cup with five books"),
        EventTemplate::Ntcec => (16, "nTCEC, in which 16 go on from the first stage,"),
        EventTemplate::Frd => (frd::LEAST, "an FRD"),
        EventTemplate::Leagues => (leagues::LEAST, "a season of the leagues"),
        EventTemplate::Season17 => (leagues::LEAST_17, "season 17"),
    };
    if found.len() < least {
        let bound = if like == EventTemplate::Cup { "exactly" } else { "at least" };
        return Err(NoEntries::TooFew {
            path: contestants.path(),
            is_file: matches!(contestants, Contestants::File(_)),
            found: found.len(),
            needs: format!("{who} needs {bound} {least}"),
        });
    }
    if like == EventTemplate::Cup && found.len() > CUP_ENGINES {
        return Err(NoEntries::TooMany { path: contestants.path(), found: found.len() });
    }
    let TemplateParts { event, clock, draws, stages } = like.shape();
    let is_4k = like == EventTemplate::FourK;
    let gate = if is_4k { GATE } else { "" };
    let mut text = HeadRules::of(like)
        .fill(HEAD)
        .replace("@EVENT@", event)
        .replace("@GATE@", gate)
        .replace("@CLOCK@", clock)
        .replace("@DRAWS@", draws)
        .replace("@CRASHES@", if like == EventTemplate::Season17 { "" } else { CRASHES });
    if !is_4k {
        text += TRUSTED;
    }
    text += "# Seeds give the places in the draw; without them it is the order here.\n";
    let (mut slugs, mut names) = (BTreeSet::new(), Vec::new());
    for (number, asked) in (1..).zip(found) {
        let name = distinct(&asked.name, number, &mut slugs);
        // invariant: writing to memory does not fail.
        let _ = writeln!(text, "{}", table(&name, asked, is_4k, beside));
        names.push(name);
    }
    text += &stages.replace("@SECTIONS@", &sections(names.len()).to_string());
    match like {
        EventTemplate::Frd => text += &frd::stages(&names),
        EventTemplate::Leagues => text += &leagues::stages(&names),
        EventTemplate::Season17 => text += &leagues::stages_17(&names),
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

/// Sections of a Swiss, of 5 to 7 engines each as far as their number allows it (Swiss, rule 2.a): as few as can be.
fn sections(engines: usize) -> usize {
    let few = engines.div_ceil(7);
    if few > 1 && engines < 5 * few { few - 1 } else { few.max(1) }
}

/// The beginning of the line that names a stage's book, or its books by round.
const BOOK: &str = "book = ";

/// The books that the text of an event file names, each once.
pub(crate) fn books_of(text: &str) -> Vec<&str> {
    let mut books = Vec::new();
    for names in text.lines().filter_map(|line| line.strip_prefix(BOOK)) {
        // Between its quotes; what stands outside of them are brackets and commas.
        for book in names.split('"').skip(1).step_by(2) {
            if !books.contains(&book) {
                books.push(book);
            }
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

/// One of those who play, as the file has it.
fn table(name: &str, asked: RequestedEngine, is_4k: bool, beside: &Path) -> String {
    let seen = |path: &Path| seen_from(beside, path);
    let mut keys = vec![("name", quoted(name))];
    let kind = match asked.source {
        EngineSource::Entry(path) if is_4k => {
            keys.push(("path", seen(&path)));
            "entry"
        }
        EngineSource::Entry(path) => {
            keys.push(("cmd", seen(&program_in(path))));
            "engine"
        }
        EngineSource::Program(program) => {
            let found = program.look().unwrap_or_else(|_| program.command.clone());
            keys.push(("cmd", seen(&found)));
            if !program.arguments.is_empty() {
                keys.push(("args", listed(&program.arguments)));
            }
            if let Some(directory) = &program.directory {
                keys.push(("dir", seen(directory)));
            }
            "engine"
        }
    };
    if !asked.init.is_empty() {
        keys.push(("init", listed(&asked.init)));
    }
    if !asked.options.is_empty() {
        let one =
            |(name, value): &(String, String)| format!("{} = {}", quoted(name), quoted(value));
        let all: Vec<String> = asked.options.iter().map(one).collect();
        keys.push(("options", format!("{{ {} }}", all.join(", "))));
    }
    let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    format!("[[{kind}]]\n{}", keys.concat()).trim_end().to_owned()
}

/// The program in a directory that is an engine's: `engine`, or the only file; else the path as it is, which is refused at
/// its line if it is no program.
fn program_in(path: PathBuf) -> PathBuf {
    let named = path.join("engine");
    if named.is_file() {
        return named;
    }
    let files = |path: &Path| {
        let there = std::fs::read_dir(path).ok()?.filter_map(|one| Some(one.ok()?.path()));
        Some(there.filter(|path| path.is_file()).collect::<Vec<_>>())
    };
    match files(&path).as_deref() {
        Some([only]) => only.clone(),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_a_swiss_have_five_to_seven_engines() {
        let told = [13, 14, 16, 22, 42, 60].map(sections);
        assert_eq!(told, [2, 2, 3, 4, 6, 9]);
        assert!((14..200).all(|all| {
            let few = sections(all);
            5 * few <= all && all <= 7 * few
        }));
        assert_eq!([5, 8, 9].map(sections), [1, 1, 1]);
    }
}
