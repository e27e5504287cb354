//! Picture of a surface, `.svg`, for a preview or a README; write-only.
//!
//! ```text
//! <svg xmlns="…" viewBox="0 0 800 563">
//!   <title>…</title>
//!   <g stroke="…">                               darker edges
//!     <path fill="#4f8fc0" d="M1 2L3 4 5 6z"/>   one per visible face, from back to front
//!   </g>
//! </svg>
//! ```
//! The surface is seen from the front, right and above, y up, without perspective. Nearer faces are painted over
//! farther ones. Back faces of a closed surface are culled. Those of an open surface show its inside and are darker.

use super::error::WriteError;
use super::files::{Output, put};
use super::{Format, WriteOptions};
use crate::math::{Mat3, Vec3};
use crate::mesh::SurfaceMesh;

pub(super) const FORMAT: Format = Format {
    name: "SVG",
    extensions: &["svg"],
    about: "a shaded picture of a surface, only written",
    binary: false,
    features: &[],
    read: None,
    write_volume: None,
    write_surface: Some(write),
};

/// Longer side of the picture and margin around the surface \[pixels\].
const SIZE: f64 = 800.0;
const MARGIN: f64 = 12.0;

/// Directions from the surface to the viewer and to the light; the latter in the viewer's axes: right, up, near.
const VIEWER: Vec3 = Vec3::new(3.0, 2.0, 4.0);
const LAMP: Vec3 = Vec3::new(-2.0, 4.0, 3.0);

/// Maximum number of visible faces with edges: more edges would turn the picture black.
const MAX_FACES_WITH_EDGES: usize = 60_000;
/// Width of edges relative to their mean length, and its limits \[pixels\].
const EDGE_PART: f64 = 0.05;
const EDGE_WIDTHS: [f64; 2] = [0.12, 1.2];
const EDGE_COLOR: &str = "#173450";

/// Equally spaced colors from shadow to light.
const COLORS: [[f64; 3]; 4] = [[28.0, 66.0, 104.0], [56.0, 122.0, 176.0], [122.0, 180.0, 220.0], [226.0, 241.0, 250.0]];
/// Relative brightness of the inside of an open surface.
const INSIDE: f64 = 0.45;

