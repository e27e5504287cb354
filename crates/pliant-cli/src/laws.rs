//! `pliant laws`: what elastic laws there are.

use pliant::material::{AnyLaw, Elasticity, Inversion, LawEntry, YoungPoisson};

use crate::table::Facts;

/// A table of all laws.
pub fn list() -> String {
    let mut facts = Facts::default();
    facts.title("Elastic laws", "energy per rest volume, in J/m³");
    for law in AnyLaw::ALL {
        facts.title(&format!("\n{}", law.name), law.about);
        facts.row("energy", law.energy);
        facts.row(
            "coefficients",
            format!("{}, in Pa, as in the formula; or young and poisson", law.coefficients.join(", ")),
        );
        facts.row("inside out", inside_out(law));
        for option in law.options {
            let others = option.values[1..].join(", ");
            facts.row(option.name, format!("{} (default), {others}: {}", option.values[0], option.about));
        }
    }
    facts.title("\nParameters", "of every law");
    facts.columns(&["name", "unit", "default", "meaning"], &parameters());
    facts.into_text()
}

/// What becomes of elements that are turned inside out.
fn inside_out(law: &LawEntry) -> String {
    // Whether inversion can be handled is a matter of the law, not of its moduli.
    let any = AnyLaw::new(law.name, YoungPoisson { young: 1.0, poisson: 0.25 });
    let clamp = Inversion::Clamp { threshold: Inversion::DEFAULT_THRESHOLD };
    let can_be_handled = any.is_ok_and(|law| Elasticity::from(law).with_inversion(clamp).is_ok());
    let by_itself = if law.defined_inverted { "defined" } else { "not defined" };
    let handled = if can_be_handled { "inversion clamp or extrapolate can be chosen" } else { "inversion stays none" };
    format!("{by_itself}; {handled}")
}

/// What every law can be given.
fn parameters() -> Vec<Vec<String>> {
    let threshold = Inversion::DEFAULT_THRESHOLD.to_string();
    let rows = [
        ["young", "Pa", "–", "Young's modulus at small strains, above 0"],
        ["poisson", "1", "–", "Poisson's ratio at small strains, above -1 and below 0.5"],
        ["density", "kg/m³", "–", "mass per volume, above 0"],
        ["inversion", "", "none", "none, clamp or extrapolate: what stretches below the threshold do"],
        ["threshold", "1", &threshold, "a stretch above 0 and below 1"],
        ["compression-resistance", "1", "0", "for J < 1 the energy gains −c (J − 1)³/2592, c = value · Y/(1 − 2ν)"],
    ];
    rows.into_iter().map(|row| row.map(String::from).to_vec()).collect()
}
