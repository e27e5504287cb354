//! Numbers with units from Python: a number in SI units, or text such as `"1 MPa"`, as in scene files.

use std::marker::PhantomData;

use pliant::math::Vec3;
use pliant_scene::scene::Quantity;
use pliant_scene::scene::quantity::Dimension;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::arrays::Numbers;

/// Number in the SI unit of a dimension, given as a number or as text with a unit.
#[derive(Debug, Clone, Copy)]
pub struct Amount<D> {
    pub si: f64,
    dimension: PhantomData<D>,
}

impl<D> Amount<D> {
    /// Returns the value as a quantity of a scene.
    pub fn quantity(self) -> Quantity<D> {
        Quantity::new(self.si)
    }

    fn new(si: f64) -> Self {
        Self { si, dimension: PhantomData }
    }
}

impl<'a, 'py, D: Dimension> FromPyObject<'a, 'py> for Amount<D> {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            let read = text.to_str()?.parse::<Quantity<D>>();
            return read.map(|read| Self::new(read.si)).map_err(|error| PyValueError::new_err(error.to_string()));
        }
        match value.extract::<f64>() {
            Ok(si) if !value.is_instance_of::<PyBool>() => Ok(Self::new(si)),
            _ => Err(PyTypeError::new_err(format!(
                "expected a number of {}, or text such as \"{}\", found {}",
                D::UNIT,
                D::EXAMPLE,
                value.repr()?
            ))),
        }
    }
}

/// Returns a quantity, or an error that names the argument.
pub fn amount<D: Dimension>(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    value.extract::<Amount<D>>().map(|amount| amount.si).map_err(|error| named(value.py(), error, what))
}

/// Returns three numbers, with or without units.
pub fn vector<D: Dimension>(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec3> {
    let has_text = !value.is_instance_of::<PyString>()
        && value
            .try_iter()
            .is_ok_and(|mut list| list.any(|item| item.is_ok_and(|item| item.is_instance_of::<PyString>())));
    if !has_text {
        return Numbers::vector(value, what);
    }
    let list = value.try_iter()?.map(|item| amount::<D>(&item?, what)).collect::<PyResult<Vec<f64>>>()?;
    match list[..] {
        [x, y, z] => Ok(Vec3::new(x, y, z)),
        _ => Err(PyValueError::new_err(format!("{what} has {} numbers, expected three", list.len()))),
    }
}

/// Prefixes the message of an error with the name of an argument.
fn named(py: Python<'_>, error: PyErr, what: &str) -> PyErr {
    let message = format!("{what}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) { PyTypeError::new_err(message) } else { PyValueError::new_err(message) }
}
