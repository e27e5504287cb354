//! Runs: scenes simulated into folders, which can be interrupted and resumed.
//!
//! A folder contains
//!
//! | file | |
//! |---|---|
//! | `run.json` | description and status of the run |
//! | `scene.toml` | the scene with absolute file names: it can be run from any folder |
//! | `lock` | the process that is writing to the folder, if any |
//! | `probes.csv`, `probes.npy` | probe values, one row per recorded step; the second file when the run is done |
//! | `frames/000000.npy` … | displacements and velocities, six columns and one row per vertex |
//! | `checkpoint.bin` | state to resume from |
//! | `vtu/`, `NAME.glb`, … | other outputs requested by the scene |
//!
//! One thread steps while another writes, in chronological order: a frame and the rows before it are complete before
//! the next checkpoint is written. Every file except for the growing table appears complete or not at all. A run that
//! is killed at any time keeps what it had finished, and resumes from the last checkpoint with the same result.

mod folder;
mod inputs;
mod writer;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::output::{self, AnimationFormat, Frame, FrameWriter, ImageError, Options, SceneGeometry, VisualError};
use crate::pictures::{self, FrameError, FrameSource, RenderError, Watch};
use crate::plots;
use crate::scene::{Built, Picture, SceneError, SceneFile, Source, Up, Verdict};
use pliant::files::{Disk, ReadError, WriteError};
use pliant::force::ObstacleGeometry;
use pliant::integrator::{StepError, StepInfo};
use pliant::simulation::{Checkpoint, CheckpointError, EnergyGain, Simulation, Table, TableError};
use pliant::system::State;

pub use folder::Status;

use folder::{Folder, Lock, Manifest};
use inputs::{Inputs, ReadFiles};
use writer::{Job, Writer};

/// Settings of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunParams {
    /// Minimum wall-clock time between checkpoints.
    pub checkpoint_interval: Duration,
}

impl Default for RunParams {
    fn default() -> Self {
        Self { checkpoint_interval: Duration::from_secs(5) }
    }
}

/// Progress report after a step.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Number of completed steps, this one included.
    pub step: u64,
    /// Total number of steps.
    pub steps: u64,
    /// Simulated time \[s\].
    pub time: f64,
    /// Statistics of the step.
    pub info: &'a StepInfo,
    /// Energy that appeared without work being done, if it should be reported now.
    pub energy_gain: Option<EnergyGain>,
    /// Row of probe values, if one was recorded at this step.
    pub row: Option<&'a [f64]>,
}

/// Outcome of a run that did not fail.
#[derive(Debug)]
pub struct Outcome {
    /// [`Status::Done`] or [`Status::Stopped`].
    pub status: Status,
    /// Number of completed steps.
    pub step: u64,
    /// Step that the run resumes from.
    pub resumable_from: u64,
    /// Files written for other programs: the file to open for each format.
    pub files: Vec<PathBuf>,
    /// Reasons why other outputs are missing. The steps are complete, and [`Run::finish`] tries again.
    pub failures: Vec<RunError>,
}

/// Outputs of a run that are made from all its frames.
#[derive(Debug, Default)]
pub struct Outputs {
    /// Files that were written; the first one of a series.
    pub files: Vec<PathBuf>,
    /// Reasons why other files are missing.
    pub failures: Vec<RunError>,
}

impl Outputs {
    /// Returns true if rendering was stopped by its watch.
    pub fn is_stopped(&self) -> bool {
        self.failures.iter().any(|error| matches!(error, RunError::Render(RenderError::Stopped { .. })))
    }

    fn add(&mut self, other: Self) {
        self.files.extend(other.files);
        self.failures.extend(other.failures);
    }
}

