//! Rule 7.6: only allowed libraries. What the executable names, what was opened or refused while it
//! started, and what its interpreter said it did not find.

use super::chess_library;
use crate::judge::support::{host, seen};
use crate::model::evidence::{Evidence, FileOpen, ProgramClass, Run};
use crate::model::layer_status::LayerName;
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};

const RULE: RuleId = RuleId::Libraries;

/// What the allow-list says of a library, with its rule or reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryWord {
    /// It may be loaded.
    Allowed(String),
    /// It may not.
    Refused(String),
}

/// The allow-list, as far as this rule asks it.
pub trait LibraryPolicy {
    /// What a shared object's name (`libc.so.6`), a module's name (`numpy`) or a path is.
    fn library(&self, name_or_path: &str) -> LibraryWord;

    /// Whether a file is part of what an allowed command of this host itself needs (a compiler's
    /// arithmetic library, an extension module of Python's own).
    fn belongs_to_commands(&self, _path: &str) -> bool {
        false
    }
}

/// Modules that Python itself looks for at every start; an entry has no part in it.
const LOOKED_FOR_BY_PYTHON: [&str; 4] =
    ["sitecustomize", "usercustomize", "apport_python_hook", "_distutils_hack"];

/// Judges the names in the executable's dynamic section (`needed`) and what the runs opened.
pub fn judge(evidence: &Evidence, needed: &[String], policy: &dyn LibraryPolicy) -> Finding {
    if evidence.runs.is_empty() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let refused_by = |name: &str| match policy.library(name) {
        LibraryWord::Refused(reason) => Some(reason),
        LibraryWord::Allowed(_) => None,
    };
    let mut fatal: Vec<String> = needed
        .iter()
        .filter_map(|name| Some(format!("it is linked with {name} ({})", refused_by(name)?)))
        .collect();
    let mut works = true;
    let mut wanted: Vec<String> = Vec::new();
    let mut loaded: Vec<String> = Vec::new();
    for run in &evidence.runs {
        let before = wanted.len();
        for open in run.opens.iter().filter(|open| is_library(&open.path)) {
            // What serves a compiler or an interpreter serves them, not a program of the entry's own.
            let serves_host =
                !is_native_product(run, open) && policy.belongs_to_commands(&open.path);
            let refused = refused_by(&open.path).filter(|_| !serves_host);
            match (refused, is_own(&open.path)) {
                (Some(reason), false) if open.denied => wanted.push(format!(
                    "{} wanted {} ({reason}); it was refused",
                    seen::lineage(run, open.by),
                    open.path
                )),
                (Some(reason), false) if !open.missing => fatal.push(format!(
                    "{} loaded {} ({reason})",
                    seen::lineage(run, open.by),
                    open.path
                )),
                (None, false) if is_loaded(open) => loaded.push(short(&open.path).to_owned()),
                _ => {}
            }
        }
        wanted.extend(absent(run, policy).into_iter().map(|name| {
            format!("it wanted {name}, which is not allowed and not to be found inside")
        }));
        if !seen::went_well(run) {
            wanted.extend(nowhere(run, policy).into_iter().map(|name| {
                format!("it wanted {name}, which is not allowed and was found nowhere")
            }));
        }
        works &= wanted.len() == before || seen::went_well(run);
    }
    for list in [&mut fatal, &mut wanted, &mut loaded] {
        list.sort();
        list.dedup();
    }
    let finding = decide(&fatal, &wanted, &loaded, needed, works);
    host::leaning_on(
        finding
            .with("needed", needed)
            .with("loaded", loaded)
            .with("refused", [fatal, wanted].concat()),
        &evidence.host,
        &[LayerName::Landlock, LayerName::ExecReporter],
    )
}

/// Whether machine code that the entry brought along opened it: the entry's or product's file itself runs,
/// and not an interpreter on its behalf.
fn is_native_product(run: &Run, open: &FileOpen) -> bool {
    let Some(exec) = open.by.and_then(|index| run.execs.get(index)) else {
        return true;
    };
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let itself = exec
        .real
        .as_deref()
        .is_some_and(|real| base(real) == base(&exec.asked) || real.starts_with("/memfd:"));
    matches!(exec.class, ProgramClass::Entry | ProgramClass::OwnProduct) && itself
}

fn decide(
    fatal: &[String],
    wanted: &[String],
    loaded: &[String],
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
            let mut names: Vec<&str> = needed.iter().map(String::as_str).collect();
            let more =
                loaded.iter().map(String::as_str).filter(|name| !needed.iter().any(|n| n == name));
            names.extend(more);
            let summary = if names.is_empty() {
                "it needs no library".to_owned()
            } else {
                format!("only allowed libraries: {}", seen::list(&names, 6))
            };
            Finding::new(RULE, Status::Pass, summary)
        }
    }
}

/// Modules that an interpreter or the loader did not find, which are not allowed and no chess library
/// (rule 7.7 has a finding of its own for these).
fn absent(run: &Run, policy: &dyn LibraryPolicy) -> Vec<String> {
    missing_modules(&run.stderr_tail)
        .into_iter()
        .filter(|name| !chess_library::is_chess_module(name))
        .filter(|name| matches!(policy.library(name), LibraryWord::Refused(_)))
        .collect()
}

