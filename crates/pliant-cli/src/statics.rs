//! `pliant static`: static equilibrium of a mesh under loads, in one command.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueHint};
use pliant::files::Disk;
use pliant::integrator::StepError;
use pliant::io::read_volume;
use pliant::math::Vec3;
use pliant::matrix_io::{Array, write_array};
use pliant::mesh::Moduli;
use pliant::solver::{NotPositiveDefinite, SolveError};
use pliant_scene::output::{self, Axis, Fields, Frame, SceneGeometry};
use pliant_scene::scene::quantity::{Density, Dimension, Pressure, dimension};
use pliant_scene::scene::{Built, Quantity, SceneError, SceneFile, Source};
use serde::Serialize;

use crate::Done;
use crate::table::{Listing, number, to_json, vector};

/// Placeholder of vertex selections in the help, which explains it.
const WHERE: &str = "WHERE";

/// Solve for the static equilibrium of a mesh under loads.
#[derive(Debug, Args)]
pub struct Static {
    /// Volume mesh.
    #[arg(value_hint = ValueHint::FilePath)]
    mesh: PathBuf,
    /// Vertices to fix.
    #[arg(long, value_name = WHERE, required = true)]
    fix: Vec<String>,
    /// Total force, in N.
    #[arg(long, num_args = 4, value_names = [WHERE, "X", "Y", "Z"], allow_hyphen_values = true)]
    force: Vec<String>,
    /// Force per area on the surface, in Pa.
    #[arg(long, num_args = 4, value_names = [WHERE, "X", "Y", "Z"], allow_hyphen_values = true)]
    traction: Vec<String>,
    /// Pressure on the surface that follows its deformation, in Pa; positive values push onto it.
    #[arg(long, num_args = 2, value_names = [WHERE, "PRESSURE"], allow_hyphen_values = true)]
    pressure: Vec<String>,
    /// Treat pressures as dead loads, with the normals and areas of the undeformed surface.
    #[arg(long, requires = "pressure")]
    dead: bool,
    /// Prescribed displacement of vertices, in m.
    #[arg(long, num_args = 4, value_names = [WHERE, "X", "Y", "Z"], allow_hyphen_values = true)]
    displace: Vec<String>,
    /// Gravitational acceleration, in m/s² [default: none].
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_hyphen_values = true)]
    gravity: Option<Vec<String>>,
    /// Elastic law, see `pliant laws`.
    #[arg(long)]
    law: Option<String>,
    /// Young's modulus, in Pa or with a unit, as in "1 MPa" [default: as in the mesh file].
    #[arg(long, value_name = "PRESSURE")]
    young: Option<Pressure>,
    /// Poisson's ratio [default: as in the mesh file].
    #[arg(long)]
    poisson: Option<f64>,
    /// Density, in kg/m³ or with a unit, as in "1.1 g/cm^3" [default: as in the mesh file].
    #[arg(long)]
    density: Option<Density>,
    /// File to write: .vtu (undeformed points with displacements, stresses, strains, reactions), the deformed surface
    /// as .obj, .ply or .glb, or displacements as .npy, .csv or .txt.
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    max_displacement: f64,
    at_vertex: usize,
    displacement: Vec3,
    elastic_energy: f64,
    volume_change: f64,
    /// Maximum von Mises stress, recovered at vertices \[Pa\].
    max_von_mises: f64,
    von_mises_at_vertex: usize,
    min_volume_ratio: f64,
    reaction: Vec3,
    newton_iterations: usize,
}

impl Static {
    pub fn run(&self) -> anyhow::Result<Done> {
        let Lines { text, options } = self.scene()?;
        // The scene is not a file of the user, so errors name the mesh and the options that they are about.
        let located = |error: SceneError| {
            let mesh = format!("{}: ", self.mesh.display());
            let message = error.message.strip_prefix(&mesh).unwrap_or(&error.message);
            let message = ["young", "poisson", "density", "law"]
                .iter()
                .fold(message.to_owned(), |message, key| message.replace(&format!("`{key}`"), &format!("--{key}")));
            let option = error.place.as_ref().and_then(|place| options.get(place.line.checked_sub(1)?));
            let option =
                option.filter(|option| !option.is_empty()).map_or(String::new(), |option| format!("{option}: "));
            anyhow!("{mesh}{option}{message}")
        };
        let file = SceneFile::parse(Source::new(&self.mesh, text)).map_err(located)?;
        let mut built = file.build(&Disk).map_err(located)?;
        crate::show_notes(&built.notes);
        let info = built.simulation.step().map_err(|error| self.no_equilibrium(&error))?;
        let answer = measure(&built, info.newton_iterations);
        let mut out = if self.json { to_json(&answer)? } else { answer.table(&self.mesh.display().to_string()) };
        if let Some(path) = &self.output {
            write(&built, path)?;
            if !self.json {
                out += &format!("wrote {}\n", path.display());
            }
        }
        let notes = if self.json { Vec::new() } else { built.notes };
        Ok(Done { text: out, notes, exit: 0 })
    }

