//! The errors and the length of a test over shards: `cargo bench --bench sprt` (`GATE4K_TESTS=N` for another number than 10,000,
//! `GATE4K_ERRORS=ALPHA,BETA` for other errors than those of `match --sprt`).
//!
//! Simulated matches of pairs of games between two engines, once where the lower hypothesis is true and once where the upper one
//! is. Each is played by one machine, and by four, whose shards `merge --watch` looks at now and then: it takes the pairs in the
//! order of the match up to the first that is missing. For comparison the same looks with whatever has ended: pairs of draws
//! take longer, so that fewer of them are there. Wrong is the share of tests that accept the hypothesis that is not true.

#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

use std::env;
use std::sync::LazyLock;

use gate4k::ratings::elo::Pentanomial;
use gate4k::ratings::sprt::{Scale, Sprt, SprtDecision};

/// The test, with its errors as they are asked for.
static TEST: LazyLock<Sprt> = LazyLock::new(|| {
    let [alpha, beta] = match env::var("GATE4K_ERRORS") {
        Err(_) => [0.05, 0.05],
        Ok(words) => {
            let (alpha, beta) = words.split_once(',').expect("GATE4K_ERRORS=ALPHA,BETA");
            [alpha, beta].map(|word| word.parse().expect("an error is a number, such as 0.05"))
        }
    };
    Sprt { elo0: 0.0, elo1: 50.0, alpha, beta, scale: Scale::Normalized }
});

/// The share of each result of a pair between equal engines, from two losses to two wins.
const EQUAL: [f64; 5] = [0.05, 0.22, 0.46, 0.22, 0.05];

/// The time that pairs take, by their results.
const TAKES: [f64; 5] = [0.7, 1.0, 1.3, 1.0, 0.7];

/// The time that the machines take for a pair, against the first.
const UNLIKE: [f64; 4] = [1.0, 1.1, 1.3, 1.6];

/// Four of one speed.
const LIKE: [f64; 4] = [1.0; 4];

/// Between two looks at the shards, in pairs of the first machine.
const LOOK: f64 = 5.0;

/// No test of these hypotheses is as long.
const MOST: usize = 100_000;

/// SplitMix64 by Sebastiano Vigna, which is in the public domain: the same numbers every time.
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn pick(&mut self, shares: &[f64; 5]) -> usize {
        let mut left = self.unit();
        for (index, share) in shares.iter().enumerate() {
            left -= share;
            if left < 0.0 {
                return index;
            }
        }
        shares.len() - 1
    }
}

/// The results of pairs where the first engine is ahead by so much normalized Elo.
fn shares(elo: f64) -> [f64; 5] {
    let wanted = elo / (800.0 / std::f64::consts::LN_10) * 2f64.sqrt();
    let tilted = |pull: f64| {
        let mut all = EQUAL;
        for (index, share) in all.iter_mut().enumerate() {
            *share *= (pull * index as f64 / 4.0).exp();
        }
        let sum: f64 = all.iter().sum();
        all.map(|share| share / sum)
    };
    let ratio = |all: [f64; 5]| {
        let mean: f64 = all.iter().enumerate().map(|(i, p)| p * i as f64 / 4.0).sum();
        let spread: f64 =
            all.iter().enumerate().map(|(i, p)| p * (i as f64 / 4.0 - mean).powi(2)).sum();
        (mean - 0.5) / spread.sqrt()
    };
    let (mut low, mut high) = (-20.0, 20.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if ratio(tilted(middle)) < wanted { low = middle } else { high = middle }
    }
    tilted(low)
}

/// Pairs that were counted, by their results.
#[derive(Clone, Copy, Default)]
struct Tally([u64; 5]);

impl Tally {
    fn decide(&self) -> SprtDecision {
        let [ll, ld, dd, wd, ww] = self.0;
        TEST.decide(&Pentanomial { ll, ld, wl: 0, dd, wd, ww }.into())
    }
}

/// The results of tests of one kind.
#[derive(Default)]
struct Outcome {
    upper: u32,
    lower: u32,
    counted: usize,
    played: usize,
}

impl Outcome {
    fn add(&mut self, decision: SprtDecision, counted: usize, played: usize) {
        match decision {
            SprtDecision::AcceptUpper => self.upper += 1,
            SprtDecision::AcceptLower => self.lower += 1,
            SprtDecision::Continue => {}
        }
        self.counted += counted;
        self.played += played;
    }
}

/// The pairs of one match, drawn when they are asked for, and how the test stands after each.
struct Pairs {
    random: Random,
    shares: [f64; 5],
    results: Vec<usize>,
    tally: Tally,
    decisions: Vec<SprtDecision>,
}

