//! Layout of the folder of a run.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::RunError;
use super::inputs::Inputs;
use crate::output::{AnimationFormat, FORMATS, Frame};
use crate::scene::{Built, SceneFile};
use crate::{pictures, plots};
use pliant::files::{Disk, Files, ReadError};
use pliant::matrix_io::{self, Array};
use pliant::simulation::Table;

/// Status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Running, or killed before it ended.
    Running,
    /// Stopped, can be resumed.
    Stopped,
    /// A step failed.
    Failed,
    /// All steps have been made.
    Done,
}

/// Description of the run in a folder, stored as `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Version of Pliant that created the run.
    pub pliant: String,
    /// Stem of the names of output files.
    pub name: String,
    /// File name of the scene in the folder.
    pub scene: String,
    /// Folder that relative paths in the scene refer to.
    pub base: PathBuf,
    pub status: Status,
    /// Checksum of the scene text, which must not change until the run is done.
    pub scene_checksum: u32,
    /// Checksums of the meshes and their files; absent in runs of earlier versions.
    #[serde(default)]
    pub inputs: Option<Inputs>,
    /// Number of completed steps when the manifest was written.
    pub step: u64,
    pub steps: u64,
    /// Number of steps between frames.
    pub frame_every: u64,
    /// Length of a time step \[s\].
    pub dt: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

/// Exclusive access to a folder until dropped. The operating system releases the lock of a killed process.
#[derive(Debug)]
pub(super) struct Lock(fs::File);

impl Drop for Lock {
    fn drop(&mut self) {
        // The file names its owner, which is gone. A failure does no harm: the name is read only while the lock is
        // taken.
        drop(self.0.set_len(0));
    }
}

impl Folder {
    pub fn open(path: &Path) -> Self {
        Self(path.into())
    }

    /// Creates the folder and removes the files of an earlier run. Other files are neither removed nor overwritten.
    ///
    /// `lock` comes from [`Folder::lock_earlier`].
    pub fn create(&self, lock: Option<Lock>) -> Result<Lock, RunError> {
        let path = self.path();
        let wrong = |path: PathBuf| move |cause| RunError::Folder { path, cause };
        fs::create_dir_all(path).map_err(wrong(path.into()))?;
        // The lock file is created first: a run may have been killed before it wrote its manifest.
        let is_run = self.manifest_path().is_file() || self.lock_path().is_file();
        let ours = ["scene.toml", "scene.config", "probes.csv", "probes.npy", "checkpoint.bin", "frames"];
        if let Some(name) = ours.iter().find(|name| !is_run && path.join(name).exists()) {
            return Err(RunError::Foreign { folder: path.into(), name: (*name).into() });
        }
        let lock = lock.map_or_else(|| self.lock(), Ok)?;
        if let Ok(earlier) = self.manifest() {
            self.remove_outputs(&earlier)?;
        }
        for name in ours.iter().filter(|name| **name != "frames") {
            remove(&path.join(name))?;
        }
        remove_series(&self.frames(), "npy")?;
        for format in AnimationFormat::of_meshes().filter(|format| format.is_series()) {
            let extension = format.extensions[0];
            remove_series(&path.join(extension), extension)?;
        }
        fs::create_dir_all(self.frames()).map_err(wrong(self.frames()))?;
        Ok(lock)
    }

    /// Removes outputs made from all frames, which would be wrong for other frames.
    pub fn remove_outputs(&self, manifest: &Manifest) -> Result<(), RunError> {
        for format in FORMATS.iter().filter(|format| !(format.has_meshes() && format.is_series())) {
            let path = pictures::path(format, &self.0, &manifest.name);
            if format.is_plot() {
                plots::files(&self.0).iter().try_for_each(|path| remove(path))?;
            } else if format.is_series() {
                remove_series(&self.0.join(format.name), format.extensions[0])?;
            } else {
                remove(&path)?;
            }
        }
        Ok(())
    }

