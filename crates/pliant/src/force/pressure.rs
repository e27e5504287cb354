//! Pressure on faces, as a follower load or as a dead load.

use std::sync::Arc;

use thiserror::Error;

use super::{Conditions, Definiteness, Force, Patch, at, check_length, chunks, rows};
use crate::math::{Mat3, Vec3, outer, par_sum};
use crate::motion::{Amplitude, NotFinite};
use crate::sparse::{BlockMatrix, BlockPattern, Scatter};

/// Error in the definition of a pressure.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum PressureError {
    #[error("the pressure is {pressure}, expected a finite number of Pa")]
    Pressure { pressure: f64 },
    #[error(transparent)]
    Amplitude(#[from] NotFinite),
    #[error("the patch is for a body with {patch} vertices, but {vertices} rest positions are given")]
    Vertices { patch: usize, vertices: usize },
}

/// Follower pressure `p` \[Pa\] on a patch of the boundary; positive pushes onto the faces.
///
/// The force on the body is `−p n dA` with the normal `n` and the area of the deformed patch. This is the sign of
/// Abaqus, Ansys and FEBio: water around a body has a positive pressure, and so has the gas on the wall of a cavity
/// inside it. The same pressure on the undeformed patch, a dead load, is [`dead_pressure`].
///
/// With the area vector `n = (x₁ − x₀)×(x₂ − x₀)` of a triangle, twice its area along its normal,
///
/// - the gradient at each of its vertices is `p n/6`, a push against the normal;
/// - the stiffness is the symmetric part of the derivative. Summed over the triangles of a patch, it has blocks only
///   for pairs of vertices joined by an edge: `K_ij = −p/6 [a]×` with `a = Σ ±(x_k − ½(xᵢ + xⱼ))` over the triangles at
///   the edge and their third vertices `k`, `+` where the triangle goes from `i` to `j`;
/// - projected, each edge is replaced by its positive semi-definite part, `−½ p/6 [a]×` between the ends and
///   `½ |p|/6 |a| (I − ââᵀ)` at each.
///
/// A bilinear quadrilateral is the mean of its two triangulations: all four triangles, each with weight ½. Forces are
/// then the exact integrals `p ∫Nᵢ ∂x/∂ξ × ∂x/∂η`, and the volume is that of the hexahedra.
///
/// If the patch is closed, `V = p (Ω − Ω₀)` with the volume `Ω` that it encloses, and all of the above are exact
/// derivatives. If it has a rim, there is no energy, because the work depends on the path of the rim, and the exact
/// derivative is not symmetric. If the vertices of the rim [are fixed](Self::with_fixed_rim), there is an energy again,
/// with `Ω` up to any fixed surface through the rim.
#[derive(Debug, Clone)]
pub struct Pressure {
    rest: Arc<[Vec3]>,
    /// Origin of volumes, a point in the patch, to avoid cancellation far from the global origin.
    origin: Vec3,
    triangles: Scatter,
    /// Weight of each triangle with its vertices ascending, negative if that reverses its orientation.
    weights: Vec<f64>,
    edges: Scatter,
    /// Start of the third vertices of each edge in `thirds`, and the end of the last.
    third_starts: Vec<usize>,
    /// Third vertices of the triangles at each edge, with their weights and signs.
    thirds: Vec<(u32, f64)>,
    is_closed: bool,
    rim_is_fixed: bool,
    /// Pressure before amplitude and load factor.
    full: f64,
    amplitude: Amplitude,
}

