//! The words that every room meets on: rules, findings, verdicts, evidence, and the report on an entry. Pure values, which
//! know nothing of files, processes or kernels.

pub mod entry_report;
pub mod evidence;
pub mod exit;
pub mod game;
pub mod layer_status;
pub mod path_text;
pub mod rule;
pub mod secret;
pub mod size_figures;
pub mod source_place;
pub mod text;
pub mod transcript;
pub mod units;
pub mod verdict;
pub mod words;
