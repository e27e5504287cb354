//! Shape quality of elements.

use rayon::prelude::*;

use super::shape::tet_edges;
use super::{ElementKind, VolumeMesh};
use crate::math::Vec3;

/// Number of worst elements listed.
const WORST_LISTED: usize = 5;

/// Shape below which an element counts as a sliver. Stuffed lattices have at least 0.1, a box ten times as long as wide
/// 0.2.
const SLIVER: f64 = 0.01;

/// Minimum, mean and maximum of a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[allow(missing_docs, reason = "they say it themselves")]
pub struct Range {
    pub min: f64,
    pub mean: f64,
    pub max: f64,
}

impl Range {
    fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut min, mut max, mut sum, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0);
        for value in values {
            (min, max, sum, count) = (min.min(value), max.max(value), sum + value, count + 1.0);
        }
        Self { min, mean: sum / count, max }
    }
}

/// Quality statistics over all elements.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Quality {
    /// Volume of an element \[m³\].
    pub volume: Range,
    /// Length of an edge \[m\].
    pub edge_length: Range,
    /// Angle between two faces of an element \[degrees\].
    pub dihedral_angle: Range,
    /// Measure of `shape`: `radius ratio` for tetrahedra, `scaled jacobian` for hexahedra.
    pub measure: &'static str,
    /// Shape measure, from 1 for a regular tetrahedron or a box, down to 0 for a flat element.
    ///
    /// Tetrahedra: three times the ratio of inradius to circumradius. Hexahedra: the minimum over the corners of the
    /// determinant of the three unit edges.
    pub shape: Range,
    /// Number of elements with a shape in `[0, 0.1)`, `[0.1, 0.2)`, … `[0.9, 1]`.
    pub histogram: [usize; 10],
    /// The worst five elements with their shape, worst first.
    pub worst: Vec<(u32, f64)>,
}

impl VolumeMesh {
    /// Computes statistics of the shapes of the elements.
    pub fn quality(&self) -> Quality {
        let shapes: Vec<f64> = (0..self.element_count()).into_par_iter().map(|e| self.shape(e)).collect();
        let mut histogram = [0; 10];
        for shape in &shapes {
            histogram[((shape * 10.0).max(0.0) as usize).min(9)] += 1;
        }
        let mut order: Vec<u32> = (0..shapes.len() as u32).collect();
        let by_shape = |a: &u32, b: &u32| shapes[*a as usize].total_cmp(&shapes[*b as usize]).then(a.cmp(b));
        let listed = WORST_LISTED.min(order.len());
        if listed < order.len() {
            order.select_nth_unstable_by(listed, by_shape);
        }
        order.truncate(listed);
        order.sort_unstable_by(by_shape);
        let angles: Vec<Range> =
            (0..self.element_count()).into_par_iter().map(|e| Range::of(self.dihedral_angles(e))).collect();
        Quality {
            volume: Range::of((0..self.element_count()).map(|e| self.element_volume(e))),
            edge_length: Range::of(self.edges().iter().map(|edge| {
                let [a, b] = edge.map(|v| self.vertices()[v as usize]);
                a.distance(b)
            })),
            dihedral_angle: Range {
                min: angles.iter().map(|range| range.min).fold(f64::INFINITY, f64::min),
                mean: angles.iter().map(|range| range.mean).sum::<f64>() / angles.len() as f64,
                max: angles.iter().map(|range| range.max).fold(f64::NEG_INFINITY, f64::max),
            },
            measure: self.measure(),
            shape: Range::of(shapes.iter().copied()),
            histogram,
            worst: order.into_iter().map(|e| (e, shapes[e as usize])).collect(),
        }
    }

    /// Returns a note on nearly flat elements, if there are any: they degrade stresses and the conditioning of
    /// matrices.
    ///
    /// Hexahedra that fold over near a corner are not included: see
    /// [`CheckReport::folded_elements`](super::CheckReport::folded_elements).
    pub fn sliver_note(&self) -> Option<String> {
        let is_sliver = |e: usize| {
            let shape = self.shape(e);
            (shape < SLIVER && !self.is_folded(e)).then_some((e, shape))
        };
        let slivers: Vec<(usize, f64)> = (0..self.element_count()).into_par_iter().filter_map(is_sliver).collect();
        let count = slivers.len();
        let (worst, shape) = slivers.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (are, measure) = (if count == 1 { "element is" } else { "elements are" }, self.measure());
        Some(format!(
            "{count} {are} nearly flat: the {measure} of element {worst} is {shape:.1e}, expected at least {SLIVER}; stresses there are \
             unreliable, and solvers may need many iterations; mesh the body again"
        ))
    }

