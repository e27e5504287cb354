//! Solutions of `K x = b` for bodies that may be free.

use std::sync::Arc;

use super::columns::{orthogonalize, relative_difference};
use super::modes::ModesError;
use super::rigid::rigid_motions;
use crate::force::Force;
use crate::mass::MassMatrix;
use crate::math::Vec3;
use crate::model::{Model, ModelBody};
use crate::solver::vector::dot;
use crate::solver::{Cholesky, Symbolic};
use crate::sparse::BlockMatrix;
use crate::system::{Definiteness, System};

/// The factor of `K + sM` of a model at rest. `s` is zero for a body that is held; for one that is not, whose `K` is singular,
/// it is small beside the lowest `ω²`, and rigid motions are left out.
#[derive(Debug, Clone)]
pub(super) struct Inverse {
    /// `K`.
    pub stiffness: BlockMatrix,
    cholesky: Cholesky<f64>,
    /// `s`.
    pub shift: f64,
    /// Motions that deform nothing, orthonormal with the mass.
    pub rigid: Vec<Vec<f64>>,
    pub mass: MassMatrix,
    pub held: Vec<bool>,
}

/// The shift, as a part of the lowest `ω²`: so small that few corrections make up for it, not so small that rounding is felt.
const SHIFT: f64 = 1e-2;

/// How often the lowest `ω²` is estimated anew: it may be far below that of a uniform strain, where it begins, for slender bodies.
const MOST_ESTIMATES: usize = 4;

/// How exactly the equation is solved for a body that is free, and how many corrections that may take.
const EXACT: f64 = 1e-14;
const MOST_CORRECTIONS: usize = 20;

impl Inverse {
    /// Of a model at rest.
    pub fn new(model: &Model, of: Stiffness) -> Result<Self, ModesError> {
        let stiffness = stiffness(model, of)?;
        let rigid = rigid_motions(model, &stiffness).map_err(|parts| ModesError::Parts { parts })?;
        let symbolic = Symbolic::new(stiffness.pattern().clone()).map_err(|error| ModesError::Solve(error.into()))?;
        let cholesky = Cholesky::new(Arc::new(symbolic));
        let (mass, held) = (model.mass().clone(), model.held().to_vec());
        let mut inverse = Self { stiffness, cholesky, shift: 0.0, rigid, mass, held };
        if inverse.rigid.is_empty() {
            inverse.factor(model)?;
            return Ok(inverse);
        }
        let mut lowest = strain_quotient(model, &inverse.stiffness, &inverse.rigid).ok_or(ModesError::NoStiffness)?;
        for _ in 0..MOST_ESTIMATES {
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
        model.eliminate_held(&mut matrix);
        self.cholesky.factor(&matrix).map_err(|error| ModesError::Solve(error.into()))
    }

    /// About the lowest `ω²`, by a few steps of inverse iteration.
    fn lowest_quotient(&mut self) -> f64 {
        let n = self.held.len();
        let mut rng = fastrand::Rng::with_seed(3);
        let (mut x, mut product): (Vec<f64>, Vec<f64>) = ((0..n).map(|_| rng.f64() - 0.5).collect(), vec![0.0; n]);
        for _ in 0..4 {
            x.iter_mut().zip(&self.held).filter(|(_, held)| **held).for_each(|(x, _)| *x = 0.0);
            orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), &mut x, &mut product);
            let size = dot(&x, &product).sqrt();
            product.iter_mut().zip(&self.held).for_each(|(b, held)| *b = if *held { 0.0 } else { *b / size });
            self.cholesky.solve(&product, &mut x);
        }
        orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), &mut x, &mut product);
        let square = dot(&x, &product);
        self.stiffness.mul(&x, &mut product);
        dot(&x, &product) / square
    }

    /// `x = (K + sM)⁻¹ b`, where `b` is zero at what is held.
    pub fn solve_shifted(&mut self, b: &[f64], x: &mut [f64]) {
        self.cholesky.solve(b, x);
    }

    /// Take rigid motions out of vectors.
    pub fn remove_rigid(&self, vectors: &mut [Vec<f64>]) {
        let mut product = vec![0.0; self.held.len()];
        for vector in vectors {
            orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), vector, &mut product);
        }
    }

    /// `K x = b`, with `b` made such that it does not accelerate the body as a whole, and `x` without rigid motion.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let mut b = b.to_vec();
        b.iter_mut().zip(&self.held).filter(|(_, held)| **held).for_each(|(b, _)| *b = 0.0);
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
        // (K + sM) x' = b + sM x has the solution of K x = b as its fixed point, and comes nearer by s / (ω² + s) a time.
        let mut change = f64::INFINITY;
        for _ in 0..MOST_CORRECTIONS {
            orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), x, &mut product);
            let before = x.to_vec();
            product.iter_mut().zip(&b).for_each(|(product, b)| *product = b + self.shift * *product);
            self.cholesky.solve(&product, x);
            let (previous, now) = (change, relative_difference(x, &before));
            // What no longer gets much smaller is rounding.
            if now <= EXACT || now > 0.5 * previous {
                break;
            }
            change = now;
        }
        orthogonalize(&self.rigid, &|x, y| self.mass.mul(x, y), x, &mut product);
    }
}

/// Which forces a stiffness is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stiffness {
    /// All of the model.
    All,
    /// The elasticity of its bodies alone.
    Elastic,
}

/// `K` of a model at rest.
fn stiffness(model: &Model, of: Stiffness) -> Result<BlockMatrix, ModesError> {
    if !model.is_assembled() {
        return Err(ModesError::MatrixFree);
    }
    let elastic = model.bodies().iter().filter_map(ModelBody::elastic).map(|force| force as &dyn Force);
    let others = model.forces().filter(|_| of == Stiffness::All);
    let (rest, mut force) = (vec![0.0; model.dim()], vec![0.0; model.dim()]);
    let mut stiffness = BlockMatrix::zero(model.pattern().clone());
    for term in elastic.chain(others) {
        term.add_force_and_stiffness(&rest, Definiteness::Exact, &mut force, &mut stiffness);
    }
    if stiffness.values().iter().all(|entry| *entry == 0.0) {
        return Err(ModesError::NoStiffness);
    }
    Ok(stiffness)
}

/// The least `xᵀKx / xᵀMx` of the uniform strains `xᵢ eⱼ`, without what they have of rigid motions: an upper bound of the lowest `ω²`.
fn strain_quotient(model: &Model, stiffness: &BlockMatrix, rigid: &[Vec<f64>]) -> Option<f64> {
    let (n, mass) = (model.dim(), model.mass());
    let mut least = f64::INFINITY;
    for number in 0..9 {
        let axis = Vec3::AXES[number / 3].to_array();
        let mut x: Vec<f64> =
            model.rest().iter().flat_map(|x| axis.map(|component| component * x[number % 3])).collect();
        x.iter_mut().zip(model.held()).filter(|(_, held)| **held).for_each(|(x, _)| *x = 0.0);
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
