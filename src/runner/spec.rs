//! The players of a match as they are named on the command line, and what every way of naming them gives.

mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::process::EngineProgram;
use crate::game::clock::TimeControl;
use crate::model::source_place::Misplaced;
use crate::model::text::shown;
use crate::model::units::{self, Bytes};

pub(crate) use file::from_file;

/// The part of UCI that an engine may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UciSubset {
    /// Only what rule 7.9 lists.
    Rule79,
    /// All of UCI that a match needs: FEN, movetime, nodes, depth, movestogo.
    Full,
}

/// The source of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EngineSource {
    /// A program that is trusted.
    Program(EngineProgram),
    /// An entry's file, to be confined.
    Entry(PathBuf),
}

/// An engine as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestedEngine {
    /// Its name in the match.
    pub(crate) name: String,
    /// True if the name was asked for; a name that only comes from the file may be replaced by a longer one.
    pub(crate) name_is_given: bool,
    /// Its source.
    pub(crate) source: EngineSource,
    /// Lines to send before `uci`, as they are. An entry has none: it is sent what rule 7.9 lists.
    pub(crate) init: Vec<String>,
    /// Options to set, where it announces them.
    pub(crate) options: Vec<(String, String)>,
    /// A time control of its own.
    pub(crate) control: Option<TimeControl>,
    /// The time that its moves may come late, where it has one of its own.
    pub(crate) margin: Option<Duration>,
    /// The part of UCI that it may be sent.
    pub(crate) subset: UciSubset,
    /// The memory that all its processes may really use together, where it has a limit of its own.
    pub(crate) memory: Option<Bytes>,
}

/// An engine that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpecError {
    /// Words on the command line.
    #[error(
        "the engine {text:?} is not understood: {why}; write an entry's path, \"name=A entry=PATH options.Hash=16\", or \
         \"name=A cmd=./engine args='…' options.Hash=16\""
    )]
    Words {
        /// The words as they were given.
        text: String,
        /// The fault.
        why: String,
    },
    /// A file that cannot be read.
    #[error(
        "cannot read the engines in {}: {source}; name cutechess's engines.json, or TOML with [[engine]] tables",
        shown(path)
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file with something wrong in it.
    #[error("the engines in {} are not understood: {why}", shown(path))]
    File {
        /// The file.
        path: PathBuf,
        /// The fault and its place.
        why: String,
    },
    /// A file in TOML with something wrong at a place.
    #[error(transparent)]
    Toml(#[from] Misplaced),
    /// Two engines of one name.
    #[error("two engines are called {name:?}; give one another name, such as \"{words}\"")]
    SameName {
        /// The name.
        name: String,
        /// The second one as it could be written.
        words: String,
    },
}

/// Reads an ENGINE of the command line.
///
/// # Errors
/// Says which word is wrong.
pub(crate) fn from_words(text: &str) -> Result<RequestedEngine, SpecError> {
    let bad = |why: String| SpecError::Words { text: text.to_owned(), why };
    let words = split(text).ok_or_else(|| bad("a quote is not closed".into()))?;
    let is_described =
        words.iter().any(|word| word.starts_with("cmd=") || word.starts_with("entry="));
    if !is_described || Path::new(text).exists() {
        let path = PathBuf::from(text);
        if text.contains('=') && !path.exists() {
            return Err(bad("there is neither cmd= nor entry=".into()));
        }
        return Ok(entry(path));
    }
    let mut raw = PartialEngine::default();
    for word in words {
        let (key, value) =
            word.split_once('=').ok_or_else(|| bad(format!("{word:?} is no key=value")))?;
        raw.set(key, value).map_err(bad)?;
    }
    raw.finish(Path::new("")).map_err(bad)
}

