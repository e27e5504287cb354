//! VTK's legacy files, `.vtk`.
//!
//! ```text
//! # vtk DataFile Version 3.0      CELLS 1 5              CELL_DATA 1
//! a title                         4 0 1 2 3              FIELD FieldData 1
//! ASCII                           CELL_TYPES 1           region 1 1 int
//! DATASET UNSTRUCTURED_GRID       10                     0
//! POINTS 4 double
//! 0 0 0 …                         since version 5:       CELLS 2 4   (one more than there are cells, all nodes)
//!                                                        OFFSETS vtktypeint64       0 4
//!                                                        CONNECTIVITY vtktypeint64  0 1 2 3
//! ```
//! With `BINARY` instead of `ASCII`, only the numbers are binary and big-endian, each block on a separate line.
//! `DATASET POLYDATA` has VERTICES, LINES, POLYGONS and `TRIANGLE_STRIPS` instead of CELLS. Names and strings contain
//! unprintable bytes as `%` and two hexadecimal digits.

use super::FEATURES;
use super::cells::{
    Assembly, Grid, POLYGON, POLYLINE, POLYVERTEX, Piece, REGION, REGION_NAMES, Role, STRIP, bytes_to_names,
    coordinate_name, expected_vertex, mask, names_to_bytes, vertex_number, vertices,
};
use super::values::{Sink, Source, Values, unescape};
use crate::files::{Location, Number, ReadError, Syntax, WriteError, decode, put, quote};
use crate::io::input_output::{Input, Output};
use crate::io::raw::RawMesh;
use crate::io::{Encoding, Format, WriteOptions};
use crate::mesh::{SurfaceMesh, VolumeMesh};

pub(crate) const FORMAT: Format = Format {
    name: "VTK",
    extensions: &["vtk"],
    about: "legacy, text and binary; unstructured grids and polygons; regions and sets as data arrays",
    binary: true,
    features: FEATURES,
    read: Some(read),
    write_volume: Some(write_volume),
    write_surface: Some(write_surface),
};

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut reader = Reader {
        input,
        source: Source { scanner: input.scan(Syntax::default()), binary: false },
        dataset: Dataset::Unstructured,
        piece: Piece::default(),
        points: None,
        cells: [const { None }; 4],
        types: None,
        data: None,
        assembly: Assembly::default(),
    };
    match reader.file() {
        // Lines cannot be counted after the first block of bytes.
        Err(ReadError::Syntax { path, place: Location::Line(_), expected, found }) if reader.source.binary => {
            Err(ReadError::Syntax { path, place: reader.source.scanner.byte(), expected, found })
        }
        Err(error) => Err(error),
        Ok(place) => reader.finish(place),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dataset {
    Unstructured,
    Poly,
}

/// Sections of a [`Dataset::Poly`] and the VTK types of their cells, in the order of the cell data.
const POLY_SECTIONS: [(&[u8], u8); 4] =
    [(b"VERTICES", POLYVERTEX), (b"LINES", POLYLINE), (b"POLYGONS", POLYGON), (b"TRIANGLE_STRIPS", STRIP)];

/// Owner of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Points,
    Cells,
}

#[derive(Debug, Default)]
struct Cells {
    ends: Vec<usize>,
    nodes: Vec<u32>,
}

struct Reader<'a> {
    input: &'a Input<'a>,
    source: Source<'a>,
    dataset: Dataset,
    piece: Piece,
    /// Number of points, once it is known.
    points: Option<usize>,
    /// Cells by section; an unstructured grid has only the first.
    cells: [Option<Cells>; 4],
    types: Option<Vec<u8>>,
    /// Owner of the arrays that follow, and its number of items.
    data: Option<(Owner, usize)>,
    assembly: Assembly,
}

