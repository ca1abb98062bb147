//! Heaviest matchings: of all ways to pair some of the nodes of a graph, one whose pairs weigh most together (Edmonds'
//! blossoms with the dual values of nodes and blossoms). Weights are compared entry by entry, the first entry first, so
//! that many criteria, one after the other, are one weight.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::{Add, Sub};

/// Entries of a weight.
pub(super) const ENTRIES: usize = 12;

/// A weight: earlier entries outweigh all later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PairWeight(pub(super) [i64; ENTRIES]);

impl PairWeight {
    const NONE: PairWeight = PairWeight([0; ENTRIES]);

    fn each(self, change: impl Fn(i64) -> i64) -> PairWeight {
        PairWeight(self.0.map(change))
    }

    /// Half of it; every entry of what is halved here is even.
    fn half(self) -> PairWeight {
        self.each(|entry| entry / 2)
    }

    fn double(self) -> PairWeight {
        self.each(|entry| entry * 2)
    }
}

impl Add for PairWeight {
    type Output = PairWeight;

    fn add(mut self, other: PairWeight) -> PairWeight {
        self.0.iter_mut().zip(other.0).for_each(|(entry, other)| *entry += other);
        self
    }
}

impl Sub for PairWeight {
    type Output = PairWeight;

    fn sub(mut self, other: PairWeight) -> PairWeight {
        self.0.iter_mut().zip(other.0).for_each(|(entry, other)| *entry -= other);
        self
    }
}

/// The partner of each node in a heaviest matching. `weight` tells what an edge weighs, more than nothing, and is none
/// where there is no edge.
pub(super) fn heaviest(
    nodes: usize,
    weight: impl Fn(usize, usize) -> Option<PairWeight>,
) -> Vec<Option<usize>> {
    let mut search = PathSearch::new(nodes, weight);
    while search.grow() {}
    search.partner[..nodes].iter().map(|edge| edge.map(|(_, other)| other)).collect()
}

/// True if all nodes can be paired at once by edges of the graph.
pub(super) fn is_perfect(nodes: usize, has_edge: impl Fn(usize, usize) -> bool) -> bool {
    // Where all edges weigh the same, a heaviest matching is a largest one.
    let weight = |a, b| has_edge(a, b).then_some(PairWeight([1; ENTRIES]));
    heaviest(nodes, weight).iter().all(Option::is_some)
}

/// An edge between two nodes of the graph, seen from the first.
type Edge = (usize, usize);

/// The place of a vertex: outside of the forest of alternating paths, or in it at an even or odd distance from its
/// root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Outside,
    Even,
    Odd,
}

/// A vertex is a node, or a blossom: an odd cycle of vertices that has shrunk to one, with a number beyond the nodes.
struct PathSearch {
    nodes: usize,
    weights: Vec<Option<PairWeight>>,
    /// The dual value of each vertex.
    dual: Vec<PairWeight>,
    /// The edge by which a vertex is matched, seen from it.
    partner: Vec<Option<Edge>>,
    /// The outermost vertex that each vertex is in; none for a number that no blossom has.
    top: Vec<Option<usize>>,
    /// The cycle of a blossom, its base first.
    cycle: Vec<Vec<usize>>,
    /// Of two vertices the edge that lies nearest to being tight.
    nearest: Vec<Vec<Option<Edge>>>,
    /// Of a blossom and a node the vertex of its cycle that the node is in.
    holder: Vec<Vec<Option<usize>>>,
    layer: Vec<Layer>,
    /// The edge that leads to a vertex from its parent in the forest, seen from the parent.
    parent: Vec<Option<Edge>>,
    /// The even node with the tightest edge to each outermost vertex.
    tightest: Vec<Option<usize>>,
    queue: VecDeque<usize>,
}

