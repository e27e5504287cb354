//! St. Venant–Kirchhoff as a polynomial in the displacement, with the derivative of its stiffness.

use std::sync::Arc;

use thiserror::Error;

use super::gradients::ElementGradients;
use super::third_derivative::triples;
use super::{Conditions, Definiteness, Force, ThirdDerivative, ThirdDerivativeBlock, at, chunks, rows};
use crate::material::{StVenantKirchhoff, clamp_eigenvalues};
use crate::math::{Mat3, Matrix, Vec3, outer, par_sum};
use crate::mesh::VolumeMesh;
use crate::sparse::{BlockMatrix, BlockPattern, Scatter};

/// Maximum number of nodes of an element, and the number of their pairs.
const MAX_NODES: usize = 8;
const MAX_PAIRS: usize = MAX_NODES * (MAX_NODES + 1) / 2;

/// Error in the definition of the force.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum StVkPolynomialError {
    #[error("materials: expected one per region ({expected}), found {found}")]
    Count { found: usize, expected: usize },
    #[error(
        "region `{region}` has mu = {mu} and lambda = {lambda} Pa, expected mu ≥ 0 and 3 lambda + 2 mu ≥ 0, both finite"
    )]
    Coefficients { region: String, mu: f64, lambda: f64 },
}

/// Elastic force of [`StVenantKirchhoff`], whose energy is a polynomial of degree four in `u`. With `G = Σ uₐ ⊗ ∇Nₐ`,
/// `F = I + G`, Hooke's law `C:X = 2μ X + λ tr(X) I`, `sym X = ½(X + Xᵀ)`, and sums over quadrature points of weight
/// `w`:
///
/// - `E = ½(G + Gᵀ + GᵀG)`, `S = C:E`, `V = Σ w ½ E:S`;
/// - `fₐ = Σ w F S ∇Nₐ`, where `C:sym G` is the linear part of `F S`, `½ C:GᵀG + G (C:sym G)` the quadratic part and
///   `½ G (C:GᵀG)` the cubic part;
/// - with `a = ∇Nₐ` and `b = ∇N_b`, `Kₐ_b = Σ w [(a·Sb) I + μ (a·b) FFᵀ + μ Fb(Fa)ᵀ + λ Fa(Fb)ᵀ]`;
/// - for two vectors with the gradients `A` and `B`, defined as `G` for `u`:
///   `(∂K/∂u : A) B = Σ w [B (C:sym FᵀA) + A (C:sym FᵀB) + F (C:sym AᵀB)] ∇Nₐ`;
/// - with `c = ∇N_c`, `∂Kₐ_b/∂u_c = Σ w [δ_qr (hₐ)_p + δ_pr (h_b)_q + δ_pq (h_c)_r]`, where
///   `hₐ = μ (Fb (a·c) + Fc (a·b)) + λ Fa (b·c)`, and `h_b`, `h_c` likewise.
///
/// Tetrahedra are integrated exactly, hexahedra with 2×2×2 Gauss points. As `E` is computed from `G` and not from
/// `FᵀF − I`, small displacements suffer no cancellation.
///
/// The expanded polynomial has one coefficient per four nodes of an element, which can be precomputed
/// \[BarbicJames2005\]. These 4⁴ or 8⁴ coefficients must be read and summed in each evaluation. Evaluating `F` at the
/// quadrature points, as done here, gives equal results from a few small products.
///
/// In the projected stiffness, `S` in the first term of `K` has its negative eigenvalues raised to zero. The other
/// terms, the material stiffness, are positive semi-definite, and so is the sum. It may be stiffer than the projection
/// of `K` onto the positive semi-definite matrices.
#[derive(Debug, Clone)]
pub struct StVkPolynomial {
    vertex_count: usize,
    gradients: ElementGradients,
    /// Region of each element.
    region: Vec<u32>,
    /// Law of each region.
    laws: Vec<StVenantKirchhoff>,
    scatter: Scatter,
}

