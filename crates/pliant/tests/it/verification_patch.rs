//! Patch tests on irregular meshes: if the displacement is affine on the boundary, it is affine inside, and the stress
//! is constant. Exact up to rounding, tolerance 1e-12. The nodal forces of the linear tests are scikit-fem's.

use crate::support::{self, Section, Statics, assert_close, assert_within, largest, section, sections};
use pliant::force::{Conditions, Force};
use pliant::material::{AnyLaw, Law, LawVisitor, YoungPoisson};
use pliant::math::{Matrix, Vec3};
use pliant::mesh::shape::HEX_CORNERS;
use pliant::mesh::{ElementKind, Embedding, HexSplit, MeshData, VolumeMesh};

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

    /// Returns `G x + c` at all vertices.
    fn affine(&self, gradient: &[Vec<f64>], shift: &[f64]) -> Vec<f64> {
        let at = |x: &[f64; 3], i: usize| (0..3).map(|j| gradient[i][j] * x[j]).sum::<f64>() + shift[i];
        self.mesh.vertices().iter().flat_map(|x| [0, 1, 2].map(|i| at(x.as_ref(), i))).collect()
    }

    /// Returns the state `exact` with its interior vertices perturbed.
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

    /// Returns `Σ f xᵀ`, which is the volume times the stress if the stress is constant.
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
        // ½ σ:G, since σ is symmetric.
        let energy = 0.5 * volume * stress.iter().zip(gradient.concat()).map(|(a, b)| a * b).sum::<f64>();
        assert_close(
            &format!("{}, energy", self.name),
            &[statics.elastic.energy(&u, &Conditions::START)],
            &[energy],
            TOLERANCE,
        );
    }

    fn verify_finite(&self) {
        let rows = &section(&self.sections, "finite deformation gradient").rows;
        let mut f = Matrix::zero();
        f.0.as_flattened_mut().copy_from_slice(&rows.concat());
        let change = f - Matrix::identity();
        let exact = self.affine(&change.0.map(|row| row.to_vec()), &[0.0; 3]);
        for entry in AnyLaw::ALL {
            let law = AnyLaw::new(entry.name, MODULI).unwrap();
            let (energy, stress) = law.visit(Evaluation(f));
            let what = |of: &str| format!("{}, {}, {of}", self.name, entry.name);
            let mut statics = self.statics(law);
            let force = statics.force(&exact);
            let inside: Vec<f64> = self.free.iter().flat_map(|&v| [0, 1, 2].map(|i| force[3 * v + i])).collect();
            assert_within(&what("f inside"), &inside, &vec![0.0; inside.len()], largest(&force), TOLERANCE);
            let volume = self.mesh.volume();
            let expected = (stress * volume).0;
            assert_close(&what("stress"), self.virial(&force).0.as_flattened(), expected.as_flattened(), TOLERANCE);
            assert_close(
                &what("energy"),
                &[statics.elastic.energy(&exact, &Conditions::START)],
                &[volume * energy],
                TOLERANCE,
            );
            let mut u = self.disturbed(&exact, 0.05);
            statics.solve(&vec![0.0; u.len()], &mut u);
            assert_close(&what("u"), &u, &exact, TOLERANCE);
        }
    }
}

/// Energy `ψ` and stress `P` at one `F`, which are verified against 80-digit arithmetic.
struct Evaluation(Matrix<f64>);

