//! `pliant laws`: the elastic laws.

use pliant::material::{AnyLaw, Inversion, LawEntry, Material, YoungPoisson};

use crate::table::Listing;

/// Returns a table of all laws.
pub fn list() -> String {
    let mut listing = Listing::default();
    listing.title("Elastic laws", "energy per undeformed volume, in J/m³");
    for law in AnyLaw::ALL {
        listing.title(&format!("\n{}", law.name), law.about);
        listing.row("energy", law.energy);
        listing.row(
            "coefficients",
            format!("{}, in Pa, as in the formula; or young and poisson", law.coefficients.join(", ")),
        );
        listing.row("inverted", inside_out(law));
        for option in law.options {
            let others = option.values[1..].join(", ");
            listing.row(option.name, format!("{} (default), {others}: {}", option.values[0], option.about));
        }
    }
    listing.title("\nParameters", "of every law");
    listing.columns(&["name", "unit", "default", "meaning"], &parameters());
    listing.into_text()
}

/// Returns the behavior of a law for inverted elements.
fn inside_out(law: &LawEntry) -> String {
    // Inversion handling depends on the law, not on its moduli.
    let any = AnyLaw::new(law.name, YoungPoisson { young: 1.0, poisson: 0.25 });
    let clamp = Inversion::Clamp { threshold: Inversion::DEFAULT_THRESHOLD };
    let can_be_handled = any.is_ok_and(|law| Material::from(law).with_inversion(clamp).is_ok());
    let by_itself = if law.defined_inverted { "defined" } else { "not defined" };
    let handled =
        if can_be_handled { "supports inversion clamp and extrapolate" } else { "supports only inversion none" };
    format!("{by_itself}; {handled}")
}

/// Returns the parameters of all laws.
fn parameters() -> Vec<Vec<String>> {
    let threshold = Inversion::DEFAULT_THRESHOLD.to_string();
    let rows = [
        ["young", "Pa", "–", "Young's modulus at small strains, above 0"],
        ["poisson", "1", "–", "Poisson's ratio at small strains, above -1 and below 0.5"],
        ["density", "kg/m³", "–", "density, above 0"],
        ["inversion", "", "none", "none, clamp or extrapolate: treatment of stretches below the threshold"],
        ["threshold", "1", &threshold, "a stretch above 0 and below 1"],
        [
            "compression-resistance",
            "1",
            "0",
            "for J < 1 the energy increases by −c (J − 1)³/2592, c = value · Y/(1 − 2ν)",
        ],
    ];
    rows.into_iter().map(|row| row.map(String::from).to_vec()).collect()
}
