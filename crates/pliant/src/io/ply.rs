//! Stanford polygon files, `.ply`: tables whose columns are named in a header.
//!
//! ```text
//! ply
//! format ascii 1.0                        or binary_little_endian, binary_big_endian
//! comment anything
//! element vertex 4                        a table of 4 rows…
//! property double x                       …and its columns, in any order and of any type
//! property double y
//! property double z
//! element face 1
//! property list uchar int vertex_indices  a column of lists: types of their length and of their items
//! end_header
//! 0 0 0                                   as text, a row is a line
//! …
//! 4 0 1 2 3                               vertices count from 0
//! ```
//! Tables and columns that a surface does not need are skipped.

use std::path::Path;

use super::binary::Number;
use super::error::{Location, ReadError, WriteError};
use super::files::{Input, Output, put};
use super::raw::{RawFaces, RawMesh};
use super::scan::{Scanner, Syntax, quote};
use super::{Encoding, Format, WriteOptions};
use crate::math::Vec3;
use crate::mesh::{Faces, SurfaceMesh};

pub(super) const FORMAT: Format = Format {
    name: "Stanford PLY",
    extensions: &["ply"],
    about: "surfaces as text or binary of either byte order; polygons of any size",
    binary: true,
    features: &[],
    read: Some(read),
    write_volume: None,
    write_surface: Some(write),
};

/// Maximum number of skipped elements and properties that a note names.
const SKIPPED_NAMED: usize = 12;

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut scanner = input.scan(Syntax::default());
    let header = Header::read(&mut scanner)?;
    let mut body = Body { path: input.path, scanner, little: header.little };
    let mut raw = RawMesh::default();
    for element in &header.elements {
        match element.role {
            Table::Vertices => raw.vertices = body.vertices(element)?,
            Table::Faces => raw.faces = body.faces(element, header.vertices)?,
            Table::Other => body.skip_table(element)?,
        }
    }
    if body.little.is_none() && !body.scanner.at_end() {
        return Err(body.scanner.error("the end of the file after the last row", "another line"));
    }
    raw.notes.extend(header.skipped());
    if body.scanner.left() > 0 && body.little.is_some() {
        raw.notes.push(format!("not kept: {} bytes after the last row", body.scanner.left()));
    }
    Ok(raw)
}

/// Returns the number type with an old or new name. 64-bit integers are an extension that some programs write.
fn number_type(name: &[u8], scanner: &Scanner<'_>) -> Result<Number, ReadError> {
    Ok(match name {
        b"char" | b"int8" => Number::I8,
        b"uchar" | b"uint8" => Number::U8,
        b"short" | b"int16" => Number::I16,
        b"ushort" | b"uint16" => Number::U16,
        b"int" | b"int32" => Number::I32,
        b"uint" | b"uint32" => Number::U32,
        b"int64" => Number::I64,
        b"uint64" => Number::U64,
        b"float" | b"float32" => Number::F32,
        b"double" | b"float64" => Number::F64,
        _ => return Err(scanner.error("a type such as int or double", quote(name))),
    })
}

/// Role of a table in a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Table {
    Vertices,
    Faces,
    Other,
}

/// Role of a column in a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    Coordinate(usize),
    Corners,
    Other,
}

#[derive(Debug)]
struct Property<'a> {
    name: &'a [u8],
    role: Column,
    /// Type of the number, or of the items of a list.
    kind: Number,
    /// Type of the length of a list; `None` for a number.
    length: Option<Number>,
}

#[derive(Debug)]
struct Element<'a> {
    name: &'a [u8],
    role: Table,
    count: u64,
    properties: Vec<Property<'a>>,
}

#[derive(Debug)]
struct Header<'a> {
    /// True if little-endian; `None` for text.
    little: Option<bool>,
    elements: Vec<Element<'a>>,
    /// Declared numbers of vertices and faces.
    vertices: u64,
    faces: u64,
}

