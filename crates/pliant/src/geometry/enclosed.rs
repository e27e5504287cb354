//! Interior of a triangle surface.

use super::solid::{Solid, SolidSample, halve};
use super::{Nearest, Triangle, TriangleTree, WindingTree, area_vector, box_around};
use crate::math::Vec3;

/// Number of points whose winding numbers cost little more than that of a single point.
const AT_A_TIME: usize = 8;

/// Interval length at which the search for a winding number of one half ends, where it changes smoothly as in a hole.
/// Within such an interval it is interpolated linearly. Each interval is divided into `CUTS + 1` parts, so that
/// `AT_A_TIME` points are evaluated at a time.
const STRAIGHT: f64 = 1e-3;
const CUTS: usize = AT_A_TIME;

/// Distance along a segment below which two intersections are one.
const SAME: f64 = 1e-12;

/// Tolerance for the change of a closed surface's winding number, as counted at its triangles.
const CONSISTENT: f64 = 0.25;

/// Bisection steps for the point at a given distance from a surface. Its last digits do not matter.
const HALVINGS_AROUND: usize = 16;

/// Interior of a triangle surface: the points where its winding number is at least one half.
///
/// The surface may be open or self-intersecting; see [`WindingTree`].
#[derive(Debug, Clone)]
pub struct Enclosed {
    tree: TriangleTree,
    winding: WindingTree,
    closed: bool,
}

impl Enclosed {
    /// Builds the solid that `triangles` enclose. `closed` states that every edge is traversed equally often in both
    /// directions. Inside and outside of a closed surface then change at triangles only, which makes some queries
    /// faster.
    pub fn new(triangles: impl IntoIterator<Item = Triangle>, closed: bool) -> Self {
        let tree = TriangleTree::new(triangles);
        Self { winding: WindingTree::new(&tree), tree, closed }
    }

    /// Returns the tree of the triangles.
    pub fn tree(&self) -> &TriangleTree {
        &self.tree
    }

    /// Returns the winding number of the surface around `point`.
    pub fn winding_number(&self, point: Vec3) -> f64 {
        self.winding.winding_number(point)
    }

    /// Returns the closest point on the surface to `point`, or `None` if there are no triangles.
    pub fn nearest(&self, point: Vec3) -> Option<Nearest> {
        self.tree.nearest(point)
    }

    /// Returns the distance to the surface, negative inside. It is infinite if there are no triangles.
    pub fn signed_distance(&self, point: Vec3) -> f64 {
        let distance = self.nearest(point).map_or(f64::INFINITY, |nearest| nearest.distance);
        if self.contains(point) { -distance } else { distance }
    }

    /// Returns true if no triangle intersects the box, so that it is entirely inside or outside a closed surface.
    fn is_clear(&self, low: Vec3, high: Vec3) -> bool {
        self.tree.touching(low, high).next().is_none()
    }

    /// Returns the parameters at which the winding number jumps between two points, and the jumps.
    fn jumps(&self, start: Vec3, end: Vec3) -> Vec<(f64, f64)> {
        let jump = |t: u32| -area_vector(self.tree.triangle(t)).dot(end - start).signum();
        let mut jumps: Vec<(f64, f64)> = self.tree.hits(start, end).iter().map(|&(at, t)| (at, jump(t))).collect();
        // A segment through a shared edge crosses one triangle, not two.
        jumps.dedup_by(|next, own| next.0 - own.0 < SAME && next.1 == own.1);
        jumps
    }

    /// Returns a model of the depth along the segment between two points.
    fn depth_profile(&self, start: SolidSample, end: SolidSample) -> DepthProfile {
        let (depth, jumps) = (f64::from(start.depth), self.jumps(start.place, end.place));
        DepthProfile { depth, drift: f64::from(end.depth) - depth - total(&jumps), jumps }
    }

    /// Finds where the segment from a point inside to one outside leaves, by winding numbers alone.
    fn search(&self, [inside, outside]: [Vec3; 2], [mut low, mut high]: [f64; 2]) -> f64 {
        // Only the signs of the depths at both ends matter, not their values.
        let (mut low_depth, mut high_depth) = (0.5, -0.5);
        while high - low > STRAIGHT {
            let at: [f64; CUTS] = std::array::from_fn(|i| low + (high - low) * (i + 1) as f64 / (CUTS + 1) as f64);
            let depths = self.depths(&at.map(|t| inside.lerp(outside, t)));
            let first_outside = depths.iter().position(|depth| *depth < 0.0);
            let (before, after) = match first_outside {
                Some(first) => (first.checked_sub(1), Some(first)),
                None => (Some(CUTS - 1), None),
            };
            if let Some(i) = before {
                (low, low_depth) = (at[i], f64::from(depths[i]));
            }
            if let Some(i) = after {
                (high, high_depth) = (at[i], f64::from(depths[i]));
            }
        }
        low + (high - low) * low_depth / (low_depth - high_depth)
    }
}