impl LawVisitor for Evaluation {
    type Output = (f64, Matrix<f64>);
    fn visit<L: Law + 'static>(self, law: &L) -> Self::Output {
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

/// Returns the patch of seven hexahedra of MacNeal and Harder (1985), "A proposed standard set of problems to test
/// finite element accuracy": an irregular hexahedron inside the unit cube, and six hexahedra between them. The Jacobian
/// determinant of one of these is negative near a corner, but at no quadrature point.
fn macneal_harder() -> pliant::mesh::Checked {
    const INNER: [[f64; 3]; 8] = [
        [0.249, 0.342, 0.192],
        [0.826, 0.288, 0.288],
        [0.850, 0.649, 0.263],
        [0.273, 0.750, 0.230],
        [0.320, 0.186, 0.643],
        [0.677, 0.305, 0.683],
        [0.788, 0.693, 0.644],
        [0.165, 0.745, 0.702],
    ];
    let outer = HEX_CORNERS.map(|corner| 0.5 * (corner + Vec3::ONE));
    let vertices = INNER.map(Vec3::from_array).into_iter().chain(outer).collect();
    let mut elements: Vec<u32> = (0..8).collect();
    for side in ElementKind::Hex8.faces() {
        elements.extend(side.iter().map(|&corner| corner as u32));
        elements.extend(side.iter().map(|&corner| corner as u32 + 8));
    }
    VolumeMesh::check(MeshData::new(vertices, ElementKind::Hex8, elements)).unwrap()
}

#[test]
fn linear_patch_of_macneal_and_harder_is_accepted_with_a_note_and_exact() {
    let checked = macneal_harder();
    assert!(!checked.report.folded_elements.is_empty());
    assert!(checked.report.folded_elements.iter().all(|&(_, lowest)| (-0.01..0.0).contains(&lowest)));
    assert!(checked.report.lines()[0].contains("negative Jacobian near a corner"), "{:?}", checked.report.lines());
    let mesh = checked.mesh;
    assert!((mesh.volume() - 1.0).abs() < 1e-14);
    assert_eq!(mesh.sliver_note(), None, "folded elements are reported once");
    // Their boundary displacements: u = 1e-3 (x + y/2 + z/2), v = 1e-3 (x/2 + y + z/2), w = 1e-3 (x/2 + y/2 + z).
    let patch = Patch { sections: Vec::new(), name: "MacNeal-Harder", mesh, free: (0..8).collect() };
    let gradient: Vec<Vec<f64>> = (0..3).map(|i| (0..3).map(|j| if i == j { 1e-3 } else { 5e-4 }).collect()).collect();
    let exact = patch.affine(&gradient, &[0.0; 3]);
    let mut statics = patch.statics(AnyLaw::new("linear", YoungPoisson { young: 1e6, poisson: 0.25 }).unwrap());
    let mut u = patch.disturbed(&exact, 0.001);
    statics.solve(&vec![0.0; u.len()], &mut u);
    assert_close("MacNeal-Harder, u", &u, &exact, TOLERANCE);
    // Their stresses: 2000 along the axes, 400 in shear.
    let (force, _) = statics.force_and_stiffness(&u);
    let expected: Vec<f64> = (0..9).map(|entry| if entry % 4 == 0 { 2000.0 } else { 400.0 }).collect();
    assert_close("MacNeal-Harder, stress", patch.virial(&force).0.as_flattened(), &expected, TOLERANCE);
}

#[test]
fn every_query_and_operation_copes_with_a_hexahedron_that_folds_near_a_corner() {
    let mesh = macneal_harder().mesh;
    let quality = mesh.quality();
    assert!(quality.volume.min > 0.0 && quality.shape.min.is_finite());
    let mut rng = fastrand::Rng::with_seed(4);
    let points: Vec<Vec3> = (0..2000).map(|_| 1.2 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - 0.1).collect();
    let embedding = Embedding::new(&mesh, &points).unwrap();
    let mut back = vec![Vec3::ZERO; points.len()];
    embedding.interpolate(mesh.vertices(), &mut back);
    assert!(points.iter().zip(&back).all(|(a, b)| a.distance(*b) < 1e-9));
    assert!(!mesh.slice(mesh.vertices(), Vec3::splat(0.5), Vec3::new(1.0, 2.0, 3.0)).triangles.is_empty());
    // Some tetrahedra may be inverted, which is an error, not a panic.
    for split in [HexSplit::Five, HexSplit::Six] {
        if let Ok(tets) = mesh.split_hexes(split) {
            assert!((tets.volume() - 1.0).abs() < 1e-12);
        }
    }
    let mut fine = mesh;
    for _ in 0..3 {
        match fine.refined() {
            Ok(finer) => fine = finer,
            Err(error) => {
                assert!(error.to_string().contains("element"), "{error}");
                break;
            }
        }
    }
}
