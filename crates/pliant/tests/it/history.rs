//! History variables: they change only when a step succeeds, and are part of states, checkpoints and copies.

use std::sync::Arc;

use pliant::force::{Conditions, Definiteness, Force};
use pliant::integrator::{BackwardEuler, Halving, Integrator, NewtonParams, QuasiStatic, StepError};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::simulation::Simulation;
use pliant::solver::{Direct, SolverParams};
use pliant::sparse::{BlockMatrix, BlockPattern};
use pliant::system::{State, System};

/// Spring from a vertex to an anchor `a`, along x, that slips when the force reaches `k s`: perfect plasticity.
///
/// With the anchor at the start of the step, `V = k/2 e²` for the elongation `|e| ≤ s`, `e = u − a`, and
/// `V = k s |e| − k s²/2` beyond. The anchor follows: `a₊ = u − clamp(e, −s, s)`.
#[derive(Debug, Clone)]
struct SlippingAnchor {
    vertex: u32,
    vertex_count: usize,
    stiffness: f64,
    slip: f64,
    /// Slot of the diagonal block.
    slot: Option<usize>,
}

impl SlippingAnchor {
    fn elongation(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        u[3 * self.vertex as usize] - conditions.history[0]
    }
}

impl Force for SlippingAnchor {
    fn node_count(&self) -> usize {
        self.vertex_count
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        add(&[self.vertex]);
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        self.slot = pattern.slot(self.vertex, self.vertex);
    }

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        let (e, s) = (self.elongation(u, conditions).abs(), self.slip);
        self.stiffness * if e <= s { 0.5 * e * e } else { s * e - 0.5 * s * s }
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        let e = self.elongation(u, conditions);
        gradient[3 * self.vertex as usize] += self.stiffness * e.clamp(-self.slip, self.slip);
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
        if self.elongation(u, conditions).abs() <= self.slip {
            stiffness.values_mut()[9 * self.slot.expect("bound")] += self.stiffness;
        }
    }

    fn history_len(&self) -> usize {
        1
    }

    fn init_history(&self, history: &mut [f64]) {
        history[0] = 0.0;
    }

    fn update_history(&self, u: &[f64], conditions: &Conditions<'_>, history: &mut [f64]) {
        let e = self.elongation(u, conditions);
        history[0] = u[3 * self.vertex as usize] - e.clamp(-self.slip, self.slip);
    }
}

const STIFFNESS: f64 = 500.0;
const SLIP: f64 = 0.002;

/// Returns a bar that is pulled at its far end, where it is anchored as well.
fn bar() -> Model {
    let mesh = generate::block([1.0, 0.2, 0.2], [4, 1, 1], Cells::Hex).unwrap();
    let law = AnyLaw::new("linear", YoungPoisson { young: 1e4, poisson: 0.0 }).unwrap();
    let vertex_count = mesh.vertex_count();
    let (start, end) = (mesh.vertex_sets()["x-min"].clone(), mesh.vertex_sets()["x-max"].clone());
    let body = Body::new(mesh, law, 1000.0);
    let anchors =
        end.iter().map(|&vertex| SlippingAnchor { vertex, vertex_count, stiffness: STIFFNESS, slip: SLIP, slot: None });
    let builder = Model::builder().body(body).fix(Fixed::new(start));
    anchors.fold(builder, ModelBuilder::force).build().unwrap()
}

/// Sets the total load on the far end \[N\].
fn pull(model: &mut Model, total: f64) {
    let end: Vec<u32> = model.vertex_sets()["x-max"].clone();
    for &vertex in &end {
        model.loads_mut()[3 * vertex as usize] = total / end.len() as f64;
    }
}

fn simulation(integrator: impl Integrator<Assembly> + 'static) -> Simulation {
    let model = bar();
    let state = model.rest_state();
    assert_eq!(state.history, [0.0; 4]);
    Simulation::new(model, integrator, SolverParams::Direct.build(), state, 0.01)
}

