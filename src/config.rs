//! `gate4k.toml`: what a repository of entries decides once, and not on every command line.
//!
//! The command line goes before it. Paths in it are told from the folder that it lies in. A mistake is
//! shown at its line and column, since a setting that is read differently from what its author meant
//! judges wrongly.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Spanned;

use crate::files::settings::{SettingsError, SettingsKind};
use crate::judge::error::CheckError;
use crate::judge::settings::{
    Files, GamesWanted, MATCH_LIMIT, NotGames, devices, memory_limit, size_limit, written,
};
use crate::judge::waiver::{RawWaiver, Waiver};
use crate::model::evidence::Limits;
use crate::model::layer_status::LayerName;
use crate::model::source_place::{TextMistake, known, parsed};
use crate::model::text::shown;
use crate::model::units::{Bytes, from_words};
use crate::sandbox::devices::DeviceClass;

/// The name that is looked for.
pub(crate) const FILE_NAME: &str = "gate4k.toml";

/// The settings of a file, or the event's own where the file says nothing.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Config {
    /// Directories in which every file and directory is an entry.
    pub entries: Vec<PathBuf>,
    /// An allow-list in place of the one built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allowlist: Option<PathBuf>,
    /// True if tolerated commands are refused.
    pub(crate) strict: bool,
    /// True if probes that can only advise are left out.
    pub(crate) quick: bool,
    /// True if ELF executables alone are taken.
    pub(crate) elf_only: bool,
    /// The most bytes of an entry.
    pub(crate) size_limit: Bytes,
    /// The most memory of an entry, where the event has such a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_limit: Option<Bytes>,
    /// True if results of unchanged entries are kept.
    pub(crate) cache: bool,
    /// The number of entries judged at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// The longest time from exec to the first `readyok`.
    #[serde(serialize_with = "as_words")]
    pub(crate) startup_limit: Duration,
    /// The longest time for an answer beyond the clock of its question.
    #[serde(serialize_with = "as_words")]
    pub(crate) answer_limit: Duration,
    /// The longest time in which the engine ends after `quit`.
    #[serde(serialize_with = "as_words")]
    pub(crate) quit_limit: Duration,
    /// The longest time in which other processes end after `quit`.
    #[serde(serialize_with = "as_words")]
    pub(crate) grace: Duration,
    /// The games of rule `match`.
    #[serde(rename = "match", serialize_with = "games_words", skip_serializing_if = "as_usual")]
    pub(crate) games: GamesWanted,
    /// The longest time for these games together.
    #[serde(serialize_with = "as_words")]
    pub(crate) match_limit: Duration,
    /// Layers of the sandbox without which nothing is run.
    pub(crate) require: Vec<LayerName>,
    /// True if mappings of 4 GiB or more reserve no memory.
    pub(crate) lazy_memory: bool,
    /// Accelerators that are opened to entries.
    pub(crate) devices: Vec<DeviceClass>,
    /// The organisers' waivers (rule 7.8).
    #[serde(rename = "waiver", skip_serializing_if = "Vec::is_empty")]
    pub(crate) waivers: Vec<Waiver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawSettings {
    #[serde(default)]
    entries: Vec<Spanned<PathBuf>>,
    allowlist: Option<PathBuf>,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    quick: bool,
    #[serde(default)]
    elf_only: bool,
    size_limit: Option<Spanned<toml::Value>>,
    memory_limit: Option<Spanned<toml::Value>>,
    cache: Option<bool>,
    jobs: Option<NonZeroUsize>,
    #[serde(default, deserialize_with = "limit")]
    startup_limit: Option<Duration>,
    #[serde(default, deserialize_with = "time")]
    answer_limit: Option<Duration>,
    #[serde(default, deserialize_with = "limit")]
    quit_limit: Option<Duration>,
    #[serde(default, deserialize_with = "time")]
    grace: Option<Duration>,
    #[serde(rename = "match")]
    games: Option<Spanned<toml::Value>>,
    #[serde(default, deserialize_with = "time")]
    match_limit: Option<Duration>,
    #[serde(default)]
    require: Vec<Spanned<String>>,
    #[serde(default)]
    lazy_memory: bool,
    #[serde(default)]
    devices: Vec<Spanned<String>>,
    #[serde(default)]
    waiver: Vec<RawWaiver>,
}

/// The demand on the directories of entries that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folders {
    /// The directories must be there: a name that leads nowhere is a mistake.
    AreThere,
    /// The directories were there when the text held; a change that removes the last entry of one removes it too.
    MayBeGone,
}

impl Config {
    /// The event's own settings, which hold where nothing is decided.
    pub(crate) fn none() -> Config {
        let Limits { startup, answer, quit, grace } = Limits::default();
        Config {
            size_limit: Bytes::LIMIT_4K,
            cache: true,
            startup_limit: startup,
            answer_limit: answer,
            quit_limit: quit,
            grace,
            match_limit: MATCH_LIMIT,
            ..Config::default()
        }
    }

