//! `pliant modes`: natural frequencies and mode shapes.

use std::f64::consts::TAU;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};
use pliant::files::{Disk, Files};
use pliant::force::ObstacleGeometry;
use pliant::math::Vec3;
use pliant::model::Model;
use pliant::reduced::{Basis, Modes, ModesParams};
use pliant::system::State;
use pliant_scene::output::{AnimationFormat, Axis, ColorField, Frame, Options, SceneGeometry};
use pliant_scene::pictures::{self, FrameError, FrameSource, RenderError};
use pliant_scene::scene::{Color, Picture, SceneFile, Up};
use serde::Serialize;

use crate::formats::Formats;
use crate::run::{default_folder, is_stopped, listen, read_scene};
use crate::table::{Listing, number, to_json};
use crate::{Done, progress};

/// Compute natural frequencies and modes.
#[derive(Debug, Args)]
pub struct ModesCommand {
    /// A scene (.toml, or VegaFEM's .config), or a mesh, which is unconstrained.
    #[arg(value_name = "SCENE|MESH", value_hint = ValueHint::FilePath)]
    scene: PathBuf,
    /// Number of modes.
    #[arg(short = 'n', long, default_value_t = 10)]
    count: usize,
    /// Folder for frequencies.csv, modes.npy and animations [default: out/ and the name of the scene, if an animation
    /// is requested].
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Maximum displacement in animations, relative to the size of the body.
    #[arg(long, default_value_t = 0.1)]
    amplitude: f64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    formats: Formats,
}

/// Properties of a mode.
#[derive(Debug, Serialize)]
struct Row {
    mode: usize,
    frequency_hz: f64,
    omega: f64,
    residual: f64,
    /// Effective modal mass along each axis, as a fraction of the total mass.
    effective_mass: [f64; 3],
}

/// Number of frames per period of a mode.
const FRAMES: usize = 30;
const SECONDS: f64 = 1.0;

