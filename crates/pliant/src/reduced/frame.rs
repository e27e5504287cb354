//! Floating frame that is co-rotated with a free body, so that its basis serves for any orientation.
//!
//! A point of the body is at `c + R(x₀ + U q)`. Here `x₀` is its rest position relative to the center of mass, `c` the
//! current center of mass, and `R` a rotation. The vectors of `U` neither translate nor rotate the body as a whole, so
//! that `c` is always the center of mass.
//!
//! During a step the frame is fixed. The body moves by a translation `a` along the spatial axes, a rotation `θ` about
//! the axes of the frame, and `q`,
//!
//! ```text
//! x = c + a + R(x₀ + Uq + θ × y),    y = x₀ + U qₙ at the start of the step.
//! ```
//!
//! This is linear in `z = (√m a, √J θ, q)`, scaled to comparable units. The mass matrix is constant during the step, so
//! that any integrator can be used. Elastic forces depend on `q` only, so that rotation costs no energy.
//!
//! The frame is then updated: `c ← c + a`, `R ← R exp(θ̄)`. Linear and angular momentum keep, in space, their values
//! after the step. The momentum of `q` gains the inertial force of a rotating frame: with the kinetic energy
//! `T(ω, q, q̇)`, it gains `h ∂T/∂q`, which contains the centrifugal and Coriolis forces.
//!
//! The choice of velocities decides if a spinning body gains energy. `θ̄` is `θ` with the angular velocity midway
//! between that of the step and that which follows from the momenta. The inertial force `∂T/∂q` uses the latter, and
//! velocities `q̇` extrapolated slightly beyond, as half of the Coriolis force is in the mass matrix and explicit.
//! These quantities are coupled and take a few iterations.
//!
//! Momentum is conserved exactly. All else is first-order accurate in the step, because inertial and other forces are
//! split. A step should rotate the body by at most a fiftieth of a radian. Energy then stays within a percent over many
//! turns. With a twentieth, very soft bodies gain some.

use super::basis::Basis;
use crate::mass::MassMatrix;
use crate::math::{Mat3, Vec3, outer};
use crate::model::Model;
use crate::solver::DenseMatrix;
use crate::solver::vector::dot;
use crate::system::State;
use rayon::prelude::*;

/// Number of coordinates of a frame, which precede those of the basis: `a` and `θ`.
pub(super) const RIGID: usize = 6;

/// Position and orientation of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Center of mass \[m\].
    pub center: Vec3,
    /// Rotation from the axes of the frame to those of space.
    pub rotation: Mat3,
}

#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub placement: Placement,
    /// Center of mass at rest \[m\].
    pub rest_center: Vec3,
    /// Coordinates `q` at the start of the step.
    pub start: Vec<f64>,
    /// Mass `m` \[kg\].
    mass: f64,
    /// `1/√m` and `1/√J`, with `J` the mean moment of inertia at rest.
    scale: [f64; 2],
    /// Moments `∫ρ ψᵢψⱼᵀ` of the fields `ψ₀ = x₀` and `ψᵢ` the basis vectors: row by row, `(r + 1)²` of them.
    moments: Vec<Mat3>,
}

/// Velocities in the frame: angular velocity, in its axes, and `q̇`.
#[derive(Clone)]
struct Motion {
    angular: Vec3,
    inner: Vec<f64>,
}

impl Motion {
    /// Returns the angular velocity of `other`, and its `q̇` extrapolated by half the difference from `self`.
    fn beyond(&self, other: &Self) -> Self {
        let inner = self.inner.iter().zip(&other.inner).map(|(a, b)| 1.5 * b - 0.5 * a).collect();
        Self { angular: other.angular, inner }
    }

    /// Returns the mean of two motions.
    fn middle(&self, other: &Self) -> Self {
        let inner = self.inner.iter().zip(&other.inner).map(|(a, b)| 0.5 * (a + b)).collect();
        Self { angular: 0.5 * (self.angular + other.angular), inner }
    }
}

/// Maximum number of iterations for the rotation of a step.
const MAX_ITERATIONS: usize = 20;

impl Frame {
    pub fn new(model: &Model, basis: &Basis) -> Self {
        let masses = model.node_masses();
        let mass: f64 = masses.iter().sum();
        let rest_center = model.rest().iter().zip(masses).map(|(x, mass)| *mass * *x).sum::<Vec3>() / mass;
        let x0: Vec<f64> = model.rest().iter().flat_map(|x| (*x - rest_center).to_array()).collect();
        let fields: Vec<&[f64]> = std::iter::once(&x0[..]).chain(basis.columns().iter().map(Vec::as_slice)).collect();
        let moments = moments(model.mass(), &fields);
        let at_rest = moments[0];
        let inertia = 2.0 / 3.0 * (at_rest.x_axis.x + at_rest.y_axis.y + at_rest.z_axis.z);
        Self {
            placement: Placement { center: rest_center, rotation: Mat3::IDENTITY },
            rest_center,
            start: vec![0.0; basis.size()],
            mass,
            scale: [1.0 / mass.sqrt(), 1.0 / inertia.sqrt()],
            moments,
        }
    }

    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Returns `a` and `θ` of `z`.
    pub fn rigid(&self, z: &[f64]) -> (Vec3, Vec3) {
        (self.scale[0] * Vec3::from_slice(z), self.scale[1] * Vec3::from_slice(&z[3..]))
    }

