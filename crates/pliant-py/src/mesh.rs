//! Volume meshes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyUntypedArrayMethods};
use pliant::io::{self, Encoding, WriteOptions};
use pliant::math::{Affine3, Mat3, Vec3};
use pliant::mesh::{BODY, ElementFace, ElementKind, FaceSets, HexSplit, MeshData, Range, Region, Sets, VolumeMesh};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyMapping, PyTuple, PyType};

use crate::arrays::{
    Numbers, as_array, count, frozen, index_list, index_rows, indices, into_list, into_table, shown, vector_rows,
    view_of,
};
use crate::embedding::Embedding;
use crate::errors::{Kind, OrRaise, read_error, warn, write_error};
use crate::select::{Choice, has_names, items};
use crate::surface::Surface;
use crate::work::work;

/// Mesh of tetrahedra or hexahedra with named regions and sets. It is validated on creation and immutable; methods that
/// modify it return a new mesh.
///
/// >>> mesh = pliant.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2, 3)])
/// >>> mesh
/// <pliant.Mesh: 4 vertices, 1 tetrahedron>
/// >>> round(mesh.volume, 12)
/// 0.166666666667
///
/// Static methods generate simple bodies, and volume meshes of surfaces and solids. They are the generators of ``mesh``
/// in scene files:
///
/// >>> pliant.Mesh.box((2, 1, 1), (4, 2, 2), elements="hex")
/// <pliant.Mesh: 45 vertices, 16 hexahedra>
/// >>> pliant.Mesh.filled({"ball": {"radius": "5 cm"}}, cells=4).volume > 0
/// True
#[pyclass(frozen, module = "pliant")]
pub struct Mesh {
    pub inner: Arc<VolumeMesh>,
    vertices: PyOnceLock<Py<PyArray2<f64>>>,
    elements: PyOnceLock<Py<PyArray2<i64>>>,
}

impl From<VolumeMesh> for Mesh {
    fn from(mesh: VolumeMesh) -> Self {
        Self { inner: Arc::new(mesh), vertices: PyOnceLock::new(), elements: PyOnceLock::new() }
    }
}

#[pymethods]
impl Mesh {
    /// Creates a mesh from vertices ``(n, 3)`` in m, and elements ``(m, 4)`` for tetrahedra or ``(m, 8)`` for
    /// hexahedra.
    ///
    /// Args:
    ///     regions: elements of each region, by name; the other elements form a region ``"body"``.
    ///     vertex_sets: vertices of each vertex set, by name; stored in ascending order.
    ///     element_sets: elements of each element set, by name; stored in ascending order.
    ///     face_sets: faces of each face set, by name: ``(n, 2)`` with an element and a side number per row; or
    ///         ``(n, 3)`` for tetrahedra and ``(n, 4)`` for hexahedra, with the vertices of a face in order around it.
    ///
    /// Inverted elements are reoriented, with a warning. Meshes that cannot be simulated raise :class:`MeshError`:
    ///
    /// >>> pliant.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2, 3)])
    /// Traceback (most recent call last):
    ///     ...
    /// pliant.errors.MeshError: element 0 ...
    #[new]
    #[pyo3(signature = (vertices, elements, *, regions=None, vertex_sets=None, element_sets=None, face_sets=None))]
    fn new(
        py: Python<'_>,
        vertices: &Bound<'_, PyAny>,
        elements: &Bound<'_, PyAny>,
        regions: Option<&Bound<'_, PyMapping>>,
        vertex_sets: Option<&Bound<'_, PyMapping>>,
        element_sets: Option<&Bound<'_, PyMapping>>,
        face_sets: Option<&Bound<'_, PyMapping>>,
    ) -> PyResult<Self> {
        let vertices: Vec<Vec3> = Numbers::rows(vertices, "vertices")?.vectors().collect();
        let (corners, shape) = indices(elements, "elements", vertices.len())?;
        let kind = match shape[..] {
            [_, 4] => ElementKind::Tet4,
            [_, 8] => ElementKind::Hex8,
            _ => {
                let message = format!(
                    "elements has the shape {}, expected (m, 4) for tetrahedra or (m, 8) for hexahedra",
                    shown(&shape)
                );
                return Err(PyValueError::new_err(message));
            }
        };
        let (vertex_count, element_count) = (vertices.len(), shape[0]);
        let mut data = MeshData::new(vertices, kind, corners);
        if let Some(regions) = regions {
            (data.regions, data.element_region) = read_regions(&[], regions, element_count)?;
        }
        data.vertex_sets = read_sets(vertex_sets, "vertices", vertex_count)?;
        data.element_sets = read_sets(element_sets, "elements", element_count)?;
        // Sides refer to the elements as given, so that faces follow elements that are reoriented.
        data.face_sets = read_face_sets(face_sets, kind, &data.elements, vertex_count)?;
        let checked = work(py, || VolumeMesh::check(data)).or_raise(Kind::Mesh)?;
        let slivers = work(py, || checked.mesh.sliver_note());
        warn(py, &checked.report.lines().into_iter().chain(slivers).collect::<Vec<_>>())?;
        Ok(checked.mesh.into())
    }

