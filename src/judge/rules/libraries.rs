//! Rule 7.6: only allowed libraries: those that the executable names, those that were opened or refused while
//! it started, and those that its interpreter said it did not find.

use super::{CausedByLoad, InGames, JudgedRule, Needed};
use crate::judge::support::allowed::Allowed;
use crate::judge::support::{complaints, paths, runs};
use crate::model::command_words::base_name;
use crate::model::evidence::{
    Evidence, FileOpen, Opener, OpenerCode, ProgramClass, RecordPart, Run,
};
use crate::model::layer_status::LayerName;
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};
use crate::model::words;
use crate::policy::libraries;
use crate::sandbox::plan::is_shared_object;

const RULE: RuleId = RuleId::Libraries;

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    id: RULE,
    evidence: Needed::Runs,
    load: CausedByLoad::Never,
    leans_on: &[LayerName::Landlock, LayerName::ExecReporter],
    rests_on: &[RecordPart::Files, RecordPart::Paths, RecordPart::Tracer],
    before_games: false,
    in_games: InGames::LikeRuns,
    judge: |case| judge(case.evidence, case.needed, case.allowed),
};

/// Judges the names in the executable's dynamic section (`needed`) and what the runs opened.
fn judge(evidence: &Evidence, needed: &[String], policy: &dyn Allowed) -> Finding {
    if evidence.runs.is_empty() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let linked = |name: &String| {
        Some(format!("it is linked with {name} ({})", policy.library_refused(name)?))
    };
    let mut fatal: Vec<String> = needed.iter().filter_map(linked).collect();
    let mut works = true;
    let mut wanted: Vec<String> = Vec::new();
    let mut loaded: Vec<String> = Vec::new();
    let mut brought: Vec<String> = Vec::new();
    let counting = |run: &&Run| !runs::counts_for_nothing(evidence, run);
    for run in evidence.runs.iter().filter(counting) {
        let before = wanted.len();
        for open in run.opens.iter().filter(|open| paths::is_library(&open.path)) {
            match (refused(run, open, policy), open.own) {
                (Some(reason), false) if open.denied => wanted.push(format!(
                    "{} wanted {} ({reason}); it was refused",
                    runs::lineage(run, open.by),
                    open.path
                )),
                (Some(reason), false) if !open.missing => fatal.push(format!(
                    "{} {} {} ({reason})",
                    runs::lineage(run, open.by),
                    match open.opener.by {
                        OpenerCode::Loader if is_shared_object(&open.path) => "loaded",
                        OpenerCode::Loader | OpenerCode::Reader => "read",
                    },
                    open.path
                )),
                (None, false) if is_loaded(open) => {
                    let name = base_name(&open.path).to_owned();
                    // Allowed by no line of the list, but as a part of what opened it.
                    if policy.library_refused(&open.path).is_some() {
                        brought.push(name.clone());
                    }
                    loaded.push(name);
                }
                _ => {}
            }
        }
        wanted.extend(absent(run, policy).into_iter().map(|name| {
            format!("it wanted {name}, which is not allowed and not to be found inside")
        }));
        if !runs::went_well(run) {
            wanted.extend(nowhere(run, policy).into_iter().map(|name| {
                format!("it wanted {name}, which is not allowed and was found nowhere")
            }));
        }
        works &=
            wanted.len() == before || runs::went_well(run) || runs::failed_aside(evidence, run);
    }
    for list in [&mut fatal, &mut wanted, &mut loaded, &mut brought] {
        list.sort();
        list.dedup();
    }
    let finding =
        decide(&fatal, &wanted, &Loaded { all: &loaded, brought: &brought }, needed, works);
    finding.with("needed", needed).with("loaded", loaded).with("refused", [fatal, wanted].concat())
}

/// The reason why a library that was opened is not allowed there. A header serves no compiler: it becomes a part of what is compiled.
fn refused(run: &Run, open: &FileOpen, policy: &dyn Allowed) -> Option<String> {
    policy.library_refused(&open.path).filter(|_| {
        libraries::is_header(&open.path)
            || !(serves_program(run, open, policy) || serves_library(run, open, policy))
    })
}

/// True if a file serves the compiler or the interpreter that opened it. It serves no program of the entry's own, and one that serves a
/// compiler serves no interpreter: it would be loaded by what the entry says.
fn serves_program(run: &Run, open: &FileOpen, policy: &dyn Allowed) -> bool {
    let exec = run.exec(open.by);
    let program = exec.and_then(|exec| exec.real.as_deref());
    if is_native_product(run, open) || is_preloaded(run, open.by) {
        return false;
    }
    if !is_shared_object(&open.path) {
        return policy.belongs_to_command(program, &open.path);
    }
    match open.opener {
        // A program that reads a library copies it.
        Opener { by: OpenerCode::Reader, .. } => policy.is_read_by_command(program, &open.path),
        Opener { beside_own_code: false, .. } => policy.belongs_to_command(program, &open.path),
        // Code of the entry's own may have asked for it, unless it comes with the program or one of its modules.
        Opener { beside_own_code: true, .. } => {
            policy.belongs_to_command(program, &open.path)
                && (policy.is_read_by_command(program, &open.path)
                    || program.is_some_and(|file| policy.is_linked_with(file, &open.path))
                    || loaded_beside(run, open).any(|other| {
                        policy.is_read_by_command(program, &other.path)
                            && policy.is_linked_with(&other.path, &open.path)
                    }))
        }
    }
}

