//! `TetGen`'s text meshes: `.node`, `.ele` and `.face` files of one name.
//!
//! ```text
//! bar.node                 bar.ele                 bar.face
//! 4 3 0 1                  1 4 1                   4 1
//! 1  0.0 0.0 0.0  5        1  1 2 3 4  7           1  1 3 2  5
//! …                        …                       …
//! ```
//! The first line of `.node` has the numbers of vertices, dimensions and attributes, and 1 if there are markers. The
//! first line of `.ele` has the numbers of tetrahedra, their vertices and their attributes. The first line of `.face`
//! has the number of triangles, and 1 if there are markers. Every other line has a number, which may start at 0 or 1,
//! coordinates or vertices, attributes and a marker. The first attribute of a tetrahedron is its region. `#` starts a
//! comment. Any of the three files may be named; the others are found next to it. A surface has no `.ele`, or one
//! with 0 tetrahedra.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use super::input_output::{Input, Output, sibling};
use super::raw::{Labels, RawMesh, numbered_faces, region_numbers};
use super::{Feature, Format, WriteOptions};
use crate::files::{ReadError, Scanner, Syntax, WriteError, put};
use crate::math::Vec3;
use crate::mesh::{ElementFace, SurfaceMesh, VolumeMesh};

pub(super) const FORMAT: Format = Format {
    name: "TetGen",
    extensions: &["node", "ele", "face"],
    about: "text; tetrahedra with region numbers, or triangles; markers of triangles are face sets, those of vertices vertex sets",
    binary: false,
    features: &[Feature::Regions, Feature::FaceSets],
    read: Some(read),
    write_volume: Some(write_volume),
    write_surface: Some(write_surface),
};

const SYNTAX: Syntax = Syntax { comment: Some(b'#'), commas: false };

/// Maximum number of a region: larger integers are not exact as floating-point numbers.
const MAX_REGION: f64 = 9_007_199_254_740_992.0;

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let Some(nodes) = File::open(input, "node")? else {
        let expected = format!("the file of the vertices of {}", input.path.display());
        return Err(ReadError::whole(&sibling(input.path, "node"), expected, "none"));
    };
    let (ele, face) = (File::open(input, "ele")?, File::open(input, "face")?);
    if ele.is_none() && face.is_none() {
        let [ele, face] = ["ele", "face"].map(|extension| sibling(input.path, extension));
        let expected = format!("tetrahedra in {} or triangles in {}", ele.display(), face.display());
        return Err(ReadError::whole(input.path, expected, "neither file"));
    }
    let mut reader = Reader::default();
    reader.vertices(&nodes)?;
    ele.map_or(Ok(()), |file| reader.tets(&file))?;
    face.map_or(Ok(()), |file| reader.faces(&file))?;
    Ok(reader.finish())
}

/// File of a mesh: `.node`, `.ele` or `.face`.
struct File<'a> {
    path: PathBuf,
    bytes: Cow<'a, [u8]>,
}

