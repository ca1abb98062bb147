//! Lowest average number of moves in won games (rule 3.1.5).

use super::{Average, Context, Figure};
use crate::event::field::EngineIx;
use crate::model::game::points::HalfPoints;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    let won = games.filter(|seen| seen.points == HalfPoints::ONE);
    Figure::Average(Average::of(won.map(|seen| seen.game.moves)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::FieldBuilder;
    use crate::event::field::tests::find;
    use crate::event::tiebreak::Criterion;
    use crate::model::game::listed::tests::listed;
    use crate::model::game::result::GameResult;
    use shakmaty::Color;

    #[test]
    fn moves_are_full_moves_and_a_half_one_counts() {
        let mut builder = FieldBuilder::default();
        let won = GameResult::Win;
        // 4 plies: 2 moves; 3 plies: 2 moves; lost and drawn games do not count.
        builder.add(&listed("a", "b", won(Color::Black), "f3 e5 g4 Qh4"), 0);
        builder.add(&listed("b", "a", won(Color::White), "e4 e5 Nf3"), 0);
        builder.add(&listed("b", "c", won(Color::White), "e4 e5 Nf3 Nc6 Bb5"), 0);
        builder.add(&listed("b", "c", GameResult::Draw, "e4"), 0);
        let field = builder.finish();
        let context = Context::new(&field);
        let told = ["a", "b"].map(|name| figure(&context, find(&field, name)));
        assert_eq!(told[1], Figure::Average(Average { moves: 7, games: 3 }));
        // An engine that won nothing stands behind every engine that did.
        assert!(told[0] > told[1]);
        assert_eq!(Criterion::WonLength.better(), super::super::BetterFigure::Fewer);
    }
}
