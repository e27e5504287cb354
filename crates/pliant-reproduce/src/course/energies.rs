//! Energy and stress of every law against stretch.

use pliant::material::{AnyLaw, YoungPoisson};
use pliant_pictures::{Figure, Plot, Series};

use crate::measure::{AtStretch, digits, mooney_rivlin_in_words};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "course-energies",
    paper: &paper::COURSE,
    part: "chapter 3",
    title: "Energy laws against stretch",
    reports: "Laws that agree near rest diverge in tension and even more in compression. St. Venant–Kirchhoff resists most at \
              a compression to about 58 % of the length and softens beyond, while the energy of neo-Hookean laws is unbounded.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 1.0, poisson: 0.3 };

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let stretches: Vec<f64> = (0..page.pick(391, 79)).map(|i| 0.05 + f64::from(i) * page.pick(0.005, 0.025)).collect();
    let (mut energies, mut stresses) = (Vec::new(), Vec::new());
    let mut rows = Vec::new();
    for entry in AnyLaw::ALL {
        page.now(entry.name)?;
        let law = AnyLaw::new(entry.name, MODULI)?;
        let at = |s: f64| law.visit(AtStretch(s));
        let curve = |part: fn((f64, f64)) -> f64| stretches.iter().map(|&s| (s, part(at(s)))).collect();
        energies.push(Series::new(entry.name, curve(|(energy, _)| energy)));
        stresses.push(Series::new(entry.name, curve(|(_, stress)| stress)));
        rows.push(
            [vec![entry.name.to_owned()], [0.1, 0.5, 0.9, 1.1, 1.5, 2.0].map(|s| digits(at(s).0, 4)).to_vec()].concat(),
        );
    }
    let panel = |y_label: &str, series: Vec<Series>| Plot {
        x_label: "stretch along one axis".into(),
        y_label: y_label.into(),
        series,
        ..Plot::default()
    };
    page.text(format!(
        "A cube is stretched along one axis and keeps its width, `F = diag(s, 1, 1)`, with `Y = 1` Pa and `ν = 0.3`. {}",
        mooney_rivlin_in_words(MODULI)
    ));
    let panels = vec![panel("energy density, J/m³", energies), panel("nominal stress, Pa", stresses)];
    let data = Figure { panels, ..Figure::default() };
    let caption = format!("Energy and stress of all laws against stretch; values beyond ±{MAX_VALUE} are omitted");
    page.figure_with_data("energies", &caption, &within(&data), &data)?;
    let heading = ["law", "s = 0.1", "0.5", "0.9", "1.1", "1.5", "2.0"];
    page.table("energies-at", "Energy density in J/m³", &heading, rows)?;

    let at = |name: &str, s: f64| AnyLaw::new(name, MODULI).map(|law| law.visit(AtStretch(s)));
    // P = (λ + 2μ) s (s² − 1)/2 has its minimum at s² = 1/3.
    let mut min = (0.0, f64::INFINITY);
    for i in 1..10_000 {
        let s = f64::from(i) * 1e-4;
        let stress = at("stvk", s)?.1;
        if stress < min.1 {
            min = (s, stress);
        }
    }
    page.finding(
        "St. Venant–Kirchhoff resists most at a stretch of √⅓ = 0.577",
        (min.0 - 1.0 / 3.0_f64.sqrt()).abs() < 1e-4,
        format!("at {}", digits(min.0, 4)),
    );
    let crushed = at("stvk", 1e-6)?;
    page.finding(
        "its force vanishes and its energy stays finite when it is flattened",
        crushed.1.abs() < 1e-5 && crushed.0 < 0.2,
        format!("stress {} Pa, energy {} J/m³ at a stretch of 1e-6", digits(crushed.1, 2), digits(crushed.0, 3)),
    );
    let [flat, flatter] = [at("neo-hookean", 1e-4)?.0, at("neo-hookean", 1e-8)?.0];
    page.finding(
        "the energy of the neo-Hookean law is unbounded when it is flattened",
        flatter > 2.0 * flat && flat > 10.0 * crushed.0,
        format!("{} J/m³ at a stretch of 1e-4, {} at 1e-8", digits(flat, 3), digits(flatter, 3)),
    );
    let mut spread = 0.0_f64;
    for entry in AnyLaw::ALL {
        let expected = 0.5 * (MODULI.lambda() + 2.0 * MODULI.mu()) * 1e-6;
        spread = spread.max((at(entry.name, 1.001)?.0 / expected - 1.0).abs());
    }
    page.finding(
        "near rest all laws agree",
        spread < 5e-3,
        format!("within {} % of linear elasticity at a stretch of 1.001", digits(100.0 * spread, 2)),
    );
    let [stvk, linear, neo] = [at("stvk", 2.0)?.1, at("linear", 2.0)?.1, at("neo-hookean", 2.0)?.1];
    page.finding(
        "stretched to twice the length, St. Venant–Kirchhoff is the stiffest, and the neo-Hookean law softer than the linear one",
        stvk > linear && linear > neo,
        format!("{}, {} and {} Pa for St. Venant–Kirchhoff, linear and neo-Hookean", digits(stvk, 3), digits(linear, 3), digits(neo, 3)),
    );
    Ok(())
}

/// Maximum magnitude that is drawn: higher values would flatten the other curves.
const MAX_VALUE: f64 = 2.5;

/// Returns the figure without values beyond [`MAX_VALUE`].
fn within(figure: &Figure) -> Figure {
    let mut figure = figure.clone();
    let points = figure.panels.iter_mut().flat_map(|panel| &mut panel.series).flat_map(|series| &mut series.points);
    points.filter(|(_, y)| y.abs() >= MAX_VALUE).for_each(|(_, y)| *y = f64::NAN);
    figure
}
