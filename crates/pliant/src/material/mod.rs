//! Elastic laws: energy density, stress and tangent as functions of the deformation gradient. One file per law.
//!
//! A law is generic over a [`Real`](crate::math::Real), so that it runs on one element or on several in the lanes of a
//! vector register. One line in [`AnyLaw`] registers it, and [`verify`](verify::verify) checks its derivatives.

mod by_energy;
mod by_stretches;
mod catalog;
mod coefficients;
mod compression;
mod corotational;
mod error;
mod formula;
mod hooke;
mod inversion;
mod isotropic;
mod lanes;
mod law;
mod linear;
mod moduli;
mod mooney_rivlin;
mod neo_hookean;
mod neo_hookean_bower;
mod points;
mod principal;
mod semidefinite;
mod stable_neo_hookean;
mod stvk;
mod tensor;
pub mod verify;

pub use by_energy::{ByEnergy, Energy};
pub use by_stretches::{ByStretches, StretchEnergy};
pub use catalog::{AnyLaw, LawEntry, LawOption};
pub use compression::CompressionResistant;
pub use corotational::{Corotational, CorotationalFrame, CorotationalTangent};
pub use error::LawError;
pub use formula::{Formula, FormulaError, TextPosition};
pub use inversion::Inversion;
pub use isotropic::{Invariants, Isotropic, IsotropicEnergy};
pub use lanes::{LANES, Points, TANGENT_ENTRIES, TANGENT_INDEX};
pub use law::{Law, LawVisitor};
pub use linear::Linear;
pub use moduli::YoungPoisson;
pub use mooney_rivlin::MooneyRivlin;
pub use neo_hookean::NeoHookean;
pub use neo_hookean_bower::NeoHookeanBower;
pub use points::{Definiteness, Material};
pub(crate) use principal::clamp_eigenvalues;
pub use principal::{PAIRS, Principal, diagonal};
pub use stable_neo_hookean::StableNeoHookean;
pub use stvk::StVenantKirchhoff;
pub use tensor::Tangent;
