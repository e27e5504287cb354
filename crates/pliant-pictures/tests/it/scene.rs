//! Pictures of bodies, pixel by pixel.

use pliant_pictures::{
    Ball, Body, Bounds, Color, ColorMap, ColorScale, Framing, Ground, Image, Scene, Size, Up, Vec3, View,
};

const RED: Color = Color([220, 40, 40]);
const BLUE: Color = Color([40, 60, 220]);

fn size() -> Size {
    Size::new(240, 180).unwrap()
}

/// Returns the block from `low` to `high`.
fn block(low: Vec3, high: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corner = |i: u32| {
        let side = |bit: u32, low: f64, high: f64| if i >> bit & 1 == 0 { low } else { high };
        Vec3::new(side(0, low.x, high.x), side(1, low.y, high.y), side(2, low.z, high.z))
    };
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    ((0..8).map(corner).collect(), triangles)
}

/// Returns a view along `−z` of the square from −1 to 1.
fn front_view() -> View {
    let unit = Some(Bounds { low: -Vec3::ONE, high: Vec3::ONE });
    View::fitting([unit], size(), &Framing { azimuth: 0.0, elevation: 0.0, ..Framing::default() })
}

fn at(image: &Image, view: &View, point: Vec3) -> Color {
    let [x, y] = view.pixel_of(point, image.size()).unwrap().expect("in front of the camera");
    image.pixel(x as u32, y as u32).expect("within the picture")
}

fn brightness(color: Color) -> u32 {
    color.0.map(u32::from).iter().sum()
}

fn is_reddish(Color([red, green, blue]): Color) -> bool {
    red / 2 > green && red / 2 > blue
}

#[test]
fn a_body_is_where_it_should_be_and_nowhere_else() {
    let (positions, triangles) = block(Vec3::new(-0.5, -0.5, -0.5), Vec3::new(0.5, 0.5, 0.5));
    let view = front_view();
    let body = Body { color: RED, ..Body::new(&positions, &triangles) };
    let image = Scene { bodies: vec![body], ..Scene::new(view, size()) }.draw().unwrap();
    for (x, y) in [(0.0, 0.0), (0.45, 0.45), (-0.45, 0.45), (0.45, -0.45)] {
        assert!(is_reddish(at(&image, &view, Vec3::new(x, y, 0.5))), "{x} {y}");
    }
    for (x, y) in [(0.6, 0.0), (-0.6, 0.0), (0.0, 0.6), (0.0, -0.6)] {
        assert!(!is_reddish(at(&image, &view, Vec3::new(x, y, 0.5))), "{x} {y}");
    }
}

#[test]
fn the_side_towards_the_light_is_brighter() {
    let view = front_view();
    let ball = Ball { center: Vec3::ZERO, radius: 0.8, color: RED };
    let image = Scene { balls: vec![ball], ..Scene::new(view, size()) }.draw().unwrap();
    let lit = at(&image, &view, Vec3::new(-0.35, 0.4, 0.6));
    let unlit = at(&image, &view, Vec3::new(0.35, -0.5, 0.5));
    assert!(brightness(lit) > brightness(unlit) + 80, "{lit:?} {unlit:?}");
}

#[test]
fn both_sides_of_a_triangle_are_lit_alike() {
    let positions = [Vec3::new(-0.8, -0.8, 0.0), Vec3::new(0.8, -0.8, 0.0), Vec3::new(0.0, 0.9, 0.0)];
    let view = front_view();
    let [front, back] = [[[0, 1, 2]], [[0, 2, 1]]].map(|triangles| {
        let body = Body { color: RED, ..Body::new(&positions, &triangles) };
        Scene { bodies: vec![body], ..Scene::new(view, size()) }.draw().unwrap()
    });
    assert_eq!(at(&front, &view, Vec3::ZERO), at(&back, &view, Vec3::ZERO));
}

