//! The handling of a panic in gate4k itself: a request to report it, and an exit code of its own.

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::exit::Exit;

/// A panic in any thread, also in one whose result nobody waits for.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Replaces the panic message by one that tells people what to do. The stack is unwound as ever, so that
/// sandboxes are taken down; the exit code is set at the end by [`guarded`].
pub(crate) fn install() {
    panic::set_hook(Box::new(|info| {
        PANICKED.store(true, Ordering::Relaxed);
        let what = info.payload_as_str().unwrap_or("(no message)");
        let place =
            info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        // Not eprintln: it panics where standard error is closed.
        let _ = writeln!(
            std::io::stderr(),
            "\ngate4k {} is broken: {what} (at {place}).\n\
             This is a bug in gate4k and says nothing about the entry. Please report it, with this \
             message and the entry if you may share it.",
            env!("CARGO_PKG_VERSION"),
        );
    }));
}

/// Runs the program; whatever panicked on the way makes the outcome [`Exit::Bug`].
pub(crate) fn guarded(program: impl FnOnce() -> Exit) -> Exit {
    // Nothing of the program is looked at again after a panic, so no broken state can be seen.
    match panic::catch_unwind(AssertUnwindSafe(program)) {
        Ok(exit) if !PANICKED.load(Ordering::Relaxed) => exit,
        _ => Exit::Bug,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_our_own_bug() {
        assert_eq!(guarded(|| Exit::Undecided), Exit::Undecided);
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Bug);
    }
}
