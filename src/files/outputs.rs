//! Several files of one command: what is written to one of them must not destroy another.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::write::folder_of;
use crate::model::text::shown;

/// A file of a command, with the words that name it in a message: `--pgn`, `the book`.
pub(crate) type NamedPath<'a> = (&'a str, &'a Path);

/// The files that a command line names, out of all that it may name.
pub(crate) fn given<'a>(all: &[(&'a str, Option<&'a Path>)]) -> Vec<NamedPath<'a>> {
    all.iter().filter_map(|(words, path)| Some((*words, (*path)?))).collect()
}

#[derive(PartialEq, Eq)]
enum Identity {
    /// A file that is there.
    There { device: u64, number: u64 },
    /// A file that is made.
    New(PathBuf),
}

/// Two files of a command are one.
#[derive(Debug, thiserror::Error)]
#[error("{one} and {other} are both {}; name another file for {one}", shown(path))]
pub(crate) struct SameFile {
    one: String,
    other: String,
    path: PathBuf,
}

/// Checks that each output is a file of its own, and none of the inputs. Devices and pipes may be shared.
///
/// # Errors
/// The first output that is another's file.
pub(crate) fn distinct(
    outputs: &[NamedPath<'_>],
    inputs: &[NamedPath<'_>],
) -> Result<(), SameFile> {
    for (at, (one, path)) in outputs.iter().enumerate() {
        let Some(identity) = identity(path) else { continue };
        let others = outputs[..at].iter().chain(inputs);
        for (other, other_path) in others {
            if self::identity(other_path).as_ref() == Some(&identity) {
                let (one, other) = ((*one).to_owned(), (*other).to_owned());
                return Err(SameFile { one, other, path: path.to_path_buf() });
            }
        }
    }
    Ok(())
}

/// The identity of an output; none for one that may be shared, and for one that cannot be told: opening it tells why.
fn identity(path: &Path) -> Option<Identity> {
    if let Ok(there) = path.metadata() {
        let (device, number) = (there.dev(), there.ino());
        return there.is_file().then_some(Identity::There { device, number });
    }
    // A link may lead to where another output makes its file.
    let path = match path.read_link() {
        Ok(link) => path.parent()?.join(link),
        Err(_) => path.to_owned(),
    };
    let folder = folder_of(&path).canonicalize().ok()?;
    Some(Identity::New(folder.join(path.file_name()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn one_file_under_two_names_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let there = |name: &str| dir.path().join(name);
        std::fs::write(there("old"), "").unwrap();
        std::fs::hard_link(there("old"), there("hard")).unwrap();
        symlink("old", there("soft")).unwrap();
        symlink("new", there("dangling")).unwrap();
        std::fs::create_dir(there("in")).unwrap();
        let same = |one: &str, other: &str| {
            let (one, other) = (there(one), there(other));
            let both = [
                distinct(&[("--a", &one), ("--b", &other)], &[]),
                distinct(&[("--a", &one)], &[("it", &other)]),
            ];
            both.map(|found| found.is_err())
        };
        for (one, other) in [
            ("old", "old"),
            ("old", "hard"),
            ("soft", "old"),
            ("new", "in/../new"),
            ("dangling", "new"),
        ] {
            assert_eq!(same(one, other), [true, true], "{one} {other}");
        }
        for (one, other) in [("old", "new"), ("new", "in/new"), ("no/where", "no/where")] {
            assert_eq!(same(one, other), [false, false], "{one} {other}");
        }
        let null = Path::new("/dev/null");
        assert!(distinct(&[("--a", null), ("--b", null)], &[("it", null)]).is_ok());
    }
}
