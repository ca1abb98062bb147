//! Rule `single-file` (7.2): from an ENTRY argument to the one file that is judged.
//!
//! The files that were handed in are a stranger's: nothing is opened before it is known to be a regular file, no
//! link is followed, nothing blocks, and no size makes the reading long.

use std::ffi::OsStr;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::model::rule::RuleId;
use crate::model::source_place::SourcePlace;
use crate::model::text::{escape, hex, shell_word};
use crate::model::units::Bytes;
use crate::model::verdict::Finding;
use crate::model::words::{self, counted};
use crate::submission::engines_json::{
    ConfigProblem, EnginesJson, SelectError, commands, select, starts,
};
use crate::submission::{Mode, Submission};

/// The number of bytes of a file that are kept: enough to name the format of something far too large.
pub(crate) const READ_AT_MOST: Bytes = Bytes(16 << 20);

/// The largest file that is hashed; a larger one is rejected by its size, and hashing it would take long.
const HASH_AT_MOST: Bytes = Bytes(1 << 30);

/// The most bytes of a configuration.
const CONFIG_AT_MOST: Bytes = Bytes(1 << 20);

/// The configuration beside an entry.
const ENGINES_JSON: &str = "engines.json";

/// gate4k's own note beside a fixture that must fail; it is never staged.
const EXPECTED: &str = "expected.toml";

/// The longest such note.
const NOTE_AT_MOST: Bytes = Bytes(1024);

/// The caller's choices.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadOptions {
    /// A configuration in place of the one beside the entry.
    pub(crate) engines_json: Option<PathBuf>,
    /// The engine of a configuration with several.
    pub(crate) name: Option<String>,
}

/// The result of an ENTRY argument.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The entry that is judged further; none where there is no file that could be read as the entry.
    pub(crate) submission: Option<Submission>,
    /// The finding of `single-file`.
    pub(crate) finding: Finding,
}

/// The reason that there is nothing to judge; never the entry's own fault.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The path is wrong, or not ours to read.
    #[error(
        "cannot read the entry {}: {source}; name a file or a directory that you may read",
        shown(path)
    )]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The directory holds nothing to check.
    #[error("nothing to check in {}: {what}; put the engine's file there", shown(path))]
    Nothing {
        /// The path.
        path: PathBuf,
        /// Its contents, in words.
        what: &'static str,
    },
    /// The configuration cannot be read.
    #[error(
        "cannot read the configuration {}: {source}; name a readable engines.json, or leave --engines-json out",
        shown(path)
    )]
    Config {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// `--name` names no engine of the configuration.
    #[error("no engine in {} is called {name:?}; choose with --name one of: {}", shown(path), known.join(", "))]
    NoSuchName {
        /// The configuration.
        path: PathBuf,
        /// The name that was wanted.
        name: String,
        /// The names that there are, escaped.
        known: Vec<String>,
    },
    /// `--name` without a configuration to choose from.
    #[error(
        "--name {name:?} chooses from engines.json, but {} has none; name it with --engines-json",
        shown(path)
    )]
    NoConfig {
        /// The entry.
        path: PathBuf,
        /// The name that was wanted.
        name: String,
    },
}

/// Resolves an ENTRY argument.
///
/// # Errors
/// When the path cannot be read, holds nothing, or the options choose no configuration.
pub(crate) fn load(path: &Path, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let unreadable = |source| LoadError::Unreadable { path: path.to_owned(), source };
    let metadata = path.symlink_metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return directory(path, options);
    }
    if metadata.is_symlink() && is_stream(path) {
        let what = "it is a stream of a process and no file; write it to a file, and name that";
        return Err(LoadError::Nothing { path: path.to_owned(), what });
    }
    if !metadata.is_file() {
        return Ok(not_a_file(path, metadata.file_type()));
    }
    let config = read_config(path, None, options)?;
    let config = chosen(config, path, options)?;
    let submission = read_entry(path, &metadata, Vec::new(), config).map_err(unreadable)?;
    Ok(whole(submission))
}

