//! Interpolation of points from nodes.

use rayon::prelude::*;

use crate::math::Vec3;

/// Linear map from nodes to points, `xₚ = Σᵢ wₚᵢ xᵢ`: a sparse matrix `W` with one row per point, whose weights sum to
/// one.
///
/// Nodes carry the coordinates of a model. Points are where surfaces, contacts, loads and outputs are. The same map
/// gives positions, displacements and velocities of points. Its transpose gives forces on nodes from forces on points,
/// and `Wᵀ K W` the stiffness with respect to nodes.
///
/// | points | nodes | row |
/// |---|---|---|
/// | vertices of a mesh of finite elements | the same vertices | one node of weight 1, which is not stored |
/// | points of an [embedded](super::Embedding) surface | vertices of the element around each | shape functions |
/// | vertices of a body in affine motion | four control nodes | barycentric coordinates |
///
/// All rows have the same width. A row with fewer nodes repeats its first one with a weight of zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpolation {
    node_count: usize,
    /// Number of nodes per point.
    width: usize,
    nodes: Vec<u32>,
    /// Weight of each node; empty if each point is a node.
    weights: Vec<f64>,
}

/// Points per parallel task: enough to be worth a thread, few enough to stay in its cache.
const CHUNK: usize = 4096;

impl Interpolation {
    /// Creates the map to points that are nodes themselves.
    ///
    /// # Panics
    /// If a node is not below `node_count`.
    pub fn of_nodes(nodes: Vec<u32>, node_count: usize) -> Self {
        check_nodes(&nodes, node_count);
        Self { node_count, width: 1, nodes, weights: Vec::new() }
    }

    /// Creates a map from the nodes and weights of each point, `width` of them in turn.
    ///
    /// # Panics
    /// If there is not one weight per node, a row is incomplete or empty, or a node is not below `node_count`.
    pub fn new(width: usize, nodes: Vec<u32>, weights: Vec<f64>, node_count: usize) -> Self {
        assert_eq!(nodes.len(), weights.len(), "expected one weight per node");
        assert!(width > 0 && nodes.len().is_multiple_of(width), "expected {width} nodes per point");
        check_nodes(&nodes, node_count);
        Self { node_count, width, nodes, weights }
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.nodes.len() / self.width
    }

    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the number of nodes, including those that no point uses.
    pub fn node_count(&self) -> usize {
        self.node_count
    }

    /// Returns the number of nodes per point.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the node of each point if points are nodes themselves; `None` if they have weights.
    pub fn as_nodes(&self) -> Option<&[u32]> {
        self.weights.is_empty().then_some(&self.nodes)
    }

    /// Returns the weights of all points, [`width`](Self::width) each; empty if points are nodes themselves.
    #[inline(always)]
    pub fn all_weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the nodes of a point.
    ///
    /// # Panics
    /// If there is no such point.
    #[inline(always)]
    pub fn nodes(&self, point: usize) -> &[u32] {
        &self.nodes[self.width * point..self.width * (point + 1)]
    }

    /// Returns the weights of the nodes of a point.
    ///
    /// # Panics
    /// If there is no such point.
    #[inline(always)]
    pub fn weights(&self, point: usize) -> &[f64] {
        if self.weights.is_empty() { &[1.0] } else { &self.weights[self.width * point..self.width * (point + 1)] }
    }

