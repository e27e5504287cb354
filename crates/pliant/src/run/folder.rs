//! What is where in the folder of a run.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::RunError;
use crate::io::{Disk, Files, ReadError};
use crate::matrix_io::{self, Array};
use crate::output::Frame;
use crate::scene::{Built, SceneFile};
use crate::simulation::Table;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is being made, or was killed.
    Running,
    /// It was stopped, and can go on.
    Stopped,
    /// A step failed.
    Failed,
    /// All steps have been made.
    Done,
}

/// What a folder is a run of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The version of Pliant that made it.
    pub pliant: String,
    /// What files are called.
    pub name: String,
    /// The name of the scene in the folder.
    pub scene: String,
    /// Files that it names are relative to this folder.
    pub base: PathBuf,
    pub status: Status,
    /// How many steps have been made when this was written, of how many.
    pub step: u64,
    pub steps: u64,
    /// After how many steps there is a frame.
    pub frame_every: u64,
    /// The length of a step, in s.
    pub dt: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub fn open(path: &Path) -> Self {
        Self(path.into())
    }

    /// Make the folder, and take away what an earlier run has left.
    pub fn create(path: &Path) -> Result<Self, RunError> {
        let folder = Self(path.into());
        let wrong = |path: PathBuf| move |cause| RunError::Folder { path, cause };
        fs::create_dir_all(path).map_err(wrong(path.into()))?;
        if folder.manifest().is_ok() {
            for file in [folder.probes(), folder.path().join("probes.npy"), folder.checkpoint()] {
                remove(&file)?;
            }
            for entry in fs::read_dir(folder.frames()).into_iter().flatten().flatten() {
                let is_frame = entry.path().extension().is_some_and(|extension| extension == "npy");
                if is_frame {
                    remove(&entry.path())?;
                }
            }
        }
        fs::create_dir_all(folder.frames()).map_err(wrong(folder.frames()))?;
        Ok(folder)
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

    pub fn scene(&self, manifest: &Manifest) -> PathBuf {
        // Only the name counts: a manifest cannot lead out of the folder.
        self.0.join(Path::new(&manifest.scene).file_name().unwrap_or_default())
    }

    fn manifest_path(&self) -> PathBuf {
        self.0.join("run.json")
    }

    /// A folder within, which is made if it is not there.
    pub fn subfolder(&self, name: &str) -> Result<PathBuf, RunError> {
        let path = self.0.join(name);
        fs::create_dir_all(&path).map_err(|cause| RunError::Folder { path: path.clone(), cause })?;
        Ok(path)
    }

    /// Write the scene and what it is.
    pub fn begin(&self, file: &SceneFile, built: &Built) -> Result<Manifest, RunError> {
        let name = file.source.path.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy().into_owned());
        let extension = file.source.path.extension().map_or("toml".into(), |own| own.to_string_lossy().into_owned());
        // As it was written, unless it was changed since.
        let as_written = SceneFile::of(&Disk, file.source.clone()).is_ok_and(|read| read.scene == file.scene);
        let (scene, text) = if as_written {
            (format!("scene.{extension}"), file.source.text.to_string())
        } else {
            ("scene.toml".into(), file.scene.to_toml())
        };
        // An empty path is the folder that we are in.
        let base = std::path::absolute(Path::new(".").join(&file.source.folder))
            .map_err(|cause| RunError::Folder { path: file.source.folder.clone(), cause })?;
        let manifest = Manifest {
            pliant: env!("CARGO_PKG_VERSION").into(),
            name,
            scene,
            base,
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
        serde_json::from_slice(&bytes).map_err(|error| not_a_run(format!("run.json: {error}")))
    }

    /// All numbers as an array, for NumPy.
    pub fn write_probes(&self, table: &Table) -> Result<(), RunError> {
        let array = Array::from_rows(table.columns.len(), table.rows.concat()).expect("rows of equal length");
        Ok(matrix_io::write_array(self.0.join("probes.npy"), &array)?)
    }

    pub fn write_frame(&self, frame: &Frame) -> Result<(), crate::io::WriteError> {
        let (u, v) = (frame.u.as_chunks::<3>().0, frame.v.as_chunks::<3>().0);
        let numbers = u.iter().zip(v).flat_map(|(u, v)| u.iter().chain(v).copied()).collect();
        let array = Array::from_rows(6, numbers).expect("six numbers a row");
        matrix_io::write_array(self.frame(frame.number), &array)
    }
}

/// Displacements and velocities of so many vertices.
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

fn remove(file: &Path) -> Result<(), RunError> {
    match fs::remove_file(file) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::Folder { path: file.into(), cause })
        }
        _ => Ok(()),
    }
}
