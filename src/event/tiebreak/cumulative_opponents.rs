//! The sum of the opponents' cumulative scores (USCF): stage 1 of nTCEC.
//!
//! An engine's cumulative score is the sum of its running scores after each of its games; an opponent
//! that was met in several games counts for each of them. A full-point bye is in the running scores, and one point is
//! taken from the sum for it.

use super::{Context, Figure};
use crate::event::field::EngineIx;
use crate::model::game::points::HalfPoints;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.of(engine);
    Figure::Points(games.map(|seen| cumulative(context, seen.opponent)).sum())
}

fn cumulative(context: &Context<'_>, engine: EngineIx) -> HalfPoints {
    let field = context.field;
    let won: u32 = field.byes(engine).map(|(_, wins)| wins).sum();
    let mut steps: Vec<(u32, HalfPoints)> =
        field.of(engine).map(|seen| (seen.game.at.map_or(0, |at| at.round), seen.points)).collect();
    if won > 0 {
        let byes = field.byes(engine);
        steps.extend(
            byes.flat_map(|(round, wins)| (0..wins).map(move |_| (round, HalfPoints::ONE))),
        );
        steps.sort_by_key(|(round, _)| *round);
    }
    let mut running = HalfPoints::ZERO;
    let total: HalfPoints = steps
        .into_iter()
        .map(|(_, points)| {
            running += points;
            running
        })
        .sum();
    // Each won game that was none stands in the sum with its own point at least.
    HalfPoints(total.0.saturating_sub(won.saturating_mul(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::FieldBuilder;
    use crate::event::field::tests::{field, find};
    use crate::model::game::listed::tests::listed;
    use crate::model::game::listed::{ListedPlayer, RoundGame};
    use crate::model::game::result::GameResult;
    use shakmaty::Color;

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

    /// b has a bye in round 1 (1 2 2: 5, less the bye's point 4), a one in round 3.
    #[test]
    fn a_full_point_bye_is_in_the_running_scores_and_costs_a_point() {
        let mut builder = FieldBuilder::default();
        let player = |name: &str| ListedPlayer { name: name.to_owned(), rating: None };
        for (round, white, black) in [(1, "a", "x"), (2, "b", "x"), (3, "c", "b")] {
            let mut game = listed(white, black, GameResult::Win(Color::White), "e4");
            game.round = Some(RoundGame { round, game: 1 });
            builder.add(&game, 0);
        }
        builder.add_bye(&player("b"), 1, 1);
        builder.add_bye(&player("a"), 3, 1);
        builder.add_bye(&player("idle"), 2, 1);
        let field = builder.finish();
        let context = Context::new(&field);
        let told = |name| cumulative(&context, find(&field, name)).to_string();
        // a: 1, 2, less 1; who only had a bye has nothing.
        assert_eq!(["b", "a", "c", "x", "idle"].map(told), ["4", "2", "1", "0", "0"]);
        let told = |name| figure(&context, find(&field, name)).to_string();
        assert_eq!(["c", "x", "idle"].map(told), ["4", "6", "0"]);
    }
}
