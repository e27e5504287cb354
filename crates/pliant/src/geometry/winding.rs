//! Generalized winding number of a surface, and a tree for its fast evaluation.
//!
//! The winding number of a surface around a point `q` \[JacobsonKavanSorkine2013\] is
//!
//! ```text
//! w(q) = 1/4π Σ Ω(triangle, q) = ∫ n·(x−q) / (4π |x−q|³) dA
//! ```
//!
//! For a closed surface it is 1 inside and 0 outside, 2 where the surface overlaps itself, −1 if it is inside out.
//! Across holes it changes smoothly from one to the other, and the level set ½ closes them naturally.
//!
//! From afar, a cluster of triangles is approximated by an expansion around its center `c` \[Barill2018\],
//! with `r = c − q`, `N = Σ Aₜnₜ` and `M = Σ (cₜ−c) Aₜnₜᵀ`:
//!
//! ```text
//! 4π w ≈ N·r/|r|³ + tr M/|r|³ − 3 rᵀM r/|r|⁵
//! ```
//!
//! The solid angles of nearby triangles are summed exactly. `½Ω` is the argument of a complex number
//! ([`solid_angle`](super::solid_angle)). The sum is therefore the argument of the product of these numbers, plus the
//! full turns that are counted along the way. This takes one arctangent in total instead of one per triangle, and the
//! rest is vectorized over several points.

use std::f64::consts::PI;
use std::ops::Range;

use rayon::prelude::*;
use rstar::{ParentNode, RTreeNode};

use super::tree::Leaf;
use super::{Triangle, TriangleTree, area_vector};
use crate::math::{Kernel, Mat3, Simd, Vec3, dispatch, outer};

/// Distance, in radii of a cluster, from which its expansion is used. The error is then a few hundredths at most.
const FAR: f64 = 2.5;

/// Value, relative to the cubed size of the surface, below which a product of three lengths counts as zero. As many of
/// these products as a cluster has triangles can be multiplied without underflow.
const NOTHING: f64 = 1e-45;

/// Tree for the winding numbers of a surface.
#[derive(Debug, Clone)]
pub struct WindingTree {
    /// Clusters, each before its children.
    clusters: Vec<Cluster>,
    /// Triangles in the order of the clusters.
    triangles: Vec<Facet>,
    /// Inverse cube of the surface's size, which scales products of three lengths to about one.
    scale: f64,
}

#[derive(Debug, Clone)]
struct Cluster {
    center: Vec3,
    /// Squared distance from which the expansion may be used.
    far: f64,
    /// `N`.
    area: Vec3,
    /// `M`.
    moment: Mat3,
    /// First cluster that is not a descendant of this one.
    next: u32,
    /// Triangles of the cluster, if it has no child clusters.
    triangles: Range<u32>,
}

/// Triangle, whose `M` about its own center is zero.
#[derive(Debug, Clone)]
struct Facet {
    corners: Triangle,
    center: Vec3,
    far: f64,
    area: Vec3,
}

impl Facet {
    fn new(corners: Triangle) -> Self {
        let center = corners.iter().sum::<Vec3>() / 3.0;
        Self { corners, center, far: far(center, &corners), area: area_vector(corners) }
    }
}

/// Returns the squared distance from which an expansion of the geometry at `points` around `center` may be used.
fn far<'a>(center: Vec3, points: impl IntoIterator<Item = &'a Vec3>) -> f64 {
    // Even a degenerate triangle must not be expanded at its own position.
    FAR * FAR * points.into_iter().map(|p| p.distance_squared(center)).fold(f64::MIN_POSITIVE, f64::max)
}

impl WindingTree {
    /// Builds the tree of the triangles of `tree`.
    pub fn new(tree: &TriangleTree) -> Self {
        let [low, high] = tree.bounds();
        let scale = (high - low).max_element().powi(-3).clamp(f64::MIN_POSITIVE, f64::MAX);
        let mut this = Self { clusters: Vec::new(), triangles: Vec::with_capacity(tree.len()), scale };
        this.add(tree.root());
        // The triangles of a cluster are known only now.
        let Self { clusters, triangles, .. } = &mut this;
        let starts: Vec<u32> = clusters.iter().map(|cluster| cluster.triangles.start).collect();
        clusters.par_iter_mut().for_each(|cluster| {
            let end = starts.get(cluster.next as usize).map_or(triangles.len(), |&start| start as usize);
            let own = &triangles[cluster.triangles.start as usize..end];
            cluster.far = far(cluster.center, own.iter().flat_map(|facet| &facet.corners));
        });
        this
    }

