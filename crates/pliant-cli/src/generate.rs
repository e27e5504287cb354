//! `pliant mesh generate`: simple bodies.

use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use pliant::mesh::generate::GenerateError;
use pliant::mesh::{Material, SplitError, VolumeMesh};
use pliant::scene::quantity::{Density, Length, Pressure};
use pliant::scene::{Shape, ShapeError, Solid, SolidSource};

/// A body to make. Lengths are in m or with a unit such as "5 cm", y is up; every number has a default.
#[derive(Debug, Subcommand)]
pub enum Body {
    /// A box from the origin.
    ///
    /// Names the vertex sets x-min, x-max, y-min, y-max, z-min and z-max.
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
    /// A beam along x, its axis through the origin.
    ///
    /// Names the vertex sets start and end.
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
        /// Cells along the shorter side of the section.
        #[arg(long, default_value_t = 4)]
        across: usize,
        #[command(flatten)]
        common: Common,
    },
    /// A cylinder that stands on the plane y = 0.
    ///
    /// Names the vertex sets bottom, top and side.
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
        /// Cells along the height [default: about as high as wide].
        #[arg(long)]
        layers: Option<usize>,
        #[command(flatten)]
        common: Common,
    },
    /// A ball around the origin.
    ///
    /// Names the vertex set surface.
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
    /// A ring around the y axis.
    ///
    /// Names the vertex set surface.
    #[command(allow_negative_numbers = true)]
    Torus {
        /// From the middle of the ring to the middle of its tube.
        #[arg(long, default_value_t = Length::new(0.5))]
        ring_radius: Length,
        /// Radius of the tube.
        #[arg(long, default_value_t = Length::new(0.2))]
        tube_radius: Length,
        /// Cells along the diameter of the tube.
        #[arg(long, default_value_t = 6)]
        across: usize,
        /// Cells around the ring, an even number for tet5 [default: about as long as wide].
        #[arg(long)]
        sectors: Option<usize>,
        #[command(flatten)]
        common: Common,
    },
    /// A solid put together from balls, rings, rounded boxes, capsules and gyroids, written as scenes have it; always of tetrahedra.
    ///
    /// Names the vertex set surface. For example: '{ difference = { of = { ball = { radius = 1 } }, without = [{ capsule = { start = [-2, 0, 0], end
    /// = [2, 0, 0], radius = 0.4 } }] } }'
    #[command(allow_negative_numbers = true)]
    Solid {
        /// The solid, in TOML; docs/scene-format.md lists what there is.
        solid: Solid,
        /// Cells along the longest side; a cell has twelve tetrahedra.
        #[arg(long, default_value_t = 24)]
        cells: usize,
        /// How often the size of cells may double towards the inside.
        #[arg(long, default_value_t = 0)]
        grading: u32,
        #[command(flatten)]
        file: MeshFile,
    },
}

/// What every body takes.
#[derive(Debug, Args)]
pub struct Common {
    /// What to build of.
    #[arg(long, value_enum, default_value = "tet5")]
    elements: Elements,
    #[command(flatten)]
    pub file: MeshFile,
}

/// A mesh to write, and what it is made of.
#[derive(Debug, Args)]
pub struct MeshFile {
    /// The file to write; its extension chooses the format.
    #[arg(short, long)]
    pub output: std::path::PathBuf,
    /// Mass per volume, in kg/m³ or such as "1.1 g/cm^3".
    #[arg(long, requires_all = ["young", "poisson"])]
    density: Option<Density>,
    /// Young's modulus, in Pa or such as "1 MPa".
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

    /// The mesh with its regions made of what was given, if anything was.
    pub fn made_of(&self, mesh: VolumeMesh) -> anyhow::Result<VolumeMesh> {
        let (Some(density), Some(young), Some(poisson)) = (self.density, self.young, self.poisson) else {
            return Ok(mesh);
        };
        let mut data = mesh.into_data();
        for region in &mut data.regions {
            region.material = Some(Material::isotropic("material", density.si, young.si, poisson));
        }
        Ok(VolumeMesh::check(data)?.mesh)
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Elements {
    /// Hexahedra.
    Hex,
    /// Five tetrahedra a cell.
    Tet5,
    /// Six tetrahedra a cell.
    Tet6,
}

impl Body {
    /// The mesh, with the material if one was given, and what is worth knowing.
    pub fn make(&self) -> anyhow::Result<(VolumeMesh, Vec<String>)> {
        let made = self.shape().make(&mut |name| Err(format!("{name}: generated bodies need no file")));
        let made = made.map_err(|error| match error {
            ShapeError::Generate(GenerateError::Split(SplitError::OddRing { .. })) => {
                anyhow!("--sectors must be an even number for --elements tet5; tet6 and hex take any")
            }
            error => error.into(),
        })?;
        Ok((self.file().made_of(made.mesh)?, made.notes))
    }

    /// Where to write it, and what it is made of.
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

    fn shape(&self) -> Shape {
        // More than fit are refused, as they would be in full.
        let count = |cells: usize| u32::try_from(cells).unwrap_or(u32::MAX);
        match *self {
            // The argument parser lets exactly three values pass.
            Self::Box { ref size, ref cells, ref common } => Shape::Box {
                size: std::array::from_fn(|i| size[i]),
                cells: std::array::from_fn(|i| count(cells[i])),
                elements: common.elements.into(),
            },
            Self::Beam { length, height, width, across, ref common } => {
                Shape::Beam { length, height, width, across: count(across), elements: common.elements.into() }
            }
            Self::Cylinder { radius, height, across, layers, ref common } => Shape::Cylinder {
                radius,
                height,
                across: count(across),
                layers: layers.map(count),
                elements: common.elements.into(),
            },
            Self::Ball { radius, across, ref common } => {
                Shape::Ball { radius, across: count(across), elements: common.elements.into() }
            }
            Self::Torus { ring_radius, tube_radius, across, sectors, ref common } => Shape::Torus {
                ring_radius,
                tube_radius,
                across: count(across),
                sectors: sectors.map(count),
                elements: common.elements.into(),
            },
            Self::Solid { ref solid, cells, grading, .. } => {
                Shape::Filled { of: SolidSource::Solid(solid.clone()), cells: count(cells), grading }
            }
        }
    }
}

impl From<Elements> for pliant::scene::Elements {
    fn from(elements: Elements) -> Self {
        match elements {
            Elements::Hex => Self::Hex,
            Elements::Tet5 => Self::Tet5,
            Elements::Tet6 => Self::Tet6,
        }
    }
}
