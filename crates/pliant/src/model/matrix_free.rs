//! Models with matrix-free elasticity: products are computed element by element, and nothing is assembled.

use std::sync::{Arc, Mutex, PoisonError};

use super::assembly::Sum;
use super::{Model, ModelBody};
use crate::force::Conditions;
use crate::motion::NotFinite;
use crate::solver::{LinearMap, SolveError};
use crate::sparse::{BlockMatrix, LowRank};
use crate::system::{
    Combination, Coordinate, DampingKind, Definiteness, Inverted, Linearization, State, StepLimit, System, Weights,
};

/// Workspace of a model that stores only the diagonal blocks of `K` and the couplings of non-elastic forces.
///
/// Products with the rest are computed element by element, so that larger bodies fit into memory. They are slower than
/// with a matrix: about six times for the exact tangent, thirty times for the projected one.
///
/// Its matrix is a [`MatrixFreeOperator`], for [`BlockJacobi`](crate::solver::BlockJacobi).
#[derive(Debug)]
pub struct MatrixFree {
    operator: MatrixFreeOperator,
    /// Memory of matrices that are not in use.
    spare: Vec<MatrixFreeStiffness>,
    spare_damping: Vec<MatrixFreeDamping>,
    product: Vec<f64>,
    /// Number of matrices assembled so far.
    assembled: u64,
}

/// Matrix `mM + dD + kK` whose elastic part is computed element by element. Rows and columns of fixed coordinates are
/// those of a diagonal matrix.
#[derive(Debug)]
pub struct MatrixFreeOperator {
    model: Arc<Model>,
    weights: Weights,
    stiffness: MatrixFreeStiffness,
    damping: MatrixFreeDamping,
    /// Diagonal blocks, and the couplings of non-elastic forces.
    assembled: BlockMatrix,
    low_rank: LowRank,
    /// Work vectors for products, taken while in use. A concurrent caller allocates new ones.
    scratch: Mutex<Scratch>,
}

#[derive(Debug, Clone, Default)]
struct Scratch {
    free: Vec<f64>,
    product: Vec<f64>,
}

/// Stiffness `K(u)` of a matrix-free model.
#[derive(Debug, Clone)]
pub struct MatrixFreeStiffness {
    elastic: Linearized,
    /// Stiffness of all other forces.
    others: BlockMatrix,
    varying: LowRank,
}

/// Damping `D(u, v)` of a matrix-free model.
#[derive(Debug, Clone)]
pub struct MatrixFreeDamping {
    /// Coefficient `α` of `αM`.
    mass: f64,
    /// `β`, and the elastic stiffness that it multiplies.
    elastic: Option<(f64, Linearized)>,
    /// All other terms.
    friction: Option<BlockMatrix>,
}

impl MatrixFree {
    pub(super) fn new(model: Model) -> Self {
        let model = Arc::new(model);
        let pattern = &model.pattern;
        let mut stiffness = MatrixFreeStiffness::new(&model);
        stiffness.elastic.diagonal = Vec::new();
        let operator = MatrixFreeOperator {
            weights: Weights::default(),
            damping: MatrixFreeDamping { mass: 0.0, elastic: None, friction: None },
            assembled: BlockMatrix::zero(pattern.clone()),
            low_rank: LowRank::default(),
            scratch: Mutex::default(),
            stiffness,
            model,
        };
        Self { operator, spare: Vec::new(), spare_damping: Vec::new(), product: Vec::new(), assembled: 0 }
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.operator.model
    }

    /// Returns mutable access to the model, to change its loads, materials and boundary conditions between steps. A
    /// model that is shared is copied first.
    pub fn model_mut(&mut self) -> &mut Model {
        Arc::make_mut(&mut self.operator.model)
    }

    /// Returns the state at rest.
    pub fn rest_state(&self) -> State {
        self.model().rest_state()
    }
}

impl MatrixFreeStiffness {
    fn new(model: &Model) -> Self {
        Self {
            elastic: Linearized::new(model.node_count()),
            others: BlockMatrix::zero(model.pattern.clone()),
            varying: LowRank::default(),
        }
    }

    /// Copies what products need: all but the diagonal blocks of elasticity.
    fn copy_factors(&mut self, other: &Self) {
        self.elastic.copy_state(&other.elastic);
        self.others.values_mut().copy_from_slice(other.others.values());
        self.varying.clear();
        self.varying.add_scaled(1.0, &other.varying);
    }
}

