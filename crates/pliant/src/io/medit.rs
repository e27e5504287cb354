//! Text meshes of Medit, `.mesh`.
//!
//! ```text
//! MeshVersionFormatted 2      Vertices            Tetrahedra        Triangles      End
//! Dimension 3                 4                   1                 1
//!                             0.0 0.0 0.0  0      1 2 3 4  7        1 3 2  5
//!                             …
//! ```
//! Line breaks have no meaning. A keyword is followed by the number of items and by the items. Each item ends in a
//! reference number. The reference of an element is its region, of a triangle or quadrilateral its face set, of a
//! vertex its vertex set. A reference of 0 belongs to no set. Vertices are numbered from 1. `#` starts a comment.

use std::collections::BTreeSet;

use super::input_output::{Input, Output};
use super::raw::{RawMesh, numbered_faces, region_numbers};
use super::{Feature, Format, WriteOptions};
use crate::files::{ReadError, Scanner, Syntax, WriteError, put, quote};
use crate::math::Vec3;
use crate::mesh::{ElementKind, Faces, SurfaceMesh, VolumeMesh};

pub(super) const FORMAT: Format = Format {
    name: "Medit",
    extensions: &["mesh"],
    about: "text; tetrahedra, hexahedra, triangles and quadrilaterals with reference numbers",
    binary: false,
    features: &[Feature::Hexahedra, Feature::Regions, Feature::FaceSets],
    read: Some(read),
    write_volume: Some(write_volume),
    write_surface: Some(write_surface),
};

const SYNTAX: Syntax = Syntax { comment: Some(b'#'), commas: false };

/// Section that a keyword starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Version,
    Dimension,
    Vertices,
    Tetrahedra,
    Hexahedra,
    Triangles,
    Quadrilaterals,
    End,
    /// Section that Pliant does not use. There are many, and programs disagree about their content.
    Skipped,
}

/// Keywords that Pliant reads, in their usual order.
const KEYWORDS: [(&str, Section); 8] = [
    ("MeshVersionFormatted", Section::Version),
    ("Dimension", Section::Dimension),
    ("Vertices", Section::Vertices),
    ("Tetrahedra", Section::Tetrahedra),
    ("Hexahedra", Section::Hexahedra),
    ("Triangles", Section::Triangles),
    ("Quadrilaterals", Section::Quadrilaterals),
    ("End", Section::End),
];

/// Cell types of volumes and boundaries, with their common names.
const CELLS: [(&str, &str); 7] = [
    ("Tetrahedra", "tetrahedra"),
    ("Hexahedra", "hexahedra"),
    ("Prisms", "wedges"),
    ("Pyramids", "pyramids"),
    ("Polyhedra", "polyhedra"),
    ("Triangles", "triangles"),
    ("Quadrilaterals", "quadrilaterals"),
];

/// Maximum number of skipped sections that a note names.
const MAX_NAMED: usize = 12;

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut scanner = input.scan(SYNTAX);
    let mut reader = Reader::default();
    let mut first = true;
    while let Some(word) = scanner.word() {
        let section = find(word, &scanner)?;
        if first && section != Section::Version {
            return Err(scanner.error("MeshVersionFormatted", quote(word)));
        }
        first = false;
        if section == Section::End {
            reader.ended = true;
            break;
        }
        reader.section(word, section, &mut scanner)?;
    }
    reader.finish(&scanner)
}

/// Returns the section that the keyword `word` starts. Fails for content without which the mesh would be wrong.
fn find(word: &[u8], scanner: &Scanner<'_>) -> Result<Section, ReadError> {
    if let Some((_, section)) = KEYWORDS.iter().find(|(keyword, _)| keyword.as_bytes().eq_ignore_ascii_case(word)) {
        return Ok(*section);
    }
    if !is_keyword(word) {
        return Err(scanner.error("a keyword such as Vertices", quote(word)));
    }
    let what = if word.eq_ignore_ascii_case(b"MeshVersionUnformatted") {
        Some("a binary mesh".into())
    } else {
        CELLS.iter().find_map(|(keyword, name)| {
            let (start, order) = word.split_at_checked(keyword.len())?;
            match order {
                _ if !keyword.as_bytes().eq_ignore_ascii_case(start) => None,
                [] => Some((*name).into()),
                [b'P' | b'Q' | b'p' | b'q', b'2', ..] => Some(format!("second-order {name}")),
                [b'P' | b'Q' | b'p' | b'q', b'3'..=b'9', ..] => Some(format!("higher-order {name}")),
                _ => None,
            }
        })
    };
    let expected = "text with Tetrahedra, Hexahedra, Triangles or Quadrilaterals";
    match what {
        Some(what) => Err(scanner.error(expected, format!("{}: {what}", String::from_utf8_lossy(word)))),
        None => Ok(Section::Skipped),
    }
}