    /// Converts the options to a scene.
    fn scene(&self) -> anyhow::Result<Lines> {
        let mesh = self.mesh.file_name().ok_or_else(|| anyhow!("{}: expected a mesh file", self.mesh.display()))?;
        let gravity = self.gravity.as_ref().map(|gravity| vector_of::<dimension::Acceleration>("--gravity", gravity));
        let gravity = gravity.unwrap_or_else(|| Ok("0, 0, 0".into()))?;
        let has_gravity = gravity.split(", ").any(|entry| entry.parse() != Ok(0.0));
        let mut lines = Lines::default();
        lines.push("--gravity", &format!("gravity = [{gravity}]"));
        lines.push("", "[simulation]\nintegrator = \"static\"\nstep = 1\nduration = 1\n[[object]]");
        lines.push("", &format!("mesh = {}\n[object.material]", quoted(&mesh.to_string_lossy())));
        let has_density = self.check_material(has_gravity)?;
        let entries = [
            ("law", self.law.as_deref().map(quoted)),
            ("young", self.young.map(|young| format!("{:?}", young.si))),
            ("poisson", self.poisson.map(|poisson| format!("{poisson:?}"))),
            // Mass has no effect without gravity.
            ("density", self.density.map(|density| format!("{:?}", density.si)).or((!has_density).then(|| "1".into()))),
        ];
        for (key, value) in entries {
            if let Some(value) = value {
                lines.push(&format!("--{key}"), &format!("{key} = {value}"));
            }
        }
        for place in &self.fix {
            lines.push(&format!("--fix {place}"), &format!("[[fixed]]\nvertices = {}", selection(place)?));
        }
        for [place, vector @ ..] in self.displace.as_chunks::<4>().0 {
            let translate = vector_of::<dimension::Length>("--displace", vector)?;
            let motion = format!("{{ keyframes = [{{ time = 1, translate = [{translate}] }}] }}");
            let fixed = format!("[[fixed]]\nvertices = {}\nmotion = {motion}", selection(place)?);
            lines.push(&format!("--displace {place} {}", vector.join(" ")), &fixed);
        }
        for [place, vector @ ..] in self.force.as_chunks::<4>().0 {
            let force = vector_of::<dimension::Force>("--force", vector)?;
            let load = format!("[[load]]\nvertices = {}\nkind = {{ force = [{force}] }}", selection(place)?);
            lines.push(&format!("--force {place} {}", vector.join(" ")), &load);
        }
        for [place, vector @ ..] in self.traction.as_chunks::<4>().0 {
            let traction = vector_of::<dimension::Pressure>("--traction", vector)?;
            let load = format!("[[load]]\nvertices = {}\nkind = {{ traction = [{traction}] }}", selection(place)?);
            lines.push(&format!("--traction {place} {}", vector.join(" ")), &load);
        }
        for [place, given] in self.pressure.as_chunks::<2>().0 {
            let (vertices, follower) = (selection(place)?, !self.dead);
            let pressure = quantity::<dimension::Pressure>("--pressure", given)?;
            let load = format!(
                "[[load]]\nvertices = {vertices}\nkind = {{ pressure = {{ value = {pressure}, follower = {follower} }} }}"
            );
            lines.push(&format!("--pressure {place} {given}"), &load);
        }
        Ok(lines)
    }

