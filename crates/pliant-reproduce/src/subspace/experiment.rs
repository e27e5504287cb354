//! The experiment: the reduced force, and the accuracy of reduced models.

use pliant::force::{Conditions, Definiteness, Force};
use pliant::math::Vec3;
use pliant::reduced::{Basis, StVkTensors};
use pliant::solver::DenseMatrix;
use pliant::sparse::BlockMatrix;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use super::cost;
use super::swing::{Bar, DT, Full, Kind, Reduced, YOUNG, reduction};
use crate::measure::digits;
use crate::picture::{PosedSurface, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "subspace",
    paper: &paper::SUBSPACE,
    part: "reduced against full",
    title: "Reduced St. Venant–Kirchhoff models against the full model",
    reports: "The elastic force of a reduced model with `r` basis vectors is a cubic polynomial in the `r` reduced coordinates, for any mesh. \
              With precomputed coefficients, steps take microseconds. Linear modes alone cannot represent large deflections; a basis of \
              modes and modal derivatives with twenty or thirty vectors can.",
    run,
};

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let bar = Bar::new(page.pick([40, 4, 4], [12, 2, 2]))?;
    page.text(format!(
        "A bar of 1 × 0.1 × 0.1 m, fixed at one end, is released under gravity and swings: {} hexahedra, {} vertices, `Y = {}` MPa, `ν = 0.35`, `ρ = 1000` kg/m³, no damping. \
         The full and the reduced models use Newmark's method with steps of {} ms and Newton iterations until convergence. Gravity also has a lateral component, so that the swing is not planar.",
        bar.mesh.element_count(),
        bar.mesh.vertex_count(),
        YOUNG / 1e6,
        1e3 * DT,
    ));
    polynomial(page, &bar)?;
    accuracy(page, &bar)?;
    cost::measure(page, &bar)
}

/// Compares the reduced force with the projection of the full force.
fn polynomial(page: &mut Page<'_>, bar: &Bar) -> anyhow::Result<()> {
    let model = bar.model(Kind::Derivatives.law())?;
    let size = page.pick(20, 10);
    let reduction = reduction(page, &model, Kind::Derivatives, size)?;
    let basis: &Basis = reduction.basis();
    let Some(mut tensors) = StVkTensors::new(&model, basis, &mut |_, _| std::ops::ControlFlow::Continue(())) else {
        anyhow::bail!("the law of the model is not St. Venant–Kirchhoff");
    };
    let mut random = fastrand::Rng::with_seed(2005);
    let mut worst = [0.0_f64; 2];
    for scale in [1e-3, 0.1, 1.0, 10.0] {
        page.now(format_args!("polynomial against projection at {scale}"))?;
        // The basis is mass-orthonormal and the body has 10 kg, so a reduced coordinate of 1 is a third of a meter.
        let q: Vec<f64> = (0..size).map(|_| scale * (2.0 * random.f64() - 1.0)).collect();
        let u = basis.expand(&q);
        let (mut force, mut stiffness) = (vec![0.0; u.len()], BlockMatrix::zero(model.pattern().clone()));
        for elastic in model.bodies().iter().filter_map(|body| body.elastic()) {
            elastic.add_gradient_and_stiffness(&u, &Conditions::START, Definiteness::Exact, &mut force, &mut stiffness);
        }
        let mut product = vec![0.0; u.len()];
        let mut expected = [Vec::new(), Vec::new()];
        for column in basis.columns() {
            expected[0].push(dot(column, &force));
            stiffness.mul(column, &mut product);
            expected[1].extend(basis.columns().iter().map(|row| dot(row, &product)));
        }
        let (mut found, mut matrix) = (vec![0.0; size], DenseMatrix::zero(size));
        tensors.force_and_stiffness(&q, &mut found, &mut matrix);
        for (worst, (found, expected)) in worst.iter_mut().zip([&found[..], matrix.values()].into_iter().zip(&expected))
        {
            *worst = worst.max(relative(found, expected));
        }
    }
    page.finding(
        "the polynomial equals the projected force, and its derivative equals the projected stiffness, without approximation",
        worst[0].max(worst[1]) < 1e-10,
        format!("within {} of the largest force and {} of the largest stiffness, r = {size}", digits(worst[0], 2), digits(worst[1], 2)),
    );
    Ok(())
}

