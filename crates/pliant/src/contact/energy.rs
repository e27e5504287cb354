//! Contact energy of surfaces: the sum of the potentials of all pairs within range.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::barrier::Mollifier;
use super::candidates::{Pair, Sweep, Trees};
use super::ccd::safe_fraction;
use super::distance::{ClosestPoints, PairKind};
use super::potential::{PairParams, PairPotential};
use super::surface::CollisionSurface;
use crate::material::Definiteness;
use crate::math::Vec3;
use crate::sparse::LowRank;

/// Pairs per task.
const CHUNK: usize = 256;

/// Scale of the barrier relative to the pressures that it withstands.
const STIFFNESS: f64 = 0.1;

/// Distance within which candidates are found beyond the range of the barrier, relative to the mean edge. With a larger
/// one, they stay valid for longer motions, but there are more of them.
const MARGIN: f64 = 0.25;

/// Contact of surfaces with each other and themselves.
#[derive(Debug)]
pub struct ContactEnergy {
    surface: Arc<CollisionSurface>,
    params: ContactParams,
    search: Mutex<Search>,
}

/// Parameters of contact. All have defaults that follow from the bodies.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ContactParams {
    /// Distance from which on surfaces interact \[m\]. By default a thousandth of the size of a body, and at most a
    /// tenth of the shortest edge at a vertex.
    pub range: Option<f64>,
    /// Scale of the contact pressure \[Pa\]. By default a tenth of Young's modulus, or of the pressure that stops a
    /// layer of the surface within a step.
    pub pressure: Option<f64>,
}

/// Candidates that were found last. They only save time: all pairs within range are among them, and the others
/// contribute nothing, in the same order.
#[derive(Debug, Clone)]
struct Search {
    trees: Trees,
    /// Positions at which the candidates were found; empty before.
    places: Vec<Vec3>,
    margin: f64,
    pairs: Arc<Vec<Pair>>,
}

impl Clone for ContactEnergy {
    fn clone(&self) -> Self {
        let search = self.search.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self { surface: self.surface.clone(), params: self.params, search: Mutex::new(search) }
    }
}

/// Pair within range, with its potential.
#[derive(Debug, Clone, Copy)]
pub struct ActivePair {
    /// Its primitives.
    pub pair: Pair,
    /// Its potential.
    pub potential: PairPotential,
}

/// Edge that crosses a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// Vertices of the edge.
    pub edge: [u32; 2],
    /// Vertices of the triangle.
    pub triangle: [u32; 3],
}

/// Pair that limits a motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepLimit {
    /// Fraction of the motion during which all pairs stay apart, from 0 to 1.
    pub fraction: f64,
    /// Pair that comes close first, if any does.
    pub pair: Option<Pair>,
}

impl ContactEnergy {
    /// Creates the energy of surfaces.
    pub fn new(mut surface: CollisionSurface, params: ContactParams) -> Self {
        if let Some(range) = params.range {
            surface.ranges.fill(range);
        }
        let trees = Trees::new(&surface);
        let margin = if surface.mean_edge.is_finite() { MARGIN * surface.mean_edge } else { 0.0 };
        let search = Search { trees, places: Vec::new(), margin, pairs: Arc::default() };
        Self { surface: Arc::new(surface), params, search: Mutex::new(search) }
    }

    /// Returns the surfaces.
    pub fn surface(&self) -> &CollisionSurface {
        &self.surface
    }

    /// Returns the positions of the vertices for displacements of the nodes.
    fn places(&self, u: &[f64]) -> Vec<Vec3> {
        let mut places = Vec::new();
        self.surface.displacements(u, &mut places);
        places.iter_mut().zip(&self.surface.rest).for_each(|(place, rest)| *place += *rest);
        places
    }

