//! Nested dissection of a graph \[George1973\]: a small separator splits the graph into two parts, which are dissected
//! recursively. The separator is eliminated after both parts. Small parts are ordered by minimum degree.
//!
//! The separator is computed with a multilevel method: the graph is coarsened repeatedly \[KarypisKumar1998\]. The
//! separator of the coarsest graph is then refined on each finer graph by moving it into either part in turn
//! \[FiducciaMattheyses1982; AshcraftLiu1998\].
//!
//! The result does not depend on the number of threads.

use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use super::ordering::Graph;

/// Maximum number of vertices of a part that is not dissected.
const SMALL: usize = 150;
/// Minimum number of vertices of a part for which another thread pays off.
const WORTH_THREAD: usize = 1000;
/// Approximate number of vertices of the coarsest graph.
const COARSEST: usize = 100;
/// Number of initial separators of the coarsest graph.
const STARTS: usize = 4;
/// Maximum number of refinement passes.
const PASSES: usize = 16;
/// Maximum number of consecutive moves without improvement, and its increase per vertex of the separator.
const PATIENCE: usize = 1000;
const PATIENCE_EACH: usize = 5;
/// Maximum fraction of one part of both, and the fraction up to which the search continues.
const LARGEST: f64 = 0.8;
const FARTHEST: f64 = 0.9;
/// Penalty of imbalance.
const IMBALANCE: f64 = 2.0;

/// Returns the vertices in elimination order.
pub(super) fn dissect(graph: &Graph) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.vertex_count() as u32).collect();
    dissect_part(graph, &Weighted::new(graph), &mut order, 1);
    order
}

/// Orders the vertices of a part.
fn dissect_part(graph: &Graph, part: &Weighted, vertices: &mut [u32], seed: u64) {
    if part.len() <= SMALL {
        return min_degree_first(graph, vertices);
    }
    let split = part.split(&mut Random::new(seed));
    let sides = [0, 1].map(|side| part.side(&split, side));
    let lens = sides.each_ref().map(Weighted::len);
    if lens.contains(&0) {
        // The part is (nearly) a complete graph.
        return vertices.sort_by_key(|&vertex| graph.neighbors(vertex).len());
    }
    let mut by_side: Vec<(u8, u32)> = split.side.iter().copied().zip(vertices.iter().copied()).collect();
    by_side.sort_by_key(|(side, _)| *side);
    for (vertex, (_, sorted)) in vertices.iter_mut().zip(by_side) {
        *vertex = sorted;
    }
    drop(split);
    let (left, rest) = vertices.split_at_mut(lens[0]);
    let right = &mut rest[..lens[1]];
    let mut left = || dissect_part(graph, &sides[0], left, seed.wrapping_mul(2));
    let mut right = || dissect_part(graph, &sides[1], right, seed.wrapping_mul(2).wrapping_add(1));
    if part.len() < WORTH_THREAD {
        left();
        right();
    } else {
        rayon::join(left, right);
    }
}

/// Coarsened graph, whose vertices represent several vertices.
#[derive(Debug, Clone, Default)]
struct Weighted {
    starts: Vec<u32>,
    neighbors: Vec<u32>,
    /// Number of edges that each edge represents.
    edges: Vec<u32>,
    weights: Vec<u32>,
}

impl Weighted {
    fn new(graph: &Graph) -> Self {
        let n = graph.vertex_count();
        let mut new = Self { starts: vec![0], weights: vec![1; n], ..Self::default() };
        for vertex in 0..n as u32 {
            new.neighbors.extend_from_slice(graph.neighbors(vertex));
            new.starts.push(new.neighbors.len() as u32);
        }
        new.edges = vec![1; new.neighbors.len()];
        new
    }

    fn len(&self) -> usize {
        self.weights.len()
    }

    fn range(&self, vertex: u32) -> Range<usize> {
        self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize
    }

    fn neighbors(&self, vertex: u32) -> &[u32] {
        &self.neighbors[self.range(vertex)]
    }

    fn weight(&self, vertex: u32) -> u32 {
        self.weights[vertex as usize]
    }

