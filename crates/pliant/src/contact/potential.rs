//! Potential of a pair of primitives that are close to each other.
//!
//! `V = K m β(s)` with the barrier `β` of `s = (D − ξ²)/((ξ + d̂)² − ξ²)`, the squared distance `D`, the range `d̂` of the
//! barrier beyond the thickness `ξ` of the surfaces, the mollifier `m` of two edges and a scale `K` in joules. Without
//! thickness, `s = D/d̂²`. Its Hessian is a sum of few terms `σ q qᵀ`, which is what
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
    use crate::contact::testing::{REFERENCE_PAIRS, close_pair};

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

    #[test]
    fn gradients_and_hessians_agree_with_numbers_from_multiple_precision() {
        for case in REFERENCE_PAIRS {
            let scale = case.range.powi(4);
            let params = PairParams {
                kind: case.kind,
                scale,
                range: case.range,
                thickness: 0.0,
                mollifier_threshold: case.mollifier_threshold,
            };
            let potential = PairPotential::new(&params, &case.x).unwrap();
            let distance_squared = potential.closest().distance_squared();
            assert!((distance_squared / case.distance_squared - 1.0).abs() < 1e-9, "{}", case.name);
            assert!((potential.energy / case.energy - 1.0).abs() < 1e-9, "{}: {}", case.name, potential.energy);
            let gradient = flat(potential.gradient());
            let size = case.gradient.iter().fold(0.0_f64, |size, g| size.max(g.abs()));
            for (found, expected) in gradient.iter().zip(&case.gradient) {
                assert!((found - expected).abs() < 1e-9 * size, "{}: {found} {expected}", case.name);
            }
            let diagonal: [f64; 12] = {
                let hessian = hessian(&potential, Definiteness::Exact);
                std::array::from_fn(|i| hessian[i][i])
            };
            let size = case.hessian_diagonal.iter().fold(0.0_f64, |size, h| size.max(h.abs()));
            for (found, expected) in diagonal.iter().zip(&case.hessian_diagonal) {
                assert!((found - expected).abs() < 1e-9 * size, "{}: {found} {expected}", case.name);
            }
        }
    }
}
