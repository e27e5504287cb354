//! Forces in the course's order of computation, compared with Pliant's.

use pliant::force::{Conditions, Definiteness, Elastic, Force};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::{Mat3, Vec3};
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Plot, Series};

use super::batch::{self, Law, Material, Tet};
use crate::measure::{digits, exponent, min_seconds, on_threads};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "course-forces",
    paper: &paper::COURSE,
    part: "chapter 4",
    title: "Elastic forces and their differentials, element by element",
    reports: "For linear tetrahedra, the inverse of the edge matrix at rest and the volume of every element are precomputed. Each evaluation then loops over the \
              elements: deformation gradient, stress, and a product that is added to the forces on the four vertices. The force differentials that Newton's \
              method needs are computed in the same way, without a matrix. The work is proportional to the number of elements.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.4 };
const LAWS: [(Law, &str); 3] = [(Law::Linear, "linear"), (Law::StVk, "stvk"), (Law::NeoHookean, "neo-hookean")];
/// Maximum random displacement of a vertex along each axis, relative to the edge length of a cell.
const NOISE: f64 = 0.12;
/// Tolerance for rounding errors between two evaluations of the same formula, relative to the largest value.
const ROUNDING: f64 = 1e-12;

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    agreement(page)?;
    cost(page)
}

/// Creates a cube of 1 m, split into tetrahedra.
fn cube(cells: usize) -> anyhow::Result<VolumeMesh> {
    Ok(generate::block([1.0; 3], [cells; 3], Cells::Tet5)?)
}

/// Returns positions that are rotated, stretched, sheared and randomly perturbed, and a random displacement of each
/// vertex.
fn random_state(mesh: &VolumeMesh, cells: usize) -> (Vec<Vec3>, Vec<Vec3>) {
    let mut random = fastrand::Rng::with_seed(2012);
    let mut anywhere = |size: f64| Vec3::from_array([0; 3].map(|_| size * (2.0 * random.f64() - 1.0)));
    let map = Mat3::from_rotation_z(0.7)
        * Mat3::from_rotation_x(-0.4)
        * Mat3::from_cols(Vec3::new(1.4, 0.1, 0.0), Vec3::new(0.2, 0.8, -0.1), Vec3::new(0.0, 0.1, 1.1));
    let size = NOISE / cells as f64;
    let x = mesh.vertices().iter().map(|rest| map * *rest + anywhere(size)).collect();
    let dx = mesh.vertices().iter().map(|_| anywhere(1.0)).collect();
    (x, dx)
}

