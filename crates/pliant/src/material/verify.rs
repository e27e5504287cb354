//! Verification of a law: derivatives, symmetries, rest state, small strains.

use thiserror::Error;

use super::points::LawFacts;
use super::semidefinite::clamp_eigenvalues;
use super::{AnyLaw, Definiteness, Inversion, LANES, Law, LawVisitor, Material, Points, TANGENT_INDEX, YoungPoisson};
use crate::math::matrix::Matrix9;
use crate::math::{Lanes, Matrix, Real, SignedSvd};

/// Number of random states per check.
const STATES: usize = 60;

/// Tolerance for derivatives against central differences, relative to the size of the differentiated quantity. Rounding
/// limits the best of several steps to about 1e-10.
const DERIVATIVE: f64 = 2e-8;

/// Tolerance for identities that are exact up to rounding.
const EXACT: f64 = 1e-11;

/// Failed check of a law.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{check}: relative error {error:e}, expected at most {tolerance:e}, at F = {state:?}")]
#[non_exhaustive]
pub struct Violation {
    /// Name of the check.
    pub check: &'static str,
    /// Error, relative to the size of the quantity.
    pub error: f64,
    /// Maximum error allowed.
    pub tolerance: f64,
    /// Deformation gradient, row by row.
    pub state: [[f64; 3]; 3],
}

/// Checks that `law` is a hyperelastic law with these small-strain moduli, isotropic unless declared otherwise:
///
/// - `P` is the derivative of `ψ` and `A` is the derivative of `P`, by central differences over random states: near
///   rest, far from it and, where the law is defined, inverted;
/// - `A` is symmetric, and computing `P` and `A` together gives equal results;
/// - `ψ(QF) = ψ(F)` and `P(QF) = Q P(F)` for rotations, unless declared otherwise; `ψ(FQ) = ψ(F)` and `P(FQ) = P(F) Q`;
/// - at rest there is no energy and no stress, and `A` is Hooke's law, except for an anisotropic law, for which the
///   moduli only set the scale;
/// - lanes and scalars agree up to rounding (iterations continue until the last lane has converged).
pub fn verify<L: Law>(law: &L, moduli: YoungPoisson) -> Result<(), Violation> {
    check_rest(law, moduli)?;
    let mut random = Random(1);
    for i in 0..STATES {
        let f = random.state(i, L::DEFINED_INVERTED);
        check_derivatives(law, &f)?;
        check_symmetries(law, &f, &random.rotation())?;
        check_lanes(law, &f)?;
    }
    Ok(())
}

/// Runs [`verify`] on a law chosen at run time.
pub fn verify_any(law: &AnyLaw, moduli: YoungPoisson) -> Result<(), Violation> {
    struct Verify(YoungPoisson);
    impl LawVisitor for Verify {
        type Output = Result<(), Violation>;
        fn visit<L: Law + 'static>(self, law: &L) -> Self::Output {
            verify(law, self.0)
        }
    }
    law.visit(Verify(moduli))
}

/// Checks a material, including inverted states:
///
/// - where no stretch is below the threshold of its inversion handling, energy, stress and tangent are those of the
///   law;
/// - the stress is the derivative of the energy and the tangent is the derivative of the stress, unless the law
///   declares otherwise or stretches are clamped; with clamping, the stress is that of the clamped stretches;
/// - the projected tangent is the exact one with its negative eigenvalues raised to zero;
/// - the stress is bitwise equal with and without a tangent.
///
/// A law without inversion handling is checked in inverted states only if it is defined there.
pub fn verify_elasticity(material: &Material) -> Result<(), Violation> {
    let LawFacts { defined_inverted, stress_is_exact, tangent_is_exact, .. } = material.law_facts();
    let clamped = matches!(material.inversion(), Inversion::Clamp { .. });
    let inverted = defined_inverted || material.inversion() != Inversion::None;
    let mut random = Random(2);
    for i in 0..STATES {
        let f = random.state(i, inverted);
        let Evaluated { stress, tangent, .. } = evaluate(material, &f, Definiteness::Exact);
        let scale = largest(tangent.as_flattened());
        let min = SignedSvd::new(&f).sigma[2];
        let regular = material.inversion().threshold().is_none_or(|threshold| min > threshold);
        if regular || !clamped {
            let [first, second] = differences(
                &f,
                |f| evaluate(material, f, Definiteness::Exact).energy,
                |f| evaluate(material, f, Definiteness::Exact).stress,
                &stress,
                &tangent,
            );
            if stress_is_exact {
                require("P = ∂ψ/∂F", &f, first / scale, DERIVATIVE)?;
            }
            if stress_is_exact && tangent_is_exact {
                require("A = ∂P/∂F", &f, second / scale, DERIVATIVE)?;
            }
        } else if let Some(threshold) = material.inversion().threshold() {
            let svd = SignedSvd::new(&f);
            let raised = svd.compose(svd.sigma.map(|stretch| stretch.max(threshold)));
            let expected = evaluate(material, &raised, Definiteness::Exact);
            let error = largest((expected.stress - stress).0.as_flattened());
            require("the stress at the clamped stretches", &f, error / scale, EXACT)?;
        }
        if regular {
            let bare = evaluate(&material.bare(), &f, Definiteness::Exact);
            // With compression resistance there is nothing to compare.
            if !material.resists_compression() {
                let error = largest((bare.stress - stress).0.as_flattened()) / scale;
                require("the law itself above the threshold", &f, error, EXACT)?;
                require("the law itself above the threshold", &f, relative(&tangent, &bare.tangent), EXACT)?;
            }
        }
        let projected = evaluate(material, &f, Definiteness::Projected);
        let expected = clamp_eigenvalues(&tangent);
        require("the projection raises negative eigenvalues", &f, relative(&projected.tangent, &expected), 1e-9)?;
        let same = projected.stress == stress && projected.stress_alone == stress;
        require("the stress is equal with and without tangent", &f, if same { 0.0 } else { 1.0 }, 0.0)?;
    }
    Ok(())
}

