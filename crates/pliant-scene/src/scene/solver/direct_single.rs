//! Factorization in single precision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cg, SolverContext, SolverOptions};
use crate::scene::SceneError;
use pliant::solver::{self, LinearSolver, Operator};

/// Factorization of every matrix in single precision, corrected by conjugate gradients.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// solver = { direct-single = { tolerance = 1e-9 } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DirectSingle(pub Cg);

impl SolverOptions for DirectSingle {
    fn build(&self, context: SolverContext<'_>) -> Result<Box<dyn LinearSolver<Operator>>, SceneError> {
        Ok(Box::new(solver::DirectSingle::new(self.0.params(context)?)))
    }
}
