//! The system in velocities alone.

use std::sync::Arc;

use super::strain::{Strains, pull};
use super::{Breakdown, Refinement, Solve, Step};
use crate::solver::{Cholesky, PatternTooLarge, Symbolic, SymbolicInfo};
use crate::sparse::{BlockMatrix, BlockPattern, Scatter};

/// How many tetrahedra a thread does at a time.
const CHUNK: usize = 256;

/// `(M̃ + h²/γ JᵀDJ) v₊ = b + h²/γ JᵀD r`, on a pattern of its own: with a lumped mass that of the model has no pairs.
#[derive(Debug)]
pub(super) struct Condensed {
    scatter: Scatter,
    matrix: BlockMatrix,
    cholesky: Cholesky<f64>,
    b: Vec<f64>,
    x: Vec<f64>,
    refinement: Refinement,
}

impl Condensed {
    pub fn new(strains: &Strains, model: &BlockPattern) -> Result<Self, PatternTooLarge> {
        let vertex_count = model.vertex_count();
        let nodes: Vec<u32> = strains.tets.iter().flat_map(|tet| tet.nodes).collect();
        let count = strains.tets.len();
        let chunks: Vec<_> = (0..count).step_by(CHUNK).map(|start| start..count.min(start + CHUNK)).collect();
        let mut scatter = Scatter::new(4, nodes, vertex_count, &chunks);
        let pairs: Vec<[u32; 2]> = super::pairs(model).collect();
        let cliques = scatter.cliques().chain(pairs.iter().map(<[u32; 2]>::as_slice));
        let pattern = Arc::new(BlockPattern::from_cliques(vertex_count, cliques));
        scatter.bind(&pattern);
        let cholesky = Cholesky::new(Arc::new(Symbolic::new(pattern.clone())?));
        let b = vec![0.0; 3 * vertex_count];
        let refinement = Refinement::default();
        Ok(Self { scatter, matrix: BlockMatrix::zero(pattern), cholesky, x: b.clone(), b, refinement })
    }
}

impl Solve for Condensed {
    fn factor(&mut self, step: &Step<'_>) -> Result<(), Breakdown> {
        self.matrix.clear();
        self.matrix.add_part(1.0, step.inertia);
        let scatter = &self.scatter;
        // The right-hand side is made in `solve`; here forces are of no interest.
        scatter.run(&mut self.b, Some(&mut self.matrix), |chunk, target| {
            for (number, tet) in step.strains.tets[scatter.chunks()[chunk].clone()].iter().enumerate() {
                let jacobian = tet.free_jacobian(step.held);
                let stiff = jacobian.map(|rows| tet.stiffness.map(|d| d * step.h2_per_gamma()).apply(rows));
                let mut pair = 0;
                for a in 0..4 {
                    for b in a..4 {
                        let mut block = [0.0; 9];
                        for k in 0..6 {
                            for i in 0..3 {
                                for j in 0..3 {
                                    block[3 * i + j] += jacobian[a][k][i] * stiff[b][k][j];
                                }
                            }
                        }
                        target.add_block(number, pair, &block);
                        pair += 1;
                    }
                }
            }
        });
        self.cholesky.factor(&self.matrix).map_err(Breakdown::Vertex)
    }

    fn solve(&mut self, step: &Step<'_>, b: &[f64], v: &mut [f64]) -> f64 {
        self.b.copy_from_slice(b);
        let scatter = &self.scatter;
        scatter.run(&mut self.b, None, |chunk, target| {
            for (number, tet) in step.strains.tets[scatter.chunks()[chunk].clone()].iter().enumerate() {
                let jacobian = tet.free_jacobian(step.held);
                let stress = tet.stiffness.map(|d| d * step.h2_per_gamma()).apply(tet.wanted);
                for (node, rows) in jacobian.iter().enumerate() {
                    target.add_force(number, node, pull(rows, &stress).to_array());
                }
            }
        });
        let cholesky = &mut self.cholesky;
        let residual = self.refinement.solve(&self.matrix, &self.b, &mut self.x, |b, x| cholesky.solve(b, x));
        v.iter_mut().zip(&self.x).for_each(|(v, x)| *v += x);
        residual
    }

    fn info(&self) -> &SymbolicInfo {
        self.cholesky.symbolic().info()
    }
}
