//! Unchecked mesh data, and its regions and sets.

use std::collections::BTreeMap;

use super::{ElementKind, FaceSets, MaterialData};
use crate::math::Vec3;

/// Default name of a region.
pub const BODY: &str = "body";

/// Part of a body that is made of one material. Regions partition the elements.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Region {
    /// Name, unique among the regions of a mesh.
    pub name: String,
    /// Material data of the region, if the file gives them.
    pub material: Option<MaterialData>,
    /// Fill fraction of the elements, from 0 to 1. Elements that enclose more volume than the body are lighter and
    /// softer by this factor.
    pub fill: f64,
}

impl Region {
    /// Builds a region without a material.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), material: None, fill: 1.0 }
    }

    /// Builds a region of one material.
    pub fn of(name: impl Into<String>, material: MaterialData) -> Self {
        Self { material: Some(material), ..Self::named(name) }
    }
}

/// Named sets of vertex or element numbers, each sorted and without duplicates once checked.
pub type Sets = BTreeMap<String, Vec<u32>>;

/// Unchecked mesh data, the input of [`VolumeMesh::check`](super::VolumeMesh::check).
#[derive(Debug, Clone)]
pub struct MeshData {
    /// Rest positions \[m\].
    pub vertices: Vec<Vec3>,
    /// Kind of all elements.
    pub kind: ElementKind,
    /// Vertex numbers, [`ElementKind::nodes`] for each element in turn.
    pub elements: Vec<u32>,
    /// Regions; empty means one region called [`BODY`].
    pub regions: Vec<Region>,
    /// Region of each element; empty means that all are in region 0.
    pub element_region: Vec<u32>,
    /// Named sets of vertices.
    pub vertex_sets: Sets,
    /// Named sets of elements.
    pub element_sets: Sets,
    /// Named sets of faces, each the side of an element as listed here.
    pub face_sets: FaceSets,
}

impl MeshData {
    /// Builds mesh data with one region and without sets.
    pub fn new(vertices: Vec<Vec3>, kind: ElementKind, elements: Vec<u32>) -> Self {
        Self {
            vertices,
            kind,
            elements,
            regions: Vec::new(),
            element_region: Vec::new(),
            vertex_sets: Sets::new(),
            element_sets: Sets::new(),
            face_sets: FaceSets::new(),
        }
    }
}