/// An entry of which nothing but its file is said.
pub(crate) fn entry(path: PathBuf) -> RequestedEngine {
    RequestedEngine {
        name: name_of(&path),
        name_is_given: false,
        source: EngineSource::Entry(path),
        init: Vec::new(),
        options: Vec::new(),
        control: None,
        margin: None,
        subset: UciSubset::Rule79,
        memory: None,
    }
}

/// The last part of a path, without an ending such as `.py`. A part with a digit is no ending: `tiny-1.2` is a version.
fn name_of(path: &Path) -> String {
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    match file.rsplit_once('.') {
        Some((stem, ending))
            if !stem.is_empty() && ending.chars().all(|c| c.is_ascii_alphabetic()) =>
        {
            stem.to_owned()
        }
        _ => file.into_owned(),
    }
}

/// Calls entries of one file name by the directories that they lie in: `a/engine` and `b/engine` are `a` and `b`.
///
/// # Errors
/// Names a name that two engines have even so.
pub(crate) fn tell_apart(engines: &mut [RequestedEngine]) -> Result<(), SpecError> {
    let Err(same) = distinct(engines) else { return Ok(()) };
    let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    for engine in engines.iter_mut().filter(|engine| !engine.name_is_given) {
        let clashes = names.iter().filter(|name| **name == engine.name).count() > 1;
        if let (true, EngineSource::Entry(path)) = (clashes, &engine.source)
            && let Some(folder) = std::path::absolute(path).ok().as_deref().and_then(Path::parent)
            && let Some(name) = folder.file_name()
        {
            engine.name = name.to_string_lossy().into_owned();
        }
    }
    // The name that somebody wrote says more than that of a directory which does not help.
    distinct(engines).map_err(|_| same)
}

/// Refuses two engines of one name.
fn distinct(engines: &[RequestedEngine]) -> Result<(), SpecError> {
    let mut names = std::collections::BTreeSet::new();
    let Some(second) = engines.iter().find(|engine| !names.insert(&engine.name)) else {
        return Ok(());
    };
    let (key, path) = match &second.source {
        EngineSource::Program(program) => ("cmd", &program.command),
        EngineSource::Entry(path) => ("entry", path),
    };
    let words = format!("name={}-2 {key}={}", second.name, shown(path));
    Err(SpecError::SameName { name: second.name.clone(), words })
}

/// An engine's settings before they are known to be whole.
#[derive(Default)]
struct PartialEngine {
    name: Option<String>,
    command: Option<String>,
    entry: Option<String>,
    arguments: Vec<String>,
    directory: Option<PathBuf>,
    environment: BTreeMap<String, String>,
    init: Vec<String>,
    options: Vec<(String, String)>,
    control: Option<TimeControl>,
    margin: Option<Duration>,
    fen: Option<bool>,
    memory: Option<Bytes>,
}

fn time(text: &str) -> Result<Duration, String> {
    units::time(text).map_err(|_| format!("margin={text} is no time with its unit, such as 250ms"))
}

