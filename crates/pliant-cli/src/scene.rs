//! `pliant scene`: look at scenes without running them.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};
use pliant::integrator::stability;
use pliant::io::{Disk, Files};
use pliant::scene::{Built, Mass, SceneFile, Scheme, reference, schema};
use pliant::solver::Symbolic;

use crate::Done;
use crate::run::read_scene;
use crate::table::{Facts, count, number, vector};

#[derive(Debug, Subcommand)]
pub enum SceneCommand {
    /// Say what a scene would simulate, or what is wrong with it.
    Check {
        /// A scene: .toml, or VegaFEM's .config. Or a mesh, which is dropped on the ground.
        #[arg(value_name = "SCENE|MESH", value_hint = ValueHint::FilePath)]
        scene: PathBuf,
    },
    /// Write a scene of VegaFEM, or that of a mesh, as TOML.
    Convert {
        /// VegaFEM's .config, a mesh, or a scene to write in full.
        #[arg(value_name = "SCENE|MESH", value_hint = ValueHint::FilePath)]
        scene: PathBuf,
        /// The file to write, in the folder of the scene, since that names files relative to it [default: standard output].
        #[arg(short, long, value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
    /// Print the reference of the format, in Markdown.
    Reference,
    /// Print a JSON schema of the format, with which editors complete and check scenes.
    Schema,
}

impl SceneCommand {
    pub fn run(&self) -> anyhow::Result<Done> {
        match self {
            Self::Reference => Ok(Done::text(reference())),
            Self::Schema => Ok(Done::text(serde_json::to_string_pretty(&schema())? + "\n")),
            Self::Convert { scene, output } => {
                let mut notes = Vec::new();
                let file = read_scene(scene, &mut notes)?;
                notes.extend(file.notes.iter().cloned());
                let text = file.scene.to_toml();
                let text = match output {
                    None => text,
                    Some(path) => {
                        Disk.write(path, text.as_bytes())?;
                        let folder = |path: &Path| std::path::absolute(Path::new(".").join(path)).ok();
                        if folder(path.parent().unwrap_or(Path::new(""))) != folder(&file.source.folder) {
                            let home = Path::new(".").join(&file.source.folder);
                            notes.push(format!("files that it names are relative to {}: put it there", home.display()));
                        }
                        format!("wrote {}\n", path.display())
                    }
                };
                Ok(Done { text, notes, exit: 0 })
            }
            Self::Check { scene } => {
                let mut notes = Vec::new();
                let file = read_scene(scene, &mut notes)?;
                let built = file.build(&Disk)?;
                notes.extend(built.notes.iter().cloned());
                let text = report(&file, built, &mut notes)?;
                Ok(Done { text, notes, exit: 0 })
            }
        }
    }
}

/// To find the size of the factor of a larger body would take minutes.
const MOST_ANALYSED: usize = 300_000;

fn report(file: &SceneFile, mut built: Built, notes: &mut Vec<String>) -> anyhow::Result<String> {
    let settings = &file.scene.simulation;
    let mut facts = Facts::default();
    facts.title(&file.title(), "can be simulated");
    let model = built.simulation.model();
    let held = model.holds().iter().map(|hold| hold.vertices.len()).sum::<usize>();
    facts.row("vertices", format!("{}, {held} of them held", model.vertex_count()));
    facts.row("gravity", format!("{} m/s²", vector(model.gravity(), 1.0)));
    facts.row(
        "scheme",
        format!(
            "{}, {} of {} s",
            name(&settings.scheme.value),
            count(built.steps as usize, "step", "steps"),
            number(settings.step.si)
        ),
    );
    if let Some(reduced) = built.simulation.reduced_model() {
        let (size, forces) = (reduced.basis().size(), reduced.elasticity().name());
        let freedom = if reduced.placement().is_some() { " in a frame that moves along" } else { "" };
        facts.row("reduced", format!("to {size} directions{freedom}, forces by {forces}"));
    }
    let frames = 1 + built.steps.div_ceil(built.frame_every);
    facts.row("frames", format!("{frames}, one in {}", count(built.frame_every as usize, "step", "steps")));
    facts.row("columns", built.recorder.columns().join(", "));
    let explicit =
        matches!(settings.scheme.value, Scheme::CentralDifferences | Scheme::SymplecticEuler | Scheme::ExplicitEuler);
    let is_reduced = built.simulation.reduced_model().is_some();
    let needs_solver = !(is_reduced || explicit && settings.mass == Mass::Lumped);
    let blocks = 72 * model.pattern().slot_count();
    let is_analysed = needs_solver && model.vertex_count() <= MOST_ANALYSED;
    let factor = if is_analysed { 6 * Symbolic::new(model.pattern().clone())?.info().memory } else { 0 };
    // Stiffness, the matrix of the system and the mass; about ten vectors; and the factor, if there is one.
    let memory = number((3 * blocks + 10 * 24 * model.vertex_count() + factor) as f64 / 1e6);
    let beside = if needs_solver && !is_analysed { ", and what a linear solver takes" } else { "" };
    facts.row("memory", format!("about {memory} MB{beside}"));
    facts.row(
        "disk",
        format!("about {} MB of frames", number(frames as f64 * 48.0 * model.vertex_count() as f64 / 1e6)),
    );
    let rows: Vec<Vec<String>> = model
        .bodies()
        .iter()
        .map(|body| {
            let mesh = body.mesh();
            let mass = mesh.mass_properties(body.densities()).mass;
            let regions = mesh.regions().len().to_string();
            vec![
                body.name().to_owned(),
                mesh.vertex_count().to_string(),
                mesh.kind().count(mesh.element_count()),
                regions,
                number(mesh.volume()),
                number(mass),
            ]
        })
        .collect();
    facts.columns(&["object", "vertices", "elements", "regions", "volume m³", "mass kg"], &rows);
    if explicit && !is_reduced {
        let mut solver = settings.solver(&file.source)?.build();
        let step = settings.step.si;
        let found = built.simulation.with_model(|model, state| stability(model, &mut *solver, state, step))?;
        let (step, most) = (number(found.step), number(found.largest_step));
        if found.is_stable() {
            notes.push(format!("the step of {step} s is stable at the start: at most {most} s would be"));
        } else {
            notes.push(format!(
                "the step of {step} s is NOT stable: at most {most} s would be, or take an implicit scheme"
            ));
        }
    }
    Ok(facts.into_text())
}

/// What a choice is called in a scene.
fn name(choice: &impl serde::Serialize) -> String {
    serde_json::to_value(choice).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
}