    /// Reads a file in the format of its extension: .veg, .msh, .vtu, .vtk, .mesh, .inp, TetGen's .node and .ele.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = work(py, || io::read_volume(&path)).map_err(|error| read_error(&error))?;
        let slivers = work(py, || loaded.mesh.sliver_note());
        let notes: Vec<String> = loaded.report.lines().into_iter().chain(loaded.notes).chain(slivers).collect();
        warn(py, &notes)?;
        Ok(loaded.mesh.into())
    }

    /// Writes a file in the format of its extension, as text or binary where the format has both. Returns a list of
    /// messages about data that the format cannot store.
    #[pyo3(signature = (path, *, binary=None))]
    fn write(&self, py: Python<'_>, path: PathBuf, binary: Option<bool>) -> PyResult<Vec<String>> {
        let encoding = match binary {
            None => Encoding::Usual,
            Some(true) => Encoding::Binary,
            Some(false) => Encoding::Text,
        };
        let options = WriteOptions { encoding, ..WriteOptions::default() };
        work(py, || io::write(&path, &*self.inner, &options)).map_err(|error| write_error(&error))
    }

    /// Merges several meshes into one. Regions and sets are named ``name.region`` and ``name.set``.
    ///
    /// >>> ball = pliant.Mesh.ball(0.1, across=4)
    /// >>> both = pliant.Mesh.merge({"left": ball, "right": ball.translated((1, 0, 0))})
    /// >>> list(both.regions)
    /// ['left.body', 'right.body']
    #[staticmethod]
    fn merge(meshes: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let named: Vec<(String, Arc<VolumeMesh>)> = items(meshes)?
            .into_iter()
            .map(|(name, mesh)| Ok((name.extract()?, mesh.cast::<Self>()?.get().inner.clone())))
            .collect::<PyResult<_>>()?;
        let list: Vec<(&str, &VolumeMesh)> = named.iter().map(|(name, mesh)| (name.as_str(), &**mesh)).collect();
        work(meshes.py(), || VolumeMesh::merge(&list)).map(Self::from).or_raise(Kind::Mesh)
    }

    /// Creates a mesh from the tetrahedra or hexahedra of a ``meshio.Mesh``. Cell sets, point sets and groups of Gmsh
    /// and Medit become regions and sets. Data that is lost is reported as warnings.
    #[classmethod]
    fn from_meshio<'py>(_class: &Bound<'py, PyType>, mesh: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        mesh.py().import("pliant._interop")?.getattr("from_meshio")?.call1((mesh,))
    }

    /// Converts the mesh to a ``meshio.Mesh``, with regions and sets.
    fn to_meshio(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("pliant._interop")?.getattr("to_meshio")?.call1((slf,))
    }

    /// Creates a mesh from the tetrahedra or hexahedra of a ``pyvista.UnstructuredGrid``, or of a grid or MultiBlock
    /// that can be converted to one. Cell data such as ``region`` and the names of blocks become regions, or face sets
    /// where the cells are faces. Data that is lost is reported as warnings.
    #[classmethod]
    fn from_pyvista<'py>(_class: &Bound<'py, PyType>, grid: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        grid.py().import("pliant._interop")?.getattr("from_pyvista")?.call1((grid,))
    }

    /// Converts the mesh to a ``pyvista.UnstructuredGrid``, at rest or with its vertices at ``positions``.
    #[pyo3(signature = (positions=None))]
    fn to_pyvista<'py>(slf: Bound<'py, Self>, positions: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pliant._interop")?.getattr("to_pyvista")?.call1((slf, positions))
    }

    /// Rest positions in m, ``(n, 3)``, read-only.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = || frozen(vector_rows(py, self.inner.vertices())).map(Bound::unbind);
        view_of(self.vertices.get_or_try_init(py, made)?.bind(py))
    }

    /// Vertex indices of the elements, ``(m, 4)`` or ``(m, 8)``, read-only.
    #[getter]
    fn elements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let nodes = self.inner.kind().nodes();
        let made = || frozen(index_rows(py, self.inner.connectivity(), nodes)).map(Bound::unbind);
        view_of(self.elements.get_or_try_init(py, made)?.bind(py))
    }

    /// Type of the elements: ``"tet4"`` or ``"hex8"``.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.inner.kind() {
            ElementKind::Tet4 => "tet4",
            ElementKind::Hex8 => "hex8",
        }
    }

    /// Number of vertices.
    #[getter]
    fn vertex_count(&self) -> usize {
        self.inner.vertex_count()
    }

    /// Number of elements.
    #[getter]
    fn element_count(&self) -> usize {
        self.inner.element_count()
    }

    /// Elements of each region, by name.
    #[getter]
    fn regions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut elements = vec![Vec::new(); self.inner.regions().len()];
        for (element, region) in self.inner.element_region().iter().enumerate() {
            elements[*region as usize].push(element as u32);
        }
        let regions = PyDict::new(py);
        for (region, elements) in self.inner.regions().iter().zip(elements) {
            regions.set_item(&region.name, index_list(py, &elements))?;
        }
        Ok(regions)
    }

    /// Index in ``regions`` of the region of each element.
    #[getter]
    fn element_regions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_list(py, self.inner.element_region())
    }

    /// Vertices of each vertex set, by name.
    #[getter]
    fn vertex_sets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        set_arrays(py, self.inner.vertex_sets())
    }

    /// Elements of each element set, by name.
    #[getter]
    fn element_sets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        set_arrays(py, self.inner.element_sets())
    }

    /// Faces of each face set, by name: ``(n, 2)`` with an element and a side number per row. Sides are numbered from 0
    /// in the order of Abaqus.
    ///
    /// Where faces are expected, as by tractions, a face set selects exactly its faces. Where vertices are expected, it
    /// selects their vertices.
    ///
    /// >>> mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2), elements="hex")
    /// >>> list(mesh.face_sets)
    /// ['x-max', 'x-min', 'y-max', 'y-min', 'z-max', 'z-min']
    /// >>> mesh.face_sets["z-min"][0]
    /// array([0, 0])
    #[getter]
    fn face_sets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = PyDict::new(py);
        for (name, faces) in self.inner.face_sets() {
            table.set_item(name, face_rows(py, faces))?;
        }
        Ok(table)
    }

    /// Returns the selected faces, ``(n, 2)`` with an element and a side number per row. The selection is a face set; a
    /// vertex set, for the boundary faces between its vertices, if no face set has the name; ``"surface"``; vertices by
    /// index or mask; or rows of face vertices, ``(n, 3)`` or ``(n, 4)``.
    ///
    /// >>> mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2), elements="hex")
    /// >>> mesh.faces("x-max").shape
    /// (4, 2)
    /// >>> mesh.faces(mesh.vertices[:, 0] > 0.9).shape
    /// (4, 2)
    fn faces<'py>(&self, py: Python<'py>, faces: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        self.choose_faces(faces, "faces").map(|chosen| face_rows(py, &chosen))
    }

    /// Finds faces by their vertices, ``(n, 3)`` for tetrahedra or ``(n, 4)`` for hexahedra, in order around each face.
    /// Returns rows of an element and a side, which are -1 if no element has the face. A face between two elements
    /// belongs to the element for which the vertices are counter-clockwise seen from outside.
    ///
    /// >>> mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1), elements="hex")
    /// >>> mesh.find_faces([(0, 1, 3, 2), (0, 1, 2, 3)])
    /// array([[ 0,  0],
    ///        [-1, -1]])
    fn find_faces<'py>(&self, py: Python<'py>, vertices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let corners = self.inner.kind().faces()[0].len();
        let (numbers, shape) = indices(vertices, "vertices", self.inner.vertex_count())?;
        if !numbers.is_empty() && (shape.len() != 2 || shape[1] != corners) {
            let message = format!("vertices has the shape {}, expected (n, {corners})", shown(&shape));
            return Err(PyValueError::new_err(message));
        }
        let found = work(py, || self.inner.find_faces(numbers.chunks_exact(corners)));
        let row =
            |face: &Option<ElementFace>| face.map_or([-1, -1], |(element, side)| [i64::from(element), side.into()]);
        Ok(into_table(py, found.iter().flat_map(row).collect(), 2))
    }

    /// Returns the vertices of faces, ``(n, 3)`` or ``(n, 4)``, counter-clockwise seen from outside their element.
    /// Selections are those of :meth:`faces`.
    fn face_vertices<'py>(&self, py: Python<'py>, faces: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let chosen = self.choose_faces(faces, "faces")?;
        let vertices: Vec<u32> = chosen.iter().flat_map(|&face| self.inner.face_vertices(face)).collect();
        Ok(index_rows(py, &vertices, self.inner.kind().faces()[0].len()))
    }

    /// Returns the total area of faces, in m². Selections are those of :meth:`faces`.
    ///
    /// >>> mesh = pliant.Mesh.box((2, 1, 1), (4, 2, 2))
    /// >>> round(mesh.face_area("y-max"), 12)
    /// 2.0
    fn face_area(&self, faces: &Bound<'_, PyAny>) -> PyResult<f64> {
        self.choose_faces(faces, "faces").map(|chosen| self.inner.area_of_faces(&chosen))
    }

    /// Returns the mesh with other regions, sets or both; arguments that are None leave them unchanged.
    ///
    /// >>> mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements="hex").with_parts(regions={"left": [0], "right": [1]})
    /// >>> {name: list(elements) for name, elements in mesh.regions.items()} == {"left": [0], "right": [1]}
    /// True
    #[pyo3(signature = (*, regions=None, vertex_sets=None, element_sets=None, face_sets=None))]
    fn with_parts(
        &self,
        py: Python<'_>,
        regions: Option<&Bound<'_, PyMapping>>,
        vertex_sets: Option<&Bound<'_, PyMapping>>,
        element_sets: Option<&Bound<'_, PyMapping>>,
        face_sets: Option<&Bound<'_, PyMapping>>,
    ) -> PyResult<Self> {
        let mesh = &*self.inner;
        let mut labels = mesh.labels();
        if let Some(regions) = regions {
            (labels.regions, labels.element_region) = read_regions(&labels.regions, regions, mesh.element_count())?;
        }
        if vertex_sets.is_some() {
            labels.vertex_sets = read_sets(vertex_sets, "vertices", mesh.vertex_count())?;
        }
        if element_sets.is_some() {
            labels.element_sets = read_sets(element_sets, "elements", mesh.element_count())?;
        }
        if face_sets.is_some() {
            labels.face_sets = read_face_sets(face_sets, mesh.kind(), mesh.connectivity(), mesh.vertex_count())?;
        }
        let checked = work(py, || mesh.clone().with_labels(labels)).or_raise(Kind::Mesh)?;
        warn(py, &checked.report.lines())?;
        Ok(checked.mesh.into())
    }

    /// Returns the vertex indices of a selection: the name of a set, ``"surface"``, ``"all"``, indices or a mask.
    /// Arguments such as ``fixed`` take the same selections.
    ///
    /// >>> mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1))
    /// >>> mesh.select("x-min")
    /// array([0, 2, 4, 6])
    /// >>> mesh.select(mesh.vertices[:, 0] < 0.5)
    /// array([0, 2, 4, 6])
    fn select<'py>(&self, py: Python<'py>, vertices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.choose(vertices, "vertices").map(|chosen| index_list(py, &chosen))
    }

    /// Returns the vertex closest to a point.
    fn nearest_vertex(&self, point: &Bound<'_, PyAny>) -> PyResult<usize> {
        let point = Numbers::vector(point, "point")?;
        if !point.is_finite() {
            return Err(PyValueError::new_err(format!("point is {point}, expected finite numbers")));
        }
        let distances = self.inner.vertices().iter().map(|x| x.distance_squared(point));
        let nearest = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        Ok(nearest.map_or(0, |(vertex, _)| vertex))
    }

    /// Returns the undeformed volume, in m³.
    #[getter]
    fn volume(&self, py: Python<'_>) -> f64 {
        work(py, || self.inner.volume())
    }

    /// Returns the volume of each element, in m³.
    fn element_volumes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let volumes = work(py, || (0..self.inner.element_count()).map(|e| self.inner.element_volume(e)).collect());
        into_list(py, volumes)
    }

    /// Returns the minimum and maximum corner of the axis-aligned bounding box, in m.
    #[getter]
    fn bounding_box<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        vector_rows(py, &self.inner.bounding_box())
    }

    /// Returns all edges, ``(k, 2)``, each once.
    fn edges<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let edges = work(py, || self.inner.edges());
        index_rows(py, edges.as_flattened(), 2)
    }

    /// Returns the index of the connected component of each element.
    fn components<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let (components, _) = work(py, || self.inner.components());
        index_list(py, &components)
    }

    /// Returns the boundary, with outward faces.
    fn surface(&self, py: Python<'_>) -> Surface {
        let boundary = work(py, || self.inner.boundary());
        Surface { inner: boundary.surface, volume_vertices: Some(boundary.vertices) }
    }

    /// Returns statistics of element quality. ``volume``, ``edge_length``, ``dihedral_angle`` and ``shape`` (1 for
    /// regular, 0 for degenerate elements) have a minimum, mean and maximum. ``measure`` names the shape measure,
    /// ``histogram`` counts the shapes in each tenth, and ``worst`` lists the elements with the worst shapes.
    ///
    /// >>> mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1), elements="hex")
    /// >>> mesh.quality()["dihedral_angle"]
    /// {'min': 90.0, 'mean': 90.0, 'max': 90.0}
    fn quality<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let quality = work(py, || self.inner.quality());
        let table = PyDict::new(py);
        let ranges = [
            ("volume", quality.volume),
            ("edge_length", quality.edge_length),
            ("dihedral_angle", quality.dihedral_angle),
            ("shape", quality.shape),
        ];
        for (name, Range { min, mean, max }) in ranges {
            let range = PyDict::new(py);
            for (name, value) in [("min", min), ("mean", mean), ("max", max)] {
                range.set_item(name, value)?;
            }
            table.set_item(name, range)?;
        }
        table.set_item("measure", quality.measure)?;
        table.set_item("histogram", quality.histogram.to_vec())?;
        table.set_item("worst", quality.worst)?;
        Ok(table)
    }

    /// Embeds points in the elements, so that they follow its deformation.
    fn embed(&self, py: Python<'_>, points: &Bound<'_, PyAny>) -> PyResult<Embedding> {
        let points: Vec<Vec3> = Numbers::rows(points, "points")?.vectors().collect();
        let inner = work(py, || pliant::mesh::Embedding::new(&self.inner, &points)).or_raise(Kind::Mesh)?;
        Ok(Embedding { inner, vertex_count: self.inner.vertex_count() })
    }

    /// Returns the mesh translated by a vector, in m.
    fn translated(&self, by: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.mapped(by.py(), Affine3::from_translation(Numbers::vector(by, "by")?))
    }

    /// Returns the mesh scaled about the origin.
    fn scaled(&self, py: Python<'_>, factor: f64) -> PyResult<Self> {
        self.mapped(py, Affine3::from_scale(Vec3::splat(factor)))
    }

    /// Returns the mesh mapped by a matrix of shape ``(3, 3)``, ``(3, 4)`` or ``(4, 4)``.
    fn transformed(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>) -> PyResult<Self> {
        let matrix = Numbers::any(matrix, "matrix")?;
        let columns = match *matrix.shape() {
            [3, columns @ (3 | 4)] => columns,
            [4, 4] => 4,
            _ => return Err(matrix.shape_error("matrix", "(3, 3), (3, 4) or (4, 4)")),
        };
        if let Some(last) = matrix.flat().get(12..16).filter(|last| **last != [0.0, 0.0, 0.0, 1.0]) {
            let message = format!("matrix has the last row {last:?}, expected [0, 0, 0, 1]");
            return Err(PyValueError::new_err(message));
        }
        let at = |row: usize, column: usize| matrix.flat()[row * columns + column];
        let column = |j: usize| Vec3::new(at(0, j), at(1, j), at(2, j));
        let translation = if columns == 4 { column(3) } else { Vec3::ZERO };
        let linear = Mat3::from_cols(column(0), column(1), column(2));
        self.mapped(py, Affine3 { matrix3: linear, translation })
    }

    /// Returns the mesh with every element refined into eight.
    fn refined(&self, py: Python<'_>) -> PyResult<Self> {
        work(py, || self.inner.refined()).map(Self::from).or_raise(Kind::Mesh)
    }

    /// Returns the mesh with every hexahedron split into 5 or 6 tetrahedra.
    #[pyo3(signature = (into=5))]
    fn split_hexes(&self, py: Python<'_>, #[pyo3(from_py_with = count)] into: usize) -> PyResult<Self> {
        let split = match into {
            5 => HexSplit::Five,
            6 => HexSplit::Six,
            _ => return Err(PyValueError::new_err(format!("into {into} tetrahedra, expected 5 or 6"))),
        };
        work(py, || self.inner.split_hexes(split)).map(Self::from).or_raise(Kind::Mesh)
    }

    /// Returns the mesh of some elements or of a region, and the original indices of its vertices.
    fn extract<'py>(
        &self,
        py: Python<'py>,
        elements: &Bound<'py, PyAny>,
    ) -> PyResult<(Self, Bound<'py, PyArray1<i64>>)> {
        let region = elements.extract::<String>().ok().filter(|name| self.inner.region_index(name).is_some());
        let extracted = if let Some(name) = region {
            work(py, || self.inner.extract_region(&name))
        } else {
            let (count, sets) = (self.inner.element_count(), self.inner.element_sets());
            let chosen = Choice { of: "elements", count, sets, surface: None }.choose(elements, "elements")?;
            work(py, || self.inner.extract(&chosen))
        };
        let extracted = extracted.or_raise(Kind::Mesh)?;
        let vertices = index_list(py, &extracted.vertices);
        Ok((extracted.mesh.into(), vertices))
    }

    fn __copy__(&self) -> Self {
        // The mesh is immutable.
        Self { inner: self.inner.clone(), vertices: PyOnceLock::new(), elements: PyOnceLock::new() }
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
    }

    /// Supports ``pickle``: returns the arguments that create the mesh, with the materials of its file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let materials: Vec<_> = this.inner.regions().iter().map(|region| (&region.material, region.fill)).collect();
        let materials = serde_json::to_string(&materials).or_raise(Kind::Mesh)?;
        let sets = (this.vertex_sets(py)?, this.element_sets(py)?, this.face_sets(py)?);
        let parts = (this.vertices(py)?, this.elements(py)?, this.regions(py)?, sets.0, sets.1, sets.2, materials);
        Ok((slf.get_type().getattr("_restored")?, parts.into_pyobject(py)?))
    }

    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "one per part of a mesh")]
    fn _restored(
        py: Python<'_>,
        vertices: &Bound<'_, PyAny>,
        elements: &Bound<'_, PyAny>,
        regions: &Bound<'_, PyMapping>,
        vertex_sets: &Bound<'_, PyMapping>,
        element_sets: &Bound<'_, PyMapping>,
        face_sets: &Bound<'_, PyMapping>,
        materials: &str,
    ) -> PyResult<Self> {
        let sets = [vertex_sets, element_sets, face_sets].map(Some);
        let mesh = Self::new(py, vertices, elements, Some(regions), sets[0], sets[1], sets[2])?;
        let materials: Vec<(Option<pliant::mesh::MaterialData>, f64)> =
            serde_json::from_str(materials).or_raise(Kind::Mesh)?;
        let mut labels = mesh.inner.labels();
        for (region, (material, fill)) in labels.regions.iter_mut().zip(materials) {
            (region.material, region.fill) = (material, fill);
        }
        let checked = work(py, || (*mesh.inner).clone().with_labels(labels)).or_raise(Kind::Mesh)?;
        Ok(checked.mesh.into())
    }

    fn __repr__(&self) -> String {
        let elements = self.inner.kind().count(self.inner.element_count());
        let names: Vec<&str> = self.inner.regions().iter().map(|region| region.name.as_str()).collect();
        let regions = if names == [BODY] { String::new() } else { format!(" in the regions {}", names.join(", ")) };
        format!("<pliant.Mesh: {} vertices, {elements}{regions}>", self.inner.vertex_count())
    }
}

