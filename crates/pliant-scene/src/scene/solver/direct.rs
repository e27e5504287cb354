//! Factorization in double precision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SolverContext, SolverOptions};
use crate::scene::SceneError;
use pliant::solver::{self, LinearSolver, Operator};

/// Factorization of every matrix in double precision.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// solver = "direct"
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Direct {}

impl SolverOptions for Direct {
    fn build(&self, _: SolverContext<'_>) -> Result<Box<dyn LinearSolver<Operator>>, SceneError> {
        Ok(Box::new(solver::Direct::default()))
    }
}
