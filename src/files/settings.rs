//! Files of settings in TOML, and what keeps one from being used.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, de};

use super::read;
use crate::model::source_place::{Misplaced, TextMistake};
use crate::model::text::shown;

/// The reason why a file of settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the {} {}: {source}{}", kind.name, shown(path), kind.next)]
    Read {
        /// The kind of settings.
        kind: SettingsKind,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is the journal of an event.
    #[error("{} is a journal; name the event's file (event.toml)", shown(path))]
    Journal {
        /// The file.
        path: PathBuf,
    },
    /// The file has a mistake.
    #[error(transparent)]
    Wrong(Misplaced),
}

impl SettingsError {
    /// A mistake in a text that lies, or lay, at `path`.
    pub(crate) fn wrong(path: &Path, text: &str, (span, what): TextMistake) -> SettingsError {
        SettingsError::Wrong(Misplaced::new(path, text, span, &what))
    }
}

/// A kind of settings.
#[derive(Clone, Copy, Debug)]
pub struct SettingsKind {
    /// Its name.
    name: &'static str,
    /// The next step where there are none.
    next: &'static str,
}

impl SettingsKind {
    /// The settings of a repository of entries.
    pub(crate) const CONFIGURATION: SettingsKind = SettingsKind {
        name: "configuration",
        next: "; name a file that you may read, such as gate4k.toml",
    };
    /// An event that is played.
    pub(crate) const EVENT: SettingsKind =
        SettingsKind { name: "event", next: "; `gate4k event new` writes one" };
    /// An event of which recorded games are read.
    pub(crate) const RECORDED_EVENT: SettingsKind =
        SettingsKind { name: "event", next: "; name the event's file (event.toml)" };

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn text(self, path: &Path) -> Result<String, SettingsError> {
        read::text(path, read::SETTINGS).map_err(|source| SettingsError::Read {
            kind: self,
            path: path.to_owned(),
            source,
        })
    }
}

/// A path in such a file, which can be one: an empty text would be the directory of the file itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingsPath(PathBuf);

impl AsRef<Path> for SettingsPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl<'de> Deserialize<'de> for SettingsPath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SettingsPath, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            let what = "an empty text names nothing; write a path, or leave the setting out";
            return Err(de::Error::custom(what));
        }
        if text.contains('\0') {
            return Err(de::Error::custom("no path holds a zero byte; write one without it"));
        }
        Ok(SettingsPath(text.into()))
    }
}