impl Mesh {
    /// Returns the faces that `value` selects; see the documentation of `faces`.
    pub fn choose_faces(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<ElementFace>> {
        let mesh = &self.inner;
        if has_names(value) {
            let names = value.extract::<String>().map(|name| vec![name]).or_else(|_| value.extract::<Vec<String>>())?;
            let mut all = Vec::new();
            for name in names {
                let Some(faces) = work(value.py(), || mesh.faces_named(&name)) else {
                    let known: Vec<String> =
                        mesh.named_vertices().into_keys().map(|name| format!("`{name}`")).collect();
                    let known = known.join(", ");
                    return Err(
                        Kind::Mesh.error(format!("there is no face set `{name}`; expected one of {known}, `surface`"))
                    );
                };
                all.extend(faces);
            }
            all.sort_unstable();
            all.dedup();
            return Ok(all);
        }
        let array = as_array(value, what)?;
        if array.shape().len() == 2
            && let Some(faces) = read_faces(value, what, mesh.kind(), mesh.connectivity(), mesh.vertex_count())?
        {
            return Ok(faces);
        }
        let vertices = self.choose(value, what)?;
        Ok(work(value.py(), || mesh.faces_within(&vertices)))
    }

    fn choose(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u32>> {
        let surface = || Ok(work(value.py(), || self.inner.boundary().vertices));
        let (count, sets) = (self.inner.vertex_count(), self.inner.named_vertices());
        Choice { of: "vertices", count, sets: &sets, surface: Some(&surface) }.choose(value, what)
    }

    fn mapped(&self, py: Python<'_>, map: Affine3) -> PyResult<Self> {
        work(py, || self.inner.transformed(map)).map(Self::from).or_raise(Kind::Mesh)
    }
}

/// Returns faces as rows of an element and a side.
fn face_rows<'py>(py: Python<'py>, faces: &[ElementFace]) -> Bound<'py, PyArray2<i64>> {
    let numbers: Vec<u32> = faces.iter().flat_map(|&(element, side)| [element, u32::from(side)]).collect();
    index_rows(py, &numbers, 2)
}

