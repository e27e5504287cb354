//! Implicit solids, to be filled with tetrahedra. One file per solid with its options, and a line in [`SOLIDS`].

mod ball;
mod capsule;
mod difference;
mod gyroid;
mod intersection;
mod moved;
mod options;
mod rounded_box;
mod source;
mod torus;
mod union;

use crate::registry::{Entry, Registry};

pub use ball::Ball;
pub use capsule::Capsule;
pub use difference::Difference;
pub use gyroid::Gyroid;
pub use intersection::Intersection;
pub use moved::Moved;
pub use options::{SolidChoice, SolidError, SolidOptions};
pub use rounded_box::RoundedBox;
pub use source::SolidSource;
pub use torus::Torus;
pub use union::Union;

/// Implicit solids.
pub static SOLIDS: Registry<Entry<dyn SolidOptions>> = Registry::new(
    "solid",
    &[
        Entry::new::<Ball>("ball"),
        Entry::new::<Torus>("torus"),
        Entry::new::<RoundedBox>("rounded-box"),
        Entry::new::<Capsule>("capsule"),
        Entry::new::<Gyroid>("gyroid"),
        Entry::new::<Union>("union").with_main("of"),
        Entry::new::<Intersection>("intersection").with_main("of"),
        Entry::new::<Difference>("difference"),
        Entry::new::<Moved>("moved"),
    ],
);
