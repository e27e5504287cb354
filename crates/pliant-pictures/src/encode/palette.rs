//! Few colours for many.

use std::collections::BTreeSet;

use quantette::deps::palette::Srgb;
use quantette::wu::{BinnerU8x3, WuU8x3};
use quantette::{PaletteCounts, PaletteSize};

/// The most colours of a palette; one more index is left for what is transparent.
pub(super) const MOST_COLOURS: u8 = 255;
/// Bits of a channel by which colours are told apart when there are too many.
const BITS: u32 = 6;
/// How far dithering moves a channel at most, up or down: about half the distance of neighbours in a palette.
const DITHER: i32 = 3;
/// An order of the cells of a 4 × 4 square in which any first few are spread evenly (Bayer).
const ORDER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
/// How far a channel of a pixel may be from its colour in the palette, and the part of the pixels that may be further.
const TOLERANCE: (u8, f64) = (20, 0.01);

/// The colours of an animation, which stay the same as long as they serve, so that what does not move does not change.
#[derive(Debug)]
pub(super) struct Palette {
    /// All colours so far, as long as they fit.
    all: Option<BTreeSet<[u8; 3]>>,
    /// How many pixels at most any frame had in each cell of colours.
    seen: Vec<u32>,
    /// Sorted if they are all.
    colours: Vec<[u8; 3]>,
    /// The nearest colour to each cell that was asked for.
    known: Vec<Option<u8>>,
}

impl Palette {
    pub fn new() -> Self {
        let cells = 1 << (3 * BITS);
        Self { all: Some(BTreeSet::new()), seen: vec![0; cells], colours: Vec::new(), known: vec![None; cells] }
    }

    /// Adds the pixels of a frame. Returns whether the palette had to change for them.
    pub fn adapt(&mut self, pixels: impl Iterator<Item = [u8; 3]> + Clone) -> bool {
        let mut counts = vec![0u32; self.seen.len()];
        pixels.clone().for_each(|pixel| counts[cell(pixel)] += 1);
        self.seen.iter_mut().zip(&counts).for_each(|(seen, &count)| *seen = count.max(*seen));

        if let Some(mut all) = self.all.take() {
            for pixel in pixels {
                all.insert(pixel);
                if all.len() > usize::from(MOST_COLOURS) {
                    break;
                }
            }
            if all.len() <= usize::from(MOST_COLOURS) {
                let changed = all.len() > self.colours.len();
                self.colours = all.iter().copied().collect();
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
            let colour = self.colours[usize::from(nearest)];
            let error = colour.iter().zip(middle(cell)).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
            bad += if error > TOLERANCE.0 { count } else { 0 };
        }
        let changed = f64::from(bad) > TOLERANCE.1 * f64::from(total);
        if changed {
            self.choose();
        }
        changed
    }

    /// Chooses colours for all that was seen.
    ///
    /// They count by the square root of how often they appear, so that a wide background does not take them all.
    fn choose(&mut self) {
        let found = || self.seen.iter().enumerate().filter(|(_, count)| **count > 0);
        let colours = found().map(|(cell, _)| Srgb::from(middle(cell))).collect();
        let weights = found().map(|(_, count)| count.isqrt()).collect();
        // Their sum is less than the number of pixels, so that it cannot overflow.
        let chosen = PaletteCounts::new(colours, weights)
            .ok()
            .and_then(|counts| WuU8x3::run_palette_counts(&counts, BinnerU8x3::rgb()))
            .map(|wu| wu.palette(PaletteSize::from_u8_clamped(MOST_COLOURS)).into_vec());
        self.colours = chosen.into_iter().flatten().map(Into::into).collect();
        self.known.fill(None);
    }

    pub fn colours(&self) -> &[[u8; 3]] {
        &self.colours
    }

    /// The number of the colour for a pixel at a place, on which dithering depends: it stays when the picture moves.
    pub fn index(&mut self, pixel: [u8; 3], [x, y]: [usize; 2]) -> u8 {
        if self.all.is_some() {
            return self.colours.binary_search(&pixel).unwrap_or(0) as u8;
        }
        let shift = (2 * ORDER[y % 4][x % 4] - 15) * DITHER / 15;
        self.nearest(cell(pixel.map(|channel| (i32::from(channel) + shift).clamp(0, 255) as u8)))
    }

    /// The number of the colour nearest to a cell.
    fn nearest(&mut self, cell: usize) -> u8 {
        let colours = &self.colours;
        *self.known[cell].get_or_insert_with(|| {
            let middle = middle(cell);
            let distance = |colour: &[u8; 3]| -> u32 {
                colour.iter().zip(middle).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
            };
            (0..colours.len()).min_by_key(|&number| distance(&colours[number])).unwrap_or(0) as u8
        })
    }
}

fn cell(pixel: [u8; 3]) -> usize {
    pixel.into_iter().fold(0, |cell, channel| cell << BITS | usize::from(channel >> (8 - BITS)))
}

/// The colour in the middle of a cell.
fn middle(cell: usize) -> [u8; 3] {
    let half = 1 << (7 - BITS);
    [2, 1, 0].map(|place| ((cell >> (place * BITS) & ((1 << BITS) - 1)) << (8 - BITS)) as u8 + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_exactly() {
        let pixels: Vec<[u8; 3]> = (0..10_000).map(|i| [(i % 15) as u8, (i % 17) as u8, 7]).collect();
        let mut palette = Palette::new();
        assert!(palette.adapt(pixels.iter().copied()));
        assert!(!palette.adapt(pixels.iter().copied().take(30)));
        assert_eq!(palette.colours().len(), 255);
        for (at, &pixel) in pixels.iter().enumerate() {
            let index = palette.index(pixel, [at, at / 7]);
            assert_eq!(palette.colours()[usize::from(index)], pixel);
        }
    }

    #[test]
    fn a_rare_colour_among_very_many_others_survives() {
        let grey = (0..200_000).map(|i| [200 + (i % 40) as u8, 205 + (i / 7 % 40) as u8, 210 + (i / 31 % 40) as u8]);
        let yellow = (0..200).map(|i| [250 - (i % 5) as u8, 230, 30 + (i % 7) as u8]);
        let mut palette = Palette::new();
        palette.adapt(grey.clone().chain(yellow));
        let index = palette.index([250, 230, 33], [0, 0]);
        let shown = palette.colours()[usize::from(index)];
        let error = shown.iter().zip([250, 230, 33]).map(|(a, b)| a.abs_diff(b)).max();
        assert!(error <= Some(10), "{shown:?}");
        assert!(!palette.adapt(grey), "colours that are served well change nothing");
        assert!(palette.adapt([[255, 0, 0]; 500].into_iter()), "a new colour does");
    }
}
