//! `pliant mesh tetrahedralize` and `pliant mesh voxelize`: volume meshing of surfaces.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use pliant::io::{self, Feature, Format, Mesh, WriteOptions};
use pliant::math::{Affine3, Vec3};
use pliant::mesh::{Embedding, MaterialData, SurfaceMesh, VolumeMesh};
use pliant::meshing::{
    ANGLES, Info, MeshingParams, Surface, cage, carrying_limits, fill_surface, fused_pieces, voxelize,
};

use crate::Done;
use crate::default_scene::{DENSITY, POISSON, ratio, soft_young};
use crate::generate::MeshFile;
use crate::mesh::wrote;
use crate::table::{Listing, count, number};

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct Tetrahedralize {
    #[command(flatten)]
    surface: SurfaceFile,
    /// Cells along the longest side; a cell has twelve tetrahedra [default: 24, or 16 with --cage].
    #[arg(long)]
    cells: Option<usize>,
    /// Maximum number of times that the cell size doubles towards the interior.
    #[arg(long, default_value_t = 0, value_name = "TIMES")]
    grading: u32,
    /// Enclose every point of the surface, and write the .interp file that embeds the surface in the mesh.
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

/// Surface to read.
#[derive(Debug, Args)]
struct SurfaceFile {
    /// Surface in any supported format, or a volume mesh whose boundary is used.
    surface: PathBuf,
    /// Scale factor for all lengths of the surface; 0.001 converts millimeters to meters.
    #[arg(long, value_parser = ratio)]
    scale: Option<f64>,
}

/// Returns a note if the size of a surface suggests that its coordinates are in millimeters.
pub fn in_millimeters(low: Vec3, high: Vec3) -> Option<String> {
    const LONG: f64 = 20.0;
    let length = (high - low).max_element();
    (length > LONG).then(|| format!("the surface is {} m long; its coordinates may be in millimeters", number(length)))
}

impl SurfaceFile {
    fn name(&self) -> String {
        self.surface.display().to_string()
    }

    /// Returns the surface as read and repaired, and reports its defects in `listing` and `notes`.
    fn read(&self, listing: &mut Listing, notes: &mut Vec<String>) -> anyhow::Result<(SurfaceMesh, Surface)> {
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
        listing.title(&self.name(), &format!("{}, {size} m", count(findings.triangles, "triangle", "triangles")));
        listing.row("pieces", findings.pieces.to_string());
        match findings.lines().as_slice() {
            [] => listing.row("surface", "closed, without defects"),
            lines => lines.iter().for_each(|line| listing.row("found", line)),
        }
        if self.scale.is_none() {
            notes.extend(in_millimeters(low, high).map(|note| note + "; if so, give --scale 0.001"));
        }
        Ok((mesh, surface))
    }
}

impl Tetrahedralize {
    pub fn run(self) -> anyhow::Result<Done> {
        check_output(&self.file.output, &self.surface.surface, self.cage)?;
        let (mut listing, mut notes) = (Listing::default(), Vec::new());
        let (surface_mesh, surface) = self.surface.read(&mut listing, &mut notes)?;
        let cells = self.cells.unwrap_or(if self.cage { 16 } else { 24 });
        let params = MeshingParams { cells, grading: self.grading };
        if self.cage {
            let cage = cage(&surface_mesh, &surface, &params).with_context(|| self.surface.name())?;
            let mesh = made_of(&self.file, cage.mesh, &mut notes)?;
            say_of_tets(&mut listing, &mesh, &cage.info.body);
            listing.row(
                "cage",
                format!("every point of the surface is inside; the cage is offset by {} m", number(cage.info.distance)),
            );
            let (cell, enclosed) = (cage.info.body.cell, cage.info.enclosed);
            notes.extend(carrying_limits(&surface_mesh, &surface, &mesh, cell, enclosed)?);
            say_of_fill(&mut listing, &mesh);
            return write(&self.file.output, mesh, Some(&cage.embedding), listing, notes);
        }
        let (body, thin) = fill_surface(&surface, &params).with_context(|| self.surface.name())?;
        let mesh = made_of(&self.file, body.mesh, &mut notes)?;
        say_of_tets(&mut listing, &mesh, &body.info);
        listing.row("volume", format!("{} m³", number(mesh.volume())));
        notes.extend(fused_pieces(&surface, &mesh));
        notes.extend(thin.map(|thin| thin.to_string()));
        write(&self.file.output, mesh, None, listing, notes)
    }
}

impl Voxelize {
    pub fn run(self) -> anyhow::Result<Done> {
        check_output(&self.file.output, &self.surface.surface, true)?;
        let (mut listing, mut notes) = (Listing::default(), Vec::new());
        let (surface_mesh, surface) = self.surface.read(&mut listing, &mut notes)?;
        let voxels = voxelize(&surface, self.cells).with_context(|| self.surface.name())?;
        listing.row("cubes", format!("{}, {} m wide", voxels.mesh.element_count(), number(voxels.cell)));
        if voxels.added_at_touching > 0 {
            listing.row(
                "added",
                format!(
                    "{}, where cubes shared only an edge or a corner",
                    count(voxels.added_at_touching, "cube", "cubes")
                ),
            );
        }
        notes.extend(carrying_limits(&surface_mesh, &surface, &voxels.mesh, voxels.cell, voxels.enclosed)?);
        say_of_fill(&mut listing, &voxels.mesh);
        let embedding = Embedding::new(&voxels.mesh, surface_mesh.vertices())?;
        let mesh = made_of(&self.file, voxels.mesh, &mut notes)?;
        write(&self.file.output, mesh, Some(&embedding), listing, notes)
    }
}

/// Returns the mesh with its material: a soft default if none was given and the format can store one. Formats cannot
/// express partially filled elements, so these become lighter and softer. A VegaFEM file without a material would have
/// VegaFEM's default stiffness.
fn made_of(file: &MeshFile, mesh: VolumeMesh, notes: &mut Vec<String>) -> anyhow::Result<VolumeMesh> {
    let has_materials = Format::of(&file.output).is_some_and(|format| format.features.contains(&Feature::Materials));
    if !file.has_no_density() || !has_materials {
        return file.made_of(mesh);
    }
    let young = soft_young(mesh.bounding_box(), DENSITY);
    let is_partly_filled = mesh.regions().iter().any(|region| region.fill < 1.0);
    notes.push(format!(
        "no --density was given: using {DENSITY} kg/m³ and a soft material with Young's modulus {} Pa and Poisson's ratio {POISSON}{}",
        number(young),
        if is_partly_filled { "; partially filled elements are lighter and softer" } else { "" }
    ));
    let mut labels = mesh.labels();
    for region in &mut labels.regions {
        region.material = Some(MaterialData::isotropic(&region.name, DENSITY, young, POISSON));
    }
    Ok(mesh.with_labels(labels)?.mesh)
}

fn say_of_tets(listing: &mut Listing, mesh: &VolumeMesh, info: &Info) {
    let angles = mesh.quality().dihedral_angle;
    listing.row("cells", format!("{} m wide", number(info.cell)));
    listing.row(
        "elements",
        format!("{}, {}", mesh.kind().count(mesh.element_count()), count(mesh.vertex_count(), "vertex", "vertices")),
    );
    let [min, max] = ANGLES;
    listing.row(
        "angles",
        format!("{:.2}° to {:.2}° between faces, within the bounds of {min}° and {max}°", angles.min, angles.max),
    );
    listing.row("bodies", mesh.components().1.to_string());
    if info.removed_at_touching > 0 {
        listing.row(
            "removed",
            format!("{}, where the boundary touched itself", mesh.kind().count(info.removed_at_touching)),
        );
    }
    if info.specks > 0 {
        listing.row("omitted", format!("{} smaller than a cell", count(info.specks, "speck", "specks")));
    }
}

/// Reports the volume of the elements and the volume that is filled.
fn say_of_fill(listing: &mut Listing, mesh: &VolumeMesh) {
    let filled = mesh.mass_properties(&vec![1.0; mesh.regions().len()]).mass;
    listing.row("volume", format!("{} m³, filled with {} m³", number(mesh.volume()), number(filled)));
}

/// Checks, before the work is done, that a mesh and its embedded surface can be written to a file.
fn check_output(output: &Path, surface: &Path, carries: bool) -> anyhow::Result<()> {
    let Some(format) = Format::of(output) else {
        bail!("{}: unknown extension; `pliant mesh formats` lists the supported formats", output.display());
    };
    if carries && !format.can_write_volume() {
        bail!(
            "{}: {} files cannot store volume elements in which to embed the surface; use .veg, .msh or .vtu",
            output.display(),
            format.name
        );
    }
    if let (Ok(there), Ok(surface)) = (output.canonicalize(), surface.canonicalize())
        && there == surface
    {
        bail!("{}: the mesh would overwrite the surface; choose another name", output.display());
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
    listing: Listing,
    mut notes: Vec<String>,
) -> anyhow::Result<Done> {
    let tie = output.with_extension("interp");
    if embedding.is_some() && tie == output {
        bail!("{}: expected the name of a mesh file; the .interp file is written next to it", output.display());
    }
    let mesh = Mesh::Volume(mesh);
    notes.extend(io::write(output, &mesh, &WriteOptions::default())?);
    let mut text = listing.into_text() + &wrote(output, &mesh);
    if let Some(embedding) = embedding {
        io::write_interp(&tie, embedding)?;
        text += &format!("wrote {}: {}\n", tie.display(), count(embedding.len(), "point", "points"));
    }
    Ok(Done { notes, ..Done::text(text) })
}
