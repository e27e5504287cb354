//! Interface between integrators and mechanical systems: `M q̈ + D(q, q̇) q̇ = f(q, t)`.

use std::fmt;

pub use crate::material::Definiteness;

/// State of a system: time, coordinates and their derivatives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// Time \[s\].
    pub time: f64,
    /// Coordinates `q`. For a finite-element model, the displacements of the vertices \[m\], three numbers per vertex.
    pub q: Vec<f64>,
    /// Velocities `q̇`.
    pub v: Vec<f64>,
    /// Accelerations `q̈`, or `None` if unknown, for instance after velocities have been set. Integrators that need
    /// them then compute them from the forces.
    pub a: Option<Vec<f64>>,
}

impl State {
    /// Creates a state at rest at the origin with `dim` coordinates.
    pub fn new(dim: usize) -> Self {
        Self { time: 0.0, q: vec![0.0; dim], v: vec![0.0; dim], a: None }
    }

    /// Returns the first coordinate at which a quantity is not finite, with the name of the quantity.
    pub(crate) fn defect(&self) -> Option<(&'static str, usize)> {
        if !self.time.is_finite() {
            return Some(("the time", 0));
        }
        let first = |numbers: &[f64]| numbers.iter().position(|x| !x.is_finite());
        let position = first(&self.q).map(|i| ("the position", i));
        let velocity = || first(&self.v).map(|i| ("the velocity", i));
        let acceleration = || self.a.as_deref().and_then(first).map(|i| ("the acceleration", i));
        position.or_else(velocity).or_else(acceleration)
    }
}

/// Coefficients of `mM + dD + kK`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weights {
    /// Coefficient `m` of the mass matrix.
    pub mass: f64,
    /// Coefficient `d` of the damping matrix.
    pub damping: f64,
    /// Coefficient `k` of the stiffness matrix.
    pub stiffness: f64,
}

/// Dependence of the damping matrix on the state of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DampingKind {
    /// Zero.
    None,
    /// Constant.
    Constant,
    /// Depends on coordinates and velocities.
    Varying,
    /// Depends on `K` too, which must be computed first.
    FollowsStiffness,
}

/// Mechanical system as seen by an integrator. Finite-element models, reduced models and user-defined systems implement
/// it.
///
/// `M` is symmetric and constant. `D` is symmetric and positive semi-definite, unless it follows an indefinite `K`. `K
/// = −∂f/∂q` is symmetric. Vectors have [`dim`](Self::dim) numbers.
pub trait System {
    /// Matrix type of the linear solver.
    type Matrix;

    /// Returns the number of coordinates.
    fn dim(&self) -> usize;

    /// Returns the potential `V(q)` with `f = −∂V/∂q` at a time, or `None` if the forces have no potential.
    fn energy(&mut self, q: &[f64], time: f64) -> Option<f64>;

    /// Computes `f(q, t)`: all forces that do not depend on velocities.
    fn force(&mut self, q: &[f64], time: f64, force: &mut [f64]);

    /// Computes `f(q, t)` and stores `K(q)` or its projection onto the positive semi-definite matrices.
    fn linearize(&mut self, q: &[f64], time: f64, definiteness: Definiteness, force: &mut [f64]);

    /// Stores `D(q, v)`, which may depend on the stored `K`. Adds to `drive` the damping force that moving surroundings
    /// exert on the system at rest.
    fn set_damping(&mut self, _q: &[f64], _v: &[f64], _drive: &mut [f64]) {}

    /// Computes `y = (mM + dD + kK) x` with the stored matrices.
    fn mul(&mut self, weights: Weights, x: &[f64], y: &mut [f64]);

    /// Assembles `mM + dD + kK` from the stored matrices. Rows and columns of [`fixed`](Self::fixed) coordinates are
    /// replaced by those of a diagonal matrix.
    fn assemble(&mut self, weights: Weights);

    /// Returns the last assembled matrix.
    fn matrix(&self) -> &Self::Matrix;

    /// Returns a number that changes whenever a matrix is assembled or an assembled one becomes invalid, because
    /// vertices are fixed or released or masses change. Integrators reuse matrices only while it is unchanged.
    fn revision(&self) -> u64 {
        0
    }

    /// Replaces `b` by `(mM + dD + kK)⁻¹ b`, zero at fixed coordinates, if that matrix is diagonal. Otherwise leaves
    /// `b` unchanged and returns false.
    fn divide(&mut self, _weights: Weights, _b: &mut [f64]) -> bool {
        false
    }

    /// Returns how `D` depends on the state.
    fn damping_kind(&self) -> DampingKind {
        DampingKind::None
    }

    /// Returns which coordinates are fixed, so that forces cannot move them. May be empty if none is.
    fn fixed_mask(&self) -> &[bool] {
        &[]
    }

    /// Sets the fixed coordinates to their prescribed values at a time.
    fn prescribe(&self, _time: f64, _q: &mut [f64]) {}

    /// Sets the fraction of the external forces to apply, from 0 to 1, for load stepping in statics.
    fn set_load_factor(&mut self, _factor: f64) {}

    /// Returns the magnitude of the forces summed in the last `f`, before they cancel: in equilibrium only rounding
    /// errors of this scale remain. 0 if unknown.
    fn force_scale(&self) -> f64 {
        0.0
    }

    /// Returns the characteristic length of the system in the unit of the coordinates: changes that are tiny relative
    /// to it are rounding errors. 0 if unknown.
    fn extent(&self) -> f64 {
        0.0
    }

    /// Returns the most strongly inverted element whose law is not defined when inverted, if there is one at `q`.
    fn find_inverted(&self, _q: &[f64]) -> Option<Inverted> {
        None
    }

    /// Returns the name of a coordinate for messages.
    fn place(&self, coordinate: usize) -> Coordinate {
        Coordinate { coordinate, vertex: None }
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

/// Coordinate with the vertex it belongs to, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinate {
    /// Index of the coordinate.
    pub coordinate: usize,
    /// Vertex, and axis of the coordinate (0 to 2).
    pub vertex: Option<(u32, usize)>,
}

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.vertex {
            Some((vertex, axis)) => write!(f, "{} of vertex {vertex}", ["x", "y", "z"][axis.min(2)]),
            None => write!(f, "coordinate {}", self.coordinate),
        }
    }
}
