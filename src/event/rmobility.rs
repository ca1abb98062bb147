//! r-mobility, the third tie-break of rule 3: how close a drawn game came to mate or stalemate.
//!
//! After each ply v = 2 × (legal moves of the side to move) + (1 if it is not in check); the goal is
//! G = v/2, credited to the side that just moved. A pawn move or a capture sets the goal anew, any other
//! ply only if its v is strictly lower; the start position does not count. The holder of the goal gets
//! ½ + ½^(1+2G), the other the rest, so mate (G0) is 1, stalemate (G0.5) ¾. A decisive result counts as G0,
//! whatever ended the game.

use std::fmt;
use std::ops::{Add, AddAssign};

use shakmaty::{Chess, Color, Move, Position};

use crate::model::game::record::GameRecord;
use crate::model::game::result::GameResult;

/// A goal in half units (2G), so 0 is mate and 1 is stalemate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Goal(pub u16);

impl Goal {
    /// Returns the goal that a position is worth to the side that has just moved.
    pub(crate) fn of(position: &Chess) -> Goal {
        // A position has at most 218 legal moves, and a list of them never more than 256.
        let moves = u16::try_from(position.legal_moves().len()).unwrap_or(u16::MAX / 4);
        Goal(2 * moves + u16::from(!position.is_check()))
    }
}

impl fmt::Display for Goal {
    /// As the event writes it: `G0.0`, `G2.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("G{}.{}", self.0 / 2, self.0 % 2 * 5))
    }
}

/// The goal of a game and its holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeldGoal {
    /// The goal.
    pub goal: Goal,
    /// The side that reached it.
    pub holder: Color,
}

/// Follows a game ply by ply.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tracker {
    best: Option<HeldGoal>,
}

impl Tracker {
    /// Takes in a ply: the position after it, and whether it was a pawn move or a capture.
    pub(crate) fn ply(&mut self, after: &Chess, zeroing: bool) {
        let goal = Goal::of(after);
        if zeroing || self.best.is_none_or(|best| goal < best.goal) {
            self.best = Some(HeldGoal { goal, holder: !after.turn() });
        }
    }

    /// The goal now; none before the first ply.
    pub(crate) fn held(&self) -> Option<HeldGoal> {
        self.best
    }
}

/// The goal with which a game ended; none for one without a result, or without a ply.
pub fn of_game(game: &GameRecord) -> Option<HeldGoal> {
    match game.ending.result {
        GameResult::Unfinished => None,
        GameResult::Win(holder) => Some(HeldGoal { goal: Goal(0), holder }),
        GameResult::Draw => {
            // A pawn move or a capture sets the goal anew: only the last one and what follows it count.
            let moves: Vec<Move> = game.moves().collect();
            let last = moves.iter().rposition(|played| played.is_zeroing()).unwrap_or(0);
            let mut tracker = Tracker::default();
            let mut position = game.opening.start();
            for (number, played) in moves.into_iter().enumerate() {
                position.play_unchecked(played);
                if number >= last {
                    tracker.ply(&position, played.is_zeroing());
                }
            }
            tracker.held()
        }
    }
}

const LIMBS: usize = 9;

/// A sum of r-mobility points, exact: a whole number and 512 binary places, most significant first.
///
/// A game's points are ½ ± ½^(1+v) with v up to 437, far below what a double can hold beside a whole
/// number, and a tie-break must not depend on rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RMobility([u64; LIMBS]);

impl RMobility {
    /// The points of `side` in a finished game; half for both where no ply was played.
    pub fn of_side(held: Option<HeldGoal>, side: Color) -> RMobility {
        let half = RMobility::power(1);
        let Some(held) = held else {
            return half;
        };
        // A goal that no chess position reaches is as good as nothing, and stays within the places.
        let edge = RMobility::power(u32::from(held.goal.0).saturating_add(1).min(512));
        if held.holder == side { half + edge } else { half.less(edge) }
    }

    /// ½ to the power of `exponent`, from 1 to 512.
    fn power(exponent: u32) -> RMobility {
        let mut limbs = [0; LIMBS];
        let place = exponent as usize - 1;
        limbs[1 + place / 64] = 1 << (63 - place % 64);
        RMobility(limbs)
    }

    fn less(self, other: RMobility) -> RMobility {
        let mut limbs = self.0;
        let mut borrow = false;
        for (limb, taken) in limbs.iter_mut().zip(other.0).rev() {
            let (part, first) = limb.overflowing_sub(taken);
            let (rest, second) = part.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (rest, first || second);
        }
        RMobility(limbs)
    }

    /// For printing: the nearest double, give or take its last place.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0.iter().rev().fold(0.0, |sum, limb| sum / 2f64.powi(64) + *limb as f64)
    }
}

impl Add for RMobility {
    type Output = RMobility;
    fn add(self, other: RMobility) -> RMobility {
        let mut limbs = self.0;
        let mut carry = false;
        for (limb, added) in limbs.iter_mut().zip(other.0).rev() {
            let (part, first) = limb.overflowing_add(added);
            let (rest, second) = part.overflowing_add(u64::from(carry));
            (*limb, carry) = (rest, first || second);
        }
        RMobility(limbs)
    }
}

impl AddAssign for RMobility {
    fn add_assign(&mut self, other: RMobility) {
        *self = *self + other;
    }
}

impl std::iter::Sum for RMobility {
    fn sum<I: Iterator<Item = RMobility>>(points: I) -> RMobility {
        points.fold(RMobility::default(), Add::add)
    }
}

impl fmt::Display for RMobility {
    /// Six places, as the event's tables have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.6}", self.as_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::game::listed::tests::listed;
    use proptest::prelude::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    fn position(fen: &str) -> Chess {
        let fen: Fen = fen.parse().unwrap();
        fen.into_position(CastlingMode::Standard).unwrap()
    }

