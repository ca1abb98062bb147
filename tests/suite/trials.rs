//! The list of tests and their run: what they need is looked for first, and what was left out is told once, at the end.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::needs::Need;
use crate::seed;

/// Names a test that runs in a process of its own, to that process.
const APART: &str = "GATE4K_APART";

/// Tests that only others run, each in a process of its own.
const INNER: &str = "inner";

/// A test, before it is known whether it is wanted.
pub(crate) struct Test {
    name: String,
    needs: Vec<Need>,
    alone: bool,
    apart: bool,
    places: usize,
    body: Box<dyn Fn() + Send>,
}

/// The places of a processor, as tests take them. Most of their time is waits for engines, so that four tests run at once for each; with five,
/// attacks that the supervisor sees by looking from time to time were missed beside the others.
const PLACES: usize = 12;
/// Those that a test takes.
const OF_A_TEST: usize = 3;
/// Those that a test takes which needs a sixth of a processor in the mean: six of these run for each.
const OF_A_WAITING_TEST: usize = 2;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Keeps a log in the folder that GATE4K_LOGS names, for those who want to see what a run was like.
pub(crate) fn keep_log(name: &str, text: &str) {
    if let Some(folder) = std::env::var_os("GATE4K_LOGS").map(std::path::PathBuf::from) {
        std::fs::create_dir_all(&folder).expect("a folder for logs");
        std::fs::write(folder.join(format!("{name}.log")), text).expect("room for a log");
    }
}

/// Lists functions of this module as tests: a tier, the name, what it needs in brackets, and how it runs (`alone`: when
/// nothing else does; `apart`: in a process of its own). One that is forgotten is dead code, and no build passes.
macro_rules! tests {
    ($($tier:ident $name:ident $([$($need:ident),+])? $($manner:ident)*),+ $(,)?) => {
        vec![$(
            $crate::trials::Test::new(stringify!($tier), module_path!(), stringify!($name), $name)
                $(.needs(&[$($crate::needs::Need::$need),+]))?
                $(.$manner())*
        ),+]
    };
}

impl Test {
    /// `module` is as `module_path!()` has it.
    pub(crate) fn new(
        tier: &str,
        module: &str,
        name: &str,
        body: impl Fn() + Send + 'static,
    ) -> Test {
        let (_, module) = module.split_once("::").expect("tests are in modules of the suite");
        Test {
            name: format!("{tier}::{module}::{name}"),
            needs: Vec::new(),
            alone: false,
            apart: false,
            places: OF_A_TEST,
            body: Box::new(body),
        }
    }

    /// Without these it does not run, and that is told.
    pub(crate) fn needs(mut self, needs: &[Need]) -> Test {
        self.needs.extend(needs);
        self
    }

    /// At the end, when nothing else runs.
    pub(crate) fn alone(mut self) -> Test {
        self.alone = true;
        self
    }

    /// In a process of its own: it looks at, or changes, what all threads of a process share.
    pub(crate) fn apart(mut self) -> Test {
        self.apart = true;
        self
    }

    /// It waits for nearly all of its time.
    pub(crate) fn waits(mut self) -> Test {
        self.places = OF_A_WAITING_TEST;
        self
    }

    fn run(&self) {
        if self.apart {
            let us = std::env::current_exe().unwrap();
            let output = apart(Command::new(us), &self.name).stdin(Stdio::null()).output().unwrap();
            let text = [output.stdout, output.stderr].concat();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
        } else {
            (self.body)();
        }
    }
}

/// Makes a command, which is to start this program, run a single test that is listed; its exit status tells how it went.
pub(crate) fn apart(mut command: Command, name: &str) -> Command {
    command.env(APART, name);
    command
}

/// The tally of a run beside its results.
struct Tally {
    left: AtomicUsize,
    /// The tests that were left out, by the first thing that they lack.
    skipped: Mutex<BTreeMap<Need, Vec<String>>>,
    times: Mutex<Vec<(Duration, String)>>,
    /// The tests that failed beside others: how each goes alone is what counts.
    again: Mutex<Vec<Test>>,
}

impl Tally {
    fn one_is_over(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.tell();
        }
    }

    /// The last test says it, so that only the results themselves follow.
    fn tell(&self) {
        let mut text = String::new();
        let skipped = self.skipped.lock().unwrap();
        if !skipped.is_empty() {
            let all: usize = skipped.values().map(Vec::len).sum();
            text += &format!("\n{all} tests were left out, for what this host lacks:\n");
        }
        for (need, names) in &*skipped {
            text += &format!("  {need}; to mend it: {}\n    {}: ", need.mend(), names.len());
            // Many of one kind need no name each.
            let shown: Vec<&str> = names.iter().take(8).map(String::as_str).collect();
            text += &shown.join(", ");
            text += if names.len() > shown.len() { ", …\n" } else { "\n" };
        }
        if std::env::var_os("GATE4K_TIMES").is_some() {
            text += &slowest(&mut self.times.lock().unwrap());
        }
        let _ = std::io::stdout().lock().write_all(text.as_bytes());
    }
}

