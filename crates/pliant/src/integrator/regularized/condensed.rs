//! System in velocities alone.

use std::array::from_fn;
use std::sync::Arc;

use rayon::prelude::*;

use super::form::{Breakdown, Solve, Step, pairs};
use super::strain::{Strains, pull};
use crate::integrator::vectors::norm;
use crate::solver::{Cholesky, PatternTooLarge, Symbolic, SymbolicInfo};
use crate::sparse::{BlockMatrix, BlockPattern, Scatter};

/// Number of tetrahedra per task.
const CHUNK: usize = 256;

/// Maximum number of corrections, and size of a correction relative to the solution that is rounding.
const MAX_CORRECTIONS: usize = 3;
const TOLERANCE: f64 = 1e-14;

/// System with multipliers eliminated element by element. With `S = γh⁻²α`,
///
/// `(M̃ + JᵀS⁻¹J) v₊ = b + JᵀS⁻¹r`, `μ = S⁻¹(r − J v₊)`.
///
/// It has a separate pattern, because with a lumped mass that of the model has no pairs.
///
/// In the matrix of an almost rigid body, stiffness dominates the mass. The solution is therefore refined with the
/// exact residuals of both rows of the full system, `b − M̃v + Jᵀμ` and `r − Jv − Sμ`.
#[derive(Debug, Clone)]
pub(super) struct Condensed {
    scatter: Scatter,
    matrix: BlockMatrix,
    cholesky: Cholesky<f64>,
    /// Matrix `M̃` of the factor.
    inertia: BlockMatrix,
    b: Vec<f64>,
    x: Vec<f64>,
    correction: Vec<f64>,
    multipliers: Vec<[f64; 6]>,
}

impl Condensed {
    pub fn new(strains: &Strains, model: &Arc<BlockPattern>) -> Result<Self, PatternTooLarge> {
        let vertex_count = model.node_count();
        let nodes: Vec<u32> = strains.tets.iter().flat_map(|tet| tet.nodes).collect();
        let count = strains.tets.len();
        let chunks: Vec<_> = (0..count).step_by(CHUNK).map(|start| start..count.min(start + CHUNK)).collect();
        let mut scatter = Scatter::new(4, nodes, vertex_count, &chunks);
        let pairs: Vec<[u32; 2]> = pairs(model).collect();
        let cliques = scatter.cliques().chain(pairs.iter().map(<[u32; 2]>::as_slice));
        let pattern = Arc::new(BlockPattern::from_cliques(vertex_count, cliques));
        scatter.bind(&pattern);
        let zeros = || vec![0.0; 3 * vertex_count];
        Ok(Self {
            scatter,
            cholesky: Cholesky::new(Arc::new(Symbolic::new(pattern.clone())?)),
            matrix: BlockMatrix::zero(pattern),
            inertia: BlockMatrix::zero(model.clone()),
            b: zeros(),
            x: zeros(),
            correction: zeros(),
            multipliers: vec![[0.0; 6]; count],
        })
    }
}

impl Solve for Condensed {
    fn factor(&mut self, step: &Step<'_>) -> Result<(), Breakdown> {
        self.inertia.values_mut().copy_from_slice(step.inertia.values());
        self.matrix.clear();
        self.matrix.add_part(1.0, step.inertia);
        let scatter = &self.scatter;
        // The right-hand side is assembled in `solve`; forces are not needed here.
        scatter.run(&mut self.b, Some(&mut self.matrix), |chunk, target| {
            for (number, tet) in step.strains.tets[scatter.chunks()[chunk].clone()].iter().enumerate() {
                let jacobian = tet.free_jacobian(step.fixed);
                let stiffness = tet.softness(step.gamma_per_h2()).map(f64::recip);
                let stiff = jacobian.map(|rows| stiffness.apply(rows));
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
        let (scatter, tets) = (&self.scatter, &step.strains.tets);
        self.x.fill(0.0);
        self.multipliers.fill([0.0; 6]);
        let mut last = 0.0;
        for _ in 0..=MAX_CORRECTIONS {
            let (x, multipliers) = (&self.x, &self.multipliers);
            self.inertia.mul(x, &mut self.b);
            self.b.iter_mut().zip(b).for_each(|(left, b)| *left = b - *left);
            scatter.run(&mut self.b, None, |chunk, target| {
                let range = scatter.chunks()[chunk].clone();
                for (number, (tet, mu)) in tets[range.clone()].iter().zip(&multipliers[range]).enumerate() {
                    let (jacobian, softness) = (tet.free_jacobian(step.fixed), tet.softness(step.gamma_per_h2()));
                    let more = softness.map(f64::recip).apply(tet.left(&jacobian, softness, x, mu));
                    let wanted = from_fn(|k| mu[k] + more[k]);
                    for (node, rows) in jacobian.iter().enumerate() {
                        target.add_force(number, node, pull(rows, &wanted).to_array());
                    }
                }
            });
            self.cholesky.solve(&self.b, &mut self.correction);
            let correction = &self.correction;
            self.multipliers.par_iter_mut().zip(tets).with_min_len(CHUNK).for_each(|(mu, tet)| {
                let (jacobian, softness) = (tet.free_jacobian(step.fixed), tet.softness(step.gamma_per_h2()));
                let (left, rate) = (tet.left(&jacobian, softness, x, mu), tet.rate(&jacobian, correction));
                let more = softness.map(f64::recip).apply(from_fn(|k| left[k] - rate[k]));
                (0..6).for_each(|k| mu[k] += more[k]);
            });
            self.x.iter_mut().zip(correction).for_each(|(x, correction)| *x += correction);
            let size = norm(&self.x);
            last = if size > 0.0 { norm(correction) / size } else { 0.0 };
            if last <= TOLERANCE {
                break;
            }
        }
        v.iter_mut().zip(&self.x).for_each(|(v, x)| *v += x);
        last
    }

    fn info(&self) -> &SymbolicInfo {
        self.cholesky.symbolic().info()
    }
}
