//! Twisted beam, with and without the quadratic term of the strain.

use std::f64::consts::{FRAC_PI_2, PI};

use pliant::integrator::Regularized;
use pliant::integrator::regularized::{RegularizedParams, Strain};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Fixed};
use pliant::motion::{Keyframes, Motion, Pose};
use pliant_pictures::{Figure, Plot, Series};

use super::setup::{INTERACTIVE, SectionMotion, Setup};
use crate::measure::{digits, march};
use crate::picture::{PosedSurface, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "servin-twist",
    paper: &paper::SERVIN,
    part: "figures 4 and 5",
    title: "Twist with and without the quadratic strain",
    reports: "A beam twisted at its end swells if the quadratic term of the strain is omitted, because rotation then produces \
              strain. With the term, cross section and volume are preserved.",
    run,
};

/// Length of the beam \[m\]. Its cross section is a square of 1 m.
const LENGTH: f64 = 4.0;

/// Measurements of a beam against the rotation of its end \[°\].
#[derive(Default)]
struct Seen {
    turns: Vec<(f64, f64)>,
    sections: Vec<(f64, f64)>,
    volumes: Vec<(f64, f64)>,
    surface: Option<PosedSurface>,
}

/// Returns the value of a curve at an angle \[°\], or at the next one.
fn at(curve: &[(f64, f64)], degrees: f64) -> f64 {
    curve.iter().find(|(angle, _)| *angle > degrees - 1e-6).map_or(f64::NAN, |(_, y)| *y)
}

/// Rotates an end by 180° within `time` \[s\].
fn twisted(page: &Page<'_>, strain: Strain, time: f64, offset: Vec3) -> anyhow::Result<Seen> {
    let across = page.pick(4, 2);
    let mesh = generate::block([LENGTH, 1.0, 1.0], [4 * across, across, across], Cells::Tet5)?;
    let end = |name: &str| mesh.vertex_sets()[name].clone();
    let pose = Pose { translation: Vec3::ZERO, rotation: PI * Vec3::X };
    let turn = Keyframes::new(Vec3::new(0.0, 0.5, 0.5), vec![(0.0, Pose::default()), (time, pose)])?;
    let fixed = vec![Fixed::new(end("x-min")), Fixed::prescribed(end("x-max"), Motion::Keyframes(turn))];
    let setup = Setup {
        mesh,
        moduli: YoungPoisson { young: 1e6, poisson: 0.3 },
        densities: vec![1000.0],
        fixed,
        gravity: Vec3::ZERO,
        lumped: false,
    };
    let mut assembly = Assembly::new(setup.bare()?);
    let params = RegularizedParams { strain, ..setup.params() };
    let mut stepper = Regularized::new(assembly.model(), &params)?.into();
    let mut state = assembly.rest_state();
    let mut seen = Seen::default();
    let steps = (time / INTERACTIVE).round() as usize;
    march(
        page,
        &format!("{strain:?}"),
        &mut assembly,
        &mut stepper,
        &mut state,
        INTERACTIVE,
        steps,
        |model, state| {
            let degrees = 180.0 * (state.time / time).min(1.0);
            let middle = SectionMotion::at(model, state, 0.5 * LENGTH);
            seen.turns.push((degrees, middle.turn.to_degrees()));
            seen.sections.push((degrees, middle.size * middle.size));
            seen.volumes.push((degrees, model.observe(state).volume / LENGTH));
            if degrees > 90.0 - 1e-6 && seen.surface.is_none() {
                seen.surface = Some(PosedSurface::new(model, state, offset));
            }
        },
    )?;
    Ok(seen)
}

