//! Iterative refinement.

use crate::integrator::vectors::{norm, sized};
use crate::sparse::BlockMatrix;

/// Iterative refinement, as the condition numbers of stiff systems leave few digits in the first solution.
#[derive(Debug, Clone, Default)]
pub(super) struct Refinement {
    residual: Vec<f64>,
    correction: Vec<f64>,
}

impl Refinement {
    /// Residuals below this are rounding.
    const TOLERANCE: f64 = 1e-14;

    pub fn solve(
        &mut self,
        matrix: &BlockMatrix,
        b: &[f64],
        x: &mut [f64],
        mut solve: impl FnMut(&[f64], &mut [f64]),
    ) -> f64 {
        let size = norm(b);
        if size == 0.0 {
            x.fill(0.0);
            return 0.0;
        }
        sized(&mut self.residual, b.len());
        sized(&mut self.correction, b.len());
        let left = |x: &[f64], residual: &mut [f64]| {
            matrix.mul(x, residual);
            residual.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
            norm(residual) / size
        };
        solve(b, x);
        let before = left(x, &mut self.residual);
        if before <= Self::TOLERANCE {
            return before;
        }
        solve(&self.residual, &mut self.correction);
        x.iter_mut().zip(&self.correction).for_each(|(x, correction)| *x += correction);
        left(x, &mut self.residual)
    }
}
