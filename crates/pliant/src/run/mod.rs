//! Runs: scenes simulated into folders, which can be interrupted and go on.
//!
//! A folder has
//!
//! | file | |
//! |---|---|
//! | `run.json` | what it is a run of, and how far it has come |
//! | `scene.toml` | the scene, with absolute names of files: it can be run from any folder |
//! | `lock` | the process that is writing to the folder, if any |
//! | `probes.csv`, `probes.npy` | numbers, a row a step; the second when it is done |
//! | `frames/000000.npy` … | displacements and velocities, six columns and a row a vertex |
//! | `checkpoint.bin` | where to go on |
//! | `vtu/`, `NAME.glb`, … | what else the scene asks for |
//!
//! One thread steps, another writes, in the order in which things happened: a frame and the numbers before it are complete
//! before the checkpoint after it is written. Every file but the growing table appears complete or not at all. So a run that is killed
//! at any moment has all that it had finished, and goes on from the last checkpoint as if nothing had been.

mod folder;
mod inputs;
mod writer;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::force::Shape;
use crate::integrator::{StepError, StepInfo};
use crate::io::{Disk, ReadError, WriteError};
use crate::output::{self, Cast, DressError, Frame, FrameWriter, Options};
use crate::scene::{Animation, Built, SceneError, SceneFile, Source, Up, Verdict};
use crate::simulation::{Checkpoint, CheckpointError, EnergyGain, Simulation, Table, TableError};
use crate::system::State;

pub use folder::Status;

use folder::{Folder, Lock, Manifest};
use inputs::{Inputs, ReadFiles};
use writer::{Job, Writer};

/// How a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Params {
    /// How long to wait at least from one checkpoint to the next.
    pub checkpoint_interval: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Self { checkpoint_interval: Duration::from_secs(5) }
    }
}

/// How a step went.
#[derive(Debug)]
pub struct Progress<'a> {
    /// How many steps have been made, this one included.
    pub step: u64,
    /// How many there are.
    pub steps: u64,
    /// The time now, in s.
    pub time: f64,
    /// What it took.
    pub info: &'a StepInfo,
    /// Energy that appeared without work being done, where it is to be reported.
    pub energy_gain: Option<EnergyGain>,
    /// The numbers that were recorded, if they were.
    pub row: Option<&'a [f64]>,
}

/// How a run ended that did not fail.
#[derive(Debug)]
pub struct Outcome {
    /// Done, or stopped before that.
    pub status: Status,
    /// How many steps have been made.
    pub step: u64,
    /// The step that it goes on from.
    pub resumable_from: u64,
    /// What was written for other programs: of each format the file to open.
    pub files: Vec<PathBuf>,
    /// Why other outputs are missing. The steps are complete, and [`Run::finish`] tries again.
    pub failures: Vec<RunError>,
}

/// Outputs of a run that are made of all its frames.
#[derive(Debug, Default)]
pub struct Outputs {
    /// Files that were written, or of a series the first.
    pub files: Vec<PathBuf>,
    /// Why other files are missing.
    pub failures: Vec<RunError>,
}

/// Why a run failed.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum RunError {
    #[error(transparent)]
    Scene(#[from] SceneError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Dress(#[from] DressError),
    #[error("step {step} failed: {source}")]
    Step { step: u64, source: StepError },
    #[error("{}: this is no run of Pliant: {reason}", folder.display())]
    NotARun { folder: PathBuf, reason: String },
    #[error("{}: the scene was changed since the run began; run it anew, or take the change back", path.display())]
    SceneChanged { path: PathBuf },
    #[error(
        "{}: {}, so that it has other meshes; run the scene again, or take the change back",
        folder.display(),
        changed_since(files)
    )]
    MeshesChanged { folder: PathBuf, files: Vec<PathBuf> },
    #[error(
        "{}: {} is writing to this folder; wait until it ends, or choose another folder",
        folder.display(),
        process.map_or("another process".into(), |id| format!("process {id}"))
    )]
    Locked { folder: PathBuf, process: Option<u32> },
    #[error("{}: the folder has `{name}`, which is not of a run of Pliant; choose another folder", folder.display())]
    Foreign { folder: PathBuf, name: String },
    #[error("{}: this frame is missing; only running the scene again brings it back", path.display())]
    MissingFrame { path: PathBuf },
    #[error("{}: {cause}", path.display())]
    Folder { path: PathBuf, cause: std::io::Error },
    #[error("the thread that writes files ended unexpectedly")]
    Writer,
}

