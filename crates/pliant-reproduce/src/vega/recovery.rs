//! Recovery of collapsed bodies.

use pliant::damping::Damping;
use pliant::force::{Conditions, Elastic, Force};
use pliant::integrator::LinearizedBackwardEuler;
use pliant::material::{AnyLaw, Inversion, Material, YoungPoisson};
use pliant::math::{Affine3, Vec3};
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Model};
use pliant::system::State;
use pliant_pictures::{Figure, Plot, Series};

use super::collapse::{COLLAPSES, Collapse, Snapshot};
use crate::bodies::DENSITY;
use crate::measure::{Outcome, digits, march, mooney_rivlin_in_words};
use crate::picture::{PosedSurface, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-recovery",
    paper: &paper::VEGA,
    part: "figure 5",
    title: "Collapsed bodies recover",
    reports: "Collapsed bodies return to their shapes with laws that handle inversion: the corotational law, and hyperelastic laws \
              whose stretches are kept above a threshold. St. Venant–Kirchhoff without such handling stays inverted.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 3e4, poisson: 0.4 };
/// Rayleigh damping coefficients `α` \[1/s\] and `β` \[s\].
const DAMPING: [f64; 2] = [1.0, 0.005];
/// Radius of the ball \[m\].
const RADIUS: f64 = 0.25;
/// Maximum RMS distance from the rest shape, relative to the radius, of a body that has recovered. It must also have no
/// inverted elements.
const HOME: f64 = 0.01;

/// Law with its handling of inversion.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    law: &'static str,
    inversion: Inversion,
}

const CLAMP: Inversion = Inversion::Clamp { threshold: Inversion::DEFAULT_THRESHOLD };
/// Extrapolation from a threshold above √⅓. Below that stretch the energy of St. Venant–Kirchhoff is concave, and its
/// extrapolation would be too.
const EXTRAPOLATE: Inversion = Inversion::Extrapolate { threshold: 0.65 };

const COROTATIONAL: Candidate = Candidate { law: "corotational", inversion: Inversion::None };
const STABLE: Candidate = Candidate { law: "stable-neo-hookean", inversion: Inversion::None };
const STVK_EXTRAPOLATED: Candidate = Candidate { law: "stvk", inversion: EXTRAPOLATE };
const NEO_HOOKEAN_CLAMPED: Candidate = Candidate { law: "neo-hookean", inversion: CLAMP };
const NEO_HOOKEAN_CLAMPED_EARLIER: Candidate =
    Candidate { law: "neo-hookean", inversion: Inversion::Clamp { threshold: 0.5 } };
const NEO_HOOKEAN_EXTRAPOLATED: Candidate = Candidate { law: "neo-hookean", inversion: EXTRAPOLATE };
const BARE_STVK: Candidate = Candidate { law: "stvk", inversion: Inversion::None };
const BARE_NEO_HOOKEAN: Candidate = Candidate { law: "neo-hookean", inversion: Inversion::None };

/// Laws, starting with those that are plotted.
const CANDIDATES: [Candidate; 11] = [
    COROTATIONAL,
    STABLE,
    STVK_EXTRAPOLATED,
    BARE_STVK,
    Candidate { law: "stvk", inversion: CLAMP },
    NEO_HOOKEAN_CLAMPED,
    Candidate { law: "mooney-rivlin", inversion: CLAMP },
    NEO_HOOKEAN_CLAMPED_EARLIER,
    NEO_HOOKEAN_EXTRAPOLATED,
    Candidate { law: "mooney-rivlin", inversion: EXTRAPOLATE },
    BARE_NEO_HOOKEAN,
];
const PLOTTED: usize = 7;

