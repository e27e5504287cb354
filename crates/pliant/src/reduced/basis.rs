//! Bases of reduced models: `u = U q`.

use thiserror::Error;

use super::columns::{add_all, combine, dots, fix_sign, orthonormalize};
use super::derivatives::ModalDerivative;
use super::eigen::Eigen;
use super::frame::Placement;
use super::modes::Modes;
use crate::files::ReadError;
use crate::mass::MassMatrix;
use crate::math::{Mat3, Matrix, Vec3, nearest_rotation, outer};
use crate::model::Model;
use crate::solver::DenseMatrix;
use crate::sparse::BlockMatrix;

/// Mass-orthonormal basis of a reduced model: `Uᵀ M U = I`.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    pub(super) columns: Vec<Vec<f64>>,
}

/// Quality of a basis.
#[derive(Debug, Clone, PartialEq)]
pub struct BasisInfo {
    /// Number of vectors that it was built from.
    pub from: usize,
    /// Singular values of these vectors in the mass norm, in descending order.
    pub singular_values: Vec<f64>,
    /// Fraction of the sum of squared singular values that the basis captures.
    pub kept: f64,
    /// Orthonormality error `max |UᵀMU − I|`.
    pub orthonormality: f64,
}

/// Error of building a basis.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum BasisError {
    #[error(
        "a basis of {asked} vectors, expected at least 1 and at most {most}, the dimension of the given modes, derivatives and snapshots; \
         use more modes or derivatives"
    )]
    Size { asked: usize, most: usize },
    #[error(
        "{count} vectors to build a basis from, expected at most {MAX_VECTORS}; use fewer modes, derivatives or snapshots"
    )]
    Vectors { count: usize },
    #[error("a vector has {found} numbers, expected {expected}: three per vertex")]
    Length { found: usize, expected: usize },
    #[error("number {at} of vector {vector} is not finite")]
    NotFinite { vector: usize, at: usize },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{}: a basis of {rows} rows, expected {expected}: three per vertex", path.display())]
    Rows { path: std::path::PathBuf, rows: usize, expected: usize },
}

/// Maximum number of vectors that a basis is built from: their Gram matrix is dense.
const MAX_VECTORS: usize = 5000;

/// Checks the number of vectors to build a basis from.
pub(super) fn check_count(count: usize) -> Result<(), BasisError> {
    if count > MAX_VECTORS { Err(BasisError::Vectors { count }) } else { Ok(()) }
}

/// Relative size below which the part of a vector that is independent of the previous ones is rounding error.
const RANK: f64 = 1e-10;

impl Basis {
    /// Orthonormalizes vectors of a model, in their order. Entries at fixed coordinates become zero, and vectors that
    /// depend linearly on previous ones are dropped.
    pub fn new(model: &Model, vectors: Vec<Vec<f64>>) -> Result<Self, BasisError> {
        Self::beside(model, &[], vectors)
    }

    /// Orthonormalizes vectors after removing their components along `known`, which is orthonormal.
    pub(super) fn beside(model: &Model, known: &[Vec<f64>], vectors: Vec<Vec<f64>>) -> Result<Self, BasisError> {
        let vectors = prepared(model, vectors)?;
        let mass = model.mass();
        // One by one, so that a vector close to the span of `known` is dropped instead of its rounding error being
        // normalized.
        let mut columns = orthonormalize(known.iter().cloned().chain(vectors), &|x, y| mass.mul(x, y), RANK);
        columns.drain(..known.len());
        if columns.is_empty() {
            return Err(BasisError::Size { asked: 1, most: 0 });
        }
        Ok(Self { columns })
    }