/// Returns `½(X + Xᵀ)`.
#[inline(always)]
fn sym(x: Mat3) -> Mat3 {
    (x + x.transpose()) * 0.5
}

/// Returns `tr X`.
#[inline(always)]
fn trace(x: &Mat3) -> f64 {
    x.x_axis.x + x.y_axis.y + x.z_axis.z
}

/// Returns `C:X`.
#[inline(always)]
fn hooke(law: &StVenantKirchhoff, x: Mat3) -> Mat3 {
    x * (2.0 * law.mu) + Mat3::from_diagonal(Vec3::splat(law.lambda * trace(&x)))
}

/// Returns `G` of the vectors `u` at the nodes of an element.
#[inline(always)]
fn gradient<const N: usize>(u: &[Vec3; N], gradients: &[Vec3; N]) -> Mat3 {
    let mut g = Mat3::ZERO;
    for node in 0..N {
        g += outer(u[node], gradients[node]);
    }
    g
}

/// Returns the Green strain `E`.
#[inline(always)]
fn strain(g: &Mat3) -> Mat3 {
    sym(*g) + g.transpose() * *g * 0.5
}

/// Returns `S₊`.
fn positive_part(s: &Mat3) -> Mat3 {
    let clamped = clamp_eigenvalues(&Matrix(s.transpose().to_cols_array_2d()));
    Mat3::from_cols_array_2d(&clamped.0).transpose()
}

impl StVkPolynomial {
    /// Creates the force for a mesh, with one law per region.
    pub fn new(mesh: &VolumeMesh, laws: &[StVenantKirchhoff]) -> Result<Self, StVkPolynomialError> {
        if laws.len() != mesh.regions().len() {
            return Err(StVkPolynomialError::Count { found: laws.len(), expected: mesh.regions().len() });
        }
        for (region, &StVenantKirchhoff { mu, lambda }) in mesh.regions().iter().zip(laws) {
            if !(mu.is_finite() && lambda.is_finite() && mu >= 0.0 && 3.0 * lambda + 2.0 * mu >= 0.0) {
                return Err(StVkPolynomialError::Coefficients { region: region.name.clone(), mu, lambda });
            }
        }
        let gradients = ElementGradients::new(mesh);
        let chunks = chunks(mesh.element_count());
        let scatter = Scatter::new(gradients.nodes_per_element, gradients.nodes.clone(), mesh.vertex_count(), &chunks);
        Ok(Self {
            vertex_count: mesh.vertex_count(),
            gradients,
            region: mesh.element_region().to_vec(),
            laws: laws.to_vec(),
            scatter,
        })
    }

    /// Returns `[f₁, f₂, f₃]`, the parts of the force that are linear, quadratic and cubic in `u`:
    /// `f(s u) = s f₁(u) + s² f₂(u) + s³ f₃(u)`.
    ///
    /// # Panics
    /// If `u` does not have three numbers per vertex.
    pub fn force_parts(&self, u: &[f64]) -> [Vec<f64>; 3] {
        let part = |stress: fn(&StVenantKirchhoff, Mat3) -> Mat3| {
            let mut force = vec![0.0; 3 * self.vertex_count];
            self.add_stresses([u], &mut force, |law, [g]| stress(law, g));
            force
        };
        [
            part(|law, g| hooke(law, sym(g))),
            part(|law, g| hooke(law, g.transpose() * g * 0.5) + g * hooke(law, sym(g))),
            part(|law, g| g * hooke(law, g.transpose() * g * 0.5)),
        ]
    }