/// Values of a material at one state.
struct Evaluated {
    energy: f64,
    stress: Matrix<f64>,
    stress_alone: Matrix<f64>,
    tangent: Matrix9<f64>,
}

fn evaluate(material: &Material, f: &Matrix<f64>, definiteness: Definiteness) -> Evaluated {
    // The state is in one lane and the rest state in the others.
    const LANE: usize = LANES / 2;
    let mut points = Points([[0.0; LANES]; 9]);
    for n in 0..9 {
        points.0[n] = [if n % 4 == 0 { 1.0 } else { 0.0 }; LANES];
        points.0[n][LANE] = f.0[n / 3][n % 3];
    }
    let (mut energy, mut stress, mut alone) = ([Points::ZERO], [Points::ZERO], [Points::ZERO]);
    let mut tangent = [Points::ZERO];
    material.energies(&[points], &mut energy);
    material.stresses(&[points], &mut alone);
    material.stresses_and_tangents(definiteness, &[points], &mut stress, &mut tangent);
    let matrix = |points: &Points<9>| {
        let mut m = Matrix::zero();
        for n in 0..9 {
            m.0[n / 3][n % 3] = points.0[n][LANE];
        }
        m
    };
    let mut a = [[0.0; 9]; 9];
    for m in 0..9 {
        for n in 0..9 {
            a[m][n] = tangent[0].0[TANGENT_INDEX[m][n]][LANE];
        }
    }
    Evaluated { energy: energy[0].0[0][LANE], stress: matrix(&stress[0]), stress_alone: matrix(&alone[0]), tangent: a }
}

/// Functions of a law that are compiled once instead of at every call site. As methods of the law, they are compiled
/// with its code, and not again when another law changes.
trait Once {
    fn energy_once<R: Real>(&self, f: &Matrix<R>) -> R;
    fn stress_once<R: Real>(&self, f: &Matrix<R>) -> Matrix<R>;
    fn tangent_once<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R>;
    fn stress_and_tangent_once<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>);
}

impl<L: Law> Once for L {
    #[inline(never)]
    fn energy_once<R: Real>(&self, f: &Matrix<R>) -> R {
        self.energy(f)
    }

    #[inline(never)]
    fn stress_once<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        self.stress(f)
    }

    #[inline(never)]
    fn tangent_once<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        self.tangent(f)
    }

    #[inline(never)]
    fn stress_and_tangent_once<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        self.stress_and_tangent(f)
    }
}

fn require(check: &'static str, f: &Matrix<f64>, error: f64, tolerance: f64) -> Result<(), Violation> {
    // Written so that a NaN fails.
    if error <= tolerance { Ok(()) } else { Err(Violation { check, error, tolerance, state: f.0 }) }
}

fn check_rest<L: Law>(law: &L, moduli: YoungPoisson) -> Result<(), Violation> {
    let rest = Matrix::identity();
    require("no energy at rest", &rest, law.energy_once(&rest).abs() / moduli.young, EXACT)?;
    require("no stress at rest", &rest, largest(law.stress_once(&rest).0.as_flattened()) / moduli.young, EXACT)?;
    if !L::ISOTROPIC {
        return Ok(());
    }
    let hooke = super::Linear::from_moduli(moduli).tangent(&rest);
    require("Hooke's law at small strains", &rest, relative(&law.tangent_once(&rest), &hooke), EXACT)
}