fn agreement(page: &mut Page<'_>) -> anyhow::Result<()> {
    let cells = page.pick(16, 6);
    let mesh = cube(cells)?;
    let mut tets = batch::precompute(&mesh);
    let (x, dx) = random_state(&mesh, cells);
    page.text(format!(
        "The algorithm follows the course, with its order, stresses and stress differentials, and shares only the mesh with Pliant. The body is a cube of \
         {} tetrahedra and {} vertices with `Y = 1` MPa and `ν = 0.4`. It is rotated, stretched to 1.4 times its length, sheared, and randomly perturbed; the minimum volume ratio of an element is {}.",
        tets.len(),
        mesh.vertex_count(),
        digits(batch::min_volume_ratio(&tets, &x), 2),
    ));
    let u: Vec<f64> = x.iter().zip(mesh.vertices()).flat_map(|(x, rest)| (*x - *rest).to_array()).collect();
    let flat: Vec<f64> = dx.iter().flat_map(Vec3::to_array).collect();
    let (mut rows, mut worst, mut net, mut torques) = (Vec::new(), [0.0_f64; 2], 0.0_f64, Vec::new());
    for (law, name) in LAWS {
        page.now(format_args!("{name}: forces of {} elements", tets.len()))?;
        let material = Material { law, mu: MODULI.mu(), lambda: MODULI.lambda() };
        let (mut force, mut change) = (vec![Vec3::ZERO; x.len()], vec![Vec3::ZERO; x.len()]);
        batch::add_forces(material, &tets, &x, &mut force);
        batch::add_force_differentials(material, &tets, &x, &dx, &mut change);

        let elastic = Elastic::uniform(&mesh, AnyLaw::new(name, MODULI)?);
        let (mut ours, mut product) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        elastic.add_gradient(&u, &Conditions::START, &mut ours);
        elastic.add_stiffness_product(&u, Definiteness::Exact, &flat, &mut product);
        let errors = [difference(&force, &ours), difference(&change, &product)];

        let sizes: f64 = force.iter().map(|f| f.length()).sum();
        let sum: Vec3 = force.iter().sum();
        let torque: Vec3 = x.iter().zip(&force).map(|(x, f)| x.cross(*f)).sum();
        let arms: f64 = x.iter().zip(&force).map(|(x, f)| x.length() * f.length()).sum();
        let [sum, torque] = [sum.length() / sizes, torque.length() / arms];
        worst = [worst[0].max(errors[0]), worst[1].max(errors[1])];
        net = net.max(sum);
        torques.push(torque);
        let numbers = [errors[0], errors[1], sum, torque].map(|error| digits(error, 2));
        rows.push([vec![name.to_owned()], numbers.to_vec()].concat());
    }
    let heading = [
        "law",
        "error of forces",
        "error of differentials",
        "sum of all forces",
        "sum of all torques about the origin",
    ];
    let caption = "Errors relative to the largest value, and sums relative to the sum of all magnitudes";
    page.table("agreement", caption, &heading, rows)?;
    page.finding(
        "the course's forces agree with those of Pliant up to rounding",
        worst[0] < ROUNDING,
        format!("within {} of the largest for three laws", digits(worst[0], 2)),
    );
    page.finding(
        "its force differentials agree with products with Pliant's stiffness matrix",
        worst[1] < ROUNDING,
        format!("within {} of the largest", digits(worst[1], 2)),
    );
    page.finding(
        "elastic forces sum to zero",
        net < ROUNDING,
        format!("{} relative to their magnitudes", digits(net, 2)),
    );
    page.finding(
        "their torques sum to zero for rotation-invariant laws, but not for the linear law",
        torques[1].max(torques[2]) < ROUNDING && torques[0] > 1e-3,
        format!(
            "{} and {} relative to their magnitudes for St. Venant–Kirchhoff and neo-Hookean, {} for the linear law",
            digits(torques[1], 2),
            digits(torques[2], 2),
            digits(torques[0], 2)
        ),
    );
    let largest = by_order(page, &mut tets, &x)?;
    page.finding(
        "the order of the elements changes only the last digits, less than the theoretical bound for sums of `n` terms",
        largest > 0.0 && largest < 1.0,
        format!(
            "at most {} of the bound `2(n − 1)ε Σ|fᵢ|` in {ORDERS} orders, with `n` elements at a vertex",
            digits(largest, 2)
        ),
    );
    Ok(())
}

/// Number of random element orders.
const ORDERS: usize = 20;

/// Returns the maximum difference of forces between orders of the elements, relative to the rounding error bound of the
/// sum at each vertex.
fn by_order(page: &Page<'_>, tets: &mut [Tet], x: &[Vec3]) -> anyhow::Result<f64> {
    let material = Material { law: Law::StVk, mu: MODULI.mu(), lambda: MODULI.lambda() };
    let mut first = vec![Vec3::ZERO; x.len()];
    batch::add_forces(material, tets, x, &mut first);
    // Number and magnitudes of the element contributions at each vertex.
    let (mut counts, mut magnitudes) = (vec![0.0; x.len()], vec![Vec3::ZERO; x.len()]);
    let mut alone = vec![Vec3::ZERO; x.len()];
    for tet in tets.iter() {
        batch::add_forces(material, std::slice::from_ref(tet), x, &mut alone);
        for node in tet.nodes() {
            counts[node] += 1.0;
            magnitudes[node] += alone[node].abs();
            alone[node] = Vec3::ZERO;
        }
    }
    let mut random = fastrand::Rng::with_seed(4);
    let mut largest = 0.0_f64;
    for order in 0..ORDERS {
        page.now(format_args!("order {} of {ORDERS}", order + 1))?;
        random.shuffle(tets);
        let mut force = vec![Vec3::ZERO; x.len()];
        batch::add_forces(material, tets, x, &mut force);
        for node in 0..x.len() {
            // The error of each of the two sums is at most (n − 1) ε of the magnitudes, with ε = f64::EPSILON / 2.
            let bound = magnitudes[node] * (f64::EPSILON * (counts[node] - 1.0));
            let change = (force[node] - first[node]).abs();
            for axis in 0..3 {
                if change[axis] > 0.0 {
                    largest = largest.max(change[axis] / bound[axis]);
                }
            }
        }
    }
    Ok(largest)
}

