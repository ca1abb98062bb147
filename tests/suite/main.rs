//! The tests of gate4k as its users meet it: one program, whose trials run beside each other.
//!
//! Names begin with a tier: `quick::` (seconds, for the inner loop) or `slow::`. CONTRIBUTING.md says what to run when.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of this is a test, and a test that cannot go on has failed"
)]

#[macro_use]
mod trials;
mod needs;
mod seed;

mod abuse;
mod agree;
mod arrows;
mod batch;
mod busy;
mod changed;
mod chess960;
mod cli;
mod debian_engines;
mod dutch;
mod event;
mod first_contact;
mod fixtures;
mod forged_repository;
mod formats;
mod fuzz;
mod handbook;
mod killed;
mod match_;
mod multi_call;
mod odd_files;
mod other_limits;
mod pack;
mod referee;
mod release;
mod replayed;
mod reports;
mod run;
mod sandbox;
mod standings;
mod submissions;
mod terminal;
mod upgraded;
mod waivers;
mod watch;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use trials::Test;

/// Every test, those that take longest first, so that none of them is waited for alone at the end.
fn all() -> impl Iterator<Item = Test> {
    let modules: [fn() -> Vec<Test>; 35] = [
        abuse::tests,
        fixtures::tests,
        event::tests,
        match_::tests,
        killed::tests,
        run::tests,
        sandbox::tests,
        replayed::tests,
        debian_engines::tests,
        dutch::tests,
        batch::tests,
        busy::tests,
        waivers::tests,
        submissions::tests,
        upgraded::tests,
        forged_repository::tests,
        multi_call::tests,
        pack::tests,
        watch::tests,
        terminal::tests,
        fuzz::tests,
        handbook::tests,
        standings::tests,
        formats::tests,
        referee::tests,
        changed::tests,
        chess960::tests,
        cli::tests,
        release::tests,
        first_contact::tests,
        odd_files::tests,
        other_limits::tests,
        reports::tests,
        agree::tests,
        arrows::tests,
    ];
    modules.into_iter().flat_map(|tests| tests())
}

fn main() -> ExitCode {
    /// Tests keep the host busy for each other; those of a busy host say so themselves.
    const ON_BUSY_HOST: &str = "GATE4K_ON_BUSY_HOST";
    if std::env::var_os(ON_BUSY_HOST).is_none() {
        let mut again = Command::new(std::env::current_exe().expect("this program"));
        let error = again.args(std::env::args_os().skip(1)).env(ON_BUSY_HOST, "judge-once").exec();
        panic!("this program could not be started with {ON_BUSY_HOST}: {error}");
    }
    trials::main(all())
}
