//! Gmsh meshes, `.msh`, versions 2.2, 4.0 and 4.1, text and binary; 2.2 and 4.1 are written.
//!
//! ```text
//! $MeshFormat            $PhysicalNames          $Nodes           $Elements
//! 2.2 0 8                2                       4                2
//! $EndMeshFormat         3 1 "soft tissue"       1 0.0 0.0 0.0    1 4 2 1 1 1 2 3 4
//!                        0 1 "clamp"             …                2 15 2 1 1 3
//!                        $EndPhysicalNames       $EndNodes        $EndElements
//! ```
//! The header contains the version, whether the numbers of sections are binary, and the size of some of them. The
//! integer 1 after it shows the byte order. Names of sections and groups are always text.
//!
//! A physical group has a dimension and a tag, and a name if it is listed in `$PhysicalNames`. Groups of volumes are
//! regions. If an element is in several, the first is its region and the others are element sets. Groups of surfaces
//! are face sets. Groups of points and curves are vertex sets. Groups with the same name form one set.

mod groups;
mod numbers;
mod read;
#[cfg(test)]
mod tests;
mod v2;
mod v4;
mod write;

use super::{Feature, Format};

pub(super) const FORMAT: Format = Format {
    name: "Gmsh",
    extensions: &["msh"],
    about: "text and binary; 2.2, 4.0 (only read) and 4.1; physical groups as regions and sets of faces, vertices and elements",
    binary: true,
    features: &[
        Feature::Hexahedra,
        Feature::Regions,
        Feature::RegionNames,
        Feature::VertexSets,
        Feature::ElementSets,
        Feature::FaceSets,
        Feature::FaceSetNames,
    ],
    read: Some(read::read),
    write_volume: Some(write::write_volume),
    write_surface: Some(write::write_surface),
};
