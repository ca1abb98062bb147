//! The streams of `gate4k run`: an entry has pipes of its own, and nothing that it does to them is done to the caller's files,
//! pipes and terminal; all that goes through them arrives.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcgetwinsize, tcsetwinsize};

use crate::needs::Need;
use crate::run::{Host, Place, line, mark, processes, soon, supervisor};
use crate::trials::Test;

/// Does all to its streams that a descriptor allows, by the descriptors and by their paths, and says a word on each.
const MEDDLER: &str = r#"#!/usr/bin/python3
import fcntl, os
def each(what):
    for stream in 0, 1, 2:
        try:
            what(stream)
        except OSError:
            pass
def anew(stream):
    for flags in os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC:
        for path in "/proc/self/fd/%d", "/dev/fd/%d":
            try:
                os.close(os.open(path % stream, flags))
            except OSError:
                pass
os.write(1, b"out\n")
os.write(2, b"err\n")
each(lambda stream: os.fchmod(stream, 0o6777))
each(lambda stream: os.utime(stream, (1, 1)))
each(lambda stream: os.ftruncate(stream, 0))
each(lambda stream: os.posix_fallocate(stream, 0, 1 << 20))
each(lambda stream: os.lseek(stream, 0, 0))
each(lambda stream: os.pwrite(stream, b"FORGED", 0))
each(anew)
each(lambda stream: fcntl.fcntl(stream, fcntl.F_SETFL, os.O_NONBLOCK))
"#;

fn nothing_of_the_callers_files_is_changed(host: Host) {
    let place = Place::new(MEDDLER);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["in", "out", "err"] {
        fs::write(path(name), "before\n").unwrap();
    }
    let read = File::open(path("in")).unwrap();
    let append = |name: &str| OpenOptions::new().append(true).open(path(name)).unwrap();
    let (out, err) = (append("out"), append("err"));
    let state = |file: &File| {
        let of_file = file.metadata().unwrap();
        (of_file.mode(), of_file.uid(), fcntl_getfl(file).unwrap())
    };
    let all = || [state(&read), state(&out), state(&err)];
    let (before, written) = (all(), read.metadata().unwrap().modified().unwrap());
    let stream = |file: &File| Stdio::from(file.try_clone().unwrap());
    let mut command = place.run(host, &[]);
    command.stdin(stream(&read)).stdout(stream(&out)).stderr(stream(&err));
    assert_eq!(command.status().unwrap().code(), Some(0), "{host:?}");
    assert_eq!(all(), before, "{host:?}");
    assert_eq!(read.metadata().unwrap().modified().unwrap(), written);
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    assert_eq!(text("in"), "before\n");
    assert_eq!(text("out"), "before\nout\n");
    // (The sandbox may have refused some of it, and says so.)
    assert!(text("err").starts_with("before\nerr\n") && !text("err").contains("FORGED"));
}

fn no_mode_of_a_stream_comes_back_to_the_caller(host: Host) {
    let place = Place::new(MEDDLER);
    let (input, to_entry) = std::io::pipe().unwrap();
    let (from_entry, output) = std::io::pipe().unwrap();
    let (error, errors) = std::io::pipe().unwrap();
    let mut command = place.run(host, &[]);
    command.stdin(input.try_clone().unwrap());
    command.stdout(output.try_clone().unwrap()).stderr(errors.try_clone().unwrap());
    assert_eq!(command.status().unwrap().code(), Some(0), "{host:?}");
    for stream in [input.as_fd(), output.as_fd(), errors.as_fd()] {
        let flags = fcntl_getfl(stream).unwrap();
        assert!(!flags.intersects(OFlags::NONBLOCK), "{host:?} {flags:?}");
    }
    drop((command, to_entry, output, errors));
    assert_eq!(std::io::read_to_string(from_entry).unwrap(), "out\n");
    assert!(std::io::read_to_string(error).unwrap().starts_with("err\n"));
}

