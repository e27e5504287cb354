//! Abaqus input files, `.inp`.
//!
//! ```text
//! *NODE, NSET=all           *MATERIAL, NAME=steel       *NSET, NSET=left, GENERATE
//! 1, 0.0, 0.0, 0.0          *DENSITY                    1, 9, 2
//! …                         7800.,                      *ELSET, ELSET="upper half"
//! *ELEMENT, TYPE=C3D4, ELSET=body                       1, 5, other_set
//! 1, 1, 2, 3, 4             *ELASTIC                    *INCLUDE, INPUT=file.inp
//! …                         2e11, 0.3                   ** a comment
//!                           *SOLID SECTION, ELSET=body, MATERIAL=steel
//! ```
//! A line with a star starts a section. Case and white space are ignored in it, and names are case-insensitive. Each
//! solid section is a region named by its element set, in the order in which the sets are first named.
//!
//! Nodes and elements may be inside one `*PART`. Each `*INSTANCE` of it in the `*ASSEMBLY` is a translated and rotated
//! copy. With several instances, sets of the part are named `instance.set`, and each instance is also an element set.
//!
//! A `*SURFACE` of element sides is a face set, and so is a set of shells that lie on solids. Loads and steps are
//! skipped.

mod finish;
mod line;
mod read;
mod sets;
mod surfaces;
mod write;

use super::{Feature, Format};

pub(super) const FORMAT: Format = Format {
    name: "Abaqus",
    extensions: &["inp"],
    about: "text; regions, isotropic materials, sets of vertices, elements and faces, includes, instances of one part",
    binary: false,
    features: &[
        Feature::Hexahedra,
        Feature::Regions,
        Feature::RegionNames,
        Feature::Materials,
        Feature::VertexSets,
        Feature::ElementSets,
        Feature::FaceSets,
        Feature::FaceSetNames,
    ],
    read: Some(read::read),
    write_volume: Some(write::write_volume),
    write_surface: Some(write::write_surface),
};

#[cfg(test)]
mod tests;
