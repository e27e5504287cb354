//! Where the time of a frame goes.

use std::time::Instant;

use pliant::integrator::{Integrator, LinearizedBackwardEuler, StepInfo};
use pliant::math::{Affine3, Mat3, Vec3};
use pliant::mesh::{Embedding, SurfaceMesh, VertexNormals};
use pliant::solver::SolverParams;
use pliant::system::State;

use crate::bodies::{self, Specimen};
use crate::measure::digits;
use crate::picture::{Shot, draw};
use crate::vega::setting::{self, STEP};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-frame-budget",
    paper: &paper::VEGA,
    part: "table 1",
    title: "The budget of a frame",
    reports: "A coarse mesh is simulated, and a detailed surface is embedded into it and shown. Of the time of a frame, forces with \
              stiffness and the linear solver take nearly all; interpolating the surface and its normals cost little.",
    run,
};

/// Faces of a body beyond which its edges are not drawn.
const MOST_EDGED: usize = 3000;

/// What was measured of a body.
struct Row {
    name: &'static str,
    solver: &'static str,
    /// In s, means of all frames: forces and stiffness, the linear solver, all of the step, the surface, its normals.
    forces: f64,
    solving: f64,
    step: f64,
    surface: f64,
    normals: f64,
    factors: f64,
    /// VegaFEM's step, in ms.
    there: Option<f64>,
}

impl Row {
    fn total(&self) -> f64 {
        self.step + self.surface + self.normals
    }
}

/// A body to be made.
#[derive(Clone, Copy)]
struct Wanted {
    make: fn() -> anyhow::Result<Specimen>,
    /// How many vertices the one has that it stands for.
    vertices: usize,
    /// What a step of a body of that size takes VegaFEM 4.0, in ms, if that is known: linearised, PARDISO at every step, two threads, the same law but for cubes, whose law
    /// is not invertible there. Measured on another machine.
    there: Option<f64>,
}

