//! The generalised winding number of a surface, and a tree that makes it fast.
//!
//! How often a surface goes around a point `q` (Jacobson, Kavan and Sorkine-Hornung 2013):
//!
//! ```text
//! w(q) = 1/4π Σ Ω(triangle, q) = ∫ n·(x−q) / (4π |x−q|³) dA
//! ```
//!
//! For a closed surface that is 1 inside and 0 outside, 2 where it overlaps itself, −1 if it is inside out. Where there are
//! holes it changes smoothly from one to the other, and ½ is the natural lid.
//!
//! Seen from afar a cluster of triangles is an expansion around its centre `c` (Barill, Dickson, Schmidt, Levin and Jacobson 2018),
//! with `r = c − q`, `N = Σ Aₜnₜ` and `M = Σ (cₜ−c) Aₜnₜᵀ`:
//!
//! ```text
//! 4π w ≈ N·r/|r|³ + tr M/|r|³ − 3 rᵀM r/|r|⁵
//! ```
//!
//! Of triangles that are near, the solid angles themselves are added up. As `½Ω` is the angle of a complex number
//! ([`solid_angle`](super::solid_angle)), their sum is the angle of the product of all of these, with the full turns counted on the way: one
//! arctangent for all triangles instead of one for each, and the rest runs over several points at a time.

use std::f64::consts::PI;
use std::ops::Range;

use rayon::prelude::*;
use rstar::{ParentNode, RTreeNode};

use super::tree::Leaf;
use super::{Triangle, TriangleTree, area_vector};
use crate::math::{Kernel, Mat3, Simd, Vec3, dispatch, outer};

/// A cluster is expanded if it is so many of its radii away. The error is then a few hundredths at most.
const FAR: f64 = 2.5;

/// Products of three lengths are nothing below this part of that of the whole surface. As many of them as a cluster has triangles can be multiplied.
const NOTHING: f64 = 1e-45;

/// The winding numbers of a surface.
#[derive(Debug, Clone)]
pub struct WindingTree {
    /// Every cluster before the clusters that it is made of.
    clusters: Vec<Cluster>,
    /// In the order of the clusters.
    triangles: Vec<Facet>,
    /// One by the cube of the size of all: products of lengths become numbers around one.
    scale: f64,
}

#[derive(Debug, Clone)]
struct Cluster {
    centre: Vec3,
    /// The square of the distance from which it may be expanded.
    far: f64,
    /// `N`.
    area: Vec3,
    /// `M`.
    moment: Mat3,
    /// The first cluster that is no part of this one.
    next: u32,
    /// Its triangles, if it is not made of clusters.
    triangles: Range<u32>,
}

/// A triangle, which has no `M` around its own centre.
#[derive(Debug, Clone)]
struct Facet {
    corners: Triangle,
    centre: Vec3,
    far: f64,
    area: Vec3,
}

impl Facet {
    fn new(corners: Triangle) -> Self {
        let centre = corners.iter().sum::<Vec3>() / 3.0;
        Self { corners, centre, far: far(centre, &corners), area: area_vector(corners) }
    }
}

/// The square of the distance from which what is at `points` may be expanded around `centre`.
fn far<'a>(centre: Vec3, points: impl IntoIterator<Item = &'a Vec3>) -> f64 {
    // Not even a triangle without size may be expanded where it is.
    FAR * FAR * points.into_iter().map(|p| p.distance_squared(centre)).fold(f64::MIN_POSITIVE, f64::max)
}

impl WindingTree {
    /// The tree of the same triangles.
    pub fn new(tree: &TriangleTree) -> Self {
        let [low, high] = tree.bounds();
        let scale = (high - low).max_element().powi(-3).clamp(f64::MIN_POSITIVE, f64::MAX);
        let mut this = Self { clusters: Vec::new(), triangles: Vec::with_capacity(tree.len()), scale };
        this.add(tree.root());
        // Clusters know their triangles only now.
        let Self { clusters, triangles, .. } = &mut this;
        let starts: Vec<u32> = clusters.iter().map(|cluster| cluster.triangles.start).collect();
        clusters.par_iter_mut().for_each(|cluster| {
            let end = starts.get(cluster.next as usize).map_or(triangles.len(), |&start| start as usize);
            let own = &triangles[cluster.triangles.start as usize..end];
            cluster.far = far(cluster.centre, own.iter().flat_map(|facet| &facet.corners));
        });
        this
    }