    /// The file that decides for `folder`: the nearest one above, within the repository if it is in one. A link that
    /// leads nowhere is one that cannot be read: settings that somebody meant are never passed over.
    pub(crate) fn find(folder: &Path) -> Option<PathBuf> {
        for folder in folder.ancestors() {
            let path = folder.join(FILE_NAME);
            if path.symlink_metadata().is_ok() {
                return Some(path);
            }
            if folder.join(".git").exists() {
                return None;
            }
        }
        None
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong at some place.
    pub(crate) fn load(path: &Path) -> Result<Config, SettingsError> {
        let text = SettingsKind::CONFIGURATION.text(path)?;
        Config::parse(&text, path, Folders::AreThere)
    }

    /// The waivers of the file that decides for the current directory: those who only play an entry need no more.
    ///
    /// # Errors
    /// When that file cannot be read, or is wrong at some place.
    pub(crate) fn waivers_here() -> Result<Vec<Waiver>, CheckError> {
        let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
        let Some(path) = Config::find(&here) else { return Ok(Vec::new()) };
        let config =
            Config::load(&path).map_err(|error| CheckError::Configuration(Box::new(error)))?;
        Ok(config.waivers)
    }

    /// Reads a text that lies, or lay, at `path`.
    ///
    /// # Errors
    /// When it is wrong at some place.
    pub(crate) fn parse(
        text: &str,
        path: &Path,
        folders: Folders,
    ) -> Result<Config, SettingsError> {
        read(text, path, folders).map_err(|mistake| SettingsError::wrong(path, text, mistake))
    }

    /// The files that may be entries.
    pub(crate) fn files(&self) -> Files {
        Files::of(self.elf_only)
    }

    /// The limits.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            startup: self.startup_limit,
            answer: self.answer_limit,
            quit: self.quit_limit,
            grace: self.grace,
        }
    }

    /// The whole as a file that says the same.
    ///
    /// # Errors
    /// When a path is no text.
    pub(crate) fn dump(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

fn read(text: &str, path: &Path, folders: Folders) -> Result<Config, TextMistake> {
    let raw: RawSettings = parsed(text)?;
    let here = path.parent().unwrap_or(Path::new(""));
    let none = Config::none();
    Ok(Config {
        entries: raw
            .entries
            .into_iter()
            .map(|folder| match here.join(folder.get_ref()) {
                found if found.is_dir() || folders == Folders::MayBeGone => Ok(found),
                missing => {
                    Err((folder.span(), format!("there is no directory {}", shown(&missing))))
                }
            })
            .collect::<Result<_, _>>()?,
        allowlist: raw.allowlist.map(|list| here.join(list)),
        strict: raw.strict,
        quick: raw.quick,
        elf_only: raw.elf_only,
        size_limit: raw.size_limit.map_or(Ok(none.size_limit), size_limit)?,
        memory_limit: raw.memory_limit.map(memory_limit).transpose()?,
        cache: raw.cache.unwrap_or(none.cache),
        jobs: raw.jobs,
        startup_limit: raw.startup_limit.unwrap_or(none.startup_limit),
        answer_limit: raw.answer_limit.unwrap_or(none.answer_limit),
        quit_limit: raw.quit_limit.unwrap_or(none.quit_limit),
        grace: raw.grace.unwrap_or(none.grace),
        games: raw.games.map_or(Ok(none.games), games)?,
        match_limit: raw.match_limit.unwrap_or(none.match_limit),
        require: raw
            .require
            .iter()
            .map(|word| known(word, "layer", LayerName::ALL.map(LayerName::word), LayerName::named))
            .collect::<Result<_, _>>()?,
        lazy_memory: raw.lazy_memory,
        devices: devices(&raw.devices)?,
        waivers: raw
            .waiver
            .into_iter()
            .map(|raw| raw.verified(text, path))
            .collect::<Result<_, _>>()?,
    })
}

/// `match = 3`, or `match = "off"`.
fn games(raw: Spanned<toml::Value>) -> Result<GamesWanted, TextMistake> {
    written(raw, |text| text.parse().map_err(|error: NotGames| error.to_string()))
}

fn as_usual(games: &GamesWanted) -> bool {
    *games == GamesWanted::AsUsual
}

fn games_words<S: Serializer>(games: &GamesWanted, serializer: S) -> Result<S::Ok, S::Error> {
    match games {
        // As usual is left out, since it has no word.
        GamesWanted::AsUsual => serializer.serialize_none(),
        GamesWanted::Pairs(pairs) => serializer.serialize_u32(pairs.get()),
        GamesWanted::Off => serializer.serialize_str("off"),
    }
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    from_words(from).map(Some)
}

/// A limit of no time at all, which nothing keeps, is a mistake.
fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    match from_words(from)? {
        Duration::ZERO => {
            Err(D::Error::custom("write a time that is longer than zero, such as \"60s\""))
        }
        limit => Ok(Some(limit)),
    }
}

