//! Benchmark of sparse factorization and solution. `cargo bench -p pliant --bench solvers [MAX_VERTICES]`.

use std::sync::Arc;
use std::time::Instant;

use pliant::force::{Conditions, Definiteness, Elastic, Force, bind_all};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::mesh::{Cells, generate};
use pliant::solver::{Cholesky, Scalar, Symbolic};
use pliant::sparse::BlockMatrix;

fn fastest(mut run: impl FnMut()) -> f64 {
    (0..3).fold(f64::INFINITY, |best, _| {
        let start = Instant::now();
        run();
        best.min(start.elapsed().as_secs_f64())
    })
}

fn measure<T: Scalar>(name: &str, symbolic: &Arc<Symbolic>, matrix: &BlockMatrix, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut cholesky = Cholesky::<T>::new(symbolic.clone());
    let factor = pool.install(|| fastest(|| cholesky.factor(matrix).unwrap()));
    let b = vec![1.0; 3 * matrix.pattern().node_count()];
    let mut x = b.clone();
    let solve = pool.install(|| fastest(|| cholesky.solve(&b, &mut x)));
    println!(
        "{name} {threads} thread(s): factor {:9.2} ms ({:.1} Gflop/s), solve {:8.2} ms",
        1e3 * factor,
        1e-9 * symbolic.info().operations / factor,
        1e3 * solve
    );
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let most: usize = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(48_000);
    for n in [7, 11, 17, 20, 23] {
        let size = [4.0, 1.0, 1.0];
        let mesh = generate::block(size, [4 * n, n, n], Cells::Tet6).unwrap();
        if mesh.vertex_count() > most {
            break;
        }
        let law = AnyLaw::new("corotational", YoungPoisson { young: 1e6, poisson: 0.45 }).unwrap();
        let mut elastic = Elastic::uniform(&mesh, law);
        let pattern = bind_all(mesh.vertex_count(), &mut [&mut elastic]);
        let mut matrix = BlockMatrix::zero(pattern.clone());
        let mut force = vec![0.0; 3 * mesh.vertex_count()];
        let rest = force.clone();
        elastic.add_gradient_and_stiffness(&rest, &Conditions::START, Definiteness::Exact, &mut force, &mut matrix);
        matrix.scale(1e-4);
        for (vertex, mass) in mesh.lumped_masses(&[1000.0]).into_iter().enumerate() {
            let vertex = vertex as u32;
            matrix.add_block(vertex, vertex, &[[mass, 0.0, 0.0], [0.0, mass, 0.0], [0.0, 0.0, mass]]);
        }
        let start = Instant::now();
        let symbolic = Arc::new(Symbolic::new(pattern).unwrap());
        println!(
            "{} vertices: analysis {:.2} s, {:?}",
            mesh.vertex_count(),
            start.elapsed().as_secs_f64(),
            symbolic.info()
        );
        for threads in [1, 2] {
            measure::<f64>("  f64", &symbolic, &matrix, threads);
            measure::<f32>("  f32", &symbolic, &matrix, threads);
        }
    }
}
