//! Import of VegaFEM scenes: the unchanged `.config` files of its interactive deformable simulator.
//!
//! ```text
//! *volumetricMeshFilename
//! turtle.veg
//! *solver
//! implicitBackwardEuler
//! *deformableObjectMethod
//! StVK
//! *timestep
//! 0.01
//! *dampingMassCoef
//! 0.0
//! *dampingStiffnessCoef
//! 0.01
//! ```
//!
//! Keys mean what they do in VegaFEM 4.0; `docs/migrating-from-vegafem.md` lists all of them. Omissions and differences
//! are reported in the notes of the [`SceneFile`](super::SceneFile).

mod entries;
mod keys;
mod springs;
mod steps;
mod translation;

pub use keys::{keys, spring_keys};
pub(super) use translation::read;
