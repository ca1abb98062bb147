//! The registry of rules: the only place that lists them.
//!
//! A rule is an entry here, a file that judges it (in `judge/rules/` or `submission/`), a text in
//! `explain/`, and, where it can reject, fixtures in `fixtures/entries/reject/RULE-what/`; a test counts that they agree.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The kind of a rule: its findings can reject, or only advise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// Breaking it rejects the entry.
    Gate,
    /// The rule informs the author and never rejects.
    Advice,
}

/// One rule as the event states it.
#[derive(Debug)]
pub struct Rule {
    /// Its stable id.
    pub id: RuleId,
    /// The id as it is written in reports, file names and on the command line.
    pub name: &'static str,
    /// The section of the TCEC 4k rules it comes from.
    pub section: &'static str,
    /// The question that it decides, in one line.
    pub title: &'static str,
    /// Gate or advice.
    pub kind: RuleKind,
    /// The text of `gate4k explain`: the rule, why it exists, what passes, what fails, how to mend it.
    pub explain: &'static str,
}

macro_rules! rules {
    ($($variant:ident $name:literal $section:literal $kind:ident $title:literal;)*) => {
        /// The id of a rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RuleId {
            $(#[doc = $title] $variant,)*
        }

        /// Every rule, in the order of reports.
        pub const RULES: &[Rule] = &[
            $(Rule {
                id: RuleId::$variant,
                name: $name,
                section: $section,
                title: $title,
                kind: RuleKind::$kind,
                explain: include_str!(concat!("../explain/", $name, ".md")),
            },)*
        ];
    };
}

rules! {
    SingleFile "single-file" "7.2" Gate "the entry is one regular file";
    Format "format" "7.2" Gate "the file is an executable or a script that this kind of host can start";
    FileName "file-name" "7.3" Gate "the file name carries no information";
    Size "size" "7.1, 7.3" Gate "the file and what engines.json adds to it are at most 4096 bytes";
    Payload "payload" "7.3" Gate "what of engines.json is part of the engine, field by field";
    Startup "startup" "7.4" Gate "from exec to the first readyok within 60 seconds";
    LeftoverFiles "leftover-files" "7.4" Gate "no files remain after the end";
    LeftoverProcesses "leftover-processes" "7.4" Gate "no processes remain after the end";
    Commands "commands" "7.5, 7.8" Gate "only allowed commands are started";
    Libraries "libraries" "7.6" Gate "only allowed libraries are loaded";
    ChessLibrary "chess-library" "7.7" Gate "no chess library of the host is used";
    UciHandshake "uci-handshake" "7.9" Gate "uci is answered with uciok";
    UciIsready "uci-isready" "7.9" Gate "isready is answered with readyok";
    UciNewgame "uci-newgame" "7.9" Gate "ucinewgame is survived";
    UciPosition "uci-position" "7.9" Gate "position startpos (moves ...) is understood";
    UciGo "uci-go" "7.9" Gate "go is answered with a bestmove";
    UciQuit "uci-quit" "7.9" Gate "quit ends the engine";
    LegalMoves "legal-moves" "2.1" Gate "every bestmove is legal and well formed";
    LongGame "long-game" "7.9" Gate "a game of 340 plies on one line is understood";
    Match "match" "2.1, 6.2" Gate "games against itself and a reference engine are played to their end";
    OwnBook "own-book" "0.1" Gate "a built-in book that is on by default can be switched off";
    Ponder "ponder" "0.1" Gate "pondering that is on by default can be switched off";
    Clock "clock" "1" Advice "how the engine uses its clock";
}

impl RuleId {
    /// The rule behind the id.
    pub(crate) fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }

    /// True if the rule can reject.
    pub(crate) fn is_gate(self) -> bool {
        self.rule().kind == RuleKind::Gate
    }

    /// The id as written in reports.
    pub fn name(self) -> &'static str {
        self.rule().name
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RuleId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A word that names no rule.
#[derive(Debug, thiserror::Error)]
#[error("there is no rule {0:?}; `gate4k explain` lists them all")]
pub struct UnknownRule(pub String);

impl FromStr for RuleId {
    type Err = UnknownRule;
    fn from_str(word: &str) -> Result<RuleId, UnknownRule> {
        RULES
            .iter()
            .find(|rule| rule.name == word)
            .map(|rule| rule.id)
            .ok_or_else(|| UnknownRule(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_index_the_registry() {
        for rule in RULES {
            assert_eq!(rule.id.rule().name, rule.name);
            assert_eq!(rule.name.parse::<RuleId>().unwrap(), rule.id);
        }
        assert!("size ".parse::<RuleId>().is_err());
    }
}
