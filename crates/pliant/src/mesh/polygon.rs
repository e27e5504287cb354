//! Triangulation of non-convex polygons, which a fan of triangles does not fill.

use earcut::Earcut;

use crate::math::Vec3;

/// Maximum number of corners of a non-convex polygon: the search for ears can take quadratic time.
const MAX_CORNERS: usize = 20_000;

/// Maximum number of corners of a polygon cut into a fan: thousands of needles around one corner are slow to search.
const MAX_FAN: usize = 32;

/// Area, relative to a large convex polygon, below which its triangles may be reversed by rounding.
const ROUNDING: f64 = 1e-8;

/// Returns twice the area of a polygon times its normal: `Σ (xᵢ−x₀)×(xᵢ₊₁−x₀)`.
pub(super) fn area_vector(face: &[u32], positions: &[Vec3]) -> Vec3 {
    let at = |i: usize| positions[face[i] as usize];
    (1..face.len() - 1).map(|i| (at(i) - at(0)).cross(at(i + 1) - at(0))).sum()
}

/// Triangulation of a polygon: two triangles fewer than it has corners, facing as it does.
#[derive(Debug)]
pub(super) enum Triangulation {
    /// Fan around the first corner.
    Fan,
    /// List of triangles.
    Triangles(Vec<[u32; 3]>),
    /// More than `max` corners, too many to triangulate unless convex.
    TooLarge { max: usize },
}

pub(super) fn triangulated(face: &[u32], positions: &[Vec3]) -> Triangulation {
    if face.len() == 3 {
        return Triangulation::Fan;
    }
    let normal = area_vector(face, positions);
    let is_turned = |t: [u32; 3]| area_vector(&t, positions).dot(normal) < 0.0;
    if face.len() <= MAX_FAN && !(1..face.len() - 1).any(|i| is_turned([face[0], face[i], face[i + 1]])) {
        return Triangulation::Fan;
    }
    if face.len() > MAX_FAN {
        let halves = halved(face);
        // With rounded coordinates, no large polygon is exactly convex.
        let limit = -ROUNDING * normal.length_squared();
        if !halves.iter().any(|t| area_vector(t, positions).dot(normal) < limit) {
            return Triangulation::Triangles(halves);
        }
    }
    if face.len() > MAX_CORNERS {
        return Triangulation::TooLarge { max: MAX_CORNERS };
    }
    match ears(face, positions, normal) {
        Some(ears) => Triangulation::Triangles(ears),
        // For any triangulation, the areas of the reversed triangles cancel the excess of the others.
        None if face.len() > MAX_FAN => Triangulation::Triangles(halved(face)),
        None => Triangulation::Fan,
    }
}

/// Triangulates a convex polygon: one triangle with the corner halfway around, then both halves recursively. Each
/// triangle is about as long as the part of the outline that it cuts off, so that few of them are near any point.
fn halved(face: &[u32]) -> Vec<[u32; 3]> {
    let mut triangles = Vec::with_capacity(face.len() - 2);
    let mut open = vec![(0, face.len() - 1)];
    while let Some((first, last)) = open.pop() {
        if last - first < 2 {
            continue;
        }
        let middle = usize::midpoint(first, last);
        triangles.push([face[first], face[middle], face[last]]);
        open.push((first, middle));
        open.push((middle, last));
    }
    triangles
}

/// Triangulates a non-convex polygon; returns `None` if it intersects itself.
fn ears(face: &[u32], positions: &[Vec3], normal: Vec3) -> Option<Vec<[u32; 3]>> {
    let is_turned = |t: [u32; 3]| area_vector(&t, positions).dot(normal) < 0.0;
    let (u, v) = normal.try_normalize()?.any_orthonormal_pair();
    let flat = face.iter().map(|&corner| positions[corner as usize] - positions[face[0] as usize]);
    let mut corners: Vec<u32> = Vec::new();
    Earcut::new().earcut(flat.map(|x| [x.dot(u), x.dot(v)]), &[], &mut corners);
    let (triangles, _) = corners.as_chunks::<3>();
    // Polygons that intersect themselves have fewer.
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

    /// Sums the areas of a polygon's triangles.
    fn area(points: &[Vec3]) -> (f64, bool) {
        let face: Vec<u32> = (0..points.len() as u32).collect();
        let normal = area_vector(&face, points);
        let (triangles, is_fan) = match triangulated(&face, points) {
            Triangulation::Fan => ((1..face.len() - 1).map(|i| [face[0], face[i], face[i + 1]]).collect(), true),
            Triangulation::Triangles(triangles) => (triangles, false),
            Triangulation::TooLarge { max } => panic!("more than {max} corners"),
        };
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
            match triangulated(&face, points) {
                Triangulation::Fan => {}
                Triangulation::Triangles(triangles) => assert_eq!(triangles.len(), points.len() - 2),
                Triangulation::TooLarge { .. } => panic!("too large"),
            }
        }
    }

    /// Returns corners around the origin, at the distance that `radius` gives.
    fn around(count: usize, radius: impl Fn(usize) -> f64) -> Vec<Vec3> {
        let corner = |i: usize| {
            let (sin, cos) = (std::f64::consts::TAU * i as f64 / count as f64).sin_cos();
            radius(i) * Vec3::new(cos, sin, 0.0)
        };
        (0..count).map(corner).collect()
    }

    #[test]
    fn large_polygons_have_few_triangles_at_any_corner() {
        for count in [33, 1000, 600_000] {
            let points = around(count, |_| 1.0);
            let face: Vec<u32> = (0..count as u32).collect();
            let Triangulation::Triangles(triangles) = triangulated(&face, &points) else { panic!("a fan") };
            let mut uses = vec![0_u32; count];
            triangles.iter().flatten().for_each(|&corner| uses[corner as usize] += 1);
            assert!(uses.iter().all(|&uses| uses <= 2 * count.ilog2() + 2));
            let (filled, _) = area(&points);
            let exact = 0.5 * count as f64 * (std::f64::consts::TAU / count as f64).sin();
            assert!((filled - exact).abs() < 1e-9, "{filled} of {exact}");
        }
    }

    #[test]
    fn large_stars_are_filled_and_larger_ones_refused() {
        let star = |count: usize| around(count, |i| if i % 2 == 0 { 1.0 } else { 0.5 });
        let points = star(2000);
        // Areas of the triangles between the center and two neighbors.
        let exact = 0.5 * 2000.0 * 0.5 * (std::f64::consts::TAU / 2000.0).sin();
        assert!((area(&points).0 - exact).abs() < 1e-9);
        let points = star(MAX_CORNERS + 2);
        let face: Vec<u32> = (0..points.len() as u32).collect();
        assert!(matches!(triangulated(&face, &points), Triangulation::TooLarge { max: MAX_CORNERS }));
    }
}