impl Pairs {
    fn new(seed: u64, shares: [f64; 5]) -> Pairs {
        let (results, decisions) = (Vec::new(), Vec::new());
        Pairs { random: Random(seed), shares, results, tally: Tally::default(), decisions }
    }

    fn result(&mut self, number: usize) -> usize {
        while self.results.len() <= number {
            self.results.push(self.random.pick(&self.shares));
        }
        self.results[number]
    }

    /// After the pairs up to this one.
    fn decision(&mut self, number: usize) -> SprtDecision {
        while self.decisions.len() <= number {
            let result = self.result(self.decisions.len());
            self.tally.0[result] += 1;
            self.decisions.push(self.tally.decide());
        }
        self.decisions[number]
    }
}

/// One machine: the test after each pair.
fn alone(pairs: &mut Pairs) -> (SprtDecision, usize) {
    for number in 0..MOST {
        let decision = pairs.decision(number);
        if decision != SprtDecision::Continue {
            return (decision, number + 1);
        }
    }
    (SprtDecision::Continue, MOST)
}

/// The way in which shards are counted.
#[derive(Clone, Copy, PartialEq)]
enum Count {
    /// In the order of the match, up to the first pair that is missing.
    InOrder,
    /// All that there are.
    All,
}

/// The shards: the decision, the pairs that it rests on, and those that were begun by then.
fn sharded(pairs: &mut Pairs, slow: &[f64; 4], count: Count) -> (SprtDecision, usize, usize) {
    let machines = slow.len();
    let (mut ended, mut free_at) = ([0usize; 4], [0f64; 4]);
    let (mut tally, mut counted) = (Tally::default(), 0);
    let mut time = 0.0;
    while counted < MOST {
        time += LOOK;
        for (machine, slow) in slow.iter().enumerate() {
            loop {
                let result = pairs.result(ended[machine] * machines + machine);
                let at = free_at[machine] + slow * TAKES[result];
                if at > time {
                    break;
                }
                (free_at[machine], ended[machine]) = (at, ended[machine] + 1);
                if count == Count::All {
                    tally.0[result] += 1;
                    counted += 1;
                }
            }
        }
        let begun = ended.iter().sum::<usize>() + machines;
        if count == Count::All {
            let decision = tally.decide();
            if decision != SprtDecision::Continue {
                return (decision, counted, begun);
            }
            continue;
        }
        while ended[counted % machines] > counted / machines {
            let decision = pairs.decision(counted);
            counted += 1;
            if decision != SprtDecision::Continue {
                return (decision, counted, begun);
            }
        }
    }
    (SprtDecision::Continue, counted, counted)
}

fn main() {
    let tests = env::var("GATE4K_TESTS").ok().and_then(|word| word.parse().ok()).unwrap_or(10_000);
    let Sprt { elo0, elo1, alpha, beta, .. } = *TEST;
    println!(
        "{tests} tests of nElo {elo0} against {elo1}, errors of {alpha} and {beta} asked for\n"
    );
    println!("| truth | machines | wrong | undecided | pairs counted | pairs played |");
    println!("|---|---|---|---|---|---|");
    let mut differ = 0;
    for truth in [elo0, elo1] {
        let shares = shares(truth);
        let mut outcomes: [Outcome; 4] = Default::default();
        for test in 0..tests {
            let mut pairs = Pairs::new(test, shares);
            let (one, length) = alone(&mut pairs);
            outcomes[0].add(one, length, length);
            for (outcome, slow) in [(1, &LIKE), (2, &UNLIKE)] {
                let (whole, counted, played) = sharded(&mut pairs, slow, Count::InOrder);
                outcomes[outcome].add(whole, counted, played);
                differ += u32::from((whole, counted) != (one, length));
            }
            let (all, counted, played) = sharded(&mut pairs, &UNLIKE, Count::All);
            outcomes[3].add(all, counted, played);
        }
        let names = [
            "one",
            "four of one speed, in order",
            "four of unlike speed, in order",
            "four of unlike speed, whatever has ended",
        ];
        for (name, outcome) in names.iter().zip(&outcomes) {
            let wrong = if truth == elo0 { outcome.upper } else { outcome.lower };
            let mean = |sum: usize| sum as f64 / tests as f64;
            println!(
                "| nElo {truth} | {name} | {:.2} % | {} | {:.1} | {:.1} |",
                100.0 * f64::from(wrong) / tests as f64,
                tests - u64::from(outcome.upper + outcome.lower),
                mean(outcome.counted),
                mean(outcome.played)
            );
        }
    }
    println!(
        "\nTests in order that were decided otherwise than by one machine, or after other pairs: {differ}"
    );
}
