//! Statistics of a step.

use std::time::Duration;

use super::Stability;
use crate::solver::SolveInfo;

/// Statistics of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepInfo {
    /// Number of Newton iterations, each with one linearization and one linear system.
    pub newton_iterations: usize,
    /// Number of Newton steps shortened by the line search.
    pub shortened: usize,
    /// Number of Newton steps shortened because surfaces would have met.
    pub limited: usize,
    /// Total number of iterations of the linear solver.
    pub linear_iterations: usize,
    /// Total number of factorizations.
    pub factorizations: usize,
    /// Result of the last linear solve.
    pub solve: SolveInfo,
    /// Residual of the balance of forces relative to the forces, if the integrator iterates until it is small.
    pub residual: f64,
    /// Longest distance by which fixed vertices are behind their prescribed motion, because bodies in contact block it
    /// \[m\].
    pub behind: f64,
    /// Fraction of the motion of colliders over the step that was made; 1 unless bodies block it.
    pub progress: f64,
    /// Number of substeps that this step was split into; 0 if it was not.
    pub substeps: usize,
    /// Stability of the step, if the integrator has estimated it.
    pub stability: Option<Stability>,
    /// Time spent on the assembly of forces and matrices.
    pub assembling: Duration,
    /// Time spent in the linear solver.
    pub solving: Duration,
}

impl Default for StepInfo {
    fn default() -> Self {
        Self {
            newton_iterations: 0,
            shortened: 0,
            limited: 0,
            linear_iterations: 0,
            factorizations: 0,
            solve: SolveInfo::default(),
            residual: 0.0,
            behind: 0.0,
            progress: 1.0,
            substeps: 0,
            stability: None,
            assembling: Duration::ZERO,
            solving: Duration::ZERO,
        }
    }
}

impl StepInfo {
    /// Returns true if bodies in contact have blocked a prescribed motion.
    pub fn is_blocked(&self) -> bool {
        self.behind > 0.0 || self.progress < 1.0
    }

    /// Returns the sum of the statistics of this step and another. The last linear solve is that of the other.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            newton_iterations: self.newton_iterations + other.newton_iterations,
            shortened: self.shortened + other.shortened,
            limited: self.limited + other.limited,
            linear_iterations: self.linear_iterations + other.linear_iterations,
            factorizations: self.factorizations + other.factorizations,
            solve: other.solve,
            residual: self.residual.max(other.residual),
            behind: other.behind,
            progress: other.progress,
            substeps: self.substeps + other.substeps,
            stability: other.stability.or(self.stability),
            assembling: self.assembling + other.assembling,
            solving: self.solving + other.solving,
        }
    }

    pub(super) fn count(&mut self, solve: SolveInfo) {
        self.linear_iterations += solve.iterations;
        self.factorizations += solve.factorizations;
        self.solve = solve;
    }
}
