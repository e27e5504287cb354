//! Output of the readers and its conversion into a mesh, which is the same for every format.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::names::{Names, listed};
use super::{Loaded, Mesh};
use crate::files::{ReadError, Scanner};
use crate::math::Vec3;
use crate::mesh::{
    BODY, CheckReport, ElementFace, ElementKind, FaceSets, Faces, MaterialData, MeshData, Region, Sets, SurfaceMesh,
    VolumeMesh, find_faces,
};

/// Cells of one kind, each with the number of its group; 0 where the file has no groups.
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

/// Polygons, each with the number of its group; 0 where the file has no groups.
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

/// Content of a file, not yet checked. Vertex numbers count from 0 but may be out of range.
#[derive(Debug, Default)]
pub(crate) struct RawMesh {
    pub vertices: Vec<Vec3>,
    /// Tetrahedra in the node order of [`ElementKind::Tet4`]; the winding may be wrong.
    pub tets: RawCells,
    /// Hexahedra in the node order of [`ElementKind::Hex8`]; the winding may be wrong.
    pub hexes: RawCells,
    /// Next to a volume these are some of its faces: each tag becomes a face set. Alone they are a surface.
    pub faces: RawFaces,
    /// Names of the tags of `tets` and `hexes`.
    pub region_names: BTreeMap<i64, String>,
    /// Materials of the tags of `tets` and `hexes`.
    pub materials: BTreeMap<i64, MaterialData>,
    /// Names of the tags of `faces`.
    pub face_names: BTreeMap<i64, String>,
    /// Further groups of `faces`, by face number.
    pub face_groups: BTreeMap<String, Vec<u32>>,
    /// Sets of faces of the tetrahedra or hexahedra.
    pub face_sets: FaceSets,
    pub vertex_sets: Sets,
    /// Sets of numbers of the tetrahedra or hexahedra.
    pub element_sets: Sets,
    /// True if the format leaves the units to the user, so that they may not be SI.
    pub units_are_unknown: bool,
    /// Content of the file that is not kept, one sentence per entry.
    pub notes: Vec<String>,
}

impl RawMesh {
    /// Sorts the cells into a volume or a surface and checks it.
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
        self.find_face_sets(kind, &cells.nodes);
        let mut data = MeshData::new(self.vertices, kind, cells.nodes);
        (data.regions, data.element_region) =
            regions(&cells.tags, &mut self.region_names, &mut self.materials, &mut self.notes);
        data.vertex_sets = self.vertex_sets;
        data.element_sets = self.element_sets;
        data.face_sets = self.face_sets;
        let checked = VolumeMesh::check(data).map_err(|cause| ReadError::Mesh { path: path.into(), cause })?;
        if self.units_are_unknown {
            self.notes.extend(checked.mesh.units_hint());
        }
        Ok(Loaded { mesh: Mesh::Volume(checked.mesh), report: checked.report, notes: self.notes })
    }

    fn finish_surface(mut self, path: &Path) -> Result<Loaded, ReadError> {
        if self.faces.faces.is_empty() {
            let found = format!("{} vertices and no elements", self.vertices.len());
            return Err(ReadError::whole(path, "tetrahedra, hexahedra or a surface", found));
        }
        if self.faces.tags.iter().any(|&tag| tag != self.faces.tags[0])
            || !self.vertex_sets.is_empty()
            || !self.face_groups.is_empty()
        {
            self.notes.push("the groups of a surface are not kept".into());
        }
        let surface = SurfaceMesh::new(self.vertices, self.faces.faces)
            .map_err(|cause| ReadError::Mesh { path: path.into(), cause })?;
        Ok(Loaded { mesh: Mesh::Surface(surface), report: CheckReport::default(), notes: self.notes })
    }

    /// Converts groups of faces into sets of element faces. A group whose faces belong to no element becomes a vertex
    /// set.
    fn find_face_sets(&mut self, kind: ElementKind, elements: &[u32]) {
        let mut by_tag: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for (face, &tag) in (0..).zip(&self.faces.tags) {
            if tag != 0 {
                by_tag.entry(tag).or_default().push(face);
            }
        }
        let mut groups = std::mem::take(&mut self.face_groups);
        // A name may be as long as the file: it is looked up once per group, not once per face.
        for (tag, members) in by_tag {
            let name = self.face_names.get(&tag).cloned().unwrap_or_else(|| format!("surface-{tag}"));
            groups.entry(name).or_default().extend(members);
        }
        let mut grouped = vec![false; self.faces.tags.len()];
        groups.values().flatten().for_each(|&face| grouped[face as usize] = true);
        let polygons = || (0..grouped.len()).filter(|&face| grouped[face]);
        let faces = &self.faces.faces;
        let found = find_faces(kind, elements, self.vertices.len(), polygons().map(|face| faces.get(face)));
        let side_of: HashMap<usize, ElementFace> =
            polygons().zip(found).filter_map(|(face, side)| Some((face, side?))).collect();
        for (name, members) in groups {
            let mut sides: Vec<ElementFace> = Vec::with_capacity(members.len());
            sides.extend(members.iter().filter_map(|&face| side_of.get(&(face as usize))));
            let lost = members.len() - sides.len();
            if lost > 0 && sides.is_empty() {
                let plural = kind.plural();
                self.notes.push(match lost {
                    1 => format!("the only face of `{name}` is not a face of {plural}: it is kept as a set of its vertices"),
                    _ => format!(
                        "the {lost} faces of `{name}` are not faces of {plural}: they are kept as a set of their vertices"
                    ),
                });
                let vertices = members.iter().flat_map(|&face| faces.get(face as usize)).copied();
                self.vertex_sets.entry(name).or_default().extend(vertices);
                continue;
            }
            if lost > 0 {
                let are = if lost == 1 { "is not a face" } else { "are not faces" };
                let (all, plural) = (members.len(), kind.plural());
                self.notes.push(format!("{lost} of the {all} faces of `{name}` {are} of {plural}: not kept"));
            }
            self.face_sets.entry(name).or_default().extend(sides);
        }
    }
}

