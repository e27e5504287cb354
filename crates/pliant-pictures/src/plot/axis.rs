use super::Scale;
use crate::ticks::Ticks;

/// Maximum magnitude of a coordinate; differences of larger ones would overflow.
const MAX: f64 = 1e307;

/// Axis of a plot: its range and scale.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    scale: Scale,
    /// Lower end of the range, or its logarithm if the scale is logarithmic.
    low: f64,
    high: f64,
    pub ticks: Ticks,
}

impl Axis {
    /// Creates an axis that shows all representable numbers, with at most `most` labeled ticks. The fraction `padding`
    /// of its length stays free at both ends.
    pub fn around(numbers: impl Iterator<Item = f64>, scale: Scale, padding: f64, max: usize) -> Self {
        let shown = numbers.filter_map(|number| counted(number, scale));
        let range = shown.map(|number| [number; 2]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let [low, high] = range.unwrap_or([0.0, 1.0]);
        let room = if high > low {
            padding * (high - low)
        } else if scale == Scale::Logarithmic || low == 0.0 {
            0.5
        } else {
            0.1 * low.abs()
        };
        let (low, mut high) = (low - room, high + room);
        if low >= high {
            high = low + f64::MIN_POSITIVE;
        }
        let ticks = match scale {
            Scale::Linear => Ticks::linear(low, high, max),
            Scale::Logarithmic => Ticks::logarithmic(10f64.powf(low).max(f64::MIN_POSITIVE), 10f64.powf(high), max),
        };
        Self { scale, low, high, ticks }
    }

    /// Returns the position of a number along the axis, from 0 to 1, or `None` if it cannot be shown.
    pub fn position(&self, number: f64) -> Option<f64> {
        let number = counted(number, self.scale)?;
        Some((number - self.low) / (self.high - self.low))
    }
}

/// Returns the number or its logarithm, depending on the scale, or `None` if it cannot be shown.
fn counted(number: f64, scale: Scale) -> Option<f64> {
    match scale {
        Scale::Linear => (number.abs() <= MAX).then_some(number),
        Scale::Logarithmic => (number > 0.0 && number <= MAX).then(|| number.log10()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_can_be_shown_is_within_the_axis() {
        let mut random = fastrand::Rng::with_seed(2);
        for round in 0..5000 {
            let numbers: Vec<f64> = match round % 3 {
                0 => (0..random.usize(0..6)).map(|_| f64::from_bits(random.u64(..))).collect(),
                1 => vec![f64::from_bits(random.u64(..)); 3],
                _ => [1e-300, 1e300, -1e300, 5e-324, f64::MAX, 0.0, f64::NAN][random.usize(0..7)..].to_vec(),
            };
            for scale in [Scale::Linear, Scale::Logarithmic] {
                let axis = Axis::around(numbers.iter().copied(), scale, 0.04, 6);
                let places: Vec<f64> = numbers.iter().filter_map(|&number| axis.position(number)).collect();
                assert!(places.iter().all(|place| (-1e-9..=1.0 + 1e-9).contains(place)), "{numbers:?} {axis:?}");
            }
        }
    }
}
