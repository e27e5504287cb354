//! Forces that couple other vertices in every step, as contacts do, on a matrix whose pattern is fixed.

use std::ops::ControlFlow;
use std::sync::Arc;

use pliant::damping::Damping;
use pliant::force::{Conditions, Definiteness, Force};
use pliant::integrator::{BackwardEuler, Integrator, LinearizedBackwardEuler, StepInfo};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::reduced::{ReducedModel, Reduction, ReductionParams};
use pliant::solver::{BlockJacobi, CgParams, Dense, LinearSolver, Operator, SolverParams, StaleFactorParams};
use pliant::sparse::{BlockMatrix, BlockPattern, LowRank};
use pliant::system::{State, System};

/// Springs of zero length `k/2 |d·(uᵢ − uⱼ)|²` along fixed directions, between pairs that change with time.
#[derive(Debug, Clone)]
struct MovingPairs {
    vertex_count: usize,
    stiffness: f64,
    /// True to couple all pairs of all times in the pattern, as other forces do.
    is_in_pattern: bool,
}

/// Length of a step \[s\].
const H: f64 = 0.01;

impl MovingPairs {
    fn pairs(&self, time: f64) -> [(u32, u32, Vec3); 3] {
        let step = (time / H).round() as u32;
        let n = self.vertex_count as u32;
        let direction = Vec3::new(0.6, 0.0, 0.8);
        [(step, n - 1, direction), (step + 3, n - 5 - step, Vec3::Y), (2, n - 2 * step - 2, direction)]
    }
}

/// Returns `d·(uᵢ − uⱼ)`.
fn stretch((i, j, direction): (u32, u32, Vec3), u: &[f64]) -> f64 {
    let at = |vertex: u32| Vec3::from_slice(&u[3 * vertex as usize..]);
    direction.dot(at(i) - at(j))
}

impl Force for MovingPairs {
    fn node_count(&self) -> usize {
        self.vertex_count
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        // The reduced model has to know on which vertices a force acts.
        for step in 0..=10 {
            for (i, j, _) in self.pairs(f64::from(step) * H) {
                if self.is_in_pattern {
                    add(&[i, j]);
                } else {
                    [i, j].iter().for_each(|vertex| add(&[*vertex]));
                }
            }
        }
    }

    fn bind(&mut self, _: &Arc<BlockPattern>) {}

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        let energy = |pair| 0.5 * self.stiffness * stretch(pair, u).powi(2);
        self.pairs(conditions.time).into_iter().map(energy).sum()
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        for pair in self.pairs(conditions.time) {
            let f = self.stiffness * stretch(pair, u);
            for (vertex, sign) in [(pair.0, 1.0), (pair.1, -1.0)] {
                let sum = &mut gradient[3 * vertex as usize..];
                (Vec3::from_slice(sum) + sign * f * pair.2).write_to_slice(sum);
            }
        }
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        _: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.add_gradient(u, conditions, gradient);
        for (i, j, d) in self.pairs(conditions.time).into_iter().filter(|_| self.is_in_pattern) {
            let block = |sign: f64| {
                let k = sign * self.stiffness;
                [0, 1, 2].map(|row| [0, 1, 2].map(|column| k * d[row] * d[column]))
            };
            stiffness.add_block(i, i, &block(1.0));
            stiffness.add_block(j, j, &block(1.0));
            stiffness.add_block(i, j, &block(-1.0));
        }
    }

    fn add_varying_stiffness(&self, _: &[f64], conditions: &Conditions<'_>, _: Definiteness, stiffness: &mut LowRank) {
        for (i, j, d) in self.pairs(conditions.time).into_iter().filter(|_| !self.is_in_pattern) {
            stiffness.push(self.stiffness, [(i, d), (j, -d)]);
        }
    }
}

fn mesh() -> VolumeMesh {
    generate::block([1.0, 0.2, 0.2], [10, 2, 2], Cells::Tet5).unwrap()
}

fn builder(is_in_pattern: bool) -> ModelBuilder {
    let mesh = mesh();
    let law = AnyLaw::new("corotational", YoungPoisson { young: 1e5, poisson: 0.3 }).unwrap();
    let pairs = MovingPairs { vertex_count: mesh.vertex_count(), stiffness: 2e3, is_in_pattern };
    let fixed = mesh.vertex_sets()["x-min"].clone();
    let body = Body::new(mesh, law, 1000.0);
    Model::builder().body(body).force(pairs).fix(Fixed::new(fixed)).gravity(-9.81 * Vec3::Z)
}

