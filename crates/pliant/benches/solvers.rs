//! How long linear systems take, alone and in a bar that swings. `cargo bench -p pliant --bench solvers`, with a number for the
//! largest count of vertices.

use std::sync::Arc;
use std::time::Instant;

use pliant::force::{Definiteness, Elastic, Force, bind_all};
use pliant::mass::MassMatrix;
use pliant::material::{AnyLaw, Corotational, CorotationalTangent, YoungPoisson};
use pliant::mesh::{Cells, generate};
use pliant::solver::{
    CgParams, Cholesky, OldFactorParams, Operator, Precision, Scalar, SolverParams, Symbolic, VertexFrames,
};
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
    let b = vec![1.0; 3 * matrix.pattern().vertex_count()];
    let mut x = b.clone();
    let solve = pool.install(|| fastest(|| cholesky.solve(&b, &mut x)));
    println!(
        "{name} {threads} thread(s): factor {:9.2} ms ({:.1} Gflop/s), solve {:8.2} ms",
        1e3 * factor,
        1e-9 * symbolic.info().operations / factor,
        1e3 * solve
    );
}

/// A bar of 1.0 × 0.2 × 0.2 m, held on the left, that swings under its weight: linearised backward Euler with steps of 1/100 s.
struct Swing {
    elastic: Elastic,
    mass: MassMatrix,
    /// `M / h²`.
    inertia: BlockMatrix,
    gravity: Vec<f64>,
    held: Vec<usize>,
    /// The numbers of the matrix that hold the left face by being zero.
    zeros: Vec<usize>,
    frames: Arc<VertexFrames>,
}

const STEP: f64 = 0.01;
const STEPS: usize = 100;

impl Swing {
    fn new(across: usize) -> Self {
        let mesh = generate::block([1.0, 0.2, 0.2], [5 * across, across, across], Cells::Tet5).unwrap();
        let law = Corotational::from_moduli(YoungPoisson { young: 1e6, poisson: 0.45 });
        let law = Corotational { tangent: CorotationalTangent::Warped, ..law };
        let mut elastic = Elastic::uniform(&mesh, AnyLaw::Corotational(law));
        let pattern = bind_all(mesh.vertex_count(), &mut [&mut elastic]);
        let mass = MassMatrix::consistent(&mesh, &[1000.0], &pattern).unwrap();
        let mut inertia = BlockMatrix::zero(pattern.clone());
        mass.add_to(1.0 / (STEP * STEP), &mut inertia);
        let is_held = |vertex: usize| mesh.vertices()[vertex].x == 0.0;
        let mut zeros = Vec::new();
        for row in 0..mesh.vertex_count() {
            for slot in pattern.row(row) {
                let column = pattern.columns()[slot] as usize;
                if is_held(row) || is_held(column) {
                    zeros.extend((0..9).filter(|entry| row != column || entry % 4 != 0).map(|entry| 9 * slot + entry));
                }
            }
        }
        Self {
            elastic,
            mass,
            inertia,
            gravity: mesh.lumped_masses(&[1000.0]).into_iter().flat_map(|mass| [0.0, -9.81 * mass, 0.0]).collect(),
            held: (0..mesh.vertex_count()).filter(|&vertex| is_held(vertex)).collect(),
            zeros,
            frames: Arc::new(VertexFrames::new(mesh.vertex_count(), &[(0, &mesh)])),
        }
    }

    fn measure_all(&self) {
        println!("bar of {} vertices, {STEPS} steps", self.gravity.len() / 3);
        let (cg, old) = (CgParams::default(), OldFactorParams::default());
        for threads in [1, 2] {
            for (name, params) in [
                ("auto", SolverParams::default()),
                ("old factor, 16 bits", SolverParams::OldFactor(old)),
                (
                    "old factor, 32 bits",
                    SolverParams::OldFactor(OldFactorParams { precision: Precision::Single, ..old }),
                ),
                ("old factor, not turned", SolverParams::OldFactor(OldFactorParams { rotate: false, ..old })),
                ("old factor, guess zero", SolverParams::OldFactor(OldFactorParams { extrapolate: false, ..old })),
                ("direct in single", SolverParams::DirectSingle(cg)),
                ("direct", SolverParams::Direct),
                ("block IC(0)", SolverParams::IncompleteCholesky(cg)),
                ("block Jacobi", SolverParams::BlockJacobi(cg)),
            ] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| self.measure(&format!("{name}, {threads} thread(s)"), params));
            }
        }
    }

    fn measure(&self, name: &str, params: SolverParams) {
        let n = self.gravity.len();
        let zero = || vec![0.0; n];
        let (mut v, mut b, mut change, mut force) = (zero(), zero(), zero(), zero());
        let (mut av, mut mv) = (zero(), zero());
        let mut operator = Operator { matrix: self.inertia.clone(), u: zero(), frames: Some(self.frames.clone()) };
        let mut solver = params.build();
        let (mut iterations, mut factorizations, mut memory) = (0, 0, 0);
        let (mut assembling, mut setting, mut solving, mut slowest) = (0.0, 0.0, 0.0, 0.0);
        for step in 0..=STEPS {
            let start = Instant::now();
            operator.matrix.values_mut().copy_from_slice(self.inertia.values());
            force.fill(0.0);
            self.elastic.add_force_and_stiffness(&operator.u, Definiteness::Exact, &mut force, &mut operator.matrix);
            // (M/h² + K) Δv = (f_ext − f) / h − K v.
            operator.matrix.mul(&v, &mut av);
            self.mass.mul(&v, &mut mv);
            for i in 0..n {
                b[i] = (self.gravity[i] - force[i]) / STEP - (av[i] - mv[i] / (STEP * STEP));
            }
            self.held.iter().for_each(|&vertex| b[3 * vertex..3 * vertex + 3].fill(0.0));
            let values = operator.matrix.values_mut();
            self.zeros.iter().for_each(|&place| values[place] = 0.0);
            change.fill(0.0);
            let assembled = Instant::now();
            solver.set_matrix(&operator).unwrap();
            let set = Instant::now();
            let info = solver.solve(&operator, &b, &mut change).unwrap();
            let solved = Instant::now();
            for i in 0..n {
                v[i] += change[i];
                operator.u[i] += STEP * v[i];
            }
            // The first step analyses the pattern and takes the memory.
            if step > 0 {
                iterations += info.iterations;
                factorizations += info.factorizations;
                memory = info.memory;
                assembling += (assembled - start).as_secs_f64() + solved.elapsed().as_secs_f64();
                setting += (set - assembled).as_secs_f64();
                solving += (solved - set).as_secs_f64();
                slowest = f64::max(slowest, start.elapsed().as_secs_f64());
            }
        }
        let per_step = |seconds: f64| 1e3 * seconds / STEPS as f64;
        println!(
            "  {name:36} {:8.2} ms a step (assembly {:.2}, matrix {:.2}, solution {:.2}; slowest step {:.1}), {:5.1} iterations, \
             {factorizations} factors, {} MB",
            per_step(assembling + setting + solving),
            per_step(assembling),
            per_step(setting),
            per_step(solving),
            1e3 * slowest,
            iterations as f64 / STEPS as f64,
            memory >> 20
        );
    }
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let most: usize = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(48_000);
    for across in [4, 8, 16] {
        let swing = Swing::new(across);
        if swing.gravity.len() / 3 <= most {
            swing.measure_all();
        }
    }
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
        elastic.add_force_and_stiffness(&force.clone(), Definiteness::Exact, &mut force, &mut matrix);
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
