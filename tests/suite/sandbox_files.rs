//! Files of an entry in the sandbox: where it may write, what is left, and what it may not read.

use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use gate4k::model::evidence::Shell;
use gate4k::policy::decide::Strictness;
use gate4k::sandbox::plan::{Audit, Launcher, Staging, StartPlan};

use crate::sandbox::{run, run_in, sandbox};
use crate::trials::Test;

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

/// Its own file stays as it is where the sandbox can see to that; elsewhere a file that was changed is one that remains.
fn beside_the_entry_may_be_written_and_nothing_may_remain() {
    let script = "#!/bin/sh\n: >$0.y\n: >$0.x\nrm $0.x\nrm -f $0\necho other >$0\n";
    for namespaces in [true, false] {
        let sandbox = sandbox(Strictness::Tolerant, namespaces);
        let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(300));
        let own = std::path::Path::new(&done.traces.execs[0].asked);
        let name = own.file_name().unwrap().to_str().unwrap();
        if namespaces {
            assert_eq!(done.files(), [format!("/entry/{name}.y")]);
        } else {
            let changed = format!("${{0%/*}}/{name}");
            assert_eq!(done.files(), [changed.clone(), format!("{changed}.y")]);
        }
    }
}

/// An entry that saves what it has learnt does so at its quit, when only programs and libraries are watched.
fn a_write_that_is_refused_after_the_start_is_named() {
    let plan = StartPlan {
        bytes: b"#!/bin/sh\nread a\necho more >>\"$0\"\necho on\n".as_slice().into(),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit: Audit::Full,
    };
    let (confined, pipes) = sandbox(Strictness::Tolerant, true).launch(&plan).unwrap();
    confined.start_is_over();
    File::from(pipes.stdin).write_all(b"quit\n").unwrap();
    let mut out = String::new();
    File::from(pipes.stdout).read_to_string(&mut out).unwrap();
    assert_eq!(out, "on\n");
    let traces = confined.close();
    // The shell may have opened its script for reading before the start was over; that is on record as well.
    let own = &traces.execs[0].asked;
    assert!(
        traces.opens.iter().any(|open| open.path == *own && open.denied),
        "{:#?}",
        traces.opens
    );
}

/// As where an open has failed, and nobody has looked.
fn a_lock_of_no_file_fails_as_it_does_outside() {
    let script = "#!/usr/bin/perl\nopen(A, '<', '/etc/passwd');my $n = fileno A;close A;\n\
                  for $f (-1, $n, 2147483647) { $! = 0; print syscall(NUMBER, $f, 2), \" $!\\n\" }\n";
    let script = script.replace("NUMBER", &libc::SYS_flock.to_string());
    let done = run(&script);
    assert_eq!(done.out, "-1 Bad file descriptor\n".repeat(3), "{}", done.err);
}

/// Outside, who starts it is the owner of the pipes; here that may be root, and the entry is not.
fn an_entry_opens_its_own_streams_by_their_paths() {
    let script = b"#!/bin/sh\nread a </proc/self/fd/0\necho \"got $a\" >/proc/self/fd/1\necho oops 1<>/proc/self/fd/2\n";
    for namespaces in [true, false] {
        let plan = StartPlan {
            bytes: script.as_slice().into(),
            staging: Staging::Neutral,
            shell: Shell::AsIs,
            audit: Audit::ProgramsOnly,
        };
        let (confined, pipes) = sandbox(Strictness::Tolerant, namespaces).launch(&plan).unwrap();
        File::from(pipes.stdin).write_all(b"uci\n").unwrap();
        let (mut out, mut err) = (String::new(), String::new());
        File::from(pipes.stdout).read_to_string(&mut out).unwrap();
        File::from(pipes.stderr).read_to_string(&mut err).unwrap();
        assert_eq!((out.as_str(), err.as_str()), ("got uci\n", "oops\n"));
        assert!(confined.wait_empty(Instant::now() + Duration::from_secs(300)));
    }
}

/// True if a descriptor of this process may be written to.
fn is_written(fd: i32) -> bool {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & 3 != 0)
}

/// A program that others' children hold open for writing is not started (ETXTBSY): where the entry lies on the host, only its own
/// process writes it.
fn nobody_here_writes_the_copy_of_an_entry_on_the_host() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let done = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut written = Vec::new();
            while !done.load(Ordering::Relaxed) {
                for fd in 0..64 {
                    let Ok(file) = std::fs::read_link(format!("/proc/self/fd/{fd}")) else {
                        continue;
                    };
                    let text = file.to_string_lossy().into_owned();
                    let ours = text.contains("/gate4k-") && text.contains("/entry/");
                    if ours && is_written(fd) {
                        written.push(text);
                    }
                }
            }
            written
        });
        let sandbox = sandbox(Strictness::Tolerant, false);
        // As much as an entry of another event may have: it takes long enough to write to be seen.
        let script = format!("#!/bin/sh\nexit 0\n{}", "#\n".repeat(8 << 20));
        for _ in 0..2 {
            run_in(&sandbox, &script, Shell::AsIs, Duration::from_secs(300));
        }
        done.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    assert!(written.is_empty(), "{written:?}");
}

/// A cache that Python makes of an entry's own module is Python's, whether a stub or the kernel started it, as long as the source is there.
fn a_script_writes_by_the_program_that_reads_it() {
    let module = "import sys\nopen('m.py','w').close()\nsys.path.insert(0,'.')\nimport m\n";
    for (removal, files, exempt) in [("", 3, 2), ("import os\nos.remove('m.py')\n", 2, 0)] {
        let script = format!("#!/usr/bin/python3\n{module}{removal}");
        let done = run_in(
            &sandbox(Strictness::Tolerant, true),
            &script,
            Shell::AsIs,
            Duration::from_secs(300),
        );
        // The compiled module beside its source only, and its directory with it.
        let left = &done.traces.left_files;
        let caches = left.iter().filter(|file| file.exempt.is_some());
        assert_eq!((left.len(), caches.count()), (files, exempt), "{left:#?}");
    }
}

fn secrets_and_chess_libraries_of_the_host_cannot_be_read() {
    let done = run(
        "#!/bin/sh\nread x </etc/shadow && echo $x\nread x </root/.bashrc && echo $x\npython3 -c 'import yaml'\n",
    );
    assert_eq!(done.out, "");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick what_is_left_is_found_with_its_maker_wherever_it_lies [Landlock, Namespaces],
        quick beside_the_entry_may_be_written_and_nothing_may_remain [Landlock, Namespaces],
        quick a_write_that_is_refused_after_the_start_is_named [Landlock],
        quick a_lock_of_no_file_fails_as_it_does_outside [Landlock, Namespaces, Perl],
        quick an_entry_opens_its_own_streams_by_their_paths [Landlock],
        quick nobody_here_writes_the_copy_of_an_entry_on_the_host [Landlock] apart,
        quick a_script_writes_by_the_program_that_reads_it [Landlock, Python3],
        quick secrets_and_chess_libraries_of_the_host_cannot_be_read [Landlock, Python3],
    ]
}
