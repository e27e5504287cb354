//! Meshes, models and bases of the tests.

use std::ops::ControlFlow;

use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Body, Fixed, Model, ModelBuilder};
use pliant::reduced::{Basis, Forces, Progress, ReducedModel, Reduction, ReductionParams};
use pliant::system::State;

pub fn go(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub fn material(law: &str, young: f64) -> AnyLaw {
    AnyLaw::new(law, YoungPoisson { young, poisson: 0.35 }).unwrap()
}

pub fn bar(cells: Cells, n: [usize; 3]) -> VolumeMesh {
    generate::block([1.0, 0.2, 0.3], n, cells).unwrap()
}

pub fn clamped(law: &str, mesh: VolumeMesh) -> ModelBuilder {
    let clamp = mesh.vertex_sets()["x-min"].clone();
    Model::builder().body(Body::new(mesh, material(law, 1e5), 1000.0)).fix(Fixed::new(clamp))
}

pub fn random(count: usize, size: f64, seed: u64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| size * (2.0 * rng.f64() - 1.0)).collect()
}

/// Returns the complete basis of a model: all its free degrees of freedom.
pub fn complete(model: &Model) -> Basis {
    let unit = |i: usize| {
        let mut vector = vec![0.0; model.dim()];
        vector[i] = 1.0;
        vector
    };
    let free = (0..model.dim()).filter(|&i| !model.fixed_mask()[i]);
    Basis::new(model, free.map(unit).collect()).unwrap()
}

/// Returns the reduction of a model to a basis.
pub fn of_basis(model: &Model, basis: &Basis, forces: &Forces) -> Reduction {
    Reduction::of_vectors(model, basis.columns().to_vec(), forces, &mut on).unwrap().0
}

/// Returns a basis of smooth vectors and a random one.
pub fn some_basis(model: &Model, r: usize) -> Basis {
    let waves = (0..r).map(|k| {
        let phase = random(6, 3.0, k as u64);
        let at = |x: &Vec3| {
            let s = phase[0] * x.x + phase[1] * x.y + phase[2] * x.z;
            [(s + phase[3]).sin(), (2.0 * s + phase[4]).cos(), (3.0 * s + phase[5]).sin()]
        };
        model.rest().iter().flat_map(at).collect()
    });
    let rough = random(model.dim(), 1.0, 99);
    Basis::new(model, waves.chain([rough]).collect()).unwrap()
}

pub fn spinning(law: &str, forces: Forces, omega: Vec3) -> (Model, ReducedModel, State) {
    let build = || {
        let mesh = generate::block([1.0, 0.3, 0.2], [10, 3, 2], Cells::Hex).unwrap();
        Model::builder().body(Body::new(mesh, material(law, 1e5), 1000.0)).build().unwrap()
    };
    let model = build();
    let params = ReductionParams { forces, ..ReductionParams::new(14) };
    let (reduction, _) = Reduction::new(&model, &params, &mut on).unwrap();
    assert!(reduction.is_free());
    let mut reduced = ReducedModel::new(build(), reduction).unwrap();
    let mut state = model.rest_state();
    let center = Vec3::new(0.5, 0.15, 0.1);
    model.set_velocity(&mut state, 0..model.node_count(), Vec3::new(0.3, 1.0, -0.5), omega, center);
    let few = reduced.project(&state);
    (model, reduced, few)
}
