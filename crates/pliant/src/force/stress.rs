//! Stress and strain of a deformed body, element by element. For vertices see [`NodalStates`](super::NodalStates).

use rayon::prelude::*;

use super::Elastic;
use crate::material::{LANES, Points};
use crate::math::{Mat3, Matrix, SignedSvd, Vec3};

/// Strain and stress at a point of a body, with the deformation gradient `F` and the stress `P` of the law.
///
/// The [linear](crate::material::Linear) law does not distinguish the deformed body from the one at rest. All its
/// stress measures are `σ = λ tr(ε) I + 2με`, and its strain is the small strain `ε`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StressState {
    /// Volume ratio `J = det F`.
    pub volume_ratio: f64,
    /// Singular values of `F`, in descending order. The last is negative if the element is inverted.
    pub stretches: Vec3,
    /// Green strain `E = ½(FᵀF − I)`.
    pub green_strain: Mat3,
    /// Strain measure of the law: `ε = ½(F + Fᵀ) − I` for the linear law, the Green strain for all others.
    pub strain: Mat3,
    /// First Piola–Kirchhoff stress `P`, force per rest area \[Pa\].
    pub first_piola: Mat3,
    /// Second Piola–Kirchhoff stress `S = F⁻¹P` \[Pa\]; not finite if the volume is zero. For the linear law `σ`.
    pub second_piola: Mat3,
    /// Cauchy stress `PFᵀ/J`, force per deformed area \[Pa\]; not finite if the volume is zero. For the linear law `σ`.
    pub cauchy: Mat3,
    /// Energy density `ψ` \[J/m³ of rest volume\].
    pub energy_density: f64,
}

impl StressState {
    pub(super) const ZERO: Self = Self::all(0.0);

    /// Marker for a vertex without elements.
    pub(super) const UNKNOWN: Self = Self::all(f64::NAN);

    const fn all(value: f64) -> Self {
        let (vector, matrix) = (Vec3::splat(value), Mat3::from_cols_array(&[value; 9]));
        Self {
            volume_ratio: value,
            stretches: vector,
            green_strain: matrix,
            strain: matrix,
            first_piola: matrix,
            second_piola: matrix,
            cauchy: matrix,
            energy_density: value,
        }
    }

    /// Returns the von Mises stress `√(3/2 s:s)`, with `s` the deviator of the Cauchy stress \[Pa\].
    pub fn von_mises(&self) -> f64 {
        let c = self.cauchy;
        let pressure = (c.x_axis.x + c.y_axis.y + c.z_axis.z) / 3.0;
        let deviator = c - Mat3::from_diagonal(Vec3::splat(pressure));
        (1.5 * deviator.to_cols_array().iter().map(|s| s * s).sum::<f64>()).sqrt()
    }

    fn new(f: &Matrix<f64>, p: &Matrix<f64>, energy_density: f64, is_small_strain: bool) -> Self {
        let (deformation, first_piola) = (to_mat3(f), to_mat3(p));
        let volume_ratio = deformation.determinant();
        let green_strain = (deformation.transpose() * deformation - Mat3::IDENTITY) * 0.5;
        let (strain, second_piola, cauchy) = if is_small_strain {
            let symmetric = |m: Mat3| (m + m.transpose()) * 0.5;
            // Compression resistance is a function of `det F` and makes `P` slightly unsymmetric.
            let stress = symmetric(first_piola);
            (symmetric(deformation) - Mat3::IDENTITY, stress, stress)
        } else {
            let inverse = to_mat3(&f.cofactor()).transpose() * (1.0 / volume_ratio);
            let cauchy = first_piola * deformation.transpose() * (1.0 / volume_ratio);
            (green_strain, inverse * first_piola, cauchy)
        };
        let stretches = Vec3::from(SignedSvd::new(f).sigma);
        Self { volume_ratio, stretches, green_strain, strain, first_piola, second_piola, cauchy, energy_density }
    }

    /// Adds a multiple of the volume ratio, the stretches and the energy density.
    pub(super) fn add_scalars(&mut self, weight: f64, other: &Self) {
        self.volume_ratio += weight * other.volume_ratio;
        self.stretches += weight * other.stretches;
        self.energy_density += weight * other.energy_density;
    }

