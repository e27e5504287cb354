//! Work beside the interpreter: it is let go while the library computes, on threads that a program can choose and that survive a fork.
//!
//! What the library does with several threads goes through [`work`] or a [`Shared`]: in a process that was forked, the threads that rayon has by itself are
//! not there, and who gives them something to do waits for ever. Only the command, which has the process to itself, does without.

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

/// More threads than this are a mistake.
const MOST_THREADS: usize = 1024;

/// How often signals are looked at while other threads work for the main one.
const PATIENCE: Duration = Duration::from_millis(20);

/// The threads to work on.
static THREADS: Mutex<Threads> = Mutex::new(Threads { pool: None, chosen: 0, is_forked: false });

struct Threads {
    /// None for those that rayon has by itself, and in a process that was forked until it needs some.
    pool: Option<Arc<ThreadPool>>,
    /// How many the program wants; 0 for as many as rayon has.
    chosen: usize,
    /// Whether this process was forked, so that rayon's own threads are not there.
    is_forked: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic leaves behind is at worst memory to compute in.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pool() -> Option<Arc<ThreadPool>> {
    let mut threads = lock(&THREADS);
    if threads.pool.is_none() && threads.is_forked {
        let build = |count| ThreadPoolBuilder::new().num_threads(count).build();
        // One is better than to wait for ever for those that are not there.
        let pool = build(threads.chosen).or_else(|_| build(1)).expect("a thread to compute on");
        threads.pool = Some(Arc::new(pool));
    }
    threads.pool.clone()
}

/// Compute something while other Python threads run.
pub fn work<T: Send>(py: Python<'_>, task: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let done = compute(task);
        wait_if_ended();
        done
    })
}

/// Make a mesh, or something with meshes, while other Python threads run. Ctrl-C stops it, and then raises.
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

/// Do something on another thread. The main thread does not sleep meanwhile: it is the one that hears of Ctrl-C.
fn listening<'scope, T: Send + 'scope>(scope: &rayon::Scope<'scope>, task: impl FnOnce() -> T + Send + 'scope) -> T {
    let (send, receive) = mpsc::sync_channel(1);
    scope.spawn(move |_| drop(send.send(task())));
    loop {
        match receive.recv_timeout(PATIENCE) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) => interrupt::listen(),
            Err(RecvTimeoutError::Disconnected) => panic!("a task that has panicked"),
        }
    }
}

/// Compute on the threads that were chosen.
fn compute<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    let is_main = interrupt::is_main_thread();
    let task = move || interrupt::on_behalf_of_main(is_main, task);
    let Some(pool) = pool() else { return task() };
    if !is_main {
        return pool.install(task);
    }
    pool.in_place_scope(|scope| listening(scope, task))
}

/// Something that only one thread may use at a time.
#[derive(Debug)]
pub struct Shared<S> {
    inner: Mutex<S>,
    /// The thread that uses it.
    user: Mutex<Option<ThreadId>>,
}

impl<S: Send> Shared<S> {
    pub fn new(inner: S) -> Self {
        Self { inner: Mutex::new(inner), user: Mutex::new(None) }
    }

    /// Compute something with it while other Python threads run.
    pub fn work<T: Send>(&self, py: Python<'_>, task: impl FnOnce(&mut S) -> T + Send) -> PyResult<T> {
        // Locked here and not on the threads of the pool: one that waits for its share of some work may take up another task meanwhile, and would wait for itself.
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

    /// Look at something that is there, which takes no time.
    pub fn look<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&mut S) -> T + Send) -> PyResult<T> {
        py.detach(|| Some(look(&mut *self.take()?.inner))).ok_or_else(busy)
    }

    /// Use it together with Python's objects. What is done must not call Python code.
    pub fn with_python<'py, T>(&self, py: Python<'py>, task: impl FnOnce(Python<'py>, &mut S) -> T) -> PyResult<T> {
        let mut user = loop {
            match self.try_take() {
                Ok(user) => break user,
                Err(Taken::Own) => return Err(busy()),
                // Python is let go meanwhile: who uses it may be waiting for that.
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

/// Why something cannot be used now: this thread, or another, is using it.
enum Taken {
    Own,
    Other,
}

/// Someone who uses something, until dropped.
struct User<'a, S> {
    inner: MutexGuard<'a, S>,
    user: &'a Mutex<Option<ThreadId>>,
}

impl<S> Drop for User<'_, S> {
    fn drop(&mut self) {
        *lock(self.user) = None;
    }
}

/// A signal handler, or what the garbage collector calls, cannot use what its own thread is computing with.
fn busy() -> PyErr {
    PyRuntimeError::new_err("this is being computed with, by the same thread; wait until that is done")
}

/// The thread that ends the interpreter, from the moment on that it does.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// How long a thread waits for the process to end. What else is to be done at the end may be waiting for the thread.
const GRACE: Duration = Duration::from_secs(2);

/// Old interpreters end a thread that comes back to them after they have ended by unwinding its stack, which aborts the process. It waits for the end instead.
fn wait_if_ended() {
    if ENDING.get().is_some_and(|ending| *ending != thread::current().id()) {
        thread::sleep(GRACE);
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
pub fn set_threads(#[pyo3(from_py_with = crate::arrays::count)] count: usize) -> PyResult<()> {
    if !(1..=MOST_THREADS).contains(&count) {
        return Err(PyValueError::new_err(format!("{count} threads, expected 1 to {MOST_THREADS}")));
    }
    let pool = ThreadPoolBuilder::new().num_threads(count).build().or_raise(Kind::Solve)?;
    let mut threads = lock(&THREADS);
    (threads.pool, threads.chosen) = (Some(Arc::new(pool)), count);
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

/// A process that was forked has none of the threads of its parent: it gets its own when it first needs them, as many as the parent had chosen.
#[pyfunction(name = "_after_fork")]
pub fn after_fork() {
    interrupt::become_main_thread();
    let mut threads = lock(&THREADS);
    threads.is_forked = true;
    // To let go of a pool would speak to threads that are not there.
    std::mem::forget(threads.pool.take());
}
