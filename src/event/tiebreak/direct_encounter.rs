//! Direct encounter (rule 3.1.1): points against all others that are tied, as one table, since comparing
//! two at a time leads in a circle where three beat each other.

use super::{Context, Figure};
use crate::event::field::EngineIx;

/// Points of `engine` against the rest of `tied`.
pub(super) fn figure(context: &Context<'_>, engine: EngineIx, tied: &[EngineIx]) -> Figure {
    let games = context.field.of(engine);
    Figure::Points(games.filter(|seen| tied.contains(&seen.opponent)).map(|seen| seen.points).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};

    #[test]
    fn only_games_among_the_tied_count() {
        let field = field("a-b 1, a-c =, a-d 1, b-a =, d-a 1, b-c 1");
        let context = Context::new(&field);
        let tied = ["a", "b", "c"].map(|name| find(&field, name));
        let told = tied.map(|engine| figure(&context, engine, &tied).to_string());
        assert_eq!(told, ["2", "1.5", "0.5"]);
        assert_eq!(figure(&context, tied[0], &tied[..2]).to_string(), "1.5");
    }
}
