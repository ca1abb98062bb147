//! The objects and references of a repository, read by git without a word of the repository's own.
//!
//! Git runs what a repository's configuration names: filters, monitors, hooks, remotes, pagers. It also takes a
//! directory for a repository that merely looks like one, which a pull request can add. So git never looks
//! for a repository here, and never reads the configuration, the attributes or the index of one: it is given an
//! empty repository of ours, in which only the objects and the references are those of the real one.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::model::text::{escape, shown};

/// The longest of the small files in a `.git` directory that are read here.
const LONGEST: u64 = 1 << 16;

/// An error in asking git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program git could not be started.
    #[error(
        "--changed-since needs git, which could not be started: {0}; install it, or leave the option out"
    )]
    NoGit(io::Error),
    /// The folder is in no repository.
    #[error(
        "--changed-since: {} is in no repository that can be read ({why}); start gate4k in the one that holds the \
         entries",
        shown(folder)
    )]
    NoRepository {
        /// The folder in which it was looked for.
        folder: PathBuf,
        /// The reason.
        why: String,
    },
    /// The folder is in a submodule, which a pull request to the repository around it can add.
    #[error(
        "--changed-since: {} is a submodule of {}, and which one it is may itself be a change; start gate4k in that \
         one, or in a clone of the submodule alone",
        shown(top),
        shown(outer)
    )]
    Submodule {
        /// The submodule.
        top: PathBuf,
        /// The repository around it.
        outer: PathBuf,
    },
    /// The revision is not there.
    #[error(
        "--changed-since: git knows no commit {rev:?} in {}{}; fetch it first (in GitHub Actions: `fetch-depth: 0`), and \
         name it by its branch or its sum: `@{{upstream}}` and logs are not read",
        shown(top),
        if said.is_empty() { String::new() } else { format!(" ({said})") }
    )]
    NoRevision {
        /// The revision that was asked for.
        rev: String,
        /// The top folder of the repository.
        top: PathBuf,
        /// The message of git.
        said: String,
    },
    /// The program git failed later.
    #[error(
        "--changed-since: `git {command}` failed: {said}; where this clone is partial, fetch the commit whole"
    )]
    Failed {
        /// The command, without its `git`.
        command: String,
        /// The message of git.
        said: String,
    },
    /// Our own repository could not be made.
    #[error(
        "--changed-since: cannot make a directory for git in {}: {source}; set TMPDIR to where there is room",
        shown(&std::env::temp_dir())
    )]
    NoRoom {
        /// The system's error.
        source: io::Error,
    },
}

/// The folders of a repository's files.
struct FoundRepository {
    /// The directory that holds `.git`.
    top: PathBuf,
    /// Its own directory of git; another than the common one in a linked work tree.
    own: PathBuf,
    /// The directory of objects and branches.
    common: PathBuf,
    /// True if `.git` is a file that only leads to `own`.
    led: bool,
}

/// A repository, by its objects and references alone.
#[derive(Debug)]
pub(super) struct Repository {
    top: PathBuf,
    objects: PathBuf,
    ours: tempfile::TempDir,
}

impl Repository {
    /// The one that `folder` is in: the nearest directory above with a `.git`, a name that no pull request
    /// can give to a file. A directory that looks like a repository itself is none.
    ///
    /// # Errors
    /// When there is none, or a submodule.
    pub(super) fn above(folder: &Path) -> Result<Repository, GitError> {
        let missing = |why: String| GitError::NoRepository { folder: folder.to_owned(), why };
        let start = folder.canonicalize().map_err(|error| missing(error.to_string()))?;
        let found = FoundRepository::above(&start)
            .map_err(|error| missing(error.to_string()))?
            .ok_or_else(|| missing("there is no .git here or above".to_owned()))?;
        if found.led
            && found.own == found.common
            && let Some(above) = found.top.parent()
            && let Ok(Some(outer)) = FoundRepository::above(above)
            && [&outer.own, &outer.common].iter().any(|git| found.own.starts_with(git))
        {
            return Err(GitError::Submodule { top: found.top, outer: outer.top });
        }
        let objects = found.common.join("objects");
        if !objects.is_dir() {
            return Err(missing(format!("there is no directory {}", shown(&objects))));
        }
        let no_room = |source| GitError::NoRoom { source };
        let ours = tempfile::Builder::new().prefix("gate4k-git-").tempdir().map_err(no_room)?;
        let repository = Repository { top: found.top.clone(), objects, ours };
        repository.furnish(&found).map_err(no_room)?;
        Ok(repository)
    }

