//! Patterns and bounds of the JSON schema: the checks of the parser and of `build`, in a form for editors.

use schemars::Schema;
use serde_json::{Value, json};

use super::quantity::{PREFIXES, Powers, UNITS, powers_of};

/// Digits with at most one decimal point: any, nonzero or zero.
const DIGITS: &str = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)";
const NOT_ZERO: &str = r"(?:0*[1-9][0-9]*\.?[0-9]*|0*\.0*[1-9][0-9]*)";
const ZERO: &str = r"(?:0+\.?0*|\.0+)";
/// Power of ten.
const POWER: &str = r"(?:[eE][+-]?[0-9]+)?";

/// Returns the pattern of a decimal number or a fraction of two.
fn any_number() -> String {
    format!("[+-]?{DIGITS}{POWER}(?:/[+-]?{NOT_ZERO}{POWER})?")
}

/// Returns the pattern of positive numbers. It also matches numbers that underflow to zero as a double.
fn positive_number() -> String {
    format!(r"(?:\+?{NOT_ZERO}{POWER}(?:/\+?{NOT_ZERO}{POWER})?|-{NOT_ZERO}{POWER}/-{NOT_ZERO}{POWER})")
}

/// Returns the pattern of non-negative numbers.
fn not_negative_number() -> String {
    format!("(?:{}|[+-]?{ZERO}{POWER}(?:/[+-]?{NOT_ZERO}{POWER})?)", positive_number())
}

/// Returns the pattern of numbers with a unit. A single unit has the right dimension; only the parser checks the
/// dimension of products.
pub(super) fn pattern(unit: &str) -> String {
    let wanted = powers_of(unit);
    let prefixes: String = PREFIXES.iter().map(|(prefix, _)| *prefix).collect();
    let symbol_of = |(name, has_prefixes): (&str, bool)| {
        if has_prefixes { format!("[{prefixes}]?{name}") } else { name.to_owned() }
    };
    let symbols: Vec<String> = UNITS.iter().map(|unit| symbol_of((unit.0, unit.1))).collect();
    let symbol = format!("(?:{})", symbols.join("|"));
    // Units of the wanted dimension, each to some power.
    let single = |wanted: Powers| {
        let powers = |unit: &(&str, bool, f64, Powers)| {
            let (name, has_prefixes, own) = (unit.0, unit.1, unit.3);
            let is_wanted = move |power: &i8| (0..4).all(|axis| own[axis].checked_mul(*power) == Some(wanted[axis]));
            let symbol = symbol_of((name, has_prefixes));
            (-9..=9).filter(is_wanted).map(move |power| format!("{symbol}{}", power_pattern(power))).collect::<Vec<_>>()
        };
        UNITS.iter().flat_map(powers).collect::<Vec<_>>().join("|")
    };
    // `1/` at the start of a unit is separated from the number, to whose digits it would belong otherwise.
    let one_over = r"(?:\s+1/|\s*/)\s*";
    let power = r"(?:[²³]|\^-?0*[0-9])";
    let product = format!(r"(?:{symbol}(?:{power}\s*[/*·]?\s*|\s*[/*·]\s*|\s+))+{symbol}{power}?");
    let mut units = vec![format!(r"(?:{one_over}|\s*){product}")];
    let alternatives = [(r"\s*", single(wanted)), (one_over, single(wanted.map(|power| -power)))];
    units.extend(
        alternatives
            .into_iter()
            .filter(|(_, units)| !units.is_empty())
            .map(|(lead, units)| format!("{lead}(?:{units})")),
    );
    format!(r"^\s*{}(?:{})\s*$", any_number(), units.join("|"))
}

/// Returns the pattern of a power after a symbol.
fn power_pattern(power: i8) -> String {
    match power {
        1 => r"(?:\^0*1)?".into(),
        2 => r"(?:²|\^0*2)".into(),
        3 => r"(?:³|\^0*3)".into(),
        power if power < 0 => format!(r"\^-0*{}", power.unsigned_abs()),
        power => format!(r"\^0*{power}"),
    }
}

/// Bounds numbers, with or without units, to positive ones.
pub(super) fn positive(schema: &mut Schema) {
    bound(schema, &[("exclusiveMinimum", json!(0))], Some(&positive_number()));
}

/// Bounds numbers, with or without units, to non-negative ones.
pub(super) fn not_negative(schema: &mut Schema) {
    bound(schema, &[("minimum", json!(0))], Some(&not_negative_number()));
}

/// Bounds numbers to the open interval from 0 to 1.
pub(super) fn fraction(schema: &mut Schema) {
    bound(schema, &[("exclusiveMinimum", json!(0)), ("exclusiveMaximum", json!(1))], None);
}

