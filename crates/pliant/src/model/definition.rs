//! Definition of a finite-element model: bodies, forces and boundary conditions.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use super::builder::{Kinematics, ModelBuilder, ModelError};
use super::fixed::{Fixed, FixedId, FixedVertices};
use crate::contact::{ContactEnergy, PointContact, StepLimit};
use crate::damping::Damping;
use crate::force::{
    Conditions, ContactReport, Elastic, Force, NodalStates, Obstacle, StepMotion, StressState, SurfaceContact,
};
use crate::mass::MassMatrix;
use crate::material::{Material, YoungPoisson};
use crate::math::Vec3;
use crate::mesh::{Interpolation, Sets, VolumeMesh};
use crate::motion::NotFinite;
use crate::solver::Frames;
use crate::sparse::{BlockMatrix, BlockPattern};
use crate::system::{Coordinate, DampingKind, Inverted, State};

/// Bodies with their masses, forces and boundary conditions. The coordinates are the displacements of all nodes, body
/// after body.
///
/// The nodes of a deformable body are the vertices of its mesh. Those of a body in [affine
/// motion](super::Kinematics::Affine) are control nodes, from which its vertices are
/// [interpolated](ModelBody::interpolation). Where methods take or return numbers of vertices, they are those of nodes.
///
/// A model is a description, which a step does not change, so that several simulations can share one in an [`Arc`]. The
/// matrices and the memory of a simulation are in an [`Assembly`](super::Assembly), or in a
/// [`MatrixFree`](super::MatrixFree).
///
/// # Examples
///
/// ```
/// use pliant::prelude::*;
///
/// let cube = generate::block([0.1; 3], [2; 3], Cells::Tet6)?;
/// let foam = AnyLaw::new("neo-hookean", YoungPoisson { young: 1e5, poisson: 0.3 })?;
/// let model = Model::builder().body(Body::new(cube, foam, 200.0)).build()?;
/// assert_eq!(model.dim(), 3 * 27);
/// assert!((model.observe(&model.rest_state()).mass - 0.2).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) bodies: Vec<ModelBody>,
    /// Rest positions of the nodes of all bodies \[m\].
    pub(super) rest: Arc<[Vec3]>,
    /// Diagonal of the bounding box of the largest body \[m\].
    pub(super) extent: f64,
    pub(super) forces: Vec<Box<dyn Force>>,
    pub(super) mass: MassMatrix,
    /// Lumped mass of each node \[kg\].
    pub(super) node_mass: Vec<f64>,
    pub(super) damping: Damping,
    pub(super) gravity: Vec3,
    pub(super) loads: Vec<f64>,
    pub(super) fixed: FixedVertices,
    /// Pattern that forces are bound to.
    pub(super) pattern: Arc<BlockPattern>,
    /// True if the elasticity of bodies is in the pattern.
    pub(super) is_assembled: bool,
    pub(super) frames: Option<Arc<dyn Frames>>,
    pub(super) revision: u64,
}

/// Body of a model.
#[derive(Debug, Clone)]
pub struct ModelBody {
    pub(super) name: String,
    pub(super) mesh: Arc<VolumeMesh>,
    pub(super) densities: Vec<f64>,
    pub(super) kinematics: Kinematics,
    pub(super) nodes: Range<usize>,
    /// Elements between the nodes; `mesh` itself if its vertices are nodes.
    pub(super) node_mesh: Arc<VolumeMesh>,
    /// Vertices of `mesh` as weighted sums of the nodes of the model.
    pub(super) vertices: Interpolation,
    pub(super) elastic: Option<Elastic>,
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

    /// Returns the motions that the body can make.
    pub fn kinematics(&self) -> Kinematics {
        self.kinematics
    }

    /// Returns the range of its nodes in the model. They are the vertices of its mesh unless its motion is affine.
    pub fn nodes(&self) -> Range<usize> {
        self.nodes.clone()
    }

    /// Returns the mesh of the elements between its nodes. It is that of the body unless its motion is affine: then it
    /// has tetrahedra between the control nodes, one per region.
    pub fn node_mesh(&self) -> &VolumeMesh {
        &self.node_mesh
    }

    /// Returns the vertices of its mesh as weighted sums of the nodes of the model.
    pub fn interpolation(&self) -> &Interpolation {
        &self.vertices
    }

