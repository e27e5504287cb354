//! Automatic choice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cg, SolverContext, SolverOptions};
use crate::scene::SceneError;
use pliant::solver::{self, AutoParams, LinearSolver, Operator};

/// Automatic choice for each matrix.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// solver = { auto = { tolerance = 1e-9 } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Auto(pub Cg);

impl SolverOptions for Auto {
    fn build(&self, context: SolverContext<'_>) -> Result<Box<dyn LinearSolver<Operator>>, SceneError> {
        let params = AutoParams { cg: self.0.params(context)?, ..AutoParams::default() };
        Ok(Box::new(solver::Auto::new(params)))
    }
}