/// Error of a run.
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
    Visual(#[from] VisualError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error("step {step} failed: {source}")]
    Step { step: u64, source: StepError },
    #[error("{}: not a run of Pliant: {reason}", folder.display())]
    NotARun { folder: PathBuf, reason: String },
    #[error("{}: the scene has changed since the run began; run it again or undo the change", path.display())]
    SceneChanged { path: PathBuf },
    #[error(
        "{}: {}, so that its meshes differ; run the scene again or undo the change",
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
    #[error("{}: the folder contains `{name}`, which was not written by Pliant; choose another folder", folder.display())]
    Foreign { folder: PathBuf, name: String },
    #[error("{}: this frame is missing; run the scene again", path.display())]
    MissingFrame { path: PathBuf },
    #[error("{}: {cause}", path.display())]
    Folder { path: PathBuf, cause: std::io::Error },
    #[error("the thread that writes files ended unexpectedly")]
    Writer,
}

/// Returns a phrase that names the files that have changed since a run began.
fn changed_since(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    format!("{} {} changed since the run began", names.join(", "), if names.len() == 1 { "has" } else { "have" })
}

/// Scene that is simulated into a folder.
#[derive(Debug)]
pub struct Run {
    folder: Folder,
    /// The scene.
    pub file: SceneFile,
    built: Built,
    geometry: Arc<SceneGeometry>,
    manifest: Manifest,
    /// Lock that prevents other processes from writing to the folder.
    #[expect(dead_code, reason = "dropped, not read")]
    lock: Option<Lock>,
    /// Number of table lines to keep from an earlier part of the run, including the header; `None` for a new run.
    rows_before: Option<u64>,
}

impl Run {
    /// Creates a run in a folder, which is locked until the run is dropped. The files of an earlier run are removed.
    pub fn create(file: SceneFile, folder: &Path) -> Result<Self, RunError> {
        let folder = Folder::open(folder);
        // Building can take long, so a folder in use is detected first.
        let earlier = folder.lock_earlier()?;
        let read = ReadFiles::default();
        let built = file.build(&read)?;
        let lock = folder.create(earlier)?;
        let inputs = Inputs::new(&file.source, &built, read);
        let manifest = folder.begin(&file, &built, inputs)?;
        Ok(Self { lock: Some(lock), ..Self::of(folder, file, built, manifest)? })
    }

    /// Opens a run to write to its folder, which is locked until the run is dropped.
    pub fn lock(folder: &Path) -> Result<Self, RunError> {
        let own = Folder::open(folder);
        // A folder without a run is not changed.
        own.manifest()?;
        let lock = own.lock()?;
        Ok(Self { lock: Some(lock), ..Self::open(folder)? })
    }

    /// Opens a run to read from its folder, which another process may be writing to.
    ///
    /// Returns an error if meshes have changed since the run began.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let folder = Folder::open(folder);
        let manifest = folder.manifest()?;
        let path = folder.scene(&manifest);
        let source = Source { folder: manifest.base.clone(), ..Source::read(&Disk, &path)? };
        let file = SceneFile::of(&Disk, source)?;
        let read = ReadFiles::default();
        let built = file.build(&read)?;
        if let Some(earlier) = &manifest.inputs {
            let inputs = Inputs::new(&file.source, &built, read);
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

    /// Opens and locks a run, and restores its last checkpoint.
    pub fn resume(folder: &Path) -> Result<Self, RunError> {
        Self::lock(folder)?.at_checkpoint()
    }

    /// Restores the last checkpoint.
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
        // Header, initial row, one row per `record_every` steps, and the final row.
        let is_extra_end = step == self.built.steps && !step.is_multiple_of(self.built.record_every);
        self.rows_before = Some(2 + step / self.built.record_every + u64::from(is_extra_end));
        Ok(self)
    }

    /// Returns the number of frames after `step` steps.
    fn frames_at(&self, step: u64) -> usize {
        let every = self.built.frame_every;
        let last = if step == self.built.steps { step.div_ceil(every) } else { step / every };
        1 + last as usize
    }

