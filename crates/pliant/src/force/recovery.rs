//! Nodal recovery: stress and strain at the vertices of a body, from the values at its quadrature points.
//!
//! - **Hexahedra.** The eight Gauss points of an element span a trilinear polynomial of the reference coordinates,
//!   which is evaluated at the corners. A vertex has the mean of its elements, weighted by their volumes at rest.
//! - **Tetrahedra.** Superconvergent patch recovery \[ZienkiewiczZhu1992\]: a linear polynomial is fitted to the
//!   element values at the centroids by least squares, and evaluated at the vertex. The patch of a vertex is the union
//!   of the patches of its neighbors: elements weigh their volume times the number of their vertices that are the
//!   vertex or a neighbor of it. Patches of a single layer, as the paper has them, overshoot by a quarter on the
//!   surface of a bent beam of six-tetrahedra boxes. No slope is fitted along directions in which the centroids of a
//!   patch do not spread (few elements, all in one plane).
//!
//! Values are not averaged across regions: a vertex shared by several has one state per region. A uniform state is
//! recovered exactly on any mesh, a linear one wherever the elements represent it. Volume ratio, stretches and energy
//! density are means over the elements around the vertex, because extrapolation could take them out of their range, for
//! example to a negative energy or a spurious inversion.

use rayon::prelude::*;

use super::{Elastic, StressState};
use crate::math::{Mat3, Matrix, SignedSvd, Vec3, outer};
use crate::mesh::{Adjacency, ElementKind, VolumeMesh, shape};

/// Stress and strain at the vertices of a body: one state per region around a vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct NodalStates {
    /// Index of the first entry of each vertex, and the total number of entries.
    starts: Vec<usize>,
    /// Region and state, vertex by vertex, regions ascending.
    entries: Vec<(u32, StressState)>,
}

