//! Newton's method for the balance of forces in implicit integrators and statics.

use std::time::Instant;

use super::check::check_force;
use super::linear_step::LinearStep;
use super::vectors::{clear_fixed, dot, is_fixed, norm, sized};
use super::{NewtonParams, NewtonTangent, StepError, StepInfo};
use crate::motion::NotFinite;
use crate::solver::LinearSolver;
use crate::system::{Combination, Conditions, Definiteness, Linearization, StepLimit, StepMotion, System};

/// Step length, relative to the size of the system or the largest coordinate, below which the residual is rounding.
const SMALLEST_STEP: f64 = 1e-13;
/// Required fraction of the decrease predicted by the slope, in Armijo's rule.
const ARMIJO: f64 = 1e-4;
/// Relative difference of energies that may be rounding: they are sums over many elements, each a difference of larger
/// numbers.
const ROUNDING: f64 = 1e-8;
/// Maximum slope at the end of a step relative to that at its start, if the energies do not decide.
const STEEPEST: f64 = 0.9;
/// Step length, relative to the size of the system, below which energies do not resolve a step: they differ by its
/// square.
const SMALL_STEP: f64 = 1e-7;
/// Maximum number of halvings of a step.
const MAX_HALVINGS: usize = 24;
/// Number of iterations in which the normal forces of friction are those of the iterate. Later they change only once
/// the balance of forces has converged.
const FOLLOWED: usize = 12;
/// Maximum number of times that converged normal forces of friction are updated.
const MAX_UPDATES: usize = 8;
/// Factor of the minimum stiffness of friction after each iteration that the line search does not shorten.
const SECANT: f64 = 0.25;
/// Fraction of a motion below which an iteration counts as stopped by contact.
const STOPPED: f64 = 1e-4;
/// Number of such iterations in a row after which a prescribed motion counts as blocked.
const MAX_STOPPED: usize = 10;

/// Balance of forces `r(s) = m M (s − ŝ) + D w − f(q + s, t) − drive = 0`, with the displacement increment `s` from the
/// start `q` of the step and the velocity `w = d s + v₀`.
///
/// As long as `D` is constant, `r` is the gradient of `m/2 |s − ŝ|²_M + 1/(2d) wᵀDw + V(q + s) − drive·s`. The unknown
/// is `s` rather than `q + s` to avoid cancellation, as `m` is as large as `1/h²`.
#[derive(Debug, Clone, Default)]
pub(super) struct Balance {
    pub mass: f64,
    pub damping: f64,
    pub s_hat: Vec<f64>,
    pub v_0: Vec<f64>,
    pub drive: Vec<f64>,
    /// True if `D` is evaluated at each iterate. Otherwise it is that of the [`Problem`].
    pub damping_follows: bool,
    /// Fraction of the prescribed displacement that is applied to fixed coordinates; all of it if `None`.
    pub fixed_part: Option<f64>,
    /// Initial guess of `s`, used if its energy is lower than that of `s = 0`. Empty for none.
    pub guess: Vec<f64>,
    /// Coefficient of the velocity of sliding contacts in statics \[1/s\], where that of damping is zero.
    pub static_rate: f64,
}

impl Balance {
    /// Allocates the vectors for systems with `n` coordinates.
    pub fn size(&mut self, n: usize) {
        for vector in [&mut self.s_hat, &mut self.v_0, &mut self.drive] {
            sized(vector, n);
        }
    }

    /// Returns the coefficient `d` for friction.
    fn rate(&self) -> f64 {
        if self.damping == 0.0 { self.static_rate } else { self.damping }
    }

    fn velocity(&self, s: &[f64], w: &mut [f64]) {
        for i in 0..s.len() {
            w[i] = self.damping * s[i] + self.v_0[i];
        }
    }
}

/// Problem that is constant in a step, except for `D` where that follows the iterates.
pub(super) struct Problem<'a, S: System> {
    /// Position at the start of the step.
    pub start: &'a [f64],
    pub conditions: Conditions<'a>,
    /// Damping matrix `D`; `None` if it is zero, or not evaluated yet.
    pub damping: Option<S::Damping>,
}

