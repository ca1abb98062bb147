//! Pull requests that forge: a repository of their own among the entries, a configuration that names commands,
//! settings that let their own entry in. Each is played through `gate4k check` and through the action.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod changes;
mod commands;
mod pull_request;
mod settings;
