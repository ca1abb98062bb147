//! Pull requests that forge: a repository of their own among the entries, a configuration that names commands,
//! settings that let their own entry in. Each is played through `gate4k check` and through the action.

mod changes;
mod commands;
mod pull_request;
mod settings;

use crate::trials::Test;

pub(crate) fn tests() -> Vec<Test> {
    let modules = [changes::tests, commands::tests, settings::tests];
    modules.into_iter().flat_map(|tests| tests()).collect()
}
