//! Largest stable time step of each integrator.

use pliant::integrator::{
    BackwardEuler, CentralDifferences, LinearizedBackwardEuler, Newmark, SymplecticEuler, stability,
};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::Cells;
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::simulation::Stepper;
use pliant::solver::SolverParams;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use super::beam;
use crate::bodies::{DENSITY, GRAVITY};
use crate::measure::{digits, exponent, march};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-largest-step",
    paper: &paper::VEGA,
    part: "the largest stable step",
    title: "The largest stable step",
    reports: "Explicit integrators are stable up to a step found by bisection. It is small, and decreases with finer meshes and \
              stiffer materials. Implicit integrators allow steps that are larger by orders of magnitude.",
    run,
};

/// Length of the beam \[m\].
const LENGTH: f64 = 1.0;
/// Side of the square cross section \[m\].
const WIDTH: f64 = 0.2;
const POISSON: f64 = 0.3;
/// Young's modulus \[Pa\], unless varied.
const YOUNG: f64 = 1e6;
/// Maximum initial velocity \[m/s\], so small that the stiffness stays that at rest.
const NUDGE: f64 = 1e-6;
/// Ratio of the bracket at which bisection ends, for explicit integrators.
const NARROW: f64 = 1.002;
/// Ratio of the bracket at which bisection ends, for implicit integrators, whose limit depends on the motion.
const ROUGH: f64 = 1.1;
/// Largest step of implicit integrators that is tried \[s\].
const MAX_STEP: f64 = 1.0;
/// Laws for the implicit integrators.
const LAWS: [&str; 3] = ["linear", "corotational", "stvk"];

/// Mesh and material of a beam.
#[derive(Debug, Clone, Copy)]
struct Case {
    across: usize,
    young: f64,
    density: f64,
}

type Build = fn() -> Stepper;

const EXPLICIT: [(&str, Build); 2] = [
    ("central differences", || CentralDifferences::default().into()),
    ("symplectic Euler", || SymplecticEuler::default().into()),
];

const IMPLICIT: [(&str, Build); 3] = [
    ("backward Euler, linearized", || LinearizedBackwardEuler::default().into()),
    ("backward Euler", || BackwardEuler::default().into()),
    ("implicit Newmark", || Newmark::default().into()),
];

