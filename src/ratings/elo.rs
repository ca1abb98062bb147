//! The distance of one engine ahead of another: Elo, normalized Elo, the likelihood that it is ahead at all.
//!
//! Game pairs (one opening, both colours) say more than single games, since a lopsided opening cancels out
//! within a pair: with pairs the pentanomial figures are the ones to read.

/// The factor from standard deviations to normalized Elo: 800 / ln 10.
pub(super) const NORMALIZED: f64 = 800.0 / std::f64::consts::LN_10;

use super::bayes::CONFIDENCE_95;

/// Single games, seen from one engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trinomial {
    /// Won games.
    pub(crate) wins: u64,
    /// Lost games.
    pub(crate) losses: u64,
    /// Drawn games.
    pub(crate) draws: u64,
}

/// Game pairs, seen from one engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pentanomial {
    /// Both lost.
    pub ll: u64,
    /// One lost, one drawn.
    pub ld: u64,
    /// One won, one lost.
    pub wl: u64,
    /// Both drawn.
    pub dd: u64,
    /// One won, one drawn.
    pub wd: u64,
    /// Both won.
    pub ww: u64,
}

/// A sample of results: each possible score (from 0 to 1) with how often it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub(super) cells: Vec<(f64, u64)>,
    /// Games in one result; normalized Elo is by the game.
    pub(super) games: f64,
}

impl From<Trinomial> for Sample {
    fn from(counts: Trinomial) -> Sample {
        Sample {
            cells: vec![(0.0, counts.losses), (0.5, counts.draws), (1.0, counts.wins)],
            games: 1.0,
        }
    }
}

impl From<Pentanomial> for Sample {
    fn from(counts: Pentanomial) -> Sample {
        Sample {
            cells: vec![
                (0.0, counts.ll),
                (0.25, counts.ld),
                (0.5, counts.wl + counts.dd),
                (0.75, counts.wd),
                (1.0, counts.ww),
            ],
            games: 2.0,
        }
    }
}

/// The estimate from a sample; in Elo, with half the width of the interval of 95 % as the error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// The mean score, from 0 to 1.
    pub(crate) score: f64,
    /// The difference in Elo; infinite where every game was won or lost.
    pub(crate) elo: f64,
    /// Its error; infinite where the interval reaches a score of 0 or 1, or the results tell of no interval.
    pub(crate) elo_error: f64,
    /// The difference in normalized Elo.
    pub(crate) n_elo: f64,
    /// Its error.
    pub(crate) n_elo_error: f64,
    /// The likelihood of superiority, from 0 to 1; none where results are too few, or all alike: how much they vary is
    /// then not known.
    pub(crate) los: Option<f64>,
}

/// The least number of results whose variation says something of results to come.
const TELLING: u64 = 5;

impl Estimate {
    /// `Elo 12.3 ± 4.5, nElo 20.1 ± 7.7, LOS 97.2 %`.
    pub(crate) fn in_words(&self, digits: usize) -> String {
        // No minus before a zero.
        let (elo, n_elo) = (self.elo + 0.0, self.n_elo + 0.0);
        match self.los {
            Some(los) => format!(
                "Elo {elo:.digits$} ± {}, nElo {n_elo:.digits$} ± {:.digits$}, LOS {:.1} %",
                match self.elo_error {
                    error if error.is_finite() => format!("{error:.digits$}"),
                    _ => "– (its interval has no end)".to_owned(),
                },
                self.n_elo_error,
                100.0 * los
            ),
            // Nobody knows how much stronger one is whom the other took nothing from.
            None if elo.is_infinite() => "no Elo, since all points are one side's".to_owned(),
            None => format!(
                "Elo {elo:.digits$}, by results too few or too much alike to tell its error"
            ),
        }
    }
}

impl Sample {
    /// Results in all.
    pub(crate) fn results(&self) -> u64 {
        self.cells.iter().map(|(_, count)| count).sum()
    }

