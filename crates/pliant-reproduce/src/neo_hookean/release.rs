//! A bar is stretched and let go.

use std::f64::consts::TAU;

use pliant::material::{AnyLaw, Elasticity, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Body, Hold, Model};
use pliant::motion::{Keyframes, Pose};
use pliant::system::State;

use super::track::{Curve, LAWS, Stepper, Track, draw_panels};
use super::{crash, laws};
use crate::measure::digits;
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "neo-hookean-release",
    paper: &paper::NEO_HOOKEAN,
    part: "stretch and release",
    title: "A stretched bar is let go, with three neo-Hookean laws",
    reports: "A soft bar with linearised and a stiff one with full backward Euler are stretched and let go; total volume and the worst element are followed. The laws \
              of Bower and of Bonet and Wood have a barrier against elements without volume, which is of no use to a linearised step that jumps over it. The stable \
              law has none, is defined everywhere and comes back. With a line search the barriers hold.",
    run,
};

/// Length and thickness of the bar, in m.
const SIZE: [f64; 3] = [1.0, 0.25, 0.25];
/// In kg/m³.
const DENSITY: f64 = 1000.0;
/// Until when the bar is pulled, and until when it is then held, in s.
const PULLED: f64 = 0.5;
const HELD: f64 = 0.6;
/// Of the soft bar.
pub const SOFT: YoungPoisson = YoungPoisson { young: 1e5, poisson: 0.45 };
/// Of the stiff one.
pub const STIFF: YoungPoisson = YoungPoisson { young: 1e7, poisson: 0.48 };

/// What is done to a bar.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub stepper: Stepper,
    /// Length before it is let go, as a multiple of that at rest.
    pub stretch: f64,
    /// By how many turns the end is twisted.
    pub turns: f64,
    /// Of a step, and when it ends, in s.
    pub dt: f64,
    pub end: f64,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    laws::show(page)?;
    let across = page.pick(4, 2);
    let mesh = generate::block(SIZE, [4 * across, across, across], Cells::Tet5)?;
    page.text(format!(
        "The bar of 1 × 0.25 × 0.25 m, {} tetrahedra and {} vertices with `ρ = 1000` kg/m³, is held at one end, pulled at the other for {PULLED} s, held until {HELD} s, and let go; there is neither gravity \
         nor damping but that of backward Euler. Soft: `Y = 0.1` MPa, `ν = 0.45`, linearised steps of 10 ms. Stiff: `Y = 10` MPa, `ν = 0.48`, full steps of 5 ms with at most {} iterations of Newton's method, \
         and twisted by one turn besides.",
        mesh.element_count(),
        mesh.vertex_count(),
        Stepper::ITERATIONS,
    ));
    soft(page, &mesh)?;
    crash::show(page, &mesh)?;
    stiff(page, &mesh)
}

/// Pull, hold and let go.
pub fn release(
    page: &Page<'_>,
    name: &str,
    mesh: &VolumeMesh,
    law: impl Into<Elasticity>,
    case: Case,
) -> anyhow::Result<(Track, Model, State)> {
    let Case { stepper, stretch, turns, dt, end } = case;
    let far = mesh.vertex_sets()["x-max"].clone();
    let centre = Vec3::new(SIZE[0], 0.5 * SIZE[1], 0.5 * SIZE[2]);
    let pose = Pose { translation: (stretch - 1.0) * SIZE[0] * Vec3::X, rotation: turns * TAU * Vec3::X };
    let pull = Keyframes::new(centre, vec![(0.0, Pose::default()), (PULLED, pose)])?;
    let mut model = Model::builder()
        .body(Body::new(mesh.clone(), law, DENSITY))
        .hold(Hold::fixed(mesh.vertex_sets()["x-min"].clone()))
        .hold(Hold::moving(far.clone(), pull))
        .build()?;
    let (mut state, mut scheme, mut track) = (model.rest_state(), stepper.build(), Track::new(name));
    let steps = |seconds: f64| (seconds / dt).round() as usize;
    track.go_on(page, &mut model, &mut *scheme, &mut state, dt, steps(HELD))?;
    model.release(&far);
    track.go_on(page, &mut model, &mut *scheme, &mut state, dt, steps(end - HELD))?;
    Ok((track, model, state))
}