#[test]
fn the_nearer_body_covers_the_farther_in_any_order() {
    let near = block(Vec3::new(-0.4, -0.4, 0.5), Vec3::new(0.4, 0.4, 0.8));
    let far = block(Vec3::new(-0.9, -0.9, -0.8), Vec3::new(0.9, 0.9, -0.5));
    let red = Body { color: RED, ..Body::new(&near.0, &near.1) };
    let blue = Body { color: BLUE, ..Body::new(&far.0, &far.1) };
    let view = front_view();
    let [one, other] =
        [vec![red, blue], vec![blue, red]].map(|bodies| Scene { bodies, ..Scene::new(view, size()) }.draw().unwrap());
    assert_eq!(one, other);
    assert!(is_reddish(at(&one, &view, Vec3::new(0.0, 0.0, 0.8))));
    let Color([red, _, blue]) = at(&one, &view, Vec3::new(0.75, 0.75, -0.5));
    assert!(blue / 2 > red);
}

#[test]
fn a_body_darkens_the_ground_under_it_and_to_the_right() {
    for up in [Up::Y, Up::Z] {
        let lifted = up.direction() * 0.9;
        let (positions, triangles) = block(lifted - 0.4, lifted + 0.4);
        let body = Body::new(&positions, &triangles);
        let ground = Ground { point: Vec3::ZERO, normal: 3.0 * up.direction() };
        let unit = Some(Bounds { low: -Vec3::splat(1.6), high: Vec3::splat(1.6) });
        let view = View::fitting([unit], size(), &Framing { azimuth: 0.0, elevation: 35.0, up, ..Framing::default() });
        let empty = Scene { ground: Some(ground), ..Scene::new(view, size()) };
        let [without, with] = [empty.clone(), Scene { bodies: vec![body], ..empty }].map(|scene| scene.draw().unwrap());
        let forward = Vec3::X.cross(up.direction());
        // The light comes from the left, front and above, so the shadow falls to the right and back.
        let shadow = Vec3::X * 0.75 - forward * 0.45;
        let [dark, bright] = [&with, &without].map(|image| brightness(at(image, &view, shadow)));
        assert!(dark + 60 < bright, "{up:?} {dark} {bright}");
        let clear = Vec3::X * -1.2 + forward * 0.6;
        assert_eq!(at(&with, &view, clear), at(&without, &view, clear), "{up:?}");
    }
}

#[test]
fn ground_hides_what_is_below_it_and_is_not_seen_from_below() {
    let (positions, triangles) = block(Vec3::new(-0.4, -1.0, -0.4), Vec3::new(0.4, -0.2, 0.4));
    let body = Body { color: RED, ..Body::new(&positions, &triangles) };
    let ground = Some(Ground { point: Vec3::ZERO, normal: Vec3::Y });
    let has_red = |elevation: f64| {
        let view = View::fitting([body.bounds()], size(), &Framing { elevation, ..Framing::default() });
        let image = Scene { bodies: vec![body], ground, ..Scene::new(view, size()) }.draw().unwrap();
        image.bytes().chunks_exact(4).any(|pixel| is_reddish(Color([pixel[0], pixel[1], pixel[2]])))
    };
    assert!(!has_red(40.0));
    assert!(has_red(-40.0));
}

