//! Removal of tetrahedra where the boundary touches itself, and of specks.

use std::collections::HashSet;

use crate::math::Vec3;
use crate::mesh::Adjacency;

/// Vertices and tetrahedra that are not yet a mesh.
#[derive(Debug, Default)]
pub(super) struct Loose {
    pub vertices: Vec<Vec3>,
    /// True if a vertex may be on the boundary. It is true for all boundary vertices, and possibly for others.
    pub on_boundary: Vec<bool>,
    /// Tetrahedra of positive volume.
    pub tets: Vec<[u32; 4]>,
}

impl Loose {
    pub fn add_vertex(&mut self, place: Vec3, on_boundary: bool) -> u32 {
        self.vertices.push(place);
        self.on_boundary.push(on_boundary);
        self.vertices.len() as u32 - 1
    }

    /// Adds a tetrahedron, whose corners may be in either orientation.
    pub fn push(&mut self, mut tet: [u32; 4]) {
        if self.volume(tet) < 0.0 {
            tet.swap(2, 3);
        }
        self.tets.push(tet);
    }

    fn volume(&self, tet: [u32; 4]) -> f64 {
        let [a, b, c, d] = tet.map(|v| self.vertices[v as usize]);
        (b - a).dot((c - a).cross(d - a)) / 6.0
    }

    /// Keeps the tetrahedra for which `keep` returns true, and only the vertices that they use.
    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let mut index = 0;
        self.tets.retain(|_| {
            index += 1;
            keep(index - 1)
        });
        let mut number = vec![u32::MAX; self.vertices.len()];
        let (mut vertices, mut on_boundary) = (Vec::new(), Vec::new());
        for v in self.tets.as_flattened_mut() {
            let slot = &mut number[*v as usize];
            if *slot == u32::MAX {
                *slot = vertices.len() as u32;
                vertices.push(self.vertices[*v as usize]);
                on_boundary.push(self.on_boundary[*v as usize]);
            }
            *v = *slot;
        }
        (self.vertices, self.on_boundary) = (vertices, on_boundary);
    }
}

/// Removes tetrahedra until every boundary edge has two faces and every boundary vertex one ring of them. Then removes
/// pieces smaller than `speck`, except for the largest. Returns the numbers of removed tetrahedra and pieces.
pub(super) fn clean(loose: &mut Loose, speck: f64) -> (usize, usize) {
    let around = Adjacency::from_pairs(loose.vertices.len(), || {
        (0..).zip(&loose.tets).flat_map(|(t, tet)| tet.iter().map(move |&v| (v, t)))
    });
    let mut gone = vec![false; loose.tets.len()];
    loop {
        let faces = boundary(loose, &gone);
        let removed = remove_at_touching(loose, &around, &faces, &mut gone);
        if removed == 0 {
            // The flags now mark exactly the vertices of the boundary.
            loose.on_boundary.fill(false);
            for v in faces.as_flattened() {
                loose.on_boundary[*v as usize] = true;
            }
            break;
        }
    }
    let removed = gone.iter().filter(|gone| **gone).count();
    let specks = remove_specks(loose, &mut gone, speck);
    loose.retain(|t| !gone[t]);
    (removed, specks)
}

/// Faces of a tetrahedron, each opposite to the vertex of the same number.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Returns the faces with a tetrahedron on one side only, with their vertices sorted.
fn boundary(loose: &Loose, gone: &[bool]) -> Vec<[u32; 3]> {
    let mut faces = Vec::new();
    for (tet, _) in loose.tets.iter().zip(gone).filter(|(_, gone)| !**gone) {
        for face in FACES {
            let mut face = face.map(|i| tet[i]);
            if face.iter().all(|&v| loose.on_boundary[v as usize]) {
                face.sort_unstable();
                faces.push(face);
            }
        }
    }
    faces.sort_unstable();
    faces.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).map(|same| same[0]).collect()
}

