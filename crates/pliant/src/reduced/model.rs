//! Reduced model as a [`System`].

use std::ops::Range;

use super::basis::{Basis, nearest_placement};
use super::elasticity::{Projection, ReducedElasticity};
use super::external::External;
use super::frame::{Frame, Placement, RIGID};
use super::reduction::{Reduction, ReductionError};
use crate::force::{Conditions, Force};
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::motion::NotFinite;
use crate::solver::DenseMatrix;
use crate::solver::vector::norm;
use crate::system::{Combination, DampingKind, Definiteness, Linearization, PreviousStep, State, System};

/// Reduced model with the coordinates `q` of a basis, `u = U q`.
///
/// - Elastic forces are those of the [`Reduction`]. Gravity, loads, handles, springs and obstacles act through `Uᵀf`.
///   Fixed vertices stay at rest.
/// - A free body deforms in a floating frame that moves with it. The first six coordinates are those of the frame.
///   [`follow`](Self::follow) must be called after each step, as [`FloatingFrame`](super::FloatingFrame) does.
#[derive(Debug, Clone)]
pub struct ReducedModel {
    model: Model,
    basis: Basis,
    omega_squared: Vec<f64>,
    elasticity: ReducedElasticity,
    /// `None` if forces may act on other vertices than before.
    external: Option<External>,
    frame: Option<Frame>,
    /// `UᵀM` times the three unit accelerations.
    weight: [Vec<f64>; 3],
    /// `Uᵀ` times the loads; `None` if they may have changed, empty without loads.
    loads: Option<Vec<f64>>,
    /// `UᵀD̄U` of the custom damping matrix.
    constant_damping: Option<DenseMatrix>,
    mass: DenseMatrix,
    /// Last assembled matrix.
    matrix: DenseMatrix,
    /// Memory of matrices that are not in use.
    spare: Vec<DenseMatrix>,
    /// Work vector of gravity and loads for their energy.
    load: Vec<f64>,
    inner_stiffness: DenseMatrix,
    projection: Projection,
    /// Displacement of the size of the body, in mass-weighted coordinates.
    extent: f64,
    revision: u64,
    fingerprint: u32,
}

/// Damping matrix of a reduced model.
#[derive(Debug, Clone)]
pub struct ReducedDamping {
    /// Coefficient `α` of `αM`.
    mass: f64,
    /// All other terms.
    friction: Option<DenseMatrix>,
}

/// Number of values of a placement.
const PLACEMENT: usize = 12;

impl ReducedModel {
    /// Creates a reduced model from a model and its reduction.
    pub fn new(model: Model, reduction: Reduction) -> Result<Self, ReductionError> {
        reduction.check(&model)?;
        if model.contact().is_some() {
            return Err(ReductionError::Contact);
        }
        let Reduction { basis, omega_squared, elasticity, is_free, .. } = reduction;
        if is_free && model.damping().matrix().is_some() {
            return Err(ReductionError::FreeDamping);
        }
        let frame = is_free.then(|| Frame::new(&model, &basis));
        let mut sum = crc32fast::Hasher::new();
        for number in omega_squared.iter().chain(basis.columns().iter().flatten()) {
            sum.update(&number.to_le_bytes());
        }
        let fingerprint = sum.finalize();
        let r = basis.size();
        let dim = r + if is_free { RIGID } else { 0 };
        let weight = Vec3::AXES.map(|axis| {
            let field: Vec<f64> = (0..model.node_count()).flat_map(|_| axis.to_array()).collect();
            basis.project(model.mass(), &field)
        });
        let constant_damping = model.damping().matrix().map(|damping| {
            let mut projected = DenseMatrix::zero(r);
            let mut product = vec![0.0; basis.dim()];
            for (j, column) in basis.columns().iter().enumerate() {
                damping.mul(column, &mut product);
                projected.values_mut()[j * r..(j + 1) * r].copy_from_slice(&basis.transpose_mul(&product));
            }
            projected
        });
        let extent = model.extent() * model.node_masses().iter().sum::<f64>().sqrt();
        let mut mass = DenseMatrix::zero(dim);
        match &frame {
            Some(frame) => frame.set_mass(&mut mass),
            None => (0..dim).for_each(|i| mass[(i, i)] = 1.0),
        }
        Ok(Self {
            external: None,
            model,
            basis,
            omega_squared,
            elasticity,
            frame,
            weight,
            loads: None,
            constant_damping,
            mass,
            matrix: DenseMatrix::zero(dim),
            spare: Vec::new(),
            load: Vec::new(),
            inner_stiffness: DenseMatrix::zero(r),
            projection: Projection::default(),
            extent,
            revision: 0,
            fingerprint,
        })
    }