/// Makes ten steps from a state with some motion.
fn steps<S: System>(
    system: &mut S,
    rest: State,
    integrator: &mut dyn Integrator<S>,
    solver: &mut dyn LinearSolver<S::Matrix>,
) -> (State, StepInfo) {
    let mut state = rest;
    state.v.iter_mut().enumerate().for_each(|(i, v)| *v = 0.2 * (0.3 * i as f64).sin());
    let mut info = StepInfo::default();
    for _ in 0..10 {
        info = info.and(&integrator.step(system, solver, &mut state, H).unwrap());
    }
    (state, info)
}

fn difference(a: &State, b: &State) -> f64 {
    let largest = a.q.iter().fold(0.0_f64, |largest, q| largest.max(q.abs()));
    a.q.iter().zip(&b.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

fn reference() -> State {
    let mut assembly = Assembly::new(builder(true).build().unwrap());
    let rest = assembly.rest_state();
    steps(&mut assembly, rest, &mut BackwardEuler::default(), &mut *SolverParams::Direct.build()).0
}

#[test]
fn every_solver_gives_the_motion_of_a_pattern_that_has_all_couplings() {
    let reference = reference();
    let cg = CgParams { tolerance: 1e-10, ..CgParams::default() };
    let solvers = [
        SolverParams::Direct,
        SolverParams::DirectSingle(cg),
        SolverParams::BlockJacobi(cg),
        SolverParams::IncompleteCholesky(cg),
        SolverParams::StaleFactor(StaleFactorParams { cg, ..StaleFactorParams::default() }),
        SolverParams::default(),
    ];
    for params in solvers {
        let mut assembly = Assembly::new(builder(false).build().unwrap());
        let rest = assembly.rest_state();
        let (state, _) = steps(&mut assembly, rest, &mut BackwardEuler::default(), &mut *params.build());
        let error = difference(&reference, &state);
        assert!(error < 1e-6, "{params:?}: {error:e}");
    }
    // Without them the motion is another.
    let alone = ModelBuilder::clone(&builder(false));
    let weak = MovingPairs { vertex_count: mesh().vertex_count(), stiffness: 2e3, is_in_pattern: false };
    let mut assembly = Assembly::new(alone.force(weak).build().unwrap());
    let rest = assembly.rest_state();
    let (state, _) = steps(&mut assembly, rest, &mut BackwardEuler::default(), &mut *SolverParams::Direct.build());
    assert!(difference(&reference, &state) > 1e-4, "twice the springs change nothing");
}

#[test]
fn a_matrix_free_model_multiplies_with_them() {
    let reference = reference();
    let mut free = builder(false).build_matrix_free().unwrap();
    let rest = free.rest_state();
    let mut solver = BlockJacobi::new(CgParams { tolerance: 1e-10, ..CgParams::default() });
    let (state, _) = steps(&mut free, rest, &mut BackwardEuler::default(), &mut solver);
    let error = difference(&reference, &state);
    assert!(error < 1e-6, "{error:e}");
}

#[test]
fn a_stale_factor_is_kept_while_couplings_change() {
    let mut assembly = Assembly::new(builder(false).build().unwrap());
    let rest = assembly.rest_state();
    let mut solver = SolverParams::StaleFactor(StaleFactorParams::default()).build();
    let (_, info) = steps(&mut assembly, rest, &mut LinearizedBackwardEuler::default(), &mut *solver);
    assert!(info.factorizations <= 4, "{} factorizations in ten steps", info.factorizations);
}

#[test]
fn a_reduced_model_projects_them() {
    let damped =
        |is_in_pattern: bool| builder(is_in_pattern).damping(Damping::rayleigh(0.1, 0.0).unwrap()).build().unwrap();
    let reduce = || {
        let (model, params) = (damped(true), ReductionParams::new(8));
        Reduction::new(&model, &params, &mut |_| ControlFlow::Continue(())).unwrap().0
    };
    let with = |is_in_pattern: bool| {
        let mut reduced = ReducedModel::new(damped(is_in_pattern), reduce()).unwrap();
        let rest = reduced.rest_state();
        let (state, _) = steps(&mut reduced, rest, &mut BackwardEuler::default(), &mut Dense::default());
        reduced.expand(&state)
    };
    let error = difference(&with(true), &with(false));
    assert!(error < 1e-6, "{error:e}");
}

#[test]
fn results_are_bitwise_equal_on_one_and_four_threads_and_after_forgetting() {
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut assembly = Assembly::new(builder(false).build().unwrap());
            let rest = assembly.rest_state();
            let mut solver: Box<dyn LinearSolver<Operator>> = SolverParams::default().build();
            let first = steps(&mut assembly, rest.clone(), &mut BackwardEuler::default(), &mut *solver).0;
            solver.forget();
            let again = steps(&mut assembly, rest, &mut BackwardEuler::default(), &mut *solver).0;
            assert_eq!(first, again);
            first
        })
    };
    assert_eq!(on(1), on(4));
}
