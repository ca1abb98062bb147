//! The engine side of the wire: messages, sessions, transcripts.

#[cfg(test)]
pub(crate) mod double;
pub mod legality;
pub mod message;
pub mod moves;
pub mod session;
pub mod wire;