impl PathSearch {
    fn new(nodes: usize, weight: impl Fn(usize, usize) -> Option<PairWeight>) -> PathSearch {
        // There are never more blossoms than half the nodes.
        let vertices = nodes + nodes / 2 + 1;
        let mut weights = vec![None; nodes * nodes];
        let mut nearest = vec![vec![None; vertices]; vertices];
        let mut most = PairWeight::NONE;
        for a in 0..nodes {
            for b in 0..nodes {
                let one = if a == b { None } else { weight(a.min(b), a.max(b)) };
                weights[a * nodes + b] = one;
                nearest[a][b] = one.map(|_| (a, b));
                most = most.max(one.unwrap_or(PairWeight::NONE));
            }
        }
        let mut holder = vec![vec![None; nodes]; vertices];
        (0..nodes).for_each(|node| holder[node][node] = Some(node));
        let mut dual = vec![PairWeight::NONE; vertices];
        dual[..nodes].fill(most);
        let mut top = vec![None; vertices];
        (0..nodes).for_each(|node| top[node] = Some(node));
        PathSearch {
            nodes,
            weights,
            dual,
            partner: vec![None; vertices],
            top,
            cycle: vec![Vec::new(); vertices],
            nearest,
            holder,
            layer: vec![Layer::Outside; vertices],
            parent: vec![None; vertices],
            tightest: vec![None; vertices],
            queue: VecDeque::new(),
        }
    }

    /// The distance of an edge from being tight; the least there is where there is no edge.
    fn slack(&self, (a, b): Edge) -> PairWeight {
        let weight = self.weights[a * self.nodes + b].unwrap_or(PairWeight::NONE);
        self.dual[a] + self.dual[b] - weight.double()
    }

    fn is_top(&self, vertex: usize) -> bool {
        self.top[vertex] == Some(vertex)
    }

    fn top_of(&self, node: usize) -> usize {
        self.top[node].unwrap_or(node)
    }

    fn vertices(&self) -> std::ops::Range<usize> {
        0..self.top.len()
    }

    fn blossoms(&self) -> std::ops::Range<usize> {
        self.nodes..self.top.len()
    }

    /// The tops at the other ends of a vertex's matched edge, and of the edge to its parent.
    fn mate(&self, vertex: usize) -> Option<usize> {
        self.partner[vertex].map(|(_, other)| self.top_of(other))
    }

    fn parent_of(&self, vertex: usize) -> Option<usize> {
        self.parent[vertex].map(|(parent, _)| self.top_of(parent))
    }

    /// Notes an even node as the one with the tightest edge to a vertex, if it is.
    fn offer(&mut self, node: usize, vertex: usize) {
        let Some(edge) = self.nearest[node][vertex] else { return };
        let known = self.tightest[vertex].and_then(|other| self.nearest[other][vertex]);
        if known.is_none_or(|known| self.slack(edge) < self.slack(known)) {
            self.tightest[vertex] = Some(node);
        }
    }

    fn offer_all(&mut self, vertex: usize) {
        self.tightest[vertex] = None;
        for node in 0..self.nodes {
            let top = self.top_of(node);
            if top != vertex && self.layer[top] == Layer::Even {
                self.offer(node, vertex);
            }
        }
    }

    fn ask(&mut self, vertex: usize) {
        if vertex < self.nodes {
            self.queue.push_back(vertex);
        } else {
            self.cycle[vertex].clone().into_iter().for_each(|one| self.ask(one));
        }
    }

    fn put_under(&mut self, vertex: usize, top: usize) {
        self.top[vertex] = Some(top);
        if vertex >= self.nodes {
            self.cycle[vertex].clone().into_iter().for_each(|one| self.put_under(one, top));
        }
    }

    /// The place of a vertex in a cycle, which is turned round if need be, so that an even way leads to it from the base.
    fn even_place(&mut self, blossom: usize, vertex: usize) -> usize {
        let cycle = &mut self.cycle[blossom];
        let place = cycle.iter().position(|one| *one == vertex).unwrap_or(0);
        if place.is_multiple_of(2) {
            return place;
        }
        cycle[1..].reverse();
        cycle.len() - place
    }

