//! Buchholz: the sum of the opponents' final scores, game by game. nTCEC's groups after its Swiss follow it.

use super::{Context, Figure};
use crate::event::field::EngineIx;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    Figure::Points(games.map(|seen| context.points[seen.opponent.at()]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};

    #[test]
    fn final_scores_of_all_opponents() {
        // a 2.5, b 1, c 0.5; b met a twice.
        let field = field("a-b 1, b-c 1, c-a =, b-a 0");
        let context = Context::new(&field);
        let told = ["a", "b", "c"].map(|name| figure(&context, find(&field, name)).to_string());
        assert_eq!(told, ["2.5", "5.5", "3.5"]);
    }
}
