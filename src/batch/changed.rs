//! What a branch changed, by git: which entries a pull request touched, and how the files that decide on
//! them were before it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tracing::debug;

use crate::model::text::{escape, shown};

/// Why git could not tell.
#[derive(Debug, thiserror::Error)]
pub enum ChangedError {
    /// It could not be started.
    #[error(
        "--changed-since needs git, which could not be started: {0}; install it, or leave the option out"
    )]
    NoGit(std::io::Error),
    /// The folder is in no repository, or in one that git does not trust.
    #[error("--changed-since: {} is in no repository that git can read: {said}", shown(folder))]
    NoRepository {
        /// Where.
        folder: PathBuf,
        /// What git said.
        said: String,
    },
    /// The revision is not there.
    #[error(
        "--changed-since: git knows no commit {rev:?} in {}: {said}; fetch it first (in GitHub Actions: \
         `fetch-depth: 0`)",
        shown(folder)
    )]
    NoRevision {
        /// What was asked for.
        rev: String,
        /// Where.
        folder: PathBuf,
        /// What git said.
        said: String,
    },
    /// It failed later.
    #[error("--changed-since: `git {command}` failed: {said}")]
    Failed {
        /// What was tried.
        command: String,
        /// What git said.
        said: String,
    },
}

/// What differs between a commit and the files as they are.
#[derive(Debug)]
pub struct Changes {
    top: PathBuf,
    base: String,
    paths: Vec<PathBuf>,
}

impl Changes {
    /// All that changed since `rev` and HEAD parted, in the repository that `folder` is in: in commits, in
    /// files that are not committed, and in files that git does not know yet.
    ///
    /// # Errors
    /// When git, the repository or the commit is not there.
    pub fn since(rev: &str, folder: &Path) -> Result<Changes, ChangedError> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let top = text(git(folder, &["rev-parse", "--show-toplevel"])?)
            .map_err(|said| ChangedError::NoRepository { folder: folder.to_owned(), said })?;
        let top = PathBuf::from(OsString::from_vec(top));
        let top = top.canonicalize().unwrap_or(top);
        let commit = format!("{rev}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let base = text(git(&top, &words)?).map_err(|said| ChangedError::NoRevision {
            rev: rev.to_owned(),
            folder: top.clone(),
            said,
        })?;
        let base = String::from_utf8_lossy(&base).into_owned();
        // Where history is cut off there may be no common commit; then the commit itself is compared with.
        let parted = text(git(&top, &["merge-base", &base, "HEAD"])?).unwrap_or_default();
        let base = match String::from_utf8_lossy(&parted).lines().next() {
            Some(parted) if !parted.is_empty() => parted.to_owned(),
            _ => base,
        };
        let mut paths = Vec::new();
        // No program that a repository names is run, and a file that moved is two changes.
        let diff =
            ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", &base];
        for words in [&diff[..], &["ls-files", "--others", "--exclude-standard", "-z"]] {
            let output = git(&top, words)?;
            if !output.status.success() {
                return Err(ChangedError::Failed {
                    command: words.join(" "),
                    said: complaint(&output),
                });
            }
            let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            paths.extend(names.map(|name| top.join(OsStr::from_bytes(name))));
        }
        debug!(top = %shown(&top), base, paths = paths.len(), "changes told by git");
        Ok(Changes { top, base, paths })
    }

    /// The top of the repository.
    #[must_use]
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Whether `path`, or something below it, differs.
    #[must_use]
    pub fn touches(&self, path: &Path) -> bool {
        let path = whole(path);
        self.paths.iter().any(|changed| changed.starts_with(&path))
    }

    /// Whether nothing is at `path` any more that the commit had there.
    #[must_use]
    pub fn removed(&self, path: &Path) -> bool {
        path.symlink_metadata().is_err() && self.touches(path)
    }

    /// The bytes of a file as the commit has it; none where it has no such file.
    #[must_use]
    pub fn before(&self, path: &Path) -> Option<Vec<u8>> {
        let path = whole(path);
        let below = path.strip_prefix(&self.top).ok()?;
        let mut object = OsString::from(format!("{}:", self.base));
        object.push(below);
        let words = [OsStr::new("cat-file"), OsStr::new("blob"), &object];
        let output = git(&self.top, &words).ok()?;
        output.status.success().then_some(output.stdout)
    }
}

