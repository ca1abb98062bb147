//! One answer to a lock whose last holder panicked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of whoever held it: what is shared here is whole between any two statements, and to go on is how
/// sandboxes are taken down and journals closed.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
