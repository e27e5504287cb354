//! Materials of bodies.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::quantity::{Density, Pressure};
use super::{Located, SceneError, Source, bounds, hint, nearest, text_or_table};
use pliant::material::{AnyLaw, CorotationalFrame, CorotationalTangent, Inversion, LawError, Material, YoungPoisson};
use pliant::mesh;

/// An elastic material. Values that are absent are taken from the mesh file, if it has them.
///
/// ```toml
/// [material.rubber]
/// law = "mooney-rivlin"
/// young = "2 MPa"
/// poisson = 0.47
/// density = "1.1 g/cm^3"
///
/// [[object]]
/// mesh = { ball = { radius = "10 cm" } }
/// material = "rubber"
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MaterialSettings {
    /// Elastic law, as listed by `pliant laws`: `linear`, `corotational`, `stvk`, `neo-hookean`, `neo-hookean-bower`,
    /// `stable-neo-hookean` or `mooney-rivlin`. By default `stable-neo-hookean`, or `mooney-rivlin` if the mesh file
    /// has its coefficients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<Located<String>>,
    /// Young's modulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub young: Option<Located<Pressure>>,
    /// Poisson's ratio, above -1 and below 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = -1, "exclusiveMaximum" = 0.5))]
    pub poisson: Option<Located<f64>>,
    /// Mass per volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub density: Option<Located<Density>>,
    /// Coefficients of the law, instead of `young` and `poisson`, such as `{ mu = 1e5, lambda = 1e6 }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coefficients: Option<Located<BTreeMap<String, Pressure>>>,
    /// User-defined energy density, instead of a law: a formula of `I1`, `J` and other invariants of the deformation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<Located<String>>,
    /// Values of the named parameters of the formula.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, f64>,
    /// Tangent of the corotational law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tangent: Option<Located<MaterialTangent>>,
    /// Rotation of the corotational law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Located<MaterialFrame>>,
    /// Treatment of collapsed or inverted elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inversion: Option<Located<Inverted>>,
    /// Principal stretch below which `inversion` acts; by default 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::fraction)]
    pub inversion_threshold: Option<Located<f64>>,
    /// Additional resistance to compression; VegaFEM's usual value is 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = Material::MAX_COMPRESSION_RESISTANCE))]
    pub compression_resistance: Option<Located<f64>>,
}

/// Tangent of the corotational law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaterialTangent {
    /// Exact derivative of the stress.
    Exact,
    /// Stiffness warping: without the derivative of the rotation.
    Warped,
}

/// Rotation of the corotational law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaterialFrame {
    /// Polar decomposition: the nearest rotation.
    Polar,
    /// QR decomposition: the axes are orthogonalized one after the other.
    Qr,
}

/// Treatment of collapsed or inverted elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inverted {
    /// The unmodified law.
    None,
    /// Principal stretches below the threshold are replaced by the threshold.
    Clamp,
    /// Below the threshold the energy is extrapolated quadratically.
    Extrapolate,
}

/// A material: the name of one in the scene, or a table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialChoice {
    /// Name of a table `[material.NAME]`.
    Named(String),
    /// A table.
    Here(Box<MaterialSettings>),
}

impl<'de> Deserialize<'de> for MaterialChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected =
            "the name of a material, or a table such as { young = \"1 MPa\", poisson = 0.45, density = 1000 }";
        text_or_table(deserializer, expected, Self::Named, |material| Self::Here(Box::new(material)))
    }
}

impl MaterialSettings {
    /// Default law, which is defined for every deformation.
    pub const USUAL_LAW: &str = "stable-neo-hookean";
}

impl Located<MaterialChoice> {
    /// Resolves the material among the named ones.
    pub(super) fn resolve<'a>(
        &'a self,
        named: &'a BTreeMap<String, Located<MaterialSettings>>,
        source: &Source,
    ) -> Result<Located<&'a MaterialSettings>, SceneError> {
        let name = match &self.value {
            MaterialChoice::Here(material) => return Ok(Located { value: material, span: self.span.clone() }),
            MaterialChoice::Named(name) => name,
        };
        if let Some(material) = named.get(name) {
            return Ok(Located { value: &material.value, span: self.span.clone() });
        }
        let hint = hint(name, named.keys().map(String::as_str));
        let known = named.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() {
            "The scene has no named materials".into()
        } else {
            format!("Known materials: {known}")
        };
        Err(source.error(self.span.as_ref(), format!("there is no material `{name}`{hint} {known}")))
    }
}

