//! Pairs and reference numbers for the tests of this module.

use std::collections::HashMap;

use super::PairKind;
use crate::math::Vec3;

/// Returns a random vector with coordinates between −1 and 1.
pub fn random_vector(random: &mut fastrand::Rng) -> Vec3 {
    Vec3::new(random.f64(), random.f64(), random.f64()) * 2.0 - 1.0
}

/// Returns the vertices of a random pair that is about 0.2 apart: anywhere along its primitives, with all kinds of
/// closest features, and often with edges that are almost parallel.
pub fn close_pair(kind: PairKind, random: &mut fastrand::Rng) -> [Vec3; 4] {
    let base = random_vector(random);
    let (a, b) = (random_vector(random), random_vector(random));
    let b = if random.bool() { b } else { a + 0.02 * b };
    let (s, r) = (1.6 * random.f64() - 0.3, 1.6 * random.f64() - 0.3);
    match kind {
        PairKind::PointTriangle => {
            let b = random_vector(random) + 0.2 * b;
            let offset = 0.2 * random.f64() * a.cross(b).normalize_or(Vec3::X) + 0.05 * random_vector(random);
            [base + s * a + r * b + offset, base, base + a, base + b]
        }
        PairKind::EdgeEdge => {
            let offset = 0.2 * random.f64() * a.cross(b).normalize_or(Vec3::X) + 0.05 * random_vector(random);
            let start = base + s * a - r * b + offset;
            [base, base + a, start, start + b]
        }
    }
}

/// Case of a file of reference numbers: values by key.
pub struct Case {
    pub name: &'static str,
    values: HashMap<&'static str, Vec<&'static str>>,
}

/// Returns the cases of a file in `tests/data/contact`, whose README names their sources.
pub fn reference_cases(file: &'static str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut key = "";
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        if !line.starts_with(' ') {
            key = words.next().unwrap();
        }
        if key == "case" {
            cases.push(Case { name: words.next().unwrap(), values: HashMap::new() });
        } else {
            cases.last_mut().unwrap().values.entry(key).or_default().extend(words);
        }
    }
    cases
}

impl Case {
    /// Returns the words of a value, or `None` if the case does not have the key.
    pub fn words(&self, key: &str) -> Option<&[&'static str]> {
        self.values.get(key).map(Vec::as_slice)
    }

    /// Returns the only word of a value.
    pub fn word(&self, key: &str) -> &'static str {
        self.words(key).unwrap_or_else(|| panic!("{}: no `{key}`", self.name))[0]
    }

    /// Returns the numbers of a value.
    pub fn numbers(&self, key: &str) -> Vec<f64> {
        let words = self.words(key).unwrap_or_else(|| panic!("{}: no `{key}`", self.name));
        words.iter().map(|word| word.parse().unwrap()).collect()
    }

    pub fn number(&self, key: &str) -> f64 {
        self.word(key).parse().unwrap()
    }

    /// Returns the four points of a value.
    pub fn points(&self, key: &str) -> [Vec3; 4] {
        let numbers = self.numbers(key);
        assert_eq!(numbers.len(), 12, "{}", self.name);
        std::array::from_fn(|i| Vec3::from_slice(&numbers[3 * i..]))
    }

    pub fn kind(&self) -> PairKind {
        match self.word("kind") {
            "point_triangle" | "fv" => PairKind::PointTriangle,
            _ => PairKind::EdgeEdge,
        }
    }
}

/// Returns the entries of the lower triangle of a symmetric matrix, row by row.
pub fn lower_triangle(matrix: &[[f64; 12]; 12]) -> Vec<f64> {
    (0..12).flat_map(|i| (0..=i).map(move |j| matrix[i][j])).collect()
}

/// Returns the largest difference of two lists relative to the largest number of the second one.
pub fn relative_difference(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let difference = found.iter().zip(expected).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs()));
    if difference == 0.0 { 0.0 } else { difference / largest }
}
