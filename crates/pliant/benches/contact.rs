//! Time per step of bodies in contact: a cube that lands, eight balls that fall into a shaft, and a bar that is turned
//! until it meets itself. `cargo bench -p pliant --bench contact -- [scene] [steps]`.

use std::time::Instant;

use pliant::contact::{Collider, ColliderShape, ContactParams, Friction};
use pliant::integrator::{BackwardEuler, Integrator, StepInfo};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{ElementKind, MeshData, VolumeMesh};
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::motion::Motion;
use pliant::solver::SolverParams;

const H: f64 = 0.01;

/// Returns a box of cells, each of six tetrahedra around a diagonal, with its vertices moved by a map.
fn kuhn_box([nx, ny, nz]: [u32; 3], place: impl Fn(Vec3) -> Vec3) -> VolumeMesh {
    let number = |[i, j, k]: [u32; 3]| (i * (ny + 1) + j) * (nz + 1) + k;
    let (mut vertices, mut elements) = (Vec::new(), Vec::new());
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                let parts = [(i, nx), (j, ny), (k, nz)].map(|(i, n)| f64::from(i) / f64::from(n));
                vertices.push(place(Vec3::from_array(parts)));
                if i < nx && j < ny && k < nz {
                    let corner = |c: u32| number([i + c / 4, j + c / 2 % 2, k + c % 2]);
                    for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
                        elements.extend([0, b, a, 7].map(corner));
                    }
                }
            }
        }
    }
    VolumeMesh::check(MeshData::new(vertices, ElementKind::Tet4, elements)).expect("a sound mesh").mesh
}

fn ball(cells: u32, radius: f64, center: Vec3) -> VolumeMesh {
    kuhn_box([cells; 3], |part| {
        let [x, y, z] = (2.0 * part - 1.0).to_array();
        let scale = |a: f64, b: f64| (1.0 - a * a / 2.0 - b * b / 2.0 + a * a * b * b / 3.0).sqrt();
        center + radius * Vec3::new(x * scale(y, z), y * scale(z, x), z * scale(x, y))
    })
}

fn rubber(young: f64) -> AnyLaw {
    AnyLaw::new("neo-hookean", YoungPoisson { young, poisson: 0.3 }).expect("valid moduli")
}

fn half_space(name: &str, point: Vec3, normal: Vec3) -> Collider {
    Collider::new(name, ColliderShape::HalfSpace { point, normal })
}

fn params() -> ContactParams {
    ContactParams { friction: Friction::new(0.5), ..ContactParams::default() }
}

/// Cube of 0.3 m that falls by 0.1 m.
fn cube(cells: u32) -> Model {
    let mesh = kuhn_box([cells; 3], |part| 0.3 * (part - Vec3::new(0.5, 0.5, 0.0)) + 0.1 * Vec3::Z);
    Model::builder()
        .body(Body::new(mesh, rubber(1e5), 1000.0))
        .gravity(-9.81 * Vec3::Z)
        .contact(params())
        .collider(half_space("ground", Vec3::ZERO, Vec3::Z))
        .build()
        .expect("a sound model")
}

/// Eight balls in a shaft of 0.5 m.
fn balls(cells: u32) -> Model {
    let mut builder = Model::builder().gravity(-9.81 * Vec3::Z).contact(params());
    for number in 0..8 {
        let side = |bit: u32| f64::from(number >> bit & 1) - 0.5;
        let shift = 0.003 * Vec3::new(f64::from(number % 3), f64::from(number % 5), 0.0);
        let center = Vec3::new(0.22 * side(0), 0.22 * side(1), 0.25 + 0.23 * side(2)) + shift;
        let mesh = ball(cells, 0.1, center);
        builder = builder.body(Body::new(mesh, rubber(5e4), 1000.0).named(format!("ball-{number}")));
    }
    builder = builder.collider(half_space("ground", Vec3::ZERO, Vec3::Z));
    for (number, normal) in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y].into_iter().enumerate() {
        builder = builder.collider(half_space(&format!("wall-{number}"), -0.25 * normal, normal));
    }
    builder.build().expect("a sound model")
}

