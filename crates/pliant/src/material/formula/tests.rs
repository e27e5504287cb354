use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::AnyLaw;
use super::program::Program;
use super::*;

fn program(text: &str, parameters: &[(&str, f64)]) -> Program {
    parse::parse(text, parameters).unwrap_or_else(|error| panic!("{error}")).0
}

/// Returns the value at `I1 = 4.5`, `I2 = 5.25`, `J = 0.75`.
fn value(text: &str) -> f64 {
    program(text, &[]).run([4.5, 5.25, 0.75])
}

#[test]
fn operators_bind_as_in_mathematics() {
    assert_eq!(value("-J^2"), -(0.75 * 0.75));
    assert_eq!(value("2^3^2 + 0*J"), 512.0);
    assert_eq!(value("2^-1*J"), 0.375);
    assert_eq!(value("J - 1 - 2"), 0.75 - 3.0);
    assert_eq!(value("12/J/2"), 8.0);
    assert_eq!(value("1 + 2*J^2/3 - -J"), 1.0 + 2.0 * 0.5625 / 3.0 + 0.75);
    assert_eq!(value("+(J)*(I1)"), 3.375);
    assert_eq!(value("2 · J × 2 − 1"), 2.0);
    assert_eq!(value(" I1 +\n\tI2 "), 9.75);
    assert_eq!(value("I3"), 0.5625);
}

#[test]
fn numbers_are_read_in_every_notation() {
    assert_eq!(value("1e3*J"), 750.0);
    assert_eq!(value("1.5E+1*J"), 11.25);
    assert_eq!(value(".5*J + 2.*J - 25e-1*J"), 0.0);
    assert_eq!(value("pi*J"), std::f64::consts::PI * 0.75);
}

#[test]
fn functions_are_those_of_their_names() {
    let close = |text: &str, expected: f64| assert!((value(text) - expected).abs() < 1e-15, "{text}: {}", value(text));
    close("ln(J)", 0.75_f64.ln());
    close("exp(J)", 0.75_f64.exp());
    close("sqrt(J) + cbrt(-J)", 0.75_f64.sqrt() - 0.75_f64.cbrt());
    close("abs(J - 1)", 0.25);
    close("min(J, I1) + max(J, 2) + min(3, 4)", 5.75);
    close("pow(J, 2.2)", 0.75_f64.powf(2.2));
    close("J^I1", 0.75_f64.powf(4.5));
}

#[test]
fn whole_powers_and_thirds_of_negative_numbers_have_values() {
    assert_eq!(value("(J - 1)^2"), 0.0625);
    assert_eq!(value("(J - 1)^3"), -0.015625);
    assert_eq!(value("(J - 1)^-2"), 16.0);
    assert!((value("(J - 1)^(-2/3)") - 0.0625_f64.cbrt().recip()).abs() < 1e-14);
    assert!((value("J^(5/3)") - 0.75_f64.powf(5.0 / 3.0)).abs() < 1e-15);
    assert!((value("J^2.5") - 0.75_f64.powf(2.5)).abs() < 1e-15);
    assert!(value("(J - 1)^1.2").is_nan());
}

#[test]
fn constants_are_folded_and_equal_parts_computed_once() {
    let steps = |text: &str| program(&format!("{text} + 0*mu*lambda"), &[("mu", 3.0), ("lambda", 5.0)]).steps();
    // ln J, its square, I1 − 3, and a sum of three terms.
    assert_eq!(steps("mu/2*(I1-3) - mu*ln(J) + lambda/2*ln(J)^2"), 6);
    assert_eq!(steps("mu/2*(I1-3) + 2*pi*mu/(I1-3+lambda-5)*7"), steps("mu/2*(I1-3) + 3/(I1-3)"));
    assert_eq!(steps("J*I1 + I1*J"), steps("J*I1") + 1);
    assert_eq!(steps("mu*lambda^2"), 1, "only the constant");
}

