//! Energy loss of a swinging beam against time step and damping time.

use pliant::integrator::regularized::RegularizedParams;
use pliant::integrator::{Regularized, Static};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::Fixed;
use pliant::solver::SolverParams;
use pliant_pictures::{Figure, Plot, Series};

use super::setup::{GRAVITY, Setup};
use crate::measure::{digits, exponent, march};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "servin-energy",
    paper: &paper::SERVIN,
    part: "figure 10",
    title: "Energy of a swinging soft beam",
    reports: "A swinging soft beam loses energy to the integrator, less with smaller steps, and gains none.",
    run,
};

/// Length of the beam \[m\]. Its cross section is a square of 0.2 m.
const LENGTH: f64 = 1.0;

/// Time steps \[s\] that are long for a period of 1.1 s: a tenth of it, and more than a quarter.
const LONG: [f64; 2] = [0.1, 0.3];

/// Time step of the comparison of damping times \[s\].
const SHORT: f64 = 5e-3;

/// Heading of the table of rates.
const HEADING: [&str; 6] =
    ["step, ms", "damping time, ms", "decay rate, 1/s", "theory, 1/s", "maximum energy, relative", "final energy, %"];

/// Fraction of gravity under which swings are small.
const LITTLE: f64 = 0.01;

/// Creates a beam of 200 tetrahedra, fixed at one end, under the fraction `weight` of gravity.
fn beam(weight: f64) -> anyhow::Result<Setup> {
    let mesh = generate::block([LENGTH, 0.2, 0.2], [10, 2, 2], Cells::Tet5)?;
    let fixed = vec![Fixed::new(mesh.vertex_sets()["x-min"].clone())];
    Ok(Setup {
        mesh,
        moduli: YoungPoisson { young: 5e5, poisson: 0.3 },
        densities: vec![1000.0],
        fixed,
        gravity: -weight * GRAVITY * Vec3::Y,
        lumped: false,
    })
}

/// Swing of an initially straight beam.
struct Swing {
    /// Time step \[s\].
    step: f64,
    /// Damping time \[s\].
    damping_time: f64,
    finished: bool,
    /// Time \[s\], and energy above that of equilibrium relative to its initial value.
    energies: Vec<(f64, f64)>,
    /// Angular frequency of the lowest mode \[rad/s\], from the zero crossings.
    frequency: f64,
}

impl Swing {
    fn new(page: &Page<'_>, weight: f64, step: f64, damping_time: Option<f64>, time: f64) -> anyhow::Result<Self> {
        let setup = beam(weight)?;
        let (mut model, mut twin) = (setup.bare()?, setup.elastic()?);
        let mut equilibrium = twin.rest_state();
        Static::default().solve(&mut twin, &mut *SolverParams::default().build(), &mut equilibrium)?;
        let min = twin.observe(&equilibrium).total_energy();
        let balance = twin.observe(&equilibrium).center_of_mass.y;
        let mut integrator = Regularized::new(&model, &RegularizedParams { damping_time, ..setup.params() })?;
        let mut state = model.rest_state();
        let (mut energies, mut heights) = (vec![(0.0, 1.0)], Vec::new());
        let steps = (time / step).round() as usize;
        let what = format!("steps of {} ms", digits(1e3 * step, 3));
        let outcome = march(page, &what, &mut model, &mut integrator, &mut state, step, steps, |_, state| {
            let seen = twin.observe(state);
            energies.push((state.time, (seen.total_energy() - min) / -min));
            heights.push((state.time, seen.center_of_mass.y - balance));
        })?;
        let pairs = heights.windows(2).filter(|pair| pair[0].1 * pair[1].1 < 0.0);
        let crossings: Vec<f64> =
            pairs.map(|pair| pair[0].0 - pair[0].1 / (pair[1].1 - pair[0].1) * (pair[1].0 - pair[0].0)).collect();
        let frequency = match crossings[..] {
            [first, .., last] => std::f64::consts::PI * (crossings.len() - 1) as f64 / (last - first),
            _ => f64::NAN,
        };
        let damping_time = damping_time.unwrap_or(2.0 * step);
        Ok(Self { step, damping_time, finished: outcome.is_finished(), energies, frequency })
    }

