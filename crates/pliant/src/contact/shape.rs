//! Colliders that bodies meet with their vertices alone: half-spaces and hollow balls. Where all vertices of a triangle
//! are on the free side, so is the whole triangle.

use super::barrier::barrier;
use super::{ColliderTime, ObstacleGeometry};
use crate::material::Definiteness;
use crate::math::{Mat3, Vec3};
use crate::motion::{Motion, NotFinite};

/// Half-space or hollow ball with its motion.
#[derive(Debug, Clone)]
pub(super) struct ShapeCollider {
    pub name: String,
    /// Point of the plane, or center, at rest.
    pub origin: Vec3,
    pub kind: ShapeKind,
    pub motion: Motion,
}

/// Kind of a [`ShapeCollider`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ShapeKind {
    /// Half-space behind a plane with this unit normal.
    HalfSpace(Vec3),
    /// Everything outside of a ball with this radius.
    HollowBall(f64),
}

/// Collider where it is at some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlacedShape {
    kind: ShapeKind,
    origin: Vec3,
    /// Rotation since rest.
    rotation: Mat3,
    /// Origin at rest.
    rest: Vec3,
}

impl ShapeCollider {
    /// Returns the shape on its way.
    pub fn place(&self, time: ColliderTime) -> PlacedShape {
        time.blend(|time| self.place_at(time), PlacedShape::lerp)
    }

    /// Returns the shape where it is at a time \[s\].
    fn place_at(&self, time: f64) -> PlacedShape {
        let origin = self.origin;
        let at = |x: Vec3| x + self.motion.displacement(time, x);
        let moved = at(origin);
        let rotation = match &self.motion {
            Motion::Still => Mat3::IDENTITY,
            _ => Mat3::from_cols_array_2d(&Vec3::AXES.map(|axis| (at(origin + axis) - moved).to_array())),
        };
        let kind = match self.kind {
            ShapeKind::HalfSpace(normal) => ShapeKind::HalfSpace((rotation * normal).normalize_or(normal)),
            other @ ShapeKind::HollowBall(_) => other,
        };
        PlacedShape { kind, origin: moved, rotation, rest: origin }
    }

    /// Returns the velocity of the point of the collider that is at `x` when the shape is `placed`, from the clock time
    /// `start` to `end` during `dt` \[s\].
    pub fn velocity(&self, placed: &PlacedShape, x: Vec3, [start, end]: [f64; 2], dt: f64) -> Vec3 {
        if matches!(self.motion, Motion::Still) || dt == 0.0 {
            return Vec3::ZERO;
        }
        let rest = placed.rest + placed.rotation.transpose() * (x - placed.origin);
        (self.motion.displacement(end, rest) - self.motion.displacement(start, rest)) / dt
    }

    /// Returns an error if the position at a time \[s\] is not finite.
    pub fn check(&self, time: f64) -> Result<(), NotFinite> {
        Vec3::AXES.into_iter().chain([Vec3::ZERO]).try_for_each(|axis| {
            let displacement = self.motion.displacement(time, self.origin + axis);
            NotFinite::check(displacement, time, || format!("the motion of `{}`", self.name))
        })
    }
}

impl PlacedShape {
    /// Interpolates between two places of a shape.
    fn lerp(start: Self, end: Self, progress: f64) -> Self {
        let kind = match (start.kind, end.kind) {
            (ShapeKind::HalfSpace(a), ShapeKind::HalfSpace(b)) => {
                ShapeKind::HalfSpace(a.lerp(b, progress).normalize_or(b))
            }
            (_, kind) => kind,
        };
        let rotation = start.rotation * (1.0 - progress) + end.rotation * progress;
        Self { kind, origin: start.origin.lerp(end.origin, progress), rotation, rest: end.rest }
    }

