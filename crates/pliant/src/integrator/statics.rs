//! Static equilibrium.

use super::newton::{Balance, Newton};
use super::{Integrator, NewtonParams, StepError, StepInfo, Tangent, check, check_state};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// How equilibrium is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StaticParams {
    /// How Newton's method goes on under each load.
    pub newton: NewtonParams,
    /// In how many equal steps loads and prescribed displacements are applied, at least.
    pub load_steps: usize,
    /// How often a load step that fails may be halved.
    pub most_halvings: usize,
}

impl Default for StaticParams {
    fn default() -> Self {
        let newton = NewtonParams { tangent: Tangent::ExactFirst, ..NewtonParams::default() };
        Self { newton, load_steps: 1, most_halvings: 10 }
    }
}

/// Static equilibrium `f(q) = 0`, by Newton's method with line search, the load applied step by step.
#[derive(Debug, Clone, Default)]
pub struct Static {
    /// How it is looked for.
    pub params: StaticParams,
    newton: Newton,
    balance: Balance,
}

impl Static {
    /// With other parameters than the default.
    pub fn new(params: StaticParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Go from the state to equilibrium under the forces at its time; velocities become zero. On error the state is as it was.
    pub fn solve<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
    ) -> Result<StepInfo, StepError> {
        check_state(system, state)?;
        let n = system.dim();
        self.balance.size(n);
        let balance = &mut self.balance;
        (balance.mass, balance.damping, balance.time) = (0.0, 0.0, state.time);
        balance.v_0.fill(0.0);
        balance.drive.fill(0.0);
        let mut q = state.q.clone();
        let mut info = StepInfo::default();
        let (mut done, mut steps) = (0.0, 0);
        let mut part = 1.0 / self.params.load_steps.max(1) as f64;
        let mut halvings = 0;
        let outcome = loop {
            // The last step ends at 1, whatever the rounding.
            let load_factor = if done + part > 1.0 - 1e-9 { 1.0 } else { done + part };
            system.set_load_factor(load_factor);
            balance.held_part = (load_factor < 1.0).then(|| (load_factor - done) / (1.0 - done));
            match self.newton.solve(system, solver, &self.params.newton, balance, &q, &mut info) {
                Ok(()) => {
                    q.copy_from_slice(&self.newton.q);
                    done = load_factor;
                    steps += 1;
                    if done == 1.0 {
                        break Ok(());
                    }
                }
                Err(error) if halvings >= self.params.most_halvings || matches!(error, StepError::Solve { .. }) => {
                    break Err(StepError::Static { load_factor, source: Box::new(error) });
                }
                Err(_) => {
                    halvings += 1;
                    part *= 0.5;
                }
            }
        };
        system.set_load_factor(1.0);
        outcome?;
        system.prescribe(state.time, &mut q);
        state.q = q;
        state.v.fill(0.0);
        // Zero, but only under these loads.
        state.a = None;
        info.substeps = if steps > 1 { steps } else { 0 };
        Ok(info)
    }
}
/// Equilibrium at the end of every step: motion so slow that inertia does not matter. Time is what loads and motions depend on.
#[derive(Debug, Clone, Default)]
pub struct QuasiStatic(pub Static);

impl<S: System> Integrator<S> for QuasiStatic {
    fn has_inertia(&self) -> bool {
        false
    }

    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        check(system, state, dt)?;
        let start = state.time;
        state.time += dt;
        let solved = self.0.solve(system, solver, state);
        if solved.is_err() {
            state.time = start;
        }
        solved
    }
}
