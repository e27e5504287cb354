//! Common parts of VTK's legacy and XML files: cell types, number types, and the arrays that are part of a mesh.
//!
//! - Cell data `region`, integers: the region of each cell. Some names that other programs use are accepted too.
//! - Field data `region_names`: the names of regions 0, 1, 2, … as bytes, each terminated by a zero.
//! - Point and cell data `set:NAME`, nonzero for each point or cell in the set NAME. Polygons next to tetrahedra or
//!   hexahedra are faces of these.
//! - Field data `faces:NAME`: the faces of the set NAME. Each is the number of a tetrahedron or hexahedron and the
//!   number of its side, counted from 0 in the order of Abaqus.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use crate::files::{Location, ReadError};
use crate::io::raw::RawMesh;
use crate::math::Vec3;
use crate::mesh::{ElementFace, ElementKind, FaceSets, Region, Sets, SurfaceMesh, VolumeMesh};

/// Cell data with regions: Pliant's name, then common names of other programs. The first that is present is used.
const TAG_ARRAYS: [&str; 6] = ["region", "gmsh:physical", "medit:ref", "material", "MaterialIds", "CellEntityIds"];

/// Field data with the names of the regions.
pub(super) const REGION_NAMES: &str = "region_names";

/// Prefix of the names of arrays with the members of a set.
const SET_PREFIX: &str = "set:";

/// Prefix of the names of arrays with the faces of a set.
const FACES_PREFIX: &str = "faces:";

/// Cell data with the number of each element, used in grids for PyVista; redundant with the order of the cells.
const ELEMENT_NUMBERS: &str = "pliant:element";

/// Maximum number of dropped arrays in a note.
const ARRAYS_NAMED: usize = 20;

pub(super) const POLYVERTEX: u8 = 2;
pub(super) const POLYLINE: u8 = 4;
const TRIANGLE: u8 = 5;
pub(super) const STRIP: u8 = 6;
pub(super) const POLYGON: u8 = 7;
const QUAD: u8 = 9;
const TETRAHEDRON: u8 = 10;
const HEXAHEDRON: u8 = 12;

/// Shape of a cell in a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellShape {
    /// Points and lines.
    Skipped,
    Polygon,
    /// Quadrilateral with its last two corners exchanged.
    Pixel,
    Strip,
    Tet,
    Hex,
    /// Hexahedron made of two pixels.
    Voxel,
}

impl CellShape {
    /// Returns the shape of a VTK cell type with its minimum and maximum number of corners; an error names the type.
    fn of(code: u8) -> Result<(Self, usize, usize), &'static str> {
        const ANY: usize = usize::MAX;
        Ok(match code {
            // Empty cells, points, lines, curved lines.
            0..=4 | 21 | 35 | 68 | 75 => (Self::Skipped, 0, ANY),
            TRIANGLE => (Self::Polygon, 3, 3),
            STRIP => (Self::Strip, 3, ANY),
            POLYGON => (Self::Polygon, 3, ANY),
            8 => (Self::Pixel, 4, 4),
            QUAD => (Self::Polygon, 4, 4),
            TETRAHEDRON => (Self::Tet, 4, 4),
            11 => (Self::Voxel, 8, 8),
            HEXAHEDRON => (Self::Hex, 8, 8),
            _ => return Err(unsupported(code)),
        })
    }

    fn is_volume(self) -> bool {
        matches!(self, Self::Tet | Self::Hex | Self::Voxel)
    }
}