impl NodalStates {
    /// Creates the states of a body whose strain is uniform in each region.
    ///
    /// # Panics
    /// If there is not one state per region.
    pub fn uniform(mesh: &VolumeMesh, of_regions: &[StressState]) -> Self {
        assert_eq!(of_regions.len(), mesh.regions().len(), "expected one state per region");
        let Patches { starts, regions, .. } = Patches::new(mesh);
        Self { starts, entries: regions.into_iter().map(|region| (region, of_regions[region as usize])).collect() }
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the states at a vertex, each with the index of its region; empty if the vertex has no elements.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn at(&self, vertex: usize) -> &[(u32, StressState)] {
        &self.entries[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// Returns one state per vertex. At vertices shared by regions, it is the state of the region with the largest von
    /// Mises stress, so that the maximum over the vertices is that of the body. Vertices without elements have NaN.
    pub fn dominant(&self) -> Vec<StressState> {
        let largest = |states: &[(u32, StressState)]| {
            let mut found = (f64::NAN, StressState::UNKNOWN);
            for (_, state) in states {
                let von_mises = state.von_mises();
                if found.0.is_nan() || von_mises > found.0 {
                    found = (von_mises, *state);
                }
            }
            found.1
        };
        (0..self.vertex_count()).map(|vertex| largest(self.at(vertex))).collect()
    }

    /// Returns the state of one region at each vertex; NaN at vertices outside the region.
    pub fn of_region(&self, region: u32) -> Vec<StressState> {
        let own =
            |states: &[(u32, StressState)]| states.iter().find(|(own, _)| *own == region).map(|(_, state)| *state);
        (0..self.vertex_count()).map(|vertex| own(self.at(vertex)).unwrap_or(StressState::UNKNOWN)).collect()
    }
}

impl Elastic {
    /// Recovers stress and strain at the vertices of `mesh`, the mesh of these elements; see [`NodalStates`].
    ///
    /// # Panics
    /// If there are not three displacements per vertex, or `mesh` is another mesh.
    pub fn nodal_states(&self, mesh: &VolumeMesh, u: &[f64]) -> NodalStates {
        let patches = Patches::new(mesh);
        let states = match mesh.kind() {
            ElementKind::Tet4 => patches.fit(&self.integrals(u)),
            ElementKind::Hex8 => self.extrapolated(&patches, u),
        };
        NodalStates { entries: patches.regions.into_iter().zip(states).collect(), starts: patches.starts }
    }

    /// Returns the volume-weighted means of the values that hexahedra have at their corners.
    fn extrapolated(&self, patches: &Patches<'_>, u: &[f64]) -> Vec<StressState> {
        /// Number of element groups evaluated before summation, which bounds the memory.
        const BATCH: usize = 512;
        let mut corners = Corners::new(patches);
        let groups: Vec<usize> = (0..self.elements().group_count()).collect();
        for batch in groups.chunks(BATCH) {
            let points: Vec<_> = batch.par_iter().map(|&group| self.point_states(u, group)).collect();
            for (&group, points) in batch.iter().zip(&points) {
                for (&element, points) in self.elements().numbers(group).iter().zip(points.chunks_exact(8)) {
                    corners.add(element as usize, points);
                }
            }
        }
        corners.means()
    }
}

/// Elements around each vertex, region by region.
struct Patches<'a> {
    mesh: &'a VolumeMesh,
    /// Elements around each vertex, grouped by region.
    elements: Adjacency,
    /// Index of the first entry of each vertex, and the total number of entries.
    starts: Vec<usize>,
    /// Region of each entry, ascending at a vertex.
    regions: Vec<u32>,
}

impl<'a> Patches<'a> {
    fn new(mesh: &'a VolumeMesh) -> Self {
        let region = |element: u32| mesh.element_region()[element as usize];
        let mut by_region: Vec<u32> = (0..mesh.element_count() as u32).collect();
        by_region.sort_by_key(|&element| region(element));
        let elements = Adjacency::from_pairs(mesh.vertex_count(), || {
            by_region
                .iter()
                .flat_map(|&element| mesh.element(element as usize).iter().map(move |&vertex| (vertex, element)))
        });
        let (mut starts, mut regions) = (vec![0], Vec::new());
        for vertex in 0..mesh.vertex_count() {
            let around = elements.of(vertex).chunk_by(|&a, &b| region(a) == region(b));
            regions.extend(around.map(|own| region(own[0])));
            starts.push(regions.len());
        }
        Self { mesh, elements, starts, regions }
    }

    /// Returns the entry of a vertex and a region that has it.
    fn entry(&self, vertex: u32, region: u32) -> usize {
        let start = self.starts[vertex as usize];
        start + self.regions[start..self.starts[vertex as usize + 1]].partition_point(|&own| own < region)
    }

    /// Returns the values at the vertices of linear polynomials fitted to the values in tetrahedra. `states` has the
    /// volumes and integrals of elements.
    fn fit(&self, states: &[(f64, StressState)]) -> Vec<StressState> {
        let mesh = self.mesh;
        let moments: Vec<Moments> = self.map(|vertex, elements| {
            let mut moments = Moments::zero();
            elements.iter().for_each(|&element| moments.add_element(mesh, vertex, element, states));
            moments
        });
        self.map(|vertex, elements| {
            let corners = elements.iter().flat_map(|&element| mesh.element(element as usize));
            let mut around: Vec<u32> = corners.copied().collect();
            around.sort_unstable();
            around.dedup();
            let region = mesh.element_region()[elements[0] as usize];
            let mut patch = Moments::zero();
            for neighbor in around {
                let offset = mesh.vertices()[neighbor as usize] - mesh.vertices()[vertex];
                patch.add_shifted(&moments[self.entry(neighbor, region)], offset);
            }
            patch.value_at_origin()
        })
    }

    /// Maps each entry, given its vertex and its elements, in parallel.
    fn map<T: Send>(&self, of: impl Fn(usize, &[u32]) -> T + Sync) -> Vec<T> {
        let region = |element: u32| self.mesh.element_region()[element as usize];
        let of_vertex = |vertex: usize| {
            let around = self.elements.of(vertex).chunk_by(|&a, &b| region(a) == region(b));
            around.map(|own| of(vertex, own)).collect::<Vec<T>>()
        };
        (0..self.mesh.vertex_count()).into_par_iter().flat_map_iter(of_vertex).collect()
    }
}

/// Sums of the values of hexahedra at their corners.
struct Corners<'a> {
    patches: &'a Patches<'a>,
    /// Weights of the values at the Gauss points in the value at each corner: the trilinear polynomial through the
    /// points.
    factors: [[f64; 8]; 8],
    /// Volume and integral of each entry.
    sums: Vec<(f64, StressState)>,
}

impl<'a> Corners<'a> {
    fn new(patches: &'a Patches<'a>) -> Self {
        let points: Vec<Vec3> = shape::gauss_2().map(|(point, _)| point).collect();
        let factors = shape::HEX_CORNERS.map(|corner| {
            std::array::from_fn(|point| {
                // The points are at ±1/√3, so this is 1 ± √3 at the corners.
                let factor = Vec3::ONE + 3.0 * corner * points[point];
                0.125 * factor.x * factor.y * factor.z
            })
        });
        Self { patches, factors, sums: vec![(0.0, StressState::ZERO); patches.regions.len()] }
    }

