//! Cost of force and stiffness for each law.

use std::collections::BTreeSet;
use std::hint::black_box;

use pliant::force::{Definiteness, Elastic, Force, SpringCoefficients, Springs, StVkPolynomial, bind_all};
use pliant::material::{
    AnyLaw, Corotational, CorotationalTangent, Inversion, Material, StVenantKirchhoff, YoungPoisson,
};
use pliant::mesh::VolumeMesh;
use pliant::sparse::BlockMatrix;

use crate::bodies;
use crate::measure::{digits, min_seconds, mooney_rivlin_in_words, on_threads};
use crate::vega::setting::{POISSON, bent, crushed, difference};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-laws",
    paper: &paper::VEGA,
    part: "table 2",
    title: "Force and stiffness by law",
    reports: "Times of internal forces, and of forces with stiffness, for each law on tetrahedra and on cubes. Mass-spring networks and linear \
              elasticity are cheapest, followed by corotational elements. St. Venant–Kirchhoff, there a cubic polynomial with stored coefficients, is \
              by far the most expensive, above all on cubes.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: POISSON };

/// Laws, with the times per element \[µs\] of VegaFEM 4.0 with PARDISO's library for force and stiffness, on 12.8
/// thousand tetrahedra and on 5.6 thousand cubes.
///
/// They are for one thread, gcc 12 with all optimizations, on a Xeon with AVX-512; 0 if VegaFEM lacks the law.
const LAWS: &[(&str, f64, f64)] = &[
    ("mass-spring", 0.06, 0.68),
    ("linear", 0.17, 1.1),
    ("corotational, warped", 0.72, 2.7),
    ("corotational", 1.35, 0.0),
    ("stvk", 12.4, 147.0),
    ("stvk as polynomial", 12.4, 147.0),
    ("neo-hookean", 0.0, 0.0),
    ("neo-hookean-bower", 0.0, 0.0),
    ("stable-neo-hookean", 0.0, 0.0),
    ("mooney-rivlin", 0.0, 0.0),
    ("stvk, clamped", 1.20, 0.0),
    ("neo-hookean, clamped", 1.34, 0.0),
    ("mooney-rivlin, clamped", 1.44, 0.0),
    ("stvk, extrapolated", 1.20, 0.0),
    ("neo-hookean, extrapolated", 1.34, 0.0),
    ("mooney-rivlin, extrapolated", 1.44, 0.0),
];

/// Creates the force of a law on a mesh.
fn force(name: &str, mesh: &VolumeMesh) -> anyhow::Result<Box<dyn Force>> {
    let elastic = |law: Material| -> Box<dyn Force> { Box::new(Elastic::uniform(mesh, law)) };
    let (threshold, named) = (Inversion::DEFAULT_THRESHOLD, |name: &str| AnyLaw::new(name, MODULI));
    Ok(match name.split_once(", ") {
        _ if name == "mass-spring" => Box::new(Springs::from_mesh(mesh, &SpringCoefficients::new(1e4))?),
        _ if name == "stvk as polynomial" => {
            Box::new(StVkPolynomial::new(mesh, &[StVenantKirchhoff::from_moduli(MODULI)])?)
        }
        Some((_, "warped")) => {
            let law = Corotational { tangent: CorotationalTangent::Warped, ..Corotational::from_moduli(MODULI) };
            elastic(AnyLaw::Corotational(law).into())
        }
        Some((law, "clamped")) => elastic(Material::from(named(law)?).with_inversion(Inversion::Clamp { threshold })?),
        Some((law, _)) => elastic(Material::from(named(law)?).with_inversion(Inversion::Extrapolate { threshold })?),
        None => elastic(named(name)?.into()),
    })
}

/// Results of a law on a mesh.
struct Row {
    name: &'static str,
    /// Times per element \[µs\] of the force, with stiffness, with positive semi-definite stiffness, and with stiffness
    /// of a crushed body.
    times: [f64; 4],
    vega: f64,
    force: Vec<f64>,
    /// Relative difference of the force computed with the stiffness from the force alone.
    with_stiffness: f64,
    /// Relative error of the force compared with differences of energies.
    beside_energy: f64,
    /// Relative error of the stiffness compared with differences of forces.
    beside_forces: f64,
    /// True if the force of a crushed body is finite.
    is_defined: bool,
    /// Relative error of the force of a crushed body compared with differences of energies.
    crushed_beside_energy: f64,
}

