//! `gate4k event`: a whole event, from its file to its winner.

mod crashes;
mod export;
mod following;
mod live_pgn;
mod organise;
mod plan;
mod publish;
mod replay;
mod run;
mod seal;
mod serve;
mod stream;
mod views;
mod watch;

use std::io::{ErrorKind, Write};
use std::path::Path;

use super::early_end::EarlyEnd;
use super::{layout_of, note};
use crate::cli::{EventCommand, ExportWhat, OutputFormat};
use crate::event::conduct::{Conductor, EventError};
use crate::event::config::EventConfig;
use crate::event::journal::is_journal;
use crate::event::journal::record::AfterAnnulment;
use crate::files::settings::SettingsError;
use crate::model::exit::Exit;
use crate::model::text::{shell_word, shown};

/// A command for this event, which can be typed as it stands.
fn typed(command: &str, event: &Path) -> String {
    format!("`gate4k event {command} {}`", file_word(event))
}

/// The event's file as a word of a command.
fn file_word(event: &Path) -> String {
    shell_word(event).unwrap_or_else(|| shown(event))
}

/// The command by which the organisers decide between these engines.
fn decide_command(event: &Path, tied: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = tied.iter().map(AsRef::as_ref).collect();
    let names = names.join(",");
    let order = shell_word(Path::new(&names)).unwrap_or(names);
    format!("`gate4k event decide {} --order {order} --reason …`", file_word(event))
}

/// Carries out one of its commands.
pub(super) fn run(command: &EventCommand, out: &mut impl Write) -> anyhow::Result<Exit> {
    match command {
        EventCommand::New(args) => organise::new(args, out),
        EventCommand::ReplayGames(args) => replay::run(args, out),
        EventCommand::Plan(file) => with_entries(&file.event, |config| plan::run(config, out)),
        EventCommand::Run(args) | EventCommand::Resume(args) => {
            with_entries(&args.file.event, |config| run::run(config, args, out))
        }
        EventCommand::Pause(file) => with(&file.event, |config| organise::pause(config, out)),
        EventCommand::Status(args) => match args.format {
            OutputFormat::Json => {
                shown_with(&args.file.event, |config| export::status(config, out))
            }
            format => {
                with(&args.file.event, |config| views::status(config, layout_of(format), out))
            }
        },
        EventCommand::Verify(args) => {
            with(&args.file.event, |config| seal::verify(config, args, out))
        }
        EventCommand::Seal(args) => with(&args.file.event, |config| seal::seal(config, args, out)),
        EventCommand::Repair(file) => with(&file.event, |config| organise::repair(config, out)),
        EventCommand::Serve(args) => {
            shown_with(&args.file.event, |config| serve::run(config, args, out))
        }
        EventCommand::Watch(file) => shown_with(&file.event, |config| watch::run(config, out)),
        EventCommand::Export(ExportWhat::Settings(file)) => export::settings(&file.event, out),
        EventCommand::Export(what) => {
            shown_with(&what.file().event, |config| export::run(config, what, out))
        }
        EventCommand::Decide(args) => ruled(&args.file.event, out, |conductor| {
            let order = conductor.decide(&args.order.join(","), &args.reason)?;
            Ok(format!("decided: {}", order.join(", ")))
        }),
        EventCommand::Annul(args) => ruled(&args.file.event, out, |conductor| {
            conductor.annul(&args.game, AfterAnnulment::Nothing, &args.reason)
        }),
        EventCommand::Replay(args) => ruled(&args.file.event, out, |conductor| {
            conductor.annul(&args.game, AfterAnnulment::PlayedAgain, &args.reason)
        }),
        EventCommand::Withdraw(args) => {
            ruled(&args.file.event, out, |conductor| conductor.withdraw(&args.engine, &args.reason))
        }
        EventCommand::Forfeit(args) => ruled(&args.file.event, out, |conductor| {
            conductor.forfeit(&args.game, &args.loser, &args.reason)
        }),
        EventCommand::Fix(args) => with(&args.file.event, |config| {
            organise::rule(config, out, |conductor| {
                let sum = conductor.fix(&args.entry, &args.reason)?;
                Ok(format!("{} plays on as fixed: SHA-256 {sum}", args.entry))
            })
        }),
    }
}

/// Carries out a ruling of the organisers after which the event goes on.
fn ruled(
    path: &Path,
    out: &mut impl Write,
    act: impl FnOnce(&mut Conductor<'_>) -> Result<String, EventError>,
) -> anyhow::Result<Exit> {
    with(path, |config| {
        organise::rule(config, out, |conductor| {
            let told = act(conductor)?;
            Ok(format!("{told}; {} goes on", typed("run", &config.path)))
        })
    })
}

/// Reads the event first, whose entries start: each must be where the event's file says.
fn with_entries(
    path: &Path,
    then: impl FnOnce(&EventConfig) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    then(&EventConfig::load(path).map_err(unreadable(path))?)
}

/// The refusal of an event whose file cannot be read. The journal of one that is lost has its text.
fn unreadable(path: &Path) -> impl Fn(SettingsError) -> EarlyEnd {
    move |error| {
        let journal = path.with_extension("journal");
        match &error {
            SettingsError::Read { source, .. }
                if source.kind() == ErrorKind::NotFound && is_journal(&journal) =>
            {
                let words = format!(
                    "there is no {}, but its journal {} is there, which has it as the event began: `gate4k event export \
                     settings {word} > {word}` writes it anew",
                    shown(path),
                    shown(&journal),
                    word = file_word(path)
                );
                EarlyEnd::new(Exit::Nothing, words)
            }
            _ => EarlyEnd::of_file(error),
        }
    }
}

/// Reads the event first. Nothing is started, so that an event can be shown and ruled on for ever, wherever its entries went.
fn with(
    path: &Path,
    then: impl FnOnce(&EventConfig) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    then(&EventConfig::load_recorded(path).map_err(unreadable(path))?)
}

/// The same for those who look on, of whom none refuses a file that is not the one that the event was begun with.
fn shown_with(
    path: &Path,
    then: impl FnOnce(&EventConfig) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    with(path, |config| {
        if let Some(changed) = views::settings_changed(config) {
            note(&changed.to_string());
        }
        then(config)
    })
}

/// An error of the event itself, with the exit code that it stands for.
fn failed(error: EventError) -> EarlyEnd {
    let exit = if let EventError::Check(error) = &error { error.exit() } else { Exit::Usage };
    EarlyEnd::new(exit, error)
}
