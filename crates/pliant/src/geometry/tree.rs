//! Bounding volume hierarchy of triangles: closest point, segment intersections, box intersections.

use std::cell::Cell;

use rstar::{AABB, ParentNode, PointDistance, RTree, RTreeObject, SelectionFunction};

use super::bounding_box;
use super::triangle::{Triangle, hit, nearest_on_triangle, touches_box};
use crate::math::Vec3;

/// R-tree of triangles, numbered in the order in which they were given.
#[derive(Debug, Clone)]
pub struct TriangleTree {
    tree: RTree<Leaf>,
    triangles: Vec<Triangle>,
}

/// Closest point on a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Position of the closest point.
    pub point: Vec3,
    /// Number of the triangle that contains it.
    pub triangle: u32,
    /// Distance to the query point.
    pub distance: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Leaf {
    pub corners: Triangle,
    pub index: u32,
}

impl RTreeObject for Leaf {
    type Envelope = AABB<[f64; 3]>;

    fn envelope(&self) -> Self::Envelope {
        let [low, high] = bounding_box(self.corners);
        AABB::from_corners(low.to_array(), high.to_array())
    }
}

impl PointDistance for Leaf {
    fn distance_2(&self, point: &[f64; 3]) -> f64 {
        let p = Vec3::from(*point);
        nearest_on_triangle(self.corners, p).distance_squared(p)
    }
}

impl TriangleTree {
    /// Builds a tree of `triangles`, whose corners must be finite.
    pub fn new(triangles: impl IntoIterator<Item = Triangle>) -> Self {
        let triangles: Vec<Triangle> = triangles.into_iter().collect();
        let leaves = (0..).zip(&triangles).map(|(index, &corners)| Leaf { corners, index }).collect();
        Self { tree: RTree::bulk_load(leaves), triangles }
    }

    /// Returns the number of triangles.
    pub fn len(&self) -> usize {
        self.tree.size()
    }

    /// Returns true if the tree has no triangles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the corners of triangle `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn triangle(&self, index: u32) -> Triangle {
        self.triangles[index as usize]
    }

    /// Returns all triangles in the order in which they were given.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    /// Returns the low and high corners of the bounding box of all triangles. Without triangles they are +∞ and −∞.
    pub fn bounds(&self) -> [Vec3; 2] {
        bounding_box(self.triangles.iter().flatten().copied())
    }

    /// Returns the closest point to `point`, or `None` if there are no triangles. Ties are broken arbitrarily but
    /// deterministically.
    pub fn nearest(&self, point: Vec3) -> Option<Nearest> {
        let leaf = self.tree.nearest_neighbor(point.to_array())?;
        let nearest = nearest_on_triangle(leaf.corners, point);
        Some(Nearest { point: nearest, triangle: leaf.index, distance: nearest.distance(point) })
    }

    /// Returns true if a triangle is closer to `point` than `distance`.
    pub fn is_near(&self, point: Vec3, distance: f64) -> bool {
        self.tree.locate_within_distance(point.to_array(), distance * distance).next().is_some()
    }

    /// Returns the intersections of the segment from `start` to `end` with triangles, in order: the parameter in \[0,
    /// 1\] and the number of the triangle. An intersection with a shared edge has one entry per triangle.
    pub fn hits(&self, start: Vec3, end: Vec3) -> Vec<(f64, u32)> {
        let found = self.tree.locate_with_selection_function(Along { start, end });
        let mut hits: Vec<(f64, u32)> =
            found.filter_map(|leaf| hit(leaf.corners, start, end).map(|t| (t, leaf.index))).collect();
        hits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        hits
    }

    /// Returns the triangles that intersect the box from `low` to `high`, in no particular order.
    pub fn touching(&self, low: Vec3, high: Vec3) -> impl Iterator<Item = u32> {
        let within = AABB::from_corners(low.to_array(), high.to_array());
        let candidates = self.tree.locate_in_envelope_intersecting(within);
        candidates.filter(move |leaf| touches_box(leaf.corners, [low, high])).map(|leaf| leaf.index)
    }

    /// Returns the triangles whose bounding boxes intersect a triangle, in no particular order.
    pub fn near(&self, triangle: Triangle) -> impl Iterator<Item = u32> {
        self.near_in(triangle, usize::MAX)
    }

    /// Returns the triangles of [`near`](Self::near) that are found among the first `max_boxes` visited boxes. In a
    /// tangle, a triangle may intersect any number of boxes.
    pub fn near_in(&self, triangle: Triangle, max_boxes: usize) -> impl Iterator<Item = u32> {
        let across = Across { triangle, boxes_left: Cell::new(max_boxes) };
        self.tree.locate_with_selection_function(across).map(|leaf| leaf.index)
    }

    pub(super) fn root(&self) -> &ParentNode<Leaf> {
        self.tree.root()
    }
}