    /// Iterates over the nodes of a point with their weights.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn row(&self, point: usize) -> impl Iterator<Item = (u32, f64)> {
        self.nodes(point).iter().copied().zip(self.weights(point).iter().copied())
    }

    /// Returns minus the sum of the negative weights of a point, which is positive for points outside the convex hull
    /// of their nodes. A point is outside the bounding box of its nodes by at most this times the size of the box.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn extrapolation(&self, point: usize) -> f64 {
        -self.weights(point).iter().map(|weight| weight.min(0.0)).sum::<f64>()
    }

    /// Interpolates a vector at one point, from three numbers per node.
    ///
    /// # Panics
    /// If there is no such point, or `values` is too short.
    #[inline(always)]
    pub fn at(&self, point: usize, values: &[f64]) -> Vec3 {
        let value = |node: u32| Vec3::from_slice(&values[3 * node as usize..]);
        if self.weights.is_empty() {
            return value(self.nodes[point]);
        }
        self.nodes(point).iter().zip(self.weights(point)).map(|(&node, &weight)| weight * value(node)).sum()
    }

    /// Interpolates vectors at all points: positions, displacements or velocities.
    ///
    /// # Panics
    /// If `values` is shorter than the number of nodes, or `points` does not have one entry per point.
    pub fn interpolate(&self, values: &[Vec3], points: &mut [Vec3]) {
        assert!(values.len() >= self.node_count, "expected one vector for each of {} nodes", self.node_count);
        self.interpolate_with(move |node| values[node as usize], points);
    }

    /// Interpolates vectors at all points, from three numbers per node.
    ///
    /// # Panics
    /// If `values` does not have three numbers per node, or `points` does not have one entry per point.
    pub fn interpolate_flat(&self, values: &[f64], points: &mut [Vec3]) {
        assert_eq!(values.len(), 3 * self.node_count, "expected three numbers for each of {} nodes", self.node_count);
        let (values, _) = values.as_chunks::<3>();
        self.interpolate_with(move |node| Vec3::from_array(values[node as usize]), points);
    }

    fn interpolate_with(&self, value: impl Fn(u32) -> Vec3 + Copy + Send + Sync, points: &mut [Vec3]) {
        assert_eq!(points.len(), self.len(), "expected one entry per point");
        let (nodes, weights) = (&self.nodes[..], &self.weights[..]);
        match self.width {
            _ if weights.is_empty() => {
                let chunks = nodes.par_chunks(CHUNK).zip(points.par_chunks_mut(CHUNK));
                chunks.for_each(move |(nodes, points)| {
                    points.iter_mut().zip(nodes).for_each(|(point, &node)| *point = value(node));
                });
            }
            4 => weighted::<4>(nodes, weights, value, points),
            8 => weighted::<8>(nodes, weights, value, points),
            width => {
                let rows = nodes.par_chunks(width).zip(weights.par_chunks(width));
                points.par_iter_mut().with_min_len(CHUNK).zip(rows).for_each(move |(point, (nodes, weights))| {
                    *point = nodes.iter().zip(weights).map(|(&node, &weight)| weight * value(node)).sum();
                });
            }
        }
    }

    /// Interpolates numbers at all points.
    ///
    /// # Panics
    /// If `values` is shorter than the number of nodes.
    pub fn interpolate_numbers(&self, values: &[f64]) -> Vec<f64> {
        assert!(values.len() >= self.node_count, "expected one number for each of {} nodes", self.node_count);
        let at = |point| self.row(point).map(|(node, weight)| weight * values[node as usize]).sum();
        match self.as_nodes() {
            Some(nodes) => nodes.iter().map(|&node| values[node as usize]).collect(),
            None => (0..self.len()).map(at).collect(),
        }
    }

    /// Adds `Wᵀ f`, the forces on nodes that are equivalent to forces `f` on points, to three numbers per node.
    ///
    /// # Panics
    /// If `forces` does not have one entry per point, or `sum` does not have three numbers per node.
    pub fn add_transposed(&self, forces: &[Vec3], sum: &mut [f64]) {
        assert_eq!(forces.len(), self.len(), "expected one force per point");
        assert_eq!(sum.len(), 3 * self.node_count, "expected three numbers for each of {} nodes", self.node_count);
        let (sum, _) = sum.as_chunks_mut::<3>();
        for (point, &force) in forces.iter().enumerate() {
            for (node, weight) in self.row(point) {
                let sum = &mut sum[node as usize];
                *sum = (Vec3::from_array(*sum) + weight * force).to_array();
            }
        }
    }

    /// Returns the map with `first` added to all node numbers, out of a total of `node_count`.
    ///
    /// # Panics
    /// If a node is then not below `node_count`.
    #[must_use]
    pub fn numbered_from(&self, first: u32, node_count: usize) -> Self {
        let nodes: Vec<u32> = self.nodes.iter().map(|node| first + node).collect();
        check_nodes(&nodes, node_count);
        Self { node_count, width: self.width, nodes, weights: self.weights.clone() }
    }

    /// Returns the map of some of the points.
    ///
    /// # Panics
    /// If there is no such point.
    #[must_use]
    pub fn select(&self, points: &[u32]) -> Self {
        let weights = match self.as_nodes() {
            Some(_) => Vec::new(),
            None => points.iter().flat_map(|&point| self.weights(point as usize)).copied().collect(),
        };
        let nodes = points.iter().flat_map(|&point| self.nodes(point as usize)).copied().collect();
        Self { node_count: self.node_count, width: self.width, nodes, weights }
    }

    /// Returns the product `self · inner`: points that are interpolated from the points of `inner`, as functions of the
    /// nodes of `inner`. For instance, a surface embedded in a mesh whose vertices follow control nodes.
    ///
    /// # Panics
    /// If the nodes of `self` are not as many as the points of `inner`.
    #[must_use]
    pub fn compose(&self, inner: &Self) -> Self {
        assert_eq!(self.node_count, inner.len(), "the nodes of one map must be the points of the other");
        if let Some(selected) = self.as_nodes() {
            return inner.select(selected);
        }
        if let Some(nodes) = inner.as_nodes() {
            let nodes = self.nodes.iter().map(|&point| nodes[point as usize]).collect();
            return Self::new(self.width, nodes, self.weights.clone(), inner.node_count);
        }
        let row = |point: usize| {
            let mut row: Vec<(u32, f64)> = Vec::new();
            for (middle, outer) in self.row(point) {
                for (node, weight) in inner.row(middle as usize) {
                    match row.iter_mut().find(|(other, _)| *other == node) {
                        Some((_, sum)) => *sum += outer * weight,
                        None => row.push((node, outer * weight)),
                    }
                }
            }
            row
        };
        let rows: Vec<Vec<(u32, f64)>> = (0..self.len()).into_par_iter().map(row).collect();
        let width = rows.iter().map(Vec::len).max().unwrap_or(1);
        let padded =
            rows.iter().flat_map(|row| row.iter().copied().chain(std::iter::repeat((row[0].0, 0.0))).take(width));
        let (nodes, weights) = padded.unzip();
        Self::new(width, nodes, weights, inner.node_count)
    }
}

