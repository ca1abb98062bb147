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
mod next_steps;
mod outcome;
mod sandboxed;
mod seed;
mod test_folder;

mod abuse;
mod agree;
mod arrows;
mod batch;
mod busy;
mod changed;
mod check_shards;
mod chess960;
mod cli;
mod contrib_recipes;
mod debian_engines;
mod devices;
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
mod one_file;
mod other_limits;
mod pack;
mod referee;
mod release;
mod replay_question;
mod replayed;
mod reports;
mod run;
mod run_streams;
mod sandbox;
mod sandbox_descriptors;
mod sandbox_files;
mod seasons;
mod slurm;
mod stalled;
mod standings;
mod submissions;
mod system_programs;
mod terminal;
mod upgraded;
mod waivers;
mod watch;

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use trials::Test;

/// Every test, those that take longest first, so that none of them is waited for alone at the end.
fn all() -> impl Iterator<Item = Test> {
    let modules: [fn() -> Vec<Test>; 48] = [
        handbook::tests,
        upgraded::tests,
        check_shards::tests,
        terminal::tests,
        next_steps::tests,
        system_programs::tests,
        first_contact::tests,
        stalled::tests,
        slurm::tests,
        dutch::tests,
        devices::tests,
        abuse::tests,
        fixtures::tests,
        event::tests,
        match_::tests,
        killed::tests,
        run::tests,
        run_streams::tests,
        sandbox::tests,
        sandbox_descriptors::tests,
        sandbox_files::tests,
        replay_question::tests,
        replayed::tests,
        debian_engines::tests,
        batch::tests,
        busy::tests,
        waivers::tests,
        submissions::tests,
        forged_repository::tests,
        multi_call::tests,
        pack::tests,
        watch::tests,
        fuzz::tests,
        standings::tests,
        formats::tests,
        seasons::tests,
        referee::tests,
        changed::tests,
        chess960::tests,
        contrib_recipes::tests,
        cli::tests,
        release::tests,
        odd_files::tests,
        one_file::tests,
        other_limits::tests,
        reports::tests,
        agree::tests,
        arrows::tests,
    ];
    modules.into_iter().flat_map(|tests| tests())
}

/// True for a variable of the environment that changes how the program, or a program that a test starts, prints, finds
/// or does something. No test may depend on the environment of its caller; each sets for itself what it is about.
fn is_of_the_caller(name: &OsStr) -> bool {
    const GROUPS: [&str; 5] = ["GIT_", "GITHUB_", "PARALLEL", "RUNNER_", "SLURM_"];
    const ALONE: [&str; 22] = [
        "ALL_PROXY",
        "BASH_ENV",
        "CI",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "ENV",
        "FORCE_COLOR",
        "GATE4K_KEY_PASSWORD",
        "GATE4K_LICHESS_TOKEN",
        "GATE4K_LICHESS_URL",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "JOB_COMPLETION_INDEX",
        "LANGUAGE",
        "LINES",
        "NO_COLOR",
        "SHELL",
        "XZ_OPT",
        "all_proxy",
        "http_proxy",
        "https_proxy",
    ];
    let Some(name) = name.to_str() else { return false };
    ALONE.contains(&name) || GROUPS.iter().any(|group| name.starts_with(group))
}

fn main() -> ExitCode {
    /// Tests keep the host busy for each other; those of a busy host say so themselves.
    const ON_BUSY_HOST: &str = "GATE4K_ON_BUSY_HOST";
    if std::env::var_os(ON_BUSY_HOST).is_none() {
        // A shell that starts the tests in the background lets them ignore Ctrl-C; what they start would, too.
        let mut again = Command::new("env");
        again.arg("--default-signal=INT,QUIT").arg(std::env::current_exe().expect("this program"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_the_caller(name)) {
            again.env_remove(name);
        }
        again.env("LC_ALL", "C.UTF-8");
        let error = again.args(std::env::args_os().skip(1)).env(ON_BUSY_HOST, "judge-once").exec();
        panic!("this program could not be started with {ON_BUSY_HOST}: {error}");
    }
    trials::main(all())
}
