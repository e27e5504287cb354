//! Potential of a pair of primitives that are close to each other.
//!
//! `V = K m β(s)` with the barrier `β` of `s = (D − ξ²)/((ξ + d̂)² − ξ²)`, the squared distance `D`, the range `d̂` of
//! the barrier beyond the thickness `ξ` of the surfaces, the mollifier `m` of two edges and a scale `K` in joules.
//! Without thickness, `s = D/d̂²`. Its Hessian is a sum of few terms `σ q qᵀ`, which is what
//! [`LowRank`](crate::sparse::LowRank) matrices consist of.

use super::barrier::{Mollifier, barrier};
use super::distance::{ClosestPoints, PairKind, Tangent};
use crate::material::Definiteness;
use crate::math::Vec3;

/// Parameters of the potential of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairParams {
    /// Kind of the pair.
    pub kind: PairKind,
    /// Scale `K` of the energy \[J\].
    pub scale: f64,
    /// Gap `d̂` from which on the pair interacts \[m\].
    pub range: f64,
    /// Distance `ξ` at which the surfaces touch \[m\].
    pub thickness: f64,
    /// Threshold `ε` of the [`Mollifier`] of two edges \[m⁴\]; not used for a point and a triangle.
    pub mollifier_threshold: f64,
}

/// Potential of a pair at a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairPotential {
    /// Energy `V` \[J\].
    pub energy: f64,
    /// Energy without the mollifier, and its derivatives with respect to `D`.
    plain: [f64; 3],
    closest: ClosestPoints,
    mollifier: Option<Mollifier>,
}

/// Term `σ q qᵀ` of a Hessian: its factor `σ`, and `q` in blocks of the four vertices.
pub type RankOne = (f64, [Vec3; 4]);

impl PairPotential {
    /// Computes the potential, or returns `None` if the pair is out of range. The energy at zero distance is infinite,
    /// except for that of parallel edges, whose vertices are in other pairs.
    pub fn new(params: &PairParams, x: &[Vec3; 4]) -> Option<Self> {
        let closest = ClosestPoints::new(params.kind, x);
        let span = params.range * (params.range + 2.0 * params.thickness);
        let s = (closest.distance_squared() - params.thickness * params.thickness) / span;
        if s >= 1.0 || span == 0.0 {
            return None;
        }
        let mollifier = match params.kind {
            PairKind::PointTriangle => None,
            // An edge of zero length at rest is a vertex.
            PairKind::EdgeEdge if params.mollifier_threshold == 0.0 => return None,
            PairKind::EdgeEdge => Mollifier::new(x, params.mollifier_threshold),
        };
        let factor = mollifier.map_or(1.0, |mollifier| mollifier.value);
        if factor == 0.0 {
            // Also at zero distance, where the barrier is infinite.
            return None;
        }
        let b = barrier(s);
        let plain = [b.value, b.first / span, b.second / (span * span)];
        let plain = plain.map(|derivative| params.scale * derivative);
        Some(Self { energy: factor * plain[0], plain, closest, mollifier })
    }

    /// Returns the closest points.
    pub fn closest(&self) -> &ClosestPoints {
        &self.closest
    }

    fn mollifier_value(&self) -> f64 {
        self.mollifier.map_or(1.0, |mollifier| mollifier.value)
    }

    /// Returns the normal force `N = −∂V/∂d` \[N\].
    pub fn normal_force(&self) -> f64 {
        -2.0 * self.closest.distance() * self.mollifier_value() * self.plain[1]
    }

    /// Returns the gradient with respect to the four vertices.
    pub fn gradient(&self) -> [Vec3; 4] {
        let first = self.mollifier_value() * self.plain[1];
        let by_distance = self.closest.gradient().map(|g| first * g);
        match &self.mollifier {
            None => by_distance,
            Some(m) => std::array::from_fn(|i| by_distance[i] + self.plain[0] * m.gradient[i]),
        }
    }

