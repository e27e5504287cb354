//! A cube that swings, with three steppers.

use std::f64::consts::PI;

use pliant::integrator::{Integrator, LinearizedBackwardEuler, Regularized, SymplecticEuler, stability};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Hold, Model};
use pliant::solver::SolverParams;
use pliant_pictures::{Figure, Plot, Series};

use super::setup::{GRAVITY, INTERACTIVE, Setup, forms_apart};
use crate::measure::{Outcome, digits, march_with};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "servin-cube",
    paper: &paper::SERVIN,
    part: "figures 2 and 3",
    title: "A swinging cube with three steppers",
    reports: "A cube that hangs at an edge swings. An explicit stepper explodes unless its steps are tiny, backward Euler is stable but slows \
              the swing down, and regularised constraints are stable and swing in time, at any stiffness.",
    run,
};

const POISSON: f64 = 0.25;

/// The stiffness at which the three are shown side by side, in Pa.
const YOUNG: f64 = 1e5;

/// A step that is long for a swing of 2.8 s, in s.
const LONG: f64 = 0.05;

/// A cube of 8 particles and 5 tetrahedra, 1 m and 8 kg, hung at an edge with its centre at the height of it.
fn cube(young: f64) -> anyhow::Result<Setup> {
    let mesh = generate::block([1.0; 3], [1; 3], Cells::Tet5)?;
    let hung = |v: &u32| mesh.vertices()[*v as usize].truncate() == Vec3::Y.truncate();
    let edge: Vec<u32> = (0..8).filter(hung).collect();
    Ok(Setup {
        mesh,
        moduli: YoungPoisson { young, poisson: POISSON },
        densities: vec![8.0],
        holds: vec![Hold::fixed(edge)],
        gravity: -GRAVITY * Vec3::new(1.0, 1.0, 0.0).normalize(),
        lumped: true,
    })
}

/// What is seen of a swing.
struct Swing {
    outcome: Outcome,
    /// Time in s and the turn of the centre about the edge in degrees; hanging straight down is 90°.
    angles: Vec<(f64, f64)>,
    /// Time in s, and kinetic energy and that of height together, as a part of what the cube has to lose.
    energies: Vec<(f64, f64)>,
}

impl Swing {
    fn new(
        page: &Page<'_>,
        what: &str,
        mut model: Model,
        scheme: &mut dyn Integrator<Model>,
        step: f64,
        time: f64,
    ) -> anyhow::Result<Self> {
        let mut state = model.rest_state();
        let to_lose = Pendulum::of(&model).energy;
        let (mut angles, mut energies) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
        let steps = (time / step).round() as usize;
        let direct = SolverParams::Direct;
        let outcome = march_with(page, what, direct, &mut model, scheme, &mut state, step, steps, |model, state| {
            let seen = model.observe(state);
            angles.push((state.time, angle(seen.centre_of_mass)));
            energies.push((state.time, (seen.kinetic_energy + seen.gravitational_energy) / to_lose));
        })?;
        Ok(Self { outcome, angles, energies })
    }

    /// When the centre passes below the edge, in s.
    fn passes(&self) -> Vec<f64> {
        let pairs = self.angles.windows(2).filter(|pair| (pair[0].1 < 90.0) != (pair[1].1 < 90.0));
        pairs.map(|pair| pair[0].0 + (90.0 - pair[0].1) / (pair[1].1 - pair[0].1) * (pair[1].0 - pair[0].0)).collect()
    }

    /// How long it took to the lowest point, from rest, in s; infinite if it did not get there.
    fn fall(&self) -> f64 {
        self.passes().first().copied().unwrap_or(f64::INFINITY)
    }

    /// The highest energy from one time to another, in s.
    fn highest(&self, from: f64, to: f64) -> f64 {
        let within = self.energies.iter().filter(|(time, _)| (from..=to).contains(time));
        within.fold(f64::NEG_INFINITY, |most, (_, energy)| most.max(*energy))
    }

    /// Of the energy that it has to lose, what is gone at the end.
    fn lost(&self) -> f64 {
        -self.energies.last().map_or(f64::NAN, |(_, energy)| *energy)
    }

    fn curve(&self, name: impl Into<String>) -> Series {
        // An explosion turns as it likes.
        let end = if self.outcome.is_finished() { self.angles.len() } else { self.angles.len().min(12) };
        Series::new(name, self.angles[..end].to_vec())
    }
}

