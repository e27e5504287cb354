//! `pliant run` and `pliant resume`: animations, plots and tables of scenes.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueHint};
use pliant::files::Disk;
use pliant::integrator::StepInfo;
use pliant::io::Format;
use pliant::math::short_number;
use pliant_scene::output::AnimationFormat;
use pliant_scene::pictures::check as check_formats;
use pliant_scene::run::{Outcome, Progress, Run, RunParams, Status};
use pliant_scene::scene::quantity::Time;
use pliant_scene::scene::{
    Animation, IntegratorChoice, IntegratorOptions, Located, ReducedChoice, Scene, SceneFile, SolverChoice,
    SolverOptions,
};

use crate::default_scene::{BodyArgs, Purpose};
use crate::formats::{Formats, entry};
use crate::progress::{self, Display};
use crate::table::{count, number};
use crate::{Done, default_scene, pictures};

/// Simulate a scene.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct RunCommand {
    /// A scene (.toml, or VegaFEM's .config), or meshes and surfaces, which are dropped on the ground.
    #[arg(value_name = "SCENE|MESH", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Folder to write to [default: out/ and the name of the scene; for the scene.toml of a run out/ and the first of
    /// NAME, NAME-2, … that does not exist, where NAME is the name of the run's folder].
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Override the scene's duration, in s or with a unit, as in "2 min".
    #[arg(long, value_name = "TIME")]
    duration: Option<Time>,
    /// Override the time step, in s, as a fraction such as 1/60, or with a unit, as in "5 ms".
    #[arg(long, value_name = "TIME")]
    step: Option<Time>,
    /// Override the scene's integrator, with the defaults of its options.
    #[arg(long, value_name = "NAME", value_parser = entry::<dyn IntegratorOptions>())]
    integrator: Option<IntegratorChoice>,
    /// Override the scene's linear solver, with the defaults of its options.
    #[arg(long, value_name = "NAME", value_parser = entry::<dyn SolverOptions>())]
    solver: Option<SolverChoice>,
    /// Simulate with this reduced model, built from the scene by `pliant reduce`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    reduced: Option<PathBuf>,
    /// Check the `[[expect]]` entries of the scene; exit status 1 if one fails.
    #[arg(long)]
    check: bool,
    /// Write only the formats given here, and none that the scene requests.
    #[arg(long)]
    no_formats: bool,
    #[command(flatten)]
    bodies: BodyArgs,
    #[command(flatten)]
    formats: Formats,
    #[command(flatten)]
    common: Common,
}

/// Resume a run that was stopped.
#[derive(Debug, Args)]
pub struct Resume {
    /// Folder of the run.
    #[arg(value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// Check the `[[expect]]` entries of the scene; exit status 1 if one fails.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    common: Common,
}

/// Options of both run and resume.
#[derive(Debug, Args)]
struct Common {
    /// Print only notes, warnings and errors.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Print one JSON record per step on standard output.
    #[arg(long)]
    json: bool,
    /// Number of threads [default: all cores]. Results do not depend on it.
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// Continue without videos if the program ffmpeg is missing or cannot encode them.
    #[arg(long)]
    skip_missing: bool,
    /// Time between checkpoints, in s or with a unit, as in "1 min".
    #[arg(long, value_name = "TIME", default_value_t = Time::new(5.0))]
    checkpoint: Time,
}

impl RunCommand {
    pub fn run(&self) -> anyhow::Result<Done> {
        self.common.prepare()?;
        let mut notes = Vec::new();
        let mut file = read_files(&self.files, &self.bodies, Purpose::Run, &mut notes)?;
        if let Some(duration) = self.duration {
            file.scene.simulation.value.duration = Located::new(duration);
        }
        if let Some(step) = self.step {
            file.scene.set_step(step.si);
        }
        if let Some(integrator) = &self.integrator {
            file.scene.simulation.value.integrator = Located::new(integrator.clone());
        }
        if let Some(solver) = &self.solver {
            file.scene.simulation.value.solver = Located::new(solver.clone());
        }
        if self.duration.is_some() {
            notes.extend(longer_than_asked(&file)?);
        }
        if let Some(reduced) = &self.reduced {
            set_reduced(&mut file, reduced)?;
        }
        if self.no_formats {
            file.scene.output.value.formats.clear();
        }
        for format in self.formats.list() {
            let formats = &mut file.scene.output.value.formats;
            if formats.iter().all(|own| own.value.name != format.name) {
                formats.extend(Animation::named(format.name).map(Located::new));
            }
        }
        if self.output.as_ref().is_some_and(|folder| folder.as_os_str().is_empty()) {
            bail!("--output: expected a folder, found an empty name");
        }
        file.scene.output.check(&file.source)?;
        let folder = self.output.clone().unwrap_or_else(|| default_folder(&file));
        self.common.check_film(&file.scene, &mut notes)?;
        let run = Run::create(file, &folder)?;
        finish(run, &self.common, self.check, notes)
    }
}

