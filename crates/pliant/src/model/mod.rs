//! Bodies with their loads and boundary conditions: a [`System`].

mod builder;
mod fixed;
mod internal;
mod locking;
mod matrix_free;
mod observe;
mod surface;
mod work;

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::damping::Damping;
use crate::force::{Elastic, Force, NodalStates, Obstacle};
use crate::mass::MassMatrix;
use crate::material::{Material, YoungPoisson};
use crate::math::Vec3;
use crate::mesh::{Sets, VolumeMesh};
use crate::solver::Operator;
use crate::sparse::{BlockMatrix, BlockPattern};
use crate::system::{Coordinate, DampingKind, Definiteness, Inverted, State, System, Weights};

pub use builder::{Body, ModelBuilder, ModelError};
pub use fixed::{Fixed, FixedId};
pub use locking::{bending_ratio, locking_warning};
pub use matrix_free::MatrixFree;
pub use observe::Observation;

use fixed::FixedVertices;
use matrix_free::Unassembled;

/// Finite-element bodies with their masses and forces. The coordinates are the displacements of all vertices, body
/// after body.
#[derive(Debug, Clone)]
pub struct Model {
    bodies: Vec<ModelBody>,
    /// Rest positions of the vertices of all bodies \[m\].
    rest: Vec<Vec3>,
    /// Diagonal of the bounding box of the largest body \[m\].
    extent: f64,
    forces: Vec<Box<dyn Force>>,
    mass: MassMatrix,
    /// Lumped mass of each vertex \[kg\].
    vertex_mass: Vec<f64>,
    damping: Damping,
    gravity: Vec3,
    loads: Vec<f64>,
    load_factor: f64,
    fixed: FixedVertices,
    /// Time last passed to the forces \[s\].
    time: f64,
    /// `K`, and the terms of `D` besides `αM`.
    stiffness: BlockMatrix,
    friction: Option<BlockMatrix>,
    /// Elastic part of `K` and `D` if it is not assembled in the matrices above.
    unassembled: Option<Unassembled>,
    operator: Operator,
    product: Vec<f64>,
    force_scale: f64,
    revision: u64,
}

/// Body of a model.
#[derive(Debug, Clone)]
pub struct ModelBody {
    name: String,
    mesh: VolumeMesh,
    densities: Vec<f64>,
    vertices: Range<usize>,
    elastic: Option<Elastic>,
}

impl ModelBody {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the mesh of the body at rest.
    pub fn mesh(&self) -> &VolumeMesh {
        &self.mesh
    }

    /// Returns the density \[kg/m³\] of each region; empty if the body has no mass.
    pub fn densities(&self) -> &[f64] {
        &self.densities
    }

    /// Returns the range of its vertices in the model.
    pub fn vertices(&self) -> Range<usize> {
        self.vertices.clone()
    }

    /// Returns its part of a vector with three numbers per vertex of the model.
    pub fn part<'a>(&self, whole: &'a [f64]) -> &'a [f64] {
        &whole[3 * self.vertices.start..3 * self.vertices.end]
    }

    /// Returns the elastic force, or `None` without elasticity.
    pub fn elastic(&self) -> Option<&Elastic> {
        self.elastic.as_ref()
    }

    /// Returns stress and strain at the vertices of its mesh for displacements of the whole model, or `None` without
    /// elasticity.
    ///
    /// # Panics
    /// If there are not three displacements per vertex of the model.
    pub fn nodal_states(&self, u: &[f64]) -> Option<NodalStates> {
        Some(self.elastic.as_ref()?.nodal_states(&self.mesh, u))
    }

    /// Returns mutable access to the elastic force, to replace materials.
    pub fn elastic_mut(&mut self) -> Option<&mut Elastic> {
        self.elastic.as_mut()
    }
}

impl Model {
    /// Returns an empty builder.
    pub fn builder() -> ModelBuilder {
        ModelBuilder::default()
    }

    /// Returns the state at rest.
    pub fn rest_state(&self) -> State {
        State::new(self.dim())
    }

