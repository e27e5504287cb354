use std::borrow::Cow;
use std::io::Write;

use super::palette::{MAX_COLORS, Palette};
use super::{check_size, check_time};
use crate::{Image, PictureError, Size};

/// Endlessly repeating animated GIF, written frame by frame.
///
/// GIF delays are in hundredths of a second. They are rounded so that every frame starts at most half a hundredth early
/// or late. The palette has 255 colors at a time, and changes only for a frame that it represents too poorly. Each
/// frame stores only the region that differs from the previous one.
pub struct Gif<W: Write> {
    encoder: gif::Encoder<W>,
    size: Size,
    seconds: f64,
    /// Number of frames so far, and their total duration in hundredths of a second.
    frames: u32,
    hundredths: u64,
    last: Option<Image>,
    palette: Palette,
}

impl<W: Write> Gif<W> {
    /// Minimum and maximum frame duration \[s\]. Viewers show shorter frames much longer.
    pub const FRAME_TIME: (f64, f64) = (0.02, 600.0);

    /// Starts an animation with frames of `seconds` each.
    pub fn start(writer: W, size: Size, seconds: f64) -> Result<Self, PictureError> {
        check_time(seconds, Self::FRAME_TIME)?;
        let mut encoder =
            gif::Encoder::new(writer, size.width() as u16, size.height() as u16, &[]).map_err(gif_error)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(gif_error)?;
        Ok(Self { encoder, size, seconds, frames: 0, hundredths: 0, last: None, palette: Palette::new() })
    }

    /// Adds a frame.
    pub fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        check_size(image, self.size)?;
        self.frames += 1;
        let end = (100.0 * self.seconds * f64::from(self.frames)).round() as u64;
        let delay = (end - self.hundredths) as u16;
        self.hundredths = end;

        let mut area = self.changed(image);
        let places = |[left, top, width, height]: [usize; 4]| {
            (top..top + height).flat_map(move |y| (left..left + width).map(move |x| [x, y]))
        };
        let last = self.last.take();
        let redrawn = self.palette.adapt(places(area).filter_map(|place| new_pixel(image, last.as_ref(), place)));
        if redrawn {
            // The nearest colors may have changed, so the whole frame is written again.
            area = [0, 0, self.size.width() as usize, self.size.height() as usize];
        }
        let [left, top, width, height] = area;
        let kept = last.as_ref().filter(|_| !redrawn);
        let indices: Vec<u8> = places(area)
            .map(|place| new_pixel(image, kept, place).map_or(MAX_COLORS, |pixel| self.palette.index(pixel, place)))
            .collect();
        let mut colors = self.palette.colors().as_flattened().to_vec();
        colors.resize(3 * (usize::from(MAX_COLORS) + 1), 0);
        let frame = gif::Frame {
            delay,
            dispose: gif::DisposalMethod::Keep,
            transparent: Some(MAX_COLORS),
            left: left as u16,
            top: top as u16,
            width: width as u16,
            height: height as u16,
            palette: Some(colors),
            buffer: Cow::Owned(indices),
            ..gif::Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(gif_error)?;
        self.last = Some(image.clone());
        Ok(())
    }

    /// Returns left, top, width and height of the region that differs from the last image; at least one pixel.
    fn changed(&self, image: &Image) -> [usize; 4] {
        let [width, height] = [self.size.width() as usize, self.size.height() as usize];
        let Some(last) = &self.last else { return [0, 0, width, height] };
        let mut bounds = [width, height, 0, 0];
        let pixels = image.bytes().chunks_exact(4).zip(last.bytes().chunks_exact(4));
        for (at, _) in pixels.enumerate().filter(|(_, (new, old))| new != old) {
            let (x, y) = (at % width, at / width);
            bounds = [bounds[0].min(x), bounds[1].min(y), bounds[2].max(x + 1), bounds[3].max(y + 1)];
        }
        let [left, top, right, bottom] = bounds;
        if left < right { [left, top, right - left, bottom - top] } else { [0, 0, 1, 1] }
    }

    /// Returns the total duration of the frames so far \[s\].
    pub fn duration(&self) -> f64 {
        self.hundredths as f64 / 100.0
    }

    /// Ends the animation and returns the writer.
    pub fn finish(self) -> Result<W, PictureError> {
        self.encoder.into_inner().map_err(gif_error)
    }
}

/// Returns the pixel at a position, or `None` if it equals that of the last image.
fn new_pixel(image: &Image, last: Option<&Image>, [x, y]: [usize; 2]) -> Option<[u8; 3]> {
    let start = 4 * (y * image.size().width() as usize + x);
    let range = start..start + 3;
    let pixel = &image.bytes()[range.clone()];
    let same = last.is_some_and(|last| &last.bytes()[range] == pixel);
    (!same).then(|| [pixel[0], pixel[1], pixel[2]])
}

fn gif_error(error: gif::EncodingError) -> PictureError {
    match error {
        gif::EncodingError::Io(cause) => PictureError::Write(cause),
        other => PictureError::Encode { format: "GIF", message: other.to_string() },
    }
}
