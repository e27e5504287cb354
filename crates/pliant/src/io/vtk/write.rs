//! Writer of `.vtu`. A grid is packed once and then written to any number of files with different points and data.

use flate2::Compression;

use super::cells::{Grid, REGION, REGION_NAMES, mask, names_to_bytes};
use super::data::encode;
use crate::files::put;
use crate::io::Encoding;
use crate::io::input_output::Output;
use crate::io::names::Names;
use crate::math::Vec3;
use crate::mesh::{BODY, Region, VolumeMesh};

/// Cell data with the number of the body that a cell belongs to, and field data with the names of bodies.
const BODY_NUMBER: &str = "body";
const BODY_NAMES: &str = "body_names";

/// Field data from which ParaView reads the time of a file.
const TIME: &str = "TimeValue";

pub(super) fn write(output: &mut Output, grid: &Grid<'_>, encoding: Encoding) {
    let sets = grid.cell_sets.iter().chain(&grid.point_sets).map(|(name, _)| name);
    if sets.chain(grid.face_sets.iter().map(|(name, _)| name)).any(|name| name.contains(not_in_xml)) {
        output.note("XML does not store control characters: those in names were replaced");
    }
    let style = Style { text: encoding == Encoding::Text, level: Compression::default() };
    let file = PackedGrid::new(grid, style).file(&TimeStepData { points: grid.vertices, ..TimeStepData::default() });
    output.main().extend(file);
}

/// Grid encoded as VTU, whose content is the same in every file of a series.
#[derive(Debug)]
pub struct PackedGrid {
    style: Style,
    points: usize,
    cells: usize,
    /// Arrays in `<FieldData>`, `<Cells>`, `<CellData>` and `<PointData>`.
    fields: Vec<u8>,
    topology: Vec<u8>,
    cell_data: Vec<u8>,
    point_data: Vec<u8>,
}

/// Content of one file of a series.
#[derive(Debug, Default)]
pub struct TimeStepData<'a> {
    /// Time \[s\].
    pub time: Option<f64>,
    /// Positions of all points of the grid \[m\].
    pub points: &'a [Vec3],
    /// Data of the points.
    pub point_data: &'a [DataArray<'a>],
    /// Data of the cells.
    pub cell_data: &'a [DataArray<'a>],
}

/// Data array of the points or cells of a grid.
#[derive(Debug)]
pub struct DataArray<'a> {
    /// Name.
    pub name: &'a str,
    /// Names of the components; empty for scalars.
    pub components: &'a [&'a str],
    /// Values of all components, one point or cell after the other.
    pub values: Values<'a>,
}

/// Numbers in double or single precision.
#[derive(Debug)]
pub enum Values<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision.
    F32(&'a [f32]),
}

impl PackedGrid {
    fn new(grid: &Grid<'_>, style: Style) -> Self {
        let (points, cells) = (grid.vertices.len(), grid.types.len());
        let pack = |fill: &dyn Fn(&mut Sink<'_>)| {
            let mut bytes = Vec::new();
            fill(&mut Sink { out: &mut bytes, style });
            bytes
        };
        let fields = pack(&|out| {
            if !grid.regions.is_empty() {
                out.names(REGION_NAMES, grid.regions.iter().map(|region| region.name.as_str()));
            }
            for (name, faces) in &grid.face_sets {
                out.loose_array(name, faces.iter().map(|&number| i64::from(number)));
            }
        });
        let topology = pack(&|out| {
            out.array("connectivity", &[], grid.nodes.iter().map(|&v| i64::from(v)));
            out.array("offsets", &[], grid.ends.iter().map(|&end| end as i64));
            out.array("types", &[], grid.types.iter().copied());
        });
        let cell_data = pack(&|out| {
            if !grid.regions.is_empty() {
                out.array(REGION, &[], grid.cell_region.iter().map(|&region| i64::from(region)));
            }
            for (name, members) in &grid.cell_sets {
                out.array(name, &[], mask(members, cells).into_iter());
            }
        });
        let point_data = pack(&|out| {
            for (name, members) in &grid.point_sets {
                out.array(name, &[], mask(members, points).into_iter());
            }
        });
        Self { style, points, cells, fields, topology, cell_data, point_data }
    }

