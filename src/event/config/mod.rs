//! `event.toml`: an event as its organisers write it. A mistake in it is shown at its line and column.

mod counted;
mod engines_file;
mod frd;
mod leagues;
mod names;
mod no_entries;
mod previous;
mod raw_stage;
mod seated;
mod sources;
mod stages;
mod template;
mod waivers;

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::journal;
use super::journal::record::{JournalHeader, JournalRecord, Previous, StagesBehind};
use super::stage::Stage;
use super::terms::{
    AskTables, InterruptionRule, RawClock, RawDrawRule, RawTerms, RawWinRule, StageTerms, plain,
};
use crate::files::settings::{SettingsError, SettingsKind, SettingsPath};
use crate::game::clock::TimeControl;
use crate::game::end::Material;
use crate::judge::settings::{DeviceClass, Files, devices, memory_limit, size_limit};
use crate::judge::waiver::{RawWaiver, Waiver};
use crate::model::game::listed::RoundGame;
use crate::model::game::variant::Variant;
use crate::model::source_place::{TextMistake, parsed, read_from_tables};
use crate::model::text::{sha256, shown};
use crate::model::units::{Bytes, from_words};
use crate::model::words::all;
use crate::runner::spec;
pub(crate) use counted::{CountedStage, counted_stages};
use engines_file::EventMistake;
use names::slug;
pub(crate) use no_entries::NoEntries;
pub(crate) use template::{Contestants, EventTemplate, books_of, template};
use waivers::waivers;

/// The thoroughness with which entries are checked before they play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GateKind {
    /// Everything.
    #[default]
    Full,
    /// All but the checks that can only advise.
    Quick,
}

/// An event.
#[derive(Clone, Debug)]
pub struct EventConfig {
    /// Where it was read.
    pub(crate) path: PathBuf,
    /// Its text.
    pub text: String,
    /// The SHA-256 of the text.
    pub sha256: String,
    /// Its name.
    pub event: String,
    /// Where it is played.
    pub(crate) site: String,
    /// The journal.
    pub journal: PathBuf,
    /// The thoroughness with which entries are checked.
    pub(crate) gate: GateKind,
    /// True if an entry may play that could not be decided on this host.
    pub(crate) admit_undecided: bool,
    /// The files that may be entries.
    pub(crate) files: Files,
    /// The most bytes of an entry.
    pub(crate) size_limit: Bytes,
    /// The most memory of an entry, where the event has such a rule.
    pub(crate) memory_limit: Option<Bytes>,
    /// An allow-list in place of the one built in.
    pub(crate) allowlist: Option<PathBuf>,
    /// Big mappings reserve no memory.
    pub(crate) lazy_memory: bool,
    /// The accelerators of the host that entries may use.
    pub(crate) devices: Vec<DeviceClass>,
    /// The terms of the games of each stage that does not say otherwise.
    pub terms: StageTerms,
    /// The time by which a move may come late without losing.
    pub(crate) margin: Duration,
    /// The time added to both clocks when a game goes on (rule 6.1.5).
    pub(crate) compensation: Duration,
    /// The options that every engine is told.
    pub(crate) options: Vec<(String, String)>,
    /// Games at a time.
    pub(crate) concurrency: NonZeroUsize,
    /// The setting for insufficient material.
    pub(crate) material: Material,
    /// Tables, for interruptions (rule 6.1.4) and where the terms of a stage ask them of all games.
    pub(crate) syzygy: Vec<PathBuf>,
    /// Games before the event that its rating list counts (rule 5.2).
    pub(crate) history: Vec<PathBuf>,
    /// The mean of all ratings of that list.
    pub(crate) rating_mean: Option<f64>,
    /// The entries, in the order of seeds.
    pub entries: Vec<EventEntry>,
    /// The stages, in order.
    pub stages: Vec<Stage>,
    /// The journals of events before that engines come from.
    pub(crate) previous: Vec<Previous>,
    /// The organisers' waivers (rule 7.8).
    pub(crate) waivers: Vec<Waiver>,
}