    /// Returns all pairs that can be within range at any time of a motion, and others.
    fn candidates(&self, start: &[Vec3], end: &[Vec3]) -> Arc<Vec<Pair>> {
        let mut search = self.search.lock().unwrap_or_else(PoisonError::into_inner);
        let Search { trees, places, margin, pairs } = &mut *search;
        // If no vertex has moved by more than half of the margin, no distance has changed by more than all of it.
        let near = |now: &[Vec3]| {
            let limit = 0.25 * *margin * *margin;
            places.len() == now.len()
                && places.par_iter().zip(now).with_min_len(CHUNK).all(|(a, b)| a.distance_squared(*b) <= limit)
        };
        if near(end) && near(start) {
            return pairs.clone();
        }
        let is_short = start.iter().zip(end).all(|(a, b)| a.distance_squared(*b) <= 0.0625 * *margin * *margin);
        if !is_short {
            return Arc::new(trees.find(&self.surface, &Sweep { start, end, margin: 0.0 }));
        }
        *pairs = Arc::new(trees.find(&self.surface, &Sweep { start, end: start, margin: *margin }));
        places.clear();
        places.extend_from_slice(start);
        pairs.clone()
    }

    /// Returns the parameters of the potential of a pair in a step of `dt` \[s\]; 0 in statics.
    fn params(&self, pair: &Pair, dt: f64) -> PairParams {
        let surface = &*self.surface;
        let rest = pair.vertices.map(|v| surface.rest[v as usize]);
        let [a, b] = match pair.kind {
            PairKind::PointTriangle => [0, 1],
            PairKind::EdgeEdge => [0, 2],
        }
        .map(|i| surface.bodies[pair.vertices[i] as usize] as usize);
        let mut range = pair.vertices.map(|v| surface.ranges[v as usize]).into_iter().fold(f64::INFINITY, f64::min);
        if a == b {
            // Parts of a body that are close at rest do not repel each other.
            range = range.min(0.5 * ClosestPoints::new(pair.kind, &rest).distance());
        }
        let (first, second) = (surface.scales[a], surface.scales[b]);
        let young = match (first.young, second.young) {
            (0.0, young) | (young, 0.0) => young,
            (a, b) => 2.0 * a * b / (a + b),
        };
        let inertia = if dt > 0.0 { first.inertia.max(second.inertia) / (dt * dt) } else { 0.0 };
        let pressure = self.params.pressure.unwrap_or(STIFFNESS * young.max(inertia));
        let area = match pair.kind {
            PairKind::PointTriangle => surface.vertex_areas[pair.primitives[0] as usize],
            PairKind::EdgeEdge => pair.primitives.map(|edge| surface.edge_areas[edge as usize]).iter().sum(),
        };
        PairParams {
            kind: pair.kind,
            scale: pressure * 0.25 * area * range,
            range,
            mollifier_threshold: Mollifier::threshold(
                rest[0].distance_squared(rest[1]),
                rest[2].distance_squared(rest[3]),
            ),
        }
    }

    /// Returns the pairs within range, in a fixed order.
    pub fn active_pairs(&self, u: &[f64], dt: f64) -> Vec<ActivePair> {
        let places = self.places(u);
        let pairs = self.candidates(&places, &places);
        let active = |pair: &Pair| {
            let x = pair.vertices.map(|v| places[v as usize]);
            let reach =
                pair.vertices.map(|v| self.surface.ranges[v as usize]).into_iter().fold(f64::INFINITY, f64::min);
            // Boxes first: most candidates are far apart.
            if is_apart(pair.kind, &x, reach) {
                return None;
            }
            let potential = PairPotential::new(&self.params(pair, dt), &x)?;
            Some(ActivePair { pair: *pair, potential })
        };
        pairs.par_iter().with_min_len(CHUNK).filter_map(active).collect()
    }

    /// Returns the energy \[J\]; infinite if surfaces touch.
    pub fn energy(&self, u: &[f64], dt: f64) -> f64 {
        self.active_pairs(u, dt).iter().map(|active| active.potential.energy).sum()
    }

