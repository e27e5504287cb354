//! Triangles in a tree of boxes: what is nearest, what a segment meets, what a box touches.

use std::cell::Cell;

use rstar::{AABB, ParentNode, PointDistance, RTree, RTreeObject, SelectionFunction};

use super::bounding_box;
use super::triangle::{Triangle, hit, nearest_on_triangle, touches_box};
use crate::math::Vec3;

/// A tree of triangles, numbered in the order that they were given in.
#[derive(Debug, Clone)]
pub struct TriangleTree {
    tree: RTree<Leaf>,
    triangles: Vec<Triangle>,
}

/// The place on a surface nearest to some point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// The place.
    pub point: Vec3,
    /// Which triangle it is on.
    pub triangle: u32,
    /// How far away it is.
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
    /// A tree of `triangles`, whose corners are finite.
    pub fn new(triangles: impl IntoIterator<Item = Triangle>) -> Self {
        let triangles: Vec<Triangle> = triangles.into_iter().collect();
        let leaves = (0..).zip(&triangles).map(|(index, &corners)| Leaf { corners, index }).collect();
        Self { tree: RTree::bulk_load(leaves), triangles }
    }

    /// How many triangles there are.
    pub fn len(&self) -> usize {
        self.tree.size()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The corners of triangle `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn triangle(&self, index: u32) -> Triangle {
        self.triangles[index as usize]
    }

    /// All triangles, in the order that they were given in.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    /// The smallest box around all triangles: its low and high corner, infinite and turned around if there are none.
    pub fn bounds(&self) -> [Vec3; 2] {
        bounding_box(self.triangles.iter().flatten().copied())
    }

    /// The place nearest to `point`, or none if there are no triangles. Of several as near, any one, but always the same.
    pub fn nearest(&self, point: Vec3) -> Option<Nearest> {
        let leaf = self.tree.nearest_neighbor(point.to_array())?;
        let nearest = nearest_on_triangle(leaf.corners, point);
        Some(Nearest { point: nearest, triangle: leaf.index, distance: nearest.distance(point) })
    }

    /// Whether a triangle is nearer to `point` than `distance`.
    pub fn is_near(&self, point: Vec3, distance: f64) -> bool {
        self.tree.locate_within_distance(point.to_array(), distance * distance).next().is_some()
    }

    /// Where the segment from `start` to `end` meets triangles, in order: how far along it is, from 0 to 1, and which
    /// triangle. Where it meets a common edge there is an entry for each triangle.
    pub fn hits(&self, start: Vec3, end: Vec3) -> Vec<(f64, u32)> {
        let found = self.tree.locate_with_selection_function(Along { start, end });
        let mut hits: Vec<(f64, u32)> =
            found.filter_map(|leaf| hit(leaf.corners, start, end).map(|t| (t, leaf.index))).collect();
        hits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        hits
    }

    /// The triangles that have a point in common with the box from `low` to `high`, in no particular order.
    pub fn touching(&self, low: Vec3, high: Vec3) -> impl Iterator<Item = u32> {
        let within = AABB::from_corners(low.to_array(), high.to_array());
        let candidates = self.tree.locate_in_envelope_intersecting(within);
        candidates.filter(move |leaf| touches_box(leaf.corners, [low, high])).map(|leaf| leaf.index)
    }

    /// The triangles whose boxes a triangle touches, in no particular order.
    pub fn near(&self, triangle: Triangle) -> impl Iterator<Item = u32> {
        self.near_in(triangle, usize::MAX)
    }

    /// As [`near`](Self::near), but after so many boxes the search ends. A triangle in a tangle may touch any number of them.
    pub fn near_in(&self, triangle: Triangle, most_boxes: usize) -> impl Iterator<Item = u32> {
        let across = Across { triangle, boxes_left: Cell::new(most_boxes) };
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
        // Separating axes of a segment and a box: those of the box, and those across the segment.
        let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
        let (middle, reach) = (0.5 * (self.start + self.end) - centre, 0.5 * (self.end - self.start));
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
        // Rounding lets a box be touched rather than missed.
        let slack = 8.0 * f64::EPSILON * (middle.abs() + half).length() * size.length();
        (across - bound).max_element() <= slack
    }
}

/// Selects the boxes that a triangle touches, as long as there are some left to look at.
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
                let centre = vector(1.0);
                [centre + vector(0.1), centre + vector(0.1), centre + vector(0.1)]
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
            let least = triangles.iter().map(|t| nearest_on_triangle(*t, p).distance(p)).fold(f64::INFINITY, f64::min);
            let nearest = tree.nearest(p).unwrap();
            assert_eq!(nearest.distance, least);
            assert!(tree.is_near(p, 1.001 * least) && !tree.is_near(p, 0.999 * least));
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
