//! Renumbering of meshes for memory locality.

use super::topology::Adjacency;
use super::{ElementFace, FaceSets, Sets, VolumeMesh};

/// Permutation of a renumbered mesh, to report results under the user's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renumbering {
    /// Old number of each new vertex.
    pub vertices: Vec<u32>,
    /// Old number of each new element.
    pub elements: Vec<u32>,
}

impl Renumbering {
    /// Permutes vertex values from the old order to the new.
    ///
    /// # Panics
    /// If there is not one value per vertex.
    pub fn vertices_to_new<T: Copy>(&self, old: &[T]) -> Vec<T> {
        gather(old, &self.vertices)
    }

    /// Permutes vertex values from the new order back to the old.
    ///
    /// # Panics
    /// If there is not one value per vertex.
    pub fn vertices_to_old<T: Copy + Default>(&self, new: &[T]) -> Vec<T> {
        scatter(new, &self.vertices)
    }

    /// Permutes element values from the old order to the new.
    ///
    /// # Panics
    /// If there is not one value per element.
    pub fn elements_to_new<T: Copy>(&self, old: &[T]) -> Vec<T> {
        gather(old, &self.elements)
    }

    /// Permutes element values from the new order back to the old.
    ///
    /// # Panics
    /// If there is not one value per element.
    pub fn elements_to_old<T: Copy + Default>(&self, new: &[T]) -> Vec<T> {
        scatter(new, &self.elements)
    }
}

fn gather<T: Copy>(old: &[T], order: &[u32]) -> Vec<T> {
    assert_eq!(old.len(), order.len(), "expected one value per item");
    order.iter().map(|&i| old[i as usize]).collect()
}

fn scatter<T: Copy + Default>(new: &[T], order: &[u32]) -> Vec<T> {
    assert_eq!(new.len(), order.len(), "expected one value per item");
    let mut old = vec![T::default(); new.len()];
    for (&value, &i) in new.iter().zip(order) {
        old[i as usize] = value;
    }
    old
}

/// Returns the inverse permutation: `inverse[order[i]] = i`.
fn inverse(order: &[u32]) -> Vec<u32> {
    scatter(&(0..order.len() as u32).collect::<Vec<_>>(), order)
}

impl VolumeMesh {
    /// Returns the mesh with vertices in reverse Cuthill–McKee order \[George1971\], which keeps the two ends of an
    /// edge close. Elements are in the order of their first vertex.
    pub fn renumbered(&self) -> (Self, Renumbering) {
        let vertices = reverse_cuthill_mckee(&self.vertex_neighbors());
        let new_vertex = inverse(&vertices);
        let corners: Vec<u32> = self.connectivity().iter().map(|&v| new_vertex[v as usize]).collect();
        let nodes = self.kind().nodes();
        let first = |e: u32| corners[e as usize * nodes..][..nodes].iter().min().copied();
        let mut elements: Vec<u32> = (0..self.element_count() as u32).collect();
        elements.sort_by_key(|&e| first(e));
        let new_element = inverse(&elements);
        let renamed = |sets: &Sets, new: &[u32]| -> Sets {
            let members = |set: &[u32]| {
                let mut members: Vec<u32> = set.iter().map(|&i| new[i as usize]).collect();
                members.sort_unstable();
                members
            };
            sets.iter().map(|(name, set)| (name.clone(), members(set))).collect()
        };
        let renumbering = Renumbering { vertices, elements };
        let face = |&(element, side): &ElementFace| (new_element[element as usize], side);
        let mut face_sets: FaceSets =
            self.face_sets().iter().map(|(name, set)| (name.clone(), set.iter().map(face).collect())).collect();
        face_sets.values_mut().for_each(|set| set.sort_unstable());
        // A permutation of a checked mesh needs no second check.
        let mesh = Self {
            vertices: renumbering.vertices_to_new(self.vertices()).into(),
            kind: self.kind(),
            elements: renumbering
                .elements
                .iter()
                .flat_map(|&e| &corners[e as usize * nodes..][..nodes])
                .copied()
                .collect(),
            regions: self.regions().to_vec(),
            element_region: renumbering.elements_to_new(self.element_region()),
            vertex_sets: renamed(self.vertex_sets(), &new_vertex),
            element_sets: renamed(self.element_sets(), &new_element),
            face_sets,
        };
        (mesh, renumbering)
    }

    /// Returns the maximum difference between the numbers of two vertices that share an edge.
    pub fn bandwidth(&self) -> u32 {
        self.edges().iter().map(|[a, b]| b - a).max().unwrap_or(0)
    }
}