    /// Returns the full model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns mutable access to the full model, to change loads, gravity or Rayleigh damping, or to add handles.
    ///
    /// Materials and Dirichlet conditions are those of the reduction, and changing them has no effect.
    pub fn model_mut(&mut self) -> &mut Model {
        self.loads = None;
        self.external = None;
        self.revision += 1;
        &mut self.model
    }

    /// Returns mutable access to the forces of one type, for instance [`Handles`](crate::force::Handles), to move them.
    ///
    /// They must act on the same vertices. Vertices of a new handle are ignored until the next
    /// [`model_mut`](Self::model_mut).
    pub fn forces_mut_of<F: Force>(&mut self) -> impl Iterator<Item = &mut F> {
        self.model.forces_mut_of()
    }

    /// Returns the basis.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Returns `ω²` \[1/s²\] of each basis vector, at rest.
    pub fn omega_squared(&self) -> &[f64] {
        &self.omega_squared
    }

    /// Returns the reduced elastic forces.
    pub fn elasticity(&self) -> &ReducedElasticity {
        &self.elasticity
    }

    /// Returns the position and orientation of a free body, or `None` if it is fixed.
    pub fn placement(&self) -> Option<Placement> {
        self.frame.as_ref().map(|frame| frame.placement)
    }

    /// Returns the state at rest.
    pub fn rest_state(&self) -> State {
        State { history: self.model.rest_state().history, ..State::new(self.dim()) }
    }

    /// Updates the floating frame of a free body after a step of `dt` \[s\]. Without a frame it does nothing.
    pub fn follow(&mut self, state: &mut State, dt: f64) {
        if let Some(frame) = &mut self.frame {
            frame.follow(state, dt);
            frame.set_mass(&mut self.mass);
            self.revision += 1;
        }
    }

