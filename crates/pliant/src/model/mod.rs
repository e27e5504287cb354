//! Bodies with their loads and boundary conditions.
//!
//! A [`Model`] describes them, and is not changed by a step. An [`Assembly`] is a model with its matrices and memory:
//! the [`System`](crate::system::System) that integrators step. A [`MatrixFree`] is one without matrices.

mod assembly;
mod builder;
mod contact;
mod definition;
mod fixed;
mod internal;
mod locking;
mod matrix_free;
mod observe;
mod surface;
mod work;

pub use assembly::{Assembly, DampingMatrix, StiffnessMatrix};
pub use builder::{Body, Kinematics, ModelBuilder, ModelError, rest_positions};
pub use contact::{ContactSkin, VertexContact};
pub use definition::{Model, ModelBody};
pub use fixed::{Fixed, FixedId};
pub use locking::{bending_ratio, locking_warning};
pub use matrix_free::{MatrixFree, MatrixFreeOperator};
pub use observe::Observation;
