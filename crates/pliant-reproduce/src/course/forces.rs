//! Forces in the course's order of computation, beside Pliant's.

use pliant::force::{Definiteness, Elastic, Force};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::{Mat3, Vec3};
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Plot, Series};

use super::batch::{self, Law, Material, Tet};
use crate::measure::{digits, exponent, least_seconds, on_threads};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "course-forces",
    paper: &paper::COURSE,
    part: "chapter 4",
    title: "Elastic forces and their differentials, element by element",
    reports: "Forces of linear tetrahedra need, once, the inverse of the edges at rest and the volume of every element; then, at any time and for each \
              element in turn, the deformation gradient, the stress, and a product that is added to the four vertices. The differentials that Newton's \
              method needs go the same way, without a matrix. All of it is work in proportion to the number of elements.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.4 };
const LAWS: [(Law, &str); 3] = [(Law::Linear, "linear"), (Law::StVk, "stvk"), (Law::NeoHookean, "neo-hookean")];
/// How far vertices are moved at random, as a part of the edge of a cell.
const NOISE: f64 = 0.12;
/// What two ways of rounding the same formulas may differ by, as a part of the largest number.
const ROUNDING: f64 = 1e-12;

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    agreement(page)?;
    cost(page)
}

/// A cube of 1 m, cut into tetrahedra.
fn cube(cells: usize) -> anyhow::Result<VolumeMesh> {
    Ok(generate::block([1.0; 3], [cells; 3], Cells::Tet5)?)
}

/// Turned, stretched, sheared, and shaken vertex by vertex; and some other movement of all vertices.
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
        "The algorithm is written out in its own order, with the stresses and their differentials of the course, and shares nothing with Pliant but the mesh: a cube of \
         {} tetrahedra and {} vertices, `Y = 1` MPa and `ν = 0.4`, turned, stretched to 1.4 of its length, sheared, and shaken at random; the smallest element has {} of its volume.",
        tets.len(),
        mesh.vertex_count(),
        digits(batch::least_volume_ratio(&tets, &x), 2),
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
        elastic.add_force(&u, &mut ours);
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
    let heading =
        ["law", "difference of forces", "of differentials", "sum of all forces", "sum of all torques about the origin"];
    let caption = "Differences as parts of the largest force, and sums as parts of the sum of all magnitudes";
    page.table("agreement", caption, &heading, rows)?;
    page.finding(
        "the course's forces are those of Pliant, to rounding",
        worst[0] < ROUNDING,
        format!("within {} of the largest for three laws", digits(worst[0], 2)),
    );
    page.finding(
        "and its force differentials are the products with Pliant's stiffness matrix",
        worst[1] < ROUNDING,
        format!("within {} of the largest", digits(worst[1], 2)),
    );
    page.finding(
        "elastic forces add up to nothing",
        net < ROUNDING,
        format!("to {} of their magnitudes", digits(net, 2)),
    );
    page.finding(
        "so do their torques for laws that do not change with rotation, but not for the linear law",
        torques[1].max(torques[2]) < ROUNDING && torques[0] > 1e-3,
        format!(
            "{} and {} of their magnitudes for St. Venant–Kirchhoff and neo-Hookean, {} for the linear law",
            digits(torques[1], 2),
            digits(torques[2], 2),
            digits(torques[0], 2)
        ),
    );
    let largest = by_order(page, &mut tets, &x)?;
    page.finding(
        "the order of the elements changes no more than the last digits: less than theory allows for sums of so many terms",
        largest > 0.0 && largest < 1.0,
        format!("at most {} of the bound `2(n − 1)ε Σ|fᵢ|` in {ORDERS} orders, with `n` the elements at a vertex", digits(largest, 2)),
    );
    Ok(())
}

/// In how many orders elements are added.
const ORDERS: usize = 20;

/// How far forces differ when elements are added in other orders, as a part of what rounding can do to the sum at each vertex, at the worst.
fn by_order(page: &Page<'_>, tets: &mut [Tet], x: &[Vec3]) -> anyhow::Result<f64> {
    let material = Material { law: Law::StVk, mu: MODULI.mu(), lambda: MODULI.lambda() };
    let mut first = vec![Vec3::ZERO; x.len()];
    batch::add_forces(material, tets, x, &mut first);
    // What each element alone contributes: how many terms there are at a vertex, and their magnitudes.
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
            // Each of the two sums is off by (n − 1) ε of the magnitudes at most, with ε half of what follows 1.
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

/// How far the course's forces are from ours, which are those that balance them, as a part of the largest.
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
    page.finding_by_clock(
        "the cost is in proportion to the number of elements, but for what fits into caches",
        exponents.iter().all(|p| (p - 1.0).abs() < 0.3),
        format!("exponents {}", exponents.map(|p| digits(p, 3)).join(", ")),
    );
    page.finding_by_clock(
        "forces of many elements at a time in vector registers are faster than one by one",
        per_element[2] < per_element[0],
        format!("{} ns an element instead of {}", digits(per_element[2], 3), digits(per_element[0], 3)),
    );
    page.text(
        "For differentials Pliant makes all of the 9 × 9 tangent of any law, and multiplies by it; the course's formula, which is for this law alone, does not need it.",
    );
    Ok(())
}

/// Seconds for forces and differentials, the course's and Pliant's.
fn times(mesh: &VolumeMesh, cells: usize, rounds: usize) -> anyhow::Result<[f64; 4]> {
    let tets = batch::precompute(mesh);
    let (x, dx) = random_state(mesh, cells);
    let material = Material { law: Law::NeoHookean, mu: MODULI.mu(), lambda: MODULI.lambda() };
    let mut sum = vec![Vec3::ZERO; x.len()];
    let plain = least_seconds(rounds, || batch::add_forces(material, &tets, &x, &mut sum));
    let plain_change = least_seconds(rounds, || batch::add_force_differentials(material, &tets, &x, &dx, &mut sum));
    let elastic = Elastic::uniform(mesh, AnyLaw::new("neo-hookean", MODULI)?);
    let u: Vec<f64> = x.iter().zip(mesh.vertices()).flat_map(|(x, rest)| (*x - *rest).to_array()).collect();
    let flat: Vec<f64> = dx.iter().flat_map(Vec3::to_array).collect();
    let mut sum = vec![0.0; u.len()];
    let ours = least_seconds(rounds, || elastic.add_force(&u, &mut sum));
    let change = least_seconds(rounds, || elastic.add_stiffness_product(&u, Definiteness::Exact, &flat, &mut sum));
    Ok([plain, plain_change, ours, change])
}