    /// Adds `(∂K/∂u : a) b` to `out`: the derivative of the stiffness at `u` in the direction `a`, times `b`. It is
    /// symmetric in `a` and `b`. At `u = 0`, for two modes, it is the negative right-hand side of their modal
    /// derivative \[BarbicJames2005\].
    ///
    /// # Panics
    /// If a vector does not have three numbers per vertex.
    pub fn stiffness_derivative(&self, u: &[f64], a: &[f64], b: &[f64], out: &mut [f64]) {
        self.add_stresses([u, a, b], out, |law, [g, a, b]| {
            let f = Mat3::IDENTITY + g;
            let along = |x: &Mat3| hooke(law, sym(f.transpose() * *x));
            b * along(&a) + a * along(&b) + f * hooke(law, sym(a.transpose() * b))
        });
    }

    /// Returns `∂K/∂u` at `u`. If a contraction suffices, [`stiffness_derivative`](Self::stiffness_derivative) is
    /// faster and needs no memory.
    ///
    /// # Panics
    /// If `u` does not have three numbers per vertex.
    pub fn stiffness_derivative_tensor(&self, u: &[f64]) -> ThirdDerivative {
        let mut tensor = ThirdDerivative::zero(self.vertex_count, self.scatter.cliques());
        match self.gradients.nodes_per_element {
            4 => self.add_third_derivatives::<4>(u, &mut tensor),
            _ => self.add_third_derivatives::<8>(u, &mut tensor),
        }
        tensor
    }

    fn add_third_derivatives<const N: usize>(&self, u: &[f64], tensor: &mut ThirdDerivative) {
        let triples: Vec<[usize; 3]> = triples(N).collect();
        for element in 0..self.region.len() {
            let StVenantKirchhoff { mu, lambda } = *self.law(element);
            let moved = self.vectors::<N>(element, u);
            let mut blocks: Vec<ThirdDerivativeBlock> = vec![[[[0.0; 3]; 3]; 3]; triples.len()];
            for (w, gradients) in self.gradients.of::<N>(element) {
                let f = Mat3::IDENTITY + gradient(&moved, gradients);
                let pushed = gradients.map(|g| f * g);
                for (block, &nodes) in blocks.iter_mut().zip(&triples) {
                    // Term of the first of three nodes with the other two.
                    let share = |[i, j, k]: [usize; 3]| {
                        let [a, b, c] = [i, j, k].map(|node| gradients[node]);
                        let h = (pushed[j] * a.dot(c) + pushed[k] * a.dot(b)) * mu + pushed[i] * (lambda * b.dot(c));
                        (w * h).to_array()
                    };
                    let [i, j, k] = nodes;
                    let (of_i, of_j, of_k) = (share([i, j, k]), share([j, k, i]), share([k, i, j]));
                    for p in 0..3 {
                        for q in 0..3 {
                            block[p][q][q] += of_i[p];
                            block[q][p][q] += of_j[p];
                            block[q][q][p] += of_k[p];
                        }
                    }
                }
            }
            let vertices = self.nodes::<N>(element);
            for (block, &nodes) in blocks.iter().zip(&triples) {
                tensor.add(nodes.map(|node| vertices[node]), block);
            }
        }
    }

    #[inline(always)]
    fn law(&self, element: usize) -> &StVenantKirchhoff {
        &self.laws[self.region[element] as usize]
    }

    #[inline(always)]
    fn nodes<const N: usize>(&self, element: usize) -> &[u32] {
        &self.gradients.nodes[N * element..N * (element + 1)]
    }

    /// Returns the values of a flat vector at the nodes of an element.
    #[inline(always)]
    fn vectors<const N: usize>(&self, element: usize, flat: &[f64]) -> [Vec3; N] {
        let nodes = self.nodes::<N>(element);
        std::array::from_fn(|node| at(flat, nodes[node]))
    }

    /// Adds `Σ w P ∇Nₐ` to `out`, with a stress `P` computed from the gradients of some vectors.
    fn add_stresses<const V: usize>(
        &self,
        vectors: [&[f64]; V],
        out: &mut [f64],
        stress: impl Fn(&StVenantKirchhoff, [Mat3; V]) -> Mat3 + Send + Sync,
    ) {
        vectors.iter().for_each(|vector| self.scatter.check_length(vector));
        match self.gradients.nodes_per_element {
            4 => self.add_stresses_of::<V, 4>(vectors, out, stress),
            _ => self.add_stresses_of::<V, 8>(vectors, out, stress),
        }
    }