    /// Packs several bodies with elements of any kind into one grid, one body after the other. Cell data contains body
    /// and region. The files are binary; there are many, so that fast compression is preferred.
    pub fn of_bodies(bodies: &[(&str, &VolumeMesh)]) -> Self {
        let (mut vertices, mut types, mut ends, mut nodes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut regions, mut cell_region, mut cell_body) = (Vec::new(), Vec::new(), Vec::new());
        let mut names = Names::default();
        for (number, (name, mesh)) in (0_i64..).zip(bodies) {
            let grid = Grid::of_volume(mesh);
            let (first_vertex, first_node, first_region) = (vertices.len() as u32, nodes.len(), regions.len() as u32);
            vertices.extend_from_slice(grid.vertices);
            types.extend_from_slice(&grid.types);
            ends.extend(grid.ends.iter().map(|end| first_node + end));
            nodes.extend(grid.nodes.iter().map(|vertex| first_vertex + vertex));
            cell_region.extend(mesh.element_region().iter().map(|region| first_region + region));
            cell_body.extend(std::iter::repeat_n(number, mesh.element_count()));
            regions.extend(mesh.regions().iter().map(|region| {
                let full = match (bodies, mesh.regions()) {
                    ([_], _) => region.name.clone(),
                    (_, [only]) if only.name == BODY => (*name).to_owned(),
                    _ => format!("{name}/{}", region.name),
                };
                Region::named(names.take(&full))
            }));
        }
        let grid = Grid {
            vertices: &vertices,
            types,
            ends,
            nodes: &nodes,
            regions: &regions,
            cell_region: &cell_region,
            cell_sets: Vec::new(),
            point_sets: Vec::new(),
            face_sets: Vec::new(),
        };
        let style = Style { text: false, level: Compression::fast() };
        let mut packed = Self::new(&grid, style);
        Sink { out: &mut packed.fields, style }.names(BODY_NAMES, bodies.iter().map(|(name, _)| *name));
        Sink { out: &mut packed.cell_data, style }.array(BODY_NUMBER, &[], cell_body.into_iter());
        packed
    }

