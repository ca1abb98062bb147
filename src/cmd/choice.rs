//! The choices for `gate4k check`: the command line over gate4k.toml over the event's own settings.

use std::path::{Path, PathBuf};

use anyhow::Context;
use tracing::debug;

use super::{NO_ENTRY, settings};
use crate::batch::changed::{self, ProposedSettings, RepositoryChanges, TargetSettings};
use crate::batch::discover;
use crate::cli::{CheckArgs, ReportTo};
use crate::config::{Config, FILE_NAME, Folders};
use crate::judge::settings::Settings;
use crate::judge::waive;
use crate::model::entry_report::ConfigFinding;
use crate::model::text::shown;
use crate::policy::allowlist::Allowlist;
use crate::receipt::sign;

/// The choices for one check.
pub(super) struct CheckChoice {
    /// All of it, as a configuration.
    pub(super) config: Config,
    /// For the judge.
    pub(super) settings: Settings,
    /// The entries to judge, in order.
    pub(super) entries: Vec<PathBuf>,
    /// Several were asked for, or a directory of them, even if none or one of them is left.
    pub(super) many: bool,
    /// Notes for the caller.
    pub(super) notes: Vec<String>,
    /// Findings on the configuration.
    pub(super) config_findings: Vec<ConfigFinding>,
}

impl CheckChoice {
    /// Reads what there is to read.
    ///
    /// # Errors
    /// When a setting is wrong, git cannot tell what changed, or no entry is named.
    pub(super) fn of(args: &CheckArgs) -> anyhow::Result<CheckChoice> {
        let mut notes = Vec::new();
        let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
        let branch = match &args.changed_since {
            Some(rev) => Some(Branch { rev, changes: RepositoryChanges::since(rev, &here)? }),
            None => None,
        };
        if let Some(branch) = &branch {
            branch.outputs_stay_ours(args)?;
        }
        let config = read_config(args, &here, branch.as_ref(), &mut notes)?;
        debug!(?config, "configuration");
        if let Some(branch) = &branch {
            branch.must_stay_readable(args, &here, &config)?;
        }
        let mut config = over(args, config);
        let allowlist_text = match &branch {
            None => None,
            Some(branch) => {
                branch.drop_led_waivers(&mut config, &mut notes);
                branch.allowlist(&mut config, &here, &mut notes)?
            }
        };
        let settings = Settings { allowlist_text, ..gate_settings(args, &config) };
        let named = match &branch {
            None => named(&args.entry.entries, &config),
            // A link that a branch has made leads nowhere.
            Some(_) => expanded(&args.entry.entries, &config, &|path| path.to_owned()),
        };
        if named.is_empty() && config.entries.is_empty() && !args.dump_config {
            anyhow::bail!(NO_ENTRY);
        }
        let remarks = args.entry.entries.iter().map(|path| behind_a_link(path));
        notes.extend(remarks.filter_map(|path| discover::remark(&path, &named)));
        let many = named.len() > 1 || args.entry.entries != named || branch.is_some();
        let entries = match &branch {
            None => named,
            Some(branch) => {
                branch.touched(named, args.entry.engines_json.as_deref(), &mut notes)?
            }
        };
        let config_findings = waive::without_entry(&config.waivers);
        Ok(CheckChoice { config, settings, entries, many, notes, config_findings })
    }
}

/// The files that are written, with the words that name them.
pub(super) fn outputs_of(args: &CheckArgs) -> Vec<(&'static str, PathBuf)> {
    let receipt = args.receipt.clone();
    let signature = receipt.as_deref().map(sign::beside);
    let named =
        [("--journal", args.journal.clone()), ("--receipt", receipt), ("the signature", signature)];
    let named = named.into_iter().filter_map(|(words, path)| Some((words, path?)));
    let reports = args.report.iter().filter_map(ReportTo::file);
    named.chain(reports.map(|(_, path)| ("--report", path.to_owned()))).collect()
}

/// A file that the command line names, which a branch under judgement has a hand in.
#[derive(Debug, thiserror::Error)]
pub(super) enum ForgedOutput {
    /// Writing it would replace a file that the branch has chosen.
    #[error(
        "{option}: a link of this branch leads from {} to a file that would be replaced; name a file outside of the repository",
        shown(path)
    )]
    Led {
        /// The option that names it.
        option: &'static str,
        path: PathBuf,
    },
    /// Its results would be believed.
    #[error(
        "--journal: {} was there before, and this branch may have brought it along; name a file outside of the repository",
        shown(_0)
    )]
    Journal(PathBuf),
}

/// A branch under judgement: no file of it decides on anything, since its author wrote them.
struct Branch<'a> {
    rev: &'a str,
    changes: RepositoryChanges,
}