/// Says of files that they have changed since a run began.
fn changed_since(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    format!("{} {} changed since the run began", names.join(", "), if names.len() == 1 { "has" } else { "have" })
}

/// A scene in a folder.
#[derive(Debug)]
pub struct Run {
    folder: Folder,
    /// The scene.
    pub file: SceneFile,
    built: Built,
    cast: Arc<Cast>,
    manifest: Manifest,
    /// Keeps other processes from writing to the folder.
    #[expect(dead_code, reason = "dropped, not read")]
    lock: Option<Lock>,
    /// Rows to keep of an earlier part of the run, its header included; none if there was none.
    rows_before: Option<u64>,
}

impl Run {
    /// Creates a run in a folder, which is locked until the run is dropped. The files of an earlier run are removed.
    pub fn create(file: SceneFile, folder: &Path) -> Result<Self, RunError> {
        let folder = Folder::open(folder);
        // Building can take long: a folder in use is found before.
        let earlier = folder.lock_earlier()?;
        let read = ReadFiles::default();
        let built = file.build(&read)?;
        let lock = folder.create(earlier)?;
        let inputs = Inputs::new(&built, read);
        let manifest = folder.begin(&file, &built, inputs)?;
        Ok(Self { lock: Some(lock), ..Self::of(folder, file, built, manifest)? })
    }

    /// Opens a run to write to its folder, which is locked until the run is dropped.
    pub fn lock(folder: &Path) -> Result<Self, RunError> {
        let own = Folder::open(folder);
        // A folder without a run stays as it is.
        own.manifest()?;
        let lock = own.lock()?;
        Ok(Self { lock: Some(lock), ..Self::open(folder)? })
    }

