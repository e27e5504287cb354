//! Time and memory of linear solvers.

use std::time::Instant;

use pliant::model::Assembly;
use pliant::solver::{CgParams, SolveError, SolveInfo, SolverParams, StaleFactorParams};
use pliant::system::System;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use crate::bodies::{self, Specimen};
use crate::measure::{digits, exponent, on_threads};
use crate::vega::setting::{self, STEP, backward_euler_matrix, bent, difference};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-solvers",
    paper: &paper::VEGA,
    part: "table 4",
    title: "Linear solvers: time and memory",
    reports: "A direct solver is fastest on small and medium bodies, but its memory grows faster than the body. Conjugate gradients need little memory, and \
              are faster where the factor is too large.",
    run,
};

/// Returns the solvers in order of decreasing memory, except for the stale factor.
fn solvers() -> [(&'static str, SolverParams); 5] {
    let cg = CgParams::default();
    [
        ("direct", SolverParams::Direct),
        ("direct, single precision and CG", SolverParams::DirectSingle(cg)),
        ("stale co-rotated factor, CG", SolverParams::StaleFactor(StaleFactorParams::default())),
        ("block IC(0) and CG", SolverParams::IncompleteCholesky(cg)),
        ("block Jacobi and CG", SolverParams::BlockJacobi(cg)),
    ]
}

/// Times of VegaFEM 4.0's solvers for factorization and solution of such matrices on one thread \[s\], with the
/// iterations of conjugate gradients. They were measured on another machine, with 4,000 and 35,721 vertices.
const VEGA: &[(&str, &str, &str)] = &[
    ("PARDISO", "0.022", "3.28"),
    ("PARDISO, for positive definite matrices", "0.013", "2.36"),
    ("SPOOLES", "0.095", "10.2"),
    ("Jacobi and CG", "0.094 (274 iterations)", "4.3 (649)"),
];

/// Result of a solver on a body.
struct Row {
    body: &'static str,
    vertices: usize,
    solver: &'static str,
    /// Time of the first solution, with the symbolic factorization \[s\].
    first: f64,
    /// Time of the second solution \[s\].
    seconds: f64,
    info: SolveInfo,
    /// Difference from the direct solution, relative to its maximum.
    apart: f64,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    page.now("creating bodies")?;
    let named: Vec<Specimen> = if page.is_fast() {
        vec![bodies::bar(40, 10)?]
    } else {
        vec![bodies::bridge()?, bodies::crane()?, bodies::bar(80, 20)?, bodies::dragon()?]
    };
    let bars: &[usize] = page.pick(&[10, 20, 40, 60, 80], &[10, 20, 30]);
    let mut table = Vec::new();
    for specimen in &named {
        table.extend(measure(page, specimen)?);
    }
    let mut growing = Vec::new();
    for &along in bars {
        growing.extend(measure(page, &bodies::bar(along, along / 5)?)?);
    }
    page.text(format!(
        "The matrix is `M + h²K` of backward Euler, h = {STEP} s, of bodies bent by a third of a radian, and the right-hand side contains their forces. The material is invertible St. \
         Venant–Kirchhoff, {}, on one thread. Conjugate gradients stop at a residual of 1e-6. *Stale co-rotated factor* is the default solver: its factor, with 16 bits per number, is that \
         of the body at rest, and is not recomputed here. Times are for a second matrix of the same pattern; the first includes the symbolic factorization. Memory is that of the solver, without the matrix.",
        setting::in_words()
    ));
    let heading = [
        "body",
        "vertices",
        "solver",
        "first, s",
        "factor and solve, s",
        "iterations",
        "memory, MB",
        "residual",
        "difference from direct",
    ];
    let cells = |row: &Row| {
        vec![
            row.body.to_owned(),
            row.vertices.to_string(),
            row.solver.to_owned(),
            digits(row.first, 3),
            digits(row.seconds, 3),
            row.info.iterations.to_string(),
            digits(row.info.memory as f64 / 1e6, 3),
            digits(row.info.residual, 2),
            digits(row.apart, 2),
        ]
    };
    page.table("solvers", "Solvers on the same matrices", &heading, table.iter().map(cells).collect())?;
    if !page.is_fast() {
        let rows = VEGA.iter().map(|(solver, bridge, bar)| [*solver, *bridge, *bar].map(String::from).to_vec());
        let heading = ["solver", "4,000 vertices, s", "35,721 vertices, s"];
        page.table("vegafem", "VegaFEM 4.0 on similar matrices, on another machine", &heading, rows.collect())?;
    }
    page.figure("growth", "Time and memory of solvers on bars of growing size", figure(&growing))?;
    findings(page, &table, &growing);
    Ok(())
}

fn figure(rows: &[Row]) -> Figure {
    let panel = |y_label: &str, y: fn(&Row) -> f64| Plot {
        x_label: "vertices".into(),
        y_label: y_label.into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series: solvers()
            .into_iter()
            .filter(|(name, _)| curve(rows, name, y).iter().any(|point| point.1 > 0.0))
            .map(|(name, _)| Series { style: Style::LineAndMarkers, ..Series::new(name, curve(rows, name, y)) })
            .collect(),
        ..Plot::default()
    };
    let panels = vec![
        panel("factor and solve, s", |row| row.seconds),
        panel("memory, MB", |row| row.info.memory as f64 / 1e6),
        panel("iterations", |row| row.info.iterations as f64),
    ];
    Figure { panels, ..Figure::default() }
}

fn curve(rows: &[Row], solver: &str, y: fn(&Row) -> f64) -> Vec<(f64, f64)> {
    rows.iter().filter(|row| row.solver == solver).map(|row| (row.vertices as f64, y(row))).collect()
}

fn findings(page: &mut Page<'_>, table: &[Row], growing: &[Row]) {
    let all = || table.iter().chain(growing);
    let apart = all().map(|row| row.apart).fold(0.0, f64::max);
    page.finding(
        "all solvers give the same solution",
        apart < 1e-4,
        format!("differences of at most {} relative to the largest displacement", digits(apart, 2)),
    );
    let largest = table.rchunks(solvers().len()).next().unwrap_or_default();
    let [direct, single, old, incomplete, jacobi] = largest else { return };
    let part = |row: &Row| row.info.memory as f64 / direct.info.memory as f64;
    let ratio = direct.info.memory as f64 / incomplete.info.memory as f64;
    page.finding(
        "conjugate gradients need much less memory than a factor",
        ratio > 5.0 && jacobi.info.memory < incomplete.info.memory,
        format!(
            "{}: {} MB for the direct solver, {} with block IC(0), {} with block Jacobi",
            direct.body,
            digits(direct.info.memory as f64 / 1e6, 3),
            digits(incomplete.info.memory as f64 / 1e6, 3),
            digits(jacobi.info.memory as f64 / 1e6, 3)
        ),
    );
    page.finding(
        "a better preconditioner needs fewer iterations: most with block Jacobi, fewer with block IC(0), fewest with a factor in single precision",
        jacobi.info.iterations > incomplete.info.iterations
            && incomplete.info.iterations > old.info.iterations
            && old.info.iterations >= single.info.iterations,
        format!(
            "{}, {}, {} with a stale factor, {}",
            jacobi.info.iterations, incomplete.info.iterations, old.info.iterations, single.info.iterations
        ),
    );
    page.finding(
        "a factor in single precision takes half the memory; with an additional copy in 16 bits, three quarters",
        (part(single) - 0.5).abs() < 0.1 && (part(old) - 0.75).abs() < 0.15,
        format!("{} and {} relative to the direct solver", digits(part(single), 2), digits(part(old), 2)),
    );
    let [factor, cg] =
        ["direct", "block IC(0) and CG"].map(|solver| exponent(&curve(growing, solver, |row| row.info.memory as f64)));
    page.finding(
        "the memory of a factor grows faster than the body (with the power 4/3 in theory), and that of conjugate gradients linearly",
        factor > 1.1 && (cg - 1.0).abs() < 0.15,
        format!("with the power {} and {}", digits(factor, 3), digits(cg, 3)),
    );
    let steepest = exponent(&curve(growing, "direct", |row| row.seconds));
    page.timing_finding(
        "the time of a factorization grows much faster than the body (with the power 2 in theory)",
        steepest > 1.2,
        format!("with the power {}", digits(steepest, 2)),
    );
    if let Some([small, .., slow]) = table.chunks(solvers().len()).next() {
        page.timing_finding(
            "on the smallest body, a factorization is faster than conjugate gradients with block Jacobi",
            small.seconds < slow.seconds,
            format!("{}: {} s instead of {} s", small.body, digits(small.seconds, 2), digits(slow.seconds, 2)),
        );
    }
    page.timing_finding(
        "on the largest body, a stale factor is faster than all other solvers",
        [direct, single, incomplete, jacobi].iter().all(|row| row.seconds > old.seconds),
        format!(
            "{}: {}",
            direct.body,
            largest.iter().map(|row| format!("{} s", digits(row.seconds, 2))).collect::<Vec<_>>().join(", ")
        ),
    );
}

fn measure(page: &Page<'_>, specimen: &Specimen) -> anyhow::Result<Vec<Row>> {
    let mut assembly = Assembly::new(setting::model(specimen)?);
    let (rest, bent) = (vec![0.0; assembly.dim()], bent(&specimen.mesh));
    let mut exact = Vec::new();
    let mut rows = Vec::new();
    for (solver, params) in solvers() {
        page.now(format_args!("{}, {} vertices: {solver}", specimen.name, specimen.mesh.vertex_count()))?;
        let (first, seconds, info, solution) = on_threads(1, || solve_twice(&mut assembly, params, &rest, &bent))??;
        if exact.is_empty() {
            exact.clone_from(&solution);
        }
        let (body, vertices, apart) = (specimen.name, specimen.mesh.vertex_count(), difference(&solution, &exact));
        rows.push(Row { body, vertices, solver, first, seconds, info, apart });
    }
    Ok(rows)
}

/// Solves with the matrix at rest, and then with the matrix of the bent body. Returns both times \[s\], and information
/// and solution of the second.
fn solve_twice(
    assembly: &mut Assembly,
    params: SolverParams,
    rest: &[f64],
    bent: &[f64],
) -> Result<(f64, f64, SolveInfo, Vec<f64>), SolveError> {
    let mut solver = params.build();
    let mut solve = |u: &[f64]| {
        let right = backward_euler_matrix(assembly, u, STEP);
        let mut solution = vec![0.0; right.len()];
        let began = Instant::now();
        solver.set_matrix(assembly.matrix())?;
        let info = solver.solve(assembly.matrix(), &right, &mut solution)?;
        Ok::<_, SolveError>((began.elapsed().as_secs_f64(), info, solution))
    };
    let (first, ..) = solve(rest)?;
    let (seconds, info, solution) = solve(bent)?;
    Ok((first, seconds, info, solution))
}
