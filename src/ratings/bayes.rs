//! A rating list in the manner of BayesElo, which TCEC uses (rule 5.1).
//!
//! The model (Rémi Coulom, "Bayesian Elo Rating"): with Δ the rating of White less that of Black,
//! P(White wins) = 1/(1+10^((−Δ−advantage+draw)/400)), P(Black wins) = 1/(1+10^((Δ+advantage+draw)/400)), the
//! rest is draws. Ratings are those of maximum likelihood, by Newton's method on a likelihood that is concave.
//! As a prior each engine gets draws against its own opponents, in proportion to its games with them, so that
//! nobody's rating is infinite. Shown ratings are scaled so that small differences mean what they do in Elo.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use shakmaty::Color;

use super::matrix::Cholesky;
use crate::model::game::result::GameResult;

/// The constants of the model, in Elo; BayesElo's own by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Model {
    /// The advantage of White.
    pub(crate) advantage: f64,
    /// The width of draws.
    pub(crate) draw: f64,
    /// Draws that each engine gets as its prior.
    pub(crate) prior: f64,
    /// The mean of all ratings.
    pub(crate) offset: f64,
}

impl Default for Model {
    fn default() -> Model {
        Model { advantage: 32.8, draw: 97.3, prior: 2.0, offset: 0.0 }
    }
}

impl Model {
    /// The worth of the model's scale in Elo as people know it: at Δ = 0 the slope of the
    /// expected result is then that of Elo's formula.
    pub(crate) fn scale(&self) -> f64 {
        let x = 10f64.powf(-self.draw / 400.0);
        4.0 * x / ((1.0 + x) * (1.0 + x))
    }
}

/// The two-sided 95 % point of the normal distribution.
pub(crate) const CONFIDENCE_95: f64 = 1.959_963_984_540_054;

/// ln 10 / 400: from Elo to the natural scale.
const SLOPE: f64 = std::f64::consts::LN_10 / 400.0;

/// Newton's method doubles the good digits with each step; this many are never needed.
const STEPS: usize = 200;

/// Games between engines, added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    names: Vec<String>,
    index: HashMap<String, usize>,
    /// By (White, Black), sorted: fractions are added up in this order.
    counts: BTreeMap<(usize, usize), Counts>,
}

/// Games with the same colours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    white: f64,
    draws: f64,
    black: f64,
}

impl Counts {
    fn games(&self) -> f64 {
        self.white + self.draws + self.black
    }
}

impl Results {
    /// Adds a game; one without a result is left out.
    pub(crate) fn add(&mut self, white: &str, black: &str, result: GameResult) {
        if result == GameResult::Unfinished || white == black {
            return;
        }
        let key = (self.engine(white), self.engine(black));
        let counts = self.counts.entry(key).or_default();
        match result {
            GameResult::Win(Color::White) => counts.white += 1.0,
            GameResult::Win(Color::Black) => counts.black += 1.0,
            _ => counts.draws += 1.0,
        }
    }

    /// Adds as many games between the same two with the same colours: White's wins, draws, Black's wins.
    pub(crate) fn add_many(&mut self, white: &str, black: &str, [won, drawn, lost]: [u32; 3]) {
        if white == black || [won, drawn, lost] == [0; 3] {
            return;
        }
        let key = (self.engine(white), self.engine(black));
        let counts = self.counts.entry(key).or_default();
        counts.white += f64::from(won);
        counts.draws += f64::from(drawn);
        counts.black += f64::from(lost);
    }

    fn engine(&mut self, name: &str) -> usize {
        if let Some(known) = self.index.get(name) {
            return *known;
        }
        let new = self.names.len();
        self.index.insert(name.to_owned(), new);
        self.names.push(name.to_owned());
        new
    }

    /// Finished games.
    pub(crate) fn games(&self) -> u64 {
        self.counts.values().map(Counts::games).sum::<f64>() as u64
    }

