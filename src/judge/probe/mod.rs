//! The probes: they start the entry, talk to it, and leave evidence; none of them judges.
//!
//! First the main run, alone on the machine, then the clock, alone too; everything else runs beside each
//! other, each probe in a fresh process, because an engine that one question has hung must not spoil
//! the next. Where the start itself fails, the other shells and the entry's own name are tried, and
//! nothing else is.

mod again;
mod bad_end;
mod clock;
mod clock_form;
mod conversation;
mod extras;
#[cfg(test)]
pub(crate) mod fake_engine;
pub(crate) mod games;
mod idle;
mod list;
mod long_game;
mod main_run;
mod positions;
mod shells;
#[cfg(test)]
mod tests;
mod watched_game;

use std::sync::Arc;
use std::time::{Duration, Instant};

use shakmaty::Color;

use crate::game::go::{Clocks, Go};
use crate::judge::probe::conversation::{Session, Started};
use crate::judge::probe::games::early_start::EarlyProcess;
use crate::judge::probe::positions::PositionShare;
use crate::model::evidence::{Ask, Capabilities, LeftOut, Limits, Purpose, Run, Shell};
use crate::model::parallel::in_parallel;
use crate::sandbox::plan::{Audit, Launcher, SandboxError, Staging, StartPlan};
use again::Chance;
use main_run::MainRun;
use shells::{another_shell, note_shell, untried_shells};
use watched_game::RandomChoices;

/// Takes one line on what is being done now; called from any thread.
pub(crate) type Progress<'a> = &'a (dyn Fn(&str) + Sync);

/// The clock of every question that is not about clocks: real entries have floors of 2–3 s a move, so an
/// answer is missed only after this and [`Limits::answer`].
pub(crate) const SMALL_CLOCK: Go = Go::Clock(Clocks::even(600, 60));

/// The least that an engine which minds its clock ever has in the event ([`LEAST_LEFT`](crate::model::evidence::LEAST_LEFT)).
pub(crate) const LEAST_CLOCK: Go = Go::Clock(Clocks::even(3000, 3000));

/// A clock on which nobody has to hurry, for what fails on smaller ones.
pub(crate) const MINUTE_CLOCK: Go = Go::Clock(Clocks::even(60_000, 3000));

/// The clock of the event: 30 minutes and 3 seconds a move, with some of it used, since both sides show the same only at
/// a game's first move.
pub(crate) const EVENT_CLOCK: Go =
    Go::Clock(Clocks { black: Duration::from_millis(1_783_519), ..Clocks::even(1_800_000, 3000) });

/// An engine that answers each question of the measured run in less is asked all positions in one process.
const AT_ONCE: Duration = Duration::from_millis(150);

/// The plan of a check's probes.
#[derive(Clone, Debug)]
pub struct ProbePlan {
    /// The entry.
    pub bytes: Arc<[u8]>,
    /// Its own file name, tried where it does not start under a neutral one.
    pub own_name: String,
    /// The entry is a script that `/bin/sh` reads (`#!/bin/sh`, or no `#!` at all).
    pub script_with_sh: bool,
    /// The shells among dash and bash that the host has.
    pub shells_available: Vec<Shell>,
    /// The one that `/bin/sh` is here, if it is one of them.
    pub host_sh: Option<Shell>,
    /// The options of its configuration, each with its value.
    pub options: Vec<(String, String)>,
    /// Only what can reject.
    pub quick: bool,
    /// The number of engines that may compute beside each other: the number of processors.
    pub jobs: usize,
    /// The limits in force.
    pub limits: Limits,
    /// The time that the probes wait.
    pub waits: ProbeWaits,
}

/// The time that probes wait that do not wait for an answer that is due.
#[derive(Clone, Copy, Debug)]
pub struct ProbeWaits {
    /// For a move on the event's clock; then the wait is cut.
    pub(crate) clock: Duration,
    /// For a move of the one search that is long.
    pub(crate) long_search: Duration,
    /// For a move after a bare `go`.
    pub(crate) bare_go: Duration,
    /// For an answer to a question outside rule 7.9.
    pub(crate) advice: Duration,
    /// For all positions together: an engine that needs longer is asked as many as fit.
    pub(crate) positions: Duration,
    /// For one look at the processor time of a waiting engine; after a move up to forty are taken.
    pub(crate) idle: Duration,
    /// From the first start to when nothing is asked any more that was asked before, or that seeks a bound. A question that can reject is
    /// asked at least once however late it is.
    pub(crate) again: Duration,
    /// The longest start of an entry of which as many are made as questions ask for.
    pub(crate) slow_start: Duration,
}

