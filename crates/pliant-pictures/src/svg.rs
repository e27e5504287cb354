//! SVG documents and their rasterization.

use std::fmt::{Arguments, Write as _};
use std::sync::{Arc, OnceLock};

use resvg::{tiny_skia, usvg};

use crate::{Image, PictureError, Size};

/// Alignment of a text at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// SVG document under construction.
#[derive(Debug)]
pub(crate) struct Svg {
    text: String,
}

impl Svg {
    /// Creates an empty drawing of `width` × `height`.
    pub fn new(width: u32, height: u32) -> Self {
        let mut svg = Self { text: String::new() };
        svg.add(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="Ubuntu, Helvetica, Arial, sans-serif">"#
        ));
        svg
    }

    /// Adds a line of SVG that contains no user-defined text.
    pub fn add(&mut self, element: Arguments) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(element);
        self.text.push('\n');
    }

    /// Adds a text at a point; `attributes` is SVG with a leading space.
    pub fn write(&mut self, [x, y]: [f64; 2], size: f64, anchor: Anchor, attributes: &str, content: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        self.add(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}"{anchor}{attributes}>{}</text>"#,
            raised(&escaped(content), size)
        ));
    }

    /// Returns the whole document.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Escapes the characters reserved by XML and drops those that XML cannot represent.
fn escaped(text: &str) -> String {
    let allowed = |c: &char| !c.is_control() && !matches!(*c, '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(allowed).collect();
    quick_xml::escape::escape(text.as_str()).into_owned()
}

/// Replaces superscript digits and minus signs by smaller raised ones, since fonts lack good superscripts.
fn raised(text: &str, size: f64) -> String {
    let lowered = |c: char| match c {
        '⁻' => Some('−'),
        '¹' => Some('1'),
        '²' => Some('2'),
        '³' => Some('3'),
        '⁰' => Some('0'),
        '⁴'..='⁹' => char::from_digit(c as u32 - '⁰' as u32, 10),
        _ => None,
    };
    let mut parts = String::new();
    let characters: Vec<char> = text.chars().collect();
    let rise = 0.35 * size;
    for (number, run) in characters.chunk_by(|&a, &b| lowered(a).is_some() == lowered(b).is_some()).enumerate() {
        let plain: String = run.iter().map(|&c| lowered(c).unwrap_or(c)).collect();
        // Writing to a string cannot fail.
        let _ = match (lowered(run[0]).is_some(), number) {
            (true, _) => write!(parts, r#"<tspan dy="{:.1}" font-size="{:.1}">{plain}</tspan>"#, -rise, 0.72 * size),
            (false, 0) => write!(parts, "{plain}"),
            (false, _) => write!(parts, r#"<tspan dy="{rise:.1}">{plain}</tspan>"#),
        };
    }
    parts
}

/// Estimates the width of a text, accurately enough for layout.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    0.56 * size * text.chars().count() as f64
}

/// Shortens a text to at most `most` characters, with an ellipsis at the end if it is cut.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

/// Draws a scaled SVG over an image.
pub(crate) fn draw_over(image: &mut Image, svg: &str, scale: f64) -> Result<(), PictureError> {
    let failed = |message: String| PictureError::Encode { format: "SVG", message };
    let tree = usvg::Tree::from_str(svg, options()).map_err(|error| failed(error.to_string()))?;
    let size = image.size();
    // For an opaque image, straight alpha equals premultiplied alpha, which the rasterizer expects.
    let mut pixels = tiny_skia::PixmapMut::from_bytes(image.bytes_mut(), size.width(), size.height())
        .ok_or_else(|| failed("no image of this size".into()))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale as f32, scale as f32), &mut pixels);
    Ok(())
}

/// Rasterizes a scaled SVG on white.
pub(crate) fn rasterized(svg: &str, size: Size, scale: f64) -> Result<Image, PictureError> {
    let mut image = Image::filled(size, crate::Color([255; 3]));
    draw_over(&mut image, svg, scale)?;
    Ok(image)
}

/// Returns the options for parsing SVG, with an embedded font so that pictures are the same everywhere.
///
/// The font is Ubuntu Light from `epaint_default_fonts`, the best maintained crate that embeds a free font. A thin
/// outline gives it the stroke of the regular weight. Hack, from the same crate, supplies glyphs that it lacks.
fn options() -> &'static usvg::Options<'static> {
    static OPTIONS: OnceLock<usvg::Options<'static>> = OnceLock::new();
    OPTIONS.get_or_init(|| {
        let mut fonts = usvg::fontdb::Database::new();
        for font in [epaint_default_fonts::UBUNTU_LIGHT, epaint_default_fonts::HACK_REGULAR] {
            fonts.load_font_data(font.to_vec());
        }
        usvg::Options {
            fontdb: Arc::new(fonts),
            style_sheet: Some("text { stroke: #30343a; stroke-width: 0.3px }".into()),
            ..usvg::Options::default()
        }
    })
}
