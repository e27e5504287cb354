//! `pliant scene`: checks and converts scenes without running them.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};
use pliant::files::{Disk, Files};
use pliant::solver::Symbolic;
use pliant_scene::scene::{Built, Mass, SceneFile, reference, schema};

use crate::Done;
use crate::run::read_scene;
use crate::table::{Listing, count, number, vector};

#[derive(Debug, Subcommand)]
pub enum SceneCommand {
    /// Describe what a scene would simulate, or print its errors.
    Check {
        /// A scene (.toml, or VegaFEM's .config), or a mesh, which is dropped on the ground.
        #[arg(value_name = "SCENE|MESH", value_hint = ValueHint::FilePath)]
        scene: PathBuf,
    },
    /// Write a scene in full as one TOML file, with the files that it includes and its default values. It may also be
    /// VegaFEM's .config, or a mesh, whose default scene is written.
    Convert {
        /// A scene (.toml, or VegaFEM's .config), or a mesh, whose default scene is written.
        #[arg(value_name = "SCENE|MESH", value_hint = ValueHint::FilePath)]
        scene: PathBuf,
        /// File to write, in the folder of the scene, since paths in it are relative to it [default: standard output].
        #[arg(short, long, value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
    /// Print the reference of the scene format, in Markdown.
    Reference,
    /// Print a JSON schema of the scene format, for completion and validation in editors.
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
                            notes.push(format!("paths in the scene are relative to {}; save it there", home.display()));
                        }
                        format!("wrote {}\n", path.display())
                    }
                };
                Ok(Done { text, notes, exit: 0 })
            }
            Self::Check { scene } => {
                let mut notes = Vec::new();
                let file = read_scene(scene, &mut notes)?;
                let mut built = file.build(&Disk)?;
                notes.extend(built.notes.iter().cloned());
                let text = report(&file, &mut built, &mut notes)?;
                Ok(Done { text, notes, exit: 0 })
            }
        }
    }
}

/// Maximum number of vertices for which the factor is analyzed, which would take minutes for larger bodies.
const MAX_ANALYZED: usize = 300_000;

fn report(file: &SceneFile, built: &mut Built, notes: &mut Vec<String>) -> anyhow::Result<String> {
    let settings = &file.scene.simulation;
    let mut listing = Listing::default();
    listing.title(&file.title(), "can be simulated");
    if !file.source.included.is_empty() {
        let paths = file.source.included.iter().map(|included| included.path.display().to_string());
        listing.row("includes", paths.collect::<Vec<_>>().join(", "));
    }
    let model = built.simulation.model();
    let fixed = model.fixed().iter().map(|fixed| fixed.vertices.len()).sum::<usize>();
    listing.row("vertices", format!("{}, {fixed} of them fixed", model.node_count()));
    listing.row("gravity", format!("{} m/s²", vector(model.gravity(), 1.0)));
    listing.row(
        "integrator",
        format!(
            "{}, {} of {} s",
            settings.integrator.name(),
            count(built.steps as usize, "step", "steps"),
            number(settings.step.si)
        ),
    );
    if let Some(reduced) = built.simulation.reduced_model() {
        let (size, forces) = (reduced.basis().size(), reduced.elasticity().name());
        let freedom = if reduced.placement().is_some() { " in a co-rotated frame" } else { "" };
        listing.row("reduced", format!("to {size} basis vectors{freedom}, forces by {forces}"));
    }
    let frames = 1 + built.steps.div_ceil(built.frame_every);
    listing.row("frames", format!("{frames}, one every {}", count(built.frame_every as usize, "step", "steps")));
    listing.row("columns", built.recorder.columns().join(", "));
    let explicit = settings.integrator.is_explicit();
    let is_reduced = built.simulation.reduced_model().is_some();
    let needs_solver = !(is_reduced || explicit && settings.mass == Mass::Lumped);
    let blocks = 72 * model.pattern().slot_count();
    let is_analyzed = needs_solver && model.node_count() <= MAX_ANALYZED;
    let factor = if is_analyzed { 6 * Symbolic::new(model.pattern().clone())?.info().memory } else { 0 };
    // Stiffness, system matrix and mass; about ten vectors; and the factor, if there is one.
    let memory = number((3 * blocks + 10 * 24 * model.node_count() + factor) as f64 / 1e6);
    let solver = if needs_solver && !is_analyzed { ", plus the linear solver" } else { "" };
    listing.row("memory", format!("about {memory} MB{solver}"));
    listing
        .row("disk", format!("about {} MB of frames", number(frames as f64 * 48.0 * model.node_count() as f64 / 1e6)));
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
    listing.columns(&["object", "vertices", "elements", "regions", "volume m³", "mass kg"], &rows);
    if explicit && !is_reduced {
        let found = built.simulation.stability()?;
        let (step, max) = (number(found.step), number(found.max_step));
        if found.is_stable() {
            notes.push(format!("the step of {step} s is stable initially; the maximum stable step is {max} s"));
        } else {
            notes.push(format!(
                "the step of {step} s is NOT stable: the maximum is {max} s; reduce the step or use an implicit integrator"
            ));
        }
    }
    Ok(listing.into_text())
}
