//! Rod under tension and torsion on five meshes, compared with theory.

use pliant::integrator::Regularized;
use pliant::integrator::regularized::RegularizedParams;
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Fixed, Model};
use pliant::motion::{Keyframes, Motion, Pose};
use pliant::system::State;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use super::setup::{SectionMotion, Setup};
use crate::measure::{digits, exponent, march};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "servin-theory",
    paper: &paper::SERVIN,
    part: "figures 8 and 9",
    title: "Tension and torsion against theory",
    reports: "The axial force and the torque of a rod converge to those of the theory of elasticity under mesh refinement.",
    run,
};

/// Length of the rod \[m\]. Its cross section is a square of 1 m.
const LENGTH: f64 = 4.0;

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.3 };

/// Saint-Venant's torsion constant of a square with sides of 1 m \[m⁴\].
const TORSION: f64 = 0.140_577;

/// Load steps as fractions of the maximum displacement of the end.
const PARTS: [f64; 5] = [0.002, 0.25, 0.5, 0.75, 1.0];

/// Maximum elongation relative to the length.
const MAX_STRETCH: f64 = 0.2;

/// Maximum rotation of the end \[rad\].
const MAX_ANGLE: f64 = std::f64::consts::FRAC_PI_2;

/// Number of time steps per load step. The first moves the end; each is a Newton iteration, since `γ = 1`.
const STEPS: usize = 7;
/// Time step \[s\].
const STEP: f64 = 100.0;

/// Measurements in an equilibrium.
#[derive(Clone, Copy)]
struct Measured {
    /// Axial force on the end \[N\].
    force: f64,
    /// Torque on the end about the axis \[N m\].
    torque: f64,
    /// Axial strain of the middle half.
    stretch: f64,
    /// Twist per length of the middle half \[rad/m\].
    twist: f64,
}

impl Measured {
    /// Measures force and torque from the elastic forces of the equivalent model `twin`.
    fn new(twin: &Model, state: &State) -> Self {
        let mut forces = vec![0.0; state.q.len()];
        twin.internal_force(&state.q, &mut forces);
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        let positions = twin.positions(state);
        for ((rest, x), f) in twin.rest().iter().zip(positions).zip(forces.chunks_exact(3)) {
            if rest.x > LENGTH - 1e-9 {
                let f = Vec3::from_slice(f);
                force += f;
                torque += (x - Vec3::new(0.0, 0.5, 0.5)).cross(f);
            }
        }
        let [near, far] = [0.25, 0.75].map(|part| SectionMotion::at(twin, state, part * LENGTH));
        let length = 0.5 * LENGTH;
        Self {
            force: force.x,
            torque: torque.x,
            stretch: (far.place - near.place) / length - 1.0,
            twist: (far.turn - near.turn) / length,
        }
    }
}

/// Returns the force of the St. Venant–Kirchhoff law at a strain \[N\].
fn law(stretch: f64) -> f64 {
    MODULI.young * (1.0 + stretch) * (stretch + 0.5 * stretch * stretch)
}

