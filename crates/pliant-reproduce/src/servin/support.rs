//! Beam supported at its ends under heavy loads.

use std::f64::consts::PI;

use pliant::integrator::{Regularized, Static};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, Region, generate};
use pliant::model::{Assembly, Fixed, Model};
use pliant::solver::SolverParams;
use pliant::system::State;
use pliant_pictures::{Plot, Series};

use super::setup::{GRAVITY, INTERACTIVE, Setup, difference, settle};
use crate::measure::{Outcome, digits, march};
use crate::picture::{PosedSurface, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "servin-support",
    paper: &paper::SERVIN,
    part: "figures 6 and 7",
    title: "A supported beam under 100 and 900 tons",
    reports: "A beam supported at its ends carries loads of 100 and 900 tons, many times its weight, at an interactive step, and sags like \
              an elastic beam.",
    run,
};

/// Length of the beam \[m\]. Its cross section is a square of 1 m.
const LENGTH: f64 = 10.0;

/// Length of the loaded middle part of the top \[m\].
const COVERED: f64 = 2.0;

/// Young's modulus, as of wood \[Pa\].
const YOUNG: f64 = 1e10;

const POISSON: f64 = 0.3;

/// Density, as of wood \[kg/m³\].
const DENSITY: f64 = 500.0;

/// Creates a beam with `across` cells in its height, an even number. The load `weight` \[kg\] is added to the mass of
/// the elements below it.
fn beam(across: usize, weight: f64, young: f64) -> anyhow::Result<Setup> {
    let mesh = generate::block([LENGTH, 1.0, 1.0], [10 * across, across, across], Cells::Tet5)?;
    let layer = 1.0 / across as f64;
    let center = |element: &[u32]| element.iter().map(|&v| mesh.vertices()[v as usize]).sum::<Vec3>() / 4.0;
    let below = |x: Vec3| (x.x - 0.5 * LENGTH).abs() < 0.5 * COVERED && x.y > 1.0 - layer;
    let element_region = mesh.elements().map(|element| u32::from(below(center(element)))).collect();
    let mut labels = mesh.labels();
    labels.regions.push(Region::named("under the weight"));
    labels.element_region = element_region;
    let mesh = mesh.with_labels(labels)?.mesh;
    let support = |x: f64| -> Vec<u32> {
        let at = |v: &u32| mesh.vertices()[*v as usize].truncate().distance(Vec3::new(x, 0.5, 0.0).truncate()) < 1e-9;
        (0..mesh.vertex_count() as u32).filter(at).collect()
    };
    let fixed = vec![Fixed::new(support(0.0)), Fixed::new(support(LENGTH)).along([false, true, true])];
    Ok(Setup {
        mesh,
        moduli: YoungPoisson { young, poisson: POISSON },
        densities: vec![DENSITY, DENSITY + weight / (COVERED * layer)],
        fixed,
        gravity: -GRAVITY * Vec3::Y,
        lumped: false,
    })
}

/// Returns the deflection of the middle of the axis \[m\].
fn sag(model: &Model, state: &State) -> f64 {
    let axis = Vec3::new(0.5 * LENGTH, 0.5, 0.0);
    let at = model.rest().iter().zip(state.q.chunks_exact(3));
    let middle: Vec<f64> =
        at.filter(|(x, _)| x.truncate().distance(axis.truncate()) < 1e-9).map(|(_, u)| -u[1]).collect();
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// Returns the deflection \[m\] of a Timoshenko beam under its weight and a load in the middle.
fn theory(weight: f64, young: f64) -> f64 {
    let (l, c) = (LENGTH, COVERED);
    let bending = |force: f64, c: f64| force * (8.0 * l.powi(3) - 4.0 * l * c * c + c.powi(3)) / (384.0 * young / 12.0);
    let shear_modulus = young / (2.0 * (1.0 + POISSON));
    let shear = |force: f64, c: f64| force * (0.25 * l - 0.125 * c) / (5.0 / 6.0 * shear_modulus);
    let [load, own] = [weight, DENSITY * l].map(|mass| mass * GRAVITY);
    bending(load, c) + shear(load, c) + bending(own, l) + shear(own, l)
}

/// Loads \[t\].
const WEIGHTS: [f64; 2] = [100.0, 900.0];

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    page.text(format!(
        "A beam of {LENGTH} m × 1 m × 1 m, `Y = 10` GPa, `ν = {POISSON}`, `ρ = {DENSITY}` kg/m³ (5 t) is simply supported at half its height. \
         The load on the middle {COVERED} m of its top is added to the mass of the elements below it. Gravity is 9.81 m/s², the step \
         15 ms, the damping time two steps. The law is elastic without limit; wood would break under 900 t. Theory is the Timoshenko beam with a shear factor of 5/6."
    ));
    swings(page)?;
    settled(page)?;
    stiffer(page)
}

