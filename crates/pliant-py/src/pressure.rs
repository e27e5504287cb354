//! Pressures of a simulation that can be changed while it runs.

use numpy::PyArray1;
use pliant::force::{self, Conditions, Force};
use pliant::math::Vec3;
use pliant_scene::scene::quantity::dimension;
use pyo3::prelude::*;

use crate::arrays::into_list;
use crate::errors::{Kind, OrRaise};
use crate::quantity::Amount;
use crate::simulation::Simulation;

/// Follower pressure on faces that can be changed while the simulation runs. See :attr:`Simulation.pressures`.
///
/// >>> mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2), elements="hex")
/// >>> model = pliant.Model(mesh, pliant.materials.linear(young="1 MPa", poisson=0.3), fixed="y-min")
/// >>> sim = pliant.Simulation(model, pliant.integrators.static(dt=1), pressure={"y-max": 0})
/// >>> load, = sim.pressures
/// >>> load.pressure = "2 kPa"
/// >>> load
/// <pliant.Pressure of 2000 Pa>
/// >>> load.force.round(9)
/// array([    0., -2000.,     0.])
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Pressure {
    pub simulation: Py<Simulation>,
    /// Index among the pressures of the model, which are never removed.
    pub number: usize,
}

#[pymethods]
impl Pressure {
    /// Pressure, in Pa; positive values push onto the faces. Assigned without the factor of the schedule, and read with
    /// it.
    #[getter]
    fn pressure(&self, py: Python<'_>) -> PyResult<f64> {
        self.look(py, |force, conditions| force.pressure(conditions))
    }

    #[setter]
    fn set_pressure(&self, py: Python<'_>, value: Amount<dimension::Pressure>) -> PyResult<()> {
        self.look(py, |force, _| force.set_pressure(value.si))?.or_raise(Kind::Model)
    }

    /// Total force on the body in its current configuration, in N, ``(3,)``.
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let simulation = self.simulation.get();
        simulation.push(py)?;
        let total = simulation.running.work(py, |running| {
            let u = running.inner.state().q.clone();
            let mut gradient = vec![0.0; u.len()];
            let conditions = Conditions::at(running.inner.time());
            let force = running.inner.forces_mut_of::<force::Pressure>().swap_remove(self.number);
            force.add_gradient(&u, &conditions, &mut gradient);
            gradient.chunks_exact(3).map(|row| -Vec3::from_slice(row)).sum::<Vec3>()
        })?;
        Ok(into_list(py, total.to_array().to_vec()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<pliant.Pressure of {} Pa>", self.pressure(py)?))
    }
}

impl Pressure {
    /// Calls `look` with the force, and with the conditions at the time of the simulation.
    fn look<T: Send>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&mut force::Pressure, &Conditions<'_>) -> T + Send,
    ) -> PyResult<T> {
        self.simulation.get().running.look(py, |running| {
            let conditions = Conditions::at(running.inner.time());
            look(running.inner.forces_mut_of::<force::Pressure>().swap_remove(self.number), &conditions)
        })
    }
}