    /// Calls `add` with terms whose sum is the Hessian with respect to the four vertices, or a positive semidefinite
    /// approximation of it: the exact curvature along the normal `n`, which is positive.
    ///
    /// With tangents `e` and the derivatives `V′` and `V″` with respect to the distance `d`, the Hessian without a
    /// mollifier is `V″ (cᵢ n)(cⱼ n)ᵀ + V′/d Σ ((cᵢ e)(cⱼ e)ᵀ − gᵢ gⱼᵀ)`, where `gᵢ = cᵢ e + (mᵢ·e) t` for free
    /// tangents and 0 for others.
    pub fn stiffness_terms(&self, definiteness: Definiteness, mut add: impl FnMut(RankOne)) {
        let factor = self.mollifier_value();
        let (first, second) = (factor * self.plain[1], factor * self.plain[2]);
        let (c, t) = (self.closest.coefficients, self.closest.offset);
        // V″ = 4 D ∂²V/∂D² + 2 ∂V/∂D, and V′/d = 2 ∂V/∂D.
        let distance_squared = self.closest.distance_squared();
        let along = 4.0 * second + 2.0 * first / distance_squared;
        add((along, c.map(|c| c * t)));
        if definiteness == Definiteness::Projected {
            return;
        }
        for Tangent { direction, turning } in self.closest.tangents() {
            add((2.0 * first, c.map(|c| c * direction)));
            if let Some(turning) = turning {
                add((-2.0 * first, std::array::from_fn(|i| c[i] * direction + turning[i] * t)));
            }
        }
        if let Some(m) = &self.mollifier {
            // ∇m ∇bᵀ + ∇b ∇mᵀ = ½ (∇m + ∇b)(∇m + ∇b)ᵀ − ½ (∇m − ∇b)(∇m − ∇b)ᵀ
            let b = self.closest.gradient().map(|g| self.plain[1] * g);
            // In units in which both are about equal, for the sake of rounding.
            let size = |v: &[Vec3; 4]| v.iter().map(|v| v.length_squared()).sum::<f64>().sqrt();
            let ratio = size(&m.gradient) / size(&b);
            if ratio > 0.0 && ratio.is_finite() {
                add((0.5 / ratio, std::array::from_fn(|i| m.gradient[i] + ratio * b[i])));
                add((-0.5 / ratio, std::array::from_fn(|i| m.gradient[i] - ratio * b[i])));
            }
            m.hessian_terms(|(factor, vector)| add((self.plain[0] * factor, vector)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::testing::{Case, close_pair, lower_triangle, reference_cases, relative_difference};

    fn flat(vectors: [Vec3; 4]) -> [f64; 12] {
        std::array::from_fn(|i| vectors[i / 3][i % 3])
    }

    fn hessian(potential: &PairPotential, definiteness: Definiteness) -> [[f64; 12]; 12] {
        let mut sum = [[0.0; 12]; 12];
        potential.stiffness_terms(definiteness, |(factor, vector)| {
            let q = flat(vector);
            for i in 0..12 {
                for j in 0..12 {
                    sum[i][j] += factor * q[i] * q[j];
                }
            }
        });
        sum
    }

    fn moved(x: &[Vec3; 4], coordinate: usize, step: f64) -> [Vec3; 4] {
        let mut moved = *x;
        moved[coordinate / 3][coordinate % 3] += step;
        moved
    }

    #[test]
    fn gradients_and_hessians_are_derivatives_of_the_energy_for_all_kinds_of_pairs() {
        let mut random = fastrand::Rng::with_seed(1);
        let (mut counts, mut mollified) = ([0; 6], 0);
        for case in 0..3000 {
            let kind = if case % 2 == 0 { PairKind::PointTriangle } else { PairKind::EdgeEdge };
            let x = close_pair(kind, &mut random);
            let thickness = [0.0, 0.02][case / 2 % 2];
            let params = PairParams { kind, scale: 3.0, range: 0.3, thickness, mollifier_threshold: 1e-3 };
            let Some(potential) = PairPotential::new(&params, &x) else { continue };
            let free = potential.closest().free_count();
            let is_mollified = potential.mollifier.is_some();
            // Differences are inaccurate where the barrier is steep, and at changes of the closest features.
            let h = 1e-6;
            let near = |sign: f64| (0..12).map(move |i| moved(&x, i, sign * 10.0 * h));
            let is_smooth = near(1.0).chain(near(-1.0)).all(|y| {
                PairPotential::new(&params, &y)
                    .is_some_and(|near| near.closest().free_count() == free && near.mollifier.is_some() == is_mollified)
            });
            if potential.closest().distance() < 0.05 || !is_smooth {
                continue;
            }
            counts[3 * (case % 2) + free] += 1;
            mollified += usize::from(is_mollified);
            let gradient = flat(potential.gradient());
            let exact = hessian(&potential, Definiteness::Exact);
            let size = exact.iter().flatten().fold(1.0_f64, |size, entry| size.max(entry.abs()));
            for i in 0..12 {
                let ahead = PairPotential::new(&params, &moved(&x, i, h)).unwrap();
                let behind = PairPotential::new(&params, &moved(&x, i, -h)).unwrap();
                let slope = (ahead.energy - behind.energy) / (2.0 * h);
                assert!((slope - gradient[i]).abs() < 1e-7 * size, "{kind:?} {free} {slope} {}", gradient[i]);
                let (ahead, behind) = (flat(ahead.gradient()), flat(behind.gradient()));
                for j in 0..12 {
                    let slope = (ahead[j] - behind[j]) / (2.0 * h);
                    assert!((slope - exact[i][j]).abs() < 1e-5 * size, "{kind:?} {free} {slope} {}", exact[i][j]);
                }
            }
        }
        assert!(counts.iter().all(|count| *count > 20) && mollified > 20, "{counts:?} {mollified}");
    }

    #[test]
    fn projected_stiffness_is_the_curvature_along_the_normal_which_is_positive() {
        let mut random = fastrand::Rng::with_seed(2);
        let mut count = 0;
        for case in 0..1000 {
            let kind = if case % 2 == 0 { PairKind::PointTriangle } else { PairKind::EdgeEdge };
            let x = close_pair(kind, &mut random);
            let params = PairParams { kind, scale: 3.0, range: 0.5, thickness: 0.0, mollifier_threshold: 1e-6 };
            let Some(potential) = PairPotential::new(&params, &x).filter(|p| p.mollifier.is_none()) else { continue };
            let distance = potential.closest().distance();
            let energy = |d: f64| params.scale * barrier((d / params.range).powi(2)).value;
            let h = 1e-3 * distance;
            let curvature = (energy(distance + h) - 2.0 * energy(distance) + energy(distance - h)) / (h * h);
            let mut terms = Vec::new();
            potential.stiffness_terms(Definiteness::Projected, |term| terms.push(term));
            let [(factor, vector)] = terms[..] else { panic!("{terms:?}") };
            let along = factor * distance * distance;
            assert!(factor > 0.0 && (along - curvature).abs() < 1e-4 * along.max(1.0), "{along} {curvature}");
            let c = potential.closest().coefficients;
            assert_eq!(vector, c.map(|c| c * potential.closest().offset));
            count += 1;
        }
        assert!(count > 300, "{count}");
    }

    /// Cases of points and triangles, and of edges.
    fn pair_cases() -> impl Iterator<Item = (PairKind, Case)> {
        let points = include_str!("../../tests/data/contact/point_triangle.txt");
        let edges = include_str!("../../tests/data/contact/edge_edge.txt");
        let of = |kind, file| reference_cases(file).into_iter().map(move |case| (kind, case));
        of(PairKind::PointTriangle, points).chain(of(PairKind::EdgeEdge, edges))
    }

    /// Returns which vertices span closest features such as `P_E0` or `EA_EB1`.
    fn spanning(features: &str) -> [bool; 4] {
        let vertices: &[usize] = match features {
            "P_T" | "EA_EB" => &[0, 1, 2, 3],
            "P_E0" | "EA_EB0" => &[0, 1, 2],
            "P_E1" | "EA0_EB" => &[0, 2, 3],
            "P_E2" | "EA_EB1" => &[0, 1, 3],
            "P_T0" => &[0, 1],
            "P_T1" | "EA0_EB0" => &[0, 2],
            "P_T2" | "EA0_EB1" => &[0, 3],
            "EA1_EB" => &[1, 2, 3],
            "EA1_EB0" => &[1, 2],
            "EA1_EB1" => &[1, 3],
            _ => panic!("{features}"),
        };
        std::array::from_fn(|i| vertices.contains(&i))
    }

    /// Returns the Hessian of the squared distance: the energy of the terms of [`PairPotential::stiffness_terms`] with
    /// `V″ = V′/d = 2`.
    fn distance_hessian(closest: &ClosestPoints) -> [[f64; 12]; 12] {
        let (c, t) = (closest.coefficients, closest.offset);
        let normal = t.normalize();
        let mut terms = vec![(2.0, c.map(|c| c * normal))];
        for Tangent { direction, turning } in closest.tangents() {
            terms.push((2.0, c.map(|c| c * direction)));
            if let Some(turning) = turning {
                terms.push((-2.0, std::array::from_fn(|i| c[i] * direction + turning[i] * t)));
            }
        }
        let mut sum = [[0.0; 12]; 12];
        for (factor, vector) in terms {
            let q = flat(vector);
            (0..144).for_each(|k| sum[k / 12][k % 12] += factor * q[k / 12] * q[k % 12]);
        }
        sum
    }

    /// Returns the accuracy that doubles permit in a case.
    fn accuracy(name: &str) -> f64 {
        let is_hard = ["almost_touching", "needle", "nearly_parallel", "inside_h1e-07", "crossing_h1e-07"];
        if is_hard.iter().any(|hard| name.starts_with(hard)) { 1e-5 } else { 1e-9 }
    }

    #[test]
    fn distances_and_their_derivatives_agree_with_numbers_from_multiple_precision() {
        let (mut count, mut hessians) = (0, 0);
        for (kind, case) in pair_cases() {
            let (name, tolerance) = (case.name, accuracy(case.name));
            let closest = ClosestPoints::new(kind, &case.points("x"));
            let expected = case.number("distance-squared");
            assert!((closest.distance_squared() / expected - 1.0).abs() < tolerance, "{name}");
            count += 1;
            // The gradient at an angle of 1e-8 is that of the ends, as in ipctk.
            if name == "nearly_parallel_1e-08" {
                continue;
            }
            let found = closest.coefficients.map(|c| c != 0.0);
            let features = case.words("closest").unwrap();
            assert!(features.iter().any(|features| spanning(features) == found), "{name}: {found:?}");
            // At ties the derivatives are those of the first features.
            if spanning(features[0]) == found {
                let off = relative_difference(&flat(closest.gradient()), &case.numbers("gradient"));
                assert!(off < tolerance, "{name}: gradient is off by {off}");
                let lower = lower_triangle(&distance_hessian(&closest));
                let off = relative_difference(&lower, &case.numbers("hessian"));
                assert!(off < tolerance, "{name}: Hessian is off by {off}");
                hessians += 1;
            }
        }
        assert_eq!(count, 45);
        assert!(hessians >= 40, "{hessians}");
    }

    #[test]
    fn mollifiers_agree_with_numbers_from_multiple_precision() {
        let mut count = 0;
        for (_, case) in pair_cases().filter(|(_, case)| case.words("mollifier").is_some()) {
            let (name, rest) = (case.name, case.points("rest"));
            let threshold = Mollifier::threshold(rest[0].distance_squared(rest[1]), rest[2].distance_squared(rest[3]));
            assert!((threshold / case.number("mollifier-threshold") - 1.0).abs() < 1e-14, "{name}");
            let Some(mollifier) = Mollifier::new(&case.points("x"), threshold) else {
                assert_eq!(case.number("mollifier"), 1.0, "{name}");
                continue;
            };
            let off = (mollifier.value - case.number("mollifier")).abs();
            assert!(off <= accuracy(name) * case.number("mollifier"), "{name}: {off}");
            let expected = case.numbers("mollifier-gradient");
            assert!(relative_difference(&flat(mollifier.gradient), &expected) < accuracy(name), "{name}");
            count += 1;
        }
        assert!(count >= 8, "{count}");
    }

    #[test]
    fn energies_and_their_derivatives_agree_with_numbers_from_multiple_precision() {
        let mut count = 0;
        for (kind, case) in pair_cases().filter(|(_, case)| case.words("barrier").is_some()) {
            let (name, tolerance, range) = (case.name, accuracy(case.name), case.number("range"));
            let scale = range.powi(4);
            let mollifier_threshold = case.words("mollifier-threshold").map_or(0.0, |word| word[0].parse().unwrap());
            let params = PairParams { kind, scale, range, thickness: 0.0, mollifier_threshold };
            let expected = case.number("barrier");
            let Some(potential) = PairPotential::new(&params, &case.points("x")) else {
                // Out of range, or exactly parallel, where the mollifier and its gradient are zero. Its Hessian is not,
                // but the ends of the edges, which are in other pairs, are as close.
                assert!(expected.abs() <= 1e-12 * scale, "{name}");
                assert!(case.numbers("barrier-gradient").iter().all(|g| g.abs() <= 1e-12 * scale / range), "{name}");
                continue;
            };
            // Just within the range the difference of D and its bound has few digits.
            let tolerance = if name == "just_active" { 1e-8 } else { tolerance };
            assert!((potential.energy / expected - 1.0).abs() < tolerance, "{name}: {}", potential.energy);
            count += 1;
            if name == "nearly_parallel_1e-08" {
                continue;
            }
            let off = relative_difference(&flat(potential.gradient()), &case.numbers("barrier-gradient"));
            assert!(off < tolerance, "{name}: gradient is off by {off}");
            let found = potential.closest().coefficients.map(|c| c != 0.0);
            if spanning(case.word("closest")) == found {
                let lower = lower_triangle(&hessian(&potential, Definiteness::Exact));
                let off = relative_difference(&lower, &case.numbers("barrier-hessian"));
                assert!(off < tolerance, "{name}: Hessian is off by {off}");
            }
        }
        assert!(count >= 35, "{count}");
    }
}
