//! Release of a stretched bar.

use std::f64::consts::TAU;

use pliant::material::{AnyLaw, Material, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::motion::{Keyframes, Pose};
use pliant::system::State;

use super::track::{Curve, LAWS, Stepper, Track, draw_panels};
use super::{crash, laws};
use crate::bodies::DENSITY;
use crate::measure::digits;
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "neo-hookean-release",
    paper: &paper::NEO_HOOKEAN,
    part: "stretch and release",
    title: "Release of a stretched bar, with three neo-Hookean laws",
    reports: "A soft bar with linearized and a stiff one with full backward Euler are stretched and released; total volume and the worst element are recorded. The laws \
              of Bower and of Bonet and Wood have a barrier against elements of zero volume, which does not stop a linearized step that jumps over it. The stable \
              law has no barrier, is defined everywhere and recovers. With a line search the barriers prevent inversion.",
    run,
};

/// Length and thickness of the bar \[m\].
const SIZE: [f64; 3] = [1.0, 0.25, 0.25];
/// End of the pull \[s\].
const PULLED: f64 = 0.5;
/// Time of the release \[s\].
const RELEASE_TIME: f64 = 0.6;
/// Moduli of the soft bar.
pub const SOFT: YoungPoisson = YoungPoisson { young: 1e5, poisson: 0.45 };
/// Moduli of the stiff bar.
pub const STIFF: YoungPoisson = YoungPoisson { young: 1e7, poisson: 0.48 };

/// Loading of a bar.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub stepper: Stepper,
    /// Length before the release, relative to rest.
    pub stretch: f64,
    /// Number of turns by which the end is twisted.
    pub turns: f64,
    /// Time step \[s\].
    pub dt: f64,
    /// End time \[s\].
    pub end: f64,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    laws::show(page)?;
    let across = page.pick(4, 2);
    let mesh = generate::block(SIZE, [4 * across, across, across], Cells::Tet5)?;
    page.text(format!(
        "The bar of 1 × 0.25 × 0.25 m has {} tetrahedra, {} vertices and `ρ = 1000` kg/m³. One end is fixed. The other is pulled for {PULLED} s, kept in place until {RELEASE_TIME} s, and released. There is no gravity \
         and only the numerical damping of backward Euler. Soft: `Y = 0.1` MPa, `ν = 0.45`, linearized steps of 10 ms. Stiff: `Y = 10` MPa, `ν = 0.48`, full steps of 5 ms with at most {} iterations of Newton's method, \
         and also twisted by one turn.",
        mesh.element_count(),
        mesh.vertex_count(),
        Stepper::ITERATIONS,
    ));
    soft(page, &mesh)?;
    crash::show(page, &mesh)?;
    stiff(page, &mesh)
}

/// Pulls a bar, keeps it stretched, and releases it.
pub fn release(
    page: &Page<'_>,
    name: &str,
    mesh: &VolumeMesh,
    law: impl Into<Material>,
    case: Case,
) -> anyhow::Result<(Track, Assembly, State)> {
    let Case { stepper, stretch, turns, dt, end } = case;
    let far = mesh.vertex_sets()["x-max"].clone();
    let center = Vec3::new(SIZE[0], 0.5 * SIZE[1], 0.5 * SIZE[2]);
    let pose = Pose { translation: (stretch - 1.0) * SIZE[0] * Vec3::X, rotation: turns * TAU * Vec3::X };
    let pull = Keyframes::new(center, vec![(0.0, Pose::default()), (PULLED, pose)])?;
    let model = Model::builder()
        .body(Body::new(mesh.clone(), law, DENSITY))
        .fix(Fixed::new(mesh.vertex_sets()["x-min"].clone()))
        .fix(Fixed::prescribed(far.clone(), pull))
        .build()?;
    let mut assembly = Assembly::new(model);
    let (mut state, mut stepper, mut track) = (assembly.rest_state(), stepper.build(), Track::new(name));
    let steps = |seconds: f64| (seconds / dt).round() as usize;
    track.advance(page, &mut assembly, &mut stepper, &mut state, dt, steps(RELEASE_TIME))?;
    assembly.model_mut().release(&far);
    track.advance(page, &mut assembly, &mut stepper, &mut state, dt, steps(end - RELEASE_TIME))?;
    Ok((track, assembly, state))
}

/// Releases a bar with each of the three laws, without remedies.
fn of_laws(page: &Page<'_>, mesh: &VolumeMesh, moduli: YoungPoisson, case: Case) -> anyhow::Result<Vec<Track>> {
    let of_law = |name: &&str| Ok(release(page, name, mesh, AnyLaw::new(name, moduli)?, case)?.0);
    LAWS.iter().map(of_law).collect()
}

