//! The sandbox on the real kernel: what holds, what is named, what is left.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gate4k::model::evidence::{Exec, ExecOutcome, ExitHow, ProgramClass, Resource, Shell};
use gate4k::policy::allowlist::Allowlist;
use gate4k::policy::decide::Strictness;
use gate4k::policy::toolchain::Toolchain;
use gate4k::sandbox::capability::Capability;
use gate4k::sandbox::plan::{Audit, Launcher, Staging, StartPlan};
use gate4k::sandbox::{Sandbox, time_of_all_entries};

use crate::needs::Need;
use crate::sandboxed::{Done, run_plan};
use crate::trials::Test;

pub(crate) fn sandbox(strictness: Strictness, namespaces: bool) -> Sandbox {
    let list = Arc::new(Allowlist::built_in().clone());
    let tools = Arc::new(Toolchain::discover(list, strictness));
    Sandbox::new(tools.host(namespaces), tools)
}

/// Runs a script with its input closed after `input`, and waits up to `patience` for all of it to end.
pub(crate) fn run_in(
    sandbox: &dyn Launcher,
    script: &str,
    shell: Shell,
    patience: Duration,
) -> Done {
    let plan = StartPlan {
        bytes: script.as_bytes().into(),
        staging: Staging::Neutral,
        shell,
        audit: Audit::Full,
    };
    run_plan(sandbox, &plan, patience, patience)
}

pub(crate) fn run(script: &str) -> Done {
    // Far longer than anything here takes on a busy host.
    run_in(&sandbox(Strictness::Tolerant, true), script, Shell::AsIs, Duration::from_secs(300))
}

/// A check kills entries in the middle of anything; what is in the middle of its exec then must not be taken for
/// another program.
fn a_program_that_is_killed_as_it_starts_is_still_itself() {
    let script = "#!/usr/bin/python3\n\
        import os, time\n\
        for i in range(400):\n\
        \x20   child = os.fork()\n\
        \x20   if child == 0:\n\
        \x20       os.execv('/usr/bin/sleep', ['sleep', '9'])\n\
        \x20   end = time.perf_counter() + i % 200 * 1e-5\n\
        \x20   while time.perf_counter() < end:\n\
        \x20       pass\n\
        \x20   os.kill(child, 9)\n\
        \x20   os.waitpid(child, 0)\n\
        print('all', flush=True)\n";
    // Half of such runs come upon it.
    for _ in 0..6 {
        let done = run(script);
        assert_eq!(done.out, "all\n", "{}", done.err);
        let refused: Vec<&Exec> =
            done.traces.execs.iter().filter(|e| e.class == ProgramClass::Refused).collect();
        assert!(refused.is_empty(), "{refused:#?}");
        assert!(done.traces.execs.iter().any(|exec| exec.name == "sleep"));
    }
}

/// Sound programs kill their children in the middle of anything, too: that leaves the record whole. (Of a child whose threads close each
/// other's descriptors it may not be known to what a killed one came.)
fn a_program_that_is_killed_as_it_opens_files_leaves_nothing_unrecorded() {
    let script = "#!/usr/bin/python3\n\
        import os, time\n\
        def opens():\n\
        \x20   while 1: os.close(os.open('/etc/passwd', 0))\n\
        for i in range(600):\n\
        \x20   child = os.fork()\n\
        \x20   if child == 0:\n\
        \x20       opens()\n\
        \x20   end = time.perf_counter() + 1e-3 + i % 200 * 1e-5\n\
        \x20   while time.perf_counter() < end:\n\
        \x20       pass\n\
        \x20   os.kill(child, 15 if i % 4 == 0 else 9)\n\
        \x20   os.waitpid(child, 0)\n\
        print('all', flush=True)\n";
    for namespaces in [true, false] {
        let sandbox = sandbox(Strictness::Tolerant, namespaces);
        let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(300));
        assert_eq!(done.out, "all\n", "{}", done.err);
        assert!(done.traces.opens.iter().any(|open| open.path == "/etc/passwd"));
        assert!(done.traces.refusals.is_empty(), "{:?}", done.traces.refusals);
    }
}

