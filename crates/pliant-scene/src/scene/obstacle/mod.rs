//! Obstacles: `[[obstacle]]`. One file per shape with its options, and a line in [`OBSTACLE_SHAPES`].

mod ball;
mod hollow_ball;
mod options;
mod plane;
mod table;

use crate::registry::{Entry, Registry};

pub use ball::Ball;
pub use hollow_ball::HollowBall;
pub use options::{ObstacleShapeChoice, ObstacleShapeContext, ObstacleShapeOptions};
pub use plane::Plane;
pub use table::Obstacle;

/// Shapes of obstacles.
pub static OBSTACLE_SHAPES: Registry<Entry<dyn ObstacleShapeOptions>> = Registry::new(
    "obstacle shape",
    &[Entry::new::<Plane>("plane"), Entry::new::<Ball>("ball"), Entry::new::<HollowBall>("hollow-ball")],
);
