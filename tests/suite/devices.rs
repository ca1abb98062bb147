//! The accelerators that an entry finds, and the files that their drivers need beside the device (rule 7.6).

use std::fs;

use crate::test_folder::{TestFolder, fixture};
use crate::trials::Test;

/// The built-in list with a device that every host has, as if it were an accelerator.
fn with_a_device(folder: &TestFolder) -> String {
    let (code, list) = folder.ask(&["check", "--dump-allowlist"]);
    assert_eq!(code, 0, "{list}");
    let file = "file = [";
    let line = r#"    { path = "/dev/ptmx", access = "read-write", reason = "stands for an accelerator" },"#;
    assert!(list.contains(file), "{list}");
    let path = folder.path("list.toml");
    fs::write(&path, list.replacen(file, &format!("{file}\n{line}"), 1)).unwrap();
    path.display().to_string()
}

/// A driver looks its device up by number, in /proc/devices and /sys; who has none sees none of that.
fn a_driver_reads_of_the_machine_only_beside_a_device() {
    let folder = TestFolder::new();
    folder.write(
        "engine",
        "#!/usr/bin/python3\n\
         import os\n\
         print('numbers', os.path.getsize('/proc/devices') or len(open('/proc/devices').read()))\n\
         for path in '/dev/char/5:2', '/sys/bus/pci', '/sys/fs/cgroup':\n    \
         print(path, os.path.exists(path))\n\
         if os.path.exists('/dev/char/5:2'): print(os.readlink('/dev/char/5:2'))\n",
    );
    let entry = folder.path("engine").display().to_string();
    let without = folder.run(&["run", &entry]);
    assert!(without.out.starts_with("numbers 0\n/dev/char/5:2 False\n"), "{without:?}");
    assert!(without.out.contains("/sys/bus/pci False\n"), "{without:?}");
    let list = with_a_device(&folder);
    let with = folder.run(&["run", "--allowlist", &list, &entry]);
    assert!(with.out.contains("/dev/char/5:2 True\n"), "{with:?}");
    assert!(with.out.ends_with("../ptmx\n"), "{with:?}");
    assert!(!with.out.contains("numbers 0\n"), "{with:?}");
    let has_pci = std::path::Path::new("/sys/bus/pci").is_dir();
    assert_eq!(with.out.contains("/sys/bus/pci True\n"), has_pci, "{with:?}");
    // Other processes of the host are still nobody's business.
    assert!(with.out.contains("/sys/fs/cgroup False\n"), "{with:?}");
}

/// CUDA's driver names its threads by their files in /proc, in which nothing can be written.
fn a_thread_can_be_given_a_name_by_its_file() {
    const PROGRAM: &str = r#"#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    char path[99];
    sprintf(path, "/proc/self/task/%d/comm", getpid());
    long number = SYS_openat, from = AT_FDCWD, name = (long)path, got;
    register long flags __asm__("rdx") = O_WRONLY | O_CREAT | O_TRUNC;
    register long mode __asm__("r10") = 0666;
    __asm__ volatile("syscall" : "=a"(got), "+D"(from), "+S"(name) : "a"(number), "r"(flags), "r"(mode) : "rcx", "r11", "memory");
    int wrote = write(got, "worker", 6), read_back = open(path, O_RDONLY);
    printf("%s %d %s %d\n", got >= 0 ? "opened" : "refused", wrote, from == AT_FDCWD && name == (long)path ? "as it was" : "changed", read_back >= 0);
    printf("%d %d\n", open("/proc/self/mem", O_RDWR) >= 0, open("/proc/self/../1/comm", O_WRONLY) >= 0);
    return 0;
}"#;
    let folder = TestFolder::new();
    folder.write(
        "engine",
        format!("#!/bin/sh\nT=`mktemp`\ntail -n +5 $0|cc -w -o $T -xc -&&$T\nexit $?\n{PROGRAM}"),
    );
    let entry = folder.path("engine").display().to_string();
    let done = folder.run(&["run", &entry]);
    // A name that is written goes to memory of its own; nothing else in /proc is opened for that.
    assert_eq!(done.out, "opened 6 as it was 1\n0 0\n", "{done:?}");
}

