//! `gate4k run` as a GUI or a match runner meets it: the real program, with and without namespaces.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::needs::Need;
use crate::trials::Test;

const GATE4K: &str = env!("CARGO_BIN_EXE_gate4k");

/// A kind of host: as it is, or one on which no user namespace can be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Host {
    AsIs,
    NoNamespaces,
}

/// An entry in a directory of its own, and a directory for whatever gate4k puts beside it.
pub(crate) struct Place {
    top: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new(script: &str) -> Place {
        let top = tempfile::tempdir().unwrap();
        // The entry's user, which is not ours where we are root, must reach what lies below.
        fs::set_permissions(top.path(), PermissionsExt::from_mode(0o711)).unwrap();
        fs::create_dir(top.path().join("tmp")).unwrap();
        fs::set_permissions(top.path().join("tmp"), PermissionsExt::from_mode(0o711)).unwrap();
        let place = Place { top };
        fs::write(place.entry(), script).unwrap();
        place
    }

    fn entry(&self) -> PathBuf {
        self.top.path().join("engine")
    }

    fn tmp(&self) -> PathBuf {
        self.top.path().join("tmp")
    }

    pub(crate) fn run(&self, host: Host, words: &[&str]) -> Command {
        let mut command = match host {
            Host::AsIs => Command::new(GATE4K),
            Host::NoNamespaces => {
                let mut command = Command::new("bwrap");
                command.args(["--unshare-user", "--disable-userns", "--dev-bind", "/", "/"]);
                command.arg(GATE4K);
                command
            }
        };
        command.arg("run").arg(self.entry()).args(words).env("TMPDIR", self.tmp());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn start(&self, host: Host) -> Child {
        self.run(host, &[]).spawn().unwrap()
    }

    /// Runs it to its end on this input.
    fn output(&self, host: Host, words: &[&str], input: &str) -> (i32, String, String) {
        let mut child = self.run(host, words).spawn().unwrap();
        // An entry that ends before it has read all is no error here.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        told(&child.wait_with_output().unwrap())
    }

    pub(crate) fn left(&self) -> Vec<String> {
        let items = fs::read_dir(self.tmp()).unwrap();
        items.map(|item| item.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

fn told(output: &Output) -> (i32, String, String) {
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

pub(crate) fn line(out: &mut BufReader<impl Read>) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line
}

/// gate4k itself: bwrap, where it stands before it, hands no signal on.
pub(crate) fn supervisor(child: &Child, host: Host) -> Pid {
    let mut pid = child.id();
    if host == Host::NoNamespaces {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            if exe == Path::new(GATE4K).canonicalize().unwrap() {
                break;
            }
            let children = format!("/proc/{pid}/task/{pid}/children");
            let children = fs::read_to_string(children).unwrap_or_default();
            if let Some(first) = children.split_whitespace().next() {
                pid = first.parse().unwrap();
            }
            assert!(Instant::now() < deadline, "gate4k never came up below bwrap");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    Pid::from_raw(i32::try_from(pid).unwrap())
}

/// A number for `sleep` that no other test has, also where it runs beside this one.
pub(crate) fn mark(test: u8, host: Host) -> String {
    format!("{test}{}{}.25", std::process::id(), host as u8)
}

/// Processes with this word among their arguments.
pub(crate) fn processes(word: &str) -> Vec<String> {
    let items = fs::read_dir("/proc").unwrap().flatten();
    items
        .filter_map(|item| fs::read(item.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(word))
        .collect()
}

/// Waits until it is so; what is waited for takes milliseconds, the bound is for crowded machines.
pub(crate) fn soon(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn a_python_script_plays_an_entry(host: Host) {
    const SCRIPT: &str = r#"
import subprocess, sys
engine = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
def ask(question, answer):
    engine.stdin.write(question + "\n")
    for line in engine.stdout:
        if line.startswith(answer):
            return line.strip()
    raise SystemExit("no " + answer)
ask("uci", "uciok")
ask("isready", "readyok")
ask("ucinewgame\nisready", "readyok")
moves = []
for ply in range(4):
    position = "position startpos" + (" moves " + " ".join(moves) if moves else "")
    moves.append(ask(position + "\ngo wtime 2000 btime 2000 winc 100 binc 100", "bestmove").split()[1])
engine.stdin.write("quit\n")
print(len(moves), engine.wait(300), engine.stdout.read() == "")
"#;
    for entry in ["rules-example-2", "python3"] {
        let entry = format!("{}/fixtures/entries/accept/{entry}", env!("CARGO_MANIFEST_DIR"));
        let place = Place::new("");
        let command = place.run(host, &[]);
        let words: Vec<_> = command
            .get_args()
            .map(|word| if word == place.entry() { entry.as_ref() } else { word })
            .collect();
        let output = Command::new("python3")
            .args(["-c", SCRIPT])
            .arg(command.get_program())
            .args(words)
            .env("TMPDIR", place.tmp())
            .output()
            .unwrap();
        let (code, out, err) = told(&output);
        assert_eq!((code, out.as_str()), (0, "4 0 True\n"), "{host:?} {entry}: {err}");
        assert_eq!(err, "", "{host:?} {entry}");
        assert_eq!(place.left(), [""; 0]);
    }
}

fn status_and_signal_pass_through(host: Host) {
    for (script, expected) in [
        ("#!/bin/sh\nexit 0\n", 0),
        ("#!/bin/sh\nexit 7\n", 7),
        ("#!/bin/sh\nexit 255\n", 255),
        ("#!/bin/sh\nkill -9 $$\n", 137),
        ("#!/bin/sh\nkill -SEGV $$\n", 139),
        ("#!/bin/sh\nread x||exit 9\n", 9),
        ("\nexit 3\n", 3),
    ] {
        let (code, out, err) = Place::new(script).output(host, &[], "");
        assert_eq!((code, out.as_str(), err.as_str()), (expected, "", ""), "{host:?} {script}");
    }
}

fn signals_reach_the_entry(host: Host) {
    let script = "#!/usr/bin/python3\nimport os,signal\n\
        def told(s,f):\n os.write(1,b'got %d\\n'%s)\n os._exit(s+40)\n\
        for s in (1,2,3,10,12,15): signal.signal(s,told)\n\
        os.write(1,b'up\\n')\nwhile 1: signal.pause()\n";
    let place = Place::new(script);
    for signal in [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGQUIT,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
    ] {
        let mut child = place.start(host);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        assert_eq!(line(&mut out), "up\n", "{host:?}");
        kill(supervisor(&child, host), signal).unwrap();
        assert_eq!(line(&mut out), format!("got {}\n", signal as i32), "{host:?}");
        assert_eq!(child.wait().unwrap().code(), Some(signal as i32 + 40), "{host:?}");
    }
    // One that does not care dies of it, as it would alone.
    let place = Place::new("#!/bin/sh\necho up\nread x\n");
    let mut child = place.start(host);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    // (Waiting would close its input, and it would end of that.)
    let _input = child.stdin.take();
    assert_eq!(line(&mut out), "up\n");
    kill(supervisor(&child, host), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143), "{host:?}");
    assert_eq!(place.left(), [""; 0]);
    // Nor does it help to stop first: gate4k could not be ended but by force.
    let place = Place::new("#!/bin/sh\necho up\nkill -STOP $$\necho on\n");
    let mut child = place.start(host);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let _input = child.stdin.take();
    assert_eq!(line(&mut out), "up\n");
    std::thread::sleep(Duration::from_millis(300));
    kill(supervisor(&child, host), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143), "{host:?}");
    assert_eq!(line(&mut out), "", "{host:?}");
    assert_eq!(place.left(), [""; 0]);
}

fn the_streams_are_the_entrys_own() {
    // An output that it closes is seen closed at once, while it runs on.
    let place = Place::new("#!/bin/sh\necho bye\nexec >&-\nread x\nexit 5\n");
    let mut child = place.start(Host::AsIs);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "bye\n");
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(5));

    // Answers come line by line, each before the next question is put.
    let place = Place::new("#!/bin/sh\nwhile read x;do echo $x;done\n");
    let mut child = place.start(Host::AsIs);
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut out = BufReader::new(output);
    for number in 0..200 {
        writeln!(input, "{number}").unwrap();
        assert_eq!(line(&mut out), format!("{number}\n"));
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn what_was_refused_is_told_at_the_end(host: Host) {
    let script = "#!/bin/sh\nsed --version\npython3 -c 'import socket\nsocket.socket()'\nexit 4\n";
    let (code, out, err) = Place::new(script).output(host, &[], "");
    assert_eq!((code, out.as_str()), (4, ""), "{err}");
    assert!(err.contains("gate4k: program refused: /usr/bin/sed (by entry)"), "{host:?} {err}");
    assert!(err.contains("gate4k: refused: socket(AF_INET, SOCK_STREAM) (by python3)"), "{err}");
}

fn strict_refuses_what_is_only_tolerated() {
    let (_, _, err) = Place::new("#!/bin/sh\nrm -f x\n").output(Host::AsIs, &["--strict"], "");
    assert!(err.contains("program refused: /usr/bin/rm"), "{err}");
    let (_, _, err) = Place::new("#!/bin/sh\nrm -f x\n").output(Host::AsIs, &[], "");
    assert_eq!(err, "");
}

fn what_is_no_entry_is_told() {
    let place = Place::new("#!/bin/sh\nexit\n");
    let run = |path: &Path| told(&Command::new(GATE4K).arg("run").arg(path).output().unwrap());
    let missing = place.top.path().join("missing");
    assert_eq!(run(&missing).0, 3);
    // The directory holds the engine and something else.
    let (code, out, err) = run(place.top.path());
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("not an entry"), "{err}");
    let fifo = place.top.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (code, _, err) = run(&fifo);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("not a regular file"), "{err}");
    let (code, _, err) = Place::new("#!/usr/bin/no-such-thing\n").output(Host::AsIs, &[], "");
    assert_eq!(code, 127, "{err}");
    assert!(err.contains("/usr/bin/no-such-thing"), "{err}");
}

fn layers_that_are_required_and_there_let_it_run() {
    let place = Place::new("#!/bin/sh\necho ran\n");
    let words = ["--require", "net", "--require", "landlock"];
    let (code, out, err) = place.output(Host::AsIs, &words, "");
    assert_eq!((code, out.as_str()), (0, "ran\n"), "{err}");
}

fn a_layer_that_is_required_and_missing_keeps_it_from_running() {
    let place = Place::new("#!/bin/sh\necho ran\n");
    let (code, out, err) = place.output(Host::NoNamespaces, &["--require", "net"], "");
    assert_eq!((code, out.as_str()), (4, ""), "{err}");
    assert!(err.contains("net is absent"), "{err}");
    let check = Command::new("bwrap")
        .args(["--unshare-user", "--disable-userns", "--dev-bind", "/", "/", GATE4K])
        .args(["check", "-q", "--format=json", "--require", "user"])
        .arg(place.entry())
        .output()
        .unwrap();
    let (code, out, err) = told(&check);
    assert_eq!(code, 4, "{out}{err}");
    assert!(out.contains("user is absent"), "{out}");
}

fn an_entry_made_for_a_bigger_machine_can_be_lazy(host: Host) {
    let script = "#!/usr/bin/python3\nimport mmap\n\
        m=mmap.mmap(-1,1<<38,flags=mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS)\nm[1<<37]=7\nprint(m[1<<37])\n";
    let place = Place::new(script);
    let (code, out, err) = place.output(host, &["--lazy-memory"], "");
    assert_eq!((code, out.as_str()), (0, "7\n"), "{host:?} {err}");
    assert!(err.contains("--lazy-memory: 256 GiB were mapped"), "{err}");
    let (code, _, err) = place.output(host, &[], "");
    assert_eq!(code, 1, "{host:?} {err}");
}

/// Leaves everything that can be left: files, closed directories, processes in sessions of their own.
fn clutter(mark: &str) -> String {
    format!(
        "#!/bin/sh\nsleep {mark}1 &\n\
         python3 -c 'import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nos.makedirs(\"d/e\")\n\
         os.chmod(\"d\",0)\ntime.sleep({mark}2)' &\n\
         : >left\n: >$HOME/left\nmktemp >/dev/null\necho up\nread x\n"
    )
}

fn nothing_is_left_when_it_ends_by_itself(host: Host) {
    let mark = mark(7, host);
    let place = Place::new(&clutter(&mark));
    let mut child = place.start(host);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(line(&mut out), "up\n");
    soon("the processes never came up", || processes(&mark).len() >= 2);
    drop(child.stdin.take());
    child.wait().unwrap();
    // End of file only where nobody holds it open.
    assert_eq!(line(&mut out), "");
    assert_eq!(processes(&mark), [""; 0], "{host:?}");
    assert_eq!(place.left(), [""; 0], "{host:?}");
}

fn nothing_is_left_when_the_supervisor_is_killed_at_any_moment(host: Host) {
    let mark = mark(8, host);
    let place = Place::new(&clutter(&mark));
    let entry = place.entry().to_string_lossy().into_owned();
    for round in 0..25u64 {
        let mut child = place.start(host);
        let pid = supervisor(&child, host);
        // Spread over the whole start, and some way into the run.
        std::thread::sleep(Duration::from_millis(round * round * 3 / 2));
        // Where it has ended already there is nothing to kill; that too leaves nothing.
        let _ = kill(pid, Signal::SIGKILL);
        let mut out = Vec::new();
        // Ends when gate4k does: nothing of the entry holds it.
        child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
        child.wait().unwrap();
        soon("a process was left", || processes(&mark).is_empty());
        soon("a supervisor was left", || processes(&entry).is_empty());
        soon(&format!("{host:?}: files were left: {:?}", place.left()), || place.left().is_empty());
    }
}

/// Where cgroup v2 is mounted, and the group of a process below it.
fn group_of(pid: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mount = mounts.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        (words.get(2) == Some(&"cgroup2")).then(|| words[1].to_owned())
    })?;
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(Path::new(&mount).join(group))
}

fn its_cgroup_goes_with_it_also_when_the_supervisor_is_killed() {
    for killed in [false, true] {
        let mark = mark(6, Host::AsIs);
        let place = Place::new(&format!("#!/bin/sh\nsleep {mark} &\necho up\nread x\n"));
        let mut child = place.start(Host::AsIs);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        assert_eq!(line(&mut out), "up\n");
        let find = || {
            fs::read_dir("/proc").unwrap().flatten().find_map(|item| {
                let line = fs::read(item.path().join("cmdline")).ok()?;
                let is_it = String::from_utf8_lossy(&line).contains(&mark);
                is_it.then(|| item.file_name().to_string_lossy().into_owned())
            })
        };
        soon("the entry never came up", || find().is_some());
        let group = group_of(&find().unwrap());
        let Some(group) = group.filter(|group| group.to_string_lossy().contains("gate4k-")) else {
            // Then the report says that there is none, and why.
            drop(child.stdin.take());
            child.wait().unwrap();
            let layer = layer(&place, &[], "cgroup");
            assert_eq!(layer["state"], "absent", "{layer}");
            assert!(layer["reason"].as_str().unwrap().contains("cgroup"), "{layer}");
            return;
        };
        assert!(group.is_dir());
        if killed {
            child.kill().unwrap();
        } else {
            drop(child.stdin.take());
        }
        child.wait().unwrap();
        soon("the cgroup was left", || !group.exists() && !group.parent().unwrap().exists());
    }
}

fn opencl_works_inside(host: Host) {
    const PROGRAM: &str = r#"#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
int main(void) {
    cl_platform_id ids[8];
    cl_uint n = 0;
    clGetPlatformIDs(8, ids, &n);
    for (cl_uint i = 0; i < n && i < 8; i++) {
        char name[99] = "";
        cl_device_id device;
        clGetPlatformInfo(ids[i], CL_PLATFORM_NAME, sizeof name, name, 0);
        cl_int got = clGetDeviceIDs(ids[i], CL_DEVICE_TYPE_ALL, 1, &device, 0);
        printf("platform %s %s\n", name, got == CL_SUCCESS ? "with a device" : "without");
    }
    return n ? 0 : 1;
}"#;
    let place = Place::new(&format!(
        "#!/bin/sh\nT=`mktemp`\ntail -n +5 $0|cc -o $T -xc - -lOpenCL&&$T\nexit $?\n{PROGRAM}"
    ));
    let words = ["--devices", "nvidia,dri"];
    let (code, out, err) = place.output(host, &words, "");
    assert_eq!((code, err.as_str()), (0, ""), "{host:?} {out}");
    assert!(out.contains("platform Portable Computing Language with a device"), "{host:?} {out}");
}

/// The answer of a check of this entry on a layer of the sandbox.
fn layer(place: &Place, words: &[&str], name: &str) -> serde_json::Value {
    let output = Command::new(GATE4K)
        .args(["check", "-q", "--quick", "--format=json"])
        .args(words)
        .arg(place.entry())
        .output()
        .unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let layers = document["entries"][0]["sandbox"]["layers"].as_array().unwrap().clone();
    layers.into_iter().find(|layer| layer["name"] == name).unwrap()
}

fn devices_stay_closed_unless_they_are_asked_for() {
    let place = Place::new("#!/bin/sh\nexit\n");
    let check = |words: &[&str]| layer(&place, words, "devices");
    let closed = check(&[]);
    assert_eq!(closed["state"], "enforced", "{closed}");
    let asked = check(&["--devices", "nvidia"]);
    let reason = asked["reason"].as_str().unwrap();
    let here = Path::new("/dev/nvidiactl").exists();
    let words = if here { "/dev/nvidiactl" } else { "this host has none of --devices nvidia" };
    assert!(reason.contains(words), "{asked}");
}

/// Limits of our own that are below the sandbox's hold for entries, too; nobody may raise them.
fn limits_below_the_sandboxs_own_are_no_trouble() {
    let place = Place::new("#!/bin/sh\nulimit -H -f\nulimit -H -n\nulimit -H -c\n");
    let script = "ulimit -f 262144 && ulimit -n 700 && exec \"$0\" run \"$1\"";
    let output = Command::new("sh")
        .args(["-c", script, GATE4K])
        .arg(place.entry())
        .env("TMPDIR", place.tmp())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (code, out, err) = told(&output);
    assert_eq!((code, out.as_str()), (0, "262144\n700\n0\n"), "{err}");
}

/// Small hosts grant few processes. One that the kernel refuses is seen, so that the limit alone excuses nothing.
fn a_crash_is_no_small_hosts_fault() {
    let entry = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/entries/reject/startup-segv-elf/engine");
    let script = "ulimit -u 1600 && exec \"$0\" check --quick --no-cache --format=plain \"$1\"";
    let output = Command::new("bash")
        .args(["-c", script, GATE4K])
        .arg(entry)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (code, out, err) = told(&output);
    assert_eq!(code, 1, "{out}{err}");
    assert!(!out.contains("limits are lower"), "{out}");
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = tests![
        slow the_streams_are_the_entrys_own [Landlock],
        quick strict_refuses_what_is_only_tolerated [Landlock],
        quick what_is_no_entry_is_told [Landlock],
        quick layers_that_are_required_and_there_let_it_run [Landlock, Namespaces],
        slow a_layer_that_is_required_and_missing_keeps_it_from_running [Landlock, Bwrap],
        slow its_cgroup_goes_with_it_also_when_the_supervisor_is_killed [Landlock],
        slow devices_stay_closed_unless_they_are_asked_for [Landlock],
        quick limits_below_the_sandboxs_own_are_no_trouble [Landlock],
        slow a_crash_is_no_small_hosts_fault [Landlock],
    ];
    for (host, of_host) in [(Host::AsIs, None), (Host::NoNamespaces, Some(Need::Bwrap))] {
        let mut add = |name: &str, needs: &[Need], body: fn(Host)| {
            let name = match host {
                Host::AsIs => name.to_owned(),
                Host::NoNamespaces => format!("{name}_without_namespaces"),
            };
            let test = Test::new("slow", module_path!(), &name, move || body(host));
            let of_host: Vec<Need> = [Need::Landlock].into_iter().chain(of_host).collect();
            all.push(test.needs(&of_host).needs(needs));
        };
        let python = &[Need::Python3][..];
        let python_and_xz = &[Need::Python3, Need::Xz][..];
        add("a_python_script_plays_an_entry", python_and_xz, a_python_script_plays_an_entry);
        add("status_and_signal_pass_through", &[], status_and_signal_pass_through);
        add("signals_reach_the_entry", python, signals_reach_the_entry);
        add("what_was_refused_is_told_at_the_end", python, what_was_refused_is_told_at_the_end);
        add(
            "an_entry_made_for_a_bigger_machine_can_be_lazy",
            python,
            an_entry_made_for_a_bigger_machine_can_be_lazy,
        );
        add(
            "nothing_is_left_when_it_ends_by_itself",
            python,
            nothing_is_left_when_it_ends_by_itself,
        );
        add(
            "nothing_is_left_when_the_supervisor_is_killed_at_any_moment",
            python,
            nothing_is_left_when_the_supervisor_is_killed_at_any_moment,
        );
        add("opencl_works_inside", &[Need::OpenCl], opencl_works_inside);
    }
    all
}
