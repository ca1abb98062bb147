//! How strong engines are, and how sure that is: rating lists over many, Elo and tests between two.

pub mod bayes;
pub mod duel;
pub mod elo;
mod matrix;
pub mod names;
pub mod sprt;