/// A program that a library starts by itself is no cloak for one that the entry starts beside it.
fn a_library_lends_its_name_to_no_other_program() {
    let folder = TestFolder::new();
    let engine = String::from_utf8(fixture("accept/python3")).unwrap();
    let engine = engine.split_once('\n').unwrap().1;
    let load = "ctypes.CDLL('libpocl.so.2')\n";
    for (name, before, status) in [
        // The linker itself, as pocl calls it, and where the library is only opened.
        ("linker", format!("{load}subprocess.run(['ld', '-v'])\n"), "advice"),
        (
            "opened",
            "f = open('/usr/lib/x86_64-linux-gnu/libpocl.so.2')\nsubprocess.run(['ld', '-v'])\n"
                .into(),
            "fail",
        ),
        // Other programs by its name.
        (
            "editor",
            format!(
                "{load}os.symlink('/usr/bin/sed', '/tmp/ld')\ntry: subprocess.run(['/usr/../tmp/ld', '--version'])\nexcept OSError: 0\nos.remove('/tmp/ld')\n"
            ),
            "fail",
        ),
        (
            "loader",
            format!(
                "{load}os.symlink('/lib64/ld-linux-x86-64.so.2', '/tmp/ld')\nsubprocess.run(['/usr/../tmp/ld', '/usr/bin/sleep', '0'])\nos.remove('/tmp/ld')\n"
            ),
            "fail",
        ),
        ("assembler", format!("{load}subprocess.run(['as', '--version'])\n"), "fail"),
    ] {
        let text = format!("#!/usr/bin/python3\nimport ctypes, os, subprocess\n{before}{engine}");
        folder.write(format!("{name}/engine"), text);
        let report = folder.run(&["check", "-q", "--quick", "--format", "json", name]).json();
        let findings = report["entries"][0]["findings"].as_array().unwrap();
        let commands = findings.iter().find(|finding| finding["rule"] == "commands").unwrap();
        let passes = ["advice", "pass"].contains(&commands["status"].as_str().unwrap());
        assert_eq!(passes, status == "advice", "{name}: {commands:#}");
    }
}

/// Entries that need a device play with it in matches and events, not in checks alone.
fn a_match_and_an_event_name_devices() {
    let folder = TestFolder::new();
    let (code, text) = folder.ask(&["match", "--devices", "abacus", "a", "b"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("nvidia") && text.contains("dri"), "{text}");
    let event = |devices: &str| {
        let text = format!(
            "event = \"E\"\n{devices}\ntime-control = \"1+0\"\n\
             [[entry]]\nname = \"A\"\npath = \"a\"\n[[entry]]\nname = \"B\"\npath = \"b\"\n\
             [[stage]]\nname = \"S\"\nformat = {{ round-robin = {{ doubles = 1 }} }}\nbook-policy = \"none\"\ntie-breaks = \"4k\"\n"
        );
        fs::write(folder.path("event.toml"), text).unwrap();
        folder.copy("accept/python3", "a");
        folder.copy("accept/python3", "b");
        folder.ask(&["event", "status", "event.toml"])
    };
    let (code, text) = event("devices = [\"abacus\"]");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("event.toml:2:12") && text.contains("there are"), "{text}");
    let (code, text) = event("devices = [\"nvidia\"]\nlazy-memory = true");
    assert!(!text.contains("event.toml:"), "{code} {text}");
}

pub(crate) fn tests() -> Vec<Test> {
    let mut tests = tests![
        quick a_match_and_an_event_name_devices,
        slow a_library_lends_its_name_to_no_other_program [Landlock, OpenCl, Python3],
        slow a_driver_reads_of_the_machine_only_beside_a_device [Landlock, Namespaces, Python3]
    ];
    if cfg!(target_arch = "x86_64") {
        tests.extend(tests![slow a_thread_can_be_given_a_name_by_its_file [Landlock]]);
    }
    tests
}
