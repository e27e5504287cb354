//! Formats of rendered images.

use std::path::{Path, PathBuf};

use pliant::files::{Disk, Files, WriteError};
use pliant_pictures::{Gif, Image, Mp4, PictureError, Size};
use thiserror::Error;

use super::series::ending;
use super::{AnimationFormat, Content};

pub(super) const PNG: AnimationFormat = AnimationFormat {
    name: "png",
    title: "PNG",
    extensions: &["png"],
    about: "Pictures; one file per frame",
    content: Content::Images(&ImageFormat {
        is_series: true,
        frame_time: (0.0, f64::INFINITY),
        check: |_| Ok(()),
        start: |path, _, _| Ok(Box::new(Pngs { path: path.into(), count: 0 })),
    }),
};

pub(super) const GIF: AnimationFormat = AnimationFormat {
    name: "gif",
    title: "GIF",
    extensions: &["gif"],
    about: "Animated picture",
    content: Content::Images(&ImageFormat {
        is_series: false,
        // Viewers slow down frames that are shorter than the minimum. Longer ones are an error.
        frame_time: (Gif::<Vec<u8>>::FRAME_TIME.0, f64::INFINITY),
        check: |_| Ok(()),
        start: |path, size, seconds| {
            Ok(Box::new(GifFile { gif: Gif::start(Vec::new(), size, seconds)?, path: path.into() }))
        },
    }),
};

pub(super) const MP4: AnimationFormat = AnimationFormat {
    name: "mp4",
    title: "MP4",
    extensions: &["mp4"],
    about: "Video; requires the program ffmpeg",
    content: Content::Images(&ImageFormat {
        is_series: false,
        frame_time: Mp4::FRAME_TIME,
        check: Mp4::check,
        start: |path, size, seconds| {
            Ok(Box::new(Mp4File { film: Mp4::start(path, size, 1.0 / seconds)?, path: path.into() }))
        },
    }),
};

/// Format of rendered images.
#[derive(Debug)]
pub struct ImageFormat {
    pub(super) is_series: bool,
    /// Minimum and maximum frame duration \[s\], to which requested durations are clamped.
    frame_time: (f64, f64),
    check: fn(Size) -> Result<(), PictureError>,
    start: fn(&Path, Size, f64) -> StartedImages,
}

type StartedImages = Result<Box<dyn ImageWriter>, PictureError>;

impl ImageFormat {
    /// Returns an error if images of this size cannot be written on this machine. Called before hours of work depend
    /// on it.
    pub fn check(&self, size: Size) -> Result<(), PictureError> {
        (self.check)(size)
    }

    /// Creates a writer of images that are shown for `seconds` each, clamped to what the format supports. The file
    /// names of a series are derived from `path`: `bar.png` gives `bar_000000.png`, `bar_000001.png`, ….
    pub fn start(&self, path: &Path, size: Size, seconds: f64) -> Result<Box<dyn ImageWriter>, PictureError> {
        (self.start)(path, size, seconds.clamp(self.frame_time.0, self.frame_time.1))
    }

    /// Returns the file of image `number`, for the path given to [`start`](Self::start).
    pub fn file(&self, path: &Path, number: usize) -> PathBuf {
        if self.is_series { numbered(path, number) } else { path.into() }
    }
}

/// Writer of successive images.
pub trait ImageWriter {
    /// Adds the next image.
    fn add(&mut self, image: &Image) -> Result<(), ImageError>;

    /// Completes the output and returns the file to open.
    fn finish(self: Box<Self>) -> Result<PathBuf, ImageError>;
}

/// Error of writing images.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// An image could not be encoded.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

struct Pngs {
    path: PathBuf,
    count: usize,
}

impl ImageWriter for Pngs {
    fn add(&mut self, image: &Image) -> Result<(), ImageError> {
        let path = numbered(&self.path, self.count);
        self.count += 1;
        Ok(Disk.write(&path, &image.png()?)?)
    }

    fn finish(self: Box<Self>) -> Result<PathBuf, ImageError> {
        Ok(numbered(&self.path, 0))
    }
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(ending(number, "png"));
    path.with_file_name(name)
}

struct GifFile {
    gif: Gif<Vec<u8>>,
    path: PathBuf,
}

impl ImageWriter for GifFile {
    fn add(&mut self, image: &Image) -> Result<(), ImageError> {
        Ok(self.gif.add(image)?)
    }

    fn finish(self: Box<Self>) -> Result<PathBuf, ImageError> {
        Disk.write(&self.path, &self.gif.finish()?)?;
        Ok(self.path)
    }
}

struct Mp4File {
    film: Mp4,
    path: PathBuf,
}

impl ImageWriter for Mp4File {
    fn add(&mut self, image: &Image) -> Result<(), ImageError> {
        Ok(self.film.add(image)?)
    }

    fn finish(self: Box<Self>) -> Result<PathBuf, ImageError> {
        self.film.finish()?;
        Ok(self.path)
    }
}
