//! Selections of vertices and elements in Python: a name, indices, or a mask.

use std::collections::BTreeMap;

use numpy::PyUntypedArrayMethods;
use pliant::force::Patch;
use pliant::mesh::Sets;
use pliant::model::{Fixed, Model};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyMapping, PySet, PyString, PyTuple};

use crate::arrays::{Numbers, as_array, indices, kind_of, shown};
use crate::errors::Kind;

/// Items to select from.
pub struct Choice<'a> {
    /// "vertices" or "elements".
    pub of: &'a str,
    pub count: usize,
    pub sets: &'a Sets,
    /// Items that `"surface"` selects, if supported.
    pub surface: Option<&'a dyn Fn() -> PyResult<Vec<u32>>>,
}

impl Choice<'_> {
    /// Returns the indices that `value` selects.
    pub fn choose(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u32>> {
        if let Ok(name) = value.extract::<String>() {
            return self.named(&name);
        }
        if has_names(value) || is_set(value) {
            let mut all = Vec::new();
            for part in value.try_iter()? {
                all.extend(self.choose(&part?, what)?);
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
                    "{what} is a mask of shape {shape}, expected ({count},), one entry for each of the {count} {}",
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
                let of = if self.of == "elements" { "element" } else { "vertex" };
                let message = format!("there is no {of} set `{name}`; expected one of {}", known.join(", "));
                Err(Kind::Mesh.error(message))
            }
        }
    }

    /// Returns the constraints of fixed vertices: of a selection, or of selections with axes in a dictionary or a list
    /// of pairs. An empty list fixes nothing.
    pub fn fixed(&self, value: &Bound<'_, PyAny>) -> PyResult<Vec<Fixed>> {
        let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
        if is_list && value.len()? == 0 {
            return Ok(Vec::new());
        }
        let pairs = match value.cast::<PyMapping>() {
            Ok(table) => items(table)?,
            Err(_) if is_list && value.try_iter()?.all(|part| part.is_ok_and(|part| is_with_axes(&part))) => {
                value.try_iter()?.map(|part| part?.extract()).collect::<PyResult<_>>()?
            }
            Err(_) => {
                let vertices = self.choose(value, "fixed")?;
                if vertices.is_empty() {
                    let message = "fixed selects no vertex, expected at least one; pass [] if nothing is fixed";
                    return Err(Kind::Model.error(message));
                }
                return Ok(vec![Fixed::new(vertices)]);
            }
        };
        let fixed = |(key, axes_text): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let vertices = not_empty(self.choose(&key, "fixed")?, "fixed")?;
            Ok(Fixed::new(vertices).along(axes(&axes_text.extract::<String>()?)?))
        };
        pairs.into_iter().map(fixed).collect()
    }

    /// Returns the faces that `value` selects: face sets by name, rows of an element and a side or of face vertices, or
    /// else the surface faces all of whose vertices are selected.
    pub fn faces(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<ChosenFaces> {
        let names = value.extract::<String>().map(|name| vec![name]).or_else(|_| value.extract::<Vec<String>>());
        match names {
            Ok(names) if !names.is_empty() => return Ok(ChosenFaces::Named(names)),
            _ => {}
        }
        if !has_names(value) && !value.is_none() && !is_set(value) && as_array(value, what)?.shape().len() == 2 {
            let (numbers, shape) = indices(value, what, u32::MAX as usize)?;
            return Ok(ChosenFaces::Rows { numbers, columns: shape[1] });
        }
        self.choose(value, what).map(ChosenFaces::Within)
    }

    /// Returns the constraints of prescribed displacements: `{vertex: displacement}`, or `(vertices, displacements)`.
    /// NaN or None leaves a coordinate free.
    pub fn prescribed(&self, value: &Bound<'_, PyAny>) -> PyResult<Vec<Fixed>> {
        let py = value.py();
        let mut by_axes: BTreeMap<[bool; 3], Fixed> = BTreeMap::new();
        let mut add = |keys: &Bound<'_, PyAny>, displacements: &Bound<'_, PyAny>| -> PyResult<()> {
            let vertices = not_empty(self.choose(keys, "prescribed")?, "prescribed")?;
            let arguments = PyDict::new(py);
            arguments.set_item("dtype", "float64")?;
            // NumPy converts None among numbers to NaN.
            let displacements = py.import("numpy")?.getattr("array")?.call((displacements,), Some(&arguments))?;
            let displacements = Numbers::any(&displacements, "a prescribed displacement")?;
            let is_one = displacements.shape() == [3];
            if !is_one && displacements.shape() != [vertices.len(), 3] {
                let expected = format!("(3,), or ({}, 3), one row per vertex", vertices.len());
                return Err(displacements.shape_error("a prescribed displacement", &expected));
            }
            let rows: Vec<_> = displacements.vectors().collect();
            for (n, vertex) in vertices.into_iter().enumerate() {
                let u = rows[if is_one { 0 } else { n }];
                let axes = [!u.x.is_nan(), !u.y.is_nan(), !u.z.is_nan()];
                if axes == [false; 3] {
                    continue;
                }
                let fixed = by_axes.entry(axes).or_insert_with(|| Fixed::new([]).along(axes));
                fixed.vertices.push(vertex);
                fixed.offsets.push(pliant::math::Vec3::select(u.is_nan_mask(), pliant::math::Vec3::ZERO, u));
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

/// Faces by names of sets, as rows of numbers, or between vertices.
pub enum ChosenFaces {
    Named(Vec<String>),
    /// Rows of an element and a side, or of the vertices of a face.
    Rows {
        numbers: Vec<u32>,
        columns: usize,
    },
    Within(Vec<u32>),
}

impl ChosenFaces {
    /// Returns the faces of a model.
    pub fn patch(&self, model: &Model) -> Result<Patch, String> {
        let patch = match self {
            Self::Named(names) => model.patch_named(names),
            Self::Within(vertices) => model.patch_within(vertices),
            Self::Rows { numbers, columns } => return rows_patch(model, numbers, *columns),
        };
        patch.map_err(|error| error.to_string())
    }
}

/// Returns the faces given by rows of an element and a side, or of vertices. The indices are those of the mesh, so
/// there must be one body.
fn rows_patch(model: &Model, numbers: &[u32], columns: usize) -> Result<Patch, String> {
    let [body] = model.bodies() else {
        return Err(format!(
            "rows of elements and sides are the faces of one mesh, but the model has {} bodies; \
             expected the name of a face set, or the vertices of the faces by their numbers in the model",
            model.bodies().len()
        ));
    };
    let mesh = body.mesh();
    let corners = mesh.kind().faces()[0].len();
    let faces = if numbers.is_empty() {
        Vec::new()
    } else if columns == 2 {
        let (pairs, _) = numbers.as_chunks::<2>();
        pairs.iter().map(|&[element, side]| (element, u8::try_from(side).unwrap_or(u8::MAX))).collect()
    } else if columns == corners {
        let vertex_count = mesh.vertex_count();
        if let Some(vertex) = numbers.iter().find(|&&vertex| vertex as usize >= vertex_count) {
            return Err(format!("vertex {vertex} does not exist: expected 0 to {}", vertex_count - 1));
        }
        let rows = numbers.chunks_exact(corners);
        let found = mesh.find_faces(rows.clone());
        if let Some((row, vertices)) = rows.enumerate().find(|(row, _)| found[*row].is_none()) {
            return Err(format!("row {row}, {vertices:?}, is not a face of an element"));
        }
        found.into_iter().flatten().collect()
    } else {
        return Err(format!(
            "found rows of {columns} numbers, expected (n, 2), elements and sides, or (n, {corners}), vertices"
        ));
    };
    Patch::of_faces(mesh, &faces).map_err(|error| error.to_string())
}

/// Returns the keys and values of a mapping.
pub fn items<'py>(table: &Bound<'py, PyMapping>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    table.items()?.iter().map(|item| item.extract()).collect()
}

/// Returns true for the name of a set, and for a list that contains such names.
pub fn has_names(value: &Bound<'_, PyAny>) -> bool {
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    let is_name = |part: PyResult<Bound<'_, PyAny>>| part.is_ok_and(|part| part.is_instance_of::<PyString>());
    value.is_instance_of::<PyString>() || (is_list && value.try_iter().is_ok_and(|mut parts| parts.any(is_name)))
}

/// Returns true for a Python set.
fn is_set(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>()
}

/// Returns true for a selection with its axes, such as `([0, 1], "x")`. Pairs of set names are distinguished by their
/// letters.
fn is_with_axes(part: &Bound<'_, PyAny>) -> bool {
    let pair = part.extract::<(Bound<'_, PyAny>, String)>();
    part.is_instance_of::<PyTuple>() && pair.is_ok_and(|(_, fixed)| axes(&fixed).is_ok())
}

/// Returns the selection, or an error if it is empty.
pub fn not_empty(chosen: Vec<u32>, what: &str) -> PyResult<Vec<u32>> {
    if chosen.is_empty() {
        return Err(Kind::Model.error(format!("{what} selects no vertex, expected at least one")));
    }
    Ok(chosen)
}

/// Parses axes given as letters, such as `"xz"`.
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
