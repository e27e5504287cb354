//! Conversion from and to NumPy arrays.
//!
//! Inputs are used in place if they are float64, C-contiguous and of the right shape, and otherwise copied once into
//! such an array. Outputs take over memory of the library.

use numpy::ndarray::{Array1, Array2, ArrayD, IxDyn};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pliant::math::Vec3;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Reads a non-negative integer.
pub fn count(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value.extract().map_err(|error| count_error(value, error, usize::MAX as u64))
}

/// Reads a non-negative 32-bit integer.
pub fn small_count(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    value.extract().map_err(|error| count_error(value, error, u32::MAX.into()))
}

/// Returns the error of a count that is negative or larger than `max`, and other errors as they are.
fn count_error(value: &Bound<'_, PyAny>, error: PyErr, max: u64) -> PyErr {
    if error.is_instance_of::<PyOverflowError>(value.py()) {
        PyValueError::new_err(format!("expected a whole number from 0 to {max}, found {value}"))
    } else {
        error
    }
}

/// Reads a non-negative integer, or `None`.
pub fn optional_count(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if value.is_none() { Ok(None) } else { count(value).map(Some) }
}

/// Read-only array of numbers from Python.
pub struct Numbers<'py>(PyReadonlyArrayDyn<'py, f64>);

impl<'py> Numbers<'py> {
    /// Reads any array, or a value that NumPy converts to one.
    pub fn any(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Self> {
        if let Ok(array) = value.cast::<PyArrayDyn<f64>>()
            && array.is_c_contiguous()
            && array.is_aligned()
        {
            return Self::borrow(array);
        }
        let py = value.py();
        let numpy = py.import("numpy")?;
        let array = as_array(value, what)?;
        if !"iuf".contains(kind_of(&array)?) {
            let dtype = array.dtype();
            return Err(PyTypeError::new_err(format!("{what} has the dtype {dtype}, expected float64")));
        }
        let floats = numpy.getattr("require")?.call1((array, "float64", "CA"))?;
        Self::borrow(floats.cast::<PyArrayDyn<f64>>()?)
    }

    fn borrow(array: &Bound<'py, PyArrayDyn<f64>>) -> PyResult<Self> {
        array.try_readonly().map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Reads an array of shape `(n, 3)`, or flat with `3 n` numbers.
    pub fn rows_of(value: &Bound<'py, PyAny>, what: &str, n: usize, of: &str) -> PyResult<Self> {
        let numbers = Self::any(value, what)?;
        match *numbers.shape() {
            [rows, 3] if rows == n => Ok(numbers),
            [all] if all == 3 * n => Ok(numbers),
            _ => Err(numbers.shape_error(what, &format!("({n}, 3), one row for each of the {n} {of}"))),
        }
    }

    /// Reads an array with any number of rows of three numbers.
    pub fn rows(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Self> {
        let numbers = Self::any(value, what)?;
        match *numbers.shape() {
            [_, 3] => Ok(numbers),
            _ => Err(numbers.shape_error(what, "(n, 3)")),
        }
    }

    /// Reads a list of `n` numbers.
    pub fn list_of(value: &Bound<'py, PyAny>, what: &str, n: usize) -> PyResult<Self> {
        let numbers = Self::any(value, what)?;
        match *numbers.shape() {
            [count] if count == n => Ok(numbers),
            _ => Err(numbers.shape_error(what, &format!("({n},)"))),
        }
    }

    /// Reads exactly three numbers.
    pub fn vector(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Vec3> {
        Self::list_of(value, what, 3).map(|numbers| Vec3::from_slice(numbers.flat()))
    }

    pub fn shape(&self) -> &[usize] {
        self.0.shape()
    }

    /// Returns all numbers in row-major order.
    pub fn flat(&self) -> &[f64] {
        self.0.as_slice().expect("a C-contiguous array")
    }

    /// Returns an iterator over triples of numbers as vectors.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = Vec3> + '_ {
        self.flat().as_chunks::<3>().0.iter().map(|row| Vec3::from_array(*row))
    }

    pub fn shape_error(&self, what: &str, expected: &str) -> PyErr {
        PyValueError::new_err(format!("{what} has the shape {}, expected {expected}", shown(self.shape())))
    }
}

/// Formats a shape in Python syntax.
pub fn shown(shape: &[usize]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Converts a value to a NumPy array.
pub fn as_array<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = value.py();
    let array = py.import("numpy")?.getattr("asarray")?.call1((value,)).map_err(|error| {
        let wrong = PyValueError::new_err(format!("{what}: expected an array"));
        wrong.set_cause(py, Some(error));
        wrong
    })?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// Returns the kind of NumPy dtype: `f`, `i`, `u`, `b`, `O` …
pub fn kind_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<char> {
    array.dtype().getattr("kind")?.extract()
}

/// Reads integers below `bound`. Returns them with the shape of the array.
pub fn indices(value: &Bound<'_, PyAny>, what: &str, bound: usize) -> PyResult<(Vec<u32>, Vec<usize>)> {
    let py = value.py();
    let array = as_array(value, what)?;
    let shape = array.shape().to_vec();
    let kind = kind_of(&array)?;
    // NumPy converts an empty list to an array of floats.
    if !("iu".contains(kind) || (array.is_empty() && kind == 'f')) {
        let dtype = array.dtype();
        return Err(PyTypeError::new_err(format!("{what} has the dtype {dtype}, expected whole numbers")));
    }
    let wide = py.import("numpy")?.getattr("require")?.call1((&array, "int64", "CA"))?;
    let wide = wide.cast::<PyArrayDyn<i64>>()?.readonly();
    let numbers = wide.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))?;
    if let Some(wrong) = numbers.iter().find(|number| **number < 0 || **number as u64 >= bound as u64) {
        let last = bound.saturating_sub(1);
        return Err(PyValueError::new_err(format!("{what} has the number {wrong}, expected 0 to {last}")));
    }
    Ok((numbers.iter().map(|number| *number as u32).collect(), shape))
}

/// Returns numbers as an array with three columns.
pub fn into_rows(py: Python<'_>, numbers: Vec<f64>) -> Bound<'_, PyArray2<f64>> {
    into_table(py, numbers, 3)
}

/// Returns numbers as an array with the given number of columns.
pub fn into_table<T: Element>(py: Python<'_>, numbers: Vec<T>, columns: usize) -> Bound<'_, PyArray2<T>> {
    let rows = numbers.len() / columns;
    let table = Array2::from_shape_vec((rows, columns), numbers).expect("whole rows");
    PyArray2::from_owned_array(py, table)
}

/// Returns numbers as an array of any shape.
pub fn into_shape<'py, T: Element>(py: Python<'py>, numbers: Vec<T>, shape: &[usize]) -> Bound<'py, PyArrayDyn<T>> {
    let array = ArrayD::from_shape_vec(IxDyn(shape), numbers).expect("as many numbers as the shape has");
    PyArrayDyn::from_owned_array(py, array)
}

/// Returns numbers as a one-dimensional array.
pub fn into_list<T: Element>(py: Python<'_>, numbers: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_owned_array(py, Array1::from_vec(numbers))
}

/// Returns vectors as the rows of an array.
pub fn vector_rows<'py>(py: Python<'py>, vectors: &[Vec3]) -> Bound<'py, PyArray2<f64>> {
    into_rows(py, vectors.iter().flat_map(Vec3::to_array).collect())
}

/// Returns vertex or element indices as an array.
pub fn index_list<'py>(py: Python<'py>, numbers: &[u32]) -> Bound<'py, PyArray1<i64>> {
    into_list(py, numbers.iter().map(|number| i64::from(*number)).collect())
}

/// Returns vertex or element indices as an array with the given number of columns.
pub fn index_rows<'py>(py: Python<'py>, numbers: &[u32], columns: usize) -> Bound<'py, PyArray2<i64>> {
    into_table(py, numbers.iter().map(|number| i64::from(*number)).collect(), columns)
}

/// Makes a shared array read-only.
pub fn frozen<T: Element>(array: Bound<'_, PyArray2<T>>) -> PyResult<Bound<'_, PyArray2<T>>> {
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array)
}

/// Returns a view of a shared array, since Python may change the shape of the array that it is given.
pub fn view_of<'py, T: Element>(array: &Bound<'py, PyArray2<T>>) -> PyResult<Bound<'py, PyAny>> {
    array.call_method0("view")
}