/// Each start of a program whose starter has many mappings takes the tracer long, and the youngest are shown to it first.
fn an_old_process_gets_on_among_young_ones_that_keep_the_tracer_busy() {
    let script = "#!/usr/bin/python3\n\
        import ctypes, os, time\n\
        c = ctypes.CDLL(None)\n\
        c.mmap.restype = ctypes.c_void_p\n\
        a = c.mmap(None, ctypes.c_size_t(40000 * 4096), 3, 34, -1, 0)\n\
        for i in range(0, 40000, 2): c.mprotect(ctypes.c_void_p(a + i * 4096), 4096, 1)\n\
        young = []\n\
        for i in range(4):\n\
        \x20   young.append(os.fork())\n\
        \x20   if young[-1] == 0:\n\
        \x20       while 1: c.execv(b'/work/none', None)\n\
        time.sleep(.5)\n\
        for i in range(5): os.close(os.open('/etc/passwd', 0))\n\
        for one in young: os.kill(one, 9); os.waitpid(one, 0)\n\
        print('on', flush=True)\n";
    let done = run(script);
    assert_eq!(done.out, "on\n", "{}", done.err);
}

fn a_start_has_the_namespaces_that_the_probe_promises() {
    let capability = Capability::probe();
    assert!(capability.landlock_abi >= 3, "{capability:?}");
    // In a process namespace of its own it is one of the first.
    let done = run("#!/bin/sh\necho $$\n");
    let pid: u32 = done.out.trim().parse().unwrap();
    assert_eq!(capability.namespaces.is_ok(), pid < 10, "{capability:?}: {pid}");
}

fn a_forbidden_program_is_refused_by_the_kernel_and_named() {
    let done = run("#!/bin/sh\nsed --version\necho on\n");
    assert_eq!(done.out, "on\n");
    let sed = done.exec("sed");
    assert_eq!((sed.outcome, sed.class), (ExecOutcome::Denied, ProgramClass::Refused));
    assert!(sed.asked.ends_with("/sed"));
}

fn a_program_that_is_not_installed_is_reported_by_name() {
    let done = run("#!/bin/sh\nno-such-command --version\necho on\n");
    assert_eq!(done.out, "on\n");
    assert_eq!(done.traces.not_installed, ["no-such-command"]);
}