    /// Returns its part of a vector with three numbers per node of the model.
    pub fn part<'a>(&self, whole: &'a [f64]) -> &'a [f64] {
        &whole[3 * self.nodes.start..3 * self.nodes.end]
    }

    /// Returns the elastic force, or `None` without elasticity.
    pub fn elastic(&self) -> Option<&Elastic> {
        self.elastic.as_ref()
    }

    /// Returns stress and strain at the vertices of its mesh for displacements of the whole model, or `None` without
    /// elasticity.
    ///
    /// # Panics
    /// If there are not three displacements per node of the model.
    pub fn nodal_states(&self, u: &[f64]) -> Option<NodalStates> {
        let elastic = self.elastic.as_ref()?;
        Some(match self.kinematics {
            Kinematics::Deformable => elastic.nodal_states(&self.mesh, u),
            Kinematics::Affine => NodalStates::uniform(&self.mesh, &elastic.element_states(u)),
        })
    }

    /// Returns the mean stress and strain of each element of its mesh for displacements of the whole model, or `None`
    /// without elasticity.
    ///
    /// # Panics
    /// If there are not three displacements per node of the model.
    pub fn element_states(&self, u: &[f64]) -> Option<Vec<StressState>> {
        let states = self.elastic.as_ref()?.element_states(u);
        Some(match self.kinematics {
            Kinematics::Deformable => states,
            Kinematics::Affine => self.mesh.element_region().iter().map(|&region| states[region as usize]).collect(),
        })
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

    /// Returns the number of coordinates, three per node.
    pub fn dim(&self) -> usize {
        3 * self.rest.len()
    }

    /// Returns the state at rest.
    pub fn rest_state(&self) -> State {
        let mut history = vec![0.0; self.history_len()];
        for (force, range) in self.all_forces_with_history() {
            force.init_history(&mut history[range]);
        }
        State { history, ..State::new(self.dim()) }
    }

    /// Returns a checksum of the meshes.
    pub fn fingerprint(&self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        for body in &self.bodies {
            for x in body.mesh.vertices() {
                x.to_array().iter().for_each(|coordinate| sum.update(&coordinate.to_le_bytes()));
            }
            body.mesh.connectivity().iter().for_each(|vertex| sum.update(&vertex.to_le_bytes()));
            if body.kinematics == Kinematics::Affine {
                sum.update(b"affine");
            }
        }
        sum.finalize()
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

    /// Returns the rest positions of all nodes \[m\].
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Returns the rest positions of all nodes \[m\], to share them with forces instead of copying them.
    pub fn shared_rest(&self) -> &Arc<[Vec3]> {
        &self.rest
    }

    /// Returns the vertex sets of all deformable bodies, by the node numbers of the model.
    ///
    /// These include the vertices of face sets with other names. Sets of the same name are merged.
    pub fn vertex_sets(&self) -> Sets {
        let mut sets = Sets::new();
        for body in self.deformable_bodies() {
            let first = body.nodes.start as u32;
            for (name, numbers) in body.mesh.named_vertices() {
                sets.entry(name).or_default().extend(numbers.iter().map(|vertex| vertex + first));
            }
        }
        sets
    }

    /// Returns the vertices on the boundaries of all deformable bodies, by the node numbers of the model. For others,
    /// see [`ContactPoints::of_boundary`](crate::force::ContactPoints::of_boundary).
    pub fn surface_vertices(&self) -> Vec<u32> {
        let of_body = |body: &ModelBody| {
            let first = body.nodes.start as u32;
            body.mesh.boundary().vertices.into_iter().map(move |vertex| vertex + first)
        };
        self.deformable_bodies().flat_map(of_body).collect()
    }

    /// Iterates over the bodies whose vertices are nodes.
    pub(super) fn deformable_bodies(&self) -> impl Iterator<Item = &ModelBody> {
        self.bodies.iter().filter(|body| body.kinematics == Kinematics::Deformable)
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

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.rest.len()
    }

    /// Returns the sparsity pattern of `K`, which lacks elastic couplings in a [`MatrixFree`](super::MatrixFree).
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// Returns the lumped mass of each node \[kg\].
    pub fn node_masses(&self) -> &[f64] {
        &self.node_mass
    }

    /// Returns the mass matrix.
    pub fn mass(&self) -> &MassMatrix {
        &self.mass
    }

    /// Returns the damping.
    pub fn damping(&self) -> &Damping {
        &self.damping
    }

    /// Sets `α` and `β` of the damping, and keeps a custom matrix.
    pub fn set_rayleigh(&mut self, mass: f64, stiffness: f64) -> Result<(), crate::damping::DampingError> {
        self.damping.set_rayleigh(mass, stiffness)?;
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

    /// Returns the constant forces on nodes, three numbers each \[N\].
    pub fn loads(&self) -> &[f64] {
        &self.loads
    }

    /// Returns mutable access to the constant forces on nodes \[N\]. Forces on the vertices of a body in affine motion
    /// are added by [`Interpolation::add_transposed`].
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
        let id = self.fixed.push(fixed, &self.pattern)?;
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
        self.fixed.remove(id, &self.pattern)
    }

    /// Removes vertices from all Dirichlet conditions.
    pub fn release(&mut self, vertices: &[u32]) {
        self.fixed.release(vertices, &self.pattern);
        self.revision += 1;
    }

    /// Adds a force that couples only vertices that are coupled already: handles at single vertices, obstacles, loads.
    pub fn add_force(&mut self, mut force: impl Force + 'static) -> Result<(), ModelError> {
        let (found, expected) = (force.node_count(), self.node_count());
        if found != expected {
            return Err(ModelError::Force { found, expected });
        }
        let pattern = self.pattern.clone();
        let mut missing = None;
        force.cliques(&mut |clique| {
            let pairs = clique.iter().enumerate().flat_map(|(n, &a)| clique[n..].iter().map(move |&b| [a, b]));
            missing = missing.or(pairs.into_iter().find(|&[a, b]| pattern.slot(a, b).is_none()));
        });
        if let Some(vertices) = missing {
            return Err(ModelError::NotCoupled { vertices });
        }
        if force.history_len() > 0 {
            return Err(ModelError::History { variables: force.history_len() });
        }
        force.bind(&pattern);
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

    /// Applies an impulse \[N·s\] at a node.
    ///
    /// Only the velocity of this node changes, so that the momentum of the body changes by the impulse. A node without
    /// mass keeps its velocity.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn add_impulse(&self, state: &mut State, vertex: u32, impulse: Vec3) {
        let mass = self.node_mass[vertex as usize];
        for axis in 0..3 {
            let i = 3 * vertex as usize + axis;
            if mass > 0.0 && !self.fixed.fixed_mask()[i] {
                state.v[i] += impulse[axis] / mass;
            }
        }
        state.forget();
    }

    /// Sets the velocities of nodes to those of a rigid body, `v + ω × (x − center)`, except for fixed coordinates.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn set_velocity(&self, state: &mut State, nodes: Range<usize>, v: Vec3, omega: Vec3, center: Vec3) {
        for vertex in nodes {
            let x = self.rest[vertex] + Vec3::from_slice(&state.q[3 * vertex..]);
            let velocity = v + omega.cross(x - center);
            for axis in 0..3 {
                if !self.fixed.fixed_mask()[3 * vertex + axis] {
                    state.v[3 * vertex + axis] = velocity[axis];
                }
            }
        }
        state.forget();
    }

    /// Returns true if the pattern includes the elasticity of bodies, which is false for the model of a
    /// [`MatrixFree`](super::MatrixFree).
    pub(crate) fn is_assembled(&self) -> bool {
        self.is_assembled
    }

    /// Returns how the damping matrix depends on the state.
    pub fn damping_kind(&self) -> DampingKind {
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

    /// Returns a fraction of a motion from `u` along `direction`, beyond which a force has no finite energy; see
    /// [`Force::limit_step`].
    pub fn limit_step(
        &self,
        u: &[f64],
        direction: &mut [f64],
        conditions: &Conditions<'_>,
        end_progress: f64,
        by_islands: bool,
    ) -> StepLimit {
        let mut first = StepLimit { fraction: 1.0, bodies: None };
        for (force, range) in self.forces_with_history() {
            let limit = force.limit_step(u, direction, &conditions.of_part(range), end_progress, by_islands);
            if limit.fraction < first.fraction {
                first = limit;
            }
        }
        first
    }

    /// Returns the contact of the bodies, if they collide.
    pub fn contact(&self) -> Option<&SurfaceContact> {
        self.forces().find_map(|force| (force as &dyn Any).downcast_ref())
    }

    /// Returns the contact energy of the bodies, if they collide.
    pub fn contact_energy(&self) -> Option<&ContactEnergy> {
        self.contact().map(SurfaceContact::contact_energy)
    }

    /// Returns contact forces, gaps and statistics at a state, if bodies collide. Friction is that of sliding at the
    /// velocities of the state.
    pub fn contact_report(&self, state: &State) -> Option<ContactReport> {
        self.with_contact(state, |contact, conditions| contact.report(&state.q, conditions))
    }

    /// Returns each contact at a state as a point with its force, if bodies collide. Friction is that of sliding at the
    /// velocities of the state.
    pub fn point_contacts(&self, state: &State) -> Option<Vec<PointContact>> {
        self.with_contact(state, |contact, conditions| contact.point_contacts(&state.q, conditions))
    }

    /// Sets the history variables of a state such that colliders are where they are at its time.
    pub fn place_colliders(&self, state: &mut State) {
        let time = state.time;
        if let Some((_, range)) = self.contact_with_history() {
            state.history[range].fill(time);
        }
    }

    fn contact_with_history(&self) -> Option<(&SurfaceContact, Range<usize>)> {
        self.forces_with_history()
            .find_map(|(force, range)| Some(((force as &dyn Any).downcast_ref::<SurfaceContact>()?, range)))
    }

    /// Evaluates contact at a state, with friction at its velocities.
    fn with_contact<T>(
        &self,
        state: &State,
        evaluate: impl FnOnce(&SurfaceContact, &Conditions<'_>) -> T,
    ) -> Option<T> {
        /// Time over which velocities of colliders are difference quotients \[s\].
        const SPAN: f64 = 1e-6;
        let (contact, range) = self.contact_with_history()?;
        let here = state.conditions_here().of_part(range);
        let reached = here.history.first().copied().unwrap_or(state.time);
        let before = [reached - SPAN];
        let conditions = Conditions {
            time: reached,
            dt: SPAN,
            progress: 1.0,
            history: &before[..here.history.len()],
            motion: Some(StepMotion { start: &state.q, rate: 1.0, v_0: &state.v, lagged: &state.q, secant: 0.0 }),
            ..here
        };
        Some(evaluate(contact, &conditions))
    }

    /// Returns which coordinates are fixed.
    pub fn fixed_mask(&self) -> &[bool] {
        self.fixed.fixed_mask()
    }

    /// Sets fixed coordinates to their prescribed values at a time \[s\], which must be finite.
    pub fn prescribe(&self, time: f64, q: &mut [f64]) -> Result<(), NotFinite> {
        self.fixed.prescribe(time, &self.rest, q)
    }

    /// Checks that the motions and amplitudes of forces are finite at a time \[s\].
    pub fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.forces.iter().try_for_each(|force| force.check_time(time))
    }

    /// Returns the diagonal of the bounding box of the largest body \[m\].
    pub fn extent(&self) -> f64 {
        self.extent
    }

    /// Returns the most strongly inverted element whose law is not defined when inverted, if there is one.
    pub fn find_inverted(&self, u: &[f64]) -> Option<Inverted> {
        self.bodies.iter().find_map(|body| {
            let elastic = body.elastic()?;
            let found = elastic.find_inverted(u)?;
            Some(Inverted {
                body: body.name.clone(),
                element: found.element,
                count: found.count,
                volume_ratio: found.volume_ratio,
                is_isotropic: elastic.materials()[found.region].can_handle_inversion(),
            })
        })
    }

    /// Returns the vertex and axis of a coordinate; no vertex for the coordinates of control nodes.
    pub fn place(&self, coordinate: usize) -> Coordinate {
        let is_vertex = self.deformable_bodies().any(|body| body.nodes.contains(&(coordinate / 3)));
        Coordinate { coordinate, vertex: is_vertex.then_some((coordinate as u32 / 3, coordinate % 3)) }
    }

    /// Returns the number of history variables of all forces.
    pub fn history_len(&self) -> usize {
        self.all_forces().map(Force::history_len).sum()
    }

    /// Replaces the history variables at the start of a step by those at its end, at `u`.
    pub fn update_history(&self, u: &[f64], conditions: &Conditions<'_>, history: &mut [f64]) {
        for (force, range) in self.all_forces_with_history().filter(|(_, range)| !range.is_empty()) {
            force.update_history(u, &conditions.of_part(range.clone()), &mut history[range]);
        }
    }

    /// Returns the potential `V(u)`: the internal energy and that of gravity and constant loads. `None` if a force has
    /// no potential.
    pub fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> Option<f64> {
        if !self.all_forces().all(Force::has_energy) {
            return None;
        }
        let internal: f64 =
            self.all_forces_with_history().map(|(force, range)| force.energy(u, &conditions.of_part(range))).sum();
        Some(internal + conditions.load_factor * (self.gravity_energy(u) + self.load_energy(u)))
    }

    /// Computes `f(u)`, all forces that do not depend on velocities: `−∂V/∂u` where they have a potential. Returns the
    /// norm of the internal forces at free vertices.
    pub fn force(&self, u: &[f64], conditions: &Conditions<'_>, force: &mut [f64]) -> f64 {
        force.fill(0.0);
        for (term, range) in self.all_forces_with_history() {
            term.add_gradient(u, &conditions.of_part(range), force);
        }
        self.finish_force(conditions, force)
    }

    /// Converts gradients to forces: `f ← −(f − gravity − loads)`. Returns the norm of the gradients at free vertices.
    pub(super) fn finish_force(&self, conditions: &Conditions<'_>, force: &mut [f64]) -> f64 {
        let square = |(f, fixed): (&f64, &bool)| if *fixed { 0.0 } else { f * f };
        let scale = force.iter().zip(self.fixed.fixed_mask()).map(square).sum::<f64>().sqrt();
        let (force, _) = force.as_chunks_mut::<3>();
        let (loads, _) = self.loads.as_chunks::<3>();
        let gravity = (conditions.load_factor * self.gravity).to_array();
        for ((force, loads), mass) in force.iter_mut().zip(loads).zip(&self.node_mass) {
            for axis in 0..3 {
                force[axis] = mass * gravity[axis] + conditions.load_factor * loads[axis] - force[axis];
            }
        }
        scale
    }

    /// Iterates over the elastic forces of bodies, and then over all others.
    pub(super) fn all_forces(&self) -> impl Iterator<Item = &dyn Force> {
        let elastic = self.bodies.iter().filter_map(ModelBody::elastic).map(|force| force as &dyn Force);
        elastic.chain(self.forces.iter().map(AsRef::as_ref))
    }

    /// Iterates over all forces, each with the range of its history variables.
    pub(super) fn all_forces_with_history(&self) -> impl Iterator<Item = (&dyn Force, Range<usize>)> {
        with_history(0, self.all_forces())
    }

    /// Iterates over all forces except for the elasticity of bodies, each with the range of its history variables.
    pub(crate) fn forces_with_history(&self) -> impl Iterator<Item = (&dyn Force, Range<usize>)> {
        let elastic = self.bodies.iter().filter_map(ModelBody::elastic);
        with_history(elastic.map(Force::history_len).sum(), self.forces())
    }

    /// Replaces the rows and columns of fixed coordinates by those of a diagonal matrix.
    pub(crate) fn eliminate_fixed(&self, matrix: &mut BlockMatrix) {
        self.fixed.eliminate(matrix);
    }

    /// Replaces `b` by `((m + dα) M)⁻¹ b`, zero at fixed coordinates, if the mass is diagonal. Otherwise leaves `b`
    /// unchanged and returns false.
    pub(super) fn divide_by_mass(&self, m: f64, b: &mut [f64]) -> bool {
        if !self.mass.is_diagonal() {
            return false;
        }
        for (i, b) in b.iter_mut().enumerate() {
            *b = if self.fixed.fixed_mask()[i] { 0.0 } else { *b / (m * self.node_mass[i / 3]) };
        }
        true
    }

    /// Returns true if `D` has terms besides `αM`.
    pub(super) fn has_friction(&self) -> bool {
        self.damping.stiffness() != 0.0
            || self.damping.matrix().is_some()
            || self.forces.iter().any(|force| force.has_damping())
    }

    /// Adds the friction of forces to `friction`, and the damping force `D v̄` of moving surroundings to `drive`.
    pub(super) fn add_friction(
        &self,
        q: &[f64],
        conditions: &Conditions<'_>,
        v: &[f64],
        friction: &mut BlockMatrix,
        (drive, product): (&mut [f64], &mut [f64]),
    ) {
        if !self.forces.iter().any(|force| force.has_damping()) {
            return;
        }
        // Forces give `D (v − v̄)`; its difference from `D v` is the drive `D v̄`.
        product.fill(0.0);
        for (force, range) in self.forces_with_history().filter(|(force, _)| force.has_damping()) {
            let conditions = conditions.of_part(range);
            force.add_damping(q, &conditions, v, friction);
            force.add_dissipation_gradient(q, &conditions, v, product);
        }
        drive.iter_mut().zip(&*product).for_each(|(drive, friction)| *drive -= friction);
        friction.mul(v, product);
        drive.iter_mut().zip(&*product).for_each(|(drive, friction)| *drive += friction);
    }
}

/// Returns forces with the ranges of their history variables, which begin at `start`.
fn with_history<'a>(
    mut start: usize,
    forces: impl Iterator<Item = &'a dyn Force>,
) -> impl Iterator<Item = (&'a dyn Force, Range<usize>)> {
    forces.map(move |force| {
        let range = start..start + force.history_len();
        start = range.end;
        (force, range)
    })
}
