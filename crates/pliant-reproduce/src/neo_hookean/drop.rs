//! Drop of a soft body onto penalty ground.

use pliant::damping::Damping;
use pliant::force::{Obstacle, Obstacles};
use pliant::geometry::ImplicitSolid;
use pliant::integrator::BackwardEuler;
use pliant::material::{AnyLaw, Material, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::meshing::{MeshingParams, tetrahedralize};
use pliant::model::{Assembly, Body, Model};
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Plot, Series};

use super::track::{Curve, LAWS, Stepper, Track, draw_panels};
use crate::bodies::{DENSITY, GRAVITY};
use crate::measure::{digits, exponent, march};
use crate::picture::{PosedSurface, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "neo-hookean-drop",
    paper: &paper::NEO_HOOKEAN,
    part: "drop on penalty ground",
    title: "Drop of a soft body onto penalty ground, with three neo-Hookean laws",
    reports: "A soft body is dropped onto penalty ground, whose force is proportional to the penetration depth of a vertex. The impact crushes the lowest elements \
              most. At rest the penetration depth is inversely proportional to the stiffness of the springs.",
    run,
};

/// Moduli of a material as soft as jelly.
const MODULI: YoungPoisson = YoungPoisson { young: 3e4, poisson: 0.45 };
/// Stiffness of the ground per vertex \[N/m\].
const STIFFNESS: f64 = 2e3;
/// Time step \[s\].
const DT: f64 = 0.005;
/// Low drop height \[m\].
const LOW: f64 = 0.25;
/// High drop height \[m\].
const HIGH: f64 = 4.0;
/// Height above the ground at the start of the simulation \[m\].
const START: f64 = 0.1;
/// Minimum `det F` above which a body has recovered its shape.
const HOME: f64 = 0.5;

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    falls(page)?;
    depths(page)
}

/// Creates a head with two ears, 0.2 m wide, with its lowest point at `y = 0`.
fn figure(cells: usize) -> anyhow::Result<VolumeMesh> {
    let ear = |x: f64| ImplicitSolid::Capsule {
        start: Vec3::new(0.5 * x, 0.15, 0.0),
        end: Vec3::new(x, 0.25, 0.0),
        radius: 0.025,
    };
    let head = ImplicitSolid::ball(Vec3::new(0.0, 0.1, 0.0), 0.1);
    Ok(tetrahedralize(&head.or(ear(0.08)).or(ear(-0.08)), &MeshingParams { cells, ..MeshingParams::default() })?.mesh)
}

fn on_ground(mesh: &VolumeMesh, law: impl Into<Material>, ground: Obstacle) -> anyhow::Result<Model> {
    let ground = Obstacles::new(mesh.shared_vertices().clone(), [ground])?;
    let builder = Model::builder().body(Body::new(mesh.clone(), law, DENSITY)).force(ground);
    Ok(builder.gravity(-GRAVITY * Vec3::Y).damping(Damping::rayleigh(0.5, 0.0)?).build()?)
}

/// Simulates the end of a fall from `height` and some time after. The surface shows the impact.
fn fall(
    page: &Page<'_>,
    mesh: &VolumeMesh,
    law: &str,
    stepper: Stepper,
    height: f64,
) -> anyhow::Result<(Track, PosedSurface)> {
    let ground = Obstacle::plane(-START * Vec3::Y, Vec3::Y, STIFFNESS);
    let mut assembly = Assembly::new(on_ground(mesh, AnyLaw::new(law, MODULI)?, ground)?);
    let (mut state, mut stepper) = (assembly.rest_state(), stepper.build());
    let steps = |seconds: f64| (seconds / DT).round() as usize;
    let speed = (2.0 * GRAVITY * height).sqrt();
    let model = assembly.model();
    model.set_velocity(&mut state, 0..model.node_count(), -speed * Vec3::Y, Vec3::ZERO, Vec3::ZERO);
    let mut track = Track::new(law);
    track.advance(page, &mut assembly, &mut stepper, &mut state, DT, steps((START + 0.15) / speed))?;
    let surface = PosedSurface::new(assembly.model(), &state, Vec3::ZERO);
    track.advance(page, &mut assembly, &mut stepper, &mut state, DT, steps(page.pick(1.0, 0.4)))?;
    track.height.iter_mut().for_each(|(_, y)| *y += START);
    Ok((track, surface))
}

const CURVES: [Curve; 3] = [
    ("height of the center of mass in m", |track| &track.height),
    ("volume relative to rest", |track| &track.volume),
    ("det F of the worst element", |track| &track.worst),
];

