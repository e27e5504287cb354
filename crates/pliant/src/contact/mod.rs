//! Contact of surfaces: distances of their primitives, the potential that keeps them apart, and collision detection.
//!
//! [`ContactEnergy`] is the potential of incremental potential contact \[LiFergusonSchneider2020\] between all surfaces
//! of a model. Each pair of a vertex and a triangle, or of two edges, contributes a barrier of their distance.

mod barrier;
mod box_tree;
mod candidates;
mod ccd;
mod distance;
mod energy;
#[cfg(test)]
mod exact;
mod friction;
mod intersection;
mod potential;
mod surface;
#[cfg(test)]
mod testing;

pub use barrier::{Derivatives, Mollifier, barrier};
pub use box_tree::{Bounds, BoxTree};
pub use candidates::Pair;
pub use ccd::safe_fraction;
pub use distance::{ClosestPoints, PairKind};
pub use energy::{ActivePair, ContactEnergy, ContactParams, Crossing, StepLimit};
pub use friction::{Friction, Sliding};
pub use intersection::edge_crosses_triangle;
pub use potential::{PairParams, PairPotential, RankOne};
pub use surface::{CollisionBody, CollisionSurface, CollisionSurfaceError};