/// True if a file serves an allowed library that was loaded before in the same program, and is linked with it (an OpenCL driver and
/// its compiler).
fn serves_library(run: &Run, open: &FileOpen, policy: &dyn Allowed) -> bool {
    open.opener.by == OpenerCode::Loader
        && loaded_beside(run, open).any(|other| {
            policy.library_refused(&other.path).is_none()
                && policy.is_linked_with(&other.path, &open.path)
        })
}

/// The libraries of the host that the loader opened in the same program.
fn loaded_beside<'a>(run: &'a Run, open: &'a FileOpen) -> impl Iterator<Item = &'a FileOpen> {
    run.opens.iter().filter(|other| {
        other.by == open.by
            && other.opener.by == OpenerCode::Loader
            && is_shared_object(&other.path)
            && !(other.own || other.denied || other.missing)
    })
}

/// True if a program of the host has had code of the entry's own in its memory from its start on (`LD_PRELOAD`): that runs first, and
/// the C library is loaded after it.
fn is_preloaded(run: &Run, program: Option<usize>) -> bool {
    run.opens.iter().any(|open| {
        open.by == program
            && open.opener == Opener { by: OpenerCode::Loader, beside_own_code: true }
            && !(open.own || open.denied || open.missing)
            && base_name(&open.path).starts_with("libc.so")
    })
}

/// A library that is not allowed and that the run did not get: refused, or nowhere to be found.
pub(crate) fn wanted_in_vain(run: &Run, policy: &dyn Allowed) -> Option<String> {
    let is_refused = |open: &&FileOpen| {
        open.denied
            && !open.own
            && paths::is_library(&open.path)
            && refused(run, open, policy).is_some()
    };
    let denied = run.opens.iter().find(is_refused).map(|open| open.path.clone());
    denied.or_else(|| nowhere(run, policy).into_iter().next())
}

/// True if machine code that the entry brought along opened it: the entry's or product's file itself runs,
/// and not an interpreter on its behalf.
fn is_native_product(run: &Run, open: &FileOpen) -> bool {
    let Some(exec) = run.exec(open.by) else {
        return true;
    };
    matches!(exec.class, ProgramClass::Entry | ProgramClass::OwnProduct) && !exec.script
}

/// The shared objects that were loaded.
struct Loaded<'a> {
    all: &'a [String],
    /// Those among them that no line of the list allows: what an allowed program needs itself.
    brought: &'a [String],
}

fn decide(
    fatal: &[String],
    wanted: &[String],
    loaded: &Loaded<'_>,
    needed: &[String],
    works: bool,
) -> Finding {
    let help = "do without it, or carry what it does inside the file: rule 7.6 allows system libraries \
                like libc, CUDA, OpenCL, and numpy for Python";
    let all: Vec<&String> = fatal.iter().chain(wanted).collect();
    match all.first() {
        Some(first) if !fatal.is_empty() || !works => Finding::fail(RULE, (*first).clone())
            .details(all.iter().skip(1).take(9).map(|line| (*line).clone()))
            .help(help),
        Some(first) => Finding::advice(RULE, format!("it works, though {first}"))
            .details(all.iter().skip(1).take(9).map(|line| (*line).clone()))
            .help("do not ask for it: on another host it may be there, and then be refused"),
        None => {
            let is_new = |name: &&String| !needed.contains(name) && !loaded.brought.contains(name);
            let names: Vec<&String> =
                needed.iter().chain(loaded.all.iter().filter(is_new)).collect();
            let own = if names.is_empty() {
                "it needs no library".to_owned()
            } else {
                format!("only allowed libraries: {}", words::some(&names, 6))
            };
            let summary = match loaded.brought {
                [] => own,
                brought => {
                    let told = words::some(brought, 6);
                    format!("{own}; and, as parts of allowed programs and libraries, {told}")
                }
            };
            Finding::new(RULE, Status::Pass, summary)
        }
    }
}

/// Modules that an interpreter or the loader did not find, which are not allowed and no chess library
/// (rule 7.7 has a finding of its own for these) nor a part of Python (which this host lacks).
fn absent(run: &Run, policy: &dyn Allowed) -> Vec<String> {
    complaints::missing_modules(&run.stderr_tail)
        .into_iter()
        .filter(|name| {
            !paths::is_chess_module(name) && complaints::package_of_python(name).is_none()
        })
        .filter(|name| policy.library_refused(name).is_some())
        .collect()
}

