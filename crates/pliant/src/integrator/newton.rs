//! Newton's method for the balance of forces that implicit schemes and statics look for.

use std::time::Instant;

use super::{LinearStep, StepError, StepInfo, clear_held, dot, norm, sized};
use crate::solver::{LinearSolver, SolveError};
use crate::system::{Definiteness, System, Weights};

/// How Newton's method goes on, and when it ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonParams {
    /// How many iterations at most.
    pub most_iterations: usize,
    /// The balance of forces is found when no more than this part of the forces is left.
    pub tolerance: f64,
    /// Which matrix to take.
    pub tangent: Tangent,
    /// Shorten steps until the energy falls.
    pub line_search: bool,
    /// Fail if there is no balance after the last iteration; otherwise take what there is.
    pub must_converge: bool,
}

/// Which derivative of the forces Newton's method takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tangent {
    /// The derivative itself.
    Exact,
    /// The one whose elements are made positive semi-definite: always downhill, at times with more iterations.
    Projected,
    /// The derivative itself, and where that does not lead downhill the projected one.
    ExactFirst,
}

impl Default for NewtonParams {
    fn default() -> Self {
        Self {
            most_iterations: 50,
            tolerance: 1e-9,
            tangent: Tangent::Projected,
            line_search: true,
            must_converge: true,
        }
    }
}

/// A step smaller than this part of the largest coordinate changes nothing that could be told from rounding.
const SMALLEST_STEP: f64 = 1e-14;
/// Part of the decrease that the slope promises that Armijo's rule asks for.
const ARMIJO: f64 = 1e-4;
/// How often a step may be halved.
const MOST_HALVINGS: usize = 40;

/// `r(q) = m M (q − q̂) + D w(q) − f(q, t) − drive = 0`, with `w = d (q − q₀) + v₀` the velocity.
///
/// As long as `D` does not change, `r` is the gradient of `m/2 |q − q̂|²_M + 1/(2d) wᵀDw + V(q) − drive·q`.
#[derive(Debug, Default)]
pub(super) struct Balance {
    pub mass: f64,
    pub damping: f64,
    pub time: f64,
    pub q_hat: Vec<f64>,
    pub q_0: Vec<f64>,
    pub v_0: Vec<f64>,
    pub drive: Vec<f64>,
    /// Whether `D` is that of the present iterate; otherwise it stays as it was set.
    pub damping_follows: bool,
    /// How much of the way to where they are prescribed to be held coordinates go; all of it if none is given.
    pub held_part: Option<f64>,
}

impl Balance {
    /// Make room for systems with `n` coordinates.
    pub fn size(&mut self, n: usize) {
        for vector in [&mut self.q_hat, &mut self.q_0, &mut self.v_0, &mut self.drive] {
            sized(vector, n);
        }
    }

    fn velocity(&self, q: &[f64], w: &mut [f64]) {
        for i in 0..q.len() {
            w[i] = self.damping * (q[i] - self.q_0[i]) + self.v_0[i];
        }
    }
}

/// The vectors that Newton's method works in.
#[derive(Debug, Default)]
pub(super) struct Newton {
    linear: LinearStep,
    force: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    right: Vec<f64>,
    trial: Vec<f64>,
    /// `q − q̂` or `w`, and its product with a matrix.
    part: Vec<f64>,
    product: Vec<f64>,
    /// Where held coordinates go.
    target: Vec<f64>,
}

