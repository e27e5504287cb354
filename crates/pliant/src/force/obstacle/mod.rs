//! Contact with planes and spheres, which push back what goes into them.

mod carried;
mod points;
#[cfg(test)]
mod tests;
mod weight;

use std::sync::Arc;

use thiserror::Error;

use super::{Definiteness, Force, NO_DIRECTION, at, check_bound, check_length, rows};
use crate::math::{Mat3, Vec3, outer, par_sum};
use crate::mesh::VolumeMesh;
use crate::motion::Motion;
use crate::sparse::{BlockMatrix, BlockPattern};

use carried::PointOf;
pub use points::{ContactPoints, ContactPointsError, Spacing};
pub(crate) use weight::Weight;

/// What an obstacle looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// All behind a plane is solid.
    Plane {
        /// Some point of the plane, in m.
        point: Vec3,
        /// Points to where bodies may be; of any length.
        normal: Vec3,
    },
    /// A ball, or all around one.
    Sphere {
        /// In m.
        centre: Vec3,
        /// In m.
        radius: f64,
        /// Where bodies may be.
        side: Side,
    },
}

/// A side of a closed surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A solid ball keeps bodies out.
    Outside,
    /// A hollow one keeps them in.
    Inside,
}

/// Something solid that bodies run into.
#[derive(Debug, Clone)]
pub struct Obstacle {
    /// What it looks like without motion.
    pub shape: Shape,
    /// How it moves, as if rigid: a function of time should not deform it.
    pub motion: Motion,
    /// `k`, in N/m for each vertex; [contact points](ContactPoints) have shares of it.
    pub stiffness: f64,
    /// `c`, in N·s/m for each vertex that touches it; [contact points](ContactPoints) have shares of it.
    pub damping: f64,
    /// `μ`.
    pub friction: f64,
    /// `v_ε`, in m/s: what slides more slowly than this meets less friction than `μ` times the push, in proportion. The
    /// smaller, the less creeps what should stick, and the stiffer are the equations.
    pub friction_speed: f64,
}

impl Obstacle {
    /// `v_ε` if nothing else is said.
    pub const FRICTION_SPEED: f64 = 1e-3;

    /// An obstacle that stands still and has neither damping nor friction.
    pub fn new(shape: Shape, stiffness: f64) -> Self {
        Self {
            shape,
            motion: Motion::Still,
            stiffness,
            damping: 0.0,
            friction: 0.0,
            friction_speed: Self::FRICTION_SPEED,
        }
    }

    /// Returns the stiffness [N/m] per vertex for contact with a body: ten times that of an element, `10 E l` with Young's modulus `E` and the mean
    /// edge `l = (V/n)^⅓` of the `n` elements.
    pub fn stiffness_for(mesh: &VolumeMesh, young: f64) -> f64 {
        10.0 * (young * (mesh.volume() / mesh.element_count() as f64).cbrt())
    }

    /// All behind a plane through `point`.
    pub fn plane(point: Vec3, normal: Vec3, stiffness: f64) -> Self {
        Self::new(Shape::Plane { point, normal }, stiffness)
    }

    /// A ball.
    pub fn ball(centre: Vec3, radius: f64, stiffness: f64) -> Self {
        Self::new(Shape::Sphere { centre, radius, side: Side::Outside }, stiffness)
    }

    /// All around a ball.
    pub fn hollow_ball(centre: Vec3, radius: f64, stiffness: f64) -> Self {
        Self::new(Shape::Sphere { centre, radius, side: Side::Inside }, stiffness)
    }

    /// What it looks like at a time, in s: moved and turned.
    pub fn shape_at(&self, time: f64) -> Shape {
        let placed = Placed::new(self, time);
        match self.shape {
            Shape::Plane { point, .. } => Shape::Plane { point: point + placed.displacement, normal: placed.normal },
            Shape::Sphere { centre, radius, side } => {
                Shape::Sphere { centre: centre + placed.displacement, radius, side }
            }
        }
    }

