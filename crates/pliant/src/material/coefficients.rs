//! Laws built by name from the coefficients of their formulas.

use super::{
    AnyLaw, Corotational, LawError, Linear, MooneyRivlin, NeoHookean, NeoHookeanBower, StVenantKirchhoff,
    StableNeoHookean, YoungPoisson,
};

impl AnyLaw {
    /// Returns the law called `name` with exactly these coefficients of its formula \[Pa\]. All of
    /// [`LawEntry::coefficients`](super::LawEntry::coefficients) are required.
    pub fn with_coefficients(name: &str, coefficients: &[(&str, f64)]) -> Result<Self, LawError> {
        // Placeholder moduli, until all coefficients are set.
        let mut law = Self::new(name, YoungPoisson { young: 1.0, poisson: 0.25 })?;
        let name = law.name();
        let known = Self::ALL.iter().find(|entry| entry.name == name).map_or(&[][..], |entry| entry.coefficients);
        for (place, &(coefficient, value)) in coefficients.iter().enumerate() {
            if coefficients[..place].iter().any(|earlier| earlier.0 == coefficient) {
                return Err(LawError::CoefficientTwice { coefficient: coefficient.into() });
            }
            if !value.is_finite() {
                return Err(LawError::Coefficient { coefficient: coefficient.into(), value });
            }
            let Some(place) = law.coefficient_mut(coefficient) else {
                let (coefficient, known) = (coefficient.into(), known.join(", "));
                return Err(LawError::UnknownCoefficient { law: name, coefficient, known });
            };
            *place = value;
        }
        if let Some(missing) = known.iter().find(|known| coefficients.iter().all(|given| given.0 != **known)) {
            return Err(LawError::MissingCoefficient { law: name, coefficient: missing });
        }
        let YoungPoisson { young, poisson } = law.moduli();
        if !(young > 0.0 && young.is_finite() && poisson > -1.0 && poisson < 0.5) {
            return Err(LawError::Unstable { law: name, young, poisson });
        }
        Ok(law)
    }

    /// Returns mutable access to a coefficient of the formula.
    fn coefficient_mut(&mut self, coefficient: &str) -> Option<&mut f64> {
        match (self, coefficient) {
            (
                Self::Linear(Linear { mu, .. })
                | Self::Corotational(Corotational { mu, .. })
                | Self::StVenantKirchhoff(StVenantKirchhoff { mu, .. })
                | Self::NeoHookean(NeoHookean { mu, .. })
                | Self::NeoHookeanBower(NeoHookeanBower { mu, .. })
                | Self::StableNeoHookean(StableNeoHookean { mu, .. }),
                "mu",
            ) => Some(mu),
            (
                Self::Linear(Linear { lambda, .. })
                | Self::Corotational(Corotational { lambda, .. })
                | Self::StVenantKirchhoff(StVenantKirchhoff { lambda, .. })
                | Self::NeoHookean(NeoHookean { lambda, .. })
                | Self::NeoHookeanBower(NeoHookeanBower { lambda, .. })
                | Self::StableNeoHookean(StableNeoHookean { lambda, .. }),
                "lambda",
            ) => Some(lambda),
            (Self::MooneyRivlin(MooneyRivlin { mu01, .. }), "mu01") => Some(mu01),
            (Self::MooneyRivlin(MooneyRivlin { mu10, .. }), "mu10") => Some(mu10),
            (Self::MooneyRivlin(MooneyRivlin { v1, .. }), "v1") => Some(v1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_coefficient_can_be_given() {
        for entry in AnyLaw::ALL {
            let given: Vec<(&str, f64)> =
                entry.coefficients.iter().enumerate().map(|(i, &name)| (name, 1e5 * (i + 1) as f64)).collect();
            let mut law = AnyLaw::with_coefficients(entry.name, &given).unwrap();
            assert_eq!(law.name(), entry.name);
            for (name, value) in given {
                assert_eq!(law.coefficient_mut(name), Some(&mut { value }), "{} {name}", entry.name);
            }
        }
    }

    #[test]
    fn wrong_coefficients_are_named() {
        let error = |law, given: &[(&str, f64)]| AnyLaw::with_coefficients(law, given).unwrap_err().to_string();
        assert_eq!(error("stvk", &[("mu", 1.0)]), "the law `stvk` needs its coefficient lambda, in Pa");
        assert_eq!(
            error("mooney-rivlin", &[("mu", 1.0)]),
            "the law `mooney-rivlin` has no coefficient `mu`; it has mu01, mu10, v1"
        );
        assert_eq!(error("stvk", &[("mu", 1.0), ("mu", 2.0)]), "coefficient `mu` is given twice");
        assert_eq!(error("linear", &[("mu", f64::NAN)]), "the coefficient mu is NaN, expected a finite number of Pa");
        assert_eq!(
            error("linear", &[("mu", -1.0), ("lambda", 2.0)]),
            "with these coefficients the law `linear` has Young's modulus -4 Pa and Poisson's ratio 1 at small strains, \
             expected one above 0 and one between -1 and 0.5"
        );
        assert!(error("elastic", &[]).starts_with("unknown law `elastic`"));
    }
}
