//! Shapes of obstacles: one file per shape.

mod ball;
mod definition;
mod error;
mod hollow_ball;
mod plane;

pub use crate::contact::ObstacleGeometry;
pub use ball::Ball;
pub use definition::{Curvature, ObstacleShape, Placement, SurfacePoint};
pub use error::ShapeError;
pub use hollow_ball::HollowBall;
pub use plane::Plane;
