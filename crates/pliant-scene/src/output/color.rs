//! Colors of bodies: the same in pictures, `.glb` files and the viewer.

/// sRGB colors distinguishable with every kind of color vision \[OkabeIto2008\]. Black and yellow are replaced by
/// gray: black is lost on a dark background and yellow on a white one.
const PALETTE: [[u8; 3]; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], [140, 140, 140]];

/// Returns the sRGB color of a body by its number, counted from 0. The colors repeat after the seventh.
pub fn body_color(number: usize) -> [u8; 3] {
    PALETTE[number % PALETTE.len()]
}

/// Converts an sRGB color to linear red, green and blue from 0 to 1 (IEC 61966-2-1).
pub(super) fn linear(color: [u8; 3]) -> [f32; 3] {
    color.map(|channel| {
        let s = f32::from(channel) / 255.0;
        if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighboring_bodies_differ_and_colors_repeat() {
        for number in 0..20 {
            assert_ne!(body_color(number), body_color(number + 1));
            assert_eq!(body_color(number), body_color(number + PALETTE.len()));
        }
    }

    #[test]
    fn linear_colors_agree_with_the_standard_at_both_ends_and_in_the_middle() {
        assert_eq!(linear([0, 0, 255]), [0.0, 0.0, 1.0]);
        // 128/255 in sRGB is 0.2158605 in linear light.
        assert!((linear([128, 10, 0])[0] - 0.215_860_5).abs() < 1e-6);
        assert!((linear([128, 10, 0])[1] - 10.0 / 255.0 / 12.92).abs() < 1e-7);
    }
}