    /// Opens a run to read from its folder, which another process may be writing to. Meshes that have changed since the run began are an error.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let folder = Folder::open(folder);
        let manifest = folder.manifest()?;
        let path = folder.scene(&manifest);
        let source = Source { folder: manifest.base.clone(), ..Source::read(&Disk, &path)? };
        let file = SceneFile::of(&Disk, source)?;
        let read = ReadFiles::default();
        let built = file.build(&read)?;
        if let Some(earlier) = &manifest.inputs {
            let inputs = Inputs::new(&built, read);
            if !inputs.has_meshes_of(earlier) {
                if manifest.scene_checksum != folder::checksum(&file.source.text) {
                    return Err(RunError::SceneChanged { path });
                }
                let files = inputs.changed_files(earlier);
                if !files.is_empty() {
                    return Err(RunError::MeshesChanged { folder: folder.path().into(), files });
                }
            }
        }
        Self::of(folder, file, built, manifest)
    }

    /// Opens and locks a run, and goes to its last checkpoint.
    pub fn resume(folder: &Path) -> Result<Self, RunError> {
        Self::lock(folder)?.at_checkpoint()
    }

    /// Goes to the last checkpoint.
    pub fn at_checkpoint(mut self) -> Result<Self, RunError> {
        if self.manifest.scene_checksum != folder::checksum(&self.file.source.text) {
            let path = self.file.source.path.clone();
            return Err(RunError::SceneChanged { path });
        }
        let checkpoint = Checkpoint::read(&Disk, &self.folder.checkpoint())?;
        self.built.simulation.check_resumable(&checkpoint)?;
        self.built.recorder.set_work(checkpoint.work);
        self.built.simulation.resume(checkpoint)?;
        let step = self.built.simulation.steps_done();
        if let Some(path) =
            (0..self.frames_at(step)).map(|number| self.folder.frame(number)).find(|path| !path.is_file())
        {
            return Err(RunError::MissingFrame { path });
        }
        // The names, the start, every so many steps, and the end.
        let is_extra_end = step == self.built.steps && !step.is_multiple_of(self.built.record_every);
        self.rows_before = Some(2 + step / self.built.record_every + u64::from(is_extra_end));
        Ok(self)
    }

    /// Returns the number of frames after so many steps.
    fn frames_at(&self, step: u64) -> usize {
        let every = self.built.frame_every;
        let last = if step == self.built.steps { step.div_ceil(every) } else { step / every };
        1 + last as usize
    }

    fn of(folder: Folder, file: SceneFile, mut built: Built, manifest: Manifest) -> Result<Self, RunError> {
        let mut cast = Cast::new(built.simulation.model());
        for (body, skin) in built.skins.iter_mut().enumerate() {
            if let Some((surface, embedding)) = skin.take() {
                cast.dress(body, surface, embedding)?;
            }
        }
        Ok(Self { folder, file, built, cast: Arc::new(cast), manifest, lock: None, rows_before: None })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// How far it has come.
    pub fn status(&self) -> Status {
        self.manifest.status
    }

    /// What is simulated.
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// The bodies as they are shown.
    pub fn cast(&self) -> &Arc<Cast> {
        &self.cast
    }

    /// What to call it.
    pub fn title(&self) -> &str {
        self.file.scene.title.as_deref().unwrap_or(&self.manifest.name)
    }

    /// What its files are called.
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// How many frames there will be, or are if it is done.
    pub fn frame_count(&self) -> usize {
        self.frames_at(self.built.steps)
    }

    /// How many frames there are.
    pub fn frames_done(&self) -> usize {
        (0..self.frame_count()).take_while(|&number| self.folder.frame(number).is_file()).count()
    }

    /// Returns an error if there is no frame, or if one is missing before the last.
    pub fn check_frames(&self) -> Result<(), RunError> {
        // Frames are written in order, perhaps while they are counted.
        let last = self.folder.last_frame().unwrap_or(0);
        let expected = if self.status() == Status::Done { self.frame_count() } else { 1 + last };
        let done = self.frames_done();
        if done < expected.min(self.frame_count()) {
            return Err(RunError::MissingFrame { path: self.folder.frame(done) });
        }
        Ok(())
    }

    /// When a frame is, in s.
    pub fn frame_time(&self, number: usize) -> f64 {
        let step = (number as u64 * self.built.frame_every).min(self.built.steps);
        step as f64 * self.built.simulation.dt()
    }

    /// A frame that has been written.
    pub fn frame(&self, number: usize, with_fields: bool) -> Result<Frame, RunError> {
        let path = self.folder.frame(number);
        let (q, v) = folder::read_frame(&path, self.cast.vertex_count())?;
        let state = State { time: self.frame_time(number), q, v, a: None };
        Ok(Frame::new(self.built.simulation.model(), &state, number, with_fields))
    }

    /// The obstacles, where they are at a time in s.
    pub fn obstacles(&self, time: f64) -> Vec<Shape> {
        self.built.simulation.model().obstacles_at(time)
    }

    /// The numbers that have been recorded.
    pub fn table(&self) -> Result<Table, RunError> {
        Ok(Table::read(&Disk, &self.folder.probes())?)
    }

    /// Whether the scene has produced what it must.
    pub fn verdicts(&self) -> Result<Vec<Verdict>, RunError> {
        let table = self.table()?;
        Ok(self.file.scene.expect.iter().map(|expect| expect.judge(&table)).collect())
    }

    /// What formats of animations need to know.
    fn options(&self) -> Options {
        let up = match self.file.scene.up {
            Up::Y => output::Axis::Y,
            Up::Z => output::Axis::Z,
        };
        Options { frames: Some(self.frame_count()), up }
    }

    /// The formats that the scene asks for, and that are of this crate.
    fn formats(&self, series: bool) -> Vec<&'static output::AnimationFormat> {
        let names = self.file.scene.output.formats.iter().filter_map(|format| extension(format.value));
        let formats = names.filter_map(|name| output::AnimationFormat::of(Path::new(&format!("a.{name}"))));
        let mut formats: Vec<_> = formats.filter(|format| format.is_series() == series).collect();
        formats.dedup_by_key(|format| format.name);
        formats
    }

    /// Simulate until all is done, or until `watch` breaks off.
    pub fn go(
        &mut self,
        params: &Params,
        watch: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, RunError> {
        let start = self.built.simulation.steps_done();
        self.folder.remove_outputs(&self.manifest)?;
        let mut writers: Vec<Box<dyn FrameWriter>> = Vec::new();
        for format in self.formats(true) {
            let extension = format.extensions[0];
            let path = self.folder.subfolder(extension)?.join(format!("{}.{extension}", self.name()));
            writers.push(format.start(&path, &self.cast, &self.options())?);
        }
        // All frames up to here are on disk.
        for number in 0..self.frames_at(start) {
            if self.rows_before.is_some() {
                let time = self.frame_time(number);
                writers.iter_mut().for_each(|writer| writer.found(number, time));
            }
        }
        let writer = Writer::new(&self.folder, &self.built.recorder.columns(), self.rows_before, writers)?;
        self.set_status(Status::Running)?;
        let (sender, receiver) = sync_channel(QUEUE);
        // Other formats have surfaces only.
        let with_fields = self.formats(true).iter().any(|format| format.extensions.contains(&"vtu"));
        let mut pace = Pace { interval: params.checkpoint_interval, latest: None, last: None };
        let is_new = self.rows_before.is_none();
        let built = &mut self.built;
        let (stepped, written) = std::thread::scope(|scope| {
            let writing = scope.spawn(move || writer.run(&receiver));
            let stepped = step_all(built, &sender, &mut pace, with_fields, is_new, watch);
            drop(sender);
            (stepped, writing.join())
        });
        // What stopped the writer is why the steps stopped, if it did.
        let mut files = written.map_err(|_| RunError::Writer)??;
        let step = self.built.simulation.steps_done();
        let resumable_from = pace.latest.map_or(start, |latest| latest.step);
        match stepped {
            Ok(ControlFlow::Continue(())) => {
                // The steps are complete, whatever happens to outputs that are made of them.
                self.set_status(Status::Done)?;
                let outputs = self.finish();
                files.extend(outputs.files);
                Ok(Outcome { status: Status::Done, step, resumable_from: step, files, failures: outputs.failures })
            }
            Ok(ControlFlow::Break(())) => {
                self.set_status(Status::Stopped)?;
                Ok(Outcome { status: Status::Stopped, step, resumable_from, files, failures: Vec::new() })
            }
            Err(source) => {
                self.set_status(Status::Failed)?;
                Err(RunError::Step { step: step + 1, source })
            }
        }
    }

    /// Writes outputs that need all frames and do not exist yet. One that fails does not keep others from being written.
    pub fn finish(&self) -> Outputs {
        let mut outputs = Outputs::default();
        if let Err(error) = self.table().and_then(|table| self.folder.write_probes(&table)) {
            outputs.failures.push(error);
        }
        for format in self.formats(false) {
            let path = self.folder.path().join(format!("{}.{}", self.name(), format.extensions[0]));
            // Files appear when they are complete, and are removed when frames change.
            if path.is_file() {
                continue;
            }
            match self.export(format, &path) {
                Ok(file) => outputs.files.push(file),
                Err(error) => outputs.failures.push(error),
            }
        }
        outputs
    }

    /// Write all frames in a format. Returns the file to open.
    pub fn export(&self, format: &output::AnimationFormat, path: &Path) -> Result<PathBuf, RunError> {
        self.check_frames()?;
        let frames = self.frames_done();
        let mut writer = format.start(path, &self.cast, &Options { frames: Some(frames), ..self.options() })?;
        for number in 0..frames {
            writer.write(&self.frame(number, format.is_series())?)?;
        }
        Ok(writer.finish()?.into_iter().next().unwrap_or_else(|| path.into()))
    }

    fn set_status(&mut self, status: Status) -> Result<(), RunError> {
        self.manifest.status = status;
        self.manifest.step = self.built.simulation.steps_done();
        self.folder.write_manifest(&self.manifest)
    }
}

