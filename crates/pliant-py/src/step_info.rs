//! What steps took.

use pyo3::prelude::*;

/// What steps took.
#[pyclass(frozen, get_all, module = "pliant")]
#[derive(Debug)]
pub struct StepInfo {
    /// How often forces were linearised and a system solved.
    newton_iterations: usize,
    /// Iterations of the linear solver.
    linear_iterations: usize,
    /// Factorisations of matrices.
    factorizations: usize,
    /// Into how many steps failing ones were split; 0 if none failed.
    substeps: usize,
    /// What is left of the balance of forces, as a part of the forces, where the scheme iterates.
    residual: f64,
    /// How the last linear system was solved.
    method: String,
    /// Seconds spent on forces and matrices.
    assembling: f64,
    /// Seconds spent in the linear solver.
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