    /// Matches a vertex by an edge, and so all that is within it.
    fn marry(&mut self, vertex: usize, edge: Edge) {
        self.partner[vertex] = Some(edge);
        if vertex < self.nodes {
            return;
        }
        let Some(inner) = self.holder[vertex][edge.0] else { return };
        let place = self.even_place(vertex, inner);
        for first in (0..place).step_by(2) {
            let (a, b) = (self.cycle[vertex][first], self.cycle[vertex][first + 1]);
            if let Some((from, to)) = self.nearest[a][b] {
                self.marry(a, (from, to));
                self.marry(b, (to, from));
            }
        }
        self.marry(inner, edge);
        self.cycle[vertex].rotate_left(place);
    }

    /// Turns over the path from an even vertex to its root, which is matched by an edge now.
    fn augment(&mut self, vertex: usize, edge: Edge) {
        let (mut vertex, mut edge) = (vertex, edge);
        loop {
            let mate = self.mate(vertex);
            self.marry(vertex, edge);
            let Some(mate) = mate else { return };
            let Some((above, below)) = self.parent[mate] else { return };
            self.marry(mate, (below, above));
            vertex = self.top_of(above);
            edge = (above, below);
        }
    }

    /// The even vertices from one up to its root.
    fn way_up(&self, vertex: usize) -> Vec<usize> {
        let up = |at: &usize| self.parent_of(self.mate(*at)?);
        std::iter::successors(Some(vertex), up).collect()
    }

    /// Shrinks the cycle that an edge closes between two even vertices below a common one.
    fn shrink(&mut self, edge: Edge, common: usize) {
        let Some(blossom) = self.blossoms().find(|one| self.top[*one].is_none()) else { return };
        let side = |search: &PathSearch, from: usize| -> Vec<usize> {
            let even = search.way_up(from).into_iter().take_while(|one| *one != common);
            even.flat_map(|one| std::iter::once(one).chain(search.mate(one))).collect()
        };
        let (left, right) = (side(self, self.top_of(edge.0)), side(self, self.top_of(edge.1)));
        let cycle: Vec<usize> = std::iter::once(common)
            .chain(left.iter().rev().copied())
            .chain(right.iter().copied())
            .collect();
        self.dual[blossom] = PairWeight::NONE;
        self.layer[blossom] = Layer::Even;
        self.partner[blossom] = self.partner[common];
        self.parent[blossom] = self.parent[common];
        for part in left.iter().chain(&right) {
            if self.layer[*part] == Layer::Odd {
                self.ask(*part);
            }
        }
        self.cycle[blossom].clone_from(&cycle);
        self.put_under(blossom, blossom);
        for other in self.vertices() {
            self.nearest[blossom][other] = None;
            self.nearest[other][blossom] = None;
        }
        self.holder[blossom].fill(None);
        for part in cycle {
            for other in self.vertices() {
                let Some((a, b)) = self.nearest[part][other] else { continue };
                let known = self.nearest[blossom][other];
                if known.is_none_or(|known| self.slack((a, b)) < self.slack(known)) {
                    self.nearest[blossom][other] = Some((a, b));
                    self.nearest[other][blossom] = Some((b, a));
                }
            }
            for node in 0..self.nodes {
                if self.holder[part][node].is_some() {
                    self.holder[blossom][node] = Some(part);
                }
            }
        }
        self.offer_all(blossom);
    }

    /// Opens an odd blossom: the even way through its cycle stays in the forest.
    fn open(&mut self, blossom: usize) {
        for part in self.cycle[blossom].clone() {
            self.put_under(part, part);
        }
        let entered = self.parent[blossom].and_then(|(_, below)| self.holder[blossom][below]);
        let Some(entered) = entered else { return };
        let place = self.even_place(blossom, entered);
        let cycle = std::mem::take(&mut self.cycle[blossom]);
        for first in (0..place).step_by(2) {
            let (odd, even) = (cycle[first], cycle[first + 1]);
            self.parent[odd] = self.nearest[even][odd];
            self.layer[odd] = Layer::Odd;
            self.layer[even] = Layer::Even;
            self.tightest[odd] = None;
            self.offer_all(even);
            self.ask(even);
        }
        self.layer[entered] = Layer::Odd;
        self.parent[entered] = self.parent[blossom];
        self.tightest[entered] = None;
        for outside in cycle.into_iter().skip(place + 1) {
            self.layer[outside] = Layer::Outside;
            self.offer_all(outside);
        }
        self.top[blossom] = None;
    }