    /// Returns the subgraph of one side. All weights are one.
    fn side(&self, split: &Split, side: u8) -> Self {
        let mut number = vec![u32::MAX; self.len()];
        let vertices: Vec<u32> = (0..self.len() as u32).filter(|&vertex| split.is_on(vertex, side)).collect();
        for (new, &vertex) in vertices.iter().enumerate() {
            number[vertex as usize] = new as u32;
        }
        let mut new = Self { starts: vec![0], weights: vec![1; vertices.len()], ..Self::default() };
        for vertex in vertices {
            let neighbors = self.neighbors(vertex).iter().map(|&other| number[other as usize]);
            new.neighbors.extend(neighbors.filter(|&other| other != u32::MAX));
            new.starts.push(new.neighbors.len() as u32);
        }
        new.edges = vec![1; new.neighbors.len()];
        new
    }

    /// Returns a small separator with two parts of similar size.
    fn split(&self, random: &mut Random) -> Split {
        /// Size ratio above which a coarser graph is not worthwhile.
        const COARSER: f64 = 0.95;
        if self.len() > COARSEST {
            let (coarse, number) = self.coarser(random);
            if (coarse.len() as f64) < COARSER * self.len() as f64 {
                let split = coarse.split(random);
                let side = number.iter().map(|&vertex| split.side[vertex as usize]).collect();
                let mut split = Split { side, ..split };
                split.refine(self);
                return split;
            }
        }
        let start = |_| {
            let mut split = self.halves(random);
            split.refine(self);
            split
        };
        (0..STARTS).map(start).min_by(|a, b| a.cost().total_cmp(&b.cost())).expect("there are several starts")
    }

    /// Contracts pairs of neighbors by heavy-edge matching. Returns the coarse graph and the coarse vertex of each
    /// vertex.
    fn coarser(&self, random: &mut Random) -> (Self, Vec<u32>) {
        const NONE: u32 = u32::MAX;
        let n = self.len();
        let total: u64 = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        let heaviest = (3 * total / (2 * COARSEST as u64)).max(2) as u32;
        // Vertices with few neighbors first: otherwise all of these would already be matched.
        let mut order: Vec<u32> = (0..n as u32).collect();
        for place in (1..n).rev() {
            order.swap(place, random.below(place + 1));
        }
        let many = 7 * self.neighbors.len() / (10 * n);
        order.sort_by_key(|&vertex| self.range(vertex).len().min(many));
        let mut mate = vec![NONE; n];
        // Unmatched vertex by neighbor. The last place is for those without neighbors.
        let mut left_over = vec![NONE; n + 1];
        for vertex in order {
            if mate[vertex as usize] != NONE {
                continue;
            }
            let fits = |other: u32| {
                other != NONE
                    && mate[other as usize] == NONE
                    && self.weight(vertex).saturating_add(self.weight(other)) <= heaviest
            };
            let range = self.range(vertex);
            let middle = range.start + random.below(range.len().max(1));
            let mut best = (0, NONE);
            for place in (middle..range.end).chain(range.start..middle) {
                let other = self.neighbors[place];
                if self.edges[place] > best.0 && fits(other) {
                    best = (self.edges[place], other);
                }
            }
            if best.1 == NONE {
                // Match vertices that have a common neighbor.
                let places = self.neighbors(vertex).iter().map(|&other| other as usize);
                for place in places.chain(range.is_empty().then_some(n)) {
                    let other = std::mem::replace(&mut left_over[place], vertex);
                    if other != vertex && fits(other) {
                        best.1 = other;
                        break;
                    }
                }
            }
            if best.1 != NONE {
                mate[vertex as usize] = best.1;
                mate[best.1 as usize] = vertex;
            }
        }
        let mut number = vec![NONE; n];
        let mut pairs = Vec::with_capacity(n / 2);
        for vertex in 0..n as u32 {
            if number[vertex as usize] == NONE {
                let mate = mate[vertex as usize];
                number[vertex as usize] = pairs.len() as u32;
                if mate != NONE {
                    number[mate as usize] = pairs.len() as u32;
                }
                pairs.push([vertex, mate]);
            }
        }
        (self.united(&pairs, &number), number)
    }