impl MatrixFreeDamping {
    /// Copies what products need: all but the diagonal blocks of elasticity.
    fn copy_factors(&mut self, other: &Self) {
        self.mass = other.mass;
        match (&mut self.elastic, &other.elastic) {
            (Some((beta, elastic)), Some((other_beta, other))) => {
                *beta = *other_beta;
                elastic.copy_state(other);
            }
            (own, other) => {
                *own = other.as_ref().map(|(beta, other)| {
                    let mut elastic = Linearized::new(0);
                    elastic.copy_state(other);
                    (*beta, elastic)
                });
            }
        }
        match (&mut self.friction, &other.friction) {
            (Some(friction), Some(other)) => friction.values_mut().copy_from_slice(other.values()),
            (own, other) => own.clone_from(other),
        }
    }
}

impl MatrixFreeOperator {
    /// Computes `y = (mM + dD + kK) x` without regard to fixed coordinates.
    fn multiply(
        model: &Model,
        mass: f64,
        stiffness: Option<(f64, &MatrixFreeStiffness)>,
        damping: Option<(f64, &MatrixFreeDamping)>,
        x: &[f64],
        (y, product): (&mut [f64], &mut [f64]),
    ) {
        let mut sum = Sum { x, y: &mut *y, product, is_empty: true };
        if let Some((k, stiffness)) = stiffness {
            sum.add(k, |x, y| stiffness.others.mul(x, y));
        }
        sum.add(mass + damping.map_or(0.0, |(d, damping)| d * damping.mass), |x, y| model.mass.mul(x, y));
        if let Some((d, friction)) = damping.and_then(|(d, damping)| Some((d, damping.friction.as_ref()?))) {
            sum.add(d, |x, y| friction.mul(x, y));
        }
        for (factor, elastic) in elastic_terms(stiffness, damping).into_iter().flatten() {
            sum.add(factor, |x, y| elastic.mul(&model.bodies, x, y));
        }
        sum.finish();
        if let Some((k, stiffness)) = stiffness {
            stiffness.varying.add_product(k, x, y);
        }
    }
}