impl<'a> File<'a> {
    /// Reads the file with this extension. Returns `None` if it is absent.
    fn open(input: &Input<'a>, extension: &str) -> Result<Option<Self>, ReadError> {
        let path = sibling(input.path, extension);
        if path == input.path {
            return Ok(Some(Self { path, bytes: Cow::Borrowed(input.bytes) }));
        }
        match input.files.read(&path) {
            Ok(bytes) => Ok(Some(Self { path, bytes: Cow::Owned(bytes) })),
            Err(ReadError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn scan(&self) -> Scanner<'_> {
        Scanner::new(&self.path, &self.bytes, SYNTAX)
    }
}

#[derive(Default)]
struct Reader {
    raw: RawMesh,
    vertex_labels: Labels,
    /// First attribute of a tetrahedron that is not a region number.
    not_a_region: Option<f64>,
    ignored_attributes: bool,
    ignored_columns: bool,
}

impl Reader {
    fn vertices(&mut self, file: &File<'_>) -> Result<(), ReadError> {
        let mut scanner = file.scan();
        let count = scanner.count("vertices", "1 0 0 0\n".len())?;
        let dimensions = optional(&mut scanner, "the number of dimensions", 3)?;
        if dimensions != 3 {
            return Err(scanner.error("3 dimensions", format!("{dimensions}")));
        }
        let attributes = optional(&mut scanner, "the number of attributes", 0)?;
        let markers = optional(&mut scanner, "whether there are markers, 0 or 1", 0)? != 0;
        self.ignored_attributes |= attributes > 0;
        self.raw.vertices.reserve(count);
        for vertex in 0..count {
            next_line(&mut scanner, vertex, count, "vertices")?;
            self.label(&mut scanner)?;
            let names = ["an x coordinate", "a y coordinate", "a z coordinate"];
            let [x, y, z] = names.map(|what| scanner.number_in_line(what));
            self.raw.vertices.push(Vec3::new(x?, y?, z?));
            for _ in 0..attributes {
                scanner.number_in_line("an attribute of the vertex")?;
            }
            if markers {
                let marker = scanner.integer_in_line("the marker of the vertex")?;
                if marker != 0 {
                    self.raw.vertex_sets.entry(format!("marker-{marker}")).or_default().push(vertex as u32);
                }
            }
            self.ignored_columns |= scanner.word_in_line().is_some();
        }
        end(&mut scanner, count, "vertices")
    }

    fn label(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ReadError> {
        let label = scanner.integer_in_line("a vertex number")?;
        if self.vertex_labels.push(label) {
            return Ok(());
        }
        Err(scanner.error("a vertex number not used before", format!("`{label}`")))
    }

    fn tets(&mut self, file: &File<'_>) -> Result<(), ReadError> {
        let mut scanner = file.scan();
        let count = scanner.count("tetrahedra", "1 1 2 3 4\n".len())?;
        match optional(&mut scanner, "the number of vertices of a tetrahedron", 4)? {
            4 => {}
            10 => return Err(scanner.error("tetrahedra of 4 vertices", "second-order tetrahedra of 10 vertices")),
            other => return Err(scanner.error("tetrahedra of 4 vertices", format!("{other}"))),
        }
        let attributes = optional(&mut scanner, "the number of attributes", 0)?;
        self.ignored_attributes |= attributes > 1;
        self.raw.tets.nodes.reserve(4 * count);
        self.raw.tets.tags.reserve(count);
        for tet in 0..count {
            next_line(&mut scanner, tet, count, "tetrahedra")?;
            scanner.integer_in_line("the number of a tetrahedron")?;
            let nodes = self.corners::<4>(&mut scanner)?;
            let mut region = 0;
            for attribute in 0..attributes {
                let value = scanner.number_in_line("an attribute of the tetrahedron")?;
                if attribute == 0 {
                    region = self.region(value);
                }
            }
            self.raw.tets.push(&nodes, region);
            self.ignored_columns |= scanner.word_in_line().is_some();
        }
        end(&mut scanner, count, "tetrahedra")
    }

    fn region(&mut self, attribute: f64) -> i64 {
        if attribute.fract() != 0.0 || attribute.abs() > MAX_REGION {
            self.not_a_region.get_or_insert(attribute);
            return 0;
        }
        attribute as i64
    }

    fn faces(&mut self, file: &File<'_>) -> Result<(), ReadError> {
        let mut scanner = file.scan();
        let count = scanner.count("triangles", "1 1 2 3\n".len())?;
        let markers = optional(&mut scanner, "whether there are markers, 0 or 1", 0)? != 0;
        for face in 0..count {
            next_line(&mut scanner, face, count, "triangles")?;
            scanner.integer_in_line("the number of a triangle")?;
            let corners = self.corners::<3>(&mut scanner)?;
            let marker = if markers { scanner.integer_in_line("the marker of the triangle")? } else { 0 };
            self.raw.faces.push(&corners, marker);
            self.ignored_columns |= scanner.word_in_line().is_some();
        }
        end(&mut scanner, count, "triangles")
    }

    fn corners<const N: usize>(&self, scanner: &mut Scanner<'_>) -> Result<[u32; N], ReadError> {
        let mut corners = [0; N];
        for corner in &mut corners {
            let label = scanner.integer_in_line("a vertex number")?;
            *corner = self.vertex_labels.find(label, "vertex", scanner)?;
        }
        Ok(corners)
    }

    fn finish(self) -> RawMesh {
        let mut raw = self.raw;
        if let Some(attribute) = self.not_a_region {
            // If one attribute is not a region number, none is.
            raw.tets.tags.fill(0);
            raw.notes.push(format!("the attributes of the tetrahedra are not whole numbers ({attribute}): not kept"));
        }
        if self.ignored_attributes {
            raw.notes.push("attributes other than the regions of the tetrahedra are not kept".into());
        }
        if self.ignored_columns {
            raw.notes.push("columns after those that the first line announces are not kept".into());
        }
        raw
    }
}

/// Reads the next number of the first line, or returns `default` at its end.
fn optional(scanner: &mut Scanner<'_>, what: &str, default: i64) -> Result<i64, ReadError> {
    match scanner.word_in_line() {
        Some(word) => scanner.parse_integer(word, what),
        None => Ok(default),
    }
}

/// Moves to the line of item `index` of `count`, counted from 0.
fn next_line(scanner: &mut Scanner<'_>, index: usize, count: usize, things: &str) -> Result<(), ReadError> {
    scanner.next_line();
    if scanner.seek_content() {
        return Ok(());
    }
    Err(scanner.error(format!("{count} {things}, after {index}"), "the end of the file"))
}

/// Checks that nothing follows.
fn end(scanner: &mut Scanner<'_>, count: usize, things: &str) -> Result<(), ReadError> {
    scanner.next_line();
    if scanner.at_end() {
        return Ok(());
    }
    Err(scanner.error(format!("the end of the {count} {things}"), "another line"))
}

fn write_volume(output: &mut Output, mesh: &VolumeMesh, _: &WriteOptions) -> Result<(), WriteError> {
    put_vertices(output.sibling("node"), mesh.vertices());
    let regions = mesh.regions().len() > 1;
    let numbers = region_numbers(mesh);
    let ele = output.sibling("ele");
    put!(ele, "{} 4 {}\n", mesh.element_count(), u8::from(regions));
    for (e, (nodes, region)) in mesh.elements().zip(mesh.element_region()).enumerate() {
        put!(ele, "{}", e + 1);
        put_corners(ele, nodes.iter().copied());
        if regions {
            put!(ele, " {}", numbers[*region as usize]);
        }
        put!(ele, "\n");
    }
    // The whole boundary and all other faces in sets, each with the number of its set or 0.
    let numbered = numbered_faces(mesh);
    let mut faces: Vec<(ElementFace, i64)> = mesh.boundary().faces.into_iter().map(|face| (face, 0)).collect();
    faces.retain(|(face, _)| numbered.binary_search_by_key(face, |(face, _)| *face).is_err());
    faces.extend(&numbered);
    faces.sort_unstable();
    let markers = !numbered.is_empty();
    let lines = faces.iter().map(|&(face, number)| (mesh.face_vertices(face), markers.then_some(number)));
    put_faces(output.sibling("face"), faces.len(), markers, lines);
    Ok(())
}

fn write_surface(output: &mut Output, surface: &SurfaceMesh, _: &WriteOptions) -> Result<(), WriteError> {
    put_vertices(output.sibling("node"), surface.vertices());
    let faces = output.faces_up_to(3, surface);
    put_faces(output.sibling("face"), faces.len(), false, faces.iter().map(|face| (face.iter().copied(), None)));
    // Tetrahedra of an earlier mesh with this name would otherwise be taken for those of this one.
    put!(output.sibling("ele"), "0 4 0\n");
    Ok(())
}

fn put_vertices(out: &mut Vec<u8>, vertices: &[Vec3]) {
    put!(out, "{} 3 0 0\n", vertices.len());
    for (v, p) in vertices.iter().enumerate() {
        put!(out, "{} {:?} {:?} {:?}\n", v + 1, p.x, p.y, p.z);
    }
}

fn put_faces<F: Iterator<Item = u32>>(
    out: &mut Vec<u8>,
    count: usize,
    markers: bool,
    faces: impl Iterator<Item = (F, Option<i64>)>,
) {
    put!(out, "{count} {}\n", u8::from(markers));
    for (f, (face, marker)) in faces.enumerate() {
        put!(out, "{}", f + 1);
        put_corners(out, face);
        if let Some(marker) = marker {
            put!(out, " {marker}");
        }
        put!(out, "\n");
    }
}

fn put_corners(out: &mut Vec<u8>, corners: impl Iterator<Item = u32>) {
    for v in corners {
        put!(out, " {}", u64::from(v) + 1);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Mesh, read_from, write_to};
    use super::*;
    use crate::files::Memory;
    use crate::mesh::{ElementKind, Faces, MeshData, Region};

    const NODE: &str =
        "# corner\n5 3 1 1\n\n0 0 0 0 9.5 0\n1 1 0 0 9.5 2\n2 0 1 0 9.5 2 # top\n3 0 0 1 9.5 -1\r\n4 1 1 1 9.5 0\n";
    const ELE: &str = "2 4 1\n0 0 1 2 3 2\n1 1 2 3 4 1.0";
    const FACE: &str = "2 1\n0 0 2 1 7\n1 0 1 3 0\n# Generated by hand\n";

    fn files() -> Memory {
        Memory::with("t.node", NODE).and("t.ele", ELE).and("t.face", FACE)
    }

    #[test]
    fn any_of_the_files_gives_the_volume_with_regions_and_markers() {
        for name in ["t.node", "t.ele", "t.face"] {
            let loaded = read_from(&files(), Path::new(name)).unwrap();
            assert_eq!(loaded.notes[0], "attributes other than the regions of the tetrahedra are not kept");
            let mesh = loaded.volume();
            assert_eq!(mesh.vertices()[4], Vec3::ONE);
            assert_eq!(mesh.connectivity(), [0, 1, 2, 3, 1, 2, 3, 4]);
            assert_eq!(mesh.regions().iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["region-1", "region-2"]);
            assert_eq!(mesh.element_region(), [1, 0]);
            let sets = mesh.vertex_sets();
            assert_eq!(sets.keys().collect::<Vec<_>>(), ["marker--1", "marker-2"]);
            assert_eq!(sets["marker-2"], [1, 2]);
            assert_eq!(mesh.face_sets().iter().collect::<Vec<_>>(), [(&"surface-7".to_owned(), &vec![(0, 0)])]);
        }
    }

    #[test]
    fn nodes_and_faces_alone_are_a_surface() {
        let files = Memory::with("t.node", "3 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n").and("t.face", "1\n1 1 2 3\n");
        let Mesh::Surface(surface) = read_from(&files, Path::new("t.face")).unwrap().mesh else { panic!() };
        assert_eq!(surface.faces().get(0), [0, 1, 2]);
    }

    #[test]
    fn attributes_that_are_no_regions_and_further_columns_are_noted() {
        let files = files().and("t.ele", "2 4 2\n0 0 1 2 3 2 0\n1 1 2 3 4 1.5 0 8\n");
        let loaded = read_from(&files, Path::new("t.node")).unwrap();
        assert_eq!(loaded.notes.len(), 3, "{:?}", loaded.notes);
        assert!(loaded.notes[0].contains("not whole numbers (1.5)"));
        assert_eq!(loaded.volume().regions().len(), 1);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut data = MeshData::new(
            vec![Vec3::ZERO, Vec3::X, Vec3::new(0.1, 1.0 / 3.0, 1e-300), Vec3::Z, Vec3::ONE],
            ElementKind::Tet4,
            vec![0, 1, 2, 3, 1, 2, 3, 4],
        );
        data.regions = vec![Region::named("region-1"), Region::named("region-2")];
        data.element_region = vec![1, 0];
        let without = data.clone();
        // The second is between the tetrahedra.
        data.face_sets.insert("surface-4".into(), vec![(0, 1), (1, 1)]);
        data.face_sets.insert("surface-9".into(), vec![(0, 2)]);
        for (data, head) in [(without, "6 0"), (data, "7 1")] {
            let mesh = Mesh::Volume(VolumeMesh::check(data).unwrap().mesh);
            let files = Memory::default();
            let notes = write_to(&files, Path::new("T.ELE"), &mesh, &WriteOptions::default()).unwrap();
            assert!(notes.is_empty(), "{notes:?}");
            assert_eq!(read_from(&files, Path::new("T.NODE")).unwrap().mesh, mesh);
            let faces = crate::files::Files::read(&files, Path::new("T.FACE")).unwrap();
            assert_eq!(String::from_utf8(faces).unwrap().lines().next(), Some(head));
        }

        let square = vec![Vec3::ZERO, Vec3::X, Vec3::ONE, Vec3::Y];
        let surface = SurfaceMesh::new(square.clone(), Faces::uniform(4, vec![0, 1, 2, 3])).unwrap();
        let triangles = Mesh::Surface(SurfaceMesh::new(square, Faces::uniform(3, vec![0, 1, 2, 0, 2, 3])).unwrap());
        let surface = Mesh::Surface(surface);
        for name in ["s.node", "s.ele", "s.face"] {
            let files = Memory::default();
            let notes = write_to(&files, Path::new(name), &surface, &WriteOptions::default()).unwrap();
            assert_eq!(notes, ["1 polygon with more than 3 corners was cut into triangles"]);
            assert_eq!(read_from(&files, Path::new(name)).unwrap().mesh, triangles);
        }
    }

    #[test]
    fn a_surface_replaces_the_volume_that_had_its_name() {
        let square = vec![Vec3::ZERO, Vec3::X, Vec3::ONE, Vec3::Y];
        let surface = Mesh::Surface(SurfaceMesh::new(square, Faces::uniform(3, vec![0, 1, 2, 0, 2, 3])).unwrap());
        for name in ["t.node", "t.ele", "t.face"] {
            let files = files();
            write_to(&files, Path::new(name), &surface, &WriteOptions::default()).unwrap();
            assert_eq!(read_from(&files, Path::new(name)).unwrap().mesh, surface);
        }
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        let cases = [
            ("node", "1 2 0 0\n", "t.node, line 1: expected 3 dimensions, found 2"),
            ("node", "-5 3 0 0\n", "t.node, line 1: expected the number of vertices, found `-5`"),
            ("node", "9000000000 3\n1 0 0 0\n", "t.node, line 1: expected 9000000000 vertices, found only"),
            ("node", "2 3\n1 0 0 0\n1 0 0 1\n", "t.node, line 3: expected a vertex number not used before, found `1`"),
            ("node", "2 3\n1 0 0\n2 0 0 1\n", "t.node, line 2: expected a z coordinate, found the end of the line"),
            ("node", "1 3\n1 0 nan 0\n", "t.node, line 2: expected a y coordinate, a finite number, found `nan`"),
            ("node", "1 3 0 1\n1 0 0 0\n", "t.node, line 2: expected the marker of the vertex, found the end"),
            (
                "node",
                "2 3\n1 0.00 0.00 0.00\n",
                "t.node, line 3: expected 2 vertices, after 1, found the end of the file",
            ),
            (
                "node",
                "1 3\n1 0 0 0\n2 0 0 0\n",
                "t.node, line 3: expected the end of the 1 vertices, found another line",
            ),
            ("node", "x", "t.node, line 1: expected the number of vertices, a whole number, found `x`"),
            (
                "ele",
                "1 10 0\n1 1 2 3 4 5 6 7 8 9 10\n",
                "t.ele, line 1: expected tetrahedra of 4 vertices, found second-order",
            ),
            ("ele", "1 4 0\n1 1 2 3 9\n", "t.ele, line 2: expected the number of a listed vertex, found `9`"),
            ("ele", "1 4 0\n1 1 2 3", "t.ele, line 2: expected a vertex number, found the end of the line"),
            ("ele", "1 4 1\n1 1 2 3 4 1e999", "t.ele, line 2: expected an attribute of the tetrahedron, found `1e999`"),
            ("ele", "", "t.ele, line 1: expected the number of tetrahedra, found the end of the file"),
            ("ele", "1 4 0\n0 1 2 3 3\n", "uses vertex 3 more than once"),
            (
                "face",
                "1 1\n1 1 2 3\n",
                "t.face, line 2: expected the marker of the triangle, found the end of the line",
            ),
            ("face", "1 0\n1 1 2 -3\n", "t.face, line 2: expected the number of a listed vertex, found `-3`"),
        ];
        for (extension, text, message) in cases {
            let files = files().and(Path::new("t").with_extension(extension), text);
            let error = read_from(&files, Path::new("t.node")).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?} gave {error}");
            assert!(error.starts_with("t."), "{error}");
        }
    }

    #[test]
    fn missing_siblings_are_named() {
        let error =
            |name: &str, text: &str| read_from(&Memory::with(name, text), Path::new(name)).unwrap_err().to_string();
        assert_eq!(
            error("t.node", NODE),
            "t.node: expected tetrahedra in t.ele or triangles in t.face, found neither file"
        );
        assert_eq!(error("t.ele", ELE), "t.node: expected the file of the vertices of t.ele, found none");
    }
}