/// Curves that are drawn for each track.
pub const CURVES: [Curve; 2] =
    [("volume relative to rest", |track| &track.volume), ("det F of the worst element", |track| &track.worst)];

fn table(page: &mut Page<'_>, name: &str, caption: &str, tracks: &[Track]) -> anyhow::Result<()> {
    let row = |track: &Track| {
        let numbers =
            [track.volume_at(RELEASE_TIME), track.min_det(), track.last_worst()].map(|number| digits(number, 3));
        [vec![track.name.clone()], numbers.to_vec(), vec![track.ending()]].concat()
    };
    let heading =
        ["law", "volume at release, relative to rest", "minimum det F", "minimum det F at the end", "outcome"];
    page.table(name, caption, &heading, tracks.iter().map(row).collect())
}

/// Formats a quantity of each track as text.
fn each(tracks: &[Track], what: impl Fn(&Track) -> f64) -> String {
    let one = |track: &Track| format!("{} {}", track.name, digits(what(track), 3));
    tracks.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn soft(page: &mut Page<'_>, mesh: &VolumeMesh) -> anyhow::Result<()> {
    let case = Case { stepper: Stepper::Linearized, stretch: 4.0, turns: 0.0, dt: 0.01, end: page.pick(3.0, 2.0) };
    let tracks = of_laws(page, mesh, SOFT, case)?;
    draw_panels(
        page,
        "soft",
        "Soft bar, stretched to four times its length, linearized backward Euler",
        &tracks,
        &CURVES,
    )?;
    table(page, "soft-at", "Soft bar, stretched to four times its length", &tracks)?;
    page.finding(
        "after a release from four times its length, the soft bar recovers with all three laws",
        tracks.iter().all(|track| track.outcome.is_finished() && track.last_worst() > 0.9),
        format!("minimum det F at the end: {}", each(&tracks, Track::last_worst)),
    );
    page.finding(
        "the barriers prevent inversion of all elements, while with the stable law some invert and recover",
        tracks[0].min_det() > 0.0 && tracks[1].min_det() > 0.0 && tracks[2].min_det() < 0.0,
        format!("minimum det F: {}", each(&tracks, Track::min_det)),
    );
    let grown: Vec<f64> = tracks.iter().map(|track| track.volume_at(RELEASE_TIME) - 1.0).collect();
    page.finding(
        "with equal moduli near rest, the stable law preserves the volume best when stretched, followed by the laws of Bonet and Wood and of Bower",
        grown[2] < grown[1] && grown[1] < grown[0],
        format!("volume at release: {}", each(&tracks, |track| track.volume_at(RELEASE_TIME))),
    );
    Ok(())
}

fn stiff(page: &mut Page<'_>, mesh: &VolumeMesh) -> anyhow::Result<()> {
    let end = page.pick(2.0, 1.0);
    let case = Case { stepper: Stepper::Full, stretch: 3.0, turns: 1.0, dt: 0.005, end };
    let tracks = of_laws(page, mesh, STIFF, case)?;
    draw_panels(
        page,
        "stiff",
        "Stiff bar, stretched to three times its length and twisted by one turn, full backward Euler",
        &tracks,
        &CURVES,
    )?;
    table(page, "stiff-at", "Stiff bar, stretched to three times its length and twisted by one turn", &tracks)?;
    page.finding(
        "with full backward Euler the stiff bar recovers with all three laws, and no element inverts",
        tracks.iter().all(|track| track.outcome.is_finished() && track.min_det() > 0.0 && track.last_worst() > 0.9),
        format!("minimum det F: {}", each(&tracks, Track::min_det)),
    );
    let soft = Case { stepper: Stepper::Full, stretch: 5.5, turns: 0.0, dt: 0.01, end };
    let law = AnyLaw::new(LAWS[1], SOFT)?;
    let (track, ..) = release(page, LAWS[1], mesh, law, soft)?;
    page.finding(
        "with the law of Bonet and Wood and a line search, no element inverts in the soft bar for which linearized steps fail",
        track.outcome.is_finished() && track.min_det() > 0.0,
        format!("minimum det F {}", digits(track.min_det(), 3)),
    );
    let last = |track: &Track| track.volume.last().map_or(f64::NAN, |(_, volume)| *volume);
    let off = tracks.iter().map(|track| (last(track) - 1.0).abs()).fold(0.0, f64::max);
    page.finding("the volume returns to that at rest", off < 0.01, format!("within {} %", digits(100.0 * off, 2)));
    Ok(())
}