impl Row {
    fn handles_inversion(&self) -> bool {
        self.name.ends_with("clamped") || self.name.ends_with("extrapolated")
    }

    /// Returns the time of force and stiffness per element \[µs\], for laws that handle inversion the longer one of the
    /// bent and the crushed body.
    fn time(&self) -> f64 {
        if self.handles_inversion() { self.times[1].max(self.times[3]) } else { self.times[1] }
    }
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let [tets, cubes] = if page.is_fast() {
        [bodies::bar(10, 4)?, bodies::bridge_of_cubes()?]
    } else {
        [bodies::bridge()?, bodies::crane()?]
    };
    let rounds = page.pick(20, 1);
    let mut all = Vec::new();
    page.text(format!(
        "Times are the minimum of {rounds} rounds on one thread. Bodies are bent by a third of a radian, with noise, Y = {} Pa, ν = {POISSON}. *Projected* stiffness is \
         positive semi-definite in every element. Times of VegaFEM 4.0 are for force and stiffness with its element matrices, measured on another machine; it has no bare \
         neo-Hookean laws. *Clamped* and *extrapolated* laws also have forces for inverted elements: *clamped* like VegaFEM's invertible materials, *extrapolated* with an energy. Their cost \
         depends on the number of compressed elements, so they are compared by the longer time. *Crushed* is the body with its vertices moved at random by up to 0.7 times the edge of an element. {}",
        digits(MODULI.young, 1),
        mooney_rivlin_in_words(MODULI),
    ));
    for (specimen, on_cubes) in [(&tets, false), (&cubes, true)] {
        let mesh = &specimen.mesh;
        let mut rows = Vec::new();
        for &(name, on_tets_there, on_cubes_there) in LAWS {
            page.now(format_args!("{}: {name}", specimen.name))?;
            let vega = if on_cubes { on_cubes_there } else { on_tets_there };
            rows.push(measure(name, vega, mesh, rounds)?);
        }
        let unit = if on_cubes { "cubes" } else { "tetrahedra" };
        let caption = format!("{}: {} vertices, {} {unit}", specimen.name, mesh.vertex_count(), mesh.element_count());
        let heading = [
            "law",
            "force, µs per element",
            "force and stiffness, µs",
            "force and projected stiffness, µs",
            "force and stiffness, crushed, µs",
            "VegaFEM 4.0, µs",
            "times faster",
        ];
        let none = || "–".to_owned();
        let cells = |row: &Row| {
            let there = if row.vega > 0.0 { digits(row.vega, 3) } else { none() };
            let faster = if row.vega > 0.0 { digits(row.vega / row.time(), 2) } else { none() };
            let mut times = row.times.map(|time| digits(time, 3));
            if !row.is_defined {
                times[3] = none();
            }
            [vec![row.name.to_owned()], times.to_vec(), vec![there, faster]].concat()
        };
        page.table(unit, &caption, &heading, rows.iter().map(cells).collect())?;
        all.push(rows);
    }
    same_whichever_way(page, &all);
    is_timing(page, &all[0], "tetrahedra");
    is_timing(page, &all[1], "cubes");
    Ok(())
}