fn the_rules_second_example_compiles_runs_and_cleans_up() {
    let done = run(
        "#!/bin/sh\nT=`mktemp`\necho 'int puts(const char*);int main(){puts(\"hello\");}'|cc -o $T -O3 -xc -\n(sleep 1;rm $T)&exec $T\n",
    );
    assert_eq!((done.out.as_str(), done.err.as_str()), ("hello\n", ""));
    assert_eq!(done.exit, Some(ExitHow::Status(0)));
    assert!(done.emptied);
    assert_eq!(done.files(), [""; 0]);
    for name in ["cc1", "as", "collect2", "ld"] {
        assert_eq!(done.exec(name).class, ProgramClass::Helper, "{name}");
    }
    assert_eq!(done.exec("cc").class, ProgramClass::Listed);
    assert_eq!(done.exec("rm").class, ProgramClass::Tolerated);
    let product = done.traces.execs.iter().find(|e| e.class == ProgramClass::OwnProduct).unwrap();
    assert!(product.product.as_ref().is_some_and(|p| p.size.0 > 1000 && p.sha256.len() == 64));
    let refused: Vec<_> = done
        .traces
        .execs
        .iter()
        .filter(|e| e.class == ProgramClass::Refused && e.outcome != ExecOutcome::NotFound)
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Every compiler, interpreter and packer that entries may use works inside, each in a test of its own.
fn commands_inside() -> Vec<Test> {
    const HELLO: &str = "int puts(const char*);int main(){puts(\"hello\");return 0;}";
    let cases = [
        ("cc", None, format!("T=`mktemp`;echo '{HELLO}'|cc -o $T -xc -;$T;rm $T")),
        ("gcc", None, format!("T=`mktemp`;echo '{HELLO}'|gcc -flto -O2 -o $T -xc -;$T;rm $T")),
        (
            "clang",
            Some(Need::Clang),
            format!("T=`mktemp`;echo '{HELLO}'|clang -o $T -xc -;$T;rm $T"),
        ),
        (
            "cplusplus",
            Some(Need::Cplusplus),
            "T=`mktemp`;echo '#include <iostream>
int main(){std::cout<<\"hello\"<<std::endl;}'|c++ -o $T -xc++ -;$T;rm $T"
                .into(),
        ),
        (
            "rustc",
            Some(Need::Rustc),
            "T=`mktemp`;echo 'fn main(){println!(\"hello\");}'|rustc -o $T -;$T;rm $T".into(),
        ),
        ("cargo", Some(Need::Rustc), "cargo --version >/dev/null && echo hello".into()),
        (
            "python3",
            Some(Need::Python3),
            "python3 -c 'import json,random,ctypes,ssl;print(\"hello\")'".into(),
        ),
        (
            "numpy",
            Some(Need::Numpy),
            "python3 -c 'import numpy;print(\"hello\" if numpy.arange(3).sum()==3 else 1)'".into(),
        ),
        ("pypy3", Some(Need::Pypy3), "pypy3 -c 'import json,random;print(\"hello\")'".into()),
        (
            "perl",
            Some(Need::PerlModules),
            "perl -MList::Util=sum -MPOSIX -MTime::HiRes -e 'print \"hello\\n\"'".into(),
        ),
        ("bash", Some(Need::Bash), "bash -c 'read -r x < <(echo hello);echo $x'".into()),
        ("xz", Some(Need::Xz), "echo hello|xz -9|xz -d".into()),
        ("lzma", Some(Need::Xz), "echo hello|lzma|lzma -d".into()),
        ("bzip2", Some(Need::Bzip2), "echo hello|bzip2|bzip2 -d".into()),
        ("gzip", None, "echo hello|gzip|gunzip".into()),
        ("zcat", None, "echo hello|gzip|zcat".into()),
        ("unxz", Some(Need::Xz), "echo hello|xz|unxz".into()),
        ("xzcat", Some(Need::Xz), "echo hello|xz|xzcat".into()),
        ("bunzip2", Some(Need::Bzip2), "echo hello|bzip2|bunzip2".into()),
        ("tail", None, "echo hello|tail -n 1|head -n 1".into()),
        ("env", None, "env echo hello >/dev/null;env sh -c 'echo hello'".into()),
    ];
    let test = |(name, need, script): (&str, Option<Need>, String)| {
        let module = concat!(module_path!(), "::works_inside");
        let needs: Vec<Need> = [Need::Landlock].into_iter().chain(need).collect();
        Test::new("slow", module, name, move || says_hello(&script)).needs(&needs)
    };
    cases.map(test).into()
}

fn says_hello(script: &str) {
    let sandbox = sandbox(Strictness::Tolerant, true);
    let patience = Duration::from_secs(300);
    let done = run_in(&sandbox, &format!("#!/bin/sh\n{script}\n"), Shell::AsIs, patience);
    assert_eq!(done.out, "hello\n", "{}\n{:#?}", done.err, done.traces.execs);
    assert_eq!(done.files(), [""; 0]);
}

fn a_daemon_is_seen_and_killed() {
    let sandbox = sandbox(Strictness::Tolerant, true);
    let script = "#!/bin/sh\n(python3 -c 'import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(1000)' >/dev/null 2>&1 </dev/null)\necho away\n";
    let plan = StartPlan {
        bytes: script.as_bytes().into(),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit: Audit::Full,
    };
    let done = run_plan(&sandbox, &plan, Duration::from_secs(300), Duration::from_secs(1));
    assert_eq!(done.out, "away\n");
    assert!(!done.emptied);
    assert!(done.left.iter().any(|left| left.command.starts_with("python3 -c")), "{:?}", done.left);
}

fn the_network_is_closed_and_the_attempt_is_named() {
    let done = run("#!/bin/sh\npython3 -c 'import socket\nsocket.socket()'\n");
    assert!(done.err.contains("Operation not permitted"), "{}", done.err);
    let what: Vec<_> = done.traces.denials.iter().map(|denial| denial.what.as_str()).collect();
    assert_eq!(what, ["socket(AF_INET, SOCK_STREAM)"]);
}

fn a_program_in_a_copy_or_by_the_loader_cannot_be_read_in() {
    let done = run(
        "#!/bin/sh\nT=`mktemp`\ntail -c +1 /usr/bin/sed >$T\nchmod +x $T\n$T --version\nrm $T\n/lib64/ld-linux-x86-64.so.2 /usr/bin/sed --version\n",
    );
    assert_eq!(done.out, "", "{}", done.err);
}

fn a_refused_mapping_is_told_with_its_size() {
    let done = run(
        "#!/bin/sh\npython3 -c 'import mmap\nmmap.mmap(-1,1<<38,flags=mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS)'\n",
    );
    let what: Vec<_> = done.traces.refusals.iter().map(|refusal| refusal.what.clone()).collect();
    assert!(
        matches!(what.as_slice(), [Resource::Memory(size)] if size.0 == 1 << 38),
        "{what:?} {}",
        done.err
    );
}

fn a_thousand_threads_are_allowed() {
    let done = run(
        "#!/bin/sh\npython3 -c 'import threading\nthreading.stack_size(65536)\ne=threading.Event()\nt=[threading.Thread(target=e.wait) for _ in range(1024)]\n[x.start() for x in t]\nprint(threading.active_count())\ne.set()'\n",
    );
    assert_eq!(done.out, "1025\n", "{}", done.err);
}

/// Those of the sandbox that the kernel counts with the entry's take none of its number.
fn an_entry_may_have_as_many_processes_as_is_said_and_no_more() {
    let script = "#!/usr/bin/python3\n\
        import os, time\n\
        children = []\n\
        try:\n\
        \x20   while 1:\n\
        \x20       child = os.fork()\n\
        \x20       if child == 0: time.sleep(900)\n\
        \x20       children.append(child)\n\
        except OSError: print(1 + len(children), flush=True)\n\
        for child in children: os.kill(child, 9)\n";
    let tools = Arc::new(Toolchain::discover(
        Arc::new(Allowlist::built_in().clone()),
        Strictness::Tolerant,
    ));
    let mut host = tools.host(true);
    host.tasks = 40;
    let sandbox = Sandbox::new(host, tools);
    let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(300));
    assert_eq!(done.out, "40\n", "{}", done.err);
    let refused: Vec<&Resource> = done.traces.refusals.iter().map(|one| &one.what).collect();
    assert_eq!(refused, [&Resource::Threads(40)]);
}

fn an_entry_takes_turns_in_the_shortest_slices() {
    // The fourth of `struct sched_attr`'s numbers of 64 bits is the slice (sched_setattr(2), Linux 6.12).
    let done = run(&format!(
        "#!/bin/sh\nT=`mktemp`\necho 'long syscall(long,...);int printf(const char*,...);\
         int main(){{unsigned long a[6]={{0}};long e=syscall({},0,a,48,0);printf(\"%ld %lu\",e,a[3]);}}'\
         |cc -o $T -xc -\n$T;rm $T\n",
        libc::SYS_sched_getattr
    ));
    // An older kernel has no slices of a process's own.
    let told = if kernel_is_at_least(6, 12) { "0 100000" } else { "0 0" };
    assert_eq!(done.out, told, "{}", done.err);
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = gate4k::sandbox::capability::kernel_release();
    let mut numbers =
        release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap()) >= (major, minor)
}

