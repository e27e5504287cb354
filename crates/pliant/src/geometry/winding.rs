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

use std::f64::consts::PI;
use std::ops::Range;

use rayon::prelude::*;
use rstar::{ParentNode, RTreeNode};

use super::tree::Leaf;
use super::{Triangle, TriangleTree, area_vector, solid_angle};
use crate::math::{Mat3, Vec3, outer};

/// A cluster is expanded if it is so many of its radii away. The error is then a few hundredths at most.
const FAR: f64 = 2.5;

/// The winding numbers of a surface.
#[derive(Debug, Clone)]
pub struct WindingTree {
    /// Every cluster before the clusters that it is made of.
    clusters: Vec<Cluster>,
    /// In the order of the clusters.
    triangles: Vec<Facet>,
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

    fn solid_angle(&self, point: Vec3) -> f64 {
        let r = self.centre - point;
        let square = r.length_squared();
        if square > self.far { self.area.dot(r) / (square * square.sqrt()) } else { solid_angle(self.corners, point) }
    }
}

/// The square of the distance from which what is at `points` may be expanded around `centre`.
fn far<'a>(centre: Vec3, points: impl IntoIterator<Item = &'a Vec3>) -> f64 {
    FAR * FAR * points.into_iter().map(|p| p.distance_squared(centre)).fold(0.0, f64::max)
}

impl WindingTree {
    /// The tree of the same triangles.
    pub fn new(tree: &TriangleTree) -> Self {
        let mut this = Self { clusters: Vec::new(), triangles: Vec::with_capacity(tree.len()) };
        this.add(tree.root());
        // Clusters know their triangles only now.
        let Self { clusters, triangles } = &mut this;
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
        let mut sum = 0.0;
        let mut index = 0;
        while let Some(cluster) = self.clusters.get(index) {
            let r = cluster.centre - point;
            let square = r.length_squared();
            if square > cluster.far {
                let cube = square * square.sqrt();
                let trace = cluster.moment.x_axis.x + cluster.moment.y_axis.y + cluster.moment.z_axis.z;
                sum += (cluster.area.dot(r) + trace - 3.0 * r.dot(cluster.moment * r) / square) / cube;
                index = cluster.next as usize;
            } else if cluster.triangles.is_empty() {
                index += 1;
            } else {
                let own = &self.triangles[cluster.triangles.start as usize..cluster.triangles.end as usize];
                sum += own.iter().map(|facet| facet.solid_angle(point)).sum::<f64>();
                index = cluster.next as usize;
            }
        }
        sum / (4.0 * PI)
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(WindingTree::new(&TriangleTree::new([])).winding_number(Vec3::ZERO), 0.0);
    }
}
