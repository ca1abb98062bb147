//! Games end in any order and are written in theirs.

use std::collections::BTreeMap;

/// Holds back what came too early.
#[derive(Debug)]
pub(crate) struct InOrder<T> {
    next: usize,
    waiting: BTreeMap<usize, T>,
}

impl<T> Default for InOrder<T> {
    fn default() -> InOrder<T> {
        InOrder { next: 0, waiting: BTreeMap::new() }
    }
}

impl<T> InOrder<T> {
    /// Takes the thing of this number (from 0) and gives all whose turn it now is.
    pub(crate) fn push(&mut self, number: usize, thing: T) -> Vec<T> {
        self.waiting.insert(number, thing);
        let mut due = Vec::new();
        while let Some(thing) = self.waiting.remove(&self.next) {
            due.push(thing);
            self.next += 1;
        }
        due
    }

    /// At the end: what still waits for something that will never come.
    pub(crate) fn rest(self) -> impl Iterator<Item = T> {
        self.waiting.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_ones_wait() {
        let mut order = InOrder::default();
        assert_eq!(order.push(1, 'b'), []);
        assert_eq!(order.push(0, 'a'), ['a', 'b']);
        assert_eq!(order.push(3, 'd'), []);
        assert_eq!(order.rest().collect::<Vec<_>>(), ['d']);
    }
}
