//! Ctrl-C while the library computes. Python handles signals on its main thread, where the handler raises an exception.
//! The computation of that thread is then stopped.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use pliant::solver::{LinearSolver, Operator, SolveError, SolveInfo, Stamp};
use pyo3::prelude::*;

/// Main thread of Python, on which it handles signals, once known.
static MAIN: Mutex<Option<ThreadId>> = Mutex::new(None);

/// Exception raised while the main thread was computing, usually `KeyboardInterrupt`.
static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

/// True if an exception was raised.
static IS_RAISED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// True if this thread computes on behalf of the main thread.
    static FOR_MAIN: Cell<bool> = const { Cell::new(false) };
}

/// Records the current thread as the main thread if Python says so.
pub fn find_main_thread(py: Python<'_>) -> PyResult<()> {
    let threading = py.import("threading")?;
    if threading.call_method0("current_thread")?.is(threading.call_method0("main_thread")?) {
        *MAIN.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
    }
    Ok(())
}

/// Records the current thread as the main thread, as it is in a forked process.
pub fn become_main_thread() {
    *MAIN.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
}

/// Returns true if this is the main thread of Python.
pub fn is_main_thread() -> bool {
    *MAIN.lock().unwrap_or_else(PoisonError::into_inner) == Some(thread::current().id())
}

/// Runs a task on behalf of the main thread or of another.
pub fn on_behalf_of_main<T>(is_main: bool, task: impl FnOnce() -> T) -> T {
    let before = FOR_MAIN.replace(is_main);
    let done = task();
    FOR_MAIN.set(before);
    done
}

/// Lets Python handle pending signals. Has an effect on the main thread only.
#[allow(clippy::redundant_closure_for_method_calls, reason = "the method is not for every lifetime")]
pub fn listen() {
    // Without holding the lock: Python may block, or run code that takes the lock.
    if let Err(error) = Python::attach(|py| py.check_signals()) {
        *RAISED.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        IS_RAISED.store(true, Ordering::SeqCst);
    }
}

/// Returns true if an exception was raised on the main thread while it was computing.
pub fn is_raised() -> bool {
    IS_RAISED.load(Ordering::SeqCst)
}

/// Returns `Break` if the computation was interrupted.
pub fn check() -> ControlFlow<()> {
    if !FOR_MAIN.get() {
        return ControlFlow::Continue(());
    }
    if is_main_thread() {
        listen();
    }
    let is_raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    if is_raised { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Returns the result of a computation, or the exception that was raised meanwhile.
pub fn outcome<T>(result: PyResult<T>) -> PyResult<T> {
    if !is_main_thread() {
        return result;
    }
    let raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner).take();
    IS_RAISED.store(false, Ordering::SeqCst);
    raised.map_or(result, Err)
}

/// Linear solver that does not start another solve after an interrupt.
#[derive(Debug, Clone)]
pub struct Interruptible(pub Box<dyn LinearSolver<Operator>>);

impl LinearSolver<Operator> for Interruptible {
    fn set_matrix(&mut self, matrix: &Operator) -> Result<(), SolveError> {
        match check() {
            ControlFlow::Break(()) => Err(SolveError::Stopped),
            ControlFlow::Continue(()) => self.0.set_matrix(matrix),
        }
    }

    fn stamp(&self) -> Option<Stamp> {
        self.0.stamp()
    }

    fn solve(&mut self, matrix: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        self.0.solve(matrix, b, x)
    }

    fn forget(&mut self) {
        self.0.forget();
    }
}
