//! VTK's XML files of unstructured grids, `.vtu`.
//!
//! ```text
//! <VTKFile type="UnstructuredGrid" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">
//!   <UnstructuredGrid>
//!     <FieldData> arrays of the file </FieldData>
//!     <Piece NumberOfPoints="4" NumberOfCells="1">
//!       <Points> one array of triples </Points>
//!       <Cells> arrays `connectivity`, `offsets` (the ends of the cells), `types` </Cells>
//!       <CellData> … </CellData> <PointData> … </PointData>
//!     </Piece>
//!   </UnstructuredGrid>
//!   <AppendedData encoding="raw"> _ the bytes of arrays of format `appended`, not XML </AppendedData>
//! </VTKFile>
//! ```
//! An array is `<DataArray type="Float64" Name="…" NumberOfComponents="3" format="…">`: as text (`ascii`), in base64
//! (`binary`), or at an offset after the `_` (`appended`). Strings are zero-terminated bytes.

use super::FEATURES;
use super::cells::{
    Assembly, Grid, Piece, REGION_NAMES, Role, bytes_to_names, coordinate_name, expected_vertex, vertex_number,
    vertices,
};
use super::data::{Budget, Expected, Problem, Source};
use super::write::write;
use super::xml::{Array, Document, Parser, PieceTag, Section, Storage};
use crate::files::{Location, Number, ReadError, Scanner, Syntax, WriteError, quote};
use crate::io::input_output::{Input, Output};
use crate::io::raw::RawMesh;
use crate::io::{Format, WriteOptions};
use crate::math::Vec3;
use crate::mesh::{SurfaceMesh, VolumeMesh};

pub(crate) const FORMAT: Format = Format {
    name: "VTK XML",
    extensions: &["vtu"],
    about: "unstructured grids: text, binary, appended, compressed; regions and sets as data arrays",
    binary: true,
    features: FEATURES,
    read: Some(read),
    write_volume: Some(write_volume),
    write_surface: Some(write_surface),
};

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let document = Parser::new(input).parse()?;
    let mut reader = Reader { input, document: &document, budget: Budget::of_file(input.bytes.len()) };
    let mut assembly = Assembly::default();
    for array in &document.fields {
        if array.name == REGION_NAMES && (array.kind == "UInt8" || array.kind == "String") {
            assembly.name_regions(reader.names(array)?);
        } else if let Some(set) = Reader::face_set(array) {
            assembly.add_faces(set, &reader.all_integers(array)?);
        } else {
            assembly.drop_array(array.name.as_str());
        }
    }
    for tag in &document.pieces {
        reader.piece(tag, &mut assembly)?;
    }
    Ok(assembly.finish())
}

/// Memory in bytes of a region name besides its characters: a table entry, and a note if no element is in the region.
const MEMORY_OF_NAME: usize = 96;

/// Decoder of arrays.
struct Reader<'a> {
    input: &'a Input<'a>,
    document: &'a Document<'a>,
    budget: Budget,
}