    fn check(&self, number: usize) -> Result<(), ObstaclesError> {
        let not_finite = |what| Err(ObstaclesError::NotFinite { obstacle: number, what });
        match self.shape {
            Shape::Plane { point, .. } if !point.is_finite() => return not_finite("point"),
            Shape::Plane { normal, .. } if normal.try_normalize().is_none() => {
                return Err(ObstaclesError::Normal { obstacle: number, normal });
            }
            Shape::Sphere { centre, .. } if !centre.is_finite() => return not_finite("centre"),
            Shape::Sphere { radius, .. } if !(radius.is_finite() && radius > 0.0) => {
                return Err(ObstaclesError::Radius { obstacle: number, radius });
            }
            _ => {}
        }
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

/// Why obstacles are not possible.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum ObstaclesError {
    #[error("the {what} of obstacle {obstacle} is not finite")]
    NotFinite { obstacle: usize, what: &'static str },
    #[error("the normal of obstacle {obstacle} is {normal}, which has no direction")]
    Normal { obstacle: usize, normal: Vec3 },
    #[error("the radius of obstacle {obstacle} is {radius}, expected a positive number of metres")]
    Radius { obstacle: usize, radius: f64 },
    #[error("the {what} of obstacle {obstacle} is {value}, expected a finite number that is not negative")]
    Coefficient { obstacle: usize, what: &'static str, value: f64 },
    #[error("full friction of obstacle {obstacle} starts at {speed} m/s, expected a positive speed")]
    FrictionSpeed { obstacle: usize, speed: f64 },
    #[error("obstacles are for vertex {vertex}, but there are {vertex_count} vertices")]
    Vertex { vertex: u32, vertex_count: usize },
    #[error("contact points are for {found} vertices, but there are {vertex_count}")]
    ContactPoints { found: usize, vertex_count: usize },
    #[error("the motion of obstacle {obstacle} gives numbers that are not finite at {time} s")]
    Motion { obstacle: usize, time: f64 },
    #[error("there is no obstacle {obstacle}, only {count}")]
    Missing { obstacle: usize, count: usize },
}

/// A vertex or a contact point inside an obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The vertex; for a contact point, the vertex of its element with the largest weight.
    pub vertex: u32,
    /// The number of the obstacle.
    pub obstacle: usize,
    /// How deep it is inside, in m.
    pub depth: f64,
    /// The push `k d n` on it, in N, without damping and friction.
    pub push: Vec3,
}

/// Obstacles that push vertices out of themselves. With the depth `d` of a vertex at `x`, positive inside the obstacle, and the
/// normal `n = −∂d/∂x`, each obstacle has at each vertex with `d > 0`
///
/// - `V = k/2 d²`;
/// - the force `f = −k d n`, a push along `n`;
/// - `∂f/∂x = k (nnᵀ − d ∂n/∂x)`, where `∂n/∂x` is zero for a plane and `±(I − nnᵀ)/r` at the distance `r` from the centre of a
///   sphere, `+` for a ball: there a vertex that slides aside is pushed aside. Projected, this negative term is left out;
/// - damping `c nnᵀ`, which may also hold back what leaves;
/// - friction `μ k d / max(|vₜ|, v_ε) (I − nnᵀ)`, where `vₜ` is the velocity along the surface relative to the obstacle: Coulomb's
///   law for what slides faster than `v_ε`. It comes with the velocity, and the derivative of its factor is left out, so that it
///   is never negative.
///
/// With `d = n·(y − x)` for a plane through `y`; `d = R − r`, `n = (x − y)/r` for a ball around `y`, and `d = r − R`,
/// `n = −(x − y)/r` for a hollow one. Where `r ≤ 10⁻¹² R` there is no direction: `n` is then that of the z axis, and
/// `∂n/∂x` zero.
///
/// Only vertices are seen, and [contact points](ContactPoints) of surfaces that bodies carry: what is thinner than the distance
/// between them passes through. Contact points are weighted sums of vertices. All terms above are there the same, times the share
/// of the point: forces are divided among the vertices by the weights `wᵢ`, and matrices by `wᵢ wⱼ`.
#[derive(Debug, Clone)]
pub struct Obstacles {
    rest: Vec<Vec3>,
    /// Ascending.
    vertices: Vec<u32>,
    list: Vec<Obstacle>,
    /// The obstacles at the time that was set last.
    placed: Vec<Placed>,
    pattern: Option<Arc<BlockPattern>>,
    /// Where the diagonal block of each of the vertices is in matrices of the pattern.
    slots: Vec<usize>,
    /// Points that feel the obstacles besides the vertices.
    carried: Vec<ContactPoints>,
    time: f64,
}

/// An obstacle at some time.
#[derive(Debug, Clone, Copy)]
struct Placed {
    /// The point or centre without motion.
    rest: Vec3,
    /// How far that has moved.
    displacement: Vec3,
    /// The normal of a plane.
    normal: Vec3,
    /// The velocity of the point or centre.
    velocity: Vec3,
    /// The angular velocity, in rad/s.
    spin: Vec3,
}

impl Placed {
    /// Works for any rigid motion: we look at where it takes three arms of a metre.
    fn new(obstacle: &Obstacle, time: f64) -> Self {
        let (rest, normal) = match obstacle.shape {
            Shape::Plane { point, normal } => (point, normal.normalize()),
            Shape::Sphere { centre, .. } => (centre, Vec3::Z),
        };
        let motion = &obstacle.motion;
        let still = Self { rest, displacement: Vec3::ZERO, normal, velocity: Vec3::ZERO, spin: Vec3::ZERO };
        if matches!(motion, Motion::Still) {
            return still;
        }
        let (displacement, velocity) = (motion.displacement(time, rest), motion.velocity(time, rest));
        let (a, b) = normal.any_orthonormal_pair();
        let arm = |arm: Vec3| {
            let now = arm + (motion.displacement(time, rest + arm) - displacement);
            (now, motion.velocity(time, rest + arm) - velocity)
        };
        let [a, b, c] = [a, b, normal].map(arm);
        // For arms eᵢ at right angles, ω = ½ Σ eᵢ × ėᵢ.
        let spin = 0.5 * (a.0.cross(a.1) + b.0.cross(b.1) + c.0.cross(c.1));
        Self { displacement, normal: c.0.try_normalize().unwrap_or(normal), velocity, spin, ..still }
    }

    fn is_finite(&self) -> bool {
        [self.displacement, self.normal, self.velocity, self.spin].iter().all(|vector| vector.is_finite())
    }
}

/// A vertex and an obstacle that it is in.
struct Touch<'a> {
    obstacle: &'a Obstacle,
    depth: f64,
    normal: Vec3,
    /// `∂n/∂x = curvature (I − nnᵀ)`.
    curvature: f64,
    /// The velocity of the obstacle here.
    velocity: Vec3,
}

impl Touch<'_> {
    fn push(&self) -> Vec3 {
        self.obstacle.stiffness * self.depth * self.normal
    }