    /// Add a node of the tree and what is below it; returns the area of its surface.
    fn add(&mut self, node: &ParentNode<Leaf>) -> f64 {
        let (index, first) = (self.clusters.len(), self.triangles.len() as u32);
        let (centre, area, moment) = (Vec3::ZERO, Vec3::ZERO, Mat3::ZERO);
        self.clusters.push(Cluster { centre, far: 0.0, area, moment, next: 0, triangles: first..first });
        // Parts: how large, where, and their own sums.
        let mut parts: Vec<(f64, Vec3, Vec3, Mat3)> = Vec::with_capacity(node.children().len());
        // Trees of boxes are level: either all children are triangles or none is.
        for child in node.children() {
            match child {
                RTreeNode::Leaf(Leaf { corners, .. }) => {
                    let facet = Facet::new(*corners);
                    parts.push((facet.area.length(), facet.centre, facet.area, Mat3::ZERO));
                    self.triangles.push(facet);
                }
                RTreeNode::Parent(below) => {
                    let child = self.clusters.len();
                    let size = self.add(below);
                    let cluster = &self.clusters[child];
                    parts.push((size, cluster.centre, cluster.area, cluster.moment));
                }
            }
        }
        let size: f64 = parts.iter().map(|part| part.0).sum();
        let centre = if size > 0.0 {
            parts.iter().map(|&(size, centre, ..)| size * centre).sum::<Vec3>() / size
        } else {
            parts.first().map_or(Vec3::ZERO, |part| part.1)
        };
        let next = self.clusters.len() as u32;
        let is_leaf = next as usize == index + 1;
        let cluster = &mut self.clusters[index];
        cluster.centre = centre;
        for (_, place, area, moment) in parts {
            cluster.area += area;
            cluster.moment += moment + outer(place - centre, area);
        }
        cluster.next = next;
        cluster.triangles = if is_leaf { first..self.triangles.len() as u32 } else { first..first };
        size
    }

    /// How often the surface goes around `point`.
    pub fn winding_number(&self, point: Vec3) -> f64 {
        let mut number = [0.0];
        self.winding_numbers(&[point], &mut number);
        number[0]
    }

    /// How often the surface goes around each of `points`: fastest for points near one another.
    ///
    /// # Panics
    /// If there are not as many `numbers` as points.
    pub fn winding_numbers(&self, points: &[Vec3], numbers: &mut [f64]) {
        assert_eq!(points.len(), numbers.len(), "a number for each point");
        dispatch(GoesAround { tree: self, points, numbers });
    }
}

/// Winding numbers of as many points at a time as there are lanes.
struct GoesAround<'a> {
    tree: &'a WindingTree,
    points: &'a [Vec3],
    numbers: &'a mut [f64],
}

/// Registers have no more lanes.
const MOST_LANES: usize = 8;

impl Kernel for GoesAround<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for (points, numbers) in self.points.chunks(R::WIDTH).zip(self.numbers.chunks_mut(R::WIDTH)) {
            let mut lanes = [[0.0; MOST_LANES]; 3];
            for lane in 0..R::WIDTH {
                // Lanes that are left over do what the last one does.
                let point = points[lane.min(points.len() - 1)];
                (lanes[0][lane], lanes[1][lane], lanes[2][lane]) = (point.x, point.y, point.z);
            }
            let (from_afar, near) = self.tree.around([R::load(&lanes[0]), R::load(&lanes[1]), R::load(&lanes[2])]);
            let [mut sums, mut res, mut ims, mut turns] = [[0.0; MOST_LANES]; 4];
            from_afar.store(&mut sums);
            near.re.store(&mut res);
            near.im.store(&mut ims);
            near.turns.store(&mut turns);
            for (lane, number) in numbers.iter_mut().enumerate() {
                // An angle of −π and of π are the same; without the sign of zero it is π, as `turns` has it.
                let half_angle = (ims[lane] + 0.0).atan2(res[lane]) + 2.0 * PI * turns[lane];
                *number = (sums[lane] + 2.0 * half_angle) / (4.0 * PI);
            }
        }
    }
}

