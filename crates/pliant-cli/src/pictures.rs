//! Images and videos of runs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum, ValueHint};
use pliant::force::{ObstacleShape, Side};
use pliant::io::{Disk, Files};
use pliant_pictures::{
    Ball, Body, Bounds, Color, ColorScale, Framing, Gif, Ground, Image, Mp4, Scene, Size, Up, Vec3, View,
};
use pliant_scene::output::{AnimationFormat, BodyGeometry, ColorField, FORMATS, Frame, SceneGeometry};
use pliant_scene::run::Run;
use pliant_scene::scene::quantity::Angle;
use pliant_scene::scene::{Animation, Color as Colored, Picture, QuantityError, Up as UpAxis};

use crate::Done;
use crate::run::{self, Formats};
use crate::{plot, progress};

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
    #[arg(long, value_enum)]
    color: Option<ColorBy>,
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

/// Quantity that colors show.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ColorBy {
    /// Object or region.
    Body,
    /// Magnitude of the displacement.
    Displacement,
    /// Magnitude of the velocity.
    Speed,
    /// Von Mises stress, recovered at vertices.
    VonMises,
    /// Volume relative to the undeformed volume.
    VolumeRatio,
    /// Elastic energy density.
    Energy,
}

/// Parses an angle, in degrees if it has no unit.
fn degrees(text: &str) -> Result<Angle, QuantityError> {
    format!("{} deg", text.trim()).parse().or_else(|_| text.parse())
}

impl Render {
    pub fn run(&self) -> anyhow::Result<Done> {
        run::listen();
        let formats: Vec<Animation> = self.formats.list().collect();
        // Single images are written elsewhere, and can be made while a run is in progress.
        let run = if formats.is_empty() { Run::open(&self.folder)? } else { Run::lock(&self.folder)? };
        let mut picture = run.file.scene.output.picture.value.clone();
        if let Some(size) = &self.size {
            // The argument parser accepts exactly two values.
            picture.size = [size[0], size[1]];
        }
        if let Some(color) = self.color {
            picture.color = match color {
                ColorBy::Body => Colored::Body,
                ColorBy::Displacement => Colored::Displacement,
                ColorBy::Speed => Colored::Speed,
                ColorBy::VonMises => Colored::VonMises,
                ColorBy::VolumeRatio => Colored::VolumeRatio,
                ColorBy::Energy => Colored::Energy,
            };
        }
        picture.view.azimuth = self.azimuth.unwrap_or(picture.view.azimuth);
        picture.view.elevation = self.elevation.unwrap_or(picture.view.elevation);
        picture.edges &= !self.no_edges;
        check_film(&formats, picture.size)?;
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
            write_png(&Renderer::new(&run, &picture)?.draw(number)?, &path)?;
            files.push(path);
        }
        if formats.is_empty() && files.is_empty() {
            return Err(anyhow!("no output requested: give --png, --gif, --mp4, --frame, or another format"));
        }
        for format in FORMATS {
            if is_wanted(format, &formats) {
                let folder =
                    if format.is_series() { run.folder().join(format.extensions[0]) } else { run.folder().into() };
                fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
                files.push(run.export(format, &folder.join(format!("{}.{}", run.name(), format.extensions[0])))?);
            }
        }
        files.extend(make(&run, &picture, &formats, true)?.complete()?);
        Ok(Done::text(files.iter().map(|file| format!("wrote {}\n", file.display())).collect()))
    }
}

/// Returns true if a format of the library is requested.
pub fn is_wanted(format: &AnimationFormat, wanted: &[Animation]) -> bool {
    wanted.iter().any(|wanted| format.extensions[0] == extension(*wanted))
}

fn extension(format: Animation) -> &'static str {
    match format {
        Animation::Vtu => "vtu",
        Animation::Obj => "obj",
        Animation::Ply => "ply",
        Animation::Glb => "glb",
        Animation::Pc2 => "pc2",
        Animation::Mdd => "mdd",
        Animation::Png => "png",
        Animation::Gif => "gif",
        Animation::Mp4 => "mp4",
        Animation::Plot => "svg",
    }
}

/// Images, videos and plots that were made.
#[derive(Debug, Default)]
pub struct Made {
    /// Files to open.
    pub files: Vec<PathBuf>,
    /// Errors of the outputs that are missing.
    pub failures: Vec<anyhow::Error>,
}

impl Made {
    /// Returns the files, or the first failure.
    pub fn complete(self) -> anyhow::Result<Vec<PathBuf>> {
        self.failures.into_iter().next().map_or(Ok(self.files), Err)
    }

    fn add(&mut self, made: anyhow::Result<Vec<PathBuf>>) {
        match made {
            Ok(files) => self.files.extend(files),
            Err(error) => self.failures.push(error),
        }
    }
}

