//! Wavefront surfaces, `.obj`.
//!
//! ```text
//! v 0.0 0.0 0.0          # a position; a weight or a color may follow
//! f 1 2 3 4              # a polygon: vertices count from 1 over the whole file…
//! f -1 -2 \              # …or backward from the latest vertex, which is -1
//!   -3                   # (a backslash continues a line)
//! f 1/7/9 2//9 3/7       # after slashes: numbers of a texture coordinate and of a normal
//! ```
//! A polygon may come before its vertices. Normals (`vn`), texture coordinates (`vt`), groups and materials serve
//! display only and are skipped. Free-form curves and surfaces are refused.

use super::input_output::{Input, Output};
use super::raw::{RawFaces, RawMesh};
use super::{Format, WriteOptions};
use crate::files::{Location, ReadError, Scanner, Syntax, WriteError, put, quote};
use crate::math::Vec3;
use crate::mesh::{Faces, SurfaceMesh};

pub(super) const FORMAT: Format = Format {
    name: "Wavefront OBJ",
    extensions: &["obj"],
    about: "surfaces as text; polygons of any size",
    binary: false,
    features: &[],
    read: Some(read),
    write_volume: None,
    write_surface: Some(write),
};

const SYNTAX: Syntax = Syntax { comment: Some(b'#'), commas: false };

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut reader = Reader {
        scanner: input.scan(SYNTAX),
        vertices: Vec::new(),
        faces: RawFaces::default(),
        polygon: Vec::new(),
        largest: None,
        skipped: Vec::new(),
    };
    while reader.scanner.seek_content() {
        reader.statement()?;
        reader.scanner.next_line();
    }
    reader.finish(input)
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    vertices: Vec<Vec3>,
    faces: RawFaces,
    /// Scratch: corners of the current face.
    polygon: Vec<u32>,
    /// Largest vertex number of a face so far, from 0, and its line: it may come before the vertex.
    largest: Option<(u32, u64)>,
    /// Content of the file that is not kept.
    skipped: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    fn statement(&mut self) -> Result<(), ReadError> {
        match self.word().unwrap_or_default() {
            b"v" => self.vertex(),
            // `fo` is the former keyword for faces.
            b"f" | b"fo" => self.face(),
            keyword => {
                let Some(what) = decoration(keyword) else {
                    return Err(self.refuse(keyword));
                };
                self.skip(what);
                Ok(())
            }
        }
    }

    fn vertex(&mut self) -> Result<(), ReadError> {
        let [x, y, z] = ["an x coordinate", "a y coordinate", "a z coordinate"].map(|what| self.number(what));
        self.vertices.push(Vec3::new(x?, y?, z?));
        if self.word().is_some() {
            self.skip("weights or colors of vertices");
        }
        Ok(())
    }

    fn face(&mut self) -> Result<(), ReadError> {
        self.polygon.clear();
        while let Some(word) = self.word() {
            let vertex = self.corner(word)?;
            self.polygon.push(vertex);
            if self.largest.is_none_or(|(largest, _)| vertex > largest) {
                self.largest = Some((vertex, self.scanner.line()));
            }
        }
        if self.polygon.len() < 3 {
            return Err(self.scanner.error("at least 3 vertices in a face", self.polygon.len().to_string()));
        }
        self.faces.push(&self.polygon, 0);
        Ok(())
    }

    /// Returns the vertex of a corner such as `7`, `7/1`, `7/1/2`, `7//2` or `-1`, counted from 0.
    fn corner(&self, word: &[u8]) -> Result<u32, ReadError> {
        let slash = word.iter().position(|&b| b == b'/').unwrap_or(word.len());
        let (number, others) = word.split_at(slash);
        let harmless = others.iter().all(|b| matches!(b, b'/' | b'-' | b'0'..=b'9'));
        let number = std::str::from_utf8(number).ok().and_then(|text| text.parse::<i64>().ok());
        let (Some(number), true) = (number, harmless) else {
            return Err(self.scanner.error("a vertex number, such as 3, 3/1 or 3//2", quote(word)));
        };
        let known = self.vertices.len() as i64;
        // The sum cannot overflow: the terms have opposite signs.
        let index = if number > 0 { number - 1 } else { known + number };
        match u32::try_from(index) {
            Ok(index) if number != 0 => Ok(index),
            _ if number > 0 => Err(self.scanner.error("a vertex number", format!("`{number}`"))),
            _ => {
                let expected = format!("a vertex number from 1 up, or from -1 down to -{known}");
                Err(self.scanner.error(expected, format!("`{number}`")))
            }
        }
    }

    fn number(&mut self, what: &str) -> Result<f64, ReadError> {
        match self.word() {
            Some(word) => self.scanner.parse_number(word, what),
            None => Err(self.scanner.error(what, "the end of the line")),
        }
    }

    /// Returns the next word of a line and of the lines that continue it.
    fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            let word = self.scanner.word_in_line()?;
            let Some(rest) = word.strip_suffix(b"\\").filter(|_| self.scanner.clone().word_in_line().is_none()) else {
                return Some(word);
            };
            self.scanner.next_line();
            if !rest.is_empty() {
                return Some(rest);
            }
        }
    }

    /// Moves to the end of a line and of the lines that continue it.
    fn skip(&mut self, what: &'static str) {
        if !self.skipped.contains(&what) {
            self.skipped.push(what);
        }
        while self.scanner.rest_of_line().ends_with(b"\\") && self.scanner.next_line() {}
    }

    fn refuse(&self, keyword: &[u8]) -> ReadError {
        let free_form: &[&[u8]] = &[
            b"vp", b"cstype", b"deg", b"bmat", b"step", b"curv", b"curv2", b"surf", b"parm", b"trim", b"hole", b"scrv",
            b"sp", b"end", b"con", b"ctech", b"stech", b"bsp", b"bzp", b"cdc", b"cdp", b"res",
        ];
        if free_form.contains(&keyword) {
            self.scanner.error("polygons", format!("{}, part of a free-form curve or surface", quote(keyword)))
        } else {
            self.scanner.error("a statement such as v or f", quote(keyword))
        }
    }

    fn finish(self, input: &Input<'_>) -> Result<RawMesh, ReadError> {
        let count = self.vertices.len();
        if let Some((vertex, line)) = self.largest.filter(|&(vertex, _)| vertex as usize >= count) {
            let expected = format!("the number of one of the {count} vertices of the file");
            let found = format!("`{}`", u64::from(vertex) + 1);
            return Err(ReadError::at(input.path, Location::Line(line), expected, found));
        }
        let mut raw = RawMesh { vertices: self.vertices, faces: self.faces, ..RawMesh::default() };
        if !self.skipped.is_empty() {
            raw.notes.push(format!("not kept: {}", self.skipped.join(", ")));
        }
        Ok(raw)
    }
}

