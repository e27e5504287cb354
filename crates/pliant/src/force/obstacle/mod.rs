//! Penalty contact with rigid obstacles.

mod embedded;
mod points;
mod shape;
#[cfg(test)]
mod tests;
mod weight;

use std::borrow::Cow;
use std::sync::Arc;

use thiserror::Error;

use super::{Conditions, Definiteness, Force, at, check_bound, check_length, rows};
use crate::math::{Mat3, Vec3, outer, par_sum};
use crate::mesh::VolumeMesh;
use crate::motion::{Motion, NotFinite};
use crate::sparse::{BlockMatrix, BlockPattern};

use embedded::PointOf;
pub use points::{ContactPoints, ContactPointsError, Spacing};
pub use shape::{
    Ball, Curvature, HollowBall, ObstacleGeometry, ObstacleShape, Placement, Plane, ShapeError, SurfacePoint,
};
pub use weight::Weight;

/// Solid obstacle for bodies.
#[derive(Debug, Clone)]
pub struct Obstacle {
    /// Shape without motion.
    pub shape: Arc<dyn ObstacleShape>,
    /// Rigid motion: a function of time should not deform the obstacle.
    pub motion: Motion,
    /// Stiffness `k` per vertex \[N/m\]; [contact points](ContactPoints) have shares of it.
    pub stiffness: f64,
    /// Damping `c` per vertex in contact \[N·s/m\]; [contact points](ContactPoints) have shares of it.
    pub damping: f64,
    /// Coefficient of friction `μ`.
    pub friction: f64,
    /// Regularization speed `v_ε` of friction \[m/s\]. Below it, friction is reduced from `μ` times the normal force in
    /// proportion to the sliding speed. A smaller value reduces creep in sticking contact, but makes the equations
    /// stiffer.
    pub friction_speed: f64,
}

impl Obstacle {
    /// Default of `v_ε` \[m/s\].
    pub const FRICTION_SPEED: f64 = 1e-3;

    /// Creates an obstacle at rest without damping or friction.
    pub fn new(shape: impl ObstacleShape + 'static, stiffness: f64) -> Self {
        Self {
            shape: Arc::new(shape),
            motion: Motion::Still,
            stiffness,
            damping: 0.0,
            friction: 0.0,
            friction_speed: Self::FRICTION_SPEED,
        }
    }

    /// Returns the stiffness per vertex \[N/m\] for contact with a body: ten times that of an element, `10 E l`, with
    /// Young's modulus `E` and the mean edge `l = (V/n)^⅓` of the `n` elements.
    pub fn stiffness_for(mesh: &VolumeMesh, young: f64) -> f64 {
        10.0 * (young * (mesh.volume() / mesh.element_count() as f64).cbrt())
    }

    /// Creates a solid half-space behind the plane through `point`.
    pub fn plane(point: Vec3, normal: Vec3, stiffness: f64) -> Self {
        Self::new(Plane { point, normal }, stiffness)
    }

    /// Creates a solid ball.
    pub fn ball(center: Vec3, radius: f64, stiffness: f64) -> Self {
        Self::new(Ball { center, radius }, stiffness)
    }

    /// Creates a hollow ball that encloses bodies.
    pub fn hollow_ball(center: Vec3, radius: f64, stiffness: f64) -> Self {
        Self::new(HollowBall { center, radius }, stiffness)
    }

    /// Returns the moved and rotated shape at a time \[s\], to be drawn.
    pub fn geometry_at(&self, time: f64) -> ObstacleGeometry {
        let placed = Placed::new(self, time);
        self.shape.geometry(&Placement { origin: placed.origin(), axes: placed.axes })
    }

    /// Returns the obstacle where it is at time zero, if it is valid.
    fn checked(&self, number: usize) -> Result<Placed, ObstaclesError> {
        self.check(number)?;
        let placed = Placed::new(self, 0.0);
        let wrong = ObstaclesError::Motion { obstacle: number, time: 0.0 };
        if placed.is_finite() { Ok(placed) } else { Err(wrong) }
    }