/// Simulates the beam under a suddenly applied load.
fn swings(page: &mut Page<'_>) -> anyhow::Result<()> {
    let (across, time) = (page.pick(4, 2), 6.0);
    let (mut series, mut surfaces) = (Vec::new(), Vec::new());
    let (mut stable, mut measured) = (true, Vec::new());
    let mut half_swing = (f64::NAN, f64::NAN);
    for (number, tons) in WEIGHTS.into_iter().enumerate() {
        let setup = beam(across, 1e3 * tons, YOUNG)?;
        let mut assembly = Assembly::new(setup.bare()?);
        let mut stepper = Regularized::new(assembly.model(), &setup.params())?.into();
        let mut state = assembly.rest_state();
        let mut curve = vec![(0.0, 0.0)];
        let steps = (time / INTERACTIVE).round() as usize;
        let what = format!("{tons} t");
        let outcome =
            march(page, &what, &mut assembly, &mut stepper, &mut state, INTERACTIVE, steps, |model, state| {
                curve.push((state.time, sag(model, state)));
            })?;
        let last = sag(assembly.model(), &state);
        let lowest = curve.iter().fold((0.0, 0.0_f64), |max, at| if at.1 > max.1 { *at } else { max });
        half_swing = (lowest.0, PI * (last / GRAVITY).sqrt());
        stable &= outcome.is_finished() && lowest.1 < 2.0 * last && last > 0.0;
        measured.push(format!("at most {} times the static sag under {tons} t", digits(lowest.1 / last, 3)));
        surfaces.push(PosedSurface::new(assembly.model(), &state, -2.0 * number as f64 * Vec3::Y));
        series.push(Series::new(what, curve.iter().map(|(time, sag)| (*time, 100.0 * sag)).collect()));
    }
    let plot = Plot { x_label: "time, s".into(), y_label: "sag, cm".into(), series, ..Plot::default() };
    page.figure("swings", "Sag of the middle of the beam under a suddenly applied load", plot)?;
    let image = draw(&surfaces, "100 t (above) and 900 t (below)", [960, 540])?;
    page.picture("beams", "The beam at the end of the simulation, under 100 t (above) and 900 t (below)", &image)?;
    page.finding(
        "the beam carries 20 and 180 times its weight at the interactive step; under a suddenly applied load, it swings to less than twice the static sag",
        stable,
        measured.join(", "),
    );
    page.finding(
        "under 900 t it swings like a mass on a spring, and reaches the lowest point after `π √(sag/g)`",
        (half_swing.0 / half_swing.1 - 1.0).abs() < 0.06,
        format!("{} s, {} s by theory", digits(half_swing.0, 3), digits(half_swing.1, 3)),
    );
    Ok(())
}

