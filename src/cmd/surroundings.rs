//! The surroundings that the program was started in, as far as reports depend on them.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use crate::view::place::BasePaths;

/// The settings of reports that come from the environment.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    /// The directories that paths are told from.
    pub(super) places: BasePaths,
    /// The file in which GitHub Actions wants the summary of the step.
    pub(super) summary: Option<PathBuf>,
    /// Where a runner reads commands from standard output: the word that ends a quotation.
    pub(super) token: Option<String>,
}

impl Surroundings {
    /// Reads the environment of this process.
    pub(super) fn here() -> Surroundings {
        let base = env::current_dir().unwrap_or_else(|_| "/".into());
        let workspace = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
        let root = root(&base, workspace.as_deref());
        Surroundings {
            places: BasePaths { base, root },
            summary: env::var_os("GITHUB_STEP_SUMMARY")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            token: env::var_os("GITHUB_ACTIONS").filter(|word| word == "true").map(|_| token()),
        }
    }
}

/// The top of the repository: what GitHub says, else the folder with `.git`, else where we are.
fn root(base: &Path, workspace: Option<&Path>) -> PathBuf {
    let workspace = workspace.and_then(|path| path.canonicalize().ok());
    workspace
        .filter(|top| base.starts_with(top))
        .or_else(|| base.ancestors().find(|path| path.join(".git").exists()).map(Path::to_owned))
        .unwrap_or_else(|| base.to_owned())
}

/// A word that no entry can guess: the keys of the standard library's hash maps are random.
fn token() -> String {
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_is_what_github_says_then_the_repository_then_here() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let below = top.join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::create_dir(top.join("a/.git")).unwrap();
        assert_eq!(root(&below, Some(&top)), top);
        assert_eq!(root(&below, Some(Path::new("/no/such/place"))), top.join("a"));
        assert_eq!(root(&below, None), top.join("a"));
        assert_ne!(token(), token());
        assert_eq!(token().len(), 32);
    }
}
