//! Animations: encoding of frames as GIF or MP4.

mod check;
mod gif;
mod mp4;
mod palette;

pub use gif::Gif;
pub use mp4::Mp4;

use check::{check_size, check_time};
