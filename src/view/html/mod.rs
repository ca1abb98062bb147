//! Reports as one HTML page that needs nothing else: no scripts, no fonts, no pictures from elsewhere.

mod board;
mod games;
mod graph;
mod illegal;
mod page;
mod size_bar;
mod timeline;

pub(in crate::view) use board::{PIECES, board};
pub(in crate::view) use graph::graph;
pub(crate) use page::check;
