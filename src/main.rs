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
        Err(error) => {
            // Help and version come this way too. A reader that has gone away is no error.
            let _ = error.print();
            if error.use_stderr() { Exit::Usage } else { Exit::Success }
        }
    })
    .into()
}