impl MaterialSettings {
    /// Returns the elasticity of a region of this material. Values that are absent are taken from the mesh file, if it
    /// has them.
    pub fn elasticity(&self, region: &mesh::Region) -> Result<Material, SceneError> {
        self.of_region(region).elasticity(&Source::none())
    }

    /// Returns the density \[kg/m³\] of a region of this material.
    pub fn density(&self, region: &mesh::Region) -> Result<f64, SceneError> {
        self.of_region(region).density(&Source::none())
    }

    /// Returns the density \[kg/m³\] of a region of this material, `None` if neither it nor the mesh file gives one.
    pub fn density_if_given(&self, region: &mesh::Region) -> Result<Option<f64>, SceneError> {
        self.of_region(region).density_if_given(&Source::none())
    }

    fn of_region<'a>(&'a self, region: &'a mesh::Region) -> RegionMaterial<'a> {
        let name = format!("region `{}`", region.name);
        RegionMaterial { given: Located::new(self), file: region.material.as_ref(), region: name }
    }
}

/// Material of a region, with the location that errors fall back to.
pub(super) struct RegionMaterial<'a> {
    pub given: Located<&'a MaterialSettings>,
    /// Material in the mesh file.
    pub file: Option<&'a mesh::MaterialData>,
    /// Description of the region, for errors.
    pub region: String,
}

