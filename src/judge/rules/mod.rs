//! The rules that are judged by running the entry: one file a rule, each a pure function from evidence to
//! a finding. (What is judged by the bytes alone is in `submission`.)

pub mod chess_library;
pub mod clock;
pub mod commands;
pub mod file_name;
pub mod leftover_files;
pub mod leftover_processes;
pub mod legal_moves;
pub mod libraries;
pub mod long_game;
pub mod match_;
pub mod own_book;
pub mod ponder;
pub mod startup;
pub mod uci_go;
pub mod uci_handshake;
pub mod uci_isready;
pub mod uci_newgame;
pub mod uci_position;
pub mod uci_quit;

use crate::model::evidence::Evidence;
use crate::model::verdict::Finding;

use crate::judge::support::unrecorded;

use commands::CommandPolicy;
use libraries::LibraryPolicy;

/// The allow-list, as far as the running rules ask it.
pub trait Policy: CommandPolicy + LibraryPolicy {}

impl<P: CommandPolicy + LibraryPolicy> Policy for P {}

/// Every running rule's finding, in the order of the registry. `needed` are the names in the executable's
/// dynamic section (DT_NEEDED), where the entry is one.
#[must_use]
pub fn judge_all(evidence: &Evidence, needed: &[String], policy: &dyn Policy) -> Vec<Finding> {
    let mut findings = vec![
        file_name::judge(evidence),
        startup::judge(evidence, policy),
        leftover_files::judge(evidence),
        leftover_processes::judge(evidence),
        commands::judge(evidence, policy),
        libraries::judge(evidence, needed, policy),
        chess_library::judge(evidence),
        uci_handshake::judge(evidence),
        uci_isready::judge(evidence),
        uci_newgame::judge(evidence),
        uci_position::judge(evidence),
        uci_go::judge(evidence),
        uci_quit::judge(evidence),
        legal_moves::judge(evidence),
        long_game::judge(evidence),
        match_::judge(evidence),
        own_book::judge(evidence),
        ponder::judge(evidence),
        clock::judge(evidence),
    ];
    unrecorded::open(&mut findings, evidence);
    // Ids are ordered as the registry lists them, so that no second list can disagree.
    findings.sort_by_key(|finding| finding.rule);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing::{self, Build, TestPolicy};
    use crate::model::evidence::{ExitHow, Purpose};
    use crate::model::rule::RuleId;
    use crate::model::verdict::{Status, Verdict};

    #[test]
    fn a_healthy_entry_is_accepted() {
        let findings = judge_all(&testing::evidence(), &["libc.so.6".to_owned()], &TestPolicy);
        for finding in &findings {
            assert_eq!(finding.status, Status::Pass, "{}: {}", finding.rule, finding.summary);
        }
        assert_eq!(Verdict::of(&findings), Verdict::Accepted);
    }

    #[test]
    fn each_rule_has_one_finding_in_the_order_of_the_registry() {
        let findings = judge_all(&testing::evidence(), &[], &TestPolicy);
        let order: Vec<RuleId> = findings.iter().map(|finding| finding.rule).collect();
        let elsewhere = [RuleId::SingleFile, RuleId::Format, RuleId::Size, RuleId::Payload];
        let wanted: Vec<RuleId> = crate::model::rule::RULES
            .iter()
            .map(|rule| rule.id)
            .filter(|id| !elsewhere.contains(id))
            .collect();
        assert_eq!(order, wanted);
    }

    #[test]
    fn what_depends_on_the_start_is_skipped_and_what_was_seen_is_judged() {
        let dead = testing::run(Purpose::Main).died(ExitHow::Status(1));
        let findings = judge_all(&testing::evidence_of([dead]), &[], &TestPolicy);
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
        let findings = judge_all(&testing::evidence_of([]), &[], &TestPolicy);
        assert_eq!(Verdict::of(&findings), Verdict::Undecided);
    }
}
