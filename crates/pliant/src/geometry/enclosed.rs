//! What a surface encloses.

use super::solid::{Solid, halve};
use super::{Nearest, Triangle, TriangleTree, WindingTree, area_vector, box_around};
use crate::math::Vec3;

/// Halvings for the place where a winding number that changes smoothly, as in a hole, is one half.
const HALVINGS_IN_HOLES: usize = 24;

/// Halvings for the place that is some distance away from a surface. Nothing depends on its last digits.
const HALVINGS_AROUND: usize = 16;

/// The solid inside of a surface of triangles: where the surface goes around at least half a time.
///
/// The surface need not be closed nor free of crossings; see [`WindingTree`].
#[derive(Debug, Clone)]
pub struct Enclosed {
    tree: TriangleTree,
    winding: WindingTree,
    closed: bool,
}

impl Enclosed {
    /// What `triangles` enclose. If the surface is `closed`, with every edge run through as often one way as the other, inside
    /// changes to outside at triangles only, which makes some answers faster.
    pub fn new(triangles: impl IntoIterator<Item = Triangle>, closed: bool) -> Self {
        let tree = TriangleTree::new(triangles);
        Self { winding: WindingTree::new(&tree), tree, closed }
    }

    /// The triangles.
    pub fn tree(&self) -> &TriangleTree {
        &self.tree
    }

    /// How often the surface goes around `point`.
    pub fn winding_number(&self, point: Vec3) -> f64 {
        self.winding.winding_number(point)
    }

    /// The place on the surface nearest to `point`; none if there are no triangles.
    pub fn nearest(&self, point: Vec3) -> Option<Nearest> {
        self.tree.nearest(point)
    }

    /// The distance to the surface, negative inside; infinite if there are no triangles.
    pub fn signed_distance(&self, point: Vec3) -> f64 {
        let distance = self.nearest(point).map_or(f64::INFINITY, |nearest| nearest.distance);
        if self.contains(point) { -distance } else { distance }
    }

    /// Whether no triangle touches the box, so that it is all inside or all outside of a closed surface.
    fn is_clear(&self, low: Vec3, high: Vec3) -> bool {
        self.tree.touching(low, high).next().is_none()
    }
}

impl Solid for Enclosed {
    fn bounds(&self) -> [Vec3; 2] {
        self.tree.bounds()
    }

    fn contains(&self, point: Vec3) -> bool {
        self.winding_number(point) >= 0.5
    }

    fn whole(&self, low: Vec3, high: Vec3) -> Option<bool> {
        (self.closed && self.is_clear(low, high)).then(|| self.contains(0.5 * (low + high)))
    }

    fn count_inside(&self, points: &[Vec3]) -> usize {
        let Some(&first) = points.first() else { return 0 };
        // From one to the next the winding number changes at triangles; how it does in holes is left out.
        let start = self.winding_number(first);
        let is_inside = |point: &&Vec3| {
            let along = **point - first;
            let hits = self.tree.hits(first, **point);
            let change: f64 = hits.iter().map(|(_, t)| -area_vector(self.tree.triangle(*t)).dot(along).signum()).sum();
            start + change >= 0.5
        };
        points.iter().filter(is_inside).count()
    }

    fn exit(&self, inside: Vec3, outside: Vec3) -> f64 {
        let holds = |t: f64| self.contains(inside.lerp(outside, t));
        // Between triangles the winding number is smooth, and for a closed surface constant. So look there: interval `i` ends
        // at hit `i`. It holds at `low` and not at `high`, in the intervals `first` and `last`.
        let hits = self.tree.hits(inside, outside);
        if let ([(hit, _)], true) = (&hits[..], self.closed) {
            return *hit;
        }
        let (mut low, mut high, mut first, mut last) = (0.0, 1.0, 0, hits.len());
        while first + 1 < last {
            let interval = usize::midpoint(first, last);
            let middle = 0.5 * (hits[interval - 1].0 + hits[interval].0);
            if holds(middle) {
                (low, first) = (middle, interval);
            } else {
                (high, last) = (middle, interval);
            }
        }
        if first == last {
            return halve(low, high, HALVINGS_IN_HOLES, holds);
        }
        let hit = hits[first].0;
        let near = 1e-6 * (high - low);
        match (holds((hit - near).max(0.0)), holds((hit + near).min(1.0))) {
            (true, false) => hit,
            (true, true) => halve((hit + near).min(1.0), high, HALVINGS_IN_HOLES, holds),
            (false, _) => halve(low, (hit - near).max(0.0), HALVINGS_IN_HOLES, holds),
        }
    }
}

/// An [`Enclosed`] with all that is nearer to its surface than some distance.
#[derive(Debug, Clone, Copy)]
pub struct Thickened<'a> {
    /// What is inside.
    pub core: &'a Enclosed,
    /// More triangles to go around.
    pub beside: &'a TriangleTree,
    /// How far around the surface it reaches.
    pub by: f64,
}

impl Thickened<'_> {
    fn is_near(&self, point: Vec3, distance: f64) -> bool {
        self.core.tree.is_near(point, distance) || self.beside.is_near(point, distance)
    }
}

