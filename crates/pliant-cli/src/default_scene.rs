//! Default scene for meshes without one: bodies dropped on the ground.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use pliant::io::{Format, Mesh, read};
use pliant::math::Vec3;
use pliant::mesh::{Moduli, SurfaceMesh, VolumeMesh};
use pliant::meshing::{Resolution, Surface};
use pliant_scene::registry::Tagged;
use pliant_scene::scene::generator::{Cage, Filled};
use pliant_scene::scene::obstacle::Plane;
use pliant_scene::scene::quantity::{Density, Length, Pressure, Rate, Time, vector};
use pliant_scene::scene::{
    Contact, Damping, EARTH, Located, Locations, MaterialChoice, MaterialSettings, MeshSource, Object, Obstacle,
    ObstacleShapeChoice, Scale, Scene, SceneFile, Settings, SolidSource, Source, Up,
};

use crate::fill::in_millimeters;
use crate::material::laws;
use crate::table::{count, number, number_to};

/// Default density of bodies, water [kg/m³].
pub const DENSITY: f64 = 1000.0;

/// Default Poisson's ratio of bodies.
pub const POISSON: f64 = 0.4;

/// Default Young's modulus of bodies, relative to `ρ g L` with the mean side length `L` of the bounding box.
///
/// A body of height `L` that falls from `h` is compressed by about `√(2 ρ g h / E)`, a quarter of its height for `h = L
/// / 2`. It sags under its weight by about `ρ g L / 2 E`, a thirtieth.
const SOFTNESS: f64 = 15.0;

/// Minimum and maximum size of bodies \[m\]. Outside of this range, stiffness and mass are too far from 1 to be summed.
const SIZES: [f64; 2] = [1e-9, 1e9];

/// Drop height relative to the size of the largest body.
const HEIGHT: f64 = 0.5;

/// Simulated time after the fall, in units of `√(L / g)`: long enough to come to rest.
const REST: f64 = 12.0;

/// Time steps per `√(L / g)`.
const STEPS: f64 = 24.0;

/// Stiffness-proportional damping, in units of `√(L / g)`.
const DAMPING: f64 = 0.0075;

/// Options for meshes and surfaces without a scene.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Meshes and surfaces without a scene")]
pub struct BodyArgs {
    /// Scale factor for all lengths in the files, such as 0.001 or 1/1000.
    #[arg(long, value_name = "FACTOR", value_parser = ratio)]
    scale: Option<f64>,
    /// Length unit of the files, such as mm, cm, in or ft [default: m].
    #[arg(long, value_name = "UNIT", value_parser = length_of_unit)]
    units: Option<f64>,
    /// Upward axis of the files [default: y].
    #[arg(long, value_enum)]
    up: Option<UpAxis>,
    /// Elastic law, see `pliant laws` [default: stable-neo-hookean, or as in the file].
    #[arg(long, value_parser = laws(), hide_possible_values = true)]
    law: Option<String>,
    /// Young's modulus in Pa, such as 2e5 or "1 MPa" [default: as in the file, or soft enough to compress visibly on
    /// impact].
    #[arg(long, value_name = "PRESSURE")]
    young: Option<Pressure>,
    /// Poisson's ratio [default: as in the file, or 0.4].
    #[arg(long, value_name = "RATIO")]
    poisson: Option<f64>,
    /// Density in kg/m³, such as 1100 or "1.1 g/cm^3" [default: as in the file, or 1000].
    #[arg(long)]
    density: Option<Density>,
    /// Cells along the longest side of a surface [default: a number that simulates in seconds, or in real time in the
    /// viewer].
    #[arg(long, value_name = "COUNT", value_parser = cells)]
    cells: Option<u32>,
    /// Mesh the interior of a surface instead of embedding it in a cage of tetrahedra.
    #[arg(long)]
    fill: bool,
    /// Drop height in m, such as 0.5 or "50 cm" [default: half the size of the body].
    #[arg(long, value_name = "LENGTH")]
    height: Option<Length>,
}

/// Upward axis.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum UpAxis {
    Y,
    Z,
}

