//! `pliant mesh`: inspect, check, convert and generate meshes.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use pliant::files::ReadError;
use pliant::io::{self, Encoding, FORMATS, Format, GmshVersion, Loaded, Mesh, WriteOptions};
use pliant::math::{Affine3, Vec3};
use pliant::mesh::{Embedding, HexSplit, MaterialData, SurfaceMesh, Units, VolumeMesh};
use pliant::meshing::Surface;
use pliant_scene::scene::quantity::Density;

use crate::Done;
use crate::fill::{Tetrahedralize, Voxelize};
use crate::generate::Body;
use crate::report::Report;
use crate::table::{Listing, count, to_json};

#[derive(Debug, Subcommand)]
pub enum MeshCommand {
    /// Print size, mass, quality, regions and sets of a mesh file.
    Info {
        /// Mesh in any supported format.
        file: PathBuf,
        /// Density where the file gives none, in kg/m³ or with a unit, as in "1.1 g/cm^3".
        #[arg(long, allow_negative_numbers = true)]
        density: Option<Density>,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Check that a mesh can be simulated, and print the reasons if not. The exit status is 0 if it can, 1 if it
    /// cannot.
    Check {
        /// Mesh in any supported format.
        file: PathBuf,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Convert a mesh file to another format, with optional changes.
    ///
    /// Changes are applied in the order of the options below.
    Convert(Convert),
    /// Generate the mesh of a simple body.
    #[command(subcommand, arg_required_else_help = true)]
    Generate(Body),
    /// Fill the volume enclosed by a surface with well-shaped tetrahedra, even if the surface has holes or intersects
    /// itself.
    Tetrahedralize(Tetrahedralize),
    /// Enclose a surface in cubes; cubes at the boundary are lighter and softer, in proportion to their filled
    /// fraction.
    ///
    /// An .interp file next to the mesh embeds the surface in it.
    Voxelize(Voxelize),
    /// Embed a detailed surface in a volume mesh, and save the weights as VegaFEM's .interp.
    Embed {
        /// Volume mesh to embed the surface in.
        mesh: PathBuf,
        /// Surface to embed.
        surface: PathBuf,
        /// The .interp file to write.
        #[arg(short, long)]
        output: PathBuf,
    },
    /// List the file formats and the data that each supports.
    Formats,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct Convert {
    /// Mesh to read.
    input: PathBuf,
    /// File to write; its extension chooses the format.
    output: PathBuf,
    /// VegaFEM .bou file whose vertices become the vertex set `fixed`.
    #[arg(long, value_name = "FILE.bou")]
    fixed: Option<PathBuf>,
    /// Keep only this region.
    #[arg(long)]
    region: Option<String>,
    /// Scale factor for all lengths; 0.001 converts millimeters to meters. Densities and moduli are not changed: see
    /// --units.
    #[arg(long)]
    scale: Option<f64>,
    /// Convert from these units to SI: lengths, densities and moduli from mm-t-s, mm-kg-ms, mm-g-ms, cm-g-s or
    /// in-lbf-s; lengths alone from mm, cm, in or ft.
    #[arg(long, value_name = "SYSTEM", conflicts_with = "scale")]
    units: Option<Units>,
    /// Split each hexahedron into five or six tetrahedra.
    #[arg(long, value_enum)]
    split: Option<Split>,
    /// Number of times to refine each element into eight.
    #[arg(long, default_value_t = 0)]
    refine: usize,
    /// Remove vertices that no element uses.
    #[arg(long)]
    drop_unused: bool,
    /// Renumber vertices and elements so that neighbors are close in memory.
    #[arg(long)]
    renumber: bool,
    /// Text or binary, where the format has both [default: the usual one that stores coordinates exactly].
    #[arg(long, value_enum)]
    encoding: Option<TextOrBinary>,
    /// Version of the Gmsh format.
    #[arg(long, value_enum, default_value = "4.1")]
    gmsh: Gmsh,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Split {
    #[value(name = "5")]
    Five,
    #[value(name = "6")]
    Six,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TextOrBinary {
    Text,
    Binary,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Gmsh {
    #[value(name = "2.2")]
    V2_2,
    #[value(name = "4.1")]
    V4_1,
}

impl MeshCommand {
    pub fn run(self) -> anyhow::Result<Done> {
        match self {
            Self::Info { file, density, json } => info(&file, density.map(|density| density.si), json),
            Self::Check { file, json } => check(&file, json),
            Self::Convert(convert) => convert.run(),
            Self::Generate(body) => {
                let output = &body.file.output;
                let (mesh, mut notes) = body.make()?;
                let mesh = Mesh::Volume(mesh);
                notes.extend(io::write(output, &mesh, &WriteOptions::default())?);
                Ok(Done { notes, ..Done::text(wrote(output, &mesh)) })
            }
            Self::Tetrahedralize(command) => command.run(),
            Self::Voxelize(command) => command.run(),
            Self::Embed { mesh, surface, output } => embed(&mesh, &surface, &output),
            Self::Formats => Ok(Done::text(formats())),
        }
    }
}

fn info(file: &Path, density: Option<f64>, json: bool) -> anyhow::Result<Done> {
    let given = MaterialData { name: "--density".into(), density, moduli: None };
    if let Some(defect) = given.defect() {
        bail!("--density: {defect}");
    }
    let report = Report::new(file, io::read(file)?, density);
    Ok(Done::text(if json { to_json(&report)? } else { report.table() }))
}

/// Result of checking a mesh.
#[derive(serde::Serialize)]
struct Verdict {
    file: String,
    simulable: bool,
    problems: Vec<String>,
    remarks: Vec<String>,
}

fn check(file: &Path, json: bool) -> anyhow::Result<Done> {
    let name = file.display().to_string();
    let verdict = match io::read(file) {
        Ok(Loaded { mesh: Mesh::Surface(mesh), .. }) => {
            let only =
                "it is a surface: `pliant mesh tetrahedralize` fills it, and `pliant run` simulates it in a cage";
            let (problem, remarks) = match Surface::new(&mesh) {
                Ok(surface) => (only.to_owned(), surface.findings().lines()),
                Err(error) => (format!("it is a surface that cannot be filled: {error}"), Vec::new()),
            };
            Verdict { file: name, simulable: false, problems: vec![problem], remarks }
        }
        Ok(Loaded { mesh: Mesh::Volume(mesh), report, notes }) => {
            let mut remarks = report.lines();
            let overlapping = mesh.boundary().overlapping_faces.len();
            if overlapping > 0 {
                remarks.push(count(overlapping, "face is", "faces are") + " shared by elements on the same side");
            }
            let bodies = mesh.components().1;
            if bodies > 1 {
                remarks.push(format!("it has {bodies} disconnected bodies"));
            }
            remarks.extend(notes);
            Verdict { file: name, simulable: true, problems: Vec::new(), remarks }
        }
        // A defect of the mesh is a result; a file that cannot be read is an error.
        Err(ReadError::Mesh { cause, .. }) => {
            let mut problems: Vec<String> = cause.defects.iter().map(ToString::to_string).collect();
            if cause.total > problems.len() {
                problems.push(format!("and {} more", cause.total - problems.len()));
            }
            Verdict { file: name, simulable: false, problems, remarks: Vec::new() }
        }
        Err(error) => return Err(error.into()),
    };
    let exit = u8::from(!verdict.simulable);
    if json {
        return Ok(Done { exit, ..Done::text(to_json(&verdict)?) });
    }
    let mut listing = Listing::default();
    listing.title(&verdict.file, if verdict.simulable { "can be simulated" } else { "cannot be simulated" });
    verdict.problems.iter().for_each(|problem| listing.row("problem", problem));
    verdict.remarks.iter().for_each(|remark| listing.row("remark", remark));
    Ok(Done { exit, ..Done::text(listing.into_text()) })
}

impl Convert {
    fn run(self) -> anyhow::Result<Done> {
        let loaded = io::read(&self.input)?;
        let mut notes = loaded.report.lines();
        notes.extend(loaded.notes);
        let mesh = match loaded.mesh {
            Mesh::Volume(mesh) => {
                self.check_units(&mesh, &mut notes);
                Mesh::Volume(self.change(mesh, &mut notes)?)
            }
            Mesh::Surface(surface) => Mesh::Surface(self.change_surface(surface)?),
        };
        let options = WriteOptions {
            encoding: match self.encoding {
                None => Encoding::Usual,
                Some(TextOrBinary::Text) => Encoding::Text,
                Some(TextOrBinary::Binary) => Encoding::Binary,
            },
            gmsh: match self.gmsh {
                Gmsh::V2_2 => GmshVersion::V2_2,
                Gmsh::V4_1 => GmshVersion::V4_1,
            },
        };
        notes.extend(io::write(&self.output, &mesh, &options)?);
        Ok(Done { notes, ..Done::text(wrote(&self.output, &mesh)) })
    }

    /// Removes the hint about units that are converted, and reports materials that are not converted with the lengths.
    fn check_units(&self, mesh: &VolumeMesh, notes: &mut Vec<String>) {
        if self.units.is_some() || self.scale.is_some() {
            let hint = mesh.units_hint();
            notes.retain(|note| Some(note) != hint.as_ref());
        }
        let option = match self.units {
            Some(units) if units.is_length_only() => "--units",
            None if self.scale.is_some() => "--scale",
            _ => return,
        };
        if mesh.regions().iter().any(|region| region.material.is_some()) {
            notes.push(format!(
                "{option} converts only lengths: densities and moduli are those of the file; unit systems such as --units mm-t-s convert them too"
            ));
        }
    }

    fn change_surface(&self, surface: SurfaceMesh) -> anyhow::Result<SurfaceMesh> {
        let for_volumes = [
            ("--fixed", self.fixed.is_some()),
            ("--region", self.region.is_some()),
            ("--split", self.split.is_some()),
            ("--refine", self.refine > 0),
            ("--drop-unused", self.drop_unused),
            ("--renumber", self.renumber),
        ];
        if let Some((option, _)) = for_volumes.iter().find(|(_, given)| *given) {
            bail!("{option}: applies only to volume meshes, but {} is a surface", self.input.display());
        }
        Ok(match (self.scale, &self.units) {
            (Some(scale), _) => surface.transformed(Affine3::from_scale(Vec3::splat(scale))).context("--scale")?,
            (None, Some(units)) => surface.to_si(units).context("--units")?,
            (None, None) => surface,
        })
    }

    /// Applies the changes that the options request; notes report what is lost.
    fn change(&self, mut mesh: VolumeMesh, notes: &mut Vec<String>) -> anyhow::Result<VolumeMesh> {
        // First, while the numbering is that of the file.
        if let Some(file) = &self.fixed {
            let fixed = io::read_bou(file, mesh.vertex_count())?;
            let mut labels = mesh.labels();
            labels.vertex_sets.insert("fixed".into(), fixed);
            mesh = mesh.with_labels(labels)?.mesh;
        }
        if let Some(region) = &self.region {
            let extracted = mesh.extract_region(region)?;
            notes.extend(extracted.report.lines());
            mesh = extracted.mesh;
        }
        if let Some(scale) = self.scale {
            mesh = mesh.transformed(Affine3::from_scale(Vec3::splat(scale))).context("--scale")?;
        }
        if let Some(units) = &self.units {
            mesh = mesh.to_si(units).context("--units")?;
        }
        if let Some(split) = self.split {
            mesh = mesh.split_hexes(match split {
                Split::Five => HexSplit::Five,
                Split::Six => HexSplit::Six,
            })?;
        }
        for done in 0..self.refine {
            if mesh.element_count() > MAX_ELEMENTS / 8 {
                bail!(
                    "--refine {}: at most {MAX_ELEMENTS} elements are supported, and {} exist after {done} refinements",
                    self.refine,
                    mesh.element_count()
                );
            }
            mesh = mesh.refined()?;
        }
        if self.drop_unused {
            let extracted = mesh.without_unused_vertices()?;
            notes.extend(extracted.report.lines());
            mesh = extracted.mesh;
        }
        if self.renumber {
            mesh = mesh.renumbered().0;
        }
        Ok(mesh)
    }
}

/// Maximum number of elements, at which refinement stops before memory is exhausted.
const MAX_ELEMENTS: usize = 200_000_000;

fn embed(mesh: &Path, surface: &Path, output: &Path) -> anyhow::Result<Done> {
    if output.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("interp")) {
        bail!("{}: expected a name ending in .interp", output.display());
    }
    let volume = io::read_volume(mesh)?;
    let surface = io::read_surface(surface)?;
    let embedding = Embedding::new(&volume.mesh, surface.mesh.vertices())?;
    io::write_interp(output, &embedding)?;
    let outside = embedding.outside().len();
    let text = format!("wrote {}: {} points, {outside} of them outside\n", output.display(), embedding.len());
    let notes = volume.report.lines().into_iter().chain(volume.notes).chain(surface.notes).collect();
    Ok(Done { notes, ..Done::text(text) })
}

fn formats() -> String {
    let mut listing = Listing::default();
    listing.title("Mesh files", "chosen by extension; r reads, v writes volumes, s writes surfaces");
    let rows: Vec<Vec<String>> = FORMATS
        .iter()
        .map(|format| {
            let extensions = format.extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>().join(" ");
            let can = [(format.can_read(), 'r'), (format.can_write_volume(), 'v'), (format.can_write_surface(), 's')];
            let can: String = can.iter().map(|&(yes, letter)| if yes { letter } else { '-' }).collect();
            vec![extensions, can, format.name.into(), format.about.into()]
        })
        .collect();
    listing.columns(&["files", "can", "format", "about"], &rows);
    listing.into_text()
}

pub fn wrote(path: &Path, mesh: &Mesh) -> String {
    let content = match mesh {
        Mesh::Volume(mesh) => {
            format!("{}, {}", count(mesh.vertex_count(), "vertex", "vertices"), mesh.kind().count(mesh.element_count()))
        }
        Mesh::Surface(surface) => {
            let vertices = count(surface.vertices().len(), "vertex", "vertices");
            format!("{vertices}, {}", count(surface.faces().len(), "face", "faces"))
        }
    };
    let of_boundary = matches!(mesh, Mesh::Volume(_)) && Format::of(path).is_some_and(|f| !f.can_write_volume());
    let boundary = if of_boundary { "the boundary of " } else { "" };
    format!("wrote {}: {boundary}{content}\n", path.display())
}