/// An entry of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEntry {
    /// Its name in the event.
    pub name: String,
    /// Its file or directory.
    pub path: PathBuf,
    /// Its configuration, where it does not lie beside it.
    pub(crate) engines_json: Option<PathBuf>,
    /// The name of the engine in a configuration with several.
    pub(crate) engine: Option<String>,
    /// Its rating until it has one of its own (rule 5.5).
    pub(crate) rating: Option<i32>,
    /// The way in which it is started, where it is a program that is trusted: no gate is asked, and no sandbox is around it.
    pub(crate) trusted: Option<Trusted>,
}

/// The terms on which a trusted program plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trusted {
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Options besides the event's own.
    pub(crate) options: Vec<(String, String)>,
    /// Where it runs; here if none is named.
    pub(crate) directory: Option<PathBuf>,
    /// Lines to send before `uci`, as they are.
    pub(crate) init: Vec<String>,
    /// The file that has all of this, where it is not the event's.
    pub(crate) listed: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawEvent {
    event: Spanned<String>,
    #[serde(default)]
    site: String,
    journal: Option<SettingsPath>,
    #[serde(default)]
    gate: GateKind,
    #[serde(default)]
    admit_undecided: bool,
    #[serde(default)]
    elf_only: bool,
    size_limit: Option<Spanned<toml::Value>>,
    memory_limit: Option<Spanned<toml::Value>>,
    allowlist: Option<SettingsPath>,
    #[serde(default)]
    lazy_memory: bool,
    #[serde(default)]
    devices: Vec<Spanned<String>>,
    time_control: Spanned<RawClock>,
    #[serde(default, deserialize_with = "from_words")]
    margin: Duration,
    #[serde(default, deserialize_with = "from_words")]
    compensation: Duration,
    hash: Option<u64>,
    threads: Option<u32>,
    concurrency: Option<NonZeroUsize>,
    material_draws: Option<bool>,
    draw_rule: Option<Spanned<RawDrawRule>>,
    win_rule: Option<Spanned<RawWinRule>>,
    tables: Option<AskTables>,
    interruption: Option<InterruptionRule>,
    #[serde(default)]
    syzygy: Vec<SettingsPath>,
    crash_limit: Option<NonZeroU32>,
    variant: Option<Spanned<Variant>>,
    #[serde(default)]
    history: Vec<SettingsPath>,
    rating_mean: Option<Spanned<f64>>,
    #[serde(default)]
    entry: Vec<RawEntry>,
    #[serde(default)]
    engine: Vec<RawEngine>,
    engines: Option<Spanned<PathBuf>>,
    stage: Spanned<Vec<raw_stage::RawStage>>,
    #[serde(default)]
    waiver: Vec<Spanned<RawWaiver>>,
}

#[derive(Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
struct RawEntry {
    name: Spanned<String>,
    path: Spanned<PathBuf>,
    engines_json: Option<SettingsPath>,
    engine: Option<String>,
    seed: Option<Spanned<u32>>,
    rating: Option<i32>,
}

#[derive(Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
struct RawEngine {
    name: Spanned<String>,
    cmd: Spanned<PathBuf>,
    #[serde(default)]
    args: Vec<String>,
    dir: Option<Spanned<PathBuf>>,
    #[serde(default)]
    init: Vec<String>,
    #[serde(default)]
    options: BTreeMap<String, Spanned<toml::Value>>,
    seed: Option<Spanned<u32>>,
    rating: Option<i32>,
}

read_from_tables!(RawEntry, RawEngine);