    /// Adds an element, given weight and state of its Gauss points.
    fn add(&mut self, element: usize, points: &[(f64, StressState)]) {
        let mesh = self.patches.mesh;
        let volume: f64 = points.iter().map(|(weight, _)| weight).sum();
        let mean = StressState::mean(points);
        for (&vertex, factors) in mesh.element(element).iter().zip(&self.factors) {
            let sum = &mut self.sums[self.patches.entry(vertex, mesh.element_region()[element])];
            sum.0 += volume;
            sum.1.add_scalars(volume, &mean);
            for (factor, (_, state)) in factors.iter().zip(points) {
                sum.1.add_tensors(volume * factor, state);
            }
        }
    }

    fn means(self) -> Vec<StressState> {
        self.sums.into_par_iter().map(|(volume, sum)| sum.scaled(1.0 / volume)).collect()
    }
}

/// Integrals over a patch of tetrahedra, of positions relative to an origin and of states.
#[derive(Debug, Clone)]
struct Moments {
    volume: f64,
    /// First moment `∫ x`.
    first: Vec3,
    /// Second moment `Σ V c cᵀ` of the centroids `c`.
    second: Mat3,
    /// Second moment `Σ ∫ (x − c)(x − c)ᵀ` of the elements about their centroids.
    inner: Mat3,
    state: StressState,
    /// Moments `Σ V cᵢ s` for each axis `i`; tensors only.
    slopes: [StressState; 3],
}

/// Minimum spread of centroids along a direction, relative to the spread of the patch, for which a slope is fitted.
const MIN_SPREAD: f64 = 0.02;

impl Moments {
    fn zero() -> Self {
        Self {
            volume: 0.0,
            first: Vec3::ZERO,
            second: Mat3::ZERO,
            inner: Mat3::ZERO,
            state: StressState::ZERO,
            slopes: [StressState::ZERO; 3],
        }
    }

    /// Adds an element, with the vertex as the origin. `states` has volumes and integrals.
    fn add_element(&mut self, mesh: &VolumeMesh, vertex: usize, element: u32, states: &[(f64, StressState)]) {
        let corners = mesh.element(element as usize);
        let origin = mesh.vertices()[vertex];
        let place = |&corner: &u32| mesh.vertices()[corner as usize] - origin;
        let centroid = corners.iter().map(place).sum::<Vec3>() / corners.len() as f64;
        let (volume, integral) = &states[element as usize];
        self.volume += volume;
        self.first += *volume * centroid;
        self.second += outer(centroid, centroid) * *volume;
        for corner in corners {
            let edge = place(corner) - centroid;
            self.inner += outer(edge, edge) * (volume / 20.0);
        }
        self.state.add_scalars(1.0, integral);
        self.state.add_tensors(1.0, integral);
        for axis in 0..3 {
            self.slopes[axis].add_tensors(centroid[axis], integral);
        }
    }

