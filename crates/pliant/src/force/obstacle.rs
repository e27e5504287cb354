//! Contact with planes and spheres, which push back what goes into them.

use std::sync::Arc;

use thiserror::Error;

use super::{Definiteness, Force, NO_DIRECTION, at, check_bound, check_length, rows};
use crate::math::{Mat3, Vec3, outer, par_sum};
use crate::motion::Motion;
use crate::sparse::{BlockMatrix, BlockPattern};

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
    /// `k`, in N/m for each vertex.
    pub stiffness: f64,
    /// `c`, in N·s/m for each vertex that touches it.
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
    #[error("the motion of obstacle {obstacle} gives numbers that are not finite at {time} s")]
    Motion { obstacle: usize, time: f64 },
    #[error("there is no obstacle {obstacle}, only {count}")]
    Missing { obstacle: usize, count: usize },
}

/// A vertex inside an obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The vertex.
    pub vertex: u32,
    /// The number of the obstacle.
    pub obstacle: usize,
    /// How deep the vertex is in it, in m.
    pub depth: f64,
    /// The push `k d n` on the vertex, in N, without damping and friction.
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
/// Only vertices are seen: what is thinner than the distance between them passes through.
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
            time: 0.0,
        };
        for obstacle in list {
            obstacles.push(obstacle)?;
        }
        Ok(obstacles)
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

    /// Every vertex that is inside an obstacle when displaced by `u`, vertex by vertex.
    ///
    /// # Panics
    /// If there are not three numbers a vertex.
    pub fn contacts<'a>(&'a self, u: &'a [f64]) -> impl Iterator<Item = Contact> + 'a {
        check_length(u, self.rest.len());
        self.vertices.iter().flat_map(move |&vertex| {
            (0..self.list.len()).filter_map(move |obstacle| {
                let touch = self.touch(obstacle, vertex, u)?;
                Some(Contact { vertex, obstacle, depth: touch.depth, push: touch.push() })
            })
        })
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
        let (obstacle, placed) = (&self.list[number], &self.placed[number]);
        // Displacements are added on their own, so that small ones keep their digits far from the origin.
        let arm = (self.rest[vertex as usize] - placed.rest) + (at(u, vertex) - placed.displacement);
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
        if self.list.is_empty() {
            return;
        }
        self.vertices.iter().for_each(|&vertex| add(&[vertex]));
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        assert_eq!(pattern.vertex_count(), self.rest.len(), "a pattern of the same vertices");
        self.slots = self.vertices.iter().map(|&vertex| pattern.row(vertex as usize).start).collect();
        self.pattern = Some(pattern.clone());
    }

    fn energy(&self, u: &[f64]) -> f64 {
        check_length(u, self.rest.len());
        par_sum(0.0, self.vertices.len(), |n| {
            let energy = |touch: Touch<'_>| 0.5 * touch.obstacle.stiffness * touch.depth * touch.depth;
            self.touches(self.vertices[n], u).map(energy).sum()
        })
    }

    fn add_force(&self, u: &[f64], force: &mut [f64]) {
        self.add_forces(u, force, |_, touch| -touch.push());
    }

    fn add_force_and_stiffness(
        &self,
        u: &[f64],
        definiteness: Definiteness,
        force: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.add_force(u, force);
        self.add_blocks(u, stiffness, |_, touch| touch.stiffness(definiteness));
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
    }

    fn add_damping(&self, u: &[f64], v: &[f64], damping: &mut BlockMatrix) {
        check_length(v, self.rest.len());
        self.add_blocks(u, damping, |vertex, touch| touch.damping(at(v, vertex)));
    }

    fn set_time(&mut self, time: f64) {
        self.time = time;
        for (placed, obstacle) in self.placed.iter_mut().zip(&self.list) {
            *placed = Placed::new(obstacle, time);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::super::bind_all;
    use super::super::testing::*;
    use super::*;
    use crate::mesh::{Cells, generate};
    use crate::motion::{Keyframes, Pose};

    const K: f64 = 1000.0;

    /// A plane, a ball and a hollow ball that a small mesh is partly in.
    fn three_obstacles() -> [Obstacle; 3] {
        [
            Obstacle::plane(Vec3::new(0.3, 0.2, 0.5), Vec3::new(1.0, 2.0, 3.0), K),
            Obstacle::ball(Vec3::new(0.9, 0.1, 0.3), 0.5, 2.0 * K),
            Obstacle::hollow_ball(Vec3::new(0.4, 0.6, 0.6), 0.7, 3.0 * K),
        ]
    }

    fn moving(velocity: Vec3) -> Motion {
        Keyframes::translations([(0.0, Vec3::ZERO), (10.0, 10.0 * velocity)]).unwrap().into()
    }

    /// One vertex, at the origin.
    fn one(obstacle: Obstacle) -> Obstacles {
        Obstacles::new(&[Vec3::ZERO], [obstacle]).unwrap()
    }

    fn force_and_stiffness(
        obstacles: &mut Obstacles,
        u: [f64; 3],
        definiteness: Definiteness,
    ) -> ([f64; 3], [[f64; 3]; 3]) {
        let pattern = bind_all(1, &mut [obstacles]);
        let (mut f, mut k) = ([0.0; 3], BlockMatrix::zero(pattern));
        obstacles.add_force_and_stiffness(&u, definiteness, &mut f, &mut k);
        (f, k.block(0, 0))
    }

    #[test]
    fn force_stiffness_and_projection_are_derivatives_of_the_energy() {
        let mesh = small_mesh(Cells::Hex);
        for obstacle in three_obstacles() {
            let mut obstacles = Obstacles::new(mesh.vertices(), [obstacle]).unwrap();
            for u in &states(&mesh)[..2] {
                let count = obstacles.contacts(u).count();
                assert!(count > 2 && count < mesh.vertex_count(), "{count} contacts");
                // Where contact begins, the stiffness jumps, and differences across the jump say nothing.
                let shallow = obstacles.contacts(u).filter(|contact| contact.depth < 1e-4).count();
                assert_eq!(shallow, 0);
                check_derivatives(&mut obstacles, mesh.vertex_count(), u);
            }
        }
        let mut all = Obstacles::new(mesh.vertices(), three_obstacles()).unwrap();
        check_derivatives(&mut all, mesh.vertex_count(), &states(&mesh)[1]);
    }

    #[test]
    fn a_ball_is_unstable_sideways_unless_projected_and_a_hollow_one_stable() {
        // Half a radius deep: k d/r = k.
        let ball = Obstacle::ball(Vec3::new(0.0, 0.0, -1.0), 2.0, K);
        let (f, k) = force_and_stiffness(&mut one(ball.clone()), [0.0; 3], Definiteness::Exact);
        assert_eq!((f, k), ([0.0, 0.0, -K], [[-K, 0.0, 0.0], [0.0, -K, 0.0], [0.0, 0.0, K]]));
        let (_, k) = force_and_stiffness(&mut one(ball), [0.0; 3], Definiteness::Projected);
        assert_eq!(k, [[0.0; 3], [0.0; 3], [0.0, 0.0, K]]);
        // A metre outside a hollow one of a metre: k d/r = k/2.
        let hollow = Obstacle::hollow_ball(Vec3::new(0.0, 0.0, -2.0), 1.0, K);
        for definiteness in [Definiteness::Exact, Definiteness::Projected] {
            let (f, k) = force_and_stiffness(&mut one(hollow.clone()), [0.0; 3], definiteness);
            assert_eq!(f, [0.0, 0.0, K]);
            assert_eq!(k, [[0.5 * K, 0.0, 0.0], [0.0, 0.5 * K, 0.0], [0.0, 0.0, K]]);
        }
    }

    #[test]
    fn at_the_centre_of_a_ball_the_push_is_along_z_and_finite() {
        for offset in [0.0, 1e-310, 1e-200, 1e-14] {
            let mut obstacles = one(Obstacle { damping: 1.0, friction: 0.5, ..Obstacle::ball(Vec3::ZERO, 1.0, K) });
            let u = [offset, 0.0, 0.0];
            let (f, k) = force_and_stiffness(&mut obstacles, u, Definiteness::Exact);
            assert_eq!(f[0..2], [0.0, 0.0]);
            assert!((f[2] + K).abs() < 1e-10 && (k[2][2] - K).abs() < 1e-10);
            assert!(k.as_flattened().iter().all(|entry| entry.is_finite()));
            let mut force = [0.0; 3];
            obstacles.add_damping_force(&u, &[0.0; 3], &mut force);
            assert_eq!(force, [0.0; 3]);
            assert_eq!(one(Obstacle::hollow_ball(Vec3::ZERO, 1.0, K)).contacts(&u).count(), 0);
        }
    }

    #[test]
    fn damping_and_friction_are_symmetric_and_take_away_energy() {
        let mesh = small_mesh(Cells::Hex);
        let velocity = Vec3::new(0.5, -0.3, 0.2);
        let list = three_obstacles().map(|obstacle| Obstacle {
            motion: moving(velocity),
            damping: 20.0,
            friction: 0.4,
            ..obstacle
        });
        let mut obstacles = Obstacles::new(mesh.vertices(), list).unwrap();
        obstacles.set_time(0.1);
        let v_bar = velocity.to_array().repeat(mesh.vertex_count());
        for u in &states(&mesh)[..2] {
            for speed in [1.0, 1e-4] {
                let mut v = random(u.len(), speed, 6);
                v.iter_mut().zip(&v_bar).for_each(|(v, v_bar)| *v += v_bar);
                let f = check_damping(&mut obstacles, u, &v, &v_bar);
                let power: f64 = f.iter().zip(v.iter().zip(&v_bar)).map(|(f, (v, v_bar))| f * (v - v_bar)).sum();
                assert!(power > 0.0);
            }
        }
    }

    #[test]
    fn sliding_meets_the_friction_of_coulomb_and_creeping_less() {
        let floor = Obstacle { friction: 0.3, ..Obstacle::plane(0.01 * Vec3::Z, Vec3::Z, K) };
        // 10 N of push, so 3 N of friction.
        let obstacles = one(floor);
        let friction = |v: [f64; 3]| {
            let mut force = [0.0; 3];
            obstacles.add_damping_force(&[0.0; 3], &v, &mut force);
            force
        };
        let near = |a: [f64; 3], b: [f64; 3]| (Vec3::from_array(a) - Vec3::from_array(b)).length() < 1e-12;
        assert!(near(friction([3.0, 4.0, 0.0]), [1.8, 2.4, 0.0]));
        assert!(near(friction([0.5e-3, 0.0, 0.0]), [1.5, 0.0, 0.0]));
        assert_eq!(friction([0.0, 0.0, -7.0]), [0.0; 3]);
    }

    #[test]
    fn what_moves_with_a_turning_plane_or_ball_feels_no_friction_and_what_stands_is_dragged() {
        let spin = Pose { rotation: Vec3::new(0.0, 0.0, 10.0), translation: Vec3::ZERO };
        let turning =
            |centre| Motion::from(Keyframes::new(centre, vec![(0.0, Pose::default()), (10.0, spin)]).unwrap());
        let centre = Vec3::new(-2.0, 0.0, 0.0);
        let table = Obstacle::plane(0.01 * Vec3::Z, Vec3::Z, K);
        let ball = Obstacle::ball(centre, 2.01, K);
        for shape in [table, ball] {
            let mut obstacles = one(Obstacle { friction: 0.3, motion: turning(centre), ..shape });
            obstacles.set_time(1.0);
            let friction = |v: [f64; 3]| {
                let mut force = [0.0; 3];
                obstacles.add_damping_force(&[0.0; 3], &v, &mut force);
                Vec3::from_array(force)
            };
            // One radian a second at two metres.
            assert!(friction([0.0, 2.0, 0.0]).length() < 1e-4);
            assert!((friction([0.0; 3]) - Vec3::new(0.0, -3.0, 0.0)).length() < 1e-6);
        }
    }

    #[test]
    fn obstacles_move_and_planes_turn() {
        // A quarter of a turn about the x axis takes a normal along y to z.
        let turn = Pose { rotation: Vec3::new(0.5 * PI, 0.0, 0.0), translation: Vec3::new(0.0, 0.0, 0.2) };
        let motion = Keyframes::new(Vec3::ZERO, vec![(0.0, Pose::default()), (1.0, turn)]).unwrap();
        let wall = Obstacle { motion: motion.into(), ..Obstacle::plane(Vec3::ZERO, 5.0 * Vec3::Y, K) };
        let mut obstacles = Obstacles::new(&[Vec3::new(0.0, 1.0, 0.1)], [wall]).unwrap();
        assert_eq!(obstacles.contacts(&[0.0; 3]).count(), 0);
        obstacles.set_time(1.0);
        let contacts: Vec<Contact> = obstacles.contacts(&[0.0; 3]).collect();
        let [Contact { vertex: 0, obstacle: 0, depth, push }] = contacts[..] else { panic!("{contacts:?}") };
        assert!((depth - 0.1).abs() < 1e-15 && (push - 0.1 * K * Vec3::Z).length() < 1e-12);

        let ball = Obstacle { motion: moving(Vec3::X), ..Obstacle::ball(Vec3::new(-3.0, 0.0, 0.0), 1.0, K) };
        let mut obstacles = one(ball);
        obstacles.set_time(2.5);
        let contact = obstacles.contacts(&[0.0; 3]).next().unwrap();
        assert_eq!((contact.depth, contact.push), (0.5, 0.5 * K * Vec3::X));
    }

    #[test]
    fn only_given_vertices_are_pushed_and_obstacles_can_be_exchanged() {
        let rest = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let floor = Obstacle::plane(Vec3::Z, Vec3::Z, K);
        let mut obstacles = Obstacles::for_vertices(&rest, vec![2, 0, 2], [floor.clone()]).unwrap();
        let touched = |obstacles: &Obstacles| obstacles.contacts(&[0.0; 9]).map(|c| c.vertex).collect::<Vec<_>>();
        assert_eq!(touched(&obstacles), [0, 2]);
        assert_eq!(obstacles.push(floor).unwrap(), 1);
        assert_eq!(touched(&obstacles), [0, 0, 2, 2]);
        obstacles.replace(0, Obstacle::ball(Vec3::Y, 0.5, K)).unwrap();
        assert_eq!(touched(&obstacles), [0, 2, 2]);
        obstacles.remove(1).unwrap();
        assert_eq!((touched(&obstacles), obstacles.list().len()), (vec![2], 1));
    }

    #[test]
    fn results_are_bitwise_equal_on_one_and_four_threads() {
        let mesh = generate::block([1.0; 3], [20, 20, 20], Cells::Hex).unwrap();
        assert!(mesh.vertex_count() > 4 * GRAIN);
        let list = three_obstacles().map(|obstacle| Obstacle { damping: 2.0, friction: 0.4, ..obstacle });
        let vertices = (0..mesh.vertex_count() as u32).filter(|v| v % 7 != 3).collect();
        let obstacles = Obstacles::for_vertices(mesh.vertices(), vertices, list).unwrap();
        check_threads(&obstacles, mesh.vertex_count());
    }

    #[test]
    fn impossible_obstacles_are_named_with_their_numbers() {
        let good = Obstacle::plane(Vec3::ZERO, Vec3::Z, K);
        let mut obstacles = Obstacles::new(&[Vec3::ZERO], [good.clone()]).unwrap();
        let mut message = |obstacle: Obstacle| obstacles.push(obstacle).unwrap_err().to_string();
        let flat = Obstacle::plane(Vec3::ZERO, Vec3::ZERO, K);
        assert_eq!(message(flat), "the normal of obstacle 1 is [0, 0, 0], which has no direction");
        assert!(message(Obstacle::plane(Vec3::ZERO, Vec3::NAN, K)).contains("is [NaN, NaN, NaN]"));
        assert_eq!(message(Obstacle::plane(Vec3::NAN, Vec3::Z, K)), "the point of obstacle 1 is not finite");
        assert_eq!(message(Obstacle::ball(Vec3::INFINITY, 1.0, K)), "the centre of obstacle 1 is not finite");
        let negative = "the radius of obstacle 1 is -1, expected a positive number of metres";
        assert_eq!(message(Obstacle::ball(Vec3::ZERO, -1.0, K)), negative);
        assert_eq!(
            message(Obstacle { friction: -0.5, ..good.clone() }),
            "the friction of obstacle 1 is -0.5, expected a finite number that is not negative"
        );
        assert_eq!(
            message(Obstacle { friction_speed: 0.0, ..good.clone() }),
            "full friction of obstacle 1 starts at 0 m/s, expected a positive speed"
        );
        let lost = Motion::Function(Arc::new(|_, _| Vec3::NAN));
        assert!(message(Obstacle { motion: lost, ..good.clone() }).contains("not finite at 0 s"));
        assert_eq!(obstacles.remove(1).unwrap_err().to_string(), "there is no obstacle 1, only 1");
        let far = Obstacles::for_vertices(&[Vec3::ZERO], vec![0, 4], [good]).unwrap_err().to_string();
        assert_eq!(far, "obstacles are for vertex 4, but there are 1 vertices");
    }
}
