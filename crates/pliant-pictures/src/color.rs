//! Colors and color maps.

/// sRGB color: red, green and blue, each from 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub [u8; 3]);

impl Color {
    /// Default color of a body: a calm blue.
    pub const BODY: Self = Self([92, 139, 191]);
    /// Default color of obstacles.
    pub const OBSTACLE: Self = Self([168, 172, 178]);
    /// Color of missing values and NaN.
    pub const MISSING: Self = Self([150, 150, 150]);

    /// Returns color `number` of a palette that is distinguishable with color vision deficiencies, cyclically.
    ///
    /// It is the palette of Okabe and Ito without its yellow, which is too faint on white.
    pub fn distinct(number: usize) -> Self {
        const PALETTE: [[u8; 3]; 7] =
            [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], [40, 40, 40]];
        Self(PALETTE[number % PALETTE.len()])
    }

    /// Returns the color as `#rrggbb`.
    pub fn hex(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// Converts to linear RGB from 0 to 1, in which colors may be added and averaged.
    pub(crate) fn linear(self) -> glam::Vec3 {
        glam::Vec3::from(self.0.map(|channel| {
            let s = f32::from(channel) / 255.0;
            if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
        }))
    }
}

/// Color map from the interval 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorMap {
    /// Dark blue through green to yellow: perceptually uniform, with monotonic lightness.
    #[default]
    Viridis,
    /// Dark blue through gray to yellow: looks almost the same with and without red-green blindness.
    Cividis,
    /// Nearly black through red to pale yellow.
    Inferno,
    /// Blue through white to red, for values on both sides of a center.
    Diverging,
}

impl ColorMap {
    /// All color maps with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("viridis", Self::Viridis),
        ("cividis", Self::Cividis),
        ("inferno", Self::Inferno),
        ("diverging", Self::Diverging),
    ];

    /// Returns the color of a number. Numbers are clamped to 0 and 1; NaN is gray.
    pub fn at(self, number: f64) -> Color {
        if number.is_nan() {
            return Color::MISSING;
        }
        let t = number.clamp(0.0, 1.0);
        let color = match self {
            Self::Viridis => colorous::VIRIDIS.eval_continuous(t),
            Self::Cividis => colorous::CIVIDIS.eval_continuous(t),
            Self::Inferno => colorous::INFERNO.eval_continuous(t),
            Self::Diverging => colorous::RED_BLUE.eval_continuous(1.0 - t),
        };
        Color([color.r, color.g, color.b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_end_where_they_should_and_take_any_number() {
        assert_eq!(ColorMap::Viridis.at(0.0), Color([68, 1, 84]));
        assert_eq!(ColorMap::Viridis.at(1.0), Color([253, 231, 37]));
        for (name, map) in ColorMap::ALL {
            assert_eq!(map.at(f64::NEG_INFINITY), map.at(0.0), "{name}");
            assert_eq!(map.at(1e300), map.at(1.0), "{name}");
            assert_eq!(map.at(f64::NAN), Color::MISSING, "{name}");
        }
    }

    #[test]
    fn brightness_of_sequential_maps_only_rises() {
        for map in [ColorMap::Viridis, ColorMap::Cividis, ColorMap::Inferno] {
            let brightness = |i: i32| map.at(f64::from(i) / 20.0).linear().dot(glam::Vec3::new(0.2126, 0.7152, 0.0722));
            assert!((0..20).all(|i| brightness(i) < brightness(i + 1)), "{map:?}");
        }
    }
}
