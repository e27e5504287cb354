//! Stress and strain of a deformed body, element by element and at its vertices.

use rayon::prelude::*;

use super::Elastic;
use crate::material::{LANES, Points};
use crate::math::{Mat3, Matrix, SignedSvd, Vec3};

/// How a piece of the body is deformed, and what it answers. With `F` the deformation gradient and `P` the stress of the law:
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strained {
    /// `J = det F`, the volume as a part of that at rest.
    pub volume_ratio: f64,
    /// The singular values of `F`, the largest first; the last is negative where the element is inverted.
    pub stretches: Vec3,
    /// Green strain `E = ½(FᵀF − I)`.
    pub green_strain: Mat3,
    /// First Piola–Kirchhoff stress `P`: force now on area at rest, Pa.
    pub first_piola: Mat3,
    /// Second Piola–Kirchhoff stress `S = F⁻¹P`, Pa; not finite where the volume is zero.
    pub second_piola: Mat3,
    /// Cauchy stress `PFᵀ/J`: force now on area now, Pa; not finite where the volume is zero.
    pub cauchy: Mat3,
    /// `ψ`, J/m³ of volume at rest.
    pub energy_density: f64,
}

impl Strained {
    const ZERO: Self = Self {
        volume_ratio: 0.0,
        stretches: Vec3::ZERO,
        green_strain: Mat3::ZERO,
        first_piola: Mat3::ZERO,
        second_piola: Mat3::ZERO,
        cauchy: Mat3::ZERO,
        energy_density: 0.0,
    };

    /// The von Mises stress `√(3/2 s:s)` with `s` the deviator of the Cauchy stress, Pa.
    pub fn von_mises(&self) -> f64 {
        let c = self.cauchy;
        let pressure = (c.x_axis.x + c.y_axis.y + c.z_axis.z) / 3.0;
        let deviator = c - Mat3::from_diagonal(Vec3::splat(pressure));
        (1.5 * deviator.to_cols_array().iter().map(|s| s * s).sum::<f64>()).sqrt()
    }

    fn new(f: &Matrix<f64>, p: &Matrix<f64>, energy_density: f64) -> Self {
        let (deformation, stress) = (to_mat3(f), to_mat3(p));
        let volume_ratio = deformation.determinant();
        let inverse = to_mat3(&f.cofactor()).transpose() * (1.0 / volume_ratio);
        Self {
            volume_ratio,
            stretches: Vec3::from(SignedSvd::new(f).sigma),
            green_strain: (deformation.transpose() * deformation - Mat3::IDENTITY) * 0.5,
            first_piola: stress,
            second_piola: inverse * stress,
            cauchy: stress * deformation.transpose() * (1.0 / volume_ratio),
            energy_density,
        }
    }

    fn add(&mut self, weight: f64, other: &Self) {
        self.volume_ratio += weight * other.volume_ratio;
        self.stretches += weight * other.stretches;
        self.green_strain += other.green_strain * weight;
        self.first_piola += other.first_piola * weight;
        self.second_piola += other.second_piola * weight;
        self.cauchy += other.cauchy * weight;
        self.energy_density += weight * other.energy_density;
    }

    fn scaled(&self, factor: f64) -> Self {
        let mut scaled = Self::ZERO;
        scaled.add(factor, self);
        scaled
    }
}

impl Elastic {
    /// The state of each element: the mean over its volume at rest, which in a tetrahedron is the state everywhere.
    ///
    /// # Panics
    /// If there are not three displacements a vertex.
    pub fn element_states(&self, u: &[f64]) -> Vec<Strained> {
        let states = self.states(u);
        states.into_iter().map(|(weight, sum)| sum.scaled(1.0 / weight)).collect()
    }

    /// The state at each vertex: the mean over the volume at rest of the elements there; all zero at vertices without any.
    ///
    /// # Panics
    /// If there are not three displacements a vertex.
    pub fn vertex_states(&self, u: &[f64]) -> Vec<Strained> {
        let states = self.states(u);
        let mut sums = vec![(0.0, Strained::ZERO); u.len() / 3];
        let nodes = self.elements().nodes_per_element();
        for group in 0..self.elements().group_count() {
            for (lane, &number) in self.elements().numbers(group).iter().enumerate() {
                let (weight, state) = &states[number as usize];
                for &vertex in &self.elements().nodes()[nodes * (LANES * group + lane)..][..nodes] {
                    let sum = &mut sums[vertex as usize];
                    sum.0 += weight;
                    sum.1.add(1.0, state);
                }
            }
        }
        let mean = |(weight, sum): (f64, Strained)| if weight > 0.0 { sum.scaled(1.0 / weight) } else { sum };
        sums.into_iter().map(mean).collect()
    }

