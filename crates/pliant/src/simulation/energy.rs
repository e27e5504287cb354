//! Energy balance: kinetic and potential energy, external work and dissipation.
//!
//! Over a step of length `h` from `(q₀, v₀, t₀)` to `(q₁, v₁, t₁)`, with the kinetic energy `T` and the potential `V`
//! of elasticity, gravity, loads and all other conservative forces,
//!
//! ```text
//! ΔT + V(q₁, t₁) − V(q₀, t₀) = W − D.
//! ```
//!
//! `W` is the external work:
//!
//! - of forces whose potential depends on time, `V(q, t₁) − V(q, t₀)`;
//! - of prescribed motion, `r · Δq` with the reaction `r = M Δv/h + D v + f(q) − f_ext` of the constraints;
//! - of forces without a potential, such as a follower pressure on a surface with a boundary;
//! - of friction against moving obstacles;
//! - of moving colliders, with the contact forces at both ends of the step.
//!
//! `D` is the energy that damping, friction and the integrator dissipate.
//!
//! An integrator knows `W` only to the accuracy of its steps. The mean of the values at both ends of the step is
//! recorded. The detection of energy gains uses the larger of the two, so that energy is reported only if it exceeds
//! the work by any of these measures.

use std::fmt;

use crate::model::Model;
use crate::system::{Combination, State, System};

/// Fraction of the energy in motion above which a gain is reported, if it lasts for [`LASTING`] steps. A body that
/// jumps into an obstacle stores energy that the next steps may dissipate.
const TOLERANCE: f64 = 0.1;
const LASTING: f64 = 3.0;
/// Multiple of the energy in motion before a step above which a gain is reported at once.
const SUDDEN: f64 = 1.0;
/// Displacement per step, relative to the size of the system, below which motion is rounding.
const ROUNDING: f64 = 1e-10;
/// Rounding of the elastic energy, relative to Young's modulus times the volume.
const ELASTIC_ROUNDING: f64 = 1e-12;
/// Fraction of the stored energy below which motion is rounding, or within the tolerance of the integrator.
const NOISE: f64 = 1e-6;

/// Balance of external work and dissipated energy \[J\] of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyBalance {
    work: f64,
    dissipated: f64,
    /// `ΔT + ΔV` minus the largest estimate of the work, summed over all steps.
    excess: f64,
    min_excess: f64,
    max_kinetic: f64,
    /// Bound on the energy from recent jumps of prescribed velocities, whose work is not known more precisely.
    jumps: f64,
    /// Number of consecutive steps with too large a gain.
    gaining: f64,
    /// Minimum and maximum energy of elasticity and of other forces with a potential; the maximum is below the minimum
    /// before the first step.
    stored: [f64; 2],
}

impl Default for EnergyBalance {
    fn default() -> Self {
        Self {
            work: 0.0,
            dissipated: 0.0,
            excess: 0.0,
            min_excess: 0.0,
            max_kinetic: 0.0,
            jumps: 0.0,
            gaining: 0.0,
            stored: [f64::MAX, f64::MIN],
        }
    }
}

impl EnergyBalance {
    /// Number of values in [`to_numbers`](Self::to_numbers).
    pub(crate) const NUMBERS: usize = 9;

    /// Returns the work \[J\] of prescribed motion, of forces that are time-dependent or have no potential, and of
    /// friction against moving obstacles.
    pub fn external_work(&self) -> f64 {
        self.work
    }

    /// Returns the energy \[J\] dissipated by damping, friction and the integrator; negative if energy appeared.
    pub fn dissipated(&self) -> f64 {
        self.dissipated
    }

    /// Returns the energy that appeared without work being done.
    ///
    /// Returns `None` unless it exceeds the energy in motion before a step, or a tenth of the energy in motion for
    /// three steps.
    pub fn gain(&self) -> Option<EnergyGain> {
        let gain = EnergyGain { gained: self.excess - self.min_excess, in_motion: self.in_motion() };
        (self.gaining >= LASTING).then_some(gain)
    }

    fn in_motion(&self) -> f64 {
        let [min, max] = self.stored;
        self.max_kinetic + (max - min).max(0.0) + NOISE * max.abs().max(min.abs())
    }

