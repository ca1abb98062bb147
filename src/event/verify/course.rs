//! The course of a game by the rules of its stage that end games by evaluations, as its moves in the journal tell it.

use shakmaty::uci::UciMove;

use crate::event::journal::record::{GameStarted, JournalPly};
use crate::event::journal_games;
use crate::event::terms::{AskTables, StageTerms};
use crate::game::adjudicate::Adjudicator;
use crate::game::end::{Material, Referee};
use crate::model::game::ending::GameEnding;
use crate::model::game::rule_distances::RuleDistances;
use crate::model::game::score::Score;

/// The course of a game by its evaluations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GameCourse {
    /// The end by evaluations, with the number of the engines' move that brought it.
    pub(super) ending: Option<(usize, GameEnding)>,
    /// The first move that is told with other distances to the rules than it has.
    pub(super) rules_in: Option<OddDistance>,
}

/// The plies to the draw and the win rule after a move, as they are told and as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OddDistance {
    /// The number of the engines' move.
    pub(super) number: usize,
    /// As they are told.
    pub(super) told: RuleDistances,
    /// As they are.
    pub(super) due: RuleDistances,
}

/// Plays a game's moves by the rules of its stage, up to their end by evaluations; none where one is not legal.
pub(super) fn course(
    started: &GameStarted,
    plies: &[JournalPly],
    material: Material,
    terms: &StageTerms,
) -> Option<GameCourse> {
    let opening = journal_games::opening(started.start.as_deref(), &started.opening)?;
    let mut referee = Referee::new(opening.start(), material);
    for one in opening.moves() {
        referee.play(*one);
    }
    let mut adjudicator = Adjudicator::new(terms.rules);
    let mut course = GameCourse::default();
    for ply in plies {
        let one = ply.uci.parse::<UciMove>().ok().and_then(|word| referee.find(word))?;
        let before = adjudicator.rules_in();
        // The board comes first: a move that ends the game there is not counted.
        let ending = match referee.play(one) {
            Some(_) => None,
            None => adjudicator.after(&referee, ply.eval.map(Score::from_value)),
        };
        let due = adjudicator.rules_in();
        // Nor is one after which the tables gave the result.
        let by_tables = terms.tables == AskTables::All && ply.rules_in == before;
        if ply.rules_in != due && !by_tables {
            let odd = OddDistance { number: ply.number, told: ply.rules_in, due };
            course.rules_in.get_or_insert(odd);
        }
        if let Some(ending) = ending {
            course.ending = Some((ply.number, ending));
            break;
        }
    }
    Some(course)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::adjudicate::{AdjudicationRules, DrawRule, WinRule};
    use crate::game::clock::TimeControl;
    use crate::model::game::ending::Termination;
    use crate::model::units::Ply;
    use shakmaty::Color;

    const MOVES: [&str; 8] = ["e2e4", "e7e5", "g1f3", "g8f6", "f1c4", "f8c5", "d2d3", "d7d6"];

    fn terms() -> StageTerms {
        let draw = DrawRule::New { pieces: 16, level: 10, plies: Ply(3) };
        StageTerms {
            rules: AdjudicationRules {
                draw: Some(draw),
                win: Some(WinRule { level: 500, moves: 2 }),
                ..AdjudicationRules::default()
            },
            ..StageTerms::at(TimeControl::EVENT)
        }
    }

    /// Moves from the start position with these evaluations, told as play tells them.
    fn played(evals: &[Option<i32>]) -> Vec<JournalPly> {
        let ply = |(number, eval): (usize, &Option<i32>)| JournalPly {
            id: "g".into(),
            number,
            uci: MOVES[number].into(),
            eval: *eval,
            ..JournalPly::default()
        };
        let mut plies: Vec<JournalPly> = evals.iter().enumerate().map(ply).collect();
        for number in 0..plies.len() {
            if let Some(odd) = of(&plies[..=number]).rules_in {
                plies[number].rules_in = odd.due;
            }
        }
        plies
    }

    fn of(plies: &[JournalPly]) -> GameCourse {
        course(&GameStarted::default(), plies, Material::Draws, &terms()).unwrap()
    }

    #[test]
    fn evaluations_end_a_game_where_the_rules_say_so_and_nowhere_else() {
        let won = |number| Some((number, GameEnding::win(Color::White, Termination::WinByEval)));
        let drawn = |number| Some((number, GameEnding::draw(Termination::DrawByEval)));
        for (evals, ending) in [
            (&[Some(600); 4][..], won(3)),
            // The end is the first one, whatever is told behind it.
            (&[Some(600); 6], won(3)),
            (&[Some(600), Some(600), Some(400), Some(600), Some(600)], None),
            (&[Some(600), Some(600), None, Some(600), Some(600)], None),
            (&[Some(900), Some(0), Some(0), Some(10)], drawn(3)),
            (&[Some(900); 3], None),
            (&[None; 8], None),
            // A mate is more than every number.
            (&[Some(Score::mate(2).value()); 4], won(3)),
            (&[], None),
        ] {
            let found = of(&played(evals));
            assert_eq!((found.ending, found.rules_in), (ending, None), "{evals:?}");
        }
    }

    #[test]
    fn distances_are_compared_and_those_of_a_move_that_ends_the_game_by_tables_are_not_counted() {
        let mut plies = played(&[Some(0), Some(0)]);
        assert_eq!(plies[1].rules_in, (1, -4).into());
        plies[1].rules_in = (2, -4).into();
        let odd = OddDistance { number: 1, told: (2, -4).into(), due: (1, -4).into() };
        assert_eq!(of(&plies).rules_in, Some(odd));
        let asked = StageTerms { tables: AskTables::All, ..terms() };
        let with = course(&GameStarted::default(), &plies, Material::Draws, &asked).unwrap();
        assert_eq!(with.rules_in, None);
    }

    #[test]
    fn a_mate_on_the_board_comes_before_the_rules() {
        let mut plies = played(&[Some(0), Some(0), Some(900), Some(-900)]);
        for (ply, word) in plies.iter_mut().zip(["f2f3", "e7e5", "g2g4", "d8h4"]) {
            ply.uci = word.into();
        }
        plies[3].rules_in = plies[2].rules_in;
        assert_eq!(of(&plies), GameCourse::default());
        plies[3].uci = "e2e4".into();
        let illegal = course(&GameStarted::default(), &plies, Material::Draws, &terms());
        assert_eq!(illegal, None);
    }
}
