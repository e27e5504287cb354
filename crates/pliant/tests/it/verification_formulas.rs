//! Laws given by formulas equal the hand-written laws: energy, stress and tangent at random deformations, to 1e-10 of
//! the stiffness there. Formulas without a hand-written counterpart pass the same verification.

use pliant::material::verify::verify;
use pliant::material::{
    AnyLaw, Corotational, Definiteness, Formula, Inversion, LANES, Law, Material, MooneyRivlin, NeoHookean,
    NeoHookeanBower, Points, StVenantKirchhoff, StableNeoHookean, YoungPoisson,
};
use pliant::math::{Matrix, SignedSvd};

const MODULI: YoungPoisson = YoungPoisson { young: 4e5, poisson: 0.43 };
const TOLERANCE: f64 = 1e-10;

fn random(rng: &mut fastrand::Rng) -> Matrix<f64> {
    let mut m = Matrix::zero();
    m.0.as_flattened_mut().iter_mut().for_each(|x| *x = 2.0 * rng.f64() - 1.0);
    m
}

/// Returns a deformation gradient with random rotations and stretches from 0.3 to 2.3, some of them (nearly) equal.
fn state(rng: &mut fastrand::Rng, i: usize) -> Matrix<f64> {
    let mut sigma = [0.3 + 2.0 * rng.f64(), 0.3 + 2.0 * rng.f64(), 0.3 + 2.0 * rng.f64()];
    match i % 6 {
        0 => sigma[1] = sigma[0],
        1 => sigma[2] = sigma[1] + 1e-5 * rng.f64(),
        2 => sigma = [1.0 + 1e-3 * rng.f64(), 1.0 + 1e-3 * rng.f64(), 1.0],
        _ => {}
    }
    SignedSvd { u: SignedSvd::new(&random(rng)).u, sigma, v: SignedSvd::new(&random(rng)).u }.compose(sigma)
}

fn assert_same(law: &impl Law, text: &str, parameters: &[(&str, f64)]) {
    let formula = Formula::new(text, parameters).unwrap_or_else(|error| panic!("{text}: {error}"));
    let (found, expected) = (formula.moduli(), MODULI);
    assert!((found.young / expected.young - 1.0).abs() < 1e-12, "{text}: {found:?}");
    assert!((found.poisson - expected.poisson).abs() < 1e-12, "{text}: {found:?}");
    verify(&formula, MODULI).unwrap_or_else(|violation| panic!("{text}: {violation}"));
    let mut rng = fastrand::Rng::with_seed(5);
    for i in 0..600 {
        let f = state(&mut rng, i);
        let (stress, tangent) = law.stress_and_tangent(&f);
        let (formula_stress, formula_tangent) = formula.stress_and_tangent(&f);
        let scale = tangent.as_flattened().iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        let check = |what: &str, found: &[f64], expected: &[f64]| {
            for (found, expected) in found.iter().zip(expected) {
                let error = (found - expected).abs() / scale;
                assert!(error <= TOLERANCE, "{text}: {what} is off by {error:e} at {f:?}");
            }
        };
        check("ψ", &[formula.energy(&f)], &[law.energy(&f)]);
        check("P", formula_stress.0.as_flattened(), stress.0.as_flattened());
        check("dP/dF", formula_tangent.as_flattened(), tangent.as_flattened());
    }
}

#[test]
fn neo_hookean_as_a_formula_is_the_law() {
    let law = NeoHookean::from_moduli(MODULI);
    let parameters = [("mu", law.mu), ("lambda", law.lambda)];
    assert_same(&law, "mu/2*(I1-3) - mu*ln(J) + lambda/2*ln(J)^2", &parameters);
    assert_same(&law, "mu/2*(I1-3) - mu/2*ln(I3) + lambda/8*ln(I3)^2", &parameters);
    assert_same(
        &law,
        "mu/2*(l1^2 + l2^2 + l3^2 - 3) - mu*ln(l1*l2*l3) + lambda/2*(ln(l1) + ln(l2) + ln(l3))^2",
        &parameters,
    );
}

#[test]
fn bowers_neo_hookean_as_a_formula_is_the_law() {
    let law = NeoHookeanBower::from_moduli(MODULI);
    let parameters = [("mu", law.mu), ("lambda", law.lambda)];
    assert_same(&law, "mu/2*(J^(-2/3)*I1 - 3) + lambda/2*(J-1)^2", &parameters);
    assert_same(&law, "mu/2*(I1/cbrt(I3) - 3) + lambda/2*(sqrt(I3) - 1)^2", &parameters);
}

#[test]
fn stable_neo_hookean_as_a_formula_is_the_law() {
    let law = StableNeoHookean::from_moduli(MODULI);
    let text = "mu/2*(I1-3) + lambda/2*(J - (1 + 3/4*mu/lambda))^2 - mu/2*ln(I1 + 1)";
    assert_same(&law, text, &[("mu", law.mu), ("lambda", law.lambda)]);
}

#[test]
fn mooney_rivlin_as_a_formula_is_the_law() {
    let law = MooneyRivlin::from_moduli(MODULI);
    let parameters = [("mu01", law.mu01), ("mu10", law.mu10), ("v1", law.v1)];
    assert_same(&law, "mu01*(J^(-4/3)*I2 - 3) + mu10*(J^(-2/3)*I1 - 3) + v1*(J-1)^2", &parameters);
    assert_same(&law, "mu01*(pow(I3, -2/3)*I2 - 3) + mu10*(exp(-ln(J)*2/3)*I1 - 3) + v1*(J-1)^2", &parameters);
}

