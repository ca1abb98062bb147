//! Number of games won with Black: nTCEC.

use shakmaty::Color;

use super::{Context, Figure};
use crate::event::field::EngineIx;
use crate::model::game::points::HalfPoints;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    let won = games.filter(|seen| seen.color == Color::Black && seen.points == HalfPoints::ONE);
    Figure::Count(won.count() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};

    #[test]
    fn only_wins_with_black_count() {
        let field = field("a-b 1, b-a 0, a-b 0, b-a 0");
        let context = Context::new(&field);
        assert_eq!(figure(&context, find(&field, "a")), Figure::Count(2));
        assert_eq!(figure(&context, find(&field, "b")), Figure::Count(1));
    }
}
