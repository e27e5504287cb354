//! `pliant laws`: what elastic laws there are.

use pliant::material::AnyLaw;

use crate::table::Facts;

/// A table of all laws.
pub fn list() -> String {
    let mut facts = Facts::default();
    facts.title("Elastic laws", "energy per rest volume, in J/m³");
    for law in AnyLaw::ALL {
        facts.title(&format!("\n{}", law.name), law.about);
        facts.row("energy", law.energy);
        facts.row("coefficients", format!("{}, in Pa, as in the formula; or", law.coefficients.join(", ")));
        facts.row("", "young, in Pa, and poisson, above -1 and below 0.5: the behaviour at small strains");
    }
    facts.into_text()
}
