//! Pliant's side of `make bench-peers`: `peers.py` starts it, asks for work line by line, and times its peers in
//! between.
//!
//! `peers matrix <cells> <file>` writes the matrix of a backward-Euler step of a bar and prints the cost of its
//! factorization. Then each line `f64 <threads>` or `f32 <threads>` is answered with the times of factorization and
//! solution \[s\].
//!
//! `peers swing <cells>` creates a bar that swings under its weight, `peers swing-long <cells>` the bar of those
//! matrices. Each line, `default <threads>` or `linearized <threads>` for the integrator, is answered with the mean
//! time per step \[s\], the part of it in the linear solver, and the mean number of Newton iterations per step.
//!
//! `peers modes <cells> <folder>` writes stiffness and mass of the free degrees of freedom of a bar fixed at one end.
//! Each line, a number of threads, is answered with the time to find 20 modes \[s\], including the factorization, and
//! their frequencies \[Hz\].

use std::error::Error;
use std::io::{self, BufRead, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pliant::force::{Conditions, Definiteness, Elastic, Force, bind_all};
use pliant::integrator::{BackwardEuler, Integrator, LinearizedBackwardEuler};
use pliant::mass::MassMatrix;
use pliant::material::{AnyLaw, Corotational, CorotationalTangent, YoungPoisson};
use pliant::math::Vec3;
use pliant::matrix_io::write_matrix;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::reduced::{Modes, ModesParams};
use pliant::solver::{Cholesky, Scalar, SolverParams, Symbolic};
use pliant::sparse::{BlockMatrix, Csr};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[1..] {
        ["matrix", cells, file, ..] => factor_on_demand(cells.parse()?, file),
        ["swing", cells, ..] => swing_on_demand([1.0, 0.2, 0.2], 5, cells.parse()?),
        ["swing-long", cells, ..] => swing_on_demand([4.0, 1.0, 1.0], 4, cells.parse()?),
        ["modes", cells, folder, ..] => find_modes_on_demand(cells.parse()?, Path::new(folder)),
        // `cargo bench` and `cargo test` run every bench without arguments; this one does nothing without its peers.
        _ => Ok(()),
    }
}

/// Steps a bar with `cells` cells across and `long` times as many along, fixed on the left, with the default solver.
fn swing_on_demand(size: [f64; 3], long: usize, cells: usize) -> Result<(), Box<dyn Error>> {
    const STEPS: usize = 100;
    let mesh = generate::block(size, [long * cells, cells, cells], Cells::Tet5)?;
    let left = mesh.vertex_sets()["x-min"].clone();
    let law = Corotational::from_moduli(YoungPoisson { young: 1e6, poisson: 0.45 });
    // As in the peers.
    let law = AnyLaw::Corotational(Corotational { tangent: CorotationalTangent::Warped, ..law });
    let builder = Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new(left));
    let mut assembly = Assembly::new(builder.gravity(Vec3::new(0.0, -9.81, 0.0)).build()?);
    println!(r#"{{"pid": {}, "vertices": {}}}"#, std::process::id(), assembly.model().node_count());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (integrator, threads) = line.split_once(' ').ok_or("an integrator and a number of threads")?;
        let mut integrator: Box<dyn Integrator<Assembly>> = match integrator {
            "linearized" => Box::new(LinearizedBackwardEuler::default()),
            _ => Box::new(BackwardEuler::for_animation()),
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.trim().parse()?).build()?;
        let (mut state, mut solver) = (assembly.rest_state(), SolverParams::default().build());
        let (mut solving, mut iterations) = (0.0, 0);
        let start = Instant::now();
        for _ in 0..STEPS {
            let info = pool.install(|| integrator.step(&mut assembly, &mut *solver, &mut state, 0.01))?;
            solving += info.solving.as_secs_f64();
            iterations += info.newton_iterations;
        }
        let mean = |sum: f64| sum / STEPS as f64;
        println!("{} {} {}", mean(start.elapsed().as_secs_f64()), mean(solving), mean(iterations as f64));
    }
    Ok(())
}

fn find_modes_on_demand(cells: usize, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mesh = generate::block([1.0, 0.2, 0.2], [5 * cells, cells, cells], Cells::Tet5)?;
    let left = mesh.vertex_sets()["x-min"].clone();
    let law = AnyLaw::new("linear", YoungPoisson { young: 1e6, poisson: 0.4 })?;
    let model = Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new(left)).build()?;
    let stiffness = model.internal_stiffness(&model.rest_state().q, &Conditions::START, Definiteness::Exact);
    write_matrix(folder.join("K.npz"), &free_part(&stiffness.to_csr(), model.fixed_mask()))?;
    write_matrix(folder.join("M.npz"), &free_part(&model.mass().to_csr(), model.fixed_mask()))?;
    println!(r#"{{"pid": {}, "vertices": {}}}"#, std::process::id(), model.node_count());
    for line in io::stdin().lock().lines() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(line?.trim().parse()?).build()?;
        let start = Instant::now();
        let find = || Modes::find(&model, &ModesParams::new(20), &mut |_| ControlFlow::Continue(()));
        let modes = pool.install(find)?;
        let seconds = start.elapsed().as_secs_f64();
        let frequencies: Vec<String> = modes.frequencies().iter().map(f64::to_string).collect();
        println!("{seconds} {}", frequencies.join(" "));
    }
    Ok(())
}