impl<'a> Header<'a> {
    fn read(scanner: &mut Scanner<'a>) -> Result<Self, ReadError> {
        let magic = scanner.expect("ply")?;
        if magic != b"ply" {
            return Err(scanner.error("ply", quote(magic)));
        }
        end_of_line(scanner)?;
        let mut format = None;
        let mut header = Self { little: None, elements: Vec::new(), vertices: 0, faces: 0 };
        loop {
            match scanner.expect("end_header")? {
                b"format" => format = Some(byte_order(scanner)?),
                b"element" => header.element(scanner)?,
                b"property" => header.property(scanner)?,
                b"comment" | b"obj_info" => {
                    scanner.rest_of_line();
                }
                b"end_header" => break,
                word => return Err(scanner.error("format, element, property, comment or end_header", quote(word))),
            }
            end_of_line(scanner)?;
        }
        let Some(little) = format else {
            return Err(scanner.error("a line `format` before end_header", "none"));
        };
        header.little = little;
        end_of_line(scanner)?;
        header.check(scanner)?;
        scanner.next_line();
        Ok(header)
    }

    fn element(&mut self, scanner: &mut Scanner<'a>) -> Result<(), ReadError> {
        let name = word(scanner, "the name of an element")?;
        let count = scanner.integer_in_line("the number of rows")?;
        let Ok(count) = u64::try_from(count) else {
            return Err(scanner.error("the number of rows", format!("`{count}`")));
        };
        let (role, promised) = match name {
            b"vertex" => (Table::Vertices, Some(&mut self.vertices)),
            b"face" => (Table::Faces, Some(&mut self.faces)),
            _ => (Table::Other, None),
        };
        if let Some(promised) = promised {
            if self.elements.iter().any(|element| element.role == role) {
                return Err(scanner.error("this element only once", quote(name)));
            }
            *promised = count;
        }
        self.elements.push(Element { name, role, count, properties: Vec::new() });
        Ok(())
    }

    fn property(&mut self, scanner: &mut Scanner<'a>) -> Result<(), ReadError> {
        let Some(element) = self.elements.last_mut() else {
            return Err(scanner.error("an element before its properties", "`property`"));
        };
        let first = word(scanner, "the type of a property")?;
        let (kind, length) = if first == b"list" {
            let length = number_type(word(scanner, "the type of the length of a list")?, scanner)?;
            (number_type(word(scanner, "the type of the items of a list")?, scanner)?, Some(length))
        } else {
            (number_type(first, scanner)?, None)
        };
        let name = word(scanner, "the name of a property")?;
        let role = match (element.role, name, length) {
            (Table::Vertices, b"x", None) => Column::Coordinate(0),
            (Table::Vertices, b"y", None) => Column::Coordinate(1),
            (Table::Vertices, b"z", None) => Column::Coordinate(2),
            (Table::Faces, b"vertex_indices" | b"vertex_index", Some(_)) => Column::Corners,
            _ => Column::Other,
        };
        if role != Column::Other && element.properties.iter().any(|property| property.role == role) {
            return Err(scanner.error("this property only once", quote(name)));
        }
        element.properties.push(Property { name, role, kind, length });
        Ok(())
    }

    /// Checks that the header declares everything that a surface needs.
    fn check(&self, scanner: &Scanner<'_>) -> Result<(), ReadError> {
        let missing = |what: &str| Err(scanner.error(what, "the end of the header"));
        let columns = |table: Table| {
            let element = self.elements.iter().find(|element| element.role == table)?;
            Some(element.properties.iter().filter(|property| property.role != Column::Other).count())
        };
        match columns(Table::Vertices) {
            None => return missing("an element `vertex`"),
            Some(3) => {}
            Some(_) => return missing("properties x, y and z of the element `vertex`"),
        }
        match columns(Table::Faces) {
            Some(0) => missing("a property list vertex_indices of the element `face`"),
            Some(_) if self.faces > 0 => Ok(()),
            _ => {
                let others = self.elements.iter().find(|element| element.role == Table::Other);
                let others = others.map_or(String::new(), |element| format!(" and an element {}", quote(element.name)));
                Err(scanner.error("faces", format!("a cloud of {} points{others}", self.vertices)))
            }
        }
    }

