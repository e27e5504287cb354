//! Speedup by threads.

use std::time::Instant;

use pliant::integrator::{Integrator, LinearizedBackwardEuler};
use pliant::model::Assembly;
use pliant::solver::SolverParams;
use pliant::system::{Conditions, Definiteness, State, System};
use pliant_pictures::plot::Style;
use pliant_pictures::{Figure, Plot, Series};

use crate::bodies::{self, Specimen};
use crate::measure::{digits, min_seconds, on_threads};
use crate::vega::setting::{self, STEP, bent};
use crate::{Experiment, Machine, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-threads",
    paper: &paper::VEGA,
    part: "figure 6",
    title: "Threads",
    reports: "Forces and stiffness are computed on several threads. The speedup is nearly proportional to the number of cores for expensive laws, and lower for \
              cheap ones. The linear solver gains less.",
    run,
};

/// Times of a task on a body.
struct Curve {
    body: &'static str,
    task: &'static str,
    /// Number of threads and time \[s\].
    points: Vec<(usize, f64)>,
    /// Number of factorizations per step, for tasks with steps.
    factors: Option<f64>,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let cores = Machine::here().cores;
    let counts = counts(cores, page.is_fast());
    page.now("creating bodies")?;
    let named: Vec<Specimen> = if page.is_fast() {
        vec![bodies::bar(20, 4)?, bodies::bridge_of_cubes()?]
    } else {
        vec![bodies::bridge()?, bodies::crane()?, bodies::dragon()?]
    };
    let (mut curves, mut unlike, mut compared) = (Vec::new(), 0, 0);
    for specimen in &named {
        let mut of_body =
            TASKS.map(|task| Curve { body: specimen.name, task: task.name, points: Vec::new(), factors: None });
        let mut first: Vec<Vec<u64>> = Vec::new();
        for &threads in &counts {
            for (number, task) in TASKS.iter().enumerate() {
                page.now(format_args!("{}: {} on {threads} threads", specimen.name, task.name))?;
                let mut assembly = Assembly::new(setting::model(specimen)?);
                let (state, rounds) = (bent(&specimen.mesh), task.rounds_of(page));
                let timed = on_threads(threads, || (task.run)(&mut assembly, &state, rounds))??;
                let Timed { seconds, numbers, factors } = timed;
                of_body[number].points.push((threads, seconds));
                of_body[number].factors = factors;
                let bits: Vec<u64> = numbers.iter().map(|x| x.to_bits()).collect();
                match first.get(number) {
                    Some(before) => {
                        compared += bits.len();
                        unlike += bits.iter().zip(before).filter(|(a, b)| a != b).count();
                    }
                    None => first.push(bits),
                }
            }
        }
        curves.extend(of_body);
    }
    page.text(format!(
        "Invertible St. Venant–Kirchhoff material, {}, {}. Bodies are released from a shape bent by a third of a radian, with noise, not from rest as in vega-frame-budget. \
         They swing, and matrices change more from step to step. Where the default solver has to factorize again, its steps take longer than there. Times are the minimum of several rounds: {}. This machine has {cores} cores.",
        named.iter().map(|body| format!("Y = {} Pa ({})", digits(body.young, 2), body.name)).collect::<Vec<_>>().join(", "),
        setting::in_words(),
        TASKS.iter().map(|task| format!("{} of {}", task.rounds_of(page), task.name)).collect::<Vec<_>>().join(", "),
    ));
    show(page, &curves, &counts, cores)?;
    page.finding(
        "forces, stiffnesses and motions are bitwise identical on any number of threads",
        unlike == 0 && compared > 0,
        format!("{unlike} of {compared} numbers differ on {counts:?} threads"),
    );
    let on_all = |curve: &Curve| {
        let alone = curve.points.first().map_or(f64::NAN, |point| point.1);
        let many = curve.points.iter().find(|point| point.0 == cores).map_or(f64::NAN, |point| point.1);
        alone / many
    };
    let forces: Vec<f64> = curves.iter().filter(|curve| curve.task == TASKS[0].name).map(on_all).collect();
    page.timing_finding(
        "the speedup of forces and stiffness is nearly proportional to the number of cores",
        forces.iter().all(|&gain| gain > 0.7 * cores as f64),
        format!("{} times faster on {cores} cores", listed(&forces)),
    );
    let steps: Vec<f64> = curves.iter().filter(|curve| curve.task != TASKS[0].name).map(on_all).collect();
    page.timing_finding(
        "full steps also gain, but less on average",
        steps.iter().all(|&gain| gain > 1.0) && mean(&steps) < mean(&forces),
        format!(
            "{} times faster, on average {} instead of {}",
            listed(&steps),
            digits(mean(&steps), 3),
            digits(mean(&forces), 3)
        ),
    );
    Ok(())
}

fn mean(gains: &[f64]) -> f64 {
    gains.iter().sum::<f64>() / gains.len() as f64
}

fn listed(gains: &[f64]) -> String {
    gains.iter().map(|&gain| digits(gain, 2)).collect::<Vec<_>>().join(", ")
}

