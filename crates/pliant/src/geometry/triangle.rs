//! Queries of a single triangle: closest point, solid angle, intersections.

use crate::math::Vec3;

/// Three corners, counter-clockwise seen from outside.
pub type Triangle = [Vec3; 3];

/// Returns the area of a triangle times its unit normal.
pub fn area_vector([a, b, c]: Triangle) -> Vec3 {
    0.5 * (b - a).cross(c - a)
}

/// Returns the closest point on a triangle, by the Voronoi region that contains the point's projection \[Ericson2005,
/// section 5.1.5\].
pub fn nearest_on_triangle([a, b, c]: Triangle, p: Vec3) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * share(d1, d1 - d3);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * share(d2, d2 - d6);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return b + (c - b) * share(d4 - d3, (d4 - d3) + (d5 - d6));
    }
    let denominator = va + vb + vc;
    a + ab * share(vb, denominator) + ac * share(vc, denominator)
}

/// Returns `part / whole`, or zero if `whole` is zero.
fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

/// Returns the solid angle that a triangle subtends at `p`, positive from behind \[VanOosteromStrackee1983\]:
/// `tan ½Ω = det[a b c] / (abc + (a·b)c + (b·c)a + (c·a)b)`.
pub fn solid_angle(triangle: Triangle, p: Vec3) -> f64 {
    let [a, b, c] = triangle.map(|x| x - p);
    let [la, lb, lc] = [a, b, c].map(Vec3::length);
    let determinant = a.dot(b.cross(c));
    2.0 * determinant.atan2(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
}

/// Returns the parameter in \[0, 1\] at which the segment from `start` to `end` meets the triangle, from either side
/// \[MollerTrumbore1997\]. A segment in the plane of the triangle does not meet it.
pub(super) fn hit([a, b, c]: Triangle, start: Vec3, end: Vec3) -> Option<f64> {
    let (ab, ac, along) = (b - a, c - a, end - start);
    let normal = ab.cross(ac);
    let determinant = -normal.dot(along);
    // Sines below the rounding error count as zero.
    if determinant.abs() <= 4.0 * f64::EPSILON * normal.length() * along.length() {
        return None;
    }
    let from = start - a;
    let across = along.cross(from);
    let (u, v, t) = (-ac.dot(across) / determinant, ab.dot(across) / determinant, normal.dot(from) / determinant);
    // Edges belong to both adjacent triangles, so that no segment passes between them.
    let rim = -1e-12;
    (u >= rim && v >= rim && u + v <= 1.0 - rim && (0.0..=1.0).contains(&t)).then_some(t)
}

/// Returns true if two triangles intersect: an edge of one meets the other. Coplanar triangles do not intersect.
pub fn crosses(one: Triangle, other: Triangle) -> bool {
    let edges_meet = |of: Triangle, face: Triangle| (0..3).any(|i| hit(face, of[i], of[(i + 1) % 3]).is_some());
    edges_meet(one, other) || edges_meet(other, one)
}

/// Returns true if a triangle and a box intersect, by the separating axes of the box, the triangle and the cross
/// products of their edges \[AkenineMoller2001\].
pub(super) fn touches_box(triangle: Triangle, [low, high]: [Vec3; 2]) -> bool {
    let (center, half) = (0.5 * (low + high), 0.5 * (high - low));
    let [a, b, c] = triangle.map(|x| x - center);
    let apart = |axis: Vec3| {
        let [x, y, z] = [a, b, c].map(|p| p.dot(axis));
        let reach = half.dot(axis.abs());
        x.min(y).min(z) > reach || x.max(y).max(z) < -reach
    };
    let edges = [b - a, c - b, a - c];
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    !axes.into_iter().any(apart)
        && !apart(edges[0].cross(edges[1]))
        && !edges.iter().any(|edge| axes.iter().any(|axis| apart(axis.cross(*edge))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn random_vector(rng: &mut fastrand::Rng) -> Vec3 {
        2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE
    }

    fn random_triangle(rng: &mut fastrand::Rng) -> Triangle {
        [random_vector(rng), random_vector(rng), random_vector(rng)]
    }

    /// Returns points all over a triangle.
    fn samples(triangle: Triangle) -> impl Iterator<Item = Vec3> {
        let [a, b, c] = triangle;
        let n = 60;
        (0..=n).flat_map(move |i| {
            (0..=n - i).map(move |j| {
                let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                a + (b - a) * u + (c - a) * v
            })
        })
    }

    #[test]
    fn the_faces_of_a_cube_hide_the_whole_sphere_from_its_inside_and_nothing_from_outside() {
        let corner = |i: usize| Vec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64);
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let total = |p: Vec3| -> f64 {
            let fans = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
            fans.map(|t| solid_angle(t.map(corner), p)).sum()
        };
        assert!((total(Vec3::new(0.3, 0.2, 0.9)) - 4.0 * PI).abs() < 1e-12);
        assert!(total(Vec3::new(1.3, 0.2, 0.9)).abs() < 1e-12);
        assert!((solid_angle([0, 1, 3].map(corner), Vec3::new(0.5, 0.25, -1e-9)).abs() - 2.0 * PI).abs() < 1e-6);
    }

    #[test]
    fn the_nearest_place_is_no_farther_than_any_sample() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let (triangle, p) = (random_triangle(&mut rng), 2.0 * random_vector(&mut rng));
            let distance = nearest_on_triangle(triangle, p).distance(p);
            let sampled = samples(triangle).map(|x| x.distance(p)).fold(f64::INFINITY, f64::min);
            assert!(distance <= sampled + 1e-12 && sampled < distance + 0.1);
        }
    }

    #[test]
    fn segments_meet_triangles_where_they_were_aimed_at() {
        let mut rng = fastrand::Rng::with_seed(2);
        for _ in 0..500 {
            let triangle = random_triangle(&mut rng);
            let [a, b, c] = triangle;
            let (u, v) = (rng.f64() * 1.4 - 0.2, rng.f64() * 1.4 - 0.2);
            let (target, from, t) = (a + (b - a) * u + (c - a) * v, random_vector(&mut rng), 0.05 + 0.9 * rng.f64());
            let found = hit(triangle, from, from + (target - from) / t);
            if u > 0.0 && v > 0.0 && u + v < 1.0 {
                assert!((found.unwrap() - t).abs() < 1e-6);
                assert!(hit(triangle, from, from + (target - from) * 0.99).is_none());
            } else {
                assert_eq!(found, None);
            }
        }
    }

    #[test]
    fn a_box_is_touched_if_a_sample_is_in_it_and_not_if_all_are_far() {
        let mut rng = fastrand::Rng::with_seed(3);
        let (mut touching, mut apart) = (0, 0);
        for _ in 0..500 {
            let triangle = random_triangle(&mut rng);
            let low = random_vector(&mut rng);
            let high = low + 0.3 * (random_vector(&mut rng) + Vec3::ONE);
            let distance = samples(triangle).map(|x| x.distance(x.clamp(low, high))).fold(f64::INFINITY, f64::min);
            let touches = touches_box(triangle, [low, high]);
            if distance == 0.0 {
                touching += 1;
                assert!(touches);
            } else if distance > 0.1 {
                apart += 1;
                assert!(!touches);
            }
        }
        assert!(touching > 20 && apart > 50);
    }

    #[test]
    fn crossing_triangles_are_told_from_parted_ones() {
        let flat = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let upright = |shift: Vec3| {
            [Vec3::new(0.2, 0.2, -1.0), Vec3::new(0.2, 0.2, 1.0), Vec3::new(3.0, 0.3, 0.0)].map(|x| x + shift)
        };
        assert!(crosses(flat, upright(Vec3::ZERO)) && crosses(upright(Vec3::ZERO), flat));
        assert!(!crosses(flat, upright(1.1 * Vec3::Z)) && !crosses(flat, upright(Vec3::X)));
    }
}
