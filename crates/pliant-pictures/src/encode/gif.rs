use std::borrow::Cow;
use std::io::Write;

use super::{check_size, check_time};
use crate::{Image, PictureError, Size};

/// An animated GIF that repeats for ever, written frame by frame.
///
/// A GIF counts time in hundredths of a second, so frames last one hundredth more or less such that none is ever shown
/// half a hundredth too early or too late. Each frame has a palette of its own of up to 255 colours, for the rectangle in which
/// it differs from the frame before; what stays the same there is transparent, so that the background does not flicker.
pub struct Gif<W: Write> {
    encoder: gif::Encoder<W>,
    size: Size,
    seconds: f64,
    /// Frames so far, and hundredths of a second that they last.
    frames: u32,
    hundredths: u64,
    last: Option<Image>,
}

impl<W: Write> Gif<W> {
    /// The shortest and the longest time of a frame, in seconds. Viewers show shorter frames much longer.
    pub const FRAME_TIME: (f64, f64) = (0.02, 600.0);

    /// Starts an animation whose frames are shown for `seconds` each.
    pub fn start(writer: W, size: Size, seconds: f64) -> Result<Self, PictureError> {
        check_time(seconds, Self::FRAME_TIME)?;
        let mut encoder =
            gif::Encoder::new(writer, size.width() as u16, size.height() as u16, &[]).map_err(gif_error)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(gif_error)?;
        Ok(Self { encoder, size, seconds, frames: 0, hundredths: 0, last: None })
    }

    /// Adds a frame.
    pub fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        check_size(image, self.size)?;
        self.frames += 1;
        let end = (100.0 * self.seconds * f64::from(self.frames)).round() as u64;
        let delay = (end - self.hundredths) as u16;
        self.hundredths = end;

        let [left, top, width, height] = self.changed(image);
        let mut pixels = Vec::with_capacity(4 * width * height);
        for row in top..top + height {
            let line = 4 * (row * self.size.width() as usize + left);
            let range = line..line + 4 * width;
            let old = self.last.as_ref().map(|last| last.bytes()[range.clone()].chunks_exact(4));
            let new = image.bytes()[range].chunks_exact(4);
            match old {
                None => pixels.extend(new.flatten()),
                Some(old) => pixels.extend(new.zip(old).flat_map(|(new, old)| if new == old { &[0; 4] } else { new })),
            }
        }
        let mut frame = gif::Frame::from_rgba_speed(width as u16, height as u16, &mut pixels, 10);
        (frame.left, frame.top, frame.delay, frame.dispose) =
            (left as u16, top as u16, delay, gif::DisposalMethod::Keep);
        frame.buffer = Cow::Owned(frame.buffer.into_owned());
        self.encoder.write_frame(&frame).map_err(gif_error)?;
        self.last = Some(image.clone());
        Ok(())
    }

    /// Left, top, width and height of where an image differs from the last; at least one pixel.
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

    /// How long the frames so far are shown, in seconds.
    pub fn duration(&self) -> f64 {
        self.hundredths as f64 / 100.0
    }

    /// Ends the animation and returns the writer.
    pub fn finish(self) -> Result<W, PictureError> {
        self.encoder.into_inner().map_err(gif_error)
    }
}

fn gif_error(error: gif::EncodingError) -> PictureError {
    match error {
        gif::EncodingError::Io(cause) => PictureError::Write(cause),
        other => PictureError::Encode { format: "GIF", message: other.to_string() },
    }
}