    fn lock_path(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// Prevents other processes from writing to the folder.
    pub fn lock(&self) -> Result<Lock, RunError> {
        let path = self.lock_path();
        let wrong = |cause| RunError::Folder { path: path.clone(), cause };
        // The content names the owner, which may be another process.
        let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.map_err(wrong)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // Some systems do not let other processes read a locked file: then the owner is unknown.
                drop(file.take(32).read_to_string(&mut owner));
                return Err(RunError::Locked { folder: self.0.clone(), process: owner.trim().parse().ok() });
            }
            Err(fs::TryLockError::Error(cause)) => return Err(wrong(cause)),
        }
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(wrong)?;
        Ok(Lock(file))
    }

    /// Locks the folder if it contains the lock file of an earlier run. Other folders are not changed.
    pub fn lock_earlier(&self) -> Result<Option<Lock>, RunError> {
        if self.lock_path().is_file() { self.lock().map(Some) } else { Ok(None) }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn probes(&self) -> PathBuf {
        self.0.join("probes.csv")
    }

    pub fn checkpoint(&self) -> PathBuf {
        self.0.join("checkpoint.bin")
    }

    fn frames(&self) -> PathBuf {
        self.0.join("frames")
    }

    pub fn frame(&self, number: usize) -> PathBuf {
        self.frames().join(format!("{number:06}.npy"))
    }

    /// Returns the number of the last frame, or `None` if there is no frame.
    pub fn last_frame(&self) -> Option<usize> {
        let names = fs::read_dir(self.frames()).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter_map(|name| name.to_str()?.strip_suffix(".npy")?.parse().ok()).max()
    }

    pub fn scene(&self, manifest: &Manifest) -> PathBuf {
        // Only the file name is used, so that a manifest cannot point outside the folder.
        self.0.join(Path::new(&manifest.scene).file_name().unwrap_or_default())
    }

    fn manifest_path(&self) -> PathBuf {
        self.0.join("run.json")
    }

    /// Creates a subfolder if it is absent, and returns its path.
    pub fn subfolder(&self, name: &str) -> Result<PathBuf, RunError> {
        let path = self.0.join(name);
        fs::create_dir_all(&path).map_err(|cause| RunError::Folder { path: path.clone(), cause })?;
        Ok(path)
    }

    /// Writes the scene, with file names that are valid from any folder, and the manifest.
    pub fn begin(&self, file: &SceneFile, built: &Built, inputs: Inputs) -> Result<Manifest, RunError> {
        let name = file.source.path.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy().into_owned());
        let text = file.to_portable_toml();
        // An empty path is the current folder.
        let base = std::path::absolute(Path::new(".").join(&file.source.folder))
            .map_err(|cause| RunError::Folder { path: file.source.folder.clone(), cause })?;
        let manifest = Manifest {
            pliant: env!("CARGO_PKG_VERSION").into(),
            name,
            scene: "scene.toml".into(),
            base,
            scene_checksum: checksum(&text),
            inputs: Some(inputs),
            status: Status::Running,
            step: 0,
            steps: built.steps,
            frame_every: built.frame_every,
            dt: built.simulation.dt(),
        };
        Disk.write(&self.scene(&manifest), text.as_bytes())?;
        self.write_manifest(&manifest)?;
        Ok(manifest)
    }

    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), RunError> {
        let text = serde_json::to_string_pretty(manifest).expect("a manifest is plain data") + "\n";
        Ok(Disk.write(&self.manifest_path(), text.as_bytes())?)
    }

    pub fn manifest(&self) -> Result<Manifest, RunError> {
        let not_a_run = |reason: String| RunError::NotARun { folder: self.0.clone(), reason };
        let bytes = Disk.read(&self.manifest_path()).map_err(|error| not_a_run(error.to_string()))?;
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|error| not_a_run(format!("run.json: {error}")))?;
        // Output files are named after it: it must not point outside the folder.
        if Path::new(&manifest.name).file_name() != Some(std::ffi::OsStr::new(&manifest.name)) {
            return Err(not_a_run(format!("run.json: invalid name `{}`: expected a file name", manifest.name)));
        }
        Ok(manifest)
    }

    /// Writes all probe values as an array for NumPy.
    pub fn write_probes(&self, table: &Table) -> Result<(), RunError> {
        let array = Array::from_rows(table.columns.len(), table.rows.concat()).expect("rows of equal length");
        Ok(matrix_io::write_array(self.0.join("probes.npy"), &array)?)
    }

    pub fn write_frame(&self, frame: &Frame) -> Result<(), pliant::files::WriteError> {
        let (u, v) = (frame.u.as_chunks::<3>().0, frame.v.as_chunks::<3>().0);
        let numbers = u.iter().zip(v).flat_map(|(u, v)| u.iter().chain(v).copied()).collect();
        let array = Array::from_rows(6, numbers).expect("six numbers per row");
        matrix_io::write_array(self.frame(frame.number), &array)
    }
}

/// Reads the displacements and velocities of `vertex_count` vertices.
pub(super) fn read_frame(path: &Path, vertex_count: usize) -> Result<(Vec<f64>, Vec<f64>), ReadError> {
    let array = matrix_io::read_array(path)?;
    let (rows, columns) = (array.row_count(), array.column_count());
    if (rows, columns) != (vertex_count, 6) {
        return Err(ReadError::whole(path, format!("{vertex_count} × 6 numbers"), format!("{rows} × {columns}")));
    }
    let (rows, _) = array.values().as_chunks::<6>();
    let part = |from: usize| rows.iter().flat_map(|row| row[from..from + 3].iter().copied()).collect();
    Ok((part(0), part(3)))
}

/// Returns the CRC-32 checksum of a text.
pub(super) fn checksum(text: &str) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(text.as_bytes());
    sum.finalize()
}

/// Removes the files of a series: those whose names end in six or more digits, and their PVD index.
fn remove_series(folder: &Path, extension: &str) -> Result<(), RunError> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let digits = stem.chars().rev().take_while(char::is_ascii_digit).count();
        let has = |end: &str| path.extension().is_some_and(|own| own == end);
        if has(extension) && digits >= 6 || has("pvd") {
            remove(&path)?;
        }
    }
    Ok(())
}

fn remove(file: &Path) -> Result<(), RunError> {
    match fs::remove_file(file) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::Folder { path: file.into(), cause })
        }
        _ => Ok(()),
    }
}
