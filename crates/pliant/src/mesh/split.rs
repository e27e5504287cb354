//! Splitting of hexahedra into tetrahedra that conform across element boundaries.

use thiserror::Error;

use super::check::Change;
use super::faces::faces_of_parts;
use super::{Defect, ElementKind, MeshData, MeshError, Sets, VolumeMesh};

/// Number of tetrahedra per hexahedron.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HexSplit {
    /// Large tetrahedron in the center and four at the corners. Neighbors must alternate, which requires that the graph
    /// of edges is bipartite; that of a grid always is.
    Five,
    /// Fan around the vertex with the lowest number, each face cut at its vertex with the lowest number
    /// \[Dompierre1999\]. Conforms on any mesh; on a grid it is Kuhn's subdivision.
    Six,
}

impl HexSplit {
    const fn tets(self) -> usize {
        match self {
            Self::Five => 5,
            Self::Six => 6,
        }
    }
}

/// Reason why hexahedra could not be split.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum SplitError {
    #[error("only hexahedra can be split, and this mesh has tetrahedra")]
    NotHexahedra,
    #[error(
        "five tetrahedra per hexahedron do not conform: a cycle of edges through vertex {vertex} has odd length; use six"
    )]
    OddRing { vertex: u32 },
    #[error("hexahedron {element} is too warped to be split into {tets} tetrahedra; try {other}", other = if *tets == 5 { "six" } else { "five" })]
    Warped { element: u32, tets: usize },
    #[error(transparent)]
    Mesh(MeshError),
}

/// Five tetrahedra of a hexahedron; corners 0, 2, 5 and 7 form the central one.
const FIVE: [[usize; 4]; 5] = [[0, 2, 7, 5], [1, 2, 0, 5], [3, 0, 2, 7], [4, 7, 5, 0], [6, 2, 5, 7]];

/// Quarter turn, which exchanges corners 0, 2, 5, 7 with the others.
const QUARTER_TURN: [usize; 8] = [1, 2, 3, 0, 5, 6, 7, 4];

impl VolumeMesh {
    /// Splits the hexahedra into tetrahedra, those of hexahedron 0 first. Vertices are unchanged. Regions, element sets
    /// and face sets are those of the hexahedra.
    pub fn split_hexes(&self, split: HexSplit) -> Result<Self, SplitError> {
        if self.kind() != ElementKind::Hex8 {
            return Err(SplitError::NotHexahedra);
        }
        let each = split.tets();
        let mut tets: Vec<u32> = Vec::with_capacity(4 * each * self.element_count());
        match split {
            HexSplit::Five => {
                let white = self.two_coloring()?;
                for hex in self.elements() {
                    let turned = white[hex[0] as usize];
                    let corner = |i: usize| if turned { hex[QUARTER_TURN[i]] } else { hex[i] };
                    tets.extend(FIVE.as_flattened().iter().map(|&i| corner(i)));
                }
            }
            HexSplit::Six => self.elements().for_each(|hex| fan(hex, &mut tets)),
        }
        let children =
            |set: &[u32]| set.iter().flat_map(|e| (0..each as u32).map(move |i| e * each as u32 + i)).collect();
        let face_sets = faces_of_parts(self, (ElementKind::Tet4, &tets, each), |v, face| face.contains(&v));
        let data = MeshData {
            regions: self.regions().to_vec(),
            element_region: self.element_region().iter().flat_map(|&r| std::iter::repeat_n(r, each)).collect(),
            vertex_sets: self.vertex_sets().clone(),
            element_sets: self.element_sets().iter().map(|(k, v)| (k.clone(), children(v))).collect::<Sets>(),
            face_sets,
            ..MeshData::new(Vec::new(), ElementKind::Tet4, tets)
        };
        let warped = |element: u32| SplitError::Warped { element: element / each as u32, tets: each };
        let derived = Self::derive(data, self.shared_vertices().clone(), Change::Geometry);
        let checked = derived.map_err(|error| match error.defects[0] {
            Defect::NoVolume { element, .. } => warped(element),
            _ => SplitError::Mesh(error),
        })?;
        // A tetrahedron that had to be reversed was inverted by a warped face.
        match checked.report.flipped_elements.first() {
            Some(&element) => Err(warped(element)),
            None => Ok(checked.mesh),
        }
    }