/// Shared objects that were looked for and found in no place, and are not allowed: a program that loads
/// them itself need not say so on its standard error.
fn nowhere(run: &Run, policy: &dyn Allowed) -> Vec<String> {
    let found =
        |name: &str| run.opens.iter().any(|open| !open.missing && base_name(&open.path) == name);
    let mut names: Vec<String> = run
        .opens
        .iter()
        .filter(|open| open.missing && is_shared_object(&open.path))
        .filter(|open| speaks_for_entry(run, open))
        .map(|open| base_name(&open.path).to_owned())
        .filter(|name| !found(name))
        .filter(|name| policy.library_refused(name).is_some())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// True if what was not found tells of the entry: its own programs and the interpreters that run it do, a
/// compiler that looks through its directories for a library's forms does not.
fn speaks_for_entry(run: &Run, open: &FileOpen) -> bool {
    let Some(exec) = run.exec(open.by) else {
        return true;
    };
    match exec.class {
        ProgramClass::Entry | ProgramClass::OwnProduct => true,
        _ => ["python", "pypy", "perl"].iter().any(|name| exec.name.starts_with(name)),
    }
}

/// True if an opening loaded something worth naming: a shared object, or a package beyond the standard
/// library.
fn is_loaded(open: &FileOpen) -> bool {
    !open.denied
        && !open.missing
        && is_shared_object(&open.path)
        && !base_name(&open.path).contains("cpython-")
        && !base_name(&open.path).contains("pypy3")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::allowed::CommandWord;
    use crate::judge::support::testing;
    use crate::judge::support::testing::TestList;
    use crate::model::evidence::{EndHow, ExitHow, Purpose};

    fn of(run: Run, needed: &[&str]) -> Finding {
        let needed: Vec<String> = needed.iter().map(|name| (*name).to_owned()).collect();
        judge(&testing::evidence_of([run]), &needed, &TestList)
    }

    /// A host whose compiler needs every file that it reads.
    struct Compiler;

    impl Allowed for Compiler {
        fn command(&self, name: &str) -> CommandWord {
            TestList.command(name)
        }

        fn library_refused(&self, name_or_path: &str) -> Option<String> {
            TestList.library_refused(name_or_path)
        }

        fn belongs_to_command(&self, _: Option<&str>, _: &str) -> bool {
            true
        }
    }

    #[test]
    fn a_header_that_a_compiler_reads_becomes_a_part_of_the_entry() {
        let read = |path: &str| {
            let mut run = testing::run(Purpose::Main).started(Some(0), "cc1", ProgramClass::Helper);
            run = run.opened(path, false);
            run.opens[0].by = Some(1);
            judge(&testing::evidence_of([run]), &[], &Compiler)
        };
        assert_eq!(read("/usr/lib/libgmp.so.10").status, Status::Pass);
        let header = read("/usr/include/boost/any.hpp");
        assert_eq!(header.status, Status::Fail);
        assert!(header.summary.contains("/usr/include/boost/any.hpp"), "{}", header.summary);
    }

    /// A host whose OpenCL driver is linked with a compiler's library.
    struct Driver;

    impl Allowed for Driver {
        fn command(&self, name: &str) -> CommandWord {
            TestList.command(name)
        }

        fn library_refused(&self, name_or_path: &str) -> Option<String> {
            TestList.library_refused(name_or_path)
        }

        fn is_linked_with(&self, file: &str, path: &str) -> bool {
            (file, path) == ("/usr/lib/libc.so.6", "/usr/lib/libLLVM.so.15")
        }
    }

    #[test]
    fn a_library_that_an_allowed_one_is_linked_with_is_allowed_beside_it_alone() {
        let with = |other: Option<&str>| {
            let run = testing::run(Purpose::Main);
            let run = other.into_iter().fold(run, |run, path| run.opened(path, false));
            judge(
                &testing::evidence_of([run.opened("/usr/lib/libLLVM.so.15", false)]),
                &[],
                &Driver,
            )
        };
        assert_eq!(with(Some("/usr/lib/libc.so.6")).status, Status::Pass);
        assert_eq!(with(Some("/usr/lib/libm.so.6")).status, Status::Fail);
        assert_eq!(with(None).status, Status::Fail);
    }

    #[test]
    fn a_library_that_is_only_read_is_no_cover_for_another() {
        let mut run = testing::run(Purpose::Main)
            .opened("/usr/lib/libc.so.6", false)
            .opened("/usr/lib/libLLVM.so.15", false);
        let verdict = |run: &Run| judge(&testing::evidence_of([run.clone()]), &[], &Driver).status;
        assert_eq!(verdict(&run), Status::Pass);
        run.opens[0].opener.by = OpenerCode::Reader;
        assert_eq!(verdict(&run), Status::Fail);
        run.opens[0].opener = Opener::LOADER;
        run.opens[1].opener.by = OpenerCode::Reader;
        assert_eq!(verdict(&run), Status::Fail);
    }

    #[test]
    fn a_library_of_an_interpreter_serves_no_code_that_was_brought_into_it() {
        let run = |before: Opener, library: Opener| {
            let mut run = testing::run(Purpose::Main).started(Some(0), "xz", ProgramClass::Listed);
            run = run.opened("/lib/libc.so.6", false).opened("/usr/lib/libgmp.so.10", false);
            for (open, opener) in run.opens.iter_mut().zip([before, library]) {
                (open.by, open.opener) = (Some(1), opener);
            }
            judge(&testing::evidence_of([run]), &[], &Compiler).status
        };
        let own = Opener { beside_own_code: true, ..Opener::LOADER };
        let read = Opener { by: OpenerCode::Reader, beside_own_code: false };
        assert_eq!(run(Opener::LOADER, Opener::LOADER), Status::Pass);
        assert_eq!(run(Opener::LOADER, own), Status::Fail, "a plug-in asked for it");
        assert_eq!(run(own, Opener::LOADER), Status::Fail, "preloaded");
        assert_eq!(run(Opener::LOADER, read), Status::Fail, "copied");
    }

    #[test]
    fn what_the_executable_names_is_decided_at_once() {
        let finding = of(testing::run(Purpose::Main), &["libc.so.6"]);
        assert_eq!(finding.status, Status::Pass);
        assert_eq!(finding.summary, "only allowed libraries: libc.so.6");
        let finding = of(testing::run(Purpose::Main), &["libc.so.6", "libfoo.so.1"]);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("linked with libfoo.so.1"));
    }

    #[test]
    fn a_refused_module_is_advice_if_it_works_and_else_fatal() {
        let path = "/usr/lib/python3/dist-packages/torch/__init__.py";
        let works = testing::run(Purpose::Main).opened(path, true);
        assert_eq!(of(works, &[]).status, Status::Advice);
        let dead = testing::run(Purpose::Main).died(ExitHow::Status(1)).opened(path, true);
        let finding = of(dead, &[]);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("torch"));
    }

    #[test]
    fn a_module_that_is_missed_at_the_first_move_is_fatal() {
        let mut run = testing::run(Purpose::Main).stderr("No module named 'numba'");
        run.ending.how = EndHow::ByItself;
        assert_eq!(of(run, &[]).status, Status::Fail);
    }

    #[test]
    fn a_part_of_python_that_this_host_lacks_accuses_nobody() {
        let said = "ImportError: No module named '_gdbm', please install the python3-gdbm package";
        let mut run = testing::run(Purpose::Main).stderr(said);
        run.ending.how = EndHow::ByItself;
        assert_eq!(of(run, &[]).status, Status::Pass);
    }

    #[test]
    fn an_object_found_nowhere_is_named_if_it_was_needed() {
        let mut run = testing::run(Purpose::Main).opened("/lib/libfoo.so.1", false);
        run.opens[0].missing = true;
        assert_eq!(of(run.clone(), &[]).status, Status::Pass);
        run.ending.how = EndHow::ByItself;
        assert_eq!(of(run, &[]).status, Status::Fail);
    }

    #[test]
    fn harmless_probes_accuse_nobody() {
        let run = testing::run(Purpose::Main)
            .opened("/etc/nsswitch.conf", true)
            .opened("/usr/lib/python3/dist-packages/", true)
            .opened("/usr/lib/python3/dist-packages", true)
            .opened("/usr/lib/python3.12/sitecustomize.py", true)
            .opened("/tmp/own.so", false);
        assert_eq!(of(run, &[]).status, Status::Pass);
    }

    #[test]
    fn a_library_is_its_own_by_where_it_lies_and_not_by_how_its_path_looks() {
        let of_the_host = "/root/.rustup/toolchains/stable/lib/libLLVM.so.22";
        let loaded = testing::run(Purpose::Main).opened(of_the_host, false);
        assert_eq!(of(loaded, &[]).status, Status::Fail);
        let own = testing::run(Purpose::Main)
            .opened("/tmp/x/site-packages/own.py", false)
            .opened("/tmp/lib/python3/own.so", false);
        assert_eq!(of(own, &[]).status, Status::Pass);
    }

    #[test]
    fn a_module_that_is_missed_at_the_start_is_fatal() {
        let said = "ModuleNotFoundError: No module named 'torch'";
        let dead = testing::run(Purpose::Main).died(ExitHow::Status(1)).stderr(said);
        assert_eq!(of(dead, &[]).status, Status::Fail);
    }
}
