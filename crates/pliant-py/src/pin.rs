//! Vertices that are held.

use numpy::{PyArray1, PyArray2};
use pliant::math::Vec3;
use pliant::model::{Hold, HoldId};
use pyo3::prelude::*;

use crate::arrays::{Numbers, frozen, index_list, vector_rows};
use crate::errors::{Kind, OrRaise};
use crate::simulation::Simulation;

/// Vertices that are held, and can be moved. Made by :meth:`Simulation.pin`.
///
/// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
/// >>> model = pliant.Model(mesh, pliant.materials.stable_neo_hookean(young=1e5, poisson=0.4, density=1000), fixed="start")
/// >>> sim = pliant.Simulation(model, pliant.integrators.backward_euler(dt=1e-2))
/// >>> grip = sim.pin("end")
/// >>> for _ in range(5):
/// ...     grip.move((0, 0.01, 0))
/// ...     info = sim.step()
/// >>> bool(np.allclose(sim.positions[grip.vertices], mesh.vertices[grip.vertices] + (0, 0.05, 0)))
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Pin {
    pub simulation: Py<Simulation>,
    pub id: HoldId,
}

#[pymethods]
impl Pin {
    /// Which vertices.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(index_list(py, &self.hold(py)?.vertices))
    }

    /// Where they are held from the next step on, in m, ``(k, 3)``; to be set as a whole.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        frozen(vector_rows(py, &self.places(&self.hold(py)?)))
    }

    #[setter]
    fn set_targets(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let hold = self.hold(py)?;
        let targets = targets(value, hold.vertices.len())?;
        self.put(py, &hold, &targets)
    }

    /// Move them all by so much, in m.
    fn r#move(&self, py: Python<'_>, by: &Bound<'_, PyAny>) -> PyResult<()> {
        let by = Numbers::vector(by, "by")?;
        let hold = self.hold(py)?;
        let moved: Vec<Vec3> = self.places(&hold).into_iter().map(|place| place + by).collect();
        self.put(py, &hold, &moved)
    }

    /// Let them go; what other pins hold stays held.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |model| model.remove_hold(self.id).map(drop))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let count = self.find(py)?.map(|hold| hold.vertices.len());
        Ok(count.map_or("<pliant.Pin, released>".into(), |count| format!("<pliant.Pin of {count} vertices>")))
    }
}

impl Pin {
    /// The hold, if it is still there.
    fn find(&self, py: Python<'_>) -> PyResult<Option<Hold>> {
        self.simulation.get().running.look(py, |running| {
            let model = running.inner.model();
            let place = model.hold_ids().iter().position(|id| *id == self.id);
            place.map(|place| model.holds()[place].clone())
        })
    }

    fn hold(&self, py: Python<'_>) -> PyResult<Hold> {
        self.find(py)?.ok_or("the pin was released").or_raise(Kind::Model)
    }

    /// Where its vertices are held.
    fn places(&self, hold: &Hold) -> Vec<Vec3> {
        let rest = &self.simulation.get().rest;
        let offset = |n: usize| hold.offsets.get(n).copied().unwrap_or(Vec3::ZERO);
        hold.vertices.iter().enumerate().map(|(n, vertex)| rest[*vertex as usize] + offset(n)).collect()
    }

    fn put(&self, py: Python<'_>, hold: &Hold, targets: &[Vec3]) -> PyResult<()> {
        let rest = &self.simulation.get().rest;
        let offsets =
            hold.vertices.iter().zip(targets).map(|(&vertex, &target)| target - rest[vertex as usize]).collect();
        self.change(py, |model| model.move_hold(self.id, offsets))
    }

    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut pliant::model::Model) -> Result<(), pliant::model::ModelError> + Send,
    ) -> PyResult<()> {
        let changed = self.simulation.get().running.look(py, |running| {
            running.check_whole()?;
            change(running.inner.model_mut()).map_err(|error| error.to_string())
        });
        changed?.or_raise(Kind::Model)
    }
}

/// A target for each vertex: a row for each, or one for all.
pub fn targets(value: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<Vec3>> {
    let numbers = Numbers::any(value, "targets")?;
    match *numbers.shape() {
        [3] => Ok(vec![Vec3::from_slice(numbers.flat()); count]),
        [rows, 3] if rows == count => Ok(numbers.vectors().collect()),
        _ => Err(numbers.shape_error("targets", &format!("({count}, 3), a row for each of the {count} vertices"))),
    }
}