impl Reader<'_> {
    fn piece(&mut self, tag: &PieceTag<'_>, assembly: &mut Assembly) -> Result<(), ReadError> {
        let mut piece = Piece::default();
        if tag.points > 0 {
            piece.vertices = self.points(tag)?;
        }
        if tag.cells > 0 {
            self.cells(tag, &mut piece)?;
        }
        let of_cells = tag.arrays.iter().filter(|(section, _)| *section == Section::CellData);
        let best_tags = of_cells.filter_map(|(_, array)| role(Section::CellData, array).rank()).min();
        for (section, array) in &tag.arrays {
            let count = match section {
                Section::CellData => tag.cells,
                Section::PointData => tag.points,
                Section::Points | Section::Cells | Section::Fields => continue,
            };
            let unused = match role(*section, array) {
                Role::Tags(rank) if Some(rank) == best_tags => {
                    piece.cell_data(&array.name, self.integers(array, count)?)
                }
                Role::Tags(_) | Role::Other => Some(array.name.clone()),
                Role::Set(_) => {
                    let values = self.mask(array, count)?;
                    match section {
                        Section::CellData => piece.cell_data(&array.name, values),
                        _ => piece.point_data(&array.name, &values),
                    }
                }
            };
            if let Some(unused) = unused {
                assembly.drop_array(unused);
            }
        }
        let types = tag.find(Section::Cells, Some("types")).map_or(tag.at, |array| array.at);
        assembly.add(piece, self.input.path, || Location::Line(self.input.line_of(types)))
    }

    fn points(&mut self, tag: &PieceTag<'_>) -> Result<Vec<Vec3>, ReadError> {
        let Some(array) = tag.find(Section::Points, None) else {
            return Err(self.input.error_at(tag.at, "an array in <Points>", "none"));
        };
        if array.components != 3 {
            return Err(self.error(array, "3 components for a point", format!("{}", array.components)));
        }
        let coordinates = self.floats(array, tag.points.saturating_mul(3))?;
        // In text, each number has already been checked.
        vertices(&coordinates).map_err(|index| {
            let expected = format!("{} of point {}, a finite number", coordinate_name(index), index / 3);
            self.error(array, expected, format!("`{}`", coordinates[index]))
        })
    }

    fn cells(&mut self, tag: &PieceTag<'_>, piece: &mut Piece) -> Result<(), ReadError> {
        let find = |name: &str| {
            let missing = || self.input.error_at(tag.at, format!("an array `{name}` in <Cells>"), "none");
            tag.find(Section::Cells, Some(name)).ok_or_else(missing)
        };
        let (offsets, connectivity, types) = (find("offsets")?, find("connectivity")?, find("types")?);
        let mut last = 0;
        for (cell, end) in self.integers(offsets, tag.cells)?.into_iter().enumerate() {
            match usize::try_from(end) {
                Ok(end) if end >= last => last = end,
                _ => return Err(self.error(offsets, "non-decreasing offsets", format!("`{end}` for cell {cell}"))),
            }
            piece.ends.push(last);
        }
        let nodes = self.integers(connectivity, last)?;
        piece.nodes.reserve(nodes.len());
        for (index, value) in nodes.into_iter().enumerate() {
            let Some(vertex) = vertex_number(value, tag.points) else {
                let cell = piece.ends.partition_point(|&end| end <= index);
                return Err(self.error(connectivity, expected_vertex(tag.points), format!("`{value}` in cell {cell}")));
            };
            piece.nodes.push(vertex);
        }
        for (cell, value) in self.integers(types, tag.cells)?.into_iter().enumerate() {
            let code = u8::try_from(value)
                .map_err(|_| self.error(types, "a cell type from 0 to 255", format!("`{value}` for cell {cell}")))?;
            piece.types.push(code);
        }
        Ok(())
    }

    fn floats(&mut self, array: &Array<'_>, count: usize) -> Result<Vec<f64>, ReadError> {
        let number = self.number(array)?;
        if array.storage == Storage::Ascii {
            return self.words(array, Some(count), |scanner, index| scanner.number(coordinate_name(index)));
        }
        let bytes = self.bytes(array, numbers(number, count))?;
        Ok(number.floats(&bytes, self.document.layout.little))
    }

    fn integers(&mut self, array: &Array<'_>, count: usize) -> Result<Vec<i64>, ReadError> {
        let number = self.number(array)?;
        self.whole(array, count, numbers(number, count))
    }

    /// Returns the name of the face set in an array of field data, if it contains one.
    fn face_set<'a>(array: &'a Array<'_>) -> Option<&'a str> {
        let set = Assembly::face_set(&array.name)?;
        number_type(&array.kind).is_some_and(Number::is_whole).then_some(set)
    }

    /// Reads all integers of an array of unknown length.
    fn all_integers(&mut self, array: &Array<'_>) -> Result<Vec<i64>, ReadError> {
        if array.storage == Storage::Ascii {
            return self.words(array, None, |scanner, _| scanner.integer("a value"));
        }
        let number = self.number(array)?;
        let bytes = self.bytes(array, Expected { bytes: None, growth: 8 / number.bytes() })?;
        Ok(number.integers(&bytes, self.document.layout.little))
    }

    /// Reads the mask of a set, which takes memory only for its members: masks compress to almost nothing in a file.
    fn mask(&mut self, array: &Array<'_>, count: usize) -> Result<Vec<i64>, ReadError> {
        let number = self.number(array)?;
        let values = self.whole(array, count, Expected { growth: 1, ..numbers(number, count) })?;
        if array.storage != Storage::Ascii {
            let members = values.iter().filter(|&&value| value != 0).count();
            self.budget.take(members * size_of::<u32>()).map_err(|problem| self.problem(array, problem))?;
        }
        Ok(values)
    }

    fn whole(&mut self, array: &Array<'_>, count: usize, expected: Expected) -> Result<Vec<i64>, ReadError> {
        let number = self.number(array)?;
        if !number.is_whole() {
            return Err(self.error(array, "an integer type", quote(array.kind.as_bytes())));
        }
        if array.storage == Storage::Ascii {
            return self.words(array, Some(count), |scanner, _| scanner.integer("a value"));
        }
        let bytes = self.bytes(array, expected)?;
        Ok(number.integers(&bytes, self.document.layout.little))
    }

    fn names(&mut self, array: &Array<'_>) -> Result<Vec<String>, ReadError> {
        let bytes = match array.storage {
            // VTK writes bytes above 127 as negative numbers.
            Storage::Ascii => {
                self.words(array, None, |scanner, _| Ok(scanner.integer("the code of a character")? as u8))?
            }
            Storage::Binary | Storage::Appended(_) => self.bytes(array, Expected { bytes: None, growth: 1 })?,
        };
        let names = bytes_to_names(&bytes);
        let memory = names.clone().count().saturating_mul(MEMORY_OF_NAME);
        self.budget.take(memory).map_err(|problem| self.problem(array, problem))?;
        Ok(names.collect())
    }

    fn number(&self, array: &Array<'_>) -> Result<Number, ReadError> {
        number_type(&array.kind).ok_or_else(|| self.error(array, "a numeric type", quote(array.kind.as_bytes())))
    }

    /// Parses `count` words of a text array, or all of them.
    fn words<T>(
        &self,
        array: &Array<'_>,
        count: Option<usize>,
        mut next: impl FnMut(&mut Scanner<'_>, usize) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        let mut scanner = Scanner::new(self.input.path, array.text, Syntax::default());
        let mut words = Vec::new();
        let mut fill = || {
            if let Some(count) = count {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                words.reserve_exact(scanner.check_count(count, "numbers", 2)?);
            }
            while count.map_or(!scanner.at_end(), |count| words.len() < count) {
                words.push(next(&mut scanner, words.len())?);
            }
            match scanner.word() {
                None => Ok(()),
                Some(word) => Err(scanner.error(format!("{} numbers", words.len()), format!("{} too", quote(word)))),
            }
        };
        fill().map_err(|error| match error {
            // The scanner treats the array as a whole file.
            ReadError::Syntax { path, place: Location::Line(line), expected, found } => {
                let place = Location::Line(self.input.line_of(array.at) + line - 1);
                ReadError::Syntax { path, place, expected, found: found.replace("end of the file", "end of the array") }
            }
            error => error,
        })?;
        Ok(words)
    }

    /// Returns the bytes of a binary array.
    fn bytes(&mut self, array: &Array<'_>, expected: Expected) -> Result<Vec<u8>, ReadError> {
        let source = match (array.storage, &self.document.appended) {
            (Storage::Appended(offset), Some(appended)) => {
                let rest = appended.bytes.get(offset..).unwrap_or_default();
                if appended.base64 { Source::base64(rest) } else { Source::raw(rest) }
            }
            (Storage::Appended(_), None) => return Err(self.error(array, "<AppendedData>", "none")),
            (Storage::Binary | Storage::Ascii, _) => Source::inline(array.text),
        };
        let decoded = self.document.layout.decode(&source, expected, &mut self.budget);
        decoded.map_err(|problem| self.problem(array, problem))
    }

    fn problem(&self, array: &Array<'_>, problem: Problem) -> ReadError {
        let of = if array.name.is_empty() { String::new() } else { format!(" of `{}`", array.name) };
        self.error(array, problem.expected + &of, problem.found)
    }

    /// Creates an error at the data of an array.
    fn error(&self, array: &Array<'_>, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        match (array.storage, &self.document.appended) {
            (Storage::Appended(offset), Some(appended)) => {
                let byte = appended.at.saturating_add(offset);
                ReadError::at(self.input.path, Location::Byte(byte as u64), expected, found)
            }
            _ => self.input.error_at(array.at, expected, found),
        }
    }
}

