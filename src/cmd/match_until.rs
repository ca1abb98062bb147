//! The file that ends a match or its shards (`--until`).
//!
//! `merge --watch` writes into it of which match it is, so that one that is left from another match ends none. A file without
//! such a mark is somebody's own wish; where it is there before a match has begun, nobody can tell whether it is meant.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use super::note;
use crate::files::read;
use crate::files::write;
use crate::model::text::shown;

/// The beginning of the line that tells of which match a file is.
const OF: &str = "match ";

/// The file, and what the match is that it may end.
pub(super) struct UntilFile {
    path: PathBuf,
    /// The mark of the match; none where it keeps no journal, and so has none.
    mark: Option<String>,
    has_told: Cell<bool>,
}

/// The state of the file at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UntilFileState {
    Nothing,
    /// A file that ends this match.
    Own,
    /// A file that does not say of which match it is.
    Unmarked,
    /// A file of another match.
    Other,
}

impl UntilFile {
    pub(super) fn new(path: PathBuf, mark: Option<&str>) -> UntilFile {
        UntilFile { path, mark: mark.map(str::to_owned), has_told: Cell::new(false) }
    }

    fn look(&self) -> UntilFileState {
        if !self.path.exists() {
            return UntilFileState::Nothing;
        }
        // A file that cannot be read is there all the same.
        let text = read::text(&self.path, read::SETTINGS).unwrap_or_default();
        match text.lines().find_map(|line| line.strip_prefix(OF)) {
            None => UntilFileState::Unmarked,
            Some(mark) if self.mark.as_deref().is_none_or(|own| own == mark) => UntilFileState::Own,
            Some(_) => UntilFileState::Other,
        }
    }

    /// True once it ends the match.
    pub(super) fn is_there(&self) -> bool {
        match self.look() {
            UntilFileState::Nothing => false,
            UntilFileState::Own | UntilFileState::Unmarked => true,
            UntilFileState::Other => {
                if !self.has_told.replace(true) {
                    note(&format!(
                        "{} is of another match, and ends none but that",
                        shown(&self.path)
                    ));
                }
                false
            }
        }
    }

    /// Before the first game is begun: words where none is to be begun.
    ///
    /// # Errors
    /// Where the file is left from another match, or may well be: nothing of this one is played.
    pub(super) fn before_the_first_game(&self, has_begun: bool) -> Result<Option<String>, String> {
        let path = shown(&self.path);
        match self.look() {
            UntilFileState::Nothing => Ok(None),
            UntilFileState::Other => {
                Err(format!("{path} is of another match: remove it, or give --until another file"))
            }
            UntilFileState::Unmarked if !has_begun => Err(format!(
                "{path} is there before the match has begun: remove it, or give --until another file"
            )),
            UntilFileState::Own | UntilFileState::Unmarked => {
                Ok(Some(format!("{path} is there: no game is begun")))
            }
        }
    }
}

/// Makes the file that ends the match of this mark; `line` tells why.
pub(super) fn make(path: &Path, line: &str, mark: &str) -> std::io::Result<()> {
    write::replace(path, &format!("{line}\n{OF}{mark}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_ends_the_match_that_it_is_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("decided");
        let until = |mark: Option<&str>| UntilFile::new(path.clone(), mark);
        assert_eq!(until(Some("a")).look(), UntilFileState::Nothing);
        assert_eq!(until(Some("a")).before_the_first_game(false), Ok(None));
        make(&path, "SPRT", "a").unwrap();
        assert!(
            until(Some("a")).is_there() && until(None).is_there() && !until(Some("b")).is_there()
        );
        // A shard may begin after the decision.
        assert!(until(Some("a")).before_the_first_game(false).unwrap().is_some());
        for has_begun in [false, true] {
            let error = until(Some("b")).before_the_first_game(has_begun).unwrap_err();
            assert!(error.contains("is of another match"), "{error}");
        }
        // One that people make.
        std::fs::write(&path, "").unwrap();
        assert!(until(Some("a")).is_there() && until(None).is_there());
        assert!(until(Some("a")).before_the_first_game(true).unwrap().is_some());
        let error = until(None).before_the_first_game(false).unwrap_err();
        assert!(error.contains("before the match has begun"), "{error}");
    }
}