    /// Returns the content of one file.
    pub fn file(&self, data: &TimeStepData<'_>) -> Vec<u8> {
        let Self { style, points, cells, .. } = *self;
        let mut bytes = Vec::new();
        let out = &mut Sink { out: &mut bytes, style };
        let compressor = if style.text { "" } else { " compressor=\"vtkZLibDataCompressor\"" };
        put!(out.out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" ");
        put!(out.out, "byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>\n<UnstructuredGrid>\n");
        if !self.fields.is_empty() || data.time.is_some() {
            put!(out.out, "<FieldData>\n");
            out.out.extend(&self.fields);
            if let Some(time) = data.time {
                out.loose_array(TIME, [time].into_iter());
            }
            put!(out.out, "</FieldData>\n");
        }
        put!(out.out, "<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n<Points>\n");
        out.array("Points", &["x", "y", "z"], data.points.iter().flat_map(Vec3::to_array));
        put!(out.out, "</Points>\n<Cells>\n");
        out.out.extend(&self.topology);
        put!(out.out, "</Cells>\n<CellData>\n");
        out.out.extend(&self.cell_data);
        data.cell_data.iter().for_each(|array| out.data(array));
        put!(out.out, "</CellData>\n<PointData>\n");
        out.out.extend(&self.point_data);
        data.point_data.iter().for_each(|array| out.data(array));
        put!(out.out, "</PointData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
        bytes
    }
}

/// Returns a `.pvd` collection, which gives the time of each file.
pub fn collection<'a>(files: impl Iterator<Item = (f64, &'a str)>) -> Vec<u8> {
    let mut out = Vec::new();
    put!(out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n");
    put!(out, "<Collection>\n");
    for (time, file) in files {
        put!(out, "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{}\"/>\n", attribute_text(file));
    }
    put!(out, "</Collection>\n</VTKFile>\n");
    out
}

/// Returns true for characters that XML forbids, even as character references.
fn not_in_xml(c: char) -> bool {
    c < ' ' && !matches!(c, '\t' | '\n' | '\r')
}

/// Number type of written arrays.
trait Plain: Copy + std::fmt::Debug {
    const NAME: &'static str;
    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! plain {
    ($($type:ty: $name:literal),*) => {$(
        impl Plain for $type {
            const NAME: &'static str = $name;
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )*};
}
plain!(f32: "Float32", f64: "Float64", i64: "Int64", u8: "UInt8");

/// Encoding of arrays: text, or compressed binary.
#[derive(Debug, Clone, Copy)]
struct Style {
    text: bool,
    level: Compression,
}

/// Writer of arrays, as text or binary.
struct Sink<'a> {
    out: &'a mut Vec<u8>,
    style: Style,
}

impl Sink<'_> {
    fn array<T: Plain>(&mut self, name: &str, components: &[&str], values: impl Iterator<Item = T>) {
        put!(self.out, "<DataArray type=\"{}\" Name=\"{}\"", T::NAME, attribute_text(name));
        if !components.is_empty() {
            put!(self.out, " NumberOfComponents=\"{}\"", components.len());
            for (index, component) in components.iter().enumerate() {
                put!(self.out, " ComponentName{index}=\"{component}\"");
            }
        }
        put!(self.out, " format=\"{}\">\n", self.format());
        self.values(values);
        put!(self.out, "</DataArray>\n");
    }

    fn data(&mut self, array: &DataArray<'_>) {
        match array.values {
            Values::F64(values) => self.array(array.name, array.components, values.iter().copied()),
            Values::F32(values) => self.array(array.name, array.components, values.iter().copied()),
        }
    }

    /// Writes names as zero-terminated bytes.
    fn names<'a>(&mut self, name: &str, names: impl Iterator<Item = &'a str>) {
        self.loose_array(name, names_to_bytes(names).into_iter());
    }

    /// Writes an array with its length, which is not the number of points or cells.
    fn loose_array<T: Plain>(&mut self, name: &str, values: impl ExactSizeIterator<Item = T>) {
        let (kind, name, count, format) = (T::NAME, attribute_text(name), values.len(), self.format());
        put!(self.out, "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfTuples=\"{count}\" format=\"{format}\">\n");
        self.values(values);
        put!(self.out, "</DataArray>\n");
    }

    fn values<T: Plain>(&mut self, values: impl Iterator<Item = T>) {
        const PER_LINE: usize = 12;
        if self.style.text {
            for (index, value) in values.enumerate() {
                let separator = if index % PER_LINE == PER_LINE - 1 { '\n' } else { ' ' };
                put!(self.out, "{value:?}{separator}");
            }
        } else {
            let mut bytes = Vec::with_capacity(values.size_hint().0 * size_of::<T>());
            values.for_each(|value| value.put(&mut bytes));
            encode(&bytes, self.style.level, self.out);
        }
        put!(self.out, "\n");
    }

    fn format(&self) -> &'static str {
        if self.style.text { "ascii" } else { "binary" }
    }
}

/// Escapes a name as the value of an attribute. White space other than spaces becomes character references.
fn attribute_text(name: &str) -> String {
    let escaped = quick_xml::escape::escape(name);
    let mut text = String::with_capacity(escaped.len());
    for c in escaped.chars() {
        match c {
            '\t' => text.push_str("&#9;"),
            '\n' => text.push_str("&#10;"),
            '\r' => text.push_str("&#13;"),
            c if not_in_xml(c) => text.push('\u{fffd}'),
            c => text.push(c),
        }
    }
    text
}
