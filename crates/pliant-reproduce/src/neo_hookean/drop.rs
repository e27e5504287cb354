//! A soft body falls onto ground that pushes back with springs.

use pliant::damping::Damping;
use pliant::force::{Obstacle, Obstacles};
use pliant::geometry::Form;
use pliant::integrator::BackwardEuler;
use pliant::material::{AnyLaw, Elasticity, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::meshing::{Params, tetrahedralize};
use pliant::model::{Body, Model};
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Plot, Series};

use super::track::{Curve, LAWS, Stepper, Track, draw_panels};
use crate::measure::{digits, exponent, march};
use crate::picture::{Shot, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "neo-hookean-drop",
    paper: &paper::NEO_HOOKEAN,
    part: "drop on penalty ground",
    title: "A soft body falls onto penalty ground, with three neo-Hookean laws",
    reports: "A soft body is dropped onto ground of penalty springs, which pushes back in proportion to how deep a vertex is in it. The impact crushes the elements \
              below most. What is in the ground at rest is as deep as the springs are soft.",
    run,
};

/// In m/s².
const GRAVITY: f64 = 9.81;
/// In kg/m³.
const DENSITY: f64 = 1000.0;
/// Soft as jelly.
const MODULI: YoungPoisson = YoungPoisson { young: 3e4, poisson: 0.45 };
/// Of the ground, in N/m for each vertex.
const STIFFNESS: f64 = 2e3;
/// Of a step, in s.
const DT: f64 = 0.005;
/// From what heights the body falls, in m.
const LOW: f64 = 0.25;
const HIGH: f64 = 4.0;
/// How high over the ground it is when it is first looked at, in m.
const START: f64 = 0.1;
/// A body whose worst element has more than this part of its volume is back in its shape.
const HOME: f64 = 0.5;

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    falls(page)?;
    depths(page)
}

/// A head with two ears, 0.2 m wide, that stands on the ground at `y = 0`.
fn figure(cells: usize) -> anyhow::Result<VolumeMesh> {
    let ear =
        |x: f64| Form::Capsule { start: Vec3::new(0.5 * x, 0.15, 0.0), end: Vec3::new(x, 0.25, 0.0), radius: 0.025 };
    let head = Form::ball(Vec3::new(0.0, 0.1, 0.0), 0.1);
    Ok(tetrahedralize(&head.or(ear(0.08)).or(ear(-0.08)), &Params { cells, ..Params::default() })?.mesh)
}

fn on_ground(mesh: &VolumeMesh, law: impl Into<Elasticity>, ground: Obstacle) -> anyhow::Result<Model> {
    let ground = Obstacles::new(mesh.vertices(), [ground])?;
    let builder = Model::builder().body(Body::new(mesh.clone(), law, DENSITY)).force(ground);
    Ok(builder.gravity(-GRAVITY * Vec3::Y).damping(Damping::rayleigh(0.5, 0.0)?).build()?)
}

/// The last of a fall from a height, and some time after: the shot is of the impact.
fn fall(page: &Page<'_>, mesh: &VolumeMesh, law: &str, stepper: Stepper, height: f64) -> anyhow::Result<(Track, Shot)> {
    let ground = Obstacle::plane(-START * Vec3::Y, Vec3::Y, STIFFNESS);
    let mut model = on_ground(mesh, AnyLaw::new(law, MODULI)?, ground)?;
    let (mut state, mut scheme) = (model.rest_state(), stepper.build());
    let steps = |seconds: f64| (seconds / DT).round() as usize;
    let speed = (2.0 * GRAVITY * height).sqrt();
    model.set_velocity(&mut state, 0..model.vertex_count(), -speed * Vec3::Y, Vec3::ZERO, Vec3::ZERO);
    let mut track = Track::new(law);
    track.go_on(page, &mut model, &mut *scheme, &mut state, DT, steps((START + 0.15) / speed))?;
    let shot = Shot::new(&model, &state, Vec3::ZERO);
    track.go_on(page, &mut model, &mut *scheme, &mut state, DT, steps(page.pick(1.0, 0.4)))?;
    track.height.iter_mut().for_each(|(_, y)| *y += START);
    Ok((track, shot))
}