/// Purpose of a scene, which decides the number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A simulation that takes seconds.
    Run,
    /// A simulation in real time.
    View,
}

impl Purpose {
    /// Returns the total number of tetrahedra for all surfaces.
    fn tetrahedra(self) -> usize {
        match self {
            Self::Run => 8000,
            Self::View => 4000,
        }
    }
}

/// Parses a number, or a ratio of two numbers such as 1/1000.
pub fn ratio(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| "expected a number such as 0.001 or 1/1000");
    match text.split_once('/') {
        Some((above, below)) => Ok(number(above)? / number(below)?),
        None => Ok(number(text)?),
    }
}

/// Maximum number of cells along a side.
const MAX_CELLS: u32 = 10_000;

fn cells(text: &str) -> Result<u32, String> {
    let found = text.trim().parse().ok().filter(|cells| (2..=MAX_CELLS).contains(cells));
    found.ok_or_else(|| format!("expected a whole number from 2 to {MAX_CELLS}"))
}

fn length_of_unit(unit: &str) -> Result<f64, String> {
    let length: Length = format!("1 {}", unit.trim()).parse().map_err(|error| format!("{error}"))?;
    Ok(length.si)
}

impl BodyArgs {
    /// Returns the name of the first option that was given, if any.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--scale", self.scale.is_some()),
            ("--units", self.units.is_some()),
            ("--up", self.up.is_some()),
            ("--law", self.law.is_some()),
            ("--young", self.young.is_some()),
            ("--poisson", self.poisson.is_some()),
            ("--density", self.density.is_some()),
            ("--cells", self.cells.is_some()),
            ("--fill", self.fill),
            ("--height", self.height.is_some()),
        ];
        options.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    fn factor(&self) -> anyhow::Result<f64> {
        let factor = self.scale.unwrap_or(1.0);
        if !(factor > 0.0 && factor.is_finite()) {
            bail!("--scale: expected a positive number, found {factor}");
        }
        // No realistic unit needs a larger or smaller factor.
        if !(1e-100..=1e100).contains(&factor) {
            bail!("--scale: {factor:e}, expected 1e-100 to 1e100");
        }
        Ok(factor * self.units.unwrap_or(1.0))
    }
}

/// Returns Young's modulus \[Pa\] with which a dropped body of the given density [kg/m³] compresses visibly.
pub fn soft_young(bounds: [Vec3; 2], density: f64) -> f64 {
    rounded(SOFTNESS * density * EARTH * size(bounds))
}

/// Returns the mean side length of a box \[m\].
fn size([low, high]: [Vec3; 2]) -> f64 {
    // Scaled, so that the squares of long sides do not overflow.
    let longest = (high - low).max_element();
    if longest > 0.0 { longest * ((high - low) / longest).length() / 3_f64.sqrt() } else { 0.0 }
}

/// Body to drop.
struct DroppedBody {
    name: String,
    object: Object,
    /// Corners of the bounding box.
    bounds: [Vec3; 2],
}

/// Returns a scene that drops meshes and surfaces on the ground.
///
/// Times scale with the size of the largest body, so that a pea and a whale look alike.
pub fn for_meshes(
    paths: &[PathBuf],
    options: &BodyArgs,
    purpose: Purpose,
    notes: &mut Vec<String>,
) -> anyhow::Result<SceneFile> {
    let first = paths.first().ok_or_else(|| anyhow!("expected a mesh, found none"))?;
    if let Some(scene) = paths.iter().find(|path| Format::of(path).is_none()) {
        bail!(
            "{}: expected a mesh or surface next to {}; only one scene can run at a time",
            scene.display(),
            first.display()
        );
    }
    let up = match options.up {
        Some(UpAxis::Z) => Up::Z,
        _ => Up::Y,
    };
    let folder = common_folder(paths);
    let mut bodies: Vec<DroppedBody> = Vec::new();
    for path in paths {
        let loaded = read(path)?;
        // Files in one folder are named relative to it, which is shorter.
        let file =
            if folder.is_some() { path.file_name().map_or_else(|| path.clone(), PathBuf::from) } else { path.clone() };
        let mut reader = Reader { path, options, notes: Vec::new() };
        let body = match &loaded.mesh {
            Mesh::Volume(mesh) => reader.volume(mesh, &file)?,
            Mesh::Surface(surface) => reader.surface(surface, &file, purpose.tetrahedra() / paths.len())?,
        };
        notes.extend(reader.notes.into_iter().map(|note| match paths {
            [_] => note,
            _ => format!("{}: {note}", path.display()),
        }));
        bodies.push(body);
    }
    name(&mut bodies);
    arrange(&mut bodies, up, notes);
    let mut scene = scene(bodies, up, options, purpose, notes)?;
    scene.title = Some(title(paths));
    let name = first.with_file_name(format!("{}.toml", results(paths)));
    let source = Source::generated(name, folder.unwrap_or_default());
    Ok(SceneFile { scene, source, notes: Vec::new() })
}

