//! What a step costs, scheme by scheme.

use std::time::Instant;

use pliant::damping::Damping;
use pliant::integrator::{
    BackwardEuler, CentralDifferences, Integrator, LinearizedBackwardEuler, Newmark, StepInfo, SymplecticEuler,
    stability,
};
use pliant::model::Model;
use pliant::solver::SolverParams;

use crate::bodies::{self, Specimen};
use crate::measure::digits;
use crate::vega::setting::{self, STEP};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-integrators",
    paper: &paper::VEGA,
    part: "table 3",
    title: "A step by scheme",
    reports: "Implicit Newmark and backward Euler, made semi-implicit by one linear system a step, cost forces, stiffness and a factor each time. \
              Central differences factor once if damping is constant; symplectic Euler with a lumped mass solves nothing. Explicit steps are cheaper, but must be much smaller.",
    run,
};

/// `α` of the damping, in 1/s.
const MASS_DAMPING: f64 = 0.1;
/// `β` where damping follows the stiffness, in s. Small, as explicit schemes allow no more.
const STIFFNESS_DAMPING: f64 = 1e-5;
/// Part of the largest stable step that explicit schemes take.
const SAFETY: f64 = 0.5;

/// A scheme, and the model that it is for.
struct Case {
    name: &'static str,
    scheme: Box<dyn Integrator<Model>>,
    solver: SolverParams,
    is_explicit: bool,
    is_lumped: bool,
    stiffness_damping: f64,
}

impl Case {
    fn implicit(name: &'static str, scheme: impl Integrator<Model> + 'static, solver: SolverParams) -> Self {
        let scheme = Box::new(scheme);
        Self { name, scheme, solver, is_explicit: false, is_lumped: false, stiffness_damping: 0.0 }
    }

    fn explicit(name: &'static str, scheme: impl Integrator<Model> + 'static, is_lumped: bool, beta: f64) -> Self {
        let scheme = Box::new(scheme);
        Self { name, scheme, solver: SolverParams::Direct, is_explicit: true, is_lumped, stiffness_damping: beta }
    }
}

const NEWMARK: &str = "Newmark, one iteration";
const LINEARIZED: &str = "backward Euler, linearised";
const FULL: &str = "backward Euler, to the end";
const LINEARIZED_DEFAULT: &str = "backward Euler, linearised; default solver";
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
        Case::implicit("backward Euler, to the end; default solver", BackwardEuler::default(), default),
        Case::explicit(CENTRAL, CentralDifferences::default(), false, 0.0),
        Case::explicit(CENTRAL_FOLLOWING, CentralDifferences::default(), false, STIFFNESS_DAMPING),
        Case::explicit(CENTRAL_LUMPED, CentralDifferences::default(), true, 0.0),
        Case::explicit(SYMPLECTIC, SymplecticEuler::default(), true, 0.0),
    ]
}

/// What steps of a case took.
struct Row {
    name: &'static str,
    step: f64,
    steps: usize,
    /// All steps but the first, and the first.
    sum: StepInfo,
    first: StepInfo,
    /// Of a step, in s.
    seconds: f64,
}

impl Row {
    fn mean(&self, count: usize) -> f64 {
        count as f64 / self.steps as f64
    }

    /// Seconds of the simulation in a second.
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
        "The {}, {} vertices and {} elements, of invertible St. Venant–Kirchhoff material with Y = {} Pa, {}; explicit ones take half of the largest \
         step that is stable. Damping `{MASS_DAMPING}/s M`, and `{STIFFNESS_DAMPING} s K` where it follows the stiffness. The body begins to fall from \
         rest, and {steps} steps are counted after a first. A direct factor of every matrix, but where the default solver is named.",
        specimen.name,
        specimen.mesh.vertex_count(),
        specimen.mesh.element_count(),
        digits(specimen.young, 1),
        setting::in_words()
    ));
    let heading = [
        "scheme",
        "step, s",
        "time of a step, ms",
        "forces and matrices, ms",
        "linear solver, ms",
        "Newton iterations a step",
        "factors a step",
        "factors in the first",
        "simulated s a second",
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
    page.table("schemes", "What steps cost", &heading, rows.iter().map(cells).collect())?;
    findings(page, &rows);
    Ok(())
}

