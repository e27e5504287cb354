//! Reduced models: `u = U q` with a few tens of coordinates instead of three a vertex.

mod columns;
mod eigen;
mod inverse;
mod krylov;
mod modes;
mod rigid;

pub use modes::{Modes, ModesError, ModesInfo, ModesParams};