impl Solid for Thickened<'_> {
    fn bounds(&self) -> [Vec3; 2] {
        let [low, high] = box_around(self.core.bounds(), self.beside.bounds());
        [low - self.by, high + self.by]
    }

    fn contains(&self, point: Vec3) -> bool {
        self.is_near(point, self.by) || self.core.contains(point)
    }

    fn whole(&self, low: Vec3, high: Vec3) -> Option<bool> {
        let (centre, reach) = (0.5 * (low + high), 0.5 * (high - low).length());
        let is_far = self.core.closed && !self.is_near(centre, self.by + reach);
        is_far.then(|| self.core.contains(centre))
    }

    fn exit(&self, inside: Vec3, outside: Vec3) -> f64 {
        if !self.core.closed {
            return halve(0.0, 1.0, HALVINGS_AROUND, |t| self.contains(inside.lerp(outside, t)));
        }
        // Behind the last triangle on the way, or from the start if there is none, only distances count.
        let last = self.core.tree.hits(inside, outside).last().map_or(0.0, |hit| hit.0);
        halve(last, 1.0, HALVINGS_AROUND, |t| self.is_near(inside.lerp(outside, t), self.by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box of triangles, seen from outside.
    fn cuboid([low, high]: [Vec3; 2]) -> Vec<Triangle> {
        let corner = |i: usize| {
            let pick = |bit: usize, axis: usize| if i >> bit & 1 == 1 { high[axis] } else { low[axis] };
            Vec3::new(pick(0, 0), pick(1, 1), pick(2, 2))
        };
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).map(|t| t.map(corner)).collect()
    }

    #[test]
    fn distances_to_a_box_are_signed() {
        let solid = Enclosed::new(cuboid([Vec3::ZERO, Vec3::ONE]), true);
        for (point, distance) in [
            (Vec3::new(0.5, 0.5, 0.1), -0.1),
            (Vec3::new(0.5, 0.5, 0.5), -0.5),
            (Vec3::new(0.5, 1.25, 0.5), 0.25),
            (Vec3::new(4.0, 5.0, 0.5), 5.0),
        ] {
            assert!((solid.signed_distance(point) - distance).abs() < 1e-15);
        }
        assert_eq!(Enclosed::new([], true).signed_distance(Vec3::ZERO), f64::INFINITY);
    }

    #[test]
    fn edges_leave_where_the_surface_is_whether_it_is_closed_or_not() {
        let triangles = cuboid([Vec3::ZERO, Vec3::ONE]);
        let from = Vec3::new(0.5, 0.4, 0.3);
        for (solid, tolerance) in
            [(Enclosed::new(triangles.clone(), true), 1e-14), (Enclosed::new(triangles[..10].to_vec(), false), 1e-6)]
        {
            let exit = solid.exit(from, from + 2.0 * Vec3::X);
            assert!((exit - 0.25).abs() < tolerance, "{exit}");
            // Through both walls of a second box, or through the hole.
            let exit = solid.exit(from, from + 2.0 * Vec3::Z);
            assert!(solid.contains(from + 2.0 * Vec3::Z * (exit - 1e-5)));
            assert!(!solid.contains(from + 2.0 * Vec3::Z * (exit + 1e-5)));
        }
    }

    #[test]
    fn points_are_counted_from_one_to_the_next() {
        let mut triangles = cuboid([Vec3::ZERO, Vec3::ONE]);
        triangles.extend(cuboid([Vec3::splat(0.6), Vec3::splat(1.7)]));
        let solid = Enclosed::new(triangles, true);
        let mut rng = fastrand::Rng::with_seed(9);
        let points: Vec<Vec3> = (0..500).map(|_| 2.5 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - 0.4).collect();
        let inside = points.iter().filter(|point| solid.contains(**point)).count();
        assert!(inside > 50 && inside < 400);
        assert_eq!(solid.count_inside(&points), inside);
        assert_eq!(solid.count_inside(&[]), 0);
    }

    #[test]
    fn an_edge_through_several_walls_leaves_at_one_of_them() {
        let mut triangles = cuboid([Vec3::ZERO, Vec3::ONE]);
        triangles.extend(cuboid([Vec3::new(1.5, 0.0, 0.0), Vec3::new(1.75, 1.0, 1.0)]));
        let solid = Enclosed::new(triangles, true);
        let from = Vec3::new(0.5, 0.4, 0.3);
        let exit = solid.exit(from, from + 4.0 * Vec3::X);
        assert!((exit - 0.125).abs() < 1e-14 || (exit - 0.3125).abs() < 1e-14, "{exit}");
    }

    #[test]
    fn a_thickened_sheet_is_a_plate() {
        let sheet = [[Vec3::ZERO, Vec3::X, Vec3::Y], [Vec3::ONE - Vec3::Z, Vec3::Y, Vec3::X]];
        let sheet = Enclosed::new(sheet, false);
        let nothing = TriangleTree::new([]);
        let plate = Thickened { core: &sheet, beside: &nothing, by: 0.1 };
        assert!(plate.contains(Vec3::new(0.5, 0.5, 0.09)) && !plate.contains(Vec3::new(0.5, 0.5, 0.11)));
        let exit = plate.exit(Vec3::new(0.4, 0.4, 0.0), Vec3::new(0.4, 0.4, 0.5));
        assert!((exit - 0.2).abs() < 1e-4, "{exit}");
    }
}