impl Reader<'_> {
    /// Reads the whole file. Returns the place of the cell types.
    fn file(&mut self) -> Result<Location, ReadError> {
        self.header()?;
        let mut place = Location::Whole;
        while let Some(word) = self.source.scanner.word() {
            let keyword = word.to_ascii_uppercase();
            let poly_section = POLY_SECTIONS.iter().position(|(name, _)| *name == keyword);
            let here = if self.source.binary {
                self.source.scanner.byte()
            } else {
                Location::Line(self.source.scanner.line())
            };
            match (keyword.as_slice(), self.dataset, poly_section) {
                (b"POINTS", ..) => self.points()?,
                (b"CELLS", Dataset::Unstructured, _) => self.cells(0)?,
                (b"CELL_TYPES", Dataset::Unstructured, _) => {
                    place = here;
                    self.types()?;
                }
                (_, Dataset::Poly, Some(slot)) => {
                    place = here;
                    self.cells(slot)?;
                }
                (b"POINT_DATA", ..) => self.start_data(Owner::Points)?,
                (b"CELL_DATA", ..) => self.start_data(Owner::Cells)?,
                (b"FIELD", ..) => self.field()?,
                (b"METADATA", ..) => self.skip_metadata(),
                (b"LOOKUP_TABLE", ..) => self.lookup_table()?,
                _ => self.attribute(&keyword)?,
            }
        }
        Ok(place)
    }

    fn header(&mut self) -> Result<(), ReadError> {
        let scanner = &mut self.source.scanner;
        let first = scanner.rest_of_line();
        if !first.to_ascii_lowercase().starts_with(b"# vtk datafile version") {
            return Err(scanner.error("`# vtk DataFile Version`", quote(first)));
        }
        scanner.next_line();
        // Title, which may be blank.
        scanner.next_line();
        let word = scanner.expect("ASCII or BINARY")?;
        let binary = word.eq_ignore_ascii_case(b"BINARY");
        if !binary && !word.eq_ignore_ascii_case(b"ASCII") {
            return Err(scanner.error("ASCII or BINARY", quote(word)));
        }
        let expected = "DATASET UNSTRUCTURED_GRID or POLYDATA";
        let mut word = scanner.expect(expected)?;
        while word.eq_ignore_ascii_case(b"FIELD") {
            self.source.binary = binary;
            self.field()?;
            word = self.source.scanner.expect(expected)?;
        }
        if !word.eq_ignore_ascii_case(b"DATASET") {
            return Err(self.source.scanner.error(expected, quote(word)));
        }
        let word = self.source.scanner.expect(expected)?;
        self.dataset = match word.to_ascii_uppercase().as_slice() {
            b"UNSTRUCTURED_GRID" => Dataset::Unstructured,
            b"POLYDATA" => Dataset::Poly,
            b"STRUCTURED_GRID" | b"STRUCTURED_POINTS" | b"RECTILINEAR_GRID" => {
                let found = format!("{}: structured grids are not supported", quote(word));
                return Err(self.source.scanner.error(expected, found));
            }
            _ => return Err(self.source.scanner.error(expected, quote(word))),
        };
        self.source.binary = binary;
        Ok(())
    }

    fn points(&mut self) -> Result<(), ReadError> {
        if self.points.is_some() {
            return Err(self.source.scanner.error("POINTS only once", "POINTS again"));
        }
        let count = self.source.scanner.count("points", 3)?;
        let number = self.source.number_type()?;
        let coordinates = self.source.floats(number, count.saturating_mul(3))?;
        // In text, each number has already been checked.
        self.piece.vertices = vertices(&coordinates).map_err(|index| {
            let expected = format!("{}, a finite number", coordinate_name(index));
            let from_end = (coordinates.len() - index) * number.bytes();
            self.error_before(from_end, expected, format!("`{}`", coordinates[index]))
        })?;
        self.points = Some(count);
        Ok(())
    }

    fn cells(&mut self, slot: usize) -> Result<(), ReadError> {
        if self.cells[slot].is_some() {
            return Err(self.source.scanner.error("each kind of cells only once", "a repeated section"));
        }
        let count = self.source.scanner.count("cells", 1)?;
        let size = self.source.scanner.count("numbers of cells", 1)?;
        let ahead = self.source.scanner.peek();
        let cells = if ahead.is_some_and(|word| word.eq_ignore_ascii_case(b"OFFSETS")) {
            self.cells_by_offsets(count, size)?
        } else {
            self.cells_by_counts(count, size)?
        };
        self.cells[slot] = Some(cells);
        Ok(())
    }

    /// Reads cells up to version 4.2: the number of nodes and the nodes of each cell.
    fn cells_by_counts(&mut self, count: usize, size: usize) -> Result<Cells, ReadError> {
        if count > size {
            return Err(self
                .source
                .scanner
                .error(format!("at least {count} numbers for {count} cells"), format!("{size}")));
        }
        let mut cells = Cells { ends: Vec::with_capacity(count), nodes: Vec::with_capacity(size - count) };
        let mut left = size;
        if self.source.binary {
            self.source.scanner.next_line();
            self.source.scanner.check_count(size as i64, "numbers of cells", 4)?;
        }
        for _ in 0..count {
            let nodes = self.cell_number("the number of vertices of a cell")?;
            let Some(after) = usize::try_from(nodes).ok().and_then(|nodes| left.checked_sub(nodes.saturating_add(1)))
            else {
                let expected = format!("the number of vertices of a cell, with {left} numbers left of {size}");
                return Err(self.error_before(4, expected, format!("`{nodes}`")));
            };
            for _ in 0..nodes {
                let value = self.cell_number("a vertex number")?;
                let vertex =
                    self.vertex(value).map_err(|expected| self.error_before(4, expected, format!("`{value}`")))?;
                cells.nodes.push(vertex);
            }
            left = after;
            cells.ends.push(cells.nodes.len());
        }
        if left > 0 {
            return Err(self
                .source
                .scanner
                .error(format!("{size} numbers for {count} cells"), format!("{}", size - left)));
        }
        Ok(cells)
    }

    /// Reads cells since version 5: the start of each cell and the end of the last, then all nodes.
    fn cells_by_offsets(&mut self, count: usize, size: usize) -> Result<Cells, ReadError> {
        let offsets = self.part(b"OFFSETS", count)?;
        let mut ends = Vec::with_capacity(offsets.len());
        for (index, pair) in offsets.windows(2).enumerate() {
            match usize::try_from(pair[1]) {
                Ok(end) if pair[0] <= pair[1] && end <= size => ends.push(end),
                _ => {
                    let expected = format!("non-decreasing offsets up to {size}");
                    return Err(self.source.scanner.error(expected, format!("`{}` as offset {}", pair[1], index + 1)));
                }
            }
        }
        if let Some(first) = offsets.first().filter(|&&first| first != 0) {
            return Err(self.source.scanner.error("a first offset of 0", format!("`{first}`")));
        }
        let mut nodes = Vec::with_capacity(size);
        for value in self.part(b"CONNECTIVITY", size)? {
            nodes.push(
                self.vertex(value).map_err(|expected| self.source.scanner.error(expected, format!("`{value}`")))?,
            );
        }
        if ends.last().is_some_and(|&end| end != nodes.len()) {
            return Err(self
                .source
                .scanner
                .error(format!("{size} as last offset"), format!("`{}`", ends[ends.len() - 1])));
        }
        Ok(Cells { ends, nodes })
    }

    /// Reads a keyword, a type and integers.
    fn part(&mut self, keyword: &[u8], count: usize) -> Result<Vec<i64>, ReadError> {
        let expected = String::from_utf8_lossy(keyword);
        let word = self.source.scanner.expect(&expected)?;
        if !word.eq_ignore_ascii_case(keyword) {
            return Err(self.source.scanner.error(expected, quote(word)));
        }
        let number = self.source.number_type()?;
        if !number.is_whole() {
            return Err(self.source.scanner.error("an integer type", "a floating-point type"));
        }
        self.source.integers(number, count, "a value")
    }

    fn types(&mut self) -> Result<(), ReadError> {
        if self.types.is_some() {
            return Err(self.source.scanner.error("CELL_TYPES only once", "CELL_TYPES again"));
        }
        let count = self.source.scanner.count("cell types", 1)?;
        let values = self.source.integers(Number::I32, count, "a cell type")?;
        let mut types = Vec::with_capacity(count);
        for value in values {
            let code = u8::try_from(value);
            types.push(code.map_err(|_| self.source.scanner.error("a cell type from 0 to 255", format!("`{value}`")))?);
        }
        self.types = Some(types);
        Ok(())
    }

    fn start_data(&mut self, owner: Owner) -> Result<(), ReadError> {
        let count = self.source.scanner.count("values", 0)?;
        let (what, there) = match owner {
            Owner::Points => ("points", self.points),
            Owner::Cells => {
                let known = self.cells.iter().flatten().map(|cells| cells.ends.len());
                ("cells", self.cells.iter().any(Option::is_some).then(|| known.sum()))
            }
        };
        if there != Some(count) {
            let expected = match there {
                Some(there) => format!("data for the {there} {what}"),
                None => format!("the {what} before their data"),
            };
            return Err(self.source.scanner.error(expected, format!("data for {count}")));
        }
        self.data = Some((owner, count));
        Ok(())
    }

    /// Reads a field of arrays, which belong to the points or cells, or to the file if the field precedes them.
    fn field(&mut self) -> Result<(), ReadError> {
        self.source.scanner.expect("the name of a field")?;
        let arrays = self.source.scanner.count("arrays", 1)?;
        for _ in 0..arrays {
            while self.source.scanner.peek().is_some_and(|word| word == b"METADATA") {
                self.skip_metadata();
            }
            let name = unescape(self.source.scanner.expect("the name of an array")?);
            if name == "NULL_ARRAY" {
                continue;
            }
            let components = self.source.scanner.count("components", 0)?;
            let tuples = self.source.scanner.count("values", 0)?;
            let values = self.source.values_type()?;
            self.array(&name, values, components, tuples)?;
        }
        Ok(())
    }

    /// Reads an array whose keyword determines its number of components.
    fn attribute(&mut self, keyword: &[u8]) -> Result<(), ReadError> {
        let known: &[&[u8]] = &[
            b"SCALARS",
            b"COLOR_SCALARS",
            b"VECTORS",
            b"NORMALS",
            b"TENSORS",
            b"TENSORS6",
            b"TEXTURE_COORDINATES",
            b"GLOBAL_IDS",
            b"PEDIGREE_IDS",
            b"EDGE_FLAGS",
        ];
        let Some((_, tuples)) = self.data.filter(|_| known.contains(&keyword)) else {
            let expected = match self.dataset {
                _ if self.data.is_some() => "an array such as SCALARS or FIELD",
                Dataset::Unstructured => "POINTS, CELLS, CELL_TYPES, POINT_DATA or CELL_DATA",
                Dataset::Poly => "POINTS, POLYGONS, POINT_DATA or CELL_DATA",
            };
            return Err(self.source.scanner.error(expected, quote(keyword)));
        };
        let name = unescape(self.source.scanner.expect("the name of an array")?);
        let (values, components) = match keyword {
            b"COLOR_SCALARS" => (Values::Colors, self.source.scanner.count("components", 0)?),
            b"TEXTURE_COORDINATES" => {
                let components = self.source.scanner.count("components", 0)?;
                (self.source.values_type()?, components)
            }
            b"SCALARS" => {
                let values = self.source.values_type()?;
                let components = match self.source.scanner.word_in_line() {
                    Some(word) => self.source.scanner.parse_integer(word, "the number of components")?,
                    None => 1,
                };
                let components = self.source.scanner.check_count(components, "components", 0)?;
                if self.source.scanner.peek().is_some_and(|word| word.eq_ignore_ascii_case(b"LOOKUP_TABLE")) {
                    self.source.scanner.word();
                    self.source.scanner.expect("the name of a lookup table")?;
                }
                (values, components)
            }
            b"VECTORS" | b"NORMALS" => (self.source.values_type()?, 3),
            b"TENSORS" => (self.source.values_type()?, 9),
            b"TENSORS6" => (self.source.values_type()?, 6),
            _ => (self.source.values_type()?, 1),
        };
        self.array(&name, values, components, tuples)
    }

    /// Reads the values of an array, used or not.
    fn array(&mut self, name: &str, values: Values, components: usize, tuples: usize) -> Result<(), ReadError> {
        let count = components.saturating_mul(tuples);
        let data = self.data;
        let fits = |owner| values.is_whole() && components == 1 && data == Some((owner, tuples));
        match values {
            Values::Numbers(Number::U8) if data.is_none() && name == REGION_NAMES => {
                let bytes = self.source.integers(Number::U8, count, "the code of a character")?;
                let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte as u8).collect();
                self.assembly.name_regions(bytes_to_names(&bytes).collect());
            }
            _ if data.is_none() && values.is_whole() && Assembly::face_set(name).is_some() => {
                let values = self.source.whole(values, count)?;
                self.assembly.add_faces(Assembly::face_set(name).unwrap_or_default(), &values);
            }
            _ if fits(Owner::Cells) && Role::of_cell_data(name) != Role::Other => {
                let values = self.source.whole(values, count)?;
                if let Some(unused) = self.piece.cell_data(name, values) {
                    self.assembly.drop_array(unused);
                }
            }
            _ if fits(Owner::Points) && Role::of_point_data(name) != Role::Other => {
                let values = self.source.whole(values, count)?;
                self.piece.point_data(name, &values);
            }
            _ => {
                self.source.skip(values, count)?;
                self.assembly.drop_array(name);
            }
        }
        Ok(())
    }

    /// Skips a table of colors with four numbers each.
    fn lookup_table(&mut self) -> Result<(), ReadError> {
        self.source.scanner.expect("the name of a lookup table")?;
        let colors = self.source.scanner.count("colors", 1)?;
        self.source.skip(Values::Numbers(Number::U8), colors.saturating_mul(4))
    }

    /// Skips lines until a blank one.
    fn skip_metadata(&mut self) {
        while self.source.scanner.next_line() && !self.source.scanner.rest_of_line().is_empty() {}
    }

    /// Reads a number of the cell section of a file up to version 4.2.
    fn cell_number(&mut self, what: &str) -> Result<i64, ReadError> {
        if !self.source.binary {
            return self.source.scanner.integer(what);
        }
        let bytes = self.source.scanner.take(4, "cells")?;
        Ok(decode::<i32>(bytes, false).next().map_or(0, i64::from))
    }

    /// Converts `value` to the number of a point, which is checked if the points are known; an error is what was
    /// expected.
    fn vertex(&self, value: i64) -> Result<u32, String> {
        let points = self.points.unwrap_or(u32::MAX as usize);
        vertex_number(value, points).ok_or_else(|| expected_vertex(points))
    }

    /// Creates an error on this line, or `bytes` before the current byte.
    fn error_before(&self, bytes: usize, expected: String, found: String) -> ReadError {
        match self.source.scanner.byte() {
            Location::Byte(byte) if self.source.binary => {
                ReadError::at(self.input.path, Location::Byte(byte.saturating_sub(bytes as u64)), expected, found)
            }
            _ => self.source.scanner.error(expected, found),
        }
    }

    /// Assembles points, cells and data.
    fn finish(mut self, place: Location) -> Result<RawMesh, ReadError> {
        let path = self.input.path;
        if self.points.is_none() {
            return Err(ReadError::whole(path, "a section POINTS", "none"));
        }
        let mut types = self.types;
        for (cells, (_, poly_type)) in self.cells.into_iter().zip(POLY_SECTIONS) {
            let Some(cells) = cells else { continue };
            match self.dataset {
                Dataset::Unstructured => {
                    self.piece.types = types.take().unwrap_or_default();
                    let (cells, types) = (cells.ends.len(), self.piece.types.len());
                    if cells != types {
                        return Err(ReadError::at(path, place, format!("{cells} cell types"), format!("{types}")));
                    }
                }
                Dataset::Poly => self.piece.types.resize(self.piece.types.len() + cells.ends.len(), poly_type),
            }
            let before = self.piece.nodes.len();
            self.piece.ends.extend(cells.ends.iter().map(|&end| before + end));
            self.piece.nodes.extend(cells.nodes);
        }
        self.assembly.add(self.piece, path, || place)?;
        Ok(self.assembly.finish())
    }
}