/// Returns the common name of an unsupported cell type.
fn unsupported(code: u8) -> &'static str {
    match code {
        13 => "wedge",
        14 => "pyramid",
        15 => "pentagonal prism",
        16 => "hexagonal prism",
        22 => "6-node triangle",
        23 => "8-node quadrilateral",
        24 => "10-node tetrahedron",
        25 => "20-node hexahedron",
        26 => "15-node wedge",
        27 => "13-node pyramid",
        28 => "9-node quadrilateral",
        29 => "27-node hexahedron",
        30 => "6-node quadrilateral",
        31 => "12-node wedge",
        32 => "18-node wedge",
        33 => "24-node hexahedron",
        34 => "7-node triangle",
        36 => "quadratic polygon",
        37 => "19-node pyramid",
        41 => "convex point set",
        42 => "polyhedron",
        69 | 76 => "higher-order triangle",
        70 | 77 => "higher-order quadrilateral",
        71 | 78 => "higher-order tetrahedron",
        72 | 79 => "higher-order hexahedron",
        73 | 80 => "higher-order wedge",
        74 | 81 => "higher-order pyramid",
        _ => "cell of unknown type",
    }
}

/// Returns the vertices, or the index of the first coordinate that is not finite.
pub(super) fn vertices(coordinates: &[f64]) -> Result<Vec<Vec3>, usize> {
    match coordinates.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(index),
        None => Ok(coordinates.as_chunks().0.iter().map(|&[x, y, z]| Vec3::new(x, y, z)).collect()),
    }
}

/// Returns the name of the coordinate at `index`, for errors.
pub(super) fn coordinate_name(index: usize) -> &'static str {
    ["an x coordinate", "a y coordinate", "a z coordinate"][index % 3]
}

/// Converts `value` to the number of one of `points`.
pub(super) fn vertex_number(value: i64, points: usize) -> Option<u32> {
    u32::try_from(value).ok().filter(|&v| (v as usize) < points)
}

/// Returns what was expected instead of an invalid vertex number.
pub(super) fn expected_vertex(points: usize) -> String {
    format!("the number of one of the {points} points, counted from 0")
}

/// Meaning of an integer array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role<'a> {
    /// Region of each cell, with the rank of the array in [`TAG_ARRAYS`]; a lower rank takes precedence.
    Tags(usize),
    /// Membership in a set.
    Set(&'a str),
    Other,
}

impl<'a> Role<'a> {
    pub fn of_cell_data(name: &'a str) -> Self {
        TAG_ARRAYS.iter().position(|&tags| tags == name).map_or_else(|| Self::of_point_data(name), Self::Tags)
    }

    pub fn of_point_data(name: &'a str) -> Self {
        name.strip_prefix(SET_PREFIX).map_or(Self::Other, Self::Set)
    }

    /// Returns the rank of an array with regions; a lower rank takes precedence.
    pub fn rank(self) -> Option<usize> {
        match self {
            Self::Tags(rank) => Some(rank),
            Self::Set(_) | Self::Other => None,
        }
    }
}

/// Grid of a file, or a piece of one. `ends` is non-decreasing, at most the length of `nodes`, and as long as `types`.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub vertices: Vec<Vec3>,
    pub types: Vec<u8>,
    /// End of the nodes of each cell in `nodes`.
    pub ends: Vec<usize>,
    pub nodes: Vec<u32>,
    /// Array with regions of the lowest rank so far: its position in [`TAG_ARRAYS`], and one number per cell.
    tags: Option<(usize, Vec<i64>)>,
    cell_sets: Vec<(String, Vec<u32>)>,
    point_sets: Vec<(String, Vec<u32>)>,
}

impl Piece {
    /// Adds an array with one number per cell. Returns the name of an array that is not used.
    pub fn cell_data(&mut self, name: &str, values: Vec<i64>) -> Option<String> {
        match Role::of_cell_data(name) {
            Role::Tags(rank) => {
                if self.tags.as_ref().is_some_and(|&(best, _)| best <= rank) {
                    return Some(name.into());
                }
                let worse = self.tags.replace((rank, values));
                worse.map(|(rank, _)| TAG_ARRAYS[rank].into())
            }
            Role::Set(set) => {
                self.cell_sets.push((set.into(), members(&values)));
                None
            }
            Role::Other => Some(name.into()),
        }
    }

    /// Adds an array with one number per point. Returns its name if it is not used.
    pub fn point_data(&mut self, name: &str, values: &[i64]) -> Option<String> {
        match Role::of_point_data(name) {
            Role::Set(set) => {
                self.point_sets.push((set.into(), members(values)));
                None
            }
            Role::Tags(_) | Role::Other => Some(name.into()),
        }
    }
}