/// Returns the kind of content of a statement that can be skipped.
fn decoration(keyword: &[u8]) -> Option<&'static str> {
    Some(match keyword {
        b"vn" => "normals",
        b"vt" => "texture coordinates",
        b"g" | b"o" => "groups and objects",
        b"s" | b"mg" => "smoothing groups",
        b"mtllib" | b"usemtl" | b"maplib" | b"usemap" => "materials",
        b"l" => "lines",
        b"p" => "points",
        b"bevel" | b"c_interp" | b"d_interp" | b"lod" | b"shadow_obj" | b"trace_obj" => "display settings",
        _ => return None,
    })
}

fn write(output: &mut Output, surface: &SurfaceMesh, _: &WriteOptions) -> Result<(), WriteError> {
    let (vertices, faces) = (surface.vertices(), surface.faces());
    write_objects(output.main(), &[Object { name: None, vertices, normals: &[], faces }]);
    Ok(())
}

/// Named surface in a file.
#[derive(Debug)]
pub struct Object<'a> {
    /// Name; `None` for the only object of a file.
    pub name: Option<&'a str>,
    /// Positions \[m\].
    pub vertices: &'a [Vec3],
    /// Normals, one per vertex, or empty.
    pub normals: &'a [Vec3],
    /// Polygons.
    pub faces: &'a Faces,
}