/// Returns the meaning of an array of data.
fn role<'a>(section: Section, array: &'a Array<'_>) -> Role<'a> {
    if array.components != 1 || !number_type(&array.kind).is_some_and(Number::is_whole) {
        return Role::Other;
    }
    match section {
        Section::CellData => Role::of_cell_data(&array.name),
        _ => Role::of_point_data(&array.name),
    }
}

/// Returns the expected size of `count` numbers, which take 8 bytes each in memory.
fn numbers(number: Number, count: usize) -> Expected {
    Expected { bytes: Some(count.saturating_mul(number.bytes())), growth: 8 / number.bytes() }
}

fn number_type(name: &str) -> Option<Number> {
    Some(match name {
        "Int8" => Number::I8,
        "UInt8" => Number::U8,
        "Int16" => Number::I16,
        "UInt16" => Number::U16,
        "Int32" => Number::I32,
        "UInt32" => Number::U32,
        "Int64" => Number::I64,
        "UInt64" => Number::U64,
        "Float32" => Number::F32,
        "Float64" => Number::F64,
        _ => return None,
    })
}

fn write_volume(output: &mut Output, mesh: &VolumeMesh, options: &WriteOptions) -> Result<(), WriteError> {
    write(output, &Grid::of_volume(mesh), options.encoding);
    Ok(())
}

