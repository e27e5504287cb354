//! Energies of a model and the power of external drives, for the energy balance.

use super::{Model, ModelBody};
use crate::force::Force;
use crate::system::State;

impl Model {
    /// Returns the elastic energy \[J\] of all bodies.
    pub(crate) fn elastic_energy(&self, q: &[f64]) -> f64 {
        self.bodies.iter().filter_map(ModelBody::elastic).map(|force| Force::energy(force, q)).sum()
    }

    /// Returns Young's modulus times the volume \[J\], summed over all bodies.
    pub(crate) fn elastic_scale(&self) -> f64 {
        let of_body = |body: &ModelBody| {
            let young = body.elastic().map(|force| force.materials().iter().map(|material| material.moduli().young));
            young.map_or(0.0, |young| young.fold(0.0, f64::max)) * body.mesh().volume()
        };
        self.bodies.iter().map(of_body).sum()
    }

    /// Returns the potential \[J\] at a time \[s\] of all forces that have one, except for elasticity, gravity and
    /// constant loads.
    pub(crate) fn force_energy(&mut self, q: &[f64], time: f64) -> f64 {
        self.go_to(time);
        self.forces.iter().filter(|force| force.has_energy()).map(|force| force.energy(q)).sum()
    }

    /// Returns the potential \[J\] of gravity and constant loads, relative to rest.
    pub(crate) fn weight_energy(&self, q: &[f64]) -> f64 {
        self.gravity_energy(q) + self.load_energy(q)
    }

    /// Returns the work \[J\] of forces without a potential over the displacement increment between two states: with
    /// their values at the first, and at the second.
    pub(crate) fn work_without_potential(&mut self, states: [&State; 2]) -> [f64; 2] {
        if self.forces.iter().all(|force| force.has_energy()) {
            return [0.0; 2];
        }
        let [start, end] = states;
        states.map(|state| {
            self.go_to(state.time);
            let mut force = vec![0.0; state.q.len()];
            self.forces.iter().filter(|term| !term.has_energy()).for_each(|term| term.add_force(&state.q, &mut force));
            -force.iter().zip(end.q.iter().zip(&start.q)).map(|(f, (end, start))| f * (end - start)).sum::<f64>()
        })
    }

    /// Returns the power \[W\] of friction against moving obstacles where it drives the model; 0 where it brakes.
    pub(crate) fn driving_power(&mut self, q: &[f64], v: &[f64], time: f64) -> f64 {
        if !self.forces.iter().any(|force| force.has_damping()) {
            return 0.0;
        }
        self.go_to(time);
        let mut force = vec![0.0; q.len()];
        let with_damping = self.forces.iter().filter(|term| term.has_damping());
        let powers = with_damping.map(|term| {
            force.fill(0.0);
            term.add_damping_force(q, v, &mut force);
            -force.iter().zip(v).map(|(f, v)| f * v).sum::<f64>()
        });
        powers.map(|power| power.max(0.0)).sum()
    }
}
