//! Number of crashes, fewer first: season 17.

use super::{Context, Figure};
use crate::event::field::EngineIx;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    Figure::Count(context.field.crashes(engine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};
    use crate::event::tiebreak::{BetterFigure, Criterion};

    #[test]
    fn the_losers_crashes_count_against_it() {
        let field = field("a-b 1!, b-a 0!, a-b 0!, b-a 1");
        let context = Context::new(&field);
        assert_eq!(figure(&context, find(&field, "a")), Figure::Count(1));
        assert_eq!(figure(&context, find(&field, "b")), Figure::Count(2));
        assert_eq!(Criterion::Crashes.better(), BetterFigure::Fewer);
    }
}
