//! Linear solvers.

use pliant::solver::{LinearSolver, Operator};
use pliant_scene::scene::{SolverChoice, SolverContext, Source};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::choices::choose;
use crate::errors::{Kind, OrRaise};

/// Linear solver with its options. See :mod:`pliant.solvers` for one function per solver.
///
/// >>> pliant.Solver("stale-factor", tolerance=1e-8)
/// <pliant.Solver stale-factor>
/// >>> pliant.Solver("stale-factor", tolerance=2)
/// Traceback (most recent call last):
///     ...
/// pliant.errors.SceneError: the tolerance is 2, expected a number above 0 and below 1
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Solver {
    pub choice: SolverChoice,
}

#[pymethods]
impl Solver {
    /// Creates a solver by its name in scene files. Options that the solver does not have are errors.
    #[new]
    #[pyo3(signature = (solver, **options), text_signature = "(solver, **options)")]
    fn new(solver: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let choice = choose(solver, options)?;
        build(&choice)?;
        Ok(Self { choice })
    }

    /// Name of the solver.
    #[getter]
    fn solver(&self) -> &str {
        self.choice.name()
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Solver {}>", self.choice.name())
    }
}

/// Returns a solver given by its name or as a [`Solver`].
pub fn chosen(solver: &Bound<'_, PyAny>) -> PyResult<SolverChoice> {
    if let Ok(solver) = solver.cast::<Solver>() {
        return Ok(solver.get().choice.clone());
    }
    match solver.extract::<String>() {
        Ok(name) => choose(&name, None),
        Err(_) => Err(PyTypeError::new_err("solver: expected the name of a solver, or a pliant.Solver")),
    }
}

/// Creates the solver.
pub fn build(choice: &SolverChoice) -> PyResult<Box<dyn LinearSolver<Operator>>> {
    let context = SolverContext { source: &Source::none(), span: None };
    choice.build(context).map_err(|error| error.message).or_raise(Kind::Scene)
}
