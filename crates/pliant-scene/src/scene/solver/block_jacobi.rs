//! Block Jacobi.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cg, SolverContext, SolverOptions};
use crate::scene::SceneError;
use pliant::solver::{self, LinearSolver, Operator};

/// Conjugate gradients preconditioned by the inverses of the diagonal blocks.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// solver = { block-jacobi = { tolerance = 1e-8, iterations = 20000 } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BlockJacobi(pub Cg);

impl SolverOptions for BlockJacobi {
    fn build(&self, context: SolverContext<'_>) -> Result<Box<dyn LinearSolver<Operator>>, SceneError> {
        Ok(Box::new(solver::BlockJacobi::new(self.0.params(context)?)))
    }
}
