//! The sequential probability ratio test: is one engine ahead by `elo1` rather than by `elo0`?
//!
//! The log-likelihood ratio is the generalized one: N·Σ p̂·ln(p1/p0), where p0 and p1 are the distributions of
//! maximum likelihood under either hypothesis, which fixes the mean score (logistic) or the mean in units of
//! the standard deviation (normalized).

use super::elo::{NORMALIZED, Sample, score};

/// The unit of the hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Normalized Elo: independent of how drawish the openings are.
    Normalized,
    /// Elo of the mean score.
    Logistic,
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// The lower hypothesis, in Elo of the scale.
    pub elo0: f64,
    /// The upper one.
    pub elo1: f64,
    /// The rate at which `elo1` may be accepted though `elo0` is true.
    pub alpha: f64,
    /// The rate at which `elo0` may be accepted though `elo1` is true.
    pub beta: f64,
    /// The unit of `elo0` and `elo1`.
    pub scale: Scale,
}

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtDecision {
    /// More games are needed.
    Continue,
    /// `elo0`.
    AcceptLower,
    /// `elo1`.
    AcceptUpper,
}

/// The count of an empty cell, so that no result is impossible.
const EMPTY: f64 = 1e-3;

impl Sprt {
    /// The ratios at which the lower and the upper hypothesis are accepted.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The log-likelihood ratio of a sample; 0 for an empty one.
    pub(crate) fn llr(&self, sample: &Sample) -> f64 {
        if sample.results() == 0 {
            return 0.0;
        }
        let cells: Vec<(f64, f64)> = sample
            .cells
            .iter()
            .map(|(score, count)| (*score, (*count as f64).max(EMPTY)))
            .collect();
        let number: f64 = cells.iter().map(|(_, count)| count).sum();
        let seen: Vec<(f64, f64)> = cells.iter().map(|(s, count)| (*s, count / number)).collect();
        let under = |elo: f64| match self.scale {
            Scale::Logistic => with_mean(&seen, score(elo)),
            Scale::Normalized => with_ratio(&seen, elo / NORMALIZED * sample.games.sqrt()),
        };
        let (lower, upper) = (under(self.elo0), under(self.elo1));
        let ratios = seen.iter().zip(lower.iter().zip(&upper));
        number * ratios.map(|((_, p), (p0, p1))| p * (p1 / p0).ln()).sum::<f64>()
    }

    /// The test's state after a sample.
    pub fn decide(&self, sample: &Sample) -> SprtDecision {
        let llr = self.llr(sample);
        let (lower, upper) = self.bounds();
        if llr <= lower {
            SprtDecision::AcceptLower
        } else if llr >= upper {
            SprtDecision::AcceptUpper
        } else {
            SprtDecision::Continue
        }
    }
}

/// The likeliest distribution whose mean score is `mean`.
fn with_mean(seen: &[(f64, f64)], mean: f64) -> Vec<f64> {
    let pulls: Vec<f64> = seen.iter().map(|(score, _)| score - mean).collect();
    tilt(seen, &pulls)
}

/// The likeliest distribution whose mean is `ratio` standard deviations above ½.
///
/// The condition is not linear in the probabilities, so it is replaced by its tangent at the distribution
/// found last, until that does not move any more.
fn with_ratio(seen: &[(f64, f64)], ratio: f64) -> Vec<f64> {
    let mut found: Vec<f64> = vec![1.0 / seen.len() as f64; seen.len()];
    for _ in 0..100 {
        let mean: f64 = seen.iter().zip(&found).map(|((s, _), p)| s * p).sum();
        let spread: f64 = seen.iter().zip(&found).map(|((s, _), p)| (s - mean).powi(2) * p).sum();
        let deviation = spread.sqrt();
        let pulls: Vec<f64> = seen
            .iter()
            .map(|(score, _)| {
                let off = (score - mean) / deviation;
                score - 0.5 - ratio * deviation * (1.0 + off * off) / 2.0
            })
            .collect();
        let next = tilt(seen, &pulls);
        let moved = next.iter().zip(&found).fold(0.0f64, |far, (a, b)| far.max((a - b).abs()));
        found = next;
        if moved < 1e-12 {
            break;
        }
    }
    found
}

