//! Faces of elements: named face sets, and lookup of faces by vertices or by name.

use std::collections::{BTreeMap, HashMap};

use super::polygon::area_vector;
use super::{ElementFace, ElementKind, Sets, VolumeMesh};
use crate::math::par_sum;

/// Named sets of faces, each face an element and the number of one of its sides, as [`ElementKind::faces`] orders them.
///
/// A face between two elements is the side of one of them and faces out of that one. Once checked, each set is sorted
/// and without duplicates.
pub type FaceSets = BTreeMap<String, Vec<ElementFace>>;

/// Marks the absent fourth vertex of a triangle.
const NONE: u32 = u32::MAX;

/// Face as a cycle of vertices: independent of direction and first vertex.
type Cycle = [u32; 4];

/// Returns the cycle of a triangle or quadrilateral, and true if it is traversed backward; `None` for other polygons.
fn cycle(polygon: &[u32]) -> Option<(Cycle, bool)> {
    let n = polygon.len();
    if !(3..=4).contains(&n) {
        return None;
    }
    let start = (0..n).min_by_key(|&i| polygon[i])?;
    let at = |i: usize| polygon[(start + i) % n];
    let backward = at(1) > at(n - 1);
    let vertex = |i: usize| if backward { at((n - i) % n) } else { at(i) };
    Some((std::array::from_fn(|i| if i < n { vertex(i) } else { NONE }), backward))
}

/// Returns the vertices of a side of an element, counter-clockwise seen from outside, padded with [`NONE`].
fn side_vertices(kind: ElementKind, nodes: &[u32], side: usize) -> (Cycle, usize) {
    let corners = kind.faces()[side];
    (std::array::from_fn(|i| corners.get(i).map_or(NONE, |&c| nodes[c])), corners.len())
}

/// Finds the side of an element that matches each polygon, `None` where the polygon is no face of an element.
///
/// Of the two sides of a face between elements, the one with the winding of the polygon is taken. Elements need not be
/// checked yet; incomplete elements are ignored.
pub fn find_faces<'a>(
    kind: ElementKind,
    elements: &[u32],
    vertex_count: usize,
    polygons: impl Iterator<Item = &'a [u32]> + Clone,
) -> Vec<Option<ElementFace>> {
    // For each cycle, the sides that traverse it forward and backward.
    let mut sides: HashMap<Cycle, [Option<ElementFace>; 2]> = HashMap::new();
    let mut used = vec![false; vertex_count];
    for polygon in polygons.clone().filter(|polygon| polygon.iter().all(|&v| (v as usize) < vertex_count)) {
        if let Some((cycle, _)) = cycle(polygon) {
            sides.entry(cycle).or_default();
            polygon.iter().for_each(|&v| used[v as usize] = true);
        }
    }
    let is_used = |v: u32| used.get(v as usize).copied().unwrap_or(false);
    for (element, nodes) in elements.chunks_exact(kind.nodes()).enumerate() {
        if sides.is_empty() || nodes.iter().filter(|&&v| is_used(v)).count() < 3 {
            continue;
        }
        for side in 0..kind.faces().len() {
            let (vertices, n) = side_vertices(kind, nodes, side);
            if !vertices[..n].iter().all(|&v| is_used(v)) {
                continue;
            }
            if let Some((cycle, backward)) = cycle(&vertices[..n])
                && let Some(found) = sides.get_mut(&cycle)
            {
                found[usize::from(backward)].get_or_insert((element as u32, side as u8));
            }
        }
    }
    let find = |polygon: &[u32]| {
        let (cycle, backward) = cycle(polygon)?;
        let found = sides.get(&cycle)?;
        found[usize::from(backward)].or(found[usize::from(!backward)])
    };
    polygons.map(find).collect()
}

