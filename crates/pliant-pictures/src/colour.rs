//! Colours, and maps from numbers to colours.

/// Red, green and blue, each from 0 to 255, in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// What a body has that was given no colour: a calm blue.
    pub const BODY: Self = Self([92, 139, 191]);
    /// What obstacles have.
    pub const OBSTACLE: Self = Self([168, 172, 178]);
    /// Where a value is missing or not a number.
    pub const MISSING: Self = Self([150, 150, 150]);

    /// Colours that differ for every kind of colour vision, for bodies or curves side by side; after the last, the first
    /// again. The palette of Okabe and Ito, without its yellow, which is too faint on white.
    pub fn distinct(number: usize) -> Self {
        const PALETTE: [[u8; 3]; 7] =
            [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], [40, 40, 40]];
        Self(PALETTE[number % PALETTE.len()])
    }

    /// As `#rrggbb`.
    pub fn hex(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// Proportional to the energy of light, from 0 to 1: what may be added and averaged.
    pub(crate) fn linear(self) -> glam::Vec3 {
        glam::Vec3::from(self.0.map(|channel| {
            let s = f32::from(channel) / 255.0;
            if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
        }))
    }
}

/// A map from the numbers 0 to 1 to colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColourMap {
    /// Dark blue over green to yellow: equal steps look equal, and its brightness alone tells the order.
    #[default]
    Viridis,
    /// Dark blue over grey to yellow: looks almost the same with and without red-green blindness.
    Cividis,
    /// Nearly black over red to pale yellow.
    Inferno,
    /// Blue over white to red, for values on both sides of a middle.
    Diverging,
}

impl ColourMap {
    /// All maps with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("viridis", Self::Viridis),
        ("cividis", Self::Cividis),
        ("inferno", Self::Inferno),
        ("diverging", Self::Diverging),
    ];

    /// The colour of a number: the first one's below 0, the last one's above 1, grey for NaN.
    pub fn at(self, number: f64) -> Colour {
        if number.is_nan() {
            return Colour::MISSING;
        }
        let t = number.clamp(0.0, 1.0);
        let colour = match self {
            Self::Viridis => colorous::VIRIDIS.eval_continuous(t),
            Self::Cividis => colorous::CIVIDIS.eval_continuous(t),
            Self::Inferno => colorous::INFERNO.eval_continuous(t),
            Self::Diverging => colorous::RED_BLUE.eval_continuous(1.0 - t),
        };
        Colour([colour.r, colour.g, colour.b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_end_where_they_should_and_take_any_number() {
        assert_eq!(ColourMap::Viridis.at(0.0), Colour([68, 1, 84]));
        assert_eq!(ColourMap::Viridis.at(1.0), Colour([253, 231, 37]));
        for (name, map) in ColourMap::ALL {
            assert_eq!(map.at(f64::NEG_INFINITY), map.at(0.0), "{name}");
            assert_eq!(map.at(1e300), map.at(1.0), "{name}");
            assert_eq!(map.at(f64::NAN), Colour::MISSING, "{name}");
        }
    }

    #[test]
    fn brightness_of_sequential_maps_only_rises() {
        for map in [ColourMap::Viridis, ColourMap::Cividis, ColourMap::Inferno] {
            let brightness = |i: i32| map.at(f64::from(i) / 20.0).linear().dot(glam::Vec3::new(0.2126, 0.7152, 0.0722));
            assert!((0..20).all(|i| brightness(i) < brightness(i + 1)), "{map:?}");
        }
    }
}
