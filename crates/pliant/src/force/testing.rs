//! Tests that every force must pass: derivatives, balance, symmetry, definiteness, threads.

use super::{Conditions, Definiteness, Force, ThirdDerivative, at, bind_all};
use crate::math::{Mat3, Vec3};
use crate::mesh::{Cells, VolumeMesh, generate};
use crate::sparse::BlockMatrix;

/// Tolerance for derivatives against fourth-order differences, relative to their size. The best of several steps is
/// well below.
const DERIVATIVE: f64 = 1e-9;

/// Tolerance for identities up to rounding, relative to the size of the summands.
const EXACT: f64 = 1e-12;

/// Returns random numbers between ±`size`.
pub fn random(count: usize, size: f64, seed: u64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| size * (2.0 * rng.f64() - 1.0)).collect()
}

/// Returns a mesh of a few distorted elements of about half a meter, with inner vertices moved too.
pub fn small_mesh(cells: Cells) -> VolumeMesh {
    let mut data = generate::block([1.0, 0.9, 1.2], [2, 1, 2], cells).unwrap().into_data();
    let shifts = random(3 * data.vertices.len(), 0.08, 1);
    data.vertices.iter_mut().enumerate().for_each(|(n, x)| *x += at(&shifts, n as u32));
    VolumeMesh::check(data).unwrap().mesh
}

/// Returns displacements of a [`small_mesh`]: small, large, and so large that elements are inverted.
pub fn states(mesh: &VolumeMesh) -> Vec<Vec<f64>> {
    let state = |seed, size| random(3 * mesh.vertex_count(), size, seed);
    let all = vec![state(2, 0.01), state(3, 0.15), state(4, 0.7), state(5, 1.5)];
    assert!(!is_inverted(mesh, &all[0]) && is_inverted(mesh, &all[2]) && is_inverted(mesh, &all[3]));
    all
}

/// Returns true if the corner at the first vertex of some element is inverted.
fn is_inverted(mesh: &VolumeMesh, u: &[f64]) -> bool {
    let corner: [usize; 3] = if mesh.kind().nodes() == 4 { [1, 2, 3] } else { [1, 3, 4] };
    mesh.elements().any(|nodes| {
        let x = |n: usize| mesh.vertices()[nodes[n] as usize] + at(u, nodes[n]);
        Mat3::from_cols(x(corner[0]) - x(0), x(corner[1]) - x(0), x(corner[2]) - x(0)).determinant() < 0.0
    })
}

