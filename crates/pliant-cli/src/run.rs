//! `pliant run` and `pliant resume`: scenes into animations, plots and numbers.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use pliant::io::{Disk, Format};
use pliant::run::{Outcome, Params, Progress, Run, Status};
use pliant::scene::{Animation, At, Quantity, ReducedChoice, SceneFile};

use crate::progress::Display;
use crate::{Done, default_scene, pictures};

/// Simulate a scene.
#[derive(Debug, Args)]
pub struct RunCommand {
    /// A scene: .toml, or VegaFEM's .config. Or a mesh, which is dropped on the ground.
    #[arg(value_name = "SCENE|MESH", value_hint = ValueHint::FilePath)]
    scene: PathBuf,
    /// The folder to write to [default: out/ and the name of the scene].
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Simulate so long instead, in s.
    #[arg(long, value_name = "SECONDS")]
    duration: Option<f64>,
    /// Make steps of this length instead, in s.
    #[arg(long, value_name = "SECONDS")]
    step: Option<f64>,
    /// Simulate with this reduced model, which `pliant reduce` has made of the scene.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    reduced: Option<PathBuf>,
    /// Check that the scene produces what it says it must; exit status 1 if not.
    #[arg(long)]
    check: bool,
    /// Write none of the formats that the scene asks for, only those given here.
    #[arg(long)]
    no_formats: bool,
    #[command(flatten)]
    formats: Formats,
    #[command(flatten)]
    common: Common,
}

/// Go on with a run that was stopped.
#[derive(Debug, Args)]
pub struct Resume {
    /// The folder of the run.
    #[arg(value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// Check that the scene produces what it says it must; exit status 1 if not.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    common: Common,
}

/// What to write beside what the scene asks for.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[command(next_help_heading = "Formats")]
pub struct Formats {
    /// Volume meshes with stresses, for ParaView.
    #[arg(long)]
    vtu: bool,
    /// Surfaces as text, a file a frame.
    #[arg(long)]
    obj: bool,
    /// Surfaces, binary, a file a frame.
    #[arg(long)]
    ply: bool,
    /// One animated file for Blender and browsers.
    #[arg(long)]
    glb: bool,
    /// A point cache for Blender.
    #[arg(long)]
    pc2: bool,
    /// A point cache for Blender and Houdini.
    #[arg(long)]
    mdd: bool,
    /// Pictures, a file a frame.
    #[arg(long)]
    png: bool,
    /// An animated picture.
    #[arg(long)]
    gif: bool,
    /// A film; needs the program ffmpeg.
    #[arg(long)]
    mp4: bool,
    /// Plots of energies, volume and probes, as SVG and PNG.
    #[arg(long)]
    plot: bool,
}

impl Formats {
    pub fn list(&self) -> impl Iterator<Item = Animation> {
        let all = [
            (self.vtu, Animation::Vtu),
            (self.obj, Animation::Obj),
            (self.ply, Animation::Ply),
            (self.glb, Animation::Glb),
            (self.pc2, Animation::Pc2),
            (self.mdd, Animation::Mdd),
            (self.png, Animation::Png),
            (self.gif, Animation::Gif),
            (self.mp4, Animation::Mp4),
            (self.plot, Animation::Plot),
        ];
        all.into_iter().filter_map(|(wanted, format)| wanted.then_some(format))
    }
}

/// What running and resuming have in common.
#[derive(Debug, Args)]
struct Common {
    /// Say nothing but what went wrong.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Print a JSON record for each step on standard output.
    #[arg(long)]
    json: bool,
    /// Use so many threads [default: all cores]. Results do not depend on it.
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// The time from one checkpoint to the next, in s.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    checkpoint: f64,
}

impl RunCommand {
    pub fn run(&self) -> anyhow::Result<Done> {
        self.common.prepare()?;
        let mut notes = Vec::new();
        let mut file = read_scene(&self.scene, &mut notes)?;
        if let Some(duration) = self.duration {
            file.scene.simulation.value.duration = At::new(Quantity::new(duration));
        }
        if let Some(step) = self.step {
            file.scene.set_step(step);
        }
        if let Some(reduced) = &self.reduced {
            set_reduced(&mut file, reduced)?;
        }
        if self.no_formats {
            file.scene.output.value.formats.clear();
        }
        for format in self.formats.list() {
            if file.scene.output.formats.iter().all(|own| own.value != format) {
                file.scene.output.value.formats.push(At::new(format));
            }
        }
        let folder = self.output.clone().unwrap_or_else(|| default_folder(&file));
        let run = Run::create(file, &folder)?;
        finish(run, &self.common, self.check, notes)
    }
}

impl Resume {
    pub fn run(&self) -> anyhow::Result<Done> {
        self.common.prepare()?;
        let run = Run::open(&self.folder)?;
        if run.status() == Status::Done {
            listen()?;
            let text = format!("{}: all {} steps are done\n", self.folder.display(), run.built().steps);
            // What is made of all frames may not have been finished.
            let files = run.finish()?;
            return close(&run, &self.common, self.check, text, files, Vec::new());
        }
        finish(Run::resume(&self.folder)?, &self.common, self.check, Vec::new())
    }
}

/// A scene, or one with the mesh in it.
pub fn read_scene(path: &Path, notes: &mut Vec<String>) -> anyhow::Result<SceneFile> {
    match Format::of(path) {
        Some(_) => default_scene::for_mesh(path, notes),
        None => Ok(SceneFile::read(&Disk, path)?),
    }
}

