//! Assembly of element forces and matrices, on all threads and always in the same order.
//!
//! Elements are grouped in chunks. Two chunks with a common vertex get different colors. Colors are processed one after
//! the other, and the chunks of one color concurrently. No two threads therefore ever write to the same number, and the
//! order of the additions to a number depends on the colors alone.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{BlockMatrix, BlockPattern};

/// Assembly map from many cliques of vertices to global vectors and matrices.
#[derive(Debug, Clone)]
pub struct Scatter {
    nodes_per_clique: usize,
    /// Vertices of each clique, ascending, so that its blocks above the diagonal are above that of the matrix.
    nodes: Vec<u32>,
    /// Slots of the blocks of each clique: `(0,0), (0,1), …, (1,1), …`; empty until bound to a pattern.
    slots: Vec<u32>,
    node_count: usize,
    pattern: Option<Arc<BlockPattern>>,
    /// Ranges of cliques; those of one color are contiguous and share no vertex.
    chunks: Vec<Range<usize>>,
    /// Ranges of chunks, one per color.
    colors: Vec<Range<usize>>,
}

/// Part of a force and a matrix that one chunk may add to.
///
/// It has no `Debug`, and no access to the cells except through the methods below: they touch only what the chunk may.
#[allow(missing_debug_implementations, reason = "printing would read the cells of other threads")]
#[derive(Clone, Copy)]
pub struct Target<'a> {
    force: &'a [Cell<f64>],
    matrix: &'a [Cell<f64>],
    /// Nine numbers per node if only diagonal blocks are assembled; otherwise empty.
    diagonal: &'a [Cell<f64>],
    nodes: &'a [u32],
    slots: &'a [u32],
    nodes_per_clique: usize,
    pairs_per_clique: usize,
}

impl Scatter {
    /// Builds the map for cliques of `nodes_per_clique` ascending vertices, grouped in `chunks` of consecutive cliques.
    ///
    /// # Panics
    /// If a vertex is not below `node_count`, the vertices of a clique do not ascend, or the chunks are not ranges of
    /// cliques that follow one another.
    pub fn new(nodes_per_clique: usize, nodes: Vec<u32>, node_count: usize, chunks: &[Range<usize>]) -> Self {
        assert!(nodes_per_clique > 0 && nodes.len().is_multiple_of(nodes_per_clique), "cliques must be complete");
        let clique_count = nodes.len() / nodes_per_clique;
        assert!(chunks.iter().all(|chunk| chunk.start <= chunk.end && chunk.end <= clique_count), "chunk out of range");
        assert!(nodes.iter().all(|&v| (v as usize) < node_count), "vertices must be below {node_count}");
        assert!(nodes.chunks(nodes_per_clique).all(<[u32]>::is_sorted), "the vertices of a clique must ascend");
        assert!(chunks.is_sorted_by(|a, b| a.end <= b.start), "chunks must be disjoint and ascending");
        let vertices = |chunk: &Range<usize>| &nodes[nodes_per_clique * chunk.start..nodes_per_clique * chunk.end];
        let color = color(node_count, chunks, vertices);
        let mut order: Vec<usize> = (0..chunks.len()).collect();
        order.sort_by_key(|&chunk| color[chunk]);
        let colors = order.chunk_by(|&a, &b| color[a] == color[b]).scan(0, |start, chunks| {
            let range = *start..*start + chunks.len();
            *start = range.end;
            Some(range)
        });
        let colors = colors.collect();
        let chunks = order.iter().map(|&chunk| chunks[chunk].clone()).collect();
        Self { nodes_per_clique, nodes, slots: Vec::new(), node_count, pattern: None, chunks, colors }
    }

    /// Checks that a vector has three numbers per node.
    ///
    /// # Panics
    /// If it does not.
    pub fn check_length(&self, vector: &[f64]) {
        assert_eq!(vector.len(), 3 * self.node_count, "expected 3 numbers per vertex of {}", self.node_count);
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.node_count
    }

