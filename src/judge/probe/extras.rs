//! The probes that can only add advice, each in a fresh process where it may hang: bare `go`, FEN and the other forms
//! of `go`, the end of input, a kill in the middle, a path with a blank, another shell.

use std::time::Duration;

use super::{Bench, EVENT_CLOCK, ProbeOutcome};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::probe::conversation::{
    self, Over, PositionForm, Ready, Search, Session, Step, Thinking, Waited,
};
use crate::judge::support::positions;
use crate::model::evidence::{Capabilities, DeclaredOption, Limits, Purpose, Shell};
use crate::sandbox::plan::{SandboxError, Staging};

type ExtraOutcome = Result<ProbeOutcome, SandboxError>;

/// An engine that was silent for the whole limit of the start is waited for so long under its own name.
pub(super) const AFTER_SILENCE: Duration = Duration::from_secs(15);

/// The time that a search runs before it is disturbed.
const UNDER_WAY: Duration = Duration::from_millis(100);

/// The same bench with shorter limits: these probes only advise, and many engines hang at them.
fn hasty<'a>(bench: &Bench<'a>) -> Bench<'a> {
    let advice = bench.plan.waits.advice;
    let limits = Limits {
        answer: bench.limits.answer.min(advice),
        quit: bench.limits.quit.min(advice),
        ..bench.limits
    };
    Bench { limits, ..*bench }
}

/// Bare `go`, then `stop` and `quit` in the middle of the search. Where the rule's `go` works, the answer is
/// waited for a little only, because most engines then search without end.
pub(super) fn bare_go(bench: &Bench<'_>, patience: Duration) -> ExtraOutcome {
    (bench.progress)("go without a clock");
    let bench = hasty(bench);
    let waits = bench.plan.waits;
    let mut outcome = ProbeOutcome::default();
    let moves = Moves::start();
    let started = bench.start(Purpose::BareGo)?.shake_hands();
    let thinking =
        started.and_then(|ready| ready.think(Search::after("bare-go", &moves, Go::Bare)));
    let shown = &mut outcome.shown;
    let over = match thinking.map(|thinking| thinking.wait(patience)) {
        Ok(Waited::Moved(ready, played)) => {
            shown.go_bare = Some(played.is_some());
            ready.quit()
        }
        Ok(Waited::Still(thinking)) => {
            // It moves only when it is told to stop, which rule 7.9 does not know, or not even then.
            shown.go_bare = Some(false);
            conversation::quit(stopped(thinking, patience + waits.advice, shown))
        }
        Ok(Waited::Over(over)) => {
            shown.go_bare = Some(false);
            over
        }
        Err(over) => over,
    };
    outcome.runs.push(over.finish());
    if outcome.shown.stop.is_none() || outcome.shown.quit_while_thinking.is_none() {
        disturb(&bench, &mut outcome)?;
    }
    Ok(outcome)
}

/// `quit` (and `stop`, where that is not known yet) while it thinks on the event's clock.
fn disturb(bench: &Bench<'_>, outcome: &mut ProbeOutcome) -> Result<(), SandboxError> {
    let moves = positions::middlegame();
    let search = |name| Search::after(name, &moves, EVENT_CLOCK);
    let shown = &mut outcome.shown;
    let mut step = bench.start(Purpose::QuitWhileThinking)?.shake_hands();
    if shown.stop.is_none() {
        step = step.and_then(|ready| stop(bench, ready, search("stop"), shown));
    }
    let over = step.map_or_else(|over| over, |ready| quit(ready, search("quit"), shown));
    outcome.runs.push(over.finish());
    Ok(())
}

fn stop(
    bench: &Bench<'_>,
    ready: Session<Ready>,
    search: Search<'_>,
    shown: &mut Capabilities,
) -> Step<Ready> {
    match ready.think(search)?.wait(UNDER_WAY) {
        // It moves at once, so nothing is there to be stopped.
        Waited::Moved(ready, _) => Ok(ready),
        Waited::Still(thinking) => stopped(thinking, UNDER_WAY + bench.plan.waits.advice, shown),
        Waited::Over(over) => Err(over),
    }
}