/// Returns the maximum absolute value, or NaN if any is NaN.
pub fn largest(numbers: &[f64]) -> f64 {
    numbers
        .iter()
        .fold(0.0, |most: f64, number| if most.is_nan() || number.is_nan() { f64::NAN } else { most.max(number.abs()) })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns `u + s d`.
fn moved(u: &[f64], s: f64, d: &[f64]) -> Vec<f64> {
    u.iter().zip(d).map(|(u, d)| u + s * d).collect()
}

/// Checks that `exact` is the derivative of `value` at zero.
fn check_derivative(what: &str, exact: &[f64], value: impl Fn(f64) -> Vec<f64>) {
    let error = |step: f64| {
        let [far_back, back, forth, far_forth] = [-2.0, -1.0, 1.0, 2.0].map(|s| value(s * step));
        let difference = |i: usize| (8.0 * (forth[i] - back[i]) - (far_forth[i] - far_back[i])) / (12.0 * step);
        largest(&(0..exact.len()).map(|i| difference(i) - exact[i]).collect::<Vec<_>>())
    };
    let best = [3e-3, 1e-3, 3e-4, 1e-4, 3e-5].map(error).into_iter().fold(f64::INFINITY, f64::min);
    assert!(best <= DERIVATIVE * largest(exact), "{what} is off by {best:e} of {:e}", largest(exact));
}

/// Returns the total force and the total moment about the origin.
pub fn resultants(rest: &[Vec3], u: &[f64], force: &[f64]) -> (Vec3, Vec3) {
    let forces = || (0..rest.len() as u32).map(|v| (rest[v as usize] + at(u, v), at(force, v)));
    (forces().map(|(_, f)| f).sum(), forces().map(|(x, f)| x.cross(f)).sum())
}

/// Returns all entries of a matrix.
pub fn dense(matrix: &BlockMatrix) -> Vec<Vec<f64>> {
    let n = 3 * matrix.pattern().node_count();
    let entry = |i: usize, j: usize| matrix.block(i as u32 / 3, j as u32 / 3)[i % 3][j % 3];
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

/// Returns the eigenvalues of a symmetric matrix by Jacobi's method, ascending.
pub fn eigenvalues(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for _ in 0..30 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        let all: f64 = a.iter().flatten().map(|entry| entry * entry).sum();
        if off <= 1e-30 * all {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let cos = 1.0 / t.hypot(1.0);
                let sin = t * cos;
                for row in &mut a {
                    (row[p], row[q]) = (cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]);
                }
                for k in 0..n {
                    (a[p][k], a[q][k]) = (cos * a[p][k] - sin * a[q][k], sin * a[p][k] + cos * a[q][k]);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn force_of(force: &dyn Force, conditions: &Conditions<'_>, u: &[f64]) -> Vec<f64> {
    let mut f = vec![0.0; u.len()];
    force.add_gradient(u, conditions, &mut f);
    f
}

/// Checks any force that has an energy, in one state:
///
/// - force and stiffness are derivatives of the energy;
/// - the stiffness is symmetric;
/// - the projected stiffness is positive semi-definite and nowhere softer.
///
/// Returns force and stiffness.
pub fn check_derivatives(force: &mut dyn Force, conditions: &Conditions<'_>, u: &[f64]) -> (Vec<f64>, BlockMatrix) {
    let pattern = bind_all(u.len() / 3, &mut [force]);
    let force = &*force;
    assert!(force.has_energy());
    let f = force_of(force, conditions, u);
    let with_stiffness = |u: &[f64], definiteness| {
        let (mut f, mut k) = (vec![0.0; u.len()], BlockMatrix::zero(pattern.clone()));
        force.add_gradient_and_stiffness(u, conditions, definiteness, &mut f, &mut k);
        (f, k)
    };
    let (same_f, k) = with_stiffness(u, Definiteness::Exact);
    assert_eq!(f, same_f, "the force with stiffness differs from that without");
    for seed in 10..14 {
        let d = random(u.len(), 1.0, seed);
        check_derivative("f·d", &[dot(&f, &d)], |s| vec![force.energy(&moved(u, s, &d), conditions)]);
        let mut product = vec![0.0; u.len()];
        k.mul(&d, &mut product);
        check_derivative("K d", &product, |s| force_of(force, conditions, &moved(u, s, &d)));
    }

    let exact = dense(&k);
    let stiffest = exact.iter().map(|row| largest(row)).fold(0.0, f64::max);
    for i in 0..u.len() {
        assert!((0..u.len()).all(|j| (exact[i][j] - exact[j][i]).abs() <= EXACT * stiffest));
    }

    let (f_projected, projected) = with_stiffness(u, Definiteness::Projected);
    assert_eq!(f_projected, f);
    let mut gain = projected.clone();
    gain.add_scaled(-1.0, &k);
    let spectrum = eigenvalues(dense(&projected));
    let tolerance = EXACT * spectrum[spectrum.len() - 1].max(stiffest);
    assert!(spectrum[0] >= -tolerance, "a negative eigenvalue {:e} of {stiffest:e}", spectrum[0]);
    let gained = eigenvalues(dense(&gain))[0];
    assert!(gained >= -tolerance, "projected, it is softer by {gained:e} of {stiffest:e}");
    (f, k)
}

/// Checks a force that depends only on the shape of the body, in one state: [`check_derivatives`], and
///
/// - total force and moment vanish, and rotating the body rotates the force;
/// - the stiffness does not resist translation.
pub fn check_force(force: &mut dyn Force, rest: &[Vec3], u: &[f64]) {
    let (f, k) = check_derivatives(force, &Conditions::START, u);
    let force = &*force;
    let size = largest(&f);
    let (total, moment) = resultants(rest, u, &f);
    assert!(total.length() <= EXACT * size, "total force {total}");
    assert!(moment.length() <= EXACT * size, "total moment {moment}");

    let turn = Mat3::from_axis_angle(Vec3::new(1.0, 2.0, -2.0) / 3.0, 0.9);
    let shift = Vec3::new(0.4, -0.2, 0.1);
    let turned: Vec<f64> =
        (0..rest.len()).flat_map(|v| (turn * (rest[v] + at(u, v as u32)) + shift - rest[v]).to_array()).collect();
    let energy = force.energy(u, &Conditions::START);
    assert!(
        (force.energy(&turned, &Conditions::START) - energy).abs() <= EXACT * energy.abs(),
        "the energy changes as the body turns"
    );
    let turned_f = force_of(force, &Conditions::START, &turned);
    for v in 0..rest.len() as u32 {
        let error = (at(&turned_f, v) - turn * at(&f, v)).length();
        assert!(error <= EXACT * size, "turned, the force at vertex {v} is off by {error:e} of {size:e}");
    }

    let exact = dense(&k);
    let stiffest = exact.iter().map(|row| largest(row)).fold(0.0, f64::max);
    for row in &exact {
        for axis in 0..3 {
            let translation: f64 = row.iter().skip(axis).step_by(3).sum();
            assert!(translation.abs() <= EXACT * stiffest, "stiffness against translation: {translation}");
        }
    }
}

/// Checks damping in one state, against objects that move at `v̄`: `D(u, v)` is symmetric and positive semi-definite,
/// and its product with `v − v̄` is the force. Returns that force.
pub fn check_damping(
    force: &mut dyn Force,
    conditions: &Conditions<'_>,
    u: &[f64],
    [v, v_bar]: [&[f64]; 2],
) -> Vec<f64> {
    let pattern = bind_all(u.len() / 3, &mut [force]);
    assert!(force.has_damping());
    let (mut f, mut d) = (vec![0.0; u.len()], BlockMatrix::zero(pattern));
    force.add_dissipation_gradient(u, conditions, v, &mut f);
    force.add_damping(u, conditions, v, &mut d);
    let mut product = vec![0.0; u.len()];
    d.mul(&moved(v, -1.0, v_bar), &mut product);
    let error = largest(&moved(&f, -1.0, &product));
    // Velocities of moving objects are differences over a microsecond, accurate to ten digits.
    assert!(error <= 1e-10 * (largest(&f) + largest(d.values())), "D (v − v̄) is off by {error:e} of {:e}", largest(&f));
    let entries = dense(&d);
    assert!((0..u.len()).all(|i| (0..i).all(|j| entries[i][j] == entries[j][i])));
    let spectrum = eigenvalues(entries);
    assert!(spectrum[0] >= -EXACT * spectrum[spectrum.len() - 1], "damping {:e}", spectrum[0]);
    f
}

/// Checks that a body in rigid motion from its rest state has neither energy nor force.
pub fn check_rigid_motion(force: &mut dyn Force, rest: &[Vec3]) {
    let pattern = bind_all(rest.len(), &mut [force]);
    let turn = Mat3::from_axis_angle(Vec3::new(2.0, -1.0, 2.0) / 3.0, 2.2);
    let u: Vec<f64> = rest.iter().flat_map(|&x| (turn * x + Vec3::new(1.0, -3.0, 0.5) - x).to_array()).collect();
    let (mut f, mut k) = (vec![0.0; u.len()], BlockMatrix::zero(pattern));
    force.add_gradient_and_stiffness(&u, &Conditions::START, Definiteness::Exact, &mut f, &mut k);
    let stiffest = largest(k.values());
    assert!(stiffest > 0.0);
    assert!(force.energy(&u, &Conditions::START) <= 1e-26 * stiffest && largest(&f) <= 1e-13 * stiffest);
    // A relaxed body is stable: six rigid motions need no energy, and no other motion releases any.
    let spectrum = eigenvalues(dense(&k));
    assert!(spectrum[0] >= -EXACT * stiffest && spectrum[5] <= EXACT * stiffest);
}

/// Checks the derivative of the stiffness at `u`, contracted and as a tensor.
pub fn check_stiffness_derivative<F: Force>(
    force: &mut F,
    u: &[f64],
    derivative: impl Fn(&F, &[f64], &[f64], &[f64], &mut [f64]),
    tensor: impl Fn(&F, &[f64]) -> ThirdDerivative,
) {
    let pattern = bind_all(u.len() / 3, &mut [force]);
    let force = &*force;
    let (a, b) = (random(u.len(), 1.0, 20), random(u.len(), 1.0, 21));
    let stiffness_times_b = |u: &[f64]| {
        let (mut f, mut k) = (vec![0.0; u.len()], BlockMatrix::zero(pattern.clone()));
        force.add_gradient_and_stiffness(u, &Conditions::START, Definiteness::Exact, &mut f, &mut k);
        k.mul(&b, &mut f);
        f
    };
    let mut exact = vec![0.0; u.len()];
    derivative(force, u, &a, &b, &mut exact);
    check_derivative("(dK:a) b", &exact, |s| stiffness_times_b(&moved(u, s, &a)));
    let size = largest(&exact);
    let mut exchanged = vec![0.0; u.len()];
    derivative(force, u, &b, &a, &mut exchanged);
    let mut contracted = vec![0.0; u.len()];
    let tensor = tensor(force, u);
    tensor.contract(&a, &b, &mut contracted);
    for i in 0..u.len() {
        assert!((exchanged[i] - exact[i]).abs() <= EXACT * size, "exchanging a and b changes entry {i}");
        assert!((contracted[i] - exact[i]).abs() <= EXACT * size, "the tensor gives another entry {i}");
    }
    for ([a, b, c], block) in tensor.iter() {
        assert!(a <= b && b <= c);
        let (p, q, r) = (0, 1, 2);
        if a == b {
            assert!((block[p][q][r] - block[q][p][r]).abs() <= EXACT * size);
        }
        if b == c {
            assert!((block[p][q][r] - block[p][r][q]).abs() <= EXACT * size);
        }
    }
}

/// Checks that one thread and four give bitwise equal results.
pub fn check_threads<F: Force + Clone>(force: &F, vertex_count: usize) {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut force = force.clone();
            let pattern = bind_all(vertex_count, &mut [&mut force]);
            let u = random(3 * vertex_count, 0.1, 30);
            let v = random(3 * vertex_count, 1.0, 31);
            let (mut f, mut k) = (vec![0.0; u.len()], BlockMatrix::zero(pattern));
            force.add_gradient_and_stiffness(&u, &Conditions::START, Definiteness::Exact, &mut f, &mut k);
            force.add_gradient_and_stiffness(&u, &Conditions::START, Definiteness::Projected, &mut f, &mut k);
            force.add_gradient(&u, &Conditions::START, &mut f);
            force.add_dissipation_gradient(&u, &Conditions::START, &v, &mut f);
            force.add_damping(&u, &Conditions::START, &v, &mut k);
            f.push(force.energy(&u, &Conditions::START));
            f.iter().chain(k.values()).map(|value| value.to_bits()).collect::<Vec<_>>()
        })
    };
    assert!(on(1) == on(4), "four threads give other bits than one");
}
