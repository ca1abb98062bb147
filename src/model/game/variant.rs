//! The kinds of chess that are played: they differ in where games begin, and in how castling is told.

use shakmaty::CastlingMode;

/// From which positions games begin.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Variant {
    /// The classical one.
    #[default]
    Standard,
    /// Chess960: one of 960, the same for both sides.
    Chess960,
    /// Double Chess960: one of the 960 for each side.
    DoubleChess960,
}

impl Variant {
    /// The way in which castling is told: in Chess960 as the king taking his own rook.
    #[must_use]
    pub(crate) fn castling(self) -> CastlingMode {
        CastlingMode::from_standard(self == Variant::Standard)
    }

    /// True if an engine needs the option `UCI_Chess960` for it.
    pub(crate) fn is_chess960(self) -> bool {
        self.castling().is_chess960()
    }
}