fn strict_refuses_what_is_only_tolerated() {
    let sandbox = sandbox(Strictness::Strict, true);
    let done = run_in(&sandbox, "#!/bin/sh\nrm -f x\n", Shell::AsIs, Duration::from_secs(300));
    assert_eq!(done.exec("rm").outcome, ExecOutcome::Denied);
    assert_eq!(done.exec("rm").class, ProgramClass::Refused);
}

fn both_shells_stand_for_sh() {
    let sandbox = sandbox(Strictness::Tolerant, true);
    let script =
        "#!/bin/sh\necho $BASH_VERSION | { read x; test -n \"$x\" && echo bash || echo dash; }\n";
    for (shell, expected) in [(Shell::Dash, "dash\n"), (Shell::Bash, "bash\n")] {
        let done = run_in(&sandbox, script, shell, Duration::from_secs(300));
        assert_eq!(done.out, expected, "{}", done.err);
    }
}

fn a_script_without_a_shebang_is_read_by_the_shell() {
    let done = run("\necho plain\n");
    assert_eq!(done.out, "plain\n");
    assert_eq!(done.traces.execs[0].outcome, ExecOutcome::Failed(8));
    assert!(done.traces.launch_failure.is_none());
}

fn an_entry_leads_nothing_and_may_come_to_lead() {
    for call in ["setpgid(0,0)", "setsid()"] {
        let script =
            format!("#!/usr/bin/python3\nimport os\nos.{call}\nprint(os.getpgrp()==os.getpid())\n");
        let done = run(&script);
        assert_eq!(done.out, "True\n", "{call}: {}", done.err);
    }
}

