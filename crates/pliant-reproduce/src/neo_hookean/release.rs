//! A bar is stretched and let go.

use std::f64::consts::TAU;

use anyhow::Context;
use pliant::material::{AnyLaw, Elasticity, Inversion, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Body, Hold, Model};
use pliant::motion::{Keyframes, Pose};
use pliant::system::State;

use super::laws;
use super::track::{Curve, LAWS, Stepper, Track, panels};
use crate::measure::digits;
use crate::picture::{Shot, draw};
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
/// A bar whose worst element has more than this part of its volume is back in its shape.
const HOME: f64 = 0.5;
const SOFT: YoungPoisson = YoungPoisson { young: 1e5, poisson: 0.45 };
const STIFF: YoungPoisson = YoungPoisson { young: 1e7, poisson: 0.48 };

/// What is done to a bar.
#[derive(Debug, Clone, Copy)]
struct Case {
    stepper: Stepper,
    /// Length before it is let go, as a multiple of that at rest.
    stretch: f64,
    /// By how many turns the end is twisted.
    turns: f64,
    /// Of a step, and when it ends, in s.
    dt: f64,
    end: f64,
}

/// What becomes of laws that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    None,
    /// `inversion = "clamp"`.
    Clamp,
    /// A line search in the one iteration of a step.
    LineSearch,
}

impl Remedy {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Clamp => "stretches clamped at 0.1",
            Self::LineSearch => "line search",
        }
    }
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
    many(page, &mesh)?;
    stiff(page, &mesh)
}

/// Pull, hold and let go.
fn release(
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

const CURVES: [Curve; 2] =
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
    let case = Case { stepper: Stepper::Linearised, stretch: 4.0, turns: 0.0, dt: 0.01, end: 3.0 };
    let tracks = of_laws(page, mesh, SOFT, case)?;
    page.figure(
        "soft",
        "Soft bar, stretched to four times its length, linearised backward Euler",
        panels(&tracks, &CURVES),
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

/// A release that is too much for linearised steps, of bars of slightly different stiffness, as single outcomes are accidents.
fn many(page: &mut Page<'_>, mesh: &VolumeMesh) -> anyhow::Result<()> {
    let case = Case { stepper: Stepper::Linearised, stretch: 5.5, turns: 0.0, dt: 0.01, end: 3.0 };
    let factors: Vec<f64> = (-2..=2).map(|i| 1.0 + 0.02 * f64::from(i)).collect();
    let (bars, mut rows, mut counts, mut curves, mut shots) =
        (factors.len(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let kinds = [
        (LAWS[0], Remedy::None),
        (LAWS[1], Remedy::None),
        (LAWS[2], Remedy::None),
        (LAWS[0], Remedy::Clamp),
        (LAWS[1], Remedy::Clamp),
        (LAWS[1], Remedy::LineSearch),
    ];
    for (name, remedy) in kinds {
        let (mut home, mut inverted, mut failed, mut why) = (0, 0, 0, String::new());
        for &factor in &factors {
            let mut law: Elasticity = AnyLaw::new(name, YoungPoisson { young: factor * SOFT.young, ..SOFT })?.into();
            if remedy == Remedy::Clamp {
                law = law.with_inversion(Inversion::Clamp { threshold: Inversion::DEFAULT_THRESHOLD })?;
            }
            let stepper = if remedy == Remedy::LineSearch { Stepper::OneIteration } else { case.stepper };
            let title = if remedy == Remedy::None { name.to_owned() } else { format!("{name}, {}", remedy.name()) };
            let (track, model, state) = release(page, &title, mesh, law, Case { stepper, ..case })?;
            match track.last_worst() {
                _ if !track.outcome.is_finished() => {
                    failed += 1;
                    why = track.ending();
                }
                worst if worst > HOME => home += 1,
                worst if worst < 0.0 => inverted += 1,
                _ => {}
            }
            if (factor - 1.0).abs() < 1e-9 {
                if track.outcome.is_finished() && shots.len() < 3 && remedy != Remedy::LineSearch {
                    shots.push(Shot::new(&model, &state, -0.5 * shots.len() as f64 * Vec3::Y));
                }
                curves.push(track);
            }
        }
        let numbers = [home, inverted, failed].map(|count: usize| count.to_string());
        rows.push([vec![name.to_owned(), remedy.name().to_owned()], numbers.to_vec(), vec![why]].concat());
        counts.push((home, inverted, failed));
    }
    curves.truncate(5);
    page.figure(
        "violent",
        "Soft bar, stretched to 5.5 times its length: bare laws, and the two that need it with stretches clamped",
        panels(&curves, &CURVES),
    )?;
    let heading = ["law", "remedy", "in shape", "stay inverted", "fail", "how"];
    let caption = format!(
        "What becomes of {bars} soft bars, with `Y` from 0.096 to 0.104 MPa, stretched to 5.5 times their length and let go, after 3 s"
    );
    page.table("violent-at", &caption, &heading, rows)?;
    if !shots.is_empty() {
        page.picture(
            "violent",
            "At the end, from the top: the law of Bower, the stable one, and that of Bower with stretches clamped",
            &draw(&shots, "", [800, 640])?,
        )?;
    }
    let [bower, bonet_wood, stable, clamped_bower, clamped, searched] = counts[..] else {
        anyhow::bail!("there are six kinds")
    };
    page.finding(
        "let go from 5.5 times its length, linearised steps jump over the barrier of Bonet and Wood, and there is no force behind it",
        bonet_wood.2 == bars,
        format!("{} of {bars} fail", bonet_wood.2),
    );
    page.finding(
        "behind the barrier of Bower there is one, but it holds elements there",
        bower.1 > 0,
        format!("{} of {bars} have elements that stay inverted, {} come back", bower.1, bower.0),
    );
    page.finding(
        "the stable law comes back",
        stable.0 > bars / 2 && stable.0 > bower.0.max(bonet_wood.0),
        format!("{} of {bars}", stable.0),
    );
    page.finding(
        "Pliant's remedies bring the bare laws back as well: stretches clamped for both, or a line search for that of Bonet and Wood",
        clamped_bower.0.min(clamped.0).min(searched.0) > bars / 2,
        format!("{} and {} of {bars} with stretches clamped, {} with a line search", clamped_bower.0, clamped.0, searched.0),
    );
    Ok(())
}

fn stiff(page: &mut Page<'_>, mesh: &VolumeMesh) -> anyhow::Result<()> {
    let end = page.pick(2.0, 1.2);
    let case = Case { stepper: Stepper::Full, stretch: 3.0, turns: 1.0, dt: 0.005, end };
    let tracks = of_laws(page, mesh, STIFF, case)?;
    page.figure(
        "stiff",
        "Stiff bar, stretched to three times its length and twisted by one turn, full backward Euler",
        panels(&tracks, &CURVES),
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
    let volumes = tracks.iter().map(|track| track.volume.last().map(|(_, volume)| *volume)).collect::<Option<Vec<_>>>();
    let volumes = volumes.context("there are steps")?;
    page.finding(
        "and the volume is that at rest again",
        volumes.iter().all(|volume| (volume - 1.0).abs() < 0.01),
        format!("{} of it", volumes.iter().map(|volume| digits(*volume, 5)).collect::<Vec<_>>().join(", ")),
    );
    Ok(())
}