    /// Adds a multiple of all strains and stresses.
    pub(super) fn add_tensors(&mut self, weight: f64, other: &Self) {
        self.green_strain += other.green_strain * weight;
        self.strain += other.strain * weight;
        self.first_piola += other.first_piola * weight;
        self.second_piola += other.second_piola * weight;
        self.cauchy += other.cauchy * weight;
    }

    pub(super) fn scaled(&self, factor: f64) -> Self {
        let mut scaled = Self::ZERO;
        scaled.add_scalars(factor, self);
        scaled.add_tensors(factor, self);
        scaled
    }

    /// Returns the weighted mean of states.
    pub(super) fn mean(states: &[(f64, Self)]) -> Self {
        let (weight, sum) = Self::integral(states);
        sum.scaled(1.0 / weight)
    }

    /// Returns the total weight and the weighted sum of the states.
    fn integral(states: &[(f64, Self)]) -> (f64, Self) {
        let mut sum = (0.0, Self::ZERO);
        for (weight, state) in states {
            sum.0 += weight;
            sum.1.add_scalars(*weight, state);
            sum.1.add_tensors(*weight, state);
        }
        sum
    }
}

impl Elastic {
    /// Returns the mean state of each element over its rest volume. In a tetrahedron the state is constant.
    ///
    /// # Panics
    /// If there are not three displacements per vertex.
    pub fn element_states(&self, u: &[f64]) -> Vec<StressState> {
        self.integrals(u).into_iter().map(|(volume, sum)| sum.scaled(1.0 / volume)).collect()
    }

    /// Returns the volume of each element and the integral of its state over it.
    pub(super) fn integrals(&self, u: &[f64]) -> Vec<(f64, StressState)> {
        self.check_length(u);
        let elements = self.elements();
        let of_group = |group: usize| -> Vec<(f64, StressState)> {
            let states = self.point_states(u, group);
            states.chunks_exact(elements.points_per_element()).map(StressState::integral).collect()
        };
        let groups: Vec<_> = (0..elements.group_count()).into_par_iter().map(of_group).collect();
        let count = groups.iter().map(Vec::len).sum();
        let mut all = vec![(0.0, StressState::ZERO); count];
        for (group, states) in groups.into_iter().enumerate() {
            for (&number, state) in elements.numbers(group).iter().zip(states) {
                all[number as usize] = state;
            }
        }
        all
    }

    /// Returns the weight and state of each quadrature point of each element of a group.
    pub(super) fn point_states(&self, u: &[f64], group: usize) -> Vec<(f64, StressState)> {
        self.check_length(u);
        let elements = self.elements();
        let points = elements.points_per_element();
        let (mut f, mut p, mut psi) = ([Points::ZERO; 8], [Points::ZERO; 8], [Points::ZERO; 8]);
        let (f, p, psi) = (&mut f[..points], &mut p[..points], &mut psi[..points]);
        let material = &self.materials()[elements.region(group)];
        self.deformation_gradients(u, group..group + 1, f);
        material.stresses(f, p);
        material.energies(f, psi);
        let is_small_strain = material.is_small_strain();
        let mut states = Vec::with_capacity(LANES * points);
        for lane in 0..elements.numbers(group).len() {
            let at = |points: &Points<9>| {
                Matrix(std::array::from_fn(|i| std::array::from_fn(|j| points.0[3 * i + j][lane])))
            };
            for point in 0..points {
                let state = StressState::new(&at(&f[point]), &at(&p[point]), psi[point].0[0][lane], is_small_strain);
                states.push((elements.weights(group)[point][lane], state));
            }
        }
        states
    }
}

