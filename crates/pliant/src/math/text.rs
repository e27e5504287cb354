//! Formatting of numbers in messages.

/// Returns a number with four significant digits: plain from 0.001 to a million, with an exponent elsewhere.
pub fn short_number(x: f64) -> String {
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    if rounded == 0.0 || (1e-3..1e6).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_where_that_is_short() {
        let shown = [1.0, 2_f64.sqrt(), 0.25, 0.0, -12.345_67, 1e-4, 123_456.0, 1.0e7].map(short_number);
        assert_eq!(shown, ["1", "1.414", "0.25", "0", "-12.35", "1e-4", "123500", "1e7"]);
    }
}
