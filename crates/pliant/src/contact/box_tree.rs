//! Bounding boxes of moving primitives in a balanced tree.

use rayon::prelude::*;

use crate::math::Vec3;

/// Number of primitives or nodes per task.
const CHUNK: usize = 1024;

/// Axis-aligned box with bounds in single precision, rounded outward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    low: [f32; 3],
    high: [f32; 3],
}

impl Bounds {
    /// Box without points.
    pub const EMPTY: Self = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// Creates the smallest box that contains all points, enlarged by `margin` on all sides. A point that is not
    /// finite makes it unbounded.
    pub fn of_points(points: impl IntoIterator<Item = Vec3>, margin: f64) -> Self {
        let (mut low, mut high, mut lost) = (Vec3::INFINITY, Vec3::NEG_INFINITY, Vec3::ZERO);
        for point in points {
            (low, high) = (low.min(point), high.max(point));
            // Comparisons drop NaN; a sum keeps it.
            lost += 0.0 * point;
        }
        let (low, high) = ((low - margin + lost).to_array(), (-high - margin + lost).to_array());
        Self { low: low.map(rounded_down), high: high.map(|x| -rounded_down(x)) }
    }

    /// Returns true if boxes have a point in common.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }

    /// Returns the smallest box that contains both.
    #[inline]
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }
}

/// Returns a single-precision number that is not greater; minus infinity for NaN.
fn rounded_down(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) <= x {
        rounded
    } else if x.is_nan() {
        f32::NEG_INFINITY
    } else {
        rounded.next_down()
    }
}

/// Balanced binary tree of boxes.
///
/// The order of the primitives is fixed when the tree is created, from their positions at that time. Boxes follow with
/// [`refit`](Self::refit). Level 0 has one box per primitive, and each further level one per two of the level below.
#[derive(Debug, Clone, Default)]
pub struct BoxTree {
    /// Primitive of each leaf.
    order: Vec<u32>,
    /// Boxes by level, leaves first.
    boxes: Vec<Bounds>,
    /// First box of each level.
    levels: Vec<usize>,
}

impl BoxTree {
    /// Creates a tree of primitives with these centers. Its boxes are empty.
    pub fn new(centers: &[Vec3]) -> Self {
        let mut order: Vec<u32> = (0..centers.len() as u32).collect();
        split(&mut order, centers);
        let (mut levels, mut count, mut total) = (Vec::new(), centers.len(), 0);
        while count > 0 {
            levels.push(total);
            total += count;
            count = if count == 1 { 0 } else { count.div_ceil(2) };
        }
        Self { order, boxes: vec![Bounds::EMPTY; total], levels }
    }

    /// Returns the number of primitives.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns true if there are no primitives.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Sets the boxes of all primitives.
    pub fn refit(&mut self, bounds: impl Fn(u32) -> Bounds + Sync) {
        let (leaves, mut above) = self.boxes.split_at_mut(self.order.len());
        leaves.par_iter_mut().zip(&self.order).with_min_len(CHUNK).for_each(|(leaf, &number)| *leaf = bounds(number));
        let mut below: &[Bounds] = leaves;
        while below.len() > 1 {
            let (level, rest) = above.split_at_mut(below.len().div_ceil(2));
            level.par_iter_mut().zip(below.par_chunks(2)).with_min_len(CHUNK).for_each(|(node, children)| {
                *node = children.iter().skip(1).fold(children[0], |sum, child| sum.union(child));
            });
            (below, above) = (level, rest);
        }
    }

    /// Calls `visit` with each primitive whose box meets another box, in the order of the tree.
    pub fn query(&self, bounds: &Bounds, mut visit: impl FnMut(u32)) {
        let Some(top) = self.levels.len().checked_sub(1) else { return };
        // Children of a node on the way to the last leaf, at most one sibling per level.
        let mut open = [(0_u8, 0_u32); 64];
        let mut count = 1;
        open[0] = (top as u8, 0);
        while count > 0 {
            count -= 1;
            let (level, index) = (open[count].0 as usize, open[count].1 as usize);
            if !self.boxes[self.levels[level] + index].meets(bounds) {
                continue;
            }
            if level == 0 {
                visit(self.order[index]);
                continue;
            }
            let below = self.levels[level] - self.levels[level - 1];
            if 2 * index + 1 < below {
                open[count] = (level as u8 - 1, 2 * index as u32 + 1);
                count += 1;
            }
            open[count] = (level as u8 - 1, 2 * index as u32);
            count += 1;
        }
    }
}

/// Sorts primitives such that each node of the tree has those of one half space of its parent.
fn split(order: &mut [u32], centers: &[Vec3]) {
    let count = order.len();
    if count <= 2 {
        return;
    }
    // The first child of a node is complete.
    let half = count.next_power_of_two() / 2;
    let places = || order.iter().map(|&number| centers[number as usize]);
    let size = places().fold(Vec3::NEG_INFINITY, Vec3::max) - places().fold(Vec3::INFINITY, Vec3::min);
    let axis = (0..3).max_by(|&i, &j| size[i].total_cmp(&size[j])).unwrap_or(0);
    let along = |&number: &u32| centers[number as usize][axis];
    order.select_nth_unstable_by(half, |a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
    let (first, second) = order.split_at_mut(half);
    rayon::join(|| split(first, centers), || split(second, centers));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_points(count: usize, seed: u64) -> Vec<Vec3> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| Vec3::new(random.f64(), random.f64(), 0.1 * random.f64())).collect()
    }

    #[test]
    fn queries_find_the_same_boxes_as_a_search_through_all_also_after_they_have_moved() {
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 100, 1025] {
            let start = random_points(count, 1);
            let mut tree = BoxTree::new(&start);
            assert_eq!(tree.len(), count);
            for places in [start.clone(), random_points(count, 2)] {
                let bounds = |number: u32| Bounds::of_points([places[number as usize]], 0.05);
                tree.refit(bounds);
                for center in random_points(20, 3) {
                    let wanted = Bounds::of_points([center], 0.05);
                    let mut found = Vec::new();
                    tree.query(&wanted, |number| found.push(number));
                    found.sort_unstable();
                    let all: Vec<u32> = (0..count as u32).filter(|&number| bounds(number).meets(&wanted)).collect();
                    assert_eq!(found, all);
                }
            }
        }
    }

    #[test]
    fn bounds_contain_their_points_in_single_precision() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..1000 {
            let scale = 10_f64.powf(20.0 * random.f64() - 10.0);
            let point = scale * Vec3::new(random.f64() - 0.5, random.f64() - 0.5, random.f64() - 0.5);
            let bounds = Bounds::of_points([point], 0.0);
            for axis in 0..3 {
                let (low, high) = (f64::from(bounds.low[axis]), f64::from(bounds.high[axis]));
                assert!(low <= point[axis] && point[axis] <= high && high - low <= 3e-7 * point[axis].abs());
            }
        }
    }

    #[test]
    fn boxes_of_lost_points_meet_all_others() {
        let lost = Bounds::of_points([Vec3::new(f64::NAN, 0.0, 0.0), Vec3::ZERO], 0.0);
        assert!(lost.meets(&Bounds::of_points([Vec3::new(1e9, 0.0, 0.0)], 0.0)));
        assert!(!lost.meets(&Bounds::EMPTY));
    }
}
