//! The few directions in which a reduced model moves: `u = U q`.

use std::path::Path;

use thiserror::Error;

use super::columns::{add_all, combine, dots, fix_sign, orthonormalize};
use super::derivatives::ModalDerivative;
use super::eigen::Eigen;
use super::frame::Placement;
use super::modes::Modes;
use crate::io::{Files, ReadError, WriteError};
use crate::mass::MassMatrix;
use crate::math::{Mat3, Matrix, Vec3, nearest_rotation, outer};
use crate::matrix_io::{self, Array};
use crate::model::Model;
use crate::solver::DenseMatrix;
use crate::sparse::BlockMatrix;
use crate::system::System;

/// A basis, orthonormal with the mass: `Uᵀ M U = I`.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    columns: Vec<Vec<f64>>,
}

/// How good a basis is.
#[derive(Debug, Clone, PartialEq)]
pub struct BasisInfo {
    /// How many vectors it was made of.
    pub from: usize,
    /// Their singular values, in the norm of the mass, the largest first.
    pub singular_values: Vec<f64>,
    /// Which part of the sum of the squares of these it has kept.
    pub kept: f64,
    /// `max |UᵀMU − I|`.
    pub orthonormality: f64,
}

/// Why there is no basis.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum BasisError {
    #[error(
        "a basis of {asked} directions, expected at least 1 and at most {most}, which is what the vectors span that it is made of; more modes, \
         or derivatives, span more"
    )]
    Size { asked: usize, most: usize },
    #[error(
        "{count} vectors to make a basis of, expected at most {MOST_VECTORS}; fewer modes, derivatives or snapshots will do"
    )]
    Vectors { count: usize },
    #[error("a vector has {found} numbers, expected {expected}: three for each vertex")]
    Length { found: usize, expected: usize },
    #[error("number {at} of vector {vector} is not finite")]
    NotFinite { vector: usize, at: usize },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{}: a basis of {rows} rows, expected {expected}: three for each vertex", path.display())]
    Rows { path: std::path::PathBuf, rows: usize, expected: usize },
}

/// The most vectors that a basis is made of: the matrix of their products is dense.
const MOST_VECTORS: usize = 5000;

/// Check that a basis can be made of so many vectors.
pub(super) fn check_count(count: usize) -> Result<(), BasisError> {
    if count > MOST_VECTORS { Err(BasisError::Vectors { count }) } else { Ok(()) }
}

/// What a vector has less of than this part of itself, beside the ones before it, is rounding.
const RANK: f64 = 1e-10;

impl Basis {
    /// The space of some vectors of a model, in their order. Numbers where the model is held become zero, and what depends on
    /// the vectors before is left out.
    pub fn new(model: &Model, vectors: Vec<Vec<f64>>) -> Result<Self, BasisError> {
        Self::beside(model, &[], vectors)
    }

    /// The same without what they have of some directions, which are orthonormal.
    pub(super) fn beside(model: &Model, known: &[Vec<f64>], vectors: Vec<Vec<f64>>) -> Result<Self, BasisError> {
        let vectors = prepared(model, vectors)?;
        let mass = model.mass();
        // One after the other, so that what is nearly one of the known directions is left out, and not its rounding made a direction.
        let mut columns = orthonormalize(known.iter().cloned().chain(vectors), &|x, y| mass.mul(x, y), RANK);
        columns.drain(..known.len());
        if columns.is_empty() {
            return Err(BasisError::Size { asked: 1, most: 0 });
        }
        Ok(Self { columns })
    }

