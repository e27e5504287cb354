//! Patch tests on irregular meshes: where the displacement is affine on the boundary, it is affine inside, and the stress is constant.
//! Exact but for rounding: held to 1e-12. The nodal forces of the linear ones are scikit-fem's.

mod support;

use pliant::force::Force;
use pliant::material::{AnyLaw, Law, LawVisitor, YoungPoisson};
use pliant::math::Matrix;
use pliant::mesh::{ElementKind, VolumeMesh};
use support::{Section, Statics, assert_close, assert_within, largest, section, sections};

const TOLERANCE: f64 = 1e-12;

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.3 };

struct Patch {
    sections: Vec<Section>,
    name: &'static str,
    mesh: VolumeMesh,
    free: Vec<usize>,
}

impl Patch {
    fn new(name: &'static str, kind: ElementKind) -> Self {
        let sections = sections("patch.txt");
        let mesh = support::mesh(&sections, &format!("{name} "), kind);
        let free =
            section(&sections, &format!("{name} free")).flat().into_iter().map(|vertex| vertex as usize).collect();
        Self { sections, name, mesh, free }
    }

    /// `G x + c` at all vertices.
    fn affine(&self, gradient: &[Vec<f64>], shift: &[f64]) -> Vec<f64> {
        let at = |x: &[f64; 3], i: usize| (0..3).map(|j| gradient[i][j] * x[j]).sum::<f64>() + shift[i];
        self.mesh.vertices().iter().flat_map(|x| [0, 1, 2].map(|i| at(x.as_ref(), i))).collect()
    }

    /// The state that is `exact` on the boundary, and far from it inside.
    fn disturbed(&self, exact: &[f64], by: f64) -> Vec<f64> {
        let mut u = exact.to_vec();
        for &vertex in &self.free {
            u[3 * vertex..3 * vertex + 3].copy_from_slice(&[by, -0.7 * by, 0.4 * by]);
        }
        u
    }

    fn statics(&self, law: AnyLaw) -> Statics {
        Statics::new(&self.mesh, law, |dof| !self.free.contains(&(dof / 3)))
    }

    /// `Σ f xᵀ`, which is the volume times the stress if the stress is constant.
    fn virial(&self, force: &[f64]) -> Matrix<f64> {
        let mut sum = Matrix::zero();
        for (x, f) in self.mesh.vertices().iter().zip(force.chunks_exact(3)) {
            for i in 0..3 {
                for j in 0..3 {
                    sum.0[i][j] += f[i] * x[j];
                }
            }
        }
        sum
    }

    fn verify_linear(&self) {
        let gradient = &section(&self.sections, "gradient").rows;
        let exact = self.affine(gradient, &section(&self.sections, "shift").flat());
        let mut statics = self.statics(AnyLaw::new("linear", MODULI).unwrap());
        let mut u = self.disturbed(&exact, 0.001);
        statics.solve(&vec![0.0; u.len()], &mut u);
        assert_close(&format!("{}, u", self.name), &u, &exact, TOLERANCE);
        let expected = section(&self.sections, &format!("{} forces", self.name)).flat();
        let (force, stiffness) = statics.force_and_stiffness(&u);
        assert_close(&format!("{}, f", self.name), &force, &expected, TOLERANCE);
        let mut product = vec![0.0; u.len()];
        stiffness.mul(&u, &mut product);
        assert_close(&format!("{}, K u", self.name), &product, &expected, TOLERANCE);
        let (volume, stress) = (self.mesh.volume(), section(&self.sections, "stress").flat());
        let expected: Vec<f64> = stress.iter().map(|entry| volume * entry).collect();
        assert_close(&format!("{}, stress", self.name), self.virial(&force).0.as_flattened(), &expected, TOLERANCE);
        // ½ σ:G, as σ is symmetric.
        let energy = 0.5 * volume * stress.iter().zip(gradient.concat()).map(|(a, b)| a * b).sum::<f64>();
        assert_close(&format!("{}, energy", self.name), &[statics.elastic.energy(&u)], &[energy], TOLERANCE);
    }

    fn verify_finite(&self) {
        let rows = &section(&self.sections, "finite deformation gradient").rows;
        let mut f = Matrix::zero();
        f.0.as_flattened_mut().copy_from_slice(&rows.concat());
        let change = f - Matrix::identity();
        let exact = self.affine(&change.0.map(|row| row.to_vec()), &[0.0; 3]);
        for entry in AnyLaw::ALL {
            let law = AnyLaw::new(entry.name, MODULI).unwrap();
            let (energy, stress) = law.visit(At(f));
            let what = |of: &str| format!("{}, {}, {of}", self.name, entry.name);
            let mut statics = self.statics(law);
            let force = statics.force(&exact);
            let inside: Vec<f64> = self.free.iter().flat_map(|&v| [0, 1, 2].map(|i| force[3 * v + i])).collect();
            assert_within(&what("f inside"), &inside, &vec![0.0; inside.len()], largest(&force), TOLERANCE);
            let volume = self.mesh.volume();
            let expected = (stress * volume).0;
            assert_close(&what("stress"), self.virial(&force).0.as_flattened(), expected.as_flattened(), TOLERANCE);
            assert_close(&what("energy"), &[statics.elastic.energy(&exact)], &[volume * energy], TOLERANCE);
            let mut u = self.disturbed(&exact, 0.05);
            statics.solve(&vec![0.0; u.len()], &mut u);
            assert_close(&what("u"), &u, &exact, TOLERANCE);
        }
    }
}

/// `ψ` and `P` at one `F`; themselves verified against 80-digit arithmetic.
struct At(Matrix<f64>);

impl LawVisitor for At {
    type Output = (f64, Matrix<f64>);
    fn visit<L: Law>(self, law: &L) -> Self::Output {
        (law.energy(&self.0), law.stress(&self.0))
    }
}

#[test]
fn linear_patch_of_eight_distorted_hexes_is_exact() {
    Patch::new("hex_2x2x2", ElementKind::Hex8).verify_linear();
}

#[test]
fn linear_patch_of_five_distorted_tets_is_exact() {
    Patch::new("tet_cube5", ElementKind::Tet4).verify_linear();
}

#[test]
fn linear_patch_of_eight_tets_around_a_vertex_is_exact() {
    Patch::new("tet_octahedron8", ElementKind::Tet4).verify_linear();
}

#[test]
fn finite_affine_patch_of_eight_distorted_hexes_is_exact_for_every_law() {
    Patch::new("hex_2x2x2", ElementKind::Hex8).verify_finite();
}

#[test]
fn finite_affine_patch_of_five_distorted_tets_is_exact_for_every_law() {
    Patch::new("tet_cube5", ElementKind::Tet4).verify_finite();
}

#[test]
fn finite_affine_patch_of_eight_tets_around_a_vertex_is_exact_for_every_law() {
    Patch::new("tet_octahedron8", ElementKind::Tet4).verify_finite();
}
