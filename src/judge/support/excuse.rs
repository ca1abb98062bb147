//! Excuses: where something that this host lacks may be the reason of a failure, nothing is decided.

use crate::judge::support::allowed::{Allowed, LibraryWord};
use crate::judge::support::{complaints, wording};
use std::path::Path;

use serde_json::{Value, json};

use crate::model::command_words::base_name;
use crate::model::evidence::{
    Answer, FileAccess, HostFacts, Overcommit, ProgramClass, RecordPart, Refusal, Resource, Run,
};
use crate::model::layer_status::{Layer, LayerName, LayerState};
use crate::model::units::Bytes;
use crate::model::verdict::{Finding, Status};

/// A reason why a failure may be this host's and not the entry's.
pub(crate) struct Excuse {
    /// True if the entry took more than the event allows: the failure stands, and this is why.
    pub(crate) over_limit: bool,
    /// In words, to stand after the failure's summary.
    pub(crate) why: String,
    /// The next step.
    pub(crate) help: String,
    /// The same for programs.
    pub(crate) evidence: Value,
}

/// Turns a failure into `undecided` where the host may be its reason; leaves everything else.
pub(crate) fn excused(mut finding: Finding, excuse: Option<Excuse>) -> Finding {
    let Some(excuse) = excuse.filter(|_| finding.status == Status::Fail) else {
        return finding;
    };
    if !excuse.over_limit {
        finding.status = Status::Undecided;
    }
    finding.summary = format!("{}; {}", finding.summary, excuse.why);
    finding.help = excuse.help;
    finding.with("host", excuse.evidence)
}

/// Turns `pass` and `advice` into `undecided` where one of `layers`, on which the rule leans, has a gap.
pub(crate) fn leaning_on(mut finding: Finding, host: &HostFacts, layers: &[LayerName]) -> Finding {
    let gaps: Vec<String> =
        gaps(host).filter(|(name, _)| layers.contains(name)).map(|(_, words)| words).collect();
    if gaps.is_empty() || !matches!(finding.status, Status::Pass | Status::Advice) {
        return finding;
    }
    finding.status = Status::Undecided;
    finding.summary = format!(
        "nothing wrong was seen, but this host could not watch it whole: {}",
        gaps.join("; ")
    );
    finding.help = "run `gate4k doctor` for what this host lacks and how to get it, or judge the \
                    entry on another host"
        .into();
    finding.with("layers", gaps)
}

/// The mandatory layers that are not whole, each in words. One that is not even reported is a gap, too.
fn gaps(host: &HostFacts) -> impl Iterator<Item = (LayerName, String)> {
    let mandatory = LayerName::ALL.into_iter().filter(|name| name.is_mandatory());
    mandatory.filter_map(|name| {
        let words = |layer: &Layer| match layer.state {
            LayerState::Enforced => None,
            state => Some(format!("{} is {}: {}", name.word(), state.word(), layer.reason)),
        };
        match host.layers.iter().find(|layer| layer.name == name) {
            Some(layer) => words(layer).map(|words| (name, words)),
            None => Some((name, format!("{} was not reported", name.word()))),
        }
    })
}

/// The kernel refused the run memory, threads or an instruction (docs/decisions/011), or the sandbox a call that no rule forbids.
pub(crate) fn refusal(run: &Run, host: &HostFacts) -> Option<Excuse> {
    refused(&run.refusals, host).or_else(|| refused_call(run))
}

/// Calls by which the processes of one entry may work together, or do faster what they can do without. No rule speaks of them, and the
/// event's machine may grant them; the sandbox refuses them, since they reach beyond the entry just as well.
const OF_NO_RULE: [&str; 34] = [
    "flock",
    "fcntl(a lock)",
    "fcntl(F_SETOWN)",
    "fcntl(F_SETLEASE)",
    "fcntl(F_NOTIFY)",
    "fcntl(F_SETPIPE_SZ)",
    "inotify_init",
    "inotify_init1",
    "ipc",
    "shmget",
    "shmat",
    "shmctl",
    "semget",
    "semop",
    "semtimedop",
    "semctl",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "mq_open",
    "mq_unlink",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "pidfd_getfd",
    "sendmsg",
    "sendmmsg",
    "vmsplice",
    "io_uring_setup",
    "io_setup",
    "userfaultfd",
    "memfd_secret",
    "seccomp",
];

