//! A game of chess as every module shares it: its players, its moves with what was measured, its end.

pub mod crash;
pub mod ending;
pub mod listed;
pub(crate) mod opening;
pub(crate) mod points;
pub(crate) mod record;
pub mod result;
pub mod rule_distances;
pub mod score;
pub(crate) mod variant;
