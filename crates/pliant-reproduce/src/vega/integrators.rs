//! Cost of a step for each integrator.

use std::time::Instant;

use pliant::damping::Damping;
use pliant::integrator::{
    BackwardEuler, CentralDifferences, Integrator, LinearizedBackwardEuler, Newmark, StepInfo, SymplecticEuler,
    stability,
};
use pliant::model::Assembly;
use pliant::solver::SolverParams;

use crate::bodies::{self, Specimen};
use crate::measure::digits;
use crate::vega::setting::{self, STEP};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-integrators",
    paper: &paper::VEGA,
    part: "table 3",
    title: "Cost of a step by integrator",
    reports: "Implicit Newmark and backward Euler, made semi-implicit by one linear system per step, require forces, stiffness and a factorization in every step. \
              Central differences require one factorization if damping is constant. Symplectic Euler with a lumped mass solves no system. Explicit steps are cheaper, but must be much smaller.",
    run,
};

/// Mass-proportional damping `α` \[1/s\].
const MASS_DAMPING: f64 = 0.1;
/// Stiffness-proportional damping `β` \[s\], small since explicit integrators allow no more.
const STIFFNESS_DAMPING: f64 = 1e-5;
/// Step of explicit integrators relative to the largest stable step.
const SAFETY: f64 = 0.5;

/// Integrator with the settings of its model.
struct Case {
    name: &'static str,
    integrator: Box<dyn Integrator<Assembly>>,
    solver: SolverParams,
    is_explicit: bool,
    is_lumped: bool,
    stiffness_damping: f64,
}

impl Case {
    fn implicit(name: &'static str, integrator: impl Integrator<Assembly> + 'static, solver: SolverParams) -> Self {
        let integrator = Box::new(integrator);
        Self { name, integrator, solver, is_explicit: false, is_lumped: false, stiffness_damping: 0.0 }
    }

    fn explicit(
        name: &'static str,
        integrator: impl Integrator<Assembly> + 'static,
        is_lumped: bool,
        beta: f64,
    ) -> Self {
        let integrator = Box::new(integrator);
        Self { name, integrator, solver: SolverParams::Direct, is_explicit: true, is_lumped, stiffness_damping: beta }
    }
}

const NEWMARK: &str = "Newmark, one iteration";
const LINEARIZED: &str = "backward Euler, linearized";
const FULL: &str = "backward Euler, converged";
const LINEARIZED_DEFAULT: &str = "backward Euler, linearized; default solver";
const CENTRAL: &str = "central differences, constant damping";
const CENTRAL_FOLLOWING: &str = "central differences, damping follows stiffness";
const CENTRAL_LUMPED: &str = "central differences, lumped mass";
const SYMPLECTIC: &str = "symplectic Euler, lumped mass";

fn cases() -> Vec<Case> {
    let (direct, default) = (SolverParams::Direct, SolverParams::default());
    let newmark = Newmark::with_iterations(1);
    vec![
        Case::implicit(NEWMARK, newmark.clone(), direct),
        Case::implicit(LINEARIZED, LinearizedBackwardEuler::default(), direct),
        Case::implicit(FULL, BackwardEuler::default(), direct),
        Case::implicit("Newmark, one iteration; default solver", newmark, default),
        Case::implicit(LINEARIZED_DEFAULT, LinearizedBackwardEuler::default(), default),
        Case::implicit("backward Euler, converged; default solver", BackwardEuler::default(), default),
        Case::explicit(CENTRAL, CentralDifferences::default(), false, 0.0),
        Case::explicit(CENTRAL_FOLLOWING, CentralDifferences::default(), false, STIFFNESS_DAMPING),
        Case::explicit(CENTRAL_LUMPED, CentralDifferences::default(), true, 0.0),
        Case::explicit(SYMPLECTIC, SymplecticEuler::default(), true, 0.0),
    ]
}

/// Cost of the steps of a case.
struct Row {
    name: &'static str,
    step: f64,
    steps: usize,
    /// Sum over all steps except the first.
    sum: StepInfo,
    /// First step.
    first: StepInfo,
    /// Mean time per step \[s\].
    seconds: f64,
}

impl Row {
    fn mean(&self, count: usize) -> f64 {
        count as f64 / self.steps as f64
    }

    /// Returns the simulated time per second of wall time.
    fn speed(&self) -> f64 {
        self.step / self.seconds
    }
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let specimen = if page.is_fast() { bodies::bar(20, 4)? } else { bodies::bridge()? };
    let steps = page.pick(40, 5);
    let mut rows = Vec::new();
    for case in cases() {
        rows.push(measure(page, &specimen, case, steps)?);
    }
    page.text(format!(
        "The {} has {} vertices and {} elements of invertible St. Venant–Kirchhoff material with Y = {} Pa, {}. Explicit steps are half the largest \
         stable step. Damping is `{MASS_DAMPING}/s M`, and in addition `{STIFFNESS_DAMPING} s K` where it includes the stiffness. The body begins to sag from \
         rest; {steps} steps are measured after the first. The solver is direct, except where the default solver is named.",
        specimen.name,
        specimen.mesh.vertex_count(),
        specimen.mesh.element_count(),
        digits(specimen.young, 1),
        setting::in_words()
    ));
    let heading = [
        "integrator",
        "step, s",
        "time per step, ms",
        "forces and matrices, ms",
        "linear solver, ms",
        "Newton iterations per step",
        "factorizations per step",
        "factorizations in the first step",
        "simulated s per s",
    ];
    let cells = |row: &Row| {
        vec![
            row.name.to_owned(),
            digits(row.step, 2),
            digits(1e3 * row.seconds, 3),
            digits(1e3 * row.sum.assembling.as_secs_f64() / row.steps as f64, 3),
            digits(1e3 * row.sum.solving.as_secs_f64() / row.steps as f64, 3),
            digits(row.mean(row.sum.newton_iterations), 2),
            digits(row.mean(row.sum.factorizations), 2),
            row.first.factorizations.to_string(),
            digits(row.speed(), 2),
        ]
    };
    page.table("integrators", "Cost of steps", &heading, rows.iter().map(cells).collect())?;
    findings(page, &rows);
    Ok(())
}

