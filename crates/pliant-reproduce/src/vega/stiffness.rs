//! Linear solvers against stiffness.

use std::time::Instant;

use pliant::material::{AnyLaw, YoungPoisson};
use pliant::model::Assembly;
use pliant::solver::{CgParams, SolveInfo, SolverParams};
use pliant::system::{Combination, Conditions, Definiteness, System};
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use crate::bodies::{self, Specimen};
use crate::measure::{digits, exponent};
use crate::vega::setting::{self, POISSON, STEP};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-stiffness",
    paper: &paper::VEGA,
    part: "figure 11",
    title: "Solver time against stiffness",
    reports: "The time of conjugate gradients grows with the stiffness of the material, while that of a direct solver is constant. The former are better for soft bodies, the latter for stiff ones.",
    run,
};

const JACOBI: &str = "block Jacobi and CG";
const INCOMPLETE: &str = "block IC(0) and CG";
const SINGLE: &str = "direct, single precision and CG";
const DIRECT: &str = "direct";

const SOLVERS: usize = 4;

fn solvers() -> [(&'static str, SolverParams); SOLVERS] {
    let cg = CgParams { max_iterations: 50_000, ..CgParams::default() };
    [
        (JACOBI, SolverParams::BlockJacobi(cg)),
        (INCOMPLETE, SolverParams::IncompleteCholesky(cg)),
        (SINGLE, SolverParams::DirectSingle(cg)),
        (DIRECT, SolverParams::Direct),
    ]
}

/// Cost of a solution. Young's modulus `young` \[Pa\] is infinite for statics.
struct Solved {
    solver: &'static str,
    young: f64,
    seconds: f64,
    info: SolveInfo,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let named: Vec<Specimen> =
        if page.is_fast() { vec![bodies::bar(40, 8)?] } else { vec![bodies::bar(40, 8)?, bodies::bar(80, 16)?] };
    page.text(format!(
        "The matrix is `M + h²K` of backward Euler at rest, with h = {STEP} s, linear elasticity, ν = {POISSON} and ρ = {} kg/m³. The right-hand side is random, so that it contains all frequencies. Conjugate \
         gradients stop at a residual of 1e-6. *Statics* is `K` alone.",
        bodies::DENSITY
    ));
    for specimen in &named {
        let all = solve_all(page, specimen)?;
        show(page, specimen, &all)?;
        findings(page, specimen, &all);
    }
    Ok(())
}

fn titled(specimen: &Specimen) -> String {
    format!("{} of {} vertices", specimen.name, specimen.mesh.vertex_count())
}

fn solve_all(page: &Page<'_>, specimen: &Specimen) -> anyhow::Result<Vec<Solved>> {
    let moduli = YoungPoisson { young: 1.0, poisson: POISSON };
    let mut assembly = Assembly::new(setting::weighing(specimen, AnyLaw::new("linear", moduli)?.into()).build()?);
    let mut rng = fastrand::Rng::with_seed(3);
    let mut force = vec![0.0; assembly.dim()];
    let right: Vec<f64> =
        assembly.fixed_mask().iter().map(|fixed| if *fixed { 0.0 } else { rng.f64() - 0.5 }).collect();
    let rest = vec![0.0; right.len()];
    let stiffness = assembly.linearize(&rest, &Conditions::START, Definiteness::Exact, &mut force).stiffness;
    let mut solvers = solvers().map(|(name, params)| (name, params.build()));
    let mut all = Vec::new();
    let decades = page.pick(2..=11, 3..=9);
    for young in decades.map(|decade| 10.0_f64.powi(decade)).chain([f64::INFINITY]) {
        // K is proportional to Y.
        let combination = if young.is_finite() {
            Combination::of_mass(1.0).and_stiffness(STEP * STEP * young, &stiffness)
        } else {
            Combination::of_stiffness(1.0, &stiffness)
        };
        assembly.assemble(combination);
        for (name, solver) in &mut solvers {
            page.now(format_args!("{}: {name}, Y = {young:.0e} Pa", titled(specimen)))?;
            let mut solution = vec![0.0; right.len()];
            // The symbolic factorization is reused over many steps, so it is not measured.
            if all.len() < SOLVERS {
                solver.set_matrix(assembly.matrix())?;
            }
            let began = Instant::now();
            solver.set_matrix(assembly.matrix())?;
            let info = solver.solve(assembly.matrix(), &right, &mut solution)?;
            all.push(Solved { solver: name, young, seconds: began.elapsed().as_secs_f64(), info });
        }
    }
    Ok(all)
}

fn show(page: &mut Page<'_>, specimen: &Specimen, all: &[Solved]) -> anyhow::Result<()> {
    let curve = |name: &'static str, y: fn(&Solved) -> f64| {
        let of_solver = || all.iter().filter(|solved| solved.solver == name);
        let points = of_solver().filter(|solved| solved.young.is_finite()).map(|solved| (solved.young, y(solved)));
        Series { style: Style::LineAndMarkers, ..Series::new(name, points.collect()) }
    };
    let panel = |y_label: &str, names: &[&'static str], y: fn(&Solved) -> f64| Plot {
        x_label: "Young's modulus, Pa".into(),
        y_label: y_label.into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series: names.iter().map(|name| curve(name, y)).collect(),
        ..Plot::default()
    };
    let panels = vec![
        panel("factor and solve, s", &[JACOBI, INCOMPLETE, SINGLE, DIRECT], |solved| solved.seconds),
        panel("iterations", &[JACOBI, INCOMPLETE, SINGLE], |solved| solved.info.iterations as f64),
    ];
    let name = format!("{}-{}", specimen.name, specimen.mesh.vertex_count());
    let caption = format!("Time and iterations against stiffness: {}", titled(specimen));
    page.figure(&name, &caption, Figure { panels, ..Figure::default() })?;
    let moduli: Vec<f64> = all.iter().filter(|solved| solved.solver == DIRECT).map(|solved| solved.young).collect();
    let cells = |young: f64| {
        let at = || all.iter().filter(move |solved| solved.young == young);
        let young = if young.is_finite() { format!("{young:.0e}") } else { "statics".to_owned() };
        let iterations = at().filter(|solved| solved.solver != DIRECT).map(|solved| solved.info.iterations.to_string());
        let times = at().map(|solved| digits(1e3 * solved.seconds, 3));
        std::iter::once(young).chain(iterations).chain(times).collect()
    };
    let heading = [
        "Y, Pa",
        "iterations, block Jacobi",
        "block IC(0)",
        "single precision",
        "time in ms, block Jacobi",
        "block IC(0)",
        "single precision",
        "direct",
    ];
    page.table(&format!("{name}-table"), &caption, &heading, moduli.into_iter().map(cells).collect())
}