fn to_mat3(m: &Matrix<f64>) -> Mat3 {
    Mat3::from_cols_array_2d(&m.0).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::mesh::{Cells, VolumeMesh, generate};

    fn elastic(law: &str, cells: Cells) -> (Elastic, VolumeMesh) {
        let mesh = generate::block([1.0, 0.5, 0.5], [3, 2, 2], cells).unwrap();
        let law = AnyLaw::new(law, YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap();
        (Elastic::uniform(&mesh, law), mesh)
    }

    fn displacements(vertices: &[Vec3], f: Mat3) -> Vec<f64> {
        vertices.iter().flat_map(|&x| (f * x - x).to_array()).collect()
    }

    #[test]
    fn a_stretched_and_turned_bar_has_the_stress_of_its_closed_form_everywhere() {
        let turn = Mat3::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.2);
        let stretch = Vec3::new(1.2, 0.95, 0.9);
        for cells in [Cells::Tet5, Cells::Hex] {
            let (elastic, mesh) = elastic("stvk", cells);
            let u = displacements(mesh.vertices(), turn * Mat3::from_diagonal(stretch));
            let green = (stretch * stretch - 1.0) * 0.5;
            let (mu, lambda) = (1e6 / 2.6, 1e6 * 0.3 / (1.3 * 0.4));
            let second = 2.0 * mu * green + Vec3::splat(lambda * (green.x + green.y + green.z));
            let volume_ratio = stretch.x * stretch.y * stretch.z;
            let cauchy = second * stretch * stretch / volume_ratio;
            let mises = (0.5
                * ((cauchy.x - cauchy.y).powi(2) + (cauchy.y - cauchy.z).powi(2) + (cauchy.z - cauchy.x).powi(2)))
            .sqrt();
            let nodal = elastic.nodal_states(&mesh, &u).dominant();
            for state in elastic.element_states(&u).iter().chain(&nodal) {
                let near = |a: Mat3, b: Mat3| assert!((a - b).to_cols_array().iter().all(|e| e.abs() < 1e-12 * 1e6));
                near(state.green_strain * 1e6, Mat3::from_diagonal(green) * 1e6);
                near(state.second_piola, Mat3::from_diagonal(second));
                near(state.first_piola, turn * Mat3::from_diagonal(stretch * second));
                near(state.cauchy, turn * Mat3::from_diagonal(cauchy) * turn.transpose());
                assert!((state.von_mises() - mises).abs() < 1e-12 * mises);
                assert!((state.stretches - stretch).length() < 1e-13);
                assert!((state.volume_ratio - volume_ratio).abs() < 1e-13);
                let energy = mu * green.dot(green) + 0.5 * lambda * (green.x + green.y + green.z).powi(2);
                assert!((state.energy_density - energy).abs() < 1e-12 * energy);
            }
        }
    }

    #[test]
    fn the_linear_law_has_its_own_stress_and_strain_whatever_the_measure() {
        let (elastic, mesh) = elastic("linear", Cells::Hex);
        let gradient = Mat3::from_cols_array(&[0.1, 0.02, 0.0, 0.3, -0.2, 0.0, 0.0, 0.1, 0.05]);
        let u = displacements(mesh.vertices(), Mat3::IDENTITY + gradient);
        let strain = (gradient + gradient.transpose()) * 0.5;
        let (mu, lambda) = (1e6 / 2.6, 1e6 * 0.3 / (1.3 * 0.4));
        let stress = strain * (2.0 * mu) + Mat3::from_diagonal(Vec3::splat(lambda * -0.05));
        for state in elastic.element_states(&u).iter().chain(&elastic.nodal_states(&mesh, &u).dominant()) {
            let near = |a: Mat3, b: Mat3| assert!((a - b).to_cols_array().iter().all(|e| e.abs() < 1e-12 * 1e6));
            near(state.strain * 1e6, strain * 1e6);
            near(state.cauchy, stress);
            near(state.first_piola, stress);
            near(state.second_piola, stress);
        }
    }

    #[test]
    fn an_inverted_element_has_a_negative_stretch_and_volume() {
        let (elastic, mesh) = elastic("stable-neo-hookean", Cells::Tet6);
        let u = displacements(mesh.vertices(), Mat3::from_diagonal(Vec3::new(1.0, 1.0, -0.5)));
        for state in elastic.element_states(&u) {
            assert!((state.stretches - Vec3::new(1.0, 1.0, -0.5)).length() < 1e-13);
            assert!((state.volume_ratio + 0.5).abs() < 1e-13);
        }
    }
}
