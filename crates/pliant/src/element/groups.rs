//! Elements in groups that fill vector registers.

use std::ops::Range;

use super::order::by_region_and_place;
use super::quadrature::{points_per_element, quadrature};
use crate::material::LANES;
use crate::mesh::{ElementKind, VolumeMesh};

/// Marker of a padding lane.
const NO_ELEMENT: u32 = u32::MAX;

/// Limits of the number of elements per chunk of work: enough chunks to keep all cores busy, small enough for a core's
/// cache.
const CHUNKS: usize = 128;
const MIN_CHUNK: usize = 64;
const MAX_CHUNK: usize = 1024;

/// Elements of a mesh, in groups of [`LANES`].
#[derive(Debug, Clone)]
pub struct Elements {
    kind: ElementKind,
    /// Element in each lane.
    numbers: Vec<u32>,
    /// Vertices of the element in each lane, ascending.
    nodes: Vec<u32>,
    /// `∇N` of all nodes except for the last, whose gradient is minus their sum: group, point, node, axis, lane.
    gradients: Vec<[f64; LANES]>,
    /// Quadrature weights \[m³\]: group, point, lane.
    weights: Vec<[f64; LANES]>,
    /// Region of each group.
    regions: Vec<u32>,
    /// Ranges of groups that are processed together, each in one region.
    chunks: Vec<Range<usize>>,
}

impl Elements {
    /// Collects all elements of `mesh`.
    pub fn new(mesh: &VolumeMesh) -> Self {
        let order = by_region_and_place(mesh);
        let chunk_length = (mesh.element_count() / CHUNKS).clamp(MIN_CHUNK, MAX_CHUNK).next_multiple_of(LANES);
        let mut all = Self {
            kind: mesh.kind(),
            numbers: Vec::new(),
            nodes: Vec::new(),
            gradients: Vec::new(),
            weights: Vec::new(),
            regions: Vec::new(),
            chunks: Vec::new(),
        };
        let region = |element: &u32| mesh.element_region()[*element as usize];
        for elements in order.chunk_by(|a, b| region(a) == region(b)) {
            for chunk in elements.chunks(chunk_length) {
                let first = all.group_count();
                for group in chunk.chunks(LANES) {
                    all.push_group(mesh, group, region(&group[0]));
                }
                all.chunks.push(first..all.group_count());
            }
        }
        all
    }

    /// Collects all elements of a mesh whose vertices are numbered from `first`, as one of several bodies.
    pub fn numbered_from(mesh: &VolumeMesh, first: u32) -> Self {
        let mut all = Self::new(mesh);
        all.nodes.iter_mut().for_each(|node| *node += first);
        all
    }

    fn push_group(&mut self, mesh: &VolumeMesh, elements: &[u32], region: u32) {
        let (nodes_per, points_per) = (self.nodes_per_element(), self.points_per_element());
        let first_gradient = self.gradients.len();
        let first_weight = self.weights.len();
        self.gradients.resize(first_gradient + points_per * (nodes_per - 1) * 3, [0.0; LANES]);
        self.weights.resize(first_weight + points_per, [0.0; LANES]);
        for lane in 0..LANES {
            self.numbers.push(elements.get(lane).copied().unwrap_or(NO_ELEMENT));
            let filler = lane >= elements.len();
            let number = elements[lane.min(elements.len() - 1)] as usize;
            let element = mesh.element(number);
            let mut order: Vec<usize> = (0..nodes_per).collect();
            order.sort_by_key(|&node| element[node]);
            self.nodes.extend(order.iter().map(|&node| element[node]));
            if filler {
                continue;
            }
            for (point, (weight, gradients)) in quadrature(mesh, number).into_iter().enumerate() {
                self.weights[first_weight + point][lane] = weight;
                for (a, &node) in order[..nodes_per - 1].iter().enumerate() {
                    for axis in 0..3 {
                        let place = first_gradient + (point * (nodes_per - 1) + a) * 3 + axis;
                        self.gradients[place][lane] = gradients[node][axis];
                    }
                }
            }
        }
        self.regions.push(region);
    }