fn check_derivatives<L: Law>(law: &L, f: &Matrix<f64>) -> Result<(), Violation> {
    let (stress, tangent) = (law.stress_once(f), law.tangent_once(f));
    let scale = largest(tangent.as_flattened());
    let [first, second] = differences(f, |f| law.energy_once(f), |f| law.stress_once(f), &stress, &tangent);
    if law.stress_is_exact() {
        require("P = ∂ψ/∂F", f, first / scale, DERIVATIVE)?;
    }
    if law.tangent_is_exact() {
        require("A = ∂P/∂F", f, second / scale, DERIVATIVE)?;
    }
    let mut transposed = tangent;
    for (m, row) in transposed.iter_mut().enumerate() {
        for (n, entry) in row.iter_mut().enumerate() {
            *entry = tangent[n][m];
        }
    }
    require("A is symmetric", f, relative(&tangent, &transposed), EXACT)?;
    let (together, tangent_together) = law.stress_and_tangent_once(f);
    let difference = largest((together - stress).0.as_flattened()) / scale;
    require("P is equal when computed with A", f, difference, EXACT)?;
    require("A is equal when computed with P", f, relative(&tangent_together, &tangent), EXACT)
}

/// Compares `stress` with the derivative of the energy and `tangent` with the derivative of the stress, by central
/// differences with the best of several steps.
fn differences(
    f: &Matrix<f64>,
    energy_at: impl Fn(&Matrix<f64>) -> f64,
    stress_at: impl Fn(&Matrix<f64>) -> Matrix<f64>,
    stress: &Matrix<f64>,
    tangent: &Matrix9<f64>,
) -> [f64; 2] {
    let by_step = |step: f64| {
        let mut errors = [0.0_f64; 2];
        for n in 0..9 {
            let (mut plus, mut minus) = (*f, *f);
            plus.0.as_flattened_mut()[n] += step;
            minus.0.as_flattened_mut()[n] -= step;
            let slope = (energy_at(&plus) - energy_at(&minus)) / (2.0 * step);
            errors[0] = largest(&[errors[0], slope - stress.0.as_flattened()[n]]);
            let change = stress_at(&plus) - stress_at(&minus);
            for (m, entry) in change.0.as_flattened().iter().enumerate() {
                errors[1] = largest(&[errors[1], entry / (2.0 * step) - tangent[m][n]]);
            }
        }
        errors
    };
    let sweep = [1e-3, 1e-4, 1e-5, 1e-6].map(by_step);
    [0, 1].map(|which| sweep.iter().map(|errors| errors[which]).fold(f64::INFINITY, f64::min))
}

fn check_symmetries<L: Law>(law: &L, f: &Matrix<f64>, q: &Matrix<f64>) -> Result<(), Violation> {
    let (energy, stress) = (law.energy_once(f), law.stress_once(f));
    let scale = largest(law.tangent_once(f).as_flattened());
    let compare = |check, turned: &Matrix<f64>, expected: Matrix<f64>| {
        require(check, f, (law.energy_once(turned) - energy).abs() / scale, EXACT)?;
        let difference = law.stress_once(turned) - expected;
        require(check, f, largest(difference.0.as_flattened()) / scale, EXACT)
    };
    if L::OBJECTIVE {
        compare("the law does not depend on the observer", &(*q * *f), *q * stress)?;
        if law.has_principal_form() {
            compare("the law is isotropic", &(*f * *q), stress * *q)?;
        }
    } else if L::ISOTROPIC {
        // Without objectivity, isotropy means invariance under joint rotation of body and space.
        compare("the law is isotropic", &(*q * *f).times_transpose(q), (*q * stress).times_transpose(q))?;
    }
    Ok(())
}

fn check_lanes<L: Law>(law: &L, f: &Matrix<f64>) -> Result<(), Violation> {
    type Wide = Lanes<4, false>;
    // Different states in the lanes.
    let states = [*f, Matrix::identity(), f.transpose(), *f];
    let mut wide: Matrix<Wide> = Matrix::zero();
    for (n, entry) in wide.0.as_flattened_mut().iter_mut().enumerate() {
        *entry = Lanes(states.map(|state| state.0.as_flattened()[n]));
    }
    let (energy, stress, tangent) = (law.energy_once(&wide), law.stress_once(&wide), law.tangent_once(&wide));
    let mut error = 0.0_f64;
    for (lane, state) in states.iter().enumerate() {
        let (p, a) = (law.stress_once(state), law.tangent_once(state));
        let stresses = stress.0.as_flattened().iter().zip(p.0.as_flattened());
        let tangents = tangent.as_flattened().iter().zip(a.as_flattened());
        let off = |(wide, one): (&Wide, &f64)| wide.0[lane] - one;
        let all: Vec<f64> =
            stresses.chain(tangents).map(off).chain([energy.0[lane] - law.energy_once(state)]).collect();
        error = largest(&[error, largest(&all) / largest(a.as_flattened())]);
    }
    require("lanes and scalars agree", f, error, EXACT)
}

