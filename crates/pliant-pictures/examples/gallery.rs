//! Draws a gallery of pictures into a folder: `cargo run --release -p pliant-pictures --example gallery -- out`.
//!
//! A torus bounces on the ground and wobbles past a ball. The motion is prescribed, not simulated.

use std::error::Error;
use std::f64::consts::TAU;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::time::{Duration, Instant};

use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{
    Ball, Body, Color, ColorScale, Figure, Framing, Gif, Ground, Mp4, PictureError, Plot, Scene, Series, Size, Up,
    Vec3, View,
};

const AROUND: u32 = 140;
const ACROSS: u32 = 70;
const FRAMES: u32 = 60;
const SECONDS_PER_FRAME: f64 = 0.04;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: gallery FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    animation(folder)?;
    mesh(folder)?;
    plots(folder)?;
    Ok(())
}

/// Returns the vertices of a torus at a time \[s\], and the compression of each in percent.
fn torus(time: f64) -> (Vec<Vec3>, Vec<f64>) {
    let period = f64::from(FRAMES) * SECONDS_PER_FRAME / 2.0;
    let phase = (time / period).fract();
    let height = 1.1 * 4.0 * phase * (1.0 - phase);
    let wobble = 0.22 * (TAU * 3.0 * phase).cos() * (-2.5 * phase).exp();
    let (sin, cos) = 0.35_f64.sin_cos();
    let vertex = |number: u32| {
        let u = TAU * f64::from(number / ACROSS) / f64::from(AROUND);
        let v = TAU * f64::from(number % ACROSS) / f64::from(ACROSS);
        let radius = 0.75 + (0.3 + 0.03 * (3.0 * u + 9.0 * time).sin()) * v.cos();
        let flat = Vec3::new(radius * u.cos(), 0.3 * v.sin(), radius * u.sin());
        let tilted = Vec3::new(flat.x, cos * flat.y - sin * flat.z, sin * flat.y + cos * flat.z);
        let squash = 1.0 - wobble;
        let wide = 1.0 / squash.sqrt();
        let position = Vec3::new(wide * tilted.x, squash * tilted.y, wide * tilted.z);
        let squeezed = 100.0 * wobble.abs() * (0.35 + 0.65 * (u - 0.4).sin().powi(2)) * (0.7 - 0.3 * v.cos());
        (position, squeezed)
    };
    let (mut positions, values): (Vec<Vec3>, Vec<f64>) = (0..AROUND * ACROSS).map(vertex).unzip();
    let lowest = positions.iter().map(|position| position.y).fold(f64::INFINITY, f64::min);
    positions.iter_mut().for_each(|position| position.y += height - lowest);
    (positions, values)
}

fn torus_triangles() -> Vec<[u32; 3]> {
    let vertex = |u: u32, v: u32| (u % AROUND) * ACROSS + v % ACROSS;
    let quads = (0..AROUND).flat_map(|u| (0..ACROSS).map(move |v| (u, v)));
    quads
        .flat_map(|(u, v)| {
            let [a, b, c, d] = [vertex(u, v), vertex(u + 1, v), vertex(u + 1, v + 1), vertex(u, v + 1)];
            [[a, c, b], [a, d, c]]
        })
        .collect()
}

fn animation(folder: &Path) -> Result<(), Box<dyn Error>> {
    let size = Size::new(800, 600)?;
    let triangles = torus_triangles();
    let ball = Ball { center: Vec3::new(1.75, 0.4, -0.5), radius: 0.4, color: Color::OBSTACLE };
    let ground = Ground { point: Vec3::ZERO, normal: Vec3::Y };
    let scale =
        ColorScale { range: Some([0.0, 25.0]), label: "compression".into(), unit: "%".into(), ..ColorScale::default() };
    let frames: Vec<_> = (0..FRAMES).map(|frame| torus(f64::from(frame) * SECONDS_PER_FRAME)).collect();
    let boxes = frames.iter().map(|(positions, _)| Body::new(positions, &triangles).bounds());
    let view = View::fitting(boxes.chain([Some(ball.bounds())]), size, &Framing::default());

    let file = BufWriter::new(File::create(folder.join("torus.gif"))?);
    let mut gif = Gif::start(file, size, SECONDS_PER_FRAME)?;
    let mut mp4 = match Mp4::start(folder.join("torus.mp4"), size, 1.0 / SECONDS_PER_FRAME) {
        Err(error @ PictureError::NoFfmpeg) => {
            println!("no MP4: {error}");
            None
        }
        other => Some(other?),
    };
    let mut spent = Duration::ZERO;
    for (number, (positions, values)) in frames.iter().enumerate() {
        let body = Body { values: Some(values), ..Body::new(positions, &triangles) };
        let scene = Scene {
            bodies: vec![body],
            balls: vec![ball],
            ground: Some(ground),
            scale: scale.clone(),
            caption: format!("t = {:.2} s", number as f64 * SECONDS_PER_FRAME),
            ..Scene::new(view, size)
        };
        let start = Instant::now();
        let image = scene.draw()?;
        spent += start.elapsed();
        gif.add(&image)?;
        if let Some(mp4) = &mut mp4 {
            mp4.add(&image)?;
        }
        if [0, 12, 31].contains(&number) {
            fs::write(folder.join(format!("torus-{number}.png")), image.png()?)?;
        }
    }
    let each = spent.as_secs_f64() * 1e3 / f64::from(FRAMES);
    println!("{} triangles, {} × {} pixels: {each:.1} ms per frame", triangles.len(), size.width(), size.height());
    gif.finish()?;
    mp4.map_or(Ok(()), Mp4::finish)?;
    Ok(())
}

