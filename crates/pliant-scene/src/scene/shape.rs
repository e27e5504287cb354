//! Sources of meshes: files and generators.

use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::quantity::{Length, dimension};
use super::{Quantity, SolidError, SolidSource, Vector, bounds, text_or_table};
use pliant::math::short_number;
use pliant::mesh::generate::{self, GenerateError};
use pliant::mesh::{Cells, SurfaceMesh, VolumeMesh};
use pliant::meshing::{
    MeshingError, MeshingParams, Surface, cage, carrying_limits, fill_surface, fused_pieces, tetrahedralize, voxelize,
};

/// Mesh: the name of a file, relative to the scene file, or a shape.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MeshSource {
    /// Name of a file in any format that `pliant mesh` reads.
    File(String),
    /// Generated mesh.
    Generator(Generator),
}

impl<'de> Deserialize<'de> for MeshSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a mesh file, or a table such as { box = { size = [1, 1, 1], cells = [4, 4, 4] } }";
        text_or_table(deserializer, expected, Self::File, Self::Generator)
    }
}

/// Generated mesh: a simple body, or the volume mesh of a surface or solid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Generator {
    /// A box with its minimum corner at the origin. Sets: `x-min`, `x-max`, `y-min`, `y-max`, `z-min`, `z-max`.
    Box {
        /// Edge lengths along x, y and z.
        #[schemars(transform = bounds::positive)]
        size: Vector<dimension::Length>,
        /// Number of cells along x, y and z.
        #[schemars(inner(range(min = 1)))]
        cells: [u32; 3],
        /// Type of elements.
        #[serde(default)]
        elements: Elements,
    },
    /// A beam along x whose axis passes through the origin. Sets: `start`, `end`.
    Beam {
        /// Length along x.
        #[schemars(transform = bounds::positive)]
        length: Length,
        /// Height along y.
        #[schemars(transform = bounds::positive)]
        height: Length,
        /// Width along z.
        #[schemars(transform = bounds::positive)]
        width: Length,
        /// Number of cells along the shorter side of the cross section.
        #[serde(default = "four")]
        #[schemars(range(min = 1))]
        across: u32,
        /// Type of elements.
        #[serde(default)]
        elements: Elements,
    },
    /// A cylinder that stands on the plane y = 0. Sets: `bottom`, `top`, `side`.
    Cylinder {
        /// Radius of the cylinder.
        #[schemars(transform = bounds::positive)]
        radius: Length,
        /// Height along y.
        #[schemars(transform = bounds::positive)]
        height: Length,
        /// Number of cells along the diameter.
        #[serde(default = "eight")]
        #[schemars(range(min = 3))]
        across: u32,
        /// Number of cells along the height; by default cells are about as high as wide.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        layers: Option<u32>,
        /// Type of elements.
        #[serde(default)]
        elements: Elements,
    },
    /// A ball centered at the origin. Set: `surface`.
    Ball {
        /// Radius of the ball.
        #[schemars(transform = bounds::positive)]
        radius: Length,
        /// Number of cells along the diameter.
        #[serde(default = "eight")]
        #[schemars(range(min = 3))]
        across: u32,
        /// Type of elements.
        #[serde(default)]
        elements: Elements,
    },
    /// A torus about the y axis, centered at the origin. Set: `surface`.
    Torus {
        /// Distance from the center of the torus to the center line of its tube.
        #[schemars(transform = bounds::positive)]
        ring_radius: Length,
        /// Radius of the tube.
        #[schemars(transform = bounds::positive)]
        tube_radius: Length,
        /// Number of cells along the diameter of the tube.
        #[serde(default = "six")]
        #[schemars(range(min = 3))]
        across: u32,
        /// Number of cells around the ring, even for `tet5`; by default cells are about as long as wide.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 3))]
        sectors: Option<u32>,
        /// Type of elements.
        #[serde(default)]
        elements: Elements,
    },
    /// Tetrahedral mesh of the interior of a surface, or of a solid. Set: `surface`.
    Filled {
        /// Surface or solid to fill.
        of: SolidSource,
        /// Number of cells along the longest side; a cell has twelve tetrahedra.
        #[serde(default = "twenty_four")]
        #[schemars(range(min = 2))]
        cells: u32,
        /// Maximum number of times that the cell size doubles towards the interior.
        #[serde(default)]
        grading: u32,
    },
    /// Tetrahedral cage around a surface, which is embedded in it and shown in pictures and animations. The body has
    /// the mass of the volume that the surface encloses. Set: `surface`.
    Cage {
        /// Name of a surface file, relative to the scene file.
        surface: String,
        /// Number of cells along the longest side.
        #[serde(default = "sixteen")]
        #[schemars(range(min = 2))]
        cells: u32,
        /// Maximum number of times that the cell size doubles towards the interior.
        #[serde(default)]
        grading: u32,
    },
    /// Cubes that contain a surface, which is embedded in them as in a cage.
    Voxels {
        /// Name of a surface file, relative to the scene file.
        surface: String,
        /// Number of cubes along the longest side.
        #[serde(default = "sixteen")]
        #[schemars(range(min = 2))]
        cells: u32,
    },
}

fn sixteen() -> u32 {
    16
}

fn twenty_four() -> u32 {
    24
}

fn four() -> u32 {
    4
}