impl<'a, S: System> Problem<'a, S> {
    /// Returns the conditions with the motion of the step, for friction.
    fn conditions<'b>(&'b self, balance: &'b Balance, lagged: &'b Lagged, progress: f64) -> Conditions<'b>
    where
        'a: 'b,
    {
        let Lagged { q, secant } = lagged;
        let motion =
            StepMotion { start: self.start, rate: balance.rate(), v_0: &balance.v_0, lagged: q, secant: *secant };
        Conditions { progress, motion: (!q.is_empty()).then_some(motion), ..self.conditions }
    }
}

impl<S: System> Problem<'_, S> {
    /// Returns `mM + dD + kK`.
    fn combination<'a>(&'a self, mass: f64, d: f64, stiffness: Option<&'a S::Stiffness>) -> Combination<'a, S> {
        Combination {
            mass,
            damping: self.damping.as_ref().filter(|_| d != 0.0).map(|damping| (d, damping)),
            stiffness: stiffness.map(|stiffness| (1.0, stiffness)),
        }
    }
}

/// Workspace of Newton's method.
#[derive(Debug, Clone, Default)]
pub(super) struct Newton {
    /// Displacement increment `s` from the start, and the position it leads to.
    pub s: Vec<f64>,
    pub q: Vec<f64>,
    linear: LinearStep,
    force: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    right: Vec<f64>,
    trial: Vec<f64>,
    trial_q: Vec<f64>,
    /// `s − ŝ` or `w`, and its product with a matrix.
    part: Vec<f64>,
    product: Vec<f64>,
    /// Increments of fixed coordinates.
    target: Vec<f64>,
    /// Largest magnitude of the forces so far in the step, to which the residual is relative.
    scale: f64,
    /// Differences of energies that turned out to be rounding.
    noise: f64,
    /// Potential energy at `q`, if known.
    energy: Option<f64>,
    /// Potential energy at the start of the step, with the forces of its end, if known.
    start_energy: Option<f64>,
    lagged: Lagged,
    /// Fraction of the motion of colliders that has been made.
    progress: f64,
    trial_progress: f64,
    /// Fraction of the motion of colliders at the end of the step: 1, unless bodies block them.
    end_progress: f64,
    /// Fraction of the last motion that contacts allowed.
    fraction: f64,
    /// Bodies that limited the last motion.
    limited_by: Option<[usize; 2]>,
}

/// Parameters of friction besides the iterate.
#[derive(Debug, Clone, Default)]
struct Lagged {
    /// Displacements at which normal forces are evaluated; empty without friction.
    q: Vec<f64>,
    /// Minimum of its stiffness, relative to the secant.
    secant: f64,
}

/// Reason why Newton's method cannot continue.
enum Stuck {
    Uphill,
    /// The residual is so small that neither energies nor forces resolve an improvement.
    Rounding,
    Error(StepError),
}