const WANTED: [Wanted; 5] = [
    Wanted { make: bodies::dinosaur, vertices: 344, there: Some(2.4) },
    Wanted { make: bodies::bridge_of_cubes, vertices: 3923, there: Some(131.0) },
    Wanted { make: bodies::bridge, vertices: 4000, there: Some(27.0) },
    Wanted { make: bodies::crane, vertices: 9875, there: Some(516.0) },
    Wanted { make: bodies::dragon, vertices: 46_700, there: None },
];

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let (mut sizes, mut rows, mut shots) = (Vec::new(), Vec::new(), Vec::new());
    let (mut outside, mut affine, mut turned, mut unlike) = (0, 0.0_f64, 0.0_f64, 0.0_f64);
    for (number, wanted) in WANTED.iter().take(page.pick(5, 2)).enumerate() {
        page.now("making a body")?;
        let specimen = (wanted.make)()?;
        unlike = unlike.max((specimen.mesh.vertex_count() as f64 / wanted.vertices as f64 - 1.0).abs());
        let mut shown = Shown::new(&specimen)?;
        outside += shown.embedding.outside().len();
        let (moved, normals) = shown.errors_when_moved(&specimen);
        (affine, turned) = (affine.max(moved), turned.max(normals));
        let mesh = &specimen.mesh;
        sizes.push(vec![
            specimen.name.to_owned(),
            wanted.vertices.to_string(),
            mesh.vertex_count().to_string(),
            mesh.element_count().to_string(),
            shown.surface.vertices().len().to_string(),
            digits(specimen.young, 2),
        ]);
        for (solver, params, frames) in
            [("default", SolverParams::default(), page.pick(40, 6)), ("direct", SolverParams::Direct, page.pick(4, 2))]
        {
            let what = format!("{}, {solver} solver", specimen.name);
            let (row, state) = film(page, &what, &specimen, &mut shown, solver, params, frames)?;
            rows.push(Row { there: wanted.there, ..row });
            if solver == "default" {
                shots.extend(portraits(&specimen, &shown, &state, number));
            }
        }
    }
    page.text(format!(
        "Bodies are of invertible St. Venant–Kirchhoff material, {}, linearised backward Euler, and begin to sag from rest. *Default* is Pliant's own solver, \
         which keeps factors for many steps; *direct* factors every matrix in double precision, as VegaFEM does with PARDISO. Times are means, those of the first frame, \
         which analyses the pattern, left out. VegaFEM's steps are those of bodies of the same sizes on another machine, with two threads and PARDISO.",
        setting::in_words()
    ));
    page.table(
        "bodies",
        "The bodies",
        &["body", "vertices there", "vertices", "elements", "surface vertices", "Y in Pa"],
        sizes,
    )?;
    page.picture(
        "bodies",
        "Meshes (below), and the surfaces that are embedded in them, each at its own scale",
        &draw(&shots, "", [1400, 600])?,
    )?;
    table(page, &rows)?;

    page.finding(
        "bodies have as many vertices as those of the paper and as VegaFEM's own models",
        unlike < 0.01,
        format!("within {} %", digits(100.0 * unlike, 2)),
    );
    page.finding(
        "every vertex of the detailed surfaces is inside of the mesh that carries it",
        outside == 0,
        format!("{outside} outside"),
    );
    page.finding(
        "a surface follows an affine motion of its mesh exactly",
        affine < 1e-12,
        format!("off by at most {} of the size of the body", digits(affine, 2)),
    );
    page.finding("normals turn with a body that turns", turned < 1e-9, format!("off by at most {}", digits(turned, 2)));
    let share = |row: &Row| (row.surface + row.normals) / row.total();
    let largest = |solver: &str| rows.iter().rfind(|row| row.solver == solver);
    let (small, large): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.name == "dinosaur");
    let most = |rows: &[&Row]| 100.0 * rows.iter().map(|row| share(row)).fold(0.0, f64::max);
    page.finding_by_clock(
        "surface and normals are a small part of a frame, but for the smallest body",
        most(&large) < 20.0,
        format!("at most {} % of one; {} % with the dinosaur", digits(most(&large), 2), digits(most(&small), 2)),
    );
    if let Some(row) = largest("direct") {
        page.finding_by_clock(
            "with a factor at every step, the solver dominates in large bodies",
            row.solving > 0.5 * row.total(),
            format!("{} % of a frame of the {}", digits(100.0 * row.solving / row.total(), 3), row.name),
        );
    }
    let faster: Vec<f64> = rows.chunks(2).filter_map(|pair| Some(pair.get(1)?.step / pair.first()?.step)).collect();
    page.finding_by_clock(
        "keeping factors makes steps faster than a factor at every step",
        faster.iter().all(|&times| times > 1.0),
        format!("{} times", listed(&faster)),
    );
    let compared = rows.iter().filter(|row| row.solver == "default");
    let faster: Vec<f64> = compared.filter_map(|row| Some(row.there? / (1e3 * row.step))).collect();
    page.finding_by_clock(
        "with it, steps are faster than those of VegaFEM 4.0 on bodies of the same sizes",
        faster.iter().all(|&times| times > 1.0),
        format!("{} times", listed(&faster)),
    );
    Ok(())
}

fn listed(times: &[f64]) -> String {
    times.iter().map(|&times| digits(times, 2)).collect::<Vec<_>>().join(", ")
}

fn table(page: &mut Page<'_>, rows: &[Row]) -> anyhow::Result<()> {
    let heading = [
        "body",
        "solver",
        "forces and stiffness, ms",
        "linear solver, ms",
        "rest of the step, ms",
        "surface, ms",
        "normals, ms",
        "frame, ms",
        "frames a second",
        "factors a step",
        "step of VegaFEM 4.0, ms",
    ];
    let cells = |row: &Row| {
        let rest = (row.step - row.forces - row.solving).max(0.0);
        let parts = [row.forces, row.solving, rest, row.surface, row.normals, row.total()];
        [row.name.to_owned(), row.solver.to_owned()]
            .into_iter()
            .chain(parts.map(|seconds| digits(1e3 * seconds, 3)))
            .chain([digits(1.0 / row.total(), 3), digits(row.factors, 2)])
            .chain([row.there.map_or("–".to_owned(), |there| digits(there, 3))])
            .collect()
    };
    page.table("frames", "Where the time of a frame goes", &heading, rows.iter().map(cells).collect())
}

