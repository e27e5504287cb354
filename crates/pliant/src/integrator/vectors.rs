//! Operations on vectors of coordinates.

pub(crate) use crate::solver::vector::{dot, norm};

/// Returns true if a coordinate is fixed. The list may be empty if none is.
pub fn is_fixed(fixed: &[bool], coordinate: usize) -> bool {
    fixed.get(coordinate).is_some_and(|fixed| *fixed)
}

/// Sets fixed coordinates to zero.
pub fn clear_fixed(fixed: &[bool], x: &mut [f64]) {
    for (x, fixed) in x.iter_mut().zip(fixed) {
        if *fixed {
            *x = 0.0;
        }
    }
}

/// Copies free coordinates.
pub fn copy_free(fixed: &[bool], from: &[f64], to: &mut [f64]) {
    for i in 0..to.len() {
        if !is_fixed(fixed, i) {
            to[i] = from[i];
        }
    }
}

/// Resizes a vector to this length. Its contents are unspecified.
pub fn sized(vector: &mut Vec<f64>, length: usize) {
    vector.resize(length, 0.0);
}