    /// Returns a checksum of the meshes.
    pub fn fingerprint(&self) -> u32 {
        let mut sum = flate2::Crc::new();
        for body in &self.bodies {
            for x in body.mesh.vertices() {
                x.to_array().iter().for_each(|coordinate| sum.update(&coordinate.to_le_bytes()));
            }
            body.mesh.connectivity().iter().for_each(|vertex| sum.update(&vertex.to_le_bytes()));
        }
        sum.sum()
    }

    /// Returns the bodies.
    pub fn bodies(&self) -> &[ModelBody] {
        &self.bodies
    }

    /// Returns mutable access to the bodies, to replace materials.
    pub fn bodies_mut(&mut self) -> &mut [ModelBody] {
        self.revision += 1;
        &mut self.bodies
    }

    /// Returns the rest positions of all vertices \[m\].
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Returns the vertex sets of all bodies, by the vertex numbers of the model.
    ///
    /// These include the vertices of face sets with other names. Sets of the same name are merged.
    pub fn vertex_sets(&self) -> Sets {
        let mut sets = Sets::new();
        for body in &self.bodies {
            let first = body.vertices.start as u32;
            for (name, numbers) in body.mesh.named_vertices() {
                sets.entry(name).or_default().extend(numbers.iter().map(|vertex| vertex + first));
            }
        }
        sets
    }

    /// Returns the vertices on the boundaries of all bodies, by the vertex numbers of the model.
    pub fn surface_vertices(&self) -> Vec<u32> {
        let of_body = |body: &ModelBody| {
            let first = body.vertices.start as u32;
            body.mesh.boundary().vertices.into_iter().map(move |vertex| vertex + first)
        };
        self.bodies.iter().flat_map(of_body).collect()
    }

    /// Returns a suitable obstacle stiffness per vertex \[N/m\]: that of the stiffest body, or what carries the weight
    /// of very soft ones.
    pub fn obstacle_stiffness(&self) -> f64 {
        let of_body = |body: &ModelBody| {
            let materials = body.elastic().map_or(&[][..], Elastic::materials);
            let young = materials.iter().map(|material| material.moduli().young).fold(0.0, f64::max);
            let usual = Obstacle::stiffness_for(&body.mesh, young);
            // The stiffness of a body without an elastic law is unknown.
            let is_elastic = young > 0.0;
            let of_weight = || Obstacle::stiffness_for_weight(&body.mesh, young, &body.densities, self.gravity);
            if is_elastic { usual.max(of_weight()) } else { usual }
        };
        self.bodies.iter().map(of_body).fold(0.0, f64::max)
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    /// Returns the sparsity pattern of `K`, which lacks elastic couplings in a [`MatrixFree`].
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        self.stiffness.pattern()
    }

    /// Returns the lumped mass of each vertex \[kg\].
    pub fn vertex_masses(&self) -> &[f64] {
        &self.vertex_mass
    }

    /// Returns the mass matrix.
    pub fn mass(&self) -> &MassMatrix {
        &self.mass
    }

    /// Returns `K` of the last linearization, without elasticity in a [`MatrixFree`].
    pub fn stiffness(&self) -> &BlockMatrix {
        &self.stiffness
    }

    /// Returns the damping.
    pub fn damping(&self) -> &Damping {
        &self.damping
    }

    /// Sets `α` and `β` of the damping, and keeps a custom matrix.
    pub fn set_rayleigh(&mut self, mass: f64, stiffness: f64) -> Result<(), crate::damping::DampingError> {
        self.damping.set_rayleigh(mass, stiffness)?;
        // The stored matrices are for the previous coefficients.
        self.friction = None;
        if let Some(unassembled) = &mut self.unassembled {
            unassembled.set_damping(0.0);
        }
        self.revision += 1;
        Ok(())
    }

