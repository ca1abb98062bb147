//! The settings of a judge; the defaults are the event's.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use toml::Spanned;

use super::waiver::Waiver;
use crate::model::evidence::Limits;
use crate::model::layer_status::LayerName;
use crate::model::source_place::{TextMistake, known};
use crate::model::text::sha256;
use crate::model::units::{BadSize, Bytes};
use crate::policy::allowlist;
pub(crate) use crate::sandbox::devices::DeviceClass;
use crate::submission::entry::READ_AT_MOST;
pub(crate) use crate::submission::format::Files;

/// The choices of the caller.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration, where it does not lie beside the entry.
    pub(crate) engines_json: Option<PathBuf>,
    /// The engine that is meant in a configuration with several.
    pub(crate) name: Option<String>,
    /// An allow-list in place of the one built in.
    pub(crate) allowlist: Option<PathBuf>,
    /// The text of that allow-list, where it is not to be read from its file.
    pub(crate) allowlist_text: Option<String>,
    /// Time limits.
    pub(crate) limits: Limits,
    /// Tolerated commands count as refused.
    pub(crate) strict: bool,
    /// Probes that can only advise are left out.
    pub(crate) quick: bool,
    /// The most bytes of an entry; 4096 by rule 7.1, another number in events of that kind.
    pub(crate) size_limit: Bytes,
    /// The most memory that an entry may use at once, where the event has such a rule; else only this host limits it.
    pub(crate) memory_limit: Option<Bytes>,
    /// The files that may be entries.
    pub(crate) files: Files,
    /// Layers of the sandbox without which nothing is run, beside those that are always mandatory.
    pub(crate) required: Vec<LayerName>,
    /// Mappings of 4 GiB or more reserve no memory.
    pub(crate) lazy_memory: bool,
    /// Device nodes that are opened to the entry.
    pub(crate) devices: Vec<DeviceClass>,
    /// The number of probes beside each other.
    pub jobs: NonZeroUsize,
    /// The games of rule `match`.
    pub(crate) games: GamesWanted,
    /// The time for these games together.
    pub(crate) games_limit: Duration,
    /// The organisers' waivers (rule 7.8), those of other entries among them.
    pub(crate) waivers: Vec<Waiver>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            engines_json: None,
            name: None,
            allowlist: None,
            allowlist_text: None,
            limits: Limits::default(),
            strict: false,
            quick: false,
            size_limit: Bytes::LIMIT_4K,
            memory_limit: None,
            files: Files::All,
            required: Vec::new(),
            lazy_memory: false,
            devices: Vec::new(),
            jobs: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            games: GamesWanted::AsUsual,
            games_limit: MATCH_LIMIT,
            waivers: Vec::new(),
        }
    }
}

impl Settings {
    /// The settings under which a verdict means something else than by the rules of the 4k event, as the command line
    /// has them; `list_sha256` is the sum of the allow-list in force.
    pub(super) fn other_terms(&self, list_sha256: &str) -> Vec<String> {
        let usual = Settings::default();
        let mut terms = Vec::new();
        if self.size_limit != usual.size_limit {
            terms.push(format!("--size-limit {}", self.size_limit.0));
        }
        if let Some(limit) = self.memory_limit {
            terms.push(format!("--memory-limit {}", limit.0));
        }
        if self.files == Files::ElfOnly {
            terms.push("--elf-only".to_owned());
        }
        let (own, usual) = (&self.limits, &usual.limits);
        let times = [
            ("--startup-limit", own.startup, usual.startup),
            ("--answer-limit", own.answer, usual.answer),
            ("--quit-limit", own.quit, usual.quit),
            ("--grace", own.grace, usual.grace),
        ];
        for (name, limit, usual) in times {
            if limit != usual {
                let limit = humantime::format_duration(limit).to_string();
                terms.push(format!("{name} {}", limit.replace(' ', "")));
            }
        }
        if self.strict {
            terms.push("--strict".to_owned());
        }
        if list_sha256 != sha256(allowlist::BUILT_IN) {
            terms.push(format!("--allowlist with the SHA-256 {list_sha256}"));
        }
        terms
    }
}

