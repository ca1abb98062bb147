//! The sum of the opponents' cumulative scores (USCF): stage 1 of nTCEC.
//!
//! An engine's cumulative score is the sum of its running scores after each round, those without a game of its own too;
//! an opponent that was met in several games counts for each of them. A full-point bye is in the running scores, and one
//! point is taken from the sum for it.

use super::{Context, Figure};
use crate::event::field::{EngineIx, Field};
use crate::model::game::points::HalfPoints;

pub(super) fn figure(context: &Context<'_>, engine: EngineIx) -> Figure {
    let field = context.field;
    let last = last_round(field);
    let mut met = vec![0u32; context.points.len()];
    for seen in field.of(engine) {
        met[seen.opponent.at()] += 1;
    }
    let opponents = field.indices().filter(|other| met[other.at()] > 0);
    let sums = opponents.map(|other| times(cumulative(field, last, other), met[other.at()]));
    Figure::Points(sums.sum())
}

/// The last round; none where games have no place in rounds.
fn last_round(field: &Field) -> Option<u32> {
    field.games().iter().try_fold(0, |last, game| Some(last.max(game.at?.round)))
}

/// The cumulative score of an engine. A point stands in the running score of its round and of each later one; where games
/// have no place in rounds, an engine's own games are its rounds.
fn cumulative(field: &Field, last: Option<u32>, engine: EngineIx) -> HalfPoints {
    let own = field.of(engine).count();
    let games = field.of(engine).enumerate().map(|(number, seen)| {
        let later = match (last, seen.game.at) {
            (Some(last), Some(at)) => last - at.round,
            _ => u32::try_from(own - 1 - number).unwrap_or(u32::MAX),
        };
        times(seen.points, later.saturating_add(1))
    });
    // The point that is taken off for a bye is that of its own round.
    let byes = field.byes(engine).map(|(round, wins)| {
        let later = last.unwrap_or(round).saturating_sub(round);
        times(HalfPoints::ONE, wins.saturating_mul(later))
    });
    games.chain(byes).sum()
}

fn times(points: HalfPoints, count: u32) -> HalfPoints {
    HalfPoints(points.0.saturating_mul(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::FieldBuilder;
    use crate::event::field::tests::find;
    use crate::model::game::listed::tests::listed;
    use crate::model::game::listed::{ListedPlayer, RoundGame};
    use crate::model::game::result::GameResult;
    use shakmaty::Color;

    /// Games by rounds, `b-x 1, c-y *; …`: an engine's points are White's.
    fn played(rounds: &str) -> FieldBuilder {
        let mut builder = FieldBuilder::default();
        for (round, games) in (1..).zip(rounds.split("; ")) {
            for (game, line) in (1..).zip(games.split(", ")) {
                let (players, result) = line.split_once(' ').unwrap();
                let (white, black) = players.split_once('-').unwrap();
                let result = match result {
                    "1" => GameResult::Win(Color::White),
                    "0" => GameResult::Win(Color::Black),
                    "=" => GameResult::Draw,
                    _ => GameResult::Unfinished,
                };
                let mut one = listed(white, black, result, "e4");
                one.round = Some(RoundGame { round, game });
                builder.add(&one, 0);
            }
        }
        builder
    }

    /// The cumulative scores of engines, and the sums of their opponents'.
    fn told(builder: FieldBuilder, engines: &[&str]) -> [String; 2] {
        let field = builder.finish();
        let context = Context::new(&field);
        let own =
            |name: &&str| cumulative(&field, last_round(&field), find(&field, name)).to_string();
        let sum = |name: &&str| figure(&context, find(&field, name)).to_string();
        [engines.iter().map(own).collect::<Vec<_>>(), engines.iter().map(sum).collect()]
            .map(|figures| figures.join(" "))
    }

    /// b runs 1 1 2 2.5 2.5 (9), c runs 1 2 2.5 2.5 2.5 (10.5), a met both: 19.5.
    #[test]
    fn the_uscf_example() {
        let rounds = "b-x 1, c-z 1; b-y 0, c-x 1; b-z 1, c-y =; b-v =, a-c 1; a-b 1, c-v 0";
        let [own, sums] = told(played(rounds), &["b", "c", "a"]);
        assert_eq!(own, "9 10.5 3");
        assert!(sums.ends_with(" 19.5"), "{sums}");
    }

    /// b's game of round 2 was struck out: 1, 1 and 1.5. c played all three: 1, 1.5 and 2.
    #[test]
    fn a_round_without_a_onekeeps_the_running_score() {
        let rounds = played("b-x 1, c-y 1; b-y *, c-x =; a-b =, y-c =");
        assert_eq!(told(rounds, &["b", "c", "x", "y", "a"])[0], "3.5 4.5 1 0.5 0.5");
    }

    /// b has a bye in round 1 (1 2 2: 5, less the bye's point 4), a one in round 3 (1, 1, 2, less 1), one that never
    /// played in round 2 (0, 1, 1, less 1).
    #[test]
    fn a_full_point_bye_is_in_the_running_scores_and_costs_a_point() {
        let mut builder = played("a-x 1; b-x 1; c-b 1");
        for (name, round) in [("b", 1), ("a", 3), ("idle", 2)] {
            builder.add_bye(&ListedPlayer { name: name.to_owned(), rating: None }, round, 1);
        }
        let [own, sums] = told(builder, &["b", "a", "c", "x", "idle"]);
        assert_eq!(own, "4 3 1 0 1");
        assert_eq!(sums, "1 0 4 7 0");
    }
}
