//! Stale factor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cg, SolverContext, SolverOptions};
use crate::scene::SceneError;
use pliant::solver::{self, LinearSolver, Operator, StaleFactorParams};

/// Conjugate gradients preconditioned by a stale factor, co-rotated with the body.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// solver = { stale-factor = { iterations = 200 } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct StaleFactor(pub Cg);

impl SolverOptions for StaleFactor {
    fn build(&self, context: SolverContext<'_>) -> Result<Box<dyn LinearSolver<Operator>>, SceneError> {
        let params = StaleFactorParams { cg: self.0.params(context)?, ..StaleFactorParams::default() };
        Ok(Box::new(solver::StaleFactor::new(params)))
    }
}