impl Pressure {
    /// Creates a follower pressure \[Pa\] on a patch of a body with the rest positions `rest`. Positive values push
    /// onto the faces.
    pub fn new(rest: impl Into<Arc<[Vec3]>>, patch: &Patch, pressure: f64) -> Result<Self, PressureError> {
        let rest = rest.into();
        check_pressure(pressure)?;
        if rest.len() != patch.vertex_count() {
            return Err(PressureError::Vertices { patch: patch.vertex_count(), vertices: rest.len() });
        }
        let oriented = oriented_triangles(patch);
        let mut triangles: Vec<([u32; 3], f64)> =
            oriented.iter().map(|&(nodes, weight)| sorted(nodes, weight)).collect();
        // Triangles close in the list should be close in the body, or every chunk would overlap every other.
        triangles.sort_by_key(|&(nodes, _)| nodes);
        let weights: Vec<f64> = triangles.iter().map(|&(_, weight)| weight).collect();
        let nodes = triangles.iter().flat_map(|&(nodes, _)| nodes).collect();
        let triangles = Scatter::new(3, nodes, rest.len(), &chunks(weights.len()));

        let mut sides: Vec<([u32; 2], u32, f64)> = oriented
            .iter()
            .flat_map(|&(nodes, weight)| {
                [0, 1, 2].map(|n| {
                    let [a, b, third] = [nodes[n], nodes[(n + 1) % 3], nodes[(n + 2) % 3]];
                    if a < b { ([a, b], third, weight) } else { ([b, a], third, -weight) }
                })
            })
            .collect();
        sides.sort_by_key(|&(edge, third, _)| (edge, third));
        let (mut nodes, mut third_starts) = (Vec::new(), vec![0]);
        for edge in sides.chunk_by(|a, b| a.0 == b.0) {
            nodes.extend(edge[0].0);
            third_starts.push(third_starts[third_starts.len() - 1] + edge.len());
        }
        let edges = Scatter::new(2, nodes, rest.len(), &chunks(third_starts.len() - 1));
        Ok(Self {
            origin: patch.faces().vertices().first().map_or(Vec3::ZERO, |&vertex| rest[vertex as usize]),
            rest,
            triangles,
            weights,
            edges,
            third_starts,
            thirds: sides.iter().map(|&(_, third, weight)| (third, weight)).collect(),
            is_closed: patch.rim().is_empty(),
            rim_is_fixed: false,
            full: pressure,
            amplitude: Amplitude::default(),
        })
    }

    /// Returns the pressure with a time-dependent factor.
    pub fn with_amplitude(mut self, amplitude: Amplitude) -> Result<Self, PressureError> {
        self.amplitude = amplitude;
        self.check_time(0.0)?;
        Ok(self)
    }

    /// Returns the pressure with the guarantee that the vertices of the [rim](Patch::rim) are fixed at their rest
    /// positions, so that an energy exists. The force on them is still that of the pressure, not the derivative of the
    /// energy.
    #[must_use]
    pub fn with_fixed_rim(mut self) -> Self {
        self.rim_is_fixed = true;
        self
    }

    /// Returns the pressure \[Pa\].
    pub fn pressure(&self, conditions: &Conditions<'_>) -> f64 {
        conditions.load_factor * self.amplitude.factor(conditions.time) * self.full
    }

    /// Sets the pressure before amplitude and load factor \[Pa\].
    pub fn set_pressure(&mut self, pressure: f64) -> Result<(), PressureError> {
        check_pressure(pressure)?;
        self.full = pressure;
        Ok(())
    }

    /// Returns `Ω − Ω₀` \[m³\]: the change of the volume inside a closed patch displaced by `u`. For a patch with a
    /// fixed rim, this is the volume between its deformed and its rest state.
    ///
    /// # Panics
    /// If there are not three numbers per vertex.
    pub fn volume_change(&self, u: &[f64]) -> f64 {
        check_length(u, self.rest.len());
        par_sum(0.0, self.weights.len(), |triangle| {
            let nodes = &self.triangles.nodes()[3 * triangle..];
            let rest = |n: usize| self.rest[nodes[n] as usize] - self.origin;
            let moved = |n: usize| rest(n) + at(u, nodes[n]);
            let shift = |n: usize| at(u, nodes[n]);
            // det(x₀, x₁, x₂) − det(X₀, X₁, X₂), without cancellation.
            let change = shift(0).dot(moved(1).cross(moved(2)))
                + rest(0).dot(shift(1).cross(moved(2)))
                + rest(0).dot(rest(1).cross(shift(2)));
            self.weights[triangle] * change / 6.0
        })
    }