#[test]
fn stvk_as_a_formula_is_the_law() {
    let law = StVenantKirchhoff::from_moduli(MODULI);
    let parameters = [("mu", law.mu), ("lambda", law.lambda)];
    let text = "mu/4*((l1^2-1)^2 + (l2^2-1)^2 + (l3^2-1)^2) + lambda/8*(l1^2 + l2^2 + l3^2 - 3)^2";
    assert_same(&law, text, &parameters);
    // tr C² = I1² − 2 I2, so E:E = ¼(I1² − 2 I2 − 2 I1 + 3).
    assert_same(&law, "mu/4*(I1^2 - 2*I2 - 2*I1 + 3) + lambda/8*(I1 - 3)^2", &parameters);
}

#[test]
fn corotational_as_a_formula_is_the_law() {
    let law = Corotational::from_moduli(MODULI);
    let text = "mu*((λ1-1)^2 + (λ2-1)^2 + (λ3-1)^2) + lambda/2*(λ1 + λ2 + λ3 - 3)^2";
    assert_same(&law, text, &[("mu", law.mu), ("lambda", law.lambda)]);
}

/// Checks rubber after Ogden (1972), with three terms, and the energies of Yeoh and Gent: moduli against closed forms,
/// derivatives against finite differences.
#[test]
fn laws_of_rubber_pass_the_proof() {
    let kappa = MODULI.bulk();
    let ogden = "m1/a1*((l1^a1 + l2^a1 + l3^a1)*(l1*l2*l3)^(-a1/3) - 3)
        + m2/a2*((l1^a2 + l2^a2 + l3^a2)*(l1*l2*l3)^(-a2/3) - 3)
        + m3/a3*((l1^a3 + l2^a3 + l3^a3)*(l1*l2*l3)^(-a3/3) - 3)
        + kappa/2*(l1*l2*l3 - 1)^2";
    // The shear modulus is ½ Σ mₖaₖ; Ogden's ratios for vulcanized rubber.
    let (m, a) = ([6.3, 0.012, -0.1], [1.3, 5.0, -2.0]);
    let unit = MODULI.mu() / (0.5 * (m[0] * a[0] + m[1] * a[1] + m[2] * a[2]));
    let parameters = [
        ("m1", m[0] * unit),
        ("m2", m[1] * unit),
        ("m3", m[2] * unit),
        ("a1", a[0]),
        ("a2", a[1]),
        ("a3", a[2]),
        ("kappa", kappa),
    ];
    verify(&Formula::new(ogden, &parameters).unwrap(), MODULI).unwrap();

    let c = MODULI.mu() / 2.0;
    let yeoh = "c1*(J^(-2/3)*I1-3) + c2*(J^(-2/3)*I1-3)^2 + c3*(J^(-2/3)*I1-3)^3 + kappa/2*(J-1)^2";
    let yeoh = Formula::new(yeoh, &[("c1", c), ("c2", -0.1 * c), ("c3", 0.01 * c), ("kappa", kappa)]).unwrap();
    verify(&yeoh, MODULI).unwrap();

    let gent = "-c*limit*ln(1 - (J^(-2/3)*I1-3)/limit) + kappa/2*((J^2-1)/2 - ln(J))";
    verify(&Formula::new(gent, &[("c", c), ("limit", 90.0), ("kappa", kappa)]).unwrap(), MODULI).unwrap();
}

/// Checks inversion and projection, which use the stretches of a law. Formulas of stretches have a separate code path.
#[test]
fn inverted_elements_of_a_formula_are_those_of_the_law_by_hand() {
    let law = NeoHookean::from_moduli(MODULI);
    let parameters = [("mu", law.mu), ("lambda", law.lambda)];
    let invariants = "mu/2*(I1-3) - mu*ln(J) + lambda/2*ln(J)^2";
    let stretches = "mu/2*(l1^2 + l2^2 + l3^2 - 3) - mu*ln(l1*l2*l3) + lambda/2*ln(l1*l2*l3)^2";
    let mut rng = fastrand::Rng::with_seed(6);
    let mut f = vec![Points::<9>::ZERO; 40];
    for points in &mut f {
        for lane in 0..LANES {
            let entries = random(&mut rng);
            for n in 0..9 {
                points.0[n][lane] = entries.0.as_flattened()[n];
            }
        }
    }
    for inversion in [Inversion::Clamp { threshold: 0.2 }, Inversion::Extrapolate { threshold: 0.2 }] {
        for definiteness in [Definiteness::Exact, Definiteness::Projected] {
            let evaluate = |law: AnyLaw| {
                let material = Material::from(law).with_inversion(inversion).unwrap();
                let (mut energies, mut stresses) = (vec![Points::ZERO; f.len()], vec![Points::ZERO; f.len()]);
                let mut tangents = vec![Points::ZERO; f.len()];
                material.energies(&f, &mut energies);
                material.stresses_and_tangents(definiteness, &f, &mut stresses, &mut tangents);
                let mut all: Vec<f64> =
                    stresses.iter().flat_map(|points: &Points<9>| points.0.as_flattened().to_vec()).collect();
                all.extend(energies.iter().flat_map(|points| points.0.as_flattened().to_vec()));
                all.extend(tangents.iter().flat_map(|points| points.0.as_flattened().to_vec()));
                all
            };
            let expected = evaluate(AnyLaw::NeoHookean(law));
            let scale = expected.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
            for text in [invariants, stretches] {
                let found = evaluate(AnyLaw::formula(text, &parameters).unwrap());
                for (found, expected) in found.iter().zip(&expected) {
                    let error = (found - expected).abs() / scale;
                    assert!(error <= TOLERANCE, "{text}, {inversion:?}, {definiteness:?}: off by {error:e}");
                }
            }
        }
    }
}
