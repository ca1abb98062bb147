//! The shells that may read a script: the one of this host, and the others where that does not start it.

use super::main_run::MainRun;
use super::{Bench, ProbePlan, Task, beside_each_other, extras, list, merge};
use crate::model::evidence::{Capabilities, Purpose, Run, Shell};
use crate::sandbox::plan::SandboxError;

/// Looks for another shell, after a main run that did not start the entry. Returns the shell, if one starts it, and
/// the runs, the main run first.
pub(super) fn another_shell(
    bench: &Bench<'_>,
    main: MainRun,
    shown: &mut Capabilities,
) -> Result<(Option<Shell>, Vec<Run>), SandboxError> {
    let only_at_end = main.facts.only_at_end;
    let mut failed = main.finish();
    if !failed.refusals.is_empty() {
        // It lacked memory or the like, for which neither its name nor the shell was the reason; a start that
        // is spared by chance under another name would accuse the name.
        return Ok((None, vec![failed]));
    }
    note_shell(shown, bench.plan, Shell::AsIs, false);
    if only_at_end {
        // No other way of starting it would make it flush.
        return Ok((None, vec![failed]));
    }
    let (works, tried) = other_ways(bench, &failed, shown)?;
    if works.is_some() {
        failed.purpose = Purpose::OtherShell;
    }
    Ok((works, std::iter::once(failed).chain(tried).collect()))
}

/// The shells that a script was not started by yet.
pub(super) fn untried_shells(plan: &ProbePlan, used: Shell) -> Vec<Shell> {
    if !plan.script_with_sh {
        return Vec::new();
    }
    plan.shells_available
        .iter()
        .copied()
        .filter(|shell| *shell != used && *shell != Shell::AsIs && Some(*shell) != plan.host_sh)
        .collect()
}

/// The start failed: tries the other shells, and the entry's own name, all at once. Returns the shell that
/// works, and the runs.
fn other_ways(
    bench: &Bench<'_>,
    failed: &Run,
    shown: &mut Capabilities,
) -> Result<(Option<Shell>, Vec<Run>), SandboxError> {
    (bench.progress)("start under its own name, and by other shells");
    // Its own name changes the words of the finding and no verdict; another shell may be the one that works.
    let whole = bench.limits.startup;
    let own_name = if list::hung(failed) { whole.min(extras::AFTER_SILENCE) } else { whole };
    let mut tasks: Vec<Task> = vec![Box::new(move |bench| extras::own_name(bench, own_name))];
    let shells = untried_shells(bench.plan, bench.shell);
    for &shell in &shells {
        tasks.push(Box::new(move |bench| extras::other_shell(bench, shell)));
    }
    let mut runs = Vec::new();
    for outcome in beside_each_other(bench, tasks)? {
        runs.extend(outcome.runs);
        merge(shown, outcome.shown);
    }
    let works = runs
        .iter()
        .find(|run| run.purpose == Purpose::OtherShell && run.readyok.is_some())
        .map(|run| run.shell);
    Ok((works, runs))
}

/// Writes down that a script starts, or does not, by the shell that was used.
pub(super) fn note_shell(shown: &mut Capabilities, plan: &ProbePlan, used: Shell, starts: bool) {
    if !plan.script_with_sh {
        return;
    }
    let used = match used {
        Shell::AsIs => plan.host_sh,
        shell => Some(shell),
    };
    match used {
        Some(Shell::Dash) => shown.dash = Some(starts),
        Some(Shell::Bash) => shown.bash = Some(starts),
        _ => {}
    }
}
