//! Contact of surfaces: distances of their primitives, the potential that keeps them apart, and collision detection.
//!
//! [`ContactEnergy`] is the potential of incremental potential contact \[LiFergusonSchneider2020\] between all surfaces
//! of a model, and [`FrictionContacts`] the friction of a step. Each pair of a vertex and a triangle, or of two edges,
//! contributes a barrier of their distance.

mod barrier;
mod box_tree;
mod build;
mod candidates;
mod ccd;
mod collider;
mod collider_time;
mod distance;
mod energy;
#[cfg(test)]
mod exact;
mod friction;
mod geometry;
mod intersection;
mod islands;
mod params;
mod points;
mod potential;
mod shape;
mod sliding;
mod step_motion;
mod surface;
#[cfg(test)]
mod testing;

pub use barrier::{Derivatives, Mollifier, barrier};
pub use box_tree::{Bounds, BoxTree};
pub use build::{ContactError, ContactSurfaces};
pub use candidates::Pair;
pub use ccd::safe_fraction;
pub use collider::{Collider, ColliderError, ColliderMotion, ColliderShape, PointSequence, PointSequenceError};
pub use collider_time::ColliderTime;
pub use distance::{ClosestPoints, PairKind};
pub use energy::{ActivePair, ContactEnergy, Contacts, Crossing, StepLimit};
pub use friction::{Friction, Sliding};
pub use geometry::ObstacleGeometry;
pub use intersection::{edge_crosses_triangle, intersects_itself};
pub use islands::Islands;
pub use params::{ContactParams, ContactParamsError, PairBehavior, PairRule};
pub use points::PointContact;
pub use potential::{PairParams, PairPotential, RankOne};
pub use shape::ActiveShape;
pub use sliding::FrictionContacts;
pub use step_motion::StepMotion;
pub use surface::{CollisionBody, CollisionSurface, CollisionSurfaceError, SurfaceMotion};
