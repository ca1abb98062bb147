//! The variables of the environment that no other program may see.

use std::process::Command;

/// The token with which an event is sent to lichess.
pub(crate) const LICHESS_TOKEN: &str = "GATE4K_LICHESS_TOKEN";
/// The password of a key that signs.
pub(crate) const KEY_PASSWORD: &str = "GATE4K_KEY_PASSWORD";

/// Takes them out of what a program inherits.
pub(crate) fn keep_from(command: &mut Command) {
    for name in [LICHESS_TOKEN, KEY_PASSWORD] {
        command.env_remove(name);
    }
}