    /// Makes our repository: references as they are there, and a configuration that says no more than how
    /// sums are made and references kept.
    fn furnish(&self, found: &FoundRepository) -> io::Result<()> {
        let ours = self.ours.path();
        let config =
            "[core]\nrepositoryformatversion = 1\nbare = true\ncommitGraph = false\n[extensions]\n";
        fs::write(ours.join("config"), config)?;
        for name in ["HEAD", "FETCH_HEAD", "ORIG_HEAD"] {
            let text = short(&found.own.join(name)).unwrap_or_default();
            if !text.is_empty() {
                fs::write(ours.join(name), text)?;
            } else if name == "HEAD" {
                fs::write(ours.join(name), "ref: refs/heads/none\n")?;
            }
        }
        for name in ["refs", "packed-refs", "shallow"] {
            let theirs = found.common.join(name);
            let right = if name == "refs" { theirs.is_dir() } else { theirs.is_file() };
            if right {
                symlink(theirs, ours.join(name))?;
            } else if name == "refs" {
                fs::create_dir(ours.join(name))?;
            }
        }
        let mut extensions = String::new();
        // Two facts that objects and references cannot be read without; git parses the file and runs nothing.
        let theirs = found.common.join("config");
        if theirs.is_file() {
            let words = [
                "config".as_ref(),
                "--file".as_ref(),
                theirs.as_os_str(),
                "--no-includes".as_ref(),
                "--get".as_ref(),
                "extensions.objectformat".as_ref(),
            ];
            if self.git(&words).is_ok_and(|output| output.stdout.trim_ascii() == b"sha256") {
                extensions.push_str("objectFormat = sha256\n");
            }
        }
        let table = found.common.join("reftable");
        // A linked work tree has one of its own beside it, so that a HEAD would be the wrong one.
        if table.is_dir() && found.own == found.common {
            symlink(table, ours.join("reftable"))?;
            extensions.push_str("refStorage = reftable\n");
        }
        fs::write(ours.join("config"), format!("{config}{extensions}"))
    }

    /// The top of the work tree.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// The sum of the commit that `rev` names.
    ///
    /// # Errors
    /// When there is no such commit.
    pub(super) fn commit(&self, rev: &str) -> Result<String, GitError> {
        let commit = format!("{rev}^{{commit}}");
        let output = self.git(&["rev-parse", "--verify", "--end-of-options", &commit])?;
        let sum = String::from_utf8_lossy(output.stdout.trim_ascii()).into_owned();
        if output.status.success() && is_sum(&sum) {
            return Ok(sum);
        }
        // So git says that a name stands for nothing.
        let said =
            Some(complaint(&output)).filter(|said| !said.contains("Needed a single revision"));
        Err(GitError::NoRevision {
            rev: rev.to_owned(),
            top: self.top.clone(),
            said: said.unwrap_or_default(),
        })
    }

    /// Every file, link, directory and submodule of a commit, as `git ls-tree -r -t -z` lists them.
    ///
    /// # Errors
    /// When git cannot read it.
    pub(super) fn listing(&self, commit: &str) -> Result<Vec<u8>, GitError> {
        self.said(&["ls-tree", "-r", "-t", "-z", "--full-tree", commit])
    }

    /// The bytes of a file, or the target of a link, by its sum.
    ///
    /// # Errors
    /// When it is not there.
    pub(super) fn blob(&self, sum: &str) -> Result<Vec<u8>, GitError> {
        self.said(&["cat-file", "blob", sum])
    }

    fn said(&self, words: &[&str]) -> Result<Vec<u8>, GitError> {
        let output = self.git(words)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(GitError::Failed { command: words.join(" "), said: complaint(&output) })
    }

    fn git<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<Output, GitError> {
        let ours = self.ours.path();
        let mut command = Command::new("git");
        command
            .args(words)
            // No name of a program can lead into the repository, even where PATH has a relative one.
            .current_dir(ours)
            .env_clear()
            .env("GIT_DIR", ours)
            .env("GIT_OBJECT_DIRECTORY", &self.objects)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("HOME", ours)
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.output().map_err(GitError::NoGit)
    }
}

impl FoundRepository {
    /// The nearest one above a directory that is told without links.
    fn above(folder: &Path) -> io::Result<Option<FoundRepository>> {
        for top in folder.ancestors() {
            let git = top.join(".git");
            let Ok(meta) = git.metadata() else { continue };
            let own = if meta.is_dir() {
                git.canonicalize()?
            } else {
                let text = short(&git)?;
                let target = text.strip_prefix(b"gitdir: ").ok_or_else(|| {
                    io::Error::other(format!("{} names no directory", shown(&git)))
                })?;
                top.join(path_of(target)).canonicalize()?
            };
            let common = match short(&own.join("commondir")) {
                Ok(text) => own.join(path_of(&text)).canonicalize()?,
                Err(_) => own.clone(),
            };
            return Ok(Some(FoundRepository {
                top: top.to_owned(),
                own,
                common,
                led: !meta.is_dir(),
            }));
        }
        Ok(None)
    }
}

/// A small file, whole.
fn short(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe of that name would be waited for.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other(format!("{} is no file", shown(path))));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The path that a line holds.
fn path_of(line: &[u8]) -> PathBuf {
    let end = line.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
    PathBuf::from(OsString::from_vec(line[..end].to_vec()))
}

fn is_sum(text: &str) -> bool {
    [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn complaint(output: &Output) -> String {
    match escape(output.stderr.trim_ascii(), 400) {
        said if said.is_empty() => "it said no more".to_owned(),
        said => said,
    }
}
