//! Plots are valid SVG for any input.

use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, PictureError, Plot, Series};
use quick_xml::Reader;
use quick_xml::events::Event;

/// Returns the names of all elements with their attributes, and all text.
fn parsed(svg: &str) -> (Vec<String>, Vec<String>) {
    let mut reader = Reader::from_str(svg);
    let (mut elements, mut texts, mut depth) = (Vec::new(), Vec::new(), 0);
    loop {
        match reader.read_event().expect("valid XML") {
            Event::Start(element) => {
                depth += 1;
                elements.push((*element).to_owned());
            }
            Event::Empty(element) => elements.push((*element).to_owned()),
            Event::End(_) => depth -= 1,
            Event::Text(text) => texts.push((*text).to_owned()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    (elements, texts)
}

fn plot(points: Vec<(f64, f64)>) -> Plot {
    let (x_label, y_label) = ("time in s".into(), "height in m".into());
    Plot { x_label, y_label, series: vec![Series::new("tip", points)], ..Plot::default() }
}

/// Returns the paths of the curves, which are in the clipped group.
fn curves(svg: &str) -> Vec<String> {
    let group = svg.split_once("<g clip-path").unwrap().1.split_once("</g>").unwrap().0;
    group.lines().filter(|line| line.starts_with("<path")).map(str::to_owned).collect()
}

#[test]
fn labels_names_and_numbers_are_written() {
    let svg = plot(vec![(0.0, 1.0), (2.0, 3.0)]).svg().unwrap();
    let texts = parsed(&svg).1.join("|");
    for expected in ["time in s", "height in m", "tip", "0.0", "2.0"] {
        assert!(texts.contains(expected), "{expected}: {texts}");
    }
}

#[test]
fn names_with_signs_of_xml_are_escaped() {
    let name = "a < b & \"c\" > 'd' \u{0}\u{1b}\u{fffe}\n</svg>";
    let series = vec![Series::new(name, vec![(0.0, 0.0), (1.0, 1.0)])];
    let plot = Plot { title: name.into(), x_label: name.into(), y_label: name.into(), series, ..Plot::default() };
    let svg = plot.svg().unwrap();
    parsed(&svg);
    assert_eq!(svg.matches("</svg>").count(), 1);
    plot.png(1.0).unwrap();
}

#[test]
fn a_gap_breaks_the_line() {
    let points = vec![(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 0.0)];
    let svg = plot(points.clone()).svg().unwrap();
    assert_eq!(curves(&svg)[0].matches('M').count(), 2);
    let whole: Vec<(f64, f64)> = points.into_iter().filter(|point| !point.1.is_nan()).collect();
    assert_eq!(curves(&plot(whole).svg().unwrap())[0].matches('M').count(), 1);
}

#[test]
fn a_single_point_is_a_marker_and_no_points_are_nothing() {
    assert_eq!(curves(&plot(vec![(3.0, 4.0)]).svg().unwrap()).len(), 1);
    assert_eq!(curves(&plot(vec![]).svg().unwrap()).len(), 0);
    let lonely = curves(&plot(vec![(0.0, 0.0), (1.0, 0.0), (f64::NAN, 0.0), (5.0, 1.0)]).svg().unwrap());
    assert_eq!(lonely.len(), 2, "a line and a marker");
}

#[test]
fn a_million_points_make_a_small_svg() {
    let points = (0..1_000_000).map(|i| f64::from(i) * 1e-6).map(|t| (t, (700.0 * t).sin() * (33_333.0 * t).cos()));
    let svg = plot(points.collect()).svg().unwrap();
    assert!(svg.len() < 60_000, "{}", svg.len());
}

#[test]
fn curves_differ_without_color() {
    let series = (0..5).map(|i| Series::new(format!("{i}"), vec![(0.0, f64::from(i)), (1.0, f64::from(i))])).collect();
    let svg = Plot { series, ..Plot::default() }.svg().unwrap();
    let mut dashes: Vec<Option<String>> = curves(&svg)
        .iter()
        .filter(|curve| curve.contains(r#"fill="none""#))
        .map(|curve| curve.split_once("dasharray=").map(|(_, rest)| rest.to_owned()))
        .collect();
    assert_eq!(dashes.len(), 5);
    dashes.sort();
    dashes.dedup();
    assert_eq!(dashes.len(), 5);
}

#[test]
fn logarithmic_axes_leave_out_what_is_not_positive() {
    let points = vec![(0.1, 10.0), (1.0, -5.0), (10.0, 0.0), (100.0, 1e4), (1000.0, 1e5)];
    let plot = Plot { x_scale: Scale::Logarithmic, y_scale: Scale::Logarithmic, ..plot(points) };
    let svg = plot.svg().unwrap();
    let paths = curves(&svg);
    assert_eq!(paths[0].matches('L').count(), 1, "one line between the last two points: {paths:?}");
    // Powers are raised.
    assert!(parsed(&svg).0.iter().any(|element| element.starts_with("tspan dy=\"-")));
}

#[test]
fn panels_are_stacked_and_png_has_their_size() {
    let panel = plot(vec![(0.0, 1.0), (1.0, 2.0)]);
    let figure = Figure { panels: vec![panel.clone(), panel], width: 400, panel_height: 150 };
    let svg = figure.svg().unwrap();
    assert!(parsed(&svg).0[0].contains(r#"viewBox="0 0 400 300""#));
    assert_eq!(svg.matches("<clipPath").count(), 2);
    let image = figure.image(1.5).unwrap();
    assert_eq!((image.size().width(), image.size().height()), (600, 450));
    let dark = |rows: std::ops::Range<u32>| {
        rows.flat_map(|y| (0..600).map(move |x| (x, y))).filter(|&(x, y)| image.pixel(x, y).unwrap().0[0] < 100).count()
    };
    assert!(dark(0..225) > 500 && dark(225..450) > 500);
    assert_eq!(figure.svg().unwrap(), svg);
    assert_eq!(figure.image(1.5).unwrap(), image);
}

#[test]
fn figures_without_a_size_are_errors() {
    let figure = Figure { panels: vec![Plot::default()], width: 0, panel_height: 100 };
    assert!(matches!(figure.svg(), Err(PictureError::Size { .. })));
    let figure = Figure { panels: vec![Plot::default(); 100], width: 500, panel_height: 1000 };
    assert!(matches!(figure.svg(), Err(PictureError::Size { .. })));
    for scale in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(matches!(Figure::from(Plot::default()).image(scale), Err(PictureError::Size { .. })), "{scale}");
    }
}

#[test]
fn hostile_numbers_give_valid_svg() {
    let odd = [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 1e-300, -1e300, 5e-324, 1.0];
    let mut random = fastrand::Rng::with_seed(4);
    for round in 0..600 {
        let number = |random: &mut fastrand::Rng| match round % 4 {
            0 => odd[random.usize(0..odd.len())],
            1 => f64::from_bits(random.u64(..)),
            2 => 1e15 + random.f64(),
            _ => 1e-300 * random.f64(),
        };
        let mut series = Vec::new();
        for name in ["", "b", "c"] {
            let points = (0..random.usize(0..6)).map(|_| (number(&mut random), number(&mut random))).collect();
            let style = [Style::Line, Style::LineAndMarkers, Style::Markers][random.usize(0..3)];
            series.push(Series { name: name.into(), points, style });
        }
        let scale = |random: &mut fastrand::Rng| if random.bool() { Scale::Linear } else { Scale::Logarithmic };
        let (x_scale, y_scale) = (scale(&mut random), scale(&mut random));
        let plot = Plot { series, x_scale, y_scale, ..Plot::default() };
        let (width, panel_height) = (random.u32(1..900), random.u32(1..500));
        let figure = Figure { panels: vec![plot], width, panel_height };
        parsed(&figure.svg().unwrap());
        if round % 20 == 0 {
            figure.image(1.0).unwrap();
        }
    }
}