#[test]
fn parts_are_computed_again_where_too_many_would_have_to_be_kept() {
    // Each logarithm is needed twice, the second time after all others.
    let terms = |count: usize| (1..=count).map(|i| format!("ln(J+{i})")).collect::<Vec<_>>();
    let sums = |count: usize| format!("({})*({})", terms(count).join("+"), terms(count).join("-"));
    for count in [2, 5, 12, 13, 14, 15, 16, 20, 50, 150] {
        let all: Vec<f64> = (1..=count).map(|i| (0.75 + i as f64).ln()).collect();
        let expected = all.iter().sum::<f64>() * (2.0 * all[0] - all.iter().sum::<f64>());
        let found = value(&sums(count));
        assert!((found / expected - 1.0).abs() < 1e-12, "{count}: {found} instead of {expected}");
        // A sum, a logarithm and an addition per term, unless repeated.
        let steps = program(&sums(count), &[]).steps();
        assert_eq!(steps, if count <= 15 { 4 * count - 1 } else { 6 * count - 1 }, "{count}");
    }
    let nested = (1..80).fold("J".to_owned(), |inner, i| format!("ln(I1+{i})*({inner})"));
    assert_eq!(parse::parse(&nested, &[]).unwrap_err(), FormulaError::TooComplex { limit: 16 });
}

fn error(text: &str, parameters: &[(&str, f64)]) -> String {
    Formula::new(text, parameters).unwrap_err().to_string()
}

#[test]
fn errors_show_the_place_and_what_was_expected() {
    let mu = &[("mu", 1.0)];
    assert_eq!(
        error("mu*(I1-3))", mu),
        "expected an operator or the end, found `)`, at column 10\n  mu*(I1-3))\n           ^"
    );
    assert_eq!(error("", &[]), "expected a number, a name or `(`, found the end, at column 1\n  \n  ^");
    assert_eq!(error("2mu", mu), "expected an operator or the end, found `mu`, at column 2\n  2mu\n   ^");
    assert_eq!(error("J²", &[]), "expected an operator or the end, found `²`, at column 2\n  J²\n   ^");
    assert_eq!(error("mu(J)", mu), "expected an operator or the end, found `(`, at column 3\n  mu(J)\n    ^");
    assert_eq!(error("ln*J", &[]), "expected `(` after the name of a function, found `*`, at column 3\n  ln*J\n    ^");
    assert_eq!(
        error("mu*I1 + lamda*J", &[("mu", 1.0), ("lambda", 2.0)]),
        "`lamda` is neither a variable nor a parameter, at column 9\n  mu*I1 + lamda*J\n          ^\ndid you mean `lambda`?"
    );
    assert_eq!(
        error("kappa*J", &[]),
        "`kappa` is neither a variable nor a parameter, at column 1\n  kappa*J\n  ^\ngive it a value as a parameter"
    );
    assert_eq!(error("log(J)", &[]), "there is no function `log`, at column 1\n  log(J)\n  ^\ndid you mean `ln`?");
    assert_eq!(
        error("trace(J)", &[]),
        "there is no function `trace`, at column 1\n  trace(J)\n  ^\nthere are ln, exp, sqrt, cbrt, abs, min, max, pow"
    );
    assert_eq!(error("max(J)", &[]), "`max` takes 2 arguments, found 1, at column 1\n  max(J)\n  ^");
    assert_eq!(
        error("I1 +\n  λ₁*l2", &[]),
        "`λ₁` after `I1`: a formula is either of the invariants I1, I2, I3, J or of the stretches l1, l2, l3, \
         at line 2, column 3\n    λ₁*l2\n    ^"
    );
    assert_eq!(
        error("J*1e400", &[]),
        "expected a number that is not too large, found `1e400`, at column 3\n  J*1e400\n    ^"
    );
    assert_eq!(error("J + ln(1-1)", &[]), "this is -inf for every deformation, at column 5\n  J + ln(1-1)\n      ^");
}

#[test]
fn parameters_must_be_used_finite_and_free_names() {
    assert_eq!(error("J", &[("mu", 1.0)]), "the parameter `mu` does not occur in the formula");
    assert_eq!(error("mu", &[("mu", 1.0), ("mu", 2.0)]), "the parameter `mu` is given twice");
    assert_eq!(error("mu", &[("mu", f64::NAN)]), "the parameter `mu` is NaN, expected a finite number");
    for name in ["J", "λ₂", "ln", "pi", "", "2a", "a b", "\u{1b}[2J", "a²"] {
        assert!(error("J", &[(name, 1.0)]).starts_with("a parameter cannot be called `"), "{name}");
    }
    assert!(!error("J", &[("\u{1b}[2J", 1.0)]).contains('\u{1b}'));
}