    fn add_stresses_of<const V: usize, const N: usize>(
        &self,
        vectors: [&[f64]; V],
        out: &mut [f64],
        stress: impl Fn(&StVenantKirchhoff, [Mat3; V]) -> Mat3 + Send + Sync,
    ) {
        self.scatter.run(out, None, |chunk, target| {
            for (local, element) in self.scatter.chunks()[chunk].clone().enumerate() {
                let law = self.law(element);
                let vectors = vectors.map(|flat| self.vectors::<N>(element, flat));
                let mut forces = [Vec3::ZERO; N];
                for (w, gradients) in self.gradients.of::<N>(element) {
                    let p = stress(law, std::array::from_fn(|v| gradient(&vectors[v], gradients))) * w;
                    for node in 0..N {
                        forces[node] += p * gradients[node];
                    }
                }
                for node in 0..N {
                    target.add_force(local, node, forces[node].to_array());
                }
            }
        });
    }

    fn energy_of<const N: usize>(&self, element: usize, u: &[f64]) -> f64 {
        let law = self.law(element);
        let moved = self.vectors::<N>(element, u);
        let mut energy = 0.0;
        for (w, gradients) in self.gradients.of::<N>(element) {
            let e = strain(&gradient(&moved, gradients));
            let trace = trace(&e);
            let square = e.x_axis.length_squared() + e.y_axis.length_squared() + e.z_axis.length_squared();
            energy += w * (law.mu * square + 0.5 * law.lambda * trace * trace);
        }
        energy
    }

    fn add_both<const N: usize>(
        &self,
        u: &[f64],
        definiteness: Definiteness,
        force: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.scatter.check_length(u);
        self.scatter.run(force, Some(stiffness), |chunk, target| {
            for (local, element) in self.scatter.chunks()[chunk].clone().enumerate() {
                let law = self.law(element);
                let moved = self.vectors::<N>(element, u);
                let mut forces = [Vec3::ZERO; N];
                let mut blocks = [Mat3::ZERO; MAX_PAIRS];
                for (w, gradients) in self.gradients.of::<N>(element) {
                    let g = gradient(&moved, gradients);
                    let f = Mat3::IDENTITY + g;
                    let s = hooke(law, strain(&g));
                    let p = f * s * w;
                    let fixed = match definiteness {
                        Definiteness::Exact => s,
                        Definiteness::Projected => positive_part(&s),
                    };
                    let (mu, lambda) = (w * law.mu, w * law.lambda);
                    let left = f * f.transpose() * mu;
                    let pushed = gradients.map(|g| f * g);
                    let mut pair = 0;
                    for a in 0..N {
                        forces[a] += p * gradients[a];
                        let (material, crossed, fixed) = (pushed[a] * lambda, pushed[a] * mu, fixed * gradients[a] * w);
                        for b in a..N {
                            let geometric = Mat3::from_diagonal(Vec3::splat(fixed.dot(gradients[b])));
                            blocks[pair] += geometric
                                + left * gradients[a].dot(gradients[b])
                                + outer(pushed[b], crossed)
                                + outer(material, pushed[b]);
                            pair += 1;
                        }
                    }
                }
                for node in 0..N {
                    target.add_force(local, node, forces[node].to_array());
                }
                for (pair, &block) in blocks[..N * (N + 1) / 2].iter().enumerate() {
                    target.add_block(local, pair, &rows(block));
                }
            }
        });
    }
}

impl Force for StVkPolynomial {
    fn node_count(&self) -> usize {
        self.vertex_count
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        self.scatter.cliques().for_each(add);
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        self.scatter.bind(pattern);
    }

