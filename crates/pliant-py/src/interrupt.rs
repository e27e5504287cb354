//! Ctrl-C while the library computes. Python tells its main thread of signals, and that raises an exception there; what it was computing is told to stop.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use pliant::solver::{LinearSolver, Operator, SolveError, SolveInfo, Stamp};
use pyo3::prelude::*;

/// The thread that Python tells of signals, once it is known.
static MAIN: Mutex<Option<ThreadId>> = Mutex::new(None);

/// What Python raised while the main thread was computing: a `KeyboardInterrupt`, as a rule.
static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

/// Whether something was raised.
static IS_RAISED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread computes for the main one.
    static FOR_MAIN: Cell<bool> = const { Cell::new(false) };
}

/// This is the main thread, if Python says so.
pub fn find_main_thread(py: Python<'_>) -> PyResult<()> {
    let threading = py.import("threading")?;
    if threading.call_method0("current_thread")?.is(threading.call_method0("main_thread")?) {
        *MAIN.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
    }
    Ok(())
}

/// In a process that was forked, the thread that forked it is the main one.
pub fn become_main_thread() {
    *MAIN.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
}

/// Whether this is the thread that Python tells of signals.
pub fn is_main_thread() -> bool {
    *MAIN.lock().unwrap_or_else(PoisonError::into_inner) == Some(thread::current().id())
}

/// Do something for the main thread, or for another.
pub fn on_behalf_of_main<T>(is_main: bool, task: impl FnOnce() -> T) -> T {
    let before = FOR_MAIN.replace(is_main);
    let done = task();
    FOR_MAIN.set(before);
    done
}

/// Let Python look for signals. Only on the main thread does that do anything.
#[allow(clippy::redundant_closure_for_method_calls, reason = "the method is not for every lifetime")]
pub fn listen() {
    // Not with the lock held: Python may keep us waiting, or call what asks for it.
    if let Err(error) = Python::attach(|py| py.check_signals()) {
        *RAISED.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        IS_RAISED.store(true, Ordering::SeqCst);
    }
}

/// Whether something was raised on the main thread while it was computing.
pub fn is_raised() -> bool {
    IS_RAISED.load(Ordering::SeqCst)
}

/// Whether what is being computed is still wanted.
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

/// What comes of a computation: its result, or what was raised meanwhile.
pub fn outcome<T>(result: PyResult<T>) -> PyResult<T> {
    if !is_main_thread() {
        return result;
    }
    let raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner).take();
    IS_RAISED.store(false, Ordering::SeqCst);
    raised.map_or(result, Err)
}

/// A solver that does not begin another system once the user wants to stop.
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
