//! Ends that no rule on the board asks for: draw and win by evaluation, and the longest game.
//!
//! 4k events adjudicate nothing (rule 2 of the event), so everything here is off unless an event asks for
//! it. The definitions are those of the real events, checked against their files; evaluations are White's
//! view, and one that an engine did not give counts against every rule.

use serde::Serialize;
use shakmaty::{Bitboard, Color, Position, Role};

use crate::game::end::Referee;
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::rule_distances::{RuleDistance, RuleDistances};
use crate::model::game::score::Score;
use crate::model::units::Ply;

/// The draw rule on evaluations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum DrawRule {
    /// Few pieces and level evaluations for a number of plies.
    New {
        /// Pieces other than pawns, kings included, at most (the event's: 6).
        pieces: u32,
        /// The evaluation's distance from level at most, in centipawns (25).
        level: i32,
        /// Plies in a row (8).
        plies: Ply,
    },
    /// Level evaluations since the last pawn move or capture, late enough in the game.
    Old {
        /// The evaluation's distance from level at most, in centipawns (15; 8 in season 17).
        level: i32,
        /// Plies in a row, the pawn move or capture not counted (10).
        plies: Ply,
        /// Moves that have to be played by both (35).
        after_moves: u32,
    },
}

impl DrawRule {
    /// The events' present rule.
    pub(crate) const NEW: DrawRule = DrawRule::New { pieces: 6, level: 25, plies: Ply(8) };
    /// The rule before it.
    pub(crate) const OLD: DrawRule = DrawRule::Old { level: 15, plies: Ply(10), after_moves: 35 };
}

/// The win rule: both engines agree, several moves in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WinRule {
    /// The evaluation at least, in centipawns (1000 in season 17, 650 in nTCEC).
    pub(crate) level: i32,
    /// Evaluations in a row of each engine (5; 3).
    pub(crate) moves: u32,
}

/// An engine that thinks itself lost, several moves in a row, has lost: what other runners call resigning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ResignRule {
    /// The least distance of its own evaluation below level, in centipawns.
    pub(crate) level: i32,
    /// The number of such evaluations in a row.
    pub(crate) moves: u32,
}

/// The adjudication rules in force; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct AdjudicationRules {
    /// Draws by evaluation.
    pub(crate) draw: Option<DrawRule>,
    /// Wins by evaluation.
    pub(crate) win: Option<WinRule>,
    /// Losses by the loser's own evaluation.
    pub(crate) resign: Option<ResignRule>,
    /// A draw after so many plies, opening included.
    pub(crate) length: Option<Ply>,
}

/// Counts through one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adjudicator {
    rules: AdjudicationRules,
    draw: u32,
    /// Per side: evaluations in a row that speak for a winner; positive for White.
    win: [i32; 2],
    /// Per side: own evaluations in a row that count as lost.
    lost: [u32; 2],
}

impl Adjudicator {
    /// For a new game.
    pub(crate) fn new(rules: AdjudicationRules) -> Adjudicator {
        Adjudicator { rules, draw: 0, win: [0; 2], lost: [0; 2] }
    }

    /// A move was played: `eval` is what its player thinks, White's view.
    ///
    /// `game` is the state after the move, which the rules on the board did not end.
    pub(crate) fn after(&mut self, game: &Referee, eval: Option<Score>) -> Option<GameEnding> {
        let mover = !game.position().turn();
        if let Some(rule) = self.rules.win {
            self.count_win(rule, mover, eval);
            let needed = i32::try_from(rule.moves.max(1)).unwrap_or(i32::MAX);
            if self.win.iter().all(|count| *count >= needed) {
                return Some(GameEnding::win(Color::White, Termination::WinByEval));
            }
            if self.win.iter().all(|count| *count <= -needed) {
                return Some(GameEnding::win(Color::Black, Termination::WinByEval));
            }
        }
        if let Some(rule) = self.rules.resign {
            let level = Score::centipawns(rule.level.into());
            let is_lost = eval.is_some_and(|eval| eval.for_white(!mover) >= level);
            let count = &mut self.lost[mover.fold_wb(0, 1)];
            *count = if is_lost { *count + 1 } else { 0 };
            if *count >= rule.moves.max(1) {
                return Some(GameEnding::win(!mover, Termination::WinByEval));
            }
        }
        if let Some(rule) = self.rules.draw
            && self.is_drawn(rule, game, eval)
        {
            return Some(GameEnding::draw(Termination::DrawByEval));
        }
        match self.rules.length {
            Some(longest) if game.plies() >= longest => Some(GameEnding::draw(Termination::Length)),
            _ => None,
        }
    }

