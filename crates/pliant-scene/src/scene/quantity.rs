//! Numbers with units: plain numbers are in SI units, text has a unit, such as `"5 cm"`, `"1 MPa"` or `"1/240 s"`.
//!
//! [`Quantity`] parses text wherever a user writes a number, also on the command line and in Python:
//!
//! ```
//! use pliant_scene::scene::quantity::{Pressure, Time};
//!
//! assert_eq!("1 MPa".parse::<Pressure>()?.si, 1e6);
//! assert_eq!("1/60".parse::<Time>()?.si, 1.0 / 60.0);
//! # Ok::<(), pliant_scene::scene::quantity::QuantityError>(())
//! ```

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use pliant::math::Vec3;

/// Physical dimension of a number.
pub trait Dimension: fmt::Debug + Clone + Copy + PartialEq + Default + 'static {
    /// Name of the dimension.
    const NAME: &'static str;
    /// SI unit.
    const UNIT: &'static str;
    /// Example of a quantity with a unit, for the reference.
    const EXAMPLE: &'static str;
}

macro_rules! dimensions {
    ($($dimension:ident $name:literal $unit:literal $example:literal;)*) => {
        /// Physical dimensions of the numbers of a scene.
        pub mod dimension {
            $(
                #[doc = concat!("Dimension `", $name, "`, in ", $unit, ".")]
                #[derive(Debug, Clone, Copy, PartialEq, Default)]
                pub struct $dimension;

                impl super::Dimension for $dimension {
                    const NAME: &'static str = $name;
                    const UNIT: &'static str = $unit;
                    const EXAMPLE: &'static str = $example;
                }
            )*
        }
        $(
            #[doc = concat!("Quantity of dimension `", $name, "`, in ", $unit, ".")]
            pub type $dimension = Quantity<dimension::$dimension>;
        )*
    };
}

dimensions! {
    Length "length" "m" "5 cm";
    Time "time" "s" "10 ms";
    Speed "speed" "m/s" "36 km/h";
    Acceleration "acceleration" "m/s^2" "981 cm/s^2";
    Angle "angle" "rad" "90 deg";
    AngularSpeed "angular speed" "rad/s" "120 rpm";
    Force "force" "N" "2 kN";
    Impulse "impulse" "N s" "5 N s";
    Pressure "pressure" "Pa" "1 MPa";
    Density "density" "kg/m^3" "1.1 g/cm^3";
    Stiffness "stiffness" "N/m" "3 N/mm";
    Viscosity "damping" "N s/m" "5 N s/m";
    Energy "energy" "J" "2 kJ";
    Rate "rate" "1/s" "2 Hz";
}

/// Number with a unit, stored in SI units.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantity<D> {
    /// Value in the SI unit of the dimension.
    pub si: f64,
    dimension: PhantomData<D>,
}

impl<D> Quantity<D> {
    /// Creates a quantity from its value in the SI unit.
    pub const fn new(si: f64) -> Self {
        Self { si, dimension: PhantomData }
    }
}

/// Error for text that is not a number in a unit of the expected dimension.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct QuantityError(String);

impl<D: Dimension> FromStr for Quantity<D> {
    type Err = QuantityError;

    /// Parses a number with a unit, such as `5 cm`, or a number in the SI unit, such as `0.05` or `1/60`.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let si = match number(text.trim()) {
            Some((value, unit)) if unit.trim().is_empty() && value.is_finite() => Ok(value),
            Some((_, unit)) if unit.trim().is_empty() => Err(too_large::<D>(text)),
            _ => parse::<D>(text),
        };
        si.map(Self::new).map_err(QuantityError)
    }
}

impl<D: Dimension> fmt::Display for Quantity<D> {
    /// Writes the value in the SI unit, without the unit. [`FromStr`] parses it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.si, f)
    }
}

/// Vector of three quantities.
pub type Vector<D> = [Quantity<D>; 3];

/// Returns the components in SI units.
pub fn vec3<D: Dimension>(vector: &Vector<D>) -> Vec3 {
    Vec3::new(vector[0].si, vector[1].si, vector[2].si)
}

/// Converts components in SI units to quantities.
pub fn vector<D: Dimension>(numbers: Vec3) -> Vector<D> {
    numbers.to_array().map(Quantity::new)
}

