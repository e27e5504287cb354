//! Stereolithography surfaces, `.stl`: triangles, each with the coordinates of its corners.
//!
//! ```text
//! solid name                     or binary, little-endian:
//!   facet normal 0 0 1             80 bytes of anything
//!     outer loop                   u32 number of triangles
//!       vertex 0 0 0               and for each triangle 50 bytes:
//!       vertex 1 0 0                 3 f32 normal
//!       vertex 0 1 0                 9 f32 corners
//!     endloop                        u16 attribute, for some programs a color
//!   endfacet
//! endsolid name
//! ```
//! A binary file may begin with `solid` too, so that its size decides. Corners with equal coordinates become one
//! vertex, which connects the triangles to a surface. Normals are computed from the corners and not read.

use std::collections::HashMap;
use std::path::Path;

use super::binary::{Scalar, decode};
use super::error::{Location, ReadError, WriteError};
use super::files::{Input, Output, put};
use super::raw::{RawFaces, RawMesh};
use super::scan::{Scanner, Syntax, quote};
use super::{Encoding, Format, WriteOptions};
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

pub(super) const FORMAT: Format = Format {
    name: "STL",
    extensions: &["stl"],
    about: "surfaces of triangles as text or binary; equal corners are joined",
    binary: true,
    features: &[],
    read: Some(read),
    write_volume: None,
    write_surface: Some(write),
};

/// Bytes of a binary file before the triangles.
const HEADER: usize = 84;
/// Bytes of a binary triangle.
const RECORD: usize = 50;
/// Range of the corners in a binary triangle \[bytes\].
const CORNERS: std::ops::Range<usize> = 12..48;
/// Length of the sample that decides if a file that begins with `solid` is text \[bytes\].
const SAMPLE: usize = 1024;

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut soup = Soup::default();
    match input.bytes.get(HEADER - 4..HEADER).map(|count| u32::decode(count, true) as usize) {
        Some(count) if count.checked_mul(RECORD) == Some(input.bytes.len() - HEADER) => soup.binary(input, count)?,
        _ if is_text(input.bytes) => soup.text(&mut input.scan(Syntax::default()))?,
        Some(count) => soup.binary(input, count)?,
        None => {
            let found = format!("neither `solid` nor the {HEADER} bytes of a binary header");
            return Err(ReadError::whole(input.path, "an STL file", found));
        }
    }
    soup.finish(input.path)
}

fn is_text(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let solid = bytes.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    solid && !bytes[..bytes.len().min(SAMPLE)].contains(&0)
}

/// Triangles joined at equal corners.
#[derive(Default)]
struct Soup {
    vertices: Vec<Vec3>,
    /// Vertices by the bits of their coordinates. The hash is seeded at random, so that no file can be made whose
    /// corners all collide.
    numbers: HashMap<[u64; 3], u32>,
    faces: RawFaces,
    solids: usize,
    degenerate: usize,
    colors: bool,
    bytes_left: usize,
}