/// Largest stable step \[s\], and what happens beyond it; `None` if all steps are stable.
type Beyond = Option<(f64, &'static str)>;

/// Largest stable steps of a case \[s\].
struct Limit {
    case: Case,
    /// Limit `2/ω` of the highest frequency.
    theory: f64,
    /// Limit of each explicit integrator, found by bisection.
    found: [f64; 2],
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let plain = Case { across: 2, young: YOUNG, density: DENSITY };
    page.text(format!(
        "A beam of {LENGTH} × {WIDTH} × {WIDTH} m with 5 tetrahedra per cell is clamped at one end. It has `Y` = {} Pa, `ν` = {POISSON}, `ρ` = {DENSITY} kg/m³ unless \
         varied, a lumped mass and no damping. For explicit integrators every vertex starts with a random velocity of at most {NUDGE} m/s, and the law is St. \
         Venant–Kirchhoff. A step is stable if velocities do not grow after half of the {} steps. For implicit integrators, and for central differences \
         again, the beam with 2 cells across swings under its weight. A step is stable if no step fails and the energy, which physically cannot exceed \
         its initial value, stays below `m g L`.",
        digits(YOUNG, 2), nudge_steps(page)
    ));
    let sizes: &[usize] = page.pick(&[1, 2, 4, 8], &[2, 4]);
    let finer = sizes.iter().map(|&across| Limit::find(page, Case { across, ..plain }));
    let finer = finer.collect::<anyhow::Result<Vec<_>>>()?;
    let varied: &[(f64, f64)] =
        page.pick(&[(1e-2, 1.0), (1.0, 4.0), (1.0, 0.25), (1e2, 1.0)], &[(1e-2, 1.0), (1.0, 4.0)]);
    let stiffer = varied
        .iter()
        .map(|(young, density)| Limit::find(page, Case { young: young * YOUNG, density: density * DENSITY, ..plain }));
    let stiffer = stiffer.collect::<anyhow::Result<Vec<_>>>()?;
    plot(page, &finer, &stiffer)?;
    let rows = finer.iter().chain(&stiffer).map(Limit::row);
    let heading = ["cells across", "Y, Pa", "ρ, kg/m³", "2/ω, s", "central differences, s", "symplectic Euler, s"];
    page.table("explicit", "Largest stable step of explicit integrators, small motion", &heading, rows.collect())?;

    let swinging = |step: f64| Ok(plain.swing(page, "stvk", EXPLICIT[0].1(), step)?.is_none());
    let swinging = bisected([1e-5, 0.1], NARROW, swinging)?;
    let mut limits = Vec::new();
    for (name, build) in IMPLICIT {
        for law in LAWS {
            limits.push((name, law, implicit_limit(page, plain, law, build)?));
        }
    }
    let rows = limits.iter().map(|(name, law, limit)| {
        let (largest, beyond) = limit.map_or_else(
            || (format!("{MAX_STEP} or more"), "–".to_owned()),
            |(limit, why)| (digits(limit, 2), why.to_owned()),
        );
        vec![(*name).to_owned(), (*law).to_owned(), largest, beyond]
    });
    let beyond = plain.swing(page, "stvk", EXPLICIT[0].1(), 1.1 * swinging)?.unwrap_or("–");
    let explicit = vec![EXPLICIT[0].0.to_owned(), "stvk".into(), digits(swinging, 3), beyond.into()];
    let heading = ["integrator", "law", "largest step, s", "beyond"];
    let rows = std::iter::once(explicit).chain(rows).collect();
    page.table("swinging", "Largest stable step of a swing under gravity", &heading, rows)?;
    find(page, &finer, &stiffer, swinging, &limits);
    Ok(())
}

fn plot(page: &mut Page<'_>, finer: &[Limit], stiffer: &[Limit]) -> anyhow::Result<()> {
    let panel = |limits: &[Limit], x_label: &str, x: fn(&Case) -> f64| {
        let curve = |name: &str, y: &dyn Fn(&Limit) -> f64| Series {
            style: Style::LineAndMarkers,
            ..Series::new(name, limits.iter().map(|limit| (x(&limit.case), y(limit))).collect())
        };
        let integrators = EXPLICIT.iter().enumerate().map(|(i, (name, _))| curve(name, &move |limit| limit.found[i]));
        Plot {
            x_label: x_label.into(),
            y_label: "largest step, s".into(),
            series: integrators.chain([curve("2/ω", &|limit| limit.theory)]).collect(),
            x_scale: Scale::Logarithmic,
            y_scale: Scale::Logarithmic,
            ..Plot::default()
        }
    };
    let panels = vec![panel(finer, "cell size, m", Case::cell), panel(stiffer, "√(ρ/Y), s/m", Case::slowness)];
    page.figure("largest-step", "Largest stable step of explicit integrators", Figure { panels, ..Figure::default() })
}

/// Returns the number of steps after which the growth of a small motion is visible.
fn nudge_steps(page: &Page<'_>) -> usize {
    page.pick(400, 200)
}

impl Case {
    /// Returns the edge of a cell \[m\].
    fn cell(&self) -> f64 {
        WIDTH / self.across as f64
    }

    /// Returns `√(ρ/Y)` \[s/m\].
    fn slowness(&self) -> f64 {
        (self.density / self.young).sqrt()
    }

    fn model(self, law: &str, gravity: Vec3) -> anyhow::Result<Model> {
        let mesh = beam::mesh(LENGTH, WIDTH, self.across, Cells::Tet5)?;
        let fixed = Fixed::new(beam::set(&mesh, beam::FIXED)?.to_vec());
        let law = beam::bare_law(law, YoungPoisson { young: self.young, poisson: POISSON })?;
        Ok(Model::builder()
            .body(Body::new(mesh, law, self.density))
            .fix(fixed)
            .gravity(gravity)
            .lumped_mass()
            .build()?)
    }

    /// Returns the limit `2/ω` of the highest frequency \[s\].
    fn theory(self) -> anyhow::Result<f64> {
        let mut assembly = Assembly::new(self.model("stvk", Vec3::ZERO)?);
        let state = assembly.rest_state();
        Ok(2.0 / stability(&mut assembly, &mut *SolverParams::Direct.build(), &state, 1.0)?.frequency)
    }

    /// Returns true if a small motion stays small.
    fn stays_tiny(self, page: &Page<'_>, mut stepper: Stepper, step: f64) -> anyhow::Result<bool> {
        let mut assembly = Assembly::new(self.model("stvk", Vec3::ZERO)?);
        let mut state = assembly.rest_state();
        let mut random = fastrand::Rng::with_seed(1);
        for (v, fixed) in state.v.iter_mut().zip(assembly.model().fixed_mask()) {
            *v = if *fixed { 0.0 } else { NUDGE * (2.0 * random.f64() - 1.0) };
        }
        let steps = nudge_steps(page);
        let mut speeds = Vec::new();
        let what = format!("{} across, step {} s", self.across, digits(step, 4));
        let outcome = march(page, &what, &mut assembly, &mut stepper, &mut state, step, steps, |_, state| {
            speeds.push(state.v.iter().map(|v| v * v).sum::<f64>());
        })?;
        let max = |speeds: &[f64]| speeds.iter().copied().fold(0.0, f64::max);
        Ok(outcome.is_finished() && max(&speeds[steps / 2..]) < 4.0 * max(&speeds[..steps / 2]))
    }

    /// Simulates a swing under gravity. Returns the kind of instability, or `None` if the step is stable.
    fn swing(
        self,
        page: &Page<'_>,
        law: &str,
        mut stepper: Stepper,
        step: f64,
    ) -> anyhow::Result<Option<&'static str>> {
        let mut assembly = Assembly::new(self.model(law, Vec3::Y * -GRAVITY)?);
        let mut state = assembly.rest_state();
        let max = self.density * WIDTH * WIDTH * LENGTH * GRAVITY * LENGTH;
        // Two swings, and enough steps to see an explosion.
        let steps = (page.pick(2.0, 0.5) / step).ceil().max(page.pick(200.0, 100.0)) as usize;
        let what = format!("{law} swings, step {} s", digits(step, 3));
        let mut is_bounded = true;
        let outcome = march(page, &what, &mut assembly, &mut stepper, &mut state, step, steps, |model, state| {
            is_bounded &= model.observe(state).total_energy() < max;
        })?;
        Ok(match (is_bounded, outcome.is_finished()) {
            (true, true) => None,
            (false, _) => Some("the energy grows"),
            (true, false) => Some("a step fails"),
        })
    }
}

