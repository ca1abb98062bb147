//! The sandbox on the real kernel: what holds, what is named, what is left.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gate4k::model::evidence::{Exec, ExecOutcome, ExitHow, ProgramClass, Resource, Shell};
use gate4k::policy::allowlist::Allowlist;
use gate4k::policy::decide::Strictness;
use gate4k::policy::toolchain::Toolchain;
use gate4k::sandbox::Sandbox;
use gate4k::sandbox::capability::Capability;
use gate4k::sandbox::plan::{Audit, Launcher, Plan, Staging, Traces};

fn sandbox(strictness: Strictness, namespaces: bool) -> Sandbox {
    let list = Arc::new(Allowlist::built_in().clone());
    let tools = Arc::new(Toolchain::discover(list, strictness));
    Sandbox::new(tools.host(namespaces), tools)
}

struct Done {
    out: String,
    err: String,
    exit: Option<ExitHow>,
    emptied: bool,
    left: Vec<String>,
    traces: Traces,
}

impl Done {
    fn exec(&self, name: &str) -> &Exec {
        // What is not in the first directories of PATH was asked for there in vain.
        let mut execs = self.traces.execs.iter();
        let found = execs.find(|e| e.name == name && e.outcome != ExecOutcome::NotFound);
        found.unwrap_or_else(|| panic!("no exec of {name}: {:#?}", self.traces.execs))
    }

    fn files(&self) -> Vec<&str> {
        self.traces.left_files.iter().map(|file| file.path.as_str()).collect()
    }
}

/// Runs a script with its input closed after `input`, and waits up to `patience` for all of it to end.
fn run_in(sandbox: &dyn Launcher, script: &str, shell: Shell, patience: Duration) -> Done {
    let plan = Plan {
        bytes: script.as_bytes().into(),
        staging: Staging::Neutral,
        shell,
        audit: Audit::Full,
    };
    run_plan(sandbox, &plan, patience)
}

fn run_plan(sandbox: &dyn Launcher, plan: &Plan, patience: Duration) -> Done {
    let (confined, pipes) = sandbox.launch(plan).expect("the sandbox starts");
    drop(pipes.stdin);
    let deadline = Instant::now() + patience;
    let reader = |fd| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = File::from(fd).read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let (out, err) = (reader(pipes.stdout), reader(pipes.stderr));
    let exit = confined.wait_first(deadline);
    let emptied = confined.wait_empty(deadline);
    let left = confined.processes().into_iter().map(|process| process.command).collect();
    let traces = confined.close();
    Done { out: out.join().unwrap(), err: err.join().unwrap(), exit, emptied, left, traces }
}

fn run(script: &str) -> Done {
    run_in(&sandbox(Strictness::Tolerant, true), script, Shell::AsIs, Duration::from_secs(20))
}

/// A check kills entries in the middle of anything; what is in the middle of its exec then must not be taken for
/// another program.
#[test]
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
    if !std::path::Path::new("/usr/bin/python3").exists() {
        println!("skipped: programs that are killed as they start: /usr/bin/python3 is not here");
        return;
    }
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

#[test]
fn this_host_can_make_namespaces() {
    let capability = Capability::probe();
    assert!(capability.landlock_abi >= 3, "{capability:?}");
    assert_eq!(capability.namespaces, Ok(()), "{capability:?}");
}

#[test]
fn a_forbidden_program_is_refused_by_the_kernel_and_named() {
    let done = run("#!/bin/sh\nsed --version\necho on\n");
    assert_eq!(done.out, "on\n");
    let sed = done.exec("sed");
    assert_eq!((sed.outcome, sed.class), (ExecOutcome::Denied, ProgramClass::Refused));
    assert!(sed.asked.ends_with("/sed"));
}

#[test]
fn a_program_that_is_not_installed_is_reported_by_name() {
    let done = run("#!/bin/sh\nno-such-command --version\necho on\n");
    assert_eq!(done.out, "on\n");
    assert_eq!(done.traces.not_installed, ["no-such-command"]);
}

#[test]
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