    /// The engines.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Every engine's games.
    fn totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.names.len()];
        for ((white, black), counts) in &self.counts {
            totals[*white] += counts.games();
            totals[*black] += counts.games();
        }
        totals
    }

    /// Pairings with the prior: each of two engines adds, to both colours of their pairing, a quarter of its
    /// prior draws times its share of games that it played in this pairing. Sums of fractions depend on their
    /// order, which is that of the engines.
    fn with_prior(&self, prior: f64) -> Vec<(usize, usize, Counts)> {
        let totals = self.totals();
        let mut all = self.counts.clone();
        for ((one, other), counts) in &self.counts {
            let draws = prior / 4.0 * counts.games() * (1.0 / totals[*one] + 1.0 / totals[*other]);
            all.entry((*one, *other)).or_default().draws += draws;
            all.entry((*other, *one)).or_default().draws += draws;
        }
        all.into_iter().map(|((white, black), counts)| (white, black, counts)).collect()
    }

    /// The same results with the engines in the order of their names, whatever the order in which games were added.
    fn by_name(&self) -> Results {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|a, b| self.names[*a].cmp(&self.names[*b]));
        let mut places = vec![0; order.len()];
        for (place, engine) in order.iter().enumerate() {
            places[*engine] = place;
        }
        let names: Vec<String> = order.iter().map(|engine| self.names[*engine].clone()).collect();
        let counts = self.counts.iter();
        Results {
            index: names.iter().cloned().zip(0..).collect(),
            names,
            counts: counts
                .map(|((white, black), counts)| ((places[*white], places[*black]), *counts))
                .collect(),
        }
    }

    /// For each engine, the number of the group of engines that it met, directly or through others.
    fn groups(&self) -> (Vec<usize>, usize) {
        let mut group: Vec<usize> = (0..self.names.len()).collect();
        fn root(group: &mut [usize], mut at: usize) -> usize {
            while group[at] != at {
                group[at] = group[group[at]];
                at = group[at];
            }
            at
        }
        for (white, black) in self.counts.keys() {
            let (white, black) = (root(&mut group, *white), root(&mut group, *black));
            group[white.max(black)] = white.min(black);
        }
        let mut numbers = HashMap::new();
        let groups: Vec<usize> = (0..group.len())
            .map(|at| {
                let root = root(&mut group, at);
                let next = numbers.len();
                *numbers.entry(root).or_insert(next)
            })
            .collect();
        (groups, numbers.len())
    }

    /// The list, which is the same to the last digit for the same games in any order.
    pub(crate) fn rate(&self, model: &Model) -> List {
        self.by_name().rate_in_order(model)
    }

    fn rate_in_order(&self, model: &Model) -> List {
        let games = self.with_prior(model.prior);
        let (group, groups) = self.groups();
        let (elo, variance) = fit(&games, &group, groups, model);
        let scale = model.scale();
        let shown = |elo: f64| model.offset + scale * elo;

        let totals = self.totals();
        let mut rated: Vec<Rated> = self
            .names
            .iter()
            .enumerate()
            .map(|(at, name)| Rated {
                name: name.clone(),
                elo: shown(elo[at]),
                error: scale * CONFIDENCE_95 * variance[at].max(0.0).sqrt(),
                games: totals[at] as u64,
                score: 0.0,
                opponents: 0.0,
                draws: 0.0,
                group: group[at],
            })
            .collect();
        for ((white, black), counts) in &self.counts {
            for (own, other, wins) in
                [(*white, *black, counts.white), (*black, *white, counts.black)]
            {
                rated[own].score += wins + counts.draws / 2.0;
                rated[own].draws += counts.draws;
                rated[own].opponents += counts.games() * shown(elo[other]);
            }
        }
        // Points and draws are whole or half ones until they are divided, once.
        for (engine, total) in rated.iter_mut().zip(&totals).filter(|(_, total)| **total > 0.0) {
            for sum in [&mut engine.score, &mut engine.draws, &mut engine.opponents] {
                *sum /= total;
            }
        }
        let mut list = List { rated, groups };
        list.sort();
        list
    }
}

/// A rating list, the highest first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List {
    /// The engines.
    pub(crate) rated: Vec<Rated>,
    /// Into how many groups the engines fall that never met; ratings are comparable only within a group,
    /// and each group has the same mean.
    pub(crate) groups: usize,
}

/// Compares two engines of a list, each by its rating and its name: the higher rating first, equal ones by name. Ratings
/// that differ by less than a millionth of an Elo are equal: arithmetic alone tells them apart.
pub(crate) fn list_order(one: (f64, &str), other: (f64, &str)) -> Ordering {
    // Adding zero makes one zero of both.
    let key = |elo: f64| (elo * 1e6).round() + 0.0;
    key(other.0).total_cmp(&key(one.0)).then_with(|| one.1.cmp(other.1))
}

