//! Drawing of a panel as SVG.

use std::fmt::Write as _;

use super::{Axis, Plot, Style, thinned};
use crate::Color;
use crate::svg::{Anchor, Svg, shortened, text_width};
use crate::ticks::{Ticks, power_of_ten};

const INK: &str = r##" fill="#30343a""##;
const FONT: f64 = 12.0;
/// Maximum number of characters of a title or label.
const MAX_LABEL: usize = 110;
/// Maximum number of characters of a name in the legend.
const MAX_NAME: usize = 40;
/// Maximum number of curves in the legend; more could not be distinguished.
const MAX_NAMES: usize = 35;
/// Distance between markers that only distinguish curves \[px\].
const MARKER_STEP: f64 = 90.0;
/// Dash patterns of curves, in order. 5 patterns and 7 colors give 35 different curves.
const DASHES: [&str; 5] = ["", "7 3", "2 2.5", "9 3 2 3", "13 4"];

/// Plot area: left, top, width and height.
#[derive(Debug, Clone, Copy)]
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn x(&self, position: f64) -> f64 {
        self.left + position * self.width
    }

    fn y(&self, position: f64) -> f64 {
        self.top + (1.0 - position) * self.height
    }
}

/// Plot with its axes.
#[derive(Debug)]
pub(super) struct Panel<'a> {
    plot: &'a Plot,
    x: Axis,
    y: Axis,
    /// Width and height.
    size: [f64; 2],
}

impl<'a> Panel<'a> {
    pub fn new(plot: &'a Plot, size: [f64; 2]) -> Self {
        let points = || plot.series.iter().flat_map(|series| &series.points);
        let [across, upwards] = [((size[0] / 90.0) as usize).clamp(2, 12), ((size[1] / 36.0) as usize).clamp(2, 10)];
        let x = Axis::around(points().map(|point| point.0), plot.x_scale, 0.0, across);
        let y = Axis::around(points().map(|point| point.1), plot.y_scale, 0.05, upwards);
        Self { plot, x, y, size }
    }

    /// Returns the width needed for the labels on the left.
    pub fn left(&self) -> f64 {
        let labels = self.y.ticks.labelled.iter().map(|(_, label)| text_width(label, FONT)).fold(0.0, f64::max);
        (labels + if self.plot.y_label.is_empty() { 18.0 } else { 40.0 }).min(0.5 * self.size[0])
    }
}