fn as_words<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_duration(*time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::source_place::assert_listed;

    #[test]
    fn every_key_is_in_the_handbook() {
        assert_listed::<RawSettings>("key");
        assert_listed::<RawWaiver>("key of a `[[waiver]]`");
    }

    fn wrong(text: &str) -> String {
        Config::parse(text, Path::new("r/gate4k.toml"), Folders::AreThere).unwrap_err().to_string()
    }

    #[test]
    fn an_empty_file_decides_nothing() {
        let read = Config::parse("", Path::new("gate4k.toml"), Folders::AreThere).unwrap();
        assert_eq!(read.dump().unwrap(), Config::none().dump().unwrap());
        assert_eq!(format!("{:?}", read.limits()), format!("{:?}", Limits::default()));
    }

    #[test]
    fn what_is_dumped_says_the_same_when_it_is_read() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join(FILE_NAME);
        std::fs::create_dir(top.path().join("entries")).unwrap();
        let text = "entries = [\"entries\"]\nallowlist = \"list.toml\"\nstrict = true\ncache = false\n\
                    jobs = 3\nmatch = \"off\"\nstartup-limit = \"1m 5s\"\nrequire = [\"net\"]\ndevices = [\"dri\"]\n\
                    [[waiver]]\nentry = \"entries/x\"\nrule = \"commands\"\nprograms = [\"sed\"]\n\
                    reason = \"asked for by many\"\n\
                    date = 2026-11-21\n";
        let read = Config::parse(text, &path, Folders::AreThere).unwrap();
        assert_eq!(read.startup_limit, Duration::from_secs(65));
        assert_eq!(read.waivers[0].entry, top.path().join("entries/x"));
        assert_eq!(read.waivers[0].place, format!("{}:11:9", path.display()));
        let dumped = read.dump().unwrap();
        let again = Config::parse(&dumped, &path, Folders::AreThere).unwrap();
        assert_eq!(again.dump().unwrap(), dumped);
        assert!(dumped.contains("startup-limit = \"1m 5s\""), "{dumped}");
    }

    #[test]
    fn a_mistake_is_shown_at_its_line_and_column() {
        let waiver = |rule: &str, reason: &str, date: &str| {
            format!(
                "[[waiver]]\nentry = \"x\"\nrule = \"{rule}\"\nreason = \"{reason}\"\ndate = {date}\n"
            )
        };
        let commands = |programs: &str| waiver("commands", "r", "2026-11-21") + programs;
        for (text, place, part) in [
            (commands(""), "3:8", "programs = [\"sed\"]"),
            (commands("programs = []"), "6:12", "name a program"),
            (commands("programs = [\"/bin/sed\"]"), "6:13", "without a directory"),
            (
                waiver("size", "r", "2026-11-21\nprograms = [\"sed\"]"),
                "6:12",
                "only a waiver for commands",
            ),
            ("quick = 1".into(), "1:9", "boolean"),
            ("\nstrikt = true".into(), "2:1", "strict"),
            ("grace = \"soon\"".into(), "1:9", "no time"),
            ("jobs = 0".into(), "1:8", "expected a whole number from 1 up"),
            ("match = \"of\"".into(), "1:9", "write off"),
            ("match = 0".into(), "1:9", "from 1 to"),
            ("entries = [\"gone\"]".into(), "1:12", "no directory r/gone"),
            ("require = [\"nett\"]".into(), "1:12", "did you mean \"net\"?"),
            ("devices = [\"abacus\"]".into(), "1:12", "there are"),
            (waiver("comands", "r", "2026-11-21"), "3:8", "did you mean \"commands\"?"),
            (waiver("clock", "r", "2026-11-21"), "3:8", "never rejects"),
            (waiver("size", " ", "2026-11-21"), "4:10", "reason"),
            (waiver("size", "r", "10:00:00"), "5:8", "the day"),
            (waiver("size", "r", "2026-11-21\nsha256 = \"AB\""), "6:10", "64 small"),
        ] {
            let message = wrong(&text);
            assert!(message.starts_with(&format!("r/gate4k.toml:{place}: ")), "{text}: {message}");
            assert!(message.contains(part), "{part}: {message}");
            assert!(message.contains('^'), "{message}");
        }
    }

    #[test]
    fn the_nearest_file_above_decides_within_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let below = top.path().join("repository/entries/x");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(top.path().join(FILE_NAME), "").unwrap();
        assert_eq!(Config::find(&below), Some(top.path().join(FILE_NAME)));
        std::fs::create_dir(top.path().join("repository/.git")).unwrap();
        assert_eq!(Config::find(&below), None);
        std::fs::write(top.path().join("repository").join(FILE_NAME), "").unwrap();
        assert_eq!(Config::find(&below), Some(top.path().join("repository").join(FILE_NAME)));
    }
}