/// The pendulum that the cube is when rigid.
struct Pendulum {
    /// `m g d`, in J: what it has to lose from where it starts.
    energy: f64,
    /// About the edge, in kg m².
    moment: f64,
}

impl Pendulum {
    fn of(model: &Model) -> Self {
        let arms = model.rest().iter().map(|x| (*x - Vec3::Y).truncate());
        let (moment, first) = arms.zip(model.mass().row_sums()).fold((0.0, Vec3::ZERO), |(moment, first), (arm, m)| {
            (moment + m * arm.length_squared(), first + m * arm.extend(0.0))
        });
        Self { energy: GRAVITY * first.length(), moment }
    }

    /// Of full swings from 90° to either side, in s: `2π √(I/mgd) / agm(1, cos 45°)`.
    fn period(&self) -> f64 {
        let (mut a, mut b) = (1.0, (PI / 4.0).cos());
        for _ in 0..6 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        2.0 * PI * (self.moment / self.energy).sqrt() / a
    }

    /// What weight does in half a step at most, as a part of the energy to lose: `½h θ̇ cos θ` is greatest where `sin² θ = ⅓`.
    fn ripple(&self, step: f64) -> f64 {
        let sine = (1.0 / 3.0_f64).sqrt();
        let speed = (2.0 * self.energy / self.moment * sine).sqrt();
        0.5 * step * speed * (1.0 - sine * sine).sqrt()
    }
}

/// How far the centre of mass has turned about the edge, in degrees.
fn angle(centre: Vec3) -> f64 {
    let arm = centre - Vec3::new(0.0, 1.0, 0.5);
    let (start, down) = (Vec3::new(1.0, -1.0, 0.0), Vec3::new(-1.0, -1.0, 0.0));
    arm.dot(down).atan2(arm.dot(start)).to_degrees()
}

fn regularized(page: &Page<'_>, young: f64, step: f64, time: f64) -> anyhow::Result<Swing> {
    let setup = cube(young)?;
    let model = setup.bare()?;
    let mut scheme = Regularized::new(&model, &setup.params())?;
    Swing::new(page, &format!("constraints at {young:e} Pa"), model, &mut scheme, step, time)
}

fn backward(page: &Page<'_>, young: f64, step: f64, time: f64) -> anyhow::Result<Swing> {
    let (setup, mut scheme) = (cube(young)?, LinearizedBackwardEuler::default());
    Swing::new(page, &format!("backward Euler at {young:e} Pa"), setup.elastic()?, &mut scheme, step, time)
}

fn explicit(page: &Page<'_>, young: f64, step: f64, time: f64) -> anyhow::Result<Swing> {
    let (setup, mut scheme) = (cube(young)?, SymplecticEuler::default());
    Swing::new(page, &format!("symplectic Euler at {young:e} Pa"), setup.elastic()?, &mut scheme, step, time)
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let pendulum = Pendulum::of(&cube(YOUNG)?.bare()?);
    page.text(format!(
        "A cube of 5 tetrahedra, 1 m and 8 kg with lumped masses and `ν = {POISSON}` hangs at an edge, starts with its centre at the height of that \
         edge, and swings. As a rigid body it would need {} s to the lowest point and {} s for a swing there and back. \
         The regularised stepper has its default damping time of two steps; other schemes have the same energy as St. Venant–Kirchhoff \
         forces, and no damping. Of explicit schemes we take symplectic Euler, the most stable. Energy is kinetic and that of height: each step \
         goes along a tangent and stretches the cube by about `½(hω)²`, which in a stiff body would be more elastic energy than all other, but is taken away by the next steps.",
        digits(0.25 * pendulum.period(), 4),
        digits(pendulum.period(), 4)
    ));
    side_by_side(page)?;
    stiffnesses(page, &pendulum)?;
    forms(page)
}

