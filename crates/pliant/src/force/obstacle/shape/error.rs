//! Error in the definition of a shape.

use thiserror::Error;

use crate::math::Vec3;

/// Error in the definition of a shape: which property it is, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the {what} {problem}")]
pub struct ShapeError {
    /// Property, such as "radius".
    pub what: &'static str,
    /// Rest of a sentence that begins with the property, such as "is -1, expected a positive number".
    pub problem: String,
}

impl ShapeError {
    /// Creates an error.
    pub fn new(what: &'static str, problem: impl Into<String>) -> Self {
        Self { what, problem: problem.into() }
    }

    /// Checks that a vector is finite.
    pub fn check_finite(what: &'static str, vector: Vec3) -> Result<(), Self> {
        if vector.is_finite() { Ok(()) } else { Err(Self::new(what, "is not finite")) }
    }

    /// Checks that a length is positive and finite.
    pub fn check_length(what: &'static str, length: f64) -> Result<(), Self> {
        if length.is_finite() && length > 0.0 {
            return Ok(());
        }
        Err(Self::new(what, format!("is {length}, expected a positive number of meters")))
    }
}