impl RegionMaterial<'_> {
    pub fn density_if_given(&self, source: &Source) -> Result<Option<f64>, SceneError> {
        if let Some(density) = &self.given.density {
            if !(density.si > 0.0) {
                let message = format!("the density is {} kg/m³, expected a positive value", density.si);
                return Err(source.error(density.span.as_ref(), message));
            }
            return Ok(Some(density.si));
        }
        Ok(self.file.and_then(|file| file.density))
    }

    pub fn density(&self, source: &Source) -> Result<f64, SceneError> {
        let missing = || {
            let message =
                format!("the density of {} is missing: neither the scene nor the mesh file gives it", self.region);
            source.error(self.given.span.as_ref(), message)
        };
        self.density_if_given(source)?.ok_or_else(missing)
    }

    /// Returns an error if a key other than these and the density is given, because it has no effect.
    pub fn allow(&self, allowed: &[&str], why: &str, source: &Source) -> Result<(), SceneError> {
        let given = &self.given;
        let keys = [
            ("law", given.law.as_ref().map(|own| &own.span)),
            ("young", given.young.as_ref().map(|own| &own.span)),
            ("poisson", given.poisson.as_ref().map(|own| &own.span)),
            ("coefficients", given.coefficients.as_ref().map(|own| &own.span)),
            ("formula", given.formula.as_ref().map(|own| &own.span)),
            ("parameters", (!given.parameters.is_empty()).then_some(&given.span)),
            ("tangent", given.tangent.as_ref().map(|own| &own.span)),
            ("frame", given.frame.as_ref().map(|own| &own.span)),
            ("inversion", given.inversion.as_ref().map(|own| &own.span)),
            ("inversion_threshold", given.inversion_threshold.as_ref().map(|own| &own.span)),
            ("compression_resistance", given.compression_resistance.as_ref().map(|own| &own.span)),
        ];
        match keys.into_iter().find(|(name, span)| span.is_some() && !allowed.contains(name)) {
            Some((name, span)) => {
                let span = span.and_then(Option::as_ref).or(given.span.as_ref());
                Err(source.error(span, format!("`{name}` has no effect: {why}")))
            }
            None => Ok(()),
        }
    }

    /// Returns Young's modulus and Poisson's ratio, for integrators with a built-in law.
    pub fn moduli(&self, source: &Source) -> Result<YoungPoisson, SceneError> {
        self.allow(&["young", "poisson"], "this integrator has a built-in law", source)?;
        self.written_moduli().ok_or_else(|| source.error(self.given.span.as_ref(), self.no_moduli()))
    }

    /// Returns Young's modulus and Poisson's ratio, each as given or else as in the mesh file.
    fn young_and_poisson(&self) -> (Option<f64>, Option<f64>) {
        let (young, poisson) = match self.file.and_then(|file| file.moduli.as_ref()) {
            Some(&mesh::Moduli::Isotropic { young, poisson }) => (Some(young), Some(poisson)),
            _ => (None, None),
        };
        let given = &self.given;
        (given.young.as_ref().map(|own| own.si).or(young), given.poisson.as_ref().map(|own| own.value).or(poisson))
    }

    /// Returns Young's modulus and Poisson's ratio exactly as given, `None` if the law is defined otherwise.
    pub fn written_moduli(&self) -> Option<YoungPoisson> {
        let given = &self.given;
        if given.coefficients.is_some() || given.formula.is_some() {
            return None;
        }
        let (young, poisson) = self.young_and_poisson();
        Some(YoungPoisson { young: young?, poisson: poisson? })
    }

    pub fn elasticity(&self, source: &Source) -> Result<Material, SceneError> {
        let given = &self.given;
        let law = self.with_choices(self.law(source)?, source)?;
        let name = law.name();
        let mut elasticity = Material::from(law);
        if let Some(resistance) = &given.compression_resistance {
            elasticity = elasticity
                .with_compression_resistance(resistance.value)
                .map_err(|error| source.error(resistance.span.as_ref(), error.to_string()))?;
        }
        let threshold = given.inversion_threshold.as_ref().map_or(Inversion::DEFAULT_THRESHOLD, |own| own.value);
        let handling = match given.inversion.as_ref().map_or(Inverted::None, |own| own.value) {
            Inverted::None => {
                if let Some(threshold) = &given.inversion_threshold {
                    let message =
                        "`inversion_threshold` has no effect without `inversion = \"clamp\"` or \"extrapolate\"";
                    return Err(source.error(threshold.span.as_ref(), message));
                }
                return Ok(elasticity);
            }
            Inverted::Clamp => Inversion::Clamp { threshold },
            Inverted::Extrapolate => Inversion::Extrapolate { threshold },
        };
        elasticity.with_inversion(handling).map_err(|error| {
            let (span, error) = match error {
                // The material identifies its law by its coefficients, the user by its name.
                LawError::NoInversion { .. } => (
                    given.inversion.as_ref().and_then(|own| own.span.as_ref()),
                    LawError::NoInversion { law: format!("`{name}`") },
                ),
                error => (given.inversion_threshold.as_ref().and_then(|own| own.span.as_ref()), error),
            };
            source.error(span, error.to_string())
        })
    }

    fn no_moduli(&self) -> String {
        format!("{} has no stiffness: give `young` and `poisson`, or `coefficients`, or a `formula`", self.region)
    }

    pub fn law(&self, source: &Source) -> Result<AnyLaw, SceneError> {
        let given = &self.given;
        let others = ["inversion", "inversion_threshold", "compression_resistance"];
        if let Some(formula) = &given.formula {
            self.allow(&[&others[..], &["formula", "parameters"]].concat(), "the formula defines the law", source)?;
            let parameters: Vec<(&str, f64)> =
                given.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let law = AnyLaw::formula(formula, &parameters);
            return law.map_err(|error| source.error(formula.span.as_ref(), error.to_string()));
        }
        let place = |span: Option<&std::ops::Range<usize>>| span.or(given.span.as_ref()).cloned();
        let file = self.file.and_then(|file| file.moduli.as_ref());
        let usual = match (file, &given.young) {
            (Some(mesh::Moduli::MooneyRivlin { .. }), None) => "mooney-rivlin",
            _ => MaterialSettings::USUAL_LAW,
        };
        let (name, name_span) = given.law.as_ref().map_or((usual, None), |law| (law.value.as_str(), law.span.as_ref()));
        let at = |span: Option<&std::ops::Range<usize>>, error: &LawError| {
            let hint = match error {
                LawError::Unknown { name, .. } => nearest(name, AnyLaw::ALL.iter().map(|law| law.name)),
                _ => None,
            };
            let hint = hint.map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"));
            let span = match error {
                LawError::Unknown { .. } => name_span,
                LawError::Young { .. } => given.young.as_ref().and_then(|own| own.span.as_ref()),
                LawError::Poisson { .. } => given.poisson.as_ref().and_then(|own| own.span.as_ref()),
                _ => span,
            };
            source.error(place(span).as_ref(), format!("{error}{hint}"))
        };
        if let Some(coefficients) = &given.coefficients {
            let allowed = [&others[..], &["law", "coefficients", "tangent", "frame"]].concat();
            self.allow(&allowed, "the coefficients define it", source)?;
            let list: Vec<(&str, f64)> = coefficients.iter().map(|(name, value)| (name.as_str(), value.si)).collect();
            return AnyLaw::with_coefficients(name, &list).map_err(|error| at(coefficients.span.as_ref(), &error));
        }
        if !given.parameters.is_empty() {
            return Err(source.error(given.span.as_ref(), "`parameters` has no effect without a `formula`"));
        }
        match (self.young_and_poisson(), &given.young, &given.poisson) {
            ((Some(young), Some(poisson)), ..) => {
                return AnyLaw::new(name, YoungPoisson { young, poisson }).map_err(|error| at(None, &error));
            }
            (_, Some(given), _) => {
                let message = "`poisson` is missing: neither the material nor the mesh file gives it next to `young`";
                return Err(source.error(given.span.as_ref(), message));
            }
            (_, _, Some(given)) => {
                let message = "`young` is missing: neither the material nor the mesh file gives it next to `poisson`";
                return Err(source.error(given.span.as_ref(), message));
            }
            _ => {}
        }
        match file {
            Some(&mesh::Moduli::MooneyRivlin { mu01, mu10, v1 }) if name == "mooney-rivlin" => {
                AnyLaw::with_coefficients(name, &[("mu01", mu01), ("mu10", mu10), ("v1", v1)])
                    .map_err(|error| at(None, &error))
            }
            Some(mesh::Moduli::MooneyRivlin { .. }) => {
                let message = "the mesh file gives Mooney–Rivlin coefficients, which this law does not accept; give `young` and `poisson`";
                Err(source.error(place(name_span).as_ref(), message))
            }
            Some(mesh::Moduli::Orthotropic { .. }) => {
                let message = "the mesh file gives an orthotropic material, which Pliant does not support yet; give `young` and `poisson`";
                Err(source.error(place(None).as_ref(), message))
            }
            Some(mesh::Moduli::Isotropic { .. }) | None => Err(source.error(given.span.as_ref(), self.no_moduli())),
        }
    }

    /// Sets the options that only the corotational law has.
    fn with_choices(&self, mut law: AnyLaw, source: &Source) -> Result<AnyLaw, SceneError> {
        let name = law.name();
        let (tangent, frame) = (&self.given.tangent, &self.given.frame);
        let AnyLaw::Corotational(corotational) = &mut law else {
            let choices =
                [("tangent", tangent.as_ref().map(|own| &own.span)), ("frame", frame.as_ref().map(|own| &own.span))];
            return match choices.into_iter().find_map(|(option, span)| Some((option, span?))) {
                Some((option, span)) => {
                    let message = format!("`{option}` applies only to the law `corotational`, not to `{name}`");
                    Err(source.error(span.as_ref(), message))
                }
                None => Ok(law),
            };
        };
        match tangent.as_ref().map(|own| own.value) {
            Some(MaterialTangent::Exact) => corotational.tangent = CorotationalTangent::Exact,
            Some(MaterialTangent::Warped) => corotational.tangent = CorotationalTangent::Warped,
            None => {}
        }
        match frame.as_ref().map(|own| own.value) {
            Some(MaterialFrame::Polar) => corotational.frame = CorotationalFrame::Polar,
            Some(MaterialFrame::Qr) => corotational.frame = CorotationalFrame::Qr,
            None => {}
        }
        Ok(law)
    }
}
