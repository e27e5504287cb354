//! Pliant's binary files: a magic word, a version, numbers, and a checksum of everything before it. Little-endian
//! throughout.
//!
//! Truncated, changed or appended data is detected before any number is used.

/// Writer of a checksummed file.
pub(crate) struct Seal {
    bytes: Vec<u8>,
}

const WORD: usize = 8;
const CHECKSUM: usize = 4;

impl Seal {
    pub fn new(magic: &[u8; WORD], version: u32) -> Self {
        let mut bytes = magic.to_vec();
        bytes.extend(version.to_le_bytes());
        Self { bytes }
    }

    pub fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn u64(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn f64s<'a>(&mut self, numbers: impl IntoIterator<Item = &'a f64>) {
        self.bytes.extend(numbers.into_iter().flat_map(|number| number.to_le_bytes()));
    }

    pub fn finish(mut self) -> Vec<u8> {
        let sum = checksum(&self.bytes);
        self.bytes.extend(sum.to_le_bytes());
        self.bytes
    }
}

/// Reader of a checksummed file, after the magic word and the version. Errors report what was found.
pub(crate) struct Sealed<'a> {
    left: &'a [u8],
}

impl<'a> Sealed<'a> {
    /// Checks everything except for the numbers themselves.
    pub fn open(bytes: &'a [u8], magic: &[u8; WORD], version: u32) -> Result<Self, String> {
        let min = WORD + 4 + CHECKSUM;
        if bytes.len() < min {
            return Err(format!("{} bytes, expected at least {min}", bytes.len()));
        }
        if !bytes.starts_with(magic) {
            return Err(format!("it does not begin with `{}`", String::from_utf8_lossy(magic)));
        }
        let (body, sum) = bytes.split_at(bytes.len() - CHECKSUM);
        let mut all = Self { left: &body[WORD..] };
        let found = all.u32()?;
        if found != version {
            return Err(format!("it has version {found}, expected {version}"));
        }
        if checksum(body).to_le_bytes() != sum {
            return Err("its checksum does not match".into());
        }
        Ok(all)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let Some((first, rest)) = self.left.split_first_chunk() else {
            return Err(format!("it ends {} bytes early", N - self.left.len()));
        };
        self.left = rest;
        Ok(*first)
    }

    pub fn u32(&mut self) -> Result<u32, String> {
        self.take().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }

    /// Returns `count` numbers of `what`, all of them finite. Memory is allocated only for numbers that exist.
    pub fn f64s(&mut self, count: u64, what: &str) -> Result<Vec<f64>, String> {
        let Some(bytes) = usize::try_from(count).ok().and_then(|count| count.checked_mul(8)) else {
            return Err(format!("{count} {what}"));
        };
        if bytes > self.left.len() {
            return Err(format!("{} bytes for {count} {what}", self.left.len()));
        }
        let (own, rest) = self.left.split_at(bytes);
        self.left = rest;
        let numbers: Vec<f64> = own.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(numbers)
        } else {
            Err("it has numbers that are not finite".into())
        }
    }

    /// Checks that nothing is left.
    pub fn finish(self) -> Result<(), String> {
        if self.left.is_empty() { Ok(()) } else { Err(format!("it has {} bytes more than it should", self.left.len())) }
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(bytes);
    sum.finalize()
}