/// Returns the folder that contains all files, if there is one.
fn common_folder(paths: &[PathBuf]) -> Option<PathBuf> {
    let folder = paths.first()?.parent()?;
    paths.iter().all(|path| path.parent() == Some(folder)).then(|| folder.to_owned())
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "body".into(), |stem| stem.to_string_lossy().into_owned())
}

/// Returns the name of the results of files.
fn results(paths: &[PathBuf]) -> String {
    match paths {
        [one] => stem(one),
        [first, second] => format!("{}+{}", stem(first), stem(second)),
        [first, others @ ..] => format!("{}+{}-more", stem(first), others.len()),
        [] => "scene".into(),
    }
}

fn title(paths: &[PathBuf]) -> String {
    let file = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match paths {
        [first, others @ ..] if others.len() > 2 => {
            format!("{} and {} other files dropped on the ground", file(first), others.len())
        }
        _ => format!("{} dropped on the ground", paths.iter().map(file).collect::<Vec<_>>().join(", ")),
    }
}

/// Names each body after its file, with a number if several files have that name.
fn name(bodies: &mut [DroppedBody]) {
    let names: Vec<String> = bodies.iter().map(|body| body.name.clone()).collect();
    for (index, body) in bodies.iter_mut().enumerate() {
        let before = names[..index].iter().filter(|name| **name == body.name).count();
        if before > 0 {
            // At least one of these numbers is free.
            let mut candidates =
                (before + 1..=before + 1 + names.len()).map(|number| format!("{}-{number}", names[index]));
            body.name = candidates.find(|name| !names.contains(name)).unwrap_or_default();
        }
        body.object.name = Some(Located::new(body.name.clone()));
    }
}

/// Reader of files as bodies.
struct Reader<'a> {
    path: &'a Path,
    options: &'a BodyArgs,
    notes: Vec<String>,
}