/// Returns the thread counts to measure: 1 to 4, then doubling up to the number of cores. Up to four are always
/// measured, to see that more threads than cores do no harm.
fn counts(cores: usize, is_fast: bool) -> Vec<usize> {
    if is_fast {
        return vec![1, 2, 3];
    }
    let mut counts = vec![1, 2, 3, 4];
    while counts.last().is_some_and(|&last| 2 * last <= cores) {
        counts.extend(counts.last().map(|last| 2 * last));
    }
    if !counts.contains(&cores) {
        counts.push(cores);
        counts.sort_unstable();
    }
    counts
}

/// Result of a task.
struct Timed {
    /// Minimum time \[s\].
    seconds: f64,
    /// Numerical results, compared between thread counts.
    numbers: Vec<f64>,
    /// Number of factorizations per step, for tasks with steps.
    factors: Option<f64>,
}

/// Task on a body in a state, repeated for a number of rounds.
struct Task {
    name: &'static str,
    rounds: usize,
    run: fn(&mut Assembly, &[f64], usize) -> anyhow::Result<Timed>,
}

impl Task {
    fn rounds_of(&self, page: &Page<'_>) -> usize {
        page.pick(self.rounds, self.rounds.min(2))
    }
}

const TASKS: [Task; 3] = [
    Task { name: "forces and stiffness", rounds: 20, run: linearize },
    Task {
        name: "step, default solver",
        rounds: 10,
        run: |assembly, u, n| steps(assembly, u, n, SolverParams::default()),
    },
    Task { name: "step, direct solver", rounds: 3, run: |assembly, u, n| steps(assembly, u, n, SolverParams::Direct) },
];

fn linearize(assembly: &mut Assembly, u: &[f64], rounds: usize) -> anyhow::Result<Timed> {
    let mut force = vec![0.0; u.len()];
    let mut evaluate = |assembly: &mut Assembly| {
        assembly.linearize(u, &Conditions::START, Definiteness::Projected, &mut force).stiffness
    };
    let seconds = min_seconds(rounds, || {
        let stiffness = evaluate(assembly);
        assembly.recycle_stiffness(stiffness);
    });
    let stiffness = evaluate(assembly);
    force.extend_from_slice(stiffness.matrix().values());
    Ok(Timed { seconds, numbers: force, factors: None })
}

/// Measures steps of a body released from a bent shape.
fn steps(assembly: &mut Assembly, u: &[f64], rounds: usize, solver: SolverParams) -> anyhow::Result<Timed> {
    let (mut solver, mut integrator) = (solver.build(), LinearizedBackwardEuler::default());
    let mut state = State { q: u.to_vec(), ..assembly.rest_state() };
    let mut step = || integrator.step(assembly, &mut *solver, &mut state, STEP);
    step()?;
    let (mut seconds, mut factors) = (f64::INFINITY, 0);
    for _ in 0..rounds {
        let began = Instant::now();
        factors += step()?.factorizations;
        seconds = seconds.min(began.elapsed().as_secs_f64());
    }
    state.q.extend_from_slice(&state.v);
    Ok(Timed { seconds, numbers: state.q, factors: Some(factors as f64 / rounds as f64) })
}

fn show(page: &mut Page<'_>, curves: &[Curve], counts: &[usize], cores: usize) -> anyhow::Result<()> {
    let heading: Vec<String> = ["body".to_owned(), "task".to_owned()]
        .into_iter()
        .chain(counts.iter().map(|n| format!("{n} threads, ms")))
        .chain(["factorizations per step".to_owned()])
        .collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let cells = |curve: &Curve| {
        let times = curve.points.iter().map(|(_, seconds)| digits(1e3 * seconds, 3));
        let factors = curve.factors.map_or("–".to_owned(), |factors| digits(factors, 2));
        [curve.body.to_owned(), curve.task.to_owned()].into_iter().chain(times).chain([factors]).collect()
    };
    page.table("threads", "Time against the number of threads", &heading, curves.iter().map(cells).collect())?;
    let ideal = counts.iter().map(|&n| (n as f64, n.min(cores) as f64)).collect();
    let ideal = Series { style: Style::LineAndMarkers, ..Series::new("number of cores", ideal) };
    let panels = curves.chunks(TASKS.len()).map(|of_body| {
        let series = of_body.iter().map(|curve| {
            let alone = curve.points.first().map_or(f64::NAN, |point| point.1);
            let points = curve.points.iter().map(|&(threads, seconds)| (threads as f64, alone / seconds)).collect();
            Series { style: Style::LineAndMarkers, ..Series::new(curve.task, points) }
        });
        Plot {
            title: of_body.first().map_or(String::new(), |curve| curve.body.to_owned()),
            x_label: "threads".into(),
            y_label: "speedup over one thread".into(),
            series: std::iter::once(ideal.clone()).chain(series).collect(),
            ..Plot::default()
        }
    });
    let figure = Figure { panels: panels.collect(), ..Figure::default() };
    page.figure("speedup", "Speedup by number of threads", figure)
}
