//! `gate4k check` ended by a signal while attacks run, and killed with SIGKILL at random moments, and games of entries that leave things
//! behind: no process, no mount, no cgroup and no file stays, with namespaces and without. `GATE4K_KILLS=50` kills each so often (here 4 times), at moments that follow from `GATE4K_SEED`.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::needs::NO_USER_NAMESPACES;
use crate::seed::Chance;
use crate::trials::Test;

/// A check lasts some seconds; the more of them are hit, the better.
const LONGEST: Duration = Duration::from_millis(3500);

/// An engine that plays, with everything beside it that could stay: a file, a closed directory, a sleeper that has
/// turned away.
fn entry(dir: &Path) -> PathBuf {
    let stub = include_bytes!("../../fixtures/entries/accept/c-xz/engine");
    let payload = stub.splitn(5, |byte| *byte == b'\n').nth(4).unwrap();
    let mut bytes = b"#!/bin/sh\n: >left;D=`mktemp -d ./XXXXXX`;: >$D/x;chmod 0 $D\n(sleep 900 >/dev/null 2>&1 </dev/null &)\nT=`mktemp`\ntail -n+7 \"$0\"|xz -d|cc -O1 -o$T -xc -\nexec $T\n".to_vec();
    bytes.extend_from_slice(payload);
    let path = dir.join("engine");
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// The processes below this one that run, with their names: everything that was orphaned comes to us.
pub(crate) fn below_us() -> Vec<(i32, String)> {
    below(std::process::id() as i32)
}

/// The processes below one that run, with their names.
fn below(top: i32) -> Vec<(i32, String)> {
    let mut all: Vec<(i32, i32, char, String)> = Vec::new();
    for item in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = item.file_name().to_string_lossy().parse::<i32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(item.path().join("stat")) else { continue };
        let Some((name, rest)) = stat.rsplit_once(')') else { continue };
        let mut words = rest.split_ascii_whitespace();
        let state = words.next().and_then(|word| word.chars().next()).unwrap_or('?');
        let parent = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        all.push((pid, parent, state, name.split_once('(').unwrap().1.to_owned()));
    }
    let mut tree = BTreeSet::from([top]);
    loop {
        let before = tree.len();
        tree.extend(all.iter().filter(|p| tree.contains(&p.1)).map(|p| p.0).collect::<Vec<_>>());
        if tree.len() == before {
            break;
        }
    }
    tree.remove(&top);
    all.into_iter()
        .filter(|(pid, _, state, _)| tree.contains(pid) && !matches!(state, 'Z' | 'X'))
        .map(|(pid, _, _, name)| (pid, name))
        .collect()
}

/// Takes note of everything of ours that has ended.
pub(crate) fn reap() {
    while waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG))
        .is_ok_and(|status| status.pid().is_some())
    {}
}

/// Groups that some gate4k has made.
pub(crate) fn groups() -> BTreeSet<PathBuf> {
    walkdir::WalkDir::new("/sys/fs/cgroup")
        .max_depth(8)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|item| item.file_type().is_dir())
        .filter(|item| {
            let name = item.file_name().to_string_lossy();
            name.starts_with("gate4k-") && name != "gate4k-self"
        })
        .map(walkdir::DirEntry::into_path)
        .collect()
}

