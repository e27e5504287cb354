//! Coulomb friction as a dissipative potential of the sliding velocity.
//!
//! With the coefficients `c` of the closest points, the sliding velocity of a pair is `u = T Σ cᵢ vᵢ`, `T = I − nnᵀ`.
//! The potential `N F(|u|)` with `F′(y) = μ(y) f₁(y/ε)` and `f₁(z) = 2z − z²` for `z < 1`, 1 beyond, has the gradient
//! `μ N f₁ u/|u|`: Coulomb's law for sliding speeds above `ε`, and a smooth transition through zero below
//! \[LiFergusonSchneider2020\]. The normal force `N`, the normal `n` and the coefficients `c` are constants of the
//! potential.
//!
//! The coefficient decreases from the static one `μₛ` at rest to the kinetic one `μₖ` at `ε`:
//! `μ(y) = μₛ − (μₛ − μₖ) S(y/ε)` with `S(z) = 2z²` for `z < ½` and `1 − 2(1 − z)²` above.

use crate::math::Vec3;

/// Coefficients of friction of a pair of materials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Friction {
    /// Static coefficient `μₛ`.
    pub static_coefficient: f64,
    /// Kinetic coefficient `μₖ`, at most the static one.
    pub kinetic_coefficient: f64,
    /// Sliding speed `ε` below which friction decreases smoothly to zero \[m/s\].
    pub speed: f64,
}

impl Default for Friction {
    /// No friction.
    fn default() -> Self {
        Self::new(0.0)
    }
}

impl Friction {
    /// Sliding speed below which friction decreases to zero by default \[m/s\].
    pub const SPEED: f64 = 1e-3;

    /// Creates friction with equal coefficients for rest and sliding.
    pub fn new(coefficient: f64) -> Self {
        Self { static_coefficient: coefficient, kinetic_coefficient: coefficient, speed: Self::SPEED }
    }

    /// Returns the potential `F(y)` of a sliding speed per normal force \[m/s\]. It is `μₖ y` for `y ≥ ε`.
    pub fn potential(&self, y: f64) -> f64 {
        let (mu_s, mu_k) = (self.static_coefficient, self.kinetic_coefficient);
        let drop = mu_s - mu_k;
        let z = y / self.speed;
        if z >= 1.0 {
            return mu_k * y;
        }
        // Integrals of μ f₁ from z to 1 in terms of w = 1 − z, and from 0 to z.
        let upper = |w: f64| mu_k * (w - w.powi(3) / 3.0) + 2.0 * drop * (w.powi(3) / 3.0 - w.powi(5) / 5.0);
        let lower = |z: f64| mu_s * (z * z - z.powi(3) / 3.0) - drop * (z.powi(4) - 0.4 * z.powi(5));
        let integral = if z < 0.5 { upper(0.5) + lower(0.5) - lower(z) } else { upper(1.0 - z) };
        self.speed * (mu_k - integral)
    }

    /// Returns `μ(y) f₁(y/ε)`, the friction force per normal force.
    pub fn force(&self, y: f64) -> f64 {
        y * self.force_over_speed(y)
    }

    /// Returns the friction force per normal force and sliding speed \[s/m\], which is finite at rest.
    pub fn force_over_speed(&self, y: f64) -> f64 {
        let z = y / self.speed;
        if z >= 1.0 { self.kinetic_coefficient / y } else { self.coefficient(z) * (2.0 - z) / self.speed }
    }

    /// Returns the derivative of the friction force per normal force with respect to the sliding speed \[s/m\]. It is
    /// negative where the coefficient decreases faster than `f₁` increases.
    pub fn derivative(&self, y: f64) -> f64 {
        let z = y / self.speed;
        if z >= 1.0 {
            return 0.0;
        }
        let slope =
            -(self.static_coefficient - self.kinetic_coefficient) * if z < 0.5 { 4.0 * z } else { 4.0 * (1.0 - z) };
        (slope * (2.0 - z) * z + self.coefficient(z) * 2.0 * (1.0 - z)) / self.speed
    }

    /// Returns `μ` at `z = y/ε < 1`.
    fn coefficient(&self, z: f64) -> f64 {
        let (mu_s, mu_k) = (self.static_coefficient, self.kinetic_coefficient);
        // Each half from the coefficient that it is near to.
        if z < 0.5 { mu_s - (mu_s - mu_k) * 2.0 * z * z } else { mu_k + (mu_s - mu_k) * 2.0 * (1.0 - z) * (1.0 - z) }
    }
}