    /// Colors vertices so that the two ends of every edge differ: false for the first vertex of each component.
    fn two_coloring(&self) -> Result<Vec<bool>, SplitError> {
        let neighbors = self.vertex_neighbors();
        let mut color: Vec<Option<bool>> = vec![None; self.vertex_count()];
        let mut stack = Vec::new();
        for start in 0..self.vertex_count() as u32 {
            if color[start as usize].is_some() {
                continue;
            }
            color[start as usize] = Some(false);
            stack.push((start, false));
            while let Some((v, white)) = stack.pop() {
                for &w in neighbors.of(v as usize) {
                    match color[w as usize] {
                        None => {
                            color[w as usize] = Some(!white);
                            stack.push((w, !white));
                        }
                        Some(other) if other == white => return Err(SplitError::OddRing { vertex: w }),
                        Some(_) => {}
                    }
                }
            }
        }
        Ok(color.into_iter().map(Option::unwrap_or_default).collect())
    }
}

/// Joins the vertex with the lowest number to the triangles of the three faces that do not contain it. The faces that
/// do are thereby cut at that vertex, so both sides of every face agree.
fn fan(hex: &[u32], tets: &mut Vec<u32>) {
    let apex = hex.iter().copied().min().unwrap_or_default();
    for face in ElementKind::Hex8.faces() {
        let mut face: [u32; 4] = std::array::from_fn(|i| hex[face[i]]);
        if face.contains(&apex) {
            continue;
        }
        let smallest = (0..4).min_by_key(|&i| face[i]).unwrap_or_default();
        face.rotate_left(smallest);
        let [a, b, c, d] = face;
        tets.extend([apex, a, b, c, apex, a, c, d]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, generate};
    use super::*;
    use crate::math::Vec3;

    /// Builds a grid whose vertices are numbered at random and perturbed.
    fn shuffled_grid(seed: u64) -> VolumeMesh {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut data = generate::block([3.0, 3.0, 3.0], [3, 3, 3], Cells::Hex).unwrap().into_data();
        let mut new: Vec<u32> = (0..data.vertices.len() as u32).collect();
        rng.shuffle(&mut new);
        let mut vertices = vec![Vec3::ZERO; new.len()];
        for (old, &n) in new.iter().enumerate() {
            vertices[n as usize] = data.vertices[old] + 0.1 * Vec3::new(rng.f64(), rng.f64(), rng.f64());
        }
        data.vertices = vertices;
        data.elements.iter_mut().for_each(|v| *v = new[*v as usize]);
        data.vertex_sets.clear();
        data.element_sets.insert("some".into(), vec![2, 5]);
        VolumeMesh::check(data).unwrap().mesh
    }

    #[test]
    fn both_splits_conform_for_any_numbering() {
        for seed in 0..20 {
            let hexes = shuffled_grid(seed);
            for split in [HexSplit::Five, HexSplit::Six] {
                let tets = hexes.split_hexes(split).unwrap();
                assert_eq!(tets.element_count(), 27 * split.tets());
                let boundary = tets.boundary();
                assert_eq!(boundary.faces.len(), 6 * 9 * 2, "a face that does not fit would be boundary");
                assert!(boundary.overlapping_faces.is_empty() && boundary.surface.report().is_closed());
                assert_eq!(tets.element_sets()["some"].len(), 2 * split.tets());
            }
        }
    }

    #[test]
    fn a_grid_keeps_its_volume_exactly() {
        let hexes = generate::block([1.0, 2.0, 0.5], [3, 2, 5], Cells::Hex).unwrap();
        for split in [HexSplit::Five, HexSplit::Six] {
            assert!((hexes.split_hexes(split).unwrap().volume() - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn an_odd_ring_takes_six_but_not_five() {
        let ring = generate::torus(1.0, 0.3, 3, 7, Cells::Hex).unwrap();
        assert!(matches!(ring.split_hexes(HexSplit::Five), Err(SplitError::OddRing { .. })));
        let tets = ring.split_hexes(HexSplit::Six).unwrap();
        assert!(tets.boundary().surface.report().is_closed());
    }

    #[test]
    fn a_hexahedron_too_warped_to_cut_is_named() {
        let mut data = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap().into_data();
        // Found by a random search: the Jacobian is positive everywhere, but faces are too curved for the fan.
        data.vertices = [
            [0.37, 0.20, -0.30],
            [0.78, 0.15, 0.36],
            [-0.39, 0.64, 0.22],
            [1.12, 1.17, -0.33],
            [0.07, -0.33, 0.72],
            [0.62, 0.38, 1.00],
            [-0.07, 1.08, 0.66],
            [0.72, 0.85, 0.62],
        ]
        .map(Vec3::from)
        .to_vec();
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        assert_eq!(mesh.split_hexes(HexSplit::Six), Err(SplitError::Warped { element: 0, tets: 6 }));
        assert_eq!(mesh.split_hexes(HexSplit::Five).unwrap().split_hexes(HexSplit::Six), Err(SplitError::NotHexahedra));
    }
}
