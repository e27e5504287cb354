//! Estimate of the number of tetrahedra that a surface is meshed with.

use super::lattice::MIN_CELLS;
use crate::mesh::SurfaceMesh;

/// Maximum number of cells along the longest side that is chosen.
const MAX_CELLS: usize = 1000;

/// Estimate of the number of tetrahedra that mesh a surface, by the number of cells along its longest side.
///
/// A cell of edge length `h` has twelve tetrahedra, and more if the boundary cuts it. A [cage](super::cage()) exceeds
/// its surface by a fraction of a cell. With the volume `V`, the area `A` and the mean side `L` of the bounding box,
/// both counts are about `12 V / h³ + a A / h² + b L / h`. The factors `a` and `b` were fitted to balls, boxes, rods,
/// plates, rings and gyroids.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolution {
    /// Coefficient of the volume, relative to the cube of the longest side.
    volume: f64,
    /// Coefficient of the area, relative to the square of the longest side.
    area: f64,
    /// Coefficient of the length, relative to the longest side.
    length: f64,
}

impl Resolution {
    /// Returns the estimate for tetrahedra that fill a surface.
    pub fn filled(surface: &SurfaceMesh) -> Self {
        Self::new(surface, 4.0, 0.0)
    }

    /// Returns the estimate for tetrahedra that contain a surface.
    pub fn cage(surface: &SurfaceMesh) -> Self {
        Self::new(surface, 9.0, 20.0)
    }

    fn new(surface: &SurfaceMesh, per_area: f64, per_length: f64) -> Self {
        let [low, high] = surface.bounding_box();
        let sides = high - low;
        let longest = sides.max_element();
        // An open surface counts twice, since it is covered on both sides.
        let report = surface.report();
        let faces = if report.open_edges > 0 && surface.enclosed_volume().abs() < 1e-3 * sides.element_product() {
            2.0
        } else {
            1.0
        };
        Self {
            // Misoriented faces cannot make the volume larger than the box.
            volume: 12.0 * (surface.enclosed_volume().abs() / longest.powi(3)).min(1.0),
            area: per_area * faces * surface.area() / (longest * longest),
            length: per_length * sides.element_sum() / (3.0 * longest),
        }
    }

    /// Returns the expected number of tetrahedra with `cells` cells along the longest side.
    pub fn tetrahedra(&self, cells: usize) -> f64 {
        let n = cells as f64;
        ((self.volume * n + self.area) * n + self.length) * n
    }

    /// Returns the number of cells along the longest side whose number of tetrahedra is nearest to `tetrahedra`.
    pub fn cells(&self, tetrahedra: usize) -> usize {
        let wanted = tetrahedra as f64;
        let (mut low, mut high) = (MIN_CELLS, MAX_CELLS);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.tetrahedra(middle) <= wanted { low = middle } else { high = middle }
        }
        let distance = |cells: usize| (self.tetrahedra(cells) / wanted).ln().abs();
        if distance(high) < distance(low) { high } else { low }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MeshingParams, Surface, cage, fill_surface, tetrahedralize};
    use super::*;
    use crate::geometry::ImplicitSolid;
    use crate::math::Vec3;
    use crate::mesh::{Cells, generate};

    fn surface_of(solid: &ImplicitSolid) -> SurfaceMesh {
        tetrahedralize(solid, &MeshingParams { cells: 30, ..MeshingParams::default() }).unwrap().mesh.boundary().surface
    }

    #[test]
    fn surfaces_of_any_shape_have_about_the_number_of_tetrahedra_that_is_wanted() {
        let block = |size: [f64; 3]| generate::block(size, [1; 3], Cells::Tet5).unwrap().boundary().surface;
        let surfaces = [
            ("cube", block([1.0; 3])),
            ("plate", block([1.0, 1.0, 0.05])),
            ("rod", block([1.0, 0.05, 0.05])),
            ("ball", surface_of(&ImplicitSolid::ball(Vec3::ZERO, 1.0))),
            ("ring", surface_of(&ImplicitSolid::Torus { ring_radius: 1.0, tube_radius: 0.3 })),
        ];
        for (name, surface) in &surfaces {
            let fit = Surface::new(surface).unwrap();
            for wanted in [2000, 4000, 8000] {
                let params = |resolution: Resolution| MeshingParams {
                    cells: resolution.cells(wanted),
                    ..MeshingParams::default()
                };
                let caged = cage(surface, &fit, &params(Resolution::cage(surface))).unwrap().mesh.element_count();
                let ratio = caged as f64 / wanted as f64;
                assert!((0.5..2.0).contains(&ratio), "{name}, cage: {caged} of {wanted}");
                // If filled with few elements, thin surfaces are lost, which is an error.
                if matches!(*name, "plate" | "rod") {
                    continue;
                }
                let filled = fill_surface(&fit, &params(Resolution::filled(surface))).unwrap().0.mesh.element_count();
                let ratio = filled as f64 / wanted as f64;
                assert!((0.5..2.0).contains(&ratio), "{name}, filled: {filled} of {wanted}");
            }
        }
    }
}