/// Reads faces from rows of an element and a side, or of vertices. Returns `None` if the array has another shape.
fn read_faces(
    value: &Bound<'_, PyAny>,
    what: &str,
    kind: ElementKind,
    elements: &[u32],
    vertex_count: usize,
) -> PyResult<Option<Vec<ElementFace>>> {
    let array = as_array(value, what)?;
    let (shape, corners) = (array.shape().to_vec(), kind.faces()[0].len());
    if array.is_empty() {
        return Ok(Some(Vec::new()));
    }
    match shape[..] {
        [_, 2] => {
            let (count, sides) = (elements.len() / kind.nodes(), kind.faces().len());
            let (numbers, _) = indices(value, what, count.max(sides))?;
            let (pairs, _) = numbers.as_chunks::<2>();
            let is_missing = |&&[element, side]: &&[u32; 2]| element as usize >= count || side as usize >= sides;
            if let Some([element, side]) = pairs.iter().find(is_missing) {
                let (last, last_side) = (count - 1, sides - 1);
                return Err(Kind::Mesh.error(format!(
                    "{what}: side {side} of element {element} does not exist: expected elements 0 to {last} and sides 0 to {last_side}"
                )));
            }
            Ok(Some(pairs.iter().map(|&[element, side]| (element, side as u8)).collect()))
        }
        [_, n] if n == corners => {
            let (numbers, _) = indices(value, what, vertex_count)?;
            let rows = numbers.chunks_exact(n);
            let found = pliant::mesh::find_faces(kind, elements, vertex_count, rows.clone());
            if let Some(row) = found.iter().position(Option::is_none) {
                let vertices = rows.clone().nth(row).unwrap_or_default();
                let message = format!("{what}: row {row}, {vertices:?}, is not a face of an element");
                return Err(Kind::Mesh.error(message));
            }
            Ok(Some(found.into_iter().flatten().collect()))
        }
        _ => Ok(None),
    }
}

