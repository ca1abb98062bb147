//! `Eventcrosstable.json`: the bracket of a knockout. The page draws the first round as it stands here and moves winners
//! on by itself, by the results of each round.

use serde_json::{Value, json};

use crate::event::broadcast::{BracketMatch, BroadcastBracket, Prize, Side};

/// The document.
pub(super) fn document(bracket: &BroadcastBracket) -> Value {
    let first = bracket.levels.first().map(|level| &level.matches[..]).unwrap_or_default();
    let results = bracket.levels.iter().map(|level| {
        // The page has the final before the match for the third place.
        let mut matches: Vec<&BracketMatch> = level.matches.iter().collect();
        matches.sort_by_key(|one| one.prize == Prize::ThirdPlace);
        matches.iter().map(|one| result(one)).collect::<Value>()
    });
    let all = bracket.levels.iter().flat_map(|level| &level.matches);
    let known = all.filter(|one| one.points.iter().any(|points| points.0 > 0));
    json!({
        "teams": first.iter().map(|one| both(one, &|_| None)).collect::<Value>(),
        "results": [results.collect::<Value>()],
        "matchresults": known.map(|one| both(one, &|at| Some(one.points[at].as_f64()))).collect::<Value>(),
    })
}

/// Both points of a match that is over; of one that is not, nothing: the page takes points for an end.
fn result(one: &BracketMatch) -> Value {
    match one.winner {
        Some(_) => json!(one.points.map(|points| points.as_f64())),
        None => json!([null, null]),
    }
}

fn both(one: &BracketMatch, score: &dyn Fn(usize) -> Option<f64>) -> Value {
    let side = |at: usize| {
        let name = match &one.sides[at] {
            Side::Engine(name) => name.as_str(),
            Side::Winner(_) | Side::Loser(_) => "",
        };
        let mut value = json!({ "name": name });
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
    use crate::event::broadcast::BracketLevel;
    use crate::model::game::points::HalfPoints;

    #[test]
    fn a_match_has_its_points_when_it_is_over() {
        let one = |sides: [Side; 2], points, winner| BracketMatch {
            number: 1,
            title: String::new(),
            prize: Prize::NextLevel,
            sides,
            points,
            winner,
        };
        let engine = |name: &str| Side::Engine(name.into());
        let level = |matches| BracketLevel { matches, ..BracketLevel::default() };
        let points = [HalfPoints(3), HalfPoints(1)];
        let bracket = BroadcastBracket {
            levels: vec![
                level(vec![
                    one([engine("A"), engine("B")], points, Some(0)),
                    one([engine("C"), engine("D")], points, None),
                ]),
                level(vec![one([engine("A"), Side::Winner(2)], [HalfPoints::ZERO; 2], None)]),
            ],
        };
        let told = document(&bracket);
        assert_eq!(told["results"], json!([[[[1.5, 0.5], [null, null]], [[null, null]]]]));
        assert_eq!(told["teams"][0][0], json!({ "name": "A", "winner": true }));
        assert_eq!(told["teams"][1], json!([{ "name": "C" }, { "name": "D" }]));
        assert_eq!(told["matchresults"][1][0], json!({ "name": "C", "origscore": 1.5 }));
        assert_eq!(told["matchresults"].as_array().unwrap().len(), 2);
    }
}