    /// Adds a node of the tree and its descendants. Returns the area of its surface.
    fn add(&mut self, node: &ParentNode<Leaf>) -> f64 {
        let (index, first) = (self.clusters.len(), self.triangles.len() as u32);
        let (center, area, moment) = (Vec3::ZERO, Vec3::ZERO, Mat3::ZERO);
        self.clusters.push(Cluster { center, far: 0.0, area, moment, next: 0, triangles: first..first });
        // Children: size, center, `N` and `M`.
        let mut parts: Vec<(f64, Vec3, Vec3, Mat3)> = Vec::with_capacity(node.children().len());
        // R-trees are balanced: either all children are triangles or none is.
        for child in node.children() {
            match child {
                RTreeNode::Leaf(Leaf { corners, .. }) => {
                    let facet = Facet::new(*corners);
                    parts.push((facet.area.length(), facet.center, facet.area, Mat3::ZERO));
                    self.triangles.push(facet);
                }
                RTreeNode::Parent(below) => {
                    let child = self.clusters.len();
                    let size = self.add(below);
                    let cluster = &self.clusters[child];
                    parts.push((size, cluster.center, cluster.area, cluster.moment));
                }
            }
        }
        let size: f64 = parts.iter().map(|part| part.0).sum();
        let center = if size > 0.0 {
            parts.iter().map(|&(size, center, ..)| size * center).sum::<Vec3>() / size
        } else {
            parts.first().map_or(Vec3::ZERO, |part| part.1)
        };
        let next = self.clusters.len() as u32;
        let is_leaf = next as usize == index + 1;
        let cluster = &mut self.clusters[index];
        cluster.center = center;
        for (_, place, area, moment) in parts {
            cluster.area += area;
            cluster.moment += moment + outer(place - center, area);
        }
        cluster.next = next;
        cluster.triangles = if is_leaf { first..self.triangles.len() as u32 } else { first..first };
        size
    }

    /// Returns the winding number of the surface around `point`.
    pub fn winding_number(&self, point: Vec3) -> f64 {
        let mut number = [0.0];
        self.winding_numbers(&[point], &mut number);
        number[0]
    }

    /// Computes the winding number of the surface around each of `points`, fastest for points close together.
    ///
    /// # Panics
    /// If `numbers` and `points` differ in length.
    pub fn winding_numbers(&self, points: &[Vec3], numbers: &mut [f64]) {
        assert_eq!(points.len(), numbers.len(), "expected one number per point");
        dispatch(GoesAround { tree: self, points, numbers });
    }
}

/// Kernel that computes the winding numbers of one point per lane at a time.
struct GoesAround<'a> {
    tree: &'a WindingTree,
    points: &'a [Vec3],
    numbers: &'a mut [f64],
}

/// Maximum number of lanes of a register.
const MAX_LANES: usize = 8;

impl Kernel for GoesAround<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for (points, numbers) in self.points.chunks(R::WIDTH).zip(self.numbers.chunks_mut(R::WIDTH)) {
            let mut lanes = [[0.0; MAX_LANES]; 3];
            for lane in 0..R::WIDTH {
                // Unused lanes repeat the last point.
                let point = points[lane.min(points.len() - 1)];
                (lanes[0][lane], lanes[1][lane], lanes[2][lane]) = (point.x, point.y, point.z);
            }
            let (from_afar, near) = self.tree.around([R::load(&lanes[0]), R::load(&lanes[1]), R::load(&lanes[2])]);
            let [mut sums, mut res, mut ims, mut turns] = [[0.0; MAX_LANES]; 4];
            from_afar.store(&mut sums);
            near.re.store(&mut res);
            near.im.store(&mut ims);
            near.turns.store(&mut turns);
            for (lane, number) in numbers.iter_mut().enumerate() {
                // The angles −π and π are the same. Without the sign of zero it is π, which is consistent with `turns`.
                let half_angle = (ims[lane] + 0.0).atan2(res[lane]) + 2.0 * PI * turns[lane];
                *number = (sums[lane] + 2.0 * half_angle) / (4.0 * PI);
            }
        }
    }
}

