//! Work of steps.

use pyo3::prelude::*;

/// Work of one or several steps.
#[pyclass(frozen, get_all, module = "pliant")]
#[derive(Debug)]
pub struct StepInfo {
    /// Number of Newton iterations: linearizations with a solve.
    newton_iterations: usize,
    /// Number of iterations of the linear solver.
    linear_iterations: usize,
    /// Number of matrix factorizations.
    factorizations: usize,
    /// Number of substeps that failing steps were split into; 0 if none failed.
    substeps: usize,
    /// Residual relative to the forces, for iterative integrators.
    residual: f64,
    /// Method that solved the last linear system.
    method: String,
    /// Time spent on the assembly of forces and matrices, in s.
    assembling: f64,
    /// Time spent in the linear solver, in s.
    solving: f64,
}

impl From<&pliant::integrator::StepInfo> for StepInfo {
    fn from(info: &pliant::integrator::StepInfo) -> Self {
        Self {
            newton_iterations: info.newton_iterations,
            linear_iterations: info.linear_iterations,
            factorizations: info.factorizations,
            substeps: info.substeps,
            residual: info.residual,
            method: info.solve.method.to_string(),
            assembling: info.assembling.as_secs_f64(),
            solving: info.solving.as_secs_f64(),
        }
    }
}

#[pymethods]
impl StepInfo {
    fn __repr__(&self) -> String {
        format!(
            "<pliant.StepInfo: {} Newton iterations, {} linear iterations, {} factorizations, {}>",
            self.newton_iterations, self.linear_iterations, self.factorizations, self.method
        )
    }
}