impl RawEngine {
    /// An entry, with how it is started.
    fn entry(self, here: &Path) -> Result<(RawEntry, Option<Trusted>), TextMistake> {
        let mut options = Vec::new();
        for (name, value) in self.options {
            let told = match value.get_ref() {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Boolean(is_on) => is_on.to_string(),
                _ => {
                    return Err((
                        value.span(),
                        "an option is a text, a number, true or false".into(),
                    ));
                }
            };
            if !spec::is_one_line(&name, &told) {
                return Err((value.span(), spec::NOT_ONE_LINE.into()));
            }
            options.push((name, told));
        }
        let RawEngine { name, cmd: path, args: arguments, dir, init, seed, rating, .. } = self;
        if here.join(path.get_ref()).is_dir() {
            let what = "cmd names a directory; name the program in it".into();
            return Err((path.span(), what));
        }
        let directory = match dir {
            Some(dir) if !here.join(dir.get_ref()).is_dir() => {
                let what = format!(
                    "there is no directory {}; make it, or name another",
                    shown(&here.join(dir.get_ref()))
                );
                return Err((dir.span(), what));
            }
            dir => dir.map(|dir| here.join(dir.into_inner())),
        };
        let entry = RawEntry { name, path, engines_json: None, engine: None, seed, rating };
        Ok((entry, Some(Trusted { arguments, options, directory, init, listed: None })))
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawPolicy {
    None,
    FirstBookless,
    Each,
}

impl EventConfig {
    /// The stages behind one, as they follow from it.
    pub(crate) fn behind(&self, number: usize) -> StagesBehind {
        match self.stages.get(number).filter(|_| number + 1 < self.stages.len()) {
            None => StagesBehind::None,
            Some(stage) if stage.taken.is_empty() => StagesBehind::Others,
            Some(_) => StagesBehind::TakePlaces,
        }
    }

    /// Reads an event.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong at some place.
    pub fn load(path: &Path) -> Result<EventConfig, SettingsError> {
        EventConfig::load_with(path, EntryFiles::There)
    }

    /// Reads the file of an event that was recorded, of which the entries may be anywhere.
    ///
    /// # Errors
    /// As for [`EventConfig::load`].
    pub(crate) fn load_recorded(path: &Path) -> Result<EventConfig, SettingsError> {
        EventConfig::load_with(path, EntryFiles::Anywhere)
    }

    /// Reads the text of an event's file that is to lie at `path`.
    ///
    /// # Errors
    /// As for [`EventConfig::load`].
    pub(crate) fn of_text(path: &Path, text: &str) -> Result<EventConfig, SettingsError> {
        EventConfig::parse(path, text, EntryFiles::There, None)
            .map_err(|mistake| mistake.placed(path, text))
    }

    /// Reads an event from its journal, by the settings that this has; none where it has none.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] where they need a file that is not beside it.
    pub(crate) fn of_journal(path: &Path) -> Option<Result<EventConfig, SettingsError>> {
        let mut settings = None;
        let wanted = &["header", "settings", "stage-started"];
        let _ = journal::read_some(path, wanted, &mut |_, record| match record {
            JournalRecord::Header(header) => {
                settings = Some(header.settings);
                Ok(())
            }
            JournalRecord::Settings(changed) => {
                settings = Some(changed.settings);
                Ok(())
            }
            _ => Err("the rest is not wanted".into()),
        });
        let text = settings?;
        let config = EventConfig::parse(path, &text, EntryFiles::Anywhere, Some(path));
        Some(config.map_err(|mistake| mistake.placed(path, &text)))
    }

    fn load_with(path: &Path, files: EntryFiles) -> Result<EventConfig, SettingsError> {
        if journal::is_journal(path) {
            return Err(SettingsError::Journal { path: path.to_owned() });
        }
        let text = SettingsKind::EVENT.text(path)?;
        EventConfig::parse(path, &text, files, None).map_err(|mistake| mistake.placed(path, &text))
    }

    /// Reads the settings of the journal at `own`, or of the one that they name.
    fn parse(
        path: &Path,
        text: &str,
        files: EntryFiles,
        own: Option<&Path>,
    ) -> Result<EventConfig, EventMistake> {
        let raw: RawEvent = parsed(text)?;
        let here = path.parent().unwrap_or(Path::new(""));
        let journal = raw.journal.map_or_else(|| path.with_extension("journal"), |j| here.join(j));
        let own_journal = match files {
            EntryFiles::There => None,
            EntryFiles::Anywhere => Some(own.unwrap_or(&journal)),
        };
        let terms = StageTerms::at(plain(&raw.time_control)?).with(&RawTerms {
            time_control: None,
            draw_rule: raw.draw_rule,
            win_rule: raw.win_rule,
            tables: raw.tables,
            interruption: raw.interruption,
            crash_limit: raw.crash_limit,
        })?;
        names::checked(&raw.event, names::no_name)?;
        let mut list: Vec<(RawEntry, Option<Trusted>)> =
            raw.entry.into_iter().map(|entry| (entry, None)).collect();
        for engine in raw.engine {
            list.push(engine.entry(here)?);
        }
        if let Some(file) = &raw.engines {
            list.extend(engines_file::engines(file, here)?);
        }
        if list.len() < 2 {
            let what = "an event needs two entries at least, each an [[entry]], or an [[engine]] that is trusted, here or in \
                        the file that `engines` names";
            return Err((raw.event.span(), what.to_owned()).into());
        }
        let entries = entries(list, here, files)?;
        let defaults =
            stages::StageDefaults { terms, crash_limit: raw.crash_limit, variant: raw.variant };
        let span = raw.stage.span();
        let (stages, previous) = stages::read(raw.stage, here, &entries, &defaults, own_journal)?;
        let asks = stages.iter().find(|stage| stage.terms.tables == AskTables::All);
        if let (Some(stage), true) = (asks, raw.syzygy.is_empty()) {
            let what = format!(
                "{} ends games by tables, and none are named; write syzygy = [\"DIRECTORY\"]",
                stage.name
            );
            return Err((span, what).into());
        }
        let number = |name: &str, value: String| (name.to_owned(), value);
        let mut options = Vec::new();
        options.extend(raw.threads.map(|threads| number("Threads", threads.to_string())));
        options.extend(raw.hash.map(|hash| number("Hash", hash.to_string())));
        Ok(EventConfig {
            path: path.to_owned(),
            text: text.to_owned(),
            sha256: sha256(text.as_bytes()),
            event: raw.event.into_inner(),
            site: raw.site,
            journal,
            gate: raw.gate,
            admit_undecided: raw.admit_undecided,
            files: Files::of(raw.elf_only),
            size_limit: raw.size_limit.map_or(Ok(Bytes::LIMIT_4K), size_limit)?,
            memory_limit: raw.memory_limit.map(memory_limit).transpose()?,
            allowlist: raw.allowlist.map(|list| here.join(list)),
            lazy_memory: raw.lazy_memory,
            devices: devices(&raw.devices)?,
            terms,
            margin: raw.margin,
            compensation: raw.compensation,
            options,
            concurrency: raw.concurrency.unwrap_or(NonZeroUsize::MIN),
            material: match raw.material_draws {
                Some(false) => Material::PlaysOn,
                _ => Material::Draws,
            },
            syzygy: raw.syzygy.into_iter().map(|dir| here.join(dir)).collect(),
            history: raw.history.into_iter().map(|path| here.join(path)).collect(),
            rating_mean: raw.rating_mean.map(mean).transpose()?,
            waivers: waivers(raw.waiver, &entries, path, text)?,
            entries,
            stages,
            previous,
        })
    }

    /// True if these settings differ from those of a journal in nothing but `admit-undecided`, which `gate4k event run` advises
    /// when some entries are in the journal already.
    pub(crate) fn admits_otherwise(&self, before: &str) -> bool {
        let but_for_it = |text: &str| {
            let mut all: toml::Table = toml::from_str(text).ok()?;
            all.remove("admit-undecided");
            Some(all)
        };
        but_for_it(&self.text).is_some_and(|now| but_for_it(before) == Some(now))
    }

    /// The header of a journal of this event.
    pub(crate) fn header(&self) -> JournalHeader {
        JournalHeader {
            version: journal::VERSION,
            event: self.event.clone(),
            gate4k: env!("CARGO_PKG_VERSION").to_owned(),
            settings: self.text.clone(),
            settings_sha256: self.sha256.clone(),
            previous: self.previous.clone(),
        }
    }

    /// The marker that asks a runner to pause.
    pub(crate) fn pause_marker(&self) -> PathBuf {
        self.journal.with_added_extension("pause")
    }

    /// The file with the games under way, where a runner keeps one.
    pub(crate) fn live_file(&self) -> PathBuf {
        self.beside("live.json")
    }

    /// The directory with a folder for each crash.
    pub(crate) fn crashes(&self) -> PathBuf {
        self.beside("crashes")
    }

    /// A path beside the journal that no other journal has: what a journal has that is not called `NAME.journal` begins
    /// with its whole name.
    fn beside(&self, ending: &str) -> PathBuf {
        match self.journal.extension() {
            Some(own) if own == "journal" => self.journal.with_extension(ending),
            _ => {
                let mut path = self.journal.clone().into_os_string();
                path.push(format!("-{ending}"));
                path.into()
            }
        }
    }

    /// The clocks of its stages, in their order.
    pub(crate) fn clocks(&self) -> String {
        let mut clocks: Vec<String> = Vec::new();
        for stage in &self.stages {
            let clock = stage.terms.control.to_string();
            if !clocks.contains(&clock) {
                clocks.push(clock);
            }
        }
        all(&clocks)
    }

    /// The clock of a game of a stage.
    pub(crate) fn control(&self, stage: usize, at: RoundGame) -> TimeControl {
        self.stages.get(stage).map_or(self.terms.control, |stage| stage.control(at))
    }

    /// The entry of a name.
    pub(crate) fn entry(&self, name: &str) -> Option<&EventEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The names of the entries, in the order of seeds.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The name of a stage by its number; empty where there is none.
    pub(crate) fn stage_name(&self, number: usize) -> &str {
        self.stages.get(number).map_or("", |stage| &stage.name)
    }

    /// A game's id: the same whenever and wherever the event is played.
    pub fn game_id(&self, stage: &Stage, at: RoundGame, white: &str, black: &str) -> String {
        let words = [&self.event, &stage.name, &at.to_string(), white, black].map(slug);
        words.join("/")
    }
}

/// Where the files of entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryFiles {
    /// Where the event's file says.
    There,
    /// Any folder will do: nothing is started.
    Anywhere,
}

fn entries(
    mut list: Vec<(RawEntry, Option<Trusted>)>,
    here: &Path,
    files: EntryFiles,
) -> Result<Vec<EventEntry>, TextMistake> {
    let mut met = BTreeSet::new();
    let mut seeds = BTreeSet::new();
    for (entry, _) in &list {
        names::checked(&entry.name, names::no_entry_name)?;
        if !met.insert(slug(entry.name.get_ref())) {
            let what = "another entry is called the same, or nearly; give each a name of its own";
            return Err((entry.name.span(), what.into()));
        }
        if files == EntryFiles::There && entry.path.get_ref().as_os_str().is_empty() {
            let what = "an empty text names nothing; write a path".into();
            return Err((entry.path.span(), what));
        }
        if files == EntryFiles::There && !here.join(entry.path.get_ref()).exists() {
            let what = format!(
                "there is no entry at {}; put it there, or write here where it lies",
                shown(&here.join(entry.path.get_ref()))
            );
            return Err((entry.path.span(), what));
        }
        if let Some(seed) = &entry.seed
            && !seeds.insert(*seed.get_ref())
        {
            let what = format!("another entry has the seed {}", seed.get_ref());
            return Err((seed.span(), what));
        }
    }
    // Without seeds, the order in which they are written.
    list.sort_by_key(|(entry, _)| entry.seed.as_ref().map_or(u32::MAX, |seed| *seed.get_ref()));
    Ok(list
        .into_iter()
        .map(|(entry, trusted)| EventEntry {
            trusted,
            name: entry.name.into_inner(),
            path: here.join(entry.path.into_inner()),
            engines_json: entry.engines_json.map(|path| here.join(path)),
            engine: entry.engine,
            rating: entry.rating,
        })
        .collect())
}

fn mean(raw: Spanned<f64>) -> Result<f64, TextMistake> {
    let span = raw.span();
    let mean = raw.into_inner();
    if mean.is_finite() && mean.abs() <= 10_000.0 {
        Ok(mean)
    } else {
        Err((span, "the mean of all ratings is a number such as 2500".into()))
    }
}

#[cfg(test)]
mod tests;