impl Reader<'_> {
    fn volume(&mut self, mesh: &VolumeMesh, file: &Path) -> anyhow::Result<DroppedBody> {
        let cells = [("--cells", self.options.cells.is_some()), ("--fill", self.options.fill)];
        if let Some((option, _)) = cells.iter().find(|(_, is_given)| *is_given) {
            bail!("{option} applies to surfaces, but {} already has elements", self.path.display());
        }
        let mut densities = Vec::new();
        let mut moduli: Vec<Option<Moduli>> = Vec::new();
        for material in mesh.regions().iter().map(|region| region.material.as_ref()) {
            densities.push(material.and_then(|material| material.density));
            moduli.push(material.and_then(|material| material.moduli.clone()));
        }
        let is_scaled = self.options.scale.is_some() || self.options.units.is_some();
        let of_file = densities.iter().any(Option::is_some) && self.options.density.is_none()
            || moduli.iter().any(Option::is_some) && self.options.young.is_none();
        if is_scaled && of_file {
            self.notes.push(
                "--scale and --units change lengths only: the density and the stiffness in the file are in kg/m³ and Pa; \
                 --density, --young and --poisson replace them"
                    .into(),
            );
        }
        let mesh_source = MeshSource::File(file.to_string_lossy().into_owned());
        self.body(mesh_source, mesh.bounding_box(), &densities, &moduli)
    }

    fn surface(&mut self, surface: &SurfaceMesh, file: &Path, tetrahedra: usize) -> anyhow::Result<DroppedBody> {
        let bounds = surface.bounding_box();
        if !(size(bounds) > 0.0 && size(bounds).is_finite()) {
            // The error explains the defect.
            Surface::new(surface).map_err(|error| anyhow!("{}: {error}", self.path.display()))?;
        }
        if self.options.scale.is_none() && self.options.units.is_none() {
            let [low, high] = bounds;
            self.notes.extend(in_millimeters(low, high).map(|note| note + "; if so, give --units mm"));
        }
        let resolution = if self.options.fill { Resolution::filled(surface) } else { Resolution::cage(surface) };
        let chosen = || u32::try_from(resolution.cells(tetrahedra)).unwrap_or(u32::MAX);
        let cells = self.options.cells.unwrap_or_else(chosen);
        let along = count(cells as usize, "cell", "cells");
        let change = match self.options.cells {
            Some(_) => String::new(),
            None => format!(
                ", which makes about {} tetrahedra; --cells changes it",
                number_to(resolution.tetrahedra(cells as usize), 1)
            ),
        };
        let name = file.to_string_lossy().into_owned();
        let generator = if self.options.fill {
            self.notes
                .push(format!("the interior of the surface is meshed with {along} along its longest side{change}"));
            Tagged::of(Filled { of: SolidSource::Surface(name), cells, grading: 0 })
        } else {
            self.notes.push(format!(
                "the file is a surface: it is embedded in a cage of tetrahedra, {along} along its longest side{change}"
            ));
            Tagged::of(Cage { surface: name, cells, grading: 0 })
        };
        self.body(MeshSource::Generator(generator), bounds, &[None], &[None])
    }

    /// Returns a body with the densities and stiffnesses that the file gives for its regions.
    fn body(
        &mut self,
        mesh: MeshSource,
        bounds: [Vec3; 2],
        densities: &[Option<f64>],
        moduli: &[Option<Moduli>],
    ) -> anyhow::Result<DroppedBody> {
        let factor = self.options.factor()?;
        let bounds = bounds.map(|corner| factor * corner);
        let longest = (bounds[1] - bounds[0]).max_element();
        if !(SIZES[0]..=SIZES[1]).contains(&longest) {
            let is_scaled = self.options.scale.is_some() || self.options.units.is_some();
            bail!(
                "{}: {}the body is {} m long, expected {} to {} m; --scale or --units changes it",
                self.path.display(),
                if is_scaled { "scaled by --scale and --units, " } else { "" },
                number(longest),
                number(SIZES[0]),
                number(SIZES[1])
            );
        }
        let mut material =
            MaterialSettings { law: self.options.law.clone().map(Located::new), ..MaterialSettings::default() };
        let greatest = densities.iter().flatten().copied().reduce(f64::max);
        let density = match self.options.density {
            Some(density) => density.si,
            None if densities.iter().all(Option::is_some) => greatest.unwrap_or(DENSITY),
            None => {
                self.notes.push(format!("the file gives no density: using {DENSITY} kg/m³; --density changes it"));
                DENSITY
            }
        };
        if self.options.density.is_some() || !densities.iter().all(Option::is_some) {
            material.density = Some(Located::new(Density::new(density)));
        }
        if let Some((young, poisson)) = self.moduli(moduli, bounds, density)? {
            material.young = Some(Located::new(Pressure::new(young)));
            material.poisson = Some(Located::new(poisson));
        }
        let mut object = Object::new(mesh);
        if material != MaterialSettings::default() {
            object.material = Some(Located::new(MaterialChoice::Here(Box::new(material))));
        }
        if factor != 1.0 {
            object.scale = Some(Located::new(Scale::Uniform(factor)));
        }
        Ok(DroppedBody { name: stem(self.path), object, bounds })
    }

    /// Returns Young's modulus and Poisson's ratio that replace those of the file, or `None` if the file's are used.
    fn moduli(
        &mut self,
        of_file: &[Option<Moduli>],
        bounds: [Vec3; 2],
        density: f64,
    ) -> anyhow::Result<Option<(f64, f64)>> {
        let (young, poisson) = (self.options.young.map(|young| young.si), self.options.poisson);
        let is_known = |moduli: &Option<Moduli>| {
            moduli.as_ref().is_some_and(|moduli| !matches!(moduli, Moduli::Orthotropic { .. }))
        };
        let file_has_all = of_file.iter().all(is_known);
        // If the file has one stiffness, it provides the modulus that is not given.
        let of_file = match of_file {
            [Some(Moduli::Isotropic { young, poisson }), others @ ..]
                if others.iter().all(|other| *other == of_file[0]) =>
            {
                Some((*young, *poisson))
            }
            _ => None,
        };
        let soft = |notes: &mut Vec<String>| {
            let young = soft_young(bounds, density);
            notes.push(format!(
                "the file gives no isotropic stiffness: using a soft Young's modulus of {} Pa, which is {SOFTNESS} times density \
                 times gravity times size; --young changes it",
                number(young)
            ));
            young
        };
        Ok(match (young, poisson) {
            (Some(young), Some(poisson)) => Some((young, poisson)),
            (None, None) if file_has_all => None,
            (None, None) => Some((soft(&mut self.notes), POISSON)),
            (young, poisson) => match of_file {
                Some(own) => Some((young.unwrap_or(own.0), poisson.unwrap_or(own.1))),
                None if file_has_all => bail!(
                    "{}: the file has several stiffnesses or one that is not isotropic; give both --young and --poisson",
                    self.path.display()
                ),
                None => {
                    let young = young.unwrap_or_else(|| soft(&mut self.notes));
                    Some((young, poisson.unwrap_or(POISSON)))
                }
            },
        })
    }
}