    fn points(goal: u16, holder: Color, side: Color) -> f64 {
        RMobility::of_side(Some(HeldGoal { goal: Goal(goal), holder }), side).as_f64()
    }

    #[test]
    fn the_goals_of_mate_stalemate_and_less() {
        assert_eq!(Goal::of(&position("7k/7P/6K1/8/8/8/8/8 b - - 0 1")), Goal(1));
        assert_eq!(Goal::of(&position("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")), Goal(0));
        // In check with one move: G1.0. Not in check with one move: G1.5.
        assert_eq!(Goal::of(&position("7k/8/8/8/8/8/6R1/K6R b - - 0 1")), Goal(0));
        assert_eq!(Goal::of(&position("k7/8/8/8/8/8/8/KR5R b - - 0 1")), Goal(3));
        assert_eq!(Goal(5).to_string(), "G2.5");
    }

    #[test]
    fn the_points_of_the_rules_table() {
        let table = [(0, 1.0), (1, 0.75), (2, 0.625), (3, 0.5625), (4, 0.53125), (6, 0.5078125)];
        for (goal, expected) in table {
            assert_eq!(points(goal, Color::White, Color::White), expected);
            assert_eq!(points(goal, Color::White, Color::Black), 1.0 - expected);
        }
    }

    #[test]
    fn a_decisive_game_is_worth_a_point_however_it_ended() {
        let game = listed("a", "b", GameResult::Win(Color::Black), "e4 e5");
        let held = of_game(&game.record);
        assert_eq!(RMobility::of_side(held, Color::Black).as_f64(), 1.0);
        assert_eq!(RMobility::of_side(held, Color::White).as_f64(), 0.0);
    }

    #[test]
    fn a_pawn_move_or_capture_sets_the_goal_anew() {
        // 1. e4 e5 2. Qh5: Black, not in check, has 25 moves or so; Ke7 is no pawn move and leaves fewer.
        let game = listed("a", "b", GameResult::Draw, "e4 e5 Qh5 Ke7 Qxe5");
        let mut tracker = Tracker::default();
        let mut goals = Vec::new();
        for (played, after) in game.record.positions() {
            tracker.ply(&after, played.is_zeroing());
            goals.push(tracker.held().unwrap());
        }
        // After e4 and e5, 20 and 29 moves; pawn moves set the goal whatever it was before.
        assert_eq!(goals[0].goal, Goal(41));
        assert_eq!((goals[1].goal, goals[1].holder), (Goal(59), Color::Black));
        assert!(goals[2].goal < goals[1].goal);
        assert_eq!(goals[2].holder, Color::White);
        // Ke7 does not replace a lower goal.
        assert_eq!(goals[3], goals[2]);
        // Qxe5 is mate.
        assert_eq!((goals[4].goal, goals[4].holder), (Goal(0), Color::White));
    }

    #[test]
    fn what_comes_before_the_last_pawn_move_or_capture_changes_nothing() {
        for line in [
            "e4 e5 Qh5 Ke7 Qxe5",
            "e4 e5 Nf3 Nc6 Ng1 Nb8 Nf3",
            "Nf3 Nf6 Ng1 Ng8",
            "e4 d5 exd5 Qxd5 Nc3 Qd8 Nb1 Qd5",
        ] {
            let game = listed("a", "b", GameResult::Draw, line);
            let mut tracker = Tracker::default();
            for (played, after) in game.record.positions() {
                tracker.ply(&after, played.is_zeroing());
            }
            assert_eq!(of_game(&game.record), tracker.held(), "{line}");
        }
    }

    #[test]
    fn an_equal_goal_does_not_replace_the_first() {
        let game = listed("a", "b", GameResult::Draw, "Nf3 Nf6 Ng1 Ng8");
        let held = of_game(&game.record).unwrap();
        assert_eq!((held.goal, held.holder), (Goal(41), Color::White));
    }

    #[test]
    fn a_game_without_plies_is_half_a_point_for_both() {
        let game = listed("a", "b", GameResult::Draw, "");
        assert_eq!(of_game(&game.record), None);
        assert_eq!(RMobility::of_side(None, Color::White).to_string(), "0.500000");
    }

    #[test]
    fn what_a_double_cannot_tell_apart_is_told_apart() {
        let far = |goal| {
            let held = HeldGoal { goal: Goal(goal), holder: Color::White };
            RMobility::of_side(Some(held), Color::White)
        };
        assert_eq!(far(300).as_f64(), far(301).as_f64());
        assert!(far(300) > far(301));
        assert!(far(301) > RMobility::of_side(None, Color::White));
    }

    proptest! {
        #[test]
        fn both_sides_of_a_game_share_one_point(goal in 0u16..440, white: bool) {
            let holder = Color::from_white(white);
            let held = Some(HeldGoal { goal: Goal(goal), holder });
            let sum = RMobility::of_side(held, Color::White) + RMobility::of_side(held, Color::Black);
            let mut one = RMobility::default();
            one.0[0] = 1;
            prop_assert_eq!(sum, one);
        }

        #[test]
        fn sums_agree_with_doubles(goals in proptest::collection::vec(0u16..40, 0..60)) {
            let held = |goal| Some(HeldGoal { goal: Goal(goal), holder: Color::White });
            let exact: RMobility = goals.iter().map(|g| RMobility::of_side(held(*g), Color::White)).sum();
            let rough: f64 = goals.iter().map(|g| 0.5 + 0.5f64.powi(1 + i32::from(*g))).sum();
            prop_assert!((exact.as_f64() - rough).abs() < 1e-9);
        }
    }
}