/// How many things may wait to be written: enough for a disk that is slow for a moment, few enough for memory.
const QUEUE: usize = 8;

/// When checkpoints are written.
struct Pace {
    interval: Duration,
    /// The last place to go on from.
    latest: Option<Checkpoint>,
    /// When a checkpoint was last written.
    last: Option<Instant>,
}

impl Pace {
    /// Take note of a place to go on from. Returns the checkpoint if it is time to write it.
    fn pass(&mut self, checkpoint: Checkpoint) -> Option<Checkpoint> {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= self.interval);
        if is_due {
            self.last = Some(Instant::now());
        }
        let due = is_due.then(|| checkpoint.clone());
        self.latest = Some(checkpoint);
        due
    }
}

/// Make all steps that are left, and give what is to be written to the writer. Breaks off early if told so, or if nothing can be
/// written any more.
fn step_all(
    built: &mut Built,
    sender: &SyncSender<Job>,
    pace: &mut Pace,
    with_fields: bool,
    is_new: bool,
    watch: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, StepError> {
    let Built { simulation, steps, frame_every, record_every, recorder, .. } = built;
    let (steps, frame_every, record_every) = (*steps, *frame_every, *record_every);
    let frame = |simulation: &Simulation, number: u64| {
        let (model, state) = (simulation.model(), simulation.state());
        let frame = Frame::new(model, state, number as usize, with_fields);
        // An integrator with a law of its own has forces that the model does not know.
        let with_reactions = with_fields && !simulation.brings_elasticity();
        Job::Frame(Box::new(if with_reactions { frame.with_reactions(model, state) } else { frame }))
    };
    let mut jobs = Vec::new();
    if is_new {
        jobs.push(Job::Row(simulation.record(recorder)));
        jobs.push(frame(simulation, 0));
    }
    let finished = loop {
        if let Some(checkpoint) = simulation.checkpoint() {
            let checkpoint = Checkpoint { work: recorder.work(), ..checkpoint };
            jobs.extend(pace.pass(checkpoint).map(Job::Checkpoint));
        }
        if jobs.drain(..).any(|job| sender.send(job).is_err()) {
            break Ok(ControlFlow::Break(()));
        }
        if simulation.steps_done() >= steps {
            break Ok(ControlFlow::Continue(()));
        }
        let info = match simulation.step() {
            Ok(info) => info,
            Err(error) => break Err(error),
        };
        recorder.count(&info);
        let step = simulation.steps_done();
        let is_last = step == steps;
        let row = (step.is_multiple_of(record_every) || is_last).then(|| simulation.record(recorder));
        let (time, energy_gain) = (simulation.time(), simulation.take_energy_gain());
        let flow = watch(&Progress { step, steps, time, info: &info, energy_gain, row: row.as_deref() });
        jobs.extend(row.map(Job::Row));
        if step.is_multiple_of(frame_every) || is_last {
            jobs.push(frame(simulation, step.div_ceil(frame_every)));
        }
        if flow.is_break() && !is_last {
            if let Some(checkpoint) = simulation.checkpoint() {
                pace.latest = Some(Checkpoint { work: recorder.work(), ..checkpoint });
            }
            jobs.extend(pace.latest.clone().map(Job::Checkpoint));
            break Ok(ControlFlow::Break(()));
        }
    };
    if finished.is_err() {
        jobs.extend(pace.latest.clone().map(Job::Checkpoint));
    }
    // If something cannot be written, the writer says why.
    jobs.into_iter().for_each(|job| drop(sender.send(job)));
    finished
}

/// The extension of a format, if it is one of this crate.
fn extension(format: Animation) -> Option<&'static str> {
    match format {
        Animation::Vtu => Some("vtu"),
        Animation::Obj => Some("obj"),
        Animation::Ply => Some("ply"),
        Animation::Glb => Some("glb"),
        Animation::Pc2 => Some("pc2"),
        Animation::Mdd => Some("mdd"),
        Animation::Png | Animation::Gif | Animation::Mp4 | Animation::Plot => None,
    }
}