/// Returns the submatrix of the free degrees of freedom.
fn free_part(matrix: &Csr, fixed: &[bool]) -> Csr {
    let mut number = vec![0; fixed.len()];
    let free = (0..fixed.len()).filter(|&i| !fixed[i]);
    for (new, old) in free.clone().enumerate() {
        number[old] = new as u32;
    }
    let mut part = Csr { row_starts: vec![0], columns: Vec::new(), values: Vec::new() };
    for row in free {
        for (column, value) in matrix.row(row).filter(|(column, _)| !fixed[*column as usize]) {
            part.columns.push(number[column as usize]);
            part.values.push(value);
        }
        part.row_starts.push(part.values.len());
    }
    part
}

fn factor_on_demand(cells: usize, file: &str) -> Result<(), Box<dyn Error>> {
    let matrix = bar(cells)?;
    write_upper(&matrix, file)?;
    let start = Instant::now();
    let symbolic = Arc::new(Symbolic::new(matrix.pattern().clone())?);
    let analysis = start.elapsed().as_secs_f64();
    let info = symbolic.info();
    println!(
        r#"{{"pid": {}, "vertices": {}, "analysis": {analysis}, "fill": {}, "operations": {}, "numbers": {}}}"#,
        std::process::id(),
        matrix.pattern().node_count(),
        info.fill,
        info.operations,
        info.memory
    );
    let mut double = Cholesky::<f64>::new(symbolic.clone());
    let mut single = Cholesky::<f32>::new(symbolic);
    let pools = [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
    let [one, two] = pools;
    let (one, two) = (one?, two?);
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (precision, threads) = line.split_once(' ').ok_or("a precision and a number of threads")?;
        let pool = if threads == "1" { &one } else { &two };
        let (factor, solve) = match precision {
            "f64" => pool.install(|| factor_and_solve(&mut double, &matrix)),
            _ => pool.install(|| factor_and_solve(&mut single, &matrix)),
        };
        println!("{factor} {solve}");
    }
    Ok(())
}

/// Returns the times of factorization and solution \[s\].
fn factor_and_solve<T: Scalar>(cholesky: &mut Cholesky<T>, matrix: &BlockMatrix) -> (f64, f64) {
    let b = vec![1.0; 3 * matrix.pattern().node_count()];
    let mut x = b.clone();
    let start = Instant::now();
    cholesky.factor(matrix).expect("a positive definite matrix");
    let factor = start.elapsed().as_secs_f64();
    let start = Instant::now();
    cholesky.solve(&b, &mut x);
    (factor, start.elapsed().as_secs_f64())
}

/// Returns `(1 + 0.1 h) M + (h² + 0.001 h) K` of a bar of 4 × 1 × 1 m with `cells` cells across and perturbed vertices.
fn bar(cells: usize) -> Result<BlockMatrix, Box<dyn Error>> {
    const H: f64 = 0.01;
    let mesh = generate::block([4.0, 1.0, 1.0], [4 * cells, cells, cells], Cells::Tet5)?;
    let law = AnyLaw::new("corotational", YoungPoisson { young: 1e6, poisson: 0.45 })?;
    let mut elastic = Elastic::uniform(&mesh, law);
    let pattern = bind_all(mesh.vertex_count(), &mut [&mut elastic]);
    let mut matrix = BlockMatrix::zero(pattern);
    let mut rng = fastrand::Rng::with_seed(1);
    let u: Vec<f64> = (0..3 * mesh.vertex_count()).map(|_| 0.1 / cells as f64 * (rng.f64() - 0.5)).collect();
    let mut force = vec![0.0; u.len()];
    elastic.add_gradient_and_stiffness(&u, &Conditions::START, Definiteness::Projected, &mut force, &mut matrix);
    matrix.scale(H * H + 0.001 * H);
    MassMatrix::lumped(&mesh, &[1000.0])?.add_to(1.0 + 0.1 * H, &mut matrix);
    Ok(matrix)
}

/// Writes the upper triangle in the format of NumPy's `tofile`: the numbers of rows and entries, the row starts and the
/// columns as `i32`, then the values as `f64`.
fn write_upper(matrix: &BlockMatrix, path: &str) -> Result<(), Box<dyn Error>> {
    let csr = matrix.to_csr();
    let upper = |row: usize| csr.row(row).filter(move |&(column, _)| column as usize >= row);
    let rows = csr.row_count();
    let mut starts = vec![0_u32];
    for row in 0..rows {
        starts.push(starts[row] + upper(row).count() as u32);
    }
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    file.write_all(&(rows as u32).to_le_bytes())?;
    file.write_all(&starts[rows].to_le_bytes())?;
    for start in starts {
        file.write_all(&start.to_le_bytes())?;
    }
    for (column, _) in (0..rows).flat_map(upper) {
        file.write_all(&column.to_le_bytes())?;
    }
    for (_, entry) in (0..rows).flat_map(upper) {
        file.write_all(&entry.to_le_bytes())?;
    }
    Ok(file.flush()?)
}
