//! Bytes of an array of a VTK XML file: a header, then the numbers, optionally compressed in blocks or in base64.
//!
//! ```text
//! not compressed   bytes | numbers                                            one base64 text
//! compressed       blocks, bytes per block, bytes in a smaller last block or 0,
//!                  compressed bytes of each block | blocks                    two base64 texts
//! ```

use std::borrow::Cow;
use std::io::{Read, Write};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;

use crate::io::binary::decode;

/// Base64 decoder that is as lenient as VTK about padding at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Uncompressed size of a written block in bytes, as in VTK.
const BLOCK: usize = 1 << 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compressor {
    None,
    Zlib,
    Lz4,
}

impl Compressor {
    /// Returns the maximum compression ratio of any data: data that claims more is malicious or broken.
    const fn best_ratio(self) -> u64 {
        match self {
            Self::None => 1,
            Self::Zlib => 1032,
            Self::Lz4 => 255,
        }
    }
}

/// Maximum memory of the arrays of a file relative to its size, however well they are compressed, besides an allowance
/// for small files. A regular block, which compresses as well as any mesh, takes 7 times the size of its file.
const MAX_MEMORY: usize = 64;
const LITTLE: usize = 256 << 10;

/// Remaining bytes that may be read, so that neither arrays that share their bytes nor arrays of zeros multiply the
/// size of a file.
#[derive(Debug)]
pub(super) struct Budget {
    /// Bytes of the file.
    packed: usize,
    /// Bytes of memory.
    unpacked: usize,
}

impl Budget {
    pub fn of_file(bytes: usize) -> Self {
        // Each byte is read once in a valid file; twice is lenient.
        Self { packed: bytes.saturating_mul(2), unpacked: bytes.saturating_mul(MAX_MEMORY).saturating_add(LITTLE) }
    }

    /// Takes `bytes` of memory from the budget.
    pub fn take(&mut self, bytes: usize) -> Result<(), Problem> {
        self.unpacked = self.unpacked.checked_sub(bytes).ok_or_else(|| {
            let expected = format!("arrays that unpack to at most {MAX_MEMORY} times the bytes of the file");
            problem(expected, "more")
        })?;
        Ok(())
    }

    fn take_packed(&mut self, bytes: usize) -> Result<(), Problem> {
        let again = || problem("arrays with separate data", "the same data used repeatedly");
        self.packed = self.packed.checked_sub(bytes).ok_or_else(again)?;
        Ok(())
    }
}

/// Properties of an array that are known before it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub bytes: Option<usize>,
    /// Bytes of memory per byte of the array.
    pub growth: usize,
}

/// Layout of the binary arrays of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub little: bool,
    /// True if the numbers of headers have 8 bytes instead of 4.
    pub wide: bool,
    pub compressor: Compressor,
}

/// Defect in the bytes of an array: what was expected and what was found.
#[derive(Debug)]
pub(super) struct Problem {
    pub expected: String,
    pub found: String,
}

fn problem(expected: impl Into<String>, found: impl Into<String>) -> Problem {
    Problem { expected: expected.into(), found: found.into() }
}

fn too_short(count: usize, left: usize) -> Problem {
    problem(format!("{count} bytes of an array"), format!("only {left}"))
}

/// Bytes from the start of an array; the array may be shorter.
#[derive(Debug)]
pub(super) struct Source<'a> {
    bytes: Cow<'a, [u8]>,
    base64: bool,
}

impl<'a> Source<'a> {
    pub fn raw(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.into(), base64: false }
    }

    pub fn base64(text: &'a [u8]) -> Self {
        Self { bytes: text.into(), base64: true }
    }

    /// Creates a source from base64 between tags, which may contain white space.
    pub fn inline(text: &'a [u8]) -> Self {
        let text = text.trim_ascii();
        if text.iter().any(u8::is_ascii_whitespace) {
            let joined = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            return Self { bytes: Cow::Owned(joined), base64: true };
        }
        Self::base64(text)
    }

    /// Returns the first `count` bytes of the part that starts at `at`, and the start of the next part.
    fn part(&self, at: usize, count: usize) -> Result<(Cow<'_, [u8]>, usize), Problem> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if !self.base64 {
            let bytes = rest.get(..count).ok_or_else(|| too_short(count, rest.len()))?;
            return Ok((bytes.into(), at + count));
        }
        let length = count.div_ceil(3).saturating_mul(4).min(rest.len());
        let mut bytes = LENIENT.decode(&rest[..length]).map_err(|error| problem("base64", error.to_string()))?;
        if bytes.len() < count {
            return Err(too_short(count, bytes.len()));
        }
        bytes.truncate(count);
        Ok((bytes.into(), at + length))
    }
}

impl Layout {
    /// Decodes the bytes of the array at the start of `source`. Their size in memory is taken from `budget`.
    pub fn decode(self, source: &Source<'_>, expected: Expected, budget: &mut Budget) -> Result<Vec<u8>, Problem> {
        if source.bytes.is_empty() && expected.bytes == Some(0) {
            return Ok(Vec::new());
        }
        let (bytes, used) = match self.compressor {
            Compressor::None => self.plain(source, expected, budget)?,
            Compressor::Zlib | Compressor::Lz4 => self.blocks(source, expected, budget)?,
        };
        budget.take_packed(used)?;
        Ok(bytes)
    }

