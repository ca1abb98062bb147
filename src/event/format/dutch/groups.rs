//! Score groups from the top down: who leaves a group, and who meets whom within it.

use std::collections::HashMap;

use super::super::matching::{is_perfect, largest};
use super::player::{Float, Player, Strict, may_meet};

/// Up to so many engines of a group, the pairs with the fewest colours refused are found by counting all.
const COUNTED: usize = 16;

/// What speaks against a set of engines that leave their group, the weightiest first.
type Cost = [usize; 5];

/// Score groups on their way to pairs; players are told by their rank.
pub(super) struct Groups<'a> {
    pub(super) players: &'a [Player],
    pub(super) strict: Strict,
}

impl Groups<'_> {
    fn may_meet(&self, a: usize, b: usize) -> bool {
        may_meet(&self.players[a], &self.players[b], self.strict)
    }

    /// Whether both want the same colour.
    fn is_refused(&self, a: usize, b: usize) -> bool {
        let wants = |at: usize| self.players[at].wants().map(|(color, _)| color);
        wants(a).is_some() && wants(a) == wants(b)
    }

    fn is_perfect(&self, ranks: &[usize], only: impl Fn(usize, usize) -> bool) -> bool {
        let all = 0..ranks.len();
        let others = |a: usize| {
            let fits = |b: &usize| {
                a != *b && self.may_meet(ranks[a], ranks[*b]) && only(ranks[a], ranks[*b])
            };
            all.clone().filter(fits).collect::<Vec<_>>()
        };
        is_perfect(&all.clone().map(others).collect::<Vec<_>>())
    }

    /// All pairs, the best board first.
    pub(super) fn paired(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let mut down: Vec<usize> = Vec::new();
        let mut rest: Vec<usize> = (0..self.players.len()).collect();
        while !rest.is_empty() || !down.is_empty() {
            let points = rest.first().map(|at| self.players[*at].points);
            let same = |at: &usize| Some(self.players[*at].points) == points;
            let residents: Vec<usize> = rest.iter().copied().filter(same).collect();
            rest.retain(|at| !same(at));
            let (own, leaving) = self.group(&down, &residents, &rest);
            if own.is_empty() && residents.is_empty() {
                break;
            }
            pairs.extend(own);
            down = leaving;
        }
        pairs
    }

    /// The pairs of a group, and who leaves it: as few as can be, the lowest first, so that all below can be
    /// paired, too; among these those that refuse the fewest colours.
    fn group(
        &self,
        down: &[usize],
        residents: &[usize],
        below: &[usize],
    ) -> (Vec<(usize, usize)>, Vec<usize>) {
        let all: Vec<usize> = down.iter().chain(residents).copied().collect();
        let mut leave = all.len() % 2;
        while leave <= all.len() {
            let mut best: Option<(Cost, Vec<usize>)> = None;
            for leaving in subsets(&all, leave) {
                let stay: Vec<usize> =
                    all.iter().copied().filter(|at| !leaving.contains(at)).collect();
                let next: Vec<usize> = leaving.iter().chain(below).copied().collect();
                if !self.is_perfect(&stay, |_, _| true) || !self.is_perfect(&next, |_, _| true) {
                    continue;
                }
                let count =
                    |is: &dyn Fn(usize) -> bool| leaving.iter().filter(|at| is(**at)).count();
                let cost = [
                    count(&|at| down.contains(&at)),
                    self.left_over(&leaving, below),
                    self.refused(&stay),
                    count(&|at| self.players[at].floated(0, Float::Down)),
                    count(&|at| self.players[at].floated(1, Float::Down)),
                ];
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, leaving));
                }
            }
            if let Some((_, leaving)) = best {
                let stay: Vec<usize> =
                    all.iter().copied().filter(|at| !leaving.contains(at)).collect();
                return (self.halves(&stay, down), leaving);
            }
            leave += 2;
        }
        (Vec::new(), all)
    }

    /// How many of the next group and of those who come down to it would stay without an opponent there.
    fn left_over(&self, leaving: &[usize], below: &[usize]) -> usize {
        let points = below.first().map(|at| self.players[*at].points);
        let same = below.iter().filter(|at| Some(self.players[**at].points) == points);
        let group: Vec<usize> = leaving.iter().chain(same).copied().collect();
        let others = |a: usize| {
            let fits = |b: &usize| a != *b && self.may_meet(group[a], group[*b]);
            (0..group.len()).filter(fits).collect::<Vec<_>>()
        };
        let graph: Vec<Vec<usize>> = (0..group.len()).map(others).collect();
        largest(&graph).iter().filter(|partner| partner.is_none()).count()
    }

    /// The fewest pairs of these in which both want the same colour; where they are many, whether any is.
    fn refused(&self, ranks: &[usize]) -> usize {
        if ranks.len() > COUNTED {
            return usize::from(!self.is_perfect(ranks, |a, b| !self.is_refused(a, b)));
        }
        self.fewest(ranks, (1 << ranks.len()) - 1, &mut HashMap::new()).unwrap_or(ranks.len())
    }

    fn fewest(
        &self,
        ranks: &[usize],
        left: u32,
        known: &mut HashMap<u32, Option<usize>>,
    ) -> Option<usize> {
        if left == 0 {
            return Some(0);
        }
        if let Some(found) = known.get(&left) {
            return *found;
        }
        let first = left.trailing_zeros() as usize;
        let without = left & !(1 << first);
        let mut best: Option<usize> = None;
        for second in (first + 1..ranks.len()).filter(|second| without & (1 << second) != 0) {
            if self.may_meet(ranks[first], ranks[second]) {
                let own = usize::from(self.is_refused(ranks[first], ranks[second]));
                let rest = self.fewest(ranks, without & !(1 << second), known);
                let sum = rest.map(|rest| rest + own);
                best = [best, sum].into_iter().flatten().min();
            }
        }
        known.insert(left, best);
        best
    }

    /// Pairs those who stay: who came down with the highest it can meet, then upper half with lower half.
    fn halves(&self, stay: &[usize], down: &[usize]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let mut left = stay.to_vec();
        let mut least = self.refused(&left);
        while let Some(&first) = left.first() {
            let others: Vec<usize> = left[1..].to_vec();
            let came_down = |at: usize| down.contains(&at);
            let homogeneous = !came_down(first);
            let half = left.len() / 2;
            // The natural opponent first, then those behind it, then those before it.
            let natural = if homogeneous {
                half - 1
            } else {
                others.iter().take_while(|at| came_down(**at)).count()
            };
            let mut order: Vec<usize> = (natural..others.len()).chain((0..natural).rev()).collect();
            if !homogeneous {
                // Whoever met a higher score of late is spared.
                let spared = |at: &usize| {
                    let one = &self.players[others[*at]];
                    (one.floated(0, Float::Up), one.floated(1, Float::Up))
                };
                order.sort_by_key(spared);
            }
            let fitting = |at: &usize| {
                let second = others[*at];
                let rest: Vec<usize> =
                    others.iter().copied().filter(|one| *one != second).collect();
                let own = usize::from(self.is_refused(first, second));
                self.may_meet(first, second)
                    && self.is_perfect(&rest, |_, _| true)
                    && self.refused(&rest) + own <= least
            };
            let found = order.iter().copied().find(fitting).or_else(|| {
                order.iter().copied().find(|at| {
                    let rest: Vec<usize> =
                        others.iter().copied().filter(|one| *one != others[*at]).collect();
                    self.may_meet(first, others[*at]) && self.is_perfect(&rest, |_, _| true)
                })
            });
            let Some(found) = found else { break };
            let second = others[found];
            pairs.push((first, second));
            left.retain(|one| *one != first && *one != second);
            least = self.refused(&left);
        }
        pairs
    }
}

/// Sets of so many out of a list, the last ones first; no more than can be looked at.
fn subsets(all: &[usize], size: usize) -> Vec<Vec<usize>> {
    const MOST: usize = 400;
    if size > all.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut chosen: Vec<usize> = (0..size).collect();
    let length = all.len();
    loop {
        found.push(chosen.iter().rev().map(|at| all[length - 1 - at]).collect());
        let Some(at) = (0..size).rev().find(|at| chosen[*at] < length - size + at) else { break };
        chosen[at] += 1;
        for next in at + 1..size {
            chosen[next] = chosen[next - 1] + 1;
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}