/// Compares equilibria on successively finer meshes with theory.
fn settled(page: &mut Page<'_>) -> anyhow::Result<()> {
    let meshes: &[usize] = page.pick(&[2, 4, 8], &[2, 4]);
    let mut rows = Vec::new();
    let (mut apart, mut worst_ratio) = (0.0_f64, 0.0_f64);
    let mut sags: Vec<[f64; 2]> = Vec::new();
    for &across in meshes {
        let mut found = [0.0; 2];
        let mut row = vec![(50 * across.pow(3)).to_string()];
        for (tons, found) in WEIGHTS.into_iter().zip(&mut found) {
            let setup = beam(across, 1e3 * tons, YOUNG)?;
            let mut assembly = Assembly::new(setup.bare()?);
            let mut state = assembly.rest_state();
            settle(page, &format!("{across} cells, {tons} t"), &mut assembly, &setup.params(), &mut state, 12)?;
            *found = sag(assembly.model(), &state);
            let (mut twin, mut solver) = (Assembly::new(setup.elastic()?), SolverParams::default().build());
            let mut equilibrium = twin.rest_state();
            page.now(format_args!("{across} cells, {tons} t: equilibrium by forces"))?;
            Static::default().solve(&mut twin, &mut *solver, &mut equilibrium)?;
            apart = apart.max(difference(&equilibrium, &state));
            let error = *found / theory(1e3 * tons, YOUNG) - 1.0;
            row.extend([digits(100.0 * *found, 5), digits(100.0 * error, 3)]);
        }
        let own = {
            let setup = beam(across, 0.0, YOUNG)?;
            let mut assembly = Assembly::new(setup.bare()?);
            let mut state = assembly.rest_state();
            settle(page, &format!("{across} cells, no weight"), &mut assembly, &setup.params(), &mut state, 6)?;
            sag(assembly.model(), &state)
        };
        let ratio = (found[1] - own) / (found[0] - own);
        worst_ratio = worst_ratio.max((ratio / 9.0 - 1.0).abs());
        row.push(digits(ratio, 4));
        rows.push(row);
        sags.push(found);
    }
    let [few, many] = WEIGHTS.map(|tons| theory(1e3 * tons, YOUNG));
    rows.push(vec![
        "theory".into(),
        digits(100.0 * few, 5),
        "–".into(),
        digits(100.0 * many, 5),
        "–".into(),
        "9".into(),
    ]);
    let heading = [
        "tetrahedra",
        "sag under 100 t, cm",
        "error, %",
        "sag under 900 t, cm",
        "error, %",
        "ratio without the beam's weight",
    ];
    page.table("sag", "The beam in equilibrium", &heading, rows)?;
    page.finding(
        "the beam settles at the equilibrium of the St. Venant–Kirchhoff forces",
        apart < 1e-6,
        format!("positions differ from Pliant's static solver by at most {} of the sag", digits(apart, 2)),
    );
    let errors: Vec<f64> = sags.iter().map(|sag| sag[0] / few - 1.0).collect();
    let ratios: Vec<f64> = errors.windows(2).map(|pair| pair[0] / pair[1]).collect();
    let [coarse, fine] = [sags[sags.len() - 2][0], sags[sags.len() - 1][0]];
    let limit = (4.0 * fine - coarse) / 3.0;
    page.finding(
        "the sag converges to theory with the square of the cell size",
        ratios.iter().all(|ratio| (2.5..6.0).contains(ratio)) && (limit / few - 1.0).abs() < 0.05,
        format!(
            "errors under 100 t: {} %; extrapolated {} cm, theory {} cm",
            errors.iter().map(|error| digits(100.0 * error, 3)).collect::<Vec<_>>().join(", "),
            digits(100.0 * limit, 4),
            digits(100.0 * few, 4)
        ),
    );
    page.finding(
        "nine times the load gives nine times the sag",
        worst_ratio < 0.02,
        format!("within {} %, without the weight of the beam", digits(100.0 * worst_ratio, 2)),
    );
    Ok(())
}

/// Loads a beam as stiff as steel and a rigid beam with 900 t.
fn stiffer(page: &mut Page<'_>) -> anyhow::Result<()> {
    const STEEL: f64 = 2e11;
    let (across, weight) = (page.pick(4, 2), 1e3 * WEIGHTS[1]);
    let wooden = {
        let setup = beam(across, weight, YOUNG)?;
        let mut assembly = Assembly::new(setup.bare()?);
        let mut state = assembly.rest_state();
        settle(page, "as stiff as wood", &mut assembly, &setup.params(), &mut state, 12)?;
        sag(assembly.model(), &state)
    };
    let carried = |name: &str, young: f64| -> anyhow::Result<(bool, f64)> {
        let setup = beam(across, weight, young)?;
        let mut assembly = Assembly::new(setup.bare()?);
        let mut stepper = Regularized::new(assembly.model(), &setup.params())?.into();
        let mut state = assembly.rest_state();
        let outcome = march(page, name, &mut assembly, &mut stepper, &mut state, INTERACTIVE, 200, |_, _| {})?;
        Ok((outcome == Outcome::Finished, sag(assembly.model(), &state)))
    };
    let (steel_finished, steel) = carried("as stiff as steel", STEEL)?;
    let (rigid_finished, rigid) = carried("rigid", f64::INFINITY)?;
    let (factor, exact) = (STEEL / YOUNG, theory(weight, STEEL));
    page.finding(
        format!("a beam as stiff as steel, {factor} times stiffer than wood, carries 900 t at the same step, with 1/{factor} of the sag on the same mesh"),
        steel_finished && (factor * steel / wooden - 1.0).abs() < 0.01,
        format!(
            "sag {} cm at 200 GPa and {} cm at 10 GPa with {} tetrahedra, which are too stiff: theory predicts {} cm at 200 GPa, an error of {} %",
            digits(100.0 * steel, 3),
            digits(100.0 * wooden, 4),
            50 * across.pow(3),
            digits(100.0 * exact, 3),
            digits(100.0 * (steel / exact - 1.0), 3)
        ),
    );
    page.finding(
        "so does a rigid beam, with less than a hundredth of that sag",
        rigid_finished && rigid.abs() < 0.01 * steel,
        format!("sag {} cm", digits(100.0 * rigid, 3)),
    );
    Ok(())
}
