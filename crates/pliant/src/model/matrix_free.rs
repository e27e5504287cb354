//! Models whose elasticity is multiplied by, element by element, and never assembled.

use std::sync::Mutex;

use super::{Model, ModelBody};
use crate::solver::{LinearMap, SolveError};
use crate::sparse::BlockMatrix;
use crate::system::{DampingKind, Definiteness, Place, State, System, Weights};

/// A [`Model`] that has of `K` no more than the diagonal blocks, and what forces other than elasticity couple. Products with the rest
/// are made element by element, so that larger bodies fit into memory. They take longer: about six times as long as with a
/// matrix where the tangent is exact, thirty times where it is projected.
///
/// It is its own matrix, which [`BlockJacobi`](crate::solver::BlockJacobi) solves with. What is linearised anew changes the matrix.
#[derive(Debug)]
pub struct MatrixFree {
    model: Model,
    /// The matrix is `mM + dD + kK`.
    weights: Weights,
    /// Memory for products. It is taken away while in use; who finds none makes new.
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

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The same, to measure it and to change what acts on it and what holds it. As a system of its own it has no matrix, and panics
    /// when asked for it.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// At rest.
    pub fn rest_state(&self) -> State {
        self.model.rest_state()
    }
}

impl LinearMap for MatrixFree {
    fn size(&self) -> usize {
        self.dim()
    }

    /// With rows and columns of held coordinates replaced by those of a diagonal matrix.
    fn mul(&self, x: &[f64], y: &mut [f64]) {
        let n = self.dim();
        assert!(x.len() == n && y.len() == n, "vectors of {n} numbers");
        let lock = || self.scratch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut scratch = std::mem::take(&mut *lock());
        let Scratch { free, product } = &mut scratch;
        free.resize(n, 0.0);
        product.resize(n, 0.0);
        let held = self.held();
        for i in 0..n {
            free[i] = if held[i] { 0.0 } else { x[i] };
        }
        self.model.multiply(self.weights, free, y, product);
        for i in (0..n).filter(|&i| held[i]) {
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

    fn held(&self) -> &[bool] {
        self.model.held()
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

    fn place(&self, coordinate: usize) -> Place {
        self.model.place(coordinate)
    }
}

/// The elasticity of all bodies in `K`, and `βK` in `D`.
#[derive(Debug, Clone)]
pub(super) struct Unassembled {
    stiffness: Linearized,
    /// `β`, and the `K` that was remembered when `D` was.
    damping: Option<(f64, Linearized)>,
    /// Whether the two are the same.
    is_one: bool,
}

impl Unassembled {
    pub fn new(vertex_count: usize) -> Self {
        Self { stiffness: Linearized::new(vertex_count), damping: None, is_one: false }
    }

    /// Remember `K(u)`, and add the forces.
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

    /// Remember `βK` of the `K` that is remembered.
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

    /// Of which matrices `dD + kK` is the sum, with their factors: one, if `D` was remembered with this `K`.
    pub fn terms(&self, weights: Weights) -> [(f64, &Linearized); 2] {
        let Weights { damping: d, stiffness: k, .. } = weights;
        match &self.damping {
            None => [(k, &self.stiffness), (0.0, &self.stiffness)],
            Some((beta, damping)) if self.is_one => [(k + d * beta, damping), (0.0, damping)],
            Some((beta, damping)) => [(k, &self.stiffness), (d * beta, damping)],
        }
    }

    /// Add the diagonal blocks of `dD + kK`.
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

/// `K(u)` of the elasticity of all bodies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Linearized {
    u: Vec<f64>,
    definiteness: Definiteness,
    /// The diagonal block of each vertex.
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

    /// `y = K(u) x`.
    pub fn mul(&self, bodies: &[ModelBody], x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for elastic in bodies.iter().filter_map(ModelBody::elastic) {
            elastic.add_stiffness_product(&self.u, self.definiteness, x, y);
        }
    }
}
