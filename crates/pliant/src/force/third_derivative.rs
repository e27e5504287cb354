//! Third derivative of an energy: the derivative of its stiffness with respect to the displacement.

/// Block that couples the coordinates of three vertices `a`, `b`, `c`: entry `[p][q][r]` is `∂³V / ∂u_ap ∂u_bq ∂u_cr`.
pub type ThirdDerivativeBlock = [[[f64; 3]; 3]; 3];

/// Permutations of three vertices: the output, and those contracted with the two vectors.
const PERMUTATIONS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Sparse tensor `H = ∂K/∂u = ∂³V/∂u³` of 3×3×3 blocks.
///
/// It is symmetric in its three indices, so blocks are stored only for vertices in ascending order (they may repeat).
/// These are 20 of the 64 blocks of a tetrahedron and 120 of the 512 of a hexahedron.
#[derive(Debug, Clone, PartialEq)]
pub struct ThirdDerivative {
    vertex_count: usize,
    /// Vertices of the blocks, sorted and unique.
    triples: Vec<[u32; 3]>,
    blocks: Vec<ThirdDerivativeBlock>,
}

impl ThirdDerivative {
    /// Returns a zero tensor with a block for every three vertices of one clique. The vertices of a clique ascend.
    pub(super) fn zero<'a>(vertex_count: usize, cliques: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut triples: Vec<[u32; 3]> =
            cliques.flat_map(|clique| triples(clique.len()).map(|t| t.map(|n| clique[n]))).collect();
        triples.sort_unstable();
        triples.dedup();
        let blocks = vec![[[[0.0; 3]; 3]; 3]; triples.len()];
        Self { vertex_count, triples, blocks }
    }

    /// Adds a block for ascending vertices.
    pub(super) fn add(&mut self, vertices: [u32; 3], block: &ThirdDerivativeBlock) {
        let place = self.triples.binary_search(&vertices).expect("the vertices are of one clique");
        let stored = self.blocks[place].as_flattened_mut().as_flattened_mut();
        for (value, more) in stored.iter_mut().zip(block.as_flattened().as_flattened()) {
            *value += more;
        }
    }

    /// Returns the number of vertices of the body.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Returns the number of stored blocks.
    pub fn len(&self) -> usize {
        self.triples.len()
    }

    /// Returns true if no block is stored.
    pub fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }

    /// Returns the stored blocks with their vertices `a ≤ b ≤ c`, sorted.
    pub fn iter(&self) -> impl Iterator<Item = ([u32; 3], &ThirdDerivativeBlock)> {
        self.triples.iter().copied().zip(&self.blocks)
    }

    /// Adds `(H : a) b` to `out`: the derivative of the stiffness in the direction `a`, times `b`, `Σ Hᵢⱼₖ bⱼ aₖ`. It
    /// is symmetric in `a` and `b`.
    ///
    /// # Panics
    /// If a vector does not have three numbers per vertex.
    pub fn contract(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        let n = 3 * self.vertex_count;
        assert!(a.len() == n && b.len() == n && out.len() == n, "vectors of {n} numbers");
        for (vertices, block) in self.iter() {
            // If vertices repeat, several permutations are the same block of the full tensor.
            let read = PERMUTATIONS.map(|order| order.map(|place| vertices[place]));
            for (number, order) in PERMUTATIONS.into_iter().enumerate() {
                if read[..number].contains(&read[number]) {
                    continue;
                }
                let [at_out, at_b, at_a] = read[number].map(|vertex| 3 * vertex as usize);
                for p in 0..3 {
                    for q in 0..3 {
                        for r in 0..3 {
                            let index = [p, q, r];
                            let [i, j, k] = order.map(|place| index[place]);
                            out[at_out + i] += block[p][q][r] * b[at_b + j] * a[at_a + k];
                        }
                    }
                }
            }
        }
    }
}

/// Returns every three numbers below `n` in ascending order, repetitions included.
pub(super) fn triples(n: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..n).flat_map(move |i| (i..n).flat_map(move |j| (j..n).map(move |k| [i, j, k])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contraction_sums_over_the_whole_symmetric_tensor() {
        // V = (w·u)³/6 of two vertices has H = w⊗w⊗w, and thus (H : a) b = (w·a)(w·b) w.
        let w: [f64; 6] = [0.3, -1.0, 0.7, 2.0, 0.1, -0.4];
        let mut tensor = ThirdDerivative::zero(2, [[0, 1].as_slice()].into_iter());
        assert_eq!(tensor.len(), 4);
        for places in triples(2) {
            let [a, b, c] = places.map(|v| &w[3 * v..3 * v + 3]);
            let block = std::array::from_fn(|p| std::array::from_fn(|q| std::array::from_fn(|r| a[p] * b[q] * c[r])));
            tensor.add(places.map(|v| v as u32), &block);
        }
        let a: [f64; 6] = std::array::from_fn(|i| (i as f64).sin());
        let b: [f64; 6] = std::array::from_fn(|i| (2.0 * i as f64).cos());
        let dot = |x: &[f64]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let mut out = [0.0; 6];
        tensor.contract(&a, &b, &mut out);
        for i in 0..6 {
            assert!((out[i] - dot(&a) * dot(&b) * w[i]).abs() < 1e-14);
        }
    }
}
