//! Strains of tetrahedra as constraints, and their derivatives.

use std::array::from_fn;
use std::ops::{Add, Mul};

use rayon::prelude::*;

use super::Strain;
use crate::element::quadrature;
use crate::material::YoungPoisson;
use crate::math::{Mat3, Vec3, outer};
use crate::mesh::VolumeMesh;

/// Pairs of axes of the three shears, in the Voigt order used here: 12, 13, 23.
const SHEARS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// Isotropic 6×6 matrix over strains `(11, 22, 33, 2·12, 2·13, 2·23)`, given by its eigenvalues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Isotropic {
    /// Eigenvalue of `(1, 1, 1, 0, 0, 0)`.
    dilation: f64,
    /// Eigenvalue of deviatoric normal strains.
    deviation: f64,
    /// Eigenvalue of each shear.
    shear: f64,
}

impl Isotropic {
    /// Returns `α = D⁻¹`: zero for dilation if `ν = ½`, and zero if `Y = ∞`.
    pub fn compliance(moduli: YoungPoisson) -> Self {
        let YoungPoisson { young, poisson } = moduli;
        let deviation = (1.0 + poisson) / young;
        Self { dilation: (1.0 - 2.0 * poisson) / young, deviation, shear: 2.0 * deviation }
    }

    /// Applies a function to each eigenvalue.
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self { dilation: change(self.dilation), deviation: change(self.deviation), shear: change(self.shear) }
    }

    /// Returns the product with a vector of strains.
    #[inline(always)]
    pub fn apply<T: Copy + Add<Output = T> + Mul<f64, Output = T>>(self, x: [T; 6]) -> [T; 6] {
        let common = (x[0] + x[1] + x[2]) * ((self.dilation - self.deviation) / 3.0);
        from_fn(|k| if k < 3 { x[k] * self.deviation + common } else { x[k] * self.shear })
    }

    /// Returns the blocks of the normal strains and of the shears. The latter is `shear` times the identity, and there
    /// is no coupling.
    pub fn blocks(self) -> [[[f64; 3]; 3]; 2] {
        let common = (self.dilation - self.deviation) / 3.0;
        let diagonal = |on: f64, off: f64| from_fn(|i| from_fn(|j| if i == j { on + off } else { off }));
        [diagonal(self.deviation, common), diagonal(self.shear, 0.0)]
    }
}

/// Derivative `∂φ/∂x` of a tetrahedron: for each node, for each strain.
pub(super) type Jacobian = [[Vec3; 6]; 4];

/// Returns the force of the multipliers on a node, its part of `Jᵀμ`.
#[inline(always)]
pub(super) fn pull(rows: &[Vec3; 6], multipliers: &[f64; 6]) -> Vec3 {
    (0..6).fold(Vec3::ZERO, |sum, k| sum + rows[k] * multipliers[k])
}

/// Tetrahedron with its strain in the current state.
#[derive(Debug, Clone)]
pub(super) struct Tet {
    /// Vertices, ascending.
    pub nodes: [u32; 4],
    gradients: [Vec3; 4],
    /// Square root of the rest volume, `√V`.
    root_volume: f64,
    /// Compliance `α`.
    compliance: Isotropic,
    /// Trace of `J M⁻¹Jᵀ` at rest, with lumped masses: the mobility of its strains.
    mobility: f64,
    /// Deformation gradient at which `J` is evaluated.
    f: Mat3,
    /// Constraints `φ = √V ε`.
    pub phi: [f64; 6],
    /// Right-hand side of `J v₊ + γh⁻²α hλ`, with the known velocities of fixed coordinates subtracted.
    pub wanted: [f64; 6],
}

/// Minimum compliance, relative to that of the mass alone. Tetrahedra have more strains than their vertices have
/// coordinates, so without any compliance the multipliers would not be unique. It corresponds to a material whose
/// elements vibrate with `ωh = 10⁵`.
const MIN_COMPLIANCE: f64 = 1e-10;

/// Compliance of dilation, relative to that of other strains, below which a material counts as incompressible.
const INCOMPRESSIBLE: f64 = 1e-6;

impl Tet {
    /// Returns `J` at the current state.
    #[inline(always)]
    pub fn jacobian(&self) -> Jacobian {
        let columns = [self.f.x_axis, self.f.y_axis, self.f.z_axis];
        self.gradients.map(|gradient| {
            let g = (self.root_volume * gradient).to_array();
            let normal = |i: usize| columns[i] * g[i];
            let shear = |(i, j): (usize, usize)| columns[i] * g[j] + columns[j] * g[i];
            from_fn(|k| if k < 3 { normal(k) } else { shear(SHEARS[k - 3]) })
        })
    }

