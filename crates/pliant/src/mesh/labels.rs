//! Regions and named sets of a mesh, which can be exchanged without touching its geometry.

use super::check::Change;
use super::{Checked, FaceSets, MeshData, MeshError, Region, Sets, VolumeMesh};

/// Regions and named sets of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// Regions; each name occurs once.
    pub regions: Vec<Region>,
    /// Region of each element, as an index into `regions`.
    pub element_region: Vec<u32>,
    /// Named sets of vertices.
    pub vertex_sets: Sets,
    /// Named sets of elements.
    pub element_sets: Sets,
    /// Named sets of faces.
    pub face_sets: FaceSets,
}

impl Labels {
    /// Moves elements into a new region called `name`. Partially filled elements go to additional regions, because they
    /// keep their [`fill`](Region::fill).
    pub fn move_to_region(&mut self, name: &str, elements: &[u32]) {
        let first = self.regions.len();
        self.regions.push(Region::named(name));
        for &element in elements {
            let slot = &mut self.element_region[element as usize];
            let before = &self.regions[*slot as usize];
            let (fill, label) = (before.fill, format!("{name}-{}", before.name));
            let found = self.regions[first..].iter().position(|region| region.fill == fill);
            *slot = (first + found.unwrap_or(self.regions.len() - first)) as u32;
            if found.is_none() {
                self.regions.push(Region { fill, ..Region::named(label) });
            }
        }
    }
}

impl VolumeMesh {
    /// Returns a copy of the regions and sets.
    pub fn labels(&self) -> Labels {
        Labels {
            regions: self.regions.clone(),
            element_region: self.element_region.clone(),
            vertex_sets: self.vertex_sets.clone(),
            element_sets: self.element_sets.clone(),
            face_sets: self.face_sets.clone(),
        }
    }

    /// Returns the mesh with other regions and sets. Only these are checked; vertices are shared.
    pub fn with_labels(self, labels: Labels) -> Result<Checked, MeshError> {
        let Labels { regions, element_region, vertex_sets, element_sets, face_sets } = labels;
        let vertices = self.vertices.clone();
        let data = MeshData {
            regions,
            element_region,
            vertex_sets,
            element_sets,
            face_sets,
            ..MeshData::new(Vec::new(), self.kind, self.elements)
        };
        Self::derive(data, vertices, Change::Labels)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Cells, Defect, generate};
    use super::*;

    fn bar() -> VolumeMesh {
        generate::block([2.0, 1.0, 1.0], [2, 1, 1], Cells::Hex).unwrap()
    }

    #[test]
    fn other_labels_keep_the_geometry_in_the_same_memory() {
        let mesh = bar();
        let mut labels = mesh.labels();
        labels.move_to_region("right", &[1]);
        labels.vertex_sets.insert("two".into(), vec![3, 1, 3]);
        labels.element_sets.insert("left".into(), vec![0]);
        let changed = mesh.clone().with_labels(labels).unwrap();
        assert!(changed.report.is_empty());
        let changed = changed.mesh;
        assert!(Arc::ptr_eq(changed.shared_vertices(), mesh.shared_vertices()));
        assert_eq!((changed.connectivity(), changed.element_region()), (mesh.connectivity(), &[0, 1][..]));
        assert_eq!(
            (changed.vertex_sets()["two"].as_slice(), changed.regions()[1].name.as_str()),
            (&[1, 3][..], "right")
        );
        // The same as a check of all of it.
        assert_eq!(VolumeMesh::check(changed.clone().into_data()).unwrap().mesh, changed);
    }

    #[test]
    fn wrong_labels_are_the_defects_of_a_whole_check() {
        let wrong: [fn(&mut Labels); 6] = [
            |labels| labels.element_region = vec![0],
            |labels| labels.element_region = vec![0, 7],
            |labels| labels.regions.push(labels.regions[0].clone()),
            |labels| labels.regions[0].fill = 0.0,
            |labels| drop(labels.vertex_sets.insert("far".into(), vec![12])),
            |labels| drop(labels.face_sets.insert("far".into(), vec![(2, 0)])),
        ];
        for change in wrong {
            let mut labels = bar().labels();
            change(&mut labels);
            let Labels { regions, element_region, vertex_sets, element_sets, face_sets } = labels.clone();
            let data = MeshData { regions, element_region, vertex_sets, element_sets, face_sets, ..bar().into_data() };
            let error = bar().with_labels(labels).unwrap_err();
            assert_eq!(error, VolumeMesh::check(data).unwrap_err());
            assert!(!matches!(error.defects[0], Defect::NoElements));
        }
        let mut labels = bar().labels();
        labels.face_sets.insert("all".into(), (0..6).flat_map(|side| [(0, side), (1, side)]).collect());
        let report = bar().with_labels(labels).unwrap().report;
        assert_eq!(report.two_sided_face_sets.len(), 1, "{report:?}");
    }
}