/// The sandbox refused a call that no rule forbids to a program of the entry's own, or to an interpreter that runs it: of a tool of the
/// system, such as a compiler, the refusal is expected, and it does without.
fn refused_call(run: &Run) -> Option<Excuse> {
    // A move that is written as one and is illegal comes of no refusal.
    let first_fault = run.asks.iter().find(|ask| !ask.answer.is_good());
    if let Some(Answer::Illegal { why, .. }) = first_fault.map(|ask| &ask.answer)
        && !why.starts_with("not written as in UCI")
    {
        return None;
    }
    let runs_the_entry = |by: Option<usize>| {
        let exec = by.and_then(|index| run.execs.get(index));
        exec.is_none_or(|exec| match exec.class {
            ProgramClass::Entry | ProgramClass::OwnProduct => true,
            _ => INTERPRETERS.contains(&&*exec.name),
        })
    };
    let name = |what: &str| what.strip_suffix(" (i386)").unwrap_or(what).to_owned();
    let found = run.denials.iter().filter(|denial| runs_the_entry(denial.by));
    let mut names: Vec<String> = found.map(|denial| name(&denial.what)).collect();
    names.retain(|name| OF_NO_RULE.contains(&&**name));
    names.sort();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let listed = wording::list(&names, 3);
    Some(Excuse {
        over_limit: false,
        why: format!("in the same run the sandbox refused it {listed}, which no rule forbids"),
        help: format!(
            "do without {listed}, which reaches beyond the entry's own processes and files, and check again; or let the \
             organisers see it play where nothing refuses that"
        ),
        evidence: json!({"refused_calls": names}),
    })
}

/// The programs that run an entry's own text.
const INTERPRETERS: [&str; 7] = ["sh", "dash", "bash", "python3", "python", "pypy3", "perl"];

/// As [`refusal`], wherever the refusals were seen.
pub(crate) fn refused(refusals: &[Refusal], host: &HostFacts) -> Option<Excuse> {
    let mut asked: Vec<String> = Vec::new();
    let given_up = Resource::Unrecorded(RecordPart::Tracer);
    if refusals.iter().any(|refusal| refusal.what == given_up) {
        return Some(Excuse {
            over_limit: false,
            why: format!("{}, so that nothing is known of this run", RecordPart::Tracer),
            help: "check again; if it happens again, report it with the entry".into(),
            evidence: json!({"given_up": true}),
        });
    }
    // Any other record that is not whole excuses nothing.
    let by_kernel = |refusal: &&Refusal| !matches!(refusal.what, Resource::Unrecorded(_));
    for refusal in refusals.iter().filter(by_kernel) {
        let words = refusal.what.to_string();
        if !asked.contains(&words) {
            asked.push(words);
        }
    }
    if asked.is_empty() {
        return None;
    }
    if let Some(excess) = over_limit(refusals, host) {
        return Some(excess);
    }
    let still = refusals.iter().find_map(|refusal| match &refusal.what {
        Resource::StillTaking(size) => Some(size.human()),
        _ => None,
    });
    let has = format!("{} of memory and {} processors", host.memory.human(), host.cpus);
    Some(Excuse {
        over_limit: false,
        why: match still {
            Some(size) => format!(
                "it still took memory when the time was over, {size} by then; this host has {has}"
            ),
            None => format!(
                "before, the kernel refused it {}; this host has {has}",
                wording::list(&asked, 3)
            ),
        },
        help: help(refusals, host),
        evidence: json!({"refused": asked, "host": has}),
    })
}

