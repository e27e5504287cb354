//! Solutions of `K x = b` for fixed and free bodies.

use std::sync::Arc;

use super::columns::{orthogonalize, relative_difference};
use super::modes::ModesError;
use super::rigid::rigid_motions;
use crate::mass::MassMatrix;
use crate::math::Vec3;
use crate::model::Model;
use crate::solver::vector::dot;
use crate::solver::{Cholesky, Symbolic};
use crate::sparse::BlockMatrix;
use crate::system::Definiteness;

/// Factorization of `K + sM` of a model at rest.
///
/// `s` is zero for a fixed body. For a free body, whose `K` is singular, it is small relative to the lowest `ω²`, and
/// rigid motions are removed.
#[derive(Debug, Clone)]
pub(super) struct Inverse {
    /// Stiffness `K`.
    pub stiffness: BlockMatrix,
    cholesky: Cholesky<f64>,
    /// Shift `s`.
    pub shift: f64,
    /// Rigid motions, orthonormal in the mass.
    pub rigid: Vec<Vec<f64>>,
    pub mass: MassMatrix,
    pub fixed: Vec<bool>,
}

/// Shift as a fraction of the lowest `ω²`: small enough for few corrections, large enough to limit rounding errors.
const SHIFT: f64 = 1e-2;

/// Maximum number of estimates of the lowest `ω²`. The first, from a uniform strain, may be far too high for slender
/// bodies.
const MAX_ESTIMATES: usize = 4;

/// Relative accuracy of solutions for a free body, and maximum number of corrections.
const EXACT: f64 = 1e-14;
const MAX_CORRECTIONS: usize = 20;

impl Inverse {
    /// Factorizes the stiffness of a model at rest.
    pub fn new(model: &Model, of: Stiffness) -> Result<Self, ModesError> {
        let stiffness = stiffness(model, of)?;
        let rigid = rigid_motions(model, &stiffness).map_err(|parts| ModesError::Parts { parts })?;
        let symbolic = Symbolic::new(stiffness.pattern().clone()).map_err(|error| ModesError::Solve(error.into()))?;
        let cholesky = Cholesky::new(Arc::new(symbolic));
        let (mass, fixed) = (model.mass().clone(), model.fixed_mask().to_vec());
        let mut inverse = Self { stiffness, cholesky, shift: 0.0, rigid, mass, fixed };
        if inverse.rigid.is_empty() {
            inverse.factor(model)?;
            return Ok(inverse);
        }
        let mut lowest = strain_quotient(model, &inverse.stiffness, &inverse.rigid).ok_or(ModesError::NoStiffness)?;
        for _ in 0..MAX_ESTIMATES {
            inverse.shift = SHIFT * lowest;
            inverse.factor(model)?;
            lowest = inverse.lowest_quotient();
            if inverse.shift <= 2.0 * SHIFT * lowest {
                break;
            }
        }
        Ok(inverse)
    }

    fn factor(&mut self, model: &Model) -> Result<(), ModesError> {
        let mut matrix = self.stiffness.clone();
        self.mass.add_to(self.shift, &mut matrix);
        model.eliminate_fixed(&mut matrix);
        self.cholesky.factor(&matrix).map_err(|error| ModesError::Solve(error.into()))
    }

