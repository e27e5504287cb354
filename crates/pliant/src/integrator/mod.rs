//! Time integration and static equilibrium. One file per integrator.
//!
//! | integrator | order | stable |
//! |---|---|---|
//! | [`BackwardEuler`] | 1 | at any step, also for barriers; one or two linear systems per step, more in contact |
//! | [`LinearizedBackwardEuler`] | 1 | at any step on linear systems; one linear system per step, may diverge |
//! | [`Newmark`] | 2 for `γ = ½` | at any step on linear systems |
//! | [`CentralDifferences`] | 2 | below `2/ω`, `ω` the highest frequency of the mesh |
//! | [`SymplecticEuler`] | 1 | below `2/ω`; energy is bounded for all times |
//! | [`ExplicitEuler`] | 1 | only with damping |
//! | [`Regularized`] | 1 | at any step, also for rigid and incompressible bodies; one linear system per step |
//!
//! [`Static`] solves for equilibrium, and [`QuasiStatic`] does so in every step. [`Halving`] repeats failed steps of
//! any integrator with smaller steps, and [`Fallback`] repeats them with another integrator.
//!
//! # A user-defined system
//!
//! Integrators are independent of finite elements. Here they step a row of pendulums, coupled by torsion springs:
//! `V = Σ (1 − cos θᵢ) + k/2 Σ (θᵢ₊₁ − θᵢ)²`, `M = I`.
//!
//! ```
//! use pliant::integrator::{BackwardEuler, CentralDifferences, Integrator};
//! use pliant::integrator::{LinearizedBackwardEuler, Newmark, SymplecticEuler};
//! use pliant::solver::{Dense, DenseMatrix};
//! use pliant::system::{Definiteness, State, System, Weights};
//!
//! struct Pendulums {
//!     stiffness: DenseMatrix,
//!     matrix: DenseMatrix,
//! }
//!
//! const COUNT: usize = 10;
//! const COUPLING: f64 = 2.0;
//!
//! impl System for Pendulums {
//!     type Matrix = DenseMatrix;
//!
//!     fn dim(&self) -> usize {
//!         COUNT
//!     }
//!
//!     fn energy(&mut self, q: &[f64], _time: f64) -> Option<f64> {
//!         let lifted: f64 = q.iter().map(|q| 1.0 - q.cos()).sum();
//!         Some(lifted + 0.5 * COUPLING * q.windows(2).map(|q| (q[1] - q[0]).powi(2)).sum::<f64>())
//!     }
//!
//!     fn force(&mut self, q: &[f64], _time: f64, force: &mut [f64]) {
//!         for i in 0..COUNT {
//!             force[i] = -q[i].sin();
//!             for j in [i.wrapping_sub(1), i + 1] {
//!                 force[i] += q.get(j).map_or(0.0, |neighbor| COUPLING * (neighbor - q[i]));
//!             }
//!         }
//!     }
//!
//!     fn linearize(&mut self, q: &[f64], time: f64, definiteness: Definiteness, force: &mut [f64]) {
//!         self.force(q, time, force);
//!         for i in 0..COUNT {
//!             let own = q[i].cos();
//!             self.stiffness[(i, i)] = if definiteness == Definiteness::Projected { own.max(0.0) } else { own };
//!             for j in [i.wrapping_sub(1), i + 1].into_iter().filter(|j| *j < COUNT) {
//!                 self.stiffness[(i, i)] += COUPLING;
//!                 self.stiffness[(i, j)] = -COUPLING;
//!             }
//!         }
//!     }
//!
//!     fn mul(&mut self, weights: Weights, x: &[f64], y: &mut [f64]) {
//!         for i in 0..COUNT {
//!             let stiffness: f64 = (0..COUNT).map(|j| self.stiffness[(i, j)] * x[j]).sum();
//!             y[i] = weights.mass * x[i] + weights.stiffness * stiffness;
//!         }
//!     }
//!
//!     fn assemble(&mut self, weights: Weights) {
//!         for i in 0..COUNT {
//!             for j in 0..COUNT {
//!                 let mass = if i == j { weights.mass } else { 0.0 };
//!                 self.matrix[(i, j)] = mass + weights.stiffness * self.stiffness[(i, j)];
//!             }
//!         }
//!     }
//!
//!     fn matrix(&self) -> &DenseMatrix {
//!         &self.matrix
//!     }
//! }
//!
//! let mut pendulums = Pendulums { stiffness: DenseMatrix::zero(COUNT), matrix: DenseMatrix::zero(COUNT) };
//! let integrators: [Box<dyn Integrator<Pendulums>>; 5] = [
//!     Box::new(LinearizedBackwardEuler::default()),
//!     Box::new(BackwardEuler::default()),
//!     Box::new(Newmark::default()),
//!     Box::new(CentralDifferences::default()),
//!     Box::new(SymplecticEuler::default()),
//! ];
//! for mut integrator in integrators {
//!     let mut state = State::new(COUNT);
//!     state.q[0] = 1.0;
//!     let start = pendulums.energy(&state.q, 0.0).unwrap();
//!     for _ in 0..1000 {
//!         integrator.step(&mut pendulums, &mut Dense::default(), &mut state, 0.001)?;
//!     }
//!     let kinetic = 0.5 * state.v.iter().map(|v| v * v).sum::<f64>();
//!     let end = pendulums.energy(&state.q, 0.0).unwrap() + kinetic;
//!     assert!((end / start - 1.0).abs() < 0.01);
//! }
//! # Ok::<(), pliant::integrator::StepError>(())
//! ```