impl WindingTree {
    /// Returns the sum of the expanded solid angles, and the angle of the others.
    #[inline(always)]
    fn around<R: Simd>(&self, point: [R; 3]) -> (R, Angle<R>) {
        let mut sum = R::from(0.0);
        let mut near = Angle { re: R::from(1.0), im: R::from(0.0), below: R::from(0.0), turns: R::from(0.0) };
        let mut index = 0;
        while let Some(cluster) = self.clusters.get(index) {
            let r = between(point, cluster.center);
            let square = dot(r, r);
            if !R::any(square.less(R::from(cluster.far))) {
                let [x, y, z] = [cluster.moment.x_axis, cluster.moment.y_axis, cluster.moment.z_axis];
                let moved = [across(r, [x.x, y.x, z.x]), across(r, [x.y, y.y, z.y]), across(r, [x.z, y.z, z.z])];
                let flux = across(r, cluster.area.to_array()) + (x.x + y.y + z.z) - dot(r, moved) / square * 3.0;
                sum += flux / (square * square.sqrt());
                index = cluster.next as usize;
            } else if cluster.triangles.is_empty() {
                index += 1;
            } else {
                for facet in &self.triangles[cluster.triangles.start as usize..cluster.triangles.end as usize] {
                    let r = between(point, facet.center);
                    let square = dot(r, r);
                    if R::any(square.less(R::from(facet.far))) {
                        let [a, b, c] = facet.corners;
                        near.add([between(point, a), between(point, b), between(point, c)], self.scale);
                    } else {
                        sum += across(r, facet.area.to_array()) / (square * square.sqrt());
                    }
                }
                near.shorten();
                index = cluster.next as usize;
            }
        }
        (sum, near)
    }
}

/// Returns the vector from `point` to `place`.
#[inline(always)]
fn between<R: Simd>(point: [R; 3], place: Vec3) -> [R; 3] {
    [R::from(place.x) - point[0], R::from(place.y) - point[1], R::from(place.z) - point[2]]
}

/// Returns the scalar product with a vector that is the same in all lanes.
#[inline(always)]
fn across<R: Simd>(r: [R; 3], n: [f64; 3]) -> R {
    r[0] * n[0] + r[1] * n[1] + r[2] * n[2]
}

