//! Checks of frames.

use crate::{Image, PictureError, Size};

/// Returns an error unless a frame has the size of its animation.
pub(super) fn check_size(frame: &Image, size: Size) -> Result<(), PictureError> {
    let pair = |size: Size| (size.width(), size.height());
    if frame.size() == size {
        Ok(())
    } else {
        Err(PictureError::FrameSize { expected: pair(size), found: pair(frame.size()) })
    }
}

/// Returns an error unless a frame duration \[s\] is within the limits.
pub(super) fn check_time(seconds: f64, limits: (f64, f64)) -> Result<(), PictureError> {
    if (limits.0..=limits.1).contains(&seconds) { Ok(()) } else { Err(PictureError::FrameTime { seconds, limits }) }
}
