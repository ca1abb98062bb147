//! One bracket of FIDE's Dutch system (C.04.3): the players moved down from the bracket before, the players of a score,
//! and the next score, of which the downfloaters may meet some.
//!
//! The quality criteria are one weight of each pair, so that the best pairs are a heaviest matching. Where several
//! matchings are best, the first in the order of transpositions and exchanges (section D) is found choice by choice: each
//! adds to the entries of the weight behind the criteria, which can take nothing from these.

use super::super::heaviest::{ENTRIES, PairWeight, heaviest};
use super::player::{DutchPlayer, Float, PairingConstraints, may_meet};
use crate::model::game::points::HalfPoints;

/// Entries behind those of the criteria: choices that were made, the number and sums of exchanges, the choice at hand.
const MADE: usize = ENTRIES - 3;
const EXCHANGES: usize = ENTRIES - 2;
const CHOICE: usize = ENTRIES - 1;

/// Where a bracket stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BracketKind {
    /// Others follow.
    Ordinary,
    /// All that are left follow as one bracket, since no round can be completed otherwise.
    Penultimate,
    /// None follows; who is left over has the bye.
    Last,
}

/// A bracket; players are told by their rank, and the lowest rank is the best.
pub(super) struct DutchBracket<'a> {
    players: &'a [DutchPlayer],
    constraints: PairingConstraints,
    kind: BracketKind,
    /// The rounds before.
    rounds: usize,
    /// The moved-down players, then the residents, then the players of the next score.
    members: Vec<usize>,
    down: usize,
    /// The number of members that are in the bracket itself.
    own: usize,
    weights: Vec<Option<PairWeight>>,
    /// The members whose partner is not settled.
    open: Vec<usize>,
    /// The partner of each member in the matching as it is.
    partner: Vec<Option<usize>>,
}

impl<'a> DutchBracket<'a> {
    pub(super) fn new(
        (players, constraints): (&'a [DutchPlayer], PairingConstraints),
        (kind, rounds): (BracketKind, usize),
        down: &[usize],
        residents: &[usize],
        next: &[usize],
    ) -> DutchBracket<'a> {
        let members: Vec<usize> = [down, residents, next].concat();
        let own = down.len() + residents.len();
        let mut bracket = DutchBracket {
            players,
            constraints,
            kind,
            rounds,
            members,
            down: down.len(),
            own,
            weights: Vec::new(),
            open: Vec::new(),
            partner: Vec::new(),
        };
        let size = bracket.members.len();
        bracket.weights = vec![None; size * size];
        let differences = bracket.differences();
        for a in 0..size {
            for b in a + 1..size {
                bracket.weights[a * size + b] = bracket.weight(a, b, &differences);
            }
        }
        bracket.open = (0..size).collect();
        bracket.partner = vec![None; size];
        bracket.match_again();
        bracket
    }

    /// Returns the pairs of the bracket by rank, the better one first, and the players that leave it.
    pub(super) fn paired(mut self) -> (Vec<(usize, usize)>, Vec<usize>) {
        let residents = self.pair_down();
        self.pair_residents(&residents);
        let rank = |at: usize| self.members[at];
        let met = |at: usize| self.partner[at].filter(|other| *other < self.own);
        let pairs = (0..self.own).filter_map(|at| Some((at, met(at).filter(|other| at < *other)?)));
        let leaving = (0..self.own).filter(|at| met(*at).is_none());
        (pairs.map(|(a, b)| (rank(a), rank(b))).collect(), leaving.map(rank).collect())
    }