fn write_surface(output: &mut Output, mesh: &SurfaceMesh, options: &WriteOptions) -> Result<(), WriteError> {
    write(output, &Grid::of_surface(mesh), options.encoding);
    Ok(())
}

/// Returns the numbers of the first data array with this name in a VTU file, or `None` if there is no such array.
pub fn data_array(bytes: &[u8], name: &str) -> Option<Vec<f64>> {
    let files = crate::files::Memory::default();
    let input = Input { path: std::path::Path::new("m.vtu"), bytes, files: &files };
    let document = Parser::new(&input).parse().ok()?;
    let mut reader = Reader { input: &input, document: &document, budget: Budget::of_file(bytes.len()) };
    let pieces = document.pieces.iter().flat_map(|piece| piece.arrays.iter().map(|(_, array)| array));
    let array = document.fields.iter().chain(pieces).find(|array| array.name == name)?;
    let bytes = reader.bytes(array, Expected { bytes: None, growth: 8 }).ok()?;
    Some(number_type(&array.kind)?.floats(&bytes, document.layout.little))
}

#[cfg(test)]
mod tests {
    use super::super::cells::{example, testing};
    use super::*;
    use crate::files::Memory;
    use crate::io::{Loaded, Mesh, read_from, write_to};
    use crate::mesh::ElementKind;
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use std::path::Path;

    fn load(bytes: &[u8]) -> Result<Loaded, ReadError> {
        testing::load("m.vtu", bytes)
    }

    fn volume(bytes: &[u8]) -> (VolumeMesh, Vec<String>) {
        testing::volume("m.vtu", bytes)
    }