/// True for the names of open files of a process: `/dev/stdin`, `/dev/fd/63` (`<(…)` of a shell), `/proc/self/fd/0`.
fn is_stream(link: &Path) -> bool {
    ["/proc", "/dev/fd", "/dev/stdin"].iter().any(|top| link.starts_with(top))
}

/// The next step where a link stands for the file.
fn instead_of_link(path: &Path) -> String {
    let target = path.read_link().unwrap_or_default();
    if path.exists() {
        format!("hand in what it leads to: {}", shown(&target))
    } else {
        format!("hand in the file itself; it leads to {}, which is not there", shown(&target))
    }
}

/// A path that is neither a file nor a directory.
fn not_a_file(path: &Path, kind: FileType) -> Loaded {
    let finding = Finding::fail(
        RuleId::SingleFile,
        format!("{} is {}, not a regular file", shown(path), kind_name(kind)),
    )
    .with("kind", kind_name(kind));
    let finding = if kind.is_symlink() {
        finding
            .with("target", shown(&path.read_link().unwrap_or_default()))
            .help(instead_of_link(path))
    } else {
        finding.help("hand in one regular file")
    };
    Loaded { submission: None, finding: finding.with("path", shown(path)) }
}

/// The finding for an entry that is one file, or one of several.
fn whole(submission: Submission) -> Loaded {
    let extra = &submission.extra;
    let finding = if extra.is_empty() {
        Finding::pass(RuleId::SingleFile, format!("one regular file of {}", submission.size))
    } else {
        Finding::fail(
            RuleId::SingleFile,
            format!(
                "{} {} beside {}: {}",
                counted(extra.len(), "other thing"),
                if extra.len() == 1 { "lies" } else { "lie" },
                escape(submission.file_name.as_bytes(), 60),
                words::some(extra, NAMED)
            ),
        )
        .help(if extra.len() == 1 {
            ONE_FILE.to_owned()
        } else {
            let name = escape(submission.file_name.as_bytes(), 60);
            format!("{ONE_FILE}; if what lies beside it are entries, move {name} elsewhere")
        })
    };
    let finding = finding
        .with("path", shown(&submission.path))
        .with("bytes", submission.size)
        .with("sha256", &submission.sha256)
        .with("extra", extra);
    Loaded { submission: Some(submission), finding }
}

/// The next step for an entry of several files.
const ONE_FILE: &str =
    "hand in one file (and engines.json, if it is needed); put everything else into it";

/// The number of things beside an entry that are named.
const NAMED: usize = 8;

/// An item of a directory.
struct Item {
    path: PathBuf,
    metadata: Metadata,
}

impl Item {
    fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Its name with what it is, unless that is a file.
    fn shown(&self) -> String {
        let name = escape(self.name().as_encoded_bytes(), 80);
        if self.metadata.is_file() {
            name
        } else {
            format!("{name} ({})", kind_name(self.metadata.file_type()))
        }
    }
}

/// The number of names of a directory that are looked at; a directory with more is wrong for every one of them.
const ITEMS_AT_MOST: usize = 1000;