    /// Returns `x_a − x_b`. Displacements are subtracted separately, so that small ones keep their precision far from
    /// the origin.
    #[inline(always)]
    fn between(&self, a: u32, b: u32, u: &[f64]) -> Vec3 {
        (self.rest[a as usize] - self.rest[b as usize]) + (at(u, a) - at(u, b))
    }

    /// Returns `a` of an edge, times `−p/6` for the pressure `p`.
    #[inline(always)]
    fn edge(&self, edge: usize, u: &[f64], p: f64) -> Vec3 {
        let [i, j] = [self.edges.nodes()[2 * edge], self.edges.nodes()[2 * edge + 1]];
        let half = 0.5 * self.between(j, i, u);
        let thirds = &self.thirds[self.third_starts[edge]..self.third_starts[edge + 1]];
        let sum: Vec3 = thirds.iter().map(|&(third, weight)| weight * (self.between(third, i, u) - half)).sum();
        -p / 6.0 * sum
    }
}

/// Returns the nodal forces \[N\] of a pressure \[Pa\] on the undeformed patch, three numbers per vertex: `−p ∫Nᵢ n dA`
/// at rest.
///
/// This is a dead load: its direction and magnitude stay constant as the body deforms. Positive pushes onto the faces.
/// It equals the force of [`Pressure`] at rest.
pub fn dead_pressure(rest: &[Vec3], patch: &Patch, pressure: f64) -> Result<Vec<f64>, PressureError> {
    let follower = Pressure::new(rest, patch, pressure)?;
    let mut forces = vec![0.0; 3 * rest.len()];
    follower.add_gradient(&vec![0.0; 3 * rest.len()], &Conditions::START, &mut forces);
    forces.iter_mut().for_each(|force| *force = -*force);
    Ok(forces)
}

fn check_pressure(pressure: f64) -> Result<(), PressureError> {
    if pressure.is_finite() { Ok(()) } else { Err(PressureError::Pressure { pressure }) }
}

/// Returns the triangles of a patch, each with its weight.
fn oriented_triangles(patch: &Patch) -> Vec<([u32; 3], f64)> {
    let mut triangles = Vec::new();
    for face in patch.faces().iter() {
        match *face {
            [a, b, c] => triangles.push(([a, b, c], 1.0)),
            [a, b, c, d] => {
                triangles.extend([[a, b, c], [a, c, d], [a, b, d], [b, c, d]].map(|triangle| (triangle, 0.5)));
            }
            _ => unreachable!("a patch has triangles and quadrilaterals"),
        }
    }
    triangles
}

/// Returns the triangle with its vertices ascending, and its weight, negated if that reverses its orientation.
fn sorted([a, b, c]: [u32; 3], weight: f64) -> ([u32; 3], f64) {
    let mut nodes = [a, b, c];
    nodes.sort_unstable();
    let is_turned = [[a, c, b], [b, a, c], [c, b, a]].contains(&nodes);
    (nodes, if is_turned { -weight } else { weight })
}

/// Returns `[a]×`, with `[a]× x = a × x`.
fn cross_matrix(a: Vec3) -> Mat3 {
    Mat3::from_cols(a.cross(Vec3::X), a.cross(Vec3::Y), a.cross(Vec3::Z))
}

