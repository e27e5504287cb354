//! Convergence of a swing with the time step.

use pliant::integrator::{BackwardEuler, CentralDifferences, LinearizedBackwardEuler, Newmark};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::simulation::Stepper;
use pliant::solver::SolverParams;
use pliant::system::State;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use super::beam;
use crate::bodies::{DENSITY, GRAVITY};
use crate::measure::{digits, exponent, march_with};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-step-refinement",
    paper: &paper::VEGA,
    part: "figure 7",
    title: "Motion under time-step refinement",
    reports: "As the step decreases, the trajectories of all integrators converge. Backward Euler damps the motion, less with smaller \
              steps; implicit Newmark and central differences do not.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.3 };
/// Number of samples per second at which motions are compared.
const SAMPLES: usize = 50;
/// Number of the smallest steps to which an order is fitted.
const FINEST: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Linearized,
    Euler,
    Newmark,
    Central,
}

const INTEGRATORS: [Method; 4] = [Method::Linearized, Method::Euler, Method::Newmark, Method::Central];

/// Samples of a swing.
struct Swing {
    samples: Vec<State>,
    /// Total energy \[J\], zero at the start.
    energies: Vec<f64>,
}

/// Swings of an integrator, with the number of steps between samples.
type Family = Vec<(usize, Swing)>;

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let mesh = beam::mesh(1.0, 0.2, 2, Cells::Tet6)?;
    let seconds = page.pick(1.0, 0.3);
    let exact_steps = page.pick(1024, 512);
    page.text(format!(
        "A beam of 1 × 0.2 × 0.2 m with {} tetrahedra ({} vertices) is St. Venant–Kirchhoff with `Y` = {} Pa, `ν` = {}, `ρ` = {DENSITY} kg/m³, \
         a lumped mass and no damping. It is clamped at one end and released under its weight; {seconds} s are simulated. The error is the RMS \
         distance of vertices from those of central differences with a step of 1/{} s, at {SAMPLES} samples per second.",
        mesh.element_count(), mesh.vertex_count(), digits(MODULI.young, 2), MODULI.poisson, SAMPLES * exact_steps
    ));
    let exact = swing(page, &mesh, Method::Central, exact_steps, seconds)?;
    let mut families: Vec<Family> = Vec::new();
    for integrator in INTEGRATORS {
        let steps = integrator.steps(page.is_fast());
        let family = steps.into_iter().map(|steps| Ok((steps, swing(page, &mesh, integrator, steps, seconds)?)));
        families.push(family.collect::<anyhow::Result<_>>()?);
    }
    let end = beam::set(&mesh, beam::FREE)?;
    let tip = |swing: &Swing| -> Vec<(f64, f64)> {
        swing.samples.iter().map(|state| (state.time, beam::mean_displacement(state, end).y)).collect()
    };
    let panels = INTEGRATORS.iter().zip(&families).map(|(integrator, family)| {
        let shown = family.iter().step_by(2).take(3);
        let series = shown.map(|(steps, swing)| Series::new(format!("step 1/{} s", SAMPLES * steps), tip(swing)));
        Plot {
            title: integrator.name().into(),
            x_label: "time, s".into(),
            y_label: "height of the tip, m".into(),
            series: series.chain([Series::new("converged", tip(&exact))]).collect(),
            ..Plot::default()
        }
    });
    let figure = Figure { panels: panels.collect(), panel_height: 260, ..Figure::default() };
    page.figure("trajectories", "Height of the tip for several steps", figure)?;
    let curves: Vec<Curve> = families.iter().map(|family| Curve::of(family, &exact)).collect();
    let plot = |title: &str, label: &str, points: &dyn Fn(&Curve) -> Vec<(f64, f64)>| {
        let named = INTEGRATORS.iter().zip(&curves);
        let series = named.map(|(integrator, curve)| Series {
            style: Style::LineAndMarkers,
            ..Series::new(integrator.name(), points(curve))
        });
        Plot {
            title: title.into(),
            x_label: "step, s".into(),
            y_label: label.into(),
            series: series.collect(),
            x_scale: Scale::Logarithmic,
            y_scale: Scale::Logarithmic,
        }
    };
    let panels = vec![
        plot("", "error, m", &|curve| curve.errors.clone()),
        plot("", "change of energy, J", &|curve| curve.changes.clone()),
    ];
    page.figure(
        "errors",
        "Error and change of energy at the end against the step",
        Figure { panels, ..Figure::default() },
    )?;
    let rows = INTEGRATORS.iter().zip(&curves).flat_map(|(integrator, curve)| {
        curve.errors.iter().zip(&curve.changes).map(|((h, error), (_, change))| {
            vec![integrator.name().to_owned(), digits(*h, 3), digits(*error, 3), digits(*change, 3)]
        })
    });
    page.table(
        "errors-by-step",
        "Error, and change of energy at the end, of every integrator and step",
        &["integrator", "step, s", "error, m", "change of energy, J"],
        rows.collect(),
    )?;
    find(page, &families, &curves, &exact);
    Ok(())
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Linearized => "backward Euler, linearized",
            Self::Euler => "backward Euler",
            Self::Newmark => "implicit Newmark",
            Self::Central => "central differences",
        }
    }

    fn build(self) -> Stepper {
        match self {
            Self::Linearized => LinearizedBackwardEuler::default().into(),
            Self::Euler => BackwardEuler::default().into(),
            Self::Newmark => Newmark::default().into(),
            Self::Central => CentralDifferences::default().into(),
        }
    }

    fn is_first_order(self) -> bool {
        matches!(self, Self::Linearized | Self::Euler)
    }

    /// Returns the numbers of steps between samples, doubling each time. Central differences explode with fewer.
    fn steps(self, is_fast: bool) -> Vec<usize> {
        let (first, count) = match self {
            Self::Central => (16, if is_fast { 3 } else { 4 }),
            Self::Newmark => (1, if is_fast { 6 } else { 7 }),
            _ => (1, if is_fast { 5 } else { 7 }),
        };
        (0..count).map(|i| first << i).collect()
    }
}

