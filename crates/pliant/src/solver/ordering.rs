//! In which order to eliminate vertices, so that little is filled in.

use feral_ordering_core::CscPattern;

use crate::sparse::BlockPattern;

/// The neighbours of each vertex of a pattern, ascending.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    /// As `i32`, in which the ordering takes them.
    starts: Vec<i32>,
    neighbours: Vec<i32>,
}

impl Graph {
    /// None if there are more neighbours than an `i32` can count.
    pub fn new(pattern: &BlockPattern) -> Option<Self> {
        let n = pattern.vertex_count();
        i32::try_from(2 * pattern.slot_count()).ok()?;
        let mut starts = vec![0_i32; n + 1];
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
        let mut neighbours = vec![0_i32; starts[n] as usize];
        for (a, b) in edges() {
            for (from, to) in [(a, b), (b, a)] {
                neighbours[next[from] as usize] = to as i32;
                next[from] += 1;
            }
        }
        Some(Self { starts, neighbours })
    }

    pub fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn neighbours(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let range = self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize;
        self.neighbours[range].iter().map(|&v| v as u32)
    }

    /// The vertices in the order of their elimination, by nested dissection of the graph (George 1973; Karypis and Kumar 1998).
    pub fn nested_dissection(&self) -> Vec<u32> {
        let pattern = CscPattern::new(self.vertex_count(), &self.starts, &self.neighbours);
        let pattern = pattern.expect("sorted neighbours that are vertices");
        let order = feral_metis::metis_order(&pattern).expect("an order of a sound graph");
        order.into_iter().map(|v| v as u32).collect()
    }
}
