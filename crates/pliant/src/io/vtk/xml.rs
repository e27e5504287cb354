//! Tags of a VTK XML file: the arrays, their encodings and their places.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use super::data::{Compressor, Layout};
use crate::files::{Location, ReadError, quote};
use crate::io::input_output::Input;

/// Section to which an array belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Fields,
    Points,
    Cells,
    PointData,
    CellData,
}

impl Section {
    fn of(tag: &str) -> Option<Self> {
        Some(match tag {
            "FieldData" => Self::Fields,
            "Points" => Self::Points,
            "Cells" => Self::Cells,
            "PointData" => Self::PointData,
            "CellData" => Self::CellData,
            _ => return None,
        })
    }
}

/// Storage of the numbers of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Ascii,
    Binary,
    Appended(usize),
}

/// Tag of an array, and the text after it.
#[derive(Debug)]
pub(super) struct Array<'a> {
    pub name: String,
    pub kind: String,
    pub components: usize,
    pub storage: Storage,
    pub text: &'a [u8],
    /// Byte where the text starts.
    pub at: usize,
}

#[derive(Debug)]
pub(super) struct PieceTag<'a> {
    pub points: usize,
    pub cells: usize,
    pub arrays: Vec<(Section, Array<'a>)>,
    pub at: usize,
}

impl<'a> PieceTag<'a> {
    pub fn find(&self, section: Section, name: Option<&str>) -> Option<&Array<'a>> {
        let mut arrays = self.arrays.iter().filter(|(of, _)| *of == section).map(|(_, array)| array);
        arrays.find(|array| name.is_none_or(|name| array.name == name))
    }
}

/// Data after all pieces.
#[derive(Debug)]
pub(super) struct Appended<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    pub base64: bool,
}

#[derive(Debug)]
pub(super) struct Document<'a> {
    pub layout: Layout,
    pub fields: Vec<Array<'a>>,
    pub pieces: Vec<PieceTag<'a>>,
    pub appended: Option<Appended<'a>>,
}

/// Parser that collects the arrays and their places.
pub(super) struct Parser<'a> {
    input: &'a Input<'a>,
    xml: quick_xml::Reader<&'a [u8]>,
    document: Document<'a>,
    section: Option<Section>,
    /// Number of open tags, now and when the last array was opened.
    depth: usize,
    array_depth: Option<usize>,
}

impl<'a> Parser<'a> {
    pub fn new(input: &'a Input<'a>) -> Self {
        let layout = Layout { little: true, wide: false, compressor: Compressor::None };
        Self {
            input,
            xml: quick_xml::Reader::from_reader(input.bytes),
            document: Document { layout, fields: Vec::new(), pieces: Vec::new(), appended: None },
            section: None,
            depth: 0,
            array_depth: None,
        }
    }