    /// Returns the graph of pairs of vertices. The second vertex of a pair may be missing.
    fn united(&self, pairs: &[[u32; 2]], number: &[u32]) -> Self {
        let mut new = Self { starts: vec![0], ..Self::default() };
        let mut place_of = vec![u32::MAX; pairs.len()];
        for (own, pair) in pairs.iter().enumerate() {
            let start = new.neighbors.len();
            let mut weight = 0;
            for &vertex in pair.iter().filter(|&&vertex| vertex != u32::MAX) {
                weight += self.weight(vertex);
                for place in self.range(vertex) {
                    let other = number[self.neighbors[place] as usize];
                    if other as usize == own {
                        continue;
                    }
                    let at = place_of[other as usize] as usize;
                    if (start..new.neighbors.len()).contains(&at) {
                        new.edges[at] += self.edges[place];
                    } else {
                        place_of[other as usize] = new.neighbors.len() as u32;
                        new.neighbors.push(other);
                        new.edges.push(self.edges[place]);
                    }
                }
            }
            new.weights.push(weight);
            new.starts.push(new.neighbors.len() as u32);
        }
        new
    }

    /// Returns a split of the half of the vertices nearest to a random one from the others.
    fn halves(&self, random: &mut Random) -> Split {
        let n = self.len();
        let mut split = Split { side: vec![1; n], sizes: [0; 3] };
        split.sizes[1] = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        let mut is_seen = vec![false; n];
        let mut queue = VecDeque::new();
        let first = random.below(n);
        let mut starts = (first..n).chain(0..first);
        while split.sizes[0] < split.sizes[1] {
            let next =
                queue.pop_front().or_else(|| starts.find(|&vertex| !is_seen[vertex]).map(|vertex| vertex as u32));
            let vertex = next.expect("some are on the other side");
            is_seen[vertex as usize] = true;
            split.put(self, vertex, 0);
            for &other in self.neighbors(vertex) {
                if !std::mem::replace(&mut is_seen[other as usize], true) {
                    queue.push_back(other);
                }
            }
        }
        for vertex in 0..n as u32 {
            if split.is_on(vertex, 1) && self.neighbors(vertex).iter().any(|&other| split.is_on(other, 0)) {
                split.put(self, vertex, SEPARATOR);
            }
        }
        split
    }
}

/// Side index of the separator.
const SEPARATOR: u8 = 2;

/// Side of each vertex, and size of each side.
#[derive(Debug, Clone)]
struct Split {
    side: Vec<u8>,
    sizes: [u64; 3],
}

impl Split {
    fn is_on(&self, vertex: u32, side: u8) -> bool {
        self.side[vertex as usize] == side
    }

    fn put(&mut self, graph: &Weighted, vertex: u32, side: u8) {
        let old = std::mem::replace(&mut self.side[vertex as usize], side);
        self.sizes[old as usize] -= u64::from(graph.weight(vertex));
        self.sizes[side as usize] += u64::from(graph.weight(vertex));
    }

    /// Returns the cost of the split: lower is better.
    fn cost(&self) -> f64 {
        let [left, right, separator] = self.sizes.map(|size| size as f64);
        if left == 0.0 || right == 0.0 {
            return f64::INFINITY;
        }
        let all = left + right + separator;
        let difference = (left - right) / all;
        let too_large = left.max(right) - LARGEST * all;
        // Balance also matters for an empty separator.
        (separator + 1e-3) * (1.0 + IMBALANCE * difference.powi(4)) + too_large.max(0.0)
    }

    /// Refines the separator by moving it.
    fn refine(&mut self, graph: &Weighted) {
        let mut sweep = Sweep {
            separator: (0..graph.len() as u32).filter(|&vertex| self.is_on(vertex, SEPARATOR)).collect(),
            gains: vec![0; graph.len()],
            touched_at: vec![0; graph.len()],
            time: 0,
            heap: BinaryHeap::new(),
            age: 0,
        };
        let mut to = u8::from(self.sizes[0] >= self.sizes[1]);
        let mut in_vain = 0;
        for _ in 0..PASSES {
            in_vain = if sweep.run(graph, self, to) { 0 } else { in_vain + 1 };
            if in_vain == 2 {
                break;
            }
            to = 1 - to;
        }
    }
}

