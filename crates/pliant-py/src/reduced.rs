//! Reduced models.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2, PyArrayDyn};
use pliant::reduced::Reduction;
use pliant::system::State;
use pyo3::prelude::*;

use crate::arrays::{Numbers, into_list, into_rows, into_shape, into_table};
use crate::work::{Shared, work};

/// A model that moves in a few directions, ``u = U q``: thousands of steps a second. Made by :meth:`Model.reduce`.
///
/// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
/// >>> model = pliant.Model(mesh, pliant.materials.stvk(young=1e6, poisson=0.3, density=1000), fixed="start")
/// >>> reduced = model.reduce(10)
/// >>> reduced
/// <pliant.ReducedModel in 10 directions, forces by polynomial>
/// >>> sim = pliant.Simulation(reduced, pliant.integrators.newmark(dt=1e-3), gravity=(0, -9.81, 0))
/// >>> sim.run(0.05)
/// 50
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct ReducedModel {
    /// With memory to compute in.
    inner: Shared<pliant::reduced::ReducedModel>,
    reduction: Reduction,
    vertex_count: usize,
}

#[pymethods]
impl ReducedModel {
    /// How many directions there are.
    #[getter]
    fn size(&self) -> usize {
        self.reduction.basis().size()
    }

    /// The directions, ``(r, n, 3)``; orthonormal with the mass.
    #[getter]
    fn basis<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDyn<f64>> {
        let numbers = self.reduction.basis().columns().iter().flatten().copied().collect();
        into_shape(py, numbers, &[self.size(), self.vertex_count, 3])
    }

    /// The frequency of each direction at rest, in Hz.
    #[getter]
    fn frequencies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        into_list(py, self.reduction.omega().iter().map(|omega| omega / std::f64::consts::TAU).collect())
    }

    /// How elastic forces are worked out: ``linear``, ``polynomial``, ``cubature`` or ``projection``.
    #[getter]
    fn forces(&self) -> &'static str {
        self.reduction.elasticity().name()
    }

    /// Whether the body is free, so that it moves as a whole beside its deformation.
    #[getter]
    fn is_free(&self) -> bool {
        self.reduction.is_free()
    }

    /// The displacements ``(n, 3)`` of coordinates ``(r,)``.
    fn expand<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let q = Numbers::list_of(q, "q", self.size())?;
        let q = q.flat();
        Ok(into_rows(py, work(py, || self.reduction.basis().expand(q))))
    }

    /// The coordinates ``(r,)`` of the displacements that are nearest to ``u``, measured with the mass.
    fn project<'py>(&self, py: Python<'py>, u: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let u = Numbers::rows_of(u, "u", self.vertex_count, "vertices")?;
        let u = u.flat();
        Ok(into_list(py, self.inner.work(py, |inner| inner.basis().project(inner.model().mass(), u))?))
    }

    /// The elastic energy at coordinates ``(r,)``, in J.
    fn energy(&self, py: Python<'_>, q: &Bound<'_, PyAny>) -> PyResult<f64> {
        let q = Numbers::list_of(q, "q", self.size())?;
        let q = q.flat();
        self.inner.work(py, |inner| inner.internal_energy(q))
    }

    /// The gradient of the energy, ``(r,)``.
    fn internal_force<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let q = Numbers::list_of(q, "q", self.size())?;
        let (q, mut force) = (q.flat(), vec![0.0; self.size()]);
        self.inner.work(py, |inner| inner.internal_force(q, &mut force))?;
        Ok(into_list(py, force))
    }

    /// The second derivative of the energy, ``(r, r)``.
    fn stiffness<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let q = Numbers::list_of(q, "q", self.size())?;
        let q = q.flat();
        // It is symmetric: columns are rows.
        let stiffness = self.inner.work(py, |inner| inner.internal_stiffness(q))?;
        Ok(into_table(py, stiffness.values().to_vec(), stiffness.size()))
    }

    /// Write it to a file, for :meth:`Model.read_reduced` and for scenes.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = work(py, || self.reduction.write(&pliant::io::Disk, &path));
        written.map_err(|error| crate::errors::Kind::File.error(error))
    }

    fn __repr__(&self) -> String {
        format!("<pliant.ReducedModel in {} directions, forces by {}>", self.size(), self.forces())
    }
}

impl ReducedModel {
    pub fn new(model: pliant::reduced::ReducedModel, reduction: Reduction) -> Self {
        let vertex_count = model.model().vertex_count();
        Self { inner: Shared::new(model), reduction, vertex_count }
    }

    /// A copy to simulate.
    pub fn copy(&self, py: Python<'_>) -> PyResult<pliant::reduced::ReducedModel> {
        self.inner.work(py, |inner| inner.clone())
    }

    /// At rest.
    pub fn rest_state(&self) -> State {
        State::new(3 * self.vertex_count)
    }
}