impl Newton {
    /// Find the balance from `q` on, where held coordinates go to where they are prescribed to be.
    pub fn solve<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        params: &NewtonParams,
        balance: &mut Balance,
        q: &mut [f64],
        info: &mut StepInfo,
    ) -> Result<(), StepError> {
        let n = system.dim();
        for vector in [
            &mut self.force,
            &mut self.residual,
            &mut self.direction,
            &mut self.right,
            &mut self.trial,
            &mut self.part,
            &mut self.product,
            &mut self.target,
        ] {
            sized(vector, n);
        }
        self.target.copy_from_slice(q);
        system.prescribe(balance.time, &mut self.target);
        if let Some(part) = balance.held_part {
            self.target.iter_mut().zip(&*q).for_each(|(target, q)| *target = q + part * (*target - q));
        }
        let time = balance.time;
        let mut scale = 0.0_f64;
        let first_definiteness = match params.tangent {
            Tangent::Projected => Definiteness::Projected,
            Tangent::Exact | Tangent::ExactFirst => Definiteness::Exact,
        };
        for iteration in 0..params.most_iterations {
            let mut definiteness = first_definiteness;
            self.evaluate(system, balance, q, Some(definiteness), info);
            if let Some(i) = self.residual.iter().position(|r| !r.is_finite()) {
                return Err(StepError::NotFinite { what: "the force", place: system.place(i), time, stability: None });
            }
            scale = scale.max(norm(&self.residual)).max(self.force_scale(system.held()));
            let arrived = self.is_arrived(system.held(), q);
            info.residual = if scale > 0.0 { norm(&self.residual) / scale } else { 0.0 };
            if arrived && info.residual <= params.tolerance {
                return Ok(());
            }
            let slope = loop {
                match self.find_direction(system, solver, balance, q, info) {
                    Ok(slope) if slope < 0.0 || !params.line_search || !arrived => break slope,
                    Err(error) if definiteness == Definiteness::Projected || params.tangent == Tangent::Exact => {
                        return Err(StepError::Solve { time, source: error });
                    }
                    // Uphill, or no factor: the matrix is indefinite.
                    Ok(_) if definiteness == Definiteness::Projected || params.tangent == Tangent::Exact => {
                        return Err(self.line_search_error(system, time, iteration, info));
                    }
                    Ok(_) | Err(_) => {
                        definiteness = Definiteness::Projected;
                        self.evaluate(system, balance, q, Some(definiteness), info);
                    }
                }
            };
            info.newton_iterations += 1;
            if params.line_search && arrived {
                let accepted = self.search(system, balance, q, slope, info)?;
                if !accepted {
                    return Err(self.line_search_error(system, time, iteration, info));
                }
            } else {
                q.iter_mut().zip(&self.direction).for_each(|(q, d)| *q += d);
            }
            // Held coordinates are exactly where they belong, not only up to rounding.
            for (i, held) in system.held().iter().enumerate() {
                if *held {
                    q[i] = self.target[i];
                }
            }
            let largest = q.iter().fold(0.0_f64, |largest, q| largest.max(q.abs()));
            let step = self.direction.iter().fold(0.0_f64, |largest, d| largest.max(d.abs()));
            if arrived && step <= SMALLEST_STEP * largest {
                return Ok(());
            }
        }
        if !params.must_converge {
            return Ok(());
        }
        self.evaluate(system, balance, q, None, info);
        scale = scale.max(norm(&self.residual));
        info.residual = if scale > 0.0 { norm(&self.residual) / scale } else { 0.0 };
        if info.residual <= params.tolerance {
            return Ok(());
        }
        Err(StepError::NotConverged {
            time,
            iterations: params.most_iterations,
            residual: info.residual,
            tolerance: params.tolerance,
            worst: system.place(self.worst()),
            energy: system.energy(q, time),
        })
    }

    fn is_arrived(&self, held: &[bool], q: &[f64]) -> bool {
        held.iter().enumerate().all(|(i, held)| !held || q[i] == self.target[i])
    }

    fn worst(&self) -> usize {
        let largest = |a: &(usize, &f64), b: &(usize, &f64)| a.1.abs().total_cmp(&b.1.abs());
        self.residual.iter().enumerate().max_by(largest).map_or(0, |(i, _)| i)
    }

    fn line_search_error<S: System>(&self, system: &S, time: f64, iterations: usize, info: &StepInfo) -> StepError {
        StepError::LineSearch { time, iterations, residual: info.residual, worst: system.place(self.worst()) }
    }

    fn force_scale(&self, held: &[bool]) -> f64 {
        let free = |i: usize| !held.get(i).is_some_and(|held| *held);
        self.force.iter().enumerate().filter(|(i, _)| free(*i)).map(|(_, f)| f * f).sum::<f64>().sqrt()
    }

    /// `f` and `r` at `q`, zero where coordinates are held, and the matrices if asked for.
    fn evaluate<S: System>(
        &mut self,
        system: &mut S,
        balance: &mut Balance,
        q: &[f64],
        definiteness: Option<Definiteness>,
        info: &mut StepInfo,
    ) {
        let start = Instant::now();
        match definiteness {
            Some(definiteness) => system.linearize(q, balance.time, definiteness, &mut self.force),
            None => system.force(q, balance.time, &mut self.force),
        }
        balance.velocity(q, &mut self.part);
        if balance.damping_follows && definiteness.is_some() {
            balance.drive.fill(0.0);
            system.set_damping(q, &self.part, &mut balance.drive);
        }
        system.mul(Weights { damping: 1.0, ..Weights::default() }, &self.part, &mut self.residual);
        for i in 0..q.len() {
            self.residual[i] -= self.force[i] + balance.drive[i];
        }
        if balance.mass != 0.0 {
            for i in 0..q.len() {
                self.part[i] = q[i] - balance.q_hat[i];
            }
            system.mul(Weights { mass: balance.mass, ..Weights::default() }, &self.part, &mut self.product);
            self.residual.iter_mut().zip(&self.product).for_each(|(r, m)| *r += m);
        }
        clear_held(system.held(), &mut self.residual);
        info.assembling += start.elapsed();
    }

    /// The Newton step `d` with `A d = −r`, and the slope `dᵀr`.
    fn find_direction<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        balance: &Balance,
        q: &[f64],
        info: &mut StepInfo,
    ) -> Result<f64, SolveError> {
        for i in 0..q.len() {
            self.right[i] = -self.residual[i];
            self.direction[i] = self.target[i] - q[i];
        }
        for (i, direction) in self.direction.iter_mut().enumerate() {
            if !system.held().get(i).is_some_and(|held| *held) {
                *direction = 0.0;
            }
        }
        let weights = Weights { mass: balance.mass, damping: balance.damping, stiffness: 1.0 };
        self.linear.solve(system, solver, weights, &mut self.right, &mut self.direction, info)?;
        Ok(dot(&self.direction, &self.residual))
    }

    /// Go along `d` as far as Armijo's rule allows: `Φ(q + αd) ≤ Φ(q) + c α dᵀr`. Where the differences of energies drown in
    /// rounding, or there is no energy, `|r|` must not grow. Returns false if no step does.
    fn search<S: System>(
        &mut self,
        system: &mut S,
        balance: &mut Balance,
        q: &mut [f64],
        slope: f64,
        info: &mut StepInfo,
    ) -> Result<bool, StepError> {
        let start = Instant::now();
        let energy = system.energy(q, balance.time);
        if let Some(energy) = energy.filter(|energy| !energy.is_finite()) {
            return Err(StepError::Energy { energy, time: balance.time });
        }
        // The quadratic terms change by αb + α²c/2 exactly.
        let (mut b, mut c) = (-dot(&self.direction, &balance.drive), 0.0);
        if balance.mass != 0.0 {
            for i in 0..q.len() {
                self.part[i] = q[i] - balance.q_hat[i];
            }
            system.mul(Weights { mass: balance.mass, ..Weights::default() }, &self.direction, &mut self.product);
            b += dot(&self.part, &self.product);
            c += dot(&self.direction, &self.product);
        }
        if balance.damping != 0.0 {
            balance.velocity(q, &mut self.part);
            system.mul(Weights { damping: 1.0, ..Weights::default() }, &self.direction, &mut self.product);
            b += dot(&self.part, &self.product);
            c += balance.damping * dot(&self.direction, &self.product);
        }
        let before = norm(&self.residual);
        let mut alpha = 1.0_f64;
        info.assembling += start.elapsed();
        for halving in 0..MOST_HALVINGS {
            for i in 0..q.len() {
                self.trial[i] = alpha.mul_add(self.direction[i], q[i]);
            }
            let start = Instant::now();
            let after = energy.and_then(|_| system.energy(&self.trial, balance.time));
            info.assembling += start.elapsed();
            let is_lower = match (energy, after) {
                (Some(energy), Some(after)) => {
                    let change = after - energy + alpha * b + 0.5 * alpha * alpha * c;
                    let rounding = 1e-13 * (energy.abs() + after.abs() + (alpha * b).abs());
                    if (alpha * slope).abs() <= 100.0 * rounding && change.abs() <= 100.0 * rounding {
                        None
                    } else {
                        Some(change <= ARMIJO * alpha * slope)
                    }
                }
                _ => None,
            };
            let accepted = match is_lower {
                Some(is_lower) => is_lower,
                None => {
                    let trial = std::mem::take(&mut self.trial);
                    self.evaluate(system, balance, &trial, None, info);
                    self.trial = trial;
                    let after = norm(&self.residual);
                    // With nothing but rounding left, a step that makes nothing worse is as good as any.
                    after <= before * (1.0 - ARMIJO * alpha) || (energy.is_some() && after <= 2.0 * before)
                }
            };
            if accepted {
                q.copy_from_slice(&self.trial);
                info.shortened += halving;
                return Ok(true);
            }
            alpha *= 0.5;
        }
        Ok(false)
    }
}