fn set_arrays<'py>(py: Python<'py>, sets: &Sets) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, numbers) in sets {
        table.set_item(name, index_list(py, numbers))?;
    }
    Ok(table)
}

fn read_sets(table: Option<&Bound<'_, PyMapping>>, of: &str, count: usize) -> PyResult<Sets> {
    let none = Sets::new();
    let choice = Choice { of, count, sets: &none, surface: None };
    let read = |(name, numbers): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let mut numbers = choice.choose(&numbers, &format!("the set {name:?}"))?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok((name, numbers))
    };
    table.map_or_else(|| Ok(Vec::new()), items)?.into_iter().map(read).collect()
}

/// Reads face sets, whose faces may be specified by their vertices.
fn read_face_sets(
    sets: Option<&Bound<'_, PyMapping>>,
    kind: ElementKind,
    elements: &[u32],
    vertex_count: usize,
) -> PyResult<FaceSets> {
    let mut read = FaceSets::new();
    for (name, value) in sets.map_or_else(|| Ok(Vec::new()), items)? {
        let name: String = name.extract()?;
        let what = format!("face_sets[{name:?}]");
        let faces = read_faces(&value, &what, kind, elements, vertex_count)?;
        let Some(faces) = faces else {
            let corners = kind.faces()[0].len();
            let message = format!("{what}: expected (n, 2), elements and sides, or (n, {corners}), vertices of faces");
            return Err(PyValueError::new_err(message));
        };
        read.insert(name, faces);
    }
    Ok(read)
}

