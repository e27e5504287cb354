//! Sparsity pattern of a symmetric block matrix.

use std::ops::Range;

/// Sparsity pattern of the upper triangle of a symmetric block matrix, row by row. Each row is sorted by column and
/// begins with its diagonal block. The position of a block is called a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockPattern {
    row_starts: Vec<usize>,
    columns: Vec<u32>,
    /// Number of rows per chunk; each chunk is multiplied by one thread.
    rows_per_chunk: usize,
    /// For each chunk, the blocks of earlier chunks whose transposes are in its rows.
    crossing: Vec<Vec<Crossing>>,
}

/// Block in a row of one chunk that is, transposed, in a row of a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Crossing {
    pub slot: usize,
    pub row: u32,
    pub column: u32,
}

/// Minimum length and maximum number of chunks of rows. Long chunks have few blocks that cross to another chunk, which
/// are read twice, and negligible scheduling cost. A few threads use the whole memory bandwidth.
const MIN_CHUNK: usize = 2048;
const MAX_CHUNKS: usize = 8;

impl BlockPattern {
    /// Builds the pattern of all diagonal blocks, and of the blocks that couple two vertices of a clique. Cliques are
    /// the vertices of an element, or the ends of a spring.
    ///
    /// # Panics
    /// If a clique names a vertex that is not below `node_count`.
    #[allow(clippy::needless_pass_by_value, reason = "iterated over twice")]
    pub fn from_cliques<'a>(node_count: usize, cliques: impl Iterator<Item = &'a [u32]> + Clone) -> Self {
        let pairs = || cliques.clone().flat_map(pairs_of).filter(|(a, b)| a != b);
        // Counting sort by the smaller vertex, then a sort of each row.
        let mut starts = vec![0_usize; node_count + 1];
        for (a, b) in pairs() {
            assert!((a.max(b) as usize) < node_count, "vertex {} of {node_count}", a.max(b));
            starts[a.min(b) as usize + 1] += 1;
        }
        for v in 0..node_count {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut neighbors = vec![0_u32; starts[node_count]];
        for (a, b) in pairs() {
            let place = &mut next[a.min(b) as usize];
            neighbors[*place] = a.max(b);
            *place += 1;
        }
        let mut row_starts = Vec::with_capacity(node_count + 1);
        let mut columns = Vec::new();
        for v in 0..node_count {
            row_starts.push(columns.len());
            columns.push(v as u32);
            let row = &mut neighbors[starts[v]..starts[v + 1]];
            row.sort_unstable();
            let first = columns.len();
            for &neighbor in &*row {
                if columns.len() == first || columns[columns.len() - 1] != neighbor {
                    columns.push(neighbor);
                }
            }
        }
        row_starts.push(columns.len());
        Self::from_rows(row_starts, columns)
    }

    fn from_rows(row_starts: Vec<usize>, columns: Vec<u32>) -> Self {
        let node_count = row_starts.len() - 1;
        let rows_per_chunk = node_count.div_ceil(MAX_CHUNKS).max(MIN_CHUNK);
        let mut crossing = vec![Vec::new(); node_count.div_ceil(rows_per_chunk)];
        for row in 0..node_count {
            let end = (row / rows_per_chunk + 1) * rows_per_chunk;
            let slots = row_starts[row]..row_starts[row + 1];
            let inside = columns[slots.clone()].partition_point(|&column| (column as usize) < end);
            for slot in slots.start + inside..slots.end {
                let column = columns[slot];
                crossing[column as usize / rows_per_chunk].push(Crossing { slot, row: row as u32, column });
            }
        }
        Self { row_starts, columns, rows_per_chunk, crossing }
    }

    /// Returns the length of the chunks in which rows are multiplied, and for each the blocks of earlier chunks.
    pub(super) fn chunks(&self) -> (usize, &[Vec<Crossing>]) {
        (self.rows_per_chunk, &self.crossing)
    }

    /// Builds the pattern of block-diagonal matrices.
    pub fn diagonal(node_count: usize) -> Self {
        Self::from_cliques(node_count, std::iter::empty())
    }

    /// Returns the number of block rows, which is also that of block columns.
    pub fn node_count(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Returns the number of stored blocks.
    pub fn slot_count(&self) -> usize {
        self.columns.len()
    }

    /// Returns the slots of row `vertex`; the first is its diagonal block.
    pub fn row(&self, vertex: usize) -> Range<usize> {
        self.row_starts[vertex]..self.row_starts[vertex + 1]
    }

    /// Returns the column of each slot.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns the slot of the block that couples vertices `a` and `b`, in the row of the smaller.
    pub fn slot(&self, a: u32, b: u32) -> Option<usize> {
        let row = self.row(a.min(b) as usize);
        let place = self.columns[row.clone()].binary_search(&a.max(b)).ok()?;
        Some(row.start + place)
    }

    /// Maps each slot of `part`, in order, to the slot of this pattern that matrices of `part` are added to.
    ///
    /// # Panics
    /// If `part` has another number of vertices, or a block that this pattern lacks.
    pub fn slots_of<'a>(&'a self, part: &'a Self) -> impl Iterator<Item = usize> + 'a {
        assert_eq!(self.node_count(), part.node_count(), "patterns must have the same vertices");
        (0..part.node_count()).flat_map(move |vertex| {
            // Both rows ascend, so that each search resumes where the last one ended.
            let mut row = self.row(vertex);
            part.columns[part.row(vertex)].iter().map(move |&column| {
                let found = row.find(|&slot| self.columns[slot] == column);
                found.unwrap_or_else(|| panic!("no block of vertices {vertex} and {column} in the pattern"))
            })
        })
    }
}

fn pairs_of(clique: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    clique.iter().enumerate().flat_map(|(i, &a)| clique[i + 1..].iter().map(move |&b| (a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_the_diagonal_and_each_pair_once_in_order() {
        let cliques: [&[u32]; 3] = [&[3, 0, 1], &[1, 3], &[2, 2]];
        let pattern = BlockPattern::from_cliques(5, cliques.into_iter());
        assert_eq!(pattern.row_starts, [0, 3, 5, 6, 7, 8]);
        assert_eq!(pattern.columns, [0, 1, 3, 1, 3, 2, 3, 4]);
        assert_eq!((pattern.slot(3, 1), pattern.slot(1, 3), pattern.slot(2, 3)), (Some(4), Some(4), None));
        assert_eq!(pattern.slot(4, 4), Some(7));
    }

    #[test]
    fn the_slots_of_a_part_are_those_of_the_same_pairs() {
        let whole: [&[u32]; 2] = [&[3, 0, 1], &[1, 4]];
        let part: [&[u32]; 2] = [&[3, 0], &[4, 1]];
        let [whole, part] = [whole, part].map(|cliques| BlockPattern::from_cliques(5, cliques.into_iter()));
        let slots: Vec<usize> = whole.slots_of(&part).collect();
        assert_eq!(slots, [0, 2, 3, 5, 6, 7, 8]);
        assert!(slots.iter().zip(part.columns()).all(|(&slot, &column)| whole.columns()[slot] == column));
    }
}
