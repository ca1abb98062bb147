//! The sum of the opponents' cumulative scores (USCF): stage 1 of nTCEC.
//!
//! An engine's cumulative score is the sum of its running scores after each of its games; an opponent
//! that was met in several games counts for each of them.

use super::{Context, Figure};
use crate::event::field::EngineIx;
use crate::model::game::points::HalfPoints;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    Figure::Points(games.map(|seen| cumulative(context, seen.opponent)).sum())
}

fn cumulative(context: &Context<'_>, engine: EngineIx) -> HalfPoints {
    context
        .field
        .of(engine)
        .scan(HalfPoints::ZERO, |running, seen| {
            *running += seen.points;
            Some(*running)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};

    #[test]
    fn the_uscf_example() {
        // b runs 1 1 2 2.5 2.5 (9), c runs 1 2 2.5 2.5 2.5 (10.5), a met both: 19.5.
        let games = "b-x 1, c-x 1, b-y 0, c-y 1, b-z 1, c-z =, b-v =, c-v 0, a-b 1, a-c 1";
        let field = field(games);
        let context = Context::new(&field);
        let told = |name| cumulative(&context, find(&field, name)).to_string();
        assert_eq!((told("b"), told("c")), ("9".into(), "10.5".into()));
        assert_eq!(figure(&context, find(&field, "a")).to_string(), "19.5");
    }
}
