//! Tests that measure memory, in a separate binary: its global allocator counts the whole process.
//!
//! Each test holds the lock of `alone` from start to end, so that it measures nothing but itself. A counter per thread
//! would need an unsafe allocator, and would miss the threads of rayon.

mod allocations;
mod hostile;

use std::sync::{Mutex, MutexGuard, PoisonError};

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Waits until no other test runs, and keeps others from running while the guard lives.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // The memory of the global thread pool does not count.
    rayon::join(|| {}, || {});
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
