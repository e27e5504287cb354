//! Adjacency graph of a sparsity pattern.

use crate::sparse::BlockPattern;

/// Neighbors of each vertex of a pattern, ascending.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    starts: Vec<u32>,
    neighbors: Vec<u32>,
}

impl Graph {
    /// Creates the graph. Returns `None` if the number of neighbors exceeds `u32`.
    pub fn new(pattern: &BlockPattern) -> Option<Self> {
        let n = pattern.node_count();
        u32::try_from(2 * pattern.slot_count()).ok()?;
        let mut starts = vec![0_u32; n + 1];
        let edges =
            || (0..n).flat_map(|a| pattern.columns()[pattern.row(a)][1..].iter().map(move |&b| (a, b as usize)));
        for (a, b) in edges() {
            starts[a + 1] += 1;
            starts[b + 1] += 1;
        }
        for v in 0..n {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut neighbors = vec![0_u32; starts[n] as usize];
        for (a, b) in edges() {
            for (from, to) in [(a, b), (b, a)] {
                neighbors[next[from] as usize] = to as u32;
                next[from] += 1;
            }
        }
        Some(Self { starts, neighbors })
    }

    pub fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn neighbors(&self, vertex: u32) -> &[u32] {
        &self.neighbors[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}
