//! Models with matrix-free elasticity: products are computed element by element, and nothing is assembled.

use std::sync::Mutex;

use super::{Model, ModelBody};
use crate::solver::{LinearMap, SolveError};
use crate::sparse::BlockMatrix;
use crate::system::{Coordinate, DampingKind, Definiteness, State, System, Weights};

/// [`Model`] that stores only the diagonal blocks of `K` and the couplings of non-elastic forces.
///
/// Products with the rest are computed element by element, so that larger bodies fit into memory. They are slower than
/// with a matrix: about six times for the exact tangent, thirty times for the projected one.
///
/// It serves as its own matrix, which [`BlockJacobi`](crate::solver::BlockJacobi) solves with. Every linearization
/// changes that matrix.
#[derive(Debug)]
pub struct MatrixFree {
    model: Model,
    /// Coefficients of the matrix `mM + dD + kK`.
    weights: Weights,
    /// Work vectors for products, taken while in use. A concurrent caller allocates new ones.
    scratch: Mutex<Scratch>,
}

#[derive(Debug, Clone, Default)]
struct Scratch {
    free: Vec<f64>,
    product: Vec<f64>,
}

impl MatrixFree {
    pub(super) fn new(model: Model) -> Self {
        Self { model, weights: Weights::default(), scratch: Mutex::default() }
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns mutable access to the model, to measure it and to change its loads and boundary conditions. It has no
    /// matrix as a [`System`], and panics when asked for it.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Returns the state at rest.
    pub fn rest_state(&self) -> State {
        self.model.rest_state()
    }
}

impl LinearMap for MatrixFree {
    fn size(&self) -> usize {
        self.dim()
    }

    /// Multiplies by the matrix whose rows and columns of fixed coordinates are replaced by those of a diagonal matrix.
    fn mul(&self, x: &[f64], y: &mut [f64]) {
        let n = self.dim();
        assert!(x.len() == n && y.len() == n, "expected vectors of length {n}");
        let lock = || self.scratch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut scratch = std::mem::take(&mut *lock());
        let Scratch { free, product } = &mut scratch;
        free.resize(n, 0.0);
        product.resize(n, 0.0);
        let fixed = self.fixed_mask();
        for i in 0..n {
            free[i] = if fixed[i] { 0.0 } else { x[i] };
        }
        self.model.multiply(self.weights, free, y, product);
        for i in (0..n).filter(|&i| fixed[i]) {
            y[i] = self.diagonal_block(i / 3)[4 * (i % 3)] * x[i];
        }
        *lock() = scratch;
    }

    #[inline]
    fn diagonal_block(&self, vertex: usize) -> [f64; 9] {
        self.model.operator.diagonal_block(vertex)
    }

    fn not_finite(&self) -> Option<SolveError> {
        self.model.operator.not_finite()
    }
}

impl System for MatrixFree {
    type Matrix = Self;

    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn energy(&mut self, q: &[f64], time: f64) -> Option<f64> {
        self.model.energy(q, time)
    }

    fn force(&mut self, q: &[f64], time: f64, force: &mut [f64]) {
        self.model.force(q, time, force);
    }

    fn linearize(&mut self, q: &[f64], time: f64, definiteness: Definiteness, force: &mut [f64]) {
        self.model.linearize(q, time, definiteness, force);
    }

    fn set_damping(&mut self, q: &[f64], v: &[f64], drive: &mut [f64]) {
        self.model.set_damping(q, v, drive);
    }

    fn mul(&mut self, weights: Weights, x: &[f64], y: &mut [f64]) {
        self.model.mul(weights, x, y);
    }

    fn assemble(&mut self, weights: Weights) {
        self.model.assemble(weights);
        self.weights = weights;
    }

    fn matrix(&self) -> &Self {
        self
    }

    fn revision(&self) -> u64 {
        self.model.revision()
    }

    fn divide(&mut self, weights: Weights, b: &mut [f64]) -> bool {
        self.model.divide(weights, b)
    }

