//! One thin file a subcommand: they connect modules and decide nothing.

mod check;
mod check_shard;
mod choice;
mod doctor;
mod early_end;
mod entry_file;
mod event;
mod explain;
mod fastchess;
mod game_line;
mod games;
mod guard;
mod live;
mod log;
mod match_;
mod match_board;
mod match_crash;
mod match_losses;
mod match_out;
mod match_settings;
mod match_shard;
mod match_table;
mod match_test;
mod match_until;
mod merge;
mod merge_check;
mod merge_match;
mod merge_watch;
mod other_runners;
mod output;
mod pack;
mod ratings;
mod receipt_to;
mod replay_question;
mod reports;
mod run;
mod run_end;
mod run_streams;
mod shell;
mod size;
mod size_apply;
mod standings;
mod surroundings;
mod total;
mod verify;
mod watch;
mod worker_lines;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anstream::ColorChoice;
use clap::Parser;

use crate::cli::{
    Cli, CliCommand, Color, ConfineArgs, EntryArgs, EventCommand, OutputFormat, ReportPath,
    ReportTo, StandingsFormat,
};
use crate::config::Config;
use crate::judge::error::CheckError;
use crate::judge::settings::Settings;
use crate::model::exit::Exit;
use crate::sandbox::limits;
use crate::view::layout::PageLayout;
use crate::view::report_format::ReportFormat;
use crate::view::text;
use output::Output;

/// The whole program: reads the command line of this process, carries it out, and gives the exit code. A panic in
/// any thread is reported on standard error with a request to tell of it, and has an exit code of its own.
pub fn main() -> ExitCode {
    guard::install();
    limits::open_many_files();
    // Under the name that OpenBench's client gives to its match runner, its words are what is meant.
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let own = words.first().map(Path::new).and_then(Path::file_stem);
    if own.is_some_and(|name| name == "fastchess-ob") {
        words.insert(1, "fastchess".into());
    }
    guard::guarded(|| {
        if let Some(advice) = other_runners::explained(&words) {
            tell(&advice);
            return Exit::Usage;
        }
        match Cli::try_parse_from(words) {
            Ok(cli) => run(cli),
            Err(usage) => tell_usage(&usage),
        }
    })
    .into()
}

/// Carries out a command line; errors are told on standard error.
fn run(cli: Cli) -> Exit {
    let choice = match cli.color {
        Color::Auto if forced() => ColorChoice::Always,
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    // Set for all streams, so that messages on standard error follow the same choice.
    choice.write_global();
    // Lines that a terminal would break in the midst of a word are broken at a blank; what programs read stays as it is.
    let width = is_for_people(&cli.command).then(|| text::terminal_width(std::io::stdout()));
    let mut out = Output::new(anstream::stdout(), width.flatten());
    let done = match cli.command {
        CliCommand::Check(args) => check::run(&args, &mut out),
        CliCommand::Pack(args) => pack::run(&args, &mut out),
        CliCommand::Verify(args) => verify::run(&args, &mut out),
        CliCommand::Match(args) => match_::run(&args, &mut out),
        CliCommand::Fastchess(args) => fastchess::run(&args, &mut out),
        CliCommand::Merge(args) => merge::run(&args, &mut out),
        CliCommand::Size(args) => size::run(&args, &mut out),
        CliCommand::Run(args) => run::run(&args),
        CliCommand::ReplayQuestion(args) => replay_question::run(&args, &mut out),
        CliCommand::Doctor(args) => doctor::run(&args, &mut out),
        CliCommand::Event(command) => event::run(&command, &mut out),
        CliCommand::Explain(args) => explain::run(&args, &mut out),
        CliCommand::Standings(args) => standings::run(&args, &mut out),
        CliCommand::Ratings(args) => ratings::run(&args, &mut out),
        CliCommand::Completions(args) => shell::completions(&args, &mut out),
        CliCommand::Man(args) => shell::man(&args, &mut out),
    };
    let done = done.or_else(early_end::told).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    // An error here is no word on an entry: a disk that is full, an output that was closed.
    done.unwrap_or_else(|error| {
        tell(&format!("the result could not be written: {}", with_causes(&error)));
        Exit::Usage
    })
}

fn is_for_programs(report: &ReportTo) -> bool {
    report.path == ReportPath::Stdout && report.format != ReportFormat::Human
}

/// True if a command writes to standard output for people and nobody else.
fn is_for_people(command: &CliCommand) -> bool {
    match command {
        CliCommand::Check(args) => {
            args.entry.format != OutputFormat::Json
                && !args.list
                && !args.dump_config
                && !args.dump_allowlist
                && !args.report.iter().any(is_for_programs)
        }
        CliCommand::Size(args) => args.entry.format != OutputFormat::Json,
        CliCommand::Doctor(args) => args.format != OutputFormat::Json,
        CliCommand::Ratings(args) => args.format != OutputFormat::Json,
        CliCommand::Explain(args) => args.format != OutputFormat::Json,
        CliCommand::Standings(args) => {
            matches!(args.format, StandingsFormat::Text | StandingsFormat::Plain)
        }
        CliCommand::Event(EventCommand::Export(_)) => false,
        CliCommand::Event(EventCommand::ReplayGames(args)) => args.format != OutputFormat::Json,
        CliCommand::Event(EventCommand::Status(args)) => args.format != OutputFormat::Json,
        CliCommand::Verify(args) => args.format != OutputFormat::Json,
        CliCommand::Merge(args) => {
            args.format != Some(OutputFormat::Json) && !args.report.iter().any(is_for_programs)
        }
        CliCommand::Event(_) | CliCommand::Match(_) | CliCommand::Pack(_) => true,
        CliCommand::Run(_)
        | CliCommand::ReplayQuestion(_)
        | CliCommand::Completions(_)
        | CliCommand::Man(_)
        | CliCommand::Fastchess(_) => false,
    }
}

/// FORCE_COLOR asks for colours where there is no terminal, unless NO_COLOR forbids them.
fn forced() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|word| !word.is_empty());
    set("NO_COLOR").is_none() && set("FORCE_COLOR").is_some_and(|word| word != "0")
}

