//! Material of a reduced model, for all kinds of evaluation.

use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::{MatMut, Par, Spec};

use super::eigen::Eigen;
use super::elements::ReducedElements;
use super::stvk::StVkTensors;
use crate::material::Definiteness;
use crate::solver::DenseMatrix;
use crate::solver::scratch::Scratch;

/// Reduced elastic forces.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ReducedElasticity {
    /// Linear law, `f = diag(ω²) q`.
    Linear(Vec<f64>),
    /// Polynomial of St. Venant–Kirchhoff.
    StVk(StVkTensors),
    /// Elements of any law: all, or a selection.
    Elements(ReducedElements),
}

impl ReducedElasticity {
    /// Returns the name of the kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Linear(_) => "linear",
            Self::StVk(_) => "polynomial",
            Self::Elements(elements) if elements.selection().is_some() => "cubature",
            Self::Elements(_) => "projection",
        }
    }

    pub(super) fn energy(&mut self, q: &[f64]) -> f64 {
        match self {
            Self::Linear(squares) => q.iter().zip(squares).map(|(q, square)| 0.5 * *square * q * q).sum(),
            Self::StVk(tensors) => tensors.energy(q),
            Self::Elements(elements) => elements.energy(q),
        }
    }

    /// Computes `f = ∂V/∂q`.
    pub(super) fn force(&mut self, q: &[f64], force: &mut [f64]) {
        match self {
            Self::Linear(squares) => {
                force.iter_mut().zip(q).zip(squares).for_each(|((force, q), square)| *force = *square * q);
            }
            Self::StVk(tensors) => tensors.force(q, force),
            Self::Elements(elements) => elements.force(q, force),
        }
    }

    /// Computes `f` and `K`.
    pub(super) fn force_and_stiffness(
        &mut self,
        q: &[f64],
        definiteness: Definiteness,
        force: &mut [f64],
        stiffness: &mut DenseMatrix,
        projection: &mut Projection,
    ) {
        match self {
            Self::Linear(squares) => {
                stiffness.values_mut().fill(0.0);
                for (i, square) in squares.iter().enumerate() {
                    stiffness[(i, i)] = *square;
                    force[i] = square * q[i];
                }
            }
            Self::StVk(tensors) => {
                tensors.force_and_stiffness(q, force, stiffness);
                if definiteness == Definiteness::Projected {
                    projection.project(stiffness);
                }
            }
            Self::Elements(elements) => elements.force_and_stiffness(q, definiteness, force, stiffness),
        }
    }
}

/// Projection of symmetric matrices onto the positive semi-definite ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Projection {
    factor: Vec<f64>,
    scratch: Scratch,
}

impl Projection {
    /// Sets negative eigenvalues to zero. Most matrices have none, which a Cholesky factorization shows cheaply.
    fn project(&mut self, matrix: &mut DenseMatrix) {
        let n = matrix.size();
        self.factor.clear();
        self.factor.extend_from_slice(matrix.values());
        let stack = self.scratch.stack(cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default()));
        let factor = MatMut::from_column_major_slice_mut(&mut self.factor, n, n);
        let regularization = LltRegularization::default();
        if cholesky_in_place(factor, regularization, Par::Seq, stack, Spec::default()).is_ok() {
            return;
        }
        // Matrices that are not finite are detected by the solver.
        let Some(eigen) = Eigen::new(matrix) else { return };
        for number in (0..n).take_while(|&number| eigen.values[number] < 0.0) {
            let (value, vector) = (eigen.values[number], eigen.vector(number));
            for j in 0..n {
                for i in 0..n {
                    matrix[(i, j)] -= value * vector[i] * vector[j];
                }
            }
        }
    }
}
