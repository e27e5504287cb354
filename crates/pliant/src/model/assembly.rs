//! Workspace of a model: its matrices, and the memory of its evaluation.

use std::sync::Arc;

use rayon::prelude::*;

use super::Model;
use crate::force::Conditions;
use crate::motion::NotFinite;
use crate::solver::Operator;
use crate::sparse::{BlockMatrix, LowRank};
use crate::system::{
    Combination, Coordinate, DampingKind, Definiteness, Inverted, Linearization, State, StepLimit, System,
};

/// [`Model`] with the matrices of its linearization: the [`System`] that integrators step.
///
/// ```
/// use pliant::integrator::{BackwardEuler, Integrator};
/// use pliant::material::{AnyLaw, YoungPoisson};
/// use pliant::math::Vec3;
/// use pliant::mesh::{Cells, generate};
/// use pliant::model::{Assembly, Body, Model};
/// use pliant::solver::Direct;
///
/// let mesh = generate::block([1.0, 0.2, 0.2], [5, 1, 1], Cells::Tet5)?;
/// let rubber = AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e6, poisson: 0.4 })?;
/// let model = Model::builder().body(Body::new(mesh, rubber, 1000.0)).gravity(-9.81 * Vec3::Y).build()?;
/// let mut state = model.rest_state();
/// let mut assembly = Assembly::new(model);
/// BackwardEuler::default().step(&mut assembly, &mut Direct::default(), &mut state, 0.01)?;
/// assert!((state.v[1] + 9.81 * 0.01).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Assembly {
    model: Arc<Model>,
    operator: Operator,
    /// Memory of matrices that are not in use.
    spare: Vec<BlockMatrix>,
    spare_stiffness: Vec<StiffnessMatrix>,
    product: Vec<f64>,
    /// Number of matrices assembled so far.
    assembled: u64,
}

/// Stiffness matrix `K(u)` of a model.
#[derive(Debug, Clone)]
pub struct StiffnessMatrix {
    matrix: BlockMatrix,
    /// Couplings outside of the pattern.
    varying: LowRank,
    u: Vec<f64>,
}

impl StiffnessMatrix {
    /// Returns the part with the pattern of the model.
    pub fn matrix(&self) -> &BlockMatrix {
        &self.matrix
    }

    /// Returns the part that couples vertices outside of the pattern.
    pub fn varying(&self) -> &LowRank {
        &self.varying
    }

    /// Returns the displacements at which the matrix was evaluated.
    pub fn displacements(&self) -> &[f64] {
        &self.u
    }
}

/// Damping matrix `D(u, v)` of a model.
#[derive(Debug, Clone)]
pub struct DampingMatrix {
    /// Coefficient `α` of `αM`.
    mass: f64,
    /// All other terms.
    friction: Option<BlockMatrix>,
}

impl Assembly {
    /// Creates a workspace for a model.
    pub fn new(model: impl Into<Arc<Model>>) -> Self {
        let mut model = model.into();
        if !model.is_assembled {
            Arc::make_mut(&mut model).bind();
        }
        let mut operator = Operator::new(BlockMatrix::zero(model.pattern.clone()));
        operator.frames.clone_from(&model.frames);
        let product = vec![0.0; model.dim()];
        Self { model, operator, spare: Vec::new(), spare_stiffness: Vec::new(), product, assembled: 0 }
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the model, to share it with another workspace.
    pub fn shared_model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Returns mutable access to the model, to change its loads, materials and boundary conditions between steps. A
    /// model that is shared is copied first.
    pub fn model_mut(&mut self) -> &mut Model {
        Arc::make_mut(&mut self.model)
    }

    /// Returns the state at rest.
    pub fn rest_state(&self) -> State {
        self.model.rest_state()
    }

    fn take_matrix(&mut self) -> BlockMatrix {
        let mut matrix = self.spare.pop().unwrap_or_else(|| BlockMatrix::zero(self.model.pattern.clone()));
        matrix.clear();
        matrix
    }
}

impl System for Assembly {
    type Stiffness = StiffnessMatrix;
    type Damping = DampingMatrix;
    type Matrix = Operator;

    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn energy(&mut self, q: &[f64], conditions: &Conditions<'_>) -> Option<f64> {
        self.model.energy(q, conditions)
    }

