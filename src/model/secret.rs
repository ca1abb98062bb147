//! The variables of the environment that no other program may see.

/// The token with which an event is sent to lichess.
pub(crate) const LICHESS_TOKEN: &str = "GATE4K_LICHESS_TOKEN";
/// The password of a key that signs.
pub(crate) const KEY_PASSWORD: &str = "GATE4K_KEY_PASSWORD";

/// All of them: whoever starts a program takes them out of what it inherits.
pub(crate) const VARIABLES: [&str; 2] = [LICHESS_TOKEN, KEY_PASSWORD];
