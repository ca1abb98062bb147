//! Excuses: where something that this host lacks may be the reason of a failure, nothing is decided.

use serde_json::{Value, json};

use crate::model::command_words::base_name;
use crate::model::evidence::{
    Answer, Denial, HostFacts, Overcommit, ProgramClass, RecordPart, Refusal, Resource, Run,
};
use crate::model::layer_status::{LayerName, gap};
use crate::model::units::Bytes;
use crate::model::verdict::{Finding, Status};
use crate::model::words;

/// A reason why a failure may be this host's and not the entry's.
pub(crate) struct Excuse {
    /// True if the entry took more than the event allows: the failure stands, and this is why.
    over_limit: bool,
    /// In words, to stand after the failure's summary.
    pub(crate) why: String,
    /// The next step.
    pub(crate) help: String,
    /// The same for programs.
    pub(crate) evidence: Value,
}

impl Excuse {
    /// A failure that this host may be the reason of.
    pub(super) fn of_host(
        why: impl Into<String>,
        help: impl Into<String>,
        evidence: Value,
    ) -> Excuse {
        Excuse { over_limit: false, why: why.into(), help: help.into(), evidence }
    }
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
pub(super) fn gaps(host: &HostFacts) -> impl Iterator<Item = (LayerName, String)> {
    let mandatory = LayerName::ALL.into_iter().filter(|name| name.is_mandatory());
    mandatory.filter_map(|name| Some((name, gap(name, &host.layers)?)))
}

/// The kernel refused the run memory, threads or an instruction (docs/decisions/011), or the sandbox a call that no rule forbids.
pub(crate) fn refusal(run: &Run, host: &HostFacts) -> Option<Excuse> {
    // Engines ask for huge pages and take others where there are none: a move that is illegal afterwards comes of something else.
    let plainly_illegal = only_huge_pages(&run.refusals).is_some() && is_plainly_illegal(run);
    let refused = if plainly_illegal { None } else { refused(&run.refusals, host) };
    refused.or_else(|| refused_call(run))
}

/// True if the first thing that went wrong is a move that is written as one and is illegal.
fn is_plainly_illegal(run: &Run) -> bool {
    let first_fault = run.asks.iter().find(|ask| !ask.answer.is_good());
    let answer = first_fault.map(|ask| &ask.answer);
    matches!(answer, Some(Answer::Illegal { why, .. }) if !why.is_misspelt())
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

/// True of a socket by which processes on one machine speak to each other. Whether one of the internet would have led out of it (`127.0.0.1` does
/// not) is not known when it is made.
fn is_socket(name: &str) -> bool {
    ["socket(AF_UNIX", "socket(AF_INET"].iter().any(|family| name.starts_with(family))
}

/// The name of a refused call, the same for each table of system calls.
fn call_name(what: &str) -> String {
    what.strip_suffix(" (i386)").unwrap_or(what).to_owned()
}

/// True of the refusal of a call that no rule forbids, to a program of the entry's own or to an interpreter that runs it.
pub(crate) fn may_excuse(run: &Run, denial: &Denial) -> bool {
    let name = call_name(&denial.what);
    let runs_the_entry = run.exec(denial.by).is_none_or(|exec| match exec.class {
        ProgramClass::Entry | ProgramClass::OwnProduct => true,
        _ => INTERPRETERS.contains(&&*exec.name),
    });
    runs_the_entry && (OF_NO_RULE.contains(&&*name) || is_socket(&name))
}

/// The sandbox refused a call that no rule forbids to a program of the entry's own, or to an interpreter that runs it: of a tool of the
/// system, such as a compiler, the refusal is expected, and it does without.
fn refused_call(run: &Run) -> Option<Excuse> {
    if is_plainly_illegal(run) {
        return None;
    }
    let found: Vec<&Denial> = run.denials.iter().filter(|denial| may_excuse(run, denial)).collect();
    let mut names: Vec<String> = found.iter().map(|denial| call_name(&denial.what)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let listed = words::some(&names, 3);
    // Python 3.14 passes descriptors to a server of forks, unless it is told otherwise.
    let is_python = |by: usize| {
        let real = run.execs.get(by).and_then(|exec| exec.real.as_deref());
        real.is_some_and(|path| base_name(path).starts_with("py"))
    };
    let of_python =
        found.iter().any(|denial| denial.what == "sendmsg" && denial.by.is_some_and(is_python));
    let instead = if of_python {
        " (for multiprocessing: `multiprocessing.set_start_method(\"fork\")`)"
    } else {
        ""
    };
    Some(Excuse::of_host(
        format!("in the same run the sandbox refused it {listed}, which no rule forbids"),
        format!(
            "do without {listed}{instead}, which reaches beyond the entry's own processes and files, and check again; or \
             let the organisers see it play where nothing refuses that"
        ),
        json!({"refused_calls": names}),
    ))
}

/// The programs that run an entry's own text.
const INTERPRETERS: [&str; 7] = ["sh", "dash", "bash", "python3", "python", "pypy3", "perl"];

/// As [`refusal`], wherever the refusals were seen.
pub(crate) fn refused(refusals: &[Refusal], host: &HostFacts) -> Option<Excuse> {
    let mut asked: Vec<String> = Vec::new();
    let given_up = Resource::Unrecorded(RecordPart::Tracer);
    if refusals.iter().any(|refusal| refusal.what == given_up) {
        return Some(Excuse::of_host(
            format!("{}, so that nothing is known of this run", RecordPart::Tracer),
            "check again; if it happens again, report it with the entry",
            json!({"given_up": true}),
        ));
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
    let large = refusals.iter().find(|refusal| matches!(refusal.what, Resource::FileSize(_)));
    if let Some(large) = large {
        return Some(Excuse::of_host(
            format!("before, the sandbox refused it {}, which no rule forbids", large.what),
            "let processes share memory without a file (`mmap` with MAP_SHARED and MAP_ANONYMOUS, which has no such bound), or \
             let the organisers see it play where nothing refuses a file of that size",
            json!({"refused": asked}),
        ));
    }
    let still = refusals.iter().find_map(|refusal| match &refusal.what {
        Resource::StillTaking(size) => Some(size.human()),
        _ => None,
    });
    let has = format!("{} of memory and {} processors", host.memory.human(), host.cpus);
    Some(Excuse::of_host(
        match still {
            Some(size) => format!(
                "it still took memory when the time was over, {size} by then; this host has {has}"
            ),
            None => format!(
                "before, the kernel refused it {}; this host has {has}",
                words::some(&asked, 3)
            ),
        },
        help(refusals, host),
        json!({"refused": asked, "host": has}),
    ))
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
    /// Fewer processes and threads than an entry gets where the host's own limit is not low.
    const FEW: u32 = 512;
    if let Some(most) = only_huge_pages(refusals) {
        /// The size of a huge page on x86-64, and on aarch64 with pages of 4 KiB.
        const PAGE: u64 = 2 << 20;
        return format!(
            "`sysctl vm.nr_hugepages={}` sets them apart on this host (more where several of its processes want some); check again \
             then, or let the engine go on with ordinary pages where `mmap` fails",
            most.0.div_ceil(PAGE)
        );
    }
    let less = "or let the engine do with less: take smaller tables and fewer threads until the kernel grants them";
    let (mut images, mut maps, mut used): (Vec<Bytes>, Vec<Bytes>, Vec<Bytes>) = Default::default();
    for refusal in refusals {
        match refusal.what {
            Resource::Image(size) => images.push(size),
            Resource::Memory(size) => maps.push(size),
            Resource::Used(size) | Resource::StillTaking(size) => used.push(size),
            _ => {}
        }
    }
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
        let is_few = |refusal: &Refusal| matches!(refusal.what, Resource::Threads(n) if n < FEW);
        if refusals.iter().any(is_few) {
            return format!(
                "let the user that gate4k runs as have more processes (`ulimit -u`), or judge it on a host as big as the event's \
                 machine; {less}"
            );
        }
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

/// The largest mapping that was refused, where all that was refused are huge pages.
fn only_huge_pages(refusals: &[Refusal]) -> Option<Bytes> {
    let mut most = None;
    for refusal in refusals {
        match refusal.what {
            Resource::HugePages(size) => most = most.max(Some(size)),
            Resource::Unrecorded(_) => {}
            _ => return None,
        }
    }
    most
}

/// Mappings from this size on are those of `--lazy-memory`.
const LAZY_FROM: Bytes = Bytes(4 << 30);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{Denial, Purpose, Resource};
    use crate::model::layer_status::LayerState;
    use crate::model::rule::RuleId;

    #[test]
    fn a_refused_call_that_no_rule_forbids_leaves_a_failure_open() {
        let with = |by: Option<usize>, what: &str| {
            let mut run = testing::run(Purpose::Main)
                .started(Some(0), "cc", ProgramClass::Listed)
                .started(Some(0), "python3", ProgramClass::Listed);
            run.denials.push(Denial { by, what: what.into(), count: 1 });
            refusal(&run, &testing::host()).map(|excuse| excuse.why)
        };
        for by in [None, Some(0), Some(2)] {
            let why = with(by, "fcntl(a lock) (i386)").unwrap();
            assert!(why.contains("refused it fcntl(a lock), which no rule forbids"), "{why}");
        }
        let mut run = testing::run(Purpose::Main);
        run.denials.push(Denial { by: Some(0), what: "flock".into(), count: 1 });
        for (why, excuses) in [
            ("not written as in UCI: not two squares", true),
            ("illegal: the king stays in check", false),
        ] {
            run.asks[0].answer = testing::illegal("bestmove e2e5", why);
            assert_eq!(refusal(&run, &testing::host()).is_some(), excuses, "{why}");
        }
        let mut run = testing::run(Purpose::Main);
        run.execs[0].real = Some("/usr/bin/python3.14".into());
        run.denials.push(Denial { by: Some(0), what: "sendmsg".into(), count: 1 });
        let help = refusal(&run, &testing::host()).unwrap().help;
        assert!(help.contains("set_start_method"), "{help}");
        // A compiler locks files and does without.
        assert_eq!(with(Some(1), "flock"), None);
        let socket = with(Some(0), "socket(AF_INET, SOCK_STREAM)").unwrap();
        assert!(socket.contains("refused it socket(AF_INET, SOCK_STREAM), which"), "{socket}");
        assert_eq!(with(Some(0), "socket(AF_PACKET, SOCK_RAW)"), None);
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
    fn huge_pages_that_the_host_has_not_leave_a_death_open_and_no_illegal_move() {
        let mut run = testing::run(Purpose::Main).refused(Resource::HugePages(Bytes(5 << 20)));
        let excuse = refusal(&run, &testing::host()).unwrap();
        assert!(excuse.why.contains("5 MiB in huge pages (MAP_HUGETLB)"), "{}", excuse.why);
        assert!(excuse.help.contains("`sysctl vm.nr_hugepages=3`"), "{}", excuse.help);
        run.asks[0].answer = testing::illegal("bestmove e2e5", "illegal: the king stays in check");
        assert!(refusal(&run, &testing::host()).is_none());
        // Of ordinary memory the machine is to be as big as the event's.
        let more = run.refused(Resource::Memory(Bytes(256 << 30)));
        let help = refusal(&more, &testing::host()).unwrap().help;
        assert!(!help.contains("nr_hugepages"), "{help}");
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
}