    /// Follows a tight edge from an even node; whether the matching has grown.
    fn follow(&mut self, edge: Edge) -> bool {
        let (from, to) = (self.top_of(edge.0), self.top_of(edge.1));
        match self.layer[to] {
            Layer::Outside => {
                self.parent[to] = Some(edge);
                self.layer[to] = Layer::Odd;
                self.tightest[to] = None;
                if let Some(next) = self.mate(to) {
                    self.tightest[next] = None;
                    self.layer[next] = Layer::Even;
                    self.ask(next);
                }
                false
            }
            Layer::Even => {
                let ours = self.way_up(from);
                let common = self.way_up(to).into_iter().find(|one| ours.contains(one));
                if let Some(common) = common {
                    self.shrink(edge, common);
                    return false;
                }
                self.augment(from, edge);
                self.augment(to, (edge.1, edge.0));
                true
            }
            Layer::Odd => false,
        }
    }

    /// Makes the matching heavier by a pair; false where it cannot be.
    fn grow(&mut self) -> bool {
        self.layer.fill(Layer::Outside);
        self.tightest.fill(None);
        self.queue.clear();
        for vertex in self.vertices() {
            if self.is_top(vertex) && self.partner[vertex].is_none() {
                self.parent[vertex] = None;
                self.layer[vertex] = Layer::Even;
                self.ask(vertex);
            }
        }
        if self.queue.is_empty() {
            return false;
        }
        loop {
            while let Some(node) = self.queue.pop_front() {
                for other in 0..self.nodes {
                    let (own, top) = (self.top_of(node), self.top_of(other));
                    if own == top || self.nearest[node][other].is_none() {
                        continue;
                    }
                    if self.layer[own] == Layer::Odd {
                        break;
                    }
                    if self.slack((node, other)) != PairWeight::NONE {
                        self.offer(node, top);
                    } else if self.follow((node, other)) {
                        return true;
                    }
                }
            }
            let Some(step) = self.step() else { return false };
            if !self.shift(step) {
                return false;
            }
            for vertex in self.vertices() {
                let edge = self.tightest[vertex].and_then(|node| self.nearest[node][vertex]);
                let Some(edge) = edge.filter(|_| self.is_top(vertex)) else { continue };
                let is_tight =
                    self.top_of(edge.0) != vertex && self.slack(edge) == PairWeight::NONE;
                if is_tight && self.follow(edge) {
                    return true;
                }
            }
            for blossom in self.blossoms() {
                if self.is_top(blossom)
                    && self.layer[blossom] == Layer::Odd
                    && self.dual[blossom] == PairWeight::NONE
                {
                    self.open(blossom);
                }
            }
        }
    }

    /// The smallest change of the dual values that makes an edge tight, or a blossom open.
    fn step(&self) -> Option<PairWeight> {
        let opening = self
            .blossoms()
            .filter(|one| self.is_top(*one) && self.layer[*one] == Layer::Odd)
            .map(|one| self.dual[one].half());
        let tight = self.vertices().filter(|one| self.is_top(*one)).filter_map(|one| {
            let edge = self.nearest[self.tightest[one]?][one]?;
            match self.layer[one] {
                Layer::Outside => Some(self.slack(edge)),
                Layer::Even => Some(self.slack(edge).half()),
                Layer::Odd => None,
            }
        });
        // Nothing more can be gained once an even node has no value left.
        let even = (0..self.nodes).filter(|node| self.layer[self.top_of(*node)] == Layer::Even);
        let left = even.map(|node| self.dual[node]);
        opening.chain(tight).chain(left).min()
    }

