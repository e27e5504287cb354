//! Binary checkpoint files with the state of a simulation.
//!
//! All numbers are little-endian, in this order:
//!
//! - the eight bytes `PLIANTCK`;
//! - the version and the fingerprint of the simulation, four bytes each;
//! - the step, the number of coordinates, flags (1 for accelerations, 2 for the previous step), the number of history
//!   variables and three solver counters since the last record, eight bytes each;
//! - the energy balance in nine numbers and the time, then positions, velocities, accelerations, history variables, and
//!   the length of the previous step with the changes of positions and velocities in it, eight bytes per number;
//! - a checksum (CRC-32) of all bytes before it, four bytes.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::EnergyBalance;
use crate::files::{Files, ReadError, Seal, Sealed, WriteError};
use crate::system::{PreviousStep, State};

/// State of a simulation at some step.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Checksum of the simulation that the checkpoint belongs to.
    pub fingerprint: u32,
    /// Number of completed steps.
    pub step: u64,
    /// Solver counters since the last record: Newton iterations, linear iterations and factorizations.
    pub work: [u64; 3],
    /// External work and dissipated energy since the start.
    pub energy: EnergyBalance,
    /// State of the system.
    pub state: State,
}

/// Error of a checkpoint that cannot be used.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum CheckpointError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{}: incomplete or damaged checkpoint: {found}", path.display())]
    Broken { path: PathBuf, found: String },
    #[error("the checkpoint belongs to another scene or mesh: expected fingerprint {expected:08x}, found {found:08x}")]
    OtherModel { found: u32, expected: u32 },
    #[error("the checkpoint has {found} coordinates, expected {expected}")]
    Length { found: usize, expected: usize },
    #[error("the checkpoint has {found} history variables, expected {expected}")]
    History { found: usize, expected: usize },
    #[error("the checkpoint is at step {step}, expected a multiple of {every}")]
    Step { step: u64, every: u64 },
}

const MAGIC: &[u8; 8] = b"PLIANTCK";
const VERSION: u32 = 3;
/// Flags of what a state contains.
const ACCELERATIONS: u64 = 1;
const PREVIOUS_STEP: u64 = 2;

impl Checkpoint {
    /// Writes the checkpoint, which appears complete or not at all.
    pub fn write(&self, files: &dyn Files, path: &Path) -> Result<(), WriteError> {
        let State { time, q, v, a, previous, history } = &self.state;
        let mut seal = Seal::new(MAGIC, VERSION);
        seal.u32(self.fingerprint);
        let flags = if a.is_some() { ACCELERATIONS } else { 0 } | if previous.is_some() { PREVIOUS_STEP } else { 0 };
        let head = [self.step, q.len() as u64, flags, history.len() as u64];
        head.into_iter().chain(self.work).for_each(|number| seal.u64(number));
        seal.f64s(&self.energy.to_numbers());
        seal.f64s([time].into_iter().chain(q).chain(v).chain(a.iter().flatten()).chain(history));
        if let Some(PreviousStep { dt, dq, dv }) = previous {
            seal.f64s([dt].into_iter().chain(dq).chain(dv));
        }
        files.write(path, &seal.finish())
    }

