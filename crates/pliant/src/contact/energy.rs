//! Contact energy of surfaces: the sum of the potentials of all pairs within range.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::barrier::Mollifier;
use super::candidates::{Pair, Sweep, Trees};
use super::ccd::safe_fraction;
use super::distance::{ClosestPoints, PairKind};
use super::islands::Islands;
use super::potential::{PairParams, PairPotential};
use super::shape::{ActiveShape, PlacedShape, ShapeCollider};
use super::surface::CollisionSurface;
use super::{ColliderTime, ContactParams, Friction, FrictionContacts, ObstacleGeometry};
use crate::material::Definiteness;
use crate::math::Vec3;
use crate::motion::NotFinite;
use crate::sparse::LowRank;

/// Pairs per task.
const CHUNK: usize = 256;

/// Scale of the barrier relative to Young's modulus.
const STIFFNESS: f64 = 0.1;

/// Distance within which candidates are found beyond the range of the barrier, relative to the mean edge. With a larger
/// one, they stay valid for longer motions, but there are more of them.
const MARGIN: f64 = 0.25;

/// Contact of surfaces with each other, with themselves and with colliders.
#[derive(Debug)]
pub struct ContactEnergy {
    surface: Arc<CollisionSurface>,
    shapes: Arc<[ShapeCollider]>,
    params: ContactParams,
    /// Friction of pairs of bodies or colliders, in ascending order, where it is not that of the parameters.
    frictions: HashMap<[u32; 2], Friction>,
    search: Mutex<Search>,
    /// Contacts that were evaluated last.
    recent: Mutex<[Option<Arc<Contacts>>; 2]>,
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
        Self {
            surface: self.surface.clone(),
            shapes: self.shapes.clone(),
            params: self.params.clone(),
            frictions: self.frictions.clone(),
            search: Mutex::new(lock(&self.search).clone()),
            recent: Mutex::default(),
        }
    }
}

/// Locks a cache, which is valid even after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Contacts at a configuration, in a fixed order.
#[derive(Debug, Clone)]
pub struct Contacts {
    /// Pairs of primitives within range.
    pub pairs: Vec<ActivePair>,
    /// Vertices within range of half-spaces and hollow balls.
    pub shapes: Vec<ActiveShape>,
    /// Positions of the vertices.
    pub(super) places: Vec<Vec3>,
    pub(super) placed: Vec<PlacedShape>,
    time: ColliderTime,
}

impl Contacts {
    /// Returns the number of contacts.
    pub fn len(&self) -> usize {
        self.pairs.len() + self.shapes.len()
    }

    /// Returns true if no surfaces are within range of each other.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the energy \[J\]; infinite if surfaces touch.
    pub fn energy(&self) -> f64 {
        let pairs: f64 = self.pairs.iter().map(|active| active.potential.energy).sum();
        pairs + self.shapes.iter().map(|active| active.energy).sum::<f64>()
    }

    /// Returns the smallest gap between surfaces \[m\], infinite if none is within range.
    pub fn min_gap(&self) -> f64 {
        let pairs = self.pairs.iter().map(ActivePair::gap).fold(f64::INFINITY, f64::min);
        self.shapes.iter().map(|active| active.gap).fold(pairs, f64::min)
    }
}

/// Pair within range, with its potential.
#[derive(Debug, Clone, Copy)]
pub struct ActivePair {
    /// Its primitives.
    pub pair: Pair,
    /// Its potential.
    pub potential: PairPotential,
    /// Distance at which the surfaces touch \[m\].
    pub thickness: f64,
}

impl ActivePair {
    /// Returns the gap between the surfaces \[m\].
    pub fn gap(&self) -> f64 {
        self.potential.closest().distance() - self.thickness
    }
}

/// Edge that crosses a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// Vertices of the edge.
    pub edge: [u32; 2],
    /// Vertices of the triangle.
    pub triangle: [u32; 3],
}

/// Limit of a motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepLimit {
    /// Fraction of the motion during which all surfaces stay apart, from 0 to 1.
    pub fraction: f64,
    /// Bodies or colliders that come close first, if any do.
    pub bodies: Option<[usize; 2]>,
}