    /// Checks that the options and the mesh file define the material. Returns true if all densities are known.
    fn check_material(&self, has_gravity: bool) -> anyhow::Result<bool> {
        if self.young.is_some() && self.poisson.is_some() && self.density.is_some() {
            return Ok(true);
        }
        let mesh = read_volume(&self.mesh)?.mesh;
        let missing: Vec<&str> = [("--young", self.young.is_none()), ("--poisson", self.poisson.is_none())]
            .into_iter()
            .filter_map(|(option, is_missing)| is_missing.then_some(option))
            .collect();
        for region in mesh.regions() {
            let place = || format!("{}, region `{}`", self.mesh.display(), region.name);
            let has_moduli = match region.material.as_ref().and_then(|material| material.moduli.as_ref()) {
                Some(Moduli::Isotropic { .. }) => true,
                // Other materials of a file are complete laws.
                Some(_) => missing.len() != 1,
                None => false,
            };
            if !missing.is_empty() && !has_moduli {
                let moduli = if missing.len() == 2 { "no moduli" } else { "no Young's modulus and Poisson's ratio" };
                bail!("{}: the file gives {moduli}; give {}", place(), missing.join(" and "));
            }
            let density = region.material.as_ref().and_then(|material| material.density);
            if has_gravity && density.is_none() && self.density.is_none() {
                bail!("{}: the file gives no density, which --gravity needs; give --density", place());
            }
        }
        Ok(self.density.is_some() || mesh.densities().is_ok())
    }

    /// Returns why there is no equilibrium, in terms of this command.
    fn no_equilibrium(&self, error: &StepError) -> anyhow::Error {
        let (load, cause) = match error {
            StepError::Static { load_factor, source } => (100.0 * load_factor, &**source),
            other => (100.0, other),
        };
        let unstable = "fix the body so that it can neither move nor turn, or else reduce loads under which it buckles or collapses";
        let why = match cause {
            StepError::Solve {
                source: SolveError::NotPositiveDefinite(NotPositiveDefinite { vertex, axis }), ..
            } => {
                let axis = ["x", "y", "z"][(*axis).min(2)];
                format!("the stiffness matrix is not positive definite at {axis} of vertex {vertex}; {unstable}")
            }
            StepError::Solve {
                source: SolveError::Indefinite { .. } | SolveError::NotDefinite { .. } | SolveError::Singular { .. },
                ..
            } => format!("the stiffness matrix is not positive definite; {unstable}"),
            StepError::NotConverged { iterations, residual, tolerance, worst, .. } => format!(
                "after {iterations} Newton iterations the residual is {residual:.1e} relative to the forces, expected {tolerance:.1e}; it is largest \
                 at {worst}; reduce the loads, or give --law stable-neo-hookean"
            ),
            StepError::LineSearch { iterations, residual, worst, .. } => format!(
                "the line search failed in Newton iteration {iterations}: the residual is {residual:.1e} relative to the forces, largest \
                 at {worst}; reduce the loads, or give --law stable-neo-hookean"
            ),
            // Static solves have a single step, whose time is of no interest.
            other => other.to_string().replace("in the step from 1 s: ", "").replace(" in the step from 1 s", ""),
        };
        anyhow!("{}: no equilibrium with {load:.3} % of the loads: {why}", self.mesh.display())
    }
}

/// Scene that is built from options.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    /// Option that each line is from, or empty.
    options: Vec<String>,
}

impl Lines {
    /// Appends lines that are from an option.
    fn push(&mut self, option: &str, lines: &str) {
        self.options.extend(lines.lines().map(|_| option.to_owned()));
        self.text += lines;
        self.text.push('\n');
    }
}

/// Quotes text; JSON strings are valid in TOML.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text is always possible")
}

/// Parses the value of an option and returns it in SI units, in TOML syntax.
fn quantity<D: Dimension>(option: &str, text: &str) -> anyhow::Result<String> {
    let quantity: Quantity<D> = text.parse().map_err(|error| anyhow!("{option}: {error}"))?;
    Ok(format!("{:?}", quantity.si))
}

fn vector_of<D: Dimension>(option: &str, numbers: &[String]) -> anyhow::Result<String> {
    let numbers: Result<Vec<_>, _> = numbers.iter().map(|number| quantity::<D>(option, number)).collect();
    Ok(numbers?.join(", "))
}

