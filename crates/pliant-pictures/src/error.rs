use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum PictureError {
    /// A side is zero, or too long, or the picture has too many pixels.
    #[error(
        "a picture of {width} × {height} pixels: a side has 1 to {} and all together at most {}",
        crate::Size::LONGEST_SIDE,
        crate::Size::MOST_PIXELS
    )]
    Size {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// A number of the view that no camera can have.
    #[error("the view's {name} is {value}, but must be {expected}")]
    View {
        /// The field of [`View`](crate::View).
        name: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A frame that differs in size from the animation.
    #[error("a frame of {} × {} pixels in an animation of {} × {}", found.0, found.1, expected.0, expected.1)]
    FrameSize {
        /// Width and height of the animation.
        expected: (u32, u32),
        /// Width and height of the frame.
        found: (u32, u32),
    },
    /// A rate or duration of frames that an animation cannot have.
    #[error("frames of {seconds} s each: an animation has between {} and {} s", limits.0, limits.1)]
    FrameTime {
        /// Seconds that a frame would last.
        seconds: f64,
        /// The shortest and the longest that it may.
        limits: (f64, f64),
    },
    /// An MP4 was asked for, but the program that encodes it is not installed.
    #[error("MP4 needs the program `ffmpeg`, which is not on the PATH; GIF and PNG need none")]
    NoFfmpeg,
    /// The encoder of MP4 failed.
    #[error("ffmpeg: {message}")]
    Ffmpeg {
        /// What it printed.
        message: String,
    },
    /// A file could not be written.
    #[error("`{}`: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// The writer of a stream failed.
    #[error("writing: {0}")]
    Write(#[from] io::Error),
    /// A picture could not be encoded.
    #[error("encoding {format}: {message}")]
    Encode {
        /// The format.
        format: &'static str,
        /// What the encoder said.
        message: String,
    },
}
