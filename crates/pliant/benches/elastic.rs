//! Benchmark of elastic forces, stiffness matrices, and stiffness products with and without a matrix, for every law on
//! tetrahedra and hexahedra.
//!
//! `cargo bench -p pliant --bench elastic [FILTER]` prints ns per element, the minimum of several samples. It also
//! prints the ratio to the memory-bound time: every number read or written once, at the speed of a plain copy of as
//! many bytes. Only lines that contain the filter are run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pliant::force::{Conditions, Definiteness, Elastic, Force, bind_all};
use pliant::material::{AnyLaw, Corotational, CorotationalTangent, Inversion, LANES, Material, YoungPoisson};
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::sparse::BlockMatrix;

/// Returns the minimum time \[s\] of as many runs as fit into a quarter of a second, at least three.
fn fastest(mut run: impl FnMut()) -> f64 {
    let (begin, mut best, mut runs) = (Instant::now(), f64::INFINITY, 0);
    while runs < 3 || begin.elapsed() < Duration::from_millis(250) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    best
}

/// Returns the memory throughput of a plain copy \[B/s\], where `bytes` counts both reads and writes.
fn copy_speed(bytes: usize) -> f64 {
    let from = vec![1.0_f64; (bytes / 16).max(1024)];
    let mut to = vec![0.0_f64; from.len()];
    let seconds = fastest(|| black_box(&mut to).copy_from_slice(black_box(&from)));
    (16 * from.len()) as f64 / seconds
}

fn materials() -> Vec<(String, Material)> {
    let moduli = YoungPoisson { young: 1e6, poisson: 0.4 };
    let warped = Corotational { tangent: CorotationalTangent::Warped, ..Corotational::from_moduli(moduli) };
    let mut all = vec![("corotational, warped".to_owned(), Material::from(AnyLaw::Corotational(warped)))];
    for entry in AnyLaw::ALL {
        let law: Material = AnyLaw::new(entry.name, moduli).unwrap().into();
        all.push((entry.name.to_owned(), law.clone()));
        if let Ok(law) = law.with_inversion(Inversion::Extrapolate { threshold: Inversion::DEFAULT_THRESHOLD }) {
            all.push((format!("{}, inversion handled", entry.name), law));
        }
    }
    let coefficients = [("mu", moduli.mu()), ("lambda", moduli.lambda())];
    let formula = AnyLaw::formula("mu/2*(I1 - 3) - mu*ln(J) + lambda/2*ln(J)^2", &coefficients).unwrap();
    all.push(("neo-hookean by formula".to_owned(), formula.into()));
    all
}

struct Body {
    name: &'static str,
    mesh: VolumeMesh,
    u: Vec<f64>,
}

fn body(name: &'static str, mesh: VolumeMesh) -> Body {
    // Bent, with a little noise: no element is at rest or inverted.
    let mut rng = fastrand::Rng::with_seed(1);
    let edge = (mesh.volume() / mesh.element_count() as f64).cbrt();
    let mut u = Vec::with_capacity(3 * mesh.vertex_count());
    for x in mesh.vertices() {
        let noise = || 0.05 * edge * (rng.f64() - 0.5);
        let [a, b, c]: [f64; 3] = std::array::from_fn(|_| 0.0).map({
            let mut noise = noise;
            move |_: f64| noise()
        });
        u.extend([a - 0.3 * x.x * x.y, b + 0.15 * x.x * x.x, c]);
    }
    Body { name, mesh, u }
}

fn measure(body: &Body, name: &str, material: &Material, threads: usize, filter: &str) {
    let title = |what: &str| {
        let plural = if threads == 1 { " " } else { "s" };
        format!("{:<10} {name:<38} {what:<28} {threads} thread{plural}", body.name)
    };
    let asked = |what: &str| title(what).contains(filter);
    let tangents =
        [("force + stiffness", Definiteness::Exact), ("force + projected stiffness", Definiteness::Projected)];
    let products = [("product", Definiteness::Exact), ("projected product", Definiteness::Projected)];
    let others = tangents.iter().chain(&products).map(|(what, _)| *what);
    if !others.chain(["force", "product with the matrix", "force + diagonal"]).any(asked) {
        return;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut elastic = Elastic::uniform(&body.mesh, material.clone());
    let pattern = bind_all(body.mesh.vertex_count(), &mut [&mut elastic]);
    let mut force = vec![0.0; body.u.len()];
    let mut stiffness = BlockMatrix::zero(pattern);
    let mut diagonal = vec![[0.0; 9]; body.mesh.vertex_count()];
    let elements = body.mesh.element_count();
    let vectors = 2 * 8 * body.u.len() + 8 * body.u.len();
    let geometry = elements.div_ceil(LANES) * elastic.elements().bytes_per_group();
    let pairs = elastic.elements().nodes_per_element() * (elastic.elements().nodes_per_element() + 1) / 2;
    let matrix = 2 * 8 * stiffness.values().len() + 4 * pairs * elements;
    let line = |what: &str, bytes: usize, mut run: Box<dyn FnMut() + Send + '_>| {
        if !asked(what) {
            return;
        }
        let seconds = pool.install(|| fastest(&mut *run));
        let floor = bytes as f64 / copy_speed(bytes);
        println!(
            "{} {:9.1} ns/element {:6.1} GB/s {:6.1} × memory-bound time",
            title(what),
            1e9 * seconds / elements as f64,
            1e-9 * bytes as f64 / seconds,
            seconds / floor
        );
    };
    line(
        "force",
        vectors + geometry,
        Box::new(|| {
            force.fill(0.0);
            elastic.add_gradient(black_box(&body.u), &Conditions::START, &mut force);
        }),
    );
    for (what, definiteness) in tangents {
        line(
            what,
            vectors + geometry + matrix,
            Box::new(|| {
                force.fill(0.0);
                stiffness.clear();
                let u = black_box(&body.u);
                elastic.add_gradient_and_stiffness(u, &Conditions::START, definiteness, &mut force, &mut stiffness);
            }),
        );
    }
    line(
        "force + diagonal",
        vectors + geometry + 24 * body.u.len(),
        Box::new(|| {
            force.fill(0.0);
            diagonal.fill([0.0; 9]);
            elastic.add_gradient_and_diagonal(black_box(&body.u), Definiteness::Exact, &mut force, &mut diagonal);
        }),
    );
    for (what, definiteness) in products {
        line(
            what,
            vectors + geometry,
            Box::new(|| {
                force.fill(0.0);
                elastic.add_stiffness_product(black_box(&body.u), definiteness, &body.u, &mut force);
            }),
        );
    }
    line("product with the matrix", vectors + matrix / 2, Box::new(|| stiffness.mul(black_box(&body.u), &mut force)));
}

fn main() {
    // `cargo test` also runs benches, which then only need to build.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with("--")).map_or("", String::as_str);
    let block =
        |cells: [usize; 3], kind| generate::block(cells.map(|n| n as f64 / cells[0] as f64), cells, kind).unwrap();
    let bodies = [
        body("12.8k tets", block([40, 8, 8], Cells::Tet5)),
        body("160k tets", block([80, 20, 20], Cells::Tet5)),
        body("5.5k hexes", block([28, 14, 14], Cells::Hex)),
    ];
    let all = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for body in &bodies {
        for (name, material) in materials() {
            for threads in if all == 1 { vec![1] } else { vec![1, all] } {
                measure(body, &name, &material, threads, filter);
            }
        }
    }
}