#[inline(always)]
fn dot<R: Simd>(a: [R; 3], b: [R; 3]) -> R {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// Sum of angles: the argument of `re + i im`, from −π to π, plus full turns.
struct Angle<R> {
    re: R,
    im: R,
    /// 1 if `im` is negative, else 0.
    below: R,
    turns: R,
}

impl<R: Simd> Angle<R> {
    /// Adds half the solid angle of a triangle, with corners `a`, `b` and `c` relative to the point.
    #[inline(always)]
    fn add(&mut self, [a, b, c]: [[R; 3]; 3], scale: f64) {
        let [la, lb, lc] = [dot(a, a).sqrt(), dot(b, b).sqrt(), dot(c, c).sqrt()];
        let b_c = [
            b[1].mul_add(c[2], -(b[2] * c[1])),
            b[2].mul_add(c[0], -(b[0] * c[2])),
            b[0].mul_add(c[1], -(b[1] * c[0])),
        ];
        let y = dot(a, b_c) * scale;
        let x = ((la * lb + dot(a, b)) * lc + dot(b, c) * la + dot(c, a) * lb) * scale;
        // At a corner the solid angle counts as zero.
        let x = R::select((x.abs() + y.abs()).less(R::from(NOTHING)), R::from(1.0), x);
        let (re, im) = (self.re * x - self.im * y, self.re * y + self.im * x);
        // The sum of two angles from 0 to π exceeds π if the imaginary part of their product is negative; likewise for
        // negative angles.
        let (zero, one) = (R::from(0.0), R::from(1.0));
        let y_below = R::select(y.less(zero), one, zero);
        let below = R::select(im.less(zero), one, zero);
        self.turns += (one - self.below) * (one - y_below) * below - self.below * y_below * (one - below);
        (self.re, self.im, self.below) = (re, im, below);
    }

    /// Normalizes the number to a modulus of about one: products of many numbers leave the range of a double.
    #[inline(always)]
    fn shorten(&mut self) {
        let by = (self.re.abs() + self.im.abs()).recip();
        (self.re, self.im) = (self.re * by, self.im * by);
    }
}

#[cfg(test)]
mod tests {
    use super::super::solid_angle;
    use super::*;

    /// Returns a ball of triangles without every `leave_out`th triangle.
    fn ball(rings: usize, leave_out: usize) -> Vec<Triangle> {
        let at = |i: usize, j: usize| {
            let (theta, phi) = (PI * i as f64 / rings as f64, 2.0 * PI * j as f64 / (2 * rings) as f64);
            Vec3::new(theta.sin() * phi.cos(), theta.sin() * phi.sin(), theta.cos())
        };
        let quads = (0..rings).flat_map(|i| (0..2 * rings).map(move |j| (i, j)));
        quads
            .flat_map(|(i, j)| {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                [[a, b, c], [a, c, d]]
            })
            .enumerate()
            .filter(|(i, _)| leave_out == 0 || i % leave_out != 0)
            .map(|(_, triangle)| triangle)
            .collect()
    }

    #[test]
    fn the_tree_agrees_with_the_sum_over_all_triangles() {
        for leave_out in [0, 3] {
            let triangles = ball(40, leave_out);
            let tree = WindingTree::new(&TriangleTree::new(triangles.iter().copied()));
            let mut rng = fastrand::Rng::with_seed(7);
            let mut worst: f64 = 0.0;
            for _ in 0..500 {
                let p = 1.5 * (2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE);
                let exact = triangles.iter().map(|t| solid_angle(*t, p)).sum::<f64>() / (4.0 * PI);
                worst = worst.max((tree.winding_number(p) - exact).abs());
            }
            println!("largest error of the winding number: {worst:.2e}");
            assert!(worst < 0.03, "{worst}");
        }
    }

    #[test]
    fn turns_are_counted_however_often_and_either_way_a_tangle_goes_around() {
        let mut rng = fastrand::Rng::with_seed(17);
        let mut vector = || 2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE;
        for size in [1e-40, 1.0, 1e40] {
            // Overlapping balls, and triangles as long as the whole surface.
            let balls = [(3, false), (4, false), (5, false), (6, false), (5, true)].map(|(rings, turned)| {
                ball(rings, 0).into_iter().map(move |[a, b, c]| if turned { [a, c, b] } else { [a, b, c] })
            });
            let tangle = (0..300).map(|_| [vector(), vector(), vector()]);
            let triangles: Vec<Triangle> =
                balls.into_iter().flatten().chain(tangle).map(|t| t.map(|x| size * x)).collect();
            let tree = WindingTree::new(&TriangleTree::new(triangles.iter().copied()));
            // One batch with a remainder in the last lanes. It includes corners, midpoints of edges and centroids of
            // triangles.
            let mut points: Vec<Vec3> = (0..200).map(|_| size * vector()).collect();
            let [a, b, c] = triangles[40];
            let degenerate = [a, b, 0.5 * (a + b), (a + b + c) / 3.0, Vec3::ZERO];
            points.extend(degenerate);
            let mut numbers = vec![f64::NAN; points.len()];
            tree.winding_numbers(&points, &mut numbers);
            let (mut far_around, mut worst, mut worst_alone) = (0.0_f64, 0.0_f64, 0.0_f64);
            for (p, number) in points.iter().zip(&numbers).take(200) {
                let exact = triangles.iter().map(|t| solid_angle(*t, *p)).sum::<f64>() / (4.0 * PI);
                far_around = far_around.max(exact.abs());
                worst = worst.max((number - exact).abs());
                worst_alone = worst_alone.max((tree.winding_number(*p) - exact).abs());
            }
            // Errors of many clusters add up, as do their solid angles. A miscounted turn would be an error of one.
            println!("largest errors in a tangle: {worst:.2e} and, each point alone, {worst_alone:.2e}");
            assert!(worst < 0.2 && worst_alone < 0.2, "{worst} and {worst_alone}");
            assert!(far_around > 2.5, "{far_around}");
            assert!(numbers.iter().all(|number| number.is_finite() && number.abs() < 20.0));
        }
    }

    #[test]
    fn a_closed_ball_is_gone_around_once_and_a_turned_one_the_other_way() {
        let triangles = ball(20, 0);
        let turned = triangles.iter().map(|&[a, b, c]| [a, c, b]);
        let trees = [TriangleTree::new(triangles.iter().copied()), TriangleTree::new(turned)];
        let [once, back] = trees.map(|tree| WindingTree::new(&tree));
        for radius in [0.0, 0.5, 0.98] {
            let p = radius * Vec3::new(0.6, 0.0, 0.8);
            assert!((once.winding_number(p) - 1.0).abs() < 0.03 && (back.winding_number(p) + 1.0).abs() < 0.03);
        }
        assert!(once.winding_number(Vec3::new(0.0, 1.1, 0.0)).abs() < 0.03);
        // Degenerate and empty surfaces have a winding number of zero.
        for triangles in [vec![], vec![[Vec3::ONE; 3]; 40]] {
            let tree = WindingTree::new(&TriangleTree::new(triangles));
            assert_eq!([Vec3::ZERO, Vec3::ONE].map(|point| tree.winding_number(point)), [0.0; 2]);
        }
    }
}
