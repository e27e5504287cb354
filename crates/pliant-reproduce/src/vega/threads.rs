//! What threads bring.

use std::time::Instant;

use pliant::integrator::{Integrator, LinearizedBackwardEuler};
use pliant::model::Model;
use pliant::solver::SolverParams;
use pliant::system::{Definiteness, State, System};
use pliant_pictures::plot::Style;
use pliant_pictures::{Figure, Plot, Series};

use crate::bodies::{self, Specimen};
use crate::measure::{digits, least_seconds, on_threads};
use crate::vega::setting::{self, STEP, bent};
use crate::{Experiment, Machine, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-threads",
    paper: &paper::VEGA,
    part: "figure 6",
    title: "Threads",
    reports: "Forces and stiffness are computed on several threads, and get faster nearly in proportion to the number of cores for laws that are costly to evaluate, less so for \
              cheap ones; the linear solver gains less.",
    run,
};

/// A task whose time is taken, and the body that it is done on.
struct Curve {
    body: &'static str,
    task: &'static str,
    /// Threads and seconds.
    points: Vec<(usize, f64)>,
    /// How many matrices are factored in a step, if there are steps.
    factors: Option<f64>,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let cores = Machine::here().cores;
    let counts = counts(cores, page.is_fast());
    page.now("making bodies")?;
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
                let mut model = setting::model(specimen)?;
                let (state, rounds) = (bent(&specimen.mesh), task.rounds_of(page));
                let timed = on_threads(threads, || (task.run)(&mut model, &state, rounds))??;
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
        "Invertible St. Venant–Kirchhoff material, {}, {}. Bodies are bent by a third of a radian, with noise, and let go from there, not from rest as in vega-frame-budget: \
         they swing, matrices change more from step to step, and where the default solver has to factor them anew its steps take longer than there. Times are the least in several rounds: {}. This machine has {cores} cores.",
        named.iter().map(|body| format!("Y = {} Pa ({})", digits(body.young, 2), body.name)).collect::<Vec<_>>().join(", "),
        setting::in_words(),
        TASKS.iter().map(|task| format!("{} of {}", task.rounds_of(page), task.name)).collect::<Vec<_>>().join(", "),
    ));
    show(page, &curves, &counts, cores)?;
    page.finding(
        "forces, stiffnesses and motions are the same to the last bit on any number of threads",
        unlike == 0 && compared > 0,
        format!("{unlike} of {compared} numbers differ on {counts:?} threads"),
    );
    let on_all = |curve: &Curve| {
        let alone = curve.points.first().map_or(f64::NAN, |point| point.1);
        let many = curve.points.iter().find(|point| point.0 == cores).map_or(f64::NAN, |point| point.1);
        alone / many
    };
    let forces: Vec<f64> = curves.iter().filter(|curve| curve.task == TASKS[0].name).map(on_all).collect();
    page.finding_by_clock(
        "forces and stiffness gain nearly in proportion to the cores",
        forces.iter().all(|&gain| gain > 0.7 * cores as f64),
        format!("{} times faster on {cores} cores", listed(&forces)),
    );
    let steps: Vec<f64> = curves.iter().filter(|curve| curve.task != TASKS[0].name).map(on_all).collect();
    page.finding_by_clock(
        "whole steps gain too, but less on average",
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

/// How many threads to try: all counts up to four, then twice as many each time; at least up to four, to see that more than there are cores do no harm.
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

/// How a task went.
struct Timed {
    /// The least time that it took, in s.
    seconds: f64,
    /// Numbers that came out.
    numbers: Vec<f64>,
    /// As in [`Curve`].
    factors: Option<f64>,
}

/// Something to do with a body in a state, so many rounds.
struct Task {
    name: &'static str,
    rounds: usize,
    run: fn(&mut Model, &[f64], usize) -> anyhow::Result<Timed>,
}

impl Task {
    fn rounds_of(&self, page: &Page<'_>) -> usize {
        page.pick(self.rounds, self.rounds.min(2))
    }
}

const TASKS: [Task; 3] = [
    Task { name: "forces and stiffness", rounds: 20, run: linearize },
    Task { name: "step, default solver", rounds: 10, run: |model, u, n| steps(model, u, n, SolverParams::default()) },
    Task { name: "step, direct solver", rounds: 3, run: |model, u, n| steps(model, u, n, SolverParams::Direct) },
];

fn linearize(model: &mut Model, u: &[f64], rounds: usize) -> anyhow::Result<Timed> {
    let mut force = vec![0.0; u.len()];
    let seconds = least_seconds(rounds, || model.linearize(u, 0.0, Definiteness::Projected, &mut force));
    force.extend_from_slice(model.stiffness().values());
    Ok(Timed { seconds, numbers: force, factors: None })
}

/// Steps of a body that is let go from where it was bent to.
fn steps(model: &mut Model, u: &[f64], rounds: usize, solver: SolverParams) -> anyhow::Result<Timed> {
    let (mut solver, mut scheme) = (solver.build(), LinearizedBackwardEuler::default());
    let mut state = State { q: u.to_vec(), ..model.rest_state() };
    let mut step = || scheme.step(model, &mut *solver, &mut state, STEP);
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
        .chain(["factors a step".to_owned()])
        .collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let cells = |curve: &Curve| {
        let times = curve.points.iter().map(|(_, seconds)| digits(1e3 * seconds, 3));
        let factors = curve.factors.map_or("–".to_owned(), |factors| digits(factors, 2));
        [curve.body.to_owned(), curve.task.to_owned()].into_iter().chain(times).chain([factors]).collect()
    };
    page.table("threads", "Time against the number of threads", &heading, curves.iter().map(cells).collect())?;
    let ideal = counts.iter().map(|&n| (n as f64, n.min(cores) as f64)).collect();
    let ideal = Series { style: Style::LineAndMarkers, ..Series::new("in proportion to cores", ideal) };
    let panels = curves.chunks(TASKS.len()).map(|of_body| {
        let series = of_body.iter().map(|curve| {
            let alone = curve.points.first().map_or(f64::NAN, |point| point.1);
            let points = curve.points.iter().map(|&(threads, seconds)| (threads as f64, alone / seconds)).collect();
            Series { style: Style::LineAndMarkers, ..Series::new(curve.task, points) }
        });
        Plot {
            title: of_body.first().map_or(String::new(), |curve| curve.body.to_owned()),
            x_label: "threads".into(),
            y_label: "times faster than on one".into(),
            series: std::iter::once(ideal.clone()).chain(series).collect(),
            ..Plot::default()
        }
    });
    let figure = Figure { panels: panels.collect(), ..Figure::default() };
    page.figure("speedup", "How much faster several threads are", figure)
}
