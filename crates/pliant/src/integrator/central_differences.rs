//! Central differences.

use std::time::Instant;

use super::acceleration::{Acceleration, prescribe_acceleration};
use super::check::{begin, check_force, check_unlimited, prescribe_motion};
use super::history::update_history;
use super::linear_step::LinearStep;
use super::stability::{ExplicitMethod, estimate};
use super::vectors::{copy_free, is_fixed};
use super::{Integrator, Stability, StepError, StepInfo, check_finite};
use crate::solver::LinearSolver;
use crate::system::{Combination, Conditions, DampingKind, Definiteness, State, System};

/// Central differences with implicit damping, in the equivalent form of velocity Verlet:
///
/// - `q₊ = q + h v + h²/2 a`
/// - `(M + h/2 D) a₊ = f(q₊) − D (v + h/2 a)`
/// - `v₊ = v + h/2 (a + a₊)`
///
/// Eliminating `v` and `a` gives `(M + h/2 D)(q₊ − q) = h² f(q) + h/2 D (q₋ − q) + M (q − q₋)`
/// \[SinSchroederBarbic2013, eq. 20\]. The matrix is factored
/// once if `D` is constant. If it depends on `K(q)` or contacts, it is assembled and factored again every
/// [`refactor_every`](Self::refactor_every) steps. With a lumped mass and no damping except for `αM` there is nothing
/// to factor.
///
/// `D` is the type of the damping matrix of the system, [`System::Damping`].
#[derive(Debug, Clone)]
pub struct CentralDifferences<D> {
    /// Number of steps after which a varying `D` is assembled again, at least 1.
    pub refactor_every: usize,
    linear: LinearStep,
    acceleration: Acceleration,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    force: Vec<f64>,
    drive: Vec<f64>,
    place: Vec<f64>,
    /// Damping matrix, its kind, and the number of steps since it was evaluated.
    damping: Option<(D, DampingKind)>,
    age: usize,
    stability: Option<Stability>,
}

impl<D> Default for CentralDifferences<D> {
    fn default() -> Self {
        Self::new(1)
    }
}

impl<D> CentralDifferences<D> {
    /// Creates an integrator that assembles a varying damping matrix again every `refactor_every` steps.
    pub fn new(refactor_every: usize) -> Self {
        Self {
            refactor_every: refactor_every.max(1),
            linear: LinearStep::default(),
            acceleration: Acceleration::default(),
            q: Vec::new(),
            v: Vec::new(),
            a: Vec::new(),
            force: Vec::new(),
            drive: Vec::new(),
            place: Vec::new(),
            damping: None,
            age: 0,
            stability: None,
        }
    }
}

impl<S: System> Integrator<S> for CentralDifferences<S::Damping> {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let vectors = [&mut self.q, &mut self.v, &mut self.a, &mut self.force, &mut self.drive, &mut self.place];
        check_unlimited(system, "the integrator of central differences")?;
        let (n, h, time) = (begin(system, state, dt, vectors)?, dt, state.time);
        let mut info = StepInfo::default();
        if self.stability.is_none_or(|known| known.step != dt) {
            self.stability = Some(estimate(system, solver, state, dt, ExplicitMethod::Central)?);
        }
        info.stability = self.stability;
        match &state.a {
            Some(a) => self.a.copy_from_slice(a),
            None => self.acceleration.find(system, solver, state, h, &mut self.a, &mut info)?,
        }
        for i in 0..n {
            self.q[i] = state.q[i] + h * (state.v[i] + 0.5 * h * self.a[i]);
            self.v[i] = state.v[i] + 0.5 * h * self.a[i];
        }
        prescribe_motion(system, state, h, &mut self.q, &mut self.v)?;
        let start = Instant::now();
        let kind = system.damping_kind();
        let conditions = Conditions { time: time + h, dt: h, ..state.conditions_here() };
        let varies = matches!(kind, DampingKind::Varying | DampingKind::FollowsStiffness);
        let is_old = varies && self.age >= self.refactor_every;
        // The matrix depends on the kind of damping, which changes when a damper is removed.
        let mut damping = self.damping.take();
        let is_kept = match &damping {
            Some((damping, known)) if *known == kind && !is_old => {
                let matrix = Combination::<S>::of_mass(1.0).and_damping(0.5 * h, damping);
                self.linear.is_set(system, solver, matrix.weights())
            }
            _ => false,
        };
        if !is_kept {
            if let Some((damping, _)) = damping.take() {
                system.recycle_damping(damping);
            }
            self.drive.fill(0.0);
        }
        let damping = if let Some((damping, _)) = damping {
            system.force(&self.q, &conditions, &mut self.force);
            damping
        } else if kind == DampingKind::FollowsStiffness {
            let stiffness = system.linearize(&self.q, &conditions, Definiteness::Exact, &mut self.force).stiffness;
            let damping = system.damping(&self.q, &conditions, &self.v, Some(&stiffness), &mut self.drive);
            system.recycle_stiffness(stiffness);
            damping
        } else {
            system.force(&self.q, &conditions, &mut self.force);
            system.damping(&self.q, &conditions, &self.v, None, &mut self.drive)
        };
        if kind != DampingKind::None {
            system.mul(Combination::of_damping(1.0, &damping), &self.v, &mut self.a);
            for i in 0..n {
                self.force[i] += self.drive[i] - self.a[i];
            }
        }
        info.assembling += start.elapsed();
        check_force(system, time, &state.q, &self.force, self.stability)?;
        self.a.fill(0.0);
        prescribe_acceleration(system, time + h, h, &self.q, &mut self.place, &mut self.a)
            .map_err(|cause| StepError::Undefined { time, cause })?;
        let matrix = Combination::of_mass(1.0).and_damping(0.5 * h, &damping);
        if system.divide(matrix, &mut self.force) {
            copy_free(system.fixed_mask(), &self.force, &mut self.a);
        } else {
            let solved = if is_kept {
                self.linear.solve_again(system, solver, matrix, &mut self.force, &mut self.a, &mut info)
            } else {
                self.linear.solve(system, solver, matrix, &mut self.force, &mut self.a, &mut info)
            };
            solved.map_err(|source| StepError::Solve { time, source })?;
        }
        self.age = if is_kept { self.age + 1 } else { 1 };
        self.damping = Some((damping, kind));
        for (i, a) in self.a.iter().enumerate() {
            // Fixed coordinates have their velocity already.
            if !is_fixed(system.fixed_mask(), i) {
                self.v[i] += 0.5 * h * a;
            }
        }
        check_finite(system, time, "the position", &self.q, self.stability)?;
        check_finite(system, time, "the velocity", &self.v, self.stability)?;
        update_history(system, state, h, 1.0, &self.q);
        std::mem::swap(&mut state.q, &mut self.q);
        std::mem::swap(&mut state.v, &mut self.v);
        state.a.get_or_insert_with(|| vec![0.0; n]).copy_from_slice(&self.a);
        state.time += h;
        Ok(info)
    }
}