/// True if the finding fails for using more memory than the event allows, which no other host changes.
pub(crate) fn is_over_limit(finding: &Finding) -> bool {
    let limit = finding.evidence.get("host").and_then(|host| host.get("memory_limit"));
    finding.status == Status::Fail && limit.is_some()
}

/// The reason of a failure where the entry was killed for using more memory than the event's own rule allows.
fn over_limit(refusals: &[Refusal], host: &HostFacts) -> Option<Excuse> {
    let limit = host.memory_limit?;
    let used = refusals.iter().find_map(|refusal| match refusal.what {
        Resource::Used(size) => Some(size),
        _ => None,
    })?;
    Some(Excuse {
        over_limit: true,
        why: format!(
            "it was killed with {} of memory in use at once, and this event allows {}",
            used.human(),
            limit.human()
        ),
        help: format!(
            "let the entry, with all programs that it starts and all files that it writes, do with {}",
            limit.human()
        ),
        evidence: json!({"memory_limit": limit, "used": used}),
    })
}

/// The next step that works on this host as it is set, else the machine that is needed.
fn help(refusals: &[Refusal], host: &HostFacts) -> String {
    let less = "or let the engine do with less: take smaller tables and fewer threads until the kernel grants them";
    let sizes = |of: fn(&Resource) -> Option<Bytes>| -> Vec<Bytes> {
        refusals.iter().filter_map(|refusal| of(&refusal.what)).collect()
    };
    let images = sizes(|what| match what {
        Resource::Image(size) => Some(*size),
        _ => None,
    });
    let maps = sizes(|what| match what {
        Resource::Memory(size) => Some(*size),
        _ => None,
    });
    let used = sizes(|what| match what {
        Resource::Used(size) | Resource::StillTaking(size) => Some(*size),
        _ => None,
    });
    if let Some(size) = used.iter().max() {
        return format!(
            "judge it on a machine with more memory than the {} that it used here ({} in all); {less}",
            size.human(),
            host.memory.human()
        );
    }
    if refusals.iter().any(|refusal| refusal.what == Resource::NoneLeft) {
        return format!(
            "judge it where nothing else uses memory (`free -h` shows what is left), or on a machine with more than \
             the {} of this one; {less}",
            host.memory.human()
        );
    }
    let Some(most) = images.iter().chain(&maps).max() else {
        return format!("judge it on a host as big as the event's machine; {less}");
    };
    let bigger = format!("judge it on a machine with more than {} of memory; {less}", most.human());
    // Reservations for smaller mappings `--lazy-memory` leaves to the kernel.
    let all_are_big = images.is_empty() && maps.iter().all(|size| *size >= LAZY_FROM);
    let step = match (host.overcommit, host.lazy_memory) {
        (Overcommit::Always, _) => {
            return format!(
                "`vm.overcommit_memory` is 1 here already, and it was refused all the same: {bigger}"
            );
        }
        (Overcommit::Heuristic, false) if all_are_big => {
            "`--lazy-memory` grants it on this host".to_owned()
        }
        (_, lazy) => {
            let why = match (host.overcommit, images.is_empty(), all_are_big) {
                (_, false, _) => {
                    "`--lazy-memory` cannot: it is the kernel that reserves it".to_owned()
                }
                (Overcommit::Never, ..) => "under the present 2 `--lazy-memory` cannot".to_owned(),
                (.., true) if lazy => "`--lazy-memory`, which is on, did not".to_owned(),
                _ => format!(
                    "`--lazy-memory` cannot: it is for mappings of {} or more",
                    LAZY_FROM.human()
                ),
            };
            format!("`sysctl vm.overcommit_memory=1` lets this host grant it ({why})")
        }
    };
    format!("where it touches little of it, {step}; else {bigger}")
}

/// Mappings from this size on are those of `--lazy-memory`.
const LAZY_FROM: Bytes = Bytes(4 << 30);