impl ProbeWaits {
    /// The time for which a check watches an engine that rests whenever it waits: no engine is checked faster.
    #[must_use]
    pub fn watched_at_rest(&self) -> Duration {
        self.idle * conversation::WINDOWS_OF_ONE_AT_REST
    }
}

impl Default for ProbeWaits {
    fn default() -> ProbeWaits {
        ProbeWaits {
            clock: Duration::from_secs(3),
            long_search: Duration::from_secs(12),
            bare_go: Duration::from_secs(2),
            advice: Duration::from_millis(1500),
            positions: Duration::from_secs(60),
            idle: Duration::from_millis(150),
            again: Duration::from_secs(120),
            slow_start: Duration::from_secs(15),
        }
    }
}

/// The surroundings of every probe.
#[derive(Clone, Copy)]
pub(crate) struct Bench<'a> {
    launcher: &'a dyn Launcher,
    plan: &'a ProbePlan,
    progress: Progress<'a>,
    shell: Shell,
    limits: Limits,
    /// See [`ProbeWaits::again`].
    again_until: Instant,
}

impl Bench<'_> {
    /// The time that is left for what is asked once more.
    fn left(&self) -> Duration {
        self.again_until.saturating_duration_since(Instant::now())
    }

    /// True if the entry has taken so long by now that not everything can be asked of it in time.
    fn is_late(&self) -> bool {
        self.left() < self.plan.waits.again * 2 / 3
    }

    /// Starts a fresh process under a neutral name.
    fn start(&self, purpose: Purpose) -> Result<Session<Started>, SandboxError> {
        self.start_as(purpose, Staging::Neutral)
    }

    fn start_as(
        &self,
        purpose: Purpose,
        staging: Staging,
    ) -> Result<Session<Started>, SandboxError> {
        let plan = self.start_plan(purpose, staging);
        let started = Session::start(self.launcher, &plan, purpose, self.limits)?;
        Ok(started.configured(&self.plan.options))
    }

    fn start_plan(&self, purpose: Purpose, staging: Staging) -> StartPlan {
        StartPlan {
            bytes: Arc::clone(&self.plan.bytes),
            staging,
            shell: self.shell,
            audit: if purpose == Purpose::Main { Audit::Full } else { Audit::ProgramsOnly },
        }
    }

    /// Starts, shakes hands, quits.
    fn only_start(&self, purpose: Purpose, staging: Staging) -> Result<Run, SandboxError> {
        Ok(conversation::quit(self.start_as(purpose, staging)?.shake_hands()).finish())
    }
}

/// The yield of a probe.
#[derive(Default)]
pub(crate) struct ProbeOutcome {
    runs: Vec<Run>,
    shown: Capabilities,
    /// True if the time was too short for it.
    left_out: bool,
    /// See [`Gathered::early`].
    early: Option<EarlyProcess>,
}

impl From<Vec<Run>> for ProbeOutcome {
    fn from(runs: Vec<Run>) -> ProbeOutcome {
        ProbeOutcome { runs, ..ProbeOutcome::default() }
    }
}