    fn of(folder: Folder, file: SceneFile, mut built: Built, manifest: Manifest) -> Result<Self, RunError> {
        let mut geometry = SceneGeometry::new(built.simulation.model());
        for (body, skin) in built.skins.iter_mut().enumerate() {
            if let Some((surface, embedding)) = skin.take() {
                geometry.attach_visual(body, surface, embedding)?;
            }
        }
        Ok(Self { folder, file, built, geometry: Arc::new(geometry), manifest, lock: None, rows_before: None })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the status.
    pub fn status(&self) -> Status {
        self.manifest.status
    }

    /// Returns the built scene.
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// Returns the visual geometry of the bodies.
    pub fn geometry(&self) -> &Arc<SceneGeometry> {
        &self.geometry
    }

    /// Returns the title: that of the scene, or else the name of the run.
    pub fn title(&self) -> &str {
        self.file.scene.title.as_deref().unwrap_or(&self.manifest.name)
    }

    /// Returns the stem of the names of output files.
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// Returns the total number of frames of the completed run.
    pub fn frame_count(&self) -> usize {
        self.frames_at(self.built.steps)
    }

    /// Returns the number of frames written so far.
    pub fn frames_done(&self) -> usize {
        (0..self.frame_count()).take_while(|&number| self.folder.frame(number).is_file()).count()
    }

    /// Returns an error if there is no frame, or if a frame before the last is missing.
    pub fn check_frames(&self) -> Result<(), RunError> {
        // Frames are written in order, possibly while they are counted.
        let last = self.folder.last_frame().unwrap_or(0);
        let expected = if self.status() == Status::Done { self.frame_count() } else { 1 + last };
        let done = self.frames_done();
        if done < expected.min(self.frame_count()) {
            return Err(RunError::MissingFrame { path: self.folder.frame(done) });
        }
        Ok(())
    }

    /// Returns the time of a frame \[s\].
    pub fn frame_time(&self, number: usize) -> f64 {
        let step = (number as u64 * self.built.frame_every).min(self.built.steps);
        step as f64 * self.built.simulation.dt()
    }

    /// Reads a frame that has been written.
    pub fn frame(&self, number: usize, with_fields: bool) -> Result<Frame, RunError> {
        let path = self.folder.frame(number);
        let (q, v) = folder::read_frame(&path, self.geometry.vertex_count())?;
        // Frames do not contain history variables.
        let model = self.built.simulation.model();
        let history = model.rest_state().history;
        let mut state = State { time: self.frame_time(number), q, v, history, ..State::default() };
        model.place_colliders(&mut state);
        Ok(Frame::new(model, &state, number, with_fields))
    }

    /// Returns the obstacles at their positions at a time \[s\].
    pub fn obstacles(&self, time: f64) -> Vec<ObstacleGeometry> {
        self.built.simulation.model().obstacles_at(time)
    }

    /// Reads the table of recorded values.
    pub fn table(&self) -> Result<Table, RunError> {
        Ok(Table::read(&Disk, &self.folder.probes())?)
    }

    /// Checks the expectations of the scene against the recorded values.
    pub fn verdicts(&self) -> Result<Vec<Verdict>, RunError> {
        let table = self.table()?;
        Ok(self.file.scene.expect.iter().map(|expect| expect.judge(&table)).collect())
    }

    /// Returns the options of animation formats.
    fn options(&self) -> Options {
        let up = match self.file.scene.up {
            Up::Y => output::Axis::Y,
            Up::Z => output::Axis::Z,
        };
        Options { frames: Some(self.frame_count()), up }
    }

    /// Returns the formats that the scene requests, each once.
    pub fn formats(&self) -> Vec<&'static AnimationFormat> {
        let mut formats: Vec<&'static AnimationFormat> = Vec::new();
        for format in &self.file.scene.output.formats {
            if formats.iter().all(|earlier| earlier.name != format.value.name) {
                formats.push(format.value.entry);
            }
        }
        formats
    }

