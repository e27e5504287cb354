//! User-defined system: pendulums in a row, coupled by torsional springs.

use pliant::solver::DenseMatrix;
use pliant::system::{Definiteness, State, System, Weights};

/// Pendulums with `V = Σ mgl (1 − cos θᵢ) + k/2 Σ (θᵢ₊₁ − θᵢ)²`, `M = ml² I`, `m = l = 1` and `g = 9.81`.
#[derive(Debug)]
pub struct Pendulums {
    count: usize,
    pub coupling: f64,
    pub friction: f64,
    stiffness: DenseMatrix,
    matrix: DenseMatrix,
}

const G: f64 = 9.81;

impl Pendulums {
    pub fn new(count: usize) -> Self {
        let zero = DenseMatrix::zero(count);
        Self { count, coupling: 3.0, friction: 0.0, stiffness: zero.clone(), matrix: zero }
    }

    /// Returns the state with the first pendulum lifted by `angle`.
    pub fn lifted(&self, angle: f64) -> State {
        let mut state = State::new(self.count);
        state.q[0] = angle;
        state
    }

    pub fn total_energy(&mut self, state: &State) -> f64 {
        self.energy(&state.q, 0.0).unwrap() + 0.5 * state.v.iter().map(|v| v * v).sum::<f64>()
    }
}

impl System for Pendulums {
    type Matrix = DenseMatrix;

    fn dim(&self) -> usize {
        self.count
    }

    fn energy(&mut self, q: &[f64], _time: f64) -> Option<f64> {
        let hanging: f64 = q.iter().map(|q| G * (1.0 - q.cos())).sum();
        Some(hanging + 0.5 * self.coupling * q.windows(2).map(|q| (q[1] - q[0]).powi(2)).sum::<f64>())
    }

    fn force(&mut self, q: &[f64], _time: f64, force: &mut [f64]) {
        for (i, force) in force.iter_mut().enumerate() {
            *force = -G * q[i].sin();
            if i > 0 {
                *force += self.coupling * (q[i - 1] - q[i]);
            }
            if i + 1 < self.count {
                *force += self.coupling * (q[i + 1] - q[i]);
            }
        }
    }

    fn linearize(&mut self, q: &[f64], time: f64, definiteness: Definiteness, force: &mut [f64]) {
        self.force(q, time, force);
        self.stiffness = DenseMatrix::zero(self.count);
        for i in 0..self.count {
            let hanging = G * q[i].cos();
            self.stiffness[(i, i)] += if definiteness == Definiteness::Projected { hanging.max(0.0) } else { hanging };
            if i + 1 < self.count {
                self.stiffness[(i, i)] += self.coupling;
                self.stiffness[(i + 1, i + 1)] += self.coupling;
                self.stiffness[(i, i + 1)] -= self.coupling;
                self.stiffness[(i + 1, i)] -= self.coupling;
            }
        }
    }

    fn mul(&mut self, weights: Weights, x: &[f64], y: &mut [f64]) {
        for i in 0..self.count {
            let stiffness: f64 = (0..self.count).map(|j| self.stiffness[(i, j)] * x[j]).sum();
            y[i] = (weights.mass + weights.damping * self.friction) * x[i] + weights.stiffness * stiffness;
        }
    }

    fn assemble(&mut self, weights: Weights) {
        for i in 0..self.count {
            for j in 0..self.count {
                let diagonal = if i == j { weights.mass + weights.damping * self.friction } else { 0.0 };
                self.matrix[(i, j)] = diagonal + weights.stiffness * self.stiffness[(i, j)];
            }
        }
    }

    fn matrix(&self) -> &DenseMatrix {
        &self.matrix
    }

    fn damping_kind(&self) -> pliant::system::DampingKind {
        if self.friction == 0.0 { pliant::system::DampingKind::None } else { pliant::system::DampingKind::Constant }
    }
}