fn six() -> u32 {
    6
}

fn eight() -> u32 {
    8
}

/// Type of the elements of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Elements {
    /// Five tetrahedra per cell.
    #[default]
    Tet5,
    /// Six tetrahedra per cell.
    Tet6,
    /// A hexahedron per cell.
    Hex,
}

impl Elements {
    fn cells(self) -> Cells {
        match self {
            Self::Tet5 => Cells::Tet5,
            Self::Tet6 => Cells::Tet6,
            Self::Hex => Cells::Hex,
        }
    }
}

/// Mesh that a shape generates.
#[derive(Debug, Clone)]
pub struct Made {
    /// Volume mesh.
    pub mesh: VolumeMesh,
    /// Surface that the mesh was generated to carry, if any.
    pub carries: Option<SurfaceMesh>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Error of generating the mesh of a shape.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum ShapeError {
    #[error(transparent)]
    Generate(#[from] GenerateError),
    #[error(transparent)]
    Solid(#[from] SolidError),
    #[error(transparent)]
    Meshing(#[from] MeshingError),
    #[error("{0}")]
    Surface(String),
}

/// Function that reads the surface with a name, or returns a message with the reason why it cannot.
pub type ReadSurface<'a> = dyn FnMut(&str) -> Result<SurfaceMesh, String> + 'a;

impl Generator {
    /// Returns the name of the surface file that the shape is generated from, if any.
    pub fn surface_file(&self) -> Option<&str> {
        match self {
            Self::Filled { of: SolidSource::Surface(name), .. }
            | Self::Cage { surface: name, .. }
            | Self::Voxels { surface: name, .. } => Some(name),
            _ => None,
        }
    }

    /// Generates the mesh. `read` reads surfaces from files.
    pub fn make(&self, read: &mut ReadSurface<'_>) -> Result<Made, ShapeError> {
        let (mut notes, mut more) = (Vec::new(), Vec::new());
        let mut surface = |name: &str| {
            let mesh = read(name).map_err(ShapeError::Surface)?;
            let surface = Surface::new(&mesh)?;
            notes.extend(surface.findings().lines());
            Ok::<_, ShapeError>((mesh, surface))
        };
        let count = |cells: u32| cells as usize;
        let mut carries = None;
        let mesh = match *self {
            Self::Box { size, cells, elements } => {
                generate::block(size.map(|side: Quantity<_>| side.si), cells.map(count), elements.cells())?
            }
            Self::Beam { length, height, width, across, elements } => {
                generate::beam(length.si, height.si, width.si, count(across), elements.cells())?
            }
            Self::Cylinder { radius, height, across, layers, elements } => {
                let layers = layers.map_or_else(|| cells_along(height.si, 2.0 * radius.si, across), count);
                generate::cylinder(radius.si, height.si, count(across), layers, elements.cells())?
            }
            Self::Ball { radius, across, elements } => generate::ball(radius.si, count(across), elements.cells())?,
            Self::Torus { ring_radius, tube_radius, across, sectors, elements } => {
                let (ring, tube) = (ring_radius.si, tube_radius.si);
                // Twice the number for half of the ring, so that the number is even.
                let around = || cells_along(TAU * ring, 4.0 * tube, across).max(2).saturating_mul(2);
                generate::torus(ring, tube, count(across), sectors.map_or_else(around, count), elements.cells())?
            }
            Self::Filled { of: SolidSource::Solid(ref solid), cells, grading } => {
                let form = solid.form()?;
                let body = tetrahedralize(&form, &MeshingParams { cells: count(cells), grading })?;
                if form.thickness() < body.info.cell {
                    more.push(format!(
                        "the solid has a feature {} m thick, thinner than a cell of {} m, which may be lost",
                        short_number(form.thickness()),
                        short_number(body.info.cell)
                    ));
                }
                body.mesh
            }
            Self::Filled { of: SolidSource::Surface(ref name), cells, grading } => {
                let (_, surface) = surface(name)?;
                let (body, thin) = fill_surface(&surface, &MeshingParams { cells: count(cells), grading })?;
                more.extend(fused_pieces(&surface, &body.mesh));
                more.extend(thin.map(|thin| thin.to_string()));
                body.mesh
            }
            Self::Cage { surface: ref name, cells, grading } => {
                let (mesh, surface) = surface(name)?;
                let cage = cage(&mesh, &surface, &MeshingParams { cells: count(cells), grading })?;
                let info = &cage.info;
                more.extend(carrying_limits(&mesh, &surface, &cage.mesh, info.body.cell, info.enclosed)?);
                carries = Some(mesh);
                cage.mesh
            }
            Self::Voxels { surface: ref name, cells } => {
                let (mesh, surface) = surface(name)?;
                let voxels = voxelize(&surface, count(cells))?;
                more.extend(carrying_limits(&mesh, &surface, &voxels.mesh, voxels.cell, voxels.enclosed)?);
                carries = Some(mesh);
                voxels.mesh
            }
        };
        notes.extend(more);
        Ok(Made { mesh, carries, notes })
    }
}

/// Returns the number of cells along `length`, at least one, if there are `across` along `width`.
fn cells_along(length: f64, width: f64, across: u32) -> usize {
    ((length / width * f64::from(across)).round() as usize).max(1)
}
