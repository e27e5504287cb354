//! Text that is written to files.

/// Writes text into a buffer in memory, which cannot fail.
macro_rules! put {
    ($out:expr, $($format:tt)*) => {{
        use std::io::Write as _;
        write!($out, $($format)*).expect("writing to memory does not fail");
    }};
}
pub(crate) use put;