    /// Returns the first `size` principal components of vectors in the mass norm.
    pub fn principal(model: &Model, vectors: Vec<Vec<f64>>, size: usize) -> Result<(Self, BasisInfo), BasisError> {
        let vectors = prepared(model, vectors)?;
        let mass = model.mass();
        let (eigen, from) = gram(mass, &vectors);
        let largest = eigen.values.last().copied().unwrap_or(0.0).max(0.0);
        // These are squares of singular values, with half the digits.
        let most = eigen.values.iter().filter(|value| **value > 1e-14 * largest).count();
        if size == 0 || size > most {
            return Err(BasisError::Size { asked: size, most });
        }
        let best = |i: usize| from - 1 - i;
        let columns = combine(&vectors, (0..size).map(|i| eigen.vector(best(i))));
        let columns = orthonormalize(columns, &|x, y| mass.mul(x, y), RANK);
        let squares: Vec<f64> = (0..from).map(|i| eigen.values[best(i)].max(0.0)).collect();
        let basis = Self { columns };
        let info = BasisInfo {
            from,
            kept: squares[..size].iter().sum::<f64>() / squares.iter().sum::<f64>(),
            singular_values: squares.iter().map(|square| square.sqrt()).collect(),
            orthonormality: basis.orthonormality(mass),
        };
        Ok((basis, info))
    }

    /// Scales modes and their derivatives by frequency: `w̄ⱼ φⱼ` and `p w̄ᵢw̄ⱼ Φᵢⱼ` with `w̄ⱼ = ω₁²/ωⱼ²`.
    ///
    /// Shapes that are harder to excite thus count less \[BarbicJames2005\]. `p` is the amplitude at which the
    /// first mode displaces the body by half its size. Derivatives then count as in a deformation of that size,
    /// independent of units.
    pub fn scaled_by_frequency(
        model: &Model,
        modes: &Modes,
        count: usize,
        derivatives: &[ModalDerivative],
    ) -> Vec<Vec<f64>> {
        const BENT: f64 = 0.5;
        let moved = modes.shapes[0].chunks_exact(3).map(|u| Vec3::from_slice(u).length()).fold(0.0, f64::max);
        let amplitude = BENT * model.extent() / moved;
        let weight = |mode: usize| (modes.omega[0] / modes.omega[mode]).powi(2);
        let scaled = |shape: &[f64], weight: f64| shape.iter().map(|x| weight * x).collect::<Vec<f64>>();
        let linear = modes.shapes.iter().take(count).enumerate().map(|(i, shape)| scaled(shape, weight(i)));
        let curved = derivatives.iter().map(|derivative| {
            let [i, j] = derivative.modes;
            scaled(&derivative.shape, amplitude * weight(i) * weight(j))
        });
        linear.chain(curved).collect()
    }

