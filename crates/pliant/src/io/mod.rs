//! Readers and writers of mesh files. The extension chooses the format.
//!
//! A format is one file in this folder and one line in [`FORMATS`]. Its reader turns bytes into a `RawMesh`: loose
//! cells with tags and names. `raw` does what is common to all formats: it sorts the cells into a volume or a surface
//! and checks the mesh. Its writer fills buffers in memory. Losses follow from [`Format::features`] and are reported to
//! the caller. Files appear on disk complete or not at all.
//!
//! Readers treat their input as hostile. They never allocate by a count that the rest of the file could not back, and
//! every error names the file, the place and what was expected there.

mod abaqus;
mod bou;
mod content;
mod format;
mod gmsh;
mod includes;
mod input_output;
mod interp;
mod medit;
mod names;
mod obj;
mod options;
mod ply;
mod raw;
mod read;
mod stl;
mod svg;
mod tetgen;
mod veg;
mod vtk;
mod write;

pub use bou::{read_bou, read_bou_from, write_bou};
pub use content::{Loaded, Mesh, MeshRef};
pub use format::{Feature, Format};
pub use interp::{read_interp, read_interp_from, write_interp};
pub use names::Names;
pub use options::{Encoding, GmshVersion, WriteOptions};
pub use read::{read, read_from, read_surface, read_volume};
pub use write::{write, write_to};

/// Encoders of surfaces and grids, for writers of animations.
pub mod encode {
    pub use crate::io::obj::{Object, write_objects};
    pub use crate::io::ply::write_polygons;
    pub use crate::io::vtk::vtu::data_array;
    pub use crate::io::vtk::write::{DataArray, PackedGrid, TimeStepData, Values, collection};
}

/// Every format, each registered by one line.
#[rustfmt::skip]
pub const FORMATS: &[Format] = &[
    veg::FORMAT,
    tetgen::FORMAT,
    gmsh::FORMAT,
    vtk::legacy::FORMAT,
    vtk::vtu::FORMAT,
    medit::FORMAT,
    abaqus::FORMAT,
    obj::FORMAT,
    stl::FORMAT,
    ply::FORMAT,
    svg::FORMAT,
];
