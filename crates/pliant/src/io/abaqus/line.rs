//! Parts of a line: keywords with parameters, numbers in Fortran notation, element types.

use crate::files::{ReadError, Scanner, quote};

/// Keyword line such as `*ELEMENT, TYPE=C3D4, ELSET="my set"`.
#[derive(Debug, Default)]
pub(super) struct Keyword {
    /// Name in capitals, without the star and white space.
    pub name: String,
    parameters: Vec<(String, String)>,
}

impl Keyword {
    /// Parses a line that starts with a star.
    pub fn parse(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line);
        let mut quoted = false;
        let mut parts = text.split(|c| {
            quoted ^= c == '"';
            c == ',' && !quoted
        });
        let name = capitals(parts.next().unwrap_or_default().trim_start_matches('*'));
        let parameters = parts.filter(|part| !part.trim().is_empty()).map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            (capitals(key), unquoted(value).into())
        });
        Self { parameters: parameters.collect(), name }
    }

    /// Returns the value of a parameter, empty for a parameter without a value.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a required parameter.
    pub fn expect(&self, key: &str, scanner: &Scanner<'_>) -> Result<&str, ReadError> {
        let value = self.get(key).filter(|value| !value.is_empty());
        value.ok_or_else(|| scanner.error(format!("{key}= after *{}", self.name), "none"))
    }
}

fn capitals(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_uppercase()).collect()
}

/// Returns a name without quotes and the white space around them.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Returns the fields of a data line, trimmed.
pub(super) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| b == b',').map(<[u8]>::trim_ascii)
}

/// Parses a field as a number. The exponent may start with a D; an empty field is 0.
pub(super) fn real(field: &[u8], what: &str, scanner: &Scanner<'_>) -> Result<f64, ReadError> {
    if field.is_empty() {
        return Ok(0.0);
    }
    if !field.iter().any(|b| b.eq_ignore_ascii_case(&b'd')) {
        return scanner.parse_number(field, what);
    }
    let text: Vec<u8> = field.iter().map(|&b| if b.eq_ignore_ascii_case(&b'd') { b'e' } else { b }).collect();
    scanner.parse_number(&text, what).map_err(|_| scanner.error(what, quote(field)))
}

/// Supported element shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellShape {
    Tet,
    Hex,
    Triangle,
    Quadrilateral,
}

impl CellShape {
    pub const COUNT: usize = 4;

    pub fn corners(self) -> usize {
        match self {
            Self::Triangle => 3,
            Self::Tet | Self::Quadrilateral => 4,
            Self::Hex => 8,
        }
    }

    pub fn is_volume(self) -> bool {
        matches!(self, Self::Tet | Self::Hex)
    }
}

/// Pliant's support for an element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementType {
    Kept(CellShape),
    /// Lines, points, connectors and curved shells, which are not part of a volume.
    Skipped,
    /// Solid that Pliant does not support, with its common name.
    Unsupported(&'static str),
}

/// Families of solids: prefixes of names before the number of vertices.
const SOLIDS: &[&str] = &["C3D", "DC3D", "DCC3D", "AC3D", "EC3D", "EMC3D", "FC3D", "Q3D", "SC", "CSS"];

/// Families of shells, membranes, surfaces and plane elements.
const SHELLS: &[&str] =
    &["S", "STRI", "DS", "M3D", "SFM3D", "R3D", "CPS", "CPE", "CPEG", "CAX", "DCAX", "DC2D", "AC2D"];