    /// The estimates; none for an empty sample.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let number = self.results();
        if number == 0 {
            return None;
        }
        let alike = self.cells.iter().any(|(_, count)| *count == number);
        let is_telling = number >= TELLING && !alike;
        let number = number as f64;
        let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
            let sum: f64 = self.cells.iter().map(|(score, n)| of(*score) * *n as f64).sum();
            sum / number
        };
        let score = mean(&|score| score);
        let variance = mean(&|own| (own - score) * (own - score));
        let spread = (variance / number).sqrt();
        let ahead = score - 0.5;
        let over = |deviation: f64| {
            if ahead == 0.0 {
                0.0
            } else {
                // Without any spread, whatever is ahead is infinitely so.
                ahead / deviation
            }
        };
        let reach = CONFIDENCE_95 * spread;
        let (low, high) = (score - reach, score + reach);
        Some(Estimate {
            score,
            elo: elo(score),
            elo_error: if is_telling && low > 0.0 && high < 1.0 {
                (elo(high) - elo(low)) / 2.0
            } else {
                f64::INFINITY
            },
            n_elo: over((self.games * variance).sqrt()) * NORMALIZED,
            n_elo_error: CONFIDENCE_95 * NORMALIZED / (self.games * number).sqrt(),
            los: is_telling.then(|| normal(over(spread))),
        })
    }
}

/// The difference that makes a score likely: −400·log10(1/s − 1).
pub(crate) fn elo(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        -400.0 * (1.0 / score - 1.0).log10()
    }
}

/// The score that a difference makes likely.
pub(crate) fn score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The normal distribution's Φ.
fn normal(x: f64) -> f64 {
    libm::erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, expected: f64, places: i32) {
        let half = 0.5 * 10f64.powi(-places);
        assert!((got - expected).abs() <= half, "{got} is not {expected}");
    }

    fn penta(counts: [u64; 6]) -> Pentanomial {
        let [ll, ld, wl, dd, wd, ww] = counts;
        Pentanomial { ll, ld, wl, dd, wd, ww }
    }

    #[test]
    fn the_pentanomial_vector() {
        let sample = Sample::from(penta([34, 54, 31, 32, 64, 75]));
        let told = sample.estimate().unwrap();
        near(told.n_elo, 57.94, 2);
        near(told.n_elo_error, 28.28, 2);
        near(told.elo, 55.58, 2);
        near(told.elo_error, 27.65, 2);
        near(told.score, 0.579, 3);
        assert!(told.los.unwrap() > 0.9999);
    }

    #[test]
    fn the_trinomial_vector() {
        let sample = Sample::from(Trinomial { wins: 136, losses: 96, draws: 111 });
        let told = sample.estimate().unwrap();
        near(told.n_elo, 49.77, 2);
        near(told.n_elo_error, 36.77, 2);
        near(told.elo, 40.70, 2);
    }

    #[test]
    fn the_ends_are_infinite_but_never_no_number() {
        for counts in [
            [0, 0, 0, 0, 0, 7],
            [7, 0, 0, 0, 0, 0],
            [0, 0, 0, 7, 0, 0],
            [1, 0, 0, 0, 0, 1],
            [0, 0, 0, 0, 1, 7],
        ] {
            let told = Sample::from(penta(counts)).estimate().unwrap();
            let los = told.los.unwrap_or_default();
            for figure in [told.elo, told.elo_error, told.n_elo, told.n_elo_error, los] {
                assert!(!figure.is_nan(), "{counts:?}: {told:?}");
            }
        }
        let even = Sample::from(penta([0, 0, 0, 7, 0, 0])).estimate().unwrap();
        assert_eq!((even.elo, even.n_elo, even.los), (0.0, 0.0, None));
        assert_eq!(Sample::from(Trinomial::default()).estimate(), None);
    }

    /// One pair has no spread that could be measured, and few have hardly one.
    #[test]
    fn few_results_tell_no_error_and_no_likelihood() {
        for counts in [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 1, 3], [0, 0, 0, 0, 9, 0]] {
            let told = Sample::from(penta(counts)).estimate().unwrap();
            assert_eq!((told.elo_error, told.los), (f64::INFINITY, None), "{counts:?}");
            let words = told.in_words(1);
            assert!(!words.contains('±') && !words.contains("LOS"), "{words}");
        }
        let told = Sample::from(penta([1, 1, 1, 0, 1, 1])).estimate().unwrap();
        assert!(told.in_words(1).starts_with("Elo 0.0 ± "), "{}", told.in_words(1));
        // One draw beside eight wins: the interval reaches a score of 1, and Elo has no upper end.
        let told = Sample::from(Trinomial { wins: 8, losses: 0, draws: 1 }).estimate().unwrap();
        assert!(told.los.is_some() && told.elo_error.is_infinite());
        let words = told.in_words(1);
        assert!(words.starts_with("Elo 492.2 ± – (its interval has no end), nElo "), "{words}");
    }

    #[test]
    fn elo_and_score_are_inverse() {
        near(elo(0.75), 190.85, 2);
        near(score(elo(0.6)), 0.6, 12);
    }
}
