//! Mesh topology: elements of vertices, edges, faces, connected components.

use rayon::prelude::*;

use super::VolumeMesh;

/// Lists of numbers for each of `n` keys, in compressed row storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adjacency {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Adjacency {
    /// Groups `(key, item)` pairs by key, each list in the order of the pairs. `pairs` is iterated over twice.
    pub fn from_pairs<I: Iterator<Item = (u32, u32)>>(keys: usize, pairs: impl Fn() -> I) -> Self {
        let mut offsets = vec![0_u32; keys + 1];
        for (key, _) in pairs() {
            offsets[key as usize + 1] += 1;
        }
        for k in 0..keys {
            offsets[k + 1] += offsets[k];
        }
        let mut next = offsets.clone();
        let mut items = vec![0; offsets[keys] as usize];
        for (key, item) in pairs() {
            let slot = &mut next[key as usize];
            items[*slot as usize] = item;
            *slot += 1;
        }
        Self { offsets, items }
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns true if there are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the offset of each list in [`items`](Self::items), followed by the total length.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Returns all lists, one after the other.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// Returns the list of `key`.
    ///
    /// # Panics
    /// If `key` is not below [`len`](Self::len).
    pub fn of(&self, key: usize) -> &[u32] {
        &self.items[self.offsets[key] as usize..self.offsets[key + 1] as usize]
    }
}

impl VolumeMesh {
    /// Returns the elements around each vertex, in ascending order.
    pub fn vertex_elements(&self) -> Adjacency {
        Adjacency::from_pairs(self.vertex_count(), || {
            self.elements().enumerate().flat_map(|(e, nodes)| nodes.iter().map(move |&v| (v, e as u32)))
        })
    }

    /// Returns every edge once, as `[a, b]` with `a < b`, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .elements()
            .flat_map(|nodes| {
                self.kind().edges().iter().map(|&[i, j]| {
                    let (a, b) = (nodes[i], nodes[j]);
                    [a.min(b), a.max(b)]
                })
            })
            .collect();
        edges.par_sort_unstable();
        edges.dedup();
        edges
    }

    /// Returns the vertices that share an edge with each vertex, in ascending order.
    pub fn vertex_neighbors(&self) -> Adjacency {
        let edges = self.edges();
        // Sorted edges give each vertex first its smaller neighbors, then its larger ones, each ascending.
        let backward = edges.iter().map(|&[a, b]| (b, a));
        let forward = edges.iter().map(|&[a, b]| (a, b));
        Adjacency::from_pairs(self.vertex_count(), || backward.clone().chain(forward.clone()))
    }

    /// Returns the connected component of each element, and the number of components.
    ///
    /// Elements are connected if they share a vertex. Components are numbered by their first element.
    pub fn components(&self) -> (Vec<u32>, usize) {
        const UNSEEN: u32 = u32::MAX;
        let mut parent: Vec<u32> = (0..self.vertex_count() as u32).collect();
        for nodes in self.elements() {
            let root = find(&mut parent, nodes[0]);
            for &v in &nodes[1..] {
                let other = find(&mut parent, v);
                parent[other as usize] = root;
            }
        }
        let mut number = vec![UNSEEN; self.vertex_count()];
        let mut count = 0;
        let component = self
            .elements()
            .map(|nodes| {
                let root = find(&mut parent, nodes[0]) as usize;
                if number[root] == UNSEEN {
                    number[root] = count;
                    count += 1;
                }
                number[root]
            })
            .collect();
        (component, count as usize)
    }
}

/// Finds the root of `v` in a union-find forest, with path halving.
fn find(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        parent[v as usize] = parent[parent[v as usize] as usize];
        v = parent[v as usize];
    }
    v
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, generate};
    use super::*;

    #[test]
    fn a_block_of_hexes_has_the_edges_of_a_grid() {
        let mesh = generate::block([1.0, 1.0, 1.0], [2, 3, 4], Cells::Hex).unwrap();
        assert_eq!(mesh.edges().len(), 2 * 4 * 5 + 3 * 3 * 5 + 4 * 3 * 4);
        let neighbors = mesh.vertex_neighbors();
        let elements = mesh.vertex_elements();
        let degree = |adjacency: &Adjacency| (0..adjacency.len()).map(|v| adjacency.of(v).len()).max();
        assert_eq!((degree(&neighbors), degree(&elements)), (Some(6), Some(8)));
        for v in 0..mesh.vertex_count() {
            assert!(neighbors.of(v).is_sorted());
            assert!(elements.of(v).iter().all(|&e| mesh.element(e as usize).contains(&(v as u32))));
        }
    }

    #[test]
    fn two_separate_blocks_are_two_components() {
        let a = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
        let b = a.transformed(crate::math::Affine3::from_translation(glam::DVec3::X * 3.0)).unwrap();
        let both = VolumeMesh::merge(&[("a", &a), ("b", &b)]).unwrap();
        let (component, count) = both.components();
        assert_eq!(count, 2);
        assert_eq!(component, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        assert_eq!(a.components().1, 1);
    }
}
