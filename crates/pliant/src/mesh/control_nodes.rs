//! Control nodes of a body whose motion is affine.

use super::{ElementKind, FaceSets, Interpolation, Region, Sets, VolumeMesh};
use crate::math::{Mat3, Vec3};

/// Corners of a regular tetrahedron with center 0: `Σ tₐ = 0` and `Σ tₐ tₐᵀ = 4 I`.
const CORNERS: [Vec3; 4] =
    [Vec3::new(1.0, 1.0, 1.0), Vec3::new(1.0, -1.0, -1.0), Vec3::new(-1.0, -1.0, 1.0), Vec3::new(-1.0, 1.0, -1.0)];

/// Volume of that tetrahedron.
const VOLUME: f64 = 8.0 / 3.0;

/// Minimum of a principal second moment relative to the largest: a body is then a million times as long as it is thick.
const FLAT: f64 = 1e-12;

/// Four control nodes that describe all affine motions of a body, `x = A X + b`.
///
/// They are equimomental with the body \[Routh1905\]: four point masses `m/4` with its mass, center of mass and second
/// moments `S = ∫ρ (X − c)(X − c)ᵀ`. With `L Lᵀ = S/m`:
///
/// - node `Xₐ = c + L tₐ`, where `tₐ` are the corners of a regular tetrahedron;
/// - weights `wₐ(X) = ¼ (1 + tₐ·L⁻¹(X − c))`, the barycentric coordinates also outside of the tetrahedron.
///
/// As products of weights are quadratic, `∫ρ wₐ w_b = (m/4) δₐ_b`: the consistent mass matrix `WᵀMW` of the nodes is
/// diagonal, and gravity, momentum and impulses are those of four equal masses.
#[derive(Debug, Clone)]
pub struct ControlNodes {
    /// Tetrahedra between the four nodes, one per region of the body. Their fill fractions give each the volume of its
    /// region, which may be more than the tetrahedron has.
    pub mesh: VolumeMesh,
    /// Vertices of the body as weighted sums of the four nodes.
    pub vertices: Interpolation,
    /// Mass \[kg\].
    pub mass: f64,
}

impl ControlNodes {
    /// Creates the control nodes of a body with one density \[kg/m³\] per region. Returns `None` if it is so thin that
    /// affine motions are not distinguishable from rounding.
    ///
    /// # Panics
    /// If there are fewer densities than regions.
    pub fn new(body: &VolumeMesh, densities: &[f64]) -> Option<Self> {
        let (mass, center, second) = body.second_moment(densities);
        let root = cholesky(second * (1.0 / mass))?;
        let inverse = root.inverse();
        let weights = |&x: &Vec3| {
            let y = inverse * (x - center);
            CORNERS.map(|corner| 0.25 * (1.0 + corner.dot(y)))
        };
        let vertices = Interpolation::new(
            4,
            [0, 1, 2, 3].repeat(body.vertex_count()),
            body.vertices().iter().flat_map(weights).collect(),
            4,
        );
        let tet = VOLUME * root.determinant();
        let mut volumes = vec![0.0; body.regions().len()];
        for element in 0..body.element_count() {
            volumes[body.element_region()[element] as usize] +=
                body.element_fill(element) * body.element_volume(element);
        }
        let regions = body.regions().iter().zip(&volumes);
        let mesh = VolumeMesh {
            vertices: CORNERS.iter().map(|&corner| center + root * corner).collect(),
            kind: ElementKind::Tet4,
            elements: [0, 1, 2, 3].repeat(volumes.len()),
            regions: regions.map(|(region, volume)| Region { fill: volume / tet, ..region.clone() }).collect(),
            element_region: (0..volumes.len() as u32).collect(),
            vertex_sets: Sets::new(),
            element_sets: Sets::new(),
            face_sets: FaceSets::new(),
        };
        Some(Self { mesh, vertices, mass })
    }
}