    /// Returns a note on the elements and properties that are not kept.
    fn skipped(&self) -> Option<String> {
        let of_element = |element: &Element<'a>| match element.role {
            Table::Other => vec![format!("element {}", quote(element.name))],
            Table::Vertices | Table::Faces => {
                let others = element.properties.iter().filter(|property| property.role == Column::Other);
                let of = if element.role == Table::Faces { "face" } else { "vertex" };
                others.take(SKIPPED_NAMED + 1).map(|property| format!("{of} {}", quote(property.name))).collect()
            }
        };
        let mut names: Vec<String> = self.elements.iter().flat_map(of_element).take(SKIPPED_NAMED + 1).collect();
        if names.len() > SKIPPED_NAMED {
            names[SKIPPED_NAMED] = "and more".into();
        }
        (!names.is_empty()).then(|| format!("not kept: {}", names.join(", ")))
    }
}

fn word<'a>(scanner: &mut Scanner<'a>, what: &str) -> Result<&'a [u8], ReadError> {
    scanner.word_in_line().ok_or_else(|| scanner.error(what, "the end of the line"))
}

fn end_of_line(scanner: &mut Scanner<'_>) -> Result<(), ReadError> {
    match scanner.word_in_line() {
        None => Ok(()),
        Some(word) => Err(scanner.error("the end of the line", quote(word))),
    }
}

/// Parses the rest of the line `format`. Returns true for little-endian and `None` for text.
fn byte_order(scanner: &mut Scanner<'_>) -> Result<Option<bool>, ReadError> {
    let expected = "ascii, binary_little_endian or binary_big_endian";
    let little = match word(scanner, expected)? {
        b"ascii" => None,
        b"binary_little_endian" => Some(true),
        b"binary_big_endian" => Some(false),
        other => return Err(scanner.error(expected, quote(other))),
    };
    match word(scanner, "version 1.0")? {
        b"1.0" => Ok(little),
        other => Err(scanner.error("version 1.0", quote(other))),
    }
}

/// Reader of the rows after the header.
struct Body<'a> {
    path: &'a Path,
    scanner: Scanner<'a>,
    /// True if little-endian; `None` for text.
    little: Option<bool>,
}

