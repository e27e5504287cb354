//! Work beside the interpreter: it is let go while the library computes, on threads that a program can choose and that survive a fork.
//!
//! Everything that the library does with several threads goes through [`work`]: in a process that was forked, the threads that rayon has by itself are not
//! there, and who gives them something to do waits for ever.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{Kind, OrRaise};

/// More threads than this are a mistake.
const MOST_THREADS: usize = 1024;

/// The threads to work on; none for those that rayon has by itself.
static POOL: Mutex<Option<Arc<ThreadPool>>> = Mutex::new(None);

fn pool() -> Option<Arc<ThreadPool>> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Compute something while other Python threads run.
pub fn work<T: Send>(py: Python<'_>, task: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let done = match pool() {
            Some(pool) => pool.install(task),
            None => task(),
        };
        wait_if_ended();
        done
    })
}

/// The same with something that only one thread may use at a time.
///
/// It is locked here and not on the threads of the pool: one that waits for its share of some work may take up another task meanwhile, and would wait for itself.
pub fn work_with<S: Send, T: Send>(py: Python<'_>, shared: &Mutex<S>, task: impl FnOnce(&mut S) -> T + Send) -> T {
    py.detach(|| {
        // What a panic leaves behind is at worst memory to compute in.
        let mut locked = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let own = &mut *locked;
        let done = match pool() {
            Some(pool) => pool.install(|| task(own)),
            None => task(own),
        };
        drop(locked);
        wait_if_ended();
        done
    })
}

/// The thread that ends the interpreter, from the moment on that it does.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// Old interpreters end a thread that comes back to them after they have ended by unwinding its stack, which aborts the process. It waits for the end instead.
fn wait_if_ended() {
    while ENDING.get().is_some_and(|ending| *ending != thread::current().id()) {
        thread::park();
    }
}

/// The interpreter is about to end: other threads have nothing to come back to.
#[pyfunction(name = "_at_exit")]
pub fn at_exit() {
    ENDING.get_or_init(|| thread::current().id());
}

/// Use this many threads from now on. Results do not depend on it.
///
/// Without it, there is one for each processor, or as many as the environment variable ``RAYON_NUM_THREADS`` says.
///
/// >>> pliant.set_threads(2)
/// >>> pliant.threads()
/// 2
#[pyfunction]
pub fn set_threads(count: usize) -> PyResult<()> {
    if !(1..=MOST_THREADS).contains(&count) {
        return Err(PyValueError::new_err(format!("{count} threads, expected 1 to {MOST_THREADS}")));
    }
    // This thread is one of them if it can be, so that it need not hand its work to another.
    let builder = || ThreadPoolBuilder::new().num_threads(count);
    let pool = builder().use_current_thread().build().or_else(|_| builder().build()).or_raise(Kind::Solve)?;
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(pool));
    Ok(())
}

/// How many threads compute.
///
/// >>> pliant.threads() >= 1
/// True
#[pyfunction]
pub fn threads() -> usize {
    pool().map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads())
}

/// A process that was forked has none of the threads of its parent, and would wait for them for ever: it gets its own.
#[pyfunction(name = "_after_fork")]
pub fn after_fork() -> PyResult<()> {
    let count = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let old = POOL.lock().unwrap_or_else(PoisonError::into_inner).take();
    let count = old.as_ref().map_or(count, |pool| pool.current_num_threads());
    // To let go of a pool is to wait for its threads.
    std::mem::forget(old);
    set_threads(count)
}
