//! Interface between integrators and mechanical systems: `M q̈ + D(q, q̇) q̇ = f(q, t)`.

use std::fmt::{self, Debug};

pub use crate::contact::StepLimit;
pub use crate::force::{Conditions, StepMotion};
pub use crate::material::Definiteness;
use crate::motion::NotFinite;

/// State of a system: time, coordinates and their derivatives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// Time \[s\].
    pub time: f64,
    /// Coordinates `q`. For a finite-element model, the displacements of the nodes \[m\], three numbers per node.
    pub q: Vec<f64>,
    /// Velocities `q̇`.
    pub v: Vec<f64>,
    /// Accelerations `q̈`, or `None` if unknown, for instance after velocities have been set. Integrators that need
    /// them then compute them from the forces.
    pub a: Option<Vec<f64>>,
    /// Step before, or `None` if it is unknown, for instance after positions have been set. Integrators of more than
    /// one step then restart. Others set it to `None`.
    pub previous: Option<PreviousStep>,
    /// History variables of the forces, such as plastic strains; they change only when a step succeeds.
    pub history: Vec<f64>,
}

/// Step that led to a [`State`], for integrators of more than one step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PreviousStep {
    /// Length \[s\].
    pub dt: f64,
    /// Changes of the coordinates.
    pub dq: Vec<f64>,
    /// Changes of the velocities.
    pub dv: Vec<f64>,
}

impl State {
    /// Creates a state at rest at the origin with `dim` coordinates.
    pub fn new(dim: usize) -> Self {
        Self { time: 0.0, q: vec![0.0; dim], v: vec![0.0; dim], ..Self::default() }
    }

    /// Forgets what earlier steps left for the next one: accelerations and the previous step. Call it after positions
    /// or velocities have been set.
    pub fn forget(&mut self) {
        (self.a, self.previous) = (None, None);
    }

    /// Returns the conditions of a step of `dt` \[s\] from this state, at the time of its end.
    pub fn conditions(&self, dt: f64) -> Conditions<'_> {
        Conditions { time: self.time + dt, dt, progress: 1.0, ..self.conditions_here() }
    }

    /// Returns the conditions at the time of this state, with full loads. Colliders are where the last step has left
    /// them.
    pub fn conditions_here(&self) -> Conditions<'_> {
        Conditions { progress: 0.0, ..Conditions::at(self.time).with_history(&self.history) }
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
        let previous = || {
            let PreviousStep { dt, dq, dv } = self.previous.as_ref()?;
            let change = first(dq).or_else(|| first(dv)).or_else(|| (!(*dt > 0.0 && dt.is_finite())).then_some(0));
            change.map(|i| ("the previous step", i))
        };
        position.or_else(velocity).or_else(acceleration).or_else(previous)
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