/// Adds the findings that do not depend on the machine.
fn same_whichever_way(page: &mut Page<'_>, all: &[Vec<Row>]) {
    let worst = |of: fn(&Row) -> f64, except: &[&str]| {
        let rows = all.iter().flatten().filter(|row| !except.contains(&row.name));
        rows.max_by(|a, b| of(a).total_cmp(&of(b))).map_or((0.0, ""), |row| (of(row), row.name))
    };
    let (max, name) = worst(|row| row.with_stiffness, &[]);
    page.finding(
        "the force of every law is the same with and without stiffness, which is not the case for all laws of VegaFEM 4.0",
        max < 1e-13,
        format!("maximum difference {} relative to the largest force, with {name}", digits(max, 2)),
    );
    let (max, name) = worst(|row| row.beside_energy, &[]);
    page.finding(
        "forces are derivatives of energies",
        max < 1e-6,
        format!("within {} of differences of energies, with {name}", digits(max, 2)),
    );
    let (max, name) = worst(|row| row.beside_forces, &["corotational, warped"]);
    page.finding(
        "stiffnesses are derivatives of forces, except for the warped one",
        max < 1e-6,
        format!("within {} of differences of forces, with {name}", digits(max, 2)),
    );
    let (warped, _) = worst(|row| if row.name == "corotational, warped" { row.beside_forces } else { 0.0 }, &[]);
    page.finding(
        "the warped stiffness neglects the derivative of rotations and is not exact",
        warped > 1e-4,
        format!("relative error {}", digits(warped, 2)),
    );
    let crushed = |ending: &str| {
        let rows = all.iter().flatten().filter(|row| row.name.ends_with(ending));
        rows.map(|row| row.crushed_beside_energy).fold(0.0, f64::max)
    };
    let [clamped, extrapolated] = ["clamped", "extrapolated"].map(crushed);
    page.finding(
        "for inverted elements, clamped laws have forces without an energy; extrapolated laws have both",
        extrapolated < 1e-6 && clamped > 1e-3,
        format!("relative errors {} and {}", digits(clamped, 2), digits(extrapolated, 2)),
    );
    let undefined: BTreeSet<&str> = all.iter().flatten().filter(|row| !row.is_defined).map(|row| row.name).collect();
    page.finding(
        "of the bare laws, only the one with a logarithm of the volume is undefined there",
        undefined == BTreeSet::from(["neo-hookean"]),
        undefined.into_iter().collect::<Vec<_>>().join(", "),
    );
    let of = |name: &str| all[0].iter().find(|row| row.name == name).map(|row| &row.force);
    let polynomial = of("stvk").zip(of("stvk as polynomial")).map_or(f64::NAN, |(a, b)| difference(b, a));
    page.finding(
        "on tetrahedra the cubic polynomial is exactly the law",
        polynomial < 1e-11,
        format!("forces differ by {}", digits(polynomial, 2)),
    );
}

/// Factor within which times are considered equal, given the accuracy of the clock.
const NEARLY: f64 = 1.2;

/// Adds the findings about timings.
fn is_timing(page: &mut Page<'_>, rows: &[Row], unit: &str) {
    let time = |name: &str| rows.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.times[1]);
    let [springs, linear, corotational, stvk, polynomial, neo] =
        ["mass-spring", "linear", "corotational", "stvk", "stvk as polynomial", "neo-hookean"].map(time);
    let micro = |time: f64| digits(time, 2);
    page.timing_finding(
        format!("springs are cheapest on {unit}, and corotational elements cost more than linear ones"),
        rows.iter().all(|row| row.times[1] >= springs) && corotational > linear,
        format!("{}; {} and {} µs", micro(springs), micro(corotational), micro(linear)),
    );
    page.timing_finding(
        format!(
            "St. Venant–Kirchhoff is no longer the most expensive law on {unit}: it costs at most {NEARLY} times as much as a neo-Hookean law"
        ),
        stvk <= NEARLY * neo,
        format!(
            "{} and {} µs, {} times; {} as a polynomial",
            micro(stvk),
            micro(neo),
            digits(stvk / neo, 3),
            micro(polynomial)
        ),
    );
    let compared = rows.iter().filter(|row| row.vega > 0.0 && row.name != "linear");
    let faster: Vec<f64> = compared.map(|row| row.vega / row.time()).collect();
    let (min, max) = faster.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    let stored = rows.iter().find(|row| row.name == "linear").map_or(0.0, |row| row.vega) / linear;
    let comparison = if stored > 1.0 { "also faster" } else { "not" };
    page.timing_finding(
        format!("on {unit} every law is faster than in VegaFEM 4.0, except possibly linear elasticity, whose element matrices VegaFEM stores"),
        min > 1.0,
        format!(
            "{} to {} times faster; linear elasticity is {comparison}, with {} times the speed",
            digits(min, 2),
            digits(max, 2),
            digits(stored, 2)
        ),
    );
}