/// Moves the end of a rod with `across` cells across its width by fractions of a pose, and measures each equilibrium.
fn measure(page: &Page<'_>, what: &str, across: usize, pose: Pose) -> anyhow::Result<Vec<Measured>> {
    let mesh = generate::block([LENGTH, 1.0, 1.0], [4 * across, across, across], Cells::Tet5)?;
    let end = |name: &str| mesh.vertex_sets()[name].clone();
    let part = |part: f64| Pose { translation: part * pose.translation, rotation: part * pose.rotation };
    let mut keyframes = vec![(0.0, Pose::default())];
    for (number, &size) in PARTS.iter().enumerate() {
        let start = (number * STEPS) as f64 * STEP;
        keyframes.extend([(start + STEP, part(size)), (start + STEPS as f64 * STEP, part(size))]);
    }
    let motion = Motion::Keyframes(Keyframes::new(Vec3::new(0.0, 0.5, 0.5), keyframes)?);
    let setup = Setup {
        fixed: vec![Fixed::new(end("x-min")), Fixed::prescribed(end("x-max"), motion)],
        mesh,
        moduli: MODULI,
        densities: vec![1000.0],
        gravity: Vec3::ZERO,
        lumped: false,
    };
    let (mut model, twin) = (setup.bare()?, setup.elastic()?);
    let params = RegularizedParams { damping_time: Some(0.5 * STEP), ..setup.params() };
    let mut integrator = Regularized::new(&model, &params)?;
    let mut state = model.rest_state();
    let what = format!("{what} with {across} cells across");
    let mut all = Vec::new();
    for _ in PARTS {
        march(page, &what, &mut model, &mut integrator, &mut state, STEP, STEPS, |_, _| {})?;
        all.push(Measured::new(&twin, &state));
    }
    Ok(all)
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let meshes: [usize; 5] = page.pick([1, 2, 4, 6, 10], [1, 2, 3, 4, 6]);
    page.text(format!(
        "A rod of {LENGTH} m × 1 m × 1 m with `Y = 1` MPa and `ν = 0.3` is fixed at one end. The other end is pulled by up to {} %, or rotated by up to 90°, \
         in load steps, each until equilibrium, with steps of 100 s and `γ = 1`. Force and torque are measured on that end. Both ends keep their \
         shape, so the middle half is compared with theory: `F = Y A ε` and `T = G J θ′`, with Saint-Venant's `J = 0.1406 a⁴` of a square. Large strains are compared with \
         `F = Y A (1 + ε)(ε + ½ε²)` of the law.",
        100.0 * MAX_STRETCH
    ));
    let shear = MODULI.mu();
    let (mut rows, mut pulls, mut twists) = (Vec::new(), Vec::new(), Vec::new());
    let (mut pull_errors, mut twist_errors) = (Vec::new(), Vec::new());
    let mut large = 0.0_f64;
    for across in meshes {
        let pull = Pose { translation: MAX_STRETCH * LENGTH * Vec3::X, rotation: Vec3::ZERO };
        let pulled = measure(page, "pull", across, pull)?;
        let turn = Pose { translation: Vec3::ZERO, rotation: MAX_ANGLE * Vec3::X };
        let twisted = measure(page, "twist", across, turn)?;
        let name = format!("{} tetrahedra", 20 * across.pow(3));
        let origin = std::iter::once((0.0, 0.0));
        let points = origin.clone().chain(pulled.iter().map(|m| (100.0 * m.stretch, 1e-3 * m.force)));
        pulls.push(Series { style: Style::LineAndMarkers, ..Series::new(name.clone(), points.collect()) });
        let points = origin.chain(twisted.iter().map(|m| (m.twist.to_degrees(), 1e-3 * m.torque)));
        twists.push(Series { style: Style::LineAndMarkers, ..Series::new(name, points.collect()) });
        // Only the smallest load is compared with Hooke's law; all are compared with the curve of the law.
        for m in &pulled {
            large = large.max((m.force / law(m.stretch) - 1.0).abs());
        }
        let (pull, twist) = (pulled[0], twisted[0]);
        let pull_error = pull.force / (MODULI.young * pull.stretch) - 1.0;
        let twist_error = twist.torque / (shear * TORSION * twist.twist) - 1.0;
        let whole = pull.force / (MODULI.young * PARTS[0] * MAX_STRETCH) - 1.0;
        rows.push(vec![
            (20 * across.pow(3)).to_string(),
            digits(1.0 / across as f64, 3),
            digits(100.0 * pull_error, 3),
            digits(100.0 * whole, 3),
            digits(100.0 * twist_error, 3),
        ]);
        let cell = 1.0 / across as f64;
        pull_errors.push((cell, pull_error));
        twist_errors.push((cell, twist_error));
    }
    figure(page, pulls, twists, &twist_errors)?;
    page.table(
        "errors",
        &format!(
            "Errors of force and torque relative to theory, in %, for small loads: an elongation of {} % and a rotation of {}°",
            digits(100.0 * PARTS[0] * MAX_STRETCH, 2),
            digits((PARTS[0] * MAX_ANGLE).to_degrees(), 2)
        ),
        &["tetrahedra", "cell size, m", "force, middle half", "force, whole rod", "torque, middle half"],
        rows,
    )?;

    let worst = pull_errors[1..].iter().map(|(_, error)| error.abs()).fold(0.0, f64::max);
    page.finding(
        "the force of a stretched rod is `Y A ε`",
        worst < 0.01 && pull_errors[4].1.abs() < 2e-3,
        format!(
            "within {} % for {} tetrahedra or more, {} % on the finest mesh",
            digits(100.0 * worst, 2),
            20 * meshes[1].pow(3),
            digits(100.0 * pull_errors[4].1, 2)
        ),
    );
    page.finding(
        "for large strains it is the force of the law",
        large < 0.05,
        format!("within {} % up to {} %", digits(100.0 * large, 2), 100.0 * MAX_STRETCH),
    );
    let order = exponent(&twist_errors[2..]);
    let falling = twist_errors.windows(2).all(|pair| pair[1].1 < pair[0].1) && twist_errors[4].1 > 0.0;
    page.finding(
        "the torque of a twisted rod converges to theory from above, with the square of the cell size",
        falling && (1.6..2.3).contains(&order),
        format!(
            "errors of {} %; power {} of the cell size on the finest three meshes",
            twist_errors.iter().map(|(_, error)| digits(100.0 * error, 3)).collect::<Vec<_>>().join(", "),
            digits(order, 3)
        ),
    );
    let [(coarse, coarse_error), (fine, fine_error)] = [twist_errors[3], twist_errors[4]];
    let factor = (coarse / fine).powi(2);
    let limit = (factor * fine_error - coarse_error) / (factor - 1.0);
    page.finding(
        "its extrapolation to cell size zero agrees with theory",
        limit.abs() < 0.02,
        format!("error of {} %, extrapolated from the finest two meshes", digits(100.0 * limit, 2)),
    );
    Ok(())
}

