//! Materials.

use std::collections::BTreeMap;

use pliant::material::AnyLaw;
use pliant::mesh::Region;
use pliant::scene::quantity::dimension;
use pliant::scene::{self, At, SceneError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::errors::Kind;
use crate::integrator::chosen;
use crate::quantity::Amount;

/// What a body, or a part of it, is made of. See :mod:`pliant.materials` for a function for each law.
///
/// >>> rubber = pliant.Material("neo-hookean", young=1e6, poisson=0.45, density=1000)
/// >>> rubber
/// <pliant.Material neo-hookean: young=1e+06 Pa, poisson=0.45, density=1000 kg/m³>
/// >>> pliant.Material("rubbery", young=1e6, poisson=0.45, density=1000)
/// Traceback (most recent call last):
///     ...
/// pliant.errors.MaterialError: there is no law `rubbery`; there are linear, corotational, stvk, ...
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Material {
    pub inner: scene::Material,
}

#[pymethods]
impl Material {
    /// A law with Young's modulus and Poisson's ratio, or with the coefficients of its formula; in SI units, or as text with a unit:
    /// ``young="1 MPa"``, ``density="1.1 g/cm^3"``.
    ///
    /// What is not given is taken from the mesh file, where that says it. A density is needed only for what needs mass: motion, modes and gravity.
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
        let inner = scene::Material {
            law: law.map(At::new),
            young: young.map(|young| At::new(young.quantity())),
            poisson: poisson.map(At::new),
            density: density.map(|density| At::new(density.quantity())),
            coefficients: coefficients.map(|table| At::new(quantities(table))),
            inversion: inversion.map(|name| chosen(Kind::Material, "inversion", name)).transpose()?.map(At::new),
            inversion_threshold: inversion_threshold.map(At::new),
            compression_resistance: compression_resistance.map(At::new),
            tangent: tangent.map(|name| chosen(Kind::Material, "tangent", name)).transpose()?.map(At::new),
            frame: frame.map(|name| chosen(Kind::Material, "frame", name)).transpose()?.map(At::new),
            ..scene::Material::default()
        };
        Self::checked(inner)
    }

    /// A law of your own: its energy per volume as a formula of ``I1``, ``I2``, ``J`` and other quantities of the deformation, differentiated exactly.
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
        let inner = scene::Material {
            formula: Some(At::new(energy)),
            parameters,
            density: density.map(|density| At::new(density.quantity())),
            inversion: inversion.map(|name| chosen(Kind::Material, "inversion", name)).transpose()?.map(At::new),
            inversion_threshold: inversion_threshold.map(At::new),
            compression_resistance: compression_resistance.map(At::new),
            ..scene::Material::default()
        };
        Self::checked(inner)
    }

    /// The names of all laws.
    #[staticmethod]
    fn laws() -> Vec<&'static str> {
        AnyLaw::ALL.iter().map(|law| law.name).collect()
    }

    /// The name of the law; ``"formula"`` for one of your own; None if none was given, for what the mesh file calls for or else stable neo-Hookean.
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

    /// Mass per volume in kg/m³, if it was given.
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
    /// How to call what it says of a law, if it says anything.
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

    /// What can be checked without a mesh.
    fn checked(inner: scene::Material) -> PyResult<Self> {
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

/// Formats a number with as few digits as tell it from every other one, and an exponent as Python writes it.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-4..1e6).contains(&value.abs()) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// What is wrong with a material that no file has.
pub fn material_error(error: &SceneError) -> PyErr {
    Kind::Material.error(&error.message)
}