/// Shared objects that were looked for and found in no place, and are not allowed: a program that loads
/// them itself need not say so on its standard error.
fn nowhere(run: &Run, policy: &dyn LibraryPolicy) -> Vec<String> {
    let is_object = |path: &str| path.ends_with(".so") || path.contains(".so.");
    let found =
        |name: &str| run.opens.iter().any(|open| !open.missing && short(&open.path) == name);
    let mut names: Vec<String> = run
        .opens
        .iter()
        .filter(|open| open.missing && is_object(&open.path))
        .filter(|open| speaks_for_entry(run, open))
        .map(|open| short(&open.path).to_owned())
        .filter(|name| !found(name))
        .filter(|name| matches!(policy.library(name), LibraryWord::Refused(_)))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Whether what was not found tells of the entry: its own programs and the interpreters that run it do, a
/// compiler that looks through its directories for a library's forms does not.
fn speaks_for_entry(run: &Run, open: &FileOpen) -> bool {
    let Some(exec) = open.by.and_then(|index| run.execs.get(index)) else {
        return true;
    };
    match exec.class {
        ProgramClass::Entry | ProgramClass::OwnProduct => true,
        _ => ["python", "pypy", "perl"].iter().any(|name| exec.name.starts_with(name)),
    }
}

/// Whether a path is that of a library or module. A harmless probe (/etc/nsswitch.conf, a locale, the
/// directory of modules itself) is none.
pub(crate) fn is_library(path: &str) -> bool {
    let name = short(path);
    let stem = name.split('.').next().unwrap_or(name);
    if name == "ld.so.cache"
        || LOOKED_FOR_BY_PYTHON.contains(&stem)
        || path.contains("/_distutils_hack")
        || chess_library::is_chess_path(path)
    {
        return false;
    }
    name.ends_with(".so")
        || name.contains(".so.")
        || [".py", ".pyc", ".pm"].iter().any(|end| name.ends_with(end))
        || below_packages(path).is_some_and(|rest| !rest.is_empty() && !rest.ends_with(".pth"))
}

/// What follows `dist-packages/` or `site-packages/` in a path.
pub(crate) fn below_packages(path: &str) -> Option<&str> {
    ["/dist-packages/", "/site-packages/"]
        .iter()
        .find_map(|mark| path.split_once(mark))
        .map(|(_, rest)| rest)
}

/// Whether a path is in the places that the entry itself fills: what lies there is the engine.
fn is_own(path: &str) -> bool {
    let system = ["/usr/", "/lib", "/opt/", "/etc/", "/snap/", "/nix/"]
        .iter()
        .any(|root| path.starts_with(root));
    !system && below_packages(path).is_none() && !path.contains("/lib/python")
}

/// Whether an opening loaded something worth naming: a shared object, or a package beyond the standard
/// library.
fn is_loaded(open: &FileOpen) -> bool {
    !open.denied
        && !open.missing
        && (open.path.ends_with(".so") || open.path.contains(".so."))
        && !short(&open.path).contains("cpython-")
        && !short(&open.path).contains("pypy3")
}

fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The modules and shared objects that an interpreter or the loader said it did not find.
pub(crate) fn missing_modules(stderr: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in stderr {
        let python = line
            .split_once("No module named ")
            .map(|(_, rest)| rest.trim().trim_matches(['\'', '"']));
        let perl = line
            .split_once("Can't locate ")
            .and_then(|(_, rest)| rest.split_once(" in @INC"))
            .map(|(name, _)| name);
        let loader = line
            .split_once(": cannot open shared object file")
            .and_then(|(before, _)| before.rsplit([' ', ':']).next());
        let linker = line
            .split_once("cannot find -l")
            .map(|(_, rest)| format!("lib{}.so", rest.split([':', ' ']).next().unwrap_or(rest)));
        if let Some(name) = python.or(perl).or(loader).or(linker.as_deref()) {
            // The rest of the line may be anything; a name ends where its characters do.
            let name: String = name
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || "._-+/".contains(*c))
                .take(80)
                .collect();
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::{Build, TestPolicy};
    use crate::model::evidence::{EndHow, ExitHow, Purpose};

    fn of(run: Run, needed: &[&str]) -> Finding {
        let needed: Vec<String> = needed.iter().map(|name| (*name).to_owned()).collect();
        judge(&testing::evidence_of([run]), &needed, &TestPolicy)
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
    fn names_of_missing_modules_are_read() {
        let said = [
            "ModuleNotFoundError: No module named 'torch'",
            "Can't locate Foo/Bar.pm in @INC (you may need …)",
            "/w/e: error while loading shared libraries: libfoo.so.1: cannot open shared object file",
            "OSError: libbar.so.1: cannot open shared object file: No such file or directory",
            "/usr/bin/ld: cannot find -lbaz: No such file or directory",
        ]
        .map(str::to_owned);
        assert_eq!(
            missing_modules(&said),
            ["torch", "Foo/Bar.pm", "libfoo.so.1", "libbar.so.1", "libbaz.so"]
        );
        let dead = testing::run(Purpose::Main).died(ExitHow::Status(1)).stderr(&said[0]);
        assert_eq!(of(dead, &[]).status, Status::Fail);
    }
}