    /// Returns the displacements and velocities of all vertices.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn expand(&self, state: &State) -> State {
        let Some(frame) = &self.frame else {
            return State {
                time: state.time,
                q: self.basis.expand(&state.q),
                v: self.basis.expand(&state.v),
                a: state.a.as_ref().map(|a| self.basis.expand(a)),
                previous: state.previous.as_ref().map(|previous| PreviousStep {
                    dt: previous.dt,
                    dq: self.basis.expand(&previous.dq),
                    dv: self.basis.expand(&previous.dv),
                }),
                history: state.history.clone(),
            };
        };
        let (mut u, mut v) = (self.basis.expand(&state.q[RIGID..]), self.basis.expand(&state.v[RIGID..]));
        let ((a, theta), (linear, angular)) = (frame.rigid(&state.q), frame.rigid(&state.v));
        let start = self.basis.expand(&frame.start);
        let Placement { center, rotation } = frame.placement;
        let numbers = u.chunks_exact_mut(3).zip(v.chunks_exact_mut(3)).zip(start.chunks_exact(3));
        for (((u, v), start), rest) in numbers.zip(self.model.rest()) {
            let x0 = *rest - frame.rest_center;
            let start = x0 + Vec3::from_slice(start);
            let place = center + a + rotation * (x0 + Vec3::from_slice(u) + theta.cross(start));
            let velocity = linear + rotation * (angular.cross(start) + Vec3::from_slice(v));
            u.copy_from_slice(&(place - *rest).to_array());
            v.copy_from_slice(&velocity.to_array());
        }
        State { time: state.time, q: u, v, history: state.history.clone(), ..State::default() }
    }

    /// Returns the state closest to displacements and velocities of all vertices in the mass norm.
    ///
    /// Momentum is conserved. Angular momentum is conserved except for the displacements outside of the span of the
    /// basis.
    ///
    /// # Panics
    /// If the state is not one of the full model.
    pub fn project(&mut self, full: &State) -> State {
        let mut state = State { time: full.time, history: full.history.clone(), ..State::new(self.dim()) };
        let Some(frame) = &mut self.frame else {
            state.q = self.basis.project(self.model.mass(), &full.q);
            state.v = self.basis.project(self.model.mass(), &full.v);
            return state;
        };
        let (placement, seen) = nearest_placement(&self.model, &full.q);
        let q = self.basis.project(self.model.mass(), &seen);
        let mut momentum = vec![0.0; full.v.len()];
        self.model.mass().mul(&full.v, &mut momentum);
        let u = self.basis.expand(&q);
        let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
        for ((p, u), rest) in momentum.chunks_exact_mut(3).zip(u.chunks_exact(3)).zip(self.model.rest()) {
            let own = Vec3::from_slice(p);
            linear += own;
            let within = *rest - frame.rest_center + Vec3::from_slice(u);
            angular += (placement.rotation * within).cross(own);
            p.copy_from_slice(&(placement.rotation.transpose() * own).to_array());
        }
        let inner = self.basis.transpose_mul(&momentum);
        frame.place(placement, &q, (linear, angular, inner), &mut state);
        frame.set_mass(&mut self.mass);
        self.revision += 1;
        state
    }

    /// Returns a checksum of the basis.
    pub(crate) fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    /// Computes `force − (D − αM − βK) v` and adds the drive of moving obstacles: all friction except for Rayleigh
    /// damping.
    pub(super) fn add_friction(&mut self, q: &[f64], conditions: &Conditions<'_>, v: &[f64], force: &mut [f64]) {
        if self.constant_damping.is_none() && !self.model.forces().any(Force::has_damping) {
            return;
        }
        let mut friction = self.take_matrix();
        self.add_other_friction(q, conditions, v, (&mut friction, force));
        let n = self.dim();
        for (column, v) in friction.values().chunks_exact(n).zip(v) {
            force.iter_mut().zip(column).for_each(|(force, friction)| *force -= friction * v);
        }
        self.spare.push(friction);
    }

    /// Adds all friction except for Rayleigh damping.
    fn add_other_friction(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        v: &[f64],
        (friction, drive): (&mut DenseMatrix, &mut [f64]),
    ) {
        if let Some(constant) = &self.constant_damping {
            let entries = friction.values_mut().iter_mut();
            entries.zip(constant.values()).for_each(|(friction, constant)| *friction += constant);
        }
        if self.model.forces().any(Force::has_damping) {
            let external = self.external.get_or_insert_with(|| External::new(&self.model, &self.basis));
            external.add_damping(&self.model, self.frame.as_ref(), [q, v], conditions, (friction, drive));
        }
    }

    /// Returns a zero matrix.
    fn take_matrix(&mut self) -> DenseMatrix {
        let mut matrix = self.spare.pop().unwrap_or_else(|| DenseMatrix::zero(self.mass.size()));
        matrix.values_mut().fill(0.0);
        matrix
    }

    /// Returns the elastic energy \[J\] of the reduced model in a state.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn elastic_energy(&mut self, state: &State) -> f64 {
        self.elasticity.energy(&state.q[state.q.len() - self.basis.size()..])
    }

    /// Returns the elastic energy \[J\] at reduced coordinates.
    ///
    /// # Panics
    /// If there is not one coordinate per basis vector.
    pub fn internal_energy(&mut self, q: &[f64]) -> f64 {
        assert_eq!(q.len(), self.basis.size(), "expected one coordinate per basis vector");
        self.elasticity.energy(q)
    }

    /// Computes the gradient of the [elastic energy](Self::internal_energy).
    ///
    /// # Panics
    /// If there is not one number per basis vector.
    pub fn internal_force(&mut self, q: &[f64], force: &mut [f64]) {
        assert!(q.len() == self.basis.size() && force.len() == q.len(), "expected one number per basis vector");
        self.elasticity.force(q, force);
    }

    /// Returns the second derivative of the [elastic energy](Self::internal_energy).
    ///
    /// # Panics
    /// If there is not one coordinate per basis vector.
    pub fn internal_stiffness(&mut self, q: &[f64]) -> DenseMatrix {
        assert_eq!(q.len(), self.basis.size(), "expected one coordinate per basis vector");
        let (mut force, mut stiffness) = (vec![0.0; q.len()], DenseMatrix::zero(q.len()));
        let projection = &mut self.projection;
        self.elasticity.force_and_stiffness(q, Definiteness::Exact, &mut force, &mut stiffness, projection);
        stiffness
    }

    /// Returns a state with the placement of the frame appended, for [`restore`](Self::restore). The state must be one
    /// after [`follow`](Self::follow).
    pub fn save(&self, state: &State) -> State {
        let mut saved = state.clone();
        if let Some(frame) = &self.frame {
            saved.q.extend(frame.placement.center.to_array());
            saved.q.extend(frame.placement.rotation.to_cols_array());
            saved.v.resize(saved.q.len(), 0.0);
            saved.forget();
        }
        saved
    }

    /// Returns the number of coordinates of a saved state.
    pub fn saved_len(&self) -> usize {
        self.dim() + if self.frame.is_some() { PLACEMENT } else { 0 }
    }

    /// Restores a saved state.
    ///
    /// # Panics
    /// If it does not have [`saved_len`](Self::saved_len) coordinates.
    pub fn restore(&mut self, mut saved: State) -> State {
        assert_eq!(saved.q.len(), self.saved_len(), "expected a saved state");
        if let Some(frame) = &mut self.frame {
            let dim = saved.q.len() - PLACEMENT;
            let placement = saved.q.split_off(dim);
            saved.v.truncate(dim);
            saved.forget();
            frame.placement.center = Vec3::from_slice(&placement);
            frame.placement.rotation = Mat3::from_cols_slice(&placement[3..]);
            frame.start.copy_from_slice(&saved.q[RIGID..]);
            frame.set_mass(&mut self.mass);
            self.revision += 1;
        }
        saved
    }

    /// Adds gravity and loads to a force.
    fn add_loads(&mut self, factor: f64, force: &mut [f64]) {
        let gravity = self.model.gravity();
        let loads = self.loads.get_or_insert_with(|| {
            let has_loads = self.model.loads().iter().any(|load| *load != 0.0);
            if has_loads { self.basis.transpose_mul(self.model.loads()) } else { Vec::new() }
        });
        if let Some(frame) = &self.frame {
            // Gravity neither rotates nor deforms.
            let [of_a, of_theta] = frame.scale();
            for axis in 0..3 {
                force[axis] += factor * of_a * frame.mass() * gravity[axis];
            }
            if !loads.is_empty() {
                let start = self.basis.expand(&frame.start);
                let mut turned = self.model.loads().to_vec();
                for ((load, u), rest) in turned.chunks_exact_mut(3).zip(start.chunks_exact(3)).zip(self.model.rest()) {
                    let own = Vec3::from_slice(load);
                    let inside = frame.placement.rotation.transpose() * own;
                    let torque = (*rest - frame.rest_center + Vec3::from_slice(u)).cross(inside);
                    for axis in 0..3 {
                        force[axis] += factor * of_a * own[axis];
                        force[3 + axis] += factor * of_theta * torque[axis];
                    }
                    load.copy_from_slice(&inside.to_array());
                }
                let inner = self.basis.transpose_mul(&turned);
                force[RIGID..].iter_mut().zip(inner).for_each(|(force, load)| *force += factor * load);
            }
            return;
        }
        for (axis, weight) in self.weight.iter().enumerate() {
            let g = factor * gravity[axis];
            force.iter_mut().zip(weight).for_each(|(force, weight)| *force += g * weight);
        }
        force.iter_mut().zip(loads).for_each(|(force, load)| *force += factor * *load);
    }

    /// Converts gradients to forces, and adds gravity and loads. Returns the norm of the gradients.
    fn finish_force(&mut self, conditions: &Conditions<'_>, force: &mut [f64]) -> f64 {
        let scale = norm(force);
        force.iter_mut().for_each(|force| *force = -*force);
        self.add_loads(conditions.load_factor, force);
        scale
    }

    fn has_friction(&self) -> bool {
        self.model.damping().stiffness() != 0.0
            || self.constant_damping.is_some()
            || self.model.forces().any(Force::has_damping)
    }
}

