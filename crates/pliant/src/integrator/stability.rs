//! How large the steps of explicit schemes may be.

use super::{LinearStep, StepError, StepInfo, dot, sized};
use crate::solver::LinearSolver;
use crate::system::{Definiteness, State, System, Weights};

/// What limits the steps of explicit schemes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// The highest angular frequency `ω` of the linearised system, in rad/s.
    pub frequency: f64,
    /// The largest step that is stable, in s.
    pub largest_step: f64,
    /// The step that was asked for, in s.
    pub step: f64,
}

impl Stability {
    /// Whether the step is small enough.
    pub fn is_stable(&self) -> bool {
        self.step <= self.largest_step
    }

    pub(super) fn hint(stability: Option<Self>) -> String {
        match stability {
            Some(s) if !s.is_stable() => {
                format!(" The step of {:.3e} s is not stable, at most {:.3e} s would be", s.step, s.largest_step)
            }
            _ => String::new(),
        }
    }
}

/// Which explicit scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Central,
    Symplectic,
    Explicit,
}

/// How often the power iteration multiplies, at most, and the change of `ω²` at which it stops.
const MOST_ITERATIONS: usize = 100;
const ENOUGH: f64 = 1e-3;
/// Power iteration comes near `ω` from below.
const MARGIN: f64 = 0.98;

/// The largest stable step `2/ω` of central differences around a state, with `ω²` the largest eigenvalue of `M⁻¹K`, by power
/// iteration.
pub fn stability<S: System>(
    system: &mut S,
    solver: &mut dyn LinearSolver<S::Matrix>,
    state: &State,
    step: f64,
) -> Result<Stability, StepError> {
    estimate(system, solver, state, step, Scheme::Central)
}

/// The same for each scheme. For a mode of frequency `ω` and damping `δ = φᵀDφ / φᵀMφ` the limits are
///
/// - central differences with implicit damping: `2/ω`
/// - symplectic Euler: `h²ω² + 2hδ ≤ 4`
/// - explicit Euler: `hω² ≤ δ` and `h²ω² − 2hδ + 4 ≥ 0`
pub(super) fn estimate<S: System>(
    system: &mut S,
    solver: &mut dyn LinearSolver<S::Matrix>,
    state: &State,
    step: f64,
    scheme: Scheme,
) -> Result<Stability, StepError> {
    let n = system.dim();
    let (mut x, mut product, mut scratch) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    system.linearize(&state.q, state.time, Definiteness::Projected, &mut scratch);
    scratch.fill(0.0);
    system.set_damping(&state.q, &state.v, &mut scratch);
    // Some vector with parts in all directions.
    for (i, x) in x.iter_mut().enumerate() {
        *x = (1.0 + i as f64 * 0.754_877_666).fract() - 0.5 + if i % 2 == 0 { 0.3 } else { -0.3 };
    }
    super::clear_held(system.held(), &mut x);
    let mass = Weights { mass: 1.0, ..Weights::default() };
    let mut linear = LinearStep::default();
    let mut info = StepInfo::default();
    let mut square = 0.0_f64;
    for _ in 0..MOST_ITERATIONS {
        system.mul(Weights { stiffness: 1.0, ..Weights::default() }, &x, &mut product);
        super::clear_held(system.held(), &mut product);
        let stiffness = dot(&x, &product);
        sized(&mut scratch, n);
        system.mul(mass, &x, &mut scratch);
        let kinetic = dot(&x, &scratch);
        if !(kinetic > 0.0 && stiffness > 0.0) {
            break;
        }
        let last = std::mem::replace(&mut square, stiffness / kinetic);
        if (square - last).abs() <= ENOUGH * square {
            break;
        }
        if system.divide(mass, &mut product) {
            x.copy_from_slice(&product);
        } else {
            x.fill(0.0);
            let solved = if linear.is_set(system, solver, mass) {
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
        system.mul(Weights { damping: 1.0, ..Weights::default() }, &x, &mut product);
        let friction = dot(&x, &product);
        system.mul(mass, &x, &mut scratch);
        let kinetic = dot(&x, &scratch);
        if kinetic > 0.0 { friction / kinetic } else { 0.0 }
    };
    // Whether a step is looked at must not change the steps that follow.
    solver.forget();
    let frequency = square.sqrt();
    let largest_step = match scheme {
        Scheme::Central => 2.0 / frequency,
        _ if square == 0.0 => 2.0 / damping,
        Scheme::Symplectic => ((damping * damping + 4.0 * square).sqrt() - damping) / square,
        Scheme::Explicit => {
            let root = damping * damping - 4.0 * square;
            // Written so that it keeps its digits where the damping is large.
            let overdamped = if root >= 0.0 { 4.0 / (damping + root.sqrt()) } else { f64::INFINITY };
            overdamped.min(damping / square)
        }
    };
    Ok(Stability { frequency, largest_step: MARGIN * largest_step, step })
}
