//! The largest step with which each scheme is stable.

use pliant::integrator::{
    BackwardEuler, CentralDifferences, Integrator, LinearizedBackwardEuler, Newmark, SymplecticEuler, stability,
};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::Cells;
use pliant::model::{Body, Hold, Model};
use pliant::solver::SolverParams;
use pliant::system::System;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use super::beam;
use crate::measure::{digits, exponent, march};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-largest-step",
    paper: &paper::VEGA,
    part: "the largest stable step",
    title: "The largest stable step",
    reports: "Explicit integrators are stable up to a step that bisection finds and that is small, the smaller the finer the mesh and \
              the stiffer the material; implicit ones allow steps that are larger by orders of magnitude.",
    run,
};

/// In m.
const LENGTH: f64 = 1.0;
/// Of the square section, in m.
const WIDTH: f64 = 0.2;
const POISSON: f64 = 0.3;
/// In Pa and kg/m³, where these are not varied.
const YOUNG: f64 = 1e6;
const DENSITY: f64 = 1000.0;
/// In m/s².
const GRAVITY: f64 = 9.81;
/// A motion so small that the body stays as stiff as at rest, in m/s.
const NUDGE: f64 = 1e-6;
/// Bisection ends when the bracket is this narrow, as a ratio: for explicit schemes, and for implicit ones, whose limit depends on the motion.
const NARROW: f64 = 1.002;
const ROUGH: f64 = 1.1;
/// The largest step that implicit schemes are tried with, in s.
const LONGEST: f64 = 1.0;
/// Of the implicit schemes.
const LAWS: [&str; 3] = ["linear", "corotational", "stvk"];

/// A body to try schemes on.
#[derive(Debug, Clone, Copy)]
struct Case {
    across: usize,
    young: f64,
    density: f64,
}

type Build = fn() -> Box<dyn Integrator<Model>>;

const EXPLICIT: [(&str, Build); 2] = [
    ("central differences", || Box::new(CentralDifferences::default())),
    ("symplectic Euler", || Box::new(SymplecticEuler::default())),
];

const IMPLICIT: [(&str, Build); 3] = [
    ("backward Euler, linearised", || Box::new(LinearizedBackwardEuler::default())),
    ("backward Euler", || Box::new(BackwardEuler::default())),
    ("implicit Newmark", || Box::new(Newmark::default())),
];

