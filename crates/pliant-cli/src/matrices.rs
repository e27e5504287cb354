//! `pliant matrices`: the system matrices of a body, for other solvers.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use pliant::damping::Damping;
use pliant::files::{Disk, Files};
use pliant::force::{Conditions, Definiteness, Elastic, Force, bind_all_with};
use pliant::io;
use pliant::mass::MassMatrix;
use pliant::math::Vec3;
use pliant::matrix_io::{self, Array};
use pliant::mesh::ElementKind;
use pliant::sparse::{BlockMatrix, Csr};
use pliant_scene::scene::quantity::{Rate, Time};
use serde::Serialize;

use crate::Done;
use crate::material::MaterialArgs;
use crate::table::{Listing, count, number, to_json};

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct Matrices {
    /// Volume mesh in any supported format.
    mesh: PathBuf,
    /// Folder to write to; it is created if it does not exist.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Displacements of the vertices, in m: .npy, .mtx, or text with three numbers per line [default: zero].
    #[arg(short = 'u', long, value_name = "FILE")]
    displacement: Option<PathBuf>,
    /// Project the stiffness of each element onto the positive semi-definite matrices.
    #[arg(long)]
    project: bool,
    /// Lump the mass matrix, so that M is diagonal.
    #[arg(long)]
    lumped: bool,
    /// Mass-proportional damping, in 1/s or with a unit, as in "2 Hz": D = αM + βK.
    #[arg(long, value_name = "RATE", default_value_t = Rate::new(0.0))]
    alpha: Rate,
    /// Stiffness-proportional damping, in s or with a unit, as in "1 ms".
    #[arg(long, value_name = "TIME", default_value_t = Time::new(0.0))]
    beta: Time,
    /// Symmetric matrix to add to the damping, in kg/s.
    #[arg(long, value_name = "FILE.mtx")]
    damping_matrix: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    material: MaterialArgs,
}

/// Summary of the computed and written matrices.
#[derive(Debug, Serialize)]
struct Summary {
    folder: String,
    mesh: String,
    law: String,
    vertices: usize,
    elements: usize,
    kind: ElementKind,
    /// Elastic energy \[J\].
    energy: f64,
    max_force: MaxForce,
    /// Total mass \[kg\].
    mass: f64,
    /// Mass-proportional damping [1/s].
    alpha: f64,
    /// Stiffness-proportional damping \[s\].
    beta: f64,
    files: Vec<Written>,
}

#[derive(Debug, Default, Serialize)]
struct MaxForce {
    /// Magnitude \[N\].
    size: f64,
    vertex: usize,
}

#[derive(Debug, Serialize)]
struct Written {
    file: String,
    content: &'static str,
    rows: usize,
    columns: usize,
    /// Number of stored entries; both triangles of symmetric matrices count.
    entries: usize,
    /// Absent for vectors.
    symmetric: Option<bool>,
    bytes: u64,
}

/// Matrices and vectors to write.
struct System {
    stiffness: Csr,
    mass: Csr,
    damping: Csr,
    force: Vec<f64>,
}

impl Matrices {
    pub fn run(self) -> anyhow::Result<Done> {
        let loaded = io::read_volume(&self.mesh)?;
        let mut notes = loaded.report.lines();
        notes.extend(loaded.notes);
        let mesh = loaded.mesh;
        let vertices = mesh.vertex_count();

        let mut elastic = Elastic::new(&mesh, self.material.elasticity(&self.mesh, &mesh)?)?;
        let densities = self.material.densities(&self.mesh, &mesh)?;
        let damping = self.damping(vertices)?;
        let u = match &self.displacement {
            Some(file) => matrix_io::read_vertex_vectors(file, vertices)?,
            None => vec![0.0; 3 * vertices],
        };

        let pattern = bind_all_with(vertices, &mut [&mut elastic], |add| damping.cliques(add));
        let mut force = vec![0.0; u.len()];
        let mut stiffness = BlockMatrix::zero(pattern.clone());
        let definiteness = if self.project { Definiteness::Projected } else { Definiteness::Exact };
        let energy = elastic.energy(&u, &Conditions::START);
        elastic.add_gradient_and_stiffness(&u, &Conditions::START, definiteness, &mut force, &mut stiffness);
        if ![energy].iter().chain(&force).chain(stiffness.values()).all(|number| number.is_finite()) {
            bail!(
                "energy, force or stiffness are not finite at this displacement: elements are degenerate or inverted, where the \
                 law `{}` is not defined (--inversion clamp or extrapolate helps), or displacements are too large",
                self.material.law()
            );
        }
        let mass = if self.lumped {
            MassMatrix::lumped(&mesh, &densities)
        } else {
            MassMatrix::consistent(&mesh, &densities, &pattern)
        }?;
        let system = System {
            damping: damping.assemble(&mass, &stiffness).to_csr().without_zeros(),
            // With explicit zeros, so that the pattern is the same at every displacement.
            stiffness: stiffness.to_csr(),
            mass: mass.to_csr().without_zeros(),
            force,
        };
        // Checked before anything is written.
        for (what, matrix, flags) in
            [("mass", &system.mass, "--density"), ("damping", &system.damping, "--alpha or --beta")]
        {
            if !matrix.values.iter().all(|number| number.is_finite()) {
                bail!("the {what} matrix is not finite: {flags} is too large for this body");
            }
        }

        let summary = Summary {
            folder: self.output.display().to_string(),
            mesh: self.mesh.display().to_string(),
            law: self.material.law().into(),
            vertices,
            elements: mesh.element_count(),
            kind: mesh.kind(),
            energy,
            max_force: largest(&system.force),
            mass: mass.total(),
            alpha: self.alpha.si,
            beta: self.beta.si,
            files: self.write(&system)?,
        };
        let json = to_json(&summary)?;
        Disk.write(&self.output.join("summary.json"), json.as_bytes())?;
        Ok(Done { notes, ..Done::text(if self.json { json } else { summary.table() }) })
    }