mod backward_euler;
mod central_differences;
mod explicit;
mod fallback;
mod halving;
mod newmark;
mod newton;
pub mod regularized;
mod stability;
mod statics;

use std::fmt::{self, Debug};
use std::time::{Duration, Instant};

use dyn_clone::DynClone;
use thiserror::Error;

use crate::solver::{LinearSolver, SolveError, SolveInfo, Stamp};
use crate::system::{Coordinate, DampingKind, Definiteness, Inverted, State, System, Weights};

pub use backward_euler::{BackwardEuler, LinearizedBackwardEuler};
pub use central_differences::CentralDifferences;
pub use explicit::{ExplicitEuler, SymplecticEuler};
pub use fallback::Fallback;
pub use halving::Halving;
pub use newmark::{Newmark, NewmarkError};
pub use newton::{NewtonParams, NewtonTangent};
pub use regularized::Regularized;
pub use stability::{Stability, stability};
pub use statics::{QuasiStatic, Static, StaticParams};

/// Integrator that steps systems in time.
///
/// It serves one system and one solver, as it may rely on matrices that it gave to the solver in earlier steps.
pub trait Integrator<S: System>: Debug + DynClone + Send {
    /// Returns true if the integrator supplies the elasticity of bodies without an elastic force.
    fn brings_elasticity(&self) -> bool {
        false
    }

    /// Returns true if bodies have inertia, and false if they move from equilibrium to equilibrium.
    fn has_inertia(&self) -> bool {
        true
    }

    /// Advances the state by `dt` \[s\]. On error the state is unchanged.
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError>;
}

dyn_clone::clone_trait_object!(<S: System> Integrator<S>);

impl<S: System> Integrator<S> for Box<dyn Integrator<S>> {
    fn brings_elasticity(&self) -> bool {
        (**self).brings_elasticity()
    }

    fn has_inertia(&self) -> bool {
        (**self).has_inertia()
    }

    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        (**self).step(system, solver, state, dt)
    }
}

/// Statistics of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepInfo {
    /// Number of Newton iterations, each with one linearization and one linear system.
    pub newton_iterations: usize,
    /// Number of Newton steps shortened by the line search.
    pub shortened: usize,
    /// Total number of iterations of the linear solver.
    pub linear_iterations: usize,
    /// Total number of factorizations.
    pub factorizations: usize,
    /// Result of the last linear solve.
    pub solve: SolveInfo,
    /// Residual of the balance of forces relative to the forces, if the integrator iterates until it is small.
    pub residual: f64,
    /// Number of substeps that this step was split into; 0 if it was not.
    pub substeps: usize,
    /// Stability of the step, if the integrator has estimated it.
    pub stability: Option<Stability>,
    /// Time spent on the assembly of forces and matrices.
    pub assembling: Duration,
    /// Time spent in the linear solver.
    pub solving: Duration,
}

impl StepInfo {
    /// Returns the sum of the statistics of this step and another. The last linear solve is that of the other.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            newton_iterations: self.newton_iterations + other.newton_iterations,
            shortened: self.shortened + other.shortened,
            linear_iterations: self.linear_iterations + other.linear_iterations,
            factorizations: self.factorizations + other.factorizations,
            solve: other.solve,
            residual: self.residual.max(other.residual),
            substeps: self.substeps + other.substeps,
            stability: other.stability.or(self.stability),
            assembling: self.assembling + other.assembling,
            solving: self.solving + other.solving,
        }
    }

    fn count(&mut self, solve: SolveInfo) {
        self.linear_iterations += solve.iterations;
        self.factorizations += solve.factorizations;
        self.solve = solve;
    }
}