    /// Adds the moments of a patch whose origin is at `offset`.
    fn add_shifted(&mut self, other: &Self, offset: Vec3) {
        self.volume += other.volume;
        self.first += other.first + other.volume * offset;
        self.second += other.second
            + outer(other.first, offset)
            + outer(offset, other.first)
            + outer(offset, offset) * other.volume;
        self.inner += other.inner;
        self.state.add_scalars(1.0, &other.state);
        self.state.add_tensors(1.0, &other.state);
        for axis in 0..3 {
            self.slopes[axis].add_tensors(1.0, &other.slopes[axis]);
            self.slopes[axis].add_tensors(offset[axis], &other.state);
        }
    }

    /// Returns the value of the fitted polynomial at the origin, `s̄ − x̄ᵀC⁺ cov(x, s)`, with the covariance `C` of
    /// the centroids.
    fn value_at_origin(&self) -> StressState {
        let mean_place = self.first / self.volume;
        let covariance = self.second * (1.0 / self.volume) - outer(mean_place, mean_place);
        let factors = -(pseudo_inverse(covariance, self.inner * (1.0 / self.volume)) * mean_place);
        let mut value = self.state.scaled(1.0 / self.volume);
        let mean = value;
        for axis in 0..3 {
            value.add_tensors(factors[axis] / self.volume, &self.slopes[axis]);
            value.add_tensors(-factors[axis] * mean_place[axis], &mean);
        }
        value
    }
}

/// Returns the pseudo-inverse of the covariance of centroids, without directions in which they spread too little. The
/// threshold is relative to the spread of the whole patch, `covariance + inner`, and thus independent of the shape of
/// elements.
fn pseudo_inverse(covariance: Mat3, inner: Mat3) -> Mat3 {
    let Some(to_unit) = inverse_factor(covariance + inner) else { return Mat3::ZERO };
    let relative = to_unit * covariance * to_unit.transpose();
    let svd = SignedSvd::new(&Matrix(relative.transpose().to_cols_array_2d()));
    let mut inverse = Mat3::ZERO;
    for (axis, &spread) in svd.sigma.iter().enumerate().filter(|(_, spread)| **spread > MIN_SPREAD) {
        inverse += outer(Vec3::from(svd.v.column(axis)), Vec3::from(svd.u.column(axis))) * (1.0 / spread);
    }
    to_unit.transpose() * inverse * to_unit
}

/// Returns `L⁻¹` of the Cholesky factorization `A = L Lᵀ`, or `None` if `A` is not positive definite.
fn inverse_factor(a: Mat3) -> Option<Mat3> {
    let mut l = Mat3::ZERO;
    for j in 0..3 {
        for i in j..3 {
            let known: f64 = (0..j).map(|k| l.col(k)[i] * l.col(k)[j]).sum();
            let rest = a.col(j)[i] - known;
            l.col_mut(j)[i] = if i == j { rest.sqrt() } else { rest / l.col(j)[j] };
        }
    }
    let is_definite = (0..3).all(|i| l.col(i)[i] > 0.0);
    (is_definite && l.is_finite()).then(|| l.inverse())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{AnyLaw, Material, YoungPoisson};
    use crate::mesh::{Cells, Region, generate};

    const KINDS: [Cells; 3] = [Cells::Tet5, Cells::Tet6, Cells::Hex];

    /// Returns a distorted block whose elements are assigned to two regions by `region`.
    fn block(cells: Cells, region: impl Fn(Vec3) -> u32) -> VolumeMesh {
        let mut rng = fastrand::Rng::with_seed(5);
        let mesh = generate::block([1.0, 0.6, 0.5], [4, 4, 2], cells).unwrap();
        let centroid = |element: &[u32]| {
            element.iter().map(|&vertex| mesh.vertices()[vertex as usize]).sum::<Vec3>() / element.len() as f64
        };
        let element_region = mesh.elements().map(|element| region(centroid(element))).collect();
        let mut data = mesh.into_data();
        for x in &mut data.vertices {
            *x += 0.04 * Vec3::new(rng.f64() - 0.5, rng.f64() - 0.5, rng.f64() - 0.5);
        }
        data.regions = vec![Region::named("soft"), Region::named("stiff")];
        data.element_region = element_region;
        VolumeMesh::check(data).unwrap().mesh
    }

    fn one_region(_: Vec3) -> u32 {
        0
    }

    fn law(name: &str, young: f64, poisson: f64) -> Material {
        AnyLaw::new(name, YoungPoisson { young, poisson }).unwrap().into()
    }

    fn displaced(mesh: &VolumeMesh, u: impl Fn(Vec3) -> Vec3) -> Vec<f64> {
        mesh.vertices().iter().flat_map(|&x| u(x).to_array()).collect()
    }

    fn assert_near(a: Mat3, b: Mat3, tolerance: f64) {
        let largest = (a - b).to_cols_array().iter().fold(0.0_f64, |largest, e| largest.max(e.abs()));
        assert!(largest <= tolerance, "{a} instead of {b}");
    }

    /// Returns a state with all tensors and scalars proportional to `value`.
    fn state(value: f64) -> StressState {
        let mut state = StressState::ZERO;
        state.cauchy = Mat3::from_cols_array(&[1.0, 2.0, 3.0, 2.0, 5.0, 6.0, 3.0, 6.0, 9.0]) * value;
        state.strain = Mat3::IDENTITY * value;
        state.energy_density = value;
        state
    }

    #[test]
    fn a_uniform_stress_is_recovered_exactly_on_distorted_meshes_of_any_number_of_elements() {
        let f = Mat3::from_cols_array(&[1.1, 0.1, -0.05, 0.2, 0.9, 0.0, 0.1, 0.05, 1.2]);
        for cells in KINDS {
            let one = generate::block([1.0; 3], [1, 1, 1], cells).unwrap();
            for mesh in [block(cells, one_region), block(cells, |x| u32::from(x.x > 0.5)), one] {
                for name in ["linear", "stvk", "stable-neo-hookean"] {
                    let elastic = Elastic::uniform(&mesh, law(name, 1e6, 0.3));
                    let u = displaced(&mesh, |x| f * x - x);
                    let exact = elastic.element_states(&u)[0];
                    let nodal = elastic.nodal_states(&mesh, &u);
                    assert_eq!(nodal.vertex_count(), mesh.vertex_count());
                    for (_, state) in (0..mesh.vertex_count()).flat_map(|vertex| nodal.at(vertex)) {
                        assert_near(state.cauchy, exact.cauchy, 1e-11 * 1e6);
                        assert_near(state.strain, exact.strain, 1e-11);
                        assert!((state.energy_density / exact.energy_density - 1.0).abs() < 1e-11);
                        assert!((state.volume_ratio - f.determinant()).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn a_single_tetrahedron_and_a_vertex_without_elements_are_no_exception() {
        let mut data = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap().into_data();
        data.elements.truncate(4);
        data.element_region.truncate(1);
        data.element_sets.clear();
        data.face_sets.clear();
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let elastic = Elastic::uniform(&mesh, law("stvk", 1e6, 0.3));
        let u = displaced(&mesh, |x| Vec3::new(0.1 * x.y, 0.0, 0.2 * x.x));
        let exact = elastic.element_states(&u)[0];
        let nodal = elastic.nodal_states(&mesh, &u);
        for (vertex, state) in nodal.dominant().iter().enumerate() {
            if mesh.element(0).contains(&(vertex as u32)) {
                assert_near(state.cauchy, exact.cauchy, 1e-6);
            } else {
                assert!(nodal.at(vertex).is_empty() && state.von_mises().is_nan());
            }
        }
    }

    #[test]
    fn a_linear_field_is_recovered_exactly_in_each_region_on_distorted_meshes() {
        let field = |region: u32, x: Vec3| {
            if region == 0 { 2.0 + x.dot(Vec3::new(3.0, -1.0, 0.5)) } else { 100.0 - x.dot(Vec3::new(50.0, 7.0, 20.0)) }
        };
        for cells in KINDS {
            let mesh = block(cells, |x| u32::from(x.y > 0.3));
            let patches = Patches::new(&mesh);
            let region = |element: usize| mesh.element_region()[element];
            let states = if mesh.kind() == ElementKind::Tet4 {
                let integral = |element: usize| {
                    let corners = mesh.element(element).iter().map(|&vertex| mesh.vertices()[vertex as usize]);
                    let volume = mesh.element_volume(element);
                    (volume, state(field(region(element), corners.sum::<Vec3>() / 4.0)).scaled(volume))
                };
                patches.fit(&(0..mesh.element_count()).map(integral).collect::<Vec<_>>())
            } else {
                let mut corners = Corners::new(&patches);
                for element in 0..mesh.element_count() {
                    let points = shape::gauss_2().map(|(xi, _)| shape::hex_point(&mesh.hex(element), xi));
                    let points: Vec<_> = points.map(|x| (0.125, state(field(region(element), x)))).collect();
                    corners.add(element, &points);
                }
                corners.means()
            };
            let mut shared = 0;
            for vertex in 0..mesh.vertex_count() {
                let entries = patches.starts[vertex]..patches.starts[vertex + 1];
                shared += usize::from(entries.len() == 2);
                for entry in entries {
                    let expected = field(patches.regions[entry], mesh.vertices()[vertex]);
                    assert_near(states[entry].cauchy, state(expected).cauchy, 1e-9);
                    assert_near(states[entry].strain, state(expected).strain, 1e-10);
                }
            }
            assert_eq!(shared, 15, "the vertices between the regions");
        }
    }

    #[test]
    fn no_average_crosses_materials_next_to_each_other_or_one_after_the_other() {
        for cells in KINDS {
            for axis in 0..2 {
                // Parts of the bar in parallel have equal strain, and parts in series have equal stress.
                let middle = [0.5, 0.3][axis];
                let mesh = block(cells, |x| u32::from(x[axis] > middle));
                let mut data = mesh.into_data();
                for x in data.vertices.iter_mut().filter(|x| (x[axis] - middle).abs() < 0.04) {
                    x[axis] = middle;
                }
                let mesh = VolumeMesh::check(data).unwrap().mesh;
                let (soft, stiff) = (1e4, 1e6);
                let elastic = Elastic::new(&mesh, vec![law("linear", soft, 0.0), law("linear", stiff, 0.0)]).unwrap();
                let strains = if axis == 0 { [0.01, 0.01 * soft / stiff] } else { [0.01; 2] };
                let u = displaced(&mesh, |x| {
                    let beyond = if axis == 0 { (x.x - middle).max(0.0) } else { 0.0 };
                    Vec3::X * (strains[0] * (x.x - beyond) + strains[1] * beyond)
                });
                let nodal = elastic.nodal_states(&mesh, &u);
                let mut shared = 0;
                for vertex in 0..mesh.vertex_count() {
                    shared += usize::from(nodal.at(vertex).len() == 2);
                    for (region, state) in nodal.at(vertex) {
                        let (young, strain) = ([soft, stiff][*region as usize], strains[*region as usize]);
                        assert_near(state.strain, Mat3::from_diagonal(Vec3::X * strain), 1e-13);
                        assert_near(state.cauchy, Mat3::from_diagonal(Vec3::X * (young * strain)), 1e-12 * young);
                    }
                }
                assert_eq!(shared, 15);
                let largest = nodal.dominant().iter().map(StressState::von_mises).fold(0.0, f64::max);
                let expected = if axis == 0 { soft * 0.01 } else { stiff * 0.01 };
                assert!((largest / expected - 1.0).abs() < 1e-9);
                let own = nodal.of_region(0);
                assert!(own.iter().filter(|state| !state.von_mises().is_nan()).count() < mesh.vertex_count());
            }
        }
    }
}
