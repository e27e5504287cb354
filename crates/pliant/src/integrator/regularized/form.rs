//! Interface of the forms of a step's linear system.

use std::fmt::Debug;

use dyn_clone::DynClone;

use super::strain::Strains;
use crate::solver::{NotPositiveDefinite, SymbolicInfo};
use crate::sparse::{BlockMatrix, BlockPattern};

/// Returns the pairs of different vertices of a pattern.
pub(super) fn pairs(pattern: &BlockPattern) -> impl Iterator<Item = [u32; 2]> + '_ {
    let row = |vertex: usize| pattern.columns()[pattern.row(vertex)][1..].iter();
    (0..pattern.node_count()).flat_map(move |vertex| row(vertex).map(move |&other| [vertex as u32, other]))
}

/// Inputs of the systems of a step.
pub(super) struct Step<'a> {
    pub strains: &'a Strains,
    /// Matrix `M̃`, with rows and columns of fixed coordinates replaced by those of a diagonal matrix.
    pub inertia: &'a BlockMatrix,
    pub fixed: &'a [bool],
    pub h: f64,
    pub gamma: f64,
}

impl Step<'_> {
    /// Returns the factor of the compliances.
    pub fn gamma_per_h2(&self) -> f64 {
        self.gamma / (self.h * self.h)
    }
}

/// Solver for `M̃ v − Jᵀμ = b`, `J v + γh⁻²α μ = r` in the free coordinates.
pub(super) trait Solve: Debug + DynClone + Send {
    fn factor(&mut self, step: &Step<'_>) -> Result<(), Breakdown>;

    /// Adds the solution to `v`, where `r` is the right-hand side of the strains. Returns an error estimate: the
    /// residual relative to the right-hand side, or the last correction relative to the solution.
    fn solve(&mut self, step: &Step<'_>, b: &[f64], v: &mut [f64]) -> f64;

    fn info(&self) -> &SymbolicInfo;
}

dyn_clone::clone_trait_object!(Solve);

/// Position at which elimination broke down.
#[derive(Debug, Clone, Copy)]
pub(super) enum Breakdown {
    Vertex(NotPositiveDefinite),
    Tet(usize),
}
