//! Perfect matchings: whether all of some engines can be paired at once (Edmonds' blossoms).

use std::collections::VecDeque;

/// A largest matching of a graph that is told by its adjacency lists: the partner of each node.
pub(super) fn largest(graph: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut search = PairingSearch { graph, partner: vec![None; graph.len()] };
    for root in 0..graph.len() {
        if search.partner[root].is_none() {
            search.augment(root);
        }
    }
    search.partner
}

/// True if the graph has a perfect matching.
pub(super) fn is_perfect(graph: &[Vec<usize>]) -> bool {
    largest(graph).iter().all(Option::is_some)
}

struct PairingSearch<'a> {
    graph: &'a [Vec<usize>],
    partner: Vec<Option<usize>>,
}

impl PairingSearch<'_> {
    /// Looks for an augmenting path from a free node and turns it over.
    fn augment(&mut self, root: usize) {
        let nodes = self.graph.len();
        let mut parent: Vec<Option<usize>> = vec![None; nodes];
        let mut base: Vec<usize> = (0..nodes).collect();
        let mut outer = vec![false; nodes];
        outer[root] = true;
        let mut queue = VecDeque::from([root]);
        while let Some(node) = queue.pop_front() {
            for &next in &self.graph[node] {
                if base[node] == base[next] || self.partner[node] == Some(next) {
                    continue;
                }
                let is_outer = next == root
                    || self.partner[next].is_some_and(|partner| parent[partner].is_some());
                if is_outer {
                    let top = self.common(&parent, &base, node, next);
                    let mut blossom = vec![false; nodes];
                    self.mark(&mut parent, &base, &mut blossom, node, top, next);
                    self.mark(&mut parent, &base, &mut blossom, next, top, node);
                    for other in 0..nodes {
                        if blossom[base[other]] {
                            base[other] = top;
                            if !outer[other] {
                                outer[other] = true;
                                queue.push_back(other);
                            }
                        }
                    }
                } else if parent[next].is_none() {
                    parent[next] = Some(node);
                    let Some(partner) = self.partner[next] else {
                        return self.turn(&parent, next);
                    };
                    outer[partner] = true;
                    queue.push_back(partner);
                }
            }
        }
    }

    /// The base where the ways from two nodes to the root meet.
    fn common(&self, parent: &[Option<usize>], base: &[usize], a: usize, b: usize) -> usize {
        let mut seen = vec![false; self.graph.len()];
        let mut node = base[a];
        loop {
            seen[node] = true;
            let up = self.partner[node].and_then(|partner| parent[partner]);
            let Some(up) = up else { break };
            node = base[up];
        }
        let mut node = base[b];
        while !seen[node] {
            let up = self.partner[node].and_then(|partner| parent[partner]);
            let Some(up) = up else { break };
            node = base[up];
        }
        node
    }

    fn mark(
        &self,
        parent: &mut [Option<usize>],
        base: &[usize],
        blossom: &mut [bool],
        from: usize,
        top: usize,
        child: usize,
    ) {
        let (mut node, mut child) = (from, child);
        while base[node] != top {
            let Some(partner) = self.partner[node] else { return };
            blossom[base[node]] = true;
            blossom[base[partner]] = true;
            parent[node] = Some(child);
            child = partner;
            let Some(up) = parent[partner] else { return };
            node = up;
        }
    }

    fn turn(&mut self, parent: &[Option<usize>], end: usize) {
        let mut node = Some(end);
        while let Some(at) = node {
            let Some(up) = parent[at] else { return };
            let next = self.partner[up];
            self.partner[at] = Some(up);
            self.partner[up] = Some(at);
            node = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of a largest matching by trying everything.
    fn by_trying(graph: &[Vec<usize>], used: &mut Vec<bool>, node: usize) -> usize {
        if node == graph.len() {
            return 0;
        }
        let mut best = by_trying(graph, used, node + 1);
        if !used[node] {
            for &next in graph[node].iter().filter(|next| **next > node) {
                if !used[next] {
                    (used[node], used[next]) = (true, true);
                    best = best.max(1 + by_trying(graph, used, node + 1));
                    (used[node], used[next]) = (false, false);
                }
            }
        }
        best
    }

    #[test]
    fn it_is_as_large_as_trying_everything_finds() {
        let mut state = 1u64;
        for round in 0..3000 {
            let nodes = 2 + round % 9;
            let mut graph = vec![Vec::new(); nodes];
            for a in 0..nodes {
                for b in a + 1..nodes {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                    if state >> 40 & 7 < 2 {
                        graph[a].push(b);
                        graph[b].push(a);
                    }
                }
            }
            let partner = largest(&graph);
            for (node, with) in partner.iter().enumerate() {
                if let Some(with) = with {
                    assert!(graph[node].contains(with) && partner[*with] == Some(node));
                }
            }
            let size = partner.iter().flatten().count() / 2;
            assert_eq!(size, by_trying(&graph, &mut vec![false; nodes], 0), "{graph:?}");
        }
    }
}
