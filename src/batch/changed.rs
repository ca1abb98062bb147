//! The changes of a branch: the entries that differ from those of its target branch, and the settings that decide on
//! them as the target branch has them.
//!
//! All of it is told against the tip of that branch, the revision that is given, and never against where the
//! two parted. An entry that is the same as at the tip stays what it was by any merge, so that only those that
//! differ need to be judged; and the tip is the one commit that a pull request has no part in. Where the
//! branches parted is told by the pull request's own history: a commit that was merged and taken back, and a
//! branch from it, would hide an entry that a rebase brings in again. A branch that is behind has the price: what
//! was changed at the tip meanwhile is judged as well, as the branch has it.
//!
//! Files are compared as they lie there, byte for byte and with their modes: no attribute, filter, ignore file or
//! mark of an index has a say.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use sha1::Sha1;
use sha2::{Digest, Sha256};
use tracing::debug;

pub(crate) use super::repository::GitError;
use super::repository::Repository;
pub(crate) use super::tree::LinkError;
use super::tree::{CommitNode, CommitTree, follow};
use crate::model::text::{add_all, hex, shown};

/// An error in finding the changes of a branch.
#[derive(Debug, thiserror::Error)]
pub enum ChangedError {
    /// Git could not.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The listing that git gives of a commit is in no form that is known.
    #[error(
        "--changed-since: the files of {rev:?} are listed in an unknown form; is this git newer?"
    )]
    Listing {
        /// The commit.
        rev: String,
    },
    /// The path lies outside of the repository.
    #[error(
        "--changed-since: {} is not in the repository {} that gate4k was started in; start it in that one",
        shown(path),
        shown(top)
    )]
    Elsewhere {
        /// The path.
        path: PathBuf,
        /// The folder that gate4k was started in.
        top: PathBuf,
    },
    /// A file of settings cannot be found by its links.
    #[error(
        "--changed-since: {why} as {rev} has it, and such a file decides nothing; make it a file there"
    )]
    Astray {
        /// The commit.
        rev: String,
        /// The reason.
        why: LinkError,
    },
}

/// A file of settings as the target branch has it.
#[derive(Debug, PartialEq, Eq)]
pub enum TargetSettings {
    /// The file lies outside of the repository, where no branch has a say.
    Outside,
    /// There is none.
    Missing,
    /// Its bytes.
    Text(Vec<u8>),
}

/// A file of settings as the branch would have it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProposedSettings {
    /// The text is as the target branch has it, or of no branch.
    AsBefore,
    /// There is none.
    Gone,
    /// Another text.
    Text(String),
    /// Nothing that would be read as a text; the reason.
    Unreadable(&'static str),
}

/// A commit, and the files as they are in the work tree.
#[derive(Debug)]
pub struct RepositoryChanges {
    repository: Repository,
    rev: String,
    tree: CommitTree,
}

/// The work tree is not as the commit has it.
struct TreeDiffers;

impl From<LinkError> for TreeDiffers {
    fn from(_: LinkError) -> TreeDiffers {
        TreeDiffers
    }
}

/// A link of a file of settings that cannot be followed.
enum UnfollowedLink {
    Astray(LinkError),
    Git(GitError),
}

impl From<LinkError> for UnfollowedLink {
    fn from(why: LinkError) -> UnfollowedLink {
        UnfollowedLink::Astray(why)
    }
}

impl RepositoryChanges {
    /// Compares with the commit `rev`, in the repository that `folder` is in.
    ///
    /// # Errors
    /// When git, the repository or the commit is not there.
    pub fn since(rev: &str, folder: &Path) -> Result<RepositoryChanges, ChangedError> {
        let repository = Repository::above(folder)?;
        let commit = repository.commit(rev)?;
        let tree = CommitTree::parse(&repository.listing(&commit)?)
            .ok_or_else(|| ChangedError::Listing { rev: rev.to_owned() })?;
        debug!(top = %shown(repository.top()), commit, "compared with this commit");
        Ok(RepositoryChanges { repository, rev: rev.to_owned(), tree })
    }

    /// True if an entry, or a file, differs from the commit's.
    ///
    /// # Errors
    /// When it lies outside of the repository.
    pub fn touches(&self, path: &Path) -> Result<bool, ChangedError> {
        let top = self.repository.top();
        let place = below(top, path).ok_or_else(|| ChangedError::Elsewhere {
            path: path.to_owned(),
            top: top.to_owned(),
        })?;
        Ok(self.differs(&place, &mut HashSet::new()))
    }