    fn force(&mut self, q: &[f64], conditions: &Conditions<'_>, force: &mut [f64]) -> f64 {
        self.model.force(q, conditions, force)
    }

    fn linearize(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        force: &mut [f64],
    ) -> Linearization<StiffnessMatrix> {
        let mut stiffness = self.spare_stiffness.pop().unwrap_or_else(|| StiffnessMatrix {
            matrix: BlockMatrix::zero(self.model.pattern.clone()),
            varying: LowRank::default(),
            u: vec![0.0; q.len()],
        });
        stiffness.matrix.clear();
        stiffness.varying.clear();
        stiffness.u.copy_from_slice(q);
        force.fill(0.0);
        for (term, range) in self.model.all_forces_with_history() {
            let conditions = conditions.of_part(range);
            term.add_gradient_and_stiffness(q, &conditions, definiteness, force, &mut stiffness.matrix);
            term.add_varying_stiffness(q, &conditions, definiteness, &mut stiffness.varying);
        }
        let scale = self.model.finish_force(conditions, force);
        Linearization { stiffness, scale }
    }

    /// Stiffness-proportional damping is that of the couplings in the pattern: contacts are not damped by it.
    fn damping(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        v: &[f64],
        stiffness: Option<&StiffnessMatrix>,
        drive: &mut [f64],
    ) -> DampingMatrix {
        let mass = self.model.damping.mass();
        if !self.model.has_friction() {
            return DampingMatrix { mass, friction: None };
        }
        let mut friction = self.take_matrix();
        self.model.add_friction(q, conditions, v, &mut friction, (drive, &mut self.product));
        match stiffness {
            None if self.model.damping.stiffness() != 0.0 => {
                let mut force = std::mem::take(&mut self.product);
                let evaluated = self.linearize(q, conditions, Definiteness::Projected, &mut force).stiffness;
                self.model.damping.add_friction_to(&evaluated.matrix, &mut friction);
                self.recycle_stiffness(evaluated);
                self.product = force;
            }
            None => self.model.damping.add_matrix_to(&mut friction),
            Some(stiffness) => self.model.damping.add_friction_to(&stiffness.matrix, &mut friction),
        }
        DampingMatrix { mass, friction: Some(friction) }
    }

    fn mul(&mut self, combination: Combination<'_, Self>, x: &[f64], y: &mut [f64]) {
        let mut sum = Sum { x, y: &mut *y, product: &mut self.product, is_empty: true };
        if let Some((k, stiffness)) = combination.stiffness {
            sum.add(k, |x, y| stiffness.matrix.mul(x, y));
        }
        sum.add(combination.mass + alpha(combination.damping), |x, y| self.model.mass.mul(x, y));
        if let Some((d, friction)) = friction(combination.damping) {
            sum.add(d, |x, y| friction.mul(x, y));
        }
        sum.finish();
        if let Some((k, stiffness)) = combination.stiffness {
            stiffness.varying.add_product(k, x, y);
        }
    }