    fn check(&self, number: usize) -> Result<(), ObstaclesError> {
        self.shape.check().map_err(|error| ObstaclesError::Shape { obstacle: number, error })?;
        let coefficients = [("stiffness", self.stiffness), ("damping", self.damping), ("friction", self.friction)];
        for (what, value) in coefficients {
            if !(value.is_finite() && value >= 0.0) {
                return Err(ObstaclesError::Coefficient { obstacle: number, what, value });
            }
        }
        let speed = self.friction_speed;
        if !(speed.is_finite() && speed > 0.0) {
            return Err(ObstaclesError::FrictionSpeed { obstacle: number, speed });
        }
        Ok(())
    }
}

/// Error in the definition of obstacles.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum ObstaclesError {
    #[error("the {} of obstacle {obstacle} {}", error.what, error.problem)]
    Shape { obstacle: usize, error: ShapeError },
    #[error("the {what} of obstacle {obstacle} is {value}, expected a finite number that is not negative")]
    Coefficient { obstacle: usize, what: &'static str, value: f64 },
    #[error("the friction speed of obstacle {obstacle} is {speed} m/s, expected a positive number")]
    FrictionSpeed { obstacle: usize, speed: f64 },
    #[error("obstacles are for vertex {vertex}, but there are {vertex_count} vertices")]
    Vertex { vertex: u32, vertex_count: usize },
    #[error("contact points are for {found} vertices, but there are {vertex_count}")]
    ContactPoints { found: usize, vertex_count: usize },
    #[error("the motion of obstacle {obstacle} gives numbers that are not finite at {time} s")]
    Motion { obstacle: usize, time: f64 },
    #[error("obstacle {obstacle} does not exist; the number of obstacles is {count}")]
    Missing { obstacle: usize, count: usize },
}

/// Vertex or contact point inside an obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Vertex in contact; for a contact point, the vertex of its element with the largest weight.
    pub vertex: u32,
    /// Index of the obstacle.
    pub obstacle: usize,
    /// Penetration depth \[m\].
    pub depth: f64,
    /// Normal force `k d n` on the point \[N\], without damping and friction.
    pub push: Vec3,
}

/// Penalty contact of vertices with obstacles. With the depth `d` of a vertex at `x`, positive inside the obstacle, and
/// the normal `n = −∂d/∂x`, each obstacle has at each vertex with `d > 0`
///
/// - `V = k/2 d²`;
/// - the force `f = −k d n`, which pushes the vertex along `n`;
/// - `∂f/∂x = k (nnᵀ − d ∂n/∂x)`. Where the surface is convex, as on a ball, a vertex that slides sideways is pushed
///   further sideways. If projected, this negative term is omitted;
/// - damping `c nnᵀ`, which may also slow down separation;
/// - friction `μ k d / max(|vₜ|, v_ε) (I − nnᵀ)`, where `vₜ` is the velocity along the surface relative to the
///   obstacle: Coulomb's law for sliding faster than `v_ε`. It is proportional to the velocity. The derivative of its
///   factor is omitted, so that the matrix is positive semi-definite.
///
/// The [shape](ObstacleShape) of an obstacle defines `d`, `n` and `∂n/∂x`.
///
/// Contact is detected only at vertices and at [contact points](ContactPoints) of embedded surfaces: features thinner
/// than the distance between them pass through. Contact points are weighted sums of vertices. All terms above apply,
/// times the share of the point. Forces are distributed to the vertices by the weights `wᵢ`, and matrices by `wᵢ wⱼ`.
#[derive(Debug, Clone)]
pub struct Obstacles {
    rest: Arc<[Vec3]>,
    /// Vertices that are checked for contact, ascending.
    vertices: Vec<u32>,
    list: Vec<Obstacle>,
    /// Obstacles at time zero, where they stay unless they have a motion.
    start: Vec<Placed>,
    pattern: Option<Arc<BlockPattern>>,
    /// Slot of the diagonal block of each of the vertices in matrices of the pattern.
    slots: Vec<usize>,
    /// Contact points of embedded surfaces.
    embedded: Vec<ContactPoints>,
}

