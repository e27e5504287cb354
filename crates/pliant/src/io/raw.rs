//! What readers produce, and how it becomes a mesh: the part of reading that is the same for every format.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::error::ReadError;
use super::names::{Names, listed};
use super::scan::Scanner;
use super::{Loaded, Mesh};
use crate::math::Vec3;
use crate::mesh::{BODY, CheckReport, ElementKind, Faces, Material, MeshData, Region, Sets, SurfaceMesh, VolumeMesh};

/// Cells of one kind, each with the number of the group it is in; 0 where the file has no groups.
#[derive(Debug, Default)]
pub(crate) struct RawCells {
    pub nodes: Vec<u32>,
    pub tags: Vec<i64>,
}

impl RawCells {
    pub fn push(&mut self, nodes: &[u32], tag: i64) {
        self.nodes.extend_from_slice(nodes);
        self.tags.push(tag);
    }
}

/// Polygons, each with the number of the group it is in; 0 where the file has no groups.
#[derive(Debug, Default)]
pub(crate) struct RawFaces {
    pub faces: Faces,
    pub tags: Vec<i64>,
}

impl RawFaces {
    pub fn push(&mut self, polygon: &[u32], tag: i64) {
        self.faces.push(polygon);
        self.tags.push(tag);
    }
}

/// Everything a file may say, not yet checked. Vertex numbers count from 0 but may be out of range.
#[derive(Debug, Default)]
pub(crate) struct RawMesh {
    pub vertices: Vec<Vec3>,
    /// In the order of [`ElementKind::Tet4`]; the winding may be wrong.
    pub tets: RawCells,
    /// In the order of [`ElementKind::Hex8`]; the winding may be wrong.
    pub hexes: RawCells,
    /// Beside a volume these mark its boundary: each tag becomes a vertex set. Alone they are a surface.
    pub faces: RawFaces,
    /// Names of the tags of `tets` and `hexes`.
    pub region_names: BTreeMap<i64, String>,
    /// Materials of the tags of `tets` and `hexes`.
    pub materials: BTreeMap<i64, Material>,
    /// Names of the tags of `faces`.
    pub face_names: BTreeMap<i64, String>,
    pub vertex_sets: Sets,
    /// Sets of the numbers of the tetrahedra or hexahedra.
    pub element_sets: Sets,
    /// What was in the file and is not kept, a sentence each.
    pub notes: Vec<String>,
}

impl RawMesh {
    /// Sort the cells into a volume or a surface and check it.
    pub fn finish(mut self, path: &Path) -> Result<Loaded, ReadError> {
        let (tets, hexes) = (self.tets.tags.len(), self.hexes.tags.len());
        let (kind, cells) = match (tets, hexes) {
            (0, 0) => return self.finish_surface(path),
            (_, 0) => (ElementKind::Tet4, std::mem::take(&mut self.tets)),
            (0, _) => (ElementKind::Hex8, std::mem::take(&mut self.hexes)),
            _ => {
                let found = format!("{} and {}", ElementKind::Tet4.count(tets), ElementKind::Hex8.count(hexes));
                return Err(ReadError::whole(path, "elements of one kind", found));
            }
        };
        self.faces_to_sets();
        let mut data = MeshData::new(self.vertices, kind, cells.nodes);
        (data.regions, data.element_region) =
            regions(&cells.tags, &mut self.region_names, &mut self.materials, &mut self.notes);
        data.vertex_sets = self.vertex_sets;
        data.element_sets = self.element_sets;
        let checked = VolumeMesh::check(data).map_err(|cause| ReadError::Mesh { path: path.into(), cause })?;
        Ok(Loaded { mesh: Mesh::Volume(checked.mesh), report: checked.report, notes: self.notes })
    }

