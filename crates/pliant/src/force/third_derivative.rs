//! The third derivative of an energy: how its stiffness changes with the displacement.

/// What couples the coordinates of three vertices `a`, `b`, `c`: entry `[p][q][r]` is `∂³V / ∂u_ap ∂u_bq ∂u_cr`.
pub type ThirdDerivativeBlock = [[[f64; 3]; 3]; 3];

/// The ways to read three vertices: which comes out, and which meet the two vectors of a contraction.
const PERMUTATIONS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// `H = ∂K/∂u = ∂³V/∂u³`, a sparse tensor of 3×3×3 blocks.
///
/// It is symmetric in its three indices, so a block is stored only for vertices in ascending order (they may repeat): 20 of
/// the 64 of a tetrahedron, 120 of the 512 of a hexahedron.
#[derive(Debug, Clone, PartialEq)]
pub struct ThirdDerivative {
    vertex_count: usize,
    /// Sorted, each once.
    triples: Vec<[u32; 3]>,
    blocks: Vec<ThirdDerivativeBlock>,
}

impl ThirdDerivative {
    /// All zero, with a block for every three vertices of one clique. The vertices of a clique ascend.
    pub(super) fn zero<'a>(vertex_count: usize, cliques: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut triples: Vec<[u32; 3]> =
            cliques.flat_map(|clique| triples(clique.len()).map(|t| t.map(|n| clique[n]))).collect();
        triples.sort_unstable();
        triples.dedup();
        let blocks = vec![[[[0.0; 3]; 3]; 3]; triples.len()];
        Self { vertex_count, triples, blocks }
    }

    /// `+ block` for vertices that ascend.
    pub(super) fn add(&mut self, vertices: [u32; 3], block: &ThirdDerivativeBlock) {
        let place = self.triples.binary_search(&vertices).expect("the vertices are of one clique");
        let stored = self.blocks[place].as_flattened_mut().as_flattened_mut();
        for (value, more) in stored.iter_mut().zip(block.as_flattened().as_flattened()) {
            *value += more;
        }
    }

    /// How many vertices the body has.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// How many blocks are stored.
    pub fn len(&self) -> usize {
        self.triples.len()
    }

    /// True if no block is stored.
    pub fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }

    /// The stored blocks with their vertices `a ≤ b ≤ c`, sorted.
    pub fn iter(&self) -> impl Iterator<Item = ([u32; 3], &ThirdDerivativeBlock)> {
        self.triples.iter().copied().zip(&self.blocks)
    }

    /// `out + (H : a) b`: the change of the stiffness in the direction `a`, times `b`, `Σ Hᵢⱼₖ bⱼ aₖ`. Exchanging `a` and `b`
    /// changes nothing.
    ///
    /// # Panics
    /// If a vector has not three numbers a vertex.
    pub fn contract(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        let n = 3 * self.vertex_count;
        assert!(a.len() == n && b.len() == n && out.len() == n, "vectors of {n} numbers");
        for (vertices, block) in self.iter() {
            // Where vertices repeat, several permutations are the same block of the whole tensor.
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

/// Every three numbers below `n` in ascending order, repetitions included.
pub(super) fn triples(n: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..n).flat_map(move |i| (i..n).flat_map(move |j| (j..n).map(move |k| [i, j, k])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contraction_sums_over_the_whole_symmetric_tensor() {
        // V = (w·u)³/6 of two vertices has H = w⊗w⊗w, so that (H : a) b = (w·a)(w·b) w.
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
