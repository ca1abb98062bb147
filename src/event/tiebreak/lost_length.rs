//! Highest average number of moves in lost games (rule 3.1.6). An engine that lost none is first.

use super::{Average, Context, Figure};
use crate::event::field::EngineIx;
use crate::model::game::points::HalfPoints;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    let lost = games.filter(|seen| seen.points == HalfPoints::ZERO);
    Figure::Average(Average::of(lost.map(|seen| seen.game.moves)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::FieldBuilder;
    use crate::event::field::tests::find;
    use crate::event::tiebreak::{BetterFigure, Criterion};
    use crate::model::game::listed::tests::listed;
    use crate::model::game::result::GameResult;
    use shakmaty::Color;

    #[test]
    fn the_longer_resistance_is_better() {
        let mut builder = FieldBuilder::default();
        let lost = GameResult::Win(Color::Black);
        builder.add(&listed("a", "c", lost, "f3 e5 g4 Qh4"), 0);
        builder.add(&listed("b", "c", lost, "e4 e5 Nf3 Nc6 Bb5 a6"), 0);
        let field = builder.finish();
        let context = Context::new(&field);
        let [a, b, c] = ["a", "b", "c"].map(|name| figure(&context, find(&field, name)));
        assert_eq!(a.to_string(), "2.00");
        assert!(b > a && c > b);
        assert_eq!(Criterion::LostLength.better(), BetterFigure::More);
    }
}
