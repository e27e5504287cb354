//! Contact at points of embedded surfaces.

use super::super::rows;
use super::points::{ContactPoints, MAX_NODES};
use super::{ContactState, PlacedObstacles};
use crate::math::{Mat3, Vec3};
use crate::sparse::BlockMatrix;

impl<'a> PlacedObstacles<'a> {
    /// Returns false if a box is certainly outside an obstacle.
    fn may_touch(&self, number: usize, [low, high]: [Vec3; 2]) -> bool {
        let (obstacle, placed) = (&self.all.list[number], &self.placed[number]);
        let (low, high) = (low - placed.origin(), high - placed.origin());
        // NaN counts as a possible contact, so that it propagates.
        !(low.is_finite() && high.is_finite() && obstacle.shape.is_outside(&placed.axes, low, high))
    }

    /// Calls `visit` with each contact of the points of an element: the point, the index of the obstacle and the
    /// contact.
    #[inline(always)]
    pub(super) fn for_contacts(
        &self,
        points: &ContactPoints,
        element: usize,
        u: &[f64],
        mut visit: impl FnMut(usize, usize, &ContactState<'a>),
    ) {
        let bounds = points.bounds(element, &self.all.rest, u);
        for number in (0..self.all.list.len()).filter(|&number| self.may_touch(number, bounds)) {
            for point in points.points(element) {
                let displacement = points.interpolate(element, point, u);
                if let Some(touch) = self.touch_at(number, points.rest(point), displacement) {
                    visit(point, number, &touch);
                }
            }
        }
    }

    /// Adds `force` of each contact of embedded points to the vertices of their elements, and `block` to their pairs.
    pub(super) fn add_embedded(
        &self,
        u: &[f64],
        out: &mut [f64],
        mut matrix: Option<&mut BlockMatrix>,
        force: impl Fn(PointOf<'_>, &ContactState<'_>) -> Vec3 + Sync,
        block: impl Fn(PointOf<'_>, &ContactState<'_>) -> Mat3 + Sync,
    ) {
        for points in self.all.embedded.iter().filter(|_| !self.all.list.is_empty()) {
            let nodes = points.nodes;
            let has_matrix = matrix.is_some();
            points.scatter.run(out, matrix.as_deref_mut(), |chunk, target| {
                let elements = points.scatter.chunks()[chunk].clone();
                for (own, element) in elements.enumerate() {
                    let mut forces = [Vec3::ZERO; MAX_NODES];
                    let mut blocks = [Mat3::ZERO; MAX_NODES * (MAX_NODES + 1) / 2];
                    let mut is_touched = false;
                    self.for_contacts(points, element, u, |point, _, touch| {
                        is_touched = true;
                        let place = PointOf { points, element, point };
                        let (weights, share) = (points.weights(point), points.share(point));
                        let f = share * force(place, touch);
                        forces.iter_mut().zip(weights).for_each(|(sum, &w)| *sum += w * f);
                        if has_matrix {
                            let k = block(place, touch) * share;
                            let mut blocks = blocks.iter_mut();
                            for (i, &a) in weights.iter().enumerate() {
                                weights[i..].iter().zip(&mut blocks).for_each(|(&b, sum)| *sum += k * (a * b));
                            }
                        }
                    });
                    if is_touched {
                        (0..nodes).for_each(|node| target.add_force(own, node, forces[node].to_array()));
                        if has_matrix {
                            let pairs = nodes * (nodes + 1) / 2;
                            (0..pairs).for_each(|pair| target.add_block(own, pair, &rows(blocks[pair])));
                        }
                    }
                }
            });
        }
    }
}

/// Contact point, for interpolation at it.
#[derive(Clone, Copy)]
pub(super) struct PointOf<'a> {
    points: &'a ContactPoints,
    element: usize,
    point: usize,
}

impl PointOf<'_> {
    pub fn of(&self, flat: &[f64]) -> Vec3 {
        self.points.interpolate(self.element, self.point, flat)
    }
}
