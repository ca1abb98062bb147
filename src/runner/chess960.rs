//! The option of Chess960: the value that an engine is told, and whether it offers the option.

use shakmaty::CastlingMode;

use crate::game::play::PlayerLost;

/// The option of UCI without which an engine is not told castling as Chess960 has it.
const OPTION: &str = "UCI_Chess960";

/// The setting that an engine is told before a game of Chess960, or of classical chess after one.
#[derive(Clone, Debug)]
pub(super) struct CastlingSwitch {
    /// The option as it announced it.
    option: Option<String>,
    told: CastlingMode,
}

impl CastlingSwitch {
    /// Of an engine that announced these options.
    pub(super) fn of<'a>(mut announced: impl Iterator<Item = &'a str>) -> CastlingSwitch {
        let option = announced.find(|name| name.eq_ignore_ascii_case(OPTION));
        CastlingSwitch { option: option.map(str::to_owned), told: CastlingMode::Standard }
    }

    pub(super) fn is_offered(&self) -> bool {
        self.option.is_some()
    }

    /// The line that is due before a game; none where it plays so already.
    pub(super) fn line(&mut self, wanted: CastlingMode) -> Result<String, PlayerLost> {
        if wanted == self.told {
            return Ok(String::new());
        }
        let Some(option) = &self.option else {
            let why = format!("it offers no option {OPTION}, so it cannot play Chess960");
            return Err(PlayerLost::NotStarted(why));
        };
        self.told = wanted;
        Ok(format!("setoption name {option} value {}\n", wanted.is_chess960()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_where_it_changes_by_the_engines_own_name() {
        let [standard, chess960] = [CastlingMode::Standard, CastlingMode::Chess960];
        let mut switch = CastlingSwitch::of(["Hash", "uci_chess960"].into_iter());
        assert!(switch.is_offered());
        let told = [standard, chess960, chess960, standard].map(|mode| switch.line(mode));
        let value = |value| Ok(format!("setoption name uci_chess960 value {value}\n"));
        assert_eq!(told, [Ok(String::new()), value(true), Ok(String::new()), value(false)]);
        let mut without = CastlingSwitch::of(["Hash"].into_iter());
        assert_eq!(without.line(standard), Ok(String::new()));
        assert!(matches!(without.line(chess960), Err(PlayerLost::NotStarted(_))));
    }
}