impl<D> Serialize for Quantity<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.si)
    }
}

impl<'de, D: Dimension> Deserialize<'de> for Quantity<D> {
    fn deserialize<T: Deserializer<'de>>(deserializer: T) -> Result<Self, T::Error> {
        struct Number<D>(PhantomData<D>);
        impl<D: Dimension> Visitor<'_> for Number<D> {
            type Value = f64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} in {}, or text such as \"{}\"", with_article::<D>(), D::UNIT, D::EXAMPLE)
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
                if value.is_finite() { Ok(value) } else { Err(E::invalid_value(de::Unexpected::Float(value), &self)) }
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
                Ok(value as f64)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
                Ok(value as f64)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
                parse::<D>(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Number(PhantomData::<D>)).map(Self::new)
    }
}

impl<D: Dimension> JsonSchema for Quantity<D> {
    fn schema_name() -> Cow<'static, str> {
        D::NAME.into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": D::NAME,
            "type": ["number", "string"],
            "examples": [D::EXAMPLE],
            "format": D::UNIT,
            "pattern": super::bounds::pattern(D::UNIT),
        })
    }
}

/// Powers of meter, kilogram, second and radian.
pub(super) type Powers = [i8; 4];

/// Returns the powers of the SI unit of a dimension.
pub(super) fn powers_of(unit: &str) -> Powers {
    product(unit).expect("a known unit").powers
}

/// Unit: its factor to SI units, and the powers of these.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    factor: f64,
    powers: Powers,
}

pub(super) const PREFIXES: &[(&str, f64)] = &[
    ("n", 1e-9),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("u", 1e-6),
    ("m", 1e-3),
    ("c", 1e-2),
    ("d", 1e-1),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
];

/// Units: symbol, true if it takes prefixes, factor to SI units, and powers.
#[rustfmt::skip]
pub(super) const UNITS: &[(&str, bool, f64, Powers)] = &[
    ("m",    true,  1.0,             [1, 0, 0, 0]),
    ("g",    true,  1e-3,            [0, 1, 0, 0]),
    ("s",    true,  1.0,             [0, 0, 1, 0]),
    ("N",    true,  1.0,             [1, 1, -2, 0]),
    ("Pa",   true,  1.0,             [-1, 1, -2, 0]),
    ("J",    true,  1.0,             [2, 1, -2, 0]),
    ("Hz",   true,  1.0,             [0, 0, -1, 0]),
    ("rad",  true,  1.0,             [0, 0, 0, 1]),
    ("min",  false, 60.0,            [0, 0, 1, 0]),
    ("h",    false, 3600.0,          [0, 0, 1, 0]),
    ("t",    false, 1e3,             [0, 1, 0, 0]),
    ("bar",  true,  1e5,             [-1, 1, -2, 0]),
    ("psi",  false, 6894.757293168,  [-1, 1, -2, 0]),
    ("in",   false, 0.0254,          [1, 0, 0, 0]),
    ("ft",   false, 0.3048,          [1, 0, 0, 0]),
    ("lb",   false, 0.45359237,      [0, 1, 0, 0]),
    ("deg",  false, std::f64::consts::PI / 180.0, [0, 0, 0, 1]),
    ("°",    false, std::f64::consts::PI / 180.0, [0, 0, 0, 1]),
    ("turn", false, std::f64::consts::TAU,        [0, 0, 0, 1]),
    ("rpm",  false, std::f64::consts::TAU / 60.0, [0, 0, -1, 1]),
];

fn with_article<D: Dimension>() -> String {
    let article = if D::NAME.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {}", D::NAME)
}

/// Describes the expected quantity, for errors.
fn expected<D: Dimension>() -> String {
    format!("expected {} such as \"{}\", in units of {}", with_article::<D>(), D::EXAMPLE, D::UNIT)
}

fn too_large<D: Dimension>(text: &str) -> String {
    format!("\"{text}\" is too large; {}", expected::<D>())
}

