//! Names of engines in lists that ignore version numbers (rule 5.4).

use std::collections::{BTreeSet, HashMap};

/// The name without its last word, if that has a digit and is not all there is.
pub(crate) fn without_version(name: &str) -> &str {
    match name.rsplit_once(' ') {
        Some((rest, last)) if last.contains(|c: char| c.is_ascii_digit()) => rest.trim_end(),
        _ => name,
    }
}

/// The names in this event of engines of other events: all versions of an entry have the entry's name.
///
/// Two entries that are versions of one engine stay two: whatever else has its name is neither of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    entries: BTreeSet<String>,
    /// The entry's name by that without version; none where several entries have it.
    bare: HashMap<String, Option<String>>,
}

impl Versions {
    /// Of these entries.
    pub(crate) fn of<'a>(entries: impl IntoIterator<Item = &'a str>) -> Versions {
        let mut versions = Versions::default();
        for entry in entries {
            versions.entries.insert(entry.to_owned());
            versions
                .bare
                .entry(without_version(entry).to_owned())
                .and_modify(|one| *one = None)
                .or_insert_with(|| Some(entry.to_owned()));
        }
        versions
    }

    /// The name of an engine here.
    pub(crate) fn name<'a>(&'a self, engine: &'a str) -> &'a str {
        if self.entries.contains(engine) {
            return engine;
        }
        let bare = without_version(engine);
        match self.bare.get(bare) {
            Some(Some(entry)) => entry,
            _ => bare,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_last_word_with_a_digit() {
        for (name, bare) in [
            ("4ku 4.0", "4ku"),
            ("ice4 v3", "ice4"),
            ("sunfish 2022-12-24_classic", "sunfish"),
            ("moonfish d7b5af5c", "moonfish"),
            ("4ku", "4ku"),
            ("Stockfish_15_3k", "Stockfish_15_3k"),
            ("Fat Fritz", "Fat Fritz"),
        ] {
            assert_eq!(without_version(name), bare);
        }
    }

    #[test]
    fn every_version_has_the_entrys_name() {
        let names = Versions::of(["4ku 5.1", "ice4"]);
        let told = ["4ku 3.0", "4ku", "4ku 5.1", "ice4 v3", "STRO4K 2.0"].map(|n| names.name(n));
        assert_eq!(told, ["4ku 5.1", "4ku 5.1", "4ku 5.1", "ice4", "STRO4K"]);
    }

    #[test]
    fn two_versions_that_both_play_stay_two() {
        let names = Versions::of(["ice4 3", "ice4 4"]);
        let told = ["ice4 2", "ice4 3", "ice4 4"].map(|n| names.name(n));
        assert_eq!(told, ["ice4", "ice4 3", "ice4 4"]);
    }
}
