//! User-defined system: pendulums in a row, coupled by torsional springs.

use pliant::solver::DenseMatrix;
use pliant::system::{Combination, Conditions, DampingKind, Definiteness, Linearization, State, System};

/// Pendulums with `V = Σ mgl (1 − cos θᵢ) + k/2 Σ (θᵢ₊₁ − θᵢ)²`, `M = ml² I`, `m = l = 1` and `g = 9.81`.
#[derive(Debug)]
pub struct Pendulums {
    count: usize,
    pub coupling: f64,
    pub friction: f64,
    matrix: DenseMatrix,
}

const G: f64 = 9.81;

impl Pendulums {
    pub fn new(count: usize) -> Self {
        Self { count, coupling: 3.0, friction: 0.0, matrix: DenseMatrix::zero(count) }
    }

    /// Returns the state with the first pendulum lifted by `angle`.
    pub fn lifted(&self, angle: f64) -> State {
        let mut state = State::new(self.count);
        state.q[0] = angle;
        state
    }

    pub fn total_energy(&mut self, state: &State) -> f64 {
        self.energy(&state.q, &Conditions::START).unwrap() + 0.5 * state.v.iter().map(|v| v * v).sum::<f64>()
    }
}

impl System for Pendulums {
    type Stiffness = DenseMatrix;
    /// Coefficient `d` of `D = d I`.
    type Damping = f64;
    type Matrix = DenseMatrix;

    fn dim(&self) -> usize {
        self.count
    }

    fn energy(&mut self, q: &[f64], _: &Conditions<'_>) -> Option<f64> {
        let hanging: f64 = q.iter().map(|q| G * (1.0 - q.cos())).sum();
        Some(hanging + 0.5 * self.coupling * q.windows(2).map(|q| (q[1] - q[0]).powi(2)).sum::<f64>())
    }

    fn force(&mut self, q: &[f64], _: &Conditions<'_>, force: &mut [f64]) -> f64 {
        for (i, force) in force.iter_mut().enumerate() {
            *force = -G * q[i].sin();
            if i > 0 {
                *force += self.coupling * (q[i - 1] - q[i]);
            }
            if i + 1 < self.count {
                *force += self.coupling * (q[i + 1] - q[i]);
            }
        }
        0.0
    }

    fn linearize(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        force: &mut [f64],
    ) -> Linearization<DenseMatrix> {
        let scale = self.force(q, conditions, force);
        let mut stiffness = DenseMatrix::zero(self.count);
        for i in 0..self.count {
            let hanging = G * q[i].cos();
            stiffness[(i, i)] += if definiteness == Definiteness::Projected { hanging.max(0.0) } else { hanging };
            if i + 1 < self.count {
                stiffness[(i, i)] += self.coupling;
                stiffness[(i + 1, i + 1)] += self.coupling;
                stiffness[(i, i + 1)] -= self.coupling;
                stiffness[(i + 1, i)] -= self.coupling;
            }
        }
        Linearization { stiffness, scale }
    }

    fn damping(&mut self, _: &[f64], _: &Conditions<'_>, _: &[f64], _: Option<&DenseMatrix>, _: &mut [f64]) -> f64 {
        self.friction
    }

    fn mul(&mut self, combination: Combination<'_, Self>, x: &[f64], y: &mut [f64]) {
        for i in 0..self.count {
            let row = |stiffness: &DenseMatrix| (0..self.count).map(|j| stiffness[(i, j)] * x[j]).sum::<f64>();
            y[i] =
                diagonal(combination) * x[i] + combination.stiffness.map_or(0.0, |(k, stiffness)| k * row(stiffness));
        }
    }

    fn assemble(&mut self, combination: Combination<'_, Self>) {
        for i in 0..self.count {
            for j in 0..self.count {
                let diagonal = if i == j { diagonal(combination) } else { 0.0 };
                self.matrix[(i, j)] =
                    diagonal + combination.stiffness.map_or(0.0, |(k, stiffness)| k * stiffness[(i, j)]);
            }
        }
    }

    fn matrix(&self) -> &DenseMatrix {
        &self.matrix
    }

    fn damping_kind(&self) -> DampingKind {
        if self.friction == 0.0 { DampingKind::None } else { DampingKind::Constant }
    }
}

/// Returns the diagonal entries of `mM + dD`.
fn diagonal(combination: Combination<'_, Pendulums>) -> f64 {
    combination.mass + combination.damping.map_or(0.0, |(d, friction)| d * friction)
}