const CURVES: [Curve; 3] = [
    ("height of the centre of mass in m", |track| &track.height),
    ("volume, of that at rest", |track| &track.volume),
    ("det F of the worst element", |track| &track.worst),
];

fn falls(page: &mut Page<'_>) -> anyhow::Result<()> {
    let mesh = figure(page.pick(10, 6))?;
    page.text(format!(
        "A head with two ears, 0.27 m tall, {} tetrahedra and {} vertices made by Pliant's mesher: `Y = 30` kPa, `ν = 0.45`, `ρ = 1000` kg/m³, air that slows it with 0.5/s. The ground pushes with {} kN/m for \
         each vertex. Steps of 5 ms, linearised and full with at most {} iterations; it meets the ground as if from {LOW} m, and as if from {HIGH} m, where it goes into the ground by 44 mm in a step, more than an element.",
        mesh.element_count(),
        mesh.vertex_count(),
        STIFFNESS / 1e3,
        Stepper::ITERATIONS,
    ));
    let (mut rows, mut all, mut shots) = (Vec::new(), Vec::new(), Vec::new());
    for (height, stepper, name) in [
        (LOW, Stepper::Linearised, "linearised"),
        (LOW, Stepper::Full, "full"),
        (HIGH, Stepper::Linearised, "linearised"),
        (HIGH, Stepper::Full, "full"),
    ] {
        let mut tracks = Vec::new();
        for law in LAWS {
            let (track, shot) = fall(page, &mesh, law, stepper, height)?;
            let numbers = [track.volume_change(), track.least(), track.last_worst()].map(|number| digits(number, 3));
            let cells = vec![digits(height, 2), name.to_owned(), law.to_owned()];
            rows.push([cells, numbers.to_vec(), vec![track.ending()]].concat());
            if height == HIGH && stepper == Stepper::Full {
                shots.push(shot.moved(0.4 * shots.len() as f64 * Vec3::X));
            }
            tracks.push(track);
        }
        let caption = format!("Falling from {height} m, {name} backward Euler");
        draw_panels(page, &format!("fall-{height}-{name}"), &caption, &tracks, &CURVES)?;
        all.push(tracks);
    }
    page.picture(
        "impact",
        "Just after the impact from 4 m, full steps: the laws of Bower, of Bonet and Wood, and the stable one",
        &draw(&shots, "", [960, 400])?,
    )?;
    let heading = [
        "falls from, m",
        "backward Euler",
        "law",
        "largest change of volume",
        "least det F",
        "least det F at the end",
        "goes",
    ];
    page.table("falls", "How the body fares", &heading, rows)?;
    let [low, low_full, high, high_full] = &all[..] else { anyhow::bail!("there are four cases") };
    let least = |tracks: &[Track]| tracks.iter().map(|track| digits(track.least(), 2)).collect::<Vec<_>>().join(", ");
    let valid = |track: &Track| track.outcome.is_finished() && track.least() > 0.0;
    page.finding(
        "from 0.25 m all three laws get over the impact, with linearised and with full steps",
        low.iter().chain(low_full).all(valid),
        format!("least det F {} and {}", least(low), least(low_full)),
    );
    page.finding(
        "from 4 m linearized steps jump over the barriers of Bower and of Bonet and Wood, behind which neither law is defined; the stable law is",
        !high[0].outcome.is_finished() && !high[1].outcome.is_finished() && high[2].outcome.is_finished(),
        format!("Bower {}; Bonet and Wood {}; stable {}", high[0].ending(), high[1].ending(), high[2].ending()),
    );
    page.finding(
        "full steps do not fail: both barriers hold, and the stable law comes back",
        high_full.iter().all(|track| track.outcome.is_finished())
            && high_full[0].least().min(high_full[1].least()) > 0.0
            && high_full[2].last_worst() > HOME,
        format!(
            "least det F {} for Bower, Bonet and Wood, and stable; {} for the stable law at the end",
            least(high_full),
            digits(high_full[2].last_worst(), 2)
        ),
    );
    let changes: Vec<f64> = high_full.iter().map(Track::volume_change).collect();
    page.finding(
        "crushed, the stable law gives way most: it takes no more than a finite energy to leave no volume",
        changes[2] > changes[0].max(changes[1]),
        format!("volume changes by {} %", changes.iter().map(|c| digits(100.0 * c, 3)).collect::<Vec<_>>().join(", ")),
    );
    page.text(
        "The formula of Bower's law has a finite energy behind its barrier too, where elements would stay. A line search asks only whether the energy falls; Pliant takes the energy of inverted elements as infinite \
         for laws that are not defined there, so that full steps stay on the right side.",
    );
    Ok(())
}