fn the_callers_terminal_stays_as_it_is() {
    let place = Place::new(
        "#!/usr/bin/python3\nimport fcntl,os,struct,termios\n\
         print(*map(os.isatty,(0,1,2)),flush=True)\n\
         for stream in 0,1,2:\n\
         \x20for number,word in (0x540c,0),(0x5414,struct.pack('4H',1,1,0,0)),(0x5423,struct.pack('i',27)):\n\
         \x20 try: fcntl.ioctl(stream,number,word)\n\
         \x20 except OSError: pass\n\
         \x20try: termios.tcflow(stream,termios.TCOOFF)\n\
         \x20except termios.error: pass\n",
    );
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let nocontrol = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
    let mut open = OpenOptions::new();
    let open = open.read(true).write(true).custom_flags(nocontrol);
    let terminal = open.open(name.to_str().unwrap()).unwrap();
    let size = Winsize { ws_row: 50, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).unwrap();
    // The line discipline is a part of the first.
    let settings = || format!("{:?} {:?}", tcgetattr(&terminal), tcgetwinsize(&terminal));
    let before = settings();
    let stream = || Stdio::from(terminal.try_clone().unwrap());
    let mut command = place.run(Host::AsIs, &[]);
    command.stdin(stream()).stdout(stream()).stderr(stream());
    assert_eq!(command.status().unwrap().code(), Some(0));
    assert_eq!(settings(), before);
    // It is nobody's alone, and hands on what it is sent.
    writeln!(open.open(name.to_str().unwrap()).unwrap(), "after").unwrap();
    let mut terminal = BufReader::new(File::from(master));
    assert_eq!(line(&mut terminal), "False False False\r\n");
    // (Refusals of the sandbox may stand between.)
    while line(&mut terminal) != "after\r\n" {}
}

/// Every byte there is, and no line ends where a buffer does.
fn a_megabyte() -> Vec<u8> {
    (0..1u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect()
}

fn a_megabyte_passes_unchanged_and_then_the_end(host: Host) {
    let place = Place::new(
        "#!/usr/bin/python3\nimport sys\nall=sys.stdin.buffer.read()\n\
         sys.stdout.buffer.write(all)\nsys.stderr.buffer.write(all[::-1])\n",
    );
    let mut child = place.start(host);
    let (mut input, sent) = (child.stdin.take().unwrap(), a_megabyte());
    let copy = sent.clone();
    let writer = std::thread::spawn(move || input.write_all(&copy).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0), "{host:?}");
    assert!(output.stdout == sent, "{host:?}: {} bytes", output.stdout.len());
    let reversed: Vec<u8> = sent.into_iter().rev().collect();
    assert!(output.stderr == reversed, "{host:?}: {} bytes", output.stderr.len());
}

fn an_entry_that_ends_ends_the_run_whatever_its_input_and_its_children_do(host: Host) {
    let mark = mark(5, host);
    let place = Place::new(&format!("#!/bin/sh\nsleep {mark} &\necho up\nexit 7\n"));
    // The first stays open and says nothing, the second says more than anybody reads.
    for stdin in [Stdio::piped(), Stdio::from(File::open("/dev/zero").unwrap())] {
        let mut child = place.run(host, &[]).stdin(stdin).spawn().unwrap();
        let input = child.stdin.take();
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(out, "up\n");
        assert_eq!(child.wait().unwrap().code(), Some(7), "{host:?}");
        drop(input);
        assert_eq!(processes(&mark), [""; 0], "{host:?}");
        assert_eq!(place.left(), [""; 0]);
    }
}

