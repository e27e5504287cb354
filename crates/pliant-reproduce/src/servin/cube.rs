//! Swinging cube with three integrators.

use std::f64::consts::PI;

use pliant::integrator::{Integrator, LinearizedBackwardEuler, Regularized, SymplecticEuler, stability};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Fixed, Model};
use pliant::solver::SolverParams;
use pliant_pictures::{Figure, Plot, Series};

use super::setup::{GRAVITY, INTERACTIVE, Setup, forms_apart};
use crate::measure::{Outcome, digits, march_with};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "servin-cube",
    paper: &paper::SERVIN,
    part: "figures 2 and 3",
    title: "A swinging cube with three integrators",
    reports: "A cube swings about a fixed edge. An explicit integrator explodes unless its steps are tiny, backward Euler is stable but slows \
              the swing down, and regularized constraints are stable with the correct period, at any stiffness.",
    run,
};

const POISSON: f64 = 0.25;

/// Young's modulus of the comparison of the three integrators \[Pa\].
const YOUNG: f64 = 1e5;

/// Time step that is long for a period of 2.8 s \[s\].
const LONG: f64 = 0.05;

/// Creates a cube of 8 particles and 5 tetrahedra, 1 m and 8 kg, fixed at an edge, with its center at the same height.
fn cube(young: f64) -> anyhow::Result<Setup> {
    let mesh = generate::block([1.0; 3], [1; 3], Cells::Tet5)?;
    let hung = |v: &u32| mesh.vertices()[*v as usize].truncate() == Vec3::Y.truncate();
    let edge: Vec<u32> = (0..8).filter(hung).collect();
    Ok(Setup {
        mesh,
        moduli: YoungPoisson { young, poisson: POISSON },
        densities: vec![8.0],
        fixed: vec![Fixed::new(edge)],
        gravity: -GRAVITY * Vec3::new(1.0, 1.0, 0.0).normalize(),
        lumped: true,
    })
}

/// Time history of a swing.
struct Swing {
    outcome: Outcome,
    /// Time \[s\] and rotation of the center about the edge \[°\]. Hanging straight down is 90°.
    angles: Vec<(f64, f64)>,
    /// Time \[s\], and sum of kinetic and gravitational energy relative to the available potential energy.
    energies: Vec<(f64, f64)>,
}

impl Swing {
    fn new(
        page: &Page<'_>,
        what: &str,
        mut model: Model,
        integrator: &mut dyn Integrator<Model>,
        step: f64,
        time: f64,
    ) -> anyhow::Result<Self> {
        let mut state = model.rest_state();
        let to_lose = Pendulum::of(&model).energy;
        let (mut angles, mut energies) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
        let steps = (time / step).round() as usize;
        let direct = SolverParams::Direct;
        let outcome =
            march_with(page, what, direct, &mut model, integrator, &mut state, step, steps, |model, state| {
                let seen = model.observe(state);
                angles.push((state.time, angle(seen.center_of_mass)));
                energies.push((state.time, (seen.kinetic_energy + seen.gravitational_energy) / to_lose));
            })?;
        Ok(Self { outcome, angles, energies })
    }

    /// Returns the times at which the center passes below the edge \[s\].
    fn passes(&self) -> Vec<f64> {
        let pairs = self.angles.windows(2).filter(|pair| (pair[0].1 < 90.0) != (pair[1].1 < 90.0));
        pairs.map(|pair| pair[0].0 + (90.0 - pair[0].1) / (pair[1].1 - pair[0].1) * (pair[1].0 - pair[0].0)).collect()
    }

    /// Returns the time to the lowest point \[s\], or infinity if the cube does not reach it.
    fn fall(&self) -> f64 {
        self.passes().first().copied().unwrap_or(f64::INFINITY)
    }

    /// Returns the maximum energy between two times \[s\].
    fn highest(&self, from: f64, to: f64) -> f64 {
        let within = self.energies.iter().filter(|(time, _)| (from..=to).contains(time));
        within.fold(f64::NEG_INFINITY, |max, (_, energy)| max.max(*energy))
    }

    /// Returns the fraction of the available energy that is lost at the end.
    fn lost(&self) -> f64 {
        -self.energies.last().map_or(f64::NAN, |(_, energy)| *energy)
    }

