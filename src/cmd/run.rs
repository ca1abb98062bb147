//! `gate4k run`: an entry in the place of gate4k itself, as far as any GUI or match runner can tell.
//!
//! Its standard streams are ours, so nothing is copied and the end of input is the entry's own affair.
//! Signals are handed on, its exit status becomes ours, and when its first process has ended everything
//! else is taken down.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use super::{settings_to_start, tell};
use crate::cli::RunArgs;
use crate::judge::Judge;
use crate::judge::error::CheckError;
use crate::judge::settings::Settings;
use crate::judge::start::{AttachedEntry, refused};
use crate::model::evidence::{ExitHow, LaunchFailure};
use crate::model::exit::Exit;
use crate::model::text::escape;
use crate::sandbox::plan::Streams;

/// The signals that whoever plays the engine may send to it.
const PASSED_ON: [Signal; 6] = [
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// Runs the entry to its end.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    // Before any thread is started, so that each inherits it and no signal finds one that would die of it.
    let signals = signals()?;
    let (attached, judge) = attach(args)?;
    let AttachedEntry { confined, ended, notes } = attached;
    let_go()?;
    for note in notes {
        say(&note);
    }
    loop {
        let mut both = [
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(ended.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut both, PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            other => other?,
        };
        // First the signal: an entry that it ends has not ended before.
        while let Some(info) = signals.read_signal()? {
            let signal = info.ssi_signo as i32;
            confined.signal(signal);
            // One that has stopped itself would never hear it, and nobody could end us but by force.
            if ![Signal::SIGUSR1, Signal::SIGUSR2].map(|own| own as i32).contains(&signal) {
                confined.signal(Signal::SIGCONT as i32);
            }
        }
        if both.last().and_then(PollFd::any) == Some(true) {
            break;
        }
    }
    // From here on nobody is there to hand a signal on to: it ends us.
    passed_on().thread_unblock()?;
    let how = confined.wait_first(std::time::Instant::now());
    confined.kill();
    let traces = confined.close();
    // The files that it wrote below the temporary directory are removed now, before the last lines are printed.
    drop(judge);
    for line in refused(&traces) {
        say(&line);
    }
    Ok(match (&traces.launch_failure, how) {
        (Some(failure), _) => not_started(failure),
        (None, Some(ExitHow::Status(code))) => Exit::Entry(code as u8),
        (None, Some(ExitHow::Signal(signal))) => Exit::Entry(128u8.saturating_add(signal as u8)),
        (None, None) => Exit::Bug,
    })
}

fn attach(args: &RunArgs) -> Result<(AttachedEntry, Judge), CheckError> {
    let judge = Judge::open(Settings {
        engines_json: args.engines_json.clone(),
        name: args.name.clone(),
        ..settings_to_start(args.allowlist.as_deref(), args.strict, &args.confine)?
    })?;
    Ok((judge.attach(&args.entry, streams()?)?, judge))
}

/// As shells do: 127 for what is not there, 126 for what cannot be executed.
fn not_started(failure: &LaunchFailure) -> Exit {
    tell(&format!("the entry could not be started: {}", failure.what));
    Exit::Entry(if failure.errno == Errno::ENOENT as i32 { 127 } else { 126 })
}

fn passed_on() -> SigSet {
    PASSED_ON.into_iter().collect()
}

fn signals() -> anyhow::Result<SignalFd> {
    let set = passed_on();
    set.thread_block()?;
    Ok(SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

/// Our own standard streams, as descriptors of their own.
fn streams() -> Result<Streams, CheckError> {
    let copy = |fd: std::os::fd::BorrowedFd<'_>| -> io::Result<OwnedFd> { fd.try_clone_to_owned() };
    let all = || {
        Ok(Streams {
            stdin: copy(io::stdin().as_fd())?,
            stdout: copy(io::stdout().as_fd())?,
            stderr: copy(io::stderr().as_fd())?,
        })
    };
    all().map_err(|error: io::Error| {
        CheckError::Configuration(
            format!("standard input, output and error cannot be handed on: {error}").into(),
        )
    })
}

/// Lets go of input and output, so that whoever is at their other ends sees what the entry does with them:
/// an output that it closes is closed.
fn let_go() -> anyhow::Result<()> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&null)?;
    nix::unistd::dup2_stdout(&null)?;
    Ok(())
}

/// One line on standard error, beside whatever the entry writes there.
fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(io::stderr(), "gate4k: {}", escape(line.as_bytes(), 500));
}
