//! The files of a commit, and where a path in it leads.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::model::text::shown;

/// The most links that are followed in one path, as by the kernel.
const MOST_LINKS: usize = 40;

/// The item that a commit has at a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CommitNode {
    File {
        executable: bool,
        sum: String,
    },
    Link {
        sum: String,
    },
    Folder,
    /// A commit of another repository.
    Submodule,
}

/// An error in following the links of a path.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// To a place that no commit can speak of.
    #[error("{} leads out of the repository", shown(.0))]
    Out(PathBuf),
    /// Round and round.
    #[error("{} leads through more than {MOST_LINKS} links", shown(.0))]
    Links(PathBuf),
}

/// The files of a commit, by their paths from the top.
#[derive(Debug)]
pub(super) struct CommitTree {
    nodes: BTreeMap<PathBuf, CommitNode>,
}

impl CommitTree {
    /// Reads `MODE TYPE SUM<tab>PATH`, each ended by a zero byte; none where a line is anything else.
    pub(super) fn parse(listing: &[u8]) -> Option<CommitTree> {
        let lines = listing.split(|byte| *byte == 0).filter(|line| !line.is_empty());
        let nodes = lines
            .map(|line| {
                let tab = line.iter().position(|byte| *byte == b'\t')?;
                let (words, path) = (std::str::from_utf8(&line[..tab]).ok()?, &line[tab + 1..]);
                let mut words = words.split(' ');
                let (mode, _, sum) = (words.next()?, words.next()?, words.next()?.to_owned());
                let node = match mode {
                    "040000" => CommitNode::Folder,
                    "120000" => CommitNode::Link { sum },
                    "160000" => CommitNode::Submodule,
                    "100755" => CommitNode::File { executable: true, sum },
                    _ => CommitNode::File { executable: false, sum },
                };
                Some((PathBuf::from(OsStr::from_bytes(path)), node))
            })
            .collect::<Option<_>>()?;
        Some(CommitTree { nodes })
    }

    /// Returns the item at a path, of which no part is a link.
    pub(super) fn at(&self, path: &Path) -> Option<&CommitNode> {
        if path.as_os_str().is_empty() { Some(&CommitNode::Folder) } else { self.nodes.get(path) }
    }

    /// Returns the names in a directory.
    pub(super) fn names(&self, folder: &Path) -> BTreeSet<OsString> {
        // Paths are in the order of their parts, so that what is below a directory follows it.
        self.nodes
            .range::<Path, _>((Bound::Included(folder), Bound::Unbounded))
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(folder))
            .filter(|path| path.parent() == Some(folder))
            .filter_map(|path| path.file_name().map(OsStr::to_owned))
            .collect()
    }
}

/// Where `path`, told from the top, leads when links are followed; `link` says where the one at a path leads to,
/// if there is one.
pub(super) fn follow<E: From<LinkError>>(
    path: &Path,
    mut link: impl FnMut(&Path) -> Result<Option<PathBuf>, E>,
) -> Result<PathBuf, E> {
    let mut rest = path.to_owned();
    let mut here = PathBuf::new();
    let mut links = 0;
    loop {
        let mut parts = rest.components();
        let Some(part) = parts.next() else { return Ok(here) };
        let mut after = parts.as_path().to_owned();
        match part {
            Component::CurDir => {}
            Component::ParentDir if here.pop() => {}
            Component::Normal(name) => {
                let next = here.join(name);
                match link(&next)? {
                    None => here = next,
                    Some(_) if links == MOST_LINKS => {
                        return Err(LinkError::Links(path.to_owned()).into());
                    }
                    Some(target) => {
                        links += 1;
                        after = target.join(after);
                    }
                }
            }
            _ => return Err(LinkError::Out(path.to_owned()).into()),
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> CommitTree {
        let listing = b"040000 tree aa\ta\x00100755 blob ab\ta/b\x00100644 blob ac\ta/\n\xff\x00040000 tree ad\ta/d\x00\
            100644 blob ae\ta/d/e\x00100644 blob af\ta-b\x00120000 blob b0\tl\x00160000 commit b1\tm\x00";
        CommitTree::parse(listing).unwrap()
    }

    #[test]
    fn a_listing_is_read_with_any_name() {
        let tree = tree();
        let file = |executable, sum: &str| CommitNode::File { executable, sum: sum.into() };
        assert_eq!(tree.at(Path::new("a/b")), Some(&file(true, "ab")));
        assert_eq!(tree.at(Path::new(OsStr::from_bytes(b"a/\n\xff"))), Some(&file(false, "ac")));
        assert_eq!(tree.at(Path::new("l")), Some(&CommitNode::Link { sum: "b0".into() }));
        assert_eq!(tree.at(Path::new("m")), Some(&CommitNode::Submodule));
        assert_eq!(tree.at(Path::new("")), Some(&CommitNode::Folder));
        assert_eq!(tree.at(Path::new("a/d/e/f")), None);
        assert!(
            CommitTree::parse(b"100644 blob ab\0").is_none() && CommitTree::parse(b"").is_some()
        );
    }

    #[test]
    fn a_directory_holds_what_is_right_below_it() {
        let names = |folder: &str| {
            let names = tree().names(Path::new(folder)).into_iter();
            names.map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names("a"), ["\n\u{fffd}", "b", "d"]);
        assert_eq!(names("a/d"), ["e"]);
        assert_eq!(names(""), ["a", "a-b", "l", "m"]);
        assert_eq!(names("a/b"), [""; 0]);
        assert_eq!(names("z"), [""; 0]);
    }

    #[test]
    fn links_are_followed_within_the_top() {
        let follow = |path: &str| {
            follow::<LinkError>(Path::new(path), |at| {
                Ok(match at.to_str() {
                    Some("conf") => Some("lists/new".into()),
                    Some("lists/new/x") => Some("../old/./y".into()),
                    Some("round") => Some("round".into()),
                    Some("out") => Some("/etc".into()),
                    Some("up/deep") => Some("../../x".into()),
                    _ => None,
                })
            })
        };
        assert_eq!(follow("conf/x"), Ok("lists/old/y".into()));
        assert_eq!(follow("./a/../b/"), Ok("b".into()));
        assert_eq!(follow("conf/.."), Ok("lists".into()));
        assert_eq!(follow(""), Ok("".into()));
        assert_eq!(follow("round/x"), Err(LinkError::Links("round/x".into())));
        for path in ["out/passwd", "up/deep", "..", "a/../../b", "/a"] {
            assert_eq!(follow(path), Err(LinkError::Out(path.into())), "{path}");
        }
    }
}
