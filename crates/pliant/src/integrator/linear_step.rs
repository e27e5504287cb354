//! Linear systems of a step.

use std::time::Instant;

use super::StepInfo;
use super::vectors::{clear_fixed, is_fixed};
use crate::solver::{LinearSolver, SolveError, Stamp};
use crate::system::{Combination, System, Weights};

/// Workspace for the linear systems of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct LinearStep {
    product: Vec<f64>,
    /// State of the solver at its last update: the weights, the revision of the system and the stamp of the solver.
    set: Option<(Weights, u64, Stamp)>,
}

impl LinearStep {
    /// Solves `(mM + dD + kK) x = b`, where `x` is already known for fixed coordinates. Overwrites `b`.
    pub fn solve<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        matrix: Combination<'_, S>,
        b: &mut [f64],
        x: &mut [f64],
        info: &mut StepInfo,
    ) -> Result<(), SolveError> {
        let start = Instant::now();
        system.assemble(matrix);
        info.assembling += start.elapsed();
        let start = Instant::now();
        self.set = None;
        solver.set_matrix(system.matrix())?;
        self.set = solver.stamp().map(|stamp| (matrix.weights(), system.revision(), stamp));
        info.solving += start.elapsed();
        self.solve_again(system, solver, matrix, b, x, info)
    }

    /// Returns true if the solver still has its last matrix and that was for these weights.
    pub fn is_set<S: System>(&self, system: &S, solver: &dyn LinearSolver<S::Matrix>, weights: Weights) -> bool {
        solver.stamp().is_some_and(|stamp| self.set == Some((weights, system.revision(), stamp)))
    }

    /// Solves with the last matrix, which was for these weights.
    pub fn solve_again<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        matrix: Combination<'_, S>,
        b: &mut [f64],
        x: &mut [f64],
        info: &mut StepInfo,
    ) -> Result<(), SolveError> {
        let start = Instant::now();
        self.product.resize(b.len(), 0.0);
        let moves = system.fixed_mask().iter().zip(&*x).any(|(fixed, x)| *fixed && *x != 0.0);
        if moves {
            for (x, fixed) in x.iter_mut().zip(system.fixed_mask()) {
                if !fixed {
                    *x = 0.0;
                }
            }
            system.mul(matrix, x, &mut self.product);
            b.iter_mut().zip(&self.product).for_each(|(b, product)| *b -= product);
        }
        info.assembling += start.elapsed();
        let start = Instant::now();
        let fixed = system.fixed_mask();
        clear_fixed(fixed, b);
        // Known values are set aside: the solver sees zero there and takes zero as its initial guess.
        self.product.fill(0.0);
        info.count(solver.solve(system.matrix(), b, &mut self.product)?);
        for (i, x) in x.iter_mut().enumerate() {
            if !is_fixed(fixed, i) {
                *x = self.product[i];
            }
        }
        info.solving += start.elapsed();
        Ok(())
    }
}