    fn energy(&self, u: &[f64], _conditions: &Conditions<'_>) -> f64 {
        self.scatter.check_length(u);
        par_sum(0.0, self.region.len(), |element| match self.gradients.nodes_per_element {
            4 => self.energy_of::<4>(element, u),
            _ => self.energy_of::<8>(element, u),
        })
    }

    fn add_gradient(&self, u: &[f64], _conditions: &Conditions<'_>, gradient: &mut [f64]) {
        self.add_stresses([u], gradient, |law, [g]| (Mat3::IDENTITY + g) * hooke(law, strain(&g)));
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        _conditions: &Conditions<'_>,
        definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        match self.gradients.nodes_per_element {
            4 => self.add_both::<4>(u, definiteness, gradient, stiffness),
            _ => self.add_both::<8>(u, definiteness, gradient, stiffness),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::material::Law;
    use crate::mesh::shape::{gauss_2, hex_gradients, hex_jacobian};
    use crate::mesh::{Cells, ElementKind, generate};

    const CELLS: [Cells; 2] = [Cells::Tet6, Cells::Hex];
    const SOFT: StVenantKirchhoff = StVenantKirchhoff { mu: 3e4, lambda: 1e5 };
    const STIFF: StVenantKirchhoff = StVenantKirchhoff { mu: 1e5, lambda: -3e4 };

    /// Returns a body of two regions, so that each element must find its law.
    fn body(cells: Cells) -> (VolumeMesh, StVkPolynomial) {
        let mut data = small_mesh(cells).into_data();
        let count = data.elements.len() / data.kind.nodes();
        data.regions = vec![crate::mesh::Region::named("soft"), crate::mesh::Region::named("stiff")];
        data.element_region = (0..count as u32).map(|element| element % 2).collect();
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let force = StVkPolynomial::new(&mesh, &[SOFT, STIFF]).unwrap();
        (mesh, force)
    }

    #[test]
    fn force_stiffness_and_projection_are_derivatives_of_the_energy() {
        for cells in CELLS {
            let (mesh, mut force) = body(cells);
            for u in states(&mesh) {
                check_force(&mut force, mesh.vertices(), &u);
            }
        }
    }

    #[test]
    fn rigid_motion_gives_no_force() {
        for cells in CELLS {
            let (mesh, mut force) = body(cells);
            check_rigid_motion(&mut force, mesh.vertices());
        }
    }

    #[test]
    fn the_derivative_of_the_stiffness_matches_differences_and_its_tensor() {
        for cells in CELLS {
            let (mesh, mut force) = body(cells);
            let mut states = states(&mesh);
            states.push(vec![0.0; 3 * mesh.vertex_count()]);
            for u in states {
                let derivative = |force: &StVkPolynomial, u: &[f64], a: &[f64], b: &[f64], out: &mut [f64]| {
                    force.stiffness_derivative(u, a, b, out);
                };
                check_stiffness_derivative(&mut force, &u, derivative, StVkPolynomial::stiffness_derivative_tensor);
            }
        }
    }

    /// Returns energy, force and stiffness from the stress and tangent of the law, with `F` from deformed positions.
    fn direct(mesh: &VolumeMesh, u: &[f64]) -> (f64, Vec<f64>, Vec<Vec<f64>>) {
        let mut energy = 0.0;
        let mut force = vec![0.0; u.len()];
        let mut stiffness = vec![vec![0.0; u.len()]; u.len()];
        for (nodes, &region) in mesh.elements().zip(mesh.element_region()) {
            let law = [SOFT, STIFF][region as usize];
            let rest: Vec<Vec3> = nodes.iter().map(|&v| mesh.vertices()[v as usize]).collect();
            let points: Vec<(f64, Vec<Vec3>)> = match mesh.kind() {
                ElementKind::Tet4 => {
                    // Each gradient is normal to the face opposite its node, and its length is the inverse of the
                    // height.
                    let height = |n: usize| {
                        let [a, b, c] = [1, 2, 3].map(|k| rest[(n + k) % 4]);
                        let normal = (b - a).cross(c - a);
                        normal / normal.dot(rest[n] - a)
                    };
                    let volume = (rest[1] - rest[0]).cross(rest[2] - rest[0]).dot(rest[3] - rest[0]) / 6.0;
                    vec![(volume, (0..4).map(height).collect())]
                }
                ElementKind::Hex8 => {
                    let corners: [Vec3; 8] = rest.try_into().unwrap();
                    let at_point = |(xi, w): (Vec3, f64)| {
                        let jacobian = hex_jacobian(&corners, xi);
                        let gradients = hex_gradients(xi).map(|g| jacobian.transpose().inverse() * g);
                        (w * jacobian.determinant(), gradients.to_vec())
                    };
                    gauss_2().map(at_point).collect()
                }
            };
            for (w, gradients) in points {
                let mut f: Matrix<f64> = Matrix::zero();
                for (&v, g) in nodes.iter().zip(&gradients) {
                    let x = (mesh.vertices()[v as usize] + at(u, v)).to_array();
                    for i in 0..3 {
                        for j in 0..3 {
                            f.0[i][j] += x[i] * g[j];
                        }
                    }
                }
                energy += w * law.energy(&f);
                let (stress, tangent) = law.stress_and_tangent(&f);
                for (&a, ga) in nodes.iter().zip(&gradients) {
                    for i in 0..3 {
                        let row = 3 * a as usize + i;
                        force[row] += w * (0..3).map(|j| stress.0[i][j] * ga[j]).sum::<f64>();
                        for (&b, gb) in nodes.iter().zip(&gradients) {
                            for (k, j, l) in (0..27).map(|n| (n / 9, n / 3 % 3, n % 3)) {
                                stiffness[row][3 * b as usize + k] += w * tangent[3 * i + j][3 * k + l] * ga[j] * gb[l];
                            }
                        }
                    }
                }
            }
        }
        (energy, force, stiffness)
    }

    #[test]
    fn it_equals_the_law_evaluated_at_the_quadrature_points() {
        for cells in CELLS {
            let (mesh, mut force) = body(cells);
            let pattern = super::super::bind_all(mesh.vertex_count(), &mut [&mut force]);
            for u in states(&mesh) {
                let (energy, f, k) = direct(&mesh, &u);
                let (mut found_f, mut found_k) = (vec![0.0; u.len()], BlockMatrix::zero(pattern.clone()));
                force.add_gradient_and_stiffness(
                    &u,
                    &Conditions::START,
                    Definiteness::Exact,
                    &mut found_f,
                    &mut found_k,
                );
                let found_k = dense(&found_k);
                let stiffest = k.iter().map(|row| largest(row)).fold(0.0, f64::max);
                assert!((force.energy(&u, &Conditions::START) - energy).abs() <= 1e-13 * stiffest);
                for i in 0..u.len() {
                    assert!((found_f[i] - f[i]).abs() <= 1e-13 * stiffest);
                    assert!((0..u.len()).all(|j| (found_k[i][j] - k[i][j]).abs() <= 1e-13 * stiffest));
                }
            }
        }
    }

    #[test]
    fn the_force_is_the_sum_of_its_linear_quadratic_and_cubic_parts() {
        for cells in CELLS {
            let (mesh, mut force) = body(cells);
            let pattern = super::super::bind_all(mesh.vertex_count(), &mut [&mut force]);
            let u = &states(&mesh)[1];
            let [linear, quadratic, cubic] = force.force_parts(u);
            let size = largest(&linear);
            for s in [-3.0, 0.5, 1.0, 7.0] {
                let scaled: Vec<f64> = u.iter().map(|u| s * u).collect();
                let mut f = vec![0.0; u.len()];
                force.add_gradient(&scaled, &Conditions::START, &mut f);
                for i in 0..u.len() {
                    let expected = s * linear[i] + s * s * quadratic[i] + s * s * s * cubic[i];
                    assert!((f[i] - expected).abs() <= 1e-12 * size * (1.0 + s.abs().powi(3)));
                }
            }
            // The linear part is the stiffness at rest, and the quadratic part is half its first derivative there.
            let rest = vec![0.0; u.len()];
            let (mut f, mut k) = (rest.clone(), BlockMatrix::zero(pattern));
            force.add_gradient_and_stiffness(&rest, &Conditions::START, Definiteness::Exact, &mut f, &mut k);
            assert!(f.iter().all(|&f| f == 0.0));
            k.mul(u, &mut f);
            let mut derivative = rest.clone();
            force.stiffness_derivative(&rest, u, u, &mut derivative);
            for i in 0..u.len() {
                assert!((linear[i] - f[i]).abs() <= 1e-12 * size);
                assert!((quadratic[i] - 0.5 * derivative[i]).abs() <= 1e-12 * size);
            }
        }
    }

    #[test]
    fn small_displacements_keep_their_digits() {
        // Far below the rounding of positions of about a meter, the force is still the linear one.
        let (mesh, force) = body(Cells::Hex);
        let u = random(3 * mesh.vertex_count(), 1e-18, 40);
        let mut f = vec![0.0; u.len()];
        force.add_gradient(&u, &Conditions::START, &mut f);
        let [linear, ..] = force.force_parts(&u);
        assert!(f.iter().zip(&linear).all(|(f, l)| (f - l).abs() <= 1e-14 * largest(&linear)));
    }

    #[test]
    fn a_stretched_cube_has_the_stress_of_the_formula() {
        // Stretched by s along x: E₁₁ = ½(s² − 1), and the force on the face is F₁₁ (2μ + λ) E₁₁ times its area.
        for cells in CELLS {
            let mesh = generate::block([1.0, 2.0, 0.5], [2, 2, 2], cells).unwrap();
            let force = StVkPolynomial::new(&mesh, &[SOFT]).unwrap();
            let s = 1.3;
            let u: Vec<f64> = mesh.vertices().iter().flat_map(|x| [(s - 1.0) * x.x, 0.0, 0.0]).collect();
            let mut f = vec![0.0; u.len()];
            force.add_gradient(&u, &Conditions::START, &mut f);
            let on_face: f64 = mesh.vertex_sets()["x-max"].iter().map(|&v| at(&f, v).x).sum();
            let strain = 0.5 * (s * s - 1.0);
            let expected = s * (2.0 * SOFT.mu + SOFT.lambda) * strain;
            assert!((on_face - expected).abs() <= 1e-12 * expected);
            let energy = (SOFT.mu + 0.5 * SOFT.lambda) * strain * strain;
            assert!((force.energy(&u, &Conditions::START) - energy).abs() <= 1e-12 * energy);
        }
    }

    #[test]
    fn results_are_bitwise_equal_on_one_and_four_threads() {
        for cells in CELLS {
            let mesh = generate::block([1.0; 3], [10, 10, 10], cells).unwrap();
            let force = StVkPolynomial::new(&mesh, &[SOFT]).unwrap();
            assert!(force.scatter.chunks().len() > 3);
            check_threads(&force, mesh.vertex_count());
        }
    }

    #[test]
    fn impossible_materials_are_refused_with_numbers() {
        let mesh = small_mesh(Cells::Tet5);
        let message = |laws: &[StVenantKirchhoff]| StVkPolynomial::new(&mesh, laws).unwrap_err().to_string();
        assert_eq!(message(&[SOFT, STIFF]), "materials: expected one per region (1), found 2");
        assert_eq!(
            message(&[StVenantKirchhoff { mu: 3.0, lambda: -2.5 }]),
            "region `body` has mu = 3 and lambda = -2.5 Pa, expected mu ≥ 0 and 3 lambda + 2 mu ≥ 0, both finite"
        );
        assert!(message(&[StVenantKirchhoff { mu: f64::NAN, lambda: 1.0 }]).contains("mu = NaN"));
    }
}
