//! Views of a verdict: each reads an entry's report, none decides anything.

pub(crate) mod columns;
pub(crate) mod event_ratings;
mod facts;
mod figures;
pub(crate) mod github;
#[cfg(test)]
mod hostile;
pub(crate) mod html;
pub(crate) mod human;
pub mod json;
pub mod junit;
pub mod layout;
pub(crate) mod markdown;
pub(crate) mod markup;
pub mod place;
pub(crate) mod ratings;
pub(crate) mod replay;
pub mod report_format;
pub(crate) mod rules;
pub mod sarif;
pub(crate) mod screen;
pub(crate) mod site;
pub(crate) mod size;
pub(crate) mod standings;
mod styled;
pub(crate) mod table;
pub(crate) mod tcec;
pub(crate) mod text;
mod weight;
mod wide_table;
