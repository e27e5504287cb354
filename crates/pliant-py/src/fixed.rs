//! Fixed vertices.

use numpy::{PyArray1, PyArray2};
use pliant::math::Vec3;
use pliant::model::{self, FixedId};
use pyo3::prelude::*;

use crate::arrays::{Numbers, frozen, index_list, vector_rows};
use crate::errors::{Kind, OrRaise};
use crate::simulation::Simulation;

/// Fixed vertices whose positions can be prescribed. Created by :meth:`Simulation.fix`.
///
/// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
/// >>> rubber = pliant.materials.stable_neo_hookean(young=1e5, poisson=0.4, density=1000)
/// >>> model = pliant.Model(mesh, rubber, fixed="start")
/// >>> sim = pliant.Simulation(model, pliant.integrators.backward_euler(dt=1e-2))
/// >>> grip = sim.fix("end")
/// >>> for _ in range(5):
/// ...     grip.move((0, 0.01, 0))
/// ...     info = sim.step()
/// >>> bool(np.allclose(sim.positions[grip.vertices], mesh.vertices[grip.vertices] + (0, 0.05, 0)))
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Fixed {
    pub simulation: Py<Simulation>,
    pub id: FixedId,
}

#[pymethods]
impl Fixed {
    /// Fixed vertices.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(index_list(py, &self.constraint(py)?.vertices))
    }

    /// Prescribed positions from the next step on, in m, ``(k, 3)``; assigned as a whole.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        frozen(vector_rows(py, &self.places(&self.constraint(py)?)))
    }

    #[setter]
    fn set_targets(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let fixed = self.constraint(py)?;
        let targets = targets(value, fixed.vertices.len())?;
        self.put(py, &fixed, &targets)
    }

    /// Translates all prescribed positions, in m.
    fn r#move(&self, py: Python<'_>, by: &Bound<'_, PyAny>) -> PyResult<()> {
        let by = Numbers::vector(by, "by")?;
        let fixed = self.constraint(py)?;
        let moved: Vec<Vec3> = self.places(&fixed).into_iter().map(|place| place + by).collect();
        self.put(py, &fixed, &moved)
    }

    /// Releases the vertices. Vertices that another :class:`Fixed` includes stay fixed.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |model| model.remove_fixed(self.id).map(drop))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let count = self.find(py)?.map(|fixed| fixed.vertices.len());
        Ok(count.map_or("<pliant.Fixed, released>".into(), |count| format!("<pliant.Fixed of {count} vertices>")))
    }
}

impl Fixed {
    /// Returns the constraint, or `None` after its release.
    fn find(&self, py: Python<'_>) -> PyResult<Option<model::Fixed>> {
        self.simulation.get().running.look(py, |running| {
            let model = running.inner.model();
            let index = model.fixed_ids().iter().position(|id| *id == self.id);
            index.map(|index| model.fixed()[index].clone())
        })
    }

    /// Returns the constraint.
    fn constraint(&self, py: Python<'_>) -> PyResult<model::Fixed> {
        self.find(py)?.ok_or("the constraint was released").or_raise(Kind::Model)
    }

    /// Returns the prescribed positions of its vertices.
    fn places(&self, fixed: &model::Fixed) -> Vec<Vec3> {
        let rest = &self.simulation.get().rest;
        let offset = |n: usize| fixed.offsets.get(n).copied().unwrap_or(Vec3::ZERO);
        fixed.vertices.iter().enumerate().map(|(n, vertex)| rest[*vertex as usize] + offset(n)).collect()
    }

    fn put(&self, py: Python<'_>, fixed: &model::Fixed, targets: &[Vec3]) -> PyResult<()> {
        let rest = &self.simulation.get().rest;
        let offsets =
            fixed.vertices.iter().zip(targets).map(|(&vertex, &target)| target - rest[vertex as usize]).collect();
        self.change(py, |model| model.move_fixed(self.id, offsets))
    }

    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut model::Model) -> Result<(), model::ModelError> + Send,
    ) -> PyResult<()> {
        let changed = self.simulation.get().running.look(py, |running| {
            running.check_whole()?;
            change(running.inner.model_mut()).map_err(|error| error.to_string())
        });
        changed?.or_raise(Kind::Model)
    }
}

/// Reads the target positions: one row per vertex, or one for all.
pub fn targets(value: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<Vec3>> {
    let numbers = Numbers::any(value, "targets")?;
    match *numbers.shape() {
        [3] => Ok(vec![Vec3::from_slice(numbers.flat()); count]),
        [rows, 3] if rows == count => Ok(numbers.vectors().collect()),
        _ => Err(numbers.shape_error("targets", &format!("({count}, 3), one row for each of the {count} vertices"))),
    }
}