    /// Reads a checkpoint.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, CheckpointError> {
        let bytes = files.read(path)?;
        Self::decode(&bytes).map_err(|found| CheckpointError::Broken { path: path.into(), found })
    }

    fn decode(bytes: &[u8]) -> Result<Self, String> {
        let mut sealed = Sealed::open(bytes, MAGIC, VERSION)?;
        let fingerprint = sealed.u32()?;
        let (step, count, flags, history) = (sealed.u64()?, sealed.u64()?, sealed.u64()?, sealed.u64()?);
        let work = [sealed.u64()?, sealed.u64()?, sealed.u64()?];
        let known = ACCELERATIONS | PREVIOUS_STEP;
        if flags > known {
            return Err(format!("flags {flags}, expected at most {known}"));
        }
        let energy: [f64; EnergyBalance::NUMBERS] = sealed
            .f64s(EnergyBalance::NUMBERS as u64, "energies")?
            .try_into()
            .map_err(|_| "the energies".to_owned())?;
        let energy = EnergyBalance::from_numbers(energy);
        let time = sealed.f64s(1, "times")?[0];
        let numbers = |sealed: &mut Sealed<'_>| sealed.f64s(count, "coordinates");
        let (q, v) = (numbers(&mut sealed)?, numbers(&mut sealed)?);
        let a = if flags & ACCELERATIONS != 0 { Some(numbers(&mut sealed)?) } else { None };
        let history = sealed.f64s(history, "history variables")?;
        let previous = if flags & PREVIOUS_STEP != 0 {
            let dt = sealed.f64s(1, "step lengths")?[0];
            Some(PreviousStep { dt, dq: numbers(&mut sealed)?, dv: numbers(&mut sealed)? })
        } else {
            None
        };
        sealed.finish()?;
        Ok(Self { fingerprint, step, work, energy, state: State { time, q, v, a, previous, history } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    fn checkpoint(a: Option<Vec<f64>>) -> Checkpoint {
        // With or without both.
        let previous = a.as_ref().map(|_| PreviousStep { dt: 0.1, dq: vec![-0.0, 1.5, 2.5], dv: vec![4.5, 5.5, 6.5] });
        let (q, v, history) = (vec![1.0, -0.0, 1e-300], vec![0.1, 0.2, 0.3], vec![7.0, -0.0]);
        let state = State { time: 0.1 + 0.2, q, v, a, previous, history };
        let energy = EnergyBalance::from_numbers([1.0, 2.0, -3.0, -4.0, 5.0, 6.0, 7.0, f64::MAX, f64::MIN]);
        Checkpoint { fingerprint: 7, step: 300, work: [1, 2, 3], energy, state }
    }

    fn bytes(checkpoint: &Checkpoint) -> Vec<u8> {
        let files = Memory::default();
        checkpoint.write(&files, Path::new("c")).unwrap();
        files.contents().remove(0).1
    }

    #[test]
    fn a_checkpoint_survives_to_the_last_bit() {
        for a in [None, Some(vec![3.0, 4.0, 5.0])] {
            let before = checkpoint(a);
            let read = Checkpoint::read(&Memory::with("c", bytes(&before)), Path::new("c")).unwrap();
            assert_eq!(read, before);
            assert_eq!(read.state.q[1].to_bits(), before.state.q[1].to_bits());
        }
    }

    #[test]
    fn the_seed_of_the_fuzz_target_is_a_checkpoint() {
        let seed = include_bytes!("../../../../fuzz/corpus/bin/three.bin");
        let read = Checkpoint::read(&Memory::with("c", *seed), Path::new("c")).unwrap();
        assert_eq!((read.step, read.work, read.state.q), (100, [1, 2, 3], vec![0.0, 0.1, -0.2]));
    }

    #[test]
    fn whatever_is_cut_or_changed_is_noticed() {
        let good = bytes(&checkpoint(Some(vec![3.0, 4.0, 5.0])));
        let read = |bytes: Vec<u8>| Checkpoint::read(&Memory::with("c", bytes), Path::new("c"));
        for end in 0..good.len() {
            assert!(read(good[..end].to_vec()).is_err(), "{end}");
        }
        for place in 0..good.len() {
            for bit in 0..8 {
                let mut changed = good.clone();
                changed[place] ^= 1 << bit;
                assert!(read(changed).is_err(), "{place}");
            }
        }
        let mut huge = Seal::new(MAGIC, VERSION);
        huge.u32(7);
        [300, u64::MAX, 1, 0, 0, 0, 0].into_iter().for_each(|number| huge.u64(number));
        huge.f64s(&[0.0; EnergyBalance::NUMBERS + 1]);
        assert!(read(huge.finish()).unwrap_err().to_string().contains("18446744073709551615 coordinates"));
    }
}
