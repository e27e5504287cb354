//! Breakdown of the time per frame.

use std::time::Instant;

use pliant::integrator::{Integrator, LinearizedBackwardEuler, StepInfo};
use pliant::math::{Affine3, Mat3, Vec3};
use pliant::mesh::{Embedding, SurfaceMesh, VertexNormals};
use pliant::solver::SolverParams;
use pliant::system::State;

use crate::bodies::{self, Specimen};
use crate::measure::digits;
use crate::picture::{PosedSurface, draw};
use crate::vega::setting::{self, STEP};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-frame-budget",
    paper: &paper::VEGA,
    part: "table 1",
    title: "Time budget of a frame",
    reports: "A coarse mesh is simulated, and a detailed surface embedded into it is displayed. Forces with stiffness and the linear solver take \
              nearly all of the frame time; interpolating the surface and its normals costs little.",
    run,
};

/// Maximum number of faces of a body whose edges are drawn.
const MAX_EDGED: usize = 3000;

/// Measurements of a body.
struct Row {
    name: &'static str,
    solver: &'static str,
    /// Mean times per frame \[s\]: forces and stiffness, linear solver, whole step, surface, and its normals.
    forces: f64,
    solving: f64,
    step: f64,
    surface: f64,
    normals: f64,
    factors: f64,
    /// Time of VegaFEM's step \[ms\].
    there: Option<f64>,
}

impl Row {
    fn total(&self) -> f64 {
        self.step + self.surface + self.normals
    }
}

/// Body to be created.
#[derive(Clone, Copy)]
struct Wanted {
    make: fn() -> anyhow::Result<Specimen>,
    /// Number of vertices of the original body.
    vertices: usize,
    /// Time per step of VegaFEM 4.0 for a body of that size \[ms\], if known, measured on another machine: linearized,
    /// PARDISO at every step, two threads, and the same law, except for cubes, whose law is not invertible there.
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
    let (mut sizes, mut rows, mut surfaces) = (Vec::new(), Vec::new(), Vec::new());
    let (mut outside, mut affine, mut turned, mut unlike) = (0, 0.0_f64, 0.0_f64, 0.0_f64);
    for (number, wanted) in WANTED.iter().take(page.pick(5, 2)).enumerate() {
        page.now("creating a body")?;
        let specimen = (wanted.make)()?;
        unlike = unlike.max((specimen.mesh.vertex_count() as f64 / wanted.vertices as f64 - 1.0).abs());
        let mut shown = VisualSurface::new(&specimen)?;
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
                surfaces.extend(portraits(&specimen, &shown, &state, number));
            }
        }
    }
    page.text(format!(
        "Bodies are of invertible St. Venant–Kirchhoff material, {}, linearized backward Euler, and begin to sag from rest. *Default* is Pliant's \
         default solver, which reuses factors for many steps; *direct* factorizes every matrix in double precision, as VegaFEM does with PARDISO. \
         Times are means over all frames except the first, which includes the symbolic factorization. VegaFEM's steps are for bodies of the same sizes \
         on another machine, with two threads and PARDISO.",
        setting::in_words()
    ));
    page.table(
        "bodies",
        "Bodies",
        &["body", "vertices in the original", "vertices", "elements", "surface vertices", "Y in Pa"],
        sizes,
    )?;
    page.picture(
        "bodies",
        "Meshes (below) and the surfaces embedded in them, each scaled to the same size",
        &draw(&surfaces, "", [1400, 600])?,
    )?;
    table(page, &rows)?;

    page.finding(
        "bodies have as many vertices as those of the paper and of VegaFEM's models",
        unlike < 0.01,
        format!("within {} %", digits(100.0 * unlike, 2)),
    );
    page.finding(
        "every vertex of the detailed surfaces is inside its mesh",
        outside == 0,
        format!("{outside} outside"),
    );
    page.finding(
        "a surface follows an affine motion of its mesh exactly",
        affine < 1e-12,
        format!("maximum error {} relative to the size of the body", digits(affine, 2)),
    );
    page.finding("normals rotate with a rotating body", turned < 1e-9, format!("maximum error {}", digits(turned, 2)));
    let share = |row: &Row| (row.surface + row.normals) / row.total();
    let largest = |solver: &str| rows.iter().rfind(|row| row.solver == solver);
    let (small, large): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.name == "dinosaur");
    let max = |rows: &[&Row]| 100.0 * rows.iter().map(|row| share(row)).fold(0.0, f64::max);
    page.timing_finding(
        "surface and normals take a small fraction of a frame, except for the smallest body",
        max(&large) < 20.0,
        format!("at most {} % of a frame; {} % for the dinosaur", digits(max(&large), 2), digits(max(&small), 2)),
    );
    if let Some(row) = largest("direct") {
        page.timing_finding(
            "with a factorization at every step, the solver dominates for large bodies",
            row.solving > 0.5 * row.total(),
            format!("{} % of a frame of the {}", digits(100.0 * row.solving / row.total(), 3), row.name),
        );
    }
    let faster: Vec<f64> = rows.chunks(2).filter_map(|pair| Some(pair.get(1)?.step / pair.first()?.step)).collect();
    page.timing_finding(
        "reusing factors makes steps faster than a factorization at every step",
        faster.iter().all(|&times| times > 1.0),
        format!("{} times", listed(&faster)),
    );
    let compared = rows.iter().filter(|row| row.solver == "default");
    let faster: Vec<f64> = compared.filter_map(|row| Some(row.there? / (1e3 * row.step))).collect();
    page.timing_finding(
        "with reused factors, steps are faster than those of VegaFEM 4.0 on bodies of the same sizes",
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
        "frames per second",
        "factorizations per step",
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
    page.table("frames", "Breakdown of the time per frame", &heading, rows.iter().map(cells).collect())
}