impl List {
    fn sort(&mut self) {
        self.rated.sort_by(|a, b| list_order((a.elo, &a.name), (b.elo, &b.name)));
    }

    /// Adds to all ratings.
    pub(crate) fn shift(&mut self, elo: f64) {
        for rated in &mut self.rated {
            rated.elo += elo;
            rated.opponents += elo;
        }
        self.sort();
    }
}

/// One engine of a list. Ratings and errors are in Elo.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rated {
    /// Its name.
    pub(crate) name: String,
    /// Its rating.
    pub(crate) elo: f64,
    /// Half the width of the interval that holds the rating with 95 %, from the curvature of the
    /// likelihood in all ratings together.
    pub(crate) error: f64,
    /// Its games.
    pub(crate) games: u64,
    /// Its share of points, from 0 to 1.
    pub(crate) score: f64,
    /// The mean rating of its opponents, over its games.
    pub(crate) opponents: f64,
    /// Its share of drawn games, from 0 to 1.
    pub(crate) draws: f64,
    /// The number of its group, from 0.
    pub(crate) group: usize,
}

/// Ratings of maximum likelihood in the model's scale with mean 0 in every group, and their variances.
fn fit(
    games: &[(usize, usize, Counts)],
    group: &[usize],
    groups: usize,
    model: &Model,
) -> (Vec<f64>, Vec<f64>) {
    let size = group.len();
    let mut members = vec![0.0; groups];
    for number in group {
        members[*number] += 1.0;
    }
    let mut elo = vec![0.0; size];
    let mut now = Likelihood::at(games, &elo, model);
    for _ in 0..STEPS {
        let Some((factor, _)) = now.factor(group, &members) else {
            break;
        };
        let step = factor.solve(now.gradient.clone());
        let longest = step.iter().fold(0.0f64, |longest, s| longest.max(s.abs()));
        // The likelihood is concave: a step that is short enough always climbs.
        let mut share = (400.0 / longest).min(1.0);
        let next = loop {
            let tried: Vec<f64> = elo.iter().zip(&step).map(|(r, s)| r + share * s).collect();
            let there = Likelihood::at(games, &tried, model);
            if there.log >= now.log || share < 1e-9 {
                elo = tried;
                break there;
            }
            share /= 2.0;
        };
        now = next;
        // In ratings of thousands of engines rounding alone makes longer steps than a thousandth of this.
        if longest < 1e-6 {
            break;
        }
    }
    let variance = match now.factor(group, &members) {
        Some((factor, weight)) => factor
            .inverse_diagonal()
            .iter()
            .zip(group)
            .map(|(total, number)| total - 1.0 / (weight * members[*number]))
            .collect(),
        None => vec![0.0; size],
    };
    (elo, variance)
}

/// The log-likelihood with its slope and its curvature (negated).
struct Likelihood {
    log: f64,
    gradient: Vec<f64>,
    curvature: Vec<f64>,
}

impl Likelihood {
    fn at(games: &[(usize, usize, Counts)], elo: &[f64], model: &Model) -> Likelihood {
        let size = elo.len();
        let mut all =
            Likelihood { log: 0.0, gradient: vec![0.0; size], curvature: vec![0.0; size * size] };
        for (white, black, counts) in games {
            let ahead = elo[*white] - elo[*black] + model.advantage;
            // A draw's probability is that of a win times that of a loss times a constant.
            let (wins, losses) = (counts.white + counts.draws, counts.black + counts.draws);
            let (win, loss) = (SLOPE * (ahead - model.draw), SLOPE * (-ahead - model.draw));
            let (win_p, loss_p) = (logistic(win), logistic(loss));
            all.log -= wins * (-win).exp().ln_1p() + losses * (-loss).exp().ln_1p();
            let slope = SLOPE * (wins * (1.0 - win_p) - losses * (1.0 - loss_p));
            all.gradient[*white] += slope;
            all.gradient[*black] -= slope;
            let bend =
                SLOPE * SLOPE * (wins * win_p * (1.0 - win_p) + losses * loss_p * (1.0 - loss_p));
            for (row, column, sign) in [
                (*white, *white, 1.0),
                (*black, *black, 1.0),
                (*white, *black, -1.0),
                (*black, *white, -1.0),
            ] {
                all.curvature[row * size + column] += sign * bend;
            }
        }
        all
    }

