//! Viscous damping: forces inside a body that are proportional to velocity.

use thiserror::Error;

use crate::mass::MassMatrix;
use crate::sparse::{BlockMatrix, Triplets, TripletsError};

/// Rayleigh damping with an optional custom matrix: `D = αM + βK(u) + D̄`. The damping force is `D u̇`.
///
/// A mode of angular frequency `ω` has the damping ratio `ζ = ½(α/ω + βω)`. `α` slows all motion, as a viscous medium
/// would. `β` slows deformation only, fast vibrations most.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Damping {
    mass: f64,
    stiffness: f64,
    matrix: Option<BlockMatrix>,
}

/// Invalid damping.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum DampingError {
    #[error("the mass damping α is {value}, expected a finite number [1/s] ≥ 0")]
    Mass { value: f64 },
    #[error("the stiffness damping β is {value}, expected a finite number [s] ≥ 0")]
    Stiffness { value: f64 },
    #[error("the damping matrix: {0}")]
    Matrix(#[from] TripletsError),
}

impl Damping {
    /// Returns Rayleigh damping `αM + βK` with `mass = α` \[1/s\] and `stiffness = β` \[s\].
    pub fn rayleigh(mass: f64, stiffness: f64) -> Result<Self, DampingError> {
        let is_possible = |value: f64| value >= 0.0 && value.is_finite();
        if !is_possible(mass) {
            return Err(DampingError::Mass { value: mass });
        }
        if !is_possible(stiffness) {
            return Err(DampingError::Stiffness { value: stiffness });
        }
        Ok(Self { mass, stiffness, matrix: None })
    }

    /// Sets `α` and `β`, and keeps `D̄`. On error nothing changes.
    pub fn set_rayleigh(&mut self, mass: f64, stiffness: f64) -> Result<(), DampingError> {
        let Self { mass, stiffness, .. } = Self::rayleigh(mass, stiffness)?;
        (self.mass, self.stiffness) = (mass, stiffness);
        Ok(())
    }

    /// Sets `D̄` \[kg/s\], a symmetric matrix with three rows per vertex.
    pub fn with_matrix(self, matrix: &Triplets, vertex_count: usize) -> Result<Self, DampingError> {
        Ok(Self { matrix: Some(matrix.to_symmetric(vertex_count)?), ..self })
    }

    /// Returns `α` \[1/s\].
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Returns `β` \[s\].
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// Returns `D̄` \[kg/s\] with the sparsity pattern of its entries, or `None` if it is absent.
    pub fn matrix(&self) -> Option<&BlockMatrix> {
        self.matrix.as_ref()
    }

    /// Returns true if there is no damping.
    pub fn is_zero(&self) -> bool {
        self.mass == 0.0 && self.stiffness == 0.0 && self.matrix.is_none()
    }