#[test]
fn every_allowed_compiler_and_interpreter_works_inside() {
    let hello = "int puts(const char*);int main(){puts(\"hello\");return 0;}";
    let cases = [
        ("cc", format!("T=`mktemp`;echo '{hello}'|cc -o $T -xc -;$T;rm $T")),
        ("gcc", format!("T=`mktemp`;echo '{hello}'|gcc -flto -O2 -o $T -xc -;$T;rm $T")),
        ("clang", format!("T=`mktemp`;echo '{hello}'|clang -o $T -xc -;$T;rm $T")),
        (
            "c++",
            "T=`mktemp`;echo '#include <iostream>
int main(){std::cout<<\"hello\"<<std::endl;}'|c++ -o $T -xc++ -;$T;rm $T"
                .into(),
        ),
        (
            "rustc",
            "T=`mktemp`;echo 'fn main(){println!(\"hello\");}'|rustc -o $T -;$T;rm $T".into(),
        ),
        ("cargo", "cargo --version >/dev/null && echo hello".into()),
        ("python3", "python3 -c 'import json,random,ctypes,ssl;print(\"hello\")'".into()),
        (
            "python3",
            "python3 -c 'import numpy;print(\"hello\" if numpy.arange(3).sum()==3 else 1)'".into(),
        ),
        ("pypy3", "pypy3 -c 'import json,random;print(\"hello\")'".into()),
        ("perl", "perl -MList::Util=sum -MPOSIX -MTime::HiRes -e 'print \"hello\\n\"'".into()),
        ("bash", "bash -c 'read -r x < <(echo hello);echo $x'".into()),
        ("xz", "echo hello|xz -9|xz -d".into()),
        ("lzma", "echo hello|lzma|lzma -d".into()),
        ("bzip2", "echo hello|bzip2|bzip2 -d".into()),
        ("gzip", "echo hello|gzip|gunzip".into()),
        ("zcat", "echo hello|gzip|zcat".into()),
        ("unxz", "echo hello|xz|unxz".into()),
        ("tail", "echo hello|tail -n 1|head -n 1".into()),
        ("env", "env echo hello >/dev/null;env sh -c 'echo hello'".into()),
    ];
    let sandbox = sandbox(Strictness::Tolerant, true);
    for (name, script) in cases {
        let installed = std::process::Command::new("sh")
            .args(["-c", &format!("command -v {name}")])
            .output()
            .is_ok_and(|out| out.status.success());
        if !installed {
            println!("skipped: {name} is not installed here");
            continue;
        }
        let done = run_in(
            &sandbox,
            &format!("#!/bin/sh\n{script}\n"),
            Shell::AsIs,
            Duration::from_secs(60),
        );
        assert_eq!(done.out, "hello\n", "{name}: {}\n{:#?}", done.err, done.traces.execs);
        assert_eq!(done.files(), [""; 0], "{name}");
    }
}

#[test]
fn what_is_left_is_found_with_its_maker_wherever_it_lies() {
    let done = run(
        "#!/bin/sh\n: >/tmp/.a\n: >/var/tmp/b\n: >/dev/shm/c\n: >$HOME/d\n: >e\nmktemp -d >/dev/null\n",
    );
    let files = done.files();
    assert_eq!(files[..2], ["/work/e", "/home/entry/d"]);
    assert_eq!(files[2], "/tmp/.a");
    assert!(files[3].starts_with("/tmp/tmp."));
    assert_eq!(files[4..], ["/var/tmp/b", "/dev/shm/c"]);
    assert_eq!(done.traces.left_files[3].kind, "directory");
    assert_eq!(done.traces.left_files[3].made_by.as_deref(), Some("mktemp"));
}

#[test]
fn a_daemon_is_seen_and_killed() {
    let sandbox = sandbox(Strictness::Tolerant, true);
    let script = "#!/bin/sh\n(python3 -c 'import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(1000)' >/dev/null 2>&1 </dev/null)\necho away\n";
    let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(2));
    assert_eq!(done.out, "away\n");
    assert!(!done.emptied);
    assert!(done.left.iter().any(|line| line.starts_with("python3 -c")), "{:?}", done.left);
}

#[test]
fn the_network_is_closed_and_the_attempt_is_named() {
    let done = run("#!/bin/sh\npython3 -c 'import socket\nsocket.socket()'\n");
    assert!(done.err.contains("Operation not permitted"), "{}", done.err);
    let what: Vec<_> = done.traces.denials.iter().map(|denial| denial.what.as_str()).collect();
    assert_eq!(what, ["socket(AF_INET, SOCK_STREAM)"]);
}

#[test]
fn secrets_and_chess_libraries_of_the_host_cannot_be_read() {
    let done = run(
        "#!/bin/sh\nread x </etc/shadow && echo $x\nread x </root/.bashrc && echo $x\npython3 -c 'import yaml'\n",
    );
    assert_eq!(done.out, "");
}