    /// Piece with one tetrahedron and cell data.
    const PIECE: &str = "<Piece NumberOfPoints='4' NumberOfCells='1'>\n\
        <Points><DataArray type='Float32' NumberOfComponents='3' format='ascii'>\n0 0 0 1 0 0\n0 1 0 0 0 1\n\
        <InformationKey><Value>5</Value></InformationKey></DataArray></Points>\n\
        <Cells><DataArray type='Int32' Name='connectivity'>0 1 2 3</DataArray>\n\
        <DataArray type='Int32' Name='offsets'>4</DataArray>\n<DataArray type='UInt8' Name='types'>10</DataArray>\n\
        </Cells><CellData><DataArray type='Int8' Name='material'>-3</DataArray></CellData>\n\
        <PointData><DataArray type='UInt8' Name='set:a &lt; b'>0 1 1 0</DataArray>\n\
        <DataArray type='Float64' Name='u' NumberOfComponents='3' format='appended' offset='77'/></PointData></Piece>\n";

    fn file(attributes: &str, body: &str) -> String {
        format!(
            "<VTKFile type='UnstructuredGrid' {attributes}>\n<UnstructuredGrid>\n{body}</UnstructuredGrid></VTKFile>"
        )
    }

    #[test]
    fn written_meshes_are_read_back_equal() {
        testing::assert_read_back_equal("m.vtu");
    }

    #[test]
    fn control_characters_in_names_are_replaced_with_a_note() {
        let mut data = example(ElementKind::Tet4).into_data();
        data.regions[0].name = "a\u{1}b".into();
        data.vertex_sets = [("c\u{1}".to_owned(), vec![0])].into();
        let (files, path) = (Memory::default(), Path::new("m.vtu"));
        let mesh = Mesh::Volume(VolumeMesh::check(data).unwrap().mesh);
        let notes = write_to(&files, path, &mesh, &WriteOptions::default()).unwrap();
        assert_eq!(notes, ["XML does not store control characters: those in names were replaced"]);
        let Mesh::Volume(again) = read_from(&files, path).unwrap().mesh else { panic!("expected a volume") };
        assert_eq!(again.regions()[0].name, "a\u{1}b");
        assert!(again.vertex_sets().contains_key("c\u{fffd}"));
    }

