//! Rule 7.9: `isready` is answered with `readyok`.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::one_answer::{self, Exchange};
use crate::model::evidence::{Evidence, Question};
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RuleId::UciIsready, CausedByLoad::IfStrained, |case| {
        judge(case.evidence)
    });

/// Judges every `isready` that was sent to a run that counts.
fn judge(evidence: &Evidence) -> Finding {
    one_answer::judge(
        RuleId::UciIsready,
        evidence,
        &Question::IsReady,
        &Exchange {
            sent: "isready",
            answer: "readyok",
            help: "answer each line `isready` with the line `readyok`, lower case, flushed at once; it \
                   comes after `uciok` and after `ucinewgame`, more than once",
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{Answer, Purpose, Resource};
    use crate::model::units::Bytes;
    use crate::model::verdict::Status;

    #[test]
    fn an_unanswered_isready_fails_even_where_the_start_failed_by_it() {
        let mut run = testing::run(Purpose::Main);
        run.readyok = None;
        run.asks.truncate(2);
        run.asks[1].answer = Answer::Timeout;
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("in the measured run: no answer within"));
        assert_eq!(finding.evidence["commands"], serde_json::json!(["uci", "isready"]));
    }

    #[test]
    fn a_refusal_opens_it() {
        let run = testing::run(Purpose::Main)
            .asked(Question::IsReady, Answer::Timeout)
            .refused(Resource::Memory(Bytes(1 << 40)));
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Undecided);
    }

    #[test]
    fn an_option_that_ends_it_is_named() {
        let mut run = testing::run(Purpose::Idle).asked(Question::IsReady, Answer::Ended(None));
        let bad = run.asks.iter_mut().find(|ask| !ask.answer.is_good()).unwrap();
        bad.set = Some("setoption name Ponder value false".into());
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
        assert_eq!(finding.status, Status::Fail);
        let sent = "`setoption name Ponder value false, isready` was not answered";
        assert!(finding.summary.starts_with(sent), "{}", finding.summary);
    }

    #[test]
    fn good_answers_are_counted() {
        let finding = judge(&testing::evidence());
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.summary.contains("4 times"));
    }
}
