//! Loads: `[[load]]`. One file per kind with its options, and a line in [`LOADS`].

mod context;
mod force;
mod impulse;
mod options;
mod pressure;
mod steps;
mod table;
mod traction;

use crate::registry::{Entry, Registry};

pub use context::{Impulse, LoadContext, Loads};
pub use force::Force;
pub use impulse::ImpulseLoad;
pub use options::{LoadChoice, LoadOptions};
pub use pressure::PressureLoad;
pub use steps::Steps;
pub use table::Load;
pub use traction::Traction;

/// Kinds of loads.
pub static LOADS: Registry<Entry<dyn LoadOptions>> = Registry::new(
    "load",
    &[
        Entry::new::<Force>("force").with_main("value"),
        Entry::new::<Traction>("traction").with_main("value"),
        Entry::new::<PressureLoad>("pressure").with_main("value"),
        Entry::new::<ImpulseLoad>("impulse").with_main("value"),
        Entry::new::<Steps>("steps").with_main("file"),
    ],
);
