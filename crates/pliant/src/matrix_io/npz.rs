//! SciPy's `.npz` of a sparse matrix, for `scipy.sparse.load_npz`: a ZIP archive of the NumPy arrays `format`, `shape`,
//! `data`, `indices` and `indptr`.
//!
//! The archive is not compressed, which is NumPy's default. Such an archive is a header before each file and a central
//! directory at the end, too little to justify a dependency. All dates are the earliest of ZIP, so that equal matrices
//! give equal files.

use std::path::Path;

use crc32fast::Hasher;

use super::npy::encode;
use crate::files::WriteError;
use crate::sparse::Csr;

pub const NAME: &str = "SciPy's .npz";

pub fn write(path: &Path, matrix: &Csr) -> Result<Vec<u8>, WriteError> {
    let (count, size) = (matrix.values.len(), matrix.row_count());
    let shape = format!("({count},)");
    let sizes = [size as i64; 2].into_iter().flat_map(i64::to_le_bytes);
    let data = matrix.values.iter().flat_map(|value| value.to_le_bytes());
    let mut archive = Archive::new(path);
    archive.add("format.npy", &encode("|S3", "()", b"csr".iter().copied()))?;
    archive.add("shape.npy", &encode("<i8", "(2,)", sizes))?;
    archive.add("data.npy", &encode("<f8", &shape, data))?;
    let starts = format!("({},)", size + 1);
    // SciPy needs indices of one type, and is faster with the shorter one.
    if i32::try_from(count).is_ok() && i32::try_from(size).is_ok() {
        let indices = matrix.columns.iter().flat_map(|&column| (column as i32).to_le_bytes());
        archive.add("indices.npy", &encode("<i4", &shape, indices))?;
        let indptr = matrix.row_starts.iter().flat_map(|&start| (start as i32).to_le_bytes());
        archive.add("indptr.npy", &encode("<i4", &starts, indptr))?;
    } else {
        let indices = matrix.columns.iter().flat_map(|&column| i64::from(column).to_le_bytes());
        archive.add("indices.npy", &encode("<i8", &shape, indices))?;
        let indptr = matrix.row_starts.iter().flat_map(|&start| (start as i64).to_le_bytes());
        archive.add("indptr.npy", &encode("<i8", &starts, indptr))?;
    }
    archive.finish()
}

/// Writer of a ZIP archive.
struct Archive<'a> {
    path: &'a Path,
    out: Vec<u8>,
    /// Central directory: the list of files at the end of the archive.
    list: Vec<u8>,
    count: u16,
}

/// Midnight of 1 January 1980, as time and date of ZIP.
const EARLIEST: [u16; 2] = [0, 0x21];

impl<'a> Archive<'a> {
    fn new(path: &'a Path) -> Self {
        Self { path, out: Vec::new(), list: Vec::new(), count: 0 }
    }

    fn add(&mut self, name: &str, content: &[u8]) -> Result<(), WriteError> {
        let mut checksum = Hasher::new();
        checksum.update(content);
        let offset = self.position()?;
        let size = u32::try_from(content.len()).map_err(|_| self.too_large())?;
        // Common to the header of a file and its entry in the central directory: version 2.0, no flags, not compressed.
        let mut common = Vec::new();
        push16(&mut common, [20, 0, 0]);
        push16(&mut common, EARLIEST);
        push32(&mut common, [checksum.finalize(), size, size]);
        push16(&mut common, [name.len() as u16, 0]);

        self.out.extend(b"PK\x03\x04");
        self.out.extend(&common);
        self.out.extend(name.as_bytes());
        self.out.extend(content);

        self.list.extend(b"PK\x01\x02");
        // The version that wrote it, then the common part; no comment, disk 0, no attributes.
        push16(&mut self.list, [20]);
        self.list.extend(&common);
        push16(&mut self.list, [0; 3]);
        push32(&mut self.list, [0, offset]);
        self.list.extend(name.as_bytes());
        self.count += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>, WriteError> {
        let (start, length) = (self.position()?, self.list.len() as u32);
        self.out.append(&mut self.list);
        self.out.extend(b"PK\x05\x06");
        push16(&mut self.out, [0, 0, self.count, self.count]);
        push32(&mut self.out, [length, start]);
        push16(&mut self.out, [0]);
        Ok(self.out)
    }

    fn position(&self) -> Result<u32, WriteError> {
        u32::try_from(self.out.len()).map_err(|_| self.too_large())
    }

    fn too_large(&self) -> WriteError {
        let what = "a matrix of more than 4 GiB; write it as .mtx";
        WriteError::Unsupported { path: self.path.into(), format: NAME, what }
    }
}

fn push16<const N: usize>(out: &mut Vec<u8>, numbers: [u16; N]) {
    out.extend(numbers.into_iter().flat_map(u16::to_le_bytes));
}

fn push32<const N: usize>(out: &mut Vec<u8>, numbers: [u32; N]) {
    out.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
}

#[cfg(test)]
mod tests {
    use super::super::npy;
    use super::*;

    fn u32_at(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    /// Returns the files of an archive, found through its central directory, as ZIP readers do.
    fn files(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
        let end = archive.len() - 22;
        assert_eq!(&archive[end..end + 4], b"PK\x05\x06");
        let (count, length, mut line) = (archive[end + 10], u32_at(archive, end + 12), u32_at(archive, end + 16));
        assert_eq!(line + length, end);
        let mut files = Vec::new();
        for _ in 0..count {
            assert_eq!(&archive[line..line + 4], b"PK\x01\x02");
            let (checksum, size) = (u32_at(archive, line + 16), u32_at(archive, line + 20));
            let (name_length, head) = (usize::from(archive[line + 28]), u32_at(archive, line + 42));
            let name = &archive[line + 46..line + 46 + name_length];
            assert_eq!(&archive[head..head + 4], b"PK\x03\x04");
            assert_eq!(archive[head + 4..head + 30], archive[line + 6..line + 32]);
            assert_eq!(&archive[head + 30..head + 30 + name_length], name);
            let content = &archive[head + 30 + name_length..head + 30 + name_length + size];
            let mut crc = Hasher::new();
            crc.update(content);
            assert_eq!(crc.finalize() as usize, checksum);
            files.push((String::from_utf8(name.into()).unwrap(), content.into()));
            line += 46 + name_length;
        }
        assert_eq!(line, end);
        files
    }

    #[test]
    fn the_archive_holds_the_five_arrays_of_scipy() {
        let csr = Csr { row_starts: vec![0, 2, 2, 3], columns: vec![0, 2, 1], values: vec![0.5, -3.0, 1e300] };
        let files = files(&write(Path::new("K.npz"), &csr).unwrap());
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["format.npy", "shape.npy", "data.npy", "indices.npy", "indptr.npy"]);
        assert!(files[0].1.ends_with(b"\ncsr") && files[0].1.windows(18).any(|text| text == b"'descr': '|S3', 'f"));
        let array = |file: usize| npy::read(Path::new(names[file]), &files[file].1).unwrap().values().to_vec();
        assert_eq!(array(1), [3.0, 3.0]);
        assert_eq!(array(2), csr.values);
        assert_eq!(array(3), [0.0, 2.0, 1.0]);
        assert_eq!(array(4), [0.0, 2.0, 2.0, 3.0]);
    }
}