/// Obstacles where they are at some time.
struct PlacedObstacles<'a> {
    all: &'a Obstacles,
    placed: Cow<'a, [Placed]>,
}

/// Obstacle at some time.
#[derive(Debug, Clone, Copy)]
struct Placed {
    /// Origin of the shape without motion.
    rest: Vec3,
    /// Displacement of the origin.
    displacement: Vec3,
    /// Axes of the shape.
    axes: Mat3,
    /// Velocity of the origin.
    velocity: Vec3,
    /// Angular velocity \[rad/s\].
    spin: Vec3,
}

impl Placed {
    /// Evaluates any rigid motion from the images of three arms of one meter.
    fn new(obstacle: &Obstacle, time: f64) -> Self {
        let Placement { origin: rest, axes } = obstacle.shape.placement();
        let motion = &obstacle.motion;
        let still = Self { rest, displacement: Vec3::ZERO, axes, velocity: Vec3::ZERO, spin: Vec3::ZERO };
        if matches!(motion, Motion::Still) {
            return still;
        }
        let (displacement, velocity) = (motion.displacement(time, rest), motion.velocity(time, rest));
        let arm = |arm: Vec3| {
            let now = arm + (motion.displacement(time, rest + arm) - displacement);
            (now, motion.velocity(time, rest + arm) - velocity)
        };
        let [a, b, c] = [axes.x_axis, axes.y_axis, axes.z_axis].map(arm);
        // For orthogonal arms eᵢ, ω = ½ Σ eᵢ × ėᵢ.
        let spin = 0.5 * (a.0.cross(a.1) + b.0.cross(b.1) + c.0.cross(c.1));
        let unit = |moved: Vec3, axis: Vec3| moved.try_normalize().unwrap_or(axis);
        let axes = Mat3::from_cols(unit(a.0, axes.x_axis), unit(b.0, axes.y_axis), unit(c.0, axes.z_axis));
        Self { displacement, axes, velocity, spin, ..still }
    }

    fn is_finite(&self) -> bool {
        self.axes.is_finite() && [self.displacement, self.velocity, self.spin].iter().all(|vector| vector.is_finite())
    }

    /// Returns the origin of the shape \[m\].
    fn origin(&self) -> Vec3 {
        self.rest + self.displacement
    }
}

/// Contact of a point with an obstacle.
struct ContactState<'a> {
    obstacle: &'a Obstacle,
    depth: f64,
    normal: Vec3,
    curvature: Curvature,
    /// Velocity of the obstacle at the contact.
    velocity: Vec3,
}

impl ContactState<'_> {
    fn push(&self) -> Vec3 {
        self.obstacle.stiffness * self.depth * self.normal
    }

    fn stiffness(&self, definiteness: Definiteness) -> Mat3 {
        let across = |curvature: f64| match definiteness {
            Definiteness::Exact => -self.depth * curvature,
            Definiteness::Projected => (-self.depth * curvature).max(0.0),
        };
        self.curvature.map(self.normal, across) * self.obstacle.stiffness
    }

    /// Returns the damping matrix `D(u, v)`.
    fn damping(&self, v: Vec3) -> Mat3 {
        let Obstacle { stiffness, damping, friction, friction_speed, .. } = *self.obstacle;
        let relative = v - self.velocity;
        let sliding = relative - relative.dot(self.normal) * self.normal;
        let along = outer(self.normal, self.normal);
        let across = friction * stiffness * self.depth / sliding.length().max(friction_speed);
        along * damping + (Mat3::IDENTITY - along) * across
    }
}

impl Obstacles {
    /// Creates obstacles for all vertices, with the rest positions `rest`.
    pub fn new(rest: impl Into<Arc<[Vec3]>>, list: impl IntoIterator<Item = Obstacle>) -> Result<Self, ObstaclesError> {
        let rest = rest.into();
        let all = (0..rest.len() as u32).collect();
        Self::for_vertices(rest, all, list)
    }

