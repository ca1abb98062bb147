//! Number of games with Black, the harder colour, so more is better: nTCEC.

use shakmaty::Color;

use super::{Context, Figure};
use crate::event::field::EngineIx;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    let black = games.filter(|seen| seen.color == Color::Black);
    Figure::Count(black.count() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};

    #[test]
    fn finished_games_with_black_count() {
        let field = field("a-b 1, b-a 0, a-b =, a-b *");
        let context = Context::new(&field);
        assert_eq!(figure(&context, find(&field, "a")), Figure::Count(1));
        assert_eq!(figure(&context, find(&field, "b")), Figure::Count(2));
    }
}