/// Tells it to stop, and to quit where it does not.
fn stopped(
    mut thinking: Session<Thinking>,
    patience: Duration,
    shown: &mut Capabilities,
) -> Step<Ready> {
    thinking.stop();
    let waited = thinking.wait(patience);
    shown.stop = Some(matches!(waited, Waited::Moved(_, Some(_))));
    match waited {
        Waited::Moved(ready, _) => Ok(ready),
        Waited::Still(thinking) => Err(quit_now(thinking, shown)),
        Waited::Over(over) => Err(over),
    }
}

fn quit(ready: Session<Ready>, search: Search<'_>, shown: &mut Capabilities) -> Session<Over> {
    match ready.think(search).map(|thinking| thinking.wait(UNDER_WAY)) {
        Ok(Waited::Moved(ready, _)) => ready.quit(),
        Ok(Waited::Still(thinking)) => quit_now(thinking, shown),
        Ok(Waited::Over(over)) | Err(over) => over,
    }
}

fn quit_now(thinking: Session<Thinking>, shown: &mut Capabilities) -> Session<Over> {
    let over = thinking.quit_now();
    shown.quit_while_thinking = Some(over.exit().is_some());
    over
}

/// `setoption` of an announced option, then `position fen`.
pub(super) fn set_and_fen(bench: &Bench<'_>, go: Go) -> ExtraOutcome {
    (bench.progress)("setoption and FEN");
    let mut outcome = ProbeOutcome::default();
    let mut step = bench.start(Purpose::Capabilities)?.shake_hands();
    let announced = step.as_ref().map_or(&[][..], |ready| ready.options());
    if let Some((name, value)) = announced.iter().find_map(harmless_value) {
        step = step.and_then(|ready| ready.set_option(&name, Some(&value)));
        outcome.shown.setoption = Some(step.is_ok());
        if let Err(failed) = step {
            outcome.runs.push(failed.finish());
            step = bench.start(Purpose::Capabilities)?.shake_hands();
            if step.is_err() {
                return Ok(outcome);
            }
        }
    }
    let over = match step {
        Ok(ready) => {
            let moves = positions::endgame();
            let search = Search { form: PositionForm::Fen, ..Search::after("fen", &moves, go) };
            let patience = bench.limits.answer.min(bench.plan.waits.advice * 3);
            let asked = ready.new_game().and_then(|ready| ready.go_within(search, patience));
            outcome.shown.fen = Some(matches!(asked, Ok((_, Some(_)))));
            asked.map_or_else(|over| over, |(ready, _)| ready.quit())
        }
        Err(over) => over,
    };
    outcome.runs.push(over.finish());
    Ok(outcome)
}

/// An option that can be set to what it is already.
fn harmless_value(option: &DeclaredOption) -> Option<(String, String)> {
    let default = option.default.clone().filter(|text| !text.is_empty())?;
    matches!(option.kind.as_str(), "spin" | "check" | "combo")
        .then(|| (option.name.clone(), default))
}