/// The likeliest distribution under which the mean of `pulls` is 0: p̂/(1+x·pull), with the x that makes
/// it so. Without pulls to both sides there is none, and what was seen stays.
fn tilt(seen: &[(f64, f64)], pulls: &[f64]) -> Vec<f64> {
    let least = pulls.iter().copied().fold(f64::INFINITY, f64::min);
    let most = pulls.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(least < 0.0 && most > 0.0) {
        return seen.iter().map(|(_, p)| *p).collect();
    }
    // Between the poles the sum falls from +∞ to −∞.
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        let sum: f64 =
            seen.iter().zip(pulls).map(|((_, p), pull)| p * pull / (1.0 + middle * pull)).sum();
        if sum > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let x = (low + high) / 2.0;
    seen.iter().zip(pulls).map(|((_, p), pull)| p / (1.0 + x * pull)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratings::elo::{Pentanomial, Trinomial};
    use proptest::prelude::*;

    fn penta(counts: [u64; 6]) -> Sample {
        let [ll, ld, wl, dd, wd, ww] = counts;
        Pentanomial { ll, ld, wl, dd, wd, ww }.into()
    }

    fn sprt(elo0: f64, elo1: f64, scale: Scale) -> Sprt {
        Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, scale }
    }

    #[test]
    fn the_normalized_vector() {
        let llr =
            sprt(0.0, 2.0, Scale::Normalized).llr(&penta([365, 16618, 36029, 200, 16974, 390]));
        assert!((llr - 2.25).abs() < 0.005, "{llr}");
    }

    #[test]
    fn the_logistic_vector() {
        let test = sprt(0.5, 2.5, Scale::Logistic);
        let sample = penta([223, 9863, 20279, 1000, 10037, 246]);
        let llr = test.llr(&sample);
        assert!((llr + 3.07).abs() < 0.005, "{llr}");
        assert_eq!(test.decide(&sample), SprtDecision::AcceptLower);
    }

    #[test]
    fn the_bounds() {
        let (lower, upper) = sprt(0.0, 2.0, Scale::Normalized).bounds();
        assert!((lower + 2.944_439).abs() < 1e-6 && (upper - 2.944_439).abs() < 1e-6);
    }

    #[test]
    fn nothing_and_one_sided_samples_give_numbers() {
        for scale in [Scale::Normalized, Scale::Logistic] {
            let test = sprt(0.0, 10.0, scale);
            assert_eq!(test.llr(&penta([0; 6])), 0.0);
            assert_eq!(test.decide(&penta([0; 6])), SprtDecision::Continue);
            for counts in [[0, 0, 0, 0, 0, 50], [50, 0, 0, 0, 0, 0], [0, 0, 0, 50, 0, 0]] {
                assert!(test.llr(&penta(counts)).is_finite(), "{counts:?}");
            }
            assert!(test.llr(&penta([0, 0, 0, 0, 0, 50])) > 0.0);
            assert!(test.llr(&penta([50, 0, 0, 0, 0, 0])) < 0.0);
        }
    }

    proptest! {
        #[test]
        fn the_ratio_is_finite_and_turns_with_the_sides(
            wins in 0u64..500, losses in 0u64..500, draws in 0u64..500, normalized: bool,
        ) {
            let scale = if normalized { Scale::Normalized } else { Scale::Logistic };
            let test = sprt(-5.0, 5.0, scale);
            let one = test.llr(&Trinomial { wins, losses, draws }.into());
            let other = test.llr(&Trinomial { wins: losses, losses: wins, draws }.into());
            prop_assert!(one.is_finite());
            prop_assert!((one + other).abs() < 1e-6 * (1.0 + one.abs()), "{} {}", one, other);
        }
    }
}
