//! What `gate4k check` is to do: the command line over gate4k.toml over the event's own settings.

use std::path::{Path, PathBuf};

use tracing::debug;

use super::{NO_ENTRY, settings};
use crate::batch::changed::Changes;
use crate::batch::discover;
use crate::cli::CheckArgs;
use crate::config::{Config, FILE_NAME};
use crate::judge::settings::Settings;
use crate::judge::waive;
use crate::model::entry_report::ConfigFinding;
use crate::model::text::shown;

/// What was chosen.
pub(super) struct Choice {
    /// All of it, as a configuration.
    pub(super) config: Config,
    /// For the judge.
    pub(super) settings: Settings,
    /// What is judged, in order.
    pub(super) entries: Vec<PathBuf>,
    /// Several were asked for, or a directory of them, even if none or one of them is left.
    pub(super) many: bool,
    /// What the caller should know.
    pub(super) notes: Vec<String>,
    /// Findings on the configuration.
    pub(super) config_findings: Vec<ConfigFinding>,
}

impl Choice {
    /// Reads what there is to read.
    ///
    /// # Errors
    /// When a setting is wrong, git cannot tell what changed, or no entry is named.
    pub(super) fn of(args: &CheckArgs) -> anyhow::Result<Choice> {
        let mut notes = Vec::new();
        let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
        let changes = match &args.changed_since {
            Some(rev) => {
                let folder = args.entry.entries.first().map(|path| folder_of(path));
                Some(Changes::since(rev, folder.unwrap_or(&here))?)
            }
            None => None,
        };
        let config = read_config(args, &here, changes.as_ref(), &mut notes)?;
        debug!(?config, "configuration");
        let config = over(args, config);
        let mut settings = gate_settings(args, &config);
        if let (Some(changes), Some(list)) = (&changes, &settings.allowlist)
            && changes.touches(list)
            && let Some(before) = changes.before(list)
        {
            notes.push(before_holds(list));
            settings.allowlist_text = Some(String::from_utf8_lossy(&before).into_owned());
        }
        let named = named(&args.entry.entries, &config);
        if named.is_empty() && config.entries.is_empty() && !args.dump_config {
            anyhow::bail!(NO_ENTRY);
        }
        let many = named.len() > 1 || args.entry.entries != named || changes.is_some();
        let entries = match &changes {
            None => named,
            Some(changes) => {
                let total = named.len();
                let left: Vec<PathBuf> = named
                    .into_iter()
                    .filter(|path| changes.touches(path) && !changes.removed(path))
                    .collect();
                notes.push(format!(
                    "{} of {total} entries changed since {}",
                    left.len(),
                    args.changed_since.as_deref().unwrap_or_default().escape_default()
                ));
                left
            }
        };
        let config_findings = waive::without_entry(&config.waivers);
        Ok(Choice { config, settings, entries, many, notes, config_findings })
    }
}

/// The folder that git is asked in: that of the path, or of the nearest thing above that is there.
fn folder_of(path: &Path) -> &Path {
    path.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."))
}

fn before_holds(path: &Path) -> String {
    format!("{} has changed; what it said before holds", shown(path))
}

/// The configuration; that of a branch under judgement is the one that it started from.
fn read_config(
    args: &CheckArgs,
    here: &Path,
    changes: Option<&Changes>,
    notes: &mut Vec<String>,
) -> anyhow::Result<Config> {
    if let Some(path) = &args.config {
        return Ok(Config::load(path)?);
    }
    let found = Config::find(here);
    let Some(changes) = changes else {
        return Ok(match found {
            Some(path) => Config::load(&relative(&path, here))?,
            None => Config::none(),
        });
    };
    // One that the branch removed was there, too.
    let path = found.unwrap_or_else(|| changes.top().join(FILE_NAME));
    if !changes.touches(&path) {
        return Ok(if path.is_file() {
            Config::load(&relative(&path, here))?
        } else {
            Config::none()
        });
    }
    notes.push(before_holds(&relative(&path, here)));
    match changes.before(&path) {
        Some(text) => Ok(Config::parse(&String::from_utf8_lossy(&text), &relative(&path, here))?),
        None => Ok(Config::none()),
    }
}

/// As people would name it.
fn relative(path: &Path, here: &Path) -> PathBuf {
    path.strip_prefix(here).map_or_else(|_| path.to_owned(), Path::to_owned)
}

/// The command line over a configuration.
fn over(args: &CheckArgs, config: Config) -> Config {
    let entry = &args.entry;
    Config {
        allowlist: entry.allowlist.clone().or(config.allowlist),
        strict: args.strict || config.strict,
        quick: args.quick || config.quick,
        cache: config.cache && !args.no_cache,
        jobs: args.jobs.or(config.jobs),
        startup_limit: args.startup_limit.unwrap_or(config.startup_limit),
        answer_limit: args.answer_limit.unwrap_or(config.answer_limit),
        quit_limit: args.quit_limit.unwrap_or(config.quit_limit),
        grace: args.grace.unwrap_or(config.grace),
        games: args.games.unwrap_or(config.games),
        match_limit: args.match_limit.unwrap_or(config.match_limit),
        require: if args.confine.require.is_empty() {
            config.require
        } else {
            args.confine.require.clone()
        },
        lazy_memory: args.confine.lazy_memory || config.lazy_memory,
        devices: if args.confine.devices.is_empty() {
            config.devices
        } else {
            args.confine.devices.clone()
        },
        ..config
    }
}

fn gate_settings(args: &CheckArgs, config: &Config) -> Settings {
    let settings = Settings {
        allowlist: config.allowlist.clone(),
        limits: config.limits(),
        strict: config.strict,
        quick: config.quick,
        games: config.games,
        games_limit: config.match_limit,
        required: config.require.clone(),
        lazy_memory: config.lazy_memory,
        devices: config.devices.clone(),
        waivers: config.waivers.clone(),
        ..settings(&args.entry)
    };
    match config.jobs {
        Some(jobs) => Settings { jobs, ..settings },
        None => settings,
    }
}

/// The entries behind the command line, or else behind the configuration.
fn named(paths: &[PathBuf], config: &Config) -> Vec<PathBuf> {
    let listed = |path: &Path| {
        let same = |folder: &PathBuf| {
            folder.canonicalize().ok().is_some_and(|it| path.canonicalize().ok() == Some(it))
        };
        config.entries.iter().any(same)
    };
    let of = |path: &PathBuf| match discover::members(path) {
        Some(members) if listed(path) => members,
        _ => discover::entries(path),
    };
    let paths = if paths.is_empty() { &config.entries } else { paths };
    paths.iter().flat_map(of).collect()
}
