//! `gate4k run`: an entry in the place of gate4k itself, as far as any GUI or match runner can tell.
//!
//! The entry gets our standard input, and its words come out of our standard output and error (`run_streams`). Signals are handed on,
//! its exit status becomes ours, and when its first process has ended everything else is taken down.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use super::run_streams::StreamCopies;
use super::{settings_to_start, tell};
use crate::cli::RunArgs;
use crate::judge::Judge;
use crate::judge::error::CheckError;
use crate::judge::settings::Settings;
use crate::judge::start::{LaunchedEntry, refused};
use crate::model::evidence::{ExitHow, LaunchFailure, Limits};
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

/// A caller that has asked for the end has this long to read the last words of the entry: it may well wait for our end and
/// read nothing.
const AFTER_A_SIGNAL: Duration = Duration::from_secs(2);

/// The milliseconds between two looks whether an entry whose input has ended goes on without a word.
const LOOK: u16 = 500;
/// The time that a kill takes at most.
const DYING: Duration = Duration::from_secs(2);

/// Runs the entry to its end.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    // Before any thread is started, so that each inherits it and no signal finds one that would die of it.
    let signals = signals()?;
    let (launched, judge) = launch(args)?;
    let LaunchedEntry { confined, pipes, notes } = launched;
    for note in notes {
        say(&note);
    }
    let copies = streams().and_then(|ours| StreamCopies::start(pipes, ours)).context(
        "the entry's streams cannot be copied; let there be more processes and open files (`ulimit -u`, `ulimit -n`)",
    )?;
    let_go()?;
    let mut patience = None;
    let mut silent = None;
    loop {
        let mut both = [
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(copies.ended.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut both, PollTimeout::from(LOOK)) {
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
                patience = Some(AFTER_A_SIGNAL);
            }
        }
        if both.last().and_then(PollFd::any) == Some(true) {
            break;
        }
        silent = copies.conversation.is_over(&Limits::default());
        if silent.is_some() {
            confined.kill();
            break;
        }
    }
    // From here on nobody is there to hand a signal on to: it ends us.
    passed_on().thread_unblock()?;
    let dying = silent.map_or(Duration::ZERO, |_| DYING);
    let how = confined.wait_first(Instant::now() + dying);
    confined.kill();
    let not_written = copies.finish(patience);
    let traces = confined.close();
    // The files that it wrote below the temporary directory are removed now, before the last lines are printed.
    drop(judge);
    let ended = silent.map(|silent| {
        format!(
            "its input had ended, and it neither ended nor wrote anything for {} s: it was killed; end when a read of the \
             input says that there is no more",
            silent.as_secs()
        )
    });
    for line in not_written.into_iter().chain(ended).chain(refused(&traces)) {
        say(&line);
    }
    Ok(match (&traces.launch_failure, how) {
        (Some(failure), _) => not_started(failure),
        (None, Some(ExitHow::Status(code))) => Exit::Entry(code as u8),
        (None, Some(ExitHow::Signal(signal))) => Exit::Entry(128u8.saturating_add(signal as u8)),
        (None, None) => Exit::Bug,
    })
}

fn launch(args: &RunArgs) -> Result<(LaunchedEntry, Judge), CheckError> {
    let judge = Judge::open(Settings {
        engines_json: args.engines_json.clone(),
        name: args.name.clone(),
        ..settings_to_start(args.allowlist.as_deref(), args.strict, &args.confine)?
    })?;
    Ok((judge.launch(&args.entry)?, judge))
}

/// The exit code of shells: 127 for a program that is not there, 126 for one that cannot be executed.
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
fn streams() -> io::Result<Streams> {
    let copy = |fd: std::os::fd::BorrowedFd<'_>| -> io::Result<OwnedFd> { fd.try_clone_to_owned() };
    Ok(Streams {
        stdin: copy(io::stdin().as_fd())?,
        stdout: copy(io::stdout().as_fd())?,
        stderr: copy(io::stderr().as_fd())?,
    })
}

/// Lets go of input and output, which those that copy have: an output that the entry closes is closed for the caller, too.
fn let_go() -> anyhow::Result<()> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&null)?;
    nix::unistd::dup2_stdout(&null)?;
    Ok(())
}

/// Writes a line on standard error, before or after what the entry writes there.
fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(io::stderr(), "gate4k: {}", escape(line.as_bytes(), 500));
}
