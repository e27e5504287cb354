//! What a swinging beam loses of its energy, by the step and by the damping time.

use pliant::integrator::regularized::Params;
use pliant::integrator::{Regularized, Static};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::Hold;
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
    reports: "A soft beam that swings loses energy to the stepper, less with smaller steps, and gains none.",
    run,
};

/// In m; the section is a square of 0.2 m.
const LENGTH: f64 = 1.0;

/// Steps that are long for a swing of 1.1 s, in s: a tenth of it, and more than a quarter.
const LONG: [f64; 2] = [0.1, 0.3];

/// The step with which damping times are compared, in s.
const SHORT: f64 = 5e-3;

/// Of the table of rates.
const HEADING: [&str; 6] = [
    "step, ms",
    "damping time, ms",
    "rate of decay, 1/s",
    "by theory, 1/s",
    "highest energy, relative",
    "energy left at the end, %",
];

/// The part of gravity under which swings are small.
const LITTLE: f64 = 0.01;

/// A beam of 200 tetrahedra, held at one end, under its weight, or a part of that.
fn beam(weight: f64) -> anyhow::Result<Setup> {
    let mesh = generate::block([LENGTH, 0.2, 0.2], [10, 2, 2], Cells::Tet5)?;
    let holds = vec![Hold::fixed(mesh.vertex_sets()["x-min"].clone())];
    Ok(Setup {
        mesh,
        moduli: YoungPoisson { young: 5e5, poisson: 0.3 },
        densities: vec![1000.0],
        holds,
        gravity: -weight * GRAVITY * Vec3::Y,
        lumped: false,
    })
}

/// A swing from the straight beam.
struct Swing {
    /// In s.
    step: f64,
    /// In s.
    damping_time: f64,
    finished: bool,
    /// Time in s, and the energy above that of equilibrium as a part of what it was at the start.
    energies: Vec<(f64, f64)>,
    /// Half swings a second, times π: of the slowest mode, in rad/s.
    frequency: f64,
}