pub(crate) fn until(what: &str, seconds: u64, done: impl Fn() -> Result<(), String>) {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    while let Err(why) = done() {
        assert!(Instant::now() < deadline, "{what}: {why}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn a_check_that_is_killed_at_any_moment_leaves_nothing() {
    killed("as it is", &[]);
}

fn a_check_that_is_killed_without_namespaces_leaves_nothing() {
    killed("without namespaces", &NO_USER_NAMESPACES);
}

fn killed(host: &str, through: &[&str]) {
    // A process that loses its parent becomes our child, so that nothing can hide from `below_us`.
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    let kills: u64 = std::env::var("GATE4K_KILLS").map_or(4, |text| text.parse().unwrap());
    let mut chance = Chance::of(host);
    let home = tempfile::tempdir().unwrap();
    let entry = entry(home.path());
    let mut reached = 0;
    for round in 0..kills {
        let tmp = tempfile::tempdir().unwrap();
        let others = groups();
        let words: Vec<&str> =
            through.iter().copied().chain([env!("CARGO_BIN_EXE_gate4k")]).collect();
        let moment = LONGEST.mul_f64(chance.below(10_000) as f64 / 10_000.0);
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .args(["check", "--format", "json"])
            .arg(&entry)
            .env("TMPDIR", tmp.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // bwrap only waits for it: the supervisor itself is meant.
        let supervisor = || {
            if through.is_empty() {
                return Some(child.id() as i32);
            }
            below_us().into_iter().find(|(_, name)| name == "gate4k").map(|(pid, _)| pid)
        };
        until("it never began", 120, || supervisor().map(drop).ok_or("no gate4k".into()));
        std::thread::sleep(moment);
        let what = format!("round {round} ({}), killed after {moment:?}", words[0]);
        if let Some(pid) = supervisor() {
            reached += u64::from(kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok());
        } else {
            let _ = child.kill();
        }
        let _ = child.wait();
        nothing_is_left(&what, tmp.path(), &others);
    }
    assert!(reached > 0);
}

/// No process, file, mount or cgroup of a gate4k stays, whose temporary files lay in `tmp`, and before which there were these
/// `others` among the cgroups.
fn nothing_is_left(what: &str, tmp: &Path, others: &BTreeSet<PathBuf>) {
    until(what, 120, || {
        reap();
        let left = below_us();
        if left.is_empty() { Ok(()) } else { Err(format!("processes are left: {left:?}")) }
    });
    until(what, 120, || {
        let left: Vec<_> =
            std::fs::read_dir(tmp).unwrap().flatten().map(|i| i.file_name()).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("files are left: {left:?}")) }
    });
    // Another gate4k may run on this host: its groups go, too.
    let made: Vec<PathBuf> = groups().difference(others).cloned().collect();
    until(what, 120, || match made.iter().find(|group| group.exists()) {
        Some(group) => Err(format!("a cgroup is left: {}", group.display())),
        None => Ok(()),
    });
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let ours = [tmp.to_str().unwrap(), "/.host"];
    let left = mounts.lines().find(|line| ours.iter().any(|place| line.contains(place)));
    assert_eq!(left, None, "{what}: a mount is left");
}

fn games_of_entries_that_leave_things_leave_nothing() {
    played(&[]);
}

fn games_without_namespaces_leave_nothing() {
    played(&NO_USER_NAMESPACES);
}

/// `match` and `event run` do not judge what an entry leaves; it goes with the entry all the same.
fn played(through: &[&str]) {
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    let home = tempfile::tempdir().unwrap();
    let entries = ["one", "other"].map(|name| {
        let folder = home.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        entry(&folder)
    });
    let tmp = tempfile::tempdir().unwrap();
    let others = groups();
    let words: Vec<&str> = through.iter().copied().chain([env!("CARGO_BIN_EXE_gate4k")]).collect();
    let out = Command::new(words[0])
        .args(&words[1..])
        .args(["match", "-q", "--games=2", "--max-plies=6", "--tc=30+1"])
        .args(&entries)
        .env("TMPDIR", tmp.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    nothing_is_left("after two games", tmp.path(), &others);
}

/// Entries that never end by themselves, and do what they can against being ended.
const ATTACKS: [(&str, &str); 6] = [
    ("deaf", "trap '' HUP INT QUIT TERM\nwhile :;do read x||sleep 9;done"),
    ("stopped", "(kill -STOP $$;kill -STOP 0)&\nkill -STOP 0;sleep 900"),
    ("drips", "while :;do printf x;sleep 1;done"),
    ("silent", "read x;echo uciok;sleep 900"),
    ("errors", "while :;do printf '%09999d' 1 >&2;sleep 0.01;done"),
    ("orphans", "trap '' HUP\nwhile :;do (sleep 2 >/dev/null 2>&1&);sleep 0.1;done"),
];

fn a_signal_ends_a_check_whatever_its_entry_does() {
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    let signals = [Signal::SIGTERM, Signal::SIGINT].into_iter().cycle();
    let checks: Vec<_> = (ATTACKS.iter().zip(signals))
        .map(|((name, script), signal)| {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
            let tmp = tempfile::tempdir().unwrap();
            let child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
                .args(["check", "--quick", "--no-cache", "--startup-limit=10m"])
                .arg(&path)
                .env("TMPDIR", tmp.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            (*name, signal, home, tmp, child)
        })
        .collect();
    // Once it runs, an entry is called by its neutral name.
    let is_entry = |name: &str| name.len() == 8 && name.bytes().all(|b| b.is_ascii_hexdigit());
    for (name, _, _, _, child) in &checks {
        until(name, 120, || {
            let below = below(child.id() as i32);
            let runs = below.iter().any(|(_, name)| is_entry(name));
            if runs { Ok(()) } else { Err(format!("it does not run: {below:?}")) }
        });
    }
    std::thread::sleep(Duration::from_millis(500));
    for (name, signal, _, tmp, mut child) in checks {
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        assert!(!child.wait().unwrap().success(), "{name}");
        until(name, 120, || match std::fs::read_dir(tmp.path()).unwrap().next() {
            Some(left) => Err(format!("a file is left: {left:?}")),
            None => Ok(()),
        });
    }
    until("all were ended", 120, || {
        reap();
        let left = below_us();
        if left.is_empty() { Ok(()) } else { Err(format!("processes are left: {left:?}")) }
    });
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_signal_ends_a_check_whatever_its_entry_does [Landlock] apart alone,
        slow a_check_that_is_killed_at_any_moment_leaves_nothing [Landlock, Xz] apart alone,
        slow games_of_entries_that_leave_things_leave_nothing [Landlock, Xz] apart alone,
        slow games_without_namespaces_leave_nothing [Landlock, Xz, Bwrap] apart alone,
        slow a_check_that_is_killed_without_namespaces_leaves_nothing [Landlock, Xz, Bwrap] apart alone,
    ]
}