fn findings(page: &mut Page<'_>, rows: &[Row]) {
    let factors = |name: &str| {
        let row = rows.iter().find(|row| row.name == name);
        row.map_or((usize::MAX, usize::MAX), |row| (row.first.factorizations, row.sum.factorizations))
    };
    let linearisations =
        |name: &str| rows.iter().find(|row| row.name == name).map_or(0, |row| row.sum.newton_iterations);
    let steps = rows.first().map_or(0, |row| row.steps);
    page.finding(
        "semi-implicit schemes linearise and factor once a step",
        [NEWMARK, LINEARIZED].iter().all(|name| factors(name).1 == steps && linearisations(name) == steps),
        format!("{} and {} factors in {steps} steps", factors(NEWMARK).1, factors(LINEARIZED).1),
    );
    page.finding(
        "backward Euler to the end factors in every iteration, several times a step",
        factors(FULL).1 == linearisations(FULL) && linearisations(FULL) > steps,
        format!("{} factors for {} iterations in {steps} steps", factors(FULL).1, linearisations(FULL)),
    );
    page.finding(
        "central differences factor only before the first step if damping is constant",
        factors(CENTRAL).1 == 0 && factors(CENTRAL).0 > 0,
        format!("{} for the first step, {} in {steps} more", factors(CENTRAL).0, factors(CENTRAL).1),
    );
    page.finding(
        "and at every step if damping follows the stiffness",
        factors(CENTRAL_FOLLOWING).1 == steps,
        format!("{} in {steps}", factors(CENTRAL_FOLLOWING).1),
    );
    page.finding(
        "explicit schemes with a lumped mass factor nothing",
        [CENTRAL_LUMPED, SYMPLECTIC].iter().all(|name| factors(name) == (0, 0)),
        format!("{} and {}", factors(CENTRAL_LUMPED).1, factors(SYMPLECTIC).1),
    );
    page.finding(
        "keeping an old factor saves most factors of semi-implicit steps",
        2 * factors(LINEARIZED_DEFAULT).1 < steps,
        format!("{} in {steps} steps with the default solver", factors(LINEARIZED_DEFAULT).1),
    );
    let of = |name: &str, what: fn(&Row) -> f64| rows.iter().find(|row| row.name == name).map_or(f64::NAN, what);
    let [implicit, explicit] = [LINEARIZED, SYMPLECTIC].map(|name| of(name, |row| row.step));
    page.finding(
        "explicit steps must be much smaller",
        implicit > 10.0 * explicit,
        format!("{} s beside {}", digits(explicit, 2), digits(implicit, 2)),
    );
    let [semi, full, lumped] = [LINEARIZED, FULL, SYMPLECTIC].map(|name| of(name, |row| row.seconds));
    page.finding_by_clock(
        "an explicit step is the cheapest, one that is solved to the end the costliest",
        lumped < 0.5 * semi && semi < full,
        format!(
            "{}, {} and {} ms for symplectic Euler and for backward Euler, linearised and to the end",
            digits(1e3 * lumped, 2),
            digits(1e3 * semi, 2),
            digits(1e3 * full, 2)
        ),
    );
    let [implicit, explicit] = [LINEARIZED_DEFAULT, SYMPLECTIC].map(|name| of(name, Row::speed));
    page.finding_by_clock(
        "but an implicit scheme gets further in the same time",
        implicit > explicit,
        format!("{} simulated seconds a second, beside {}", digits(implicit, 2), digits(explicit, 2)),
    );
}

fn measure(page: &Page<'_>, specimen: &Specimen, mut case: Case, steps: usize) -> anyhow::Result<Row> {
    page.now(case.name)?;
    let builder = setting::weighing(specimen, setting::invertible("stvk", specimen.young)?)
        .damping(Damping::rayleigh(MASS_DAMPING, case.stiffness_damping)?);
    let builder = if case.is_lumped { builder.lumped_mass() } else { builder };
    let mut model = builder.build()?;
    let mut state = model.rest_state();
    let step = if case.is_explicit {
        let mut solver = SolverParams::default().build();
        SAFETY * stability(&mut model, &mut *solver, &state, STEP)?.largest_step
    } else {
        STEP
    };
    let mut solver = case.solver.build();
    let first = case.scheme.step(&mut model, &mut *solver, &mut state, step)?;
    let (mut sum, mut seconds) = (StepInfo::default(), 0.0);
    for n in 0..steps {
        page.now(format_args!("{}: step {} of {steps}", case.name, n + 1))?;
        let began = Instant::now();
        sum = sum.and(&case.scheme.step(&mut model, &mut *solver, &mut state, step)?);
        seconds += began.elapsed().as_secs_f64();
    }
    Ok(Row { name: case.name, step, steps, sum, first, seconds: seconds / steps as f64 })
}
