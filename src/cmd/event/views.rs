//! The state of an event by its journal: how far it is, its tables and ratings.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use super::{crashes::find, decide_command, typed};
use crate::cmd::early_end::EarlyEnd;
use crate::event::broadcast::Follower;
use crate::event::conduct::EventError;
use crate::event::config::EventConfig;
use crate::event::journal::record::{AfterAnnulment, won_by};
use crate::event::journal::{self, JournalError};
use crate::event::ledger::{Ledger, StageState};
use crate::event::ratings::EventRatings;
use crate::event::stage::Stage;
use crate::event::stage_table;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::words::{all, counted};
use crate::sandbox::timing::{self, TimingFact};
use crate::view::layout::PageLayout;
use crate::view::site::Site;
use crate::view::{event_ratings, standings, text};

/// The event's state by its journal, with a note where its end is torn.
pub(super) fn ledger(
    config: &EventConfig,
) -> Result<(Ledger, Option<journal::RecordPlace>), JournalError> {
    let mut ledger = Ledger::of(config);
    let torn = journal::read(&config.journal, &mut |_, record| ledger.apply(record))?;
    Ok((ledger, torn))
}

/// The difference of the event's file from the one that its journal was begun with. Only the records before the first
/// stage are read, since the settings may change up to there alone; a fault of the journal is told by who reads it.
pub(super) fn settings_changed(config: &EventConfig) -> Option<EventError> {
    let mut ledger = Ledger::of(config);
    let wanted = &["header", "settings", "stage-started"];
    let _ = journal::read_some(&config.journal, wanted, &mut |_, record| {
        ledger.apply(record)?;
        if ledger.stages.is_empty() { Ok(()) } else { Err("the rest is not wanted".into()) }
    });
    EventError::settings_changed(config, &ledger)
}

/// An error in reading the event's journal.
pub(super) fn unread(event: &Path) -> impl Fn(JournalError) -> EarlyEnd {
    move |error| match &error {
        JournalError::Read { source, path } if source.kind() == std::io::ErrorKind::NotFound => {
            not_begun(event, &format!("there is no journal {}", shown(path)))
        }
        _ => EarlyEnd::usage(error),
    }
}

/// Refuses an event that has not begun: its journal is not there, or holds no whole record.
pub(super) fn require_begun(config: &EventConfig) -> Result<(), EarlyEnd> {
    let path = &config.journal;
    if journal::is_journal(path) && journal::first_line(path).is_some() {
        return Ok(());
    }
    journal::read(path, &mut |_, _| Ok(())).map_err(unread(&config.path))?;
    Err(holds_no_record(&config.path, path))
}

/// The refusal of an event whose journal holds no whole record.
pub(super) fn holds_no_record(event: &Path, journal: &Path) -> EarlyEnd {
    not_begun(event, &format!("its journal {} holds no record", shown(journal)))
}

fn not_begun(event: &Path, why: &str) -> EarlyEnd {
    let words = format!("the event has not begun: {why}; {} begins it", typed("run", event));
    EarlyEnd::new(Exit::Nothing, words)
}

/// The progress of a stage, or what it waits for.
fn underway(config: &EventConfig, stage: &Stage, state: &StageState) -> String {
    let done = state.finished();
    let standings = stage.standings_of(state);
    // A match that is tied is planned as far as its next pair, a Swiss as far as its next round.
    let due = stage.to_come(state.started.seats.len(), &stage.past_of(state)).len();
    let ranking = stage.ranking(&standings, state);
    match stage.open_tie(&standings, &ranking) {
        Some(tied) if stage.is_played(state) => format!(
            "{done} of {}; {} are tied, and {}: {}, the best first",
            counted(done, "game"),
            all(&tied),
            stage.chain.organisers_decide(),
            decide_command(&config.path, &tied)
        ),
        _ => {
            let level = stage.endless(state).into_iter().map(|tied| {
                let decide = decide_command(&config.path, &tied);
                format!("; {} are level still, and {decide} can end it", all(&tied))
            });
            format!("{done} of {}{}", counted(done + due, "game"), level.collect::<String>())
        }
    }
}

