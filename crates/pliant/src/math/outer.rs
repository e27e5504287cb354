//! Outer product of vectors.

use super::{Mat3, Vec3};

/// Returns the outer product `a bᵀ`.
pub fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_product_has_row_times_column_entries() {
        let m = outer(Vec3::new(1.0, 2.0, 3.0), Vec3::new(5.0, 7.0, 11.0));
        assert_eq!(m.row(1), Vec3::new(10.0, 14.0, 22.0));
    }
}
