//! `pliant reduce`: reduced models of scenes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum, ValueHint};
use indicatif::ProgressBar;
use pliant::files::Disk;
use pliant::model::Model;
use pliant::reduced::{
    Basis, CubatureParams, Forces, Progress, Reduction, ReductionError, ReductionInfo, ReductionParams,
};
use pliant_scene::run::Run;

use crate::run::{is_stopped, listen, read_scene};
use crate::table::{Listing, number};
use crate::{Done, progress};

/// Build a reduced model.
#[derive(Debug, Args)]
pub struct Reduce {
    /// A scene (.toml, or VegaFEM's .config), or a mesh, which is unconstrained.
    #[arg(value_name = "SCENE|MESH", value_hint = ValueHint::FilePath)]
    scene: PathBuf,
    /// Number of basis vectors.
    #[arg(short = 'r', long, default_value_t = 30)]
    size: usize,
    /// File to write [default: the name of the scene with .pliant].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Number of modes in the basis [default: two fifths of the size, at most 20; all for a linear law].
    #[arg(long, value_name = "COUNT")]
    modes: Option<usize>,
    /// Number of modes whose derivatives are included [default: all].
    #[arg(long, value_name = "COUNT")]
    derivatives: Option<usize>,
    /// Folder of a run whose snapshots extend the basis. May be given several times.
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath)]
    snapshots: Vec<PathBuf>,
    /// Use only snapshots, without modes.
    #[arg(long, requires = "snapshots", conflicts_with_all = ["modes", "derivatives"])]
    only_snapshots: bool,
    /// Use the columns of this array as basis instead, with three rows per vertex, as .npy, .csv, .txt or .mtx.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["size", "modes", "derivatives", "snapshots"])]
    basis: Option<PathBuf>,
    /// Also write the basis, for NumPy.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    write_basis: Option<PathBuf>,
    /// Evaluation of the elastic forces.
    #[arg(long, value_enum, default_value_t = ForcesBy::Auto)]
    forces: ForcesBy,
    /// Maximum number of elements of the cubature [default: 300]. With --forces cubature.
    #[arg(long, value_name = "COUNT")]
    elements: Option<usize>,
}

/// Evaluation of the elastic forces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ForcesBy {
    /// Chosen by the law: a polynomial for St. Venant–Kirchhoff, cubature for others.
    Auto,
    /// Sum over all elements: exact but slow.
    Projection,
    /// Weighted sum over a few elements.
    Cubature,
}

/// Maximum memory for snapshots.
const MAX_BYTES: usize = 4 << 30;