#[test]
fn a_program_in_a_copy_or_by_the_loader_cannot_be_read_in() {
    let done = run(
        "#!/bin/sh\nT=`mktemp`\ntail -c +1 /usr/bin/sed >$T\nchmod +x $T\n$T --version\nrm $T\n/lib64/ld-linux-x86-64.so.2 /usr/bin/sed --version\n",
    );
    assert_eq!(done.out, "", "{}", done.err);
}

#[test]
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

#[test]
fn a_thousand_threads_are_allowed() {
    let done = run(
        "#!/bin/sh\npython3 -c 'import threading\nthreading.stack_size(65536)\ne=threading.Event()\nt=[threading.Thread(target=e.wait) for _ in range(1024)]\n[x.start() for x in t]\nprint(threading.active_count())\ne.set()'\n",
    );
    assert_eq!(done.out, "1025\n", "{}", done.err);
}

#[test]
fn an_entry_takes_turns_in_the_shortest_slices() {
    // The fourth of `struct sched_attr`'s numbers of 64 bits is the slice (sched_setattr(2), Linux 6.12).
    let done = run(&format!(
        "#!/bin/sh\nT=`mktemp`\necho 'long syscall(long,...);int printf(const char*,...);\
         int main(){{unsigned long a[6]={{0}};long e=syscall({},0,a,48,0);printf(\"%ld %lu\",e,a[3]);}}'\
         |cc -o $T -xc -\n$T;rm $T\n",
        libc::SYS_sched_getattr
    ));
    match done.out.as_str() {
        "0 0" => eprintln!("skipped: this kernel has no slices of a process's own (Linux 6.12)"),
        told => assert_eq!(told, "0 100000", "{}", done.err),
    }
}

#[test]
fn strict_refuses_what_is_only_tolerated() {
    let sandbox = sandbox(Strictness::Strict, true);
    let done = run_in(&sandbox, "#!/bin/sh\nrm -f x\n", Shell::AsIs, Duration::from_secs(10));
    assert_eq!(done.exec("rm").outcome, ExecOutcome::Denied);
    assert_eq!(done.exec("rm").class, ProgramClass::Refused);
}

#[test]
fn both_shells_stand_for_sh() {
    let sandbox = sandbox(Strictness::Tolerant, true);
    let script =
        "#!/bin/sh\necho $BASH_VERSION | { read x; test -n \"$x\" && echo bash || echo dash; }\n";
    for (shell, expected) in [(Shell::Dash, "dash\n"), (Shell::Bash, "bash\n")] {
        let done = run_in(&sandbox, script, shell, Duration::from_secs(10));
        assert_eq!(done.out, expected, "{}", done.err);
    }
}

#[test]
fn a_script_without_a_shebang_is_read_by_the_shell() {
    let done = run("\necho plain\n");
    assert_eq!(done.out, "plain\n");
    assert_eq!(done.traces.execs[0].outcome, ExecOutcome::Failed(8));
    assert!(done.traces.launch_failure.is_none());
}

#[test]
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

#[test]
fn an_entry_that_stops_itself_stays_stopped_until_it_is_killed() {
    let sandbox = sandbox(Strictness::Tolerant, true);
    let script = "#!/bin/sh\nkill -STOP $$\necho on\n";
    let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_millis(700));
    assert_eq!((done.out.as_str(), done.exit), ("", None));
    assert_eq!(done.left.len(), 1);
}

#[test]
fn without_namespaces_everything_mandatory_still_holds() {
    let sandbox = sandbox(Strictness::Tolerant, false);
    let script = "#!/bin/sh\nsed --version\nT=`mktemp`\necho 'int puts(const char*);int main(){puts(\"hello\");return 0;}'|cc -o $T -xc -\n$T;rm $T\n: >left\n: >/tmp/gate4k-must-not-appear\n";
    let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(20));
    assert_eq!(done.out, "hello\n", "{}", done.err);
    assert_eq!(done.exec("sed").outcome, ExecOutcome::Denied);
    assert_eq!(done.files(), ["./left"]);
    assert!(!std::path::Path::new("/tmp/gate4k-must-not-appear").exists());
    assert!(done.traces.execs.iter().any(|exec| exec.class == ProgramClass::OwnProduct));
}

#[test]
fn input_reaches_the_entry() {
    let plan = Plan {
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
    assert!(confined.wait_empty(Instant::now() + Duration::from_secs(10)));
}