    /// Returns the requested formats of meshes with one file per frame, which are written during the simulation.
    fn series(&self) -> Vec<&'static AnimationFormat> {
        self.formats().into_iter().filter(|format| format.has_meshes() && format.is_series()).collect()
    }

    /// Simulates until all steps are done, or until `watch` breaks, and then writes all outputs that the scene
    /// requests.
    pub fn go(
        &mut self,
        params: &RunParams,
        watch: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, RunError> {
        let outcome = self.simulate(params, watch)?;
        if outcome.status != Status::Done {
            return Ok(outcome);
        }
        // The steps are complete, even if outputs made from them fail.
        let outputs = self.finish();
        let files = outcome.files.into_iter().chain(outputs.files).collect();
        Ok(Outcome { files, failures: outputs.failures, ..outcome })
    }

    /// Simulates like [`go`](Self::go), and leaves outputs that need all frames to [`finish`](Self::finish).
    pub fn simulate(
        &mut self,
        params: &RunParams,
        watch: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, RunError> {
        let start = self.built.simulation.steps_done();
        self.folder.remove_outputs(&self.manifest)?;
        let mut writers: Vec<Box<dyn FrameWriter>> = Vec::new();
        for format in self.series() {
            let extension = format.extensions[0];
            let path = self.folder.subfolder(extension)?.join(format!("{}.{extension}", self.name()));
            writers.push(format.start(&path, &self.geometry, &self.options())?);
        }
        // All frames up to this step are on disk.
        for number in 0..self.frames_at(start) {
            if self.rows_before.is_some() {
                let time = self.frame_time(number);
                writers.iter_mut().for_each(|writer| writer.found(number, time));
            }
        }
        let writer = Writer::new(&self.folder, &self.built.recorder.columns(), self.rows_before, writers)?;
        self.set_status(Status::Running)?;
        let (sender, receiver) = sync_channel(QUEUE);
        // The other formats contain surfaces only.
        let with_fields = self.series().iter().any(|format| format.extensions.contains(&"vtu"));
        let mut pace = Pace { interval: params.checkpoint_interval, latest: None, last: None };
        let is_new = self.rows_before.is_none();
        let built = &mut self.built;
        let (stepped, written) = std::thread::scope(|scope| {
            let writing = scope.spawn(move || writer.run(&receiver));
            let stepped = step_all(built, &sender, &mut pace, with_fields, is_new, watch);
            drop(sender);
            (stepped, writing.join())
        });
        // An error of the writer is also the reason why the steps stopped.
        let files = written.map_err(|_| RunError::Writer)??;
        let step = self.built.simulation.steps_done();
        let resumable_from = pace.latest.map_or(start, |latest| latest.step);
        match stepped {
            Ok(ControlFlow::Continue(())) => {
                self.set_status(Status::Done)?;
                Ok(Outcome { status: Status::Done, step, resumable_from: step, files, failures: Vec::new() })
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

    /// Writes all requested outputs that need all frames and do not exist yet. A failed output does not prevent others
    /// from being written.
    pub fn finish(&self) -> Outputs {
        self.finish_formats(&self.formats(), &mut |_, _| ControlFlow::Continue(()))
    }

    /// Writes the table of probes as an array, and outputs in `formats` that need all frames and do not exist yet.
    /// Images are rendered last. If `watch` breaks, the last failure is [`RenderError::Stopped`].
    pub fn finish_formats(&self, formats: &[&'static AnimationFormat], watch: &mut Watch<'_>) -> Outputs {
        let mut outputs = Outputs::default();
        if let Err(error) = self.table().and_then(|table| self.folder.write_probes(&table)) {
            outputs.failures.push(error);
        }
        let missing: Vec<_> = formats.iter().copied().filter(|format| !self.is_made(format)).collect();
        outputs.add(self.write_formats(&missing, &self.file.scene.output.picture, watch));
        outputs
    }

    /// Returns true if the files of a format exist. They appear when they are complete, and are removed when frames
    /// change.
    fn is_made(&self, format: &AnimationFormat) -> bool {
        let folder = self.folder.path();
        let path = pictures::path(format, folder, self.name());
        match format.images() {
            Some(images) if format.is_series() => {
                (0..self.frame_count()).all(|number| images.file(&path, number).is_file())
            }
            None if format.is_plot() => plots::files(folder).iter().all(|path| path.is_file()),
            // Series of meshes are written during the simulation.
            None if format.is_series() => true,
            _ => path.is_file(),
        }
    }

    /// Writes outputs in `formats` from the frames written so far, and replaces existing ones: meshes, then plots, then
    /// images, which look as `picture` says. If `watch` breaks, the last failure is [`RenderError::Stopped`].
    pub fn write_formats(
        &self,
        formats: &[&'static AnimationFormat],
        picture: &Picture,
        watch: &mut Watch<'_>,
    ) -> Outputs {
        let mut outputs = Outputs::default();
        for format in formats.iter().filter(|format| format.has_meshes()) {
            let folder = if format.is_series() {
                self.folder.subfolder(format.extensions[0])
            } else {
                Ok(self.folder.path().into())
            };
            let name = format!("{}.{}", self.name(), format.extensions[0]);
            match folder.and_then(|folder| self.export(format, &folder.join(name))) {
                Ok(file) => outputs.files.push(file),
                Err(error) => outputs.failures.push(error),
            }
        }
        if formats.iter().any(|format| format.is_plot()) {
            let written = self.table().and_then(|table| Ok(plots::write(&plots::figure(&table), self.folder.path())?));
            match written {
                Ok(files) => outputs.files.extend(files),
                Err(error) => outputs.failures.push(error),
            }
        }
        if formats.iter().any(|format| format.images().is_some()) {
            let rendered = self
                .check_frames()
                .and_then(|()| Ok(pictures::render(self, picture, formats, self.folder.path(), self.name(), watch)?));
            match rendered {
                Ok(rendered) => {
                    outputs.files.extend(rendered.files);
                    outputs.failures.extend(rendered.failures.into_iter().map(Into::into));
                }
                Err(error) => outputs.failures.push(error),
            }
        }
        outputs
    }

    /// Writes all frames in a format, and returns the file to open.
    pub fn export(&self, format: &AnimationFormat, path: &Path) -> Result<PathBuf, RunError> {
        self.check_frames()?;
        let frames = self.frames_done();
        let mut writer = format.start(path, &self.geometry, &Options { frames: Some(frames), ..self.options() })?;
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

impl FrameSource for Run {
    fn geometry(&self) -> &SceneGeometry {
        Run::geometry(self)
    }

    fn up(&self) -> Up {
        self.file.scene.up
    }

    fn frames(&self) -> usize {
        self.frames_done()
    }

    fn interval(&self) -> f64 {
        self.built.frame_every as f64 * self.built.simulation.dt()
    }

    fn frame(&self, number: usize, with_fields: bool) -> Result<Frame, FrameError> {
        Ok(Run::frame(self, number, with_fields)?)
    }

    fn obstacles(&self, time: f64) -> Vec<ObstacleGeometry> {
        Run::obstacles(self, time)
    }
}

/// Capacity of the queue of items to write: enough for a disk that is briefly slow, few enough for memory.
const QUEUE: usize = 8;

/// Schedule of checkpoints.
struct Pace {
    interval: Duration,
    /// Last state to resume from.
    latest: Option<Checkpoint>,
    /// Time at which a checkpoint was last written.
    last: Option<Instant>,
}

impl Pace {
    /// Records a state to resume from, and returns it if a checkpoint is due.
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

/// Computes all remaining steps and sends rows, frames and checkpoints to the writer.
///
/// Stops early if `watch` breaks, or if the writer has failed.
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
        // The model does not know the forces of an integrator with a built-in law.
        let with_reactions = with_fields && !simulation.is_regularized();
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
            jobs.extend(pace.pass(checkpoint).map(|checkpoint| Job::Checkpoint(Box::new(checkpoint))));
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
            jobs.extend(pace.latest.clone().map(|checkpoint| Job::Checkpoint(Box::new(checkpoint))));
            break Ok(ControlFlow::Break(()));
        }
    };
    if finished.is_err() {
        jobs.extend(pace.latest.clone().map(|checkpoint| Job::Checkpoint(Box::new(checkpoint))));
    }
    // If something cannot be written, the writer reports the reason.
    jobs.into_iter().for_each(|job| drop(sender.send(job)));
    finished
}