/// Recovery of a body.
struct Recovery {
    candidate: Candidate,
    collapse: Collapse,
    /// Seed of the random collapse.
    seed: u64,
    /// Time step \[s\].
    step: f64,
    outcome: Outcome,
    snapshots: Vec<Snapshot>,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let mesh = generate::ball(RADIUS, 6, Cells::Tet6)?;
    let step = page.pick(1.0 / 240.0, 1.0 / 60.0);
    let seconds = page.pick(3.0, 2.0);
    page.text(format!(
        "A free ball with a radius of {RADIUS} m has {} tetrahedra ({} vertices), `Y` = {} Pa, `ν` = {}, `ρ` = {DENSITY} kg/m³, and \
         Rayleigh damping of {} 1/s and {} s. All vertices are moved into the plane `y = 0`, into the center, to random positions in a cube, or to \
         the opposite side of the center, which inverts every element. The ball is then released for {seconds} s, with linearized backward \
         Euler and a step of {} s. Clamped laws replace stretches below {} by {}, except where another threshold is named. Extrapolated laws continue from a stretch of 0.65 by a \
         Taylor series. The distance from the rest shape is measured after the best rigid alignment. {}",
        mesh.element_count(), mesh.vertex_count(), digits(MODULI.young, 2), MODULI.poisson, DAMPING[0], DAMPING[1], digits(step, 3),
        Inversion::DEFAULT_THRESHOLD, Inversion::DEFAULT_THRESHOLD, mooney_rivlin_in_words(MODULI),
    ));
    let mut courses = Vec::new();
    let mut surfaces = Vec::new();
    for candidate in CANDIDATES {
        for collapse in COLLAPSES {
            let shown = [STVK_EXTRAPOLATED, BARE_STVK].iter().position(|shown| *shown == candidate);
            let row = shown.filter(|_| collapse == Collapse::Random);
            let mut recovery = Recovery::new(candidate, collapse, 0, step);
            surfaces.extend(recovery.go(page, &mesh, seconds, row)?);
            courses.push(recovery);
        }
    }
    plot(page, &courses)?;
    let image = draw(&surfaces, "", [960, 560])?;
    let caption = "Random initial state, and after 1/15, ¼ and 1 s: St. Venant–Kirchhoff, extrapolated (above) and without handling of inversion (below)";
    page.picture("random", caption, &image)?;
    let rows = courses.chunks(COLLAPSES.len()).map(|row| {
        let name = row[0].candidate.name();
        std::iter::once(name).chain(row.iter().map(Recovery::verdict)).collect()
    });
    let heading: Vec<&str> = std::iter::once("law").chain(COLLAPSES.map(Collapse::name)).collect();
    page.table("recovered", "Recovery of the rest shape at the end", &heading, rows.collect())?;
    let kept: Vec<String> = courses
        .chunks(COLLAPSES.len())
        .filter(|row| row[0].candidate.inversion != Inversion::None)
        .map(|row| format!("{} {}", row[0].candidate.name(), in_how_many(row)))
        .collect();
    page.text(format!(
        "In the paper, bodies recover with every law whose stretches are kept above a threshold. Here the number of the four initial \
         states from which they recover depends on the law and the threshold: {}.",
        kept.join("; ")
    ));
    let tries = scramble(page, &mesh, seconds)?;
    if !page.is_fast() {
        try_others(page, step, seconds)?;
    }
    find(page, &courses, &tries);
    let smaller = with_smaller_steps(page, &mesh, step, seconds)?;
    find_limits(page, &courses, &smaller)
}

/// Repeats the cases in which the neo-Hookean law does not recover with a quarter of the step.
fn with_smaller_steps(page: &Page<'_>, mesh: &VolumeMesh, step: f64, seconds: f64) -> anyhow::Result<Vec<Recovery>> {
    let mut courses = Vec::new();
    for candidate in [NEO_HOOKEAN_CLAMPED, NEO_HOOKEAN_EXTRAPOLATED] {
        for collapse in COLLAPSES.into_iter().filter(|collapse| *collapse != Collapse::Plane) {
            let mut recovery = Recovery::new(candidate, collapse, 0, 0.25 * step);
            recovery.go(page, mesh, seconds, None)?;
            courses.push(recovery);
        }
    }
    Ok(courses)
}

/// Tests the recovery from several random initial states, since the outcome of a single one might be chance.
fn scramble(page: &mut Page<'_>, mesh: &VolumeMesh, seconds: f64) -> anyhow::Result<Vec<Recovery>> {
    let seeds = 1..=page.pick(8, 1);
    let steps: &[f64] = page.pick(&[1.0 / 240.0, 1.0 / 60.0], &[1.0 / 60.0]);
    let (mut tries, mut rows) = (Vec::new(), Vec::new());
    for candidate in [COROTATIONAL, STVK_EXTRAPOLATED, STABLE] {
        let mut row = vec![candidate.name()];
        for &step in steps {
            let first = tries.len();
            for seed in seeds.clone() {
                let mut recovery = Recovery::new(candidate, Collapse::Random, seed, step);
                recovery.go(page, mesh, seconds, None)?;
                tries.push(recovery);
            }
            row.push(in_how_many(&tries[first..]));
        }
        rows.push(row);
    }
    let heading: Vec<String> = steps.iter().map(|step| format!("step {} s", digits(*step, 3))).collect();
    let heading: Vec<&str> = std::iter::once("law").chain(heading.iter().map(String::as_str)).collect();
    page.table("scrambled", "Number of random initial states from which the body recovers", &heading, rows)?;
    Ok(tries)
}

