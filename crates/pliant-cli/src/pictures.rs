//! Images and videos of runs.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueHint};
use indicatif::ProgressBar;
use pliant::files::{Disk, Files};
use pliant_scene::output::{ColorField, FORMATS};
use pliant_scene::pictures::{check, draw};
use pliant_scene::run::Run;
use pliant_scene::scene::quantity::Angle;
use pliant_scene::scene::{Color, QuantityError};

use crate::formats::{Formats, choice};
use crate::{Done, progress, run};

/// Render images and videos of a run.
#[derive(Debug, Args)]
pub struct Render {
    /// Folder of the run.
    #[arg(value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    #[command(flatten)]
    formats: Formats,
    /// Render only this frame, as a PNG file: its number and the file. May be given several times.
    #[arg(long, num_args = 2, value_names = ["NUMBER", "FILE"])]
    frame: Vec<String>,
    /// Width and height in pixels.
    #[arg(long, num_args = 2, value_names = ["WIDTH", "HEIGHT"])]
    size: Option<Vec<u32>>,
    /// Quantity that colors show.
    #[arg(long, value_parser = choice::<Option<&ColorField>>())]
    color: Option<Color>,
    /// Azimuth angle of the camera around the upward axis, in degrees or with a unit, as in "0.1 turn".
    #[arg(long, value_name = "ANGLE", value_parser = degrees, allow_hyphen_values = true)]
    azimuth: Option<Angle>,
    /// Elevation angle of the camera above the horizon, in degrees or with a unit, as in "0.1 turn".
    #[arg(long, value_name = "ANGLE", value_parser = degrees, allow_hyphen_values = true)]
    elevation: Option<Angle>,
    /// Do not draw the edges of the mesh.
    #[arg(long)]
    no_edges: bool,
}

/// Parses an angle, in degrees if it has no unit.
fn degrees(text: &str) -> Result<Angle, QuantityError> {
    format!("{} deg", text.trim()).parse().or_else(|_| text.parse())
}

impl Render {
    pub fn run(&self) -> anyhow::Result<Done> {
        run::listen();
        let formats = self.formats.list();
        // Single images are written elsewhere, and can be made while a run is in progress.
        let run = if formats.is_empty() { Run::open(&self.folder)? } else { Run::lock(&self.folder)? };
        let mut picture = run.file.scene.output.picture.value.clone();
        if let Some(size) = &self.size {
            // The argument parser accepts exactly two values.
            picture.size = [size[0], size[1]];
        }
        if let Some(color) = self.color {
            picture.color = color;
        }
        picture.view.azimuth = self.azimuth.unwrap_or(picture.view.azimuth);
        picture.view.elevation = self.elevation.unwrap_or(picture.view.elevation);
        picture.edges &= !self.no_edges;
        check(&formats, picture.size)?;
        let mut files = Vec::new();
        for [number, path] in self.frame.as_chunks::<2>().0 {
            let number: usize =
                number.parse().with_context(|| format!("--frame: expected a number, found `{number}`"))?;
            run.check_frames()?;
            if number >= run.frames_done() {
                return Err(anyhow!(
                    "--frame: expected a frame from 0 to {}, found {number}",
                    run.frames_done().saturating_sub(1)
                ));
            }
            let path = PathBuf::from(path);
            if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
                bail!("--frame: {}: expected a name ending in .png", path.display());
            }
            Disk.write(&path, &draw(&run, &picture, number)?.png()?)?;
            files.push(path);
        }
        if formats.is_empty() && files.is_empty() {
            let options: String = FORMATS.iter().map(|format| format!("--{}, ", format.name)).collect();
            return Err(anyhow!("no output requested: give {options}or --frame"));
        }
        let bar = progress::bar(0, "pictures", true);
        let outputs = run.write_formats(&formats, &picture, &mut watch(&bar));
        bar.finish_and_clear();
        if let Some(error) = outputs.failures.into_iter().next() {
            return Err(error.into());
        }
        files.extend(outputs.files);
        Ok(Done::text(files.iter().map(|file| format!("wrote {}\n", file.display())).collect()))
    }
}

/// Returns a function that shows the progress of rendering, and stops it on Ctrl-C.
pub fn watch(bar: &ProgressBar) -> impl FnMut(usize, usize) -> ControlFlow<()> {
    |done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        if run::is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
