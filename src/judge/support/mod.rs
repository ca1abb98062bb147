//! Readings of the evidence that several rules share.

pub mod allowed;
pub(crate) mod came_again;
pub(crate) mod complaints;
pub(crate) mod earlier_move;
pub(crate) mod excuse;
pub(crate) mod host_lacks;
pub(crate) mod older_tools;
pub(crate) mod one_answer;
pub(crate) mod paths;
pub(crate) mod positions;
pub(crate) mod program_list;
pub(crate) mod refused_access;
pub(crate) mod runs;
pub(crate) mod start_failure;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod unrecorded;
pub(crate) mod wording;