fn members(values: &[i64]) -> Vec<u32> {
    values.iter().zip(0..).filter(|&(&value, _)| value != 0).map(|(_, index)| index).collect()
}

/// Encodes names as zero-terminated bytes: not every reader of VTK files supports VTK's arrays of strings.
pub(super) fn names_to_bytes<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u8> {
    names.flat_map(|name| name.bytes().filter(|&byte| byte != 0).chain([0])).collect()
}

/// Decodes names from zero-terminated bytes.
pub(super) fn bytes_to_names(bytes: &[u8]) -> impl Iterator<Item = String> + Clone {
    let terminated = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    terminated.split(|&byte| byte == 0).map(|name| String::from_utf8_lossy(name).into())
}

/// Mesh assembled from pieces.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    raw: RawMesh,
    region_names: Vec<String>,
    /// Arrays that are not kept.
    dropped: BTreeSet<String>,
    /// Position in [`TAG_ARRAYS`] of the array with the regions.
    tag_array: Option<usize>,
    points_and_lines: usize,
    /// Members of sets that are points or lines.
    strays: usize,
}

impl Assembly {
    /// Sets the names of regions 0, 1, 2, …
    pub fn name_regions(&mut self, names: Vec<String>) {
        self.region_names = names;
    }

    /// Returns the name of the face set in an array of field data, if it contains one.
    pub fn face_set(array: &str) -> Option<&str> {
        array.strip_prefix(FACES_PREFIX)
    }

    /// Adds the faces of a set, alternately an element and a side. Invalid numbers are found by the mesh check.
    pub fn add_faces(&mut self, set: &str, values: &[i64]) {
        let (pairs, rest) = values.as_chunks::<2>();
        if !rest.is_empty() {
            self.drop_array(format!("{FACES_PREFIX}{set}"));
            return;
        }
        let face = |&[element, side]: &[i64; 2]| -> ElementFace {
            (u32::try_from(element).unwrap_or(u32::MAX), u8::try_from(side).unwrap_or(u8::MAX))
        };
        self.raw.face_sets.entry(set.into()).or_default().extend(pairs.iter().map(face));
    }

    /// Notes that an array of the file is not kept.
    pub fn drop_array(&mut self, name: impl Into<String>) {
        let name = name.into();
        if name != ELEMENT_NUMBERS {
            self.dropped.insert(name);
        }
    }

