//! Entries as engines of a match: read like the gate reads them, started in the same sandbox.

use std::path::Path;
use std::sync::Arc;

use super::body::Start;
use crate::judge::error::CheckError;
use crate::model::evidence::Shell;
use crate::model::units::Bytes;
use crate::policy::allowlist::Allowlist;
use crate::policy::decide::Strictness;
use crate::policy::toolchain::Toolchain;
use crate::sandbox::Sandbox;
use crate::sandbox::capability::Capability;
use crate::sandbox::plan::{Audit, Launcher, Plan, SandboxError, Staging};
use crate::submission::Submission;
use crate::submission::entry::{self, LoadError, LoadOptions};
use crate::submission::json::Json;

/// The sandbox of this host, for all entries of a match.
pub struct Cage {
    tools: Arc<Toolchain>,
    capability: Capability,
    /// One for each limit of memory that is asked for.
    launchers: Vec<(Option<Bytes>, Arc<dyn Launcher + Send + Sync>)>,
}

/// An entry, ready to be started.
pub struct CagedEntry {
    /// How it is started.
    pub start: Start,
    /// The options of its engines.json: a part of it may be there (rule 7.3).
    pub options: Vec<(String, String)>,
}

impl Cage {
    /// Finds out what this host can enforce.
    ///
    /// # Errors
    /// Where files could not be kept from an entry: it is then not started at all. Where the allow-list that
    /// was named cannot be read or has a mistake.
    pub fn open(allowlist: Option<&Path>, strictness: Strictness) -> Result<Cage, CheckError> {
        let list = match allowlist {
            Some(path) => {
                Allowlist::load(path).map_err(|error| CheckError::Configuration(Box::new(error)))?
            }
            None => Allowlist::built_in().clone(),
        };
        let capability = Capability::probe();
        if !capability.enforces_files() {
            return Err(SandboxError::Missing {
                what: "this host has no Landlock".into(),
                next: "use Linux 6.2 or newer, or name an engine that you trust with cmd=".into(),
            }
            .into());
        }
        let tools = Arc::new(Toolchain::discover(Arc::new(list), strictness));
        Ok(Cage { tools, capability, launchers: Vec::new() })
    }

    /// The sandbox with this limit of memory; with the usual one if there is none.
    fn launcher(&mut self, memory: Option<Bytes>) -> Arc<dyn Launcher + Send + Sync> {
        if let Some((_, launcher)) = self.launchers.iter().find(|(known, _)| *known == memory) {
            return Arc::clone(launcher);
        }
        let mut host = self.tools.host(self.capability.namespaces.is_ok());
        host.cgroups = self.capability.cgroups.clone().ok();
        // Never more than the host can spare.
        host.memory = memory.map_or(host.memory, |memory| memory.min(host.memory));
        let launcher: Arc<dyn Launcher + Send + Sync> =
            Arc::new(Sandbox::new(host, self.tools.clone()));
        self.launchers.push((memory, Arc::clone(&launcher)));
        launcher
    }

    /// Reads an entry, to be started with this limit of memory.
    ///
    /// # Errors
    /// Where there is none, or it cannot be read. Whether it may enter an event is for `check` to say.
    pub fn entry(&mut self, path: &Path, memory: Option<Bytes>) -> Result<CagedEntry, CheckError> {
        let options = LoadOptions { engines_json: None, name: None };
        let loaded = entry::load(path, &options).map_err(|error| match error {
            LoadError::Nothing { path, what } => {
                CheckError::Nothing { path, what: what.to_owned() }
            }
            LoadError::Unreadable { path, source }
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                CheckError::Nothing { path, what: "no such file".into() }
            }
            LoadError::Unreadable { path, source } => CheckError::Read { path, source },
            other => CheckError::Configuration(Box::new(other)),
        })?;
        let Some(submission) = loaded.submission.filter(Submission::is_whole) else {
            let what = loaded.finding.summary;
            return Err(CheckError::Nothing { path: path.into(), what });
        };
        Ok(CagedEntry {
            options: options_of(&submission),
            start: Start::Entry(
                self.launcher(memory),
                Plan {
                    bytes: submission.bytes,
                    staging: Staging::Neutral,
                    shell: Shell::AsIs,
                    audit: Audit::ProgramsOnly,
                },
            ),
        })
    }
}

/// The options that an entry's configuration sets.
#[must_use]
pub fn options_of(submission: &Submission) -> Vec<(String, String)> {
    let config = submission.engines_json.as_ref().and_then(|json| json.selected.as_ref().ok());
    config.map(pairs).unwrap_or_default()
}

/// The options of an engine of cutechess's file that have a name and a value.
fn pairs(config: &Json) -> Vec<(String, String)> {
    use crate::submission::json::Node;
    let Some(Node::Array(options)) = config.get("options").map(|options| &options.node) else {
        return Vec::new();
    };
    options
        .iter()
        .filter_map(|option| {
            let text = |key: &str| match &option.get(key)?.node {
                Node::Bool(flag) => Some(flag.to_string()),
                Node::Number(text) | Node::String(text) => Some(text.clone()),
                _ => None,
            };
            Some((text("name")?, text("value")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn options_of_every_kind_are_taken() {
        let config = crate::submission::json::parse(
            r#"{"options":[{"name":"Hash","value":16},{"name":"Own Book","value":false},
                {"name":"Net","value":"a b"},{"name":"Clear","type":"button"}]}"#,
        )
        .unwrap();
        let wanted = [("Hash", "16"), ("Own Book", "false"), ("Net", "a b")];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs(&config), wanted);
    }
}
