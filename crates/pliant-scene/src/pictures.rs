//! Images and videos of simulations.

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pliant::force::ObstacleGeometry;
use pliant_pictures::{
    Ball, Body, Bounds, Color, ColorScale, Framing, Ground, Image, PictureError, Scene, Size, Up, Vec3, View,
};
use thiserror::Error;

use crate::output::{AnimationFormat, BodyGeometry, ColorField, Frame, ImageError, ImageWriter, SceneGeometry};
use crate::scene::{Picture, Up as UpAxis};

/// Error of a [`FrameSource`].
pub type FrameError = Box<dyn Error + Send + Sync>;

/// Error of rendering.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A picture could not be drawn or written.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A frame could not be read.
    #[error(transparent)]
    Frame(FrameError),
    /// The folder of a series could not be created.
    #[error("{}: {cause}", path.display())]
    Folder {
        /// Folder.
        path: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// The rendering was stopped.
    #[error("stopped after {done} of {total} images")]
    Stopped {
        /// Number of images that were drawn.
        done: usize,
        /// Total number of images.
        total: usize,
    },
}

impl From<PictureError> for RenderError {
    fn from(error: PictureError) -> Self {
        Self::Image(error.into())
    }
}

/// Function called after each image with the number of images drawn so far and the total number. Rendering stops if it
/// breaks.
pub type Watch<'a> = dyn FnMut(usize, usize) -> ControlFlow<()> + 'a;

/// Images and videos that were made.
#[derive(Debug, Default)]
pub struct Rendered {
    /// Files to open.
    pub files: Vec<PathBuf>,
    /// Errors of the outputs that are missing.
    pub failures: Vec<RenderError>,
}

/// Returns an error if a video is requested that cannot be made. Called before hours of work depend on it.
pub fn check(formats: &[&AnimationFormat], [width, height]: [u32; 2]) -> Result<(), PictureError> {
    let size = Size::new(width, height)?;
    formats.iter().filter_map(|format| format.images()).try_for_each(|images| images.check(size))
}

/// Returns the path from which the names of the images of a format are derived: `folder/png/name.png`,
/// `folder/name.gif`.
pub fn path(format: &AnimationFormat, folder: &Path, name: &str) -> PathBuf {
    let file = format!("{name}.{}", format.extensions[0]);
    if format.is_series() { folder.join(format.name).join(file) } else { folder.join(file) }
}

/// Draws a single frame.
pub fn draw(frames: &dyn FrameSource, picture: &Picture, number: usize) -> Result<Image, RenderError> {
    Renderer::new(frames, picture)?.draw(number)
}