/// Parses a number with a unit of a dimension, and returns its value in SI units.
pub(super) fn parse<D: Dimension>(text: &str) -> Result<f64, String> {
    let expected = expected::<D>;
    let (value, unit) = number(text.trim()).ok_or_else(|| format!("{}, found \"{text}\"", expected()))?;
    let unit = unit.trim();
    if unit.is_empty() {
        return Err(format!(
            "the unit is missing in \"{text}\"; {}, or {value} without quotes for {}",
            expected(),
            D::UNIT
        ));
    }
    let found = product(unit).map_err(|unknown| match unknown {
        Some(symbol) => format!("there is no unit `{symbol}`; {}", expected()),
        None => format!("\"{unit}\" is not a unit; {}", expected()),
    })?;
    if found.powers != powers_of(D::UNIT) {
        return Err(format!("`{unit}` does not measure {}; {}", with_article::<D>(), expected()));
    }
    let si = value * found.factor;
    if si.is_finite() { Ok(si) } else { Err(too_large::<D>(text)) }
}

/// Splits text into the number or fraction at its start, and the rest.
fn number(text: &str) -> Option<(f64, &str)> {
    let (value, rest) = decimal(text)?;
    let denominator = rest.strip_prefix('/').and_then(decimal);
    match denominator {
        Some((denominator, rest)) if denominator != 0.0 => Some((value / denominator, rest)),
        Some(_) => None,
        None => Some((value, rest)),
    }
}

fn decimal(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut end = digits(sign);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        // Otherwise the letter begins a unit.
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Parses products and quotients of units, such as `kg/m^3` or `N s/m`. The error contains the unknown symbol, if any.
fn product(text: &str) -> Result<Unit, Option<String>> {
    let mut unit = Unit { factor: 1.0, powers: [0; 4] };
    let mut divide = false;
    let mut rest = text.trim();
    if let Some(after) = rest.strip_prefix("1/").or(rest.strip_prefix('/')) {
        (divide, rest) = (true, after);
    }
    loop {
        rest = rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphabetic() || c == '°')).unwrap_or(rest.len());
        let (symbol, after) = rest.split_at(end);
        if symbol.is_empty() {
            return Err(None);
        }
        let (factor, powers) = lookup(symbol).ok_or_else(|| Some(symbol.to_owned()))?;
        let (power, after) = exponent(after).ok_or(None)?;
        let power = if divide { -power } else { power };
        unit.factor *= factor.powi(power.into());
        for (sum, own) in unit.powers.iter_mut().zip(powers) {
            *sum = own.checked_mul(power).and_then(|own| sum.checked_add(own)).ok_or(None)?;
        }
        let after = after.trim_start();
        let Some(next) = after.chars().next() else { return Ok(unit) };
        divide = next == '/';
        rest = if matches!(next, '/' | '*' | '·') { &after[next.len_utf8()..] } else { after };
    }
}

fn lookup(symbol: &str) -> Option<(f64, Powers)> {
    let whole = UNITS.iter().find(|unit| unit.0 == symbol).map(|unit| (unit.2, unit.3));
    whole.or_else(|| {
        let mut prefixed = PREFIXES.iter().filter_map(|(prefix, factor)| Some((symbol.strip_prefix(prefix)?, factor)));
        prefixed.find_map(|(base, factor)| {
            let unit = UNITS.iter().find(|unit| unit.1 && unit.0 == base)?;
            Some((factor * unit.2, unit.3))
        })
    })
}