fn accuracy(page: &mut Page<'_>, bar: &Bar) -> anyhow::Result<()> {
    let sizes: &[usize] = page.pick(&[5, 10, 15, 20, 30, 40], &[5, 10, 20]);
    let compared = 20;
    let steps = page.pick(150, 80);
    let full = Full::swing(page, bar, steps)?;
    let (mut rows, mut surfaces) = (Vec::new(), vec![full.surface(bar, Vec3::ZERO)?]);
    let mut tips = vec![Series::new("full model", full.tip.clone())];
    let mut curves = Vec::new();
    let mut at_compared = Vec::new();
    for kind in [Kind::Derivatives, Kind::Modes, Kind::Linear] {
        let mut errors = Vec::new();
        for &size in sizes {
            let reduced = Reduced::swing(page, bar, kind, size, &full)?;
            rows.push(vec![
                kind.name().to_owned(),
                size.to_string(),
                digits(100.0 * reduced.error, 3),
                digits(100.0 * reduced.tip_error, 3),
                digits(reduced.lowest, 3),
                digits(reduced.volume, 4),
            ]);
            errors.push((size as f64, 100.0 * reduced.error));
            if size == compared {
                tips.push(Series::new(format!("{}, r = {size}", kind.name()), reduced.tip.clone()));
                surfaces.push(PosedSurface::new(
                    &bar.model("stvk")?,
                    &reduced.extreme,
                    0.35 * surfaces.len() as f64 * Vec3::Z,
                ));
                at_compared.push(reduced);
            }
        }
        curves.push(Series { style: Style::LineAndMarkers, ..Series::new(kind.name(), errors) });
    }
    let deflection = full.lowest;
    let errors: Vec<Vec<f64>> =
        curves.iter().map(|curve| curve.points.iter().map(|(_, error)| *error).collect()).collect();
    let panels = vec![
        Plot {
            x_label: "basis vectors r".into(),
            y_label: "error, % of the largest displacement".into(),
            y_scale: Scale::Logarithmic,
            series: curves,
            ..Plot::default()
        },
        Plot { x_label: "time in s".into(), y_label: "height of the tip in m".into(), series: tips, ..Plot::default() },
    ];
    page.figure(
        "error",
        "Maximum error of the shape over time, in the norm of the mass matrix, against the number of basis vectors; and the swing",
        Figure { panels, ..Figure::default() },
    )?;
    let image = draw(&surfaces, "full model; modes and derivatives; modes alone; linear modal analysis", [960, 540])?;
    page.picture("swing", "The bar at its lowest position, from back to front: the full model, then 20 basis vectors with modes and derivatives, modes alone, and linear modal analysis", &image)?;
    let heading = [
        "basis",
        "r",
        "error of the shape, %",
        "error of the tip, %",
        "lowest tip, m",
        "maximum volume, relative to rest",
    ];
    page.table(
        "accuracy",
        &format!("The tip of the full model moves down by {} m", digits(-deflection, 3)),
        &heading,
        rows,
    )?;

    accuracy_findings(page, sizes, &errors[0], &at_compared, deflection)
}

/// Reports how far the reduced models are from the full one; `errors` are those with modal derivatives.
fn accuracy_findings(
    page: &mut Page<'_>,
    sizes: &[usize],
    errors: &[f64],
    at_compared: &[Reduced],
    deflection: f64,
) -> anyhow::Result<()> {
    let [with, alone, linear] = at_compared else { anyhow::bail!("expected three kinds of bases") };
    let falls = errors.windows(2).all(|pair| pair[1] < pair[0]);
    let (first, last) = (errors[0], errors[errors.len() - 1]);
    page.finding(
        "with modal derivatives the error decreases with the number of basis vectors",
        falls,
        format!(
            "from {} % at r = {} to {} % at r = {}",
            digits(first, 3),
            sizes[0],
            digits(last, 3),
            sizes[sizes.len() - 1]
        ),
    );
    page.finding(
        "twenty basis vectors reproduce a swing of more than 0.45 times the length within a few percent",
        with.error < 0.04 && -deflection > 0.45,
        format!(
            "{} % of the largest displacement, tip down by {} m of 1 m",
            digits(100.0 * with.error, 3),
            digits(-deflection, 3)
        ),
    );
    page.finding(
        "the same number of linear modes alone has large errors: linear modes represent rotation only with volume growth, which St. Venant–Kirchhoff resists, so the model locks",
        alone.error > 5.0 * with.error && alone.lowest > 0.8 * deflection,
        format!(
            "error {} %, tip down by {} m instead of {}",
            digits(100.0 * alone.error, 3),
            digits(-alone.lowest, 3),
            digits(-deflection, 3)
        ),
    );
    page.finding(
        "linear modal analysis does not resist the growth, and its volume increases",
        linear.volume > 1.1 && with.volume < 1.05,
        format!("to {} times its volume; with derivatives {}", digits(linear.volume, 3), digits(with.volume, 3)),
    );
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the maximum difference relative to the maximum of `expected`.
fn relative(found: &[f64], expected: &[f64]) -> f64 {
    let pairs = found.iter().zip(expected);
    let (error, size) =
        pairs.fold((0.0_f64, 0.0_f64), |(error, size), (a, b)| (error.max((a - b).abs()), size.max(b.abs())));
    error / size
}
