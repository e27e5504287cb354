//! Reduced models.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2, PyArrayDyn};
use pliant::reduced::Reduction;
use pyo3::prelude::*;

use crate::arrays::{Numbers, into_list, into_rows, into_shape, into_table};
use crate::work::{Shared, work};

/// Model with few degrees of freedom, ``u = U q``, for thousands of steps per second. Created by :meth:`Model.reduce`.
///
/// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
/// >>> model = pliant.Model(mesh, pliant.materials.stvk(young=1e6, poisson=0.3, density=1000), fixed="start")
/// >>> reduced = model.reduce(10)
/// >>> reduced
/// <pliant.ReducedModel with 10 basis vectors, forces by polynomial>
/// >>> sim = pliant.Simulation(reduced, pliant.integrators.newmark(dt=1e-3), gravity=(0, -9.81, 0))
/// >>> sim.run(0.05)
/// 50
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct ReducedModel {
    /// Reduced model with its workspace.
    inner: Shared<pliant::reduced::ReducedModel>,
    reduction: Reduction,
    vertex_count: usize,
}

#[pymethods]
impl ReducedModel {
    /// Number of basis vectors.
    #[getter]
    fn size(&self) -> usize {
        self.reduction.basis().size()
    }

    /// Basis vectors, ``(r, n, 3)``, mass-orthonormal.
    #[getter]
    fn basis<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDyn<f64>> {
        let numbers = self.reduction.basis().columns().iter().flatten().copied().collect();
        into_shape(py, numbers, &[self.size(), self.vertex_count, 3])
    }

    /// Natural frequency of each reduced coordinate at rest, in Hz.
    #[getter]
    fn frequencies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        into_list(py, self.reduction.omega().iter().map(|omega| omega / std::f64::consts::TAU).collect())
    }

    /// Evaluation of elastic forces: ``linear``, ``polynomial``, ``cubature`` or ``projection``.
    #[getter]
    fn forces(&self) -> &'static str {
        self.reduction.elasticity().name()
    }

    /// True if the body is unconstrained, so that it has rigid-body motion besides its deformation.
    #[getter]
    fn is_free(&self) -> bool {
        self.reduction.is_free()
    }

    /// Returns the displacements ``(n, 3)`` of reduced coordinates ``(r,)``.
    fn expand<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let q = Numbers::list_of(q, "q", self.size())?;
        let q = q.flat();
        Ok(into_rows(py, work(py, || self.reduction.basis().expand(q))))
    }

    /// Returns the reduced coordinates ``(r,)`` of displacements ``u``, by mass-orthogonal projection.
    fn project<'py>(&self, py: Python<'py>, u: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let u = Numbers::rows_of(u, "u", self.vertex_count, "vertices")?;
        let u = u.flat();
        Ok(into_list(py, self.inner.work(py, |inner| inner.basis().project(inner.model().mass(), u))?))
    }

    /// Returns the elastic energy at reduced coordinates ``(r,)``, in J.
    fn energy(&self, py: Python<'_>, q: &Bound<'_, PyAny>) -> PyResult<f64> {
        let q = Numbers::list_of(q, "q", self.size())?;
        let q = q.flat();
        self.inner.work(py, |inner| inner.internal_energy(q))
    }

    /// Returns the gradient of the energy, ``(r,)``.
    fn internal_force<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let q = Numbers::list_of(q, "q", self.size())?;
        let (q, mut force) = (q.flat(), vec![0.0; self.size()]);
        self.inner.work(py, |inner| inner.internal_force(q, &mut force))?;
        Ok(into_list(py, force))
    }

    /// Returns the Hessian of the energy, ``(r, r)``.
    fn stiffness<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let q = Numbers::list_of(q, "q", self.size())?;
        let q = q.flat();
        // Column-major equals row-major, since the matrix is symmetric.
        let stiffness = self.inner.work(py, |inner| inner.internal_stiffness(q))?;
        Ok(into_table(py, stiffness.values().to_vec(), stiffness.size()))
    }

    /// Writes the reduced model to a file, for :meth:`Model.read_reduced` and for scenes.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = work(py, || self.reduction.write(&pliant::files::Disk, &path));
        written.map_err(|error| crate::errors::Kind::File.error(error))
    }

    fn __repr__(&self) -> String {
        format!("<pliant.ReducedModel with {} basis vectors, forces by {}>", self.size(), self.forces())
    }
}

impl ReducedModel {
    pub fn new(model: pliant::reduced::ReducedModel, reduction: Reduction) -> Self {
        let vertex_count = model.model().node_count();
        Self { inner: Shared::new(model), reduction, vertex_count }
    }

    /// Returns a copy for a simulation.
    pub fn copy(&self, py: Python<'_>) -> PyResult<pliant::reduced::ReducedModel> {
        self.inner.work(py, |inner| inner.clone())
    }
}
