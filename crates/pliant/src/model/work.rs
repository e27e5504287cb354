//! Energies of a model and the power of external drives, for the energy balance.

use std::any::Any;

use super::{Model, ModelBody};
use crate::force::{Conditions, StepMotion, SurfaceContact};
use crate::system::State;

impl Model {
    /// Returns the elastic energy \[J\] of all bodies.
    pub(crate) fn elastic_energy(&self, q: &[f64], conditions: &Conditions<'_>) -> f64 {
        let count = self.bodies.iter().filter(|body| body.elastic().is_some()).count();
        let elastic = self.all_forces_with_history().take(count);
        elastic.map(|(force, range)| force.energy(q, &conditions.of_part(range))).sum()
    }

    /// Returns Young's modulus times the volume \[J\], summed over all bodies.
    pub(crate) fn elastic_scale(&self) -> f64 {
        let of_body = |body: &ModelBody| {
            let young = body.elastic().map(|force| force.materials().iter().map(|material| material.moduli().young));
            young.map_or(0.0, |young| young.fold(0.0, f64::max)) * body.mesh().volume()
        };
        self.bodies.iter().map(of_body).sum()
    }

    /// Returns the potential \[J\] of all forces that have one, except for elasticity, gravity and constant loads.
    pub(crate) fn force_energy(&self, q: &[f64], conditions: &Conditions<'_>) -> f64 {
        let conservative = self.forces_with_history().filter(|(force, _)| force.has_energy());
        conservative.map(|(force, range)| force.energy(q, &conditions.of_part(range))).sum()
    }

    /// Returns the potential \[J\] of gravity and constant loads, relative to rest.
    pub(crate) fn weight_energy(&self, q: &[f64]) -> f64 {
        self.gravity_energy(q) + self.load_energy(q)
    }

    /// Returns the work \[J\] of forces without a potential over the displacement increment between two states: with
    /// their values at the first, and at the second.
    pub(crate) fn work_without_potential(&self, states: [&State; 2]) -> [f64; 2] {
        if self.forces.iter().all(|force| force.has_energy()) {
            return [0.0; 2];
        }
        let [start, end] = states;
        states.map(|state| {
            let conditions = state.conditions_here();
            let mut force = vec![0.0; state.q.len()];
            for (term, range) in self.forces_with_history().filter(|(term, _)| !term.has_energy()) {
                term.add_gradient(&state.q, &conditions.of_part(range), &mut force);
            }
            -force.iter().zip(end.q.iter().zip(&start.q)).map(|(f, (end, start))| f * (end - start)).sum::<f64>()
        })
    }

    /// Returns the work \[J\] of moving colliders between two states, with the contact forces at the first, and at the
    /// second.
    pub(crate) fn work_of_colliders(&self, states: [&State; 2]) -> [f64; 2] {
        let find = || self.forces_with_history().find(|(force, _)| (*force as &dyn Any).is::<SurfaceContact>());
        let Some((force, range)) = find() else { return [0.0; 2] };
        let Some(contact) = (force as &dyn Any).downcast_ref::<SurfaceContact>() else { return [0.0; 2] };
        let conditions = states.map(|state| state.conditions_here().of_part(range.clone()));
        let clock = conditions.map(|conditions| SurfaceContact::clock_at(&conditions));
        let dt = states[1].time - states[0].time;
        std::array::from_fn(|i| {
            let state = states[i];
            let motion = StepMotion { start: &state.q, rate: 1.0, v_0: &state.v, lagged: &state.q, secant: 0.0 };
            let conditions = Conditions { motion: Some(motion), dt, ..conditions[i] };
            contact.collider_work(&state.q, &conditions, clock)
        })
    }

    /// Returns the power \[W\] of friction against moving obstacles where it drives the model; 0 where it brakes.
    pub(crate) fn driving_power(&self, q: &[f64], conditions: &Conditions<'_>, v: &[f64]) -> f64 {
        if !self.forces.iter().any(|force| force.has_damping()) {
            return 0.0;
        }
        let mut force = vec![0.0; q.len()];
        let with_damping = self.forces_with_history().filter(|(term, _)| term.has_damping());
        let powers = with_damping.map(|(term, range)| {
            force.fill(0.0);
            term.add_dissipation_gradient(q, &conditions.of_part(range), v, &mut force);
            -force.iter().zip(v).map(|(f, v)| f * v).sum::<f64>()
        });
        powers.map(|power| power.max(0.0)).sum()
    }
}
