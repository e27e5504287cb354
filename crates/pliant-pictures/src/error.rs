use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Error of drawing or encoding a picture.
#[derive(Debug, Error)]
pub enum PictureError {
    /// A side is zero or too long, or the picture has too many pixels.
    #[error(
        "picture size {width} × {height}: expected sides of 1 to {} pixels and at most {} pixels total",
        crate::Size::MAX_SIDE,
        crate::Size::MAX_PIXELS
    )]
    Size {
        /// Width \[px\].
        width: u32,
        /// Height \[px\].
        height: u32,
    },
    /// A camera parameter is out of range.
    #[error("the view's {name} is {value}, but must be {expected}")]
    View {
        /// Name of the field of [`View`](crate::View).
        name: &'static str,
        /// Value found.
        value: f64,
        /// Accepted values.
        expected: &'static str,
    },
    /// A frame and its animation differ in size.
    #[error(
        "frame of {} × {} pixels in an animation of {} × {}: all frames must have the same size",
        found.0, found.1, expected.0, expected.1
    )]
    FrameSize {
        /// Width and height of the animation \[px\].
        expected: (u32, u32),
        /// Width and height of the frame \[px\].
        found: (u32, u32),
    },
    /// A frame rate or frame duration is out of range.
    #[error("frame duration {seconds} s: expected between {} and {} s", limits.0, limits.1)]
    FrameTime {
        /// Frame duration \[s\].
        seconds: f64,
        /// Minimum and maximum frame duration \[s\].
        limits: (f64, f64),
    },
    /// MP4 output requires a program that is not installed.
    #[error("MP4 output requires `ffmpeg`, which is not on the PATH; install it, or write GIF or PNG")]
    NoFfmpeg,
    /// The MP4 encoder failed.
    #[error("ffmpeg: {message}")]
    Ffmpeg {
        /// Output of the encoder.
        message: String,
    },
    /// A file could not be written.
    #[error("`{}`: {cause}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// The output stream failed.
    #[error("writing: {0}")]
    Write(#[from] io::Error),
    /// A picture could not be encoded.
    #[error("encoding {format}: {message}")]
    Encode {
        /// Name of the format.
        format: &'static str,
        /// Error message of the encoder.
        message: String,
    },
}