/// Displayed surface of a body.
struct VisualSurface {
    surface: SurfaceMesh,
    embedding: Embedding,
    compute: VertexNormals,
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl VisualSurface {
    fn new(specimen: &Specimen) -> anyhow::Result<Self> {
        let surface = specimen.surface()?;
        let embedding = Embedding::new(&specimen.mesh, surface.vertices())?;
        let compute = VertexNormals::new(&surface);
        let points = vec![Vec3::ZERO; surface.vertices().len()];
        Ok(Self { normals: points.clone(), surface, embedding, compute, points })
    }

    /// Returns the error of the surface when its body is sheared, relative to the size of the body, and the error of
    /// its normals when the body rotates.
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

/// Simulates frames of a body that begins to move under its weight. Returns the timings and the final state.
fn film(
    page: &Page<'_>,
    what: &str,
    specimen: &Specimen,
    shown: &mut VisualSurface,
    solver: &'static str,
    params: SolverParams,
    frames: usize,
) -> anyhow::Result<(Row, State)> {
    let mut model = setting::model(specimen)?;
    let (mut integrator, mut linear) = (LinearizedBackwardEuler::default(), params.build());
    let mut state = model.rest_state();
    page.now(format_args!("{what}: analyzing"))?;
    integrator.step(&mut model, &mut *linear, &mut state, STEP)?;
    let (mut sum, mut seconds) = (StepInfo::default(), [0.0; 3]);
    for frame in 0..frames {
        page.now(format_args!("{what}: frame {} of {frames}", frame + 1))?;
        let began = Instant::now();
        sum = sum.and(&integrator.step(&mut model, &mut *linear, &mut state, STEP)?);
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

/// Returns the mesh and the surface above it, scaled to a common size and placed next to the others.
fn portraits(specimen: &Specimen, shown: &VisualSurface, state: &State, number: usize) -> [PosedSurface; 2] {
    let boundary = specimen.mesh.boundary();
    let [low, high] = specimen.mesh.bounding_box();
    let (middle, scale) = (0.5 * (low + high), 1.0 / (high - low).max_element());
    let place = |x: Vec3, row: f64| scale * (x - middle) + Vec3::new(1.1 * number as f64, row, 0.0);
    let moved = |v: &u32| specimen.mesh.vertices()[*v as usize] + Vec3::from_slice(&state.q[3 * *v as usize..]);
    let coarse = boundary.vertices.iter().map(|v| place(moved(v), 0.0)).collect();
    let fine = shown.points.iter().map(|x| place(*x, 0.9)).collect();
    let mesh = PosedSurface::of_surface(&boundary.surface, coarse);
    // Too many edges would cover the picture.
    let mesh = if boundary.faces.len() < MAX_EDGED { mesh } else { mesh.without_edges() };
    [mesh, PosedSurface::of_surface(&shown.surface, fine).without_edges()]
}