    /// Calls `add` with each pair of vertices that `D̄` couples, which may share no element: for
    /// [`bind_all_with`](crate::force::bind_all_with).
    pub fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        let Some(pattern) = self.matrix.as_ref().map(BlockMatrix::pattern) else { return };
        for vertex in 0..pattern.node_count() {
            // The first entry of a row is the diagonal, which every pattern has.
            for &other in &pattern.columns()[pattern.row(vertex)][1..] {
                add(&[vertex as u32, other]);
            }
        }
    }

    /// Adds `D` to `damping`, given `M` and `K`.
    ///
    /// # Panics
    /// If the pattern of `damping` lacks a pair of vertices of `M` or `D̄`, or differs from that of `K`.
    pub fn add_to(&self, mass: &MassMatrix, stiffness: &BlockMatrix, damping: &mut BlockMatrix) {
        if self.mass != 0.0 {
            mass.add_to(self.mass, damping);
        }
        self.add_friction_to(stiffness, damping);
    }

    /// Adds `βK + D̄` to `damping`: all terms except for `αM`.
    ///
    /// # Panics
    /// If the pattern of `damping` lacks a pair of vertices of `D̄`, or differs from that of `K`.
    pub fn add_friction_to(&self, stiffness: &BlockMatrix, damping: &mut BlockMatrix) {
        if self.stiffness != 0.0 {
            damping.add_scaled(self.stiffness, stiffness);
        }
        self.add_matrix_to(damping);
    }

    /// Adds `D̄` to `damping`.
    ///
    /// # Panics
    /// If the pattern of `damping` lacks a pair of vertices of `D̄`.
    pub fn add_matrix_to(&self, damping: &mut BlockMatrix) {
        if let Some(matrix) = &self.matrix {
            damping.add_part(1.0, matrix);
        }
    }

    /// Returns `D` on the pattern of `K`; see [`add_to`](Self::add_to).
    pub fn assemble(&self, mass: &MassMatrix, stiffness: &BlockMatrix) -> BlockMatrix {
        let mut damping = BlockMatrix::zero(stiffness.pattern().clone());
        self.add_to(mass, stiffness, &mut damping);
        damping
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::{Conditions, Definiteness, Elastic, Force, bind_all_with};
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::mesh::{Cells, generate};

    #[test]
    fn damping_is_the_sum_of_its_three_terms_also_between_vertices_of_no_common_element() {
        let mesh = generate::block([1.0, 1.0, 3.0], [1, 1, 3], Cells::Tet5).unwrap();
        let count = mesh.vertex_count();
        // The first and the last vertex share no element.
        let far = count as u32 - 1;
        let ends = [(0, 3 * far + 1, -2.5), (3 * far + 1, 0, -2.5), (0, 0, 2.5), (3 * far + 1, 3 * far + 1, 2.5)];
        let list = Triplets { row_count: 3 * count, column_count: 3 * count, entries: ends.into() };
        let damping = Damping::rayleigh(0.3, 0.02).unwrap().with_matrix(&list, count).unwrap();

        let law = AnyLaw::new("stvk", YoungPoisson { young: 1e4, poisson: 0.3 }).unwrap();
        let mut elastic = Elastic::uniform(&mesh, law);
        let pattern = bind_all_with(count, &mut [&mut elastic], |add| damping.cliques(add));
        assert!(pattern.slot(0, far).is_some());
        let mut stiffness = BlockMatrix::zero(pattern.clone());
        let mut force = vec![0.0; 3 * count];
        elastic.add_gradient_and_stiffness(
            &vec![0.0; 3 * count],
            &Conditions::START,
            Definiteness::Exact,
            &mut force,
            &mut stiffness,
        );
        for mass in
            [MassMatrix::consistent(&mesh, &[1000.0], &pattern).unwrap(), MassMatrix::lumped(&mesh, &[1000.0]).unwrap()]
        {
            let v: Vec<f64> = (0..3 * count).map(|i| (i as f64).cos()).collect();
            let product = |mul: &dyn Fn(&[f64], &mut [f64])| {
                let mut y = vec![0.0; v.len()];
                mul(&v, &mut y);
                y
            };
            let m = product(&|x, y| mass.mul(x, y));
            let k = product(&|x, y| stiffness.mul(x, y));
            let own = product(&|x, y| damping.matrix().unwrap().mul(x, y));
            let d = product(&|x, y| damping.assemble(&mass, &stiffness).mul(x, y));
            for i in 0..v.len() {
                let expected = 0.3 * m[i] + 0.02 * k[i] + own[i];
                assert!((d[i] - expected).abs() < 1e-10, "{} instead of {expected}", d[i]);
            }
        }
    }

    #[test]
    fn impossible_coefficients_and_matrices_are_named() {
        let error = |mass, stiffness| Damping::rayleigh(mass, stiffness).unwrap_err().to_string();
        assert_eq!(error(-0.1, 0.0), "the mass damping α is -0.1, expected a finite number [1/s] ≥ 0");
        assert!(error(0.0, f64::NAN).starts_with("the stiffness damping β is NaN, expected a finite number [s]"));
        assert!(error(f64::INFINITY, 0.0).contains("is inf"));
        let lopsided = Triplets { row_count: 6, column_count: 6, entries: vec![(0, 5, 1.0)] };
        let error = Damping::default().with_matrix(&lopsided, 2).unwrap_err().to_string();
        assert!(error.starts_with("the damping matrix: expected a symmetric matrix, but entry (0, 5) is 1"), "{error}");
        assert!(Damping::rayleigh(0.0, 0.0).unwrap().is_zero());
    }
}