    fn stiffness(&self, definiteness: Definiteness) -> Mat3 {
        let across = match definiteness {
            Definiteness::Exact => -self.depth * self.curvature,
            Definiteness::Projected => (-self.depth * self.curvature).max(0.0),
        };
        let along = outer(self.normal, self.normal);
        (along + (Mat3::IDENTITY - along) * across) * self.obstacle.stiffness
    }

    /// `D(u, v)`.
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
    /// Obstacles for all vertices, which are at `rest` when nothing is displaced.
    pub fn new(rest: &[Vec3], list: impl IntoIterator<Item = Obstacle>) -> Result<Self, ObstaclesError> {
        Self::for_vertices(rest, (0..rest.len() as u32).collect(), list)
    }

    /// Obstacles that only these vertices feel: those of the surface, say.
    pub fn for_vertices(
        rest: &[Vec3],
        mut vertices: Vec<u32>,
        list: impl IntoIterator<Item = Obstacle>,
    ) -> Result<Self, ObstaclesError> {
        vertices.sort_unstable();
        vertices.dedup();
        if let Some(&vertex) = vertices.last().filter(|&&vertex| vertex as usize >= rest.len()) {
            return Err(ObstaclesError::Vertex { vertex, vertex_count: rest.len() });
        }
        let mut obstacles = Self {
            rest: rest.to_vec(),
            vertices,
            list: Vec::new(),
            placed: Vec::new(),
            pattern: None,
            slots: Vec::new(),
            carried: Vec::new(),
            time: 0.0,
        };
        for obstacle in list {
            obstacles.push(obstacle)?;
        }
        Ok(obstacles)
    }

    /// Adds points of a surface that feel the obstacles too.
    pub fn with_contact_points(mut self, points: ContactPoints) -> Result<Self, ObstaclesError> {
        let (found, vertex_count) = (points.scatter.vertex_count(), self.rest.len());
        if found != vertex_count {
            return Err(ObstaclesError::ContactPoints { found, vertex_count });
        }
        self.carried.push(points);
        self.pattern = None;
        Ok(self)
    }

    /// Points of surfaces that feel the obstacles besides the vertices.
    pub fn contact_points(&self) -> &[ContactPoints] {
        &self.carried
    }

    /// The obstacles.
    pub fn list(&self) -> &[Obstacle] {
        &self.list
    }

    /// Add an obstacle, whose number is returned.
    pub fn push(&mut self, obstacle: Obstacle) -> Result<usize, ObstaclesError> {
        let number = self.list.len();
        let placed = self.checked(number, &obstacle)?;
        self.placed.push(placed);
        self.list.push(obstacle);
        Ok(number)
    }

    /// Take an obstacle away. Those after it move up by one.
    pub fn remove(&mut self, obstacle: usize) -> Result<Obstacle, ObstaclesError> {
        self.check_number(obstacle)?;
        self.placed.remove(obstacle);
        Ok(self.list.remove(obstacle))
    }