impl System for ReducedModel {
    type Stiffness = DenseMatrix;
    type Damping = ReducedDamping;
    type Matrix = DenseMatrix;

    fn dim(&self) -> usize {
        self.mass.size()
    }

    fn energy(&mut self, q: &[f64], conditions: &Conditions<'_>) -> Option<f64> {
        if !self.model.forces().all(Force::has_energy) {
            return None;
        }
        let elastic = self.elasticity.energy(&q[q.len() - self.basis.size()..]);
        let external = self.external.get_or_insert_with(|| External::new(&self.model, &self.basis));
        let others = external.energy(&self.model, self.frame.as_ref(), q, conditions);
        let mut load = std::mem::take(&mut self.load);
        load.clear();
        load.resize(q.len(), 0.0);
        self.add_loads(conditions.load_factor, &mut load);
        let of_loads: f64 = load.iter().zip(q).map(|(load, q)| load * q).sum();
        self.load = load;
        Some(elastic + others - of_loads)
    }

    fn force(&mut self, q: &[f64], conditions: &Conditions<'_>, force: &mut [f64]) -> f64 {
        force.fill(0.0);
        let first = force.len() - self.basis.size();
        self.elasticity.force(&q[first..], &mut force[first..]);
        let external = self.external.get_or_insert_with(|| External::new(&self.model, &self.basis));
        external.add_force(&self.model, self.frame.as_ref(), q, conditions, force);
        self.finish_force(conditions, force)
    }