    /// Adds the gradient with respect to the displacements of the nodes.
    pub fn add_gradient(&self, active: &[ActivePair], gradient: &mut [f64]) {
        let mut by_vertices = vec![Vec3::ZERO; self.surface.vertex_count()];
        for ActivePair { pair, potential } in active {
            for (&vertex, g) in pair.vertices.iter().zip(potential.gradient()) {
                by_vertices[vertex as usize] += g;
            }
        }
        self.surface.add_gradient(&by_vertices, gradient);
    }

    /// Adds the stiffness with respect to the nodes, one term for each of the pairs.
    pub fn add_stiffness(&self, active: &[ActivePair], definiteness: Definiteness, stiffness: &mut LowRank) {
        let mut row: Vec<(u32, Vec3)> = Vec::new();
        for ActivePair { pair, potential } in active {
            potential.stiffness_terms(definiteness, |(factor, vector)| {
                row.clear();
                for (&vertex, q) in pair.vertices.iter().zip(vector) {
                    row.extend(self.surface.nodes(vertex).map(|(node, weight)| (node, weight * q)));
                }
                merge(&mut row);
                if factor != 0.0 {
                    stiffness.push(factor, row.iter().copied());
                }
            });
        }
    }

    /// Returns all edges that cross a triangle, by an exact test: empty if surfaces do not intersect.
    pub fn crossings(&self, u: &[f64]) -> Vec<Crossing> {
        let places = self.places(u);
        let mut search = self.search.lock().unwrap_or_else(PoisonError::into_inner);
        let crossings = search.trees.find_crossings(&self.surface, &places);
        let named = |[edge, triangle]: [u32; 2]| Crossing {
            edge: self.surface.edges[edge as usize],
            triangle: self.surface.triangles[triangle as usize],
        };
        crossings.into_iter().map(named).collect()
    }

    /// Returns how far a motion from `u` along `direction` can go without any contact.
    pub fn step_limit(&self, u: &[f64], direction: &[f64]) -> StepLimit {
        let start = self.places(u);
        let mut motion = Vec::new();
        self.surface.displacements(direction, &mut motion);
        let end: Vec<Vec3> = start.iter().zip(&motion).map(|(x, d)| *x + *d).collect();
        let pairs = self.candidates(&start, &end);
        let limit = |pair: &Pair| {
            let x = pair.vertices.map(|v| start[v as usize]);
            let d = pair.vertices.map(|v| motion[v as usize]);
            StepLimit { fraction: safe_fraction(pair.kind, &x, &d, 0.0), pair: Some(*pair) }
        };
        let free = || StepLimit { fraction: 1.0, pair: None };
        // The first pair in order wins a tie, on any number of threads.
        let smaller = |a: StepLimit, b: StepLimit| match a.fraction.total_cmp(&b.fraction) {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
            std::cmp::Ordering::Equal => {
                if b.pair.is_none() || a.pair.is_some_and(|p| Some(p) <= b.pair) {
                    a
                } else {
                    b
                }
            }
        };
        let first = pairs.par_iter().with_min_len(CHUNK).map(limit).reduce(free, smaller);
        if first.fraction < 1.0 { first } else { free() }
    }
}

/// Returns true if the boxes of the primitives of a pair are further apart than `reach` along an axis.
fn is_apart(kind: PairKind, x: &[Vec3; 4], reach: f64) -> bool {
    let ([low, high], [other_low, other_high]) = match kind {
        PairKind::PointTriangle => ([x[0], x[0]], [x[1].min(x[2]).min(x[3]), x[1].max(x[2]).max(x[3])]),
        PairKind::EdgeEdge => ([x[0].min(x[1]), x[0].max(x[1])], [x[2].min(x[3]), x[2].max(x[3])]),
    };
    (other_low - high).max(low - other_high).max_element() > reach
}

/// Adds up the entries of equal nodes.
fn merge(row: &mut Vec<(u32, Vec3)>) {
    row.sort_by_key(|&(node, _)| node);
    row.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    row.retain(|&(_, q)| q != Vec3::ZERO);
}
