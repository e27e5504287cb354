//! Time per step against the number of tetrahedra.

use std::time::Instant;

use pliant::integrator::regularized::{Elimination, RegularizedParams, Strain};
use pliant::integrator::{LinearizedBackwardEuler, Regularized};
use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Fixed, Model};
use pliant::simulation::Stepper;
use pliant::solver::SolverParams;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Plot, Series};

use super::setup::{GRAVITY, INTERACTIVE, Setup, forms_apart};
use crate::measure::{digits, exponent};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "servin-scaling",
    paper: &paper::SERVIN,
    part: "figure 11",
    title: "Time per step against the number of tetrahedra",
    reports: "With a specialized sparse solver, the time per step grows about linearly with the number of tetrahedra, and bodies of about 200 tetrahedra \
              are simulated in real time, with steps of 15 ms.",
    run,
};

/// Creates a swinging bar with the given numbers of cells, about 1 m × 0.2 m × 0.2 m.
fn bar(cells: [usize; 3]) -> anyhow::Result<Setup> {
    let size = 0.2 / cells[1] as f64;
    let mesh = generate::block(cells.map(|count| count as f64 * size), cells, Cells::Tet5)?;
    let fixed = vec![Fixed::new(mesh.vertex_sets()["x-min"].clone())];
    Ok(Setup {
        mesh,
        moduli: YoungPoisson { young: 1e6, poisson: 0.3 },
        densities: vec![1000.0],
        fixed,
        gravity: -GRAVITY * Vec3::Y,
        lumped: true,
    })
}

/// Method for stepping a bar.
#[derive(Clone, Copy, PartialEq)]
enum Method {
    Constraints(Elimination, Strain),
    BackwardEuler,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Constraints(Elimination::Condensed, Strain::Nonlinear) => "constraints, condensed",
            Self::Constraints(Elimination::Condensed, Strain::Linear) => "constraints, linear strain, condensed",
            Self::Constraints(Elimination::Schur, _) => "constraints, Schur complement",
            Self::Constraints(Elimination::Saddle, _) => "constraints, saddle system",
            Self::BackwardEuler => "backward Euler, default solver",
        }
    }
}

/// Cost of steps: number of tetrahedra, mean time per step \[s\], and nonzeros of the factor.
struct Cost {
    tets: f64,
    seconds: f64,
    fill: f64,
}

/// Measures `steps` steps of a swinging bar. The first, with the symbolic factorization, is not included.
fn cost(page: &Page<'_>, cells: [usize; 3], method: Method, steps: usize) -> anyhow::Result<Cost> {
    let setup = bar(cells)?;
    let tets = setup.mesh.element_count();
    let mut solver = SolverParams::default().build();
    let (model, mut stepper): (Model, Stepper) = match method {
        Method::Constraints(form, strain) => {
            let model = setup.bare()?;
            let integrator = Regularized::new(&model, &RegularizedParams { form, strain, ..setup.params() })?;
            (model, integrator.into())
        }
        Method::BackwardEuler => (setup.elastic()?, LinearizedBackwardEuler::default().into()),
    };
    let mut assembly = Assembly::new(model);
    let mut state = assembly.rest_state();
    let mut seconds = 0.0;
    let mut fill = 0;
    for number in 0..=steps {
        page.now(format_args!("{}, {tets} tetrahedra: step {number} of {steps}", method.name()))?;
        let began = Instant::now();
        let info = stepper.step(&mut assembly, &mut *solver, &mut state, INTERACTIVE)?;
        if number > 0 {
            seconds += began.elapsed().as_secs_f64() / steps as f64;
        }
        fill = info.solve.fill;
    }
    Ok(Cost { tets: tets as f64, seconds, fill: fill as f64 })
}

