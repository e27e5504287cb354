//! Surfaces: the boundary of a volume mesh, or a polygon mesh.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pliant::io::{self, WriteOptions};
use pliant::mesh::{Faces, SurfaceMesh, VertexNormals};
use pliant::meshing::{MeshingError, MeshingParams, cage, carrying_limits, fill_surface, fused_pieces, voxelize};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::{Numbers, count, index_list, index_rows, indices, shown, vector_rows};
use crate::errors::{Kind, OrRaise, read_error, warn, write_error};
use crate::mesh::Mesh;
use crate::work::{make, work};

/// Surface of triangles, quadrilaterals or other polygons, counter-clockwise seen from outside.
///
/// >>> surface = pliant.Mesh.box((1, 1, 1), (1, 1, 1)).surface()
/// >>> surface.area, round(surface.enclosed_volume, 12), surface.is_closed
/// (6.0, 1.0, True)
/// >>> pliant.Surface([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).area
/// 0.5
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Surface {
    pub inner: SurfaceMesh,
    /// Index of each vertex in the volume mesh that this is the boundary of.
    pub volume_vertices: Option<Vec<u32>>,
}

#[pymethods]
impl Surface {
    /// Creates a surface from vertices ``(n, 3)`` and faces ``(m, 3)`` or ``(m, 4)``.
    #[new]
    #[pyo3(signature = (vertices, faces))]
    fn new(py: Python<'_>, vertices: &Bound<'_, PyAny>, faces: &Bound<'_, PyAny>) -> PyResult<Self> {
        let vertices = Numbers::rows(vertices, "vertices")?;
        let (corners, shape) = indices(faces, "faces", vertices.vectors().len())?;
        let faces = match shape[..] {
            [_, columns] if columns >= 3 => Faces::uniform(columns, corners),
            _ => {
                let message = format!("faces has the shape {}, expected (m, 3) or (m, 4)", shown(&shape));
                return Err(PyValueError::new_err(message));
            }
        };
        let vertices = vertices.vectors().collect();
        let inner = work(py, || SurfaceMesh::new(vertices, faces)).or_raise(Kind::Mesh)?;
        Ok(Self { inner, volume_vertices: None })
    }