    /// The volume of each element and the integral of its state over it.
    fn states(&self, u: &[f64]) -> Vec<(f64, Strained)> {
        self.check_length(u);
        let elements = self.elements();
        let points = elements.points_per_element();
        let of_group = |group: usize| {
            let (mut f, mut p, mut psi) = ([Points::ZERO; 8], [Points::ZERO; 8], [Points::ZERO; 8]);
            let (f, p, psi) = (&mut f[..points], &mut p[..points], &mut psi[..points]);
            let material = &self.materials()[elements.region(group)];
            self.deformation_gradients(u, group..group + 1, f);
            material.stresses(f, p);
            material.energies(f, psi);
            let mut sums = [(0.0, Strained::ZERO); LANES];
            for (lane, (volume, sum)) in sums.iter_mut().enumerate() {
                for point in 0..points {
                    let weight = elements.weights(group)[point][lane];
                    let at = |points: &Points<9>| {
                        Matrix(std::array::from_fn(|i| std::array::from_fn(|j| points.0[3 * i + j][lane])))
                    };
                    let state = Strained::new(&at(&f[point]), &at(&p[point]), psi[point].0[0][lane]);
                    *volume += weight;
                    sum.add(weight, &state);
                }
            }
            sums
        };
        let groups: Vec<[(f64, Strained); LANES]> = (0..elements.group_count()).into_par_iter().map(of_group).collect();
        let count = groups.iter().enumerate().map(|(group, _)| elements.numbers(group).len()).sum();
        let mut all = vec![(0.0, Strained::ZERO); count];
        for (group, states) in groups.into_iter().enumerate() {
            for (&number, state) in elements.numbers(group).iter().zip(states) {
                all[number as usize] = state;
            }
        }
        all
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

    fn elastic(law: &str, cells: Cells) -> (Elastic, Vec<Vec3>) {
        let mesh = generate::block([1.0, 0.5, 0.5], [3, 2, 2], cells).unwrap();
        let law = AnyLaw::new(law, YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap();
        (Elastic::uniform(&mesh, law), mesh.vertices().to_vec())
    }

    fn displacements(vertices: &[Vec3], f: Mat3) -> Vec<f64> {
        vertices.iter().flat_map(|&x| (f * x - x).to_array()).collect()
    }

    #[test]
    fn a_stretched_and_turned_bar_has_the_stress_of_its_closed_form_everywhere() {
        let turn = Mat3::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.2);
        let stretch = Vec3::new(1.2, 0.95, 0.9);
        for cells in [Cells::Tet5, Cells::Hex] {
            let (elastic, vertices) = elastic("stvk", cells);
            let u = displacements(&vertices, turn * Mat3::from_diagonal(stretch));
            let green = (stretch * stretch - 1.0) * 0.5;
            let (mu, lambda) = (1e6 / 2.6, 1e6 * 0.3 / (1.3 * 0.4));
            let second = 2.0 * mu * green + Vec3::splat(lambda * (green.x + green.y + green.z));
            let volume_ratio = stretch.x * stretch.y * stretch.z;
            let cauchy = second * stretch * stretch / volume_ratio;
            let mises = (0.5
                * ((cauchy.x - cauchy.y).powi(2) + (cauchy.y - cauchy.z).powi(2) + (cauchy.z - cauchy.x).powi(2)))
            .sqrt();
            for state in elastic.element_states(&u).iter().chain(&elastic.vertex_states(&u)) {
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
    fn an_inverted_element_has_a_negative_stretch_and_volume_and_a_vertex_without_elements_nothing() {
        let (elastic, vertices) = elastic("stable-neo-hookean", Cells::Tet6);
        let u = displacements(&vertices, Mat3::from_diagonal(Vec3::new(1.0, 1.0, -0.5)));
        for state in elastic.element_states(&u) {
            assert!((state.stretches - Vec3::new(1.0, 1.0, -0.5)).length() < 1e-13);
            assert!((state.volume_ratio + 0.5).abs() < 1e-13);
        }
        let mut data = generate::block([1.0, 0.5, 0.5], [3, 2, 2], Cells::Tet6).unwrap().into_data();
        data.vertices.push(Vec3::ONE);
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let law = AnyLaw::new("stvk", YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap();
        let states = Elastic::uniform(&mesh, law).vertex_states(&vec![0.0; 3 * mesh.vertex_count()]);
        assert_eq!(*states.last().unwrap(), Strained::ZERO);
        assert!(states[0].stretches.length() > 1.0);
    }
}