/// Returns true if `word` starts with a letter and is not a number such as `nan`.
fn is_keyword(word: &[u8]) -> bool {
    let is_number = || std::str::from_utf8(word).is_ok_and(|text| text.parse::<f64>().is_ok());
    word.first().is_some_and(u8::is_ascii_alphabetic) && !is_number()
}

/// Skips to the next keyword.
fn skip_section(scanner: &mut Scanner<'_>) {
    let mut next = scanner.clone();
    while let Some(word) = next.word() {
        if is_keyword(word) {
            return;
        }
        if word.starts_with(b"\"") {
            // A name may consist of several words, but not of several lines.
            next.rest_of_line();
        }
        scanner.clone_from(&next);
    }
    *scanner = next;
}

#[derive(Default)]
struct Reader<'a> {
    raw: RawMesh,
    dimension: bool,
    vertices: bool,
    references: Vec<i64>,
    /// Sections of cells that precede the vertices, to be read when these are known.
    deferred: Vec<(Section, Scanner<'a>)>,
    /// Sections that are not kept, at most [`MAX_NAMED`] + 1.
    skipped: BTreeSet<String>,
    /// True if the keyword `End` was found.
    ended: bool,
}

impl<'a> Reader<'a> {
    fn section(&mut self, keyword: &[u8], section: Section, scanner: &mut Scanner<'a>) -> Result<(), ReadError> {
        match section {
            Section::Version => {
                let version = scanner.integer("a version, 1 to 4")?;
                if !(1..=4).contains(&version) {
                    return Err(scanner.error("a version, 1 to 4", format!("{version}")));
                }
            }
            Section::Dimension => {
                let dimension = scanner.integer("the number of dimensions")?;
                if dimension != 3 {
                    return Err(scanner.error("3 dimensions", format!("{dimension}")));
                }
                self.dimension = true;
            }
            Section::Vertices => self.vertices(scanner)?,
            Section::Tetrahedra | Section::Hexahedra | Section::Triangles | Section::Quadrilaterals => {
                if self.vertices {
                    return self.cells(section, scanner);
                }
                self.deferred.push((section, scanner.clone()));
                let count = scanner.count("cells", 2 * (corners(section) + 1))?;
                for _ in 0..count.saturating_mul(corners(section) + 1) {
                    scanner.integer("a vertex or reference number")?;
                }
            }
            Section::Skipped => {
                if self.skipped.len() <= MAX_NAMED {
                    self.skipped.insert(quote(keyword));
                }
                skip_section(scanner);
            }
            Section::End => {}
        }
        Ok(())
    }

    fn vertices(&mut self, scanner: &mut Scanner<'a>) -> Result<(), ReadError> {
        if !self.dimension {
            return Err(scanner.error("Dimension 3 before the vertices", "none"));
        }
        if std::mem::replace(&mut self.vertices, true) {
            return Err(scanner.error("the section Vertices only once", "another"));
        }
        let count = scanner.count("vertices", "0 0 0 0\n".len())?;
        self.raw.vertices.reserve(count);
        self.references.reserve(count);
        for _ in 0..count {
            let names = ["an x coordinate", "a y coordinate", "a z coordinate"];
            let [x, y, z] = names.map(|what| scanner.number(what));
            self.raw.vertices.push(Vec3::new(x?, y?, z?));
            self.references.push(scanner.integer("the reference of a vertex")?);
        }
        Ok(())
    }

