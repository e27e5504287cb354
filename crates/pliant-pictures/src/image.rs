use std::io::Write;

use crate::{Colour, PictureError};

/// Width and height of a picture, in pixels, within what memory can be expected to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// The most pixels of a side.
    pub const LONGEST_SIDE: u32 = 16_384;
    /// The most pixels of a picture: those of an 8K screen, for which drawing takes about a gigabyte.
    pub const MOST_PIXELS: u32 = 1 << 25;

    /// A size, unless a side is zero or too long.
    pub fn new(width: u32, height: u32) -> Result<Self, PictureError> {
        let sides = 1..=Self::LONGEST_SIDE;
        let pixels = u64::from(width) * u64::from(height);
        if sides.contains(&width) && sides.contains(&height) && pixels <= u64::from(Self::MOST_PIXELS) {
            Ok(Self { width, height })
        } else {
            Err(PictureError::Size { width, height })
        }
    }

    /// Pixels in a row.
    pub fn width(self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(self) -> u32 {
        self.height
    }

    /// Width over height.
    pub fn aspect(self) -> f64 {
        f64::from(self.width) / f64::from(self.height)
    }

    pub(crate) fn pixels(self) -> usize {
        self.width as usize * self.height as usize
    }
}

/// A picture: rows of pixels from the top, each four bytes red, green, blue and opacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    size: Size,
    bytes: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    pub fn filled(size: Size, colour: Colour) -> Self {
        let [red, green, blue] = colour.0;
        Self { size, bytes: [red, green, blue, 255].repeat(size.pixels()) }
    }

    /// Width and height.
    pub fn size(&self) -> Size {
        self.size
    }

    /// All pixels, row by row from the top, four bytes each.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The colour `x` pixels from the left and `y` from the top; `None` outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<Colour> {
        let inside = x < self.size.width && y < self.size.height;
        let at = 4 * (y as usize * self.size.width as usize + x as usize);
        inside.then(|| Colour([self.bytes[at], self.bytes[at + 1], self.bytes[at + 2]]))
    }

    /// The picture as PNG.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::new();
        self.write_png(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the picture as PNG.
    pub fn write_png(&self, writer: impl Write) -> Result<(), PictureError> {
        let mut encoder = png::Encoder::new(writer, self.size.width, self.size.height);
        // All that is drawn here is opaque, which needs no fourth channel.
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let opaque: Vec<u8> = self.bytes.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
        let mut writer = encoder.write_header().map_err(png_error)?;
        writer.write_image_data(&opaque).map_err(png_error)?;
        writer.finish().map_err(png_error)
    }
}

fn png_error(error: png::EncodingError) -> PictureError {
    match error {
        png::EncodingError::IoError(cause) => PictureError::Write(cause),
        other => PictureError::Encode { format: "PNG", message: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_memory_cannot_hold_are_errors() {
        for (width, height) in [(0, 10), (10, 0), (16_385, 1), (16_384, 16_384), (u32::MAX, u32::MAX)] {
            let error = Size::new(width, height).unwrap_err();
            assert!(error.to_string().contains(&width.to_string()), "{error}");
        }
        assert!(Size::new(16_384, 2048).is_ok());
    }

    #[test]
    fn png_decodes_to_the_same_pixels() {
        let mut image = Image::filled(Size::new(7, 5).unwrap(), Colour([1, 2, 3]));
        image.bytes_mut()[4 * (2 * 7 + 3)] = 250;
        let png = image.png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (7, 5, png::ColorType::Rgb));
        let at = 3 * (2 * 7 + 3);
        assert_eq!(decoded[at..at + 3], [250, 2, 3]);
        assert_eq!(decoded[..3], [1, 2, 3]);
        assert_eq!(image.pixel(3, 2), Some(Colour([250, 2, 3])));
        assert_eq!(image.pixel(7, 2), None);
    }
}