impl ContactEnergy {
    /// Creates the energy of surfaces and of the colliders that have no surface.
    pub(super) fn with_shapes(
        mut surface: CollisionSurface,
        shapes: Vec<ShapeCollider>,
        frictions: HashMap<[u32; 2], Friction>,
        params: ContactParams,
    ) -> Self {
        if let Some(range) = params.range {
            surface.ranges.iter_mut().filter(|own| own.is_finite()).for_each(|own| *own = range);
            surface.max_range = range;
        }
        surface.radii.iter_mut().for_each(|radius| *radius += 0.5 * params.thickness);
        let trees = Trees::new(&surface);
        let margin = if surface.mean_edge.is_finite() { MARGIN * surface.mean_edge } else { 0.0 };
        let search = Search { trees, places: Vec::new(), margin, pairs: Arc::default() };
        Self {
            surface: Arc::new(surface),
            shapes: shapes.into(),
            params,
            frictions,
            search: Mutex::new(search),
            recent: Mutex::default(),
        }
    }

    /// Returns the surfaces.
    pub fn surface(&self) -> &CollisionSurface {
        &self.surface
    }

    /// Returns the number of bodies and colliders. Colliders without a surface come last.
    pub fn body_count(&self) -> usize {
        self.surface.body_count() + self.shapes.len()
    }