/// Adds keys to every schema of a number: the value itself, the items of a list, and alternatives.
fn bound(schema: &mut Schema, keys: &[(&str, Value)], number: Option<&str>) {
    fn visit(schema: &mut Value, keys: &[(&str, Value)], number: Option<&str>) {
        let Some(map) = schema.as_object_mut() else { return };
        let is = |name: &str| match map.get("type") {
            Some(Value::String(own)) => own == name,
            Some(Value::Array(list)) => list.iter().any(|own| own == name),
            _ => false,
        };
        if is("number") || is("integer") {
            map.extend(keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
            if let (Some(Value::String(pattern)), Some(number)) = (map.get_mut("pattern"), number) {
                *pattern = pattern.replacen(&any_number(), number, 1);
            }
        }
        if let Some(items) = map.get_mut("items") {
            visit(items, keys, number);
        }
        if let Some(Value::Array(alternatives)) = map.get_mut("anyOf") {
            alternatives.iter_mut().for_each(|one| visit(one, keys, number));
        }
    }
    let mut value = schema.clone().to_value();
    visit(&mut value, keys, number);
    if let Ok(bounded) = Schema::try_from(value) {
        *schema = bounded;
    }
}

#[cfg(test)]
mod tests {
    use regex_lite::Regex;

    use super::super::quantity::{Dimension, dimension as d, parse};
    use super::*;

    /// Compares the pattern with the parser on a text. Returns true if both accept it.
    fn agree<D: Dimension>(pattern: &Regex, text: &str) -> bool {
        match (pattern.is_match(text), parse::<D>(text)) {
            (true, Ok(_)) => true,
            (false, Err(_)) => false,
            // The pattern does not know the dimension of a product.
            (true, Err(error)) if is_product(&error) => false,
            (matches, parsed) => panic!("{text:?} as {}: the pattern says {matches}, the parser {parsed:?}", D::NAME),
        }
    }

    /// Returns true if the error is about the dimension of a product of units, such as `m^2s`.
    fn is_product(error: &str) -> bool {
        let unit = error.split('`').nth(1).unwrap_or_default();
        let is_next = |pair: &[char]| (pair[0].is_numeric() || "²³".contains(pair[0])) && pair[1].is_alphabetic();
        let is_juxtaposed = unit.chars().collect::<Vec<_>>().windows(2).any(is_next);
        error.contains("does not measure") && (is_juxtaposed || unit.contains(['/', '*', '·', ' ']))
    }

    fn check<D: Dimension>(accepted: &[&str], rejected: &[&str]) {
        let pattern = Regex::new(&pattern(D::UNIT)).unwrap();
        for text in accepted.iter().chain(&[D::EXAMPLE, &format!("1 {}", D::UNIT)]) {
            assert!(agree::<D>(&pattern, text), "{text}");
        }
        for text in rejected {
            assert!(!agree::<D>(&pattern, text) && !pattern.is_match(text), "{text}");
        }
        let numbers = [
            "1", "-2.5", "+.5", "5.", "1e3", "1E-3", "1/240", "-1/2.5e1", "0", "01", "1/0", "1/", "1e", "--1", ".", "",
            "1//2", "1/-3", "∞", "1,5",
        ];
        let powers: [&str; 10] = ["", "^2", "²", "³", "^-1", "^01", "^10", "^", "^-", "²³"];
        let symbols = [
            "m", "cm", "kg", "s", "ms", "min", "N", "MPa", "Pa", "J", "Hz", "rad", "deg", "°", "rpm", "1/s", "/s",
            "xyz", "Kg",
        ];
        let more = ["", "/s", "*s", " s", "·s^2", "/", " / mm^2 ", "s", "m m m", " 1/s"];
        for gap in ["", " "] {
            for (number, unit) in
                numbers.iter().flat_map(|number| ["s", "MPa", "1/s", "/s", ""].map(|unit| (number, unit)))
            {
                agree::<D>(&pattern, &format!("{number}{gap}{unit}"));
            }
            for (symbol, power) in symbols.iter().flat_map(|symbol| powers.map(|power| (symbol, power))) {
                for (number, more) in more.iter().flat_map(|more| ["1", "-1/2.5e1", "1/"].map(|number| (number, more)))
                {
                    agree::<D>(&pattern, &format!("{number}{gap}{symbol}{power}{more}"));
                }
            }
        }
    }

    #[test]
    fn patterns_accept_what_the_parser_accepts_and_single_units_only_of_the_dimension() {
        check::<d::Length>(&["5cm", " 5 cm ", "1 in", "2 m^1", "3 /m^-1"], &["5", "5 Pa", "5 m^2", "cm", "5 s"]);
        check::<d::Pressure>(&["2 N/mm^2", "1 bar", "3 kg m^-1 s^-2"], &["5 cm", "5 Mpa", "5 Pa^2", "1 /Pa"]);
        check::<d::Rate>(&["2 1/s", "2/s", "2 s^-1", "2 Hz", "3 /min"], &["2 s", "2 1/Hz"]);
        check::<d::Density>(&["1.1 g/cm³", "1 kg m^-3"], &["1 kg", "1 g/"]);
        check::<d::AngularSpeed>(&["120 rpm", "3 deg/s"], &["3 deg", "1/0 rpm"]);
    }

    #[test]
    fn bounded_patterns_accept_the_sign_that_the_bound_asks_for() {
        let numbers = [
            "1", "0", "-1", "-0", "+0.0", "0e5", ".001", "1/2", "-1/-2", "1/-2", "-1/2", "0/3", "0/-3", "-01", "10.50",
            "00",
        ];
        let of = |number: String| Regex::new(&pattern("s").replacen(&any_number(), &number, 1)).unwrap();
        let (positive, not_negative) = (of(positive_number()), of(not_negative_number()));
        for number in numbers {
            let text = format!("{number} s");
            let si = parse::<d::Time>(&text).unwrap();
            assert_eq!(positive.is_match(&text), si > 0.0, "{text}");
            assert_eq!(not_negative.is_match(&text), si >= 0.0, "{text}");
        }
        let rate = Regex::new(&pattern("1/s").replacen(&any_number(), &not_negative_number(), 1)).unwrap();
        assert!(!rate.is_match("-01/s") && rate.is_match("01/s"));
    }
}
