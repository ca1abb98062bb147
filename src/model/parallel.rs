//! A work of many parts, done by several threads.

use std::sync::{Mutex, PoisonError};

use super::lock::lock;

/// Does each part by one of so many threads, and gives the results in the order of the parts.
pub(crate) fn in_parallel<T: Send, R: Send>(
    parts: impl IntoIterator<Item = T, IntoIter: Send>,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let queue = Mutex::new(parts.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = lock(&queue).next();
                    let Some((index, part)) = next else { break };
                    let result = work(part);
                    lock(&done).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