/// At one stiffness, with long steps.
fn side_by_side(page: &mut Page<'_>) -> anyhow::Result<()> {
    let time = 3.0;
    let swings = [
        ("constraints, 50 ms", regularized(page, YOUNG, LONG, time)?),
        ("backward Euler, 50 ms", backward(page, YOUNG, LONG, time)?),
        ("symplectic Euler, 50 ms", explicit(page, YOUNG, LONG, time)?),
        ("symplectic Euler, 0.5 ms", explicit(page, YOUNG, 5e-4, time)?),
    ];
    let plot = Plot {
        x_label: "time, s".into(),
        y_label: "turn of the centre, degrees".into(),
        series: swings.iter().map(|(name, swing)| swing.curve(*name)).collect(),
        ..Plot::default()
    };
    page.figure("swing", "The cube with `Y = 100` kPa; symplectic Euler with steps of 0.5 ms is the reference", plot)?;
    let [constraints, backward, explicit, reference] = swings.map(|(_, swing)| swing);
    let late = |swing: &Swing| swing.fall() / reference.fall() - 1.0;
    page.finding(
        "with steps of 50 ms, backward Euler slows the swing down, and regularised constraints hardly do",
        late(&backward) > 0.2 && late(&constraints).abs() < 0.05 && reference.outcome.is_finished(),
        format!(
            "the lowest point is reached {} % later than in the reference with backward Euler, {} % with constraints",
            digits(100.0 * late(&backward), 3),
            digits(100.0 * late(&constraints), 2)
        ),
    );
    let claim = "an explicit stepper explodes at that step";
    match explicit.outcome {
        Outcome::Exploded { time, .. } => page.finding(claim, true, format!("after {} s", digits(time, 2))),
        Outcome::Finished => page.finding(claim, false, format!("it swings on for {time} s")),
    }
    Ok(())
}

/// From soft to rigid, with the step of interactive programs.
fn stiffnesses(page: &mut Page<'_>, pendulum: &Pendulum) -> anyhow::Result<()> {
    let time = page.pick(30.0, 6.0);
    let (mut rows, mut angles, mut energies) = (Vec::new(), Vec::new(), Vec::new());
    let (mut all_finished, mut highest, mut gained) = (true, 0.0_f64, f64::NEG_INFINITY);
    let period = pendulum.period();
    let (mut as_predicted, mut limits) = (true, Vec::new());
    let mut falls = Vec::new();
    for young in [1e3, 1e5, 1e7, 1e9, f64::INFINITY] {
        let swing = regularized(page, young, INTERACTIVE, time)?;
        all_finished &= swing.outcome.is_finished();
        highest = highest.max(swing.highest(0.0, time));
        gained = gained.max(swing.highest(time - period, time) - swing.highest(0.0, period));
        let name = if young.is_finite() { format!("Y = {young:.0e} Pa") } else { "rigid".into() };
        let shown = swing.angles.iter().copied().take_while(|(time, _)| *time <= 4.0).collect();
        angles.push(Series::new(name.clone(), shown));
        energies.push(Series::new(name.clone(), swing.energies.clone()));
        let mut row = vec![name, digits(swing.fall(), 4), digits(100.0 * swing.lost(), 3)];
        let mut fall = [swing.fall(), f64::INFINITY];
        if young.is_finite() {
            let slow = backward(page, young, INTERACTIVE, time)?;
            all_finished &= slow.outcome.is_finished();
            fall[1] = slow.fall();
            row.extend([at(slow.fall(), time), digits(100.0 * slow.lost(), 3)]);
            let Limit { largest, at_step, below } = explicit_limit(page, young)?;
            limits.push(format!("{} ms", digits(1e3 * largest, 2)));
            as_predicted &= at_step == (INTERACTIVE < largest) && below;
            row.extend([digits(1e3 * largest, 3), if at_step { "swings" } else { "explodes" }.into()]);
        } else {
            row.extend(["–"; 4].map(String::from));
        }
        falls.push(fall);
        rows.push(row);
    }
    page.table(
        "steppers",
        &format!("Steps of 15 ms; energy is what is gone after {time} s of what the cube has to lose"),
        &[
            "stiffness",
            "constraints: time to the lowest point, s",
            "energy lost, %",
            "backward Euler: time to the lowest point, s",
            "energy lost, %",
            "limit of explicit steps, ms",
            "symplectic Euler at 15 ms",
        ],
        rows,
    )?;
    let panel = |x_label: &str, y_label: &str, series| Plot {
        x_label: x_label.into(),
        y_label: y_label.into(),
        series,
        ..Plot::default()
    };
    let panels = vec![
        panel("time, s", "turn of the centre, degrees", angles),
        panel("time, s", "energy, parts of m g d", energies),
    ];
    page.figure(
        "stiffness",
        "Regularised constraints from soft to rigid, steps of 15 ms",
        Figure { panels, ..Figure::default() },
    )?;
    let [bound, side] = if gained > 0.0 { ["at most", "above"] } else { ["at least", "below"] };
    page.finding(
        "regularised constraints are stable at steps of 15 ms from soft to rigid, and gain no energy from swing to swing",
        all_finished && gained < 1e-3 && highest < pendulum.ripple(INTERACTIVE),
        format!(
            "all finish {time} s; the highest energy of the last swing is {bound} {} % of what there is to lose {side} that of the first; within a \
             swing energy is up to {} % above the start, where positions and velocities half a step apart make {} %",
            digits(100.0 * gained.abs(), 2),
            digits(100.0 * highest, 2),
            digits(100.0 * pendulum.ripple(INTERACTIVE), 2)
        ),
    );
    let expected = 0.25 * period;
    let off = falls[2..].iter().map(|fall| (fall[0] / expected - 1.0).abs()).fold(0.0, f64::max);
    page.finding(
        "stiff cubes swing as the rigid pendulum does",
        off < 0.01,
        format!(
            "time to the lowest point within {} % of {} s from 10 MPa to rigid",
            digits(100.0 * off, 2),
            digits(expected, 4)
        ),
    );
    let slow: Vec<f64> = falls[1..4].iter().map(|fall| fall[1]).collect();
    let texts: Vec<String> = slow.iter().map(|fall| at(*fall, time)).collect();
    page.finding(
        "backward Euler slows cubes down, the more the stiffer they are",
        slow[0] > 1.04 * falls[1][0] && slow[1] > 1.5 * slow[0] && slow[2] > 1.5 * slow[1],
        format!("at the lowest point after {} s at 100 kPa, 10 MPa and 1 GPa", texts.join(", ")),
    );
    page.finding(
        "explicit steps must be below `2/ω`, which falls with the root of the stiffness",
        as_predicted,
        format!(
            "limits of {} from 1 kPa to 1 GPa; steps of 15 ms explode above the limit, steps of half of it do not",
            limits.join(", ")
        ),
    );
    Ok(())
}

