//! One thin file a subcommand: they wire rooms together and decide nothing.

mod check;
mod choice;
mod doctor;
mod event;
mod explain;
mod games;
pub mod guard;
mod live;
mod log;
mod match_;
mod match_out;
mod match_table;
mod output;
mod pack;
mod progress;
mod ratings;
mod reports;
mod run;
mod shell;
mod size;
mod standings;
mod surroundings;
mod verify;
mod watch;
mod worker_lines;

use std::io::Write;

use anstream::ColorChoice;

use crate::cli::{Cli, Color, Command, ConfineArgs, EntryArgs};
use crate::judge::settings::Settings;
use crate::model::exit::Exit;
use output::Output;

/// Carries out a command line; errors are told on standard error.
#[must_use]
pub fn run(cli: Cli) -> Exit {
    let choice = match cli.color {
        Color::Auto if forced() => ColorChoice::Always,
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    // Set for all streams, so that messages on standard error follow the same choice.
    choice.write_global();
    let mut out = Output::new(anstream::stdout());
    let done = match cli.command {
        Command::Check(args) => check::run(&args, &mut out),
        Command::Pack(args) => pack::run(&args, &mut out),
        Command::Verify(args) => verify::run(&args, &mut out),
        Command::Match(args) => match_::run(&args, &mut out),
        Command::Size(args) => size::run(&args, &mut out),
        Command::Run(args) => run::run(&args),
        Command::Doctor(args) => doctor::run(&args, &mut out),
        Command::Event(command) => event::run(&command, &mut out),
        Command::Explain(args) => explain::run(&args, &mut out),
        Command::Standings(args) => standings::run(&args, &mut out),
        Command::Ratings(args) => ratings::run(&args, &mut out),
        Command::Completions(args) => shell::completions(&args, &mut out),
        Command::Man(args) => shell::man(&args, &mut out),
    };
    let done = done.and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    // What comes here is no word on an entry: a disk that is full, an output that was closed.
    done.unwrap_or_else(|error| {
        tell(&format!("the result could not be written: {}", with_causes(&error)));
        Exit::Usage
    })
}

/// FORCE_COLOR asks for colours where there is no terminal, unless NO_COLOR forbids them.
fn forced() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|word| !word.is_empty());
    set("NO_COLOR").is_none() && set("FORCE_COLOR").is_some_and(|word| word != "0")
}

/// One error on standard error; where even that is gone, the exit code alone must tell.
fn tell(message: &str) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{red}error:{red:#} {message}");
}

/// An error with its causes on one line. Errors of this program tell their cause themselves; such a cause is not told twice.
fn with_causes(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    line
}

/// Something to know on standard error, which changes no outcome.
fn note(message: &str) {
    let bold = anstyle::Style::new().bold();
    let _ = writeln!(anstream::stderr(), "{bold}note:{bold:#} {message}");
}

/// What is said where no entry is named.
const NO_ENTRY: &str = "no <ENTRY> is named: name a file or a directory (`gate4k check --help`)";

/// The settings that all commands on entries share.
fn settings(args: &EntryArgs) -> Settings {
    Settings {
        engines_json: args.engines_json.clone(),
        name: args.name.clone(),
        allowlist: args.allowlist.clone(),
        ..Settings::default()
    }
}

/// The same with what was chosen of the sandbox.
fn confinement(settings: Settings, args: &ConfineArgs) -> Settings {
    Settings {
        required: args.require.clone(),
        lazy_memory: args.lazy_memory,
        devices: args.devices.clone(),
        ..settings
    }
}