/// Computes `Σwᵢxᵢ` for each point. With the width known, the compiler unrolls the sum.
fn weighted<const N: usize>(
    nodes: &[u32],
    weights: &[f64],
    value: impl Fn(u32) -> Vec3 + Copy + Send + Sync,
    points: &mut [Vec3],
) {
    let (nodes, weights) = (nodes.as_chunks::<N>().0, weights.as_chunks::<N>().0);
    let chunks = nodes.par_chunks(CHUNK).zip(weights.par_chunks(CHUNK)).zip(points.par_chunks_mut(CHUNK));
    chunks.for_each(move |((nodes, weights), points)| {
        for ((nodes, weights), point) in nodes.iter().zip(weights).zip(points) {
            *point = (0..N).map(|i| weights[i] * value(nodes[i])).sum();
        }
    });
}

fn check_nodes(nodes: &[u32], node_count: usize) {
    assert!(nodes.iter().all(|&node| (node as usize) < node_count), "nodes must be below {node_count}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a map with `width` random nodes per point, whose weights sum to one.
    fn random(points: usize, width: usize, node_count: usize, seed: u64) -> Interpolation {
        let mut rng = fastrand::Rng::with_seed(seed);
        let nodes = (0..points * width).map(|_| rng.u32(0..node_count as u32)).collect();
        let mut weights: Vec<f64> = (0..points * width).map(|_| rng.f64() - 0.2).collect();
        for row in weights.chunks_mut(width) {
            row[0] += 1.0 - row.iter().sum::<f64>();
        }
        Interpolation::new(width, nodes, weights, node_count)
    }

    fn vectors(count: usize, seed: u64) -> Vec<Vec3> {
        let mut rng = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| Vec3::new(rng.f64() - 0.5, rng.f64() - 0.5, rng.f64() - 0.5)).collect()
    }

    fn flat(vectors: &[Vec3]) -> Vec<f64> {
        vectors.iter().flat_map(Vec3::to_array).collect()
    }

    fn maps() -> Vec<Interpolation> {
        let nodes = (0..30).map(|i| (7 * i + 3) % 11).collect();
        let mut maps = vec![Interpolation::of_nodes(nodes, 11)];
        maps.extend([1, 3, 4, 8, 10].map(|width| random(30, width, 11, width as u64)));
        maps
    }

    #[test]
    fn points_are_weighted_sums_of_nodes_for_every_width() {
        for map in maps() {
            let (x, mut from_vectors, mut from_numbers) = (vectors(11, 1), vec![Vec3::NAN; 30], vec![Vec3::NAN; 30]);
            map.interpolate(&x, &mut from_vectors);
            map.interpolate_flat(&flat(&x), &mut from_numbers);
            assert_eq!(from_vectors, from_numbers);
            let one_axis = map.interpolate_numbers(&x.iter().map(|x| x.y).collect::<Vec<_>>());
            for point in 0..map.len() {
                let sum: Vec3 = map.row(point).map(|(node, weight)| weight * x[node as usize]).sum();
                assert_eq!(from_vectors[point], sum);
                assert_eq!(map.at(point, &flat(&x)), sum);
                assert_eq!(one_axis[point], sum.y);
                assert_eq!(map.nodes(point).len(), map.width());
            }
        }
    }

    /// Checks `f·(W x) = (Wᵀ f)·x`.
    #[test]
    fn forces_on_nodes_do_the_work_of_forces_on_points() {
        for map in maps() {
            let (x, f, mut points, mut nodes) = (vectors(11, 2), vectors(30, 3), vec![Vec3::ZERO; 30], vec![0.0; 33]);
            map.interpolate(&x, &mut points);
            map.add_transposed(&f, &mut nodes);
            let at_points: f64 = points.iter().zip(&f).map(|(x, f)| x.dot(*f)).sum();
            let at_nodes: f64 = flat(&x).iter().zip(&nodes).map(|(x, f)| x * f).sum();
            assert!((at_points - at_nodes).abs() < 1e-13);
            // Weights sum to one, so that no force is lost.
            let total: Vec3 = nodes.as_chunks::<3>().0.iter().map(|f| Vec3::from_array(*f)).sum();
            assert!((total - f.iter().sum::<Vec3>()).length() < 1e-13);
        }
    }

    #[test]
    fn composed_maps_give_the_points_of_the_second_from_those_of_the_first() {
        let outer = [Interpolation::of_nodes(vec![29, 3, 3], 30), random(3, 4, 30, 8), random(3, 8, 30, 9)];
        for (inner, outer) in maps().iter().flat_map(|inner| outer.iter().map(move |outer| (inner, outer))) {
            let (x, mut middle, mut expected, mut found) =
                (vectors(11, 4), vec![Vec3::ZERO; 30], vec![Vec3::ZERO; 3], vec![Vec3::ZERO; 3]);
            inner.interpolate(&x, &mut middle);
            outer.interpolate(&middle, &mut expected);
            let composed = outer.compose(inner);
            composed.interpolate(&x, &mut found);
            assert!(found.iter().zip(&expected).all(|(a, b)| (*a - *b).length() < 1e-14));
            assert_eq!(composed.as_nodes().is_some(), outer.as_nodes().is_some() && inner.as_nodes().is_some());
        }
    }

    #[test]
    fn selected_and_renumbered_points_keep_their_weights() {
        for map in maps() {
            let moved = map.numbered_from(5, 16).select(&[4, 2]);
            assert_eq!((moved.len(), moved.node_count()), (2, 16));
            for (own, point) in [(0, 4), (1, 2)] {
                let expected: Vec<(u32, f64)> = map.row(point).map(|(node, weight)| (node + 5, weight)).collect();
                assert_eq!(moved.row(own).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn points_are_outside_the_box_of_their_nodes_by_at_most_their_extrapolation() {
        let (map, x) = (random(200, 4, 11, 5), vectors(11, 6));
        let mut points = vec![Vec3::ZERO; 200];
        map.interpolate(&x, &mut points);
        for (point, p) in points.iter().enumerate() {
            let places = || map.nodes(point).iter().map(|&node| x[node as usize]);
            let (low, high) = (places().fold(Vec3::INFINITY, Vec3::min), places().fold(Vec3::NEG_INFINITY, Vec3::max));
            let margin = (map.extrapolation(point) + 1e-12) * (high - low);
            assert!(p.cmpge(low - margin).all() && p.cmple(high + margin).all());
        }
    }
}