impl Body<'_> {
    fn vertices(&mut self, element: &Element<'_>) -> Result<Vec<Vec3>, ReadError> {
        const COORDINATES: [&str; 3] = ["an x coordinate", "a y coordinate", "a z coordinate"];
        let count = self.rows(element)?;
        let mut vertices = Vec::with_capacity(count);
        for _ in 0..count {
            self.start_row(element)?;
            let mut position = [0.0; 3];
            for property in &element.properties {
                match property.role {
                    Column::Coordinate(axis) => position[axis] = self.number(property.kind, COORDINATES[axis])?,
                    _ => self.skip(property)?,
                }
            }
            self.end_row()?;
            vertices.push(Vec3::from_array(position));
        }
        Ok(vertices)
    }

    fn faces(&mut self, element: &Element<'_>, vertices: u64) -> Result<RawFaces, ReadError> {
        let mut faces = RawFaces::default();
        let mut polygon = Vec::new();
        for _ in 0..self.rows(element)? {
            self.start_row(element)?;
            for property in &element.properties {
                match (property.role, property.length) {
                    (Column::Corners, Some(length)) => self.corners(property, length, vertices, &mut polygon)?,
                    _ => self.skip(property)?,
                }
            }
            self.end_row()?;
            if u32::try_from(faces.faces.vertices().len() + polygon.len()).is_err() {
                return Err(self.error(self.place(), "at most 4294967295 corners of faces", "more"));
            }
            faces.push(&polygon, 0);
        }
        Ok(faces)
    }

    fn skip_table(&mut self, element: &Element<'_>) -> Result<(), ReadError> {
        for _ in 0..self.rows(element)? {
            self.start_row(element)?;
            for property in &element.properties {
                self.skip(property)?;
            }
            self.end_row()?;
        }
        Ok(())
    }

    fn corners(
        &mut self,
        list: &Property<'_>,
        length: Number,
        vertices: u64,
        to: &mut Vec<u32>,
    ) -> Result<(), ReadError> {
        let start = self.place();
        let count = self.length(length, list.kind)?;
        if count < 3 {
            return Err(self.error(start, "at least 3 vertices in a face", count.to_string()));
        }
        to.clear();
        for _ in 0..count {
            let start = self.place();
            let vertex = self.integer(list.kind, "a vertex number")?;
            match u32::try_from(vertex) {
                Ok(index) if u64::from(index) < vertices => to.push(index),
                _ => {
                    let expected = format!("the number of one of the {vertices} vertices, from 0");
                    return Err(self.error(start, expected, format!("`{vertex}`")));
                }
            }
        }
        Ok(())
    }

    /// Returns the number of rows of a table. Fails if the file is too short for them, so that allocating by it is
    /// safe.
    fn rows(&self, element: &Element<'_>) -> Result<usize, ReadError> {
        if element.properties.is_empty() {
            return Ok(0);
        }
        let min = element.properties.iter().map(|property| self.min_bytes(property.length.unwrap_or(property.kind)));
        self.backed(element.count, min.sum(), || format!("rows of {}", quote(element.name)))
    }

    /// Reads the length of a list of `items`. Fails if the file is too short for them.
    fn length(&mut self, kind: Number, items: Number) -> Result<usize, ReadError> {
        let start = self.place();
        let length = self.integer(kind, "the length of a list")?;
        match u64::try_from(length) {
            Ok(length) => self.backed(length, self.min_bytes(items), || "items of a list".into()),
            Err(_) => Err(self.error(start, "the length of a list", format!("`{length}`"))),
        }
    }

    fn backed(&self, count: u64, min_bytes: usize, what: impl Fn() -> String) -> Result<usize, ReadError> {
        let left = self.scanner.left();
        // The last word of a text may lack the space after it.
        let usable = if self.little.is_none() { left + 1 } else { left };
        match usize::try_from(count) {
            Ok(count) if count.saturating_mul(min_bytes) <= usable => Ok(count),
            _ => {
                let found = format!("only {left} bytes until the end of the file");
                Err(self.error(self.place(), format!("{count} {}", what()), found))
            }
        }
    }

    /// Returns the minimum size of a number in bytes; in text, a digit and a separator.
    fn min_bytes(&self, kind: Number) -> usize {
        if self.little.is_none() { 2 } else { kind.bytes() }
    }

    /// Begins a row; in text, the next line that is not blank.
    fn start_row(&mut self, element: &Element<'_>) -> Result<(), ReadError> {
        if self.little.is_none() && !self.scanner.seek_content() {
            let expected = format!("{} rows of {}", element.count, quote(element.name));
            return Err(self.scanner.error(expected, "the end of the file"));
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), ReadError> {
        if self.little.is_none() { end_of_line(&mut self.scanner) } else { Ok(()) }
    }

    fn number(&mut self, kind: Number, what: &str) -> Result<f64, ReadError> {
        let Some(little) = self.little else {
            return self.scanner.number_in_line(what);
        };
        let start = self.place();
        let number = kind.float(self.scanner.take(kind.bytes(), what)?, little);
        if number.is_finite() {
            Ok(number)
        } else {
            Err(self.error(start, format!("{what}, a finite number"), number.to_string()))
        }
    }

    fn integer(&mut self, kind: Number, what: &str) -> Result<i64, ReadError> {
        let start = self.place();
        let number = self.number(kind, what)?;
        if number.fract() == 0.0 {
            // The conversion saturates: a number beyond the range stays beyond any count.
            Ok(number as i64)
        } else {
            Err(self.error(start, format!("{what}, a whole number"), format!("`{number}`")))
        }
    }

    /// Skips a number or a list.
    fn skip(&mut self, property: &Property<'_>) -> Result<(), ReadError> {
        let count = match property.length {
            None => 1,
            Some(length) => self.length(length, property.kind)?,
        };
        if self.little.is_some() {
            // The product does not overflow: the length of a list was checked.
            let bytes = count * property.kind.bytes();
            return self.scanner.take(bytes, "a property").map(|_| ());
        }
        for _ in 0..count {
            if self.scanner.word_in_line().is_none() {
                let expected = format!("the property {}", quote(property.name));
                return Err(self.scanner.error(expected, "the end of the line"));
            }
        }
        Ok(())
    }

    fn place(&self) -> Location {
        if self.little.is_none() { Location::Line(self.scanner.line()) } else { self.scanner.byte() }
    }

    fn error(&self, place: Location, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        ReadError::at(self.path, place, expected, found)
    }
}