impl Force for Pressure {
    fn node_count(&self) -> usize {
        self.rest.len()
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        self.edges.cliques().for_each(add);
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        self.edges.bind(pattern);
    }

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.amplitude.check(time, || "the amplitude of the pressure".into())
    }

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        if self.has_energy() { self.pressure(conditions) * self.volume_change(u) } else { 0.0 }
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        check_length(u, self.rest.len());
        let p = self.pressure(conditions);
        self.triangles.run(gradient, None, |chunk, target| {
            for (clique, triangle) in self.triangles.chunks()[chunk].clone().enumerate() {
                let nodes = &self.triangles.nodes()[3 * triangle..];
                let normal = self.between(nodes[1], nodes[0], u).cross(self.between(nodes[2], nodes[0], u));
                let f = (p * self.weights[triangle] / 6.0 * normal).to_array();
                (0..3).for_each(|node| target.add_force(clique, node, f));
            }
        });
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.add_gradient(u, conditions, gradient);
        let p = self.pressure(conditions);
        // The scatter needs a gradient too; nothing is added to it here.
        self.edges.run(gradient, Some(stiffness), |chunk, target| {
            for (clique, edge) in self.edges.chunks()[chunk].clone().enumerate() {
                let a = self.edge(edge, u, p);
                match definiteness {
                    Definiteness::Exact => target.add_block(clique, 1, &rows(cross_matrix(a))),
                    Definiteness::Projected => {
                        let (length, direction) = (a.length(), a.normalize_or_zero());
                        let end = rows((Mat3::IDENTITY - outer(direction, direction)) * (0.5 * length));
                        target.add_block(clique, 0, &end);
                        target.add_block(clique, 1, &rows(cross_matrix(0.5 * a)));
                        target.add_block(clique, 2, &end);
                    }
                }
            }
        });
    }

    fn has_energy(&self) -> bool {
        self.is_closed || self.rim_is_fixed
    }
}

#[cfg(test)]
mod tests {
    use super::super::patch::quad_points;
    use super::super::testing::*;
    use super::super::{NodalLoads, bind_all, surface_traction};
    use super::*;
    use crate::mesh::{Cells, Faces, VolumeMesh, generate};

    const CELLS: [Cells; 2] = [Cells::Tet6, Cells::Hex];
    const P: f64 = 3000.0;

    fn on_boundary(mesh: &VolumeMesh) -> Pressure {
        Pressure::new(mesh.vertices(), &Patch::boundary(mesh), P).unwrap()
    }

    fn on_side(mesh: &VolumeMesh, side: &str) -> (Patch, Pressure) {
        let patch = Patch::within(mesh, &mesh.vertex_sets()[side]).unwrap();
        let pressure = Pressure::new(mesh.vertices(), &patch, P).unwrap();
        (patch, pressure)
    }

