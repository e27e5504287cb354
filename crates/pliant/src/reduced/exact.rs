//! Exact integrator of linear modes.

use super::ReducedModel;
use crate::integrator::{Integrator, StepError, StepInfo, check, check_finite, update_history};
use crate::solver::{DenseMatrix, LinearSolver};
use crate::system::{Conditions, State, System};

/// Integrator that advances each mode in closed form, as an oscillator `q̈ + d q̇ + ω²q = g` with `d = α + βω²` and
/// constant force `g`.
///
/// The result is exact for any step size for a linear law under constant loads. All other terms are forces taken from
/// the start of the step: handles, obstacles, friction, non-Rayleigh damping, and the nonlinear part of a law besides
/// `ω²q`. Steps are then first-order accurate and must be short. Free bodies are an error: their coordinates are
/// coupled, which needs another integrator.
#[derive(Debug, Clone, Default)]
pub struct ExactModes {
    oscillators: Vec<Oscillator>,
    /// Step size, `α` and `β` of the oscillators.
    key: Option<[f64; 3]>,
    force: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
}

/// Propagator of a step: `q₊ = a q + b q̇ + c g` and `q̇₊ = a' q + b' q̇ + c' g`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Oscillator {
    position: [f64; 3],
    velocity: [f64; 3],
}

impl Oscillator {
    /// Computes the propagator of a step `h` \[s\].
    ///
    /// With `δ = d/2` and `κ² = ω² − δ²`, the free motion is
    /// `q(t) = e^(−δt) [(cos κt + δ sin(κt)/κ) q + sin(κt)/κ q̇]`, with hyperbolic functions for negative `κ²`. A
    /// constant force shifts its center to `g/ω²`.
    fn new(omega_squared: f64, damping: f64, h: f64) -> Self {
        let delta = 0.5 * damping;
        let kappa_squared = omega_squared - delta * delta;
        let kappa = kappa_squared.abs().sqrt();
        // e^(−δh) cos κh and e^(−δh) sin(κh)/κ. Exponents are added first, as each exponential alone may be out of
        // range.
        let (cosine, sine) = if kappa * h < 1e-5 {
            let decay = (-delta * h).exp();
            (decay * (1.0 - 0.5 * kappa_squared * h * h), decay * h * (1.0 - kappa_squared * h * h / 6.0))
        } else if kappa_squared > 0.0 {
            let decay = (-delta * h).exp();
            (decay * (kappa * h).cos(), decay * (kappa * h).sin() / kappa)
        } else {
            let (slow, fast) = (((kappa - delta) * h).exp(), (-(kappa + delta) * h).exp());
            (0.5 * (slow + fast), 0.5 * (slow - fast) / kappa)
        };
        let stay = cosine + delta * sine;
        Self {
            position: [stay, sine, (1.0 - stay) / omega_squared],
            velocity: [-omega_squared * sine, cosine - delta * sine, sine],
        }
    }

    fn step(&self, q: f64, v: f64, g: f64) -> (f64, f64) {
        let along = |of: [f64; 3]| of[0] * q + of[1] * v + of[2] * g;
        (along(self.position), along(self.velocity))
    }
}

impl Integrator<ReducedModel> for ExactModes {
    fn step(
        &mut self,
        system: &mut ReducedModel,
        _solver: &mut dyn LinearSolver<DenseMatrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        check(system, state, dt)?;
        if system.placement().is_some() {
            return Err(StepError::Free { method: "exact modes" });
        }
        let damping = system.model().damping();
        let key = [dt, damping.mass(), damping.stiffness()];
        if self.key != Some(key) {
            let of = |square: &f64| Oscillator::new(*square, key[1] + key[2] * square, dt);
            self.oscillators = system.omega_squared().iter().map(of).collect();
            self.key = Some(key);
        }
        let n = system.dim();
        self.force.resize(n, 0.0);
        let conditions = Conditions { dt, ..state.conditions_here() };
        system.force(&state.q, &conditions, &mut self.force);
        system.add_friction(&state.q, &conditions, &state.v, &mut self.force);
        self.q.clone_from(&state.q);
        self.v.clone_from(&state.v);
        for (i, oscillator) in self.oscillators.iter().enumerate() {
            let g = self.force[i] + system.omega_squared()[i] * state.q[i];
            (self.q[i], self.v[i]) = oscillator.step(state.q[i], state.v[i], g);
        }
        check_finite(system, state.time, "the position", &self.q, None)?;
        check_finite(system, state.time, "the velocity", &self.v, None)?;
        update_history(system, state, dt, 1.0, &self.q);
        state.q.copy_from_slice(&self.q);
        state.v.copy_from_slice(&self.v);
        state.a = None;
        state.time += dt;
        Ok(StepInfo::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integrates with many small fourth-order Runge–Kutta steps.
    fn reference(omega_squared: f64, damping: f64, h: f64, [q, v, g]: [f64; 3]) -> (f64, f64) {
        let steps = 4000;
        let dt = h / f64::from(steps);
        let rate = |q: f64, v: f64| (v, g - damping * v - omega_squared * q);
        let (mut q, mut v) = (q, v);
        for _ in 0..steps {
            let k1 = rate(q, v);
            let k2 = rate(q + 0.5 * dt * k1.0, v + 0.5 * dt * k1.1);
            let k3 = rate(q + 0.5 * dt * k2.0, v + 0.5 * dt * k2.1);
            let k4 = rate(q + dt * k3.0, v + dt * k3.1);
            q += dt / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
            v += dt / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
        }
        (q, v)
    }

    #[test]
    fn oscillators_of_every_damping_move_as_they_should() {
        for (omega_squared, damping) in
            [(4.0, 0.0), (4.0, 0.3), (4.0, 3.9999), (4.0, 4.0), (4.0, 4.0001), (4.0, 30.0), (1e-6, 0.5), (100.0, 1.0)]
        {
            for start in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, -2.0, 5.0]] {
                for h in [0.01, 1.0, 3.0] {
                    let (q, v) = Oscillator::new(omega_squared, damping, h).step(start[0], start[1], start[2]);
                    let expected = reference(omega_squared, damping, h, start);
                    let near = |a: f64, b: f64| (a - b).abs() < 1e-8 * (1.0 + b.abs());
                    assert!(
                        near(q, expected.0) && near(v, expected.1),
                        "{omega_squared} {damping} {h}: {q} {v} {expected:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn one_long_step_is_many_short_ones() {
        let (long, short) = (Oscillator::new(9.0, 0.7, 2.0), Oscillator::new(9.0, 0.7, 0.02));
        let mut now = (1.0, -0.5);
        for _ in 0..100 {
            now = short.step(now.0, now.1, 3.0);
        }
        let (q, v) = long.step(1.0, -0.5, 3.0);
        assert!((now.0 - q).abs() < 1e-13 && (now.1 - v).abs() < 1e-12);
    }
}
