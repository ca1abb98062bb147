//! The positive controls: outside the sandbox the attack works, or the test proves nothing.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::Uid;

use super::attack::{Attack, Control, How};
use super::program::Program;
use super::world::{NOBODY, World};

/// Shows that it works; where the kernel may lack what it needs, that the kernel says so.
pub(crate) fn show(attack: &Attack, program: &Program) {
    let root = Uid::effective().is_root();
    let as_root = matches!(attack.control, Control::Root | Control::RootIfAble);
    let user = (root && !as_root).then_some(NOBODY);
    let world = World::new(user, None);
    let dir = tempfile::Builder::new().prefix("control-").tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::os::unix::fs::chown(&work, user, user).unwrap();
    let entry = dir.path().join("attack");
    super::write_program(&entry, &program.entry(attack, &world));
    let out = run(attack, &entry, &work, user);
    end_what_runs(&entry);
    for left in ["/dev/shm/gate4k-left", "/var/tmp/gate4k-left"] {
        let _ = std::fs::remove_file(left);
    }
    // Before the directory itself goes: a closed one is opened.
    let _ = Command::new("chmod").arg("-R").arg("u+rwx").arg(&work).output();
    let _ = Command::new("rm").arg("-rf").arg(&work).output();
    let works = out.contains("ESCAPED");
    // The program itself tells why not, and has not merely broken off.
    let refused = out.starts_with(&format!("HELD {} (", attack.name));
    let may_lack = matches!(attack.control, Control::IfAble | Control::RootIfAble);
    assert!(works || may_lack && refused, "it does not work outside: {out:?}");
}

/// The output of an attack, which is killed after a minute.
fn run(attack: &Attack, entry: &Path, work: &Path, user: Option<u32>) -> String {
    let output = work.parent().unwrap().join("output");
    let file = std::fs::File::create(&output).unwrap();
    let mut command = match attack.how {
        How::C => Command::new(entry),
        How::Sh(_) => {
            let mut command = Command::new("/bin/sh");
            command.arg(entry);
            command
        }
    };
    command
        .current_dir(work)
        .env("HOME", work)
        .env("TMPDIR", work)
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let mut child = super::started(&mut command);
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut text = Vec::new();
    std::fs::File::open(output).unwrap().read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// Kills what the attack has left running: its own copy of the program, and nothing else.
fn end_what_runs(entry: &Path) {
    for item in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = item.file_name().to_string_lossy().parse::<i32>() else {
            continue;
        };
        if std::fs::read_link(item.path().join("exe")).is_ok_and(|exe| exe == entry) {
            let pid = nix::unistd::Pid::from_raw(pid);
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
    }
}
