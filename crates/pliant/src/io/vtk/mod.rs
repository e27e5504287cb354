//! VTK's unstructured grids: the legacy format `.vtk` and its successor in XML, `.vtu`.
//!
//! Both share cell types and data arrays, which are implemented in `cells`.

mod cells;
mod data;
pub(super) mod legacy;
mod values;
pub(super) mod vtu;
pub(super) mod write;
mod xml;

use super::Feature;

/// Features of both formats.
const FEATURES: &[Feature] = &[
    Feature::Hexahedra,
    Feature::Regions,
    Feature::RegionNames,
    Feature::VertexSets,
    Feature::ElementSets,
    Feature::FaceSets,
    Feature::FaceSetNames,
];