fn memory_of_its_own_that_will_not_run_is_no_command() {
    let done = run(
        "#!/usr/bin/python3\nimport os\nf=os.memfd_create('m')\nfor of in 'self',os.getpid():\n \
                    try:os.execv(f'/proc/{of}/fd/{f}',['x'])\n except OSError as e:print(e.errno)\n",
    );
    assert_eq!(done.out, "8\n8\n", "{}", done.err);
    let tried: Vec<&Exec> =
        done.traces.execs.iter().filter(|e| e.outcome == ExecOutcome::Failed(8)).collect();
    assert!(!tried.is_empty(), "{:#?}", done.traces.execs);
    assert!(tried.iter().all(|e| e.class == ProgramClass::OwnProduct), "{tried:#?}");
}

fn an_exec_that_fails_says_why() {
    let done = run("#!/bin/sh\r\necho x\r\n");
    let failure = done.traces.launch_failure.expect("no failure");
    assert!(failure.what.contains("carriage return"), "{}", failure.what);
    let done = run("#!/usr/bin/no-such-interpreter\n");
    let failure = done.traces.launch_failure.expect("no failure");
    assert!(failure.what.contains("/usr/bin/no-such-interpreter"), "{}", failure.what);
    let done = run("#!/usr/bin/sed -f\n");
    let failure = done.traces.launch_failure.expect("no failure");
    assert!(failure.what.contains("not allowed"), "{}", failure.what);
}

fn an_entry_that_stops_itself_stays_stopped_until_it_is_killed() {
    let sandbox = sandbox(Strictness::Tolerant, true);
    let script = "#!/bin/sh\nkill -STOP $$\necho on\n";
    let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_millis(700));
    assert_eq!((done.out.as_str(), done.exit), ("", None));
    assert_eq!(done.left.len(), 1);
}

fn without_namespaces_everything_mandatory_still_holds() {
    let sandbox = sandbox(Strictness::Tolerant, false);
    let script = "#!/bin/sh\nsed --version\nT=`mktemp`\necho 'int puts(const char*);int main(){puts(\"hello\");return 0;}'|cc -o $T -xc -\n$T;rm $T\n: >left\n: >/tmp/gate4k-must-not-appear\n";
    let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(300));
    assert_eq!(done.out, "hello\n", "{}", done.err);
    assert_eq!(done.exec("sed").outcome, ExecOutcome::Denied);
    assert_eq!(done.files(), ["./left"]);
    assert!(!std::path::Path::new("/tmp/gate4k-must-not-appear").exists());
    assert!(done.traces.execs.iter().any(|exec| exec.class == ProgramClass::OwnProduct));
}

