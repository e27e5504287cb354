//! `pliant static`: how a mesh deforms under loads, in one command.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use pliant::io::{Disk, read_volume};
use pliant::math::Vec3;
use pliant::matrix_io::{Array, write_array};
use pliant::model::Model;
use pliant::output::{self, Axis, Cast, Fields, Frame};
use pliant::scene::{Built, SceneFile, Source};
use pliant::system::State;
use serde::Serialize;

use crate::Done;
use crate::table::{Facts, number, to_json, vector};

/// Where vertices are: a set of the mesh, `all`, `surface`; a side such as `x<0.1` or `y>2`, in m; numbers such as `3,7,12`; or a .bou file.
const WHERE: &str = "WHERE";

/// Find how a mesh deforms under loads.
///
/// WHERE is a vertex set of the mesh, `all` or `surface`; a side such as x<0.1 or y>2, in m; numbers such as 3,7,12; or a .bou file.
/// Numbers may have units, as in "1 MPa".
#[derive(Debug, Args)]
pub struct Static {
    /// The mesh.
    #[arg(value_hint = ValueHint::FilePath)]
    mesh: PathBuf,
    /// Where it is fixed.
    #[arg(long, value_name = WHERE, required = true)]
    fix: Vec<String>,
    /// A force in all, in N.
    #[arg(long, num_args = 4, value_names = [WHERE, "X", "Y", "Z"], allow_negative_numbers = true)]
    force: Vec<String>,
    /// A force per area on the surface, in Pa.
    #[arg(long, num_args = 4, value_names = [WHERE, "X", "Y", "Z"], allow_negative_numbers = true)]
    traction: Vec<String>,
    /// A pressure on the surface, in Pa; positive pulls outward.
    #[arg(long, num_args = 2, value_names = [WHERE, "PRESSURE"], allow_negative_numbers = true)]
    pressure: Vec<String>,
    /// Vertices that are moved by so much, in m.
    #[arg(long, num_args = 4, value_names = [WHERE, "X", "Y", "Z"], allow_negative_numbers = true)]
    displace: Vec<String>,
    /// Acceleration by gravity, in m/s² [default: none].
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_negative_numbers = true)]
    gravity: Option<Vec<String>>,
    /// The elastic law, as `pliant laws` lists them.
    #[arg(long)]
    law: Option<String>,
    /// Young's modulus, in Pa [default: as in the mesh file].
    #[arg(long, requires = "poisson")]
    young: Option<String>,
    /// Poisson's ratio [default: as in the mesh file].
    #[arg(long, requires = "young")]
    poisson: Option<f64>,
    /// Mass per volume, in kg/m³ [default: as in the mesh file].
    #[arg(long)]
    density: Option<String>,
    /// The file to write: .vtu with stresses, .obj, .ply, .glb, or displacements as .npy, .csv or .txt.
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Print numbers for programs.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    largest_displacement: f64,
    at_vertex: usize,
    displacement: Vec3,
    elastic_energy: f64,
    volume_change: f64,
    largest_von_mises: f64,
    least_volume_ratio: f64,
    reaction: Vec3,
    newton_iterations: usize,
}

impl Static {
    pub fn run(&self) -> anyhow::Result<Done> {
        let text = self.scene()?;
        let name = format!("{} (from the command line)", self.mesh.display());
        let folder = self.mesh.parent().unwrap_or(Path::new("")).to_owned();
        let file = SceneFile::parse(Source { path: name.into(), text: text.into(), folder })?;
        let mut built = file.build(&Disk)?;
        let info = built.simulation.step()?;
        let answer = measure(&mut built, info.newton_iterations);
        let mut out = if self.json { to_json(&answer)? } else { answer.table(&self.mesh.display().to_string()) };
        if let Some(path) = &self.output {
            write(&built, path)?;
            if !self.json {
                out += &format!("wrote {}\n", path.display());
            }
        }
        Ok(Done { text: out, notes: built.notes, exit: 0 })
    }

    /// The same as a scene.
    fn scene(&self) -> anyhow::Result<String> {
        let mesh = self.mesh.file_name().ok_or_else(|| anyhow!("{}: expected a mesh file", self.mesh.display()))?;
        let gravity = self.gravity.as_ref().map_or("0, 0, 0".into(), |gravity| vector_of(gravity));
        let mut text = format!(
            "gravity = [{gravity}]\n[simulation]\nscheme = \"static\"\nstep = 1\nduration = 1\n[[object]]\nmesh = {}\n[object.material]\n",
            quoted(&mesh.to_string_lossy())
        );
        let has_density = self.density.is_some() || read_volume(&self.mesh)?.mesh.densities().is_ok();
        let entries = [
            ("law", self.law.as_deref().map(quoted)),
            ("young", self.young.as_deref().map(quantity)),
            ("poisson", self.poisson.map(|poisson| format!("{poisson:?}"))),
            // Without gravity, mass does not matter.
            (
                "density",
                self.density.as_deref().map(quantity).or((!has_density && self.gravity.is_none()).then(|| "1".into())),
            ),
        ];
        for (key, value) in entries {
            if let Some(value) = value {
                text += &format!("{key} = {value}\n");
            }
        }
        for place in &self.fix {
            text += &format!("[[hold]]\nvertices = {}\n", selection(place));
        }
        for [place, vector @ ..] in self.displace.as_chunks::<4>().0 {
            let translate = vector_of(vector);
            let motion = format!("{{ keyframes = [{{ time = 1, translate = [{translate}] }}] }}");
            text += &format!("[[hold]]\nvertices = {}\nmotion = {motion}\n", selection(place));
        }
        for (key, list) in [("force", &self.force), ("traction", &self.traction)] {
            for [place, vector @ ..] in list.as_chunks::<4>().0 {
                text += &format!("[[load]]\nvertices = {}\n{key} = [{}]\n", selection(place), vector_of(vector));
            }
        }
        for [place, pressure] in self.pressure.as_chunks::<2>().0 {
            text += &format!("[[load]]\nvertices = {}\npressure = {}\n", selection(place), quantity(pressure));
        }
        Ok(text)
    }
}