#[test]
fn formulas_that_are_no_elastic_material_are_refused() {
    assert_eq!(error("1/(I1 - 3)", &[]), "the energy at rest is inf, expected a finite number");
    assert_eq!(error("(I1 - 3)^1.25", &[]), "the stiffness at rest is NaN, expected a finite number");
    assert_eq!(
        error("mu/2*(I1 - 3)", &[("mu", 1e6)]),
        "the stress at rest is 1000000 Pa, so the rest shape would not be in equilibrium"
    );
    assert_eq!(
        error("(J - 1)^2", &[]),
        "at small strains the shear modulus is 0 Pa and the bulk modulus 2 Pa, expected both to be positive"
    );
    assert_eq!(
        error("2*ln(J) - (I1 - 3)", &[]),
        "at small strains the shear modulus is -2 Pa and the bulk modulus -1.3333333333333333 Pa, \
         expected both to be positive"
    );
    assert!(error("I1/J^(2/3) - 3", &[]).starts_with("at small strains the shear modulus is 2"));
    assert!(error("7", &[]).starts_with("at small strains the shear modulus is 0 Pa"));
    assert_eq!(
        error("(l1-1)^2 + (l2-1)^2 + 2*(l3-1)^2", &[]),
        "the energy is not symmetric in the stretches: \
         at [1.02, 0.97, 1.01] it is 0.0015000000000000026 J/m³, at [1.02, 1.01, 0.97] 0.0023000000000000043 J/m³"
    );
}

#[test]
fn hostile_text_is_refused_quickly() {
    let begin = Instant::now();
    assert_eq!(error(&"J+".repeat(1 << 20), &[]), "the formula has 2097152 bytes, expected at most 4096");
    for text in ["(", "-", "2^", "ln(", "max(J,", "(-", "+"] {
        let deep = text.repeat(4000 / text.len());
        let error = error(&deep, &[]);
        assert!(error.starts_with("nested more than 100 deep at column "), "{error}");
        assert!(error.len() < 500, "{error}");
    }
    // Maximum nesting.
    let nested = format!("{}J{}", "(".repeat(98), ")".repeat(98));
    assert!(error(&nested, &[]).starts_with("the stress at rest"));
    assert!(error(&"x".repeat(4000), &[]).len() < 500);
    // Maximum length, with no common subexpressions.
    let long = (0..450).map(|i| format!("(J+{i})^2")).collect::<Vec<_>>().join("-");
    assert!(error(&long[..long[..4096].rfind('-').unwrap()], &[]).starts_with("the stress at rest is"));
    let names: Vec<String> = (0..100_000).map(|i| format!("a{i}")).collect();
    let many: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    assert_eq!(error(&"a0+".repeat(1365)[..4094], &many), "the parameter `a1` does not occur in the formula");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn a_formula_is_registered_as_a_law() {
    let law = AnyLaw::formula("mu/2*(I1-3) - mu*ln(J) + lambda/2*ln(J)^2", &[("mu", 1e5), ("lambda", 4e5)]).unwrap();
    assert_eq!(law.name(), "formula");
    let AnyLaw::Formula(formula) = &law else { panic!("{law:?}") };
    assert_eq!(formula.text(), "mu/2*(I1-3) - mu*ln(J) + lambda/2*ln(J)^2");
    let moduli = formula.moduli();
    assert!((moduli.mu() - 1e5).abs() < 1e-7 && (moduli.lambda() - 4e5).abs() < 1e-6);
    super::super::verify::verify_any(&law, moduli).unwrap();
}

#[test]
fn a_variable_alone_is_a_formula_without_steps() {
    assert_eq!((value("I2"), program("I2", &[]).steps()), (5.25, 0));
}

/// Generates text from the pieces of formulas, which gets further than random characters.
fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "I1", "I2", "I3", "J", "l1", "λ2", "l3", "mu", "pi", "2", "0", "1e9", ".5", "-3", "ln", "exp", "sqrt", "cbrt",
        "abs", "min", "max", "pow", "(", "(", ")", ")", ",", "+", "-", "*", "/", "^", "^2", " ", "\n", "x", "$", "−",
        "²",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn random_text_never_panics_and_is_refused_quickly(text in prop_oneof![any::<String>(), pieces()]) {
        let begin = Instant::now();
        for parameters in [&[][..], &[("mu", 2.0)]] {
            match Formula::new(&text, parameters) {
                Ok(formula) => prop_assert!(formula.moduli().young > 0.0),
                Err(error) => prop_assert!(error.to_string().len() < 1000),
            }
        }
        prop_assert!(begin.elapsed() < Duration::from_secs(1));
    }
}
