//! Readings of the evidence that several rules share.

pub mod allowed;
pub mod complaints;
pub mod excuse;
pub(crate) mod left_by_games;
pub mod one_answer;
pub mod paths;
pub mod positions;
pub mod program_list;
pub mod refused_access;
pub mod runs;
pub mod start_failure;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod unrecorded;
pub mod wording;