/// All three laws, bare.
fn of_laws(page: &Page<'_>, mesh: &VolumeMesh, moduli: YoungPoisson, case: Case) -> anyhow::Result<Vec<Track>> {
    let of_law = |name: &&str| Ok(release(page, name, mesh, AnyLaw::new(name, moduli)?, case)?.0);
    LAWS.iter().map(of_law).collect()
}

/// What is shown of each track.
pub const CURVES: [Curve; 2] =
    [("volume, of that at rest", |track| &track.volume), ("det F of the worst element", |track| &track.worst)];

fn table(page: &mut Page<'_>, name: &str, caption: &str, tracks: &[Track]) -> anyhow::Result<()> {
    let row = |track: &Track| {
        let numbers = [track.volume_at(HELD), track.least(), track.last_worst()].map(|number| digits(number, 3));
        [vec![track.name.clone()], numbers.to_vec(), vec![track.ending()]].concat()
    };
    let heading = ["law", "volume when let go, of that at rest", "least det F", "least det F at the end", "goes"];
    page.table(name, caption, &heading, tracks.iter().map(row).collect())
}

/// What went on in words, law by law.
fn each(tracks: &[Track], what: impl Fn(&Track) -> f64) -> String {
    let one = |track: &Track| format!("{} {}", track.name, digits(what(track), 3));
    tracks.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn soft(page: &mut Page<'_>, mesh: &VolumeMesh) -> anyhow::Result<()> {
    let case = Case { stepper: Stepper::Linearised, stretch: 4.0, turns: 0.0, dt: 0.01, end: page.pick(3.0, 2.0) };
    let tracks = of_laws(page, mesh, SOFT, case)?;
    draw_panels(
        page,
        "soft",
        "Soft bar, stretched to four times its length, linearised backward Euler",
        &tracks,
        &CURVES,
    )?;
    table(page, "soft-at", "Soft bar, stretched to four times its length", &tracks)?;
    page.finding(
        "stretched to four times its length and let go, the soft bar comes back with all three laws",
        tracks.iter().all(|track| track.outcome.is_finished() && track.last_worst() > 0.9),
        format!("least det F at the end: {}", each(&tracks, Track::last_worst)),
    );
    page.finding(
        "the barriers keep all elements from inverting, while the stable law lets some through and takes them back",
        tracks[0].least() > 0.0 && tracks[1].least() > 0.0 && tracks[2].least() < 0.0,
        format!("least det F: {}", each(&tracks, Track::least)),
    );
    let grown: Vec<f64> = tracks.iter().map(|track| track.volume_at(HELD) - 1.0).collect();
    page.finding(
        "of equal moduli near rest, the stable law keeps the volume best when stretched, then that of Bonet and Wood, then that of Bower",
        grown[2] < grown[1] && grown[1] < grown[0],
        format!("volume when let go: {}", each(&tracks, |track| track.volume_at(HELD))),
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
        "with full backward Euler the stiff bar comes back with all three laws, and no element inverts",
        tracks.iter().all(|track| track.outcome.is_finished() && track.least() > 0.0 && track.last_worst() > 0.9),
        format!("least det F: {}", each(&tracks, Track::least)),
    );
    let soft = Case { stepper: Stepper::Full, stretch: 5.5, turns: 0.0, dt: 0.01, end };
    let law = AnyLaw::new(LAWS[1], SOFT)?;
    let (track, ..) = release(page, LAWS[1], mesh, law, soft)?;
    page.finding(
        "nor does any in the soft bar that is too much for linearised steps, with the law of Bonet and Wood and a line search",
        track.outcome.is_finished() && track.least() > 0.0,
        format!("least det F {}", digits(track.least(), 3)),
    );
    let last = |track: &Track| track.volume.last().map_or(f64::NAN, |(_, volume)| *volume);
    let off = tracks.iter().map(|track| (last(track) - 1.0).abs()).fold(0.0, f64::max);
    page.finding("and the volume is that at rest again", off < 0.01, format!("within {} %", digits(100.0 * off, 2)));
    Ok(())
}