/// Sliding contact of a pair: what is constant in the friction potential.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sliding {
    /// Coefficients `c` of the closest points.
    pub coefficients: [f64; 4],
    /// Unit normal `n`.
    pub normal: Vec3,
    /// Normal force `N` \[N\].
    pub normal_force: f64,
}

impl Sliding {
    /// Returns the sliding velocity `u` for velocities of the four vertices.
    pub fn velocity(&self, v: &[Vec3; 4]) -> Vec3 {
        let relative: Vec3 = self.coefficients.iter().zip(v).map(|(&c, &v)| c * v).sum();
        relative - self.normal * self.normal.dot(relative)
    }

    /// Returns the potential of velocities \[W\].
    pub fn potential(&self, friction: &Friction, v: &[Vec3; 4]) -> f64 {
        self.normal_force * friction.potential(self.velocity(v).length())
    }

    /// Returns the gradient of the potential with respect to the velocities \[N\]: minus the friction forces.
    pub fn gradient(&self, friction: &Friction, v: &[Vec3; 4]) -> [Vec3; 4] {
        let u = self.velocity(v);
        let force = self.normal_force * friction.force_over_speed(u.length()) * u;
        self.coefficients.map(|c| c * force)
    }

    /// Returns two terms `σ q qᵀ` whose sum is the Hessian of the potential with respect to the velocities, along and
    /// across the sliding direction. The factor of the first is negative where friction decreases with speed.
    pub fn hessian_terms(&self, friction: &Friction, v: &[Vec3; 4]) -> [(f64, [Vec3; 4]); 2] {
        let u = self.velocity(v);
        let speed = u.length();
        let along = if speed > 0.0 { u / speed } else { self.normal.any_orthonormal_vector() };
        let across = self.normal.cross(along);
        let term =
            |factor: f64, direction: Vec3| (self.normal_force * factor, self.coefficients.map(|c| c * direction));
        [term(friction.derivative(speed), along), term(friction.force_over_speed(speed), across)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::ClosestPoints;
    use crate::contact::barrier::barrier;
    use crate::contact::testing::{lower_triangle, random_vector, reference_cases, relative_difference};

    const RUBBER: Friction = Friction { static_coefficient: 0.5, kinetic_coefficient: 0.3, speed: 1e-3 };

    #[test]
    fn potential_and_force_have_the_values_of_another_implementation() {
        let mut count = 0;
        for case in reference_cases(include_str!("../../tests/data/contact/scalars.txt")) {
            let Some(y) = case.words("y").map(|_| case.number("y")) else { continue };
            let unit = Friction { static_coefficient: 1.0, kinetic_coefficient: 1.0, speed: case.number("speed") };
            let smooth = Friction { static_coefficient: 0.5, kinetic_coefficient: 0.3, ..unit };
            let mut numbers = vec![
                ("f0", unit.potential(y)),
                ("f1", unit.force(y)),
                ("f2", unit.derivative(y)),
                ("f1-over-y", unit.force_over_speed(y)),
                ("smooth-f0", smooth.potential(y)),
                ("smooth-f1", smooth.force(y)),
            ];
            if y < unit.speed {
                numbers.push(("smooth-mu", smooth.coefficient(y / unit.speed)));
            }
            for (key, found) in numbers {
                let expected = case.number(key);
                assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{key} at {y}: {found} {expected}");
            }
            count += 1;
        }
        assert_eq!(count, 8);
    }

    #[test]
    fn friction_of_pairs_agrees_with_another_implementation() {
        let mut count = 0;
        for case in reference_cases(include_str!("../../tests/data/contact/friction.txt")) {
            let (name, x, v) = (case.name, case.points("x"), case.points("velocity"));
            let mut coefficients = [0.0; 4];
            for (vertex, weight) in case.numbers("vertices").into_iter().zip(case.numbers("weights")) {
                coefficients[vertex as usize] = weight;
            }
            let offset: Vec3 = coefficients.iter().zip(x).map(|(&c, x)| c * x).sum();
            let d = offset.length();
            assert!((d * d / case.number("distance-squared") - 1.0).abs() < 1e-10, "{name}");
            if matches!(case.word("kind"), "fv" | "ee") {
                let closest = ClosestPoints::new(case.kind(), &x);
                for (found, expected) in closest.coefficients.iter().zip(coefficients) {
                    assert!((found.abs() - expected.abs()).abs() < 1e-10, "{name}");
                }
            }
            let range = case.number("range");
            let slope = 2.0 * d * range * range * barrier(d * d / (range * range)).first;
            let normal_force = -case.number("stiffness") * slope;
            assert!((normal_force / case.number("normal-force") - 1.0).abs() < 1e-10, "{name}: {normal_force}");
            let sliding = Sliding { coefficients, normal: offset / d, normal_force };
            let friction = Friction {
                static_coefficient: case.number("static"),
                kinetic_coefficient: case.number("kinetic"),
                speed: case.number("speed"),
            };
            let slip = case.numbers("slip").iter().map(|slip| slip * slip).sum::<f64>().sqrt();
            assert!((sliding.velocity(&v).length() - slip).abs() <= 1e-10 * slip, "{name}");
            let potential = sliding.potential(&friction, &v);
            assert!((potential / case.number("potential") - 1.0).abs() < 1e-10, "{name}: {potential}");
            let flat = |vectors: [Vec3; 4]| -> [f64; 12] { std::array::from_fn(|i| vectors[i / 3][i % 3]) };
            let gradient = flat(sliding.gradient(&friction, &v));
            assert!(relative_difference(&gradient, &case.numbers("gradient")) < 1e-10, "{name}");
            let mut hessian = [[0.0; 12]; 12];
            for (factor, vector) in sliding.hessian_terms(&friction, &v) {
                let q = flat(vector);
                (0..144).for_each(|k| hessian[k / 12][k % 12] += factor * q[k / 12] * q[k % 12]);
            }
            let off = relative_difference(&lower_triangle(&hessian), &case.numbers("hessian"));
            assert!(off < 1e-10, "{name}: Hessian is off by {off}");
            count += 1;
        }
        assert_eq!(count, 42);
    }

    #[test]
    fn forces_are_derivatives_of_the_potential_and_meet_coulombs_law_when_sliding() {
        for friction in [RUBBER, Friction { static_coefficient: 0.3, ..RUBBER }] {
            for step in 1..400 {
                let (y, h) = (5e-6 * f64::from(step) + 1.3e-6, 1e-8);
                let difference = |f: &dyn Fn(f64) -> f64| (f(y + h) - f(y - h)) / (2.0 * h);
                assert!((difference(&|y| friction.potential(y)) - friction.force(y)).abs() < 1e-7, "{y}");
                let slope = difference(&|y| friction.force(y));
                assert!((slope - friction.derivative(y)).abs() < 2e-2, "{y}: {slope} {}", friction.derivative(y));
            }
            assert_eq!(friction.force(1.0), friction.kinetic_coefficient);
            assert_eq!(friction.force(0.0), 0.0);
            assert!((friction.force_over_speed(0.0) - 2.0 * friction.static_coefficient / friction.speed).abs() < 1e-9);
        }
    }

    #[test]
    fn gradient_and_hessian_terms_are_derivatives_of_the_potential_of_velocities() {
        let mut random = fastrand::Rng::with_seed(6);
        for case in 0..200 {
            let [s, r] = [random.f64(), random.f64()];
            let sliding = Sliding {
                coefficients: [1.0 - s, s, r - 1.0, -r],
                normal: random_vector(&mut random).normalize(),
                normal_force: 7.0,
            };
            // At rest, below and above the speed of full friction.
            let size = [0.0, 2e-4, 3e-3][case % 3];
            let v: [Vec3; 4] = std::array::from_fn(|_| size * random_vector(&mut random));
            let moved = |coordinate: usize, step: f64| {
                let mut moved = v;
                moved[coordinate / 3][coordinate % 3] += step;
                moved
            };
            let h = 1e-8;
            let terms = sliding.hessian_terms(&RUBBER, &v);
            let gradient = sliding.gradient(&RUBBER, &v);
            for i in 0..12 {
                let (ahead, behind) = (moved(i, h), moved(i, -h));
                let slope = (sliding.potential(&RUBBER, &ahead) - sliding.potential(&RUBBER, &behind)) / (2.0 * h);
                assert!((slope - gradient[i / 3][i % 3]).abs() < 1e-5, "{slope} {}", gradient[i / 3][i % 3]);
                let (ahead, behind) = (sliding.gradient(&RUBBER, &ahead), sliding.gradient(&RUBBER, &behind));
                for j in 0..12 {
                    let slope = (ahead[j / 3][j % 3] - behind[j / 3][j % 3]) / (2.0 * h);
                    let sum: f64 = terms.iter().map(|(f, q)| f * q[i / 3][i % 3] * q[j / 3][j % 3]).sum();
                    assert!((slope - sum).abs() < 1e-3 * 7.0 * 2.0 * 0.5 / 1e-3, "{case}: {slope} {sum}");
                }
            }
            // Forces cancel, and have no part along the normal.
            assert!(gradient.iter().sum::<Vec3>().length() < 1e-12);
            assert!(gradient.iter().all(|g| g.dot(sliding.normal).abs() < 1e-12));
        }
    }
}