    fn finish_surface(mut self, path: &Path) -> Result<Loaded, ReadError> {
        if self.faces.faces.is_empty() {
            let found = format!("{} vertices and no elements", self.vertices.len());
            return Err(ReadError::whole(path, "tetrahedra, hexahedra or a surface", found));
        }
        if self.faces.tags.iter().any(|&tag| tag != self.faces.tags[0]) || !self.vertex_sets.is_empty() {
            self.notes.push("the groups of a surface are not kept".into());
        }
        let surface = SurfaceMesh::new(self.vertices, self.faces.faces)
            .map_err(|cause| ReadError::Mesh { path: path.into(), cause })?;
        Ok(Loaded { mesh: Mesh::Surface(surface), report: CheckReport::default(), notes: self.notes })
    }

    /// The vertices of each group of boundary faces become a set.
    fn faces_to_sets(&mut self) {
        if self.faces.tags.iter().any(|&tag| tag != 0) {
            self.notes.push("groups of boundary faces are kept as sets of their vertices".into());
        }
        let mut groups: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for (face, &tag) in self.faces.faces.iter().zip(&self.faces.tags) {
            if tag != 0 {
                groups.entry(tag).or_default().extend_from_slice(face);
            }
        }
        // A name may be as long as the file: it is looked at once a group, not once a face.
        for (tag, vertices) in groups {
            let name = self.face_names.get(&tag).cloned().unwrap_or_else(|| format!("surface-{tag}"));
            self.vertex_sets.entry(name).or_default().extend(vertices);
        }
    }
}

/// One region for each tag in use, in ascending order, and the region of each element.
fn regions(
    tags: &[i64],
    names: &mut BTreeMap<i64, String>,
    materials: &mut BTreeMap<i64, Material>,
    notes: &mut Vec<String>,
) -> (Vec<Region>, Vec<u32>) {
    let mut used: Vec<i64> = Vec::new();
    for run in tags.chunk_by(|a, b| a == b) {
        used.push(run[0]);
    }
    used.sort_unstable();
    used.dedup();
    let mut regions: Vec<Region> = Vec::with_capacity(used.len());
    let mut taken = Names::default();
    for &tag in &used {
        let name = names.remove(&tag).unwrap_or_else(|| match used.len() {
            1 => BODY.into(),
            _ => format!("region-{tag}"),
        });
        regions.push(Region { material: materials.remove(&tag), ..Region::named(taken.take(&name)) });
    }
    if !names.is_empty() {
        notes.push(format!("regions without elements are not kept: {}", listed(names.values().map(String::as_str))));
    }
    let element_region = tags.iter().map(|tag| used.binary_search(tag).unwrap_or(0) as u32).collect();
    (regions, element_region)
}

/// The numbers in the names of regions that are only numbered, `region-3`, if all are: a format that numbers its regions
/// then loses nothing. A single `body` is number 1.
pub(crate) fn numbered_names(mesh: &VolumeMesh) -> Option<Vec<i64>> {
    if let [Region { name, .. }] = mesh.regions()
        && name == BODY
    {
        return Some(vec![1]);
    }
    let number = |region: &Region| {
        let number = region.name.strip_prefix("region-")?.parse().ok().filter(|&number: &i32| number > 0)?;
        // Not for `region-007`, which would come back as another name.
        (region.name == format!("region-{number}")).then_some(i64::from(number))
    };
    let numbers: Vec<i64> = mesh.regions().iter().map(number).collect::<Option<_>>()?;
    // Readers put regions in the order of their numbers; a single one without a name is the body.
    (numbers.len() > 1 && numbers.is_sorted_by(|a, b| a < b)).then_some(numbers)
}

/// The numbers under which a format that numbers its regions writes them.
pub(crate) fn region_numbers(mesh: &VolumeMesh) -> Vec<i64> {
    numbered_names(mesh).unwrap_or_else(|| (1..=mesh.regions().len() as i64).collect())
}

/// The numbers that a file gives its vertices or elements, which may start anywhere and have gaps.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    first: i64,
    count: u32,
    /// Empty while the labels are consecutive, as they are in most files. Seeded by the standard library, so that no file
    /// can be made whose labels all collide.
    sparse: HashMap<i64, u32>,
}

