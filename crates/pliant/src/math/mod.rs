//! Vectors, matrices, and sums that are identical for any number of threads.
//!
//! Geometry uses glam's [`Vec3`] and [`Mat3`]. Laws and element kernels are written over a [`Real`] and use [`Matrix`],
//! so that they run on several elements at a time.

mod decompose;
mod dual;
mod jet;
mod lanes;
pub mod matrix;
mod outer;
mod real;
mod simd;
mod sum;
mod text;

pub use decompose::{SignedSvd, nearest_rotation};
pub use dual::Dual;
pub use jet::Jet;
pub use matrix::Matrix;
pub use outer::outer;
pub use real::Real;
pub use simd::lane_count;
pub use sum::{par_sum, par_sum_in};
pub use text::short_number;

pub(crate) use lanes::Lanes;
pub(crate) use simd::{Kernel, Simd, Singles, dispatch, dispatch_for, fused};

pub use glam::{DAffine3 as Affine3, DMat3 as Mat3, DVec3 as Vec3};