fn findings(page: &mut Page<'_>, rows: &[Row]) {
    let factors = |name: &str| {
        let row = rows.iter().find(|row| row.name == name);
        row.map_or((usize::MAX, usize::MAX), |row| (row.first.factorizations, row.sum.factorizations))
    };
    let linearizations =
        |name: &str| rows.iter().find(|row| row.name == name).map_or(0, |row| row.sum.newton_iterations);
    let steps = rows.first().map_or(0, |row| row.steps);
    page.finding(
        "semi-implicit integrators linearize and factorize once per step",
        [NEWMARK, LINEARIZED].iter().all(|name| factors(name).1 == steps && linearizations(name) == steps),
        format!("{} and {} factorizations in {steps} steps", factors(NEWMARK).1, factors(LINEARIZED).1),
    );
    page.finding(
        "converged backward Euler factorizes in every iteration, several times per step",
        factors(FULL).1 == linearizations(FULL) && linearizations(FULL) > steps,
        format!("{} factorizations for {} iterations in {steps} steps", factors(FULL).1, linearizations(FULL)),
    );
    page.finding(
        "central differences factorize only before the first step if damping is constant",
        factors(CENTRAL).1 == 0 && factors(CENTRAL).0 > 0,
        format!("{} for the first step, {} in {steps} more", factors(CENTRAL).0, factors(CENTRAL).1),
    );
    page.finding(
        "and in every step if damping follows the stiffness",
        factors(CENTRAL_FOLLOWING).1 == steps,
        format!("{} in {steps}", factors(CENTRAL_FOLLOWING).1),
    );
    page.finding(
        "explicit integrators with a lumped mass require no factorization",
        [CENTRAL_LUMPED, SYMPLECTIC].iter().all(|name| factors(name) == (0, 0)),
        format!("{} and {}", factors(CENTRAL_LUMPED).1, factors(SYMPLECTIC).1),
    );
    page.finding(
        "reusing a stale factor avoids most factorizations of semi-implicit steps",
        2 * factors(LINEARIZED_DEFAULT).1 < steps,
        format!("{} in {steps} steps with the default solver", factors(LINEARIZED_DEFAULT).1),
    );
    let of = |name: &str, what: fn(&Row) -> f64| rows.iter().find(|row| row.name == name).map_or(f64::NAN, what);
    let [implicit, explicit] = [LINEARIZED, SYMPLECTIC].map(|name| of(name, |row| row.step));
    page.finding(
        "explicit steps must be much smaller",
        implicit > 10.0 * explicit,
        format!("{} s instead of {}", digits(explicit, 2), digits(implicit, 2)),
    );
    let [semi, full, lumped] = [LINEARIZED, FULL, SYMPLECTIC].map(|name| of(name, |row| row.seconds));
    page.timing_finding(
        "explicit steps are the cheapest, converged implicit steps the most expensive",
        lumped < 0.5 * semi && semi < full,
        format!(
            "{}, {} and {} ms for symplectic Euler, linearized and converged backward Euler",
            digits(1e3 * lumped, 2),
            digits(1e3 * semi, 2),
            digits(1e3 * full, 2)
        ),
    );
    let [implicit, explicit] = [LINEARIZED_DEFAULT, SYMPLECTIC].map(|name| of(name, Row::speed));
    page.timing_finding(
        "but an implicit integrator simulates more time per second",
        implicit > explicit,
        format!("{} simulated seconds per second, compared with {}", digits(implicit, 2), digits(explicit, 2)),
    );
}

fn measure(page: &Page<'_>, specimen: &Specimen, mut case: Case, steps: usize) -> anyhow::Result<Row> {
    page.now(case.name)?;
    let builder = setting::weighing(specimen, setting::invertible("stvk", specimen.young)?)
        .damping(Damping::rayleigh(MASS_DAMPING, case.stiffness_damping)?);
    let builder = if case.is_lumped { builder.lumped_mass() } else { builder };
    let mut assembly = Assembly::new(builder.build()?);
    let mut state = assembly.rest_state();
    let step = if case.is_explicit {
        let mut solver = SolverParams::default().build();
        SAFETY * stability(&mut assembly, &mut *solver, &state, STEP)?.max_step
    } else {
        STEP
    };
    let mut solver = case.solver.build();
    let first = case.integrator.step(&mut assembly, &mut *solver, &mut state, step)?;
    let (mut sum, mut seconds) = (StepInfo::default(), 0.0);
    for n in 0..steps {
        page.now(format_args!("{}: step {} of {steps}", case.name, n + 1))?;
        let began = Instant::now();
        sum = sum.and(&case.integrator.step(&mut assembly, &mut *solver, &mut state, step)?);
        seconds += began.elapsed().as_secs_f64();
    }
    Ok(Row { name: case.name, step, steps, sum, first, seconds: seconds / steps as f64 })
}
