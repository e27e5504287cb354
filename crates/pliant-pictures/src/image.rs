use std::io::Write;

use crate::{Color, PictureError};

/// Width and height of a picture in pixels, limited so that the picture fits into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// Maximum width and height \[px\].
    pub const MAX_SIDE: u32 = 16_384;
    /// Maximum number of pixels of a picture: an 8K screen, for which drawing takes about a gigabyte.
    pub const MAX_PIXELS: u32 = 1 << 25;

    /// Creates a size. Returns an error if a side is zero or too long, or if there are too many pixels.
    pub fn new(width: u32, height: u32) -> Result<Self, PictureError> {
        let sides = 1..=Self::MAX_SIDE;
        let pixels = u64::from(width) * u64::from(height);
        if sides.contains(&width) && sides.contains(&height) && pixels <= u64::from(Self::MAX_PIXELS) {
            Ok(Self { width, height })
        } else {
            Err(PictureError::Size { width, height })
        }
    }

    /// Returns the width \[px\].
    pub fn width(self) -> u32 {
        self.width
    }

    /// Returns the height \[px\].
    pub fn height(self) -> u32 {
        self.height
    }

    /// Returns width over height.
    pub fn aspect(self) -> f64 {
        f64::from(self.width) / f64::from(self.height)
    }

    pub(crate) fn pixels(self) -> usize {
        self.width as usize * self.height as usize
    }
}

/// Picture: rows of RGBA pixels from the top, four bytes per pixel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    size: Size,
    bytes: Vec<u8>,
}

impl Image {
    /// Creates a picture of one color.
    pub fn filled(size: Size, color: Color) -> Self {
        let [red, green, blue] = color.0;
        Self { size, bytes: [red, green, blue, 255].repeat(size.pixels()) }
    }

    /// Returns width and height.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns all pixels row by row from the top, four bytes each.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Returns the color of the pixel in column `x` and row `y`, counted from the top left, or `None` outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<Color> {
        let inside = x < self.size.width && y < self.size.height;
        let at = 4 * (y as usize * self.size.width as usize + x as usize);
        inside.then(|| Color([self.bytes[at], self.bytes[at + 1], self.bytes[at + 2]]))
    }

    /// Returns the picture as PNG.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::new();
        self.write_png(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the picture as PNG.
    pub fn write_png(&self, writer: impl Write) -> Result<(), PictureError> {
        let mut encoder = png::Encoder::new(writer, self.size.width, self.size.height);
        // All pictures are opaque and need no alpha channel.
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
        let mut image = Image::filled(Size::new(7, 5).unwrap(), Color([1, 2, 3]));
        image.bytes_mut()[4 * (2 * 7 + 3)] = 250;
        let png = image.png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (7, 5, png::ColorType::Rgb));
        let at = 3 * (2 * 7 + 3);
        assert_eq!(decoded[at..at + 3], [250, 2, 3]);
        assert_eq!(decoded[..3], [1, 2, 3]);
        assert_eq!(image.pixel(3, 2), Some(Color([250, 2, 3])));
        assert_eq!(image.pixel(7, 2), None);
    }
}
