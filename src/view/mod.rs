//! Views of a verdict: each reads an entry's report, none decides anything.

pub mod event_ratings;
mod facts;
mod figures;
pub mod github;
#[cfg(test)]
mod hostile;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
pub mod look;
pub mod markdown;
pub mod markup;
pub mod place;
pub mod ratings;
pub mod replay;
pub mod rules;
pub mod sarif;
pub mod screen;
pub mod site;
pub mod size;
pub mod standings;
mod styled;
pub mod table;
pub mod tcec;
pub mod text;
mod weight;