/// How deep a cube of 0.2 m is in the ground at rest.
fn depths(page: &mut Page<'_>) -> anyhow::Result<()> {
    let cells = page.pick(4, 2);
    let mesh = generate::block([0.2; 3], [cells; 3], Cells::Tet5)?;
    let below = mesh.vertex_sets()["y-min"].clone();
    let weight = DENSITY * mesh.volume() * GRAVITY;
    let stiffnesses: &[f64] = page.pick(&[300.0, 1e3, 3e3, 1e4, 3e4, 1e5], &[1e3, 1e4, 1e5]);
    let (mut curves, mut rows, mut worst) = (Vec::new(), Vec::new(), 0.0_f64);
    let mut expected = Vec::new();
    for name in LAWS {
        let mut depths = Vec::new();
        for &stiffness in stiffnesses {
            let law = AnyLaw::new(name, YoungPoisson { young: 3e5, ..MODULI })?;
            let mut model = on_ground(&mesh, law, Obstacle::plane(Vec3::ZERO, Vec3::Y, stiffness))?;
            model.set_rayleigh(6.0, 0.0)?;
            let mut state = model.rest_state();
            let what = format!("{name} on ground of {stiffness} N/m");
            let steps = page.pick(150, 100);
            let outcome =
                march(page, &what, &mut model, &mut BackwardEuler::default(), &mut state, 0.02, steps, |_, _| ())?;
            anyhow::ensure!(outcome.is_finished(), "{what}: {outcome:?}");
            let depth = |vertex: &u32| -state.q[3 * *vertex as usize + 1];
            let mean = below.iter().map(depth).sum::<f64>() / below.len() as f64;
            let exact = weight / (stiffness * below.len() as f64);
            worst = worst.max((mean / exact - 1.0).abs());
            depths.push((stiffness, 1e3 * mean));
            rows.push(
                [vec![name.to_owned()], [stiffness, 1e3 * mean, 1e3 * exact].map(|x| digits(x, 4)).to_vec()].concat(),
            );
        }
        expected = depths.iter().map(|(k, _)| (*k, 1e3 * weight / (k * below.len() as f64))).collect();
        curves.push(Series { style: Style::Markers, ..Series::new(name, depths) });
    }
    let slope = exponent(&curves[2].points);
    curves.push(Series::new("ρgV / (n k)", expected));
    let plot = Plot {
        x_label: "stiffness of the ground, N/m for each vertex".into(),
        y_label: "mean depth at rest, mm".into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series: curves,
        ..Plot::default()
    };
    page.figure("depth", "How deep a cube of 0.2 m is in the ground at rest, and weight over stiffness", plot)?;
    page.table(
        "depths",
        "A cube of 0.2 m and 0.3 MPa at rest",
        &["law", "stiffness, N/m", "mean depth, mm", "ρgV/(nk), mm"],
        rows,
    )?;
    page.finding(
        "at rest the springs carry the weight, with any law: a body of `n` vertices below is in the ground by `ρgV/(nk)`",
        worst < 0.01 && (slope + 1.0).abs() < 0.01,
        format!("within {} %, depth as the stiffness to the power of {}", digits(100.0 * worst, 2), digits(slope, 4)),
    );
    Ok(())
}