    /// Returns the distance `d` of a point, which is negative in the solid, and the normal `n = ∂d/∂x`.
    pub fn distance(&self, x: Vec3) -> (f64, Vec3) {
        match self.kind {
            ShapeKind::HalfSpace(normal) => (normal.dot(x - self.origin), normal),
            ShapeKind::HollowBall(radius) => {
                let arm = x - self.origin;
                let length = arm.length();
                (radius - length, if length > 0.0 { -arm / length } else { Vec3::X })
            }
        }
    }

    /// Returns the shape to be drawn.
    pub fn geometry(&self) -> ObstacleGeometry {
        match self.kind {
            ShapeKind::HalfSpace(normal) => ObstacleGeometry::Plane { point: self.origin, normal },
            ShapeKind::HollowBall(radius) => ObstacleGeometry::Ball { center: self.origin, radius, is_hollow: true },
        }
    }

    /// Returns `c` in `∂²d/∂x² = −c (I − nnᵀ)`.
    fn curvature(&self, x: Vec3) -> f64 {
        match self.kind {
            ShapeKind::HalfSpace(_) => 0.0,
            ShapeKind::HollowBall(_) => x.distance(self.origin).recip(),
        }
    }

    /// Returns a fraction of the motion of a point from `x` by `motion`, while the shape moves to `end`, up to which
    /// their distance is greater than `min_distance`.
    pub fn safe_fraction(&self, end: &Self, x: Vec3, motion: Vec3, min_distance: f64) -> f64 {
        /// Part of the initial gap that is kept.
        const KEPT: f64 = 0.1;
        /// Bound of the rounding error relative to the coordinates.
        const ROUNDING: f64 = 32.0 * f64::EPSILON;
        let size = [x, x + motion, self.origin, end.origin].map(|x| x.abs().max_element()).into_iter().sum::<f64>();
        let margin = min_distance + ROUNDING * size;
        let start = self.distance(x).0 - margin;
        let finish = end.distance(x + motion).0 - margin;
        if !(start > 0.0 && finish.is_finite()) {
            return if motion == Vec3::ZERO && self == end { 1.0 } else { 0.0 };
        }
        if finish >= KEPT * start {
            return 1.0;
        }
        // The distance to a half-space is linear in a motion without rotation, that to a hollow ball is concave, and
        // callers test again with the shape where it is at the fraction.
        (1.0 - KEPT) * start / (start - finish)
    }
}

/// Vertex within range of a shape.
#[derive(Debug, Clone, Copy)]
pub struct ActiveShape {
    /// Vertex of the surface.
    pub vertex: u32,
    /// Number of the collider.
    pub collider: usize,
    /// Gap \[m\].
    pub gap: f64,
    /// Normal that points out of the collider.
    pub normal: Vec3,
    /// Energy \[J\].
    pub energy: f64,
    /// Position of the vertex.
    pub(super) x: Vec3,
    first: f64,
    second: f64,
    curvature: f64,
}

impl ActiveShape {
    /// Computes the potential of a vertex with the scale `K` and the range `d̂`, or returns `None` out of range.
    pub(super) fn new(
        (vertex, x): (u32, Vec3),
        (collider, shape): (usize, &PlacedShape),
        [scale, range, thickness]: [f64; 3],
    ) -> Option<Self> {
        let (distance, normal) = shape.distance(x);
        let gap = distance - thickness;
        if gap >= range {
            return None;
        }
        let span = range * range;
        let b = barrier(if gap > 0.0 { gap * gap / span } else { 0.0 });
        // V = K β(g²/d̂²): V′ = 2 K g β′/d̂², V″ = 4 K g² β″/d̂⁴ + 2 K β′/d̂².
        let (first, second) = (scale * b.first / span, scale * b.second / (span * span));
        Some(Self {
            vertex,
            collider,
            gap,
            normal,
            energy: scale * b.value,
            x,
            first: 2.0 * gap * first,
            second: 4.0 * gap * gap * second + 2.0 * first,
            curvature: shape.curvature(x),
        })
    }