/// Pass that moves the separator into one part: its vertices move one by one to the other part, and their neighbors in
/// the first part join the separator.
struct Sweep {
    separator: Vec<u32>,
    /// Decrease of the separator if the vertex leaves it.
    gains: Vec<i32>,
    /// Move in which each gain last changed, and number of moves.
    touched_at: Vec<u32>,
    time: u32,
    /// Gain in the upper half, age in the lower one. Of equal gains, the last one changed is taken, so that the
    /// separator continues to move where it has just moved.
    heap: BinaryHeap<(i64, u32)>,
    age: i64,
}

impl Sweep {
    /// Moves vertices of the separator to one side, then undoes the moves after the best state. Returns true if any
    /// move remains.
    fn run(&mut self, graph: &Weighted, split: &mut Split, to: u8) -> bool {
        let from = 1 - to;
        self.heap.clear();
        for place in 0..self.separator.len() {
            self.count(graph, split, self.separator[place], from);
        }
        let patience = PATIENCE.min(PATIENCE_EACH * self.separator.len());
        let farthest = (FARTHEST * split.sizes.iter().sum::<u64>() as f64) as u64;
        let mut best = (split.cost(), 0, self.separator.len());
        let start = best.0;
        let mut moved = Vec::new();
        let mut touched = Vec::new();
        while let Some((key, vertex)) = self.heap.pop() {
            if !split.is_on(vertex, SEPARATOR) || key >> 32 != i64::from(self.gains[vertex as usize]) {
                continue;
            }
            if moved.len() - best.1 > patience || split.sizes[to as usize] > farthest {
                break;
            }
            split.put(graph, vertex, to);
            moved.push(vertex);
            let old_len = self.separator.len();
            self.time += 1;
            for &other in graph.neighbors(vertex) {
                if split.is_on(other, from) {
                    split.put(graph, other, SEPARATOR);
                    self.separator.push(other);
                    self.touched_at[other as usize] = self.time;
                    for &near in graph.neighbors(other) {
                        if split.is_on(near, SEPARATOR) {
                            self.gains[near as usize] += graph.weight(other) as i32;
                            if std::mem::replace(&mut self.touched_at[near as usize], self.time) != self.time {
                                touched.push(near);
                            }
                        }
                    }
                }
            }
            touched.drain(..).for_each(|near| self.push(near));
            for place in old_len..self.separator.len() {
                self.count(graph, split, self.separator[place], from);
            }
            let cost = split.cost();
            if cost < best.0 {
                best = (cost, moved.len(), self.separator.len());
            }
        }
        moved[best.1..].iter().for_each(|&vertex| split.put(graph, vertex, SEPARATOR));
        self.separator[best.2..].iter().for_each(|&vertex| split.put(graph, vertex, from));
        self.separator.truncate(best.2);
        self.separator.retain(|&vertex| split.is_on(vertex, SEPARATOR));
        best.0 < start
    }

    /// Computes the gain of a vertex in the separator.
    fn count(&mut self, graph: &Weighted, split: &Split, vertex: u32, from: u8) {
        let becomes_part = graph.neighbors(vertex).iter().filter(|&&other| split.is_on(other, from));
        let more: u32 = becomes_part.map(|&other| graph.weight(other)).sum();
        self.gains[vertex as usize] = graph.weight(vertex) as i32 - more as i32;
        self.push(vertex);
    }

    fn push(&mut self, vertex: u32) {
        self.age += 1;
        self.heap.push(((i64::from(self.gains[vertex as usize]) << 32) + self.age, vertex));
    }
}