    /// Returns the vertices of all cliques.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Returns the cliques, for [`BlockPattern::from_cliques`].
    pub fn cliques(&self) -> impl Iterator<Item = &[u32]> + Clone {
        self.nodes.chunks_exact(self.nodes_per_clique)
    }

    /// Returns the chunks, in the order of their numbers.
    pub fn chunks(&self) -> &[Range<usize>] {
        &self.chunks
    }

    /// Computes the slots of the blocks in matrices of this pattern.
    ///
    /// # Panics
    /// If the pattern lacks a pair of vertices of a clique, or has 2³² slots or more.
    pub fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        assert_eq!(pattern.node_count(), self.node_count, "the pattern must have the same vertices");
        let pairs = self.nodes_per_clique * (self.nodes_per_clique + 1) / 2;
        let mut slots = vec![0; pairs * self.nodes.len() / self.nodes_per_clique];
        slots.par_chunks_exact_mut(pairs).zip(self.nodes.par_chunks_exact(self.nodes_per_clique)).for_each(
            |(slots, clique)| {
                let mut slots = slots.iter_mut();
                for (i, &a) in clique.iter().enumerate() {
                    for (&b, slot) in clique[i..].iter().zip(&mut slots) {
                        let number = pattern.slot(a, b).expect("the pattern has all pairs of the cliques");
                        *slot = u32::try_from(number).expect("the number of slots fits into u32");
                    }
                }
            },
        );
        self.slots = slots;
        self.pattern = Some(pattern.clone());
    }

    /// Calls `add` with the number of each chunk and the part of force and matrix that it may add to. Without a matrix,
    /// blocks must not be added.
    ///
    /// # Panics
    /// If the force does not have three numbers per node, or the matrix does not have the pattern that this is bound
    /// to.
    pub fn run(
        &self,
        force: &mut [f64],
        matrix: Option<&mut BlockMatrix>,
        add: impl Fn(usize, &Target<'_>) + Send + Sync,
    ) {
        let bound = |matrix: &BlockMatrix| self.pattern.as_ref().is_some_and(|p| Arc::ptr_eq(p, matrix.pattern()));
        assert!(matrix.as_deref().is_none_or(bound), "the matrix does not have the pattern that the force is bound to");
        let slots: &[u32] = if matrix.is_some() { &self.slots } else { &[] };
        let values: &mut [f64] = matrix.map_or(&mut [], BlockMatrix::values_mut);
        self.run_on(force, values, slots, &mut [], add);
    }

    /// Assembles only the row-major diagonal block of each vertex, like [`run`](Self::run). These need no pattern and
    /// no slots. Only [`add_force`](Target::add_force) and [`add_diagonal`](Target::add_diagonal) may then be called.
    ///
    /// # Panics
    /// If forces and blocks do not match the number of vertices.
    pub fn run_diagonal(
        &self,
        force: &mut [f64],
        diagonal: &mut [[f64; 9]],
        add: impl Fn(usize, &Target<'_>) + Send + Sync,
    ) {
        assert_eq!(diagonal.len(), self.node_count, "expected one block per vertex");
        self.run_on(force, &mut [], &[], diagonal.as_flattened_mut(), add);
    }

    fn run_on(
        &self,
        force: &mut [f64],
        values: &mut [f64],
        slots: &[u32],
        diagonal: &mut [f64],
        add: impl Fn(usize, &Target<'_>) + Send + Sync,
    ) {
        self.check_length(force);
        let pairs = self.nodes_per_clique * (self.nodes_per_clique + 1) / 2;
        let force = SharedCells::new(force);
        let values = SharedCells::new(values);
        let diagonal = SharedCells::new(diagonal);
        let run_chunk = |number: usize| {
            let cliques = &self.chunks[number];
            let slots = if slots.is_empty() { slots } else { &slots[pairs * cliques.start..pairs * cliques.end] };
            add(
                number,
                &Target {
                    force: force.cells(),
                    matrix: values.cells(),
                    diagonal: diagonal.cells(),
                    nodes: &self.nodes[self.nodes_per_clique * cliques.start..self.nodes_per_clique * cliques.end],
                    slots,
                    nodes_per_clique: self.nodes_per_clique,
                    pairs_per_clique: pairs,
                },
            );
        };
        let threads = rayon::current_num_threads();
        for chunks in &self.colors {
            if threads == 1 || chunks.len() == 1 {
                chunks.clone().for_each(run_chunk);
            } else {
                chunks.clone().into_par_iter().for_each(run_chunk);
            }
        }
    }
}

impl Target<'_> {
    /// Adds to the force on node `node` of the clique with this number in its chunk.
    #[inline(always)]
    pub fn add_force(&self, clique: usize, node: usize, force: [f64; 3]) {
        let vertex = self.nodes[self.nodes_per_clique * clique + node] as usize;
        let cells = &self.force[3 * vertex..3 * vertex + 3];
        for i in 0..3 {
            cells[i].set(cells[i].get() + force[i]);
        }
    }

    /// Adds to the block of the pair of nodes with this number: `(0,0), (0,1), …, (1,1), …`.
    #[inline(always)]
    pub fn add_block(&self, clique: usize, pair: usize, block: &[f64; 9]) {
        let slot = self.slots[self.pairs_per_clique * clique + pair] as usize;
        let cells = &self.matrix[9 * slot..9 * slot + 9];
        for i in 0..9 {
            cells[i].set(cells[i].get() + block[i]);
        }
    }

    /// Adds to the diagonal block of node `node`.
    #[inline(always)]
    pub fn add_diagonal(&self, clique: usize, node: usize, block: &[f64; 9]) {
        let vertex = self.nodes[self.nodes_per_clique * clique + node] as usize;
        let cells = &self.diagonal[9 * vertex..9 * vertex + 9];
        for i in 0..9 {
            cells[i].set(cells[i].get() + block[i]);
        }
    }
}

use shared::SharedCells;

#[allow(
    unsafe_code,
    reason = "safe code cannot share a slice between threads that write to different, scattered places"
)]
mod shared {
    use std::cell::Cell;

