//! The command line.

use std::process::ExitCode;

use clap::Parser;
use gate4k::cli::Cli;
use gate4k::cmd;

fn main() -> ExitCode {
    cmd::guard::install();
    cmd::guard::guarded(|| match Cli::try_parse() {
        Ok(cli) => cmd::run(cli),
        Err(usage) => cmd::tell_usage(&usage),
    })
    .into()
}