/// The help or the version that was asked for, or the mistake in a command line.
fn tell_usage(usage: &clap::Error) -> Exit {
    let text = usage.render().ansi().to_string();
    if usage.use_stderr() {
        say(text.trim_end());
        return Exit::Usage;
    }
    // A reader that has gone away is no error.
    let text = fitted(&text, text::terminal_width(std::io::stdout()));
    let _ = write!(anstream::stdout(), "{text}");
    Exit::Success
}

/// Tells an error on standard error.
fn tell(message: &str) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    say(&format!("{red}error:{red:#} {}", without_numbers(message)));
}

/// A message without the numbers that the standard library puts behind the words of the system: `(os error 2)`.
fn without_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                text += rest;
            }
            _ => text = text + " (os error " + part,
        }
    }
    text
}

/// Text on standard error, no line wider than a terminal. Where standard error is gone, the exit code alone must tell.
fn say(text: &str) {
    let text = fitted(text, text::terminal_width(std::io::stderr()));
    live::while_away(|| {
        let _ = writeln!(anstream::stderr(), "{text}");
    });
}

fn fitted(text: &str, width: Option<usize>) -> String {
    match width {
        Some(width) => {
            text.split('\n').map(|line| text::fit(line, width)).collect::<Vec<_>>().join("\n")
        }
        None => text.to_owned(),
    }
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

/// Tells something to know on standard error; it changes no outcome.
fn note(message: &str) {
    let bold = anstyle::Style::new().bold();
    say(&format!("{bold}note:{bold:#} {message}"));
}

/// Warns of something odd on standard error; it changes no outcome.
fn warn(message: &str) {
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    say(&format!("{yellow}warning:{yellow:#} {}", without_numbers(message)));
}

/// The message where no entry is named.
const NO_ENTRY: &str = "no <ENTRY> is named: name a file or a directory";

/// The page that a result is printed on for people.
fn layout_of(format: OutputFormat) -> PageLayout {
    PageLayout { plain: format == OutputFormat::Plain, ..PageLayout::of_width(text::width()) }
}

/// The settings that all commands on entries share.
fn settings(args: &EntryArgs) -> Settings {
    Settings {
        engines_json: args.engines_json.clone(),
        name: args.name.clone(),
        allowlist: args.allowlist.clone(),
        ..Settings::default()
    }
}

/// The settings of an entry that is started without a verdict, under the waivers of this directory.
fn settings_to_start(
    allowlist: Option<&Path>,
    strict: bool,
    confine: &ConfineArgs,
) -> Result<Settings, CheckError> {
    Ok(Settings {
        allowlist: allowlist.map(Path::to_owned),
        strict,
        waivers: Config::waivers_here()?,
        required: confine.require.clone(),
        lazy_memory: confine.lazy_memory,
        devices: confine.devices.clone(),
        ..Settings::default()
    })
}