/// Renders images and videos of frames in the formats of images among `formats`, to a folder and under a name. Failure
/// of one format does not prevent the others.
pub fn render(
    frames: &dyn FrameSource,
    picture: &Picture,
    formats: &[&'static AnimationFormat],
    folder: &Path,
    name: &str,
    watch: &mut Watch<'_>,
) -> Result<Rendered, RenderError> {
    let mut made = Rendered::default();
    let renderer = Renderer::new(frames, picture)?;
    let seconds = picture.play_rate.map_or(frames.interval(), |rate| 1.0 / rate.si);
    let mut outputs: Vec<Box<dyn ImageWriter>> = Vec::new();
    for format in formats {
        let Some(images) = format.images() else { continue };
        let path = path(format, folder, name);
        if format.is_series() {
            let stills = folder.join(format.name);
            fs::create_dir_all(&stills).map_err(|cause| RenderError::Folder { path: stills, cause })?;
        }
        match images.start(&path, renderer.size, seconds) {
            Ok(writer) => outputs.push(writer),
            Err(error) => made.failures.push(error.into()),
        }
    }
    let total = frames.frames();
    for number in 0..total {
        if outputs.is_empty() {
            break;
        }
        if watch(number, total).is_break() {
            return Err(RenderError::Stopped { done: number, total });
        }
        let image = renderer.draw(number)?;
        outputs.retain_mut(|output| match output.add(&image) {
            Ok(()) => true,
            Err(error) => {
                made.failures.push(error.into());
                false
            }
        });
    }
    for output in outputs {
        match output.finish() {
            Ok(file) => made.files.push(file),
            Err(error) => made.failures.push(error.into()),
        }
    }
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
    fn frame(&self, number: usize, with_fields: bool) -> Result<Frame, FrameError>;
    /// Returns the obstacles at a time \[s\].
    fn obstacles(&self, time: f64) -> Vec<ObstacleGeometry>;
    /// Returns the caption of a frame.
    fn caption(&self, frame: &Frame) -> String {
        // Enough digits of the time to distinguish frames.
        let digits = (1.0 - self.interval().log10()).ceil().clamp(2.0, 12.0) as usize;
        format!("t = {:.digits$} s", frame.time)
    }
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
    fn new(animation: &'a dyn FrameSource, picture: &'a Picture) -> Result<Self, RenderError> {
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
    fn look(&mut self) -> Result<(), RenderError> {
        let (mut boxes, mut range) = (Vec::new(), None::<[f64; 2]>);
        for number in 0..self.animation.frames() {
            let frame = self.animation.frame(number, self.needs_fields()).map_err(RenderError::Frame)?;
            for body in self.animation.geometry().bodies() {
                boxes.push(Bounds::of(body.surface_positions(&frame.u)));
                for value in self.values(body, &frame).into_iter().flatten().filter(|value| value.is_finite()) {
                    let [low, high] = range.unwrap_or([value; 2]);
                    range = Some([low.min(value), high.max(value)]);
                }
            }
            boxes.extend(self.balls(frame.time).iter().map(|ball| Some(ball.bounds())));
            boxes.extend(self.obstacle_surfaces(frame.time).iter().map(|(x, _)| Bounds::of(x.iter().copied())));
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

    /// Returns the surfaces of obstacles that are neither planes nor balls, with their triangles.
    fn obstacle_surfaces(&self, time: f64) -> Vec<(Vec<Vec3>, Vec<[u32; 3]>)> {
        let surface = |shape| match shape {
            ObstacleGeometry::Surface(surface) => Some((surface.vertices().to_vec(), surface.triangles().collect())),
            _ => None,
        };
        self.animation.obstacles(time).into_iter().filter_map(surface).collect()
    }

    fn balls(&self, time: f64) -> Vec<Ball> {
        let ball = |shape| match shape {
            ObstacleGeometry::Ball { center, radius, is_hollow: false } => {
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
            ObstacleGeometry::Plane { point, normal } => Some(Ground { point, normal }),
            _ => None,
        };
        let planes = self.animation.obstacles(time).into_iter().filter_map(plane);
        let planes = planes.filter(|ground| ground.normal.normalize_or_zero().dot(up) > 0.5);
        planes.max_by(|a, b| a.normal.dot(up).total_cmp(&b.normal.dot(up)))
    }

    /// Returns the quantity that colors show, at the surface vertices of a body.
    fn values(&self, body: &BodyGeometry, frame: &Frame) -> Option<Vec<f64>> {
        Some(body.surface_values(&body.vertex_values(self.picture.color.entry?, frame)?))
    }

    /// Returns true if colors show a quantity of elements.
    fn needs_fields(&self) -> bool {
        self.picture.color.entry.is_some_and(ColorField::needs_fields)
    }

    fn scale(&self) -> ColorScale {
        let (label, unit) = self.picture.color.entry.map_or(("", ""), |shown| (shown.label, shown.unit));
        ColorScale { range: self.range, label: label.into(), unit: unit.into(), ..ColorScale::default() }
    }

    fn draw(&self, number: usize) -> Result<Image, RenderError> {
        let frame = self.animation.frame(number, self.needs_fields()).map_err(RenderError::Frame)?;
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
        let obstacles = self.obstacle_surfaces(frame.time);
        let obstacle = |(positions, triangles)| Body { color: Color::OBSTACLE, ..Body::new(positions, triangles) };
        bodies.extend(obstacles.iter().map(|(positions, triangles)| obstacle((positions, triangles))));
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
