//! Tetrahedral and hexahedral meshes: checked when built, then immutable.
//!
//! A [`VolumeMesh`] comes from [`VolumeMesh::check`], which takes unchecked [`MeshData`] and either repairs and reports
//! harmless defects or names the others. All later code may rely on indices in range, finite coordinates and elements
//! of positive volume.

mod check;
mod control_nodes;
mod data;
mod edit;
mod element_kind;
mod embed;
mod faces;
pub mod generate;
mod interpolation;
mod labels;
mod material;
mod orientation;
mod polygon;
mod properties;
mod quality;
mod refine;
mod renumber;
pub mod shape;
mod slice;
mod split;
mod surface;
mod topology;
mod units;
mod volume;

pub use check::{CheckReport, Checked, Defect, MeshError};
pub use control_nodes::ControlNodes;
pub use data::{BODY, MeshData, Region, Sets};
pub use edit::{EditError, ExtractReport, Extracted};
pub use element_kind::ElementKind;
pub use embed::{Embedding, EmbeddingError};
#[cfg(feature = "formats")]
pub(crate) use faces::free_faces;
pub use faces::{FaceSets, find_faces};
pub use generate::Cells;
pub use interpolation::Interpolation;
pub use labels::Labels;
pub use material::{MaterialData, Moduli};
pub use properties::{MassProperties, MissingDensity};
pub use quality::{Quality, Range, tet_dihedral_angles};
pub use renumber::Renumbering;
pub use slice::{Slice, SlicePoint};
pub use split::{HexSplit, SplitError};
pub use surface::{Boundary, ElementFace, Faces, SurfaceMesh, SurfaceReport, VertexNormals};
pub use topology::Adjacency;
pub use units::{Units, UnitsError};
pub use volume::VolumeMesh;