fn figure(
    page: &mut Page<'_>,
    mut pulls: Vec<Series>,
    mut twists: Vec<Series>,
    twist_errors: &[(f64, f64)],
) -> anyhow::Result<()> {
    let line = |name: &str, max: f64, y: &dyn Fn(f64) -> f64| {
        let points = (0..=50).map(|i| max * f64::from(i) / 50.0).map(|x| (x, y(x))).collect();
        Series::new(name, points)
    };
    pulls.push(line("Hooke's law", 100.0 * MAX_STRETCH, &|percent| 1e-5 * MODULI.young * percent));
    pulls.push(line("St. Venant–Kirchhoff", 100.0 * MAX_STRETCH, &|percent| 1e-3 * law(0.01 * percent)));
    let steepest = (MAX_ANGLE / LENGTH).to_degrees();
    twists.push(line("Saint-Venant", steepest, &|degrees| 1e-3 * MODULI.mu() * TORSION * degrees.to_radians()));
    let panel = |x_label: &str, y_label: &str, series| Plot {
        x_label: x_label.into(),
        y_label: y_label.into(),
        series,
        ..Plot::default()
    };
    let errors = twist_errors.iter().map(|(cell, error)| (*cell, 100.0 * error)).collect();
    let convergence = Plot {
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        ..panel(
            "cell size, m",
            "error of the torque, %",
            vec![Series { style: Style::LineAndMarkers, ..Series::new("twist", errors) }],
        )
    };
    let panels = vec![
        panel("strain of the middle half, %", "force, kN", pulls),
        panel("twist of the middle half, °/m", "torque, kN m", twists),
        convergence,
    ];
    page.figure("theory", "Force and torque on the end", Figure { panels, ..Figure::default() })
}
