//! Things that this host may lack, where a start of the entry did not come up.

use std::path::Path;

use serde_json::json;

use crate::judge::support::allowed::Allowed;
use crate::judge::support::complaints::{self, Complainer};
use crate::judge::support::excuse::{Excuse, gaps, refusal};
use crate::judge::support::{older_tools, runs, wording};
use crate::model::command_words::base_name;
use crate::model::evidence::{
    Exec, ExecOutcome, ExitHow, FileAccess, FileOpen, HostFacts, ProgramClass, Purpose, Run,
};
use crate::model::layer_status::{LayerName, LayerState};
use crate::policy::allowlist::AcceleratorPart;
use crate::sandbox::plan::PSEUDO_TERMINAL;

/// The run asked for a command of rule 7.5 that this host lacks.
fn missing_command(run: &Run, host: &HostFacts) -> Option<Excuse> {
    let named = complaints::not_found_names(&run.stderr_tail);
    let launch = run.launch_failure.as_ref().map_or("", |failure| &failure.what);
    let words = || launch.split(|c: char| c.is_whitespace() || "`'\"():,;".contains(c));
    let name = host.missing_commands.iter().find(|name| {
        run.not_installed.contains(name)
            || named.contains(name)
            || words().any(|word| base_name(word) == **name)
    })?;
    Some(Excuse::of_host(
        format!("it asked for {name}, which is allowed and which this host does not have"),
        format!("install {name} (`gate4k doctor` names the package) and check again"),
        json!({"missing_command": name}),
    ))
}

/// The run asked for a version of an allowed command that this host lacks, and another one may have.
fn missing_version(run: &Run, policy: &dyn Allowed) -> Option<Excuse> {
    let name = run.not_installed.iter().find(|name| policy.is_version(name))?;
    Some(Excuse::of_host(
        format!(
            "it asked for {name}, a version of an allowed command which this host does not have"
        ),
        format!("name it without its version, or install {name} and check again"),
        json!({"missing_command": name}),
    ))
}

/// An interpreter or a loader that the unpacked program names, that this host lacks, and that another one may have.
fn missing_reader(run: &Run, policy: &dyn Allowed) -> Option<Excuse> {
    let (_, path) = runs::lacks_reader(run).filter(|(_, path)| policy.may_be_elsewhere(path))?;
    let name = base_name(path);
    Some(Excuse::of_host(
        "another host may have that",
        if name.contains(".so") {
            "check it where that loader is installed, or link it statically".to_owned()
        } else {
            format!(
                "install {name} at that path and check again, or name an interpreter that this host has, without its version"
            )
        },
        json!({"missing_interpreter": path}),
    ))
}

/// The run was linked with a newer version of an allowed library than this host has.
fn older_library(run: &Run, policy: &dyn Allowed) -> Option<Excuse> {
    let (name, version) = complaints::missing_version(&run.stderr_tail)?;
    // The loader opens the library before it complains; of other starts, files are not recorded.
    let opened = |open: &FileOpen| !open.own && base_name(&open.path) == name;
    let is_borne_out = run.purpose != Purpose::Main || run.opens.iter().any(opened);
    let is_allowed = policy.library_refused(name).is_none();
    (is_allowed && is_borne_out).then(|| Excuse::of_host(
        format!("it needs {version} of {name}, which is allowed and older on this host"),
        format!("judge it on a host whose {name} is as new as that of the event's machine, or link it on an older system"),
        json!({"missing_version": version, "library": name}),
    ))
}