/// Returns an error if a video is requested and cannot be made. Called before hours of work depend on it.
pub fn check_film(formats: &[Animation], [width, height]: [u32; 2]) -> anyhow::Result<()> {
    if formats.contains(&Animation::Mp4) {
        Mp4::check(Size::new(width, height)?)?;
    }
    Ok(())
}

/// Returns the formats that a scene requests.
pub fn formats_of(scene: &pliant_scene::scene::Scene) -> Vec<Animation> {
    scene.output.formats.iter().map(|format| format.value).collect()
}

/// Makes the images and plots that the scene of a run requests and that do not exist yet. Returns an error if
/// interrupted.
pub fn finish(run: &Run, formats: &[Animation], show: bool) -> anyhow::Result<Made> {
    let folder = run.folder();
    let is_missing = |format: &Animation| match format {
        Animation::Plot => ["svg", "png"].iter().any(|own| !folder.join(format!("plots.{own}")).is_file()),
        Animation::Png => (0..run.frame_count()).any(|number| !png_file(folder, run.name(), number).is_file()),
        Animation::Gif | Animation::Mp4 => !folder.join(format!("{}.{}", run.name(), extension(*format))).is_file(),
        _ => false,
    };
    let missing: Vec<Animation> = formats.iter().copied().filter(is_missing).collect();
    make(run, &run.file.scene.output.picture, &missing, show)
}

fn make(run: &Run, picture: &Picture, formats: &[Animation], show: bool) -> anyhow::Result<Made> {
    let wants = |format| formats.contains(&format);
    let mut made = Made::default();
    if wants(Animation::Plot) {
        made.add(plot::write(run));
    }
    if ![Animation::Png, Animation::Gif, Animation::Mp4].into_iter().any(wants) {
        return Ok(made);
    }
    match run
        .check_frames()
        .map_err(Into::into)
        .and_then(|()| render_files(run, picture, formats, run.folder(), run.name(), show))
    {
        Ok(pictures) => {
            made.files.extend(pictures.files);
            made.failures.extend(pictures.failures);
        }
        Err(error) if run::is_stopped() => return Err(error),
        Err(error) => made.failures.push(error),
    }
    Ok(made)
}