    fn force_of(pressure: &Pressure, u: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; u.len()];
        pressure.add_gradient(u, &Conditions::START, &mut force);
        force
    }

    fn stiffness_of(pressure: &mut Pressure, u: &[f64], definiteness: Definiteness) -> Vec<Vec<f64>> {
        let pattern = bind_all(u.len() / 3, &mut [pressure]);
        let (mut f, mut k) = (vec![0.0; u.len()], BlockMatrix::zero(pattern));
        pressure.add_gradient_and_stiffness(u, &Conditions::START, definiteness, &mut f, &mut k);
        assert_eq!(f, force_of(pressure, u), "the force with stiffness differs from that without");
        dense(&k)
    }

    /// Returns `∂f/∂u`. Forces are quadratic, so central differences are exact.
    fn force_derivative(pressure: &Pressure, u: &[f64]) -> Vec<Vec<f64>> {
        let column = |j: usize| {
            let [mut low, mut high] = [u.to_vec(), u.to_vec()];
            low[j] -= 0.5;
            high[j] += 0.5;
            let (low, high) = (force_of(pressure, &low), force_of(pressure, &high));
            high.iter().zip(&low).map(|(high, low)| high - low).collect::<Vec<f64>>()
        };
        let columns: Vec<Vec<f64>> = (0..u.len()).map(column).collect();
        (0..u.len()).map(|i| columns.iter().map(|column| column[i]).collect()).collect()
    }

    #[test]
    fn on_a_closed_patch_all_are_derivatives_of_the_energy_and_in_balance() {
        for cells in CELLS {
            let mesh = small_mesh(cells);
            let mut pressure = on_boundary(&mesh);
            assert!(pressure.has_energy());
            for u in states(&mesh) {
                check_force(&mut pressure, mesh.vertices(), &u);
                pressure.set_pressure(-pressure.pressure(&Conditions::START)).unwrap();
            }
        }
    }

    #[test]
    fn the_energy_is_pressure_times_the_volume_gained() {
        for cells in CELLS {
            let mesh = small_mesh(cells);
            let pressure = on_boundary(&mesh);
            // Scaled by 1 + s, the volume gains 3s + 3s² + s³; also checked where that is a millionth of it.
            for s in [1.0, 1e-6] {
                let u: Vec<f64> = mesh.vertices().iter().flat_map(|&x| (s * x).to_array()).collect();
                let gain = mesh.volume() * s * (3.0 + 3.0 * s + s * s);
                assert!((pressure.volume_change(&u) - gain).abs() <= 1e-13 * gain);
                assert!((pressure.energy(&u, &Conditions::START) - P * gain).abs() <= 1e-13 * P * gain);
            }
            assert_eq!(pressure.energy(&vec![0.0; 3 * mesh.vertex_count()], &Conditions::START), 0.0);
        }
    }

    #[test]
    fn on_a_flat_side_the_push_is_pressure_times_area_against_the_normal() {
        for cells in [Cells::Tet5, Cells::Tet6, Cells::Hex] {
            let mesh = generate::block([1.0, 2.0, 3.0], [2, 3, 4], cells).unwrap();
            for (side, normal, area) in [("x-max", Vec3::X, 6.0), ("y-min", -Vec3::Y, 3.0), ("z-max", Vec3::Z, 2.0)] {
                let (patch, pressure) = on_side(&mesh, side);
                let u = vec![0.0; 3 * mesh.vertex_count()];
                let force = force_of(&pressure, &u);
                let (total, _) = resultants(mesh.vertices(), &u, &force);
                // The gradient is the negative of the push.
                assert!((-total + P * area * normal).length() < 1e-11 * P);
                // At each vertex it equals the traction of the same magnitude, and at rest the dead pressure.
                let traction = surface_traction(mesh.vertices(), &patch, -P * normal).unwrap();
                assert!(force.iter().zip(&traction).all(|(f, t)| (f + t).abs() < 1e-12 * P));
                let dead = dead_pressure(mesh.vertices(), &patch, P).unwrap();
                assert!(force.iter().zip(&dead).all(|(f, d)| *f == -d));
            }
        }
    }

    #[test]
    fn a_warped_quadrilateral_has_the_force_of_the_bilinear_surface() {
        let corners = [Vec3::ZERO, Vec3::new(1.0, 0.2, 0.5), Vec3::new(1.3, 1.1, -0.4), Vec3::new(-0.2, 0.9, 0.7)];
        let patch = Patch::new(4, Faces::uniform(4, vec![0, 1, 2, 3])).unwrap();
        let pressure = Pressure::new(corners, &patch, P).unwrap();
        let force = force_of(&pressure, &[0.0; 12]);
        let mut exact = [Vec3::ZERO; 4];
        for (weights, normal) in quad_points(corners) {
            (0..4).for_each(|n| exact[n] += 0.25 * P * weights[n] * normal);
        }
        for n in 0..4 {
            assert!((at(&force, n as u32) - exact[n]).length() < 1e-13 * P);
        }
    }

    #[test]
    fn on_an_open_patch_the_stiffness_is_the_symmetric_part_of_the_derivative() {
        for cells in CELLS {
            let mesh = small_mesh(cells);
            let (_, mut pressure) = on_side(&mesh, "z-max");
            assert!(!pressure.has_energy());
            for u in states(&mesh) {
                assert_eq!(pressure.energy(&u, &Conditions::START), 0.0);
                let derivative = force_derivative(&pressure, &u);
                let k = stiffness_of(&mut pressure, &u, Definiteness::Exact);
                let n = u.len();
                let size = k.iter().map(|row| largest(row)).fold(0.0, f64::max);
                let error = |i: usize, j: usize| (k[i][j] - 0.5 * (derivative[i][j] + derivative[j][i])).abs();
                assert!((0..n).all(|i| (0..n).all(|j| error(i, j) <= 1e-12 * size)));
                let spectrum = eigenvalues(stiffness_of(&mut pressure, &u, Definiteness::Projected));
                assert!(spectrum[0] >= -1e-12 * spectrum[n - 1]);
            }
        }
    }

    #[test]
    fn with_its_rim_fixed_an_open_patch_has_an_energy() {
        for cells in CELLS {
            let mesh = generate::block([1.0, 1.0, 0.3], [4, 4, 1], cells).unwrap();
            let (patch, pressure) = on_side(&mesh, "z-max");
            let mut pressure = pressure.with_fixed_rim();
            assert!(pressure.has_energy());
            let rim = patch.rim();
            let is_free = |i: usize| !rim.contains(&(i as u32 / 3));
            let mut u = random(3 * mesh.vertex_count(), 0.2, 3);
            (0..u.len()).filter(|&i| !is_free(i)).for_each(|i| u[i] = 0.0);
            let force = force_of(&pressure, &u);
            let derivative = force_derivative(&pressure, &u);
            let k = stiffness_of(&mut pressure, &u, Definiteness::Exact);
            let free: Vec<usize> = (0..u.len()).filter(|&i| is_free(i)).collect();
            let moved = |i: usize, by: f64| {
                let mut moved = u.clone();
                moved[i] += by;
                pressure.energy(&moved, &Conditions::START)
            };
            for &i in &free {
                // The volume is linear in each coordinate.
                assert!((moved(i, 0.5) - moved(i, -0.5) - force[i]).abs() < 1e-12 * P);
                assert!(free.iter().all(|&j| (k[i][j] - derivative[i][j]).abs() < 1e-12 * P));
            }
        }
    }

    #[test]
    fn a_dead_pressure_has_the_derivatives_of_a_constant_force() {
        for cells in CELLS {
            let mesh = small_mesh(cells);
            let patch = Patch::within(&mesh, &mesh.vertex_sets()["z-max"]).unwrap();
            let dead = dead_pressure(mesh.vertices(), &patch, P).unwrap();
            let mut loads = NodalLoads::constant(dead.clone()).unwrap();
            for u in states(&mesh) {
                let (force, stiffness) = check_derivatives(&mut loads, &Conditions::START, &u);
                assert!(force.iter().zip(&dead).all(|(f, dead)| *f == -dead));
                assert!(stiffness.values().iter().all(|&entry| entry == 0.0));
            }
        }
    }

    #[test]
    fn time_and_load_scale_the_pressure() {
        let mesh = small_mesh(Cells::Hex);
        let amplitude = Amplitude::keyframes([(0.0, 0.0), (2.0, 1.0)]).unwrap();
        let mut pressure = on_boundary(&mesh).with_amplitude(amplitude).unwrap();
        let all = Conditions::at(1.0);
        let half = Conditions { load_factor: 0.5, ..all };
        assert_eq!(pressure.pressure(&Conditions::START), 0.0);
        assert_eq!((pressure.pressure(&all), pressure.pressure(&half)), (0.5 * P, 0.25 * P));
        pressure.set_pressure(8.0).unwrap();
        assert_eq!(pressure.pressure(&half), 2.0);
    }

    #[test]
    fn results_are_bitwise_equal_on_one_and_four_threads() {
        for cells in CELLS {
            let mesh = generate::block([1.0; 3], [12, 12, 12], cells).unwrap();
            let pressure = on_boundary(&mesh);
            assert!(pressure.triangles.chunks().len() > 3);
            check_threads(&pressure, mesh.vertex_count());
        }
    }

    #[test]
    fn impossible_pressures_are_named_with_their_numbers() {
        let mesh = small_mesh(Cells::Hex);
        let patch = Patch::boundary(&mesh);
        let message = |rest: &[Vec3], p| Pressure::new(rest, &patch, p).unwrap_err().to_string();
        assert_eq!(message(mesh.vertices(), f64::NAN), "the pressure is NaN, expected a finite number of Pa");
        let other = "the patch is for a body with 18 vertices, but 1 rest positions are given";
        assert_eq!(message(&[Vec3::ZERO], 1.0), other);
        let endless = Amplitude::function(|t| 1.0 / t);
        let error = on_boundary(&mesh).with_amplitude(endless).unwrap_err().to_string();
        assert_eq!(error, "the amplitude of the pressure is inf at 0 s, expected a finite value");
    }
}