/// Returns the elastic stiffnesses whose weighted sum is that of `dD + kK`, with their factors. If both were linearized
/// at the same state, it is a single one.
fn elastic_terms<'a>(
    stiffness: Option<(f64, &'a MatrixFreeStiffness)>,
    damping: Option<(f64, &'a MatrixFreeDamping)>,
) -> [Option<(f64, &'a Linearized)>; 2] {
    let stiffness = stiffness.map(|(k, stiffness)| (k, &stiffness.elastic));
    let damping = damping.and_then(|(d, damping)| damping.elastic.as_ref().map(|(beta, elastic)| (d * beta, elastic)));
    match (stiffness, damping) {
        (Some((k, stiffness)), Some((d, damping))) if stiffness.is_at_state_of(damping) => {
            [Some((k + d, damping)), None]
        }
        both => [both.0, both.1],
    }
}

impl LinearMap for MatrixFreeOperator {
    fn size(&self) -> usize {
        self.model.dim()
    }

    fn mul(&self, x: &[f64], y: &mut [f64]) {
        let n = self.size();
        assert!(x.len() == n && y.len() == n, "expected vectors of length {n}");
        let lock = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = std::mem::take(&mut *lock());
        let Scratch { free, product } = &mut scratch;
        free.resize(n, 0.0);
        product.resize(n, 0.0);
        let fixed = self.model.fixed_mask();
        for i in 0..n {
            free[i] = if fixed[i] { 0.0 } else { x[i] };
        }
        let Weights { mass, damping: d, stiffness: k } = self.weights;
        let stiffness = (k != 0.0).then_some((k, &self.stiffness));
        let damping = (d != 0.0).then_some((d, &self.damping));
        Self::multiply(&self.model, mass, stiffness, damping, free, (y, product));
        let (blocks, pattern) = (self.assembled.values().as_chunks::<9>().0, self.assembled.pattern());
        for i in (0..n).filter(|&i| fixed[i]) {
            y[i] = blocks[pattern.row(i / 3).start][4 * (i % 3)] * x[i];
        }
        *lock() = scratch;
    }

    fn diagonal_blocks(&self, blocks: &mut Vec<[f64; 9]>) {
        self.assembled.diagonal_blocks(blocks);
        self.low_rank.add_diagonal_blocks(blocks);
    }

    fn not_finite(&self) -> Option<SolveError> {
        self.assembled.not_finite()
    }
}

impl System for MatrixFree {
    type Stiffness = MatrixFreeStiffness;
    type Damping = MatrixFreeDamping;
    type Matrix = MatrixFreeOperator;

    fn dim(&self) -> usize {
        self.model().dim()
    }

    fn energy(&mut self, q: &[f64], conditions: &Conditions<'_>) -> Option<f64> {
        self.model().energy(q, conditions)
    }

    fn force(&mut self, q: &[f64], conditions: &Conditions<'_>, force: &mut [f64]) -> f64 {
        self.model().force(q, conditions, force)
    }

    fn linearize(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        force: &mut [f64],
    ) -> Linearization<MatrixFreeStiffness> {
        let mut stiffness = self.spare.pop().unwrap_or_else(|| MatrixFreeStiffness::new(self.model()));
        let model = self.model();
        force.fill(0.0);
        stiffness.elastic.set(&model.bodies, q, definiteness, force);
        stiffness.others.clear();
        stiffness.varying.clear();
        for (term, range) in model.forces_with_history() {
            let conditions = conditions.of_part(range);
            term.add_gradient_and_stiffness(q, &conditions, definiteness, force, &mut stiffness.others);
            term.add_varying_stiffness(q, &conditions, definiteness, &mut stiffness.varying);
        }
        let scale = model.finish_force(conditions, force);
        Linearization { stiffness, scale }
    }

    fn damping(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        v: &[f64],
        stiffness: Option<&MatrixFreeStiffness>,
        drive: &mut [f64],
    ) -> MatrixFreeDamping {
        let (alpha, beta) = (self.model().damping.mass(), self.model().damping.stiffness());
        if !self.model().has_friction() {
            return MatrixFreeDamping { mass: alpha, elastic: None, friction: None };
        }
        if beta != 0.0 && stiffness.is_none() {
            let mut force = std::mem::take(&mut self.product);
            force.resize(q.len(), 0.0);
            let evaluated = self.linearize(q, conditions, Definiteness::Projected, &mut force).stiffness;
            self.product = force;
            let damping = self.damping(q, conditions, v, Some(&evaluated), drive);
            self.recycle_stiffness(evaluated);
            return damping;
        }
        let spare = self.spare_damping.pop();
        let model = &self.operator.model;
        let (elastic, friction) = spare.map_or((None, None), |spare| (spare.elastic, spare.friction));
        let mut friction = friction.unwrap_or_else(|| BlockMatrix::zero(model.pattern.clone()));
        friction.clear();
        self.product.resize(q.len(), 0.0);
        model.add_friction(q, conditions, v, &mut friction, (drive, &mut self.product));
        let elastic = stiffness.filter(|_| beta != 0.0).map(|stiffness| {
            model.damping.add_friction_to(&stiffness.others, &mut friction);
            let mut copy = elastic.map_or_else(|| Linearized::new(model.node_count()), |(_, memory)| memory);
            copy.clone_from(&stiffness.elastic);
            (beta, copy)
        });
        if elastic.is_none() {
            model.damping.add_matrix_to(&mut friction);
        }
        MatrixFreeDamping { mass: alpha, elastic, friction: Some(friction) }
    }

    fn mul(&mut self, combination: Combination<'_, Self>, x: &[f64], y: &mut [f64]) {
        let mut product = std::mem::take(&mut self.product);
        product.resize(x.len(), 0.0);
        let Combination { mass, damping, stiffness } = combination;
        MatrixFreeOperator::multiply(self.model(), mass, stiffness, damping, x, (y, &mut product));
        self.product = product;
    }

    fn assemble(&mut self, combination: Combination<'_, Self>) {
        let operator = &mut self.operator;
        let Combination { mass, damping, stiffness } = combination;
        operator.weights = combination.weights();
        let matrix = &mut operator.assembled;
        matrix.clear();
        if let Some((k, stiffness)) = stiffness {
            matrix.add_scaled(k, &stiffness.others);
            operator.stiffness.copy_factors(stiffness);
        }
        if let Some((d, damping)) = damping {
            if let Some(friction) = &damping.friction {
                matrix.add_scaled(d, friction);
            }
            operator.damping.copy_factors(damping);
        }
        let m = mass + damping.map_or(0.0, |(d, damping)| d * damping.mass);
        operator.model.mass.add_diagonal_to(m, matrix);
        for (factor, elastic) in elastic_terms(stiffness, damping).into_iter().flatten() {
            elastic.add_diagonal_to(factor, matrix);
        }
        operator.low_rank.clear();
        if let Some((k, stiffness)) = stiffness {
            operator.low_rank.add_scaled(k, &stiffness.varying);
            operator.low_rank.eliminate(operator.model.fixed_mask());
        }
        operator.model.fixed.eliminate(matrix);
        self.assembled += 1;
    }

    fn matrix(&self) -> &MatrixFreeOperator {
        &self.operator
    }

    fn recycle_stiffness(&mut self, stiffness: MatrixFreeStiffness) {
        self.spare.push(stiffness);
    }

    fn recycle_damping(&mut self, damping: MatrixFreeDamping) {
        self.spare_damping.push(damping);
    }

    fn revision(&self) -> u64 {
        self.model().revision + self.assembled
    }

    fn divide(&mut self, combination: Combination<'_, Self>, b: &mut [f64]) -> bool {
        let damping = combination.damping;
        let has_friction = damping.is_some_and(|(_, damping)| damping.elastic.is_some() || damping.friction.is_some());
        if combination.stiffness.is_some() || has_friction {
            return false;
        }
        self.model().divide_by_mass(combination.mass + damping.map_or(0.0, |(d, damping)| d * damping.mass), b)
    }

    fn damping_kind(&self) -> DampingKind {
        self.model().damping_kind()
    }

    fn history_len(&self) -> usize {
        self.model().history_len()
    }

    fn update_history(&mut self, q: &[f64], conditions: &Conditions<'_>, history: &mut [f64]) {
        self.model().update_history(q, conditions, history);
    }

    fn is_lagged(&self) -> bool {
        self.model().forces.iter().any(|force| force.is_lagged())
    }

    fn is_moved(&self) -> bool {
        self.model().forces.iter().any(|force| force.is_moved())
    }

    fn add_gradient_of_motion(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        end_progress: f64,
        gradient: &mut [f64],
    ) {
        for (force, range) in self.model().forces_with_history() {
            force.add_gradient_of_motion(q, &conditions.of_part(range), end_progress, gradient);
        }
    }

    fn limits_steps(&self) -> bool {
        self.model().forces.iter().any(|force| force.limits_steps())
    }

    fn limit_step(
        &mut self,
        q: &[f64],
        direction: &mut [f64],
        conditions: &Conditions<'_>,
        end_progress: f64,
        by_islands: bool,
    ) -> StepLimit {
        self.model().limit_step(q, direction, conditions, end_progress, by_islands)
    }

    fn contact_name(&self, body: usize) -> String {
        self.model().contact_energy().map_or_else(String::new, |energy| energy.name(body).to_owned())
    }

    fn fixed_mask(&self) -> &[bool] {
        self.model().fixed_mask()
    }

    fn prescribe(&self, time: f64, q: &mut [f64]) -> Result<(), NotFinite> {
        self.model().prescribe(time, q)
    }

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.model().check_time(time)
    }

    fn extent(&self) -> f64 {
        self.model().extent()
    }

    fn find_inverted(&self, q: &[f64]) -> Option<Inverted> {
        self.model().find_inverted(q)
    }

    fn place(&self, coordinate: usize) -> Coordinate {
        self.model().place(coordinate)
    }
}

/// Linearized elasticity `K(u)` of all bodies.
#[derive(Debug)]
struct Linearized {
    u: Vec<f64>,
    definiteness: Definiteness,
    /// Diagonal block of each vertex.
    diagonal: Vec<[f64; 9]>,
}

impl Linearized {
    fn new(vertex_count: usize) -> Self {
        Self {
            u: vec![0.0; 3 * vertex_count],
            definiteness: Definiteness::Exact,
            diagonal: vec![[0.0; 9]; vertex_count],
        }
    }

    /// Copies the state, without diagonal blocks.
    fn copy_state(&mut self, other: &Self) {
        self.u.clone_from(&other.u);
        self.definiteness = other.definiteness;
    }

    /// Returns true if both are linearized at the same state.
    fn is_at_state_of(&self, other: &Self) -> bool {
        self.definiteness == other.definiteness && self.u == other.u
    }

    /// Linearizes at `u`, and adds the gradient of the elastic energy.
    fn set(&mut self, bodies: &[ModelBody], u: &[f64], definiteness: Definiteness, gradient: &mut [f64]) {
        self.u.copy_from_slice(u);
        self.definiteness = definiteness;
        self.diagonal.fill([0.0; 9]);
        for elastic in bodies.iter().filter_map(ModelBody::elastic) {
            elastic.add_gradient_and_diagonal(u, definiteness, gradient, &mut self.diagonal);
        }
    }

    /// Adds the diagonal blocks times a factor.
    fn add_diagonal_to(&self, factor: f64, matrix: &mut BlockMatrix) {
        let pattern = matrix.pattern().clone();
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for (vertex, diagonal) in self.diagonal.iter().enumerate() {
            let block = &mut blocks[pattern.row(vertex).start];
            for i in 0..9 {
                block[i] += factor * diagonal[i];
            }
        }
    }

    /// Computes `y = K(u) x`.
    fn mul(&self, bodies: &[ModelBody], x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for elastic in bodies.iter().filter_map(ModelBody::elastic) {
            elastic.add_stiffness_product(&self.u, self.definiteness, x, y);
        }
    }
}

impl Clone for Linearized {
    fn clone(&self) -> Self {
        Self { u: self.u.clone(), definiteness: self.definiteness, diagonal: self.diagonal.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.u.clone_from(&other.u);
        self.definiteness = other.definiteness;
        self.diagonal.clone_from(&other.diagonal);
    }
}