    /// Returns `J` without the columns of fixed coordinates.
    #[inline(always)]
    pub fn free_jacobian(&self, fixed: &[bool]) -> Jacobian {
        let mut jacobian = self.jacobian();
        for (rows, &node) in jacobian.iter_mut().zip(&self.nodes) {
            let fixed = &fixed[3 * node as usize..3 * node as usize + 3];
            if fixed.contains(&true) {
                let free = Vec3::from_array(from_fn(|axis| if fixed[axis] { 0.0 } else { 1.0 }));
                rows.iter_mut().for_each(|row| *row *= free);
            }
        }
        jacobian
    }

    /// Returns the strain rate `J v`.
    #[inline(always)]
    pub fn rate(&self, jacobian: &Jacobian, v: &[f64]) -> [f64; 6] {
        let v = self.nodes.map(|node| Vec3::from_slice(&v[3 * node as usize..]));
        from_fn(|k| (0..4).map(|a| jacobian[a][k].dot(v[a])).sum())
    }

    /// Returns the residual `r − J v − Sμ` of velocities and multipliers.
    #[inline(always)]
    pub fn left(&self, jacobian: &Jacobian, softness: Isotropic, v: &[f64], multipliers: &[f64; 6]) -> [f64; 6] {
        let (rate, give) = (self.rate(jacobian, v), softness.apply(*multipliers));
        from_fn(|k| self.wanted[k] - rate[k] - give[k])
    }

    /// Adds `Jᵀ multipliers` to `force`.
    #[inline(always)]
    pub fn add_force(&self, jacobian: &Jacobian, multipliers: &[f64; 6], force: &mut [f64]) {
        for (rows, &node) in jacobian.iter().zip(&self.nodes) {
            let pull = pull(rows, multipliers);
            for axis in 0..3 {
                force[3 * node as usize + axis] += pull[axis];
            }
        }
    }

    /// Returns `γh⁻²α`, or for rigid and incompressible materials the minimum that keeps multipliers unique.
    pub fn softness(&self, gamma_per_h2: f64) -> Isotropic {
        let (alpha, least) = (self.compliance, MIN_COMPLIANCE * self.mobility);
        let mut softness = alpha.map(|alpha| if alpha == 0.0 { least } else { gamma_per_h2 * alpha });
        if alpha.dilation <= INCOMPRESSIBLE * alpha.deviation {
            softness.dilation = softness.dilation.max(least);
        }
        softness
    }

    fn set(&mut self, q: &[f64], strain: Strain) {
        let mut g = Mat3::ZERO;
        for (gradient, &node) in self.gradients.iter().zip(&self.nodes) {
            g += outer(Vec3::from_slice(&q[3 * node as usize..]), *gradient);
        }
        // 2E = G + Gᵀ + GᵀG, which is exactly zero at rest.
        let mut twice = g + g.transpose();
        if strain == Strain::Nonlinear {
            twice += g.transpose() * g;
            self.f = Mat3::IDENTITY + g;
        }
        let entry = |i: usize, j: usize| self.root_volume * twice.col(j)[i];
        self.phi = from_fn(|k| if k < 3 { 0.5 * entry(k, k) } else { entry(SHEARS[k - 3].0, SHEARS[k - 3].1) });
    }
}

/// Strains of all tetrahedra.
#[derive(Debug, Clone)]
pub(super) struct Strains {
    pub tets: Vec<Tet>,
    strain: Strain,
}

impl Strains {
    pub fn new(strain: Strain) -> Self {
        Self { tets: Vec::new(), strain }
    }

    /// Adds the tetrahedra of a mesh, whose vertices are numbered from `first`, with moduli for each of its regions.
    pub fn add(&mut self, mesh: &VolumeMesh, first: u32, moduli: &[YoungPoisson], vertex_mass: &[f64]) {
        for (number, (element, &region)) in mesh.elements().zip(mesh.element_region()).enumerate() {
            let (volume, gradients) = quadrature(mesh, number)[0];
            let mut order = [0, 1, 2, 3];
            order.sort_unstable_by_key(|&node| element[node]);
            let mut tet = Tet {
                nodes: order.map(|node| first + element[node]),
                gradients: order.map(|node| gradients[node]),
                root_volume: volume.sqrt(),
                compliance: Isotropic::compliance(moduli[region as usize]),
                mobility: 0.0,
                f: Mat3::IDENTITY,
                phi: [0.0; 6],
                wanted: [0.0; 6],
            };
            let squares = |rows: &[Vec3; 6]| rows.iter().map(|row| row.length_squared()).sum::<f64>();
            let nodes = tet.nodes.iter().map(|&node| vertex_mass[node as usize]);
            tet.mobility = tet.jacobian().iter().zip(nodes).map(|(rows, mass)| squares(rows) / mass).sum();
            self.tets.push(tet);
        }
    }

