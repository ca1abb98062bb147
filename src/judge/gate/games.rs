//! The games of a check (rule `match`): whether they are wanted, can be asked of the entry, and are played.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::{Gate, Host, Progress, shown_run};
use crate::judge::probe::games;
use crate::judge::probe::games::{Contender, GamesPlan};
use crate::model::evidence::{Evidence, Games, Shell};
use crate::model::rule::{Kind, RuleId};
use crate::model::verdict::{Finding, Status};
use crate::runner::entries::options_of;
use crate::submission::Submission;

/// Whether games are played (rule `match`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GamesWanted {
    /// Two pairs; none where only what is quick is wanted.
    #[default]
    AsUsual,
    /// So many pairs, whatever else is wanted.
    Pairs(NonZeroU32),
    /// None.
    Off,
}

/// How long all games of a check may take where nothing else is said: real entries have floors of 2 to 3
/// seconds a move.
pub const MATCH_LIMIT: Duration = Duration::from_secs(30);

/// The most pairs of games that a check plays: more are a match.
const MOST_PAIRS: u32 = 100;

/// Text that says neither `off` nor a number of pairs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write off, or a number of pairs from 1 to {MOST_PAIRS}")]
pub struct NotGames;

impl fmt::Display for GamesWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GamesWanted::AsUsual => f.write_str("as usual"),
            GamesWanted::Pairs(pairs) => write!(f, "{pairs}"),
            GamesWanted::Off => f.write_str("off"),
        }
    }
}

impl FromStr for GamesWanted {
    type Err = NotGames;

    fn from_str(text: &str) -> Result<GamesWanted, NotGames> {
        if text == "off" {
            return Ok(GamesWanted::Off);
        }
        let pairs = text.parse::<NonZeroU32>().ok().filter(|pairs| pairs.get() <= MOST_PAIRS);
        pairs.map(GamesWanted::Pairs).ok_or(NotGames)
    }
}

/// Pairs of games where nothing else is said: one against itself, one against the reference engine.
const PAIRS: NonZeroU32 = NonZeroU32::new(2).unwrap();

impl Gate {
    /// Plays the games of rule `match`, where some are wanted and can be asked of the entry.
    pub(super) fn games(
        &self,
        submission: &Submission,
        evidence: &Evidence,
        host: &Host,
        jobs: NonZeroUsize,
        progress: Progress<'_>,
    ) -> Games {
        let settings = &self.settings;
        let pairs = match settings.games {
            GamesWanted::Pairs(pairs) => pairs,
            GamesWanted::AsUsual if !settings.quick => PAIRS,
            GamesWanted::AsUsual => return Games::LeftOut("left out by --quick".into()),
            GamesWanted::Off => return Games::LeftOut("left out by --match off".into()),
        };
        let shown = &evidence.capabilities;
        if shown.go_clock != Some(true) && shown.go_bare == Some(true) {
            return Games::LeftOut("it answers `go` without a clock, and games have one".into());
        }
        let shell = shown_run(&evidence.runs).map_or(Shell::AsIs, |run| run.shell);
        let contender = Contender {
            launcher: Arc::clone(&host.sandbox) as _,
            bytes: Arc::clone(&submission.bytes),
            shell,
            options: options_of(submission),
        };
        let plan = GamesPlan { pairs, limit: settings.games_limit, beside: jobs };
        games::play(&contender, plan, &settings.limits, progress)
    }
}

/// The rule for which no games are played: one that was broken, or without which there is nothing to play.
pub(super) fn before_games(findings: &[Finding]) -> Option<RuleId> {
    let needed = [RuleId::Startup, RuleId::UciPosition, RuleId::UciGo, RuleId::LegalMoves];
    let bars = |finding: &&Finding| match finding.status {
        Status::Fail => finding.rule.rule().kind == Kind::Gate,
        Status::Undecided | Status::Skipped => needed.contains(&finding.rule),
        Status::Pass | Status::Advice => false,
    };
    findings.iter().find(bars).map(|finding| finding.rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_wait_for_the_rules() {
        let pass = |rule| Finding::pass(rule, "");
        let all = [pass(RuleId::Startup), pass(RuleId::UciGo), Finding::fail(RuleId::Clock, "")];
        assert_eq!(before_games(&all), None);
        let mut bad = all.to_vec();
        bad.push(Finding::fail(RuleId::LeftoverFiles, ""));
        assert_eq!(before_games(&bad), Some(RuleId::LeftoverFiles));
        bad.pop();
        bad.push(Finding::undecided(RuleId::Size, ""));
        assert_eq!(before_games(&bad), None);
        bad.push(Finding::undecided(RuleId::LegalMoves, ""));
        assert_eq!(before_games(&bad), Some(RuleId::LegalMoves));
    }
}
