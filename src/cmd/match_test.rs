//! The test of a match (`--sprt`), taken over its games in the order of the plan.
//!
//! Games end in any order, and short ones are not the same as long ones: lost pairs may well be the short ones. A test over
//! whatever has ended would favour them. So a game counts once all before it have ended, on one machine as in a merge of many.

use super::match_table::sample;
use crate::cli::{Hypotheses, SprtScale};
use crate::model::game::result::GameResult;
use crate::model::in_order::InOrder;
use crate::ratings::sprt::{Scale, Sprt, SprtDecision};
use crate::runner::schedule::ScheduledGame;
use crate::runner::score::MatchScore;
use crate::shard::record::Test;

/// The rate at which either error of a test may happen; the customary figure.
const ERRORS: f64 = 0.05;

/// The test that the command line asks for.
pub(super) fn asked_test(asked: Option<Hypotheses>, scale: SprtScale) -> Option<Test> {
    let normalized = scale == SprtScale::Normalized;
    asked.map(|asked| Test { elo0: asked.elo0, elo1: asked.elo1, normalized })
}

/// A test with its rates of errors.
pub(super) fn sprt(test: Test) -> Sprt {
    let scale = if test.normalized { Scale::Normalized } else { Scale::Logistic };
    Sprt { elo0: test.elo0, elo1: test.elo1, alpha: ERRORS, beta: ERRORS, scale }
}

/// A test, and the games that it has counted: all up to the first that is missing, or up to the one that decided it.
pub(super) struct OrderedTest {
    sprt: Sprt,
    paired: bool,
    order: InOrder<(ScheduledGame, GameResult)>,
    score: MatchScore,
    decided: Option<SprtDecision>,
}

impl OrderedTest {
    /// A test that has seen no game. `score` is an empty one of the match; `paired` is true if pairs of games are counted.
    pub(super) fn new(test: Test, score: MatchScore, paired: bool) -> OrderedTest {
        OrderedTest { sprt: sprt(test), paired, order: InOrder::default(), score, decided: None }
    }

    /// Takes a game that has ended, whichever it is; true once the test is decided.
    pub(super) fn take(&mut self, pairing: &ScheduledGame, result: GameResult) -> bool {
        for (pairing, result) in self.order.push(pairing.game, (*pairing, result)) {
            if self.is_decided() {
                break;
            }
            self.score.add(&pairing, result);
            let [(_, tally)] = self.score.couples() else { break };
            let decision = self.sprt.decide(&sample(tally, self.paired));
            self.decided = Some(decision).filter(|decision| *decision != SprtDecision::Continue);
        }
        self.is_decided()
    }

    /// True if no later game can change it.
    pub(super) fn is_decided(&self) -> bool {
        self.decided.is_some()
    }

    /// The state of the test.
    pub(super) fn line(&self) -> Option<String> {
        let [(_, tally)] = self.score.couples() else { return None };
        let Sprt { elo0, elo1, .. } = self.sprt;
        let llr = self.sprt.llr(&sample(tally, self.paired));
        let (lower, upper) = self.sprt.bounds();
        let word = match self.decided {
            Some(SprtDecision::AcceptUpper) => format!("{elo1} accepted"),
            Some(SprtDecision::AcceptLower) => format!("{elo0} accepted"),
            _ => "not decided".into(),
        };
        Some(format!("SPRT [{elo0}, {elo1}]: LLR {llr:.2} ({lower:.2} to {upper:.2}), {word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::schedule::{ColourOrder, MatchSchedule, PairingSystem};
    use shakmaty::Color;

    /// The first engine wins all of its even pairs, which are long, and loses all of its odd ones, which are short.
    fn result(pairing: &ScheduledGame) -> GameResult {
        let first_wins = pairing.encounter.is_multiple_of(2);
        let is_white = pairing.white == 0;
        GameResult::Win(if first_wins == is_white { Color::White } else { Color::Black })
    }

    #[test]
    fn the_order_in_which_games_end_does_not_move_a_test() {
        let plan = MatchSchedule::new(2, PairingSystem::RoundRobin, 200, 2, ColourOrder::Reversed);
        let score = MatchScore::new(&plan);
        let test = || {
            OrderedTest::new(Test { elo0: 0.0, elo1: 5.0, normalized: true }, score.clone(), true)
        };
        let games: Vec<ScheduledGame> =
            (0..plan.total()).filter_map(|game| plan.pairing(game)).collect();
        let mut planned = test();
        let mut short_first = test();
        for game in &games {
            planned.take(game, result(game));
        }
        let (odd, even): (Vec<_>, Vec<_>) =
            games.iter().partition(|game| !game.encounter.is_multiple_of(2));
        for game in &odd {
            // Before the first game of all has ended nothing counts.
            assert!(!short_first.take(game, result(game)));
            assert!(short_first.line().is_some_and(|line| line.contains("LLR 0.00 ")));
        }
        for game in &even {
            short_first.take(game, result(game));
        }
        assert_eq!(planned.line(), short_first.line());
        assert!(!planned.is_decided(), "{:?}", planned.line());
    }

    #[test]
    fn games_behind_the_one_that_decides_do_not_count() {
        let plan = MatchSchedule::new(2, PairingSystem::RoundRobin, 200, 2, ColourOrder::Reversed);
        let score = MatchScore::new(&plan);
        let mut test =
            OrderedTest::new(Test { elo0: 0.0, elo1: 300.0, normalized: true }, score, true);
        let games = || (0..plan.total()).filter_map(|game| plan.pairing(game));
        let won = |game: &ScheduledGame| {
            GameResult::Win(if game.white == 0 { Color::White } else { Color::Black })
        };
        let last = games().find(|game| test.take(game, won(game))).unwrap();
        let line = test.line();
        assert!(line.as_ref().is_some_and(|line| line.ends_with("300 accepted")), "{line:?}");
        for game in games().skip(last.game + 1) {
            assert!(test.take(&game, GameResult::Draw));
        }
        assert_eq!(test.line(), line);
    }
}