/// `go depth`, `go nodes` and `go movetime`; after one that hangs, the next goes to a fresh process.
pub(super) fn bounded_searches(bench: &Bench<'_>) -> ExtraOutcome {
    (bench.progress)("go depth, nodes, movetime");
    let bench = hasty(bench);
    let mut outcome = ProbeOutcome::default();
    let moves = positions::middlegame();
    let mut session = None;
    let forms =
        [("depth", Go::Depth(1)), ("nodes", Go::Nodes(100)), ("movetime", Go::MoveTime(UNDER_WAY))];
    for (name, go) in forms {
        let ready = match session.take() {
            Some(ready) => ready,
            None => match bench.start(Purpose::Capabilities)?.shake_hands() {
                Ok(ready) => ready,
                Err(over) => {
                    outcome.runs.push(over.finish());
                    break;
                }
            },
        };
        let search = Search::after(name, &moves, go);
        let works = match ready.go_within(search, bench.plan.waits.advice) {
            Ok((ready, played)) => {
                session = Some(ready);
                played.is_some()
            }
            Err(over) => {
                outcome.runs.push(over.finish());
                false
            }
        };
        let shown = &mut outcome.shown;
        match go {
            Go::Depth(_) => shown.depth = Some(works),
            Go::Nodes(_) => shown.nodes = Some(works),
            _ => shown.movetime = Some(works),
        }
    }
    outcome.runs.extend(session.map(|ready| ready.quit().finish()));
    Ok(outcome)
}

/// The end of input in place of `quit`.
pub(super) fn end_of_input(bench: &Bench<'_>) -> ExtraOutcome {
    (bench.progress)("whether the end of its input ends it");
    let mut outcome = ProbeOutcome::default();
    let over = match hasty(bench).start(Purpose::EndOfInput)?.shake_hands() {
        Ok(ready) => {
            let over = ready.end_of_input();
            outcome.shown.end_of_input = Some(over.exit().is_some());
            over
        }
        Err(over) => over,
    };
    outcome.runs.push(over.finish());
    Ok(outcome)
}

/// Killed while it thinks, with all that it started: what lies around then?
pub(super) fn killed_midway(bench: &Bench<'_>) -> ExtraOutcome {
    (bench.progress)("what remains when it is killed");
    let mut outcome = ProbeOutcome::default();
    let moves = Moves::start();
    let search = Search::after("killed-midway", &moves, EVENT_CLOCK);
    let thinking = bench.start(Purpose::KilledMidway)?.shake_hands();
    let thinking = thinking.and_then(|ready| ready.think(search));
    let (over, killed) = match thinking.map(|thinking| thinking.wait(UNDER_WAY)) {
        Ok(Waited::Moved(ready, _)) => (ready.kill(), true),
        Ok(Waited::Still(thinking)) => (thinking.kill(), true),
        Ok(Waited::Over(over)) | Err(over) => (over, false),
    };
    let run = over.finish();
    if killed {
        let clean = run.left_files.iter().all(|file| file.exempt.is_some());
        outcome.shown.clean_when_killed = Some(clean);
    }
    outcome.runs.push(run);
    Ok(outcome)
}

/// Staged at a path with a blank.
pub(super) fn blank_path(bench: &Bench<'_>) -> ExtraOutcome {
    (bench.progress)("a path with a blank");
    let run = hasty(bench).only_start(Purpose::BlankPath, Staging::Blank)?;
    let mut outcome = ProbeOutcome::default();
    outcome.shown.blank_path = Some(run.readyok.is_some());
    outcome.runs.push(run);
    Ok(outcome)
}

/// Started by another shell.
pub(super) fn other_shell(bench: &Bench<'_>, shell: Shell) -> ExtraOutcome {
    (bench.progress)("another shell");
    let bench = Bench { shell, ..hasty(bench) };
    let run = bench.only_start(Purpose::OtherShell, Staging::Neutral)?;
    let mut outcome = ProbeOutcome::default();
    let starts = Some(run.readyok.is_some());
    match shell {
        Shell::Dash => outcome.shown.dash = starts,
        Shell::Bash => outcome.shown.bash = starts,
        Shell::AsIs => {}
    }
    outcome.runs.push(run);
    Ok(outcome)
}

/// Started under its own file name, where it does not start under a neutral one.
pub(super) fn own_name(bench: &Bench<'_>, patience: Duration) -> ExtraOutcome {
    let staging = Staging::OwnName(bench.plan.own_name.clone());
    let mut bench = hasty(bench);
    bench.limits.startup = patience;
    let run = bench.only_start(Purpose::OwnName, staging)?;
    Ok(vec![run].into())
}
