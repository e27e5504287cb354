//! Polygons that a fan of triangles does not fill, because they have corners that point inward.

use earcut::Earcut;

use crate::math::Vec3;

/// Larger polygons are cut into fans, whatever their corners: ears are searched for in a time that may grow with the square.
const MOST_CORNERS: usize = 10_000;

/// Twice the area of a polygon times its normal: `Σ (xᵢ−x₀)×(xᵢ₊₁−x₀)`.
pub(super) fn area_vector(face: &[u32], positions: &[Vec3]) -> Vec3 {
    let at = |i: usize| positions[face[i] as usize];
    (1..face.len() - 1).map(|i| (at(i) - at(0)).cross(at(i + 1) - at(0))).sum()
}

/// The triangles of a polygon, two fewer than it has corners and facing as it does; none if they are those of the fan around its first corner.
pub(super) fn ears(face: &[u32], positions: &[Vec3]) -> Option<Vec<[u32; 3]>> {
    if face.len() == 3 || face.len() > MOST_CORNERS {
        return None;
    }
    let normal = area_vector(face, positions);
    let is_turned = |t: [u32; 3]| area_vector(&t, positions).dot(normal) < 0.0;
    if !(1..face.len() - 1).any(|i| is_turned([face[0], face[i], face[i + 1]])) {
        return None;
    }
    let (u, v) = normal.try_normalize()?.any_orthonormal_pair();
    let flat = face.iter().map(|&corner| positions[corner as usize] - positions[face[0] as usize]);
    let mut corners: Vec<u32> = Vec::new();
    Earcut::new().earcut(flat.map(|x| [x.dot(u), x.dot(v)]), &[], &mut corners);
    let (triangles, _) = corners.as_chunks::<3>();
    // Polygons that cross themselves have fewer.
    if triangles.len() != face.len() - 2 {
        return None;
    }
    let facing = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| face[i as usize]);
        if is_turned([a, b, c]) { [a, c, b] } else { [a, b, c] }
    };
    Some(triangles.iter().map(facing).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the areas of a polygon's triangles.
    fn area(points: &[Vec3]) -> (f64, bool) {
        let face: Vec<u32> = (0..points.len() as u32).collect();
        let normal = area_vector(&face, points);
        let triangles = ears(&face, points);
        let is_fan = triangles.is_none();
        let fan = || (1..face.len() - 1).map(|i| [face[0], face[i], face[i + 1]]).collect();
        let triangles = triangles.unwrap_or_else(fan);
        assert_eq!(triangles.len(), points.len() - 2);
        let areas = triangles.iter().map(|t| area_vector(t, points));
        assert!(areas.clone().all(|area| area.dot(normal) >= 0.0));
        (0.5 * areas.map(Vec3::length).sum::<f64>(), is_fan)
    }

    #[test]
    fn a_u_is_filled_and_not_its_notch_whatever_the_first_corner_and_the_plane() {
        let u = [[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]];
        for start in 0..8 {
            for (x, y) in [(Vec3::X, Vec3::Y), (Vec3::Z, Vec3::X), (-Vec3::X, Vec3::Y), (Vec3::Y, Vec3::X)] {
                let mut points: Vec<Vec3> = u.iter().map(|p| 5.0 + f64::from(p[0]) * x + f64::from(p[1]) * y).collect();
                points.rotate_left(start);
                assert!((area(&points).0 - 7.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_dart_is_cut_from_its_inner_corner_and_convex_polygons_stay_fans() {
        let dart = [Vec3::ZERO, Vec3::new(2.0, 1.0, 0.0), Vec3::new(0.5, 0.5, 0.0), Vec3::new(1.0, 2.0, 0.0)];
        let square = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y];
        let mut turned = dart;
        turned.rotate_left(1);
        assert!((area(&dart).0 - area(&turned).0).abs() < 1e-15);
        assert_eq!([area(&dart).1, area(&turned).1], [true, false]);
        assert_eq!(area(&square), (1.0, true));
    }

    #[test]
    fn polygons_without_a_sensible_shape_are_fans() {
        let bow = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y];
        let line = [Vec3::ZERO, Vec3::X, 2.0 * Vec3::X, Vec3::X, 0.5 * Vec3::X];
        for points in [&bow[..], &line, &[Vec3::ONE; 9]] {
            let face: Vec<u32> = (0..points.len() as u32).collect();
            assert!(ears(&face, points).is_none_or(|triangles| triangles.len() == points.len() - 2));
        }
    }
}