    /// Multiplies the quadrature weights of each element by a factor.
    ///
    /// # Panics
    /// If there is not one factor per element.
    pub fn scale_weights(&mut self, factors: &[f64]) {
        let points = self.points_per_element();
        for group in 0..self.group_count() {
            for lane in 0..LANES {
                let element = self.numbers[LANES * group + lane];
                let factor = if element == NO_ELEMENT { 0.0 } else { factors[element as usize] };
                self.weights[points * group..points * (group + 1)]
                    .iter_mut()
                    .for_each(|weights| weights[lane] *= factor);
            }
        }
    }

    /// Returns the kind of all elements.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// Returns the number of nodes per element: 4 or 8.
    pub fn nodes_per_element(&self) -> usize {
        self.kind.nodes()
    }

    /// Returns the number of quadrature points per element: 1 or 8.
    pub fn points_per_element(&self) -> usize {
        points_per_element(self.kind)
    }

    /// Returns the number of groups of [`LANES`] elements.
    pub fn group_count(&self) -> usize {
        self.regions.len()
    }

    /// Returns the region of a group.
    pub fn region(&self, group: usize) -> usize {
        self.regions[group] as usize
    }

    /// Returns the elements in the lanes of a group, without padding lanes.
    pub fn numbers(&self, group: usize) -> &[u32] {
        let lanes = &self.numbers[LANES * group..LANES * (group + 1)];
        &lanes[..lanes.iter().position(|&number| number == NO_ELEMENT).unwrap_or(LANES)]
    }

    /// Returns the vertices of the elements in the lanes of all groups, ascending in each element.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Returns `∇N` in a group: point, node (except for the last), axis.
    pub fn gradients(&self, group: usize) -> &[[f64; LANES]] {
        let count = self.points_per_element() * (self.nodes_per_element() - 1) * 3;
        &self.gradients[count * group..count * (group + 1)]
    }

    /// Returns the quadrature weights \[m³\] of a group, one per point.
    pub fn weights(&self, group: usize) -> &[[f64; LANES]] {
        let count = self.points_per_element();
        &self.weights[count * group..count * (group + 1)]
    }

    /// Returns the ranges of groups that are processed together, each in one region.
    pub fn chunks(&self) -> &[Range<usize>] {
        &self.chunks
    }

    /// Returns the number of bytes read to evaluate a group, excluding displacements.
    pub fn bytes_per_group(&self) -> usize {
        let numbers = self.points_per_element() * ((self.nodes_per_element() - 1) * 3 + 1);
        LANES * (8 * numbers + 4 * self.nodes_per_element())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::mesh::{Cells, generate};

    #[test]
    fn every_element_is_in_one_lane_and_the_weights_are_its_volume() {
        for cells in [Cells::Tet5, Cells::Hex] {
            let mesh = generate::ball(1.0, 5, cells).unwrap();
            let elements = Elements::new(&mesh);
            let mut seen = vec![0; mesh.element_count()];
            for group in 0..elements.group_count() {
                for (lane, &number) in elements.numbers(group).iter().enumerate() {
                    seen[number as usize] += 1;
                    let volume: f64 = elements.weights(group).iter().map(|weight| weight[lane]).sum();
                    assert!((volume - mesh.element_volume(number as usize)).abs() < 1e-15);
                }
            }
            assert!(seen.iter().all(|&times| times == 1));
            let chunked: usize = elements.chunks().iter().map(ExactSizeIterator::len).sum();
            assert_eq!(chunked, elements.group_count());
        }
    }

    #[test]
    fn gradients_reproduce_linear_fields() {
        for cells in [Cells::Tet6, Cells::Hex] {
            let mesh = generate::cylinder(0.7, 2.0, 4, 5, cells).unwrap();
            let elements = Elements::new(&mesh);
            let slope = Vec3::new(0.3, -1.2, 0.7);
            for group in 0..elements.group_count() {
                for (lane, _) in elements.numbers(group).iter().enumerate() {
                    let n = elements.nodes_per_element();
                    let nodes = &elements.nodes()[n * (LANES * group + lane)..][..n];
                    let value = |node: usize| mesh.vertices()[nodes[node] as usize].dot(slope);
                    for gradients in elements.gradients(group).chunks((n - 1) * 3) {
                        for axis in 0..3 {
                            let sum: f64 =
                                (0..n - 1).map(|a| (value(a) - value(n - 1)) * gradients[3 * a + axis][lane]).sum();
                            assert!((sum - slope[axis]).abs() < 1e-11, "{sum} instead of {}", slope[axis]);
                        }
                    }
                }
            }
        }
    }
}