/// Draws a bent bar of few elements, with edges as lines and `z` up.
fn mesh(folder: &Path) -> Result<(), Box<dyn Error>> {
    const CELLS: [u32; 3] = [16, 4, 4];
    let size = Size::new(800, 500)?;
    let number = |[i, j, k]: [u32; 3]| (i * (CELLS[1] + 1) + j) * (CELLS[2] + 1) + k;
    let mut positions = Vec::new();
    for i in 0..=CELLS[0] {
        for j in 0..=CELLS[1] {
            for k in 0..=CELLS[2] {
                let [x, y, z] = [i, j, k].map(f64::from);
                let (sin, cos) = (0.055 * x).sin_cos();
                let radius = 18.0 + (z - 2.0);
                positions.push(Vec3::new(radius * sin, y - 2.0, radius * cos - 15.0 + 6.0));
            }
        }
    }
    let mut triangles = Vec::new();
    let mut edges = Vec::new();
    for axis in 0..3 {
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        for side in [0, CELLS[axis]] {
            for (i, j) in (0..CELLS[u]).flat_map(|i| (0..CELLS[v]).map(move |j| (i, j))) {
                let corner = |di: u32, dj: u32| {
                    let mut at = [0; 3];
                    (at[axis], at[u], at[v]) = (side, i + di, j + dj);
                    number(at)
                };
                let quad = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                let [a, b, c, d] = if side == 0 { [quad[0], quad[3], quad[2], quad[1]] } else { quad };
                triangles.extend([[a, b, c], [a, c, d]]);
                edges.extend([[a, b], [b, c], [c, d], [d, a]]);
            }
        }
    }
    let body = Body { edges: &edges, color: Color([226, 150, 78]), ..Body::new(&positions, &triangles) };
    let framing = Framing { azimuth: -35.0, elevation: 24.0, up: Up::Z, margin: [0.1, 0.12], ..Framing::default() };
    let scene = Scene {
        bodies: vec![body],
        ground: Some(Ground { point: Vec3::ZERO, normal: Vec3::Z }),
        caption: "a bent bar of 256 elements".into(),
        ..Scene::new(View::fitting([body.bounds()], size, &framing), size)
    };
    fs::write(folder.join("bar.png"), scene.draw()?.png()?)?;
    Ok(())
}

/// Plots an oscillation with its energies over time, and the error over the step size.
fn plots(folder: &Path) -> Result<(), Box<dyn Error>> {
    let over_time = |f: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
        (0..=20_000).map(|i| f64::from(i) * 1e-4).map(|t| (t, f(t))).collect()
    };
    let decay = |t: f64| (-1.3 * t).exp();
    let kinetic = |t: f64| 2.5 * decay(t) * (7.0 * t).sin().powi(2);
    let elastic = |t: f64| 2.5 * decay(t) * (7.0 * t).cos().powi(2);
    let energies = Plot {
        title: "A swinging bar".into(),
        y_label: "energy in mJ".into(),
        series: vec![
            Series::new("kinetic", over_time(&kinetic)),
            Series::new("elastic", over_time(&elastic)),
            Series::new("total", over_time(&|t| kinetic(t) + elastic(t))),
        ],
        ..Plot::default()
    };
    let tip = Plot {
        x_label: "time in s".into(),
        y_label: "tip in m".into(),
        series: vec![Series::new("", over_time(&|t| 3e-4 * decay(t / 2.0) * (7.0 * t).cos()))],
        ..Plot::default()
    };
    let figure = Figure { panels: vec![energies, tip], panel_height: 260, ..Figure::default() };
    fs::write(folder.join("energies.svg"), figure.svg()?)?;
    fs::write(folder.join("energies.png"), figure.image(2.0)?.png()?)?;

    let orders = [("backward Euler", 1), ("Newmark, β = ¼", 2), ("fourth order", 4)];
    let errors = |order: i32| (0..9).map(|i| 0.1 * 0.5f64.powi(i)).map(|h| (h, 0.4 * h.powi(order))).collect();
    let series = orders.map(|(name, order)| Series {
        style: Style::LineAndMarkers,
        ..Series::new(format!("{name}: h{}", ["", "", "²", "", "⁴"][order as usize]), errors(order))
    });
    let convergence = Plot {
        title: "Error after one second".into(),
        x_label: "time step h in s".into(),
        y_label: "error of the tip in m".into(),
        series: series.into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
    };
    fs::write(folder.join("convergence.svg"), convergence.svg()?)?;
    fs::write(folder.join("convergence.png"), convergence.png(2.0)?)?;
    Ok(())
}