/// Returns one region for each tag in use, in ascending order, and the region of each element.
fn regions(
    tags: &[i64],
    names: &mut BTreeMap<i64, String>,
    materials: &mut BTreeMap<i64, MaterialData>,
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

/// Returns the numbers in the names of the regions if all are of the form `region-3`. A format that numbers its regions
/// then loses nothing. A single `body` is number 1.
pub(crate) fn numbered_names(mesh: &VolumeMesh) -> Option<Vec<i64>> {
    if let [Region { name, .. }] = mesh.regions()
        && name == BODY
    {
        return Some(vec![1]);
    }
    let number = |region: &Region| {
        let number = region.name.strip_prefix("region-")?.parse().ok().filter(|&number: &i32| number > 0)?;
        // Excludes `region-007`, which would come back as another name.
        (region.name == format!("region-{number}")).then_some(i64::from(number))
    };
    let numbers: Vec<i64> = mesh.regions().iter().map(number).collect::<Option<_>>()?;
    // Readers put regions in the order of their numbers; a single one without a name is the body.
    (numbers.len() > 1 && numbers.is_sorted_by(|a, b| a < b)).then_some(numbers)
}

/// Returns the numbers of the regions in a format that numbers them.
pub(crate) fn region_numbers(mesh: &VolumeMesh) -> Vec<i64> {
    numbered_names(mesh).unwrap_or_else(|| (1..=mesh.regions().len() as i64).collect())
}

/// Returns the number of each face set in a format that numbers them. `surface-3` gets 3 if all names have this form.
pub(crate) fn face_set_numbers(mesh: &VolumeMesh) -> Vec<i64> {
    let number = |name: &String| {
        let number = name.strip_prefix("surface-")?.parse().ok().filter(|&number: &i32| number > 0)?;
        (*name == format!("surface-{number}")).then_some(i64::from(number))
    };
    let numbers: Option<Vec<i64>> = mesh.face_sets().keys().map(number).collect();
    numbers.unwrap_or_else(|| (1..=mesh.face_sets().len() as i64).collect())
}

/// Returns the faces of all face sets with the number of their set, sorted. The first set counts for a face in several.
pub(crate) fn numbered_faces(mesh: &VolumeMesh) -> Vec<(ElementFace, i64)> {
    let sets = mesh.face_sets().values().zip(face_set_numbers(mesh));
    let mut faces: Vec<(ElementFace, i64)> =
        sets.flat_map(|(set, number)| set.iter().map(move |&face| (face, number))).collect();
    // Stable, so that the first set comes first.
    faces.sort_by_key(|&(face, _)| face);
    faces.dedup_by_key(|(face, _)| *face);
    faces
}

/// Returns what a format with one number per face loses of the face sets of `mesh`, one sentence each.
pub(crate) fn lost_in_numbers(format: &str, mesh: &VolumeMesh) -> Vec<String> {
    let mut notes = Vec::new();
    let mut kept: HashMap<i64, usize> = HashMap::new();
    numbered_faces(mesh).into_iter().for_each(|(_, number)| *kept.entry(number).or_default() += 1);
    // Each set with its number, and the number of its faces in the file.
    let sets = || {
        let numbered = mesh.face_sets().iter().zip(face_set_numbers(mesh));
        numbered.map(|((name, set), number)| (name, set, number, kept.get(&number).copied().unwrap_or(0)))
    };
    let renamed: Vec<String> = sets()
        .filter(|(name, _, number, kept)| *kept > 0 && **name != format!("surface-{number}"))
        .map(|(name, _, number, _)| format!("{name} is surface-{number}"))
        .collect();
    if !renamed.is_empty() {
        notes.push(format!("{format} numbers face sets: {}", listed(renamed.iter().map(String::as_str))));
    }
    let reduced: Vec<String> = sets()
        .filter(|(_, set, _, kept)| *kept < set.len())
        .map(|(name, set, _, kept)| format!("`{name}` keeps {kept} of {}", set.len()))
        .collect();
    if !reduced.is_empty() {
        notes.push(format!(
            "{format} has one number per face, so that a face in several sets stays in the first alone: {}",
            listed(reduced.iter().map(String::as_str))
        ));
    }
    if let Some((name, _)) = mesh.face_sets().iter().find(|(_, set)| set.is_empty()) {
        notes.push(format!("{format} does not store face sets without faces such as `{name}`"));
    }
    notes
}

/// Numbers that a file gives its vertices or elements, which may start anywhere and have gaps.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    first: i64,
    count: u32,
    /// Numbers of labels; empty while the labels are consecutive, as in most files. The hash is seeded at random, so
    /// that no file can be made whose labels all collide.
    sparse: HashMap<i64, u32>,
}

