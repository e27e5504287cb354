//! Measurements of a simulation.

use numpy::PyArray1;
use pliant::math::Vec3;
use pliant::model;
use pyo3::prelude::*;

use crate::arrays::into_list;
use crate::renamed;

/// Energies, momenta, mass and volume of a simulation, in SI units. Vectors are arrays ``(3,)``.
///
/// >>> mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements="hex")
/// >>> model = pliant.Model(mesh, pliant.materials.linear(young=1e6, poisson=0.3, density=1000))
/// >>> sim = pliant.Simulation(model, pliant.integrators.newmark(dt=1e-3), velocities=np.tile((3, 0, 0), (12, 1)))
/// >>> seen = sim.observe()
/// >>> seen.momentum / seen.mass
/// array([3., 0., 0.])
/// >>> seen.angular_momentum.round(6), abs(seen.spin).max() < 1e-9  # about the origin, and about the center of mass
/// (array([    0.,  3000., -3000.]), np.True_)
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Observation {
    pub inner: model::Observation,
}

impl From<&model::Observation> for Observation {
    fn from(seen: &model::Observation) -> Self {
        Self { inner: *seen }
    }
}

#[pymethods]
impl Observation {
    /// Time, in s.
    #[getter]
    fn time(&self) -> f64 {
        self.inner.time
    }

    /// Kinetic energy ``½ vᵀMv``, in J.
    #[getter]
    fn kinetic_energy(&self) -> f64 {
        self.inner.kinetic_energy
    }

    /// Total elastic energy of all bodies, in J.
    #[getter]
    fn elastic_energy(&self) -> f64 {
        self.inner.elastic_energy
    }

    /// Gravitational energy relative to rest, in J.
    #[getter]
    fn gravitational_energy(&self) -> f64 {
        self.inner.gravitational_energy
    }

    /// Energy of external forces, handles, springs and obstacles, in J.
    #[getter]
    fn other_energy(&self) -> f64 {
        self.inner.other_energy
    }

    /// Total energy, in J.
    #[getter]
    fn total_energy(&self) -> f64 {
        self.inner.total_energy()
    }

    /// Total mass, in kg; NaN if a body has no density.
    #[getter]
    fn mass(&self) -> f64 {
        self.inner.mass
    }

    /// Total volume, in m³.
    #[getter]
    fn volume(&self) -> f64 {
        self.inner.volume
    }

    /// Center of mass, in m, ``(3,)``.
    #[getter]
    fn center_of_mass<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.inner.center_of_mass)
    }

    /// Linear momentum, in kg·m/s, ``(3,)``.
    #[getter]
    fn momentum<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.inner.momentum)
    }

    /// Angular momentum about the origin, in kg·m²/s, ``(3,)``.
    #[getter]
    fn angular_momentum<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.inner.angular_momentum)
    }

    /// Angular momentum about the center of mass, in kg·m²/s, ``(3,)``.
    #[getter]
    fn spin<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.inner.spin())
    }

    fn __repr__(&self) -> String {
        let seen = &self.inner;
        format!("<pliant.Observation at {} s: energy {} J, volume {} m³>", seen.time, seen.total_energy(), seen.volume)
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        Err(renamed::no_attribute("Observation", name))
    }
}

fn array(py: Python<'_>, vector: Vec3) -> Bound<'_, PyArray1<f64>> {
    into_list(py, vector.to_array().to_vec())
}