/// What is shown of a body.
struct Shown {
    surface: SurfaceMesh,
    embedding: Embedding,
    compute: VertexNormals,
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl Shown {
    fn new(specimen: &Specimen) -> anyhow::Result<Self> {
        let surface = specimen.surface()?;
        let embedding = Embedding::new(&specimen.mesh, surface.vertices())?;
        let compute = VertexNormals::new(&surface);
        let points = vec![Vec3::ZERO; surface.vertices().len()];
        Ok(Self { normals: points.clone(), surface, embedding, compute, points })
    }

    /// How far the surface is from where it should be if its body is sheared, as a part of the size of the body, and its normals from theirs
    /// if the body turns.
    fn errors_when_moved(&mut self, specimen: &Specimen) -> (f64, f64) {
        let shear = Mat3::from_cols_array(&[1.1, 0.2, -0.3, 0.1, 0.8, 0.2, 0.0, -0.2, 1.3]);
        let map = Affine3::from_mat3_translation(shear, Vec3::new(0.5, -0.2, 0.1));
        let [low, high] = specimen.mesh.bounding_box();
        let carried =
            |map: Affine3| -> Vec<Vec3> { specimen.mesh.vertices().iter().map(|x| map.transform_point3(*x)).collect() };
        self.embedding.interpolate(&carried(map), &mut self.points);
        let apart = |(place, point): (&Vec3, &Vec3)| place.distance(map.transform_point3(*point));
        let moved = self.points.iter().zip(self.surface.vertices()).map(apart).fold(0.0, f64::max);
        let turn = Mat3::from_rotation_y(1.0) * Mat3::from_rotation_x(0.5);
        self.compute.compute(self.surface.vertices(), &mut self.normals);
        let before = self.normals.clone();
        self.embedding.interpolate(&carried(Affine3::from_mat3(turn)), &mut self.points);
        self.compute.compute(&self.points, &mut self.normals);
        let turned = self.normals.iter().zip(&before).map(|(now, before)| now.distance(turn * *before));
        (moved / (high - low).length(), turned.fold(0.0, f64::max))
    }
}

/// Frames of a body that begins to move under its weight, and where it is after them.
fn film(
    page: &Page<'_>,
    what: &str,
    specimen: &Specimen,
    shown: &mut Shown,
    solver: &'static str,
    params: SolverParams,
    frames: usize,
) -> anyhow::Result<(Row, State)> {
    let mut model = setting::model(specimen)?;
    let (mut scheme, mut linear) = (LinearizedBackwardEuler::default(), params.build());
    let mut state = model.rest_state();
    page.now(format_args!("{what}: analysing"))?;
    scheme.step(&mut model, &mut *linear, &mut state, STEP)?;
    let (mut sum, mut seconds) = (StepInfo::default(), [0.0; 3]);
    for frame in 0..frames {
        page.now(format_args!("{what}: frame {} of {frames}", frame + 1))?;
        let began = Instant::now();
        sum = sum.and(&scheme.step(&mut model, &mut *linear, &mut state, STEP)?);
        seconds[0] += began.elapsed().as_secs_f64();
        let began = Instant::now();
        shown.embedding.interpolate(&model.positions(&state), &mut shown.points);
        seconds[1] += began.elapsed().as_secs_f64();
        let began = Instant::now();
        shown.compute.compute(&shown.points, &mut shown.normals);
        seconds[2] += began.elapsed().as_secs_f64();
    }
    let mean = |seconds: f64| seconds / frames as f64;
    let row = Row {
        name: specimen.name,
        solver,
        forces: mean(sum.assembling.as_secs_f64()),
        solving: mean(sum.solving.as_secs_f64()),
        step: mean(seconds[0]),
        surface: mean(seconds[1]),
        normals: mean(seconds[2]),
        factors: mean(sum.factorizations as f64),
        there: None,
    };
    Ok((row, state))
}

/// The mesh and the surface above it, made as large as all others are and put beside those.
fn portraits(specimen: &Specimen, shown: &Shown, state: &State, number: usize) -> [Shot; 2] {
    let boundary = specimen.mesh.boundary();
    let [low, high] = specimen.mesh.bounding_box();
    let (middle, scale) = (0.5 * (low + high), 1.0 / (high - low).max_element());
    let place = |x: Vec3, row: f64| scale * (x - middle) + Vec3::new(1.1 * number as f64, row, 0.0);
    let moved = |v: &u32| specimen.mesh.vertices()[*v as usize] + Vec3::from_slice(&state.q[3 * *v as usize..]);
    let coarse = boundary.vertices.iter().map(|v| place(moved(v), 0.0)).collect();
    let fine = shown.points.iter().map(|x| place(*x, 0.9)).collect();
    let mesh = Shot::of_surface(&boundary.surface, coarse);
    // Too many edges would leave nothing else to be seen.
    let mesh = if boundary.faces.len() < MOST_EDGED { mesh } else { mesh.without_edges() };
    [mesh, Shot::of_surface(&shown.surface, fine).without_edges()]
}
