//! The words that every module meets on: rules, findings, verdicts, evidence, and the report on an entry. Pure values, which
//! know nothing of files, processes or kernels.

pub(crate) mod command_words;
pub mod entry_report;
pub mod evidence;
pub(crate) mod exit;
pub mod game;
pub(crate) mod in_order;
pub mod layer_status;
pub(crate) mod listed_enum;
pub(crate) mod lock;
pub(crate) mod next_step;
pub(crate) mod parallel;
pub(crate) mod path_text;
pub mod rule;
pub(crate) mod secret;
pub mod size_figures;
pub mod source_place;
pub mod text;
pub(crate) mod transcript;
pub(crate) mod typographic;
pub mod units;
pub mod verdict;
pub(crate) mod words;
