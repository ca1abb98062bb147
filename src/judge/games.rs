//! Games as evidence of a check (rule `match`): wanted by the settings, possible for the entry, then played.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::host::Host;
use super::settings::GamesWanted;
use super::support::runs::shown_run;
use super::{Judge, Progress, rules};
use crate::judge::probe::games::early_start::{EarlyLauncher, EarlyProcess};
use crate::judge::probe::games::{self, Contender, GamesPlan};
use crate::model::evidence::{
    Evidence, GameEnd, GamesEvidence, PlayedGame, PlayedGames, Purpose, Shell,
};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};
use crate::submission::Submission;

/// Pairs of games where nothing else is said: one against itself, one against the reference engine.
const PAIRS: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// The time for what is asked again after faults in games: whole games on a clock of the event.
const AGAIN: Duration = Duration::from_secs(60);

/// The starts that games wait for, one after the other: the entry's own, and the one of its twin.
const STARTS: u32 = 2;

impl Judge {
    /// Plays the games of rule `match`, where some are wanted and can be asked of the entry.
    pub(super) fn games(
        &self,
        submission: &Submission,
        evidence: &Evidence,
        host: &Host,
        early: Option<EarlyProcess>,
        jobs: NonZeroUsize,
        progress: Progress<'_>,
    ) -> GamesEvidence {
        let settings = &self.settings;
        let pairs = match settings.games {
            GamesWanted::Pairs(pairs) => pairs,
            GamesWanted::AsUsual if !settings.quick => PAIRS,
            GamesWanted::AsUsual => return GamesEvidence::LeftOut("left out by --quick".into()),
            GamesWanted::Off => return GamesEvidence::LeftOut("left out by --match off".into()),
        };
        let shown = &evidence.capabilities;
        if shown.go_clock != Some(true) && shown.go_bare == Some(true) {
            return GamesEvidence::LeftOut(
                "it answers `go` without a clock, and games have one".into(),
            );
        }
        let shell = shown_run(&evidence.runs).map_or(Shell::AsIs, |run| run.shell);
        // Of an entry that starts slowly one process plays all games, and no second one plays against it.
        let itself = early.is_none();
        let sandbox = Arc::clone(&host.sandbox);
        let contender = Contender {
            launcher: match early {
                Some(early) => Arc::new(EarlyLauncher::new(early, sandbox)),
                None => sandbox,
            },
            bytes: Arc::clone(&submission.bytes),
            shell,
            options: submission.options(),
        };
        // An entry that was found to fail on less has its games on the event's least clock.
        let weak = evidence.of(Purpose::SmallClock).next().is_some();
        let control = if weak { games::LEAST } else { games::FAST };
        let starts =
            STARTS * shown_run(&evidence.runs).and_then(|run| run.readyok).unwrap_or_default();
        let limit = settings.games_limit;
        let beside = if itself { jobs } else { NonZeroUsize::MIN };
        let plan = GamesPlan { pairs, itself, limit, starts, beside, control };
        let until = Instant::now() + AGAIN + 2 * starts;
        let first = self.play(&contender, plan, until, progress);
        let GamesEvidence::Played(played) = &first else { return first };
        if weak || !all_faults_held(played) {
            return first;
        }
        // A process that played has done what it did, whatever became of its games.
        let (disproved, before) = (played.games.clone(), played.left.clone());
        let mut second =
            self.play(&contender, GamesPlan { control: games::LEAST, ..plan }, until, progress);
        if let GamesEvidence::Played(played) = &mut second {
            played.disproved = disproved;
            played.left.extend(before);
        }
        second
    }

    /// Plays games, and asks again what went wrong in them, until `until`.
    fn play(
        &self,
        contender: &Contender,
        plan: GamesPlan,
        until: Instant,
        progress: Progress<'_>,
    ) -> GamesEvidence {
        let limits = self.settings.limits;
        let mut games = games::play(contender, plan, &limits, progress);
        if let GamesEvidence::Played(played) = &mut games
            && let Err(why) = games::again::ask_again(contender, played, limits, until, progress)
        {
            return GamesEvidence::Impossible(why.to_string());
        }
        games
    }
}

/// True if there were faults, and none of them came again on the event's clocks.
fn all_faults_held(played: &PlayedGames) -> bool {
    let faulty = |game: &&PlayedGame| matches!(game.end, GameEnd::Fault(_));
    let mut faults = played.games.iter().filter(faulty).peekable();
    faults.peek().is_some()
        && faults.all(|game| game.again.as_ref().is_some_and(|again| again.held.is_some()))
}

/// The rule for which no games are played: one that is broken and not waived, or without which there is nothing to
/// play.
pub(super) fn before_games(findings: &[Finding]) -> Option<RuleId> {
    let bars = |finding: &&Finding| match finding.status {
        Status::Fail => finding.rule.is_gate(),
        Status::Undecided | Status::Skipped => {
            rules::judged(finding.rule).is_some_and(|rule| rule.before_games)
        }
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