    fn cells(&mut self, section: Section, scanner: &mut Scanner<'a>) -> Result<(), ReadError> {
        match section {
            Section::Tetrahedra => self.read_cells::<4>("tetrahedra", scanner, |raw, c, tag| raw.tets.push(c, tag)),
            Section::Hexahedra => self.read_cells::<8>("hexahedra", scanner, |raw, c, tag| raw.hexes.push(c, tag)),
            Section::Triangles => self.read_cells::<3>("triangles", scanner, |raw, c, tag| raw.faces.push(c, tag)),
            _ => self.read_cells::<4>("quadrilaterals", scanner, |raw, c, tag| raw.faces.push(c, tag)),
        }
    }

    fn read_cells<const N: usize>(
        &mut self,
        what: &str,
        scanner: &mut Scanner<'a>,
        keep: fn(&mut RawMesh, &[u32], i64),
    ) -> Result<(), ReadError> {
        let last = self.raw.vertices.len() as i64;
        for _ in 0..scanner.count(what, 2 * (N + 1))? {
            let mut corners = [0; N];
            for corner in &mut corners {
                let number = scanner.integer("a vertex number")?;
                if !(1..=last).contains(&number) {
                    return Err(scanner.error(format!("a vertex number from 1 to {last}"), format!("`{number}`")));
                }
                *corner = (number - 1) as u32;
            }
            keep(&mut self.raw, &corners, scanner.integer("a reference number")?);
        }
        Ok(())
    }

    fn finish(mut self, scanner: &Scanner<'a>) -> Result<RawMesh, ReadError> {
        if !self.vertices {
            return Err(scanner.error("the section Vertices", "the end of the file"));
        }
        for (section, mut scanner) in std::mem::take(&mut self.deferred) {
            self.cells(section, &mut scanner)?;
        }
        // References that are all equal carry no information.
        if self.references.iter().any(|reference| *reference != self.references[0]) {
            for (vertex, reference) in self.references.iter().enumerate().filter(|(_, reference)| **reference != 0) {
                self.raw.vertex_sets.entry(format!("vertices-{reference}")).or_default().push(vertex as u32);
            }
        }
        if !self.skipped.is_empty() {
            let more = if self.skipped.len() > MAX_NAMED { " and others" } else { "" };
            let names: Vec<String> = self.skipped.into_iter().take(MAX_NAMED).collect();
            self.raw.notes.push(format!("these sections are not kept: {}{more}", names.join(", ")));
        }
        if !self.ended {
            self.raw.notes.push("the file does not finish with the word End: sections may be missing".into());
        }
        Ok(self.raw)
    }
}

fn corners(section: Section) -> usize {
    match section {
        Section::Triangles => 3,
        Section::Hexahedra => 8,
        _ => 4,
    }
}

fn write_volume(output: &mut Output, mesh: &VolumeMesh, _: &WriteOptions) -> Result<(), WriteError> {
    let out = output.main();
    put_vertices(out, mesh.vertices());
    let keyword = match mesh.kind() {
        ElementKind::Tet4 => "Tetrahedra",
        ElementKind::Hex8 => "Hexahedra",
    };
    put!(out, "{keyword}\n{}\n", mesh.element_count());
    let numbers = region_numbers(mesh);
    for (nodes, region) in mesh.elements().zip(mesh.element_region()) {
        put_cell(out, nodes, numbers[*region as usize]);
    }
    let faces = numbered_faces(mesh);
    if !faces.is_empty() {
        let keyword = if mesh.kind() == ElementKind::Tet4 { "Triangles" } else { "Quadrilaterals" };
        put!(out, "{keyword}\n{}\n", faces.len());
        for (face, number) in faces {
            put_cell(out, &mesh.face_vertices(face).collect::<Vec<_>>(), number);
        }
    }
    put!(out, "End\n");
    Ok(())
}

fn write_surface(output: &mut Output, surface: &SurfaceMesh, _: &WriteOptions) -> Result<(), WriteError> {
    let faces = output.faces_up_to(4, surface);
    let out = output.main();
    put_vertices(out, surface.vertices());
    put_faces(out, "Triangles", 3, &faces);
    put_faces(out, "Quadrilaterals", 4, &faces);
    put!(out, "End\n");
    Ok(())
}