/// Writes surfaces to OBJ text, one after the other; vertices and normals have the same numbers.
pub fn write_objects(out: &mut Vec<u8>, objects: &[Object<'_>]) {
    let vertices: usize = objects.iter().map(|object| object.vertices.len()).sum();
    let faces: usize = objects.iter().map(|object| object.faces.len()).sum();
    put!(out, "# {vertices} vertices, {faces} faces\n");
    let mut first = 1;
    for object in objects {
        if let Some(name) = object.name {
            // A name ends with the line, and for some readers with the word.
            put!(out, "o {}\n", name.replace(|c: char| c.is_whitespace() || c.is_control(), "_"));
        }
        for p in object.vertices {
            put!(out, "v {:?} {:?} {:?}\n", p.x, p.y, p.z);
        }
        for n in object.normals {
            put!(out, "vn {:?} {:?} {:?}\n", n.x as f32, n.y as f32, n.z as f32);
        }
        for face in object.faces.iter() {
            out.push(b'f');
            for corner in face.iter().map(|&v| first + v as usize) {
                if object.normals.is_empty() {
                    put!(out, " {corner}");
                } else {
                    put!(out, " {corner}//{corner}");
                }
            }
            out.push(b'\n');
        }
        first += object.vertices.len();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Loaded, Mesh, read_from, write_to};
    use super::*;
    use crate::files::Memory;

    fn load(text: &str) -> Result<Loaded, ReadError> {
        read_from(&Memory::with("m.obj", text), Path::new("m.obj"))
    }

    fn surface(text: &str) -> SurfaceMesh {
        let Mesh::Surface(surface) = load(text).unwrap().mesh else { panic!("expected a surface") };
        surface
    }

    const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

    #[test]
    fn all_ways_to_number_a_corner_mean_the_same_face() {
        let faces = [
            "f 1 2 3 4",
            "f 1/1 2/1 3/1 4/1",
            "f 1/1/1 2/1/1 3/1/1 4/1/1",
            "f 1//1 2//1 3//1 4//1",
            "f -4 -3/-1 -2//-1 -1/-1/-1",
        ];
        for face in faces {
            let surface = surface(&format!("{SQUARE}{face}"));
            assert_eq!(surface.faces().get(0), [0, 1, 2, 3], "{face}");
        }
    }

    #[test]
    fn relative_numbers_count_from_the_vertices_so_far() {
        let surface = surface("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nf -4 -3 -1\n");
        assert_eq!(surface.faces().iter().collect::<Vec<_>>(), [[0, 1, 2], [0, 1, 3]]);
    }

    #[test]
    fn faces_may_come_before_their_vertices() {
        assert_eq!(surface(&format!("f 4 3 2 1\n{SQUARE}")).faces().get(0), [3, 2, 1, 0]);
    }

    #[test]
    fn lines_may_be_continued() {
        let surface = surface("v 0 \\\r\n 0 0\nv 1 0\\\n0\nv 1 1 0\nvt 0 \\\n 0 \\\n 0\nf 1 2 \\\n3");
        assert_eq!(surface.vertices()[1], Vec3::X);
        assert_eq!(surface.faces().get(0), [0, 1, 2]);
    }

    #[test]
    fn what_is_not_kept_is_said_once() {
        let extras =
            "o a\ng b c\nusemtl red\nvn 0 0 1\nvn 0 0 1\nvt 0 0\ns off\nl 1 2\np 1\nv 5 5 5 1 0 0\nf 1 2 3 4\n";
        let loaded = load(&format!("mtllib a.mtl\n{SQUARE}{extras}")).unwrap();
        assert_eq!(
            loaded.notes,
            [
                "not kept: materials, groups and objects, normals, texture coordinates, smoothing groups, lines, points, weights or colors of vertices"
            ]
        );
        assert_eq!(load(&format!("{SQUARE}f 1 2 3")).unwrap().notes, [""; 0]);
    }

    #[test]
    fn what_is_written_is_read_back_equal() {
        let vertices = vec![Vec3::new(0.1, -1e-300, 1e300), Vec3::X / 3.0, Vec3::Y, Vec3::ONE, Vec3::Z];
        let faces = [&[0, 1, 2][..], &[2, 1, 3, 4], &[0, 1, 2, 3, 4]].into_iter().collect::<Faces>();
        let mesh = Mesh::Surface(SurfaceMesh::new(vertices, faces).unwrap());
        let files = Memory::default();
        let path = Path::new("m.obj");
        assert_eq!(write_to(&files, path, &mesh, &WriteOptions::default()).unwrap(), [""; 0]);
        assert_eq!(read_from(&files, path).unwrap().mesh, mesh);
    }

    #[test]
    fn broken_files_are_refused_with_line_and_reason() {
        let cases = [
            ("v 0 0", "line 1: expected a z coordinate, found the end of the line"),
            ("v 0 0 \\", "line 1: expected a z coordinate, found the end of the line"),
            ("v 0 \\ 0", "line 1: expected a y coordinate, found `\\\\`"),
            ("v 0 0 nan", "line 1: expected a z coordinate, a finite number, found `nan`"),
            ("v 0 1e999 0", "line 1: expected a y coordinate, found `1e999`, which is beyond"),
            ("\nf 1 2 3 \nv 0 0 0", "line 2: expected the number of one of the 1 vertices of the file, found `3`"),
            ("v 0 0 0\nf 1 1", "line 2: expected at least 3 vertices in a face, found 2"),
            ("v 0 0 0\nf", "line 2: expected at least 3 vertices in a face, found 0"),
            ("v 0 0 0\nf 1 1 0", "line 2: expected a vertex number from 1 up, or from -1 down to -1, found `0`"),
            ("v 0 0 0\nf 1 1 -2", "line 2: expected a vertex number from 1 up, or from -1 down to -1, found `-2`"),
            ("f 1 1 -9223372036854775808", "found `-9223372036854775808`"),
            ("f 1 1 9223372036854775807", "expected a vertex number, found `9223372036854775807`"),
            ("f 1 1 4294967296", "expected the number of one of the 0 vertices of the file, found `4294967296`"),
            ("f 1 1 99999999999999999999", "expected a vertex number, such as 3, 3/1 or 3//2, found `9999"),
            ("f 1 2 3/x", "expected a vertex number, such as 3, 3/1 or 3//2, found `3/x`"),
            ("f 1 2 /3", "found `/3`"),
            ("f 1 2 3.5", "found `3.5`"),
            ("cstype bezier", "line 1: expected polygons, found `cstype`, part of a free-form curve or surface"),
            ("v 0 0 0\n\x00\x01", "line 2: expected a statement such as v or f, found `\\x00\\x01`"),
            ("v 0 0 0", "m.obj: expected tetrahedra, hexahedra or a surface, found 1 vertices and no elements"),
        ];
        for (text, message) in cases {
            let error = load(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?} gave: {error}");
        }
    }
}