/// The slowest tests and modules, and how much of it all the processors worked rather than waited.
fn slowest(times: &mut [(Duration, String)]) -> String {
    times.sort();
    let sum: Duration = times.iter().map(|(took, _)| *took).sum();
    let mut text = format!("\nthe slowest of {} tests ({sum:.0?} in all):\n", times.len());
    for (took, name) in times.iter().rev().take(20) {
        text += &format!("  {:8.2} s  {name}\n", took.as_secs_f64());
    }
    let mut modules: BTreeMap<&str, (Duration, usize)> = BTreeMap::new();
    for (took, name) in &*times {
        let (all, tests) = modules.entry(name.rsplit_once("::").map_or("", |it| it.0)).or_default();
        *all += *took;
        *tests += 1;
    }
    let mut modules: Vec<_> = modules.into_iter().collect();
    modules.sort_by_key(|(_, (all, _))| std::cmp::Reverse(*all));
    text += "and of their modules:\n";
    for (module, (all, tests)) in modules.into_iter().take(20) {
        text += &format!("  {:8.2} s  {module} ({tests})\n", all.as_secs_f64());
    }
    if let Ok(used) = getrusage(UsageWho::RUSAGE_CHILDREN) {
        let seconds = |time: TimeVal| time.num_milliseconds() as f64 / 1000.0;
        text += &format!(
            "processor time of what they ran: {:.0} s, and {:.0} s of the kernel's\n",
            seconds(used.user_time()),
            seconds(used.system_time())
        );
    }
    text
}

/// Places that a test has until it is over.
struct Taken(usize);

/// The places that are taken, of [`PLACES`] for each processor.
static TAKEN: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

impl Taken {
    /// Waits for as many.
    fn new(places: usize) -> Taken {
        let all = PLACES * processors();
        let taken = TAKEN.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = TAKEN.1.wait_while(taken, |taken| *taken + places > all);
        *free.unwrap_or_else(PoisonError::into_inner) += places;
        Taken(places)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        *TAKEN.0.lock().unwrap_or_else(PoisonError::into_inner) -= self.0;
        TAKEN.1.notify_all();
    }
}

/// The other tests that may run meanwhile.
enum Beside {
    Others,
    Nothing,
}

/// Runs a test; how long it took, and its panic.
fn attempt(test: &Test, beside: Beside) -> (Duration, std::thread::Result<()>) {
    /// Held by every test that may run beside others, or by one that may not.
    static QUIET: RwLock<()> = RwLock::new(());
    let (_beside, _alone);
    match beside {
        Beside::Others => _beside = QUIET.read().unwrap_or_else(PoisonError::into_inner),
        Beside::Nothing => _alone = QUIET.write().unwrap_or_else(PoisonError::into_inner),
    }
    let _places = Taken::new(test.places);
    let begun = Instant::now();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test.run()));
    (begun.elapsed(), outcome)
}

fn trial(test: Test, tally: &Arc<Tally>) -> Trial {
    let tally = Arc::clone(tally);
    Trial::ignorable_test(test.name.clone(), move || {
        let name = test.name.clone();
        if let Some(need) = test.needs.iter().copied().find(|need| !need.is_met()) {
            let why = format!("{need}; to mend it: {}", need.mend());
            tally.skipped.lock().unwrap().entry(need).or_default().push(name);
            tally.one_is_over();
            let must_not = std::env::var_os("GATE4K_NO_SKIPS").is_some_and(|value| value == "1");
            return if must_not {
                Err(Failed::from(why))
            } else {
                Ok(Completion::ignored_with(why))
            };
        }
        let (took, outcome) =
            attempt(&test, if test.alone { Beside::Nothing } else { Beside::Others });
        tally.times.lock().unwrap().push((took, name));
        tally.one_is_over();
        let once = std::env::var_os("GATE4K_ONCE").is_some();
        match outcome {
            Ok(()) => Ok(Completion::Completed),
            Err(panic) if test.alone || once => std::panic::resume_unwind(panic),
            Err(_) => {
                tally.again.lock().unwrap().push(test);
                Ok(Completion::ignored_with("failed beside others; runs alone, at the end"))
            }
        }
    })
}

/// Runs alone, one after the other, the tests that failed beside others: a host that is busy with other tests is no fault
/// of the program, and the answer that counts is the one of a quiet host. At the end, since a quiet host has to be
/// waited for.
fn run_again(tests: Vec<Test>, arguments: &Arguments) -> Conclusion {
    println!(
        "{} failed beside others; each that passes alone is a fault to mend, told above:",
        tests.len()
    );
    let one = Arguments { test_threads: Some(1), format: arguments.format, ..Arguments::default() };
    let trials = tests.into_iter().map(|test| {
        let name = test.name.clone();
        Trial::test(name, move || {
            test.run();
            Ok(())
        })
    });
    libtest_mimic::run(&one, trials.collect())
}

pub(crate) fn main(mut all: impl Iterator<Item = Test>) -> ExitCode {
    if let Ok(name) = std::env::var(APART) {
        // No module is listed beyond the one that has it: this process may run as a user who cannot read the tree.
        let test = all.find(|test| test.name == name).expect("a test of this name");
        (test.body)();
        return ExitCode::SUCCESS;
    }
    let mut arguments = Arguments::from_args();
    if arguments.test_threads.is_none() {
        arguments.test_threads = Some(PLACES / OF_A_WAITING_TEST * processors());
    }
    let mut all: Vec<Test> = all.filter(|test| !test.name.starts_with(INNER)).collect();
    all.sort_by_key(|test| test.alone);
    let tally = Arc::new(Tally {
        left: AtomicUsize::new(0),
        skipped: Mutex::default(),
        times: Mutex::default(),
        again: Mutex::default(),
    });
    let trials: Vec<Trial> = all.into_iter().map(|test| trial(test, &tally)).collect();
    let wanted = trials.iter().filter(|trial| !arguments.is_filtered_out(trial)).count();
    tally.left.store(wanted, Ordering::Release);
    if !arguments.list {
        println!("GATE4K_SEED={} draws again what this run draws", seed::seed());
    }
    let first = libtest_mimic::run(&arguments, trials);
    let again = std::mem::take(&mut *tally.again.lock().unwrap());
    if again.is_empty() {
        return first.exit_code();
    }
    let second = run_again(again, &arguments);
    if first.has_failed() { first.exit_code() } else { second.exit_code() }
}
