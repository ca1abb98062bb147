//! `gate4k replay-question`: the commands of a finding, sent to the entry once more, with all that it says.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::early_end::EarlyEnd;
use super::settings_to_start;
use crate::cli::ReplayQuestionArgs;
use crate::engine::stop::Stop;
use crate::engine::wire::{Observer, Silence, Wire};
use crate::files::read;
use crate::judge::Judge;
use crate::judge::error::CheckError;
use crate::judge::start::refused;
use crate::model::evidence::Limits;
use crate::model::exit::Exit;
use crate::model::text::{escape, lines_of, shown};
use crate::model::words::all;

/// Characters that are printed of a line.
const LINE: usize = 4000;

/// Sends the commands, prints both directions with their times, and tells whether every question was answered.
pub(crate) fn run(args: &ReplayQuestionArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let text = read::text(&args.report, read::RECEIPT).map_err(|error| {
        let is_missing = error.kind() == ErrorKind::NotFound;
        let words = format!(
            "cannot read {}: {error}; name a report of `gate4k check` in JSON (--format json, --report json=FILE)",
            shown(&args.report)
        );
        EarlyEnd::new(if is_missing { Exit::Nothing } else { Exit::Usage }, words)
    })?;
    let report: Value = serde_json::from_str(&text).map_err(|error| {
        let path = shown(&args.report);
        EarlyEnd::usage(format!("{path} is no report of `gate4k check` in JSON (--format json, --report json=FILE): {error}"))
    })?;
    let (path, commands) = question(&report, args).map_err(EarlyEnd::usage)?;
    let path = args.entry.clone().unwrap_or(path);
    let settings = settings_to_start(args.allowlist.as_deref(), args.strict, &args.confine)?;
    let limits = settings.limits;
    let judge = Arc::new(Judge::open(settings)?);
    let entry = judge.playable(&path, None)?;
    let (confined, pipes) = entry.launcher.launch(&entry.plan).map_err(CheckError::Sandbox)?;
    let printed = Printed { began: confined.started(), out, failed: None };
    let wire = Stop::new().and_then(|stop| Wire::new(pipes, stop, printed));
    let mut wire =
        wire.map_err(|error| EarlyEnd::usage(format!("the pipes to it cannot be used: {error}")))?;
    let mut end = None;
    for command in &commands {
        if let Err(silence) = ask(&mut wire, command, limits) {
            end = Some(match silence {
                Silence::Gone => "it ended, or closed its output",
                Silence::Flood(_) => "it wrote without end in place of the answer",
                Silence::Timeout | Silence::Stopped => "no answer within the limit",
            });
            break;
        }
    }
    if end.is_none() {
        // Its obedience is no part of the question.
        let _ = wire.send(b"quit\n", limits.quit);
        wire.idle(Instant::now() + limits.quit);
    }
    wire.drain();
    let how = confined.wait_first(Instant::now() + Duration::from_millis(300));
    confined.kill();
    wire.drain();
    let traces = confined.close();
    let mut last: Vec<String> = end.iter().map(|end| format!("# {end}")).collect();
    last.extend(how.map(|how| format!("# its first process ended: {how}")));
    last.extend(refused(&traces).into_iter().map(|line| format!("# {line}")));
    if let Some(failure) = &traces.launch_failure {
        last.push(format!("# it could not be started: {}", failure.what));
    }
    let Printed { out, failed, .. } = wire.into_observer();
    let written = failed.map_or(Ok(()), Err).and_then(|()| {
        last.iter().try_for_each(|line| writeln!(out, "{}", escape(line.as_bytes(), LINE)))
    });
    written?;
    Ok(if end.is_none() { Exit::Success } else { Exit::Rejected })
}

/// The entry that a finding is about, and the commands of that finding.
fn question(report: &Value, args: &ReplayQuestionArgs) -> Result<(PathBuf, Vec<String>), String> {
    let rule = args.rule.name();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut all_with = Vec::new();
    for entry in list(&report["entries"]) {
        let findings = list(&entry["findings"]).into_iter().filter(|found| found["rule"] == rule);
        for found in findings {
            let commands: Vec<String> = list(&found["evidence"]["commands"])
                .iter()
                .filter_map(|command| command.as_str().map(str::to_owned))
                .collect();
            if !commands.is_empty() {
                let path = PathBuf::from(entry["path"].as_str().unwrap_or_default());
                all_with.push((path, commands));
            }
        }
    }
    let is_asked = |path: &PathBuf| args.entry.as_ref().is_none_or(|entry| entry == path);
    let several = all_with.len() > 1;
    let mut asked = all_with.iter().filter(|(path, _)| !several || is_asked(path));
    match (asked.next(), asked.next()) {
        (Some(one), None) => Ok(one.clone()),
        (None, _) if !several => Err(format!(
            "{} has no finding of rule {rule} with commands; those that failed at a question have some",
            shown(&args.report)
        )),
        _ => {
            let names: Vec<String> = all_with.iter().map(|(path, _)| shown(path)).collect();
            Err(format!("name one entry of those with such a finding: {}", all(&names)))
        }
    }
}

/// Sends a command, and waits for what answers it.
fn ask<O: Observer>(wire: &mut Wire<O>, command: &str, limits: Limits) -> Result<(), Silence> {
    let (sent, taken) = wire.send(format!("{command}\n").as_bytes(), limits.answer);
    taken?;
    let mut words = command.split_ascii_whitespace();
    let (answer, patience) = match words.next() {
        Some("uci") => ("uciok", limits.startup),
        Some("isready") => ("readyok", limits.startup),
        Some("go") => {
            let clocks = words.filter_map(|word| word.parse().ok()).map(Duration::from_millis);
            // The longest wait of a check.
            ("bestmove", clocks.max().unwrap_or_default().min(limits.answer) + limits.answer)
        }
        _ => return Ok(()),
    };
    loop {
        let (_, line) = wire.line(sent + patience)?;
        let first = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty());
        if first == Some(answer.as_bytes()) {
            return Ok(());
        }
    }
}

/// Prints both directions, a line each, with its time since the start.
struct Printed<'a, W> {
    began: Instant,
    out: &'a mut W,
    failed: Option<std::io::Error>,
}

impl<W: Write> Printed<'_, W> {
    fn put(&mut self, at: Instant, sign: char, line: &[u8]) {
        let at = at.saturating_duration_since(self.began).as_secs_f64();
        if let Err(error) = writeln!(self.out, "{at:8.3} {sign} {}", escape(line, LINE)) {
            self.failed.get_or_insert(error);
        }
    }
}

impl<W: Write> Observer for Printed<'_, W> {
    const QUIET: Duration = Duration::from_secs(1);
    const FLOODS_END: bool = true;

    fn sent(&mut self, line: &[u8]) {
        self.put(Instant::now(), '>', line);
    }

    fn received(&mut self, at: Instant, line: &[u8]) {
        self.put(at, '<', line);
    }

    fn stderr(&mut self, chunk: &[u8]) {
        for line in lines_of(chunk) {
            self.put(Instant::now(), '!', line);
        }
    }
}
