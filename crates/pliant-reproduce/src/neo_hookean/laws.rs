//! Energy and stress of the three laws, near rest and for inverted elements.

use pliant::material::{AnyLaw, YoungPoisson};
use pliant_pictures::{Plot, Series};

use super::track::LAWS;
use crate::Page;
use crate::measure::{AtStretch, digits};

/// Moduli, with a Young's modulus of 1, so that stresses are relative to it.
const MODULI: YoungPoisson = YoungPoisson { young: 1.0, poisson: 0.45 };
/// Maximum energy density that is drawn \[J/m³\].
const MAX_ENERGY: f64 = 8.0;
/// Stretch beyond the barrier.
const BEHIND: f64 = -0.1;

pub fn show(page: &mut Page<'_>) -> anyhow::Result<()> {
    let (mut rows, mut curves, mut behind) = (Vec::new(), Vec::new(), Vec::new());
    let (mut at_rest, mut off) = (0.0_f64, 0.0_f64);
    for name in LAWS {
        let law = AnyLaw::new(name, MODULI)?;
        let found = law.moduli();
        let (_, stress) = law.visit(AtStretch(1.0));
        at_rest = at_rest.max(stress.abs());
        off = off.max((found.young - MODULI.young).abs()).max((found.poisson - MODULI.poisson).abs());
        let here = law.visit(AtStretch(BEHIND));
        let cells = [found.young, found.poisson, here.0, here.1].map(|number| digits(number, 5));
        rows.push([vec![name.to_owned()], cells.to_vec()].concat());
        behind.push(here);
        let points = (0..=400).map(|i| -1.0 + 0.0075 * f64::from(i)).map(|s| (s, law.visit(AtStretch(s)).0));
        let points = points.map(|(s, energy)| (s, if energy < MAX_ENERGY { energy } else { f64::NAN }));
        curves.push(Series::new(name, points.collect()));
    }
    let plot = Plot {
        x_label: "stretch along one axis, negative if inverted".into(),
        y_label: "energy density, J/m³".into(),
        series: curves,
        ..Plot::default()
    };
    page.figure("laws", "Energy of the three laws for `F = diag(s, 1, 1)`, with `Y = 1` Pa and `ν = 0.45`", plot)?;
    let heading = [
        "law",
        "Young's modulus near rest, Pa",
        "Poisson's ratio near rest",
        "energy at a stretch of −0.1, J/m³",
        "stress there, Pa",
    ];
    page.table("laws-at", "Laws near rest and inverted", &heading, rows)?;
    page.finding(
        "all three laws are stress-free at rest, and have the same moduli for small strains",
        at_rest < 1e-12 && off < 1e-9,
        format!("stress below {:.0e} Pa, moduli within {:.0e}", at_rest.max(1e-16), off.max(1e-16)),
    );
    let [bower, bonet_wood, stable] = behind[..] else { anyhow::bail!("expected three laws") };
    page.finding(
        "for inverted elements, the law of Bonet and Wood is undefined, the law of Bower increases the inversion, and the stable law restores the element",
        bonet_wood.0.is_nan() && bower.1 > 0.0 && stable.1 < 0.0,
        format!("stresses of {}, {} and {} Pa at a stretch of {BEHIND}", digits(bonet_wood.1, 2), digits(bower.1, 2), digits(stable.1, 2)),
    );
    Ok(())
}