impl ModesCommand {
    pub fn run(&self) -> anyhow::Result<Done> {
        if !(self.amplitude > 0.0 && self.amplitude.is_finite()) {
            bail!("--amplitude: expected a positive number, found {}", self.amplitude);
        }
        if self.formats.list().iter().any(|format| format.is_plot()) {
            bail!("--plot applies only to runs");
        }
        listen();
        let mut notes = Vec::new();
        let file = read_scene(&self.scene, &mut notes)?;
        pictures::check(&self.formats.list(), file.scene.output.picture.size)?;
        let (model, of_scene) = file.model(&Disk)?;
        notes.extend(of_scene);
        crate::show_notes(&notes);
        let bar = progress::bar(0, "modes: solutions", true);
        let modes = Modes::find(&model, &ModesParams::new(self.count), &mut |solves| {
            bar.set_length(solves as u64 + 1);
            bar.set_position(solves as u64);
            if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        bar.finish_and_clear();
        if is_stopped() {
            return Ok(stopped());
        }
        let modes = modes?;
        let rows = rows(&model, &modes);
        let mut text = if self.json { to_json(&rows)? } else { table(&file, &model, &modes, &rows) };
        let formats = self.formats.list();
        let usual = || default_folder(&file).with_extension("modes");
        let folder = self.output.clone().or_else(|| (!formats.is_empty()).then(usual));
        if let Some(folder) = folder {
            fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
            let files = self.write(&file, model, &modes, &rows, &folder, &formats)?;
            if is_stopped() {
                return Ok(stopped());
            }
            for file in files.into_iter().filter(|_| !self.json) {
                text += &format!("wrote {}\n", file.display());
            }
        }
        if self.json {
            notes.clear();
        }
        Ok(Done { text, notes, exit: 0 })
    }

    fn write(
        &self,
        file: &SceneFile,
        model: Model,
        modes: &Modes,
        rows: &[Row],
        folder: &Path,
        formats: &[&'static AnimationFormat],
    ) -> anyhow::Result<Vec<PathBuf>> {
        let mut csv =
            String::from("mode,frequency_hz,omega,residual,effective_mass.x,effective_mass.y,effective_mass.z\n");
        for row in rows {
            let [x, y, z] = row.effective_mass;
            let Row { mode, frequency_hz, omega, residual, .. } = row;
            csv += &format!("{mode},{frequency_hz:?},{omega:?},{residual:?},{x:?},{y:?},{z:?}\n");
        }
        let mut files = vec![folder.join("frequencies.csv"), folder.join("modes.npy")];
        Disk.write(&files[0], csv.as_bytes())?;
        Basis::new(&model, modes.shapes.clone())?.write(&Disk, &files[1])?;
        let geometry = Arc::new(SceneGeometry::new(&model));
        let mut animation =
            ModeFrames { geometry, up: file.scene.up, model, shape: Vec::new(), caption: String::new() };
        let color = Color::from(&ColorField::DISPLACEMENT);
        let picture = Picture { color, ..file.scene.output.picture.value.clone() };
        let options = Options {
            frames: Some(FRAMES),
            up: match file.scene.up {
                Up::Y => Axis::Y,
                Up::Z => Axis::Z,
            },
        };
        let digits = rows.len().to_string().len();
        let bar = progress::bar(rows.len() as u64, "animations", !formats.is_empty());
        for (row, shape) in rows.iter().zip(&modes.shapes) {
            let largest = shape.chunks_exact(3).map(|u| Vec3::from_slice(u).length()).fold(0.0, f64::max);
            let scale = self.amplitude * animation.model.extent() / largest;
            animation.shape = shape.iter().map(|u| scale * u).collect();
            animation.caption = format!("mode {}, {} Hz", row.mode, number(row.frequency_hz));
            let name = format!("mode_{:0digits$}", row.mode);
            for format in formats.iter().filter(|format| format.has_meshes()) {
                files.push(export(&animation, format, folder, &name, &options)?);
            }
            if formats.iter().any(|format| format.images().is_some()) {
                let watch = &mut |_, _| if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
                match pictures::render(&animation, &picture, formats, folder, &name, watch) {
                    Err(RenderError::Stopped { .. }) => break,
                    rendered => {
                        let rendered = rendered?;
                        if let Some(error) = rendered.failures.into_iter().next() {
                            return Err(error.into());
                        }
                        files.extend(rendered.files);
                    }
                }
            }
            bar.inc(1);
            if is_stopped() {
                break;
            }
        }
        bar.finish_and_clear();
        Ok(files)
    }
}

/// Writes one period of a mode in a format. Returns the file to open.
fn export(
    animation: &ModeFrames,
    format: &AnimationFormat,
    folder: &Path,
    name: &str,
    options: &Options,
) -> anyhow::Result<PathBuf> {
    let extension = format.extensions[0];
    let folder = if format.is_series() { folder.join(extension) } else { folder.into() };
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(format!("{name}.{extension}"));
    let mut writer = format.start(&path, &animation.geometry, options)?;
    for number in 0..FRAMES {
        writer.write(&animation.frame_at(number, format.is_series()))?;
    }
    Ok(writer.finish()?.into_iter().next().unwrap_or(path))
}

/// Frames of one period of a mode.
struct ModeFrames {
    geometry: Arc<SceneGeometry>,
    up: Up,
    model: Model,
    shape: Vec<f64>,
    caption: String,
}

impl ModeFrames {
    fn frame_at(&self, number: usize, with_fields: bool) -> Frame {
        let time = number as f64 * self.interval();
        let (sine, cosine) = (TAU * time / SECONDS).sin_cos();
        let scaled = |factor: f64| self.shape.iter().map(|u| factor * u).collect();
        let state = State {
            time,
            q: scaled(sine),
            v: scaled(TAU / SECONDS * cosine),
            history: self.model.rest_state().history,
            ..State::default()
        };
        Frame::new(&self.model, &state, number, with_fields)
    }
}

impl FrameSource for ModeFrames {
    fn geometry(&self) -> &SceneGeometry {
        &self.geometry
    }

    fn up(&self) -> Up {
        self.up
    }

    fn frames(&self) -> usize {
        FRAMES
    }

    fn interval(&self) -> f64 {
        SECONDS / FRAMES as f64
    }

    fn frame(&self, number: usize, with_fields: bool) -> Result<Frame, FrameError> {
        Ok(self.frame_at(number, with_fields))
    }

    fn obstacles(&self, _time: f64) -> Vec<ObstacleGeometry> {
        Vec::new()
    }

    fn caption(&self, _frame: &Frame) -> String {
        self.caption.clone()
    }
}

fn rows(model: &Model, modes: &Modes) -> Vec<Row> {
    let total = model.mass().total();
    let momentum = Vec3::AXES.map(|axis| {
        let field: Vec<f64> = (0..model.node_count()).flat_map(|_| axis.to_array()).collect();
        let mut momentum = vec![0.0; field.len()];
        model.mass().mul(&field, &mut momentum);
        momentum
    });
    let of_mode = |number: usize| {
        let along = |momentum: &Vec<f64>| momentum.iter().zip(&modes.shapes[number]).map(|(p, u)| p * u).sum::<f64>();
        Row {
            mode: number + 1,
            frequency_hz: modes.frequencies()[number],
            omega: modes.omega[number],
            residual: modes.residuals[number],
            effective_mass: [0, 1, 2].map(|axis| along(&momentum[axis]).powi(2) / total),
        }
    };
    (0..modes.shapes.len()).map(of_mode).collect()
}

fn table(file: &SceneFile, model: &Model, modes: &Modes, rows: &[Row]) -> String {
    let mut listing = Listing::default();
    listing.title(&file.title(), "natural frequencies");
    listing.row("vertices", model.node_count().to_string());
    let rigid = match modes.rigid.len() {
        0 => "none: it is fixed".to_owned(),
        6 if model.bodies().len() == 1 => "6, not listed: it is free".to_owned(),
        count => format!("{count}, not listed"),
    };
    listing.row("rigid-body modes", rigid);
    listing.row("work", format!("{} solves with one factorization", modes.info.solves));
    let mut heading = vec!["mode", "frequency Hz", "period s", "residual"];
    // Modes of unconstrained bodies have no effective mass.
    let is_shaken = modes.rigid.is_empty();
    heading.extend(["mass x %", "mass y %", "mass z %"].iter().filter(|_| is_shaken));
    let cells = |row: &Row| {
        let mut cells = vec![row.mode.to_string(), number(row.frequency_hz), number(1.0 / row.frequency_hz)];
        cells.push(format!("{:.1e}", row.residual));
        cells.extend(row.effective_mass.iter().filter(|_| is_shaken).map(|part| format!("{:.1}", 100.0 * part)));
        cells
    };
    listing.columns(&heading, &rows.iter().map(cells).collect::<Vec<_>>());
    listing.into_text()
}

fn stopped() -> Done {
    Done { text: String::new(), notes: vec!["stopped".into()], exit: 130 }
}