/// Renders images and videos of frames, to a folder and under a name. A failure of one format does not prevent the
/// others.
pub fn render_files(
    animation: &dyn FrameSource,
    picture: &Picture,
    formats: &[Animation],
    folder: &Path,
    name: &str,
    show: bool,
) -> anyhow::Result<Made> {
    let wants = |format| formats.contains(&format);
    let mut made = Made::default();
    let renderer = Renderer::new(animation, picture)?;
    let seconds = picture.play_rate.map_or(animation.interval(), |rate| 1.0 / rate.si);
    let mut outputs: Vec<Box<dyn Film>> = Vec::new();
    if wants(Animation::Png) {
        let stills = folder.join("png");
        fs::create_dir_all(&stills).with_context(|| stills.display().to_string())?;
        outputs.push(Box::new(Stills { folder: folder.to_owned(), name: name.to_owned(), count: 0 }));
    }
    if wants(Animation::Gif) {
        // Viewers slow down frames that are shorter than two hundredths of a second.
        let seconds = seconds.max(Gif::<Vec<u8>>::FRAME_TIME.0);
        let path = folder.join(format!("{name}.gif"));
        outputs.push(Box::new(GifFile { gif: Gif::start(Vec::new(), renderer.size, seconds)?, path }));
    }
    if wants(Animation::Mp4) {
        let path = folder.join(format!("{name}.mp4"));
        let seconds = seconds.clamp(Mp4::FRAME_TIME.0, Mp4::FRAME_TIME.1);
        match Mp4::start(&path, renderer.size, 1.0 / seconds) {
            Ok(film) => outputs.push(Box::new(Mp4File { film, path })),
            Err(error) => made.failures.push(error.into()),
        }
    }
    let frames = animation.frames();
    let bar = progress::bar(frames as u64, "pictures", show);
    for number in 0..frames {
        if run::is_stopped() {
            bail!("stopped after {number} of {frames} images");
        }
        if outputs.is_empty() {
            break;
        }
        let image = renderer.draw(number)?;
        outputs.retain_mut(|output| match output.add(&image) {
            Ok(()) => true,
            Err(error) => {
                made.failures.push(error);
                false
            }
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    outputs.into_iter().for_each(|output| made.add(output.finish().map(|file| vec![file])));
    Ok(made)
}

/// Sequence of frames to render.
pub trait FrameSource {
    /// Returns the scene geometry.
    fn geometry(&self) -> &SceneGeometry;
    /// Returns the upward axis.
    fn up(&self) -> UpAxis;
    /// Returns the number of frames.
    fn frames(&self) -> usize;
    /// Returns the time between frames \[s\].
    fn interval(&self) -> f64;
    /// Returns a frame, with the element fields if requested.
    fn frame(&self, number: usize, with_fields: bool) -> anyhow::Result<Frame>;
    /// Returns the obstacles at a time \[s\].
    fn obstacles(&self, time: f64) -> Vec<ObstacleShape>;
    /// Returns the caption of a frame.
    fn caption(&self, frame: &Frame) -> String {
        // Enough digits of the time to distinguish frames.
        let digits = (1.0 - self.interval().log10()).ceil().clamp(2.0, 12.0) as usize;
        format!("t = {:.digits$} s", frame.time)
    }
}

impl FrameSource for Run {
    fn geometry(&self) -> &SceneGeometry {
        Run::geometry(self)
    }

    fn up(&self) -> UpAxis {
        self.file.scene.up
    }

    fn frames(&self) -> usize {
        self.frames_done()
    }

    fn interval(&self) -> f64 {
        self.built().frame_every as f64 * self.built().simulation.dt()
    }

    fn frame(&self, number: usize, with_fields: bool) -> anyhow::Result<Frame> {
        Ok(Run::frame(self, number, with_fields)?)
    }

    fn obstacles(&self, time: f64) -> Vec<ObstacleShape> {
        Run::obstacles(self, time)
    }
}

/// Sink for successive images.
trait Film {
    fn add(&mut self, image: &Image) -> anyhow::Result<()>;

    /// Completes the output and returns the file to open.
    fn finish(self: Box<Self>) -> anyhow::Result<PathBuf>;
}

struct Stills {
    folder: PathBuf,
    name: String,
    count: usize,
}

impl Film for Stills {
    fn add(&mut self, image: &Image) -> anyhow::Result<()> {
        let path = png_file(&self.folder, &self.name, self.count);
        self.count += 1;
        write_png(image, &path)
    }

    fn finish(self: Box<Self>) -> anyhow::Result<PathBuf> {
        Ok(png_file(&self.folder, &self.name, 0))
    }
}

struct GifFile {
    gif: Gif<Vec<u8>>,
    path: PathBuf,
}

impl Film for GifFile {
    fn add(&mut self, image: &Image) -> anyhow::Result<()> {
        Ok(self.gif.add(image)?)
    }

    fn finish(self: Box<Self>) -> anyhow::Result<PathBuf> {
        Disk.write(&self.path, &self.gif.finish()?)?;
        Ok(self.path)
    }
}

struct Mp4File {
    film: Mp4,
    path: PathBuf,
}

impl Film for Mp4File {
    fn add(&mut self, image: &Image) -> anyhow::Result<()> {
        Ok(self.film.add(image)?)
    }

    fn finish(self: Box<Self>) -> anyhow::Result<PathBuf> {
        self.film.finish()?;
        Ok(self.path)
    }
}

/// Returns the file of an image of a sequence.
fn png_file(folder: &Path, name: &str, number: usize) -> PathBuf {
    folder.join("png").join(format!("{name}_{number:06}.png"))
}

fn write_png(image: &Image, path: &Path) -> anyhow::Result<()> {
    Ok(Disk.write(path, &image.png()?)?)
}

/// Renderer of frames.
struct Renderer<'a> {
    animation: &'a dyn FrameSource,
    picture: &'a Picture,
    size: Size,
    view: View,
    range: Option<[f64; 2]>,
    /// Triangles of each body, by region if its boundary is shown, and edges.
    skins: Vec<Skin>,
}

struct Skin {
    /// Triangles with their color.
    parts: Vec<(Vec<[u32; 3]>, Color)>,
    edges: Vec<[u32; 2]>,
}

impl<'a> Renderer<'a> {
    fn new(animation: &'a dyn FrameSource, picture: &'a Picture) -> anyhow::Result<Self> {
        let size = Size::new(picture.size[0], picture.size[1])?;
        let skin = |(body, colors): (&BodyGeometry, Vec<[u8; 3]>)| Skin::new(body, picture.edges, &colors);
        let skins = animation.geometry().bodies().iter().zip(animation.geometry().region_colors()).map(skin).collect();
        let mut renderer = Self {
            animation,
            picture,
            size,
            view: View::fitting([], size, &Framing::default()),
            range: picture.range,
            skins,
        };
        renderer.look()?;
        Ok(renderer)
    }

    /// Scans all frames, for a fixed camera and a common color range.
    fn look(&mut self) -> anyhow::Result<()> {
        let (mut boxes, mut range) = (Vec::new(), None::<[f64; 2]>);
        for number in 0..self.animation.frames() {
            let frame = self.animation.frame(number, self.needs_fields())?;
            for body in self.animation.geometry().bodies() {
                boxes.push(Bounds::of(body.surface_positions(&frame.u)));
                for value in self.values(body, &frame).into_iter().flatten().filter(|value| value.is_finite()) {
                    let [low, high] = range.unwrap_or([value; 2]);
                    range = Some([low.min(value), high.max(value)]);
                }
            }
            boxes.extend(self.balls(frame.time).iter().map(|ball| Some(ball.bounds())));
        }
        let view = &self.picture.view;
        let up = match self.animation.up() {
            UpAxis::Y => Up::Y,
            UpAxis::Z => Up::Z,
        };
        let framing = Framing {
            azimuth: view.azimuth.si.to_degrees(),
            elevation: view.elevation.si.to_degrees().clamp(-89.0, 89.0),
            up,
            ..Framing::default()
        };
        self.view = View::fitting(boxes, self.size, &framing);
        if let Some(target) = &view.target {
            self.view.target = Vec3::from_array(target.map(|x| x.si));
        }
        if let Some(distance) = view.distance {
            self.view.distance = distance.si;
        }
        self.range = self.picture.range.or(range);
        Ok(())
    }

    fn balls(&self, time: f64) -> Vec<Ball> {
        let ball = |shape| match shape {
            ObstacleShape::Sphere { center, radius, side: Side::Outside } => {
                Some(Ball { center, radius, color: Color::OBSTACLE })
            }
            _ => None,
        };
        self.animation.obstacles(time).into_iter().filter_map(ball).collect()
    }

    /// Returns the plane whose normal is closest to the upward axis.
    fn ground(&self, time: f64) -> Option<Ground> {
        let up = self.animation.up().direction();
        let plane = |shape| match shape {
            ObstacleShape::Plane { point, normal } => Some(Ground { point, normal }),
            ObstacleShape::Sphere { .. } => None,
        };
        let planes = self.animation.obstacles(time).into_iter().filter_map(plane);
        let planes = planes.filter(|ground| ground.normal.normalize_or_zero().dot(up) > 0.5);
        planes.max_by(|a, b| a.normal.dot(up).total_cmp(&b.normal.dot(up)))
    }

    /// Returns the quantity that colors show, at the surface vertices of a body.
    fn values(&self, body: &BodyGeometry, frame: &Frame) -> Option<Vec<f64>> {
        Some(body.surface_values(&body.vertex_values(self.picture.color.shown()?, frame)?))
    }

    /// Returns true if colors show a quantity of elements.
    fn needs_fields(&self) -> bool {
        self.picture.color.shown().is_some_and(ColorField::needs_fields)
    }

    fn scale(&self) -> ColorScale {
        let (label, unit) = self.picture.color.shown().map_or(("", ""), |shown| (shown.label(), shown.unit()));
        ColorScale { range: self.range, label: label.into(), unit: unit.into(), ..ColorScale::default() }
    }

    fn draw(&self, number: usize) -> anyhow::Result<Image> {
        let frame = self.animation.frame(number, self.needs_fields())?;
        let surfaces: Vec<(Vec<Vec3>, Option<Vec<f64>>)> = self
            .animation
            .geometry()
            .bodies()
            .iter()
            .map(|body| (body.surface_positions(&frame.u), self.values(body, &frame)))
            .collect();
        let mut bodies = Vec::new();
        for ((positions, values), skin) in surfaces.iter().zip(&self.skins) {
            for (part, (triangles, color)) in skin.parts.iter().enumerate() {
                // The edges are shared by all parts.
                let edges: &[[u32; 2]] = if part == 0 { &skin.edges } else { &[] };
                bodies.push(Body { positions, triangles, values: values.as_deref(), color: *color, edges });
            }
        }
        let scene = Scene {
            bodies,
            balls: self.balls(frame.time),
            ground: self.ground(frame.time),
            scale: self.scale(),
            caption: self.animation.caption(&frame),
            ..Scene::new(self.view, self.size)
        };
        Ok(scene.draw()?)
    }
}

impl Skin {
    fn new(body: &BodyGeometry, with_edges: bool, colors: &[[u8; 3]]) -> Self {
        let mut parts: Vec<(Vec<[u32; 3]>, Color)> = colors.iter().map(|&color| (Vec::new(), Color(color))).collect();
        for (triangle, region) in body.surface().triangles().zip(body.triangle_regions()) {
            parts[region as usize].0.push(triangle);
        }
        let edges = if with_edges && !body.has_visual() { body.edges() } else { Vec::new() };
        Self { parts, edges }
    }
}