/// Orders the vertices of a small part by minimum degree in the elimination graph, counting neighbors outside the part.
fn min_degree_first(graph: &Graph, vertices: &mut [u32]) {
    let n = vertices.len();
    // Indices of the vertices, followed by those outside.
    let mut inside: Vec<(u32, usize)> = vertices.iter().copied().zip(0..).collect();
    inside.sort_unstable();
    let find = |vertex: u32| inside.binary_search_by_key(&vertex, |(vertex, _)| *vertex).map(|place| inside[place].1);
    let neighbors = vertices.iter().flat_map(|&vertex| graph.neighbors(vertex));
    let mut outside: Vec<u32> = neighbors.copied().filter(|&vertex| find(vertex).is_err()).collect();
    outside.sort_unstable();
    outside.dedup();
    // One bit per neighbor.
    let words = (n + outside.len()).div_ceil(64);
    let mut rows = vec![0_u64; n * words];
    for (row, &vertex) in rows.chunks_exact_mut(words.max(1)).zip(&*vertices) {
        for &other in graph.neighbors(vertex) {
            let number = find(other).unwrap_or_else(|_| n + outside.partition_point(|&before| before < other));
            row[number / 64] |= 1 << (number % 64);
        }
    }
    let degree = |row: &[u64]| row.iter().map(|word| word.count_ones()).sum::<u32>();
    let mut degrees: Vec<u32> = rows.chunks_exact(words.max(1)).map(degree).collect();
    let mut left: Vec<usize> = (0..n).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(place) = (0..left.len()).min_by_key(|&place| (degrees[left[place]], left[place])) {
        let next = left.swap_remove(place);
        order.push(vertices[next]);
        let own = rows[next * words..][..words].to_vec();
        for &other in left.iter().filter(|&&other| own[other / 64] >> (other % 64) & 1 == 1) {
            let row = &mut rows[other * words..][..words];
            row.iter_mut().zip(&own).for_each(|(word, own)| *word |= own);
            row[next / 64] &= !(1 << (next % 64));
            row[other / 64] &= !(1 << (other % 64));
            degrees[other] = degree(row);
        }
    }
    vertices.copy_from_slice(&order);
}

/// Deterministic pseudorandom numbers \[Marsaglia2003\].
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut new = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..2).for_each(|_| _ = new.below(1));
        new
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) * end as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::BlockPattern;

    fn graph(vertex_count: usize, edges: &[[u32; 2]]) -> Graph {
        let pattern = BlockPattern::from_cliques(vertex_count, edges.iter().map(<[u32; 2]>::as_slice));
        Graph::new(&pattern).unwrap()
    }

    fn cube(side: u32) -> Graph {
        let vertices = (0..side.pow(3)).map(|v| [v % side, v / side % side, v / side / side]);
        let steps = [1, side, side * side];
        let edges = vertices.zip(0..).flat_map(|(place, v)| (0..3).map(move |axis| (place[axis], v, v + steps[axis])));
        let edges: Vec<[u32; 2]> = edges.filter(|(at, ..)| at + 1 < side).map(|(_, a, b)| [a, b]).collect();
        graph(side.pow(3) as usize, &edges)
    }

    fn assert_orders_all(graph: &Graph) {
        let mut order = dissect(graph);
        order.sort_unstable();
        assert!(order.into_iter().eq(0..graph.vertex_count() as u32));
    }

    #[test]
    fn every_vertex_of_any_graph_has_a_place() {
        let n = 700;
        let complete: Vec<[u32; 2]> = (0..n).flat_map(|a| (0..a).map(move |b| [a, b])).collect();
        let star: Vec<[u32; 2]> = (1..n).map(|arm| [0, arm]).collect();
        let chain: Vec<[u32; 2]> = (1..n).map(|v| [v - 1, v]).collect();
        let pairs: Vec<[u32; 2]> = (0..n / 2).map(|v| [2 * v, 2 * v + 1]).collect();
        for edges in [complete, star, chain, pairs, Vec::new()] {
            assert_orders_all(&graph(n as usize, &edges));
        }
        assert_orders_all(&graph(0, &[]));
        assert_orders_all(&graph(1, &[]));
        assert_orders_all(&cube(11));
    }

    #[test]
    fn separators_separate_and_are_small() {
        let graph = Weighted::new(&cube(16));
        for seed in 1..5 {
            let split = graph.split(&mut Random::new(seed));
            for vertex in 0..graph.len() as u32 {
                let side = split.side[vertex as usize];
                assert!(
                    side == SEPARATOR || graph.neighbors(vertex).iter().all(|&other| !split.is_on(other, 1 - side))
                );
            }
            for side in 0..3_u8 {
                let count = (0..split.side.len()).filter(|&vertex| split.side[vertex] == side).count();
                assert_eq!(count as u64, split.sizes[side as usize]);
            }
            let [left, right, separator] = split.sizes;
            assert!(separator <= 16 * 16 && left.min(right) > graph.len() as u64 / 6, "{:?}", split.sizes);
        }
    }

    #[test]
    fn the_order_does_not_depend_on_threads() {
        let graph = cube(20);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| dissect(&graph))
        };
        assert_eq!(on(1), on(4));
    }
}