    /// A file of settings as the branch would have it. It decides nothing: whoever merges the branch should know whether
    /// it can be read. No link is followed but those that the commit has too, since the text behind another one could be
    /// told in an error; and nothing is read beyond a MiB.
    ///
    /// # Errors
    /// As [`RepositoryChanges::before`].
    pub(crate) fn proposed(&self, path: &Path) -> Result<ProposedSettings, ChangedError> {
        /// Bytes of a file of settings at most.
        const MOST: u64 = 1 << 20;
        let top = self.repository.top();
        let Some(place) = below(top, path) else { return Ok(ProposedSettings::AsBefore) };
        let Ok(place) = self.agreed(&place) else {
            // A link of the commit's own that leads nowhere is the commit's fault, and told as such.
            self.text(&place)?;
            return Ok(ProposedSettings::Unreadable(
                "a link leads there that was not there before; make it a file",
            ));
        };
        let file = top.join(&place);
        let Ok(meta) = file.symlink_metadata() else { return Ok(ProposedSettings::Gone) };
        if !self.differs(&place, &mut HashSet::new()) {
            return Ok(ProposedSettings::AsBefore);
        }
        if !meta.is_file() {
            return Ok(ProposedSettings::Unreadable("it is no file; make it one"));
        }
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let mut bytes = Vec::new();
        let read = OpenOptions::new().read(true).custom_flags(flags).open(&file);
        let read = read.and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
        Ok(match read {
            Err(_) => ProposedSettings::Unreadable("it cannot be read"),
            Ok(_) if bytes.len() as u64 > MOST => {
                ProposedSettings::Unreadable("it is longer than 1 MiB, the most that is read")
            }
            Ok(_) => ProposedSettings::Text(String::from_utf8_lossy(&bytes).into_owned()),
        })
    }

    /// True if the way to `path` leads over another link than the commit has, so that it is about something else now.
    pub fn leads_elsewhere(&self, path: &Path) -> bool {
        below(self.repository.top(), path).is_some_and(|place| self.agreed(&place).is_err())
    }

    /// A file of settings as the commit has it, and never as the work tree does.
    ///
    /// # Errors
    /// When its links lead out of the repository, or git cannot read it.
    pub fn before(&self, path: &Path) -> Result<TargetSettings, ChangedError> {
        match below(self.repository.top(), path) {
            None => Ok(TargetSettings::Outside),
            Some(place) => {
                Ok(self.text(&place)?.map_or(TargetSettings::Missing, TargetSettings::Text))
            }
        }
    }

    /// The nearest file of that name above `folder`, as the commit has it.
    ///
    /// # Errors
    /// As [`RepositoryChanges::before`].
    pub(crate) fn nearest(
        &self,
        folder: &Path,
        name: &str,
    ) -> Result<Option<(PathBuf, Vec<u8>)>, ChangedError> {
        let top = self.repository.top();
        let place = below(top, folder).unwrap_or_default();
        for folder in place.ancestors() {
            if let Some(text) = self.text(&folder.join(name))? {
                return Ok(Some((top.join(folder).join(name), text)));
            }
        }
        Ok(None)
    }

    fn text(&self, place: &Path) -> Result<Option<Vec<u8>>, ChangedError> {
        let led = follow::<UnfollowedLink>(place, |at| self.link(at).map_err(UnfollowedLink::Git));
        let place = led.map_err(|lost| match lost {
            UnfollowedLink::Git(error) => ChangedError::Git(error),
            UnfollowedLink::Astray(why) => ChangedError::Astray { rev: self.rev.clone(), why },
        })?;
        match self.tree.at(&place) {
            Some(CommitNode::File { sum, .. }) => Ok(Some(self.repository.blob(sum)?)),
            _ => Ok(None),
        }
    }

    /// The target of the link that the commit has at a path.
    fn link(&self, at: &Path) -> Result<Option<PathBuf>, GitError> {
        match self.tree.at(at) {
            Some(CommitNode::Link { sum }) => {
                Ok(Some(PathBuf::from(OsString::from_vec(self.repository.blob(sum)?))))
            }
            _ => Ok(None),
        }
    }

    /// The path behind the links that the commit and the work tree have in common.
    fn agreed(&self, place: &Path) -> Result<PathBuf, TreeDiffers> {
        follow(place, |at| {
            let here = fs::read_link(self.repository.top().join(at)).ok();
            let there = self.link(at).map_err(|_| TreeDiffers)?;
            if here == there { Ok(here) } else { Err(TreeDiffers) }
        })
    }