    /// Scales vectors so that their largest singular value is one, to combine them with others.
    pub fn normalized(model: &Model, vectors: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>, BasisError> {
        let mut vectors = prepared(model, vectors)?;
        let largest = gram(model.mass(), &vectors).0.values.last().copied().unwrap_or(0.0).sqrt();
        if largest > 0.0 {
            vectors.iter_mut().flatten().for_each(|x| *x /= largest);
        }
        Ok(vectors)
    }

    /// Rotates the basis so that a stiffness is diagonal: `UᵀKU = diag(ω²)`, ascending. Returns the `ω²`.
    pub(super) fn diagonalize(&mut self, stiffness: &BlockMatrix, mass: &MassMatrix) -> Option<Vec<f64>> {
        let r = self.columns.len();
        let mut product = vec![0.0; self.dim()];
        let mut projected = DenseMatrix::zero(r);
        for (j, column) in self.columns.iter().enumerate() {
            stiffness.mul(column, &mut product);
            for (i, entry) in dots(&self.columns, &product).into_iter().enumerate() {
                projected[(i, j)] = entry;
            }
        }
        let eigen = Eigen::new(&projected)?;
        let turned = combine(&self.columns, (0..r).map(|i| eigen.vector(i)));
        self.columns = orthonormalize(turned, &|x, y| mass.mul(x, y), RANK);
        self.columns.iter_mut().for_each(|column| fix_sign(column));
        Some(eigen.values)
    }

    /// Returns the number of basis vectors.
    pub fn size(&self) -> usize {
        self.columns.len()
    }

    /// Returns the length of a basis vector: three numbers per vertex.
    pub fn dim(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Returns the basis vectors.
    pub fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// Returns `u = U q`.
    ///
    /// # Panics
    /// If there is not one number per basis vector.
    pub fn expand(&self, q: &[f64]) -> Vec<f64> {
        assert_eq!(q.len(), self.size(), "expected one number per basis vector");
        let mut u = vec![0.0; self.dim()];
        add_all(&self.columns, q, &mut u);
        u
    }

    /// Returns `Uᵀ f`.
    pub(super) fn transpose_mul(&self, f: &[f64]) -> Vec<f64> {
        dots(&self.columns, f)
    }

    /// Returns `q = UᵀM u`, for which `U q` is closest to `u` in the mass norm.
    ///
    /// # Panics
    /// If there are not three numbers per vertex.
    pub fn project(&self, mass: &MassMatrix, u: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; u.len()];
        mass.mul(u, &mut product);
        self.transpose_mul(&product)
    }

    /// Returns the orthonormality error `max |UᵀMU − I|`.
    pub fn orthonormality(&self, mass: &MassMatrix) -> f64 {
        let mut worst: f64 = 0.0;
        for (j, column) in self.columns.iter().enumerate() {
            for (i, entry) in self.project(mass, column).into_iter().enumerate() {
                worst = worst.max((entry - f64::from(u8::from(i == j))).abs());
            }
        }
        worst
    }

    /// Creates a basis from columns of a file, which are known to be orthonormal.
    pub(super) fn of_columns(columns: Vec<Vec<f64>>) -> Self {
        Self { columns }
    }
}

/// Returns the rigid placement closest to a deformed free body in the mass norm, and the displacements relative to it.
pub fn nearest_placement(model: &Model, u: &[f64]) -> (Placement, Vec<f64>) {
    let masses = model.node_masses();
    let total: f64 = masses.iter().sum();
    let (u, _) = u.as_chunks::<3>();
    let moved: Vec<Vec3> = model.rest().iter().zip(u).map(|(rest, u)| *rest + Vec3::from_array(*u)).collect();
    let middle = |points: &[Vec3]| points.iter().zip(masses).map(|(x, mass)| *mass * *x).sum::<Vec3>() / total;
    let (from, center) = (middle(model.rest()), middle(&moved));
    let relative: Vec<f64> = moved.iter().flat_map(|x| (*x - center).to_array()).collect();
    let mut weighted = vec![0.0; relative.len()];
    model.mass().mul(&relative, &mut weighted);
    let pairs = model.rest().iter().zip(weighted.chunks_exact(3));
    let covariance = pairs.fold(Mat3::ZERO, |sum, (rest, moved)| sum + outer(Vec3::from_slice(moved), *rest - from));
    let nearest = nearest_rotation(&Matrix(covariance.transpose().to_cols_array_2d()));
    let rotation = Mat3::from_cols_array_2d(&nearest.0).transpose();
    let back = rotation.transpose();
    let seen = model.rest().iter().zip(&moved).map(|(rest, moved)| back * (*moved - center) - (*rest - from));
    (Placement { center, rotation }, seen.flat_map(|u| u.to_array()).collect())
}

/// Checks vectors, and zeroes their entries at fixed coordinates.
fn prepared(model: &Model, mut vectors: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>, BasisError> {
    check_count(vectors.len())?;
    for (number, vector) in vectors.iter_mut().enumerate() {
        if vector.len() != model.dim() {
            return Err(BasisError::Length { found: vector.len(), expected: model.dim() });
        }
        if let Some(at) = vector.iter().position(|x| !x.is_finite()) {
            return Err(BasisError::NotFinite { vector: number, at });
        }
        vector.iter_mut().zip(model.fixed_mask()).filter(|(_, fixed)| **fixed).for_each(|(x, _)| *x = 0.0);
    }
    Ok(vectors)
}

/// Returns the eigendecomposition of `XᵀMX`, and the number of vectors.
fn gram(mass: &MassMatrix, vectors: &[Vec<f64>]) -> (Eigen, usize) {
    let m = vectors.len();
    let mut gram = DenseMatrix::zero(m);
    for j in 0..m {
        let mut product = vec![0.0; vectors[j].len()];
        mass.mul(&vectors[j], &mut product);
        for (i, entry) in dots(&vectors[j..], &product).into_iter().enumerate() {
            gram[(j + i, j)] = entry;
        }
    }
    // Only overflowing numbers have no eigenvalues; no basis can be built from them.
    (Eigen::new(&gram).unwrap_or(Eigen { values: vec![0.0; m], vectors: DenseMatrix::zero(m) }), m)
}