fn corners_of(envelope: &AABB<[f64; 3]>) -> [Vec3; 2] {
    [envelope.lower().into(), envelope.upper().into()]
}

/// Selects the boxes that a segment passes through.
struct Along {
    start: Vec3,
    end: Vec3,
}

impl SelectionFunction<Leaf> for Along {
    fn should_unpack_parent(&self, envelope: &AABB<[f64; 3]>) -> bool {
        let [low, high] = corners_of(envelope);
        // Separating axes of a segment and a box: the axes of the box, and their cross products with the segment.
        let (center, half) = (0.5 * (low + high), 0.5 * (high - low));
        let (middle, reach) = (0.5 * (self.start + self.end) - center, 0.5 * (self.end - self.start));
        let size = reach.abs();
        if (middle.abs() - size - half).max_element() > 0.0 {
            return false;
        }
        let across = middle.cross(reach).abs();
        let bound = Vec3::new(
            half.y * size.z + half.z * size.y,
            half.x * size.z + half.z * size.x,
            half.x * size.y + half.y * size.x,
        );
        // Rounding errors must not exclude a box that is touched.
        let slack = 8.0 * f64::EPSILON * (middle.abs() + half).length() * size.length();
        (across - bound).max_element() <= slack
    }
}

/// Selects the boxes that a triangle intersects, up to a limit on the visited boxes.
struct Across {
    triangle: Triangle,
    boxes_left: Cell<usize>,
}

impl Across {
    fn touches(&self, envelope: &AABB<[f64; 3]>) -> bool {
        let Some(left) = self.boxes_left.get().checked_sub(1) else { return false };
        self.boxes_left.set(left);
        touches_box(self.triangle, corners_of(envelope))
    }
}

impl SelectionFunction<Leaf> for Across {
    fn should_unpack_parent(&self, envelope: &AABB<[f64; 3]>) -> bool {
        self.touches(envelope)
    }

    fn should_unpack_leaf(&self, leaf: &Leaf) -> bool {
        self.touches(&leaf.envelope())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soup(count: usize) -> Vec<Triangle> {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut vector = |size: f64| size * (2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE);
        (0..count)
            .map(|_| {
                let center = vector(1.0);
                [center + vector(0.1), center + vector(0.1), center + vector(0.1)]
            })
            .collect()
    }

    #[test]
    fn queries_find_what_a_look_at_every_triangle_finds() {
        let triangles = soup(700);
        let tree = TriangleTree::new(triangles.iter().copied());
        let mut rng = fastrand::Rng::with_seed(6);
        let mut point = || 1.2 * (2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE);
        let mut met = 0;
        for _ in 0..300 {
            let (p, q) = (point(), point());
            let min = triangles.iter().map(|t| nearest_on_triangle(*t, p).distance(p)).fold(f64::INFINITY, f64::min);
            let nearest = tree.nearest(p).unwrap();
            assert_eq!(nearest.distance, min);
            assert!(tree.is_near(p, 1.001 * min) && !tree.is_near(p, 0.999 * min));
            assert_eq!(nearest_on_triangle(triangles[nearest.triangle as usize], p), nearest.point);

            let mut hits: Vec<(f64, u32)> =
                (0..).zip(&triangles).filter_map(|(i, t)| hit(*t, p, q).map(|at| (at, i))).collect();
            hits.sort_by(|a, b| a.0.total_cmp(&b.0));
            met += hits.len();
            assert_eq!(tree.hits(p, q), hits);

            let triangle = triangles[met % triangles.len()];
            let mut near: Vec<u32> = tree.near(triangle).collect();
            near.sort_unstable();
            let boxed = |t: &Triangle| touches_box(triangle, bounding_box(*t));
            assert!((0..).zip(&triangles).filter(|(_, t)| boxed(t)).map(|(i, _)| i).eq(near.iter().copied()));
            assert!(tree.near_in(triangle, 50).all(|index| near.contains(&index)));
            assert_eq!(tree.near_in(triangle, 0).count(), 0);

            let (low, high) = (p.min(q), p.max(q));
            let mut touching: Vec<u32> = tree.touching(low, high).collect();
            touching.sort_unstable();
            let all = (0..).zip(&triangles).filter(|(_, t)| touches_box(**t, [low, high])).map(|(i, _)| i);
            assert!(all.eq(touching));
        }
        assert!(met > 100);
    }

    #[test]
    fn an_empty_tree_has_nothing() {
        let tree = TriangleTree::new([]);
        assert!(tree.is_empty() && tree.nearest(Vec3::ZERO).is_none() && tree.hits(Vec3::ZERO, Vec3::X).is_empty());
    }
}
