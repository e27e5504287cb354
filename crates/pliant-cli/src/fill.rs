//! `pliant mesh tetrahedralize` and `pliant mesh voxelize`: bodies of surfaces.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use pliant::io::{self, Feature, Format, Mesh, WriteOptions};
use pliant::math::{Affine3, Vec3};
use pliant::mesh::{Embedding, Material, SurfaceMesh, VolumeMesh};
use pliant::meshing::{ANGLES, Info, Params, Surface, cage, carrying_limits, fill_surface, fused_pieces, voxelize};

use crate::Done;
use crate::default_scene::{DENSITY, POISSON, ratio, soft_young};
use crate::generate::MeshFile;
use crate::mesh::wrote;
use crate::table::{Facts, count, number};

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct Tetrahedralize {
    #[command(flatten)]
    surface: SurfaceFile,
    /// Cells along the longest side; a cell has twelve tetrahedra [default: 24, with --cage 16].
    #[arg(long)]
    cells: Option<usize>,
    /// How often the size of cells may double towards the inside.
    #[arg(long, default_value_t = 0, value_name = "TIMES")]
    grading: u32,
    /// Contain the surface instead, every point of it, and write the .interp file that ties it to the mesh.
    #[arg(long)]
    cage: bool,
    #[command(flatten)]
    file: MeshFile,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct Voxelize {
    #[command(flatten)]
    surface: SurfaceFile,
    /// Cubes along the longest side.
    #[arg(long, default_value_t = 16)]
    cells: usize,
    #[command(flatten)]
    file: MeshFile,
}

/// A surface to read.
#[derive(Debug, Args)]
struct SurfaceFile {
    /// A surface of any supported format, or a volume whose boundary is taken.
    surface: PathBuf,
    /// Multiply all lengths of the surface; 0.001 turns millimetres into metres.
    #[arg(long, value_parser = ratio)]
    scale: Option<f64>,
}

/// What to say of a surface so long that its numbers are more likely to be millimetres.
pub fn in_millimetres(low: Vec3, high: Vec3) -> Option<String> {
    const LONG: f64 = 20.0;
    let length = (high - low).max_element();
    (length > LONG).then(|| format!("the surface is {} m long, if its numbers are not in millimetres", number(length)))
}

impl SurfaceFile {
    fn name(&self) -> String {
        self.surface.display().to_string()
    }

    /// The surface as it is, and made fit; what there is to say of it goes to `facts` and `notes`.
    fn read(&self, facts: &mut Facts, notes: &mut Vec<String>) -> anyhow::Result<(SurfaceMesh, Surface)> {
        let loaded = io::read(&self.surface)?;
        notes.extend(loaded.notes);
        let mut mesh = loaded.mesh.into_surface();
        if let Some(scale) = self.scale {
            mesh = mesh.transformed(Affine3::from_scale(Vec3::splat(scale))).context("--scale")?;
        }
        let surface = Surface::new(&mesh).with_context(|| self.name())?;
        let findings = surface.findings();
        let [low, high] = mesh.bounding_box();
        let size = (high - low).to_array().map(number).join(" × ");
        facts.title(&self.name(), &format!("{}, {size} m", count(findings.triangles, "triangle", "triangles")));
        facts.row("pieces", findings.pieces.to_string());
        match findings.lines().as_slice() {
            [] => facts.row("surface", "closed, and nothing is wrong with it"),
            lines => lines.iter().for_each(|line| facts.row("found", line)),
        }
        if self.scale.is_none() {
            notes.extend(in_millimetres(low, high).map(|note| note + ": then give --scale 0.001"));
        }
        Ok((mesh, surface))
    }
}

impl Tetrahedralize {
    pub fn run(self) -> anyhow::Result<Done> {
        check_output(&self.file.output, &self.surface.surface, self.cage)?;
        let (mut facts, mut notes) = (Facts::default(), Vec::new());
        let (surface_mesh, surface) = self.surface.read(&mut facts, &mut notes)?;
        let cells = self.cells.unwrap_or(if self.cage { 16 } else { 24 });
        let params = Params { cells, grading: self.grading };
        if self.cage {
            let cage = cage(&surface_mesh, &surface, &params).with_context(|| self.surface.name())?;
            let mesh = made_of(&self.file, cage.mesh, &mut notes)?;
            say_of_tets(&mut facts, &mesh, &cage.info.body);
            facts.row(
                "cage",
                format!(
                    "every point of the surface is inside; it was made {} m larger all around",
                    number(cage.info.distance)
                ),
            );
            let (cell, enclosed) = (cage.info.body.cell, cage.info.enclosed);
            notes.extend(carrying_limits(&surface_mesh, &surface, &mesh, cell, enclosed)?);
            say_of_fill(&mut facts, &mesh);
            return write(&self.file.output, mesh, Some(&cage.embedding), facts, notes);
        }
        let (body, thin) = fill_surface(&surface, &params).with_context(|| self.surface.name())?;
        let mesh = made_of(&self.file, body.mesh, &mut notes)?;
        say_of_tets(&mut facts, &mesh, &body.info);
        facts.row("volume", format!("{} m³", number(mesh.volume())));
        notes.extend(fused_pieces(&surface, &mesh));
        notes.extend(thin.map(|thin| thin.to_string()));
        write(&self.file.output, mesh, None, facts, notes)
    }
}

impl Voxelize {
    pub fn run(self) -> anyhow::Result<Done> {
        check_output(&self.file.output, &self.surface.surface, true)?;
        let (mut facts, mut notes) = (Facts::default(), Vec::new());
        let (surface_mesh, surface) = self.surface.read(&mut facts, &mut notes)?;
        let voxels = voxelize(&surface, self.cells).with_context(|| self.surface.name())?;
        facts.row("cubes", format!("{}, {} m wide", voxels.mesh.element_count(), number(voxels.cell)));
        if voxels.added_at_touching > 0 {
            facts.row(
                "added",
                format!(
                    "{}, where cubes met only along an edge or at a corner",
                    count(voxels.added_at_touching, "cube", "cubes")
                ),
            );
        }
        notes.extend(carrying_limits(&surface_mesh, &surface, &voxels.mesh, voxels.cell, voxels.enclosed)?);
        say_of_fill(&mut facts, &voxels.mesh);
        let embedding = Embedding::new(&voxels.mesh, surface_mesh.vertices())?;
        let mesh = made_of(&self.file, voxels.mesh, &mut notes)?;
        write(&self.file.output, mesh, Some(&embedding), facts, notes)
    }
}

/// The mesh with what it is made of: a soft material if none was given, if the file can hold one. Files know no elements that are filled in part, only
/// light and soft ones; and a VegaFEM file without a material would be as stiff as VegaFEM's default.
fn made_of(file: &MeshFile, mesh: VolumeMesh, notes: &mut Vec<String>) -> anyhow::Result<VolumeMesh> {
    let holds_materials = Format::of(&file.output).is_some_and(|format| format.holds.contains(&Feature::Materials));
    if !file.has_no_density() || !holds_materials {
        return file.made_of(mesh);
    }
    let young = soft_young(mesh.bounding_box(), DENSITY);
    let is_partly_filled = mesh.regions().iter().any(|region| region.fill < 1.0);
    notes.push(format!(
        "no --density was given: {DENSITY} kg/m³ is taken, and a soft material, Young's modulus {} Pa and Poisson's ratio {POISSON}{}",
        number(young),
        if is_partly_filled { "; elements filled in part are lighter and softer" } else { "" }
    ));
    let mut data = mesh.into_data();
    for region in &mut data.regions {
        region.material = Some(Material::isotropic(&region.name, DENSITY, young, POISSON));
    }
    Ok(VolumeMesh::check(data)?.mesh)
}

fn say_of_tets(facts: &mut Facts, mesh: &VolumeMesh, info: &Info) {
    let angles = mesh.quality().dihedral_angle;
    facts.row("cells", format!("{} m wide", number(info.cell)));
    facts.row(
        "elements",
        format!("{}, {}", mesh.kind().count(mesh.element_count()), count(mesh.vertex_count(), "vertex", "vertices")),
    );
    let [least, most] = ANGLES;
    facts.row(
        "angles",
        format!("{:.2}° to {:.2}° between faces, within the bounds of {least}° and {most}°", angles.min, angles.max),
    );
    facts.row("bodies", mesh.components().1.to_string());
    if info.removed_at_touching > 0 {
        facts.row(
            "removed",
            format!("{}, where the boundary touched itself", mesh.kind().count(info.removed_at_touching)),
        );
    }
    if info.specks > 0 {
        facts.row("left out", format!("{} smaller than a cell", count(info.specks, "speck", "specks")));
    }
}

/// What the elements have room for, and what they are filled with.
fn say_of_fill(facts: &mut Facts, mesh: &VolumeMesh) {
    let filled = mesh.mass_properties(&vec![1.0; mesh.regions().len()]).mass;
    facts.row("volume", format!("{} m³, filled with {} m³", number(mesh.volume()), number(filled)));
}

/// Whether a mesh, which may carry the surface, can be written there, before the work is done.
fn check_output(output: &Path, surface: &Path, carries: bool) -> anyhow::Result<()> {
    let Some(format) = Format::of(output) else {
        bail!("{}: the extension is none of a mesh format; `pliant mesh formats` lists them", output.display());
    };
    if carries && !format.can_write_volume() {
        bail!(
            "{}: {} files have no elements that the surface could be tied to; take .veg, .msh or .vtu",
            output.display(),
            format.name
        );
    }
    if let (Ok(there), Ok(surface)) = (output.canonicalize(), surface.canonicalize())
        && there == surface
    {
        bail!("{}: the body would overwrite the surface; give it another name", output.display());
    }
    match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            bail!("{}: there is no such folder", folder.display())
        }
        _ => Ok(()),
    }
}

fn write(
    output: &Path,
    mesh: VolumeMesh,
    embedding: Option<&Embedding>,
    facts: Facts,
    mut notes: Vec<String>,
) -> anyhow::Result<Done> {
    let tie = output.with_extension("interp");
    if embedding.is_some() && tie == output {
        bail!("{}: expected the name of a mesh file; the .interp file is written beside it", output.display());
    }
    let mesh = Mesh::Volume(mesh);
    notes.extend(io::write(output, &mesh, &WriteOptions::default())?);
    let mut text = facts.into_text() + &wrote(output, &mesh);
    if let Some(embedding) = embedding {
        io::write_interp(&tie, embedding)?;
        text += &format!("wrote {}: {}\n", tie.display(), count(embedding.len(), "point", "points"));
    }
    Ok(Done { notes, ..Done::text(text) })
}
