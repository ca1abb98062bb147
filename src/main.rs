//! The command line.

use std::process::ExitCode;

use clap::Parser;
use gate4k::cli::Cli;
use gate4k::cmd;
use gate4k::model::exit::Exit;

fn main() -> ExitCode {
    cmd::guard::install();
    cmd::guard::guarded(|| match Cli::try_parse() {
        Ok(cli) => cmd::run(cli),
        Err(error) if error.use_stderr() => {
            cmd::tell_usage(&error);
            Exit::Usage
        }
        Err(error) => {
            // Help and version come this way too. A reader that has gone away is no error.
            let _ = error.print();
            Exit::Success
        }
    })
    .into()
}
