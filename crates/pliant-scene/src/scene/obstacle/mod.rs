//! Obstacles: `[[obstacle]]`. One file per shape with its options, and a line in [`OBSTACLE_SHAPES`].

mod ball;
mod block;
mod capsule;
mod cylinder;
mod hollow_ball;
mod mesh;
mod options;
mod plane;
mod table;

use crate::registry::{Entry, Registry};

pub use ball::Ball;
pub use block::Block;
pub use capsule::Capsule;
pub use cylinder::Cylinder;
pub use hollow_ball::HollowBall;
pub use mesh::Mesh;
pub use options::{ObstacleShapeChoice, ObstacleShapeContext, ObstacleShapeOptions};
pub use plane::Plane;
pub use table::Obstacle;

/// Shapes of obstacles.
pub static OBSTACLE_SHAPES: Registry<Entry<dyn ObstacleShapeOptions>> = Registry::new(
    "obstacle shape",
    &[
        Entry::new::<Plane>("plane"),
        Entry::new::<Ball>("ball"),
        Entry::new::<HollowBall>("hollow-ball"),
        Entry::new::<Block>("box"),
        Entry::new::<Capsule>("capsule"),
        Entry::new::<Cylinder>("cylinder"),
        Entry::new::<Mesh>("mesh"),
    ],
);
