//! Bodies that were collapsed and are let go.

use pliant::damping::Damping;
use pliant::force::{Elastic, Force};
use pliant::integrator::LinearizedBackwardEuler;
use pliant::material::{AnyLaw, Elasticity, Inversion, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Body, Model};
use pliant::system::State;
use pliant_pictures::{Figure, Plot, Series};

use super::collapse::{COLLAPSES, Collapse, Moment};
use crate::measure::{Outcome, digits, march, mooney_rivlin_in_words};
use crate::picture::{Shot, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-recovery",
    paper: &paper::VEGA,
    part: "figure 5",
    title: "Collapsed bodies recover",
    reports: "Bodies that were collapsed return to their shapes with laws that can handle inversion: the corotational one, and hyperelastic laws \
              whose stretches are kept above a threshold. St. Venant–Kirchhoff without such handling stays inverted.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 3e4, poisson: 0.4 };
/// In kg/m³.
const DENSITY: f64 = 1000.0;
/// Rayleigh's `α` in 1/s and `β` in s.
const DAMPING: [f64; 2] = [1.0, 0.005];
/// Of the ball, in m.
const RADIUS: f64 = 0.25;
/// A body has its shape again if no element is inverted and vertices are nearer to it than this part of the radius on average.
const HOME: f64 = 0.01;

/// A law, and what it does about inversion.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    law: &'static str,
    inversion: Inversion,
}

const CLAMP: Inversion = Inversion::Clamp { threshold: Inversion::DEFAULT_THRESHOLD };
/// Above the stretch of √⅓ below which the energy of St. Venant–Kirchhoff is concave, and so would go on to be.
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

/// Those that are plotted first.
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

