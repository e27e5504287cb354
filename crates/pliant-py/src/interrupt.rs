//! Ctrl-C while the library computes.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use pliant::solver::{LinearSolver, Operator, SolveError, SolveInfo, Stamp};
use pyo3::prelude::*;

/// The thread that Python tells of signals.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

/// This is the main thread, if Python says so.
pub fn find_main_thread(py: Python<'_>) -> PyResult<()> {
    let threading = py.import("threading")?;
    if threading.call_method0("current_thread")?.is(threading.call_method0("main_thread")?) {
        MAIN.get_or_init(|| thread::current().id());
    }
    Ok(())
}

/// What Python raised while the library was computing: a `KeyboardInterrupt`, as a rule.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Mutex<Option<PyErr>>>);

impl Interrupt {
    /// Look whether the user wants to stop. Only the main thread of a program is told; others need not wait for Python.
    pub fn check(&self) -> ControlFlow<()> {
        if MAIN.get() != Some(&thread::current().id()) {
            return ControlFlow::Continue(());
        }
        let mut raised = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if raised.is_none() {
            *raised = Python::attach(|py| py.check_signals().err());
        }
        if raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// What the user is told: what was raised, or else the error.
    pub fn or(&self, error: PyErr) -> PyErr {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(error)
    }
}

/// A solver that does not begin another system once the user wants to stop.
#[derive(Debug, Clone)]
pub struct Interruptible {
    pub solver: Box<dyn LinearSolver<Operator>>,
    pub interrupt: Interrupt,
}

impl LinearSolver<Operator> for Interruptible {
    fn set_matrix(&mut self, matrix: &Operator) -> Result<(), SolveError> {
        match self.interrupt.check() {
            ControlFlow::Break(()) => Err(SolveError::Stopped),
            ControlFlow::Continue(()) => self.solver.set_matrix(matrix),
        }
    }

    fn stamp(&self) -> Option<Stamp> {
        self.solver.stamp()
    }

    fn solve(&mut self, matrix: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        self.solver.solve(matrix, b, x)
    }

    fn forget(&mut self) {
        self.solver.forget();
    }
}