/// Splits text into the exponent at its start, 1 if it is absent, and the rest.
fn exponent(text: &str) -> Option<(i8, &str)> {
    for (sign, power) in [("²", 2), ("³", 3)] {
        if let Some(rest) = text.strip_prefix(sign) {
            return Some((power, rest));
        }
    }
    let Some(rest) = text.strip_prefix('^') else { return Some((1, text)) };
    let sign = usize::from(rest.starts_with('-'));
    let end = sign + rest[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - sign);
    let power: i8 = rest[..end].parse().ok()?;
    (-9..=9).contains(&power).then_some((power, &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::dimension as d;
    use super::*;

    fn si<D: Dimension>(text: &str) -> f64 {
        parse::<D>(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn units_become_si_units() {
        assert_eq!(si::<d::Length>("5 cm"), 0.05);
        assert_eq!(si::<d::Length>("5cm"), 0.05);
        assert_eq!(si::<d::Length>("1 in"), 0.0254);
        assert_eq!(si::<d::Time>("1/240 s"), 1.0 / 240.0);
        assert_eq!(si::<d::Time>("2 min"), 120.0);
        assert_eq!(si::<d::Pressure>("1.5e-3 MPa"), 1500.0);
        assert_eq!(si::<d::Pressure>("2 N/mm^2"), 2.0 * 1e-3_f64.powi(-2));
        assert!((si::<d::Density>("1.1 g/cm³") - 1100.0).abs() < 1e-9);
        assert!((si::<d::Density>("1 kg m^-3") - 1.0).abs() < 1e-15);
        assert_eq!(si::<d::Angle>("1 turn"), std::f64::consts::TAU);
        assert_eq!(si::<d::Angle>("-90 deg"), -std::f64::consts::FRAC_PI_2);
        assert_eq!(si::<d::AngularSpeed>("60 rpm"), std::f64::consts::TAU);
        assert_eq!(si::<d::Viscosity>("5 N*s/m"), 5.0);
        assert_eq!(si::<d::Viscosity>("5 N·s/m"), 5.0);
        assert_eq!(si::<d::Rate>("2 1/s"), 2.0);
        assert_eq!(si::<d::Rate>("2 /s"), 2.0);
        assert_eq!(si::<d::Rate>("2 Hz"), 2.0);
        assert!((si::<d::Speed>("36 km/h") - 10.0).abs() < 1e-12);
        assert_eq!(si::<d::Stiffness>("3 N/mm"), 3.0 * 1e-3_f64.powi(-1));
    }

    #[test]
    fn text_of_users_is_in_si_units_unless_it_names_a_unit() {
        assert_eq!("1/60".parse::<Time>(), Ok(Time::new(1.0 / 60.0)));
        assert_eq!(" 2e5 ".parse::<Pressure>(), Ok(Pressure::new(2e5)));
        assert_eq!("1 MPa".parse::<Pressure>(), Ok(Pressure::new(1e6)));
        assert_eq!("-50 cm".parse::<Length>(), Ok(Length::new(-0.5)));
        assert_eq!(Length::new(0.1).to_string().parse::<Length>(), Ok(Length::new(0.1)));
        let error = |text: &str| text.parse::<Pressure>().unwrap_err().to_string();
        assert!(error("1e999").contains("is too large; expected a pressure"), "{}", error("1e999"));
        assert!(error("5 cm").starts_with("`cm` does not measure a pressure"), "{}", error("5 cm"));
        for nonsense in ["", "soft", "1/0", "nan", "inf", "1/60/2", "0x10"] {
            assert!(nonsense.parse::<Pressure>().is_err(), "{nonsense}");
        }
    }

    #[test]
    fn every_example_is_right_and_every_wrong_unit_named() {
        fn check<D: Dimension>() {
            si::<D>(D::EXAMPLE);
            assert_eq!(si::<D>(&format!("1 {}", D::UNIT)), 1.0);
        }
        check::<d::Length>();
        check::<d::Time>();
        check::<d::Speed>();
        check::<d::Acceleration>();
        check::<d::Angle>();
        check::<d::AngularSpeed>();
        check::<d::Force>();
        check::<d::Impulse>();
        check::<d::Pressure>();
        check::<d::Density>();
        check::<d::Stiffness>();
        check::<d::Viscosity>();
        check::<d::Energy>();
        check::<d::Rate>();
        let error = |text| parse::<d::Pressure>(text).unwrap_err();
        assert!(
            error("1 Mpa").starts_with("there is no unit `Mpa`; expected a pressure such as"),
            "{}",
            error("1 Mpa")
        );
        assert!(error("5 cm").starts_with("`cm` does not measure a pressure"), "{}", error("5 cm"));
        assert!(error("5").starts_with("the unit is missing in \"5\""), "{}", error("5"));
        assert!(error("soft").contains("found \"soft\""));
        for nonsense in [
            "", "1e999 Pa", "1 Pa^99", "1 Pa^", "1//2 Pa", "1/0 Pa", "--1 Pa", "1 Pa/", "1 Pa **", "∞ Pa", "1 Pa^-",
            ".",
        ] {
            assert!(parse::<d::Pressure>(nonsense).is_err(), "{nonsense}");
        }
    }
}
