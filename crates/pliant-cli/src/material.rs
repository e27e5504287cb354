//! Material of a body, from the command line or else from the mesh file.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use pliant::material::{AnyLaw, CorotationalFrame, CorotationalTangent, Inversion, LawError, Material, YoungPoisson};
use pliant::mesh::{Moduli, Region, VolumeMesh};
use pliant_scene::scene::quantity::{Density, Pressure};

/// Options for the material of a body.
#[derive(Debug, Args)]
#[command(next_help_heading = "Material")]
pub struct MaterialArgs {
    /// Elastic law; `pliant laws` describes them.
    #[arg(long, value_parser = laws(), hide_possible_values = true)]
    law: String,
    /// Young's modulus, in Pa or with a unit, as in "1 MPa" [default: as in the mesh file].
    #[arg(long, value_name = "PRESSURE")]
    young: Option<Pressure>,
    /// Poisson's ratio [default: as in the mesh file].
    #[arg(long)]
    poisson: Option<f64>,
    /// Coefficient of the law as NAME=VALUE, in Pa, instead of Young's modulus and Poisson's ratio; once per
    /// coefficient.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = coefficient, conflicts_with_all = ["young", "poisson"])]
    coefficients: Vec<(String, f64)>,
    /// Density, in kg/m³ or with a unit, as in "1.1 g/cm^3" [default: as in the mesh file].
    #[arg(long)]
    density: Option<Density>,
    /// Tangent of the corotational law: the exact derivative of its stress, or without the derivative of the rotation.
    #[arg(long, value_enum)]
    tangent: Option<TangentArgument>,
    /// Rotation of the corotational law: the closest one, or Gram–Schmidt on the axes in order.
    #[arg(long, value_enum)]
    frame: Option<FrameArgument>,
    /// Treatment of compressed and inverted elements.
    #[arg(long, value_enum, default_value = "none")]
    inversion: OnInversion,
    /// Stretch below which --inversion acts [default: 0.1].
    #[arg(long)]
    threshold: Option<f64>,
    /// Additional resistance to compression; VegaFEM's value is 500.
    #[arg(long, value_name = "VALUE", default_value_t = 0.0)]
    compression_resistance: f64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TangentArgument {
    Exact,
    Warped,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FrameArgument {
    Polar,
    Qr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnInversion {
    /// The law without modification.
    None,
    /// Clamp stretches to the threshold.
    Clamp,
    /// Extrapolate the energy quadratically below the threshold.
    Extrapolate,
}

pub fn laws() -> PossibleValuesParser {
    AnyLaw::ALL.iter().map(|law| PossibleValue::new(law.name).help(law.about)).collect::<Vec<_>>().into()
}

fn coefficient(text: &str) -> Result<(String, f64), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("expected NAME=VALUE, such as mu=3e5".into());
    };
    let value: Pressure = value.parse().map_err(|error| format!("`{name}=`: {error}"))?;
    Ok((name.into(), value.si))
}

impl MaterialArgs {
    /// Returns the name of the law.
    pub fn law(&self) -> &str {
        &self.law
    }

    /// Returns the material of each region of a mesh that was read from `file`.
    pub fn elasticity(&self, file: &Path, mesh: &VolumeMesh) -> anyhow::Result<Vec<Material>> {
        mesh.regions().iter().map(|region| self.elasticity_of(file, region)).collect()
    }

    /// Returns the density of each region.
    pub fn densities(&self, file: &Path, mesh: &VolumeMesh) -> anyhow::Result<Vec<f64>> {
        match self.density {
            Some(density) => Ok(vec![density.si; mesh.regions().len()]),
            None => mesh.densities().with_context(|| format!("{}: give --density, as", file.display())),
        }
    }