impl PartialEngine {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key.split_once('.') {
            Some(("option" | "options", name)) => {
                self.options.push((name.to_owned(), value.to_owned()));
                return Ok(());
            }
            Some(("env", name)) => {
                self.environment.insert(name.to_owned(), value.to_owned());
                return Ok(());
            }
            _ => {}
        }
        match key {
            "name" => self.name = Some(value.to_owned()),
            "cmd" => self.command = Some(value.to_owned()),
            "args" => {
                self.arguments = split(value).ok_or("a quote in args= is not closed")?;
            }
            "entry" => self.entry = Some(value.to_owned()),
            "dir" => self.directory = Some(value.into()),
            "init" => self.init.push(value.to_owned()),
            "tc" => self.control = Some(value.parse().map_err(|e| format!("{e}"))?),
            "margin" => self.margin = Some(time(value)?),
            "memory" => self.memory = Some(value.parse().map_err(|e| format!("{e}"))?),
            "fen" => {
                self.fen = Some(match value {
                    "yes" | "true" => true,
                    "no" | "false" => false,
                    _ => return Err(format!("fen={value} is neither yes nor no")),
                });
            }
            _ => {
                return Err(format!(
                    "{key}= is unknown (name, cmd or entry, args, dir, init, tc, margin, fen, memory, options.NAME, env.NAME)"
                ));
            }
        }
        Ok(())
    }

    /// `here` is where relative paths of a file begin.
    fn finish(self, here: &Path) -> Result<RequestedEngine, String> {
        let directory = self.directory.as_ref().map(|directory| here.join(directory));
        let source = match (self.command, self.entry) {
            (Some(command), None) => EngineSource::Program(EngineProgram {
                command: located(&command, here, directory.as_deref()),
                arguments: self.arguments,
                directory,
                environment: self.environment,
                memory: self.memory,
                frozen: Vec::new(),
            }),
            (None, Some(path)) => {
                let unfit = [
                    ("args", !self.arguments.is_empty()),
                    ("dir", self.directory.is_some()),
                    ("env", !self.environment.is_empty()),
                ];
                if let Some((key, _)) = unfit.iter().find(|(_, is_there)| *is_there) {
                    return Err(format!(
                        "an entry is started by the sandbox, so it cannot have {key}; a program that you trust has cmd="
                    ));
                }
                EngineSource::Entry(here.join(path))
            }
            (Some(_), Some(_)) => {
                return Err("an engine has a command or is an entry, not both".into());
            }
            (None, None) => return Err("an engine has neither a command nor an entry".into()),
        };
        if matches!(source, EngineSource::Entry(_)) && !self.init.is_empty() {
            return Err(
                "an entry is sent only what rule 7.9 lists: it cannot have lines to begin with"
                    .into(),
            );
        }
        if self.options.iter().any(|(name, value)| !is_one_line(name, value)) {
            return Err(NOT_ONE_LINE.into());
        }
        let named = match &source {
            EngineSource::Program(program) => {
                program.command.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            EngineSource::Entry(path) => name_of(path),
        };
        let given = self.name.filter(|name| !name.trim().is_empty());
        let (name, name_is_given) = given.map_or((named, false), |name| (name, true));
        let full = self.fen.unwrap_or(matches!(source, EngineSource::Program(_)));
        Ok(RequestedEngine {
            name,
            name_is_given,
            source,
            init: self.init,
            options: self.options,
            control: self.control,
            margin: self.margin,
            subset: if full { UciSubset::Full } else { UciSubset::Rule79 },
            memory: self.memory,
        })
    }
}

/// The fault of an option that would be more than one line of UCI.
pub(crate) const NOT_ONE_LINE: &str =
    "an option and its value are one line of UCI: write them without control characters";

/// True if an option and its value are one line.
pub(crate) fn is_one_line(name: &str, value: &str) -> bool {
    !name.chars().chain(value.chars()).any(char::is_control)
}

/// A command with a slash is a path from the engine's own directory, as cutechess has it, where it is there, else from
/// `here`; without one it is looked for along PATH.
fn located(command: &str, here: &Path, directory: Option<&Path>) -> PathBuf {
    if !command.contains('/') {
        return command.into();
    }
    let own = directory.map(|directory| directory.join(command)).filter(|path| path.is_file());
    // It is started in that directory, from which this path is another one.
    let own = own.and_then(|path| std::path::absolute(path).ok());
    own.unwrap_or_else(|| here.join(command))
}