fn directory(path: &Path, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let unreadable = |source| LoadError::Unreadable { path: path.to_owned(), source };
    let mut items = Vec::new();
    for item in path.read_dir().map_err(unreadable)?.take(ITEMS_AT_MOST) {
        let path = item.map_err(unreadable)?.path();
        let metadata = path.symlink_metadata().map_err(unreadable)?;
        items.push(Item { path, metadata });
    }
    items.sort_by(|a, b| a.path.cmp(&b.path));
    let had_any = !items.is_empty();
    let mut take = |wanted: fn(&Item) -> bool| -> Option<Item> {
        let at = items.iter().position(wanted)?;
        Some(items.remove(at))
    };
    let config = take(|item| item.name() == ENGINES_JSON && item.metadata.is_file());
    take(|item| item.name() == EXPECTED && is_note(item));
    if items.is_empty() {
        return Err(LoadError::Nothing {
            path: path.to_owned(),
            what: match (config, had_any) {
                (Some(_), _) => "it holds engines.json, but no engine",
                (None, true) => "it holds no engine",
                (None, false) => "it is empty",
            },
        });
    }
    let config = read_config(path, config.as_ref(), options)?;
    let Some(main) = choose(&items, config.as_ref()) else {
        let names: Vec<String> = items.iter().map(Item::shown).collect();
        let summary = match items.as_slice() {
            [only] => format!("{} holds no regular file, only {}", shown(path), only.shown()),
            _ => format!(
                "{} holds {} things, and which is the engine is open: {}",
                shown(path),
                items.len(),
                words::some(&names, NAMED)
            ),
        };
        let each = match shell_word(path) {
            Some(folder) => format!("name each of them (`gate4k check {folder}/*`)"),
            None => "name each of them".to_owned(),
        };
        let is_folder = |item: &&Item| item.metadata.is_dir();
        let (folders, others): (Vec<&Item>, Vec<&Item>) = items.iter().partition(is_folder);
        let help = if let [only] = items.as_slice()
            && only.metadata.is_symlink()
        {
            instead_of_link(&only.path)
        } else if folders.len() > others.len() {
            // A file that has nothing to do in a folder of entries.
            let others: Vec<String> = others.into_iter().map(Item::shown).collect();
            format!(
                "if each directory in it is an entry, move what is none elsewhere: {}",
                words::some(&others, NAMED)
            )
        } else {
            format!(
                "leave only the engine's file in the directory (and engines.json, if it is needed); where each file is an entry \
                 of its own, {each}, or the directory in `entries` of gate4k.toml"
            )
        };
        let finding = Finding::fail(RuleId::SingleFile, summary)
            .with("path", shown(path))
            .with("extra", names)
            .help(help);
        return Ok(Loaded { submission: None, finding });
    };
    let main = items.remove(main);
    let config = chosen(config, &main.path, options)?;
    let extra = items.iter().map(Item::shown).collect();
    let submission = read_entry(&main.path, &main.metadata, extra, config)
        .map_err(|source| LoadError::Unreadable { path: main.path.clone(), source })?;
    Ok(whole(submission))
}

/// True for a note that says which rules its entry fails: any other file of that name could hold what the entry has no room for.
fn is_note(item: &Item) -> bool {
    if !item.metadata.is_file() || item.metadata.len() > NOTE_AT_MOST.0 {
        return false;
    }
    let mut text = String::new();
    let read = open_regular(&item.path, &item.metadata)
        .and_then(|file| file.take(NOTE_AT_MOST.0).read_to_string(&mut text));
    read.is_ok() && text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("fails"))
}

/// The item that is the engine, so that the other rules can be judged as well: the one that
/// engines.json starts, else the only file, else the only executable one.
fn choose(items: &[Item], config: Option<&Config>) -> Option<usize> {
    let words =
        (config.and_then(|config| config.text.as_deref().ok())).map_or(Vec::new(), commands);
    let started = |item: &Item| starts(&words, &item.name().to_string_lossy());
    let only = |wanted: &dyn Fn(&Item) -> bool| {
        let mut found = (items.iter().enumerate())
            .filter(|(_, item)| item.metadata.is_file() && wanted(item))
            .map(|(index, _)| index);
        found.next().filter(|_| found.next().is_none())
    };
    only(&started)
        .or_else(|| only(&|_| true))
        .or_else(|| only(&|item| Mode(item.metadata.mode()).is_executable()))
}

/// A configuration before an engine is chosen from it.
struct Config {
    path: PathBuf,
    text: Result<String, ConfigProblem>,
}

