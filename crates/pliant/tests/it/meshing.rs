//! Volume meshing: bounded dihedral angles, closed manifold boundaries, convergence of volumes and frequencies, and
//! imperfect (open, self-intersecting, non-manifold) surfaces.

use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pliant::geometry::{Enclosed, ImplicitSolid, Solid, SolidSample};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::{Affine3, Mat3, Vec3};
use pliant::mesh::{Cells, Embedding, Faces, SurfaceMesh, VolumeMesh, generate};
use pliant::meshing::{
    ANGLES, Cage, MeshingError, MeshingParams, Surface, cage, carrying_limits, fill_surface, stoppable, tetrahedralize,
    thin_parts, voxelize,
};
use pliant::model::{Body, Model};
use pliant::reduced::{Modes, ModesParams};

fn cells(cells: usize) -> MeshingParams {
    MeshingParams { cells, ..MeshingParams::default() }
}

/// Asserts that the boundary is a closed, consistently oriented manifold, and that no elements overlap.
fn assert_sound_boundary(mesh: &VolumeMesh, of: &str) {
    let boundary = mesh.boundary();
    assert!(boundary.overlapping_faces.is_empty(), "{of}: elements overlap");
    assert!(boundary.surface.report().is_closed(), "{of}: {:?}", boundary.surface.report());
    let surface = &boundary.surface;
    // Maps each face around a vertex to the next across their common edge.
    let mut next = std::collections::HashMap::new();
    for face in surface.faces().iter() {
        for i in 0..face.len() {
            let (before, at, after) = (face[(i + face.len() - 1) % face.len()], face[i], face[(i + 1) % face.len()]);
            next.insert((at, after), before);
        }
    }
    let mut degree = vec![0; surface.vertices().len()];
    surface.faces().vertices().iter().for_each(|&v| degree[v as usize] += 1);
    let mut first = vec![None; degree.len()];
    next.keys().for_each(|&(at, after)| first[at as usize] = Some(after));
    for (at, (&degree, first)) in degree.iter().zip(first).enumerate() {
        let Some(first) = first else { continue };
        let (mut now, mut steps) = (first, 0);
        loop {
            now = next[&(at as u32, now)];
            steps += 1;
            if now == first {
                break;
            }
        }
        assert_eq!(steps, degree, "{of}: vertex {at} has several rings of faces");
    }
}

/// Asserts a sound boundary, and dihedral angles within the bounds, which excludes flat and inverted tetrahedra.
fn assert_good(mesh: &VolumeMesh, of: &str) {
    assert_sound_boundary(mesh, of);
    let angles = mesh.quality().dihedral_angle;
    assert!(angles.min > ANGLES[0] && angles.max < ANGLES[1], "{of}: {} to {}", angles.min, angles.max);
    let surface = &mesh.vertex_sets()["surface"];
    let mut boundary = mesh.boundary().vertices;
    boundary.sort_unstable();
    assert_eq!(*surface, boundary, "{of}");
}

/// Random implicit solid: random signs, and crossings anywhere along an edge.
struct Noise(u64);

impl Noise {
    fn hash(&self, p: Vec3) -> u64 {
        p.to_array().iter().fold(self.0 + 1, |hash, x| {
            let mixed = (hash ^ (x * 1000.0).round() as i64 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            mixed ^ (mixed >> 29)
        })
    }
}

impl Solid for Noise {
    fn bounds(&self) -> [Vec3; 2] {
        [Vec3::ZERO, Vec3::ONE]
    }

    fn contains(&self, p: Vec3) -> bool {
        p.min_element() > 0.0 && p.max_element() < 1.0 && !self.hash(p).is_multiple_of(2 + self.0 % 3)
    }