    fn player(&self, at: usize) -> &'a DutchPlayer {
        &self.players[self.members[at]]
    }

    fn points(&self, at: usize) -> i64 {
        let HalfPoints(points) = self.player(at).points;
        i64::from(points)
    }

    /// The score difference of a member that leaves the bracket: as if it met one point less than the lowest here
    /// (A.8).
    fn leaving(&self, at: usize) -> i64 {
        self.points(at) - self.points(self.own - 1) + 2
    }

    /// All differences of scores that can come about, the largest first.
    fn differences(&self) -> Vec<i64> {
        let pairs = (0..self.own).flat_map(|a| (a + 1..self.own).map(move |b| (a, b)));
        let met = pairs.map(|(a, b)| self.points(a) - self.points(b)).filter(|one| *one > 0);
        let mut all: Vec<i64> = met.chain((0..self.own).map(|at| self.leaving(at))).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.dedup();
        all
    }

    /// A pair by all criteria, the weightiest first; none where the two may not meet.
    fn weight(&self, a: usize, b: usize, differences: &[i64]) -> Option<PairWeight> {
        let (upper, lower) = (self.player(a), self.player(b));
        if !may_meet(upper, lower, self.constraints) {
            return None;
        }
        let is_own = b < self.own;
        let mut sum = Sum::new(self.members.len());
        let each = |sum: &mut Sum, of: &dyn Fn(i64) -> i64| {
            differences.iter().for_each(|difference| sum.push(of(*difference)));
        };
        if self.kind != BracketKind::Ordinary {
            // Everybody is paired but who has the bye, and that is nobody who had one (C.2).
            sum.push(1 + i64::from(upper.had_bye) + i64::from(lower.had_bye));
        }
        // C.5: as many pairs as can be.
        sum.push(i64::from(is_own));
        // C.6: the smallest differences of scores, of those who leave, too.
        let own = |is: bool| i64::from(is && is_own);
        let met = self.points(a) - self.points(b);
        each(&mut sum, &|one| {
            own(self.leaving_is(a, one)) + own(self.leaving_is(b, one)) - own(met == one)
        });
        if self.kind == BracketKind::Ordinary {
            // C.7: the same two in the next bracket.
            sum.push(i64::from(b >= self.own));
            each(&mut sum, &|one| {
                i64::from(self.leaving_is(a, one)) + i64::from(self.leaving_is(b, one))
            });
        }
        // C.10, C.11: the colours that they want, the strongly wanted ones behind.
        let is_refused = upper.wants_same(lower);
        sum.push(own(!is_refused));
        sum.push(own(!(is_refused && upper.is_strong() && lower.is_strong())));
        let (down, up) = (
            |player: &DutchPlayer, ago| player.floated(ago, Float::Down),
            |ago| lower.floated(ago, Float::Up) && met > 0,
        );
        // C.12 to C.15: who met another score in the last round, or in the one before, does not so again.
        for ago in [0, 1] {
            if self.rounds > 0 {
                sum.push(own(down(upper, ago) && met <= 0) + own(down(lower, ago)));
            }
            if self.rounds > 1 {
                sum.push(own(!up(ago)));
            }
        }
        // C.16 to C.19: else by the smallest differences.
        for ago in [0, 1].into_iter().take(self.rounds) {
            each(&mut sum, &|one| {
                own(down(upper, ago) && self.leaving_is(a, one))
                    + own(down(lower, ago) && self.leaving_is(b, one))
                    - own(down(upper, ago) && met == one)
            });
            each(&mut sum, &|one| -own(up(ago) && self.leaving_is(a, one)));
        }
        Some(sum.weight)
    }

    fn leaving_is(&self, at: usize, difference: i64) -> bool {
        at < self.own && self.leaving(at) == difference
    }

    fn edge(&mut self, a: usize, b: usize) -> &mut Option<PairWeight> {
        let size = self.members.len();
        &mut self.weights[a.min(b) * size + a.max(b)]
    }

    /// Adds to an entry of the weight of a pair, where there is one.
    fn add(&mut self, a: usize, b: usize, entry: usize, value: i64) {
        if let Some(weight) = self.edge(a, b) {
            weight.0[entry] += value;
        }
    }

    fn add_all(&mut self, one: usize, others: &[usize], value: i64) {
        others.iter().for_each(|other| self.add(one, *other, CHOICE, value));
    }

    fn part_all(&mut self, one: usize, others: &[usize]) {
        others.iter().for_each(|other| *self.edge(one, *other) = None);
    }

    fn match_again(&mut self) {
        let size = self.members.len();
        let open = &self.open;
        let found = heaviest(open.len(), |a, b| {
            self.weights[open[a].min(open[b]) * size + open[a].max(open[b])]
        });
        for (at, other) in open.iter().zip(found) {
            self.partner[*at] = other.map(|other| open[other]);
        }
    }

    /// Pairs one with the first of these that the criteria allow, for good.
    fn settle(&mut self, one: usize, others: &[usize]) -> Option<usize> {
        let first = others.iter().find(|other| self.edge(one, **other).is_some());
        if self.partner[one] != first.copied() {
            for (worth, other) in (1..).zip(others.iter().rev()) {
                self.add(one, *other, CHOICE, worth);
            }
            self.match_again();
        }
        let found = self.partner[one]?;
        self.open.retain(|other| *other != one && *other != found);
        Some(found)
    }

    fn is_resident(&self, at: usize) -> bool {
        (self.down..self.own).contains(&at)
    }

    /// Pairs the moved-down players; returns the residents that are left.
    fn pair_down(&mut self) -> Vec<usize> {
        let residents: Vec<usize> = (self.down..self.own).collect();
        let meets = |bracket: &DutchBracket<'_>, one: usize| {
            bracket.partner[one].is_some_and(|other| bracket.is_resident(other))
        };
        // The moved-down players to pair: the best, as far as the criteria allow (D.3).
        let mut upper = Vec::new();
        for one in 0..self.down {
            if !meets(self, one) {
                self.add_all(one, &residents, 1);
                self.match_again();
                self.add_all(one, &residents, -1);
            }
            if meets(self, one) {
                upper.push(one);
                residents.iter().for_each(|other| self.add(one, *other, MADE, 1));
            }
        }
        // With whom: the best first (D.1).
        let mut left = residents;
        for one in upper {
            let found = self.settle(one, &left);
            left.retain(|other| Some(*other) != found);
        }
        left
    }

    /// True if a resident is the better one of a pair of residents.
    fn is_upper(&self, at: usize) -> bool {
        self.partner[at].is_some_and(|other| at < other && self.is_resident(other))
    }

    /// Pairs residents: the upper half with the lower, by the fewest exchanges between both (D.2), then the lower half
    /// in the first order that can be (D.1).
    fn pair_residents(&mut self, residents: &[usize]) {
        let is_met = |at: &&usize| self.partner[**at].is_some_and(|other| self.is_resident(other));
        let pairs = residents.iter().filter(is_met).count() / 2;
        let (first, second) = residents.split_at(pairs);
        // The fewest exchanges, then the smallest difference between the sums of the ranks that are exchanged.
        let many = (residents.len() * residents.len()) as i64 + 1;
        for (at, one) in residents.iter().enumerate() {
            let worth = if at < pairs { many } else { 0 } - at as i64;
            residents[at + 1..].iter().for_each(|other| self.add(*one, *other, EXCHANGES, worth));
        }
        self.match_again();
        let exchanged = first.iter().filter(|one| !self.is_upper(**one)).count();
        // The lowest of the upper half go first.
        let mut left = exchanged;
        for (at, one) in first.iter().enumerate().rev() {
            if left == 0 {
                break;
            }
            let below = &residents[at + 1..];
            if self.is_upper(*one) {
                self.add_all(*one, below, -1);
                self.match_again();
                self.add_all(*one, below, 1);
            }
            if !self.is_upper(*one) {
                left -= 1;
                self.part_all(*one, below);
            }
        }
        // The highest of the lower half come first.
        let mut left = exchanged;
        for (at, one) in second.iter().enumerate() {
            if left == 0 {
                break;
            }
            let above = &residents[..pairs + at];
            if !self.is_upper(*one) {
                self.add_all(*one, above, -1);
                self.match_again();
                self.add_all(*one, above, 1);
            }
            if self.is_upper(*one) {
                left -= 1;
                let next: Vec<usize> = (self.own..self.members.len()).collect();
                self.part_all(*one, above);
                self.part_all(*one, &next);
            }
        }
        let (upper, lower): (Vec<usize>, Vec<usize>) =
            residents.iter().partition(|one| self.is_upper(**one));
        for half in [&upper, &lower] {
            for (at, one) in half.iter().enumerate() {
                self.part_all(*one, &half[at + 1..]);
            }
        }
        let mut lower = lower;
        for one in upper {
            let found = self.settle(one, &lower);
            lower.retain(|other| Some(*other) != found);
        }
    }
}

/// Criteria packed into a weight, the first one weightiest: each with as many bits as the sum over all pairs can need.
/// Criteria for which no room is left are dropped.
struct Sum {
    weight: PairWeight,
    bits: u32,
    entry: usize,
    used: u32,
}

impl Sum {
    fn new(members: usize) -> Sum {
        // At most two of each member, with a sign, and one bit so that neighbours stay apart.
        let bits = (2 * members.max(1)).ilog2() + 3;
        Sum { weight: PairWeight::default(), bits, entry: 0, used: 0 }
    }

    fn push(&mut self, value: i64) {
        // Sums of dual values are a few times as large as those of weights.
        const ROOM: u32 = 58;
        if self.used + self.bits > ROOM {
            self.entry += 1;
            self.used = 0;
        }
        if self.entry < MADE {
            self.used += self.bits;
            self.weight.0[self.entry] += value << (ROOM - self.used);
        }
    }
}