fn write(output: &mut Output, surface: &SurfaceMesh, options: &WriteOptions) -> Result<(), WriteError> {
    let text = options.encoding == Encoding::Text;
    write_polygons(output.main(), surface.vertices(), &[], surface.faces(), text);
    Ok(())
}

/// Writes polygons as a PLY file, with one normal per vertex if `normals` is not empty.
pub fn write_polygons(out: &mut Vec<u8>, vertices: &[Vec3], normals: &[Vec3], faces: &Faces, text: bool) {
    let short = faces.iter().all(|face| u8::try_from(face.len()).is_ok());
    put!(out, "ply\nformat {} 1.0\n", if text { "ascii" } else { "binary_little_endian" });
    put!(out, "element vertex {}\nproperty double x\nproperty double y\nproperty double z\n", vertices.len());
    if !normals.is_empty() {
        put!(out, "property float nx\nproperty float ny\nproperty float nz\n");
    }
    put!(out, "element face {}\n", faces.len());
    // Other programs expect `int`; its bytes equal those of u32 up to the maximum of `int`.
    let index = if i32::try_from(vertices.len()).is_ok() { "int" } else { "uint" };
    put!(out, "property list {} {index} vertex_indices\nend_header\n", if short { "uchar" } else { "uint" });
    for (vertex, p) in vertices.iter().enumerate() {
        let normal = normals.get(vertex).map(|n| n.to_array().map(|x| x as f32));
        if text {
            put!(out, "{:?} {:?} {:?}", p.x, p.y, p.z);
            if let Some([x, y, z]) = normal {
                put!(out, " {x:?} {y:?} {z:?}");
            }
            out.push(b'\n');
        } else {
            out.extend(p.to_array().iter().flat_map(|x| x.to_le_bytes()));
            out.extend(normal.iter().flatten().flat_map(|x| x.to_le_bytes()));
        }
    }
    for face in faces.iter() {
        if text {
            put!(out, "{}", face.len());
            for v in face {
                put!(out, " {v}");
            }
            out.push(b'\n');
        } else {
            let length = (face.len() as u32).to_le_bytes();
            out.extend(&length[..if short { 1 } else { 4 }]);
            out.extend(face.iter().flat_map(|v| v.to_le_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loaded, Memory, Mesh, read_from, write_to};
    use super::*;

    fn load(bytes: impl Into<Vec<u8>>) -> Result<Loaded, ReadError> {
        read_from(&Memory::with("m.ply", bytes), Path::new("m.ply"))
    }

    fn surface(loaded: Loaded) -> SurfaceMesh {
        let Mesh::Surface(surface) = loaded.mesh else { panic!("expected a surface") };
        surface
    }

    /// Returns a complete header of three vertices and one face.
    fn header(format: &str) -> String {
        format!(
            "ply\nformat {format} 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
             element face 1\nproperty list uchar int vertex_indices\nend_header\n"
        )
    }

    const ROWS: &str = "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";

    #[test]
    fn columns_of_any_order_and_tables_of_any_kind_are_read() {
        let text = "ply\r\nformat ascii 1.0\r\ncomment element vertex 9\r\nobj_info scanned\r\nelement face 2\r\n\
                    property uchar red\r\nproperty list int uint8 vertex_index\r\nproperty list char double uv\r\n\
                    element edge 1\r\nproperty int a\r\nelement nothing 99999999999\r\n\
                    element vertex 4\r\nproperty double z\r\nproperty list uint8 int ids\r\nproperty int16 x\r\n\
                    property float32 y\r\nend_header\r\n\
                    255 3 0 1 2 0\r\n255 4 3 2 1 0 2 0.5 nan\r\n7\r\n\r\n\
                    0.5 2 8 9 1 0\r\n 0 0 0 0\r\n0 0 0 1\r\n0.1 0 1 1";
        let loaded = load(text).unwrap();
        let note = "not kept: face `red`, face `uv`, element `edge`, element `nothing`, vertex `ids`";
        assert_eq!(loaded.notes, [note]);
        let surface = surface(loaded);
        assert_eq!(surface.vertices(), [Vec3::new(1., 0., 0.5), Vec3::ZERO, Vec3::Y, Vec3::new(1., 1., 0.1)]);
        assert_eq!(surface.faces().iter().collect::<Vec<_>>(), [&[0, 1, 2][..], &[3, 2, 1, 0]]);
    }

    #[test]
    fn binary_of_either_byte_order_and_all_types_is_read() {
        let header = |order: &str| {
            format!(
                "ply\nformat binary_{order}_endian 1.0\nelement vertex 3\nproperty float y\nproperty list short double w\n\
                 property int8 x\nproperty double z\nelement face 1\nproperty list uint64 ushort tags\n\
                 property list int float vertex_indices\nend_header\n"
            )
        };
        let mut little = header("little").into_bytes();
        let mut big = header("big").into_bytes();
        macro_rules! both { ($($x:expr),*) => { $(little.extend(($x).to_le_bytes()); big.extend(($x).to_be_bytes());)* } }
        both!(0.5_f32, 1_i16, f64::NAN, -1_i8, 0.1_f64);
        both!(0.0_f32, 0_i16, 1_i8, 0.0_f64);
        both!(1.0_f32, 2_i16, 0.0_f64, 0.0_f64, 0_i8, 1.0_f64);
        both!(2_u64, 7_u16, 8_u16, 3_i32, 2.0_f32, 0.0_f32, 1.0_f32);
        big.extend(b"\n");
        for (bytes, extra) in [(little, 0), (big, 1)] {
            let loaded = load(bytes).unwrap();
            assert_eq!(loaded.notes[0], "not kept: vertex `w`, face `tags`");
            assert_eq!(loaded.notes.len(), 1 + extra);
            let surface = surface(loaded);
            assert_eq!(surface.vertices(), [Vec3::new(-1., 0.5, 0.1), Vec3::X, Vec3::new(0., 1., 1.)]);
            assert_eq!(surface.faces().get(0), [2, 0, 1]);
        }
    }

    #[test]
    fn what_is_written_is_read_back_equal() {
        let vertices: Vec<Vec3> =
            (0..300).map(|i| Vec3::new(f64::from(i) / 7.0, f64::from(i * i) * 1e-300, -0.1)).collect();
        let round: Vec<u32> = (0..300).collect();
        let small = [&[0, 1, 2][..], &[2, 1, 3, 4], &[0, 1, 2, 3, 299]].into_iter().collect::<Faces>();
        let large = [&[0, 1, 2][..], &round].into_iter().collect::<Faces>();
        for faces in [small, large] {
            let mesh = Mesh::Surface(SurfaceMesh::new(vertices.clone(), faces).unwrap());
            for encoding in [Encoding::Usual, Encoding::Text, Encoding::Binary] {
                let (files, path) = (Memory::default(), Path::new("m.ply"));
                let options = WriteOptions { encoding, ..WriteOptions::default() };
                assert_eq!(write_to(&files, path, &mesh, &options).unwrap(), [""; 0]);
                assert_eq!(read_from(&files, path).unwrap().mesh, mesh);
            }
        }
    }

    #[test]
    fn broken_headers_are_refused_with_line_and_reason() {
        let cases = [
            ("ply", "ball", "line 1: expected ply, found `ball`"),
            ("format ascii 1.0\n", "", "line 8: expected a line `format` before end_header, found none"),
            ("ascii 1.0", "ascii 2.0", "line 2: expected version 1.0, found `2.0`"),
            ("ascii", "utf8", "line 2: expected ascii, binary_little_endian or binary_big_endian, found `utf8`"),
            ("vertex 3", "vertex -3", "line 3: expected the number of rows, found `-3`"),
            ("vertex 3", "vertex", "line 3: expected the number of rows, found the end of the line"),
            ("vertex 3", "vertex 3 4", "line 3: expected the end of the line, found `4`"),
            ("vertex 3", "point 3", "line 9: expected an element `vertex`, found the end of the header"),
            ("vertex 3", "face 3", "line 7: expected this element only once, found `face`"),
            ("element vertex 3\n", "", "line 3: expected an element before its properties, found `property`"),
            ("float x", "real x", "line 4: expected a type such as int or double, found `real`"),
            ("float x", "float y", "line 5: expected this property only once, found `y`"),
            (
                "float x",
                "float u",
                "expected properties x, y and z of the element `vertex`, found the end of the header",
            ),
            ("vertex_indices", "corners", "expected a property list vertex_indices of the element `face`"),
            ("list uchar int", "int", "expected a property list vertex_indices of the element `face`"),
            ("element face 1", "element face 0", "line 9: expected faces, found a cloud of 3 points"),
            (
                "element face",
                "element tristrips",
                "expected faces, found a cloud of 3 points and an element `tristrips`",
            ),
            ("end_header\n", "", "line 9: expected format, element, property, comment or end_header, found `0`"),
            ("vertex 3", "vertex 99999999999999", "line 10: expected 99999999999999 rows of `vertex`, found only 26"),
        ];
        for (old, new, message) in cases {
            let text = format!("{}{ROWS}", header("ascii")).replacen(old, new, 1);
            let error = load(text).unwrap_err().to_string();
            assert!(error.contains(message), "{old} -> {new} gave: {error}");
        }
        let error = load("ply\nformat ascii 1.0\n").unwrap_err().to_string();
        assert_eq!(error, "m.ply, line 3: expected end_header, found the end of the file");
    }

    #[test]
    fn broken_rows_are_refused_with_place_and_reason() {
        let cases = [
            ("1 0 0\n", "1 0\n", "line 11: expected a z coordinate, found the end of the line"),
            ("1 0 0\n", "1 0 0 0\n", "line 11: expected the end of the line, found `0`"),
            ("1 0 0\n", "1 inf 0\n", "line 11: expected a y coordinate, a finite number, found `inf`"),
            ("3 0 1 2", "3 0 1 3", "line 13: expected the number of one of the 3 vertices, from 0, found `3`"),
            ("3 0 1 2", "3 0 1 -1", "line 13: expected the number of one of the 3 vertices, from 0, found `-1`"),
            ("3 0 1 2", "3 0 1 1.5", "line 13: expected a vertex number, a whole number, found `1.5`"),
            (
                "3 0 1 2",
                "3 0 1 1e300",
                "expected the number of one of the 3 vertices, from 0, found `9223372036854775807`",
            ),
            ("3 0 1 2", "2 0 1", "line 13: expected at least 3 vertices in a face, found 2"),
            ("3 0 1 2", "4 0 1 2", "line 13: expected a vertex number, found the end of the line"),
            ("3 0 1 2", "-3 0 1 2", "line 13: expected the length of a list, found `-3`"),
            (
                "3 0 1 2",
                "4000000000 0 1 2",
                "line 13: expected 4000000000 items of a list, found only 7 bytes until the end",
            ),
            ("3 0 1 2", "", "line 14: expected 1 rows of `face`, found the end of the file"),
            ("2\n", "2\n3 0 1 2", "line 14: expected the end of the file after the last row, found another line"),
        ];
        for (old, new, message) in cases {
            let text = format!("{}{}", header("ascii"), ROWS.replacen(old, new, 1));
            let error = load(text).unwrap_err().to_string();
            assert!(error.contains(message), "{old} -> {new} gave: {error}");
        }
        let start = header("binary_little_endian").len();
        let mut bytes = header("binary_little_endian").into_bytes();
        bytes.extend([0; 36]);
        bytes.extend([3, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0]);
        let message = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
        let wrong_vertex =
            format!("byte {}: expected the number of one of the 3 vertices, from 0, found `9`", start + 45);
        assert!(message(&bytes).ends_with(&wrong_vertex), "{}", message(&bytes));
        let cut =
            format!("byte {}: expected 3 items of a list, found only 11 bytes until the end of the file", start + 37);
        assert!(message(&bytes[..start + 48]).ends_with(&cut), "{}", message(&bytes[..start + 48]));
        let cut = format!("byte {start}: expected 3 rows of `vertex`, found only 35 bytes until the end of the file");
        assert!(message(&bytes[..start + 35]).ends_with(&cut), "{}", message(&bytes[..start + 35]));
        bytes[start + 4..start + 8].copy_from_slice(&f32::NAN.to_le_bytes());
        let nan = format!("byte {}: expected a y coordinate, a finite number, found NaN", start + 4);
        assert!(message(&bytes).ends_with(&nan), "{}", message(&bytes));
    }
}