/// The largest stable step, in s, and what happens beyond, if there is one.
type Beyond = Option<(f64, &'static str)>;

/// The largest stable step of a case, in s.
struct Limit {
    case: Case,
    /// `2/ω` of the highest frequency.
    theory: f64,
    /// By bisection, of each explicit scheme.
    found: [f64; 2],
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let plain = Case { across: 2, young: YOUNG, density: DENSITY };
    page.text(format!(
        "A beam of {LENGTH} × {WIDTH} × {WIDTH} m of 5 tetrahedra a cell, clamped at one end, `Y` = {} Pa, `ν` = {POISSON}, `ρ` = {DENSITY} kg/m³ where these \
         are not varied, lumped mass and no damping. For explicit schemes every vertex starts with a random velocity of at most {NUDGE} m/s, St. \
         Venant–Kirchhoff; a step is stable if speeds do not grow any more after half of the {} steps. Implicit schemes, and central differences \
         once more, let the beam of 2 cells across swing under its weight; a step is stable if no step fails and the energy, which is that of the start \
         or less in truth, stays below `m g L`.",
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
    page.table("explicit", "The largest stable step of explicit schemes, small motion", &heading, rows.collect())?;

    let swinging = |step: f64| Ok(plain.swing(page, "stvk", &mut *EXPLICIT[0].1(), step)?.is_none());
    let swinging = bisected([1e-5, 0.1], NARROW, swinging)?;
    let mut limits = Vec::new();
    for (name, build) in IMPLICIT {
        for law in LAWS {
            limits.push((name, law, implicit_limit(page, plain, law, build)?));
        }
    }
    let rows = limits.iter().map(|(name, law, limit)| {
        let (largest, beyond) = limit.map_or_else(
            || (format!("{LONGEST} or more"), "–".to_owned()),
            |(limit, why)| (digits(limit, 2), why.to_owned()),
        );
        vec![(*name).to_owned(), (*law).to_owned(), largest, beyond]
    });
    let beyond = plain.swing(page, "stvk", &mut *EXPLICIT[0].1(), 1.1 * swinging)?.unwrap_or("–");
    let explicit = vec![EXPLICIT[0].0.to_owned(), "stvk".into(), digits(swinging, 3), beyond.into()];
    let heading = ["scheme", "law", "largest step, s", "beyond"];
    let rows = std::iter::once(explicit).chain(rows).collect();
    page.table("swinging", "The largest stable step of a swing under gravity", &heading, rows)?;
    find(page, &finer, &stiffer, swinging, &limits);
    Ok(())
}

fn plot(page: &mut Page<'_>, finer: &[Limit], stiffer: &[Limit]) -> anyhow::Result<()> {
    let panel = |limits: &[Limit], x_label: &str, x: fn(&Case) -> f64| {
        let curve = |name: &str, y: &dyn Fn(&Limit) -> f64| Series {
            style: Style::LineAndMarkers,
            ..Series::new(name, limits.iter().map(|limit| (x(&limit.case), y(limit))).collect())
        };
        let schemes = EXPLICIT.iter().enumerate().map(|(i, (name, _))| curve(name, &move |limit| limit.found[i]));
        Plot {
            x_label: x_label.into(),
            y_label: "largest step, s".into(),
            series: schemes.chain([curve("2/ω", &|limit| limit.theory)]).collect(),
            x_scale: Scale::Logarithmic,
            y_scale: Scale::Logarithmic,
            ..Plot::default()
        }
    };
    let panels = vec![panel(finer, "size of a cell, m", Case::cell), panel(stiffer, "√(ρ/Y), s/m", Case::slowness)];
    page.figure("largest-step", "The largest stable step of explicit schemes", Figure { panels, ..Figure::default() })
}

/// How many steps show whether a tiny motion grows.
fn nudge_steps(page: &Page<'_>) -> usize {
    page.pick(400, 200)
}

impl Case {
    /// The edge of a cell, in m.
    fn cell(&self) -> f64 {
        WIDTH / self.across as f64
    }

    /// `√(ρ/Y)`, in s/m.
    fn slowness(&self) -> f64 {
        (self.density / self.young).sqrt()
    }

    fn model(self, law: &str, gravity: Vec3) -> anyhow::Result<Model> {
        let mesh = beam::mesh(LENGTH, WIDTH, self.across, Cells::Tet5)?;
        let held = Hold::fixed(beam::set(&mesh, beam::HELD)?.to_vec());
        let law = beam::bare_law(law, YoungPoisson { young: self.young, poisson: POISSON })?;
        Ok(Model::builder()
            .body(Body::new(mesh, law, self.density))
            .hold(held)
            .gravity(gravity)
            .lumped_mass()
            .build()?)
    }

    /// `2/ω` of the highest frequency, in s.
    fn theory(self) -> anyhow::Result<f64> {
        let mut model = self.model("stvk", Vec3::ZERO)?;
        let state = model.rest_state();
        Ok(2.0 / stability(&mut model, &mut *SolverParams::Direct.build(), &state, 1.0)?.frequency)
    }

    /// Whether a tiny motion stays tiny.
    fn stays_tiny(self, page: &Page<'_>, scheme: &mut dyn Integrator<Model>, step: f64) -> anyhow::Result<bool> {
        let mut model = self.model("stvk", Vec3::ZERO)?;
        let mut state = model.rest_state();
        let mut random = fastrand::Rng::with_seed(1);
        for (v, held) in state.v.iter_mut().zip(model.held()) {
            *v = if *held { 0.0 } else { NUDGE * (2.0 * random.f64() - 1.0) };
        }
        let steps = nudge_steps(page);
        let mut speeds = Vec::new();
        let what = format!("{} across, step {} s", self.across, digits(step, 4));
        let outcome = march(page, &what, &mut model, scheme, &mut state, step, steps, |_, state| {
            speeds.push(state.v.iter().map(|v| v * v).sum::<f64>());
        })?;
        let most = |speeds: &[f64]| speeds.iter().copied().fold(0.0, f64::max);
        Ok(outcome.is_finished() && most(&speeds[steps / 2..]) < 4.0 * most(&speeds[..steps / 2]))
    }

    /// What goes wrong when the body swings under its weight, if anything does.
    fn swing(
        self,
        page: &Page<'_>,
        law: &str,
        scheme: &mut dyn Integrator<Model>,
        step: f64,
    ) -> anyhow::Result<Option<&'static str>> {
        let mut model = self.model(law, Vec3::Y * -GRAVITY)?;
        let mut state = model.rest_state();
        let most = self.density * WIDTH * WIDTH * LENGTH * GRAVITY * LENGTH;
        // Two swings, and never too few steps to see an explosion.
        let steps = (page.pick(2.0, 0.5) / step).ceil().max(page.pick(200.0, 100.0)) as usize;
        let what = format!("{law} swings, step {} s", digits(step, 3));
        let mut is_bounded = true;
        let outcome = march(page, &what, &mut model, scheme, &mut state, step, steps, |model, state| {
            is_bounded &= model.observe(state).total_energy() < most;
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
        // Far from theory on both sides, so that it is put to a test.
        let bracket = [theory / 8.0, theory * 8.0];
        let mut found = [0.0; 2];
        for (found, (_, build)) in found.iter_mut().zip(EXPLICIT) {
            *found = bisected(bracket, NARROW, |step| case.stays_tiny(page, &mut *build(), step))?;
        }
        Ok(Self { case, theory, found })
    }

    fn row(&self) -> Vec<String> {
        let Case { across, young, density } = self.case;
        let numbers = [young, density, self.theory, self.found[0], self.found[1]];
        std::iter::once(across.to_string()).chain(numbers.map(|number| digits(number, 4))).collect()
    }
}

/// The largest step for which `is_stable`, in s, if the low end of the bracket is and the high end is not.
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

/// The largest stable step of a scheme, in s, and what happens beyond; none if all steps are stable that were tried, each twice the one before.
fn implicit_limit(page: &Page<'_>, case: Case, law: &str, build: Build) -> anyhow::Result<Beyond> {
    let doublings = page.pick(8, 5);
    let shortest = LONGEST / f64::from(1 << doublings);
    let mut last = 0.5 * shortest;
    for step in (0..=doublings).map(|i| shortest * f64::from(1 << i)) {
        if let Some(why) = case.swing(page, law, &mut *build(), step)? {
            let is_stable = |step: f64| Ok(case.swing(page, law, &mut *build(), step)?.is_none());
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
        "explicit schemes are stable up to 2/ω, with ω the highest frequency of the mesh",
        off < 0.03,
        format!("bisection agrees within {} % in {} cases of two schemes", digits(100.0 * off, 2), all().count()),
    );
    let last = &finer[finer.len() - 2..];
    let ratio = last[0].found[0] / last[1].found[0];
    page.finding(
        "the largest step halves when cells are halved",
        (ratio - 2.0).abs() < 0.2,
        format!("from {} to {} s, by {}", digits(last[0].found[0], 3), digits(last[1].found[0], 3), digits(ratio, 3)),
    );
    let power = exponent(&stiffer.iter().map(|limit| (limit.case.slowness(), limit.found[0])).collect::<Vec<_>>());
    page.finding(
        "and is in proportion to √(ρ/Y)",
        (power - 1.0).abs() < 0.01,
        format!("it goes with the power {} of √(ρ/Y)", digits(power, 4)),
    );
    let euler: Vec<_> = limits.iter().filter(|(name, ..)| name.starts_with("backward Euler")).collect();
    let unlimited = euler.iter().filter(|(.., limit)| limit.is_none()).count();
    page.finding(
        format!("backward Euler, linearised or not, is stable at every step up to {LONGEST} s: orders of magnitude beyond explicit schemes"),
        unlimited == euler.len() && LONGEST > 100.0 * swinging,
        format!("for {unlimited} of {} schemes and laws; central differences swing up to {} s", euler.len(), digits(swinging, 3)),
    );
    let of_newmark =
        |law: &str| limits.iter().find(|limit| limit.0 == IMPLICIT[2].0 && limit.1 == law).and_then(|l| l.2);
    let nonlinear: Vec<_> = ["corotational", "stvk"].iter().filter_map(|law| of_newmark(law)).collect();
    page.finding(
        "implicit Newmark is stable at every step for the linear law; with rotations it is not, but far beyond explicit schemes",
        of_newmark("linear").is_none() && nonlinear.len() == 2 && nonlinear.iter().all(|(limit, _)| *limit > 5.0 * swinging),
        format!("{} for the corotational law and for St. Venant–Kirchhoff", nonlinear.iter().map(|(limit, why)| format!("{} s, beyond which {why},", digits(*limit, 2))).collect::<Vec<_>>().join(" and ")),
    );
}