/// Error of a step.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum StepError {
    #[error("the time step is {dt} s, expected a positive number")]
    TimeStep { dt: f64 },
    #[error("the state has {found} coordinates, expected {expected}")]
    Length { found: usize, expected: usize },
    #[error("{what} is not finite at {place} before the step from {time} s")]
    State { what: &'static str, place: Coordinate, time: f64 },
    #[error("{what} is not finite at {place} in the step from {time} s.{}", Stability::hint(*stability))]
    NotFinite { what: &'static str, place: Coordinate, time: f64, stability: Option<Stability> },
    #[error(
        "the energy is {energy} J at the start of the step from {time} s: this law is undefined for inverted elements"
    )]
    Energy { energy: f64, time: f64 },
    #[error("{cause} in the step from {time} s; {}", Remedy::list(&self.remedies()))]
    Inverted {
        time: f64,
        cause: Box<Inverted>,
        /// True if the step had a line search, so that a prescribed motion or a load is too large for it.
        searched: bool,
    },
    #[error(
        "no balance of forces at {time} s after {iterations} iterations: the residual is {residual:.1e} of the forces, expected \
         {tolerance:.1e}; it is largest at {worst}{}. A smaller step helps",
        energy.map_or(String::new(), |energy| format!("; the energy is {energy:.6e} J"))
    )]
    NotConverged { time: f64, iterations: usize, residual: f64, tolerance: f64, worst: Coordinate, energy: Option<f64> },
    #[error(
        "no shorter Newton step lowers the energy at {time} s, iteration {iterations}: the residual is {residual:.1e} of the \
         forces, largest at {worst}. A projected tangent or a smaller step helps"
    )]
    LineSearch { time: f64, iterations: usize, residual: f64, worst: Coordinate },
    #[error("in the step from {time} s: {source}")]
    Solve { time: f64, source: SolveError },
    #[error(
        "in the step from {time} s: elimination breaks down at the strains of tetrahedron {tet} of body `{body}`. A smaller step, or a \
         lower stiffness, helps"
    )]
    Strain { time: f64, body: String, tet: usize },
    #[error("no equilibrium can be computed: the integrator brings its own law")]
    OwnLaw,
    #[error("{method} require fixed vertices; this body is free")]
    Free { method: &'static str },
    #[error("in statics, with {:.3} % of the load: {source}", 100.0 * load_factor)]
    Static { load_factor: f64, source: Box<StepError> },
    #[error("after {halvings} halvings of the step, to {dt:.3e} s: {source}")]
    Halving { halvings: usize, dt: f64, source: Box<StepError> },
}

/// Change to a simulation that lets a failed step succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Use of this integrator, by its name in scenes.
    Integrator(&'static str),
    /// Use of this law, by its name in scenes.
    Law(&'static str),
    /// Use of this `inversion` of the material, by its name in scenes.
    Inversion(&'static str),
    /// Smaller steps.
    SmallerStep,
}

impl Remedy {
    /// Joins remedies into the end of a sentence.
    fn list(remedies: &[Self]) -> String {
        let texts: Vec<String> = remedies.iter().map(ToString::to_string).collect();
        texts.join(", or ")
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integrator(name) => write!(f, "use the integrator `{name}`"),
            Self::Law(name) => write!(f, "use the law `{name}`"),
            Self::Inversion(name) => write!(f, "set `inversion = \"{name}\"`"),
            Self::SmallerStep => write!(f, "use a smaller step"),
        }
    }
}

impl StepError {
    /// Returns the changes that may let the step succeed, the most likely first. Empty if none is known.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Inverted { cause, searched, .. } => {
                let steps = if *searched { Remedy::SmallerStep } else { Remedy::Integrator("backward-euler") };
                let mut remedies = vec![steps, Remedy::Law("stable-neo-hookean")];
                remedies.extend(cause.is_isotropic.then_some(Remedy::Inversion("clamp")));
                remedies
            }
            Self::Energy { .. } => vec![Remedy::Law("stable-neo-hookean")],
            Self::NotFinite { .. } | Self::NotConverged { .. } | Self::LineSearch { .. } => {
                vec![Remedy::SmallerStep, Remedy::Integrator("backward-euler")]
            }
            Self::Solve { .. } | Self::Strain { .. } => vec![Remedy::SmallerStep],
            Self::Static { source, .. } | Self::Halving { source, .. } => source.remedies(),
            Self::TimeStep { .. } | Self::Length { .. } | Self::State { .. } | Self::OwnLaw | Self::Free { .. } => {
                Vec::new()
            }
        }
    }

    /// Returns true if the solver was stopped on request, so that no retry makes sense.
    fn is_stop(&self) -> bool {
        matches!(self, Self::Solve { source: SolveError::Stopped, .. })
    }
}