    /// Adds a piece; `place` locates its cell types, for errors.
    pub fn add(&mut self, piece: Piece, path: &Path, place: impl Fn() -> Location) -> Result<(), ReadError> {
        let raw = &mut self.raw;
        let base = raw.vertices.len();
        // A strip has almost three corners per node.
        let face_corners = raw.faces.faces.vertices().len() + 3 * piece.nodes.len();
        for (what, count) in [("points", base + piece.vertices.len()), ("corners of cells", face_corners)] {
            if u32::try_from(count).is_err() {
                return Err(ReadError::at(path, place(), format!("at most {} {what}", u32::MAX), format!("{count}")));
            }
        }
        let base = base as u32;
        let first_element = raw.tets.tags.len() + raw.hexes.tags.len();
        let first_face = raw.faces.tags.len();
        let tags = piece.tags.as_ref().map_or(&[][..], |(_, tags)| tags);
        let mut start = 0;
        let mut corners = Vec::new();
        for (cell, (&code, &end)) in piece.types.iter().zip(&piece.ends).enumerate() {
            let (shape, min, max) = CellShape::of(code).map_err(|name| {
                let found = format!("a {name} (VTK type {code}) as cell {cell}, counted from 0");
                ReadError::at(path, place(), "tetrahedra, hexahedra, polygons, lines or points", found)
            })?;
            let nodes = &piece.nodes[start..end];
            start = end;
            if nodes.len() < min || nodes.len() > max {
                let at_least = if min == max { "" } else { "at least " };
                let expected = format!("{at_least}{min} vertices in cell {cell} (VTK type {code}), counted from 0");
                return Err(ReadError::at(path, place(), expected, format!("{}", nodes.len())));
            }
            corners.clear();
            corners.extend(nodes.iter().map(|&v| v.saturating_add(base)));
            let tag = tags.get(cell).copied().unwrap_or(0);
            match shape {
                CellShape::Skipped => self.points_and_lines += 1,
                CellShape::Polygon => raw.faces.push(&corners, tag),
                CellShape::Pixel => {
                    corners.swap(2, 3);
                    raw.faces.push(&corners, tag);
                }
                CellShape::Strip => {
                    for (i, triangle) in corners.windows(3).enumerate() {
                        let [a, b, c] = [triangle[0], triangle[1], triangle[2]];
                        // Every other triangle of a strip has the opposite winding.
                        raw.faces.push(&if i % 2 == 0 { [a, b, c] } else { [b, a, c] }, tag);
                    }
                }
                CellShape::Tet => raw.tets.push(&corners, tag),
                CellShape::Hex => raw.hexes.push(&corners, tag),
                CellShape::Voxel => {
                    corners.swap(2, 3);
                    corners.swap(6, 7);
                    raw.hexes.push(&corners, tag);
                }
            }
        }
        self.add_sets(&piece, base, first_element, first_face);
        self.tag_array = self.tag_array.or(piece.tags.map(|(rank, _)| rank));
        self.raw.vertices.extend(piece.vertices);
        Ok(())
    }

    fn add_sets(&mut self, piece: &Piece, base: u32, first_element: usize, first_face: usize) {
        for (name, members) in &piece.point_sets {
            self.raw.vertex_sets.entry(name.clone()).or_default().extend(members.iter().map(|&v| v + base));
        }
        if piece.cell_sets.is_empty() {
            return;
        }
        // Each cell became an element, faces, or nothing.
        let (mut next_element, mut next_face, mut start) = (first_element as u32, first_face as u32, 0);
        let mut elements: Vec<Option<u32>> = Vec::with_capacity(piece.types.len());
        let mut faces: Vec<Range<u32>> = Vec::with_capacity(piece.types.len());
        for (&code, &end) in piece.types.iter().zip(&piece.ends) {
            let corners = end - start;
            start = end;
            let shape = CellShape::of(code).map_or(CellShape::Skipped, |(shape, ..)| shape);
            elements.push(shape.is_volume().then_some(next_element));
            next_element += u32::from(shape.is_volume());
            let count = match shape {
                CellShape::Polygon | CellShape::Pixel => 1,
                CellShape::Strip => corners as u32 - 2,
                _ => 0,
            };
            faces.push(next_face..next_face + count);
            next_face += count;
        }
        for (name, members) in &piece.cell_sets {
            let (mut of_elements, mut of_faces) = (Vec::new(), Vec::new());
            for cell in members.iter().map(|&cell| cell as usize).filter(|&cell| cell < elements.len()) {
                match elements[cell] {
                    Some(element) => of_elements.push(element),
                    None if faces[cell].is_empty() => self.strays += 1,
                    None => of_faces.extend(faces[cell].clone()),
                }
            }
            if !of_elements.is_empty() || of_faces.is_empty() {
                self.raw.element_sets.entry(name.clone()).or_default().extend(of_elements);
            }
            if !of_faces.is_empty() {
                self.raw.face_groups.entry(name.clone()).or_default().extend(of_faces);
            }
        }
    }