/// What a body did.
struct Course {
    candidate: Candidate,
    collapse: Collapse,
    /// Of what is random.
    seed: u64,
    /// In s.
    step: f64,
    outcome: Outcome,
    moments: Vec<Moment>,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let mesh = generate::ball(RADIUS, 6, Cells::Tet6)?;
    let step = page.pick(1.0 / 240.0, 1.0 / 60.0);
    let seconds = page.pick(3.0, 2.0);
    page.text(format!(
        "A ball with a radius of {RADIUS} m of {} tetrahedra ({} vertices), held by nothing; `Y` = {} Pa, `ν` = {}, `ρ` = {DENSITY} kg/m³, \
         Rayleigh damping of {} 1/s and {} s. All vertices are put into the plane `y = 0`, or into the centre, or anywhere in a cube at random, or to \
         the opposite side of the centre, which turns every element inside out; then the ball is let go for {seconds} s, by linearised backward \
         Euler with a step of {} s. Clamped laws take stretches below {} for {}, but where another threshold is named; extrapolated ones go on from a stretch of 0.65 by a \
         Taylor series. The distance is that from the shape at rest, moved and turned to where that is least. {}",
        mesh.element_count(), mesh.vertex_count(), digits(MODULI.young, 2), MODULI.poisson, DAMPING[0], DAMPING[1], digits(step, 3),
        Inversion::DEFAULT_THRESHOLD, Inversion::DEFAULT_THRESHOLD, mooney_rivlin_in_words(MODULI),
    ));
    let mut courses = Vec::new();
    let mut shots = Vec::new();
    for candidate in CANDIDATES {
        for collapse in COLLAPSES {
            let shown = [STVK_EXTRAPOLATED, BARE_STVK].iter().position(|shown| *shown == candidate);
            let row = shown.filter(|_| collapse == Collapse::Random);
            let mut course = Course::new(candidate, collapse, 0, step);
            shots.extend(course.go(page, &mesh, seconds, row)?);
            courses.push(course);
        }
    }
    plot(page, &courses)?;
    let image = draw(&shots, "", [960, 560])?;
    let caption = "Scrambled at random, and after 1/15, ¼ and 1 s: above St. Venant–Kirchhoff, extrapolated; below the same without handling";
    page.picture("random", caption, &image)?;
    let rows = courses.chunks(COLLAPSES.len()).map(|row| {
        let name = row[0].candidate.name();
        std::iter::once(name).chain(row.iter().map(Course::verdict)).collect()
    });
    let heading: Vec<&str> = std::iter::once("law").chain(COLLAPSES.map(Collapse::name)).collect();
    page.table("recovered", "Whether bodies had their shape again at the end", &heading, rows.collect())?;
    let kept: Vec<String> = courses
        .chunks(COLLAPSES.len())
        .filter(|row| row[0].candidate.inversion != Inversion::None)
        .map(|row| format!("{} {}", row[0].candidate.name(), in_how_many(row)))
        .collect();
    page.text(format!(
        "The paper has bodies recover with every law whose stretches are kept above a threshold. Here it depends on the law and the threshold from how many of the four \
         states they do: {}.",
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

/// The neo-Hookean law again from where it does not recover, with a quarter of the step: to see whether that is what it takes.
fn with_smaller_steps(page: &Page<'_>, mesh: &VolumeMesh, step: f64, seconds: f64) -> anyhow::Result<Vec<Course>> {
    let mut courses = Vec::new();
    for candidate in [NEO_HOOKEAN_CLAMPED, NEO_HOOKEAN_EXTRAPOLATED] {
        for collapse in COLLAPSES.into_iter().filter(|collapse| *collapse != Collapse::Plane) {
            let mut course = Course::new(candidate, collapse, 0, 0.25 * step);
            course.go(page, mesh, seconds, None)?;
            courses.push(course);
        }
    }
    Ok(courses)
}

/// Scramble the ball in several ways, and see with which laws and steps it recovers: a single way might be luck.
fn scramble(page: &mut Page<'_>, mesh: &VolumeMesh, seconds: f64) -> anyhow::Result<Vec<Course>> {
    let seeds = 1..=page.pick(8, 1);
    let steps: &[f64] = page.pick(&[1.0 / 240.0, 1.0 / 60.0], &[1.0 / 60.0]);
    let (mut tries, mut rows) = (Vec::new(), Vec::new());
    for candidate in [COROTATIONAL, STVK_EXTRAPOLATED, STABLE] {
        let mut row = vec![candidate.name()];
        for &step in steps {
            let first = tries.len();
            for seed in seeds.clone() {
                let mut course = Course::new(candidate, Collapse::Random, seed, step);
                course.go(page, mesh, seconds, None)?;
                tries.push(course);
            }
            row.push(in_how_many(&tries[first..]));
        }
        rows.push(row);
    }
    let heading: Vec<String> = steps.iter().map(|step| format!("step {} s", digits(*step, 3))).collect();
    let heading: Vec<&str> = std::iter::once("law").chain(heading.iter().map(String::as_str)).collect();
    page.table("scrambled", "In how many of several random starts the body recovers", &heading, rows)?;
    Ok(tries)
}

/// The same with other bodies: where two laws that recover the ball do not.
fn try_others(page: &mut Page<'_>, step: f64, seconds: f64) -> anyhow::Result<()> {
    let edge = 2.0 * RADIUS;
    let bodies = [
        ("ball, 4 across, 5 tets a cell", generate::ball(RADIUS, 4, Cells::Tet5)?),
        ("cube, 4 across", generate::block([edge; 3], [4; 3], Cells::Tet6)?),
        ("bar, 8 × 2 × 2 cells", generate::block([2.0 * edge, 0.5 * edge, 0.5 * edge], [8, 2, 2], Cells::Tet6)?),
    ];
    let mut rows = Vec::new();
    for (name, mesh) in bodies {
        let mut data = mesh.into_data();
        let centre = data.vertices.iter().sum::<Vec3>() / data.vertices.len() as f64;
        data.vertices.iter_mut().for_each(|x| *x -= centre);
        let mesh = VolumeMesh::check(data)?.mesh;
        for candidate in [COROTATIONAL, STVK_EXTRAPOLATED] {
            let mut row = vec![name.to_owned(), candidate.name()];
            for collapse in COLLAPSES {
                let mut course = Course::new(candidate, collapse, 0, step);
                course.go(page, &mesh, seconds, None)?;
                row.push(course.verdict());
            }
            rows.push(row);
        }
    }
    let heading: Vec<&str> = ["body", "law"].into_iter().chain(COLLAPSES.map(Collapse::name)).collect();
    page.table("others", "The same for other bodies, some of which are caught in a knot on the way", &heading, rows)
}

/// In how many of some courses the body recovers.
fn in_how_many(courses: &[Course]) -> String {
    format!("{} of {}", courses.iter().filter(|course| course.recovers()).count(), courses.len())
}

/// The energy density of a law, in J/m³, in an inverted element with stretches of −1, 3 and 3, times `size`.
fn inverted_density(candidate: Candidate, size: f64) -> anyhow::Result<f64> {
    let mesh = generate::block([1.0; 3], [1; 3], Cells::Tet6)?;
    let place = |x: &Vec3| size * *x * Vec3::new(-1.0, 3.0, 3.0);
    let u: Vec<f64> = mesh.vertices().iter().flat_map(|x| (place(x) - *x).to_array()).collect();
    Ok(Elastic::uniform(&mesh, candidate.material()?).energy(&u) / mesh.volume())
}

fn plot(page: &mut Page<'_>, courses: &[Course]) -> anyhow::Result<()> {
    let of = |collapse: Collapse, y_label: &str, number: fn(&Moment) -> f64| {
        let shown = courses.iter().filter(|course| course.collapse == collapse).take(PLOTTED);
        let points = |course: &Course| course.moments.iter().map(|m| (m.time, number(m))).collect();
        Plot {
            title: collapse.name().into(),
            x_label: "time, s".into(),
            y_label: y_label.into(),
            series: shown.map(|course| Series::new(course.candidate.name(), points(course))).collect(),
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

    fn material(self) -> anyhow::Result<Elasticity> {
        Ok(Elasticity::from(AnyLaw::new(self.law, MODULI)?).with_inversion(self.inversion)?)
    }

    /// Whether it is defined, and has its least energy at rest alone, also among inverted states.
    fn handles_inversion(self) -> bool {
        self.inversion != Inversion::None || matches!(self.law, "corotational" | "stable-neo-hookean")
    }
}

impl Course {
    fn new(candidate: Candidate, collapse: Collapse, seed: u64, step: f64) -> Self {
        Self { candidate, collapse, seed, step, outcome: Outcome::Finished, moments: Vec::new() }
    }

    /// Let the body go; returns pictures of it for a row of a picture, if that is wanted.
    fn go(
        &mut self,
        page: &Page<'_>,
        mesh: &VolumeMesh,
        seconds: f64,
        row: Option<usize>,
    ) -> anyhow::Result<Vec<Shot>> {
        let body = Body::new(mesh.clone(), self.candidate.material()?, DENSITY);
        let mut model = Model::builder().body(body).damping(Damping::rayleigh(DAMPING[0], DAMPING[1])?).build()?;
        let mut state = model.rest_state();
        self.collapse.apply(mesh, RADIUS, self.seed, &mut state);
        let what = format!("{}, {}", self.candidate.name(), self.collapse.name());
        let mut shots = Vec::new();
        let mut see = |model: &Model, state: &State, column: usize| {
            let place = |row: usize| 3.0 * RADIUS * Vec3::new(column as f64, -(row as f64), 0.0);
            shots.extend(row.map(|row| Shot::new(model, state, place(row))));
        };
        see(&model, &state, 0);
        self.moments.push(Moment::of(&model, &state, RADIUS));
        let mut scheme = LinearizedBackwardEuler::default();
        let step = self.step;
        let steps = (seconds / step).round() as usize;
        let seen = [1.0 / 15.0, 0.25, 1.0].map(|time: f64| (time / step).round() as usize);
        self.outcome = march(page, &what, &mut model, &mut scheme, &mut state, step, steps, |model, state| {
            self.moments.push(Moment::of(model, state, RADIUS));
            if let Some(column) = seen.iter().position(|seen| seen + 1 == self.moments.len()) {
                see(model, state, column + 1);
            }
        })?;
        Ok(shots)
    }

    fn last(&self) -> Moment {
        *self.moments.last().unwrap_or(&Moment { time: 0.0, inverted: 0, distance: f64::NAN })
    }

    fn recovers(&self) -> bool {
        let Moment { inverted, distance, .. } = self.last();
        self.outcome.is_finished() && inverted == 0 && distance < HOME
    }

    fn verdict(&self) -> String {
        let Moment { time, inverted, distance } = self.last();
        match &self.outcome {
            Outcome::Exploded { .. } if time == 0.0 => "cannot begin".into(),
            Outcome::Exploded { .. } => format!("explodes after {} s", digits(time, 2)),
            Outcome::Finished if self.recovers() => "yes".into(),
            Outcome::Finished => format!("no: {inverted} inverted, distance {}", digits(distance, 2)),
        }
    }
}

fn find(page: &mut Page<'_>, courses: &[Course], tries: &[Course]) {
    let of = |candidate: Candidate| courses.iter().filter(move |course| course.candidate == candidate);
    let verdicts = |candidate: Candidate| {
        of(candidate).map(|c| format!("{}: {}", c.collapse.name(), c.verdict())).collect::<Vec<_>>().join("; ")
    };
    let handling: Vec<&Course> = courses.iter().filter(|course| course.candidate.handles_inversion()).collect();
    let flat: Vec<&&Course> = handling.iter().filter(|course| course.collapse == Collapse::Plane).collect();
    let recovered = |courses: &[&&Course]| courses.iter().filter(|course| course.recovers()).count();
    page.finding(
        "every law that handles inversion recovers from a plane",
        recovered(&flat) == flat.len(),
        format!("{} of {}", recovered(&flat), flat.len()),
    );
    for candidate in [COROTATIONAL, STVK_EXTRAPOLATED] {
        let again: Vec<&Course> = tries.iter().filter(|course| course.candidate == candidate).collect();
        let recovered = again.iter().filter(|course| course.recovers()).count();
        page.finding(
            format!("with {} this ball recovers from everything, however it was scrambled", candidate.name()),
            of(candidate).all(Course::recovers) && recovered == again.len(),
            format!("{}; {recovered} of {} other random starts", verdicts(candidate), again.len()),
        );
    }
    let by_stable = |collapse| of(STABLE).find(|course| course.collapse == collapse);
    // But for rounding.
    let moved = |course: &Course| (course.last().distance / course.moments[0].distance - 1.0).abs();
    let stays = by_stable(Collapse::Point).is_some_and(|course| moved(course) < 1e-9);
    let ordered = [Collapse::Plane, Collapse::InsideOut].map(by_stable);
    page.finding(
        "the stable neo-Hookean law, which is younger than the paper, recovers from a plane and from inside out, but not from a point, where \
         it has no force at all",
        stays && ordered.into_iter().flatten().all(Course::recovers),
        verdicts(STABLE),
    );
    let inside_out = of(BARE_STVK).find(|course| course.collapse == Collapse::InsideOut);
    let unmoved = inside_out.is_some_and(|course| moved(course) < 1e-9);
    page.finding(
        "St. Venant–Kirchhoff without handling stays inverted, and inside out it does not even move: that state has no energy",
        of(BARE_STVK).all(|course| course.outcome.is_finished() && course.last().inverted > 0) && unmoved,
        verdicts(BARE_STVK),
    );
    page.finding(
        "the neo-Hookean law without handling cannot begin",
        of(BARE_NEO_HOOKEAN).all(|course| !course.outcome.is_finished() && course.moments.len() == 1),
        of(BARE_NEO_HOOKEAN)
            .find_map(|course| match &course.outcome {
                Outcome::Exploded { why, .. } => Some(why.clone()),
                Outcome::Finished => None,
            })
            .unwrap_or_else(|| "it does".into()),
    );
}

/// What keeping stretches above a threshold does not do.
fn find_limits(page: &mut Page<'_>, courses: &[Course], smaller: &[Course]) -> anyhow::Result<()> {
    let of = |candidate: Candidate| courses.iter().filter(move |course| course.candidate == candidate);
    let verdicts = |candidate: Candidate| {
        of(candidate).map(|c| format!("{}: {}", c.collapse.name(), c.verdict())).collect::<Vec<_>>().join("; ")
    };
    let from_a_plane_only = |candidate| of(candidate).all(|c| c.recovers() == (c.collapse == Collapse::Plane));
    let share = |candidate| {
        let again = smaller.iter().filter(|course| course.candidate == candidate);
        let (all, home) = again.fold((0, 0), |(all, home), c| (all + 1, home + usize::from(c.recovers())));
        (home, format!("{}; with a quarter of the step {home} of {all} others", verdicts(candidate)))
    };
    let (home, measured) = share(NEO_HOOKEAN_CLAMPED);
    page.difference(
        format!(
            "not all laws that are kept from inverting recover: the neo-Hookean one clamped at {}, VegaFEM's threshold, does so from a plane alone, and smaller steps do not help",
            Inversion::DEFAULT_THRESHOLD
        ),
        from_a_plane_only(NEO_HOOKEAN_CLAMPED) && home == 0,
        measured,
    );
    page.finding(
        "clamped at 0.5 it recovers from everything: it is the threshold that keeps it from that",
        of(NEO_HOOKEAN_CLAMPED_EARLIER).all(Course::recovers),
        verdicts(NEO_HOOKEAN_CLAMPED_EARLIER),
    );
    let (home, measured) = share(NEO_HOOKEAN_EXTRAPOLATED);
    page.difference(
        "extrapolated it recovers from a plane alone as well, and explodes from all else, also with smaller steps",
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
        "for its energy has no least value: in an inverted element that is thinner than wide it falls as that grows, while that of St. Venant–Kirchhoff rises",
        falls(&neo_hookean) && rises(&stvk),
        format!(
            "{} J/m³ at stretches of -1, 3 and 3 and at 10 and 100 times those; {} J/m³ for St. Venant–Kirchhoff",
            listed(&neo_hookean),
            listed(&stvk)
        ),
    );
    Ok(())
}
