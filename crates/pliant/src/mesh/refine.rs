//! Uniform refinement: every element is split into eight.

use std::collections::{HashMap, HashSet};

use super::check::Change;
use super::faces::faces_of_parts;
use super::{EditError, ElementKind, MeshData, Sets, VolumeMesh};
use crate::math::Vec3;

/// New vertices at the midpoints of old ones, without duplicates.
struct Middles<'a> {
    mesh: &'a VolumeMesh,
    vertices: Vec<Vec3>,
    known: HashMap<[u32; 4], u32>,
    /// Old vertices whose centroid is each new one, padded with `NONE`.
    parents: Vec<[u32; 8]>,
}

const NONE: u32 = u32::MAX;

impl Middles<'_> {
    /// Returns the vertex at the centroid of `of`: the two ends of an edge, four corners of a face, or a whole element.
    fn of(&mut self, of: &[u32]) -> u32 {
        let new = self.vertices.len() as u32;
        let mut key = [NONE; 4];
        if of.len() <= 4 {
            key[..of.len()].copy_from_slice(of);
            key.sort_unstable();
            let known = *self.known.entry(key).or_insert(new);
            if known != new {
                return known;
            }
        }
        let sum: Vec3 = of.iter().map(|&v| self.mesh.vertices()[v as usize]).sum();
        self.vertices.push(sum / of.len() as f64);
        let mut parents = [NONE; 8];
        parents[..of.len()].copy_from_slice(of);
        self.parents.push(parents);
        new
    }
}

impl VolumeMesh {
    /// Splits each element into eight at the midpoints of its edges.
    ///
    /// Old vertices keep their numbers, and the children of element `e` are `8e` to `8e+7`, in its region and sets.
    /// Faces are split into four. A new vertex is in a set if all its parent vertices are; in a set of boundary
    /// vertices, it must also be on the boundary itself.
    ///
    /// Tetrahedra: four corners, and the octahedron between them split along its shortest diagonal \[Zhang1995\].
    pub fn refined(&self) -> Result<Self, EditError> {
        let mut middles =
            Middles { mesh: self, vertices: self.vertices().to_vec(), known: HashMap::new(), parents: Vec::new() };
        let mut elements = Vec::with_capacity(8 * self.connectivity().len());
        for nodes in self.elements() {
            match self.kind() {
                ElementKind::Tet4 => refine_tet(nodes, &mut middles, &mut elements),
                ElementKind::Hex8 => refine_hex(nodes, &mut middles, &mut elements),
            }
        }
        let children = |set: &[u32]| set.iter().flat_map(|e| 8 * e..8 * e + 8).collect();
        let vertex_sets = self.refined_vertex_sets(&middles.parents);
        let first_new = self.vertex_count();
        let face_sets =
            faces_of_parts(self, (self.kind(), &elements, 8), |v, face| match (v as usize).checked_sub(first_new) {
                None => face.contains(&v),
                Some(new) => middles.parents[new].iter().all(|parent| *parent == NONE || face.contains(parent)),
            });
        let data = MeshData {
            regions: self.regions().to_vec(),
            element_region: self.element_region().iter().flat_map(|&r| [r; 8]).collect(),
            vertex_sets,
            element_sets: self.element_sets().iter().map(|(k, v)| (k.clone(), children(v))).collect::<Sets>(),
            face_sets,
            ..MeshData::new(Vec::new(), self.kind(), elements)
        };
        let checked = Self::derive(data, middles.vertices.into(), Change::Geometry)?;
        // If the Jacobian of an element is positive everywhere, so is that of its children.
        match checked.report.flipped_elements.first() {
            None => Ok(checked.mesh),
            Some(&element) => Err(EditError::Folded { element: element / 8 }),
        }
    }

    fn refined_vertex_sets(&self, parents: &[[u32; 8]]) -> Sets {
        let mut sets = self.vertex_sets().clone();
        if sets.is_empty() {
            return sets;
        }
        let boundary = self.boundary();
        let mut on_boundary = vec![false; self.vertex_count()];
        boundary.vertices.iter().for_each(|&v| on_boundary[v as usize] = true);
        // Both ends of an edge may be on the boundary and its midpoint not, where the body is one element thick.
        let mut lines = HashSet::new();
        let mut quads = HashSet::new();
        for face in boundary.surface.faces().iter() {
            let mut corners = [NONE; 8];
            for (i, &v) in face.iter().enumerate() {
                let next = face[(i + 1) % face.len()];
                lines.insert(sorted([
                    boundary.vertices[v as usize],
                    boundary.vertices[next as usize],
                    NONE,
                    NONE,
                    NONE,
                    NONE,
                    NONE,
                    NONE,
                ]));
                corners[i] = boundary.vertices[v as usize];
            }
            quads.insert(sorted(corners));
        }
        let new_on_boundary: Vec<bool> =
            parents.iter().map(|&p| lines.contains(&sorted(p)) || quads.contains(&sorted(p))).collect();
        for set in sets.values_mut() {
            let mut member = vec![false; self.vertex_count()];
            set.iter().for_each(|&v| member[v as usize] = true);
            let only_boundary = set.len() < self.vertex_count() && set.iter().all(|&v| on_boundary[v as usize]);
            for (i, parents) in parents.iter().enumerate() {
                let all = parents.iter().filter(|&&v| v != NONE).all(|&v| member[v as usize]);
                if all && (!only_boundary || new_on_boundary[i]) {
                    set.push((self.vertex_count() + i) as u32);
                }
            }
        }
        sets
    }
}