    fn assemble(&mut self, combination: Combination<'_, Self>) {
        /// Number of blocks per task.
        const BLOCKS: usize = 4096;
        let model = &*self.model;
        let matrix = &mut self.operator.matrix;
        let m = combination.mass + alpha(combination.damping);
        let stiffness = combination.stiffness.map(|(k, stiffness)| (k, stiffness.matrix.values()));
        let friction = friction(combination.damping).map(|(d, friction)| (d, friction.values()));
        let mass = (Arc::ptr_eq(model.mass.pattern(), matrix.pattern())).then(|| model.mass.values());
        matrix.values_mut().par_chunks_mut(9 * BLOCKS).enumerate().for_each(|(chunk, values)| {
            let start = 9 * BLOCKS * chunk;
            let stiffness = stiffness.map(|(k, all)| (k, &all[start..start + values.len()]));
            let friction = friction.map(|(d, all)| (d, &all[start..start + values.len()]));
            match (stiffness, friction) {
                (None, None) => values.fill(0.0),
                (Some((c, part)), None) | (None, Some((c, part))) => {
                    values.iter_mut().zip(part).for_each(|(value, part)| *value = c * part);
                }
                (Some((k, stiffness)), Some((d, friction))) => {
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
        if mass.is_none() {
            model.mass.add_to(m, matrix);
        }
        model.fixed.eliminate(matrix);
        self.operator.low_rank.clear();
        if let Some((k, stiffness)) = combination.stiffness {
            self.operator.u.copy_from_slice(&stiffness.u);
            self.operator.low_rank.add_scaled(k, &stiffness.varying);
            self.operator.low_rank.eliminate(model.fixed.fixed_mask());
        }
        self.assembled += 1;
    }

    fn matrix(&self) -> &Operator {
        &self.operator
    }

    fn recycle_stiffness(&mut self, stiffness: StiffnessMatrix) {
        self.spare_stiffness.push(stiffness);
    }

    fn recycle_damping(&mut self, damping: DampingMatrix) {
        self.spare.extend(damping.friction);
    }

    fn revision(&self) -> u64 {
        self.model.revision + self.assembled
    }

    fn divide(&mut self, combination: Combination<'_, Self>, b: &mut [f64]) -> bool {
        if combination.stiffness.is_some() || friction(combination.damping).is_some() {
            return false;
        }
        self.model.divide_by_mass(combination.mass + alpha(combination.damping), b)
    }

    fn damping_kind(&self) -> DampingKind {
        self.model.damping_kind()
    }

    fn history_len(&self) -> usize {
        self.model.history_len()
    }

    fn update_history(&mut self, q: &[f64], conditions: &Conditions<'_>, history: &mut [f64]) {
        self.model.update_history(q, conditions, history);
    }

    fn is_lagged(&self) -> bool {
        self.model.forces.iter().any(|force| force.is_lagged())
    }

    fn is_moved(&self) -> bool {
        self.model.forces.iter().any(|force| force.is_moved())
    }

    fn add_gradient_of_motion(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        end_progress: f64,
        gradient: &mut [f64],
    ) {
        for (force, range) in self.model.forces_with_history() {
            force.add_gradient_of_motion(q, &conditions.of_part(range), end_progress, gradient);
        }
    }

    fn limits_steps(&self) -> bool {
        self.model.forces.iter().any(|force| force.limits_steps())
    }

    fn limit_step(
        &mut self,
        q: &[f64],
        direction: &mut [f64],
        conditions: &Conditions<'_>,
        end_progress: f64,
        by_islands: bool,
    ) -> StepLimit {
        self.model.limit_step(q, direction, conditions, end_progress, by_islands)
    }

    fn contact_name(&self, body: usize) -> String {
        self.model.contact_energy().map_or_else(String::new, |energy| energy.name(body).to_owned())
    }

    fn fixed_mask(&self) -> &[bool] {
        self.model.fixed_mask()
    }

    fn prescribe(&self, time: f64, q: &mut [f64]) -> Result<(), NotFinite> {
        self.model.prescribe(time, q)
    }

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.model.check_time(time)
    }

    fn extent(&self) -> f64 {
        self.model.extent()
    }

    fn find_inverted(&self, q: &[f64]) -> Option<Inverted> {
        self.model.find_inverted(q)
    }

    fn place(&self, coordinate: usize) -> Coordinate {
        self.model.place(coordinate)
    }
}

/// Returns `dα`.
fn alpha(damping: Option<(f64, &DampingMatrix)>) -> f64 {
    damping.map_or(0.0, |(d, damping)| d * damping.mass)
}

/// Returns the terms of `dD` besides `dαM`.
fn friction(damping: Option<(f64, &DampingMatrix)>) -> Option<(f64, &BlockMatrix)> {
    damping.and_then(|(d, damping)| Some((d, damping.friction.as_ref()?)))
}

/// Weighted sum of products with a vector.
pub(super) struct Sum<'a> {
    pub x: &'a [f64],
    pub y: &'a mut [f64],
    pub product: &'a mut [f64],
    pub is_empty: bool,
}

impl Sum<'_> {
    /// Adds a factor times a product.
    pub fn add(&mut self, factor: f64, mul: impl FnOnce(&[f64], &mut [f64])) {
        if factor == 0.0 {
            return;
        }
        if self.is_empty {
            mul(self.x, self.y);
            self.y.iter_mut().for_each(|y| *y *= factor);
            self.is_empty = false;
        } else {
            mul(self.x, self.product);
            self.y.iter_mut().zip(&*self.product).for_each(|(y, product)| *y += factor * product);
        }
    }

    /// Sets the sum to zero if nothing was added.
    pub fn finish(self) {
        if self.is_empty {
            self.y.fill(0.0);
        }
    }
}