/// Tests the recovery of other bodies, from which two laws that recover the ball partly fail.
fn try_others(page: &mut Page<'_>, step: f64, seconds: f64) -> anyhow::Result<()> {
    let edge = 2.0 * RADIUS;
    let bodies = [
        ("ball, 4 across, 5 tets per cell", generate::ball(RADIUS, 4, Cells::Tet5)?),
        ("cube, 4 across", generate::block([edge; 3], [4; 3], Cells::Tet6)?),
        ("bar, 8 × 2 × 2 cells", generate::block([2.0 * edge, 0.5 * edge, 0.5 * edge], [8, 2, 2], Cells::Tet6)?),
    ];
    let mut rows = Vec::new();
    for (name, mesh) in bodies {
        let center = mesh.vertices().iter().sum::<Vec3>() / mesh.vertex_count() as f64;
        let mesh = mesh.transformed(Affine3::from_translation(-center))?;
        for candidate in [COROTATIONAL, STVK_EXTRAPOLATED] {
            let mut row = vec![name.to_owned(), candidate.name()];
            for collapse in COLLAPSES {
                let mut recovery = Recovery::new(candidate, collapse, 0, step);
                recovery.go(page, &mesh, seconds, None)?;
                row.push(recovery.verdict());
            }
            rows.push(row);
        }
    }
    let heading: Vec<&str> = ["body", "law"].into_iter().chain(COLLAPSES.map(Collapse::name)).collect();
    page.table("others", "Recovery of other bodies; some stay entangled", &heading, rows)
}

/// Formats the number of courses in which the body recovers.
fn in_how_many(courses: &[Recovery]) -> String {
    format!("{} of {}", courses.iter().filter(|recovery| recovery.recovers()).count(), courses.len())
}

/// Returns the energy density \[J/m³\] of a law in an inverted element with stretches of −1, 3 and 3, times `size`.
fn inverted_density(candidate: Candidate, size: f64) -> anyhow::Result<f64> {
    let mesh = generate::block([1.0; 3], [1; 3], Cells::Tet6)?;
    let place = |x: &Vec3| size * *x * Vec3::new(-1.0, 3.0, 3.0);
    let u: Vec<f64> = mesh.vertices().iter().flat_map(|x| (place(x) - *x).to_array()).collect();
    Ok(Elastic::uniform(&mesh, candidate.material()?).energy(&u, &Conditions::START) / mesh.volume())
}

fn plot(page: &mut Page<'_>, courses: &[Recovery]) -> anyhow::Result<()> {
    let of = |collapse: Collapse, y_label: &str, number: fn(&Snapshot) -> f64| {
        let shown = courses.iter().filter(|recovery| recovery.collapse == collapse).take(PLOTTED);
        let points = |recovery: &Recovery| recovery.snapshots.iter().map(|m| (m.time, number(m))).collect();
        Plot {
            title: collapse.name().into(),
            x_label: "time, s".into(),
            y_label: y_label.into(),
            series: shown.map(|recovery| Series::new(recovery.candidate.name(), points(recovery))).collect(),
            ..Plot::default()
        }
    };
    let distances = COLLAPSES.map(|collapse| of(collapse, "distance / radius", |m| m.distance));
    let inverted = COLLAPSES.map(|collapse| of(collapse, "inverted elements", |m| m.inverted as f64));
    let figure = |panels: [Plot; 4]| Figure { panels: panels.to_vec(), panel_height: 260, ..Figure::default() };
    page.figure("distance", "Distance from the shape at rest against time", figure(distances))?;
    page.figure("inverted", "Inverted and flat elements against time", figure(inverted))
}

impl Candidate {
    fn name(self) -> String {
        match self.inversion {
            Inversion::None => self.law.to_owned(),
            CLAMP => format!("{}, clamped", self.law),
            Inversion::Clamp { threshold } => format!("{}, clamped at {threshold}", self.law),
            Inversion::Extrapolate { .. } => format!("{}, extrapolated", self.law),
        }
    }

    fn material(self) -> anyhow::Result<Material> {
        Ok(Material::from(AnyLaw::new(self.law, MODULI)?).with_inversion(self.inversion)?)
    }

    /// Returns true if the law is defined for inverted states and has its minimum energy only at rest.
    fn handles_inversion(self) -> bool {
        self.inversion != Inversion::None || matches!(self.law, "corotational" | "stable-neo-hookean")
    }
}

impl Recovery {
    fn new(candidate: Candidate, collapse: Collapse, seed: u64, step: f64) -> Self {
        Self { candidate, collapse, seed, step, outcome: Outcome::Finished, snapshots: Vec::new() }
    }

