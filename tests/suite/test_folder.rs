//! A folder of a test's own, in which it has files, a repository and gate4k at work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::outcome::Outcome;

/// A folder, and beside it a home of its own, so that nothing is kept from elsewhere.
pub(crate) struct TestFolder {
    top: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl TestFolder {
    pub(crate) fn new() -> TestFolder {
        TestFolder { top: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn top(&self) -> &Path {
        self.top.path()
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.top().join(name)
    }

    /// A file that can be executed.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A shipped entry under another name.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        self.write(format!("{to}/engine"), fixture(from));
    }

    /// gate4k with these words, in the folder.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command.args(words).current_dir(self.top()).env("COLUMNS", "120").env("HOME", self.home());
        command.env("XDG_CACHE_HOME", self.home().join("cache")).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Outcome {
        Outcome::of(&mut self.command(words))
    }

    /// The exit code, and all that is told.
    pub(crate) fn ask(&self, words: &[&str]) -> (i32, String) {
        self.run(words).together()
    }

    #[track_caller]
    pub(crate) fn git(&self, words: &[&str]) {
        git_in(self.top(), words);
    }

    /// All that is there, ignored files too.
    pub(crate) fn commit(&self) {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }
}

/// git as it is without the settings of whoever runs the tests.
#[track_caller]
pub(crate) fn git_in(folder: &Path, words: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"])
        .args(["-c", "protocol.file.allow=always"])
        .args(words)
        .current_dir(folder)
        .env_remove("XDG_CONFIG_HOME")
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

/// The bytes of a shipped entry (`accept/elf`).
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries");
    fs::read(top.join(name).join("engine")).unwrap()
}
