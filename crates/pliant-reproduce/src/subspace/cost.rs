//! Cost of a reduced model.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context;
use pliant::files::Memory;
use pliant::integrator::{Integrator, LinearizedBackwardEuler};
use pliant::model::{Assembly, Model};
use pliant::reduced::{Forces, ReducedModel, Reduction};
use pliant::solver::{Dense, SolverParams};
use pliant::system::{Conditions, Definiteness, System};
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Plot, Series};

use super::swing::{Bar, DT, Kind, reduction};
use crate::Page;
use crate::measure::{digits, exponent, min_seconds};

/// Number of evaluations timed together, since one is shorter than the resolution of the clock.
const TOGETHER: usize = 20;

pub fn measure(page: &mut Page<'_>, fine: &Bar) -> anyhow::Result<()> {
    let coarse = Bar::new(page.pick([20, 2, 2], [6, 1, 1]))?;
    let sizes: &[usize] = page.pick(&[10, 15, 20, 30, 40], &[6, 12]);
    let mut counts = Vec::new();
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let whole = [&coarse, fine].map(|bar| time_whole(page, bar)).into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let mut rows = Vec::new();
    for &size in sizes {
        let mut of_meshes = Vec::new();
        for bar in [&coarse, fine] {
            let model = bar.model("stvk")?;
            let reduction = reduction(page, &model, Kind::Derivatives, size)?;
            let count = coefficient_count(&model, &reduction)?;
            of_meshes.push((count, time_reduced(page, model, reduction)?));
        }
        let [(of_coarse, [_, coarse_step]), (of_fine, [force, step])] = of_meshes[..] else { continue };
        counts.push((size, of_coarse, of_fine));
        times.iter_mut().zip([force, coarse_step, step]).for_each(|(curve, time)| curve.push((size as f64, time)));
        let numbers = [force, coarse_step, step].map(|time| digits(time, 3));
        let faster = digits(1e3 * whole[1] / step, 2);
        rows.push([vec![size.to_string(), of_fine.to_string()], numbers.to_vec(), vec![faster]].concat());
    }
    let [of_coarse, of_fine] = [&coarse, fine].map(|bar| bar.mesh.element_count());
    let coarse_name = format!("step, {of_coarse} hexahedra, µs");
    let fine_name = format!("step, {of_fine} hexahedra, µs");
    let heading =
        ["r", "coefficients", "force and stiffness, µs", &coarse_name, &fine_name, "times faster than the full model"];
    let caption = format!(
        "Steps of linearized backward Euler; the full model takes {} ms with {of_coarse} and {} ms with {of_fine} hexahedra",
        digits(whole[0], 3),
        digits(whole[1], 3)
    );
    page.table("cost", &caption, &heading, rows)?;
    let [forces, coarse_steps, steps] = times;
    let power = exponent(&forces);
    let spread = coarse_steps.iter().zip(&steps).map(|((_, a), (_, b))| (b / a).max(a / b)).fold(1.0, f64::max);
    let faster: Vec<f64> = steps.iter().map(|(_, step)| 1e3 * whole[1] / step).collect();
    let names = ["force and stiffness".to_owned(), coarse_name, fine_name];
    let series =
        names.into_iter().zip([forces, coarse_steps, steps]).map(|(name, points)| Series {
            style: Style::LineAndMarkers,
            ..Series::new(name.replace(", µs", ""), points)
        });
    let plot = Plot {
        x_label: "basis vectors r".into(),
        y_label: "time in µs".into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        series: series.collect(),
        ..Plot::default()
    };
    page.figure("cost-by-directions", "Time per step and per evaluation of the polynomial, for two meshes", plot)?;
    let (size, _, last) = counts[counts.len() - 1];
    page.finding(
        "the number of coefficients of the polynomial, those of symmetric forms of degree 2, 3 and 4, does not depend on the mesh",
        counts.iter().all(|&(r, a, b)| a == b && a == expected_count(r)),
        format!("{last} for r = {size} with {of_coarse} and with {of_fine} hexahedra"),
    );
    page.timing_finding(
        "the time per step does not depend on the mesh",
        spread < 1.5,
        format!("within a factor of {}", digits(spread, 3)),
    );
    page.timing_finding(
        "the time per step grows at most with the fourth power of `r`",
        power < 4.2,
        format!("force and stiffness: `r` to the power of {}", digits(power, 3)),
    );
    let (fewest, max) = (faster[0], faster[faster.len() - 1]);
    page.timing_finding(
        "steps with few basis vectors are faster than those of the full model by orders of magnitude",
        fewest > 100.0 && max > 1.0,
        format!("{} times for r = {}, {} times for r = {size}", digits(fewest, 2), sizes[0], digits(max, 2)),
    );
    Ok(())
}

/// Returns the number of independent coefficients of symmetric forms of degree 2, 3 and 4 in `r` variables.
fn expected_count(r: usize) -> usize {
    let second = r * (r + 1) / 2;
    let third = second * (r + 2) / 3;
    second + third + third * (r + 3) / 4
}

/// Returns the number of coefficients that a saved reduction has in addition to one without a polynomial.
fn coefficient_count(model: &Model, reduction: &Reduction) -> anyhow::Result<usize> {
    let saved = |reduction: &Reduction| -> anyhow::Result<usize> {
        let files = Memory::default();
        reduction.write(&files, Path::new("reduction"))?;
        Ok(files.contents().first().context("nothing was written")?.1.len())
    };
    let columns = reduction.basis().columns().to_vec();
    let (bare, _) = Reduction::of_vectors(model, columns, &Forces::Projection, &mut |_| ControlFlow::Continue(()))?;
    Ok((saved(reduction)? - saved(&bare)?) / size_of::<f64>())
}

/// Measures the times of the polynomial and of a step \[µs\].
fn time_reduced(page: &Page<'_>, model: Model, reduction: Reduction) -> anyhow::Result<[f64; 2]> {
    page.now(format_args!("time with {} basis vectors", reduction.basis().size()))?;
    let mut reduced = ReducedModel::new(model, reduction)?;
    let (mut state, mut solver, mut integrator) =
        (reduced.rest_state(), Dense::default(), LinearizedBackwardEuler::default());
    let mut outcome = Ok(());
    let step = min_seconds(page.pick(20, 3), || {
        for _ in 0..TOGETHER {
            if let Err(error) = integrator.step(&mut reduced, &mut solver, &mut state, DT) {
                outcome = Err(error);
            }
        }
    });
    outcome?;
    let mut force = vec![0.0; state.q.len()];
    let evaluation = min_seconds(page.pick(20, 3), || {
        for _ in 0..TOGETHER {
            let stiffness = reduced.linearize(&state.q, &Conditions::START, Definiteness::Exact, &mut force).stiffness;
            reduced.recycle_stiffness(stiffness);
        }
    });
    Ok([evaluation, step].map(|seconds| 1e6 * seconds / TOGETHER as f64))
}

/// Measures the time of a step of the full model \[ms\].
fn time_whole(page: &Page<'_>, bar: &Bar) -> anyhow::Result<f64> {
    page.now(format_args!("time with {} hexahedra", bar.mesh.element_count()))?;
    let mut assembly = Assembly::new(bar.model("stvk")?);
    let (mut state, mut solver) = (assembly.rest_state(), SolverParams::default().build());
    let mut integrator = LinearizedBackwardEuler::default();
    let mut outcome = Ok(());
    let seconds = min_seconds(page.pick(20, 3), || {
        if let Err(error) = integrator.step(&mut assembly, &mut *solver, &mut state, DT) {
            outcome = Err(error);
        }
    });
    outcome?;
    Ok(1e3 * seconds)
}