/// Returns the sides that only one element has, sorted. Elements need not be checked yet, but must be complete.
#[cfg(feature = "formats")]
pub(crate) fn free_faces(kind: ElementKind, elements: &[u32]) -> Vec<ElementFace> {
    let mut sides: Vec<(Cycle, ElementFace)> = Vec::new();
    for (element, nodes) in elements.chunks_exact(kind.nodes()).enumerate() {
        for side in 0..kind.faces().len() {
            let (vertices, n) = side_vertices(kind, nodes, side);
            sides.extend(cycle(&vertices[..n]).map(|(cycle, _)| (cycle, (element as u32, side as u8))));
        }
    }
    sides.sort_unstable();
    let mut free: Vec<ElementFace> =
        sides.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0].1).collect();
    free.sort_unstable();
    free
}

/// Returns the number of faces that a set contains from both sides.
pub(super) fn two_sided(kind: ElementKind, elements: &[u32], faces: &[ElementFace]) -> usize {
    let mut cycles: Vec<Cycle> = faces
        .iter()
        .filter_map(|&(element, side)| {
            let nodes = &elements[element as usize * kind.nodes()..][..kind.nodes()];
            let (vertices, n) = side_vertices(kind, nodes, usize::from(side));
            cycle(&vertices[..n]).map(|(cycle, _)| cycle)
        })
        .collect();
    cycles.sort_unstable();
    cycles.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).count()
}

/// Returns the faces of the parts of each element that lie on its faces. Element `e` became `parts` elements, numbered
/// from `parts·e`.
///
/// `is_on` returns true if a vertex of a part lies on a face of its parent, given by the face's vertices.
pub(super) fn faces_of_parts(
    parent: &VolumeMesh,
    (kind, elements, parts): (ElementKind, &[u32], usize),
    is_on: impl Fn(u32, &[u32]) -> bool,
) -> FaceSets {
    let nodes = kind.nodes();
    let on_face = |&face: &ElementFace| -> Vec<ElementFace> {
        let around: Vec<u32> = parent.face_vertices(face).collect();
        let first = parts * face.0 as usize;
        let sides = (first..first + parts).flat_map(|part| (0..kind.faces().len()).map(move |side| (part, side)));
        let is_within = |&(part, side): &(usize, usize)| {
            let (vertices, n) = side_vertices(kind, &elements[part * nodes..][..nodes], side);
            vertices[..n].iter().all(|&v| is_on(v, &around))
        };
        sides.filter(is_within).map(|(part, side)| (part as u32, side as u8)).collect()
    };
    parent.face_sets().iter().map(|(name, set)| (name.clone(), set.iter().flat_map(on_face).collect())).collect()
}

impl VolumeMesh {
    /// Returns the named sets of faces, each sorted.
    pub fn face_sets(&self) -> &FaceSets {
        &self.face_sets
    }

    /// Returns the vertices of a face, counter-clockwise seen from outside its element.
    ///
    /// # Panics
    /// If there is no such element or side.
    pub fn face_vertices(&self, (element, side): ElementFace) -> impl Iterator<Item = u32> + Clone {
        let nodes = self.element(element as usize);
        self.kind().faces()[usize::from(side)].iter().map(|&corner| nodes[corner])
    }