impl Resume {
    pub fn run(&self) -> anyhow::Result<Done> {
        self.common.prepare()?;
        let run = Run::lock(&self.folder)?;
        let mut notes = Vec::new();
        if run.status() == Status::Done {
            listen();
            run.check_frames()?;
            notes.extend(run.built().notes.iter().cloned());
            crate::show_notes(&notes);
            let steps = run.built().steps;
            let text = match steps {
                1 => format!("{}: already complete (1 step)\n", self.folder.display()),
                _ => format!("{}: already complete ({steps} steps)\n", self.folder.display()),
            };
            // Outputs made from all frames may be incomplete.
            return close(&run, &self.common, self.check, text, Vec::new(), notes);
        }
        self.common.check_film(&run.file.scene, &mut notes)?;
        finish(run.at_checkpoint()?, &self.common, self.check, notes)
    }
}

/// Reads a scene, or returns a scene that contains a mesh.
pub fn read_scene(path: &Path, notes: &mut Vec<String>) -> anyhow::Result<SceneFile> {
    read_files(&[path.to_owned()], &BodyArgs::default(), Purpose::Run, notes)
}

/// Reads a scene, or drops meshes and surfaces on the ground.
pub fn read_files(
    files: &[PathBuf],
    bodies: &BodyArgs,
    purpose: Purpose,
    notes: &mut Vec<String>,
) -> anyhow::Result<SceneFile> {
    let [path] = files else { return default_scene::for_meshes(files, bodies, purpose, notes) };
    if Format::of(path).is_some() {
        return default_scene::for_meshes(files, bodies, purpose, notes);
    }
    if is_run_folder(path) {
        let folder = path.display();
        let scene = path.join("scene.toml");
        bail!(
            "{folder}: expected a scene or a mesh, found the folder of a run; `pliant resume {folder}` continues it, `pliant view {folder}` plays it \
             back, and {} is its scene",
            scene.display()
        );
    }
    let is_scene = |extension: &OsStr| ["toml", "config"].iter().any(|own| extension.eq_ignore_ascii_case(own));
    let file = SceneFile::read(&Disk, path).map_err(|error| match path.extension() {
        Some(extension) if !is_scene(extension) && path.is_file() => anyhow!(
            "{}: expected a scene (.toml or .config) or a mesh, found a file ending in .{}; `pliant mesh formats` lists the formats of \
             meshes",
            path.display(),
            extension.display()
        ),
        _ => error.into(),
    })?;
    if let Some(option) = bodies.given() {
        bail!("{option} applies to meshes and surfaces, but {} is a scene; change it there", path.display());
    }
    Ok(file)
}

/// Returns a note if the last step of a scene ends after its duration.
fn longer_than_asked(file: &SceneFile) -> anyhow::Result<Option<String>> {
    let settings = &file.scene.simulation;
    let (step, duration) = (settings.step.si, settings.duration.si);
    let simulated = settings.step_count(&file.source)? as f64 * step;
    Ok((simulated > duration * (1.0 + 1e-9)).then(|| {
        let [simulated, duration, step] = [simulated, duration, step].map(number);
        format!("simulating {simulated} s instead of {duration} s, a whole number of steps of {step} s; --step changes the step")
    }))
}

/// Sets the reduced model of a scene, from a file.
pub fn set_reduced(file: &mut SceneFile, reduced: &Path) -> anyhow::Result<()> {
    // Paths in the scene are relative to its folder, the path of the user is not.
    let path = std::path::absolute(reduced).with_context(|| reduced.display().to_string())?;
    file.scene.reduced = Some(Located::new(ReducedChoice::File(path.to_string_lossy().into_owned())));
    Ok(())
}

