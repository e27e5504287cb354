//! What can be measured of a model.

use super::{Model, ModelBody};
use crate::force::{Obstacles, Shape};
use crate::math::Vec3;
use crate::system::{State, System, Weights};

/// What a model is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// In s.
    pub time: f64,
    /// `½ vᵀMv`, in J.
    pub kinetic_energy: f64,
    /// Of the elasticity of all bodies, in J; 0 for bodies whose elasticity is that of a
    /// [`Regularized`](crate::integrator::Regularized) scheme.
    pub elastic_energy: f64,
    /// Relative to rest, in J.
    pub gravitational_energy: f64,
    /// Of constant loads, relative to rest, and of all other forces that have an energy, in J.
    pub other_energy: f64,
    /// In kg.
    pub mass: f64,
    /// In m.
    pub centre_of_mass: Vec3,
    /// In kg m/s.
    pub momentum: Vec3,
    /// About the origin, in kg m²/s.
    pub angular_momentum: Vec3,
    /// Of all bodies, in m³.
    pub volume: f64,
}

impl Observation {
    /// All energies together, in J.
    pub fn total_energy(&self) -> f64 {
        self.kinetic_energy + self.elastic_energy + self.gravitational_energy + self.other_energy
    }

    /// About the centre of mass, in kg m²/s.
    pub fn spin(&self) -> Vec3 {
        self.angular_momentum - self.centre_of_mass.cross(self.momentum)
    }
}

impl Model {
    /// Measure a state.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn observe(&mut self, state: &State) -> Observation {
        self.go_to(state.time);
        let elastic = self.bodies.iter().filter_map(ModelBody::elastic);
        let elastic_energy = elastic.map(|force| crate::force::Force::energy(force, &state.q)).sum();
        let with_energy = self.forces.iter().filter(|force| force.has_energy());
        let forces: f64 = with_energy.map(|force| force.energy(&state.q)).sum();
        self.mass.mul(&state.v, &mut self.product);
        let (mut mass, mut first_moment) = (0.0, Vec3::ZERO);
        let (mut momentum, mut angular_momentum) = (Vec3::ZERO, Vec3::ZERO);
        let mut kinetic = 0.0;
        for vertex in 0..self.rest.len() {
            let x = self.rest[vertex] + Vec3::from_slice(&state.q[3 * vertex..]);
            let p = Vec3::from_slice(&self.product[3 * vertex..]);
            mass += self.vertex_mass[vertex];
            first_moment += self.vertex_mass[vertex] * x;
            momentum += p;
            angular_momentum += x.cross(p);
            kinetic += 0.5 * p.dot(Vec3::from_slice(&state.v[3 * vertex..]));
        }
        Observation {
            time: state.time,
            kinetic_energy: kinetic,
            elastic_energy,
            gravitational_energy: self.gravity_energy(&state.q),
            other_energy: forces + self.load_energy(&state.q),
            mass,
            centre_of_mass: first_moment / mass,
            momentum,
            angular_momentum,
            volume: self.bodies.iter().map(|body| body.volume(&state.q)).sum(),
        }
    }

    /// The forces that holds exert on their vertices, three numbers each, in N; zero where nothing is held. Where the acceleration is not
    /// known it is taken to be zero, as in equilibrium. Only forces of the model count, not the constraints of a
    /// [`Regularized`](crate::integrator::Regularized) scheme.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn reactions(&mut self, state: &State) -> Vec<f64> {
        // What is remembered for the scheme is lost.
        self.revision += 1;
        let n = self.dim();
        let (mut force, mut product) = (vec![0.0; n], vec![0.0; n]);
        self.linearize(&state.q, state.time, crate::system::Definiteness::Exact, &mut force);
        self.set_damping(&state.q, &state.v, &mut force);
        force.iter_mut().for_each(|f| *f = -*f);
        self.mul(Weights { damping: 1.0, ..Weights::default() }, &state.v, &mut product);
        force.iter_mut().zip(&product).for_each(|(f, d)| *f += d);
        if let Some(a) = &state.a {
            self.mul(Weights { mass: 1.0, ..Weights::default() }, a, &mut product);
            force.iter_mut().zip(&product).for_each(|(f, m)| *f += m);
        }
        for (force, held) in force.iter_mut().zip(self.holds.held()) {
            if !held {
                *force = 0.0;
            }
        }
        force
    }

    /// What bodies run into, where it is at a time in s.
    pub fn obstacles_at(&self, time: f64) -> Vec<Shape> {
        let all = self.forces().filter_map(|force| (force as &dyn std::any::Any).downcast_ref::<Obstacles>());
        all.flat_map(|obstacles| obstacles.list().iter().map(|obstacle| obstacle.shape_at(time))).collect()
    }

    /// Where the vertices are, in m.
    pub fn positions(&self, state: &State) -> Vec<Vec3> {
        let (q, _) = state.q.as_chunks::<3>();
        self.rest.iter().zip(q).map(|(rest, q)| *rest + Vec3::from_array(*q)).collect()
    }

    pub(super) fn gravity_energy(&self, q: &[f64]) -> f64 {
        let (q, _) = q.as_chunks::<3>();
        let terms = q.iter().zip(&self.vertex_mass).map(|(q, mass)| mass * self.gravity.dot(Vec3::from_array(*q)));
        -terms.sum::<f64>()
    }

    pub(super) fn load_energy(&self, q: &[f64]) -> f64 {
        -q.iter().zip(&self.loads).map(|(q, load)| q * load).sum::<f64>()
    }
}

impl ModelBody {
    /// Its volume in a state of the model, in m³; inverted elements count as negative.
    pub fn volume(&self, q: &[f64]) -> f64 {
        let (u, _) = self.part(q).as_chunks::<3>();
        let at = |vertex: u32| self.mesh.vertices()[vertex as usize] + Vec3::from_array(u[vertex as usize]);
        self.mesh.volume_with(at)
    }
}