/// What JSON puts between quotes, TOML reads.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text is always possible")
}

/// A number as it is, or text with a unit.
fn quantity(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    // TOML wants a digit before and after a point.
    if is_number { format!("{:?}", text.parse::<f64>().unwrap_or_default()) } else { quoted(text) }
}

fn vector_of(numbers: &[String]) -> String {
    numbers.iter().map(|number| quantity(number)).collect::<Vec<_>>().join(", ")
}

fn selection(place: &str) -> String {
    let side = ["x", "y", "z"].iter().enumerate().find_map(|(axis, name)| {
        let rest = place.trim().strip_prefix(name)?.trim_start();
        let (sign, bound) =
            rest.strip_prefix('<').map(|bound| (-1, bound)).or(rest.strip_prefix('>').map(|bound| (1, bound)))?;
        let mut point = vec!["0".to_owned(); 3];
        point[axis] = quantity(bound.trim());
        let mut normal = ["0"; 3];
        normal[axis] = if sign < 0 { "-1" } else { "1" };
        Some(format!("{{ side = {{ point = [{}], normal = [{}] }} }}", point.join(", "), normal.join(", ")))
    });
    let is_list = place.chars().all(|c| c.is_ascii_digit() || c == ',' || c == ' ') && !place.is_empty();
    let is_file = Path::new(place).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bou"));
    match side {
        Some(side) => side,
        None if is_list => format!("{{ indices = [{place}] }}"),
        // The scene is in the folder of the mesh, the file in that of the user.
        None if is_file => {
            let path = std::path::absolute(place).unwrap_or_else(|_| place.into());
            format!("{{ file = {} }}", quoted(&path.to_string_lossy()))
        }
        None => quoted(place),
    }
}

fn measure(built: &mut Built, newton_iterations: usize) -> Answer {
    built.simulation.with_model(|model, state| measure_model(model, state, newton_iterations))
}

fn measure_model(model: &mut Model, state: &State, newton_iterations: usize) -> Answer {
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
    let fold = |values: &[f32], start: f32, of: fn(f32, f32) -> f32| f64::from(values.iter().copied().fold(start, of));
    Answer {
        largest_displacement: displacement.length(),
        at_vertex,
        displacement,
        elastic_energy: seen.elastic_energy,
        volume_change: seen.volume / rest_volume - 1.0,
        largest_von_mises: fold(&fields.von_mises, 0.0, f32::max),
        least_volume_ratio: fold(&fields.volume_ratio, f32::INFINITY, f32::min),
        reaction: vectors(&reactions).into_iter().sum(),
        newton_iterations,
    }
}

impl Answer {
    fn table(&self, mesh: &str) -> String {
        let mut facts = Facts::default();
        facts.title(mesh, &format!("in equilibrium after {} Newton iterations", self.newton_iterations));
        let scale = self.largest_displacement;
        let moved = vector(self.displacement, scale);
        facts.row("displacement", format!("at most {} m, at vertex {}: {moved}", number(scale), self.at_vertex));
        facts.row("reaction", format!("{} N", vector(self.reaction, self.reaction.length())));
        facts.row("elastic energy", format!("{} J", number(self.elastic_energy)));
        facts.row(
            "volume",
            format!("{:+.3} %, of an element at least {}", 100.0 * self.volume_change, number(self.least_volume_ratio)),
        );
        facts.row("von Mises", format!("at most {} Pa", number(self.largest_von_mises)));
        facts.into_text()
    }
}

/// Write the deformed mesh, or displacements.
fn write(built: &Built, path: &Path) -> anyhow::Result<()> {
    let simulation = &built.simulation;
    let is_array =
        path.extension().is_some_and(|own| ["npy", "csv", "txt", "dat", "mtx"].iter().any(|known| own == *known));
    if is_array {
        let array = Array::from_rows(3, simulation.state().q.clone()).context("three numbers a vertex")?;
        return Ok(write_array(path, &array)?);
    }
    let cast = std::sync::Arc::new(Cast::new(simulation.model()));
    let frame = Frame::new(simulation.model(), simulation.state(), 0, true);
    output::write_still(path, &cast, &frame, Axis::Y)?;
    Ok(())
}