/// More than the pipes have room for is written before anybody reads.
fn what_an_entry_says_last_waits_for_its_reader() {
    let place = Place::new(
        "#!/usr/bin/python3\nimport os\nos.write(1,b'x'*99999)\nos.write(2,b'said\\n')\n",
    );
    let mut child = place.start(Host::AsIs);
    assert_eq!(line(&mut BufReader::new(child.stderr.take().unwrap())), "said\n");
    // Long enough for its end to be seen, which nothing tells.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let mut out = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
    assert!(out == [b'x'; 99999], "{} bytes", out.len());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn an_output_that_nobody_reads_any_more_is_closed_for_the_entry(host: Host) {
    let place = Place::new("#!/bin/sh\necho up\nwhile :;do echo on;done\n");
    let mut child = place.start(host);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(line(&mut out), "up\n");
    drop(out);
    assert_eq!(child.wait().unwrap().code(), Some(128 + libc::SIGPIPE), "{host:?}");
    // One that waits for it, and writes nothing, is told at once as well.
    let place = Place::new(
        "#!/usr/bin/python3\nimport os,select\nos.write(1,b'up\\n')\n\
         wait=select.poll()\nwait.register(1,0)\nwait.poll()\nos._exit(6)\n",
    );
    let mut child = place.start(host);
    let _input = child.stdin.take();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(line(&mut out), "up\n");
    drop(out);
    assert_eq!(child.wait().unwrap().code(), Some(6), "{host:?}");
}

fn an_input_that_the_entry_closes_is_closed_for_the_caller() {
    let place = Place::new("#!/bin/sh\nexec <&-\necho closed\nsleep 600\n");
    let mut child = place.start(Host::AsIs);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(line(&mut out), "closed\n");
    let input = child.stdin.take().unwrap();
    soon(
        "the input is still open",
        || matches!((&input).write(b"x"), Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe),
    );
    kill(supervisor(&child, Host::AsIs), Signal::SIGTERM).unwrap();
    child.wait().unwrap();
}

/// Nobody reads, and both pipes are full.
fn a_signal_ends_a_run_whose_output_nobody_reads(host: Host) {
    let place = Place::new("#!/bin/sh\necho up >&2\nwhile :;do echo on;done\n");
    let mut child = place.start(host);
    assert_eq!(line(&mut BufReader::new(child.stderr.take().unwrap())), "up\n");
    std::thread::sleep(std::time::Duration::from_millis(500));
    kill(supervisor(&child, host), Signal::SIGTERM).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(143), None), "{host:?}");
    assert_eq!(place.left(), [""; 0]);
}

fn an_output_that_cannot_be_written_is_told() {
    let place = Place::new("#!/bin/sh\necho on\nread x\n");
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = place.run(Host::AsIs, &[]).stdout(full).spawn().unwrap();
    let input = child.stdin.take();
    std::thread::sleep(std::time::Duration::from_millis(500));
    drop(input);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("gate4k: standard output cannot be written: No space left"), "{err}");
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = tests![
        slow the_callers_terminal_stays_as_it_is [Landlock, Python3],
        slow what_an_entry_says_last_waits_for_its_reader [Landlock, Python3],
        slow an_input_that_the_entry_closes_is_closed_for_the_caller [Landlock],
        slow an_output_that_cannot_be_written_is_told [Landlock],
    ];
    for (host, of_host) in [(Host::AsIs, None), (Host::NoNamespaces, Some(Need::Bwrap))] {
        let mut add = |name: &str, body: fn(Host)| {
            let name = match host {
                Host::AsIs => name.to_owned(),
                Host::NoNamespaces => format!("{name}_without_namespaces"),
            };
            let test = Test::new("slow", module_path!(), &name, move || body(host));
            let of_host: Vec<Need> =
                [Need::Landlock, Need::Python3].into_iter().chain(of_host).collect();
            all.push(test.needs(&of_host));
        };
        add("nothing_of_the_callers_files_is_changed", nothing_of_the_callers_files_is_changed);
        add(
            "no_mode_of_a_stream_comes_back_to_the_caller",
            no_mode_of_a_stream_comes_back_to_the_caller,
        );
        add(
            "a_megabyte_passes_unchanged_and_then_the_end",
            a_megabyte_passes_unchanged_and_then_the_end,
        );
        add(
            "an_entry_that_ends_ends_the_run_whatever_its_input_and_its_children_do",
            an_entry_that_ends_ends_the_run_whatever_its_input_and_its_children_do,
        );
        add(
            "an_output_that_nobody_reads_any_more_is_closed_for_the_entry",
            an_output_that_nobody_reads_any_more_is_closed_for_the_entry,
        );
        add(
            "a_signal_ends_a_run_whose_output_nobody_reads",
            a_signal_ends_a_run_whose_output_nobody_reads,
        );
    }
    all
}