    /// Returns the normal force `N` \[N\].
    pub fn normal_force(&self) -> f64 {
        -self.first
    }

    /// Returns the gradient with respect to the position of the vertex.
    pub fn gradient(&self) -> Vec3 {
        self.first * self.normal
    }

    /// Calls `add` with terms `σ q qᵀ` whose sum is the Hessian, which is positive semi-definite.
    pub fn stiffness_terms(&self, _: Definiteness, mut add: impl FnMut(f64, Vec3)) {
        add(self.second, self.normal);
        if self.curvature > 0.0 {
            let (first, second) = self.normal.any_orthonormal_pair();
            add(-self.first * self.curvature, first);
            add(-self.first * self.curvature, second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::testing::random_vector;

    fn at_rest(kind: ShapeKind) -> PlacedShape {
        let origin = Vec3::new(0.1, 0.2, 0.3);
        ShapeCollider { name: "shape".into(), origin, kind, motion: Motion::Still }.place(0.0.into())
    }

    #[test]
    fn gradients_and_hessians_are_derivatives_of_the_energy() {
        let mut random = fastrand::Rng::with_seed(8);
        let mut count = 0;
        for case in 0..400 {
            let normal = random_vector(&mut random).normalize();
            let shape = at_rest([ShapeKind::HalfSpace(normal), ShapeKind::HollowBall(1.0)][case % 2]);
            let x = random_vector(&mut random);
            let active = |x: Vec3| ActiveShape::new((0, x), (0, &shape), [3.0, 0.5, 0.01]);
            let Some(here) = active(x).filter(|active| active.gap > 0.05 && active.gap < 0.4) else { continue };
            count += 1;
            let h = 1e-6;
            let mut hessian = Mat3::ZERO;
            here.stiffness_terms(Definiteness::Exact, |factor, q| {
                assert!(factor >= 0.0);
                hessian += factor * Mat3::from_cols(q * q.x, q * q.y, q * q.z);
            });
            for (axis, direction) in Vec3::AXES.into_iter().enumerate() {
                let (ahead, behind) = (active(x + h * direction).unwrap(), active(x - h * direction).unwrap());
                let slope = (ahead.energy - behind.energy) / (2.0 * h);
                assert!((slope - here.gradient()[axis]).abs() < 1e-5 * here.gradient().length(), "{slope}");
                let column = (ahead.gradient() - behind.gradient()) / (2.0 * h);
                let error = (column - hessian.col(axis)).length();
                assert!(error < 1e-5 * hessian.to_cols_array().iter().fold(0.0_f64, |m, x| m.max(x.abs())), "{error}");
            }
        }
        assert!(count > 40, "{count}");
    }

    #[test]
    fn vertices_stay_on_the_free_side_for_the_safe_fraction_of_random_motions() {
        let mut random = fastrand::Rng::with_seed(9);
        let mut stopped = 0;
        for case in 0..2000 {
            let shape = at_rest([ShapeKind::HalfSpace(Vec3::Z), ShapeKind::HollowBall(1.0)][case % 2]);
            let (x, motion) = (random_vector(&mut random), 3.0 * random_vector(&mut random));
            let start = shape.distance(x).0;
            if start <= 1e-3 {
                continue;
            }
            let fraction = shape.safe_fraction(&shape, x, motion, 0.0);
            stopped += usize::from(fraction < 1.0);
            assert!(fraction > 0.0 && shape.distance(x + fraction * motion).0 > 0.05 * start, "{case}: {fraction}");
        }
        assert!(stopped > 300, "{stopped}");
        let shape = at_rest(ShapeKind::HalfSpace(Vec3::Z));
        assert_eq!(shape.safe_fraction(&shape, Vec3::Z, Vec3::new(0.0, f64::NAN, 0.0), 0.0), 0.0);
        assert_eq!(shape.safe_fraction(&shape, Vec3::ZERO, Vec3::Z, 0.0), 0.0);
    }
}