    /// Returns `1/√m` and `1/√J`.
    pub fn scale(&self) -> [f64; 2] {
        self.scale
    }

    /// Returns `∫ρ y ψⱼᵀ` for each field, with `y = x₀ + Uq`.
    fn first_moments(&self, q: &[f64]) -> Vec<Mat3> {
        let n = q.len() + 1;
        let factor = |i: usize| if i == 0 { 1.0 } else { q[i - 1] };
        let of = |j: usize| (0..n).fold(Mat3::ZERO, |sum, i| sum + self.moments[i * n + j] * factor(i));
        (0..n).map(of).collect()
    }

    /// Returns the inertia tensor `J`, and `∫ρ y × φⱼ` of each basis vector, at `q`.
    fn inertia(&self, q: &[f64]) -> (Mat3, Vec<Vec3>) {
        let first = self.first_moments(q);
        let second = q.iter().zip(&first[1..]).fold(first[0], |sum, (q, first)| sum + *first * *q);
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        let second = (second + second.transpose()) * 0.5;
        (Mat3::from_diagonal(Vec3::splat(trace)) - second, first[1..].iter().map(axial).collect())
    }

    /// Computes the mass matrix of `z` at the start of the step.
    pub fn set_mass(&self, matrix: &mut DenseMatrix) {
        let r = self.start.len();
        let (inertia, coupling) = self.inertia(&self.start);
        matrix.values_mut().fill(0.0);
        let scale = self.scale[1];
        for i in 0..3 {
            matrix[(i, i)] = 1.0;
            for j in 0..3 {
                matrix[(3 + i, 3 + j)] = scale * scale * inertia.col(j)[i];
            }
            for j in 0..r {
                matrix[(3 + i, RIGID + j)] = scale * coupling[j][i];
                matrix[(RIGID + j, 3 + i)] = scale * coupling[j][i];
            }
        }
        for j in 0..r {
            matrix[(RIGID + j, RIGID + j)] = 1.0;
        }
    }

    /// Returns the position of a point in the frame, given its rest position and its rows of the basis.
    pub fn within(&self, rest: Vec3, rows: [&[f64]; 3], q: &[f64]) -> Vec3 {
        let along = |row: &[f64]| row.iter().zip(q).map(|(u, q)| u * q).sum::<f64>();
        rest - self.rest_center + Vec3::from_array(rows.map(along))
    }

    /// Updates the frame after a step of `dt` \[s\], so that `a` and `θ` are zero again.
    pub fn follow(&mut self, state: &mut State, dt: f64) {
        let r = self.start.len();
        let (a, theta) = self.rigid(&state.q);
        let (linear, angular) = self.rigid(&state.v);
        let before = Motion { angular, inner: state.v[RIGID..].to_vec() };
        // Momenta in the frame at the start of the step.
        let (inertia, coupling) = self.inertia(&self.start);
        let turned: Vec3 = coupling.iter().zip(&before.inner).map(|(h, v)| *h * *v).sum();
        let momentum = inertia * before.angular + turned;
        let inner: Vec<f64> = coupling.iter().zip(&before.inner).map(|(h, v)| h.dot(before.angular) + v).collect();
        self.start.copy_from_slice(&state.q[RIGID..RIGID + r]);
        // Velocities and rotation are coupled: a few iterations, which converge at a rate of about h ω.
        let mut after = before.clone();
        let mut step = rotation(theta);
        for _ in 0..MAX_ITERATIONS {
            let middle = before.middle(&after);
            step = rotation(theta + dt * (middle.angular - before.angular));
            let push = self.inertial_push(&before.beyond(&after));
            let pushed: Vec<f64> = inner.iter().zip(&push).map(|(p, push)| p + dt * push).collect();
            let next = self.motion(step.transpose() * momentum, &pushed);
            let change = next.angular.distance(after.angular);
            after = next;
            if change <= 1e-14 * after.angular.length() {
                break;
            }
        }
        self.placement.center += a;
        self.placement.rotation = orthonormal(self.placement.rotation * step);
        state.q[..RIGID].fill(0.0);
        self.set_velocity(state, linear, &after);
        state.forget();
    }