    fn curve(&self, name: impl Into<String>) -> Series {
        // After an explosion, angles are meaningless.
        let end = if self.outcome.is_finished() { self.angles.len() } else { self.angles.len().min(12) };
        Series::new(name, self.angles[..end].to_vec())
    }
}

/// Pendulum equivalent to the rigid cube.
struct Pendulum {
    /// Available potential energy `m g d` at the start \[J\].
    energy: f64,
    /// Snapshot of inertia about the edge \[kg m²\].
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

    /// Returns the period \[s\] of swings with an amplitude of 90°, `2π √(I/mgd) / agm(1, cos 45°)`.
    fn period(&self) -> f64 {
        let (mut a, mut b) = (1.0, (PI / 4.0).cos());
        for _ in 0..6 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        2.0 * PI * (self.moment / self.energy).sqrt() / a
    }

    /// Returns the maximum work of gravity in half a step, relative to the available energy. It is the maximum of
    /// `½h θ̇ cos θ`, at `sin² θ = ⅓`.
    fn ripple(&self, step: f64) -> f64 {
        let sine = (1.0 / 3.0_f64).sqrt();
        let speed = (2.0 * self.energy / self.moment * sine).sqrt();
        0.5 * step * speed * (1.0 - sine * sine).sqrt()
    }
}

/// Returns the rotation of the center of mass about the edge \[°\].
fn angle(center: Vec3) -> f64 {
    let arm = center - Vec3::new(0.0, 1.0, 0.5);
    let (start, down) = (Vec3::new(1.0, -1.0, 0.0), Vec3::new(-1.0, -1.0, 0.0));
    arm.dot(down).atan2(arm.dot(start)).to_degrees()
}

fn regularized(page: &Page<'_>, young: f64, step: f64, time: f64) -> anyhow::Result<Swing> {
    let setup = cube(young)?;
    let model = setup.bare()?;
    let mut integrator = Regularized::new(&model, &setup.params())?;
    Swing::new(page, &format!("constraints at {young:e} Pa"), model, &mut integrator, step, time)
}

fn backward(page: &Page<'_>, young: f64, step: f64, time: f64) -> anyhow::Result<Swing> {
    let (setup, mut integrator) = (cube(young)?, LinearizedBackwardEuler::default());
    Swing::new(page, &format!("backward Euler at {young:e} Pa"), setup.elastic()?, &mut integrator, step, time)
}

fn explicit(page: &Page<'_>, young: f64, step: f64, time: f64) -> anyhow::Result<Swing> {
    let (setup, mut integrator) = (cube(young)?, SymplecticEuler::default());
    Swing::new(page, &format!("symplectic Euler at {young:e} Pa"), setup.elastic()?, &mut integrator, step, time)
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let pendulum = Pendulum::of(&cube(YOUNG)?.bare()?);
    page.text(format!(
        "A cube of 5 tetrahedra, 1 m and 8 kg, with lumped masses and `ν = {POISSON}`, is fixed at an edge and released with its center at the height of that \
         edge. As a rigid body it would reach the lowest point after {} s and have a period of {} s. \
         The regularized integrator has its default damping time of two steps; the other integrators use St. Venant–Kirchhoff forces with the same energy \
         and no damping. The explicit integrator is symplectic Euler, the most stable one. Energy is the sum of kinetic and gravitational energy. Each step \
         follows a tangent and stretches the cube by about `½(hω)²`. In a stiff body this elastic energy would exceed all other energy, but the next steps remove it.",
        digits(0.25 * pendulum.period(), 4),
        digits(pendulum.period(), 4)
    ));
    side_by_side(page)?;
    stiffnesses(page, &pendulum)?;
    forms(page)
}

