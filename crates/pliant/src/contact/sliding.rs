//! Friction of all contacts in a step, as a potential of the displacements at its end.
//!
//! With the velocity `w = d s + v₀` of the increment `s`, the potential of a contact is `N F(|u|)/d`, where `u` is the
//! sliding velocity at `w`: its gradient with respect to displacements is the friction force. The normal force `N`, the
//! normal and the closest points are those of other displacements, where Newton's method was one iteration ago.

use rayon::prelude::*;

use super::energy::{ActivePair, ContactEnergy, Contacts, Rows};
use super::{Friction, Sliding, StepMotion};
use crate::math::Vec3;
use crate::sparse::LowRank;

/// Contacts per task.
const CHUNK: usize = 256;

/// Friction of all contacts at the end of a step.
#[derive(Debug, Clone)]
pub struct FrictionContacts {
    contacts: Vec<Contact>,
    rate: f64,
    secant: f64,
}

/// Contact with its velocities.
#[derive(Debug, Clone, Copy)]
struct Contact {
    vertices: [u32; 4],
    /// Bodies or colliders.
    bodies: [usize; 2],
    friction: Friction,
    sliding: Sliding,
    velocities: [Vec3; 4],
}

impl ContactEnergy {
    /// Returns the friction at displacements `u`, where colliders are where they are at the second clock time \[s\],
    /// and were at the first at the start of the step of `dt` \[s\]. `lagged` are the contacts that friction is
    /// computed with.
    pub fn friction_contacts(
        &self,
        lagged: &Contacts,
        u: &[f64],
        motion: &StepMotion<'_>,
        clock: [f64; 2],
        dt: f64,
    ) -> FrictionContacts {
        let mut contacts = Vec::new();
        if lagged.is_empty() || motion.rate == 0.0 {
            return FrictionContacts { contacts, rate: 1.0, secant: 1.0 };
        }
        let velocities = self.velocities(u, motion, clock, dt);
        let of_pair = |active: &ActivePair| {
            let [a, b] = self.bodies(&active.pair);
            let friction = self.friction(a, b);
            if friction.static_coefficient == 0.0 && friction.kinetic_coefficient == 0.0 {
                return None;
            }
            let closest = active.potential.closest();
            let sliding = Sliding {
                coefficients: closest.coefficients,
                normal: closest.offset.normalize_or_zero(),
                normal_force: active.potential.normal_force(),
            };
            let velocities = active.pair.vertices.map(|v| velocities[v as usize]);
            Some(Contact { vertices: active.pair.vertices, bodies: [a, b], friction, sliding, velocities })
        };
        contacts.par_extend(lagged.pairs.par_iter().with_min_len(CHUNK).filter_map(of_pair));
        for active in &lagged.shapes {
            let bodies = [self.surface().locate(active.vertex).0, active.collider];
            let friction = self.friction(bodies[0], bodies[1]);
            if friction.static_coefficient == 0.0 && friction.kinetic_coefficient == 0.0 {
                continue;
            }
            let number = active.collider - self.surface().body_count();
            let of_shape = self.shapes()[number].velocity(&lagged.placed[number], active.x, clock, dt);
            let sliding = Sliding {
                coefficients: [1.0, -1.0, 0.0, 0.0],
                normal: active.normal,
                normal_force: active.normal_force(),
            };
            let velocities = [velocities[active.vertex as usize], of_shape, Vec3::ZERO, Vec3::ZERO];
            contacts.push(Contact { vertices: [active.vertex; 4], bodies, friction, sliding, velocities });
        }
        FrictionContacts { contacts, rate: motion.rate, secant: motion.secant }
    }

    /// Returns the velocities of all vertices.
    fn velocities(&self, u: &[f64], motion: &StepMotion<'_>, [start, end]: [f64; 2], dt: f64) -> Vec<Vec3> {
        let nodal: Vec<f64> = (0..u.len())
            .map(|i| motion.rate * (u[i] - motion.start[i]) + motion.v_0.get(i).copied().unwrap_or(0.0))
            .collect();
        let mut velocities = Vec::new();
        self.surface().interpolate(&nodal, &mut velocities);
        if dt > 0.0 && start != end {
            self.surface().set_collider_velocities([start, end], dt, &mut velocities);
        }
        velocities
    }
}

impl Contact {
    /// Returns the number of vertices on which the contact acts.
    fn count(&self) -> usize {
        if self.vertices[0] == self.vertices[1] { 1 } else { 4 }
    }
}

impl FrictionContacts {
    /// Returns true if no contact has friction.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }

    /// Returns the potential \[J\].
    pub fn potential(&self) -> f64 {
        let sum: f64 =
            self.contacts.iter().map(|contact| contact.sliding.potential(&contact.friction, &contact.velocities)).sum();
        sum / self.rate
    }

    /// Returns the power that friction dissipates \[W\].
    pub fn power(&self) -> f64 {
        let of_contact = |contact: &Contact| {
            let u = contact.sliding.velocity(&contact.velocities).length();
            contact.sliding.normal_force * contact.friction.force(u) * u
        };
        self.contacts.iter().map(of_contact).sum()
    }

    /// Calls `add` with the bodies of each contact, each of its vertices, and the gradient of the potential there,
    /// minus the friction force.
    pub fn gradients(&self, mut add: impl FnMut([usize; 2], u32, Vec3)) {
        for contact in &self.contacts {
            let gradient = contact.sliding.gradient(&contact.friction, &contact.velocities);
            for (&vertex, g) in contact.vertices.iter().zip(gradient).take(contact.count()) {
                add(contact.bodies, vertex, g);
            }
        }
    }

    /// Adds the gradient with respect to the displacements of the nodes.
    pub fn add_gradient(&self, energy: &ContactEnergy, gradient: &mut [f64]) {
        if self.is_empty() {
            return;
        }
        let mut by_vertices = vec![Vec3::ZERO; energy.surface().vertex_count()];
        self.gradients(|_, vertex, g| by_vertices[vertex as usize] += g);
        energy.surface().add_gradient(&by_vertices, gradient);
    }

    /// Adds a stiffness with respect to the nodes, two terms for each of the contacts: that of the potential, but along
    /// the sliding direction at least a [part](StepMotion::secant) of the secant stiffness `μ N f₁/|u|`.
    pub fn add_stiffness(&self, energy: &ContactEnergy, stiffness: &mut LowRank) {
        let mut rows = Rows::new(energy.surface());
        for contact in &self.contacts {
            let count = contact.count();
            let [along, across] = contact.sliding.hessian_terms(&contact.friction, &contact.velocities);
            for (factor, vector) in [(along.0.max(self.secant * across.0), along.1), across] {
                rows.push(self.rate * factor, &contact.vertices[..count], &vector[..count], stiffness);
            }
        }
    }
}