fn reverse_cuthill_mckee(graph: &Adjacency) -> Vec<u32> {
    let degree = |v: u32| graph.of(v as usize).len();
    let mut by_degree: Vec<u32> = (0..graph.len() as u32).collect();
    by_degree.sort_by_key(|&v| degree(v));
    let mut order = Vec::with_capacity(graph.len());
    let mut seen = vec![false; graph.len()];
    for &start in &by_degree {
        if seen[start as usize] {
            continue;
        }
        let mut at = order.len();
        let peripheral = far_end(graph, start);
        seen[peripheral as usize] = true;
        order.push(peripheral);
        while at < order.len() {
            let next = order.len();
            for &w in graph.of(order[at] as usize) {
                if !std::mem::replace(&mut seen[w as usize], true) {
                    order.push(w);
                }
            }
            order[next..].sort_by_key(|&v| degree(v));
            at += 1;
        }
    }
    order.reverse();
    order
}

/// Finds a pseudo-peripheral vertex: moves to the far side until the distance stops growing \[Gibbs1976\].
fn far_end(graph: &Adjacency, start: u32) -> u32 {
    let (mut vertex, (mut depth, mut candidate)) = (start, last_level(graph, start));
    loop {
        let (new_depth, new_candidate) = last_level(graph, candidate);
        if new_depth <= depth {
            return vertex;
        }
        (vertex, depth, candidate) = (candidate, new_depth, new_candidate);
    }
}

/// Returns the number of levels of a breadth-first search from `start`, and the vertex of minimum degree in the last.
fn last_level(graph: &Adjacency, start: u32) -> (usize, u32) {
    let mut seen = std::collections::HashSet::new();
    seen.insert(start);
    let (mut level, mut depth) = (vec![start], 0);
    loop {
        let mut next = Vec::new();
        for &v in &level {
            next.extend(graph.of(v as usize).iter().copied().filter(|&w| seen.insert(w)));
        }
        if next.is_empty() {
            let min = level.iter().copied().min_by_key(|&v| graph.of(v as usize).len());
            return (depth, min.unwrap_or(start));
        }
        (level, depth) = (next, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, generate};
    use super::*;

    /// Builds a bar whose vertices and elements are in random order.
    fn shuffled_bar() -> VolumeMesh {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut data = generate::block([8.0, 1.0, 1.0], [32, 4, 4], Cells::Tet5).unwrap().into_data();
        let mut new: Vec<u32> = (0..data.vertices.len() as u32).collect();
        rng.shuffle(&mut new);
        data.vertices = scatter(&data.vertices, &new);
        data.elements.iter_mut().for_each(|v| *v = new[*v as usize]);
        data.vertex_sets.values_mut().flatten().for_each(|v| *v = new[*v as usize]);
        data.vertices.push(crate::math::Vec3::splat(9.0));
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let mut elements: Vec<u32> = (0..mesh.element_count() as u32).collect();
        rng.shuffle(&mut elements);
        let mut data = mesh.clone().into_data();
        data.elements = elements.iter().flat_map(|&e| mesh.element(e as usize)).copied().collect();
        data.element_sets.insert("odd".into(), (0..elements.len() as u32).filter(|e| e % 2 == 1).collect());
        VolumeMesh::check(data).unwrap().mesh
    }

    #[test]
    fn bandwidth_of_a_shuffled_bar_shrinks_to_a_few_layers() {
        let mesh = shuffled_bar();
        let (renumbered, _) = mesh.renumbered();
        assert!(mesh.bandwidth() > 500 && renumbered.bandwidth() <= 3 * 25, "{}", renumbered.bandwidth());
    }

    #[test]
    fn values_go_there_and_back_and_sets_follow() {
        let mesh = shuffled_bar();
        let (new, map) = mesh.renumbered();
        assert_eq!(map.vertices_to_old(new.vertices()), mesh.vertices());
        assert_eq!(map.vertices_to_new(mesh.vertices()), new.vertices());
        let mut seen: Vec<u32> = map.vertices.clone();
        seen.sort_unstable();
        assert_eq!(seen, (0..mesh.vertex_count() as u32).collect::<Vec<_>>());
        for (e, &old) in map.elements.iter().enumerate() {
            let back: Vec<u32> = new.element(e).iter().map(|&v| map.vertices[v as usize]).collect();
            assert_eq!(back, mesh.element(old as usize));
        }
        assert!(new.vertex_sets()["x-max"].iter().all(|&v| new.vertices()[v as usize].x == 8.0));
        let old_odd: Vec<u32> = new.element_sets()["odd"].iter().map(|&e| map.elements[e as usize]).collect();
        assert!(old_odd.iter().all(|e| e % 2 == 1));
        let volumes: Vec<f64> = (0..new.element_count()).map(|e| new.element_volume(e)).collect();
        let back = map.elements_to_old(&volumes);
        assert!((0..mesh.element_count()).all(|e| back[e] == mesh.element_volume(e)));
        assert_eq!(map.elements_to_new(&back), volumes);
    }
}
