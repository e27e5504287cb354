//! Pliant's side of `make bench-peers`: `peers.py` starts it, asks for work line by line, and times its peers in between.
//!
//! `peers matrix <cells> <file>` writes the matrix of a backward-Euler step of a bar and says what its factor takes. Then each line
//! `f64 <threads>` or `f32 <threads>` is answered with the seconds that factorisation and solution took.

use std::error::Error;
use std::io::{self, BufRead, BufWriter, Write};
use std::sync::Arc;
use std::time::Instant;

use pliant::force::{Definiteness, Elastic, Force, bind_all};
use pliant::mass::MassMatrix;
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::mesh::{Cells, generate};
use pliant::solver::{Cholesky, Scalar, Symbolic};
use pliant::sparse::BlockMatrix;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|argument| argument == "matrix") else {
        // `cargo bench` and `cargo test` run everything there is; this needs its peers.
        return Ok(());
    };
    let matrix = bar(arguments[at + 1].parse()?)?;
    write_upper(&matrix, &arguments[at + 2])?;
    let start = Instant::now();
    let symbolic = Arc::new(Symbolic::new(matrix.pattern().clone())?);
    let analysis = start.elapsed().as_secs_f64();
    let info = symbolic.info();
    println!(
        r#"{{"pid": {}, "vertices": {}, "analysis": {analysis}, "fill": {}, "operations": {}, "numbers": {}}}"#,
        std::process::id(),
        matrix.pattern().vertex_count(),
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

/// The seconds that both take.
fn factor_and_solve<T: Scalar>(cholesky: &mut Cholesky<T>, matrix: &BlockMatrix) -> (f64, f64) {
    let b = vec![1.0; 3 * matrix.pattern().vertex_count()];
    let mut x = b.clone();
    let start = Instant::now();
    cholesky.factor(matrix).expect("a positive definite matrix");
    let factor = start.elapsed().as_secs_f64();
    let start = Instant::now();
    cholesky.solve(&b, &mut x);
    (factor, start.elapsed().as_secs_f64())
}

/// `(1 + 0.1 h) M + (h² + 0.001 h) K` of a bar of 4 × 1 × 1 m, so many cells thick, with its vertices shaken.
fn bar(cells: usize) -> Result<BlockMatrix, Box<dyn Error>> {
    const H: f64 = 0.01;
    let mesh = generate::block([4.0, 1.0, 1.0], [4 * cells, cells, cells], Cells::Tet5)?;
    let law = AnyLaw::new("corotational", YoungPoisson { young: 1e6, poisson: 0.45 })?;
    let mut elastic = Elastic::uniform(&mesh, law);
    let pattern = bind_all(mesh.vertex_count(), &mut [&mut elastic]);
    let mut matrix = BlockMatrix::zero(pattern);
    let mut rng = fastrand::Rng::with_seed(1);
    let u: Vec<f64> = (0..3 * mesh.vertex_count()).map(|_| 0.1 / cells as f64 * (rng.f64() - 0.5)).collect();
    elastic.add_force_and_stiffness(&u, Definiteness::Projected, &mut vec![0.0; u.len()], &mut matrix);
    matrix.scale(H * H + 0.001 * H);
    MassMatrix::lumped(&mesh, &[1000.0])?.add_to(1.0 + 0.1 * H, &mut matrix);
    Ok(matrix)
}

/// The upper triangle in the form of NumPy's `tofile`: rows and entries as `i32`, the starts of the rows and the columns too, then the numbers.
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
