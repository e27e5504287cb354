//! Full system, in multipliers and velocities.

use std::array::from_fn;
use std::sync::Arc;

use rayon::prelude::*;

use super::form::{self, Breakdown, Solve, Step};
use super::refinement::Refinement;
use super::strain::Strains;
use crate::solver::{Ldlt, NotPositiveDefinite, NotQuasiDefinite, PatternTooLarge, Sign, Symbolic, SymbolicInfo};
use crate::sparse::{BlockMatrix, BlockPattern};

/// Number of blocks in the two rows of a tetrahedron: each with itself and with four vertices.
const BLOCKS: usize = 10;

/// Full system with the sign of the second row reversed, which makes it symmetric and quasi-definite:
///
/// `[M̃ −Jᵀ; −J −γh⁻²α] [v₊; μ] = [b; −r]`.
///
/// Multipliers come first, with two block rows per tetrahedron: its normal strains and its shears. The blocks of a
/// tetrahedron are therefore contiguous. The blocks of the model follow, in the order of its matrix.
#[derive(Debug, Clone)]
pub(super) struct Saddle {
    matrix: BlockMatrix,
    ldlt: Ldlt,
    b: Vec<f64>,
    x: Vec<f64>,
    refinement: Refinement,
}

impl Saddle {
    pub fn new(strains: &Strains, model: &BlockPattern) -> Result<Self, PatternTooLarge> {
        let multipliers = 2 * strains.tets.len();
        let count = multipliers + model.node_count();
        let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(8 * strains.tets.len() + model.slot_count());
        for (number, tet) in strains.tets.iter().enumerate() {
            for row in [2 * number as u32, 2 * number as u32 + 1] {
                pairs.extend(tet.nodes.iter().map(|node| [row, multipliers as u32 + node]));
            }
        }
        pairs.extend(form::pairs(model).map(|pair| pair.map(|vertex| multipliers as u32 + vertex)));
        let pattern = Arc::new(BlockPattern::from_cliques(count, pairs.iter().map(<[u32; 2]>::as_slice)));
        let mut signs = vec![Sign::Negative; multipliers];
        signs.resize(count, Sign::Positive);
        let ldlt = Ldlt::new(Arc::new(Symbolic::with_signs(pattern.clone(), &signs)?));
        let b = vec![0.0; 3 * count];
        let refinement = Refinement::default();
        Ok(Self { matrix: BlockMatrix::zero(pattern), ldlt, x: b.clone(), b, refinement })
    }
}

impl Solve for Saddle {
    fn factor(&mut self, step: &Step<'_>) -> Result<(), Breakdown> {
        let tets = &step.strains.tets;
        let (blocks, _) = self.matrix.values_mut().as_chunks_mut::<9>();
        let (rows, inertia) = blocks.split_at_mut(BLOCKS * tets.len());
        rows.par_chunks_exact_mut(BLOCKS).zip(tets).with_min_len(64).for_each(|(rows, tet)| {
            let jacobian = tet.free_jacobian(step.fixed);
            let softness = tet.softness(step.gamma_per_h2()).blocks();
            for (part, row) in rows.chunks_exact_mut(BLOCKS / 2).enumerate() {
                row[0] = from_fn(|i| -softness[part][i / 3][i % 3]);
                for (block, strains) in row[1..].iter_mut().zip(&jacobian) {
                    *block = from_fn(|i| -strains[3 * part + i / 3][i % 3]);
                }
            }
        });
        inertia.copy_from_slice(step.inertia.values().as_chunks::<9>().0);
        self.ldlt.factor(&self.matrix).map_err(|NotQuasiDefinite { vertex, axis, .. }| {
            match (vertex as usize).checked_sub(2 * tets.len()) {
                None => Breakdown::Tet(vertex as usize / 2),
                Some(vertex) => Breakdown::Vertex(NotPositiveDefinite { vertex: vertex as u32, axis }),
            }
        })
    }

    fn solve(&mut self, step: &Step<'_>, b: &[f64], v: &mut [f64]) -> f64 {
        let tets = &step.strains.tets;
        let (multipliers, velocities) = self.b.split_at_mut(6 * tets.len());
        for (row, tet) in multipliers.as_chunks_mut::<6>().0.iter_mut().zip(tets) {
            *row = tet.wanted.map(|wanted| -wanted);
        }
        velocities.copy_from_slice(b);
        let ldlt = &mut self.ldlt;
        let residual = self.refinement.solve(&self.matrix, &self.b, &mut self.x, |b, x| ldlt.solve(b, x));
        v.iter_mut().zip(&self.x[6 * tets.len()..]).for_each(|(v, x)| *v += x);
        residual
    }

    fn info(&self) -> &SymbolicInfo {
        self.ldlt.symbolic().info()
    }
}