fn falls(page: &mut Page<'_>) -> anyhow::Result<()> {
    let mesh = figure(page.pick(10, 6))?;
    page.text(format!(
        "The body is a head with two ears, 0.27 m tall, with {} tetrahedra and {} vertices created by Pliant's mesher. It has `Y = 30` kPa, `ν = 0.45`, `ρ = 1000` kg/m³ and mass-proportional damping of 0.5/s. The ground has a stiffness of {} kN/m per \
         vertex. Steps are 5 ms long, linearized, or full with at most {} iterations. The body hits the ground with the speed of a fall from {LOW} m, or from {HIGH} m, where it penetrates the ground by 44 mm in one step, more than the size of an element.",
        mesh.element_count(),
        mesh.vertex_count(),
        STIFFNESS / 1e3,
        Stepper::ITERATIONS,
    ));
    let (mut rows, mut all, mut surfaces) = (Vec::new(), Vec::new(), Vec::new());
    for (height, stepper, name) in [
        (LOW, Stepper::Linearized, "linearized"),
        (LOW, Stepper::Full, "full"),
        (HIGH, Stepper::Linearized, "linearized"),
        (HIGH, Stepper::Full, "full"),
    ] {
        let mut tracks = Vec::new();
        for law in LAWS {
            let (track, surface) = fall(page, &mesh, law, stepper, height)?;
            let numbers = [track.volume_change(), track.min_det(), track.last_worst()].map(|number| digits(number, 3));
            let cells = vec![digits(height, 2), name.to_owned(), law.to_owned()];
            rows.push([cells, numbers.to_vec(), vec![track.ending()]].concat());
            if height == HIGH && stepper == Stepper::Full {
                surfaces.push(surface.moved(0.4 * surfaces.len() as f64 * Vec3::X));
            }
            tracks.push(track);
        }
        let caption = format!("Falling from {height} m, {name} backward Euler");
        draw_panels(page, &format!("fall-{height}-{name}"), &caption, &tracks, &CURVES)?;
        all.push(tracks);
    }
    page.picture(
        "impact",
        "Just after the impact from 4 m, full steps: the laws of Bower, of Bonet and Wood, and the stable law",
        &draw(&surfaces, "", [960, 400])?,
    )?;
    let heading = [
        "falls from, m",
        "backward Euler",
        "law",
        "largest change of volume",
        "minimum det F",
        "minimum det F at the end",
        "outcome",
    ];
    page.table("falls", "Outcomes", &heading, rows)?;
    let [low, low_full, high, high_full] = &all[..] else { anyhow::bail!("expected four cases") };
    let min = |tracks: &[Track]| tracks.iter().map(|track| digits(track.min_det(), 2)).collect::<Vec<_>>().join(", ");
    let valid = |track: &Track| track.outcome.is_finished() && track.min_det() > 0.0;
    page.finding(
        "from 0.25 m all three laws survive the impact, with linearized and with full steps",
        low.iter().chain(low_full).all(valid),
        format!("minimum det F {} and {}", min(low), min(low_full)),
    );
    page.finding(
        "from 4 m linearized steps jump over the barriers of Bower and of Bonet and Wood, beyond which both laws are undefined; the stable law is defined everywhere",
        !high[0].outcome.is_finished() && !high[1].outcome.is_finished() && high[2].outcome.is_finished(),
        format!("Bower {}; Bonet and Wood {}; stable {}", high[0].ending(), high[1].ending(), high[2].ending()),
    );
    page.finding(
        "full steps do not fail: both barriers prevent inversion, and the stable law recovers",
        high_full.iter().all(|track| track.outcome.is_finished())
            && high_full[0].min_det().min(high_full[1].min_det()) > 0.0
            && high_full[2].last_worst() > HOME,
        format!(
            "minimum det F {} for Bower, Bonet and Wood, and stable; {} for the stable law at the end",
            min(high_full),
            digits(high_full[2].last_worst(), 2)
        ),
    );
    let changes: Vec<f64> = high_full.iter().map(Track::volume_change).collect();
    page.finding(
        "the stable law compresses most: its energy stays finite at zero volume",
        changes[2] > changes[0].max(changes[1]),
        format!("volume changes by {} %", changes.iter().map(|c| digits(100.0 * c, 3)).collect::<Vec<_>>().join(", ")),
    );
    page.text(
        "The formula of Bower's law also has a finite energy beyond its barrier, where elements would stay. A line search checks only that the energy decreases. Pliant treats the energy of inverted elements as infinite \
         for laws that are undefined there, so that full steps do not cross the barrier.",
    );
    Ok(())
}

/// Measures the penetration depth of a cube of 0.2 m at rest.
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
            let mut assembly = Assembly::new(model);
            let mut state = assembly.rest_state();
            let what = format!("{name} on ground of {stiffness} N/m");
            let steps = page.pick(150, 100);
            let outcome = march(
                page,
                &what,
                &mut assembly,
                &mut BackwardEuler::default().into(),
                &mut state,
                0.02,
                steps,
                |_, _| (),
            )?;
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
        x_label: "stiffness of the ground per vertex, N/m".into(),
        y_label: "mean depth at rest, mm".into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series: curves,
        ..Plot::default()
    };
    page.figure("depth", "Penetration depth of a cube of 0.2 m at rest, and weight divided by stiffness", plot)?;
    page.table(
        "depths",
        "A cube of 0.2 m and 0.3 MPa at rest",
        &["law", "stiffness, N/m", "mean depth, mm", "ρgV/(nk), mm"],
        rows,
    )?;
    page.finding(
        "at rest the springs carry the weight for any law: a body with `n` vertices on the ground penetrates it by `ρgV/(nk)`",
        worst < 0.01 && (slope + 1.0).abs() < 0.01,
        format!("within {} %; the depth is proportional to the stiffness to the power of {}", digits(100.0 * worst, 2), digits(slope, 4)),
    );
    Ok(())
}