    /// Creates obstacles for these vertices only, for instance those of the surface.
    pub fn for_vertices(
        rest: impl Into<Arc<[Vec3]>>,
        mut vertices: Vec<u32>,
        list: impl IntoIterator<Item = Obstacle>,
    ) -> Result<Self, ObstaclesError> {
        let rest = rest.into();
        vertices.sort_unstable();
        vertices.dedup();
        if let Some(&vertex) = vertices.last().filter(|&&vertex| vertex as usize >= rest.len()) {
            return Err(ObstaclesError::Vertex { vertex, vertex_count: rest.len() });
        }
        let mut obstacles = Self {
            rest,
            vertices,
            list: Vec::new(),
            start: Vec::new(),
            pattern: None,
            slots: Vec::new(),
            embedded: Vec::new(),
        };
        for obstacle in list {
            obstacles.push(obstacle)?;
        }
        Ok(obstacles)
    }

    /// Adds contact points of an embedded surface.
    pub fn with_contact_points(mut self, points: ContactPoints) -> Result<Self, ObstaclesError> {
        let (found, vertex_count) = (points.scatter.node_count(), self.rest.len());
        if found != vertex_count {
            return Err(ObstaclesError::ContactPoints { found, vertex_count });
        }
        self.embedded.push(points);
        self.pattern = None;
        Ok(self)
    }

    /// Returns the contact points of embedded surfaces.
    pub fn contact_points(&self) -> &[ContactPoints] {
        &self.embedded
    }

    /// Returns the obstacles.
    pub fn list(&self) -> &[Obstacle] {
        &self.list
    }

    /// Adds an obstacle and returns its index.
    pub fn push(&mut self, obstacle: Obstacle) -> Result<usize, ObstaclesError> {
        let number = self.list.len();
        let placed = obstacle.checked(number)?;
        self.start.push(placed);
        self.list.push(obstacle);
        Ok(number)
    }

    /// Removes an obstacle. The indices of later obstacles decrease by one.
    pub fn remove(&mut self, obstacle: usize) -> Result<Obstacle, ObstaclesError> {
        self.check_number(obstacle)?;
        self.start.remove(obstacle);
        Ok(self.list.remove(obstacle))
    }

    /// Replaces an obstacle. If the new one is invalid, the old one stays.
    pub fn replace(&mut self, obstacle: usize, with: Obstacle) -> Result<Obstacle, ObstaclesError> {
        self.check_number(obstacle)?;
        self.start[obstacle] = with.checked(obstacle)?;
        Ok(std::mem::replace(&mut self.list[obstacle], with))
    }

    /// Returns every vertex, and then every contact point, inside an obstacle at a time \[s\] when the vertices are
    /// displaced by `u`.
    ///
    /// # Panics
    /// If there are not three numbers per vertex.
    pub fn contacts(&self, u: &[f64], time: f64) -> Vec<Contact> {
        check_length(u, self.rest.len());
        let obstacles = self.at(time);
        let mut found = Vec::new();
        for &vertex in &self.vertices {
            for obstacle in 0..self.list.len() {
                if let Some(touch) = obstacles.touch(obstacle, vertex, u) {
                    found.push(Contact { vertex, obstacle, depth: touch.depth, push: touch.push() });
                }
            }
        }
        for points in &self.embedded {
            for element in 0..points.element_count() {
                obstacles.for_contacts(points, element, u, |point, obstacle, touch| {
                    let heaviest = points.weights(point).iter().zip(points.vertices(element));
                    let vertex = heaviest.max_by(|a, b| a.0.total_cmp(b.0)).map_or(0, |(_, &vertex)| vertex);
                    let push = points.share(point) * touch.push();
                    found.push(Contact { vertex, obstacle, depth: touch.depth, push });
                });
            }
        }
        found
    }