    fn linearize(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        force: &mut [f64],
    ) -> Linearization<DenseMatrix> {
        let (n, r) = (self.dim(), self.basis.size());
        let first = n - r;
        let mut stiffness = self.take_matrix();
        force.fill(0.0);
        if first == 0 {
            self.elasticity.force_and_stiffness(q, definiteness, force, &mut stiffness, &mut self.projection);
        } else {
            let inner = &mut self.inner_stiffness;
            let inner_force = &mut force[first..];
            self.elasticity.force_and_stiffness(&q[first..], definiteness, inner_force, inner, &mut self.projection);
            for (j, column) in inner.values().chunks_exact(r).enumerate() {
                let start = (first + j) * n + first;
                stiffness.values_mut()[start..start + r].copy_from_slice(column);
            }
        }
        let (model, frame) = (&self.model, self.frame.as_ref());
        let external = self.external.get_or_insert_with(|| External::new(&self.model, &self.basis));
        external.add_force_and_stiffness(model, frame, q, conditions, definiteness, (force, &mut stiffness));
        let scale = self.finish_force(conditions, force);
        Linearization { stiffness, scale }
    }

    fn damping(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        v: &[f64],
        stiffness: Option<&DenseMatrix>,
        drive: &mut [f64],
    ) -> ReducedDamping {
        let (alpha, beta) = (self.model.damping().mass(), self.model.damping().stiffness());
        if !self.has_friction() {
            return ReducedDamping { mass: alpha, friction: None };
        }
        if beta != 0.0 && stiffness.is_none() {
            let mut force = std::mem::take(&mut self.load);
            force.resize(q.len(), 0.0);
            let evaluated = self.linearize(q, conditions, Definiteness::Projected, &mut force).stiffness;
            self.load = force;
            let damping = self.damping(q, conditions, v, Some(&evaluated), drive);
            self.recycle_stiffness(evaluated);
            return damping;
        }
        let mut friction = self.take_matrix();
        if let Some(stiffness) = stiffness {
            let entries = friction.values_mut().iter_mut();
            entries.zip(stiffness.values()).for_each(|(friction, stiffness)| *friction = beta * stiffness);
        }
        self.add_other_friction(q, conditions, v, (&mut friction, drive));
        ReducedDamping { mass: alpha, friction: Some(friction) }
    }