/// Reads a limit on an entry's size.
///
/// # Errors
/// In words, where it is no size, or one of more bytes than are read of an entry.
pub(crate) fn size_limit_of(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: BadSize| error.to_string())?;
    if size.0 == 0 || size > READ_AT_MOST {
        return Err(format!("write a size from 1 byte to {}", READ_AT_MOST.human()));
    }
    Ok(size)
}

/// Reads a limit on an entry's memory.
///
/// # Errors
/// In words, where it is no size, or less than any program needs.
pub(crate) fn memory_limit_of(text: &str) -> Result<Bytes, String> {
    const LEAST: Bytes = Bytes(1 << 20);
    let size: Bytes = text.parse().map_err(|error: BadSize| error.to_string())?;
    if size < LEAST {
        return Err(format!("write a size of {} or more", LEAST.human()));
    }
    Ok(size)
}

/// Reads `size-limit = 4096`, or `size-limit = "64K"`, of a file of settings.
pub(crate) fn size_limit(raw: Spanned<toml::Value>) -> Result<Bytes, TextMistake> {
    written(raw, size_limit_of)
}

/// Reads `memory-limit = "5M"` of a file of settings.
pub(crate) fn memory_limit(raw: Spanned<toml::Value>) -> Result<Bytes, TextMistake> {
    written(raw, memory_limit_of)
}

/// Reads `devices = ["nvidia"]` of a file of settings.
pub(crate) fn devices(raw: &[Spanned<String>]) -> Result<Vec<DeviceClass>, TextMistake> {
    let words = DeviceClass::ALL.map(DeviceClass::word);
    raw.iter().map(|word| known(word, "kind of device", words, DeviceClass::named)).collect()
}

/// Reads a value of a file of settings that may be written as a number or as a word.
pub(crate) fn written<T>(
    raw: Spanned<toml::Value>,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, TextMistake> {
    let text = match raw.get_ref() {
        toml::Value::String(word) => word.clone(),
        other => other.to_string(),
    };
    read(&text).map_err(|why| (raw.span(), why))
}

/// The games of a check (rule `match`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GamesWanted {
    /// Two pairs; none where only what is quick is wanted.
    #[default]
    AsUsual,
    /// This number of pairs, whatever else is wanted.
    Pairs(NonZeroU32),
    Off,
}

/// The time for all games of a check where nothing else is said: real entries have floors of 2 to 3
/// seconds a move.
pub(crate) const MATCH_LIMIT: Duration = Duration::from_secs(30);

/// The most pairs of games that a check plays: more are a match.
const MOST_PAIRS: u32 = 100;

/// Text that says neither `off` nor a number of pairs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write off, or a number of pairs from 1 to {MOST_PAIRS}")]
pub(crate) struct NotGames;

impl fmt::Display for GamesWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GamesWanted::AsUsual => f.write_str("as usual"),
            GamesWanted::Pairs(pairs) => write!(f, "{pairs}"),
            GamesWanted::Off => f.write_str("off"),
        }
    }
}

impl FromStr for GamesWanted {
    type Err = NotGames;

    fn from_str(text: &str) -> Result<GamesWanted, NotGames> {
        if text == "off" {
            return Ok(GamesWanted::Off);
        }
        let pairs = text.parse::<NonZeroU32>().ok().filter(|pairs| pairs.get() <= MOST_PAIRS);
        pairs.map(GamesWanted::Pairs).ok_or(NotGames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_that_is_not_the_events_is_a_term() {
        let list = sha256(allowlist::BUILT_IN);
        assert!(Settings::default().other_terms(&list).is_empty());
        let limits = Limits {
            answer: Duration::from_secs(90),
            quit: Duration::from_millis(1500),
            grace: Duration::from_secs(1),
            ..Limits::default()
        };
        let terms = Settings { limits, ..Settings::default() }.other_terms(&list);
        assert_eq!(terms, ["--answer-limit 1m30s", "--quit-limit 1s500ms", "--grace 1s"]);
    }
}