    /// Returns the gravitational acceleration \[m/s²\].
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// Returns an error if a body has no density, where `what` needs the mass of all bodies.
    pub fn check_mass(&self, what: &'static str) -> Result<(), ModelError> {
        match self.bodies.iter().find(|body| body.densities.is_empty()) {
            Some(body) => Err(ModelError::NoMass { body: body.name.clone(), what }),
            None => Ok(()),
        }
    }

    /// Sets the gravitational acceleration \[m/s²\]. A nonzero value needs the mass of all bodies.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), ModelError> {
        if !gravity.is_finite() {
            return Err(ModelError::NotFinite { what: "gravity", value: gravity });
        }
        if gravity != Vec3::ZERO {
            self.check_mass("gravity")?;
        }
        self.gravity = gravity;
        Ok(())
    }

    /// Returns the constant forces on vertices, three numbers each \[N\].
    pub fn loads(&self) -> &[f64] {
        &self.loads
    }

    /// Returns mutable access to the constant forces on vertices \[N\].
    pub fn loads_mut(&mut self) -> &mut [f64] {
        &mut self.loads
    }

    /// Iterates over all forces except for gravity, loads and the elasticity of bodies.
    pub fn forces(&self) -> impl Iterator<Item = &dyn Force> {
        self.forces.iter().map(AsRef::as_ref)
    }

    /// Returns mutable access to the forces of one type, for instance [`Handles`](crate::force::Handles), to move them.
    /// The vertices they couple must not change.
    pub fn forces_mut_of<F: Force>(&mut self) -> impl Iterator<Item = &mut F> {
        self.forces.iter_mut().filter_map(|force| (&mut **force as &mut dyn Any).downcast_mut())
    }

    /// Returns the Dirichlet conditions.
    pub fn fixed(&self) -> &[Fixed] {
        self.fixed.list()
    }

    /// Returns the identifiers of the Dirichlet conditions, in the same order.
    pub fn fixed_ids(&self) -> &[FixedId] {
        self.fixed.ids()
    }

    /// Adds a Dirichlet condition, effective from the next step. Vertex numbers out of range are an error.
    pub fn fix(&mut self, fixed: Fixed) -> Result<FixedId, ModelError> {
        let id = self.fixed.push(fixed, self.stiffness.pattern())?;
        self.revision += 1;
        Ok(id)
    }

    /// Sets the offsets of fixed vertices from rest, before any motion, effective from the next step. On error nothing
    /// changes.
    pub fn move_fixed(&mut self, id: FixedId, offsets: Vec<Vec3>) -> Result<(), ModelError> {
        self.fixed.set_offsets(id, offsets)
    }

    /// Removes a Dirichlet condition. Its vertices stay fixed by any other condition they are part of.
    pub fn remove_fixed(&mut self, id: FixedId) -> Result<Fixed, ModelError> {
        self.revision += 1;
        self.fixed.remove(id, self.stiffness.pattern())
    }

    /// Removes vertices from all Dirichlet conditions.
    pub fn release(&mut self, vertices: &[u32]) {
        self.fixed.release(vertices, self.stiffness.pattern());
        self.revision += 1;
    }

    /// Adds a force that couples only vertices that are coupled already: handles at single vertices, obstacles, loads.
    pub fn add_force(&mut self, mut force: impl Force + 'static) -> Result<(), ModelError> {
        let (found, expected) = (force.vertex_count(), self.vertex_count());
        if found != expected {
            return Err(ModelError::Force { found, expected });
        }
        let pattern = self.stiffness.pattern();
        let mut missing = None;
        force.cliques(&mut |clique| {
            let pairs = clique.iter().enumerate().flat_map(|(n, &a)| clique[n..].iter().map(move |&b| [a, b]));
            missing = missing.or(pairs.into_iter().find(|&[a, b]| pattern.slot(a, b).is_none()));
        });
        if let Some(vertices) = missing {
            return Err(ModelError::NotCoupled { vertices });
        }
        force.bind(pattern);
        force.set_time(self.time);
        self.forces.push(Box::new(force));
        self.revision += 1;
        Ok(())
    }

    /// Removes the elasticity of all bodies, for integrators with a built-in law. Returns the moduli of all regions
    /// that had one.
    pub fn take_elasticity(&mut self) -> Vec<YoungPoisson> {
        self.revision += 1;
        let taken = self.bodies.iter_mut().filter_map(|body| body.elastic.take());
        taken.flat_map(|elastic| elastic.materials().iter().map(Material::moduli).collect::<Vec<_>>()).collect()
    }

    /// Applies an impulse \[N·s\] at a vertex.
    ///
    /// Only the velocity of this vertex changes, so that the momentum of the body changes by the impulse. A vertex
    /// without mass keeps its velocity.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn add_impulse(&self, state: &mut State, vertex: u32, impulse: Vec3) {
        let mass = self.vertex_mass[vertex as usize];
        for axis in 0..3 {
            let i = 3 * vertex as usize + axis;
            if mass > 0.0 && !self.fixed.fixed_mask()[i] {
                state.v[i] += impulse[axis] / mass;
            }
        }
        state.a = None;
    }

    /// Sets the velocities of vertices to those of a rigid body, `v + ω × (x − center)`, except for fixed coordinates.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn set_velocity(&self, state: &mut State, vertices: Range<usize>, v: Vec3, omega: Vec3, center: Vec3) {
        for vertex in vertices {
            let x = self.rest[vertex] + Vec3::from_slice(&state.q[3 * vertex..]);
            let velocity = v + omega.cross(x - center);
            for axis in 0..3 {
                if !self.fixed.fixed_mask()[3 * vertex + axis] {
                    state.v[3 * vertex + axis] = velocity[axis];
                }
            }
        }
        state.a = None;
    }

    /// Returns true if the matrices include the elasticity of bodies, which is false for the model of a [`MatrixFree`].
    pub(crate) fn is_assembled(&self) -> bool {
        self.unassembled.is_none()
    }

    /// Replaces the rows and columns of fixed coordinates by those of a diagonal matrix.
    pub(crate) fn eliminate_fixed(&self, matrix: &mut BlockMatrix) {
        self.fixed.eliminate(matrix);
    }

    /// Sets the time of the forces \[s\].
    pub(crate) fn go_to(&mut self, time: f64) {
        if self.time != time {
            self.time = time;
            self.forces.iter_mut().for_each(|force| force.set_time(time));
        }
    }

    /// Converts gradients to forces: `f ← −(f − gravity − loads)`.
    fn finish_force(&mut self, force: &mut [f64]) {
        let square = |(f, fixed): (&f64, &bool)| if *fixed { 0.0 } else { f * f };
        self.force_scale = force.iter().zip(self.fixed.fixed_mask()).map(square).sum::<f64>().sqrt();
        let (force, _) = force.as_chunks_mut::<3>();
        let (loads, _) = self.loads.as_chunks::<3>();
        let gravity = (self.load_factor * self.gravity).to_array();
        for ((force, loads), mass) in force.iter_mut().zip(loads).zip(&self.vertex_mass) {
            for axis in 0..3 {
                force[axis] = mass * gravity[axis] + self.load_factor * loads[axis] - force[axis];
            }
        }
    }

    fn all_forces(&self) -> impl Iterator<Item = &dyn Force> {
        let elastic = self.bodies.iter().filter_map(ModelBody::elastic).map(|force| force as &dyn Force);
        elastic.chain(self.forces.iter().map(AsRef::as_ref))
    }

    /// Computes `y = (mM + dD + kK) x`, with `product` as work vector.
    fn multiply(&self, weights: Weights, x: &[f64], y: &mut [f64], product: &mut [f64]) {
        let mut first = true;
        let mut add = |factor: f64, mul: &dyn Fn(&[f64], &mut [f64])| {
            if factor == 0.0 {
                return;
            }
            if first {
                mul(x, y);
                y.iter_mut().for_each(|y| *y *= factor);
                first = false;
            } else {
                mul(x, product);
                y.iter_mut().zip(&*product).for_each(|(y, product)| *y += factor * product);
            }
        };
        add(weights.stiffness, &|x, y| self.stiffness.mul(x, y));
        add(weights.mass + weights.damping * self.damping.mass(), &|x, y| self.mass.mul(x, y));
        if let Some(friction) = self.friction.as_ref().filter(|_| self.has_friction()) {
            add(weights.damping, &|x, y| friction.mul(x, y));
        }
        for (factor, linearized) in self.unassembled.iter().flat_map(|unassembled| unassembled.terms(weights)) {
            add(factor, &|x, y| linearized.mul(&self.bodies, x, y));
        }
        if first {
            y.fill(0.0);
        }
    }

    /// Returns true if `D` has terms besides `αM`.
    fn has_friction(&self) -> bool {
        self.damping.stiffness() != 0.0
            || self.damping.matrix().is_some()
            || self.forces.iter().any(|force| force.has_damping())
    }
}

