//! Measured quantities of a model.

use super::{Model, ModelBody};
use crate::force::{Conditions, ObstacleGeometry, Obstacles};
use crate::math::Vec3;
use crate::sparse::BlockMatrix;
use crate::system::{Definiteness, State};

/// Energies, momenta, mass and volume of a model.
///
/// If a body has no density, everything that depends on mass is NaN, except for the kinetic energy of a model at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Time \[s\].
    pub time: f64,
    /// Kinetic energy `½ vᵀMv` \[J\].
    pub kinetic_energy: f64,
    /// Elastic energy of all bodies \[J\]; 0 for bodies whose elasticity is part of a
    /// [`Regularized`](crate::integrator::Regularized) integrator.
    pub elastic_energy: f64,
    /// Gravitational energy relative to rest \[J\].
    pub gravitational_energy: f64,
    /// Energy \[J\] of constant loads, relative to rest, and of all other forces that have an energy.
    pub other_energy: f64,
    /// Mass \[kg\].
    pub mass: f64,
    /// Center of mass \[m\].
    pub center_of_mass: Vec3,
    /// Momentum \[kg m/s\].
    pub momentum: Vec3,
    /// Angular momentum about the origin \[kg m²/s\].
    pub angular_momentum: Vec3,
    /// Volume of all bodies \[m³\].
    pub volume: f64,
}

impl Observation {
    /// Returns the total energy \[J\].
    pub fn total_energy(&self) -> f64 {
        self.kinetic_energy + self.elastic_energy + self.gravitational_energy + self.other_energy
    }

    /// Returns the angular momentum about the center of mass \[kg m²/s\].
    pub fn spin(&self) -> Vec3 {
        self.angular_momentum - self.center_of_mass.cross(self.momentum)
    }
}