/// The run asked for a library that is allowed, and this host does not have it (for this interpreter).
fn missing_library(run: &Run, policy: &dyn Allowed) -> Option<Excuse> {
    let (name, _) =
        complaints::missing_by_complainer(&run.stderr_tail).into_iter().find(|(name, by)| {
            policy.library_refused(name).is_none() && is_borne_out(run, name, *by)
        })?;
    Some(Excuse::of_host(
        format!("it asked for {name}, which is allowed and which it did not find on this host"),
        if name.contains(".so") {
            format!(
                "install {name} and, for an entry that compiles, what a compiler needs of it (`gate4k doctor` names the \
                 packages of CUDA and OpenCL), and check again"
            )
        } else {
            format!(
                "install {name} for the interpreter that the entry uses (`gate4k doctor` names the \
                 package) and check again"
            )
        },
        json!({"missing_library": name}),
    ))
}

/// The run asked for a module of Python's own standard library that is in a package which this host lacks.
fn missing_part_of_python(run: &Run) -> Option<Excuse> {
    let (name, package) = complaints::missing_modules(&run.stderr_tail)
        .into_iter()
        .find_map(|name| complaints::package_of_python(&name).map(|package| (name, package)))?;
    ran(run, &["python"], |_| true).then(|| {
        Excuse::of_host(
            format!("it asked for {name}, a part of Python which this host does not have"),
            format!("apt-get install {package}, and check again"),
            json!({"missing_library": name}),
        )
    })
}

/// True if the record bears out that a program of the host said that something is missing: an entry can write those words, too.
/// (An interpreter looks for modules in ways that leave no record.)
fn is_borne_out(run: &Run, name: &str, by: Complainer) -> bool {
    let looked_for = |open: &FileOpen| {
        (open.missing || open.denied) && !open.own && base_name(&open.path) == name
    };
    match by {
        Complainer::Python => ran(run, &PYTHON, |_| true),
        Complainer::Perl => ran(run, &["perl"], |_| true),
        // Of other starts, files that are missing are not recorded.
        Complainer::Loader => run.purpose != Purpose::Main || run.opens.iter().any(looked_for),
        Complainer::Linker => ran(run, &["ld", "collect2", "lld", "rust-lld"], has_failed),
        Complainer::Compiler => {
            ran(run, &["cc", "c++", "gcc", "g++", "clang", "clang++"], has_failed)
        }
    }
}

/// The beginnings of the names of Python's interpreters.
const PYTHON: [&str; 2] = ["python", "pypy"];

/// True of a program that did not end with success.
fn has_failed(exec: &Exec) -> bool {
    exec.exit != Some(ExitHow::Status(0))
}

/// True if a program of the host whose name begins so ran, by itself or to read a script, and it is as it is asked.
fn ran(run: &Run, names: &[&str], is_it: impl Fn(&Exec) -> bool) -> bool {
    let name = |exec: &Exec| match (&exec.real, exec.class) {
        (Some(real), _) if exec.script => Some(base_name(real).to_owned()),
        (_, ProgramClass::OwnProduct) => None,
        _ => Some(exec.name.clone()),
    };
    run.execs
        .iter()
        .filter(|exec| exec.outcome == ExecOutcome::Ran && is_it(exec))
        .filter_map(name)
        .any(|name| names.iter().any(|begins| name.starts_with(begins)))
}

/// The run loaded a library by which programs speak to accelerators (7.6), and none is open to it; or that library has found no
/// driver of this host for what is open.
fn no_accelerator(run: &Run, host: &HostFacts, policy: &dyn Allowed) -> Option<Excuse> {
    let devices = host.layers.iter().find(|layer| layer.name == LayerName::Devices)?;
    let part = |open: &FileOpen| {
        let loaded = !(open.own || open.denied || open.missing);
        policy.accelerator_part(&open.path).filter(|_| loaded)
    };
    let loaded = run.opens.iter().find(|open| part(open).is_some())?;
    let name = base_name(&loaded.path);
    if devices.state != LayerState::Enforced {
        let has_driver = run.opens.iter().any(|open| part(open) == Some(AcceleratorPart::Driver));
        return (!has_driver).then(|| {
            Excuse::of_host(
                format!("it loaded {name}, which found no driver for the accelerator on this host"),
                "install the accelerator's driver for OpenCL, with its file in /etc/OpenCL/vendors, and check again, or let it \
                 play without one",
                json!({"no_driver": name}),
            )
        });
    }
    Some(Excuse::of_host(
        format!("it loaded {name}, which drives accelerators, and none is open to it here"),
        "check again with `--devices nvidia` or `--devices dri`, on a host that has the accelerator, or let it play without \
               one",
        json!({"no_accelerator": name}),
    ))
}

