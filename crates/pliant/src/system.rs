//! What integrators see of a mechanical system: `M q̈ + D(q, q̇) q̇ = f(q, t)`.

use std::fmt;

pub use crate::material::Definiteness;

/// Where a system is and how it moves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// In s.
    pub time: f64,
    /// Coordinates; of a model, the displacements of its vertices in m, three numbers each.
    pub q: Vec<f64>,
    /// Velocities `q̇`.
    pub v: Vec<f64>,
    /// Accelerations `q̈`; none if they are not known, for instance after velocities have been set. Schemes that need them
    /// then work them out from the forces.
    pub a: Option<Vec<f64>>,
}

impl State {
    /// At rest at the origin, with so many coordinates.
    pub fn new(dim: usize) -> Self {
        Self { time: 0.0, q: vec![0.0; dim], v: vec![0.0; dim], a: None }
    }

    /// The first coordinate at which something is not finite.
    pub(crate) fn defect(&self) -> Option<(&'static str, usize)> {
        if !self.time.is_finite() {
            return Some(("the time, and with it what moves,", 0));
        }
        let first = |numbers: &[f64]| numbers.iter().position(|x| !x.is_finite());
        let position = first(&self.q).map(|i| ("the position", i));
        let velocity = || first(&self.v).map(|i| ("the velocity", i));
        let acceleration = || self.a.as_deref().and_then(first).map(|i| ("the acceleration", i));
        position.or_else(velocity).or_else(acceleration)
    }
}

/// The coefficients of `mM + dD + kK`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weights {
    /// `m`.
    pub mass: f64,
    /// `d`.
    pub damping: f64,
    /// `k`.
    pub stiffness: f64,
}

/// How the damping matrix of a system behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DampingKind {
    /// It is zero.
    None,
    /// It is always the same.
    Constant,
    /// It depends on where the system is and how it moves.
    Varying,
    /// It depends on `K` too, which must have been found before it is.
    FollowsStiffness,
}

/// All that an integrator sees of a mechanical system. Bodies of finite elements implement it, reduced models, and systems of a
/// user's own.
///
/// `M` is symmetric and constant, `D` symmetric and not negative, unless it follows a `K` that is, `K = −∂f/∂q` symmetric. Vectors have [`dim`](Self::dim) numbers.
pub trait System {
    /// What the linear solver of the user's choice takes.
    type Matrix;

    /// How many coordinates there are.
    fn dim(&self) -> usize;

    /// The potential `V(q)` with `f = −∂V/∂q`, at a time; none if there is no such function.
    fn energy(&mut self, q: &[f64], time: f64) -> Option<f64>;

    /// `f(q, t)`: all forces that do not depend on velocities.
    fn force(&mut self, q: &[f64], time: f64, force: &mut [f64]);

    /// The same, and remember `K(q)`, or near it a matrix that is not negative in any direction.
    fn linearize(&mut self, q: &[f64], time: f64, definiteness: Definiteness, force: &mut [f64]);

    /// Remember `D(q, v)`, which may be built on the `K` that is remembered. What the system rubs against may move: add the force
    /// that this exerts on a system at rest to `drive`.
    fn set_damping(&mut self, _q: &[f64], _v: &[f64], _drive: &mut [f64]) {}

    /// `y = (mM + dD + kK) x`, of what is remembered.
    fn mul(&mut self, weights: Weights, x: &[f64], y: &mut [f64]);

    /// Make the matrix `mM + dD + kK` of what is remembered, with the rows and columns of coordinates that are
    /// [`held`](Self::held) replaced by those of a diagonal matrix.
    fn assemble(&mut self, weights: Weights);

    /// The matrix that was assembled last.
    fn matrix(&self) -> &Self::Matrix;

    /// Changes whenever a matrix is assembled, and whenever one assembled before is no longer right: vertices are held or released,
    /// masses change. Schemes use matrices again only if it has not changed.
    fn revision(&self) -> u64 {
        0
    }

    /// Replace `b` by `(mM + dD + kK)⁻¹ b`, zero where coordinates are held, if that matrix is diagonal; otherwise leave `b` as it is
    /// and return false.
    fn divide(&mut self, _weights: Weights, _b: &mut [f64]) -> bool {
        false
    }

    /// How `D` behaves.
    fn damping_kind(&self) -> DampingKind {
        DampingKind::None
    }

    /// Which coordinates are held, so that forces cannot move them. May be empty if none is.
    fn held(&self) -> &[bool] {
        &[]
    }

    /// Set the coordinates that are held to where they are at a time.
    fn prescribe(&self, _time: f64, _q: &mut [f64]) {}

    /// Apply only a part of the external forces, from 0 to 1: statics goes to equilibrium in steps.
    fn set_load_factor(&mut self, _factor: f64) {}

    /// How large forces were that went into the last `f`, before they cancelled each other: in equilibrium nothing but rounding is left
    /// of them. 0 if it is not known.
    fn force_scale(&self) -> f64 {
        0.0
    }

    /// The size of what moves, in the unit of the coordinates: changes that are tiny beside it are rounding. 0 if it is not known.
    fn extent(&self) -> f64 {
        0.0
    }

    /// Returns the most strongly inverted element whose law is not defined when inverted, if there is one at `q`.
    fn find_inverted(&self, _q: &[f64]) -> Option<Inverted> {
        None
    }

    /// What a coordinate is called in messages.
    fn place(&self, coordinate: usize) -> Place {
        Place { coordinate, vertex: None }
    }
}

/// Element that is inverted, or flat, under a law that is not defined there.
#[derive(Debug, Clone, PartialEq)]
pub struct Inverted {
    /// Name of the body.
    pub body: String,
    /// Number of the element in the mesh of the body.
    pub element: u32,
    /// Number of such elements of this body.
    pub count: usize,
    /// `det F` at its worst quadrature point.
    pub volume_ratio: f64,
    /// True if the law is isotropic, so that inversion handling can be chosen for it.
    pub is_isotropic: bool,
}

impl fmt::Display for Inverted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { body, element, count, volume_ratio, .. } = self;
        write!(f, "element {element} of body `{body}` inverted (volume ratio {volume_ratio:.3}")?;
        if *count > 1 {
            write!(f, ", {count} elements in total")?;
        }
        write!(f, "), where its law is not defined,")
    }
}

/// A coordinate, and the vertex that it belongs to if it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of the coordinate.
    pub coordinate: usize,
    /// The vertex, and which of its three coordinates.
    pub vertex: Option<(u32, usize)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.vertex {
            Some((vertex, axis)) => write!(f, "{} of vertex {vertex}", ["x", "y", "z"][axis.min(2)]),
            None => write!(f, "coordinate {}", self.coordinate),
        }
    }
}