    /// Changes the dual values; false where that is the end.
    fn shift(&mut self, step: PairWeight) -> bool {
        for node in 0..self.nodes {
            match self.layer[self.top_of(node)] {
                Layer::Even => {
                    if self.dual[node].cmp(&step) != Ordering::Greater {
                        return false;
                    }
                    self.dual[node] = self.dual[node] - step;
                }
                Layer::Odd => self.dual[node] = self.dual[node] + step,
                Layer::Outside => {}
            }
        }
        for blossom in
            self.blossoms().filter(|one| self.top[*one] == Some(*one)).collect::<Vec<_>>()
        {
            match self.layer[blossom] {
                Layer::Even => self.dual[blossom] = self.dual[blossom] + step.double(),
                Layer::Odd => self.dual[blossom] = self.dual[blossom] - step.double(),
                Layer::Outside => {}
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weight of a heaviest matching by trying everything.
    fn by_trying(
        weights: &[Vec<Option<PairWeight>>],
        used: &mut Vec<bool>,
        node: usize,
    ) -> PairWeight {
        if node == weights.len() {
            return PairWeight::NONE;
        }
        let mut best = by_trying(weights, used, node + 1);
        if !used[node] {
            for next in node + 1..weights.len() {
                let Some(weight) = weights[node][next].filter(|_| !used[next]) else { continue };
                (used[node], used[next]) = (true, true);
                best = best.max(weight + by_trying(weights, used, node + 1));
                (used[node], used[next]) = (false, false);
            }
        }
        best
    }

    #[test]
    fn it_weighs_as_much_as_trying_everything_finds() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (state >> 33) % below
        };
        for round in 0..4000 {
            let nodes = 2 + round % 9;
            let mut weights = vec![vec![None; nodes]; nodes];
            for (a, row) in weights.iter_mut().enumerate() {
                for cell in row.iter_mut().skip(a + 1) {
                    if draw(4) > 0 {
                        let mut weight = PairWeight::NONE;
                        weight.0[0] = 1;
                        weight.0[3] = draw(3) as i64 - 1;
                        weight.0[11] = draw(if round % 2 == 0 { 3 } else { 50 }) as i64 - 1;
                        *cell = Some(weight);
                    }
                }
            }
            let partner = heaviest(nodes, |a, b| weights[a][b]);
            let mut sum = PairWeight::NONE;
            for (node, with) in partner.iter().enumerate() {
                if let Some(with) = *with {
                    assert_eq!(partner[with], Some(node));
                    if node < with {
                        sum = sum + weights[node][with].unwrap();
                    }
                }
            }
            assert_eq!(sum, by_trying(&weights, &mut vec![false; nodes], 0), "{weights:?}");
        }
    }

    /// True if all nodes but those that are `used` can be paired, by trying everything.
    fn all_by_trying(graph: &[Vec<bool>], used: &mut Vec<bool>) -> bool {
        let Some(node) = used.iter().position(|used| !used) else { return true };
        used[node] = true;
        let found = (node + 1..graph.len()).any(|next| {
            if used[next] || !graph[node][next] {
                return false;
            }
            used[next] = true;
            let found = all_by_trying(graph, used);
            used[next] = false;
            found
        });
        used[node] = false;
        found
    }

    #[test]
    fn all_are_paired_where_trying_everything_pairs_all() {
        let mut state = 1u64;
        let mut perfect = 0;
        for round in 0..3000 {
            let nodes = 1 + round % 10;
            let mut graph = vec![vec![false; nodes]; nodes];
            for (a, row) in graph.iter_mut().enumerate() {
                for has_edge in row.iter_mut().skip(a + 1) {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                    *has_edge = state >> 40 & 7 < 2;
                }
            }
            let due = all_by_trying(&graph, &mut vec![false; nodes]);
            assert_eq!(is_perfect(nodes, |a, b| graph[a.min(b)][a.max(b)]), due, "{graph:?}");
            perfect += u32::from(due);
        }
        assert!((300..2700).contains(&perfect), "{perfect}");
    }
}