    fn word(self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn words(self, bytes: &[u8]) -> Vec<u64> {
        if self.wide {
            decode::<u64>(bytes, self.little).collect()
        } else {
            decode::<u32>(bytes, self.little).map(u64::from).collect()
        }
    }

    fn plain(self, source: &Source<'_>, expected: Expected, budget: &mut Budget) -> Result<(Vec<u8>, usize), Problem> {
        let (header, _) = source.part(0, self.word())?;
        let length = check_length(self.words(&header).first().copied(), expected.bytes)?;
        budget.take(length.saturating_mul(expected.growth))?;
        // Header and numbers form one base64 text.
        let (bytes, used) = source.part(0, length.saturating_add(self.word()))?;
        Ok((bytes[self.word()..].to_vec(), used))
    }

    fn blocks(self, source: &Source<'_>, expected: Expected, budget: &mut Budget) -> Result<(Vec<u8>, usize), Problem> {
        let (start, _) = source.part(0, self.word())?;
        let count = self.words(&start).first().copied().unwrap_or(0);
        if count == 0 {
            check_length(Some(0), expected.bytes)?;
            return Ok((Vec::new(), self.word()));
        }
        let words = usize::try_from(count).unwrap_or(usize::MAX).saturating_add(3);
        let (header, at) = source.part(0, words.saturating_mul(self.word()))?;
        let header = self.words(&header);
        let [_, block, last, compressed @ ..] = header.as_slice() else {
            return Err(problem("the header of compressed blocks", "none"));
        };
        let last = if *last == 0 { block } else { last };
        let total = (count - 1).checked_mul(*block).and_then(|full| full.checked_add(*last));
        let length = check_length(total, expected.bytes)?;
        let packed = compressed.iter().fold(0_u64, |sum, &size| sum.saturating_add(size));
        // Allows for blocks that are barely larger than the overhead of any block.
        if length as u64 > packed.saturating_mul(self.compressor.best_ratio()).saturating_add(64 * count) {
            return Err(problem("blocks that unpack to a plausible size", format!("{length} bytes from {packed}")));
        }
        budget.take(length.saturating_mul(expected.growth))?;
        let (packed, end) = source.part(at, usize::try_from(packed).unwrap_or(usize::MAX))?;
        let mut packed = packed.as_ref();
        let mut bytes = Vec::new();
        for (index, &size) in compressed.iter().enumerate() {
            // The sum of the sizes was checked, so that each block is complete.
            let (piece, rest) = packed.split_at(size as usize);
            packed = rest;
            let unpacked = if index + 1 == compressed.len() { *last } else { *block };
            self.unpack(piece, unpacked as usize, &mut bytes)
                .map_err(|found| problem(format!("{unpacked} bytes in block {index}"), found))?;
        }
        Ok((bytes, end))
    }

    /// Decompresses a block that must have `length` bytes and appends it to `out`.
    fn unpack(self, packed: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let before = out.len();
        if self.compressor == Compressor::Zlib {
            // Grows as bytes appear, and stops one byte after the declared length.
            let promised = (length as u64).saturating_add(1);
            ZlibDecoder::new(packed).take(promised).read_to_end(out).map_err(|error| error.to_string())?;
        } else {
            if length as u64 > (packed.len() as u64 + 1) * self.compressor.best_ratio() {
                return Err(format!("{} bytes to unpack them from", packed.len()));
            }
            out.resize(before + length, 0);
            let got =
                lz4_flex::block::decompress_into(packed, &mut out[before..]).map_err(|error| error.to_string())?;
            out.truncate(before + got);
        }
        match out.len() - before {
            got if got == length => Ok(()),
            got if got > length => Err("more".into()),
            got => Err(format!("{got}")),
        }
    }
}

/// Returns a length from a header if it is the expected one.
fn check_length(length: Option<u64>, expected: Option<usize>) -> Result<usize, Problem> {
    let found = length.and_then(|length| usize::try_from(length).ok());
    match (found, expected) {
        (Some(found), Some(expected)) if found != expected => {
            Err(problem(format!("{expected} bytes in the array"), format!("{found}")))
        }
        (Some(found), _) => Ok(found),
        (None, _) => Err(problem("the length of an array", "a number too large for any")),
    }
}

/// Encodes the bytes of an array in base64, compressed with zlib, with little-endian 8-byte headers.
pub(super) fn encode(bytes: &[u8], level: Compression, out: &mut Vec<u8>) {
    let pack = |block: &[u8]| {
        let mut encoder = ZlibEncoder::new(Vec::new(), level);
        encoder.write_all(block).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
    };
    let blocks: Vec<Vec<u8>> = bytes.par_chunks(BLOCK).map(pack).collect();
    let sizes = [blocks.len(), BLOCK, bytes.len() % BLOCK].into_iter().chain(blocks.iter().map(Vec::len));
    let header: Vec<u8> = sizes.flat_map(|size| (size as u64).to_le_bytes()).collect();
    for part in [header, blocks.concat()] {
        out.extend_from_slice(BASE64_STANDARD.encode(part).as_bytes());
    }
}