impl System for Model {
    type Matrix = Operator;

    fn dim(&self) -> usize {
        3 * self.rest.len()
    }

    fn energy(&mut self, q: &[f64], time: f64) -> Option<f64> {
        self.go_to(time);
        if !self.all_forces().all(Force::has_energy) {
            return None;
        }
        let internal: f64 = self.all_forces().map(|force| force.energy(q)).sum();
        Some(internal + self.load_factor * (self.gravity_energy(q) + self.load_energy(q)))
    }

    fn force(&mut self, q: &[f64], time: f64, force: &mut [f64]) {
        self.go_to(time);
        force.fill(0.0);
        self.all_forces().for_each(|term| term.add_force(q, force));
        self.finish_force(force);
    }

    fn linearize(&mut self, q: &[f64], time: f64, definiteness: Definiteness, force: &mut [f64]) {
        self.go_to(time);
        force.fill(0.0);
        self.stiffness.clear();
        if let Some(unassembled) = &mut self.unassembled {
            unassembled.linearize(&self.bodies, q, definiteness, force);
        } else {
            for elastic in self.bodies.iter().filter_map(ModelBody::elastic) {
                elastic.add_force_and_stiffness(q, definiteness, force, &mut self.stiffness);
            }
            self.operator.u.copy_from_slice(q);
        }
        for term in &self.forces {
            term.add_force_and_stiffness(q, definiteness, force, &mut self.stiffness);
        }
        self.finish_force(force);
    }

