//! An answer that is a move of before.

/// The reasons for which an engine tells a move of before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlierMove {
    /// More moves were heard than it was asked for: one that comes late is read as the answer to a later `go`.
    Surplus,
    /// It did not set up the position: the move belongs to the board of before.
    OldBoard,
}

impl EarlierMove {
    /// The fault as a verb, to stand behind `it`: `gives a move twice`.
    pub(crate) fn fault(self) -> &'static str {
        match self {
            EarlierMove::Surplus => "gives a move twice",
            EarlierMove::OldBoard => "plays on an old board",
        }
    }

    /// The next step.
    pub(crate) fn help(self) -> &'static str {
        match self {
            EarlierMove::Surplus => {
                "print `bestmove` once for each `go`: it told an earlier move once more, and a runner takes that for the \
                 answer to the next `go`, as here, which loses the game"
            }
            EarlierMove::OldBoard => {
                "set the board back to the start position at each `position startpos`, also where no `moves` follow, and play the whole \
                 list on it: it plays on an old board here, which loses the game"
            }
        }
    }
}
