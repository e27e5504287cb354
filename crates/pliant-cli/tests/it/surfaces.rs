//! Surfaces of users: filled, embedded in cages or voxels, and simulated.

use std::path::Path;

use pliant::files::Disk;
use pliant::geometry::ImplicitSolid;
use pliant::io::{self, Mesh, WriteOptions};
use pliant::math::Vec3;
use pliant::mesh::{Faces, Moduli, Region, SurfaceMesh};
use pliant::meshing::{MeshingParams, tetrahedralize};
use pliant_scene::scene::obstacle::Plane;
use pliant_viewer::Page;
use tempfile::TempDir;

use crate::command::{ok, pliant};

/// Creates a folder with a ring as `ring.obj`, and with holes and wrongly oriented triangles as `broken.stl`.
fn folder() -> (TempDir, f64) {
    let folder = TempDir::new().unwrap();
    let ring = ImplicitSolid::Torus { ring_radius: 1.0, tube_radius: 0.3 };
    let ring = tetrahedralize(&ring, &MeshingParams { cells: 30, ..MeshingParams::default() })
        .unwrap()
        .mesh
        .boundary()
        .surface;
    io::write(folder.path().join("ring.obj"), &ring, &WriteOptions::default()).unwrap();
    let mut triangles: Vec<[u32; 3]> = ring.triangles().skip(10).collect();
    triangles.iter_mut().step_by(7).for_each(|t| t.swap(1, 2));
    let broken = SurfaceMesh::new(ring.vertices().to_vec(), Faces::uniform(3, triangles.concat())).unwrap();
    io::write(folder.path().join("broken.stl"), &broken, &WriteOptions::default()).unwrap();
    let volume = ring.enclosed_volume();
    (folder, volume)
}

/// Returns the mass that `mesh info` prints.
fn mass(folder: &Path, file: &str) -> f64 {
    let summary = ok(folder, &["mesh", "info", file, "--json"]).out;
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    summary["mass"].as_f64().unwrap_or_else(|| panic!("{summary}"))
}

