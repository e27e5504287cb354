//! Color quantization.

use std::collections::BTreeSet;

use quantette::deps::palette::Srgb;
use quantette::wu::{BinnerU8x3, WuU8x3};
use quantette::{PaletteCounts, PaletteSize};

/// Maximum number of colors in a palette; one more index is reserved for transparency.
pub(super) const MAX_COLORS: u8 = 255;
/// Bits per channel that distinguish colors when there are too many.
const BITS: u32 = 6;
/// Maximum change of a channel by dithering: about half the distance between neighboring palette colors.
const DITHER: i32 = 3;
/// Bayer order of the cells of a 4 × 4 square: any first few are spread evenly.
const ORDER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
/// Maximum error of a channel, and the fraction of the pixels that may exceed it.
const TOLERANCE: (u8, f64) = (20, 0.01);

/// Palette of an animation. It stays the same while it represents the frames well, so that still regions do not change.
#[derive(Debug)]
pub(super) struct Palette {
    /// All colors so far, while they fit into the palette.
    all: Option<BTreeSet<[u8; 3]>>,
    /// Maximum number of pixels that any frame had in each cell of the color space.
    seen: Vec<u32>,
    /// Palette colors, sorted if they are all colors.
    colors: Vec<[u8; 3]>,
    /// Nearest palette color of each cell, as far as known.
    known: Vec<Option<u8>>,
}

impl Palette {
    pub fn new() -> Self {
        let cells = 1 << (3 * BITS);
        Self { all: Some(BTreeSet::new()), seen: vec![0; cells], colors: Vec::new(), known: vec![None; cells] }
    }

    /// Adds the pixels of a frame. Returns true if the palette had to change.
    pub fn adapt(&mut self, pixels: impl Iterator<Item = [u8; 3]> + Clone) -> bool {
        let mut counts = vec![0u32; self.seen.len()];
        pixels.clone().for_each(|pixel| counts[cell(pixel)] += 1);
        self.seen.iter_mut().zip(&counts).for_each(|(seen, &count)| *seen = count.max(*seen));

        if let Some(mut all) = self.all.take() {
            for pixel in pixels {
                all.insert(pixel);
                if all.len() > usize::from(MAX_COLORS) {
                    break;
                }
            }
            if all.len() <= usize::from(MAX_COLORS) {
                let changed = all.len() > self.colors.len();
                self.colors = all.iter().copied().collect();
                self.all = Some(all);
                return changed;
            }
            self.choose();
            return true;
        }
        let total: u32 = counts.iter().sum();
        let mut bad = 0;
        for (cell, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let nearest = self.nearest(cell);
            let color = self.colors[usize::from(nearest)];
            let error = color.iter().zip(middle(cell)).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
            bad += if error > TOLERANCE.0 { count } else { 0 };
        }
        let changed = f64::from(bad) > TOLERANCE.1 * f64::from(total);
        if changed {
            self.choose();
        }
        changed
    }

    /// Chooses the palette for all colors seen so far.
    ///
    /// Colors are weighted by the square root of their frequency, so that a large background does not take the whole
    /// palette.
    fn choose(&mut self) {
        let found = || self.seen.iter().enumerate().filter(|(_, count)| **count > 0);
        let colors = found().map(|(cell, _)| Srgb::from(middle(cell))).collect();
        let weights = found().map(|(_, count)| count.isqrt()).collect();
        // Their sum is less than the number of pixels and cannot overflow.
        let chosen = PaletteCounts::new(colors, weights)
            .ok()
            .and_then(|counts| WuU8x3::run_palette_counts(&counts, BinnerU8x3::rgb()))
            .map(|wu| wu.palette(PaletteSize::from_u8_clamped(MAX_COLORS)).into_vec());
        self.colors = chosen.into_iter().flatten().map(Into::into).collect();
        self.known.fill(None);
    }

    pub fn colors(&self) -> &[[u8; 3]] {
        &self.colors
    }

    /// Returns the palette index for a pixel. Dithering depends on its position, so that the pattern does not move with
    /// the picture.
    pub fn index(&mut self, pixel: [u8; 3], [x, y]: [usize; 2]) -> u8 {
        if self.all.is_some() {
            return self.colors.binary_search(&pixel).unwrap_or(0) as u8;
        }
        let shift = (2 * ORDER[y % 4][x % 4] - 15) * DITHER / 15;
        self.nearest(cell(pixel.map(|channel| (i32::from(channel) + shift).clamp(0, 255) as u8)))
    }

    /// Returns the index of the palette color nearest to a cell.
    fn nearest(&mut self, cell: usize) -> u8 {
        let colors = &self.colors;
        *self.known[cell].get_or_insert_with(|| {
            let middle = middle(cell);
            let distance = |color: &[u8; 3]| -> u32 {
                color.iter().zip(middle).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
            };
            (0..colors.len()).min_by_key(|&number| distance(&colors[number])).unwrap_or(0) as u8
        })
    }
}

fn cell(pixel: [u8; 3]) -> usize {
    pixel.into_iter().fold(0, |cell, channel| cell << BITS | usize::from(channel >> (8 - BITS)))
}

/// Returns the color at the center of a cell.
fn middle(cell: usize) -> [u8; 3] {
    let half = 1 << (7 - BITS);
    [2, 1, 0].map(|place| ((cell >> (place * BITS) & ((1 << BITS) - 1)) << (8 - BITS)) as u8 + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colors_are_kept_exactly() {
        let pixels: Vec<[u8; 3]> = (0..10_000).map(|i| [(i % 15) as u8, (i % 17) as u8, 7]).collect();
        let mut palette = Palette::new();
        assert!(palette.adapt(pixels.iter().copied()));
        assert!(!palette.adapt(pixels.iter().copied().take(30)));
        assert_eq!(palette.colors().len(), 255);
        for (at, &pixel) in pixels.iter().enumerate() {
            let index = palette.index(pixel, [at, at / 7]);
            assert_eq!(palette.colors()[usize::from(index)], pixel);
        }
    }

    #[test]
    fn a_rare_color_among_very_many_others_survives() {
        let gray = (0..200_000).map(|i| [200 + (i % 40) as u8, 205 + (i / 7 % 40) as u8, 210 + (i / 31 % 40) as u8]);
        let yellow = (0..200).map(|i| [250 - (i % 5) as u8, 230, 30 + (i % 7) as u8]);
        let mut palette = Palette::new();
        palette.adapt(gray.clone().chain(yellow));
        let index = palette.index([250, 230, 33], [0, 0]);
        let shown = palette.colors()[usize::from(index)];
        let error = shown.iter().zip([250, 230, 33]).map(|(a, b)| a.abs_diff(b)).max();
        assert!(error <= Some(10), "{shown:?}");
        assert!(!palette.adapt(gray), "well represented colors change nothing");
        assert!(palette.adapt([[255, 0, 0]; 500].into_iter()), "a new color changes the palette");
    }
}