    /// Names the tags and notes what was not kept.
    pub fn finish(mut self) -> RawMesh {
        let raw = &mut self.raw;
        let distinct = |tags: &[i64]| tags.chunk_by(|a, b| a == b).map(|run| run[0]).collect::<BTreeSet<i64>>();
        let face_tags = distinct(&raw.faces.tags);
        let element_tags: BTreeSet<i64> = distinct(&raw.tets.tags).union(&distinct(&raw.hexes.tags)).copied().collect();
        for (name, tag) in self.region_names.into_iter().zip(0..) {
            let of_faces = face_tags.contains(&tag);
            if !of_faces || element_tags.contains(&tag) {
                raw.region_names.insert(tag, name.clone());
            }
            if of_faces {
                raw.face_names.insert(tag, name);
            }
        }
        if let Some(rank) = self.tag_array.filter(|&rank| rank > 0) {
            raw.notes.push(format!("the regions are those of the cell data `{}`", TAG_ARRAYS[rank]));
        }
        if self.points_and_lines > 0 {
            raw.notes.push(format!("{} cells that are points or lines are not kept", self.points_and_lines));
        }
        if self.strays > 0 {
            raw.notes.push(format!("{} cells of sets are points or lines: not kept in the sets", self.strays));
        }
        if !self.dropped.is_empty() {
            let names: Vec<&str> = self.dropped.iter().take(ARRAYS_NAMED).map(String::as_str).collect();
            let more = match self.dropped.len() - names.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            raw.notes.push(format!("data arrays that are not kept: {}{more}", names.join(", ")));
        }
        self.raw
    }
}

/// Mesh in VTK's layout, to write.
#[derive(Debug)]
pub(super) struct Grid<'a> {
    pub vertices: &'a [Vec3],
    pub types: Vec<u8>,
    /// End of the nodes of each cell in `nodes`.
    pub ends: Vec<usize>,
    pub nodes: &'a [u32],
    /// Regions; empty for a single unnamed region, which readers call `body`.
    pub regions: &'a [Region],
    /// Region of each cell; empty if `regions` is.
    pub cell_region: &'a [u32],
    /// Names of the arrays, and the members of the sets.
    pub cell_sets: Vec<(String, &'a [u32])>,
    pub point_sets: Vec<(String, &'a [u32])>,
    /// Names of the arrays, and the faces of the sets: alternately an element and a side.
    pub face_sets: Vec<(String, Vec<u32>)>,
}

/// Name of the array with the regions.
pub(super) const REGION: &str = TAG_ARRAYS[0];

impl<'a> Grid<'a> {
    pub fn of_volume(mesh: &'a VolumeMesh) -> Self {
        let cells = mesh.element_count();
        let (nodes, code) = match mesh.kind() {
            ElementKind::Tet4 => (4, TETRAHEDRON),
            ElementKind::Hex8 => (8, HEXAHEDRON),
        };
        let plain = matches!(mesh.regions(), [only] if only.name == "body");
        Self {
            vertices: mesh.vertices(),
            types: vec![code; cells],
            ends: (1..=cells).map(|cell| cell * nodes).collect(),
            nodes: mesh.connectivity(),
            regions: if plain { &[] } else { mesh.regions() },
            cell_region: if plain { &[] } else { mesh.element_region() },
            cell_sets: named_sets(mesh.element_sets()),
            point_sets: named_sets(mesh.vertex_sets()),
            face_sets: face_arrays(mesh.face_sets()),
        }
    }

    pub fn of_surface(mesh: &'a SurfaceMesh) -> Self {
        let faces = mesh.faces();
        let code = |face: &[u32]| match face.len() {
            3 => TRIANGLE,
            4 => QUAD,
            _ => POLYGON,
        };
        let end = |end: &mut usize, face: &[u32]| {
            *end += face.len();
            Some(*end)
        };
        Self {
            vertices: mesh.vertices(),
            types: faces.iter().map(code).collect(),
            ends: faces.iter().scan(0, end).collect(),
            nodes: faces.vertices(),
            regions: &[],
            cell_region: &[],
            cell_sets: Vec::new(),
            point_sets: Vec::new(),
            face_sets: Vec::new(),
        }
    }

    /// Returns the nodes of each cell.
    pub fn cells(&self) -> impl Iterator<Item = &'a [u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.nodes[start..end])
    }
}

