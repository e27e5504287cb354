//! Natural modes.

use std::f64::consts::TAU;
use std::ops::ControlFlow;

use thiserror::Error;

use super::columns::fix_sign;
use super::inverse::{Inverse, Stiffness};
use super::krylov;
use super::rigid::MOST_PARTS;
use crate::model::Model;
use crate::solver::SolveError;
use crate::solver::vector::{dot, norm};
use crate::system::System;

/// Which modes, and how exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModesParams {
    /// How many.
    pub count: usize,
    /// How far `(K − σM)⁻¹Mφ` may be from a multiple of `φ`, as a part of it. Frequencies are exact to its square.
    pub tolerance: f64,
    /// The most systems that may be solved for that, for each mode.
    pub most_solves: usize,
}

impl ModesParams {
    /// So many modes, exact but for rounding.
    pub fn new(count: usize) -> Self {
        Self { count, tolerance: 1e-10, most_solves: 100 }
    }
}

/// The lowest solutions of `K φ = ω² M φ` at rest, `K` the stiffness of all forces: of elasticity, springs, handles.
///
/// Motions that deform nothing, six of a body that is free, are set apart. Shapes are orthonormal, `φᵢᵀ M φⱼ = δᵢⱼ`; their largest
/// number is positive.
#[derive(Debug, Clone)]
pub struct Modes {
    /// `ω`, ascending, in rad/s.
    pub omega: Vec<f64>,
    /// Three numbers a vertex, in m at `√kg m` of modal amplitude.
    pub shapes: Vec<Vec<f64>>,
    /// `|Kφ − ω²Mφ| / |Kφ|` of each.
    pub residuals: Vec<f64>,
    /// Motions that deform nothing, orthonormal as well.
    pub rigid: Vec<Vec<f64>>,
    /// What finding them took.
    pub info: ModesInfo,
}

/// What finding modes took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModesInfo {
    /// Systems solved, with one factor.
    pub solves: usize,
    /// Restarts of the Krylov process.
    pub restarts: usize,
}

/// Why there are no modes.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum ModesError {
    #[error("{asked} modes, expected at least 1 and at most the {most} that the model has")]
    Count { asked: usize, most: usize },
    #[error("the model falls into {parts} loose parts, expected at most {MOST_PARTS}")]
    Parts { parts: usize },
    #[error("{vectors} vectors of {dim} numbers would take {:.1} GB, expected at most {:.1}; ask for fewer modes", *bytes as f64 / 1e9, MOST_BYTES as f64 / 1e9)]
    Memory { vectors: usize, dim: usize, bytes: usize },
    #[error("the body resists no deformation: it has no elasticity")]
    NoStiffness,
    #[error("the model has no stiffness matrix: it was built to do without one")]
    MatrixFree,
    #[error("the stiffness at rest has no factor: {0}")]
    Solve(SolveError),
    #[error("the stiffness at rest is negative along a mode: ω² = {square:.6e} 1/s²; the body is not stable at rest")]
    Unstable { square: f64 },
    #[error(
        "{converged} of {asked} modes have converged after {solves} solutions; the next has a residual of {residual:.1e}, expected \
         {tolerance:.1e}"
    )]
    NotConverged { asked: usize, converged: usize, solves: usize, residual: f64, tolerance: f64 },
    #[error("stopped")]
    Stopped,
}

/// The most memory that vectors of a whole model may take.
const MOST_BYTES: usize = 8 << 30;

/// Check that so many vectors of so many numbers fit into memory.
pub(super) fn check_memory(vectors: usize, dim: usize) -> Result<(), ModesError> {
    let bytes = vectors.saturating_mul(dim).saturating_mul(size_of::<f64>());
    if bytes > MOST_BYTES { Err(ModesError::Memory { vectors, dim, bytes }) } else { Ok(()) }
}

impl Modes {
    /// Find them: shift-invert Lanczos on one factor of the stiffness. `watch` is told how many systems have been solved, and may
    /// break off.
    pub fn find(
        model: &Model,
        params: &ModesParams,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Self, ModesError> {
        let free = model.held().iter().filter(|held| !**held).count();
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
        let free = inverse.held.iter().filter(|held| !**held).count();
        let most = free - inverse.rigid.len();
        if params.count == 0 || params.count > most {
            return Err(ModesError::Count { asked: params.count, most });
        }
        let (mass, rigid, held) = (inverse.mass.clone(), inverse.rigid.clone(), inverse.held.clone());
        let dim = held.len();
        let masked_mass = |x: &[f64], y: &mut [f64]| {
            mass.mul(x, y);
            y.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(y, _)| *y = 0.0);
        };
        check_memory(krylov::most_vectors(params.count).min(most), dim)?;
        let mut solve = |b: &[f64], x: &mut [f64]| inverse.solve_shifted(b, x);
        let mut problem = krylov::Problem { mass: &masked_mass, solve: &mut solve, known: &rigid, held: &held, dim };
        let krylov_params = krylov::Params {
            count: params.count,
            tolerance: params.tolerance,
            most_products: params.most_solves.saturating_mul(params.count),
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
            of_stiffness.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(y, _)| *y = 0.0);
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

    /// The frequencies, in Hz.
    pub fn frequencies(&self) -> Vec<f64> {
        self.omega.iter().map(|omega| omega / TAU).collect()
    }
}