    /// Returns the inertial force `∂T/∂q` at the `q` of the frame.
    fn inertial_push(&self, motion: &Motion) -> Vec<f64> {
        let (n, omega) = (self.start.len() + 1, motion.angular);
        let first = self.first_moments(&self.start);
        let of = |k: usize| {
            let along = first[k];
            let trace = along.x_axis.x + along.y_axis.y + along.z_axis.z;
            let inner = motion.inner.iter().enumerate();
            let coriolis = inner.fold(Mat3::ZERO, |sum, (j, v)| sum + self.moments[k * n + j + 1] * *v);
            trace * omega.length_squared() - omega.dot(along * omega) + omega.dot(axial(&coriolis))
        };
        (1..n).map(of).collect()
    }

    /// Returns the motion for an angular momentum in the frame and the momenta of `q`.
    fn motion(&self, momentum: Vec3, inner: &[f64]) -> Motion {
        let (inertia, coupling) = self.inertia(&self.start);
        // J ω + h q̇ = L and hᵀω + q̇ = p: (J − hhᵀ) ω = L − h p.
        let left = coupling.iter().fold(inertia, |sum, h| sum - outer(*h, *h));
        let right = momentum - coupling.iter().zip(inner).map(|(h, p)| *h * *p).sum::<Vec3>();
        let angular = left.inverse() * right;
        Motion { angular, inner: coupling.iter().zip(inner).map(|(h, p)| p - h.dot(angular)).collect() }
    }

    fn set_velocity(&self, state: &mut State, linear: Vec3, motion: &Motion) {
        state.v[..3].copy_from_slice(&(linear / self.scale[0]).to_array());
        state.v[3..RIGID].copy_from_slice(&(motion.angular / self.scale[1]).to_array());
        state.v[RIGID..].copy_from_slice(&motion.inner);
    }

    /// Restarts from a placement, `q`, and the momenta of a velocity field: linear, angular about the center of mass in
    /// spatial axes, and along the basis vectors in the frame.
    pub fn place(&mut self, placement: Placement, q: &[f64], momenta: (Vec3, Vec3, Vec<f64>), state: &mut State) {
        self.placement = placement;
        self.start.copy_from_slice(q);
        state.q[..RIGID].fill(0.0);
        state.q[RIGID..].copy_from_slice(q);
        let (linear, angular, inner) = momenta;
        let motion = self.motion(placement.rotation.transpose() * angular, &inner);
        self.set_velocity(state, linear / self.mass, &motion);
        state.forget();
    }
}

/// Returns the axial vector of the skew part, `ε_abc m_bc`: for `∫ y φᵀ` it is `∫ y × φ`.
fn axial(m: &Mat3) -> Vec3 {
    let at = |row: usize, column: usize| m.col(column)[row];
    Vec3::new(at(1, 2) - at(2, 1), at(2, 0) - at(0, 2), at(0, 1) - at(1, 0))
}

/// Returns the rotation of a rotation vector.
fn rotation(theta: Vec3) -> Mat3 {
    let angle = theta.length();
    if angle > 0.0 { Mat3::from_axis_angle(theta / angle, angle) } else { Mat3::IDENTITY }
}

/// Removes accumulated rounding errors from a rotation.
fn orthonormal(rotation: Mat3) -> Mat3 {
    let x = rotation.x_axis.normalize();
    let y = (rotation.y_axis - x * x.dot(rotation.y_axis)).normalize();
    Mat3::from_cols(x, y, x.cross(y))
}

/// Computes `∫ρ ψᵢψⱼᵀ` for all pairs of fields.
fn moments(mass: &MassMatrix, fields: &[&[f64]]) -> Vec<Mat3> {
    let component = |field: &[f64], axis: usize| field.iter().skip(axis).step_by(3).copied().collect::<Vec<f64>>();
    let plain: Vec<[Vec<f64>; 3]> = fields.iter().map(|field| [0, 1, 2].map(|axis| component(field, axis))).collect();
    let weighted = |field: &&[f64]| {
        let mut product = vec![0.0; field.len()];
        mass.mul(field, &mut product);
        [0, 1, 2].map(|axis| component(&product, axis))
    };
    let weighted: Vec<[Vec<f64>; 3]> = fields.par_iter().map(weighted).collect();
    let pairs: Vec<(usize, usize)> = (0..fields.len()).flat_map(|i| (0..fields.len()).map(move |j| (i, j))).collect();
    let moment = |&(i, j): &(usize, usize)| {
        Mat3::from_cols_array_2d(&[0, 1, 2].map(|b| [0, 1, 2].map(|a| dot(&plain[i][a], &weighted[j][b]))))
    };
    pairs.par_iter().map(moment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axial_vector_of_a_dyad_is_the_cross_product() {
        let (a, b) = (Vec3::new(1.0, -2.0, 3.0), Vec3::new(0.5, 4.0, -1.0));
        assert_eq!(axial(&outer(a, b)), a.cross(b));
    }
}