impl Newton {
    /// Solves for the balance near the start, with fixed coordinates at their prescribed positions.
    pub fn solve<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        params: &NewtonParams,
        balance: &mut Balance,
        mut problem: Problem<'_, S>,
        info: &mut StepInfo,
    ) -> Result<(), StepError> {
        let solved = self.iterate(system, solver, params, balance, &mut problem, info);
        if let Some(damping) = problem.damping {
            system.recycle_damping(damping);
        }
        solved
    }

    fn iterate<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        params: &NewtonParams,
        balance: &mut Balance,
        problem: &mut Problem<'_, S>,
        info: &mut StepInfo,
    ) -> Result<(), StepError> {
        self.begin(system, balance, problem)
            .map_err(|cause| StepError::Undefined { time: problem.conditions.time, cause })?;
        self.take_guess(system, balance, problem, info);
        self.scale = 0.0;
        let definiteness = match params.tangent {
            NewtonTangent::Projected => Definiteness::Projected,
            NewtonTangent::Exact | NewtonTangent::ExactFirst => Definiteness::Exact,
        };
        let is_lagged = system.is_lagged();
        let (mut updates, mut stopped) = (0, 0);
        for iteration in 0..params.max_iterations.max(1) {
            if is_lagged && iteration < FOLLOWED {
                self.follow();
            }
            // Most steps take one or two iterations. Forces alone decide if another is needed, at a fraction of the
            // cost.
            if params.min_iterations > 0 && iteration >= params.min_iterations {
                let scale = self.evaluate(system, balance, problem, info);
                self.scale = self.scale.max(scale);
                let residual = self.relative_residual();
                if self.is_arrived(system.fixed_mask()) && residual <= params.tolerance && !self.lags() {
                    info.residual = residual;
                    return Ok(());
                }
            }
            let limited = info.limited;
            let stiffness = self.linearize(system, balance, problem, definiteness, info);
            let is_done = self.improve(system, solver, params, balance, problem, &stiffness, (iteration, info));
            system.recycle_stiffness(stiffness);
            if is_done? {
                if !is_lagged || iteration < FOLLOWED || updates == MAX_UPDATES || !self.follow() {
                    return Ok(());
                }
                updates += 1;
            }
            stopped = if info.limited > limited && self.fraction < STOPPED { stopped + 1 } else { 0 };
            // The other half of the iterations is for the balance of forces with what was reached.
            let is_late = 2 * (iteration + 1) >= params.max_iterations;
            if (stopped == MAX_STOPPED || is_late) && self.limited_by.is_some() && !self.is_arrived(system.fixed_mask())
            {
                if !params.yields {
                    return Err(self.blocked(system, problem));
                }
                self.give_way(system, problem.start, info);
                stopped = 0;
            }
        }
        if !self.is_arrived(system.fixed_mask()) && self.limited_by.is_some() {
            return Err(self.blocked(system, problem));
        }
        if !params.must_converge {
            return Ok(());
        }
        self.evaluate(system, balance, problem, info);
        info.residual = self.relative_residual();
        if info.residual <= params.tolerance {
            return Ok(());
        }
        Err(StepError::NotConverged {
            time: problem.conditions.time,
            iterations: params.max_iterations,
            residual: info.residual,
            tolerance: params.tolerance,
            worst: system.place(self.worst()),
            energy: system.energy(&self.q, &problem.conditions(balance, &self.lagged, self.progress)),
        })
    }

    /// Returns true if normal forces of friction are not those of the iterate.
    fn lags(&self) -> bool {
        !self.lagged.q.is_empty() && self.lagged.q != self.q
    }

    /// Updates the normal forces of friction. Returns false if they were up to date.
    fn follow(&mut self) -> bool {
        if self.lagged.q == self.q {
            return false;
        }
        self.lagged.q.clone_from(&self.q);
        self.energy = None;
        true
    }

    /// Leaves fixed vertices where bodies in contact have stopped them. Colliders that have not arrived stay where they
    /// were, and the step starts again without their motion.
    fn give_way<S: System>(&mut self, system: &S, start: &[f64], info: &mut StepInfo) {
        if self.progress < 1.0 {
            self.s.fill(0.0);
            self.q.copy_from_slice(start);
            (self.progress, self.end_progress, info.progress) = (0.0, 0.0, 0.0);
            (self.limited_by, self.energy) = (None, None);
            return;
        }
        for ((target, s), fixed) in self.target.iter_mut().zip(&self.s).zip(system.fixed_mask()) {
            if *fixed {
                info.behind = info.behind.max((*target - s).abs());
                *target = *s;
            }
        }
    }

    /// Returns the error of a prescribed motion that bodies in contact do not allow.
    fn blocked<S: System>(&self, system: &S, problem: &Problem<'_, S>) -> StepError {
        let farthest = self.s.iter().zip(&self.target).zip(system.fixed_mask()).filter(|(_, fixed)| **fixed);
        let remaining = farthest.map(|((s, target), _)| (target - s).abs()).fold(0.0, f64::max);
        StepError::Blocked {
            time: problem.conditions.time,
            between: self.limited_by.map(|bodies| bodies.map(|body| system.contact_name(body))),
            remaining,
            progress: self.progress,
        }
    }

    /// Makes an iteration with the residual and stiffness at the current position. Returns true if no more are needed.
    #[allow(clippy::too_many_arguments, reason = "the parts of one iteration")]
    fn improve<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        params: &NewtonParams,
        balance: &mut Balance,
        problem: &mut Problem<'_, S>,
        stiffness: &S::Stiffness,
        (iteration, info): (usize, &mut StepInfo),
    ) -> Result<bool, StepError> {
        let time = problem.conditions.time;
        check_force(system, time, &self.q, &self.residual, None).map_err(|mut error| {
            if let StepError::Inverted { searched, .. } = &mut error {
                *searched = params.line_search;
            }
            error
        })?;
        let arrived = self.is_arrived(system.fixed_mask());
        let (shortened, limited) = (info.shortened, info.limited);
        info.residual = self.relative_residual();
        if arrived && info.residual <= params.tolerance && iteration >= params.min_iterations {
            return Ok(true);
        }
        let search = params.line_search && arrived;
        let mut taken = self.advance(system, solver, balance, problem, stiffness, (search, info));
        let is_stuck = match &taken {
            Err(Stuck::Error(error)) => !error.is_stop(),
            other => matches!(other, Err(Stuck::Uphill)),
        };
        if is_stuck && params.tangent == NewtonTangent::ExactFirst {
            let projected = self.linearize(system, balance, problem, Definiteness::Projected, info);
            taken = self.advance(system, solver, balance, problem, &projected, (search, info));
            system.recycle_stiffness(projected);
        }
        match taken {
            Ok(()) => {}
            Err(Stuck::Rounding) => return Ok(true),
            Err(Stuck::Error(error)) => return Err(error),
            Err(Stuck::Uphill) if !params.must_converge && iteration > 0 => return Ok(true),
            Err(Stuck::Uphill) => {
                if !arrived && self.limited_by.is_some() {
                    return Err(self.blocked(system, problem));
                }
                let worst = system.place(self.worst());
                return Err(StepError::LineSearch { time, iterations: iteration, residual: info.residual, worst });
            }
        }
        info.newton_iterations += 1;
        let largest = self.q.iter().fold(system.extent(), |largest, q| largest.max(q.abs()));
        let step = self.direction.iter().fold(0.0_f64, |largest, d| largest.max(d.abs()));
        let is_full = (shortened, limited) == (info.shortened, info.limited);
        self.lagged.secant = if shortened == info.shortened { SECANT * self.lagged.secant } else { 1.0 };
        let is_still = params.contact_tolerance > 0.0
            && system.limits_steps()
            && is_full
            && iteration >= params.min_iterations
            && step * balance.rate() <= params.contact_tolerance * system.extent();
        Ok(arrived && (step <= SMALLEST_STEP * largest || is_still))
    }

    fn begin<S: System>(&mut self, system: &S, balance: &Balance, problem: &Problem<'_, S>) -> Result<(), NotFinite> {
        let start = problem.start;
        for vector in [
            &mut self.s,
            &mut self.q,
            &mut self.force,
            &mut self.residual,
            &mut self.direction,
            &mut self.right,
            &mut self.trial,
            &mut self.trial_q,
            &mut self.part,
            &mut self.product,
            &mut self.target,
        ] {
            sized(vector, start.len());
        }
        self.s.fill(0.0);
        self.q.copy_from_slice(start);
        self.target.copy_from_slice(start);
        system.prescribe(problem.conditions.time, &mut self.target)?;
        let part = balance.fixed_part.unwrap_or(1.0);
        self.target.iter_mut().zip(start).for_each(|(target, start)| *target = part * (*target - start));
        (self.energy, self.start_energy) = (None, None);
        self.progress = if system.is_moved() { 0.0 } else { 1.0 };
        self.end_progress = 1.0;
        self.limited_by = None;
        self.lagged.q.clear();
        self.lagged.secant = 1.0;
        if system.is_lagged() {
            self.lagged.q.extend_from_slice(start);
        }
        Ok(())
    }

    /// Returns the potential energy at the start of the step, with the forces of its end, if known.
    pub fn start_energy(&self) -> Option<f64> {
        self.start_energy
    }

    /// Returns the change of the potential energy over the step, with the forces of its end. `None` if an energy is not
    /// available or prescribed motion does work.
    pub fn energy_change<S: System>(
        &self,
        system: &mut S,
        balance: &Balance,
        (start, conditions): (&[f64], &Conditions<'_>),
    ) -> Option<f64> {
        let is_driven =
            self.target.iter().enumerate().any(|(i, target)| is_fixed(system.fixed_mask(), i) && *target != 0.0);
        if is_driven || system.is_moved() || balance.drive.iter().any(|drive| *drive != 0.0) {
            return None;
        }
        if system.is_lagged() {
            // The potential of friction is no energy.
            let start = system.energy(start, conditions)?;
            return Some(system.energy(&self.q, conditions)? - start);
        }
        let start = self.start_energy?;
        let end = self.energy.or_else(|| system.energy(&self.q, conditions))?;
        Some(end - start)
    }

    /// Starts from the guess if its energy is lower than that of `s = 0`. Every accepted step then still lowers the
    /// energy.
    fn take_guess<S: System>(
        &mut self,
        system: &mut S,
        balance: &Balance,
        problem: &Problem<'_, S>,
        info: &mut StepInfo,
    ) {
        if balance.guess.len() != self.s.len() {
            return;
        }
        let start = Instant::now();
        for i in 0..self.s.len() {
            self.direction[i] = if is_fixed(system.fixed_mask(), i) { self.target[i] } else { balance.guess[i] };
        }
        let at_rest = system.energy(&self.q, &problem.conditions(balance, &self.lagged, self.progress));
        let limit = self.limit(system, balance, problem);
        self.try_step(limit.fraction);
        let there = problem.conditions(balance, &self.lagged, self.trial_progress);
        let at_guess = at_rest.and_then(|_| system.energy(&self.trial_q, &there));
        (self.energy, self.start_energy) = (at_rest, at_rest);
        if let Some((at_rest, at_guess)) = at_rest.zip(at_guess) {
            let (b, c) = self.quadratic_terms(system, balance, problem);
            // False for an energy that is NaN.
            if at_guess - at_rest + b + 0.5 * c <= 0.0 {
                self.accept();
                self.energy = Some(at_guess);
            }
        }
        info.assembling += start.elapsed();
    }

    fn is_arrived(&self, fixed: &[bool]) -> bool {
        self.progress == self.end_progress
            && fixed.iter().enumerate().all(|(i, fixed)| !fixed || self.s[i] == self.target[i])
    }

    fn worst(&self) -> usize {
        let largest = |a: &(usize, &f64), b: &(usize, &f64)| a.1.abs().total_cmp(&b.1.abs());
        self.residual.iter().enumerate().max_by(largest).map_or(0, |(i, _)| i)
    }

    fn relative_residual(&self) -> f64 {
        match norm(&self.residual) {
            0.0 => 0.0,
            residual => residual / self.scale,
        }
    }

    fn force_scale(&self, fixed: &[bool]) -> f64 {
        let free = |i: usize| !is_fixed(fixed, i);
        self.force.iter().enumerate().filter(|(i, _)| free(*i)).map(|(_, f)| f * f).sum::<f64>().sqrt()
    }

    /// Computes `f` and `r` at `q`, with zeros at fixed coordinates. Returns the magnitude of the forces: the inertia
    /// of the initial guess is unrelated to them, and is often much larger.
    fn evaluate<S: System>(
        &mut self,
        system: &mut S,
        balance: &Balance,
        problem: &Problem<'_, S>,
        info: &mut StepInfo,
    ) -> f64 {
        let start = Instant::now();
        let conditions = problem.conditions(balance, &self.lagged, self.progress);
        let scale = system.force(&self.q, &conditions, &mut self.force);
        self.finish_residual(system, balance, problem);
        info.assembling += start.elapsed();
        scale.max(self.force_scale(system.fixed_mask()))
    }

    /// Computes `f` and `r` at `q`, with zeros at fixed coordinates. Returns `K`, and sets `D` if that follows.
    fn linearize<S: System>(
        &mut self,
        system: &mut S,
        balance: &mut Balance,
        problem: &mut Problem<'_, S>,
        definiteness: Definiteness,
        info: &mut StepInfo,
    ) -> S::Stiffness {
        let start = Instant::now();
        let conditions = problem.conditions(balance, &self.lagged, self.progress);
        let Linearization { stiffness, scale } = system.linearize(&self.q, &conditions, definiteness, &mut self.force);
        if balance.damping_follows {
            balance.velocity(&self.s, &mut self.part);
            balance.drive.fill(0.0);
            if let Some(damping) = problem.damping.take() {
                system.recycle_damping(damping);
            }
            let conditions = &problem.conditions;
            problem.damping =
                Some(system.damping(&self.q, conditions, &self.part, Some(&stiffness), &mut balance.drive));
        }
        self.finish_residual(system, balance, problem);
        self.scale = self.scale.max(scale).max(self.force_scale(system.fixed_mask()));
        info.assembling += start.elapsed();
        stiffness
    }

    /// Computes `r` from `f`.
    fn finish_residual<S: System>(&mut self, system: &mut S, balance: &Balance, problem: &Problem<'_, S>) {
        balance.velocity(&self.s, &mut self.part);
        if problem.damping.is_some() {
            system.mul(problem.combination(0.0, 1.0, None), &self.part, &mut self.residual);
        } else {
            self.residual.fill(0.0);
        }
        for i in 0..self.residual.len() {
            self.residual[i] -= self.force[i] + balance.drive[i];
        }
        if balance.mass != 0.0 {
            for i in 0..self.part.len() {
                self.part[i] = self.s[i] - balance.s_hat[i];
            }
            system.mul(Combination::of_mass(balance.mass), &self.part, &mut self.product);
            self.residual.iter_mut().zip(&self.product).for_each(|(r, m)| *r += m);
        }
        clear_fixed(system.fixed_mask(), &mut self.residual);
    }

    /// Takes a Newton step `d` with `A d = −r`, in full or as far as the line search allows.
    fn advance<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        balance: &Balance,
        problem: &Problem<'_, S>,
        stiffness: &S::Stiffness,
        (search, info): (bool, &mut StepInfo),
    ) -> Result<(), Stuck> {
        for i in 0..self.right.len() {
            self.right[i] = -self.residual[i];
            self.direction[i] = 0.0;
        }
        for (i, fixed) in system.fixed_mask().iter().enumerate() {
            if *fixed {
                self.direction[i] = self.target[i] - self.s[i];
            }
        }
        if self.progress < self.end_progress {
            self.product.fill(0.0);
            let conditions = problem.conditions(balance, &self.lagged, self.progress);
            system.add_gradient_of_motion(&self.q, &conditions, self.end_progress, &mut self.product);
            self.right.iter_mut().zip(&self.product).for_each(|(right, product)| *right -= product);
        }
        let matrix = problem.combination(balance.mass, balance.damping, Some(stiffness));
        self.linear
            .solve(system, solver, matrix, &mut self.right, &mut self.direction, info)
            .map_err(|source| Stuck::Error(StepError::Solve { time: problem.conditions.time, source }))?;
        let start = Instant::now();
        let limit = self.limit(system, balance, problem);
        info.assembling += start.elapsed();
        self.fraction = limit.fraction;
        if limit.fraction < 1.0 {
            info.limited += 1;
            self.limited_by = limit.bodies;
        }
        if search {
            // The direction is as long as contacts allow.
            return self.search(system, balance, problem, info);
        }
        self.try_step(limit.fraction);
        self.accept();
        self.energy = None;
        if limit.fraction < 1.0 {
            return Ok(());
        }
        // Fixed coordinates are placed exactly, not only up to rounding.
        for (i, fixed) in system.fixed_mask().iter().enumerate() {
            if *fixed {
                self.q[i] += self.target[i] - self.s[i];
                self.s[i] = self.target[i];
            }
        }
        Ok(())
    }

    /// Returns how far the bodies and colliders can go along the direction. Once all prescribed motions have arrived,
    /// the direction is shortened for each island of bodies.
    fn limit<S: System>(&mut self, system: &mut S, balance: &Balance, problem: &Problem<'_, S>) -> StepLimit {
        if !system.limits_steps() {
            return StepLimit { fraction: 1.0, bodies: None };
        }
        let arrived = self.is_arrived(system.fixed_mask());
        let conditions = problem.conditions(balance, &self.lagged, self.progress);
        system.limit_step(&self.q, &mut self.direction, &conditions, self.end_progress, arrived)
    }

    fn try_step(&mut self, alpha: f64) {
        for i in 0..self.s.len() {
            let step = alpha * self.direction[i];
            self.trial[i] = self.s[i] + step;
            self.trial_q[i] = self.q[i] + step;
        }
        self.trial_progress =
            if alpha == 1.0 { self.end_progress } else { self.progress + alpha * (self.end_progress - self.progress) };
    }

    fn accept(&mut self) {
        std::mem::swap(&mut self.s, &mut self.trial);
        std::mem::swap(&mut self.q, &mut self.trial_q);
        std::mem::swap(&mut self.progress, &mut self.trial_progress);
    }

    /// Searches along `d` for a step that satisfies Armijo's rule, `Φ(s + αd) ≤ Φ(s) + c α dᵀr`. Where
    /// the difference of energies may be rounding, slopes decide, which do not suffer from cancellation
    /// \[HagerZhang2005\]. If no
    /// step lowers the energy although `d` is a descent direction, the differences are rounding. In that case, and
    /// without an energy, `|r|` must decrease.
    fn search<S: System>(
        &mut self,
        system: &mut S,
        balance: &Balance,
        problem: &Problem<'_, S>,
        info: &mut StepInfo,
    ) -> Result<(), Stuck> {
        let start = Instant::now();
        let slope = dot(&self.direction, &self.residual);
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let is_small = largest(&self.direction) <= SMALL_STEP * system.extent().max(largest(&self.q));
        if slope >= 0.0 {
            return Err(if is_small { Stuck::Rounding } else { Stuck::Uphill });
        }
        let conditions = problem.conditions(balance, &self.lagged, self.progress);
        let energy = self.energy.or_else(|| system.energy(&self.q, &conditions));
        if let Some(energy) = energy.filter(|energy| !energy.is_finite()) {
            let time = problem.conditions.time;
            let error = match system.find_inverted(&self.q) {
                Some(cause) => StepError::Inverted { time, cause: Box::new(cause), searched: true },
                None => StepError::Energy { energy, time },
            };
            return Err(Stuck::Error(error));
        }
        let (b, c) = self.quadratic_terms(system, balance, problem);
        let before = norm(&self.residual);
        info.assembling += start.elapsed();
        let mut alpha = 1.0;
        let mut change = f64::INFINITY;
        for halving in 0..MAX_HALVINGS {
            self.try_step(alpha);
            let start = Instant::now();
            let conditions = problem.conditions(balance, &self.lagged, self.progress);
            let after = energy.and_then(|_| system.energy(&self.trial_q, &conditions));
            info.assembling += start.elapsed();
            let accepted = if let Some((energy, after)) = energy.zip(after) {
                change = after - energy + alpha * b + 0.5 * alpha * alpha * c;
                let rounding = self.noise.max(ROUNDING * (energy.abs() + after.abs() + (alpha * b).abs()));
                // An infinite energy is not rounding: forces behind a barrier may be small as well.
                let is_rounding = change.is_finite() && change.abs() <= rounding;
                change <= ARMIJO * alpha * slope
                    || (is_rounding && self.slope_there(system, balance, problem, info).abs() <= -STEEPEST * slope)
            } else {
                self.slope_there(system, balance, problem, info);
                norm(&self.residual) <= (1.0 - ARMIJO * alpha) * before
            };
            if accepted {
                self.accept();
                self.energy = after;
                info.shortened += halving;
                return Ok(());
            }
            alpha *= 0.5;
        }
        self.try_step(1.0);
        self.slope_there(system, balance, problem, info);
        let after = norm(&self.residual);
        let is_lower = after <= STEEPEST * before;
        let conditions = problem.conditions(balance, &self.lagged, self.progress);
        let is_defined = system.energy(&self.trial_q, &conditions).is_some_and(f64::is_finite);
        if is_defined && (is_lower || is_small) {
            self.noise = self.noise.max(change.abs());
            self.accept();
            self.energy = None;
            return if is_lower { Ok(()) } else { Err(Stuck::Rounding) };
        }
        Err(Stuck::Uphill)
    }

    /// Returns `(b, c)` such that the quadratic terms of the energy change by exactly `αb + α²c/2` from `s` to
    /// `s + αd`.
    fn quadratic_terms<S: System>(
        &mut self,
        system: &mut S,
        balance: &Balance,
        problem: &Problem<'_, S>,
    ) -> (f64, f64) {
        let (mut b, mut c) = (-dot(&self.direction, &balance.drive), 0.0);
        if balance.mass != 0.0 {
            for i in 0..self.part.len() {
                self.part[i] = self.s[i] - balance.s_hat[i];
            }
            system.mul(Combination::of_mass(balance.mass), &self.direction, &mut self.product);
            b += dot(&self.part, &self.product);
            c += dot(&self.direction, &self.product);
        }
        if balance.damping != 0.0 && problem.damping.is_some() {
            balance.velocity(&self.s, &mut self.part);
            system.mul(problem.combination(0.0, 1.0, None), &self.direction, &mut self.product);
            b += dot(&self.part, &self.product);
            c += balance.damping * dot(&self.direction, &self.product);
        }
        (b, c)
    }

    /// Returns `dᵀr` at the end of a trial step, and computes `r` there.
    fn slope_there<S: System>(
        &mut self,
        system: &mut S,
        balance: &Balance,
        problem: &Problem<'_, S>,
        info: &mut StepInfo,
    ) -> f64 {
        self.accept();
        self.evaluate(system, balance, problem, info);
        self.accept();
        dot(&self.direction, &self.residual)
    }
}