    /// Cells that several threads write to, each to different ones.
    pub struct SharedCells<'a>(&'a [Cell<f64>]);

    // SAFETY: `Scatter::run_on` passes the cells to the chunks of one color at a time, inside a `Target`, which reads
    // and writes only at the vertices of its chunk (in forces and diagonal blocks) and at the slots of pairs of them
    // (in matrices). Chunks of one color have no vertex in common: `Scatter::new` colored them, and neither nodes nor
    // chunks can be changed after. Two pairs of vertices have the same slot only if they are the same pair. Matrices
    // and diagonal blocks are never the same memory. Therefore, no cell is touched by two threads at a time.
    unsafe impl Sync for SharedCells<'_> {}

    impl<'a> SharedCells<'a> {
        pub fn new(numbers: &'a mut [f64]) -> Self {
            Self(Cell::from_mut(numbers).as_slice_of_cells())
        }

        pub fn cells(&self) -> &'a [Cell<f64>] {
            self.0
        }
    }
}

/// Colors each chunk with the smallest color that no earlier chunk with a common vertex has.
fn color<'a>(node_count: usize, chunks: &[Range<usize>], vertices: impl Fn(&Range<usize>) -> &'a [u32]) -> Vec<usize> {
    // For each vertex, a linked list of its chunks, newest first: `heads[v]` points into `links`.
    const NONE: usize = usize::MAX;
    let mut heads = vec![NONE; node_count];
    let mut links: Vec<(usize, usize)> = Vec::new();
    let mut colors: Vec<usize> = Vec::with_capacity(chunks.len());
    let mut taken_by: Vec<usize> = Vec::new();
    for (number, chunk) in chunks.iter().enumerate() {
        for &vertex in vertices(chunk) {
            let head = &mut heads[vertex as usize];
            if *head != NONE && links[*head].0 == number {
                continue;
            }
            let mut link = *head;
            while link != NONE {
                let (other, next) = links[link];
                taken_by[colors[other]] = number;
                link = next;
            }
            links.push((number, *head));
            *head = links.len() - 1;
        }
        let free = taken_by.iter().position(|&by| by != number).unwrap_or(taken_by.len());
        if free == taken_by.len() {
            taken_by.push(NONE);
        }
        colors.push(free);
    }
    colors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assembles a strip of triangles, several per chunk, with a matrix of 1 + i + 10 j for each pair of its nodes.
    fn strip(threads: usize) -> (Vec<f64>, BlockMatrix) {
        let nodes: Vec<u32> = (0..200).flat_map(|i| [i, i + 1, i + 2]).collect();
        let chunks: Vec<_> = (0..40).map(|i| 5 * i..5 * i + 5).collect();
        let mut scatter = Scatter::new(3, nodes, 202, &chunks);
        assert_eq!(scatter.colors.len(), 2, "a strip is colored like a chess board");
        let pattern = Arc::new(BlockPattern::from_cliques(202, scatter.cliques()));
        scatter.bind(&pattern);
        let (mut force, mut matrix) = (vec![0.0; 606], BlockMatrix::zero(pattern));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            scatter.run(&mut force, Some(&mut matrix), |chunk, target| {
                let first = scatter.chunks()[chunk].start;
                for clique in 0..5 {
                    let scale = 1.0 / (1.0 + (first + clique) as f64);
                    for node in 0..3 {
                        target.add_force(clique, node, [scale, node as f64, 1.0]);
                    }
                    for pair in 0..6 {
                        target.add_block(clique, pair, &[scale * pair as f64; 9]);
                    }
                }
            });
        });
        (force, matrix)
    }

    #[test]
    fn sums_are_complete_and_bitwise_equal_on_one_and_many_threads() {
        let (force, matrix) = strip(1);
        assert_eq!(force[3 * 100 + 2], 3.0, "three triangles at a vertex");
        assert_eq!(force[3 * 100 + 1], 3.0, "as node 0, 1 and 2");
        let expected = 4.0 / 100.0 + 1.0 / 101.0;
        assert!((matrix.block(100, 101)[0][0] - expected).abs() < 1e-15);
        assert_eq!(strip(4), (force, matrix));
    }

    #[test]
    fn diagonal_blocks_are_those_of_the_matrix_and_need_no_pattern() {
        let nodes: Vec<u32> = (0..200).flat_map(|i| [i, i + 1, i + 2]).collect();
        let chunks: Vec<_> = (0..40).map(|i| 5 * i..5 * i + 5).collect();
        let scatter = Scatter::new(3, nodes, 202, &chunks);
        let (mut force, mut diagonal) = (vec![0.0; 606], vec![[0.0; 9]; 202]);
        scatter.run_diagonal(&mut force, &mut diagonal, |chunk, target| {
            let first = scatter.chunks()[chunk].start;
            for clique in 0..5 {
                let scale = 1.0 / (1.0 + (first + clique) as f64);
                for (node, pair) in [0.0, 3.0, 5.0].into_iter().enumerate() {
                    target.add_diagonal(clique, node, &[scale * pair; 9]);
                }
            }
        });
        let (_, matrix) = strip(1);
        assert!((0..202).all(|v| diagonal[v as usize] == *matrix.block(v, v).as_flattened()));
    }

    #[test]
    #[should_panic(expected = "out of range for slice of length 0")]
    fn diagonal_blocks_cannot_be_added_to_a_matrix() {
        let mut scatter = Scatter::new(2, vec![0, 1, 2, 3], 4, &[0..1, 1..2]);
        let pattern = Arc::new(BlockPattern::from_cliques(4, scatter.cliques()));
        scatter.bind(&pattern);
        let mut matrix = BlockMatrix::zero(pattern);
        scatter.run(&mut [0.0; 12], Some(&mut matrix), |_, target| target.add_diagonal(0, 1, &[1.0; 9]));
    }

    #[test]
    fn chunks_that_all_meet_in_one_vertex_get_a_color_each() {
        let nodes: Vec<u32> = (1..100).flat_map(|i| [0, i]).collect();
        let chunks: Vec<_> = (0..33).map(|i| 3 * i..3 * i + 3).collect();
        let scatter = Scatter::new(2, nodes, 100, &chunks);
        assert_eq!(scatter.colors.len(), 33);
    }
}
