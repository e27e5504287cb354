//! Point caches `.pc2` of 3ds Max and Blender's Mesh Cache modifier, little-endian:
//!
//! ```text
//! "POINTCACHE2\0", version 1, number of points           text of 12 bytes, i32, i32
//! first frame 0, 1 frame per sample, number of samples   f32, f32, i32
//! x, y, z of each point of each sample                   f32
//! ```

use super::point_cache::{self, Layout};
use super::{AnimationFormat, Content};

pub(super) const FORMAT: AnimationFormat = AnimationFormat {
    name: "pc2",
    title: "PointCache2",
    extensions: &["pc2"],
    about: "A point cache for Blender and 3ds Max",
    content: Content::Whole(|context, _, frames| point_cache::start(context, LAYOUT, frames)),
};

const LAYOUT: Layout = Layout { extension: "pc2", head_length: |_| 32, head, number: f32::to_le_bytes };

fn head(points: i32, times: &[f32]) -> Vec<u8> {
    let mut head = b"POINTCACHE2\0".to_vec();
    head.extend([1, points].into_iter().flat_map(i32::to_le_bytes));
    head.extend([0.0, 1.0].into_iter().flat_map(f32::to_le_bytes));
    head.extend((times.len() as i32).to_le_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::super::testing::write_all;

    #[test]
    fn the_head_is_that_of_the_format() {
        let (_folder, files) = write_all("a.pc2", 3);
        let bytes = std::fs::read(&files[0]).unwrap();
        let points = ((bytes.len() - 32) / 36) as u8;
        assert_eq!(&bytes[..12], b"POINTCACHE2\0");
        assert_eq!(bytes[12..20], [1, 0, 0, 0, points, 0, 0, 0]);
        assert_eq!(bytes[20..32], [0, 0, 0, 0, 0, 0, 0x80, 0x3f, 3, 0, 0, 0]);
    }
}