/// The state of the event, in a line.
fn state(ledger: &Ledger) -> String {
    let stage = ledger.stages.last().filter(|stage| stage.outcome.is_none());
    match (&ledger.paused, stage) {
        _ if ledger.is_over() => format!("over: {}", won_by(&ledger.winners)),
        (Some(why), _) => format!("paused: {why}"),
        (None, Some(stage)) => format!("in {}", stage.started.name),
        (None, None) if ledger.stages.is_empty() => "before the first stage".to_owned(),
        (None, None) => "between stages".to_owned(),
    }
}

/// Matters of this host by which times differ from game to game, in a line; none where it has none of them.
fn unsteady_times(facts: &[TimingFact]) -> Option<String> {
    let unsteady = facts.iter().filter(|fact| fact.fix.is_some());
    let named: Vec<String> =
        unsteady.map(|fact| format!("{} ({})", fact.name, fact.what)).collect();
    (!named.is_empty()).then(|| {
        format!(
            "times could be steadier on this host: {}; `gate4k doctor` has the commands",
            all(&named)
        )
    })
}

/// The state of the event. Names are those of the event's file, which may have taken them from the names of strangers' files.
pub(super) fn status(
    config: &EventConfig,
    layout: PageLayout,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    let exit = write_status(config, layout, &mut page)?;
    for line in String::from_utf8_lossy(&page).lines() {
        writeln!(out, "{}", text::clean(line))?;
    }
    Ok(exit)
}

/// The last of what engines did in games against the rules.
fn write_incidents(incidents: &[String], out: &mut impl Write) -> std::io::Result<()> {
    const MOST: usize = 20;
    let earlier = incidents.len().saturating_sub(MOST);
    if earlier > 0 {
        writeln!(out, "against the rules: {} earlier", counted(earlier, "incident"))?;
    }
    for incident in incidents.iter().skip(earlier) {
        writeln!(out, "against the rules: {incident}")?;
    }
    Ok(())
}

fn write_status(
    config: &EventConfig,
    layout: PageLayout,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    require_begun(config)?;
    let (ledger, torn) = ledger(config).map_err(unread(&config.path))?;
    writeln!(
        out,
        "{}: {} of {} entries frozen",
        config.event,
        ledger.receipts.len(),
        config.entries.len()
    )?;
    for (number, stage) in config.stages.iter().enumerate() {
        let state = ledger.stages.get(number);
        let how = match state.map(|state| (state, &state.outcome)) {
            None => "not begun".to_owned(),
            Some((state, Some(outcome))) => {
                let games = counted(state.finished(), "game");
                format!("over, {games}: {}", outcome.in_words(config.behind(number)))
            }
            Some((state, None)) => underway(config, stage, state),
        };
        writeln!(out, "{}: {how}", stage.name)?;
        for line in &stage.passed_over {
            writeln!(out, "  {line}")?;
        }
    }
    for game in ledger.open.values() {
        let moves = counted(game.plies.len(), "move");
        writeln!(out, "under way: {}, {moves} of the engines", game.started.id)?;
    }
    for line in crashes(config, &ledger) {
        writeln!(out, "{line}")?;
    }
    write_crash_folders(config, out)?;
    write_incidents(&ledger.incidents, out)?;
    for update in &ledger.updates {
        let stage = config.stage_name(update.stage);
        let sum = &update.receipt.frozen.file;
        writeln!(out, "updated before {stage}: {} is {sum} now", update.entry)?;
    }
    for withdrawn in &ledger.withdrawn {
        writeln!(
            out,
            "{}: {}",
            config.stage_name(withdrawn.stage),
            text::clean(&withdrawn.in_words())
        )?;
    }
    if ledger.interruptions > 0 {
        writeln!(out, "interruptions decided: {}", ledger.interruptions)?;
    }
    if let Some(torn) = torn {
        writeln!(out, "line {} is being written, or was torn", torn.line)?;
    }
    let changed = EventError::settings_changed(config, &ledger);
    if let Some(changed) = &changed {
        writeln!(out, "{changed}")?;
    }
    let at_work = journal::is_in_use(&config.journal);
    let goes_on = !ledger.is_over() && ledger.paused.is_none() && !at_work && changed.is_none();
    let how = if goes_on {
        format!("; no runner is at work: {} goes on", typed("run", &config.path))
    } else {
        String::new()
    };
    writeln!(out, "{}{how}", state(&ledger))?;
    if !ledger.is_over()
        && let Some(line) = unsteady_times(&timing::facts())
    {
        writeln!(out, "{line}")?;
    }
    let begun = 0..ledger.stages.len();
    let tables = begun.filter_map(|stage| stage_table::of(config, &ledger, stage));
    for table in tables.filter(|table| !table.rows.is_empty()) {
        let told = if layout.plain { standings::plain } else { standings::text };
        write!(out, "\n{}", told(&table, layout.width))?;
    }
    let ratings = event_ratings::text(&EventRatings::of(config, &ledger), layout);
    if !ratings.is_empty() {
        write!(out, "\n{ratings}")?;
    }
    Ok(Exit::Success)
}

