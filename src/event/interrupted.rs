//! The ruling on a game that was interrupted by no fault of an engine (rule 6.1).
//!
//! The five cases are asked in order. The first, a web server that crashed, never touches a game here, since pages only
//! read the journal. The state that a game had reached by itself comes before all: a game that had ended on the board
//! has ended.

use std::time::Duration;

use shakmaty::{ByColor, Chess, Color, Position};

use super::terms::InterruptionRule;
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::result::{GameResult, color_name};
use crate::model::game::score::Score;
use crate::model::words::counted;

/// Moves that both engines must have completed for a draw by evaluations (rule 6.1.3).
pub(crate) const MOVES: usize = 35;
/// Pieces on the board for which tables are asked (rule 6.1.4).
pub(crate) const PIECES: usize = 7;

/// A game at the moment of its interruption.
#[derive(Clone, Debug)]
pub(crate) struct InterruptedGame {
    /// The position reached.
    pub(crate) position: Chess,
    /// Half-moves played, the opening's among them.
    pub(crate) plies: usize,
    /// Each engine's evaluation with its last move, White's view.
    pub(crate) evals: ByColor<Option<Score>>,
    /// The time left on the clocks.
    pub(crate) clocks: ByColor<Duration>,
    /// True if a move was made since the game began or last went on.
    pub(crate) moved: bool,
}

/// The ruling on an interrupted game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    /// The rule.
    pub(crate) rule: &'static str,
    /// The decision and its grounds, in words.
    pub(crate) why: String,
    /// Over, on, or once more.
    pub(crate) verdict: Continuation,
}

/// Over, on, or once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// The game has this result.
    Over(GameEnding),
    /// The game goes on with these clocks, in which `compensation` is contained.
    GoesOn {
        /// The time on the clocks.
        clocks: ByColor<Duration>,
        /// The time added to both.
        compensation: Duration,
    },
    /// The game is played once more from its opening: the moves that were made do not count.
    BeginsAnew,
}

