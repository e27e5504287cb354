//! Test systems for solvers, and checks that apply to all of them.

use std::sync::Arc;

use super::{Cholesky, LinearSolver, Operator, SolveInfo, Symbolic, VertexFrames};
use crate::force::{Conditions, Definiteness, Elastic, Force, bind_all};
use crate::mass::MassMatrix;
use crate::material::{AnyLaw, Corotational, CorotationalTangent, YoungPoisson};
use crate::math::Vec3;
use crate::mesh::{Cells, generate};
use crate::sparse::BlockMatrix;

/// Returns the position of a point of a bar of length 1 along `x` after bending by an angle in the `xy` plane.
pub(super) fn bent(place: Vec3, angle: f64) -> Vec3 {
    if angle == 0.0 {
        return place;
    }
    let radius = 1.0 / angle;
    let (sin, cos) = (angle * place.x).sin_cos();
    Vec3::new((radius - place.y) * sin, radius - (radius - place.y) * cos, place.z)
}

/// Returns [`bar_with`] a Poisson's ratio of 0.45.
pub(super) fn bar(cells: [usize; 3], young: f64, step: f64, angle: f64) -> Operator {
    bar_with(cells, young, 0.45, step, angle)
}

/// Returns the matrix `M + h²K` of a bent bar with its left end fixed, or the matrix `K` of statics if the step is
/// infinite.
pub(super) fn bar_with(cells: [usize; 3], young: f64, poisson: f64, step: f64, angle: f64) -> Operator {
    let mesh = generate::block([1.0, 0.2, 0.2], cells, Cells::Tet5).unwrap();
    let law = Corotational {
        tangent: CorotationalTangent::Warped,
        ..Corotational::from_moduli(YoungPoisson { young, poisson })
    };
    let mut elastic = Elastic::uniform(&mesh, AnyLaw::Corotational(law));
    let pattern = bind_all(mesh.vertex_count(), &mut [&mut elastic]);
    let u: Vec<f64> = mesh.vertices().iter().flat_map(|&x| (bent(x, angle) - x).to_array()).collect();
    let mut matrix = BlockMatrix::zero(pattern.clone());
    elastic.add_gradient_and_stiffness(
        &u,
        &Conditions::START,
        Definiteness::Exact,
        &mut vec![0.0; u.len()],
        &mut matrix,
    );
    if step.is_finite() {
        matrix.scale(step * step);
        MassMatrix::consistent(&mesh, &[1000.0], &pattern).unwrap().add_to(1.0, &mut matrix);
    }
    let fixed: Vec<bool> = mesh.vertices().iter().flat_map(|x| [x.x == 0.0; 3]).collect();
    fix(&mut matrix, &fixed);
    let frames = VertexFrames::new(mesh.vertex_count(), &[(0, &mesh)]);
    Operator { u, frames: Some(Arc::new(frames)), ..Operator::new(matrix) }
}

/// Keeps only the diagonal of the rows and columns of some coordinates.
pub(super) fn fix(matrix: &mut BlockMatrix, fixed: &[bool]) {
    let pattern = matrix.pattern().clone();
    for row in 0..pattern.node_count() {
        for slot in pattern.row(row) {
            let column = pattern.columns()[slot] as usize;
            for entry in 0..9 {
                let (i, j) = (3 * row + entry / 3, 3 * column + entry % 3);
                if i != j && (fixed[i] || fixed[j]) {
                    matrix.values_mut()[9 * slot + entry] = 0.0;
                }
            }
        }
    }
}

pub(super) fn right_hand_side(matrix: &BlockMatrix) -> Vec<f64> {
    (0..3 * matrix.pattern().node_count()).map(|i| (0.37 * i as f64).sin()).collect()
}

/// Checks that a solver finds the solution of a direct solver, to the relative tolerance `part`.
pub(super) fn assert_solves(solver: &mut dyn LinearSolver<Operator>, operator: &Operator, part: f64) -> SolveInfo {
    let b = right_hand_side(&operator.matrix);
    let mut expected = vec![0.0; b.len()];
    let mut cholesky = Cholesky::<f64>::new(Arc::new(Symbolic::new(operator.matrix.pattern().clone()).unwrap()));
    cholesky.factor(&operator.matrix).unwrap();
    cholesky.solve(&b, &mut expected);
    let mut x = vec![0.0; b.len()];
    solver.set_matrix(operator).unwrap();
    let info = solver.solve(operator, &b, &mut x).unwrap();
    let size = expected.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
    for (i, (x, expected)) in x.iter().zip(&expected).enumerate() {
        assert!((x - expected).abs() <= part * size, "{x} instead of {expected} at {i}: {info:?}");
    }
    info
}

/// Checks that the solution does not depend on the number of threads.
pub(super) fn assert_same_on_any_threads(operator: &Operator, make: impl Fn() -> Box<dyn LinearSolver<Operator>>) {
    let b = right_hand_side(&operator.matrix);
    let on = |threads: usize| {
        let mut solver = make();
        let mut x = vec![0.0; b.len()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let solved = pool.install(|| {
            solver.set_matrix(operator)?;
            solver.solve(operator, &b, &mut x)
        });
        (solved.unwrap(), x)
    };
    assert_eq!(on(1), on(4));
}