    /// Returns the name of the shape measure.
    fn measure(&self) -> &'static str {
        match self.kind() {
            ElementKind::Tet4 => "radius ratio",
            ElementKind::Hex8 => "scaled jacobian",
        }
    }

    fn shape(&self, element: usize) -> f64 {
        match self.kind() {
            ElementKind::Tet4 => radius_ratio(&unit(self.tet(element))),
            ElementKind::Hex8 => hex_corner_edges(&unit(self.hex(element)))
                .map(|[a, b, c]| a.normalize().dot(b.normalize().cross(c.normalize())))
                .fold(f64::INFINITY, f64::min),
        }
    }

    /// Computes the dihedral angles \[degrees\]: at each edge of a tetrahedron, at both ends of each edge of a
    /// hexahedron, whose faces may be curved.
    pub fn dihedral_angles(&self, element: usize) -> Vec<f64> {
        match self.kind() {
            ElementKind::Tet4 => tet_dihedral_angles(self.tet(element)).to_vec(),
            ElementKind::Hex8 => hex_corner_edges(&unit(self.hex(element)))
                .flat_map(|[a, b, c]| [angle_along(a, b, c), angle_along(b, c, a), angle_along(c, a, b)])
                .collect(),
        }
    }
}

/// Computes the dihedral angles of a tetrahedron at its six edges \[degrees\].
pub fn tet_dihedral_angles(corners: [Vec3; 4]) -> [f64; 6] {
    /// Ends of each edge, and the other two vertices.
    const EDGES: [[usize; 4]; 6] = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]];
    let x = unit(corners);
    EDGES.map(|[i, j, k, l]| angle_along(x[j] - x[i], x[k] - x[i], x[l] - x[i]))
}

/// Translates an element to the origin and scales it to size one. Shapes depend on neither, but powers of tiny or huge
/// lengths overflow.
fn unit<const N: usize>(corners: [Vec3; N]) -> [Vec3; N] {
    let edges = corners.map(|x| x - corners[0]);
    let size = edges.iter().map(|x| x.abs().max_element()).fold(0.0, f64::max);
    edges.map(|x| x / size)
}

/// Returns the three edges at each corner of a hexahedron, ordered so that a box has positive determinants.
fn hex_corner_edges(x: &[Vec3; 8]) -> impl Iterator<Item = [Vec3; 3]> {
    const NEIGHBORS: [[usize; 3]; 8] =
        [[1, 3, 4], [2, 0, 5], [3, 1, 6], [0, 2, 7], [7, 5, 0], [4, 6, 1], [5, 7, 2], [6, 4, 3]];
    (0..8).map(move |i| NEIGHBORS[i].map(|j| x[j] - x[i]))
}

/// Returns the angle \[degrees\] between the half-planes that `b` and `c` span with their common edge `a`.
fn angle_along(a: Vec3, b: Vec3, c: Vec3) -> f64 {
    a.cross(b).angle_between(a.cross(c)).to_degrees()
}