    /// Releases the body. Returns its surfaces for `row` of a picture, if given.
    fn go(
        &mut self,
        page: &Page<'_>,
        mesh: &VolumeMesh,
        seconds: f64,
        row: Option<usize>,
    ) -> anyhow::Result<Vec<PosedSurface>> {
        let body = Body::new(mesh.clone(), self.candidate.material()?, DENSITY);
        let model = Model::builder().body(body).damping(Damping::rayleigh(DAMPING[0], DAMPING[1])?).build()?;
        let mut assembly = Assembly::new(model);
        let mut state = assembly.rest_state();
        self.collapse.apply(mesh, RADIUS, self.seed, &mut state);
        let what = format!("{}, {}", self.candidate.name(), self.collapse.name());
        let mut surfaces = Vec::new();
        let mut see = |model: &Model, state: &State, column: usize| {
            let place = |row: usize| 3.0 * RADIUS * Vec3::new(column as f64, -(row as f64), 0.0);
            surfaces.extend(row.map(|row| PosedSurface::new(model, state, place(row))));
        };
        see(assembly.model(), &state, 0);
        self.snapshots.push(Snapshot::of(assembly.model(), &state, RADIUS));
        let mut stepper = LinearizedBackwardEuler::default().into();
        let step = self.step;
        let steps = (seconds / step).round() as usize;
        let seen = [1.0 / 15.0, 0.25, 1.0].map(|time: f64| (time / step).round() as usize);
        self.outcome = march(page, &what, &mut assembly, &mut stepper, &mut state, step, steps, |model, state| {
            self.snapshots.push(Snapshot::of(model, state, RADIUS));
            if let Some(column) = seen.iter().position(|seen| seen + 1 == self.snapshots.len()) {
                see(model, state, column + 1);
            }
        })?;
        Ok(surfaces)
    }

    fn last(&self) -> Snapshot {
        *self.snapshots.last().unwrap_or(&Snapshot { time: 0.0, inverted: 0, distance: f64::NAN })
    }

    fn recovers(&self) -> bool {
        let Snapshot { inverted, distance, .. } = self.last();
        self.outcome.is_finished() && inverted == 0 && distance < HOME
    }

    fn verdict(&self) -> String {
        let Snapshot { time, inverted, distance } = self.last();
        match &self.outcome {
            Outcome::Exploded { .. } if time == 0.0 => "cannot start".into(),
            Outcome::Exploded { .. } => format!("explodes after {} s", digits(time, 2)),
            Outcome::Finished if self.recovers() => "yes".into(),
            Outcome::Finished => format!("no: {inverted} inverted, distance {}", digits(distance, 2)),
        }
    }
}

fn find(page: &mut Page<'_>, courses: &[Recovery], tries: &[Recovery]) {
    let of = |candidate: Candidate| courses.iter().filter(move |recovery| recovery.candidate == candidate);
    let verdicts = |candidate: Candidate| {
        of(candidate).map(|c| format!("{}: {}", c.collapse.name(), c.verdict())).collect::<Vec<_>>().join("; ")
    };
    let handling: Vec<&Recovery> = courses.iter().filter(|recovery| recovery.candidate.handles_inversion()).collect();
    let flat: Vec<&&Recovery> = handling.iter().filter(|recovery| recovery.collapse == Collapse::Plane).collect();
    let recovered = |courses: &[&&Recovery]| courses.iter().filter(|recovery| recovery.recovers()).count();
    page.finding(
        "every law that handles inversion recovers from a plane",
        recovered(&flat) == flat.len(),
        format!("{} of {}", recovered(&flat), flat.len()),
    );
    for candidate in [COROTATIONAL, STVK_EXTRAPOLATED] {
        let again: Vec<&Recovery> = tries.iter().filter(|recovery| recovery.candidate == candidate).collect();
        let recovered = again.iter().filter(|recovery| recovery.recovers()).count();
        page.finding(
            format!(
                "with {} this ball recovers from all initial states, including other random ones",
                candidate.name()
            ),
            of(candidate).all(Recovery::recovers) && recovered == again.len(),
            format!("{}; {recovered} of {} other random initial states", verdicts(candidate), again.len()),
        );
    }
    let by_stable = |collapse| of(STABLE).find(|recovery| recovery.collapse == collapse);
    // Zero except for rounding.
    let moved = |recovery: &Recovery| (recovery.last().distance / recovery.snapshots[0].distance - 1.0).abs();
    let stays = by_stable(Collapse::Point).is_some_and(|recovery| moved(recovery) < 1e-9);
    let ordered = [Collapse::Plane, Collapse::InsideOut].map(by_stable);
    page.finding(
        "the stable neo-Hookean law, which is newer than the paper, recovers from a plane and from inside out, but not from a point, where \
         its force vanishes",
        stays && ordered.into_iter().flatten().all(Recovery::recovers),
        verdicts(STABLE),
    );
    let inside_out = of(BARE_STVK).find(|recovery| recovery.collapse == Collapse::InsideOut);
    let unmoved = inside_out.is_some_and(|recovery| moved(recovery) < 1e-9);
    page.finding(
        "St. Venant–Kirchhoff without handling of inversion stays inverted, and inside out it does not even move, since that state has zero energy",
        of(BARE_STVK).all(|recovery| recovery.outcome.is_finished() && recovery.last().inverted > 0) && unmoved,
        verdicts(BARE_STVK),
    );
    page.finding(
        "the neo-Hookean law without handling of inversion cannot start",
        of(BARE_NEO_HOOKEAN).all(|recovery| !recovery.outcome.is_finished() && recovery.snapshots.len() == 1),
        of(BARE_NEO_HOOKEAN)
            .find_map(|recovery| match &recovery.outcome {
                Outcome::Exploded { why, .. } => Some(why.clone()),
                Outcome::Finished => None,
            })
            .unwrap_or_else(|| "it starts".into()),
    );
}

