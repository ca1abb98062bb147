//! `--watch`: an entry is measured and judged again whenever it is saved, until a signal ends that.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::test_folder::fixture;
use crate::trials::Test;

/// Far longer than anything here takes on a busy host; only a test that fails waits for it.
const AT_MOST: Duration = Duration::from_secs(300);

/// As editors do it: a new file in the place of the old one.
fn save(path: &Path, bytes: &[u8]) {
    let part = path.with_file_name("part");
    fs::write(&part, bytes).unwrap();
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(part, path).unwrap();
}

/// gate4k as it watches; killed whatever the test comes to.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn new(words: &[&str], folder: &Path) -> Watching {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
            .args(words)
            .current_dir(folder)
            .env_remove("CLICOLOR_FORCE")
            .env_remove("GITHUB_ACTIONS")
            .env("COLUMNS", "120")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Watching { child, lines }
    }

    /// Reads on to a line; the ones before it.
    fn wait_for(&self, part: &str) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(AT_MOST) {
                Ok(line) if line.contains(part) => return seen,
                Ok(line) => seen.push(line),
                Err(error) => panic!("{part}: {error}: {seen:#?}"),
            }
        }
    }

    /// Ends it as a terminal or a service manager would.
    fn end(mut self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(signal as i32), "{status}");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name().into()).collect();
    names.sort();
    names
}

fn a_saved_entry_is_measured_again() {
    let folder = tempfile::tempdir().unwrap();
    let entry = folder.path().join("engine");
    let script = |bytes: usize| {
        let mut script = b"#!/bin/sh\nexit\n".to_vec();
        script.resize(bytes, b'#');
        save(&entry, &script);
    };
    script(4000);
    let watching = Watching::new(&["size", "--watch", entry.to_str().unwrap()], folder.path());
    watching.wait_for("4000 of 4096 bytes, 96 left");
    script(4097);
    watching.wait_for("4097 of 4096 bytes, 1 over");
    watching.wait_for("sizes so far: 4000, 4097 (+97)");
    script(4096);
    watching.wait_for("sizes so far: 4000, 4097 (+97), 4096 (-1)");
    watching.end(Signal::SIGTERM);
}

fn a_saved_source_is_packed_again_and_a_failure_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("engine.c");
    save(&source, b"int main(void) { return 0; }\n");
    let words = ["pack", "-q", "--quick", "--watch", "engine.c", "-o", "engine"];
    let watching = Watching::new(&words, folder.path());
    watching.wait_for("rejected   engine.c");
    watching.wait_for("sha256");
    assert!(!folder.path().join("engine").exists());
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/engine.c");
    let example = fs::read(example).unwrap();
    save(&source, &example);
    watching.wait_for("accepted by `gate4k check --quick`");
    let first = fs::read(folder.path().join("engine")).unwrap();
    save(&source, &[&example[..], b"// more\n"].concat());
    watching.wait_for("accepted by `gate4k check --quick`");
    assert!(fs::read(folder.path().join("engine")).unwrap() != first);
    assert_eq!(names(folder.path()).len(), 2, "{:?}", names(folder.path()));
    watching.end(Signal::SIGTERM);
}

fn a_saved_entry_is_judged_again_and_a_report_beside_it_is_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let entry = folder.path().join("engine");
    let (good, junk) = (fixture("accept/elf"), fixture("reject/format-junk"));
    save(&entry, &junk);
    let words = ["check", "--watch", "--quick", "--match=off", "--report=html=page.html"];
    let words = [&words[..], &["--report=human=-", "engine"]].concat();
    let watching = Watching::new(&words, folder.path());
    watching.wait_for("rejected   engine");
    save(&entry, &good);
    let between = watching.wait_for("  engine");
    assert!(!between.iter().any(|line| line.starts_with("rejected ")), "{between:#?}");
    save(&entry, &junk);
    watching.wait_for("rejected   engine");
    // The page was written meanwhile, and others write there too; none of it is the entry.
    fs::write(folder.path().join("notes"), "x").unwrap();
    loop {
        match watching.lines.recv_timeout(Duration::from_secs(1)) {
            Ok(line) => assert!(!line.starts_with("rejected "), "judged without a change: {line}"),
            Err(RecvTimeoutError::Timeout) => break,
            Err(error) => panic!("{error}"),
        }
    }
    watching.end(Signal::SIGTERM);
    assert_eq!(names(folder.path()), ["engine", "notes", "page.html"].map(PathBuf::from));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("engine: rejected"), "the page is of the last verdict");
}

fn entries_of_the_configuration_are_watched_each_in_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let junk = fixture("reject/format-junk");
    for name in ["a", "b"] {
        fs::create_dir_all(folder.path().join("entries").join(name)).unwrap();
        save(&folder.path().join("entries").join(name).join("engine"), &junk);
    }
    fs::write(folder.path().join("gate4k.toml"), "entries = [\"entries\"]\n").unwrap();
    let words = ["check", "--watch", "--quick", "--no-cache"];
    let watching = Watching::new(&words, folder.path());
    watching.wait_for("2 entries: 2 rejected");
    save(&folder.path().join("entries/b/engine"), b"other junk");
    watching.wait_for("2 entries: 2 rejected");
    watching.end(Signal::SIGTERM);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_saved_entry_is_measured_again,
        slow a_saved_source_is_packed_again_and_a_failure_ends_nothing [Landlock, Xz],
        slow a_saved_entry_is_judged_again_and_a_report_beside_it_is_no_change [Landlock],
        slow entries_of_the_configuration_are_watched_each_in_its_directory,
    ]
}