#[test]
fn a_surface_is_filled_with_tetrahedra_whose_angles_are_told() {
    let (folder, volume) = folder();
    let run = ok(folder.path(), &["mesh", "tetrahedralize", "ring.obj", "--cells", "24", "-o", "ring.veg"]);
    for part in ["closed, without defects", "within the bounds of 10.7° and 164.8°", "wrote ring.veg: "] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let body = io::read_volume(folder.path().join("ring.veg")).unwrap().mesh;
    assert!((body.volume() / volume - 1.0).abs() < 0.02);

    let run = ok(folder.path(), &["mesh", "tetrahedralize", "broken.stl", "--cells", "24", "-o", "broken.vtk"]);
    for part in ["edges are open", "triangles faced the wrong way and were flipped"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let body = io::read_volume(folder.path().join("broken.vtk")).unwrap().mesh;
    assert!((body.volume() / volume - 1.0).abs() < 0.03);
    let graded =
        ok(folder.path(), &["mesh", "tetrahedralize", "ring.obj", "--cells", "60", "--grading", "2", "-o", "g.msh"]);
    assert!(graded.out.contains("wrote g.msh"), "{}", graded.out);
}

#[test]
fn cages_and_voxels_weigh_what_the_surface_encloses_and_carry_it() {
    let (folder, volume) = folder();
    let rubber = ["--density", "1000", "--young", "1e5", "--poisson", "0.4"];
    let cage =
        [&["mesh", "tetrahedralize", "ring.obj", "--cage", "--cells", "10", "-o", "cage.veg"], &rubber[..]].concat();
    let voxels = [&["mesh", "voxelize", "ring.obj", "--cells", "12", "-o", "cubes.veg"], &rubber[..]].concat();
    for (args, name) in [(cage, "cage"), (voxels, "cubes")] {
        let run = ok(folder.path(), &args);
        assert!(run.out.contains(&format!("wrote {name}.interp")) && run.out.contains("filled with"), "{}", run.out);
        let mass = mass(folder.path(), &format!("{name}.veg"));
        assert!((mass / (1000.0 * volume) - 1.0).abs() < 0.005, "{name}: {mass} kg, {volume} m³");
        let mesh = io::read_volume(folder.path().join(format!("{name}.veg"))).unwrap().mesh;
        let tie = io::read_interp(folder.path().join(format!("{name}.interp")), &mesh).unwrap();
        assert!(tie.outside().is_empty());
    }
    // Without a material there is one, or light elements would be as heavy as full ones.
    let run = ok(folder.path(), &["mesh", "voxelize", "ring.obj", "--cells", "12", "-o", "plain.veg"]);
    assert!(run.err.contains("no --density was given"), "{}", run.err);
    assert!((mass(folder.path(), "plain.veg") / (1000.0 * volume) - 1.0).abs() < 0.005);
    let plain = io::read_volume(folder.path().join("plain.veg")).unwrap().mesh;
    let young = |region: &Region| match region.material.as_ref().unwrap().moduli {
        Some(Moduli::Isotropic { young, .. }) => young,
        ref other => panic!("{other:?}"),
    };
    let youngs: Vec<f64> = plain.regions().iter().map(young).collect();
    assert!(youngs.len() > 4 && youngs.iter().all(|young| *young <= youngs[0]) && youngs.contains(&youngs[0]));
    assert!(youngs.iter().any(|young| *young < 0.5 * youngs[0]), "{youngs:?}");
    // A file that cannot store it says so, and nothing to the contrary.
    let run = ok(folder.path(), &["mesh", "voxelize", "ring.obj", "--cells", "12", "-o", "plain.vtk"]);
    assert!(run.err.contains("all elements are full") && !run.err.contains("kg/m³"), "{}", run.err);
}

#[test]
fn a_surface_is_simulated_as_it_is() {
    let (folder, _) = folder();
    let run = ok(folder.path(), &["run", "broken.stl", "--duration", "0.1", "--obj"]);
    assert!(run.err.contains("embedded in a cage of tetrahedra"), "{}", run.err);
    assert!(run.err.contains("edges are open"), "{}", run.err);
    // The detailed surface is shown.
    let scene = std::fs::read_to_string(folder.path().join("out/broken/scene.toml")).unwrap();
    assert!(scene.contains("cage"), "{scene}");
}

#[test]
fn scenes_fill_surfaces_and_solids() {
    let (folder, volume) = folder();
    let scene = r#"
[[object]]
name = "caged"
mesh = { cage = { surface = "ring.obj", cells = 10 } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[[object.region]]
name = "left"
elements = { box = { from = [-9, -9, -9], to = [0, 9, 9] } }
material = { young = 2e5, poisson = 0.3, density = 1000 }
[[object]]
name = "cubes"
translate = [4, 0, 0]
mesh = { voxels = { surface = "ring.obj", cells = 10 } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[[object]]
name = "filled"
translate = [8, 0, 0]
mesh = { filled = { of = "broken.stl", cells = 20, grading = 1 } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[[object]]
name = "drilled"
translate = [12, 0, 0]
mesh = { filled = { of = { difference = { of = { ball = { radius = 1 } }, without = [{ moved = { solid = { capsule = { start = [0, -2, 0], end = [0, 2, 0], radius = 0.5 } }, rotate = { axis = [0, 0, 1], angle = "1 turn" } } }] } }, cells = 16 } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[simulation]
step = 0.01
duration = 0.02
"#;
    std::fs::write(folder.path().join("s.toml"), scene).unwrap();
    let file = pliant_scene::scene::SceneFile::read(&Disk, &folder.path().join("s.toml")).unwrap();
    let built = file.build(&Disk).unwrap();
    let bodies = built.simulation.model().bodies();
    for body in &bodies[..3] {
        let mass = body.mesh().mass_properties(body.densities()).mass;
        assert!((mass / (1000.0 * volume) - 1.0).abs() < 0.04, "{mass} kg, {volume} m³");
    }
    let drilled = bodies[3].mesh().volume();
    assert!((drilled / (4.0 / 3.0 * std::f64::consts::PI * 0.75_f64.powf(1.5)) - 1.0).abs() < 0.04, "{drilled}");
    // Refused with the place and the reason.
    for (mesh, why) in [
        ("{ filled = { of = { gyroid = { period = 1, thickness = 0.1 } } } }", "the solid is unbounded"),
        ("{ filled = { of = { ball = { radius = -1 } } } }", "expected a positive length"),
        ("{ filled = { of = { union = [] } } }", "a union needs at least one solid"),
        ("{ cage = { surface = \"missing.obj\" } }", "missing.obj"),
        ("{ cage = { surface = \"ring.obj\", cells = 1 } }", "expected at least 2"),
        ("\"ring.obj\"", "meshes a cage around it"),
    ] {
        let text = format!(
            "[[object]]\nmesh = {mesh}\nmaterial = {{ young = 1, poisson = 0, density = 1 }}\n[simulation]\nstep = 1\nduration = 1\n"
        );
        std::fs::write(folder.path().join("wrong.toml"), text).unwrap();
        let run = pliant(folder.path(), &["run", "wrong.toml"]);
        assert!(run.status == 1 && run.err.contains(why), "{mesh}: {}", run.err);
    }
}

#[test]
fn solids_are_generated_from_a_line() {
    let (folder, _) = folder();
    let capsule = "{ capsule = { start = [0, 0, 0], end = ['10 cm', 0, 0], radius = '2 cm' } }";
    let run = ok(folder.path(), &["mesh", "generate", "solid", capsule, "--cells", "20", "-o", "c.vtk"]);
    assert!(run.out.starts_with("wrote c.vtk"), "{}", run.out);
    let body = io::read_volume(folder.path().join("c.vtk")).unwrap().mesh;
    let exact = std::f64::consts::PI * 4e-4 * (0.1 + 4.0 / 3.0 * 0.02);
    assert!((body.volume() / exact - 1.0).abs() < 0.03, "{} and {exact}", body.volume());
    let thin = "{ rounded-box = { size = [4, 0.1, 1] } }";
    let run = ok(folder.path(), &["mesh", "generate", "solid", thin, "--cells", "30", "-o", "t.vtk"]);
    assert!(run.err.contains("which may be lost"), "{}", run.err);
    let run = pliant(folder.path(), &["mesh", "generate", "solid", "{ bal = 1 }", "-o", "c.vtk"]);
    assert!(run.status == 2 && run.err.contains("there is no value `bal` here"), "{}", run.err);
}

#[test]
fn what_cannot_be_filled_is_refused_before_the_work_is_done() {
    let (folder, _) = folder();
    let refused = |args: &[&str], why: &str| {
        let run = pliant(folder.path(), args);
        assert!(run.status == 1 && run.err.contains(why), "{args:?}: {}", run.err);
    };
    refused(&["mesh", "tetrahedralize", "ring.obj", "-o", "a.xyz"], "unknown extension");
    refused(&["mesh", "tetrahedralize", "ring.obj", "-o", "nowhere/a.veg"], "no such folder");
    refused(&["mesh", "tetrahedralize", "ring.obj", "-o", "ring.obj"], "would overwrite the surface");
    refused(
        &["mesh", "voxelize", "./broken.stl", "-o", "broken.stl"],
        "cannot store volume elements in which to embed the surface",
    );
    refused(&["mesh", "tetrahedralize", "ring.obj", "--cage", "-o", "a.obj"], "use .veg, .msh or .vtu");
    refused(&["mesh", "tetrahedralize", "ring.obj", "--cells", "99999", "-o", "a.veg"], "use fewer");
    refused(&["mesh", "voxelize", "ring.obj", "--cells", "99999", "-o", "a.veg"], "use fewer");
    refused(&["mesh", "tetrahedralize", "ring.obj", "--cells", "0", "-o", "a.veg"], "expected at least 2");
    let sheet = SurfaceMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], Faces::uniform(3, vec![0, 1, 2])).unwrap();
    io::write(folder.path().join("sheet.obj"), &Mesh::Surface(sheet), &WriteOptions::default()).unwrap();
    refused(
        &["mesh", "tetrahedralize", "sheet.obj", "-o", "a.veg"],
        "sheet.obj: nothing is inside: the surface is open, with 3 open edges, and encloses nothing; a cage contains it",
    );
    let run = ok(folder.path(), &["mesh", "tetrahedralize", "sheet.obj", "--cage", "-o", "a.veg"]);
    assert!(run.out.contains("every point of the surface is inside"), "{}", run.out);
    assert!(run.err.contains("the surface encloses nothing"), "{}", run.err);
}

#[test]
fn polygons_with_corners_that_point_inward_are_what_they_enclose() {
    let folder = TempDir::new().unwrap();
    // A channel: the same U twice, and a wall along each of its edges.
    let u = [[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]];
    let mut text = String::new();
    for z in [0, 1] {
        u.iter().for_each(|[x, y]| text += &format!("v {x} {y} {z}\n"));
    }
    text += "f 8 7 6 5 4 3 2 1\nf 9 10 11 12 13 14 15 16\n";
    (1..=8).for_each(|i| text += &format!("f {i} {} {} {}\n", i % 8 + 1, i % 8 + 9, i + 8));
    std::fs::write(folder.path().join("u.obj"), text).unwrap();
    ok(folder.path(), &["mesh", "convert", "u.obj", "u.stl"]);
    let area = io::read_surface(folder.path().join("u.stl")).unwrap().mesh.area();
    assert!((area - 30.0).abs() < 1e-5, "{area}");
    let run = ok(folder.path(), &["mesh", "voxelize", "u.obj", "--cells", "3", "-o", "u.veg"]);
    assert!(run.out.contains("closed, without defects"), "{}", run.out);
    assert!((mass(folder.path(), "u.veg") - 7000.0).abs() < 1e-6);
    let body = io::read_volume(folder.path().join("u.veg")).unwrap().mesh;
    assert!((body.volume() - 7.0).abs() < 1e-9, "the notch is empty: {}", body.volume());
}

/// Returns the scene in the folder of a run.
fn scene_of(folder: &Path, run: &str) -> pliant_scene::scene::SceneFile {
    let path = folder.join(run).join("scene.toml");
    pliant_scene::scene::SceneFile::read(&Disk, &path).unwrap()
}

#[test]
fn options_say_what_a_surface_without_a_scene_is_made_of_and_how_it_falls() {
    let (folder, _) = folder();
    let options = [
        "--units",
        "mm",
        "--scale",
        "2",
        "--up",
        "z",
        "--law",
        "corotational",
        "--young",
        "1 MPa",
        "--poisson",
        "0.3",
        "--density",
        "1.1 g/cm^3",
        "--cells",
        "6",
        "--height",
        "50 cm",
        "--duration",
        "20 ms",
        "--step",
        "1/120",
    ];
    let run = ok(folder.path(), &[&["run", "ring.obj"], &options[..]].concat());
    let scene = scene_of(folder.path(), "out/ring").scene;
    assert!(scene.up == pliant_scene::scene::Up::Z);
    assert_eq!(scene.simulation.step.si, 1.0 / 120.0);
    let text = scene.to_toml();
    for part in ["scale = 0.002", "young = 1000000.0", "poisson = 0.3", "law = \"corotational\"", "cells = 6"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("density = 1100") || text.contains("density = 1099.99"), "{text}");
    // The tube of the ring is 0.6 m thick in the file, so 1.2 mm, and falls by half a meter.
    let point = scene.obstacles[0].shape.options::<Plane>().unwrap().point;
    assert!((point[2].si + 2e-3 * 1.3 + 0.5).abs() < 1e-4, "{point:?}");
    // The last step ends after the duration, which is reported.
    assert!(run.err.contains("simulating 0.025 s instead of 0.02 s"), "{}", run.err);
    let filled =
        ok(folder.path(), &["run", "ring.obj", "--fill", "--cells", "8", "--duration", "0.02", "-o", "filled"]);
    assert!(filled.err.contains("the interior of the surface is meshed with 8 cells"), "{}", filled.err);
    assert!(scene_of(folder.path(), "filled").scene.to_toml().contains("filled"));
}

#[test]
fn several_files_fall_on_a_pile_and_do_not_pass_through_each_other() {
    let (folder, _) = folder();
    ok(folder.path(), &["mesh", "generate", "ball", "--radius", "50 cm", "--across", "4", "-o", "ball.veg"]);
    let run = ok(folder.path(), &["run", "ring.obj", "ball.veg", "ring.obj", "--duration", "0.02", "--young", "1e5"]);
    assert!(run.err.contains("above one another, and fall on a pile"), "{}", run.err);
    let file = scene_of(folder.path(), "out/ring+2-more");
    let objects = &file.scene.objects;
    let names: Vec<&str> = objects.iter().map(|object| object.name.as_ref().unwrap().value.as_str()).collect();
    assert_eq!(names, ["ring", "ball", "ring-2"]);
    // The ring is 0.6 m thick, and the ball of radius 0.5 m begins above it.
    let at = |object: usize| pliant_scene::scene::quantity::vec3(&objects[object].translate);
    assert!(at(1).y - 0.5 > at(0).y + 0.3 && at(2).y - 0.3 > at(1).y + 0.5, "{} {} {}", at(0), at(1), at(2));
    let built = file.build(&Disk).unwrap();
    assert!(built.simulation.model().contact().is_some());
    assert!(!built.notes.iter().any(|note| note.contains("pass through")), "{:?}", built.notes);
}

#[test]
fn options_for_meshes_are_refused_where_they_would_do_nothing() {
    let (folder, _) = folder();
    ok(folder.path(), &["mesh", "generate", "ball", "--across", "4", "-o", "ball.veg"]);
    std::fs::write(
        folder.path().join("s.toml"),
        "[[object]]\nmesh = \"ball.veg\"\n[simulation]\nstep = 1\nduration = 1\n",
    )
    .unwrap();
    for option in
        ["--scale=2", "--units=mm", "--up=z", "--law=linear", "--young=1", "--poisson=0.1", "--density=1", "--height=1"]
    {
        let run = pliant(folder.path(), &["run", "s.toml", option]);
        let name = option.split('=').next().unwrap();
        let expected = format!("error: {name} applies to meshes and surfaces, but s.toml is a scene");
        assert!(run.status == 1 && run.err.starts_with(&expected), "{option}: {}", run.err);
    }
    for (args, why) in [
        (&["ball.veg", "--cells", "9"][..], "--cells applies to surfaces, but ball.veg already has elements"),
        (&["ball.veg", "--fill"], "--fill applies to surfaces"),
        (&["ring.obj", "s.toml"], "s.toml: expected a mesh or surface"),
        (&["ring.obj", "--units", "kg"], "`kg` does not measure a length"),
        (&["ring.obj", "--young", "5 cm"], "`cm` does not measure a pressure"),
        (&["ring.obj", "--scale", "0"], "--scale: expected a positive number, found 0"),
        (&["ring.obj", "--height=-1"], "--height: expected a non-negative height, found -1 m"),
    ] {
        let run = pliant(folder.path(), &[&["run"], args].concat());
        assert!(run.status != 0 && run.err.contains(why), "{args:?}: {}", run.err);
    }
}

#[test]
fn errors_about_a_surface_name_its_file_and_the_real_cause() {
    let folder = TempDir::new().unwrap();
    let triangle = "f 1 2 3\n";
    let files = [
        ("huge.obj", format!("v 0 0 0\nv 1e200 0 0\nv 0 1e200 0\n{triangle}"), "is 1e200 m long"),
        ("tiny.obj", format!("v 0 0 0\nv 1e-200 0 0\nv 0 1e-200 0\n{triangle}"), "is 1e-200 m long"),
        ("line.obj", format!("v 0 0 0\nv 1 0 0\nv 2 0 0\n{triangle}"), "none of the 1 triangles"),
        ("point.obj", format!("v 0 0 0\nv 0 0 0\nv 0 0 0\n{triangle}"), "none of the 1 triangles"),
        ("stray.obj", format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1e7 0 0\n{triangle}f 1 4 4\n"), "treated as points"),
        ("nan.obj", format!("v 0 0 0\nv nan 0 0\nv 0 1 0\n{triangle}"), "line 2"),
        ("empty.obj", String::new(), "an empty file"),
        ("points.obj", "v 0 0 0\nv 1 0 0\n".into(), "no "),
    ];
    for (name, text, why) in &files {
        std::fs::write(folder.path().join(name), text).unwrap();
        for command in [&["run"][..], &["modes"], &["scene", "check"]] {
            let run = pliant(folder.path(), &[command, &[name]].concat());
            let start = format!("error: {name}");
            let cites = !run.err.contains(".toml") && run.err.matches(name).count() == 1;
            assert!(
                run.status == 1 && run.err.contains(&start) && cites && run.err.contains(why),
                "{name}: {}",
                run.err
            );
        }
    }
    std::fs::write(folder.path().join("model.fbx"), "Kaydara").unwrap();
    let run = pliant(folder.path(), &["run", "model.fbx"]);
    assert!(run.err.contains("model.fbx: expected a scene (.toml or .config) or a mesh"), "{}", run.err);
    // With several files, that which is wrong is named.
    std::fs::write(
        folder.path().join("fine.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    )
    .unwrap();
    let run = pliant(folder.path(), &["run", "fine.obj", "line.obj", "--cells", "4"]);
    assert!(run.status == 1 && run.err.contains("error: line.obj: none of the 1 triangles"), "{}", run.err);
}

#[test]
fn bodies_of_any_size_squash_visibly_when_they_land_and_do_not_collapse() {
    let (folder, _) = folder();
    ok(folder.path(), &["mesh", "generate", "ball", "--radius", "1", "--across", "6", "-o", "ball.msh"]);
    for scale in ["0.005", "0.1", "5"] {
        let run = ok(folder.path(), &["run", "ball.msh", "--scale", scale, "-o", scale]);
        assert!(run.err.contains("using a soft Young's modulus"), "{}", run.err);
        let made = pliant_scene::run::Run::open(&folder.path().join(scale)).unwrap();
        let scene = &made.file.scene;
        let played =
            scene.output.picture.play_rate.map_or(scene.output.frame_rate.as_ref().unwrap().si, |rate| rate.si);
        assert!([24.0, 25.0, 30.0, 60.0].contains(&played), "{played}");
        // No fewer steps per frame than whole ones.
        let per_frame = 1.0 / (scene.output.frame_rate.as_ref().unwrap().si * scene.simulation.step.si);
        assert!((per_frame - per_frame.round()).abs() < 1e-9, "{per_frame}");
        let rest = made.built().simulation.model().bodies()[0].mesh().vertices().to_vec();
        let height = |frame: usize| {
            let frame = made.frame(frame, false).unwrap();
            let y = rest.iter().zip(frame.u.as_chunks::<3>().0).map(|(x, u)| x.y + u[1]);
            let (low, high) = y.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
            high - low
        };
        let heights: Vec<f64> = (0..made.frame_count()).map(|frame| height(frame) / height(0)).collect();
        let least = heights.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((0.5..0.85).contains(&least), "scaled by {scale}, the height falls to {least}");
        let last = heights[heights.len() - 1];
        assert!((0.85..0.995).contains(&last), "scaled by {scale}, the height at the end is {last}");
    }
}

#[test]
fn cells_of_a_cage_are_refused_at_once_as_they_were_asked_for() {
    let (folder, _) = folder();
    let run = pliant(folder.path(), &["mesh", "tetrahedralize", "ring.obj", "--cage", "--cells", "500", "-o", "a.veg"]);
    assert!(run.status == 1 && run.err.contains("ring.obj: 500 cells along the longest side"), "{}", run.err);
}

#[test]
fn a_filled_surface_without_a_material_is_as_soft_as_a_cage() {
    let (folder, _) = folder();
    let young = |file: &str| {
        let mesh = io::read_volume(folder.path().join(file)).unwrap().mesh;
        match mesh.regions()[0].material.as_ref().unwrap().moduli {
            Some(Moduli::Isotropic { young, .. }) => young,
            ref other => panic!("{other:?}"),
        }
    };
    let run = ok(folder.path(), &["mesh", "tetrahedralize", "ring.obj", "--cells", "10", "-o", "filled.veg"]);
    assert!(run.err.contains("no --density was given") && run.err.contains("a soft material"), "{}", run.err);
    ok(folder.path(), &["mesh", "tetrahedralize", "ring.obj", "--cells", "10", "--cage", "-o", "cage.veg"]);
    let (filled, cage) = (young("filled.veg"), young("cage.veg"));
    assert!(filled < 1e6 && (filled / cage - 1.0).abs() < 0.3, "{filled} Pa and {cage} Pa");
}

/// A cube of 1 m, as `cube.obj`.
const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                    f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

fn with_cube() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    folder
}

const SHORT: [&str; 5] = ["run", "cube.obj", "--cells=3", "--step=0.01", "--duration=0.02"];

#[test]
fn a_run_whose_surface_has_changed_since_is_not_shown_with_the_new_one() {
    let folder = with_cube();
    let cube = folder.path().join("cube.obj");
    ok(folder.path(), &SHORT);
    let render = ["render", "out/cube", "--frame", "0", "a.png"];
    // Another comment changes nothing.
    std::fs::write(&cube, format!("# a cube\n{CUBE}")).unwrap();
    ok(folder.path(), &render);
    // One with the same vertices, one with fewer.
    let longer = CUBE.replace("v 1 1 1", "v 1 1 1.5");
    for other in [longer.as_str(), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"] {
        std::fs::write(&cube, other).unwrap();
        for args in [&render[..], &["resume", "out/cube"], &["view", "out/cube", "--no-browser"]] {
            if args[0] == "view" && Page::embedded().is_none() {
                continue;
            }
            let run = pliant(folder.path(), args);
            let is_reported =
                run.err.contains("cube.obj has changed since the run began") && !run.err.contains("frames/");
            assert!(run.status == 1 && is_reported, "{args:?}: {}", run.err);
        }
    }
    std::fs::write(&cube, CUBE).unwrap();
    ok(folder.path(), &render);
}

#[test]
fn a_sheet_encloses_nothing_and_no_hole_of_it_is_closed() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("sheet.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let run = ok(folder.path(), &["run", "sheet.obj", "--cells", "4", "--duration", "0.02"]);
    assert!(run.err.contains("3 edges are open, and nothing is enclosed"), "{}", run.err);
    assert!(run.err.contains("the surface encloses nothing") && !run.err.contains("smoothly"), "{}", run.err);
    let cage = ok(folder.path(), &["mesh", "tetrahedralize", "sheet.obj", "--cage", "--cells", "4", "-o", "a.veg"]);
    assert!(cage.err.contains("the surface encloses nothing") && !cage.out.contains("smoothly"), "{}", cage.out);
    // A box without a lid has an inside.
    std::fs::write(folder.path().join("box.obj"), CUBE.replace("f 4 1 5 8\n", "")).unwrap();
    let run = ok(folder.path(), &["run", "box.obj", "--cells", "4", "--duration", "0.02"]);
    assert!(run.err.contains("closed smoothly") && !run.err.contains("encloses nothing"), "{}", run.err);
}

#[test]
fn numbers_on_the_command_line_may_be_negative_or_ratios_and_errors_say_what_is_expected() {
    let folder = with_cube();
    ok(folder.path(), &[&SHORT[..], &["--poisson", "-0.2", "--scale", "1/10"]].concat());
    let text = scene_of(folder.path(), "out/cube").scene.to_toml();
    assert!(text.contains("poisson = -0.2") && text.contains("scale = 0.1"), "{text}");
    for (args, why) in [
        (&["--cells", "1e9"][..], "expected a whole number from 2 to 10000"),
        (&["--cells", "nan"], "expected a whole number from 2 to 10000"),
        (&["--scale", "1e300"], "--scale: 1e300, expected 1e-100 to 1e100"),
        (&["--scale", "a/b"], "expected a number such as 0.001 or 1/1000"),
        (
            &["--scale", "1e10"],
            "cube.obj: scaled by --scale and --units, the body is 1e10 m long, expected 1e-9 to 1e9 m",
        ),
        (&["--units", "nm", "--scale", "0.1"], "the body is 1e-10 m long"),
        (&["--height", "-1"], "--height: expected a non-negative height, found -1 m"),
        (&["--young", "1e19"], "Young's modulus is 1e19, expected a positive number of Pa from 1e-9 to 1e18"),
        (&["--young", "1e-12"], "Young's modulus is 1e-12, expected a positive number of Pa from 1e-9 to 1e18"),
    ] {
        let run = pliant(folder.path(), &[&["run", "cube.obj"], args].concat());
        assert!(run.status != 0 && run.err.contains(why), "{args:?}: {}", run.err);
    }
}

#[test]
fn scenes_of_runs_do_not_replace_each_other_and_folders_of_runs_are_explained() {
    let folder = with_cube();
    for output in ["out/a", "out/b"] {
        ok(folder.path(), &[&SHORT[..], &["-o", output]].concat());
    }
    for (scene, output) in [("a", "a-2"), ("b", "b-2"), ("a", "a-3"), ("a-2", "a-2-2")] {
        let run = ok(folder.path(), &["run", &format!("out/{scene}/scene.toml")]);
        assert!(run.out.contains(&format!("wrote out/{output} ")), "{}", run.out);
    }
    assert!(!folder.path().join("out/scene").exists());
    let run = pliant(folder.path(), &["run", "out/a"]);
    for part in ["`pliant resume out/a`", "`pliant view out/a`", "out/a/scene.toml"] {
        assert!(run.status == 1 && run.err.contains(part), "{part}: {}", run.err);
    }
}

#[test]
fn a_body_softer_than_its_weight_is_reported_and_does_not_sink_through_the_ground() {
    let folder = with_cube();
    let args = ["run", "cube.obj", "--cells", "4", "--height", "0.05", "--duration", "0.6", "--young"];
    let notice = "the weight of `cube` compresses it strongly: density × gravity × height is 1";
    let run = ok(folder.path(), &[&args[..], &["10"]].concat());
    assert!(run.err.contains(notice) && run.err.contains("Young's modulus 10 Pa"), "{}", run.err);
    let made = pliant_scene::run::Run::open(&folder.path().join("out/cube")).unwrap();
    let frame = made.frame(made.frame_count() - 1, false).unwrap();
    let body = &made.geometry().bodies()[0];
    let lowest = body.surface_positions(&frame.u).into_iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    assert!(lowest > -0.05 - 0.1, "the lowest point is at {lowest} m, the ground at -0.05 m");
    let run = ok(folder.path(), &[&SHORT[..], &["--young", "1e5"]].concat());
    assert!(!run.err.contains("compresses it strongly"), "{}", run.err);
}

#[test]
fn a_single_step_is_one_step() {
    let folder = with_cube();
    let run = ok(folder.path(), &["run", "cube.obj", "--cells=3", "--step=0.01", "--duration=0.01"]);
    assert!(run.out.contains(": 1 step, 0.01 s simulated"), "{}", run.out);
    let resumed = ok(folder.path(), &["resume", "out/cube"]);
    assert!(resumed.out.contains("already complete (1 step)"), "{}", resumed.out);
    let two = ok(folder.path(), &["run", "cube.obj", "cube.obj", "--cells=12", "--step=0.01", "--duration=0.01"]);
    assert!(two.err.contains("cube.obj: the surface is too coarse to show bending"), "{}", two.err);
    assert!(two.err.contains("triangles are up to 1.414 m long"), "{}", two.err);
    assert!(two.err.contains("above one another, and fall on a pile"), "{}", two.err);
}