/// The run asked for a command of rule 7.5 that this host lacks.
pub(crate) fn missing_command(run: &Run, host: &HostFacts) -> Option<Excuse> {
    let named = complaints::not_found_names(&run.stderr_tail);
    let launch = run.launch_failure.as_ref().map(|failure| {
        failure
            .what
            .split(|c: char| c.is_whitespace() || "`'\"():,;".contains(c))
            .filter_map(|word| word.rsplit('/').next())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let name = host.missing_commands.iter().find(|name| {
        run.not_installed.contains(name)
            || named.contains(name)
            || launch.as_ref().is_some_and(|words| words.contains(name))
    })?;
    Some(Excuse {
        over_limit: false,
        why: format!("it asked for {name}, which is allowed and which this host does not have"),
        help: format!("install {name} (`gate4k doctor` names the package) and check again"),
        evidence: json!({"missing_command": name}),
    })
}

/// The run asked for a library that is allowed, and this host does not have it (for this interpreter).
pub(crate) fn missing_library(run: &Run, policy: &dyn Allowed) -> Option<Excuse> {
    let name = complaints::missing_modules(&run.stderr_tail)
        .into_iter()
        .find(|name| matches!(policy.library(name), LibraryWord::Allowed(_)))?;
    Some(Excuse {
        over_limit: false,
        why: format!(
            "it asked for {name}, which is allowed and which it did not find on this host"
        ),
        help: if name.contains(".so") {
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
        evidence: json!({"missing_library": name}),
    })
}

/// The run loaded a library that drives accelerators (7.6), and none is open to it.
fn no_accelerator(run: &Run, host: &HostFacts, policy: &dyn Allowed) -> Option<Excuse> {
    let devices = host.layers.iter().find(|layer| layer.name == LayerName::Devices)?;
    if devices.state != LayerState::Enforced {
        return None;
    }
    let loaded = run.opens.iter().find(|open| {
        !(open.own || open.denied || open.missing) && policy.drives_accelerators(&open.path)
    })?;
    let name = base_name(&loaded.path);
    Some(Excuse {
        over_limit: false,
        why: format!("it loaded {name}, which drives accelerators, and none is open to it here"),
        help: "check again with `--devices nvidia` or `--devices dri`, on a host that has the accelerator, or let it play without \
               one"
            .into(),
        evidence: json!({"no_accelerator": name}),
    })
}

/// A layer's gap that may itself have broken the entry: any mandatory one; limits that are too low;
/// and without a mount namespace a fixed path below /tmp cannot be made private, so that writing
/// there is refused.
pub(crate) fn broken_by_layer(run: &Run, host: &HostFacts) -> Option<Excuse> {
    if let Some((_, words)) = gaps(host).next() {
        return Some(Excuse {
            over_limit: false,
            why: format!("but on this host {words}"),
            help: "run `gate4k doctor` for the fix, and check again".into(),
            evidence: json!({"layer": words}),
        });
    }
    if !host.lowered_limits.is_empty() {
        let lowered = host.lowered_limits.join(", ");
        return Some(Excuse {
            over_limit: false,
            why: format!("but its limits are lower here than they should be: {lowered}"),
            help: "raise them where gate4k is started (`ulimit`; LimitNOFILE= and its like in a systemd \
                   unit), and check again"
                .into(),
            evidence: json!({"lowered_limits": host.lowered_limits}),
        });
    }
    let mount = host.layers.iter().find(|layer| layer.name == LayerName::Mount);
    let path = run.opens.iter().find(|open| {
        open.denied
            && open.access == FileAccess::Write
            && ["/tmp", "/var/tmp", "/dev/shm"]
                .iter()
                .any(|root| Path::new(&open.path).starts_with(root))
    })?;
    (mount.is_none_or(|layer| layer.state != LayerState::Enforced)).then(|| Excuse {
        over_limit: false,
        why: format!(
            "it wrote to {}, which this host cannot make private without a mount namespace",
            path.path
        ),
        help: "allow unprivileged user namespaces (`gate4k doctor` says how) and check again"
            .into(),
        evidence: json!({"denied_write": path.path}),
    })
}

/// Everything of the host that may be why the run did not come up.
pub(crate) fn not_up(run: &Run, host: &HostFacts, policy: &dyn Allowed) -> Option<Excuse> {
    refusal(run, host)
        .or_else(|| missing_command(run, host))
        .or_else(|| missing_library(run, policy))
        .or_else(|| no_accelerator(run, host, policy))
        .or_else(|| lacking_processor(run))
        .or_else(|| refused_limit(run))
        .or_else(|| broken_by_layer(run, host))
}

/// The run wanted a higher limit (`ulimit`) than an entry gets here; the event's machine may have granted it.
fn refused_limit(run: &Run) -> Option<Excuse> {
    let line = complaints::refused_limit(&run.stderr_tail)?;
    let said = wording::shorten(line, 160);
    Some(Excuse {
        over_limit: false,
        why: format!("it wanted a higher limit of resources than an entry gets here: `{said}`"),
        help: "leave the limit as it is, or go on where it cannot be raised (`ulimit -s unlimited||:`, in Python `try:`)"
            .into(),
        evidence: json!({"refused": ["a higher limit of resources"], "said": said}),
    })
}

/// The run compiles for the processor that it finds, and this one has not the instructions that its source names.
fn lacking_processor(run: &Run) -> Option<Excuse> {
    let native = run.execs.iter().any(|exec| exec.argv.iter().any(|word| word == "-march=native"));
    (native && complaints::lacks_instruction(&run.stderr_tail)).then(|| Excuse {
        over_limit: false,
        why: "it compiles for the processor that it finds (-march=native), and this host's lacks an instruction that it \
              names"
            .into(),
        help: "judge it on a host with a processor as that of the event's machine".into(),
        evidence: json!({"refused": ["an instruction that this processor lacks"]}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::Build;
    use crate::model::evidence::{Denial, LaunchFailure, Purpose, Resource};
    use crate::model::rule::RuleId;

    #[test]
    fn a_refused_call_that_no_rule_forbids_leaves_a_failure_open() {
        let with = |by: Option<usize>, what: &str| {
            let mut run = testing::run(Purpose::Main)
                .exec(Some(0), "cc", ProgramClass::Listed)
                .exec(Some(0), "python3", ProgramClass::Listed);
            run.denials.push(Denial { by, what: what.into(), count: 1 });
            refusal(&run, &testing::host()).map(|excuse| excuse.why)
        };
        for by in [None, Some(0), Some(2)] {
            let why = with(by, "fcntl(a lock) (i386)").unwrap();
            assert!(why.contains("refused it fcntl(a lock), which no rule forbids"), "{why}");
        }
        let mut run = testing::run(Purpose::Main);
        run.denials.push(Denial { by: Some(0), what: "flock".into(), count: 1 });
        for (why, excuses) in [("not written as in UCI", true), ("the king is in check", false)] {
            let line = "bestmove e2e5".to_owned();
            run.asks[0].answer = Answer::Illegal { line, why: why.into() };
            assert_eq!(refusal(&run, &testing::host()).is_some(), excuses, "{why}");
        }
        // A compiler locks files and does without; the net is of no use to a sound entry.
        assert_eq!(with(Some(1), "flock"), None);
        assert_eq!(with(Some(0), "socket(AF_INET, SOCK_STREAM)"), None);
    }

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
    fn a_refused_mapping_is_told_with_its_figures() {
        let run = testing::run(Purpose::Main).refused(Resource::Memory(Bytes(256 << 30)));
        let finding =
            excused(Finding::fail(RuleId::UciGo, "no bestmove"), refusal(&run, &testing::host()));
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.summary.contains("a mapping of 256 GiB"));
        assert!(finding.summary.contains("8 GiB of memory and 2 processors"));
    }

    #[test]
    fn a_source_for_another_processor_is_excused_where_it_compiles_for_the_one_it_finds() {
        let said = "x.h:39:1: error: inlining failed in call to ‘always_inline’ ‘_pext_u64’: target specific option mismatch";
        let run = |argument: &str| {
            let mut run = testing::run(Purpose::Main)
                .exec(Some(0), "cc", crate::model::evidence::ProgramClass::Listed)
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
            let run = testing::run(Purpose::Main).stderr(line);
            let finding = excused(Finding::fail(RuleId::Startup, "ended"), refused_limit(&run));
            assert_eq!(finding.status, Status::Undecided);
            assert!(finding.summary.contains(line) && finding.help.contains("||:"), "{finding:?}");
        }
        assert!(
            refused_limit(&testing::run(Purpose::Main).stderr("1: ulimit: bad number")).is_none()
        );
    }

    #[test]
    fn the_next_step_is_one_that_works_here() {
        let mut host = testing::host();
        let step = |what, host: &HostFacts| {
            refusal(&testing::run(Purpose::Main).refused(what), host).unwrap().help
        };
        let big = Bytes(256 << 30);
        assert!(step(Resource::Memory(big), &host).contains("`--lazy-memory` grants it"));
        let many = testing::run(Purpose::Main)
            .refused(Resource::Memory(big))
            .refused(Resource::Memory(Bytes(3 << 30)));
        let many = refusal(&many, &host).unwrap().help;
        assert!(
            many.contains("overcommit_memory=1` lets") && many.contains("4 GiB or more"),
            "{many}"
        );
        assert!(step(Resource::Image(big), &host).contains("`--lazy-memory` cannot"));
        assert!(step(Resource::Used(big), &host).contains("more memory than the 256 GiB"));
        let none_left = step(Resource::NoneLeft, &host);
        assert!(none_left.contains("more than the 8 GiB of this one"), "{none_left}");
        assert!(!step(Resource::Memory(Bytes(1 << 30)), &host).contains("lazy-memory` grants"));
        let run = testing::run(Purpose::Main).refused(Resource::StillTaking(big));
        let late = excused(Finding::fail(RuleId::Startup, "no uciok"), refusal(&run, &host));
        assert_eq!(late.status, Status::Undecided);
        assert!(
            late.summary
                .ends_with("256 GiB by then; this host has 8 GiB of memory and 2 processors")
        );
        host.overcommit = Overcommit::Never;
        assert!(step(Resource::Memory(big), &host).contains("vm.overcommit_memory=1"));
        // A limit that is set already is no step.
        host.overcommit = Overcommit::Always;
        for what in [Resource::Memory(big), Resource::Image(big)] {
            let step = step(what, &host);
            assert!(!step.contains("overcommit_memory=1`") && !step.contains("lazy"), "{step}");
            assert!(step.contains("a machine with more than 256 GiB"), "{step}");
        }
        (host.overcommit, host.lazy_memory) = (Overcommit::Heuristic, true);
        let step = step(Resource::Memory(big), &host);
        assert!(
            step.contains("overcommit_memory=1` lets") && step.contains("which is on"),
            "{step}"
        );
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
    fn a_gap_opens_what_would_have_passed_and_nothing_else() {
        let mut host = testing::host();
        host.layers[0].state = LayerState::Absent;
        host.layers[0].reason = "the kernel has no Landlock".into();
        let lean = |finding| leaning_on(finding, &host, &[LayerName::Landlock]).status;
        assert_eq!(lean(Finding::pass(RuleId::Commands, "")), Status::Undecided);
        assert_eq!(lean(Finding::fail(RuleId::Commands, "")), Status::Fail);
        let other = leaning_on(Finding::pass(RuleId::Commands, ""), &host, &[LayerName::Seccomp]);
        assert_eq!(other.status, Status::Pass);
        host.layers.clear();
        assert_eq!(gaps(&host).count(), 6);
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