impl Labels {
    /// Adds the label of the next item. Returns false if the label is already in use.
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

    /// Returns the number of the item with a label, counted from 0.
    pub fn get(&self, label: i64) -> Option<u32> {
        if self.sparse.is_empty() {
            let index = u32::try_from(label.checked_sub(self.first)?).ok()?;
            (index < self.count).then_some(index)
        } else {
            self.sparse.get(&label).copied()
        }
    }

    /// Returns the number of the item with a label, or an error on the current line of `scanner`.
    pub fn find(&self, label: i64, what: &str, scanner: &Scanner<'_>) -> Result<u32, ReadError> {
        self.get(label).ok_or_else(|| scanner.error(format!("the number of a listed {what}"), format!("`{label}`")))
    }

    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns all labels in ascending order, each with the number of its item.
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
    fn tags_become_regions_and_face_tags_face_sets() {
        let mut raw = cube_corner([7, 3]);
        raw.region_names.insert(7, "soft".into());
        raw.region_names.insert(9, "nowhere".into());
        raw.faces.push(&[0, 1, 2], 4);
        // The first face lies between the two and faces out of the first; no tetrahedron has the second.
        raw.faces.push(&[2, 3, 1], 5);
        raw.faces.push(&[1, 4, 0], 5);
        raw.faces.push(&[1, 4, 0], 6);
        raw.face_groups.insert("skin".into(), vec![0]);
        let loaded = raw.finish(Path::new("m")).unwrap();
        let Mesh::Volume(mesh) = loaded.mesh else { panic!("expected a volume") };
        assert_eq!(mesh.regions().iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["region-3", "soft"]);
        assert_eq!(mesh.element_region(), [1, 0]);
        let sets: Vec<(&str, &[(u32, u8)])> = mesh.face_sets().iter().map(|(n, s)| (n.as_str(), &s[..])).collect();
        assert_eq!(sets, [("skin", &[(0, 0)][..]), ("surface-4", &[(0, 0)]), ("surface-5", &[(0, 2)])]);
        assert_eq!(mesh.vertex_sets().iter().collect::<Vec<_>>(), [(&"surface-6".to_owned(), &vec![0, 1, 4])]);
        let notes = [
            "1 of the 2 faces of `surface-5` is not a face of tetrahedra: not kept",
            "the only face of `surface-6` is not a face of tetrahedra: it is kept as a set of its vertices",
            "regions without elements are not kept: nowhere",
        ];
        assert_eq!(loaded.notes, notes);
    }

    #[test]
    fn formats_with_one_number_per_face_report_what_each_set_keeps() {
        let Mesh::Volume(mesh) = cube_corner([0, 0]).finish(Path::new("m")).unwrap().mesh else { panic!() };
        let mut data = mesh.into_data();
        data.face_sets.insert("a".into(), vec![(0, 0), (0, 1), (1, 2)]);
        data.face_sets.insert("b".into(), vec![(0, 0), (1, 1)]);
        data.face_sets.insert("c".into(), vec![(0, 1), (1, 2)]);
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let expected = [
            "Medit numbers face sets: a is surface-1, b is surface-2",
            "Medit has one number per face, so that a face in several sets stays in the first alone: `b` keeps 1 of 2, `c` keeps 0 of 2",
        ];
        assert_eq!(lost_in_numbers("Medit", &mesh), expected);
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