fn named_sets(sets: &Sets) -> Vec<(String, &[u32])> {
    sets.iter().map(|(name, members)| (format!("{SET_PREFIX}{name}"), members.as_slice())).collect()
}

fn face_arrays(sets: &FaceSets) -> Vec<(String, Vec<u32>)> {
    let flat = |set: &[ElementFace]| set.iter().flat_map(|&(element, side)| [element, u32::from(side)]).collect();
    sets.iter().map(|(name, set)| (format!("{FACES_PREFIX}{name}"), flat(set))).collect()
}

/// Returns a set as `count` numbers: 1 for each member and 0 for the others.
pub(super) fn mask(members: &[u32], count: usize) -> Vec<u8> {
    let mut mask = vec![0; count];
    for &member in members {
        mask[member as usize] = 1;
    }
    mask
}

/// Helpers for the tests of both formats.
#[cfg(test)]
pub(super) mod testing {
    use std::path::Path;

    use super::example;
    use crate::files::{Memory, ReadError};
    use crate::io::{Encoding, Loaded, Mesh, WriteOptions, read_from, write_to};
    use crate::mesh::{ElementKind, VolumeMesh};

    pub fn load(name: &str, bytes: &[u8]) -> Result<Loaded, ReadError> {
        read_from(&Memory::with(name, bytes), Path::new(name))
    }

    pub fn volume(name: &str, bytes: &[u8]) -> (VolumeMesh, Vec<String>) {
        let loaded = load(name, bytes).unwrap();
        let notes = loaded.notes.clone();
        (loaded.volume(), notes)
    }

    /// Asserts that the example is read back unchanged in every encoding.
    pub fn assert_read_back_equal(name: &str) {
        for kind in [ElementKind::Tet4, ElementKind::Hex8] {
            for encoding in [Encoding::Usual, Encoding::Text, Encoding::Binary] {
                let (files, path, mesh) = (Memory::default(), Path::new(name), Mesh::Volume(example(kind)));
                let options = WriteOptions { encoding, ..WriteOptions::default() };
                assert!(write_to(&files, path, &mesh, &options).unwrap().is_empty());
                let loaded = read_from(&files, path).unwrap();
                assert_eq!((loaded.mesh, loaded.notes), (mesh, vec![]), "{encoding:?}");
            }
        }
    }
}

