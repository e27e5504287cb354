//! `pliant mesh generate`: simple bodies.

use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use pliant::mesh::generate::GenerateError;
use pliant::mesh::{MaterialData, SplitError, VolumeMesh};
use pliant_scene::scene::quantity::{Density, Length, Pressure};
use pliant_scene::scene::{Generator, ShapeError, Solid, SolidSource};

/// Body to generate. Lengths are in m or have a unit, as in "5 cm". The y axis points up, and every parameter has a
/// default.
#[derive(Debug, Subcommand)]
pub enum Body {
    /// A box with one corner at the origin.
    ///
    /// Defines the vertex sets x-min, x-max, y-min, y-max, z-min and z-max.
    #[command(visible_alias = "block", allow_negative_numbers = true)]
    Box {
        /// Length along x, y and z.
        #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [1.0, 1.0, 1.0].map(Length::new))]
        size: Vec<Length>,
        /// Cells along x, y and z.
        #[arg(long, num_args = 3, value_names = ["NX", "NY", "NZ"], default_values_t = [8, 8, 8])]
        cells: Vec<usize>,
        #[command(flatten)]
        common: Common,
    },
    /// A beam along x, centered on the x axis.
    ///
    /// Defines the vertex sets start and end.
    #[command(allow_negative_numbers = true)]
    Beam {
        /// Length along x.
        #[arg(long, default_value_t = Length::new(1.0))]
        length: Length,
        /// Height along y.
        #[arg(long, default_value_t = Length::new(0.2))]
        height: Length,
        /// Width along z.
        #[arg(long, default_value_t = Length::new(0.2))]
        width: Length,
        /// Cells along the shorter side of the cross-section.
        #[arg(long, default_value_t = 4)]
        across: usize,
        #[command(flatten)]
        common: Common,
    },
    /// A cylinder standing on the plane y = 0.
    ///
    /// Defines the vertex sets bottom, top and side.
    #[command(allow_negative_numbers = true)]
    Cylinder {
        /// Radius.
        #[arg(long, default_value_t = Length::new(0.5))]
        radius: Length,
        /// Height along y.
        #[arg(long, default_value_t = Length::new(1.0))]
        height: Length,
        /// Cells along the diameter.
        #[arg(long, default_value_t = 8)]
        across: usize,
        /// Cells along the height [default: about equal in height and width].
        #[arg(long)]
        layers: Option<usize>,
        #[command(flatten)]
        common: Common,
    },
    /// A ball centered at the origin.
    ///
    /// Defines the vertex set surface.
    #[command(allow_negative_numbers = true)]
    Ball {
        /// Radius.
        #[arg(long, default_value_t = Length::new(0.5))]
        radius: Length,
        /// Cells along the diameter.
        #[arg(long, default_value_t = 8)]
        across: usize,
        #[command(flatten)]
        common: Common,
    },
    /// A torus around the y axis.
    ///
    /// Defines the vertex set surface.
    #[command(allow_negative_numbers = true)]
    Torus {
        /// Major radius, from the center of the torus to the center of its tube.
        #[arg(long, default_value_t = Length::new(0.5))]
        ring_radius: Length,
        /// Minor radius, of the tube.
        #[arg(long, default_value_t = Length::new(0.2))]
        tube_radius: Length,
        /// Cells along the diameter of the tube.
        #[arg(long, default_value_t = 6)]
        across: usize,
        /// Cells around the torus, an even number for tet5 [default: about equal in length and width].
        #[arg(long)]
        sectors: Option<usize>,
        #[command(flatten)]
        common: Common,
    },
    /// A solid composed of balls, tori, rounded boxes, capsules and gyroids, in the syntax of scenes; always of
    /// tetrahedra.
    ///
    /// Defines the vertex set surface. For example: '{ difference = { of = { ball = { radius = 1 } }, without = [{
    /// capsule = { start = [-2, 0, 0], end = [2, 0, 0], radius = 0.4 } }] } }'
    #[command(allow_negative_numbers = true)]
    Solid {
        /// Solid in TOML syntax; docs/scene-format.md lists the shapes.
        solid: Solid,
        /// Cells along the longest side; a cell has twelve tetrahedra.
        #[arg(long, default_value_t = 24)]
        cells: usize,
        /// Maximum number of times that the cell size doubles towards the interior.
        #[arg(long, default_value_t = 0)]
        grading: u32,
        #[command(flatten)]
        file: MeshFile,
    },
}