fn write(output: &mut Output, surface: &SurfaceMesh, _: &WriteOptions) -> Result<(), WriteError> {
    let points = view(surface);
    let facets = visible(surface, &points);
    let paper = Paper::around(surface, &points, &facets);
    let out = output.main();
    put!(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    let [width, height] = paper.size;
    put!(out, "width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n");
    put!(out, "<title>{} vertices, {} faces</title>\n", surface.vertices().len(), surface.faces().len());
    let edges = facets.len() <= MAX_FACES_WITH_EDGES;
    if edges {
        let mean = mean_edge(surface, &points, &facets) * paper.scale;
        let width = (EDGE_PART * mean).clamp(EDGE_WIDTHS[0], EDGE_WIDTHS[1]);
        put!(out, "<g stroke=\"{EDGE_COLOR}\" stroke-width=\"{width:.2}\" stroke-linejoin=\"round\">\n");
    } else {
        put!(out, "<g stroke-width=\"1\" stroke-linejoin=\"round\">\n");
    }
    for facet in &facets {
        let [r, g, b] = color(facet.light);
        put!(out, "<path fill=\"#{r:02x}{g:02x}{b:02x}\" ");
        if !edges {
            // A stroke of the same color closes the gaps that antialiasing leaves between neighbors. If it were thinner
            // than a pixel, hidden faces would shine through.
            put!(out, "stroke=\"#{r:02x}{g:02x}{b:02x}\" ");
        }
        put!(out, "d=\"");
        for (i, &v) in surface.faces().get(facet.face).iter().enumerate() {
            out.extend(match i {
                0 => b"M",
                1 => b"L",
                _ => b" ",
            });
            let [x, y] = paper.place(points[v as usize]);
            put_hundredths(out, x);
            out.push(b' ');
            put_hundredths(out, y);
        }
        put!(out, "z\"/>\n");
    }
    put!(out, "</g>\n</svg>\n");
    Ok(())
}

/// Returns the vertices in the viewer's axes: right, up, near. They are scaled to a bounding box whose longest side is
/// 1, so that no unit of length overflows.
fn view(surface: &SurfaceMesh) -> Vec<Vec3> {
    let [low, high] = surface.bounding_box().map(|corner| 0.5 * corner);
    let side = (high - low).max_element();
    let unit = if side > 0.0 { side } else { 1.0 };
    let near = VIEWER.normalize();
    let right = Vec3::Y.cross(near).normalize();
    let axes = Mat3::from_cols(right, near.cross(right), near).transpose();
    surface.vertices().iter().map(|&p| axes * ((0.5 * p - 0.5 * (low + high)) / unit)).collect()
}

/// Visible face.
struct Facet {
    face: usize,
    /// Coordinate of its center toward the viewer.
    depth: f64,
    /// Brightness from 0, in shadow, to 1.
    light: f64,
}

/// Returns the visible faces, from back to front.
fn visible(surface: &SurfaceMesh, points: &[Vec3]) -> Vec<Facet> {
    let closed = surface.report().is_closed();
    // A closed surface whose normals all point inward is shown as if they pointed outward.
    let outward = if closed && surface.enclosed_volume() < 0.0 { -1.0 } else { 1.0 };
    let lamp = LAMP.normalize();
    let mut facets: Vec<Facet> = Vec::new();
    for (index, face) in surface.faces().iter().enumerate() {
        let at = |i: usize| points[face[i] as usize];
        let area: Vec3 = (1..face.len() - 1).map(|i| (at(i) - at(0)).cross(at(i + 1) - at(0))).sum();
        let normal = outward * area.normalize_or_zero();
        if normal.z == 0.0 || (closed && normal.z < 0.0) {
            continue;
        }
        let inside = normal.z < 0.0;
        // Half of the light is ambient, so that no side is black.
        let light = 0.5 + 0.5 * (if inside { -normal } else { normal }).dot(lamp);
        let depth = face.iter().map(|&v| points[v as usize].z).sum::<f64>() / face.len() as f64;
        facets.push(Facet { face: index, depth, light: if inside { INSIDE * light } else { light } });
    }
    facets.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    facets
}

/// Mapping of the viewer's plane to the picture.
struct Paper {
    /// Width and height \[pixels\].
    size: [u32; 2],
    scale: f64,
    left: f64,
    top: f64,
}

impl Paper {
    fn around(surface: &SurfaceMesh, points: &[Vec3], facets: &[Facet]) -> Self {
        let corners = facets.iter().flat_map(|facet| surface.faces().get(facet.face)).map(|&v| points[v as usize]);
        let boxes = corners.map(|p| [p, p]).reduce(|[low, high], [p, q]| [low.min(p), high.max(q)]);
        let [low, high] = boxes.unwrap_or_default();
        let extent = high - low;
        let longer = extent.x.max(extent.y);
        let scale = if longer > 0.0 { (SIZE - 2.0 * MARGIN) / longer } else { 1.0 };
        let size = [extent.x, extent.y].map(|side| (side * scale + 2.0 * MARGIN).round() as u32);
        Self { size, scale, left: low.x, top: high.y }
    }

    /// Returns a point in hundredths of pixels, right and down.
    fn place(&self, p: Vec3) -> [i64; 2] {
        [p.x - self.left, self.top - p.y].map(|x| (100.0 * (MARGIN + self.scale * x)).round() as i64)
    }
}

/// Returns the mean projected length of the edges of `facets`.
fn mean_edge(surface: &SurfaceMesh, points: &[Vec3], facets: &[Facet]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0_f64);
    for facet in facets {
        let face = surface.faces().get(facet.face);
        for (i, &v) in face.iter().enumerate() {
            let next = face[(i + 1) % face.len()];
            sum += (points[v as usize] - points[next as usize]).truncate().length();
            count += 1.0;
        }
    }
    sum / count.max(1.0)
}

fn color(light: f64) -> [u8; 3] {
    let at = light.clamp(0.0, 1.0) * (COLORS.len() - 1) as f64;
    let below = (at as usize).min(COLORS.len() - 2);
    let part = at - below as f64;
    std::array::from_fn(|i| ((1.0 - part) * COLORS[below][i] + part * COLORS[below + 1][i]).round() as u8)
}

