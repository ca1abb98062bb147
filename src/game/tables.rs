//! Results from Syzygy endgame tables.

use std::path::{Path, PathBuf};

use shakmaty::{Chess, Color, Position};
use shakmaty_syzygy::{Tablebase, Wdl};

use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::result::GameResult;
use crate::model::text::shown;

/// Tables that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// The directory cannot be read.
    #[error(
        "cannot read the endgame tables in {}: {source}; name a directory with *.rtbw files",
        shown(path)
    )]
    Read {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The directory holds no tables.
    #[error("there are no endgame tables in {}; name a directory with *.rtbw files", shown(path))]
    Empty {
        /// The directory.
        path: PathBuf,
    },
}

/// Tables at hand.
#[derive(Debug)]
pub struct Tables {
    tables: Tablebase<Chess>,
    /// Positions of more pieces are not looked up.
    most: usize,
}

impl Tables {
    /// Opens all tables of some directories.
    ///
    /// # Errors
    /// Where a directory cannot be read or holds none.
    pub fn open<P: AsRef<Path>>(
        directories: impl IntoIterator<Item = P>,
    ) -> Result<Tables, TablesError> {
        let mut tables = Tablebase::new();
        for directory in directories {
            let path = directory.as_ref();
            let found = tables
                .add_directory(path)
                .map_err(|source| TablesError::Read { path: path.to_owned(), source })?;
            if found == 0 {
                return Err(TablesError::Empty { path: path.to_owned() });
            }
        }
        Ok(Tables { most: tables.max_pieces(), tables })
    }

    /// Leaves positions of more pieces to the engines, kings and pawns counted.
    #[must_use]
    pub(crate) fn up_to(self, pieces: usize) -> Tables {
        Tables { most: self.most.min(pieces), ..self }
    }

    /// The most pieces of a position that is looked up, kings and pawns counted.
    pub(crate) fn most_pieces(&self) -> usize {
        self.most
    }

    /// The tables' result for a position after a move: nothing while castling is possible, nothing where a
    /// table is missing or broken. Wins that the fifty-move rule takes away are draws.
    pub fn probe(&self, position: &Chess) -> Option<GameEnding> {
        if position.castles().any() || position.board().occupied().count() > self.most {
            return None;
        }
        let wdl = self.tables.probe_wdl_after_zeroing(position).ok()?;
        let result = result(wdl, position.turn());
        Some(GameEnding { result, reason: Termination::Tables })
    }
}

fn result(wdl: Wdl, mover: Color) -> GameResult {
    match wdl {
        Wdl::Win => GameResult::Win(mover),
        Wdl::Loss => GameResult::Win(!mover),
        Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => GameResult::Draw,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursed_and_blessed_are_draws() {
        assert_eq!(result(Wdl::Win, Color::Black), GameResult::Win(Color::Black));
        assert_eq!(result(Wdl::Loss, Color::Black), GameResult::Win(Color::White));
        for wdl in [Wdl::CursedWin, Wdl::Draw, Wdl::BlessedLoss] {
            assert_eq!(result(wdl, Color::White), GameResult::Draw);
        }
    }

    #[test]
    fn a_directory_without_tables_is_refused() {
        let empty = tempfile::tempdir().unwrap();
        let error = Tables::open([empty.path()]).unwrap_err().to_string();
        assert!(error.contains("no endgame tables in"), "{error}");
        let error = Tables::open([empty.path().join("none")]).unwrap_err();
        assert!(error.to_string().contains("*.rtbw"), "{error}");
    }
}
