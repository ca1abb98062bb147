//! The tags of a game of a PGN, as far as readers of recorded games look at them.

use std::collections::BTreeMap;
use std::str::FromStr;

use pgn_reader::RawTag;

use super::pgn_text;

/// The tags that are looked at.
const NAMES: [&str; 15] = [
    "Event",
    "Round",
    "White",
    "Black",
    "Result",
    "WhiteElo",
    "BlackElo",
    "FEN",
    "Variant",
    "PlyCount",
    "Termination",
    "TerminationDetails",
    "Date",
    "Time",
    "GameStartTime",
];

/// Tags by their names, with their values as text made harmless. Of one that stands twice the last counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct PgnTags(BTreeMap<&'static str, String>);

impl PgnTags {
    /// Takes in a tag, if it is one that is looked at; so many characters of its value are kept.
    pub(crate) fn take(&mut self, tag: &[u8], value: RawTag<'_>, chars: usize) {
        if let Some(name) = NAMES.iter().find(|name| name.as_bytes() == tag) {
            self.0.insert(name, pgn_text::tag(value, chars));
        }
    }

    /// The value of a tag; none where the game does not have it.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The same as text, which is empty where the game does not have it.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// The same read as a number, a place or the like; none where it is not that.
    pub(crate) fn read<T: FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }
}