    /// Returns the decay rate `r` of the energy \[1/s\], by a fit of `c exp(−rt)` as long as the energy is above 0.1 %.
    /// The energy of faster modes decays early and affects `c`.
    fn rate(&self) -> f64 {
        let logs: Vec<(f64, f64)> = self
            .energies
            .iter()
            .take_while(|(_, energy)| *energy > 1e-3)
            .map(|(time, energy)| (*time, energy.ln()))
            .collect();
        let count = logs.len() as f64;
        let (mean_time, mean_log) = logs.iter().fold((0.0, 0.0), |(a, b), (t, e)| (a + t / count, b + e / count));
        let (product, square) = logs.iter().fold((0.0, 0.0), |(a, b), (time, log)| {
            (a + (time - mean_time) * (log - mean_log), b + (time - mean_time).powi(2))
        });
        -product / square
    }

    /// Returns the final energy relative to the initial one.
    fn left(&self) -> f64 {
        self.energies.last().map_or(f64::NAN, |(_, energy)| *energy)
    }

    fn highest(&self) -> f64 {
        self.energies.iter().fold(0.0, |max, (_, energy)| max.max(*energy))
    }

    /// Returns the theoretical decay rate of the energy \[1/s\] of a mode with this frequency \[rad/s\].
    ///
    /// The amplification matrix of a step has the determinant `1/(1 + h²ω²/γ)`, with `h²/γ = h(½h + τ)`.
    fn theory(&self, frequency: f64) -> f64 {
        let Self { step, damping_time, .. } = self;
        (step * (0.5 * step + damping_time) * frequency * frequency).ln_1p() / step
    }

    /// Returns a row of the table of rates.
    fn row(&self, frequency: f64) -> Vec<String> {
        let [step, damping_time] = [self.step, self.damping_time].map(|seconds| 1e3 * seconds);
        let numbers = [step, damping_time, self.rate(), self.theory(frequency), self.highest(), 100.0 * self.left()];
        numbers.map(|number| digits(number, 3)).to_vec()
    }
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let steps: &[f64] = page.pick(&[1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 4e-2], &[5e-3, 1e-2, 2e-2, 4e-2]);
    let time = page.pick(6.0, 3.0);
    page.text(format!(
        "A beam of {LENGTH} m × 0.2 m × 0.2 m, 200 tetrahedra, `Y = 500` kPa, `ν = 0.3`, `ρ = 1000` kg/m³, is fixed at one end and released from its straight shape. \
         Energy is the sum of kinetic, elastic and gravitational energy above that of equilibrium, relative to its initial value. Theory is derived from the integrator for small \
         swings of one frequency `ω`: a step multiplies the square of the amplitude by `1/(1 + ω²h(½h + τ))`, so that energy decays at a rate of \
         about `ω²(½h + τ)`."
    ));
    let swing = |weight: f64, step: f64, damping_time: Option<f64>| Swing::new(page, weight, step, damping_time, time);
    let small =
        [0.0, 0.01, 0.03].into_iter().map(|tau| swing(LITTLE, SHORT, Some(tau))).collect::<Result<Vec<_>, _>>()?;
    let by_step = steps.iter().map(|&step| swing(1.0, step, None)).collect::<Result<Vec<_>, _>>()?;
    let damping_times = [0.0, 0.01, 0.03, 0.1].into_iter();
    let by_damping = damping_times.map(|tau| swing(1.0, SHORT, Some(tau))).collect::<Result<Vec<_>, _>>()?;
    let long = LONG.into_iter().flat_map(|step| [2.0, 0.5, 0.0].map(|part| swing(1.0, step, Some(part * step))));
    let long = long.collect::<Result<Vec<_>, _>>()?;
    figure(page, &by_step, &by_damping)?;
    // Theory assumes small swings, and so uses their frequency.
    let frequency = small[0].frequency;
    let caption = format!(
        "Simulations of {time} s. Theory uses ω = {} rad/s of small swings under {LITTLE} times gravity; the large swing has {} rad/s",
        digits(frequency, 3),
        digits(by_step[0].frequency, 3)
    );
    let all = || by_step.iter().chain(&by_damping).chain(&long);
    page.table("rates", &caption, &HEADING, all().map(|swing| swing.row(frequency)).collect())?;

    let damped: Vec<&Swing> =
        all().filter(|swing| swing.damping_time >= 0.5 * swing.step && swing.step <= LONG[0]).collect();
    let highest = damped.iter().map(|swing| swing.highest()).fold(0.0, f64::max);
    page.finding(
        "energy does not grow with steps of up to a tenth of the period and a damping time of two steps, the default, or half a step",
        damped.iter().all(|swing| swing.finished) && highest < 1.01,
        format!(
            "at most {} times the initial energy, with steps from {} to 100 ms",
            digits(highest, 4),
            digits(1e3 * steps[0], 2)
        ),
    );
    find_long(page, &long, time);
    find_rates(page, &small, &by_step, &by_damping);
    Ok(())
}