    /// Plies until the draw rule and the win rule would end the game if all goes on so.
    pub(crate) fn rules_in(&self) -> RuleDistances {
        let draw = match self.rules.draw {
            Some(DrawRule::New { plies, .. } | DrawRule::Old { plies, .. }) => {
                RuleDistance::new(plies.0.saturating_sub(self.draw), self.draw > 0)
            }
            None => RuleDistance::OFF,
        };
        let win = match self.rules.win {
            Some(rule) => {
                let agreed = self.win[0].signum() == self.win[1].signum() && self.win[0] != 0;
                let least = self.win[0].unsigned_abs().min(self.win[1].unsigned_abs());
                let least = if agreed { least } else { 0 };
                let left = rule.moves.max(1).saturating_sub(least);
                RuleDistance::new(left.saturating_mul(2), agreed)
            }
            None => RuleDistance::OFF,
        };
        RuleDistances { draw, win }
    }

    fn count_win(&mut self, rule: WinRule, mover: Color, eval: Option<Score>) {
        let level = Score::centipawns(rule.level.into());
        let count = &mut self.win[mover.fold_wb(0, 1)];
        *count = match eval {
            Some(eval) if eval >= level => count.max(&mut 0).saturating_add(1),
            Some(eval) if eval.for_white(Color::Black) >= level => {
                count.min(&mut 0).saturating_sub(1)
            }
            _ => 0,
        };
    }

    fn is_drawn(&mut self, rule: DrawRule, game: &Referee, eval: Option<Score>) -> bool {
        let is_level =
            |level: i32| eval.is_some_and(|eval| eval.size() <= Score::centipawns(level.into()));
        match rule {
            DrawRule::New { pieces, level, plies } => {
                let board = game.position().board();
                let few = (board.occupied() & !board.by_role(Role::Pawn)).count() <= few(pieces);
                self.draw = if few && is_level(level) { self.draw + 1 } else { 0 };
                self.draw >= plies.0
            }
            DrawRule::Old { level, plies, after_moves } => {
                // A pawn move or a capture is what sets the counter of the fifty-move rule to zero.
                self.draw = if game.position().halfmoves() > 0 && is_level(level) {
                    self.draw + 1
                } else {
                    0
                };
                game.plies().0 / 2 >= after_moves && self.draw >= plies.0
            }
        }
    }
}

