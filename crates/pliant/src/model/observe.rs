//! What can be measured of a model.

use super::{Model, ModelBody};
use crate::force::{Force, Obstacles, Shape};
use crate::math::Vec3;
use crate::sparse::BlockMatrix;
use crate::system::{Definiteness, State, System};

/// What a model is doing. If a body has no density, everything that depends on mass is NaN, but for the kinetic energy of a model at rest.
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
        if self.check_mass("an observation").is_err() {
            let unknown = Vec3::splat(f64::NAN);
            (mass, first_moment, momentum, angular_momentum) = (f64::NAN, unknown, unknown, unknown);
            kinetic = if state.v.iter().all(|v| *v == 0.0) { 0.0 } else { f64::NAN };
        }
        Observation {
            time: state.time,
            kinetic_energy: kinetic,
            elastic_energy: self.elastic_energy(&state.q),
            gravitational_energy: self.gravity_energy(&state.q),
            other_energy: self.force_energy(&state.q, state.time) + self.load_energy(&state.q),
            mass,
            centre_of_mass: first_moment / mass,
            momentum,
            angular_momentum,
            volume: self.bodies.iter().map(|body| body.volume(&state.q)).sum(),
        }
    }

    /// Returns the forces that constraints exert on their vertices, three numbers each \[N\]; zero where nothing is fixed. Where the acceleration is not
    /// known it is taken to be zero, as in equilibrium. Only forces of the model count, not the constraints of a
    /// [`Regularized`](crate::integrator::Regularized) scheme.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn reactions(&self, state: &State) -> Vec<f64> {
        let (q, v) = (&state.q, &state.v);
        let mut moved = Vec::new();
        if self.time != state.time {
            moved.clone_from(&self.forces);
            moved.iter_mut().for_each(|force| force.set_time(state.time));
        }
        let forces = if moved.is_empty() { &self.forces } else { &moved };
        // M a + D v + f(u) − f_ext.
        let mut balance = vec![0.0; self.dim()];
        self.bodies.iter().filter_map(ModelBody::elastic).for_each(|force| force.add_force(q, &mut balance));
        for force in forces {
            force.add_force(q, &mut balance);
            if force.has_damping() {
                force.add_damping_force(q, v, &mut balance);
            }
        }
        self.add_damping_product(forces, q, v, &mut balance);
        if let Some(a) = &state.a {
            let mut product = vec![0.0; self.dim()];
            self.mass.mul(a, &mut product);
            balance.iter_mut().zip(&product).for_each(|(balance, inertia)| *balance += inertia);
        }
        let gravity = self.load_factor * self.gravity;
        for (i, (balance, held)) in balance.iter_mut().zip(self.holds.held()).enumerate() {
            let load = self.vertex_mass[i / 3] * gravity[i % 3] + self.load_factor * self.loads[i];
            *balance = if *held { *balance - load } else { 0.0 };
        }
        balance
    }

    /// Adds `(αM + βK + D̄) v`, with the stiffness at `q` of elasticity and of `forces`.
    fn add_damping_product(&self, forces: &[Box<dyn Force>], q: &[f64], v: &[f64], sum: &mut [f64]) {
        if self.damping.is_zero() || v.iter().all(|&v| v == 0.0) {
            return;
        }
        let mut product = vec![0.0; v.len()];
        let mut add =
            |factor: f64, product: &[f64]| sum.iter_mut().zip(product).for_each(|(sum, d)| *sum += factor * d);
        self.mass.mul(v, &mut product);
        add(self.damping.mass(), &product);
        if let Some(matrix) = self.damping.matrix() {
            matrix.mul(v, &mut product);
            add(1.0, &product);
        }
        if self.damping.stiffness() != 0.0 {
            let mut stiffness = BlockMatrix::zero(self.pattern().clone());
            for force in forces {
                force.add_force_and_stiffness(q, Definiteness::Exact, &mut product, &mut stiffness);
            }
            stiffness.mul(v, &mut product);
            for elastic in self.bodies.iter().filter_map(ModelBody::elastic) {
                elastic.add_stiffness_product(q, Definiteness::Exact, v, &mut product);
            }
            add(self.damping.stiffness(), &product);
        }
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