    /// Put another obstacle in the place of one. If it is not possible, the old one stays.
    pub fn replace(&mut self, obstacle: usize, with: Obstacle) -> Result<Obstacle, ObstaclesError> {
        self.check_number(obstacle)?;
        self.placed[obstacle] = self.checked(obstacle, &with)?;
        Ok(std::mem::replace(&mut self.list[obstacle], with))
    }

    /// Every vertex, and then every contact point, that is inside an obstacle when the vertices are displaced by `u`.
    ///
    /// # Panics
    /// If there are not three numbers a vertex.
    pub fn contacts<'a>(&'a self, u: &'a [f64]) -> impl Iterator<Item = Contact> + 'a {
        check_length(u, self.rest.len());
        let of_vertices = self.vertices.iter().flat_map(move |&vertex| {
            (0..self.list.len()).filter_map(move |obstacle| {
                let touch = self.touch(obstacle, vertex, u)?;
                Some(Contact { vertex, obstacle, depth: touch.depth, push: touch.push() })
            })
        });
        let of_points = self.carried.iter().flat_map(move |points| {
            (0..points.element_count()).flat_map(move |element| {
                let mut found = Vec::new();
                self.for_touches(points, element, u, |point, obstacle, touch| {
                    let heaviest = points.weights(point).iter().zip(points.vertices(element));
                    let vertex = heaviest.max_by(|a, b| a.0.total_cmp(b.0)).map_or(0, |(_, &vertex)| vertex);
                    let push = points.share(point) * touch.push();
                    found.push(Contact { vertex, obstacle, depth: touch.depth, push });
                });
                found
            })
        });
        of_vertices.chain(of_points)
    }

    fn check_number(&self, obstacle: usize) -> Result<(), ObstaclesError> {
        let count = self.list.len();
        if obstacle < count { Ok(()) } else { Err(ObstaclesError::Missing { obstacle, count }) }
    }

    fn checked(&self, number: usize, obstacle: &Obstacle) -> Result<Placed, ObstaclesError> {
        obstacle.check(number)?;
        let placed = Placed::new(obstacle, self.time);
        let wrong = ObstaclesError::Motion { obstacle: number, time: self.time };
        if placed.is_finite() { Ok(placed) } else { Err(wrong) }
    }