/// Returns the maximum number of tetrahedra in real time, interpolated between measurements, as text.
fn largest(costs: &[Cost]) -> String {
    let within = costs.iter().take_while(|cost| cost.seconds <= INTERACTIVE).count();
    match (costs[..within].last(), costs.get(within)) {
        (None, _) => format!("fewer than {}", costs[0].tets),
        (Some(last), None) => format!("more than {}", last.tets),
        (Some(a), Some(b)) => {
            let part = (INTERACTIVE / a.seconds).ln() / (b.seconds / a.seconds).ln();
            format!("about {}", digits((a.tets.ln() + part * (b.tets / a.tets).ln()).exp(), 2))
        }
    }
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let across: &[usize] = page.pick(&[2, 3, 4, 5, 6, 8, 10, 13], &[2, 3, 4, 6]);
    let long: &[usize] = page.pick(&[10, 40, 160, 640, 2560], &[10, 40, 160]);
    let condensed = Method::Constraints(Elimination::Condensed, Strain::Nonlinear);
    let linear = Method::Constraints(Elimination::Condensed, Strain::Linear);
    let methods = [
        condensed,
        linear,
        Method::BackwardEuler,
        Method::Constraints(Elimination::Schur, Strain::Nonlinear),
        Method::Constraints(Elimination::Saddle, Strain::Nonlinear),
    ];
    page.text(
        "A bar of 5 : 1 : 1, `Y = 1` MPa, `ν = 0.3`, `ρ = 1000` kg/m³, fixed at one end, swings under its weight, with steps of 15 ms and lumped masses. \
         Times are means over several steps, including factorizations. The condensed system is factorized again in each step; \
         with the linear strain it is factorized once, before the measured steps. Backward Euler has the same energy and Pliant's default solver, which reuses a stale factor. \
         The Schur complement and the saddle system have six additional unknowns per tetrahedron, and are run only on small bodies. \
         Long bars have a cross section of 2 × 2 cells and grow only in length. For comparison: VegaFEM 4.0 with PARDISO, measured on another machine, takes 52 ms \
         on one thread and 30 ms on two for a linearized step of a neo-Hookean bar of 12,800 tetrahedra.",
    );
    let mut costs: Vec<(&str, Vec<Cost>)> = Vec::new();
    for method in methods {
        let is_small = matches!(method, Method::Constraints(Elimination::Schur | Elimination::Saddle, _));
        let sizes = if is_small { &across[..page.pick(3, 1)] } else { across };
        let mut found = Vec::new();
        for &across in sizes {
            let steps = if is_small || across > 6 && method == condensed { 3 } else { page.pick(40, 5) };
            found.push(cost(page, [5 * across, across, across], method, steps)?);
        }
        costs.push((method.name(), found));
    }
    let mut found = Vec::new();
    for &length in long {
        found.push(cost(page, [length, 2, 2], condensed, page.pick(10, 3))?);
    }
    costs.push(("constraints, condensed, long bars", found));

    let points = |costs: &[Cost], part: fn(&Cost) -> f64| -> Vec<(f64, f64)> {
        costs.iter().map(|cost| (cost.tets, part(cost))).collect()
    };
    let series = |(name, costs): &(&str, Vec<Cost>)| Series {
        style: Style::LineAndMarkers,
        ..Series::new(*name, points(costs, |cost| 1e3 * cost.seconds))
    };
    let limit = [200.0, 60_000.0].map(|tets| (tets, 1e3 * INTERACTIVE)).to_vec();
    let plot = Plot {
        x_label: "tetrahedra".into(),
        y_label: "time per step, ms".into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series: costs.iter().map(series).chain([Series::new("real time", limit)]).collect(),
        ..Plot::default()
    };
    page.figure("times", "Time per step against the number of tetrahedra", plot)?;
    let rows = costs.iter().flat_map(|(name, costs)| {
        costs.iter().map(|cost| {
            vec![(*name).to_owned(), cost.tets.to_string(), digits(1e3 * cost.seconds, 3), cost.fill.to_string()]
        })
    });
    let heading = ["method", "tetrahedra", "time per step, ms", "nonzeros of the factor"];
    page.table("steps", "Means over several steps", &heading, rows.collect())?;

    let power = |method: usize, part: fn(&Cost) -> f64| exponent(&points(&costs[method].1, part));
    let powers = costs.iter().filter(|(_, costs)| costs.len() > 1).map(|(name, costs)| {
        let times = points(costs, |cost| cost.seconds);
        let large = &times[times.len().saturating_sub(3)..];
        format!("{}, {} for the largest ({name})", digits(exponent(&times), 3), digits(exponent(large), 3))
    });
    page.timing_finding(
        "time grows linearly with the number of tetrahedra: here for bars that grow in length, and approximately for all bars with the solver that reuses its factor",
        power(5, |cost| cost.seconds) < 1.15 && power(2, |cost| cost.seconds) < 1.15,
        format!("fitted powers: {}", powers.collect::<Vec<_>>().join("; ")),
    );
    let reach: Vec<String> =
        [0, 1, 2, 5].map(|method| format!("{} ({})", largest(&costs[method].1), costs[method].0)).to_vec();
    page.timing_finding(
        "steps of 15 ms run in real time well beyond 200 tetrahedra",
        [0, 1, 2]
            .iter()
            .all(|&method| costs[method].1.iter().any(|cost| cost.tets > 1000.0 && cost.seconds < INTERACTIVE)),
        format!("{} tetrahedra", reach.join(", ")),
    );
    let slow = costs[4].1.iter().zip(&costs[0].1).map(|(saddle, condensed)| saddle.fill / condensed.fill);
    let slow = slow.fold(f64::INFINITY, f64::min);
    page.finding(
        "eliminating the multipliers first gives much smaller factors than those of the saddle system",
        slow > 5.0,
        format!("at least {} times smaller", digits(slow, 2)),
    );
    let (bulky, slender) = (power(0, |cost| cost.fill), power(5, |cost| cost.fill));
    page.finding(
        "factors grow linearly for bars that grow in length, and faster for bars that grow in all directions, up to the theoretical power 4/3 of solids",
        (slender - 1.0).abs() < 0.1 && bulky > 1.1 && bulky < 1.5,
        format!("powers {} and {}", digits(slender, 3), digits(bulky, 3)),
    );
    let apart = forms_apart(page, &bar([10, 2, 2])?, page.pick(40, 10))?;
    page.finding(
        "all three forms give the same motion",
        apart < 1e-9,
        format!("positions of 200 tetrahedra differ by {} of the largest displacement", digits(apart, 2)),
    );
    Ok(())
}