/// Returns the axes of the ground: the axis along which bodies are placed, then the other.
fn ground_axes(up: Up) -> [usize; 2] {
    match up {
        Up::Y => [0, 2],
        Up::Z => [0, 1],
    }
}

/// Places bodies side by side if they would otherwise fall onto each other.
fn arrange(bodies: &mut [DroppedBody], up: Up, notes: &mut Vec<String>) {
    let [along, across] = ground_axes(up);
    let overlap = |a: &DroppedBody, b: &DroppedBody| {
        [along, across].iter().all(|&i| a.bounds[0][i] < b.bounds[1][i] && b.bounds[0][i] < a.bounds[1][i])
    };
    let pairs = || (0..bodies.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    if !pairs().any(|(i, j)| overlap(&bodies[i], &bodies[j])) {
        return;
    }
    notes.push("the bodies are placed above one another, and fall on a pile".into());
    let up_axis = if up == Up::Y { 1 } else { 2 };
    let gap = PILE_GAP * bodies.iter().map(|body| size(body.bounds)).fold(0.0, f64::max);
    let mut height = 0.0;
    for (number, body) in bodies.iter_mut().enumerate() {
        let [low, high] = body.bounds;
        let mut shift = -0.5 * (low + high);
        // A little off the middle, so that no body balances on another.
        let aside = PILE_SHIFT * size(body.bounds) * if number % 2 == 0 { -1.0 } else { 1.0 };
        shift[along] += aside;
        shift[across] += 0.5 * aside;
        shift[up_axis] = height - low[up_axis];
        height += (high - low)[up_axis] + gap;
        body.object.translate = vector(shift);
        body.bounds = [low + shift, high + shift];
    }
}

/// Distance between bodies that fall on a pile, relative to the largest.
const PILE_GAP: f64 = 0.1;

/// Distance of bodies of a pile from the middle, relative to their size.
const PILE_SHIFT: f64 = 0.08;

/// Time step, duration and frame rate.
struct Timing {
    /// Length of a time step \[s\].
    step: f64,
    /// Simulated time \[s\].
    duration: f64,
    /// Frames per simulated second.
    frame_rate: f64,
    /// Frames per second of a film.
    play_rate: f64,
}

impl Timing {
    /// Returns the times for bodies of a size that fall from a height \[m\].
    ///
    /// Animations have 30 or 60 frames per second. They are in real time except for bodies whose motion would be too
    /// fast or too slow to see.
    fn new(size: f64, height: f64, purpose: Purpose) -> Self {
        /// Number of frames needed to show the compression of a body, and a number sufficient for it.
        const FRAMES: [f64; 2] = [6.0, 60.0];
        // Time in which a body falls by half its size, which is also about the time to compress and rebound.
        let unit = (size / EARTH).sqrt();
        let play_rate = if 30.0 * unit >= FRAMES[0] { 30.0 } else { 60.0 };
        let slow_motion = (FRAMES[0] / (play_rate * unit)).ceil().max(1.0);
        let time_lapse = (play_rate * unit / FRAMES[1]).floor().max(1.0);
        let frame_rate = play_rate * slow_motion / time_lapse;
        let substeps = match purpose {
            Purpose::Run => (STEPS / (frame_rate * unit)).ceil().max(1.0),
            Purpose::View => (60.0 / play_rate).ceil(),
        };
        let frames = (frame_rate * (REST * unit + (2.0 * height / EARTH).sqrt())).ceil();
        Self { step: 1.0 / (frame_rate * substeps), duration: frames / frame_rate, frame_rate, play_rate }
    }
}

/// Returns the scene of the placed bodies.
fn scene(
    bodies: Vec<DroppedBody>,
    up: Up,
    options: &BodyArgs,
    purpose: Purpose,
    notes: &mut Vec<String>,
) -> anyhow::Result<Scene> {
    let largest = bodies.iter().map(|body| size(body.bounds)).fold(0.0, f64::max);
    let height = options.height.map_or(HEIGHT * largest, |height| height.si);
    if height < 0.0 {
        bail!("--height: expected a non-negative height, found {height} m");
    }
    let low = bodies.iter().fold(Vec3::INFINITY, |low, body| low.min(body.bounds[0]));
    let high = bodies.iter().fold(Vec3::NEG_INFINITY, |high, body| high.max(body.bounds[1]));
    let up_axis = if up == Up::Y { 1 } else { 2 };
    let mut ground = 0.5 * (low + high);
    ground[up_axis] = low[up_axis] - height;
    let timing = Timing::new(largest, height, purpose);
    let mut scene = Scene::new(Settings::new(Time::new(timing.step), Time::new(timing.duration)));
    scene.up = up;
    if bodies.len() > 1 {
        scene.contact = Some(Located::new(Contact::default()));
    }
    scene.objects = bodies.into_iter().map(|body| Located::new(body.object)).collect();
    let plane = Plane { point: vector(ground), normal: None };
    let ground = Obstacle::new(ObstacleShapeChoice::of(plane));
    scene.obstacles.push(Located::new(Obstacle { friction: Some(0.5), ..ground }));
    let stiffness = Time::new(rounded(DAMPING * (largest / EARTH).sqrt()));
    scene.damping = Located::new(Damping { stiffness, ..Damping::default() });
    scene.output.value.frame_rate = Some(Located::new(Rate::new(timing.frame_rate)));
    if timing.frame_rate != timing.play_rate {
        scene.output.value.picture.value.play_rate = Some(Rate::new(timing.play_rate));
        let (factor, how) = if timing.frame_rate > timing.play_rate {
            (timing.frame_rate / timing.play_rate, "slower")
        } else {
            (timing.play_rate / timing.frame_rate, "faster")
        };
        notes.push(format!(
            "animations are {factor} times {how} than real time, so that the motion can be seen: {} frames per simulated second, {} per second of animation",
            number(timing.frame_rate),
            timing.play_rate
        ));
    }
    Ok(scene)
}

/// Returns the playback speed of a scene relative to real time, which is slower for small bodies.
pub fn play_speed(file: &SceneFile) -> f64 {
    let output = &file.scene.output;
    match (&output.frame_rate, output.picture.play_rate) {
        (Some(frames), Some(played)) if file.source.locations != Locations::Lines => played.si / frames.si,
        _ => 1.0,
    }
}

/// Rounds a number to two significant digits.
fn rounded(x: f64) -> f64 {
    number_to(x, 1).parse().unwrap_or(x)
}
