//! Compression resistance: an additional stiffness that grows with compression, for any law.

use super::{Law, Tangent};
use crate::math::matrix::{Matrix9, Vector};
use crate::math::{Matrix, Real};

/// Law with an additional energy that grows as the volume shrinks, as in VegaFEM. With `J = det F`:
///
/// - `ψ + φ(J)`, `φ = −c (J − 1)³ / 2592` for `J < 1` and zero above
/// - `P + φ′ cof F`
/// - `A + φ″ cof F ⊗ cof F + φ′ ∂cof F/∂F`
///
/// With `c = 0` it is the law itself, at no cost.
#[derive(Debug, Clone)]
pub struct CompressionResistant<'a, L> {
    /// Underlying law.
    pub law: &'a L,
    /// Coefficient `c` \[Pa\].
    pub c: f64,
}

impl<L> CompressionResistant<'_, L> {
    /// Returns `φ`, `φ′` and `φ″`.
    #[inline(always)]
    fn volume_energy<R: Real>(&self, j: R) -> [R; 3] {
        let squeeze = (j - 1.0).min(R::from(0.0));
        let c = -self.c / 2592.0;
        [squeeze * squeeze * squeeze * c, squeeze * squeeze * (3.0 * c), squeeze * (6.0 * c)]
    }

    #[inline(always)]
    fn add_tangent<R: Real>(&self, f: &Matrix<R>, tangent: Matrix9<R>) -> Matrix9<R> {
        let (cofactor, [_, slope, curvature]) = (f.cofactor(), self.volume_energy(f.determinant()));
        let mut a = Tangent(tangent);
        a.add_outer(curvature, &cofactor, &cofactor);
        a.add_cofactor_derivative(slope, f);
        a.0
    }

    #[inline(always)]
    fn add_stress<R: Real>(&self, f: &Matrix<R>, stress: Matrix<R>) -> Matrix<R> {
        stress + f.cofactor() * self.volume_energy(f.determinant())[1]
    }
}

impl<L: Law> Law for CompressionResistant<'_, L> {
    const COEFFICIENTS: &'static [&'static str] = L::COEFFICIENTS;
    const OBJECTIVE: bool = L::OBJECTIVE;
    const ISOTROPIC: bool = L::ISOTROPIC;
    const DEFINED_INVERTED: bool = L::DEFINED_INVERTED;

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        let energy = self.law.energy(f);
        if self.c == 0.0 { energy } else { energy + self.volume_energy(f.determinant())[0] }
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let stress = self.law.stress(f);
        if self.c == 0.0 { stress } else { self.add_stress(f, stress) }
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        let tangent = self.law.tangent(f);
        if self.c == 0.0 { tangent } else { self.add_tangent(f, tangent) }
    }

    #[inline(always)]
    fn stress_and_tangent<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        let (stress, tangent) = self.law.stress_and_tangent(f);
        if self.c == 0.0 { (stress, tangent) } else { (self.add_stress(f, stress), self.add_tangent(f, tangent)) }
    }

    #[inline(always)]
    fn stretch_energy<R: Real>(&self, sigma: Vector<R>) -> R {
        self.law.stretch_energy(sigma) + self.volume_energy(sigma[0] * sigma[1] * sigma[2])[0]
    }

    fn tangent_is_exact(&self) -> bool {
        self.law.tangent_is_exact()
    }

    fn stress_is_exact(&self) -> bool {
        self.law.stress_is_exact()
    }

    fn has_principal_form(&self) -> bool {
        self.law.has_principal_form()
    }

    fn tangent_is_semidefinite(&self) -> bool {
        self.c == 0.0 && self.law.tangent_is_semidefinite()
    }
}
