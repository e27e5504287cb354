//! Contact of surfaces with each other and themselves.

use std::sync::Arc;

use super::{Conditions, Definiteness, Force, check_length};
use crate::contact::{ActivePair, ContactEnergy, StepLimit};
use crate::math::Vec3;
use crate::sparse::{BlockMatrix, BlockPattern, LowRank};

/// Contact without friction: the [`ContactEnergy`] of surfaces as a force on nodes.
///
/// Its stiffness couples other nodes in every step, so that it is not in the pattern of the model.
#[derive(Debug, Clone)]
pub struct SurfaceContact {
    energy: ContactEnergy,
    node_count: usize,
}

impl SurfaceContact {
    /// Creates the force on `node_count` nodes.
    pub fn new(energy: ContactEnergy, node_count: usize) -> Self {
        Self { energy, node_count }
    }

    /// Returns the energy.
    pub fn contact_energy(&self) -> &ContactEnergy {
        &self.energy
    }

    fn active_pairs(&self, u: &[f64], conditions: &Conditions<'_>) -> Vec<ActivePair> {
        check_length(u, self.node_count);
        self.energy.active_pairs(u, conditions.dt)
    }

    /// Returns the contact force on each body \[N\].
    pub fn forces_on_bodies(&self, u: &[f64], conditions: &Conditions<'_>) -> Vec<Vec3> {
        let surface = self.energy.surface();
        let mut forces = vec![Vec3::ZERO; surface.body_count()];
        for ActivePair { pair, potential } in self.active_pairs(u, conditions) {
            for (vertex, gradient) in pair.vertices.into_iter().zip(potential.gradient()) {
                forces[surface.locate(vertex).0] -= gradient;
            }
        }
        forces
    }
}

impl Force for SurfaceContact {
    fn node_count(&self) -> usize {
        self.node_count
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        let surface = self.energy.surface();
        for vertex in 0..surface.vertex_count() as u32 {
            surface.nodes(vertex).for_each(|(node, _)| add(&[node]));
        }
    }

    fn bind(&mut self, _: &Arc<BlockPattern>) {}

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        self.active_pairs(u, conditions).iter().map(|active| active.potential.energy).sum()
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        self.energy.add_gradient(&self.active_pairs(u, conditions), gradient);
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        _: Definiteness,
        gradient: &mut [f64],
        _: &mut BlockMatrix,
    ) {
        self.add_gradient(u, conditions, gradient);
    }

    fn add_varying_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        stiffness: &mut LowRank,
    ) {
        self.energy.add_stiffness(&self.active_pairs(u, conditions), definiteness, stiffness);
    }

    fn step_limit(&self, u: &[f64], direction: &[f64], _: &Conditions<'_>) -> f64 {
        let StepLimit { fraction, .. } = self.energy.step_limit(u, direction);
        fraction
    }
}