fn write_volume(output: &mut Output, mesh: &VolumeMesh, options: &WriteOptions) -> Result<(), WriteError> {
    write(output, &Grid::of_volume(mesh), options.encoding)
}

fn write_surface(output: &mut Output, mesh: &SurfaceMesh, options: &WriteOptions) -> Result<(), WriteError> {
    write(output, &Grid::of_surface(mesh), options.encoding)
}

fn write(output: &mut Output, grid: &Grid<'_>, encoding: Encoding) -> Result<(), WriteError> {
    let (points, cells) = (grid.vertices.len(), grid.types.len());
    let size = cells + grid.nodes.len();
    if i32::try_from(size.max(points)).is_err() {
        let path = output.path().into();
        return Err(WriteError::Unsupported { path, format: FORMAT.name, what: "more than 2147483647 numbers" });
    }
    let binary = encoding == Encoding::Binary;
    let mut out = Sink { out: output.main(), binary };
    let mode = if binary { "BINARY" } else { "ASCII" };
    put!(out.out, "# vtk DataFile Version 3.0\n{points} points, {cells} cells\n{mode}\nDATASET UNSTRUCTURED_GRID\n");
    let fields = usize::from(!grid.regions.is_empty()) + grid.face_sets.len();
    if fields > 0 {
        put!(out.out, "FIELD FieldData {fields}\n");
    }
    if !grid.regions.is_empty() {
        out.bytes(REGION_NAMES, &names_to_bytes(grid.regions.iter().map(|region| region.name.as_str())));
    }
    for (name, faces) in &grid.face_sets {
        out.faces(name, faces);
    }
    put!(out.out, "POINTS {points} double\n");
    for p in grid.vertices {
        out.coordinates([p.x, p.y, p.z]);
    }
    put!(out.out, "\nCELLS {cells} {size}\n");
    for nodes in grid.cells() {
        out.cell(nodes);
    }
    put!(out.out, "\nCELL_TYPES {cells}\n");
    for &code in &grid.types {
        out.integer(u32::from(code));
    }
    let cell_arrays = usize::from(!grid.regions.is_empty()) + grid.cell_sets.len();
    if cell_arrays > 0 {
        put!(out.out, "\nCELL_DATA {cells}\nFIELD FieldData {cell_arrays}\n");
    }
    if !grid.regions.is_empty() {
        put!(out.out, "{REGION} 1 {cells} int\n");
        grid.cell_region.iter().for_each(|&region| out.integer(region));
        put!(out.out, "\n");
    }
    for (name, members) in &grid.cell_sets {
        out.bytes(name, &mask(members, cells));
    }
    if !grid.point_sets.is_empty() {
        put!(out.out, "\nPOINT_DATA {points}\nFIELD FieldData {}\n", grid.point_sets.len());
    }
    for (name, members) in &grid.point_sets {
        out.bytes(name, &mask(members, points));
    }
    put!(out.out, "\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::cells::testing;
    use super::*;
    use crate::io::{Loaded, Mesh};
    use crate::math::Vec3;

    fn load(bytes: &[u8]) -> Result<Loaded, ReadError> {
        testing::load("m.vtk", bytes)
    }

    fn volume(bytes: &[u8]) -> (VolumeMesh, Vec<String>) {
        testing::volume("m.vtk", bytes)
    }

    const POINTS: &str = "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 0.5\n";

    /// Returns a text file with `body` after the header.
    fn text(body: &str) -> String {
        format!("# vtk DataFile Version 3.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\n{body}")
    }

    #[test]
    fn written_meshes_are_read_back_equal() {
        testing::assert_read_back_equal("m.vtk");
    }

    #[test]
    fn old_text_with_data_of_all_sorts_is_read() {
        let data = "CELL_TYPES 1\n10\nPOINT_DATA 4\nVECTORS u float\n0 0 0 1 1 1 2 2 2 nan 3 3\n\
            SCALARS set:top unsigned_char\nLOOKUP_TABLE default\n0 0 0 1\nMETADATA\nINFORMATION 0\n\n\
            CELL_DATA 1\nCOLOR_SCALARS c 3\n0.5 0.5 1\nCOLOR_SCALARS set:red 1\n0.00392157\nFIELD f 2\nset:one%20%25 1 1 int\n1\nregion 1 1 int\n7";
        let (mesh, notes) = volume(text(&format!("{POINTS}CELLS 1 5\r\n4 0 1 2 3\r\n{data}")).as_bytes());
        assert_eq!(mesh.vertices()[3], Vec3::new(0.0, 0.0, 0.5));
        assert_eq!(mesh.vertex_sets()["top"], [3]);
        assert_eq!(mesh.element_sets()["one %"], [0]);
        assert_eq!(mesh.element_sets()["red"], [0], "VTK writes bytes as colors");
        assert_eq!(notes, ["data arrays that are not kept: c, u"]);
    }

    #[test]
    fn version_5_is_read() {
        let cells = "METADATA\nINFORMATION 1\nDATA 2 0 1\n\nCELLS 2 4\nOFFSETS vtktypeint64\n0 4\n\
            CONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n";
        let (mesh, notes) = volume(text(&format!("{POINTS}{cells}")).as_bytes());
        assert_eq!((mesh.connectivity(), notes), (&[0, 1, 2, 3][..], vec![]));
    }

    #[test]
    fn parts_of_polydata_are_told_apart() {
        let body = "POINTS 4 int\n0 0 0 1 0 0 1 1 0 0 1 0\nLINES 1 3\n2 0 1\nPOLYGONS 1 5\n4 0 1 2 3\n";
        let loaded = load(text(body).replace("UNSTRUCTURED_GRID", "POLYDATA").as_bytes()).unwrap();
        let Mesh::Surface(surface) = loaded.mesh else { panic!("expected a surface") };
        assert_eq!(surface.faces().iter().collect::<Vec<_>>(), [[0, 1, 2, 3]]);
        assert_eq!(loaded.notes, ["1 cells that are points or lines are not kept"]);
    }

    #[test]
    fn strings_of_any_length_are_skipped() {
        // The first two bits of a length give its number of bytes.
        for (length, head) in
            [(0_usize, vec![0xc0]), (63, vec![0xff]), (64, vec![0x80, 0x40]), (0x4000, vec![0x40, 0, 0x40, 0])]
        {
            let mut file = b"# vtk DataFile Version 3.0\n\nBINARY\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nwords 1 1 string\n".to_vec();
            file.extend(head);
            file.extend(vec![b'x'; length]);
            file.extend(b"\nPOINTS 4 float\n");
            for x in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] {
                file.extend(x.to_be_bytes());
            }
            file.extend(b"\nCELLS 1 5\n");
            [4_i32, 0, 1, 2, 3].iter().for_each(|n| file.extend(n.to_be_bytes()));
            file.extend(b"\nCELL_TYPES 1\n");
            file.extend(10_i32.to_be_bytes());
            let (mesh, notes) = volume(&file);
            assert_eq!((mesh.element_count(), notes), (1, vec!["data arrays that are not kept: words".to_owned()]));
        }
    }

    #[test]
    fn broken_files_are_refused_with_the_place() {
        let cells = "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";
        let table = [
            ("solid x".into(), "m.vtk, line 1: expected `# vtk DataFile Version`, found `solid x`"),
            (text("").replace("ASCII", "TEXT"), "m.vtk, line 3: expected ASCII or BINARY, found `TEXT`"),
            (
                text("").replace("UNSTRUCTURED_", "STRUCTURED_"),
                "line 4: expected DATASET UNSTRUCTURED_GRID or POLYDATA, found `STRUCTURED_GRID`: structured grids are not supported",
            ),
            (text("POINTS -1 float\n"), "line 5: expected the number of points, found `-1`"),
            (text("POINTS 3000000000 float\n0"), "expected 3000000000 points, found only"),
            (text("POINTS 1 float\n0 nan 0\n"), "line 6: expected a y coordinate, a finite number, found `nan`"),
            (text("POINTS 1 float\n0 0"), "line 6: expected a z coordinate, found the end of the file"),
            (text("POINTS 1 quad\n0 0 0"), "line 5: expected a type such as `double` or `int`, found `quad`"),
            (
                text(&format!("{POINTS}CELLS 1 5\n4 0 1 2 4\n")),
                "line 8: expected the number of one of the 4 points, counted from 0, found `4`",
            ),
            (
                text(&format!("{POINTS}CELLS 1 5\n5 0 1 2 3\n")),
                "line 8: expected the number of vertices of a cell, with 5 numbers left of 5, found `5`",
            ),
            (text(&format!("{POINTS}CELLS 1 6\n4 0 1 2 3\n")), "expected 6 numbers for 1 cells, found 5"),
            (
                text(&format!("{POINTS}CELLS 3 5\nOFFSETS vtktypeint64\n0 4 2\nCONNECTIVITY int\n0 1 2 3 0\n")),
                "expected non-decreasing offsets up to 5, found `2` as offset 2",
            ),
            (text(&format!("{POINTS}CELLS 1 5\n4 0 1 2 3\n")), "expected 1 cell types, found 0"),
            (text(&format!("{POINTS}{cells}CELL_DATA 2\n")), "expected data for the 1 cells, found data for 2"),
            (
                text(&format!("{POINTS}{cells}SCALARS a int\n")),
                "line 11: expected POINTS, CELLS, CELL_TYPES, POINT_DATA or CELL_DATA, found `SCALARS`",
            ),
            (text(cells), "m.vtk: expected a section POINTS, found none"),
            (
                text("POINTS 1 double\n").replace("ASCII", "BINARY"),
                "m.vtk, byte 77: expected 24 bytes of numbers, found only 0",
            ),
        ];
        for (text, expected) in table {
            let message = load(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}\n{expected}");
        }
    }

    #[test]
    fn bytes_that_are_no_number_are_refused_with_their_place() {
        let mut bytes = text("POINTS 1 double\n").replace("ASCII", "BINARY").into_bytes();
        let start = bytes.len();
        bytes.extend([1.0, 2.0, f64::NAN].iter().flat_map(|x: &f64| x.to_be_bytes()));
        let message = load(&bytes).unwrap_err().to_string();
        assert_eq!(
            message,
            format!("m.vtk, byte {}: expected a z coordinate, a finite number, found `NaN`", start + 16)
        );
    }
}