    /// Estimates the lowest `ω²` by a few steps of inverse iteration.
    fn lowest_quotient(&mut self) -> f64 {
        let n = self.fixed.len();
        let mut rng = fastrand::Rng::with_seed(3);
        let (mut x, mut product): (Vec<f64>, Vec<f64>) = ((0..n).map(|_| rng.f64() - 0.5).collect(), vec![0.0; n]);
        for _ in 0..4 {
            x.iter_mut().zip(&self.fixed).filter(|(_, fixed)| **fixed).for_each(|(x, _)| *x = 0.0);
            orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), &mut x, &mut product);
            let size = dot(&x, &product).sqrt();
            product.iter_mut().zip(&self.fixed).for_each(|(b, fixed)| *b = if *fixed { 0.0 } else { *b / size });
            self.cholesky.solve(&product, &mut x);
        }
        orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), &mut x, &mut product);
        let square = dot(&x, &product);
        self.stiffness.mul(&x, &mut product);
        dot(&x, &product) / square
    }

    /// Computes `x = (K + sM)⁻¹ b`, where `b` is zero at fixed coordinates.
    pub fn solve_shifted(&mut self, b: &[f64], x: &mut [f64]) {
        self.cholesky.solve(b, x);
    }

    /// Removes rigid motions from vectors.
    pub fn remove_rigid(&self, vectors: &mut [Vec<f64>]) {
        let mut product = vec![0.0; self.fixed.len()];
        for vector in vectors {
            orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), vector, &mut product);
        }
    }

    /// Solves `K x = b` after removing the rigid-body part of `b`, for `x` without rigid motion.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let mut b = b.to_vec();
        b.iter_mut().zip(&self.fixed).filter(|(_, fixed)| **fixed).for_each(|(b, _)| *b = 0.0);
        let mut product = vec![0.0; b.len()];
        for motion in &self.rigid {
            let part = dot(motion, &b);
            self.mass.mul(motion, &mut product);
            b.iter_mut().zip(&product).for_each(|(b, product)| *b -= part * product);
        }
        self.cholesky.solve(&b, x);
        if self.shift == 0.0 {
            return;
        }
        // The iteration (K + sM) x' = b + sM x has the solution of K x = b as its fixed point and converges at the rate
        // s / (ω² + s).
        let mut change = f64::INFINITY;
        for _ in 0..MAX_CORRECTIONS {
            orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), x, &mut product);
            let before = x.to_vec();
            product.iter_mut().zip(&b).for_each(|(product, b)| *product = b + self.shift * *product);
            self.cholesky.solve(&product, x);
            let (previous, now) = (change, relative_difference(x, &before));
            // Rounding dominates once the change no longer halves.
            if now <= EXACT || now > 0.5 * previous {
                break;
            }
            change = now;
        }
        orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), x, &mut product);
    }
}

/// Forces included in a stiffness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stiffness {
    /// All forces of the model.
    All,
    /// Material of its bodies only.
    Elastic,
}

/// Assembles `K` of a model at rest.
fn stiffness(model: &Model, of: Stiffness) -> Result<BlockMatrix, ModesError> {
    if !model.is_assembled() {
        return Err(ModesError::MatrixFree);
    }
    let state = model.rest_state();
    let stiffness = match of {
        Stiffness::All => model.internal_stiffness(&state.q, &state.conditions_here(), Definiteness::Exact),
        Stiffness::Elastic => model.elastic_stiffness(&state.q, &state.conditions_here(), Definiteness::Exact),
    };
    if stiffness.values().iter().all(|entry| *entry == 0.0) {
        return Err(ModesError::NoStiffness);
    }
    Ok(stiffness)
}

/// Returns the minimum of `xᵀKx / xᵀMx` over the uniform strains `xᵢ eⱼ` without rigid motions: an upper bound of the
/// lowest `ω²`.
fn strain_quotient(model: &Model, stiffness: &BlockMatrix, rigid: &[Vec<f64>]) -> Option<f64> {
    let (n, mass) = (model.dim(), model.mass());
    let mut least = f64::INFINITY;
    for number in 0..9 {
        let axis = Vec3::AXES[number / 3].to_array();
        let mut x: Vec<f64> =
            model.rest().iter().flat_map(|x| axis.map(|component| component * x[number % 3])).collect();
        x.iter_mut().zip(model.fixed_mask()).filter(|(_, fixed)| **fixed).for_each(|(x, _)| *x = 0.0);
        let mut product = vec![0.0; n];
        mass.mul(&x, &mut product);
        let before = dot(&x, &product);
        orthogonalize(rigid, &|x, y| mass.mul(x, y), &mut x, &mut product);
        let square = dot(&x, &product);
        if square > 1e-6 * before {
            stiffness.mul(&x, &mut product);
            least = least.min(dot(&x, &product) / square);
        }
    }
    (least.is_finite() && least > 0.0).then_some(least)
}
