//! An engine that was lost too often ends the match (`--strikes`).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::model::words::counted;

/// The games in which each engine crashed, hung or did not start; those that a journal holds from before are among them.
#[derive(Debug)]
pub(super) struct LossLimit {
    most: NonZeroUsize,
    lost: BTreeMap<usize, usize>,
}

impl LossLimit {
    pub(super) fn new(most: NonZeroUsize) -> LossLimit {
        LossLimit { most, lost: BTreeMap::new() }
    }

    /// Counts one of an engine; gives the words for the end of the match once these are too many.
    pub(super) fn lost(&mut self, engine: usize, name: &str) -> Option<String> {
        let lost = self.lost.entry(engine).or_default();
        *lost += 1;
        (*lost == self.most.get()).then(|| {
            let games = counted(*lost, "game");
            format!("{name} was lost in {games}, as many as --strikes allows: the match ends with the games that have begun")
        })
    }

    /// True if an engine was lost as often as is allowed.
    pub(super) fn are_too_many(&self) -> bool {
        self.lost.values().any(|lost| *lost >= self.most.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strikes_are_of_one_engine_and_told_once() {
        let mut strikes = LossLimit::new(NonZeroUsize::new(2).unwrap());
        assert_eq!([strikes.lost(0, "A"), strikes.lost(1, "B")], [None, None]);
        assert!(!strikes.are_too_many());
        let words = strikes.lost(1, "B").unwrap();
        assert!(words.starts_with("B was lost in 2 games"), "{words}");
        // A game that was under way then.
        assert_eq!(strikes.lost(1, "B"), None);
        assert!(strikes.are_too_many());
    }
}
