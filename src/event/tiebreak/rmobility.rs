//! r-mobility (rule 3.1.3): the larger sum over the event.

use super::{Context, Figure};
use crate::event::field::EngineIx;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    Figure::RMobility(games.map(|seen| seen.r_mobility()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::FieldBuilder;
    use crate::event::field::tests::find;
    use crate::model::game::listed::tests::listed;
    use crate::model::game::result::GameResult;
    use shakmaty::Color;

    #[test]
    fn wins_count_one_and_draws_by_their_goal() {
        let mut builder = FieldBuilder::default();
        builder.add(&listed("a", "b", GameResult::Win(Color::White), "e4"), 0);
        // A draw agreed after 1. e4: 20 moves for Black, no check, so v = 41 for White.
        builder.add(&listed("b", "a", GameResult::Draw, "e4"), 0);
        let field = builder.finish();
        let context = Context::new(&field);
        let told = |name| figure(&context, find(&field, name)).as_f64().unwrap();
        assert_eq!(told("a"), 1.5 - 0.5f64.powi(42));
        assert_eq!(told("b"), 0.5 + 0.5f64.powi(42));
    }
}