    /// Reads a file: .obj, .stl, .ply and others.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = work(py, || io::read_surface(&path)).map_err(|error| read_error(&error))?;
        warn(py, &loaded.notes)?;
        Ok(Self { inner: loaded.mesh, volume_vertices: None })
    }

    /// Writes a file in the format of its extension. Returns a list of messages about data that the format cannot
    /// store.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
        work(py, || io::write(&path, &self.inner, &WriteOptions::default())).map_err(|error| write_error(&error))
    }

    /// Vertex positions in m, ``(n, 3)``.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        vector_rows(py, self.inner.vertices())
    }

    /// Triangulation of all faces, ``(m, 3)``.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        index_rows(py, &self.inner.triangles().flatten().collect::<Vec<_>>(), 3)
    }

    /// Vertices of each face.
    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.inner.faces().iter().map(|face| index_list(py, face)))
    }

    /// Index of each vertex in the volume mesh that this is the boundary of, or None.
    #[getter]
    fn volume_vertices<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        self.volume_vertices.as_ref().map(|numbers| index_list(py, numbers))
    }

    /// Returns the area, in m².
    #[getter]
    fn area(&self, py: Python<'_>) -> f64 {
        work(py, || self.inner.area())
    }

    /// Returns the enclosed volume, in m³; meaningless if the surface is not closed.
    #[getter]
    fn enclosed_volume(&self, py: Python<'_>) -> f64 {
        work(py, || self.inner.enclosed_volume())
    }

    /// Returns true if the surface is closed and consistently oriented.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        work(py, || self.inner.report().is_closed())
    }

    /// Fills the enclosed volume with tetrahedra, with ``cells`` along its longest side and twelve per cell. Their
    /// dihedral angles are between 10.7° and 164.8°. ``grading`` is the maximum number of times that the cell size
    /// doubles towards the interior.
    ///
    /// The surface may have holes, self-intersections and wrongly oriented triangles. Defects and features that are too
    /// thin are reported as warnings. Set: ``surface``.
    ///
    /// >>> ring = pliant.Mesh.torus(1, 0.4).surface()
    /// >>> body = ring.tetrahedralize(cells=20)
    /// >>> bool(abs(body.volume / ring.enclosed_volume - 1) < 0.03)
    /// True
    #[pyo3(signature = (*, cells=24, grading=0))]
    fn tetrahedralize(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = count)] cells: usize,
        grading: u32,
    ) -> PyResult<Mesh> {
        let surface = self.fit(py)?;
        let params = MeshingParams { cells, grading };
        let (body, thin) = make(py, Kind::Mesh, || fill_surface(&surface, &params).map_err(|error| error.to_string()))?;
        let fused = fused_pieces(&surface, &body.mesh);
        warn(py, &fused.into_iter().chain(thin.map(|thin| thin.to_string())).collect::<Vec<_>>())?;
        Ok(body.mesh.into())
    }

    /// Returns a tetrahedral mesh that contains every point of the surface, to embed it:
    /// ``mesh.embed(surface.vertices)``. Regions are lighter and softer in proportion to the filled fraction of their
    /// elements, so that the mass is that of the enclosed volume. Set: ``surface``.
    ///
    /// >>> ring = pliant.Mesh.torus(1, 0.4).surface()
    /// >>> cage = ring.cage(cells=8)
    /// >>> len(cage.embed(ring.vertices).outside)
    /// 0
    #[pyo3(signature = (*, cells=16, grading=0))]
    fn cage(&self, py: Python<'_>, #[pyo3(from_py_with = count)] cells: usize, grading: u32) -> PyResult<Mesh> {
        let surface = self.fit(py)?;
        let params = MeshingParams { cells, grading };
        let make_cage = || {
            let made = cage(&self.inner, &surface, &params)?;
            let limits = carrying_limits(&self.inner, &surface, &made.mesh, made.info.body.cell, made.info.enclosed)?;
            Ok((made.mesh, limits))
        };
        let (mesh, limits) = make(py, Kind::Mesh, || make_cage().map_err(|error: MeshingError| error.to_string()))?;
        warn(py, &limits)?;
        Ok(mesh.into())
    }

    /// Returns cubes that contain every point of the surface, lighter and softer as those of :meth:`cage`.
    ///
    /// >>> box = pliant.Mesh.box((2, 1, 1), (4, 2, 2)).surface()
    /// >>> box.voxelize(cells=4).element_count
    /// 16
    #[pyo3(signature = (*, cells=16))]
    fn voxelize(&self, py: Python<'_>, #[pyo3(from_py_with = count)] cells: usize) -> PyResult<Mesh> {
        let surface = self.fit(py)?;
        let make_voxels = || {
            let made = voxelize(&surface, cells)?;
            let limits = carrying_limits(&self.inner, &surface, &made.mesh, made.cell, made.enclosed)?;
            Ok((made.mesh, limits))
        };
        let (mesh, limits) = make(py, Kind::Mesh, || make_voxels().map_err(|error: MeshingError| error.to_string()))?;
        warn(py, &limits)?;
        Ok(mesh.into())
    }

    /// Returns unit normals at the vertices, for given positions or those of the surface.
    #[pyo3(signature = (positions=None))]
    fn normals<'py>(
        &self,
        py: Python<'py>,
        positions: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let count = self.inner.vertices().len();
        let positions = match positions {
            Some(given) => Numbers::rows_of(given, "positions", count, "vertices")?.vectors().collect(),
            None => self.inner.vertices().to_vec(),
        };
        let mut normals = vec![pliant::math::Vec3::ZERO; count];
        work(py, || VertexNormals::new(&self.inner).compute(&positions, &mut normals));
        Ok(vector_rows(py, &normals))
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Surface: {} vertices, {} faces>", self.inner.vertices().len(), self.inner.faces().len())
    }
}

impl Surface {
    /// Returns the surface repaired to enclose a volume, with warnings about its defects.
    fn fit(&self, py: Python<'_>) -> PyResult<pliant::meshing::Surface> {
        let fit = || pliant::meshing::Surface::new(&self.inner).map_err(|error| error.to_string());
        let surface = make(py, Kind::Mesh, fit)?;
        warn(py, &surface.findings().lines())?;
        Ok(surface)
    }
}
