//! Islands: groups of nodes that move independently of each other in a Newton step.

use super::surface::CollisionSurface;
use crate::sparse::BlockPattern;

/// Groups of nodes that are coupled with each other, by elements and other forces.
///
/// Bodies that do not meet are independent minimizations: a fast one does not shorten the steps of the others.
#[derive(Debug, Clone)]
pub struct Islands {
    /// Parent of each node in a forest; roots are their own parents.
    parents: Vec<u32>,
}

impl Islands {
    /// Creates islands of single nodes.
    pub fn new(node_count: usize) -> Self {
        Self { parents: (0..node_count as u32).collect() }
    }

    /// Joins nodes.
    pub fn join(&mut self, nodes: &[u32]) {
        for pair in nodes.windows(2) {
            let (a, b) = (self.root(pair[0]), self.root(pair[1]));
            // The smaller number wins, so that the result does not depend on the order.
            self.parents[a.max(b) as usize] = a.min(b);
        }
    }

    /// Joins the nodes that a pattern couples.
    pub fn join_pattern(&mut self, pattern: &BlockPattern) {
        for row in 0..pattern.node_count() {
            for slot in pattern.row(row) {
                self.join(&[row as u32, pattern.columns()[slot]]);
            }
        }
    }

    fn root(&mut self, node: u32) -> u32 {
        let mut root = node;
        while self.parents[root as usize] != root {
            root = self.parents[root as usize];
        }
        let mut node = node;
        while self.parents[node as usize] != root {
            node = std::mem::replace(&mut self.parents[node as usize], root);
        }
        root
    }

    /// Joins the islands of bodies that may meet, each given by a vertex of either.
    pub(super) fn joined(&self, pairs: impl Iterator<Item = [u32; 2]>, surface: &CollisionSurface) -> Limits {
        let mut islands = self.clone();
        for pair in pairs {
            if let [Some((a, _)), Some((b, _))] = pair.map(|vertex| surface.nodes(vertex).next()) {
                islands.join(&[a, b]);
            }
        }
        Limits { fractions: vec![1.0; self.parents.len()], islands }
    }
}

/// Fraction of a motion for each island.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    islands: Islands,
    /// Fraction at the root of each island.
    fractions: Vec<f64>,
}

impl Limits {
    /// Limits the motion of the islands of vertices.
    pub fn limit(&mut self, vertices: &[u32], fraction: f64, surface: &CollisionSurface) {
        for &vertex in vertices {
            if let Some((node, _)) = surface.nodes(vertex).next() {
                let root = self.islands.root(node) as usize;
                self.fractions[root] = self.fractions[root].min(fraction);
            }
        }
    }

    /// Multiplies a motion of nodes by the fractions.
    pub fn scale(&mut self, direction: &mut [f64]) {
        for (node, d) in (0..).zip(direction.chunks_exact_mut(3)) {
            let fraction = self.fractions[self.islands.root(node) as usize];
            if fraction < 1.0 {
                d.iter_mut().for_each(|d| *d *= fraction);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn islands_are_the_connected_nodes_in_any_order() {
        let joins: [&[u32]; 4] = [&[5, 3], &[1, 2], &[3, 4, 2], &[0]];
        let mut islands = Islands::new(7);
        joins.iter().for_each(|nodes| islands.join(nodes));
        let mut backwards = Islands::new(7);
        joins.iter().rev().for_each(|nodes| backwards.join(nodes));
        let roots = |islands: &mut Islands| (0..7).map(|node| islands.root(node)).collect::<Vec<_>>();
        assert_eq!(roots(&mut islands), [0, 1, 1, 1, 1, 1, 6]);
        assert_eq!(roots(&mut backwards), roots(&mut islands));
    }
}