    fn mul(&mut self, combination: Combination<'_, Self>, x: &[f64], y: &mut [f64]) {
        let n = self.dim();
        y.fill(0.0);
        for (j, x) in x.iter().enumerate() {
            self.for_entries(combination, j * n..(j + 1) * n, |i, entry| y[i] += entry * x);
        }
    }

    fn assemble(&mut self, combination: Combination<'_, Self>) {
        let mut matrix = std::mem::replace(&mut self.matrix, DenseMatrix::zero(0));
        let entries = matrix.values_mut();
        self.for_entries(combination, 0..entries.len(), |i, entry| entries[i] = entry);
        self.matrix = matrix;
        self.revision += 1;
    }

    fn matrix(&self) -> &DenseMatrix {
        &self.matrix
    }

    fn recycle_stiffness(&mut self, stiffness: DenseMatrix) {
        self.spare.push(stiffness);
    }

    fn recycle_damping(&mut self, damping: ReducedDamping) {
        self.spare.extend(damping.friction);
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn divide(&mut self, combination: Combination<'_, Self>, b: &mut [f64]) -> bool {
        let has_friction = combination.damping.is_some_and(|(_, damping)| damping.friction.is_some());
        if combination.stiffness.is_some() || has_friction || self.frame.is_some() {
            return false;
        }
        let m = total_mass(combination);
        b.iter_mut().for_each(|b| *b /= m);
        true
    }

    fn history_len(&self) -> usize {
        self.model.history_len()
    }

    fn update_history(&mut self, q: &[f64], conditions: &Conditions<'_>, history: &mut [f64]) {
        let state = State { q: q.to_vec(), ..State::new(q.len()) };
        self.model.update_history(&self.expand(&state).q, conditions, history);
    }

    fn damping_kind(&self) -> DampingKind {
        let damping = self.model.damping();
        if damping.stiffness() != 0.0 {
            DampingKind::FollowsStiffness
        } else if self.model.forces().any(Force::has_damping) {
            DampingKind::Varying
        } else if damping.is_zero() {
            DampingKind::None
        } else {
            DampingKind::Constant
        }
    }

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.model.check_time(time)
    }

    fn extent(&self) -> f64 {
        self.extent
    }
}

impl ReducedModel {
    /// Calls `visit` with a range of the entries of `mM + dD + kK`, numbered from zero.
    fn for_entries(&self, combination: Combination<'_, Self>, range: Range<usize>, mut visit: impl FnMut(usize, f64)) {
        let m = total_mass(combination);
        let part = |matrix: &'_ DenseMatrix, i: usize| matrix.values()[i];
        let friction = combination.damping.and_then(|(d, damping)| Some((d, damping.friction.as_ref()?)));
        for (i, entry) in range.enumerate() {
            let stiffness = combination.stiffness.map_or(0.0, |(k, stiffness)| k * part(stiffness, entry));
            let friction = friction.map_or(0.0, |(d, friction)| d * part(friction, entry));
            visit(i, m * part(&self.mass, entry) + stiffness + friction);
        }
    }
}

/// Returns `m + dα`.
fn total_mass(combination: Combination<'_, ReducedModel>) -> f64 {
    combination.mass + combination.damping.map_or(0.0, |(d, damping)| d * damping.mass)
}