    fn exit(&self, inside: SolidSample, outside: SolidSample) -> f64 {
        // Often at the limits where lattice vertices begin to move, and at the ends.
        match self.hash(inside.place + 2.0 * outside.place) % 8 {
            0 => 0.0,
            1 => 0.284_79,
            2 => 0.284_81,
            3 => 0.398_99,
            4 => 0.399_01,
            5 => 0.600_99,
            6 => 0.715_19,
            _ => 1.0,
        }
    }
}

#[test]
fn angles_are_within_their_bounds_for_the_worst_of_solids() {
    let (mut least, mut most): (f64, f64) = (180.0, 0.0);
    for seed in 0..40 {
        let body = tetrahedralize(&Noise(seed), &cells(9)).unwrap();
        assert_good(&body.mesh, &format!("noise {seed}"));
        let angles = body.mesh.quality().dihedral_angle;
        (least, most) = (least.min(angles.min), most.max(angles.max));
        assert!(body.info.removed_at_touching > 0);
    }
    println!("angles of noise: {least:.2}° to {most:.2}°");
    assert!(least < 14.0 && most > 148.0, "the noise is not bad enough to test anything: {least} to {most}");
}

/// Returns the order of convergence: the slope of log error over log cell size, by least squares.
fn slope(errors: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = errors.iter().map(|(h, e)| (h.ln(), e.abs().ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let (xy, xx) = logs.iter().fold((0.0, 0.0), |(xy, xx), p| (xy + (p.0 - x) * (p.1 - y), xx + (p.0 - x).powi(2)));
    xy / xx
}

#[test]
fn volumes_of_ball_and_torus_converge_with_second_order() {
    let solids = [
        ("ball", ImplicitSolid::ball(Vec3::new(0.1, 0.02, 0.0), 1.0), 4.0 / 3.0 * PI),
        ("torus", ImplicitSolid::Torus { ring_radius: 1.0, tube_radius: 0.3 }, 2.0 * PI * PI * 0.09),
    ];
    for (name, solid, exact) in solids {
        let error = |n: usize| tetrahedralize(&solid, &cells(n)).unwrap().mesh.volume() / exact - 1.0;
        let errors: Vec<(f64, f64)> = [14, 20, 28, 40].map(|n| (1.0 / n as f64, error(n))).to_vec();
        let slope = slope(&errors);
        println!("{name}: errors of the volume {errors:.5?}, slope {slope:.2}");
        assert!((slope - 2.0).abs() < 0.25, "{name}: {slope}, {errors:?}");
        assert!(errors[3].1.abs() < 0.005);
    }
}

#[test]
fn vertices_of_the_boundary_are_on_the_surface() {
    let solid = ImplicitSolid::Torus { ring_radius: 1.0, tube_radius: 0.3 };
    let mesh = tetrahedralize(&solid, &cells(24)).unwrap().mesh;
    for &v in &mesh.vertex_sets()["surface"] {
        assert!(solid.distance(mesh.vertices()[v as usize]).abs() < 1e-12);
    }
}

#[test]
fn cells_that_grow_inside_leave_the_surface_as_it_is() {
    let ball = ImplicitSolid::ball(Vec3::ZERO, 1.0);
    let even = tetrahedralize(&ball, &cells(40)).unwrap().mesh;
    for grading in 1..=4 {
        let graded = tetrahedralize(&ball, &MeshingParams { cells: 40, grading }).unwrap().mesh;
        assert_good(&graded, &format!("graded {grading} times"));
        assert!((graded.volume() - even.volume()).abs() < 1e-12);
        let share = graded.element_count() as f64 / even.element_count() as f64;
        assert!(share < 0.75, "{share}");
        assert_eq!(graded.boundary().surface.faces().len(), even.boundary().surface.faces().len());
        // A linear field is interpolated exactly: faces are conforming, also where sizes change.
        assert_eq!(graded.components().1, 1);
    }
    let shapes = [
        ImplicitSolid::RoundedBox { size: Vec3::new(1.0, 0.7, 0.4), radius: 0.1 },
        ImplicitSolid::Capsule { start: Vec3::ZERO, end: Vec3::new(1.0, 0.4, 0.3), radius: 0.4 },
    ];
    for shape in shapes {
        assert_good(&tetrahedralize(&shape, &MeshingParams { cells: 37, grading: 3 }).unwrap().mesh, "graded");
    }
}

/// Checks the natural frequencies of a ball against [Lamb1882] and Love: `kR` is 2.5011 for the torsional and 2.6399
/// for the spheroidal mode of degree two at ν = 1/4, with `k` the shear wave number. Both have multiplicity five.
#[test]
fn natural_frequencies_of_a_meshed_ball_converge_to_theory() {
    // The root of j₂(x) = x j₃(x), in closed form.
    let torsional = {
        let f = |x: f64| {
            let (s, c) = x.sin_cos();
            let j1 = s / (x * x) - c / x;
            let j2 = (3.0 / (x * x) - 1.0) * s / x - 3.0 * c / (x * x);
            j2 - x * (5.0 / x * j2 - j1)
        };
        let (mut low, mut high) = (2.0, 3.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if f(low) * f(middle) <= 0.0 { high = middle } else { low = middle }
        }
        low
    };
    assert!((torsional - 2.501_13).abs() < 1e-5, "{torsional}");
    let kr = |n: usize| {
        let ball = tetrahedralize(&ImplicitSolid::ball(Vec3::ZERO, 1.0), &cells(n)).unwrap().mesh;
        let law = AnyLaw::new("linear", YoungPoisson { young: 2.5, poisson: 0.25 }).unwrap();
        let model = Model::builder().body(Body::new(ball, law, 1.0)).build().unwrap();
        Modes::find(&model, &ModesParams::new(10), &mut |_| ControlFlow::Continue(())).unwrap().omega
    };
    let sizes = [6, 9, 13];
    let found = sizes.map(kr);
    for (modes, exact) in [(0..5, torsional), (5..10, 2.639_9)] {
        let error = |omega: &Vec<f64>| omega[modes.clone()].iter().sum::<f64>() / 5.0 / exact - 1.0;
        let errors: Vec<(f64, f64)> =
            sizes.iter().zip(&found).map(|(&n, omega)| (1.0 / n as f64, error(omega))).collect();
        let slope = slope(&errors);
        println!("kR = {exact:.4}: errors {errors:.5?}, slope {slope:.2}");
        assert!(errors[2].1.abs() < 0.02 && (slope - 2.0).abs() < 0.5, "{errors:?}, slope {slope}");
    }
}

/// Triangle soup: points and triangles, to be corrupted.
#[derive(Clone)]
struct Soup {
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Soup {
    fn of(solid: &ImplicitSolid, n: usize) -> Self {
        let surface = tetrahedralize(solid, &cells(n)).unwrap().mesh.boundary().surface;
        Self { points: surface.vertices().to_vec(), triangles: surface.triangles().collect() }
    }

    fn ball(n: usize) -> Self {
        Self::of(&ImplicitSolid::ball(Vec3::ZERO, 1.0), n)
    }

    fn add(&mut self, other: &Self) {
        let first = self.points.len() as u32;
        self.points.extend(&other.points);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
    }

    fn moved(mut self, map: Affine3) -> Self {
        self.points.iter_mut().for_each(|p| *p = map.transform_point3(*p));
        self
    }

    fn shifted(self, x: f64, y: f64, z: f64) -> Self {
        self.moved(Affine3::from_translation(Vec3::new(x, y, z)))
    }

    fn scaled(self, factor: f64) -> Self {
        self.moved(Affine3::from_scale(Vec3::splat(factor)))
    }

    fn turned_around(mut self) -> Self {
        self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        self
    }

    fn mesh(&self) -> SurfaceMesh {
        SurfaceMesh::new(self.points.clone(), Faces::uniform(3, self.triangles.concat())).unwrap()
    }

    fn surface(&self) -> Surface {
        Surface::new(&self.mesh()).unwrap()
    }
}

/// Returns a random soup: triangles of similar size, anywhere in a cube.
fn random_soup(seed: u64, count: usize, size: f64) -> Soup {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut soup = Soup { points: Vec::new(), triangles: Vec::new() };
    for t in 0..count as u32 {
        let mut vector = |size: f64| size * (2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE);
        let center = vector(1.0);
        soup.points.extend([vector(size) + center, vector(size) + center, vector(size) + center]);
        soup.triangles.push([3 * t, 3 * t + 1, 3 * t + 2]);
    }
    soup
}

/// Returns imperfect surfaces: open, self-intersecting, non-manifold, and worse.
fn nasty() -> Vec<(String, Soup)> {
    let mut all: Vec<(String, Soup)> = Vec::new();
    let ball = Soup::ball(12);
    let ring = Soup::of(&ImplicitSolid::Torus { ring_radius: 1.0, tube_radius: 0.35 }, 20);
    for seed in 0..8 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut punctured = if seed % 2 == 0 { ball.clone() } else { ring.clone() };
        let keep = 0.98 - 0.05 * seed as f64;
        punctured.triangles.retain(|_| rng.f64() < keep);
        all.push((format!("punctured {seed}"), punctured));
        let mut flipped = if seed % 2 == 0 { ring.clone() } else { ball.clone() };
        flipped.triangles.iter_mut().filter(|_| rng.f64() < 0.4).for_each(|t| t.swap(1, 2));
        all.push((format!("flipped {seed}"), flipped));
        let mut jittered = ball.clone();
        jittered.points.iter_mut().for_each(|p| *p += 0.3 * Vec3::new(rng.f64(), rng.f64(), rng.f64()));
        all.push((format!("crumpled and self-crossing {seed}"), jittered));
        // No two triangles share a vertex.
        let mut loose = Soup { points: Vec::new(), triangles: Vec::new() };
        for t in &ball.triangles {
            let first = loose.points.len() as u32;
            loose.points.extend(t.map(|v| (1.0 + 0.02 * rng.f64()) * ball.points[v as usize]));
            loose.triangles.push([first, first + 1, first + 2]);
        }
        all.push((format!("loose triangles {seed}"), loose));
        all.push((format!("random soup {seed}"), random_soup(seed, 40 << seed, 0.5 / (1 + seed) as f64)));
        let mut doubled = ball.clone();
        doubled.triangles.extend(ball.triangles.iter().filter(|_| rng.f64() < 0.5));
        all.push((format!("doubled {seed}"), doubled));
        let mut crossing = ball.clone();
        crossing.add(&ring.clone().shifted(0.3 * seed as f64, 0.1, 0.0));
        all.push((format!("crossing shells {seed}"), crossing));
        let turn = Mat3::from_rotation_z(seed as f64) * Mat3::from_rotation_x(0.7 * seed as f64);
        let plate = Soup::of(&ImplicitSolid::RoundedBox { size: Vec3::new(1.0, 0.8, 0.3), radius: 0.0 }, 10);
        let thin = Affine3::from_mat3(turn * Mat3::from_diagonal(Vec3::new(1.0, 1.0, 0.05 + 0.1 * seed as f64)));
        all.push((format!("thin plate {seed}"), plate.moved(thin)));
    }
    let sheet = |z: f64| Soup {
        points: [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(|(x, y)| Vec3::new(x, y, z)).to_vec(),
        triangles: vec![[0, 1, 2]],
    };
    let mut sheets = sheet(0.0);
    sheets.add(&sheet(0.05));
    all.push(("thin sheets that wind around adjacent geometry".into(), sheets));
    let mut nested = ball.clone();
    nested.add(&ball.clone().scaled(0.5).turned_around());
    all.push(("hollow".into(), nested.clone()));
    all.push(("hollow and inside out".into(), nested.turned_around()));
    let cube = Soup::of(&ImplicitSolid::RoundedBox { size: Vec3::ONE, radius: 0.0 }, 4);
    for (name, shift) in [("edge", Vec3::new(1.0, 1.0, 0.0)), ("corner", Vec3::ONE), ("face", Vec3::X)] {
        let mut touching = cube.clone();
        touching.add(&cube.clone().moved(Affine3::from_translation(shift)));
        all.push((format!("cubes that share a {name}"), touching));
    }
    let mut two_sided = ball.clone();
    two_sided.triangles.extend(ball.clone().turned_around().triangles);
    all.push(("two-sided".into(), two_sided));
    all.push(("millimeters".into(), ball.clone().scaled(1e-3)));
    all.push(("kilometers, far away".into(), ball.scaled(1e3).shifted(1e6, -2e6, 3e6)));
    all
}

#[test]
fn no_nasty_surface_gives_a_bad_tetrahedron() {
    let nasty = nasty();
    assert!(nasty.len() >= 50, "{}", nasty.len());
    let mut empty = Vec::new();
    for (name, soup) in &nasty {
        let surface = soup.surface();
        match tetrahedralize(surface.enclosed(), &MeshingParams { cells: 14, grading: 1 }) {
            Ok(body) => assert_good(&body.mesh, name),
            Err(MeshingError::Nothing { .. }) => empty.push(name),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    // Only random triangles may enclose nothing, and only plates thinner than a cell may be missed.
    println!("{} surfaces; these enclose nothing: {empty:?}", nasty.len());
    assert!(empty.iter().all(|name| name.starts_with("random") || name.starts_with("thin")), "{empty:?}");
    assert!(nasty.len() - empty.len() >= 50, "{empty:?}");
}

/// Returns the vertices and random points on all triangles.
fn samples(soup: &Soup, seed: u64) -> Vec<Vec3> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut points: Vec<Vec3> = soup.points.clone();
    for t in &soup.triangles {
        let [a, b, c] = t.map(|v| soup.points[v as usize]);
        for _ in 0..4 {
            let (u, v) = (rng.f64(), rng.f64());
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            points.push(a + u * (b - a) + v * (c - a));
        }
    }
    points
}

#[test]
fn cages_and_voxels_contain_every_point_of_every_nasty_surface() {
    for (name, soup) in nasty() {
        let (mesh, surface) = (soup.mesh(), soup.surface());
        let points = samples(&soup, 1);
        let Cage { mesh: around, embedding, .. } =
            cage(&mesh, &surface, &cells(6)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_good(&around, &name);
        assert_eq!(embedding.len(), soup.points.len());
        assert_eq!(embedding.outside(), [0_u32; 0]);
        assert_eq!(Embedding::new(&around, &points).unwrap().outside(), [0_u32; 0], "{name}: the cage");
        let voxels = voxelize(&surface, 6).unwrap().mesh;
        assert_sound_boundary(&voxels, &name);
        // The cleaned surface: triangles without area were removed.
        assert_eq!(Embedding::new(&voxels, &points).unwrap().outside(), [0_u32; 0], "{name}: the voxels");
    }
}

#[test]
fn cages_and_voxels_weigh_what_the_surface_encloses() {
    let (ball, ring) = (Soup::ball(24), Soup::of(&ImplicitSolid::Torus { ring_radius: 1.0, tube_radius: 0.2 }, 40));
    for soup in [ball, ring] {
        let (mesh, surface) = (soup.mesh(), soup.surface());
        let exact = mesh.enclosed_volume();
        for around in [cage(&mesh, &surface, &cells(7)).unwrap().mesh, voxelize(&surface, 7).unwrap().mesh] {
            let mass = around.mass_properties(&vec![1000.0; around.regions().len()]);
            println!("{} m³ contain {} kg of {}", around.volume(), mass.mass, 1000.0 * exact);
            assert!(around.volume() > 1.2 * exact);
            assert!((mass.mass / (1000.0 * exact) - 1.0).abs() < 0.01, "{} and {exact}", mass.mass);
            assert!(mass.center_of_mass.length() < 0.03, "{}", mass.center_of_mass);
            // All computations of the mass agree.
            let lumped: f64 = around.lumped_masses(&vec![1000.0; around.regions().len()]).iter().sum();
            assert!((lumped / mass.mass - 1.0).abs() < 1e-12);
            let law = AnyLaw::new("linear", YoungPoisson { young: 1e5, poisson: 0.3 }).unwrap();
            let model = Model::builder().body(Body::new(around, law, 1000.0)).build().unwrap();
            assert!((model.mass().total() / mass.mass - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn shells_within_shells_weigh_nothing_and_hollows_are_hollow() {
    let ball = Soup::ball(20);
    let of_one = ball.mesh().enclosed_volume();
    let with = |others: &[(f64, bool)]| {
        let mut soup = ball.clone();
        for &(factor, turned) in others {
            let other = ball.clone().scaled(factor);
            soup.add(&if turned { other.turned_around() } else { other });
        }
        soup
    };
    for (soup, exact) in [
        (with(&[(0.7, false), (0.4, false)]), of_one),
        (with(&[(0.99999, false)]), of_one),
        (with(&[(0.6, true)]), of_one * (1.0 - 0.216)),
        (with(&[(0.6, true), (0.3, false)]), of_one * (1.0 - 0.216 + 0.027)),
    ] {
        let (mesh, surface) = (soup.mesh(), soup.surface());
        let volume = surface.volume().unwrap();
        assert!((volume / exact - 1.0).abs() < 1e-12, "{volume} and {exact}");
        for around in [cage(&mesh, &surface, &cells(9)).unwrap().mesh, voxelize(&surface, 9).unwrap().mesh] {
            let mass = around.mass_properties(&vec![1.0; around.regions().len()]).mass;
            assert!((mass / exact - 1.0).abs() < 0.01, "{mass} and {exact}");
        }
    }
}

#[test]
fn a_flat_triangle_that_closes_a_seam_is_no_hole() {
    // One face of a cube has a hanging vertex in the middle of an edge.
    let cube = generate::block([1.0; 3], [1; 3], Cells::Hex).unwrap().boundary().surface;
    let mut soup = Soup { points: cube.vertices().to_vec(), triangles: cube.triangles().collect() };
    let [a, b, c] = soup.triangles[0];
    let middle = 0.5 * (soup.points[a as usize] + soup.points[b as usize]);
    let m = soup.points.len() as u32;
    soup.points.push(middle);
    soup.triangles.splice(0..1, [[a, m, c], [m, b, c]]);
    assert_eq!(soup.surface().findings().open_edges, 3);
    soup.triangles.push([a, b, m]);
    let surface = soup.surface();
    assert!(surface.findings().is_clean(), "{:?}", surface.findings());
    assert!((surface.volume().unwrap() - 1.0).abs() < 1e-15);
    // Other flat triangles, which close nothing, are removed.
    soup.triangles.push([a, b, b]);
    let apart = soup.points.len() as u32;
    soup.points.extend([0.2, 0.3, 0.4].map(|x| Vec3::new(x, 0.5, 0.5)));
    soup.triangles.push([apart, apart + 1, apart + 2]);
    let findings = soup.surface().findings().clone();
    assert_eq!((findings.open_edges, findings.without_area), (0, 2));
    assert!((voxelize(&soup.surface(), 4).unwrap().mesh.volume() - 1.0).abs() < 1e-9);
}

#[test]
fn a_box_is_exactly_the_voxels_that_it_is_made_of() {
    let block = generate::block([2.0, 1.0, 1.0], [3, 2, 2], Cells::Hex).unwrap().boundary().surface;
    for n in [2, 8, 16] {
        let voxels = voxelize(&Surface::new(&block).unwrap(), n).unwrap().mesh;
        assert_eq!(voxels.element_count(), n * (n / 2) * (n / 2));
        assert!((voxels.mass_properties(&[1.0]).mass - 2.0).abs() < 1e-12);
    }
    // A sheet between two layers requires one of them.
    let sheet = Soup { points: vec![Vec3::ZERO, 4.0 * Vec3::X, 4.0 * Vec3::Y], triangles: vec![[0, 1, 2]] };
    let voxels = voxelize(&sheet.surface(), 4).unwrap().mesh;
    let [low, high] = voxels.bounding_box();
    assert!(
        (high.z - low.z - 1.0).abs() < 1e-12 && Embedding::new(&voxels, &sheet.points).unwrap().outside().is_empty()
    );
}

#[test]
fn an_element_filled_in_part_is_softer_by_as_much() {
    use pliant::force::{Conditions, Elastic, Force};
    let mesh = generate::ball(1.0, 6, Cells::Tet5).unwrap();
    let law = || AnyLaw::new("stvk", YoungPoisson { young: 1e5, poisson: 0.3 }).unwrap();
    let mut data = mesh.clone().into_data();
    data.regions[0].fill = 0.25;
    let light = VolumeMesh::check(data.clone()).unwrap().mesh;
    let mut rng = fastrand::Rng::with_seed(4);
    let u: Vec<f64> = (0..3 * mesh.vertex_count()).map(|_| 0.02 * rng.f64()).collect();
    let energy = |mesh: &VolumeMesh| Elastic::uniform(mesh, law()).energy(&u, &Conditions::START);
    assert!((energy(&light) / energy(&mesh) - 0.25).abs() < 1e-12);
    for wrong in [0.0, -1.0, 1.5, f64::NAN] {
        data.regions[0].fill = wrong;
        let error = VolumeMesh::check(data.clone()).unwrap_err().to_string();
        assert!(error.contains("expected more than 0 and at most 1"), "{error}");
    }
}

#[test]
fn the_same_surface_gives_the_same_mesh_on_any_number_of_threads() {
    let (_, soup) = &nasty()[5];
    let made = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mesh, surface) = (soup.mesh(), soup.surface());
            let body = tetrahedralize(surface.enclosed(), &MeshingParams { cells: 16, grading: 1 }).unwrap().mesh;
            (body, cage(&mesh, &surface, &cells(6)).unwrap().mesh, voxelize(&surface, 9).unwrap().mesh)
        })
    };
    assert_eq!(made(1), made(3));
}

#[test]
fn what_is_wrong_with_a_surface_is_counted() {
    let ball = Soup::ball(10);
    let count = ball.triangles.len();
    assert!(ball.surface().findings().is_clean(), "{:?}", ball.surface().findings());

    let mut open = ball.clone();
    open.triangles.pop();
    assert_eq!(open.surface().findings().open_edges, 3);

    let mut turned = ball.clone();
    turned.triangles[7].swap(0, 1);
    turned.triangles[70].swap(0, 1);
    assert_eq!(turned.surface().findings().turned, 2);

    assert_eq!(ball.clone().turned_around().surface().findings().inside_out, 1);

    let mut twice = ball.clone();
    twice.triangles.extend_from_within(..5);
    assert_eq!(twice.surface().findings().duplicates, 5);

    let mut flat = ball.clone();
    flat.triangles.push([0, 0, 1]);
    assert_eq!(flat.surface().findings().without_area, 1);

    let mut two_sided = ball.clone();
    two_sided.triangles.extend(ball.clone().turned_around().triangles);
    let findings = two_sided.surface().findings().clone();
    assert_eq!((findings.duplicates, findings.walls), (count, 0));

    // Two rooms, each with its own copy of the wall between them.
    let block = generate::block([1.0; 3], [4, 4, 4], Cells::Tet5).unwrap().boundary().surface;
    let cube = Soup { points: block.vertices().to_vec(), triangles: block.triangles().collect() };
    let mut rooms = cube.clone();
    rooms.add(&cube.clone().moved(Affine3::from_scale(Vec3::new(-1.0, 1.0, 1.0))).turned_around());
    let findings = rooms.surface().findings().clone();
    assert!(findings.walls > 10 && findings.joined_vertices > 10 && findings.open_edges == 0, "{findings:?}");
    let both = tetrahedralize(rooms.surface().enclosed(), &cells(20)).unwrap().mesh;
    assert!((both.volume() - 2.0).abs() < 0.02 && both.components().1 == 1, "{}", both.volume());

    // Only one room has the wall, so that three triangles meet at its edges.
    rooms.triangles.truncate(cube.triangles.len());
    let both = rooms.points.clone();
    rooms.triangles.extend(
        cube.clone().moved(Affine3::from_scale(Vec3::new(-1.0, 1.0, 1.0))).turned_around().triangles.iter().filter_map(
            |t| {
                let moved = t.map(|v| v + cube.points.len() as u32);
                (!moved.iter().all(|&v| both[v as usize].x == 0.0)).then_some(moved)
            },
        ),
    );
    let findings = rooms.surface().findings().clone();
    assert!(findings.walls > 10 && findings.non_manifold_edges > 10, "{findings:?}");
    for n in [20, 21] {
        let both = tetrahedralize(rooms.surface().enclosed(), &cells(n)).unwrap().mesh;
        assert!((both.volume() - 2.0).abs() < 0.03 && both.components().1 == 1, "{}", both.volume());
    }

    let mut pair = ball.clone();
    pair.add(&ball.clone().shifted(5.0, 0.0, 0.0));
    assert_eq!((pair.surface().findings().pieces, pair.surface().findings().crossing), (2, 0));
    let mut crossing = ball.clone();
    crossing.add(&ball.shifted(0.7, 0.01, 0.02));
    assert!(crossing.surface().findings().crossing > 20);
    // A Möbius strip is not orientable.
    let mut strip = Soup { points: Vec::new(), triangles: Vec::new() };
    let n = 20;
    for i in 0..n {
        let (s, c) = (TAU * f64::from(i) / f64::from(n)).sin_cos();
        let (t, u) = (0.5 * TAU * f64::from(i) / f64::from(n)).sin_cos();
        let middle = Vec3::new(c, s, 0.0);
        let across = 0.3 * (u * middle + t * Vec3::Z);
        strip.points.extend([middle - across, middle + across]);
        let (a, b) = (2 * i as u32, 2 * i as u32 + 1);
        let (c, d) = if i + 1 == n { (1, 0) } else { (a + 2, b + 2) };
        strip.triangles.extend([[a, c, b], [b, c, d]]);
    }
    assert_eq!(strip.surface().findings().non_manifold_edges, 1);
}

#[test]
fn hollows_stay_hollow_and_shells_that_are_inside_out_are_turned() {
    let exact = 4.0 / 3.0 * PI;
    let ball = Soup::ball(20);
    let volume = |soup: &Soup| tetrahedralize(soup.surface().enclosed(), &cells(24)).unwrap().mesh.volume() / exact;
    let mut hollow = ball.clone();
    hollow.add(&ball.clone().scaled(0.6).turned_around());
    assert!((volume(&hollow) - (1.0 - 0.216)).abs() < 0.02, "{}", volume(&hollow));
    assert!((volume(&hollow.clone().turned_around()) - (1.0 - 0.216)).abs() < 0.02);
    // An inner shell with outward normals is not a cavity.
    let mut full = ball.clone();
    full.add(&ball.clone().scaled(0.6));
    assert!((volume(&full) - 1.0).abs() < 0.02);
    // Cubes at any position.
    for offset in 0..6 {
        let shift = 0.1 * f64::from(offset);
        let cube = Soup::of(&ImplicitSolid::RoundedBox { size: Vec3::splat(0.6), radius: 0.0 }, 3 + offset as usize);
        let cube = cube.shifted(shift, 2.0 * shift, -shift).turned_around();
        assert_eq!(cube.surface().findings().inside_out, 1, "{offset}");
        let volume = tetrahedralize(cube.surface().enclosed(), &cells(9)).unwrap().mesh.volume();
        assert!((volume / 0.216 - 1.0).abs() < 0.02, "{offset}: {volume}");
    }
    // Next to each other, one of them inside out.
    let mut pair = ball.clone();
    pair.add(&ball.turned_around().shifted(2.5, 0.0, 0.0));
    let mesh = tetrahedralize(pair.surface().enclosed(), &cells(40)).unwrap().mesh;
    assert!((mesh.volume() / exact - 2.0).abs() < 0.04 && mesh.components().1 == 2);
}

#[test]
fn strips_of_a_ring_that_is_cut_along_keep_or_find_their_sides() {
    // The strips at the hole of the ring are concave: on their own they look inside out.
    let (around, across, strips) = (120, 60, 10);
    let at = |i: u32, j: u32| i % around * across + j % across;
    let mut ring = Soup { points: Vec::new(), triangles: Vec::new() };
    for (i, j) in (0..around).flat_map(|i| (0..across).map(move |j| (i, j))) {
        let (sin, cos) = (TAU * f64::from(i) / f64::from(around)).sin_cos();
        let (up, out) = (TAU * f64::from(j) / f64::from(across)).sin_cos();
        ring.points.push(Vec3::new((1.0 + 0.3 * out) * cos, 0.3 * up, (1.0 + 0.3 * out) * sin));
        let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
        // Half of every sixth square is missing, which leaves slits around the ring.
        ring.triangles.push([a, b, c]);
        if j % (across / strips) != 0 {
            ring.triangles.push([a, c, d]);
        }
    }
    let exact = 2.0 * PI * PI * 0.09;
    let volume = |soup: &Soup| tetrahedralize(soup.surface().enclosed(), &cells(24)).unwrap().mesh.volume() / exact;
    let findings = ring.surface().findings().clone();
    assert_eq!((findings.pieces, findings.inside_out), (strips as usize, 0));
    assert!((volume(&ring) - 1.0).abs() < 0.05, "{}", volume(&ring));
    let turned = ring.clone().turned_around();
    assert_eq!(turned.surface().findings().inside_out, strips as usize);
    assert!((volume(&turned) - 1.0).abs() < 0.05, "{}", volume(&turned));
    // Every other strip is flipped.
    let strip = |t: &[u32; 3]| t.iter().map(|v| (v % across + across - 1) % across).max().unwrap() / (across / strips);
    let mut mixed = ring;
    mixed.triangles.iter_mut().filter(|t| strip(t) % 2 == 1).for_each(|t| t.swap(1, 2));
    assert!((volume(&mixed) - 1.0).abs() < 0.05, "{} {:?}", volume(&mixed), mixed.surface().findings());
}

#[test]
fn a_hole_is_closed_as_a_soap_film_would() {
    // An open hemisphere.
    let mut bowl = Soup::ball(20);
    let points = bowl.points.clone();
    bowl.triangles.retain(|t| t.iter().all(|&v| points[v as usize].z > -0.01));
    let mesh = tetrahedralize(bowl.surface().enclosed(), &cells(24)).unwrap().mesh;
    assert_good(&mesh, "bowl");
    assert!(mesh.vertices().iter().all(|p| p.z > -0.3));
    let share = mesh.volume() / (2.0 / 3.0 * PI);
    assert!(share > 0.75 && share < 1.15, "{share}");
}

#[test]
fn thin_parts_are_told_with_the_count_of_cells_that_catches_them() {
    let turn = Affine3::from_mat3(Mat3::from_rotation_x(0.5) * Mat3::from_rotation_y(0.8));
    let block = ImplicitSolid::RoundedBox { size: Vec3::new(0.6, 0.5, 0.5), radius: 0.1 };
    let thin = [
        ("fin", ImplicitSolid::RoundedBox { size: Vec3::new(0.4, 1.6, 0.03), radius: 0.0 }.moved(turn)),
        ("needle", ImplicitSolid::Capsule { start: Vec3::ZERO, end: Vec3::new(0.6, 0.9, 0.5), radius: 0.025 }),
    ];
    for (name, feature) in thin {
        let fine = ImplicitSolid::Union(vec![block.clone(), feature]);
        let soup = Soup::of(&fine, 150);
        let surface = soup.surface();
        let coarse = tetrahedralize(surface.enclosed(), &cells(12)).unwrap().mesh;
        let lost = thin_parts(&surface, Some(&coarse), 1.6 / 12.0).unwrap_or_else(|| panic!("the {name} was missed"));
        println!("{name}: {lost}");
        assert!(lost.lost > 0.05 && (0.015..0.06).contains(&lost.thickness), "{name}: {lost:?}");
        let caught = tetrahedralize(surface.enclosed(), &cells(lost.cells)).unwrap().mesh;
        let left = thin_parts(&surface, Some(&caught), 1.6 / 12.0).map_or(0.0, |thin| thin.lost);
        assert!(left < 0.1 * lost.lost, "{name}: with {} cells {left} is still lost", lost.cells);
        assert_eq!(caught.components().1, 1, "{name}");
    }
    let ball = Soup::ball(20).surface();
    assert_eq!(fill_surface(&ball, &cells(10)).unwrap().1, None);
    // A foil too thin for any lattice.
    let foil = Soup::of(&ImplicitSolid::RoundedBox { size: Vec3::ONE, radius: 0.0 }, 4);
    let foil = foil.moved(Affine3::from_scale(Vec3::new(1.0, 1e-4, 1.0))).surface();
    let error = fill_surface(&foil, &cells(10)).unwrap_err().to_string();
    assert!(error.contains("which is more than the maximum; a cage contains them"), "{error}");
    // A plate whose lattice is within the limit, but not its number of elements.
    let plate = Soup::of(&ImplicitSolid::RoundedBox { size: Vec3::ONE, radius: 0.0 }, 4);
    let plate = plate.moved(Affine3::from_scale(Vec3::new(1.0, 1e-3, 1.0))).surface();
    let error = fill_surface(&plate, &cells(10)).unwrap_err().to_string();
    assert!(error.contains("cells would resolve them, which is more than the maximum"), "{error}");
}

#[test]
fn what_cannot_be_meshed_is_refused_with_numbers_before_memory_is_taken() {
    let ball = ImplicitSolid::ball(Vec3::ZERO, 1.0);
    for n in [1_000, 100_000, usize::MAX] {
        assert!(matches!(tetrahedralize(&ball, &cells(n)), Err(MeshingError::TooManyCells { .. })), "{n}");
    }
    assert!(matches!(tetrahedralize(&ball, &cells(1)), Err(MeshingError::TooFewCells { cells: 1, .. })));
    // Grading beyond the possible merges has no effect.
    let most = tetrahedralize(&ball, &MeshingParams { cells: 20, grading: u32::MAX }).unwrap().mesh;
    assert_eq!(most, tetrahedralize(&ball, &MeshingParams { cells: 20, grading: 5 }).unwrap().mesh);
    let empty = ImplicitSolid::ball(Vec3::ZERO, 1.0).minus(ImplicitSolid::ball(Vec3::ZERO, 2.0));
    assert!(matches!(tetrahedralize(&empty, &cells(10)), Err(MeshingError::Nothing { .. })));
    let sheet = Soup { points: vec![Vec3::ZERO, Vec3::X, Vec3::Y], triangles: vec![[0, 1, 2]] };
    assert!(matches!(tetrahedralize(sheet.surface().enclosed(), &cells(10)), Err(MeshingError::Nothing { .. })));
    let flat = Soup { points: vec![Vec3::ZERO, Vec3::X, 2.0 * Vec3::X], triangles: vec![[0, 1, 2]] };
    assert!(matches!(Surface::new(&flat.mesh()), Err(MeshingError::NoArea { count: 1 })));
    for size in [1e-60, 1e60] {
        assert!(matches!(Surface::new(&sheet.clone().scaled(size).mesh()), Err(MeshingError::Size { .. })), "{size}");
    }
    assert!(matches!(Surface::new(&sheet.shifted(1e9, 0.0, 0.0).mesh()), Err(MeshingError::Size { .. })));
    let none = Enclosed::new([], true);
    assert!(tetrahedralize(&none, &cells(10)).is_err());
}

#[test]
fn meshing_ends_wherever_it_is_asked_to_stop() {
    type Task<'a> = (&'a str, &'a dyn Fn() -> Result<(), MeshingError>);
    let ring = generate::torus(1.0, 0.4, 6, 24, Cells::Tet5).unwrap().boundary().surface;
    let surface = Surface::new(&ring).unwrap();
    let carrier = generate::ball(1.0, 4, Cells::Hex).unwrap();
    let tasks: [Task<'_>; 5] = [
        ("surface", &|| Surface::new(&ring).map(drop)),
        ("tetrahedra", &|| fill_surface(&surface, &cells(12)).map(drop)),
        ("cage", &|| cage(&ring, &surface, &cells(8)).map(drop)),
        ("voxels", &|| voxelize(&surface, 12).map(drop)),
        ("limits", &|| carrying_limits(&ring, &surface, &carrier, 0.1, 1.0).map(drop)),
    ];
    for (what, task) in tasks {
        // Returns the number of stop checks, if stopped after `limit` of them.
        let asked = |limit: usize| {
            let count = Arc::new(AtomicUsize::new(0));
            let own = count.clone();
            let done = stoppable(move || own.fetch_add(1, Ordering::Relaxed) >= limit, task);
            (done, count.load(Ordering::Relaxed))
        };
        let (done, all) = asked(usize::MAX);
        assert!(done.is_ok() && all > 4, "{what}: asked {all} times");
        for part in 0..10 {
            let (done, _) = asked(all * part / 10);
            assert!(matches!(done, Err(MeshingError::Stopped)), "{what}: not stopped after {part} of 10 parts");
        }
    }
    assert!(fill_surface(&surface, &cells(12)).is_ok(), "no stop check is active");
}

#[test]
fn a_face_of_many_corners_is_filled_in_a_time_that_goes_with_them() {
    let count = 50_000;
    let corner = |i: u32, z: f64| {
        let (sin, cos) = (TAU * f64::from(i % count) / f64::from(count)).sin_cos();
        // Rounded to a few digits, as in files.
        Vec3::new((1e6 * cos).round() / 1e6, (1e6 * sin).round() / 1e6, z)
    };
    let places = (0..2 * count).map(|i| corner(i, f64::from(i / count))).collect();
    let mut faces = Faces::default();
    faces.push(&(0..count).rev().collect::<Vec<_>>());
    faces.push(&(count..2 * count).collect::<Vec<_>>());
    for i in 0..count {
        faces.push(&[i, (i + 1) % count, count + (i + 1) % count, count + i]);
    }
    let drum = SurfaceMesh::new(places, faces).unwrap();
    let (body, _) = fill_surface(&Surface::new(&drum).unwrap(), &cells(8)).unwrap();
    assert!((body.mesh.volume() / PI - 1.0).abs() < 0.05, "{}", body.mesh.volume());
}