impl Branch<'_> {
    /// Makes sure that nothing of the branch decides where an output goes, or what a journal holds.
    fn outputs_stay_ours(&self, args: &CheckArgs) -> Result<(), ForgedOutput> {
        let led = |path: &Path| self.changes.leads_elsewhere(path);
        if let Some((option, path)) = outputs_of(args).into_iter().find(|(_, path)| led(path)) {
            return Err(ForgedOutput::Led { option, path });
        }
        match &args.journal {
            // (One that lies outside of the repository is not the branch's.)
            Some(path)
                if !changed::is_missing(path) && self.changes.touches(path).unwrap_or(false) =>
            {
                Err(ForgedOutput::Journal(path.clone()))
            }
            _ => Ok(()),
        }
    }

    /// The configuration in a file that was named, or the nearest one above; as the target branch has it.
    fn config(
        &self,
        named: Option<&Path>,
        here: &Path,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Config> {
        let ours = "the event's own settings hold";
        let (path, text) = match named {
            Some(path) => match self.changes.before(path)? {
                TargetSettings::Outside => return Ok(Config::load(path)?),
                TargetSettings::Missing => {
                    notes.push(self.lacks(path, ours));
                    return Ok(Config::none());
                }
                TargetSettings::Text(text) => (path.to_owned(), text),
            },
            None => {
                let nearest = self.changes.nearest(here, FILE_NAME)?;
                let shadow = Config::find(here);
                let shadow =
                    shadow.filter(|it| nearest.as_ref().is_none_or(|(path, _)| it != path));
                if let Some(shadow) = shadow
                    && self.changes.before(&shadow)? == TargetSettings::Missing
                {
                    let holds = match &nearest {
                        Some((path, _)) => format!("{} holds", shown(&relative(path, here))),
                        None => ours.to_owned(),
                    };
                    notes.push(self.lacks(&relative(&shadow, here), &holds));
                }
                let Some((path, text)) = nearest else { return Ok(Config::none()) };
                (relative(&path, here), text)
            }
        };
        if self.changes.touches(&path)? {
            notes.push(before_holds(&path));
        }
        Ok(Config::parse(&String::from_utf8_lossy(&text), &path, Folders::MayBeGone)?)
    }

    /// The text of the allow-list as the target branch has it; a list that it lacks is struck out.
    fn allowlist(
        &self,
        config: &mut Config,
        here: &Path,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Option<String>> {
        let Some(list) = config.allowlist.clone() else { return Ok(None) };
        match self.changes.before(&list)? {
            TargetSettings::Outside => Ok(None),
            TargetSettings::Missing => {
                notes.push(self.lacks(&relative(&list, here), "the list that is built in holds"));
                config.allowlist = None;
                Ok(None)
            }
            TargetSettings::Text(text) => {
                if self.changes.touches(&list)? {
                    notes.push(before_holds(&relative(&list, here)));
                }
                Ok(Some(String::from_utf8_lossy(&text).into_owned()))
            }
        }
    }

    /// A branch that breaks the settings would be found out only once it is merged, since its own decide nothing here.
    fn must_stay_readable(
        &self,
        args: &CheckArgs,
        here: &Path,
        config: &Config,
    ) -> anyhow::Result<()> {
        let broken = |path: &Path| format!("this branch breaks {}", shown(&relative(path, here)));
        let proposed = |path: &Path| match self.changes.proposed(path)? {
            ProposedSettings::Unreadable(why) => Err(anyhow::anyhow!(why).context(broken(path))),
            proposed => Ok(proposed),
        };
        let mut list = config.allowlist.clone();
        let settings = args.config.clone().or_else(|| Config::find(here));
        if let Some(path) = &settings
            && let ProposedSettings::Text(text) = proposed(path)?
        {
            list = Config::parse(&text, &relative(path, here), Folders::AreThere)
                .with_context(|| broken(path))?
                .allowlist;
        }
        let newly_named = list != config.allowlist;
        // Where the settings go, the list that they named may go as well.
        let is_named = settings.is_some() || args.entry.allowlist.is_some();
        let Some(path) = args.entry.allowlist.clone().or(list) else { return Ok(()) };
        match proposed(&path)? {
            ProposedSettings::Text(text) => {
                Allowlist::parse(&text, &relative(&path, here)).with_context(|| broken(&path))?;
            }
            ProposedSettings::Gone
                if is_named && (newly_named || self.changes.touches(&path)?) =>
            {
                return Err(anyhow::anyhow!("there is no such file, and the settings name it")
                    .context(broken(&path)));
            }
            _ => {}
        }
        Ok(())
    }

    /// A waiver is for the entry that the organisers looked at, and not for one that the branch puts behind
    /// its name by a link.
    fn drop_led_waivers(&self, config: &mut Config, notes: &mut Vec<String>) {
        config.waivers.retain(|waiver| {
            let led = self.changes.leads_elsewhere(&waiver.entry);
            if led {
                let entry = shown(&waiver.entry);
                notes.push(format!("{entry} leads elsewhere now: {} holds no more", waiver.place));
            }
            !led
        });
    }

    /// Returns the entries that are there and differ, or whose engines.json does.
    fn touched(
        &self,
        named: Vec<PathBuf>,
        engines_json: Option<&Path>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let total = named.iter().filter(|path| !changed::is_missing(path)).count();
        // One that lies outside of the repository is not the branch's.
        let beside = engines_json.is_some_and(|path| self.changes.touches(path).unwrap_or(false));
        let mut left = Vec::new();
        for path in named {
            if (self.changes.touches(&path)? || beside) && !changed::is_missing(&path) {
                left.push(path);
            }
        }
        let rev = self.rev.escape_default();
        notes.push(format!("{} of {total} entries changed since {rev}", left.len()));
        Ok(left)
    }

    fn lacks(&self, path: &Path, holds: &str) -> String {
        format!("{} is not in {}: {holds}", shown(path), self.rev.escape_default())
    }
}

fn before_holds(path: &Path) -> String {
    format!("{} has changed; what it said before holds", shown(path))
}

/// The configuration; where a branch is judged, that of the branch it goes to.
fn read_config(
    args: &CheckArgs,
    here: &Path,
    branch: Option<&Branch<'_>>,
    notes: &mut Vec<String>,
) -> anyhow::Result<Config> {
    if let Some(branch) = branch {
        return branch.config(args.config.as_deref(), here, notes);
    }
    if let Some(path) = &args.config {
        return Ok(Config::load(path)?);
    }
    nearest(here)
}

/// The configuration that decides for a folder; the event's own where there is none.
pub(super) fn nearest(here: &Path) -> anyhow::Result<Config> {
    Ok(match Config::find(here) {
        Some(path) => Config::load(&relative(&path, here))?,
        None => Config::none(),
    })
}

/// A path as people would name it.
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
        elf_only: args.elf_only || config.elf_only,
        size_limit: args.size_limit.unwrap_or(config.size_limit),
        memory_limit: args.memory_limit.or(config.memory_limit),
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
        files: config.files(),
        size_limit: config.size_limit,
        memory_limit: config.memory_limit,
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
pub(super) fn named(paths: &[PathBuf], config: &Config) -> Vec<PathBuf> {
    expanded(paths, config, &behind_a_link)
}

/// A directory of entries that is named by a link, by a path that leads into it; every other path as it is. A link that stands
/// for one entry is left to the judge, who refuses it: `entries/*` of a shell names the links among the entries, too.
pub(super) fn behind_a_link(path: &Path) -> PathBuf {
    let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    let inside = path.join("");
    let holds_entries = || discover::entries(&inside).iter().any(|entry| *entry != inside);
    if is_link && path.is_dir() && holds_entries() { inside } else { path.to_owned() }
}

/// The entries behind paths, each of which `followed` may lead on.
fn expanded(
    paths: &[PathBuf],
    config: &Config,
    followed: &dyn Fn(&Path) -> PathBuf,
) -> Vec<PathBuf> {
    let listed = |path: &Path| {
        let same = |folder: &PathBuf| {
            folder.canonicalize().ok().is_some_and(|it| path.canonicalize().ok() == Some(it))
        };
        config.entries.iter().any(same)
    };
    let of = |path: PathBuf| match discover::all_members(&path) {
        Some(members) if listed(&path) => members,
        _ => discover::entries(&path),
    };
    let paths = if paths.is_empty() { &config.entries } else { paths };
    paths.iter().map(|path| followed(path)).flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_that_is_named_leads_to_a_directory_of_entries_and_to_nothing_else() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        for name in ["all/a/engine", "all/b/engine"] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "x").unwrap();
        }
        for (link, target) in [("to-all", "all"), ("to-one", "all/a"), ("to-file", "all/a/engine")]
        {
            symlink(at(target), at(link)).unwrap();
        }
        symlink(at("gone"), at("to-nothing")).unwrap();
        let named = |name: &str| named(&[at(name)], &Config::none());
        assert_eq!(named("to-all"), [at("to-all/a"), at("to-all/b")]);
        for left in ["to-one", "to-file", "to-nothing", "all/a"] {
            assert_eq!(named(left), [at(left)]);
            // (Paths that differ by a slash alone are equal, and do not read alike.)
            assert_eq!(behind_a_link(&at(left)).as_os_str(), at(left).as_os_str());
        }
        // A branch may have made it.
        let by_branch = expanded(&[at("to-all")], &Config::none(), &|path| path.to_owned());
        assert_eq!(by_branch, [at("to-all")]);
    }
}
