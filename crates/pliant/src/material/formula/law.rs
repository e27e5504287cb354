//! Law of a formula, with its checks.

use super::FormulaError;
use super::parse::{self, Variables};
use super::program::Program;
use crate::material::{ByStretches, Isotropic, Law, YoungPoisson};
use crate::math::matrix::{Matrix9, Vector};
use crate::math::{Matrix, Real};

/// Law given by the text of its energy density \[J/m³\], such as `mu/2*(I1-3) - mu*ln(J) + lambda/2*ln(J)^2`. Stress
/// and tangent are its exact derivatives.
///
/// - Variables: either the invariants `I1 = tr C`, `I2 = ½(I1² − tr C²)`, `I3 = det C` and `J = det F`, or the
///   principal stretches `l1`, `l2`, `l3`, also written `λ1` or `λ₁`, in which the formula must be symmetric.
/// - Parameters: names with given values. `pi` is predefined.
/// - Operators `+ - * / ^` and parentheses. `^` binds tightest and is right-associative: `-x^2` is `−(x²)`, `2^3^2` is
///   `2⁹`.
/// - Functions `ln`, `exp`, `sqrt`, `cbrt`, `abs`, `min`, `max`, `pow`.
///
/// A constant integer power is a product, so that `(J-1)^2` is defined for `J < 1`. A constant multiple of 1/2 or 1/3
/// is a power of the square or cube root. Any other constant power needs a positive base. A variable power is
/// `exp(b ln a)`.
///
/// A constant energy at rest is subtracted. A formula with a nonzero stress at rest, or that is not elastic at small
/// strains, is an error.
///
/// # Examples
///
/// ```
/// use pliant::material::{Formula, FormulaError};
///
/// let rubber = Formula::new("c*(J^(-2/3)*I1 - 3) + k/2*(J - 1)^2", &[("c", 1e5), ("k", 2e6)])?;
/// let moduli = rubber.moduli();
/// assert!((moduli.mu() - 2e5).abs() < 1e-4 && (moduli.bulk() - 2e6).abs() < 1e-3);
///
/// let error = Formula::new("mu/2*(I1 - 3", &[("mu", 1e5)]).unwrap_err();
/// assert_eq!(error.to_string(), "\
/// expected an operator or `)`, found the end, at column 13
///   mu/2*(I1 - 3
///               ^");
/// # Ok::<(), FormulaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    law: ByVariables,
    moduli: YoungPoisson,
}

#[derive(Debug, Clone, PartialEq)]
enum ByVariables {
    Invariants(Isotropic<Program>),
    Stretches(ByStretches<Program>),
}

/// Tolerance for zero at rest, relative to the stiffness there.
const ROUNDING: f64 = 1e-9;

impl Formula {
    /// Creates the law with this energy density and these parameters, such as `("mu", 1e5)`.
    pub fn new(text: &str, parameters: &[(&str, f64)]) -> Result<Self, FormulaError> {
        let (program, variables) = parse::parse(text, parameters)?;
        let law = match variables {
            Some(Variables::Stretches) => {
                check_finite("energy", program.run([1.0; 3]))?;
                check_symmetric(&program)?;
                ByVariables::Stretches(ByStretches::new(program))
            }
            Some(Variables::Invariants) | None => {
                check_finite("energy", program.run([3.0, 3.0, 1.0]))?;
                ByVariables::Invariants(Isotropic::new(program))
            }
        };
        let mut formula = Self { text: text.into(), law, moduli: YoungPoisson { young: 0.0, poisson: 0.0 } };
        formula.moduli = formula.moduli_at_rest()?;
        Ok(formula)
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the small-strain moduli.
    pub fn moduli(&self) -> YoungPoisson {
        self.moduli
    }

    fn moduli_at_rest(&self) -> Result<YoungPoisson, FormulaError> {
        let (stress, tangent) = self.stress_and_tangent(&Matrix::<f64>::identity());
        let stress = stress.0[0][0];
        check_finite("stress", stress)?;
        let mut stiffness = 0.0_f64;
        for &entry in tangent.as_flattened() {
            check_finite("stiffness", entry)?;
            stiffness = stiffness.max(entry.abs());
        }
        if stress.abs() > ROUNDING * stiffness {
            return Err(FormulaError::RestStress { stress });
        }
        // A = μ(δᵢₖδⱼₗ + δᵢₗδⱼₖ) + λ δᵢⱼδₖₗ
        let (mu, lambda) = (tangent[1][1], tangent[0][4]);
        let bulk = lambda + 2.0 / 3.0 * mu;
        if !(mu > ROUNDING * stiffness && bulk > ROUNDING * stiffness) {
            return Err(FormulaError::Moduli { shear: mu, bulk });
        }
        Ok(YoungPoisson::from_lame(mu, lambda))
    }
}

fn check_finite(what: &'static str, value: f64) -> Result<(), FormulaError> {
    if value.is_finite() { Ok(()) } else { Err(FormulaError::NotFinite { what, value }) }
}

/// Compares the energy at a few states with permuted stretches. A state in which the energy is undefined is skipped.
fn check_symmetric(program: &Program) -> Result<(), FormulaError> {
    for stretches in [[1.02, 0.97, 1.01], [1.15, 0.9, 1.05], [0.7, 1.6, 1.2], [2.1, 0.6, 0.8]] {
        let [a, b, c] = stretches;
        let energy: f64 = program.run(stretches);
        for exchanged in [[b, a, c], [a, c, b], [c, b, a]] {
            let other = program.run(exchanged);
            // Written so that an energy that is defined on one side only is detected.
            let same = (energy - other).abs() <= ROUNDING * energy.abs();
            if !same && (energy.is_finite() || other.is_finite()) {
                return Err(FormulaError::Asymmetric { stretches, energy, exchanged, other });
            }
        }
    }
    Ok(())
}

impl Law for Formula {
    const COEFFICIENTS: &'static [&'static str] = &[];

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        match &self.law {
            ByVariables::Invariants(law) => law.energy(f),
            ByVariables::Stretches(law) => law.energy(f),
        }
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        match &self.law {
            ByVariables::Invariants(law) => law.stress(f),
            ByVariables::Stretches(law) => law.stress(f),
        }
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        match &self.law {
            ByVariables::Invariants(law) => law.tangent(f),
            ByVariables::Stretches(law) => law.tangent(f),
        }
    }

    #[inline(always)]
    fn stress_and_tangent<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        match &self.law {
            ByVariables::Invariants(law) => law.stress_and_tangent(f),
            ByVariables::Stretches(law) => law.stress_and_tangent(f),
        }
    }
    #[inline(always)]
    fn stretch_energy<R: Real>(&self, sigma: Vector<R>) -> R {
        match &self.law {
            ByVariables::Invariants(law) => law.stretch_energy(sigma),
            ByVariables::Stretches(law) => law.stretch_energy(sigma),
        }
    }
}
