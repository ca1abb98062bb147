//! The rules, each one value in a file of its own: what it needs to be judged by, and a pure function from that to a
//! finding. The statement of each (section, title, gate or advice, text of `explain`) is in [`crate::model::rule`].

pub(crate) mod chess_library;
pub(crate) mod clock;
pub(crate) mod commands;
pub(crate) mod file_name;
pub(crate) mod leftover_files;
pub(crate) mod leftover_processes;
pub(crate) mod legal_moves;
pub(crate) mod libraries;
pub(crate) mod long_game;
pub(crate) mod match_;
pub(crate) mod own_book;
pub(crate) mod ponder;
pub(crate) mod startup;
pub(crate) mod uci_go;
pub(crate) mod uci_handshake;
pub(crate) mod uci_isready;
pub(crate) mod uci_newgame;
pub(crate) mod uci_position;
pub(crate) mod uci_quit;

use crate::judge::support::allowed::Allowed;
use crate::judge::support::{excuse, unrecorded};
use crate::model::evidence::{Evidence, LeftByProcess, Limits, RecordPart};
use crate::model::layer_status::LayerName;
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

/// Every rule that is judged by running the entry. The others are judged by `submission` as it reads the bytes.
pub(crate) const JUDGED: &[&JudgedRule] = &[
    &file_name::JUDGED,
    &startup::JUDGED,
    &leftover_files::JUDGED,
    &leftover_processes::JUDGED,
    &commands::JUDGED,
    &libraries::JUDGED,
    &chess_library::JUDGED,
    &uci_handshake::JUDGED,
    &uci_isready::JUDGED,
    &uci_newgame::JUDGED,
    &uci_position::JUDGED,
    &uci_go::JUDGED,
    &uci_quit::JUDGED,
    &legal_moves::JUDGED,
    &long_game::JUDGED,
    &match_::JUDGED,
    &own_book::JUDGED,
    &ponder::JUDGED,
    &clock::JUDGED,
];

/// A rule with its judge.
pub(crate) struct JudgedRule {
    /// Its statement.
    pub(crate) id: RuleId,
    /// The evidence without which it cannot be judged.
    pub(crate) evidence: Needed,
    /// The part that a busy host may have in a failure.
    pub(crate) load: CausedByLoad,
    /// Layers of the sandbox without which a pass would prove nothing.
    pub(crate) leans_on: &'static [LayerName],
    /// Parts of the record of which nothing may be missing, or a pass would prove nothing.
    pub(crate) rests_on: &'static [RecordPart],
    /// True if no games are played where the rule stays open: there would be nothing to play.
    pub(crate) before_games: bool,
    /// The part of it that is judged once more by what was seen in games.
    pub(crate) in_games: InGames,
    /// Its judge.
    pub(crate) judge: fn(&Case<'_>) -> Finding,
}

/// The evidence that a rule is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needed {
    /// The runs of the probes.
    Runs,
    /// Games, which are played only for an entry that keeps the other rules.
    Games,
}

/// The part that other work on the host may have in a failure; then the entry is judged again when nothing else runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CausedByLoad {
    /// None: the entry would fail however fast the host was.
    Never,
    /// Only if a run got too little of a processor: it answered wrongly, or died of the question, or had gone when
    /// its files still lay there.
    IfStrained,
    /// Some, since the rule is a matter of time: how it starts, whether it computes while it waits, games on a clock.
    Possibly,
}

/// The evidence of games on a rule that is judged by the runs of the probes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InGames {
    /// Nothing, or it is judged by them alone.
    Nothing,
    /// The same as runs do: the programs that were started and the files that were opened.
    LikeRuns,
    /// Their leftovers, told by this function; none where there are none.
    Left(fn(&[LeftByProcess], &Limits) -> Option<LeftByGames>),
}

/// The leftovers of games against a rule.
pub(crate) enum LeftByGames {
    /// Leftovers were seen.
    Some {
        /// The extent, in words: `2 files remain after its games`.
        count: String,
        /// Each leftover, in words.
        each: Vec<String>,
    },
    /// Nothing that anybody saw; but it was not seen that there is nothing, in these words.
    NotSeenToEnd(String),
}

/// All that rules may look at.
pub struct Case<'a> {
    /// The record of the probes and games.
    pub evidence: &'a Evidence,
    /// The names in the executable's dynamic section (DT_NEEDED), where the entry is one.
    pub needed: &'a [String],
    /// The allow-list as it is for this entry.
    pub allowed: &'a dyn Allowed,
    /// The entry's bytes.
    pub bytes: &'a [u8],
}

impl JudgedRule {
    /// A rule that is judged by the engine's answers: no layer of the sandbox and no part of the record stands behind them.
    const fn by_answers(
        id: RuleId,
        load: CausedByLoad,
        judge: fn(&Case<'_>) -> Finding,
    ) -> JudgedRule {
        JudgedRule {
            id,
            evidence: Needed::Runs,
            load,
            leans_on: &[],
            rests_on: &[],
            before_games: false,
            in_games: InGames::Nothing,
            judge,
        }
    }

    /// The finding, left open where the host could not watch what the rule is about.
    pub(crate) fn finding(&self, case: &Case<'_>) -> Finding {
        excuse::leaning_on((self.judge)(case), &case.evidence.host, self.leans_on)
    }
}

/// The rules that are judged by this evidence, in the order of reports.
pub(crate) fn needing(evidence: Needed) -> impl Iterator<Item = &'static JudgedRule> {
    JUDGED.iter().copied().filter(move |rule| rule.evidence == evidence)
}