    /// Returns the obstacles at a time \[s\].
    fn at(&self, time: f64) -> PlacedObstacles<'_> {
        let is_still = self.list.iter().all(|obstacle| matches!(obstacle.motion, Motion::Still));
        let placed = if is_still {
            Cow::Borrowed(&self.start[..])
        } else {
            self.list.iter().map(|obstacle| Placed::new(obstacle, time)).collect()
        };
        PlacedObstacles { all: self, placed }
    }

    fn check_number(&self, obstacle: usize) -> Result<(), ObstaclesError> {
        let count = self.list.len();
        if obstacle < count { Ok(()) } else { Err(ObstaclesError::Missing { obstacle, count }) }
    }
}

impl<'a> PlacedObstacles<'a> {
    #[inline(always)]
    fn touch(&self, number: usize, vertex: u32, u: &[f64]) -> Option<ContactState<'a>> {
        self.touch_at(number, self.all.rest[vertex as usize], at(u, vertex))
    }

    /// Returns the contact of a point with rest position `rest` and displacement `u`.
    #[inline(always)]
    fn touch_at(&self, number: usize, rest: Vec3, u: Vec3) -> Option<ContactState<'a>> {
        let (obstacle, placed) = (&self.all.list[number], &self.placed[number]);
        // Displacements are added last, so that small ones keep their precision far from the origin.
        let arm = (rest - placed.rest) + (u - placed.displacement);
        let SurfacePoint { depth, normal, curvature } = obstacle.shape.surface(&placed.axes, arm);
        // A NaN position counts as a contact, so that it propagates.
        if depth <= 0.0 {
            return None;
        }
        Some(ContactState { obstacle, depth, normal, curvature, velocity: placed.velocity + placed.spin.cross(arm) })
    }

    #[inline(always)]
    fn touches(&self, vertex: u32, u: &[f64]) -> impl Iterator<Item = ContactState<'a>> {
        (0..self.all.list.len()).filter_map(move |number| self.touch(number, vertex, u))
    }

    /// Adds `force` of each contact at its vertex.
    fn add_forces(&self, u: &[f64], out: &mut [f64], force: impl Fn(u32, &ContactState<'_>) -> Vec3 + Sync) {
        check_length(u, self.all.rest.len());
        check_length(out, self.all.rest.len());
        let place = |n: usize| self.all.vertices[n] as usize;
        let (out, _) = out.as_chunks_mut::<3>();
        for_each_place(0..self.all.vertices.len(), &place, 0, out, &|n, sum| {
            let vertex = self.all.vertices[n];
            for touch in self.touches(vertex, u) {
                *sum = (Vec3::from_array(*sum) + force(vertex, &touch)).to_array();
            }
        });
    }

    /// Adds `block` of each contact to the diagonal block of its vertex.
    fn add_blocks(&self, u: &[f64], matrix: &mut BlockMatrix, block: impl Fn(u32, &ContactState<'_>) -> Mat3 + Sync) {
        check_length(u, self.all.rest.len());
        check_bound(self.all.pattern.as_ref(), matrix);
        let place = |n: usize| self.all.slots[n];
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for_each_place(0..self.all.vertices.len(), &place, 0, blocks, &|n, sum| {
            let vertex = self.all.vertices[n];
            for touch in self.touches(vertex, u) {
                sum.iter_mut().zip(rows(block(vertex, &touch))).for_each(|(sum, entry)| *sum += entry);
            }
        });
    }
}

/// Minimum number of vertices per task.
const GRAIN: usize = 1024;

/// Calls `visit` with each number in a range and the item at its place, on all threads. Places ascend, and `first` is
/// the place of the first of `items`.
fn for_each_place<T: Send>(
    range: std::ops::Range<usize>,
    place: &(impl Fn(usize) -> usize + Sync),
    first: usize,
    items: &mut [T],
    visit: &(impl Fn(usize, &mut T) + Sync),
) {
    if range.len() <= GRAIN {
        range.for_each(|n| visit(n, &mut items[place(n) - first]));
        return;
    }
    let middle = range.start + range.len() / 2;
    let start = place(middle);
    let (low, high) = items.split_at_mut(start - first);
    rayon::join(
        || for_each_place(range.start..middle, place, first, low, visit),
        || for_each_place(middle..range.end, place, start, high, visit),
    );
}

impl Force for Obstacles {
    fn node_count(&self) -> usize {
        self.rest.len()
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        self.embedded.iter().flat_map(|points| points.scatter.cliques()).for_each(&mut *add);
        if self.list.is_empty() {
            return;
        }
        self.vertices.iter().for_each(|&vertex| add(&[vertex]));
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        assert_eq!(pattern.node_count(), self.rest.len(), "a pattern of the same vertices");
        self.slots = self.vertices.iter().map(|&vertex| pattern.row(vertex as usize).start).collect();
        self.embedded.iter_mut().for_each(|points| points.scatter.bind(pattern));
        self.pattern = Some(pattern.clone());
    }

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        for (number, obstacle) in self.list.iter().enumerate() {
            let placed = Placed::new(obstacle, time);
            for (what, value) in
                [("motion", placed.displacement), ("velocity", placed.velocity), ("rotation", placed.spin)]
            {
                NotFinite::check(value, time, || format!("the {what} of obstacle {number}"))?;
            }
        }
        Ok(())
    }

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        check_length(u, self.rest.len());
        let obstacles = self.at(conditions.time);
        let energy = |touch: &ContactState<'_>| 0.5 * touch.obstacle.stiffness * touch.depth * touch.depth;
        let of_vertices = par_sum(0.0, self.vertices.len(), |n| {
            obstacles.touches(self.vertices[n], u).map(|touch| energy(&touch)).sum()
        });
        let of_points = |points: &ContactPoints| {
            par_sum(0.0, points.element_count(), |element| {
                let mut sum = 0.0;
                obstacles
                    .for_contacts(points, element, u, |point, _, touch| sum += points.share(point) * energy(touch));
                sum
            })
        };
        of_vertices + self.embedded.iter().map(of_points).sum::<f64>()
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        let obstacles = self.at(conditions.time);
        obstacles.add_forces(u, gradient, |_, touch| -touch.push());
        obstacles.add_embedded(u, gradient, None, |_, touch| -touch.push(), |_, _| Mat3::ZERO);
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        let obstacles = self.at(conditions.time);
        obstacles.add_forces(u, gradient, |_, touch| -touch.push());
        obstacles.add_blocks(u, stiffness, |_, touch| touch.stiffness(definiteness));
        let block = |_: PointOf<'_>, touch: &ContactState<'_>| touch.stiffness(definiteness);
        obstacles.add_embedded(u, gradient, Some(stiffness), |_, touch| -touch.push(), block);
    }

    fn has_damping(&self) -> bool {
        self.list.iter().any(|obstacle| obstacle.damping > 0.0 || obstacle.friction > 0.0)
    }

    fn add_dissipation_gradient(&self, u: &[f64], conditions: &Conditions<'_>, v: &[f64], gradient: &mut [f64]) {
        check_length(v, self.rest.len());
        let obstacles = self.at(conditions.time);
        obstacles.add_forces(u, gradient, |vertex, touch| {
            let v = at(v, vertex);
            touch.damping(v) * (v - touch.velocity)
        });
        let damping = |place: PointOf<'_>, touch: &ContactState<'_>| {
            let v = place.of(v);
            touch.damping(v) * (v - touch.velocity)
        };
        obstacles.add_embedded(u, gradient, None, damping, |_, _| Mat3::ZERO);
    }

    fn add_damping(&self, u: &[f64], conditions: &Conditions<'_>, v: &[f64], damping: &mut BlockMatrix) {
        check_length(v, self.rest.len());
        let obstacles = self.at(conditions.time);
        obstacles.add_blocks(u, damping, |vertex, touch| touch.damping(at(v, vertex)));
        if !self.embedded.is_empty() {
            // The scatter needs a gradient too; only zeros are added to this one.
            let mut none = vec![0.0; 3 * self.rest.len()];
            let block = |place: PointOf<'_>, touch: &ContactState<'_>| touch.damping(place.of(v));
            obstacles.add_embedded(u, &mut none, Some(damping), |_, _| Vec3::ZERO, block);
        }
    }
}
