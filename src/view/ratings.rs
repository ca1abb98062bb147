//! Rating lists for people and programs.

use serde_json::{Value, json};

use super::layout::PageLayout;
use super::text::{clean, columns, padded, put};
use crate::ratings::bayes::{List, Rated};
use crate::ratings::duel::Duel;
use crate::ratings::elo::Estimate;
use crate::ratings::sprt::{Scale, Sprt, SprtDecision};

/// The name and version of the document.
const RATINGS_SCHEMA: &str = "gate4k/ratings/1";

/// The list with BayesElo's columns, and the match where there are two engines; for those who hear it, and where the columns
/// do not fit, a sentence for each engine.
pub(crate) fn text(
    list: &List,
    duel: Option<&Duel>,
    test: Option<&Sprt>,
    layout: PageLayout,
) -> String {
    let rows: Vec<_> =
        list.rated.iter().enumerate().map(|(number, rated)| cells(number + 1, rated)).collect();
    match grid(&rows, layout) {
        Some(grid) => grid + &below(list, duel, test),
        None => plain(list, duel, test, layout.width),
    }
}

fn plain(list: &List, duel: Option<&Duel>, test: Option<&Sprt>, width: usize) -> String {
    let mut page = String::new();
    for (number, rated) in (1..).zip(&list.rated) {
        put(&mut page, "", 0, &clean(&words(&cells(number, rated))), width);
    }
    for line in below(list, duel, test).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        put(&mut page, "", 0, &words.join(" "), width);
    }
    page
}

/// The text below the list.
fn below(list: &List, duel: Option<&Duel>, test: Option<&Sprt>) -> String {
    let mut page = String::new();
    if list.groups > 1 {
        page += &format!(
            "\nThese are {} groups of engines that never met. Ratings of different groups cannot be compared.\n",
            list.groups
        );
    }
    if let Some(duel) = duel {
        page.push('\n');
        page += &versus(duel, test);
    }
    page
}

/// BayesElo's columns.
pub(super) const HEADS: [&str; 9] =
    ["Rank", "Name", "Elo", "+", "-", "games", "score", "oppo.", "draws"];

/// An engine's line in these columns.
pub(super) fn cells(rank: usize, rated: &Rated) -> [String; 9] {
    [
        rank.to_string(),
        rated.name.clone(),
        whole(rated.elo).to_string(),
        whole(rated.error).to_string(),
        whole(rated.error).to_string(),
        rated.games.to_string(),
        format!("{}%", whole(100.0 * rated.score)),
        whole(rated.opponents).to_string(),
        format!("{}%", whole(100.0 * rated.draws)),
    ]
}

/// An engine's line in words.
pub(super) fn words(cells: &[String; 9]) -> String {
    let [rank, name, elo, error, _, games, score, opponents, draws] = cells;
    format!(
        "{name}: rank {rank}, Elo {elo}, error {error}, {games} games, score {score}, opponents {opponents}, \
         {draws} drawn"
    )
}

/// Lines under their heads; none where words are wanted, or the lines do not fit.
pub(super) fn grid(rows: &[[String; 9]], layout: PageLayout) -> Option<String> {
    let longest = rows.iter().map(|cells| columns(&clean(&cells[1])));
    let width = longest.chain([4]).max().unwrap_or(4);
    let heads = HEADS.map(str::to_owned);
    let mut page = String::new();
    for [rank, name, elo, plus, minus, games, score, opponents, draws] in
        std::iter::once(&heads).chain(rows)
    {
        let name = padded(&clean(name), width);
        let line = format!(
            "{rank:>4} {name} {elo:>5} {plus:>4} {minus:>4} {games:>5} {score:>5} \
             {opponents:>5} {draws:>5}"
        );
        page += line.trim_end();
        page.push('\n');
    }
    let fits = page.lines().all(|line| columns(line) <= layout.width);
    (fits && !layout.plain).then_some(page)
}

/// Rounded to a whole number, and never "-0".
fn whole(value: f64) -> i64 {
    value.round() as i64
}

fn versus(duel: &Duel, test: Option<&Sprt>) -> String {
    let games = duel.games;
    let mut page = format!(
        "{} against {}: +{} ={} -{}\n",
        duel.first, duel.second, games.wins, games.draws, games.losses
    );
    if let Some(told) = duel.by_games() {
        page += &format!("  by games  {}\n", told.in_words(2));
    }
    if let Some(told) = duel.by_pairs() {
        page += &format!("  by pairs  {}\n", told.in_words(2));
        let p = duel.pairs;
        page += &format!(
            "  pairs     LL {}, LD {}, WL {}, DD {}, WD {}, WW {}\n",
            p.ll, p.ld, p.wl, p.dd, p.wd, p.ww
        );
    }
    if let Some(test) = test {
        let sample = duel.sample();
        let (lower, upper) = test.bounds();
        page += &format!(
            "  SPRT      {} {} to {}, by {}: LLR {:.2} ({lower:.2} to {upper:.2}), {}\n",
            scale(test.scale),
            test.elo0,
            test.elo1,
            unit(duel),
            test.llr(&sample),
            match test.decide(&sample) {
                SprtDecision::Continue => "not decided".to_owned(),
                SprtDecision::AcceptLower => format!("{} is accepted", test.elo0),
                SprtDecision::AcceptUpper => format!("{} is accepted", test.elo1),
            }
        );
    }
    page
}

fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Normalized => "normalized",
        Scale::Logistic => "logistic",
    }
}

/// The unit in which a test of this match counts.
fn unit(duel: &Duel) -> &'static str {
    if duel.all_paired { "pairs" } else { "games" }
}

/// The document of `gate4k ratings --format json`. Infinite figures are null.
pub(crate) fn document(list: &List, duel: Option<&Duel>, test: Option<&Sprt>) -> Value {
    let rated: Vec<Value> = list
        .rated
        .iter()
        .enumerate()
        .map(|(number, rated)| {
            json!({
                "rank": number + 1,
                "engine": rated.name,
                "elo": rated.elo,
                "error": rated.error,
                "games": rated.games,
                "score": rated.score,
                "opponents": rated.opponents,
                "draws": rated.draws,
                "group": rated.group,
            })
        })
        .collect();
    json!({
        "schema": RATINGS_SCHEMA,
        "groups": list.groups,
        "engines": rated,
        "match": duel.map(|duel| fields(duel, test)),
    })
}

fn fields(duel: &Duel, test: Option<&Sprt>) -> Value {
    let told = |estimate: Option<Estimate>| {
        estimate.map(|told| {
            json!({
                "score": told.score,
                "elo": told.elo,
                "elo_error": told.elo_error,
                "nelo": told.n_elo,
                "nelo_error": told.n_elo_error,
                "los": told.los,
            })
        })
    };
    let (games, pairs) = (duel.games, duel.pairs);
    json!({
        "first": duel.first,
        "second": duel.second,
        "games": {"wins": games.wins, "draws": games.draws, "losses": games.losses},
        "pairs": [pairs.ll, pairs.ld, pairs.wl, pairs.dd, pairs.wd, pairs.ww],
        "by_games": told(duel.by_games()),
        "by_pairs": told(duel.by_pairs()),
        "sprt": test.map(|test| {
            let sample = duel.sample();
            let (lower, upper) = test.bounds();
            json!({
                "scale": scale(test.scale),
                "elo0": test.elo0,
                "elo1": test.elo1,
                "alpha": test.alpha,
                "beta": test.beta,
                "by": unit(duel),
                "llr": test.llr(&sample),
                "bounds": [lower, upper],
                "decision": match test.decide(&sample) {
                    SprtDecision::Continue => "continue",
                    SprtDecision::AcceptLower => "elo0",
                    SprtDecision::AcceptUpper => "elo1",
                },
            })
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::field;
    use crate::model::game::result::GameResult;
    use crate::ratings::bayes::{Model, Results};
    use shakmaty::Color;

    fn list() -> (List, Duel) {
        let mut results = Results::default();
        for (white, black) in [("a", "b"), ("a", "b")] {
            results.add(white, black, GameResult::Win(Color::White));
        }
        results.add("b", "a", GameResult::Draw);
        let duel = crate::event::duel::duel(&field("a-b 1, b-a =, a-b 1"), "a").unwrap();
        (results.rate(&Model::default()), duel)
    }

    const TEST: Sprt =
        Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, scale: Scale::Normalized };

    #[test]
    fn the_columns_are_bayeselos() {
        let (list, duel) = list();
        let page = text(&list, Some(&duel), Some(&TEST), PageLayout::of_width(100));
        let mut lines = page.lines();
        assert_eq!(lines.next(), Some("Rank Name   Elo    +    - games score oppo. draws"));
        let first: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        assert_eq!((first[1], first[5], first[6], first[8]), ("a", "3", "83%", "33%"));
        assert!(page.contains("a against b: +2 =1 -0"), "{page}");
        assert!(page.contains("by games: LLR") && page.contains("not decided"), "{page}");
    }

    #[test]
    fn the_document_is_the_one_promised() {
        let (list, duel) = list();
        let document = document(&list, Some(&duel), Some(&TEST));
        assert_eq!(document["schema"], RATINGS_SCHEMA);
        assert_eq!(document["engines"][0]["engine"], "a");
        assert_eq!(document["match"]["pairs"], json!([0, 0, 0, 0, 1, 0]));
        assert_eq!(document["match"]["sprt"]["decision"], "continue");
        assert_eq!(document["match"]["by_games"]["elo_error"], Value::Null);
    }
}