/// Decides by the stage's rule, which is rule 6.1 with bounds of its own for all events but nTCEC's. `probe` asks tables that
/// are at hand; `compensation` is the event's setting, since the rule names no number.
pub(crate) fn decide(
    moment: &InterruptedGame,
    probe: impl FnOnce(&Chess) -> Option<GameEnding>,
    compensation: Duration,
    rule: InterruptionRule,
) -> Ruling {
    let bounds = match rule {
        InterruptionRule::GoesOn(bounds) => bounds,
        InterruptionRule::Restart => {
            let why = "it begins anew from its opening, with the whole clocks".into();
            return Ruling { rule: "restart", why, verdict: Continuation::BeginsAnew };
        }
    };
    if let (Some(white), Some(black)) = (moment.evals.white, moment.evals.black) {
        let both = |holds: &dyn Fn(i32) -> bool| holds(white.value()) && holds(black.value());
        let told = |what: &str| format!("evaluations {white} and {black}: {what}");
        let over = |rule, what: &str, ending| Ruling {
            rule,
            why: told(what),
            verdict: Continuation::Over(ending),
        };
        for (side, sign, beyond, least) in
            [(Color::White, '+', "above", "at least"), (Color::Black, '-', "below", "at most")]
        {
            let for_side = |eval: i32| if side.is_white() { eval } else { eval.saturating_neg() };
            if both(&|eval| bounds.win.is_passed(for_side(eval))) {
                let beyond = bounds.win.beyond(beyond, least);
                let what = format!("both {beyond} {sign}{}, {} wins", bounds.win, color_name(side));
                return over("6.1.2", &what, GameEnding::win(side, Termination::WinByEval));
            }
        }
        if both(&|eval| bounds.draw.holds(eval)) && moment.plies / 2 >= MOVES {
            let ending = GameEnding::draw(Termination::DrawByEval);
            return over(
                "6.1.3",
                &format!("both within {} after {MOVES} moves, a draw", bounds.draw),
                ending,
            );
        }
    }
    let pieces = moment.position.board().occupied().count();
    if pieces <= PIECES
        && let Some(ending) = probe(&moment.position)
    {
        let result = match ending.result {
            GameResult::Win(color) => format!("{} wins", color_name(color)),
            _ => "a draw".to_owned(),
        };
        return Ruling {
            rule: "6.1.4",
            why: format!("{pieces} pieces on the board, by the tables {result}"),
            verdict: Continuation::Over(ending),
        };
    }
    // Compensation that no move has used since the last time is not given again.
    let compensation = if moment.moved { compensation } else { Duration::ZERO };
    let clocks = moment.clocks.map(|left| left + compensation);
    let seconds = |time: Duration| format!("{:.3} s", time.as_secs_f64());
    Ruling {
        rule: "6.1.5",
        why: format!(
            "it goes on after {} with {} for White and {} for Black, compensation {}",
            counted(moment.plies, "half-move"),
            seconds(clocks.white),
            seconds(clocks.black),
            seconds(compensation)
        ),
        verdict: Continuation::GoesOn { clocks, compensation },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::terms::InterruptionBounds;
    use proptest::prelude::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    fn moment(white: Option<i64>, black: Option<i64>, plies: usize) -> InterruptedGame {
        InterruptedGame {
            position: Chess::default(),
            plies,
            evals: ByColor {
                white: white.map(Score::centipawns),
                black: black.map(Score::centipawns),
            },
            clocks: ByColor { white: Duration::from_secs(100), black: Duration::from_secs(50) },
            moved: true,
        }
    }

    fn ruled(moment: &InterruptedGame) -> (&'static str, Option<GameResult>) {
        let ruling = decide(moment, |_| None, Duration::from_secs(5));
        let result = match ruling.verdict {
            Continuation::Over(ending) => Some(ending.result),
            Continuation::GoesOn { .. } | Continuation::BeginsAnew => None,
        };
        (ruling.rule, result)
    }

    fn decide(
        moment: &InterruptedGame,
        probe: impl FnOnce(&Chess) -> Option<GameEnding>,
        time: Duration,
    ) -> Ruling {
        let rule = InterruptionRule::GoesOn(InterruptionBounds::TCEC_4K);
        super::decide(moment, probe, time, rule)
    }

    #[test]
    fn a_game_that_begins_anew_is_never_decided_by_evaluations() {
        let won = moment(Some(2000), Some(2000), 80);
        let ruling =
            super::decide(&won, |_| None, Duration::from_secs(5), InterruptionRule::Restart);
        assert_eq!((ruling.rule, ruling.verdict), ("restart", Continuation::BeginsAnew));
    }

    #[test]
    fn the_bounds_are_the_rules_and_exclusive() {
        let white = Some(GameResult::Win(Color::White));
        let black = Some(GameResult::Win(Color::Black));
        for (evals, plies, rule, result) in [
            ((Some(1001), Some(1001)), 10, "6.1.2", white),
            ((Some(1000), Some(5000)), 10, "6.1.5", None),
            ((Some(-1001), Some(-2000)), 10, "6.1.2", black),
            ((Some(1001), Some(-1001)), 10, "6.1.5", None),
            ((Some(14), Some(-14)), 70, "6.1.3", Some(GameResult::Draw)),
            ((Some(15), Some(0)), 70, "6.1.5", None),
            ((Some(0), Some(0)), 69, "6.1.5", None),
            ((Some(2000), None), 80, "6.1.5", None),
            ((None, None), 80, "6.1.5", None),
        ] {
            assert_eq!(
                ruled(&moment(evals.0, evals.1, plies)),
                (rule, result),
                "{evals:?} {plies}"
            );
        }
    }

    #[test]
    fn a_mate_is_more_than_ten_pawns() {
        let mut at = moment(None, None, 20);
        at.evals = ByColor { white: Some(Score::mate(3)), black: Some(Score::centipawns(1200)) };
        assert_eq!(ruled(&at), ("6.1.2", Some(GameResult::Win(Color::White))));
    }

    #[test]
    fn tables_are_asked_with_seven_pieces_and_after_the_evaluations() {
        let position = |fen: &str| -> Chess {
            fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
        };
        let draw = |_: &Chess| Some(GameEnding::draw(Termination::Tables));
        let mut at = moment(Some(300), Some(300), 90);
        at.position = position("8/8/4k3/8/8/4K3/PPPPP3/8 w - - 0 1");
        assert_eq!(decide(&at, draw, Duration::ZERO).rule, "6.1.4");
        assert_eq!(decide(&at, |_| None, Duration::ZERO).rule, "6.1.5");
        at.evals = moment(Some(1500), Some(1500), 0).evals;
        assert_eq!(decide(&at, draw, Duration::ZERO).rule, "6.1.2");
        at.evals = moment(None, None, 0).evals;
        at.position = position("8/8/4k3/8/8/4K3/PPPPPP2/8 w - - 0 1");
        assert_eq!(decide(&at, draw, Duration::ZERO).rule, "6.1.5");
    }

    #[test]
    fn compensation_is_given_once() {
        let mut at = moment(None, None, 20);
        let on = |white, black, compensation| Continuation::GoesOn {
            clocks: ByColor {
                white: Duration::from_secs(white),
                black: Duration::from_secs(black),
            },
            compensation: Duration::from_secs(compensation),
        };
        let given = Duration::from_secs(5);
        assert_eq!(decide(&at, |_| None, given).verdict, on(105, 55, 5));
        at.moved = false;
        assert_eq!(decide(&at, |_| None, given).verdict, on(100, 50, 0));
    }

    proptest! {
        #[test]
        fn the_cases_exclude_each_other_and_mirror(
            white in proptest::option::of(-3000i64..3000), black in proptest::option::of(-3000i64..3000),
            plies in 0usize..200,
        ) {
            let (rule, result) = ruled(&moment(white, black, plies));
            let swapped = ruled(&moment(black.map(|e| -e), white.map(|e| -e), plies));
            prop_assert_eq!(rule, swapped.0);
            let mirrored = result.map(|result| match result {
                GameResult::Win(color) => GameResult::Win(!color),
                other => other,
            });
            prop_assert_eq!(mirrored, swapped.1);
            prop_assert_eq!(result.is_none(), rule == "6.1.5");
        }
    }
}
