//! Rule 7.9: `ucinewgame` is survived. It has no answer of its own, so `isready` is sent after it.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::one_answer::{self, Exchange};
use crate::model::evidence::{Evidence, Question};
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RuleId::UciNewgame, CausedByLoad::IfStrained, |case| {
        judge(case.evidence)
    });

/// Judges every `ucinewgame` that was sent to a run that counts.
fn judge(evidence: &Evidence) -> Finding {
    one_answer::judge(
        RuleId::UciNewgame,
        evidence,
        &Question::NewGame,
        &Exchange {
            sent: "ucinewgame, isready",
            answer: "readyok",
            help: "read the line `ucinewgame` and go on (forgetting the last game is enough); the \
                   `isready` after it wants its `readyok`, also where one read brings both lines",
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::{came_again, testing};
    use crate::model::evidence::{Answer, ExitHow, Purpose};
    use crate::model::verdict::Status;

    #[test]
    fn an_engine_that_dies_of_it_fails_with_its_signal() {
        let run = testing::run(Purpose::Main)
            .asked(Question::NewGame, Answer::Ended(Some(ExitHow::Signal(11))));
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("SIGSEGV"));
    }

    #[test]
    fn one_that_dies_of_a_clock_below_the_events_is_advised() {
        let dies = || Answer::Ended(Some(ExitHow::Signal(11)));
        let small = |purpose| {
            let mut run = testing::run(purpose);
            for ask in &mut run.asks {
                if let Question::Go(go) = &mut ask.question {
                    go.left = Some(testing::ms(600));
                }
            }
            run.asked(Question::NewGame, dies())
        };
        for purpose in [Purpose::SmallClock, Purpose::Clock] {
            let finding =
                judge(&testing::evidence_of([testing::run(Purpose::Main), small(purpose)]));
            assert_eq!(finding.status, Status::Advice, "{purpose:?}: {}", finding.summary);
            assert!(finding.summary.contains("below the event's"), "{}", finding.summary);
        }
        // On the event's clock the same rejects.
        let run = testing::run(Purpose::Clock).asked(Question::NewGame, dies());
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
        assert_eq!(finding.status, Status::Fail);
    }

    #[test]
    fn no_load_excuses_an_end_that_comes_at_once_in_each_process() {
        let dies = |purpose, took| {
            let end = Answer::Ended(Some(ExitHow::Status(7)));
            let mut run = testing::run(purpose).asked(Question::NewGame, end);
            for ask in &mut run.asks {
                ask.took = testing::ms(took);
            }
            run
        };
        let noted = |second: u64| {
            let runs = [dies(Purpose::Main, 2), dies(Purpose::SmallClock, second)];
            came_again::is_noted(&judge(&testing::evidence_of(runs)))
        };
        assert!(noted(2) && !noted(3000));
        assert!(!came_again::is_noted(&judge(&testing::evidence_of([dies(Purpose::Main, 2)]))));
    }

    #[test]
    fn what_was_not_asked_is_not_guessed() {
        let mut run = testing::run(Purpose::Main);
        run.asks.retain(|ask| ask.question != Question::NewGame);
        assert_eq!(judge(&testing::evidence_of([run])).status, Status::Undecided);
    }
}