/// Matrix `mM + dD + kK`, with the damping and the stiffness that were evaluated for it.
#[derive(Debug)]
pub struct Combination<'a, S: System + ?Sized> {
    /// Coefficient `m` of the mass matrix.
    pub mass: f64,
    /// Coefficient `d`, and the damping matrix `D`.
    pub damping: Option<(f64, &'a S::Damping)>,
    /// Coefficient `k`, and the stiffness matrix `K`.
    pub stiffness: Option<(f64, &'a S::Stiffness)>,
}

impl<'a, S: System + ?Sized> Combination<'a, S> {
    /// Returns `mM`.
    pub fn of_mass(m: f64) -> Self {
        Self { mass: m, damping: None, stiffness: None }
    }

    /// Returns `dD`.
    pub fn of_damping(d: f64, damping: &'a S::Damping) -> Self {
        Self::of_mass(0.0).and_damping(d, damping)
    }

    /// Returns `kK`.
    pub fn of_stiffness(k: f64, stiffness: &'a S::Stiffness) -> Self {
        Self::of_mass(0.0).and_stiffness(k, stiffness)
    }

    /// Adds `dD`.
    #[must_use]
    pub fn and_damping(self, d: f64, damping: &'a S::Damping) -> Self {
        Self { damping: (d != 0.0).then_some((d, damping)), ..self }
    }

    /// Adds `kK`.
    #[must_use]
    pub fn and_stiffness(self, k: f64, stiffness: &'a S::Stiffness) -> Self {
        Self { stiffness: (k != 0.0).then_some((k, stiffness)), ..self }
    }

    /// Returns the coefficients.
    pub fn weights(&self) -> Weights {
        Weights {
            mass: self.mass,
            damping: self.damping.map_or(0.0, |(d, _)| d),
            stiffness: self.stiffness.map_or(0.0, |(k, _)| k),
        }
    }
}

impl<S: System + ?Sized> Clone for Combination<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: System + ?Sized> Copy for Combination<'_, S> {}

/// Result of a linearization.
#[derive(Debug, Clone)]
pub struct Linearization<K> {
    /// Stiffness matrix `K`, or its projection onto the positive semi-definite matrices.
    pub stiffness: K,
    /// Magnitude of the forces before they cancel; see [`System::force`].
    pub scale: f64,
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
    /// Depends on `K` too.
    FollowsStiffness,
}

/// Mechanical system as seen by an integrator. Finite-element models with their workspace, reduced models and
/// user-defined systems implement it.
///
/// `M` is symmetric and constant. `D` is symmetric and positive semi-definite, unless it follows an indefinite `K`. `K
/// = −∂f/∂q` is symmetric. Vectors have [`dim`](Self::dim) numbers.
///
/// `D` and `K` are values that their evaluation returns, so that a product or an assembled matrix cannot contain one
/// that was not evaluated. [`recycle_stiffness`](Self::recycle_stiffness) gives their memory back.
pub trait System {
    /// Stiffness matrix `K` at some state.
    type Stiffness: Clone + Debug + Send + 'static;

    /// Damping matrix `D` at some state.
    type Damping: Clone + Debug + Send + 'static;

    /// Matrix type of the linear solver.
    type Matrix;

    /// Returns the number of coordinates.
    fn dim(&self) -> usize;

    /// Returns the potential `V(q)` with `f = −∂V/∂q`, or `None` if the forces have no potential.
    fn energy(&mut self, q: &[f64], conditions: &Conditions<'_>) -> Option<f64>;

    /// Computes `f(q)`: all forces that do not depend on velocities.
    ///
    /// Returns the magnitude of the forces before they cancel in the sum: in equilibrium only rounding errors of this
    /// scale remain. 0 if unknown.
    fn force(&mut self, q: &[f64], conditions: &Conditions<'_>, force: &mut [f64]) -> f64;

    /// Computes `f(q)` and `K(q)` or its projection onto the positive semi-definite matrices.
    fn linearize(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        force: &mut [f64],
    ) -> Linearization<Self::Stiffness>;

    /// Computes `D(q, v)`, and adds to `drive` the damping force that moving surroundings exert on the system at rest.
    ///
    /// `stiffness` is `K(q)`, if it is known. A system whose damping [follows](DampingKind::FollowsStiffness) the
    /// stiffness otherwise computes its projection, with which damping never adds energy.
    fn damping(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        v: &[f64],
        stiffness: Option<&Self::Stiffness>,
        drive: &mut [f64],
    ) -> Self::Damping;

    /// Computes `y = (mM + dD + kK) x`.
    fn mul(&mut self, combination: Combination<'_, Self>, x: &[f64], y: &mut [f64]);

    /// Assembles `mM + dD + kK` in [`matrix`](Self::matrix). Rows and columns of [`fixed`](Self::fixed_mask)
    /// coordinates are replaced by those of a diagonal matrix.
    fn assemble(&mut self, combination: Combination<'_, Self>);

    /// Returns the last assembled matrix; before the first one, zero.
    fn matrix(&self) -> &Self::Matrix;

    /// Takes back the memory of a stiffness matrix that is no longer needed.
    fn recycle_stiffness(&mut self, _stiffness: Self::Stiffness) {}

    /// Takes back the memory of a damping matrix that is no longer needed.
    fn recycle_damping(&mut self, _damping: Self::Damping) {}

    /// Returns a number that changes whenever a matrix is assembled or an assembled one becomes invalid, because
    /// vertices are fixed or released or masses change. Integrators reuse matrices only while it is unchanged.
    fn revision(&self) -> u64 {
        0
    }

    /// Replaces `b` by `(mM + dD + kK)⁻¹ b`, zero at fixed coordinates, if that matrix is diagonal. Otherwise leaves
    /// `b` unchanged and returns false.
    fn divide(&mut self, _combination: Combination<'_, Self>, _b: &mut [f64]) -> bool {
        false
    }

    /// Returns how `D` depends on the state.
    fn damping_kind(&self) -> DampingKind {
        DampingKind::None
    }

    /// Returns the number of history variables in a [`State`].
    fn history_len(&self) -> usize {
        0
    }

    /// Replaces the history variables at the start of a step by those at its end, at `q`.
    fn update_history(&mut self, _q: &[f64], _conditions: &Conditions<'_>, _history: &mut [f64]) {}

    /// Returns true if forces depend on [`StepMotion::lagged`].
    fn is_lagged(&self) -> bool {
        false
    }

    /// Returns true if forces depend on [`Conditions::progress`].
    fn is_moved(&self) -> bool {
        false
    }

    /// Adds the change of the gradient of the energy, to first order, when the progress of the conditions changes to
    /// `end_progress` and `q` does not.
    fn add_gradient_of_motion(
        &mut self,
        _q: &[f64],
        _conditions: &Conditions<'_>,
        _end_progress: f64,
        _gradient: &mut [f64],
    ) {
    }

    /// Returns true if motions have a [limit](Self::limit_step), as those of bodies in contact have. Integrators that
    /// do not respect it are an error.
    fn limits_steps(&self) -> bool {
        false
    }

    /// Returns a fraction of a motion from `q` along `direction`, and from the progress of the conditions to
    /// `end_progress`, beyond which the energy may be infinite or undefined. Integrators go no further per iteration.
    /// With `by_islands`, the progress does not change, and independent parts are shortened in `direction`.
    fn limit_step(
        &mut self,
        _q: &[f64],
        _direction: &mut [f64],
        _conditions: &Conditions<'_>,
        _end_progress: f64,
        _by_islands: bool,
    ) -> StepLimit {
        StepLimit { fraction: 1.0, bodies: None }
    }

    /// Returns the name of a body or collider of a [`StepLimit`].
    fn contact_name(&self, _body: usize) -> String {
        String::new()
    }

    /// Returns which coordinates are fixed, so that forces cannot move them. May be empty if none is.
    fn fixed_mask(&self) -> &[bool] {
        &[]
    }

    /// Sets the fixed coordinates to their prescribed values at a time, which must be finite.
    fn prescribe(&self, _time: f64, _q: &mut [f64]) -> Result<(), NotFinite> {
        Ok(())
    }

    /// Checks that the motions and amplitudes of forces are finite at a time.
    fn check_time(&self, _time: f64) -> Result<(), NotFinite> {
        Ok(())
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