impl WindingTree {
    /// The sum of solid angles of clusters and triangles that are expanded, and that of the others.
    #[inline(always)]
    fn around<R: Simd>(&self, point: [R; 3]) -> (R, Angle<R>) {
        let mut sum = R::from(0.0);
        let mut near = Angle { re: R::from(1.0), im: R::from(0.0), below: R::from(0.0), turns: R::from(0.0) };
        let mut index = 0;
        while let Some(cluster) = self.clusters.get(index) {
            let r = between(point, cluster.centre);
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
                    let r = between(point, facet.centre);
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

/// The way from a point to a place.
#[inline(always)]
fn between<R: Simd>(point: [R; 3], place: Vec3) -> [R; 3] {
    [R::from(place.x) - point[0], R::from(place.y) - point[1], R::from(place.z) - point[2]]
}

/// The scalar product with the same vector in all lanes.
#[inline(always)]
fn across<R: Simd>(r: [R; 3], n: [f64; 3]) -> R {
    r[0] * n[0] + r[1] * n[1] + r[2] * n[2]
}

#[inline(always)]
fn dot<R: Simd>(a: [R; 3], b: [R; 3]) -> R {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// A sum of angles: that of `re + i im`, from −π to π, and full turns.
struct Angle<R> {
    re: R,
    im: R,
    /// One if `im` is negative, else zero.
    below: R,
    turns: R,
}

impl<R: Simd> Angle<R> {
    /// Add half the solid angle of a triangle, whose corners are at `a`, `b` and `c` seen from the point.
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
        // Seen from a corner it has no angle.
        let x = R::select((x.abs() + y.abs()).less(R::from(NOTHING)), R::from(1.0), x);
        let (re, im) = (self.re * x - self.im * y, self.re * y + self.im * x);
        // Two angles from 0 to π make one beyond π if their product is below, and so on.
        let (zero, one) = (R::from(0.0), R::from(1.0));
        let y_below = R::select(y.less(zero), one, zero);
        let below = R::select(im.less(zero), one, zero);
        self.turns += (one - self.below) * (one - y_below) * below - self.below * y_below * (one - below);
        (self.re, self.im, self.below) = (re, im, below);
    }

    /// Of the same angle, but of length one or so: products of many numbers leave the range of a double.
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

    /// A ball of triangles, with every `leave_out`th left out.
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
            // Balls over balls, and triangles as long as all of it.
            let balls = [(3, false), (4, false), (5, false), (6, false), (5, true)].map(|(rings, turned)| {
                ball(rings, 0).into_iter().map(move |[a, b, c]| if turned { [a, c, b] } else { [a, b, c] })
            });
            let tangle = (0..300).map(|_| [vector(), vector(), vector()]);
            let triangles: Vec<Triangle> =
                balls.into_iter().flatten().chain(tangle).map(|t| t.map(|x| size * x)).collect();
            let tree = WindingTree::new(&TriangleTree::new(triangles.iter().copied()));
            // All at once, with some left over in the last lanes; among them corners, and middles of edges and triangles.
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
            // Errors of many clusters add up, as their solid angles do; a turn too many would be one.
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
        // Nor around what has no size.
        for triangles in [vec![], vec![[Vec3::ONE; 3]; 40]] {
            let tree = WindingTree::new(&TriangleTree::new(triangles));
            assert_eq!([Vec3::ZERO, Vec3::ONE].map(|point| tree.winding_number(point)), [0.0; 2]);
        }
    }
}
