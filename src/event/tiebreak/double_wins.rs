//! Double wins (rule 3.1.4): game pairs of which both games were won. A pair whose reverse is still to be
//! played counts for nobody.

use super::{Context, Figure};
use crate::event::field::EngineIx;
use crate::model::game::points::HalfPoints;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.games();
    let won = |number: u32| {
        let game = &games[number as usize];
        game.color(engine).and_then(|color| game.result.points(color)) == Some(HalfPoints::ONE)
    };
    let double = context.pairs.iter().filter(|pair| won(pair.first) && won(pair.second));
    Figure::Count(double.count() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};

    #[test]
    fn both_games_of_a_pair_must_be_won() {
        // Pairs of a and b: 2-0; then 1.5-0.5; then one game whose reverse is not played.
        let field = field("a-b 1, b-a 0, a-b 1, b-a =, a-b 1");
        let context = Context::new(&field);
        assert_eq!(figure(&context, find(&field, "a")), Figure::Count(1));
        assert_eq!(figure(&context, find(&field, "b")), Figure::Count(0));
    }

    #[test]
    fn two_wins_across_a_border_of_pairs_are_no_double_win() {
        let field = field("a-b =, b-a 0, a-b 1, b-a =");
        let context = Context::new(&field);
        assert_eq!(figure(&context, find(&field, "a")), Figure::Count(0));
    }

    #[test]
    fn a_pools_reverse_game_comes_a_cycle_later() {
        // Three engines, Berger order: 12 01 20, then the reverses. Seats 0 1 2 are a b c.
        let games = "b-c 1, a-b 1, c-a 0, c-b 1, b-a 0, a-c *";
        let mut pool = field(games);
        let doubles = |pool: &crate::event::field::Field| {
            let context = Context::new(pool);
            ["a", "b", "c"].map(|name| figure(&context, find(pool, name)).to_string())
        };
        assert_eq!(doubles(&pool), ["1", "0", "0"]);
        // The last game of the double round robin finished.
        pool = field(&games.replace('*', "1"));
        assert_eq!(doubles(&pool), ["2", "0", "0"]);
    }
}
