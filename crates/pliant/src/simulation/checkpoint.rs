//! Where a simulation was, in a file.
//!
//! All numbers are little-endian: the eight bytes `PLIANTCK`, the version and the fingerprint of the simulation in four bytes each, the
//! step, the number of coordinates, whether there are accelerations and the work since the last record in eight bytes each, the time, then positions, velocities and
//! accelerations in eight bytes a number, and a checksum (CRC-32) of all that in four.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::io::{Files, ReadError, WriteError};
use crate::system::State;

/// Where a simulation was at some step.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// A number that is another for another simulation.
    pub fingerprint: u32,
    /// How many steps had been made.
    pub step: u64,
    /// What the solvers had done since numbers were last recorded: Newton iterations, linear iterations and factorisations.
    pub work: [u64; 3],
    /// Where it was.
    pub state: State,
}

/// Why a checkpoint is of no use.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum CheckpointError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{}: this is not a whole checkpoint: {found}", path.display())]
    Broken { path: PathBuf, found: String },
    #[error("the checkpoint is of another scene or mesh (fingerprint {found:08x}, expected {expected:08x})")]
    OtherModel { found: u32, expected: u32 },
    #[error("the checkpoint has {found} coordinates, expected {expected}")]
    Length { found: usize, expected: usize },
    #[error("the checkpoint is at step {step}, expected a multiple of {every}")]
    Step { step: u64, every: u64 },
}

const MAGIC: &[u8; 8] = b"PLIANTCK";
const VERSION: u32 = 1;
/// The bytes before the numbers.
const HEAD: usize = 8 + 4 + 4 + 6 * 8 + 8;
const CHECKSUM: usize = 4;

impl Checkpoint {
    /// Write it, so that it appears complete or not at all.
    pub fn write(&self, files: &dyn Files, path: &Path) -> Result<(), WriteError> {
        let State { time, q, v, a } = &self.state;
        let numbers = q.len() * if a.is_some() { 3 } else { 2 };
        let mut bytes = Vec::with_capacity(HEAD + 8 * numbers + CHECKSUM);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.fingerprint.to_le_bytes());
        let head = [self.step, q.len() as u64, u64::from(a.is_some())];
        for number in head.into_iter().chain(self.work) {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(time.to_le_bytes());
        let all = q.iter().chain(v).chain(a.iter().flatten());
        bytes.extend(all.flat_map(|number| number.to_le_bytes()));
        bytes.extend(checksum(&bytes).to_le_bytes());
        files.write(path, &bytes)
    }

    /// Read it again.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, CheckpointError> {
        let bytes = files.read(path)?;
        let broken = |found: String| CheckpointError::Broken { path: path.into(), found };
        if bytes.len() < HEAD + CHECKSUM {
            return Err(broken(format!("{} bytes, expected at least {}", bytes.len(), HEAD + CHECKSUM)));
        }
        if !bytes.starts_with(MAGIC) {
            return Err(broken("it does not begin with `PLIANTCK`".into()));
        }
        let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let version = four(8);
        if version != VERSION {
            return Err(broken(format!("it has version {version}, expected {VERSION}")));
        }
        let (step, count, has_a) = (eight(16), eight(24), eight(32));
        let vectors = if has_a == 0 { 2 } else { 3 };
        let expected = count.checked_mul(8 * vectors).and_then(|n| n.checked_add((HEAD + CHECKSUM) as u64));
        if has_a > 1 || expected != Some(bytes.len() as u64) {
            return Err(broken(format!("{} bytes for {count} coordinates", bytes.len())));
        }
        let end = bytes.len() - CHECKSUM;
        if checksum(&bytes[..end]) != four(end) {
            return Err(broken("its checksum does not fit".into()));
        }
        let count = count as usize;
        let numbers = |vector: usize| -> Vec<f64> {
            (0..count).map(|i| f64::from_bits(eight(HEAD + 8 * (vector * count + i)))).collect()
        };
        let state = State {
            time: f64::from_bits(eight(HEAD - 8)),
            q: numbers(0),
            v: numbers(1),
            a: (has_a == 1).then(|| numbers(2)),
        };
        if state.defect().is_some() {
            return Err(broken("it has numbers that are not finite".into()));
        }
        Ok(Self { fingerprint: four(12), step, work: [eight(40), eight(48), eight(56)], state })
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Memory;

    fn checkpoint(a: Option<Vec<f64>>) -> Checkpoint {
        let state = State { time: 0.1 + 0.2, q: vec![1.0, -0.0, 1e-300], v: vec![0.1, 0.2, 0.3], a };
        Checkpoint { fingerprint: 7, step: 300, work: [1, 2, 3], state }
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
        let mut huge = good.clone();
        huge[24..32].fill(0xff);
        assert!(read(huge).unwrap_err().to_string().contains("bytes for 18446744073709551615 coordinates"));
    }
}
