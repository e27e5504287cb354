//! Points embedded in a mesh.

use numpy::{PyArray1, PyArray2};
use pliant::math::Vec3;
use pyo3::prelude::*;

use crate::arrays::{Numbers, index_list, index_rows, into_table, vector_rows};
use crate::work::work;

/// Points embedded in the elements of a mesh, which follow its deformation: a detailed surface, markers, sensors.
/// Created by :meth:`Mesh.embed`.
///
/// >>> mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2))
/// >>> points = mesh.embed([(0.5, 0.5, 0.5), (0.1, 0.2, 0.3)])
/// >>> points.interpolate(mesh.vertices + (0, 0, 1)).round(12)
/// array([[0.5, 0.5, 1.5],
///        [0.1, 0.2, 1.3]])
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Embedding {
    pub inner: pliant::mesh::Embedding,
    /// Number of vertices of the mesh.
    pub vertex_count: usize,
}

#[pymethods]
impl Embedding {
    /// Element that each point is embedded in.
    #[getter]
    fn elements<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_list(py, self.inner.elements())
    }

    /// Vertices that each point is interpolated from, one row per point.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let map = self.inner.interpolation();
        let vertices: Vec<u32> = (0..map.len()).flat_map(|point| map.nodes(point)).copied().collect();
        index_rows(py, &vertices, map.width())
    }

    /// Weights of these vertices, which sum to 1.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let map = self.inner.interpolation();
        into_table(py, (0..map.len()).flat_map(|point| map.weights(point)).copied().collect(), map.width())
    }

    /// Points outside of all elements. They are extrapolated from the nearest element.
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_list(py, self.inner.outside())
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// Interpolates the points from the positions of the mesh vertices; displacements yield displacements.
    fn interpolate<'py>(&self, py: Python<'py>, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let positions = Numbers::rows_of(positions, "positions", self.vertex_count, "vertices")?;
        let positions: Vec<Vec3> = positions.vectors().collect();
        let mut points = vec![Vec3::ZERO; self.inner.len()];
        work(py, || self.inner.interpolate(&positions, &mut points));
        Ok(vector_rows(py, &points))
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Embedding of {} points, {} outside>", self.inner.len(), self.inner.outside().len())
    }
}
