//! The strength of engines, and the error of it: rating lists over many, Elo and tests between two.

pub(crate) mod bayes;
pub(crate) mod duel;
pub mod elo;
mod matrix;
pub(crate) mod names;
pub mod sprt;