/// Splits at blanks; single and double quotes keep blanks together, as in a shell. None where a quote stays open. A command in an
/// engines.json is read as cutechess reads it, which knows no single quotes (`model::command_words`).
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line() {
        let engine = from_words(
            "name=A cmd=./tiny args=\"seed=3 'a b'\" options.Hash=16 env.X=1 tc=10+0.1 margin=250ms fen=no memory=64M",
        )
        .unwrap();
        let EngineSource::Program(program) = &engine.source else {
            panic!("no program");
        };
        assert_eq!(program.command, Path::new("./tiny"));
        assert_eq!(program.arguments, ["seed=3", "a b"]);
        assert_eq!(program.environment["X"], "1");
        assert_eq!((program.memory, engine.memory), (Some(Bytes(64 << 20)), Some(Bytes(64 << 20))));
        assert_eq!(engine.options, [("Hash".to_owned(), "16".to_owned())]);
        assert_eq!(engine.control, "10+0.1".parse().ok());
        assert_eq!(engine.margin, Some(Duration::from_millis(250)));
        assert_eq!((engine.name.as_str(), engine.subset), ("A", UciSubset::Rule79));

        let engine = from_words("cmd=stockfish").unwrap();
        assert_eq!((engine.name.as_str(), engine.subset), ("stockfish", UciSubset::Full));
        let engine = from_words("dir/my engine.sh").unwrap();
        assert_eq!(engine.source, EngineSource::Entry("dir/my engine.sh".into()));
        assert_eq!((engine.name.as_str(), engine.subset), ("my engine", UciSubset::Rule79));
    }

    #[test]
    fn an_entry_may_have_a_name_and_settings() {
        let words = "name=A entry='b c/engine' options.Hash=16 tc=1+0.1 memory=64M";
        let engine = from_words(words).unwrap();
        assert_eq!(engine.source, EngineSource::Entry("b c/engine".into()));
        assert_eq!((engine.name.as_str(), engine.subset), ("A", UciSubset::Rule79));
        assert_eq!((engine.memory, engine.control), (Some(Bytes(64 << 20)), "1+0.1".parse().ok()));
        assert_eq!(engine.options, [("Hash".to_owned(), "16".to_owned())]);
    }

    #[test]
    fn names_are_whole_and_entries_of_one_name_are_called_by_their_directories() {
        let names = |words: &[&str]| {
            let mut asked: Vec<RequestedEngine> =
                words.iter().map(|word| from_words(word).unwrap()).collect();
            tell_apart(&mut asked)?;
            Ok::<_, SpecError>(asked.into_iter().map(|one| one.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["x/tiny-1.2", "x/tiny-1.3"]).unwrap(), ["tiny-1.2", "tiny-1.3"]);
        assert_eq!(names(&["x/tiny.py", ".hidden"]).unwrap(), ["tiny", ".hidden"]);
        assert_eq!(names(&["a/engine", "b/engine", "c/other"]).unwrap(), ["a", "b", "other"]);
        assert_eq!(names(&["a/engine", "name=engine entry=b/engine"]).unwrap(), ["a", "engine"]);
        let error = names(&["a/engine", "a/engine"]).unwrap_err().to_string();
        let words =
            "called \"engine\"; give one another name, such as \"name=engine-2 entry=a/engine\"";
        assert!(error.contains(words), "{error}");
        assert!(names(&["cmd=x", "cmd=x"]).is_err());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("cmd=x hash=3", "hash= is unknown"),
            ("cmd=x memory=much", "the size \"much\" is not understood"),
            ("cmd=x tc=fast", "\"fast\" is not understood"),
            ("cmd=x fen=maybe", "neither yes nor no"),
            ("cmd=x 'open", "not closed"),
            ("cmd=x bare", "\"bare\" is no key=value"),
            ("name=x", "there is neither cmd= nor entry="),
            ("name=x entry=y cmd=z", "not both"),
            ("entry=y args=z", "it cannot have args"),
            ("entry=y dir=z", "it cannot have dir"),
            ("entry=y env.A=z", "it cannot have env"),
            ("entry=y init=z", "only what rule 7.9 lists"),
            ("cmd=x init='open", "not closed"),
        ] {
            let error = from_words(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let two = [from_words("cmd=x").unwrap(), from_words("cmd=x").unwrap()];
        assert!(distinct(&two).unwrap_err().to_string().contains("\"x\""));
    }
}