/// A layer's gap that may itself have broken the entry: any mandatory one; limits that are too low;
/// and without a mount namespace a fixed path below /tmp cannot be made private, so that writing
/// there is refused.
fn broken_by_layer(run: &Run, host: &HostFacts) -> Option<Excuse> {
    if let Some((_, words)) = gaps(host).next() {
        return Some(Excuse::of_host(
            format!("but on this host {words}"),
            "run `gate4k doctor` for the fix, and check again",
            json!({"layer": words}),
        ));
    }
    if !host.lowered_limits.is_empty() {
        let lowered = host.lowered_limits.join(", ");
        return Some(Excuse::of_host(
            format!("but its limits are lower here than they should be: {lowered}"),
            "raise them where gate4k is started (`ulimit`; LimitNOFILE= and its like in a systemd \
                   unit), and check again",
            json!({"lowered_limits": host.lowered_limits}),
        ));
    }
    let mount = host.layers.iter().find(|layer| layer.name == LayerName::Mount);
    let path = run.opens.iter().find(|open| {
        open.denied
            && open.access == FileAccess::Write
            && ["/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/var/lock"]
                .iter()
                .any(|root| Path::new(&open.path).starts_with(root))
    })?;
    (mount.is_none_or(|layer| layer.state != LayerState::Enforced)).then(|| {
        Excuse::of_host(
            format!(
                "it wrote to {}, which this host cannot make private without a mount namespace",
                path.path
            ),
            "allow unprivileged user namespaces (`gate4k doctor` says how) and check again",
            json!({"denied_write": path.path}),
        )
    })
}

/// Everything of the host that may be why the run did not come up.
pub(crate) fn not_up(run: &Run, host: &HostFacts, policy: &dyn Allowed) -> Option<Excuse> {
    refusal(run, host)
        .or_else(|| missing_command(run, host))
        .or_else(|| missing_version(run, policy))
        .or_else(|| missing_reader(run, policy))
        .or_else(|| missing_library(run, policy))
        .or_else(|| older_library(run, policy))
        .or_else(|| missing_part_of_python(run))
        .or_else(|| older_tools::older_tool(run))
        .or_else(|| no_accelerator(run, host, policy))
        .or_else(|| lacking_processor(run))
        .or_else(|| refused_limit(run))
        .or_else(|| no_terminal(run))
        .or_else(|| broken_by_layer(run, host))
}

/// The run wanted a higher limit (`ulimit`) than an entry gets here; the event's machine may have granted it.
fn refused_limit(run: &Run) -> Option<Excuse> {
    let line = complaints::refused_limit(&run.stderr_tail)?;
    // (A shell that has run tells nothing: it is what reads the entry.)
    if line.contains(complaints::OF_PYTHON) && !ran(run, &PYTHON, |_| true) {
        return None;
    }
    let said = wording::shorten(line, 160);
    Some(Excuse::of_host(
        format!("it wanted a higher limit of resources than an entry gets here: `{said}`"),
        "leave the limit as it is, or go on where it cannot be raised (`ulimit -s unlimited||:`, in Python `try:`)",
        json!({"refused": ["a higher limit of resources"], "said": said}),
    ))
}

