//! Computation without the interpreter lock, on a configurable thread pool that survives a fork.
//!
//! Everything that uses several threads goes through [`work`] or a [`Shared`]. A forked process does not have the
//! threads of rayon's global pool, so using it would block forever. Only the command, which owns the process, uses the
//! global pool directly.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pliant::meshing::stoppable;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{Kind, OrRaise};
use crate::interrupt;

/// Maximum number of threads.
const MAX_THREADS: usize = 1024;

/// Interval at which signals are checked while other threads work for the main thread.
const PATIENCE: Duration = Duration::from_millis(20);

/// Thread pool for computations.
static THREADS: Mutex<Threads> = Mutex::new(Threads { pool: None, chosen: 0, is_forked: false });

struct Threads {
    /// Custom pool. `None` for the global pool of rayon, and in a forked process until it needs one.
    pool: Option<Arc<ThreadPool>>,
    /// Number of threads that was chosen; 0 for the default of rayon.
    chosen: usize,
    /// True if this process was forked, so that the global pool of rayon has no threads.
    is_forked: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves behind workspace memory at worst.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pool() -> Option<Arc<ThreadPool>> {
    let mut threads = lock(&THREADS);
    if threads.pool.is_none() && threads.is_forked {
        let build = |count| ThreadPoolBuilder::new().num_threads(count).build();
        // A single thread is better than waiting forever for missing ones.
        let pool = build(threads.chosen).or_else(|_| build(1)).expect("a thread to compute on");
        threads.pool = Some(Arc::new(pool));
    }
    threads.pool.clone()
}

/// Runs a computation while other Python threads run.
pub fn work<T: Send>(py: Python<'_>, task: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let done = compute(task);
        wait_if_ended();
        done
    })
}

/// Runs a meshing computation while other Python threads run. Ctrl-C stops it and raises.
pub fn make<T: Send>(py: Python<'_>, kind: Kind, task: impl FnOnce() -> Result<T, String> + Send) -> PyResult<T> {
    let made = py.detach(|| {
        let is_main = interrupt::is_main_thread();
        let task = || stoppable(move || is_main && interrupt::is_raised(), task);
        let made = match pool() {
            None if is_main => {
                let task = || interrupt::on_behalf_of_main(true, task);
                rayon::in_place_scope(|scope| listening(scope, task))
            }
            _ => compute(task),
        };
        wait_if_ended();
        made
    });
    interrupt::outcome(made.or_raise(kind))
}

/// Runs a task on another thread. The main thread stays awake meanwhile to handle Ctrl-C.
fn listening<'scope, T: Send + 'scope>(scope: &rayon::Scope<'scope>, task: impl FnOnce() -> T + Send + 'scope) -> T {
    let (send, receive) = mpsc::sync_channel(1);
    scope.spawn(move |_| drop(send.send(task())));
    loop {
        match receive.recv_timeout(PATIENCE) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) => interrupt::listen(),
            Err(RecvTimeoutError::Disconnected) => panic!("the task panicked"),
        }
    }
}

/// Runs a computation on the chosen threads.
fn compute<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    let is_main = interrupt::is_main_thread();
    let task = move || interrupt::on_behalf_of_main(is_main, task);
    let Some(pool) = pool() else { return task() };
    if !is_main {
        return pool.install(task);
    }
    pool.in_place_scope(|scope| listening(scope, task))
}

/// State shared between threads, behind a non-reentrant lock.
#[derive(Debug)]
pub struct Shared<S> {
    inner: Mutex<S>,
    /// Thread that holds the lock.
    user: Mutex<Option<ThreadId>>,
}

impl<S: Send> Shared<S> {
    pub fn new(inner: S) -> Self {
        Self { inner: Mutex::new(inner), user: Mutex::new(None) }
    }

    /// Runs a computation with the state while other Python threads run.
    pub fn work<T: Send>(&self, py: Python<'_>, task: impl FnOnce(&mut S) -> T + Send) -> PyResult<T> {
        // Locked here and not on the pool's threads: while waiting for part of its work, such a thread may take another
        // task and would deadlock with itself.
        let done = py.detach(|| {
            let done = self.take().map(|mut user| {
                let inner = &mut *user.inner;
                compute(|| task(inner))
            });
            wait_if_ended();
            done
        });
        done.ok_or_else(busy)
    }