    fn elasticity_of(&self, file: &Path, region: &Region) -> anyhow::Result<Material> {
        let law = self.with_choices(self.law_of(file, region)?)?;
        let elasticity = Material::from(law)
            .with_compression_resistance(self.compression_resistance)
            .context("--compression-resistance")?;
        let handled = elasticity.with_inversion(self.inversion()?).map_err(|error| match error {
            // The material identifies its law by coefficients, the user by name.
            LawError::NoInversion { .. } => LawError::NoInversion { law: format!("`{}`", self.law) },
            error => error,
        });
        handled.context("--inversion")
    }

    /// Returns the law of a region, from the options or else from the file.
    fn law_of(&self, file: &Path, region: &Region) -> anyhow::Result<AnyLaw> {
        if !self.coefficients.is_empty() {
            let given: Vec<(&str, f64)> =
                self.coefficients.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            return AnyLaw::with_coefficients(&self.law, &given).context("--param");
        }
        if let (Some(young), Some(poisson)) = (self.young, self.poisson) {
            return Ok(AnyLaw::new(&self.law, YoungPoisson { young: young.si, poisson })?);
        }
        let place = || format!("{}, region `{}`", file.display(), region.name);
        let missing = match (self.young, self.poisson) {
            (Some(_), _) => "--poisson",
            (_, Some(_)) => "--young",
            _ => "--young and --poisson",
        };
        match region.material.as_ref().and_then(|material| material.moduli.as_ref()) {
            None => Err(anyhow!("{}: the file gives no moduli; give {missing}", place())),
            Some(&Moduli::Isotropic { young, poisson }) => {
                let young = self.young.map_or(young, |young| young.si);
                let moduli = YoungPoisson { young, poisson: self.poisson.unwrap_or(poisson) };
                AnyLaw::new(&self.law, moduli).with_context(place)
            }
            Some(_) if self.young.is_some() || self.poisson.is_some() => {
                Err(anyhow!("{}: the file gives no Young's modulus and Poisson's ratio; give {missing}", place()))
            }
            Some(&Moduli::MooneyRivlin { mu01, mu10, v1 }) if self.law == "mooney-rivlin" => {
                AnyLaw::with_coefficients(&self.law, &[("mu01", mu01), ("mu10", mu10), ("v1", v1)]).with_context(place)
            }
            Some(Moduli::MooneyRivlin { .. }) => Err(anyhow!(
                "{}: the file gives coefficients of Mooney–Rivlin; use --law mooney-rivlin, or give --young and --poisson",
                place()
            )),
            Some(Moduli::Orthotropic { .. }) => {
                Err(anyhow!("{}: the file gives an orthotropic material; give --young and --poisson", place()))
            }
        }
    }

    /// Applies the options that only some laws have.
    fn with_choices(&self, mut law: AnyLaw) -> anyhow::Result<AnyLaw> {
        let choices = [("tangent", self.tangent.is_some()), ("frame", self.frame.is_some())];
        let AnyLaw::Corotational(corotational) = &mut law else {
            if let Some((option, _)) = choices.iter().find(|(_, given)| *given) {
                bail!("--{option}: applies only to the law corotational, not to `{}`", self.law);
            }
            return Ok(law);
        };
        match self.tangent {
            Some(TangentArgument::Exact) => corotational.tangent = CorotationalTangent::Exact,
            Some(TangentArgument::Warped) => corotational.tangent = CorotationalTangent::Warped,
            None => {}
        }
        match self.frame {
            Some(FrameArgument::Polar) => corotational.frame = CorotationalFrame::Polar,
            Some(FrameArgument::Qr) => corotational.frame = CorotationalFrame::Qr,
            None => {}
        }
        Ok(law)
    }

    fn inversion(&self) -> anyhow::Result<Inversion> {
        let threshold = self.threshold.unwrap_or(Inversion::DEFAULT_THRESHOLD);
        Ok(match self.inversion {
            OnInversion::None if self.threshold.is_some() => {
                bail!("--threshold: has no effect without --inversion clamp or extrapolate")
            }
            OnInversion::None => Inversion::None,
            OnInversion::Clamp => Inversion::Clamp { threshold },
            OnInversion::Extrapolate => Inversion::Extrapolate { threshold },
        })
    }
}