#[test]
fn values_and_legend_have_the_colors_of_the_map() {
    let positions =
        [Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, -1.0, 0.0), Vec3::new(1.0, 1.0, 0.0), Vec3::new(-1.0, 1.0, 0.0)];
    let triangles = [[0, 1, 2], [0, 2, 3]];
    let size = Size::new(800, 600).unwrap();
    let view = View { distance: 12.0, ..front_view() };
    let scale = ColorScale { range: Some([0.0, 10.0]), label: "height".into(), unit: "m".into(), ..Default::default() };
    let draw = |values: [f64; 4], legend: bool| {
        let body = Body { values: Some(&values), ..Body::new(&positions, &triangles) };
        let scale = ColorScale { legend, ..scale.clone() };
        Scene { bodies: vec![body], scale, ..Scene::new(view, size) }.draw().unwrap()
    };
    let [low, high] = [0.0, 1.0].map(|t| ColorMap::Viridis.at(t));
    let image = draw([0.0, 10.0, 10.0, 0.0], true);
    // The color bar is on the right. Both ends of the map appear there, the maximum above the minimum.
    let find = |color: Color| {
        let near = |a: Color| a.0.iter().zip(color.0).all(|(a, b)| a.abs_diff(b) <= 4);
        (0..600).find(|&y| (650..790).any(|x| near(image.pixel(x, y).unwrap())))
    };
    let (top, bottom) = (find(high).expect("the end of the map"), find(low).expect("its start"));
    assert!(top + 200 < bottom, "{top} {bottom}");
    assert_ne!(image, draw([0.0, 10.0, 10.0, 0.0], false));
    // The body itself runs from blue to yellow.
    let at = |x: f64| {
        let [x, y] = view.pixel_of(Vec3::new(x, 0.0, 0.0), size).unwrap().unwrap();
        image.pixel(x as u32, y as u32).unwrap()
    };
    assert!(at(-0.95).0[2] > at(-0.95).0[1] && at(0.95).0[1] / 2 > at(0.95).0[2], "{:?} {:?}", at(-0.95), at(0.95));
    // A missing value is gray.
    let [x, y] = view.pixel_of(Vec3::ZERO, size).unwrap().unwrap();
    let Color([red, green, blue]) = draw([f64::NAN; 4], true).pixel(x as u32, y as u32).unwrap();
    assert!(red.abs_diff(green) < 4 && green.abs_diff(blue) < 4);
}

#[test]
fn the_caption_changes_pixels_in_its_corner_only() {
    let scene = Scene::new(front_view(), size());
    let plain = scene.draw().unwrap();
    let written = Scene { caption: "t = 0.42 s".into(), ..scene }.draw().unwrap();
    let (mut inside, mut outside) = (0, 0);
    for y in 0..180 {
        for x in 0..240 {
            let changed = plain.pixel(x, y) != written.pixel(x, y);
            *(if x < 120 && y > 140 { &mut inside } else { &mut outside }) += usize::from(changed);
        }
    }
    assert!(inside > 50 && outside == 0, "{inside} {outside}");
}

#[test]
fn edges_are_drawn_as_lines_before_the_surface_only() {
    let (positions, triangles) = block(-Vec3::ONE, Vec3::ONE);
    let view = front_view();
    let draw = |edges: &[[u32; 2]]| {
        let body = Body { color: Color([240, 200, 120]), edges, ..Body::new(&positions, &triangles) };
        Scene { bodies: vec![body], ..Scene::new(view, size()) }.draw().unwrap()
    };
    let plain = draw(&[]);
    let middle = Vec3::new(0.0, 0.0, 1.0);
    let [x, y] = view.pixel_of(middle, size()).unwrap().unwrap().map(|coordinate| coordinate as u32);
    let darkest = |image: &Image| {
        let around = (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| (x, y)));
        around.filter_map(|(x, y)| image.pixel(x, y)).map(brightness).min().unwrap()
    };
    let [line, surface] = [darkest(&draw(&[[4, 7]])), darkest(&plain)];
    assert!(line + 60 < surface, "{line} {surface}");
    assert_eq!(at(&draw(&[[0, 3]]), &view, middle), at(&plain, &view, middle), "an edge at the rear is hidden");
}