/// Compares the integrators at one stiffness, with long steps.
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
        y_label: "rotation of the center, degrees".into(),
        series: swings.iter().map(|(name, swing)| swing.curve(*name)).collect(),
        ..Plot::default()
    };
    page.figure("swing", "The cube with `Y = 100` kPa; symplectic Euler with steps of 0.5 ms is the reference", plot)?;
    let [constraints, backward, explicit, reference] = swings.map(|(_, swing)| swing);
    let late = |swing: &Swing| swing.fall() / reference.fall() - 1.0;
    page.finding(
        "with steps of 50 ms, backward Euler slows the swing down, and regularized constraints hardly do",
        late(&backward) > 0.2 && late(&constraints).abs() < 0.05 && reference.outcome.is_finished(),
        format!(
            "the lowest point is reached {} % later than in the reference with backward Euler, {} % with constraints",
            digits(100.0 * late(&backward), 3),
            digits(100.0 * late(&constraints), 2)
        ),
    );
    let claim = "an explicit integrator explodes at that step";
    match explicit.outcome {
        Outcome::Exploded { time, .. } => page.finding(claim, true, format!("after {} s", digits(time, 2))),
        Outcome::Finished => page.finding(claim, false, format!("it is stable for {time} s")),
    }
    Ok(())
}

/// Compares the integrators from soft to rigid, with an interactive step.
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
        &format!("Steps of 15 ms; energy lost after {time} s is relative to the available potential energy"),
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
        panel("time, s", "rotation of the center, degrees", angles),
        panel("time, s", "energy relative to m g d", energies),
    ];
    page.figure(
        "stiffness",
        "Regularized constraints from soft to rigid, steps of 15 ms",
        Figure { panels, ..Figure::default() },
    )?;
    let [bound, side] = if gained > 0.0 { ["at most", "above"] } else { ["at least", "below"] };
    page.finding(
        "regularized constraints are stable with steps of 15 ms from soft to rigid, and gain no energy from swing to swing",
        all_finished && gained < 1e-3 && highest < pendulum.ripple(INTERACTIVE),
        format!(
            "all complete {time} s; the maximum energy of the last swing is {bound} {} % of the available energy {side} that of the first; within a \
             swing energy exceeds its initial value by up to {} %, where the offset of half a step between positions and velocities explains {} %",
            digits(100.0 * gained.abs(), 2),
            digits(100.0 * highest, 2),
            digits(100.0 * pendulum.ripple(INTERACTIVE), 2)
        ),
    );
    let expected = 0.25 * period;
    let off = falls[2..].iter().map(|fall| (fall[0] / expected - 1.0).abs()).fold(0.0, f64::max);
    page.finding(
        "stiff cubes swing like the rigid pendulum",
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
        "backward Euler slows stiffer cubes down more",
        slow[0] > 1.04 * falls[1][0] && slow[1] > 1.5 * slow[0] && slow[2] > 1.5 * slow[1],
        format!("at the lowest point after {} s at 100 kPa, 10 MPa and 1 GPa", texts.join(", ")),
    );
    page.finding(
        "explicit steps must be below `2/ω`, which decreases with the square root of the stiffness",
        as_predicted,
        format!(
            "limits of {} from 1 kPa to 1 GPa; steps of 15 ms explode above the limit, steps of half of it do not",
            limits.join(", ")
        ),
    );
    Ok(())
}

/// Stability limit of explicit steps.
struct Limit {
    /// Limit `2/ω` of the cube at rest \[s\].
    largest: f64,
    /// True if steps of 15 ms are stable.
    at_step: bool,
    /// True if steps of half the limit, or of 15 ms if that is less, are stable.
    below: bool,
}

fn explicit_limit(page: &Page<'_>, young: f64) -> anyhow::Result<Limit> {
    let (mut model, mut solver) = (cube(young)?.elastic()?, SolverParams::default().build());
    let state = model.rest_state();
    let largest = stability(&mut model, &mut *solver, &state, INTERACTIVE)?.max_step;
    let short = (0.5 * largest).min(INTERACTIVE);
    let time = page.pick(2.0, 0.5_f64.min(4000.0 * short));
    let at_step = explicit(page, young, INTERACTIVE, 2.0)?.outcome.is_finished();
    let below = explicit(page, young, short, time)?.outcome.is_finished();
    Ok(Limit { largest, at_step, below })
}

/// Formats a time \[s\], or `> end` if it is infinite.
fn at(time: f64, end: f64) -> String {
    if time.is_finite() { digits(time, 4) } else { format!("> {end}") }
}

/// Checks that the three forms of the system of a step give the same motion.
fn forms(page: &mut Page<'_>) -> anyhow::Result<()> {
    let mut measured = Vec::new();
    let mut holds = true;
    // Multipliers of rigid bodies nearly cancel, which loses digits.
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