/// Classifies a type by its family and number of vertices. Letters after these only denote the formulation.
pub(super) fn element_type(name: &str) -> ElementType {
    use ElementType::{Kept, Skipped, Unsupported};
    let name = capitals(name);
    let corners_in = |families: &[&str]| {
        let rest = families.iter().filter_map(|family| name.strip_prefix(family));
        let numbers = rest.filter_map(|rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            rest[..digits].parse::<u32>().ok()
        });
        numbers.max()
    };
    match (corners_in(SOLIDS), corners_in(SHELLS)) {
        (Some(4), _) => Kept(CellShape::Tet),
        (Some(8), _) => Kept(CellShape::Hex),
        (Some(5), _) => Unsupported("pyramids"),
        (Some(6), _) => Unsupported("wedges"),
        (Some(10), _) => Unsupported("second-order tetrahedra"),
        (Some(15 | 18), _) => Unsupported("second-order wedges"),
        (Some(20 | 27), _) => Unsupported("second-order hexahedra"),
        (Some(_), _) => Unsupported("solids of an unknown shape"),
        (None, Some(3)) => Kept(CellShape::Triangle),
        (None, Some(4)) => Kept(CellShape::Quadrilateral),
        (None, _) => Skipped,
    }
}

/// Returns how a solid element type differs from fully integrated displacement elements, if its name says so.
pub(super) fn other_formulation(name: &str) -> Option<&'static str> {
    let name = capitals(name);
    let Some(rest) = name.strip_prefix("C3D") else {
        return Some(if name.starts_with("SC") || name.starts_with("CSS") {
            "a solid shell"
        } else {
            "not a stress element"
        });
    };
    let letters = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let meanings = [
        ("RH", "reduced integration, hybrid"),
        ("R", "reduced integration"),
        ("I", "incompatible modes"),
        ("H", "hybrid"),
        ("T", "coupled temperature-displacement"),
        ("P", "coupled pore pressure-displacement"),
        ("E", "piezoelectric"),
    ];
    let meaning = meanings.iter().find(|(start, _)| letters.starts_with(start)).map(|&(_, meaning)| meaning);
    if letters.is_empty() { None } else { meaning.or(Some("another formulation")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_ignore_case_and_space() {
        let keyword = Keyword::parse(b"* Solid  Section , elset = \"a, b=\" , Material=steel,,generate");
        assert_eq!(keyword.name, "SOLIDSECTION");
        assert_eq!(keyword.get("ELSET"), Some("a, b="));
        assert_eq!((keyword.get("MATERIAL"), keyword.get("GENERATE")), (Some("steel"), Some("")));
    }

    #[test]
    fn formulations_other_than_full_integration_are_named() {
        for (name, meaning) in [
            ("C3D4", None),
            ("c3d8", None),
            ("C3D8R", Some("reduced integration")),
            ("C3D8RH", Some("reduced integration, hybrid")),
            ("C3D4H", Some("hybrid")),
            ("C3D8I", Some("incompatible modes")),
            ("C3D8S", Some("another formulation")),
            ("DC3D8", Some("not a stress element")),
            ("SC8R", Some("a solid shell")),
        ] {
            assert_eq!(other_formulation(name), meaning, "{name}");
        }
    }

    #[test]
    fn types_are_told_by_family_and_number() {
        use ElementType::{Kept, Skipped, Unsupported};
        for name in ["C3D4", "c3d4h", "C3D4T", "DC3D4"] {
            assert_eq!(element_type(name), Kept(CellShape::Tet), "{name}");
        }
        for name in ["C3D8", "C3D8R", "C3D8I", "C3D8RH", "DC3D8", "DCC3D8D", "SC8R"] {
            assert_eq!(element_type(name), Kept(CellShape::Hex), "{name}");
        }
        for name in ["C3D10", "C3D10M", "C3D20R", "C3D6", "C3D15", "C3D5", "SC6R", "C3D99999999"] {
            assert!(matches!(element_type(name), Unsupported(_)), "{name}");
        }
        for name in ["S3", "S3R", "STRI3", "M3D3", "CPS3", "R3D3"] {
            assert_eq!(element_type(name), Kept(CellShape::Triangle), "{name}");
        }
        for name in ["S4", "S4R5", "M3D4R", "CPE4R", "SFM3D4", "CAX4P"] {
            assert_eq!(element_type(name), Kept(CellShape::Quadrilateral), "{name}");
        }
        for name in ["T3D2", "B31", "STRI65", "S8R", "SPRINGA", "COH3D8", "MASS", "", "C3D"] {
            assert_eq!(element_type(name), Skipped, "{name}");
        }
    }
}
