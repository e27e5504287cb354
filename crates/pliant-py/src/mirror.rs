//! Arrays that show numbers of a simulation, and through which they can be set.
//!
//! An array owns its memory, so that it can outlive the simulation and nothing that Python does with it can hurt the library. Numbers go from the simulation
//! into the array after steps, and those that were changed in the array go back before anything uses them. Every array that Python is given is a view of the one
//! that is kept here, and sees the same numbers.

use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arrays::into_rows;

/// Numbers, three for each vertex, that Python may read and write.
#[derive(Debug, Default)]
pub struct Mirror {
    array: Option<Py<PyArray2<f64>>>,
    /// Whether the array shows the numbers as they are, so that a difference is a change made by Python.
    is_fresh: bool,
}

impl Mirror {
    /// Whether Python may have changed numbers.
    pub fn may_have_changes(&self) -> bool {
        self.array.is_some() && self.is_fresh
    }

    /// Numbers that Python has changed are at `changed`'s first argument; its second is the new number.
    pub fn take_changes(
        &self,
        py: Python<'_>,
        current: impl Fn(usize) -> f64,
        mut changed: impl FnMut(usize, f64),
    ) -> PyResult<()> {
        let Some(array) = self.array.as_ref().filter(|_| self.is_fresh) else { return Ok(()) };
        let numbers = array.bind(py).try_readonly().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        for (i, number) in numbers.as_slice().expect("an array of our own").iter().enumerate() {
            if number.to_bits() != current(i).to_bits() {
                changed(i, *number);
            }
        }
        Ok(())
    }

    /// Numbers are about to change in the simulation.
    pub fn forget(&mut self) {
        self.is_fresh = false;
    }

    /// Numbers may have changed in the simulation. Arrays that someone holds show it at once, others when they are asked for.
    pub fn refresh(&mut self, py: Python<'_>, current: impl Fn(usize) -> f64) -> PyResult<()> {
        self.is_fresh = false;
        if self.is_seen(py) { self.fill(py, current) } else { Ok(()) }
    }

    /// Whether Python may have a view. Who cannot be asked is taken to have one.
    pub fn is_seen(&self, py: Python<'_>) -> bool {
        let Some(array) = &self.array else { return false };
        let count = || py.import("sys")?.call_method1("getrefcount", (array,))?.extract::<usize>();
        // The one that is kept here, and that of the call.
        count().map_or(true, |count| count > 2)
    }

    /// An array that shows the numbers, and through which they can be set.
    pub fn view<'py>(
        &mut self,
        py: Python<'py>,
        vertices: usize,
        current: impl Fn(usize) -> f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = self.array.get_or_insert_with(|| PyArray2::zeros(py, [vertices, 3], false).unbind()).clone_ref(py);
        if !self.is_fresh {
            self.fill(py, current)?;
        }
        // Not the array itself: Python may change the shape of what it is given.
        array.bind(py).call_method0("view")
    }

    /// Write into the array as Python does, after a [`view`](Self::view).
    pub fn write(&mut self, py: Python<'_>, numbers: Vec<f64>) -> PyResult<()> {
        self.array.as_ref().map_or(Ok(()), |array| into_rows(py, numbers).copy_to(array.bind(py)))
    }

    fn fill(&mut self, py: Python<'_>, current: impl Fn(usize) -> f64) -> PyResult<()> {
        let Some(array) = &self.array else { return Ok(()) };
        let numbers: Vec<f64> = (0..array.bind(py).len()).map(current).collect();
        // As NumPy copies: another thread may be reading a view.
        into_rows(py, numbers).copy_to(array.bind(py))?;
        self.is_fresh = true;
        Ok(())
    }
}