fn input_reaches_the_entry() {
    let plan = StartPlan {
        bytes: b"#!/bin/sh\nread a\necho \"got $a\"\n".as_slice().into(),
        staging: Staging::Blank,
        shell: Shell::AsIs,
        audit: Audit::ProgramsOnly,
    };
    let (confined, pipes) = sandbox(Strictness::Tolerant, true).launch(&plan).unwrap();
    File::from(pipes.stdin).write_all(b"uci\n").unwrap();
    let mut out = String::new();
    File::from(pipes.stdout).read_to_string(&mut out).unwrap();
    assert_eq!(out, "got uci\n");
    assert!(confined.wait_empty(Instant::now() + Duration::from_secs(300)));
}

/// A stub's `(sleep 1;rm $T)&exec $T` makes the engine the parent of what tidies up.
fn a_signal_that_nobody_handles_interrupts_no_call() {
    let script = "#!/usr/bin/python3\nimport ctypes,os,signal,time\n\
        c=ctypes.CDLL(None)\ne=c.epoll_create1(0)\nb=ctypes.create_string_buffer(99)\n\
        def wait():\n if os.fork()==0:time.sleep(.3);os._exit(0)\n print(c.epoll_wait(e,b,1,900))\n\
        wait()\nsignal.signal(17,lambda *a:0)\nwait()\n";
    for namespaces in [true, false] {
        let sandbox = sandbox(Strictness::Tolerant, namespaces);
        let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(300));
        // The second one is handled, and does.
        let expected = if cfg!(target_arch = "x86_64") { "0\n-1\n" } else { "-1\n-1\n" };
        assert_eq!(done.out, expected, "{}", done.err);
    }
}

/// No matter who waits for them: other work on the host is the rest of its processors' time.
fn processes_that_nobody_waits_for_are_in_the_account_of_entries() {
    let before = time_of_all_entries();
    let done = run("( i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done ) &\nexit 0");
    assert!(done.emptied);
    let spent = time_of_all_entries() - before;
    assert!(spent >= Duration::from_millis(50), "{spent:?}");
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = commands_inside();
    all.extend(tests![
        slow a_program_that_is_killed_as_it_starts_is_still_itself [Landlock, Python3],
        slow a_program_that_is_killed_as_it_opens_files_leaves_nothing_unrecorded [Landlock, Python3],
        slow an_old_process_gets_on_among_young_ones_that_keep_the_tracer_busy [Landlock, Python3],
        quick a_start_has_the_namespaces_that_the_probe_promises [Landlock],
        quick a_forbidden_program_is_refused_by_the_kernel_and_named [Landlock],
        quick a_program_that_is_not_installed_is_reported_by_name [Landlock],
        quick the_rules_second_example_compiles_runs_and_cleans_up [Landlock],
        quick a_daemon_is_seen_and_killed [Landlock, Python3],
        quick processes_that_nobody_waits_for_are_in_the_account_of_entries [Landlock],
        quick the_network_is_closed_and_the_attempt_is_named [Landlock, Python3],
        quick a_program_in_a_copy_or_by_the_loader_cannot_be_read_in [Landlock],
        quick a_refused_mapping_is_told_with_its_size [Landlock, Python3],
        quick a_thousand_threads_are_allowed [Landlock, Python3],
        quick an_entry_may_have_as_many_processes_as_is_said_and_no_more [Landlock, Namespaces, Python3],
        quick an_entry_takes_turns_in_the_shortest_slices [Landlock],
        quick strict_refuses_what_is_only_tolerated [Landlock],
        quick both_shells_stand_for_sh [Landlock, Bash],
        quick a_script_without_a_shebang_is_read_by_the_shell [Landlock],
        quick an_entry_leads_nothing_and_may_come_to_lead [Landlock, Namespaces, Python3],
        quick memory_of_its_own_that_will_not_run_is_no_command [Landlock, Namespaces, Python3],
        quick an_exec_that_fails_says_why [Landlock],
        quick an_entry_that_stops_itself_stays_stopped_until_it_is_killed [Landlock],
        quick without_namespaces_everything_mandatory_still_holds [Landlock],
        quick a_signal_that_nobody_handles_interrupts_no_call [Landlock, Python3],
        quick input_reaches_the_entry [Landlock],
    ]);
    all
}
