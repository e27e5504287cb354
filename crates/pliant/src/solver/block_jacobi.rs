//! Conjugate gradients, preconditioned with the inverse diagonal blocks: little memory, cheap setup, many iterations.

use rayon::prelude::*;

use super::{
    CgParams, ConjugateGradients, LinearMap, LinearSolver, Method, NotPositiveDefinite, Preconditioner, SolveError,
    SolveInfo, Stamp,
};

/// Conjugate gradient solver, preconditioned with the inverse diagonal blocks. Any [`LinearMap`] is sufficient as its
/// matrix.
#[derive(Debug, Clone, Default)]
pub struct BlockJacobi {
    cg: ConjugateGradients,
    inverses: Inverses,
    stamp: Option<Stamp>,
}

/// Inverse of each diagonal block, in row-major order.
#[derive(Debug, Clone, Default)]
struct Inverses(Vec<[f64; 9]>);

impl BlockJacobi {
    /// Creates a solver with these stopping criteria.
    pub fn new(params: CgParams) -> Self {
        Self { cg: ConjugateGradients::new(params), ..Self::default() }
    }
}

impl<A: LinearMap> LinearSolver<A> for BlockJacobi {
    fn set_matrix(&mut self, matrix: &A) -> Result<(), SolveError> {
        self.stamp = None;
        matrix.diagonal_blocks(&mut self.inverses.0);
        for (vertex, block) in self.inverses.0.iter_mut().enumerate() {
            let lower = inverse_factor(block);
            *block = square(&lower.map_err(|axis| not_positive(matrix, vertex, axis))?);
        }
        self.stamp = Some(Stamp::new());
        Ok(())
    }

    fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    fn solve(&mut self, matrix: &A, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        let info = self.cg.solve(matrix, &mut self.inverses, b, x)?;
        Ok(SolveInfo {
            method: Method::BlockJacobi,
            iterations: info.iterations,
            residual: info.residual,
            memory: self.cg.memory() + size_of_val(&*self.inverses.0),
            ..SolveInfo::default()
        })
    }

    fn forget(&mut self) {
        self.stamp = None;
    }
}

impl Preconditioner for Inverses {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let ((r, _), (z, _)) = (r.as_chunks::<3>(), z.as_chunks_mut::<3>());
        let multiply = |((z, r), b): ((&mut [f64; 3], &[f64; 3]), &[f64; 9])| {
            for k in 0..3 {
                z[k] = b[3 * k] * r[0] + b[3 * k + 1] * r[1] + b[3 * k + 2] * r[2];
            }
        };
        if z.len() <= GRAIN || rayon::current_num_threads() == 1 {
            z.iter_mut().zip(r).zip(&self.0).for_each(multiply);
        } else {
            z.par_iter_mut().zip(r).zip(&self.0).with_min_len(GRAIN).for_each(multiply);
        }
    }
}

/// Vertices per parallel task.
const GRAIN: usize = 4096;

/// Returns the error for a diagonal block that has no Cholesky factor.
pub(super) fn not_positive<A: LinearMap>(matrix: &A, vertex: usize, axis: usize) -> SolveError {
    matrix.not_finite().unwrap_or(NotPositiveDefinite { vertex: vertex as u32, axis }.into())
}

/// Returns `L⁻¹` in row-major order for a symmetric block `LLᵀ`, or the index of the pivot that is not positive. Only
/// the upper triangle is read.
#[inline(always)]
pub(super) fn inverse_factor(block: &[f64; 9]) -> Result<[f64; 9], usize> {
    // The comparison is also false for NaN.
    let root = |pivot: f64, axis: usize| if pivot > 0.0 { Ok(pivot.sqrt()) } else { Err(axis) };
    let l00 = root(block[0], 0)?;
    let (l10, l20) = (block[1] / l00, block[2] / l00);
    let l11 = root(block[4] - l10 * l10, 1)?;
    let l21 = (block[5] - l20 * l10) / l11;
    let l22 = root(block[8] - l20 * l20 - l21 * l21, 2)?;
    let (a, b, c) = (1.0 / l00, 1.0 / l11, 1.0 / l22);
    let m10 = -l10 * a * b;
    let m21 = -l21 * b * c;
    let m20 = -(l20 * a + l21 * m10) * c;
    Ok([a, 0.0, 0.0, m10, b, 0.0, m20, m21, c])
}

/// Computes `MᵀM`.
fn square(m: &[f64; 9]) -> [f64; 9] {
    std::array::from_fn(|entry| (0..3).map(|k| m[3 * k + entry / 3] * m[3 * k + entry % 3]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::testing::{assert_same_on_any_threads, assert_solves, bar};

    #[test]
    fn soft_bodies_are_solved() {
        let operator = bar([8, 3, 3], 1e4, 0.01, 0.3);
        let info = assert_solves(&mut BlockJacobi::new(CgParams::default()), &operator, 1e-5);
        assert!(info.iterations < 40 && info.method == Method::BlockJacobi && info.memory > 0, "{info:?}");
    }

    #[test]
    fn the_solution_is_bitwise_the_same_on_one_and_on_four_threads() {
        assert_same_on_any_threads(&bar([40, 10, 10], 1e4, 0.01, 0.3), || Box::new(BlockJacobi::default()));
    }

    #[test]
    fn a_diagonal_block_that_is_not_positive_is_named() {
        let mut operator = bar([2, 1, 1], 1e4, 0.01, 0.0);
        operator.matrix.add_block(5, 5, &[[0.0; 3], [0.0, -1e9, 0.0], [0.0; 3]]);
        let error = BlockJacobi::default().set_matrix(&operator).unwrap_err();
        assert_eq!(error, NotPositiveDefinite { vertex: 5, axis: 1 }.into());
        operator.matrix.add_block(6, 6, &[[0.0; 3], [0.0; 3], [0.0, 0.0, f64::NAN]]);
        let error = BlockJacobi::default().set_matrix(&operator).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "the matrix", vertex: 6, axis: 2 });
    }
}
