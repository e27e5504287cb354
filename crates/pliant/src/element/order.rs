//! Order of elements along a space-filling curve.

use crate::math::Vec3;
use crate::mesh::VolumeMesh;

/// Returns the elements sorted by region, and within a region along a space-filling curve \[Morton1966\]. Neighbors in
/// the list are then neighbors in the body, for any numbering of the mesh.
pub(super) fn by_region_and_place(mesh: &VolumeMesh) -> Vec<u32> {
    let vertices = mesh.vertices();
    let low = vertices.iter().fold(Vec3::INFINITY, |low, &x| low.min(x));
    let high = vertices.iter().fold(Vec3::NEG_INFINITY, |high, &x| high.max(x));
    let cell = ((high - low).max_element() / f64::from(1 << 20)).max(f64::MIN_POSITIVE);
    let keys: Vec<(u32, u64)> = mesh
        .elements()
        .zip(mesh.element_region())
        .map(|(element, &region)| {
            let sum: Vec3 = element.iter().map(|&v| vertices[v as usize] - low).sum();
            let place = sum / (element.len() as f64 * cell);
            (region, spread(place.x as u64) | spread(place.y as u64) << 1 | spread(place.z as u64) << 2)
        })
        .collect();
    let mut order: Vec<u32> = (0..mesh.element_count() as u32).collect();
    order.sort_by_key(|&element| keys[element as usize]);
    order
}

/// Returns the lowest 21 bits of `x` with two zeros between each.
fn spread(x: u64) -> u64 {
    let mut x = x & 0x001f_ffff;
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread_by_two_zeros() {
        for bit in 0..21 {
            assert_eq!(spread(1 << bit), 1 << (3 * bit));
        }
    }
}