/// Returns true if `pliant run` has written the folder.
fn is_run_folder(path: &Path) -> bool {
    path.join("run.json").is_file()
}

/// Returns the default output folder of a scene.
///
/// Every run has a `scene.toml`, so this name is not distinctive. Such a scene is written to a new folder, named after
/// the folder of its run.
pub fn default_folder(file: &SceneFile) -> PathBuf {
    let out = Path::new("out");
    if let Some(directory) = &file.scene.output.directory {
        return file.source.folder.join(&directory.value);
    }
    let path = &file.source.path;
    if path.file_name() == Some("scene.toml".as_ref())
        && let Ok(folder) = std::path::absolute(path)
        && let Some((folder, name)) = folder.parent().and_then(|folder| Some((folder, folder.file_name()?)))
        && is_run_folder(folder)
    {
        let numbered = |number: usize| format!("{}-{number}", name.display());
        let names = std::iter::once(name.to_owned()).chain((2..).map(|number| numbered(number).into()));
        if let Some(free) = names.map(|name| out.join(name)).find(|folder| !folder.exists()) {
            return free;
        }
    }
    out.join(path.file_stem().unwrap_or_else(|| "scene".as_ref()))
}

/// Maximum number of threads.
const MAX_THREADS: usize = 4096;

impl Common {
    fn params(&self) -> anyhow::Result<RunParams> {
        let interval = Duration::try_from_secs_f64(self.checkpoint.si);
        let checkpoint_interval = interval.map_err(|error| anyhow!("--checkpoint: {} s: {error}", self.checkpoint))?;
        Ok(RunParams { checkpoint_interval })
    }

    /// Returns an error if the scene requests a video that cannot be made, or adds a note if it is to be skipped.
    fn check_film(&self, scene: &Scene, notes: &mut Vec<String>) -> anyhow::Result<()> {
        let formats: Vec<_> = scene.output.formats.iter().map(|format| format.value.entry).collect();
        match check_formats(&formats, scene.output.picture.size) {
            Err(error) if self.skip_missing => notes.push(format!("no video is made: {error}")),
            Err(error) => bail!("{error}; give --skip-missing to run without the video"),
            Ok(()) => {}
        }
        Ok(())
    }

    fn prepare(&self) -> anyhow::Result<()> {
        set_threads(self.threads)?;
        self.params().map(drop)
    }
}

/// Sets the number of threads.
pub fn set_threads(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(anyhow!("--threads: {threads}, expected 1 to {MAX_THREADS}"));
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("--threads")
}

/// Set by Ctrl-C and by requests to terminate.
static STOP: AtomicBool = AtomicBool::new(false);

/// True while the computation in progress checks [`STOP`].
static LISTENING: AtomicBool = AtomicBool::new(false);

/// Takes over Ctrl-C, once per process. This also works if the command runs inside another program that has installed a
/// handler.
pub fn take_over_interrupts() -> anyhow::Result<()> {
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);
    if IS_TAKEN.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    // A second signal ends the program at once, as does the first if nobody listens. Finished results are not lost.
    let handler = || {
        if STOP.swap(true, Ordering::SeqCst) || !LISTENING.load(Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).context("Ctrl-C")
}

/// Makes Ctrl-C let the current computation finish from now on.
pub fn listen() {
    LISTENING.store(true, Ordering::SeqCst);
}

/// Returns true if the user has asked to stop.
pub fn is_stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Returns a note on prescribed motions that bodies block, or no longer block.
fn blocked_note(info: &StepInfo) -> String {
    let waiting = (info.progress < 1.0).then(|| "moving obstacles wait".to_owned());
    let behind = (info.behind > 0.0).then(|| format!("fixed vertices are {} m behind", short_number(info.behind)));
    let parts: Vec<String> = [waiting, behind].into_iter().flatten().collect();
    if parts.is_empty() {
        return "prescribed motions have caught up".into();
    }
    format!("bodies in contact block a prescribed motion: {} until they can continue", parts.join(", and "))
}