#[test]
fn a_moving_body_stays_in_frame() {
    let (positions, triangles) = block(-Vec3::ONE, Vec3::ONE);
    let moved = |step: i32| -> Vec<Vec3> {
        let shift = Vec3::new(f64::from(step), 3.0 * (f64::from(step) * 0.7).sin(), -0.5 * f64::from(step));
        positions.iter().map(|&position| position + shift).collect()
    };
    let frames: Vec<Vec<Vec3>> = (0..8).map(moved).collect();
    let boxes = frames.iter().map(|positions| Bounds::of(positions.iter().copied()));
    let view = View::fitting(boxes, size(), &Framing::default());
    for positions in &frames {
        let body = Body { color: RED, ..Body::new(positions, &triangles) };
        let image = Scene { bodies: vec![body], ..Scene::new(view, size()) }.draw().unwrap();
        let red = |x, y| image.pixel(x, y).is_some_and(is_reddish);
        let border = (0..240).any(|x| red(x, 0) || red(x, 179)) || (0..180).any(|y| red(0, y) || red(239, y));
        let count = (0..180).flat_map(|y| (0..240).map(move |x| (x, y))).filter(|&(x, y)| red(x, y)).count();
        assert!(!border && count > 50, "{count}");
    }
}

#[test]
fn the_same_scene_gives_the_same_bytes() {
    let (positions, triangles) = block(-Vec3::ONE, Vec3::ONE);
    let values: Vec<f64> = (0..8).map(f64::from).collect();
    let body = Body { values: Some(&values), ..Body::new(&positions, &triangles) };
    let ground = Some(Ground { point: -Vec3::Y, normal: Vec3::Y });
    let scene = Scene { bodies: vec![body], ground, caption: "twice".into(), ..Scene::new(front_view(), size()) };
    assert_eq!(scene.draw().unwrap().png().unwrap(), scene.draw().unwrap().png().unwrap());
}

/// Returns a number that code is unlikely to expect, or an ordinary one.
fn hostile(random: &mut fastrand::Rng) -> f64 {
    let odd = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -1e300, 1e-310, 1e38, -1e39, 1e20];
    match random.u8(0..4) {
        0 => odd[random.usize(0..odd.len())],
        1 => f64::from_bits(random.u64(..)),
        _ => 4.0 * random.f64() - 2.0,
    }
}

#[test]
fn hostile_numbers_never_panic() {
    let mut random = fastrand::Rng::with_seed(11);
    let small = Size::new(33, 21).unwrap();
    for round in 0..1500 {
        let random = &mut random;
        let vector = |random: &mut fastrand::Rng| Vec3::new(hostile(random), hostile(random), hostile(random));
        let positions: Vec<Vec3> = (0..random.usize(0..12)).map(|_| vector(random)).collect();
        let triangles: Vec<[u32; 3]> = (0..random.usize(0..20)).map(|_| [(); 3].map(|()| random.u32(0..14))).collect();
        let edges: Vec<[u32; 2]> = (0..random.usize(0..6)).map(|_| [(); 2].map(|()| random.u32(0..14))).collect();
        let values: Vec<f64> = (0..random.usize(0..14)).map(|_| hostile(random)).collect();
        let body =
            Body { values: random.bool().then_some(&values[..]), edges: &edges, ..Body::new(&positions, &triangles) };
        let fitted = View::fitting([body.bounds()], small, &Framing::default());
        let wild = View { target: vector(random), distance: hostile(random), azimuth: hostile(random), ..fitted };
        let scene = Scene {
            bodies: vec![body],
            balls: vec![Ball { center: vector(random), radius: hostile(random), color: RED }],
            ground: random.bool().then(|| Ground { point: vector(random), normal: vector(random) }),
            scale: ColorScale {
                range: random.bool().then(|| [hostile(random), hostile(random)]),
                label: "<&\"\u{0}\u{ffff}".into(),
                ..ColorScale::default()
            },
            caption: String::new(),
            ..Scene::new(if round % 3 == 0 { wild } else { fitted }, small)
        };
        // A scene is drawn or gives an error, but never panics.
        if let Err(error) = scene.draw() {
            assert!(error.to_string().contains("view"), "{error}");
        }
    }
}