/// Returns the maximum difference between the course's forces and Pliant's, which have the opposite sign, relative to
/// the largest.
fn difference(course: &[Vec3], ours: &[f64]) -> f64 {
    let pairs = course.iter().flat_map(Vec3::to_array).zip(ours);
    let (error, size) =
        pairs.fold((0.0_f64, 0.0_f64), |(error, size), (a, b)| (error.max((a + b).abs()), size.max(b.abs())));
    error / size
}

fn cost(page: &mut Page<'_>) -> anyhow::Result<()> {
    let sizes: &[usize] = page.pick(&[8, 12, 18, 27, 40], &[4, 6, 8]);
    let names = ["force, one by one", "differential, one by one", "force, Pliant", "differential, Pliant"];
    let mut curves: [Vec<(f64, f64)>; 4] = Default::default();
    for &cells in sizes {
        let mesh = cube(cells)?;
        page.now(format_args!("time for {} elements", mesh.element_count()))?;
        let rounds = page.pick(7, 2);
        let seconds = on_threads(1, || times(&mesh, cells, rounds))??;
        for (curve, seconds) in curves.iter_mut().zip(seconds) {
            curve.push((mesh.element_count() as f64, 1e3 * seconds));
        }
    }
    let rows = (0..sizes.len()).map(|i| {
        let count = vec![format!("{}", curves[0][i].0)];
        [count, curves.iter().map(|curve| digits(curve[i].1, 3)).collect()].concat()
    });
    let heading = [&["tetrahedra"], &names.map(|name| name)[..]].concat();
    page.table("cost", "Time in ms on one thread, neo-Hookean law", &heading, rows.collect())?;
    let exponents = curves.each_ref().map(|curve| exponent(curve));
    let per_element = curves.each_ref().map(|curve| curve.last().map_or(f64::NAN, |(n, ms)| 1e6 * ms / n));
    let series = names
        .iter()
        .zip(curves)
        .map(|(name, points)| Series { style: Style::LineAndMarkers, ..Series::new(*name, points) });
    let plot = Plot {
        x_label: "tetrahedra".into(),
        y_label: "time in ms".into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series: series.collect(),
        ..Plot::default()
    };
    page.figure("cost-by-size", "Time of one evaluation on one thread, neo-Hookean law", plot)?;
    page.timing_finding(
        "the cost is proportional to the number of elements, except for cache effects",
        exponents.iter().all(|p| (p - 1.0).abs() < 0.3),
        format!("exponents {}", exponents.map(|p| digits(p, 3)).join(", ")),
    );
    page.timing_finding(
        "vectorized forces of several elements at a time are faster than one element at a time",
        per_element[2] < per_element[0],
        format!("{} ns per element instead of {}", digits(per_element[2], 3), digits(per_element[0], 3)),
    );
    page.text(
        "For differentials, Pliant computes the full 9 × 9 tangent, which works for any law, and multiplies by it. The course's formula is specific to this law and does not need the tangent.",
    );
    Ok(())
}

/// Measures the times of forces and differentials \[s\]: the course's, then Pliant's.
fn times(mesh: &VolumeMesh, cells: usize, rounds: usize) -> anyhow::Result<[f64; 4]> {
    let tets = batch::precompute(mesh);
    let (x, dx) = random_state(mesh, cells);
    let material = Material { law: Law::NeoHookean, mu: MODULI.mu(), lambda: MODULI.lambda() };
    let mut sum = vec![Vec3::ZERO; x.len()];
    let plain = min_seconds(rounds, || batch::add_forces(material, &tets, &x, &mut sum));
    let plain_change = min_seconds(rounds, || batch::add_force_differentials(material, &tets, &x, &dx, &mut sum));
    let elastic = Elastic::uniform(mesh, AnyLaw::new("neo-hookean", MODULI)?);
    let u: Vec<f64> = x.iter().zip(mesh.vertices()).flat_map(|(x, rest)| (*x - *rest).to_array()).collect();
    let flat: Vec<f64> = dx.iter().flat_map(Vec3::to_array).collect();
    let mut sum = vec![0.0; u.len()];
    let ours = min_seconds(rounds, || elastic.add_gradient(&u, &Conditions::START, &mut sum));
    let change = min_seconds(rounds, || elastic.add_stiffness_product(&u, Definiteness::Exact, &flat, &mut sum));
    Ok([plain, plain_change, ours, change])
}