/// The run wanted a pseudo-terminal; no rule forbids one, and the event's machine has them.
pub(crate) fn no_terminal(run: &Run) -> Option<Excuse> {
    let wanted = |open: &FileOpen| open.path == PSEUDO_TERMINAL && (open.missing || open.denied);
    run.opens.iter().any(wanted).then(|| Excuse::of_host(
        format!("it wanted a pseudo-terminal ({PSEUDO_TERMINAL}), which no rule forbids and no entry gets here"),
        "do without one, or go on where there is none: the engine needs its three streams alone; or let the organisers see it \
         play where it has one",
        json!({"refused": ["a pseudo-terminal"]}),
    ))
}

/// The run compiles for the processor that it finds, and this one has not the instructions that its source names.
fn lacking_processor(run: &Run) -> Option<Excuse> {
    let native = run.execs.iter().any(|exec| exec.argv.iter().any(|word| word == "-march=native"));
    (native && complaints::lacks_instruction(&run.stderr_tail)).then(|| Excuse::of_host(
"it compiles for the processor that it finds (-march=native), and this host's lacks an instruction that it \
              names",
"judge it on a host with a processor as that of the event's machine",
json!({"refused": ["an instruction that this processor lacks"]}),
))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::excuse::excused;
    use crate::judge::support::testing;
    use crate::model::evidence::LaunchFailure;
    use crate::model::layer_status::Layer;
    use crate::model::rule::RuleId;
    use crate::model::verdict::{Finding, Status};

    #[test]
    fn a_driver_without_a_device_leaves_a_start_open() {
        let excuse = |devices: LayerState, run: &Run| {
            let mut host = testing::host();
            let reason = String::new();
            host.layers.push(Layer { name: LayerName::Devices, state: devices, reason });
            no_accelerator(run, &host, &testing::TestList).map(|excuse| excuse.why)
        };
        let driver = testing::run(Purpose::Main).opened("/usr/lib/libcuda.so.1", false);
        let why = excuse(LayerState::Enforced, &driver).unwrap();
        assert!(why.starts_with("it loaded libcuda.so.1,"), "{why}");
        assert_eq!(excuse(LayerState::Partial, &driver), None);
        let denied = testing::run(Purpose::Main).opened("/usr/lib/libcuda.so.1", true);
        assert_eq!(excuse(LayerState::Enforced, &denied), None);
        assert_eq!(excuse(LayerState::Enforced, &testing::run(Purpose::Main)), None);
    }

    #[test]
    fn an_open_device_without_a_driver_for_opencl_leaves_a_start_open() {
        let mut host = testing::host();
        let (state, reason) = (LayerState::Partial, String::new());
        host.layers.push(Layer { name: LayerName::Devices, state, reason });
        let loader = testing::run(Purpose::Main).opened("/usr/lib/libOpenCL.so.1", false);
        let excuse = no_accelerator(&loader, &host, &testing::TestList).unwrap();
        assert!(excuse.why.contains("found no driver"), "{}", excuse.why);
        let driven = loader.opened("/usr/lib/libcuda.so.1", false);
        assert!(no_accelerator(&driven, &host, &testing::TestList).is_none());
    }

    #[test]
    fn a_source_for_another_processor_is_excused_where_it_compiles_for_the_one_it_finds() {
        let said = "x.h:39:1: error: inlining failed in call to ‘always_inline’ ‘_pext_u64’: target specific option mismatch";
        let run = |argument: &str| {
            let mut run = testing::run(Purpose::Main)
                .started(Some(0), "cc", crate::model::evidence::ProgramClass::Listed)
                .stderr(said);
            run.execs[1].argv.push(argument.into());
            run
        };
        assert!(lacking_processor(&run("-march=native")).is_some());
        assert!(lacking_processor(&run("-O2")).is_none());
    }

    #[test]
    fn a_limit_that_an_entry_cannot_raise_here_excuses() {
        let said = [
            "/entry/1: 2: ulimit: error setting limit (Operation not permitted)",
            "/entry/1: line 2: ulimit: max user processes: cannot modify limit: Operation not permitted",
            "ValueError: not allowed to raise maximum limit",
        ];
        for line in said {
            let run = testing::run(Purpose::Main)
                .started(Some(0), "python3", ProgramClass::Listed)
                .stderr(line);
            let finding = excused(Finding::fail(RuleId::Startup, "ended"), refused_limit(&run));
            assert_eq!(finding.status, Status::Undecided);
            assert!(finding.summary.contains(line) && finding.help.contains("||:"), "{finding:?}");
        }
        // By no program that ran.
        for line in ["1: ulimit: bad number", said[2]] {
            assert!(refused_limit(&testing::run(Purpose::Main).stderr(line)).is_none());
        }
    }

    #[test]
    fn a_pseudo_terminal_that_no_entry_gets_here_leaves_a_start_open() {
        let wanted = |path: &str| {
            let mut run = testing::run(Purpose::Main).opened(path, false);
            run.opens[0].missing = true;
            no_terminal(&run).map(|excuse| excuse.why)
        };
        let why = wanted("/dev/ptmx").unwrap();
        assert!(why.starts_with("it wanted a pseudo-terminal (/dev/ptmx)"), "{why}");
        assert_eq!(wanted("/usr/lib/libm.so.6"), None);
    }

    #[test]
    fn a_part_of_python_is_missing_where_python_says_so() {
        let said = testing::run(Purpose::Main).stderr("No module named 'tkinter'");
        assert!(missing_part_of_python(&said).is_none(), "words alone");
        let excuse =
            missing_part_of_python(&said.started(Some(0), "python3", ProgramClass::Listed));
        assert!(excuse.unwrap().help.contains("apt-get install python3-tk"));
        let other = testing::run(Purpose::Main).stderr("No module named 'torch'");
        let other = other.started(Some(0), "python3", ProgramClass::Listed);
        assert!(missing_part_of_python(&other).is_none());
    }

    #[test]
    fn a_library_is_missing_where_a_program_of_the_host_has_looked_for_it() {
        let excuses = |run: &Run| missing_library(run, &testing::TestList).is_some();
        let said = |line: &str| testing::run(Purpose::Main).stderr(line);
        let listed = |run: Run, name: &str| run.started(Some(0), name, ProgramClass::Listed);
        let looked = |path: &str| {
            let mut run = said(
                "e: error while loading shared libraries: libm.so.6: cannot open shared object file",
            )
            .opened(path, false);
            run.opens[0].missing = true;
            run
        };
        let numpy = "ModuleNotFoundError: No module named 'numpy'";
        // Words alone, which a shell writes as well.
        assert!(!excuses(&said(numpy)));
        assert!(!excuses(&listed(said(numpy), "perl")));
        assert!(excuses(&listed(said(numpy), "python3")));
        let mut own = said(numpy).started(Some(0), "python3", ProgramClass::OwnProduct);
        assert!(!excuses(&own));
        // A script of the entry's own, read by the host's.
        own.execs[1].script = true;
        own.execs[1].real = Some("/usr/bin/pypy3.9".into());
        assert!(excuses(&own));
        assert!(excuses(&looked("/usr/lib/libm.so.6")));
        assert!(!excuses(&looked("/usr/lib/libdl.so.2")));
        assert!(!excuses(&looked("/tmp/libm.so.6")));
        let mut found = looked("/usr/lib/libm.so.6");
        found.opens[0].missing = false;
        assert!(!excuses(&found));
        // Of another start no missing files are recorded.
        found.purpose = Purpose::OtherShell;
        assert!(excuses(&found));
        // `TestList` knows the name by its part.
        let mut links = listed(said("/usr/bin/ld: cannot find -lnumpy"), "ld");
        assert!(!excuses(&links), "it has linked");
        links.execs[1].exit = Some(ExitHow::Status(1));
        assert!(excuses(&links));
    }

    #[test]
    fn a_listed_command_that_is_missing_excuses() {
        let host = testing::host();
        let run = testing::run(Purpose::Main).stderr("e: 2: pypy3: not found");
        assert!(missing_command(&run, &host).is_some());
        let mut run = testing::run(Purpose::Main);
        run.launch_failure = Some(LaunchFailure {
            errno: 2,
            what: "its interpreter `/usr/bin/pypy3` does not exist".into(),
        });
        assert!(missing_command(&run, &host).is_some());
        assert!(missing_command(&testing::run(Purpose::Main), &host).is_none());
    }

    #[test]
    fn an_interpreter_of_what_it_unpacked_that_is_missing_excuses_where_it_is_allowed() {
        let finding = |lacks: &str| {
            let mut run = testing::run(Purpose::Main).not_up().started(
                Some(0),
                "tmp.a",
                ProgramClass::OwnProduct,
            );
            run.execs[1].outcome = ExecOutcome::NotFound;
            run.execs[1].lacks = Some(lacks.into());
            excused(
                Finding::fail(RuleId::Startup, "ended"),
                missing_reader(&run, &testing::TestList),
            )
        };
        for lacks in ["/lib/ld-musl-x86_64.so.1", "/usr/bin/python3.13"] {
            assert_eq!(finding(lacks).status, Status::Undecided, "{lacks}");
        }
        assert_eq!(finding("/bin/ksh").status, Status::Fail);
    }

    #[test]
    fn an_allowed_library_that_is_older_here_excuses() {
        let said = "/tmp/x: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.43' not found (required by /tmp/x)";
        let run = testing::run(Purpose::Main).stderr(said);
        assert!(older_library(&run, &testing::TestList).is_none(), "words alone");
        let run = run.opened("/usr/lib/x86_64-linux-gnu/libc.so.6", false);
        let why = older_library(&run, &testing::TestList).unwrap().why;
        assert!(why.starts_with("it needs GLIBC_2.43 of libc.so.6,"), "{why}");
        let other = testing::run(Purpose::Main)
            .stderr("/tmp/x: /usr/lib/libchess.so.1: version `C_2' not found (required by /tmp/x)")
            .opened("/usr/lib/libchess.so.1", false);
        assert!(older_library(&other, &testing::TestList).is_none());
    }

    #[test]
    fn a_version_of_a_listed_command_that_is_missing_excuses() {
        let excuse = |name: &str| {
            let mut run = testing::run(Purpose::Main).not_up();
            run.not_installed.push(name.into());
            not_up(&run, &testing::host(), &testing::TestList).map(|excuse| excuse.why)
        };
        let why = excuse("python3.12").unwrap();
        assert!(why.starts_with("it asked for python3.12, a version of"), "{why}");
        assert_eq!(excuse("tail-5"), None);
        // Words alone, which an entry can write.
        let run =
            testing::run(Purpose::Main).stderr("env: 'python3.12': No such file or directory");
        assert!(missing_version(&run, &testing::TestList).is_none());
    }

    #[test]
    fn limits_that_are_too_low_may_be_why_an_entry_does_not_come_up() {
        let mut host = testing::host();
        let run = testing::run(Purpose::Main);
        assert!(broken_by_layer(&run, &host).is_none());
        host.lowered_limits.push("open files 8 in place of 4096".into());
        let excuse = broken_by_layer(&run, &host).unwrap();
        assert!(excuse.why.ends_with("open files 8 in place of 4096"), "{}", excuse.why);
        // An entry that starts all the same is accepted.
        let pass = excused(Finding::pass(RuleId::Startup, ""), Some(excuse));
        assert_eq!(pass.status, Status::Pass);
    }

    #[test]
    fn a_refused_write_below_tmp_is_the_hosts_only_without_a_mount_namespace() {
        let mut host = testing::host();
        let mut run = testing::run(Purpose::Main).opened("/tmp/x", true);
        run.opens[0].access = FileAccess::Write;
        assert!(broken_by_layer(&run, &host).is_none());
        host.layers.pop();
        assert!(broken_by_layer(&run, &host).is_some());
    }
}