    pub(crate) fn to_numbers(self) -> [f64; Self::NUMBERS] {
        let Self { work, dissipated, excess, min_excess, max_kinetic, jumps, gaining, stored } = self;
        [work, dissipated, excess, min_excess, max_kinetic, jumps, gaining, stored[0], stored[1]]
    }

    pub(crate) fn from_numbers(numbers: [f64; Self::NUMBERS]) -> Self {
        let [work, dissipated, excess, min_excess, max_kinetic, jumps, gaining, min, max] = numbers;
        Self { work, dissipated, excess, min_excess, max_kinetic, jumps, gaining, stored: [min, max] }
    }

    /// Adds a step.
    ///
    /// `work` has two estimates for each source, with the forces at the start and at the end of the step. `jump` is the
    /// kinetic energy of the change of prescribed velocities. `noise` is the kinetic energy of motion that is only
    /// rounding.
    fn add(&mut self, start: &Terms, end: &Terms, work: &[[f64; 2]], jump: f64, noise: f64) {
        let change = end.kinetic - start.kinetic + end.weight - start.weight;
        let in_time = [start, end].map(|terms| terms.stored[1] - terms.stored[0]);
        let mean: f64 = work.iter().chain([&in_time]).map(|[a, b]| 0.5 * (a + b)).sum();
        let lost = mean - change - (end.stored[1] - start.stored[0]);
        // The spatial change of `V`, with the forces of either end.
        let in_space = [0, 1].map(|time| end.stored[time] - start.stored[time]);
        let excess = change + in_space[0].min(in_space[1]) - work.iter().map(|[a, b]| a.max(*b)).sum::<f64>();
        // Laws that are not defined for inverted elements have infinite energy there.
        if !(lost.is_finite() && excess.is_finite()) {
            if excess == f64::INFINITY {
                (self.excess, self.gaining) = (excess, LASTING);
            }
            return;
        }
        self.see(start);
        let before = self.in_motion();
        self.jumps = 0.5 * self.jumps + jump;
        let forgiven = excess.clamp(0.0, self.jumps);
        self.jumps -= forgiven;
        self.work += mean;
        self.dissipated += lost;
        self.excess += excess - forgiven;
        self.min_excess = self.min_excess.min(self.excess);
        self.see(end);
        let gained = self.excess - self.min_excess;
        self.gaining = match gained {
            _ if gained <= noise.max(TOLERANCE * self.in_motion()) => 0.0,
            _ if gained > SUDDEN * before => LASTING,
            _ => self.gaining + 1.0,
        };
    }

    /// Updates the minimum and maximum energies.
    fn see(&mut self, terms: &Terms) {
        self.max_kinetic = self.max_kinetic.max(terms.kinetic);
        let [min, max] = &mut self.stored;
        (*min, *max) = (min.min(terms.stored[1]), max.max(terms.stored[1]));
    }
}

/// Energy that appeared in a simulation without work being done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyGain {
    /// Energy that appeared \[J\].
    pub gained: f64,
    /// Reference energy \[J\]: maximum kinetic energy so far plus the range of the stored energy.
    pub in_motion: f64,
}

impl fmt::Display for EnergyGain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gained, in_motion } = self;
        let part = 100.0 * gained / in_motion;
        write!(
            f,
            "{gained:.3e} J of energy appeared without work being done, {part:.0} % of the energy in motion: the steps are too large for the integrator. \
             Use the integrator `backward-euler` with its default settings, or smaller steps"
        )
    }
}

/// Energies \[J\] at one end of a step.
#[derive(Debug, Clone, Copy, Default)]
struct Terms {
    kinetic: f64,
    /// Energy of elasticity and of other forces with a potential, at the times of both ends of the step.
    stored: [f64; 2],
    /// Energy of gravity and of constant loads.
    weight: f64,
}

/// Elastic energy and reactions at the end of a step, reused by the next one.
#[derive(Debug, Clone, Default)]
struct Known {
    q: Vec<f64>,
    elastic_energy: f64,
    /// Velocities, and reactions without inertia; empty if they were not needed.
    v: Vec<f64>,
    reactions: Vec<f64>,
}