/// Adds the findings about steps that are long relative to the period.
fn find_long(page: &mut Page<'_>, long: &[Swing], time: f64) {
    let max = |swings: &[&Swing], what: fn(&Swing) -> f64| swings.iter().map(|s| what(s)).fold(0.0, f64::max);
    let (without, damped): (Vec<&Swing>, Vec<&Swing>) = long.iter().partition(|swing| swing.damping_time == 0.0);
    let longest: Vec<&Swing> = damped.into_iter().filter(|swing| swing.step == LONG[1]).collect();
    let (jump, left) = (max(&longest, Swing::highest), max(&longest, Swing::left));
    page.finding(
        "with steps of more than a quarter of the period, which stretch the beam along tangents, energy may jump, but is lost again",
        left < 0.01,
        format!(
            "with steps of 300 ms it rises to {} times the initial energy, and is at most {} % after {time} s",
            digits(jump, 2),
            digits(100.0 * left, 2)
        ),
    );
    let highest = max(&without, Swing::highest);
    page.finding(
        "without damping time, steps that are long relative to the period overshoot, and energy grows",
        highest > 2.0,
        format!("to {} times the initial energy, with steps of 100 and 300 ms", digits(highest, 2)),
    );
}

/// Adds the findings about decay rates.
fn find_rates(page: &mut Page<'_>, small: &[Swing], by_step: &[Swing], by_damping: &[Swing]) {
    let rates: Vec<(f64, f64)> = by_step.iter().map(|swing| (swing.step, swing.rate())).collect();
    let order = exponent(&rates);
    page.finding(
        "the energy loss is proportional to the step",
        (0.8..1.15).contains(&order),
        format!(
            "the decay rate grows with the power {} of the step, from {} to {} per s",
            digits(order, 3),
            digits(rates[0].1, 2),
            digits(rates[rates.len() - 1].1, 2)
        ),
    );
    let frequency = small[0].frequency;
    let range = |frequency: f64| {
        let ratios = by_step.iter().chain(by_damping).map(|swing| swing.rate() / swing.theory(frequency));
        ratios.fold((f64::INFINITY, 0.0_f64), |(min, max), ratio| (min.min(ratio), max.max(ratio)))
    };
    let ((min, max), own) = (range(frequency), range(by_step[0].frequency));
    page.finding(
        "energy decays at the theoretical rate of small swings, for all steps and damping times",
        min > 0.94 && max < 1.06,
        format!(
            "{} to {} times that rate for steps up to 40 ms; {} to {} times with the frequency of the large swing",
            digits(min, 3),
            digits(max, 3),
            digits(own.0, 3),
            digits(own.1, 3)
        ),
    );
    let pairs: Vec<(f64, f64)> = small.iter().map(|swing| (swing.rate(), swing.theory(frequency))).collect();
    let listed: Vec<String> =
        pairs.iter().map(|(rate, exact)| format!("{} instead of {}", digits(*rate, 3), digits(*exact, 3))).collect();
    page.finding(
        format!("this also holds for small swings, under {LITTLE} times gravity"),
        pairs.iter().all(|(rate, exact)| (rate / exact - 1.0).abs() < 0.04),
        format!("{} per s with steps of 5 ms and damping times of 0, 10 and 30 ms", listed.join(", ")),
    );
}

fn figure(page: &mut Page<'_>, by_step: &[Swing], by_damping: &[Swing]) -> anyhow::Result<()> {
    let step = |swing: &Swing| Series::new(format!("{} ms", digits(1e3 * swing.step, 3)), swing.energies.clone());
    let damping_time =
        |swing: &Swing| Series::new(format!("τ = {} ms", digits(1e3 * swing.damping_time, 3)), swing.energies.clone());
    let panel = |title: &str, series: Vec<Series>| Plot {
        title: title.into(),
        x_label: "time, s".into(),
        y_label: "energy of the swing, relative".into(),
        series,
        ..Plot::default()
    };
    let panels = vec![
        panel("Several time steps, damping time of two steps", by_step.iter().map(step).collect()),
        panel("Steps of 5 ms, several damping times", by_damping.iter().map(damping_time).collect()),
    ];
    page.figure("energy", "Energy of the swinging beam", Figure { panels, ..Figure::default() })
}