/// Adds the findings about limits of keeping stretches above a threshold.
fn find_limits(page: &mut Page<'_>, courses: &[Recovery], smaller: &[Recovery]) -> anyhow::Result<()> {
    let of = |candidate: Candidate| courses.iter().filter(move |recovery| recovery.candidate == candidate);
    let verdicts = |candidate: Candidate| {
        of(candidate).map(|c| format!("{}: {}", c.collapse.name(), c.verdict())).collect::<Vec<_>>().join("; ")
    };
    let from_a_plane_only = |candidate| of(candidate).all(|c| c.recovers() == (c.collapse == Collapse::Plane));
    let share = |candidate| {
        let again = smaller.iter().filter(|recovery| recovery.candidate == candidate);
        let (all, home) = again.fold((0, 0), |(all, home), c| (all + 1, home + usize::from(c.recovers())));
        (home, format!("{}; with a quarter of the step, {home} of {all} other cases recover", verdicts(candidate)))
    };
    let (home, measured) = share(NEO_HOOKEAN_CLAMPED);
    page.difference(
        format!(
            "not all laws with clamped stretches recover: the neo-Hookean law clamped at {}, VegaFEM's threshold, recovers only from a plane, and smaller steps do not help",
            Inversion::DEFAULT_THRESHOLD
        ),
        from_a_plane_only(NEO_HOOKEAN_CLAMPED) && home == 0,
        measured,
    );
    page.finding(
        "clamped at 0.5 it recovers from all initial states, so the threshold is the cause",
        of(NEO_HOOKEAN_CLAMPED_EARLIER).all(Recovery::recovers),
        verdicts(NEO_HOOKEAN_CLAMPED_EARLIER),
    );
    let (home, measured) = share(NEO_HOOKEAN_EXTRAPOLATED);
    page.difference(
        "extrapolated it also recovers only from a plane, and explodes from the other initial states, even with smaller steps",
        from_a_plane_only(NEO_HOOKEAN_EXTRAPOLATED)
            && of(NEO_HOOKEAN_EXTRAPOLATED).all(|c| c.recovers() || !c.outcome.is_finished())
            && home == 0,
        measured,
    );
    let densities = |candidate| -> anyhow::Result<Vec<f64>> {
        [1.0, 10.0, 100.0].into_iter().map(|size| inverted_density(candidate, size)).collect()
    };
    let [neo_hookean, stvk] = [densities(NEO_HOOKEAN_EXTRAPOLATED)?, densities(STVK_EXTRAPOLATED)?];
    let falls = |energies: &[f64]| energies.windows(2).all(|pair| pair[1] < pair[0]);
    let rises = |energies: &[f64]| energies.windows(2).all(|pair| pair[1] > pair[0]);
    let listed = |energies: &[f64]| energies.iter().map(|e| digits(*e, 2)).collect::<Vec<_>>().join(", ");
    page.finding(
        "the reason is that its energy is unbounded below: in an inverted element that is thinner than wide it decreases with the size of the element, while that of St. Venant–Kirchhoff increases",
        falls(&neo_hookean) && rises(&stvk),
        format!(
            "{} J/m³ at stretches of -1, 3 and 3 and at 10 and 100 times those; {} J/m³ for St. Venant–Kirchhoff",
            listed(&neo_hookean),
            listed(&stvk)
        ),
    );
    Ok(())
}
