//! Springs to movable points.

use numpy::{PyArray1, PyArray2};
use pliant::force::{Handle as Spring, Handles};
use pliant::math::Vec3;
use pliant::system::State;
use pliant_scene::scene::quantity::dimension;
use pyo3::prelude::*;

use crate::arrays::{Numbers, frozen, index_list, into_list, vector_rows};
use crate::errors::{Kind, OrRaise};
use crate::fixed::targets;
use crate::quantity::Amount;
use crate::simulation::{Simulation, check_coefficient};

/// Springs from vertices to movable points. Created by :meth:`Simulation.handle`.
///
/// >>> mesh = pliant.Mesh.ball(0.1, across=4)
/// >>> model = pliant.Model(mesh, pliant.materials.stable_neo_hookean(young=1e5, poisson=0.4, density=1000))
/// >>> sim = pliant.Simulation(model, pliant.integrators.linearized_backward_euler(dt=1e-2))
/// >>> hand = sim.handle([0, 1, 2], stiffness=100)
/// >>> hand.move((0.1, 0, 0))
/// >>> hand.force.round(9)
/// array([10.,  0.,  0.])
/// >>> sim.run(0.1)
/// 10
/// >>> bool(sim.positions[:, 0].mean() > 0.01)
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Handle {
    pub simulation: Py<Simulation>,
    pub number: u64,
}

#[pymethods]
impl Handle {
    /// Attached vertices.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(index_list(py, &self.list(py)?))
    }

    /// Movable ends of the springs, in m, ``(k, 3)``; assigned as a whole.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let targets = self.springs(py)?.iter().map(|spring| spring.target).collect::<Vec<_>>();
        frozen(vector_rows(py, &targets))
    }

    #[setter]
    fn set_targets(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let count = self.list(py)?.len();
        let targets = targets(value, count)?;
        self.change(py, |spring, n| spring.target = targets[n])
    }

    /// Translates all movable ends, in m.
    fn r#move(&self, py: Python<'_>, by: &Bound<'_, PyAny>) -> PyResult<()> {
        let by = Numbers::vector(by, "by")?;
        self.change(py, |spring, _| spring.target += by)
    }

    /// Total stiffness of the springs, in N/m.
    #[getter]
    fn stiffness(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.springs(py)?.iter().map(|spring| spring.stiffness).sum())
    }

    #[setter]
    fn set_stiffness(&self, py: Python<'_>, value: Amount<dimension::Stiffness>) -> PyResult<()> {
        let value = value.si;
        check_coefficient("stiffness", value)?;
        let count = self.list(py)?.len() as f64;
        self.change(py, |spring, _| spring.stiffness = value / count)
    }

    /// Total damping of the springs, in N·s/m.
    #[getter]
    fn damping(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.springs(py)?.iter().map(|spring| spring.damping).sum())
    }

    #[setter]
    fn set_damping(&self, py: Python<'_>, value: Amount<dimension::Viscosity>) -> PyResult<()> {
        let value = value.si;
        check_coefficient("damping", value)?;
        let count = self.list(py)?.len() as f64;
        self.change(py, |spring, _| spring.damping = value / count)
    }

    /// Current total force of the springs on the body, in N, without damping.
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let simulation = self.simulation.get();
        simulation.push(py)?;
        let springs = self.springs(py)?;
        let pull = |spring: &Spring, state: &State| {
            let vertex = spring.point[0].0 as usize;
            spring.stiffness * (spring.target - simulation.rest[vertex] - Vec3::from_slice(&state.q[3 * vertex..]))
        };
        let force = simulation.running.work(py, |running| {
            let state = running.inner.state();
            springs.iter().map(|spring| pull(spring, state)).sum::<Vec3>()
        })?;
        Ok(into_list(py, force.to_array().to_vec()))
    }

    /// Removes the springs.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        let released = self.simulation.get().running.look(py, |running| {
            let range = running.springs(self.number).ok_or("the handle was released")?;
            let handles = running.inner.model_mut().forces_mut_of::<Handles>().next().expect("handles");
            range.clone().try_for_each(|_| handles.remove(range.start).map(drop)).map_err(|error| error.to_string())?;
            running.handles.retain(|handle| handle.number != self.number);
            Ok::<_, String>(())
        });
        released?.or_raise(Kind::Model)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let count = self.find(py)?.map(|vertices| vertices.len());
        Ok(count.map_or("<pliant.Handle, released>".into(), |count| format!("<pliant.Handle at {count} vertices>")))
    }
}

impl Handle {
    /// Returns the vertices, or `None` if the handle was released.
    fn find(&self, py: Python<'_>) -> PyResult<Option<Vec<u32>>> {
        self.simulation.get().running.look(py, |running| {
            let group = running.handles.iter().find(|group| group.number == self.number);
            group.map(|group| group.vertices.clone())
        })
    }

    fn list(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.find(py)?.ok_or("the handle was released").or_raise(Kind::Model)
    }

    /// Returns the springs.
    fn springs(&self, py: Python<'_>) -> PyResult<Vec<Spring>> {
        let springs = self.simulation.get().running.look(py, |running| {
            let range = running.springs(self.number).ok_or("the handle was released")?;
            let handles = running.inner.forces_mut_of::<Handles>().swap_remove(0);
            Ok::<_, String>(handles.list()[range].to_vec())
        });
        springs?.or_raise(Kind::Model)
    }

    /// Changes all springs, or none if one change is invalid.
    fn change(&self, py: Python<'_>, change: impl Fn(&mut Spring, usize) + Sync) -> PyResult<()> {
        let changed = self.simulation.get().running.look(py, |running| {
            let range = running.springs(self.number).ok_or("the handle was released")?;
            let handles = running.inner.forces_mut_of::<Handles>().swap_remove(0);
            let before = handles.list()[range.clone()].to_vec();
            for (n, number) in range.clone().enumerate() {
                let mut spring = before[n].clone();
                change(&mut spring, n);
                if let Err(error) = handles.replace(number, spring) {
                    for (number, old) in range.zip(before) {
                        handles.replace(number, old).map_err(|error| error.to_string())?;
                    }
                    return Err(error.to_string());
                }
            }
            Ok::<_, String>(())
        });
        changed?.or_raise(Kind::Model)
    }
}