    /// Factors the curvature. Only differences of ratings matter to it, so each group's mean is held by a
    /// term of the returned weight.
    fn factor(&self, group: &[usize], members: &[f64]) -> Option<(Cholesky, f64)> {
        let size = group.len();
        let trace: f64 = (0..size).map(|at| self.curvature[at * size + at]).sum();
        let weight = trace / size as f64;
        let mut matrix = self.curvature.clone();
        for row in 0..size {
            for column in 0..size {
                if group[row] == group[column] {
                    matrix[row * size + column] += weight / members[group[row]];
                }
            }
        }
        Some((Cholesky::of(matrix, size)?, weight))
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn results(games: &[(&str, &str, GameResult, u32)]) -> Results {
        let mut results = Results::default();
        for (white, black, result, times) in games {
            for _ in 0..*times {
                results.add(white, black, *result);
            }
        }
        results
    }

    const WHITE: GameResult = GameResult::Win(Color::White);
    const BLACK: GameResult = GameResult::Win(Color::Black);

    #[test]
    fn the_prior_is_worth_what_bayeselo_says() {
        // BayesElo: "With this prior, you will get the following Elo differences: 1-0 : +89.2563 …", in the
        // model's scale.
        let model = Model::default();
        for (wins, expected) in [(1, 89.2563), (2, 150.156), (5, 262.379)] {
            let list = results(&[("a", "b", WHITE, wins)]).rate(&model);
            let ahead = (list.rated[0].elo - list.rated[1].elo) / model.scale();
            assert!((ahead - expected).abs() < 0.01, "{wins}: {ahead}");
        }
    }

    #[test]
    fn a_list_of_bayeselo_itself() {
        // The output of BayesElo for these games after `mm` and `covariance`, with ten times the model's scale.
        let list = results(&[
            ("a", "b", WHITE, 3),
            ("b", "a", GameResult::Draw, 1),
            ("b", "c", WHITE, 2),
            ("c", "a", BLACK, 1),
            ("c", "b", GameResult::Draw, 5),
        ])
        .rate(&Model::default());
        let tenfold = |elo: f64| (10.0 * elo / Model::default().scale()).round();
        let told: Vec<_> = list
            .rated
            .iter()
            .map(|r| (r.name.as_str(), tenfold(r.elo), tenfold(r.error), tenfold(r.opponents)))
            .collect();
        assert_eq!(
            told,
            [
                ("a", 1640.0, 1768.0, -566.0),
                ("b", -397.0, 1106.0, -194.0),
                ("c", -1243.0, 1384.0, -143.0)
            ]
        );
    }

    #[test]
    fn colours_matter_and_equal_results_make_equal_ratings() {
        let even = results(&[("a", "b", WHITE, 5), ("b", "a", WHITE, 5)]).rate(&Model::default());
        assert!(even.rated.iter().all(|rated| rated.elo.abs() < 1e-6));
        // Winning with Black says more.
        let with = |white, black, result| {
            let mut games = results(&[("a", "b", GameResult::Draw, 4)]);
            games.add(white, black, result);
            let list = games.rate(&Model::default());
            list.rated.iter().find(|rated| rated.name == "a").unwrap().elo
        };
        assert!(with("b", "a", BLACK) > with("a", "b", WHITE));
    }

    #[test]
    fn the_scale_is_bayeselos() {
        assert!((Model::default().scale() - 0.925_497).abs() < 1e-6);
    }

    #[test]
    fn shares_and_opponents_are_of_real_games_alone() {
        let list = results(&[
            ("a", "b", WHITE, 3),
            ("b", "a", GameResult::Draw, 1),
            ("c", "a", GameResult::Unfinished, 7),
        ])
        .rate(&Model { offset: 2500.0, ..Model::default() });
        assert_eq!(list.rated.len(), 2);
        let a = &list.rated[0];
        assert_eq!((a.name.as_str(), a.games), ("a", 4));
        assert!((a.score - 0.875).abs() < 1e-12 && (a.draws - 0.25).abs() < 1e-12);
        assert!((a.opponents - list.rated[1].elo).abs() < 1e-9);
        assert!((a.elo + list.rated[1].elo - 5000.0).abs() < 1e-6);
        assert_eq!(list.groups, 1);
    }

    #[test]
    fn engines_that_never_met_are_in_groups_of_their_own() {
        let list = results(&[("a", "b", WHITE, 9), ("c", "d", GameResult::Draw, 9)])
            .rate(&Model::default());
        assert_eq!(list.groups, 2);
        for group in 0..2 {
            let own = list.rated.iter().filter(|rated| rated.group == group);
            assert!(own.map(|rated| rated.elo).sum::<f64>().abs() < 1e-6);
        }
        assert!(list.rated.iter().all(|rated| rated.error.is_finite() && rated.error > 0.0));
    }

    #[test]
    fn no_games_make_an_empty_list() {
        let list = Results::default().rate(&Model::default());
        assert!(list.rated.is_empty());
        assert_eq!(list.groups, 0);
    }

    #[test]
    fn equal_ratings_are_in_the_order_of_names_whatever_arithmetic_leaves_of_them() {
        let of = |elo: f64, name| (elo, name);
        for (one, other) in [
            (of(12.0 + 1e-13, "b"), of(12.0, "a")),
            (of(0.0, "b"), of(-1e-13, "a")),
            (of(-0.0, "a"), of(0.0, "b")),
        ] {
            let by_name = one.1.cmp(other.1);
            assert_eq!(list_order(one, other), by_name, "{one:?} {other:?}");
        }
        assert_eq!(list_order(of(12.1, "b"), of(12.0, "a")), Ordering::Less);
        assert_eq!(list_order(of(f64::NEG_INFINITY, "a"), of(-9.0, "b")), Ordering::Greater);
    }

    #[test]
    fn engines_with_the_same_results_share_a_rating_and_stand_by_name() {
        // A bracket: those that lose to the same engine, with the same colours, are equal.
        let games = [("d", "c"), ("d", "b"), ("d", "a"), ("a", "e"), ("b", "f"), ("c", "g")];
        for turn in 0..games.len() {
            let mut results = Results::default();
            for (white, black) in games.iter().cycle().skip(turn).take(games.len()) {
                results.add(white, black, WHITE);
            }
            let mut list = results.rate(&Model::default());
            let names = |list: &List| -> String {
                list.rated.iter().map(|rated| rated.name.as_str()).collect()
            };
            assert_eq!(names(&list), "dabcefg");
            list.shift(2543.21);
            assert_eq!(names(&list), "dabcefg");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_games_does_not_matter_to_the_last_digit(
            (games, mixed) in proptest::collection::vec((0usize..8, 1usize..8, 0u8..3), 1..120)
                .prop_flat_map(|games| (Just(games.clone()), Just(games).prop_shuffle())),
        ) {
            let list = |games: Vec<(usize, usize, u8)>| {
                let mut results = Results::default();
                for (white, step, result) in games {
                    let result = [WHITE, BLACK, GameResult::Draw][usize::from(result)];
                    results.add(&white.to_string(), &((white + step) % 8).to_string(), result);
                }
                results.rate(&Model::default())
            };
            prop_assert_eq!(list(games), list(mixed));
        }

        #[test]
        fn every_list_is_finite_and_centred(
            games in proptest::collection::vec((0usize..8, 1usize..8, 0u8..3), 1..120),
        ) {
            let mut results = Results::default();
            for (white, step, result) in games {
                let result = [WHITE, BLACK, GameResult::Draw][usize::from(result)];
                results.add(&white.to_string(), &((white + step) % 8).to_string(), result);
            }
            let list = results.rate(&Model::default());
            let sum: f64 = list.rated.iter().map(|rated| rated.elo).sum();
            prop_assert!(sum.abs() < 1e-3, "{}", sum);
            for rated in &list.rated {
                prop_assert!(rated.elo.is_finite() && rated.error.is_finite());
                prop_assert!(rated.error > 0.0);
            }
            prop_assert!(list.rated.is_sorted_by(|a, b| a.elo > b.elo - 1e-6));
        }
    }
}
