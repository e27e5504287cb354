//! Systems of units of mesh files, and their conversion to SI.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::check::Change;
use super::{EditError, MaterialData, Moduli, SurfaceMesh, VolumeMesh};
use crate::math::{Vec3, short_number};

/// System of units of length, mass and time, such as `mm-t-s`; the units of other quantities are derived from them.
///
/// ```
/// # use pliant::mesh::Units;
/// let units: Units = "mm-t-s".parse()?;
/// assert_eq!(units.pressure(), 1e6); // MPa
/// assert_eq!(units.density(), 1e12); // t/mm³
/// # Ok::<(), pliant::mesh::UnitsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    length: Unit,
    /// Units of mass and time; `None` if only lengths are converted.
    others: Option<[Unit; 2]>,
}

/// Unit relative to the SI unit, as a fraction with exact powers of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    name: &'static str,
    numerator: f64,
    denominator: f64,
}

const fn unit(name: &'static str, numerator: f64, denominator: f64) -> Unit {
    Unit { name, numerator, denominator }
}

const LENGTHS: &[Unit] = &[
    unit("m", 1.0, 1.0),
    unit("cm", 1.0, 100.0),
    unit("mm", 1.0, 1000.0),
    unit("um", 1.0, 1e6),
    unit("in", 0.0254, 1.0),
    unit("ft", 0.3048, 1.0),
];

/// Units of mass; `lbf` is the mass that one pound-force accelerates by one unit of length per second squared.
const MASSES: &[Unit] =
    &[unit("kg", 1.0, 1.0), unit("g", 1.0, 1000.0), unit("t", 1000.0, 1.0), unit("lbf", 4.448_221_615_260_5, 1.0)];

const TIMES: &[Unit] = &[unit("s", 1.0, 1.0), unit("ms", 1.0, 1000.0)];

/// Error for text that is not a system of units.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "units: expected LENGTH-MASS-TIME such as mm-t-s, mm-kg-ms, cm-g-s or in-lbf-s, or a length such as mm; found `{found}`"
)]
#[non_exhaustive]
pub struct UnitsError {
    found: String,
}

impl FromStr for Units {
    type Err = UnitsError;

    fn from_str(text: &str) -> Result<Self, UnitsError> {
        let wrong = || UnitsError { found: text.into() };
        let find = |units: &[Unit], name: &str| {
            units.iter().find(|unit| unit.name.eq_ignore_ascii_case(name.trim())).copied().ok_or_else(wrong)
        };
        match text.split('-').collect::<Vec<_>>()[..] {
            [length] => Ok(Self { length: find(LENGTHS, length)?, others: None }),
            [length, mass, time] => {
                let length = find(LENGTHS, length)?;
                let mut mass = find(MASSES, mass)?;
                let time = find(TIMES, time)?;
                if mass.name == "lbf" {
                    if time.name != "s" {
                        return Err(wrong());
                    }
                    // m = F t²/l.
                    mass = unit("lbf", mass.numerator * length.denominator, length.numerator);
                }
                Ok(Self { length, others: Some([mass, time]) })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.length.name)?;
        self.others.iter().flatten().try_for_each(|unit| write!(f, "-{}", unit.name))
    }
}

impl Units {
    /// Returns true if only lengths are converted, because units of mass and time are not given.
    pub fn is_length_only(&self) -> bool {
        self.others.is_none()
    }

    /// Returns the unit of length \[m\].
    pub fn length(&self) -> f64 {
        self.length.numerator / self.length.denominator
    }

    /// Returns the unit of density \[kg/m³\]; 1 if only lengths are converted.
    pub fn density(&self) -> f64 {
        let length = (self.length.denominator / self.length.numerator).powi(3);
        self.others.map_or(1.0, |[mass, _]| mass.numerator / mass.denominator * length)
    }

    /// Returns the unit of pressure and of moduli \[Pa\]; 1 if only lengths are converted.
    pub fn pressure(&self) -> f64 {
        let length = self.length.denominator / self.length.numerator;
        self.others.map_or(1.0, |[mass, time]| {
            mass.numerator / mass.denominator * length * (time.denominator / time.numerator).powi(2)
        })
    }

    fn point(&self, p: Vec3) -> Vec3 {
        p * self.length.numerator / self.length.denominator
    }

    fn material(&self, mut material: MaterialData) -> MaterialData {
        material.density = material.density.map(|density| density * self.density());
        let pressure = self.pressure();
        match &mut material.moduli {
            None => {}
            Some(Moduli::Isotropic { young, .. }) => *young *= pressure,
            Some(Moduli::MooneyRivlin { mu01, mu10, v1 }) => [mu01, mu10, v1].into_iter().for_each(|c| *c *= pressure),
            Some(Moduli::Orthotropic { young, shear, .. }) => {
                young.iter_mut().chain(shear).for_each(|c| *c *= pressure);
            }
        }
        material
    }