impl Reduce {
    pub fn run(&self) -> anyhow::Result<Done> {
        listen();
        let mut notes = Vec::new();
        let file = read_scene(&self.scene, &mut notes)?;
        let (model, of_scene) = file.model(&Disk)?;
        notes.extend(of_scene);
        crate::show_notes(&notes);
        let output = self.output.clone().unwrap_or_else(|| self.scene.with_extension("pliant"));
        if self.elements.is_some() && self.forces != ForcesBy::Cubature {
            bail!("--elements: has no effect without --forces cubature");
        }
        let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        if same(&output, &self.scene) {
            bail!("--output: {} is the scene itself", output.display());
        }
        let usual = CubatureParams::default();
        let cubature = CubatureParams { elements: self.elements.unwrap_or(usual.elements), ..usual };
        let forces = match self.forces {
            ForcesBy::Auto => Forces::Auto,
            ForcesBy::Projection => Forces::Projection,
            ForcesBy::Cubature => Forces::Cubature(cubature),
        };
        let began = Instant::now();
        let mut display = Display::new();
        let mut watch = |progress: Progress| {
            display.show(progress);
            if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let made = if let Some(path) = &self.basis {
            let vectors = Basis::read_vectors(&Disk, path, model.node_count())?;
            Reduction::of_vectors(&model, vectors, &forces, &mut watch)
        } else {
            let params = ReductionParams {
                size: self.size,
                modes: self.modes,
                derivatives: self.derivatives,
                snapshots: self.read_snapshots(&model)?,
                only_snapshots: self.only_snapshots,
                forces,
            };
            Reduction::new(&model, &params, &mut watch)
        };
        display.end();
        let (reduction, info) = match made {
            Err(ReductionError::Stopped) => {
                let notes = vec!["stopped; nothing was written".into()];
                return Ok(Done { text: String::new(), notes, exit: 130 });
            }
            other => other?,
        };
        let seconds = began.elapsed().as_secs_f64();
        reduction.write(&Disk, &output)?;
        let mut text = table(&file.title(), &model, &reduction, &info, seconds);
        if let Some(path) = &self.write_basis {
            reduction.basis().write(&Disk, path)?;
            text += &format!("wrote {}\n", path.display());
        }
        text += &format!(
            "wrote {}: `pliant run {} --reduced {}`\n",
            output.display(),
            self.scene.display(),
            output.display()
        );
        Ok(Done { text, notes, exit: 0 })
    }

    /// Returns the displacements in the frames of runs.
    fn read_snapshots(&self, model: &Model) -> anyhow::Result<Vec<Vec<f64>>> {
        let mut snapshots = Vec::new();
        for folder in &self.snapshots {
            let run = Run::open(folder)?;
            let (found, expected) = (run.geometry().vertex_count(), model.node_count());
            if found != expected {
                bail!("{}: expected a run with {expected} vertices, found {found}", folder.display());
            }
            if run.built().simulation.model().rest() != model.rest() {
                bail!("{}: the run has another body: its rest positions differ", folder.display());
            }
            run.check_frames()?;
            let bytes = 24 * expected * (snapshots.len() + run.frames_done());
            if bytes > MAX_BYTES {
                bail!(
                    "--snapshots: the frames would take {:.1} GB; use runs with a lower frame_rate",
                    bytes as f64 / 1e9
                );
            }
            // The first frame is the initial state.
            for number in 1..run.frames_done() {
                snapshots.push(run.frame(number, false)?.u);
            }
        }
        if !self.snapshots.is_empty() && snapshots.is_empty() {
            return Err(anyhow!("the runs have no frames after the first")).context("--snapshots");
        }
        Ok(snapshots)
    }
}

fn table(title: &str, model: &Model, reduction: &Reduction, info: &ReductionInfo, seconds: f64) -> String {
    let mut listing = Listing::default();
    let elements: usize = model.bodies().iter().map(|body| body.mesh().element_count()).sum();
    listing.title(title, &format!("reduced in {seconds:.1} s"));
    listing.row("before", format!("{} coordinates, {elements} elements", 3 * model.node_count()));
    let frame = if reduction.is_free() { " in a co-rotated frame" } else { "" };
    listing.row("after", format!("{} coordinates{frame}", reduction.basis().size()));
    let modes = info.modes.as_ref().map_or(0, |modes| modes.shapes.len());
    let others = info.basis.from - modes - info.derivatives;
    let what = if info.basis.singular_values.is_empty() { "vectors" } else { "snapshots" };
    let parts = [(modes, "modes"), (info.derivatives, "derivatives"), (others, what)];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    listing.row("built from", parts.collect::<Vec<_>>().join(", "));
    if !info.basis.singular_values.is_empty() {
        listing.row("kept", format!("{:.5} % of their squares", 100.0 * info.basis.kept));
    }
    listing.row("orthonormal", format!("to {:.1e}", info.basis.orthonormality));
    let omega = reduction.omega();
    let hertz = |omega: f64| number(omega / std::f64::consts::TAU);
    listing.row("frequencies", format!("{} to {} Hz", hertz(omega[0]), hertz(omega[omega.len() - 1])));
    let forces = reduction.elasticity().name();
    let percent = |part: f64| format!("{:.2} %", 100.0 * part);
    let forces = match &info.cubature {
        Some(cubature) => format!(
            "{forces} with {} elements: error {} at fitted poses, {} at others, {} poses total",
            cubature.elements,
            percent(cubature.fitted),
            cubature.tested.map_or("unknown".into(), percent),
            cubature.poses
        ),
        None => forces.to_owned(),
    };
    listing.row("forces", forces);
    listing.into_text()
}

/// Display of the progress, on a terminal.
struct Display {
    bar: ProgressBar,
    stage: Option<&'static str>,
}

impl Display {
    fn new() -> Self {
        Self { bar: ProgressBar::hidden(), stage: None }
    }

    fn show(&mut self, progress: Progress) {
        let (stage, done, total) = match progress {
            Progress::Modes(solves) => ("modes: solutions", solves, solves + 1),
            Progress::Derivatives(done, total) => ("derivatives", done, total),
            Progress::Polynomial(done, total) => ("polynomial: elements", done, total),
            Progress::Cubature(done, total) => ("cubature: elements", done, total),
            _ => ("working", 0, 1),
        };
        if self.stage != Some(stage) {
            self.bar.finish_and_clear();
            self.bar = progress::bar(total as u64, stage, true);
            self.stage = Some(stage);
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