fn findings(page: &mut Page<'_>, specimen: &Specimen, all: &[Solved]) {
    let iterations = |name: &str| -> Vec<(f64, f64)> {
        let of_solver = all.iter().filter(|solved| solved.solver == name);
        of_solver.map(|solved| (solved.young, solved.info.iterations as f64)).collect()
    };
    let (jacobi, single) = (iterations(JACOBI), iterations(SINGLE));
    let Some((&(_, statics), moving)) = jacobi.split_last() else { return };
    let name = titled(specimen);
    let counts = moving.iter().map(|(_, count)| count.to_string()).collect::<Vec<_>>().join(", ");
    page.finding(
        format!("{name}: the iterations of conjugate gradients grow with stiffness, up to those of statics"),
        // Tolerance of a few iterations.
        moving.windows(2).all(|pair| pair[1].1 > 0.95 * pair[0].1)
            && moving.iter().all(|(_, count)| *count < 1.05 * statics + 1.0),
        format!("{counts} with block Jacobi; {statics} in statics"),
    );
    // Mass dominates for the softest bodies, and stiffness near statics. In between both matter.
    let softest = moving.first().map_or(0.0, |point| point.1);
    let between: Vec<(f64, f64)> =
        moving.iter().copied().filter(|(_, count)| *count > 2.0 * softest && *count < 0.6 * statics).collect();
    let power = exponent(&between);
    page.finding(
        format!(
            "{name}: in between they grow with the square root of the stiffness, as predicted by the condition number"
        ),
        between.len() >= 2 && (0.4..=0.55).contains(&power),
        format!("with the power {} over {} decades", digits(power, 3), between.len().saturating_sub(1)),
    );
    let max = single.iter().map(|(_, count)| *count).fold(0.0, f64::max);
    let direct = all.iter().filter(|solved| solved.solver == DIRECT);
    let residual = direct.map(|solved| solved.info.residual).fold(0.0, f64::max);
    page.finding(
        format!("{name}: factorizations solve all systems with few or no iterations"),
        max <= 10.0 && residual < 1e-9,
        format!(
            "at most {max} iterations in single precision; residuals of direct solutions below {}",
            digits(residual, 2)
        ),
    );
    let time = |name: &str, last: bool| {
        let mut of_solver = all.iter().filter(|solved| solved.solver == name && solved.young.is_finite());
        let solved = if last { of_solver.next_back() } else { of_solver.next() };
        solved.map_or(f64::NAN, |solved| 1e3 * solved.seconds)
    };
    page.timing_finding(
        format!("{name}: conjugate gradients are faster for the softest material, the direct solver for the stiffest"),
        time(JACOBI, false) < time(DIRECT, false) && time(JACOBI, true) > time(DIRECT, true),
        format!(
            "{} instead of {} ms, and {} instead of {} ms",
            digits(time(JACOBI, false), 2),
            digits(time(DIRECT, false), 2),
            digits(time(JACOBI, true), 2),
            digits(time(DIRECT, true), 2)
        ),
    );
}
