//! `Eventcrosstable.json`: the bracket of a knockout. The page draws the first round as it stands here and moves winners
//! on by itself, by the results of each round.

use serde_json::{Value, json};

use crate::event::broadcast::{
    BracketLevel, BracketMatch, BracketSlot, BroadcastBracket, Prize, Side,
};

/// The name of the opponent that an engine with a bye does not have. The page reads names of both sides of the first round,
/// and moves on only who has won against somebody.
const BYE: &str = "bye";

pub(super) fn document(bracket: &BroadcastBracket) -> Value {
    let first = bracket.levels.first();
    let teams = first.into_iter().flat_map(|level| {
        level.slots.iter().map(|slot| match slot {
            BracketSlot::Match(number) => numbered(level, *number).map_or_else(
                || json!([{ "name": "" }, { "name": "" }]),
                |one| both(one, &|_| None),
            ),
            BracketSlot::Bye(side) => {
                json!([{ "name": name(side), "winner": true }, { "name": BYE, "winner": false }])
            }
            BracketSlot::Empty => json!([{ "name": BYE }, { "name": BYE }]),
        })
    });
    let results = bracket.levels.iter().map(|level| {
        // The page has the final before the match for the third place.
        let third = level.matches.iter().filter(|one| one.prize == Prize::ThirdPlace);
        let slots = level.slots.iter().map(|slot| match slot {
            BracketSlot::Match(number) => numbered(level, *number).map_or(Value::Null, result),
            BracketSlot::Bye(_) => json!([1.0, 0.0]),
            BracketSlot::Empty => json!([null, null]),
        });
        slots.chain(third.map(result)).collect::<Value>()
    });
    let all = bracket.levels.iter().flat_map(|level| &level.matches);
    let known = all.filter(|one| one.points.iter().any(|points| points.0 > 0));
    let known = known.map(|one| both(one, &|at| Some(one.points[at].as_f64())));
    let byes = first.into_iter().flat_map(|level| &level.slots).filter_map(|slot| match slot {
        BracketSlot::Bye(side) => Some(json!([
            { "name": name(side), "winner": true, "origscore": 1.0 },
            { "name": BYE, "winner": false, "origscore": 0.0 },
        ])),
        BracketSlot::Match(_) | BracketSlot::Empty => None,
    });
    json!({
        "teams": teams.collect::<Value>(),
        "results": [results.collect::<Value>()],
        "matchresults": byes.chain(known).collect::<Value>(),
    })
}

fn numbered(level: &BracketLevel, number: u32) -> Option<&BracketMatch> {
    level.matches.iter().find(|one| one.number == number)
}

/// The name of a side; nothing as long as nobody has its place.
fn name(side: &Side) -> &str {
    match side {
        Side::Engine(name) => name,
        Side::Winner(_) | Side::Loser(_) => "",
    }
}

/// The points of both sides of a match that is over; of one that is not, nothing: the page takes points for an end.
fn result(one: &BracketMatch) -> Value {
    match one.winner {
        Some(_) => json!(one.points.map(|points| points.as_f64())),
        None => json!([null, null]),
    }
}

fn both(one: &BracketMatch, score: &dyn Fn(usize) -> Option<f64>) -> Value {
    let side = |at: usize| {
        let mut value = json!({ "name": name(&one.sides[at]) });
        if one.winner.is_some() {
            value["winner"] = (one.winner == Some(at)).into();
        }
        if let Some(score) = score(at) {
            value["origscore"] = score.into();
        }
        value
    };
    json!([side(0), side(1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::game::points::HalfPoints;

    fn one(number: u32, sides: [Side; 2], points: [u32; 2], winner: Option<usize>) -> BracketMatch {
        BracketMatch {
            number,
            title: String::new(),
            prize: Prize::NextLevel,
            sides,
            points: points.map(HalfPoints),
            winner,
        }
    }

    fn engine(name: &str) -> Side {
        Side::Engine(name.into())
    }

    fn level(matches: Vec<BracketMatch>, slots: Vec<BracketSlot>) -> BracketLevel {
        BracketLevel { matches, slots, ..BracketLevel::default() }
    }

    #[test]
    fn a_match_has_its_points_when_it_is_over() {
        let bracket = BroadcastBracket {
            levels: vec![
                level(
                    vec![
                        one(1, [engine("A"), engine("B")], [3, 1], Some(0)),
                        one(2, [engine("C"), engine("D")], [3, 1], None),
                    ],
                    vec![BracketSlot::Match(1), BracketSlot::Match(2)],
                ),
                level(
                    vec![one(3, [engine("A"), Side::Winner(2)], [0, 0], None)],
                    vec![BracketSlot::Match(3)],
                ),
            ],
        };
        let told = document(&bracket);
        assert_eq!(told["results"], json!([[[[1.5, 0.5], [null, null]], [[null, null]]]]));
        assert_eq!(told["teams"][0][0], json!({ "name": "A", "winner": true }));
        assert_eq!(told["teams"][1], json!([{ "name": "C" }, { "name": "D" }]));
        assert_eq!(told["matchresults"][1][0], json!({ "name": "C", "origscore": 1.5 }));
        assert_eq!(told["matchresults"].as_array().unwrap().len(), 2);
    }

    /// The page halves the number of pairs from round to round, and takes a pair for over by its points alone.
    #[test]
    fn an_engine_with_a_bye_is_moved_on_by_the_page() {
        let bracket = BroadcastBracket {
            levels: vec![
                level(
                    vec![one(1, [engine("B"), engine("C")], [1, 3], Some(1))],
                    vec![BracketSlot::Bye(engine("A")), BracketSlot::Match(1)],
                ),
                level(
                    vec![one(2, [engine("A"), engine("C")], [0, 0], None)],
                    vec![BracketSlot::Match(2)],
                ),
            ],
        };
        let told = document(&bracket);
        let names = |of: &Value| [0, 1].map(|at| of[at]["name"].as_str().unwrap().to_owned());
        let teams: Vec<_> = told["teams"].as_array().unwrap().iter().map(names).collect();
        assert_eq!(teams, [["A", "bye"], ["B", "C"]]);
        assert_eq!(told["results"], json!([[[[1.0, 0.0], [0.5, 1.5]], [[null, null]]]]));
        assert_eq!(told["teams"][0][0]["winner"], json!(true));
        let bye = &told["matchresults"][0];
        assert_eq!(
            (names(bye), &bye[0]["origscore"]),
            (["A", "bye"].map(str::to_owned), &json!(1.0))
        );
    }
}