fn put_vertices(out: &mut Vec<u8>, vertices: &[Vec3]) {
    put!(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n{}\n", vertices.len());
    for p in vertices {
        put!(out, "{:?} {:?} {:?} 0\n", p.x, p.y, p.z);
    }
}

fn put_faces(out: &mut Vec<u8>, keyword: &str, corners: usize, faces: &Faces) {
    let some = faces.iter().filter(|face| face.len() == corners);
    let count = some.clone().count();
    if count > 0 {
        put!(out, "{keyword}\n{count}\n");
        some.for_each(|face| put_cell(out, face, 0));
    }
}

fn put_cell(out: &mut Vec<u8>, corners: &[u32], reference: i64) {
    for &v in corners {
        put!(out, "{} ", u64::from(v) + 1);
    }
    put!(out, "{reference}\n");
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Loaded, Mesh, read_from, write_to};
    use super::*;
    use crate::files::Memory;
    use crate::mesh::{MeshData, Region};

    fn load(text: &str) -> Result<Loaded, ReadError> {
        read_from(&Memory::with("t.mesh", text), Path::new("t.mesh"))
    }

    const HEAD: &str = "MeshVersionFormatted\n2\nDimension\n3\n";
    const VERTICES: &str = "Vertices 5\n0 0 0 0  1 0 0 4\n0 1 0 4\r\n0 0 1 -2 1 1 1 0\n";

    #[test]
    fn references_become_regions_and_sets() {
        let loaded = load(&format!(
            "# any\n{HEAD}{VERTICES}Edges 1 1 2 0 Corners\n2\n1\n2\nTangents 1 0 0 1\nNormalAtVertices 1 1 1\n\
             Triangles 2 1 3 2 8 1 2 4 0\ntetrahedra 2\n1 2 3 4 9\n2 3 4 5\n3\nEnd\nanything"
        ));
        let loaded = loaded.unwrap();
        assert_eq!(loaded.notes[0], "these sections are not kept: `Corners`, `Edges`, `NormalAtVertices`, `Tangents`");
        let mesh = loaded.volume();
        assert_eq!(mesh.vertices()[4], Vec3::ONE);
        assert_eq!(mesh.connectivity(), [0, 1, 2, 3, 1, 2, 3, 4]);
        assert_eq!(mesh.regions().iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["region-3", "region-9"]);
        assert_eq!(mesh.element_region(), [1, 0]);
        let sets = mesh.vertex_sets();
        assert_eq!(sets.keys().collect::<Vec<_>>(), ["vertices--2", "vertices-4"]);
        assert_eq!(sets["vertices-4"], [1, 2]);
        assert_eq!(mesh.face_sets().iter().collect::<Vec<_>>(), [(&"surface-8".to_owned(), &vec![(0, 0)])]);
    }

    #[test]
    fn sections_are_skipped_whatever_is_in_them() {
        let names = (10..30).map(|i| format!("New{i} {i} -1e5 nan\n")).collect::<Vec<_>>().concat();
        let text = format!(
            "{HEAD}Geometry \"End of it.mesh\"\n{VERTICES}Edges 1\n1 2\nRequiredEdges\nTangents 5 0\n{names}\
             SolAtTetrahedra 1 1 1\n0.5\nHOSolAtTetrahedraP2 7\nTetrahedra 1 1 2 3 4 0\nIdentifier"
        );
        let loaded = load(&text).unwrap();
        assert!(
            loaded.notes[0].starts_with("these sections are not kept: `Edges`, `Geometry`, "),
            "{:?}",
            loaded.notes
        );
        assert!(loaded.notes[0].ends_with(" and others"), "{:?}", loaded.notes);
        assert_eq!(loaded.notes[1..], ["the file does not finish with the word End: sections may be missing"]);
        assert_eq!(loaded.volume().connectivity(), [0, 1, 2, 3]);
    }

    #[test]
    fn cells_may_come_before_the_vertices() {
        let mesh = load(&format!("{HEAD}Tetrahedra 1 1 2 3 4 0\n{VERTICES}")).unwrap().volume();
        assert_eq!(mesh.connectivity(), [0, 1, 2, 3]);
        let error = load(&format!("{HEAD}Tetrahedra 1\n1 2 3 6 0\n{VERTICES}")).unwrap_err().to_string();
        assert_eq!(error, "t.mesh, line 6: expected a vertex number from 1 to 5, found `6`");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
        let mut vertices: Vec<Vec3> = corners.iter().map(|c| Vec3::from_array(c.map(f64::from))).collect();
        vertices[6] = Vec3::new(1.0 + 1.0 / 3.0, 1.1, 1.0 + 1e-15);
        let hex = MeshData::new(vertices.clone(), ElementKind::Hex8, (0..8).collect());
        let mut tets = MeshData::new(vertices.clone(), ElementKind::Tet4, vec![0, 1, 3, 4, 1, 2, 3, 6]);
        tets.regions = vec![Region::named("region-1"), Region::named("region-2")];
        tets.element_region = vec![1, 0];
        let mut faces = Faces::uniform(3, vec![0, 1, 2]);
        faces.push(&[4, 5, 6, 7]);
        let meshes = [
            Mesh::Volume(VolumeMesh::check(hex).unwrap().mesh),
            Mesh::Volume(VolumeMesh::check(tets).unwrap().mesh),
            Mesh::Surface(SurfaceMesh::new(vertices, faces).unwrap()),
        ];
        for mesh in meshes {
            let files = Memory::default();
            write_to(&files, Path::new("t.mesh"), &mesh, &WriteOptions::default()).unwrap();
            let loaded = read_from(&files, Path::new("t.mesh")).unwrap();
            assert_eq!((loaded.mesh, loaded.notes), (mesh, vec![]));
        }
    }

    #[test]
    fn errors_say_line_and_expectation() {
        let cases = [
            ("Vertices 1\n", "t.mesh, line 1: expected MeshVersionFormatted, found `Vertices`"),
            ("MeshVersionFormatted 9\n", "t.mesh, line 1: expected a version, 1 to 4, found 9"),
            ("MeshVersionFormatted 1\nDimension\n2\n", "t.mesh, line 3: expected 3 dimensions, found 2"),
            (
                "MeshVersionFormatted 1\nVertices\n",
                "t.mesh, line 2: expected Dimension 3 before the vertices, found none",
            ),
            (
                "MeshVersionFormatted 1\nDimension 3\nEnd\n",
                "t.mesh, line 3: expected the section Vertices, found the end",
            ),
            ("HEAD 3", "t.mesh, line 5: expected a keyword such as Vertices, found `3`"),
            ("HEAD Vertices 1 0 0 0 0 0", "t.mesh, line 5: expected a keyword such as Vertices, found `0`"),
            ("HEAD Vertices -1", "t.mesh, line 5: expected the number of vertices, found `-1`"),
            ("HEAD Vertices 1000000000000\n0", "expected 1000000000000 vertices, found only"),
            ("HEAD Vertices 1\n0 0 inf 0", "t.mesh, line 6: expected a z coordinate, a finite number, found `inf`"),
            ("HEAD Vertices 1\n0 0.0000", "t.mesh, line 6: expected a z coordinate, found the end of the file"),
            (
                "HEAD Vertices 1 0 0 0 0\nPrisms 1",
                "t.mesh, line 6: expected text with Tetrahedra, Hexahedra, Triangles or \
              Quadrilaterals, found Prisms: wedges",
            ),
            ("HEAD TetrahedraP2 1", "found TetrahedraP2: second-order tetrahedra"),
            (
                "HEAD Vertices 1 0 0 0 0\nTriangles 1\n0 1 1 0",
                "t.mesh, line 7: expected a vertex number from 1 to 1, found `0`",
            ),
            (
                "HEAD Vertices 1 0 0 0 0\nTriangles 1\n1 1 1 x",
                "t.mesh, line 7: expected a reference number, a whole number, found `x`",
            ),
            ("HEAD Vertices 1 0 0 0 0\nVertices 1 0 0 0 0", "t.mesh, line 6: expected the section Vertices only once"),
            (
                "HEAD Corners 3\n1 Vertices",
                "t.mesh, line 6: expected the number of vertices, found the end of the file",
            ),
            ("HEAD Vertices 1 0 0 0 0\nTetrahedr", "t.mesh: expected tetrahedra, hexahedra or a surface, found 1 vert"),
            ("HEAD trianglesp3 0", "found trianglesp3: higher-order triangles"),
            ("MeshVersionUnformatted 1", "found MeshVersionUnformatted: a binary mesh"),
        ];
        for (text, message) in cases {
            let error = load(&text.replace("HEAD ", HEAD)).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?} gave {error}");
        }
    }
}