/// Model of the depth, which is the winding number minus one half, along a segment. It jumps by one at triangles. The
/// rest of its change between the two ends is assumed to be linear; it is zero if the surface is closed.
#[derive(Debug)]
struct DepthProfile {
    /// Depth at the start.
    depth: f64,
    /// Parameters and values of the jumps.
    jumps: Vec<(f64, f64)>,
    drift: f64,
}

/// Returns the sum of all jumps of the winding number.
fn total(jumps: &[(f64, f64)]) -> f64 {
    jumps.iter().map(|jump| jump.1).sum()
}

/// Point at which a segment leaves the solid.
#[derive(Debug, PartialEq)]
enum Exit {
    /// At a triangle.
    Jump(f64),
    /// Between two parameters without a triangle in between.
    Between([f64; 2]),
}

impl DepthProfile {
    /// Returns the first point at which the depth is negative.
    fn exit(&self) -> Exit {
        let (mut depth, mut from) = (self.depth, 0.0);
        for &(at, jump) in &self.jumps {
            if depth + self.drift * at < 0.0 {
                return Exit::Between([from, at]);
            }
            depth += jump;
            if depth + self.drift * at < 0.0 {
                return Exit::Jump(at);
            }
            from = at;
        }
        Exit::Between([from, 1.0])
    }

    /// Returns the depth at `t`, which is beyond the last jump.
    fn depth_near_end(&self, t: f64) -> f64 {
        self.depth + self.drift * t + total(&self.jumps)
    }
}

impl Solid for Enclosed {
    fn bounds(&self) -> [Vec3; 2] {
        self.tree.bounds()
    }

    fn contains(&self, point: Vec3) -> bool {
        self.winding_number(point) >= 0.5
    }

    fn depths(&self, points: &[Vec3]) -> Vec<f32> {
        let mut numbers = vec![0.0; points.len()];
        self.winding.winding_numbers(points, &mut numbers);
        numbers.into_iter().map(|number| (number - 0.5) as f32).collect()
    }

    fn is_uniform(&self, low: Vec3, high: Vec3) -> bool {
        self.closed && self.is_clear(low, high)
    }

    fn fraction_inside(&self, near: SolidSample, points: &[Vec3]) -> f64 {
        if !self.closed {
            // In holes the depth changes anywhere. A sample of the points is therefore evaluated, in a single batch.
            let some: Vec<Vec3> = points.iter().copied().step_by(points.len().div_ceil(AT_A_TIME).max(1)).collect();
            let inside = self.depths(&some).into_iter().filter(|depth| *depth >= 0.0).count();
            return inside as f64 / some.len() as f64;
        }
        // Between two points the depth changes at triangles only.
        let is_inside = |point: &&Vec3| f64::from(near.depth) + total(&self.jumps(near.place, **point)) >= 0.0;
        points.iter().filter(is_inside).count() as f64 / points.len() as f64
    }

    fn exit(&self, inside: SolidSample, outside: SolidSample) -> f64 {
        let places = [inside.place, outside.place];
        let depth_profile = self.depth_profile(inside, outside);
        match depth_profile.exit() {
            // Some counted triangles are only touched or coincide with others. The segment leaves at one of them
            // nevertheless.
            _ if self.closed && depth_profile.drift.abs() > CONSISTENT => {
                let about = self.search(places, [0.0, 1.0]);
                let nearest = depth_profile
                    .jumps
                    .iter()
                    .map(|jump| jump.0)
                    .min_by(|a, b| (a - about).abs().total_cmp(&(b - about).abs()));
                nearest.filter(|at| (at - about).abs() < STRAIGHT).unwrap_or(about)
            }
            Exit::Jump(at) => at,
            Exit::Between(ends) => self.search(places, ends),
        }
    }
}