type Task = Box<dyn FnOnce(&Bench<'_>) -> Result<ProbeOutcome, SandboxError> + Send>;

/// The yield of all probes.
#[derive(Debug)]
pub struct Gathered {
    /// The runs; the first is the measured one.
    pub runs: Vec<Run>,
    /// The entry's abilities as far as they were seen.
    pub capabilities: Capabilities,
    /// The process for the games, where that starts slowly.
    pub(crate) early: Option<EarlyProcess>,
}

/// Runs all probes.
///
/// # Errors
/// When the sandbox could not be built; whatever the entry does is evidence and no error.
pub fn gather(
    launcher: &dyn Launcher,
    plan: &ProbePlan,
    progress: Progress<'_>,
) -> Result<Gathered, SandboxError> {
    let mut bench = Bench {
        launcher,
        plan,
        progress,
        shell: Shell::AsIs,
        limits: plan.limits,
        again_until: Instant::now() + plan.waits.again,
    };
    let mut shown = Capabilities::default();

    let waited = plan.limits.startup.as_secs();
    progress(&format!("start, handshake (readyok within {waited} s), first moves"));
    let mut others = Vec::new();
    let mut main = main_run::run(&bench, SMALL_CLOCK)?;
    if !main.facts.started {
        let (works, failed) = another_shell(&bench, main, &mut shown)?;
        others.extend(failed);
        let Some(shell) = works else {
            return Ok(Gathered { runs: others, capabilities: shown, early: None });
        };
        bench.shell = shell;
        progress("start, handshake, first moves, by the other shell");
        main = main_run::run(&bench, SMALL_CLOCK)?;
    }
    let (main, clock) = climbed(&bench, main, &mut others)?;
    note_shell(&mut shown, plan, bench.shell, main.facts.started);
    let gathered = all_after(&bench, main, clock, shown.clone(), others)?;
    if clock != SMALL_CLOCK || !bad_end::is_of_small_clocks(&bench, &gathered.runs)? {
        return Ok(gathered);
    }
    let main = main_run::run(&bench, LEAST_CLOCK)?;
    let mut again = all_after(&bench, main, LEAST_CLOCK, shown, Vec::new())?;
    again.runs.extend(gathered.runs);
    bad_end::set_aside(&bench, &mut again.runs)?;
    Ok(Gathered { early: again.early.or(gathered.early), ..again })
}

/// The end of a main run, and all that is asked after it, on the same clock; `others` are the runs before.
fn all_after(
    bench: &Bench<'_>,
    main: MainRun,
    clock: Go,
    mut shown: Capabilities,
    others: Vec<Run>,
) -> Result<Gathered, SandboxError> {
    let facts = main.facts;

    // The clean-up after an engine that has gone only sleeps, so the others may run meanwhile; but
    // one that has not gone may compute.
    let (main, rest) = std::thread::scope(|scope| {
        if facts.gone {
            let main = scope.spawn(move || main.finish());
            let rest = after_main(*bench, facts, clock);
            (join(main), rest)
        } else {
            (main.finish(), after_main(*bench, facts, clock))
        }
    });
    shown.id = Some(main.id_name.is_some());
    shown.info = Some(main.asks.iter().any(|ask| ask.last_info.is_some()));
    shown.pv = Some(facts.pv);
    let mut runs = vec![main];
    runs.extend(others);
    let (rest, looks) = rest?;
    let left_out = rest.iter().filter(|outcome| outcome.left_out).count();
    shown.left_out = (left_out > 0).then_some(LeftOut { looks: left_out, of: looks });
    let mut early = None;
    for outcome in rest {
        runs.extend(outcome.runs);
        merge(&mut shown, outcome.shown);
        early = early.or(outcome.early);
    }
    let first_trouble = runs.first().and_then(|run| run.asks.iter().find(|a| !a.answer.is_good()));
    let only_the_clock = first_trouble.is_some_and(Ask::is_search) && !facts.plays;
    let nowhere = !clock_form::is_answered(&runs);
    shown.go_clock = Some(facts.plays || !nowhere);
    if only_the_clock && nowhere && shown.go_bare == Some(true) {
        // The rule asks for one of the two forms of `go`. A fault with the other is no failure, and the
        // start and end of this run were seen again without it.
        if let Some(main) = runs.first_mut() {
            main.purpose = Purpose::OtherGo;
        }
    }
    Ok(Gathered { runs, capabilities: shown, early })
}

/// Repeats a main run that failed on a bigger clock, where the clock may have been the reason, or on the same one, where it was not. Returns
/// the last main run with its clock; the others go to `seen`.
fn climbed(
    bench: &Bench<'_>,
    mut main: MainRun,
    seen: &mut Vec<Run>,
) -> Result<(MainRun, Go), SandboxError> {
    let mut clock = SMALL_CLOCK;
    let mut chance = Chance::default();
    while let Some(failed) = main.failed() {
        let Some(next) = again::answered_on(bench, &failed, clock, seen)? else { break };
        let same_clock = chance.may_explain(bench, &failed, clock, seen)?;
        let mut disproved = main.finish();
        if !same_clock {
            clock = next;
        }
        main = main_run::run(bench, clock)?;
        let by_chance = same_clock && main.failed().is_none();
        disproved.purpose = if by_chance { Purpose::ByChance } else { Purpose::SmallClock };
        seen.push(disproved);
    }
    Ok((main, clock))
}

/// The clock, alone; then everything else, beside each other, on the clock on which the main run went well. The outcomes, and how
/// many looks that only advise there are.
fn after_main(
    mut bench: Bench<'_>,
    facts: main_run::Facts,
    clock: Go,
) -> Result<(Vec<ProbeOutcome>, usize), SandboxError> {
    let mut outcomes = Vec::new();
    if !facts.started {
        return Ok((outcomes, 0));
    }
    let slow_start = facts.start > bench.plan.waits.slow_start;
    let late = slow_start || bench.is_late();
    if facts.plays && !bench.plan.quick && !late {
        (bench.progress)("moves on the event's clock and on small ones");
        outcomes.push(clock::run(&bench)?.into());
    }
    // Beside each other a start takes longer than alone, and is not what is judged: of those that take long three are made at a time.
    bench.limits.startup *= 3;
    let mut form = Some(clock);
    if !facts.plays {
        // One of the two forms must work; the positions are asked in the one that does. One that fails
        // at the start position may still know the clock where there are moves.
        let mut ways = beside_each_other(&bench, clock_form::looks(!slow_start))?;
        let bare = ways.iter().any(|way| way.shown.go_bare == Some(true));
        form = if clock_form::is_answered(ways.iter().flat_map(|way| &way.runs)) {
            Some(clock)
        } else {
            bare.then_some(Go::Bare)
        };
        if form != Some(clock) {
            // The outcome with the clock is told by the main run already, and says nothing about positions.
            for run in ways.iter_mut().flat_map(|way| &mut way.runs) {
                if run.purpose == Purpose::Positions {
                    run.purpose = if bare { Purpose::OtherGo } else { Purpose::Capabilities };
                }
            }
        }
        outcomes.extend(ways);
    }
    if slow_start && facts.plays && !bench.plan.quick {
        // Without it the games would begin with a start of their own, and no more.
        let early =
            EarlyProcess::start(bench.launcher, bench.start_plan(Purpose::Idle, Staging::Neutral));
        outcomes.push(ProbeOutcome { early: early.ok(), ..ProbeOutcome::default() });
    }
    let mut tasks = tasks(&bench, facts, form, late);
    let mut advice = Vec::new();
    if !bench.plan.quick {
        advice = advising(bench.plan, form, bench.shell, late);
    }
    // The list of 1,000 plies is one more.
    let looks = advice.len() + usize::from(!bench.plan.quick && form.is_some());
    tasks.extend(advice.into_iter().map(|look| in_time(look, facts.start)));
    let Some(go) = form else {
        outcomes.extend(beside_each_other(&bench, tasks)?);
        return Ok((outcomes, looks));
    };
    // It only waits for most of its time, so it is one more beside the others.
    let event = match (facts.plays, late) {
        // A start for each side would take too long.
        (true, true) => Some(RandomChoices::seeded().colour()),
        (true, false) if bench.plan.quick => Some(Color::White),
        _ => None,
    };
    let searches_long = facts.plays && !bench.plan.quick && !late;
    let (others, idle, long) = std::thread::scope(|scope| {
        let idle = scope.spawn(|| idle_probe(&bench, go, event));
        let long = searches_long.then(|| scope.spawn(|| clock::long_search(&bench)));
        (beside_each_other(&bench, tasks), join(idle), long.map(join))
    });
    outcomes.extend(others?);
    outcomes.extend(long.transpose()?.map(ProbeOutcome::from));
    let idle = idle?;
    let in_doubt = idle.runs.iter().any(idle::is_in_doubt);
    outcomes.push(if in_doubt { idle_probe(&bench, go, event)? } else { idle });
    Ok((outcomes, looks))
}

/// A look that can only advise, where there is time enough for its starts: several make two.
fn in_time(look: Task, start: Duration) -> Task {
    Box::new(move |bench| match bench.left() < 2 * start {
        true => Ok(ProbeOutcome { left_out: true, ..ProbeOutcome::default() }),
        false => look(bench),
    })
}

fn idle_probe(
    bench: &Bench<'_>,
    go: Go,
    event: Option<Color>,
) -> Result<ProbeOutcome, SandboxError> {
    let probe = |bench: &Bench<'_>, go| idle::run(bench, go, event);
    again::climbing(bench, go, probe).map(|(outcome, _)| outcome)
}

fn searched_well(ask: &Ask) -> bool {
    ask.is_search() && ask.answer.is_good()
}

/// The probes that run beside each other, the longest first: those that can reject.
fn tasks(bench: &Bench<'_>, facts: main_run::Facts, form: Option<Go>, late: bool) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let plan = bench.plan;
    let advice = !plan.quick;
    if matches!(form, Some(Go::Bare)) {
        tasks.push(Box::new(clock_form::and_quit));
    }
    if !facts.asked_to_quit {
        tasks.push(Box::new(main_run::only_quit));
    }
    if facts.plays && !late {
        tasks.push(Box::new(|bench| clock::as_black_and_late(bench).map(ProbeOutcome::from)));
        tasks.push(Box::new(|bench| clock::others_of_the_event(bench).map(ProbeOutcome::from)));
    }
    if advice && !late && matches!(form, Some(Go::Clock(_))) {
        tasks.push(Box::new(bare_go));
    }
    if let Some(go) = form {
        if !late {
            tasks.push(Box::new(move |bench| long_game::run(bench, go, advice)));
        }
        // Each share is a start, and so is a process for the long game alone. Where there is time, one process answers as often as the longest
        // game asks; of a slow engine several answer more than one in the same time.
        let one = late || !plan.quick && facts.slowest < AT_ONCE;
        let shares = if one { 1 } else { plan.jobs.clamp(1, 4) };
        for share in (0..shares).map(|number| PositionShare { number, of: shares }) {
            tasks.push(Box::new(move |bench| {
                let probe = |bench: &Bench<'_>, go| {
                    let first = late.then(|| long_game::demanded(go));
                    let mut outcome = positions::run(bench, share, go, first)?;
                    long_game::after_a_resignation(bench, go, &mut outcome)?;
                    Ok(outcome)
                };
                let (mut outcome, _) = again::climbing(bench, go, probe)?;
                // No longer game is asked for then.
                outcome.left_out = late && advice;
                Ok(outcome)
            }));
        }
    }
    tasks
}