    fn set_damping(&mut self, q: &[f64], v: &[f64], drive: &mut [f64]) {
        if let Some(unassembled) = &mut self.unassembled {
            unassembled.set_damping(self.damping.stiffness());
        }
        if !self.has_friction() {
            self.friction = None;
            return;
        }
        let friction = self.friction.get_or_insert_with(|| BlockMatrix::zero(self.stiffness.pattern().clone()));
        friction.clear();
        if self.forces.iter().any(|force| force.has_damping()) {
            // Forces give `D (v − v̄)`; its difference from `D v` is the drive `D v̄`.
            self.product.fill(0.0);
            for force in self.forces.iter().filter(|force| force.has_damping()) {
                force.add_damping(q, v, friction);
                force.add_damping_force(q, v, &mut self.product);
            }
            drive.iter_mut().zip(&self.product).for_each(|(drive, friction)| *drive -= friction);
            friction.mul(v, &mut self.product);
            drive.iter_mut().zip(&self.product).for_each(|(drive, friction)| *drive += friction);
        }
        self.damping.add_friction_to(&self.stiffness, friction);
    }

    fn mul(&mut self, weights: Weights, x: &[f64], y: &mut [f64]) {
        let mut product = std::mem::take(&mut self.product);
        self.multiply(weights, x, y, &mut product);
        self.product = product;
    }