    /// True if anything at a path or below it differs; the targets of links belong to it.
    fn differs(&self, place: &Path, seen: &mut HashSet<PathBuf>) -> bool {
        let Ok(place) = self.agreed(place) else { return true };
        if !seen.insert(place.clone()) {
            return false;
        }
        let here = self.repository.top().join(&place);
        let meta = match here.symlink_metadata() {
            Ok(meta) => Some(meta),
            Err(error) if is_gone(&error) => None,
            Err(_) => return true,
        };
        match (meta, self.tree.at(&place)) {
            (None, None) => false,
            (Some(meta), Some(CommitNode::Folder)) if meta.is_dir() => {
                let Ok(mut names) = names(&here) else { return true };
                if place.as_os_str().is_empty() {
                    names.remove(OsStr::new(".git"));
                }
                names.extend(self.tree.names(&place));
                names.iter().any(|name| self.differs(&place.join(name), seen))
            }
            (Some(meta), Some(CommitNode::File { executable, sum })) if meta.is_file() => {
                (meta.mode() & 0o100 != 0) != *executable || !has_sum(&here, sum)
            }
            _ => true,
        }
    }
}

/// `path` from `top` on, which has no links itself; none where the path does not lead through it. Links outside
/// of it are followed; those within it are the repository's own, and left alone.
fn below(top: &Path, path: &Path) -> Option<PathBuf> {
    let mut here = PathBuf::from("/");
    let mut rest = whole(path);
    for _ in 0..1000 {
        let mut parts = rest.components();
        let part = parts.next()?;
        let mut after = parts.as_path().to_owned();
        match part {
            Component::ParentDir => {
                here.pop();
            }
            Component::Normal(name) => match fs::read_link(here.join(name)) {
                Ok(target) => after = target.join(after),
                Err(_) => here.push(name),
            },
            Component::RootDir => here = PathBuf::from("/"),
            Component::CurDir | Component::Prefix(_) => {}
        }
        if here == top {
            return Some(after);
        }
        rest = after;
    }
    None
}

/// The absolute path. A way up starts at the current directory, which is told without links.
fn whole(path: &Path) -> PathBuf {
    let mut start = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let mut parts = path.components();
    let mut rest = parts.as_path();
    while let Some(part @ (Component::CurDir | Component::ParentDir)) = parts.next() {
        if part == Component::ParentDir {
            start.pop();
        }
        rest = parts.as_path();
    }
    start.join(rest)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn names(folder: &Path) -> io::Result<BTreeSet<OsString>> {
    folder.read_dir()?.map(|item| Ok(item?.file_name())).collect()
}

/// True if a file has this sum of git's, by SHA-1 or SHA-256 as its length says. A file that shares a SHA-1 with
/// another cannot be in one repository with it, and git refuses both.
fn has_sum(path: &Path, sum: &str) -> bool {
    let found = match sum.len() {
        40 => blob_sum::<Sha1>(path),
        _ => blob_sum::<Sha256>(path),
    };
    found.is_ok_and(|found| found == sum)
}

fn blob_sum<D: Digest>(path: &Path) -> io::Result<String> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let length = file.metadata()?.len();
    let mut digest = D::new();
    digest.update(format!("blob {length}\0"));
    add_all(&mut digest, file.take(length))?;
    Ok(hex(digest.finalize()))
}

/// True if nothing is at `path`.
pub fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| is_gone(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_is_told_from_the_top_whatever_way_it_comes() {
        let top = tempfile::tempdir().unwrap();
        let base = top.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("r/in")).unwrap();
        symlink("r/in", base.join("way")).unwrap();
        symlink("in", base.join("r/link")).unwrap();
        symlink("round", base.join("round")).unwrap();
        let below = |path: &str| below(&base.join("r"), &base.join(path));
        assert_eq!(below("r"), Some("".into()));
        assert_eq!(below("r/in/x"), Some("in/x".into()));
        assert_eq!(below("way/x"), Some("in/x".into()));
        assert_eq!(below("other/../r/x"), Some("x".into()));
        // Its own links are left to those who know the commit.
        assert_eq!(below("r/link/x"), Some("link/x".into()));
        assert_eq!(below("s"), None);
        assert_eq!(below("round/x"), None);
    }
}