/// Tracker of the energy balance from step to step.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    pub balance: EnergyBalance,
    start: State,
    terms: Terms,
    known: Known,
    product: Vec<f64>,
    /// Kinetic energy if all coordinates have the velocity 1 m/s.
    unit_kinetic: Option<f64>,
    /// Young's modulus times the volume of all bodies.
    elastic_scale: Option<f64>,
    /// Nodal loads of the previous step.
    loads: Vec<f64>,
}

impl Watch {
    /// Discards cached quantities of the current state, because materials may have changed.
    pub fn forget(&mut self) {
        self.known.q.clear();
        self.known.v.clear();
        self.elastic_scale = None;
    }

    fn keep(&mut self, state: &State) {
        self.start.time = state.time;
        self.start.q.clone_from(&state.q);
        self.start.v.clone_from(&state.v);
        self.start.history.clone_from(&state.history);
    }

    /// Measures the energies of a model before a step to the time `end`.
    pub fn begin(&mut self, model: &Model, state: &State, end: f64) {
        self.keep(state);
        if self.known.q != state.q {
            self.known.q.clear();
        }
        let elastic = if self.known.q.is_empty() {
            model.elastic_energy(&state.q, &state.conditions_here())
        } else {
            self.known.elastic_energy
        };
        self.terms = self.measure(model, state, elastic, [state.time, end]);
    }

    fn measure(&mut self, model: &Model, state: &State, elastic: f64, times: [f64; 2]) -> Terms {
        let (q, conditions) = (&state.q, state.conditions_here());
        Terms {
            kinetic: kinetic_energy(|x, y| model.mass().mul(x, y), &state.v, &mut self.product),
            stored: times.map(|time| elastic + model.force_energy(q, &conditions.with_time(time))),
            weight: model.weight_energy(q),
        }
    }

    /// Adds the step to the balance.
    pub fn end(&mut self, model: &Model, state: &State) {
        let h = state.time - self.start.time;
        let elastic = model.elastic_energy(&state.q, &state.conditions_here());
        let terms = self.measure(model, state, elastic, [self.start.time, state.time]);
        let (work, mut jump) = self.work_of_constraints(model, state, h);
        jump += self.work_of_earlier_loads(model, state);
        let work = [
            work,
            model.work_without_potential([&self.start, state]),
            self.work_of_friction(model, state, h),
            model.work_of_colliders([&self.start, state]),
        ];
        let scale = *self.elastic_scale.get_or_insert_with(|| model.elastic_scale());
        let noise = self.rounding(model.extent(), |x, y| model.mass().mul(x, y), h) + ELASTIC_ROUNDING * scale;
        self.balance.add(&self.terms, &terms, &work, jump, noise);
        self.known.elastic_energy = elastic;
        self.known.q.clone_from(&state.q);
    }

    /// Returns the work \[J\] by which the nodal loads of the previous step exceed the current ones: integrators that
    /// extrapolate the acceleration start with the previous loads.
    fn work_of_earlier_loads(&mut self, model: &Model, state: &State) -> f64 {
        let loads = model.loads();
        let mut work = 0.0;
        if self.loads.len() == loads.len() && self.loads != loads {
            for i in 0..loads.len() {
                work += (self.loads[i] - loads[i]) * (state.q[i] - self.start.q[i]);
            }
        }
        self.loads.clear();
        self.loads.extend_from_slice(loads);
        work.max(0.0)
    }

    /// Returns the kinetic energy \[J\] of motion that is only rounding, in steps of length `h` \[s\].
    fn rounding(&mut self, extent: f64, mul_mass: impl FnOnce(&[f64], &mut [f64]), h: f64) -> f64 {
        let (count, product) = (self.start.v.len(), &mut self.product);
        let unit = *self.unit_kinetic.get_or_insert_with(|| kinetic_energy(mul_mass, &vec![1.0; count], product));
        unit * (ROUNDING * extent / h).powi(2)
    }