    #[test]
    fn pieces_are_put_behind_each_other() {
        let names =
            "<FieldData><Array type='String' Name='region_names' format='ascii'>97 0 -61 -92 0</Array></FieldData>";
        let second = PIECE.replace("-3", "1").replace("0 1 0 0 0 1", "0 1 0 0 0 2");
        let (mesh, notes) = volume(file("", &format!("{names}{PIECE}{second}")).as_bytes());
        assert_eq!(mesh.connectivity(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(mesh.regions().iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["region--3", "ä"]);
        assert_eq!(mesh.vertex_sets()["a < b"], [1, 2, 5, 6]);
        let expected = [
            "the regions are those of the cell data `material`",
            "data arrays that are not kept: u",
            "regions without elements are not kept: a",
        ];
        assert_eq!(notes, expected);
    }

    /// Returns the piece with its arrays appended: raw or base64, little- or big-endian.
    fn appended(base64: bool, little: bool) -> Vec<u8> {
        let coordinates: [f32; 12] = [0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.];
        let float = |x: &f32| if little { x.to_le_bytes() } else { x.to_be_bytes() };
        let whole = |x: u32| if little { x.to_le_bytes() } else { x.to_be_bytes() };
        let points: Vec<u8> = whole(48).into_iter().chain(coordinates.iter().flat_map(float)).collect();
        let nodes: Vec<u8> = [16, 0, 1, 2, 3].into_iter().flat_map(whole).collect();
        let code = |bytes: Vec<u8>| if base64 { BASE64_STANDARD.encode(bytes).into_bytes() } else { bytes };
        let (points, nodes) = (code(points), code(nodes));
        let order = if little { "LittleEndian" } else { "BigEndian" };
        let xml = file(&format!("byte_order='{order}'"), PIECE)
            .replace("format='ascii'", "format='appended' offset='0'")
            .replace(
                "Name='connectivity'",
                &format!("Name='connectivity' format='appended' offset='{}'", points.len()),
            );
        let encoding = if base64 { "base64" } else { "raw" };
        let start = xml.replace("</VTKFile>", &format!("<AppendedData encoding='{encoding}'>\n _"));
        [start.into_bytes(), points, nodes, b"\n</AppendedData></VTKFile>".to_vec()].concat()
    }

    #[test]
    fn appended_data_are_read() {
        let (expected, _) = volume(file("", PIECE).as_bytes());
        for (base64, little) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(volume(&appended(base64, little)).0, expected, "{base64} {little}");
        }
        let bytes = appended(false, true);
        let message = load(&bytes[..bytes.len() - 30]).unwrap_err().to_string();
        assert!(message.contains(", byte ") && message.contains("20 bytes of an array of `connectivity`"), "{message}");
    }

    /// Reads a mesh with compressed points, whose header is `words` followed by `blocks`.
    fn compressed(compressor: &str, words: &[u32], blocks: &[u8]) -> Result<Loaded, ReadError> {
        let header: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let data = BASE64_STANDARD.encode(header) + &BASE64_STANDARD.encode(blocks);
        let xml = file(&format!("compressor='{compressor}'"), PIECE)
            .replace("format='ascii'>\n0 0 0 1 0 0\n0 1 0 0 0 1", &format!("format='binary'>\n{data}"));
        load(xml.as_bytes())
    }

    #[test]
    fn blocks_must_unpack_to_what_they_promise() {
        let coordinates: [f32; 12] = [0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.];
        let bytes: Vec<u8> = coordinates.iter().flat_map(|x| x.to_le_bytes()).collect();
        let [first, second] = [&bytes[..32], &bytes[32..]].map(lz4_flex::block::compress);
        let sizes = [first.len() as u32, second.len() as u32];
        let blocks = [first, second].concat();
        let lz4 = |words: [u32; 5]| compressed("vtkLZ4DataCompressor", &words, &blocks);
        assert!(matches!(lz4([2, 32, 16, sizes[0], sizes[1]]).unwrap().mesh, Mesh::Volume(_)));
        let message = |words| lz4(words).unwrap_err().to_string();
        assert!(message([2, 24, 24, sizes[0], sizes[1]]).contains("expected 24 bytes in block 0, found "));
        assert!(message([2, 32, 17, sizes[0], sizes[1]]).contains("expected 48 bytes in the array, found 49"));
        assert!(message([2, 32, 16, sizes[0], u32::MAX]).contains("4294967"));
        assert!(message([1 << 30, 32, 16, 0, 0]).contains("found "), "no more blocks than bytes");
        let zlib = compressed("vtkZLibDataCompressor", &[1, 48, 0, 4], b"none").unwrap_err().to_string();
        assert!(zlib.contains("m.vtu, line 4: expected 48 bytes in block 0, found "), "{zlib}");
        let lzma = compressed("vtkLZMADataCompressor", &[], b"").unwrap_err().to_string();
        assert!(lzma.contains("line 1: expected compression with zlib or LZ4, or none, found `vtkLZMADataCompressor`"));
    }

    #[test]
    fn zeros_that_unpack_without_end_are_refused_and_regular_meshes_are_not() {
        let array = |kind: &str, name: &str, bytes: &[u8]| {
            let mut text = Vec::new();
            super::super::data::encode(bytes, flate2::Compression::default(), &mut text);
            let text = String::from_utf8(text).unwrap();
            format!("<DataArray type='{kind}' Name='{name}' format='binary'>{text}</DataArray>")
        };
        let cells = 1 << 22;
        let zeros = ["offsets", "types", "connectivity"].map(|name| array("UInt8", name, &vec![0; cells])).concat();
        let piece = format!("<Piece NumberOfPoints='0' NumberOfCells='{cells}'><Cells>{zeros}</Cells></Piece>");
        let packed = "compressor='vtkZLibDataCompressor' header_type='UInt64'";
        let message = load(file(packed, &piece).as_bytes()).unwrap_err().to_string();
        assert!(message.contains("expected arrays that unpack to at most 64 times the bytes of the file of `offsets`"));
        let names = array("String", REGION_NAMES, &vec![0; cells]).replace("DataArray", "Array");
        let message =
            load(file(packed, &format!("<FieldData>{names}</FieldData>")).as_bytes()).unwrap_err().to_string();
        assert!(message.contains("at most 64 times the bytes of the file of `region_names`"), "{message}");

        let mut data = crate::mesh::generate::block([1.0; 3], [20; 3], crate::mesh::Cells::Tet5).unwrap().into_data();
        let elements = data.elements.len() as u32 / 4;
        data.element_sets = (0..50).map(|i| (format!("{i}"), (0..elements).step_by(1 + i % 9).collect())).collect();
        let mesh = Mesh::Volume(VolumeMesh::check(data).unwrap().mesh);
        let (files, path) = (Memory::default(), Path::new("m.vtu"));
        write_to(&files, path, &mesh, &WriteOptions::default()).unwrap();
        assert_eq!(read_from(&files, path).unwrap().mesh, mesh);
    }

    #[test]
    fn arrays_that_are_not_needed_are_not_unpacked() {
        let array = |name: &str| format!("<DataArray type='Int8' Name='{name}' format='binary'>?</DataArray>");
        let others = ["CellEntityIds", "temperature"].map(array).concat();
        let piece = PIECE.replace("<CellData>", &format!("<CellData>{others}"));
        let (_, notes) = volume(file("", &piece).as_bytes());
        assert_eq!(notes[1], "data arrays that are not kept: CellEntityIds, temperature, u");
    }

    #[test]
    fn broken_files_are_refused_with_the_place() {
        let replaced = |from: &str, to: &str| file("", &PIECE.replacen(from, to, 1));
        let table = [
            ("no xml".into(), "m.vtu, line 1: expected <VTKFile>, found `no xml`"),
            ("<VTKFile type='PolyData'>".into(), "line 1: expected a file of type UnstructuredGrid, found `PolyData`"),
            (
                file("", PIECE).replace("</VTKFile>", ""),
                "expected the closing tag of <VTKFile>, found the end of the file",
            ),
            (replaced("</Points>", "</Pints>"), "m.vtu, line 7: expected XML, found an error: "),
            (replaced("0 1 0 0 0 1", "0 1 0 0 0 nan"), "line 6: expected a z coordinate, a finite number, found `nan`"),
            (replaced("0 1 0 0 0 1", "0 1 0 0 0"), "expected a z coordinate, found the end of the array"),
            (replaced("0 1 0 0 0 1", "0 1 0 0 0 1 5"), "line 6: expected 12 numbers, found `5` too"),
            (
                replaced("NumberOfPoints='4'", "NumberOfPoints='4000000000000000000'"),
                "expected 9223372036854775807 numbers, found only",
            ),
            (
                replaced("NumberOfPoints='4'", "NumberOfPoints='-4'"),
                "line 3: expected a number for NumberOfPoints, found `-4`",
            ),
            (
                replaced("0 1 2 3<", "0 1 2 4<"),
                "line 8: expected the number of one of the 4 points, counted from 0, found `4` in cell 0",
            ),
            (replaced(">4<", ">-4<"), "line 9: expected non-decreasing offsets, found `-4` for cell 0"),
            (replaced(">4<", ">5<"), "line 8: expected 5 numbers, found only 7 bytes until the end of the array"),
            (
                replaced(">10<", ">13<"),
                "line 10: expected tetrahedra, hexahedra, polygons, lines or points, found a wedge (VTK type 13)",
            ),
            (replaced("Name='types'", "Name='kinds'"), "line 3: expected an array `types` in <Cells>, found none"),
            (replaced("format='ascii'", "format='appended' offset='0'"), "line 4: expected <AppendedData>, found none"),
            (replaced("format='ascii'", "format='binary'"), "line 4: expected 48 bytes in the array, found "),
            (replaced("Float32", "Float16"), "line 4: expected a numeric type, found `Float16`"),
        ];
        for (text, expected) in table {
            let message = load(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}\n{expected}");
        }
    }
}