    /// Reads available state, which takes no time.
    pub fn look<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&mut S) -> T + Send) -> PyResult<T> {
        py.detach(|| Some(look(&mut *self.take()?.inner))).ok_or_else(busy)
    }

    /// Uses the state together with Python objects. The task must not call Python code.
    pub fn with_python<'py, T>(&self, py: Python<'py>, task: impl FnOnce(Python<'py>, &mut S) -> T) -> PyResult<T> {
        let mut user = loop {
            match self.try_take() {
                Ok(user) => break user,
                Err(Taken::Own) => return Err(busy()),
                // The interpreter lock is released meanwhile, since the holder may be waiting for it.
                Err(Taken::Other) => py.detach(|| drop(self.take())),
            }
        };
        Ok(task(py, &mut *user.inner))
    }

    fn take(&self) -> Option<User<'_, S>> {
        if *lock(&self.user) == Some(thread::current().id()) {
            return None;
        }
        Some(self.user_of(lock(&self.inner)))
    }

    fn try_take(&self) -> Result<User<'_, S>, Taken> {
        if *lock(&self.user) == Some(thread::current().id()) {
            return Err(Taken::Own);
        }
        match self.inner.try_lock() {
            Ok(inner) => Ok(self.user_of(inner)),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Ok(self.user_of(poisoned.into_inner())),
            Err(std::sync::TryLockError::WouldBlock) => Err(Taken::Other),
        }
    }

    fn user_of<'a>(&'a self, inner: MutexGuard<'a, S>) -> User<'a, S> {
        *lock(&self.user) = Some(thread::current().id());
        User { inner, user: &self.user }
    }
}

/// Reason why the state is locked: by this thread, or by another.
enum Taken {
    Own,
    Other,
}

/// Guard that holds the lock until dropped.
struct User<'a, S> {
    inner: MutexGuard<'a, S>,
    user: &'a Mutex<Option<ThreadId>>,
}

impl<S> Drop for User<'_, S> {
    fn drop(&mut self) {
        *lock(self.user) = None;
    }
}

/// Returns the error for reentrant use: a signal handler or a finalizer cannot use the state that its thread is
/// computing with.
fn busy() -> PyErr {
    PyRuntimeError::new_err("the object is in use by a computation of the same thread; wait until it is finished")
}

/// Thread that finalizes the interpreter, once it does.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// Time that a thread waits for the process to exit. Other finalization may be waiting for the thread.
const GRACE: Duration = Duration::from_secs(2);

/// Waits for the process to exit if the interpreter has been finalized. Older interpreters would end the returning
/// thread by unwinding its stack, which aborts the process.
fn wait_if_ended() {
    if ENDING.get().is_some_and(|ending| *ending != thread::current().id()) {
        thread::sleep(GRACE);
    }
}

/// Records that the interpreter is about to be finalized, after which other threads cannot return to it.
#[pyfunction(name = "_at_exit")]
pub fn at_exit() {
    ENDING.get_or_init(|| thread::current().id());
}

/// Sets the number of threads. Results do not depend on it.
///
/// The default is one thread per processor, or the environment variable ``RAYON_NUM_THREADS``.
///
/// >>> pliant.set_threads(2)
/// >>> pliant.threads()
/// 2
#[pyfunction]
pub fn set_threads(#[pyo3(from_py_with = crate::arrays::count)] count: usize) -> PyResult<()> {
    if !(1..=MAX_THREADS).contains(&count) {
        return Err(PyValueError::new_err(format!("{count} threads, expected 1 to {MAX_THREADS}")));
    }
    let pool = ThreadPoolBuilder::new().num_threads(count).build().or_raise(Kind::Solve)?;
    let mut threads = lock(&THREADS);
    (threads.pool, threads.chosen) = (Some(Arc::new(pool)), count);
    Ok(())
}

/// Returns the number of threads.
///
/// >>> pliant.threads() >= 1
/// True
#[pyfunction]
pub fn threads() -> usize {
    pool().map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads())
}

/// Resets the thread pool in a forked process, which has none of the threads of its parent. It creates them on first
/// use, as many as the parent had chosen.
#[pyfunction(name = "_after_fork")]
pub fn after_fork() {
    interrupt::become_main_thread();
    let mut threads = lock(&THREADS);
    threads.is_forked = true;
    // Dropping a pool would communicate with threads that do not exist.
    std::mem::forget(threads.pool.take());
}
