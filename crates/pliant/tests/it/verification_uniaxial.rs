//! Uniaxial tension and compression of a cube: lateral stretch, nominal stress and energy of seven laws, for Poisson's
//! ratios 0.3 and 0.4, compared with closed forms evaluated with 80 digits (mpmath). Tolerance: 1e-10.

use crate::support::{self, Section, Statics, assert_within, sections};
use pliant::force::{Conditions, Force};
use pliant::mesh::{Cells, VolumeMesh, generate};

const TOLERANCE: f64 = 1e-10;

fn verify(name: &str) {
    let sections = sections("uniaxial.txt");
    let head = format!("law {name} ");
    let mut found = 0;
    for law in sections.iter().filter(|section| section.head.starts_with(&head)) {
        for (kind, cells) in [("hex8", Cells::Hex), ("tet4", Cells::Tet6)] {
            let cube = generate::block([1.0; 3], [1; 3], cells).unwrap();
            let rest = law.rows.iter().position(|row| row[0] == 1.0).unwrap();
            // Away from rest in both directions, each time from the previous state.
            walk(kind, name, &cube, law, &mut law.rows[..=rest].iter().rev());
            walk(kind, name, &cube, law, &mut law.rows[rest..].iter());
            found += 1;
        }
    }
    assert_eq!(found, 4);
}

fn walk(kind: &str, name: &str, cube: &VolumeMesh, law: &Section, rows: &mut dyn Iterator<Item = &Vec<f64>>) {
    let x = |dof: usize| cube.vertices()[dof / 3][dof % 3];
    let fixed = |dof: usize| dof.is_multiple_of(3) || x(dof) == 0.0;
    let mut statics = Statics::new(cube, support::law(name, &law.coefficients(name)), fixed);
    let mut u = vec![0.0; 3 * cube.vertex_count()];
    for row in rows {
        let &[axial, lateral, stress, energy] = &row[..] else { panic!("four numbers a row") };
        for dof in (0..u.len()).step_by(3) {
            u[dof] = x(dof) * (axial - 1.0);
        }
        statics.solve(&vec![0.0; u.len()], &mut u);
        let exact: Vec<f64> =
            (0..u.len()).map(|i| x(i) * (if i.is_multiple_of(3) { axial } else { lateral } - 1.0)).collect();
        let what = |of: &str| format!("{name}, {kind}, stretched by {axial}, {of}");
        assert_within(&what("lateral stretch"), &u, &exact, lateral, TOLERANCE);
        let force = statics.force(&u);
        let pull: f64 = (0..u.len()).step_by(3).filter(|&dof| x(dof) == 1.0).map(|dof| force[dof]).sum();
        let energy_found = statics.elastic.energy(&u, &Conditions::START);
        // At rest the stress is zero, so the error is relative to Young's modulus.
        let size = |value: f64| if axial == 1.0 { 1e6 } else { value.abs() };
        assert_within(&what("stress"), &[pull], &[stress], size(stress), TOLERANCE);
        assert_within(&what("energy"), &[energy_found], &[energy], size(energy), TOLERANCE);
    }
}

#[test]
fn linear_cube_stretches_as_in_closed_form() {
    verify("linear");
}

#[test]
fn corotational_cube_stretches_as_in_closed_form() {
    verify("corotational");
}

#[test]
fn stvk_cube_stretches_as_in_closed_form() {
    verify("stvk");
}

#[test]
fn neo_hookean_cube_stretches_as_in_closed_form() {
    verify("neo-hookean");
}

#[test]
fn neo_hookean_bower_cube_stretches_as_in_closed_form() {
    verify("neo-hookean-bower");
}

#[test]
fn stable_neo_hookean_cube_stretches_as_in_closed_form() {
    verify("stable-neo-hookean");
}

#[test]
fn mooney_rivlin_cube_stretches_as_in_closed_form() {
    verify("mooney-rivlin");
}