/// Describes the experiment.
fn describe(page: &mut Page<'_>, time: f64) {
    page.text(format!(
        "A beam of {LENGTH} m × 1 m × 1 m, {} tetrahedra, `Y = 1` MPa, `ν = 0.3`, `ρ = 1000` kg/m³, is fixed at one end. The other end is rotated \
         by 180° within {time} s, with steps of 15 ms and the default damping time. Theory for the middle of a long beam: with the linear strain, a rotation `θ` of \
         the end is a tangential displacement of `sin θ` times the distance from the axis, and the middle moves by half of it. The middle therefore rotates only by `atan(½ sin θ)`, \
         and its area grows by `1 + ¼ sin² θ`, the inverse of the squared cosine of its rotation. With the quadratic term it rotates by `θ/2`. \
         It then becomes slightly thinner, with the square of the twist, because fibers away from the axis are stretched. \
         The ends keep their size. With the linear strain, they affect the middle when rotated by more than 90°, since the rotation appears as compression.",
        page.pick(1280, 160)
    ));
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let time = page.pick(12.0, 6.0);
    describe(page, time);
    let full = twisted(page, Strain::Nonlinear, time, Vec3::ZERO)?;
    let linear = twisted(page, Strain::Linear, time, Vec3::new(0.0, -2.0, 0.0))?;
    let theory: Vec<f64> = (0..=90).map(|i| f64::from(2 * i)).collect();
    let curve = |law: fn(f64) -> f64| theory.iter().map(|&degrees| (degrees, law(degrees.to_radians()))).collect();
    let panel = |y_label: &str, series: Vec<Series>| Plot {
        x_label: "rotation of the end, degrees".into(),
        y_label: y_label.into(),
        series,
        ..Plot::default()
    };
    let panels = vec![
        panel(
            "rotation of the middle, degrees",
            vec![
                Series::new("with the quadratic term", full.turns.clone()),
                Series::new("linear strain", linear.turns.clone()),
                Series::new("half the rotation", curve(|angle| 0.5 * angle.to_degrees())),
                Series::new("atan(½ sin θ)", curve(|angle| (0.5 * angle.sin()).atan().to_degrees())),
            ],
        ),
        panel(
            "area in the middle, relative",
            vec![
                Series::new("with the quadratic term", full.sections.clone()),
                Series::new("linear strain", linear.sections.clone()),
                Series::new("1 + ¼ sin² θ", curve(|angle| 1.0 + 0.25 * angle.sin().powi(2))),
            ],
        ),
        panel(
            "volume, relative",
            vec![
                Series::new("with the quadratic term", full.volumes.clone()),
                Series::new("linear strain", linear.volumes.clone()),
            ],
        ),
    ];
    page.figure(
        "twist",
        "Rotation and area of the middle of the beam, and its volume",
        Figure { panels, ..Figure::default() },
    )?;
    let surfaces: Vec<PosedSurface> = [&full, &linear].into_iter().filter_map(|seen| seen.surface.clone()).collect();
    let image =
        draw(&surfaces, "end rotated by 90°: with the quadratic term (above), linear strain (below)", [960, 640])?;
    page.picture(
        "beams",
        "The beam with its end rotated by 90°: with the quadratic term above, without it below",
        &image,
    )?;

    let row = |degrees: f64| {
        let parts = [&full, &linear].map(|seen| {
            [at(&seen.turns, degrees), at(&seen.sections, degrees), at(&seen.volumes, degrees)].map(|x| digits(x, 4))
        });
        [vec![digits(degrees, 3)], parts.concat()].concat()
    };
    let rows = [30.0, 60.0, 90.0, 120.0, 150.0, 180.0].map(row).to_vec();
    let heading = [
        "rotation of the end, °",
        "quadratic: rotation of the middle, °",
        "its area, relative",
        "volume, relative",
        "linear: rotation of the middle, °",
        "its area, relative",
        "volume, relative",
    ];
    page.table("twist-at", "Relative to rest", &heading, rows)?;

    let [kept, swollen] = [&full, &linear].map(|seen| at(&seen.volumes, 90.0) - 1.0);
    page.finding(
        "with the quadratic term the twisted beam preserves its volume; without it, the beam swells",
        kept.abs() < 0.05 && swollen > 0.2,
        format!("volume changes by {} % and {} % at 90°", digits(100.0 * kept, 2), digits(100.0 * swollen, 3)),
    );
    let expected = 1.0 + 0.25 * FRAC_PI_2.sin().powi(2);
    let area = at(&linear.sections, 90.0);
    page.finding(
        "without the term, the area of the middle grows as the inverse of the squared cosine of its rotation",
        (area / expected - 1.0).abs() < 0.05 && (at(&full.sections, 90.0) - 1.0).abs() < 0.05,
        format!(
            "{} without the term, {} by theory; {} with it",
            digits(area, 4),
            digits(expected, 4),
            digits(at(&full.sections, 90.0), 4)
        ),
    );
    let [half, none] = [&full, &linear].map(|seen| at(&seen.turns, 180.0));
    page.finding(
        "when the end is rotated by 180°, the middle rotates by 90° with the term, and returns to its initial rotation without it",
        (half - 90.0).abs() < 3.0 && none.abs() < 3.0,
        format!("{}° and {}°", digits(half, 3), digits(none, 2)),
    );
    Ok(())
}
