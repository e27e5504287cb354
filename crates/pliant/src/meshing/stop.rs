//! Cancellation of long computations.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::MeshingError;

type Asked = Arc<dyn Fn() -> bool + Send + Sync>;

thread_local! {
    /// Callback that returns true if the work of this thread should stop.
    static CURRENT: RefCell<Option<Asked>> = const { RefCell::new(None) };
}

/// Runs `task`, whose volume meshing ends with [`MeshingError::Stopped`] soon after `is_asked` returns true.
///
/// `is_asked` is called often, and on several threads. It applies to meshing that this thread starts within `task`,
/// also through a scene.
///
/// ```
/// # use pliant::geometry::ImplicitSolid;
/// # use pliant::math::Vec3;
/// # use pliant::meshing::{MeshingError, MeshingParams, stoppable, tetrahedralize};
/// let ball = ImplicitSolid::ball(Vec3::ZERO, 1.0);
/// let stopped = stoppable(|| true, || tetrahedralize(&ball, &MeshingParams::default()));
/// assert!(matches!(stopped, Err(MeshingError::Stopped)));
/// ```
pub fn stoppable<T>(is_asked: impl Fn() -> bool + Send + Sync + 'static, task: impl FnOnce() -> T) -> T {
    /// Restores the previous callback, also if the task panics.
    struct Restore(Option<Asked>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    // Once asked, always asked: loops that ended early must not be mistaken for finished ones.
    let was_asked = AtomicBool::new(false);
    let asked = move || {
        let asked = was_asked.load(Ordering::Relaxed) || is_asked();
        if asked {
            was_asked.store(true, Ordering::Relaxed);
        }
        asked
    };
    let _restore = Restore(CURRENT.replace(Some(Arc::new(asked))));
    task()
}

/// Cancellation flag for all loops and threads of a computation.
#[derive(Clone)]
pub(super) struct Stop(Option<Asked>);

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stop({})", self.0.is_some())
    }
}

impl Stop {
    /// Returns the callback that [`stoppable`] set for the calling thread.
    pub fn current() -> Self {
        Self(CURRENT.with_borrow(Clone::clone))
    }

    pub fn is_asked(&self) -> bool {
        self.0.as_ref().is_some_and(|is_asked| is_asked())
    }

    pub fn check(&self) -> Result<(), MeshingError> {
        if self.is_asked() { Err(MeshingError::Stopped) } else { Ok(()) }
    }
}