/// Checks the arguments of a step.
pub(crate) fn check<S: System>(system: &S, state: &State, dt: f64) -> Result<(), StepError> {
    if !(dt > 0.0 && dt.is_finite()) {
        return Err(StepError::TimeStep { dt });
    }
    check_state(system, state)
}

fn check_state<S: System>(system: &S, state: &State) -> Result<(), StepError> {
    let expected = system.dim();
    for found in [state.q.len(), state.v.len(), state.a.as_ref().map_or(expected, Vec::len)] {
        if found != expected {
            return Err(StepError::Length { found, expected });
        }
    }
    match state.defect() {
        Some((what, i)) => Err(StepError::State { what, place: system.place(i), time: state.time }),
        None => Ok(()),
    }
}

/// Checks that the results of a step from `time` are finite.
pub(crate) fn check_finite<S: System>(
    system: &S,
    time: f64,
    what: &'static str,
    numbers: &[f64],
    stability: Option<Stability>,
) -> Result<(), StepError> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(StepError::NotFinite { what, place: system.place(i), time, stability }),
        None => Ok(()),
    }
}

/// Checks that the forces at `q` are finite, and reports an inverted element if that is the cause.
fn check_force<S: System>(
    system: &S,
    time: f64,
    q: &[f64],
    force: &[f64],
    stability: Option<Stability>,
) -> Result<(), StepError> {
    let finite = check_finite(system, time, "the force", force, stability);
    match finite.is_err().then(|| system.find_inverted(q)).flatten() {
        Some(cause) => Err(StepError::Inverted { time, cause: Box::new(cause), searched: false }),
        None => finite,
    }
}

/// Checks that no element is inverted at the end of a step where its law is undefined, so that the next step can start.
fn check_defined<S: System>(system: &S, time: f64, q: &[f64]) -> Result<(), StepError> {
    match system.find_inverted(q) {
        Some(cause) => Err(StepError::Inverted { time, cause: Box::new(cause), searched: false }),
        None => Ok(()),
    }
}

/// Workspace for the linear systems of a step.
#[derive(Debug, Clone, Default)]
struct LinearStep {
    product: Vec<f64>,
    /// State of the solver at its last update: the weights, the revision of the system and the stamp of the solver.
    set: Option<(Weights, u64, Stamp)>,
}

impl LinearStep {
    /// Solves `(mM + dD + kK) x = b`, where `x` is already known for fixed coordinates. Overwrites `b`.
    fn solve<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        weights: Weights,
        b: &mut [f64],
        x: &mut [f64],
        info: &mut StepInfo,
    ) -> Result<(), SolveError> {
        let start = Instant::now();
        system.assemble(weights);
        info.assembling += start.elapsed();
        let start = Instant::now();
        self.set = None;
        solver.set_matrix(system.matrix())?;
        self.set = solver.stamp().map(|stamp| (weights, system.revision(), stamp));
        info.solving += start.elapsed();
        self.solve_again(system, solver, weights, b, x, info)
    }

    /// Returns true if the solver still has its last matrix and that was for these weights.
    fn is_set<S: System>(&self, system: &S, solver: &dyn LinearSolver<S::Matrix>, weights: Weights) -> bool {
        solver.stamp().is_some_and(|stamp| self.set == Some((weights, system.revision(), stamp)))
    }

    /// Solves with the last matrix, which was for these weights.
    fn solve_again<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        weights: Weights,
        b: &mut [f64],
        x: &mut [f64],
        info: &mut StepInfo,
    ) -> Result<(), SolveError> {
        let start = Instant::now();
        self.product.resize(b.len(), 0.0);
        let moves = system.fixed_mask().iter().zip(&*x).any(|(fixed, x)| *fixed && *x != 0.0);
        if moves {
            for (x, fixed) in x.iter_mut().zip(system.fixed_mask()) {
                if !fixed {
                    *x = 0.0;
                }
            }
            system.mul(weights, x, &mut self.product);
            b.iter_mut().zip(&self.product).for_each(|(b, product)| *b -= product);
        }
        info.assembling += start.elapsed();
        let start = Instant::now();
        let fixed = system.fixed_mask();
        clear_fixed(fixed, b);
        // Known values are set aside: the solver sees zero there and takes zero as its initial guess.
        self.product.fill(0.0);
        info.count(solver.solve(system.matrix(), b, &mut self.product)?);
        for (i, x) in x.iter_mut().enumerate() {
            if !is_fixed(fixed, i) {
                *x = self.product[i];
            }
        }
        info.solving += start.elapsed();
        Ok(())
    }
}