fn swing(page: &Page<'_>, mesh: &VolumeMesh, integrator: Method, steps: usize, seconds: f64) -> anyhow::Result<Swing> {
    let body = Body::new(mesh.clone(), beam::bare_law("stvk", MODULI)?, DENSITY);
    let fixed = Fixed::new(beam::set(mesh, beam::FIXED)?.to_vec());
    let model = Model::builder().body(body).fix(fixed).gravity(Vec3::new(0.0, -GRAVITY, 0.0)).lumped_mass().build()?;
    let mut assembly = Assembly::new(model);
    let mut state = assembly.rest_state();
    let h = 1.0 / (SAMPLES * steps) as f64;
    let mut swing = Swing { samples: vec![state.clone()], energies: vec![0.0] };
    let count = (seconds * SAMPLES as f64).round() as usize * steps;
    let what = format!("{}, step 1/{} s", integrator.name(), SAMPLES * steps);
    let mut done = 0;
    let look = |model: &Model, state: &State| {
        done += 1;
        if done % steps == 0 {
            swing.samples.push(state.clone());
            swing.energies.push(model.observe(state).total_energy());
        }
    };
    let outcome = march_with(
        page,
        &what,
        SolverParams::Direct,
        &mut assembly,
        &mut integrator.build(),
        &mut state,
        h,
        count,
        look,
    )?;
    anyhow::ensure!(outcome.is_finished(), "{what}: {outcome:?}");
    Ok(swing)
}

/// Errors of an integrator against the step.
struct Curve {
    /// Steps \[s\] and errors \[m\].
    errors: Vec<(f64, f64)>,
    /// Steps \[s\] and changes of energy at the end \[J\].
    changes: Vec<(f64, f64)>,
}

impl Curve {
    fn of(family: &Family, exact: &Swing) -> Self {
        let step = |steps: usize| 1.0 / (SAMPLES * steps) as f64;
        let errors = family.iter().map(|(steps, swing)| (step(*steps), error(swing, exact)));
        let change = |swing: &Swing| swing.energies.last().map_or(f64::NAN, |energy| energy.abs());
        let changes = family.iter().map(|(steps, swing)| (step(*steps), change(swing)));
        Self { errors: errors.collect(), changes: changes.collect() }
    }
}

fn error(swing: &Swing, exact: &Swing) -> f64 {
    let squares = swing.samples.iter().zip(&exact.samples).map(|(a, b)| {
        let square: f64 = a.q.iter().zip(&b.q).map(|(a, b)| (a - b).powi(2)).sum();
        3.0 * square / a.q.len() as f64
    });
    (squares.sum::<f64>() / swing.samples.len() as f64).sqrt()
}

fn find(page: &mut Page<'_>, families: &[Family], curves: &[Curve], exact: &Swing) {
    let order = |points: &[(f64, f64)]| exponent(&points[points.len() - FINEST..]);
    for (integrator, curve) in INTEGRATORS.iter().zip(curves) {
        let expected = if integrator.is_first_order() { 1.0 } else { 2.0 };
        let measured = order(&curve.errors);
        page.finding(
            format!("{} is of order {expected}", integrator.name()),
            (measured - expected).abs() < 0.2,
            format!("the error is proportional to the power {} of the step", digits(measured, 3)),
        );
    }
    let still = Swing { samples: exact.samples.iter().map(|s| State::new(s.q.len())).collect(), energies: vec![] };
    let size = error(&still, exact);
    let min: Vec<f64> = curves.iter().filter_map(|curve| Some(curve.errors.last()?.1 / size)).collect();
    page.finding(
        "all integrators converge to the same motion",
        min.iter().all(|error| *error < 0.02),
        INTEGRATORS
            .iter()
            .zip(&min)
            .map(|(s, e)| format!("{}: {} %", s.name(), digits(100.0 * e, 2)))
            .collect::<Vec<_>>()
            .join(", ")
            + " of the motion, at the smallest step of each",
    );
    let losses: Vec<f64> = curves[..2].iter().map(|curve| order(&curve.changes)).collect();
    let only_lose = families[..2].iter().flatten().all(|(_, swing)| swing.energies.iter().skip(1).all(|e| *e < 0.0));
    page.finding(
        "the energy loss of backward Euler is proportional to the step",
        only_lose && losses.iter().all(|order| (order - 1.0).abs() < 0.2),
        format!(
            "the loss is proportional to the power {} (linearized) and {} of the step",
            digits(losses[0], 3),
            digits(losses[1], 3)
        ),
    );
    let kept: Vec<f64> =
        curves[1].changes.iter().zip(&curves[2].changes).map(|(euler, newmark)| newmark.1 / euler.1).collect();
    let max = kept.iter().skip(2).copied().fold(0.0, f64::max);
    page.finding(
        "implicit Newmark preserves energy",
        max < 0.05,
        format!(
            "its energy changes by at most {} % of the loss of backward Euler at the same step, for steps of 1/{} s or less",
            digits(100.0 * max, 2),
            4 * SAMPLES
        ),
    );
}