/// Reads the configuration that was named, or else the one beside the entry.
fn read_config(
    entry: &Path,
    beside: Option<&Item>,
    options: &LoadOptions,
) -> Result<Option<Config>, LoadError> {
    let (path, file) = match (&options.engines_json, beside) {
        // named by the user, who may well name a link or a pipe
        (Some(named), _) => (named.as_path(), File::open(named)),
        (None, Some(item)) => (item.path.as_path(), open_regular(&item.path, &item.metadata)),
        (None, None) => {
            return match &options.name {
                None => Ok(None),
                Some(name) => {
                    Err(LoadError::NoConfig { path: entry.to_owned(), name: name.clone() })
                }
            };
        }
    };
    let mut bytes = Vec::new();
    file.and_then(|file| file.take(CONFIG_AT_MOST.0 + 1).read_to_end(&mut bytes))
        .map_err(|source| LoadError::Config { path: path.to_owned(), source })?;
    let text = if Bytes::of(&bytes) > CONFIG_AT_MOST {
        let what = format!("the file has more than {CONFIG_AT_MOST}");
        Err(ConfigProblem::not_text(what, SourcePlace { line: 1, column: 1 }))
    } else {
        String::from_utf8(bytes).map_err(|broken| {
            let at = broken.utf8_error().valid_up_to();
            let bytes = broken.as_bytes();
            let good = String::from_utf8_lossy(bytes.get(..at).unwrap_or_default());
            let byte = bytes.get(at).copied().unwrap_or_default();
            let what = format!("the byte {byte:02X} there is not UTF-8");
            ConfigProblem::not_text(what, SourcePlace::of(&good, at))
        })
    };
    Ok(Some(Config { path: path.to_owned(), text }))
}

/// Chooses the entry's engine from a configuration.
fn chosen(
    config: Option<Config>,
    entry: &Path,
    options: &LoadOptions,
) -> Result<Option<EnginesJson>, LoadError> {
    let Some(Config { path, text }) = config else {
        return Ok(None);
    };
    let file_name = entry.file_name().unwrap_or_default().to_string_lossy();
    let (text, selected) = match text {
        Err(problem) => (String::new(), Err(problem)),
        Ok(text) => match select(&text, options.name.as_deref(), &file_name) {
            Ok(engine) => (text, Ok(engine)),
            Err(SelectError::Problem(problem)) => (text, Err(problem)),
            Err(SelectError::NoSuchName(known)) => {
                return Err(LoadError::NoSuchName {
                    path,
                    name: options.name.clone().unwrap_or_default(),
                    known,
                });
            }
        },
    };
    Ok(Some(EnginesJson { path, text, selected }))
}

/// Opens what was seen to be a regular file, and makes sure that it still is the same one.
fn open_regular(path: &Path, seen: &Metadata) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let now = file.metadata()?;
    if !now.is_file() || (now.dev(), now.ino()) != (seen.dev(), seen.ino()) {
        return Err(io::Error::other("it was replaced while it was being read"));
    }
    Ok(file)
}

fn read_entry(
    path: &Path,
    seen: &Metadata,
    extra: Vec<String>,
    engines_json: Option<EnginesJson>,
) -> io::Result<Submission> {
    let mut file = open_regular(path, seen)?;
    let metadata = file.metadata()?;
    let mut bytes = Vec::new();
    let kept = (&mut file).take(READ_AT_MOST.0).read_to_end(&mut bytes)? as u64;
    let mut hash = Sha256::new();
    hash.update(&bytes);
    let mut read = kept;
    let mut ended = kept < READ_AT_MOST.0;
    let mut buffer = vec![0; 1 << 16];
    while !ended && metadata.len() <= HASH_AT_MOST.0 && read <= HASH_AT_MOST.0 {
        let count = file.read(&mut buffer)?;
        ended = count == 0;
        read += count as u64;
        hash.update(&buffer[..count]);
    }
    // A file that was read to its end is as long as the bytes that were read, whatever the file system says (/proc).
    let size = if ended { read } else { read.max(metadata.len()) };
    let sha256 = ended.then(|| hex(hash.finalize()));
    Ok(Submission {
        path: path.to_owned(),
        file_name: (path.file_name().unwrap_or_default().to_string_lossy()).into_owned(),
        bytes: Arc::from(bytes),
        size: Bytes(size),
        mode: Mode(metadata.mode() & 0o7777),
        sha256,
        extra,
        engines_json,
    })
}

fn shown(path: &Path) -> String {
    escape(path.as_os_str().as_encoded_bytes(), 200)
}

fn kind_name(kind: FileType) -> &'static str {
    if kind.is_file() {
        "a file"
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}

#[cfg(test)]
mod tests;
