//! Which blocks of a symmetric matrix may differ from zero.

use std::ops::Range;

/// The places of the upper triangle of a symmetric block matrix, row by row, each row by ascending column and with its diagonal
/// block first. A place is called a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockPattern {
    row_starts: Vec<usize>,
    columns: Vec<u32>,
    /// Rows are multiplied in chunks of so many, each by one thread.
    rows_per_chunk: usize,
    /// For each chunk, the blocks of earlier chunks whose transposes stand in its rows.
    crossing: Vec<Vec<Crossing>>,
}

/// A block that stands in the row of one chunk and, transposed, in that of a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Crossing {
    pub slot: usize,
    pub row: u32,
    pub column: u32,
}

/// How long chunks of rows are, and how many there may be: long enough that few blocks cross from one to the next, which are
/// read twice, and that handing them to a thread costs nothing; a few threads use all of the memory's bandwidth.
const LEAST_CHUNK: usize = 2048;
const MOST_CHUNKS: usize = 8;

impl BlockPattern {
    /// The pattern with every diagonal block, and a block for each pair of vertices that meet in one of the cliques: the
    /// vertices of an element, the ends of a spring.
    ///
    /// # Panics
    /// If a clique names a vertex that is not below `vertex_count`.
    #[allow(clippy::needless_pass_by_value, reason = "an iterator to go through twice")]
    pub fn from_cliques<'a>(vertex_count: usize, cliques: impl Iterator<Item = &'a [u32]> + Clone) -> Self {
        let pairs = || cliques.clone().flat_map(pairs_of).filter(|(a, b)| a != b);
        // A counting sort by the smaller vertex, then each row on its own.
        let mut starts = vec![0_usize; vertex_count + 1];
        for (a, b) in pairs() {
            assert!((a.max(b) as usize) < vertex_count, "vertex {} of {vertex_count}", a.max(b));
            starts[a.min(b) as usize + 1] += 1;
        }
        for v in 0..vertex_count {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![0_u32; starts[vertex_count]];
        for (a, b) in pairs() {
            let place = &mut next[a.min(b) as usize];
            neighbours[*place] = a.max(b);
            *place += 1;
        }
        let mut row_starts = Vec::with_capacity(vertex_count + 1);
        let mut columns = Vec::new();
        for v in 0..vertex_count {
            row_starts.push(columns.len());
            columns.push(v as u32);
            let row = &mut neighbours[starts[v]..starts[v + 1]];
            row.sort_unstable();
            let first = columns.len();
            for &neighbour in &*row {
                if columns.len() == first || columns[columns.len() - 1] != neighbour {
                    columns.push(neighbour);
                }
            }
        }
        row_starts.push(columns.len());
        Self::from_rows(row_starts, columns)
    }

    fn from_rows(row_starts: Vec<usize>, columns: Vec<u32>) -> Self {
        let vertex_count = row_starts.len() - 1;
        let rows_per_chunk = vertex_count.div_ceil(MOST_CHUNKS).max(LEAST_CHUNK);
        let mut crossing = vec![Vec::new(); vertex_count.div_ceil(rows_per_chunk)];
        for row in 0..vertex_count {
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

    /// The length of the chunks in which rows are multiplied, and for each what earlier chunks have of it.
    pub(super) fn chunks(&self) -> (usize, &[Vec<Crossing>]) {
        (self.rows_per_chunk, &self.crossing)
    }

    /// The pattern of matrices that couple no two vertices.
    pub fn diagonal(vertex_count: usize) -> Self {
        Self::from_cliques(vertex_count, std::iter::empty())
    }

    /// How many rows of blocks, and columns.
    pub fn vertex_count(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// How many blocks are stored.
    pub fn slot_count(&self) -> usize {
        self.columns.len()
    }

    /// The slots of row `vertex`; the first is its diagonal block.
    pub fn row(&self, vertex: usize) -> Range<usize> {
        self.row_starts[vertex]..self.row_starts[vertex + 1]
    }

    /// The column of each slot.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The slot of the block that couples vertices `a` and `b`, which stands in the row of the smaller.
    pub fn slot(&self, a: u32, b: u32) -> Option<usize> {
        let row = self.row(a.min(b) as usize);
        let place = self.columns[row.clone()].binary_search(&a.max(b)).ok()?;
        Some(row.start + place)
    }

    /// The slot here of each slot of `part`, in order: where matrices of that pattern add to matrices of this one.
    ///
    /// # Panics
    /// If `part` is for another number of vertices, or has a block that is not here.
    pub fn slots_of<'a>(&'a self, part: &'a Self) -> impl Iterator<Item = usize> + 'a {
        assert_eq!(self.vertex_count(), part.vertex_count(), "patterns of the same vertices");
        (0..part.vertex_count()).flat_map(move |vertex| {
            // Both rows ascend, so that each search goes on where the last one ended.
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