/// Computes `3 r / R` with `r = 3V / ΣA` and `R = |a²(b×c) + b²(c×a) + c²(a×b)| / 12V` for edges `a, b, c` from one
/// vertex.
fn radius_ratio(corners: &[Vec3; 4]) -> f64 {
    let edges = tet_edges(corners);
    let volume = edges.determinant() / 6.0;
    let (a, b, c) = (edges.x_axis, edges.y_axis, edges.z_axis);
    let (bc, ca, ab) = (b.cross(c), c.cross(a), a.cross(b));
    let areas = 0.5 * (bc.length() + ca.length() + ab.length() + (bc + ca + ab).length());
    let inscribed = 3.0 * volume / areas;
    let circumscribed =
        (a.length_squared() * bc + b.length_squared() * ca + c.length_squared() * ab).length() / (12.0 * volume);
    3.0 * inscribed / circumscribed
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, MeshData, generate};
    use super::*;

    #[test]
    fn a_regular_tetrahedron_is_perfect() {
        let vertices =
            [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]].map(Vec3::from).to_vec();
        let mesh = VolumeMesh::check(MeshData::new(vertices, ElementKind::Tet4, vec![0, 1, 2, 3])).unwrap().mesh;
        let quality = mesh.quality();
        assert!((quality.shape.min - 1.0).abs() < 1e-14);
        let exact = (1.0_f64 / 3.0).acos().to_degrees();
        assert!(
            (quality.dihedral_angle.min - exact).abs() < 1e-12 && (quality.dihedral_angle.max - exact).abs() < 1e-12
        );
        assert!((quality.edge_length.mean - 8.0_f64.sqrt()).abs() < 1e-14);
    }

    #[test]
    fn the_corner_tetrahedron_has_its_known_ratio() {
        // Inradius (3-√3)/6, circumradius √3/2.
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let mesh = VolumeMesh::check(MeshData::new(vertices, ElementKind::Tet4, vec![0, 1, 2, 3])).unwrap().mesh;
        let exact = 3.0 * (3.0 - 3.0_f64.sqrt()) / 6.0 / (3.0_f64.sqrt() / 2.0);
        assert!((mesh.quality().shape.mean - exact).abs() < 1e-14);
        let angles = mesh.quality().dihedral_angle;
        assert!(
            (angles.max - 90.0).abs() < 1e-12
                && (angles.min - (1.0 / 3.0_f64.sqrt()).acos().to_degrees()).abs() < 1e-12
        );
    }

    #[test]
    fn shapes_do_not_depend_on_size() {
        let shape = |size: f64, cells| generate::block([size, 2.0 * size, size], [2, 2, 2], cells).unwrap().quality();
        for cells in [Cells::Tet5, Cells::Hex] {
            let exact = shape(1.0, cells);
            for size in [1e-45, 1e45] {
                let found = shape(size, cells);
                assert!((found.shape.min - exact.shape.min).abs() < 1e-14);
                assert!((found.dihedral_angle.max - exact.dihedral_angle.max).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn folded_hexahedra_are_no_slivers() {
        // One corner is moved inward beyond the plane of its neighbors: the Jacobian is negative only there.
        let mut data = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap().into_data();
        let corner = data.vertices.iter().position(|v| *v == Vec3::ONE).unwrap();
        data.vertices[corner] = Vec3::splat(0.66);
        let checked = VolumeMesh::check(data.clone()).unwrap();
        assert_eq!(checked.report.folded_elements.len(), 1);
        assert!(checked.mesh.quality().shape.min < 0.0);
        assert_eq!(checked.mesh.sliver_note(), None);
        data.vertices[corner] = Vec3::ONE;
        data.vertices.iter_mut().for_each(|v| *v = Vec3::new(v.x + v.y, v.y * 1e-3, v.z));
        let flat = VolumeMesh::check(data).unwrap().mesh.sliver_note().unwrap();
        assert!(flat.starts_with("1 element is nearly flat"), "{flat}");
    }

    #[test]
    fn boxes_are_perfect_hexahedra_and_a_sheared_one_is_found() {
        let mesh = generate::block([1.0, 2.0, 3.0], [2, 2, 2], Cells::Hex).unwrap();
        let quality = mesh.quality();
        assert!((quality.shape.min - 1.0).abs() < 1e-15 && (quality.dihedral_angle.max - 90.0).abs() < 1e-12);
        assert_eq!(quality.histogram, [0, 0, 0, 0, 0, 0, 0, 0, 0, 8]);

        let mut data = mesh.into_data();
        let corner = data.vertices.iter().position(|v| *v == Vec3::new(1.0, 2.0, 3.0)).unwrap();
        data.vertices[corner] += Vec3::new(0.3, 0.4, 0.0);
        let sheared = VolumeMesh::check(data).unwrap().mesh;
        assert!(sheared.element(sheared.quality().worst[0].0 as usize).contains(&(corner as u32)));
        assert!(sheared.quality().shape.min < 0.99);
    }
}