    /// Sets the state. Fixed coordinates move at `fixed_v`, which is zero elsewhere.
    pub fn set(&mut self, q: &[f64], gamma_per_h: f64, fixed_v: Option<&[f64]>) {
        let strain = self.strain;
        self.tets.par_iter_mut().with_min_len(256).for_each(|tet| {
            tet.set(q, strain);
            tet.wanted = tet.phi.map(|phi| -gamma_per_h * phi);
            if let Some(v) = fixed_v {
                let rate = tet.rate(&tet.jacobian(), v);
                (0..6).for_each(|k| tet.wanted[k] -= rate[k]);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Regularized, RegularizedParams};
    use super::*;
    use crate::material::AnyLaw;
    use crate::mesh::{Cells, generate};
    use crate::model::{Assembly, Body, Model};
    use crate::system::{Combination, Definiteness, System};

    fn strains(strain: Strain, moduli: YoungPoisson) -> (Strains, usize) {
        let mesh = generate::block([1.0, 0.7, 1.3], [2, 1, 2], Cells::Tet6).unwrap();
        let mut strains = Strains::new(strain);
        strains.add(&mesh, 0, &[moduli], &vec![2.0; mesh.vertex_count()]);
        (strains, 3 * mesh.vertex_count())
    }

    const MODULI: YoungPoisson = YoungPoisson { young: 3.0, poisson: 0.3 };

    #[test]
    fn jacobians_are_the_derivatives_of_strains_in_random_states() {
        for strain in [Strain::Nonlinear, Strain::Linear] {
            let (mut strains, n) = strains(strain, MODULI);
            let mut rng = fastrand::Rng::with_seed(7);
            for _ in 0..5 {
                let q: Vec<f64> = (0..n).map(|_| rng.f64() - 0.5).collect();
                let v: Vec<f64> = (0..n).map(|_| rng.f64() - 0.5).collect();
                strains.set(&q, 1.0, None);
                let rates: Vec<[f64; 6]> = strains.tets.iter().map(|tet| tet.rate(&tet.jacobian(), &v)).collect();
                // Strains are quadratic, so central differences are exact.
                let step = 0.1;
                let mut at = |s: f64| {
                    let q: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + s * v).collect();
                    strains.set(&q, 1.0, None);
                    strains.tets.iter().map(|tet| tet.phi).collect::<Vec<_>>()
                };
                let (after, before) = (at(step), at(-step));
                for (tet, rate) in rates.iter().enumerate() {
                    for k in 0..6 {
                        let expected = (after[tet][k] - before[tet][k]) / (2.0 * step);
                        assert!((rate[k] - expected).abs() < 1e-13, "{strain:?} {tet} {k}: {} {expected}", rate[k]);
                    }
                }
            }
        }
    }

    #[test]
    fn rotations_are_no_strain_and_strains_of_a_stretch_are_as_defined() {
        let (mut strains, n) = strains(Strain::Nonlinear, MODULI);
        let mesh = generate::block([1.0, 0.7, 1.3], [2, 1, 2], Cells::Tet6).unwrap();
        let mut q_of = |f: Mat3| {
            let q: Vec<f64> = mesh.vertices().iter().flat_map(|&x| (f * x - x).to_array()).collect();
            assert_eq!(q.len(), n);
            strains.set(&q, 1.0, None);
            strains.tets.iter().map(|tet| tet.phi.map(|phi| phi / tet.root_volume)).collect::<Vec<_>>()
        };
        for epsilon in q_of(Mat3::from_axis_angle(Vec3::new(0.36, 0.48, 0.8), 2.0)) {
            assert!(epsilon.iter().all(|e| e.abs() < 1e-14), "{epsilon:?}");
        }
        let f = Mat3::from_cols(Vec3::new(1.1, 0.0, 0.2), Vec3::new(0.3, 0.9, 0.0), Vec3::new(0.0, -0.1, 1.2));
        let green = (f.transpose() * f - Mat3::IDENTITY) * 0.5;
        let expected = [green.x_axis.x, green.y_axis.y, green.z_axis.z, green.y_axis.x, green.z_axis.x, green.z_axis.y];
        for epsilon in q_of(f) {
            for k in 0..6 {
                let factor = if k < 3 { 1.0 } else { 2.0 };
                assert!((epsilon[k] - factor * expected[k]).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn stiffness_is_that_of_hooke_with_engineering_shear_and_the_inverse_of_the_compliance() {
        let (mu, lambda) = (MODULI.mu(), MODULI.lambda());
        let compliance = Isotropic::compliance(MODULI);
        let stiffness = compliance.map(f64::recip);
        let x = [0.3, -0.2, 0.5, 0.7, -0.1, 0.4];
        let stress = stiffness.apply(x);
        for k in 0..6 {
            let expected = if k < 3 { 2.0 * mu * x[k] + lambda * (x[0] + x[1] + x[2]) } else { mu * x[k] };
            assert!((stress[k] - expected).abs() < 1e-14);
        }
        let again = compliance.apply(stress);
        let [normal, shear] = compliance.blocks();
        for k in 0..6 {
            assert!((again[k] - x[k]).abs() < 1e-14);
            let block = if k < 3 { normal } else { shear };
            let first = k / 3 * 3;
            let row: f64 = (0..3).map(|j| block[k - first][j] * stress[first + j]).sum();
            assert!((row - x[k]).abs() < 1e-14);
        }
        let incompressible = Isotropic::compliance(YoungPoisson { young: 3.0, poisson: 0.5 });
        assert_eq!((incompressible.dilation, incompressible.deviation), (0.0, 0.5));
        let rigid = Isotropic::compliance(YoungPoisson { young: f64::INFINITY, poisson: 0.3 });
        assert_eq!(rigid, Isotropic { dilation: 0.0, deviation: 0.0, shear: 0.0 });
    }

    #[test]
    fn for_gamma_one_a_step_is_linearized_backward_euler_of_stvk_without_geometric_stiffness() {
        let mesh = generate::block([1.0, 0.7, 1.3], [2, 1, 2], Cells::Tet6).unwrap();
        let moduli = YoungPoisson { young: 1e5, poisson: 0.3 };
        let law = AnyLaw::new("stvk", moduli).unwrap();
        let model =
            |body: Body| Assembly::new(Model::builder().body(body).gravity(Vec3::new(1.0, -9.0, 2.0)).build().unwrap());
        let mut elastic = model(Body::new(mesh.clone(), law, 1000.0));
        let mut bare = model(Body::without_elasticity(mesh, 1000.0));
        let h = 0.02;
        let params =
            RegularizedParams { damping_time: Some(0.5 * h), ..RegularizedParams::new(moduli.young, moduli.poisson) };
        let mut integrator = Regularized::new(bare.model(), &params).unwrap();
        let mut rng = fastrand::Rng::with_seed(9);
        let mut state = bare.rest_state();
        state.q.iter_mut().for_each(|q| *q = 0.2 * (rng.f64() - 0.5));
        state.v.iter_mut().for_each(|v| *v = rng.f64() - 0.5);
        let before = state.clone();
        integrator.step(&mut bare, &mut state, h).unwrap();
        // (M + h²(K − K_geometric)) v₊ = M v + h f, with forces and stiffness of the elastic body.
        let n = state.q.len();
        let (mut force, mut left, mut right) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let stiffness = elastic.linearize(&before.q, &before.conditions(h), Definiteness::Exact, &mut force).stiffness;
        elastic.mul(Combination::of_mass(1.0).and_stiffness(h * h, &stiffness), &state.v, &mut left);
        elastic.mul(Combination::of_mass(1.0), &before.v, &mut right);
        (0..n).for_each(|i| right[i] += h * force[i]);
        for tet in &integrator.strains.tets {
            let s = tet.compliance.map(f64::recip).apply(tet.phi);
            let stress = Mat3::from_cols_array(&[s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]]);
            for (a, &i) in tet.nodes.iter().enumerate() {
                for (b, &j) in tet.nodes.iter().enumerate() {
                    let factor = tet.root_volume * tet.gradients[a].dot(stress * tet.gradients[b]);
                    for axis in 0..3 {
                        left[3 * i as usize + axis] -= h * h * factor * state.v[3 * j as usize + axis];
                    }
                }
            }
        }
        let largest = right.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
        for i in 0..n {
            assert!((left[i] - right[i]).abs() < 1e-11 * largest, "{i}: {} {}", left[i], right[i]);
        }
    }
}