    fn damping(&self, vertices: usize) -> anyhow::Result<Damping> {
        let damping = Damping::rayleigh(self.alpha.si, self.beta.si)?;
        Ok(match &self.damping_matrix {
            None => damping,
            Some(file) => {
                let matrix = matrix_io::read_matrix(file)?;
                damping.with_matrix(&matrix, vertices).with_context(|| file.display().to_string())?
            }
        })
    }

    fn write(&self, system: &System) -> anyhow::Result<Vec<Written>> {
        fs::create_dir_all(&self.output).with_context(|| self.output.display().to_string())?;
        let mut files = Vec::new();
        let matrices =
            [("K", "stiffness", &system.stiffness), ("M", "mass", &system.mass), ("D", "damping", &system.damping)];
        for (name, content, matrix) in matrices {
            let symmetric = Some(matrix.is_symmetric());
            for extension in ["mtx", "npz"] {
                let file = format!("{name}.{extension}");
                let path = self.output.join(&file);
                matrix_io::write_matrix(&path, matrix)?;
                let (size, entries, bytes) = (matrix.row_count(), matrix.values.len(), fs::metadata(&path)?.len());
                files.push(Written { file, content, rows: size, columns: size, entries, symmetric, bytes });
            }
        }
        let force = Array::vector(system.force.clone());
        for extension in ["mtx", "npy"] {
            let file = format!("force.{extension}");
            let path = self.output.join(&file);
            matrix_io::write_array(&path, &force)?;
            let (rows, bytes) = (system.force.len(), fs::metadata(&path)?.len());
            let content = "elastic force";
            files.push(Written { file, content, rows, columns: 1, entries: rows, symmetric: None, bytes });
        }
        Ok(files)
    }
}

/// Returns the largest force on a vertex, the first of equal ones.
fn largest(force: &[f64]) -> MaxForce {
    let (vertices, _) = force.as_chunks::<3>();
    let sizes = vertices.iter().map(|&force| Vec3::from(force).length()).enumerate();
    sizes.fold(MaxForce::default(), |max, (vertex, size)| if size > max.size { MaxForce { size, vertex } } else { max })
}

impl Summary {
    fn table(&self) -> String {
        let mut listing = Listing::default();
        listing.title(&self.folder, &format!("matrices of {}", self.mesh));
        listing.row("law", &self.law);
        listing
            .row("body", format!("{}, {}", count(self.vertices, "vertex", "vertices"), self.kind.count(self.elements)));
        listing.row("mass", format!("{} kg", number(self.mass)));
        listing.row("energy", format!("{} J", number(self.energy)));
        listing.row("largest force", format!("{} N at vertex {}", number(self.max_force.size), self.max_force.vertex));
        let rows: Vec<Vec<String>> = self
            .files
            .iter()
            .map(|file| {
                let symmetric = match file.symmetric {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "",
                };
                let size = format!("{} × {}", file.rows, file.columns);
                let (entries, bytes) = (file.entries.to_string(), file.bytes.to_string());
                vec![file.file.clone(), file.content.into(), size, entries, symmetric.into(), bytes]
            })
            .collect();
        listing.columns(&["file", "content", "size", "entries", "symmetric", "bytes"], &rows);
        listing.into_text()
    }
}