    /// Returns true if a solid could have this density and these moduli in these units.
    fn fits(&self, material: &MaterialData) -> bool {
        let MaterialData { density, moduli, .. } = self.material(material.clone());
        let young = moduli.and_then(|moduli| match moduli {
            Moduli::Isotropic { young, .. } => Some(young),
            _ => None,
        });
        density.is_none_or(|density| DENSITIES.contains(&density)) && young.is_none_or(|young| YOUNG.contains(&young))
    }
}

/// Densities of solids, from aerogels to osmium [kg/m³].
const DENSITIES: std::ops::Range<f64> = 0.5..30_000.0;

/// Young's moduli of solids, from soft gels to diamond \[Pa\].
const YOUNG: std::ops::Range<f64> = 10.0..2e12;

/// Common systems, the most common first.
const USUAL: [&str; 4] = ["mm-t-s", "mm-kg-ms", "mm-g-ms", "in-lbf-s"];

/// Length above which a mesh is more likely to be in millimeters \[m\].
const LONG: f64 = 20.0;

impl VolumeMesh {
    /// Converts the mesh from `units` to SI: positions, densities and moduli.
    pub fn to_si(&self, units: &Units) -> Result<Self, EditError> {
        let mut data = self.data_without_vertices();
        let vertices = self.vertices.iter().map(|&p| units.point(p)).collect();
        for region in &mut data.regions {
            region.material = region.material.take().map(|material| units.material(material));
        }
        Ok(Self::derive(data, vertices, Change::Geometry)?.mesh)
    }

    /// Returns a sentence about the units that the mesh seems to have, if they are not SI units.
    ///
    /// The densities are decisive. Without any, a mesh longer than 20 m is more likely to be in millimeters.
    pub fn units_hint(&self) -> Option<String> {
        let convert = "`pliant mesh convert` converts lengths, densities and moduli together with";
        let materials = || self.regions().iter().filter_map(|region| region.material.as_ref());
        let light = materials().find_map(|own| Some((own, own.density.filter(|density| *density < DENSITIES.start)?)));
        if let Some((material, density)) = light {
            let name = &material.name;
            let usual = USUAL.iter().filter_map(|units| units.parse::<Units>().ok());
            return Some(match usual.into_iter().find(|units| units.fits(material)) {
                Some(units) => format!(
                    "units: the density of material `{name}` is {density:e}, too small for kg/m³, but in {units} it is {} kg/m³; {convert} --units {units}",
                    short_number(density * units.density())
                ),
                None => format!(
                    "units: the density of material `{name}` is {density:e}, too small for kg/m³; {convert} --units, such as mm-t-s"
                ),
            });
        }
        let [low, high] = self.bounding_box();
        let length = (high - low).max_element();
        let is_given = materials().any(|material| material.density.is_some());
        (length > LONG && !is_given).then(|| {
            format!(
                "units: the mesh is {} m long, if its numbers are not in millimeters; {convert} --units, such as mm-t-s",
                short_number(length)
            )
        })
    }
}

impl SurfaceMesh {
    /// Converts the surface from `units` to meters.
    pub fn to_si(&self, units: &Units) -> Result<Self, EditError> {
        let vertices = self.vertices().iter().map(|&p| units.point(p)).collect();
        Ok(Self::new(vertices, self.faces().clone())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Cells, generate};

    #[test]
    fn systems_of_units_give_consistent_factors() {
        let factors = |text: &str| {
            let units: Units = text.parse().unwrap();
            assert_eq!(units.to_string(), text);
            [units.length(), units.density(), units.pressure()]
        };
        assert_eq!(factors("m-kg-s"), [1.0; 3]);
        assert_eq!(factors("mm-t-s"), [1e-3, 1e12, 1e6]);
        assert_eq!(factors("mm-kg-ms"), [1e-3, 1e9, 1e9]);
        assert_eq!(factors("mm-g-ms"), [1e-3, 1e6, 1e6]);
        assert_eq!(factors("cm-g-s"), [0.01, 1e3, 0.1]);
        assert_eq!(factors("mm"), [1e-3, 1.0, 1.0]);
        // A pound-force per square inch, and the density of water in pound-force s²/in⁴ (NIST SP 811).
        let [_, density, pressure] = factors("in-lbf-s");
        assert!((pressure / 6894.757293168 - 1.0).abs() < 1e-12);
        assert!((9.357_2e-5 * density / 1000.0 - 1.0).abs() < 1e-4);
        for text in ["", "mm-t", "mm-t-s-K", "parsec-t-s", "in-lbf-ms", "t-mm-s"] {
            assert!(text.parse::<Units>().unwrap_err().to_string().ends_with(&format!("found `{text}`")));
        }
    }

    #[test]
    fn a_mesh_in_mm_t_s_becomes_si_with_its_density_and_moduli() {
        let mut data = generate::block([100.0, 20.0, 20.0], [2, 1, 1], Cells::Hex).unwrap().into_data();
        data.regions[0].material = Some(MaterialData::isotropic("steel", 7.85e-9, 210_000.0, 0.3));
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let hint = mesh.units_hint().unwrap();
        assert!(hint.contains("in mm-t-s it is 7850 kg/m³") && hint.ends_with("--units mm-t-s"), "{hint}");
        let si = mesh.to_si(&"mm-t-s".parse().unwrap()).unwrap();
        assert!((si.volume() / 4e-5 - 1.0).abs() < 1e-12);
        let material = si.regions()[0].material.clone().unwrap();
        assert!((material.density.unwrap() / 7850.0 - 1.0).abs() < 1e-15);
        assert_eq!(material.moduli, Some(Moduli::Isotropic { young: 2.1e11, poisson: 0.3 }));
        assert_eq!(si.units_hint(), None);
    }
}
