//! Vertices and elements as Python says them: a name, numbers, or a mask.

use std::collections::BTreeMap;

use numpy::PyUntypedArrayMethods;
use pliant::mesh::Sets;
use pliant::model::Hold;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString, PyTuple};

use crate::arrays::{Numbers, as_array, indices, kind_of, shown};
use crate::errors::Kind;

/// What is chosen from.
pub struct Choice<'a> {
    /// "vertices" or "elements".
    pub of: &'a str,
    pub count: usize,
    pub sets: &'a Sets,
    /// What `"surface"` means, if it means something.
    pub surface: Option<&'a dyn Fn() -> PyResult<Vec<u32>>>,
}

impl Choice<'_> {
    /// The numbers that `value` means.
    pub fn choose(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u32>> {
        if let Ok(name) = value.extract::<String>() {
            return self.named(&name);
        }
        if has_names(value) {
            let mut all = Vec::new();
            for name in value.extract::<Vec<String>>()? {
                all.extend(self.named(&name)?);
            }
            all.sort_unstable();
            all.dedup();
            return Ok(all);
        }
        if value.is_none() {
            return Err(PyTypeError::new_err(format!("{what} is None, expected {}", self.of)));
        }
        let array = as_array(value, what)?;
        if kind_of(&array)? == 'b' {
            if array.shape() != [self.count] {
                let (shape, count) = (shown(array.shape()), self.count);
                return Err(PyValueError::new_err(format!(
                    "{what} is a mask of the shape {shape}, expected ({count},), one for each of the {count} {}",
                    self.of
                )));
            }
            let mask: Vec<bool> = array.call_method0("tolist")?.extract()?;
            return Ok((0..).zip(mask).filter(|(_, chosen)| *chosen).map(|(number, _)| number).collect());
        }
        let (numbers, shape) = indices(value, what, self.count)?;
        if shape.len() > 1 {
            return Err(PyValueError::new_err(format!("{what} has the shape {}, expected a list", shown(&shape))));
        }
        Ok(numbers)
    }

    fn named(&self, name: &str) -> PyResult<Vec<u32>> {
        if let Some(set) = self.sets.get(name) {
            return Ok(set.clone());
        }
        match (name, self.surface) {
            ("all", _) => Ok((0..self.count as u32).collect()),
            ("surface", Some(surface)) => surface(),
            _ => {
                let sets = self.sets.keys().map(|name| format!("`{name}`"));
                let others = ["`surface`", "`all`"].into_iter().skip(usize::from(self.surface.is_none()));
                let known: Vec<String> = sets.chain(others.map(str::to_owned)).collect();
                let message = format!("there is no set `{name}` of {}; there are {}", self.of, known.join(", "));
                Err(Kind::Mesh.error(message))
            }
        }
    }

    /// What holds vertices where they are at rest: a selection, or a dictionary of names or numbers with the axes along which they are held.
    pub fn fixed(&self, value: &Bound<'_, PyAny>) -> PyResult<Vec<Hold>> {
        let Ok(table) = value.cast::<PyMapping>() else {
            return Ok(vec![Hold::fixed(not_empty(self.choose(value, "fixed")?, "fixed")?)]);
        };
        let hold = |(key, held): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let vertices = not_empty(self.choose(&key, "fixed")?, "fixed")?;
            Ok(Hold::fixed(vertices).along(axes(&held.extract::<String>()?)?))
        };
        items(table)?.into_iter().map(hold).collect()
    }

    /// What holds vertices away from rest: `{vertex: displacement}`, or `(vertices, displacements)`. NaN or None leaves a coordinate free.
    pub fn prescribed(&self, value: &Bound<'_, PyAny>) -> PyResult<Vec<Hold>> {
        let py = value.py();
        let mut by_axes: BTreeMap<[bool; 3], Hold> = BTreeMap::new();
        let mut add = |keys: &Bound<'_, PyAny>, displacements: &Bound<'_, PyAny>| -> PyResult<()> {
            let vertices = not_empty(self.choose(keys, "prescribed")?, "prescribed")?;
            let arguments = PyDict::new(py);
            arguments.set_item("dtype", "float64")?;
            // Of None among numbers NumPy makes NaN.
            let displacements = py.import("numpy")?.getattr("array")?.call((displacements,), Some(&arguments))?;
            let displacements = Numbers::any(&displacements, "a prescribed displacement")?;
            let is_one = displacements.shape() == [3];
            if !is_one && displacements.shape() != [vertices.len(), 3] {
                let expected = format!("(3,), or ({}, 3), a row for each vertex", vertices.len());
                return Err(displacements.shape_error("a prescribed displacement", &expected));
            }
            let rows: Vec<_> = displacements.vectors().collect();
            for (n, vertex) in vertices.into_iter().enumerate() {
                let place = rows[if is_one { 0 } else { n }];
                let held = [!place.x.is_nan(), !place.y.is_nan(), !place.z.is_nan()];
                if held == [false; 3] {
                    continue;
                }
                let hold = by_axes.entry(held).or_insert_with(|| Hold::fixed([]).along(held));
                hold.vertices.push(vertex);
                hold.offsets.push(pliant::math::Vec3::select(place.is_nan_mask(), pliant::math::Vec3::ZERO, place));
            }
            Ok(())
        };
        if let Ok(table) = value.cast::<PyMapping>() {
            for (vertex, displacement) in items(table)? {
                add(&vertex, &displacement)?;
            }
        } else if let Ok(pair) = value
            .cast::<PyTuple>()
            .map_err(PyErr::from)
            .and_then(|pair| pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>())
        {
            add(&pair.0, &pair.1)?;
        } else {
            let message = "prescribed: expected {vertex: displacement}, or (vertices, displacements)";
            return Err(PyTypeError::new_err(message));
        }
        Ok(by_axes.into_values().collect())
    }
}

/// The keys and values of a table.
pub fn items<'py>(table: &Bound<'py, PyMapping>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    table.items()?.iter().map(|item| item.extract()).collect()
}

/// Whether this is the name of a set, or a list of such names.
pub fn has_names(value: &Bound<'_, PyAny>) -> bool {
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    value.is_instance_of::<PyString>()
        || (is_list && value.get_item(0).is_ok_and(|first| first.is_instance_of::<PyString>()))
}

/// Who holds or pulls at something means at least one vertex.
pub fn not_empty(chosen: Vec<u32>, what: &str) -> PyResult<Vec<u32>> {
    if chosen.is_empty() {
        return Err(Kind::Model.error(format!("{what} chooses no vertex, expected at least one")));
    }
    Ok(chosen)
}

/// Axes as letters: `"xz"`.
pub fn axes(text: &str) -> PyResult<[bool; 3]> {
    let mut axes = [false; 3];
    if text.is_empty() {
        return Err(PyValueError::new_err("axes are \"\", expected some of \"xyz\""));
    }
    for letter in text.chars() {
        match "xyz".find(letter) {
            Some(axis) => axes[axis] = true,
            None => return Err(PyValueError::new_err(format!("axes are {text:?}, expected some of \"xyz\""))),
        }
    }
    Ok(axes)
}
