//! Color bar and caption over a picture.

use super::Scene;
use crate::svg::{Anchor, Svg, draw_over, shortened};
use crate::ticks::{Ticks, power_of_ten};
use crate::{Image, PictureError};

/// Maximum number of characters of a text.
const MAX_TEXT: usize = 120;
const INK: &str = r##" fill="#30343a""##;

/// Draws the legend if a body has values, and the caption if it is not empty.
pub(crate) fn draw(scene: &Scene, range: Option<[f64; 2]>, image: &mut Image) -> Result<(), PictureError> {
    let range = range.filter(|_| scene.scale.legend);
    if range.is_none() && scene.caption.is_empty() {
        return Ok(());
    }
    let [width, height] = [scene.size.width(), scene.size.height()].map(f64::from);
    // Text scales with the picture, but stays readable in small ones.
    let font = (height.min(width) / 36.0).max(9.0);
    let mut svg = Svg::new(scene.size.width(), scene.size.height());
    if let Some(range) = range {
        add_bar(&mut svg, scene, range, [width, height], font);
    }
    if !scene.caption.is_empty() {
        let caption = shortened(&scene.caption, MAX_TEXT);
        svg.write([1.3 * font, height - 1.3 * font], (1.15 * font).round(), Anchor::Start, INK, &caption);
    }
    draw_over(image, &svg.finish(), 1.0)
}

/// Returns left, top, width and height of the color bar.
fn bar([width, height]: [f64; 2], font: f64) -> [f64; 4] {
    let thickness = (0.9 * font).round();
    let length = (0.46 * height).round();
    [(width - 4.6 * font - thickness).round(), ((height - length) / 2.0).round(), thickness, length]
}

fn add_bar(svg: &mut Svg, scene: &Scene, [low, high]: [f64; 2], size: [f64; 2], font: f64) {
    let [left, top, thickness, length] = bar(size, font);
    let right = left + thickness;
    svg.add(format_args!(r#"<linearGradient id="scale" x1="0" y1="1" x2="0" y2="0">"#));
    for step in 0..=32 {
        let t = f64::from(step) / 32.0;
        svg.add(format_args!(r#"<stop offset="{t}" stop-color="{}"/>"#, scene.scale.map.at(t).hex()));
    }
    svg.add(format_args!("</linearGradient>"));
    svg.add(format_args!(
        r##"<rect x="{left}" y="{top}" width="{thickness}" height="{length}" fill="url(#scale)" stroke="#30343a" stroke-width="0.8"/>"##
    ));

    let (ticks, at) = if high > low {
        (Ticks::linear(low, high, 6), (0.0, 1.0))
    } else {
        // All values are equal and have the color at the center of the map.
        let around = low.abs().max(1e-300);
        let mut ticks = Ticks::linear(low - around, low + around, 4);
        ticks.labelled.retain(|(value, _)| *value == low);
        (ticks, (0.5, 0.0))
    };
    for (value, label) in &ticks.labelled {
        let t = at.0 + at.1 * ((value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE));
        let y = top + length * (1.0 - t);
        let end = right + 0.35 * font;
        svg.add(format_args!(
            r##"<path d="M{right} {y:.1}H{end:.1}" stroke="#30343a" stroke-width="{:.1}"/>"##,
            (font / 14.0).max(0.8)
        ));
        svg.write([right + 0.6 * font, y + 0.35 * font], font.round(), Anchor::Start, INK, label);
    }

    let unit = match (ticks.exponent, scene.scale.unit.as_str()) {
        (0, unit) => unit.to_owned(),
        (exponent, "") => power_of_ten(exponent),
        (exponent, unit) => format!("{} {unit}", power_of_ten(exponent)),
    };
    let title = match (scene.scale.label.as_str(), unit.as_str()) {
        ("", unit) => unit.to_owned(),
        (label, "") => label.to_owned(),
        (label, unit) => format!("{label} in {unit}"),
    };
    let title = shortened(&title, MAX_TEXT);
    svg.write([size[0] - 1.3 * font, top - 0.9 * font], font.round(), Anchor::End, INK, &title);
}
