//! Ticks of an axis and their labels.

/// Ticks of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ticks {
    /// Positions and labels of the major ticks, in increasing order.
    pub labelled: Vec<(f64, String)>,
    /// Positions of the minor ticks, which have no label.
    pub minor: Vec<f64>,
    /// Power of ten by which the labels are multiplied.
    pub exponent: i32,
}

impl Ticks {
    /// Places at most `most` ticks in `low..=high`, at multiples of 1, 2 or 5 times a power of ten.
    pub fn linear(low: f64, high: f64, max: usize) -> Self {
        let span = high - low;
        if !(span.is_finite() && span > 0.0) {
            return Self::default();
        }
        let max = max.max(2);
        let raw = span / max as f64;
        let power = raw.log10().floor() as i32;
        let Some((step, step_exponent)) =
            [(1.0, power), (2.0, power), (5.0, power), (1.0, power + 1), (2.0, power + 1)]
                .into_iter()
                .map(|(digit, exponent)| (scale(digit, exponent), exponent))
                .find(|&(step, _)| step > 0.0 && span / step < max as f64)
        else {
            return Self::default();
        };
        // A number outside by a rounding error still counts as inside.
        let first = (low / step - 1e-9).ceil();
        let mut values: Vec<f64> =
            (0..=max).map(|k| (first + k as f64) * step).take_while(|&v| v <= high + 1e-9 * step).collect();
        values.dedup();
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let magnitude = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
        let exponent = if (-3..5).contains(&magnitude) { 0 } else { magnitude };
        let decimals = (exponent - step_exponent).clamp(0, 15) as usize;
        let labelled = values.into_iter().map(|value| (value, fixed(scale(value, -exponent), decimals))).collect();
        Self { labelled, minor: Vec::new(), exponent }
    }

    /// Places ticks at the powers of ten between the positive numbers `low` and `high`, and at round numbers between
    /// them if these are close.
    pub fn logarithmic(low: f64, high: f64, max: usize) -> Self {
        if !(low > 0.0 && high > low && high.is_finite()) {
            return Self::default();
        }
        let max = max.max(2);
        let (first, last) = (low.log10(), high.log10());
        let within = |value: f64| value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
        let decades: Vec<i32> =
            ((first - 1e-9).ceil() as i32..=(last + 1e-9).floor() as i32).filter(|&k| scale(1.0, k) > 0.0).collect();
        let between = |digits: &[u8]| -> Vec<f64> {
            (first.floor() as i32..=last.floor() as i32)
                .flat_map(|k| digits.iter().map(move |&digit| scale(f64::from(digit), k)))
                .filter(|&value| within(value))
                .collect()
        };
        if decades.len() < 2 {
            let round = between(&[1, 2, 5]);
            let linear = Self::linear(low, high, max);
            return if round.len() < 3 {
                linear
            } else {
                let labelled = round.into_iter().map(|value| (value, plain(value))).collect();
                Self { labelled, minor: between(&[3, 4, 6, 7, 8, 9]), exponent: 0 }
            };
        }
        let stride = decades.len().div_ceil(max) as i32;
        let labelled =
            decades.iter().filter(|&&k| k.rem_euclid(stride) == 0).map(|&k| (scale(1.0, k), power_of_ten(k))).collect();
        let minor = if stride > 1 {
            decades.iter().filter(|&&k| k.rem_euclid(stride) != 0).map(|&k| scale(1.0, k)).collect()
        } else {
            between(&[2, 3, 4, 5, 6, 7, 8, 9])
        };
        Self { labelled, minor, exponent: 0 }
    }
}

/// Returns `number · 10^exponent`, without overflow of the power where the product does not overflow.
fn scale(number: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    number * 10f64.powi(half) * 10f64.powi(exponent - half)
}

/// Formats a number with `decimals` decimals, a true minus sign, and no sign for zero.
fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| byte == b'0' || byte == b'.') => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// Formats a round positive number: `0.02`, `5`, `2·10⁻⁷`.
fn plain(number: f64) -> String {
    let exponent = (number.log10() + 1e-9).floor() as i32;
    if (-3..5).contains(&exponent) {
        return fixed(number, (-exponent).max(0) as usize);
    }
    match scale(number, -exponent).round() {
        1.0 => power_of_ten(exponent),
        digit => format!("{digit}·{}", power_of_ten(exponent)),
    }
}

/// Formats a power of ten: `10⁻³`.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let digits = exponent.to_string();
    let raised = digits.chars().map(|digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    });
    "10".chars().chain(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.labelled.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_multiples_of_one_two_or_five() {
        assert_eq!(labels(&Ticks::linear(0.0, 1.0, 6)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Ticks::linear(-7.0, 12.0, 6)), ["−5", "0", "5", "10"]);
        assert_eq!(labels(&Ticks::linear(-0.1, 0.1, 5)), ["−0.10", "−0.05", "0.00", "0.05", "0.10"]);
    }

    #[test]
    fn large_and_small_numbers_share_a_power_of_ten() {
        let large = Ticks::linear(0.0, 2.1e7, 6);
        assert_eq!((labels(&large), large.exponent), (vec!["0.0", "0.5", "1.0", "1.5", "2.0"], 7));
        let small = Ticks::linear(-3e-9, 1e-9, 6);
        assert_eq!((labels(&small), small.exponent), (vec!["−3", "−2", "−1", "0", "1"], -9));
        assert_eq!(power_of_ten(-12), "10⁻¹²");
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_or_round_numbers() {
        assert_eq!(labels(&Ticks::logarithmic(0.5, 2e3, 6)), ["10⁰", "10¹", "10²", "10³"]);
        assert_eq!(labels(&Ticks::logarithmic(0.015, 0.6, 6)), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
        assert_eq!(
            labels(&Ticks::logarithmic(0.91, 0.97, 6)),
            ["0.91", "0.92", "0.93", "0.94", "0.95", "0.96", "0.97"]
        );
        assert_eq!(labels(&Ticks::logarithmic(1e-300, 1e300, 5)).len(), 5);
    }

    #[test]
    fn any_range_gives_few_ticks_within_it() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let number = |random: &mut fastrand::Rng| f64::from_bits(random.u64(..));
            let (a, b) = (number(&mut random), number(&mut random));
            let b = if random.bool() { b } else { a * (1.0 + 1e-15 * random.f64()) };
            for ticks in [Ticks::linear(a.min(b), a.max(b), 8), Ticks::logarithmic(a.min(b), a.max(b), 8)] {
                assert!(ticks.labelled.len() <= 10 && ticks.minor.len() < 1000, "{a} {b} {ticks:?}");
            }
        }
    }
}