fn largest(entries: &[f64]) -> f64 {
    entries.iter().fold(0.0, |a: f64, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b.abs()) })
}

fn relative(a: &Matrix9<f64>, b: &Matrix9<f64>) -> f64 {
    let differences: Vec<f64> = a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| a - b).collect();
    largest(&differences) / largest(b.as_flattened())
}

/// Platform-independent random numbers (`SplitMix64` \[SteeleLeaFlood2014\]).
struct Random(u64);

impl Random {
    /// Returns a number between -1 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn matrix(&mut self) -> Matrix<f64> {
        let mut m = Matrix::zero();
        m.0.as_flattened_mut().iter_mut().for_each(|x| *x = self.next());
        m
    }

    fn rotation(&mut self) -> Matrix<f64> {
        let m = self.matrix();
        SignedSvd::new(&m).rotation()
    }

    /// Returns a randomly rotated state, in turn near rest, moderately stretched, strongly stretched and, if requested,
    /// inverted.
    fn state(&mut self, i: usize, inverted: bool) -> Matrix<f64> {
        let mut stretch = |low: f64, high: f64| low + (high - low) * 0.5 * (self.next() + 1.0);
        let sigma = match i % 4 {
            0 => [stretch(0.99, 1.01), stretch(0.99, 1.01), stretch(0.99, 1.01)],
            1 => [stretch(0.6, 1.6), stretch(0.6, 1.6), stretch(0.6, 1.6)],
            2 => [stretch(0.3, 3.0), stretch(0.3, 3.0), stretch(0.3, 3.0)],
            // The smallest stretch is negative, and no two cancel.
            _ if inverted => [stretch(0.7, 2.0), stretch(0.7, 2.0), stretch(-0.6, -0.2)],
            _ => [stretch(0.2, 0.5), stretch(0.2, 0.5), stretch(1.0, 2.0)],
        };
        let (u, v) = (self.rotation(), self.rotation());
        SignedSvd { u, sigma, v }.compose(sigma)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Corotational, CorotationalFrame, CorotationalTangent, LawError, MooneyRivlin, NeoHookean, StableNeoHookean,
    };
    use super::*;

    #[test]
    fn every_law_passes_for_every_poisson_ratio() {
        for name in AnyLaw::ALL.iter().map(|law| law.name) {
            for poisson in [-0.3, 0.0, 0.3, 0.45, 0.49] {
                let moduli = YoungPoisson { young: 2.5e6, poisson };
                let law = AnyLaw::new(name, moduli).unwrap();
                assert_eq!(law.name(), name);
                verify_any(&law, moduli).unwrap_or_else(|violation| panic!("{name}, ν = {poisson}: {violation}"));
            }
        }
    }

    #[test]
    fn every_law_passes_with_every_way_to_handle_inversion_and_with_compression_resistance() {
        let threshold = Inversion::DEFAULT_THRESHOLD;
        let moduli = YoungPoisson { young: 2.5e6, poisson: 0.4 };
        for name in AnyLaw::ALL.iter().map(|law| law.name) {
            for inversion in
                [Inversion::None, Inversion::Clamp { threshold }, Inversion::Extrapolate { threshold: 0.35 }]
            {
                for resistance in [0.0, 500.0] {
                    let law: Material = AnyLaw::new(name, moduli).unwrap().into();
                    let material = match law.with_inversion(inversion) {
                        Ok(material) => material,
                        Err(error) => {
                            assert!(name == "linear" && matches!(error, LawError::NoInversion { .. }), "{error}");
                            continue;
                        }
                    };
                    let material = material.with_compression_resistance(resistance).unwrap();
                    verify_elasticity(&material)
                        .unwrap_or_else(|violation| panic!("{name}, {inversion:?}, {resistance}: {violation}"));
                }
            }
        }
    }

    #[test]
    fn the_corotational_law_in_the_frame_of_its_axes_passes_all_but_derivatives_and_isotropy() {
        let moduli = YoungPoisson { young: 1e6, poisson: 0.4 };
        let law = Corotational { frame: CorotationalFrame::Qr, ..Corotational::from_moduli(moduli) };
        verify(&law, moduli).unwrap();
        verify_elasticity(&AnyLaw::Corotational(law).into()).unwrap();
    }

    #[test]
    fn the_warped_corotational_tangent_passes_all_but_the_derivative() {
        let moduli = YoungPoisson { young: 1e6, poisson: 0.4 };
        let law = Corotational { tangent: CorotationalTangent::Warped, ..Corotational::from_moduli(moduli) };
        verify(&law, moduli).unwrap();
    }

    /// Law with one defect.
    #[derive(Debug, Clone)]
    struct Broken<L>(L, &'static str);

    impl<L: Law> Law for Broken<L> {
        const OBJECTIVE: bool = L::OBJECTIVE;
        fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
            match self.1 {
                "energy" => self.0.energy(f) * 1.000_01,
                "direction" => self.0.energy(f) + (f.0[0][0] - 1.0).squared().squared() * 1e3,
                "rest" => self.0.energy(f) + 1e3,
                _ => self.0.energy(f),
            }
        }
        fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
            let mut p = self.0.stress(f);
            match self.1 {
                "nan" => p.0[0][0] = R::from(f64::NAN),
                "stress" => p.0[1][2] += f.0[1][2] * 10.0,
                "direction" => p.0[0][0] += (f.0[0][0] - 1.0).squared() * (f.0[0][0] - 1.0) * 4e3,
                _ => {}
            }
            p
        }
        fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
            let mut a = self.0.tangent(f);
            match self.1 {
                "tangent" => a[3][7] += (f.determinant() - 1.0) * 10.0,
                "direction" => a[0][0] += (f.0[0][0] - 1.0).squared() * 12e3,
                _ => {}
            }
            a
        }
    }

    #[test]
    fn a_law_with_one_thing_wrong_is_found_out() {
        let moduli = YoungPoisson { young: 1e6, poisson: 0.3 };
        let law = NeoHookean::from_moduli(moduli);
        assert_eq!(verify(&Broken(law, "nothing"), moduli), Ok(()));
        let found = |what| verify(&Broken(law, what), moduli).unwrap_err().check;
        assert_eq!(found("energy"), "P = ∂ψ/∂F");
        assert_eq!(found("stress"), "P = ∂ψ/∂F");
        assert_eq!(found("nan"), "no stress at rest");
        assert_eq!(found("tangent"), "A = ∂P/∂F");
        assert_eq!(found("rest"), "no energy at rest");
        assert_eq!(found("direction"), "the law does not depend on the observer");
        let other = YoungPoisson { young: 1e6, poisson: 0.300_001 };
        assert_eq!(verify(&law, other).unwrap_err().check, "Hooke's law at small strains");
    }

    #[test]
    fn literal_coefficients_are_those_of_the_formula() {
        // Twice the stretch along x at constant volume: I_C = 4 + 2 · ½ = 5.
        let mut f = Matrix::identity();
        (f.0[0][0], f.0[1][1], f.0[2][2]) = (2.0, 0.5_f64.sqrt(), 0.5_f64.sqrt());
        let neo = NeoHookean { mu: 3.0, lambda: 7.0 };
        assert!((neo.energy(&f) - 3.0).abs() < 1e-14);
        // I₂ = 4·½ + 4·½ + ½·½ = 4.25.
        let rubber = MooneyRivlin { mu01: 2.0, mu10: 3.0, v1: 11.0 };
        assert!((rubber.energy(&f) - (2.0 * 1.25 + 3.0 * 2.0)).abs() < 1e-13);
        let stable = StableNeoHookean { mu: 4.0, lambda: 6.0 };
        assert!((stable.energy(&f) - (4.0 - 2.0 * (6.0_f64 / 4.0).ln())).abs() < 1e-13);
    }

    #[test]
    fn impossible_moduli_and_unknown_laws_are_refused() {
        let new = |name, young, poisson| AnyLaw::new(name, YoungPoisson { young, poisson }).unwrap_err().to_string();
        assert!(new("stvk", -1.0, 0.3).contains("Young's modulus is -1"));
        assert!(new("stvk", 1e6, 0.5).contains("Poisson's ratio is 0.5"));
        assert!(new("stvk", f64::NAN, 0.3).contains("NaN"));
        let unknown = new("jelly", 1e6, 0.3);
        assert!(unknown.contains("unknown law `jelly`") && AnyLaw::ALL.iter().all(|law| unknown.contains(law.name)));
    }
}
