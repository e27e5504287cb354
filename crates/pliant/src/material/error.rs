//! Errors in the definition of a law.

use thiserror::Error;

use super::moduli::YOUNG;
use crate::math::short_number;

/// Error in the definition of a law.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum LawError {
    #[error("unknown law `{name}`; expected one of {known}")]
    Unknown { name: String, known: String },
    #[error("Young's modulus is {}, expected a positive number of Pa from {:e} to {:e}", short_number(*young), YOUNG.start(), YOUNG.end())]
    Young { young: f64 },
    #[error("Poisson's ratio is {poisson}, expected a number above -1 and below 0.5")]
    Poisson { poisson: f64 },
    #[error("coefficient `{coefficient}` is given twice")]
    CoefficientTwice { coefficient: String },
    #[error("the inversion threshold is {threshold}, expected a stretch above 0 and below 1")]
    Threshold { threshold: f64 },
    #[error(
        "the law {law} is not a function of the principal stretches, as inversion handling requires; set inversion to none"
    )]
    NoInversion { law: String },
    #[error("the compression resistance is {value:e}, expected a number from 0 to {max:e}")]
    CompressionResistance { value: f64, max: f64 },
    #[error("the coefficient {coefficient} is {value}, expected a finite number of Pa")]
    Coefficient { coefficient: String, value: f64 },
    #[error("the law `{law}` has no coefficient `{coefficient}`; it has {known}")]
    UnknownCoefficient { law: &'static str, coefficient: String, known: String },
    #[error("the law `{law}` needs its coefficient {coefficient}, in Pa")]
    MissingCoefficient { law: &'static str, coefficient: &'static str },
    #[error(
        "with these coefficients the law `{law}` has Young's modulus {young} Pa and Poisson's ratio {poisson} at small \
         strains, expected one above 0 and one between -1 and 0.5"
    )]
    Unstable { law: &'static str, young: f64, poisson: f64 },
}