impl Model {
    /// Measures a state.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn observe(&self, state: &State) -> Observation {
        let mut product = vec![0.0; self.dim()];
        self.mass.mul(&state.v, &mut product);
        let (mut mass, mut first_moment) = (0.0, Vec3::ZERO);
        let (mut momentum, mut angular_momentum) = (Vec3::ZERO, Vec3::ZERO);
        let mut kinetic = 0.0;
        for vertex in 0..self.rest.len() {
            let x = self.rest[vertex] + Vec3::from_slice(&state.q[3 * vertex..]);
            let p = Vec3::from_slice(&product[3 * vertex..]);
            mass += self.node_mass[vertex];
            first_moment += self.node_mass[vertex] * x;
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
            elastic_energy: self.elastic_energy(&state.q, &state.conditions_here()),
            gravitational_energy: self.gravity_energy(&state.q),
            other_energy: self.force_energy(&state.q, &state.conditions_here()) + self.load_energy(&state.q),
            mass,
            center_of_mass: first_moment / mass,
            momentum,
            angular_momentum,
            volume: self.bodies.iter().map(|body| body.volume(&state.q)).sum(),
        }
    }

    /// Returns the reaction forces of Dirichlet conditions, three numbers per node \[N\]; zero where nothing is
    /// fixed.
    ///
    /// An unknown acceleration is taken as zero, as in equilibrium. Only forces of the model count, not the constraints
    /// of a [`Regularized`](crate::integrator::Regularized) integrator.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn reactions(&self, state: &State) -> Vec<f64> {
        let (q, v) = (&state.q, &state.v);
        let conditions = state.conditions_here();
        // M a + D v + f(u) − f_ext.
        let mut balance = vec![0.0; self.dim()];
        for (force, range) in self.all_forces_with_history() {
            let conditions = conditions.of_part(range);
            force.add_gradient(q, &conditions, &mut balance);
            if force.has_damping() {
                force.add_dissipation_gradient(q, &conditions, v, &mut balance);
            }
        }
        self.add_damping_product(q, &conditions, v, &mut balance);
        if let Some(a) = &state.a {
            let mut product = vec![0.0; self.dim()];
            self.mass.mul(a, &mut product);
            balance.iter_mut().zip(&product).for_each(|(balance, inertia)| *balance += inertia);
        }
        for (i, (balance, fixed)) in balance.iter_mut().zip(self.fixed.fixed_mask()).enumerate() {
            let load = self.node_mass[i / 3] * self.gravity[i % 3] + self.loads[i];
            *balance = if *fixed { *balance - load } else { 0.0 };
        }
        balance
    }

    /// Adds `(αM + βK + D̄) v`, with the stiffness at `q`.
    fn add_damping_product(&self, q: &[f64], conditions: &Conditions<'_>, v: &[f64], sum: &mut [f64]) {
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
            for (force, range) in self.forces_with_history() {
                let conditions = conditions.of_part(range);
                force.add_gradient_and_stiffness(q, &conditions, Definiteness::Exact, &mut product, &mut stiffness);
            }
            stiffness.mul(v, &mut product);
            for elastic in self.bodies.iter().filter_map(ModelBody::elastic) {
                elastic.add_stiffness_product(q, Definiteness::Exact, v, &mut product);
            }
            add(self.damping.stiffness(), &product);
        }
    }

    /// Returns the obstacles and colliders at their positions at a time \[s\].
    pub fn obstacles_at(&self, time: f64) -> Vec<ObstacleGeometry> {
        let mut all = self.penalty_obstacles_at(time);
        all.extend(self.contact_energy().into_iter().flat_map(|energy| energy.collider_geometry(time)));
        all
    }

    /// Returns the obstacles with penalty contact at their positions at a time \[s\].
    pub fn penalty_obstacles_at(&self, time: f64) -> Vec<ObstacleGeometry> {
        let all = self.forces().filter_map(|force| (force as &dyn std::any::Any).downcast_ref::<Obstacles>());
        all.flat_map(|obstacles| obstacles.list().iter().map(|obstacle| obstacle.geometry_at(time))).collect()
    }

    /// Returns the positions of the nodes \[m\]. For those of vertices, see [`ModelBody::positions`].
    pub fn positions(&self, state: &State) -> Vec<Vec3> {
        let (q, _) = state.q.as_chunks::<3>();
        self.rest.iter().zip(q).map(|(rest, q)| *rest + Vec3::from_array(*q)).collect()
    }

    /// Returns displacements or velocities of the vertices of all meshes, body after body, from those of the nodes.
    /// They are the same if all bodies are deformable.
    ///
    /// # Panics
    /// If there are not three numbers per node.
    pub fn at_vertices(&self, nodes: &[f64]) -> Vec<f64> {
        if self.deformable_bodies().count() == self.bodies.len() {
            return nodes.to_vec();
        }
        let of_body = |body: &ModelBody| {
            let mut vertices = vec![Vec3::ZERO; body.mesh.vertex_count()];
            body.vertices.interpolate_flat(nodes, &mut vertices);
            vertices.into_iter().flat_map(|vertex| vertex.to_array())
        };
        self.bodies.iter().flat_map(of_body).collect()
    }

    pub(super) fn gravity_energy(&self, q: &[f64]) -> f64 {
        let (q, _) = q.as_chunks::<3>();
        let terms = q.iter().zip(&self.node_mass).map(|(q, mass)| mass * self.gravity.dot(Vec3::from_array(*q)));
        -terms.sum::<f64>()
    }

    pub(super) fn load_energy(&self, q: &[f64]) -> f64 {
        -q.iter().zip(&self.loads).map(|(q, load)| q * load).sum::<f64>()
    }
}

impl ModelBody {
    /// Returns the positions of the vertices of its mesh \[m\] in a state of the model.
    ///
    /// # Panics
    /// If there are not three displacements per node of the model.
    pub fn positions(&self, q: &[f64]) -> Vec<Vec3> {
        let mut positions = vec![Vec3::ZERO; self.mesh.vertex_count()];
        self.vertices.interpolate_flat(q, &mut positions);
        positions.iter_mut().zip(self.mesh.vertices()).for_each(|(u, rest)| *u += *rest);
        positions
    }

    /// Returns the volume \[m³\] of the body in a state of the model; inverted elements count as negative.
    pub fn volume(&self, q: &[f64]) -> f64 {
        self.mesh.volume_with(|vertex| self.mesh.vertices()[vertex as usize] + self.vertices.at(vertex as usize, q))
    }
}