/// Loads beyond the slip, and unloads. The bar has the stiffness `EA/L = 400 N/m`, and four anchors have `4 k`. At the
/// load `F` they slip: `400 u + 4 k s = F`. Unloaded, `400 u + 4 k (u − a) = 0`.
#[test]
fn an_anchor_that_slips_leaves_the_permanent_set_of_perfect_plasticity() {
    let mut simulation = simulation(QuasiStatic::default());
    let end = simulation.model().vertex_sets()["x-max"][0] as usize;
    let at_end = |simulation: &mut Simulation, load: f64| {
        pull(simulation.model_mut(), load);
        simulation.step().unwrap();
        (simulation.state().q[3 * end], simulation.state().history[0])
    };
    let (bar, anchors) = (400.0, 4.0 * STIFFNESS);
    // Below the slip: elastic.
    let (u, a) = at_end(&mut simulation, 2.0);
    assert!((u - 2.0 / (bar + anchors)).abs() < 1e-10 && a.abs() < 1e-15, "{u} {a}");
    // Beyond it.
    let beyond = |load: f64| (load - anchors * SLIP) / bar;
    let (u, a) = at_end(&mut simulation, 6.0);
    assert!((u - beyond(6.0)).abs() < 1e-9 && (a - (u - SLIP)).abs() < 1e-9, "{u} {a}");
    // Unloaded, the anchors that moved keep it stretched.
    let (u, kept) = at_end(&mut simulation, 0.0);
    assert!((u - anchors * a / (bar + anchors)).abs() < 1e-9 && (kept - a).abs() < 1e-15, "{u} {kept}");
    // After a larger load the bar pulls them back until they resist.
    let (u, _) = at_end(&mut simulation, 12.0);
    assert!((u - beyond(12.0)).abs() < 1e-9, "{u}");
    let (u, a) = at_end(&mut simulation, 0.0);
    assert!((u - anchors * SLIP / bar).abs() < 1e-9 && (a - (u + SLIP)).abs() < 1e-9, "{u} {a}");
}

#[test]
fn a_step_that_fails_leaves_the_history() {
    let strict = NewtonParams { max_iterations: 1, tolerance: 1e-14, ..NewtonParams::default() };
    let mut simulation = simulation(Halving::new(BackwardEuler::new(strict), 2));
    pull(simulation.model_mut(), 1e5);
    let before = simulation.state().clone();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::Halving { .. }), "{error}");
    assert_eq!(*simulation.state(), before);
}

#[test]
fn checkpoints_and_copies_continue_with_the_same_bits() {
    let mut first = simulation(BackwardEuler::default());
    pull(first.model_mut(), 15.0);
    for _ in 0..5 {
        first.step().unwrap();
    }
    assert!(first.state().history.iter().all(|anchor| *anchor > 0.0), "{:?}", first.state().history);
    let checkpoint = first.checkpoint_here();
    let mut copy = first.clone();
    let mut resumed = simulation(BackwardEuler::default());
    pull(resumed.model_mut(), 15.0);
    resumed.resume(checkpoint.clone()).unwrap();
    for _ in 0..5 {
        for simulation in [&mut first, &mut copy, &mut resumed] {
            simulation.step().unwrap();
        }
    }
    assert_eq!(first.state(), copy.state());
    assert_eq!(first.state(), resumed.state());
    let mut other = checkpoint;
    other.state.history.pop();
    let error = resumed.resume(other).unwrap_err().to_string();
    assert_eq!(error, "the checkpoint has 3 history variables, expected 4");
}

#[test]
fn trial_steps_of_newton_and_the_line_search_do_not_change_it() {
    let mut assembly = Assembly::new(bar());
    pull(assembly.model_mut(), 1e3);
    let mut state = assembly.rest_state();
    let whole = BackwardEuler::default().step(&mut assembly, &mut Direct::default(), &mut state, 0.01).unwrap();
    assert!(whole.newton_iterations > 1, "{whole:?}");
    // The anchors are where the accepted state takes them from the start of the step in one update.
    let start = assembly.rest_state();
    let mut expected = start.history.clone();
    assembly.update_history(&state.q, &start.conditions(0.01), &mut expected);
    assert_eq!(state.history, expected);
}

#[test]
fn a_state_without_history_is_refused() {
    let mut assembly = Assembly::new(bar());
    let mut state = State { history: Vec::new(), ..assembly.rest_state() };
    let error = BackwardEuler::default().step(&mut assembly, &mut Direct::default(), &mut state, 0.01).unwrap_err();
    assert_eq!(error.to_string(), "the state has 0 history variables, expected 4");
    assert_eq!(assembly.model().gravity(), Vec3::ZERO);
}
