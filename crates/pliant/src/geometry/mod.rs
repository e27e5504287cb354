//! Where things are: triangles and trees of them, what is inside of a surface, and solids given by formulas.
//!
//! A [`Solid`] answers what a mesher asks: is this point inside, and where does this edge leave? There are two kinds.
//! A [`Form`] is a formula, or several put together. An [`Enclosed`] is what a surface of triangles encloses, also one
//! with holes or crossings: inside is where its generalised winding number is at least one half.
//!
//! ```
//! use pliant::geometry::{Form, Solid};
//! use pliant::math::Vec3;
//!
//! let cup = Form::ball(Vec3::ZERO, 1.0).minus(Form::ball(Vec3::new(0.0, 0.5, 0.0), 0.9));
//! assert!(cup.contains(Vec3::new(0.0, -0.8, 0.0)));
//! assert!(!cup.contains(Vec3::ZERO));
//! ```

mod enclosed;
mod form;
mod solid;
mod tree;
mod triangle;
mod winding;

pub use enclosed::{Enclosed, Thickened};
pub use form::{Form, FormError};
pub use solid::{Probe, Solid};
pub use tree::{Nearest, TriangleTree};
pub use triangle::{Triangle, area_vector, crosses, nearest_on_triangle, solid_angle};
pub use winding::WindingTree;

use crate::math::Vec3;

/// The smallest box around `points`: its low and high corner.
pub fn bounding_box(points: impl IntoIterator<Item = Vec3>) -> [Vec3; 2] {
    points.into_iter().fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
}

/// The smallest box around two boxes.
pub fn box_around([low, high]: [Vec3; 2], [other_low, other_high]: [Vec3; 2]) -> [Vec3; 2] {
    [low.min(other_low), high.max(other_high)]
}