    pub fn parse(mut self) -> Result<Document<'a>, ReadError> {
        let mut started = false;
        loop {
            let event = self.xml.read_event();
            let event = event.map_err(|error| {
                self.input.error_at(self.xml.error_position() as usize, "XML", format!("an error: {error}"))
            })?;
            match event {
                Event::Start(tag) => {
                    self.depth += 1;
                    started = true;
                    if tag.name().0 == "AppendedData" {
                        self.appended(&tag)?;
                        return Ok(self.document);
                    }
                    self.open(&tag, true)?;
                }
                Event::Empty(tag) => {
                    started = true;
                    self.open(&tag, false)?;
                }
                Event::End(tag) => {
                    if self.array_depth == Some(self.depth) {
                        self.array_depth = None;
                    }
                    if Section::of(tag.name().0).is_some() {
                        self.section = None;
                    }
                    self.depth = self.depth.saturating_sub(1);
                }
                Event::Text(text) if self.array_depth == Some(self.depth) => self.text(text.len()),
                Event::Text(text) if !started && !text.trim_ascii().is_empty() => {
                    return Err(self.error("<VTKFile>", quote(text.trim_ascii().as_bytes())));
                }
                Event::Eof if self.depth > 0 || !started => {
                    let expected = if started { "the closing tag of <VTKFile>" } else { "<VTKFile>" };
                    return Err(self.error(expected, "the end of the file"));
                }
                Event::Eof => return Ok(self.document),
                _ => {}
            }
        }
    }

    fn open(&mut self, tag: &BytesStart<'_>, has_content: bool) -> Result<(), ReadError> {
        let name = tag.name().0;
        if self.array_depth.is_some() {
            return Ok(());
        }
        if self.depth == usize::from(has_content) && name != "VTKFile" {
            return Err(self.error("<VTKFile>", quote(format!("<{name}>").as_bytes())));
        }
        match name {
            "VTKFile" => self.file(tag)?,
            "Piece" => {
                let points = self.whole(tag, "NumberOfPoints")?;
                let cells = self.whole(tag, "NumberOfCells")?;
                let at = self.position();
                match (points, cells) {
                    (Some(points), Some(cells)) => {
                        self.document.pieces.push(PieceTag { points, cells, arrays: Vec::new(), at });
                    }
                    _ => return Err(self.error("NumberOfPoints and NumberOfCells in <Piece>", "not both")),
                }
            }
            "DataArray" | "Array" => {
                if let Some(section) = self.section {
                    let array = self.array(tag)?;
                    match (section, self.document.pieces.last_mut()) {
                        (Section::Fields, _) => self.document.fields.push(array),
                        (_, Some(piece)) => piece.arrays.push((section, array)),
                        (_, None) => return Err(self.error("<Piece> before arrays", format!("<{name}>"))),
                    }
                    self.array_depth = has_content.then_some(self.depth);
                }
            }
            _ if has_content => self.section = Section::of(name).or(self.section),
            _ => {}
        }
        Ok(())
    }

    fn file(&mut self, tag: &BytesStart<'_>) -> Result<(), ReadError> {
        let kind = self.attribute(tag, "type")?.unwrap_or_default();
        if kind != "UnstructuredGrid" {
            return Err(self.error("a file of type UnstructuredGrid", quote(kind.as_bytes())));
        }
        let layout = &mut Layout { ..self.document.layout };
        match self.attribute(tag, "byte_order")?.as_deref() {
            None | Some("LittleEndian") => {}
            Some("BigEndian") => layout.little = false,
            Some(order) => return Err(self.error("LittleEndian or BigEndian", quote(order.as_bytes()))),
        }
        match self.attribute(tag, "header_type")?.as_deref() {
            None | Some("UInt32") => {}
            Some("UInt64") => layout.wide = true,
            Some(kind) => return Err(self.error("headers of type UInt32 or UInt64", quote(kind.as_bytes()))),
        }
        layout.compressor = match self.attribute(tag, "compressor")?.as_deref() {
            None | Some("") => Compressor::None,
            Some("vtkZLibDataCompressor") => Compressor::Zlib,
            Some("vtkLZ4DataCompressor") => Compressor::Lz4,
            Some(other) => {
                let expected = "compression with zlib or LZ4, or none";
                return Err(self.error(expected, format!("{}, which is not supported", quote(other.as_bytes()))));
            }
        };
        self.document.layout = *layout;
        Ok(())
    }

    fn array(&self, tag: &BytesStart<'_>) -> Result<Array<'a>, ReadError> {
        let storage = match self.attribute(tag, "format")?.as_deref() {
            Some("ascii") | None => Storage::Ascii,
            Some("binary") => Storage::Binary,
            Some("appended") => match self.whole(tag, "offset")? {
                Some(offset) => Storage::Appended(offset),
                None => return Err(self.error("an offset for appended data", "none")),
            },
            Some(other) => return Err(self.error("the format ascii, binary or appended", quote(other.as_bytes()))),
        };
        Ok(Array {
            name: self.attribute(tag, "Name")?.unwrap_or_default(),
            kind: self.attribute(tag, "type")?.unwrap_or_default(),
            components: self.whole(tag, "NumberOfComponents")?.unwrap_or(1),
            storage,
            text: &[],
            at: self.position(),
        })
    }

    /// Ends the text of the array that was opened last.
    fn text(&mut self, length: usize) {
        let end = self.position();
        let at = end.saturating_sub(length);
        let text = self.input.bytes.get(at..end).unwrap_or_default();
        let array = match (self.section, self.document.pieces.last_mut()) {
            (Some(Section::Fields), _) => self.document.fields.last_mut(),
            (_, Some(piece)) => piece.arrays.last_mut().map(|(_, array)| array),
            (_, None) => None,
        };
        if let Some(array) = array.filter(|array| array.text.trim_ascii().is_empty()) {
            (array.text, array.at) = (text, at);
        }
    }

    /// Reads the rest of the file, which is XML only at its start.
    fn appended(&mut self, tag: &BytesStart<'_>) -> Result<(), ReadError> {
        let base64 = match self.attribute(tag, "encoding")?.as_deref() {
            Some("raw") => false,
            Some("base64") => true,
            other => {
                let found = other.map_or("none".into(), |other| quote(other.as_bytes()));
                return Err(self.error("the encoding raw or base64", found));
            }
        };
        let rest = self.input.bytes.get(self.position()..).unwrap_or_default();
        let Some(start) = rest.iter().position(|byte| !byte.is_ascii_whitespace()).filter(|&at| rest[at] == b'_')
        else {
            return Err(self.error("`_` before the appended data", quote(rest.trim_ascii())));
        };
        let bytes = &rest[start + 1..];
        // Base64 ends at the closing tag.
        let end = bytes.iter().position(|&byte| base64 && byte == b'<').unwrap_or(bytes.len());
        let at = self.position() + start + 1;
        self.document.appended = Some(Appended { bytes: &bytes[..end], at, base64 });
        Ok(())
    }

    fn attribute(&self, tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, ReadError> {
        let attribute = tag.try_get_attribute(name).map_err(quick_xml::Error::from);
        let value = attribute.and_then(|a| a.map(|a| a.normalized_value(XmlVersion::Implicit1_0)).transpose());
        let value = value.map_err(|error| self.error("XML", format!("an error: {error}")))?;
        Ok(value.map(Cow::into_owned))
    }

    fn whole(&self, tag: &BytesStart<'_>, name: &str) -> Result<Option<usize>, ReadError> {
        let Some(text) = self.attribute(tag, name)? else { return Ok(None) };
        let number =
            text.trim().parse().map_err(|_| self.error(format!("a number for {name}"), quote(text.as_bytes())));
        number.map(Some)
    }

    fn position(&self) -> usize {
        self.xml.buffer_position() as usize
    }

    fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        self.input.error_at(self.position(), expected, found)
    }
}

impl Input<'_> {
    /// Creates an error on the line of the byte `at`.
    pub(super) fn error_at(&self, at: usize, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        ReadError::at(self.path, Location::Line(self.line_of(at)), expected, found)
    }

    #[allow(clippy::naive_bytecount, reason = "only for errors")]
    pub(super) fn line_of(&self, at: usize) -> u64 {
        let before = self.bytes.get(..at).unwrap_or(self.bytes);
        1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64
    }
}
