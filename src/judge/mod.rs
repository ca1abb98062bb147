//! The judge: probes fill the evidence of one entry, rules turn it into findings, and the findings make the verdict.
//!
//! Every command that needs a verdict calls [`Judge::assess`]; those that play an entry start it as
//! [`Judge::playable`] or [`Judge::launch`] say, in the same sandbox and under the same waivers.

mod assess;
mod by_games;
mod configured;
pub(crate) mod error;
mod fingerprint;
mod games;
mod host;
mod host_load;
pub(crate) mod mistaken_file;
mod not_given;
mod not_here;
pub(crate) mod other_work;
pub mod probe;
mod read;
pub mod rules;
pub mod settings;
pub(crate) mod start;
pub mod support;
pub mod waive;
pub mod waiver;

pub(crate) use assess::CopyOf;
pub(crate) use fingerprint::{file_sha256, program as program_sha256};
pub(crate) use read::EntryDigest;

use std::sync::{Arc, Mutex};

use tracing::debug;

use crate::files;
use crate::model::text::{sha256, shown};
use crate::policy::allowlist::{self, Allowlist, AllowlistError};
use error::CheckError;
use host::Hosts;
pub(crate) use probe::Progress;
use settings::Settings;

/// The judge of this host under some settings, opened once and used for every entry.
pub struct Judge {
    settings: Settings,
    list: Arc<Allowlist>,
    list_sha256: String,
    hosts: Mutex<Hosts>,
}

impl Judge {
    /// Reads the allow-list; the host is looked at when the first entry has to be run.
    ///
    /// # Errors
    /// When the allow-list that was named cannot be read or has a mistake.
    pub fn open(settings: Settings) -> Result<Judge, CheckError> {
        let (list, text) = match (&settings.allowlist, &settings.allowlist_text) {
            (None, _) => (Allowlist::built_in().clone(), allowlist::BUILT_IN.to_owned()),
            (Some(path), text) => {
                let text = match text {
                    Some(text) => Ok(text.clone()),
                    None => files::read::text(path, files::read::SETTINGS).map_err(|source| {
                        AllowlistError::Unreadable { path: path.clone(), source }
                    }),
                };
                text.and_then(|text| Ok((Allowlist::parse(&text, path)?, text)))
                    .map_err(|error| CheckError::Configuration(Box::new(error)))?
            }
        };
        let list_sha256 = sha256(text.as_bytes());
        debug!(sha256 = list_sha256, path = ?settings.allowlist, "allow-list read");
        Ok(Judge { settings, list: Arc::new(list), list_sha256, hosts: Mutex::default() })
    }

    /// The settings that it was opened with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The file of the allow-list, where it is no longer the one that is in force.
    fn replaced_list(&self) -> Option<String> {
        let path =
            self.settings.allowlist.as_ref().filter(|_| self.settings.allowlist_text.is_none())?;
        let now = files::read::text(path, files::read::SETTINGS).ok();
        let same = now.is_some_and(|text| sha256(text.as_bytes()) == self.list_sha256);
        (!same).then(|| format!("the allow-list {} (it was judged by the old one)", shown(path)))
    }

    /// The SHA-256 of the text of the allow-list in force.
    pub(crate) fn list_sha256(&self) -> &str {
        &self.list_sha256
    }
}