fn few(pieces: u32) -> usize {
    usize::try_from(pieces).unwrap_or(Bitboard::FULL.count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::end::Material;
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Chess};

    fn game(fen: &str) -> Referee {
        let start: Chess =
            fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
        Referee::new(start, Material::Draws)
    }

    /// Walks kings and rooks about without repeating often, giving an evaluation after each ply; the ply at
    /// which it ends.
    fn walk(
        rules: AdjudicationRules,
        fen: &str,
        evals: impl Fn(u32) -> Option<i64>,
        most: u32,
    ) -> Option<(u32, GameEnding)> {
        let mut game = game(fen);
        let mut adjudicator = Adjudicator::new(rules);
        for ply in 1..=most {
            // Any legal move that neither captures nor ends the game.
            let quiet = game.position().legal_moves().into_iter().find(|one| {
                let mut next = game.clone();
                !one.is_capture() && one.role() != Role::Pawn && next.play(*one).is_none()
            });
            assert_eq!(game.play(quiet.unwrap()), None);
            let eval = evals(ply).map(Score::centipawns);
            if let Some(ending) = adjudicator.after(&game, eval) {
                return Some((ply, ending));
            }
        }
        None
    }

    const ROOKS: &str = "r3k3/p6p/8/8/8/8/P6P/R3K3 w - - 0 1";
    const SEVEN: &str = "r3k1n1/p6p/8/8/8/8/P6P/RN2KB2 w - - 0 1";

    #[test]
    fn the_new_draw_rule_wants_eight_level_plies_and_few_pieces() {
        let rules = AdjudicationRules { draw: Some(DrawRule::NEW), ..AdjudicationRules::default() };
        let at =
            |evals: &dyn Fn(u32) -> Option<i64>| walk(rules, ROOKS, evals, 20).map(|(ply, _)| ply);
        assert_eq!(at(&|_| Some(25)), Some(8));
        assert_eq!(at(&|ply| Some(if ply == 3 { -26 } else { 0 })), Some(11));
        assert_eq!(at(&|ply| (ply != 8).then_some(0)), Some(16));
        assert_eq!(walk(rules, SEVEN, |_| Some(0), 20), None);
    }

    #[test]
    fn one_engine_alone_may_think_itself_lost() {
        let rules = AdjudicationRules {
            resign: Some(ResignRule { level: 400, moves: 3 }),
            ..AdjudicationRules::default()
        };
        let end = |evals: &dyn Fn(u32) -> Option<i64>| walk(rules, ROOKS, evals, 20);
        // Black moves at even plies; White's evaluations stay level, and White's view counts.
        let black_lost = |ply| Some(if ply % 2 == 0 { 400 } else { 0 });
        assert_eq!(
            end(&black_lost),
            Some((6, GameEnding::win(Color::White, Termination::WinByEval)))
        );
        let white_lost = |ply| Some(if ply % 2 == 1 { -400 } else { 0 });
        assert_eq!(
            end(&white_lost),
            Some((5, GameEnding::win(Color::Black, Termination::WinByEval)))
        );
        // A winner's evaluations are no resignation, nor are two in a row, nor one that is not given.
        assert_eq!(end(&|ply| Some(if ply % 2 == 1 { 900 } else { 0 })), None);
        let broken = |ply| (ply % 6 != 0).then_some(if ply % 2 == 0 { 900 } else { 0 });
        assert_eq!(end(&broken), None);
    }

    #[test]
    fn the_old_draw_rule_wants_35_moves() {
        let rules = AdjudicationRules { draw: Some(DrawRule::OLD), ..AdjudicationRules::default() };
        let (ply, end) = walk(rules, ROOKS, |_| Some(15), 80).unwrap();
        assert_eq!((ply, end.reason), (70, Termination::DrawByEval));
        let late = |ply| Some(if ply <= 65 { 16 } else { 0 });
        assert_eq!(walk(rules, ROOKS, late, 80).unwrap().0, 75);
    }

    #[test]
    fn a_pawn_move_is_not_counted_by_the_old_rule() {
        let rule = DrawRule::Old { level: 15, plies: Ply(2), after_moves: 0 };
        let mut adjudicator = Adjudicator::new(AdjudicationRules {
            draw: Some(rule),
            ..AdjudicationRules::default()
        });
        let mut game = game(ROOKS);
        let mut ended = Vec::new();
        for word in ["a1b1", "a7a6", "b1c1", "a8b8"] {
            let one = game.find(word.parse().unwrap()).unwrap();
            game.play(one);
            let level = Some(Score::centipawns(0));
            ended.push(adjudicator.after(&game, level).is_some());
        }
        assert_eq!(ended, [false, false, false, true]);
    }

    #[test]
    fn the_win_rule_wants_both_engines_to_agree_in_a_row() {
        let rules = AdjudicationRules {
            win: Some(WinRule { level: 1000, moves: 3 }),
            ..AdjudicationRules::default()
        };
        let end = |evals: &dyn Fn(u32) -> Option<i64>| {
            walk(rules, ROOKS, evals, 20).map(|(ply, end)| (ply, end.result.word()))
        };
        assert_eq!(end(&|_| Some(1000)), Some((6, "1-0")));
        assert_eq!(end(&|_| Some(-1000)), Some((6, "0-1")));
        assert_eq!(end(&|ply| Some(if ply % 2 == 0 { -1000 } else { 1000 })), None);
        assert_eq!(end(&|ply| (ply != 4).then_some(2000)), Some((10, "1-0")));
        assert_eq!(end(&|_| Some(999)), None);
    }

    #[test]
    fn nothing_is_adjudicated_unless_asked_for() {
        assert_eq!(walk(AdjudicationRules::default(), ROOKS, |_| Some(0), 60), None);
        let rules = AdjudicationRules { length: Some(Ply(12)), ..AdjudicationRules::default() };
        let (ply, end) = walk(rules, ROOKS, |_| None, 60).unwrap();
        assert_eq!((ply, end.reason), (12, Termination::Length));
    }
}