    /// The `size` directions in which vectors vary most, measured with the mass.
    pub fn principal(model: &Model, vectors: Vec<Vec<f64>>, size: usize) -> Result<(Self, BasisInfo), BasisError> {
        let vectors = prepared(model, vectors)?;
        let mass = model.mass();
        let (eigen, from) = gram(mass, &vectors);
        let largest = eigen.values.last().copied().unwrap_or(0.0).max(0.0);
        // Squares of singular values: half the digits.
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

    /// The vectors that span modes and their derivatives, scaled by frequency: `w̄ⱼ φⱼ` and `p w̄ᵢw̄ⱼ Φᵢⱼ` with `w̄ⱼ = ω₁²/ωⱼ²`, so that what is harder to excite counts less
    /// (Barbič and James 2005). `p` is the amplitude at which the first mode moves the body by half of its size: there its derivative counts as it would in a
    /// deformation of that size, whatever the units.
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

    /// Scale some vectors so that the largest of their singular values is one, to mix them with others.
    pub fn normalized(model: &Model, vectors: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>, BasisError> {
        let mut vectors = prepared(model, vectors)?;
        let largest = gram(model.mass(), &vectors).0.values.last().copied().unwrap_or(0.0).sqrt();
        if largest > 0.0 {
            vectors.iter_mut().flatten().for_each(|x| *x /= largest);
        }
        Ok(vectors)
    }

    /// The same space, turned so that a stiffness is diagonal in it: `UᵀKU = diag(ω²)`, ascending. Returns the `ω²`.
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

    /// How many directions.
    pub fn size(&self) -> usize {
        self.columns.len()
    }

    /// How many numbers each has: three a vertex.
    pub fn dim(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The directions.
    pub fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// `u = U q`.
    ///
    /// # Panics
    /// If there is not a number for each direction.
    pub fn expand(&self, q: &[f64]) -> Vec<f64> {
        assert_eq!(q.len(), self.size(), "a number for each direction");
        let mut u = vec![0.0; self.dim()];
        add_all(&self.columns, q, &mut u);
        u
    }

    /// `Uᵀ f`.
    pub(super) fn transpose_mul(&self, f: &[f64]) -> Vec<f64> {
        dots(&self.columns, f)
    }

    /// The `q` for which `U q` is nearest to `u`, measured with the mass: `UᵀM u`.
    ///
    /// # Panics
    /// If there are not three numbers a vertex.
    pub fn project(&self, mass: &MassMatrix, u: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; u.len()];
        mass.mul(u, &mut product);
        self.transpose_mul(&product)
    }

    /// `max |UᵀMU − I|`.
    pub fn orthonormality(&self, mass: &MassMatrix) -> f64 {
        let mut worst: f64 = 0.0;
        for (j, column) in self.columns.iter().enumerate() {
            for (i, entry) in self.project(mass, column).into_iter().enumerate() {
                worst = worst.max((entry - f64::from(u8::from(i == j))).abs());
            }
        }
        worst
    }

    /// Write it for NumPy: three rows a vertex, a column a direction.
    pub fn write(&self, files: &dyn Files, path: &Path) -> Result<(), WriteError> {
        let rows = (0..self.dim()).flat_map(|row| self.columns.iter().map(move |column| column[row]));
        let array = Array::from_rows(self.size(), rows.collect()).unwrap_or(Array::vector(Vec::new()));
        matrix_io::write_array_to(files, path, &array)
    }

    /// Read the columns of an array with three rows a vertex, to make a basis of.
    pub fn read_vectors(files: &dyn Files, path: &Path, vertex_count: usize) -> Result<Vec<Vec<f64>>, BasisError> {
        let array = matrix_io::read_array_from(files, path)?;
        let (rows, expected) = (array.row_count(), 3 * vertex_count);
        if rows != expected {
            return Err(BasisError::Rows { path: path.into(), rows, expected });
        }
        let columns = array.column_count();
        Ok((0..columns).map(|column| array.values().iter().skip(column).step_by(columns).copied().collect()).collect())
    }

    /// Of numbers that are read from a file, where they are known to be orthonormal.
    pub(super) fn of_columns(columns: Vec<Vec<f64>>) -> Self {
        Self { columns }
    }
}

/// Where a body that is free is nearest to a rigid one, measured with the mass; and its displacements as they are seen from there.
pub fn nearest_placement(model: &Model, u: &[f64]) -> (Placement, Vec<f64>) {
    let masses = model.vertex_masses();
    let total: f64 = masses.iter().sum();
    let (u, _) = u.as_chunks::<3>();
    let moved: Vec<Vec3> = model.rest().iter().zip(u).map(|(rest, u)| *rest + Vec3::from_array(*u)).collect();
    let middle = |points: &[Vec3]| points.iter().zip(masses).map(|(x, mass)| *mass * *x).sum::<Vec3>() / total;
    let (from, centre) = (middle(model.rest()), middle(&moved));
    let relative: Vec<f64> = moved.iter().flat_map(|x| (*x - centre).to_array()).collect();
    let mut weighted = vec![0.0; relative.len()];
    model.mass().mul(&relative, &mut weighted);
    let pairs = model.rest().iter().zip(weighted.chunks_exact(3));
    let covariance = pairs.fold(Mat3::ZERO, |sum, (rest, moved)| sum + outer(Vec3::from_slice(moved), *rest - from));
    let nearest = nearest_rotation(&Matrix(covariance.transpose().to_cols_array_2d()));
    let rotation = Mat3::from_cols_array_2d(&nearest.0).transpose();
    let back = rotation.transpose();
    let seen = model.rest().iter().zip(&moved).map(|(rest, moved)| back * (*moved - centre) - (*rest - from));
    (Placement { centre, rotation }, seen.flat_map(|u| u.to_array()).collect())
}

/// Check vectors, and clear what is held.
fn prepared(model: &Model, mut vectors: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>, BasisError> {
    check_count(vectors.len())?;
    for (number, vector) in vectors.iter_mut().enumerate() {
        if vector.len() != model.dim() {
            return Err(BasisError::Length { found: vector.len(), expected: model.dim() });
        }
        if let Some(at) = vector.iter().position(|x| !x.is_finite()) {
            return Err(BasisError::NotFinite { vector: number, at });
        }
        vector.iter_mut().zip(model.held()).filter(|(_, held)| **held).for_each(|(x, _)| *x = 0.0);
    }
    Ok(vectors)
}

/// The eigenvalues of `XᵀMX`, and how many vectors there are.
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
    // Only numbers that overflow have no eigenvalues; then there is nothing to make a basis of.
    (Eigen::new(&gram).unwrap_or(Eigen { values: vec![0.0; m], vectors: DenseMatrix::zero(m) }), m)
}