fn sorted(mut vertices: [u32; 8]) -> [u32; 8] {
    vertices.sort_unstable();
    vertices
}

fn refine_tet(nodes: &[u32], middles: &mut Middles<'_>, elements: &mut Vec<u32>) {
    let [v0, v1, v2, v3] = [nodes[0], nodes[1], nodes[2], nodes[3]];
    let [m01, m02, m03, m12, m13, m23] =
        [[v0, v1], [v0, v2], [v0, v3], [v1, v2], [v1, v3], [v2, v3]].map(|edge| middles.of(&edge));
    elements.extend([v0, m01, m02, m03, m01, v1, m12, m13, m02, m12, v2, m23, m03, m13, m23, v3]);
    // Each diagonal of the octahedron with the ring of the other four vertices around it.
    let diagonals =
        [([m01, m23], [m02, m03, m13, m12]), ([m02, m13], [m03, m01, m12, m23]), ([m03, m12], [m01, m02, m23, m13])];
    let length = |[a, b]: [u32; 2]| middles.vertices[a as usize].distance_squared(middles.vertices[b as usize]);
    let shortest =
        (0..3).min_by(|&i, &j| length(diagonals[i].0).total_cmp(&length(diagonals[j].0))).unwrap_or_default();
    let ([a, b], ring) = diagonals[shortest];
    for i in 0..4 {
        elements.extend([a, b, ring[i], ring[(i + 1) % 4]]);
    }
}

fn refine_hex(nodes: &[u32], middles: &mut Middles<'_>, elements: &mut Vec<u32>) {
    // The 27 vertices of the 2×2×2 grid: entry (i, j, k) is at the centroid of the corners it lies between.
    const CORNER: [[usize; 3]; 8] =
        [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [0, 0, 2], [2, 0, 2], [2, 2, 2], [0, 2, 2]];
    let mut grid = [[[0_u32; 3]; 3]; 3];
    for (i, j, k) in (0..3).flat_map(|i| (0..3).flat_map(move |j| (0..3).map(move |k| (i, j, k)))) {
        let between = |corner: &[usize; 3]| corner.iter().zip([i, j, k]).all(|(&c, at)| at == 1 || at == c);
        let (mut around, mut count) = ([NONE; 8], 0);
        for c in (0..8).filter(|&c| between(&CORNER[c])) {
            around[count] = nodes[c];
            count += 1;
        }
        grid[i][j][k] = if count == 1 { around[0] } else { middles.of(&around[..count]) };
    }
    for child in CORNER {
        let [i, j, k] = child.map(|c| c / 2);
        elements.extend(CORNER.map(|c| grid[i + c[0] / 2][j + c[1] / 2][k + c[2] / 2]));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, generate};
    use super::*;

    #[test]
    fn refining_keeps_volume_surface_and_orientation() {
        for cells in [Cells::Hex, Cells::Tet5, Cells::Tet6] {
            let mut mesh = generate::block([1.0, 0.7, 1.3], [2, 1, 1], cells).unwrap();
            for _ in 0..2 {
                let fine = mesh.refined().unwrap();
                assert_eq!(fine.element_count(), 8 * mesh.element_count());
                assert!((fine.volume() - mesh.volume()).abs() < 1e-14);
                assert_eq!(fine.boundary().faces.len(), 4 * mesh.boundary().faces.len(), "children do not fit");
                assert!(fine.boundary().surface.report().is_closed());
                assert_eq!(fine.vertices()[..mesh.vertex_count()], *mesh.vertices());
                mesh = fine;
            }
        }
    }

    #[test]
    fn the_inside_of_a_body_one_element_thick_is_not_in_its_boundary_set() {
        for cells in [Cells::Hex, Cells::Tet6] {
            let mut data = generate::block([1.0; 3], [1, 1, 2], cells).unwrap().into_data();
            data.vertex_sets.clear();
            data.vertex_sets.insert("skin".into(), (0..12).filter(|&v| v != 5).collect());
            let fine = VolumeMesh::check(data).unwrap().mesh.refined().unwrap();
            let boundary = fine.boundary().vertices;
            assert!(fine.vertex_sets()["skin"].len() > 12);
            assert!(fine.vertex_sets()["skin"].iter().all(|v| boundary.contains(v)));
        }
    }

    #[test]
    fn shapes_do_not_degrade_when_refining_again() {
        let mut mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
        let mut shapes = Vec::new();
        for _ in 0..4 {
            mesh = mesh.refined().unwrap();
            shapes.push(mesh.quality().shape.min);
        }
        assert!((shapes[3] - shapes[1]).abs() < 1e-12, "{shapes:?}");
    }

    #[test]
    fn sets_and_regions_pass_to_children() {
        let mesh = generate::block([2.0, 1.0, 1.0], [2, 1, 1], Cells::Hex).unwrap();
        let mut data = mesh.into_data();
        data.element_sets.insert("second".into(), vec![1]);
        let fine = VolumeMesh::check(data).unwrap().mesh.refined().unwrap();
        assert_eq!(fine.element_sets()["second"], (8..16).collect::<Vec<_>>());
        let face = &fine.vertex_sets()["x-max"];
        assert_eq!(face.len(), 9);
        assert!(face.iter().all(|&v| fine.vertices()[v as usize].x == 2.0));
    }
}