/// Returns two elements with every feature that VTK files store.
#[cfg(test)]
pub(super) fn example(kind: ElementKind) -> VolumeMesh {
    use crate::mesh::MeshData;
    let (vertices, elements) = match kind {
        ElementKind::Tet4 => {
            (vec![Vec3::ZERO, Vec3::X / 3.0, Vec3::Y, Vec3::Z * 1e-7, Vec3::ONE], vec![0, 1, 2, 3, 1, 2, 3, 4])
        }
        ElementKind::Hex8 => {
            let square = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y];
            let vertices = (0..3).flat_map(|z| square.map(|p| p + f64::from(z) * Vec3::Z)).collect();
            (vertices, (0..8).chain(4..12).collect())
        }
    };
    let mut data = MeshData::new(vertices, kind, elements);
    data.regions = vec![Region::named("soft \"bit\" <100%>"), Region::named("härter\n")];
    data.element_region = vec![1, 0];
    data.vertex_sets = Sets::from([("fixed & loaded".into(), vec![0, 2]), ("nothing".into(), vec![])]);
    data.element_sets = Sets::from([("ø 5%".into(), vec![1])]);
    data.face_sets = FaceSets::from([("a \"side\" & more".into(), vec![(0, 0), (1, 3)]), ("no faces".into(), vec![])]);
    VolumeMesh::check(data).expect("the example is a mesh").mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assembles a piece with these cells over eight points.
    fn assemble(cells: &[(u8, &[u32])], cell_data: &[(&str, &[i64])]) -> Result<RawMesh, ReadError> {
        let mut piece = Piece { vertices: vec![Vec3::ZERO; 8], ..Piece::default() };
        for (code, nodes) in cells {
            piece.types.push(*code);
            piece.nodes.extend_from_slice(nodes);
            piece.ends.push(piece.nodes.len());
        }
        let mut assembly = Assembly::default();
        for (name, values) in cell_data {
            if let Some(unused) = piece.cell_data(name, values.to_vec()) {
                assembly.drop_array(unused);
            }
        }
        assembly.add(piece, Path::new("m.vtk"), || Location::Line(3))?;
        Ok(assembly.finish())
    }

    #[test]
    fn pixels_and_voxels_are_put_in_order() {
        let raw = assemble(&[(8, &[0, 1, 2, 3]), (11, &[0, 1, 2, 3, 4, 5, 6, 7])], &[]).unwrap();
        assert_eq!(raw.faces.faces.get(0), [0, 1, 3, 2]);
        assert_eq!(raw.hexes.nodes, [0, 1, 3, 2, 4, 5, 7, 6]);
    }

    #[test]
    fn strips_become_triangles_of_one_winding() {
        let raw = assemble(&[(STRIP, &[0, 1, 2, 3, 4])], &[]).unwrap();
        assert_eq!(raw.faces.faces.iter().collect::<Vec<_>>(), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
    }

    #[test]
    fn cell_data_stay_with_their_cells_in_mixed_meshes() {
        let cells: &[(u8, &[u32])] = &[(3, &[0, 1]), (10, &[0, 1, 2, 3]), (5, &[0, 1, 2]), (10, &[1, 2, 3, 4])];
        let data: &[(&str, &[i64])] = &[
            ("material", &[9; 4]),
            ("gmsh:physical", &[1, 2, 3, 4]),
            ("set:few", &[1, 0, 1, 1]),
            ("MaterialIds", &[0; 4]),
        ];
        let raw = assemble(cells, data).unwrap();
        assert_eq!((raw.tets.tags, raw.faces.tags), (vec![2, 4], vec![3]));
        assert_eq!((&raw.element_sets["few"][..], &raw.face_groups["few"][..]), (&[1][..], &[0][..]));
        let notes = [
            "the regions are those of the cell data `gmsh:physical`",
            "1 cells that are points or lines are not kept",
            "1 cells of sets are points or lines: not kept in the sets",
            "data arrays that are not kept: MaterialIds, material",
        ];
        assert_eq!(raw.notes, notes);
    }

    #[test]
    fn names_of_regions_reach_faces_too() {
        let mut assembly = Assembly::default();
        assembly.name_regions(vec!["bulk".into(), "skin".into(), "nowhere".into()]);
        let mut piece = Piece { types: vec![10, 5], ends: vec![4, 7], nodes: vec![0; 7], ..Piece::default() };
        assert_eq!(piece.cell_data("region", vec![0, 1]), None);
        assembly.add(piece, Path::new("m.vtk"), || Location::Whole).unwrap();
        let raw = assembly.finish();
        assert_eq!(raw.region_names.into_iter().collect::<Vec<_>>(), [(0, "bulk".into()), (2, "nowhere".into())]);
        assert_eq!(raw.face_names.into_iter().collect::<Vec<_>>(), [(1, "skin".into())]);
    }

    #[test]
    fn cells_that_cannot_be_kept_are_named() {
        let message = |code, nodes: &[u32]| assemble(&[(code, nodes)], &[]).unwrap_err().to_string();
        let wedge = message(13, &[0; 6]);
        assert!(wedge.starts_with("m.vtk, line 3: expected tetrahedra"), "{wedge}");
        assert!(wedge.ends_with("found a wedge (VTK type 13) as cell 0, counted from 0"), "{wedge}");
        assert!(message(24, &[0; 10]).contains("a 10-node tetrahedron (VTK type 24)"));
        assert!(message(200, &[]).contains("a cell of unknown type (VTK type 200)"));
        assert!(message(10, &[0; 5]).contains("expected 4 vertices in cell 0 (VTK type 10), counted from 0, found 5"));
        assert!(message(7, &[0; 2]).contains("expected at least 3 vertices in cell 0"));
    }
}