/// Adds a plot as panel `number`, with its plot area at `left` and everything below `top`.
pub(super) fn add_panel(svg: &mut Svg, panel: &Panel, number: usize, [left, top]: [f64; 2]) {
    let Panel { plot, x, y, size: [width, height] } = panel;
    let (width, height) = (*width, *height);
    let legend = legend_rows(plot, width - 40.0);
    let title = if plot.title.is_empty() { 0.0 } else { 24.0 };
    let power = if y.ticks.exponent == 0 { 0.0 } else { 14.0 };
    let above = 14.0 + title + 20.0 * legend.len() as f64 + power;
    let below = if plot.x_label.is_empty() { 28.0 } else { 46.0 };
    let frame = Frame {
        left,
        top: top + above,
        width: (width - left - 22.0).max(1.0),
        height: (height - above - below).max(1.0),
    };

    if !plot.title.is_empty() {
        let attributes = format!(r#"{INK} font-weight="bold""#);
        svg.write([width / 2.0, top + 24.0], 15.0, Anchor::Middle, &attributes, &shortened(&plot.title, MAX_LABEL));
    }
    add_axes(svg, plot, frame, x, y);
    svg.add(format_args!(
        r#"<clipPath id="panel{number}"><rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}"/></clipPath>"#,
        frame.left - 5.0,
        frame.top - 5.0,
        frame.width + 10.0,
        frame.height + 10.0
    ));
    svg.add(format_args!(r#"<g clip-path="url(#panel{number})" stroke-linejoin="round">"#));
    for curve in 0..plot.series.len() {
        add_curve(svg, plot, curve, frame, x, y);
    }
    svg.add(format_args!("</g>"));
    for (row, entries) in legend.iter().enumerate() {
        add_legend_row(svg, plot, entries, [width / 2.0, top + 14.0 + title + 20.0 * row as f64 + 4.0]);
    }
}

/// Adds the grid, the frame, ticks and their labels, and the axis labels.
fn add_axes(svg: &mut Svg, plot: &Plot, frame: Frame, x: &Axis, y: &Axis) {
    let Frame { left, top, width, height } = frame;
    let bottom = top + height;
    let mut grid = String::new();
    let mut marks = String::new();
    // Writing to a string cannot fail.
    let places = |axis: &Axis, values: &[f64]| -> Vec<f64> {
        let inside = |place: &f64| (-1e-6..=1.0 + 1e-6).contains(place);
        values.iter().filter_map(|&value| axis.position(value)).filter(inside).collect()
    };
    let labelled = |ticks: &Ticks| ticks.labelled.iter().map(|tick| tick.0).collect::<Vec<_>>();
    for at in places(x, &labelled(&x.ticks)).into_iter().map(|place| frame.x(place)) {
        let _ = write!(grid, "M{at:.1} {top:.1}V{bottom:.1}");
        let _ = write!(marks, "M{at:.1} {bottom:.1}v5");
    }
    for at in places(y, &labelled(&y.ticks)).into_iter().map(|place| frame.y(place)) {
        let _ = write!(grid, "M{left:.1} {at:.1}h{width:.1}");
        let _ = write!(marks, "M{left:.1} {at:.1}h-5");
    }
    for at in places(x, &x.ticks.minor).into_iter().map(|place| frame.x(place)) {
        let _ = write!(marks, "M{at:.1} {bottom:.1}v3");
    }
    for at in places(y, &y.ticks.minor).into_iter().map(|place| frame.y(place)) {
        let _ = write!(marks, "M{left:.1} {at:.1}h-3");
    }
    if !grid.is_empty() {
        svg.add(format_args!(r##"<path d="{grid}" stroke="#e3e6ea" fill="none"/>"##));
        svg.add(format_args!(r##"<path d="{marks}" stroke="#30343a" fill="none"/>"##));
    }
    svg.add(format_args!(
        r##"<rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}" fill="none" stroke="#30343a"/>"##
    ));
    for (value, label) in &x.ticks.labelled {
        if let Some(place) = x.position(*value) {
            svg.write([frame.x(place), bottom + 18.0], FONT, Anchor::Middle, INK, label);
        }
    }
    for (value, label) in &y.ticks.labelled {
        if let Some(place) = y.position(*value) {
            svg.write([left - 8.0, frame.y(place) + 4.0], FONT, Anchor::End, INK, label);
        }
    }
    if y.ticks.exponent != 0 {
        let power = format!("× {}", power_of_ten(y.ticks.exponent));
        svg.write([left, top - 6.0], FONT, Anchor::Start, INK, &power);
    }
    let mut x_label = shortened(&plot.x_label, MAX_LABEL);
    if x.ticks.exponent != 0 {
        x_label = format!("{x_label}  (× {})", power_of_ten(x.ticks.exponent));
    }
    if !x_label.is_empty() {
        svg.write([left + width / 2.0, bottom + 37.0], 13.0, Anchor::Middle, INK, &x_label);
    }
    if !plot.y_label.is_empty() {
        let (across, along) = (18.0, top + height / 2.0);
        let attributes = format!(r#"{INK} transform="rotate(-90 {across:.1} {along:.1})""#);
        let label = shortened(&plot.y_label, MAX_LABEL);
        svg.write([across, along], 13.0, Anchor::Middle, &attributes, &label);
    }
}

/// Adds the line and the markers of a curve.
fn add_curve(svg: &mut Svg, plot: &Plot, curve: usize, frame: Frame, x: &Axis, y: &Axis) {
    let series = &plot.series[curve];
    let place = |&(px, py): &(f64, f64)| Some([frame.x(x.position(px)?), frame.y(y.position(py)?)]);
    let places: Vec<Option<[f64; 2]>> = series.points.iter().map(place).collect();
    let mut line = String::new();
    let mut marked: Vec<[f64; 2]> = Vec::new();
    for run in places.split(Option::is_none).filter(|run| !run.is_empty()) {
        let run: Vec<[f64; 2]> = thinned(&run.iter().copied().flatten().collect::<Vec<_>>());
        if series.style != Style::Markers && run.len() > 1 {
            for (i, [x, y]) in run.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = write!(line, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
            }
        }
        if series.style != Style::Line || run.len() == 1 {
            marked.extend(run);
        } else if plot.series.len() > 1 {
            marked.extend(spread(&run, MARKER_STEP * (0.35 + 0.17 * (curve % 5) as f64)));
        }
    }
    let color = Color::distinct(curve).hex();
    if !line.is_empty() {
        svg.add(format_args!(r#"<path d="{line}" fill="none" stroke="{color}" stroke-width="1.8"{}/>"#, dashes(curve)));
    }
    // Coincident markers are drawn once.
    marked.dedup_by_key(|[x, y]| [x.round(), y.round()]);
    if !marked.is_empty() {
        let path: String = marked.iter().map(|&at| marker(curve, at)).collect();
        svg.add(format_args!(r#"<path d="{path}" fill="white" stroke="{color}" stroke-width="1.4"/>"#));
    }
}

fn dashes(curve: usize) -> String {
    match DASHES[curve % DASHES.len()] {
        "" => String::new(),
        dashes => format!(r#" stroke-dasharray="{dashes}""#),
    }
}

/// Returns points at equal distances in `x` along a line, the first after `offset` pixels.
fn spread(line: &[[f64; 2]], offset: f64) -> Vec<[f64; 2]> {
    let mut next = offset;
    let mut gone = 0.0;
    let mut points = Vec::new();
    for pair in line.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        let step = (b[0] - a[0]).abs();
        while next <= gone + step && points.len() < 50 {
            let t = (next - gone) / step.max(f64::MIN_POSITIVE);
            points.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
            next += MARKER_STEP;
        }
        gone += step;
    }
    points
}

/// Returns the outline of a curve's marker at a point.
fn marker(curve: usize, [x, y]: [f64; 2]) -> String {
    let shape = match curve % 5 {
        0 => "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
        1 => "m-2.8 -2.8h5.6v5.6h-5.6z",
        2 => "m0 -3.8l3.6 6.4h-7.2z",
        3 => "m0 -4l4 4l-4 4l-4 -4z",
        _ => "m0 3.8l3.6 -6.4h-7.2z",
    };
    format!("M{x:.1} {y:.1}{shape}")
}

/// Returns the curves of each legend row with the widths of their entries.
fn legend_rows(plot: &Plot, width: f64) -> Vec<Vec<(usize, f64)>> {
    let mut rows: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut used = f64::INFINITY;
    let named = plot.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
    for (curve, series) in named.take(MAX_NAMES) {
        let needed = 46.0 + text_width(&shortened(&series.name, MAX_NAME), FONT) + 14.0;
        if used + needed > width {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += needed;
        rows.last_mut().into_iter().for_each(|row| row.push((curve, needed)));
    }
    rows
}

/// Adds a row of the legend, centered at a point.
fn add_legend_row(svg: &mut Svg, plot: &Plot, entries: &[(usize, f64)], [middle, y]: [f64; 2]) {
    let mut left = middle - entries.iter().map(|entry| entry.1).sum::<f64>() / 2.0;
    for &(curve, width) in entries {
        let series = &plot.series[curve];
        let color = Color::distinct(curve).hex();
        let right = left + 38.0;
        if series.style != Style::Markers {
            svg.add(format_args!(
                r#"<path d="M{left:.1} {y:.1}H{right:.1}" fill="none" stroke="{color}" stroke-width="1.8"{}/>"#,
                dashes(curve)
            ));
        }
        if series.style != Style::Line || plot.series.len() > 1 {
            let path = marker(curve, [left + 19.0, y]);
            svg.add(format_args!(r#"<path d="{path}" fill="white" stroke="{color}" stroke-width="1.4"/>"#));
        }
        svg.write([left + 46.0, y + 4.0], FONT, Anchor::Start, INK, &shortened(&series.name, MAX_NAME));
        left += width;
    }
}