/// Writes a non-negative number given in hundredths, with as few digits as possible.
fn put_hundredths(out: &mut Vec<u8>, hundredths: i64) {
    let (whole, part) = (hundredths / 100, hundredths % 100);
    match (part, part % 10) {
        (0, _) => put!(out, "{whole}"),
        (_, 0) => put!(out, "{whole}.{}", part / 10),
        _ => put!(out, "{whole}.{part:02}"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use quick_xml::Reader;
    use quick_xml::events::Event;

    use super::super::{Files, Memory, Mesh, read_from, write_to};
    use super::*;
    use crate::mesh::Faces;

    /// Returns the unit cube times `scale`.
    fn cube(scale: f64) -> SurfaceMesh {
        let corner = |i: u32| scale * Vec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2));
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        SurfaceMesh::new((0..8).map(corner).collect(), Faces::uniform(4, faces.concat())).unwrap()
    }

    fn picture(surface: &SurfaceMesh) -> String {
        let (files, path) = (Memory::default(), Path::new("m.svg"));
        write_to(&files, path, &Mesh::Surface(surface.clone()), &WriteOptions::default()).unwrap();
        String::from_utf8(files.read(path).unwrap()).unwrap()
    }

    /// Returns the numbers of an attribute and how often it occurs. The document must be well-formed.
    fn numbers(svg: &str, element: &str, attribute: &str) -> (Vec<f64>, usize) {
        let (mut numbers, mut count) = (Vec::new(), 0);
        let mut reader = Reader::from_str(svg);
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == element => {
                    let value = tag.try_get_attribute(attribute).unwrap().unwrap().value;
                    let text = value.into_owned();
                    let words =
                        text.split(|c: char| !c.is_ascii_digit() && !".-".contains(c)).filter(|w| !w.is_empty());
                    numbers.extend(words.map(|word| word.parse::<f64>().unwrap()));
                    count += 1;
                }
                Event::Eof => return (numbers, count),
                _ => {}
            }
        }
    }

    #[test]
    fn three_faces_of_a_cube_are_seen_within_the_view_box() {
        for scale in [1.0, -1.0, 1e-320, 1.7e308] {
            let svg = picture(&cube(scale));
            let (view_box, _) = numbers(&svg, "svg", "viewBox");
            let (coordinates, faces) = numbers(&svg, "path", "d");
            assert_eq!((faces, coordinates.len()), (3, 3 * 4 * 2), "{svg}");
            for point in coordinates.chunks(2) {
                assert!((0.0..=view_box[2]).contains(&point[0]) && (0.0..=view_box[3]).contains(&point[1]), "{svg}");
            }
            assert!(view_box[2].max(view_box[3]) >= SIZE, "{view_box:?}");
        }
        assert!(picture(&cube(1.0)).contains("<title>8 vertices, 6 faces</title>"));
    }

    #[test]
    fn nearer_faces_are_painted_later_and_the_top_is_lighter_than_the_right() {
        let surface = cube(1.0);
        let facets = visible(&surface, &view(&surface));
        assert!(facets.windows(2).all(|pair| pair[0].depth <= pair[1].depth));
        let light = |face: usize| facets.iter().find(|facet| facet.face == face).unwrap().light;
        assert!(light(3) > light(1) && light(1) > light(5));
    }

    #[test]
    fn both_sides_of_an_open_surface_are_seen() {
        let cube = cube(1.0);
        let open = SurfaceMesh::new(cube.vertices().to_vec(), cube.faces().iter().take(5).collect()).unwrap();
        assert_eq!(numbers(&picture(&open), "path", "d").1, 5);
    }

    #[test]
    fn a_surface_without_area_gives_an_empty_picture() {
        let flat = SurfaceMesh::new(vec![Vec3::ONE; 3], Faces::uniform(3, vec![0, 1, 2])).unwrap();
        assert_eq!(numbers(&picture(&flat), "path", "d").1, 0);
    }

    #[test]
    fn dense_surfaces_have_no_edges() {
        let side = 250;
        let vertices = (0..=side).flat_map(|x| (0..=side).map(move |y| Vec3::new(f64::from(x), f64::from(y), 0.0)));
        let quad = |x: u32, y: u32| [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(i, j)| (x + i) * (side + 1) + y + j);
        let quads = (0..side).flat_map(|x| (0..side).flat_map(move |y| quad(x, y)));
        let sheet = SurfaceMesh::new(vertices.collect(), Faces::uniform(4, quads.collect())).unwrap();
        let svg = picture(&sheet);
        assert_eq!(numbers(&svg, "path", "d").1, 62_500);
        assert!(!svg.contains(EDGE_COLOR) && svg.contains(" stroke=\"#"));
    }

    #[test]
    fn a_picture_is_not_read() {
        let error = read_from(&Memory::with("m.svg", "<svg/>"), Path::new("m.svg")).unwrap_err();
        assert_eq!(error.to_string(), "m.svg: SVG is only written, not read");
    }
}