    /// Finds the faces with these vertices, given in order around the face; `None` where no element has such a face.
    ///
    /// A face between two elements is attributed to the one for which the order is counter-clockwise seen from outside.
    pub fn find_faces<'a>(&self, polygons: impl Iterator<Item = &'a [u32]> + Clone) -> Vec<Option<ElementFace>> {
        find_faces(self.kind(), self.connectivity(), self.vertex_count(), polygons)
    }

    /// Returns the faces of the boundary whose vertices are all among those given, sorted.
    ///
    /// # Panics
    /// If a vertex does not exist.
    pub fn faces_within(&self, vertices: &[u32]) -> Vec<ElementFace> {
        let mut is_given = vec![false; self.vertex_count()];
        vertices.iter().for_each(|&v| is_given[v as usize] = true);
        let is_within = |&face: &ElementFace| self.face_vertices(face).all(|v| is_given[v as usize]);
        self.boundary().faces.into_iter().filter(is_within).collect()
    }

    /// Returns the faces that a name refers to: those of the face set of that name, if there is one. Otherwise, the
    /// boundary faces whose vertices are all in the vertex set of that name, or for `surface` and `all` the whole
    /// boundary. `None` if nothing has that name.
    pub fn faces_named(&self, name: &str) -> Option<Vec<ElementFace>> {
        if let Some(faces) = self.face_sets.get(name) {
            return Some(faces.clone());
        }
        match self.vertex_sets().get(name) {
            Some(vertices) => Some(self.faces_within(vertices)),
            None => matches!(name, "surface" | "all").then(|| self.boundary().faces),
        }
    }

    /// Returns the vertices of faces, sorted and without duplicates.
    ///
    /// # Panics
    /// If a face does not exist.
    pub fn vertices_of_faces(&self, faces: &[ElementFace]) -> Vec<u32> {
        let mut vertices: Vec<u32> = faces.iter().flat_map(|&face| self.face_vertices(face)).collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    /// Returns the named sets of vertices to choose from: the vertex sets, and for face sets of other names the
    /// vertices of their faces.
    pub fn named_vertices(&self) -> Sets {
        let mut sets = self.vertex_sets().clone();
        for (name, faces) in &self.face_sets {
            sets.entry(name.clone()).or_insert_with(|| self.vertices_of_faces(faces));
        }
        sets
    }

    /// Computes the total area of faces \[m²\].
    ///
    /// # Panics
    /// If a face does not exist.
    pub fn area_of_faces(&self, faces: &[ElementFace]) -> f64 {
        par_sum(0.0, faces.len(), |f| {
            let (vertices, n) = side_vertices(self.kind(), self.element(faces[f].0 as usize), usize::from(faces[f].1));
            0.5 * area_vector(&vertices[..n], self.vertices()).length()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, HexSplit, MeshData, Region, generate};
    use super::*;
    use crate::math::{Affine3, Mat3, Vec3};

    /// Builds a block whose `x-min` side, and the faces between its two regions, are face sets.
    fn block(cells: Cells) -> VolumeMesh {
        let mut data = generate::block([2.0, 1.0, 3.0], [2, 2, 2], cells).unwrap().into_data();
        let middle = |e: usize| {
            let nodes = data.kind.nodes();
            data.elements[e * nodes..][..nodes].iter().map(|&v| data.vertices[v as usize].x).sum::<f64>() / nodes as f64
        };
        let count = data.elements.len() / data.kind.nodes();
        data.regions = vec![Region::named("left"), Region::named("right")];
        data.element_region = (0..count).map(|e| u32::from(middle(e) > 1.0)).collect();
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let mut interface = Vec::new();
        for (element, _) in mesh.element_region().iter().enumerate().filter(|(_, region)| **region == 0) {
            for side in 0..mesh.kind().faces().len() {
                let face = (element as u32, side as u8);
                if mesh.face_vertices(face).all(|v| mesh.vertices()[v as usize].x == 1.0) {
                    interface.push(face);
                }
            }
        }
        let mut data: MeshData = mesh.into_data();
        data.face_sets.retain(|name, _| name == "x-min");
        data.face_sets.insert("interface".into(), interface);
        VolumeMesh::check(data).unwrap().mesh
    }

    fn area(mesh: &VolumeMesh, name: &str) -> f64 {
        mesh.area_of_faces(&mesh.face_sets()[name])
    }

    /// Sums the outward area vectors of a set.
    fn area_vector_of(mesh: &VolumeMesh, name: &str) -> Vec3 {
        let one = |&face: &ElementFace| {
            let corners: Vec<u32> = mesh.face_vertices(face).collect();
            0.5 * area_vector(&corners, mesh.vertices())
        };
        mesh.face_sets()[name].iter().map(one).sum()
    }

    #[test]
    fn every_operation_keeps_the_area_and_the_direction_of_face_sets() {
        for cells in [Cells::Hex, Cells::Tet5, Cells::Tet6] {
            let mesh = block(cells);
            let mut results = vec![
                mesh.refined().unwrap(),
                mesh.refined().unwrap().refined().unwrap(),
                mesh.renumbered().0,
                mesh.without_unused_vertices().unwrap().mesh,
                mesh.transformed(Affine3::from_translation(Vec3::splat(3.0))).unwrap(),
            ];
            if cells == Cells::Hex {
                results.extend([HexSplit::Five, HexSplit::Six].map(|split| mesh.split_hexes(split).unwrap()));
            }
            for result in &results {
                assert!(area_vector_of(result, "x-min").distance(-3.0 * Vec3::X) < 1e-13);
                assert!(area_vector_of(result, "interface").distance(3.0 * Vec3::X) < 1e-13);
                assert!((area(result, "x-min") - 3.0).abs() < 1e-13 && (area(result, "interface") - 3.0).abs() < 1e-13);
                let check = VolumeMesh::check(result.clone().into_data()).unwrap();
                assert_eq!(check.mesh, *result, "sets are sorted");
            }
            let mirror = Affine3::from_mat3(Mat3::from_diagonal(Vec3::new(-1.0, 1.0, 1.0)));
            let mirrored = mesh.transformed(mirror).unwrap();
            assert!(area_vector_of(&mirrored, "x-min").distance(3.0 * Vec3::X) < 1e-13);
            assert!(area_vector_of(&mirrored, "interface").distance(-3.0 * Vec3::X) < 1e-13);
            let merged = VolumeMesh::merge(&[("a", &mesh), ("b", &mirrored)]).unwrap();
            assert_eq!(merged.face_sets().len(), 4);
            assert!(area_vector_of(&merged, "a.x-min").distance(-3.0 * Vec3::X) < 1e-13);
            assert!(area_vector_of(&merged, "b.x-min").distance(3.0 * Vec3::X) < 1e-13);
        }
    }

    #[test]
    fn a_face_between_two_regions_is_there_in_both_when_they_are_taken_apart() {
        for cells in [Cells::Hex, Cells::Tet6] {
            let mesh = block(cells);
            let [left, right] = ["left", "right"].map(|name| mesh.extract_region(name).unwrap().mesh);
            assert!(area_vector_of(&left, "interface").distance(3.0 * Vec3::X) < 1e-13);
            assert!(area_vector_of(&right, "interface").distance(-3.0 * Vec3::X) < 1e-13);
            assert!(left.face_sets().contains_key("x-min") && !right.face_sets().contains_key("x-min"));
        }
    }

    #[test]
    fn faces_are_found_by_their_vertices_in_any_order_around() {
        let mesh = generate::block([1.0; 3], [2, 1, 1], Cells::Hex).unwrap();
        let between: Vec<u32> = mesh.face_vertices((0, 3)).collect();
        let mut turned = between.clone();
        turned.reverse();
        turned.rotate_left(1);
        let crossed = [between[0], between[2], between[1], between[3]];
        let polygons: [&[u32]; 6] = [&between, &turned, &crossed, &between[..3], &[0, 1, 99, 3], &[0, 1]];
        let found = mesh.find_faces(polygons.into_iter());
        assert_eq!(found, [Some((0, 3)), Some((1, 5)), None, None, None, None]);
    }

    #[test]
    fn a_face_set_wins_over_a_vertex_set_of_its_name_and_the_rest_is_as_before() {
        let mut data = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap().into_data();
        let (low, high) = (data.face_sets["z-min"].clone(), data.face_sets["z-max"].clone());
        data.vertex_sets.insert("both".into(), (0..8).collect());
        data.face_sets.insert("both".into(), low.iter().chain(&high).copied().collect());
        data.vertex_sets.insert("corners".into(), vec![0, 1, 2, 3]);
        data.face_sets.insert("lid".into(), high.clone());
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        assert_eq!(mesh.faces_named("both").unwrap(), [low[0], high[0]]);
        assert_eq!(mesh.faces_named("corners").unwrap(), low);
        assert_eq!(mesh.faces_named("surface").unwrap().len(), 6);
        assert_eq!(mesh.faces_named("nothing"), None);
        let sets = mesh.named_vertices();
        assert_eq!((&sets["lid"][..], sets["both"].len()), (&[4, 5, 6, 7][..], 8));
        assert!(!mesh.vertex_sets().contains_key("lid"));
    }
}