impl Swing {
    fn new(page: &Page<'_>, weight: f64, step: f64, damping_time: Option<f64>, time: f64) -> anyhow::Result<Self> {
        let setup = beam(weight)?;
        let (mut model, mut twin) = (setup.bare()?, setup.elastic()?);
        let mut equilibrium = twin.rest_state();
        Static::default().solve(&mut twin, &mut *SolverParams::default().build(), &mut equilibrium)?;
        let least = twin.observe(&equilibrium).total_energy();
        let balance = twin.observe(&equilibrium).centre_of_mass.y;
        let mut scheme = Regularized::new(&model, &Params { damping_time, ..setup.params() })?;
        let mut state = model.rest_state();
        let (mut energies, mut heights) = (vec![(0.0, 1.0)], Vec::new());
        let steps = (time / step).round() as usize;
        let what = format!("steps of {} ms", digits(1e3 * step, 3));
        let outcome = march(page, &what, &mut model, &mut scheme, &mut state, step, steps, |_, state| {
            let seen = twin.observe(state);
            energies.push((state.time, (seen.total_energy() - least) / -least));
            heights.push((state.time, seen.centre_of_mass.y - balance));
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

    /// How fast energy decays, in 1/s: the best fit of `c exp(−rt)` while there is energy to speak of. That in faster modes, which is soon gone, is in `c`.
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

    /// What is left at the end.
    fn left(&self) -> f64 {
        self.energies.last().map_or(f64::NAN, |(_, energy)| *energy)
    }

    fn highest(&self) -> f64 {
        self.energies.iter().fold(0.0, |most, (_, energy)| most.max(*energy))
    }

    /// The rate at which a mode of this frequency, in rad/s, loses energy, in 1/s. The determinant of what a step does to its position and velocity is
    /// `1/(1 + h²ω²/γ)`, with `h²/γ = h(½h + τ)`.
    fn theory(&self, frequency: f64) -> f64 {
        let Self { step, damping_time, .. } = self;
        (step * (0.5 * step + damping_time) * frequency * frequency).ln_1p() / step
    }

    /// Of the table of rates.
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
        "A beam of {LENGTH} m × 0.2 m × 0.2 m, 200 tetrahedra, `Y = 500` kPa, `ν = 0.3`, `ρ = 1000` kg/m³, is held at one end and let go when straight. \
         Energy is kinetic, elastic and of height together, above that of equilibrium, as a part of what it is at the start. Theory, for small \
         swings of one frequency `ω`, worked out from the scheme: a step multiplies the square of the amplitude by `1/(1 + ω²h(½h + τ))`, so that energy decays at a rate of \
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
    // Theory is for small swings, and so has their frequency.
    let frequency = small[0].frequency;
    let caption = format!(
        "Swings of {time} s; theory has ω = {} rad/s, that of small swings, under {LITTLE} of gravity; this large one has {} rad/s",
        digits(frequency, 3),
        digits(by_step[0].frequency, 3)
    );
    let all = || by_step.iter().chain(&by_damping).chain(&long);
    page.table("rates", &caption, &HEADING, all().map(|swing| swing.row(frequency)).collect())?;

    let damped: Vec<&Swing> =
        all().filter(|swing| swing.damping_time >= 0.5 * swing.step && swing.step <= LONG[0]).collect();
    let highest = damped.iter().map(|swing| swing.highest()).fold(0.0, f64::max);
    page.finding(
        "energy does not grow with steps up to a tenth of the swing, with the default damping time of two steps or half a step",
        damped.iter().all(|swing| swing.finished) && highest < 1.01,
        format!(
            "at most {} of that at the start, with steps from {} to 100 ms",
            digits(highest, 4),
            digits(1e3 * steps[0], 2)
        ),
    );
    find_long(page, &long, time);
    find_rates(page, &small, &by_step, &by_damping);
    Ok(())
}

/// What becomes of steps that are long for the swing.
fn find_long(page: &mut Page<'_>, long: &[Swing], time: f64) {
    let most = |swings: &[&Swing], what: fn(&Swing) -> f64| swings.iter().map(|s| what(s)).fold(0.0, f64::max);
    let (without, damped): (Vec<&Swing>, Vec<&Swing>) = long.iter().partition(|swing| swing.damping_time == 0.0);
    let longest: Vec<&Swing> = damped.into_iter().filter(|swing| swing.step == LONG[1]).collect();
    let (jump, left) = (most(&longest, Swing::highest), most(&longest, Swing::left));
    page.finding(
        "with steps of more than a quarter of it, which stretch the beam along tangents, energy may jump, but is lost again",
        left < 0.01,
        format!(
            "with steps of 300 ms it rises to {} times that at the start, and at most {} % is left after {time} s",
            digits(jump, 2),
            digits(100.0 * left, 2)
        ),
    );
    let highest = most(&without, Swing::highest);
    page.finding(
        "without damping time, steps that are long for the swing overshoot, and energy does grow",
        highest > 2.0,
        format!("to {} times that at the start, with steps of 100 and 300 ms", digits(highest, 2)),
    );
}

/// How fast energy decays.
fn find_rates(page: &mut Page<'_>, small: &[Swing], by_step: &[Swing], by_damping: &[Swing]) {
    let rates: Vec<(f64, f64)> = by_step.iter().map(|swing| (swing.step, swing.rate())).collect();
    let order = exponent(&rates);
    page.finding(
        "what is lost falls in proportion to the step",
        (0.8..1.15).contains(&order),
        format!(
            "the rate of decay goes with the power {} of the step, from {} to {} per s",
            digits(order, 3),
            digits(rates[0].1, 2),
            digits(rates[rates.len() - 1].1, 2)
        ),
    );
    let frequency = small[0].frequency;
    let range = |frequency: f64| {
        let ratios = by_step.iter().chain(by_damping).map(|swing| swing.rate() / swing.theory(frequency));
        ratios.fold((f64::INFINITY, 0.0_f64), |(least, most), ratio| (least.min(ratio), most.max(ratio)))
    };
    let ((least, most), own) = (range(frequency), range(by_step[0].frequency));
    page.finding(
        "the beam loses energy at the rate that theory has for small swings, for steps and for damping times",
        least > 0.94 && most < 1.06,
        format!(
            "{} to {} times that for steps up to 40 ms; {} to {} times if theory had the frequency of the large swing",
            digits(least, 3),
            digits(most, 3),
            digits(own.0, 3),
            digits(own.1, 3)
        ),
    );
    let pairs: Vec<(f64, f64)> = small.iter().map(|swing| (swing.rate(), swing.theory(frequency))).collect();
    let listed: Vec<String> =
        pairs.iter().map(|(rate, exact)| format!("{} instead of {}", digits(*rate, 3), digits(*exact, 3))).collect();
    page.finding(
        format!("so does one whose swings are small, under {LITTLE} of gravity"),
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
        panel("Several steps, damping time of two steps", by_step.iter().map(step).collect()),
        panel("Steps of 5 ms, several damping times", by_damping.iter().map(damping_time).collect()),
    ];
    page.figure("energy", "Energy of the swinging beam", Figure { panels, ..Figure::default() })
}
