//! The command line.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use gate4k::cli::Cli;
use gate4k::cmd;

fn main() -> ExitCode {
    cmd::guard::install();
    // Under the name that OpenBench's client gives to its match runner, its words are what is meant.
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let own = words.first().map(Path::new).and_then(Path::file_stem);
    if own.is_some_and(|name| name == "fastchess-ob") {
        words.insert(1, "fastchess".into());
    }
    cmd::guard::guarded(|| match (cmd::tell_habit(&words), Cli::try_parse_from(words)) {
        (Some(exit), _) => exit,
        (None, Ok(cli)) => cmd::run(cli),
        (None, Err(usage)) => cmd::tell_usage(&usage),
    })
    .into()
}
