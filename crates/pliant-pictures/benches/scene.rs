//! Benchmark of drawing a picture: `RAYON_NUM_THREADS=1 cargo bench -p pliant-pictures`.

use std::f64::consts::TAU;

use divan::{Bencher, black_box};
use pliant_pictures::{Body, ColorScale, Framing, Ground, Scene, Size, Vec3, View};

fn main() {
    divan::main();
}

/// Draws a torus of 20,000 triangles with values on the ground, with legend and caption, at 800 × 600 pixels.
#[divan::bench]
fn torus(bencher: Bencher) {
    const AROUND: u32 = 100;
    let vertex = |number: u32| {
        let [u, v] = [number / AROUND, number % AROUND].map(|part| TAU * f64::from(part) / f64::from(AROUND));
        let radius = 1.0 + 0.4 * v.cos();
        Vec3::new(radius * u.cos(), 0.4 + 0.4 * v.sin(), radius * u.sin())
    };
    let positions: Vec<Vec3> = (0..AROUND * AROUND).map(vertex).collect();
    let values: Vec<f64> = positions.iter().map(|position| position.x).collect();
    let next = |number: u32, step: u32| (number + step) % (AROUND * AROUND);
    let triangles: Vec<[u32; 3]> = (0..AROUND * AROUND)
        .flat_map(|a| {
            let [b, c, d] = [next(a, AROUND), next(a, AROUND + 1), next(a, 1)];
            [[a, c, b], [a, d, c]]
        })
        .collect();
    let size = Size::new(800, 600).expect("a small picture");
    let body = Body { values: Some(&values), ..Body::new(&positions, &triangles) };
    let scene = Scene {
        bodies: vec![body],
        ground: Some(Ground { point: Vec3::ZERO, normal: Vec3::Y }),
        scale: ColorScale { label: "x".into(), unit: "m".into(), ..ColorScale::default() },
        caption: "t = 0.42 s".into(),
        ..Scene::new(View::fitting([body.bounds()], size, &Framing::default()), size)
    };
    bencher.bench(|| black_box(&scene).draw());
}