/// How far explicit steps may go.
struct Limit {
    /// `2/ω` of the cube at rest, in s.
    largest: f64,
    /// Whether it swings with steps of 15 ms, and with steps of half the limit or 15 ms if that is less.
    at_step: bool,
    below: bool,
}

fn explicit_limit(page: &Page<'_>, young: f64) -> anyhow::Result<Limit> {
    let (mut model, mut solver) = (cube(young)?.elastic()?, SolverParams::default().build());
    let state = model.rest_state();
    let largest = stability(&mut model, &mut *solver, &state, INTERACTIVE)?.largest_step;
    let short = (0.5 * largest).min(INTERACTIVE);
    let time = page.pick(2.0, 0.5_f64.min(4000.0 * short));
    let at_step = explicit(page, young, INTERACTIVE, 2.0)?.outcome.is_finished();
    let below = explicit(page, young, short, time)?.outcome.is_finished();
    Ok(Limit { largest, at_step, below })
}

/// A time in s, which may not have come yet when all ended.
fn at(time: f64, end: f64) -> String {
    if time.is_finite() { digits(time, 4) } else { format!("> {end}") }
}

/// The three ways to solve the system of a step give the same motion.
fn forms(page: &mut Page<'_>) -> anyhow::Result<()> {
    let mut measured = Vec::new();
    let mut holds = true;
    // Multipliers of rigid bodies cancel each other, and with them digits.
    for (young, name, tolerance) in [(YOUNG, "100 kPa", 1e-9), (f64::INFINITY, "rigid", 1e-4)] {
        let apart = forms_apart(page, &cube(young)?, 100)?;
        holds &= apart < tolerance;
        measured.push(format!("{} ({name})", digits(apart, 2)));
    }
    page.finding(
        "the saddle system, the Schur complement and the condensed system give the same motion",
        holds,
        format!("positions after 100 steps differ by {} of the largest displacement", measured.join(" and ")),
    );
    Ok(())
}
