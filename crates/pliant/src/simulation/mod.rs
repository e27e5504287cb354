//! Simulation: a model advanced in time by an integrator and a linear solver, with recorded probes.

mod checkpoint;
mod energy;
mod probe;
mod stepper;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use energy::{EnergyBalance, EnergyGain};
pub use probe::{COLUMNS, Probe, Quantities, Recorder, Table, TableError};
pub use stepper::Simulation;