/// The judge of a rule; none for one that is judged by its bytes.
pub(crate) fn judged(rule: RuleId) -> Option<&'static JudgedRule> {
    JUDGED.iter().copied().find(|judged| judged.id == rule)
}

/// The part that a busy host may have in a failure of the rule; the bytes of an entry are the same on every host.
pub(crate) fn caused_by_load(rule: RuleId) -> CausedByLoad {
    judged(rule).map_or(CausedByLoad::Never, |judged| judged.load)
}

/// Opens every finding that rests on a part of the record for which there was no room, in runs or in games.
pub(crate) fn open_unrecorded(findings: &mut [Finding], evidence: &Evidence) {
    let missing = unrecorded::missing(evidence);
    for finding in findings {
        let rests_on = judged(finding.rule).map_or(&[][..], |rule| rule.rests_on);
        if let Some(part) = missing.iter().find(|part| rests_on.contains(part)) {
            unrecorded::open(finding, *part);
        }
    }
}

/// The findings of every rule that is judged by the runs.
pub fn judge_runs(case: &Case<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = needing(Needed::Runs).map(|rule| rule.finding(case)).collect();
    open_unrecorded(&mut findings, case.evidence);
    findings
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::judge::support::testing::{self, TestList};
    use crate::model::evidence::{ExitHow, Purpose};
    use crate::model::layer_status::LayerState;
    use crate::model::rule::{RULES, Rule};
    use crate::model::verdict::{Status, Verdict};

    fn of(evidence: &Evidence) -> Vec<Finding> {
        let needed = ["libc.so.6".to_owned()];
        judge_runs(&Case { evidence, needed: &needed, allowed: &TestList, bytes: b"" })
    }

    #[test]
    fn a_healthy_entry_is_accepted() {
        let findings = of(&testing::evidence());
        for finding in &findings {
            assert_eq!(finding.status, Status::Pass, "{}: {}", finding.rule, finding.summary);
        }
        assert_eq!(Verdict::of(&findings), Verdict::Accepted);
    }

    #[test]
    fn every_rule_is_judged_by_its_bytes_or_listed_here_in_the_order_of_reports() {
        let order: Vec<RuleId> = JUDGED.iter().map(|rule| rule.id).collect();
        let submission = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/submission");
        let by_bytes = |rule: &&Rule| {
            let file = submission.join(format!("{}.rs", rule.name.replace('-', "_")));
            rule.id == RuleId::SingleFile || file.is_file()
        };
        let judged = RULES.iter().filter(|rule| !by_bytes(rule));
        let wanted: Vec<RuleId> = judged.map(|rule| rule.id).collect();
        assert_eq!(order, wanted);
        let findings = of(&testing::evidence());
        let found: Vec<RuleId> = findings.iter().map(|finding| finding.rule).collect();
        let by_runs: Vec<RuleId> = needing(Needed::Runs).map(|rule| rule.id).collect();
        assert_eq!(found, by_runs);
        for rule in JUDGED {
            assert!(rule.leans_on.iter().all(|layer| layer.is_mandatory()), "{}", rule.id);
        }
    }

    #[test]
    fn a_rule_that_leans_on_a_layer_with_a_gap_is_open() {
        let mut evidence = testing::evidence();
        evidence.host.layers[0].state = LayerState::Absent;
        let name = evidence.host.layers[0].name;
        for (rule, finding) in needing(Needed::Runs).zip(of(&evidence)) {
            let open = finding.status == Status::Undecided;
            assert_eq!(open, rule.leans_on.contains(&name), "{}", finding.summary);
        }
    }

    #[test]
    fn what_depends_on_the_start_is_skipped_and_what_was_seen_is_judged() {
        let dead = testing::run(Purpose::Main).died(ExitHow::Status(1));
        let findings = of(&testing::evidence_of([dead]));
        let status = |id| findings.iter().find(|finding| finding.rule == id).unwrap().status;
        assert_eq!(status(RuleId::Startup), Status::Fail);
        assert_eq!(status(RuleId::Commands), Status::Pass);
        assert_eq!(status(RuleId::LeftoverProcesses), Status::Skipped);
        assert_eq!(status(RuleId::ChessLibrary), Status::Pass);
        for finding in &findings {
            if finding.rule >= RuleId::UciHandshake {
                assert_eq!(finding.status, Status::Skipped, "{}", finding.rule);
                assert_eq!(finding.evidence["because_of"], "startup");
            }
        }
        assert_eq!(Verdict::of(&findings), Verdict::Rejected);
    }

    #[test]
    fn nothing_at_all_is_undecided_and_no_crash() {
        let findings = of(&testing::evidence_of([]));
        assert_eq!(Verdict::of(&findings), Verdict::Undecided);
    }
}
