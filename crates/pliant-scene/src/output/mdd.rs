//! Point caches `.mdd` of `LightWave`, Blender's Mesh Cache modifier and Houdini, big-endian:
//!
//! ```text
//! number of frames, number of points    i32, i32
//! time of each frame [s]                f32, starting at 0
//! x, y, z of each point of each frame   f32
//! ```

use super::point_cache::{self, Layout};
use super::{AnimationFormat, Content};

pub(super) const FORMAT: AnimationFormat = AnimationFormat {
    name: "mdd",
    title: "MDD",
    extensions: &["mdd"],
    about: "A point cache for Blender, Houdini and Maya",
    content: Content::Whole(|context, _, frames| point_cache::start(context, LAYOUT, frames)),
};

const LAYOUT: Layout =
    Layout { extension: "mdd", head_length: |frames| 8 + 4 * frames, head, number: f32::to_be_bytes };

fn head(points: i32, times: &[f32]) -> Vec<u8> {
    let counts = [times.len() as i32, points].into_iter().flat_map(i32::to_be_bytes);
    counts.chain(times.iter().copied().flat_map(f32::to_be_bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::write_all;

    #[test]
    fn the_head_has_counts_and_times_with_the_most_significant_byte_first() {
        let (_folder, files) = write_all("a.mdd", 3);
        let bytes = std::fs::read(&files[0]).unwrap();
        let points = ((bytes.len() - 20) / 36) as u8;
        assert_eq!(bytes[..8], [0, 0, 0, 3, 0, 0, 0, points]);
        let times: Vec<f32> = bytes[8..20].as_chunks::<4>().0.iter().map(|&b| f32::from_be_bytes(b)).collect();
        assert_eq!(times, [0.0, 0.04, 0.08]);
    }
}
