//! Where meshes come from: files and generators.

use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::quantity::{Length, dimension};
use super::{Quantity, SolidError, SolidSource, Vector, bounds, text_or_table};
use crate::math::short_number;
use crate::mesh::generate::{self, GenerateError};
use crate::mesh::{Cells, SurfaceMesh, VolumeMesh};
use crate::meshing::{
    MeshingError, Params, Surface, cage, carrying_limits, fill_surface, fused_pieces, tetrahedralize, voxelize,
};

/// A mesh: the name of a file, relative to that of the scene, or a shape.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MeshSource {
    /// Any format that `pliant mesh` reads.
    File(String),
    /// A simple body.
    Shape(Shape),
}

impl<'de> Deserialize<'de> for MeshSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a mesh file, or a table such as { box = { size = [1, 1, 1], cells = [4, 4, 4] } }";
        text_or_table(deserializer, expected, Self::File, Self::Shape)
    }
}

/// A simple body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A box from the origin. Sets: `x-min`, `x-max`, `y-min`, `y-max`, `z-min`, `z-max`.
    Box {
        /// Its length along x, y and z.
        #[schemars(transform = bounds::positive)]
        size: Vector<dimension::Length>,
        /// Cells along x, y and z.
        #[schemars(inner(range(min = 1)))]
        cells: [u32; 3],
        /// What it is built of.
        #[serde(default)]
        elements: Elements,
    },
    /// A beam along x, its axis through the origin. Sets: `start`, `end`.
    Beam {
        /// Along x.
        #[schemars(transform = bounds::positive)]
        length: Length,
        /// Along y.
        #[schemars(transform = bounds::positive)]
        height: Length,
        /// Along z.
        #[schemars(transform = bounds::positive)]
        width: Length,
        /// Cells along the shorter side of the section.
        #[serde(default = "four")]
        #[schemars(range(min = 1))]
        across: u32,
        /// What it is built of.
        #[serde(default)]
        elements: Elements,
    },
    /// A cylinder that stands on the plane y = 0. Sets: `bottom`, `top`, `side`.
    Cylinder {
        /// Its radius.
        #[schemars(transform = bounds::positive)]
        radius: Length,
        /// Along y.
        #[schemars(transform = bounds::positive)]
        height: Length,
        /// Cells along the diameter.
        #[serde(default = "eight")]
        #[schemars(range(min = 3))]
        across: u32,
        /// Cells along the height; by default about as high as wide.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        layers: Option<u32>,
        /// What it is built of.
        #[serde(default)]
        elements: Elements,
    },
    /// A ball around the origin. Set: `surface`.
    Ball {
        /// Its radius.
        #[schemars(transform = bounds::positive)]
        radius: Length,
        /// Cells along the diameter.
        #[serde(default = "eight")]
        #[schemars(range(min = 3))]
        across: u32,
        /// What it is built of.
        #[serde(default)]
        elements: Elements,
    },
    /// A ring around the y axis. Set: `surface`.
    Torus {
        /// From the middle of the ring to the middle of its tube.
        #[schemars(transform = bounds::positive)]
        ring_radius: Length,
        /// Of the tube.
        #[schemars(transform = bounds::positive)]
        tube_radius: Length,
        /// Cells along the diameter of the tube.
        #[serde(default = "six")]
        #[schemars(range(min = 3))]
        across: u32,
        /// Cells around the ring, an even number for tet5; by default about as long as wide.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 3))]
        sectors: Option<u32>,
        /// What it is built of.
        #[serde(default)]
        elements: Elements,
    },
    /// Tetrahedra that fill what a surface encloses, or a solid. Set: `surface`.
    Filled {
        /// The surface, or the solid.
        of: SolidSource,
        /// Cells along the longest side; a cell has twelve tetrahedra.
        #[serde(default = "twenty_four")]
        #[schemars(range(min = 2))]
        cells: u32,
        /// How often the size of cells may double towards the inside.
        #[serde(default)]
        grading: u32,
    },
    /// Tetrahedra that contain all of a surface and carry it along: it is what pictures and animations show. The body weighs what the surface
    /// encloses. Set: `surface`.
    Cage {
        /// The name of a file, relative to that of the scene.
        surface: String,
        /// Cells along the longest side.
        #[serde(default = "sixteen")]
        #[schemars(range(min = 2))]
        cells: u32,
        /// How often the size of cells may double towards the inside.
        #[serde(default)]
        grading: u32,
    },
    /// Cubes that contain all of a surface and carry it along, as a cage does.
    Voxels {
        /// The name of a file, relative to that of the scene.
        surface: String,
        /// Cubes along the longest side.
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

/// What a shape is built of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Elements {
    /// Five tetrahedra a cell.
    #[default]
    Tet5,
    /// Six tetrahedra a cell.
    Tet6,
    /// Hexahedra.
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

/// What was made of a shape.
#[derive(Debug, Clone)]
pub struct Made {
    /// The mesh.
    pub mesh: VolumeMesh,
    /// The surface that the mesh was made to carry.
    pub carries: Option<SurfaceMesh>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Why a shape has no mesh.
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

/// What reads the surface of a name, or says why it cannot.
pub type ReadSurface<'a> = dyn FnMut(&str) -> Result<SurfaceMesh, String> + 'a;

impl Shape {
    /// Returns the name of the file with the surface that it is made of, if it is.
    pub fn surface_file(&self) -> Option<&str> {
        match self {
            Self::Filled { of: SolidSource::Surface(name), .. }
            | Self::Cage { surface: name, .. }
            | Self::Voxels { surface: name, .. } => Some(name),
            _ => None,
        }
    }

    /// The mesh, and what comes with it; `read` reads surfaces from files.
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
                // Twice as many as half of it takes, so that the number is even.
                let around = || cells_along(TAU * ring, 4.0 * tube, across).max(2).saturating_mul(2);
                generate::torus(ring, tube, count(across), sectors.map_or_else(around, count), elements.cells())?
            }
            Self::Filled { of: SolidSource::Solid(ref solid), cells, grading } => {
                let form = solid.form()?;
                let body = tetrahedralize(&form, &Params { cells: count(cells), grading })?;
                if form.thickness() < body.info.cell {
                    more.push(format!(
                        "a part of the solid is {} m thin, less than a cell of {} m: it may be lost",
                        short_number(form.thickness()),
                        short_number(body.info.cell)
                    ));
                }
                body.mesh
            }
            Self::Filled { of: SolidSource::Surface(ref name), cells, grading } => {
                let (_, surface) = surface(name)?;
                let (body, thin) = fill_surface(&surface, &Params { cells: count(cells), grading })?;
                more.extend(fused_pieces(&surface, &body.mesh));
                more.extend(thin.map(|thin| thin.to_string()));
                body.mesh
            }
            Self::Cage { surface: ref name, cells, grading } => {
                let (mesh, surface) = surface(name)?;
                let cage = cage(&mesh, &surface, &Params { cells: count(cells), grading })?;
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

/// How many cells make `length` if `across` of them make `width`; at least one.
fn cells_along(length: f64, width: f64, across: u32) -> usize {
    ((length / width * f64::from(across)).round() as usize).max(1)
}