/// Returns true if a coordinate is fixed. The list may be empty if none is.
fn is_fixed(fixed: &[bool], coordinate: usize) -> bool {
    fixed.get(coordinate).is_some_and(|fixed| *fixed)
}

/// Sets fixed coordinates to zero.
fn clear_fixed(fixed: &[bool], x: &mut [f64]) {
    for (x, fixed) in x.iter_mut().zip(fixed) {
        if *fixed {
            *x = 0.0;
        }
    }
}

/// Copies free coordinates.
fn copy_free(fixed: &[bool], from: &[f64], to: &mut [f64]) {
    for i in 0..to.len() {
        if !is_fixed(fixed, i) {
            to[i] = from[i];
        }
    }
}

/// Returns the Euclidean norm, summed by one thread in a deterministic order.
fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    // Eight partial sums, which a compiler may keep in one register.
    let mut sums = [0.0; 8];
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<8>(), y.as_chunks::<8>());
    for (x, y) in x.iter().zip(y) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum::<f64>() + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// Resizes a vector to this length. Its contents are unspecified.
fn sized(vector: &mut Vec<f64>, length: usize) {
    vector.resize(length, 0.0);
}

/// Sets the accelerations of fixed coordinates to second differences of their prescribed positions.
fn prescribe_acceleration<S: System>(system: &S, time: f64, h: f64, q: &[f64], place: &mut [f64], a: &mut [f64]) {
    for (offset, weight) in [(-h, 1.0), (0.0, -2.0), (h, 1.0)] {
        place.copy_from_slice(q);
        system.prescribe(time + offset, place);
        for (i, fixed) in system.fixed_mask().iter().enumerate() {
            if *fixed {
                // Differences from the current position avoid cancellation.
                a[i] += weight * (place[i] - q[i]) / (h * h);
            }
        }
    }
}

/// Accelerations consistent with the forces: `M a = f(q) − D v`.
#[derive(Debug, Clone, Default)]
struct Acceleration {
    linear: LinearStep,
    force: Vec<f64>,
    product: Vec<f64>,
}

impl Acceleration {
    /// Computes the accelerations of a state before a step `h`. Factors `M` again only if the solver has been used for
    /// another matrix.
    fn find<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &State,
        h: f64,
        a: &mut [f64],
        info: &mut StepInfo,
    ) -> Result<(), StepError> {
        let n = system.dim();
        sized(&mut self.force, n);
        sized(&mut self.product, n);
        let start = Instant::now();
        let kind = system.damping_kind();
        if kind == DampingKind::FollowsStiffness {
            system.linearize(&state.q, state.time, Definiteness::Exact, &mut self.force);
        } else {
            system.force(&state.q, state.time, &mut self.force);
        }
        if kind != DampingKind::None {
            system.set_damping(&state.q, &state.v, &mut self.force);
            system.mul(Weights { damping: 1.0, ..Weights::default() }, &state.v, &mut self.product);
            self.force.iter_mut().zip(&self.product).for_each(|(f, d)| *f -= d);
        }
        info.assembling += start.elapsed();
        check_force(system, state.time, &state.q, &self.force, None)?;
        a.fill(0.0);
        prescribe_acceleration(system, state.time, h, &state.q, &mut self.product, a);
        let weights = Weights { mass: 1.0, ..Weights::default() };
        if system.divide(weights, &mut self.force) {
            copy_free(system.fixed_mask(), &self.force, a);
            return Ok(());
        }
        let solved = if self.linear.is_set(system, solver, weights) {
            self.linear.solve_again(system, solver, weights, &mut self.force, a, info)
        } else {
            self.linear.solve(system, solver, weights, &mut self.force, a, info)
        };
        solved.map_err(|source| StepError::Solve { time: state.time, source })
    }
}
