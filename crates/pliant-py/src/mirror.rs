//! Arrays that mirror quantities of a simulation, and through which they can be set.
//!
//! An array owns its memory, so it can outlive the simulation and Python cannot corrupt the library through it. Numbers
//! are copied into the array after steps. Numbers that Python has changed are copied back before they are used. All
//! arrays that Python receives are views of the array kept here.

use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arrays::into_rows;

/// Array with three numbers per vertex that Python may read and write.
#[derive(Debug, Default)]
pub struct Mirror {
    array: Option<Py<PyArray2<f64>>>,
    /// True if the array is up to date, so that a difference is a change made by Python.
    is_fresh: bool,
}

impl Mirror {
    /// Returns true if Python may have changed numbers.
    pub fn may_have_changes(&self) -> bool {
        self.array.is_some() && self.is_fresh
    }

    /// Calls `changed` with the index and the new value of each number that Python has changed.
    pub fn take_changes(
        &self,
        py: Python<'_>,
        current: impl Fn(usize) -> f64,
        mut changed: impl FnMut(usize, f64),
    ) -> PyResult<()> {
        let Some(array) = self.array.as_ref().filter(|_| self.is_fresh) else { return Ok(()) };
        let numbers = array.bind(py).try_readonly().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        for (i, number) in numbers.as_slice().expect("a private array").iter().enumerate() {
            if number.to_bits() != current(i).to_bits() {
                changed(i, *number);
            }
        }
        Ok(())
    }

    /// Marks the array as outdated, before the simulation changes the numbers.
    pub fn forget(&mut self) {
        self.is_fresh = false;
    }

    /// Updates the array after the simulation may have changed the numbers: at once if Python has a view, otherwise on
    /// demand.
    pub fn refresh(&mut self, py: Python<'_>, current: impl Fn(usize) -> f64) -> PyResult<()> {
        self.is_fresh = false;
        if self.is_seen(py) { self.fill(py, current) } else { Ok(()) }
    }

    /// Returns true if Python may have a view, and also if this cannot be determined.
    pub fn is_seen(&self, py: Python<'_>) -> bool {
        let Some(array) = &self.array else { return false };
        let count = || py.import("sys")?.call_method1("getrefcount", (array,))?.extract::<usize>();
        // References: the one kept here, and that of the call.
        count().map_or(true, |count| count > 2)
    }

    /// Returns an array that shows the numbers, and through which they can be set.
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
        // A view, since Python may change the shape of the array that it is given.
        array.bind(py).call_method0("view")
    }

    /// Writes into the array as Python does, after a [`view`](Self::view).
    pub fn write(&mut self, py: Python<'_>, numbers: Vec<f64>) -> PyResult<()> {
        self.array.as_ref().map_or(Ok(()), |array| into_rows(py, numbers).copy_to(array.bind(py)))
    }

    fn fill(&mut self, py: Python<'_>, current: impl Fn(usize) -> f64) -> PyResult<()> {
        let Some(array) = &self.array else { return Ok(()) };
        let numbers: Vec<f64> = (0..array.bind(py).len()).map(current).collect();
        // Copied by NumPy, since another thread may be reading a view.
        into_rows(py, numbers).copy_to(array.bind(py))?;
        self.is_fresh = true;
        Ok(())
    }
}