    /// Returns the name of a body or collider.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn name(&self, body: usize) -> &str {
        match body.checked_sub(self.surface.body_count()) {
            None => self.surface.name(body),
            Some(shape) => &self.shapes[shape].name,
        }
    }

    /// Returns the body or collider with a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        (0..self.body_count()).find(|&body| self.name(body) == name)
    }

    /// Returns true if a collider moves.
    pub fn has_moving_colliders(&self) -> bool {
        self.surface.is_moved() || self.shapes.iter().any(|shape| !matches!(shape.motion, crate::motion::Motion::Still))
    }

    /// Checks that the positions of colliders at a time \[s\] are finite.
    pub fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.shapes.iter().try_for_each(|shape| shape.check(time))?;
        self.surface.collider_motions().try_for_each(|(name, motion, rest)| motion.check(name, time, rest))
    }

    /// Returns true if any contact has friction.
    pub fn has_friction(&self) -> bool {
        let acts = |friction: &Friction| friction.static_coefficient > 0.0 || friction.kinetic_coefficient > 0.0;
        acts(&self.params.friction) || self.frictions.values().any(acts)
    }

    /// Returns the friction of two bodies or colliders.
    pub fn friction(&self, a: usize, b: usize) -> Friction {
        let [a, b] = [a.min(b) as u32, a.max(b) as u32];
        self.frictions.get(&[a, b]).copied().unwrap_or(self.params.friction)
    }

    fn places(&self, u: &[f64], time: ColliderTime) -> Vec<Vec3> {
        let mut places = Vec::new();
        self.surface.positions(u, time, &mut places);
        places
    }

    fn placed(&self, time: ColliderTime) -> Vec<PlacedShape> {
        self.shapes.iter().map(|shape| shape.place(time)).collect()
    }

    /// Returns the colliders at their positions at a time \[s\], to be drawn.
    pub fn collider_geometry(&self, time: f64) -> Vec<ObstacleGeometry> {
        let placed = self.placed(time.into()).into_iter().map(|shape| shape.geometry());
        self.surface.collider_geometry(time).chain(placed).collect()
    }

    /// Returns the shapes.
    pub(super) fn shapes(&self) -> &[ShapeCollider] {
        &self.shapes
    }

    /// Returns all pairs that can be within range at any time of a motion, and others.
    fn candidates(&self, start: &[Vec3], end: &[Vec3]) -> Arc<Vec<Pair>> {
        let mut search = lock(&self.search);
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

    pub(super) fn range(&self, vertices: &[u32]) -> f64 {
        vertices.iter().map(|&v| self.surface.ranges[v as usize]).fold(f64::INFINITY, f64::min)
    }

    /// Returns the bodies of a pair.
    pub fn bodies(&self, pair: &Pair) -> [usize; 2] {
        pair.ends().map(|vertex| self.surface.bodies[vertex as usize] as usize)
    }

    /// Returns the range of the barrier and the thickness of a pair.
    fn reach(&self, pair: &Pair) -> [f64; 2] {
        let surface = &*self.surface;
        let [a, b] = self.bodies(pair);
        let (range, thickness) = (self.range(&pair.vertices), surface.radii[a] + surface.radii[b]);
        if a != b {
            return [range, thickness];
        }
        // Parts of a body that are close at rest do not repel each other.
        let rest = pair.vertices.map(|v| surface.rest[v as usize]);
        let half = 0.5 * ClosestPoints::new(pair.kind, &rest).distance();
        let shrink = (half / (range + thickness)).min(1.0);
        [shrink * range, shrink * thickness]
    }

    /// Returns the scale of the pressure between two bodies \[Pa\].
    fn pressure(&self, first: f64, second: f64) -> f64 {
        self.params.pressure.unwrap_or_else(|| {
            STIFFNESS
                * match (first, second) {
                    (0.0, young) | (young, 0.0) => young,
                    (a, b) => 2.0 * a * b / (a + b),
                }
        })
    }

    /// Returns the parameters of the potential of a pair.
    fn params(&self, pair: &Pair) -> PairParams {
        let surface = &*self.surface;
        let [range, thickness] = self.reach(pair);
        let [a, b] = self.bodies(pair);
        let area = match pair.kind {
            // Each of two surfaces that meet has half of the forces, and edges as much as vertices.
            PairKind::PointTriangle => {
                let [vertex, triangle] = pair.primitives.map(|number| number as usize);
                let own = surface.vertex_areas[vertex];
                // Bodies have smaller triangles than colliders, and some of these are single points.
                let most = if surface.is_collider(a) { surface.triangle_areas[triangle] } else { f64::INFINITY };
                0.25 * own.min(most)
            }
            PairKind::EdgeEdge => {
                let areas = pair.primitives.map(|edge| surface.edge_areas[edge as usize]);
                match [a, b].map(|body| surface.is_collider(body)) {
                    [true, false] => 0.5 * areas[1],
                    [false, true] => 0.5 * areas[0],
                    _ => 0.25 * (areas[0] + areas[1]),
                }
            }
        };
        let rest = pair.vertices.map(|v| surface.rest[v as usize]);
        PairParams {
            kind: pair.kind,
            scale: self.pressure(surface.young[a], surface.young[b]) * area * range,
            range,
            thickness,
            mollifier_threshold: Mollifier::threshold(
                rest[0].distance_squared(rest[1]),
                rest[2].distance_squared(rest[3]),
            ),
        }
    }

    /// Returns the contacts for displacements of the nodes, with colliders where they are at a time \[s\].
    pub fn contacts(&self, u: &[f64], time: impl Into<ColliderTime>) -> Arc<Contacts> {
        let time = time.into();
        let places = self.places(u, time);
        let known = lock(&self.recent)
            .iter()
            .flatten()
            .find(|contacts| contacts.time == time && contacts.places == places)
            .cloned();
        if let Some(known) = known {
            return known;
        }
        let found = Arc::new(self.find_contacts(places, time));
        let mut recent = lock(&self.recent);
        recent.swap(0, 1);
        recent[0] = Some(found.clone());
        found
    }

    fn find_contacts(&self, places: Vec<Vec3>, time: ColliderTime) -> Contacts {
        let pairs = self.candidates(&places, &places);
        let active = |pair: &Pair| {
            let x = pair.vertices.map(|v| places[v as usize]);
            let [a, b] = self.bodies(pair);
            // Boxes first: most candidates are far apart.
            if is_apart(pair.kind, &x, self.range(&pair.vertices) + self.surface.radii[a] + self.surface.radii[b]) {
                return None;
            }
            let params = self.params(pair);
            let potential = PairPotential::new(&params, &x)?;
            Some(ActivePair { pair: *pair, potential, thickness: params.thickness })
        };
        let pairs = pairs.par_iter().with_min_len(CHUNK).filter_map(active).collect();
        let placed = self.placed(time);
        let mut shapes = Vec::new();
        for (number, shape) in placed.iter().enumerate() {
            let of_vertex = |vertex: usize| {
                let (range, thickness) = self.shape_reach(number, vertex)?;
                let body = self.surface.bodies[vertex] as usize;
                let scale = self.pressure(self.surface.young[body], 0.0) * self.surface.vertex_areas[vertex] * range;
                let collider = self.surface.body_count() + number;
                ActiveShape::new((vertex as u32, places[vertex]), (collider, shape), [scale, range, thickness])
            };
            let count = self.surface.vertex_count();
            shapes.par_extend((0..count).into_par_iter().with_min_len(CHUNK).filter_map(of_vertex));
        }
        Contacts { pairs, shapes, places, placed, time }
    }

    /// Returns the range and the thickness of a vertex and a shape, or `None` if they do not collide.
    fn shape_reach(&self, shape: usize, vertex: usize) -> Option<(f64, f64)> {
        let body = self.surface.bodies[vertex];
        let collider = (self.surface.body_count() + shape) as u32;
        if !self.surface.is_used[vertex]
            || self.surface.is_prescribed(body as usize)
            || self.surface.excluded.contains(&[body, collider])
        {
            return None;
        }
        Some((self.surface.ranges[vertex], self.surface.radii[body as usize] + 0.5 * self.params.thickness))
    }

    /// Adds the gradient with respect to the displacements of the nodes.
    pub fn add_gradient(&self, contacts: &Contacts, gradient: &mut [f64]) {
        if contacts.is_empty() {
            return;
        }
        let mut by_vertices = vec![Vec3::ZERO; self.surface.vertex_count()];
        for ActivePair { pair, potential, .. } in &contacts.pairs {
            for (&vertex, g) in pair.vertices.iter().zip(potential.gradient()) {
                by_vertices[vertex as usize] += g;
            }
        }
        for active in &contacts.shapes {
            by_vertices[active.vertex as usize] += active.gradient();
        }
        self.surface.add_gradient(&by_vertices, gradient);
    }

    /// Adds the stiffness with respect to the nodes, a few terms for each of the contacts.
    pub fn add_stiffness(&self, contacts: &Contacts, definiteness: Definiteness, stiffness: &mut LowRank) {
        let mut rows = Rows::new(&self.surface);
        for ActivePair { pair, potential, .. } in &contacts.pairs {
            potential.stiffness_terms(definiteness, |(factor, vector)| {
                rows.push(factor, &pair.vertices, &vector, stiffness);
            });
        }
        for active in &contacts.shapes {
            active.stiffness_terms(definiteness, |factor, q| rows.push(factor, &[active.vertex], &[q], stiffness));
        }
    }

    /// Adds the change of the gradient with respect to the nodes, to first order, when colliders move by a fraction of
    /// the way between two times \[s\] and bodies do not.
    pub fn add_gradient_of_colliders(&self, contacts: &Contacts, clock: [f64; 2], fraction: f64, gradient: &mut [f64]) {
        let motion = self.collider_motion(clock);
        let mut by_vertices = vec![Vec3::ZERO; self.surface.vertex_count()];
        for ActivePair { pair, potential, .. } in &contacts.pairs {
            potential.stiffness_terms(Definiteness::Projected, |(factor, vector)| {
                let along: f64 = pair.vertices.iter().zip(&vector).map(|(&v, q)| q.dot(motion[v as usize])).sum();
                for (&vertex, q) in pair.vertices.iter().zip(vector) {
                    by_vertices[vertex as usize] += fraction * factor * along * q;
                }
            });
        }
        for active in &contacts.shapes {
            let motion = self.shape_motion(contacts, active, clock);
            active.stiffness_terms(Definiteness::Projected, |factor, q| {
                by_vertices[active.vertex as usize] -= fraction * factor * q.dot(motion) * q;
            });
        }
        self.surface.add_gradient(&by_vertices, gradient);
    }

    /// Returns the displacements of the vertices of colliders between two times \[s\]; zero for those of bodies.
    fn collider_motion(&self, clock: [f64; 2]) -> Vec<Vec3> {
        let mut motion = vec![Vec3::ZERO; self.surface.vertex_count()];
        self.surface.set_collider_velocities(clock, 1.0, &mut motion);
        motion
    }

    fn shape_motion(&self, contacts: &Contacts, active: &ActiveShape, clock: [f64; 2]) -> Vec3 {
        let number = active.collider - self.surface.body_count();
        self.shapes[number].velocity(&contacts.placed[number], active.x, clock, 1.0)
    }

    /// Returns the work \[J\] of moving colliders on bodies, with the forces of these contacts, when they move between
    /// two times \[s\].
    pub fn collider_work(&self, contacts: &Contacts, friction: Option<&FrictionContacts>, clock: [f64; 2]) -> f64 {
        let motion = self.collider_motion(clock);
        let mut work = 0.0;
        for ActivePair { pair, potential, .. } in &contacts.pairs {
            for (&vertex, gradient) in pair.vertices.iter().zip(potential.gradient()) {
                work += gradient.dot(motion[vertex as usize]);
            }
        }
        for active in &contacts.shapes {
            work -= active.gradient().dot(self.shape_motion(contacts, active, clock));
        }
        if let Some(friction) = friction {
            friction.gradients(|[_, second], vertex, gradient| {
                work += gradient.dot(motion[vertex as usize]);
                if let Some(number) = second.checked_sub(self.surface.body_count()) {
                    let shape = &self.shapes[number];
                    let place = contacts.places[vertex as usize];
                    work -= gradient.dot(shape.velocity(&contacts.placed[number], place, clock, 1.0));
                }
            });
        }
        work
    }

    /// Returns all edges that cross a triangle, by an exact test: empty if surfaces do not intersect. Colliders are
    /// where they are at a time \[s\].
    pub fn crossings(&self, u: &[f64], time: impl Into<ColliderTime>) -> Vec<Crossing> {
        let time = time.into();
        let places = self.places(u, time);
        let crossings = lock(&self.search).trees.find_crossings(&self.surface, &places);
        let named = |[edge, triangle]: [u32; 2]| Crossing {
            edge: self.surface.edges[edge as usize],
            triangle: self.surface.triangles[triangle as usize],
        };
        crossings.into_iter().map(named).collect()
    }

    /// Returns the vertices that are inside half-spaces or outside hollow balls, with the number of the collider and
    /// the depth \[m\].
    pub fn penetrations(&self, u: &[f64], time: impl Into<ColliderTime>) -> Vec<(u32, usize, f64)> {
        let time = time.into();
        let places = self.places(u, time);
        let mut found = Vec::new();
        for (number, shape) in self.placed(time).iter().enumerate() {
            for (vertex, x) in places.iter().enumerate() {
                let gap = shape.distance(*x).0;
                if self.shape_reach(number, vertex).is_some() && gap <= 0.0 {
                    found.push((vertex as u32, self.surface.body_count() + number, -gap));
                }
            }
        }
        found
    }

    /// Returns how far a motion from `u` along `direction` can go without any contact, while colliders move from one
    /// place to another.
    pub fn step_limit(&self, u: &[f64], direction: &[f64], [from, to]: [ColliderTime; 2]) -> StepLimit {
        let start = self.places(u, from);
        let moved: Vec<f64> = u.iter().zip(direction).map(|(u, d)| u + d).collect();
        let end = self.places(&moved, to);
        self.chord_limit(&start, &end, [&self.placed(from), &self.placed(to)])
    }

    /// Returns how far all vertices can go along straight lines.
    fn chord_limit(&self, start: &[Vec3], end: &[Vec3], [placed, placed_end]: [&[PlacedShape]; 2]) -> StepLimit {
        let pairs = self.candidates(start, end);
        let free = || (1.0, None);
        // The first in order wins a tie, on any number of threads.
        let smaller = |a: (f64, Option<usize>), b: (f64, Option<usize>)| match a.0.total_cmp(&b.0) {
            Ordering::Less => a,
            Ordering::Greater => b,
            Ordering::Equal => match (a.1, b.1) {
                (Some(i), Some(j)) => (a.0, Some(i.min(j))),
                (i, j) => (a.0, i.or(j)),
            },
        };
        let of_pair = |(number, pair): (usize, &Pair)| (self.pair_fraction(pair, start, end), Some(number));
        let (fraction, first) = pairs.par_iter().enumerate().with_min_len(CHUNK).map(of_pair).reduce(free, smaller);
        let mut found = StepLimit { fraction, bodies: first.map(|number| self.bodies(&pairs[number])) };
        for (number, (shape, shape_end)) in placed.iter().zip(placed_end).enumerate() {
            let of_vertex = |vertex: usize| {
                let fraction = self.shape_fraction((number, shape, shape_end), vertex, start, end);
                (fraction, Some(vertex))
            };
            let count = self.surface.vertex_count();
            let (fraction, first) = (0..count).into_par_iter().with_min_len(CHUNK).map(of_vertex).reduce(free, smaller);
            if fraction < found.fraction {
                let body = first.map(|vertex| self.surface.bodies[vertex] as usize);
                found = StepLimit { fraction, bodies: body.map(|body| [body, self.surface.body_count() + number]) };
            }
        }
        if found.fraction < 1.0 { found } else { StepLimit { fraction: 1.0, bodies: None } }
    }

    fn pair_fraction(&self, pair: &Pair, start: &[Vec3], end: &[Vec3]) -> f64 {
        let x = pair.vertices.map(|v| start[v as usize]);
        let d = pair.vertices.map(|v| end[v as usize] - start[v as usize]);
        let [a, b] = self.bodies(pair);
        let touch = self.surface.radii[a] + self.surface.radii[b];
        let thickness = if touch > 0.0 { self.reach(pair)[1] } else { 0.0 };
        safe_fraction(pair.kind, &x, &d, thickness)
    }

    fn shape_fraction(
        &self,
        (number, shape, shape_end): (usize, &PlacedShape, &PlacedShape),
        vertex: usize,
        start: &[Vec3],
        end: &[Vec3],
    ) -> f64 {
        let Some((_, thickness)) = self.shape_reach(number, vertex) else { return 1.0 };
        shape.safe_fraction(shape_end, start[vertex], end[vertex] - start[vertex], thickness)
    }

    /// Shortens the motion along `direction` of each island of bodies to what its own contacts allow, while colliders
    /// stand still. Bodies that cannot meet in the motion are in different islands, unless `islands`
    /// joins them. Returns the smallest fraction.
    pub fn limit_islands(&self, u: &[f64], direction: &mut [f64], time: ColliderTime, islands: &Islands) -> StepLimit {
        let start = self.places(u, time);
        let mut motion = Vec::new();
        self.surface.interpolate(direction, &mut motion);
        let end: Vec<Vec3> = start.iter().zip(&motion).map(|(x, d)| *x + *d).collect();
        let pairs = self.candidates(&start, &end);
        let mut islands = islands.joined(pairs.iter().map(Pair::ends), &self.surface);
        let fractions: Vec<f64> =
            pairs.par_iter().with_min_len(CHUNK).map(|pair| self.pair_fraction(pair, &start, &end)).collect();
        let mut first = StepLimit { fraction: 1.0, bodies: None };
        for (pair, fraction) in pairs.iter().zip(fractions).filter(|(_, fraction)| *fraction < 1.0) {
            islands.limit(&pair.ends(), fraction, &self.surface);
            if fraction < first.fraction {
                first = StepLimit { fraction, bodies: Some(self.bodies(pair)) };
            }
        }
        for (number, shape) in self.placed(time).iter().enumerate() {
            for vertex in 0..self.surface.vertex_count() {
                let fraction = self.shape_fraction((number, shape, shape), vertex, &start, &end);
                if fraction < 1.0 {
                    let body = self.surface.bodies[vertex] as usize;
                    islands.limit(&[vertex as u32], fraction, &self.surface);
                    if fraction < first.fraction {
                        first = StepLimit { fraction, bodies: Some([body, self.surface.body_count() + number]) };
                    }
                }
            }
        }
        if first.fraction < 1.0 {
            islands.scale(direction);
        }
        first
    }
}

/// Rows of the map from nodes to vertices, combined for the terms of a stiffness.
pub(super) struct Rows<'a> {
    surface: &'a CollisionSurface,
    row: Vec<(u32, Vec3)>,
}

impl<'a> Rows<'a> {
    pub fn new(surface: &'a CollisionSurface) -> Self {
        Self { surface, row: Vec::new() }
    }

    /// Adds the term `σ q qᵀ` of vertices to a stiffness of nodes.
    pub fn push(&mut self, factor: f64, vertices: &[u32], vector: &[Vec3], stiffness: &mut LowRank) {
        if factor == 0.0 {
            return;
        }
        self.row.clear();
        for (&vertex, &q) in vertices.iter().zip(vector) {
            self.row.extend(self.surface.nodes(vertex).map(|(node, weight)| (node, weight * q)));
        }
        merge(&mut self.row);
        stiffness.push(factor, self.row.iter().copied());
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
