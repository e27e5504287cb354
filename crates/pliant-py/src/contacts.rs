//! Contacts of a simulation.

use numpy::{PyArray1, PyArray2};
use pliant::contact::PointContact;
use pliant::math::Vec3;
use pyo3::prelude::*;

use crate::arrays::{into_list, into_table, vector_rows};
use crate::renamed;

/// Contacts between bodies and obstacles at one time, one row per contact.
///
/// A surface that rests on another has several contacts per vertex, with the triangles and edges around it.
///
/// >>> ground = pliant.Obstacle.plane(name="ground")
/// >>> cube = pliant.Mesh.box((0.1, 0.1, 0.1), (2, 2, 2)).translated((0, 0.001, 0))
/// >>> rubber = pliant.materials.neo_hookean(young="100 kPa", poisson=0.3, density=1000)
/// >>> model = pliant.Model(cube, rubber, obstacles=ground, contact=True)
/// >>> sim = pliant.Simulation(model, dt="50 ms", gravity=(0, -9.81, 0))
/// >>> steps = sim.run("3 s")
/// >>> contacts = sim.contacts
/// >>> contacts
/// <pliant.Contacts: 9 between body, ground>
/// >>> contacts.forces.sum(axis=0).round(2) + 0
/// array([0.  , 9.81, 0.  ])
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Contacts {
    names: Vec<String>,
    points: Vec<PointContact>,
}

impl Contacts {
    /// Creates contacts between bodies and obstacles with these names.
    pub fn new(names: Vec<String>, points: Vec<PointContact>) -> Self {
        Self { names, points }
    }

    fn rows<'py>(&self, py: Python<'py>, of: fn(&PointContact) -> Vec3) -> Bound<'py, PyArray2<f64>> {
        vector_rows(py, &self.points.iter().map(of).collect::<Vec<_>>())
    }
}

#[pymethods]
impl Contacts {
    /// Names of all bodies and obstacles that may be in contact.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Indices into :attr:`names` of the two bodies or obstacles of each contact, ``(n, 2)``, the smaller first. Both
    /// are the same if a body is in contact with itself.
    #[getter]
    fn bodies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        into_table(py, self.points.iter().flat_map(|contact| contact.bodies.map(|body| body as i64)).collect(), 2)
    }

    /// Points of the first bodies that are nearest to the second ones, in m, ``(n, 3)``.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.rows(py, |contact| contact.point)
    }

    /// Unit normals that point from the second bodies to the first ones, ``(n, 3)``.
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.rows(py, |contact| contact.normal)
    }

    /// Gaps between the surfaces, in m, ``(n,)``.
    #[getter]
    fn gaps<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        into_list(py, self.points.iter().map(|contact| contact.gap).collect())
    }

    /// Forces on the first bodies by the second ones, with friction, in N, ``(n, 3)``.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.rows(py, |contact| contact.force)
    }

    fn __len__(&self) -> usize {
        self.points.len()
    }

    fn __repr__(&self) -> String {
        let mut met = vec![false; self.names.len()];
        self.points.iter().flat_map(|contact| contact.bodies).for_each(|body| met[body] = true);
        let names: Vec<&str> =
            self.names.iter().zip(met).filter(|(_, is_met)| *is_met).map(|(name, _)| name.as_str()).collect();
        let between = if names.is_empty() { String::new() } else { format!(" between {}", names.join(", ")) };
        format!("<pliant.Contacts: {}{between}>", self.points.len())
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        Err(renamed::no_attribute("Contacts", name))
    }
}