fn selection(place: &str) -> anyhow::Result<String> {
    let side = ["x", "y", "z"].iter().enumerate().find_map(|(axis, name)| {
        let rest = place.trim().strip_prefix(name)?.trim_start();
        let (sign, bound) =
            rest.strip_prefix('<').map(|bound| (-1, bound)).or(rest.strip_prefix('>').map(|bound| (1, bound)))?;
        Some((axis, sign, bound.trim()))
    });
    if let Some((axis, sign, bound)) = side {
        let mut point = vec!["0".to_owned(); 3];
        point[axis] = quantity::<dimension::Length>(place, bound)?;
        let mut normal = ["0"; 3];
        normal[axis] = if sign < 0 { "-1" } else { "1" };
        return Ok(format!("{{ side = {{ point = [{}], normal = [{}] }} }}", point.join(", "), normal.join(", ")));
    }
    let is_list = place.chars().all(|c| c.is_ascii_digit() || c == ',' || c == ' ') && !place.is_empty();
    let is_file = Path::new(place).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bou"));
    Ok(if is_list {
        format!("{{ indices = [{place}] }}")
    } else if is_file {
        // The scene is relative to the folder of the mesh, the file to that of the user.
        let path = std::path::absolute(place).unwrap_or_else(|_| place.into());
        format!("{{ file = {} }}", quoted(&path.to_string_lossy()))
    } else {
        quoted(place)
    })
}

fn measure(built: &Built, newton_iterations: usize) -> Answer {
    let (model, state) = (built.simulation.model(), built.simulation.state());
    let rest_volume: f64 = model.bodies().iter().map(|body| body.mesh().volume()).sum();
    let seen = model.observe(state);
    let reactions = model.reactions(state);
    let vectors = |numbers: &[f64]| numbers.chunks_exact(3).map(Vec3::from_slice).collect::<Vec<_>>();
    let displacements = vectors(&state.q);
    let (at_vertex, displacement) = displacements
        .iter()
        .copied()
        .enumerate()
        .max_by(|a, b| a.1.length_squared().total_cmp(&b.1.length_squared()))
        .unwrap_or_default();
    let fields = Fields::new(model, &state.q);
    let min_volume_ratio = fields.elements.volume_ratio.iter().copied().fold(f32::INFINITY, f32::min);
    let (von_mises_at_vertex, max_von_mises) = fields
        .vertices
        .von_mises
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, value)| !value.is_nan())
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or_default();
    Answer {
        max_displacement: displacement.length(),
        at_vertex,
        displacement,
        elastic_energy: seen.elastic_energy,
        volume_change: seen.volume / rest_volume - 1.0,
        max_von_mises: max_von_mises.into(),
        von_mises_at_vertex,
        min_volume_ratio: min_volume_ratio.into(),
        reaction: vectors(&reactions).into_iter().sum(),
        newton_iterations,
    }
}

impl Answer {
    fn table(&self, mesh: &str) -> String {
        let mut listing = Listing::default();
        listing.title(mesh, &format!("in equilibrium after {} Newton iterations", self.newton_iterations));
        let scale = self.max_displacement;
        let moved = vector(self.displacement, scale);
        listing.row("displacement", format!("at most {} m, at vertex {}: {moved}", number(scale), self.at_vertex));
        listing.row("reaction", format!("{} N", vector(self.reaction, self.reaction.length())));
        listing.row("elastic energy", format!("{} J", number(self.elastic_energy)));
        listing.row(
            "volume",
            format!("{:+.3} %, of an element at least {}", 100.0 * self.volume_change, number(self.min_volume_ratio)),
        );
        let (stress, vertex) = (number(self.max_von_mises), self.von_mises_at_vertex);
        listing.row("von Mises", format!("at most {stress} Pa, recovered at vertex {vertex}"));
        listing.into_text()
    }
}

/// Writes the result: an animation of one frame, or an array of displacements.
fn write(built: &Built, path: &Path) -> anyhow::Result<()> {
    let simulation = &built.simulation;
    let is_array =
        path.extension().is_some_and(|own| ["npy", "csv", "txt", "dat", "mtx"].iter().any(|known| own == *known));
    if is_array {
        let array = Array::from_rows(3, simulation.state().q.clone()).context("three numbers per vertex")?;
        return Ok(write_array(path, &array)?);
    }
    let geometry = std::sync::Arc::new(SceneGeometry::new(simulation.model()));
    let (model, state) = (simulation.model(), simulation.state());
    let frame = Frame::new(model, state, 0, true).with_reactions(model, state);
    output::write_still(path, &geometry, &frame, Axis::Y)?;
    Ok(())
}