/// Simulate a scene with a reduced model from a file.
pub fn set_reduced(file: &mut SceneFile, reduced: &Path) -> anyhow::Result<()> {
    // The scene's own paths begin at its folder, that of the user does not.
    let path = std::path::absolute(reduced).with_context(|| reduced.display().to_string())?;
    file.scene.reduced = Some(At::new(ReducedChoice::File(path.to_string_lossy().into_owned())));
    Ok(())
}

/// Where a scene is run if nothing is said.
pub fn default_folder(file: &SceneFile) -> PathBuf {
    match &file.scene.output.directory {
        Some(directory) => file.source.folder.join(directory),
        None => Path::new("out").join(file.source.path.file_stem().unwrap_or_else(|| "scene".as_ref())),
    }
}

/// More threads than any machine has cores.
const MOST_THREADS: usize = 4096;

impl Common {
    fn params(&self) -> anyhow::Result<Params> {
        let interval = Duration::try_from_secs_f64(self.checkpoint);
        let checkpoint_interval = interval.map_err(|error| anyhow!("--checkpoint: {} s: {error}", self.checkpoint))?;
        Ok(Params { checkpoint_interval })
    }

    fn prepare(&self) -> anyhow::Result<()> {
        set_threads(self.threads)?;
        self.params().map(drop)
    }
}

/// Compute with so many threads.
pub fn set_threads(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    if !(1..=MOST_THREADS).contains(&threads) {
        return Err(anyhow!("--threads: {threads}, expected 1 to {MOST_THREADS}"));
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("--threads")
}

/// Set by Ctrl-C, and by requests to end.
static STOP: AtomicBool = AtomicBool::new(false);

/// From now on, Ctrl-C lets what is being done come to an end.
pub fn listen() -> anyhow::Result<()> {
    // A second one ends the program at once: nothing that is finished gets lost.
    let handler = || {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).context("Ctrl-C")
}

/// Whether the user wants to stop.
pub fn is_stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

fn finish(mut run: Run, common: &Common, check: bool, mut notes: Vec<String>) -> anyhow::Result<Done> {
    if check && run.file.scene.expect.is_empty() {
        return Err(anyhow!("--check: the scene says of nothing what it must be; give it an [[expect]]"));
    }
    listen()?;
    notes.extend(run.built().notes.iter().cloned());
    let folder = run.folder().to_owned();
    let mut display = Display::new(&run, common.quiet, common.json);
    let began = Instant::now();
    let first = run.built().simulation.steps_done();
    let mut watch = |progress: &Progress<'_>| {
        display.step(progress);
        if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let outcome = run.go(&common.params()?, &mut watch);
    display.end();
    let outcome = outcome.with_context(|| format!("what was done before is in {}", folder.display()))?;
    if outcome.status == Status::Stopped {
        return Ok(stopped(&outcome, &folder, notes));
    }
    let (seconds, steps) = (began.elapsed().as_secs_f64(), outcome.step - first);
    let simulated = steps as f64 * run.built().simulation.dt();
    let mut text = format!(
        "{}: {steps} steps, {} s simulated in {:.1} s ({:.2} of real time), {} frames\n",
        run.title(),
        crate::table::number(simulated),
        seconds,
        simulated / seconds.max(1e-9),
        run.frames_done()
    );
    text += &format!("wrote {} and in it probes.csv, frames/, scene.*\n", folder.display());
    close(&run, common, check, text, outcome.files, notes)
}

/// Make what is made of all frames, and see whether they are as expected.
fn close(
    run: &Run,
    common: &Common,
    check: bool,
    mut text: String,
    mut files: Vec<PathBuf>,
    mut notes: Vec<String>,
) -> anyhow::Result<Done> {
    match pictures::finish(run, !common.quiet) {
        Ok(pictures) => files.extend(pictures),
        Err(_) if is_stopped() => {
            notes.push(format!("stopped while drawing; `pliant resume {}` draws again", run.folder().display()));
            return Ok(Done { text: String::new(), notes, exit: 130 });
        }
        Err(error) => return Err(error),
    }
    files.iter().for_each(|file| text += &format!("wrote {}\n", file.display()));
    if common.quiet || common.json {
        text.clear();
    }
    if common.quiet {
        notes.clear();
    }
    let exit = if check { judge(run, common.quiet, &mut text)? } else { 0 };
    Ok(Done { text, notes, exit })
}

/// What to say after Ctrl-C. The exit status is that of programs that such a signal ends.
fn stopped(outcome: &Outcome, folder: &Path, mut notes: Vec<String>) -> Done {
    notes.push(format!(
        "stopped after step {}; `pliant resume {}` goes on from step {}",
        outcome.step,
        folder.display(),
        outcome.resumable_from
    ));
    Done { text: String::new(), notes, exit: 130 }
}

fn judge(run: &Run, quiet: bool, text: &mut String) -> anyhow::Result<u8> {
    let verdicts = run.verdicts()?;
    let shown = verdicts.iter().filter(|verdict| !(quiet && verdict.holds));
    shown.for_each(|verdict| *text += &format!("{verdict}\n"));
    let failed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    if failed > 0 {
        *text += &format!("{failed} of {} expectations failed\n", verdicts.len());
    }
    Ok(u8::from(failed > 0))
}