impl Limit {
    fn find(page: &Page<'_>, case: Case) -> anyhow::Result<Self> {
        let theory = case.theory()?;
        // The bracket is wide on both sides of theory, so that bisection tests it.
        let bracket = [theory / 8.0, theory * 8.0];
        let mut found = [0.0; 2];
        for (found, (_, build)) in found.iter_mut().zip(EXPLICIT) {
            *found = bisected(bracket, NARROW, |step| case.stays_tiny(page, build(), step))?;
        }
        Ok(Self { case, theory, found })
    }

    fn row(&self) -> Vec<String> {
        let Case { across, young, density } = self.case;
        let numbers = [young, density, self.theory, self.found[0], self.found[1]];
        std::iter::once(across.to_string()).chain(numbers.map(|number| digits(number, 4))).collect()
    }
}

/// Returns the largest step \[s\] for which `is_stable`, given a bracket with a stable low and an unstable high end.
fn bisected(
    [mut low, mut high]: [f64; 2],
    narrow: f64,
    is_stable: impl Fn(f64) -> anyhow::Result<bool>,
) -> anyhow::Result<f64> {
    while high / low > narrow {
        let middle = (low * high).sqrt();
        if is_stable(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

/// Returns the largest stable step of an integrator, or `None` if all tried steps are stable. Each is twice the one
/// before.
fn implicit_limit(page: &Page<'_>, case: Case, law: &str, build: Build) -> anyhow::Result<Beyond> {
    let doublings = page.pick(8, 5);
    let shortest = MAX_STEP / f64::from(1 << doublings);
    let mut last = 0.5 * shortest;
    for step in (0..=doublings).map(|i| shortest * f64::from(1 << i)) {
        if let Some(why) = case.swing(page, law, build(), step)? {
            let is_stable = |step: f64| Ok(case.swing(page, law, build(), step)?.is_none());
            return Ok(Some((bisected([last, step], ROUGH, is_stable)?, why)));
        }
        last = step;
    }
    Ok(None)
}

fn find(page: &mut Page<'_>, finer: &[Limit], stiffer: &[Limit], swinging: f64, limits: &[(&str, &str, Beyond)]) {
    let all = || finer.iter().chain(stiffer);
    let off = all().flat_map(|limit| limit.found.map(|found| (found / limit.theory - 1.0).abs())).fold(0.0, f64::max);
    page.finding(
        "explicit integrators are stable up to 2/ω, with ω the highest frequency of the mesh",
        off < 0.03,
        format!(
            "bisection agrees within {} % in {} cases with two integrators each",
            digits(100.0 * off, 2),
            all().count()
        ),
    );
    let last = &finer[finer.len() - 2..];
    let ratio = last[0].found[0] / last[1].found[0];
    page.finding(
        "the largest step halves with the cell size",
        (ratio - 2.0).abs() < 0.2,
        format!("from {} to {} s, by {}", digits(last[0].found[0], 3), digits(last[1].found[0], 3), digits(ratio, 3)),
    );
    let power = exponent(&stiffer.iter().map(|limit| (limit.case.slowness(), limit.found[0])).collect::<Vec<_>>());
    page.finding(
        "the largest step is proportional to √(ρ/Y)",
        (power - 1.0).abs() < 0.01,
        format!("it grows with the power {} of √(ρ/Y)", digits(power, 4)),
    );
    let euler: Vec<_> = limits.iter().filter(|(name, ..)| name.starts_with("backward Euler")).collect();
    let unlimited = euler.iter().filter(|(.., limit)| limit.is_none()).count();
    page.finding(
        format!("backward Euler, linearized or not, is stable for all steps up to {MAX_STEP} s, orders of magnitude beyond explicit integrators"),
        unlimited == euler.len() && MAX_STEP > 100.0 * swinging,
        format!("for {unlimited} of {} integrators and laws; central differences are stable up to {} s", euler.len(), digits(swinging, 3)),
    );
    let of_newmark =
        |law: &str| limits.iter().find(|limit| limit.0 == IMPLICIT[2].0 && limit.1 == law).and_then(|l| l.2);
    let nonlinear: Vec<_> = ["corotational", "stvk"].iter().filter_map(|law| of_newmark(law)).collect();
    page.finding(
        "implicit Newmark is stable for all steps with the linear law; for rotating elements its limit is finite, but far beyond that of explicit integrators",
        of_newmark("linear").is_none() && nonlinear.len() == 2 && nonlinear.iter().all(|(limit, _)| *limit > 5.0 * swinging),
        format!("{} for the corotational law and for St. Venant–Kirchhoff", nonlinear.iter().map(|(limit, why)| format!("{} s, beyond which {why},", digits(*limit, 2))).collect::<Vec<_>>().join(" and ")),
    );
}
