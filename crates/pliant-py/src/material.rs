//! Materials.

use std::collections::BTreeMap;

use pliant::material::AnyLaw;
use pliant::mesh::Region;
use pliant_scene::scene::quantity::dimension;
use pliant_scene::scene::{self, Located, SceneError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::choices::named;
use crate::errors::Kind;
use crate::quantity::Amount;

/// Material of a body or a region. See :mod:`pliant.materials` for one function per law.
///
/// >>> rubber = pliant.Material("neo-hookean", young=1e6, poisson=0.45, density=1000)
/// >>> rubber
/// <pliant.Material neo-hookean: young=1e+06 Pa, poisson=0.45, density=1000 kg/m³>
/// >>> pliant.Material("rubbery", young=1e6, poisson=0.45, density=1000)
/// Traceback (most recent call last):
///     ...
/// pliant.errors.MaterialError: unknown law `rubbery`; expected one of linear, corotational, stvk, ...
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Material {
    pub inner: scene::MaterialSettings,
}

#[pymethods]
impl Material {
    /// Creates a material from a law with Young's modulus and Poisson's ratio, or with the coefficients of its formula.
    /// Values are in SI units, or text with a unit: ``young="1 MPa"``, ``density="1.1 g/cm^3"``.
    ///
    /// Parameters that are not given are taken from the mesh file. A density is needed only for motion, modes and
    /// gravity.
    #[new]
    #[pyo3(signature = (
        law=None, *, young=None, poisson=None, density=None, coefficients=None, inversion=None, inversion_threshold=None,
        compression_resistance=None, tangent=None, frame=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        law: Option<String>,
        young: Option<Amount<dimension::Pressure>>,
        poisson: Option<f64>,
        density: Option<Amount<dimension::Density>>,
        coefficients: Option<&Bound<'_, PyMapping>>,
        inversion: Option<&str>,
        inversion_threshold: Option<f64>,
        compression_resistance: Option<f64>,
        tangent: Option<&str>,
        frame: Option<&str>,
    ) -> PyResult<Self> {
        let coefficients = coefficients.map(|table| PyDict::from_sequence(table.items()?.as_any())?.extract());
        let coefficients: Option<BTreeMap<String, Amount<dimension::Pressure>>> = coefficients.transpose()?;
        let quantities = |table: BTreeMap<String, Amount<dimension::Pressure>>| {
            table.into_iter().map(|(name, amount)| (name, amount.quantity())).collect()
        };
        let inner = scene::MaterialSettings {
            law: law.map(Located::new),
            young: young.map(|young| Located::new(young.quantity())),
            poisson: poisson.map(Located::new),
            density: density.map(|density| Located::new(density.quantity())),
            coefficients: coefficients.map(|table| Located::new(quantities(table))),
            inversion: inversion.map(|name| named(Kind::Material, "inversion", name)).transpose()?.map(Located::new),
            inversion_threshold: inversion_threshold.map(Located::new),
            compression_resistance: compression_resistance.map(Located::new),
            tangent: tangent.map(|name| named(Kind::Material, "tangent", name)).transpose()?.map(Located::new),
            frame: frame.map(|name| named(Kind::Material, "frame", name)).transpose()?.map(Located::new),
            ..scene::MaterialSettings::default()
        };
        Self::checked(inner)
    }

    /// Creates a custom law from its energy density, a formula of ``I1``, ``I2``, ``J`` and other measures of the
    /// deformation, which is differentiated exactly.
    ///
    /// >>> rubber = pliant.Material.from_energy(
    /// ...     "mu/2*(I1 - 3) - mu*ln(J) + lam/2*ln(J)^2", mu=4e5, lam=2e6, density=1000)
    /// >>> model = pliant.Model(pliant.Mesh.box((1, 1, 1), (1, 1, 1)), rubber)
    #[staticmethod]
    #[pyo3(signature = (
        energy, *, density=None, inversion=None, inversion_threshold=None, compression_resistance=None, **parameters
    ))]
    fn from_energy(
        energy: String,
        density: Option<Amount<dimension::Density>>,
        inversion: Option<&str>,
        inversion_threshold: Option<f64>,
        compression_resistance: Option<f64>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let parameters = parameters.map_or_else(|| Ok(BTreeMap::new()), |table| table.extract())?;
        let inner = scene::MaterialSettings {
            formula: Some(Located::new(energy)),
            parameters,
            density: density.map(|density| Located::new(density.quantity())),
            inversion: inversion.map(|name| named(Kind::Material, "inversion", name)).transpose()?.map(Located::new),
            inversion_threshold: inversion_threshold.map(Located::new),
            compression_resistance: compression_resistance.map(Located::new),
            ..scene::MaterialSettings::default()
        };
        Self::checked(inner)
    }

    /// Returns the names of all laws.
    #[staticmethod]
    fn laws() -> Vec<&'static str> {
        AnyLaw::ALL.iter().map(|law| law.name).collect()
    }

    /// Name of the law, or ``"formula"`` for a custom law. None if not given: then the mesh file determines it, with
    /// stable neo-Hookean as default.
    #[getter]
    fn law(&self) -> Option<&str> {
        if self.inner.formula.is_some() {
            Some("formula")
        } else {
            self.inner.law.as_ref().map(|law| law.value.as_str())
        }
    }

    /// Young's modulus in Pa, if it was given.
    #[getter]
    fn young(&self) -> Option<f64> {
        self.inner.young.as_ref().map(|young| young.si)
    }

    /// Poisson's ratio, if it was given.
    #[getter]
    fn poisson(&self) -> Option<f64> {
        self.inner.poisson.as_ref().map(|poisson| poisson.value)
    }

    /// Density in kg/m³, if it was given.
    #[getter]
    fn density(&self) -> Option<f64> {
        self.inner.density.as_ref().map(|density| density.si)
    }

    fn __repr__(&self) -> String {
        let numbers =
            [("young", self.young(), " Pa"), ("poisson", self.poisson(), ""), ("density", self.density(), " kg/m³")];
        let shown = |(name, value, unit): (&str, Option<f64>, &str)| {
            value.map(|value| format!("{name}={}{unit}", short(value)))
        };
        let list = numbers.into_iter().filter_map(shown).collect::<Vec<_>>().join(", ");
        format!("<pliant.Material {}: {list}>", self.law().unwrap_or("without a law"))
    }
}

impl Material {
    /// Returns the name of the law for messages, if the material specifies a law.
    pub fn own_law(&self) -> Option<String> {
        let given = &self.inner;
        let keys = [
            ("coefficients", given.coefficients.is_some()),
            ("inversion", given.inversion.is_some()),
            ("compression_resistance", given.compression_resistance.is_some()),
        ];
        let key = keys.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name);
        self.law().or(key).map(|name| format!("`{name}`"))
    }

    /// Checks everything that does not depend on a mesh.
    fn checked(inner: scene::MaterialSettings) -> PyResult<Self> {
        let says_all = inner.young.is_some() || inner.poisson.is_some() || inner.coefficients.is_some();
        if says_all || inner.formula.is_some() {
            inner.elasticity(&Region::named("body")).map_err(|error| material_error(&error))?;
        }
        if inner.density.is_some() {
            inner.density(&Region::named("body")).map_err(|error| material_error(&error))?;
        }
        Ok(Self { inner })
    }
}

/// Formats a number with the fewest digits that identify it, and an exponent in Python syntax.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-4..1e6).contains(&value.abs()) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Returns the exception for a material that is not from a file.
pub fn material_error(error: &SceneError) -> PyErr {
    Kind::Material.error(&error.message)
}
