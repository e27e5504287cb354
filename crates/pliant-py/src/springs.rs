//! Springs between vertices.

use std::sync::Arc;

use pliant::force::{self, PerSpring, SpringCoefficients};
use pliant::math::Vec3;
use pliant_scene::scene::quantity::{Dimension, dimension};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{Numbers, indices, shown};
use crate::errors::{Kind, OrRaise};
use crate::quantity::Amount;

/// Springs between pairs of vertices, with damping along their axis. For ``springs`` of :class:`Model`.
///
/// >>> mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1), elements="hex")
/// >>> bodies = [pliant.Body(mesh, pliant.materials.linear(young=1e6, poisson=0.3), name="low"),
/// ...           pliant.Body(mesh.translated((0, 2, 0)), pliant.materials.linear(young=1e6, poisson=0.3), name="high")]
/// >>> pairs = [(2, 8), (3, 9), (6, 12), (7, 13)]  # from the upper side of one to the lower side of the other
/// >>> model = pliant.Model(bodies, fixed="y-min", springs=pliant.Springs(pairs, "1 kN/m"))
/// >>> model
/// <pliant.Model: 2 bodies, 16 vertices, 2 elements>
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Springs {
    pairs: Vec<[u32; 2]>,
    coefficients: SpringCoefficients,
}

#[pymethods]
impl Springs {
    /// Creates springs between pairs of vertices; coefficients are one number for all springs, or one per spring.
    ///
    /// Args:
    ///     pairs: vertex indices of the model, ``(k, 2)``; bodies are numbered consecutively.
    ///     stiffness: stiffness, in N/m.
    ///     damping: damping along the springs, in N·s/m.
    ///     length: rest length, in m; by default the distance of their ends at rest.
    #[new]
    #[pyo3(signature = (pairs, stiffness, *, damping=None, length=None))]
    fn new(
        pairs: &Bound<'_, PyAny>,
        stiffness: &Bound<'_, PyAny>,
        damping: Option<&Bound<'_, PyAny>>,
        length: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (numbers, shape) = indices(pairs, "pairs", u32::MAX as usize)?;
        if shape.len() != 2 || shape[1] != 2 {
            return Err(PyValueError::new_err(format!("pairs has the shape {}, expected (k, 2)", shown(&shape))));
        }
        let pairs = numbers.as_chunks::<2>().0.to_vec();
        let count = pairs.len();
        let damping = damping.map(|damping| coefficients::<dimension::Viscosity>(damping, "damping", count));
        let coefficients = SpringCoefficients {
            rest_length: length.map(|given| coefficients::<dimension::Length>(given, "length", count)).transpose()?,
            stiffness: coefficients::<dimension::Stiffness>(stiffness, "stiffness", count)?,
            damping: damping.transpose()?.unwrap_or(PerSpring::All(0.0)),
        };
        Ok(Self { pairs, coefficients })
    }

    fn __len__(&self) -> usize {
        self.pairs.len()
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Springs: {}>", self.pairs.len())
    }
}

impl Springs {
    /// Returns the force of the library, between vertices at `rest`.
    pub fn force(&self, rest: &Arc<[Vec3]>) -> PyResult<force::Springs> {
        force::Springs::new(rest.clone(), &self.pairs, &self.coefficients).or_raise(Kind::Model)
    }
}

/// Reads a single coefficient for all springs, or an array with one per spring.
fn coefficients<D: Dimension>(value: &Bound<'_, PyAny>, what: &str, count: usize) -> PyResult<PerSpring> {
    match value.extract::<Amount<D>>() {
        Ok(one) => Ok(PerSpring::All(one.si)),
        Err(error) if error.is_instance_of::<PyValueError>(value.py()) => Err(error),
        Err(_) => Ok(PerSpring::Each(Numbers::list_of(value, what, count)?.flat().to_vec())),
    }
}
