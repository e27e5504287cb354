//! Natural modes.

use std::f64::consts::TAU;
use std::ops::ControlFlow;

use thiserror::Error;

use super::columns::fix_sign;
use super::inverse::{Inverse, Stiffness};
use super::krylov;
use super::rigid::MAX_PARTS;
use crate::model::Model;
use crate::solver::SolveError;
use crate::solver::vector::{dot, norm};

/// Number and accuracy of modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModesParams {
    /// Number of modes.
    pub count: usize,
    /// Residual of `φ` as eigenvector of `(K − σM)⁻¹M`, relative to the eigenvalue. The relative error of frequencies
    /// is its square.
    pub tolerance: f64,
    /// Maximum number of linear solves per mode.
    pub max_solves: usize,
}

impl ModesParams {
    /// Returns parameters for `count` modes, accurate up to rounding.
    pub fn new(count: usize) -> Self {
        Self { count, tolerance: 1e-10, max_solves: 100 }
    }
}

/// Lowest solutions of `K φ = ω² M φ` at rest, with `K` the stiffness of all forces: elasticity, springs, handles.
///
/// Rigid motions, six for a free body, are kept separately. Shapes are orthonormal, `φᵢᵀ M φⱼ = δᵢⱼ`, and their largest
/// entry is positive.
#[derive(Debug, Clone)]
pub struct Modes {
    /// Angular frequencies `ω`, ascending \[rad/s\].
    pub omega: Vec<f64>,
    /// Mode shapes, three numbers per vertex: displacement \[m\] at a modal amplitude of `√kg m`.
    pub shapes: Vec<Vec<f64>>,
    /// Residual `|Kφ − ω²Mφ| / |Kφ|` of each mode.
    pub residuals: Vec<f64>,
    /// Rigid motions, orthonormal as well.
    pub rigid: Vec<Vec<f64>>,
    /// Statistics of the iteration.
    pub info: ModesInfo,
}

/// Statistics of the eigenvalue iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModesInfo {
    /// Number of linear solves, all with one factor.
    pub solves: usize,
    /// Number of restarts of the Krylov iteration.
    pub restarts: usize,
}

/// Error of finding modes.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum ModesError {
    #[error("{asked} modes, expected at least 1 and at most the {most} that the model has")]
    Count { asked: usize, most: usize },
    #[error("the model has {parts} unconnected parts, expected at most {MAX_PARTS}")]
    Parts { parts: usize },
    #[error("{vectors} vectors of {dim} numbers would take {:.1} GB, expected at most {:.1}; ask for fewer modes", *bytes as f64 / 1e9, MAX_BYTES as f64 / 1e9)]
    Memory { vectors: usize, dim: usize, bytes: usize },
    #[error("the model has no elasticity")]
    NoStiffness,
    #[error("the model is matrix-free and has no stiffness matrix")]
    MatrixFree,
    #[error("factorization of the stiffness at rest failed: {0}")]
    Solve(SolveError),
    #[error("the stiffness at rest is negative along a mode: ω² = {square:.6e} 1/s²; the body is not stable at rest")]
    Unstable { square: f64 },
    #[error(
        "{converged} of {asked} modes have converged after {solves} linear solves; the next has a residual of {residual:.1e}, expected \
         {tolerance:.1e}"
    )]
    NotConverged { asked: usize, converged: usize, solves: usize, residual: f64, tolerance: f64 },
    #[error("stopped")]
    Stopped,
}

/// Maximum memory for vectors of a full model \[bytes\].
const MAX_BYTES: usize = 8 << 30;

/// Checks that `vectors` vectors of length `dim` fit into memory.
pub(super) fn check_memory(vectors: usize, dim: usize) -> Result<(), ModesError> {
    let bytes = vectors.saturating_mul(dim).saturating_mul(size_of::<f64>());
    if bytes > MAX_BYTES { Err(ModesError::Memory { vectors, dim, bytes }) } else { Ok(()) }
}

impl Modes {
    /// Finds the modes by shift-invert Lanczos with one factor of the stiffness. `watch` receives the number of linear
    /// solves so far, and may stop the iteration.
    pub fn find(
        model: &Model,
        params: &ModesParams,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Self, ModesError> {
        let free = model.fixed_mask().iter().filter(|fixed| !**fixed).count();
        if params.count == 0 || params.count > free {
            return Err(ModesError::Count { asked: params.count, most: free });
        }
        Self::with_inverse(&mut Inverse::new(model, Stiffness::All)?, params, watch)
    }

    pub(super) fn with_inverse(
        inverse: &mut Inverse,
        params: &ModesParams,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Self, ModesError> {
        let free = inverse.fixed.iter().filter(|fixed| !**fixed).count();
        let most = free - inverse.rigid.len();
        if params.count == 0 || params.count > most {
            return Err(ModesError::Count { asked: params.count, most });
        }
        let (mass, rigid, fixed) = (inverse.mass.clone(), inverse.rigid.clone(), inverse.fixed.clone());
        let dim = fixed.len();
        let masked_mass = |x: &[f64], y: &mut [f64]| {
            mass.mul(x, y);
            y.iter_mut().zip(&fixed).filter(|(_, fixed)| **fixed).for_each(|(y, _)| *y = 0.0);
        };
        check_memory(krylov::max_vectors(params.count).min(most), dim)?;
        let mut solve = |b: &[f64], x: &mut [f64]| inverse.solve_shifted(b, x);
        let mut problem = krylov::Problem { mass: &masked_mass, solve: &mut solve, known: &rigid, fixed: &fixed, dim };
        let krylov_params = krylov::KrylovParams {
            count: params.count,
            tolerance: params.tolerance,
            max_products: params.max_solves.saturating_mul(params.count),
        };
        let failed = |failure: krylov::Failure| match failure {
            krylov::Failure::Stopped => ModesError::Stopped,
            krylov::Failure::NotConverged { products, converged, residual } => ModesError::NotConverged {
                asked: params.count,
                converged,
                solves: products,
                residual,
                tolerance: params.tolerance,
            },
        };
        let pairs = krylov::largest(&mut problem, &krylov_params, watch).map_err(failed)?;
        let info = ModesInfo { solves: pairs.products, restarts: pairs.restarts };
        let mut found = Vec::new();
        let (mut of_stiffness, mut of_mass) = (vec![0.0; dim], vec![0.0; dim]);
        for mut shape in pairs.vectors {
            fix_sign(&mut shape);
            inverse.stiffness.mul(&shape, &mut of_stiffness);
            of_stiffness.iter_mut().zip(&fixed).filter(|(_, fixed)| **fixed).for_each(|(y, _)| *y = 0.0);
            masked_mass(&shape, &mut of_mass);
            let square = dot(&shape, &of_stiffness) / dot(&shape, &of_mass);
            let size = norm(&of_stiffness);
            of_stiffness.iter_mut().zip(&of_mass).for_each(|(k, m)| *k -= square * m);
            found.push((square, norm(&of_stiffness) / size, shape));
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(&(square, ..)) = found.first().filter(|(square, ..)| !(*square > 0.0)) {
            return Err(ModesError::Unstable { square });
        }
        Ok(Self {
            omega: found.iter().map(|(square, ..)| square.sqrt()).collect(),
            residuals: found.iter().map(|(_, residual, _)| *residual).collect(),
            shapes: found.into_iter().map(|(.., shape)| shape).collect(),
            rigid,
            info,
        })
    }

    /// Returns the frequencies \[Hz\].
    pub fn frequencies(&self) -> Vec<f64> {
        self.omega.iter().map(|omega| omega / TAU).collect()
    }
}
