//! Support of the verification tests: a reader for the numbers in `tests/data`, comparisons, and plain Newton statics
//! on an independent banded direct solver, so that the library's solvers cannot mask a wrong force or stiffness.

#![allow(dead_code, reason = "each test file uses a part")]

use pliant::force::{Definiteness, Elastic, Force, bind_all};
use pliant::material::{
    AnyLaw, Corotational, Linear, Material, MooneyRivlin, NeoHookean, NeoHookeanBower, StVenantKirchhoff,
    StableNeoHookean,
};
use pliant::math::Vec3;
use pliant::mesh::{ElementKind, MeshData, VolumeMesh};
use pliant::sparse::BlockMatrix;

/// Header line and the rows of numbers below it.
pub struct Section {
    pub head: String,
    pub rows: Vec<Vec<f64>>,
}

impl Section {
    /// Returns all numbers, row by row.
    pub fn flat(&self) -> Vec<f64> {
        self.rows.concat()
    }

    /// Returns the numbers at the end of the header, after the word `name`.
    pub fn coefficients(&self, name: &str) -> Vec<f64> {
        let words = self.head.split(' ').skip_while(|&word| word != name).skip(1);
        words.map(|word| word.parse().unwrap()).collect()
    }
}

/// Reads the sections of a file in `tests/data`. Lines that begin with a letter are headers, those with `#` comments.
pub fn sections(file: &str) -> Vec<Section> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../pliant/tests/data").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with(|first: char| first.is_alphabetic()) {
            sections.push(Section { head: line.into(), rows: Vec::new() });
        } else {
            let row = line.split(' ').map(|word| word.parse().unwrap()).collect();
            sections.last_mut().expect("rows come after a head").rows.push(row);
        }
    }
    sections
}

/// Returns the section with this header.
pub fn section<'a>(sections: &'a [Section], head: &str) -> &'a Section {
    let found = sections.iter().find(|section| section.head == head);
    found.unwrap_or_else(|| panic!("no section `{head}`"))
}

/// Returns the mesh of the sections `vertices` and `elements`, whose headers begin with `prefix`.
pub fn mesh(sections: &[Section], prefix: &str, kind: ElementKind) -> VolumeMesh {
    let vertices =
        section(sections, &format!("{prefix}vertices")).rows.iter().map(|row| Vec3::from_slice(row)).collect();
    let elements =
        section(sections, &format!("{prefix}elements")).flat().into_iter().map(|number| number as u32).collect();
    let checked = VolumeMesh::check(MeshData::new(vertices, kind, elements)).unwrap();
    assert!(checked.report.is_empty());
    checked.mesh
}

/// Returns the law with these coefficients of its formula.
pub fn law(name: &str, c: &[f64]) -> AnyLaw {
    match name {
        "linear" => AnyLaw::Linear(Linear { mu: c[0], lambda: c[1] }),
        "corotational" => AnyLaw::Corotational(Corotational::new(c[0], c[1])),
        "stvk" => AnyLaw::StVenantKirchhoff(StVenantKirchhoff { mu: c[0], lambda: c[1] }),
        "neo-hookean" => AnyLaw::NeoHookean(NeoHookean { mu: c[0], lambda: c[1] }),
        "neo-hookean-bower" => AnyLaw::NeoHookeanBower(NeoHookeanBower { mu: c[0], lambda: c[1] }),
        "stable-neo-hookean" => AnyLaw::StableNeoHookean(StableNeoHookean { mu: c[0], lambda: c[1] }),
        "mooney-rivlin" => AnyLaw::MooneyRivlin(MooneyRivlin { mu01: c[0], mu10: c[1], v1: c[2] }),
        _ => panic!("no reference numbers for `{name}`"),
    }
}

/// Returns the maximum absolute value, or NaN if any number is NaN.
pub fn largest(numbers: &[f64]) -> f64 {
    numbers
        .iter()
        .fold(0.0, |most: f64, number| if most.is_nan() || number.is_nan() { f64::NAN } else { most.max(number.abs()) })
}

/// Returns the maximum absolute difference.
pub fn distance(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    // `max` would ignore NaN.
    assert!(found.iter().all(|value| value.is_finite()), "not finite");
    found.iter().zip(expected).fold(0.0, |largest, (found, expected)| (found - expected).abs().max(largest))
}

/// Asserts that no entry differs by more than `tolerance` relative to `scale`, and prints the difference.
pub fn assert_within(what: &str, found: &[f64], expected: &[f64], scale: f64, tolerance: f64) {
    let error = distance(found, expected) / scale;
    println!("{what}: {error:.1e}");
    assert!(error <= tolerance, "{what}: differs by {error:.2e}, expected at most {tolerance:.0e}");
}

/// Asserts closeness as [`assert_within`] does, relative to the maximum expected entry.
pub fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_within(what, found, expected, largest(expected), tolerance);
}

/// Static problem of a body with some degrees of freedom fixed.
pub struct Statics {
    pub elastic: Elastic,
    stiffness: BlockMatrix,
    /// Free degrees of freedom, sorted by `x`, so that the matrix of a long body has a narrow band.
    free: Vec<usize>,
}