fn bare_go(bench: &Bench<'_>) -> Result<ProbeOutcome, SandboxError> {
    extras::bare_go(bench, bench.plan.waits.bare_go)
}

/// The looks that only advise. One is the longest of all, and begins with the others where there is time.
fn advising(plan: &ProbePlan, form: Option<Go>, shell: Shell, late: bool) -> Vec<Task> {
    let mut looks: Vec<Task> = Vec::new();
    if late && matches!(form, Some(Go::Clock(_))) {
        looks.push(Box::new(bare_go));
    }
    if let Some(go) = form {
        looks.push(Box::new(move |bench| extras::set_and_fen(bench, go)));
        looks.push(Box::new(extras::bounded_searches));
    }
    looks.push(Box::new(extras::end_of_input));
    looks.push(Box::new(extras::killed_midway));
    looks.push(Box::new(extras::blank_path));
    for other in untried_shells(plan, shell) {
        looks.push(Box::new(move |bench| extras::other_shell(bench, other)));
    }
    looks
}

/// Does all tasks with as many threads as there are processors, and one more for what merely waits.
fn beside_each_other(
    bench: &Bench<'_>,
    tasks: Vec<Task>,
) -> Result<Vec<ProbeOutcome>, SandboxError> {
    let threads = tasks.len().min(bench.plan.jobs.max(1) + 1);
    in_parallel(tasks, threads, |task| task(bench)).into_iter().collect()
}

fn join<T>(handle: std::thread::ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Each probe fills its own fields; the first to fill one wins.
fn merge(into: &mut Capabilities, from: Capabilities) {
    macro_rules! each {
        ($($field:ident)*) => {
            $(into.$field = into.$field.or(from.$field);)*
        };
    }
    each!(go_clock go_bare fen stop movetime depth nodes setoption id info pv end_of_input
        quit_while_thinking blank_path clean_when_killed thousand_plies dash bash);
}
