//! Reports as one HTML page that needs nothing else: no scripts, no fonts, no pictures from elsewhere.

mod board;
mod games;
mod graph;
mod page;
mod size_bar;
mod timeline;

pub use page::check;
