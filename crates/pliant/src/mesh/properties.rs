//! Volume, mass, center of mass and inertia of a body at rest.
//!
//! Moments are exact for the piecewise linear or trilinear body. Tetrahedra use a closed form, hexahedra the Gauss rule
//! of the necessary degree.

use std::ops::AddAssign;

use thiserror::Error;

use super::shape::{self, gauss_2, gauss_3, hex_jacobian, hex_point, hex_weights};
use super::{ElementKind, VolumeMesh};
use crate::geometry::bounding_box;
use crate::math::{Mat3, Vec3, outer, par_sum};

/// Mass, center of mass and inertia.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MassProperties {
    /// Mass \[kg\].
    pub mass: f64,
    /// Center of mass \[m\].
    pub center_of_mass: Vec3,
    /// Inertia tensor about the center of mass \[kg m²\].
    pub inertia: Mat3,
}

/// Error for a region without a density, which makes the mass of the body unknown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("region `{region}` has no density")]
#[non_exhaustive]
pub struct MissingDensity {
    /// Name of the region.
    pub region: String,
}

/// Moments `∫ρ`, `∫ρx` and `∫ρxxᵀ`.
#[derive(Clone, Copy)]
struct Moments {
    mass: f64,
    first: Vec3,
    second: Mat3,
}

impl Moments {
    const ZERO: Self = Self { mass: 0.0, first: Vec3::ZERO, second: Mat3::ZERO };
}

impl AddAssign for Moments {
    fn add_assign(&mut self, other: Self) {
        self.mass += other.mass;
        self.first += other.first;
        self.second += other.second;
    }
}

impl VolumeMesh {
    /// Returns the volume of element `index` \[m³\].
    pub fn element_volume(&self, index: usize) -> f64 {
        self.element_volume_with(index, |vertex| self.vertices()[vertex as usize])
    }

    fn element_volume_with(&self, index: usize, position: impl Fn(u32) -> Vec3) -> f64 {
        let element = self.element(index);
        match self.kind() {
            ElementKind::Tet4 => shape::tet_edges(&std::array::from_fn(|i| position(element[i]))).determinant() / 6.0,
            ElementKind::Hex8 => {
                let corners = std::array::from_fn(|i| position(element[i]));
                gauss_2().map(|(xi, w)| w * hex_jacobian(&corners, xi).determinant()).sum()
            }
        }
    }

    /// Returns the volume of the body \[m³\].
    pub fn volume(&self) -> f64 {
        par_sum(0.0, self.element_count(), |e| self.element_volume(e))
    }

    /// Returns the volume of the body with its vertices at other positions \[m³\]; inverted elements count as negative.
    pub fn volume_with(&self, position: impl Fn(u32) -> Vec3 + Sync) -> f64 {
        par_sum(0.0, self.element_count(), |e| self.element_volume_with(e, &position))
    }

    /// Returns the minimum and maximum corner of the bounding box of the vertices that elements use.
    pub fn bounding_box(&self) -> [Vec3; 2] {
        bounding_box(self.connectivity().iter().map(|&v| self.vertices()[v as usize]))
    }

    /// Returns the density of each region, from its material.
    pub fn densities(&self) -> Result<Vec<f64>, MissingDensity> {
        let density = |region: &super::Region| {
            let density = region.material.as_ref().and_then(|material| material.density);
            density.ok_or_else(|| MissingDensity { region: region.name.clone() })
        };
        self.regions().iter().map(density).collect()
    }

    /// Computes mass, center of mass and inertia, with one density per region.
    ///
    /// # Panics
    /// If there are fewer densities than regions.
    pub fn mass_properties(&self, densities: &[f64]) -> MassProperties {
        let (mass, center_of_mass, second) = self.second_moment(densities);
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        MassProperties { mass, center_of_mass, inertia: Mat3::from_diagonal(Vec3::splat(trace)) - second }
    }

    /// Computes the mass, the center of mass `c` and the second moment `∫ρ (x − c)(x − c)ᵀ`, with one density per
    /// region.
    ///
    /// # Panics
    /// If there are fewer densities than regions.
    pub(super) fn second_moment(&self, densities: &[f64]) -> (f64, Vec3, Mat3) {
        // Measured from the center of the body, to lose no digits if the body is far from the origin.
        let [low, high] = self.bounding_box();
        let origin = 0.5 * (low + high);
        let total = par_sum(Moments::ZERO, self.element_count(), |e| {
            let density = self.element_fill(e) * densities[self.element_region()[e] as usize];
            match self.kind() {
                ElementKind::Tet4 => tet_moments(&self.tet(e).map(|x| x - origin), density),
                ElementKind::Hex8 => hex_moments(&self.hex(e).map(|x| x - origin), density),
            }
        });
        let center = total.first / total.mass;
        (total.mass, origin + center, total.second - total.mass * outer(center, center))
    }

    /// Computes the lumped mass of each vertex (row sums of the consistent mass matrix), with one density per region.
    ///
    /// # Panics
    /// If there are fewer densities than regions.
    pub fn lumped_masses(&self, densities: &[f64]) -> Vec<f64> {
        let mut masses = vec![0.0; self.vertex_count()];
        for (e, nodes) in self.elements().enumerate() {
            let density = self.element_fill(e) * densities[self.element_region()[e] as usize];
            match self.kind() {
                ElementKind::Tet4 => {
                    let share = density * self.element_volume(e) / 4.0;
                    nodes.iter().for_each(|&v| masses[v as usize] += share);
                }
                ElementKind::Hex8 => {
                    let corners = self.hex(e);
                    for (xi, w) in gauss_2() {
                        let mass = w * density * hex_jacobian(&corners, xi).determinant();
                        nodes.iter().zip(hex_weights(xi)).for_each(|(&v, n)| masses[v as usize] += n * mass);
                    }
                }
            }
        }
        masses
    }
}

/// Computes the moments of a tetrahedron: `∫xxᵀ = V/20 (Σxᵢxᵢᵀ + (Σxᵢ)(Σxᵢ)ᵀ)`.
fn tet_moments(corners: &[Vec3; 4], density: f64) -> Moments {
    let mass = density * shape::tet_edges(corners).determinant() / 6.0;
    let sum: Vec3 = corners.iter().sum();
    let squares = corners.iter().fold(outer(sum, sum), |m, &x| m + outer(x, x));
    Moments { mass, first: mass * sum / 4.0, second: squares * (mass / 20.0) }
}

/// Computes the moments of a hexahedron. The integrand of the second moment has degree 4 in each reference coordinate,
/// which needs 3×3×3 points.
fn hex_moments(corners: &[Vec3; 8], density: f64) -> Moments {
    let mut total = Moments::ZERO;
    for (xi, w) in gauss_3() {
        let mass = w * density * hex_jacobian(corners, xi).determinant();
        let x = hex_point(corners, xi);
        total += Moments { mass, first: mass * x, second: outer(x, x) * mass };
    }
    total
}
