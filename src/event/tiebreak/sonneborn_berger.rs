//! Sonneborn-Berger (rule 3.1.2): the sum over games of the result times the opponent's final score.
//! Games against a disqualified engine are annulled and add nothing.

use super::{Context, Figure};
use crate::event::field::EngineIx;
use crate::model::game::points::QuarterPoints;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    Figure::Quarters(
        games
            .map(|seen| QuarterPoints::product(seen.points, context.points[seen.opponent.at()]))
            .sum(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};

    #[test]
    fn results_times_final_scores() {
        // a 2.5, b 1, c 0.5: a = 1 + 1 + 0.25; b = 0.5; c = half of 2.5.
        let field = field("a-b 1, b-c 1, c-a =, b-a 0");
        let context = Context::new(&field);
        let told = ["a", "b", "c"].map(|name| figure(&context, find(&field, name)).to_string());
        assert_eq!(told, ["2.25", "0.50", "1.25"]);
    }

    #[test]
    fn a_disqualified_opponent_adds_nothing() {
        let mut field = field("a-b 1!, c-b 1!, a-c =, b-a 1");
        field.disqualify_after(2);
        let context = Context::new(&field);
        let told = ["a", "c"].map(|name| figure(&context, find(&field, name)).to_string());
        assert_eq!(told, ["0.25", "0.25"]);
    }
}