/// Returns the lower triangular root of a matrix, or `None` if it is not clearly positive definite.
fn cholesky(a: Mat3) -> Option<Mat3> {
    let [x, y, z] = [a.x_axis, a.y_axis, a.z_axis];
    let min = FLAT * x.x.max(y.y).max(z.z);
    let root = |pivot: f64| (pivot > min).then(|| pivot.sqrt());
    let l00 = root(x.x)?;
    let (l10, l20) = (x.y / l00, x.z / l00);
    let l11 = root(y.y - l10 * l10)?;
    let l21 = (y.z - l20 * l10) / l11;
    let l22 = root(z.z - l20 * l20 - l21 * l21)?;
    Some(Mat3::from_cols(Vec3::new(l00, l10, l20), Vec3::new(0.0, l11, l21), Vec3::new(0.0, 0.0, l22)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Affine3, outer};
    use crate::mesh::shape::{gauss_3, hex_jacobian, hex_weights};
    use crate::mesh::{Cells, MeshData, generate};

    /// Returns bodies of tetrahedra and hexahedra far from the origin, with two regions of different density and fill.
    fn bodies() -> Vec<VolumeMesh> {
        let body = |cells| {
            let mesh = generate::cylinder(0.7, 2.0, 4, 5, cells).unwrap();
            let turn = Mat3::from_axis_angle(Vec3::new(1.0, 2.0, 2.0) / 3.0, 0.7);
            let mut data: MeshData = mesh
                .transformed(Affine3::from_mat3_translation(turn, Vec3::new(30.0, -20.0, 5.0)))
                .unwrap()
                .into_data();
            data.regions = vec![Region::named("light"), Region { fill: 0.5, ..Region::named("heavy") }];
            let count = data.elements.len() / data.kind.nodes();
            data.element_region = (0..count as u32).map(|e| e % 3 / 2).collect();
            VolumeMesh::check(data).unwrap().mesh
        };
        [Cells::Tet5, Cells::Hex].map(body).into()
    }

    #[test]
    fn vertices_follow_every_affine_motion_of_the_nodes() {
        let map = Affine3::from_mat3_translation(
            Mat3::from_cols_array(&[1.1, 0.3, 0.0, -0.2, 0.9, 0.1, 0.0, 0.4, 1.2]),
            Vec3::new(3.0, 1.0, 2.0),
        );
        for body in bodies() {
            let nodes = ControlNodes::new(&body, &[1000.0, 2700.0]).unwrap();
            for map in [Affine3::IDENTITY, map] {
                let moved: Vec<Vec3> = nodes.mesh.vertices().iter().map(|&x| map.transform_point3(x)).collect();
                let mut vertices = vec![Vec3::ZERO; body.vertex_count()];
                nodes.vertices.interpolate(&moved, &mut vertices);
                for (vertex, &x) in vertices.iter().zip(body.vertices()) {
                    assert!(vertex.distance(map.transform_point3(x)) < 1e-13);
                }
            }
            let tet: Vec<f64> = (0..2).map(|e| nodes.mesh.element_volume(e) * nodes.mesh.element_fill(e)).collect();
            let own = |region: u32| -> f64 {
                let elements = (0..body.element_count()).filter(|&e| body.element_region()[e] == region);
                elements.map(|e| body.element_volume(e) * body.element_fill(e)).sum()
            };
            assert!((0..2).all(|region| (tet[region] - own(region as u32)).abs() < 1e-12), "{tet:?}");
        }
    }

    /// Integrates `∫ρ wₐ w_b` with the shape functions of the elements: exactly for hexahedra, and for tetrahedra by
    /// `∫ f g = V/20 (Σ fᵢgᵢ + Σ fᵢ Σ gᵢ)`.
    #[test]
    fn the_consistent_mass_of_the_nodes_is_diagonal_with_a_quarter_of_the_mass_each() {
        let densities = [1000.0, 2700.0];
        for body in bodies() {
            let nodes = ControlNodes::new(&body, &densities).unwrap();
            let mut mass = [[0.0; 4]; 4];
            for (e, element) in body.elements().enumerate() {
                let density = body.element_fill(e) * densities[body.element_region()[e] as usize];
                let weights: Vec<&[f64]> = element.iter().map(|&v| nodes.vertices.weights(v as usize)).collect();
                for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                    mass[a][b] += if body.kind() == ElementKind::Tet4 {
                        let sum = |a: usize| weights.iter().map(|w| w[a]).sum::<f64>();
                        let products: f64 = weights.iter().map(|w| w[a] * w[b]).sum();
                        density * body.element_volume(e) / 20.0 * (products + sum(a) * sum(b))
                    } else {
                        let at = |n: &[f64; 8], a: usize| n.iter().zip(&weights).map(|(n, w)| n * w[a]).sum::<f64>();
                        let points = gauss_3().map(|(xi, weight)| {
                            let n = hex_weights(xi);
                            weight * hex_jacobian(&body.hex(e), xi).determinant() * at(&n, a) * at(&n, b)
                        });
                        density * points.sum::<f64>()
                    };
                }
            }
            let total = body.mass_properties(&densities).mass;
            assert!((nodes.mass - total).abs() < 1e-13 * total);
            for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                let expected = if a == b { 0.25 * total } else { 0.0 };
                assert!((mass[a][b] - expected).abs() < 1e-13 * total, "{a} {b}: {} of {total}", mass[a][b]);
            }
        }
    }

    #[test]
    fn the_nodes_have_the_center_of_mass_and_the_second_moments_of_the_body() {
        let densities = [1000.0, 2700.0];
        for body in bodies() {
            let (properties, nodes) = (body.mass_properties(&densities), ControlNodes::new(&body, &densities).unwrap());
            let arms = nodes.mesh.vertices().iter().map(|x| *x - properties.center_of_mass);
            assert!(arms.clone().sum::<Vec3>().length() < 1e-13);
            let inertia =
                arms.map(|r| (Mat3::from_diagonal(Vec3::splat(r.dot(r))) - outer(r, r)) * (0.25 * nodes.mass));
            let error = inertia.fold(Mat3::ZERO, |sum, part| sum + part) - properties.inertia;
            assert!(error.to_cols_array().iter().all(|x| x.abs() < 1e-12 * properties.inertia.x_axis.x), "{error}");
        }
    }

    #[test]
    fn thin_plates_have_control_nodes_and_thinner_ones_have_none() {
        let nodes = |thickness: f64| {
            let mesh = generate::block([1.0, 1.0, thickness], [4, 4, 1], Cells::Hex).unwrap();
            let nodes = ControlNodes::new(&mesh, &[1.0])?;
            let mut vertices = vec![Vec3::ZERO; mesh.vertex_count()];
            nodes.vertices.interpolate(nodes.mesh.vertices(), &mut vertices);
            assert!(vertices.iter().zip(mesh.vertices()).all(|(a, b)| a.distance(*b) < 1e-14));
            Some(nodes)
        };
        assert!(nodes(1e-4).is_some() && nodes(1e-7).is_none());
    }
}
