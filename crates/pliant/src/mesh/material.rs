//! Material data of mesh files, which are preserved but are no constitutive law to compute with.

/// Material data of a mesh file. A file may give the density, the moduli, both or neither.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MaterialData {
    /// Name in the file.
    pub name: String,
    /// Mass density \[kg/m³\].
    pub density: Option<f64>,
    /// Elastic moduli.
    pub moduli: Option<Moduli>,
}

/// Elastic moduli of a [`MaterialData`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Moduli {
    /// Young's modulus and Poisson's ratio.
    Isotropic {
        /// Young's modulus \[Pa\].
        young: f64,
        /// Poisson's ratio.
        poisson: f64,
    },
    /// Coefficients `μ₀₁`, `μ₁₀` and `v₁` of VegaFEM's Mooney–Rivlin energy.
    MooneyRivlin {
        /// Coefficient of the second invariant \[Pa\].
        mu01: f64,
        /// Coefficient of the first invariant \[Pa\].
        mu10: f64,
        /// Coefficient of `(J−1)²` \[Pa\].
        v1: f64,
    },
    /// Nine constants and the axes of symmetry.
    Orthotropic {
        /// `E₁, E₂, E₃` \[Pa\].
        young: [f64; 3],
        /// `ν₁₂, ν₂₃, ν₃₁`.
        poisson: [f64; 3],
        /// `G₁₂, G₂₃, G₃₁` \[Pa\].
        shear: [f64; 3],
        /// Rotation matrix of the material axes, row by row.
        axes: [f64; 9],
    },
}

impl MaterialData {
    /// Builds an isotropic material from its density, Young's modulus and Poisson's ratio.
    pub fn isotropic(name: impl Into<String>, density: f64, young: f64, poisson: f64) -> Self {
        Self { name: name.into(), density: Some(density), moduli: Some(Moduli::Isotropic { young, poisson }) }
    }

    /// Returns the material renamed, with its density and moduli multiplied by `factor`.
    #[must_use]
    #[cfg(feature = "formats")]
    pub(super) fn scaled(mut self, factor: f64, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self.density = self.density.map(|density| factor * density);
        match &mut self.moduli {
            None => {}
            Some(Moduli::Isotropic { young, .. }) => *young *= factor,
            Some(Moduli::MooneyRivlin { mu01, mu10, v1 }) => [mu01, mu10, v1].into_iter().for_each(|c| *c *= factor),
            Some(Moduli::Orthotropic { young, shear, .. }) => young.iter_mut().chain(shear).for_each(|c| *c *= factor),
        }
        self
    }

    /// Returns the reason why no material can have these values, if there is one.
    pub fn defect(&self) -> Option<String> {
        // Beyond these limits, products with volumes and squares of lengths overflow.
        let positive = |what: &str, value: f64| {
            (!(1e-50..=1e50).contains(&value))
                .then(|| format!("{what} is {value:?}, expected a positive number between 1e-50 and 1e50"))
        };
        let moduli = match self.moduli {
            None => None,
            Some(Moduli::Isotropic { young, poisson }) => {
                positive("Young's modulus", young).or_else(|| poisson_defect(poisson))
            }
            Some(Moduli::MooneyRivlin { mu01, mu10, v1 }) => [("mu01", mu01), ("mu10", mu10), ("v1", v1)]
                .into_iter()
                .find(|(_, value)| !value.is_finite())
                .map(|(what, value)| format!("{what} is {value}, expected a finite number")),
            Some(Moduli::Orthotropic { young, poisson, shear, axes }) => young
                .into_iter()
                .find_map(|e| positive("Young's modulus", e))
                .or_else(|| shear.into_iter().find_map(|g| positive("the shear modulus", g)))
                .or_else(|| {
                    let bad = poisson.iter().chain(&axes).find(|value| !value.is_finite())?;
                    Some(format!("a constant is {bad}, expected a finite number"))
                }),
        };
        self.density.and_then(|density| positive("the density", density)).or(moduli)
    }
}

fn poisson_defect(poisson: f64) -> Option<String> {
    (!(poisson > -1.0 && poisson <= 0.5))
        .then(|| format!("Poisson's ratio is {poisson}, expected a number above -1 and at most 0.5"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_constants_are_named() {
        let defect = |density, young, poisson| MaterialData::isotropic("m", density, young, poisson).defect();
        assert_eq!(defect(1000.0, 1e6, 0.45), None);
        assert_eq!(defect(1000.0, 1e6, 0.5), None, "the incompressible limit is a material");
        assert!(defect(-1.0, 1e6, 0.45).unwrap().contains("density is -1.0"));
        assert!(defect(1000.0, 0.0, 0.45).unwrap().contains("Young's modulus is 0.0"));
        assert!(defect(1000.0, 1e6, 0.51).unwrap().contains("0.51"));
        assert!(defect(f64::NAN, 1e6, 0.3).unwrap().contains("NaN"));
    }
}