/// Keeps only the largest connected group of tetrahedra around each place where the boundary touches itself. Returns
/// the number of removed tetrahedra.
fn remove_at_touching(loose: &mut Loose, around: &Adjacency, faces: &[[u32; 3]], gone: &mut [bool]) -> usize {
    let mut edges: Vec<[u32; 2]> = faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [a, c]]).collect();
    edges.sort_unstable();
    let touching_edges: Vec<[u32; 2]> =
        edges.chunk_by(|a, b| a == b).filter(|same| same.len() != 2).map(|same| same[0]).collect();
    let mut removed = 0;
    for [a, b] in touching_edges {
        let near: Vec<u32> = around
            .of(a as usize)
            .iter()
            .copied()
            .filter(|&t| !gone[t as usize] && loose.tets[t as usize].contains(&b))
            .collect();
        removed += leave_largest(loose, &near, &[a, b], gone);
    }
    if removed > 0 {
        return removed;
    }
    // All edges are manifold. Next are the vertices, each with its opposite edges.
    let mut removed_now: HashSet<u32> = HashSet::new();
    let mut rings: Vec<(u32, [u32; 2])> =
        faces.iter().flat_map(|&[a, b, c]| [(a, [b, c]), (b, [a, c]), (c, [a, b])]).collect();
    rings.sort_unstable();
    for ring in rings.chunk_by(|a, b| a.0 == b.0) {
        let vertex = ring[0].0;
        // Where tetrahedra were removed in this pass, the rings are out of date: the next pass decides.
        let changed = around.of(vertex as usize).iter().any(|t| removed_now.contains(t));
        if changed || is_one_ring(ring) {
            continue;
        }
        let near: Vec<u32> = around.of(vertex as usize).iter().copied().filter(|&t| !gone[t as usize]).collect();
        if leave_largest(loose, &near, &[vertex], gone) == 0 {
            // They are connected around a hole to the other side: two cavities meet at the vertex.
            near.iter().for_each(|&t| remove(loose, t, gone));
        }
        removed_now.extend(near.iter().filter(|&&t| gone[t as usize]));
    }
    removed_now.len()
}

/// Returns true if the edges form a single closed ring.
fn is_one_ring(ring: &[(u32, [u32; 2])]) -> bool {
    let (mut at, mut last) = (ring[0].1[1], 0);
    let mut steps = 1;
    while at != ring[0].1[0] {
        let next = ring.iter().enumerate().find(|(i, (_, edge))| *i != last && edge.contains(&at));
        let Some((index, (_, [a, b]))) = next else { return false };
        (at, last) = (if *a == at { *b } else { *a }, index);
        steps += 1;
        if steps > ring.len() {
            return false;
        }
    }
    steps == ring.len()
}

/// Groups tetrahedra connected by faces that contain all of `common`, and removes all groups except for the largest.
/// Returns the number of removed tetrahedra.
fn leave_largest(loose: &mut Loose, near: &[u32], common: &[u32], gone: &mut [bool]) -> usize {
    let mut group = vec![usize::MAX; near.len()];
    let mut sizes = Vec::new();
    for start in 0..near.len() {
        if group[start] != usize::MAX {
            continue;
        }
        let number = sizes.len();
        let mut volume = 0.0;
        let mut stack = vec![start];
        group[start] = number;
        while let Some(i) = stack.pop() {
            let tet = loose.tets[near[i] as usize];
            volume += loose.volume(tet);
            for j in 0..near.len() {
                let other = loose.tets[near[j] as usize];
                let shared = || tet.iter().filter(|v| other.contains(v)).count();
                if group[j] == usize::MAX && shared() == 3 {
                    debug_assert!(common.iter().all(|v| tet.contains(v) && other.contains(v)));
                    group[j] = number;
                    stack.push(j);
                }
            }
        }
        sizes.push(volume);
    }
    let largest = (0..sizes.len()).max_by(|&a, &b| sizes[a].total_cmp(&sizes[b]).then(b.cmp(&a)));
    let mut removed = 0;
    for (i, &t) in near.iter().enumerate() {
        if Some(group[i]) != largest {
            remove(loose, t, gone);
            removed += 1;
        }
    }
    removed
}

/// Removes a tetrahedron, whose vertices may then be on the boundary.
fn remove(loose: &mut Loose, tet: u32, gone: &mut [bool]) {
    gone[tet as usize] = true;
    for v in loose.tets[tet as usize] {
        loose.on_boundary[v as usize] = true;
    }
}

/// Removes pieces smaller than `speck`, except for the largest of all. Returns their number.
fn remove_specks(loose: &Loose, gone: &mut [bool], speck: f64) -> usize {
    // Union-find forest: every vertex points to another of its piece, the root to itself.
    let mut parent: Vec<u32> = (0..loose.vertices.len() as u32).collect();
    let root = |parent: &mut Vec<u32>, mut v: u32| {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    };
    for (tet, _) in loose.tets.iter().zip(&*gone).filter(|(_, gone)| !**gone) {
        for &v in &tet[1..] {
            let (one, other) = (root(&mut parent, tet[0]), root(&mut parent, v));
            parent[one.max(other) as usize] = one.min(other);
        }
    }
    let roots: Vec<u32> = (0..loose.vertices.len() as u32).map(|v| root(&mut parent, v)).collect();
    let mut volumes = vec![0.0; loose.vertices.len()];
    for (&tet, _) in loose.tets.iter().zip(&*gone).filter(|(_, gone)| !**gone) {
        volumes[roots[tet[0] as usize] as usize] += loose.volume(tet);
    }
    let largest = volumes.iter().copied().fold(0.0, f64::max);
    let is_speck = |root: u32| volumes[root as usize] < speck.min(largest);
    for (tet, gone) in loose.tets.iter().zip(gone) {
        *gone |= is_speck(roots[tet[0] as usize]);
    }
    volumes.iter().filter(|&&volume| volume > 0.0 && volume < speck.min(largest)).count()
}