/// Reads regions and returns them with that of each element. Regions that keep their name keep the material of `old`.
fn read_regions(
    old: &[Region],
    regions: &Bound<'_, PyMapping>,
    element_count: usize,
) -> PyResult<(Vec<Region>, Vec<u32>)> {
    /// Marker of elements without a region.
    const NONE: u32 = u32::MAX;
    if old.iter().any(|region| region.fill < 1.0) {
        let message = "the regions of this mesh store the fill of partially filled elements and cannot be replaced";
        return Err(Kind::Mesh.error(message));
    }
    let mut known: BTreeMap<String, Region> = old.iter().map(|region| (region.name.clone(), region.clone())).collect();
    let mut list = Vec::new();
    let mut of_element = vec![NONE; element_count];
    let sets = Sets::new();
    let choice = Choice { of: "elements", count: element_count, sets: &sets, surface: None };
    let mut add = |list: &mut Vec<Region>, name: String| {
        list.push(known.remove(&name).unwrap_or_else(|| Region::named(name)));
        list.len() as u32 - 1
    };
    for (name, elements) in items(regions)? {
        let name: String = name.extract()?;
        let elements = choice.choose(&elements, &format!("the region {name:?}"))?;
        let number = add(&mut list, name);
        for element in elements {
            let before = std::mem::replace(&mut of_element[element as usize], number);
            if before != NONE && before != number {
                let names = [before, number].map(|region| list[region as usize].name.clone());
                let message = format!("element {element} is in two regions, `{}` and `{}`", names[0], names[1]);
                return Err(Kind::Mesh.error(message));
            }
        }
    }
    if of_element.contains(&NONE) {
        let own = list.iter().position(|region| region.name == BODY);
        let rest = own.map_or_else(|| add(&mut list, BODY.into()), |number| number as u32);
        of_element.iter_mut().filter(|region| **region == NONE).for_each(|region| *region = rest);
    }
    Ok((list, of_element))
}