/// Options of all bodies.
#[derive(Debug, Args)]
pub struct Common {
    /// Type of elements.
    #[arg(long, value_enum, default_value = "tet5")]
    elements: Elements,
    #[command(flatten)]
    pub file: MeshFile,
}

/// Mesh file to write, and the material of the mesh.
#[derive(Debug, Args)]
pub struct MeshFile {
    /// File to write; its extension chooses the format.
    #[arg(short, long)]
    pub output: std::path::PathBuf,
    /// Density, in kg/m³ or with a unit, as in "1.1 g/cm^3".
    #[arg(long, requires_all = ["young", "poisson"])]
    density: Option<Density>,
    /// Young's modulus, in Pa or with a unit, as in "1 MPa".
    #[arg(long, value_name = "PRESSURE", requires_all = ["density", "poisson"])]
    young: Option<Pressure>,
    /// Poisson's ratio.
    #[arg(long, requires_all = ["density", "young"])]
    poisson: Option<f64>,
}

impl MeshFile {
    pub fn has_no_density(&self) -> bool {
        self.density.is_none()
    }

    /// Returns the mesh with the given material in all regions, if there is one.
    pub fn made_of(&self, mesh: VolumeMesh) -> anyhow::Result<VolumeMesh> {
        let (Some(density), Some(young), Some(poisson)) = (self.density, self.young, self.poisson) else {
            return Ok(mesh);
        };
        let mut labels = mesh.labels();
        for region in &mut labels.regions {
            region.material = Some(MaterialData::isotropic("material", density.si, young.si, poisson));
        }
        Ok(mesh.with_labels(labels)?.mesh)
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Elements {
    /// Hexahedra.
    Hex,
    /// Five tetrahedra per cell.
    Tet5,
    /// Six tetrahedra per cell.
    Tet6,
}

impl Body {
    /// Generates the mesh, with the material if one was given, and notes about it.
    pub fn make(&self) -> anyhow::Result<(VolumeMesh, Vec<String>)> {
        let made = self.shape().make(&mut |name| Err(format!("{name}: generated bodies read no files")));
        let made = made.map_err(|error| match error {
            ShapeError::Generate(GenerateError::Split(SplitError::OddRing { .. })) => {
                anyhow!("--sectors must be an even number for --elements tet5; tet6 and hex take any")
            }
            error => error.into(),
        })?;
        Ok((self.file().made_of(made.mesh)?, made.notes))
    }

    /// Returns the file to write and the material.
    pub fn file(&self) -> &MeshFile {
        match self {
            Self::Box { common, .. }
            | Self::Beam { common, .. }
            | Self::Cylinder { common, .. }
            | Self::Ball { common, .. }
            | Self::Torus { common, .. } => &common.file,
            Self::Solid { file, .. } => file,
        }
    }

    fn shape(&self) -> Generator {
        // Larger numbers saturate, and are refused as too many cells.
        let count = |cells: usize| u32::try_from(cells).unwrap_or(u32::MAX);
        match *self {
            // The argument parser accepts exactly three values.
            Self::Box { ref size, ref cells, ref common } => Generator::Box {
                size: std::array::from_fn(|i| size[i]),
                cells: std::array::from_fn(|i| count(cells[i])),
                elements: common.elements.into(),
            },
            Self::Beam { length, height, width, across, ref common } => {
                Generator::Beam { length, height, width, across: count(across), elements: common.elements.into() }
            }
            Self::Cylinder { radius, height, across, layers, ref common } => Generator::Cylinder {
                radius,
                height,
                across: count(across),
                layers: layers.map(count),
                elements: common.elements.into(),
            },
            Self::Ball { radius, across, ref common } => {
                Generator::Ball { radius, across: count(across), elements: common.elements.into() }
            }
            Self::Torus { ring_radius, tube_radius, across, sectors, ref common } => Generator::Torus {
                ring_radius,
                tube_radius,
                across: count(across),
                sectors: sectors.map(count),
                elements: common.elements.into(),
            },
            Self::Solid { ref solid, cells, grading, .. } => {
                Generator::Filled { of: SolidSource::Solid(solid.clone()), cells: count(cells), grading }
            }
        }
    }
}

impl From<Elements> for pliant_scene::scene::Elements {
    fn from(elements: Elements) -> Self {
        match elements {
            Elements::Hex => Self::Hex,
            Elements::Tet5 => Self::Tet5,
            Elements::Tet6 => Self::Tet6,
        }
    }
}