fn measure(name: &'static str, vega: f64, mesh: &VolumeMesh, rounds: usize) -> anyhow::Result<Row> {
    let mut law = force(name, mesh)?;
    let pattern = bind_all(mesh.vertex_count(), &mut [&mut *law]);
    let (u, mut stiffness) = (bent(mesh), BlockMatrix::zero(pattern));
    let mut force = vec![0.0; u.len()];
    let per_element = |seconds: f64| 1e6 * seconds / mesh.element_count() as f64;
    let times = on_threads(1, || {
        let alone = min_seconds(rounds, || {
            force.fill(0.0);
            law.add_force(black_box(&u), &mut force);
        });
        let mut with = |definiteness| {
            let mut again = vec![0.0; u.len()];
            let seconds = min_seconds(rounds, || {
                again.fill(0.0);
                stiffness.clear();
                law.add_force_and_stiffness(black_box(&u), definiteness, &mut again, &mut stiffness);
            });
            (seconds, difference(&again, &force))
        };
        let (projected, one) = with(Definiteness::Projected);
        let (exact, other) = with(Definiteness::Exact);
        (alone, exact, projected, one.max(other))
    })?;
    let (alone, exact, projected, with_stiffness) = times;
    let crushed = crushed(mesh);
    let (mut crushed_force, mut crushed_stiffness) = (force.clone(), stiffness.clone());
    let when_crushed = on_threads(1, || {
        min_seconds(rounds, || {
            crushed_force.fill(0.0);
            crushed_stiffness.clear();
            let (force, stiffness) = (&mut crushed_force, &mut crushed_stiffness);
            law.add_force_and_stiffness(black_box(&crushed), Definiteness::Exact, force, stiffness);
        })
    })?;

    // Derivatives along a random direction, compared with central differences.
    let mut rng = fastrand::Rng::with_seed(2);
    let edge = (mesh.volume() / mesh.element_count() as f64).cbrt();
    let along: Vec<f64> = u.iter().map(|_| edge * (rng.f64() - 0.5)).collect();
    let forces = [EPSILON, -EPSILON].map(|by| {
        let mut force = vec![0.0; u.len()];
        law.add_force(&moved(&u, by, &along), &mut force);
        force
    });
    let change: Vec<f64> = forces[0].iter().zip(&forces[1]).map(|(a, b)| (a - b) / (2.0 * EPSILON)).collect();
    let mut product = vec![0.0; u.len()];
    stiffness.mul(&along, &mut product);
    Ok(Row {
        name,
        times: [alone, exact, projected, when_crushed].map(per_element),
        vega,
        with_stiffness,
        beside_energy: beside_energy(&*law, &u, &force, &along),
        beside_forces: difference(&product, &change),
        is_defined: crushed_force.iter().all(|x| x.is_finite()),
        crushed_beside_energy: beside_energy(&*law, &crushed, &crushed_force, &along),
        force,
    })
}

/// Step of the central differences, relative to the edge of an element.
const EPSILON: f64 = 1e-5;

fn moved(u: &[f64], by: f64, along: &[f64]) -> Vec<f64> {
    u.iter().zip(along).map(|(u, d)| u + by * d).collect()
}

/// Returns the difference between the work of a force along a direction and the change of energy, relative to the sum
/// of the magnitudes of the work of all components.
fn beside_energy(law: &dyn Force, u: &[f64], force: &[f64], along: &[f64]) -> f64 {
    let [there, back] = [EPSILON, -EPSILON].map(|by| law.energy(&moved(u, by, along)));
    let (work, size) = force.iter().zip(along).map(|(f, d)| f * d).fold((0.0, 0.0), |(a, b), w| (a + w, b + w.abs()));
    ((there - back) / (2.0 * EPSILON) - work).abs() / size
}
