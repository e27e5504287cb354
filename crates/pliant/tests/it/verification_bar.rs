//! Equilibrium of a bar of 1.0 × 0.2 × 0.2 m under its weight (E = 1 MPa, 1000 kg/m³): position of the center of its
//! free face, from an independent solver on the same meshes of five tetrahedra per cube, with six digits.

use pliant::damping::Damping;
use pliant::integrator::{Integrator, LinearizedBackwardEuler, Static};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::solver::{Direct, SolverParams};
use pliant::system::State;

fn bar(law: &str, poisson: f64, across: usize, damping: Damping) -> (Assembly, Vec<u32>) {
    let mesh = generate::block([1.0, 0.2, 0.2], [5 * across, across, across], Cells::Tet5).unwrap();
    let (clamp, end) = (mesh.vertex_sets()["x-min"].clone(), mesh.vertex_sets()["x-max"].clone());
    let moduli = YoungPoisson { young: 1e6, poisson };
    let law = if law == "simple" { simple(moduli) } else { AnyLaw::new(law, moduli).unwrap() };
    let builder = Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new(clamp)).damping(damping);
    (Assembly::new(builder.gravity(Vec3::new(0.0, -9.81, 0.0)).build().unwrap()), end)
}

/// Returns the stable neo-Hookean law of the reference, without the logarithm:
/// `μ/2 (I₁ − 3) − μ (J − 1) + (λ + μ)/2 (J − 1)²`.
fn simple(moduli: YoungPoisson) -> AnyLaw {
    let mu = moduli.young / (2.0 * (1.0 + moduli.poisson));
    let lambda = 2.0 * mu * moduli.poisson / (1.0 - 2.0 * moduli.poisson);
    let text = "mu/2*(I1-3) - mu*(J-1) + (lambda+mu)/2*(J-1)^2";
    AnyLaw::formula(text, &[("mu", mu), ("lambda", lambda)]).unwrap()
}

fn tip(state: &State, end: &[u32]) -> f64 {
    end.iter().map(|&vertex| state.q[3 * vertex as usize + 1]).sum::<f64>() / end.len() as f64
}

/// Asserts agreement to a hundredth of a percent plus half of the last digit given.
fn assert_tip(what: &str, found: f64, trusted: f64) {
    println!("{what}: {found:.7}, {:.1e} from {trusted}", found / trusted - 1.0);
    assert!((found / trusted - 1.0).abs() < 5e-6, "{what}: {found} instead of {trusted}");
}

#[test]
fn bars_of_1600_tets_hang_where_they_should() {
    for (law, trusted) in [
        ("linear", [-0.311_300, -0.333_027]),
        ("corotational", [-0.292_203, -0.310_145]),
        ("stvk", [-0.292_705, -0.310_931]),
        ("neo-hookean", [-0.292_821, -0.310_631]),
        ("simple", [-0.292_854, -0.310_953]),
    ] {
        for (poisson, trusted) in [0.45, 0.3].into_iter().zip(trusted) {
            let (mut model, end) = bar(law, poisson, 4, Damping::default());
            let mut state = model.rest_state();
            Static::default().solve(&mut model, &mut Direct::default(), &mut state).unwrap();
            assert_tip(&format!("{law}, ν = {poisson}"), tip(&state, &end), trusted);
        }
    }
}

#[test]
fn bars_of_12800_tets_hang_where_they_should() {
    for (law, trusted) in [("corotational", -0.323_643), ("simple", -0.324_604)] {
        let (mut model, end) = bar(law, 0.45, 8, Damping::default());
        let mut state = model.rest_state();
        Static::default().solve(&mut model, &mut Direct::default(), &mut state).unwrap();
        assert_tip(law, tip(&state, &end), trusted);
    }
}

/// Checks the default solver with a residual of 1e-6 in each step.
#[test]
fn a_swinging_bar_settles_where_it_should() {
    let (mut model, end) = bar("corotational", 0.45, 4, Damping::rayleigh(4.0, 0.0).unwrap());
    let mut state = model.rest_state();
    let mut solver = SolverParams::default().build();
    let mut integrator = LinearizedBackwardEuler::default();
    for _ in 0..800 {
        let info = integrator.step(&mut model, &mut *solver, &mut state, 0.01).unwrap();
        assert!(info.solve.residual <= 1.1e-6);
    }
    assert_tip("settled", tip(&state, &end), -0.292_203);
}