    fn assemble(&mut self, weights: Weights) {
        /// Number of blocks per task.
        const BLOCKS: usize = 4096;
        let has_friction = self.has_friction();
        let matrix = &mut self.operator.matrix;
        let (k, d) = (weights.stiffness, weights.damping);
        let m = weights.mass + d * self.damping.mass();
        let stiffness = self.stiffness.values();
        let friction = self.friction.as_ref().filter(|_| d != 0.0 && has_friction).map(BlockMatrix::values);
        let mass = (Arc::ptr_eq(self.mass.pattern(), matrix.pattern())).then(|| self.mass.values());
        matrix.values_mut().par_chunks_mut(9 * BLOCKS).enumerate().for_each(|(chunk, values)| {
            let start = 9 * BLOCKS * chunk;
            let stiffness = &stiffness[start..start + values.len()];
            let friction = friction.map(|friction| &friction[start..start + values.len()]);
            match friction {
                // Terms of zero weight may not be finite, for instance after a failed step.
                None if k == 0.0 => values.fill(0.0),
                None => values.iter_mut().zip(stiffness).for_each(|(value, stiffness)| *value = k * stiffness),
                Some(friction) if k == 0.0 => {
                    values.iter_mut().zip(friction).for_each(|(value, friction)| *value = d * friction);
                }
                Some(friction) => {
                    for i in 0..values.len() {
                        values[i] = k * stiffness[i] + d * friction[i];
                    }
                }
            }
            if let Some(mass) = mass {
                let (blocks, _) = values.as_chunks_mut::<9>();
                for (block, mass) in blocks.iter_mut().zip(&mass[BLOCKS * chunk..]) {
                    for diagonal in [0, 4, 8] {
                        block[diagonal] += m * mass;
                    }
                }
            }
        });
        match &self.unassembled {
            Some(unassembled) => {
                self.mass.add_diagonal_to(m, matrix);
                unassembled.add_diagonal_to(weights, matrix);
            }
            None if mass.is_none() => self.mass.add_to(m, matrix),
            None => {}
        }
        self.fixed.eliminate(matrix);
        self.revision += 1;
    }

    fn matrix(&self) -> &Operator {
        assert!(self.unassembled.is_none(), "the model of a `MatrixFree` has no matrix; step the `MatrixFree` instead");
        &self.operator
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn divide(&mut self, weights: Weights, b: &mut [f64]) -> bool {
        let has_other = weights.stiffness != 0.0 || (weights.damping != 0.0 && self.has_friction());
        if has_other || !self.mass.is_diagonal() {
            return false;
        }
        let m = weights.mass + weights.damping * self.damping.mass();
        for (i, b) in b.iter_mut().enumerate() {
            *b = if self.fixed.fixed_mask()[i] { 0.0 } else { *b / (m * self.vertex_mass[i / 3]) };
        }
        true
    }

    fn damping_kind(&self) -> DampingKind {
        if self.damping.stiffness() != 0.0 {
            DampingKind::FollowsStiffness
        } else if self.forces.iter().any(|force| force.has_damping()) {
            DampingKind::Varying
        } else if self.damping.is_zero() {
            DampingKind::None
        } else {
            DampingKind::Constant
        }
    }

    fn fixed_mask(&self) -> &[bool] {
        self.fixed.fixed_mask()
    }

    fn prescribe(&self, time: f64, q: &mut [f64]) {
        self.fixed.prescribe(time, &self.rest, q);
    }

    fn set_load_factor(&mut self, factor: f64) {
        self.load_factor = factor;
        self.forces.iter_mut().for_each(|force| force.set_load_factor(factor));
    }

    fn force_scale(&self) -> f64 {
        self.force_scale
    }

    fn extent(&self) -> f64 {
        self.extent
    }

    fn find_inverted(&self, q: &[f64]) -> Option<Inverted> {
        self.bodies.iter().find_map(|body| {
            let elastic = body.elastic()?;
            let found = elastic.find_inverted(q)?;
            Some(Inverted {
                body: body.name.clone(),
                element: found.element,
                count: found.count,
                volume_ratio: found.volume_ratio,
                is_isotropic: elastic.materials()[found.region].can_handle_inversion(),
            })
        })
    }

    fn place(&self, coordinate: usize) -> Coordinate {
        Coordinate { coordinate, vertex: Some((coordinate as u32 / 3, coordinate % 3)) }
    }
}
