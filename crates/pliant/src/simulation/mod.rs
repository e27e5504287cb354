//! Simulation: a model advanced in time by an integrator and a linear solver, with recorded probes.

mod checkpoint;
mod driver;
mod energy;
mod probe;
mod stepper;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use driver::Simulation;
pub use energy::{EnergyBalance, EnergyGain};
pub use probe::{COLUMNS, ContactBodies, Probe, Quantities, Recorder, Table, TableError};
pub use stepper::Stepper;