fn finish(mut run: Run, common: &Common, check: bool, mut notes: Vec<String>) -> anyhow::Result<Done> {
    if check && run.file.scene.expect.is_empty() {
        return Err(anyhow!("--check: nothing to check: the scene has no [[expect]] entries"));
    }
    listen();
    notes.extend(run.built().notes.iter().cloned());
    crate::show_notes(&notes);
    let folder = run.folder().to_owned();
    let mut display = Display::new(&run, common.quiet, common.json);
    let began = Instant::now();
    let first = run.built().simulation.steps_done();
    let mut warnings = Vec::new();
    let mut is_blocked = false;
    let mut watch = |progress: &Progress<'_>| {
        display.step(progress);
        if is_blocked != progress.info.is_blocked() {
            is_blocked = !is_blocked;
            let note = format!("{:.4} s: {}", progress.time, blocked_note(progress.info));
            display.interrupt(|| crate::show_notes(std::slice::from_ref(&note)));
            warnings.push(note);
        }
        if let Some(gain) = progress.energy_gain {
            let warning = format!("{:.4} s: {gain}", progress.time);
            display.interrupt(|| crate::show_notes(std::slice::from_ref(&warning)));
            warnings.push(warning);
        }
        if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let outcome = run.simulate(&common.params()?, &mut watch);
    display.end();
    notes.extend(warnings);
    let outcome = outcome.with_context(|| format!("earlier results are in {}", folder.display()))?;
    if outcome.status == Status::Stopped {
        return Ok(stopped(&outcome, &folder));
    }
    let (seconds, steps) = (began.elapsed().as_secs_f64(), outcome.step - first);
    let simulated = steps as f64 * run.built().simulation.dt();
    let mut text = format!(
        "{}: {}, {} s simulated in {:.1} s ({:.2} of real time), {}\n",
        crate::table::printable(run.title()),
        count(steps as usize, "step", "steps"),
        number(simulated),
        seconds,
        simulated / seconds.max(1e-9),
        count(run.frames_done(), "frame", "frames")
    );
    text += &format!("wrote {} and in it probes.csv, frames/, scene.toml\n", folder.display());
    close(&run, common, check, text, outcome.files, notes)
}

/// Writes the outputs made from all frames, and checks the expectations.
fn close(
    run: &Run,
    common: &Common,
    check: bool,
    mut text: String,
    mut files: Vec<PathBuf>,
    mut notes: Vec<String>,
) -> anyhow::Result<Done> {
    let folder = run.folder().display();
    let size = run.file.scene.output.picture.size;
    let mut formats = run.formats();
    let can_be_made = |format: &&'static AnimationFormat| check_formats(&[format], size).is_ok();
    if common.skip_missing {
        formats.retain(can_be_made);
    }
    let bar = progress::bar(0, "pictures", !common.quiet);
    let outputs = run.finish_formats(&formats, &mut pictures::watch(&bar));
    bar.finish_and_clear();
    if outputs.is_stopped() {
        let note = format!("stopped while rendering; `pliant resume {folder}` renders the missing images");
        return Ok(Done { text: String::new(), notes: vec![note], exit: 130 });
    }
    files.extend(outputs.files);
    let failures: Vec<anyhow::Error> = outputs.failures.into_iter().map(Into::into).collect();
    failures.iter().for_each(crate::show_error);
    if !failures.is_empty() {
        let without_film = if !common.skip_missing && !formats.iter().all(can_be_made) {
            ", and with --skip-missing all except for the video"
        } else {
            ""
        };
        notes.push(format!(
            "the simulation is complete; `pliant resume {folder}` makes the missing outputs{without_film}"
        ));
    }
    files.iter().for_each(|file| text += &format!("wrote {}\n", file.display()));
    if common.quiet || common.json {
        // Without a summary, the notes printed before the run suffice.
        text.clear();
        notes.clear();
    }
    let judged = if check { judge(run, common.quiet, &mut text)? } else { 0 };
    let exit = judged.max(u8::from(!failures.is_empty()));
    Ok(Done { text, notes, exit })
}

/// Returns the message after Ctrl-C, with the exit status of a program ended by that signal.
fn stopped(outcome: &Outcome, folder: &Path) -> Done {
    let note = format!(
        "stopped after step {}; `pliant resume {}` continues from step {}",
        outcome.step,
        folder.display(),
        outcome.resumable_from
    );
    Done { text: String::new(), notes: vec![note], exit: 130 }
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