/// [`Enclosed`] solid with all points that are closer to its surface than a given distance.
#[derive(Debug, Clone, Copy)]
pub struct Thickened<'a> {
    /// Interior.
    pub core: &'a Enclosed,
    /// Additional triangles to thicken.
    pub beside: &'a TriangleTree,
    /// Distance by which the surface is thickened.
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

    /// Returns the depth in the core, or infinity near the surface.
    fn depths(&self, points: &[Vec3]) -> Vec<f32> {
        let mut depths: Vec<f32> =
            points.iter().map(|&point| if self.is_near(point, self.by) { f32::INFINITY } else { 0.0 }).collect();
        let far: Vec<usize> = (0..points.len()).filter(|&i| depths[i] == 0.0).collect();
        let in_core = self.core.depths(&far.iter().map(|&i| points[i]).collect::<Vec<_>>());
        far.iter().zip(in_core).for_each(|(&i, depth)| depths[i] = depth);
        depths
    }

    fn is_uniform(&self, low: Vec3, high: Vec3) -> bool {
        let (center, reach) = (0.5 * (low + high), 0.5 * (high - low).length());
        self.core.closed && !self.is_near(center, self.by + reach)
    }

    fn exit(&self, inside: SolidSample, outside: SolidSample) -> f64 {
        // Beyond the last triangle (or from the start without one), only distances and holes of the core matter.
        let depth_profile = self.core.depth_profile(inside, outside);
        let last = depth_profile.jumps.last().map_or(0.0, |jump| jump.0);
        let changes_in_holes = !self.core.closed && depth_profile.drift.is_finite();
        halve(last, 1.0, HALVINGS_AROUND, |t| {
            (changes_in_holes && depth_profile.depth_near_end(t) >= 0.0)
                || self.is_near(inside.place.lerp(outside.place, t), self.by)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parameter at which the segment from a point inside leaves.
    fn exit_of(solid: &impl Solid, from: Vec3, to: Vec3) -> f64 {
        let (inside, outside) = (solid.sample(from), solid.sample(to));
        assert!(inside.depth >= 0.0 && outside.depth < 0.0);
        solid.exit(inside, outside)
    }

    /// Returns the triangles of a box, oriented outward.
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
            let exit = exit_of(&solid, from, from + 2.0 * Vec3::X);
            assert!((exit - 0.25).abs() < tolerance, "{exit}");
            // Through both walls of a second box, or through the hole.
            let exit = exit_of(&solid, from, from + 2.0 * Vec3::Z);
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
        assert_eq!(solid.fraction_inside(solid.sample(points[0]), &points), inside as f64 / 500.0);
        // If a wall is missing, a sample of the points is evaluated.
        let open = Enclosed::new(solid.tree().triangles()[1..].iter().copied(), false);
        let part = open.fraction_inside(open.sample(points[0]), &points);
        assert!((8.0 * part).fract() == 0.0 && (part - inside as f64 / 500.0).abs() < 0.3, "{part}");
    }

    #[test]
    fn an_edge_through_several_walls_leaves_at_one_of_them() {
        let mut triangles = cuboid([Vec3::ZERO, Vec3::ONE]);
        triangles.extend(cuboid([Vec3::new(1.5, 0.0, 0.0), Vec3::new(1.75, 1.0, 1.0)]));
        let solid = Enclosed::new(triangles, true);
        let from = Vec3::new(0.5, 0.4, 0.3);
        let exit = exit_of(&solid, from, from + 4.0 * Vec3::X);
        assert!((exit - 0.125).abs() < 1e-14 || (exit - 0.3125).abs() < 1e-14, "{exit}");
    }

    #[test]
    fn ways_through_common_edges_and_through_walls_that_lie_on_one_another_leave_at_the_wall() {
        let cube = cuboid([Vec3::ZERO, Vec3::ONE]);
        let twice: Vec<Triangle> = cube.iter().chain(&cube).copied().collect();
        for solid in [Enclosed::new(cube, true), Enclosed::new(twice, true)] {
            // Through the center of a face, where its two triangles meet, through an edge and through a corner.
            for to in [Vec3::new(0.5, 0.5, 2.5), Vec3::new(2.5, 2.5, 0.5), Vec3::splat(2.5)] {
                let exit = exit_of(&solid, Vec3::splat(0.5), to);
                assert!((exit - 0.25).abs() < 1e-12, "{exit} to {to}");
            }
        }
    }

    #[test]
    fn a_way_leaves_where_jumps_and_drift_together_do() {
        let depth_profile =
            |depth: f64, drift: f64, jumps: &[(f64, f64)]| DepthProfile { depth, drift, jumps: jumps.to_vec() }.exit();
        assert_eq!(depth_profile(0.5, 0.0, &[(0.3, -1.0)]), Exit::Jump(0.3));
        assert_eq!(
            depth_profile(0.5, 0.0, &[(0.2, 1.0), (0.3, -1.0), (0.4, -1.0), (0.5, 1.0), (0.6, -1.0)]),
            Exit::Jump(0.4)
        );
        assert_eq!(depth_profile(0.5, -1.0, &[]), Exit::Between([0.0, 1.0]));
        assert_eq!(
            depth_profile(0.2, -1.0, &[(0.1, 1.0), (0.15, -1.0), (0.4, 1.0), (0.5, -2.0)]),
            Exit::Between([0.15, 0.4])
        );
    }

    #[test]
    fn a_thickened_sheet_is_a_plate() {
        let sheet = [[Vec3::ZERO, Vec3::X, Vec3::Y], [Vec3::ONE - Vec3::Z, Vec3::Y, Vec3::X]];
        let sheet = Enclosed::new(sheet, false);
        let nothing = TriangleTree::new([]);
        let plate = Thickened { core: &sheet, beside: &nothing, by: 0.1 };
        assert!(plate.contains(Vec3::new(0.5, 0.5, 0.09)) && !plate.contains(Vec3::new(0.5, 0.5, 0.11)));
        let exit = exit_of(&plate, Vec3::new(0.4, 0.4, 0.0), Vec3::new(0.4, 0.4, 0.5));
        assert!((exit - 0.2).abs() < 1e-4, "{exit}");
    }
}