impl Labels {
    /// The next thing is called `label`; false if an earlier one is already.
    pub fn push(&mut self, label: i64) -> bool {
        if self.count == 0 {
            self.first = label;
        }
        let consecutive = self.sparse.is_empty() && label.checked_sub(self.first) == Some(i64::from(self.count));
        if !consecutive {
            if self.sparse.is_empty() {
                self.sparse = (0..self.count).map(|i| (self.first + i64::from(i), i)).collect();
            }
            if self.sparse.insert(label, self.count).is_some() {
                return false;
            }
        }
        self.count += 1;
        true
    }

    /// Which thing is called `label`, counted from 0.
    pub fn get(&self, label: i64) -> Option<u32> {
        if self.sparse.is_empty() {
            let index = u32::try_from(label.checked_sub(self.first)?).ok()?;
            (index < self.count).then_some(index)
        } else {
            self.sparse.get(&label).copied()
        }
    }

    /// The same, or an error on the present line of `scanner`.
    pub fn find(&self, label: i64, what: &str, scanner: &Scanner<'_>) -> Result<u32, ReadError> {
        self.get(label).ok_or_else(|| scanner.error(format!("the number of a listed {what}"), format!("`{label}`")))
    }

    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// All labels in ascending order, each with what is called so.
    pub fn sorted(&self) -> Vec<(i64, u32)> {
        if self.sparse.is_empty() {
            return (0..self.count).map(|i| (self.first + i64::from(i), i)).collect();
        }
        let mut sorted: Vec<(i64, u32)> = self.sparse.iter().map(|(&label, &i)| (label, i)).collect();
        sorted.sort_unstable();
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_may_start_anywhere_and_have_gaps() {
        let mut labels = Labels::default();
        assert!([5, 6, 7].into_iter().all(|l| labels.push(l)));
        assert_eq!([labels.get(5), labels.get(7), labels.get(8), labels.get(4)], [Some(0), Some(2), None, None]);
        assert!(labels.push(100) && labels.push(-3));
        assert_eq!([labels.get(6), labels.get(100), labels.get(-3), labels.get(8)], [Some(1), Some(3), Some(4), None]);
        assert!(!labels.push(6));
        assert_eq!(Labels::default().get(0), None);
        assert_eq!(Labels::default().get(i64::MIN), None);
    }

    fn cube_corner(tags: [i64; 2]) -> RawMesh {
        let mut raw =
            RawMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE], ..RawMesh::default() };
        raw.tets.push(&[0, 1, 2, 3], tags[0]);
        raw.tets.push(&[1, 2, 3, 4], tags[1]);
        raw
    }

    #[test]
    fn tags_become_regions_and_face_tags_vertex_sets() {
        let mut raw = cube_corner([7, 3]);
        raw.region_names.insert(7, "soft".into());
        raw.region_names.insert(9, "nowhere".into());
        raw.faces.push(&[0, 1, 2], 4);
        let loaded = raw.finish(Path::new("m")).unwrap();
        let Mesh::Volume(mesh) = loaded.mesh else { panic!("expected a volume") };
        assert_eq!(mesh.regions().iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["region-3", "soft"]);
        assert_eq!(mesh.element_region(), [1, 0]);
        assert_eq!(mesh.vertex_sets()["surface-4"], [0, 1, 2]);
        assert_eq!(loaded.notes[1..], ["regions without elements are not kept: nowhere"]);
    }

    #[test]
    fn one_unnamed_region_is_the_body() {
        let Mesh::Volume(mesh) = cube_corner([0, 0]).finish(Path::new("m")).unwrap().mesh else { panic!() };
        assert_eq!(mesh.regions()[0].name, "body");
    }

    #[test]
    fn mixed_elements_are_refused_with_their_counts() {
        let mut raw = cube_corner([0, 0]);
        raw.hexes.push(&[0; 8], 0);
        let message = raw.finish(Path::new("m.vtk")).unwrap_err().to_string();
        assert_eq!(message, "m.vtk: expected elements of one kind, found 2 tetrahedra and 1 hexahedron");
    }
}
