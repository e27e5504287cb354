//! Stability limits of explicit integrators.

use super::check::check_time;
use super::linear_step::LinearStep;
use super::vectors::{clear_fixed, dot, sized};
use super::{StepError, StepInfo};
use crate::solver::LinearSolver;
use crate::system::{Combination, Definiteness, State, System};

/// Stability limit of an explicit integrator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// Highest angular frequency `ω` of the linearized system \[rad/s\].
    pub frequency: f64,
    /// Maximum stable step \[s\].
    pub max_step: f64,
    /// Requested step \[s\].
    pub step: f64,
}

impl Stability {
    /// Returns true if the step is stable.
    pub fn is_stable(&self) -> bool {
        self.step <= self.max_step
    }

    pub(super) fn hint(stability: Option<Self>) -> String {
        match stability {
            Some(s) if !s.is_stable() => {
                format!(" The step of {:.3e} s is unstable; the maximum is {:.3e} s", s.step, s.max_step)
            }
            _ => String::new(),
        }
    }
}

/// Kind of explicit integrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExplicitMethod {
    Central,
    Symplectic,
    Explicit,
}

/// Maximum number of power iterations, and relative change of `ω²` at which they stop.
const MAX_ITERATIONS: usize = 100;
const TOLERANCE: f64 = 1e-3;
/// Safety factor, as power iteration approaches `ω` from below.
const MARGIN: f64 = 0.98;

/// Estimates the maximum stable step `2/ω` of central differences around a state, where `ω²` is the largest eigenvalue
/// of `M⁻¹K`, by power iteration.
pub fn stability<S: System>(
    system: &mut S,
    solver: &mut dyn LinearSolver<S::Matrix>,
    state: &State,
    step: f64,
) -> Result<Stability, StepError> {
    estimate(system, solver, state, step, ExplicitMethod::Central)
}

/// Estimates the maximum stable step of each integrator. For a mode of frequency `ω` and damping `δ = φᵀDφ / φᵀMφ` the
/// limits are
///
/// - central differences with implicit damping: `2/ω`
/// - symplectic Euler: `h²ω² + 2hδ ≤ 4`
/// - explicit Euler: `hω² ≤ δ` and `h²ω² − 2hδ + 4 ≥ 0`
pub(super) fn estimate<S: System>(
    system: &mut S,
    solver: &mut dyn LinearSolver<S::Matrix>,
    state: &State,
    step: f64,
    method: ExplicitMethod,
) -> Result<Stability, StepError> {
    check_time(system, state, 0.0)?;
    let n = system.dim();
    let (mut x, mut product, mut scratch) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let conditions = state.conditions_here();
    let k = system.linearize(&state.q, &conditions, Definiteness::Projected, &mut scratch).stiffness;
    scratch.fill(0.0);
    let d = system.damping(&state.q, &conditions, &state.v, Some(&k), &mut scratch);
    // Start vector with components in all eigenvectors.
    for (i, x) in x.iter_mut().enumerate() {
        *x = (1.0 + i as f64 * 0.754_877_666).fract() - 0.5 + if i % 2 == 0 { 0.3 } else { -0.3 };
    }
    clear_fixed(system.fixed_mask(), &mut x);
    let mass = Combination::of_mass(1.0);
    let mut linear = LinearStep::default();
    let mut info = StepInfo::default();
    let mut square = 0.0_f64;
    for _ in 0..MAX_ITERATIONS {
        system.mul(Combination::of_stiffness(1.0, &k), &x, &mut product);
        clear_fixed(system.fixed_mask(), &mut product);
        let stiffness = dot(&x, &product);
        sized(&mut scratch, n);
        system.mul(mass, &x, &mut scratch);
        let kinetic = dot(&x, &scratch);
        if !(kinetic > 0.0 && stiffness > 0.0) {
            break;
        }
        let last = std::mem::replace(&mut square, stiffness / kinetic);
        if (square - last).abs() <= TOLERANCE * square {
            break;
        }
        if system.divide(mass, &mut product) {
            x.copy_from_slice(&product);
        } else {
            x.fill(0.0);
            let solved = if linear.is_set(system, solver, mass.weights()) {
                linear.solve_again(system, solver, mass, &mut product, &mut x, &mut info)
            } else {
                linear.solve(system, solver, mass, &mut product, &mut x, &mut info)
            };
            solved.map_err(|source| StepError::Solve { time: state.time, source })?;
        }
        let length = dot(&x, &x).sqrt();
        x.iter_mut().for_each(|x| *x /= length);
    }
    let damping = {
        system.mul(Combination::of_damping(1.0, &d), &x, &mut product);
        let friction = dot(&x, &product);
        system.mul(mass, &x, &mut scratch);
        let kinetic = dot(&x, &scratch);
        if kinetic > 0.0 { friction / kinetic } else { 0.0 }
    };
    system.recycle_stiffness(k);
    system.recycle_damping(d);
    // An estimate must not change the steps that follow.
    solver.forget();
    let frequency = square.sqrt();
    let max_step = match method {
        ExplicitMethod::Central => 2.0 / frequency,
        _ if square == 0.0 => 2.0 / damping,
        ExplicitMethod::Symplectic => ((damping * damping + 4.0 * square).sqrt() - damping) / square,
        ExplicitMethod::Explicit => {
            let root = damping * damping - 4.0 * square;
            // Written to avoid cancellation for large damping.
            let overdamped = if root >= 0.0 { 4.0 / (damping + root.sqrt()) } else { f64::INFINITY };
            overdamped.min(damping / square)
        }
    };
    Ok(Stability { frequency, max_step: MARGIN * max_step, step })
}