impl Statics {
    pub fn new(mesh: &VolumeMesh, material: impl Into<Material>, fixed: impl Fn(usize) -> bool) -> Self {
        let mut elastic = Elastic::uniform(mesh, material);
        let pattern = bind_all(mesh.vertex_count(), &mut [&mut elastic]);
        let mut free: Vec<usize> = (0..3 * mesh.vertex_count()).filter(|&dof| !fixed(dof)).collect();
        free.sort_by(|&a, &b| mesh.vertices()[a / 3].x.total_cmp(&mesh.vertices()[b / 3].x));
        Self { elastic, stiffness: BlockMatrix::zero(pattern), free }
    }

    /// Returns the force in a state.
    pub fn force(&self, u: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; u.len()];
        self.elastic.add_force(u, &mut force);
        force
    }

    /// Returns the force and the exact stiffness in a state.
    pub fn force_and_stiffness(&mut self, u: &[f64]) -> (Vec<f64>, &BlockMatrix) {
        let mut force = vec![0.0; u.len()];
        self.stiffness.clear();
        self.elastic.add_force_and_stiffness(u, Definiteness::Exact, &mut force, &mut self.stiffness);
        (force, &self.stiffness)
    }

    /// Solves for the state whose force equals `load` at the free degrees of freedom, by Newton's method from `u`.
    ///
    /// It stops after a step below 1e-9 of the displacement. Convergence is quadratic, so only rounding errors remain.
    pub fn solve(&mut self, load: &[f64], u: &mut [f64]) {
        for _ in 0..30 {
            let (force, _) = self.force_and_stiffness(u);
            let mut step: Vec<f64> = self.free.iter().map(|&dof| load[dof] - force[dof]).collect();
            Banded::factor(&self.stiffness, &self.free).solve(&mut step);
            for (&dof, step) in self.free.iter().zip(&step) {
                u[dof] += step;
            }
            if largest(&step) <= 1e-9 * largest(u) + 1e-13 {
                return;
            }
        }
        panic!("Newton's method did not converge");
    }
}

/// Returns the number of negative entries of `D` in `L D Lᵀ` of the `free` rows and columns of a matrix.
pub fn negative_pivots(matrix: &BlockMatrix, free: &[usize]) -> usize {
    Banded::factor(matrix, free).diagonal.iter().filter(|pivot| **pivot < 0.0).count()
}

/// `L D Lᵀ` factorization of a symmetric banded matrix, without pivoting.
struct Banded {
    /// Half-bandwidth.
    band: usize,
    /// Entries of `L`: the `band` entries before the diagonal, row by row.
    lower: Vec<f64>,
    diagonal: Vec<f64>,
}

impl Banded {
    /// Factors the `free` rows and columns of `matrix`, in that order.
    fn factor(matrix: &BlockMatrix, free: &[usize]) -> Self {
        let csr = matrix.to_csr();
        let mut place = vec![usize::MAX; csr.row_starts.len() - 1];
        for (i, &dof) in free.iter().enumerate() {
            place[dof] = i;
        }
        let row = |i: usize| {
            let range = csr.row_starts[free[i]]..csr.row_starts[free[i] + 1];
            let entries = csr.columns[range.clone()].iter().zip(&csr.values[range]);
            entries.map(|(&column, &value)| (place[column as usize], value)).filter(move |entry| entry.0 <= i)
        };
        let n = free.len();
        let band = (0..n).flat_map(|i| row(i).map(move |entry| i - entry.0)).max().unwrap_or(0);
        let mut lower = vec![0.0; n * band];
        let mut diagonal = vec![0.0; n];
        for i in 0..n {
            let (before, own) = lower.split_at_mut(i * band);
            let own = &mut own[..band];
            for (j, value) in row(i) {
                if j == i {
                    diagonal[i] = value;
                } else {
                    own[j + band - i] = value;
                }
            }
            let first = i.saturating_sub(band);
            for j in first..i {
                // Row j begins at column j − band, which is not after the start of this row.
                let other = &before[j * band..(j + 1) * band][first + band - j..];
                let sum: f64 = own[first + band - i..j + band - i].iter().zip(other).map(|(a, b)| a * b).sum();
                own[j + band - i] -= sum;
            }
            for j in first..i {
                let entry = own[j + band - i];
                own[j + band - i] = entry / diagonal[j];
                diagonal[i] -= entry * own[j + band - i];
            }
        }
        Self { band, lower, diagonal }
    }

    fn solve(&self, x: &mut [f64]) {
        let (n, band) = (x.len(), self.band);
        for i in 0..n {
            for j in i.saturating_sub(band)..i {
                x[i] -= self.lower[i * band + j + band - i] * x[j];
            }
        }
        for i in 0..n {
            x[i] /= self.diagonal[i];
        }
        for i in (0..n).rev() {
            for j in i.saturating_sub(band)..i {
                x[j] -= self.lower[i * band + j + band - i] * x[i];
            }
        }
    }
}
