//! Incomplete Cholesky.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cg, SolverContext, SolverOptions};
use crate::scene::SceneError;
use pliant::solver::{self, LinearSolver, Operator};

/// Conjugate gradients preconditioned by an incomplete Cholesky factor.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// solver = { incomplete-cholesky = { tolerance = 1e-8 } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IncompleteCholesky(pub Cg);

impl SolverOptions for IncompleteCholesky {
    fn build(&self, context: SolverContext<'_>) -> Result<Box<dyn LinearSolver<Operator>>, SceneError> {
        Ok(Box::new(solver::IncompleteCholesky::new(self.0.params(context)?)))
    }
}
