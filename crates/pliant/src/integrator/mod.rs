//! Time integration and static equilibrium. One file per integrator.
//!
//! | integrator | order | stable |
//! |---|---|---|
//! | [`BackwardEuler`] | 1 | at any step, also for barriers; one or two linear systems per step, more in contact |
//! | [`LinearizedBackwardEuler`] | 1 | at any step on linear systems; one linear system per step, may diverge |
//! | [`Bdf2`] | 2 | at any step, also for barriers; damps only fast motion; linear systems as backward Euler |
//! | [`Newmark`] | 2 for `γ = ½` | at any step on linear systems |
//! | [`CentralDifferences`] | 2 | below `2/ω`, `ω` the highest frequency of the mesh |
//! | [`SymplecticEuler`] | 1 | below `2/ω`; energy is bounded for all times |
//! | [`ExplicitEuler`] | 1 | only with damping |
//! | [`Regularized`] | 1 | at any step, also for rigid and incompressible bodies; one linear system per step |
//!
//! [`Static`] solves for equilibrium, and [`QuasiStatic`] does so in every step. [`Halving`] repeats failed steps of
//! any integrator with smaller steps, and [`Fallback`] repeats them with another integrator.
//!
//! # A user-defined system
//!
//! Integrators are independent of finite elements. Here they step a row of pendulums, coupled by torsion springs:
//! `V = Σ (1 − cos θᵢ) + k/2 Σ (θᵢ₊₁ − θᵢ)²`, `M = I`.
//!
//! ```
//! use pliant::integrator::{BackwardEuler, CentralDifferences, Integrator};
//! use pliant::integrator::{LinearizedBackwardEuler, Newmark, SymplecticEuler};
//! use pliant::solver::{Dense, DenseMatrix};
//! use pliant::system::{Combination, Conditions, Definiteness, Linearization, State, System};
//!
//! struct Pendulums {
//!     matrix: DenseMatrix,
//! }
//!
//! const COUNT: usize = 10;
//! const COUPLING: f64 = 2.0;
//!
//! impl System for Pendulums {
//!     type Stiffness = DenseMatrix;
//!     type Damping = ();
//!     type Matrix = DenseMatrix;
//!
//!     fn dim(&self) -> usize {
//!         COUNT
//!     }
//!
//!     fn energy(&mut self, q: &[f64], _: &Conditions<'_>) -> Option<f64> {
//!         let lifted: f64 = q.iter().map(|q| 1.0 - q.cos()).sum();
//!         Some(lifted + 0.5 * COUPLING * q.windows(2).map(|q| (q[1] - q[0]).powi(2)).sum::<f64>())
//!     }
//!
//!     fn force(&mut self, q: &[f64], _: &Conditions<'_>, force: &mut [f64]) -> f64 {
//!         for i in 0..COUNT {
//!             force[i] = -q[i].sin();
//!             for j in [i.wrapping_sub(1), i + 1] {
//!                 force[i] += q.get(j).map_or(0.0, |neighbor| COUPLING * (neighbor - q[i]));
//!             }
//!         }
//!         0.0
//!     }
//!
//!     fn linearize(
//!         &mut self,
//!         q: &[f64],
//!         conditions: &Conditions<'_>,
//!         definiteness: Definiteness,
//!         force: &mut [f64],
//!     ) -> Linearization<DenseMatrix> {
//!         let scale = self.force(q, conditions, force);
//!         let mut stiffness = DenseMatrix::zero(COUNT);
//!         for i in 0..COUNT {
//!             let own = q[i].cos();
//!             stiffness[(i, i)] = if definiteness == Definiteness::Projected { own.max(0.0) } else { own };
//!             for j in [i.wrapping_sub(1), i + 1].into_iter().filter(|j| *j < COUNT) {
//!                 stiffness[(i, i)] += COUPLING;
//!                 stiffness[(i, j)] = -COUPLING;
//!             }
//!         }
//!         Linearization { stiffness, scale }
//!     }
//!
//!     fn damping(&mut self, _: &[f64], _: &Conditions<'_>, _: &[f64], _: Option<&DenseMatrix>, _: &mut [f64]) {}
//!
//!     fn mul(&mut self, combination: Combination<'_, Self>, x: &[f64], y: &mut [f64]) {
//!         for i in 0..COUNT {
//!             let row = |k: &DenseMatrix| (0..COUNT).map(|j| k[(i, j)] * x[j]).sum::<f64>();
//!             y[i] = combination.mass * x[i] + combination.stiffness.map_or(0.0, |(k, stiffness)| k * row(stiffness));
//!         }
//!     }
//!
//!     fn assemble(&mut self, combination: Combination<'_, Self>) {
//!         for i in 0..COUNT {
//!             for j in 0..COUNT {
//!                 let mass = if i == j { combination.mass } else { 0.0 };
//!                 let stiffness = combination.stiffness.map_or(0.0, |(k, stiffness)| k * stiffness[(i, j)]);
//!                 self.matrix[(i, j)] = mass + stiffness;
//!             }
//!         }
//!     }
//!
//!     fn matrix(&self) -> &DenseMatrix {
//!         &self.matrix
//!     }
//! }
//!
//! let mut pendulums = Pendulums { matrix: DenseMatrix::zero(COUNT) };
//! let integrators: [Box<dyn Integrator<Pendulums>>; 5] = [
//!     Box::new(LinearizedBackwardEuler::default()),
//!     Box::new(BackwardEuler::default()),
//!     Box::new(Newmark::default()),
//!     Box::new(CentralDifferences::default()),
//!     Box::new(SymplecticEuler::default()),
//! ];
//! for mut integrator in integrators {
//!     let mut state = State::new(COUNT);
//!     state.q[0] = 1.0;
//!     let start = pendulums.energy(&state.q, &Conditions::START).unwrap();
//!     for _ in 0..1000 {
//!         integrator.step(&mut pendulums, &mut Dense::default(), &mut state, 0.001)?;
//!     }
//!     let kinetic = 0.5 * state.v.iter().map(|v| v * v).sum::<f64>();
//!     let end = pendulums.energy(&state.q, &Conditions::START).unwrap() + kinetic;
//!     assert!((end / start - 1.0).abs() < 0.01);
//! }
//! # Ok::<(), pliant::integrator::StepError>(())
//! ```

mod acceleration;
mod backward_euler;
mod bdf2;
mod central_differences;
mod check;
mod error;
mod explicit;
mod fallback;
mod halving;
mod history;
mod info;
mod integrate;
mod linear_step;
mod linearized_backward_euler;
mod newmark;
mod newton;
mod newton_params;
pub mod regularized;
mod stability;
mod statics;
mod vectors;

pub use backward_euler::BackwardEuler;
pub use bdf2::Bdf2;
pub use central_differences::CentralDifferences;
pub(crate) use check::{check, check_finite};
pub use error::{Remedy, StepError};
pub use explicit::{ExplicitEuler, SymplecticEuler};
pub use fallback::Fallback;
pub use halving::Halving;
pub(crate) use history::update_history;
pub use info::StepInfo;
pub use integrate::Integrator;
pub use linearized_backward_euler::LinearizedBackwardEuler;
pub use newmark::{Newmark, NewmarkError};
pub use newton_params::{NewtonParams, NewtonTangent};
pub use regularized::Regularized;
pub use stability::{Stability, stability};
pub use statics::{QuasiStatic, Static, StaticParams};