/// The crashes of each engine, a line for each: as losses, or in games that count for nobody.
fn crashes(config: &EventConfig, ledger: &Ledger) -> Vec<String> {
    let mut crashes: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for (stage, state) in config.stages.iter().zip(&ledger.stages) {
        let field = state.field(stage.crash_limit);
        for game in field.games() {
            let Some(side) = game.crashed else { continue };
            let is_annulled = [game.white, game.black].iter().any(|one| field.is_annulled(*one));
            let name = field.engine(game.engine(side)).name.clone();
            crashes.entry(name).or_default()[usize::from(is_annulled)] += 1;
        }
    }
    let told = crashes.into_iter().map(|(name, [lost, annulled])| {
        let what = match (lost, annulled) {
            (_, 0) => "counted as losses".to_owned(),
            (0, _) => "in annulled games, which count for nobody".to_owned(),
            (lost, annulled) => {
                format!("{lost} counted as losses; {annulled} in annulled games")
            }
        };
        format!("crashed: {name}, {} ({what})", lost + annulled)
    });
    told.collect()
}

/// The crashes, each with its folder as it lies here.
fn write_crash_folders(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<()> {
    let mut follower = Follower::new(config);
    if follower.look(config).is_err() {
        return Ok(());
    }
    let mut are_all_here = true;
    for crash in Site::exported(config, &follower.broadcast).crashes() {
        let place = match find(config, &crash) {
            Some(here) => format!("{}/: ", shown(&here)),
            None => {
                are_all_here = false;
                String::new()
            }
        };
        let game = match crash.annulled.map(|annulled| annulled.then) {
            None => "",
            Some(AfterAnnulment::Nothing) => " (its game is annulled)",
            Some(AfterAnnulment::PlayedAgain) => " (its game is annulled, to be played again)",
        };
        writeln!(out, "  {place}{}: {}{game}", crash.engine, crash.why)?;
    }
    if !are_all_here {
        let file = shown(&config.path);
        writeln!(out, "  `gate4k event export site DIR {file}` writes their folders into DIR")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::journal::record::StageStarted;

    /// Of three engines one has a bye first; all are level, and the organisers have nothing to decide yet.
    #[test]
    fn no_tie_is_to_be_decided_before_a_round_that_waits_for_its_bye() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("event.toml");
        let mut text = "event = \"E\"\ntime-control = \"1+1\"\n".to_owned();
        let seats = ["A", "B", "C"].map(str::to_owned).to_vec();
        for name in &seats {
            text += &format!("[[engine]]\nname = {name:?}\ncmd = \"/bin/true\"\n");
        }
        text += "[[stage]]\nname = \"S\"\nformat = { swiss = { rounds = 2, pairing = \"monrad\" } }\n\
                 book-policy = \"none\"\ntie-breaks = [\"wins\"]\n";
        std::fs::write(&path, text).unwrap();
        let config = EventConfig::load(&path).unwrap();
        let begins = StageStarted { name: "S".into(), seats, ..StageStarted::default() };
        let told = underway(&config, &config.stages[0], &StageState::new(begins));
        assert_eq!(told, "0 of 2 games");
    }

    #[test]
    fn only_what_could_be_steadier_is_named() {
        let fact = |name, what: &str, fix| TimingFact { name, what: what.to_owned(), fix };
        let quiet = fact("smt", "each processor is a core", None);
        assert_eq!(unsteady_times(std::slice::from_ref(&quiet)), None);
        let swap = fact("swap", "2 in use", Some("swapoff -a"));
        let line = unsteady_times(&[quiet, swap]).unwrap();
        assert!(line.contains("swap (2 in use)") && !line.contains("smt"), "{line}");
    }
}