    fn damping_kind(&self) -> DampingKind {
        self.model.damping_kind()
    }

    fn fixed_mask(&self) -> &[bool] {
        self.model.fixed_mask()
    }

    fn prescribe(&self, time: f64, q: &mut [f64]) {
        self.model.prescribe(time, q);
    }

    fn set_load_factor(&mut self, factor: f64) {
        self.model.set_load_factor(factor);
    }

    fn force_scale(&self) -> f64 {
        self.model.force_scale()
    }

    fn extent(&self) -> f64 {
        self.model.extent()
    }

    fn place(&self, coordinate: usize) -> Coordinate {
        self.model.place(coordinate)
    }
}

/// Material of all bodies in `K`, and `βK` in `D`.
#[derive(Debug, Clone)]
pub(super) struct Unassembled {
    stiffness: Linearized,
    /// `β`, and the `K` stored when `D` was set.
    damping: Option<(f64, Linearized)>,
    /// True if both use the same linearization.
    is_one: bool,
}

impl Unassembled {
    pub fn new(vertex_count: usize) -> Self {
        Self { stiffness: Linearized::new(vertex_count), damping: None, is_one: false }
    }

    /// Stores `K(u)`, and adds the forces.
    pub fn linearize(&mut self, bodies: &[ModelBody], u: &[f64], definiteness: Definiteness, force: &mut [f64]) {
        let Linearized { u: place, definiteness: kind, diagonal } = &mut self.stiffness;
        place.copy_from_slice(u);
        *kind = definiteness;
        diagonal.fill([0.0; 9]);
        for elastic in bodies.iter().filter_map(ModelBody::elastic) {
            elastic.add_force_and_diagonal(u, definiteness, force, diagonal);
        }
        self.is_one = self.damping.as_ref().is_some_and(|(_, damping)| *damping == self.stiffness);
    }

    /// Stores `βK` for the current `K`.
    pub fn set_damping(&mut self, beta: f64) {
        if beta == 0.0 {
            self.damping = None;
            return;
        }
        let new = || (beta, Linearized::new(self.stiffness.diagonal.len()));
        let (factor, damping) = self.damping.get_or_insert_with(new);
        *factor = beta;
        damping.u.copy_from_slice(&self.stiffness.u);
        damping.definiteness = self.stiffness.definiteness;
        damping.diagonal.copy_from_slice(&self.stiffness.diagonal);
        self.is_one = true;
    }

    /// Returns the matrices whose weighted sum is `dD + kK`, with their factors. If `D` was stored with this `K`, only
    /// the first factor is nonzero.
    pub fn terms(&self, weights: Weights) -> [(f64, &Linearized); 2] {
        let Weights { damping: d, stiffness: k, .. } = weights;
        match &self.damping {
            None => [(k, &self.stiffness), (0.0, &self.stiffness)],
            Some((beta, damping)) if self.is_one => [(k + d * beta, damping), (0.0, damping)],
            Some((beta, damping)) => [(k, &self.stiffness), (d * beta, damping)],
        }
    }

    /// Adds the diagonal blocks of `dD + kK`.
    pub fn add_diagonal_to(&self, weights: Weights, matrix: &mut BlockMatrix) {
        let pattern = matrix.pattern().clone();
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for (factor, linearized) in self.terms(weights).into_iter().filter(|(factor, _)| *factor != 0.0) {
            for (vertex, diagonal) in linearized.diagonal.iter().enumerate() {
                let block = &mut blocks[pattern.row(vertex).start];
                for i in 0..9 {
                    block[i] += factor * diagonal[i];
                }
            }
        }
    }
}

/// Linearized elasticity `K(u)` of all bodies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Linearized {
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

    /// Computes `y = K(u) x`.
    pub fn mul(&self, bodies: &[ModelBody], x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for elastic in bodies.iter().filter_map(ModelBody::elastic) {
            elastic.add_stiffness_product(&self.u, self.definiteness, x, y);
        }
    }
}