/// The absolute path, without following what its last part may be a link to.
fn whole(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path.canonicalize().unwrap_or(path),
    }
}

fn git<S: AsRef<OsStr>>(folder: &Path, words: &[S]) -> Result<Output, ChangedError> {
    Command::new("git")
        .arg("-C")
        .arg(folder)
        // Neither hooks' surroundings nor a monitor that the repository names.
        .args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
        .args(words)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null())
        .output()
        .map_err(ChangedError::NoGit)
}

fn text(output: Output) -> Result<Vec<u8>, String> {
    if output.status.success() {
        let mut bytes = output.stdout;
        while bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Ok(bytes)
    } else {
        Err(complaint(&output))
    }
}

fn complaint(output: &Output) -> String {
    match escape(output.stderr.trim_ascii(), 400) {
        said if said.is_empty() => "it said no more".to_owned(),
        said => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A repository with one commit; none where there is no git.
    fn repository() -> Option<tempfile::TempDir> {
        let top = tempfile::tempdir().unwrap();
        if git(top.path(), &["init", "-q", "-b", "main"]).is_err() {
            eprintln!("skipped: there is no git here");
            return None;
        }
        write(&top, &[("entries/a/engine", "1"), ("entries/b/engine", "1"), ("list.toml", "old")]);
        commit(&top);
        Some(top)
    }

    fn write(top: &tempfile::TempDir, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn commit(top: &tempfile::TempDir) {
        let who = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"];
        for words in [&["add", "-A"][..], &["commit", "-q", "-m", "x"]] {
            let output = git(top.path(), &[&who[..], words].concat()).unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    }

    #[test]
    fn what_a_branch_touched_is_told_and_nothing_else() {
        let Some(top) = repository() else { return };
        git(top.path(), &["switch", "-q", "-c", "pull"]).unwrap();
        write(&top, &[("entries/c d\n/engine", "new"), ("list.toml", "new")]);
        commit(&top);
        // The other branch went on meanwhile, which is none of this one's changes.
        git(top.path(), &["switch", "-q", "main"]).unwrap();
        write(&top, &[("entries/b/engine", "2")]);
        commit(&top);
        git(top.path(), &["switch", "-q", "pull"]).unwrap();
        fs::remove_dir_all(top.path().join("entries/a")).unwrap();
        write(&top, &[("entries/e/engine", "not committed")]);

        let changes = Changes::since("main", &top.path().join("entries")).unwrap();
        let touched = |name: &str| changes.touches(&top.path().join(name));
        assert!(touched("entries/c d\n") && touched("entries/e") && touched("entries/a"));
        assert!(!touched("entries/b") && !touched("entries/c"));
        assert!(changes.removed(&top.path().join("entries/a")));
        assert!(!changes.removed(&top.path().join("entries/e")));
        assert!(!changes.removed(&top.path().join("entries/never")));
        assert_eq!(changes.before(&top.path().join("list.toml")).unwrap(), b"old");
        assert_eq!(changes.before(&top.path().join("entries/e/engine")), None);
    }

    #[test]
    fn what_git_does_not_know_is_told() {
        let Some(top) = repository() else { return };
        let error = Changes::since("no-such", top.path()).unwrap_err();
        assert!(matches!(error, ChangedError::NoRevision { .. }), "{error}");
        // A word that looks like an option is none.
        let error = Changes::since("--all", top.path()).unwrap_err();
        assert!(matches!(error, ChangedError::NoRevision { .. }), "{error}");
        let error = Changes::since("main", Path::new("/proc")).unwrap_err();
        assert!(matches!(error, ChangedError::NoRepository { .. }), "{error}");
    }
}