impl Soup {
    fn text(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ReadError> {
        while !scanner.at_end() {
            keyword(scanner, "solid")?;
            scanner.rest_of_line();
            self.solids += 1;
            loop {
                let word = scanner.expect("facet or endsolid")?;
                if word.eq_ignore_ascii_case(b"facet") {
                    self.facet(scanner)?;
                } else if word.eq_ignore_ascii_case(b"endsolid") {
                    scanner.rest_of_line();
                    break;
                } else {
                    return Err(scanner.error("facet or endsolid", quote(word)));
                }
            }
        }
        Ok(())
    }

    /// Reads a triangle after the word `facet`.
    fn facet(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ReadError> {
        keyword(scanner, "normal")?;
        for _ in 0..3 {
            // Degenerate triangles often have `nan` here.
            scanner.expect("a normal")?;
        }
        keyword(scanner, "outer")?;
        keyword(scanner, "loop")?;
        let mut corners = [Vec3::ZERO; 3];
        for corner in &mut corners {
            keyword(scanner, "vertex")?;
            let [x, y, z] = ["an x coordinate", "a y coordinate", "a z coordinate"].map(|what| scanner.number(what));
            *corner = Vec3::new(x?, y?, z?);
        }
        keyword(scanner, "endloop")?;
        keyword(scanner, "endfacet")?;
        self.push(corners);
        Ok(())
    }

    fn binary(&mut self, input: &Input<'_>, count: usize) -> Result<(), ReadError> {
        let records = &input.bytes[HEADER..];
        if records.len() / RECORD < count {
            let expected = format!("{count} triangles of {RECORD} bytes");
            let found = format!("only {} bytes until the end of the file", records.len());
            return Err(ReadError::at(input.path, Location::Byte(HEADER as u64), expected, found));
        }
        // A closed surface has half as many vertices as triangles.
        self.vertices.reserve(count / 2);
        self.numbers.reserve(count / 2);
        for (i, record) in records.chunks_exact(RECORD).take(count).enumerate() {
            let mut corners = [0.0; 9];
            for (j, (to, from)) in corners.iter_mut().zip(decode::<f32>(&record[CORNERS], true)).enumerate() {
                if !from.is_finite() {
                    let byte = HEADER + RECORD * i + CORNERS.start + f32::BYTES * j;
                    return Err(ReadError::at(
                        input.path,
                        Location::Byte(byte as u64),
                        "a finite coordinate",
                        from.to_string(),
                    ));
                }
                *to = f64::from(from);
            }
            self.colors |= record[CORNERS.end..] != [0, 0];
            self.push(std::array::from_fn(|c| Vec3::from_slice(&corners[3 * c..])));
        }
        self.bytes_left = records.len() - RECORD * count;
        Ok(())
    }

    fn push(&mut self, corners: [Vec3; 3]) {
        let [a, b, c] = corners.map(|p| self.vertex(p));
        if a == b || b == c || c == a {
            self.degenerate += 1;
        } else {
            self.faces.push(&[a, b, c], 0);
        }
    }

    fn vertex(&mut self, p: Vec3) -> u32 {
        // Adding zero turns -0 into 0.
        let bits = p.to_array().map(|x| (x + 0.0).to_bits());
        *self.numbers.entry(bits).or_insert_with(|| {
            self.vertices.push(p);
            self.vertices.len() as u32 - 1
        })
    }

    fn finish(self, path: &Path) -> Result<RawMesh, ReadError> {
        if self.faces.faces.is_empty() {
            let found = match self.degenerate {
                0 => "none".into(),
                count => format!("only {count} with two corners at the same place"),
            };
            return Err(ReadError::whole(path, "triangles", found));
        }
        let triangles = self.faces.faces.len() + self.degenerate;
        let mut raw = RawMesh { vertices: self.vertices, faces: self.faces, ..RawMesh::default() };
        let mut note = |found: bool, note: String| raw.notes.extend(found.then_some(note));
        note(self.solids > 1, format!("{} solids were joined into one surface", self.solids));
        let degenerate =
            format!("{} of {triangles} triangles had two corners at the same place and were dropped", self.degenerate);
        note(self.degenerate > 0, degenerate);
        note(self.colors, "not kept: attributes or colors of triangles".into());
        note(self.bytes_left > 0, format!("not kept: {} bytes after the last triangle", self.bytes_left));
        Ok(raw)
    }
}

fn keyword(scanner: &mut Scanner<'_>, keyword: &'static str) -> Result<(), ReadError> {
    let word = scanner.expect(keyword)?;
    if word.eq_ignore_ascii_case(keyword.as_bytes()) { Ok(()) } else { Err(scanner.error(keyword, quote(word))) }
}

fn write(output: &mut Output, surface: &SurfaceMesh, options: &WriteOptions) -> Result<(), WriteError> {
    let polygons = surface.faces().iter().filter(|face| face.len() > 3).count();
    if polygons > 0 {
        let faces = surface.faces().len();
        output.note(format!("STL stores triangles: {polygons} of {faces} faces had more corners and were cut"));
    }
    match options.encoding {
        Encoding::Usual | Encoding::Text => write_text(output.main(), surface),
        Encoding::Binary => write_binary(output, surface)?,
    }
    Ok(())
}

/// Returns the unit normal and the corners of each triangle. The normal is zero if the area is.
fn facets(surface: &SurfaceMesh) -> impl Iterator<Item = (Vec3, [Vec3; 3])> {
    surface.triangles().map(|triangle| {
        let corners = triangle.map(|v| surface.vertices()[v as usize]);
        let (a, b) = (corners[1] - corners[0], corners[2] - corners[0]);
        // Scaled, so that the product of very short or long edges neither underflows nor overflows.
        let scale = a.abs().max(b.abs()).max_element();
        ((a / scale).cross(b / scale).normalize_or_zero() + Vec3::ZERO, corners)
    })
}

fn write_text(out: &mut Vec<u8>, surface: &SurfaceMesh) {
    put!(out, "solid surface\n");
    for (normal, corners) in facets(surface) {
        let [x, y, z] = normal.as_vec3().to_array();
        put!(out, "facet normal {x:?} {y:?} {z:?}\nouter loop\n");
        for p in corners {
            put!(out, "vertex {:?} {:?} {:?}\n", p.x, p.y, p.z);
        }
        put!(out, "endloop\nendfacet\n");
    }
    put!(out, "endsolid surface\n");
}

fn write_binary(output: &mut Output, surface: &SurfaceMesh) -> Result<(), WriteError> {
    let mut rounded = false;
    let mut header = b"binary STL".to_vec();
    header.resize(HEADER, b' ');
    let out = output.main();
    out.extend(header);
    let mut count = 0_u32;
    for (normal, corners) in facets(surface) {
        for x in normal.as_vec3().to_array() {
            out.extend(x.to_le_bytes());
        }
        for x in corners.iter().flat_map(Vec3::to_array) {
            let single = x as f32;
            if single.is_infinite() {
                let (path, what) = (output.path().into(), "coordinates beyond 3.4e38 in binary");
                return Err(WriteError::Unsupported { path, format: FORMAT.name, what });
            }
            rounded |= f64::from(single).to_bits() != x.to_bits();
            out.extend(single.to_le_bytes());
        }
        out.extend([0, 0]);
        count += 1;
    }
    out[HEADER - 4..HEADER].copy_from_slice(&count.to_le_bytes());
    if rounded {
        output.note("binary STL has 7 digits: coordinates were rounded");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Loaded, Memory, Mesh, read_from, write_to};
    use super::*;
    use crate::mesh::Faces;

    fn load(bytes: impl Into<Vec<u8>>) -> Result<Loaded, ReadError> {
        read_from(&Memory::with("m.stl", bytes), Path::new("m.stl"))
    }

    fn surface(bytes: impl Into<Vec<u8>>) -> SurfaceMesh {
        let Mesh::Surface(surface) = load(bytes).unwrap().mesh else { panic!("expected a surface") };
        surface
    }

    fn facet(corners: [&str; 3]) -> String {
        let [a, b, c] = corners;
        format!("facet normal 0 0 1\n outer loop\n vertex {a}\n vertex {b}\n vertex {c}\n endloop\nendfacet\n")
    }

    fn binary(header: &[u8], triangles: &[[f32; 9]]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, 0);
        bytes.extend((triangles.len() as u32).to_le_bytes());
        for triangle in triangles {
            bytes.extend([0; 12]);
            bytes.extend(triangle.iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    /// Two triangles of a square.
    const SQUARE: [[f32; 9]; 2] = [[0., 0., 0., 1., 0., 0., 1., 1., 0.], [1., 1., 0., 0., 1., 0., 0., 0., 0.]];

    fn write_and_read(mesh: &SurfaceMesh, encoding: Encoding) -> (SurfaceMesh, Vec<String>) {
        let (files, path) = (Memory::default(), Path::new("m.stl"));
        let options = WriteOptions { encoding, ..WriteOptions::default() };
        let notes = write_to(&files, path, &Mesh::Surface(mesh.clone()), &options).unwrap();
        let Mesh::Surface(back) = read_from(&files, path).unwrap().mesh else { panic!("expected a surface") };
        (back, notes)
    }

    #[test]
    fn corners_at_the_same_place_become_one_vertex() {
        let text = [facet(["0 0 0", "1 0 0", "1 1 0"]), facet(["1 1 0", "0 1 0", "-0 0e3 0.0"])].concat();
        for surface in [surface(format!("solid a b\r\n{text}endsolid a b")), surface(binary(b"", &SQUARE))] {
            assert_eq!(surface.vertices(), [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y]);
            assert_eq!(surface.faces().iter().collect::<Vec<_>>(), [[0, 1, 2], [2, 3, 0]]);
        }
    }

    #[test]
    fn solids_are_joined_and_degenerate_triangles_dropped() {
        let good = facet(["0 0 0", "1 0 0", "1 1 0"]).replace("0 0 1", "nan -nan(ind) inf").to_uppercase();
        let flat = facet(["0 0 0", "1 0 0", "-0 0 0"]);
        let loaded = load(format!("solid facet\n{good}endsolid solid\nsolid\n{flat}endsolid\n")).unwrap();
        let notes = [
            "2 solids were joined into one surface",
            "1 of 2 triangles had two corners at the same place and were dropped",
        ];
        assert_eq!(loaded.notes, notes);
        let Mesh::Surface(surface) = loaded.mesh else { panic!("expected a surface") };
        assert_eq!((surface.vertices().len(), surface.faces().len()), (3, 1));
    }

    #[test]
    fn a_binary_file_may_begin_with_solid() {
        assert_eq!(surface(binary(b"solid facet normal", &SQUARE)).faces().len(), 2);
    }

    #[test]
    fn bytes_after_the_triangles_and_colors_are_told() {
        let mut bytes = binary(b"", &SQUARE);
        bytes[133] = 0x80;
        bytes.extend(b"end");
        let notes = load(bytes).unwrap().notes;
        assert_eq!(notes, ["not kept: attributes or colors of triangles", "not kept: 3 bytes after the last triangle"]);
    }

    #[test]
    fn text_keeps_coordinates_exactly_and_binary_says_what_it_rounds() {
        let vertices = vec![Vec3::new(0.1, 1e-300, 1e300), Vec3::X / 3.0, Vec3::Y, Vec3::ONE];
        let fine = SurfaceMesh::new(vertices, Faces::uniform(3, vec![0, 1, 2, 2, 1, 3])).unwrap();
        assert_eq!(write_and_read(&fine, Encoding::Usual), (fine.clone(), vec![]));

        let (files, mesh) = (Memory::default(), Mesh::Surface(fine));
        let options = WriteOptions { encoding: Encoding::Binary, ..WriteOptions::default() };
        let message = write_to(&files, Path::new("m.stl"), &mesh, &options).unwrap_err().to_string();
        assert_eq!(message, "m.stl: STL cannot store coordinates beyond 3.4e38 in binary");

        let vertices = vec![Vec3::ZERO, Vec3::X / 3.0, Vec3::Y];
        let coarse = SurfaceMesh::new(vertices, Faces::uniform(3, vec![0, 1, 2])).unwrap();
        let (back, notes) = write_and_read(&coarse, Encoding::Binary);
        assert_eq!(back.vertices()[1], Vec3::X * f64::from(1.0_f32 / 3.0));
        assert_eq!(notes, ["binary STL has 7 digits: coordinates were rounded"]);
    }

    #[test]
    fn polygons_are_cut_into_triangles_with_unit_normals() {
        let vertices = vec![Vec3::ZERO, 1e-200 * Vec3::Y, 1e-200 * Vec3::new(0.0, 1.0, 1.0), 1e-200 * Vec3::Z];
        let square = SurfaceMesh::new(vertices, [&[0, 1, 2, 3][..]].into_iter().collect()).unwrap();
        let (back, notes) = write_and_read(&square, Encoding::Text);
        assert_eq!(back.faces().iter().collect::<Vec<_>>(), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(notes, ["STL stores triangles: 1 of 1 faces had more corners and were cut"]);
        let mut text = Vec::new();
        write_text(&mut text, &square);
        assert!(text.starts_with(b"solid surface\nfacet normal 1.0 0.0 0.0\nouter loop\nvertex 0.0 0.0 0.0\n"));
        assert_eq!(write_and_read(&surface(binary(b"", &SQUARE)), Encoding::Binary).1, [""; 0]);
    }

    #[test]
    fn broken_files_are_refused_with_place_and_reason() {
        let good = facet(["0 0 0", "1 0 0", "1 1 0"]);
        let texts = [
            ("sol".into(), "m.stl: expected an STL file, found neither `solid` nor the 84 bytes of a binary header"),
            ("solid a\nendsolid a".into(), "m.stl: expected triangles, found none"),
            (format!("solid a\n{good}"), "line 9: expected facet or endsolid, found the end of the file"),
            (format!("solid a\n{good}endsolid a\nfoo"), "line 10: expected solid, found `foo`"),
            (format!("solid a\n{good}").replace("endloop", "vertex"), "line 7: expected endloop, found `vertex`"),
            (format!("solid a\n{good}").replace("1 1 0", "1 1"), "line 7: expected a z coordinate, found `endloop`"),
            (
                format!("solid a\n{good}").replace("1 1 0", "1 nan 1"),
                "line 6: expected a y coordinate, a finite number, found `nan`",
            ),
            (
                format!("solid a\n{good}").replace("1 1 0", "1e400 1 1"),
                "line 6: expected an x coordinate, found `1e400`",
            ),
            (
                format!("solid\n{}endsolid", facet(["0 0 0", "0 0 0", "1 1 0"])),
                "m.stl: expected triangles, found only 1 with two corners at the same place",
            ),
        ];
        for (text, message) in texts {
            let error = load(text.clone()).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?} gave: {error}");
        }
        let mut infinite = SQUARE;
        infinite[1][2] = f32::INFINITY;
        let whole = binary(b"solid", &SQUARE);
        let binaries = [
            (whole[..183].to_vec(), "byte 84: expected 2 triangles of 50 bytes, found only 99 bytes until the end"),
            (binary(b"", &infinite), "byte 154: expected a finite coordinate, found inf"),
            (binary(b"", &[]), "m.stl: expected triangles, found none"),
            (vec![0xff; 134], "byte 84: expected 4294967295 triangles of 50 bytes, found only 50 bytes until the end"),
        ];
        for (bytes, message) in binaries {
            let error = load(bytes).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