    #[inline(always)]
    fn touch(&self, number: usize, vertex: u32, u: &[f64]) -> Option<Touch<'_>> {
        self.touch_at(number, self.rest[vertex as usize], at(u, vertex))
    }

    /// The contact of what is at `rest` when not displaced by `u`.
    #[inline(always)]
    fn touch_at(&self, number: usize, rest: Vec3, u: Vec3) -> Option<Touch<'_>> {
        let (obstacle, placed) = (&self.list[number], &self.placed[number]);
        // Displacements are added on their own, so that small ones keep their digits far from the origin.
        let arm = (rest - placed.rest) + (u - placed.displacement);
        let (depth, normal, curvature) = match obstacle.shape {
            Shape::Plane { .. } => (-placed.normal.dot(arm), placed.normal, 0.0),
            Shape::Sphere { radius, side, .. } => {
                let r = arm.length();
                let (outward, curvature) = if r <= NO_DIRECTION * radius { (Vec3::Z, 0.0) } else { (arm / r, 1.0 / r) };
                match side {
                    Side::Outside => (radius - r, outward, curvature),
                    Side::Inside => (r - radius, -outward, -curvature),
                }
            }
        };
        // A position that is not a number touches, so that it is not lost.
        if depth <= 0.0 {
            return None;
        }
        Some(Touch { obstacle, depth, normal, curvature, velocity: placed.velocity + placed.spin.cross(arm) })
    }

    #[inline(always)]
    fn touches<'a>(&'a self, vertex: u32, u: &'a [f64]) -> impl Iterator<Item = Touch<'a>> + 'a {
        (0..self.list.len()).filter_map(move |number| self.touch(number, vertex, u))
    }

    /// Add `force` of each touch at its vertex.
    fn add_forces(&self, u: &[f64], out: &mut [f64], force: impl Fn(u32, &Touch<'_>) -> Vec3 + Sync) {
        check_length(u, self.rest.len());
        check_length(out, self.rest.len());
        let place = |n: usize| self.vertices[n] as usize;
        let (out, _) = out.as_chunks_mut::<3>();
        for_each_place(0..self.vertices.len(), &place, 0, out, &|n, sum| {
            let vertex = self.vertices[n];
            for touch in self.touches(vertex, u) {
                *sum = (Vec3::from_array(*sum) + force(vertex, &touch)).to_array();
            }
        });
    }

    /// Add `block` of each touch to the diagonal block of its vertex.
    fn add_blocks(&self, u: &[f64], matrix: &mut BlockMatrix, block: impl Fn(u32, &Touch<'_>) -> Mat3 + Sync) {
        check_length(u, self.rest.len());
        check_bound(self.pattern.as_ref(), matrix);
        let place = |n: usize| self.slots[n];
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for_each_place(0..self.vertices.len(), &place, 0, blocks, &|n, sum| {
            let vertex = self.vertices[n];
            for touch in self.touches(vertex, u) {
                sum.iter_mut().zip(rows(block(vertex, &touch))).for_each(|(sum, entry)| *sum += entry);
            }
        });
    }
}

/// How many vertices are worth a thread.
const GRAIN: usize = 1024;

/// Call `visit` with each number in a range and what stands at its place, on all threads. Places ascend; `first` is that of the
/// first of `items`.
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
    fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        self.carried.iter().flat_map(|points| points.scatter.cliques()).for_each(&mut *add);
        if self.list.is_empty() {
            return;
        }
        self.vertices.iter().for_each(|&vertex| add(&[vertex]));
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        assert_eq!(pattern.vertex_count(), self.rest.len(), "a pattern of the same vertices");
        self.slots = self.vertices.iter().map(|&vertex| pattern.row(vertex as usize).start).collect();
        self.carried.iter_mut().for_each(|points| points.scatter.bind(pattern));
        self.pattern = Some(pattern.clone());
    }

    fn energy(&self, u: &[f64]) -> f64 {
        check_length(u, self.rest.len());
        let energy = |touch: &Touch<'_>| 0.5 * touch.obstacle.stiffness * touch.depth * touch.depth;
        let of_vertices =
            par_sum(0.0, self.vertices.len(), |n| self.touches(self.vertices[n], u).map(|touch| energy(&touch)).sum());
        let of_points = |points: &ContactPoints| {
            par_sum(0.0, points.element_count(), |element| {
                let mut sum = 0.0;
                self.for_touches(points, element, u, |point, _, touch| sum += points.share(point) * energy(touch));
                sum
            })
        };
        of_vertices + self.carried.iter().map(of_points).sum::<f64>()
    }

    fn add_force(&self, u: &[f64], force: &mut [f64]) {
        self.add_forces(u, force, |_, touch| -touch.push());
        self.add_carried(u, force, None, |_, touch| -touch.push(), |_, _| Mat3::ZERO);
    }

    fn add_force_and_stiffness(
        &self,
        u: &[f64],
        definiteness: Definiteness,
        force: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.add_forces(u, force, |_, touch| -touch.push());
        self.add_blocks(u, stiffness, |_, touch| touch.stiffness(definiteness));
        let block = |_: PointOf<'_>, touch: &Touch<'_>| touch.stiffness(definiteness);
        self.add_carried(u, force, Some(stiffness), |_, touch| -touch.push(), block);
    }

    fn has_damping(&self) -> bool {
        self.list.iter().any(|obstacle| obstacle.damping > 0.0 || obstacle.friction > 0.0)
    }

    fn add_damping_force(&self, u: &[f64], v: &[f64], force: &mut [f64]) {
        check_length(v, self.rest.len());
        self.add_forces(u, force, |vertex, touch| {
            let v = at(v, vertex);
            touch.damping(v) * (v - touch.velocity)
        });
        let damping = |place: PointOf<'_>, touch: &Touch<'_>| {
            let v = place.of(v);
            touch.damping(v) * (v - touch.velocity)
        };
        self.add_carried(u, force, None, damping, |_, _| Mat3::ZERO);
    }

    fn add_damping(&self, u: &[f64], v: &[f64], damping: &mut BlockMatrix) {
        check_length(v, self.rest.len());
        self.add_blocks(u, damping, |vertex, touch| touch.damping(at(v, vertex)));
        if !self.carried.is_empty() {
            // The scatter wants a force too; nothing but zeros are added to this one.
            let mut none = vec![0.0; 3 * self.rest.len()];
            let block = |place: PointOf<'_>, touch: &Touch<'_>| touch.damping(place.of(v));
            self.add_carried(u, &mut none, Some(damping), |_, _| Vec3::ZERO, block);
        }
    }

    fn set_time(&mut self, time: f64) {
        self.time = time;
        for (placed, obstacle) in self.placed.iter_mut().zip(&self.list) {
            *placed = Placed::new(obstacle, time);
        }
    }
}
