//! Definition of a linear solver of scenes.

use std::ops::Range;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Auto, SOLVERS};
use crate::registry::{Boxed, Entry, Options, Registered, Registry, Tagged};
use crate::scene::{SceneError, Source};
use pliant::solver::{LinearSolver, Operator};

/// Linear solver of a scene, with its options.
pub type SolverChoice = Tagged<dyn SolverOptions>;

/// Options of a linear solver, which create it.
pub trait SolverOptions: Options {
    /// Creates the solver.
    fn build(&self, context: SolverContext<'_>) -> Result<Box<dyn LinearSolver<Operator>>, SceneError>;
}

/// Location of a linear solver in a scene, for errors.
#[derive(Debug, Clone, Copy)]
pub struct SolverContext<'a> {
    /// Source of the scene.
    pub source: &'a Source,
    /// Location of the solver in the source.
    pub span: Option<&'a Range<usize>>,
}

impl Registered for dyn SolverOptions {
    const KIND: &'static str = "Solver";
    const ABOUT: &'static str = "Linear solver.";

    fn registry() -> &'static Registry<Entry<Self>> {
        &SOLVERS
    }
}

impl<O: SolverOptions + DeserializeOwned + JsonSchema> Boxed<dyn SolverOptions> for O {
    fn boxed(self) -> Box<dyn SolverOptions> {
        Box::new(self)
    }
}

impl Default for SolverChoice {
    fn default() -> Self {
        Self::of(Auto::default())
    }
}