    /// Returns the work `r · Δq` of moving constraints with the reactions of both ends of the step, and the kinetic
    /// energy `½ Δv M Δv` of the change of their velocities.
    fn work_of_constraints(&mut self, model: &Model, state: &State, h: f64) -> ([f64; 2], f64) {
        let (start, q) = (&self.start, &state.q);
        let moves = |i: usize| model.fixed_mask()[i] && q[i] != start.q[i];
        let moving: Vec<usize> = (0..q.len()).filter(|&i| moves(i)).collect();
        if moving.is_empty() {
            self.known.v.clear();
            return ([0.0; 2], 0.0);
        }
        // Both ends have the mean acceleration, so that the work of inertia is the change of kinetic energy.
        let slowly = |state: &State| State { a: None, ..state.clone() };
        let is_known = !self.known.q.is_empty() && self.known.v == start.v;
        let first = if is_known { std::mem::take(&mut self.known.reactions) } else { model.reactions(&slowly(start)) };
        let last = model.reactions(&slowly(state));
        let acceleration: Vec<f64> = state.v.iter().zip(&start.v).map(|(end, start)| (end - start) / h).collect();
        self.product.resize(acceleration.len(), 0.0);
        model.mass().mul(&acceleration, &mut self.product);
        let work = [&first, &last].map(|reactions| {
            moving.iter().map(|&i| (reactions[i] + self.product[i]) * (q[i] - start.q[i])).sum::<f64>()
        });
        let jump = moving.iter().map(|&i| 0.5 * h * h * acceleration[i] * self.product[i]).sum::<f64>().abs();
        self.known.v.clone_from(&state.v);
        self.known.reactions = last;
        (work, jump)
    }

    /// Returns the work of friction against moving obstacles, with the forces of both ends of the step.
    fn work_of_friction(&self, model: &Model, state: &State, h: f64) -> [f64; 2] {
        let start = &self.start;
        let [first, last] =
            [start, state].map(|state| model.driving_power(&state.q, &state.conditions_here(), &state.v));
        // Integrators evaluate friction at the start of a step, and the velocity at its end.
        let between = model.driving_power(&start.q, &start.conditions_here().with_time(state.time), &state.v);
        [h * first, h * last.max(between)]
    }

    /// Measures the energies of a system whose forces all have a potential, before a step to the time `end`.
    pub fn begin_reduced(&mut self, system: &mut impl System, state: &State, end: f64) {
        self.keep(state);
        self.terms = self.measure_reduced(system, state, [state.time, end]).unwrap_or_default();
    }

    fn measure_reduced(&mut self, system: &mut impl System, state: &State, times: [f64; 2]) -> Option<Terms> {
        let mul_mass = |x: &[f64], y: &mut [f64]| system.mul(Combination::of_mass(1.0), x, y);
        let kinetic = kinetic_energy(mul_mass, &state.v, &mut self.product);
        let conditions = state.conditions_here();
        let mut stored = [0.0; 2];
        for (stored, time) in stored.iter_mut().zip(times) {
            *stored = system.energy(&state.q, &conditions.with_time(time))?;
        }
        Some(Terms { kinetic, stored, weight: 0.0 })
    }

    /// Adds the step to the balance, given the driving power of the full model at both ends of the step.
    pub fn end_reduced(&mut self, system: &mut impl System, state: &State, power: [f64; 2]) {
        let h = state.time - self.start.time;
        if let Some(terms) = self.measure_reduced(system, state, [self.start.time, state.time]) {
            let noise = self.rounding(system.extent(), |x, y| system.mul(Combination::of_mass(1.0), x, y), h);
            self.balance.add(&self.terms, &terms, &[power.map(|power| h * power)], 0.0, noise);
        }
    }
}

/// Returns the kinetic energy `½ vᵀMv`.
fn kinetic_energy(mul_mass: impl FnOnce(&[f64], &mut [f64]), v: &[f64], product: &mut Vec<f64>) -> f64 {
    product.resize(v.len(), 0.0);
    mul_mass(v, product);
    0.5 * v.iter().zip(&*product).map(|(v, p)| v * p).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_energy_that_becomes_infinite_is_a_gain() {
        let mut balance = EnergyBalance::default();
        let start = Terms { kinetic: 1.0, stored: [2.0; 2], weight: 0.0 };
        balance.add(&start, &start, &[], 0.0, 0.0);
        assert_eq!(balance.gain(), None);
        let end = Terms { stored: [f64::INFINITY; 2], ..start };
        balance.add(&start, &end, &[], 0.0, 0.0);
        assert_eq!(balance.gain().unwrap().gained, f64::INFINITY);
    }
}