/// Bar whose ends are turned against each other by 180° per second and pushed together.
fn bar() -> Model {
    let size = Vec3::new(0.825, 0.2, 0.2);
    let mesh = kuhn_box([33, 8, 8], |part| size * (part - 0.5));
    let ends = |sign: f64| -> Vec<u32> {
        (0..).zip(mesh.vertices()).filter(|(_, x)| sign * x.x > 0.4124).map(|(vertex, _)| vertex).collect()
    };
    let turn = |sign: f64| {
        Motion::Function(std::sync::Arc::new(move |time: f64, rest: Vec3| {
            let (sin, cos) = (sign * std::f64::consts::PI * time).sin_cos();
            let turned = Vec3::new(rest.x, cos * rest.y - sin * rest.z, sin * rest.y + cos * rest.z);
            turned - rest - sign * 0.125 * time.min(1.6) * size.x * Vec3::X
        }))
    };
    let fixed = [1.0, -1.0].map(|sign| Fixed::prescribed(ends(sign), turn(sign)));
    let builder = fixed.into_iter().fold(Model::builder(), ModelBuilder::fix);
    builder
        .body(Body::new(mesh.clone(), rubber(1e5), 1000.0))
        .contact(ContactParams::default())
        .build()
        .expect("a sound model")
}

/// Name, model and usual number of steps.
type Scene = (&'static str, fn() -> Model, usize);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let wanted = args.first().map(String::as_str);
    let steps = args.get(1).and_then(|steps| steps.parse().ok());
    let scenes: [Scene; 5] = [
        ("cube", || cube(12), 100),
        ("balls", || balls(6), 200),
        ("bar", bar, 250),
        ("cube-80k", || cube(24), 30),
        ("balls-80k", || balls(12), 60),
    ];
    println!("scene        ms/step (mean, max)  Newton  linear  factors  max contacts  min gap [µm]  crossings");
    for (name, make, usual) in scenes {
        if wanted.is_some_and(|wanted| wanted != name) {
            continue;
        }
        let model = make();
        let mut state = model.rest_state();
        let mut assembly = Assembly::new(model);
        let mut solver = SolverParams::default().build();
        let mut integrator = BackwardEuler::for_animation();
        let (mut total, mut longest, mut info) = (0.0_f64, 0.0_f64, StepInfo::default());
        let (mut contacts, mut gap, mut crossings) = (0, f64::INFINITY, 0);
        let steps = steps.unwrap_or(usual);
        for step in 0..steps {
            let start = Instant::now();
            match integrator.step(&mut assembly, &mut solver, &mut state, H) {
                Ok(step) => info = info.and(&step),
                Err(error) => {
                    println!("{name}: step {step}: {error}");
                    break;
                }
            }
            let elapsed = 1e3 * start.elapsed().as_secs_f64();
            (total, longest) = (total + elapsed, longest.max(elapsed));
            let report = assembly.model().contact_report(&state).expect("contact");
            contacts = contacts.max(report.count);
            gap = gap.min(report.min_gap);
            let energy = assembly.model().contact_energy().expect("contact");
            crossings += energy.crossings(&state.q, state.time).len() + energy.penetrations(&state.q, state.time).len();
        }
        let per_step = |count: usize| count as f64 / steps as f64;
        println!(
            "{name:12} {:8.1} {:9.1} {:9.2} {:7.1} {:8.2} {contacts:13} {:13.1} {crossings:10}   assembling {:.1} solving {:.1} limited {:.2} shortened {:.2}",
            total / steps as f64,
            longest,
            per_step(info.newton_iterations),
            per_step(info.linear_iterations),
            per_step(info.factorizations),
            1e6 * gap,
            1e3 * info.assembling.as_secs_f64() / steps as f64,
            1e3 * info.solving.as_secs_f64() / steps as f64,
            per_step(info.limited),
            per_step(info.shortened),
        );
    }
}
